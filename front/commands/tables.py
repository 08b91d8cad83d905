"""Rows as tables for people; programs take `--json`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fedaudit.figures.words.numbers import short
from fedaudit.figures.words.ordinary_points import brief, lead
from fedaudit.figures.words.sizes import line
from fedaudit.verify.results.audit_json import Ends
from fedaudit.verify.results.file_names import lines_trusted
from fedaudit.verify.results.tried_sizes import Size

from ..running.store import Row

__all__ = ["COLOURS", "broken_without", "certified", "said", "summary", "table"]

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
    """The rows of one move."""
    made = Table(*("id", *COLUMNS[move]), box=None, pad_edge=False, header_style="bold")
    made.columns[0].no_wrap = True
    for column in made.columns[1:]:
        column.overflow = "fold"  # a file name that is cut short cannot be copied
    for row in rows:
        made.add_row(escape(row["id"]), *(cell(row) for cell in COLUMNS[move].values()))
    console().print(made)
    if "reason" not in COLUMNS[move]:
        for row in rows:
            if row.get("reason") and (row.get("verdict") == "undecided" or _instances(row) == 0):
                console().print(escape(f"{row['id']}: {row['reason']}"), style="dim", soft_wrap=True)
    if move == "derive" and len(rows) == 1 and rows[0].get("shown"):
        _premises(rows[0])
    if len(rows) == 1 and (said := lead([Ends.of(one) for one in _worst(rows[0])], _broken(rows[0]))):
        console().print(escape(said), soft_wrap=True)
    for row in rows:
        for left_out in dict.fromkeys(_untried(row)):
            if left_out != row.get("reason"):
                console().print(escape(f"{row['id']}: {left_out}"), style="dim", soft_wrap=True)
    if len(rows) == 1 and (sizes := [Size.of(size) for size in rows[0].get("sizes", ())]):
        console().print(escape(f"sizes: {line(sizes)}"), style="dim", soft_wrap=True)


def _untried(row: Row) -> list[str]:
    """What the searches of a row left out because it does not fit in memory or in the budget."""
    moves: list[dict[str, Any]] = [row, row.get("verify") or {}, row.get("hunt") or {}]
    return [line_ for move in moves for line_ in move.get("untried", ())]


def _worst(row: Row) -> list[dict[str, Any]]:
    """Worst cases of a row of `hunt` or `audit`."""
    inner: dict[str, Any] = row.get("hunt") or row
    return inner.get("worst") or []


def _broken(row: Row) -> bool:
    """Whether the statement, or the reading or witness that stands for it, fails somewhere."""
    return row.get("verdict") == "refuted" or bool(row.get("counterexample"))


def _premises(row: Row) -> None:
    """What a derivation rests on: premises that follow from the assumptions, with their multipliers, and the others."""
    told = [f"shown: {line_}" for line_ in cast("list[str]", row["shown"])]
    told += [f"by hand: {line_}" for line_ in cast("list[str]", row.get("premises") or [])]
    if row.get("proved"):
        told.append(" and ".join(["proved from the assumptions", *row["proved_from"]]))
    for line_ in told:
        console().print(escape(line_), style="dim", soft_wrap=True)


def summary(document: dict[str, Any], page: str) -> None:
    """What `fedaudit audit` prints: one line a statement, the count of verdicts, where to read on."""
    rows: list[Row] = document["statements"]
    table("audit", rows)
    counted = Counter(str(row["verdict"]) for row in rows)
    trusting = sum(row["verdict"] == "proved" and bool(row.get("trusted")) for row in rows)
    out = console()
    out.print()
    apart = {"proved": f" ({trusting} of them trusting z3 for some lines)"} if trusting else {}
    told = ", ".join(f"{n} {said(v)}{apart.get(v, '')}" for v, n in counted.most_common())
    out.print(told, f" of {len(rows)} statements", sep="")
    if counted["survived"]:
        out.print("survived: attacked and not broken; that proves nothing", style="dim")
    out.print(f"read {page}", soft_wrap=True)


def certified(rows: Sequence[Row]) -> None:
    """What `fedaudit certify` prints: one line per certificate or verdict, and their count.

    Of an audit's folder with its hundreds of proofs and ends of worst cases, how many there are of each kind, and those
    that are not accepted.
    """
    kinds = {kind: [row for row in rows if row.get("kind") == kind] for kind in KINDS}
    many = sum(map(len, kinds.values())) > MANY
    listed = [row for row in rows if not (many and row.get("kind") and row["accepted"])]
    if listed:
        table("certify", listed)
    if many:
        _kinds(kinds)
    counted = Counter(_judged(row) for row in rows)
    held = ", ".join(f"{counted[word]} {said(word)}" for word in JUDGED if counted[word])
    console().print(held or "no counterexamples: audit.json calls nothing refuted, and there is no certificate")


def _kinds(kinds: dict[str, list[Row]]) -> None:
    """How many files of each kind are accepted, or what else."""
    words = [word for word in JUDGED if any(_judged(row) == word for rows in kinds.values() for row in rows)]
    made = Table("kind", *words, "trusting z3", box=None, pad_edge=False, header_style="bold")
    for kind, rows in kinds.items():
        counted = Counter(_judged(row) for row in rows)
        trusting = sum(row["accepted"] and bool(row.get("trusted")) for row in rows)
        if rows:
            made.add_row(kind, *(str(counted[word] or "") for word in words), str(trusting or ""))
    console().print(made)


def said(word: str) -> str:
    """A verdict or status in its colour."""
    colour = COLOURS.get(word)
    return f"[{colour}]{escape(word)}[/]" if colour else escape(word)


def number(value: object) -> str:
    """A tightness or factor, short; blank where there is none."""
    return short(value) if isinstance(value, int | float) else "" if value is None else escape(str(value))


def _findings(row: Row) -> str:
    found: list[dict[str, Any]] = row["findings"]
    return "\n".join(f"[yellow]{escape(str(f['rule']))}[/]: {escape(str(f['message']))}" for f in found) or "clean"


def _count(part: str, name: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        inner: dict[str, Any] = row.get(part) or {}
        found: list[Any] = inner.get(name) or []
        return str(len(found)) if found else ""

    return cell


def _instances(row: Row) -> int | None:
    """How many admissible instances a row of `verify`, `hunt` or `audit` tried; none where it is of another move."""
    moves: list[dict[str, Any]] = [row, row.get("verify") or {}, row.get("hunt") or {}]
    counts = [int(move["instances"]) for move in moves if move.get("instances") is not None]
    return sum(counts) if counts else None


def _tried(row: Row) -> str:
    total = _instances(row)
    return "" if total is None else f"{total:,}"


def _derived(row: Row) -> str:
    inner: dict[str, Any] = row.get("derive") or {}
    return said(str(inner.get("status", "")))


def broken_without(row: Row) -> list[str]:
    """The implicit assumptions without which the statement falls: a finding about the text, not a refutation."""
    if _broken(row):
        return []  # it falls with them too
    tried: list[dict[str, Any]] = row.get("implicit") or []
    return [str(part.get("name")) for part in tried if part.get("literal") == "breaks"]


def _trusting(row: Row) -> str:
    """What a proved row takes on z3's word."""
    return lines_trusted(int(row.get("trusted") or 0)) if row["verdict"] == "proved" else ""


def _judged(row: Row) -> str:
    if row["malformed"] or row["accepted"]:
        return "malformed" if row["malformed"] else "accepted"
    if row.get("unchecked"):
        return "not checked"
    return "no refutation" if row.get("agrees") else "rejected"  # and audit.json does not say that it is one


def _side(name: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        value = str(row.get(name) or "")
        return escape(value if len(value) <= 24 else f"{value[:23]}…")

    return cell


def _ordinary(part: str) -> Callable[[Row], str]:
    """How much the bound promises at an ordinary point; of a statement that fails, where it fails."""

    def cell(row: Row) -> str:
        inner: dict[str, Any] = row.get(part) or {} if part else row
        return escape(brief([Ends.of(one) for one in inner.get("worst") or ()], _broken(row)))

    return cell


def _certificate(row: Row) -> str:
    held = row.get("certificate")
    return escape(held) if isinstance(held, str) else "yes" if held else ""


def _terms(row: Row) -> str:
    """The factor by term; terms that are the same on both sides are only counted."""
    shares = cast("list[Row]", row.get("terms") or [])
    other = [str(t["says"]) for t in shares if t["factor"] != 1]
    same = f"{len(shares) - len(other)} the same" if len(other) < len(shares) else ""
    return escape("; ".join(filter(None, (*other, same))))


TRIED: dict[str, Callable[[Row], str]] = {
    "verdict": lambda row: said(str(row["verdict"])),
    "evidence": lambda row: escape(str(row.get("evidence") or "")),
    "tightness": lambda row: number(row.get("tightness")),
    "instances": _tried,
    "seconds": lambda row: number(row.get("seconds")),
    "certificate": _certificate,
}
COLUMNS: dict[str, dict[str, Callable[[Row], str]]] = {
    "lint": {"findings": _findings},
    "derive": {
        "status": lambda row: said(str(row["status"])),
        "factor": lambda row: number(row.get("factor")),
        "terms": _terms,
        "evidence": TRIED["evidence"],
        "steps": lambda row: str(len(row.get("steps") or [])),
        "findings": lambda row: escape("; ".join(row.get("findings") or [])),
    },
    "verify": TRIED,
    "hunt": {**TRIED, "at an ordinary point": _ordinary("")},
    "audit": {
        "verdict": lambda row: said(str(row["verdict"])) + _trusting(row),
        "evidence": TRIED["evidence"],
        "tightness": TRIED["tightness"],
        "at an ordinary point": _ordinary("hunt"),
        "derive": _derived,
        "lint": _count("lint", "findings"),
        "instances": _tried,
        "repair": lambda row: escape(str(row.get("repair") or "")),
        "breaks without": lambda row: escape(", ".join(broken_without(row))),
        "certificate": _certificate,
    },
    "certify": {
        "verdict": lambda row: said(_judged(row)),
        "what": lambda row: escape(str(row.get("what") or "")),
        "lhs": _side("lhs"),
        "rhs": _side("rhs"),
        "file": lambda row: escape(str(row["file"])),
        "reason": lambda row: escape(str(row.get("reason") or "")),
    },
}
