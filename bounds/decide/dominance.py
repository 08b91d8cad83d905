"""Is lhs = O(rhs) for all parameters? Sums of positive terms grow like their largest term: linear arithmetic.

With x = e^u every formula made of positive terms by +, *, rational powers, min and max is, up to constant factors, the
exponential of a piecewise linear function of u that scales with u: a sum becomes a max, a product a sum. Conditions
become linear too, again up to constants. Such a function is bounded above on such a set if and only if it is at most 0
wherever the constants are left out, and that is decided by z3; it tends to -infinity with a parameter that grows or
vanishes if and only if it is negative wherever that parameter's exponent is not 0. A difference A - B = P > 0 enters as
a parameter P of its own with A = B + P; what is not understood (a power with a symbolic exponent) as a free positive
parameter.

All this is about positive parameters. One that may be 0 or negative is looked at in cases, one for each sign. The case
0 is left out only where it is a limit of the others: both sides continuous, no condition about the parameter, and the
parameter not `fixed`. The constant of O may depend on a fixed parameter, and so says nothing about its value 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from sympy import (
    Add,
    Basic,
    Eq,
    Expr,
    Ge,
    Gt,
    Integer,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Not,
    Pow,
    Rational,
    Symbol,
    erf,
    factor,
    log,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, false, true

from ..formulas.lowering import NO_NUMBERS
from ..language.statement import Statement
from .decision import RLIMIT, Decision, proved
from .sample_points import conjuncts

if TYPE_CHECKING:
    import z3

MOST_CASES = 512  # signs of parameters that may be 0 or negative
Role = Literal["fixed", "grows", "vanishes"]


@dataclass(frozen=True, slots=True)
class Roles:
    """What an order claim says of its parameters: constants of O, those that tend to infinity, those that tend to 0."""

    fixed: frozenset[Symbol] = frozenset()
    grows: tuple[Symbol, ...] = ()
    vanishes: tuple[Symbol, ...] = ()

    @staticmethod
    def of(statement: Statement) -> Roles:
        def named(role: Role) -> tuple[Symbol, ...]:
            assumptions = (*statement.let, *statement.implicit)  # both may name constants
            return tuple(s for assumption in assumptions if assumption.name == role for s in assumption.args)

        return Roles(frozenset(named("fixed")), named("grows"), named("vanishes"))

    def positive(self, values: Mapping[Symbol, Expr]) -> Roles:
        """The roles of the positive symbols that stand in `values` for these; 0 has no role."""

        def renamed(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
            return tuple(r for s in symbols for r in (values[s].free_symbols if s in values else {s}))

        return Roles(frozenset(renamed(self.fixed)), renamed(self.grows), renamed(self.vanishes))

    def signs(self, symbol: Symbol) -> tuple[Expr, ...]:
        """What a parameter may be: positive, minus a positive number, 0. What moves is not 0."""
        positive = _positive(symbol)
        negative = () if symbol.is_nonnegative or symbol in self.grows else (-positive,)
        zero = () if symbol.is_positive or symbol in (*self.grows, *self.vanishes) else (Integer(0),)
        return (*zero, positive, *negative)


class Unclear(Exception):
    """A formula whose growth is not that of positive terms."""


class MayVanish(Exception):
    """A difference that is at least 0: the two cases have to be looked at one by one."""

    def __init__(self, difference: Expr) -> None:
        super().__init__(str(difference))
        self.difference = difference


def _context() -> z3.Context:
    import z3

    return z3.Context()


@dataclass(slots=True)
class Exponents:
    """Formulas as piecewise linear functions of the parameters' exponents, and what is known about those."""

    given: tuple[Boolean, ...]
    fixed: frozenset[Symbol]
    positive: tuple[Expr, ...] = ()  # differences taken to be positive in this case
    names: dict[Basic, z3.ArithRef] = field(default_factory=dict[Basic, "z3.ArithRef"])
    relations: list[z3.BoolRef] = field(default_factory=list["z3.BoolRef"])
    context: z3.Context = field(
        default_factory=_context
    )  # of its own: what z3 finds does not depend on what it did before

    def of(self, expr: Expr) -> z3.ArithRef:
        """The exponent of `expr`, a z3 term."""
        import z3

        if isinstance(expr, Rational):
            if expr <= 0:
                raise Unclear(f"{expr} is not positive")
            return z3.RealVal(0, ctx=self.context)
        if isinstance(expr, Symbol):
            return self._symbol(expr)
        if expr.has(*NO_NUMBERS):
            raise Unclear(f"{expr} is no real number")
        if expr.is_number and expr.is_positive:
            return z3.RealVal(0, ctx=self.context)
        if isinstance(expr, Mul):
            return self._product(expr)
        if isinstance(expr, Pow) and isinstance(expr.exp, Rational):
            base = expr.base
            if expr.exp.q == 1 and expr.exp.p % 2 == 0 and self._proved(Lt, base):
                base = -base
            return z3.RealVal(str(expr.exp), ctx=self.context) * self.of(base)
        if isinstance(expr, Max | Min):
            return reduce(_greater if isinstance(expr, Max) else _lesser, (self.of(arg) for arg in expr.args))
        if isinstance(expr, Add):
            return self._sum(expr)
        if isinstance(expr, erf):  # between two multiples of min(1, x), for x >= 0
            return _lesser(z3.RealVal(0, ctx=self.context), self.of(expr.args[0]))
        return self._parameter(expr)

    def _symbol(self, symbol: Symbol) -> z3.ArithRef:
        import z3

        if symbol in self.fixed:
            if not symbol.is_positive:
                raise Unclear(f"{symbol} may be 0, which is no constant factor")
            return z3.RealVal(0, ctx=self.context)
        if symbol not in self.names:
            if not symbol.is_nonnegative:
                raise Unclear(f"{symbol} may be negative")
            self.names[symbol] = z3.Real(symbol.name, ctx=self.context)
            if symbol.is_integer and symbol.is_positive:
                self.relations.append(self.names[symbol] >= 0)
        return self.names[symbol]

    def _product(self, expr: Mul) -> z3.ArithRef:
        """Two factors that are negative make a positive one."""
        signed = [(arg, isinstance(arg, Add | Rational) and self._proved(Lt, arg)) for arg in expr.args]
        if sum(negative for _, negative in signed) % 2:
            raise Unclear(f"{expr} is not positive")
        return reduce(lambda a, b: a + b, (self.of(-arg if negative else arg) for arg, negative in signed))

    def _sum(self, expr: Add) -> z3.ArithRef:
        import z3

        negative = [a for a in expr.args if a.as_coeff_Mul()[0] < 0]
        if not negative:
            return reduce(_greater, (self.of(arg) for arg in expr.args))
        # A positive difference of fixed parameters is a constant factor of O.
        if not expr.free_symbols - self.fixed and self._proved(Gt, expr):
            return z3.RealVal(0, ctx=self.context)
        factored = _factored(expr)
        if not isinstance(factored, Add):
            return self.of(factored)
        if expr in self.names:
            return self.names[expr]
        parameter = self._parameter(expr)
        whole = [self.of(a) for a in expr.args if a not in negative]
        if not whole:
            raise Unclear(f"{expr} is not positive")
        parts = [self.of(-a) for a in negative]
        self.relations.append(reduce(_greater, whole) == reduce(_greater, [parameter, *parts]))
        return parameter

    def _parameter(self, expr: Expr) -> z3.ArithRef:
        """A positive parameter of its own."""
        import z3

        if expr not in self.names:
            if expr not in self.positive and not self._proved(Gt, expr):
                if self._proved(Ge, expr):
                    raise MayVanish(expr)
                raise Unclear(f"{expr} is not known to be positive")
            self.names[expr] = z3.Real(f"part {len(self.names)}", ctx=self.context)
        return self.names[expr]

    def _proved(self, relation: type[Lt | Gt | Ge], expr: Expr) -> bool:
        """Whether the expression is in this relation to 0."""
        if expr.is_extended_real is False:
            raise Unclear(f"{expr} is no real number")
        claim = relation(expr, 0)
        return proved(claim, self.given) if isinstance(claim, Relational) else bool(claim)


@lru_cache(maxsize=1024)
def _factored(expr: Expr) -> Expr:
    return factor(expr)


def _greater(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    import z3

    return z3.If(a >= b, a, b)


def _lesser(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    import z3

    return z3.If(a <= b, a, b)


def dominance(statement: Statement) -> list[Decision]:
    """One decision a relation of an `order` statement: "true" is a proof, "unknown" says why there is none."""
    return [_decide(statement, statement.defined(r)) for r in statement.relations]


def _decide(statement: Statement, relation: Relational) -> Decision:
    kind: Any = type(relation)
    sides = {Le: [(0, 1)], Ge: [(1, 0)], Eq: [(0, 1), (1, 0)], Lt: [(0, 1)], Gt: [(1, 0)]}.get(kind)
    if sides is None:
        return Decision("unknown", "", "got no order of growth")
    roles, strict = Roles.of(statement), isinstance(relation, Lt | Gt)
    premises = tuple(conjuncts(*(statement.defined(c) for c in statement.when)))
    if any(proved(Not(c), [other for other in premises if other != c]) for c in premises):
        return Decision("unknown", "", "no parameters meet the conditions")
    touched = {s for c in premises for s in c.free_symbols}
    signed = [s for s in sorted(relation.free_symbols | touched, key=str) if not s.is_positive]
    if strict and signed:
        return Decision("unknown", "", f"o and omega are decided for positive parameters, and {signed[0]} may be 0")
    apart = touched | roles.fixed  # of which 0 is no limit; of the others it is where both sides are continuous
    signed = [s for s in signed if s in apart or not s.is_nonnegative or any(_falls(side, s) for side in relation.args)]
    try:
        cases = list(_cases(roles, signed, premises))
        for values, conditions in cases:
            for low, high in sides:
                small, large = (_at(relation.args[n], values) for n in (low, high))
                decision = _bounded(roles.positive(values), small, large, conditions, (), strict)
                if decision.status != "true":
                    return decision
    except Unclear as error:
        return Decision("unknown", "", str(error))
    if not cases:
        return Decision("unknown", "", "no parameters meet the conditions")
    return Decision("true", "smt", "every term is dominated, for all parameters that the conditions allow")


def _cases(
    roles: Roles, signed: Sequence[Symbol], given: Sequence[Boolean]
) -> Iterator[tuple[dict[Symbol, Expr], list[Boolean]]]:
    """The signs that these parameters may have under the conditions, as values, with the conditions at those."""
    options = [roles.signs(s) for s in signed]
    if prod(map(len, options)) > MOST_CASES:
        raise Unclear(f"{len(signed)} parameters may be 0 or negative: too many cases")
    for chosen in product(*options):
        values = dict(zip(signed, chosen, strict=True))
        conditions = [_at(c, values) for c in given]
        if false not in conditions:
            yield values, [c for c in conditions if c is not true]


def _at(formula: Basic, values: Mapping[Symbol, Expr]) -> Any:
    """The formula at these values; a relation or a maximum of what is no number makes sympy raise."""
    try:
        return formula.subs(values)
    except (TypeError, ValueError):
        zeros = ", ".join(f"{s} = 0" for s, value in values.items() if value == 0)
        raise Unclear(f"{formula} has no value at {zeros}") from None


def unmoved(statement: Statement) -> list[tuple[tuple[Symbol, ...], tuple[Boolean, ...]]]:
    """Parameters that are said to grow or vanish and cannot, with the conditions that it takes to see that.

    Where the exponent of a parameter is at most 0 wherever the constants of the conditions are left out, the parameter
    is bounded.
    """
    roles = Roles.of(statement)
    moving = tuple(dict.fromkeys((*roles.grows, *roles.vanishes)))
    conditions = [c for c in conjuncts(*(statement.defined(c) for c in statement.when)) if moving]
    for symbols in (*((s,) for s in moving), moving):  # each alone, then all together
        held = tuple(conditions)
        if symbols and not _may_move(roles, symbols, held):
            for condition in conditions:
                fewer = tuple(c for c in held if c != condition)
                held = held if _may_move(roles, symbols, fewer) else fewer
            return [(symbols, held)]
    return []


def _may_move(roles: Roles, symbols: Sequence[Symbol], given: Sequence[Boolean]) -> bool:
    """Whether the conditions, as far as they are understood, leave a path along which these parameters move."""
    touched: set[Symbol] = {s for c in given for s in c.free_symbols if not s.is_positive}
    signed = sorted(touched | set(symbols), key=str)
    try:
        return any(
            _path(roles.positive(case), symbols, case, conditions) for case, conditions in _cases(roles, signed, given)
        )
    except Unclear:
        # What is not understood may move: only what surely cannot is a slip.
        return True


def _path(roles: Roles, symbols: Sequence[Symbol], case: Mapping[Symbol, Expr], given: Sequence[Boolean]) -> bool:
    import z3

    exponents = Exponents(tuple(given), roles.fixed)
    solver = z3.Solver(ctx=exponents.context)
    solver.set("rlimit", RLIMIT)
    for s in (r for symbol in symbols for r in case[symbol].free_symbols):
        solver.add(exponents.of(s) > 0 if s in roles.grows else exponents.of(s) < 0)
    _limit(solver, exponents, given)
    return str(solver.check()) != "unsat"


def escape(lhs: Expr, rhs: Expr, given: Sequence[Boolean]) -> dict[Basic, Fraction] | None:
    """Powers of n for the parameters along which lhs/rhs may be unbounded, or None; only a proposal, to be tried."""
    import z3

    exponents = Exponents(tuple(given), frozenset())
    solver = z3.Solver(ctx=exponents.context)
    solver.set("rlimit", RLIMIT)
    try:
        solver.add(exponents.of(lhs) > exponents.of(rhs))
    except (Unclear, MayVanish):
        return None
    _limit(solver, exponents, given)
    if str(solver.check()) != "sat":
        return None
    model = solver.model()
    return {s: Fraction(str(model.eval(u, model_completion=True))) for s, u in exponents.names.items()}


def _limit(solver: z3.Solver, exponents: Exponents, given: Sequence[Boolean]) -> None:
    """What the conditions say about the exponents, where it is understood."""
    for condition in (c for c in given if isinstance(c, Le | Lt | Eq)):
        try:
            small, large = (exponents.of(side) for side in condition.args)
            solver.add(small == large if isinstance(condition, Eq) else small <= large)
        except (Unclear, MayVanish):
            continue  # without it more is to be shown
    solver.add(*exponents.relations)


def _moving(exponents: Exponents, roles: Roles) -> Iterator[z3.ArithRef]:
    """The exponents of all that moves, up or down, each with the sign that it tends to infinity with."""
    yield from (exponents.of(s) for s in roles.grows)
    yield from (-exponents.of(s) for s in roles.vanishes)


def _positive(symbol: Symbol) -> Symbol:
    return Symbol(symbol.name, positive=True, integer=symbol.is_integer)


def _falls(side: Expr, symbol: Symbol) -> bool:
    """Whether `side` may be unbounded as `symbol` tends to 0."""
    powers = any(p.base.has(symbol) and not (p.exp.is_positive and p.exp.is_number) for p in side.atoms(Pow))
    return powers or any(part.has(symbol) for part in side.atoms(log))


def _bounded(
    roles: Roles,
    lhs: Expr,
    rhs: Expr,
    given: Sequence[Boolean],
    positive: tuple[Expr, ...],
    strict: bool = False,
) -> Decision:
    import z3

    if lhs == 0:
        return Decision("true", "identity", "0 is dominated")
    exponents = Exponents(tuple(given), roles.fixed, positive)
    solver = z3.Solver(ctx=exponents.context)
    solver.set("rlimit", RLIMIT)
    try:
        small, large = exponents.of(lhs), exponents.of(rhs)
        solver.add(small >= large if strict else small > large)
        for u in _moving(exponents, roles):
            solver.add(u > 0 if strict else u >= 0)
    except Unclear as error:
        return Decision("unknown", "", str(error))
    except MayVanish as error:
        small, large = (side.subs(error.difference, 0) for side in (lhs, rhs))
        if (small, large) == (lhs, rhs):
            return Decision("unknown", "", f"{error.difference} may be 0")
        without = _bounded(roles, small, large, given, positive, strict)
        if without.status != "true":
            return without
        return _bounded(roles, lhs, rhs, given, (*positive, error.difference), strict)
    _limit(solver, exponents, given)
    outcome = str(solver.check())
    if outcome == "unsat":
        return Decision("true", "smt", "every term is dominated")
    if outcome == "unknown":
        return Decision("unknown", "", "z3 gave up")
    model = solver.model()
    path = ", ".join(f"{s} ~ n^({model.eval(u, model_completion=True)})" for s, u in exponents.names.items())
    return Decision("unknown", "", f"not dominated, if such a path is allowed, along {path}")
