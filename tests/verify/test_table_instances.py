"""Worst cases as instances like any other: arrays run them, they are shrunk, drawn and told in words."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import EXAMPLES, named
from test_worst import FEDAVG, GLOSSARY, L, T, dist2, fedavg, gap, values

import fedaudit as fa
from fedaudit import cli
from fedaudit.figures.words.instances import told
from fedaudit.figures.words.letters import Inline, Letters
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.settings.base import Reading
from fedaudit.verify.worst.parameters import points_of as points_at
from fedaudit.verify.worst.picture import along_run
from fedaudit.verify.worst.smaller import shrunk
from fedaudit.verify.worst.worst import Worst, worst, worst_at

GD = str(EXAMPLES / "gradient_descent.py")


@pytest.fixture(scope="module")
def two_clients() -> Worst:
    B = next(head for head in fedavg(None).glossary if str(head) == "B")
    point = values(L=1, mu="1/10", gamma="1/2", R=1, zeta=1, B=1, C=2, E=2, T=1)
    (made,) = worst(fedavg(fa.Le(gap(1), B)), point)
    return made


def plain_gd(then: Any) -> fa.Statement:
    return fa.Statement(
        id="fedavg/late", kind="inequality", title="FedAvg", cite="made up", method=FEDAVG, glossary=GLOSSARY,
        let=(fa.Assumption("smooth", (L,)), fa.Assumption("convex"), fa.Assumption("weights_sum_to_one")), then=then,
    )  # fmt: skip


def instance(made: Worst) -> dict[str, Any]:
    assert made.certificate is not None
    return made.certificate["instance"]


def test_arrays_run_a_table_as_the_kernel_does(two_clients: Worst) -> None:
    held = instance(two_clients)
    problem = fa.Problem.table(held["clients"], held["p"], held["w_star"])
    start = [float(Fraction(x)) for x in held["w0"]]
    made = fa.simulate(fedavg(None).method, problem, rounds=1, steps=2, start=start, gamma=0.5)
    assert two_clients.certificate is not None
    lhs = float(Fraction(two_clients.certificate["lhs"]))
    assert made["gap"][1] == pytest.approx(lhs, rel=1e-9)
    assert made["dist2"][0] == pytest.approx(sum(x * x for x in start), rel=1e-9)


def test_a_table_answers_nothing_elsewhere(two_clients: Worst) -> None:
    held = instance(two_clients)
    problem = fa.Problem.table(held["clients"], held["p"])
    with pytest.raises(ValueError, match="a point of its table"):
        problem.grad(0, np.full(problem.dim, 17.0))
    start = [float(Fraction(x)) for x in held["w0"]]
    with pytest.raises(ValueError, match="a point of its table"):
        fa.simulate(fedavg(None).method, problem, rounds=1, steps=2, start=start, gamma=0.25)


# --- shrinking -------------------------------------------------------------------------------------------------------


def test_a_counterexample_is_shrunk_to_fewer_rounds_dimensions_and_digits() -> None:
    statement = named("gradient_descent.py::gd/too-good")
    reading, _ = read(statement)
    (points,) = points_at(reading, values(L="7/3", C=1, E=1, T=3))
    found = worst_at(reading, points[0])
    assert found.refuted
    made = shrunk(reading, points[0], found)
    kernel.check(made)
    assert (made["instance"]["T"], made["instance"]["d"]) == (1, 1)
    assert len(str(made["instance"])) < len(str(instance(found)))


def test_what_does_not_refute_is_not_taken_for_simpler() -> None:
    """Below round 3 the bound is generous."""
    late = fa.Le(gap(T), 10 * dist2(0) / T**6)
    reading = Reading(lower(plain_gd(late)))
    (points,) = points_at(reading, values(L=1, gamma=1, C=1, E=1, T=4))
    found = worst_at(reading, points[0])
    assert found.refuted
    made = shrunk(reading, points[0], found)
    kernel.check(made)
    assert made["instance"]["T"] == 4


def plain(clauses: list[list[str | Inline]]) -> str:
    return "; ".join("".join(x.latex if isinstance(x, Inline) else x for x in clause) for clause in clauses)


def test_a_table_is_told_in_words(two_clients: Worst) -> None:
    (too_good,) = worst(named("gradient_descent.py::gd/too-good"), values(L=1, T=1))
    assert too_good.certificate is not None
    said = plain(told(too_good.certificate, Letters({})))
    assert "one client with f any function with curvatures from 0 to 1 and, at the 3 points that the run reads" in said
    assert r"\nabla f(" in said
    assert two_clients.certificate is not None
    said = plain(told(two_clients.certificate, Letters({})))
    # f_i where the solver of this machine gives both clients one table, as it may: then they are told together
    assert re.match(r"two clients with f_\{[1i]\} any function with curvatures from 1/10 to 1", said)


def test_a_table_of_a_regulariser_is_told_in_words() -> None:
    points = [{"x": ["0"], "g": ["1"], "f": "0"}, {"x": ["1"], "g": ["1"], "f": "1"}]
    client = {"kind": "quadratic", "A": [["1"]], "b": ["0"]}
    data = {"C": 1, "d": 1, "E": 1, "T": 1, "p": ["1"], "w0": ["1"], "clients": [client], "noise": {"kind": "none"}}
    data |= {"constants": {}, "regulariser": {"kind": "table", "points": points}}
    said = plain(told({"instance": data, "claim": {"setting": "run"}}, Letters({})))
    assert r"g any convex function with 2 given points, where the run reads it, g(0) = 0, \nabla g(0) = 1" in said


# --- pictures --------------------------------------------------------------------------------------------------------


def test_the_worst_run_is_drawn_along_its_rounds() -> None:
    """gap(T) <= L |x_0 - x*|^2 / (4 T + 2), which is attained after the last of all rounds."""
    statement = named("gradient_descent.py::gd/rate")
    (made,) = worst(statement, values(L=3, T=4))
    curves = along_run(statement, made.certificate or {})
    assert curves is not None
    assert curves.x.tolist() == [1, 2, 3, 4]
    ratio = curves.lhs[0] / curves.rhs[0]
    assert ratio[-1] == pytest.approx(1)
    assert (ratio[:-1] < 1).all()


def test_one_place_makes_no_picture() -> None:
    statement = named("gradient_descent.py::gd/rate")
    (made,) = worst(statement, values(L=3, T=1))
    assert along_run(statement, made.certificate or {}) is None


def test_the_command_keeps_a_picture_of_the_run(tmp_path: Path) -> None:
    assert cli.main(["worst", f"{GD}::gd/rate", "L=3", "T=2", "--out", str(tmp_path)]) == 0
    pictures = [path for path in tmp_path.iterdir() if path.suffix == ".png"]
    assert [path.name for path in pictures] == ["gd-rate.0.run.png"]
    assert pictures[0].read_bytes().startswith(b"\x89PNG")
