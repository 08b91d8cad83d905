"""The grammar of the command line: its commands, their options, and what `--help` says. It loads argparse alone."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from . import recorded_runs
from .commands import export, reproduce, show
from .commands import prove as proving
from .commands import worst as worst_case
from .errors import UserError

__all__ = ["HELP", "PICTURES", "RUNS", "parser", "with_values"]

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
  fedaudit check buttaci/thm4.1-I run.csv L=10 mu=1 alpha=1    a recorded run of your own against a bound
  fedaudit conform scaffold my_loop.py     is your code the stated algorithm, and what is it instead?
  fedaudit new my_paper.py                 a file of your own, complete, to be changed
  fedaudit audit                           every move on all of them; then open audit/index.html
  fedaudit hunt 'buttaci/thm*' --budget 60 try to break some of them for a minute
  fedaudit verify my_paper.py --json       statements of your own, rows for a program
  fedaudit certify audit                   check every counterexample and proof again, in exact arithmetic
  fedaudit reproduce zhang                 a paper's figures, rebuilt; then open reproduce/index.html

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
  fedaudit plot buttaci/thm4.1-I                                       a run against its bound
  fedaudit plot buttaci/thm4.1-I L=10 mu=1 C=10 E=5 d=20 T=200         at sizes and constants of your own
  fedaudit plot buttaci/thm4.1-I L=10 mu=1 E=1,5,20 T=200              several runs in one picture
  fedaudit plot buttaci/thm4.1-I --compare buttaci/thm4.1-II           several statements
  fedaudit plot my_paper.py::li/thm1 L=10 mu=1 E=5 T=200 --out a.pdf   a statement of your own
  fedaudit plot buttaci/thm4.1-I --style paper --out a.pdf             one column wide, without titles
What a run measures (G, Gamma, gap(0)) is what it is on that run. Below the file's name all constants are printed.
A .pgf file needs LaTeX, whose own fonts it takes.
"""
PICTURES = {  # of figures/kinds/named_pictures.py
    "crossover": "rates that change at T = I^3 and T = (b I)^3 (yuan, 1.4 and 1.6), beside what the method does",
    "digits": "networks from imbalanced handwritten digits (buttaci, figures 3.3 to 3.5); needs the extra `data`",
    "table1": "communication complexities side by side (yuan, table 1)",
    "zhang-fig3": "composite federated learning with stochastic gradients (zhang, figure 3)",
}
VALUED = ("bound", "check", "conform", "plot", "worst")  # commands that take NAME=VALUE
TAKES = ("--measure", "--minimise", "--out", "--scale", "--seed")  # their options that take one value
RUNS = ("lint", "derive", "verify", "hunt", "audit")
HELP = {
    "list": "the statements that are encoded",
    "show": "one statement, as printed",
    "export": "a paper's statements, repairs and verdicts as one LaTeX document",
    "bound": "a statement's right-hand side in numbers, term by term",
    "worst": "the worst case at your constants, over all functions and dimensions, from both sides",
    "methods": "the methods that are encoded; of a name, all that statements may use",
    "new": "a file of your own to begin with",
    "assumptions": "the assumptions that a run understands, and what each one asks of an instance",
    "lint": "does it make sense?",
    "derive": "does it follow from what it cites?",
    "verify": "does it hold on real trajectories?",
    "hunt": "can it be broken?",
    "audit": "all moves on every statement; writes a folder with index.html",
    "prove": "look for a proof that nobody wrote, and let the kernel decide it",
    "certify": "check counterexamples, proofs and worst cases again, exactly",
    "check": "a recorded run against a bound, term by term",
    "conform": "is this code the stated algorithm? a recorded run against its rules, and what it is instead",
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
    """The parser of every command."""
    top = Parser(
        prog="fedaudit",
        description=ABOUT,
        epilog=TEACH,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="store_true", help="print the version")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)

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
    # argparse does not know of NAME=VALUE (see `with_values`), so that the usage is written out.
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

    sub = command("check", epilog=recorded_runs.CHECK, formatter_class=argparse.RawDescriptionHelpFormatter)
    recorded_runs.check_arguments(sub)
    _values(sub)

    sub = command("conform", epilog=recorded_runs.CONFORM, formatter_class=argparse.RawDescriptionHelpFormatter)
    recorded_runs.conform_arguments(sub)
    _values(sub)

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
            sub.add_argument("--latex", action="store_true", help="the proof, line by line, as a LaTeX document")
        if name in ("verify", "hunt", "audit"):
            sub.add_argument("--backend", default="numpy", metavar="numpy|cupy", help="array library (default numpy)")
            room = "what a worker's arrays may take, 500MB, 4GB (default 2GB); sizes that need more are not tried"
            sub.add_argument("--memory", metavar="SIZE", help=room)
            wide = "every kind of run and a long search, also of what is proved or has fallen already (docs: verdict)"
            sub.add_argument("--thorough", action="store_true", help=wide)
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
    theorems = (
        "write what is accepted as theorems for Coq to DIR, and let Coq check them where it is; FILE may be an id"
    )
    sub.add_argument("--coq", metavar="DIR", help=theorems)
    _json(sub)

    sub = command("plot", epilog=PLOT, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub.usage = "fedaudit plot ID|NAME [NAME=VALUE…] [--compare ID …] [--style paper] [--seed N] [--out FILE]"
    named = "; ".join(f"{name}: {shows}" for name, shows in PICTURES.items())
    sub.add_argument("selectors", nargs=1, metavar="ID|NAME", help=f"one statement, or a picture by name. {named}")
    _values(sub)
    sub.add_argument("--seed", default="0", metavar="N", help="same seed, same picture (default 0)")
    sub.add_argument("--compare", nargs="+", default=[], metavar="ID", help="other statements in the same picture")
    styled = "page: with titles; paper: runs and bounds alone, one column wide, as .pdf (TrueType fonts) or .pgf"
    sub.add_argument("--style", choices=("page", "paper"), default="page", help=styled)
    sub.add_argument("--out", metavar="FILE", help="a .png, .svg, .pdf or .pgf file (default: the id, .png)")

    sub = command("report")
    sub.add_argument("--out", default="audit", metavar="DIR", help="the folder of an audit (default audit)")

    sub = command("reproduce", epilog=reproduce.ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    reproduce.arguments(sub)

    sub = command("compare")
    for which in ("A", "B"):
        sub.add_argument(which.lower(), metavar=f"{which}.json", help="the audit.json of an audit, or its folder")
    _json(sub)
    return top


def _values(sub: argparse.ArgumentParser) -> None:
    """Adds the hidden option behind which `with_values` puts every NAME=VALUE."""
    sub.add_argument("--values", nargs="*", default=[], help=argparse.SUPPRESS)


def with_values(given: Sequence[str]) -> list[str]:
    """The command line of `bound` or `plot` with every NAME=VALUE at its end, behind one option."""
    if not given or given[0] not in VALUED:
        return list(given)
    # argparse takes positional arguments in one run and would refuse those that stand behind an option.
    # The value of an option is none of them, even with a `=` in it: `--out a=b.png`.
    taken = [n for n, word in enumerate(given) if "=" in word and word[0] != "-" and given[n - 1] not in TAKES]
    rest = [word for n, word in enumerate(given) if n not in taken]
    return [*rest, *(["--values", *(given[n] for n in taken)] if taken else [])]


def _json(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")
