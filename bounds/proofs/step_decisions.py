"""Deciding the steps of a proof, each from exactly what it names and the statement's own conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from sympy import Expr, Le, Symbol, preorder_traversal
from sympy.logic.boolalg import Boolean, true

from fedaudit.errors import UserError

from ..decide.decision import Decision, decide
from ..decide.facts import Fact
from ..language.derivation import Given, Induction, Known, Step


@dataclass(frozen=True, slots=True)
class Use:
    """Whether something could be used where a step uses it: a condition of a fact, a premise of induction, ..."""

    what: str
    decision: Decision
    cited: bool = False  # a condition of a cited statement


@dataclass(frozen=True, slots=True)
class Decided:
    """A step and what became of it; `decision` is about the step alone, `uses` about what it was allowed to use."""

    claim: Boolean
    where: str
    note: str
    decision: Decision
    because: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()

    @property
    def holds(self) -> bool:
        return all(d.status == "true" for d in (self.decision, *(use.decision for use in self.uses)))

    @property
    def proved(self) -> bool:
        return all(d.proved for d in (self.decision, *(use.decision for use in self.uses)))


@dataclass(frozen=True, slots=True)
class _Question:
    """One thing that a step needs decided: itself (no `what`), or that it may use what it uses."""

    claim: Boolean
    given: tuple[Boolean, ...]
    bare: bool = False
    what: Callable[[], str] = str
    cited: bool = False

    def decide(self) -> Decision:
        return decide(self.claim, self.given, bare=self.bare)


def settle(step: Step | Induction, background: Sequence[Boolean] = ()) -> Decided:
    """Decide one step from exactly what it names and the statement's own conditions."""
    itself, *others = _questions(step, background)
    uses = tuple(Use(other.what(), other.decide(), other.cited) for other in others)
    used = (*step.base, *step.step) if isinstance(step, Induction) else step.given
    return Decided(step.claim, step.where, step.note, itself.decide(), _names(used), uses)


def all_hold(steps: Sequence[Step | Induction], background: Sequence[Boolean]) -> bool:
    """Whether `settle` finds that all of them hold; short claims first, which fail sooner and are decided sooner."""
    questions = [question for step in steps for question in _questions(step, background)]
    return all(question.decide().status == "true" for question in sorted(questions, key=_length))


def _length(question: _Question) -> int:
    return sum(1 for _ in preorder_traversal(question.claim))


def _questions(step: Step | Induction, background: Sequence[Boolean]) -> Iterator[_Question]:
    """The step itself, then what it uses."""
    background = [*background, *step.under]
    if isinstance(step, Induction):
        yield from _of_induction(step, background)
    else:
        yield _Question(step.claim, (*background, *(g.claim for g in step.given)), step.bare)
        yield from _requirements(step.given, background)


def _of_induction(step: Induction, background: Sequence[Boolean]) -> Iterator[_Question]:
    over, start = step.over, step.start
    fixed = [b for b in background if over not in b.free_symbols]
    moving = [b for b in background if over in b.free_symbols]
    at_start = [*fixed, *(b.subs(over, start) for b in moving)]
    yield _Question(_at(step.claim, over, start), (*at_start, *(g.claim for g in step.base)), step.bare)
    later = [_at(b, over, over + 1) for b in moving]
    onward = [*background, *later, Le(start, over)]
    yield _Question(Le(start, over), tuple(background), what=lambda: f"induction starts at {start}")
    # A condition on the index is known at over + 1, where the claim is shown, and used at over: it must reach back.
    for b, after in zip(moving, later, strict=True):
        yield _Question(b, (*fixed, after, Le(start, over)), what=partial("{} one step earlier".format, b))
    yield from _requirements(step.base, at_start)
    yield from _requirements(step.step, [*onward, step.claim])
    used = (*onward, step.claim, *(g.claim for g in step.step))
    forth = _at(step.claim, over, over + 1)
    yield _Question(forth, used, step.bare, lambda: f"from {over} to {over} + 1")


def _at(claim: Boolean, over: Symbol, value: Expr | int) -> Boolean:
    there = claim.subs(over, value)
    return there.doit() if isinstance(value, int) else there


def _requirements(given: Sequence[Given], background: Sequence[Boolean]) -> Iterator[_Question]:
    """What the items of `given` need, each shown from the conditions and from those items that need nothing."""
    free = [g.claim for g in given if not (g.requires if isinstance(g, Known) else g.under)]
    conditions = [*background, *free]
    for item in given:
        if isinstance(item, Known):
            for needed in item.requires:
                if needed.claim is not true:
                    what = partial("{} needs {}".format, item.because, needed.claim)
                    from_ = (*conditions, *(g.claim for g in needed.given))
                    yield _Question(needed.claim, from_, what=what, cited=item.kind == "cited")
                yield from _requirements(needed.given, conditions)
        else:
            for c in item.under:
                yield _Question(c, tuple(conditions), what=partial("{} needs {}".format, item.where or item.claim, c))


def _names(given: Sequence[Given]) -> tuple[str, ...]:
    return tuple(g.because if isinstance(g, Known) else (g.where or str(g.claim)) for g in given)


@lru_cache(maxsize=256)
def prove(fact: Fact) -> tuple[Decided, ...]:
    """The proof of a fact, each step decided under the fact's own conditions; the last must be its conclusion."""
    if fact.proof is None:
        return ()
    steps = fact.proof(*fact.variables)
    if steps[-1].claim != fact.conclusion:
        raise UserError(f"{fact.name}: got a proof of {steps[-1].claim}, expected {fact.conclusion}; do: end with it")
    return tuple(settle(step, [c for c in fact.conditions if c is not true]) for step in steps)
