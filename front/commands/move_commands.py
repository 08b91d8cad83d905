"""`fedaudit lint`, `derive`, `verify`, `hunt` and `audit`: one move, or all of them, on many statements."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import UserError
from ..option_values import budget_of, engine_of, output_path, seed_of
from ..output import complain, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from fedaudit.verify.results.row import Row

    from ..running.runner import Done, Engine, Settings
    from ..running.selection import Chosen
    from ..running.store import Folder

__all__ = ["run_move"]


def run_move(arguments: argparse.Namespace) -> int:
    """Carry out lint, derive, verify, hunt or audit as the command line asks; returns the exit status."""
    from ..running.runner import Settings, one_thread, use_backend
    from ..running.selection import choose

    # The first line of progress counts from here, for reading the catalogue takes a while too.
    arguments.began = time.monotonic()
    move: str = arguments.command
    if getattr(arguments, "tree", False):
        return _tree(arguments)
    fail_on: str | None = getattr(arguments, "fail_on", None)
    backend: str = getattr(arguments, "backend", "numpy")
    if fail_on not in (None, "refuted"):
        raise UserError(f"--fail-on {fail_on}", "refuted", "write --fail-on refuted")
    if backend not in ("numpy", "cupy"):
        raise UserError(f"--backend {backend}", "numpy or cupy", "leave it out to use numpy")
    figures = not getattr(arguments, "no_figures", False)
    settings = Settings(seed_of(arguments.seed), budget_of(arguments.budget), backend, figures)
    settings = replace(settings, thorough=getattr(arguments, "thorough", False))
    if getattr(arguments, "memory", None) is not None:
        from fedaudit.verify.settings.runs.limits import memory

        settings = replace(settings, memory=memory(arguments.memory))
    engine, out = engine_of(arguments), None if arguments.out is None else output_path(arguments.out)
    one_thread()
    # Workers choose it for themselves; here a missing device is said before anything is computed.
    use_backend(backend)
    selection = choose(arguments.selectors, well_formed=move != "lint")
    if move == "audit":
        done = _audit(arguments, selection, settings, engine, out)
    else:
        done = _move(arguments, selection, settings, engine, out)
    if done.failures:
        which = "; ".join(f"{name}: {failure}" for name, failure in done.failures.items())
        if done.unsound:
            return complain(f"the tool failed on {which}; no row is to be called proved; do: report it", 70)
        return complain(f"the tool failed on {which}; the other rows are good; do: report it", 1)
    return 1 if fail_on and any(row.outcome == fail_on for row in done.rows) else 0


def _tree(arguments: argparse.Namespace) -> int:
    """What `derive --tree` prints or writes."""
    from fedaudit.bounds.catalogue.discovery import catalogue
    from fedaudit.bounds.lint.wellformed import well_formed

    from .tree import kept, lines, tree

    chosen = well_formed(arguments.selectors)
    statements = catalogue(chosen)
    rows = [tree(statement, statements) for statement in chosen]
    files = kept(rows, output_path(arguments.out)) if arguments.out is not None else 0
    if arguments.json:
        return print_json(rows)
    for row in rows:
        print("\n".join(lines(row)))
    if files:
        print(f"{files} proofs are in {arguments.out}; `fedaudit certify {arguments.out}` checks them")
    return 0


def _move(
    arguments: argparse.Namespace, selection: Sequence[Chosen], settings: Settings, engine: Engine, out: Path | None
) -> Done:
    from ..progress import progress
    from ..running.runner import run
    from ..running.store import Folder
    from .tables import table

    move: str = arguments.command
    held: AbstractContextManager[Folder | None] = Folder.open(out).held() if out else nullcontext()
    with held as folder:
        with progress(move, [one.id for one in selection], engine.jobs, arguments.began) as step:
            done = run(move, selection, settings, engine, step)
        rows = done.rows
        if folder:
            rows = [folder.certified(row) for row in rows]
            folder.rows(move, rows)
    if arguments.json:
        print_json([row.to_json() for row in rows])
    elif getattr(arguments, "latex", False):
        _latex(arguments.selectors, rows)
    else:
        table(move, rows)
    return done


def _latex(selectors: Sequence[str], rows: Sequence[Row]) -> None:
    """derive --latex: the statements with their proofs, as a document of their own."""
    from fedaudit.bounds.formulas.latex_document import document
    from fedaudit.bounds.formulas.latex_sections import section
    from fedaudit.bounds.lint.wellformed import well_formed
    from fedaudit.figures.words.proof_latex import proofs_latex

    ways = {row.id: row.derive.written if row.derive else () for row in rows}
    parts = [part for s in well_formed(selectors) for part in (section(s), proofs_latex(s.id, ways.get(s.id, ())))]
    print(document(", ".join(selectors), [part for part in parts if part]), end="")


def _audit(
    arguments: argparse.Namespace, selection: Sequence[Chosen], settings: Settings, engine: Engine, out: Path | None
) -> Done:
    from pathlib import Path

    from ..progress import progress
    from ..running.runner import audit, header, ordered
    from ..running.store import Folder
    from .report import Pages
    from .tables import summary

    def notice(line: str) -> None:
        complain(line, 0)

    with Folder.open(out or Path("audit")).held() as folder:
        ids = [one.id for one in selection]
        order = ordered(selection, folder)
        with progress("audit", [one.id for one in order], engine.jobs, arguments.began) as step:
            pages = Pages(folder, header(settings), ids)
            try:
                done = audit(selection, settings, engine, folder, step, notice, pages.add, order)
            except BaseException:
                pages.index()
                raise
            page = str(pages.finish(done.rows))
    if arguments.json:
        print_json([row.to_json() for row in done.rows])
    else:
        summary(done.rows, page)
    return done
