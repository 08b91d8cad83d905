"""A method's JSON, read once: every rule a linear combination of operations, equal parts shared.

A coefficient is a sum of monomials in scalar trees, so that y - gamma (g + alpha (y - x)) becomes three terms. Where a
measure reads f - f_star, its atom "f" is the difference, which must not cancel; otherwise "value" is f itself, and
`stars` says how many times f_star has to be added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import NotRequired, TypeAlias, TypedDict

PHASES = ("begin", "local", "end", "update")
FIXED = ("start", "zero", "w_star", "axis", "point")
LINEAR = ("name", *FIXED, "noisy", "again", "mean", "neighbours", "other")  # whatever the losses are
NOISE = ("noisy", "again", "noisy_hess")  # draws of one step, independent
SCALED = ("prox", "oracle", "full_prox", "coin")  # with a scalar before their vector
FORMS = ("norm2", "inner")  # bilinear in their vectors
Tree: TypeAlias = "str | int | list[Tree]"  # a number, a name, or an operation and what it is applied to
Monomial = tuple[Fraction, tuple[int, ...]]  # a rational times factors, by their place in `Programme.factors`
Coefficient = tuple[Monomial, ...]
ONE: Coefficient = ((Fraction(1), ()),)


class MeasureData(TypedDict):
    """A measure as a method's JSON has it: `terms` are pairs of a scalar and an atom."""

    at: list[str]
    terms: list[list[Tree]]
    over: NotRequired[tuple[str, str]]


class Clock(TypedDict):
    """Where t counts local steps over all rounds: how many the first round has."""

    first: NotRequired[Tree]


class MethodData(TypedDict):
    """A method's JSON: rules by the vector that they give, measures by their names."""

    server: dict[str, Tree]
    client: dict[str, Tree]
    begin: dict[str, Tree]
    local: dict[str, Tree]
    end: dict[str, Tree]
    update: dict[str, Tree]
    measures: dict[str, MeasureData]
    clock: NotRequired[Clock]


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """An operation on vectors. Equal operations of a programme are one object."""

    op: str
    name: str = ""
    args: tuple[Linear, ...] = ()
    scalars: tuple[int, ...] = ()
    noisy: bool = False  # whether the noise of the step is inside
    curved: bool = False  # whether that noise is inside an operation that need not be linear
    weights: Weights | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights of the clients. Equal ones of a programme are one object."""

    op: str
    by: Number = ()
    scalar: int = -1
    inside: Weights | None = None


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
    """A number made of vectors; `excess` is f_i - f_i_star. A ratio is `settled` if no vector of the run is in its
    denominator.
    """

    op: str
    args: tuple[Linear, ...] = ()
    inside: Atom | None = None
    weights: Weights | None = None
    parts: tuple[Number, ...] = ()
    settled: bool = False

    @property
    def noisy(self) -> bool:
        parts = (*(atom for part in self.parts for _, atom in part), *((self.inside,) if self.inside else ()))
        return any(inside.noisy for inside in (*self.args, *parts))

    @property
    def composed(self) -> bool:
        """Whether it is a ratio, the smaller of two, or weighted anew: its expectation is of the whole of it."""
        inside = self.inside is not None and self.inside.composed
        return bool(self.parts) or self.weights is not None or inside


Number = tuple[tuple[int, Atom], ...]  # a sum of coefficients times atoms


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    at: tuple[str, ...]
    terms: Number
    stars: int
    law: str = ""  # "least", "most", "picked", "of_mean" or "around_mean" instead of the expectation
    each_round: bool = False

    @property
    def extreme(self) -> str:
        return self.law if self.law in ("least", "most") else ""

    @property
    def own(self) -> bool:
        return "i" in self.at

    @property
    def last(self) -> str:
        """An index besides round, step and client: another client j, or a coordinate n."""
        return self.at[-1] if self.at[-1:] in (("j",), ("n",)) else ""


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    factors: tuple[Tree, ...]  # scalars
    coefficients: tuple[Coefficient, ...]
    server: Mapping[str, Linear]
    client: Mapping[str, Linear]
    phases: Mapping[str, Mapping[str, Linear]]
    measures: Mapping[str, Measure]
    kept: tuple[str, ...]  # vectors that the next round still reads
    ops: frozenset[str]
    coin: int = -1  # the chance of a coin that is tossed in every round, by its place in `coefficients`; -1: no coin
    steps: bool = False  # whether t counts local steps over all rounds
    first: Tree = 0  # local steps of the first round, a tree of E; 0: E

    def linear(self, prox: bool) -> bool:
        """Whether all rules are affine where gradients are (and proximal points, if `prox`), all atoms quadratic."""
        atoms = [atom for measure in self.measures.values() for _, atom in measure.terms]
        quadratic = all(not atom.composed and _innermost(atom).op not in ("g", "conjugate", "norm") for atom in atoms)
        return quadratic and self.ops <= {*LINEAR, "grad", *(("prox",) if prox else ())}

    def begins(self, t: int, E: int) -> bool:
        """Whether a round begins with step t, where t counts steps."""
        first = _count(self.first, E)
        return t == 0 or (t >= first and (t - first) % E == 0)

    def rules(self) -> Iterator[Linear]:
        for block in (self.server, self.client, *self.phases.values()):
            yield from block.values()


def _count(tree: Tree, E: int) -> int:
    """A sum or product of whole numbers and E."""
    if not isinstance(tree, list):
        return E if tree == "E" else int(tree)
    op, *args = tree
    return {"+": sum, "*": prod, "min": min, "max": max}[str(op)](_count(arg, E) for arg in args)


def programme(method: Mapping[str, object]) -> Programme:
    """A method's JSON, read; equal ones are read once."""
    # A cache needs keys that can be hashed: the text can, dictionaries cannot.
    return _programme(json.dumps(method))


@lru_cache(maxsize=256)
def _programme(text: str) -> Programme:
    method: MethodData = json.loads(text)
    reader = _Reader()

    def block(rules: Mapping[str, Tree]) -> dict[str, Linear]:
        return {target: reader.linear(rule) for target, rule in rules.items()}

    server, client = block(method["server"]), block(method["client"])
    phases = {
        "begin": block(method["begin"]),
        "local": block(method["local"]),
        "end": block(method["end"]),
        "update": block(method["update"]),
    }
    measures = {name: reader.measure(raw) for name, raw in method["measures"].items()}
    # What a round sets at its beginning need not be kept from the round before.
    kept = (*method["server"], *(name for name in method["client"] if name not in method["begin"]))
    ops = frozenset(operation.op for operation in reader.operations.values())
    return Programme(
        tuple(reader.trees),
        tuple(reader.coefficients),
        server,
        client,
        phases,
        measures,
        kept,
        ops,
        next((operation.scalars[0] for operation in reader.operations.values() if operation.op == "coin"), -1),
        "clock" in method,
        method.get("clock", {}).get("first", 0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    factors: dict[str, int] = field(default_factory=dict[str, int])
    trees: list[Tree] = field(default_factory=list[Tree])
    coefficients: dict[Coefficient, int] = field(default_factory=dict[Coefficient, int])
    operations: dict[object, Operation] = field(default_factory=dict[object, Operation])
    weighings: dict[str, Weights] = field(default_factory=dict[str, Weights])

    def place(self, coefficient: Coefficient) -> int:
        return self.coefficients.setdefault(coefficient, len(self.coefficients))

    def coefficient(self, tree: Tree) -> Coefficient:
        if isinstance(tree, int):
            return ((Fraction(tree), ()),)
        if isinstance(tree, str) and (tree[0].isdigit() or tree[0] == "-"):
            return ((Fraction(tree), ()),)
        key = json.dumps(tree)
        if key not in self.factors:
            self.factors[key] = len(self.trees)
            self.trees.append(tree)
        return ((Fraction(1), (self.factors[key],)),)

    def linear(self, rule: Tree) -> Linear:
        terms: dict[Operation, Coefficient] = {}
        for coefficient, operation in self.terms(rule):
            terms[operation] = added(terms.get(operation, ()), coefficient)
        left = [(self.place(coefficient), operation) for operation, coefficient in terms.items() if coefficient]
        return Linear(tuple(left or [(self.place(ONE), self.operation("zero"))]))

    def terms(self, rule: Tree) -> Iterator[tuple[Coefficient, Operation]]:
        if isinstance(rule, str):
            yield ONE, self.operation("name", rule)
            return
        op, args = _parted(rule)
        if op == "+":
            for arg in args:
                yield from self.terms(arg)
        elif op == "*":
            factor = self.coefficient(args[0])
            for coefficient, operation in self.terms(args[1]):
                yield times(factor, coefficient), operation
        elif op == "point":
            yield ONE, self.operation(op, str(args[0]))
        elif op in SCALED:
            yield ONE, self.operation(op, "", [args[1]], [args[0]])
        elif op == "weighted":
            yield ONE, self.operation(op, "", [args[1]], weights=self.weights(args[0]))
        else:
            yield ONE, self.operation(op, "", args)

    def operation(
        self,
        op: str,
        name: str = "",
        args: Sequence[Tree] = (),
        scalars: Sequence[Tree] = (),
        weights: Weights | None = None,
    ) -> Operation:
        vectors = tuple(self.linear(arg) for arg in args)
        factors = tuple(self.place(self.coefficient(scalar)) for scalar in scalars)
        key = op, name, tuple(v.terms for v in vectors), factors, weights
        if key not in self.operations:
            inside = any(v.noisy for v in vectors)
            curved = any(v.curved for v in vectors) or (inside and op not in (*LINEAR, "sampled")) or op == "noisy_hess"
            self.operations[key] = Operation(op, name, vectors, factors, inside or op in NOISE, curved, weights)
        return self.operations[key]

    def weights(self, raw: Tree) -> Weights:
        key = json.dumps(raw)
        if key not in self.weighings:
            op, args = _parted(raw)
            if op == "in_turn":
                self.weighings[key] = Weights(op, inside=self.weights(args[0]))
            else:
                scalar = self.place(self.coefficient(args[1])) if len(args) > 1 else -1
                self.weighings[key] = Weights(op, self.number(_pairs(args[0])) if args else (), scalar)
        return self.weighings[key]

    def number(self, pairs: Sequence[Sequence[Tree]]) -> Number:
        """A sum of atoms, none of them a value of f."""
        return tuple((self.place(c), atom) for c, atom in self.from_own_minimum(pairs))

    def measure(self, raw: MeasureData) -> Measure:
        terms = self.from_own_minimum(raw["terms"])
        values, stars, shifted = (_total(terms, op) for op in ("f", "f_star", "F"))
        if shifted:  # values of F count from a point
            stars = added(shifted, stars)
        elif added(values, stars):  # not a gap: f itself is asked for
            terms = [(coefficient, _plain(atom)) for coefficient, atom in terms]
        else:
            stars = ()
        kept = [(self.place(coefficient), atom) for coefficient, atom in terms if atom.op != "f_star"]
        law, span = raw.get("over", ("", ""))
        return Measure(tuple(raw["at"]), tuple(kept), self.place(stars), law, span == "rounds")

    def from_own_minimum(self, pairs: Sequence[Sequence[Tree]]) -> list[tuple[Coefficient, Atom]]:
        """Terms; where f_i_star stands, values of f_i count from it, so that they do not cancel near it."""
        text = json.dumps(pairs)
        if '["f_i_star"]' not in text or any(_around(atom)[-1][0] not in ("f_i", "f_i_star") for _, atom in pairs):
            return [(self.coefficient(factor), self.atom(atom)) for factor, atom in pairs]
        sums: dict[str, Coefficient] = {}
        kept: list[tuple[Coefficient, Atom]] = []
        for factor, atom in pairs:
            *around, innermost = _around(atom)
            coefficient, key = self.coefficient(factor), json.dumps(around)
            sums[key] = added(sums.get(key, ()), coefficient)
            if innermost[0] == "f_i":
                kept.append((coefficient, self.atom(_renamed(atom))))
        if any(sums.values()):
            raise ValueError("got values of f_i beside f_i_star, expected their difference")
        return kept

    def atom(self, raw: Tree) -> Atom:
        op, args = _parted(raw)
        match op:
            case "mean":
                return Atom(op, inside=self.atom(args[0]))
            case "weighted":
                return Atom(op, inside=self.atom(args[1]), weights=self.weights(args[0]))
            case "weight":
                return Atom(op, weights=self.weights(args[0]))
            case "ratio" | "smaller":
                parts = [_pairs(arg) for arg in args]
                return Atom(op, parts=tuple(map(self.number, parts)), settled=not _names_in(parts[1]))
            case _:
                return Atom(op, tuple(self.linear(arg) for arg in args))


def _listed(tree: Tree) -> list[Tree]:
    """A tree that has to be a list."""
    if not isinstance(tree, list):
        raise ValueError(f"got {tree!r}, expected an operation and what it is applied to")
    return tree


def _parted(tree: Tree) -> tuple[str, list[Tree]]:
    """An operation, and what it is applied to."""
    op, *args = _listed(tree)
    return str(op), args


def _pairs(number: Tree) -> list[list[Tree]]:
    """A sum as pairs of a scalar and an atom."""
    return [_listed(pair) for pair in _listed(number)]


def _around(atom: Tree) -> list[list[Tree]]:
    """The means around an atom, without what they are of, and the atom inside them."""
    parts = _listed(atom)
    return [parts[:-1], *_around(parts[-1])] if parts[0] in ("mean", "weighted") else [parts]


def _renamed(atom: Tree) -> Tree:
    """Values of f_i in an atom as what they exceed f_i_star by."""
    parts = _listed(atom)
    return [*parts[:-1], _renamed(parts[-1])] if parts[0] in ("mean", "weighted") else ["excess", *parts[1:]]


def _names_in(pairs: Sequence[Sequence[Tree]]) -> bool:
    """Whether a number reads a vector of the run."""
    vectors = [arg for _, atom in pairs for arg in _around(atom)[-1][1:]]
    constants = ("w_star", "start", "zero", "w_i_star")
    return not all(isinstance(v, list) and v[0] in constants for v in vectors)


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
