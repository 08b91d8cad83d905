"""`fedaudit export`: a paper's statements, repairs and verdicts as one LaTeX document.

Verdicts come from an audit's folder. The kernel checks refutations and proofs before they are written down; every other
verdict is what audit.json says, and the document says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.certify.standing import Checked
    from fedaudit.verify.results.row import WrittenProof

__all__ = ["ABOUT", "arguments", "export"]

ABOUT = """\
examples:
  fedaudit export yuan --latex --out yuan.tex                       with the verdicts of ./audit, if it is there
  fedaudit export 'buttaci/thm*' --latex --audit runs/monday        with those of another audit
  fedaudit export my_paper.py --latex > mine.tex                    statements of your own
It compiles with pdflatex, xelatex, lualatex and tectonic and needs the packages of every installation of TeX alone.
Refutations and proofs are checked by the exact kernel before they are written down; the rest is what audit.json says.
"""
USUAL = "audit"  # the folder that `fedaudit audit` writes
BEHIND = {
    "own": "checked by this process",
    "filed": "as audit.json says, not checked again",
    "replayed": "its counterexample was replayed by the exact kernel for this document",
    "uncompared": "its counterexample was replayed; the catalogue has no statement of this id to compare it with",
    "unverified": "its counterexample could not be replayed",
}
PROVED = {
    "replayed": "its proof was checked by the exact kernel for this document",
    "unverified": "the exact kernel does not accept its proof",
}


def arguments(sub: argparse.ArgumentParser, what: str) -> None:
    """Adds the options of `fedaudit export` to its parser."""
    sub.add_argument("selectors", nargs="+", metavar="PAPER", help=what)
    sub.add_argument("--latex", action="store_true", help="a LaTeX document; there is no other form")
    sub.add_argument("--out", metavar="FILE", help="a .tex file (default: standard output)")
    sub.add_argument("--audit", metavar="DIR", help=f"the audit whose verdicts are taken (default: {USUAL}, if there)")


def export(given: argparse.Namespace) -> str:
    """The document, or the path that it was written to."""
    from ..running.files import write
    from .listing import find

    if not given.latex:
        raise UserError("export without a form", "--latex", f"write fedaudit export {given.selectors[0]} --latex")
    path = None if given.out is None else _path(given.out)
    statements = find(given.selectors)
    verdicts = _verdicts(given.audit, [s.id for s in statements])
    from fedaudit.bounds.formulas.latex_document import document

    counted = f"{len(statements)} statements" if len(statements) != 1 else "1 statement"
    about = f"{counted}. {_said(verdicts, given.audit)}"
    title, authors = _titled(given.selectors)
    text = document(title, _chapters(statements, verdicts), about, authors, contents=len(statements) > 1)
    if path is None:
        return text.rstrip("\n")
    write(path, text)
    return str(path)


def _titled(selectors: Sequence[str]) -> tuple[str, str]:
    """The paper's title and its authors, where one paper is asked for; otherwise what was asked for."""
    from fedaudit.figures.pages.paper_cards import ABOUT, about

    described = ABOUT.match(about(selectors[0])) if len(selectors) == 1 else None
    return (described["title"], described["authors"]) if described else (", ".join(selectors), "")


def _chapters(statements: Sequence[Statement], verdicts: Mapping[str, Audited]) -> list[str]:
    """One table of symbols for each paper, then the statements: theorems, lemmas, what else is said, observations."""
    from fedaudit.bounds.formulas.latex_sections import CHAPTERS, chapter, section, symbol_table

    papers = dict.fromkeys(s.paper for s in statements)
    parts = [symbol_table(s for s in statements if s.paper == paper) for paper in papers]
    for heading in CHAPTERS:
        inside = [s for s in statements if chapter(s) == heading]
        parts += [rf"\section{{{heading}}}"] if inside else []
        for s in inside:
            verdict = verdicts.get(s.id)
            word = verdict.verdict if verdict else ""
            parts += [section(s, verdict.lines if verdict else (), symbols=False, found=word), _proofs(s.id, verdict)]
    return [part for part in parts if part]


def _said(verdicts: Mapping[str, Audited], audit: str | None) -> str:
    if not verdicts:
        return "No audit of them was found." if audit is None else f"The audit {audit} has none of them."
    return "Survived means attacked and not broken, which proves nothing."


def _path(text: str) -> Path:
    from pathlib import Path

    path = Path(text)
    try:
        fits = path.suffix == ".tex" and not path.is_dir() and path.parent.is_dir()
    except (OSError, ValueError):  # a name that no file system takes
        fits = False
    if not fits:
        raise UserError(f"--out {text!r}", "a name that ends in .tex, in a folder that exists", "change it")
    return path


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found of a statement: its lines, and its proof."""

    verdict: str
    lines: list[str]
    proofs: tuple[WrittenProof, ...]


def _proofs(identifier: str, verdict: Audited | None) -> str:
    from fedaudit.figures.words.proof_latex import proofs_latex

    return proofs_latex(identifier, verdict.proofs) if verdict else ""


def _verdicts(audit: str | None, ids: Sequence[str]) -> dict[str, Audited]:
    """Id -> what an audit found, in words."""
    from dataclasses import replace
    from pathlib import Path

    from fedaudit.verify.results.file_names import AUDIT

    folder = Path(audit or USUAL)
    if audit is None and not (folder / AUDIT).is_file():
        return {}
    from fedaudit.verify.certify.standing import recheck
    from fedaudit.verify.results.audit_json import read

    document = read(folder)
    wanted = [row for row in document.statements if row.id in set(ids)]
    checked = recheck(replace(document, statements=tuple(wanted)), folder, ())
    return {
        one.row.id: Audited(one.verdict, _lines(one), one.row.derive.written if one.row.derive else ())
        for one in checked
    }


def _lines(checked: Checked) -> list[str]:
    row = checked.row
    evidence = f" ({row.evidence})" if row.evidence else ""
    behind = {**BEHIND, **PROVED} if row.verdict == "proved" else BEHIND
    first = [f"{checked.verdict}{evidence}: {behind[checked.standing.kind]}"]
    breaks = [one.tried.name for one in checked.literals if one.tried.literal == "breaks" and one.standing.accepted]
    first += [f"without what the text does not say ({', '.join(breaks)}) it breaks"] if breaks else []
    word = "note" if checked.verdict in ("proved", "refuted", "survived") else "because"
    lines = [f"{word}: {row.reason}"] if row.reason else []
    lines += (
        [f"largest left side over right side that was met: {row.tightness:.6g}"] if row.tightness is not None else []
    )
    longer = ", ".join(map(str, row.persists))
    lines += [f"the same problem refutes it on longer runs too: {longer}"] if longer else []
    lines += [f"it breaks too: {', '.join(row.breaks_too)}"] if row.breaks_too else []
    lines += [f"repaired as {row.repaired}"] if row.repaired else []
    why = f" ({row.repair_why})" if row.repair_why else ""
    lines += [f"a repair has to change: {row.repair}{why}"] if row.repair else []
    lines += [f"lint, {finding.rule}: {finding.message}" for finding in row.lint]
    return [*first, *(f"as audit.json says, {line}" for line in lines)]
