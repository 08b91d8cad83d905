"""Progress of long work on stderr: a bar on a terminal, elsewhere a line now and then.

Work says how far it is with `told`, to whoever has asked with `watched`; mostly that is nobody. Every room but the
kernel may import this module.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Lines", "Step", "Wanted", "begun", "in_notebook", "progress", "told", "watched"]

FIRST, EVERY = 1.5, 10.0  # seconds until the first line, and from one line to the next
RECENT = 20  # statements that the time that is left is estimated from

Step = Callable[[str, int, int], None]  # what is being done, how much of it is done, of how much
Wanted = bool | Step | None  # None: on a terminal and in a notebook

_LISTENER: ContextVar[Step | None] = ContextVar("listener", default=None)
_BEGUN: ContextVar[Callable[[str], None] | None] = ContextVar("begun", default=None)


def told(what: str, done: int, total: int) -> None:
    """Tell whoever watches how far this piece of work is."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)


def begun(name: str) -> None:
    """Tell whoever shows progress that a worker has begun with a statement."""
    listener = _BEGUN.get()
    if listener is not None:
        listener(name)


@contextmanager
def progress(label: str, names: Sequence[str], jobs: int, since: float | None = None) -> Generator[Step]:
    """Yields what to call when a statement has finished; `names` in the order of work, waiting began at `since`."""
    err, lines = _console(), Lines(label, names, jobs)
    token = _BEGUN.set(lines.begun)
    try:
        with _bar(err, label, len(names)) if err.is_terminal else _now_and_then(lines.step, lines.line, since) as step:
            yield step
    finally:
        _BEGUN.reset(token)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this: its cells show lines of stderr as they come."""
    return "ipykernel" in sys.modules


@contextmanager
def watched(label: str, wanted: Wanted) -> Generator[None]:
    """Show what the work inside tells, or hand it to a function of the caller's own."""
    if callable(wanted):
        with _listening(wanted):
            yield
        return
    err = None if wanted is False else _console()
    if err is None or not (wanted or err.is_terminal or in_notebook()):
        yield
        return
    latest = Latest(label)
    with _bar(err, label, 0) if err.is_terminal else _now_and_then(latest.step, latest.line) as step, _listening(step):
        yield


@contextmanager
def _listening(step: Step) -> Generator[None]:
    token = _LISTENER.set(step)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass(slots=True)
class Latest:
    """What was told last, as one line."""

    label: str
    said: str = "begun"

    def step(self, what: str, done: int, total: int) -> None:
        self.said = f"{what} {done} of {total}"

    def line(self, now: float) -> str:
        return f"{self.label}: {self.said}"


@contextmanager
def _bar(err: Console, label: str, total: int) -> Generator[Step]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(label, total=total or None)

        def step(name: str, done: int, of: int) -> None:
            bar.update(task, completed=done, total=of, description=f"{label} {name}")

        yield step


class Lines:
    """What is done, what is running and the time that is left, as one line.

    Where nobody says what was begun, the next in the order of work are taken to be running.
    """

    def __init__(self, label: str, names: Sequence[str], jobs: int) -> None:
        self.label, self.total, self.jobs = label, len(names), jobs
        self.left = dict.fromkeys(names)
        self.running: dict[str, None] = {}
        self.times = deque([time.monotonic()], RECENT + 1)
        # `_now_and_then` asks for the line in a thread of its own.
        self.lock = threading.Lock()

    def begun(self, name: str) -> None:
        with self.lock:
            self.running[name] = None

    def step(self, name: str, done: int, total: int) -> None:
        with self.lock:
            self.left.pop(name, None)
            self.running.pop(name, None)
            self.times.append(time.monotonic())

    def line(self, now: float) -> str:
        with self.lock:
            finished, per = len(self.times) - 1, now - self.times[0]
            running = list(self.running or self.left)[: self.jobs]
            done = self.total - len(self.left)
        waits = f", about {_clock(per / finished * len(self.left))} left" if finished else ""
        at = f", running {', '.join(running)}" if running else ""
        return f"{self.label}: {done} of {self.total} done{waits}{at}"


@contextmanager
def _now_and_then(step: Step, line: Callable[[float], str], since: float | None = None) -> Generator[Step]:
    ended, waited = threading.Event(), 0.0 if since is None else time.monotonic() - since
    stderr = cast("TextIO | None", sys.stderr)  # None where it is closed; print would take stdout then

    def speak() -> None:
        pause = max(0.0, FIRST - waited)
        while stderr and not ended.wait(pause):
            with suppress(OSError, ValueError):  # nobody reads it any more
                print(line(time.monotonic()), file=stderr, flush=True)
            pause = EVERY

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield step
    finally:
        ended.set()
        speaker.join()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min" if whole >= 100 else f"{whole} s"
