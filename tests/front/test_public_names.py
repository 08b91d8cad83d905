"""What `import fedaudit` offers: every name says what it is, with an example that works; results are tables."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import only
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.language import rule_expressions
from fedaudit.progress import told, watched

NAMES = [name for name in fa.__all__ if name != "__version__"]
READERS = ("cast", "dataclass", "get_args", "parts_of", "scalars_of", "sympify", "vector_tree", "vectors_of")
OURS = [name for name in NAMES if not getattr(getattr(fa, name), "__module__", "").startswith("sympy.")]


@pytest.mark.parametrize("name", only(OURS, NAMES, "sympy's own examples, of what is handed on"))
def test_a_public_name_has_an_example_that_works(name: str) -> None:
    said = getattr(fa, name).__doc__ or ""
    example = doctest.DocTestParser().get_doctest(said, {}, name, None, 0)
    assert example.examples, f"{name} has no example"
    found = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(example)
    assert found.failed == 0


def test_every_word_of_rules_and_measures_is_offered_and_in_the_table() -> None:
    """Functions that make vectors, weights or numbers, and the vectors, weights and numbers that have names."""
    words = {
        name
        for name, value in vars(rule_expressions).items()
        if isinstance(value, rule_expressions.Vector | rule_expressions.Weights | rule_expressions.Number)
        or (inspect.isfunction(value) and not name.startswith(("_", "as_")) and name not in READERS)
    } - {"zero"}  # written 0
    assert words <= set(fa.__all__)
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    assert {word for word in words if not re.search(rf"`fa\.{word}\b|, `fa\.{word}\b", page)} == set()


RESULTS = {
    "lint": lambda: fa.lint("yuan/lem5"),
    "derive": lambda: fa.derive("buttaci/lemB.1-kappa"),
    "hunt": lambda: fa.hunt("buttaci/appA-strong-second", budget=0.1),
    "audit": lambda: fa.audit("buttaci/appA-strong-second", budget=0.2),
    "certify": lambda: fa.certify({"format": "<b>"}),
    "bound": lambda: fa.statement("buttaci/lem4.1").bound(E=5, G=2, gamma="1/100"),
    "simulate": lambda: fa.simulate("fedprox", fa.Problem.quadratic([[1.0]], [[1.0]]), rounds=2, gamma=0.5, alpha=0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_rows_and_a_table(name: str) -> None:
    made: Any = RESULTS[name]()
    rows = made.to_records()
    assert rows
    assert all(isinstance(row, dict) for row in rows)
    html = made._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == html.count("</tr>") > 1
    assert "<b>" not in html


def test_a_statement_is_a_formula_in_a_notebook() -> None:
    assert fa.statement("buttaci/lem4.1")._repr_latex_().startswith("$$ ")


def test_progress_is_said_in_notebooks_and_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fedaudit.progress.FIRST", 0.01)
    for wanted, kernel, said in ((None, False, False), (None, True, True), (False, True, False), (True, False, True)):
        with monkeypatch.context() as patched:
            patched.delitem(sys.modules, "ipykernel", raising=False)
            if kernel:
                patched.setitem(sys.modules, "ipykernel", sys)
            with watched("hunt a/b", wanted):
                told("climbing, shape", 1, 2)
                time.sleep(0.3)
            told("nobody listens", 1, 2)
        assert ("hunt a/b: climbing, shape 1 of 2" in capsys.readouterr().err) == said


@pytest.mark.parametrize(
    "move", only(["verify", "hunt"], ["verify", "hunt", "audit"], "an audit is these two, and more")
)
def test_a_function_of_the_callers_own_is_told_how_far_a_move_is(move: str, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, int, int]] = []
    made = getattr(fa, move)("buttaci/lemB.1", budget=0.1, progress=lambda *said: heard.append(said))
    assert made.row()["id"] == "buttaci/lemB.1"
    assert all(0 <= done <= total for _, done, total in heard)
    assert {"exact replays"} < {what for what, _, _ in heard}
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    with watched("hunt a/b", None):
        told("climbing, shape", 1, 2)
        time.sleep(0.3)
    assert "1/2" in capsys.readouterr().err


def test_simulate_tells_every_round() -> None:
    heard: list[int] = []
    fa.simulate(
        "fedprox", fa.Problem.quadratic([[2.0]], [[2.0]]), rounds=3, gamma=0.1, alpha=0,
        progress=lambda _, done, __: heard.append(done),
    )  # fmt: skip
    assert heard == [1, 2, 3]


# --- simulate ---------------------------------------------------------------------------------------------------------


def fedavg(A: Any, b: Any, p: Any, gamma: float, T: int, E: int) -> list[Any]:
    """By definition."""
    w = np.zeros(b.shape[1])
    path = [w]
    for _ in range(T):
        ends = []
        for A_i, b_i in zip(A, b, strict=True):
            y = w
            for _ in range(E):
                y = y - gamma * (A_i @ y - b_i)
            ends.append(y)
        w = sum(p_i * y for p_i, y in zip(p, ends, strict=True))
        path.append(w)
    return path


def problem(C: int = 4, d: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(C, d, d))
    p = rng.uniform(1, 2, C)
    return roots @ roots.transpose(0, 2, 1) + np.eye(d), rng.normal(size=(C, d)), p / p.sum()


def test_a_run_on_ones_own_data_is_the_definition() -> None:
    A, b, p = problem()
    wanted = fedavg(A, b, p, 0.05, 6, 3)
    whole = fa.simulate("fedprox", fa.Problem.quadratic(A, b, p), rounds=6, steps=3, gamma=0.05, alpha=0)
    np.testing.assert_allclose(whole["w"], wanted, rtol=1e-12)
    kinds = {
        "one client": fa.Problem(lambda i, w: A[i] @ w - b[i], 4, 3, weights=p),
        "all clients": fa.Problem(lambda W: np.einsum("cij,cj->ci", A, W) - b, 4, 3, weights=p, batched=True),
    }
    for made in kinds.values():
        run = fa.simulate("fedprox", made, rounds=6, steps=3, gamma=lambda t: 0.05, alpha=0)
        np.testing.assert_allclose(run["w"], wanted, rtol=1e-12)
        assert "no value and no w_star" in run.left_out["gap"]


def test_measures_are_the_definition_too() -> None:
    A, b, p = problem()
    mean_A, mean_b = np.einsum("c,cij->ij", p, A), p @ b
    best = np.linalg.solve(mean_A, mean_b)
    made = fa.simulate("fedprox", fa.Problem.quadratic(A, b, p), rounds=5, steps=2, gamma=0.05, alpha=0)
    far = made["w"] - best
    np.testing.assert_allclose(made["gap"], np.einsum("ti,ij,tj->t", far, mean_A, far) / 2, rtol=1e-10)
    np.testing.assert_allclose(made["dist2"], (far**2).sum(-1), rtol=1e-10)
    by_hand = fa.Problem(
        lambda i, w: A[i] @ w - b[i], 4, 3, weights=p, w_star=best, value=lambda i, w: w @ A[i] @ w / 2 - b[i] @ w
    )
    again = fa.simulate("fedprox", by_hand, rounds=5, steps=2, gamma=0.05, alpha=0)
    np.testing.assert_allclose(again["gap"], made["gap"], rtol=1e-6, atol=1e-12)
    assert made["deviation"].shape == (5, 3, 4)


def test_noise_has_the_variance_that_was_asked_for_and_a_seed() -> None:
    flat = fa.Problem(lambda W: 0 * W, 2, 50, batched=True, weights=[0.5, 0.5])
    given = {"rounds": 1, "gamma": 1, "alpha": 0, "noise": 3.0, "repeats": 400}
    made = fa.simulate("fedprox", flat, seed=1, **given)
    assert made["w"].shape == (400, 2, 50)
    assert (made["w"][:, 1] ** 2).sum(-1).mean() == pytest.approx(9 / 2, rel=0.05)  # of two clients
    np.testing.assert_array_equal(made["w"], fa.simulate("fedprox", flat, seed=1, **given)["w"])
    assert not np.array_equal(made["w"], fa.simulate("fedprox", flat, seed=2, **given)["w"])


def test_repetitions_of_a_run_without_noise_are_alike() -> None:
    A, b, p = problem()
    given = {"rounds": 3, "steps": 2, "gamma": 0.05, "alpha": 0}
    once = fa.simulate("fedprox", fa.Problem.quadratic(A, b, p), **given)
    thrice = fa.simulate("fedprox", fa.Problem.quadratic(A, b, p), repeats=3, **given)
    for name in ("w", "gap", "dist2", "deviation"):
        np.testing.assert_allclose(thrice[name], np.stack([once[name]] * 3), rtol=1e-12)
    assert [row["repeat"] for row in thrice.to_records()] == [0] * 4 + [1] * 4 + [2] * 4


EXAMPLES = ROOT / "examples"


def test_methods_from_a_file_run_too() -> None:
    A, b, _ = problem()
    own = fa.Problem.quadratic(A, b)
    sampled = f"{EXAMPLES / 'sampled_fedavg.py'}::sampled-fedavg"
    made = fa.simulate(sampled, own, rounds=300, steps=2, gamma=0.01, participating=2)
    assert made["dist2"][-1] < made["dist2"][0]
    scaffold = f"{EXAMPLES / 'scaffold.py'}::scaffold"
    symbols = {"rounds": 400, "steps": 3, "gamma": 0.02}
    corrected = fa.simulate(scaffold, own, eta_g=1, **symbols)
    assert corrected["gap"][-1] < 1e-9 * corrected["gap"][0]  # drift is gone; FedAvg's is not
    assert fa.simulate("fedprox", own, alpha=0, **symbols)["gap"][-1] > 1e-6 * corrected["gap"][0]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: fa.Problem.quadratic(A=np.ones((0, 1)), b=np.ones((0, 1))), "one row of b"),
        (lambda: fa.Problem.quadratic(A=[[1.0]], b=[[1.0]], weights=[0.5, 0.5]), "one per client"),
        (lambda: fa.Problem.drawn("bent", clients=0), "a whole number from 1 on"),
        (lambda: fa.Problem.drawn("bent", clients=2, curvature=0), "a number above 0"),
        (lambda: fa.Problem.table([]), "one point or more"),
    ],
)
def test_a_problem_that_is_none_is_one_line(wrong: Callable[[], fa.Problem], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        wrong()


def test_a_file_of_ones_own_may_define_dataclasses(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    before = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    file.write_text(f"{before}@dataclass\nclass Own:\n    x: int = 1\n" + (EXAMPLES / "scaffold.py").read_text())
    assert fa.load(file)
    assert "fedaudit_user_own" not in sys.modules


def test_every_repetition_draws_its_own_clients() -> None:
    A, b, _ = problem()
    sampled = f"{EXAMPLES / 'sampled_fedavg.py'}::sampled-fedavg"
    made = fa.simulate(sampled, fa.Problem.quadratic(A, b), rounds=6, steps=1, gamma=0.05, participating=1, repeats=8)
    assert len(np.unique(made["dist2"][:, -1])) > 4
    assert len(np.unique(made["dist2"][:, 0])) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rounds": 2.5}, "a whole number from 1 on"),
        ({"gamma": None}, "fedprox without gamma"),
        ({"gama": 1}, "did you mean gamma"),
        ({"rounds": 0}, "a whole number from 1 on"),
        ({"start": [1, 2]}, "(1,)"),
        ({"participating": 1}, "leave it out"),
        ({"method": "composite"}, "prox"),
        ({"method": "fedproxx"}, "a method"),
        ({"problem": [1]}, "a fa.Problem"),
        ({"gamma": [1, 2, 3]}, "one per round"),
    ],
)
def test_what_cannot_be_simulated_is_one_line(change: dict[str, Any], expected: str) -> None:
    own = fa.Problem.quadratic([[1.0]], [[1.0]])
    given = {"method": "fedprox", "problem": own, "rounds": 2, "gamma": 0.5, "alpha": 0, **change}
    given = {name: value for name, value in given.items() if value is not None}
    with pytest.raises(fa.UserError) as caught:
        fa.simulate(given.pop("method"), given.pop("problem"), **given)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: fa.Problem.quadratic([[1.0]], [[1.0, 2.0]]), "make them agree"),
        (lambda: fa.Problem(lambda W: W, 2, 1, weights=[1, 1]), "sum to 1"),
        (lambda: fa.Problem(lambda W: W, 0, 1), "a whole number from 1 on"),
        (lambda: fa.Problem(lambda W: W, 1, 1, w_star=[1, 2]), "one number per dimension"),
    ],
)
def test_a_problem_that_does_not_fit_is_one_line(make: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        make()
