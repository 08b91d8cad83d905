"""Genes: what the adversary varies, each with a kind and the axes along which it varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["positive", "nonnegative", "unit", "fraction", "real"]


@dataclass(frozen=True, slots=True)
class Gene:
    """positive: (0, ∞) · nonnegative: [0, ∞) · unit: (0, 1] · fraction: [0, 1] · real: any sign.

    `axes` name the sizes that `shape` consists of (C, d, T, ...), so that a smaller shape knows what to leave out.
    """

    name: str
    kind: Kind
    shape: tuple[int, ...] = ()
    axes: tuple[str, ...] = ()


def along(name: str, kind: Kind, sizes: Mapping[str, int], *axes: str) -> Gene:
    """A gene with one entry per index of each axis."""
    return Gene(name, kind, tuple(sizes[axis] for axis in axes), axes)
