"""Two groups of parabolas along one line, as a proof sees them: means over a group in place of single clients.

The gradients are linear, so that the mean of a group moves by the rule of its members. At most one client is idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer

from ...language.rule_parts import Vector
from ..vectors import Charge

IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Member:
    """A client of a group: its gradient at w is curve w + force e, its share that of the group in all weights."""

    share: Any
    curve: Expr
    force: Expr


@dataclass(frozen=True, slots=True)
class Groups:
    """f_i = mu w^2/2 + G w in one half, mu w^2/4 - G w in the other, f_i = 0 for a last client if their number is odd.

    The line has the unit vector e, and the run starts at `begins` e with begins >= 0: e is turned so. `idle` is the
    weight of the last client, 0 or 1/C.
    """

    mu: Any
    G: Any
    idle: Expr
    begins: Any

    @property
    def members(self) -> Mapping[str, Member]:
        half = (1 - self.idle) / 2
        return {
            "steep": Member(half, self.mu, self.G),
            "flat": Member(half, self.mu / 2, -self.G),
            IDLE: Member(self.idle, Integer(0), Integer(0)),
        }

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("two_groups", (self.mu, self.G)), ("equal_weights", ()))

    def scalars(self) -> tuple[object, ...]:
        return self.mu, self.G, self.idle, self.begins


def group(name: str, x: Vector) -> Vector:
    """The mean of x over the clients of one group."""
    return Vector("group", (name, x))
