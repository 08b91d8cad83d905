"""A proof with smaller constants carried through it: lines with scaled terms, each resting on the scaled ones before.

What comes out is an ordinary `Argument`, which `derive` decides like any other. Nothing here says that it goes through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Eq, Le, preorder_traversal

from fedaudit.bounds.language.derivation import Argument, Given, Induction, Known, Step, View

from .bound_terms import Path, scaled

ProofLine = Step | Induction


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one line: terms of its larger side that are scaled, premises that it may use besides.

    `plain`: it rests on the lines before as they were printed.
    """

    scales: tuple[tuple[Path, Any], ...] = ()
    extra: tuple[Known, ...] = ()
    plain: bool = False


NONE = Change()


@dataclass(frozen=True, slots=True)
class Carried:
    """A derivation's proof, with changes of its lines by their numbers."""

    proof: Callable[..., Argument]
    changes: tuple[tuple[int, Change], ...] = ()

    def __call__(self, goal: View, *cited: View) -> Argument:
        printed = self.proof(goal, *cited)
        return carried(printed, dict(self.changes), loose(self.proof, printed, goal, cited))


def loose(proof: Callable[..., Argument], printed: Argument, goal: View, cited: Sequence[View]) -> dict[int, bool]:
    """Equations that set what the proof gives against what is claimed; whether the claim stands on the right.

    They are those that change with the claim.
    """
    twice = tuple(r.func(r.lhs, 2 * r.rhs, evaluate=False) for r in goal.relations)
    other = proof(replace(goal, relations=twice), *cited)
    equations: dict[int, bool] = {}
    for n, (one, two) in enumerate(zip(printed.steps, other.steps, strict=False)):
        if isinstance(one.claim, Eq) and isinstance(two.claim, Eq):
            moved = [a != b for a, b in zip(one.claim.args, two.claim.args, strict=True)]
            if sum(moved) == 1:
                equations[n] = moved[1]
    return equations


@dataclass(slots=True)
class CarriedLines:
    """Lines as they are printed, and what has become of them."""

    now: dict[ProofLine, ProofLine] = field(default_factory=dict[ProofLine, ProofLine])

    def given(self, item: Given) -> Given:
        """What a line is given, where it rests on lines that have changed."""
        if not isinstance(item, Known):
            return self.now.get(item, item)
        if item.of is not None:
            return self._instance(item, item.of)
        needed = tuple(replace(r, given=tuple(map(self.given, r.given))) for r in item.requires)
        citation = item.citation
        if citation is not None and citation.instead:
            citation = replace(citation, instead=tuple((name, self.given(g)) for name, g in citation.instead))
        same = needed == item.requires and citation == item.citation
        return item if same else replace(item, requires=needed, citation=citation)

    def _instance(self, item: Known, of: Induction) -> Known:
        now = self.now.get(of, of)
        if now == of or not isinstance(now, Induction):
            return item
        values: tuple[Any, ...] = (of.over, *preorder_traversal(item.claim))
        value = next((v for v in values if getattr(v, "is_integer", False) and of.at(v) == item), None)
        return item if value is None else now.at(value)

    def changed(self, line: ProofLine, change: Change) -> ProofLine:
        follow = CarriedLines().given if change.plain else self.given
        claim: Any = line.claim
        if change.scales:
            claim = claim.func(claim.lhs, scaled(claim.rhs, dict(change.scales)), evaluate=False)
        if isinstance(line, Induction):
            step = (*map(follow, line.step), *change.extra)
            return replace(line, claim=claim, base=tuple(map(follow, line.base)), step=step)
        return replace(line, claim=claim, given=(*map(follow, line.given), *change.extra))


def carried(argument: Argument, changes: Mapping[int, Change], equations: Mapping[int, bool]) -> Argument:
    """The argument with its lines changed; printed lines that are still used stand before them."""
    lines, made = CarriedLines(), list[ProofLine]()
    for n, line in enumerate(argument.steps):
        change = changes.get(n, NONE)
        new = lines.changed(relaxed(line, equations[n], lines) if n in equations else line, change)
        lines.now[line] = new
        made.append(new)
    plain = [line for n, line in enumerate(argument.steps) if any(c.plain for m, c in changes.items() if m > n)]
    bound = argument.bound
    if isinstance(bound, tuple):
        bound = tuple(None if g is None else lines.given(g) for g in bound)
    elif bound is not None:
        bound = lines.given(bound)
    return Argument(tuple(dict.fromkeys((*plain, *made))), bound)


def relaxed(line: ProofLine, right: bool, lines: CarriedLines) -> ProofLine:
    """An equation with what is claimed as the inequality that is needed, about the changed lines."""
    now = {old.claim.rhs: new.claim.rhs for old, new in lines.now.items() if isinstance(old.claim, Le)}
    gives, claims = line.claim.args if right else line.claim.args[::-1]
    return replace(line, claim=Le(now.get(gives, gives), claims, evaluate=False))
