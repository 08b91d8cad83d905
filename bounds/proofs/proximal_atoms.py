"""Atoms about proximal points: of the regulariser, of the loss that a client draws in a round, and of f itself."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Integer

from ..language.method import F, Number, Vector, f, f_i, f_star, full_prox, g, grad, inner, mean, norm2, oracle, prox
from .vectors import Charge, Over

_HALF = Integer(1) / 2


@dataclass(frozen=True, slots=True)
class Subgradient:
    """g(y) >= g(p) + <(x - p)/step, y - p> for the regulariser g, which is convex, and p = prox(x, step).

    Of a weakly convex g, whose convexity lacks `nu`, nu/2 |y - p|^2 less; then nu step < 1, or p need not exist.
    """

    x: Vector
    y: Vector
    step: Any
    charges: tuple[Charge, ...]  # the assumption that says that g is convex
    nu: Any = 0

    @property
    def over(self) -> Over:
        return "one"

    @property
    def number(self) -> Number:
        p = prox(self.x, self.step)
        tangent = g(self.y) - g(p) - inner((self.x - p) / self.step, self.y - p)
        return tangent if self.nu == 0 else tangent + self.nu * _HALF * norm2(self.y - p)


@dataclass(frozen=True, slots=True)
class Slope:
    """|(x - p)/step| <= B for p = prox(x, step): the subgradients of the regulariser are bounded by B."""

    x: Vector
    step: Any
    B: Any

    @property
    def over(self) -> Over:
        return "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("bounded_subgradients", (self.B,)),)

    @property
    def number(self) -> Number:
        return Number((((self.step * self.B) ** 2, ("one",)),)) - norm2(self.x - prox(self.x, self.step))


@dataclass(frozen=True, slots=True)
class ProximalPL:
    """F(x) - F* <= -min_y {<grad f(x), y - x> + mu/2 |y - x|^2 + g(y) - g(x)}, least at p = prox(x - grad f(x)/mu)."""

    x: Vector
    mu: Any

    @property
    def over(self) -> Over:
        return "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("prox_pl", (self.mu,)),)

    @property
    def number(self) -> Number:
        slope = mean(grad(self.x))
        p = prox(self.x - slope / self.mu, 1 / self.mu)
        model = inner(slope, p - self.x) + self.mu * _HALF * norm2(p - self.x) + g(p) - g(self.x)
        return Number(f_star.terms) - F(self.x) - model


# --- local problems ---------------------------------------------------------------------------------------------------


def drawn(x: Vector) -> Number:
    """The value of the loss that the client draws in this round; at a point that was known before, f_i in the mean."""
    return Number(((Integer(1), ("drawn", x)),))


@dataclass(frozen=True, slots=True)
class Optimal:
    """h(y) >= h(p) + <(x - p)/step, y - p> - nu/2 |y - p|^2 for the minimiser p of h + |. - x|^2/(2 step).

    h is the loss that the client draws, or with `full` f itself: means of nu-weakly convex losses. nu step < 1.
    """

    x: Vector
    y: Vector
    step: Any
    nu: Any
    over: Over = "one"
    full: bool = False

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("weakly_convex", (self.nu,)),)

    @property
    def number(self) -> Number:
        p = (full_prox if self.full else oracle)(self.x, self.step)
        value = f if self.full else drawn
        tangent = value(self.y) - value(p) - inner((self.x - p) / self.step, self.y - p)
        return tangent + self.nu * _HALF * norm2(self.y - p)


@dataclass(frozen=True, slots=True)
class Moved:
    """|x - p| <= step G for the minimiser p of h + |. - x|^2/(2 step), h the client's: a mean of G-Lipschitz losses.

    For small s, h(p + s (x - p)) - h(p) is at least (s - s^2/2) |x - p|^2/step, and at most s G |x - p|.
    """

    x: Vector
    step: Any
    G: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("lipschitz", (self.G,)),)

    @property
    def number(self) -> Number:
        return Number((((self.step * self.G) ** 2, ("one",)),)) - norm2(self.x - oracle(self.x, self.step))


@dataclass(frozen=True, slots=True)
class Steep:
    """h(x) - h(y) <= G |x - y| <= c G^2/2 + |x - y|^2/(2 c) for G-Lipschitz losses: f_i, or what the client draws."""

    x: Vector
    y: Vector
    G: Any
    c: Any  # positive
    over: Over = "one"
    draws: bool = False

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("lipschitz", (self.G,)),)

    @property
    def number(self) -> Number:
        value = drawn if self.draws else f_i
        room = Number(((self.c * self.G**2 * _HALF, ("one",)),)) + norm2(self.x - self.y) / (2 * self.c)
        return value(self.y) - value(self.x) + room


@dataclass(frozen=True, slots=True)
class Largest:
    """What a measure is the largest of, over clients, rounds and outcomes, is at most that; so is its mean."""

    quantity: Any
    over: Over = "one"
    charges: tuple[Charge, ...] = ()
