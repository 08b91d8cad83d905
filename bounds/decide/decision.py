"""Is a claim true for all values its conditions allow? Identity, then z3 on the negation, then dense sampling.

Only the first two prove anything. A claim is false when an exact point shows it, and unknown when nothing does: a
solver that gives up or a denominator that may vanish is never read as a yes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sympy import (
    Basic,
    Dict,
    Eq,
    Expr,
    Ge,
    Gt,
    Le,
    Lt,
    Sum,
)
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, false, true

from ..formulas.evaluator import Point, entangled
from .sample_points import Sampler, conjuncts
from .smt_encoding import Unsupported, uniform
from .smt_proof import RLIMIT, SIDE_RLIMIT, Proof
from .violation import Count, violates, violation

Status = Literal["true", "false", "unknown"]
How = Literal["identity", "smt", "numeric", ""]
Asking = Literal["all", "false", "proved"]

QUICK, DENSE = 150, 3000  # points: of the look before more of z3's time is spent, and where nothing else decides


@dataclass(frozen=True, slots=True)
class Decision:
    """`how` says what stands behind it; "numeric" and true means: no violation found, nothing proved."""

    status: Status
    how: How = ""
    detail: str = ""
    point: Mapping[Basic, Fraction] | None = None

    @property
    def proved(self) -> bool:
        return self.status == "true" and self.how in ("identity", "smt")


def decide(
    claim: Boolean,
    given: Sequence[Boolean] = (),
    *,
    sweep: Mapping[Expr, Expr] | None = None,
    bare: bool = False,
    rlimit: int = RLIMIT,
    samples: int = DENSE,
    asking: Asking = "all",
) -> Decision:
    """Decide `given` ⟹ `claim` over the domains that the symbols declare; `bare`: without facts about powers.

    `asking`: "false" or "proved" if that is all that is asked. What could only end otherwise is then left out, and a
    point where the claim fails is looked for first.
    """
    # One form for equal sums, and each condition once: the cache below sees as equal what is equal.
    conditions = dict.fromkeys(uniform(condition) for condition in conjuncts(*given))
    return _decide(uniform(claim), tuple(conditions), Dict(sweep or {}), bare, rlimit, samples, asking)


def refuted(claim: Boolean, given: Sequence[Boolean] = ()) -> bool:
    """Whether `decide` finds it false."""
    return decide(claim, given, asking="false").status == "false"


def proved(claim: Boolean, given: Sequence[Boolean] = ()) -> bool:
    """Whether `decide` proves the claim from these conditions; what is only sampled is not proved."""
    return decide(claim, given, asking="proved").proved


@lru_cache(maxsize=16384)
def _decide(
    claim: Boolean,
    given: tuple[Boolean, ...],
    sweep: Dict,
    bare: bool,
    rlimit: int,
    samples: int,
    asking: Asking,
) -> Decision:
    if claim is true:
        return Decision("true", "identity", "holds as written")
    if claim is false:
        return Decision("false", "identity", "fails as written")
    if false in given:
        # Whatever follows from a contradiction would be "proved"; a paper's slip must not make its claim true.
        return Decision("unknown", "", "the conditions contradict each other as written")
    if isinstance(claim, And):
        return _all([_decide(part, given, sweep, bare, rlimit, samples, asking) for part in claim.args])
    claim, given = rewrite(claim, given)
    if false in given:
        return Decision("unknown", "", "the conditions contradict each other")
    if claim is true:
        return Decision("true", "identity", "holds after substitution")
    try:
        proof = Proof(claim, given, bare)
        if proof.identity():
            return Decision("true", "identity", "both sides are the same polynomial")
    except Unsupported as error:
        return Decision("unknown", "", str(error))
    # A sum without a negative term cannot be false. Nothing is proved here: z3 says that, with what it needs.
    if asking == "false" and proof.plain():
        return Decision("unknown", "", "not false: no term is negative")
    sampler = Sampler([claim], given, dict(sweep.items())) if asking != "all" else None
    # Points are cheap and z3 is not, so that whoever asks for one answer alone gets points first; of sums over
    # unknown terms a point can break what no sequence of terms breaks, so there z3 is asked before.
    looked = sampler is not None and not any(isinstance(q, Sum) for q in sampler.variables)  # z3 knows signs of sums
    if sampler is not None and looked:
        counterpoint = violation(claim, given, sampler, QUICK)
        if counterpoint:
            return _refuted(claim, given, counterpoint)
    outcome, detail = proof.run(SIDE_RLIMIT)
    # The claim itself may be a condition that z3 does not see among dozens of others.
    if outcome == "unknown" and {claim, getattr(claim, "reversed", claim)} & {*given}:  # lost among the others
        alone, detail_alone = Proof(claim, (claim,), bare).run(SIDE_RLIMIT)
        outcome, detail = (alone, detail_alone) if alone == "unsat" else (outcome, detail)
    if outcome == "unsat":
        return _proved(proof, detail)
    sampler = sampler or Sampler([claim], given, dict(sweep.items()))
    counterpoint = None if looked else violation(claim, given, sampler, QUICK)
    if counterpoint:
        return _refuted(claim, given, counterpoint)
    # Nothing can be proved of what may have no value, and the quick search met no point where it fails.
    if proof.undefined:
        return Decision("unknown", "", f"not known to be defined everywhere: {proof.undefined}")
    pointless = asking == "false" and proof.table.inexact  # of what is inexact no model is a point
    if outcome == "unknown" and not pointless:
        outcome, detail = proof.run(rlimit)
        if outcome == "unsat":
            return _proved(proof, detail)
    if asking == "proved":
        return Decision("unknown", "", "only asked whether it is proved")
    # A model is a counterexample once exact arithmetic agrees; what stands for a root or exp may have any value in it.
    if outcome == "sat" and not proof.table.inexact:
        point = proof.point()
        if point is not None and violates(claim, given, point):
            return Decision("false", "smt", told(point), point)
    tried = Count()
    counterpoint = violation(claim, given, sampler, samples, tried)
    if counterpoint:
        return _refuted(claim, given, counterpoint)
    # Few points that meet the conditions say more about the sampler than about the claim.
    if tried.tried < samples // 20:
        return Decision("unknown", "", f"{detail}; only {tried.tried} admissible points found")
    if tried.unsettled:
        return Decision("unknown", "", f"{detail}; fails at {tried.unsettled} points that nearly meet the conditions")
    return Decision("true", "numeric", f"no violation at {tried.tried} points; {detail}")


@lru_cache(maxsize=4096)
def entails(claim: Boolean, given: tuple[Boolean, ...]) -> bool:
    """Whether z3 shows `given` ⟹ `claim` at once: no search for a violation, and a "no" means nothing."""
    claim, given = rewrite(uniform(claim), tuple(dict.fromkeys(uniform(c) for c in conjuncts(*given))))
    if claim is true or false in given:
        return claim is true
    try:
        proof = Proof(claim, given)
        return proof.identity() or (proof.run(SIDE_RLIMIT)[0] == "unsat" and not proof.vacuous())
    except Unsupported:
        return False


def _refuted(claim: Boolean, given: Sequence[Boolean], point: Point) -> Decision:
    if entangled(claim, *given):
        return Decision("unknown", "", f"fails if its sums may take any value: {told(point)}")
    return Decision("false", "numeric", told(point), point)


def _proved(proof: Proof, detail: str) -> Decision:
    """What contradictory conditions imply is not worth calling proved."""
    if proof.vacuous():
        return Decision("unknown", "", "the conditions contradict each other")
    return Decision("true", "smt", detail)


def rewrite(claim: Boolean, given: Sequence[Boolean]) -> tuple[Boolean, tuple[Boolean, ...]]:
    """Conditions such as gap(0) = … or Σ … = … used as definitions; what the name's domain said is kept."""
    rest = list(given)
    bound = {limit[0] for formula in (claim, *given) for total in formula.atoms(Sum) for limit in total.limits}
    # Each pass uses up one condition; where one is put in, another may become a definition, so all are looked at again.
    for _ in given:
        for condition in rest:
            pair = _definition(condition)
            if pair is None or bound & (pair[0].free_symbols | pair[1].free_symbols):
                continue
            name, value = pair
            if name.is_integer and not value.is_integer:  # no condition would say that the value is whole
                continue
            rest.remove(condition)
            domain = [rule(value, 0) for known, rule in _signs_of(name) if known][:1]
            rest = [c for c in (*(g.xreplace({name: value}) for g in rest), *domain) if c is not true]
            claim = claim.xreplace({name: value})
            break
        else:
            break
    return claim, tuple(rest)


def _signs_of(name: Expr) -> tuple[tuple[bool | None, Callable[[Expr, int], Boolean]], ...]:
    """What the domain of a name may say of its sign, the strongest first."""
    return (name.is_positive, Gt), (name.is_negative, Lt), (name.is_nonnegative, Ge), (name.is_nonpositive, Le)


def _definition(condition: Boolean) -> tuple[Expr, Expr] | None:
    if isinstance(condition, Eq):
        for name, value in ((condition.lhs, condition.rhs), (condition.rhs, condition.lhs)):
            if isinstance(name, AppliedUndef | Sum) and not value.has(name):
                return name, value
    return None


def _all(parts: Sequence[Decision]) -> Decision:
    for wanted in ("false", "unknown"):
        for part in parts:
            if part.status == wanted:
                return part
    ranks = ("identity", "smt", "numeric")
    return max(parts, key=lambda part: ranks.index(part.how))


def told(point: Mapping[Basic, Fraction]) -> str:
    return "fails at " + ", ".join(f"{q} = {_short(value)}" for q, value in point.items())


def _short(value: Fraction) -> str:
    return str(value) if value.denominator.bit_length() < 200 else f"about {float(value):.6g}"
