"""What an audit says of one statement, as types; `row()` is its line in audit.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fedaudit.bounds.derive import Derived
from fedaudit.bounds.latex import latex
from fedaudit.bounds.lint import Finding
from fedaudit.bounds.statement import Statement

from .premises import Tried
from .repair import Answer
from .sizes import Size, merged
from .verdict import Counterexample, Proved, Refuted, Undecided, Verdict

__all__ = ["Audited", "Derivation", "Linted", "Literally"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Linted:
    """What `lint` found."""

    id: str
    findings: tuple[Finding, ...]

    def row(self) -> Row:
        return {"id": self.id, "findings": [{"rule": f.rule, "message": f.message} for f in self.findings]}


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """What `derive` decided, and its hand-written premises as they were measured on runs."""

    statement: Statement
    derived: Derived
    measured: tuple[Tried, ...]

    def row(self) -> Row:
        made = self.derived
        steps = [
            {
                "claim": str(s.claim),
                "latex": latex(s.claim, self.statement.glossary),
                "where": s.where,
                "note": s.note,
                "status": s.decision.status,
                "how": s.decision.how,
                "because": list(s.because),
            }
            for s in made.steps
        ]
        return {
            "id": self.statement.id,
            "status": made.status,
            "factor": made.factor,
            "terms": [{**t.row(), "says": str(t)} for t in made.terms],
            "evidence": made.evidence,
            "proved": made.proved,
            "cites": list(made.cites),
            "proved_from": list(made.proved_from),
            "findings": [*made.findings, *filter(None, (t.finding() for t in self.measured))],
            "premises": list(made.premises),
            "measured": [t.row() for t in self.measured],
            "steps": steps,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Literally:
    """What becomes of a statement when an assumption that its text does not make is dropped."""

    name: str
    says: str
    literal: Literal["breaks", "survives", "undecided", "not-tried"]
    reason: str = ""  # why not tried
    tightness: float | None = None
    certificate: Mapping[str, Any] | None = None
    sizes: tuple[Size, ...] = ()

    def row(self) -> Row:
        row: Row = {"name": self.name, "says": self.says, "literal": self.literal}
        met: Row = {"tightness": self.tightness, "sizes": [size.row() for size in self.sizes]}
        more = {"reason": self.reason} if self.literal == "not-tried" else met
        return {**row, **more, "certificate": None if self.certificate is None else dict(self.certificate)}


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """All moves on one statement; `verdict` is the strongest that any of them reached."""

    statement: Statement
    verdict: Verdict
    linted: Linted
    derivation: Derivation
    verified: Verdict
    hunted: Verdict
    implicit: tuple[Literally, ...]
    rests_on: str | None  # what an order claim rests on that the kernel does not decide
    repaired: str | None  # the id of the repaired sibling
    repair: Answer | None  # what a repair has to change

    @property
    def id(self) -> str:
        return self.statement.id

    @property
    def tightness(self) -> float | None:
        """The largest that verify and hunt met."""
        met = [v.tightness for v in (self.verified, self.hunted) if v.tightness is not None]
        return max(met, default=None)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Those that verify and hunt tried."""
        searches = [v.search for v in (self.verified, self.hunted) if not isinstance(v, Proved)]
        return merged(size for search in searches for size in search.sizes)

    def row(self) -> Row:
        verdict = self.verdict.row()
        verified, hunted = _inner(self.verified.row()), _inner(self.hunted.row())
        how = {"how": "dominance" if isinstance(self.verdict, Proved) else hunted["how"]} if "how" in hunted else {}
        sturdy = ("persists", "persists_until", "breaks_too") if isinstance(self.verdict, Refuted) else ()
        against = counterexample(self.verified) or counterexample(self.hunted)
        return {
            "id": self.id,
            "title": self.statement.title,
            "kind": self.statement.kind,
            "verdict": verdict["verdict"],
            "evidence": verdict["evidence"],
            "reason": verdict["reason"],
            **how,
            "tightness": self.tightness,
            "sizes": [size.row() for size in self.sizes],
            "certificate": verdict["certificate"],
            **{name: verdict[name] for name in sturdy},
            "rests_on": self.rests_on,
            **({"counterexample": dict(against.certificate)} if against else {}),
            "lint": _inner(self.linted.row()),
            "derive": _inner(self.derivation.row()),
            "verify": verified,
            "hunt": hunted,
            "implicit": [part.row() for part in self.implicit],
            "repaired": self.repaired,
            "repair": None if self.repair is None else self.repair.change,
            "repair_why": "" if self.repair is None else self.repair.why,
        }


def counterexample(verdict: Verdict) -> Counterexample | None:
    """The counterexample to a reading or a witness, which refutes nothing that is printed."""
    return verdict.counterexample if isinstance(verdict, Undecided) else None


def _inner(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "id"}
