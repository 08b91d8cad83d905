"""The only inequalities that a shown premise may use: what squares and the assumptions give at named points.

An atom is a number that is not negative in expectation, written in the language of `method`: for one client, under the
mean over the clients, or under sum_i p_i^2 (.). It says what it charges.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Integer

from fedaudit.errors import UserError

from ..language.method import Number, Vector, f, f_i, f_i_star, f_star, grad, inner, neighbours, noisy, norm2
from ..language.statement import Assumption
from .proximal_atoms import Largest, Moved, Optimal, ProximalPL, Slope, Steep, Subgradient
from .two_groups import Idle
from .vectors import Charge, Over

MEAN_CONVEX = "mean_strongly_convex"
_HALF = Integer(1) / 2


@dataclass(frozen=True, slots=True)
class Square:
    """|x|^2 >= 0: Jensen, Young, Peter-Paul and Cauchy-Schwarz with a given constant are such squares."""

    x: Vector
    over: Over = "one"
    charges: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        return norm2(self.x)


@dataclass(frozen=True, slots=True)
class Smooth:
    """f_i(y) <= f_i(x) + <grad f_i(x), y - x> + L/2 |y - x|^2; with `below`, the parabola on the other side."""

    x: Vector
    y: Vector
    L: Any
    over: Over = "one"
    below: bool = False
    named: str = "smooth"  # or "descent" for the parabola above alone, "two_sided" for the one below

    @property
    def charges(self) -> tuple[Charge, ...]:
        if self.named not in ("smooth", "two_sided" if self.below else "descent"):
            raise UserError(f"got {self.named}, which says nothing of this side")
        return ((self.named, (self.L,)),)

    @property
    def number(self) -> Number:
        apart = f_i(self.x) + inner(grad(self.x), self.y - self.x) - f_i(self.y)
        return (-apart if self.below else apart) + self.L * _HALF * norm2(self.y - self.x)


@dataclass(frozen=True, slots=True)
class Lipschitz:
    """|grad f_i(x) - grad f_i(y)|^2 <= L^2 |x - y|^2."""

    x: Vector
    y: Vector
    L: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("smooth", (self.L,)),)

    @property
    def number(self) -> Number:
        return self.L**2 * norm2(self.x - self.y) - norm2(grad(self.x) - grad(self.y))


@dataclass(frozen=True, slots=True)
class Convex:
    """f_i(y) >= f_i(x) + <grad f_i(x), y - x> + mu/2 |y - x|^2, with mu = 0 for a convex f_i.

    `named` "mean_strongly_convex": it is assumed of f alone, and then holds for the mean at points that clients share.
    """

    x: Vector
    y: Vector
    mu: Any = 0
    over: Over = "one"
    named: str = "strongly_convex"

    @property
    def charges(self) -> tuple[Charge, ...]:
        if self.named not in ("strongly_convex", MEAN_CONVEX):
            raise UserError(f"got {self.named}, which does not say that a function is convex")
        return ((self.named, (self.mu,)) if self.mu != 0 else ("convex", ()),)

    @property
    def number(self) -> Number:
        apart = f_i(self.y) - f_i(self.x) - inner(grad(self.x), self.y - self.x)
        return apart - _HALF * self.mu * norm2(self.y - self.x)


@dataclass(frozen=True, slots=True)
class Interpolated:
    """(L - mu) D >= |grad f_i(x) - grad f_i(y) - mu (x - y)|^2/2 of an L-smooth and mu-strongly convex f_i, where
    D = f_i(x) - f_i(y) - <grad f_i(y), x - y> - mu/2 |x - y|^2.

    With M in place of L, for every M > L, h = f_i - mu/2 |.|^2 is convex and (M - mu)-smooth, and a step of h from x
    shows it; then let M go to L.
    """

    x: Vector
    y: Vector
    L: Any
    mu: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("smooth", (self.L,)), ("strongly_convex", (self.mu,)))

    @property
    def number(self) -> Number:
        apart = f_i(self.x) - f_i(self.y) - inner(grad(self.y), self.x - self.y)
        apart = apart - _HALF * self.mu * norm2(self.x - self.y)
        return (self.L - self.mu) * apart - _HALF * norm2(grad(self.x) - grad(self.y) - self.mu * (self.x - self.y))


@dataclass(frozen=True, slots=True)
class Lower:
    """f_i(x) >= f_i*: the least value of the client's own loss."""

    x: Vector
    over: Over = "one"
    charges: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        return f_i(self.x) - f_i_star


@dataclass(frozen=True, slots=True)
class Minimum:
    """f(x) >= f*, at a point that all clients share."""

    x: Vector
    charges: tuple[Charge, ...] = ()

    @property
    def over(self) -> Over:
        return "one"

    @property
    def number(self) -> Number:
        return f(self.x) - Number(f_star.terms)


@dataclass(frozen=True, slots=True)
class Variance:
    """E|noise|^2 <= sigma^2 for the noise of a gradient x, at any point; of a minibatch sigma^2/batch.

    `least`: the assumption without constants that says it is sigma^2, of any x; then E|noise|^2 >= sigma^2.
    """

    x: Vector
    sigma: Any
    over: Over = "one"
    batch: Any = None
    least: str = ""

    @property
    def charges(self) -> tuple[Charge, ...]:
        if self.least:
            return ((self.least, ()),)
        if self.batch is not None:
            return (("minibatch_variance", (self.sigma, self.batch)),)
        return (("bounded_variance", (self.sigma,)),)

    @property
    def number(self) -> Number:
        if self.least not in ("", "independent") or (self.least and self.batch is not None):
            raise UserError(f"got {self.least}, which does not say what a variance is")
        if self.least:
            return norm2(noisy(self.x) - self.x) - Number(((self.sigma**2, ("one",)),))
        if self.x.op != "grad":
            raise UserError(f"got the variance of {self.x.op!r}, expected that of a gradient")
        most = self.sigma**2 if self.batch is None else self.sigma**2 / self.batch
        return Number(((most, ("one",)),)) - norm2(noisy(self.x) - self.x)


@dataclass(frozen=True, slots=True)
class Bound:
    """What an assumption says of the method's own measures, at the indices of its `for_all`: on the run, under E."""

    assumption: Assumption
    at: tuple[tuple[Any, Any], ...] = ()  # other values of its indices
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((self.assumption.name, self.assumption.args),)

    @property
    def relation(self) -> Any:
        return self.assumption.means.subs(dict(self.at), simultaneous=True)


@dataclass(frozen=True, slots=True)
class Near:
    """sum_j q_ij |x_j|^2 >= |sum_j q_ij x_j|^2 over the neighbours j of a client (i, or the one that is named).

    Under the mean over the clients the left side is sum_j p_j |x_j|^2, for the weights p_ij are symmetric.
    """

    x: Vector
    over: Over = "one"
    client: Any = None
    charges: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        """What it reads; which mean each part is under, the reader says."""
        return norm2(self.x) - norm2(neighbours(self.x))


@dataclass(frozen=True, slots=True)
class Weight:
    """p_i >= 0 of one client, or the share q_ij >= 0 that it has among the neighbours of another."""

    client: Any
    among: Any = None

    @property
    def over(self) -> Over:
        return "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Subset:
    """No more clients are drawn than there are."""

    @property
    def over(self) -> Over:
        return "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Short:
    """|x|^2 <= G^2 for a gradient x of a G-Lipschitz loss."""

    x: Vector
    G: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return (("lipschitz", (self.G,)),)

    @property
    def number(self) -> Number:
        if self.x.op != "grad":
            raise UserError(f"got the length of {self.x.op!r}, expected that of a gradient")
        return Number(((self.G**2, ("one",)),)) - norm2(self.x)


OfFunctions = Square | Smooth | Lipschitz | Convex | Interpolated | Lower | Minimum | Variance | Short
OfRegulariser = Subgradient | Slope | ProximalPL
OfLocalProblems = Optimal | Moved | Steep | Largest
Atom = OfFunctions | OfRegulariser | OfLocalProblems | Bound | Near | Weight | Subset | Idle


def lipschitz(x: Vector, y: Vector, L: Any, over: Over = "one", times: Any = 1) -> tuple[tuple[Any, Atom], ...]:
    """|grad f_i(x) - grad f_i(y)|^2 <= L^2 |x - y|^2 from the parabolas above and below f_i, `times` a number.

    f_i + L/2 |.|^2 is convex and 2L-smooth: its gradients are co-coercive, by a step from each point towards the other.
    """
    found: list[tuple[Any, Atom]] = []
    for a, b in ((x, y), (y, x)):
        end = b - (grad(b) - grad(a) + L * (b - a)) / (2 * L)
        found.append((2 * L * times, Smooth(b, end, L, over, named="descent")))
        found.append((2 * L * times, Smooth(a, end, L, over, below=True, named="two_sided")))
    return tuple(found)
