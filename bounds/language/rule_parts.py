"""What a rule or a measure of a method is as data: vectors of a run, weights of its clients, numbers of it.

Each is an operation and what it is applied to. `rule_expressions` has the words that make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from sympy import Expr, Integer, SympifyError, sympify

from fedaudit.errors import UserError

from ..formulas.trees import Tree

Over = Literal["all", "sampled"]
Scalar: TypeAlias = Expr | int | float | Fraction
Atom: TypeAlias = tuple[Any, ...]  # an operation of a number, and what it is applied to
Law = Literal["", "expect", "least", "most", "picked", "picked_step", "of_mean", "around_mean"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of the run: a name, or an operation on vectors.

    >>> import fedaudit as fa
    >>> (fa.start - fa.w_star).op
    '+'
    """

    op: str
    args: tuple[Any, ...] = ()

    # sympy leaves `scalar * vector` to us (NotImplemented), so that rules read as they are printed
    def __add__(self, other: Vector) -> Vector:
        return Vector("+", (*_terms(self), *_terms(as_vector(other))))

    def __neg__(self) -> Vector:
        return Vector("*", (Integer(-1), self))

    def __sub__(self, other: Vector) -> Vector:
        return self + -as_vector(other)

    def __mul__(self, scalar: Scalar) -> Vector:
        return Vector("*", (as_scalar(scalar), self))

    __rmul__ = __mul__

    def __truediv__(self, scalar: Scalar) -> Vector:
        return self * (1 / as_scalar(scalar))

    @property
    def name(self) -> str:
        if self.op != "name":
            raise UserError(f"got {self.op!r}, expected the name of a vector; do: assign to a vector's own name")
        return self.args[0]

    def scalars(self) -> Iterator[Expr]:
        """Every scalar factor in it."""
        return scalars_of(self)

    def uses(self, op: str) -> bool:
        return any(isinstance(part, Vector | Weights) and part.op == op for part in parts_of(self))


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the clients in a mean, one number each.

    >>> import fedaudit as fa
    >>> fa.own.op
    'own'
    """

    op: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A combination of norms, inner products and values; of a measure, of their expectations or extremes.

    >>> import fedaudit as fa
    >>> (fa.expect(fa.f(fa.vector("x"))) - fa.f_star).law
    'expect'
    """

    terms: tuple[tuple[Expr, Atom], ...]  # each with its coefficient
    law: Law = ""
    each_round: bool = False  # of an extreme: over the steps that E divides alone

    def __add__(self, other: Number) -> Number:
        if self.law != as_number(other).law:
            raise UserError("got a random number beside an expectation, expected both of one sort; do: use expect(...)")
        return Number(self.terms + other.terms, self.law)

    def __neg__(self) -> Number:
        return -1 * self

    def __sub__(self, other: Number) -> Number:
        return self + -as_number(other)

    def __mul__(self, scalar: Scalar) -> Number:
        return Number(tuple((coefficient * as_scalar(scalar), atom) for coefficient, atom in self.terms), self.law)

    __rmul__ = __mul__

    def __truediv__(self, scalar: Scalar) -> Number:
        return self * (1 / as_scalar(scalar))


def parts_of(x: object) -> Iterator[object]:
    """A vector, a number or weights, and all that is inside it: vectors, weights, numbers, scalars."""
    yield x
    inside = x.terms if isinstance(x, Number) else x.args if isinstance(x, Vector | Weights) else x
    for part in cast("tuple[object, ...]", inside) if isinstance(inside, tuple) else ():
        yield from parts_of(part)


def scalars_of(x: Vector | Number) -> Iterator[Expr]:
    """Every scalar factor in it."""
    return (part for part in parts_of(x) if isinstance(part, Expr))


def vectors_of(x: Vector | Number) -> Iterator[Vector]:
    """Every vector inside a rule or a measure, itself included."""
    return (part for part in parts_of(x) if isinstance(part, Vector))


def _terms(vector: Vector) -> tuple[Vector, ...]:
    return vector.args if vector.op == "+" else (vector,)


zero = Vector("zero")


def as_vector(value: object) -> Vector:
    """A vector, or 0 as the zero vector; raises `UserError`."""
    if isinstance(value, Vector):
        return value
    if isinstance(value, int) and value == 0:
        return zero
    raise UserError(f"got {value!r}, expected a vector; do: write 0 or an expression of the method's vectors")


def as_number(value: object) -> Number:
    """A number of the run; raises `UserError`."""
    if isinstance(value, Number):
        return value
    what = "a vector" if isinstance(value, Vector) else repr(value)
    raise UserError(what, "a number of the run such as norm2(x), f(x) or inner(x, y)", "write one of them")


def as_scalar(value: object) -> Expr:
    """A number or a formula as sympy's; raises `UserError`."""
    if isinstance(value, Vector | Number):
        raise UserError("got a product of two vectors, expected a scalar and a vector; do: use inner(x, y)")
    try:
        return sympify(value, strict=True)  # strict: numbers and formulas, never text
    except SympifyError:
        raise UserError(repr(value), "a number or a formula", "write it with the glossary's symbols") from None


def vector_tree(x: Any, tree: Callable[[Any], Tree]) -> Tree:
    """Vectors, weights, numbers and their atoms as lists that begin with the operation; scalars as `tree` has them."""
    match x:
        case Vector(op="name"):
            return x.args[0]
        case Vector(op="point"):
            return ["point", *x.args]
        case Vector() | Weights():
            return [x.op, *(vector_tree(arg, tree) for arg in x.args)]
        case Number():
            return [[tree(c), vector_tree(atom, tree)] for c, atom in x.terms]
        case (str() as op, *args):
            return [op, *(vector_tree(arg, tree) for arg in args)]
        case _:
            return tree(x)
