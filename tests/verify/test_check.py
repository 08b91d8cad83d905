"""`fa.check`: recorded runs against bounds, estimators against constants that are known, limits that are valid."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedaudit as fa
from fedaudit.cli import main
from fedaudit.verify.recorded.answer import SideCheck
from fedaudit.verify.recorded.mean_band import band, lower_limit
from fedaudit.verify.recorded.run_constants import run_constants

BOUND = "buttaci/thm4.1-I"
GIVEN = {
    "L": 3,
    "mu": 1,
    "alpha": 1,
    "E": 2,
    "G": 0,
    "sigma": 0,
    "S": 0.5,
    "Gamma": 0,
}  # the bound is 3 (11/12)^t gap(0)
GAP = [1.0, 0.8, 0.6]


def test_a_run_below_its_bound_holds_and_says_how_close_it_came() -> None:
    answer = fa.check(BOUND, gap=GAP, **GIVEN)
    side = answer.sides[0]
    assert answer.holds
    assert answer.why == ""
    assert side.rhs == pytest.approx([3 * (11 / 12) ** t for t in range(3)])
    assert side.ratio == pytest.approx([gap / (3 * (11 / 12) ** t) for t, gap in enumerate(GAP)])
    assert "HOLDS for one run, t = 0, ..., 2" in str(answer)


def test_a_run_above_its_bound_says_from_where_on_and_by_how_much() -> None:
    answer = fa.check(BOUND, gap=[1.0, 2.0, 5.0, 6.0], **GIVEN)
    row = answer.row()
    assert (row["holds"], row["why"]) == (False, "violation")
    assert row["relations"][0]["first"] == 2
    assert row["relations"][0]["largest"] == pytest.approx(6 / (3 * (11 / 12) ** 3))
    assert "looks for an exact one" in str(answer)


def test_the_terms_add_up_to_the_bound() -> None:
    answer = fa.check(BOUND, gap=GAP, **{**GIVEN, "G": 1, "sigma": 2, "Gamma": 1})
    side = answer.sides[0]
    assert len(side.terms) == 4
    assert sum(side.terms.values()) == pytest.approx(side.rhs)


def test_a_bound_is_noiseless_only_where_all_its_noise_is_0() -> None:
    from fedaudit.verify.recorded.bound_check import has_noise

    several = fa.statement("fallah/lem4.3-bias")
    assert has_noise(several, {"sigma_G": Fraction(0), "sigma_H": Fraction(1)})
    assert not has_noise(several, {"sigma_G": Fraction(0), "sigma_H": Fraction(0)})


def test_noise_makes_one_run_above_the_bound_a_matter_of_chance() -> None:
    assert fa.check(BOUND, gap=[1.0, 5.0], **{**GIVEN, "sigma": 0.1}).why == "chance"
    many = np.array([[1.0, 5.0 + k / 100] for k in range(100)])
    assert fa.check(BOUND, gap=many, **{**GIVEN, "sigma": 0.1}).why == "violation"


def test_a_condition_that_fails_is_no_violation() -> None:
    answer = fa.check("examples/root_steps.py::roots/step", dist2=[1.0, 9.0], L=1, mu=1, sigma=0, E=2)
    assert answer.why == "condition"
    assert answer.failing


def test_a_constant_of_the_step_size_is_not_said_to_be_generous_and_others_are() -> None:
    answer = fa.check(BOUND, gap=[1.0, 0.5], **{**GIVEN, "G": 1})
    found = {constant.name: constant for constant in answer.constants}
    assert found["L"].slack is None
    assert found["G"].slack == 2.0**-40
    assert found["Gamma"].slack is None
    tight = fa.check(BOUND, gap=[1.0, 3 * 11 / 12 * 0.999], **GIVEN)
    mu = next(constant for constant in tight.constants if constant.name == "mu")
    assert mu.slack == pytest.approx(1.01, abs=0.02)


def test_numbers_of_numpy_are_numbers() -> None:
    values: dict[str, Any] = {name: np.float64(x) for name, x in GIVEN.items() if name != "E"}
    answer = fa.check(BOUND, gap=np.array(GAP), E=np.int64(2), **values)
    assert answer.sides[0].rhs[0] == 3.0


def test_recursions_are_checked_from_round_to_round() -> None:
    answer = fa.check("examples/fedlin.py::fedlin/rate", gap=[1.0, 0.5, 0.49], L=1, mu=1, E=1)
    assert answer.sides[0].x.tolist() == [0, 1]
    assert answer.sides[0].first == 1


def test_a_claim_about_the_last_round_is_checked_at_every_length() -> None:
    gap, dist2 = [1.0, 0.2, 0.09], [4.0, 2.0, 1.0]
    answer = fa.check("examples/gradient_descent.py::gd/rate", gap=gap, dist2=dist2, L=1, E=1, C=1)
    assert answer.sides[0].x.tolist() == [1, 2]
    assert answer.sides[0].rhs == pytest.approx([4 / 6, 4 / 10])
    assert answer.holds


def test_least_squares_constants_are_those_of_the_matrices() -> None:
    X = [np.diag([1.0, 2.0]) * np.sqrt(2), np.diag([3.0, 1.0]) * np.sqrt(2)]  # X'X/n = diag(1, 4), diag(9, 1)
    y = [np.zeros(2), np.sqrt(2) * np.array([3.0, 1.0])]  # minimisers (0, 0) and (1, 1)
    data = fa.ClientData(X, y)
    found = data.constants(x=np.array([[0.0, 0.0]]))
    assert (found["L"].value, found["mu"].value) == pytest.approx((9.0, 1.0))
    assert data.w_star == pytest.approx([0.9, 0.2])
    # f_1(w*) = (0.81 + 4 * 0.04)/2, f_2(w*) = (9 * 0.01 + 0.64)/2, weights 1/2, own minima 0
    assert found["Gamma"].value == pytest.approx(((0.81 + 0.16) / 2 + (0.09 + 0.64) / 2) / 2)
    assert found["G"].value == pytest.approx(np.hypot(9, 1))
    assert found["sigma"].value == 0.0
    assert data.gap(np.array([data.w_star, [0.0, 0.0]])) == pytest.approx([0.0, 2.5 - found["Gamma"].value])
    assert data.dist2(np.zeros((1, 2))) == pytest.approx([0.85])


def test_minibatches_have_noise() -> None:
    data = fa.ClientData([[[1.0], [1.0]]], [[1.0, -1.0]], batch=1)  # gradients at 0: -1 and 1
    assert data.constants(x=[[0.0]])["sigma"].value == pytest.approx(1.0)
    assert data.constants(x=[[0.0]])["G"].value == pytest.approx(1.0)


def test_logistic_minimisers_have_no_slope_and_curvature_stays_below_l() -> None:
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(30, 4)) for _ in range(3)]
    y = [rng.integers(0, 2, 30) for _ in range(3)]
    data = fa.ClientData(X, y, "logistic", l2=0.05)
    slope = sum(p * data.grad(i, data.w_star) for i, p in enumerate(data.p))
    assert np.abs(slope).max() < 1e-10
    L = data.constants()["L"].value
    for _ in range(20):
        u, v = rng.normal(size=4), rng.normal(size=4)
        for i in range(3):
            assert np.linalg.norm(data.grad(i, u) - data.grad(i, v)) <= L * np.linalg.norm(u - v)


def test_constants_are_estimated_where_they_are_missing_and_compared_where_they_are_given() -> None:
    data = fa.ClientData([[[2.0]], [[1.0]]], [[2.0], [0.0]])
    x = np.array([[1.0], [0.9], [0.85]])
    estimated = fa.check(BOUND, x=x, data=data, alpha=1, E=2, sigma=0, S=0.5)
    sources = {constant.name: constant.source for constant in estimated.constants}
    assert sources["L"] == sources["mu"] == sources["Gamma"] == "estimated"
    assert estimated.row()["constants"][0]["source"] == "assumed"
    wrong = fa.check(BOUND, x=np.array([[1.0], [5.0]]), data=data, alpha=1, E=2, sigma=0, S=0.5, L=1, G=0, Gamma=0)
    assert wrong.why == "assumption"
    assert "NOT COVERED" in str(wrong)


@pytest.mark.parametrize("law", ["exponential", "pareto", "rare"])
def test_the_lower_limit_is_below_the_expectation_in_all_rounds(law: str) -> None:
    rng = np.random.default_rng(4)
    draws = {
        "exponential": lambda: rng.exponential(size=(20, 30)),
        "pareto": lambda: rng.pareto(2.0, size=(20, 30)),  # mean 1
        "rare": lambda: 10.0 * (rng.uniform(size=(20, 30)) < 0.1),
    }[law]
    above = sum(bool((lower_limit(draws(), 0.05) > 1).any()) for _ in range(200))
    assert above <= 10


def test_the_lower_limit_comes_close_with_many_runs() -> None:
    draws = np.random.default_rng(0).uniform(size=(10_000, 3))
    assert lower_limit(draws, 1e-3) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("law", ["uniform", "rare", "constant"])
def test_both_limits_are_on_their_sides_of_the_expectation_in_all_rounds(law: str) -> None:
    rng = np.random.default_rng(4)
    draws = {
        "uniform": lambda: rng.uniform(size=(20, 30)) * 2,
        "rare": lambda: 10.0 * (rng.uniform(size=(20, 30)) < 0.1),
        "constant": lambda: np.ones((20, 30)),
    }[law]
    outside = 0
    for _ in range(200):
        lower, upper = band(draws(), 0.05, 10.0)
        assert upper is not None
        outside += bool((lower > 1).any() or (upper < 1).any())
    assert outside <= 10


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.02])
def test_a_limit_of_one_round_passes_the_expectation_no_more_often_than_its_level(chance: float) -> None:
    """20 draws of 0 or 1/chance in each of many columns, each of which is a round of its own here."""
    columns, level = 20_000, 0.65
    draws = (np.random.default_rng(7).uniform(size=(20, columns)) < chance) / chance
    share = float((lower_limit(draws, level * columns) > 1).mean())  # a level for each column: the union divides it
    assert 0.01 < share <= level  # not so careful that no limit would ever do it


def test_the_limits_meet_with_many_runs() -> None:
    lower, upper = band(np.random.default_rng(0).uniform(size=(10_000, 3)), 1e-3, 1.0)
    assert lower == pytest.approx(0.5, abs=0.03)
    assert upper == pytest.approx(0.5, abs=0.03)


NOISY = {**GIVEN, "sigma": 2}


def noisy_runs(seeds: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(2)
    return np.hstack([np.ones((seeds, 1)), rng.uniform(0.5, 1.0, size=(seeds, 3))])


def test_without_a_largest_value_many_runs_below_the_bound_do_not_settle_the_expectation() -> None:
    answer = fa.check(BOUND, gap=noisy_runs(1000), **NOISY)
    (side,) = answer.sides
    assert answer.holds
    assert side.settled == ""
    assert side.upper is None
    assert "nothing bounds gap(t) of one run from above" in str(answer)
    assert answer.row()["relations"][0]["expectation"] == "not settled"


def test_with_a_largest_value_the_expectation_is_settled_by_enough_runs() -> None:
    few, many = (fa.check(BOUND, gap=noisy_runs(n), at_most=4, **NOISY) for n in (3, 100))
    assert few.holds
    assert few.sides[0].settled == ""
    assert "its limit from above is" in str(few)
    assert many.sides[0].settled == "holds"
    assert "the expectation: HOLDS" in str(many)
    assert {*many.curves().extra} == {"lower limit", "upper limit"}


def test_a_run_above_the_largest_value_contradicts_it() -> None:
    with pytest.raises(fa.UserError, match=r"at most 0\.5, as was given"):
        fa.check(BOUND, gap=noisy_runs(3), at_most=0.5, **NOISY)


def test_a_bound_that_reads_other_draws_has_no_limits() -> None:
    values = {"L": 1, "mu": 1, "E": 1}
    gap = np.array([[1.0, 0.2], [2.0, 0.3]])
    answer = fa.check("examples/fedlin.py::fedlin/rate", gap=gap, **values)
    assert answer.sides[0].lower is None


def test_a_lower_bound_is_contradicted_from_above_alone() -> None:
    side = SideCheck("q", ">=", "t", np.arange(1), np.ones((3, 1)), np.array([0.2]), None, np.array([2.0]), {})
    assert side.first == 0
    assert side.settled == ""  # a rare run may still lift the expectation to 2
    assert replace(side, upper=np.array([1.5])).settled == "exceeds"
    assert replace(side, lower=np.array([2.5])).settled == "holds"


def descent(A: np.ndarray[Any, Any], noise: float = 0.0) -> dict[str, Any]:
    """Local steps on w'A_i w/2, with their gradients: T = 5 rounds of K = 4 steps."""
    rng = np.random.default_rng(1)
    C, d = A.shape[:2]
    y, grad, full = np.zeros((5, 5, C, d)), np.zeros((5, 4, C, d)), np.zeros((5, 4, C, d))
    x = np.ones(d)
    for t in range(5):
        y[t, 0] = x
        for k in range(4):
            full[t, k] = np.einsum("cij,cj->ci", A, y[t, k])
            grad[t, k] = full[t, k] + noise * rng.choice([-1.0, 1.0], size=(C, d)) / np.sqrt(d)
            y[t, k + 1] = y[t, k] - 0.1 * grad[t, k]
        x = y[t, -1].mean(axis=0)
    return {"y": y, "grad": grad, "full_grad": full}


BENDS = np.stack([np.diag([1.0, 4.0]), np.diag([2.0, 3.0])])


def test_secants_of_a_run_lie_between_mu_and_l_and_come_close() -> None:
    run = descent(BENDS)
    told = run_constants({"y": run["y"], "grad": run["grad"]}, noisy=False)
    assert 3 < told["L"].value <= 4 + 1e-9
    assert 1 - 1e-9 <= told["mu"].value < 1.5
    assert (told["L"].kind, told["mu"].kind, told["G"].kind) == ("at least", "at most", "at least")
    assert told["G"].value == pytest.approx(np.hypot(1, 4))
    assert "sigma" not in told


def test_noisy_gradients_tell_no_curvature_but_their_noise_beside_full_ones() -> None:
    run = descent(BENDS, noise=0.5)
    alone = run_constants({"y": run["y"], "grad": run["grad"]}, noisy=True)
    assert {*alone} == {"G"}
    told = run_constants(run, noisy=True)
    assert told["L"].value <= 4 + 1e-9
    assert told["sigma"].value == pytest.approx(0.5)
    assert told["sigma"].limit < 0.5


def test_a_noise_bound_is_contradicted_by_chance_no_more_often_than_its_level() -> None:
    rng = np.random.default_rng(0)
    shape = (4, 5, 3, 1)
    wrong = 0
    for _ in range(100):
        draws = 3.0 * (rng.uniform(size=shape) < 1 / 9)  # E |noise|^2 = 1
        run = {"grad": draws, "full_grad": np.zeros(shape), "y": rng.normal(size=shape)}
        wrong += run_constants(run, noisy=True)["sigma"].limit > 1
    assert wrong == 0


def test_constants_from_a_run_say_their_direction_and_contradict_what_was_given() -> None:
    run = {name: values for name, values in descent(BENDS).items() if name != "full_grad"}
    values = {"alpha": 1, "E": 4, "sigma": 0, "S": 0.5, "Gamma": 0}
    answer = fa.check(BOUND, gap=[1.0, 0.5, 0.2], **values, **run)
    told = {constant.name: constant for constant in answer.constants}
    assert [told[name].source for name in ("L", "mu", "G")] == ["estimated"] * 3
    assert "it may be larger elsewhere" in str(told["L"])
    assert "it may be smaller elsewhere" in str(told["mu"])
    assert not told["L"].certain
    given = fa.check(BOUND, gap=[1.0, 0.5, 0.2], L=8, mu=0.5, G=10, **values, **run)
    L = next(constant for constant in given.constants if constant.name == "L")
    assert L.asked == pytest.approx(told["L"].value / 8)
    assert "times as large would still cover that" in str(L)
    low = fa.check(BOUND, gap=[1.0, 1e6, 1e6], L=2, mu=0.5, G=10, **values, **run)
    assert low.why == "assumption"
    assert "L = 2, given" in str(low)
    assert "NOT COVERED" in str(low)


def test_an_excess_over_estimated_limits_is_a_violation_only_if_they_are_constants() -> None:
    run = {name: values for name, values in descent(BENDS).items() if name != "full_grad"}
    answer = fa.check(BOUND, gap=[1.0, 9e3, 9e3], alpha=1, E=4, sigma=0, S=0.5, Gamma=0, **run)
    assert answer.why == "violation"
    assert "a violation, if alpha, sigma, S, Gamma, L, G, mu are constants of this problem" in str(answer)


def test_a_table_of_several_runs_is_read_by_seed(tmp_path: Path) -> None:
    lines = ["seed,t,gap,loss", *(f"{s},{t},{1 / (1 + t + s)},7" for s in (0, 1) for t in range(3))]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    answer = fa.check(BOUND, tmp_path / "runs.csv", **GIVEN)
    assert answer.seeds == 2
    assert answer.sides[0].mean == pytest.approx([0.75, (1 / 2 + 1 / 3) / 2, (1 / 3 + 1 / 4) / 2])


def arguments(values: dict[str, Any]) -> list[str]:
    return [f"{name}={x}" for name, x in values.items()]


def test_the_command_prints_rows_draws_and_exits_with_1_where_it_exceeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("low.csv").write_text("t,gap\n0,1.0\n1,0.5\n2,0.4\n")
    np.savez("high.npz", gap=[1.0, 9.0])
    assert main(["check", BOUND, "low.csv", *arguments(GIVEN), "--out", "low.png"]) == 0
    assert "HOLDS" in capsys.readouterr().out
    assert Path("low.png").read_bytes().startswith(b"\x89PNG")
    assert main(["check", BOUND, "high.npz", *arguments(GIVEN), "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["relations"][0]["first"] == 1


@pytest.mark.parametrize(
    ("run", "more", "said"),
    [
        ("none.csv", {}, "a recorded run that exists"),
        ("text.csv", {}, "cannot be read"),
        ("low.csv", {"L": None}, "without L"),
        ("low.csv", {"LL": 3}, "does not know"),
        ("low.csv", {"mu": "0"}, "above 0"),
        ("other.csv", {}, "a trajectory of gap"),
        ("wide.npz", {}, "(seeds, rounds)"),
        ("broken.json", {}, "cannot be read"),
        ("other.csv", {}, "got loss for"),
        ("ragged.json", {}, "gap, which is no array of numbers"),
        ("lines.csv", {}, "lines of different lengths"),
        ("runs.csv", {}, "runs of 1 and 2 lines"),
        ("nan.csv", {}, "gap with nan as entry 1 of run 0"),
        ("negative.csv", {}, "gap = -3 as entry 0 of run 1"),
        ("steps.json", {}, "beside gradients of other sizes"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(
    run: str, more: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("low.csv").write_text("t,gap\n0,1.0\n1,0.5\n")
    Path("other.csv").write_text("t,loss\n0,1.0\n1,0.5\n")
    Path("text.csv").write_text("t,gap\n0,one\n")
    Path("broken.json").write_text("[[")
    Path("ragged.json").write_text('{"gap": [[1, 2], [1]]}')
    Path("lines.csv").write_text("t,gap\n0,1.0\n1\n")
    Path("runs.csv").write_text("seed,t,gap\n0,0,1.0\n1,0,1.0\n1,1,0.5\n")
    Path("nan.csv").write_text("t,gap\n0,1.0\n1,nan\n")
    Path("negative.csv").write_text("seed,t,gap\n0,0,5.0\n1,0,-3.0\n")
    Path("steps.json").write_text('{"gap": [1, 0.5], "y": [[[[1], [2]]]], "grad": [[[[1]]]]}')
    np.savez("wide.npz", gap=np.zeros((2, 2, 2)))
    values = {name: x for name, x in {**GIVEN, **more}.items() if x is not None}
    assert main(["check", BOUND, run, *arguments(values)]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_the_picture_has_the_runs_in_true_units() -> None:
    curves = fa.check(BOUND, gap=[GAP, [1.0, 0.7, 0.2]], **GIVEN).curves()
    assert curves.lhs.tolist() == [GAP, [1.0, 0.7, 0.2]]
    assert curves.rhs[0] == pytest.approx([3 * (11 / 12) ** t for t in range(3)])
    assert curves.unit == "F"
    assert "lower limit" in next(iter(curves.extra))
