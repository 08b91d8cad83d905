"""What several test files share."""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.moves.audit import read

SHARE = 0.4  # effort: of the default budget of an audit of everything, for one of its statements


def assert_rational_where_roots_are(identifier: str, below: Iterable[str]) -> None:
    """Small runs have square sizes where a step size is a root; large ones, which only floats see, need not."""
    reading, world = read(statement(identifier))
    shapes = world.shapes(reading)
    odd = [shape for shape in shapes if any(isqrt(shape[name]) ** 2 != shape[name] for name in below)]
    assert bool(odd) == bool(below)
    assert all(shape.cost > 100 for shape in odd)
