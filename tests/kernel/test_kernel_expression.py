"""The kernel's expression trees against Python's Fractions and mpmath's intervals."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import mpmath
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from marks import examples

from fedaudit.verify.kernel import Malformed, Rejected
from fedaudit.verify.kernel.core.expression import Evaluator, decide, free, parse, parse_relation, power
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.world import tabled

NAMES = {"x": F(2, 3), "y": F(-5, 4), "n": F(3)}
LIST = [F(1, 2), F(-3), F(7, 5)]
EULER = 2718281828459045235360287471352662497757247093699959574966967627724076630353547  # e to 78 digits, cut
rationals = st.fractions(-5, 5, max_denominator=9)


def exact(x: F) -> fmpq:
    return fmpq(x.numerator, x.denominator)


TABLE = tabled({name: exact(x) for name, x in NAMES.items()}, {"q": [exact(x) for x in LIST]})


def trees(rational: bool) -> st.SearchStrategy[Any]:
    leaf = rationals.map(str) | st.integers(-5, 5) | st.sampled_from([*NAMES, "i"])
    leaf = leaf | st.integers(1, 3).map(lambda n: ["at", "q", n])

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        many = st.lists(inner, min_size=1, max_size=3)
        made = st.builds(lambda op, args: [op, *args], st.sampled_from(["+", "*", "min", "max"]), many)
        made |= st.builds(lambda a, n: ["^", a, n], inner, st.integers(-3, 3))
        made |= st.builds(lambda a: ["abs", a], inner)
        made |= st.builds(
            lambda a, b, body: ["sum", "i", a, a + b, body], st.integers(-2, 2), st.integers(-1, 2), inner
        )
        if not rational:
            made |= st.builds(lambda op, a: [op, a], st.sampled_from(["exp", "log"]), inner)
            made |= st.builds(lambda a, b: ["^", ["abs", a], b], inner, st.sampled_from(["1/2", "-1/3", "5/4"]))
        return made

    return st.recursive(leaf, deeper, max_leaves=8)


def reference(tree: Any, scope: dict[str, Any], number: Any) -> Any:
    """The meaning of a tree, written independently, over Fractions or intervals."""
    if isinstance(tree, int):
        return number(F(tree))
    if isinstance(tree, str):
        return number(scope[tree] if tree in scope else F(tree))
    op, *args = tree
    if op == "at":
        return number(LIST[int(reference(args[1], scope, F)) - 1])
    if op == "sum":
        steps = range(int(args[1]), int(args[2]) + 1)
        return sum((reference(args[3], {**scope, args[0]: F(k)}, number) for k in steps), number(F(0)))
    if op == "^":
        base, exponent = reference(args[0], scope, number), F(str(args[1]))
        if exponent.denominator == 1:
            return number(F(1)) if exponent == 0 else base**exponent.numerator
        return mpmath.iv.exp(mpmath.iv.log(base) * number(exponent))
    values = [reference(arg, scope, number) for arg in args]
    match op:
        case "+":
            return sum(values, number(F(0)))
        case "*":
            total = number(F(1))
            for x in values:
                total *= x
            return total
        case "min" | "max" if number is F:
            return (min if op == "min" else max)(values)
        case "min" | "max":
            ends = min if op == "min" else max
            return mpmath.iv.mpf([ends(x.a for x in values), ends(x.b for x in values)])
        case "abs":
            return abs(values[0])
        case _:
            return getattr(mpmath.iv, op)(values[0])


def interval(x: F) -> Any:
    return mpmath.iv.mpf(x.numerator) / x.denominator


SCOPE = {**NAMES, "i": F(2)}


@settings(max_examples=examples(300), deadline=None)
@given(trees(rational=True))
def test_rational_trees_are_exact(tree: Any) -> None:
    try:
        expected = reference(tree, SCOPE, F)
    except ZeroDivisionError:
        with pytest.raises(Rejected, match="nonzero base"):
            Evaluator(TABLE, None).value(parse(Node(tree, "tree")), {"i": 2})
        return
    found = Evaluator(TABLE, None).value(parse(Node(tree, "tree")), {"i": 2})
    assert isinstance(found, fmpq)
    assert (int(found.p), int(found.q)) == (expected.numerator, expected.denominator)


@settings(max_examples=examples(300), deadline=None)
@given(trees(rational=False))
def test_other_trees_overlap_intervals(tree: Any) -> None:
    mpmath.iv.prec = 200
    try:
        expected = reference(tree, SCOPE, interval)
        with ctx.workprec(200):
            found = Evaluator(TABLE, None).value(parse(Node(tree, "tree")), {"i": 2})
    except (ZeroDivisionError, Rejected, ValueError, mpmath.libmp.ComplexResult, OverflowError):
        assume(False)
        return
    with ctx.workprec(400):
        ball = arb(found)
        assume(ball.is_finite() and mpmath.isfinite(expected.a) and mpmath.isfinite(expected.b))
        low, high = (fmpq(*map(int, _ratio(end))) for end in (expected.a, expected.b))
        assert not ball < low
        assert not ball > high


def _ratio(x: Any) -> tuple[int, int]:
    sign, man, exp, _ = x._mpi_[0] if hasattr(x, "_mpi_") else x._mpf_
    assume(abs(int(exp)) < 100_000)  # exp(exp(9)) as a fraction would fill the memory
    value = F((-1) ** sign * int(man)) * F(2) ** int(exp)
    return value.numerator, value.denominator


@given(rationals, rationals, st.sampled_from(["<=", "<", ">=", ">", "=", "!="]))
def test_relations_of_rationals(a: F, b: F, op: str) -> None:
    expected = {"<=": a <= b, "<": a < b, ">=": a >= b, ">": a > b, "=": a == b, "!=": a != b}[op]
    assert decide(parse_relation(Node([op, str(a), str(b)], "r")), {}, TABLE, None)[2] is expected


@pytest.mark.parametrize(
    ("relation", "holds"),
    [
        (["<", ["exp", 1], f"{EULER}/1" + "0" * 78], False),
        (["<", ["exp", 1], f"{EULER + 1}/1" + "0" * 78], True),
        (["=", ["exp", 1], ["exp", 2]], False),
        (["!=", ["^", 2, "1/2"], "3/2"], True),
        ([">=", ["log", 2], ["log", 3]], False),
        (["=", ["^", "4/9", "-1/2"], "3/2"], True),
        (["=", ["^", "8/27", "2/3"], "4/9"], True),
        (["=", ["^", 0, 0], 1], True),
        (["=", ["^", 0, "1/2"], 0], True),
        (["=", ["exp", 0], 1], True),
        (["=", ["log", 1], 0], True),
        (["=", ["^", -1, 10**12 + 1], -1], True),
        (["=", ["^", 1, 10**12], 1], True),
        (["=", ["^", 0, 10**12], 0], True),
        (["<", ["^", "1/2", ["exp", 1]], "1/6"], True),
        (["<", ["min", ["exp", 1], 1, 3], ["max", ["exp", 1], 1]], True),
        (["<=", ["sum", "k", 1, 0, ["exp", "k"]], 0], True),
    ],
)  # fmt: skip
def test_decided(relation: Any, holds: bool) -> None:
    assert decide(parse_relation(Node(relation, "r")), {}, TABLE, None)[2] is holds


@pytest.mark.parametrize("name", ["=", "!=", "<=", "<", ">=", ">"])
def test_equal_irrationals_are_never_decided(name: str) -> None:
    relation = [name, ["*", ["^", 2, "1/2"], ["^", 3, "1/2"]], ["^", 6, "1/2"]]
    with pytest.raises(Rejected, match="undecided"):
        decide(parse_relation(Node(relation, "r")), {}, TABLE, None)


@pytest.mark.parametrize(
    "tree",
    [[], ["+"], ["^", 1], ["^", 1, 2, 3], ["exp"], ["exp", 1, 2], ["sum", "i", 1, 2], ["sum", 1, 1, 2, 3], ["at"],
     ["at", 3], ["at", "1/2", 3], [1, 2], [["+", 1], 2], ["eval", 1], 0.5, True, None, {}, "1.5", "", "-",
     "x y", "x.y", "é", "x" * 101],
)  # fmt: skip
def test_malformed_trees(tree: Any) -> None:
    with pytest.raises(Malformed):
        parse(Node(tree, "tree"))


def test_free_names() -> None:
    tree = parse(Node(["+", "a", ["sum", "i", "i", "b", ["*", "i", ["at", "q", "i", "c"]]]], "tree"))
    assert free(tree) == {("a", -1), ("i", -1), ("b", -1), ("q", 2), ("c", -1)}


@given(rationals, st.integers(-4, 4), st.integers(1, 4))
def test_powers_of_rationals(x: F, top: int, bottom: int) -> None:
    assume(x != 0 or top > 0)
    whole = abs(x) ** bottom  # has an exact root
    base = fmpq(whole.numerator, whole.denominator)
    expected = abs(x) ** top
    assert power(base, fmpq(top, bottom)) == fmpq(expected.numerator, expected.denominator)
