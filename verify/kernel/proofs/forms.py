"""Trees as fractions of polynomials: two formulas are the same number wherever both are defined and their forms agree.

What is no polynomial (a power with a symbolic exponent, a root, exp, log, a sum, a quantity at its indices, min, max,
abs) is an atom, a variable of its own. Its name is made of the normal forms of its parts, so that equal parts make
equal atoms; sums are linear and have their index renamed. A normal form says nothing about where a formula is defined:
`needs` lists that (a denominator is not 0, the base of a root is not negative, a sum has a range), and whoever claims
something about a formula has to show it. A quantity is a number at all indices: outside of its range it is any number
of its domain, for nothing is claimed about it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import gcd
from operator import add, mul

from flint import fmpq

from ..core.budget import spend
from ..core.expression import Op, Tree
from ..core.rational import Rejected
from ..core.read_method import SIZES
from .polynomials import ONE, POWER, Form, Monomial, Polynomial, atoms_of, lowest, scaled, shifted, text

Choices = Mapping[str, tuple[tuple[str, ...], Tree]]  # a chosen step size -> its indices and its value
Ranges = tuple[tuple[str, str, str], ...]  # sums around a formula: their indices and the normal forms of their ends
WHOLE = ("count", "index", "client", "integer")  # domains of whole numbers; "integer" has no sign
AT_LEAST_ONE = ("count", "client")
NOT_NEGATIVE = ("positive", "nonnegative")
SIGNS = {"count": "positive", "client": "positive", "index": "nonnegative", "integer": "real"}
BOUND = "#"  # how names of the kernel begin, which no file can write: the index of a sum, any round, any step
PARTS = 1_000  # terms into which the body of a sum is multiplied out
MARKS = {"count": "p", "index": "", "integer": "z"}  # in the name of a sum's index: equal names have equal domains


@dataclass(frozen=True, slots=True)
class Need:
    """Where a formula is defined: `formula` is "nonzero", "nonnegative", "positive" or "whole", or `instead` holds.

    `ranges`: for all values of these indices of sums, if the formula speaks of them.
    """

    kind: str
    formula: Tree | Form
    instead: Need | None = None
    ranges: Ranges = ()

    def branches(self) -> list[Need]:
        return [self, *(self.instead.branches() if self.instead is not None else ())]


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """The normal forms of one proof's trees; what was computed is kept as long as the proof is checked.

    `domains`: of every symbol, letter and quantity that may be spoken of. A chosen step size is its value, everywhere.
    """

    domains: Mapping[str, str]
    choose: Choices = field(default_factory=dict[str, "tuple[tuple[str, ...], Tree]"])
    signs: dict[str, str] = field(default_factory=dict[str, str])  # atom -> "positive", "nonnegative" or "real"
    speaks: dict[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])  # atom -> names inside it
    forms: dict[Tree, Form] = field(default_factory=dict["Tree", Form])
    own: dict[str, str] = field(default_factory=lambda: {f"{BOUND}{size}": "index" for size in SIZES})  # their domains

    def form(self, tree: Tree | Form) -> Form:
        if isinstance(tree, Form):
            return tree
        kept = self.forms.get(tree)
        if kept is None:
            spend(2)
            kept = self.forms[tree] = self._read(tree)
        return kept

    def difference(self, left: Tree, right: Tree) -> Form:
        """right - left."""
        return self.form(right) - self.form(left)

    def text(self, tree: Tree | Form) -> str:
        return text(self.form(tree))

    def names(self, form: Form) -> frozenset[str]:
        """Every symbol, quantity and bound index that a formula speaks of."""
        return frozenset[str]().union(*(self.speaks[name] for name in atoms_of(form.top, form.below)))

    def domain(self, name: str) -> str:
        """The domain of a name, or "" if it is none: an atom of another kind."""
        return self.own.get(name) or self.domains.get(name, "")

    def letter(self, name: str, domain: str = "index") -> str:
        """A name of the kernel, which stands for every number of its domain."""
        self.own[f"{BOUND}{name}"] = domain
        return f"{BOUND}{name}"

    def chosen(self, tree: Tree) -> Tree:
        """The tree with the value of every chosen step size written in."""
        if not self.choose or isinstance(tree, fmpq):
            return tree
        if isinstance(tree, str):
            return self.choose[tree][1] if tree in self.choose and not self.choose[tree][0] else tree
        name = str(tree.args[0]) if tree.name == "at" else ""
        first = 1 if tree.name in ("at", "sum") else 0  # a name
        args = (*tree.args[:first], *map(self.chosen, tree.args[first:]))
        if name in self.choose and self.choose[name][0]:
            letters, value = self.choose[name]
            if len(letters) != len(args) - 1:
                raise Rejected(f"proof: got {name!r} with {len(args) - 1} indices, expected {len(letters)}")
            return substituted(value, dict(zip(letters, args[1:], strict=True)))
        if tree.name == "sum" and args[3] != tree.args[3] and any(self._catches(str(args[0]), c) for c in self.choose):
            raise Rejected(f"proof: got a sum over {args[0]!r}, of which a chosen step size speaks; rename it")
        return Op(tree.name, args)

    def _catches(self, index: str, chosen: str) -> bool:
        """Whether the index of a sum is another thing in the value of a step size, or that step size itself."""
        letters, value = self.choose[chosen]
        return index in names_of(value) - {*letters} or (index == chosen and not letters)

    def _read(self, tree: Tree) -> Form:
        if isinstance(tree, fmpq):
            return Form({(): tree} if tree != 0 else {})
        # A chosen step size is unfolded before anything else is read: no rule can then tell gamma(t) from its value,
        # and what is said of the one holds of the other without a judgement.
        if (written := self.chosen(tree)) != tree:
            return self.form(written)
        if isinstance(tree, str):
            kind = self.domain(tree)
            if not kind:
                raise Rejected(f"proof: got the name {tree!r}, expected one that the claim or the proof declares")
            return self._atom(tree, SIGNS.get(kind, kind), frozenset({tree}))
        match tree.name:
            case "+":
                return reduce(add, map(self.form, tree.args))
            case "*":
                return reduce(mul, map(self.form, tree.args))
            case "^":
                return self._power(*tree.args)
            case "exp":
                return self._exp(self.form(tree.args[0]))
            case "log" | "erf":
                return self._applied(tree.name, [self.form(tree.args[0])], "real")
            case "abs":
                return self._applied("abs", [self.form(tree.args[0])], "nonnegative")
            case "min" | "max":
                # max(x, x) is max(x) and the order of arguments says nothing: parts are sorted by their forms.
                parts = {text(form): form for form in map(self.form, tree.args)}
                signs = [self.sign(form) for form in parts.values()]
                return self._applied(tree.name, [parts[key] for key in sorted(parts)], _of_extreme(tree.name, signs))
            case "sum":
                return self._sum(tree)
            case _:
                return self._at(tree)

    def _at(self, tree: Op) -> Form:
        head, *indices = tree.args
        name, places = str(head), [self.form(index) for index in indices]
        kind = self.domains.get(name)
        if kind is None:
            raise Rejected(f"proof: got the quantity {name!r}, expected one that the claim or its method has")
        inside = frozenset({name}).union(*map(self.names, places))
        return self._atom(f"{name}[{', '.join(map(text, places))}]", SIGNS.get(kind, kind), inside)

    def _atom(self, key: str, sign: str, inside: frozenset[str]) -> Form:
        self.signs[key], self.speaks[key] = sign, inside
        return Form({((key, 1),): fmpq(1)})

    def _applied(self, name: str, parts: list[Form], sign: str) -> Form:
        inside = frozenset[str]().union(*map(self.names, parts))
        return self._atom(f"{name}({', '.join(map(text, parts))})", sign, inside)

    def _exp(self, argument: Form) -> Form:
        """exp(k) = exp(1)^k; exp(-x) = 1/exp(x)."""
        whole = argument.number
        if whole is not None and whole.q == 1 and abs(whole) <= POWER:
            return self._applied("exp", [Form(ONE)], "positive") ** int(whole.p)
        # Of exp(x) and exp(-x) only the one with a positive leading coefficient is an atom, so that their product is 1
        # by cancelling and needs no rule.
        if argument.top[min(argument.top)] < 0:
            return self._applied("exp", [-argument], "positive") ** -1
        return self._applied("exp", [argument], "positive")

    def _power(self, base: Tree, exponent: Tree) -> Form:
        """base^(k u + c) = (base^u)^k base^c for a whole u that is made of symbols; (base^(u - d))^k for c = -k d."""
        inner, power = self.form(base), self.form(exponent)
        value, sign = power.number, self.sign(inner)
        if value is not None:
            top, degree = int(value.p), int(value.q)
            if degree == 1:
                return inner**top
            # Where a root is a number its base is not negative (`needs` asks for that), so that the root is not either.
            return self._applied(f"root{degree}", [inner], sign if sign in NOT_NEGATIVE else "nonnegative") ** top
        if inner.number == 1:
            return inner
        if not self.whole(power):
            return self._applied("power", [inner, power], "positive")
        shift, content, unit = self._exponent(power)
        sign = sign if sign in NOT_NEGATIVE else "real"
        # (x^n)/x would be undefined at x = 0, where x^(n - 1) is a number for every n >= 1: it gets an atom of its own.
        if _downward(shift, content):  # x^(n - 1) for n >= 1, whether or not x is 0
            return self._applied("power", [inner, unit + Form({(): fmpq(shift, content)})], sign) ** content
        return self._applied("power", [inner, unit], sign) ** content * inner**shift

    def _exponent(self, power: Form) -> tuple[int, int, Form]:
        """A whole exponent as c, k and u in c + k u; k is negative only if u shows that it is not."""
        rest = {monomial: c for monomial, c in power.top.items() if monomial}
        content = reduce(gcd, (int(c.p) for c in rest.values()), 0)
        unit = Form(scaled(rest, fmpq(1, content)))
        below = self.sign(-unit) in NOT_NEGATIVE
        return int(power.top.get((), fmpq(0)).p), -content if below else content, -unit if below else unit

    def _sum(self, tree: Op) -> Form:
        """Sums are linear: a sum of terms is one of sums, and what does not speak of the index stands before them."""
        terms = _terms(tree.args[3])
        if len(terms) > 1:
            return sum((self.form(Op("sum", (*tree.args[:3], term))) for term in terms), Form({}))
        name, inside, below, before = self._parts(tree)
        ends = [self.form(end) for end in tree.args[1:3]]
        length = ends[1] - ends[0] + Form(ONE)
        total = Form({})
        for monomial, c in inside.top.items():
            free = tuple(part for part in monomial if name not in self.speaks[part[0]])
            bound = tuple(part for part in monomial if name in self.speaks[part[0]])
            # What does not speak of the index is added as often as the sum has terms; `needs` asks that this is no
            # negative number.
            if not bound and below == ONE:
                total += Form({free: c}) * length
                continue
            each = lowest({bound: fmpq(1)}, below)
            # 2 x_k and -3 x_k give the same atom with different numbers before it.
            lead = next(iter(each.top.values()))
            each = Form(scaled(each.top, 1 / lead), each.below)
            sign = "nonnegative" if self.sign(each) in NOT_NEGATIVE else "real"
            spoken = self.names(each).union(*map(self.names, ends)) - {name}
            key = f"sum({text(ends[0])}, {text(ends[1])}, {text(each)})"
            total += Form({free: c * lead}) * self._atom(key, sign, spoken)
        return total * Form(before) ** -1

    def _parts(self, tree: Op) -> tuple[str, Form, Polynomial, Polynomial]:
        """The index of a sum, the form of its term, and the denominator of that in two factors, of which the second
        does not speak of the index: the most that stands before the sum.
        """
        name, body = self.bound(tree)
        inside = self.form(body)
        parts: dict[Monomial, dict[Monomial, fmpq]] = {}
        for monomial, c in inside.below.items():
            bound = tuple(part for part in monomial if name in self.speaks[part[0]])
            parts.setdefault(bound, {})[tuple(part for part in monomial if part not in bound)] = c
        shared: Polynomial = {}
        for other in parts.values():  # the greatest common divisor: what is left of one without what the other lacks
            shared = lowest(shared, lowest(shared, other).top).top if shared else other
        rest = lowest(inside.below, shared)
        return (name, inside, rest.top, shared) if rest.below == ONE else (name, inside, inside.below, ONE)

    def bound(self, tree: Op) -> tuple[str, Tree]:
        """The index of a sum under a name of the kernel, and the term with that name.

        Its number is one above every sum inside that speaks of it: no sum catches another's index, and equal sums look
        equal.
        """
        index, low, _, body = tree.args
        first = self.form(low)
        positive = self.sign(first - Form(ONE)) in NOT_NEGATIVE
        domain = "count" if positive else "index" if self.sign(first) in NOT_NEGATIVE else "integer"
        term = self.chosen(body)
        name = self.letter(f"{_level(str(index), term) + 1}{MARKS[domain]}", domain)
        return name, substituted(term, {str(index): name})

    def range_of(self, tree: Op) -> tuple[str, str, str]:
        """The index of a sum and the normal forms of its ends."""
        return self.bound(tree)[0], self.text(tree.args[1]), self.text(tree.args[2])

    # --- signs -------------------------------------------------------------------------------------------------------

    def whole(self, form: Form) -> bool:
        """Whether it is a whole number by its form."""
        integral = form.below == ONE and all(c.q == 1 for c in form.top.values())
        return integral and all(self.domain(name) in WHOLE for name in atoms_of(form.top))

    def sign(self, form: Form) -> str:
        """ "positive", "nonnegative", "negative" or "real": what its form shows, from the signs of its atoms."""
        top, below = self._sign(form.top), self._sign(form.below)
        if below not in ("positive", "negative"):
            return "real"
        if below == "negative":
            top = {"positive": "negative", "negative": "positive"}.get(top, "real")
        return top

    def _sign(self, polynomial: Polynomial) -> str:
        for name in atoms_of(polynomial):
            # Signs are read off coefficients, and n - 1 has a negative one; written in m = n - 1, which is not
            # negative, it has none.
            if self.domain(name) in AT_LEAST_ONE:  # n = 1 + m
                polynomial = shifted(polynomial, name)
        signs, numbers = [self._monomial(monomial) for monomial in polynomial], polynomial.values()
        if "real" in signs:
            return "real"
        if all(c > 0 for c in numbers):
            return "positive" if "positive" in signs else "nonnegative"
        return "negative" if "positive" in signs and all(c < 0 for c in numbers) else "real"

    def _monomial(self, monomial: Monomial) -> str:
        """The sign of a product of atoms; what is at least 1 was shifted."""
        signs = {name: "nonnegative" if self.domain(name) in AT_LEAST_ONE else self.signs[name] for name, _ in monomial}
        kinds = ["nonnegative" if signs[name] == "real" and n % 2 == 0 else signs[name] for name, n in monomial]
        return next((kind for kind in ("real", "nonnegative") if kind in kinds), "positive")

    # --- where a formula is defined ----------------------------------------------------------------------------------

    def needs(self, tree: Tree, offered: bool = False) -> Iterator[Need]:
        """What has to hold for the formula to be a number; what its form shows is left out.

        `offered`: what holds if the formula is a number. A term of a sum without terms need not be one.
        """
        for need, around in self._needs(self.chosen(tree), (), offered):
            inside = self.names(self.form(need.formula))
            if need.instead is not None:
                inside |= self.names(self.form(need.instead.formula))
            depth = max((n + 1 for n, (name, *_) in enumerate(around) if name in inside), default=0)
            # `depth`: only the sums of which the need speaks matter to it. A sum that may be empty offers nothing about
            # its terms, for they may never be taken.
            if not self.shows(need) and not (offered and depth < len(around)):
                yield _in(need, around[:depth])

    def shows(self, need: Need) -> bool:
        """Whether the form of a formula shows that it is so."""
        form = self.form(need.formula)
        if need.kind == "whole":
            return self.whole(form)
        signs = {"nonzero": ("positive", "negative"), "positive": ("positive",)}
        shown = self.sign(form) in signs.get(need.kind, NOT_NEGATIVE)
        return shown or (need.instead is not None and self.shows(need.instead))

    def _needs(self, tree: Tree, around: Ranges, offered: bool) -> Iterator[tuple[Need, Ranges]]:
        """What has to hold, and the sums in which the formula stands."""
        if isinstance(tree, fmpq | str):
            return
        spend(2)
        args = tree.args
        if tree.name == "sum":
            low, high = args[1:3]
            yield from (need for end in (low, high) for need in self._needs(end, around, offered))
            yield Need("whole", low), around
            yield Need("whole", high), around
            yield Need("nonnegative", Op("+", (high, Op("*", (fmpq(-1), low)), fmpq(1)))), around
            around = (*around, self.range_of(tree))
            for term in _terms(args[3]):  # its denominator stands before the sum, even an empty one
                yield Need("nonzero", Form(self._parts(Op("sum", (*args[:3], term)))[3])), around
            yield from self._needs(self.bound(tree)[1], around, offered)
            return
        for part in args[1:] if tree.name == "at" else args:
            yield from self._needs(part, around, offered)
        if tree.name == "log":
            yield Need("positive", args[0]), around
        if tree.name == "^":
            for need in self._needs_of_power(args[0], args[1], offered):
                yield need, around

    def _needs_of_power(self, base: Tree, exponent: Tree, offered: bool) -> Iterator[Need]:
        power = self.form(exponent)
        value = power.number
        if value is not None:
            if value.q != 1:
                yield Need("nonnegative", base)
            if value < 0:
                yield Need("nonzero", base)
        elif offered:  # (-2)^y is a number where y is 3, whatever else it may be
            yield Need("nonnegative", exponent, Need("nonzero", base))
        elif not self.whole(power):
            yield Need("positive", base)
        else:  # (base^u)^k base^c: u, k and c are not negative, or the base is not 0
            shift, content, _ = self._exponent(power)
            if content < 0 or (shift < 0 and not _downward(shift, content)):
                yield Need("nonzero", base)
            else:
                least = exponent if shift < 0 else Op("+", (exponent, fmpq(-shift)))
                yield Need("nonnegative", least, Need("nonzero", base))


def _downward(shift: int, content: int) -> bool:
    """Whether c + k u is k (u - d) for a k > 0 and a d > 0: it is negative where u - d is, and nowhere else."""
    return shift < 0 < content and shift % content == 0


def _in(need: Need, ranges: Ranges) -> Need:
    return Need(need.kind, need.formula, _in(need.instead, ranges) if need.instead is not None else None, ranges)


def _terms(body: Tree) -> list[Tree]:
    """A formula as the sum of these: sums and products of sums are multiplied out, powers are not."""
    if not isinstance(body, Op) or body.name not in ("+", "*"):
        return [body]
    parts = [_terms(arg) for arg in body.args]
    if body.name == "+":
        return [term for terms in parts for term in terms]
    products: list[tuple[Tree, ...]] = [()]
    for terms in parts:
        if len(products) * len(terms) > PARTS:
            return [body]
        spend(len(products) * len(terms))
        products = [(*factors, term) for factors in products for term in terms]
    return [Op("*", factors) for factors in products] if len(products) > 1 else [body]


def substituted(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """`values` for names, at once; refused where the index of a sum would catch a name of a value."""
    if isinstance(tree, fmpq) or not values:
        return tree
    if isinstance(tree, str):
        return values.get(tree, tree)
    spend(1)
    if tree.name == "at":
        return Op("at", (tree.args[0], *(substituted(arg, values) for arg in tree.args[1:])))
    if tree.name == "sum":
        index, low, high, body = str(tree.args[0]), *tree.args[1:]
        inside = {name: value for name, value in values.items() if name != index}
        # Renaming the index here would be another mechanism to trust; the proposer can rename it.
        if any(index in names_of(value) for name, value in inside.items() if name in names_of(body)):
            raise Rejected(f"proof: got a sum over {index!r}, which a value that is put in speaks of; rename it")
        return Op("sum", (index, substituted(low, values), substituted(high, values), substituted(body, inside)))
    return Op(tree.name, tuple(substituted(arg, values) for arg in tree.args))


def names_of(*trees: Tree) -> set[str]:
    """Every symbol and every index of a sum in these trees; not the names of quantities."""
    names = set[str]()
    for tree in trees:
        if isinstance(tree, str):
            names.add(tree)
        elif isinstance(tree, Op):
            names |= names_of(*(tree.args[1:] if tree.name in ("at", "sum") else tree.args))
    return names


def _level(index: str, tree: Tree) -> int:
    if isinstance(tree, fmpq | str):
        return 0
    inside = max((_level(index, arg) for arg in tree.args), default=0)
    if tree.name != "sum" or index not in names_of(tree):
        return inside
    return max(inside, _level(str(tree.args[0]), tree.args[3]) + 1)


def _of_extreme(name: str, signs: list[str]) -> str:
    """The sign of a minimum or maximum of parts with these signs."""
    pick = all if name == "min" else any
    if pick(sign == "positive" for sign in signs):
        return "positive"
    return "nonnegative" if pick(sign in NOT_NEGATIVE for sign in signs) else "real"
