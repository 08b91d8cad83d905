"""Worker processes on this machine.

A worker keeps what it derived and recorded. So all statements of a chain, which cite one another, go to the worker that
had the first of them; one that has nothing left takes over from the others.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TypeAlias

from ..progress import begun
from .runner import Outcome, Task, attempt, cores, ended, one_thread

__all__ = ["Local"]

MOST_PER_CORE = 4  # workers; each of them computes on one thread
COLLECTED = 200_000, 50, 100  # new objects until garbage is looked for among them; then among older ones
ROOM = 1 << 30  # bytes that a worker's arrays come from and go back to, without asking the system for each
MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(ROOM), "MALLOC_MMAP_THRESHOLD_": str(ROOM), "MALLOC_TOP_PAD_": str(ROOM // 16)}
MOST_MEMORY = 1_500_000_000  # bytes that a worker may have used before a new one takes its place
LOOK = 0.5  # seconds between a worker's looks at whether its parent is there

Answer: TypeAlias = tuple[Outcome | BaseException, int]  # of a worker: with the most bytes that it has used


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
        os.environ.update(MEMORY)  # the C library of a new process reads it; of ours it has been read
        queue = Queue(dict(enumerate(tasks)))
        with ExitStack() as ending:
            lanes = [ending.enter_context(Lane(number)) for number in range(workers)]
            busy: dict[Lane, Task] = {}

            def go_on(lane: Lane) -> None:
                for task in queue.next(lane.number):
                    lane.begin(task)
                    busy[lane] = task

            for lane in lanes:
                go_on(lane)
            while busy:
                ready = wait([lane.connection for lane in busy])
                for lane in [lane for lane in busy if lane.connection in ready]:
                    task = busy.pop(lane)
                    outcome = lane.outcome(task)
                    # The worker has its next task while the caller writes what became of this one.
                    go_on(lane)
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
    """One worker, and another one after it where it was killed, by the system or by a crash, or grew too large."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._start()

    def __enter__(self) -> Lane:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def begin(self, task: Task) -> None:
        """Hand a task to the worker. That it has ended is noticed when its answer is read."""
        begun(task.chosen.id)
        with suppress(OSError):
            self.connection.send(task)

    def outcome(self, task: Task) -> Outcome:
        """The task's outcome. Where its worker ended it is tried again; if that one ends too, the task ends them."""
        answer = self._answer()
        if answer is None:
            self._renew()
            self.begin(task)
            answer = self._answer()
        if answer is None:
            self._renew()
            return ended(task)
        outcome, memory = answer
        if isinstance(outcome, BaseException):
            raise outcome
        if memory > MOST_MEMORY:
            self._renew()
        return outcome

    def _answer(self) -> Answer | None:
        """What the worker sends; None where it ended instead."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads in whatever state they are
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
        with _interrupts_kept():
            self.process.start()
        theirs.close()  # so that the end of the worker is the end of what can be read

    def _end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()

    def _renew(self) -> None:
        self._end()
        self._start()


@contextmanager
def _interrupts_kept() -> Generator[None]:
    """Ctrl-C waits until this is over, and a process that is started meanwhile never gets it: it is ours to answer."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, parent: int) -> None:
    """A worker: it answers one task after the other until its parent closes the connection, or ends.

    Most of what it makes stays, so that it seldom looks through all of it for garbage.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*COLLECTED)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    while True:
        try:
            task: Task = connection.recv()
            done = _attempted(task), _most_memory()
            connection.send(done)
        except (EOFError, OSError):  # nobody asks any more, or waits for the answer
            return


def _attempted(task: Task) -> Outcome | BaseException:
    try:
        return attempt(task)
    except Exception as error:  # the user's, or any in development: it is raised again where the tasks come from
        return error


def _most_memory() -> int:
    """The most bytes that this process has used; nothing where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _end_with_parent(parent: int) -> None:
    """Leave no worker behind when the audit is killed in the middle of a task."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
