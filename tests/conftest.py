"""No property test asserts a time; what the fuzzing showed is summed up at the end of a session. Slow tests say why.

A shell that starts the tests in the background has them ignore Ctrl-C, and every process that they start: not here.
Keys and caches of the tests are their own, and go when they end.
"""

from __future__ import annotations

import os
import signal
import tempfile
from typing import Any

import pytest
from hypothesis import settings
from marks import examples

HOME = tempfile.TemporaryDirectory(prefix="fedaudit-tests-")
os.environ.update(XDG_STATE_HOME=HOME.name, XDG_CACHE_HOME=HOME.name)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("fedaudit", deadline=None, max_examples=examples(100))
settings.load_profile("fedaudit")


def pytest_itemcollected(item: Any) -> None:
    if not all(mark.kwargs.get("reason", "").strip() for mark in item.iter_markers("slow")):
        raise pytest.UsageError(f'{item.nodeid} is slow without a reason; do: @slow("why"), see tests/marks.py')


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
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
