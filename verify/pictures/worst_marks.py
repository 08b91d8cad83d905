"""Worst cases over all functions of a class, as a row tells them: what pictures mark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

__all__ = ["ALIKE", "NOTHING", "Worst", "worst_of"]

ALIKE = 1.02  # how far both ends may be apart to be told as one number
NOTHING = 1e-6  # an upper end so small: the left side is 0 but for the digits of a proof, and the point says nothing


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst lhs/rhs at one point, between both ends; without an upper end, the largest that a search met."""

    x: float  # the round
    lower: float
    upper: float | None
    name: str  # of the point

    @property
    def exact(self) -> bool:
        return self.upper is not None and self.upper <= ALIKE * self.lower


def worst_of(row: Mapping[str, Any] | None, index: str, relation: int = 1) -> tuple[Worst, ...]:
    """All points of one relation where something is known, by rounds; `index` is the letter of the round, or none."""
    hunt = (row or {}).get("hunt")
    told = cast("Mapping[str, Any]", hunt if isinstance(hunt, dict) else {})
    listed = cast("list[Mapping[str, Any]]", told.get("worst") or [])
    found: list[Worst] = []
    for one in listed:
        at = one["point"]
        place = at.get(index) or at.get("T")
        if not one["lower"] or place is None or one.get("relation", 1) != relation:
            continue
        sizes = ", ".join(f"{k} {at[k]}" for k in ("C", "E") if k in at)
        found.append(Worst(float(Fraction(place)), one["lower"], one["upper"], one.get("name") or sizes))
    return tuple(sorted(found, key=lambda known: (known.x, known.lower)))
