"""Verdicts: a closed set of types. `row()` is the line of the command line's contract that says the same as JSON.

`Refuted` carries a certificate that the kernel accepted, and nothing else may. `Survived` proves nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from fedaudit.bounds.language.row_list import Recorded

from ..moves.kernel_proof import Proof
from .file_names import lines_trusted
from .json_fields import Json, JsonObject, write
from .row import Ends, Horizon, Move
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
    statistical: Json | None = None  # what sampling saw besides
    sizes: tuple[Size, ...] = ()  # none where instances have no sizes
    covered: tuple[int, int] = (0, 0)  # shapes that were tried, of how many
    worst: tuple[Ends, ...] = ()  # at ordinary points: over all functions and dimensions, or by a search
    untried: tuple[str, ...] = ()  # sizes that fit neither in memory nor in the effort
    left_out: tuple[str, ...] = ()  # ordinary points whose worst case is too large for the effort
    out_of_reach: str = ""  # why there is no exact worst case
    none: str = ""

    @property
    def nothing_met(self) -> str:
        """That no admissible instance was found; empty where one was, or nobody looked."""
        if not self.none or self.instances:
            return ""
        at_ordinary_points = any(ends.lower is not None for ends in self.worst)
        return f"{self.none} except at ordinary points" if at_ordinary_points else self.none

    def move(self, verdict: str, evidence: str, tightness: float | None, reason: str) -> Move:
        """What a row says of the search, without the instances that it ended with."""
        return Move(
            verdict=verdict,
            evidence=evidence,
            instances=self.instances,
            tightness=tightness,
            reason=reason,
            how=self.how or "",
            statistical=self.statistical,
            untried=self.untried,
            worst=self.worst,
            left_out=self.left_out,
            out_of_reach=self.out_of_reach,
            sizes=self.sizes,
            shapes=self.covered[0],
            of_shapes=self.covered[1],
            seconds=self.seconds,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Counterexample:
    """An admissible instance on which the formula of a claim fails; the kernel accepted its certificate."""

    certificate: Json
    tightness: float | None  # lhs/rhs on the instance before it was shrunk
    persists: tuple[Horizon, ...] = ()  # longer runs on which the same problem refutes too
    persists_until: str = ""  # what ended that list
    breaks_too: tuple[str, ...] = ()  # siblings that it breaks as well

    def told_by(self, move: Move) -> Move:
        """A move that says how sturdy it is."""
        return replace(move, persists=self.persists, persists_until=self.persists_until, breaks_too=self.breaks_too)


class _Judgement(Recorded):
    """A verdict on one statement; its row is the JSON of its move."""

    __slots__ = ()
    id: str

    @abstractmethod
    def move(self) -> Move:
        """What a row of an audit says of it."""

    def row(self) -> JsonObject:
        return {"id": self.id, **write(self.move())}


@dataclass(frozen=True, slots=True, eq=False)
class Refuted(_Judgement):
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
    def certificate(self) -> Json:
        return self.counterexample.certificate

    @property
    def reason(self) -> str:
        return self.search.nothing_met

    def move(self) -> Move:
        move = self.search.move(self.verdict, self.evidence, self.tightness, self.reason)
        return self.counterexample.told_by(replace(move, certificate=self.certificate))


@dataclass(frozen=True, slots=True, eq=False)
class Proved(_Judgement):
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

    def move(self) -> Move:
        trust = lines_trusted(self.trusted).removeprefix(", ")
        reason = "; ".join(filter(None, (trust, self.reason)))
        return Move(self.verdict, self.evidence, tightness=self.tightness, reason=reason)


@dataclass(frozen=True, slots=True, eq=False)
class Survived(_Judgement):
    """Attacked and not broken. `tightest` is the instance that came closest, where the kernel replayed it.

    >>> import fedaudit as fa
    >>> fa.Survived("mine/thm1", tightness=0.5).row()["tightness"]
    0.5
    """

    verdict: ClassVar[str] = "survived"
    id: str
    tightness: float | None
    tightest: Json | None = None
    evidence: Evidence = "numerical"
    search: Search = field(default_factory=Search)

    @property
    def reason(self) -> str:
        return self.search.nothing_met

    def move(self) -> Move:
        move = self.search.move(self.verdict, self.evidence, self.tightness, self.reason)
        return replace(move, tightest=self.tightest)


@dataclass(frozen=True, slots=True, eq=False)
class Undecided(_Judgement):
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
    tightest: Json | None = None
    counterexample: Counterexample | None = None
    search: Search = field(default_factory=Search)

    def move(self) -> Move:
        move = self.search.move(self.verdict, self.evidence, self.tightness, self.reason)
        move = replace(move, tightest=self.tightest)
        against = self.counterexample
        return move if against is None else against.told_by(replace(move, counterexample=against.certificate))


@dataclass(frozen=True, slots=True, eq=False)
class Observed(_Judgement):
    """An observed claim, observed again: the reason in one sentence, and the table behind it (JSON data)."""

    verdict: ClassVar[str]
    id: str
    reason: str
    under: tuple[str, ...] = ()  # readings that were settled after looking
    seen: tuple[Json, ...] = ()
    search: Search = field(default_factory=Search)
    evidence: Evidence = "numerical"
    tightness: float | None = None

    def move(self) -> Move:
        move = self.search.move(self.verdict, self.evidence, self.tightness, self.reason)
        return replace(move, under=self.under, seen=self.seen)


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
