"""Progress of long work where stderr is no terminal: who waits for an audit in a log sees how far it is."""

from __future__ import annotations

import io
import threading
import time

import pytest

from fedaudit import progress
from fedaudit.progress import RECENT, Lines


def test_a_line_says_what_is_done_what_runs_and_how_long_it_takes() -> None:
    lines = Lines("audit", ["a/1", "a/2", "a/3", "a/4"], jobs=2)
    began = lines.times[0]
    assert lines.line(began + 3) == "audit: 0 of 4 done, running a/1, a/2"
    lines.step("a/2", 1, 4)
    assert lines.line(began + 3) == "audit: 1 of 4 done, about 9 s left, running a/1, a/3"
    for name in ("a/1", "a/3", "a/4"):
        lines.step(name, 0, 4)
    assert lines.line(began + 3).startswith("audit: 4 of 4 done, about 0 s left")


def test_the_time_that_is_left_is_estimated_from_the_last_statements() -> None:
    """What an earlier run finished is taken over at once, and says nothing about what comes."""
    lines = Lines("audit", [str(n) for n in range(RECENT + 101)], jobs=1)
    for n in range(RECENT + 1):
        lines.step(str(n), n + 1, RECENT + 101)
    taken = lines.times[0]
    assert f"{RECENT + 1} of {RECENT + 101} done, about {100 * 60 // 60} min left" in lines.line(taken + RECENT * 60)


def test_short_work_is_silent_and_long_work_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    with progress.progress("lint", ["a/1"], 1) as step:
        step("a/1", 1, 1)
    assert said.getvalue() == ""
    monkeypatch.setattr(progress, "FIRST", 0.01)
    with progress.progress("lint", ["a/1", "a/2"], 1) as step:
        step("a/1", 1, 2)
        while not said.getvalue().endswith("\n"):
            time.sleep(0.01)
    assert "lint: 1 of 2 done" in said.getvalue()


def test_the_first_line_comes_the_sooner_the_longer_one_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    monkeypatch.setattr(progress, "FIRST", 3600.0)
    with progress.progress("audit", ["a/1"], 1, since=time.monotonic()):
        time.sleep(0.05)
    assert said.getvalue() == ""
    with progress.progress("audit", ["a/1"], 1, since=time.monotonic() - 3600):  # the catalogue was read meanwhile
        while not said.getvalue().endswith("\n"):
            time.sleep(0.01)
    assert said.getvalue() == "audit: 0 of 1 done, running a/1\n"


def test_a_closed_stderr_is_no_crash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.01)
    closed, before = io.StringIO(), threading.active_count()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        lines = Lines("lint", ["a/1"], 1)
        with progress._now_and_then(lines.step, lines.line):
            time.sleep(0.05)
    assert capsys.readouterr().out == ""  # which belongs to the rows
    assert threading.active_count() == before
