"""What an audit says of one statement, as types; `row()` is its line in audit.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fedaudit.bounds.formulas.printer import PYTHON, latex_form, text
from fedaudit.bounds.language.row_list import Recorded, html_table
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.checks import Finding as LintFinding
from fedaudit.bounds.proofs.derivation_check import Derived
from fedaudit.bounds.proofs.findings import AnotherWay, Finding, OpenStep, is_gap
from fedaudit.bounds.proofs.step_decisions import Decided

from ..moves.kernel_proof import Proof, Unproved
from ..moves.repair import Answer
from .json_fields import Json, JsonObject, write
from .proof_text import written_ways
from .row import (
    DerivedGap,
    DerivedPart,
    DerivedStep,
    DerivedTerm,
    DerivedWay,
    LintLine,
    LiteralReading,
    Row,
    WrittenProof,
)
from .tried_sizes import Size, merged
from .verdicts import Counterexample, Proved, Refuted, Undecided, Verdict

__all__ = ["Audited", "Derivation", "Linted", "Literally"]


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

    def to_records(self) -> list[JsonObject]:
        """One row per finding."""
        return [{"id": self.id, **write(line)} for line in self.lines()]

    def _repr_html_(self) -> str:
        return html_table(self.to_records()) if self.findings else "<p>nothing found</p>"

    def lines(self) -> tuple[LintLine, ...]:
        """The findings as a row has them."""
        return tuple(LintLine(finding.rule, finding.message) for finding in self.findings)

    def row(self) -> JsonObject:
        return {"id": self.id, "findings": [write(line) for line in self.lines()]}


@dataclass(frozen=True, slots=True, eq=False)
class Derivation(Recorded):
    """What `derive` decided, and what the kernel says of its proof.

    >>> import fedaudit as fa
    >>> made = fa.derive("buttaci/lemB.1-kappa")
    >>> made.status, made.to_records()[-1]["status"]
    ('follows', 'true')
    """

    statement: Statement
    derived: Derived
    proof: Proof | Unproved | None = None  # None where no way of the derivation leaves nothing open
    known: Mapping[str, Statement] = field(default_factory=dict[str, Statement], repr=False)  # what it may cite

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

    def to_records(self) -> list[JsonObject]:
        """One row per step."""
        steps = [(step.because, write(step)) for step in self.part().steps]
        return [{"id": self.statement.id, **step, "because": "; ".join(because)} for because, step in steps]

    def _repr_html_(self) -> str:
        columns = ("claim", "where", "status", "how")
        return html_table([{name: step[name] for name in columns} for step in self.to_records()])

    def part(self) -> DerivedPart:
        """What a row of an audit says of it."""
        derived, proof = self.derived, self.proof if isinstance(self.proof, Proof) else None
        return DerivedPart(
            status=derived.status,
            factor=derived.factor,
            terms=tuple(DerivedTerm(**term.row(), says=str(term)) for term in derived.terms),
            evidence=derived.evidence,
            proved=self.proved,
            cites=tuple(derived.cites),
            proved_from=proof.cites if proof else (),
            trusted=proof.trusted if proof else (),
            findings=self._findings(),
            ways=tuple(
                DerivedWay(tuple(way.cites), way.status, way.evidence)
                for way in derived.findings
                if isinstance(way, AnotherWay)
            ),
            gaps=tuple(_gap(finding) for finding in derived.findings if is_gap(finding)),
            premises=tuple(derived.premises),
            shown=tuple(derived.shown),
            steps=tuple(self._step(step) for step in derived.steps),
            written=self.written(),
        )

    def written(self) -> tuple[WrittenProof, ...]:
        """The proof line by line: the way that decides, then the printed one if it is another."""
        cites = self.proof.cites if isinstance(self.proof, Proof) else None
        return written_ways(self.statement, self.known, self.derived.steps, cites)

    def _findings(self) -> tuple[str, ...]:
        return (*self._missing(), *self.derived.texts, *self._faults())

    def _faults(self) -> tuple[str, ...]:
        """What the maker of the tool should know: judgements of ours that the kernel did not take on the way."""
        refused = self.proof.refused if self.proof is not None else ()
        return tuple(f"a fault of fedaudit: the kernel refuses what was worked out, {said}" for said in refused)

    def _step(self, step: Decided) -> DerivedStep:
        return DerivedStep(
            claim=text(step.claim, PYTHON),
            latex=latex_form(step.claim, self.statement.glossary),
            where=step.where,
            note=step.note,
            status=step.decision.status,
            how=step.decision.how,
            because=tuple(step.because),
        )

    def row(self) -> JsonObject:
        return {"id": self.statement.id, **write(self.part())}


@dataclass(frozen=True, slots=True, eq=False)
class Literally:
    """What becomes of a statement when an assumption that its text does not make is dropped."""

    name: str
    says: str
    literal: Literal["breaks", "survives", "undecided", "not-tried"]
    reason: str = ""  # why not tried, or why undecided
    tightness: float | None = None
    certificate: Json | None = None
    sizes: tuple[Size, ...] = ()

    def part(self) -> LiteralReading:
        """What a row of an audit says of it."""
        return LiteralReading(
            self.name, self.literal, self.reason, self.tightness, self.sizes, self.certificate, says=self.says
        )

    def row(self) -> JsonObject:
        return write(self.part())


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
        """The largest lhs/rhs that verify and hunt met."""
        met = [v.tightness for v in (self.verified, self.hunted) if v.tightness is not None]
        return max(met, default=None)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes that verify and hunt tried."""
        searches = [v.search for v in (self.verified, self.hunted) if not isinstance(v, Proved)]
        return merged(size for search in searches for size in search.sizes)

    def record(self) -> Row:
        """Its row in audit.json, with the evidence as data."""
        verdict, verified, hunted = self.verdict.move(), self.verified.move(), self.hunted.move()
        sturdy = self.verdict.counterexample if isinstance(self.verdict, Refuted) else None
        proof = self.derivation.proof if isinstance(self.derivation.proof, Proof) else None
        against = counterexample(self.verified) or counterexample(self.hunted)
        return Row(
            id=self.id,
            verdict=verdict.verdict,
            title=self.statement.title,
            kind=self.statement.kind,
            evidence=verdict.evidence,
            reason=verdict.reason,
            how="dominance" if hunted.how and isinstance(self.verdict, Proved) else hunted.how,
            tightness=self.tightness,
            sizes=self.sizes,
            certificate=verdict.certificate,
            proof=proof.file if proof else None,
            trusted=len(proof.trusted) if proof else 0,
            persists=sturdy.persists if sturdy else (),
            persists_until=sturdy.persists_until if sturdy else "",
            breaks_too=sturdy.breaks_too if sturdy else (),
            rests_on=self.rests_on or "",
            counterexample=against.certificate if against else None,
            lint=self.linted.lines(),
            derive=self.derivation.part(),
            verify=verified,
            hunt=hunted,
            implicit=tuple(reading.part() for reading in self.implicit),
            repaired=self.repaired,
            repair="" if self.repair is None else self.repair.change,
            repair_why="" if self.repair is None else self.repair.why,
            cited={name: cited.file for name, cited in proof.cited.items()} if proof else {},
        )

    def row(self) -> JsonObject:
        return self.record().to_json()

    def _repr_html_(self) -> str:
        names = ("id", "title", "verdict", "evidence", "reason", "tightness", "repaired")
        row = self.row()
        return html_table([{"": name, "value": row[name]} for name in names if row[name] not in (None, "")])


def counterexample(verdict: Verdict) -> Counterexample | None:
    """The counterexample to a reading or a witness, which refutes nothing that is printed."""
    return verdict.counterexample if isinstance(verdict, Undecided) else None


def _gap(finding: Finding) -> DerivedGap:
    """A gap of the printed proof; of a step that is false itself, with its place and where it fails."""
    if isinstance(finding, OpenStep) and not finding.use:
        return DerivedGap(finding.text, finding.place, finding.detail)
    return DerivedGap(finding.text)
