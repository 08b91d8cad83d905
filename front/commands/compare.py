"""What changed between two audits: for authors who revise their text, and for us who revise the tool.

A change is *worse* where less is known than before: a weaker verdict (refuted > proved > survived > undecided), a
proved statement that is now refuted (one of the two is wrong), a proof that takes more lines on z3's word, a derivation
(also one that is not the first) or a literal reading without its answer, a search that came less near or tried fewer
instances, a statement that is missing. Seconds are shown and never count. Nothing is checked again: whose word the rows
are is said (`whose`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from fedaudit.figures.words.numbers import short
from fedaudit.output import JsonObject
from fedaudit.verify.results.audit_json import Document, Row

__all__ = ["Change", "compare", "rows", "table", "totals", "whose"]

# Answers from the weakest to the strongest: one that stands further to the left than it did before is worse.
VERDICTS = ("undecided", "not-reproduced", "reproduced-if", "reproduced", "survived", "proved", "refuted")
DERIVED = ("", "not-derived", "claims-less", "claims-more", "follows")
EVIDENCE = ("", "numerical", "proof")
LITERAL = ("", "not-tried", "undecided", "survives", "breaks")
NEAR = 0.01  # tightness that differs by less, relatively, is the same
FEWER = 0.7  # of the instances: how many are tried depends a little on what is met
SLOWER, MOMENT = 2.0, 1.0  # a factor of seconds, and seconds that are worth a line


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs: what it was, what it is, and whether less is known than before."""

    what: str
    before: float | str | None
    after: float | str | None
    worse: bool

    def row(self) -> JsonObject:
        return {"what": self.what, "before": self.before, "after": self.after, "worse": self.worse}


def compare(before: Document, after: Document) -> dict[str, tuple[Change, ...]]:
    """Id -> what changed, for the statements where anything did, in the order of the later audit."""
    old, new = ({row.id: row for row in document.statements} for document in (before, after))
    changes = {name: tuple(_changes(old.get(name), new.get(name))) for name in {**new, **old}}
    return {name: found for name, found in changes.items() if found}


def rows(changes: Mapping[str, tuple[Change, ...]]) -> list[JsonObject]:
    """The changes as `--json` prints them."""
    return [
        {"id": name, "worse": any(c.worse for c in found), "changes": [c.row() for c in found]}
        for name, found in changes.items()
    ]


def _changes(old: Row | None, new: Row | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change("statement", "" if old is None else "there", "" if new is None else "there", new is None)
        return
    if old.verdict != new.verdict:
        contradicts = {old.verdict, new.verdict} == {"proved", "refuted"}
        worse = contradicts or VERDICTS.index(new.verdict) < VERDICTS.index(old.verdict)
        yield Change("verdict", old.verdict, new.verdict, worse)
    if old.verdict == new.verdict == "proved" and old.proof and old.trusted != new.trusted:
        yield Change("lines on z3's word", old.trusted, new.trusted, new.trusted > old.trusted)
    yield from _derivations(old, new)
    readings = [{tried.name: tried.literal for tried in row.implicit} for row in (old, new)]
    for name in {**readings[0], **readings[1]}:
        yield from _answer(f"without {name}", [part.get(name, "") for part in readings], LITERAL)
    if "refuted" not in (old.verdict, new.verdict):  # of a counterexample it says nothing
        yield from _tightness(old.tightness, new.tightness)
    tried = [sum(move.instances or 0 for _, move in row.moves) for row in (old, new)]
    decided = {"proved", "refuted"} & {old.verdict, new.verdict}  # there the number says nothing
    if min(tried) < FEWER * max(tried) and not decided:
        yield Change("instances", *tried, worse=tried[1] < tried[0])
    times = [seconds(row) for row in (old, new)]
    if max(times) > SLOWER * min(times) and max(times) - min(times) > MOMENT:
        yield Change("seconds", *(round(t, 1) for t in times), worse=False)


def _derivations(old: Row, new: Row) -> Iterator[Change]:
    """Changes in what a derivation gives and in whether all of it is proved, the paper's own way first."""
    both = old.derive is not None and new.derive is not None and None not in (old.derive.ways, new.derive.ways)
    ways = [_ways(row, others=both) for row in (old, new)]
    for name in {**ways[0], **ways[1]}:
        statuses, evidence = zip(*(found.get(name, ("", "")) for found in ways), strict=True)
        yield from _answer(name, list(statuses), DERIVED)
        if statuses[0] == statuses[1]:
            yield from _answer(f"{name}: evidence", list(evidence), EVIDENCE)


def _ways(row: Row, *, others: bool) -> dict[str, tuple[str, str]]:
    """The status and evidence of each derivation by its name; a second one from the same citations has a number.

    Without `others`, of the first alone: an audit of an older fedaudit does not say what became of the rest.
    """
    if row.derive is None:
        return {}
    named = {"derive": (row.derive.status, row.derive.evidence)}
    starts = Counter[str]()
    for way in (row.derive.ways or ()) if others else ():
        start = ", ".join(way.cites) or "the assumptions"
        starts[start] += 1
        number = f" ({starts[start]})" if starts[start] > 1 else ""
        named[f"derive, another way, from {start}{number}"] = (way.status, way.evidence)
    return named


def _answer(what: str, words: list[str], ranks: tuple[str, ...]) -> Iterator[Change]:
    """Words before and after, of a closed set from what says least to what says most; unknown words say nothing."""
    if words[0] != words[1]:
        places = [ranks.index(word) if word in ranks else 0 for word in words]
        yield Change(what, *words, worse=places[1] < places[0])


def _tightness(old: float | None, new: float | None) -> Iterator[Change]:
    if old is None or new is None:
        if old is not new:
            yield Change("tightness", old, new, new is None)
    elif abs(new - old) > NEAR * abs(old):
        yield Change("tightness", old, new, new < old)


def seconds(row: Row) -> float:
    """The seconds that a row's searches took."""
    return sum(move.seconds or 0.0 for move in (row.verify, row.hunt) if move)


def whose(name: str, ids: Collection[str], own: Collection[str]) -> str:
    """Whose word the rows of a file are where they are not all this user's own, in one line; nothing where they are."""
    others = sum(one not in own for one in ids)
    if not others:
        return ""
    which = f"{others} of {len(ids)} rows"
    return f"{name}: {which} without this user's mark; what they say is the file's word, not checked again"


def totals(before: Document, after: Document) -> list[str]:
    """What concerns both audits as a whole, in lines."""
    lines: list[str] = []
    for name in ("version", "seed", "budget", "thorough"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            lines.append(f"{name}: {short(old)} → {short(new)}, so that other changes are no surprise")
    common = {row.id for row in before.statements} & {row.id for row in after.statements}
    spent = [sum(seconds(row) for row in d.statements if row.id in common) for d in (before, after)]
    lines.append(f"searches of the {len(common)} statements in both: {spent[0]:.0f} s → {spent[1]:.0f} s")
    return lines


def table(changes: Mapping[str, tuple[Change, ...]], lines: list[str]) -> None:
    """For people: a line for each change, what is worse first."""
    from rich.markup import escape
    from rich.table import Table

    from .tables import console, said

    out = console()
    shown = Table("id", "what", "before", "after", "", box=None, pad_edge=False, header_style="bold")
    shown.columns[0].no_wrap = True
    flat = [(name, change) for name, found in changes.items() for change in found]
    for name, change in sorted(flat, key=lambda pair: not pair[1].worse):
        values = [_cell(value) for value in (change.before, change.after)]
        shown.add_row(
            escape(name), escape(change.what), *(said(v) for v in values), "[bold red]worse[/]" if change.worse else ""
        )
    if flat:
        out.print(shown)
        out.print()
    worse = sum(change.worse for _, change in flat)
    out.print(f"{len(flat)} changes in {len(changes)} statements, {worse} for the worse")
    for line in lines:
        out.print(escape(line), style="dim")


def _cell(value: float | str | None) -> str:
    return "none" if value is None or value == "" else f"{value:,}" if isinstance(value, int) else short(value)
