"""The command line. Imports are lazy: `--help` loads argparse and nothing else, `list` no statement, `show` a few."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from .commands import export, reproduce, show
from .commands import prove as proving
from .commands import tighten as tighter
from .commands import worst as worst_case
from .errors import UserError, crash, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from .running.runner import Chosen, Done, Engine, Settings
    from .running.store import Folder

    Row = dict[str, Any]

__all__ = ["main"]

ABOUT = """\
Audits the convergence theory of federated optimisation. A paper's theorems go in as statements; out come verdicts
that a referee can check again: proved, refuted with an exact counterexample, or survived, and how tight it is.
"""
TEACH = """\
start here:
  fedaudit list                            the statements, by paper
  fedaudit show buttaci/thm4.1-I           one of them, as printed
  fedaudit bound buttaci/lem4.1 E=5 G=2 gamma=1/100    its bound in numbers; `fedaudit bound --help` shows more
  fedaudit export yuan --latex --out yuan.tex          a paper's statements and verdicts as a document
  fedaudit worst buttaci/thm4.1-I L=10 mu=1 alpha=1    its worst case over all functions and dimensions, exactly
  fedaudit methods fedprox                 a method, as an algorithm
  fedaudit new my_paper.py                 a file of your own, complete, to be changed
  fedaudit audit                           every move on all of them; then open audit/index.html
  fedaudit hunt 'buttaci/thm*' --budget 60 try to break some of them for a minute
  fedaudit verify my_paper.py --json       statements of your own, rows for a program
  fedaudit certify audit                   check every counterexample and proof again, in exact arithmetic
  fedaudit reproduce zhang                 a paper's figures, rebuilt; then open reproduce/index.html
  fedaudit audit --engine dask://HOST:8786 the same audit on a Dask cluster that you started

moves:
  lint     does the statement make sense? dimensions, satisfiable conditions, limits, step sizes
  derive   does it follow from what it cites? step by step
  verify   does it hold on thousands of admissible runs? margin and tightness
  hunt     can it be broken? search and shrink
  certify  is that really a counterexample? a kernel of its own, rational arithmetic

verdicts:
  proved     for all parameters: the kernel accepts a proof; where lines are taken on z3's word, the row says so
  refuted    an admissible counterexample that the exact kernel accepts; nothing less is called refuted
  survived   attacked and not broken; it proves nothing. tightness is the largest lhs/rhs met: 1 is attained
  undecided  none of these, and the row says why
  of what a paper observed: reproduced, not-reproduced, or reproduced-if (not as printed, only under readings that were
  settled after looking, which the row lists)

exit status: 0 done; 1 a refutation under --fail-on refuted, an invalid certificate, a change for the worse between two
audits, or a statement on which the tool failed; 2 bad input, said in one line (of several certificates all are checked,
and 2 says that one could not be read); 70 the tool failed altogether, or a proof and an exact run disagree; 130
interrupted: an audit keeps what is finished and goes on from there when run again.
"""
MOST_SEED = 2**63 - 1
MOST_BUDGET = 1e6  # seconds: eleven days
MOST_JOBS = 1024
WHAT = "a paper, an id `paper/label`, a glob ('buttaci/thm*'), your own .py file or `my.py::id`; nothing means all"
BOUND = """\
values are exact: 10, 1/3, 0.1, 1e-3; a range t=0:100 or t=0:100:10 and a list E=1,2,4 make tables
examples:
  fedaudit bound buttaci/lem4.1                               says which symbols it needs, and what they mean
  fedaudit bound buttaci/lem4.1 E=5 G=2 gamma=1/100           one number, term by term
  fedaudit bound buttaci/lem4.1 E=1:10 G=2 gamma=1/100 --csv  a table
  fedaudit bound buttaci/lemB.2 L=10 mu=1 alpha=1 E=5 G=2 sigma=1 Gamma=1 p=1/10 C=10 Delta=3 t=100 --minimise gamma
  fedaudit bound buttaci/lem4.1 E=5 G=2 gamma=1/100 --sensitivity
  fedaudit bound buttaci/lem4.1 --compare buttaci/lem4.2 E=1:10 G=2 gamma=1/100
  fedaudit bound my_paper.py::li/thm1 L=10 mu=1 E=5 t=0:100   a statement of your own
What the statement chooses (a step size) or defines is computed. What it measures (gap(0), or Delta that stands for it)
is given like a constant; a quantity with indices has one value for all (p=1/10) or one each ('p(1)=1/2' 'p(2)=1/2').
"""
PLOT = """\
examples:
  fedaudit plot buttaci/thm4.1-I                                       random runs against the bound
  fedaudit plot buttaci/thm4.1-I L=10 mu=1 C=10 E=5 d=20 T=200         at sizes and constants of your own
  fedaudit plot my_paper.py::li/thm1 L=10 mu=1 E=5 T=200 --out a.pdf   a statement of your own
What a run measures (G, Gamma, gap(0)) is what it is on each run.
"""
PICTURES = {  # of figures/kinds/named_pictures.py
    "crossover": "rates that change at T = I^3 and T = (b I)^3 (yuan, 1.4 and 1.6), beside what the method does",
    "digits": "networks from imbalanced handwritten digits (buttaci, figures 3.3 to 3.5); needs the extra `data`",
    "table1": "communication complexities side by side (yuan, table 1)",
    "zhang-fig3": "composite federated learning with stochastic gradients (zhang, figure 3)",
}
VALUED = ("bound", "plot", "worst")  # commands that take NAME=VALUE
TAKES = ("--measure", "--minimise", "--out", "--scale", "--seed")  # their options that take one value
RUNS = ("lint", "derive", "verify", "hunt", "audit")
TLS = {  # as `dask scheduler` calls them
    "--tls-ca-file": "the certificate of the cluster's own authority",
    "--tls-cert": "a certificate of it that you show",
    "--tls-key": "its private key",
}
HELP = {
    "list": "the statements that are encoded",
    "show": "one statement, as printed",
    "export": "a paper's statements, repairs and verdicts as one LaTeX document",
    "bound": "a statement's right-hand side in numbers, term by term",
    "worst": "the worst case at your constants, over all functions and dimensions, from both sides",
    "methods": "the methods that are encoded; of a name, all that statements may use",
    "new": "a file of your own to begin with; from LaTeX where it can be read",
    "assumptions": "the assumptions that a run understands, and what each one asks of an instance",
    "lint": "does it make sense?",
    "derive": "does it follow from what it cites?",
    "verify": "does it hold on real trajectories?",
    "hunt": "can it be broken?",
    "audit": "all moves on every statement; writes a folder with index.html",
    "prove": "look for a proof that nobody wrote, and let the kernel decide it",
    "tighten": "the smallest constants for which the proof of a bound goes through, as a statement of its own",
    "certify": "check counterexamples, proofs and worst cases again, exactly",
    "plot": "a statement's runs against its bound, or a picture by name",
    "report": "write index.html again from audit.json",
    "reproduce": "the papers' figures and tables, rebuilt; claims beside outcomes on one page",
    "compare": "what changed between two audits",
}


class Parser(argparse.ArgumentParser):
    """argparse whose complaints follow the project's rule: one line with got, expected, do."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message, f"`{' '.join(self.format_usage().split()[1:])}`", f"`{self.prog} --help` explains it")


def parser() -> Parser:
    made = Parser(
        prog="fedaudit",
        description=ABOUT,
        epilog=TEACH,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--version", action="store_true", help="print the version")
    commands = made.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)

    def command(name: str, **kwargs: Any) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=HELP[name], description=HELP[name], allow_abbrev=False, **kwargs)

    sub = command("list")
    sub.add_argument("selectors", nargs="*", metavar="PAPER", help=WHAT)
    _json(sub)

    sub = command("show", epilog=show.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    show.arguments(sub, WHAT)

    sub = command("export", epilog=export.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    export.arguments(sub, WHAT)

    sub = command("bound", epilog=BOUND, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub.usage = "fedaudit bound ID NAME=VALUE… [--json | --csv] [--minimise NAME] [--compare ID …] [--sensitivity]"
    sub.add_argument("selectors", nargs=1, metavar="ID", help="one statement, also `my.py::id`")
    _values(sub)
    sub.add_argument("--minimise", metavar="NAME", help="the best value of a symbol under the conditions")
    sub.add_argument("--compare", nargs="+", default=[], metavar="ID", help="bounds of others, and where they cross")
    sub.add_argument("--sensitivity", action="store_true", help="d log(bound) / d log(constant) of each constant")
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="a table for programs")
    form.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")

    sub = command("worst", epilog=worst_case.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    worst_case.arguments(sub)
    _values(sub)

    sub = command("tighten", epilog=tighter.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    tighter.arguments(sub)

    sub = command("prove", epilog=proving.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    proving.arguments(sub)

    sub = command("methods")
    named = "a method's id, a paper, your own .py file or `my.py::id`; nothing lists all"
    sub.add_argument("selectors", nargs="*", metavar="NAME", help=named)
    sub.add_argument("--latex", action="store_true", help="the algorithm as a LaTeX display")
    _json(sub)

    sub = command("new")
    sub.add_argument("file", metavar="FILE", help="a name that ends in .py and is not there yet")
    sub.add_argument("--method", default="fedavg", metavar="NAME", help="fedavg, gd, or a method of a paper (fedprox)")
    sub.add_argument("--latex", metavar="TEXT", help=r"the theorem: 'E f(w_T) - f^* \le \frac{L \|w_0 - w^*\|^2}{2T}'")

    sub = command("assumptions")
    sub.add_argument("names", nargs="*", metavar="NAME", help="a name, or what it is about (losses, noise, …); or all")
    _json(sub)

    for name in RUNS:
        sub = command(name)
        sub.add_argument("selectors", nargs="*", metavar="ID|PAPER", help=WHAT)
        _json(sub)
        sub.add_argument("--seed", default="0", metavar="N", help="same seed, same output (default 0)")
        default = "120 for the whole audit" if name == "audit" else "10 a statement, at most 120"
        sub.add_argument("--budget", metavar="SECONDS", help=f"nominal seconds over all statements (default {default})")
        sub.add_argument("--jobs", metavar="N", help="worker processes (default: one per core); the output is the same")
        writes = "rows, certificates, proofs, figures, audit.json and index.html (default audit)"
        kept = {"audit": writes, "verify": "certificates", "hunt": "certificates"}.get(name, f"{name}.json")
        sub.add_argument("--out", metavar="DIR", help=f"folder for {kept}")
        if name == "derive":
            sub.add_argument(
                "--tree",
                action="store_true",
                help="what each statement rests on; with --out, the proof of each",
            )
        if name in ("verify", "hunt", "audit"):
            elsewhere = "a Dask cluster that you started and nobody else can connect to: its rows count as yours"
            needs = "(extra `dask`; workers with --nthreads 1; tls://HOST:PORT with TLS); same output"
            sub.add_argument("--engine", metavar="dask://HOST:PORT", help=f"{elsewhere} {needs}")
            for option, holds in TLS.items():
                sub.add_argument(option, metavar="FILE", help=f"{holds}, for --engine tls://HOST:PORT")
            sub.add_argument("--backend", default="numpy", metavar="numpy|cupy", help="array library (default numpy)")
            room = "what a worker's arrays may take, 500MB, 4GB (default 2GB); sizes that need more are not tried"
            sub.add_argument("--memory", metavar="SIZE", help=room)
            if name == "audit":
                sub.add_argument("--no-figures", action="store_true", help="draw none; a later run may")
            sub.add_argument("--fail-on", metavar="refuted", help="exit with status 1 if a statement is refuted")

    sub = command("certify")
    sub.add_argument("files", nargs="+", metavar="FILE", help="a certificate or a proof, or the folder of an audit")
    limit = (
        "what one certificate may cost (default 8 s and 1 GB); without the module `resource` the seconds alone count"
    )
    sub.add_argument("--limit", metavar="SECONDS[,GB]", help=limit)
    trusted = "say what an accepted certificate must trust: modules, method, assumptions, both sides, rules"
    sub.add_argument("--explain", action="store_true", help=trusted)
    _json(sub)

    sub = command("plot", epilog=PLOT, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub.usage = "fedaudit plot ID|NAME [NAME=VALUE…] [--seed N] [--out FILE]"
    named = "; ".join(f"{name}: {shows}" for name, shows in PICTURES.items())
    sub.add_argument("selectors", nargs=1, metavar="ID|NAME", help=f"one statement, or a picture by name. {named}")
    _values(sub)
    sub.add_argument("--seed", default="0", metavar="N", help="same seed, same picture (default 0)")
    sub.add_argument("--out", metavar="FILE", help="a .png, .svg or .pdf file (default: the id, .png)")

    sub = command("report")
    sub.add_argument("--out", default="audit", metavar="DIR", help="the folder of an audit (default audit)")

    sub = command("reproduce", epilog=reproduce.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    reproduce.arguments(sub)

    sub = command("compare")
    for which in ("A", "B"):
        sub.add_argument(which.lower(), metavar=f"{which}.json", help="the audit.json of an audit, or its folder")
    _json(sub)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    _streams()
    try:
        status = _dispatch(given)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _interrupted("nothing was kept; do: run it again")
    except BrokenPipeError:  # the reader of our output has seen enough
        _drop_output()
        return 0
    except UserError as error:
        return _complain(str(error), 2)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # no file: our own output
            _drop_output()
            why = error.strerror or "it fails"
            return _complain(
                f"got a standard output that cannot be written ({why}), expected one that can; do: check it", 2
            )
        if sys.flags.dev_mode:
            raise
        what, where = crash(error)
        return _complain(f"the tool failed: {what} ({where}); do: report it with this command line", 70)


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
    known = list(HELP)
    if any("\0" in argument for argument in given):
        raise UserError("an argument with a NUL byte", "arguments without one", "leave it out")
    if given and not given[0].startswith("-") and given[0] not in known:
        raise UserError(f"the command {given[0]!r}", f"one of {', '.join(known)}", _nearest(given[0], known))
    arguments = parser().parse_args(_with_values(given))
    if arguments.version:
        from importlib.metadata import version

        print(f"fedaudit {version('fedaudit')}")
        return 0
    if arguments.command is None:
        raise UserError("no command", f"one of {', '.join(known)}", "`fedaudit --help` shows where to start")
    if arguments.command in RUNS:
        from .running.runner import Interrupted

        try:
            return _run(arguments)
        except Interrupted as error:
            return _interrupted(str(error))
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "list": _list,
        "show": _show,
        "export": _export,
        "bound": _bound,
        "worst": _worst,
        "tighten": _tighten,
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

    if any(file_of(selector) for selector in arguments.selectors):
        rows = [row_of(s) for s in find(arguments.selectors)]
    else:
        rows = [{name: entry[name] for name in LISTED} for entry in listed(arguments.selectors)]
    if arguments.json:
        return _print_json(rows)
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

    found = find_methods(arguments.selectors)
    if arguments.json:
        return _print_json([(full_row if arguments.selectors else row)(paper, m) for paper, m in found])
    if not arguments.selectors and not arguments.latex:
        return _columns([row(paper, m) for paper, m in found], ("id", "paper", "title", "where"))
    print("\n\n".join(box(m, as_latex=True) if arguments.latex else described(m) for _, m in found))
    return 0


def _new(arguments: argparse.Namespace) -> int:
    from .commands.new import written

    unread = written(arguments.file, arguments.method, arguments.latex)
    print(arguments.file)
    return _complain(unread, 0) if unread else 0


def _assumptions(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.language.assumptions import ASSUMPTIONS

    rows: list[Row] = [
        {"id": name, "about": known.about, "constants": known.constants, "asks": known.asks}
        for name, known in ASSUMPTIONS.items()
    ]
    for name in arguments.names:
        if not any(name in (row["id"], row["about"]) for row in rows):
            known = sorted({row[key] for row in rows for key in ("id", "about")})
            raise UserError(name, "an assumption that a run understands", _nearest(name, known))
    chosen = [row for row in rows if not arguments.names or {row["id"], row["about"]} & set(arguments.names)]
    return _print_json(chosen) if arguments.json else _columns(chosen, ("id", "about", "constants", "asks"))


def _show(arguments: argparse.Namespace) -> int:
    made = show.show(arguments)
    if not isinstance(made, str):
        return _print_json(made)
    print(made)
    return 0


def _export(arguments: argparse.Namespace) -> int:
    print(export.export(arguments))
    return 0


def _bound(arguments: argparse.Namespace) -> int:
    from .commands.bound import as_csv, as_rows, as_text, asked
    from .commands.listing import find

    names = [*arguments.selectors, *arguments.compare]
    found = [find([name]) for name in names]
    for name, those in zip(names, found, strict=True):
        if len(those) != 1:
            raise UserError(f"{name}, which names {len(those)} statements", "one id", "pick one of them")
    answer = asked([s for (s,) in found], arguments.values, arguments.minimise, elastic=arguments.sensitivity)
    if arguments.json:
        return _print_json(as_rows(answer))
    print(as_csv(answer) if arguments.csv else as_text(answer), end="" if arguments.csv else "\n")
    return 0


def _worst(arguments: argparse.Namespace) -> int:
    from .progress import progress
    from .running.runner import one_thread

    one_thread()
    out, name = None if arguments.out is None else _out(arguments.out), str(arguments.selectors[0])
    with progress("worst", [name], 1):
        claim, found = worst_case.asked(name, arguments.values, arguments.measure, arguments.scale)
    files = worst_case.kept(claim, found, out) if out else []
    if arguments.json:
        return _print_json([one.row() for one in found])
    print("\n".join([worst_case.as_text(claim, found, arguments.measure is not None), *files]))
    return 0


def _tighten(arguments: argparse.Namespace) -> int:
    from .progress import progress
    from .running.runner import one_thread

    one_thread()
    out, name = None if arguments.out is None else _out(arguments.out), str(arguments.selectors[0])
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise UserError(f"--out {out}", "a file in a folder that exists", "make the folder first")
    with progress("tighten", [name], 1):
        row = tighter.asked(name, worst=not arguments.no_worst)
    if out is not None:
        tighter.kept(row, out)
    if arguments.json:
        return _print_json([row])
    print(tighter.as_text(row, out))
    return 0


def _run(arguments: argparse.Namespace) -> int:
    """lint, derive, verify, hunt, audit."""
    from .running.runner import Settings, choose, one_thread, use_backend

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
    settings = Settings(_seed(arguments.seed), _budget(arguments.budget), backend, figures)
    if getattr(arguments, "memory", None) is not None:
        from fedaudit.verify.settings.runs.limits import memory

        settings = replace(settings, memory=memory(arguments.memory))
    engines, out = _engine(arguments), None if arguments.out is None else _out(arguments.out)
    one_thread()
    use_backend(backend)
    selection = choose(arguments.selectors, well_formed=move != "lint")
    with engines as engine:
        if move == "audit":
            done = _audit(arguments, selection, settings, engine, out)
        else:
            done = _move(arguments, selection, settings, engine, out)
    if done.failures:
        which = "; ".join(f"{name}: {failure}" for name, failure in done.failures.items())
        if done.unsound:
            return _complain(f"the tool failed on {which}; no row is to be called proved; do: report it", 70)
        return _complain(f"the tool failed on {which}; the other rows are good; do: report it", 1)
    return 1 if fail_on and any(row.outcome == fail_on for row in done.rows) else 0


def _tree(arguments: argparse.Namespace) -> int:
    """derive --tree."""
    from fedaudit.bounds.catalogue.discovery import catalogue
    from fedaudit.bounds.lint.wellformed import well_formed

    from .commands.tree import kept, lines, tree

    chosen = well_formed(arguments.selectors)
    known = catalogue(chosen)
    rows = [tree(statement, known) for statement in chosen]
    files = kept(rows, _out(arguments.out)) if arguments.out is not None else 0
    if arguments.json:
        return _print_json(rows)
    for row in rows:
        print("\n".join(lines(row)))
    if files:
        print(f"{files} proofs are in {arguments.out}; `fedaudit certify {arguments.out}` checks them")
    return 0


def _prove(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.catalogue.discovery import catalogue
    from fedaudit.bounds.lint.wellformed import well_formed

    from .progress import begun, progress
    from .running.runner import one_thread

    one_thread()
    _seed(arguments.seed)
    budget = proving.SECONDS if arguments.budget is None else _budget(arguments.budget)
    out = None if arguments.out is None else _out(arguments.out)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise UserError(f"--out {out}", "a file in a folder that exists", "make the folder first")
    chosen = well_formed(arguments.selectors)
    if out is not None and len(chosen) != 1:
        raise UserError(f"--out with {len(chosen)} statements", "one statement", "name it as `fedaudit list` does")
    known, rows = catalogue(chosen), list[dict[str, object]]()
    with progress("prove", [one.id for one in chosen], 1) as step:
        for n, statement in enumerate(chosen):
            begun(statement.id)
            row, file = proving.sought(statement, known, budget or proving.SECONDS)
            if out is not None and file is not None:
                proving.kept(row, file, out)
            rows.append(row)
            step(statement.id, n + 1, len(chosen))
    if arguments.json:
        _print_json(rows)
    else:
        print(proving.as_text(rows))
    if out is not None and rows[0]["certificate"] is None:
        print(f"fedaudit: {out} was not written: there is no proof", file=sys.stderr)
        return 1
    return 0


def _move(
    arguments: argparse.Namespace, selection: Sequence[Chosen], settings: Settings, engine: Engine, out: Path | None
) -> Done:
    from .commands.tables import table
    from .progress import progress
    from .running.runner import run
    from .running.store import Folder

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
        _print_json([row.to_json() for row in rows])
    else:
        table(move, rows)
    return done


def _audit(
    arguments: argparse.Namespace, selection: Sequence[Chosen], settings: Settings, engine: Engine, out: Path | None
) -> Done:
    from pathlib import Path

    from .commands.report import Pages
    from .commands.tables import summary
    from .progress import progress
    from .running.runner import audit, header, ordered
    from .running.store import Folder

    def notice(line: str) -> None:
        _complain(line, 0)

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
        _print_json([row.to_json() for row in done.rows])
    else:
        summary(done.rows, page)
    return done


def _report(arguments: argparse.Namespace) -> int:
    from fedaudit.verify.results.file_names import AUDIT

    from .commands.report import write_report
    from .running.store import Folder

    folder = Folder(_out(arguments.out))
    if not os.path.isfile(folder.path / AUDIT):  # says what is missing, and leaves the folder as it is
        print(write_report(folder))
        return 0
    with Folder.open(folder.path).held():
        print(write_report(folder))
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from .running.runner import one_thread

    seed, out = _seed(arguments.seed), _out(reproduce.FOLDER if arguments.out is None else arguments.out)
    one_thread()
    rows = reproduce.reproduce(arguments.papers, seed, out)
    if arguments.json:
        return _print_json(rows)
    reproduce.table(rows, out / reproduce.INDEX)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from fedaudit.verify.results.audit_json import read_file
    from fedaudit.verify.results.file_names import AUDIT

    from .commands.compare import compare, rows, table, totals, whose
    from .running.store import own_rows

    paths = [_named(path) for path in (arguments.a, arguments.b)]
    before, after = (read_file(path) for path in paths)
    changes = compare(before, after)
    found = rows(changes)
    for path, document in zip(paths, (before, after), strict=True):
        ids = [row.id for row in document.statements]
        if line := whose(str(path), ids, own_rows(path / AUDIT if path.is_dir() else path)):
            _complain(line, 0)
    if arguments.json:
        _print_json(found)
    else:
        table(changes, totals(before, after))
    return int(any(row["worse"] for row in found))


def _certify(arguments: argparse.Namespace) -> int:
    from fedaudit.figures.words.plain_text import instance_lines
    from fedaudit.verify.certify.command import certify_files, status
    from fedaudit.verify.certify.sandbox import LIMIT, Limit

    from .running.store import own_rows

    limit = Limit.parse(arguments.limit) if arguments.limit is not None else LIMIT
    rows = certify_files(arguments.files, limit, telling=instance_lines if arguments.explain else None, owned=own_rows)
    if arguments.json:
        _print_json(rows)
    elif not all(row["malformed"] for row in rows) or not rows:
        from .commands.tables import certified

        certified(rows)
        for row in rows:
            for heading, lines in row.get("explain", {}).items():
                print(f"{heading}:" if lines else f"{heading}: none", *(f"  {line}" for line in lines), sep="\n")
    for row in rows:
        if row["malformed"]:
            _complain(row["reason"], 2)
    return status(rows)


def _plot(arguments: argparse.Namespace) -> int:
    from fedaudit.bounds.catalogue.discovery import find
    from fedaudit.bounds.language.symbol_values import axes_of, points
    from fedaudit.verify.results.file_names import slug

    from .running.files import write
    from .running.runner import one_thread

    seed, name = _seed(arguments.seed), str(arguments.selectors[0])
    found = [] if name in PICTURES else find([name])
    if len(found) != 1 and name not in PICTURES:
        raise UserError(f"{name}, which names {len(found)} statements", "one id", "pick one of them")
    path = _out(f"{slug(found[0].id) if found else name}.png" if arguments.out is None else arguments.out)
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise UserError(f"--out {path}", "a name that ends in .png, .svg or .pdf", "rename it")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--out {path}", "a file in a folder that exists", "make the folder first")
    several = points(axes_of(arguments.values))
    if len(several) != 1:
        raise UserError(f"{len(several)} combinations of values", "one value for each symbol", "make several pictures")
    values = several[0]
    if values and not found:
        raise UserError(f"{name} with values", "a statement", "leave the values out")
    one_thread()
    from fedaudit.figures.drawing import draw, image
    from fedaudit.figures.kinds import named_pictures as pictures
    from fedaudit.verify.pictures.curves import (  # by its full name: the type that fedaudit.figures sees
        curves_at,
        picture,
    )

    if found and values:
        figure = draw(curves_at(found[0], values, seed))
    else:
        figure = draw(picture(found[0], seed)) if found else getattr(pictures, name.replace("-", "_"))(seed)
    write(path, image(figure, path.suffix[1:]))
    print(path)
    return 0


def _values(sub: argparse.ArgumentParser) -> None:
    """NAME=VALUE, wherever it stands: `_with_values` has collected them."""
    sub.add_argument("--values", nargs="*", default=[], help=argparse.SUPPRESS)


def _with_values(given: Sequence[str]) -> list[str]:
    """The command line of `bound` or `plot` with every NAME=VALUE at its end, behind one option."""
    if not given or given[0] not in VALUED:
        return list(given)
    taken = [n for n, word in enumerate(given) if "=" in word and word[0] != "-" and given[n - 1] not in TAKES]
    rest = [word for n, word in enumerate(given) if n not in taken]
    return [*rest, *(["--values", *(given[n] for n in taken)] if taken else [])]


def _json(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def _print_json(rows: Sequence[Row]) -> int:
    import json

    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(rows, indent=1, ensure_ascii=plain, allow_nan=False))
    return 0


def _named(text: str) -> Path:
    """The path of a file that is read; raises `UserError` for a name that no file system takes."""
    from pathlib import Path

    try:
        if text.strip():
            os.lstat(text)
            return Path(text)
    except OSError:
        pass
    raise UserError(f"{text!r}, which is not there", "the audit.json of an audit", "check the path")


def _out(text: str) -> Path:
    """The path after --out; raises `UserError` for a name that no file system takes."""
    from pathlib import Path

    try:
        if text.strip():
            os.lstat(text)
            return Path(text)
        why = "nothing"
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return Path(text)  # whether it can be made is found out when it is
    except OSError as error:
        why = error.strerror or "no name"
    raise UserError(f"--out {text!r} ({why})", "a name", "write it like --out audit")


def _seed(text: str) -> int:
    return _whole("--seed", text, 0, MOST_SEED, "7")


def _budget(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_BUDGET:
        expected = f"a number of seconds above 0, at most {MOST_BUDGET:,.0f}"
        raise UserError(f"--budget {text}", expected, "write it like --budget 60")
    return seconds


def _jobs(text: str | None) -> int:
    if text is None:
        from .running.runner import cores

        return cores()
    return _whole("--jobs", text, 1, MOST_JOBS, "2")


def _engine(arguments: argparse.Namespace) -> AbstractContextManager[Engine]:
    """Who carries out the tasks, once entered."""
    from .running.local import Local

    address: str | None = getattr(arguments, "engine", None)
    options = {option: getattr(arguments, option[2:].replace("-", "_"), None) for option in TLS}
    files = {option: file for option, file in options.items() if file is not None}
    if address is None:
        for option in files:
            do = f"name the scheduler's address, or leave out {option}"
            raise UserError(f"{option} without --engine", "--engine tls://HOST:PORT beside it", do)
        return nullcontext(Local(_jobs(arguments.jobs)))
    if arguments.jobs is not None:
        raise UserError(
            f"--jobs {arguments.jobs} beside --engine", "one of them", "leave out --jobs: the cluster has its workers"
        )
    from .running.cluster import connected

    return connected(address, files)


def _whole(option: str, text: str, least: int, most: int, like: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 30 or not least <= int(text) <= most:
        expected = f"a whole number from {least} to {most}"
        raise UserError(f"{option} {text}", expected, f"write it like {option} {like}")
    return int(text)


def _nearest(given: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(given, known, n=1)
    return f"did you mean {shlex.quote(near[0])}?" if near else "`fedaudit --help` explains them"


def _interrupted(line: str) -> int:
    """Say so in one line; objects that were half made when the signal came have nothing to add."""
    sys.unraisablehook = lambda _: None
    return _complain(f"interrupted, {line}", 130)


def _complain(line: str, status: int) -> int:
    print(f"fedaudit: {one_line(line)}", file=sys.stderr)
    return status
