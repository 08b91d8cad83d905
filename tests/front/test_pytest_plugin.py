"""The pytest plugin as a stranger's repository sees it: passes, fails with a counterexample, and costs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from places import TESTS

import fedaudit as fa
from fedaudit.api.testing import NotAttacked, Refutation
from fedaudit.figures.words.plain_text import counterexample

pytest_plugins = ["pytester"]
Nursery = Callable[..., dict[str, Any]]
LI = TESTS / "own" / "li.py"
IN_THE_TEST_FILE = """

@fa.theorem(THEOREM_1, budget=0.2)
def test_true(verdict, tmp_path):
    assert verdict.tightness > 0.5
    assert tmp_path.is_dir()

@fa.theorem(FASTER, budget=0.2)
def test_false():
    raise RuntimeError("never reached")
"""
BESIDE_IT = """
import fedaudit as fa

@fa.theorem("theory/li.py::li/thm1")
def test_by_path():
    pass

def test_by_fixture(fedaudit_check):
    assert fedaudit_check("buttaci/appA-strong-second~repaired").verdict == "survived"
"""


@pytest.fixture
def run_pytest(pytester: pytest.Pytester, nursery: Nursery) -> Callable[..., pytest.RunResult]:
    """pytest in a process of its own that has fedaudit imported; its plugins it finds by their entry points."""

    def run(*argv: str) -> pytest.RunResult:
        done = nursery([*argv, "-p", "no:cacheprovider"], pytester.path, program="pytest")
        return pytest.RunResult(done["status"], done["shown"].splitlines(), done["said"].splitlines(), done["seconds"])

    return run


def test_a_true_theorem_passes_and_a_false_one_fails_with_its_certificate(
    pytester: pytest.Pytester, run_pytest: Callable[..., pytest.RunResult], nursery: Nursery
) -> None:
    file = pytester.makepyfile(test_li=LI.read_text() + IN_THE_TEST_FILE)
    result = run_pytest("--fedaudit-out", "found")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "*li/faster is refuted, in exact arithmetic*",
        "*claimed: gap(t) <= *",
        "*fails at t = *: * against *",
        "*one client with f(w) = *",
        "*start w = *",
        "*check it again: fedaudit certify test_li.py found/li-faster.json*",
    ])  # fmt: skip
    assert "never reached" not in result.stdout.str()
    certificate = pytester.path / "found" / "li-faster.json"
    done = nursery(["certify", str(file), str(certificate), "--json"], pytester.path)  # pytester forgets our imports
    assert done["status"] == 0
    (row,) = json.loads(done["shown"])
    assert row["what"] == "refutation"


def test_a_statement_of_another_file_and_the_budget_of_the_command_line(
    pytester: pytest.Pytester, run_pytest: Callable[..., pytest.RunResult]
) -> None:
    (pytester.mkdir("tests") / "theory").mkdir()
    (pytester.path / "tests" / "theory" / "li.py").write_text(LI.read_text())
    (pytester.path / "tests" / "test_it.py").write_text(BESIDE_IT)
    result = run_pytest("--fedaudit-budget", "0.2", "tests")
    result.assert_outcomes(passed=2)
    assert not (pytester.path / ".fedaudit").exists()


def test_a_bad_budget_is_one_line(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--fedaudit-budget", "soon")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*got --fedaudit-budget soon, expected seconds above 0*"])


def test_those_who_do_not_use_it_load_nothing() -> None:
    heavy = ("numpy", "sympy", "hypothesis", "fedaudit.bounds", "fedaudit.verify.moves", "fedaudit.api.testing")
    code = f"import sys, fedaudit.pytest_plugin; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_claim_that_nothing_attacks_does_not_pass() -> None:
    with pytest.raises(NotAttacked, match="an observation"):
        fa.fedaudit_check("buttaci/sec4.4-speed", budget=1)


def test_instances_are_admissible_exact_and_shrink_to_one_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true, false = fa.load(LI)
    found = [Phase.generate, Phase.shrink]  # nobody reads an explanation here, which takes as many runs again
    quick = settings(max_examples=30, database=None, suppress_health_check=list(HealthCheck), phases=found)
    any_ = settings(quick, phases=[Phase.generate])
    held = find(fa.instances(true), lambda one: one.certificate["instance"]["C"] > 1, settings=any_, random=Random(0))
    assert held.holds
    held.check()
    broken = find(fa.instances(false), lambda one: not one.holds, settings=quick, random=Random(0))
    instance = broken.certificate["instance"]
    assert {name: instance[name] for name in "CdET"} == {"C": 1, "d": 1, "E": 1, "T": 1}
    assert fa.certify(dict(broken.certificate), LI).what == "refutation"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refutation):
        broken.check()
    assert json.loads((tmp_path / ".fedaudit" / "li-faster.json").read_text()) == broken.certificate
    assert repr(broken).startswith("an instance of li/faster, where it FAILS:\n  claimed: ")
    assert "\n  fails at t = " in repr(broken)
    assert repr(held).startswith(f"an instance of {true.id}, where it holds:\n  claimed: ")
    assert "\n  comes closest at t = " in repr(held)
    assert "fails" not in repr(held).lower()


def test_instances_of_what_is_no_inequality_are_refused() -> None:
    with pytest.raises(fa.UserError, match="fedaudit_check"):
        fa.instances("buttaci/sec4.4-speed")


@pytest.mark.parametrize("path", sorted((TESTS / "certificates").glob("*.json")), ids=lambda p: p.stem)
def test_every_kind_of_counterexample_has_words(path: Path) -> None:
    certificate = json.loads(path.read_text())
    claim = fa.load(LI)[0]
    told = counterexample({**certificate, "at": {**certificate["at"], "relation": 0}}, claim)
    assert all(line and "\n" not in line and "\\" not in line and "no words" not in line for line in told)
    numbers = list(certificate["instance"].get("constants", {}).values())
    assert all(any(str(x) in line for line in told) for x in numbers)
