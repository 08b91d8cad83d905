"""Does a statement follow from what it cites? Every step is decided on its own; then what the proof gives is compared
with what is claimed: *follows*, *claims more* (by which factor), *claims less*, or *not derived*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from sympy import Basic, Eq, Le, Lt

from ..catalogue.printed_constants import Slack
from ..decide.decision import told
from ..decide.dominance import dominance
from ..formulas.evaluator import Point, quantities
from ..language.derivation import Argument, Induction, Known, Step, View
from ..language.statement import Statement
from .argument import argued, cited_views, knowns_of, walk
from .factors.comparison import TIGHT, Comparison, supremum, violated
from .factors.constant_factor import Factor
from .factors.slack import relaxations, room, slacks
from .factors.term_factors import Term, orders
from .findings import (
    AnotherWay,
    ClaimsLess,
    ClaimsMore,
    Evidence,
    Finding,
    NoDerivation,
    Refused,
    Status,
    Vacuous,
    WaitsFor,
)
from .hand_premises import by_hand, shown_in
from .objections import idle_citations, missing_assumptions, needless_minima, open_steps, refusals
from .premise_identity import multipliers
from .step_decisions import Decided, settle


@dataclass(frozen=True, slots=True)
class Derived:
    """`factor` is the largest ratio of corresponding coefficients, what the proof gives / what is claimed (inverted
    for a lower bound): see `factor`.

    `evidence` is "proof" if every step is an identity or decided by z3, from the facts, what is cited and the
    `premises`: what is written by hand about losses and runs (smoothness, the update rule, …), here or in what is
    cited, and not decided here. `proved`: one of the ways is such a proof, nothing in it is written by hand, and
    everything that it cites is proved.
    """

    status: Status
    factor: Factor = None
    evidence: Evidence = "numerical"
    steps: tuple[Decided, ...] = ()
    findings: tuple[Finding, ...] = ()
    premises: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # premises that follow from the assumptions, each with its multipliers and atoms
    proved: bool = False
    cites: tuple[str, ...] = ()  # of the first derivation
    proved_from: tuple[str, ...] = ()  # what the way that proves it cites
    terms: tuple[Term, ...] = ()  # the factor, term by term
    point: Mapping[Basic, Fraction] | None = field(default=None, compare=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """The findings in words."""
        return tuple(finding.text for finding in self.findings)

    @property
    def slack(self) -> tuple[Slack, ...]:
        """The printed constants that have room."""
        return tuple(finding for finding in self.findings if isinstance(finding, Slack))


# --- the verdict -----------------------------------------------------------------------------------------------------


def derive(
    statement: Statement, catalogue: Mapping[str, Statement], *, slack: bool = True, terms: bool = False
) -> Derived:
    """Decide every step of the statement's derivation, then compare what it gives with what is claimed.

    The first derivation is the paper's way and makes the status; what becomes of others is told as findings. Any of
    them may prove the statement. `terms`: also the factor term by term; `slack`: that, and which constants have room.
    """
    if statement.quoted:
        quoted = NoDerivation(f"quoted from {statement.quoted}: the proof is not encoded")
        return Derived("not-derived", findings=(quoted, *_waiting(statement)))
    if statement.is_order_of_formulas and not statement.follows_from:
        return _dominated(statement)
    circle = _circle(statement, catalogue)
    if circle:
        return Derived("not-derived", findings=(Refused(f"cites itself, {' -> '.join(circle)}"),))
    closure = _closure(statement, catalogue)
    first = _with_terms(statement, closure, slack) if slack or terms else _derive(statement, closure)
    ways = [replace(statement, follows_from=(way,)) for way in statement.follows_from[1:]]
    # Where the paper's way does not derive the statement, another one says which constants have room.
    wanted = slack and first.status == "not-derived"
    others = [_with_terms(way, closure, slack) if wanted else _derive(way, closure) for way in ways]
    findings = [*first.findings]
    for way in others:
        beside = (finding for finding in way.findings if isinstance(finding, Vacuous | Slack))
        findings += [AnotherWay(way.cites, way.status, way.evidence), *beside]
    proof = next((way for way in (first, *others) if way.proved), first)
    first = replace(first, proved=proof.proved, proved_from=proof.cites if proof.proved else (), shown=proof.shown)
    findings += [] if first.proved else _waiting(statement)
    return replace(first, findings=tuple(findings))


def _waiting(statement: Statement) -> list[WaitsFor]:
    return [WaitsFor(statement.waits_for)] if statement.waits_for else []


def _circle(statement: Statement, catalogue: Mapping[str, Statement], path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The ids on a way from a statement back to itself by citations; empty if there is none."""
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
    return Derived("not-derived", steps=decided, findings=(*open_steps(decided), *_waiting(statement)), terms=shares)


def _closure(statement: Statement, catalogue: Mapping[str, Statement]) -> tuple[Statement, ...]:
    """All statements that a statement rests on by citations, each once."""
    below: dict[str, Statement] = {}
    for derivation in statement.follows_from:
        for cited in derivation.cites:
            if cited in catalogue:
                below[cited] = catalogue[cited]
                below.update({s.id: s for s in _closure(catalogue[cited], catalogue)})
    return tuple(below.values())


@lru_cache(maxsize=1024)
def _derive(statement: Statement, closure: tuple[Statement, ...]) -> Derived:
    """What `derive` says, without slack and terms: nobody asks for these of a statement that is only cited."""
    catalogue = {s.id: s for s in closure}
    if not statement.follows_from:
        return Derived("not-derived", findings=(NoDerivation("no derivation is encoded"),))
    derivation = statement.follows_from[0]
    missing = [cited for cited in derivation.cites if cited not in catalogue]
    if missing:
        return Derived(
            "not-derived", findings=tuple(NoDerivation(f"cites {cited}, which is not encoded") for cited in missing)
        )
    goal, argument = argued(statement, catalogue)
    decided = tuple(settle(step, goal.requires) for step in argument.steps)
    cited = cited_views(statement, catalogue)
    against: list[Finding] = [
        *missing_assumptions(statement, argument),
        *refusals(statement, goal, argument, cited),
    ]
    findings: list[Finding] = [*against, *idle_citations(goal, argument, cited), *open_steps(decided)]
    comparisons = compare(goal, argument)
    status, worst, largest, point = _verdict(goal, argument, decided, comparisons, findings, refused=bool(against))
    factor = largest if worst is None else worst.factor(largest, status)
    vacuous = tuple(needless_minima(goal, argument)) if status in ("follows", "claims-less") else ()
    evidence = "proof" if all(d.proved for d in decided) and status in ("follows", "claims-less") else "numerical"
    # What is cited matters only where the steps here are proved: otherwise nothing is inherited.
    lemmas = [derive(catalogue[c], catalogue, slack=False) for c in derivation.cites if evidence == "proof"]
    inherited = (because for lemma in lemmas for because in lemma.premises if not lemma.proved)
    premises = tuple(dict.fromkeys([*by_hand(statement, argument, catalogue), *inherited]))
    proved = evidence == "proof" and not premises and all(lemma.proved for lemma in lemmas)
    return Derived(
        status=status,
        factor=factor,
        evidence=evidence,
        steps=decided,
        findings=(*findings, *vacuous),
        premises=premises,
        shown=tuple(f"{k.because}: {', '.join(multipliers(k)) or 'an identity'}" for k in shown_in(argument)),
        proved=proved,
        cites=derivation.cites,
        point=point,
    )


@lru_cache(maxsize=512)
def _with_terms(statement: Statement, closure: tuple[Statement, ...], slack: bool) -> Derived:
    """What `_derive` says, with the factor term by term and, if asked for, the constants that have room."""
    plain = _derive(statement, closure)
    if plain.status == "not-derived":
        return plain
    goal, argument = argued(statement, {s.id: s for s in closure})
    comparisons = compare(goal, argument)
    equal = [isinstance(relation, Eq) for relation in goal.relations]
    shares = tuple(term for n, c in enumerate(comparisons) for term in c.terms(n, equal[n]))
    if plain.status == "claims-more" or not slack:
        return replace(plain, terms=shares)
    loose = (
        *slacks(statement, comparisons),
        *relaxations(statement, closure),
        *room(statement, argument, closure),
    )
    return replace(plain, findings=(*plain.findings, *_once(loose)), terms=shares)


def _once(loose: Iterable[Slack]) -> Iterable[Slack]:
    """Every finding once: a number that is printed twice in one term has room twice."""
    return {slack.text: slack for slack in loose}.values()


def compare(goal: View, argument: Argument) -> tuple[Comparison, ...]:
    """The printed relations as comparisons of two computable sides; each uses the proof's own bound for it, if any."""
    premises = [k.claim for k in knowns_of(argument) if k.kind in ("premise", "shown")]
    comparisons: list[Comparison] = []
    for n, relation in enumerate(goal.relations):
        bound = argument.bound_of(n)
        own, gives = bound is None, relation.lhs if bound is None else bound.claim.rhs
        sides = set(quantities(gives, relation.rhs, *goal.requires))
        useful = [p for p in premises if set(quantities(p)) <= sides and not isinstance(p, Eq)]
        conditions = tuple(c for c in (*goal.requires, *useful) if set(quantities(c)) <= sides)
        comparisons.append(Comparison(gives, relation.rhs, isinstance(relation, Le | Lt), conditions, own))
    return tuple(comparisons)


def _verdict(
    goal: View,
    argument: Argument,
    decided: Sequence[Decided],
    comparisons: Sequence[Comparison],
    findings: list[Finding],
    *,
    refused: bool,
) -> tuple[Status, Comparison | None, float | None, Point | None]:
    """The status; which comparison makes the factor, and the largest ratio seen there; a point that shows it."""
    of = dict(zip(argument.steps, decided, strict=True))
    leads = [item for item in walk(argument.bounds) if not isinstance(item, Known)]
    outside = [use for step in decided for use in step.uses if use.cited and use.decision.status == "false"]
    if outside:  # a cited statement is used where its own conditions fail
        return "claims-more", None, None, outside[0].decision.point
    if refused or any(not of[step].holds for step in leads):
        return "not-derived", None, None, None
    for comparison in comparisons:
        worst = violated(comparison)
        if worst is not None:
            findings.append(ClaimsMore(told(worst)))
            return "claims-more", comparison, supremum(comparison)[0], worst
    if any(_false(outcome) and not _compares(step, goal) for step, outcome in of.items()):
        return "not-derived", None, None, None
    for step in decided:  # what is bounded is not what is printed on the left
        if step.claim in goal.relations and not isinstance(step.claim, Eq) and step.decision.status == "false":
            return "claims-more", None, None, step.decision.point
    factor, point = supremum(comparisons[0])
    if factor is not None and factor > 1 + TIGHT:  # where an equation among the conditions has no rational point
        findings.append(ClaimsMore(f"by a factor {factor:.4g}"))
        return "claims-more", comparisons[0], factor, point
    for step, outcome in of.items():
        if isinstance(step.claim, Eq) and outcome.decision.status == "false":
            behind = replace(comparisons[0], gives=step.claim.rhs, claims=step.claim.lhs)
            most, _ = supremum(behind)
            findings.append(ClaimsLess(told(outcome.decision.point or {})))
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
