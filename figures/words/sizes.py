"""Sizes that searches tried, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from fedaudit.verify.results.tried_sizes import Size

from .numbers import short

__all__ = ["letters", "line"]


def letters(sizes: Sequence[Size]) -> list[str]:
    """All letters, in the order in which they come."""
    return list(dict.fromkeys(name for size in sizes for name, _ in size.counts))


def line(sizes: Sequence[Size]) -> str:
    """E.g. 14 tried, C 1-9, d 1-3, E 1-800, T 1-40; tightest at C=2 d=1 E=1 T=1: 0.98. Nothing where there are none."""
    if not sizes:
        return ""
    ranges = (f"{name} {_range(sizes, name)}" for name in letters(sizes))
    tried = ", ".join((f"{len(sizes)} tried", *ranges))
    met = [(size.tightness, size) for size in sizes if size.tightness is not None]
    if not met:
        return tried
    tightness, at = max(met, key=lambda pair: pair[0])  # the first of several, which is the smallest
    return f"{tried}; tightest at {' '.join(f'{name}={n}' for name, n in at.counts)}: {short(tightness)}"


def _range(sizes: Sequence[Size], name: str) -> str:
    numbers = [n for size in sizes for letter, n in size.counts if letter == name]
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}-{high}"
