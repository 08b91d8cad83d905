"""Exact runs of statements, for tests that read them in several ways; which of them have a worst case in reach."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

import fedaudit as fa
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of

Data = dict[str, Any]
EXAMPLES = Path(__file__).parents[1] / "examples"
PLAIN = {"quadratic", "bent"}
GIVEN = ("C", "E", "T", "p", "constants", "parameters", "steps", "participation", "graph", "weights")
TRIED = 12  # points of a statement


def named(name: str) -> fa.Statement:
    """A statement of the catalogue, or `file.py::id` of an example."""
    file, _, identifier = name.rpartition("::")
    return {s.id: s for s in fa.load(EXAMPLES / file)}[identifier] if file else fa.statement(name)


def exact_run(
    name: str, noise: bool = True, seed: int = 1, kinds: Collection[str] = PLAIN, rounds: int = 2
) -> tuple[Any, Data, Any]:
    """A claim, an instance with two clients at most and so many rounds or more, and a place."""
    reading, setting = read(named(name))
    rng = np.random.default_rng(seed)
    shapes = [shape for shape in setting.shapes(reading) if shape["T"] >= rounds and shape["C"] <= 2]
    for shape in sorted(shapes, key=lambda shape: -shape["C"])[:60]:
        genes = genes_of(reading, setting, shape)
        found = replay(reading, setting, shape, exactly(genes, draw(genes, 1, rng), 0, 2))
        if found is None or {client["kind"] for client in found.instance["clients"]} - {*kinds}:
            continue
        constants = found.instance["constants"]
        state_weighs = found.instance.get("weights", {}).get("kind") == "largest"
        if constants.get("mu") == constants.get("L") or state_weighs:
            continue
        if noise or found.instance["noise"]["kind"] == "none":
            return reading.claim, found.instance, found.at
    raise AssertionError(f"{name}: got no instance, expected one")


def point_of(claim: Data, instance: Data) -> Data:
    """What a point gives of an instance: no losses, no start, no noise, no minibatches, exact answers."""
    point: Data = {name: instance[name] for name in GIVEN if name in instance} | {"noise": {"kind": "none"}}
    if "minibatch" in instance and "b" in claim["domains"]:
        point["parameters"] = {**instance.get("parameters", {}), "b": instance["minibatch"]["b"]}
    errors = [args[0] for name, *args in claim["let"] if name == "inexact"]
    return {**point, "constants": point["constants"] | dict.fromkeys(errors, "0")}


def about_runs(statement: fa.Statement) -> bool:
    """Whether it is about all runs of a method; an experiment is about one."""
    return statement.kind != "experiment" and read(statement)[0].claim["setting"] == "run"


def reach(statement: fa.Statement) -> tuple[kernel.Programme | None, str]:
    """The programme of the first of a few admissible points; otherwise None, and the reason of the first one."""
    reading, setting = read(statement)
    rng, why = np.random.default_rng(1), list[str]()
    for shape in sorted(setting.shapes(reading), key=lambda shape: shape.cost):
        genes = genes_of(reading, setting, shape)
        found = replay(reading, setting, shape, exactly(genes, draw(genes, 1, rng), 0, 2))
        if found is None:
            continue
        try:
            return kernel.programme(reading.claim, point_of(reading.claim, found.instance), found.at), "in reach"
        except (kernel.Rejected, kernel.Malformed) as reason:
            why.append(str(reason))
        if len(why) == TRIED:
            break
    return None, min(
        why, key=lambda line: ("interval" in line, "irrational" in line, why.index(line)), default="no point"
    )
