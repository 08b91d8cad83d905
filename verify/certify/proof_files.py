"""Proofs in files: each is judged after those that it cites, which lie beside it under their own names, and only once.

A proof is data from strangers. Its claim is compared with the statement's own; what it cites has to be accepted first;
then the kernel checks it, in a process of its own with limits. Nothing else makes a statement proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from fedaudit.bounds.language.statement import Statement

from ..kernel import Malformed, load
from ..kernel.core.claim import read as read_claim
from ..kernel.core.rational import Node
from ..kernel.proofs.proof import is_one
from ..kernel.service.files import read_text
from ..proposals.z3_lines import doubtful
from ..results.file_names import lines_trusted, slug
from ..search.claim_identity import claim_of, same
from .sandbox import Answer, Checker

__all__ = ["BYTES", "Judged", "Shelf", "read", "rests_on"]

BYTES = 16_000_000  # of one proof; those of the whole catalogue together are allowed four times as many
DEPTH = 100  # of citations


@dataclass(frozen=True, slots=True)
class Judged:
    """The kernel's word on one proof. `trusted` counts its own lines that were taken on a solver's word."""

    id: str
    answer: Answer
    claim: object = None  # only where it was accepted
    cites: tuple[str, ...] = ()  # and all that those cite
    trusted: int = 0

    @property
    def accepted(self) -> bool:
        return self.answer.outcome == "accepted"


@dataclass(slots=True)
class Shelf:
    """The proofs of one folder, by the statements that they are of; `folder` is None where there is none."""

    folder: Path | None
    known: Mapping[str, Statement]
    checker: Checker
    judged: dict[str, Judged] = field(default_factory=dict[str, Judged])  # by id, of files under their own names
    open: list[str] = field(default_factory=list[str])  # proofs that wait for what they cite

    def of(self, identifier: str) -> Judged:
        """The proof of a statement in the file of its name."""
        if identifier not in self.judged:
            self.judged[identifier] = self._of(identifier)
        return self.judged[identifier]

    def _of(self, identifier: str) -> Judged:
        if self.folder is None:
            return _no(identifier, f"got no folder, expected one that holds the proof of {identifier} too")
        name = f"{slug(identifier)}.json"
        if not (self.folder / name).is_file():
            return _no(identifier, f"got no file {name}, expected the proof of {identifier}")
        try:
            data = read(str(self.folder / name))
        except Malformed as error:
            return _no(identifier, f"{name}: {error}", "malformed")
        judged = self.judge(data)
        if judged.id != identifier and judged.answer.outcome != "malformed":
            return _no(identifier, f"{name}: got a proof of {judged.id}, expected one of {identifier}")
        return judged

    def judge(self, data: object) -> Judged:
        """A proof that was read, wherever it lies."""
        fields = cast("dict[str, object]", data) if isinstance(data, dict) else {}
        identifier, cites = fields.get("statement"), fields.get("cites", [])
        if not isinstance(identifier, str) or not is_one(fields):
            return _no("", "proof: got no statement, expected the proof of one", "malformed")
        if not isinstance(cites, list) or not all(isinstance(name, str) for name in cast("list[object]", cites)):
            return _no(identifier, "proof.cites: got no list of ids, expected one", "malformed")
        if other := self._other_claim(identifier, fields.get("claim")):
            return _no(identifier, other)
        if identifier in self.open or len(self.open) >= DEPTH:
            return _no(identifier, f"proof.cites: got {identifier} among what it rests on, expected no circle")
        self.open.append(identifier)
        try:
            cited = {name: self.of(name) for name in dict.fromkeys(cast("list[str]", cites))}
        finally:
            self.open.pop()
        for name, one in cited.items():
            if not one.accepted:
                return _no(identifier, f"proof.cites: got {name}, whose proof is not accepted: {one.answer.reason}")
        answer = self.checker.prove(fields, [one.claim for one in cited.values()])
        if answer.outcome != "accepted":
            return Judged(identifier, answer)
        if answer.trusted and (line := _doubtful(fields, cited)):
            return _no(identifier, f"proof: got a line on z3's word that z3 does not give, {line}")
        below = tuple(dict.fromkeys(one for name, judged in cited.items() for one in (name, *judged.cites)))
        return Judged(identifier, answer, fields["claim"], below, len(answer.trusted))

    def _other_claim(self, identifier: str, claim: object) -> str:
        """Why it is no claim of the catalogue that a proof shows."""
        own = self.known.get(identifier)
        if own is None:
            return f"proof: got the statement {identifier}, expected one that the catalogue holds"
        if same(claim, claim_of(own)):
            by_hand = rests_on(own)
            return f"claim: got what rests on {by_hand}, expected what a proof shows" if by_hand else ""
        return f"claim: got another claim than {identifier} makes, expected the catalogue's"

    def trusted(self, found: Judged) -> int:
        """Lines that were taken on a solver's word, in the proof and in all that it rests on."""
        return found.trusted + sum(self.of(name).trusted for name in found.cites)

    def told(self, found: Judged) -> str:
        """What an accepted proof is, in one line."""
        cites = f", with those of {len(found.cites)} that it rests on" if found.cites else ""
        return f"{found.answer.what}{cites}{lines_trusted(self.trusted(found))}"


def rests_on(statement: Statement) -> str | None:
    """What an order claim rests on that the kernel does not decide: a closed form of a run, derived by hand."""
    parts = [f"a form derived by hand: {statement.by_hand}"] if statement.by_hand else []
    if statement.form is not None:
        parts.append(f"a form derived by hand, equal to its run on {len(statement.form.replays)} exact replays")
    return "; ".join(parts) or None


def _doubtful(fields: Mapping[str, object], cited: Mapping[str, Judged]) -> str:
    return doubtful(fields, {name: read_claim(Node(one.claim, "claim")) for name, one in cited.items()})


def read(path: str) -> object:
    """The JSON of a proof's file; `Malformed` for anything else."""
    return load(read_text(path, BYTES), BYTES)


def _no(identifier: str, reason: str, outcome: str = "rejected") -> Judged:
    answer = Answer("malformed" if outcome == "malformed" else "rejected", reason)
    return Judged(identifier, answer)
