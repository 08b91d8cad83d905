"""Orders of growth: every parameter follows a path c n^a + ..., n -> infinity, and "lhs <= rhs" reads lhs = O(rhs).

A value is a sum of terms c n^a (log n)^b plus O(n^rest): a truncated series, so that a comparison is certain for all
large n, or rejected. What falls or grows faster than every power of n (a contraction to the power t) is one term on a
level of its own, of which only the sign is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import itemgetter

from flint import arb, ctx, fmpq

from ..core.budget import paid, spend
from ..core.claim import Claim
from ..core.expression import Domains, Relation, Tree, Value, power
from ..core.rational import Malformed, Node, Rejected, shown
from ..core.world import Ranges, Reader, named

Rank = tuple[int, fmpq, fmpq]  # level, power of n, power of log n
Term = tuple[Rank, Value]
ZERO, ONE = fmpq(0), fmpq(1)
CONSTANT: Rank = (0, ZERO, ZERO)
LOG: Rank = (0, ZERO, ONE)
NOTHING: Rank = (-2, ZERO, ZERO)  # the rank of 0
TERMS, SERIES, INTEGER_POWER, PRECISION = 32, 4, 16, 256


@dataclass(frozen=True, slots=True)
class Growth:
    """`terms` by falling rank, plus something of at most the rank `rest`, which is below all of them."""

    terms: tuple[Term, ...]
    rest: Rank = NOTHING

    @property
    def rank(self) -> Rank:
        return self._first[0]

    @property
    def lead(self) -> Value:
        return self._first[1]

    @property
    def _first(self) -> Term:
        if not self.terms and self.rest != NOTHING:
            raise Rejected("claim: got leading terms that cancel, expected another path")
        return self.terms[0] if self.terms else (NOTHING, ZERO)

    @property
    def top(self) -> Rank:
        """The largest rank that it has for all that is known."""
        return max(self.rest, self.terms[0][0]) if self.terms else self.rest

    @property
    def zero(self) -> bool:
        return not self.terms and self.rest == NOTHING

    @property
    def fixed(self) -> bool:
        """Whether no term grows or vanishes."""
        return all(rank == CONSTANT for rank, _ in self.terms)

    @property
    def constant(self) -> Value:
        return next((c for rank, c in self.terms if rank == CONSTANT), ZERO)

    @property
    def sign(self) -> int:
        """For all large n."""
        return (self.lead > 0) - (self.lead < 0)


def cut(terms: Sequence[Term], rest: Rank = NOTHING) -> Growth:
    """A growth of these terms, which fall in rank, without zeros; what is unsure or too much is left to the rest."""
    rest = max([rest, *(r for r, c in terms if isinstance(c, arb) and not (c > 0 or c < 0))])
    spend(2 * len(terms))
    for _, c in terms:
        if isinstance(c, fmpq):
            paid(c)
    kept = tuple([(r, c) for r, c in terms if r > rest and c != 0])
    if len(kept) > TERMS:
        rest = kept[TERMS][0]
    return Growth(kept[:TERMS], rest)


def constant(x: Value) -> Growth:
    return cut([(CONSTANT, x)])


def add(x: Growth, y: Growth) -> Growth:
    return gathered([*x.terms, *y.terms], max(x.rest, y.rest))


def gathered(parts: Iterable[Term], rest: Rank) -> Growth:
    """The sum of single terms, those above the rest. Of exponentials only the sign is known: they must agree.

    Equal ranks are found by sorting: to look a fraction up takes longer than to compare it.
    """
    terms: list[Term] = []
    for rank, c in sorted([part for part in parts if part[0] > rest], key=_rank, reverse=True):
        if not terms or terms[-1][0] != rank:
            terms.append((rank, c))
        elif not rank[0]:
            terms[-1] = rank, terms[-1][1] + c
        elif (terms[-1][1] > 0) != (c > 0):
            raise Rejected("claim: got a difference of exponentials, expected leading terms that do not cancel")
    return cut(terms, rest)


_rank = itemgetter(0)


def _product(x: Rank, y: Rank) -> Rank:
    if NOTHING in (x, y):
        return NOTHING
    if x[0] * y[0] < 0:
        raise Rejected("claim: got a product of exponentials, expected one that is certain")
    level = x[0] or y[0]
    return (level, ZERO, ZERO) if level else (0, paid(x[1] + y[1]), paid(x[2] + y[2]))


def multiply(x: Growth, y: Growth) -> Growth:
    if x.zero or y.zero:
        return Growth(())
    rest = max(_product(x.rest, y.top), _product(x.top, y.rest))
    spend(2 * len(x.terms) * len(y.terms))
    return gathered(((_product(r, s), c * d) for r, c in x.terms for s, d in y.terms), rest)


def _series(x: Growth, coefficients: Sequence[Value]) -> Growth:
    """c_0 + c_1 u + c_2 u^2 + ... with u = x / (leading term of x) - 1 -> 0."""
    level, a, b = x.rank
    others = Growth(x.terms[1:], x.rest)  # a ball minus itself is no 0
    if others.zero:
        return constant(coefficients[0])
    u = multiply(others, Growth((((level, -a, -b), 1 / x.lead),)))
    powers = [constant(ONE)]
    for _ in coefficients:
        powers.append(multiply(powers[-1], u))
    left_out = powers[-1].top
    parts = (multiply(constant(c), p) for c, p in zip(coefficients, powers, strict=False))
    return reduce(add, parts, Growth((), left_out))


def raised(x: Growth, y: Growth) -> Growth:
    """x^y."""
    if y.rest != NOTHING or not y.fixed or isinstance(y.lead, arb):
        return exponential(multiply(y, logarithm(x)))
    q = y.lead
    if q.q == 1 and 0 <= q <= INTEGER_POWER:
        return reduce(multiply, [x] * int(q.p), constant(ONE))
    level, a, b = x.rank
    if x.rank == NOTHING:
        if q < 0:
            raise Rejected("claim: got a division by 0, expected another path")
        return x
    if x.sign < 0 and q.q != 1:
        raise Rejected(f"claim: got a negative base to the power {q}, expected a positive one")
    if level:
        sign = ONE if x.sign > 0 or q.p % 2 == 0 else -ONE
        return Growth((((level if q > 0 else -level, ZERO, ZERO), sign),))
    binomials: list[Value] = [ONE]
    for j in range(1, SERIES):
        binomials.append(binomials[-1] * (q - j + 1) / j)
    return multiply(Growth((((0, a * q, b * q), power(x.lead, q)),)), _series(x, binomials))


def logarithm(x: Growth) -> Growth:
    """log(c n^a (1 + u)) = a log n + log c + u - u^2/2 + ..."""
    level, a, b = x.rank
    if x.sign <= 0 or level or b != 0:
        raise Rejected("claim: got the logarithm of what is not a positive power of n, expected another path")
    small = _series(x, [ZERO, *(fmpq((-1) ** (j + 1), j) for j in range(1, SERIES))])
    inside = ZERO if isinstance(x.lead, fmpq) and x.lead == 1 else arb(x.lead).log()
    return add(small, cut([(LOG, a), (CONSTANT, inside)]))


def exponential(x: Growth) -> Growth:
    large = [(r, c) for r, c in x.terms if r > CONSTANT]
    if large and large[0][0] > LOG:
        return Growth((((x.sign, ZERO, ZERO), ONE),))
    grown = next((c for r, c in large if r == LOG), ZERO)
    if any(r != LOG for r, _ in large) or isinstance(grown, arb) or not x.rest < CONSTANT:
        raise Rejected("claim: got exp of a logarithm with an unknown rest, expected another path")
    small = cut([(CONSTANT, ONE), *((r, c) for r, c in x.terms if r < CONSTANT)], x.rest)
    inside = x.constant
    scale = ONE if isinstance(inside, fmpq) and inside == 0 else arb(inside).exp()
    return multiply(_series(small, [ONE, ONE, fmpq(1, 2), fmpq(1, 6)]), Growth((((0, grown, ZERO), scale),)))


def error_function(x: Growth) -> Growth:
    """erf(x): 1 or -1 up to what falls faster than every power of n, erf(c), or 2 x / sqrt(pi) where x vanishes."""
    top = x.top
    if top == NOTHING:
        return x
    if top < CONSTANT:
        straight = multiply(x, constant(2 / arb.pi().sqrt()))
        return cut(straight.terms, max(straight.rest, _product(top, _product(top, top))))
    if x.rank == CONSTANT > x.rest:
        others = max([x.rest, *(r for r, _ in x.terms if r < CONSTANT)])  # erf is Lipschitz
        return cut([(CONSTANT, arb(x.lead).erf())], others)
    if x.rank[0] > 0 or x.rank[1] > 0:
        return Growth(((CONSTANT, fmpq(x.sign)),), (-1, ZERO, ZERO))
    raise Rejected("claim: got erf of what grows like a logarithm, expected another path")


def limit(x: Growth) -> Value:
    """The limit, where it is finite."""
    if max([x.rest, *(r for r, _ in x.terms if r != CONSTANT)]) >= CONSTANT:
        raise Rejected("claim: got a side without a finite limit, expected another path")
    return x.constant


def compare(x: Growth, y: Growth) -> int:
    """The sign of x - y for all large n."""
    return add(x, multiply(y, constant(-ONE))).sign


def orders(name: str, sides: Callable[[], list[Growth]]) -> tuple[Value, Value, bool]:
    """Powers of n of both sides (of log n where those agree) and whether lhs = O(rhs) is left standing.

    "<=" is O, ">=" Omega, "=" Theta, "<" o, ">" omega.
    """
    with ctx.workprec(PRECISION):
        left, right = sides()
        if left.sign < 0 or right.sign < 0:
            raise Rejected("claim: got a side that is negative for large n, expected positive ones")
    x, y = left.rank, right.rank
    if x == y and x[0] in (-1, 1):
        raise Rejected("claim: got two exponentials, expected sides that powers of n tell apart")
    holds = {"<=": x <= y, ">=": x >= y, "=": x == y, "<": x < y, ">": x > y}.get(name)
    if holds is None:
        raise Malformed(f"claim.then: got {name!r}, expected an order of growth")
    place = next((n for n in range(3) if x[n] != y[n]), 1)
    return fmpq(x[place]), fmpq(y[place]), holds


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """A world of growths: a path of every parameter, growths of quantities at C, and how two sides are compared."""

    paths: dict[str, Growth]
    quantities: Mapping[str, Callable[[], Growth]] = field(default_factory=dict[str, Callable[[], Growth]])
    facts: tuple[str, ...] = ()  # assumptions that hold by what the quantities are
    compared: Callable[[str, Callable[[], list[Growth]]], tuple[Value, Value, bool]] = orders

    @property
    def values(self) -> dict[str, fmpq]:
        """Which names are given; their growth is in `paths`."""
        return dict.fromkeys(self.paths, ZERO)

    @property
    def ranges(self) -> Ranges:
        return dict.fromkeys(self.quantities, ((0, 0),))

    def value(self, name: str) -> fmpq:
        named(self.paths, name)
        return ZERO

    def at(self, name: str, indices: tuple[int, ...]) -> Value:
        raise Rejected(f"claim: got {name!r} at {indices}, expected no number of what grows")

    def grow(self, tree: Tree) -> Growth:
        spend(10)
        if isinstance(tree, fmpq):
            return constant(tree)
        if isinstance(tree, str):
            return named(self.paths, tree)
        if tree.name == "at" and self.quantities:
            spend(990)
            if tree.args[1:] != ("C",) or tree.args[0] not in self.quantities:
                raise Rejected(f"claim: got {tree.args}, expected one of {sorted(self.quantities)} at C")
            return self.quantities[str(tree.args[0])]()
        if tree.name in ("sum", "at"):
            raise Rejected(f"claim: got {tree.name!r}, expected a formula without sums and runs in the world 'order'")
        args = [self.grow(arg) for arg in tree.args]
        match tree.name:
            case "+":
                return reduce(add, args)
            case "*":
                return reduce(multiply, args)
            case "^":
                return raised(*args)
            case "min":
                return reduce(lambda x, y: x if compare(x, y) <= 0 else y, args)
            case "max":
                return reduce(lambda x, y: x if compare(x, y) >= 0 else y, args)
            case "abs":
                return multiply(args[0], constant(fmpq(args[0].sign or 1)))
            case "exp":
                return exponential(args[0])
            case "erf":
                return error_function(args[0])
            case _:
                return logarithm(args[0])

    def inhabit(self, name: str, kind: str) -> None:
        """Positive for all large n; counts are whole for infinitely many n (n = (d m)^q clears all fractions)."""
        if name in self.quantities:
            if kind not in ("real", "nonnegative"):
                raise Rejected(f"{name}: got a quantity that may be 0, expected it {kind}")
            return
        x = self.paths[name]
        signs = {"real": (-1, 0, 1), "nonnegative": (0, 1), "index": (0, 1), "positive": (1,), "count": (1,)}[kind]
        whole = all(r > CONSTANT or (r == CONSTANT and isinstance(c, fmpq) and c.q == 1) for r, c in x.terms)
        if x.sign not in signs or not (whole or kind not in ("count", "index")):
            raise Rejected(f"{name}: got the path {shown(dict(x.terms))}, expected it {kind} for large n")

    def meets(self, condition: Relation, scope: Mapping[str, int], domains: Domains) -> bool:
        name, left, right = condition
        with ctx.workprec(PRECISION):
            sign = compare(self.grow(left), self.grow(right))
        return {"<=": sign <= 0, "<": sign < 0, ">=": sign >= 0, ">": sign > 0, "=": sign == 0, "!=": sign != 0}[name]

    def settle(self, relation: Relation, scope: Mapping[str, int], domains: Domains) -> tuple[Value, Value, bool]:
        """What both sides grow like, or tend to, and whether the relation is left standing, for certain."""
        name, *sides = relation
        return self.compared(name, lambda: [self.grow(side) for side in sides])

    def assume(self, name: str, args: tuple[str, ...] = ()) -> None:
        """fixed: constants of O; grows: tends to infinity; vanishes: tends to 0 and is not 0."""
        if name in self.facts and not args:
            return
        for arg in args:
            x = named(self.paths, arg)
            fits = {
                "fixed": x.fixed,
                "grows": x.rank > CONSTANT and x.sign > 0,
                "vanishes": NOTHING < x.rank < CONSTANT,
            }
            if name not in fits:
                raise Malformed(f"claim: got {name!r}, expected one of {', '.join(fits)}")
            if not fits[name]:
                path = shown(dict(x.terms))
                raise Rejected(f"assumption {name}: got {arg} along {path}, expected a path that meets it")
        if not args:
            raise Malformed(f"claim: got {name!r} without parameters, expected the ones it is about")


def read(node: Node, claim: Claim) -> Paths:
    """{"paths": {name: [[c, a], ...]}} stands for name = sum of c n^a; no terms: 0."""
    paths: dict[str, Growth] = {}
    for name, entry in node.fields("paths")["paths"].mapping().items():
        if name not in claim.domains:
            raise entry.malformed("a path of a symbol that the claim reads")
        pairs = [term.items(2) for term in entry.items()]
        terms = {(0, a.rational(), ZERO): c.rational() for c, a in pairs}
        if len(terms) < len(pairs) or not all(terms.values()) or len(pairs) > INTEGER_POWER:
            raise entry.malformed("a few terms [c, a], each power of n once, no c = 0")
        paths[name] = cut(sorted(terms.items(), key=_rank, reverse=True))
    return Paths(paths)


WORLDS = {"order": Reader(read)}
