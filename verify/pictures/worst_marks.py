"""Worst cases over all functions of a class, as pictures mark them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ALIKE", "NOTHING", "WorstMark"]

ALIKE = 1.02  # how far both ends may be apart to be told as one number
NOTHING = 1e-6  # an upper end so small: the left side is 0 but for the digits of a proof, and the point says nothing


@dataclass(frozen=True, slots=True)
class WorstMark:
    """The worst lhs/rhs at one point, between both ends; without an upper end, the largest that a search met."""

    x: float  # the round
    lower: float
    upper: float | None
    name: str  # of the point

    @property
    def exact(self) -> bool:
        return self.upper is not None and self.upper <= ALIKE * self.lower
