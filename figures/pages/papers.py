"""What the page of one paper says, from its rows and certificates alone: what stands, what fell, what is not said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedaudit.verify.results.file_names import is_printed

from ..kinds.proof_map import proof_map
from ..words.changes import changes
from ..words.findings import CHANGES, Story, Teller, repair
from ..words.letters import Inline, Letters, Said
from .paper_cards import about, weight

if TYPE_CHECKING:
    from fedaudit.verify.certify.standing import Checked
    from fedaudit.verify.results.audit_json import Gap as RowGap
    from fedaudit.verify.results.audit_json import Step, Way

    from ..words.changes import Changed
    from ..words.typesetter import Typesetter

__all__ = ["Fallen", "Gap", "Need", "paper", "paper_of", "stem"]

STANDS = ("proved", "survived", "reproduced", "reproduced-if")
OUTCOMES = {  # of a statement without an implicit assumption
    "breaks": "without it these break",
    "survives": "these survived attacks without it too",
    "undecided": "undecided without it",
    "not-tried": "not tried without it",
}


@dataclass(frozen=True, slots=True)
class Fallen:
    """A refuted statement as its authors should read it."""

    checked: Checked
    story: Story | None
    repair: str
    repaired: Checked | None
    changes: tuple[Changed, ...]
    readings: tuple[Checked, ...]  # its other refuted readings


@dataclass(frozen=True, slots=True)
class Need:
    """An implicit assumption: what becomes of the statements without it."""

    says: str
    outcomes: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A statement that stands although its printed proof does not."""

    checked: Checked
    lines: tuple[Said, ...]
    other_way: tuple[str, ...]


def paper_of(identifier: str) -> str:
    """The paper of a statement, which its id begins with."""
    return identifier.partition("/")[0]


def stem(identifier: str) -> str:
    """What siblings have in common: `paper/label` of `paper/label~repaired`."""
    return identifier.partition("~")[0]


def paper(rows: Sequence[Checked], teller: Teller, typesetter: Typesetter) -> dict[str, object]:
    """Returns all that the page shows of the rows of one paper, in their order."""
    at = {checked.row.id: checked for checked in rows}
    refuted = [checked for checked in rows if checked.verdict == "refuted"]
    printed = [checked for checked in rows if is_printed(checked.row.id)]
    names = {checked.row.id for checked in refuted}
    refuted = sorted(refuted, key=lambda checked: weight(checked.row.id, checked.verdict))
    fell = [c for c in refuted if is_printed(c.row.id)]
    readings = [c for c in refuted if not is_printed(c.row.id) and stem(c.row.id) not in names]
    groups = [
        (change, CHANGES[change], [_fallen(c, at, refuted, teller, typesetter) for c in fell if _change(c) == change])
        for change in CHANGES
    ]
    return {
        "about": about(paper_of(rows[0].row.id)) if rows else "",
        "printed": printed,
        "counted": Counter(checked.verdict for checked in printed),
        "fell": [group for group in groups if group[2]],
        "readings": [_fallen(c, at, refuted, teller, typesetter) for c in readings],
        "proved": [c for c in rows if c.verdict == "proved"],
        "survived": sorted((c for c in rows if c.verdict == "survived"), key=lambda c: -(c.row.tightness or 0)),
        "open": [c for c in rows if c.verdict in ("undecided", "not-reproduced", "unverified")],
        "seen": [c for c in rows if c.verdict in ("reproduced", "reproduced-if")],
        "needs": _needs(rows),
        "lint": [c for c in rows if c.row.lint and is_printed(c.row.id)],
        "gaps": list(_gaps(rows, names)),
        "map": proof_map(
            [c.row.id for c in rows], {c.row.id: c.row.derive.cites if c.row.derive else () for c in rows}, names
        ),
    }


def _change(checked: Checked) -> str:
    return checked.row.repair if checked.row.repair in CHANGES else "none known"


def _fallen(
    checked: Checked, at: Mapping[str, Checked], refuted: Iterable[Checked], teller: Teller, typesetter: Typesetter
) -> Fallen:
    row = checked.row
    repaired = at.get(row.repaired) if row.repaired else None
    beside = at.get(stem(row.id)) if not is_printed(row.id) else None
    notes = repaired.row.statement.repairs if repaired else ""
    return Fallen(
        checked,
        teller.story(checked.standing.certificate, Letters(row.statement.letters)),
        repair(row, repaired, notes, beside if beside and beside.verdict in STANDS else None),
        repaired,
        tuple(changes(row.statement, repaired.row.statement, typesetter)) if repaired else (),
        tuple(c for c in refuted if c is not checked and stem(c.row.id) == row.id),
    )


def _needs(rows: Sequence[Checked]) -> list[Need]:
    """Returns implicit assumptions, first those without which something breaks."""
    by_assumption: dict[str, dict[str, list[str]]] = {}
    for checked in rows:
        said = {words.name: words.says or words.name for words in checked.row.statement.implicit}
        for literal in checked.literals:
            outcome = literal.tried.literal
            if outcome == "breaks" and literal.standing.kind == "unverified":
                outcome = "undecided"
            if outcome in OUTCOMES:
                by = by_assumption.setdefault(said.get(literal.tried.name, literal.tried.name), {})
                by.setdefault(outcome, []).append(checked.row.id)
    needs = [
        Need(says, tuple((OUTCOMES[outcome], tuple(by[outcome])) for outcome in OUTCOMES if outcome in by))
        for says, by in by_assumption.items()
    ]
    return sorted(needs, key=lambda need: need.outcomes[0][0] != OUTCOMES["breaks"])


def _gaps(rows: Sequence[Checked], refuted: set[str]) -> Iterable[Gap]:
    """Statements that stand, and whose printed proof cites what fell, fails at a step or assumes more than is said."""
    for checked in rows:
        derived = checked.row.derive
        if derived is None or checked.verdict not in STANDS or not is_printed(checked.row.id):
            continue
        fallen = [name for name in derived.cites if name in refuted]
        lines: list[Said] = [[f"its proof uses {name}, which is refuted"] for name in fallen]
        lines += [_in_formulas(gap, derived.steps) for gap in derived.gaps]
        if lines:
            yield Gap(checked, tuple(lines), tuple(_in_words(way) for way in derived.ways or ()))


def _in_words(way: Way) -> str:
    return f"another way, from {', '.join(way.cites) or 'the assumptions'}: {way.status} ({way.evidence})"


def _in_formulas(gap: RowGap, steps: Sequence[Step]) -> Said:
    """A gap that is a false step with the step as a formula, where the row has one."""
    step = steps[gap.step] if gap.step is not None and gap.step < len(steps) else None
    if step is None or not step.latex:
        return [gap.text]
    name = step.where or step.note
    return ["the step ", *([f"{name}, "] if name else []), Inline(step.latex), f", {gap.detail}"]
