"""A method's JSON, read once: every rule a linear combination of operations, equal parts shared.

A coefficient is a sum of monomials in scalar trees, so that y - gamma (g + alpha (y - x)) becomes three terms. Where a
measure reads f - f_star, its atom "f" is the difference, which must not cancel; otherwise "value" is f itself, and
`stars` says how many times f_star has to be added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

PHASES = ("begin", "local", "end", "update")
LINEAR = ("name", "start", "zero", "w_star", "noisy", "mean", "neighbours")  # whatever the losses are
FORMS = ("norm2", "inner")  # bilinear in their vectors
Monomial = tuple[Fraction, tuple[int, ...]]  # a rational times factors, by their place in `Programme.factors`
Coefficient = tuple[Monomial, ...]
ONE: Coefficient = ((Fraction(1), ()),)


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """An operation on vectors. Equal operations of a programme are one object."""

    op: str
    name: str = ""
    args: tuple[Linear, ...] = ()
    scalars: tuple[int, ...] = ()
    noisy: bool = False  # whether the noise of the step is inside
    curved: bool = False  # whether that noise is inside an operation that need not be linear


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A sum of coefficients, by their place in `Programme.coefficients`, times operations."""

    terms: tuple[tuple[int, Operation], ...]

    @property
    def noisy(self) -> bool:
        return any(operation.noisy for _, operation in self.terms)

    @property
    def curved(self) -> bool:
        return any(operation.curved for _, operation in self.terms)


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    op: str
    args: tuple[Linear, ...] = ()
    inside: Atom | None = None

    @property
    def noisy(self) -> bool:
        return any(arg.noisy for arg in self.args)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    at: tuple[str, ...]
    terms: tuple[tuple[int, Atom], ...]
    stars: int

    @property
    def own(self) -> bool:
        return "i" in self.at


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    factors: tuple[Any, ...]  # scalar trees
    coefficients: tuple[Coefficient, ...]
    server: Mapping[str, Linear]
    client: Mapping[str, Linear]
    phases: Mapping[str, Mapping[str, Linear]]
    measures: Mapping[str, Measure]
    kept: tuple[str, ...]  # vectors that the next round still reads
    ops: frozenset[str]

    @property
    def linear(self) -> bool:
        """Whether every operation is affine where gradients are."""
        return self.ops <= {*LINEAR, "grad"}

    def rules(self) -> Iterator[Linear]:
        for block in (self.server, self.client, *self.phases.values()):
            yield from block.values()


def programme(method: Mapping[str, Any]) -> Programme:
    return _programme(json.dumps(method))


@lru_cache(maxsize=256)
def _programme(text: str) -> Programme:
    method, reader = json.loads(text), _Reader()

    def block(name: str) -> dict[str, Linear]:
        return {target: reader.linear(rule) for target, rule in method[name].items()}

    blocks = {name: block(name) for name in ("server", "client", *PHASES)}
    measures = {name: reader.measure(raw) for name, raw in method["measures"].items()}
    kept = (*method["server"], *(name for name in method["client"] if name not in method["begin"]))
    ops = frozenset(operation.op for operation in reader.operations.values())
    phases = {phase: blocks[phase] for phase in PHASES}
    return Programme(
        tuple(reader.trees), tuple(reader.coefficients), blocks["server"], blocks["client"], phases, measures, kept, ops
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    factors: dict[str, int] = field(default_factory=dict[str, int])
    trees: list[Any] = field(default_factory=list[Any])
    coefficients: dict[Coefficient, int] = field(default_factory=dict[Coefficient, int])
    operations: dict[Any, Operation] = field(default_factory=dict[Any, Operation])

    def place(self, coefficient: Coefficient) -> int:
        return self.coefficients.setdefault(coefficient, len(self.coefficients))

    def coefficient(self, tree: Any) -> Coefficient:
        if isinstance(tree, int):
            return ((Fraction(tree), ()),)
        if isinstance(tree, str) and (tree[0].isdigit() or tree[0] == "-"):
            return ((Fraction(tree), ()),)
        key = json.dumps(tree)
        if key not in self.factors:
            self.factors[key] = len(self.trees)
            self.trees.append(tree)
        return ((Fraction(1), (self.factors[key],)),)

    def linear(self, rule: Any) -> Linear:
        terms: dict[Operation, Coefficient] = {}
        for coefficient, operation in self.terms(rule):
            terms[operation] = added(terms.get(operation, ()), coefficient)
        left = [(self.place(coefficient), operation) for operation, coefficient in terms.items() if coefficient]
        return Linear(tuple(left or [(self.place(ONE), self.operation("zero"))]))

    def terms(self, rule: Any) -> Iterator[tuple[Coefficient, Operation]]:
        if isinstance(rule, str):
            yield ONE, self.operation("name", rule)
            return
        op, *args = rule
        if op == "+":
            for arg in args:
                yield from self.terms(arg)
        elif op == "*":
            factor = self.coefficient(args[0])
            for coefficient, operation in self.terms(args[1]):
                yield times(factor, coefficient), operation
        elif op == "prox":
            yield ONE, self.operation(op, "", [args[1]], [args[0]])
        else:
            yield ONE, self.operation(op, "", args)

    def operation(self, op: str, name: str = "", args: Any = (), scalars: Any = ()) -> Operation:
        vectors = tuple(self.linear(arg) for arg in args)
        factors = tuple(self.place(self.coefficient(scalar)) for scalar in scalars)
        key = op, name, tuple(v.terms for v in vectors), factors
        if key not in self.operations:
            inside = any(v.noisy for v in vectors)
            curved = any(v.curved for v in vectors) or (inside and op not in (*LINEAR, "sampled"))
            self.operations[key] = Operation(op, name, vectors, factors, inside or op == "noisy", curved)
        return self.operations[key]

    def measure(self, raw: Mapping[str, Any]) -> Measure:
        terms = [(self.coefficient(factor), self.atom(atom)) for factor, atom in raw["terms"]]
        values, stars = (_total(terms, op) for op in ("f", "f_star"))
        if added(values, stars):  # not a gap: f itself is asked for
            terms = [(coefficient, _plain(atom)) for coefficient, atom in terms]
        else:
            stars = ()
        kept = [(self.place(coefficient), atom) for coefficient, atom in terms if atom.op != "f_star"]
        return Measure(tuple(raw["at"]), tuple(kept), self.place(stars))

    def atom(self, raw: Any) -> Atom:
        op, *args = raw
        if op == "mean":
            return Atom(op, inside=self.atom(args[0]))
        return Atom(op, tuple(self.linear(arg) for arg in args))


def _total(terms: list[tuple[Coefficient, Atom]], op: str) -> Coefficient:
    """How often an operation occurs in a measure."""
    total: Coefficient = ()
    for coefficient, atom in terms:
        total = added(total, coefficient if _innermost(atom).op == op else ())
    return total


def _plain(atom: Atom) -> Atom:
    """The value of f instead of what it exceeds f_star by."""
    if atom.inside is not None:
        return replace(atom, inside=_plain(atom.inside))
    return replace(atom, op="value") if atom.op == "f" else atom


def _innermost(atom: Atom) -> Atom:
    return atom if atom.inside is None else _innermost(atom.inside)


def added(one: Coefficient, other: Coefficient) -> Coefficient:
    total: dict[tuple[int, ...], Fraction] = {}
    for rational, factors in (*one, *other):
        total[factors] = total.get(factors, Fraction(0)) + rational
    return tuple((rational, factors) for factors, rational in total.items() if rational)


def times(one: Coefficient, other: Coefficient) -> Coefficient:
    products = ((a * b, tuple(sorted((*x, *y)))) for a, x in one for b, y in other)
    return added((), tuple(products))
