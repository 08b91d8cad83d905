"""Progress of long work on stderr: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TextIO, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Lines", "in_notebook", "progress", "watched"]

FIRST, EVERY = 1.5, 10.0  # seconds until the first line, and from one line to the next
RECENT = 20  # statements that the time that is left is estimated from

Step = Callable[[str, int, int], None]


def progress(label: str, names: Sequence[str], jobs: int) -> AbstractContextManager[Step]:
    """What to call when a statement has finished; `names` in the order in which they are begun."""
    err = Console(stderr=True)
    return _bar(err, label, len(names)) if err.is_terminal else _now_and_then(Lines(label, names, jobs))


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this: its cells show lines of stderr as they come."""
    return "ipykernel" in sys.modules


@contextmanager
def watched(label: str, total: int, wanted: bool | None) -> Generator[Callable[[int], None]]:
    """How far one piece of work is, as a line now and then; by default in notebooks alone."""
    lines = Lines(label, [str(n + 1) for n in range(total)], 0)
    if not (in_notebook() if wanted is None else wanted):
        yield lambda _: None
        return
    with _now_and_then(lines) as step:
        yield lambda done: step(str(done), done, total)


@contextmanager
def _bar(err: Console, label: str, total: int) -> Generator[Step]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(label, total=total)

        def step(name: str, done: int, _: int) -> None:
            bar.update(task, completed=done, description=f"{label} {name}")

        yield step


class Lines:
    """What is done, what is running and the time that is left, as one line."""

    def __init__(self, label: str, names: Sequence[str], jobs: int) -> None:
        self.label, self.total, self.jobs = label, len(names), jobs
        self.left = dict.fromkeys(names)
        self.times = deque([time.monotonic()], RECENT + 1)
        self.lock = threading.Lock()

    def step(self, name: str, done: int, total: int) -> None:
        with self.lock:
            self.left.pop(name, None)
            self.times.append(time.monotonic())

    def line(self, now: float) -> str:
        with self.lock:
            finished, per = len(self.times) - 1, now - self.times[0]
            running = list(self.left)[: self.jobs]
            done = self.total - len(self.left)
        waits = f", about {_clock(per / finished * len(self.left))} left" if finished else ""
        at = f", running {', '.join(running)}" if running else ""
        return f"{self.label}: {done} of {self.total} done{waits}{at}"


@contextmanager
def _now_and_then(lines: Lines) -> Generator[Step]:
    ended = threading.Event()
    stderr = cast("TextIO | None", sys.stderr)  # None where it is closed; print would take stdout then

    def speak() -> None:
        pause = FIRST
        while stderr and not ended.wait(pause):
            with suppress(OSError, ValueError):  # nobody reads it any more
                print(lines.line(time.monotonic()), file=stderr, flush=True)
            pause = EVERY

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield lines.step
    finally:
        ended.set()
        speaker.join()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min" if whole >= 100 else f"{whole} s"
