"""Irrational step sizes: balls enclose what a loop of 60 digits computes, and decide nothing where they overlap."""

from __future__ import annotations

import copy
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.verify import kernel
from fedaudit.verify.kernel.losses.kinds.bent import clipped

STEP = ["*", "1/2", ["^", ["+", 2, "t"], "-1/2"]]  # 1 / (2 sqrt(t + 2))
METHOD: dict[str, Any] = {
    "id": "tests/sgd", "server": {"x": ["start"]}, "client": {"y": "x"}, "begin": {"y": "x"},
    "local": {"y": ["+", "y", ["*", ["*", -1, ["at", "gamma", "t"]], ["noisy", ["grad", "y"]]]]}, "end": {},
    "update": {"x": ["mean", "y"]},
    "measures": {
        "square": {"at": ["t"], "terms": [["1", ["norm2", "x"]]]},
        "length": {"at": ["t"], "terms": [["1", ["norm", "x"]]]},
        "value": {"at": ["t"], "terms": [["1", ["f", "x"]]]},
        "around": {"at": ["t"], "over": ["around_mean", "steps"], "terms": [["1", ["norm2", "x"]]]},
    },
}  # fmt: skip
CLAIM: dict[str, Any] = {
    "id": "tests/claim", "kind": "inequality", "setting": "run", "let": [], "implicit": [], "when": [], "for_all": {},
    "choose": {"gamma": {"index": ["t"], "value": STEP}}, "then": [["<=", ["at", "square", 1], 0]], "means": {},
    "domains": {"square": "real", "length": "real", "value": "real", "around": "real", "gamma": "positive"},
    "method": METHOD,
}  # fmt: skip
BENT = {"kind": "bent", "a": ["2"], "m": ["1/2"], "lo": ["1/3"], "hi": ["1/4"], "c": ["1/5"]}
PLAIN = {"kind": "quadratic", "A": [["1"]], "b": ["1/3"]}
SLOPES: dict[str, Callable[[Decimal], Decimal]] = {
    "bent": lambda w: (
        (w - Decimal("0.2")) / 2 + Decimal("1.5") * max(Decimal(-1) / 3, min(Decimal("0.25"), w - Decimal("0.2")))
    ),
    "quadratic": lambda w: w - Decimal(1) / 3,
}


def instance(*clients: dict[str, Any], T: int = 3, noise: str = "1/2") -> dict[str, Any]:
    C = len(clients)
    return {
        "C": C, "d": 1, "E": 1, "T": T, "p": [f"1/{C}"] * C, "w0": ["1"], "constants": {}, "parameters": {},
        "clients": list(clients), "noise": {"kind": "signs", "shared": False, "v": [[noise]] * C},
    }  # fmt: skip


def ends(slopes: list[Callable[[Decimal], Decimal]], T: int, noise: Decimal) -> list[Decimal]:
    """x_T on every path of signs, from the definition of the method."""
    found = list[Decimal]()
    for signs in product((1, -1), repeat=T * len(slopes)):
        x, left = Decimal(1), list(signs)
        for t in range(T):
            step = 1 / (2 * Decimal(t + 2).sqrt())
            each = [x - step * (slope(x) + left.pop() * noise) for slope in slopes]
            x = sum(each) / len(each)
        found.append(x)
    return found


def encloses(ball: Any, x: Decimal) -> bool:
    """Narrowly."""
    exact = Fraction(x)
    near = arb(fmpq(exact.numerator, exact.denominator), 1e-50)
    return isinstance(ball, arb) and ball.overlaps(near) and ball.rad() < 1e-10


@pytest.mark.parametrize("clients", [(PLAIN,), (BENT,), (BENT, PLAIN), (PLAIN, PLAIN)], ids=str)
def test_balls_enclose_what_a_loop_of_sixty_digits_computes(clients: tuple[dict[str, Any], ...]) -> None:
    world = kernel.world(CLAIM, instance(*clients))
    with localcontext() as context:
        context.prec = 60
        paths = ends([SLOPES[client["kind"]] for client in clients], 3, Decimal("0.5"))
        mean = sum(paths) / len(paths)
        assert encloses(world.at("square", (3,)), sum(x * x for x in paths) / len(paths))
        assert encloses(world.at("length", (3,)), sum(map(abs, paths)) / len(paths))
        assert encloses(world.at("around", (3,)), sum((x - mean) ** 2 for x in paths) / len(paths))


def test_more_precision_gives_narrower_balls() -> None:
    """A bound that is wrong in the fiftieth digit."""
    asked = copy.deepcopy(CLAIM)
    quarter = instance(PLAIN | {"b": ["0"]}, T=1, noise="0")  # x_1 = 1 - 1/(2 sqrt 2), whose square is 9/8 - 1/sqrt 2
    off = f"1/{10**50}"
    asked["then"] = [["<=", ["at", "square", 1], ["+", "9/8", ["*", -1, ["^", 2, "-1/2"]], f"-{off}"]]]
    lhs, rhs, holds = kernel.evaluate(asked, quarter, (), {"relation": 0})
    assert not holds
    assert lhs > rhs
    asked["then"][0][2][-1] = off
    assert kernel.evaluate(asked, quarter, (), {"relation": 0})[2]


@pytest.mark.parametrize("relation", ["<=", "<", "=", "!="])
def test_sides_that_are_equal_are_never_decided(relation: str) -> None:
    """Balls of equal numbers overlap at every precision: nothing is broken, nothing holds."""
    asked, quarter = copy.deepcopy(CLAIM), instance(PLAIN | {"b": ["0"]}, T=1, noise="0")
    asked["then"] = [[relation, ["at", "square", 1], ["+", "9/8", ["*", -1, ["^", 2, "-1/2"]]]]]
    with pytest.raises(kernel.Rejected, match="undecided"):
        kernel.evaluate(asked, quarter, (), {"relation": 0})


@given(st.fractions(-3, 3), st.fractions(0, 2), st.fractions(-2, 1), st.fractions(0, 2), st.fractions(0, 1))
def test_a_ball_over_a_kink_becomes_all_that_its_numbers_become(
    middle: Fraction, radius: Fraction, low: Fraction, length: Fraction, share: Fraction
) -> None:
    def exact(x: Fraction) -> fmpq:
        return fmpq(x.numerator, x.denominator)

    inside, high = middle - radius + 2 * share * radius, low + length
    ball = arb(clipped(arb(exact(middle), arb(exact(radius))), exact(low), exact(high)))
    assert ball.overlaps(arb(exact(max(low, min(high, inside)))))
    assert clipped(exact(inside), exact(low), exact(high)) == exact(max(low, min(high, inside)))


@pytest.mark.parametrize("op", ["ratio", "smaller", "hess"])
def test_what_would_branch_on_a_ball_is_refused_by_name(op: str) -> None:
    asked = copy.deepcopy(CLAIM)
    if op == "hess":
        asked["method"]["local"]["y"] = ["+", "y", ["*", ["*", -1, ["at", "gamma", "t"]], ["hess", "y", "y"]]]
    else:
        asked["method"]["measures"]["square"]["terms"] = [["1", [op, [["1", ["norm2", "x"]]], [["2", ["f", "x"]]]]]]
    with pytest.raises(kernel.Rejected, match=f"irrational step size with the operations {op}"):
        kernel.world(asked, instance(PLAIN))


def test_a_step_size_that_is_rational_stays_exact() -> None:
    asked = copy.deepcopy(CLAIM)
    asked["choose"]["gamma"]["value"] = ["^", ["+", 4, ["*", 5, "t"]], "-1/2"]  # 1/2, 1/3
    assert isinstance(kernel.world(asked, instance(BENT, T=2)).at("square", (2,)), fmpq)


def test_a_long_run_with_noise_at_every_step_needs_few_points() -> None:
    """Of affine rules mean and covariance say all, in balls too."""
    asked = copy.deepcopy(CLAIM)
    asked["method"]["measures"] = {"square": METHOD["measures"]["square"]}  # of lengths all paths are followed
    asked["domains"] = {"square": "real", "gamma": "positive"}
    ball = kernel.world(asked, instance(PLAIN | {"b": ["0"]}, T=40)).at("square", (40,))
    with localcontext() as context:
        context.prec = 60
        mean, spread = Decimal(1), Decimal(0)
        for t in range(40):
            step = 1 / (2 * Decimal(t + 2).sqrt())
            mean, spread = mean * (1 - step), spread * (1 - step) ** 2 + step**2 / 4
        assert encloses(ball, mean**2 + spread)
