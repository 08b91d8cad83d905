"""The judgements of a proof that is being proposed: each is checked by the kernel's own rule as it is written down.

A line is proved from what is offered to it: what its sides need to be numbers is proved first, its certificate is
looked for, and facts about its powers, roots, minima and sums are added when it does not go without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from ..kernel.core.expression import Relation, Tree
from ..kernel.core.rational import Node, Rejected
from ..kernel.proofs.forms import Need, names_of
from ..kernel.proofs.judgement import (
    Context,
    Judgement,
    among,
    needs_of,
    offers_of,
    same,
    same_need,
    shows,
)
from ..kernel.proofs.proof import RULES
from .atom_trees import Json, relation_json, written_out
from .lines.atom_facts import facts
from .lines.case_lines import by_extremes, by_parts, by_squares
from .lines.line_certificates import certificates
from .z3_lines import follows

Places = tuple[int, ...]
Hypotheses = tuple[Relation, ...]
Stated = tuple[Relation, Hypotheses]
FactAt = tuple[str, tuple[Tree, ...], Places, Hypotheses]  # the name of a fact, at what, from what, under what
ZERO = fmpq(0)


@dataclass(slots=True)
class Notebook:
    """Judgements so far, as the file holds them and as the kernel reads them."""

    context: Context
    entries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    places: dict[Stated, int] = field(default_factory=dict[Stated, int])
    failed: set[tuple[Relation, Hypotheses, Places, bool]] = field(
        default_factory=set[tuple[Relation, Hypotheses, Places, bool]]
    )
    pending: set[Stated] = field(default_factory=set[Stated])  # lines that are being looked for
    facts: dict[FactAt, int | None] = field(default_factory=dict[FactAt, "int | None"])
    refused: Counter[str] = field(default_factory=Counter[str])  # the kernel's words on what `attempt` wrote
    signs: Callable[[Tree], int | None] = lambda _: None  # the place where a measure is said not to be negative

    def say(
        self, rule: str, says: Relation, under: Hypotheses = (), by: Iterable[int] = (), data: Json | None = None
    ) -> int:
        """The place of the judgement; `Rejected` if the kernel's rule does not give it."""
        key = (says, under)
        if key in self.places:
            return self.places[key]
        rests = list(dict.fromkeys(by))
        stated = Judgement(says, under)
        RULES[rule](
            stated, Node(data if data is not None else {}, rule), [self.judgements[n] for n in rests], self.context
        )
        entry: dict[str, Any] = {"rule": rule, "says": relation_json(says)}
        if under:
            entry["under"] = [relation_json(h) for h in under]
        if rests:
            entry["by"] = rests
        if data is not None:
            entry["with"] = data
        self.entries.append(entry)
        self.judgements.append(stated)
        self.places[key] = len(self.entries) - 1
        return self.places[key]

    def assumed(self, hypothesis: Relation) -> int:
        return self.say("hypothesis", hypothesis, (hypothesis,))

    # --- lines -------------------------------------------------------------------------------------------------------

    def line(
        self, says: Relation, rests: Sequence[int], under: Hypotheses, *, trust: bool = False, quick: bool = False
    ) -> int | None:
        """The place of the line, proved from these judgements (or from fewer); None if it is not."""
        key = (says, under)
        if key in self.places:
            return self.places[key]
        offered = tuple(dict.fromkeys(rests))
        mark = (says, under, offered, quick)
        if mark in self.failed and not trust:
            return None
        if key in self.pending:
            return None  # it would rest on itself
        self.pending.add(key)
        try:
            place = self._line(says, offered, under, quick)
        finally:  # whoever catches a refusal goes on with this notebook
            self.pending.discard(key)
        if place is None:
            self.failed.add(mark)
            if trust:
                place = self._trusted(says, offered, under)
        return place

    def _line(self, says: Relation, rests: Places, under: Hypotheses, quick: bool) -> int | None:
        """The place of the line; the ways are tried from cheap to dear, cases last."""
        forms = self.context.forms
        for n in rests:
            rest = self.judgements[n]
            if rest.says == says and rest.under == under:
                return n
        parts = by_parts(self, says, rests, under)
        if parts is not None:
            return parts
        needs = self.needs(says, rests, under)
        if needs is None:
            return None
        for offered, brief in self._offers(says, rests, under, quick):
            try:
                proofs = certificates(says, [self.judgements[n].says for n in offered], forms, quick=brief)
            except Rejected:
                return None
            if proofs is not None:
                used = sorted({place for one in proofs for place in _places(one)})
                moved = [_moved(one, {old: new for new, old in enumerate(used)}) for one in proofs]
                by = [*(offered[n] for n in used), *needs]
                return self.attempt("line", says, under, by, moved)
        if quick:
            return None
        split = by_extremes(self, says, rests, under)
        return by_squares(self, says, rests, under) if split is None else split

    def _offers(self, says: Relation, rests: Places, under: Hypotheses, quick: bool) -> Iterator[tuple[Places, bool]]:
        """What a line may rest on, and whether the search is to be short: facts are proved only where it takes them."""
        yield rests, True
        with_facts = (*rests, *facts(self, says, rests, under))
        if with_facts != rests or not quick:
            yield with_facts, quick

    def attempt(self, rule: str, says: Relation, under: Hypotheses, by: Sequence[int], data: Json) -> int | None:
        """The place of the judgement; None if the kernel's rule does not give it, which is counted.

        What was worked out and is refused all the same is likely a fault of this room: `refused` makes it visible.
        """
        try:
            return self.say(rule, says, under, by, data)
        except Rejected as error:
            self.refused[f"{rule}: {error}"] += 1
            return None

    def _trusted(self, says: Relation, rests: Places, under: Hypotheses) -> int | None:
        """On z3's word, if z3 gives it: from these judgements, for all values of the letters."""
        needs = self.needs(says, rests, under)
        for offered in (rests, (*rests, *facts(self, says, rests, under))):
            if follows(says, [self.judgements[n].says for n in offered], self.context.forms):
                return self.attempt("trusted", says, under, (*offered, *(needs or ())), {"solver": "z3"})
        return None

    def needs(self, says: Relation, rests: Places, under: Hypotheses) -> list[int] | None:
        """Judgements that show that both sides are numbers; None if that is not shown."""
        forms, places = self.context.forms, list[int]()
        for need in needs_of(says, forms):
            if self.context.own(need):
                continue
            place = next((n for n in (*places, *rests) if self._covers(n, need)), None)
            if place is None:
                place = self._shown(need, rests, under)
            if place is None:
                return None
            places.append(place)
        return places

    def _covers(self, n: int, need: Need) -> bool:
        says, forms = self.judgements[n].says, self.context.forms
        return shows(says, need, forms) or any(same_need(need, other, forms) for other in offers_of(says, forms))

    def _shown(self, need: Need, rests: Places, under: Hypotheses) -> int | None:
        """A line that shows that a part of a formula is a number, where it is no part of a sum."""
        wanted: list[Relation] = []
        for branch in need.branches():
            if branch.ranges:
                continue
            formula = written_out(branch.formula)
            if branch.kind == "nonnegative":
                wanted.append(("<=", ZERO, formula))
            elif branch.kind == "positive":
                wanted.append(("<", ZERO, formula))
            elif branch.kind == "nonzero":
                wanted += [("<", ZERO, formula), ("<", formula, ZERO), ("!=", formula, ZERO)]
        for relation in wanted:
            place = self.line(relation, rests, under)
            if place is not None:
                return place
        return None

    def said(self, relation: Relation) -> bool:
        """Whether a judgement without hypotheses says it."""
        return any(same(relation, j.says, self.context.forms) for j in self.judgements if not j.under)

    def among(self, relation: Relation, others: Iterable[Relation]) -> bool:
        return among(relation, others, self.context.forms)

    def rules(self) -> Counter[str]:
        return Counter(entry["rule"] for entry in self.entries)


def speaks_of(relation: Relation, name: str) -> bool:
    return name in names_of(*relation[1:])


def _places(certificate: Json) -> Iterator[int]:
    """The places of the judgements that a certificate uses."""
    for _, factors in certificate["products"]:
        yield from (factor for factor in factors if type(factor) is int)
    for _, place in certificate.get("equations", ()):
        if type(place) is int:
            yield place


def _moved(certificate: Json, places: dict[int, int]) -> Json:
    """The certificate with other places for its judgements."""
    moved: dict[str, Json] = {
        "products": [
            [c, [places[f] if type(f) is int else f for f in factors]] for c, factors in certificate["products"]
        ]
    }
    if "equations" in certificate:
        moved["equations"] = [[tree, places[p] if type(p) is int else p] for tree, p in certificate["equations"]]
    return moved
