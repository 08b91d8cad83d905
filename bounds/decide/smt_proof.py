"""A claim and its conditions as polynomial constraints, and z3's answer to whether the claim can fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, overload

from sympy import (
    Basic,
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
    Symbol,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, Implies, Not, Or, false, true

from ..formulas.evaluator import Point
from .rational_functions import factors_of, never_negative, over_common, vanishes
from .smt_encoding import Abstraction, Unsupported

if TYPE_CHECKING:
    import z3

RLIMIT = 1_000_000  # z3's own count of work, so that a verdict does not depend on the machine


SIDE_RLIMIT = 300_000  # of a first attempt, and of questions on the side such as whether the conditions can hold


FIRST_RLIMIT = 30_000  # of the engine that is asked first; what it leaves open the others decide


LOGICS = ("QF_NRA", "")  # whose engines are asked; the last is z3's default


class Proof:
    """The negation of a claim, with its conditions, as polynomial constraints for z3."""

    def __init__(self, claim: Boolean, given: Sequence[Boolean], bare: bool = False) -> None:
        self.table = Abstraction()
        self.table.read([claim, *given])
        self.claim = self.table.boolean(claim)
        # Of the claim alone: a condition without a value does not hold, so that nothing has to be shown there.
        self._claim_obligations = list(self.table.obligations)
        self.given = [self.table.boolean(g) for g in given]
        self._claim_obligations += self.table.always
        self.bare = bare
        self.undefined = ""
        self._symbols: dict[Symbol, z3.ArithRef] = {}
        self._terms: dict[Expr, z3.ArithRef] = {}
        self._signs: dict[Expr, int | None] = {}
        self._started = False

    def identity(self) -> bool:
        """Both sides of an equation are the same rational function, defined everywhere."""
        if not isinstance(self.claim, Eq):
            return False
        return vanishes(self.claim.lhs - self.claim.rhs) and self._defined()

    def plain(self) -> bool:
        """Whether the claim holds wherever it is defined because no term of the difference of its sides is negative."""
        if not isinstance(self.claim, Le):
            return False
        numerator, denominator = _cleared(self.claim)
        least = self._least(numerator.free_symbols | denominator.free_symbols)
        return never_negative(denominator, least) and never_negative(numerator, least)

    def _least(self, symbols: Iterable[Symbol]) -> dict[Expr, Expr]:
        """The least value of each symbol that is not negative: 0, 1 for a count, or another symbol by a condition."""
        least: dict[Expr, Expr] = {
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
        # Of the engines, never of the arithmetic that is asked first: its model may be another counterexample.
        asked = (self._engines(negation, rlimit) for rlimit in (SIDE_RLIMIT, RLIMIT))
        solver = next((solver for outcome, solver in asked if outcome == "sat"), None)
        if solver is None:
            return None
        model = solver.model()
        point: dict[Basic, Fraction] = {}
        names = {v: k for k, v in self.table.atoms.items()}
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
        # A context of its own, so that an answer does not depend on what z3 was asked before.
        self._context = z3.Context()
        self._arithmetic = z3.Tactic("qfnra-nlsat", ctx=self._context)
        self._base: list[z3.BoolRef] = []
        for formula in [*self.table.axioms, *self.given, self.claim]:
            # Sets have no order, and what z3 finds within its limit of work depends on the order of the variables.
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
        # Not below Not or Implies: there an assumption that says nothing at a zero denominator would say too much.
        self._base += [self._encode(formula, assumed=True) for formula in waiting if not formula.atoms(Not, Implies)]
        if not self.bare:
            self._powers()

    def _powers(self) -> None:
        """Signs of x**n, and order: 0 ≤ x ≤ y gives x**n ≤ y**n. (`facts.power_sign`, `facts.power_monotone`.)"""
        powers = list(self.table.powers.items())
        for (base, unit), fresh in powers:
            if self.proves(Lt(0, base)):
                self._base.append(self._variable(fresh) > 0)
            elif unit.is_nonnegative and self.proves(Le(0, base)):
                self._base.append(self._variable(fresh) >= 0)
        for n, ((x, unit), fresh) in enumerate(powers):
            for (y, other), second in powers[n + 1 :]:
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

    def _check(self, formula: z3.BoolRef, rlimit: int) -> str:
        """z3's answer: of its arithmetic alone, which mostly suffices, or of its engines, which take longer."""
        outcome = self._asked(self._arithmetic.solver(), formula, FIRST_RLIMIT)
        return self._engines(formula, rlimit)[0] if outcome == "unknown" else outcome

    def _engines(self, formula: z3.BoolRef, rlimit: int) -> tuple[str, z3.Solver | None]:
        """The first answer that an engine of `LOGICS` has, and its solver, which has the model of a "sat"."""
        import z3

        for logic in LOGICS:
            solver = z3.SolverFor(logic, ctx=self._context) if logic else z3.Solver(ctx=self._context)
            outcome = self._asked(solver, formula, rlimit)
            if outcome != "unknown":
                return outcome, solver
        return "unknown", None

    def _asked(self, solver: z3.Solver, formula: z3.BoolRef, rlimit: int) -> str:
        solver.set("rlimit", rlimit)
        solver.add(*self._base, formula)
        return str(solver.check())

    def _variable(self, symbol: Symbol) -> z3.ArithRef:
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

    @overload
    def _encode(self, formula: Boolean, *, assumed: bool = False) -> z3.BoolRef: ...
    @overload
    def _encode(self, formula: Boolean, *, lazy: bool, assumed: bool = False) -> z3.BoolRef | None: ...
    def _encode(self, formula: Boolean, *, lazy: bool = False, assumed: bool = False) -> z3.BoolRef | None:
        """A Boolean combination of relations; None when `lazy` and a denominator's sign is not known yet."""
        import z3

        if formula in (true, false):
            return z3.BoolVal(formula is true, ctx=self._context)
        if isinstance(formula, Ge | Gt):
            formula = formula.reversed
        if isinstance(formula, Relational):
            return self._relation(formula, lazy, assumed)
        encoded = [self._encode(part, lazy=lazy, assumed=assumed) for part in formula.args]
        parts = [part for part in encoded if part is not None]
        if len(parts) < len(encoded):
            return None
        match formula:
            case And():
                return z3.And(*parts)
            case Or():
                return z3.Or(*parts)
            case Not():
                return z3.Not(parts[0])
            case Implies():
                return z3.Implies(parts[0], parts[1])
            case _:
                raise Unsupported(f"got {formula}, expected and, or, not")

    def _relation(self, relation: Relational, lazy: bool, assumed: bool) -> z3.BoolRef | None:
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

    def _polynomial(self, expr: Expr) -> z3.ArithRef:
        if expr not in self._terms:
            self._terms[expr] = self._term(expr)
        return self._terms[expr]

    def _term(self, expr: Expr) -> z3.ArithRef:
        import z3

        match expr:
            case Rational():
                return z3.RealVal(f"{expr.p}/{expr.q}", ctx=self._context)
            case Symbol():
                return self._variable(expr)
            case Pow() if isinstance(expr.exp, Integer) and int(expr.exp) > 0:
                base = term = self._polynomial(expr.base)
                for _ in range(int(expr.exp) - 1):
                    term = term * base
                return term
            case _ if expr.is_Add or expr.is_Mul:
                parts = [self._polynomial(part) for part in expr.args]
                term = parts[0]
                for part in parts[1:]:
                    term = term + part if expr.is_Add else term * part
                return term
            case _:
                raise Unsupported(f"got {expr}, expected a polynomial")


def _compared(relation: Relational, difference: z3.ArithRef) -> z3.BoolRef:
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
