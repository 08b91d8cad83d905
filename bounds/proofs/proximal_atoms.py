"""Atoms about proximal points: of the regulariser, of the loss that a client draws in a round, and of f itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Integer, Lt
from sympy.logic.boolalg import Boolean

from fedaudit.errors import UserError

from ..language.assumptions import SIGN
from ..language.rule_expressions import F, f, f_i, f_star, full_prox, g, grad, inner, mean, norm2, oracle, prox
from ..language.rule_parts import Number, Vector
from .atom import Atom, Owed
from .atoms import HALF
from .method_vectors import Reader
from .vectors import ANY, Charge, Over, Scalar, Term, under_mean


@dataclass(frozen=True, slots=True)
class Subgradient(Owed):
    """g(y) >= g(p) + <(x - p)/step, y - p> for the regulariser g, which is convex, and p = prox(x, step).

    Of a weakly convex g, whose convexity lacks `nu`, nu/2 |y - p|^2 less; then nu step < 1, or p need not exist.
    """

    kind = "subgradient"
    parts = "x y step constant=nu"
    words = "the subgradient of $g$ at the proximal point of ${x}$, towards ${y}$"
    own = False
    x: Vector
    y: Vector
    step: Any
    owed: tuple[Charge, ...]  # the assumption that says that g is convex
    nu: Any = 0
    over: Over = field(default="one", init=False)

    def requires(self) -> Iterator[Boolean]:
        if self.nu != 0:
            yield Lt(self.nu * self.step, 1)

    @property
    def number(self) -> Number:
        p = prox(self.x, self.step)
        tangent = g(self.y) - g(p) - inner((self.x - p) / self.step, self.y - p)
        return tangent if self.nu == 0 else tangent + self.nu * HALF * norm2(self.y - p)


@dataclass(frozen=True, slots=True)
class Slope(Atom):
    """|(x - p)/step| <= B for p = prox(x, step): the subgradients of the regulariser are bounded by B."""

    kind = "slope"
    parts = "x step constant=B"
    words = "subgradients of $g$ are bounded, at the proximal point of ${x}$"
    own = False
    x: Vector
    step: Any
    B: Expr
    over: Over = field(default="one", init=False)

    @property
    def positive(self) -> tuple[Expr, ...]:
        return (self.step,)

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("bounded_subgradients", (self.B,)),)

    @property
    def number(self) -> Number:
        return Number((((self.step * self.B) ** 2, ("one",)),)) - norm2(self.x - prox(self.x, self.step))


@dataclass(frozen=True, slots=True)
class ProximalPL(Atom):
    """F(x) - F* <= -min_y {<grad f(x), y - x> + mu/2 |y - x|^2 + g(y) - g(x)}, least at p = prox(x - grad f(x)/mu)."""

    kind = "proximal_pl"
    parts = "x constant=mu"
    words = "the proximal Polyak–Łojasiewicz inequality at ${x}$"
    own = False
    x: Vector
    mu: Any
    over: Over = field(default="one", init=False)

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("prox_pl", (self.mu,)),)

    @property
    def number(self) -> Number:
        slope = mean(grad(self.x))
        p = prox(self.x - slope / self.mu, 1 / self.mu)
        model = inner(slope, p - self.x) + self.mu * HALF * norm2(p - self.x) + g(p) - g(self.x)
        return Number(f_star.terms) - F(self.x) - model


# --- local problems ---------------------------------------------------------------------------------------------------


def drawn(x: Vector) -> Number:
    """The value of the loss that the client draws in this round; at a point that was known before, f_i in the mean."""
    return Number(((Integer(1), ("drawn", x)),))


@dataclass(frozen=True, slots=True)
class Optimal(Atom):
    """h(y) >= h(p) + <(x - p)/step, y - p> - nu/2 |y - p|^2 for the minimiser p of h + |. - x|^2/(2 step).

    h is the loss that the client draws, or with `full` f itself: means of nu-weakly convex losses. nu step < 1.
    """

    kind = "optimal"
    parts = "x y step constant=nu full"
    words = "the proximal point of ${x}$ is the minimiser of its problem, compared with ${y}$"
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
    def rules(self) -> tuple[str, ...]:
        return (SIGN,) if self.full or self.over == "mean" else ()

    def of_client(self) -> bool:
        return not self.full

    def requires(self) -> Iterator[Boolean]:
        if self.nu != 0:
            yield Lt(self.nu * self.step, 1)

    @property
    def number(self) -> Number:
        p = (full_prox if self.full else oracle)(self.x, self.step)
        value = f if self.full else drawn
        tangent = value(self.y) - value(p) - inner((self.x - p) / self.step, self.y - p)
        return tangent + self.nu * HALF * norm2(self.y - p)


@dataclass(frozen=True, slots=True)
class Moved(Atom):
    """|x - p| <= step G for the minimiser p of h + |. - x|^2/(2 step), h the client's: a mean of G-Lipschitz losses.

    For small s, h(p + s (x - p)) - h(p) is at least (s - s^2/2) |x - p|^2/step, and at most s G |x - p|.
    """

    kind = "moved"
    parts = "x step constant=G"
    words = "a proximal step of Lipschitz losses is short, from ${x}$"
    x: Vector
    step: Any
    G: Any
    over: Over = "one"

    @property
    def positive(self) -> tuple[Expr, ...]:
        return (self.step,)

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("lipschitz", (self.G,)),)

    @property
    def number(self) -> Number:
        return Number((((self.step * self.G) ** 2, ("one",)),)) - norm2(self.x - oracle(self.x, self.step))


@dataclass(frozen=True, slots=True)
class Steep(Atom):
    """h(x) - h(y) <= G |x - y| <= c G^2/2 + |x - y|^2/(2 c) for G-Lipschitz losses: f_i, or what the client draws."""

    kind = "steep"
    parts = "x y constant=G c draws"
    words = "the losses are Lipschitz, at ${x}$ and ${y}$"
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
        room = Number(((self.c * self.G**2 * HALF, ("one",)),)) + norm2(self.x - self.y) / (2 * self.c)
        return value(self.y) - value(self.x) + room


@dataclass(frozen=True, slots=True)
class Largest(Owed):
    """What a measure is the largest of, over clients, rounds and outcomes, is at most that; so is its mean."""

    kind = "largest"
    parts = "measure=quantity"
    words = "a mean is at most the largest"
    quantity: Any
    over: Over = "one"
    owed: tuple[Charge, ...] = ()

    def scalars(self) -> Iterator[object]:
        yield self.quantity

    def denominators(self) -> Iterator[Expr]:
        yield from ()

    def read(self, reader: Reader) -> Scalar:
        measure = reader.frame.method.measures.get(self.quantity)
        if measure is None or measure.law != "most" or self.over == "squares":
            raise UserError(f"got {self.quantity}, expected a measure that is the largest of something")
        client = ANY if self.over == "mean" else str(reader.frame.letters[2])
        each = reader.number(Number(measure.terms), "base", client)
        if self.over == "mean":
            each = under_mean(each)
        less = tuple((reader.ring.number(-1) * c, term) for c, term in each)
        return ((reader.coefficient(self.quantity), Term("one")), *less)
