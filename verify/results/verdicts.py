"""Verdicts: a closed set of types. `row()` is the line of the command line's contract that says the same as JSON.

`Refuted` carries a certificate that the kernel accepted, and nothing else may. `Survived` proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from fedaudit.bounds.language.row_list import Recorded

from ..moves.kernel_proof import Proof
from .file_names import lines_trusted
from .tried_sizes import Size

__all__ = [
    "NOTHING_MET",
    "Counterexample",
    "Judged",
    "NotReproduced",
    "Observed",
    "Proved",
    "Refuted",
    "Reproduced",
    "ReproducedIf",
    "Search",
    "Survived",
    "Undecided",
    "Verdict",
    "searched",
]

Row = dict[str, Any]
NOTHING_MET = "no admissible instance was found"
Evidence: TypeAlias = Literal["proof", "exact", "statistical", "numerical"]


@dataclass(frozen=True, slots=True)
class Search:
    """What was done to reach a verdict: admissible instances tried, and how a claim about orders or limits was read.

    `none`: what is said where instances were looked for and none was met, whatever the verdict is.
    """

    instances: int = 0
    seed: int = 0
    seconds: float = 0.0
    how: str | None = None
    statistical: Mapping[str, Any] | None = None  # what sampling saw besides
    sizes: tuple[Size, ...] = ()  # none where instances have no sizes
    worst: tuple[Mapping[str, Any], ...] = ()  # at ordinary points: over all functions and dimensions, or by a search
    untried: tuple[str, ...] = ()  # sizes that fit neither in memory nor in the effort
    left_out: tuple[str, ...] = ()  # ordinary points whose worst case is too large for the effort
    out_of_reach: str = ""  # why there is no exact worst case
    none: str = ""

    @property
    def nothing_met(self) -> str:
        """That no admissible instance was found; empty where one was, or nobody looked."""
        if not self.none or self.instances:
            return ""
        at_ordinary_points = any(one["lower"] is not None for one in self.worst)
        return f"{self.none} except at ordinary points" if at_ordinary_points else self.none

    def begun(self, identifier: str, verdict: str, evidence: str, tightness: float | None) -> Row:
        """How every row begins."""
        row: Row = {"id": identifier, "verdict": verdict, "evidence": evidence, "instances": self.instances}
        return {**row, "tightness": tightness, "certificate": None, "reason": self.nothing_met}

    def ended(self, row: Row) -> Row:
        """How every row ends."""
        how = {} if self.how is None else {"how": self.how}
        sampled = {} if self.statistical is None else {"statistical": dict(self.statistical)}
        sampled |= {"untried": list(self.untried)} if self.untried else {}
        sizes = [size.row() for size in self.sizes]
        worst: Row = {"worst": [dict(one) for one in self.worst]} if self.worst else {}
        worst |= {"left_out": list(self.left_out)} if self.left_out else {}
        worst |= {"out_of_reach": self.out_of_reach} if self.out_of_reach else {}
        return {**row, **how, **sampled, **worst, "sizes": sizes, "seconds": self.seconds, "seed": self.seed}


@dataclass(frozen=True, slots=True, eq=False)
class Counterexample:
    """An admissible instance on which the formula of a claim fails; the kernel accepted its certificate."""

    certificate: Mapping[str, Any]
    tightness: float | None  # lhs/rhs on the instance before it was shrunk
    persists: tuple[Mapping[str, int], ...] = ()  # longer runs (sizes and index) on which the same problem refutes too
    persists_until: str = ""  # what ended that list
    breaks_too: tuple[str, ...] = ()  # siblings that it breaks as well


@dataclass(frozen=True, slots=True, eq=False)
class Refuted(Recorded):
    """What is printed fails.

    >>> import fedaudit as fa
    >>> found = fa.hunt("buttaci/appA-strong-second", budget=0.1)
    >>> isinstance(found, fa.Refuted), found.to_records()[0]["verdict"]
    (True, 'refuted')
    """

    verdict: ClassVar[str] = "refuted"
    id: str
    counterexample: Counterexample
    search: Search = field(default_factory=Search)
    evidence: Evidence = "exact"

    @property
    def tightness(self) -> float | None:
        return self.counterexample.tightness

    @property
    def certificate(self) -> Mapping[str, Any]:
        return self.counterexample.certificate

    @property
    def reason(self) -> str:
        return self.search.nothing_met

    def row(self) -> Row:
        row = self.search.begun(self.id, self.verdict, self.evidence, self.tightness)
        return self.search.ended({**row, "certificate": dict(self.certificate), **_sturdy(self.counterexample)})


@dataclass(frozen=True, slots=True, eq=False)
class Proved(Recorded):
    """Decided for all parameters: the kernel accepts `proof`, together with the proofs of what it cites.

    >>> import fedaudit as fa
    >>> found = fa.audit("buttaci/appA-young", budget=0.1).verdict
    >>> isinstance(found, fa.Proved), found.evidence, found.trusted
    (True, 'proof', 0)
    """

    verdict: ClassVar[str] = "proved"
    id: str
    proof: Proof
    evidence: Evidence = "proof"
    tightness: float | None = None
    reason: str = ""

    @property
    def trusted(self) -> int:
        """How many lines were taken on z3's word, in the proof and in what it rests on."""
        return len(self.proof.trusted)

    def row(self) -> Row:
        row: Row = {"id": self.id, "verdict": self.verdict, "evidence": self.evidence, "tightness": self.tightness}
        said = lines_trusted(self.trusted).removeprefix(", ")
        return {**row, "certificate": None, "reason": "; ".join(filter(None, (said, self.reason)))}


@dataclass(frozen=True, slots=True, eq=False)
class Survived(Recorded):
    """Attacked and not broken. `tightest` is the instance that came closest, where the kernel replayed it.

    >>> import fedaudit as fa
    >>> fa.Survived("mine/thm1", tightness=0.5).row()["tightness"]
    0.5
    """

    verdict: ClassVar[str] = "survived"
    id: str
    tightness: float | None
    tightest: Mapping[str, Any] | None = None
    evidence: Evidence = "numerical"
    search: Search = field(default_factory=Search)

    @property
    def reason(self) -> str:
        return self.search.nothing_met

    def row(self) -> Row:
        row = self.search.begun(self.id, self.verdict, self.evidence, self.tightness)
        return self.search.ended({**row, **_shown(self.tightest)})


@dataclass(frozen=True, slots=True, eq=False)
class Undecided(Recorded):
    """None of the others, and why. `counterexample`: of a reading or a witness; it refutes nothing that is printed.

    >>> import fedaudit as fa
    >>> fa.Undecided("mine/thm1", "no admissible instance").reason
    'no admissible instance'
    """

    verdict: ClassVar[str] = "undecided"
    id: str
    reason: str
    evidence: Evidence = "numerical"
    tightness: float | None = None
    tightest: Mapping[str, Any] | None = None
    counterexample: Counterexample | None = None
    search: Search = field(default_factory=Search)

    def row(self) -> Row:
        row = self.search.begun(self.id, self.verdict, self.evidence, self.tightness)
        row["reason"] = self.reason
        against = self.counterexample
        more = {} if against is None else {**_sturdy(against), "counterexample": dict(against.certificate)}
        return self.search.ended({**row, **_shown(self.tightest), **more})


@dataclass(frozen=True, slots=True, eq=False)
class Observed(Recorded):
    """An observed claim, observed again: the reason in one sentence, and the table behind it (JSON data)."""

    verdict: ClassVar[str]
    id: str
    reason: str
    under: tuple[str, ...] = ()  # readings that were settled after looking
    seen: tuple[Mapping[str, Any], ...] = ()
    search: Search = field(default_factory=Search)
    evidence: Evidence = "numerical"
    tightness: float | None = None

    def row(self) -> Row:
        row = self.search.begun(self.id, self.verdict, self.evidence, self.tightness)
        row["reason"] = self.reason
        return self.search.ended({**row, "under": list(self.under), "seen": [dict(line) for line in self.seen]})


class Reproduced(Observed):
    """It was seen again, as printed.

    >>> import fedaudit as fa
    >>> fa.Reproduced("mine/figure1", "the curves cross").verdict
    'reproduced'
    """

    __slots__ = ()
    verdict: ClassVar[str] = "reproduced"


class ReproducedIf(Observed):
    """It was seen again, only under readings that were settled after looking.

    >>> import fedaudit as fa
    >>> fa.ReproducedIf("mine/figure1", "it crosses", under=("a larger step",)).under
    ('a larger step',)
    """

    __slots__ = ()
    verdict: ClassVar[str] = "reproduced-if"


class NotReproduced(Observed):
    """It was not seen again.

    >>> import fedaudit as fa
    >>> fa.NotReproduced("mine/figure1", "no crossing").verdict
    'not-reproduced'
    """

    __slots__ = ()
    verdict: ClassVar[str] = "not-reproduced"


Judged: TypeAlias = Refuted | Survived | Undecided  # what a search may end in
Verdict: TypeAlias = Refuted | Proved | Survived | Undecided | Reproduced | ReproducedIf | NotReproduced


def searched(verdict: Judged, **fields: Any) -> Judged:
    """The verdict with more said about its search."""
    return replace(verdict, search=replace(verdict.search, **fields))


def _sturdy(found: Counterexample) -> Row:
    lasts = {"persists": [dict(one) for one in found.persists], "persists_until": found.persists_until}
    return {**lasts, "breaks_too": list(found.breaks_too)}


def _shown(tightest: Mapping[str, Any] | None) -> Row:
    return {} if tightest is None else {"tightest": dict(tightest)}
