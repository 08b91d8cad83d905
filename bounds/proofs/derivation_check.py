"""Does a statement follow from what it cites? Every step is decided on its own; then what the proof gives is compared
with what is claimed: *follows*, *claims more* (by which factor), *claims less*, or *not derived*.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal

from sympy import Basic, Eq, Expr, Ge, Gt, Le, Lt, Min, Rational, Sum, Symbol, preorder_traversal
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, Or, true

from fedaudit.errors import UserError

from ..catalogue.printed_constants import Slack, constants, mutate
from ..decide.decision import Decision, decide, entails, told
from ..decide.dominance import dominance
from ..decide.facts import FACTS, SUMS, ExpNumber, Fact, Instance, termwise
from ..formulas.evaluator import Point, quantities
from ..language.derivation import NAMED, Argument, Given, Induction, Known, Step, View, domains, put_in
from ..language.dimension import DimensionError, dimension_of
from ..language.method import Method
from ..language.statement import Assumption, Statement, with_values
from .atoms import Bound, Variance
from .citation_rules import granted, parameters
from .comparison import TIGHT, Comparison, Search, Verdict, supremum, violated
from .condition_strength import tighter
from .constant_factor import Factor
from .frame_rules import invented
from .method_vectors import HETEROGENEITY
from .premise_identity import Average, Definition, check, multipliers, not_negative, stands
from .term_factors import Term, orders
from .vectors import SIGN
from .ways import line

WEIGHTS = {  # none is negative
    "nonnegative_weights",
    "positive_weights",
    "distribution",
    "similarity_weights",
    "equal_weights",
}


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
class Derived:
    """`factor` is the largest ratio of corresponding coefficients, what the proof gives / what is claimed (inverted
    for a lower bound): see `factor`.

    `evidence` is "proof" if every step is an identity or decided by z3, from the facts, what is cited and the
    `premises`: what is written by hand about losses and runs (smoothness, the update rule, …), here or in what is
    cited, and not decided here. `proved`: one of the ways is such a proof, nothing in it is written by hand, and
    everything that it cites is proved.
    """

    status: Verdict
    factor: Factor = None
    evidence: Literal["proof", "numerical"] = "numerical"
    steps: tuple[Decided, ...] = ()
    findings: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()  # findings: minima in lower bounds that are not needed
    premises: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # premises that follow from the assumptions, each with its multipliers and atoms
    proved: bool = False
    cites: tuple[str, ...] = ()  # of the first derivation
    proved_from: tuple[str, ...] = ()  # what the way that proves it cites
    slack: tuple[Slack, ...] = ()
    terms: tuple[Term, ...] = ()  # the factor, term by term
    point: Mapping[Basic, Fraction] | None = field(default=None, compare=False)


# --- a statement as a proof sees it ----------------------------------------------------------------------------------


def view(statement: Statement, substitute: Mapping[Any, Any] | None = None, within: Statement | None = None) -> View:
    """`statement` with its definitions written out; cited `within` another, with that one's values and choices in."""
    pairs = tuple((substitute or {}).items())

    def write(expr: Any) -> Any:
        return _write(expr, statement, pairs, within)

    requires = [write(condition) for condition in statement.when]
    for index, (low, high) in statement.for_all.items():
        requires += [write(Le(low, index)), write(Le(index, high))]
    if within is not None:
        for quantity, value in statement.choose.items():
            own = within.choose[quantity] if quantity in within.choose else put_in(quantity, pairs)
            requires.append(_equal(write(value), within.defined(own)))
        requires += [within.defined(_choose(needed, within)) for needed in domains(pairs)]
    names = tuple(a.name for a in (*statement.let, *statement.implicit))
    relations = _relations(statement, pairs, within)
    return View(statement.id, relations, tuple(r for r in requires if r is not true), names)


def _relations(
    statement: Statement, pairs: tuple[tuple[Any, Any], ...] = (), within: Statement | None = None
) -> tuple[Relational, ...]:
    """Those of its `view`."""
    written = (_write(relation, statement, pairs, within) for relation in statement.relations)
    return tuple(r for r in written if isinstance(r, Relational))


def _write(expr: Any, statement: Statement, pairs: tuple[tuple[Any, Any], ...], within: Statement | None) -> Any:
    made = statement.defined(expr)
    if within is not None:
        made = within.defined(put_in(made, pairs))
        return within.defined(_choose(made, within))
    return statement.defined(_choose(made, statement))


def _equal(left: Expr, right: Expr) -> Boolean:
    return Eq(left, right, evaluate=False) if left != right else true


def _choose(expr: Basic, statement: Statement) -> Basic:
    """Put the chosen step size in, at whatever index it is used."""
    for quantity, value in statement.choose.items():
        if not isinstance(quantity, AppliedUndef):
            expr = with_values(expr, {quantity: value})
            continue
        for use in expr.atoms(AppliedUndef):
            if use.func == quantity.func:
                index = dict(zip(quantity.args, use.args, strict=True))
                expr = with_values(expr, {use: with_values(value, index)})
    return expr


# --- deciding the steps ----------------------------------------------------------------------------------------------


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
    given = (*step.base, *step.step) if isinstance(step, Induction) else step.given
    return Decided(step.claim, step.where, step.note, itself.decide(), _names(given), uses)


def _all_hold(steps: Sequence[Step | Induction], background: Sequence[Boolean]) -> bool:
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
    for b, after in zip(moving, later, strict=True):
        yield _Question(b, (*fixed, after, Le(start, over)), what=partial("{} one step earlier".format, b))
    yield from _requirements(step.base, at_start)
    yield from _requirements(step.step, [*onward, step.claim])
    given = (*onward, step.claim, *(g.claim for g in step.step))
    forth = _at(step.claim, over, over + 1)
    yield _Question(forth, given, step.bare, lambda: f"from {over} to {over} + 1")


def _at(claim: Boolean, over: Symbol, value: Expr | int) -> Boolean:
    made = claim.subs(over, value)
    return made.doit() if isinstance(value, int) else made


def _requirements(given: Sequence[Given], background: Sequence[Boolean]) -> Iterator[_Question]:
    """What the items of `given` need, each shown from the conditions and from those items that need nothing."""
    free = [g.claim for g in given if not (g.requires if isinstance(g, Known) else g.under)]
    known = [*background, *free]
    for item in given:
        if isinstance(item, Known):
            for needed in item.requires:
                if needed.claim is not true:
                    what = partial("{} needs {}".format, item.because, needed.claim)
                    from_ = (*known, *(g.claim for g in needed.given))
                    yield _Question(needed.claim, from_, what=what, cited=item.kind == "cited")
                yield from _requirements(needed.given, known)
        else:
            for c in item.under:
                yield _Question(c, tuple(known), what=partial("{} needs {}".format, item.where or item.claim, c))


def _names(given: Sequence[Given]) -> tuple[str, ...]:
    return tuple(g.because if isinstance(g, Known) else (g.where or str(g.claim)) for g in given)


def _walk(given: Sequence[Given]) -> Iterator[Given]:
    """Everything that `given` rests on."""
    for item in given:
        yield item
        if isinstance(item, Known):
            yield from _walk((item.of,) if item.of else ())
            yield from _walk(tuple(given for _, given in item.citation.instead) if item.citation else ())
            for needed in item.requires:
                yield from _walk(needed.given)
        else:
            yield from _walk(item.given if isinstance(item, Step) else (*item.base, *item.step))


def resting_on(step: Step) -> Iterator[Given]:
    """Everything that a step rests on."""
    return _walk(step.given)


@lru_cache(maxsize=256)
def prove(fact: Fact) -> tuple[Decided, ...]:
    """The proof of a fact, each step decided under the fact's own conditions; the last must be its conclusion."""
    if fact.proof is None:
        return ()
    steps = fact.proof(*fact.variables)
    if steps[-1].claim != fact.conclusion:
        raise UserError(f"{fact.name}: got a proof of {steps[-1].claim}, expected {fact.conclusion}; do: end with it")
    return tuple(settle(step, [c for c in fact.conditions if c is not true]) for step in steps)


# --- the verdict -----------------------------------------------------------------------------------------------------


def derive(statement: Statement, catalogue: Mapping[str, Statement], *, slack: bool = True) -> Derived:
    """Decide every step of the statement's derivation, then compare what it gives with what is claimed.

    The first derivation is the paper's way and makes the status; what becomes of others is told as findings. Any of
    them may prove the statement.
    """
    if statement.quoted:
        return Derived("not-derived", findings=(f"quoted from {statement.quoted}: the proof is not encoded",))
    if statement.kind == "order" and statement.method == "order" and not statement.follows_from:
        return _dominated(statement)
    circle = _circle(statement, catalogue)
    if circle:
        return Derived("not-derived", findings=(f"refused: cites itself, {' -> '.join(circle)}",))
    closure = _closure(statement, catalogue)
    first = (_with_slack if slack else _derive)(statement, closure)
    ways = [replace(statement, follows_from=(way,)) for way in statement.follows_from[1:]]
    other = _with_slack if slack and first.status == "not-derived" else _derive
    others = [other(way, closure) for way in ways]
    told_ = [
        finding
        for other in others
        for finding in (
            line(other.cites, other.status, other.evidence),
            *other.vacuous,
            *dict.fromkeys(map(str, other.slack)),
        )
    ]
    proof = next((way for way in (first, *others) if way.proved), first)
    first = replace(first, proved=proof.proved, proved_from=proof.cites if proof.proved else (), shown=proof.shown)
    return replace(first, findings=(*first.findings, *told_))


def _circle(statement: Statement, catalogue: Mapping[str, Statement], path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A way from a statement to itself by citations, if there is one."""
    if statement.id in path:
        return (*path[path.index(statement.id) :], statement.id)
    cited = (catalogue[c] for way in statement.follows_from for c in way.cites if c in catalogue)
    return next(filter(None, (_circle(c, catalogue, (*path, statement.id)) for c in cited)), ())


def _dominated(statement: Statement) -> Derived:
    """An order of growth between formulas needs no steps: z3 decides whether every term is dominated."""
    decided = tuple(
        Decided(relation, statement.cite, "both sides up to constants", decision)
        for relation, decision in zip(statement.relations, dominance(statement), strict=True)
    )
    shares = orders(statement, [step.decision for step in decided])
    if all(step.proved for step in decided):
        return Derived("follows", 1.0, "proof", decided, proved=True, terms=shares)
    return Derived("not-derived", steps=decided, findings=tuple(_unproved(decided)), terms=shares)


def _closure(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Statement, ...]:
    """All that a statement rests on."""
    found: dict[str, Statement] = {}
    for derivation in statement.follows_from:
        for cited in derivation.cites:
            if cited in catalogue:
                found[cited] = catalogue[cited]
                found.update({s.id: s for s in _closure(catalogue[cited], catalogue)})
    return tuple(found.values())


@lru_cache(maxsize=1024)
def _derive(statement: Statement, closure: tuple[Statement, ...]) -> Derived:
    """Without slack and terms, which nobody asks of a statement that is only cited."""
    catalogue = {s.id: s for s in closure}
    if not statement.follows_from:
        return Derived("not-derived", findings=("no derivation is encoded",))
    derivation = statement.follows_from[0]
    missing = [cited for cited in derivation.cites if cited not in catalogue]
    if missing:
        return Derived("not-derived", findings=tuple(f"cites {cited}, which is not encoded" for cited in missing))
    goal, argument = argued(statement, catalogue)
    decided = tuple(settle(step, goal.requires) for step in argument.steps)
    cited = cited_views(statement, catalogue)
    refusals = [*_overstretched(statement, argument), *_refused(statement, goal, argument, cited)]
    findings = [*refusals, *_unused(goal, argument, cited), *_unproved(decided)]
    comparisons = compare(goal, argument)
    status, worst, largest, point = _verdict(goal, argument, decided, comparisons, findings, refused=bool(refusals))
    factor = largest if worst is None else worst.factor(largest, status)
    vacuous = tuple(_vacuous(goal, argument)) if status in ("follows", "claims-less") else ()
    evidence = "proof" if all(d.proved for d in decided) and status in ("follows", "claims-less") else "numerical"
    lemmas = [derive(catalogue[c], catalogue, slack=False) for c in derivation.cites if evidence == "proof"]
    inherited = (because for lemma in lemmas for because in lemma.premises if not lemma.proved)
    premises = tuple(dict.fromkeys([*_by_hand(statement, argument, catalogue), *inherited]))
    proved = evidence == "proof" and not premises and all(lemma.proved for lemma in lemmas)
    return Derived(
        status=status,
        factor=factor,
        evidence=evidence,
        steps=decided,
        findings=(*findings, *vacuous),
        vacuous=vacuous,
        premises=premises,
        shown=tuple(f"{k.because}: {', '.join(multipliers(k)) or 'an identity'}" for k in _shown(argument)),
        proved=proved,
        cites=derivation.cites,
        point=point,
    )


@lru_cache(maxsize=512)
def _with_slack(statement: Statement, closure: tuple[Statement, ...]) -> Derived:
    """With the factor term by term and, where the statement follows, the constants that have room."""
    plain = _derive(statement, closure)
    if plain.status == "not-derived":
        return plain
    goal, argument = argued(statement, {s.id: s for s in closure})
    comparisons = compare(goal, argument)
    equal = [isinstance(relation, Eq) for relation in goal.relations]
    shares = tuple(term for n, c in enumerate(comparisons) for term in c.terms(n, equal[n]))
    if plain.status == "claims-more":
        return replace(plain, terms=shares)
    loose = (
        *slacks(statement, comparisons),
        *relaxations(statement, closure),
        *room(statement, argument, closure),
    )
    findings = (*plain.findings, *dict.fromkeys(map(str, loose)))
    return replace(plain, findings=findings, slack=loose, terms=shares)


def _closed(statement: Statement, within: Statement) -> Statement:
    """Without the definitions that the proof of `within` leaves closed; both must have the same ones."""
    closed = within.follows_from[0].closed
    if any(statement.where.get(name) not in (None, within.where[name]) for name in closed):
        raise UserError(f"{within.id}: got another definition in {statement.id}, expected the same; do: write it out")
    kept = {name: value for name, value in statement.where.items() if name not in closed}
    return replace(statement, where=kept) if closed else statement


def cited_views(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[View, ...]:
    """What the statement's first derivation cites, with its values in."""
    return _cited_views(statement, _cited(statement, catalogue))


def _cited(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Statement, ...]:
    return tuple(catalogue[c] for c in statement.follows_from[0].cites)


@lru_cache(maxsize=512)
def _cited_views(statement: Statement, cited: tuple[Statement, ...]) -> tuple[View, ...]:
    within = _closed(statement, statement)
    return tuple(view(_closed(c, statement), statement.follows_from[0].substitute, within) for c in cited)


def argued(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[View, Argument]:
    """The statement as its first derivation sees it, and that derivation's proof of it."""
    return _argued(statement, _cited(statement, catalogue))


@lru_cache(maxsize=512)
def _argued(statement: Statement, cited: tuple[Statement, ...]) -> tuple[View, Argument]:
    goal = view(_closed(statement, statement))
    argument = statement.follows_from[0].proof(goal, *_cited_views(statement, cited))
    claims = [step.claim for step in argument.steps if not step.under]
    for relation in goal.relations:
        if relation not in claims:
            expected = "it as a step that holds under no further condition"
            raise UserError(f"{statement.id}: got a proof without {relation}, expected {expected}; do: add it")
    for item in _walk((*argument.steps, *argument.bounds)):
        if not isinstance(item, Known) and item not in argument.steps:
            raise UserError(f"{statement.id}: got a use of {item.claim}, expected a listed step; do: list it")
        index = _bound_index(item, statement, goal) if isinstance(item, Known) else None
        if any(index in condition.free_symbols for condition in goal.requires):
            raise UserError(f"{statement.id}: got a condition on {index}, expected a free index; do: rename it")
    return goal, argument


def _bound_index(known: Known, statement: Statement, goal: View) -> Symbol | None:
    """The index for all values of which it is used, that of an induction or of a sum whose terms are compared; None for
    an index over whose range the statement makes its conditions, where the sum stays inside this range.
    """
    if known.of is not None:
        return known.of.over
    if not isinstance(known.rule, Instance) or known.rule.make is not termwise:
        return None
    _, index, low, high, *_ = known.rule.arguments
    if index not in statement.for_all:
        return index
    first, last = (statement.defined(end) for end in statement.for_all[index])
    others = tuple(condition for condition in goal.requires if index not in condition.free_symbols)
    inside = all(entails(claim, others) for claim in (Le(first, low), Le(high, last)) if claim is not true)
    return None if inside else index


def _knowns(argument: Argument) -> Iterator[Known]:
    return (item for item in _walk(argument.steps) if isinstance(item, Known))


def premises(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Known, ...]:
    """What the statement's own derivation takes for granted about losses and runs."""
    cited = [c for d in statement.follows_from[:1] for c in d.cites]
    if not statement.follows_from or not all(c in catalogue for c in cited):
        return ()
    _, argument = argued(statement, catalogue)
    named = names(statement, argument, cited_views(statement, catalogue))
    meant, free = definitions(statement), named | _sum_ranges(argument)
    return tuple(k for k in dict.fromkeys(_knowns(argument)) if taken(k) and k.claim not in meant and k not in free)


def shown(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Known, ...]:
    """What the statement's own derivations show by identities."""
    ways = [way for way in statement.follows_from if all(c in catalogue for c in way.cites)]
    found = (_shown(argued(replace(statement, follows_from=(way,)), catalogue)[1]) for way in ways)
    return tuple(dict.fromkeys(known for known_ in found for known in known_))


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
    knowns = list(dict.fromkeys(_knowns(argument)))
    sums = {k for k in knowns if isinstance(k.rule, Instance) and k.rule.make is termwise and not taken(k)}
    inside = {k: k.rule.known().requires[0].given[-1] for k in sums}
    elsewhere = {g for k in knowns for needed in k.requires for g in needed.given if g != inside.get(k)}
    return {one for one in inside.values() if isinstance(one, Known)} - elsewhere - _used_directly(argument)


def _used_directly(argument: Argument) -> set[Given]:
    """What the lines name themselves."""
    lines = ((*step.base, *step.step) if isinstance(step, Induction) else step.given for step in argument.steps)
    return {item for line in lines for item in line}


def definitions(statement: Statement) -> frozenset[Boolean]:
    """What is so by the statement's own words: the step size that it chooses, and what the round before had."""
    chosen = {q: statement.defined(value) for q, value in statement.choose.items() if isinstance(q, AppliedUndef)}
    found: list[Boolean] = [Eq(q, value) for q, value in chosen.items()]
    before = statement.method.before if isinstance(statement.method, Method) else {}
    for earlier, q in before.items():
        (index,), value = q.args, chosen.get(q, q)
        later = And(Ge(index, 1), Eq(earlier, value.subs(index, index - 1)))
        found.append(Or(And(Eq(index, 0), Eq(earlier, 0)), later))
        found += [Eq(earlier.subs(index, 0), 0), Eq(earlier.subs(index, index + 1), value)]
    return frozenset(found)


def names(statement: Statement, argument: Argument, cited: Sequence[View]) -> set[Known]:
    """Numbers of the proof that have got a name: nothing else speaks of it, and it is the same at every index.

    A sign that the name is declared to have is a step of its own, without conditions and without the name.
    """
    walked = list(_walk((*argument.steps, *argument.bounds)))
    spoken = [c for v in (view(statement), *cited) for c in (*v.relations, *v.requires)]
    taken_ = {s for c in spoken for s in c.free_symbols} | set(statement.glossary)
    indices = {item.over for item in walked if isinstance(item, Induction)}
    claims = [item.claim for item in walked] + [
        r.claim for item in walked if isinstance(item, Known) for r in item.requires
    ]
    indices |= {limit[0] for claim in claims for total in claim.atoms(Sum) for limit in total.limits}
    found: dict[Symbol, list[Known]] = {}
    for known in dict.fromkeys(item for item in walked if isinstance(item, Known) and item.rule == NAMED):
        if isinstance(known.claim, Eq) and isinstance(known.claim.lhs, Symbol):
            found.setdefault(known.claim.lhs, []).append(known)

    def signed(name: Symbol, value: Expr) -> bool:
        sign = Gt(value, 0) if name.is_positive else Ge(value, 0) if name.is_nonnegative else true
        steps = [s for s in argument.steps if isinstance(s, Step) and s.claim == sign and not s.under]
        alone = [s for s in steps if not any(name in item.claim.free_symbols for item in _walk((s,)))]
        return not name.is_integer and (sign is true or bool(alone))

    return {
        known
        for name, (known, *more) in found.items()
        if not more and name not in taken_ | indices and signed(name, known.claim.rhs)
        and not known.claim.rhs.free_symbols & (indices | set(found))
    }  # fmt: skip


def _by_hand(statement: Statement, argument: Argument, catalogue: Mapping[str, Statement]) -> Iterator[str]:
    """What a derivation takes for granted: premises, what stands for assumptions, quantities read as others."""
    knowns = list(dict.fromkeys(_knowns(argument)))
    ranges = _ranges(statement, argument, catalogue) | _sum_ranges(argument)
    meant = definitions(statement)
    free = ranges | {k for k in knowns if k.claim in meant}
    free |= names(statement, argument, cited_views(statement, catalogue))
    hand = [k.because for k in knowns if taken(k) and k not in free]
    yield from hand
    if not hand:
        yield from _signs(statement, argument, {k.claim.lhs for k in free if k.rule == NAMED})
    yield from _closed_signs(statement)
    frames = dict.fromkeys(k.rule.frame for k in knowns if k.kind == "shown")
    yield from (said for frame in frames for said in invented(frame, statement))
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
    knowns = list(dict.fromkeys(_knowns(argument)))
    used = _used_directly(argument)
    asked = {s for condition in view(statement).requires for s in condition.free_symbols}
    found: set[Known] = set()
    for known in knowns:
        users = [k for k in knowns for needed in k.requires if known in needed.given]
        cited = [catalogue[k.because] for k in users if k.kind == "cited" and k.because in catalogue]
        if users and len(cited) == len(users) and known not in used:
            closed = [_closed_ranges(c) for c in cited]
            said = And(*(part.func(*part.args) for part in And.make_args(known.claim)))  # 0 <= t is true by itself
            if all(any(said == claim and index not in asked for index, claim in ranges) for ranges in closed):
                found.add(known)
    return found


def _closed_ranges(cited: Statement) -> list[tuple[Symbol, Boolean]]:
    """The indices that its relations do not speak of, and their ranges."""
    free = {s for relation in cited.relations for s in cited.defined(relation).free_symbols}
    return [(n, And(Le(low, n), Le(n, high))) for n, (low, high) in cited.for_all.items() if n not in free]


def _signs(statement: Statement, argument: Argument, named: set[Symbol]) -> Iterator[str]:
    """Quantities that are declared not to be negative, and whose definition does not show it: these are premises."""
    frames = [k.rule.frame for k in _shown(argument)]
    method = next((frame.method for frame in frames), statement.method)
    if not isinstance(method, Method):
        return
    names = {**method.formulas, **method.measures, **{q: n for frame in frames for q, n in frame.names.items()}}
    meant = {q.func if isinstance(q, AppliedUndef) else q: number for q, number in names.items()}
    made = {a.name for a in (*statement.let, *statement.implicit)}
    numbers = {part for e in method.scalars(()) for part in e.atoms(Symbol)} | parameters(statement)
    numbers |= {part for frame in frames if frame.groups for part in frame.groups.scalars()}
    numbers |= {a.sigma for known in _shown(argument) for _, a in known.rule.by if isinstance(a, Variance)}
    steps = {q.func for q in (*method.steps(), *method.before)}
    even = any(frame.charges[SIGN] is None for frame in frames)  # the setting is about plain means
    claims = [item.claim for item in _walk((*argument.steps, *argument.bounds))]
    found = {q.func: q for c in claims for q in c.atoms(AppliedUndef) if q.func not in steps}
    found |= {q: q for c in claims for q in c.free_symbols - numbers - named if not q.is_integer}
    for head, quantity in sorted(found.items(), key=lambda pair: str(pair[1])):  # sets have no order of their own
        if not quantity.is_nonnegative:
            continue
        if quantity.is_positive and isinstance(quantity, AppliedUndef):
            yield f"{quantity} is positive"  # no form of a measure keeps it from being 0
            continue
        number = HETEROGENEITY if str(head) == "Gamma" else meant.get(head)
        rules = None if number is None else not_negative(number, method)
        if rules is None or (SIGN in rules and not made & WEIGHTS and not even):
            yield f"{quantity} is not negative"


def _shown(argument: Argument) -> list[Known]:
    return [k for k in dict.fromkeys(_knowns(argument)) if k.kind == "shown"]


# --- what is refused, and what is told about citations ----------------------------------------------------------------


def _refused(statement: Statement, goal: View, argument: Argument, cited: Sequence[View]) -> Iterator[str]:
    views = {v.id: v for v in cited}
    for known in dict.fromkeys(_knowns(argument)):
        if known.kind == "cited" and not _as_cited(known, views.get(known.because)):
            yield f"refused: {known.because} is not used as it stands there: {known.claim}, {', '.join(known.assumes)}"
    meant: dict[Any, Any] = {}
    for known in _shown(argument):
        if any(meant.setdefault(name, number) != number for name, number in known.rule.frame.names.items()):
            yield f"refused: {known.because} gives another meaning to a name of this proof"
        frame = known.rule.frame
        if statement.method is not frame.method and statement.method != frame.method.id:  # a setting has no method
            yield f"refused: {known.because} is about {frame.method.id}"
        elif not stands(known):
            yield f"refused: {known.because} does not follow from its atoms, left over: {check(known.rule).rest}"
    for known in dict.fromkeys(_knowns(argument)):
        rule = known.rule
        if isinstance(rule, Average) and any(meant.setdefault(q, n) != n for q, n in rule.frame.names.items()):
            yield f"refused: {known.because} gives another meaning to a name of this proof"
        own = isinstance(rule, Definition | Average) and statement.method in (rule.method, rule.method.id)
        if isinstance(rule, Definition | Average) and not own:
            yield f"refused: {known.because} is about {known.rule.method.id}"
    numbers = parameters(statement)
    for premise in (k for k in dict.fromkeys(_knowns(argument)) if taken(k)):
        for relation in goal.relations:
            if _suffices(premise, relation, goal.requires, numbers):
                yield f"refused: what is to be shown follows from one premise alone: {premise.because}"
                break


def _as_cited(known: Known, view: View | None) -> bool:
    """Whether a cited statement is used with its own relation, conditions and assumptions."""
    if view is None or known.citation is None:
        return False
    for values in known.citation.values:
        view = view.at(dict(values))
    own = view.holds(part=known.citation.part, instead=dict(known.citation.instead))
    needed = {r.claim for r in known.requires}
    return (own.claim, own.assumes) == (known.claim, known.assumes) and {r.claim for r in own.requires} <= needed


def _suffices(premise: Known, relation: Relational, conditions: Sequence[Boolean], numbers: set[Basic]) -> bool:
    """Whether `relation` follows from one premise, with the conditions where both speak of something measured."""
    if relation in (premise.claim, getattr(premise.claim, "reversed", None)):
        return True
    about, said = ({q for q in quantities(c) if q not in numbers} for c in (relation, premise.claim))
    if about - said - {q for c in conditions for q in quantities(c)} or not (about & said or not about):
        return False
    alone = (premise.claim, *(r.claim for r in premise.requires))
    if entails(relation, alone):
        return not entails(relation, ())
    return bool(about) and entails(relation, (*conditions, *alone)) and not entails(relation, tuple(conditions))


def _unused(goal: View, argument: Argument, cited: Sequence[View]) -> Iterator[str]:
    """Citations that no line on the way to the goal uses, or whose place a premise takes."""
    ends = [step for step in argument.steps if step.claim in goal.relations]
    used = {k.because for k in _walk((*ends, *argument.bounds)) if isinstance(k, Known) and k.kind == "cited"}
    premises = [k for k in dict.fromkeys(_knowns(argument)) if taken(k)]
    for view in cited:
        if view.id not in used:
            yield f"citation: {view.id} is cited, and no step on the way to the claim uses it"
        for premise in premises:
            if any(_suffices(premise, relation, goal.requires, set()) for relation in view.relations):
                yield f"citation: a premise takes the place of {view.id}: {premise.because}"


def _overstretched(statement: Statement, argument: Argument) -> Iterator[str]:
    """Assumptions that the proof uses and the statement does not make."""
    lets = (*statement.let, *statement.implicit)
    made = {a.name for a in lets}
    for known in dict.fromkeys(_knowns(argument)):
        for name in known.assumes:
            if name not in made:
                yield f"assumption: {known.because} assumes {name}, which {statement.id} does not"
        for assumption in (
            (atom.assumption for _, atom in known.rule.by if isinstance(atom, Bound)) if known.kind == "shown" else ()
        ):
            if not any(_says_the_same(assumption, made) for made in lets):
                yield f"assumption: {known.because} assumes another {assumption.name} than {statement.id}"
        for name, args in check(known.rule).charges if known.kind == "shown" else ():
            if name in made and args and not any(a.name == name and a.args == args for a in lets):
                yield f"assumption: {known.because} assumes {name} with {args}, which {statement.id} does not"


def _says_the_same(one: Assumption, other: Assumption) -> bool:
    return (one.name, one.args, one.means, one.for_all) == (other.name, other.args, other.means, other.for_all)


def _unproved(decided: Sequence[Decided]) -> Iterator[str]:
    for step in decided:
        name = step.where or step.note or str(step.claim)
        for use in (Use("", step.decision), *step.uses):
            if not use.decision.proved:
                kind = "numerical only" if use.decision.status == "true" else use.decision.status
                yield f"step {name}{f' ({use.what})' if use.what else ''}: {kind}, {use.decision.detail}"


def compare(goal: View, argument: Argument) -> tuple[Comparison, ...]:
    """The printed relations as comparisons of two computable sides; each uses the proof's own bound for it, if any."""
    premises = [k.claim for k in _knowns(argument) if k.kind in ("premise", "shown")]
    made: list[Comparison] = []
    for n, relation in enumerate(goal.relations):
        bound = argument.bound_of(n)
        own, gives = bound is None, relation.lhs if bound is None else bound.claim.rhs
        sides = set(quantities(gives, relation.rhs, *goal.requires))
        useful = [p for p in premises if set(quantities(p)) <= sides and not isinstance(p, Eq)]
        conditions = tuple(c for c in (*goal.requires, *useful) if set(quantities(c)) <= sides)
        made.append(Comparison(gives, relation.rhs, isinstance(relation, Le | Lt), conditions, own))
    return tuple(made)


def _verdict(
    goal: View,
    argument: Argument,
    decided: Sequence[Decided],
    comparisons: Sequence[Comparison],
    findings: list[str],
    *,
    refused: bool,
) -> tuple[Verdict, Comparison | None, float | None, Point | None]:
    """The status; which comparison makes the factor, and the largest ratio seen there; a point that shows it."""
    of = dict(zip(argument.steps, decided, strict=True))
    leads = [item for item in _walk(argument.bounds) if not isinstance(item, Known)]
    outside = [use for step in decided for use in step.uses if use.cited and use.decision.status == "false"]
    if outside:  # a cited statement is used where its own conditions fail
        return "claims-more", None, None, outside[0].decision.point
    if refused or any(not of[step].holds for step in leads):
        return "not-derived", None, None, None
    for comparison in comparisons:
        worst = violated(comparison)
        if worst is not None:
            findings.append(f"claims more than the proof gives: {told(worst)}")
            return "claims-more", comparison, supremum(comparison)[0], worst
    if any(_false(outcome) and not _compares(step, goal) for step, outcome in of.items()):
        return "not-derived", None, None, None
    for step in decided:  # what is bounded is not what is printed on the left
        if step.claim in goal.relations and not isinstance(step.claim, Eq) and step.decision.status == "false":
            return "claims-more", None, None, step.decision.point
    factor, point = supremum(comparisons[0])
    if factor is not None and factor > 1 + TIGHT:  # where an equation among the conditions has no rational point
        findings.append(f"claims more than the proof gives: by a factor {factor:.4g}")
        return "claims-more", comparisons[0], factor, point
    for step, outcome in of.items():
        if isinstance(step.claim, Eq) and outcome.decision.status == "false":
            behind = replace(comparisons[0], gives=step.claim.rhs, claims=step.claim.lhs)
            most, _ = supremum(behind)
            findings.append(f"claims less than the proof gives: {told(outcome.decision.point or {})}")
            return "claims-less", None, 1 / most if most else factor, outcome.decision.point
    if any(d.decision.status == "unknown" for d in decided):
        return "not-derived", None, factor, None
    if factor is not None and factor < 1 - TIGHT:
        return "claims-less", comparisons[0], factor, None
    return "follows", comparisons[0], factor, None


def _false(outcome: Decided) -> bool:
    return any(d.status == "false" for d in (outcome.decision, *(use.decision for use in outcome.uses)))


def _compares(step: Step | Induction, goal: View) -> bool:
    """Whether a step is the claim itself, or sets what the proof gives against what is printed."""
    printed = {r.rhs for r in goal.relations}
    return step.claim in goal.relations or (isinstance(step.claim, Eq) and bool(printed & set(step.claim.args)))


def _vacuous(goal: View, argument: Argument) -> Iterator[str]:
    """A minimum in a lower bound of which one argument alone already follows, from the very same givens."""
    for step in argument.steps:
        claim = step.claim
        if isinstance(step, Step) and claim in goal.relations and isinstance(claim, Ge) and isinstance(claim.rhs, Min):
            for part in claim.rhs.args:
                alone = settle(replace(step, claim=Ge(claim.lhs, part)), goal.requires)
                if alone.proved:
                    yield f"vacuous: the minimum is not needed, {part} alone is a lower bound (proved)"


# --- slack -----------------------------------------------------------------------------------------------------------


def slacks(statement: Statement, comparisons: Sequence[Comparison]) -> Iterator[Slack]:
    """Printed constants that could be 1 % stronger and still follow from what the proof gives (numerically)."""
    searches = [Search.of(comparison) for comparison in comparisons]
    compared = [n for n, r in enumerate(statement.relations) if isinstance(_write(r, statement, (), None), Relational)]
    if len(compared) != len(comparisons):
        return
    for constant in constants(statement, ("then", "where")):
        for changed in (Rational(99, 100), Rational(101, 100)):
            stated = mutate(statement, constant, changed, evaluate=False)
            if not _dimensions_agree(stated):
                continue
            relations = [_unevaluated(stated.relations[n], stated) for n in compared]
            moved = [(search, search.ratio(relation)) for search, relation in zip(searches, relations, strict=True)]
            ratios = [(search, ratio) for search, ratio in moved if ratio is not None]
            stronger = [(search, ratio) for search, ratio in ratios if search.rises(ratio)]
            if not stronger or any(search.breaks(ratio) for search, ratio in stronger):
                continue
            if len(_relations(mutate(statement, constant, changed))) == len(comparisons):  # none is true as written
                yield Slack(constant, changed)


def _unevaluated(relation: Relational, statement: Statement) -> Relational:
    """A relation as in the statement's `view`. Whether it is true as written is not asked: that takes sympy long."""
    return relation.func(*(_write(side, statement, (), None) for side in relation.args), evaluate=False)


def relaxations(statement: Statement, closure: tuple[Statement, ...]) -> Iterator[Slack]:
    """Printed conditions that could be 1 % wider and the statement still follows."""
    for constant in constants(statement, ("when",)):
        printed = statement.defined(statement.when[constant.key])
        for factor in (Rational(99, 100), Rational(101, 100)):
            mutant = mutate(statement, constant, factor)
            if not tighter(printed, mutant.defined(mutant.when[constant.key])):
                continue
            goal, argument = argued(mutant, {s.id: s for s in closure})
            if _all_hold(argument.steps, goal.requires):
                yield Slack(constant, factor)


def room(statement: Statement, argument: Argument, closure: tuple[Statement, ...]) -> Iterator[Slack]:
    """Conditions of cited statements that are met with room: they could be 1 % tighter."""
    goal, derivation = view(statement), statement.follows_from[0]
    given = [k.claim for k in _knowns(argument) if k.kind in ("premise", "shown")]
    premises = [claim for claim in given if not claim.atoms(AppliedUndef)]
    for cited in (s for s in closure if s.id in derivation.cites):
        for constant in constants(cited, ("when",)):
            for factor in (Rational(99, 100), Rational(101, 100)):
                mutant = mutate(cited, constant, factor)
                if not tighter(mutant.when[constant.key], cited.when[constant.key]):
                    continue
                needed = view(mutant, derivation.substitute, statement).requires
                if all(decide(c, [*goal.requires, *premises]).status == "true" for c in needed[: len(cited.when)]):
                    yield Slack(constant, factor, cited.id)


def _dimensions_agree(statement: Statement) -> bool:
    """A change that breaks the units is no stronger claim, it is no claim."""
    try:
        for relation in statement.relations:
            sides = (statement.defined(side) for side in relation.args)
            dimension_of(relation.func(*sides, evaluate=False), statement.glossary)
    except DimensionError:
        return False
    return True
