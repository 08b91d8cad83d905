"""Sums term by term, and inductions: judgements about a letter of the proof, and at a value of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flint import fmpq

from fedaudit.bounds.decide.facts import Instance
from fedaudit.bounds.language.derivation import Induction

from ..kernel.core.expression import Op, Relation
from ..kernel.proofs.judgement import put
from .argument_formulas import ONE, IndexValues, NotProposed, relations_of
from .atom_trees import Json, relation_json, tree_json, tree_of
from .notebook import Hypotheses, speaks_of

if TYPE_CHECKING:
    from .arguments import Proposer


def termwise_sum(
    proposer: Proposer, rule: Instance, place: IndexValues, scope: list[int], under: Hypotheses
) -> list[int]:
    relation, index, low, high, *given = rule.arguments
    letter = proposer.own_letter(index, place)
    ends = [proposer.tree(end, place) for end in (low, high)]
    range_: Hypotheses = (("<=", ends[0], letter), ("<=", letter, ends[1]))
    inner = place.put(index, letter, (*under, *range_))
    rests, splits = proposer.rests(list(given), inner, inner.under)
    (first,) = proposer.claimed(relation, inner, inner.under, [*rests, *scope], splits)
    name, left, right = proposer.book.judgements[first].says
    says: Relation = (
        name,
        Op("sum", (letter, ends[0], ends[1], left)),
        Op("sum", (letter, ends[0], ends[1], right)),
    )
    needs = proposer.book.needs(says, tuple(scope), under) or []
    data = {"letter": letter, "low": tree_json(ends[0]), "high": tree_json(ends[1])}
    return [proposer.book.say("termwise", says, under, (first, *scope, *needs), data)]


def inductively(proposer: Proposer, step: Induction, place: IndexValues) -> list[int]:
    """The induction over all rounds; if that cannot be written, over the rounds of the run alone."""
    try:
        return _induction(proposer, step, place)
    except NotProposed:
        if step.over.name in proposer.book.context.claim.for_all or "method" not in proposer.claim:
            raise
        return _induction(proposer, step, place, within=True)


def _induction(proposer: Proposer, step: Induction, place: IndexValues, *, within: bool = False) -> list[int]:
    book = proposer.book
    claimed = relations_of((step.claim,))
    letter = proposer.own_letter(step.over, place, "count" if step.start >= 1 else "")
    start = tree_of(str(step.start))
    at = place.put(step.over, letter, ())
    claim = book.context.claim
    hypotheses: list[Relation] = list(place.under)
    if step.over.name in claim.for_all:
        low, high = claim.for_all[step.over.name]
        hypotheses += [("<=", low, letter), ("<=", letter, high)]
    if within:
        hypotheses.append(("<=", letter, book.context.size("T")))
    hypotheses += [proposer.relation(c, at) for c in relations_of(step.under)]
    reached: Relation = ("<=", start, letter)
    # Otherwise the letter's own domain says it: an index is at least 0, and a count at least 1.
    if step.start > (1 if book.context.letters[letter] == "count" else 0):
        hypotheses.append(reached)
    under = tuple(dict.fromkeys(hypotheses))
    claims = [proposer.relation(part, at) for part in claimed]
    first = {letter: start}
    begin = IndexValues(at.values, tuple(dict.fromkeys(put(h, first) for h in under))).put(
        step.over, str(step.start), tuple(dict.fromkeys(put(h, first) for h in under))
    )
    rests, _ = proposer.rests(step.base, begin, begin.under)
    bases = [proposer.line(put(says, first), rests, begin.under, decided=True) for says in claims]
    after = {letter: Op("+", (letter, ONE))}
    later = tuple(put(h, after) for h in under)
    onward = IndexValues(at.values, tuple(dict.fromkeys((*later, *under, *claims, reached))))
    here = IndexValues(at.values, onward.under)
    rests, splits = proposer.rests(step.step, here, onward.under)
    if splits:
        raise NotProposed("induction", "a case inside an induction")
    forth = [proposer.line(put(says, after), rests, onward.under, decided=True) for says in claims]
    begun = tuple(dict.fromkeys((*later, reached)))
    assumed = [book.assumed(h) for h in begun]
    waiting = [h for h in under if speaks_of(h, letter) and not book.among(h, begun)]
    down = [proposer.line(h, assumed, begun) for h in waiting]
    inductions: list[int] = []
    for n, says in enumerate(claims):
        others = [m for m in range(len(claims)) if m != n]
        data: dict[str, Json] = {"over": letter, "from": str(step.start)}
        if others:
            data["also"] = [relation_json(claims[m]) for m in others]
        by = [place for m in (n, *others) for place in (bases[m], forth[m])]
        inductions.append(book.say("induction", says, under, (*by, *down), data))
    return inductions


def at_value(
    proposer: Proposer, step: Induction, value: str, place: IndexValues, scope: Sequence[int], under: Hypotheses
) -> list[int]:
    """An induction at a value of its index, where its hypotheses hold."""
    outer = IndexValues(tuple((s, v) for s, v in place.values if s != step.over))
    if any(s not in (step.over,) and s.name in str(step.claim.free_symbols) for s, _ in place.values):
        outer = IndexValues(
            outer.values, tuple(h for h in place.under if not speaks_of(h, str(dict(place.values).get(step.over))))
        )
    return [n for shown in proposer.step(step, outer) for n in _instance(proposer, shown, value, scope, under)]


def _instance(proposer: Proposer, induction: int, value: str, scope: Sequence[int], under: Hypotheses) -> list[int]:
    """An induction at a value of its index: an instance of it, without the hypotheses that hold there."""
    book = proposer.book
    judgement = book.judgements[induction]
    letter = book.entries[induction]["with"]["over"]
    values = {letter: tree_of(value)}
    said = put(judgement.says, values)
    needed = tuple(put(h, values) for h in judgement.under)
    shown = [proposer.line(h, scope, under) for h in needed]
    if value != letter:
        least = [book.line(("<=", fmpq(n), values[letter]), tuple(scope), under) for n in (0, 1)]
        by = [induction, *(n for n in least if n is not None)]
        induction = book.say("instance", said, tuple(dict.fromkeys((*under, *needed))), by, {"values": {letter: value}})
    if not needed:
        return [induction]
    return [book.say("discharge", said, under, (induction, *shown))]
