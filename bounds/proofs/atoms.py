"""Atoms: the inequalities that a shown premise may use, each a number that is not negative in expectation.

An atom is what squares or the assumptions give at named points: for one client, under the mean over the clients, or
under sum_i p_i^2 (.). It is one record: a class here (or in proximal_atoms) that says the inequality in the language of
methods and which assumption gives it, and the kernel's own reading in verify/kernel/proofs/vectors/atoms.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Integer, Le
from sympy.logic.boolalg import Boolean

from fedaudit.errors import UserError

from ..language.assumptions import ASSUMPTIONS, COMMON, NEAR, SIGN
from ..language.rule_expressions import F, f, f_i, f_i_star, f_star, grad, inner, neighbours, noisy, norm2
from ..language.rule_parts import Number, Vector
from ..language.statement import Assumption
from .atom import Atom, Client, Field, Latex, Owed, Plain
from .frame import Frame
from .method_vectors import Reader
from .vectors import ANY, Charge, Over, Scalar, Term, under_mean

MEAN_CONVEX = "mean_strongly_convex"
HALF = Integer(1) / 2


def curvature_of(named: str, kind: str) -> tuple[int | None, int | None]:
    """Which curvatures an assumption allows that gives atoms of this kind; raises `UserError` for any other."""
    record = ASSUMPTIONS.get(named)
    if record is None or record.curvature is None or kind not in record.atoms:
        raise UserError(f"got {named}, which does not say that a function is {kind}")
    return record.curvature


def _whose(named: str) -> str:
    return "$f$" if ASSUMPTIONS[named].of_mean else "$f_i$"


def _require_shared(named: str, over: Over, points: tuple[Vector, ...], reader: Reader) -> None:
    """What is assumed of f on the whole says nothing of one client."""
    ends = (reader.vector(x, "base", ANY) for x in points)
    if ASSUMPTIONS[named].of_mean and (over != "mean" or any(ANY in x.tags for x in ends)):
        raise UserError(f"got {named} at a client's own point, expected a mean at shared points")


@dataclass(frozen=True, slots=True)
class Square(Owed):
    """|x|^2 >= 0: Jensen, Young, Peter-Paul and Cauchy-Schwarz with a given constant are such squares."""

    kind = "square"
    parts = "x"
    words = r"$\left\|{x}\right\|^2 \geq 0$"
    own = False
    x: Vector
    over: Over = "one"
    owed: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        return norm2(self.x)


@dataclass(frozen=True, slots=True)
class Smooth(Atom):
    """f_i(y) <= f_i(x) + <grad f_i(x), y - x> + L/2 |y - x|^2; with `below`, the parabola on the other side."""

    kind = "smooth"
    parts = "x y constant=L below"
    x: Vector
    y: Vector
    L: Any
    over: Over = "one"
    below: bool = False
    named: str = COMMON["L"]  # or another assumption that bounds curvatures from this side

    def said(self, latex: Latex) -> str:
        side = ", from below" if self.below else ""
        return f"smoothness of {_whose(self.named)}{side} at ${latex(self.x)}$ and ${latex(self.y)}$"

    @property
    def charges(self) -> tuple[Charge, ...]:
        # A parabola above f_i takes the largest curvature, one below it the least.
        if curvature_of(self.named, self.kind)[not self.below] is None:
            raise UserError(f"got {self.named}, which says nothing of this side")
        return ((self.named, (self.L,)),)

    @property
    def number(self) -> Number:
        apart = f_i(self.x) + inner(grad(self.x), self.y - self.x) - f_i(self.y)
        return (-apart if self.below else apart) + self.L * HALF * norm2(self.y - self.x)

    def read(self, reader: Reader) -> Scalar:
        _require_shared(self.named, self.over, (self.x, self.y), reader)
        return Atom.read(self, reader)


@dataclass(frozen=True, slots=True)
class Lipschitz(Atom):
    """|grad f_i(x) - grad f_i(y)|^2 <= L^2 |x - y|^2."""

    kind = "lipschitz"
    parts = "x y constant=L"
    words = r"$\|\nabla f_i(x) - \nabla f_i(y)\| \leq L \|x - y\|$ at ${x}$ and ${y}$"
    x: Vector
    y: Vector
    L: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((COMMON["L"], (self.L,)),)

    @property
    def number(self) -> Number:
        return self.L**2 * norm2(self.x - self.y) - norm2(grad(self.x) - grad(self.y))


@dataclass(frozen=True, slots=True)
class Convex(Atom):
    """f_i(y) >= f_i(x) + <grad f_i(x), y - x> + mu/2 |y - x|^2, with mu = 0 for a convex f_i.

    What is assumed of f alone (`named`) holds for the mean, at points that clients share.
    """

    kind = "convex"
    parts = "x y constant=mu"
    x: Vector
    y: Vector
    mu: Any = 0
    over: Over = "one"
    named: str = COMMON["mu"]

    def said(self, latex: Latex) -> str:
        strong = "strong convexity" if self.mu != 0 else "convexity"
        return f"{strong} of {_whose(self.named)} at ${latex(self.x)}$ and ${latex(self.y)}$"

    @property
    def charges(self) -> tuple[Charge, ...]:
        # Asked for its refusal alone: the assumption has to give convexity.
        curvature_of(self.named, self.kind)
        return ((self.named, (self.mu,)) if self.mu != 0 else ("convex", ()),)

    @property
    def number(self) -> Number:
        apart = f_i(self.y) - f_i(self.x) - inner(grad(self.x), self.y - self.x)
        return apart - HALF * self.mu * norm2(self.y - self.x)

    def read(self, reader: Reader) -> Scalar:
        _require_shared(self.named, self.over, (self.x, self.y), reader)
        return Atom.read(self, reader)


@dataclass(frozen=True, slots=True)
class Interpolated(Atom):
    """(L - mu) D >= |grad f_i(x) - grad f_i(y) - mu (x - y)|^2/2 of an L-smooth and mu-strongly convex f_i, where
    D = f_i(x) - f_i(y) - <grad f_i(y), x - y> - mu/2 |x - y|^2.

    With M in place of L, for every M > L, h = f_i - mu/2 |.|^2 is convex and (M - mu)-smooth, and a step of h from x
    shows it; then let M go to L.
    """

    kind = "interpolated"
    parts = "x y constant=L curve=mu"
    words = "smoothness and strong convexity of $f_i$ together at ${x}$ and ${y}$"
    x: Vector
    y: Vector
    L: Any
    mu: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((COMMON["L"], (self.L,)), (COMMON["mu"], (self.mu,)))

    @property
    def number(self) -> Number:
        apart = f_i(self.x) - f_i(self.y) - inner(grad(self.y), self.x - self.y)
        apart = apart - HALF * self.mu * norm2(self.x - self.y)
        return (self.L - self.mu) * apart - HALF * norm2(grad(self.x) - grad(self.y) - self.mu * (self.x - self.y))


@dataclass(frozen=True, slots=True)
class Cocoercive(Atom):
    """L <grad f_i(x) - grad f_i(y), x - y> >= |grad f_i(x) - grad f_i(y)|^2 of a convex and L-smooth f_i."""

    kind = "cocoercive"
    parts = "x y constant=L"
    words = r"co-coercivity of $\nabla f_i$ at ${x}$ and ${y}$"
    x: Vector
    y: Vector
    L: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((COMMON["L"], (self.L,)), ("convex", ()))

    @property
    def number(self) -> Number:
        turn = grad(self.x) - grad(self.y)
        return self.L * inner(turn, self.x - self.y) - norm2(turn)


@dataclass(frozen=True, slots=True)
class Bregman(Atom):
    """2 L (f_i(x) - f_i(y) - <grad f_i(y), x - y>) >= |grad f_i(x) - grad f_i(y)|^2 of a convex and L-smooth f_i."""

    kind = "bregman"
    parts = "x y constant=L"
    words = "smoothness and convexity of $f_i$ together, from ${y}$ to ${x}$"
    x: Vector
    y: Vector
    L: Any
    over: Over = "one"

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((COMMON["L"], (self.L,)), ("convex", ()))

    @property
    def number(self) -> Number:
        above = f_i(self.x) - f_i(self.y) - inner(grad(self.y), self.x - self.y)
        return 2 * self.L * above - norm2(grad(self.x) - grad(self.y))


@dataclass(frozen=True, slots=True)
class Lower(Owed):
    """f_i(x) >= f_i*: the least value of the client's own loss."""

    kind = "lower"
    parts = "x"
    words = r"$f_i^\star$ is the least value of $f_i$ (at ${x}$)"
    x: Vector
    over: Over = "one"
    owed: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        return f_i(self.x) - f_i_star


@dataclass(frozen=True, slots=True)
class Minimum(Owed):
    """f(x) >= f*, at a point that all clients share."""

    kind = "minimum"
    parts = "x"
    words = r"$f^\star$ is the least value (at ${x}$)"
    own = False
    x: Vector
    owed: tuple[Charge, ...] = ()
    over: Over = field(default="one", init=False)

    @property
    def number(self) -> Number:
        return f(self.x) - Number(f_star.terms)

    def read(self, reader: Reader) -> Scalar:
        if ANY in reader.vector(self.x, "base", reader.frame.client).tags:
            raise UserError("got f >= f* at a client's own point, expected a shared one")
        if reader.frame.method.composite:  # F* is the least value of f + g
            return reader.number(F(self.x) - Number(f_star.terms), "base", reader.frame.client)
        return Atom.read(self, reader)


@dataclass(frozen=True, slots=True)
class Variance(Atom):
    """E|noise|^2 <= sigma^2 for the noise of a gradient x, at any point; of a minibatch sigma^2/batch.

    `least`: the assumption without constants that says it is sigma^2, of any x; then E|noise|^2 >= sigma^2.
    """

    kind = "variance"
    parts = "x constant=sigma batch least"
    words = "the variance of the noise of ${x}$"
    on_every_path = False
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
class Bound(Atom):
    """What an assumption says of the method's own measures, at the indices of its `for_all`: on the run, under E."""

    kind = "bound"
    own = False
    on_every_path = False
    assumption: Assumption
    at: tuple[tuple[object, Any], ...] = ()  # other values of its indices
    over: Over = "one"

    def said(self, latex: Latex) -> str:
        where = ", ".join(f"${latex(index)} = {latex(value)}$" for index, value in self.at if index != value)
        says = (self.assumption.says or self.assumption.name.replace("_", " ")).partition(":")[0]
        return f"assumed ({says})" + (f", at {where}" if where else "")

    @property
    def charges(self) -> tuple[Charge, ...]:
        return ((self.assumption.name, self.assumption.args),)

    @property
    def relation(self) -> Any:
        """What the assumption says there."""
        return self.assumption.means.subs(dict(self.at), simultaneous=True)

    def fields(self, frame: Frame) -> dict[str, Field]:
        """The values of all indices; under a mean its client has none."""
        _, _, i, j = frame.letters
        values: dict[str, Field] = {}
        for index, _, _ in self.assumption.for_all:
            value = dict(self.at).get(index, index)
            if index != i or self.over == "one":
                values[str(index)] = Client(value) if index in (i, j) and value in (i, j) else value
        return {"name": self.assumption.name, **({"at": values} if values else {})}

    def scalars(self) -> Iterator[object]:
        yield self.relation

    def denominators(self) -> Iterator[Expr]:
        yield from ()

    def ranges(self, frame: Frame) -> Iterator[Boolean]:
        """The indices at which the assumption speaks; a client is one anyway."""
        t, k, _, _ = frame.letters
        at = dict(self.at)
        for index, low, high in self.assumption.for_all:
            if index in (t, k):
                yield Le(low, at.get(index, index))
                yield Le(at.get(index, index), high)

    def read(self, reader: Reader) -> Scalar:
        relation = self.relation
        difference = relation.gts - relation.lts
        if self.over == "one":
            return reader.formula(difference)
        return under_mean(reader.formula(difference, reader.frame.letters[2]), self.over)


@dataclass(frozen=True, slots=True)
class Near(Owed):
    """sum_j q_ij |x_j|^2 >= |sum_j q_ij x_j|^2 over the neighbours j of a client (i, or the one that is named).

    Under the mean over the clients the left side is sum_j p_j |x_j|^2, for the weights p_ij are symmetric.
    """

    kind = "near"
    words = "Jensen's inequality over the neighbours for ${x}$"
    own = False
    x: Vector
    over: Over = "one"
    client: Any = None
    owed: tuple[Charge, ...] = ()

    @property
    def number(self) -> Number:
        """What it speaks of; which mean each part is under, `read` says."""
        return norm2(self.x) - norm2(neighbours(self.x))

    def fields(self, frame: Frame) -> dict[str, Field]:
        who = {"client": Client(self.client or frame.letters[2])} if self.over == "one" else {}
        return {"x": self.x, **who}

    def read(self, reader: Reader) -> Scalar:
        client = ANY if self.over == "mean" else str(self.client or reader.frame.letters[2])
        x, middle = reader.vector(self.x, "base", ANY), reader.vector(neighbours(self.x), "base", client)
        charged = frozenset({NEAR})
        whole = Term("inner", "mean", (x, x), charges=charged)
        if self.over != "mean":
            whole = Term("inner", "near", (x, x), charges=charged, client=client)
        over: Over = "mean" if self.over == "mean" else "one"
        return ((reader.ring.number(1), whole), (reader.ring.number(-1), Term("inner", over, (middle, middle))))


@dataclass(frozen=True, slots=True)
class Weight(Plain):
    """p_i >= 0 of one client, or the share q_ij >= 0 that it has among the neighbours of another."""

    kind = "weight"
    words = "weights are not negative"
    client: Any
    among: Any = None
    over: Over = field(default="one", init=False)

    @property
    def rules(self) -> tuple[str, ...]:
        return (SIGN,) if self.among is None else (NEAR,)

    def fields(self, frame: Frame) -> dict[str, Field]:
        among = {} if self.among is None else {"among": Client(self.among)}
        return {"client": Client(self.client), **among}

    def read(self, reader: Reader) -> Scalar:
        frame = reader.frame
        weight = frame.weight(self.client) if self.among is None else frame.shares(self.among, self.client)
        return reader.formula(weight)


@dataclass(frozen=True, slots=True)
class Subset(Plain):
    """No more clients are drawn than there are."""

    kind = "subset"
    words = "no more clients are drawn than there are"
    over: Over = field(default="one", init=False)

    def read(self, reader: Reader) -> Scalar:
        if reader.frame.sample is None:
            raise UserError("got a subset of the clients, expected a method that draws one")
        return ((reader.coefficient(reader.frame.sizes[1] - reader.frame.sample), Term("one")),)


@dataclass(frozen=True, slots=True)
class Idle(Plain):
    """At most one client of two groups is idle, and its weight is 1/C."""

    kind = "idle"
    words = "at most one client is idle"
    over: Over = field(default="one", init=False)

    def read(self, reader: Reader) -> Scalar:
        if reader.frame.groups is None:
            raise UserError("got an idle client, expected two groups of parabolas")
        return ((reader.coefficient(1 - reader.frame.sizes[1] * reader.frame.groups.idle), Term("one")),)


@dataclass(frozen=True, slots=True)
class Short(Atom):
    """|x|^2 <= G^2 for a gradient x of a G-Lipschitz loss."""

    kind = "short"
    parts = "x constant=G"
    words = "the loss is Lipschitz: the length of ${x}$"
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


def lipschitz(x: Vector, y: Vector, L: Any, over: Over = "one", times: Any = 1) -> tuple[tuple[object, Atom], ...]:
    """|grad f_i(x) - grad f_i(y)|^2 <= L^2 |x - y|^2 from the parabolas above and below f_i, `times` a number.

    f_i + L/2 |.|^2 is convex and 2L-smooth: its gradients are co-coercive, by a step from each point towards the other.
    """
    bundle: list[tuple[object, Atom]] = []
    for a, b in ((x, y), (y, x)):
        end = b - (grad(b) - grad(a) + L * (b - a)) / (2 * L)
        bundle.append((2 * L * times, Smooth(b, end, L, over, named="descent")))
        bundle.append((2 * L * times, Smooth(a, end, L, over, below=True, named="two_sided")))
    return tuple(bundle)
