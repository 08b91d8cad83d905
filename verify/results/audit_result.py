"""What an audit says of one statement, as types; `row()` is its line in audit.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fedaudit.bounds.formulas.printer import PYTHON, latex_form, text
from fedaudit.bounds.language.row_list import Recorded, html_table
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.checks import Finding as LintFinding
from fedaudit.bounds.proofs.derivation_check import Derived
from fedaudit.bounds.proofs.findings import AnotherWay, Finding, OpenStep, is_gap

from ..moves.kernel_proof import Proof, Unproved
from ..moves.premise_trials import Tried
from ..moves.repair import Answer
from .tried_sizes import Size, merged
from .verdicts import Counterexample, Proved, Refuted, Undecided, Verdict

__all__ = ["Audited", "Derivation", "Linted", "Literally"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Linted(Recorded):
    """What `lint` found; a sequence of findings, empty where it found nothing.

    >>> import fedaudit as fa
    >>> found = fa.lint("yuan/lem5")
    >>> len(found), found.to_records()[0]["rule"]
    (1, 'dimension')
    """

    id: str
    findings: tuple[LintFinding, ...]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[LintFinding]:
        return iter(self.findings)

    def to_records(self) -> list[Row]:
        """One row per finding."""
        return [{"id": self.id, "rule": f.rule, "message": f.message} for f in self.findings]

    def _repr_html_(self) -> str:
        return html_table(self.to_records()) if self.findings else "<p>nothing found</p>"

    def row(self) -> Row:
        return {"id": self.id, "findings": [{"rule": f.rule, "message": f.message} for f in self.findings]}


@dataclass(frozen=True, slots=True, eq=False)
class Derivation(Recorded):
    """What `derive` decided, and its hand-written premises as they were measured on runs.

    >>> import fedaudit as fa
    >>> made = fa.derive("buttaci/lemB.1-kappa")
    >>> made.status, made.to_records()[-1]["status"]
    ('follows', 'true')
    """

    statement: Statement
    derived: Derived
    measured: tuple[Tried, ...] = ()
    proof: Proof | Unproved | None = None  # None where no way of the derivation leaves nothing open

    @property
    def status(self) -> str:
        """follows, claims-more, claims-less or not-derived."""
        return self.derived.status

    @property
    def factor(self) -> Any:
        """By how much the claim is more than what is derived, or less."""
        return self.derived.factor

    @property
    def proved(self) -> bool:
        """Whether the kernel accepts a proof of it."""
        return isinstance(self.proof, Proof)

    def _missing(self) -> tuple[str, ...]:
        """What a proof lacks that leaves nothing open as far as `derive` sees."""
        return (f"follows, not proved: {self.proof.reason}",) if isinstance(self.proof, Unproved) else ()

    def to_records(self) -> list[Row]:
        """One row per step."""
        steps: list[Row] = self.row()["steps"]
        return [{"id": self.statement.id, **step, "because": "; ".join(step["because"])} for step in steps]

    def _repr_html_(self) -> str:
        columns = ("claim", "where", "status", "how")
        return html_table([{name: step[name] for name in columns} for step in self.to_records()])

    def row(self) -> Row:
        made = self.derived
        steps = [
            {
                "claim": text(s.claim, PYTHON),
                "latex": latex_form(s.claim, self.statement.glossary),
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
            "proved": self.proved,
            "cites": list(made.cites),
            "proved_from": list(self.proof.cites) if isinstance(self.proof, Proof) else [],
            "trusted": list(self.proof.trusted) if isinstance(self.proof, Proof) else [],
            "findings": [*self._missing(), *made.texts, *filter(None, (t.finding() for t in self.measured))],
            "ways": [
                {"cites": list(way.cites), "status": way.status, "evidence": way.evidence}
                for way in made.findings
                if isinstance(way, AnotherWay)
            ],
            "gaps": [_gap(finding) for finding in made.findings if is_gap(finding)],
            "premises": list(made.premises),
            "shown": list(made.shown),
            "measured": [t.row() for t in self.measured],
            "steps": steps,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Literally:
    """What becomes of a statement when an assumption that its text does not make is dropped."""

    name: str
    says: str
    literal: Literal["breaks", "survives", "undecided", "not-tried"]
    reason: str = ""  # why not tried, or why undecided
    tightness: float | None = None
    certificate: Mapping[str, Any] | None = None
    sizes: tuple[Size, ...] = ()

    def row(self) -> Row:
        row: Row = {"name": self.name, "says": self.says, "literal": self.literal}
        met: Row = {"tightness": self.tightness, "sizes": [size.row() for size in self.sizes]}
        why = {"reason": self.reason} if self.reason else {}
        more = why if self.literal == "not-tried" else {**why, **met}
        return {**row, **more, "certificate": None if self.certificate is None else dict(self.certificate)}


@dataclass(frozen=True, slots=True, eq=False)
class Audited(Recorded):
    """All moves on one statement; `verdict` is the strongest that any of them reached.

    >>> import fedaudit as fa
    >>> found = fa.audit("buttaci/appA-strong-second", budget=0.2)
    >>> isinstance(found, fa.Audited), found.verdict.verdict
    (True, 'refuted')
    """

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
        proof = self.derivation.proof
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
            "proof": dict(proof.file) if isinstance(proof, Proof) else None,
            "trusted": len(proof.trusted) if isinstance(proof, Proof) else 0,
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

    def _repr_html_(self) -> str:
        names = ("id", "title", "verdict", "evidence", "reason", "tightness", "repaired")
        row = self.row()
        return html_table([{"": name, "value": row[name]} for name in names if row[name] not in (None, "")])


def counterexample(verdict: Verdict) -> Counterexample | None:
    """The counterexample to a reading or a witness, which refutes nothing that is printed."""
    return verdict.counterexample if isinstance(verdict, Undecided) else None


def _gap(finding: Finding) -> Row:
    """A gap of the printed proof: in words; and of a step that is false itself, its place and where it fails."""
    if isinstance(finding, OpenStep) and not finding.use:
        return {"text": finding.text, "step": finding.place, "detail": finding.detail}
    return {"text": finding.text, "step": None, "detail": ""}


def _inner(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "id"}
