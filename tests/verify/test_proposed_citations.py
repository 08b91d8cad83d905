"""Citations of the catalogue as the kernel reads them: accepted on what they say that they rest on, and not on less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from marks import only

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.bounds.proofs.argument import argued, knowns_of
from fedaudit.verify.kernel.core.claim import read
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Node, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.proofs.judgement import Judgement
from fedaudit.verify.kernel.proofs.rules import citation
from fedaudit.verify.proposals.citations import Cited, NotCited, Required, cited
from fedaudit.verify.search.lowered_claim import lower

Json = Any
CATALOGUE = {s.id: s for s in find([])}
FAST = ("buttaci/thm4.1-I", "buttaci/lemB.2", "buttaci/lem4.5", "buttaci/thm4.2", "yuan/thm2", "zhang/thm3.5")
ROWS = (
    *FAST, "buttaci/thm4.3-I", "buttaci/thm4.4-I", "buttaci/thm4.6-I", "buttaci/lemB.1", "buttaci/lemB.3",
    "buttaci/thm4.1-II", "buttaci/thm4.5", "buttaci/lemB.4", "buttaci/lemB.5", "buttaci/lemB.6", "buttaci/thm4.3-II",
    "buttaci/lemC.1", "buttaci/lemC.2~repaired", "buttaci/lemC.3", "buttaci/thm4.4-II", "buttaci/lemC.4",
    "buttaci/lemC.6", "buttaci/thm4.6-II", "buttaci/cor4.1~best", "yuan/thm2~order", "zhang/lemA.1", "zhang/eqA.21",
    "zhang/lemA.2", "zhang/thm3.6",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Use:
    """One citation of a row, proposed, with the claims on both sides."""

    ours: Json
    theirs: Json
    made: Cited
    letters: dict[str, str]

    def check(self, requires: Sequence[Required]) -> None:
        frame = {"measures": self.made.measures, "before": self.made.before}
        file: Json = {"cites": [self.made.of], "letters": {**self.letters, **self.made.letters}, "frame": frame}
        before = {self.made.of: proof.Accepted(read(Node(self.theirs, "cited")), {}, ())}
        context = proof.context_of(Node(file, "proof").mapping(), read(Node(self.ours, "claim")), before)
        rests = [_judged(need.says, need.under) for need in requires]
        judgement = self.made.judgement
        citation.check(_judged(judgement["says"]), Node(judgement["with"], "with"), rests, context)


def _judged(says: Json, under: Sequence[Json] = ()) -> Judgement:
    return Judgement(parse_relation(Node(says, "")), tuple(parse_relation(Node(h, "")) for h in under))


def uses(name: str) -> list[Use]:
    """Everything that the first derivation of a row cites."""
    statement = CATALOGUE[name]
    way = replace(statement, follows_from=statement.follows_from[:1])
    _, argument = argued(way, CATALOGUE)
    found: list[Use] = []
    for known in dict.fromkeys(known for known in knowns_of(argument) if known.kind == "cited"):
        ours, theirs = lower(statement).claim, lower(CATALOGUE[known.because]).claim
        spoken = {str(s) for s in known.claim.free_symbols} & set(theirs["for_all"])
        new = spoken - {*ours["domains"], *ours["for_all"]}
        letters = {index: "client" if index in ("i", "j") else "index" for index in new}
        made = cited(way, known, CATALOGUE, letters)
        assert isinstance(made, Cited), made
        found.append(Use(ours, theirs, made, letters))
    return found


@pytest.mark.parametrize("name", only(FAST, ROWS, "every citation of many rows"))
def test_citations_are_accepted_on_what_they_require(name: str) -> None:
    found = uses(name)
    assert found
    for use in found:
        use.check(use.made.requires)


@pytest.mark.parametrize("name", only(FAST, ROWS, "every citation of many rows"))
def test_citations_require_nothing_in_vain(name: str) -> None:
    for use in uses(name):
        for n in range(len(use.made.requires)):
            with pytest.raises(Rejected):
                use.check([*use.made.requires[:n], *use.made.requires[n + 1 :]])


def test_what_stands_for_an_assumption_is_not_cited() -> None:
    statement = CATALOGUE["buttaci/appA-cocoercive"]
    way = next(way for way in statement.follows_from if way.cites)
    one = replace(statement, follows_from=(way,))
    _, argument = argued(one, CATALOGUE)
    known = next(known for known in knowns_of(argument) if known.kind == "cited")
    made = cited(one, known, CATALOGUE, {})
    assert isinstance(made, NotCited)
    assert "has_minimum" in made.reason
