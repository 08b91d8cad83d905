"""Sizes that a search tried (C, d, E, T, ...): at each, how many admissible instances, and how close they came.

Floats tell it. The tightness of a row is the kernel's where it replayed an instance; that of a size is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from .json_fields import Json, JsonObject

__all__ = ["TOLD", "Counts", "Size", "merged"]

Counts = tuple[tuple[str, int], ...]
TOLD = ("instances", "tightness")  # of a size, beside its letters


@dataclass(frozen=True, slots=True)
class Size:
    """Instances of the same sizes, whatever their losses and noise; `tightness`: the largest lhs/rhs among them."""

    counts: Counts
    instances: int
    tightness: float | None
    within: float | None = None  # the same, of those on which floats see the claim hold

    @classmethod
    def of(cls, row: Json) -> Size:
        """The size that a row of ours tells."""
        counts = tuple((name, n) for name, n in row.items() if name not in TOLD)
        return cls(counts, row["instances"], row["tightness"])

    def held(self) -> Size:
        """Where the kernel saw no violation, what floats take for one counts for nothing."""
        return replace(self, tightness=self.within)

    def row(self) -> JsonObject:
        return {**dict(self.counts), "instances": self.instances, "tightness": self.tightness}


def merged(sizes: Iterable[Size]) -> tuple[Size, ...]:
    """Each size once, small ones first."""
    by_counts: dict[Counts, Size] = {}
    for size in sizes:
        earlier = by_counts.get(size.counts)
        by_counts[size.counts] = size if earlier is None else _both(earlier, size)
    return tuple(sorted(by_counts.values(), key=_order))


def _both(one: Size, other: Size) -> Size:
    larger = (_larger(one.tightness, other.tightness), _larger(one.within, other.within))
    return Size(one.counts, one.instances + other.instances, *larger)


def _larger(one: float | None, other: float | None) -> float | None:
    return max((x for x in (one, other) if x is not None), default=None)


def _order(size: Size) -> tuple[int, list[int], Counts]:
    numbers = [n for _, n in size.counts]
    return prod(max(n, 1) for n in numbers), numbers, size.counts
