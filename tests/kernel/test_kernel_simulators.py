"""Runs as the search makes them, in floats and by the kernel: every measure of every statement about a method."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import ctx
from marks import some

from fedaudit.bounds.catalogue.discovery import statement, statements
from fedaudit.bounds.language.method import Method
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.rationalise import replay
from fedaudit.verify.search.score import genes_of, tabulate
from fedaudit.verify.search.tree_arrays import Quantity, Table
from fedaudit.verify.settings.base import Json

RUNS = [s.id for s in statements() if isinstance(s.method, Method) and s.kind != "experiment"]
LARGEST, DRAWN = 60, 4  # of a shape; instances of a statement


@pytest.mark.parametrize("identifier", some(RUNS, 30, "the whole catalogue"))
def test_floats_and_rationals_measure_the_same(identifier: str) -> None:
    reading, world = read(statement(identifier))
    rng, compared = np.random.default_rng([0, *identifier.encode()]), 0
    shapes = [shape for shape in world.shapes(reading) if shape.cost <= LARGEST]
    for _ in range(40):
        shape = shapes[int(rng.integers(len(shapes)))]
        genes = genes_of(reading, world, shape)
        genome = exactly(genes, draw(genes, 1, rng), 0, 2)
        found = replay(reading, world, shape, genome)
        if found is None:
            continue
        table = tabulate(reading, world, shape, {k: np.asarray(v, dtype=float)[None] for k, v in genome.items()})
        exact: Any = kernel.world(reading.claim, found.instance)
        for name in reading.claim["method"]["measures"]:
            if name in table.quantities:
                same(exact, name, table.quantities[name], table, pushed(found.instance))
        compared += 1
        if compared == DRAWN:
            return
    assert compared, "no instance could be replayed"


def pushed(instance: Json) -> float:
    """How far the noise of one step may push a client: a length of the run that `scale` does not know."""
    kicks = (abs(Fraction(x)) for x in np.ravel(instance.get("noise", {}).get("v", ())))
    steps = (abs(Fraction(x)) for sizes in instance.get("steps", {}).values() for x in np.ravel(sizes))
    return float(max(kicks, default=0) * max(steps, default=0))


def same(exact: Any, name: str, quantity: Quantity, table: Table, push: float = 0.0) -> None:
    """To nine digits of the largest value, and to rounding of the instance's own sizes."""
    values = quantity.values[0]
    if np.isnan(values).any():
        return
    places = product(*(range(first, first + size) for first, size in zip(quantity.start, values.shape, strict=True)))
    with ctx.workprec(256):  # runs of 10^9 rounds are followed in balls
        expected = np.array([float(exact.at(name, place)) for place in places])
    F, W = (float(x[0]) for x in table.scale) if table.scale is not None else (0.0, 1.0)
    W, curvature = max(W, push), F / W**2
    rounding = 1e-12 * max(F, W, W**2, (curvature * W) ** 2)
    np.testing.assert_allclose(
        values.ravel(), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max() + rounding, err_msg=name
    )
