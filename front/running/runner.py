"""Running moves over many statements: budget to effort, worker processes, and an audit that can be resumed.

The same seed gives the same rows whatever carries them out: each statement is one task with its own share of the
budget, counted as work and not by the clock, and rows are put in the order of the selection.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from fedaudit.verify.results.file_names import PROOFS
from fedaudit.verify.results.json_fields import Json
from fedaudit.verify.results.row import DerivedPart, LintLine, Move, Row, read_printed
from fedaudit.verify.results.settled_citations import proof_citations, rests_on, settle, unproved

from ..commands.listing import file_of, find
from ..errors import UserError, crash
from .own_marks import no_key
from .selection import Chosen, of_catalogue
from .store import Damaged, Folder, Foreign, key_of

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = [
    "Done",
    "Engine",
    "Interrupted",
    "Outcome",
    "Settings",
    "Task",
    "attempt",
    "audit",
    "cores",
    "ended",
    "header",
    "libraries",
    "one_thread",
    "ordered",
    "run",
]

AUDIT_BUDGET = 120.0  # seconds, the whole audit
SINGLE_BUDGET = 10.0  # seconds a statement, for verify and hunt on their own
# What libraries read as they are loaded. Workers have the cores already, so that threads of theirs would only wait.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MEMORY = 2 * 10**9  # bytes
WEIGHT = ("thm", "cor", "prop", "lem")  # labels of ids, the weightiest first

Progress = Callable[[str, int, int], None]
Notice = Callable[[str], None]


class Show(Protocol):
    """Who is shown each row of an audit as soon as it is finished, or taken over from an earlier run."""

    def __call__(self, row: Row, *, fresh: bool = True) -> None: ...


def silent(*_: object, **__: object) -> None:
    """A progress that nobody watches."""


class Interrupted(Exception):
    """The user stopped the run; says what was kept and how to go on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What every row depends on besides its statement."""

    seed: int
    budget: float | None = None  # seconds over all statements; None for the default
    backend: str = "numpy"
    figures: bool = True  # no row depends on them
    memory: int = MEMORY  # bytes that a worker's arrays may take
    thorough: bool = False  # whether everything is searched, whatever is known of it

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
    known: Row | None = None  # the row, where only its figure is wanted
    memory: int = MEMORY
    thorough: bool = False
    proofs: str = ""  # the folder of proofs that this audit has written so far

    @property
    def asked(self) -> tuple[int, float, str, int, bool]:
        """What a search is given beside the statement."""
        return self.seed, self.effort, self.backend, self.memory, self.thorough


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: its row, for an audit the figure as SVG, and where the tool failed if it did."""

    row: Row
    figure: str | None = None
    failure: str | None = None
    undrawn: str | None = None  # where the tool failed on the figure alone
    unsound: bool = False  # whether it failed as a proof and an exact run disagree


class Engine(Protocol):
    """Somebody who carries out tasks and hands over each outcome as it comes: this process, or workers."""

    @property
    def jobs(self) -> int:
        """How many of them at a time."""
        ...

    def work(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Tasks with their results, as they finish."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command: its rows in the order of the selection, and the statements on which the tool failed."""

    rows: list[Row]
    failures: dict[str, str]  # id -> the error and its place
    header: Json = field(default_factory=dict[str, Any])  # what an audit's audit.json says beside them
    unsound: bool = False  # whether a proof and an exact run disagree: then no `proved` is to be believed


def run(
    move: str, selection: Sequence[Chosen], settings: Settings, engine: Engine, progress: Progress = silent
) -> Done:
    """The rows of one move."""
    tasks = _tasks(move, selection, settings, figure=False)
    done: dict[str, Row] = {}
    failures: dict[str, str] = {}
    unsound = False
    try:
        for task, outcome in engine.work(tasks):
            done[task.chosen.id] = outcome.row
            if outcome.failure:
                failures[task.chosen.id] = outcome.failure
            unsound = unsound or outcome.unsound
            progress(task.chosen.id, len(done), len(tasks))
    except KeyboardInterrupt as error:
        raise Interrupted(f"{len(done)} of {len(tasks)} done, none kept; do: run it again with fewer ids") from error
    return Done([done[c.id] for c in selection], failures, unsound=unsound)


def audit(
    selection: Sequence[Chosen],
    settings: Settings,
    engine: Engine,
    out: Folder,
    progress: Progress = silent,
    notice: Notice = silent,
    show: Show = silent,
    order: Sequence[Chosen] | None = None,
) -> Done:
    """Every move on every statement; takes over what an earlier run of this user finished, writes audit.json last.

    In this `order`, if they were `ordered` already. A statement on which the tool fails costs no other: its row says so
    and is not kept for the next run.
    """
    tasks = _tasks("audit", order or ordered(selection, out), settings, figure=settings.figures)
    tasks = [replace(task, proofs=str(out.path / PROOFS)) for task in tasks]
    keys = {t.chosen.id: _key(t) for t in tasks}
    done: dict[str, Row] = {}
    bare: dict[str, Row] = {}  # finished by an earlier run that drew no figures
    failures: dict[str, str] = {}
    strangers, unsound = 0, False
    try:
        for task in tasks:
            try:
                row = out.row(task.chosen.id, keys[task.chosen.id])
            except Damaged as error:
                notice(f"{task.chosen.id} is done again: {error}")
                continue
            except Foreign:
                strangers += 1
                continue
            if row is not None and settings.figures and not row.is_drawn:
                bare[task.chosen.id] = row
            elif row is not None:
                done[task.chosen.id] = row
                show(row, fresh=False)
                progress(task.chosen.id, len(done), len(tasks))
        if strangers:
            why = no_key()
            rows = f"{strangers} finished row{'s' if strangers > 1 else ''}"
            notice(f"{rows} in {out.path} without this user's mark: decided again{why and f'; {why}'}")
        out.forget_proofs({*done, *bare})
        left = [_undone(t, bare.get(t.chosen.id), out) for t in tasks if t.chosen.id not in done]
        for task, outcome in engine.work(left):
            name = task.chosen.id
            unsound = unsound or outcome.unsound
            for cited, proof in outcome.row.cited.items():  # so that no other worker has to find it
                if cited not in done and not out.has_proof(cited):
                    out.prove(cited, proof)
            if outcome.failure:
                failures[name] = outcome.failure
                # Where an earlier run finished the row and only its figure was asked for, that row stays good.
                done[name] = bare.get(name, outcome.row)
            elif name in bare:
                done[name] = out.illustrate(keys[name], bare[name], outcome.figure, drawn=not outcome.undrawn)
            else:
                drawn = settings.figures and not outcome.undrawn
                done[name] = out.keep(keys[name], replace(outcome.row, cited={}), outcome.figure, drawn=drawn)
            if outcome.undrawn:
                failures[name] = outcome.undrawn
            show(done[name])
            progress(name, len(done), len(tasks))
        faults = _prove_cited(selection, done, settings, engine, out)
        failures, unsound = {**failures, **faults}, unsound or bool(faults)
    except KeyboardInterrupt as error:
        kept = f"{len(done) - len(failures)} of {len(tasks)} statements are kept in {out.path / 'rows'}"
        raise Interrupted(f"{kept}; do: run the same command again to go on from there") from error
    rows, about = settle([done[c.id] for c in selection]), header(settings)
    out.finish({**about, "statements": [row.to_json() for row in rows]})
    return Done(rows, failures, about, unsound)


def _prove_cited(
    selection: Sequence[Chosen], done: dict[str, Row], settings: Settings, engine: Engine, out: Folder
) -> dict[str, str]:
    """Write the proofs of statements that are cited and were not asked for; what rests on one without is not proved.

    Says which of these proofs disagree with an exact run, and how.
    """
    chosen, rows, faults = {one.id: one for one in selection}, dict(done), dict[str, str]()
    # A statement that is cited may cite others, whose proofs are then wanted as well.
    while wanted := {name: chosen[by] for by, row in rows.items() for name in _cited(row) if name not in rows}:
        tasks = _tasks("proof", [_beside(name, by) for name, by in wanted.items()], settings, figure=False)
        for task, outcome in engine.work([replace(task, proofs=str(out.path / PROOFS)) for task in tasks]):
            name = task.chosen.id
            chosen[name] = task.chosen
            if outcome.unsound:
                faults[name] = outcome.failure or ""
            rows[name] = replace(outcome.row, proof=out.prove(name, outcome.row.proof))
    for name, row in done.items():
        lost = [one for one in (name, *rests_on(name, rows, proof_citations)) if not rows[one].proof]
        if row.verdict == "proved" and lost:
            done[name] = unproved(row, lost)
    return faults


def _cited(row: Row) -> list[str]:
    """The statements whose proofs its own proof needs."""
    return list(proof_citations(row)) if row.proof else []


def _beside(name: str, citing: Chosen) -> Chosen:
    """A statement that another one cites: of the catalogue, or of the same file."""
    own = file_of(citing.origin) and any(s.id == name for s in find([citing.origin]))
    return replace(citing, id=name) if own else next(of_catalogue([name]))


def _undone(task: Task, bare: Row | None, out: Folder) -> Task:
    """The task, or only the figure of a row that has none."""
    if bare is None:
        return task
    held = bare.certificate
    return replace(
        task, move="plot", known=replace(bare, certificate=out.certificate(held) if isinstance(held, str) else held)
    )


def ordered(selection: Sequence[Chosen], out: Folder) -> list[Chosen]:
    """In the order of work: what fell before and theorems first, so that an interrupted audit is worth reading."""

    def rank(chosen: Chosen) -> tuple[bool, int]:
        label = chosen.id.partition("/")[2]
        kind = next((n for n, kind in enumerate(WEIGHT) if label.startswith(kind)), len(WEIGHT))
        return out.verdict(chosen.id) != "refuted", kind

    return sorted(selection, key=rank)


def header(settings: Settings) -> dict[str, Any]:
    """What audit.json says beside its rows."""
    from importlib.metadata import version

    budget = AUDIT_BUDGET if settings.budget is None else settings.budget
    said = {"version": version("fedaudit"), "seed": settings.seed, "budget": budget}
    return {**said, "thorough": True} if settings.thorough else said


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_thread() -> None:
    """BLAS on one thread, here and in every worker: cores go to statements, and sums keep their order."""
    os.environ.update(dict.fromkeys(THREADS, "1"))


def statement_of(chosen: Chosen) -> Statement:
    """The statement again, in whichever process asks."""
    from fedaudit.bounds.catalogue.discovery import find

    return next(s for s in find([chosen.origin]) if s.id == chosen.id)


def attempt(task: Task) -> Outcome:
    """One task, also where the tool fails on it: that is our fault, and the other statements' rows are still good."""
    try:
        row = perform(task)
    except Exception as error:
        from fedaudit.verify.proposals.measured_runs import Disagreement

        what, where = _ours(error)
        unsound = isinstance(error, Disagreement)
        return Outcome(failed_row(task, f"the tool failed: {what}"), failure=f"{what} ({where})", unsound=unsound)
    try:
        return Outcome(row, figure_of(statement_of(task.chosen), task.seed, task.known or row) if task.figure else None)
    except Exception as error:  # a picture that fails takes no verdict with it
        what, where = _ours(error)
        return Outcome(row, undrawn=f"its figure: {what} ({where})")


def _ours(error: Exception) -> tuple[str, str]:
    """What an error of ours is, and where it arose; the user's, and all of them in development, are raised."""
    if sys.flags.dev_mode or isinstance(error, UserError):
        raise error
    return crash(error)


def failed_row(task: Task, reason: str) -> Row:
    """What is known about a statement on which the tool failed: nothing."""
    identifier = task.chosen.id
    undecided = Move("undecided", reason=reason, instances=0, seconds=0.0, seed=task.seed)
    match task.move:
        case "lint":
            return Row(identifier, lint=(LintLine("failed", reason),))
        case "derive":
            return Row(identifier, derive=DerivedPart("not-derived", findings=(reason,)))
        case "verify":
            return Row(identifier, verify=undecided)
        case "hunt":
            return Row(identifier, hunt=undecided)
        case _:
            return Row(identifier, "undecided", reason=reason)


def perform(task: Task) -> Row:
    """The row of one task; nothing but its id where only its figure is wanted."""
    from fedaudit.bounds.catalogue.discovery import place
    from fedaudit.bounds.formulas.statement_text import printed
    from fedaudit.verify.moves import rows as moves

    use_backend(task.backend)
    if task.move in ("lint", "derive", "audit", "proof"):
        _leave_interrupts_to_us()
    if task.move == "plot":
        return Row(task.chosen.id)
    statement, proofs = statement_of(task.chosen), Path(task.proofs) if task.proofs else None
    try:
        match task.move:
            case "lint":
                return moves.lint_row(statement)
            case "derive":
                return moves.derive_row(statement)
            case "proof":
                return moves.proof_row(statement, proofs)
            case "verify":
                return moves.verify_row(statement, *task.asked)
            case "hunt":
                return moves.hunt_row(statement, *task.asked)
            case _:
                row = moves.audit_row(statement, *task.asked, proofs)
                return replace(row, statement=read_printed(printed(statement)))
    except UserError as error:
        path = file_of(task.chosen.origin)
        raise UserError(f"{place(statement, path)}: {error}") if path else error from error


def use_backend(name: str) -> None:
    """Choose the array library; raises `UserError` without a device for it."""
    if name != "numpy":
        from fedaudit.problems.arrays.backend import namespace

        namespace(name)


def figure_of(statement: Statement, seed: int, row: Row) -> str | None:
    """The statement with what its row found, as SVG; None where `fedaudit plot` would say that there is none."""
    from fedaudit.figures.drawing import draw, svg
    from fedaudit.verify.pictures.curves import picture  # by its full name: the type that fedaudit.figures sees

    try:
        return svg(draw(picture(statement, seed, row.to_json())))
    except UserError:
        return None


def _tasks(move: str, selection: Sequence[Chosen], settings: Settings, *, figure: bool) -> list[Task]:
    effort = settings.effort(move, len(selection))
    seed, backend, memory, thorough = settings.seed, settings.backend, settings.memory, settings.thorough
    return [Task(move, c, seed, effort, backend, figure, memory=memory, thorough=thorough) for c in selection]


@cache
def libraries() -> dict[str, str]:
    """Our version, and those of the libraries that a row depends on."""
    from importlib.metadata import version

    names = ("fedaudit", "numpy", "scipy", "sympy", "z3-solver", "python-flint", "clarabel")
    return {name: version(name) for name in names}


def _key(task: Task) -> str:
    return key_of(
        task.chosen.id,
        task.chosen.content,
        seed=task.seed,
        effort=task.effort,
        backend=task.backend,
        memory=task.memory,
        thorough=task.thorough,
        libraries=list(libraries().values()),
    )


def ended(task: Task) -> Outcome:
    """The outcome of a task that took its worker process down with it: nothing is known of the statement."""
    what = "its worker process ended"
    return Outcome(failed_row(task, f"the tool failed: {what}"), None, what)


@cache
def _leave_interrupts_to_us() -> None:
    """z3 would answer Ctrl-C itself: by giving up on the question at hand, which then counts as its answer."""
    import z3  # pyright: ignore[reportMissingTypeStubs]

    cast(Any, z3).set_param("ctrl_c", False)
