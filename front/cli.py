"""The command line: what was asked is handed to the module of its command.

Imports are lazy: `--help` loads argparse and nothing else, `list` no statement, `show` a few.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fedaudit.output import JsonObject

from . import recorded_runs
from .commands import export, reproduce, show
from .commands import prove as proving
from .commands import worst as worst_case
from .errors import UserError, crash
from .grammar import HELP, PICTURES, RUNS, parser, with_values
from .option_values import budget_of, existing_path, nearest, output_path, seed_of
from .output import complain, print_json

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.certify.sandbox import Limit
    from fedaudit.verify.results.row import WrittenProof

__all__ = ["HELP", "PICTURES", "RUNS", "main", "parser"]

Row = JsonObject


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    _streams()
    try:
        status = _dispatch(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _interrupted("nothing was kept; do: run it again")
    except BrokenPipeError:  # the reader of our output has seen enough
        _drop_output()
        return 0
    except UserError as error:
        return complain(str(error), 2)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # no file: our own output
            _drop_output()
            why = error.strerror or "it fails"
            return complain(
                f"got a standard output that cannot be written ({why}), expected one that can; do: check it", 2
            )
        # `python -X dev` is for those who mend the tool: they want the traceback.
        if sys.flags.dev_mode:
            raise
        what, where = crash(error)
        return complain(f"the tool failed: {what} ({where}); do: report it with this command line", 70)


def _streams() -> None:
    """Output that never fails because of a character, nor because a stream was closed before we began."""
    import io

    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Python writes what is left at its end and would complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(given: Sequence[str]) -> int:
    known_commands = list(HELP)
    if any("\0" in argument for argument in given):
        raise UserError("an argument with a NUL byte", "arguments without one", "leave it out")
    if given and not given[0].startswith("-") and given[0] not in known_commands:
        raise UserError(
            f"the command {given[0]!r}", f"one of {', '.join(known_commands)}", nearest(given[0], known_commands)
        )
    arguments = parser().parse_args(with_values(given))
    if arguments.version:
        from importlib.metadata import version

        print(f"fedaudit {version('fedaudit')}")
        return 0
    if arguments.command is None:
        raise UserError("no command", f"one of {', '.join(known_commands)}", "`fedaudit --help` shows where to start")
    if arguments.command in RUNS:
        from .commands.move_commands import run_move
        from .running.runner import Interrupted

        try:
            return run_move(arguments)
        except Interrupted as error:
            return _interrupted(str(error))
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "list": _list,
        "show": _show,
        "export": _export,
        "bound": _bound,
        "worst": _worst,
        "check": _check,
        "conform": _conform,
        "prove": _prove,
        "methods": _methods,
        "new": _new,
        "assumptions": _assumptions,
        "certify": _certify,
        "plot": _plot,
        "report": _report,
        "reproduce": _reproduce,
        "compare": _compare,
    }
    return commands[arguments.command](arguments)


def _list(arguments: argparse.Namespace) -> int:
    from .commands.listing import LISTED, file_of, find, listed, row_of

    # The listing is quick and knows the catalogue alone; statements of the user's own files have to be built.
    if any(file_of(selector) for selector in arguments.selectors):
        rows = [row_of(s) for s in find(arguments.selectors)]
    else:
        rows = [{name: entry[name] for name in LISTED} for entry in listed(arguments.selectors)]
    if arguments.json:
        return print_json(rows)
    return _columns(rows, ("id", "kind", "title", "where"))


def _columns(rows: Sequence[Row], columns: tuple[str, ...]) -> int:
    lines = [columns, *(tuple(str(row[name]) for name in columns) for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    return 0


def _methods(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.catalogue.discovery import find_methods
    from fedaudit.bounds.formulas.algorithm_box import box

    from .commands.methods import described, full_row, row

    boxes = find_methods(arguments.selectors)
    if arguments.json:
        return print_json([(full_row if arguments.selectors else row)(paper, m) for paper, m in boxes])
    if not arguments.selectors and not arguments.latex:
        return _columns([row(paper, m) for paper, m in boxes], ("id", "paper", "title", "where"))
    print("\n\n".join(box(m, as_latex=True) if arguments.latex else described(m) for _, m in boxes))
    return 0


def _new(arguments: argparse.Namespace) -> int:
    from .commands.new import written

    written(arguments.file, arguments.method)
    print(arguments.file)
    return 0


def _assumptions(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.language.assumptions import ASSUMPTIONS

    rows: list[Row] = [
        {"id": name, "about": record.about, "constants": record.constants, "asks": record.asks}
        for name, record in ASSUMPTIONS.items()
    ]
    for name in arguments.names:
        if not any(name in (row["id"], row["about"]) for row in rows):
            row_names = sorted({row[key] for row in rows for key in ("id", "about")})
            raise UserError(name, "an assumption that a run understands", nearest(name, row_names))
    chosen = [row for row in rows if not arguments.names or {row["id"], row["about"]} & set(arguments.names)]
    return print_json(chosen) if arguments.json else _columns(chosen, ("id", "about", "constants", "asks"))


def _show(arguments: argparse.Namespace) -> int:
    answer = show.show(arguments)
    if not isinstance(answer, str):
        return print_json(answer)
    print(answer)
    return 0


def _export(arguments: argparse.Namespace) -> int:
    print(export.export(arguments))
    return 0


def _bound(arguments: argparse.Namespace) -> int:
    from .commands.bound import as_csv, as_rows, as_text, asked
    from .commands.listing import find

    names = [*arguments.selectors, *arguments.compare]
    selected = [find([name]) for name in names]
    for name, those in zip(names, selected, strict=True):
        if len(those) != 1:
            raise UserError(f"{name}, which names {len(those)} statements", "one id", "pick one of them")
    answer = asked([s for (s,) in selected], arguments.values, arguments.minimise, elastic=arguments.sensitivity)
    if arguments.json:
        return print_json(as_rows(answer))
    print(as_csv(answer) if arguments.csv else as_text(answer), end="" if arguments.csv else "\n")
    return 0


def _worst(arguments: argparse.Namespace) -> int:
    from .progress import progress
    from .running.runner import one_thread

    one_thread()
    out, name = None if arguments.out is None else output_path(arguments.out), str(arguments.selectors[0])
    with progress("worst", [name], 1):
        claim, found = worst_case.asked(name, arguments.values, arguments.measure, arguments.scale, arguments.solver)
    files = worst_case.kept(claim, found, out) if out else []
    if arguments.json:
        return print_json([one.row() for one in found])
    print("\n".join([worst_case.as_text(claim, found, arguments.measure is not None), *files]))
    return 0


def _prove(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.catalogue.discovery import catalogue
    from fedaudit.bounds.lint.wellformed import well_formed

    from .progress import begun, progress
    from .running.runner import one_thread

    one_thread()
    seed_of(arguments.seed)
    budget = proving.SECONDS if arguments.budget is None else budget_of(arguments.budget)
    out = None if arguments.out is None else output_path(arguments.out)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise UserError(f"--out {out}", "a file in a folder that exists", "make the folder first")
    chosen = well_formed(arguments.selectors)
    if out is not None and len(chosen) != 1:
        raise UserError(f"--out with {len(chosen)} statements", "one statement", "name it as `fedaudit list` does")
    known = catalogue(chosen)
    rows: list[proving.Row] = []
    ways: list[Sequence[WrittenProof]] = []
    with progress("prove", [one.id for one in chosen], 1) as step:
        for n, statement in enumerate(chosen):
            begun(statement.id)
            row, written, file = proving.sought(statement, known, budget or proving.SECONDS)
            if out is not None and file is not None:
                proving.kept(row, file, out)
            rows.append(row)
            ways.append(written)
            step(statement.id, n + 1, len(chosen))
    if arguments.json:
        print_json(rows)
    else:
        for row, written in zip(rows, ways, strict=True):
            proving.show(row, written)
    if out is not None and rows[0]["certificate"] is None:
        print(f"fedaudit: {out} was not written: there is no proof", file=sys.stderr)
        return 1
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from .running.runner import one_thread

    one_thread()
    out = None if arguments.out is None else output_path(arguments.out)
    answer = recorded_runs.checked_run(arguments.id, arguments.run, arguments.values, arguments.at_most)
    if out is not None:
        recorded_runs.drawn(answer, out)
    if arguments.json:
        print_json([answer.row()])
    else:
        print("\n".join([str(answer), *([str(out)] if out else [])]))
    return 0 if answer.holds else 1


def _conform(arguments: argparse.Namespace) -> int:
    from .running.runner import one_thread

    one_thread()
    answer = recorded_runs.conforming_run(arguments.method, arguments.run, arguments.values)
    if isinstance(answer, str):
        print(answer, end="")
        return 0
    if arguments.json:
        print_json([answer.row()])
    else:
        print(answer)
    return 0 if answer.conforms else 1


def _report(arguments: argparse.Namespace) -> int:
    from fedaudit.verify.results.file_names import AUDIT

    from .commands.report import write_report
    from .running.store import Folder

    folder = Folder(output_path(arguments.out))
    if not os.path.isfile(folder.path / AUDIT):  # says what is missing, and leaves the folder as it is
        print(write_report(folder))
        return 0
    with Folder.open(folder.path).held():
        print(write_report(folder))
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from .running.runner import one_thread

    seed, out = seed_of(arguments.seed), output_path(reproduce.FOLDER if arguments.out is None else arguments.out)
    one_thread()
    rows = reproduce.reproduce(arguments.papers, seed, out)
    if arguments.json:
        return print_json(rows)
    reproduce.table(rows, out / reproduce.INDEX)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from fedaudit.verify.results.audit_json import read_file
    from fedaudit.verify.results.file_names import AUDIT

    from .commands.compare import compare, rows, table, totals, whose
    from .running.store import own_rows

    paths = [existing_path(path) for path in (arguments.a, arguments.b)]
    before, after = (read_file(path) for path in paths)
    changes = compare(before, after)
    changed = rows(changes)
    for path, document in zip(paths, (before, after), strict=True):
        ids = [row.id for row in document.statements]
        if line := whose(str(path), ids, own_rows(path / AUDIT if path.is_dir() else path)):
            complain(line, 0)
    if arguments.json:
        print_json(changed)
    else:
        table(changes, totals(before, after))
    return int(any(row["worse"] for row in changed))


def _certify(arguments: argparse.Namespace) -> int:
    from fedaudit.figures.words.plain_text import instance_lines
    from fedaudit.verify.certify.command import certify_files, status
    from fedaudit.verify.certify.sandbox import LIMIT, Limit

    from .running.store import own_rows

    limit = Limit.parse(arguments.limit) if arguments.limit is not None else LIMIT
    if arguments.coq is not None:
        return _certify_coq(arguments, limit)
    rows = certify_files(arguments.files, limit, telling=instance_lines if arguments.explain else None, owned=own_rows)
    if arguments.json:
        print_json(rows)
    # Where no file can be read, the complaints below say all that the table would.
    elif not all(row["malformed"] for row in rows) or not rows:
        from .commands.tables import certified

        certified(rows)
        for row in rows:
            for heading, lines in row.get("explain", {}).items():
                print(f"{heading}:" if lines else f"{heading}: none", *(f"  {line}" for line in lines), sep="\n")
    for row in rows:
        if row["malformed"]:
            complain(row["reason"], 2)
    return status(rows)


def _certify_coq(arguments: argparse.Namespace, limit: Limit) -> int:
    from fedaudit.verify.certify.command import certify_files, status

    from .commands.coq import evidence, exported, summary

    folder = Path(arguments.coq)
    rows = exported(certify_files(evidence(arguments.files), limit), folder)
    if arguments.json:
        print_json(rows)
    else:
        from .commands.tables import certified

        certified(rows)
        print(*summary(rows, folder), sep="\n")
    for row in rows:
        if row["malformed"]:
            complain(row["reason"], 2)
    # Where Coq is not installed a theorem has a reason and no axioms, and that is no refusal.
    refused = any(row["coq"] is not None and row["coq"]["reason"] and "axioms" in row["coq"] for row in rows)
    return max(status(rows), int(refused))


def _plot(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.language.symbol_values import axes_of, points
    from fedaudit.verify.results.file_names import slug

    from .picture_files import Request
    from .running.files import write
    from .running.runner import one_thread

    seed, name = seed_of(arguments.seed), str(arguments.selectors[0])
    named = name in PICTURES
    chosen = [] if named else [_one(other) for other in (name, *arguments.compare)]
    path = output_path(f"{slug(chosen[0].id) if chosen else name}.png" if arguments.out is None else arguments.out)
    if path.suffix not in (".png", ".svg", ".pdf", ".pgf"):
        raise UserError(f"--out {path}", "a name that ends in .png, .svg, .pdf or .pgf", "rename it")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--out {path}", "a file in a folder that exists", "make the folder first")
    several = points(axes_of(arguments.values))
    if named and (several != [{}] or arguments.compare or arguments.style != "page"):
        raise UserError(f"{name} with values, --compare or --style", "a statement", "leave them out")
    one_thread()
    # Matplotlib brings NumPy, whose BLAS reads the number of threads once, when it is loaded.
    from fedaudit.figures.drawing import image
    from fedaudit.figures.kinds import named_pictures

    if named:
        figure, said = getattr(named_pictures, name.replace("-", "_"))(seed), list[str]()
    else:
        figure, said = Request(chosen, several, seed, arguments.style).figure()
    write(path, image(figure, path.suffix[1:]))
    print(path, *filter(None, said), sep="\n")
    return 0


def _one(name: str) -> Statement:
    """The statement of an id; raises `UserError` where it names none or several."""
    from fedaudit.bounds.catalogue.discovery import find

    chosen = find([name])
    if len(chosen) != 1:
        raise UserError(f"{name}, which names {len(chosen)} statements", "one id", "pick one of them")
    return chosen[0]


def _interrupted(line: str) -> int:
    """Say so in one line; objects that were half made when the signal came have nothing to add."""
    sys.unraisablehook = lambda _: None
    return complain(f"interrupted, {line}", 130)
