"""Is lhs = O(rhs) for all parameters? Sums of positive terms grow like their largest term: linear arithmetic.

With x = e^u every formula made of positive terms by +, *, rational powers, min and max is, up to constant factors, the
exponential of a piecewise linear function of u that scales with u: a sum becomes a max, a product a sum. Conditions
become linear too, again up to constants. Such a function is bounded above on such a set if and only if it is at most 0
wherever the constants are left out, and that is decided by z3; it tends to -infinity with a parameter that grows or
vanishes if and only if it is negative wherever that parameter's exponent is not 0. A difference A - B = P > 0 enters as
a parameter P of its own with A = B + P; what is not understood (a power with a symbolic exponent) as a free positive
parameter.
"""

# sympy is annotated only in part, z3 hardly at all (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from typing import Any

from sympy import Add, Basic, Eq, Expr, Ge, Gt, Le, Lt, Max, Min, Mul, Pow, Rational, Symbol, erf, factor
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, false, true

from .decide import RLIMIT, Decision, proved
from .sampling import conjuncts
from .statement import Statement


class Unclear(Exception):
    """A formula whose growth is not that of positive terms."""


class MayVanish(Exception):
    """A difference that is at least 0: the two cases have to be looked at one by one."""

    def __init__(self, difference: Expr) -> None:
        super().__init__(str(difference))
        self.difference = difference


def _context() -> Any:
    import z3

    return z3.Context()


@dataclass(slots=True)
class Exponents:
    """Formulas as piecewise linear functions of the parameters' exponents, and what is known about those."""

    given: tuple[Boolean, ...]
    fixed: frozenset[Symbol]
    positive: tuple[Expr, ...] = ()  # differences taken to be positive in this case
    names: dict[Basic, Any] = field(default_factory=dict[Basic, Any])
    known: list[Any] = field(default_factory=list[Any])
    context: Any = field(default_factory=_context)  # of its own: what z3 finds does not depend on what it did before

    def of(self, expr: Any) -> Any:
        """The exponent of `expr`, a z3 term."""
        import z3

        if isinstance(expr, Rational):
            if expr <= 0:
                raise Unclear(f"{expr} is not positive")
            return z3.RealVal(0, ctx=self.context)
        if isinstance(expr, Symbol):
            return self._symbol(expr)
        if isinstance(expr, Mul):
            return self._product(expr)
        if isinstance(expr, Pow) and isinstance(expr.exp, Rational):
            base = expr.base
            if expr.exp.p % 2 == 0 and self._proved(Lt(base, 0)):
                base = -base
            return z3.RealVal(str(expr.exp), ctx=self.context) * self.of(base)
        if isinstance(expr, Max | Min):
            return reduce(_greater if isinstance(expr, Max) else _lesser, (self.of(arg) for arg in expr.args))
        if isinstance(expr, Add):
            return self._sum(expr)
        if isinstance(expr, erf):  # between two multiples of min(1, x), for x >= 0
            return _lesser(z3.RealVal(0, ctx=self.context), self.of(expr.args[0]))
        return self._parameter(expr)

    def _symbol(self, symbol: Symbol) -> Any:
        import z3

        if symbol in self.fixed:
            return z3.RealVal(0, ctx=self.context)
        if symbol not in self.names:
            if not symbol.is_nonnegative:
                raise Unclear(f"{symbol} may be negative")
            self.names[symbol] = z3.Real(symbol.name, ctx=self.context)
            if symbol.is_integer and symbol.is_positive:
                self.known.append(self.names[symbol] >= 0)
        return self.names[symbol]

    def _product(self, expr: Any) -> Any:
        """Two factors that are negative make a positive one."""
        signed = [(arg, isinstance(arg, Add | Rational) and self._proved(Lt(arg, 0))) for arg in expr.args]
        if sum(negative for _, negative in signed) % 2:
            raise Unclear(f"{expr} is not positive")
        return reduce(lambda a, b: a + b, (self.of(-arg if negative else arg) for arg, negative in signed))

    def _sum(self, expr: Any) -> Any:
        import z3

        negative = [a for a in expr.args if a.as_coeff_Mul()[0] < 0]
        if not negative:
            return reduce(_greater, (self.of(arg) for arg in expr.args))
        if not expr.free_symbols - self.fixed and self._proved(Gt(expr, 0)):
            return z3.RealVal(0, ctx=self.context)
        factored = _factored(expr)
        if not isinstance(factored, Add):
            return self.of(factored)
        if expr in self.names:
            return self.names[expr]
        made = self._parameter(expr)
        whole = [self.of(a) for a in expr.args if a not in negative]
        if not whole:
            raise Unclear(f"{expr} is not positive")
        parts = [self.of(-a) for a in negative]
        self.known.append(reduce(_greater, whole) == reduce(_greater, [made, *parts]))
        return made

    def _parameter(self, expr: Any) -> Any:
        """A positive parameter of its own."""
        import z3

        if expr not in self.names:
            if expr not in self.positive and not self._proved(Gt(expr, 0)):
                if self._proved(Ge(expr, 0)):
                    raise MayVanish(expr)
                raise Unclear(f"{expr} is not known to be positive")
            self.names[expr] = z3.Real(f"part {len(self.names)}", ctx=self.context)
        return self.names[expr]

    def _proved(self, claim: Any) -> bool:
        return proved(claim, self.given) if isinstance(claim, Relational) else bool(claim)


@lru_cache(maxsize=1024)
def _factored(expr: Any) -> Any:
    return factor(expr)


def _greater(a: Any, b: Any) -> Any:
    import z3

    return z3.If(a >= b, a, b)


def _lesser(a: Any, b: Any) -> Any:
    import z3

    return z3.If(a <= b, a, b)


def dominance(statement: Statement) -> list[Decision]:
    """One decision a relation of an `order` statement: "true" is a proof, "unknown" says why there is none."""
    return [_decide(statement, statement.defined(r)) for r in statement.relations]


def _decide(statement: Statement, relation: Any) -> Decision:
    sides = {Le: [(0, 1)], Ge: [(1, 0)], Eq: [(0, 1), (1, 0)], Lt: [(0, 1)], Gt: [(1, 0)]}.get(type(relation))
    if sides is None:
        return Decision("unknown", "", "got no order of growth")
    strict = isinstance(relation, Lt | Gt)
    given = tuple(conjuncts(*(statement.defined(c) for c in statement.when)))
    touched = {s for c in given for s in c.free_symbols}
    zeros = [s for s in sorted(relation.free_symbols | touched, key=str) if not s.is_positive]
    if strict and zeros:
        return Decision("unknown", "", f"o and omega are decided for positive parameters, and {zeros[0]} may be 0")
    zeros = [s for s in zeros if s in touched or any(_falls(side, s) for side in relation.args)]
    for chosen in product((False, True), repeat=len(zeros)):  # elsewhere both sides are continuous, and 0 is a limit
        values = {s: 0 if zero else _positive(s) for s, zero in zip(zeros, chosen, strict=True)}
        conditions = [c.subs(values) for c in given]
        if false in conditions:
            continue
        for low, high in sides:
            small, large = (relation.args[n].subs(values) for n in (low, high))
            made = _bounded(statement, small, large, [c for c in conditions if c is not true], (), strict)
            if made.status != "true":
                return made
    return Decision("true", "smt", "every term is dominated, for all parameters that the conditions allow")


def escape(lhs: Any, rhs: Any, given: Sequence[Boolean]) -> dict[Basic, Fraction] | None:
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


def _limit(solver: Any, exponents: Exponents, given: Sequence[Boolean]) -> None:
    """What the conditions say about the exponents, where it is understood."""
    for condition in (c for c in given if isinstance(c, Le | Lt | Eq)):
        try:
            small, large = (exponents.of(side) for side in condition.args)
            solver.add(small == large if isinstance(condition, Eq) else small <= large)
        except (Unclear, MayVanish):
            continue  # without it more is to be shown
    solver.add(*exponents.known)


def _positive(symbol: Symbol) -> Symbol:
    return Symbol(symbol.name, positive=True, integer=symbol.is_integer)


def _falls(side: Any, symbol: Symbol) -> bool:
    """Whether `side` may be unbounded as `symbol` tends to 0."""
    return any(p.base.has(symbol) and not (p.exp.is_positive and p.exp.is_number) for p in side.atoms(Pow))


def _bounded(
    statement: Statement,
    lhs: Any,
    rhs: Any,
    given: Sequence[Boolean],
    positive: tuple[Any, ...],
    strict: bool = False,
) -> Decision:
    import z3

    if lhs == 0:
        return Decision("true", "identity", "0 is dominated")
    named: dict[str, tuple[Symbol, ...]] = {}
    for made in (*statement.let, *statement.implicit):  # both may name constants
        named[made.name] = (*named.get(made.name, ()), *made.args)
    exponents = Exponents(tuple(given), frozenset(named.get("fixed", ())), positive)
    solver = z3.Solver(ctx=exponents.context)
    solver.set("rlimit", RLIMIT)
    try:
        small, large = exponents.of(lhs), exponents.of(rhs)
        solver.add(small >= large if strict else small > large)
        for s in (*named.get("grows", ()), *named.get("vanishes", ())):
            u = exponents.of(s) if s in named.get("grows", ()) else -exponents.of(s)
            solver.add(u > 0 if strict else u >= 0)
    except Unclear as error:
        return Decision("unknown", "", str(error))
    except MayVanish as error:
        small, large = (side.subs(error.difference, 0) for side in (lhs, rhs))
        without = _bounded(statement, small, large, given, positive, strict)
        if without.status != "true":
            return without
        return _bounded(statement, lhs, rhs, given, (*positive, error.difference), strict)
    _limit(solver, exponents, given)
    outcome = str(solver.check())
    if outcome == "unsat":
        return Decision("true", "smt", "every term is dominated")
    if outcome == "unknown":
        return Decision("unknown", "", "z3 gave up")
    model = solver.model()
    path = ", ".join(f"{s} ~ n^({model.eval(u, model_completion=True)})" for s, u in exponents.names.items())
    return Decision("unknown", "", f"not dominated, if such a path is allowed, along {path}")
