"""The proof of a statement as JSON, for a kernel that expands its identities again (verify/kernel/chain.py)."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fedaudit.bounds.derivation import Given, Induction, Known
from fedaudit.bounds.derive import argued, derive, settle, taken
from fedaudit.bounds.identity_data import identity_data
from fedaudit.bounds.statement import Statement
from fedaudit.errors import UserError

from .claims import lower
from .kernel.chain import FORMAT

Row = dict[str, Any]


def proof_data(statement: Statement, known: Mapping[str, Statement]) -> Row:
    """The proofs of the statement and of all that it cites, each before what cites it."""
    proofs: dict[str, Row] = {}
    _proofs(statement, known, proofs)
    return {"format": FORMAT, "statement": statement.id, "proofs": list(proofs.values())}


def _proofs(statement: Statement, known: Mapping[str, Statement], made: dict[str, Row]) -> None:
    if statement.id in made:
        return
    ways = [replace(statement, follows_from=(way,)) for way in statement.follows_from]
    way = next((w for w in ways if derive(w, known, slack=False).proved), None)
    if way is None:
        raise UserError(f"got {statement.id}, which no derivation proves, expected a proved statement")
    for name in way.follows_from[0].cites:
        _proofs(known[name], known, made)
    made[statement.id] = _proof(way, known)


def _proof(way: Statement, known: Mapping[str, Statement]) -> Row:
    goal, argument = argued(way, known)
    written = Items(way.id)
    for step in argument.steps:
        made = settle(step, goal.requires)
        hows = [d.how for d in (made.decision, *(use.decision for use in made.uses))]
        written.line(step, "z3" if "smt" in hows else "polynomials")
    used = {row["statement"] for row in written.rows if row["kind"] == "cited"}
    unused = [name for name in way.follows_from[0].cites if name not in used]
    written.rows += [{"kind": "cited", "claim": "", "because": "not used", "statement": name} for name in unused]
    return {
        "statement": way.id,
        "claim": lower(way).claim,
        "says": [str(relation) for relation in goal.relations],
        "assumes": sorted({a.name for a in (*way.let, *way.implicit)}),
        "identities": written.identities,
        "items": written.rows,
    }


@dataclass(slots=True)
class Items:
    """The items of one proof, numbered as they are met; each after all that it rests on."""

    statement: str
    rows: list[Row] = field(default_factory=list[Row])
    identities: list[Row] = field(default_factory=list[Row])
    numbers: dict[Any, int] = field(default_factory=dict[Any, int])

    def line(self, step: Any, decided: str) -> int:
        kind = "induction" if isinstance(step, Induction) else "line"
        given = (*step.base, *step.step) if isinstance(step, Induction) else step.given
        rests = self.all(given)
        row = {"kind": kind, "claim": str(step.claim), "because": step.where or step.note}
        return self._put(step, {**row, "given": rests, "decided": decided})

    def all(self, given: Sequence[Given]) -> list[int]:
        return [self.number(item) for item in given]

    def number(self, item: Given) -> int:
        if item in self.numbers:
            return self.numbers[item]
        if not isinstance(item, Known):
            return self.line(item, "z3")  # a line that is listed later: it is decided there
        rests = self.all([*((item.of,) if item.of else ()), *(g for r in item.requires for g in r.given)])
        row: Row = {"kind": item.kind, "claim": str(item.claim), "because": item.because}
        if rests:
            row["given"] = rests
        if item.kind == "shown":
            row["identity"] = len(self.identities)
            self.identities.append(identity_data(item, self.statement))
        elif item.kind == "cited":
            row["statement"] = item.because
        elif item.kind == "premise" or taken(item):
            row["kind"] = "meaning"
        return self._put(item, row)

    def _put(self, item: Any, row: Row) -> int:
        self.numbers[item] = len(self.rows)
        self.rows.append(row)
        return self.numbers[item]
