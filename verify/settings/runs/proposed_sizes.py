"""The sizes that are worth trying for a statement: small ones, and those near what its conditions name."""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

import numpy as np

from ...search.claim_trees import names
from ...search.tree_arrays import Evaluator, Table
from ..base import Reading
from . import requirements

SMALL = {"C": (1, 2, 3), "d": (1, 2), "E": (1, 2, 4), "T": (1, 4)}
SQUARES = (1, 4, 9, 16, 25)


def sizes_along(reading: Reading, axis: str) -> list[int]:
    """Sizes worth trying along an axis: small ones, and those near a number that a condition compares it with."""
    near: set[int] = set()
    for op, left, right in reading.claim["when"]:
        for one, other in ((left, right), (right, left)):
            if one == axis and isinstance(other, str) and other.isdigit():
                near |= {int(other), int(other) + 1} if op != "=" else {int(other)}
    near |= {4, 9} if axis in requirements.roots(reading) else set()
    if axis in requirements.below_roots(reading):
        near |= set(SQUARES[:2])
    fitting = [n for n in sorted({*SMALL[axis], *near}) if n > 0 and meets_counts(reading, {axis: n})]
    return fitting or [max(SMALL[axis])]


def rational(reading: Reading, sizes: Mapping[str, int]) -> bool:
    """Whether E and T are squares where a chosen step size has their root. Where t is below it, balls will do."""
    below = requirements.below_roots(reading)
    return "t" in below or all(sizes[name] in SQUARES for name in ("E", "T") if name in below)


def meets_counts(reading: Reading, sizes: Mapping[str, int]) -> bool:
    """Whether the conditions that speak of these counts alone hold, and no range of theirs is empty."""
    table = Table(1, {}, {}, {**sizes, "D": sizes.get("d", 1)})
    ranges = [["<=", low, high] for low, high in reading.claim["for_all"].values()]
    for relation in [*reading.claim["when"], *ranges]:
        used = set[tuple[str, bool]]().union(*(names(side) for side in relation[1:]))
        inside = {name for name, _ in used if not name[:1].isdigit() and name[:1] != "-"}
        counted = inside <= {*sizes, *(("D",) if "d" in sizes else ())} and not any(indexed for _, indexed in used)
        if inside and counted and not bool(np.all(Evaluator(table, {}).holds(relation))):
            return False
    return all(isqrt(size) ** 2 == size for axis, size in sizes.items() if axis in requirements.roots(reading))
