"""What `derive` may find in a derivation: a closed set of types, each with its `text` for people and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..catalogue.printed_constants import Slack

Status = Literal["follows", "claims-more", "claims-less", "not-derived"]
Evidence = Literal["proof", "numerical"]


@dataclass(frozen=True, slots=True)
class NoDerivation:
    """There is nothing to decide: no derivation is written, or one that cites what is not in the catalogue."""

    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The derivation may not be used as it is written."""

    why: str

    @property
    def text(self) -> str:
        return f"refused: {self.why}"


@dataclass(frozen=True, slots=True)
class NotAssumed:
    """The derivation uses an assumption that the statement does not make, or makes otherwise."""

    what: str

    @property
    def text(self) -> str:
        return f"assumption: {self.what}"


@dataclass(frozen=True, slots=True)
class Uncited:
    """A citation does no work: no step uses it, or a premise takes its place."""

    why: str

    @property
    def text(self) -> str:
        return f"citation: {self.why}"


@dataclass(frozen=True, slots=True)
class OpenStep:
    """A step that is false, unknown or only sampled; with `use`, something that it uses is."""

    place: int  # among the steps of the derivation
    name: str
    use: str
    status: Literal["false", "unknown", "numerical only"]
    detail: str

    @property
    def text(self) -> str:
        return f"step {self.name}{f' ({self.use})' if self.use else ''}: {self.status}, {self.detail}"


@dataclass(frozen=True, slots=True)
class ClaimsMore:
    """What is printed is more than the proof gives, and where or by how much."""

    how: str

    @property
    def text(self) -> str:
        return f"claims more than the proof gives: {self.how}"


@dataclass(frozen=True, slots=True)
class ClaimsLess:
    """What is printed is less than the proof gives, and where."""

    how: str

    @property
    def text(self) -> str:
        return f"claims less than the proof gives: {self.how}"


@dataclass(frozen=True, slots=True)
class Vacuous:
    """A minimum in a lower bound is not needed: one of its arguments follows alone."""

    alone: str

    @property
    def text(self) -> str:
        return f"vacuous: the minimum is not needed, {self.alone} alone is a lower bound (proved)"


@dataclass(frozen=True, slots=True)
class AnotherWay:
    """What becomes of a derivation other than the statement's first."""

    cites: tuple[str, ...]
    status: Status
    evidence: Evidence

    @property
    def start(self) -> str:
        """Where it starts: what it cites."""
        return ", ".join(self.cites) or "the assumptions"

    @property
    def text(self) -> str:
        return f"another way, from {self.start}: {self.status} ({self.evidence})"


@dataclass(frozen=True, slots=True)
class WaitsFor:
    """What a proof of the statement needs and proofs cannot say yet."""

    technique: str

    @property
    def text(self) -> str:
        return f"a proof waits for {self.technique}"


Finding = (
    NoDerivation
    | Refused
    | NotAssumed
    | Uncited
    | OpenStep
    | ClaimsMore
    | ClaimsLess
    | Vacuous
    | AnotherWay
    | WaitsFor
    | Slack
)


def is_gap(finding: Finding) -> bool:
    """Whether a finding says that the printed proof does not show what is printed: a false step, or more than given."""
    return isinstance(finding, NotAssumed | ClaimsMore) or (isinstance(finding, OpenStep) and finding.status == "false")
