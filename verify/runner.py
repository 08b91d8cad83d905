"""Running moves over many statements: budget to effort, worker processes, and an audit that can be resumed.

The same seed gives the same rows whatever the number of jobs: each statement is one task with its own share of the
budget, counted as work and not by the clock, and rows are put in the order of the selection.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .chains import settle
from .errors import UserError, said
from .store import Folder, Row, key_of

if TYPE_CHECKING:
    from fedaudit.bounds.statement import Statement

__all__ = ["Chosen", "Interrupted", "Settings", "audit", "choose", "find", "run"]

AUDIT_BUDGET = 120.0  # seconds, the whole audit
SINGLE_BUDGET = 10.0  # seconds a statement, for verify and hunt on their own
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Progress = Callable[[str, int, int], None]


def silent(name: str, done: int, total: int) -> None:
    """A progress that nobody watches."""


class Interrupted(Exception):
    """The user stopped the run; says what was kept and how to go on."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One statement that was asked for: its id, where a worker finds it again, and what it says."""

    id: str
    origin: str  # the id itself, or the path of the user's file
    content: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What every row depends on besides its statement."""

    seed: int
    budget: float | None = None  # seconds over all statements; None for the default
    backend: str = "numpy"

    def effort(self, move: str, count: int) -> float:
        """Nominal seconds for each of `count` statements."""
        if self.budget is not None:
            return self.budget / max(count, 1)
        share = AUDIT_BUDGET / max(count, 1)
        return share if move == "audit" else min(SINGLE_BUDGET, share)


@dataclass(frozen=True, slots=True)
class Task:
    """One move on one statement, as a worker process receives it."""

    move: str
    chosen: Chosen
    seed: int
    effort: float
    backend: str
    figure: bool


def choose(selectors: Sequence[str]) -> list[Chosen]:
    """What the selectors name, each statement once, in order; raises `ValueError` that says what is unknown."""
    found: dict[str, Chosen] = {}
    for selector in selectors or [""]:
        source = _source_of(selector)
        for made in find([selector] if selector else []):
            origin = selector if source else made.id
            known = found.setdefault(made.id, Chosen(made.id, origin, source + content_of(made)))
            if known.origin != origin:
                raise UserError(f"{made.id} from {known.origin} and from {origin}", "one of them", "rename the id")
    return list(found.values())


def find(selectors: Sequence[str]) -> list[Statement]:
    """The statements that the selectors name; a user's file that ends the process is bad input like any other."""
    from fedaudit.bounds.catalogue import statements

    try:
        return statements(selectors)
    except SystemExit as error:
        raise UserError(
            f"{', '.join(selectors)}, which exits", "files that define statements", "remove the exit"
        ) from error


def content_of(statement: Statement) -> str:
    """What a statement says, as text that is the same in every process."""
    said = [f"{f.name}={getattr(statement, f.name)!r}" for f in fields(statement) if f.repr]
    return ADDRESS.sub("", "\n".join(said))


def run(
    move: str, selection: Sequence[Chosen], settings: Settings, jobs: int, progress: Progress = silent
) -> list[Row]:
    """The rows of one move, in the order of the selection."""
    tasks = _tasks(move, selection, settings, figure=False)
    done: dict[str, Row] = {}
    try:
        for task, row, _ in _work_all(tasks, jobs):
            done[task.chosen.id] = row
            progress(task.chosen.id, len(done), len(tasks))
    except KeyboardInterrupt as error:
        raise Interrupted(f"{len(done)} of {len(tasks)} done, none kept; do: run it again with fewer ids") from error
    return [done[c.id] for c in selection]


def audit(
    selection: Sequence[Chosen], settings: Settings, jobs: int, out: Folder, progress: Progress = silent
) -> dict[str, Any]:
    """Every move on every statement; takes over what an earlier run finished, writes audit.json last."""
    tasks = _tasks("audit", selection, settings, figure=True)
    keys = {t.chosen.id: _key(t) for t in tasks}
    done = {t.chosen.id: row for t in tasks if (row := out.row(t.chosen.id, keys[t.chosen.id])) is not None}
    for number, name in enumerate(done, 1):
        progress(name, number, len(tasks))
    try:
        for task, row, figure in _work_all([t for t in tasks if t.chosen.id not in done], jobs):
            name = task.chosen.id
            done[name] = out.keep(keys[name], row, figure)
            progress(name, len(done), len(tasks))
    except KeyboardInterrupt as error:
        kept = f"{len(done)} of {len(tasks)} statements are kept in {out.path / 'rows'}"
        raise Interrupted(f"{kept}; do: run the same command again to go on from there") from error
    from importlib.metadata import version

    document: dict[str, Any] = {
        "version": version("fedaudit"),
        "seed": settings.seed,
        "budget": AUDIT_BUDGET if settings.budget is None else settings.budget,
        "statements": settle([done[c.id] for c in selection]),
    }
    out.finish(document)
    return document


def one_thread() -> None:
    """BLAS on one thread, here and in every worker: cores go to statements, and sums keep their order."""
    os.environ.update(dict.fromkeys(THREADS, "1"))


def statement_of(chosen: Chosen) -> Statement:
    """The statement again, in whichever process asks."""
    return next(s for s in find([chosen.origin]) if s.id == chosen.id)


def perform(task: Task) -> tuple[Row, str | None]:
    """One task: the row, and for an audit the figure as SVG."""
    from . import audit as moves

    use_backend(task.backend)
    if task.move in ("lint", "derive", "audit"):
        _leave_interrupts_to_us()
    statement = statement_of(task.chosen)
    if task.move in ("lint", "derive"):
        return cast(Row, getattr(moves, f"{task.move}_row")(statement)), None
    row = cast(Row, getattr(moves, f"{task.move}_row")(statement, task.seed, task.effort, task.backend))
    if not task.figure:
        return row, None
    return {**row, "statement": printed(statement)}, figure_of(statement, task.seed)


def use_backend(name: str) -> None:
    """Choose the array library; raises `ValueError` without a device for it."""
    if name != "numpy":
        from fedaudit.problems.backend import namespace

        namespace(name)


def printed(statement: Statement) -> dict[str, Any]:
    """The statement as the report prints it: words, and formulas as LaTeX."""
    from fedaudit.bounds.show import parts

    def words(assumptions: Any) -> list[dict[str, str]]:
        return [{"name": a.name, "says": a.says, "cite": a.cite} for a in assumptions]

    return {
        "title": statement.title,
        "kind": statement.kind,
        "where": statement.cite,
        "method": statement.method,
        "let": words(statement.let),
        "implicit": words(statement.implicit),
        "parts": [[name, lines] for name, lines in parts(statement) if lines],
        "reading": list(statement.reading),
        "repairs": statement.repairs,
    }


def figure_of(statement: Statement, seed: int) -> str | None:
    """Trajectories against the bound as SVG; None where `fedaudit plot` would say that there are none."""
    from fedaudit.figures import draw, svg
    from fedaudit.verify.curves import picture  # by its full name: the type that fedaudit.figures sees

    try:
        return svg(draw(picture(statement, seed)))
    except ValueError as error:
        if said(error) is None:
            raise
        return None


def _tasks(move: str, selection: Sequence[Chosen], settings: Settings, *, figure: bool) -> list[Task]:
    effort = settings.effort(move, len(selection))
    return [Task(move, c, settings.seed, effort, settings.backend, figure) for c in selection]


def _key(task: Task) -> str:
    from importlib.metadata import version

    return key_of(
        task.chosen.id,
        task.chosen.content,
        version=version("fedaudit"),
        seed=task.seed,
        effort=task.effort,
        backend=task.backend,
        libraries=[version(name) for name in ("numpy", "scipy", "sympy", "z3-solver", "python-flint")],
    )


def _source_of(selector: str) -> str:
    """The text of a user's own file: the rows of its statements depend on all of it."""
    path = Path(selector)
    return path.read_text(encoding="utf-8", errors="replace") if selector.endswith(".py") and path.is_file() else ""


def _work_all(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Row, str | None]]:
    """Tasks with their results, as they finish."""
    if jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            yield task, *perform(task)
        return
    import joblib  # pyright: ignore[reportMissingTypeStubs]

    one_thread()
    parallel = cast(Any, joblib)
    pool = parallel.Parallel(min(jobs, len(tasks)), backend="loky", return_as="generator_unordered", batch_size=1)
    calls = (parallel.delayed(_in_worker)(n, t) for n, t in enumerate(tasks))
    results = cast("Generator[tuple[int, Row, str | None]]", pool(calls))
    with closing(results):
        for number, row, figure in results:
            yield tasks[number], row, figure


def _in_worker(number: int, task: Task) -> tuple[int, Row, str | None]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _end_with_parent(os.getppid())
    return number, *perform(task)


@cache
def _leave_interrupts_to_us() -> None:
    """z3 would answer Ctrl-C itself: by giving up on the question at hand, which then counts as its answer."""
    import z3  # pyright: ignore[reportMissingTypeStubs]

    cast(Any, z3).set_param("ctrl_c", False)


@cache
def _end_with_parent(parent: int) -> None:
    """Leave no worker behind when the audit is killed: it would wait for tasks that never come."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
