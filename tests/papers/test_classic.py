"""The calibration set: theorems whose exact worst cases are known, and what the tool says of them at one point each.

`value` is the known worst case, its formula beside it, of a run whose start is at distance 1 (or has gap 1, or falls by
1) and whose clients disagree by 1. It is typed from the literature; the statement's right side has to agree with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from marks import slow, some
from places import TESTS
from sympy import Le, Rational

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import papers, statement, statements
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.checks import lint
from fedaudit.verify import kernel
from fedaudit.verify.certify.command import certify
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.settings.base import Reading
from fedaudit.verify.worst.parameters import points_of
from fedaudit.verify.worst.worst import Worst, worst_at

LOWER, UPPER, SHORTER = Fraction(999, 1000), Fraction(101, 100), Rational(99, 100)


@dataclass(frozen=True)
class Known:
    """A point, and the worst case there."""

    at: dict[str, Any]
    value: float


def theta(N: int) -> float:
    """Kim and Fessler 2016, (6.3): theta_0 = 1, theta_t (theta_t - 1) = theta_(t-1)^2, twice that in the last step."""
    now = 1.0
    for t in range(1, N + 1):
        now = (1 + sqrt(1 + (8 if t == N else 4) * now**2)) / 2
    return now


HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
# What the issue of calibration lists, and where it is from, is in the statements' own citations.
KNOWN: dict[str, Known] = {
    "gd-rate": Known({"L": 3, "h": 1, "T": 4}, 0.1666667),  # L R^2/(4 N h + 2)
    "gd-gradient": Known({"L": 2, "h": HALF, "T": 3}, (2 / (3 / 2 + 1)) ** 2),  # (L R/(N h + 1))^2
    "gd-gradient-gap": Known({"L": 2, "h": HALF, "T": 3}, 2 * 2 / (2 * 3 / 2 + 1)),  # 2 L Delta/(2 N h + 1)
    "gd-contraction": Known({"L": 1, "mu": TENTH, "h": 1, "T": 1}, 0.81),  # max((1 - gamma mu)^2, (1 - gamma L)^2)^N
    "gd-contraction-gap": Known({"L": 1, "mu": TENTH, "h": 1, "T": 2}, 0.9**4),
    "gd-contraction-gradient": Known({"L": 1, "mu": TENTH, "h": Fraction(19, 10), "T": 2}, 0.9**4),
    "gd-fall": Known({"L": 2, "h": HALF, "T": 1}, 1.0),  # gamma (1 - gamma L/2) |g|^2 against the fall itself
    "gd-nonconvex": Known({"L": 1, "h": 1, "T": 5}, 0.2666667),  # 4 L/(N h (4 - h))
    # ((L - mu)/(L + mu))^(2 N) at gamma = 2/(L + mu)
    "exact-line-search": Known({"L": 3, "mu": TENTH, "gamma": Fraction(20, 31), "T": 1}, 0.87513),
    # ((L_eps - mu_eps)/(L_eps + mu_eps))^(2 N) with L_eps = 3.3 and mu_eps = 0.09
    "inexact-gradient": Known({"L": 3, "mu": TENTH, "eps": TENTH, "T": 2}, 0.8039357),
    # M R/sqrt(N + 1) at gamma = R/(M sqrt(N + 1)); a rational near it has the same seven digits
    "subgradient": Known({"M": 2, "step_size": Fraction(377, 2500), "T": 10}, 0.6030227),
    "subgradient-best": Known({"M": 2, "step_size": Fraction(377, 2500), "T": 10}, 0.6030227),
    "halpern": Known({"L": 1, "T": 10}, 0.0330579),  # 4 R^2/(N + 1)^2
    "accelerated": Known({"L": 1, "T": 10}, 0.0128205),  # 2 L R^2/(N^2 + 5 N + 6)
    "proximal-point": Known({"step_size": TENTH, "T": 3}, 0.8333333),  # R^2/(4 gamma N)
    "proximal-gradient": Known({"L": 2, "h": 1, "T": 3}, 2 / (4 * 3)),  # L R^2/(4 N h)
    "proximal-gradient-contraction": Known({"L": 1, "mu": TENTH, "h": 1, "T": 2}, 0.6561),
    "proximal-gradient-contraction-gap": Known({"L": 1, "mu": TENTH, "h": 1, "T": 2}, 0.6561),
    "fedavg-agree": Known({"L": 1, "mu": TENTH, "h": HALF, "C": 2, "E": 2, "T": 2}, (1 - 0.05) ** 8),
    "fedavg-two-clients": Known({"L": 1, "mu": TENTH, "T": 1}, 0.868043),  # no formula is known
}  # fmt: skip
# Weights a_t = 2 theta_t and theta_4 of the optimized gradient method, rounded down: then they meet the conditions.
WEIGHTS = {"pull": ["2", "3236/1000", "4387/1000", "5499/1000"]}
OPTIMAL = {"L": 3, "T": 4, "last": Fraction(442, 100)}
UNIT = ("dist2", "gap", "star2", "grad2")  # of what the right sides speak of at the start
LOOSE = {"accelerated-strong", "fedavg-round"}  # upper bounds, whose worst cases have no formula


def names() -> list[str]:
    return [made.id.removeprefix("classic/") for made in statements(["classic"])]


def scaled(made: Statement, factor: Any) -> Statement:
    (relation,) = made.relations
    return replace(made, then=Le(relation.lhs, factor * relation.rhs, evaluate=False))


def right_side(made: Statement, at: dict[str, Any]) -> float:
    """At the point, of a start of size 1."""
    (relation,) = made.relations
    numbers = {str(s): value for s, value in at.items()}
    rhs = made.defined(relation.rhs).doit()
    rhs = rhs.replace(lambda e: e.func.__name__ == "level", lambda e: 1 if e.args[0] == 0 else 0)
    rhs = rhs.replace(lambda e: e.func.__name__ in UNIT and e.args == (0,), lambda _: 1)
    return float(rhs.subs({s: numbers[str(s)] for s in rhs.free_symbols}))


def optimized(made: Statement) -> Worst:
    """The worst case with step sizes that differ, which `worst` takes as they stand in the point."""
    reading = Reading(lower(made))
    given = {name: Fraction(x) for name, x in {**OPTIMAL, "C": 1, "E": 1, "pull": 1}.items()}
    ((point,),) = list(points_of(reading, given))
    return worst_at(reading, replace(point, data={**point.data, "steps": WEIGHTS}))


def both_ends(name: str, factor: Any = 1) -> Worst:
    made = scaled(statement(f"classic/{name}"), factor)
    if name == "optimized-gradient":
        return optimized(made)
    return fa.worst(made, **KNOWN[name].at)


def test_the_set_is_no_paper_of_the_catalogue_and_says_so() -> None:
    contract = (TESTS / "catalogue_ids.txt").read_text().split()
    assert {name.split("/")[0] for name in contract} == set(papers()) - {"classic"}
    assert len(names()) >= 20
    assert set(names()) == set(KNOWN) | LOOSE | {"optimized-gradient"}
    for made in statements(["classic"]):
        assert not lint(made, {}), made.id
        assert re.search(r"\b(19|20)\d\d\b", made.cite) or made.cite.startswith(("computed", "folklore"))


@pytest.mark.parametrize("name", KNOWN)
def test_the_right_side_at_the_point_is_the_known_worst_case(name: str) -> None:
    rounded_up = 1e-4 if name == "fedavg-two-clients" else 1e-7  # its multipliers have four digits
    assert right_side(statement(f"classic/{name}"), KNOWN[name].at) == pytest.approx(KNOWN[name].value, abs=rounded_up)


def test_the_right_side_of_the_optimized_gradient_method() -> None:
    total = sum(map(Fraction, WEIGHTS["pull"])) + OPTIMAL["last"]
    assert 3 / (2 * theta(4) ** 2) == pytest.approx(0.0767518, rel=1e-6)  # L R^2/(2 theta_N^2)
    assert 3 / (2 * float(total)) == pytest.approx(0.0767518, rel=1e-3)


@pytest.mark.parametrize("name", some([*KNOWN, "optimized-gradient"], 4, "two programmes each"))
def test_both_ends_meet_the_known_worst_case(name: str) -> None:
    found = both_ends(name)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower >= LOWER
    assert found.upper <= UPPER
    assert found.certificate is not None
    sides = kernel.evaluate(found.certificate["claim"], found.certificate["instance"], (), found.certificate["at"])
    assert Fraction(str(sides[0])) / Fraction(str(sides[1])) == found.lower
    assert certify(dict(found.proof or {}), "proof", [])["accepted"]


@pytest.mark.parametrize("name", [*KNOWN, "optimized-gradient"])
def test_a_right_side_that_is_a_hundredth_shorter_falls(name: str) -> None:
    found = both_ends(name, SHORTER)
    assert found.refuted
    assert found.certificate is not None
    made = found.certificate
    assert not kernel.evaluate(made["claim"], made["instance"], (), made["at"])[2]


def test_a_step_that_is_not_the_best_length_for_the_worst_function_is_better() -> None:
    """Any step may be an exact line search; of all of them 2/(L + mu) has the worst case."""
    made = statement("classic/exact-line-search")
    ends = [fa.worst(made, L=3, mu=TENTH, T=1, gamma=gamma) for gamma in (HALF, Fraction(20, 31), 2)]
    assert all(one.holds for one in ends)
    assert all(one.upper is not None and one.upper < LOWER for one in (ends[0], ends[2]))


def test_quadratics_do_not_reach_the_worst_round_of_two_clients() -> None:
    """0.8489 is what they reach at this point, 0.868043 is what can happen."""
    name = "fedavg-two-clients"
    found = both_ends(name)
    assert found.lower is not None
    assert float(found.lower) * right_side(statement(f"classic/{name}"), KNOWN[name].at) > 0.868


@slow("one search for each theorem")
@pytest.mark.parametrize("name", names())
def test_no_theorem_falls(name: str) -> None:
    assert isinstance(fa.hunt(f"classic/{name}", budget=5), fa.Survived)
