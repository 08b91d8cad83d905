"""Formulas over the reals as formulas about polynomials: what is not a polynomial becomes a fresh real with axioms.

x**n with a symbolic exponent, exp, log, sums, gap(t), p[i], min, max and roots are replaced consistently, so that
x**(n + 1) and x * x**n are the same polynomial. Replacing forgets facts, never adds any: whatever is proved about the
fresh reals holds for the terms they stand for, as long as the `obligations` (a denominator is not zero, a power is a
real number) hold too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from math import floor, gcd, lcm
from typing import Any, cast

from sympy import (
    Abs,
    Add,
    Basic,
    Dummy,
    E,
    Eq,
    Expr,
    Ge,
    Gt,
    Indexed,
    Integer,
    Le,
    Lt,
    Max,
    Min,
    Mul,
    Ne,
    Number,
    Pow,
    Rational,
    S,
    Sum,
    Symbol,
    exp,
    expand,
    log,
)  # fmt: skip
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, Boolean, BooleanFalse, BooleanTrue, Implies, Not, Or, false, true

from .rational_functions import cancelled

LARGEST_ROOT = 4  # beyond that a root is any positive real: its polynomial would be too long to be of use
LARGEST_COMMON = 6  # sqrt(x), x**(1/3) and x**(1/6) are powers of one root


class Unsupported(TypeError):
    """A formula outside the language: complex symbols, piecewise definitions, infinities."""


@dataclass(slots=True)
class Abstraction:
    """One table of fresh reals for a claim and everything it is decided from."""

    atoms: dict[Expr, Symbol] = field(default_factory=dict[Expr, Symbol])
    axioms: list[Boolean] = field(default_factory=list[Boolean])
    obligations: dict[Boolean, None] = field(default_factory=dict[Boolean, None])  # ordered
    always: list[Boolean] = field(default_factory=list[Boolean])  # obligations of the table itself
    inexact: bool = False  # an atom stands for something whose value is tied to the other variables
    powers: dict[tuple[Expr, Expr], Symbol] = field(default_factory=dict[tuple[Expr, Expr], Symbol])
    _shift: dict[tuple[Expr, Expr], int] = field(default_factory=dict[tuple[Expr, Expr], int])
    _degrees: dict[Expr, set[int]] = field(default_factory=dict[Expr, set[int]])  # of the roots of one base

    def read(self, formulas: Iterable[Basic]) -> None:
        """Look at every power first: x**(n - 1) and x**n share one atom, the one with the smaller exponent."""
        for formula in formulas:
            for power in formula.atoms(Pow):
                unit, multiple, offset = exponent(power.exp)
                if unit is not None and multiple > 0 and multiple.is_integer and offset.is_integer:
                    key = (cancelled(power.base), unit)
                    shift = floor(Rational(offset, multiple))
                    self._shift[key] = min(self._shift.get(key, 0), shift)
                elif isinstance(power.exp, Rational) and not power.exp.is_Integer:
                    self._degrees.setdefault(cancelled(power.base), set()).add(int(power.exp.q))

    def _degree(self, base: Expr, power: Rational) -> int | None:
        """The root of the base that this is a power of; None if no root is of use."""
        degrees = self._degrees.get(cancelled(base), set())
        common = lcm(*degrees)
        if len(degrees) > 1 and common <= LARGEST_COMMON and common % int(power.q) == 0:
            return common
        return int(power.q) if power.q <= LARGEST_ROOT else None

    def boolean(self, formula: Basic) -> Boolean:
        match formula:
            case BooleanTrue() | BooleanFalse():
                return formula
            case And() | Or() | Not() | Implies():
                return formula.func(*(self.boolean(part) for part in formula.args))
            case Ge() | Gt():
                return self.boolean(formula.reversed)
            case Le() | Lt():
                return self._order(formula)
            case Eq() | Ne():
                left, right = (self.term(_expr(side)) for side in formula.args)
                return formula.func(left, right, evaluate=False)
            case _:
                raise Unsupported(f"got {type(formula).__name__} in {formula}, expected relations and and, or, not")

    def _order(self, formula: Le | Lt) -> Boolean:
        left, right = _expr(formula.lhs), _expr(formula.rhs)
        for side, smaller in ((left, True), (right, False)):
            # Written as relations here; as a fresh real it would make the table inexact, and no model a counterexample.
            if isinstance(side, Min | Max):
                parts = [formula.func(p, right) if smaller else formula.func(left, p) for p in side.args]
                combine = And if isinstance(side, Max) == smaller else Or
                return combine(*(self.boolean(part) for part in parts))
        return formula.func(self.term(left), self.term(right), evaluate=False)

    def term(self, expr: Expr) -> Expr:
        """`expr` as a rational function of symbols and fresh reals."""
        match expr:
            case Rational():
                return expr
            case Number():
                raise Unsupported(f"got the number {expr}, expected a rational")
            case Symbol():
                if not expr.is_real:
                    raise Unsupported(f"got {expr} without a domain, expected a real symbol; do: declare it real")
                return expr
            case Add():
                return Add(*(self.term(_expr(part)) for part in expr.args))
            case Mul():
                return self._product(expr.args)
            case Pow():
                return self._product((expr,))
            case _ if expr is E:
                return self._atom(E, lambda e: [Lt(Rational(271828182, 10**8), e), Lt(e, Rational(271828183, 10**8))])
            case exp():
                return self._exp(expr)
            case log() | AppliedUndef() | Indexed():
                if isinstance(expr, log):
                    self._require(Gt(self.term(_expr(expr.args[0])), 0))
                    self.inexact = True
                elif not expr.is_real:
                    raise Unsupported(f"got {expr} without a domain, expected a real quantity; do: declare it real")
                return self._atom(expr, lambda _: [])
            case Sum():
                return self._sum(expr)
            case Min() | Max():
                parts = [self.term(_expr(part)) for part in expr.args]
                below = isinstance(expr, Min)
                self.inexact = True
                return self._atom(
                    expr,
                    lambda m: [*(Le(m, p) if below else Le(p, m) for p in parts), Or(*(Eq(m, p) for p in parts))],
                )
            case Abs():
                inner = self.term(_expr(expr.args[0]))
                self.inexact = True
                return self._atom(expr, lambda a: [Le(0, a), Or(Eq(a, inner), Eq(a, -inner))])
            case _:
                raise Unsupported(
                    f"got {type(expr).__name__} in {expr}, expected arithmetic, min, max, exp, log or Sum"
                )

    def _atom(self, key: Expr, axioms: Callable[[Symbol], list[Boolean]]) -> Symbol:
        if key not in self.atoms:
            signs = tuple(n for n in ("positive", "nonnegative", "integer") if getattr(key, f"is_{n}", None))
            fresh = _fresh(f"a{len(self.atoms)}", signs)
            self.atoms[key] = fresh
            for axiom in axioms(fresh):
                if axiom not in (true, false):
                    self.axioms.append(axiom)
        return self.atoms[key]

    def _require(self, condition: Boolean) -> None:
        if condition is not true:
            self.obligations[condition] = None

    def _exp(self, expr: Expr) -> Expr:
        self.inexact = True
        argument = _expr(expr.args[0])
        if argument.is_Integer:
            return self.term(E) ** argument
        # e^(-x) is 1/e^x, so that the two share one atom.
        if argument.could_extract_minus_sign():
            return 1 / self._exp(exp(-argument))
        self.term(argument)  # its own obligations
        return self._atom(exp(cancelled(argument)), lambda e: [Lt(0, e)])

    def _sum(self, expr: Sum) -> Expr:
        """Constants out, the index renamed; non-negative when every term is."""
        if len(expr.limits) != 1 or len(expr.limits[0]) != 3:
            raise Unsupported(f"got {expr}, expected one index with both ends")
        index, low, high = expr.limits[0]
        factor, body = expr.function.as_independent(index, as_Add=False)
        full = (high - low + 1).is_nonnegative
        if body is S.One and full:
            return self.term(factor) * self.term(high - low + 1)
        key = uniform(Sum(body, (index, low, high)))
        # A sum of known terms has one value; a sum of unknown terms may have any that its sign allows.
        if not expr.atoms(AppliedUndef, Indexed):
            self.inexact = True
        return self.term(factor) * self._atom(key, lambda s: [Le(0, s)] if full and body.is_nonnegative else [])

    def _product(self, factors: Iterable[Basic]) -> Expr:
        """A product; a quotient of powers with the same symbolic exponent is one power: a**t * b**(-t) is (a/b)**t."""
        product: Expr = S.One
        groups: dict[Expr, list[tuple[Expr, int]]] = {}
        for factor in factors:
            if not isinstance(factor, Pow):
                product *= self.term(_expr(factor))
                continue
            base, power = factor.base, factor.exp
            if power.is_Integer:
                inner = self.term(base)
                if power.is_negative:
                    self._require(Ne(inner, 0))
                product *= inner**power
                continue
            degree = self._degree(base, power) if isinstance(power, Rational) else None
            if isinstance(power, Rational) and degree is not None:
                product *= self._root(base, power, degree)
                continue
            unit, multiple, offset = exponent(power)
            if unit is None or not multiple.is_integer or not offset.is_integer or not unit.is_integer:
                product *= self._real_power(base, power)
                continue
            shift = self._shift.get((cancelled(base), unit), 0) if multiple > 0 else 0
            # 0**n has a value for n >= 0 alone.
            if multiple < 0 or (unit + shift).is_nonnegative is not True:
                self._require(Or(Ne(self.term(base), 0), Le(0, self.term(unit + shift))))
            if multiple < 0:
                self._require(Ne(self.term(base), 0))
            rest = offset - multiple * shift
            if rest.is_negative:
                self._require(Ne(self.term(base), 0))
            product *= self.term(base) ** rest
            groups.setdefault(unit + shift, []).append((base, int(multiple)))
        for unit, members in groups.items():
            quotient = any(multiple < 0 for _, multiple in members)
            for group in [members] if quotient else [[member] for member in members]:
                common = reduce(gcd, (abs(multiple) for _, multiple in group))
                base = cancelled(Mul(*(self.term(b) ** (m // common) for b, m in group)))
                product *= self._power(base, unit) ** common
        return product

    def _power(self, base: Expr, unit: Expr) -> Expr:
        """base**unit for an integer exponent; the base is already a rational function of reals."""
        self.inexact = True
        if base is S.One:
            return S.One
        key = (base, unit)
        if key not in self.powers and (cancelled(1 / base), unit) in self.powers:
            self._require(Ne(base, 0))
            # Asked for the claim even if only a condition speaks of 1/x, for obligations of conditions are not asked.
            self.always.append(Ne(base, 0))
            return 1 / self.powers[cancelled(1 / base), unit]
        if key not in self.powers:
            fresh = _fresh(f"pow{len(self.powers)}")
            self.powers[key] = fresh
            self.atoms[Pow(base, unit, evaluate=False)] = fresh
        return self.powers[key]

    def _root(self, base: Expr, power: Rational, degree: int) -> Expr:
        inner = self.term(base)
        self._require(Le(0, inner))
        if power.is_negative:
            self._require(Ne(inner, 0))
        self.inexact = True
        # Only where the root is real: otherwise r² = x would itself say that x ≥ 0.
        root = self._atom(
            Pow(cancelled(base), Rational(1, degree)),
            lambda r: [Implies(Le(0, inner), And(Le(0, r), Eq(r**degree, inner, evaluate=False)))],
        )
        return root ** Integer(power.p * degree // power.q)

    def _real_power(self, base: Expr, power: Expr) -> Expr:
        self.inexact = True
        self._require(Lt(0, self.term(base)))
        self.term(power)
        return self._atom(Pow(cancelled(base), power), lambda y: [Lt(0, y)])


@cache
def _fresh(name: str, known: tuple[str, ...] = ()) -> Symbol:
    """A real that no formula has. The same in every table, so that what is computed about it can be kept."""
    return Dummy(name, real=True, **dict.fromkeys(known, True))


@lru_cache(maxsize=16384)
def uniform(formula: Basic) -> Any:
    """The formula with constants taken out of its sums and one name for every index, so that equal sums look equal."""
    names: dict[Basic, Basic] = {}
    for total in formula.atoms(Sum):
        if len(total.limits) != 1 or len(total.limits[0]) != 3 or total.function.atoms(Sum):
            continue
        index, low, high = total.limits[0]
        factor, body = total.function.as_independent(index, as_Add=False)
        # The new index is declared as the old one was, because the signs of the terms depend on it.
        neutral = Symbol("index", integer=True, nonnegative=True if index.is_nonnegative else None)
        names[total] = factor * Sum(body.xreplace({index: neutral}), (neutral, low, high))
    return formula.xreplace(names)


def exponent(power: Expr) -> tuple[Expr | None, Rational, Rational]:
    """n, k, c with power = k n + c and a primitive n; n is None for a number, and where k or c is not rational."""
    constant, rest = expand(power).as_coeff_Add()
    if rest is S.Zero:
        return None, Rational(0), cast("Rational", constant)
    content, unit = rest.as_content_primitive()
    if unit.could_extract_minus_sign():
        content, unit = -content, expand(-unit)
    if not isinstance(content, Rational) or not isinstance(constant, Rational):
        return None, Rational(0), Rational(0)
    return unit, content, constant


def _expr(part: Basic) -> Expr:
    if not isinstance(part, Expr):
        raise Unsupported(f"got {part}, expected an expression")
    return part
