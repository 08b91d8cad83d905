"""Rows as tables for people; programs take `--json`."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from fedaudit.figures.words.numbers import short, tightness
from fedaudit.figures.words.ordinary_points import brief, lead
from fedaudit.figures.words.proof_latex import HEADINGS, LINE_STATUS
from fedaudit.figures.words.proof_sentences import plain_formula, plain_sentence
from fedaudit.figures.words.sizes import line
from fedaudit.verify.results.file_names import lines_trusted
from fedaudit.verify.results.json_fields import Json
from fedaudit.verify.results.row import DerivedPart, Ends, Held, Move, Row, WrittenProof
from fedaudit.verify.results.tried_sizes import Size

__all__ = ["COLOURS", "broken_without", "certified", "proofs", "said", "summary", "table"]

T = TypeVar("T")

COLOURS = {
    "refuted": "bold red",
    "proved": "bold green",
    "survived": "cyan",
    "undecided": "yellow",
    "reproduced": "green",
    "reproduced-if": "yellow",
    "not-reproduced": "red",
    "follows": "green",
    "claims-more": "red",
    "claims-less": "yellow",
    "not-derived": "dim",
    "accepted": "green",
    "rejected": "bold red",
    "malformed": "bold red",
    "no refutation": "yellow",
    "not checked": "yellow",
}
KINDS = ("refutation", "literal reading", "proof", "lower end", "upper end")  # of what an audit's folder keeps
MANY = 40  # files: so many are counted, not listed
JUDGED = ("accepted", "no refutation", "not checked", "rejected", "malformed")


def console(*, error: bool = False) -> Console:
    """A console that never cuts ids short when its output goes to a file or a pipe."""
    stream = sys.stderr if error else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else 200)


def table(move: str, rows: Sequence[Row]) -> None:
    """The rows of one move, and what cannot be said in columns below them."""
    _columns(COLUMNS[move], [(row.id, row) for row in rows])
    out = console()
    for row in rows:
        reason = row.reason or next((one.reason for _, one in row.moves if not row.verdict), "")
        if reason and (row.outcome == "undecided" or _instances(row) == 0):
            out.print(escape(f"{row.id}: {reason}"), style="dim", soft_wrap=True)
    if len(rows) == 1 and not rows[0].verdict and rows[0].derive:
        _derivation(rows[0].derive)
    if len(rows) == 1 and (said := lead(_worst(rows[0]), rows[0].is_broken)):
        out.print(escape(said), soft_wrap=True)
    for row in rows:
        for untried in dict.fromkeys(size for _, one in row.moves for size in one.untried):
            if untried != row.reason:
                out.print(escape(f"{row.id}: {untried}"), style="dim", soft_wrap=True)
    if len(rows) == 1 and (sizes := _sizes(rows[0])):
        out.print(escape(f"sizes: {line(sizes)}"), style="dim", soft_wrap=True)


def _columns(columns: Mapping[str, Callable[[T], str]], rows: Sequence[tuple[str, T]]) -> None:
    out = console()
    cells = {"id": [escape(identifier) for identifier, _ in rows]}
    cells |= {name: [cell(row) for _, row in rows] for name, cell in columns.items()}
    kept = _fitting(cells, out.width)
    shown = Table(*kept, box=None, pad_edge=False, header_style="bold")
    shown.columns[0].no_wrap = True
    for name, column in zip(kept[1:], shown.columns[1:], strict=True):
        column.overflow = "fold"  # where a single column is wider than the screen: nothing is cut short
        column.min_width = min(_longest(name, cells[name]), out.width)
    for texts in zip(*(cells[name] for name in kept), strict=True):
        shown.add_row(*texts)
    out.print(shown)
    if hidden := [name for name in cells if name not in kept]:
        out.print(f"not shown at this width: {', '.join(hidden)}", style="dim", soft_wrap=True)


def _fitting(cells: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """The columns of a table that no word has to be broken for; others are left out, the last ones first."""
    kept = list(cells)
    while len(kept) > 2 and sum(_least(n, cells[n]) + 2 for n in kept) - 2 > width:
        kept.pop()
    return kept


def _least(name: str, column: Sequence[str]) -> int:
    """The width that a column needs at least: ids stay on one line."""
    return max(map(cell_len, column), default=0) if name == "id" else _longest(name, column)


def _longest(name: str, column: Sequence[str]) -> int:
    """The width of the longest word of a column, its heading included."""
    words = (word for text in (name, *(Text.from_markup(cell).plain for cell in column)) for word in text.split())
    return max(map(cell_len, words), default=0)


def _move(row: Row) -> Move | None:
    """The one move of a row of `verify` or `hunt`."""
    return next((move for _, move in row.moves), None)


def _sizes(row: Row) -> tuple[Size, ...]:
    move = _move(row)
    return row.sizes if row.verdict or move is None else move.sizes


def _worst(row: Row) -> tuple[Ends, ...]:
    """The worst cases that a row of `hunt` or `audit` quotes."""
    return row.hunt.worst if row.hunt else ()


def proofs(ways: Sequence[WrittenProof]) -> None:
    """The proof that decides, then the printed one, line by line."""
    out = console()
    for way in ways:
        broken = any(one.status for one in way.lines)
        out.print()
        out.print(HEADINGS[way.role] if broken or way.role == "decides" else "The printed proof", style="bold")
        for name in way.names:
            told = f"= {plain_formula(name.formula)}" if name.formula else f": {plain_sentence(name.says)}"
            _hanging("      ", f"{plain_formula(name.latex)} {told}".replace(" : ", ": "), "dim")
        for one in way.lines:
            _hanging(f"{f'({one.number})':<6}", plain_formula(one.latex))
            under = f"for {', '.join(map(plain_formula, one.under))}; " if one.under else ""
            where = f" [in the paper: {one.where}]" if one.where else ""
            _hanging("      ", f"{under}{plain_sentence(one.by)}{where}", "dim")
            if one.status:
                _hanging("      ", f"{LINE_STATUS[one.status]}{f': {one.why}' if one.why else ''}", "bold red")


def _derivation(derived: DerivedPart) -> None:
    """The proofs, then what is taken by hand."""
    out = console()
    proofs(derived.written)
    lines = [f"by hand: {premise}" for premise in derived.premises]
    if derived.proved:
        lines.append(" and ".join(["proved from the assumptions", *derived.proved_from]))
    for premise in lines:
        out.print(escape(premise), style="dim", soft_wrap=True)


def _hanging(head: str, text: str, style: str = "") -> None:
    """Text beside its number; further lines begin below the first."""
    out = console()
    for part in textwrap.wrap(text, max(out.width - len(head), 20)) or [""]:
        out.print(escape(head + part), style=style or None, soft_wrap=True)
        head = " " * len(head)


def summary(rows: Sequence[Row], page: str) -> None:
    """What `fedaudit audit` prints: one line a statement, the count of verdicts, where to read on."""
    table("audit", rows)
    counted = Counter(row.verdict for row in rows)
    trusting = sum(row.verdict == "proved" and row.trusted > 0 for row in rows)
    out = console()
    out.print()
    apart = {"proved": f" ({trusting} of them trusting z3 for some lines)"} if trusting else {}
    told = ", ".join(f"{n} {said(v)}{apart.get(v, '')}" for v, n in counted.most_common())
    out.print(told, f" of {len(rows)} statements", sep="")
    if counted["survived"]:
        out.print("survived: attacked and not broken; that proves nothing", style="dim")
    out.print(f"read {page}", soft_wrap=True)


def certified(rows: Sequence[Json]) -> None:
    """What `fedaudit certify` prints: one line per certificate or verdict, and their count.

    Of an audit's folder with its hundreds of proofs and ends of worst cases, how many there are of each kind, and those
    that are not accepted.
    """
    kinds = {kind: [row for row in rows if row.get("kind") == kind] for kind in KINDS}
    many = sum(map(len, kinds.values())) > MANY
    listed = [row for row in rows if not (many and row.get("kind") and row["accepted"])]
    if listed:
        _columns(CERTIFIED, [(row["id"], row) for row in listed])
    if many:
        _kinds(kinds)
    counted = Counter(_judged(row) for row in rows)
    held = ", ".join(f"{counted[word]} {said(word)}" for word in JUDGED if counted[word])
    console().print(held or "no counterexamples: audit.json calls nothing refuted, and there is no certificate")


def _kinds(kinds: dict[str, list[Json]]) -> None:
    """How many files of each kind are accepted, or what else."""
    words = [word for word in JUDGED if any(_judged(row) == word for rows in kinds.values() for row in rows)]
    shown = Table("kind", *words, "trusting z3", box=None, pad_edge=False, header_style="bold")
    for kind, rows in kinds.items():
        counted = Counter(_judged(row) for row in rows)
        trusting = sum(row["accepted"] and bool(row.get("trusted")) for row in rows)
        if rows:
            shown.add_row(kind, *(str(counted[word] or "") for word in words), str(trusting or ""))
    console().print(shown)


def said(word: str) -> str:
    """A verdict or status in its colour."""
    colour = COLOURS.get(word)
    return f"[{colour}]{escape(word)}[/]" if colour else escape(word)


def number(value: object) -> str:
    """A tightness or factor, short; blank where there is none."""
    return short(value) if isinstance(value, int | float) else "" if value is None else escape(str(value))


def _findings(row: Row) -> str:
    lines = (f"[yellow]{escape(finding.rule)}[/]: {escape(finding.message)}" for finding in row.lint)
    return "\n".join(lines) or "clean"


def _instances(row: Row) -> int | None:
    """How many admissible instances the searches of a row tried; none where there was no search."""
    counts = [move.instances for _, move in row.moves if move.instances is not None]
    return sum(counts) if counts else None


def _tried(row: Row) -> str:
    total = _instances(row)
    return "" if total is None else f"{total:,}"


def broken_without(row: Row) -> list[str]:
    """The implicit assumptions without which the statement falls: a finding about the text, not a refutation."""
    if row.is_broken:
        return []  # it falls with them too
    return [reading.name for reading in row.implicit if reading.literal == "breaks"]


def _audited(row: Row) -> str:
    """The verdict, and what a proved row takes on z3's word."""
    return said(row.verdict) + (lines_trusted(row.trusted) if row.verdict == "proved" else "")


def _judged(row: Json) -> str:
    if row["malformed"] or row["accepted"]:
        return "malformed" if row["malformed"] else "accepted"
    if row.get("unchecked"):
        return "not checked"
    return "no refutation" if row.get("agrees") else "rejected"  # and audit.json does not say that it is one


def _side(name: str) -> Callable[[Json], str]:
    def cell(row: Json) -> str:
        value = str(row.get(name) or "")
        return escape(value if len(value) <= 24 else f"{value[:23]}…")

    return cell


def _ordinary(row: Row) -> str:
    """How much the bound promises at an ordinary point; of a statement that fails, where it fails."""
    return escape(brief(_worst(row), row.is_broken))


def _certificate(held: Held) -> str:
    return escape(held) if isinstance(held, str) else "yes" if held else ""


def _terms(derived: DerivedPart) -> str:
    """The factor by term; terms that are the same on both sides are only counted."""
    other = [term.says for term in derived.terms if term.factor != 1]
    same = f"{len(derived.terms) - len(other)} the same" if len(other) < len(derived.terms) else ""
    return escape("; ".join(filter(None, (*other, same))))


def _of_move(cell: Callable[[Move], str]) -> Callable[[Row], str]:
    return lambda row: "" if (move := _move(row)) is None else cell(move)


def _of_derive(cell: Callable[[DerivedPart], str]) -> Callable[[Row], str]:
    return lambda row: "" if row.derive is None else cell(row.derive)


TRIED: dict[str, Callable[[Row], str]] = {
    "verdict": _of_move(lambda move: said(move.verdict)),
    "evidence": _of_move(lambda move: escape(move.evidence)),
    "tightness": _of_move(lambda move: number(move.tightness)),
    "instances": _tried,
    "seconds": _of_move(lambda move: number(move.seconds)),
    "certificate": _of_move(lambda move: _certificate(move.certificate)),
}
COLUMNS: dict[str, dict[str, Callable[[Row], str]]] = {
    "lint": {"findings": _findings},
    "derive": {
        "status": _of_derive(lambda derived: said(derived.status)),
        "factor": _of_derive(lambda derived: number(derived.factor)),
        "terms": _of_derive(_terms),
        "evidence": _of_derive(lambda derived: escape(derived.evidence)),
        "steps": _of_derive(lambda derived: str(len(derived.steps))),
        "findings": _of_derive(lambda derived: escape("; ".join(derived.findings))),
    },
    "verify": TRIED,
    "hunt": {**TRIED, "at an ordinary point": _ordinary},
    "audit": {
        "verdict": _audited,
        "evidence": lambda row: escape(row.evidence),
        "tightness": lambda row: tightness(row.tightness, row.kind),
        "at an ordinary point": _ordinary,
        "derive": _of_derive(lambda derived: said(derived.status)),
        "lint": lambda row: str(len(row.lint) or ""),
        "instances": _tried,
        "repair": lambda row: escape(row.repair),
        "breaks without": lambda row: escape(", ".join(broken_without(row))),
        "certificate": lambda row: _certificate(row.certificate),
    },
}
CERTIFIED: dict[str, Callable[[Json], str]] = {
    "verdict": lambda row: said(_judged(row)),
    "what": lambda row: escape(str(row.get("what") or "")),
    "lhs": _side("lhs"),
    "rhs": _side("rhs"),
    "file": lambda row: escape(str(row["file"])),
    "reason": lambda row: escape(str(row.get("reason") or "")),
}
