"""Is a claim true for all values its conditions allow? Identity, then z3 on the negation, then dense sampling.

Only the first two prove anything. A claim is false when an exact point shows it, and unknown when nothing does: a
solver that gives up or a denominator that may vanish is never read as a yes.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

from flint import arb, fmpq
from sympy import (
    Basic,
    Dict,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Le,
    Lt,
    Ne,
    Pow,
    Rational,
    Sum,
    Symbol,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, Implies, Not, Or, false, true

from ..formulas.evaluator import Point, Undefined, balls, compiled, entangled
from .rational_functions import factors_of, never_negative, over_common, vanishes
from .sample_points import Sampler, Values, conjuncts
from .smt_encoding import Abstraction, Unsupported, uniform

Status = Literal["true", "false", "unknown"]
How = Literal["identity", "smt", "numeric", ""]
Asking = Literal["all", "false", "proved"]
Floats = Sequence[float]

RLIMIT = 1_000_000  # z3's own count of work, so that a verdict does not depend on the machine
SIDE_RLIMIT = 300_000
FIRST_RLIMIT = 30_000  # of the engine that is asked first; what it leaves open the others decide
LOGICS = ("QF_NRA", "")  # whose engines are asked; the last is z3's default
QUICK, DENSE = 150, 3000
CLEAR = 1e-6  # a difference beyond what rounding of an equation's solution makes
ALIKE = arb("1e-45")  # numbers of 60 digits that differ by less: nobody knows which is larger
SLACK = 1e-10  # a violation this small in floating point is looked at again in exact arithmetic


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
    conditions = dict.fromkeys(uniform(condition) for condition in conjuncts(*given))
    return _decide(uniform(claim), tuple(conditions), Dict(sweep or {}), bare, rlimit, samples, asking)


def refuted(claim: Boolean, given: Sequence[Boolean] = ()) -> bool:
    """Whether `decide` finds it false."""
    return decide(claim, given, asking="false").status == "false"


def proved(claim: Boolean, given: Sequence[Boolean] = ()) -> bool:
    """Whether `decide` proves it."""
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
    if asking == "false" and proof.plain():
        return Decision("unknown", "", "not false: no term is negative")
    sampler = Sampler([claim], given, dict(sweep.items())) if asking != "all" else None
    looked = sampler is not None and not any(isinstance(q, Sum) for q in sampler.variables)  # z3 knows signs of sums
    if sampler is not None and looked:
        found = violation(claim, given, sampler, QUICK)
        if found:
            return _refuted(claim, given, found)
    outcome, detail = proof.run(SIDE_RLIMIT)
    if outcome == "unknown" and {claim, getattr(claim, "reversed", claim)} & {*given}:  # lost among the others
        alone, detail_alone = Proof(claim, (claim,), bare).run(SIDE_RLIMIT)
        outcome, detail = (alone, detail_alone) if alone == "unsat" else (outcome, detail)
    if outcome == "unsat":
        return _proved(proof, detail)
    sampler = sampler or Sampler([claim], given, dict(sweep.items()))
    found = None if looked else violation(claim, given, sampler, QUICK)
    if found:
        return _refuted(claim, given, found)
    if proof.undefined:
        return Decision("unknown", "", f"not known to be defined everywhere: {proof.undefined}")
    pointless = asking == "false" and proof.table.inexact  # of what is inexact no model is a point
    if outcome == "unknown" and not pointless:
        outcome, detail = proof.run(rlimit)
        if outcome == "unsat":
            return _proved(proof, detail)
    if asking == "proved":
        return Decision("unknown", "", "only asked whether it is proved")
    if outcome == "sat" and not proof.table.inexact:
        point = proof.point()
        if point is not None and violates(claim, given, point):
            return Decision("false", "smt", told(point), point)
    tried = _Count()
    found = violation(claim, given, sampler, samples, tried)
    if found:
        return _refuted(claim, given, found)
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
    for _ in given:
        for condition in rest:
            pair = _definition(condition)
            if pair is None or bound & (pair[0].free_symbols | pair[1].free_symbols):
                continue
            name, value = pair
            rest.remove(condition)
            domain = [Gt(value, 0)] if name.is_positive else [Ge(value, 0)] if name.is_nonnegative else []
            rest = [c for c in (*(g.xreplace({name: value}) for g in rest), *domain) if c is not true]
            claim = claim.xreplace({name: value})
            break
        else:
            break
    return claim, tuple(rest)


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


# --- searching for a violation ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Count:
    tried: int = 0
    unsettled: int = 0  # the claim clearly fails, but a condition that is an equation holds up to rounding only


def violation(
    claim: Boolean, given: Sequence[Boolean], sampler: Sampler, count: int, seen: _Count | None = None
) -> Point | None:
    """An admissible point where the claim fails, confirmed exactly (or with 60 digits where exp or a root stands)."""
    arguments = sampler.variables
    ordered = isinstance(claim, Le | Lt | Ge | Gt)
    sides = [compiled(side, arguments) for side in ((claim.lts, claim.gts) if ordered else (claim,))]
    clearly = _clearly(claim, arguments)
    fails, nearly = _Checked(claim, given, arguments), _Nearly(given, arguments)
    for values in sampler.draws(str(claim)[:200], count):
        try:
            floats = [float(v) for v in values]
            if ordered:
                low, high = sides[0].float(floats), sides[1].float(floats)
                suspect = low >= high - SLACK * (abs(low) + abs(high))
            else:
                suspect = not sides[0].float(floats) or isinstance(claim, Eq | Ne)
        except (Undefined, OverflowError):
            continue
        if suspect and fails(values):
            return sampler.point(values)
        if seen is not None:
            seen.tried += 1
            seen.unsettled += suspect and clearly(floats) and nearly(values, floats)
    return None


def _clearly(claim: Boolean, arguments: Sequence[Basic]) -> Callable[[Floats], bool]:
    """Whether floats see a relation fail by more than rounding."""
    if not isinstance(claim, Le | Lt | Ge | Gt | Eq):
        return lambda floats: False
    low, high = claim.args if isinstance(claim, Eq) else (claim.lts, claim.gts)
    left, right = compiled(low, tuple(arguments)), compiled(high, tuple(arguments))

    def fails(floats: Floats) -> bool:
        a, b = left.float(floats), right.float(floats)
        return (abs(a - b) if isinstance(claim, Eq) else a - b) > CLEAR * (abs(a) + abs(b))

    return fails


def _alike(arguments: Sequence[Basic]) -> tuple[tuple[Basic, ...], Callable[[Any], Any]]:
    """The quantities that a point gives, and how formulas are written in which they are looked for.

    Equal sums look equal where constants stand before them; not where a quantity is itself a sum with constants inside.
    """
    moved = tuple(uniform(q) for q in arguments)
    whole = all(isinstance(m, Sum) for m, q in zip(moved, arguments, strict=True) if isinstance(q, Sum))
    return (moved, uniform) if whole else (tuple(arguments), lambda formula: formula)


class _Nearly:
    """Whether the conditions hold, equations among them up to rounding: a sampled point meets no irrational one."""

    def __init__(self, given: Sequence[Boolean], arguments: Sequence[Basic]) -> None:
        self._given, self._arguments = given, arguments

    @cached_property
    def _read(self) -> tuple[list[Callable[[Floats], bool]], list[_Truth]]:
        """Of equations, whether they clearly fail; of the others, whether they hold."""
        arguments, alike = _alike(self._arguments)
        equations = [_clearly(alike(g), arguments) for g in self._given if isinstance(g, Eq)]
        others = [g for g in self._given if not isinstance(g, Eq)] if equations else []
        return equations, [_truth(alike(g), arguments) for g in others]

    def __call__(self, values: Values, floats: Floats) -> bool:
        equations, others = self._read
        where = _Exactly(values)
        try:
            rest = bool(equations) and all(truth(where) is True for truth in others)
            return rest and not any(fails(floats) for fails in equations)
        except (Undefined, OverflowError):
            return False


def violates(claim: Boolean, given: Sequence[Boolean], point: Point) -> bool:
    """Whether the conditions hold and the claim fails at `point`, in exact or 60-digit arithmetic."""
    values = [fmpq(v.numerator, v.denominator) for v in point.values()]
    return _Checked(claim, given, tuple(point))(values)


class _Checked:
    """`violates` at many points of the same arguments: the claim and its conditions are read once, when needed."""

    def __init__(self, claim: Boolean, given: Sequence[Boolean], arguments: Sequence[Basic]) -> None:
        self._claim, self._given, self._arguments = claim, given, arguments
        self._domains = [_domain(q) for q in arguments]

    @cached_property
    def _alike(self) -> tuple[tuple[Basic, ...], Callable[[Any], Any]]:
        return _alike(self._arguments)

    @cached_property
    def _holds(self) -> _Truth:
        arguments, alike = self._alike
        return _truth(alike(self._claim), arguments)

    @cached_property
    def _admitted(self) -> list[_Truth]:
        arguments, alike = self._alike
        return [_truth(alike(g), arguments) for g in self._given]

    def __call__(self, values: Values) -> bool:
        if not all(inside(v) for inside, v in zip(self._domains, values, strict=True)):
            return False
        where = _Exactly(values)
        try:
            fails = self._holds(where) is False  # one formula; the conditions are many
            return fails and all(condition(where) is True for condition in self._admitted)
        except Undefined:
            return False


@lru_cache(maxsize=1024)
def _domain(q: Basic) -> Callable[[fmpq], bool]:
    """Whether a value is one that the quantity's declaration allows."""
    integer, positive = bool(q.is_integer), bool(q.is_positive)
    nonnegative, negative = bool(q.is_nonnegative), bool(q.is_negative)

    def inside(value: fmpq) -> bool:
        if (integer and value.q != 1) or (positive and value <= 0):
            return False
        return not (nonnegative and value < 0) and not (negative and value >= 0)

    return inside


class _Exactly:
    """A point in rationals and, once somebody asks, in balls of 60 digits."""

    def __init__(self, values: Values) -> None:
        self.values = values

    @cached_property
    def balls(self) -> Sequence[arb]:
        return balls(self.values)


_Truth = Callable[[_Exactly], bool | None]


def _truth(formula: Boolean, arguments: tuple[Basic, ...]) -> _Truth:
    """True, False, or None when 60 digits cannot tell."""
    if isinstance(formula, And | Or | Not | Implies):
        parts = [_truth(part, arguments) for part in formula.args]
        return lambda where: _combined(formula, [part(where) for part in parts])
    exactly = compiled(formula, arguments)
    sides = [compiled(side, arguments) for side in formula.args] if isinstance(formula, Relational) else []

    def holds(where: _Exactly) -> bool | None:
        exact = exactly.rational(where.values)
        if exact is not None:
            return bool(exact)
        if not sides:
            return None
        left, right = (side.precise_in(where.balls) for side in sides)
        if left.overlaps(right) or abs(left - right) <= ALIKE * (abs(left) + abs(right)):
            return None
        match formula:
            case Le() | Lt():
                return bool(left < right)
            case Ge() | Gt():
                return bool(left > right)
            case _:
                return isinstance(formula, Ne)

    return holds


def _combined(formula: Boolean, parts: list[bool | None]) -> bool | None:
    if isinstance(formula, Not):
        return None if parts[0] is None else not parts[0]
    if isinstance(formula, And):
        return False if False in parts else (None if None in parts else True)
    if isinstance(formula, Implies):
        parts = [None if parts[0] is None else not parts[0], parts[1]]
    return True if True in parts else (None if None in parts else False)


# --- proving ---------------------------------------------------------------------------------------------------------


class Proof:
    """The negation of a claim, with its conditions, as polynomial constraints for z3."""

    def __init__(self, claim: Boolean, given: Sequence[Boolean], bare: bool = False) -> None:
        self.table = Abstraction()
        self.table.read([claim, *given])
        self.claim = self.table.boolean(claim)
        self._claim_obligations = list(self.table.obligations)
        self.given = [self.table.boolean(g) for g in given]
        self._claim_obligations += self.table.always
        self.bare = bare
        self.undefined = ""
        self._symbols: dict[Symbol, Any] = {}
        self._terms: dict[Expr, Any] = {}
        self._signs: dict[Expr, int | None] = {}
        self._started = False

    def identity(self) -> bool:
        """Both sides of an equation are the same rational function, defined everywhere."""
        if not isinstance(self.claim, Eq):
            return False
        return vanishes(self.claim.lhs - self.claim.rhs) and self._defined()

    def plain(self) -> bool:
        """Whether it holds wherever it is defined because no term of its difference is negative."""
        if not isinstance(self.claim, Le):
            return False
        numerator, denominator = _cleared(self.claim)
        least = self._least(numerator.free_symbols | denominator.free_symbols)
        return never_negative(denominator, least) and never_negative(numerator, least)

    def _least(self, symbols: Iterable[Any]) -> dict[Symbol, Any]:
        """The least value of those that are not negative: 0, 1 of a count, or another one that a condition names."""
        least: dict[Symbol, Any] = {
            s: Integer(1 if s.is_integer and s.is_positive else 0) for s in symbols if s.is_nonnegative
        }
        for condition in self.given:
            if isinstance(condition, Le) and condition.lhs in least and condition.rhs in least:
                low, start = condition.rhs, condition.lhs
                while isinstance(start, Symbol) and start != low:
                    start = least[start]
                if start != low:
                    least[low] = condition.lhs
        return least

    def run(self, rlimit: int) -> tuple[str, str]:
        """ "unsat" (the claim is proved), "sat" or "unknown", and a remark."""
        if not self._defined():
            return "unknown", f"not known to be defined everywhere: {self.undefined}"
        outcome = self._check(self._encode(Not(self.claim)), rlimit)
        remark = f"{len(self.table.atoms)} terms taken as arbitrary reals" if self.table.atoms else ""
        return outcome, remark

    def vacuous(self) -> bool:
        """Whether the conditions alone are unsatisfiable."""
        import z3

        return self._check(z3.BoolVal(True, ctx=self._context), SIDE_RLIMIT) == "unsat"

    def point(self) -> Point | None:
        """The model of a satisfiable negation as rationals, one for every symbol or quantity."""
        import z3

        negation = self._encode(Not(self.claim))
        asked = (self._engines(negation, rlimit) for rlimit in (SIDE_RLIMIT, RLIMIT))
        solver = next((solver for outcome, solver in asked if outcome == "sat"), None)
        if solver is None:
            return None
        model = solver.model()
        point: dict[Basic, Fraction] = {}
        names: dict[Basic, Symbol] = {v: k for k, v in self.table.atoms.items()}
        for symbol, variable in self._symbols.items():
            value = model.eval(variable, model_completion=True)
            if z3.is_algebraic_value(value):
                value = value.approx(20)
            if not z3.is_rational_value(value):
                return None
            point[names.get(symbol, symbol)] = Fraction(value.numerator_as_long(), value.denominator_as_long())
        return point

    def _defined(self) -> bool:
        self._start()
        for obligation in self._claim_obligations:
            if self._check(self._encode(Not(obligation)), SIDE_RLIMIT) != "unsat":
                self.undefined = str(obligation.xreplace({v: k for k, v in self.table.atoms.items()}))
                return False
        return True

    def _start(self) -> None:
        """Domains, the axioms of the fresh reals and the conditions, in that order."""
        if self._started:
            return
        import z3

        self._started = True
        self._context = z3.Context()
        self._arithmetic = z3.Tactic("qfnra-nlsat", ctx=self._context)
        self._base: list[Any] = []
        for formula in [*self.table.axioms, *self.given, self.claim]:
            for symbol in sorted(formula.free_symbols, key=lambda s: s.sort_key()):
                self._variable(symbol)
        waiting = [*self.table.axioms, *self.given]
        for _ in range(2):  # a condition may be what keeps another's denominator away from zero
            late: list[Boolean] = []
            for formula in waiting:
                encoded = self._encode(formula, lazy=True)
                if encoded is None:
                    late.append(formula)
                else:
                    self._base.append(encoded)
            waiting = late
        self._base += [self._encode(formula, assumed=True) for formula in waiting if not formula.atoms(Not, Implies)]
        if not self.bare:
            self._powers()

    def _powers(self) -> None:
        """Signs of x**n, and order: 0 ≤ x ≤ y gives x**n ≤ y**n. (`facts.power_sign`, `facts.power_monotone`.)"""
        made = list(self.table.powers.items())
        for (base, unit), fresh in made:
            if self.proves(Lt(0, base)):
                self._base.append(self._variable(fresh) > 0)
            elif unit.is_nonnegative and self.proves(Le(0, base)):
                self._base.append(self._variable(fresh) >= 0)
        for n, ((x, unit), fresh) in enumerate(made):
            for (y, other), second in made[n + 1 :]:
                if unit != other or not unit.is_nonnegative:
                    continue
                for low, high, a, b in ((x, y, fresh, second), (y, x, second, fresh)):
                    hypothesis = And(Le(0, low, evaluate=False), Le(low, high, evaluate=False), evaluate=False)
                    self._base.append(self._encode(Implies(hypothesis, Le(a, b), evaluate=False)))

    def proves(self, condition: Boolean) -> bool:
        """Whether a side condition follows from the domains and conditions entered so far."""
        if condition in (true, false):
            return condition is true
        encoded = self._encode(Not(condition), lazy=True)
        return encoded is not None and self._check(encoded, SIDE_RLIMIT) == "unsat"

    def _check(self, formula: Any, rlimit: int) -> str:
        """Asked of z3's arithmetic alone first: that mostly suffices, and the other engines take longer to set up."""
        outcome = self._asked(self._arithmetic.solver(), formula, FIRST_RLIMIT)
        return self._engines(formula, rlimit)[0] if outcome == "unknown" else outcome

    def _engines(self, formula: Any, rlimit: int) -> tuple[str, Any]:
        """The first answer of one of them, and the solver that has the model of a "sat"."""
        import z3

        for logic in LOGICS:
            solver = z3.SolverFor(logic, ctx=self._context) if logic else z3.Solver(ctx=self._context)
            outcome = self._asked(solver, formula, rlimit)
            if outcome != "unknown":
                return outcome, solver
        return "unknown", None

    def _asked(self, solver: Any, formula: Any, rlimit: int) -> str:
        solver.set("rlimit", rlimit)
        solver.add(*self._base, formula)
        return str(solver.check())

    def _variable(self, symbol: Symbol) -> Any:
        import z3

        if symbol not in self._symbols:
            variable = z3.Real(f"{symbol.name}_{len(self._symbols)}", ctx=self._context)
            self._symbols[symbol] = variable
            least = 1 if symbol.is_integer and symbol.is_positive else 0
            if symbol.is_positive:
                self._base.append(variable >= 1 if least else variable > 0)
            elif symbol.is_nonnegative:
                self._base.append(variable >= 0)
            elif symbol.is_negative:
                self._base.append(variable < 0)
            elif symbol.is_nonpositive:
                self._base.append(variable <= 0)
        return self._symbols[symbol]

    def _encode(self, formula: Boolean, *, lazy: bool = False, assumed: bool = False) -> Any:
        """A Boolean combination of relations; None when `lazy` and a denominator's sign is not known yet."""
        import z3

        if formula in (true, false):
            return z3.BoolVal(formula is true, ctx=self._context)
        if isinstance(formula, Ge | Gt):
            formula = formula.reversed
        if isinstance(formula, Relational):
            return self._relation(formula, lazy, assumed)
        parts = [self._encode(part, lazy=lazy, assumed=assumed) for part in formula.args]
        if None in [p if p is None else 0 for p in parts]:
            return None
        match formula:
            case And():
                return z3.And(*parts)
            case Or():
                return z3.Or(*parts)
            case Not():
                return z3.Not(parts[0])
            case Implies():
                return z3.Implies(*parts)
            case _:
                raise Unsupported(f"got {formula}, expected and, or, not")

    def _relation(self, relation: Relational, lazy: bool, assumed: bool) -> Any:
        """Denominators cleared by their sign. An assumption whose denominator may vanish says nothing there."""
        import z3

        numerator, denominator = _cleared(relation)
        sign = self._sign(denominator)
        top = self._polynomial(numerator)
        if sign is None:
            if lazy:
                return None
            bottom = self._polynomial(denominator)
            meant = _compared(relation, top if isinstance(relation, Eq | Ne) else top * bottom)
            # Nothing is known at a zero denominator: as an assumption it is then dropped, as a goal it is false.
            return z3.Implies(bottom != 0, meant) if assumed else z3.And(bottom != 0, meant)
        return _compared(relation, top * sign)

    def _sign(self, denominator: Expr) -> int | None:
        """+1 or -1 when that is known everywhere."""
        if denominator.is_positive:
            return 1
        if denominator.is_negative:
            return -1
        if denominator not in self._signs:
            self._signs[denominator] = None
            coefficient, factors = factors_of(denominator)
            sign: int | None = 1 if coefficient > 0 else -1
            for factor, power in factors:
                if factor.is_positive or (power % 2 == 0 and factor.is_nonzero):
                    continue
                if factor.is_negative:
                    sign = sign if power % 2 == 0 else -sign
                    continue
                polynomial = self._polynomial(factor)
                if self._check(polynomial <= 0, SIDE_RLIMIT) == "unsat":
                    continue
                if self._check(polynomial >= 0, SIDE_RLIMIT) == "unsat":
                    sign = sign if power % 2 == 0 else -sign
                    continue
                sign = None
                break
            if sign is None:
                del self._signs[denominator]  # more may be known later
                return None
            self._signs[denominator] = sign
        return self._signs[denominator]

    def _polynomial(self, expr: Expr) -> Any:
        if expr not in self._terms:
            self._terms[expr] = self._term(expr)
        return self._terms[expr]

    def _term(self, expr: Expr) -> Any:
        import z3

        match expr:
            case Rational():
                return z3.RealVal(f"{expr.p}/{expr.q}", ctx=self._context)
            case Symbol():
                return self._variable(expr)
            case Pow() if isinstance(expr.exp, Integer) and int(expr.exp) > 0:
                base, made = self._polynomial(expr.base), None
                for _ in range(int(expr.exp)):
                    made = base if made is None else made * base
                return made
            case _ if expr.is_Add or expr.is_Mul:
                parts = [self._polynomial(part) for part in expr.args]
                made = parts[0]
                for part in parts[1:]:
                    made = made + part if expr.is_Add else made * part
                return made
            case _:
                raise Unsupported(f"got {expr}, expected a polynomial")


def _compared(relation: Relational, difference: Any) -> Any:
    """The relation, of a z3 term that is its right side minus its left side."""
    match relation:
        case Le():
            return difference >= 0
        case Lt():
            return difference > 0
        case Eq():
            return difference == 0
        case _:
            return difference != 0


@lru_cache(maxsize=16384)
def _cleared(relation: Relational) -> tuple[Expr, Expr]:
    """Numerator and denominator of the difference of its sides; the numerator up to positive factors."""
    return over_common(relation.rhs - relation.lhs)
