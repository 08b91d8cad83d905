"""The kernel's replay of a small method, against expectations by hand."""

from __future__ import annotations

import copy
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs.interpreter import Setup, run
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.loss import Vector
from fedaudit.verify.kernel.core.randomness import Draw
from fedaudit.verify.kernel.core.walk import State
from fedaudit.verify.kernel.runs.mean_covariance import condensed
from fedaudit.verify.moves.audit import read

METHOD: dict[str, Any] = {
    "id": "tests/sgd", "server": {"x": ["start"]}, "client": {"y": "x"}, "begin": {"y": "x"},
    "local": {"y": ["+", "y", ["*", ["*", -1, "gamma"], ["noisy", ["grad", "y"]]]]}, "end": {},
    "update": {"x": ["mean", "y"]}, "measures": {},
}  # fmt: skip
CLAIM: dict[str, Any] = {
    "id": "tests/claim", "kind": "inequality", "setting": "run", "let": [], "implicit": [], "choose": {}, "when": [],
    "for_all": {}, "then": [["<=", ["at", "measure", 1], 0]], "domains": {"measure": "real", "gamma": "positive"},
    "means": {}, "method": METHOD,
}  # fmt: skip
INSTANCE: dict[str, Any] = {
    "C": 2, "d": 1, "E": 1, "T": 1, "p": ["1/2", "1/2"], "w0": ["1"], "constants": {}, "parameters": {"gamma": "1/2"},
    "clients": [{"kind": "quadratic", "A": [["1"]], "b": ["0"]}] * 2,
    "noise": {"kind": "signs", "shared": False, "v": [["1"], ["1"]]},
}  # fmt: skip


def claim(terms: Any, over: Any = None, **rules: Any) -> dict[str, Any]:
    """About one measure of the method at round 1, with other rules where they are given."""
    found = copy.deepcopy(CLAIM)
    found["method"]["measures"] = {"measure": {"at": ["t"], "terms": terms, **({"over": over} if over else {})}}
    found["method"] |= rules
    return found


def measured(asked: dict[str, Any]) -> F:
    return F(str(kernel.world(asked, INSTANCE).at("measure", (1,))))


def in_arrays(asked: dict[str, Any], at: int = 1) -> float:
    """The same by the array interpreter, which shares nothing with the kernel."""
    losses = Quadratics(np.ones((1, 2, 1, 1)), np.zeros((1, 2, 1)), np.full((1, 2), 0.5))

    def scalar(tree: Any) -> Any:
        return np.full((1, 1, 1), {"gamma": 0.5}[tree] if isinstance(tree, str) else -0.5)

    setup = Setup(losses, np.ones((1, 1)), scalar, E=1, T=1, v=np.ones((1, 2, 1)))
    return float(run(asked["method"], setup)["measure"][0, at])


SQUARE = [["1", ["norm2", "x"]]]
MOVED = [["1", ["norm2", ["+", "x", ["*", -1, ["start"]]]]]]
OTHER = [["1", ["norm2", ["+", "x", ["start"]]]]]


@pytest.mark.parametrize(
    ("terms", "by_hand"),
    [
        (SQUARE, lambda x: x * x),
        ([["1", ["ratio", SQUARE, OTHER]]], lambda x: x * x / (x + 1) ** 2),
        ([["3", ["smaller", SQUARE, MOVED]]], lambda x: 3 * min(x * x, (x - 1) ** 2)),
        ([["1", ["norm", "x"]]], abs),
        ([["1", ["mean", ["ratio", SQUARE, OTHER]]]], lambda x: x * x / (x + 1) ** 2),
    ],
)
def test_expectations_of_what_is_no_quadratic_are_sums_over_all_signs(terms: Any, by_hand: Any) -> None:
    """x = 1 - (1 + (s + r)/2)/2 with two fair signs s and r."""
    ends = [1 - (1 + F(s + r, 2)) / 2 for s, r in product((1, -1), repeat=2)]
    by_outcomes = sum(map(by_hand, ends)) / 4
    assert measured(claim(terms)) == by_outcomes
    assert in_arrays(claim(terms)) == pytest.approx(float(by_outcomes), rel=1e-12)


def test_noise_inside_a_ratio_is_not_averaged_before_it() -> None:
    """At the start x = 1, and the mean of two noisy gradients is 1 + (s + r)/2 with two fair signs."""
    kicked = [["1", ["norm2", ["+", ["start"], ["mean", ["noisy", ["grad", "x"]]]]]]]
    asked = claim([["1", ["ratio", SQUARE, kicked]]])
    by_outcomes = sum(F(1) / (2 + F(s + r, 2)) ** 2 for s, r in product((1, -1), repeat=2)) / 4
    assert F(str(kernel.world(asked, INSTANCE).at("measure", (0,)))) == by_outcomes
    assert in_arrays(asked, at=0) == pytest.approx(float(by_outcomes), rel=1e-12)


def test_noise_before_the_first_round_is_refused() -> None:
    with pytest.raises(kernel.Malformed, match="noise outside"):
        measured(claim(SQUARE, server={"x": ["mean", ["noisy", ["start"]]]}))


def test_without_a_regulariser_its_conjugate_is_finite_at_zero_alone_and_its_proximal_points_are_the_points() -> None:
    nothing = claim([["1", ["conjugate", ["*", 0, ["start"]]]], ["1", ["norm2", ["prox", 1, ["start"]]]]])
    assert measured(nothing) == 1
    with pytest.raises(kernel.Rejected, match="conjugate of g that is infinite"):
        measured(claim([["1", ["conjugate", ["start"]]]]))


@pytest.mark.parametrize("draw", ["noisy", "again"])
def test_a_measure_about_a_mean_reads_no_noise(draw: str) -> None:
    wrong = claim([["1", ["norm2", ["mean", [draw, "x"]]]]], over=["of_mean", "steps"])
    with pytest.raises(kernel.Malformed, match="without noise"):
        measured(wrong)


def test_a_rule_reads_no_measure_as_a_step_size() -> None:
    wrong = claim(SQUARE, update={"x": ["*", ["at", "measure", "t"], ["mean", "y"]]})
    with pytest.raises(kernel.Malformed, match="no measures"):
        kernel.world(wrong, INSTANCE | {"steps": {"measure": ["1"]}})


def test_a_second_draw_that_no_rule_reads_is_refused() -> None:
    """It has no noise of its own."""
    with pytest.raises(kernel.Malformed, match="second draw"):
        measured(claim([["1", ["norm2", ["mean", ["again", "x"]]]]]))


def test_where_f_has_no_least_value_there_is_no_gamma() -> None:
    """Weights -1 and 2 leave f a line: an instance that no claim with Gamma admits, and no fault of the claim."""
    reading, _ = read(statement("buttaci/lemB.3"))
    line = {
        "C": 2, "d": 1, "E": 1, "T": 1, "p": ["-1", "2"], "w0": ["0"],
        "constants": {"L": "2", "mu": "1", "sigma": "0", "G": "9"},
        "parameters": {"alpha": "1", "tau": "60", "upsilon": "4"},
        "clients": [{"kind": "quadratic", "A": [[A]], "b": ["1"]} for A in ("2", "1")],
        "noise": {"kind": "none"}, "minimisers": [["1/2"], ["1"]],
    }  # fmt: skip
    with pytest.raises(kernel.Rejected, match="no least value of f"):
        kernel.evaluate(reading.claim, line, ("nonnegative_weights",), {"relation": 0, "t": 0})


def test_every_outcome_of_independent_signs_is_walked() -> None:
    """Six clients with signs of their own: 64 outcomes of bent losses, by definition."""
    bent = [{"kind": "bent", "a": ["1"], "m": ["1"], "lo": ["1"], "hi": ["1"], "c": [str(c)]} for c in range(6)]
    noise = {"kind": "signs", "shared": False, "v": [["1"]] * 6}
    instance = {**INSTANCE, "C": 6, "p": ["1/6"] * 6, "clients": bent, "noise": noise}
    value = kernel.world(claim(SQUARE), instance).at("measure", (1,))
    mean = 1 - F(1, 2) * (1 - F(5, 2))  # and the variance is 6/36 of each client's, (1/2)^2
    assert F(str(value)) == mean**2 + F(1, 24)


def test_flat_clients_with_minimisers_of_their_own_are_not_alike() -> None:
    flat = {"kind": "quadratic", "A": [["0"]], "b": ["0"]}
    instance = INSTANCE | {"clients": [flat, flat], "noise": {"kind": "none"}, "minimisers": [["0"], ["4"]]}
    asked = claim([["1", ["norm2", ["mean", ["w_i_star"]]]]])
    assert F(str(kernel.world(asked, instance).at("measure", (1,)))) == 4


def test_few_points_have_the_mean_and_covariance_of_many() -> None:
    """By definition, in rationals; two vectors of two entries, one of which is an affine function of the others."""
    values = [(F(n * n % 7, 3), F(n % 5), F(-n, 4)) for n in range(1, 12)]
    entries = [(a, b, c, a - 2 * b + 1) for a, b, c in values]
    weights = [F(n, 66) for n in range(1, 12)]

    def state(x: tuple[F, ...]) -> State[Vector]:
        a, b, c, d = (fmpq(q.numerator, q.denominator) for q in x)
        return {"x": ((a, b),), "y": ((c, d),)}

    def moments(points: list[tuple[tuple[F, ...], F]]) -> list[F]:
        """The weight of all, their mean, and the second moments about the origin."""
        products = [[F(1), *x, *(a * b for a in x for b in x)] for x, _ in points]
        return [sum((q * row[n] for row, (_, q) in zip(products, points, strict=True)), F(0)) for n in range(21)]

    many = list(zip(entries, weights, strict=True))
    everyone = Draw((1,))
    few = condensed([(state(x), everyone, fmpq(q.numerator, q.denominator)) for x, q in many], ["x", "y"])
    back = [
        (tuple(F(int(e.p), int(e.q)) for name in "xy" for e in one[name][0]), F(int(q.p), int(q.q)))
        for one, _, q in few
    ]
    assert len(few) == 2 * 3 + 1
    assert moments(back) == moments(many)
