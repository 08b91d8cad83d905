"""What a derivation cites, as a judgement of the kernel's rule `citation` and the relations that it has to rest on.

The kernel asks for conditions at every value of an index, for values in their domains, for the same measures. Here it
is only said what that is in one case: whoever assembles a proof shows each `Required` by judgements of its own, puts
them into `by`, declares the letters, and adds the measures to the frame.
"""

# A tree of JSON is a list of anything to a type checker.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sympy import Symbol

from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.language.derivation import Known, put_in
from fedaudit.bounds.language.statement import Statement

from ..kernel.core.claim import Claim, read
from ..kernel.core.expression import Op, Relation, Tree, free, parse, parse_relation
from ..kernel.core.rational import Node, Rejected
from ..kernel.proofs.forms import Forms, Need, substituted
from ..kernel.proofs.judgement import UNIT, ZERO, needs_of, offers_of, ordered, put, same, same_need
from ..kernel.proofs.proof import context_of
from ..search.lowered_claim import lower
from .atom_trees import relation_json, tree_json, written_out

Json = Any
Letters = Mapping[str, str]  # of the proof, with their domains
LEAST: Mapping[str, tuple[str, Tree]] = {
    "nonnegative": ("<=", ZERO), "index": ("<=", ZERO), "positive": ("<", ZERO), "count": ("<=", UNIT),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Required:
    """A relation that a citation rests on; `under` is what it may be shown under (the range of a letter of its own)."""

    says: Json
    under: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Cited:
    """A judgement without its `by`, and what has to be there before it."""

    judgement: dict[str, Json]
    requires: tuple[Required, ...]
    letters: dict[str, str]  # of the conditions at every index; each is used once
    measures: dict[str, Json]  # for the frame: what only the cited claim measures
    before: dict[str, str]  # for the frame: its step sizes of the round before

    @property
    def of(self) -> str:
        return self.judgement["with"]["of"]


@dataclass(frozen=True, slots=True)
class NotCited:
    """Why there is no such judgement."""

    reason: str


def cited(
    statement: Statement, known: Known, catalogue: Mapping[str, Statement], letters: Letters, taken: Sequence[str] = ()
) -> Cited | NotCited:
    """The citation of `known`, which is of the kind "cited"; `taken` are names that no new letter may have."""
    if known.citation is None or known.because not in catalogue:
        return NotCited(f"{known.because} is no statement of the catalogue")
    if known.citation.instead:
        return NotCited(f"{known.because} assumes {known.citation.instead[0][0]}, for which something else is taken")
    at: dict[str, Any] = {}
    derivation = statement.follows_from[0]
    for pairs in (tuple(derivation.substitute.items()), *known.citation.values):
        if wrong := [old for old, _ in pairs if not isinstance(old, Symbol)]:
            return NotCited(f"{known.because}'s {wrong[0]} is read as another quantity")
        at = {name: put_in(value, pairs) for name, value in at.items()} | {
            str(old): new for old, new in pairs if str(old) not in at
        }
    theirs, ours = lower(catalogue[known.because]).claim, lower(statement).claim
    values = {name: trees.tree(trees.written(statement, value)) for name, value in at.items()}
    says = trees.tree(trees.written(statement, known.claim))
    return proposed(ours, theirs, known.citation.part, values, letters, taken, says)


def proposed(
    ours: Json, theirs: Json, part: int, at: Mapping[str, Json], letters: Letters, taken: Sequence[str], says: Json
) -> Cited | NotCited:
    """The claim `theirs` cited in a proof of `ours` at these values; `says`: what it is expected to say then."""
    claim, other = (read(Node(raw, "claim")) for raw in (ours, theirs))
    values = {name: value for name, value in at.items() if name in other.domains or name in other.for_all}
    names = {*claim.domains, *claim.for_all, *letters}
    for index, (low, _) in other.for_all.items():
        spoken = index in {name for relation in other.then for name, _ in _free(relation)}
        if index not in values and (index not in names or (index in letters and not spoken)):
            if spoken:
                return NotCited(f"{other.id} speaks of {index!r}, which the proof does not declare")
            values[index] = tree_json(low)
    fresh = _fresh(
        other, {*names, *taken, *other.domains, *other.for_all, *(n for v in values.values() for n in _in(v))}
    )
    measures, before = _apart(ours, theirs, "measures"), _apart(ours, theirs, "before")
    measured: set[str] = {*_part(ours, "measures"), *measures, *before}
    own = context_of(Node({}, "proof").mapping(), claim, {}).forms.domains
    domains = {**own, **letters, **dict.fromkeys(fresh.values(), "index"), **dict.fromkeys(measured, "real")}
    forms = Forms(domains, claim.choose)
    use = _Use(claim, other, part, {name: parse(Node(value, name)) for name, value in values.items()}, fresh, forms)
    try:
        wanted = parse_relation(Node(says, "says"))
        parts = [part, *(n for n in range(len(other.then)) if n != part)]
        place = next((n for n in parts if n < len(other.then) and same(use.put(other.then[n]), wanted, forms)), part)
        use = replace(use, part=place)
        conclusion = use.put(other.then[place])
        requires = tuple(dict.fromkeys(use.required()))
    except Rejected as error:
        return NotCited(str(error))
    used = {name for need in requires for name in (*_in(need.says), *_in(need.under))}
    kept = {index: letter for index, letter in fresh.items() if letter in used}
    data = {"of": other.id, "part": place, "at": values, "fresh": kept}
    judgement = {
        "rule": "citation",
        "says": relation_json(conclusion),
        "with": {k: v for k, v in data.items() if v or k == "part"},
    }
    required = tuple(Required(_thawed(need.says), tuple(map(_thawed, need.under))) for need in requires)
    return Cited(judgement, required, dict.fromkeys(kept.values(), "index"), measures, before)


@dataclass(frozen=True, slots=True)
class _Use:
    """What the kernel will ask for, as relations; those that the form of a formula shows are left out."""

    claim: Claim
    other: Claim
    part: int
    at: Mapping[str, Tree]
    fresh: Mapping[str, str]
    forms: Forms

    def put(self, relation: Relation, more: Mapping[str, Tree] | None = None) -> Relation:
        return put(relation, {**self.at, **(more or {})})

    def required(self) -> Iterator[Required]:
        letters: Mapping[str, Tree] = dict(self.fresh)
        for name, kind in self.other.domains.items():
            if kind in LEAST and name in self.at:
                yield from self._unless_shown((*LEAST[kind], self.at[name]))
        for index, (low, high) in self.other.for_all.items():
            for relation in (("<=", ZERO, index), ("<=", low, index), ("<=", index, high)):
                yield from self._unless_shown(self.put(relation))
        for condition in self.other.when:
            named = {name for name, _ in _free(condition)} & set(self.other.for_all)
            ranges = [(("<=", low, n), ("<=", n, high)) for n, (low, high) in self.other.for_all.items() if n in named]
            under = [self.put(relation, letters) for both in ranges for relation in both]
            yield from self._unless_shown(self.put(condition, letters), [h for h in under if not self._shown(h)])
        for quantity, (indices, value) in self.other.choose.items():
            own = Op("at", (quantity, *(self.fresh[index] for index in indices))) if indices else quantity
            inside = {**self.at, **{index: self.fresh[index] for index in indices}}
            yield from self._unless_shown(("=", own, substituted(value, inside)))
        for need in needs_of(self.put(self.other.then[self.part]), self.forms):
            if not self._owned(need):
                yield Required(_frozen(relation_json(_needed(need))))

    def _owned(self, need: Need) -> bool:
        """Whether the claim itself, or a condition of the cited one, needs it."""

        def offered(relation: Relation) -> bool:
            return any(same_need(need, own, self.forms) for own in offers_of(relation, self.forms))

        conditions = [self.put(c) for c in self.other.when if not {n for n, _ in _free(c)} & set(self.other.for_all)]
        return any(map(offered, (*self.claim.when, *conditions))) or all(map(offered, self.claim.then))

    def _unless_shown(self, relation: Relation, under: Sequence[Relation] = ()) -> Iterator[Required]:
        if not self._shown(relation):
            yield Required(_frozen(relation_json(relation)), tuple(_frozen(relation_json(h)) for h in under))

    def _shown(self, relation: Relation) -> bool:
        name, left, right = ordered(relation)
        difference = self.forms.difference(left, right)
        if name == "=":
            return not difference.top
        signs = {"<=": ("positive", "nonnegative"), "<": ("positive",)}
        return self.forms.sign(difference) in signs.get(name, ("positive", "negative"))


def _needed(need: Need) -> Relation:
    """A relation that shows where a formula is defined."""
    return {"nonnegative": "<=", "positive": "<", "nonzero": "!="}[need.kind], ZERO, written_out(need.formula)


def _fresh(other: Claim, taken: set[str]) -> dict[str, str]:
    """A new letter for every index of the cited claim and of its step sizes."""
    indices = dict.fromkeys((*other.for_all, *(index for at, _ in other.choose.values() for index in at)))
    letters: dict[str, str] = {}
    for index in indices:
        names = (f"{index}_{n}" for n in range(1, 10_000))
        letters[index] = next(name for name in names if name not in taken and name not in letters.values())
    return letters


def _apart(ours: Json, theirs: Json, part: str) -> dict[str, Json]:
    """What only the cited claim measures."""
    own, other = (_part(raw, part) for raw in (ours, theirs))
    return {name: value for name, value in other.items() if name not in own}


def _part(claim: Json, part: str) -> dict[str, Json]:
    return (claim.get("method") or {}).get(part, {})


def _free(relation: Relation) -> set[tuple[str, int]]:
    return {name for side in relation[1:] for name in free(side)}


def _in(raw: Json) -> Iterator[str]:
    """All strings of a tree: its names among them."""
    if isinstance(raw, str):
        yield raw
    else:
        for part in raw:
            yield from _in(part)


def _frozen(raw: Json) -> Json:
    # Lists have no hash, and each requirement is to be listed once.
    return tuple(map(_frozen, raw)) if isinstance(raw, list) else raw


def _thawed(raw: Json) -> Json:
    return [*map(_thawed, raw)] if isinstance(raw, tuple) else raw
