"""A proof of a statement that nobody wrote: frame, atoms, multipliers and lines from the statement alone.

What it says of itself (`follows_from`) is not looked at. What is found goes through the engine like any derivation, and
then to the kernel: only what that accepts is called proved. That nothing is found says nothing about the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from sympy.core.relational import Relational

from fedaudit.bounds.language.derivation import Argument, Derivation, View
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.derivation_check import Derived, derive
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.errors import UserError
from fedaudit.verify.moves.kernel_proof import Proof, Unproved, prove
from fedaudit.verify.results.json_fields import write
from fedaudit.verify.results.proof_text import written_ways
from fedaudit.verify.results.row import WrittenProof

from .attempts import Attempts, FoundArgument, Spent, Tried
from .direct import by_lines_alone, by_one_premise
from .local_growth import by_growth
from .potential_proof import by_potential

KINDS = ("inequality", "identity")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A derivation that the engine accepts, with the proof file, and what the kernel says of it."""

    statement: Statement  # with the derivation
    argument: Argument
    derived: Derived
    tried: tuple[Tried, ...]
    decision: Proof | Unproved

    @property
    def file(self) -> Mapping[str, Any] | None:
        return self.decision.file if isinstance(self.decision, Proof) else None

    @property
    def status(self) -> Literal["proved", "follows"]:
        """Proved is what the kernel accepts; what the engine alone accepts follows."""
        return "proved" if isinstance(self.decision, Proof) else "follows"

    @property
    def trusted(self) -> tuple[str, ...]:
        return self.decision.trusted if isinstance(self.decision, Proof) else ()

    def written(self) -> tuple[WrittenProof, ...]:
        """The proof, line by line, in the words in which `derive` tells one."""
        (derivation,) = self.statement.follows_from
        return written_ways(self.statement, {self.statement.id: self.statement}, self.derived.steps, derivation.cites)

    def row(self) -> dict[str, object]:
        return {
            "id": self.statement.id,
            "status": self.status,
            "lacks": self.decision.reason if isinstance(self.decision, Unproved) else None,
            "trusted": list(self.trusted),
            "rules": dict(self.decision.accepted.rules) if isinstance(self.decision, Proof) else {},
            "written": [write(way) for way in self.written()],
            "tried": [one.row() for one in self.tried],
            "certificate": None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class NotFound:
    """What was tried; the statement stays as it is."""

    statement: Statement
    tried: tuple[Tried, ...]
    why: str

    @property
    def status(self) -> Literal["not-found"]:
        return "not-found"

    def row(self) -> dict[str, object]:
        tried = [one.row() for one in self.tried]
        return {"id": self.statement.id, "status": self.status, "why": self.why, "tried": tried, "certificate": None}


Way = Callable[[Statement, View, Relational], Attempts]
WAYS: tuple[Way, ...] = (by_lines_alone, by_one_premise, by_growth, by_potential)


def search(statement: Statement, budget: float) -> Found | NotFound:
    """Look for a proof, with so many seconds' worth of effort, and let the kernel decide it."""
    tried: list[Tried] = []
    bare = replace(statement, follows_from=())
    if statement.kind not in KINDS:
        return NotFound(bare, (), f"it is of the kind {statement.kind}, for which no search is made")
    goal = view(bare)
    if not goal.relations:
        return NotFound(bare, (), "it claims no relation that is not true as written")
    arguments: list[Argument] = []
    try:
        for relation in goal.relations:
            argument = _one(bare, goal, relation, budget, tried)
            if argument is None:
                return NotFound(bare, tuple(tried), "no way led to it")
            arguments.append(argument)
    except Spent:
        return NotFound(bare, tuple(tried), f"the effort of {budget:g} seconds was spent")
    bounds = tuple(bound for a in arguments for bound in a.bounds)
    whole = Argument(tuple(dict.fromkeys(step for a in arguments for step in a.steps)), bounds)
    proved = _with(bare, whole)
    derived = derive(proved, {proved.id: proved}, slack=False)
    if not _follows(derived):
        return NotFound(bare, tuple(tried), "what was found did not stand")
    return Found(proved, whole, derived, tuple(tried), prove(proved, {proved.id: proved}))


def _follows(derived: Derived) -> bool:
    return derived.status in ("follows", "claims-less") and derived.proved


def _with(statement: Statement, argument: Argument) -> Statement:
    def proof(*_: object) -> Argument:
        return argument

    return replace(statement, follows_from=(Derivation(proof),))


def _one(bare: Statement, goal: View, relation: Relational, budget: float, tried: list[Tried]) -> Argument | None:
    """An argument for one relation that the engine accepts; `Spent` if all that was tried took the whole budget."""
    alone = replace(bare, then=relation) if len(goal.relations) > 1 else bare
    for way in WAYS:
        for attempt in way(bare, goal, relation):
            argument = attempt.argument if isinstance(attempt, FoundArgument) else None
            tried.append(attempt.tried if isinstance(attempt, FoundArgument) else attempt)
            try:
                if argument is not None and _follows(derive(_with(alone, argument), {}, slack=False)):
                    return argument
            except UserError:
                pass
            if sum(one.seconds for one in tried) > budget:
                raise Spent
    return None
