"""The step size of the round before, which is 0 in round 0: lines about it take two cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from flint import fmpq
from sympy import Eq
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Or

from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.language.derivation import Given, Known, Step

from ..kernel.core.expression import Op, Relation
from ..kernel.core.rational import Rejected
from ..kernel.proofs.forms import names_of
from .argument_formulas import ONE, Enlarged, IndexValues, NotProposed
from .atom_trees import relation_json, tree_json
from .notebook import Hypotheses

if TYPE_CHECKING:
    from .arguments import Proposer

Case = tuple[Relation, Callable[[list[int], Hypotheses], list[int]]]  # a hypothesis, and what more it gives there


def sign_before(
    proposer: Proposer, step: Step, place: IndexValues, scope: Sequence[int], under: Hypotheses
) -> list[int]:
    """That the step size of the round before, of which the step speaks, is not negative."""
    split = next((g for g in step.given if isinstance(g, Known) and isinstance(g.claim, Or)), None)
    if split is None:
        return []
    later = next(p for case in split.claim.args for p in case.args if isinstance(p, Eq) and p.lhs.args)
    try:
        says: Relation = ("<=", fmpq(0), proposer.tree(later.lhs, place))
        return [by_cases(proposer, says, place, under, scope, split)]
    except (NotProposed, Rejected):
        return []


def value_before(proposer: Proposer, says: Relation, scope: Sequence[int], under: Hypotheses) -> list[int]:
    """The condition that a line is, if it says what the step size of the round before is; none otherwise."""
    _, left, _ = says
    if says[0] != "=" or not isinstance(left, Op) or left.name != "at" or not is_earlier(proposer, str(left.args[0])):
        return []
    place = left.args[1]
    forms = proposer.book.context.forms
    by: list[int] = []
    if forms.form(place).top:
        wanted: list[Relation] = [("<=", ONE, place), ("<=", place, proposer.book.context.size("T"))]
        by = [n for n in (proposer.book.line(r, tuple(scope), under) for r in wanted) if n is not None]
    data = {"of": "before", "name": left.args[0], "at": tree_json(place)}
    try:
        return [proposer.book.say("condition", says, under, by, data)]
    except Rejected as error:
        raise NotProposed("known", f"before: {error}") from None


def is_earlier(proposer: Proposer, name: str) -> bool:
    """Whether it is the step size of the round before; the frame says so where the claim does not speak of it."""
    method = proposer.statement.method
    steps = {} if isinstance(method, str) else {trees.name_of(q): trees.name_of(s) for q, s in method.before.items()}
    method_json: dict[str, Any] = proposer.claim.get("method") or {}
    own = method_json.get("before", {})
    if name in steps and name not in own and name not in proposer.frame.get("before", {}):
        raise Enlarged({"before": {name: steps[name]}})
    return name in steps


def _cases(proposer: Proposer, known: Given, place: IndexValues) -> Iterator[Case]:
    """Round 0, where the step of the round before is 0, and the others."""
    book = proposer.book
    _, later = sorted(known.claim.args, key=lambda c: not any(isinstance(p, Eq) and p.rhs == 0 for p in c.args))
    earlier = next(p for p in later.args if isinstance(p, Eq))
    at = proposer.tree(earlier.lhs.args[0], place)
    says = proposer.relation(earlier, place)
    name = str(cast("Op", says[1]).args[0])
    is_earlier(proposer, name)

    def none(known: list[int], scope: Hypotheses) -> list[int]:
        zero = book.line(("=", at, fmpq(0)), tuple(known), scope)
        start = book.say(
            "condition",
            ("=", Op("at", (name, fmpq(0))), fmpq(0)),
            (),
            (),
            {"of": "before", "name": name, "at": "0"},
        )
        assert zero is not None
        equal: Relation = ("=", Op("at", (name, at)), Op("at", (name, fmpq(0))))
        data = {"letter": "_x", "formula": ["at", name, "_x"]}
        return [zero, start, book.say("congruence", equal, scope, (zero,), data)]

    def some(known: list[int], scope: Hypotheses) -> list[int]:
        return value_before(proposer, says, [*known, *proposer.background(place)], scope)

    yield ("<=", at, fmpq(0)), none
    yield ("<=", ONE, at), some


def by_cases(
    proposer: Proposer, says: Relation, place: IndexValues, under: Hypotheses, rests: Sequence[int], split: Given
) -> int:
    both: list[int] = []
    for hypothesis, more in _cases(proposer, split, place):
        scope = (*under, hypothesis)
        assumed = proposer.book.assumed(hypothesis)
        both.append(proposer.line(says, [*rests, assumed, *more([assumed], scope)], scope, decided=True))
    return proposer.book.say("case", says, under, both)


def required_line(
    proposer: Proposer, says: Relation, offered: list[int], under: Hypotheses, splits: Sequence[Given]
) -> int:
    """A line, in two cases where it takes them: at the letter for every value of the index."""
    book = proposer.book
    line = book.line(says, tuple(offered), under)
    for split in splits if line is None else ():
        index: Any = next(q for q in split.claim.atoms(AppliedUndef) if is_earlier(proposer, trees.name_of(q))).args[0]
        letter = next((n for n in names_of(*says[1:]) if n.rsplit("_", 1)[0] == str(index)), str(index))
        place = IndexValues(((index, letter),), under)
        return by_cases(proposer, says, place, under, offered, split)
    if line is None:
        raise NotProposed("line", f"{relation_json(says)}"[:300])
    return line
