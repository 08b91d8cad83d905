"""Worst cases over all functions and dimensions: both ends against known values, and everything the kernel refuses."""

from __future__ import annotations

import copy
import json
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from marks import slow
from runs import EXAMPLES, named

import fedaudit as fa
from fedaudit import cli
from fedaudit.bounds.language.rule_expressions import g
from fedaudit.commands.worst import as_text
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import hunt, read
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.settings.base import Reading
from fedaudit.verify.worst.blocks import blocks
from fedaudit.verify.worst.cone import smallest
from fedaudit.verify.worst.faces import Face, Near, distinct
from fedaudit.verify.worst.methods import question
from fedaudit.verify.worst.parameters import ONE, points_of
from fedaudit.verify.worst.profile import examined, profile
from fedaudit.verify.worst.upper import Equations
from fedaudit.verify.worst.worst import Worst, worst, worst_at

GD = str(EXAMPLES / "gradient_descent.py")


def values(**given: object) -> dict[str, Fraction]:
    return {name: Fraction(str(x)) for name, x in given.items()}


def both_ends_are_exact(made: Worst) -> None:
    """The kernel replays the instance to the same sides, and accepts the proof of the same factor."""
    assert made.certificate is not None
    assert made.proof is not None
    held = made.certificate
    lhs, rhs, _ = kernel.evaluate(held["claim"], held["instance"], (), held["at"])
    assert (kernel.claimed(lhs), kernel.claimed(rhs)) == (held["lhs"], held["rhs"])
    assert Fraction(str(lhs / rhs)) == made.lower
    assert Fraction(str(kernel.prove(made.proof).factor)) == made.upper


def close(made: Worst, known: float) -> None:
    both_ends_are_exact(made)
    assert made.lower is not None
    assert made.upper is not None
    assert 0.999 * known <= made.lower <= made.upper <= 1.01 * known


# --- FedAvg, as in the papers on performance estimation --------------------------------------------------------------

GLOSSARY = fa.Glossary()
C, E, T = GLOSSARY.count("C", "clients"), GLOSSARY.count("E", "local steps"), GLOSSARY.count("T", "rounds")
t = GLOSSARY.index("t", "round")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity")
R, zeta = GLOSSARY.symbol("R", "W", "distance at the start"), GLOSSARY.symbol("zeta", "F/W", "dissimilarity at w*")
B, S = GLOSSARY.symbol("B", "F", "what bounds the gap"), GLOSSARY.symbol("S", "W^2", "what bounds the distance")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "f(x_t) - f*", nonnegative=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "|x_t - x*|^2", nonnegative=True)
slope2 = GLOSSARY.quantity("slope2", "F^2/W^2", "the mean of |grad f_i(w*)|^2", nonnegative=True)
x, y = fa.vector("x"), fa.vector("y")
FEDAVG = fa.Method(
    id="fedavg", title="FedAvg", cite="made up", glossary=GLOSSARY,
    server={x: fa.start}, client={y: x}, begin={y: x}, local={y: y - gamma(t) * fa.grad(y)}, update={x: fa.mean(y)},
    measures={
        gap(t): fa.expect(fa.f(x)) - fa.f_star,
        dist2(t): fa.expect(fa.norm2(x - fa.w_star)),
        slope2(t): fa.expect(fa.mean(fa.norm2(fa.grad(fa.w_star)))),
    },
)  # fmt: skip


def scales(then: Any) -> dict[Any, Any]:
    """What the left side is measured by may be anything."""
    return {s: fa.free(s.name) for s in (B, S) if then is not None and then.has(s)}


def fedavg(then: Any) -> fa.Statement:
    return fa.Statement(
        id="fedavg/worst", kind="inequality", title="FedAvg", cite="made up", method=FEDAVG, glossary=GLOSSARY,
        let=(
            fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (mu,)), fa.Assumption("weights_sum_to_one"),
            fa.Assumption("near", (R,), means=fa.Le(dist2(0), R**2)),
            fa.Assumption("alike", (zeta,), means=fa.Le(slope2(0), zeta**2)),
        ),
        then=then, sweep=scales(then),
    )  # fmt: skip


ORDINARY = values(L=1, mu="1/10", gamma="1/2", R=1, zeta=1)
KNOWN = [(2, 2, 1, 0.174750), (2, 4, 1, 0.222981), (2, 2, 2, 0.105942), (5, 2, 2, 0.105942)]


@pytest.mark.parametrize(("clients", "steps", "rounds", "known"), KNOWN)
def test_the_gap_of_fedavg_is_what_was_known(clients: int, steps: int, rounds: int, known: float) -> None:
    (made,) = worst(fedavg(fa.Le(gap(T), B)), ORDINARY | values(B=1, C=clients, E=steps, T=rounds))
    close(made, known)


@slow("half a minute")
def test_ten_clients_are_solved_as_one() -> None:
    (made,) = worst(fedavg(fa.Le(gap(T), B)), ORDINARY | values(B=1, C=10, E=2, T=2))
    close(made, 0.105942)
    assert (made.leaves, made.blocks) == (60, (6, 6))


def test_one_round_of_two_clients_in_distance() -> None:
    (made,) = worst(fedavg(fa.Le(dist2(T), S)), ORDINARY | values(S=1, C=2, E=2, T=1))
    close(made, 0.868043)


def test_clients_with_other_weights_are_not_taken_for_equal() -> None:
    point = ORDINARY | values(B=1, C=2, E=1, T=1) | {"p(1)": Fraction(1, 4), "p(2)": Fraction(3, 4)}
    (made,) = worst(fedavg(fa.Le(gap(T), B)), point)
    assert made.blocks == (made.leaves,)
    both_ends_are_exact(made)


def test_symmetry_changes_no_value() -> None:
    reading = Reading(lower(fedavg(fa.Le(gap(T), B))))
    (point,) = next(points_of(reading, ORDINARY | values(B=1, C=2, E=2, T=1)))
    asked = kernel.programme(reading.claim, point.data, point.at)
    reduced = blocks(asked)
    assert len(reduced.bases) == 2
    one = smallest(reduced.cone)
    assert one is not None
    gram, unknowns = reduced.gram(one), reduced.unknowns(one)
    assert np.linalg.eigvalsh(gram)[0] > -1e-7
    place, entry = {n: k for k, n in enumerate(asked.leaves)}, {n: k for k, n in enumerate(asked.unknowns)}

    def value(form: Any) -> float:
        products = sum(float(c) * gram[place[a], place[b]] for (a, b), c in form.gram.items())
        return products + sum(float(c) * unknowns[entry[u]] for u, c in form.linear.items()) + float(form.constant)

    assert min(value(form) for form in asked.constraints.values()) > -1e-6
    assert value(asked.lhs) == pytest.approx(one.factor, rel=1e-5)


# --- tight cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_the_tight_rate_of_gradient_descent_is_attained_and_proved(steps: int) -> None:
    (made,) = worst(named("gradient_descent.py::gd/rate"), values(L=3, T=steps))
    both_ends_are_exact(made)
    assert made.lower == made.upper == 1
    assert made.holds
    assert not made.refuted


def test_measures_against_a_scale() -> None:
    made = fa.worst(GD, measure="gap(T)", scale="dist2(0)", L=3, mu=0, gamma="1/3", T=4)
    assert made.lower == made.upper == Fraction(1, 6)
    made = fa.worst(GD, measure="dist2(T)", scale="dist2(0)", L=1, mu="0.1", gamma=1, T=1)
    assert made.lower == made.upper == Fraction(81, 100)


def test_the_proximal_point_is_what_was_known() -> None:
    """|x_0 - x*|^2 / (4 gamma N), which a regulariser that is linear near its minimum attains."""
    glossary = fa.Glossary()
    k = glossary.index("t", "step")
    step = glossary.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
    value = glossary.quantity("gap", "F", "g(x_t) - g*", nonnegative=True)
    far = glossary.quantity("dist2", "W^2", "|x_t - x*|^2", nonnegative=True)
    method = fa.Method(
        id="proximal-point", title="Proximal point", cite="Rockafellar 1976", glossary=glossary,
        server={x: fa.start}, client={y: x}, begin={y: x}, local={y: fa.prox(y, step(k))}, update={x: fa.mean(y)},
        measures={value(k): fa.expect(g(x) - g(fa.w_star)), far(k): fa.expect(fa.norm2(x - fa.w_star))},
    )  # fmt: skip
    asked = question(method, "gap(T)", "dist2(0)", {})
    (made,) = worst(asked, values(gamma="1/10", T=3), ONE)
    close(made, 5 / 6)
    assert made.upper == Fraction(5, 6)


def test_a_measure_that_nothing_bounds_has_no_upper_end() -> None:
    made = fa.worst(GD, measure="gap(T)", scale="dist2(0)", L=3, mu=0, gamma="1/3", C=2, E=2)
    assert made.upper is None
    assert made.estimate is None
    assert made.proof is None


def test_several_clients_that_are_not_convex_have_both_ends() -> None:
    """w* is a minimiser for sure: every client less its tangent there is least there."""
    (made,) = worst(fa.statement("buttaci/thm4.6-I"), values(L=2, beta="1/2", C=2, E=1, T=1))
    close(made, 4 / 57)
    held: dict[str, Any] = copy.deepcopy(dict(made.certificate or {}))
    assert min(Fraction(client["mu"]) for client in held["instance"]["clients"]) < 0
    held["instance"]["w_star"] = held["instance"]["w0"]
    with pytest.raises(kernel.Rejected, match="w_star"):
        kernel.attains(held)


# --- noise ----------------------------------------------------------------------------------------------------------

sigma = GLOSSARY.symbol("sigma", "F/W", "noise of a stochastic gradient", r"\sigma", nonnegative=True)
NOISY = fa.Method(
    id="noisy", title="FedAvg with noise", cite="made up", glossary=GLOSSARY, server={x: fa.start}, client={y: x},
    begin={y: x}, local={y: y - gamma(t) * fa.noisy(fa.grad(y))}, update={x: fa.mean(y)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star, dist2(t): fa.expect(fa.norm2(x - fa.w_star))},
)  # fmt: skip


def noisy_claim(then: Any, *more: fa.Assumption) -> fa.Statement:
    return fa.Statement(
        id="noisy/worst", kind="inequality", title="FedAvg with noise", cite="made up", method=NOISY, glossary=GLOSSARY,
        let=(
            fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (mu,)), fa.Assumption("weights_sum_to_one"),
            fa.Assumption("bounded_variance", (sigma,)), fa.Assumption("near", (R,), means=fa.Le(dist2(0), R**2)),
            *more,
        ),
        then=then, sweep=scales(then),
    )  # fmt: skip


SGD = values(L=1, mu="1/10", gamma="1/2", R=1, T=1)


@pytest.mark.parametrize(("noise", "steps", "known"), [
    ("0", 1, 0.95**2), ("1", 1, 0.95**2 + 0.25), ("3", 1, 0.95**2 + 9 * 0.25), ("1", 2, 0.95**4 + 0.25 * (1 + 0.95**2)),
])  # fmt: skip
def test_noise_adds_its_variance_to_the_distance(noise: str, steps: int, known: float) -> None:
    """(1 - gamma mu)^2 and gamma^2 sigma^2 more in every step, which the flattest quadratic attains."""
    (made,) = worst(noisy_claim(fa.Le(dist2(T), S)), SGD | values(S=1, sigma=noise, C=1, E=steps))
    close(made, known)
    held, proof = dict(made.certificate or {}), dict(made.proof or {})
    assert held["instance"]["noise"]["kind"] == ("none" if noise == "0" else "signs")
    said = kernel.prove(proof).what
    assert said.endswith(
        "without noise" if noise == "0" else "noise only of the form s v, v of a client and s a fair sign"
    )


def test_the_gap_after_a_noisy_step_is_between_what_it_is_without_noise_and_the_smooth_bound() -> None:
    """E f(x - gamma (g + s v)) <= f(x - gamma g) + L gamma^2 sigma^2/2, whatever the noise is."""
    still, loud = (worst(noisy_claim(fa.Le(gap(T), B)), SGD | values(B=1, sigma=s, C=1, E=1))[0] for s in (0, 1))
    both_ends_are_exact(loud)
    assert still.upper is not None
    assert loud.lower is not None
    assert loud.upper is not None
    assert still.upper < loud.lower <= loud.upper <= still.upper + Fraction(1, 8)


def test_independent_noise_of_two_clients_is_half_as_large_and_shared_noise_is_not() -> None:
    own = fa.Assumption("independent_noise")
    (apart,) = worst(noisy_claim(fa.Le(dist2(T), S), own), SGD | values(S=1, sigma=1, C=2, E=1))
    close(apart, 0.95**2 + 0.25 / 2)
    reading = Reading(lower(noisy_claim(fa.Le(dist2(T), S))))
    (point,) = next(points_of(reading, SGD | values(S=1, sigma=1, C=2, E=1)))
    together = replace(point, data={**point.data, "noise": {"kind": "signs", "shared": True}})
    close(worst_at(reading, together), 0.95**2 + 0.25)
    independent = Reading(lower(noisy_claim(fa.Le(dist2(T), S), own)))
    with pytest.raises(fa.UserError, match="independent_noise"):
        worst_at(independent, together)


def test_a_variance_that_is_counted_too_small_falls_by_noise_alone() -> None:
    rate = Fraction(19, 20) ** 2
    claim = noisy_claim(fa.Le(dist2(T), rate * dist2(0) + gamma(0) ** 2 * sigma**2 / 2))
    (still,) = worst(claim, SGD | values(C=1, E=1))
    (loud,) = worst(claim, SGD | values(sigma=1, C=1, E=1))
    assert still.holds
    assert loud.refuted
    kernel.check(dict(loud.certificate or {}))


def test_what_holds_for_noise_of_signs_is_not_said_of_all_noise() -> None:
    claim = noisy_claim(fa.Le(dist2(T), dist2(0) + gamma(0) ** 2 * sigma**2))
    for noise, kind in ((0, "none"), (1, "signs")):
        (made,) = worst(claim, SGD | values(sigma=noise, C=1, E=1))
        assert made.holds
        assert made.row()["noise"] == kind
        assert ("it holds there for such noise" in as_text(claim, [made])) == (kind == "signs")


def test_too_many_outcomes_are_said_with_sizes_that_fit() -> None:
    with pytest.raises(fa.UserError, match="which fits"):
        worst(noisy_claim(fa.Le(dist2(T), S)), SGD | values(S=1, sigma=1, C=4, E=4))


# --- local problems, oracles that err, losses that are not convex ----------------------------------------------------


@pytest.mark.parametrize("name", ["buttaci/lemB.4", "buttaci/lemC.4"])
def test_losses_that_are_only_bounded_below_have_a_lower_end(name: str) -> None:
    made = [one for one in profile(fa.statement(name), read(fa.statement(name))[0], 0.05).rows if one["lower"]]
    assert made
    assert all(0.98 * one["upper"] <= one["lower"] <= one["upper"] for one in made)


RISK = values(L=2, G=1, M=2)


@pytest.mark.parametrize(("name", "at"), [
    ("yuan/rem2~repaired", values(eta="1/6", T=1)), ("yuan/thm3~full", values(eta="1/16", T=1, b=1)),
])  # fmt: skip
def test_local_problems_are_solved_at_points_of_a_table(name: str, at: dict[str, Fraction]) -> None:
    (made,) = worst(fa.statement(name), RISK | at)
    both_ends_are_exact(made)
    assert made.lower is not None
    assert made.upper is not None
    assert 0.999 * made.upper <= made.lower
    assert {client["kind"] for client in (made.certificate or {})["instance"]["clients"]} == {"table"}


def test_an_oracle_errs_as_much_as_its_accuracy_allows() -> None:
    """lemma 11: exact answers reach less than answers that are within eps, at both ends."""
    ends = [
        worst(fa.statement("yuan/lem11-second"), RISK | values(eta="1/4", b=1, eps=eps))[0] for eps in ("0", "1/100")
    ]
    exact, rough = ends
    for made in ends:
        both_ends_are_exact(made)
    assert exact.lower is not None
    assert exact.upper is not None
    assert rough.lower is not None
    assert rough.upper is not None
    assert rough.lower > 1.5 * exact.lower
    assert rough.upper > 1.5 * exact.upper
    held: dict[str, Any] = copy.deepcopy(dict(rough.certificate or {}))
    assert "oracle" in held["instance"]
    held["instance"]["constants"]["eps"] = "1/200"
    with pytest.raises(kernel.Rejected, match="inexact"):
        kernel.evaluate(held["claim"], held["instance"], (), held["at"])


def test_a_table_without_the_solution_of_a_local_problem_is_refused() -> None:
    (made,) = worst(fa.statement("yuan/rem2~repaired"), RISK | values(eta="1/6", T=1))
    held: dict[str, Any] = copy.deepcopy(dict(made.certificate or {}))
    claim, instance, at = held["claim"], held["instance"], held["at"]
    start = instance["w0"]
    for client in instance["clients"]:
        client["points"] = [point for point in client["points"] if point["x"] in (start, ["0"] * instance["d"])]
    with pytest.raises(kernel.Rejected, match="proximal point in the tables"):
        kernel.evaluate(claim, instance, (), at)
    held = copy.deepcopy(dict(made.certificate or {}))
    for client in held["instance"]["clients"]:
        client["mu"] = "-2"  # some function of that class has steeper slopes elsewhere
    with pytest.raises(kernel.Rejected, match="lipschitz"):
        kernel.evaluate(held["claim"], held["instance"], (), held["at"])


# --- refutations and certificates ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def too_good() -> Worst:
    (made,) = worst(named("gradient_descent.py::gd/too-good"), values(L=1, T=1))
    return made


def test_a_bound_that_is_too_good_is_refuted_by_a_table(too_good: Worst) -> None:
    assert too_good.refuted
    assert too_good.lower == Fraction(7, 6)
    judged = fa.certify(dict(too_good.certificate or {}), GD)
    assert (judged.accepted, judged.what) == (True, "refutation")
    assert {client["kind"] for client in (too_good.certificate or {})["instance"]["clients"]} == {"table"}


def test_certify_takes_proofs(too_good: Worst) -> None:
    judged = fa.certify(dict(too_good.proof or {}), GD)
    assert (judged.accepted, judged.what) == (True, "proof at a point, times 7/6")


@pytest.mark.parametrize("field", ["factor", "multipliers", "point", "claim", "extra"])
def test_proofs_that_were_changed_are_refused(too_good: Worst, field: str) -> None:
    proof: dict[str, Any] = copy.deepcopy(dict(too_good.proof or {}))
    match field:
        case "factor":
            proof["factor"] = "7001/6001"
        case "multipliers":
            proof["multipliers"] = dict(list(proof["multipliers"].items())[1:])
        case "point":
            proof["point"]["T"] = 2
        case "claim":
            proof["claim"]["then"][0][2] = ["*", "2", proof["claim"]["then"][0][2]]
        case _:
            proof["extra"] = 1
    assert not fa.certify(proof, GD).accepted


@pytest.mark.parametrize("part", ["f", "g", "x"])
def test_instances_that_were_changed_are_refused(too_good: Worst, part: str) -> None:
    held: dict[str, Any] = copy.deepcopy(dict(too_good.certificate or {}))
    point = held["instance"]["clients"][0]["points"][-1]
    point[part] = "17/3" if part == "f" else ["17/3"]
    assert not fa.certify(held, GD).accepted


def test_hunt_finds_what_families_of_losses_miss() -> None:
    found = hunt(named("gradient_descent.py::gd/too-good"), 0, 0.1)
    assert isinstance(found, fa.Refuted)
    kernel.check(found.certificate)


def test_hunt_says_the_worst_case_at_a_few_points() -> None:
    row = hunt(fa.statement("buttaci/thm4.1-I"), 0, 0.1).row()
    assert row["verdict"] == "survived"
    assert len(row["worst"]) > 1
    for one in row["worst"]:
        assert one["point"]["L"] in ("2", "10")
        assert one["name"].startswith(f"kappa {one['point']['L']}, C ")
        assert 0.98 * one["upper"] <= one["lower"] <= one["upper"] < 1
        assert Fraction(one["upper_exact"]) >= Fraction(one["lower_exact"])


def test_rows_of_statements_out_of_reach_say_why() -> None:
    statement = fa.statement("fallah/eq105")
    survived = fa.Survived(statement.id, 0.5)
    row = examined(statement, *read(statement), survived).row()
    assert row.pop("out_of_reach") == "out of reach: the operation 'hess'"
    assert {one["by"] for one in row.pop("worst", [])} <= {"search"}
    assert row == survived.row()


def test_an_assumption_that_is_not_known_is_out_of_reach_at_every_point(monkeypatch: pytest.MonkeyPatch) -> None:
    statement, tried = fa.statement("zhang/eqA.38"), list[Any]()

    def programme(*args: Any) -> Any:
        tried.append(args)
        return kernel.programme(*args)

    monkeypatch.setattr("fedaudit.verify.worst.worst.programme", programme)
    found = profile(statement, read(statement)[0], 1.0)
    assert (found.rows, found.left_out, found.why) == ((), (), "out of reach: the assumption prox_pl")
    assert len(tried) == 1


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr("fedaudit.progress.FIRST", 3600.0)

    def call(*argv):
        status = cli.main(["worst", *map(str, argv)])
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


def test_the_command_prints_rows_for_programs(run) -> None:
    status, out, err = run(f"{GD}::gd/rate", "L=3", "T=2", "--json")
    (row,) = json.loads(out)
    assert (status, err) == (0, "")
    assert (row["lower_exact"], row["upper_exact"], row["holds"], row["refuted"]) == ("1", "1", True, False)
    assert row["point"] == {"C": "1", "E": "1", "T": "2", "L": "3", "p": "1"}
    assert row["chosen"] == ["C", "E", "p"]
    assert row["proof"]["format"] == "fedaudit-proof/1"
    assert row["certificate"]["format"] == "fedaudit-instance/1"  # which refutes nothing


def test_the_command_says_it_for_people_and_keeps_both_ends(run, tmp_path) -> None:
    status, out, err = run(f"{GD}::gd/too-good", "L=1", "T=1", "--out", tmp_path)
    assert (status, err) == (0, "")
    assert "7/6, exactly" in out
    assert "it fails there" in out
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["gd-too-good.0.instance.json", "gd-too-good.0.proof.json"]
    assert cli.main(["certify", str(tmp_path), GD, "--json"]) == 0


def test_a_question_about_a_method_claims_nothing(run) -> None:
    status, out, _ = run(GD, "--measure", "gap(T)", "--scale", "dist2(0)", "L=3", "mu=0", "gamma=1/3", "T=4")
    assert status == 0
    at = "C = 1, E = 1, T = 4, L = 3, gamma = 1/3, p = 1, mu = 0"
    assert out.startswith(f"largest gap(T) per dist2(0) at {at}\n  worst case     1/6, exactly\n")
    assert "it holds" not in out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([f"{GD}::gd/rate", "L=3", "C=2"], "condition"),
        ([f"{GD}::gd/rate", "T=2"], "give L too"),
        ([f"{GD}::gd/rate", "L=3", "M=2"], "one of C, E, T"),
        ([f"{GD}::gd/rate", "L=1,2"], "2 combinations"),
        ([f"{GD}::gd/rate", "L=3", "T=1/2"], "whole number"),
        ([f"{GD}::gd/rate", "L=3", "T=50"], "take for example C=1, E=1, T=25, which fits"),
        pytest.param(
            [f"{GD}::gd/rate", "L=3", "T=400"], "take for example C=1, E=1, T=25, which fits", marks=slow("as T = 50")
        ),
        ([GD, "--measure", "gap(T)", "--scale", "dist2(0)", "L=3", "mu=5", "gamma=1"], "curvatures from 5 to 3"),
        ([GD, "--measure", "gap(T)", "--scale", "dist2(0)", "L=3", "nu=5", "gamma=1"], "one of C, E, T, p, L, gamma"),
        ([GD, "--measure", "gap(T)", "--scale", "dist2(0)", "L=3", "mu=0"], "gamma=1/10"),
        ([GD, "L=3"], "names 2 statements"),
        ([GD, "--measure", "gap(T)", "L=3"], "both or none"),
        ([GD, "--measure", "gap(T)", "--scale", "size(0)", "L=3", "gamma=1"], "gap(t), dist2(t)"),
        (["buttaci/thm4.3-II", "L=2", "alpha=1", "C=2", "E=2"], "irrational"),
        (["yuan/thm1", "L=1"], "no claim about runs"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, argv, says) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert says in err
    assert "do:" in err


# --- guesses that become exact ----------------------------------------------------------------------------------------


def fractions(rng: np.random.Generator, *shape: int) -> Any:
    """Small ones, many of them 0."""
    whole = rng.integers(-5, 6, size=shape) * rng.integers(0, 2, size=shape)
    return np.vectorize(lambda a, b: fmpq(int(a), int(b)), otypes=[object])(whole, rng.integers(1, 7, size=shape))


@pytest.mark.parametrize("count", [0, 1, 3, 5, 8])
def test_the_solution_next_to_a_guess_meets_the_equations_and_leaves_it_at_a_right_angle(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        matrix, solution, guess = fractions(rng, count, 6), fractions(rng, 6), fractions(rng, 6)
        right = [sum(row * solution, fmpq(0)) for row in matrix]
        equations = Equations.of(matrix.tolist(), right, 6)
        assert equations is not None
        near = equations.nearest(guess.tolist())
        assert [sum(row * near, fmpq(0)) for row in matrix] == right
        assert sum((guess - near) * (solution - near), fmpq(0)) == 0


def test_equations_that_contradict_each_other_have_no_solution() -> None:
    one, zero = fmpq(1), fmpq(0)
    assert Equations.of([[one, one], [one + one, one + one]], [one, one], 2) is None
    assert Equations.of([[zero, zero]], [one], 2) is None


@pytest.mark.parametrize("count", [0, 2, 4])
def test_floats_call_a_solution_negative_where_it_is(count: int) -> None:
    rng, seen = np.random.default_rng(count), set[bool]()
    for _ in range(40):
        matrix, solution, guess = fractions(rng, count, 5), abs(fractions(rng, 5)), abs(fractions(rng, 5))
        right = [sum(row * solution, fmpq(0)) for row in matrix]
        equations = Equations.of(matrix.tolist(), right, 5)
        near = Near.of(matrix.astype(float).reshape(count, 5), np.array(right, dtype=float))
        assert equations is not None
        assert near is not None
        assert not near.contradict
        least = min(equations.nearest(guess.tolist()))
        assert near.negative(guess.astype(float)) is bool(least < 0)
        seen.add(bool(least < 0))
    assert seen == ({False} if count == 0 else {False, True})


def test_floats_see_equations_that_contradict_each_other_and_leave_open_what_is_too_close() -> None:
    contradictory = Near.of(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([1.0, 1.0]))
    assert contradictory is not None
    assert contradictory.contradict
    assert Near.of(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-11]]), np.array([1.0, 1.0])) is None


def test_a_face_that_is_met_twice_is_looked_at_once() -> None:
    active = np.array([True, False])
    one, other = Face(((Fraction(1),),), active), Face(((Fraction(1),),), ~active)
    assert distinct([one, other, Face(((Fraction(1),),), active.copy())])[1] is other
    assert len(distinct([one, other, one])) == 2


def test_one_run_is_enough_where_the_worst_case_is_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a quarter of what an audit gives a statement, which pays for one point; the least pays for none.

    The least was cut as far as no row of an audit loses its last worst case; what is asked here is how that one ends.
    """
    evaluated, evaluate = list[object](), kernel.evaluate
    monkeypatch.setattr(kernel, "evaluate", lambda *args: (evaluated.append(args), evaluate(*args))[1])
    statement = fa.statement("buttaci/lem4.4")
    (row,) = profile(statement, read(statement)[0], 0.1).rows
    assert row["lower_exact"] == "0"
    assert len(evaluated) == 1


def test_another_solver_proposes_and_the_kernel_decides_the_same() -> None:
    values = {"L": 2, "mu": 1, "alpha": 1, "C": 2, "E": 1, "T": 1}
    own, other = (fa.worst("buttaci/thm4.1-I", solver=solver, **values) for solver in (None, "scs"))
    ends = [own.lower, own.upper, other.lower, other.upper]
    assert None not in ends
    assert float(other.lower) == pytest.approx(float(own.lower), rel=1e-3)
    assert float(other.upper) == pytest.approx(float(own.upper), rel=1e-3)
    assert other.lower <= own.upper
    assert own.lower <= other.upper


@pytest.mark.parametrize("name", ["nope", "ECOS", ""])
def test_a_solver_that_is_not_there_is_said_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["worst", "examples/gradient_descent.py::gd/rate", "L=3", "T=1", "--solver", name])
    said = capsys.readouterr().err.splitlines()[-1]
    assert code == 2
    assert said.startswith(f"fedaudit: got --solver {name}")
    assert "CLARABEL" in said


def test_a_measure_is_asked_of_a_method_and_not_of_a_claim() -> None:
    with pytest.raises(fa.UserError, match=r"a measure beside buttaci/lem4\.1"):
        fa.worst(fa.statement("buttaci/lem4.1"), measure="gap(T)", scale="dist2(0)", T=1)
