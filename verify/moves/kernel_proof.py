"""`proved` is what the kernel accepts: a proposal for the statement, and one for all that it cites.

What proposes (verify/proposals) may be wrong; nothing here decides but `kernel.proofs.check`. An accepted proof is kept
by what it proves, the claim as JSON, so that statements which cite one another prove it once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..certify.proof_files import read, rests_on
from ..kernel import Malformed, Rejected
from ..kernel.proofs.proof import Accepted, check
from ..results.file_names import slug
from ..results.json_fields import Json
from ..search.claim_identity import same
from ..search.lowered_claim import lower

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

    from ..proposals.measured_runs import Measured

__all__ = ["Proof", "Unproved", "measured", "prove", "stands_without"]


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """A proof that the kernel accepted, together with the proofs of what it cites; made by `prove` alone."""

    file: Json
    accepted: Accepted
    cited: Mapping[str, Proof]  # all that it rests on, whoever cites it
    refused: tuple[str, ...] = ()  # what the kernel said of judgements that were worked out on the way: our faults

    @property
    def trusted(self) -> tuple[str, ...]:
        """Lines that were taken on z3's word, its own and those of what it rests on."""
        return tuple(line for one in (self, *self.cited.values()) for line in one.accepted.trusted)

    @property
    def cites(self) -> tuple[str, ...]:
        """What it cites itself."""
        return tuple(self.accepted.cites)


@dataclass(frozen=True, slots=True)
class Unproved:
    """Why there is none: what no rule could be proposed for, or what the kernel said."""

    reason: str
    refused: tuple[str, ...] = ()  # as of `Proof`


def prove(statement: Statement, known: Mapping[str, Statement], folder: Path | None = None) -> Proof | Unproved:
    """The proof of a statement by the kernel, with those of all that it cites; or what is missing.

    A proof that lies in `folder` is proposed first: it was found before, perhaps by another process.
    What it says of runs is measured on some: `Disagreement` where one of them shows otherwise. What it cites is
    measured when that is asked for.
    """
    answer = _prove(statement, known, folder, ())
    if isinstance(answer, Proof):
        measured(statement, answer)
    return answer


def stands_without(proof: Proof, assumption: str) -> bool:
    """Whether the kernel accepts the proof for the claim without one of its implicit assumptions as well."""
    claim = proof.file["claim"]
    rest = [one for one in claim["implicit"] if one[0] != assumption]
    cited = {name: one.accepted for name, one in proof.cited.items()}
    try:
        accepted = check({**proof.file, "claim": {**claim, "implicit": rest}}, cited)
    except (Malformed, Rejected):
        return False
    # A line on z3's word would have to be asked about again; without one the kernel's word is enough.
    return not accepted.trusted


def measured(statement: Statement, proof: Proof) -> Measured:
    """What was measured of an accepted proof, once in a process."""
    from ..proposals.measured_runs import measure

    key = json.dumps(proof.file, sort_keys=True)
    if key not in _MEASURED:
        _MEASURED[key] = measure(statement, proof.file)
    return _MEASURED[key]


def _prove(
    statement: Statement, known: Mapping[str, Statement], folder: Path | None, above: tuple[str, ...]
) -> Proof | Unproved:
    claim = lower(statement).claim
    key = _key(statement, claim)
    if key not in _KEPT:
        _KEPT[key] = _looked_for(statement, known, folder, (*above, statement.id))
    return _KEPT[key]


def _key(statement: Statement, claim: Json) -> str:
    return json.dumps(claim, sort_keys=True) + repr(statement.follows_from)


_KEPT: dict[str, Proof | Unproved] = {}  # by claim and derivation: whoever asks, the kernel's answer is the same
_MEASURED: dict[str, Measured] = {}  # by the whole file


def _looked_for(
    statement: Statement, known: Mapping[str, Statement], folder: Path | None, above: tuple[str, ...]
) -> Proof | Unproved:
    from ..proposals.proposal import propose

    if by_hand := rests_on(statement):
        return Unproved(f"it rests on {by_hand}")
    if (kept := _kept(statement, folder)) is not None:
        answer = _accepted(kept, statement, known, folder, above)
        if isinstance(answer, Proof):
            return answer
    proposal = propose(statement, known)
    if proposal.file is None:
        answer = Unproved("; ".join(f"{one.kind}: {one.detail}" for one in proposal.reasons))
    else:
        answer = _accepted(proposal.file, statement, known, folder, above)
    # Where proofs are kept, who is first proposes and others take what lies there: rows must not tell them apart.
    return answer if folder else replace(answer, refused=tuple(proposal.refused))


def _kept(statement: Statement, folder: Path | None) -> Json | None:
    """What lies in the folder under the statement's name, if it may be a proof: the kernel decides about that too."""
    path = folder / f"{slug(statement.id)}.json" if folder else None
    try:
        data = read(str(path)) if path and path.is_file() else None
    except Malformed:
        return None
    return cast("Json", data) if isinstance(data, dict) else None


def _accepted(
    proposal: Json,
    statement: Statement,
    known: Mapping[str, Statement],
    folder: Path | None,
    above: tuple[str, ...],
) -> Proof | Unproved:
    """The kernel's word on a proposal, after its word on what that cites."""
    below: dict[str, Proof] = {}
    cites = proposal.get("cites", ())
    if not isinstance(cites, list | tuple) or not all(isinstance(name, str) for name in cast("list[object]", cites)):
        return Unproved("the kernel does not accept it: it cites no list of ids")
    for name in cast("Sequence[str]", cites):
        one = _prove(known[name], known, folder, above) if name in known and name not in above else None
        if not isinstance(one, Proof):
            why = f": {one.reason}" if one else ""
            return Unproved(f"what it cites is not proved, {name}{why}")
        below |= {**one.cited, name: one}
    try:
        # The kernel is asked about what a file can hold: tuples become lists, and nothing is shared with the proposer.
        file = json.loads(json.dumps(proposal))
        accepted = check(file, {name: one.accepted for name, one in below.items()})
    except (Malformed, Rejected) as error:
        return Unproved(f"the kernel does not accept it: {error}")
    if accepted.trusted:
        from ..proposals.z3_lines import doubtful

        if line := doubtful(file, {name: below[name].accepted.claim for name in accepted.cites}):
            return Unproved(f"z3 does not give a line that is taken on its word: {line}")
    if not same(file["claim"], lower(statement).claim):
        return Unproved("the kernel accepts a proof of another claim")
    return Proof(file, accepted, below)
