"""A method as data: the algorithm box in the paper's symbols.

A `Method` names the server's and the clients' vectors, says what they are before round 0, and gives the rules of a
round: `begin` when the round reaches a client, `local` E times, `end` after them, `update` at the server. The rules of
one phase are carried out at once, from the values before it. Interpreters elsewhere read it (arrays, rationals, LaTeX);
none of them is mentioned here.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from sympy import Expr, Integer, SympifyError, sympify
from sympy.core.function import AppliedUndef

from fedaudit.errors import UserError

from .statement import Glossary

PHASES = ("begin", "local", "end", "update")
Over = Literal["all", "sampled"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of the run: a name, or an operation on vectors."""

    op: str
    args: tuple[Any, ...] = ()

    # sympy leaves `scalar * vector` to us (NotImplemented), so that rules read as they are printed
    def __add__(self, other: Vector) -> Vector:
        return Vector("+", (*_terms(self), *_terms(_vector(other))))

    def __neg__(self) -> Vector:
        return Vector("*", (Integer(-1), self))

    def __sub__(self, other: Vector) -> Vector:
        return self + -_vector(other)

    def __mul__(self, scalar: Any) -> Vector:
        return Vector("*", (_scalar(scalar), self))

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Vector:
        return self * (1 / _scalar(scalar))

    @property
    def name(self) -> str:
        if self.op != "name":
            raise UserError(f"got {self.op!r}, expected the name of a vector; do: assign to a vector's own name")
        return self.args[0]

    def scalars(self) -> Iterator[Expr]:
        """Every scalar factor in it."""
        for arg in self.args:
            if isinstance(arg, Vector):
                yield from arg.scalars()
            elif isinstance(arg, Expr):
                yield arg

    def uses(self, op: str) -> bool:
        return self.op == op or any(isinstance(arg, Vector) and arg.uses(op) for arg in self.args)


@dataclass(frozen=True, slots=True)
class Number:
    """A combination of norms, inner products and values; of a measure, of their expectations."""

    terms: tuple[tuple[Expr, tuple[Any, ...]], ...]  # (coefficient, (operation, vectors ...))
    expected: bool = False

    def __add__(self, other: Number) -> Number:
        if self.expected != other.expected:
            raise UserError("got a random number beside an expectation, expected both of one sort; do: use expect(...)")
        return Number(self.terms + other.terms, self.expected)

    def __neg__(self) -> Number:
        return -1 * self

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __mul__(self, scalar: Any) -> Number:
        return Number(tuple((coefficient * _scalar(scalar), atom) for coefficient, atom in self.terms), self.expected)

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Number:
        return self * (1 / _scalar(scalar))


def _terms(vector: Vector) -> tuple[Vector, ...]:
    return vector.args if vector.op == "+" else (vector,)


def _vector(value: Any) -> Vector:
    if isinstance(value, Vector):
        return value
    if isinstance(value, int) and value == 0:
        return zero
    raise UserError(f"got {value!r}, expected a vector; do: write 0 or an expression of the method's vectors")


def _scalar(value: Any) -> Any:
    if isinstance(value, Vector | Number):
        raise UserError("got a product of two vectors, expected a scalar and a vector; do: use inner(x, y)")
    try:
        return cast("Any", sympify(value, strict=True))  # strict: numbers and formulas, never text
    except SympifyError:
        raise UserError(repr(value), "a number or a formula", "write it with the glossary's symbols") from None


start = Vector("start")  # the point where the run begins
zero = Vector("zero")
w_star = Vector("w_star")  # a minimiser of f
f_star = Number(((Integer(1), ("f_star",)),), expected=True)  # the least value of f


def vector(name: str, latex: str = "") -> Vector:
    """A vector of the server or of every client; which of them, the method says."""
    return Vector("name", (name, latex or name))


def grad(x: Vector) -> Vector:
    """The gradient of the client's own loss."""
    return Vector("grad", (x,))


def noisy(x: Vector) -> Vector:
    """What the client's oracle returns for x: unbiased, with noise that is new in every step."""
    return Vector("noisy", (x,))


def prox(x: Vector, step: Any) -> Vector:
    """The proximal point of the regulariser."""
    return Vector("prox", (_scalar(step), x))


def neighbours(x: Vector) -> Vector:
    """The mean over the client's neighbours in the similarity graph, with the graph's weights."""
    return Vector("neighbours", (x,))


def mean(x: Any, over: Over = "all") -> Any:
    """The weighted mean over all clients; over the sampled ones each counts the same."""
    if isinstance(x, Number):
        return Number(tuple((c, ("mean", atom)) for c, atom in x.terms), x.expected)
    return Vector("mean" if over == "all" else "sampled", (x,))


def norm2(x: Vector) -> Number:
    return Number(((Integer(1), ("norm2", x)),))


def inner(x: Vector, y: Vector) -> Number:
    return Number(((Integer(1), ("inner", x, y)),))


def f(x: Vector) -> Number:
    """The value of f = sum_i p_i f_i."""
    return Number(((Integer(1), ("f", x)),))


def f_i(x: Vector) -> Number:
    """The value of the client's own loss."""
    return Number(((Integer(1), ("f_i", x)),))


def full_grad(x: Vector) -> Vector:
    """The gradient of f = sum_i p_i f_i at a vector of the server."""
    return mean(grad(x))


def expect(x: Number) -> Number:
    """The expectation over noise and sampling."""
    return Number(x.terms, expected=True)


def _nothing() -> Any:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Method:
    """An algorithm box. Step sizes are quantities of the round t, or of the round and the local step k."""

    id: str
    title: str
    cite: str
    glossary: Glossary = field(repr=False)
    server: Mapping[Vector, Any]  # vectors, and what they are before round 0
    client: Mapping[Vector, Any]
    begin: Mapping[Vector, Any] = field(default_factory=_nothing)
    local: Mapping[Vector, Any] = field(default_factory=_nothing)
    end: Mapping[Vector, Any] = field(default_factory=_nothing)
    update: Mapping[Vector, Any] = field(default_factory=_nothing)
    measures: Mapping[Any, Number] = field(default_factory=_nothing)  # quantity at its indices -> what it is
    before: Mapping[Any, Any] = field(default_factory=_nothing)  # quantity of t -> the one it was before; 0 at first

    def __post_init__(self) -> None:
        names = [v.name for v in (*self.server, *self.client)]
        if len(set(names)) < len(names):
            raise UserError(f"{self.id}: got {names}, expected every vector once; do: rename one of them")
        for phase in PHASES:
            owners = self.server if phase == "update" else self.client
            for target in getattr(self, phase):
                if target not in owners:
                    whose = "server" if phase == "update" else "clients"
                    raise UserError(f"{self.id}: got {target.name!r} in {phase}, expected a vector of the {whose}")
        for quantity, number in self.measures.items():
            if not number.expected:
                raise UserError(f"{self.id}: got {quantity} without an expectation; do: write expect(...)")

    @property
    def phases(self) -> dict[str, Mapping[Vector, Any]]:
        return {phase: getattr(self, phase) for phase in PHASES}

    def steps(self) -> set[AppliedUndef]:
        """Step sizes and other quantities that its rules read, as they stand there."""
        return {q for e in self.scalars(()) for q in e.atoms(AppliedUndef)}

    def scalars(self, measures: Collection[str]) -> Iterator[Expr]:
        """Every scalar factor in its rules and in the measures of these names."""
        rules = [_vector(v) for block in (self.server, self.client, *self.phases.values()) for v in block.values()]
        for rule in rules:
            yield from rule.scalars()
        for quantity, number in self.measures.items():
            for coefficient, atom in number.terms if quantity.func.__name__ in measures else ():
                yield coefficient
                yield from _atom_scalars(atom)

    def uses(self, op: str) -> bool:
        """Whether a rule contains this operation."""
        return any(_vector(v).uses(op) for block in self.phases.values() for v in block.values())

    def data(self, tree: Callable[[Any], Any], measures: Collection[str]) -> dict[str, Any]:
        """The method with these measures as JSON data; `tree` lowers scalars.

        Names of vectors are strings, operations are lists.
        """

        def rules(block: Mapping[Vector, Any]) -> dict[str, Any]:
            return {target.name: vector_tree(_vector(value), tree) for target, value in block.items()}

        measured = {
            quantity.func.__name__: {
                "at": [tree(index) for index in quantity.args],
                "terms": [[tree(c), atom_tree(atom, tree)] for c, atom in number.terms],
            }
            for quantity, number in self.measures.items()
            if quantity.func.__name__ in measures
        }
        blocks = {"server": self.server, "client": self.client, **self.phases}
        before = {new.func.__name__: old.func.__name__ for new, old in self.before.items()}
        read = {name: old for name, old in before.items() if name in measures}
        data = {"id": self.id, **{name: rules(block) for name, block in blocks.items()}, "measures": measured}
        return data | ({"before": read} if read else {})


def _atom_scalars(atom: tuple[Any, ...]) -> Iterator[Expr]:
    for arg in atom[1:]:
        yield from arg.scalars() if isinstance(arg, Vector) else _atom_scalars(arg)


def vector_tree(x: Vector, tree: Callable[[Any], Any]) -> Any:
    if x.op == "name":
        return x.args[0]
    return [x.op, *(vector_tree(arg, tree) if isinstance(arg, Vector) else tree(arg) for arg in x.args)]


def atom_tree(atom: tuple[Any, ...], tree: Callable[[Any], Any]) -> Any:
    op, *args = atom
    return [op, *(vector_tree(arg, tree) if isinstance(arg, Vector) else atom_tree(arg, tree) for arg in args)]
