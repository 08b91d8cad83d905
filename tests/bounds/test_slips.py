"""A file with one slip ends in one line with its file and line, or in a verdict; the tool never fails on it.

What is clean to `lint` runs. The figures (kinds, files, outcomes) stand at the end of a session; `make test` takes a
sample, `make test-slow` every file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from marks import slow
from slip_kinds import BASES, END, GOOD, KINDS, File, changed, files, measured

import fedaudit as fa
from fedaudit.bounds.lint.wellformed import SETTINGS
from fedaudit.cli import main
from fedaudit.verify.settings import settings

SAMPLE = 24  # one of so many files is in the quick suite
ALL = list(files())
VERDICTS = ("proved", "refuted", "survived", "undecided", "reproduced", "reproduced-if", "not-reproduced")
PLACE = re.compile(r"fedaudit: mine\.py:\d+: ")
PROGRESS = re.compile(r"(lint|hunt): \d+ of \d+ done")  # what a slow machine is told


def ended(nursery: Any, folder: Path, text: str) -> str:
    """How `lint` and `hunt` end on a file: "line", or the verdict; every other end is an error of the test."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    clean = False
    for move, *options in (("lint",), ("hunt", "--budget", "0.05")):
        done = nursery([move, "mine.py", "--json", "--jobs", "1", *options], folder)
        said = [line for line in done["said"].splitlines() if not PROGRESS.match(line)]
        told = f"{move} exits with {done['status']}: {said or done['shown']}"
        assert "Traceback" not in done["shown"] + done["said"], told
        assert "the tool failed" not in done["shown"] + done["said"], told
        assert done["status"] in (0, 2), told
        if done["status"] == 2:
            assert not clean, f"clean to lint, and then {told}"
            assert not done["shown"], told
            assert len(said) == 1, told
            assert PLACE.match(said[0]), told
            return "line"
        assert not said, told
        (row, *_) = json.loads(done["shown"])
        if move == "lint":
            clean = not any(finding["rule"] == "form" for finding in row["findings"])
    assert row["verdict"] in VERDICTS
    return row["verdict"]


def local(rule: str) -> tuple[tuple[str, str], ...]:
    return (("local={y: y - gamma(t) * fa.noisy(fa.grad(y))}", f"local={{y: {rule}}}"),)


NAMED = {  # the cases of issue 30 that are faults: change -> the line after the file, its line and the id
    'sweep={}, choose={G.symbol("gamma", "W^2/F", "step"): 1 / L}': "got `choose` of 'gamma', expected a step size of"
    " fedavg (gamma(t)); do: write choose={gamma(t): …}",
    'let=(*LET, fa.Assumption("similar_gradients", (B,)))': "got the assumption 'similar_gradients' alone, expected"
    " 'lipschitz_hessian' beside it, which brings losses of which it can be checked; do: add"
    " Assumption('lipschitz_hessian', (rho,)), or say it of the run: Assumption(…, means=Le(measure, bound),"
    " for_all=…)",
    'then=fa.Le(gap(t + 1), gap(t) + G.symbol("p", "F", "slack"))': "got a symbol named p, expected another name: p(i)"
    " are the clients' weights; do: rename it",
    (('G.index("t", "round")', 'G.index("r", "round")'),): "got the measure gap(r) of fedavg with the index r, expected"
    " one of t, k, i, j, n or a name for one; do: write names={r: 't'} in the method if it counts rounds",
    (('"mu", "F/W^2"', '"μ", "F/W^2"'),): "got the name 'μ', expected letters, digits and _; do: write 'mu'; `latex`"
    " prints as you like",
    (("begin={y: x}", "begin={y: y}"),): "got `begin` of y in fedavg with 'y', expected vectors that are kept between"
    " rounds (x); do: 'y' is set anew in `begin`: keep a copy in `end`, or measure at (t, k, i)",
    measured("fa.expect(fa.norm2(y - x))", "t, i"): "got the measure new(t, i) of fedavg with 'y', expected vectors"
    " that are kept between rounds (x); do: 'y' is set anew in `begin`: keep a copy in `end`, or measure at (t, k, i)",
    measured("fa.expect(fa.norm2(y - x))", "t, k"): "got the measure new(t, k) of fedavg with 'y' of the clients,"
    " expected it inside a mean, or at one client; do: write mean(y)",
    local("oracle(x, gamma(t))"): "got `local` of y in fedavg with an oracle's step gamma(t), expected one symbol; do:"
    " give the step a symbol",
    local("y - gamma(t) * (fa.noisy(fa.grad(y)) + fa.noisy(fa.grad(x)))"): "got `local` of y in fedavg with 'noisy' of"
    " 2 vectors, expected one draw in a rule; do: write noisy(…) around their sum, or noisy(…, again=True) for a"
    " second, independent draw",
    "then=fa.Le(gap(t * t), gap(0))": "got gap(t**2), whose index t is 4 at T = 3, t = 2, expected whole numbers"
    " from 0 to T; do: mend it, or say in `when` which sizes are meant",
}


@pytest.mark.parametrize("slip", NAMED, ids=range(len(NAMED)))
def test_lint_says_what_no_run_can_follow(slip: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, text = tmp_path / "mine.py", changed(GOOD + END, slip)
    path.write_text(text, encoding="utf-8")
    (statement,) = fa.load(path)
    assert next(iter(fa.lint(statement))).message == NAMED[slip]
    line = next(n for n, written in enumerate(text.splitlines(), 1) if '"mine/thm1"' in written)
    assert main(["hunt", str(path), "--jobs", "1"]) == 2
    assert capsys.readouterr() == ("", f"fedaudit: {path}:{line}: mine/thm1: {NAMED[slip]}\n")


def test_a_step_size_without_its_index_is_said_where_it_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text := changed(GOOD + END, "sweep={}, choose={gamma: 1 / L}"))
    with pytest.raises(fa.UserError) as said:
        fa.load(path)
    expected = "got gamma in choose of mine/thm1, expected a symbol, or a quantity at its indices; do: write gamma(t)"
    assert str(said.value) == f"{path}:{len(text.splitlines())}: {expected}"


RUNS = {  # the cases of issue 30 that are none: change -> a verdict
    (('G.index("t", "round")', 'G.index("r", "round")'), ("NAMES = {}", 'NAMES = {t: "t"}')): "survived",
    (("client={y: x}", "client={y: x, z: x}"), ("begin={y: x}", "begin={y: z}"), ("end={}", "end={z: y}")): "refuted",
    (*local("oracle(x, s)"), (END, "FIELDS |= dict(sweep={}, let=LET[:1])\n" + END),
     ("then=fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t))", "then=fa.Le(gap(t + 1), gap(t))")): "refuted",
    "when=(fa.Eq(E, 1), fa.Eq(E, 2))": "undecided",
    # what no local step moves, read at every step of runs that are followed in expectation
    (*measured("fa.expect(fa.f(x)) - fa.f_star", "t, k")[:-1], (END, f"FIELDS |= dict({BASES['noise']})\n{END}"),
     (END, "FIELDS |= dict(then=fa.Le(new(t, k), gap(0)), for_all={t: (0, 0), k: (0, E)})\n" + END)): "survived",
}  # fmt: skip


@pytest.mark.parametrize("change", RUNS, ids=range(len(RUNS)))
def test_what_lint_calls_clean_runs(change: Any, nursery: Any, tmp_path: Path) -> None:
    assert ended(nursery, tmp_path, changed(GOOD + END, change)) == RUNS[change]


def test_lint_knows_every_setting() -> None:
    assert {*SETTINGS, "run"} == set(settings())


@pytest.mark.parametrize("base", BASES)
def test_a_file_without_a_slip_has_a_verdict(base: str, nursery: Any, tmp_path: Path) -> None:
    assert ended(nursery, tmp_path, changed(GOOD + END, BASES[base])) in ("survived", "refuted", "proved")


def test_the_slips_are_of_many_kinds_and_each_changes_its_file() -> None:
    assert len(KINDS) >= 60
    assert len({file.text for file in ALL}) >= len(KINDS)
    assert not {file.text for file in ALL} & {changed(GOOD + END, base) for base in BASES.values()}


def _checked(chosen: list[File], nursery: Any, folder: Path, record_property: Any) -> None:
    wrong: list[str] = []
    for file in chosen:
        try:
            record_property("slip", [file.kind, ended(nursery, folder, file.text)])
        except AssertionError as error:
            wrong.append(f"{file.name}: {str(error).splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


def test_a_sample_of_slips_ends_in_one_line_or_in_a_verdict(nursery: Any, tmp_path: Path, record_property: Any) -> None:
    _checked([file for n, file in enumerate(ALL) if n % SAMPLE == 0], nursery, tmp_path, record_property)


@slow("ten minutes: every variant of every kind, in two files each")
@pytest.mark.parametrize("kind", KINDS)
def test_every_slip_ends_in_one_line_or_in_a_verdict(
    kind: str, nursery: Any, tmp_path: Path, record_property: Any
) -> None:
    _checked([file for file in ALL if file.kind == kind], nursery, tmp_path, record_property)
