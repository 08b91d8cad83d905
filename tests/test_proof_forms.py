"""Normal forms against numbers: random formulas at random points, at zeros and at the edges of every domain."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import prod

import pytest
from flint import arb, ctx, fmpq

from fedaudit.verify.kernel.core.expression import Evaluator, Op, Tree, Unsure
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.core.world import World
from fedaudit.verify.kernel.proofs import polynomials
from fedaudit.verify.kernel.proofs.forms import Forms, Need
from fedaudit.verify.kernel.proofs.polynomials import ONE, Form, times

DOMAINS = {
    "x": "real",
    "y": "nonnegative",
    "z": "positive",
    "n": "index",
    "m": "index",
    "N": "count",
    "q": "nonnegative",
}
VALUES = {
    "real": ["0", "-1", "1", "-3/2", "2", "1/3"], "nonnegative": ["0", "1", "1/2", "3"], "positive": ["1", "1/2", "2"],
    "index": ["0", "1", "2", "3"], "count": ["1", "2", "4"],
}  # fmt: skip
INDICES = ("a", "b")


def tree(rng: random.Random, depth: int, bound: tuple[str, ...] = ()) -> Tree:
    if depth == 0 or rng.random() < 0.15:
        leaf = rng.choice([*(name for name in DOMAINS if name != "q"), *bound, *bound, "0", "1", "-1", "2", "1/2"])
        return fmpq(leaf) if leaf.lstrip("-")[:1].isdigit() else leaf
    kind = rng.choice(
        ["+", "+", "*", "*", "^", "^", "^", "whole", "power", "exp", "log", "abs", "min", "max", "sum", "sum", "at"]
    )
    if kind in ("+", "*", "min", "max"):
        return Op(kind, tuple(tree(rng, depth - 1, bound) for _ in range(2)))
    if kind == "^":
        return Op("^", (tree(rng, depth - 1, bound), fmpq(rng.choice(["-2", "-1", "2", "3", "1/2", "0"]))))
    if kind == "whole":
        return Op("^", (tree(rng, depth - 1, bound), whole(rng, bound)))
    if kind == "power":
        return Op("^", (tree(rng, depth - 1, bound), tree(rng, depth - 1, bound)))
    if kind == "sum":
        index = INDICES[len(bound) % 2]
        return Op("sum", (index, whole(rng, bound), whole(rng, bound), tree(rng, depth - 1, (*bound, index))))
    if kind == "at":
        return Op("at", ("q", whole(rng, bound)))
    return Op(kind, (tree(rng, depth - 1, bound),))


def whole(rng: random.Random, bound: tuple[str, ...]) -> Tree:
    """An exponent, an index or an end of a range."""
    name = rng.choice(["n", "m", "N", *bound])
    factor, shift = fmpq(rng.choice([-1, 0, 1, 1, 1, 2])), fmpq(rng.choice([-2, -1, 0, 0, 1, 2]))
    other = Op("*", (fmpq(rng.choice([-1, 0, 0, 1])), rng.choice(["n", "m", *bound])))
    return Op("+", (Op("*", (factor, name)), shift, other))


def points(rng: random.Random, count: int) -> Iterator[dict[str, fmpq]]:
    for _ in range(count):
        yield {name: fmpq(rng.choice(VALUES[kind])) for name, kind in DOMAINS.items() if name != "q"}


def value(term: Tree, point: dict[str, fmpq]) -> arb | None:
    """None where it is no number; a ball of everything where no precision says that it is one."""
    world = World(point, {"q": ((-100, 1000),)}, lambda _, at: fmpq(at[0] * at[0] % 7, 3))
    try:
        with ctx.workprec(256):
            return arb(Evaluator(world, DOMAINS).node(term, {}))
    except Unsure:
        return arb(0, "inf")
    except (Rejected, Malformed):
        return None


@pytest.mark.parametrize("seed", range(8))
def test_what_a_form_says_is_so(seed: int) -> None:
    """Without needs a formula is a number everywhere; its sign is that of its form; equal forms are equal numbers."""
    rng, seen, told = random.Random(seed), dict[str, tuple[Tree, list[Need]]](), 0
    forms = Forms(DOMAINS)
    for _ in range(300):
        term = tree(rng, rng.randrange(1, 5))
        try:
            form, needs = forms.form(term), list(forms.needs(term))
        except Rejected:
            continue
        sign, (alike, others) = forms.sign(form), seen.setdefault(forms.text(form), (term, needs))
        for point in points(rng, 12):
            x = value(term, point)
            assert x is not None or needs, (term, point)
            if x is None or not all(holds(need, point) for need in (*needs, *others)):
                continue
            told += 1
            assert sign != "positive" or not x <= 0, (term, point, sign)
            assert sign != "nonnegative" or not x < 0, (term, point, sign)
            assert sign != "negative" or not x >= 0, (term, point, sign)
            other = value(alike, point)
            assert other is None or x.overlaps(other), (term, alike, point)
            if (constant := form.number) is not None and not needs:
                assert x.overlaps(arb(constant)), (term, point)
    assert told > 1000


@pytest.mark.parametrize("seed", range(4))
def test_needs_that_are_met_make_a_number(seed: int) -> None:
    """Where every need holds, read by itself, the formula is a number, and what it offers holds there."""
    rng, forms, told = random.Random(100 + seed), Forms(DOMAINS), 0
    for _ in range(500):
        term = tree(rng, rng.randrange(1, 4))
        try:
            needs, offers = list(forms.needs(term)), list(forms.needs(term, offered=True))
        except Rejected:
            continue
        if any(need.ranges for need in needs):
            continue
        for point in points(rng, 8):
            x = value(term, point)
            if all(holds(need, point) for need in needs):
                told += 1
                assert x is not None, (term, point)
            if x is not None and x.is_finite():
                assert all(holds(need, point) for need in offers if not need.ranges), (term, point)
    assert told > 500


def holds(need: Need, point: dict[str, fmpq]) -> bool:
    """Whether it is met; what speaks of the index of a sum, or of other than symbols before it, is not met."""
    if isinstance(need.formula, Form):
        terms = [(c, monomial) for monomial, c in need.formula.top.items()]
        if any(name not in point for _, monomial in terms for name, _ in monomial):
            return False
        x = arb(sum((c * prod((point[name] ** n for name, n in m), start=fmpq(1)) for c, m in terms), fmpq(0)))
    else:
        x = value(need.formula, point) if not need.ranges else None
    met = x is not None and bool({"nonzero": x != 0, "positive": x > 0, "whole": x.is_integer()}.get(need.kind, x >= 0))
    return met or (need.instead is not None and holds(need.instead, point))


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
