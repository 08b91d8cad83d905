"""Normal forms against numbers: random formulas at random points, at zeros and at the edges of every domain."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, ClassVar

import pytest
from flint import arb, ctx, fmpq
from marks import only
from proof_writer import formula

from fedaudit.verify.kernel.core.expression import Evaluator, Op, Tree, Unsure, Value, parse
from fedaudit.verify.kernel.core.rational import Malformed, Node, Rejected
from fedaudit.verify.kernel.core.world import World
from fedaudit.verify.kernel.proofs import polynomials
from fedaudit.verify.kernel.proofs.forms import Choices, Forms, Need, Ranges
from fedaudit.verify.kernel.proofs.polynomials import ONE, Form, times

DOMAINS = {
    "x": "real",
    "y": "nonnegative",
    "z": "positive",
    "n": "index",
    "m": "index",
    "N": "count",
    "q": "nonnegative",
    "r": "real",
    "gamma": "real",
    "h": "real",
}
VALUES = {
    "real": ["0", "-1", "1", "-3/2", "2", "1/3"], "nonnegative": ["0", "1", "1/2", "3"], "positive": ["1", "1/2", "2"],
    "index": ["0", "1", "2", "3"], "count": ["1", "2", "4"],
}  # fmt: skip
QUANTITIES = {"q": 1, "r": 2, "gamma": 1}  # with their number of indices
NUMBERS = ("-2", "-1", "2", "3", "1/2", "1/3", "2/3", "0")
INDICES = ("a", "b", "t", "x")
CHOSEN: Choices = {
    "gamma": (("t",), parse(Node(formula("sum(k, 0, 2, (k + x) * z**t) * (t + y)**(-1)"), "gamma"))),
    "h": ((), parse(Node(formula("z * (x + 2)**(-1)"), "h"))),
}


class Careful(Evaluator):
    """It leaves open what 0^y is where an enclosure of y is all that is known: the kernel refuses such an instance."""

    def combined(self, tree: Op, scope: Mapping[str, int]) -> Value:
        enclosed = tree.name == "^" and isinstance(tree.args[1], Op) and isinstance(self.node(tree.args[1], scope), arb)
        if enclosed and not arb(self.node(tree.args[0], scope)) > 0:
            raise Unsure("claim: got a power of what is not positive")
        return super().combined(tree, scope)


class Watched(Forms):
    """It remembers the ends of ranges, of which a need has the text alone."""

    ends: ClassVar[dict[str, list[Tree]]] = {}

    def range_of(self, tree: Op) -> tuple[str, str, str]:
        for end in tree.args[1:3]:
            known = self.ends.setdefault(self.text(end), [])
            known += [written for written in (self.chosen(end),) if written not in known]
        return super().range_of(tree)


def tree(rng: random.Random, depth: int, bound: tuple[str, ...] = (), kind: str = "") -> Tree:
    if depth == 0 or (not kind and rng.random() < 0.15):
        leaf = rng.choice(
            [*(name for name in DOMAINS if name not in QUANTITIES), *bound, *bound, "0", "1", "-1", "2", "1/2"]
        )
        return fmpq(leaf) if leaf.lstrip("-")[:1].isdigit() else leaf
    kind = kind or rng.choice(
        [
            "+",
            "+",
            "*",
            "*",
            "^",
            "^",
            "^",
            "whole",
            "power",
            "exp",
            "log",
            "erf",
            "abs",
            "min",
            "max",
            "sum",
            "sum",
            "at",
        ]
    )
    if kind in ("+", "*", "min", "max"):
        return Op(kind, tuple(tree(rng, depth - 1, bound) for _ in range(2)))
    if kind == "^":
        return Op("^", (tree(rng, depth - 1, bound), fmpq(rng.choice(NUMBERS))))
    if kind == "whole":
        return Op("^", (tree(rng, depth - 1, bound), whole(rng, bound)))
    if kind == "power":
        return Op("^", (tree(rng, depth - 1, bound), tree(rng, depth - 1, bound)))
    if kind == "sum":
        index = rng.choice(INDICES)
        low = whole(rng, bound) if rng.random() < 0.5 else fmpq(rng.choice([-1, 0, 0, 1, 1]))
        high = whole(rng, bound) if rng.random() < 0.5 else Op("+", (low, rng.choice(["n", "N"]), fmpq(-1)))
        nested = "sum" if depth > 2 and rng.random() < 0.4 else ""
        body = tree(rng, depth - 1, (*bound, index), nested)
        if rng.random() < 0.5:
            body = Op(
                "*", (body, Op("^", (tree(rng, 1, (*bound, index)), rng.choice([fmpq(-1), whole(rng, (index,))]))))
            )
        return Op("sum", (index, low, high, body))
    if kind == "at":
        name = rng.choice(list(QUANTITIES))
        return Op("at", (name, *(whole(rng, bound) for _ in range(QUANTITIES[name]))))
    return Op(kind, (tree(rng, depth - 1, bound),))


def whole(rng: random.Random, bound: tuple[str, ...]) -> Tree:
    """An exponent, an index or an end of a range."""
    names = [name for name in bound if name != "x"]  # x stands for a real number where no sum is over it
    name = rng.choice(["n", "m", "N", *names])
    factor, shift = fmpq(rng.choice([-1, 0, 1, 1, 1, 2])), fmpq(rng.choice([-2, -1, 0, 0, 1, 2]))
    other = Op(
        "*", (fmpq(rng.choice([-1, 0, 0, 1])), *(rng.choice(["n", "m", *names]) for _ in range(rng.choice([1, 1, 2]))))
    )
    return Op("+", (Op("*", (factor, name)), shift, other))


def like(rng: random.Random, term: Tree, depth: int = 0) -> Tree:
    """A formula that may have the same form: turned round, multiplied out, another name; or nearly the same."""
    if not isinstance(term, Op):
        return term + rng.choice([-1, 1]) if isinstance(term, fmpq) and rng.random() < 0.1 else term
    first = 1 if term.name in ("at", "sum") else 0
    args = (*term.args[:first], *(like(rng, arg, depth + 1) for arg in term.args[first:]))
    same = Op(term.name, args)
    if rng.random() < 0.4:
        return same
    match term.name, args:
        case "+" | "*" | "min" | "max", _:
            if term.name == "*" and isinstance(args[0], Op) and args[0].name == "+":
                return Op("+", tuple(Op("*", (part, *args[1:])) for part in args[0].args))
            return Op(term.name, tuple(reversed(args)))
        case "^", (base, fmpq() as n):
            if rng.random() < 0.3:
                return Op("^", (base, fmpq(rng.choice(NUMBERS))))
            return Op("*", (base, Op("^", (base, n - 1)))) if n != 0 else Op("*", (base, Op("^", (base, fmpq(-1)))))
        case "^", (base, exponent):
            if isinstance(exponent, Op) and exponent.name == "+":
                return Op("*", tuple(Op("^", (base, part)) for part in exponent.args))
            if isinstance(base, Op) and base.name == "^":
                return Op("^", (base.args[0], Op("*", (base.args[1], exponent))))
            down = Op("+", (exponent, fmpq(rng.choice([-2, -1, 1]))))
            return Op("*", (Op("^", (base, down)), base))
        case "exp", (part,):
            return Op("^", (Op("exp", (Op("*", (fmpq(-1), part)),)), fmpq(-1)))
        case "sum", (index, low, high, body):
            if isinstance(body, Op) and body.name == "+":
                return Op("+", tuple(Op("sum", (index, low, high, part)) for part in body.args))
            if isinstance(body, Op) and body.name == "*":
                return Op("*", (body.args[0], Op("sum", (index, low, high, Op("*", body.args[1:])))))
            other = rng.choice([*sums_in(body), "c"])  # which is caught, or is not
            return Op("sum", (other, low, high, renamed(body, str(index), other)))
        case _:
            return same


def renamed(term: Tree, name: str, other: str) -> Tree:
    if not isinstance(term, Op):
        return other if term == name else term
    first = 1 if term.name in ("at", "sum") else 0
    return Op(term.name, (*term.args[:first], *(renamed(arg, name, other) for arg in term.args[first:])))


def sums_in(term: Tree) -> list[str]:
    """The indices of sums."""
    if not isinstance(term, Op):
        return []
    return [*(str(term.args[0]) for _ in range(term.name == "sum")), *(x for arg in term.args for x in sums_in(arg))]


def points(rng: random.Random, count: int) -> Iterator[dict[str, fmpq]]:
    for _ in range(count):
        given = {n: fmpq(rng.choice(VALUES[kind])) for n, kind in DOMAINS.items() if n not in {*QUANTITIES, "h"}}
        yield {**given, "h": given["z"] / (given["x"] + 2)}


def value(term: Tree, point: dict[str, fmpq], scope: Mapping[str, int] | None = None) -> arb | None:
    """None where it is no number; a ball of everything where no precision says that it is one."""

    def quantity(name: str, at: tuple[int, ...]) -> Value:
        if name == "gamma":
            letters, chosen = CHOSEN[name]
            return Careful(world, DOMAINS).node(chosen, dict(zip(letters, at, strict=True)))
        return fmpq(at[0] * at[0] % 7, 3) if name == "q" else fmpq((at[0] * 3 + at[1] * 5) % 7 - 3, 2)

    edge = (-1_000, 100_000)
    world = World(point, {name: (edge,) * n for name, n in QUANTITIES.items()}, quantity)
    try:
        with ctx.workprec(256):
            return arb(Careful(world, DOMAINS).node(term, scope or {}))
    except Unsure:
        return arb(0, "inf")
    except (Rejected, Malformed) as error:
        return arb(0, "inf") if "bits" in str(error) else None


def many(fast: int, most: int) -> list[Any]:
    return only(range(fast), range(most), "the same with other formulas")


@pytest.mark.parametrize("seed", many(2, 60))
def test_what_a_form_says_is_so(seed: int) -> None:
    """Without needs a formula is a number everywhere; its sign is that of its form; equal forms are equal numbers."""
    rng, seen, told, met = random.Random(seed), dict[str, tuple[Tree, list[Need]]](), 0, 0
    forms = Watched(DOMAINS, CHOSEN)
    for n in range(300):
        made = tree(rng, rng.randrange(1, 5), kind=rng.choice(["", "", "sum"]))
        for term in (made, like(rng, made), like(rng, made)) if n % 3 == 0 else (made,):
            try:
                form, needs = forms.form(term), list(forms.needs(term))
            except Rejected:
                continue
            sign, (alike, others) = forms.sign(form), seen.setdefault(forms.text(form), (term, needs))
            for point in points(rng, 6):
                x = value(term, point)
                assert x is not None or needs, (term, point)
                if x is None or not all(holds(need, point) for need in (*needs, *others)):
                    continue
                told += 1
                met += alike != term
                assert sign != "positive" or not x <= 0, (term, point, sign)
                assert sign != "nonnegative" or not x < 0, (term, point, sign)
                assert sign != "negative" or not x >= 0, (term, point, sign)
                assert not forms.whole(form) or not x.is_finite() or x.contains_integer(), (term, point)
                other = value(alike, point)
                assert other is not None, (alike, point)
                assert x.overlaps(other), (term, alike, point)
                if (constant := form.number) is not None:
                    assert x.overlaps(arb(constant)), (term, point)
    assert told > 800
    assert met > 100


@pytest.mark.parametrize("seed", many(2, 40))
def test_needs_that_are_met_make_a_number(seed: int) -> None:
    """Where every need holds, read by itself, the formula is a number, and what it offers holds there."""
    rng, forms, told, ranged = random.Random(100 + seed), Watched(DOMAINS, CHOSEN), 0, 0
    for _ in range(400):
        term = tree(rng, rng.randrange(1, 4), kind=rng.choice(["", "sum"]))
        try:
            needs, offers = list(forms.needs(term)), list(forms.needs(term, offered=True))
        except Rejected:
            continue
        for point in points(rng, 6):
            x = value(term, point)
            if all(holds(need, point) for need in needs):
                told += 1
                ranged += any(need.ranges for need in needs)
                assert x is not None, (term, point)
            if x is not None and x.is_finite():
                assert all(holds(need, point, surely=False) for need in offers), (term, point)
    assert told > 500
    assert ranged > 20


def holds(need: Need, point: dict[str, fmpq], *, surely: bool = True) -> bool:
    """Whether it is met, at all indices of its ranges; `surely` not where that cannot be told."""
    return all(_holds(need, point, scope, surely) for scope in scopes(need.ranges, point, {}))


def scopes(ranges: Ranges, point: dict[str, fmpq], scope: dict[str, int]) -> Iterator[dict[str, int]]:
    if not ranges:
        yield scope
        return
    (index, *ends), *rest = ranges
    numbers: list[int] = []
    for end in ends:  # one of the formulas with this form: others may speak of an index that falls out
        x = next((x for x in (value(tree, point, scope) for tree in Watched.ends[end]) if x is not None), None)
        if x is None or (number := x.unique_fmpz()) is None:  # the needs of the range say so
            return
        numbers.append(int(number))
    for n in range(numbers[0], numbers[1] + 1):
        yield from scopes(tuple(rest), point, {**scope, index: n})


def _holds(need: Need, point: dict[str, fmpq], scope: dict[str, int], surely: bool) -> bool:
    if isinstance(need.formula, Form):
        known = {**point, **{name: fmpq(n) for name, n in scope.items()}}
        terms = [(c, monomial) for monomial, c in need.formula.top.items()]
        if any(name not in known for _, monomial in terms for name, _ in monomial):
            return not surely
        x = arb(sum((c * prod((known[name] ** n for name, n in m), start=fmpq(1)) for c, m in terms), fmpq(0)))
    else:
        x = value(need.formula, point, scope)
    if x is not None and not x.is_finite():
        return not surely
    met = x is not None and bool({"nonzero": x != 0, "positive": x > 0, "whole": x.is_integer()}.get(need.kind, x >= 0))
    if x is not None and not surely and not met:  # a ball around 0
        met = x.overlaps(arb(0)) and not x.is_exact()
    return met or (need.instead is not None and _holds(need.instead, point, scope, surely))


def test_a_denominator_of_a_sum_is_the_product_of_its_two_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where common factors are not looked for, because the polynomials are too long."""
    forms = Forms(DOMAINS)
    base = Op("+", ("z", "N", fmpq(1)))
    total = Op("sum", ("a", fmpq(0), "n", Op("*", ("a", Op("^", (Op("*", (base, Op("+", ("a", "z")))), fmpq(-1)))))))
    _, inside, below, before = forms._parts(total)  # pyright: ignore[reportPrivateUsage]
    assert times(below, before) == inside.below
    assert before != ONE
    monkeypatch.setattr(polynomials, "DIVISOR", 1)
    _, inside, below, before = Forms(DOMAINS)._parts(total)  # pyright: ignore[reportPrivateUsage]
    assert (below, before) == (inside.below, ONE)


def test_a_power_with_a_smaller_exponent_is_no_fraction() -> None:
    """x^(2n - 2) is (x^(n - 1))^2, also at x = 0 and n = 1; it is not (x^n)^2/x^2 to the kernel, nor (x^(n - 2))^2."""

    def power(n: int, shift: int) -> Tree:
        return Op("^", ("x", Op("+", (Op("*", (fmpq(n), "n")), fmpq(shift)))))

    forms = Forms(DOMAINS)
    half = forms.form(power(1, -1))
    assert forms.form(power(2, -2)) == half * half
    assert forms.form(power(2, -2)).below == ONE
    assert forms.form(power(2, -2)) != forms.form(power(1, -2)) ** 2
    assert [(need.kind, need.instead and need.instead.kind) for need in forms.needs(power(2, -2))] == [
        ("nonnegative", "nonzero")
    ]
