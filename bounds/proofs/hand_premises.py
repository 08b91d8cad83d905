"""What a derivation takes for granted: premises about losses and runs that somebody wrote down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sympy import Eq, Expr, Ge, Gt, Le, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, Or, true

from ..decide.decision import entails
from ..decide.facts import FACTS, SUMS, ExpNumber, Instance, termwise
from ..language.assumptions import ASSUMPTIONS, SIGN
from ..language.derivation import NAMED, Argument, Given, Induction, Known, Step, View
from ..language.method import Method
from ..language.statement import Statement
from .argument import argued, cited_views, knowns_of, walk
from .atoms import Variance
from .citation_rules import granted, parameters
from .frame import HETEROGENEITY
from .premise_identity import Average, Definition, not_negative, stands
from .statement_view import view
from .step_decisions import prove

WEIGHTS = {name for name, record in ASSUMPTIONS.items() if SIGN in record.gives}  # none is negative


def premises(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Known, ...]:
    """What the statement's own derivation takes for granted about losses and runs."""
    cited = [c for d in statement.follows_from[:1] for c in d.cites]
    if not statement.follows_from or not all(c in catalogue for c in cited):
        return ()
    _, argument = argued(statement, catalogue)
    named = names(statement, argument, cited_views(statement, catalogue))
    meant, free = definitions(statement), named | _sum_ranges(argument)
    return tuple(k for k in dict.fromkeys(knowns_of(argument)) if taken(k) and k.claim not in meant and k not in free)


def shown(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Known, ...]:
    """What the statement's own derivations show by identities."""
    ways = [way for way in statement.follows_from if all(c in catalogue for c in way.cites)]
    per_way = (shown_in(argued(replace(statement, follows_from=(way,)), catalogue)[1]) for way in ways)
    return tuple(dict.fromkeys(known for known_ in per_way for known in known_))


def taken(known: Known) -> bool:
    """Whether it is taken for granted: a premise, or a "fact" that its rule does not make again as it stands."""
    if known.kind == "shown":
        return not stands(known)
    if known.kind != "fact":
        return known.kind == "premise"
    if known.of is not None:
        return not isinstance(known.rule, Expr) or not _made_again(known, known.of.at(known.rule))
    if isinstance(known.rule, Instance):
        return not _is_proved(known.rule) or not _made_again(known, known.rule.known())
    if isinstance(known.rule, Definition | Average | ExpNumber):
        return not known.rule.says(known.claim) or bool(known.requires)
    return not entails(known.claim, tuple(r.claim for r in known.requires))


def _is_proved(instance: Instance) -> bool:
    """Whether it is an instance of a fact with a proof, or of what a finite sum is."""
    fact = instance.fact
    if fact is None:
        return instance.make in SUMS
    return fact in FACTS or bool(fact.proof and all(step.proved for step in prove(fact)))


def _made_again(known: Known, again: Known) -> bool:
    """Whether it says the same, and asks for no less."""
    asked = {requirement.claim for requirement in known.requires}
    return known.claim == again.claim and {requirement.claim for requirement in again.requires} <= asked


def _sum_ranges(argument: Argument) -> set[Known]:
    """Ranges of indices that only the terms of a sum over that range use: there they are no premises."""
    knowns = list(dict.fromkeys(knowns_of(argument)))
    sums = {k for k in knowns if isinstance(k.rule, Instance) and k.rule.make is termwise and not taken(k)}
    inside = {k: k.rule.known().requires[0].given[-1] for k in sums}
    elsewhere = {g for k in knowns for needed in k.requires for g in needed.given if g != inside.get(k)}
    return {one for one in inside.values() if isinstance(one, Known)} - elsewhere - _used_directly(argument)


def _used_directly(argument: Argument) -> set[Given]:
    """What the lines of a proof name themselves."""
    lines = ((*step.base, *step.step) if isinstance(step, Induction) else step.given for step in argument.steps)
    return {item for line in lines for item in line}


def definitions(statement: Statement) -> frozenset[Boolean]:
    """What is so by the statement's own words: the step size that it chooses, and what the round before had."""
    chosen: dict[Expr, Expr] = {
        q: statement.defined(value) for q, value in statement.choose.items() if isinstance(q, AppliedUndef)
    }
    equations: list[Boolean] = [Eq(q, value) for q, value in chosen.items()]
    before: Mapping[Expr, Expr] = statement.method.before if isinstance(statement.method, Method) else {}
    for earlier, q in before.items():
        (index,), value = q.args, chosen.get(q, q)
        later = And(Ge(index, 1), Eq(earlier, value.subs(index, index - 1)))
        equations.append(Or(And(Eq(index, 0), Eq(earlier, 0)), later))
        equations += [Eq(earlier.subs(index, 0), 0), Eq(earlier.subs(index, index + 1), value)]
    return frozenset(equations)


def names(statement: Statement, argument: Argument, cited: Sequence[View]) -> set[Known]:
    """Numbers of the proof that have got a name: nothing else speaks of it, and it is the same at every index.

    A sign that the name is declared to have is a step of its own, without conditions and without the name.
    """
    walked = list(walk((*argument.steps, *argument.bounds)))
    spoken = [c for v in (view(statement), *cited) for c in (*v.relations, *v.requires)]
    taken_ = {s for c in spoken for s in c.free_symbols} | set(statement.glossary)
    indices = {item.over for item in walked if isinstance(item, Induction)}
    claims = [item.claim for item in walked] + [
        r.claim for item in walked if isinstance(item, Known) for r in item.requires
    ]
    indices |= {limit[0] for claim in claims for total in claim.atoms(Sum) for limit in total.limits}
    by_name: dict[Symbol, list[Known]] = {}
    for known in dict.fromkeys(item for item in walked if isinstance(item, Known) and item.rule == NAMED):
        if isinstance(known.claim, Eq) and isinstance(known.claim.lhs, Symbol):
            by_name.setdefault(known.claim.lhs, []).append(known)

    def signed(name: Symbol, value: Expr) -> bool:
        sign = Gt(value, 0) if name.is_positive else Ge(value, 0) if name.is_nonnegative else true
        steps = [s for s in argument.steps if isinstance(s, Step) and s.claim == sign and not s.under]
        alone = [s for s in steps if not any(name in item.claim.free_symbols for item in walk((s,)))]
        return not name.is_integer and (sign is true or bool(alone))

    return {
        known
        for name, (known, *more) in by_name.items()
        if not more and name not in taken_ | indices and signed(name, known.claim.rhs)
        and not known.claim.rhs.free_symbols & (indices | set(by_name))
    }  # fmt: skip


def by_hand(statement: Statement, argument: Argument, catalogue: Mapping[str, Statement]) -> Iterator[str]:
    """What a derivation takes for granted: premises, what stands for assumptions, quantities read as others."""
    knowns = list(dict.fromkeys(knowns_of(argument)))
    ranges = _ranges(statement, argument, catalogue) | _sum_ranges(argument)
    meant = definitions(statement)
    free = ranges | {k for k in knowns if k.claim in meant}
    free |= names(statement, argument, cited_views(statement, catalogue))
    hand = [k.because for k in knowns if taken(k) and k not in free]
    yield from hand
    if not hand:
        yield from _signs(statement, argument, {k.claim.lhs for k in free if k.rule == NAMED})
    yield from _closed_signs(statement)
    for known in knowns:
        if known.citation is None:
            continue
        for name, given in known.citation.instead:
            says = given.because if isinstance(given, Known) else given.where or given.note or str(given.claim)
            yield f"{known.because}'s {name}: {says}"
        if known.because in statement.follows_from[0].cites:
            values = (tuple(statement.follows_from[0].substitute.items()), *known.citation.values)
            yield from granted(statement, catalogue[known.because], values)


def _closed_signs(statement: Statement) -> Iterator[str]:
    """Signs that definitions which the proof does not write out have by their names alone."""
    conditions = tuple(view(statement).requires)
    for name in statement.follows_from[0].closed:
        value = statement.defined(name)
        sign = Gt(value, 0) if name.is_positive else Ge(value, 0) if name.is_nonnegative else true
        if sign is not true and not entails(sign, conditions):
            yield f"{name} is {'positive' if name.is_positive else 'not negative'}"


def _ranges(statement: Statement, argument: Argument, catalogue: Mapping[str, Statement]) -> set[Known]:
    """What is no premise: the range of an index over which alone a cited statement asks for its conditions.

    The cited relation does not speak of the index, the citing statement asks nothing of it, and no step uses the range.
    """
    knowns = list(dict.fromkeys(knowns_of(argument)))
    used = _used_directly(argument)
    asked = {s for condition in view(statement).requires for s in condition.free_symbols}
    harmless: set[Known] = set()
    for known in knowns:
        users = [k for k in knowns for needed in k.requires if known in needed.given]
        cited = [catalogue[k.because] for k in users if k.kind == "cited" and k.because in catalogue]
        if users and len(cited) == len(users) and known not in used:
            closed = [_closed_ranges(c) for c in cited]
            said = And(*(part.func(*part.args) for part in And.make_args(known.claim)))  # 0 <= t is true by itself
            if all(any(said == claim and index not in asked for index, claim in ranges) for ranges in closed):
                harmless.add(known)
    return harmless


def _closed_ranges(cited: Statement) -> list[tuple[Symbol, Boolean]]:
    """The indices that its relations do not speak of, and their ranges."""
    free = {s for relation in cited.relations for s in cited.defined(relation).free_symbols}
    return [(n, And(Le(low, n), Le(n, high))) for n, (low, high) in cited.for_all.items() if n not in free]


def _signs(statement: Statement, argument: Argument, named: set[Expr]) -> Iterator[str]:
    """Quantities that are declared not to be negative although their definition does not show it, as premises."""
    frames = [k.rule.frame for k in shown_in(argument)]
    method = next((frame.method for frame in frames), statement.method)
    if not isinstance(method, Method):
        return
    names = {**method.formulas, **method.measures, **{q: n for frame in frames for q, n in frame.names.items()}}
    meant = {q.func if isinstance(q, AppliedUndef) else q: number for q, number in names.items()}
    assumed = {a.name for a in (*statement.let, *statement.implicit)}
    numbers = {part for e in method.scalars(()) for part in e.atoms(Symbol)} | parameters(statement)
    numbers |= {part for frame in frames if frame.groups for part in frame.groups.scalars()}
    numbers |= {a.sigma for known in shown_in(argument) for _, a in known.rule.by if isinstance(a, Variance)}
    steps = {q.func for q in (*method.steps(), *method.before)}
    even = any(frame.charges[SIGN] is None for frame in frames)  # the setting is about plain means
    claims = [item.claim for item in walk((*argument.steps, *argument.bounds))]
    spoken_of: dict[object, Any] = {q.func: q for c in claims for q in c.atoms(AppliedUndef) if q.func not in steps}
    spoken_of |= {q: q for c in claims for q in c.free_symbols - numbers - named if not q.is_integer}
    for head, quantity in sorted(spoken_of.items(), key=lambda pair: str(pair[1])):  # sets have no order of their own
        if not quantity.is_nonnegative:
            continue
        if quantity.is_positive and isinstance(quantity, AppliedUndef):
            yield f"{quantity} is positive"  # no form of a measure keeps it from being 0
            continue
        number = HETEROGENEITY if str(head) == "Gamma" else meant.get(head)
        rules = None if number is None else not_negative(number, method)
        if rules is None or (SIGN in rules and not assumed & WEIGHTS and not even):
            yield f"{quantity} is not negative"


def shown_in(argument: Argument) -> list[Known]:
    return [k for k in dict.fromkeys(knowns_of(argument)) if k.kind == "shown"]
