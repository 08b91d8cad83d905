"""Worker processes on this machine.

A worker keeps what it derived and recorded. So all statements of a chain, which cite one another, go to the worker that
had the first of them; one that has nothing left takes over from the others.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from ..progress import begun
from .runner import Outcome, Task, attempt, cores, ended, one_thread

__all__ = ["Local"]

MOST_PER_CORE = 4  # workers; each of them computes on one thread
COLLECTED = 200_000, 50, 100  # new objects until garbage is looked for among them; then among older ones
ROOM = 1 << 30  # bytes that a worker's arrays come from and go back to, without asking the system for each
MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(ROOM), "MALLOC_MMAP_THRESHOLD_": str(ROOM), "MALLOC_TOP_PAD_": str(ROOM // 16)}
MOST_MEMORY = 2_000_000_000  # bytes by which a worker may grow before a new one takes its place


@dataclass(frozen=True, slots=True)
class Local:
    """Worker processes on this machine."""

    jobs: int

    def work(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Tasks with their results, as they finish."""
        workers = min(self.jobs, len(tasks), MOST_PER_CORE * cores())
        if workers <= 1:
            for task in tasks:
                begun(task.chosen.id)
                yield task, attempt(task)
            return
        one_thread()
        queue = Queue(dict(enumerate(tasks)))
        with ExitStack() as ending:
            lanes = [ending.enter_context(Lane(number)) for number in range(workers)]
            running = {lane.begin(task): (lane, task) for lane in lanes for task in queue.next(lane.number)}
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    lane, task = running.pop(future)
                    outcome = lane.outcome(future, task)
                    running |= {lane.begin(after): (lane, after) for after in queue.next(lane.number)}
                    yield task, outcome


@dataclass(slots=True)
class Queue:
    """What is left, by its number in the order of work, and which worker has which chain."""

    left: dict[int, Task]
    owners: dict[str, int] = field(default_factory=dict[str, int])

    def next(self, worker: int) -> Iterator[Task]:
        """The first task of a chain that is the worker's or nobody's; the first of all where there is none."""
        if not self.left:
            return
        free = (n for n, task in self.left.items() if self.owners.get(task.chosen.chain, worker) == worker)
        task = self.left.pop(next(free, next(iter(self.left))))
        self.owners.setdefault(task.chosen.chain, worker)
        yield task


class Lane:
    """One worker, and another one after it where it was killed, by the system or by a crash."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pool = _pool()

    def __enter__(self) -> Lane:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=True, kill_workers=True)

    def begin(self, task: Task) -> Future[Outcome]:
        begun(task.chosen.id)
        return cast("Future[Outcome]", self.pool.submit(attempt, task))

    def outcome(self, future: Future[Outcome], task: Task) -> Outcome:
        """Its outcome; once more where its worker ended, and if that one ends too, the task is what ends it."""
        if not _worker_ended(future):
            return future.result()
        self.renew()
        again = self.begin(task)
        if not _worker_ended(again):
            return again.result()
        self.renew()
        return ended(task)

    def renew(self) -> None:
        self.pool.shutdown(wait=True, kill_workers=True)
        self.pool = _pool()


def _pool() -> Any:
    from joblib.externals.loky.process_executor import (  # pyright: ignore[reportMissingTypeStubs]
        ProcessPoolExecutor,  # pyright: ignore[reportUnknownVariableType]
    )

    return cast(Any, ProcessPoolExecutor)(1, initializer=_begin, initargs=(os.getpid(),), env=MEMORY)


def _worker_ended(future: Future[Outcome]) -> bool:
    from joblib.externals.loky.process_executor import (  # pyright: ignore[reportMissingTypeStubs]
        BrokenProcessPool,  # pyright: ignore[reportUnknownVariableType]
    )

    return isinstance(future.exception(), cast("type[Exception]", BrokenProcessPool))


def _begin(parent: int) -> None:
    """What a worker does first. Most of what it makes stays, so that it seldom looks through all of it for garbage."""
    from joblib.externals.loky import process_executor  # pyright: ignore[reportMissingTypeStubs]

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    cast(Any, process_executor)._MAX_MEMORY_LEAK_SIZE = MOST_MEMORY  # what was derived is kept on purpose
    gc.set_threshold(*COLLECTED)
    _end_with_parent(parent)


@cache
def _end_with_parent(parent: int) -> None:
    """Leave no worker behind when the audit is killed: it would wait for tasks that never come."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
