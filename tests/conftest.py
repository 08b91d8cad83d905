"""No property test asserts a time; what the fuzzing showed is summed up at the end of a session. Slow tests say why.

A shell that starts the tests in the background has them ignore Ctrl-C, and every process that they start: not here.
Keys and caches of the tests are their own, and go when they end.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import settings
from marks import KEPT, examples
from places import ROOT

HOME = tempfile.TemporaryDirectory(prefix="fedaudit-tests-")
os.environ.update(XDG_STATE_HOME=HOME.name, XDG_CACHE_HOME=HOME.name)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("fedaudit", deadline=None, max_examples=examples(100))
settings.load_profile("fedaudit")


LONG = (
    "cli_real", "slips", "proof_premises", "prove", "atoms", "certify_command", "limits", "docs", "pytest_plugin",
    "methods", "report_hostile", "pictures", "order_claims", "proof_mutants", "report_page", "strangers",
    "cli_contract", "effort", "gram", "hostile_command_lines", "evidence", "worst", "yuan_theorems", "zhang",
    "figures_convergence", "fuzz_certificates", "catalogue", "zhang_experiments", "derive_chain",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """The files that take longest come first, so that at the end no process waits for another one."""
    files = [f"test_{name}" for name in LONG]
    items.sort(key=lambda item: files.index(item.path.stem) if item.path.stem in files else len(files))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Of what the collection builds nothing goes before the end: the garbage collector need not walk it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


def pytest_itemcollected(item: Any) -> None:
    if not all(mark.kwargs.get("reason", "").strip() for mark in item.iter_markers("slow")):
        raise pytest.UsageError(f'{item.nodeid} is slow without a reason; do: @slow("why"), see tests/marks.py')


class Nursery:
    """Command lines as processes of their own, without the time that imports take; see tests/nursery.py."""

    def __init__(self, to: IO[str], back: IO[str]) -> None:
        self.to, self.back = to, back

    def __call__(
        self,
        argv: list[str],
        cwd: Path,
        kill: list[Any] | None = None,
        program: str = "fedaudit",
        shared: bool = False,
    ) -> dict[str, Any]:
        cwd.mkdir(exist_ok=True)
        return self.ask(argv=argv, cwd=str(cwd), kill=kill, program=program, shared=shared)

    def ask(self, **request: Any) -> dict[str, Any]:
        print(json.dumps(request), file=self.to, flush=True)
        return json.loads(self.back.readline())


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    command = [sys.executable, str(Path(__file__).parent / "nursery.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Nursery(process.stdin, process.stdout)
        process.stdin.close()


@pytest.fixture(scope="session")
def kernel_process() -> Iterator[Any]:
    from fedaudit.verify.certify.sandbox import Checker

    with Checker() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def shared_kernel(request: Any, kernel_process: Any) -> Iterator[None]:
    """`certify` and `report` ask one process in all tests of a session, but for modules with OWN_KERNEL."""
    with pytest.MonkeyPatch.context() as patched:
        if not getattr(request.module, "OWN_KERNEL", False):
            for module in ("certify.command", "certify.standing"):
                patched.setattr(f"fedaudit.verify.{module}.Checker", lambda *_: nullcontext(kernel_process))
        yield


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where proofs are looked for, and kept for the other processes of this session if none were given."""
    if KEPT:
        return ROOT / KEPT
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "proofs"
    folder.mkdir(exist_ok=True)
    return folder


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    _slips(terminalreporter, [value for r in reports for name, value in r.user_properties if name == "slip"])
    _changed_proofs(terminalreporter, [value for r in reports for name, value in r.user_properties if name == "proofs"])
    if unaided := [value for r in reports for name, value in r.user_properties if name == "prove"]:
        terminalreporter.section("proofs that were found alone")
        terminalreporter.write_line("; ".join(unaided))
    found = [(r.nodeid, value) for r in reports for name, value in r.user_properties if name == "fuzz"]
    if not found:
        return
    name, (_, seconds, case, _) = max(found, key=lambda pair: pair[1][1])
    terminalreporter.section("fuzzing")
    terminalreporter.write_line(f"{sum(value[0] for _, value in found)} mutants in {len(found)} tests")
    terminalreporter.write_line(f"slowest {seconds} s: {name}, {case}")
    for _, (*_, refutations) in found:
        for line in refutations:
            terminalreporter.write_line(f"look at: {line}")


def _slips(terminalreporter: Any, slips: list[tuple[str, str]]) -> None:
    """How files with one slip ended; see tests/bounds/test_slips.py."""
    if slips:
        ends = Counter(end for _, end in slips)
        terminalreporter.section("slips")
        terminalreporter.write_line(
            f"{len({kind for kind, _ in slips})} kinds, {len(slips)} files: "
            + ", ".join(f"{n} {'one line' if end == 'line' else end}" for end, n in ends.most_common())
        )


def _changed_proofs(terminalreporter: Any, logs: list[dict[str, int]]) -> None:
    """What the kernel answered to changed proofs; see tests/mutant_proofs.py."""
    answers = Counter[str]()
    for log in logs:
        answers.update(log)
    if logs:
        terminalreporter.section("changed proofs")
        told = ", ".join(f"{n} {answer}" for answer, n in answers.most_common())
        terminalreporter.write_line(f"{answers.total()} mutants in {len(logs)} tests: {told}")
