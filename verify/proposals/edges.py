"""Exact instances of a claim for measuring: those at the edges first, always the same ones.

At an edge there is one client, one local step, one round, a client of weight 0, or a client that is not drawn. Shapes
come from the claim's own setting; half of what is drawn has the smallest ones, the rest goes evenly through the others.
Whatever is drawn here, the kernel says whether it is an instance of the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernel import Malformed, Rejected
from ..search.genome import draw, exactly
from ..search.lowered_claim import lower
from ..search.rationalise import beyond_kernel, exact_instances
from ..search.score import genes_of
from ..search.seeds import seed_for
from ..settings import setting_of
from ..settings.base import Reading, Shape

if TYPE_CHECKING:
    from fedaudit.bounds.formulas.lowering import Lowered
    from fedaudit.bounds.language.statement import Statement

__all__ = ["instances", "instances_of"]

SMALL = 48  # clients times dimensions times steps of a run that is replayed exactly
DIGITS = (1, 2, 1, 3)  # of the rationals that are drawn: short ones keep replays short
DRAWS = 3  # instances to one that is wanted, where the claim's conditions refuse some


def instances(statement: Statement, count: int) -> Iterator[dict[str, Any]]:
    """About `count` candidates and some to spare, each in the kernel's format; fewer where a setting draws none."""
    return instances_of(lower(statement), count)


def instances_of(lowered: Lowered, count: int) -> Iterator[dict[str, Any]]:
    """About `count` candidates of a lowered claim and some to spare, each in the kernel's format."""
    reading, setting = Reading(lowered), setting_of(lowered)
    shapes = _ordered([shape for shape in setting.shapes(reading) if not beyond_kernel(shape)])
    rng = np.random.default_rng(seed_for(0, lowered.id, "measured"))
    for number in range(DRAWS * count if shapes else 0):
        shape = shapes[number % len(shapes)]
        genes = genes_of(reading, setting, shape)
        genome = exactly(genes, draw(genes, 1, rng), 0, DIGITS[number % len(DIGITS)])
        try:
            drawn = list(islice(exact_instances(reading, setting, shape, genome), 1))
        except (ArithmeticError, ValueError, Malformed, Rejected):  # no number there: another draw may have one
            continue
        yield from drawn
        if number % 3 == 1:
            yield from (idle for instance in drawn for idle in _with_an_idle_client(instance))


def _ordered(shapes: Sequence[Shape]) -> list[Shape]:
    """In turn one of the smallest shapes and one of all that are small enough, from small to large."""
    by_size = sorted(shapes, key=lambda shape: shape.cost)
    small = [shape for shape in by_size if shape.cost <= SMALL] or by_size[:3]
    edges = [shape for shape in small if _at_an_edge(shape)] or small[:8]
    turns = max(len(edges), len(small))
    return [one for n in range(turns) for one in (edges[n % len(edges)], small[(7 * n) % len(small)])]


def _at_an_edge(shape: Shape) -> bool:
    sizes = dict(shape.counts)
    return any(sizes.get(name) == 1 for name in ("C", "E")) or sizes.get("m", sizes.get("C")) != sizes.get("C")


def _with_an_idle_client(instance: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The instance with the whole weight of its last client moved to the first one."""
    weights: list[Any] = instance.get("p", [])
    if len(weights) > 1 and all(isinstance(weight, str) for weight in weights):  # not distributions on data
        first, *others, last = map(Fraction, weights)
        yield {**instance, "p": [str(first + last), *map(str, others), "0"]}
