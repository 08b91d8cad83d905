"""`fa.conform`: right loops agree to 1e-10, every known slip is told from the algorithm and from all others."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import training_loops as loops
from marks import some
from places import ROOT

import fedaudit as fa
from fedaudit.api.conformance import stated_algorithms
from fedaudit.verify.conform.deviations import DEVIATIONS, changes

LOOPS = {
    "fedavg": loops.fedavg,
    "fedprox": loops.fedprox,
    "scaffold": loops.scaffold,
    "fednova": loops.fednova,
    "fedadam": loops.fedadam,
    "fedavgm": loops.fedavgm,
    "feddyn": loops.feddyn,
    "per-fedavg": loops.per_fedavg,
    "per-fedavg-fo": lambda slip="": loops.per_fedavg(slip, hessian=False),
    "pfedme": loops.pfedme,
    "feddr": loops.feddr,
}
# where it was seen (a row of the list of deviations), method, slip of tests/training_loops.py, its name, in words
SEEN = (
    ("flwr 1.41, FedProx's docstring; flower pull 2210", "fedprox", "norm", "norm-for-square", "the norm of y - x"),
    ("flwr 1.41, an empty generator; flower pull 1654; openfl pull 1634", "fedprox", "lost", "lost-term", "mu (y - x)"),
    ("openfl pull 1634, one step late", "fedprox", "previous", "wrong-point", "one step earlier"),
    ("FedProx (authors' code) issue 10", "fedprox", "mean", "weights", "share of the data"),
    ("flwr 1.41 FedAdam", "fedadam", "corrected late", "bias-correction", "round + 2"),
    ("flwr 1.41 FedAdam, the usual exponent", "fedadam", "corrected", "bias-correction", "round + 1"),
    ("flwr 1.41 FedAdam, second moment", "fedadam", "v starts at 0", "first-value", "v begins at 0"),
    ("flower pull 893", "fedadam", "change for m", "change-for-momentum", "has the new m"),
    ("flwr FedAvgM", "fedavgm", "plain", "plain-momentum", "Nesterov"),
    ("APPFL issue 129", "fedavgm", "damped", "damped", "1 - beta"),
    ("fedlab 1.3.0 FedDyn, issue 319", "feddyn", "sum minus one", "sum-minus-one", "sum(y) - x"),
    ("FedDyn (authors' code) issue 1", "feddyn", "quadratic lost", "quadratic-lost", "quadratic part"),
    ("FedDyn (authors' code) issue 1, the whole penalty", "feddyn", "penalty lost", "lost-term", "alpha (y - x)"),
    ("FedLab issue 305, Federated-Learning-PyTorch issue 27", "fedavg", "equal", "weights", "each the same"),
    ("PySyft issue 3828", "fedavg", "first twice", "weights", "first client counted twice"),
    ("FedEM issue 1", "fedavg", "all", "weights", "all clients"),
    ("plato issue 382", "scaffold", "sends c_i", "lost-term", "c_old"),
    ("plato pull 386", "scaffold", "1/epochs", "epochs-for-steps", "number of epochs"),
    ("NIID-Bench issue 8", "scaffold", "random c", "first-value", "c begins"),
    ("NIID-Bench issue 12", "scaffold", "|S| for N", "wrong-count", "the number of sampled clients stands"),
    (
        "PFLlib issue 160, Scaffold-Federated-Learning issue 1",
        "scaffold",
        "one epoch",
        "wrong-count",
        "batches of one epoch",
    ),
    ("fedbiomed issue 734", "scaffold", "sign", "sign", "other sign"),
    ("pFedMe issues 8, 14, pull 9", "per-fedavg", "moved", "moved-point", "moved point"),
    ("pFedMe, first order", "per-fedavg-fo", "moved", "moved-point", "moved point"),
    ("PFLlib issue 170", "pfedme", "only the sampled", "only-sampled-train", "only the sampled"),
    ("FedDR issue 1", "feddr", "prox of the norm", "prox-of-norm", "proximal point of the norm"),
    ("NVFlare issue 1718, PFLlib issue 260", "fedavg", "buffers", "array-left-out", "'buffer'"),
)
OTHERS = (
    ("", "fedavg", "buffers of the first", "array-left-out", "first client's"),
    ("", "fedavg", "not normalised", "weights", "do not sum to 1"),
    ("", "fedavg", "own start", "wrong-point", "y stands where the rule has x"),
    ("", "fedavg", "epochs for steps", "number-of-steps", "E epochs"),
    ("", "fedprox", "twice", "wrong-factor", "twice"),
    ("", "fedprox", "no factor mu", "lost-factor", "factor mu"),
    ("", "fedprox", "sign", "sign", "other sign"),
    ("", "scaffold", "no step size", "lost-factor", "1/gamma"),
    ("", "fednova", "not normalised", "lost-factor", "1/E"),
    ("", "fednova", "plain mean of tau", "wrong-count", "plain mean"),
    ("", "fednova", "scaled again", "scaled-again", "with their share of the data, and scaled by C/m once more"),
    ("", "feddyn", "|S| for N", "wrong-count", "the number of sampled clients stands"),
    ("", "per-fedavg", "first order", "lost-term", "hess"),
)
TWO = (
    ("fedprox", "norm and mean", {"norm-for-square", "weights"}),
    ("fedprox", "sign and first twice", {"sign", "weights"}),
    ("scaffold", "sign and sends c_i", {"sign", "lost-term"}),
    ("fedadam", "corrected, v starts at 0", {"bias-correction", "first-value"}),
    ("fednova", "as in fedlab", {"scaled-again", "wrong-count"}),  # 1.3.0: plain means, and times N/K on top of them
)


@pytest.mark.parametrize("method", LOOPS)
def test_a_right_loop_conforms_to_ten_digits(method: str) -> None:
    answer = fa.conform(method, LOOPS[method]())
    assert answer.conforms, str(answer)
    assert answer.tolerance == 1e-10
    assert {phase for phase, _ in answer.checked} >= {"update"}


@pytest.mark.parametrize(
    ("where", "method", "slip", "name", "words"), SEEN + OTHERS, ids=lambda x: x if x in LOOPS else None
)
def test_a_slip_is_told_from_the_algorithm_and_from_every_other(
    where: str, method: str, slip: str, name: str, words: str
) -> None:
    del where
    answer = fa.conform(method, LOOPS[method](slip))
    assert not answer.conforms
    assert answer.first is not None
    assert answer.deviations == (name,), str(answer)
    assert words in str(answer.explanations[0])


def test_two_slips_of_one_method_have_different_answers() -> None:
    for method in LOOPS:
        answers = [(name, words) for _, which, _, name, words in SEEN + OTHERS if which == method]
        assert len(set(answers)) == len(answers), method


@pytest.mark.parametrize(("method", "slip", "names"), TWO, ids=lambda x: x if isinstance(x, str) else "")
def test_two_slips_at_once_are_told_as_two(method: str, slip: str, names: set[str]) -> None:
    answer = fa.conform(method, LOOPS[method](slip))
    assert set(answer.deviations) == names, str(answer)


def test_three_slips_of_three_rules_are_told_as_three() -> None:
    answer = fa.conform("scaffold", LOOPS["scaffold"]("three"))
    assert {*answer.deviations} == {"sign", "lost-factor", "lost-term"}, str(answer)
    assert {rule for one in answer.explanations for rule in one.rules} == {
        ("local", "y"),
        ("end", "c_i"),
        ("update", "c"),
    }


def test_every_shipped_algorithm_has_a_loop_and_deviations_of_its_own() -> None:
    assert set(stated_algorithms()) == set(LOOPS)
    assert len({deviation.name for deviation in DEVIATIONS}) == len(DEVIATIONS)


def recorded(method: str, slip: str = "", task: int = 0) -> dict[str, Any]:
    problem = fa.tasks()[task]
    return {**problem.told(), **LOOPS[method](slip)(problem)}


def test_the_first_difference_is_the_one_that_was_made() -> None:
    run = recorded("fedavg")
    gradient = fa.tasks()[0].grad
    run["y"] = run["y"].copy()
    run["y"][2, 3, 1] += 1e-6
    answer = fa.conform("fedavg", run, grad=gradient)
    at = answer.first
    assert at is not None
    assert (at.phase, at.vector, at.t, at.k, at.client) == ("local", "y", 2, 2, 1)
    assert at.residual == pytest.approx(1e-6, rel=1e-3)


def test_a_run_without_gradients_says_which_rules_were_not_compared() -> None:
    answer = fa.conform("fedavg", recorded("fedavg"))
    assert answer.conforms
    assert answer.unchecked == {"local y": "gradients of the losses"}
    assert "not compared: local y" in str(answer)


def test_recorded_gradients_are_those_of_the_local_steps() -> None:
    task, run = fa.tasks()[0], recorded("fedprox", "norm")
    y = run["y"][:, :-1]
    run["grad"] = np.array(
        [[[task.grad(i, y[t, k, i]) for i in range(task.clients)] for k in range(y.shape[1])] for t in range(len(y))]
    )
    answer = fa.conform("fedprox", run)
    assert answer.deviations == ("norm-for-square",)


def test_what_no_deviation_explains_is_fitted() -> None:
    run = recorded("fedavg")
    ends = [np.array([y[np.isfinite(y[:, i, 0])][-1, i] for i in range(4)]) for y in run["y"]]
    run["x"] = np.vstack([run["x"][:1], [0.4 * e[0] + 0.3 * e[1] + 0.2 * e[2] + 0.15 * e[3] for e in ends]])
    answer = fa.conform("fedavg", {k: v for k, v in run.items() if k != "arrays"})
    assert not answer.conforms
    assert not answer.explanations
    assert answer.fit is not None
    assert answer.fit.exact
    assert dict(answer.fit.values) == pytest.approx(
        {"client 0": 0.4, "client 1": 0.3, "client 2": 0.2, "client 3": 0.15}, abs=1e-8
    )


def test_a_rule_that_nothing_explains_does_not_hide_what_explains_another() -> None:
    answer = fa.conform("scaffold", LOOPS["scaffold"]("sends c_i, own local steps"))
    assert not answer.explanations
    assert answer.partly is not None
    assert answer.partly.deviations == ("lost-term",)
    assert answer.partly.rules == (("update", "c"),)
    assert answer.unexplained == (("local", "y"),)
    assert "rule update of c: the term c_old is missing [lost-term]" in str(answer)
    assert "rule local of y: none of the known deviations" in str(answer)
    assert answer.row()["unexplained"] == [["local", "y"]]
    assert answer.fit is not None
    assert answer.fit.exact
    assert [value for _, value in answer.fit.values] == pytest.approx([1, 1, 0.37, 0.37], abs=1e-6)


def test_files_say_the_same_as_arrays(tmp_path: Path) -> None:
    import json

    run = {name: np.asarray(value) for name, value in recorded("fedavg", "equal", 1).items() if name != "arrays"}
    np.savez(tmp_path / "run.npz", **run)
    lists = {
        name: np.where(np.isfinite(a), a, None).tolist() if a.dtype.kind == "f" else a.tolist()
        for name, a in run.items()
    }
    (tmp_path / "run.json").write_text(json.dumps(lists))
    for name in ("run.npz", "run.json"):
        answer = fa.conform("fedavg", tmp_path / name)
        assert answer.deviations == ("weights",)
        assert answer.task == name


def draws(law: np.ndarray[Any, Any], rounds: int) -> Mapping[str, Any]:
    rng = np.random.default_rng(3)
    sampled = np.zeros((rounds, 4))
    for t in range(rounds):
        sampled[t, rng.choice(4, 2, replace=False, p=law)] = 1
    y = rng.normal(size=(rounds, 4, 2))
    x = np.vstack([np.zeros((1, 2)), np.einsum("tc,tcd->td", sampled / 2, y)])
    return {"x": x, "y": y, "sampled": sampled, "counts": [10, 20, 30, 140], "gamma": 0.1, "mu": 1.0, "steps": 1}


def test_clients_drawn_uniformly_are_not_drawn_by_weight() -> None:
    uniform = fa.conform("fedprox", draws(np.full(4, 0.25), 400))
    assert not uniform.conforms
    assert uniform.first is None
    assert uniform.sampling is not None
    assert uniform.sampling.looks == "uniform"
    assert fa.conform("fedprox", draws(np.array([10, 20, 30, 140]) / 200, 400)).conforms


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({}, "without gamma"),
        ({"gamma": 0.1, "y": np.zeros((2, 3, 1))}, "the server's vector x"),
        ({"gamma": 0.1, "x": np.zeros((3, 1))}, "`sampled` or `weights`"),
        ({"gamma": 0.1, "x": np.zeros((3, 1)), "y": np.zeros((5, 3, 1))}, "(2, 3, 1) or (3, 3, 1)"),
        ({"gamma": 0.1, "x": [[0.0], ["a"]], "counts": [1, 1]}, "no array of numbers"),
        ({"gamma": 0.1, "x": np.zeros((3, 1)), "counts": [0, 0]}, "not all 0"),
        ({"gamma": np.zeros((5, 5, 5)), "x": np.zeros((3, 1)), "counts": [1, 1]}, "gamma of shape"),
    ],
)
def test_a_run_that_cannot_be_read_is_said_in_one_line(run: dict[str, Any], said: str) -> None:
    with pytest.raises(fa.UserError) as error:
        fa.conform("fedavg", run)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_algorithm_is_said_with_those_that_are_known() -> None:
    with pytest.raises(fa.UserError, match="scaffold"):
        fa.conform("fedavgg", {})


@pytest.mark.parametrize("method", some([*LOOPS], 3, "the same walk over other rules"))
def test_every_deviation_is_a_change_that_can_be_read(method: str) -> None:
    from fedaudit.bounds.formulas.lowering import tree
    from fedaudit.verify.conform.recording import recording_of
    from fedaudit.verify.conform.replay import compare

    box = stated_algorithms()[method]
    data = {**box.method.data(tree, ()), "everyone": box.everyone}
    names = {v.name: True for v in box.method.server} | {v.name: False for v in box.method.client}
    run = recording_of(recorded(method), names, fa.tasks()[0].losses)
    known = {deviation.name for deviation in DEVIATIONS} | {"first-value", "number-of-steps", "only-sampled-train"}
    for change in changes(data, tuple(run.arrays)):
        assert change.deviation in known
        assert change.says
        compare(change.data, run, stop=True)


def test_clients_that_are_drawn_in_every_round_are_no_draw() -> None:
    run = {**draws(np.full(4, 0.25), 400), "sampled": np.tile([1.0, 1.0, 0.0, 0.0], (400, 1))}
    sampling = fa.conform("fedprox", run).sampling
    assert sampling is not None
    assert not sampling.agrees


def test_a_proximal_step_may_be_each_client_s_own() -> None:
    from fedaudit.verify.conform.evaluation import _proximal

    made = _proximal(lambda w, step: w / (1 + step), np.ones((2, 1)), np.array([[1.0], [3.0]]))
    np.testing.assert_allclose(made, [[0.5], [0.25]])


def test_the_fixture_fails_with_what_the_run_is_instead(fedaudit_conform: Any) -> None:
    from fedaudit.api.testing import NotConforming

    assert fedaudit_conform("fedavg", loops.fedavg()).conforms
    with pytest.raises(NotConforming, match="each the same") as failure:
        fedaudit_conform("fedavg", loops.fedavg("equal"))
    assert failure.value.answer.deviations == ("weights",)


LOOP = "import training_loops\nright = training_loops.fedavg()\nwrong = training_loops.fedavg('first twice')\n"


def test_the_command_says_the_same_and_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from fedaudit.cli import main

    monkeypatch.chdir(tmp_path)
    Path("loop.py").write_text(LOOP)
    assert main(["conform", "fedavg", "loop.py::right"]) == 0
    assert "conforms" in capsys.readouterr().out
    assert main(["conform", "fedavg", "loop.py::wrong", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["first"]["vector"] == "x"
    assert row["instead"][0]["deviations"] == ["weights"]
    assert main(["conform", "fedavg"]) == 0
    Path("begun.py").write_text(capsys.readouterr().out)
    assert main(["conform", "fedavg", "begun.py"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fedavg", "none.npz"], "expected a recorded run that exists"),
        (["fedavg", "loop.py::neither"], "right, wrong"),
        (["fedavg", "loop.txt"], "expected a recorded run that exists"),
        (["fedavg", "broken.npz"], "plain arrays"),
        (["fedavg", "broken.json"], "an object of numbers"),
        (["nothing", "loop.py::right"], "one of fedavg"),
        (["fedavg", "loop.py::right", "gamm=0.1"], "gamm, which fedavg does not know"),
        (["fedavg", "loop.py::crashes"], "raised ZeroDivisionError"),
        (["fedavg", "empty.json"], "no rule can be compared"),
        (["fedavg", "empty.json", "run=1"], "run, which fedavg does not know"),
        (["fedavg", ".python/run.json"], "an object of numbers"),
        (["nothing"], "one of fedavg"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fedaudit.cli import main

    monkeypatch.chdir(tmp_path)
    Path("loop.py").write_text(LOOP + "def crashes(task):\n    return 1 / 0\n")
    Path("empty.json").write_text('{"x": [[1.0], [null]], "y": [[[0.5], [0.3]]], "gamma": 0.1}')
    Path("broken.npz").write_bytes(b"PK\x03\x04 nothing")
    Path("broken.json").write_text("[1, 2")
    Path(".python").mkdir()
    Path(".python/run.json").write_text("raise SystemExit(7)")
    assert main(["conform", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def example(name: str) -> Any:
    path = ROOT / "examples" / "runs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_logistic_clients_is_the_algorithm_and_below_its_bound() -> None:
    same, below = example("logistic_clients").main()
    assert same.conforms
    assert ("local", "y") in same.checked
    assert below.holds


def test_loops_of_pytorch_are_watched_as_they_are() -> None:
    pytest.importorskip("torch", reason="extra `torch`: `make conform` runs it")
    from fedaudit.api.torch_loop import torch_clients

    loops = example("torch_fedprox")
    assert fa.conform("fedprox", torch_clients(loops.right)).conforms
    assert fa.conform("fedprox", torch_clients(loops.recipe)).deviations == ("norm-for-square",)


def test_strategies_of_flower_run_in_this_process() -> None:
    pytest.importorskip("flwr", reason="extra `flower`: `make conform` runs it")
    from fedaudit.api.flower_grid import flower_strategy

    loops = example("torch_fedprox")
    assert fa.conform("fedavg", flower_strategy(loops.strategy)).conforms
    assert fa.conform("fedavg", flower_strategy(loops.strategy, app=loops.client_app)).conforms


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from fedaudit.api.flower_grid import flower_strategy
    from fedaudit.api.torch_loop import torch_clients

    for name in ("torch", "flwr", "flwr.app"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fa.UserError, match="no PyTorch"):
        torch_clients(lambda *_: None)
    with pytest.raises(fa.UserError, match="no Flower"):
        fa.conform("fedavg", flower_strategy(lambda task: None))
