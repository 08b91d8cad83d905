"""The proof of a statement from its assumptions: every identity is expanded again, and the lines must end at the claim.

A file holds the proofs of a statement and of all that it cites, each before what cites it. A proof is a list of items:
premises that an identity shows, facts, cited statements, and lines, each of which names the items before it that it
rests on. Identities are checked here (identity.py); that a line follows from what it names was decided by z3 or by
comparing polynomials, which is trusted and counted. What the words have to do with a paper is not checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from . import identity
from .rational import Malformed, Node, Rejected
from .work import metered

FORMAT = "fedaudit-derivation/1"
KINDS = ("shown", "fact", "cited", "meaning", "line", "induction")
DECIDED = ("z3", "polynomials")
LINES = ("line", "induction")


@dataclass(frozen=True, slots=True)
class Chain:
    """What was checked, and what is trusted."""

    statement: str
    statements: int
    identities: int
    lines: int
    trusted: tuple[str, ...]

    @property
    def what(self) -> str:
        others = f" and of {self.statements - 1} that it cites" if self.statements > 1 else ""
        checked = (
            f"proof from the assumptions{others}: {self.identities} identities checked, {self.lines} lines in order"
        )
        return f"{checked}; {'; '.join(self.trusted) or 'nothing trusted but the assumptions'}"


def is_one(certificate: object) -> bool:
    """Whether a file says that it is such a proof."""
    return isinstance(certificate, dict) and cast("dict[str, object]", certificate).get("format") == FORMAT


def check(certificate: object, most: int = identity.WORK) -> Chain:
    """Accept the proof, or raise `Malformed` or `Rejected` with the first thing that is wrong."""
    with metered(most):
        at = Node(certificate, "proof").fields("format statement proofs")
        at["format"].one_of((FORMAT,))
        proved: dict[str, Proof] = {}
        for node in at["proofs"].items():
            one = read(node, proved)
            if one.statement in proved:
                raise Rejected(f"{node.where}: got a second proof of {one.statement}, expected one")
            proved[one.statement] = one
        wanted = at["statement"].identifier()
        if not proved or [*proved][-1] != wanted:
            raise Rejected(f"proof: got no proof of {wanted} at the end, expected one")
        unused = set(proved) - {wanted} - {name for one in proved.values() for name in one.cites}
        if unused:
            raise Rejected(f"proof: got {min(unused)}, which nothing cites")
        return _summed(wanted, list(proved.values()))


@dataclass(frozen=True, slots=True)
class Proof:
    """One statement's: what it cites, what was decided elsewhere, what its identities trust."""

    statement: str
    assumes: frozenset[str]
    cites: tuple[str, ...]
    identities: int
    decided: Mapping[str, int]
    facts: frozenset[str]
    trusted: tuple[str, ...]


def _summed(statement: str, proofs: list[Proof]) -> Chain:
    decided = {how: sum(one.decided[how] for one in proofs) for how in DECIDED}
    facts = sorted({fact for one in proofs for fact in one.facts})
    signs = sum(t.startswith("trusted: z3") for one in proofs for t in one.trusted)
    others = dict.fromkeys(t for one in proofs for t in one.trusted if not t.startswith("trusted: z3"))
    trusted = [f"trusted: {how} in {count} lines" for how, count in decided.items() if count]
    trusted += [f"trusted: z3, {signs} signs of multipliers"] if signs else []
    trusted += [f"trusted: {len(facts)} elementary facts"] if facts else []
    return Chain(
        statement, len(proofs), sum(one.identities for one in proofs), sum(decided.values()), (*trusted, *others)
    )


def read(node: Node, proved: Mapping[str, Proof]) -> Proof:
    """One statement's proof, after those of all that it cites."""
    at = node.fields("statement claim says assumes identities items")
    statement = at["statement"].identifier()
    stated = at["claim"].mapping()
    if "id" not in stated or stated["id"].raw != statement:
        raise Malformed(f"{node.where}.claim: got a claim with another id than its statement's")
    assumes = frozenset(name.name() for name in at["assumes"].items())
    if frozenset(name for part in ("let", "implicit") for name in _assumed(stated, part)) != assumes:
        raise Rejected(f"{node.where}: got other assumptions than the claim makes")
    identities = at["identities"].items()
    trusted: dict[str, None] = {}
    for one in identities:
        trusted.update(dict.fromkeys(identity.check(one.raw).trusted))
        charged = {part.name() for part in one.mapping()["charges"].items()}
        if not charged <= assumes:
            raise Rejected(f"{one.where}: got {min(charged - assumes)}, which the statement does not assume")
    claims, used = [_text(one.mapping()["claim"]) for one in identities], set[int]()
    lines: list[str] = []
    cites: dict[str, None] = {}
    facts: set[str] = set()
    decided: dict[str, int] = dict.fromkeys(DECIDED, 0)
    items = at["items"].items()
    for n, item in enumerate(items):
        kind = item.kind(KINDS)
        fields = item.fields("kind claim because", "given identity statement decided")
        claim = _text(fields["claim"])
        for below in fields["given"].items() if "given" in fields else ():
            below.integer(0, n - 1)  # nothing rests on itself or on what comes later
        if kind == "shown":
            place = _needed(fields, "identity", item).integer(0, len(identities) - 1)
            used.add(place)
            if claims[place] != claim:
                raise Rejected(f"{item.where}: got another claim than its identity shows")
        elif kind == "cited":
            name = _needed(fields, "statement", item).identifier()
            if name not in proved:
                raise Rejected(f"{item.where}: got {name}, which is not proved before it is cited")
            if not proved[name].assumes <= assumes:
                lacks = min(proved[name].assumes - assumes)
                raise Rejected(f"{item.where}: got {name}, which assumes {lacks}; {statement} does not")
            cites[name] = None
        elif kind in LINES:
            decided[_needed(fields, "decided", item).one_of(DECIDED)] += 1
            _needed(fields, "given", item)
            lines.append(claim)
        elif kind == "fact":
            facts.add(_text(fields["because"]))
        else:
            trusted[f"trusted: what a name means, {_text(fields['because'])}"] = None
    for one in at["says"].items():
        if _text(one) not in lines:
            raise Rejected(f"{one.where}: got no line that says so, expected one")
    if len(used) != len(identities):
        raise Rejected(f"{node.where}: got identities that no item uses")
    return Proof(statement, assumes, tuple(cites), len(identities), decided, frozenset(facts), tuple(trusted))


def _assumed(claim: Mapping[str, Node], part: str) -> list[str]:
    return [row.items()[0].name() for row in claim[part].items()] if part in claim else []


def _needed(fields: Mapping[str, Node], name: str, item: Node) -> Node:
    if name not in fields:
        raise item.malformed(f"a field {name}")
    return fields[name]


def _text(node: Node) -> str:
    if not isinstance(node.raw, str):
        raise node.malformed("text")
    return node.raw
