"""A worst case names its point: all that decides the answer, and what of it nobody gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from runs import EXAMPLES, named

import fedaudit as fa
from fedaudit import cli
from fedaudit.commands.worst import as_text
from fedaudit.verify.moves.audit import read
from fedaudit.verify.worst.ordinary import proposed
from fedaudit.verify.worst.worst import Worst, worst

GD = str(EXAMPLES / "gradient_descent.py")
ONE_STEP, CONTRACTION = (f"sampled_fedavg.py::sampled-fedavg/{name}" for name in ("one-step", "contraction"))
SAMPLED = {"L": Fraction(2), "mu": Fraction(1), "gamma": Fraction(1, 4)}
Call = Callable[..., tuple[int, str, str]]


def text(name: str, **values: object) -> tuple[Worst, list[str]]:
    """The answer at these values, and its lines for people."""
    statement = named(name)
    (answer,) = worst(statement, {letter: Fraction(str(x)) for letter, x in values.items()})
    return answer, as_text(statement, [answer]).splitlines()


def line(lines: Sequence[str], head: str) -> str:
    return next(one.removeprefix(f"  {head}").strip() for one in lines if one.startswith(f"  {head}"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setattr("fedaudit.progress.FIRST", 3600.0)

    def call(*argv: str) -> tuple[int, str, str]:
        status = cli.main(["worst", *argv])
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


# --- sampled clients -------------------------------------------------------------------------------------------------


def test_as_many_sampled_clients_as_there_are_is_said_where_m_is_not_given() -> None:
    answer, lines = text(CONTRACTION, **SAMPLED)
    assert answer.holds
    assert (answer.point["m"], answer.chosen) == ("2", ("C", "E", "T", "t", "p", "m"))
    assert lines[0].endswith("at C = 2, E = 1, T = 1, L = 2, mu = 1, gamma = 1/4, t = 0, p = 1/2, m = 2")
    assert line(lines, "not given") == "C = 2, E = 1, T = 1, t = 0, p = 1/2, m = 2; m is the number of clients"
    assert line(lines, "so") == (
        "it holds with as many clients drawn as there are (m = 2), which was not given: ask for fewer with m=1"
    )


def test_with_one_of_two_clients_it_fails() -> None:
    answer, lines = text(CONTRACTION, **SAMPLED, m=1)
    assert answer.refuted
    assert answer.lower is not None
    assert answer.lower > 10_000
    assert answer.certificate is not None
    assert answer.certificate["instance"]["participation"] == {"kind": "without_replacement", "m": 1}
    assert "m" not in answer.chosen
    assert "m = 1" in lines[0]
    assert line(lines, "so") == "it fails there"


def test_m_that_is_given_is_what_the_answer_is_about() -> None:
    answer, lines = text(ONE_STEP, **SAMPLED, m=1)
    assert answer.holds
    assert answer.proof is not None
    assert answer.proof["point"]["participation"]["m"] == 1
    assert line(lines, "so") == "it holds there"


def test_a_method_that_samples_says_how_where_the_statement_does_not() -> None:
    statement = named(ONE_STEP)
    statement = replace(statement, let=statement.let[:-1])
    (answer,) = worst(statement, SAMPLED)
    assert (answer.point["m"], answer.point["sampling"]) == ("2", "without_replacement")
    assert {"m", "sampling"} <= {*answer.chosen}
    (answer,) = worst(statement, SAMPLED | {"m": Fraction(1)})
    assert answer.certificate is not None
    assert answer.certificate["instance"]["participation"]["m"] == 1


def test_ordinary_points_of_sampled_clients_are_named_with_m() -> None:
    reading, _ = read(named(ONE_STEP))
    points = [variants[0][1][0] for variants in proposed(reading) if variants]
    assert points[0].name == "kappa 2, C 2, m 2, E 1, t 0"
    assert all({"C", "E", "T", "L", "mu", "gamma", "m", "p"} <= {*point.told} for point in points)


# --- everything else that decides the answer -------------------------------------------------------------------------


def test_constants_that_were_taken_as_0_and_those_left_open_are_said() -> None:
    answer, lines = text("li_partial.py::li/thm3", L=2, mu=1, m=1)
    assert (answer.point["sigma"], answer.point["noise"], answer.point["G"]) == ("0", "none", "any")
    assert line(lines, "not given") == "C = 2, E = 2, T = 1, sigma = 0, t = 1, G = any, p = 1/2, noise = none"
    assert line(lines, "so") == "it holds there without noise"


def test_nothing_is_said_of_what_was_given() -> None:
    answer, lines = text("gradient_descent.py::gd/rate", L=3, C=1, E=1, T=1, p=1)
    assert answer.chosen == ()
    assert not any(one.startswith("  not given") for one in lines)


def test_weights_that_were_not_given_are_said_one_by_one(run: Call) -> None:
    weights = ["p(1)=1/2", "p(2)=1/4"]
    status, out, _ = run(f"{EXAMPLES / 'fedlin.py'}::fedlin/rate", "L=2", "mu=1", "C=3", "E=1", *weights, "p(3)=1/4")
    assert status == 0
    assert "p(1) = 1/2, p(2) = 1/4, p(3) = 1/4" in out.splitlines()[0]
    assert "p" not in line(out.splitlines(), "not given")
    status, _, err = run(f"{EXAMPLES / 'fedlin.py'}::fedlin/rate", "L=2", "mu=1", "C=3", "E=1", *weights)
    assert status == 2
    assert "p(1) = 1/2, p(2) = 1/4, t = 0, p(3) = 1/3 (point: got a failure of weights_sum_to_one" in err


@pytest.mark.parametrize(
    ("values", "point", "chosen"),
    [
        ({"L": 3, "mu": 0}, {"mu": "0"}, ()),
        ({"L": 3}, {"mu": "none (losses need not be convex)"}, ("mu",)),
        ({"L": 3, "mu": 1}, {"mu": "1"}, ()),
        ({"mu": 0}, {"mu": "0", "L": "none (losses need not be smooth)"}, ("L",)),
    ],
)
def test_a_question_about_a_method_says_which_losses_it_is_about(
    values: dict[str, int], point: dict[str, str], chosen: tuple[str, ...]
) -> None:
    answer = fa.worst(GD, measure="gap(T)", scale="dist2(0)", gamma="1/3", **values)
    assert point.items() <= answer.point.items()
    assert answer.chosen == ("C", "E", "T", "p", *chosen)


def test_programs_are_told_the_same(run: Call) -> None:
    status, out, _ = run(str(EXAMPLES / ONE_STEP), "L=2", "mu=1", "gamma=1/4", "--json")
    (row,) = json.loads(out)
    assert status == 0
    assert row["point"] == {
        "C": "2", "E": "1", "T": "1", "L": "2", "mu": "1", "gamma": "1/4", "t": "0", "p": "1/2", "m": "2"
    }  # fmt: skip
    assert row["chosen"] == ["C", "E", "T", "t", "p", "m"]


def test_where_nothing_bounds_it_no_number_is_made_up(run: Call) -> None:
    status, out, _ = run(GD, "--measure", "gap(T)", "--scale", "dist2(0)", "mu=0", "gamma=1/3")
    assert status == 0
    assert line(out.splitlines(), "worst case") == "nothing was found that bounds it"


def test_both_ends_are_rounded_outwards() -> None:
    """Once: between 1 and 1, of ends that are not equal."""
    answer, _ = text("gradient_descent.py::gd/rate", L=3, T=1)
    ends = {"lower": Fraction(1) - Fraction(1, 10**13), "upper": Fraction(1) + Fraction(1, 10**13)}
    lines = as_text(named("gradient_descent.py::gd/rate"), [replace(answer, **ends)]).splitlines()
    assert line(lines, "worst lhs/rhs") == "between 0.999999999 and 1.00000001"


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        (
            ONE_STEP,
            ["m=3"],
            "got m=3, expected a whole number from 1 to C = 2; do: write it like m=1, or give a larger C",
        ),
        (ONE_STEP, ["m=1/2"], "got m=1/2, expected a whole number from 1 to C = 2"),
        (ONE_STEP, ["m=0"], "got m=0, expected a whole number from 1 to C = 2"),
        ("fedlin.py::fedlin/rate", ["m=1"], "got m, which fedlin/rate does not know"),
        ("fedlin.py::fedlin/rate", ["p(3)=0"], "got p(3), expected the weight of a client from 1 to C = 2"),
        (
            ONE_STEP,
            ["L(1)=3"],
            "got L(1), a value at an index, expected one value for L, indices for p alone; do: write L=3",
        ),
    ],
)
def test_values_that_decide_nothing_are_refused(run: Call, name: str, values: list[str], says: str) -> None:
    more = ["gamma=1/4"] if name == ONE_STEP else []
    status, out, err = run(str(EXAMPLES / name), "L=2", "mu=1", *more, *values)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err
