"""Exact runs of statements, for tests that read them in several ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fedaudit as fa
from fedaudit.verify.audit import read
from fedaudit.verify.certify import replay
from fedaudit.verify.check import genes_of
from fedaudit.verify.genome import draw, exactly

Data = dict[str, Any]
EXAMPLES = Path(__file__).parents[1] / "examples"
PLAIN = {"quadratic", "bent"}


def named(name: str) -> fa.Statement:
    """A statement of the catalogue, or `file.py::id` of an example."""
    file, _, identifier = name.rpartition("::")
    return {s.id: s for s in fa.load(EXAMPLES / file)}[identifier] if file else fa.statement(name)


def exact_run(name: str, noise: bool = True, seed: int = 1) -> tuple[Any, Data, Any]:
    """A claim, an instance with two clients at most whose losses are quadratic between kinks, and a place."""
    reading, setting = read(named(name))
    rng = np.random.default_rng(seed)
    shapes = [shape for shape in setting.shapes(reading) if shape["T"] > 1 and shape["C"] <= 2]
    for shape in sorted(shapes, key=lambda shape: -shape["C"])[:60]:
        genes = genes_of(reading, setting, shape)
        found = replay(reading, setting, shape, exactly(genes, draw(genes, 1, rng), 0, 2))
        if found is None or {client["kind"] for client in found.instance["clients"]} - PLAIN:
            continue
        constants = found.instance["constants"]
        state_weighs = found.instance.get("weights", {}).get("kind") == "largest"
        if constants.get("mu") == constants.get("L") or state_weighs:
            continue
        if noise or found.instance["noise"]["kind"] == "none":
            return reading.claim, found.instance, found.at
    raise AssertionError(f"{name}: got no instance, expected one")
