"""Trees and relations, decided with certainty: exact rationals, and balls where exp, log or a root forces them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

from flint import arb, ctx, fmpq

from .budget import SEARCH, metered, paid, spend
from .rational import BITS, Malformed, Node, Rejected, shown

Value = fmpq | arb
Domains = Mapping[str, str]
DEPTH, PRECISIONS = 64, (64, 128, 256, 512, 1024, 2048, 4096)
DOMAINS = ("real", "nonnegative", "positive", "count", "index")
NODE = 2  # operations of a node beside its arithmetic
UNARY = ("exp", "log", "abs", "erf")
ARITY = {"+": 0, "*": 0, "^": 2, "min": 0, "max": 0, **dict.fromkeys(UNARY, 1), "sum": 4, "at": 0}  # 0: any
RELATIONS: dict[str, Callable[[Value, Value], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "=": "!=", "!=": "="}


def least(x: Value, y: Value) -> Value:
    return min(x, y) if isinstance(x, fmpq) and isinstance(y, fmpq) else arb(x).min(arb(y))


FOLD: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda x, y: paid(x + y) if isinstance(x, fmpq) and isinstance(y, fmpq) else x + y,
    "*": lambda x, y: paid(x * y) if isinstance(x, fmpq) and isinstance(y, fmpq) else x * y,
    "min": least,
    "max": lambda x, y: -least(-x, -y),
}


class Unsure(Rejected):
    """A ball that says nothing at this precision: more bits may help."""


def inhabits(name: str, x: fmpq, kind: str) -> fmpq:
    """`x`, or `Rejected` where it is not in the domain `kind`."""
    whole = kind not in ("count", "index") or x.q == 1
    if not whole or not (x >= 0 or kind == "real") or not (x > 0 or kind not in ("positive", "count")):
        raise Rejected(f"{name}: got {shown(x)}, expected it {kind}")
    return x


class Names(Protocol):
    """Where a tree's symbols and quantities come from; `at` checks that every index is in its range."""

    def value(self, name: str) -> fmpq: ...
    def at(self, name: str, indices: tuple[int, ...]) -> Value: ...


@dataclass(frozen=True, slots=True)
class Op:
    """An operation; of "sum" and "at" the first argument is a name.

    Trees are what values are looked up by, so the hash is computed once, from those of the arguments.
    """

    name: str
    args: tuple[Tree, ...]
    hashed: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hashed", hash((self.name, self.args)))

    def __hash__(self) -> int:
        return self.hashed


Tree = fmpq | str | Op
Relation = tuple[str, Tree, Tree]


def parse(node: Node, depth: int = 0) -> Tree:
    """A tree from its JSON form."""
    raw = node.raw
    if not isinstance(raw, list):
        named = isinstance(raw, str) and (raw[:1].isalpha() or raw[:1] == "_")
        return node.name() if named else node.rational()
    head, *rest = node.items() or [node]
    name = head.one_of(ARITY)
    if depth > DEPTH or not rest or ARITY[name] not in (0, len(rest)):
        raise node.malformed(f"{ARITY[name] or 'one or more'} arguments of {name!r}, nested at most {DEPTH} deep")
    first = rest[0].name() if name in ("sum", "at") else parse(rest[0], depth + 1)
    return Op(name, (first, *(parse(arg, depth + 1) for arg in rest[1:])))


def parse_relation(node: Node) -> Relation:
    head, left, right = node.items(3)
    return head.one_of(RELATIONS), parse(left), parse(right)


def free(tree: Tree, bound: frozenset[str] = frozenset()) -> set[tuple[str, int]]:
    """Names that `tree` needs from outside: (symbol, -1) or (quantity, number of indices)."""
    if isinstance(tree, fmpq):
        return set()
    if isinstance(tree, str):
        return set() if tree in bound else {(tree, -1)}
    args, names = tree.args, set[tuple[str, int]]()
    if tree.name == "sum":
        names = free(args[3], bound | {str(args[0])})
        args = args[1:3]
    elif tree.name == "at":
        names, args = {(str(args[0]), len(args) - 1)}, args[1:]
    return names.union(*(free(arg, bound) for arg in args))


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Values of trees in one world, within a bounded amount of work; what is read is in its domain."""

    world: Names
    domains: Domains | None  # None: a search asks without a claim

    def value(self, tree: Tree, scope: Mapping[str, int]) -> Value:
        with metered(SEARCH):
            return self.node(tree, scope)

    def rational(self, tree: Tree, scope: Mapping[str, int], where: str) -> fmpq:
        x = self.value(tree, scope)
        if not isinstance(x, fmpq):
            raise Rejected(f"{where}: got the irrational {shown(x)}, expected a rational")
        return x

    def node(self, tree: Tree, scope: Mapping[str, int]) -> Value:
        spend(NODE)
        if isinstance(tree, fmpq):
            return tree
        x = self.read(tree, scope) if isinstance(tree, str) or tree.name == "at" else self.combined(tree, scope)
        if isinstance(x, arb):
            spend(1 + ctx.prec // 64 if isinstance(tree, str) or tree.name in FOLD else 2 + ctx.prec // 8)
            if not x.is_finite():
                raise Unsure("claim: got a value that is not a number, expected arguments inside every domain")
            return x
        return paid(x)

    def read(self, tree: str | Op, scope: Mapping[str, int]) -> Value:
        """A symbol or a quantity. A rational is in its domain; a ball, which only a world computes, may touch it."""
        if isinstance(tree, str):
            if tree in scope:
                return fmpq(scope[tree])
            name, x = tree, self.world.value(tree)
        else:
            name = str(tree.args[0])
            x = self.world.at(name, tuple(self.integer(arg, scope) for arg in tree.args[1:]))
        kind = "real" if self.domains is None else self.domains.get(name)
        if kind is None:
            raise Malformed(f"claim.domains: got none for {name!r}, expected one for every symbol and quantity")
        if isinstance(x, arb):
            if kind != "real" and (x < 0 or kind not in ("positive", "nonnegative")):
                raise Rejected(f"{name}: got {shown(x)}, expected it {kind}")
            return x
        return inhabits(name, x, kind)

    def combined(self, tree: Op, scope: Mapping[str, int]) -> Value:
        name, args = tree.name, tree.args
        if name == "sum":
            low, high = self.integer(args[1], scope), self.integer(args[2], scope)
            if high < low - 1:
                raise Rejected(f"claim: got a sum from {low} to {high}, expected a range")
            terms = (self.node(args[3], {**scope, str(args[0]): n}) for n in range(low, high + 1))
            return reduce(FOLD["+"], terms, fmpq(0))
        values = [self.node(arg, scope) for arg in args]
        x = values[0]
        match name:
            case "^":
                return power(x, values[1])
            case "abs":
                return abs(x)
            case "exp":
                return fmpq(1) if x == 0 else arb(x).exp()
            case "erf":
                return fmpq(0) if x == 0 else arb(x).erf()
            case "log":
                return logarithm(x)
            case _:
                return reduce(FOLD[name], values)

    def integer(self, tree: Tree, scope: Mapping[str, int]) -> int:
        """The value of an index or of a sum's limit."""
        x = self.node(tree, scope)
        if not isinstance(x, fmpq) or x.q != 1 or abs(x) > 10**15:
            raise Rejected(f"claim: got the index {shown(x)}, expected an integer")
        return int(x.p)


def logarithm(x: Value) -> Value:
    if isinstance(x, arb):
        if not x > 0:
            raise Unsure(f"claim: got log({shown(x)}), expected a positive argument for certain")
        return x.log()
    if x <= 0:
        raise Rejected(f"claim: got log({shown(x)}), expected a positive argument")
    return fmpq(0) if x == 1 else arb(x).log()


def power(x: Value, y: Value) -> Value:
    """x^y; exact for rational x and y whenever the result is rational, with 0^0 = 1."""
    if isinstance(y, arb):
        return (arb(logarithm(x)) * y).exp()
    top, bottom = int(y.p), int(y.q)
    if isinstance(x, arb):
        return x**top if bottom == 1 else (arb(logarithm(x)) * y).exp()
    if x == 0 and top < 0:
        raise Rejected(f"claim: got 0^({shown(y)}), expected a nonzero base")
    if bottom > 1 and x < 0:
        raise Rejected(f"claim: got ({shown(x)})^({shown(y)}), expected a base that is not negative")
    if bottom > 1 and x > 0:
        root = fmpq(x.p.root(bottom), x.q.root(bottom)) if bottom <= DEPTH else fmpq(1)
        if root**bottom != x:
            return (arb(x).log() * y).exp()
        x = root
    if x == 0 or abs(x) == 1:
        top = min(top, 1) if x == 0 else top % 2
    if abs(top) * x.height_bits() > BITS:
        raise Rejected(f"claim: got an exponent of {top.bit_length()} bits, expected a result of at most {BITS} bits")
    return x**top


def outcome(name: str, left: Value, right: Value) -> bool | None:
    """Whether a relation holds; None where balls do not say so for certain."""
    return True if RELATIONS[name](left, right) else False if RELATIONS[OPPOSITE[name]](left, right) else None


def decide(
    relation: Relation, scope: Mapping[str, int], world: Names, domains: Domains | None
) -> tuple[Value, Value, bool]:
    """Both sides and whether the relation holds; precision rises until that is certain."""
    name, *sides = relation
    evaluator, unsure = Evaluator(world, domains), ""
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            try:
                left, right = (evaluator.value(side, scope) for side in sides)
            except Unsure as error:
                unsure = f" ({error})"
                continue
            if (holds := outcome(name, left, right)) is not None:
                return left, right, holds
    raise Rejected(f"claim: got a relation {name!r} undecided at {PRECISIONS[-1]} bits{unsure}, expected a decision")
