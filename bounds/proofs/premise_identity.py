"""Premises that are shown: the two sides of a claim differ by a sum of multipliers times atoms, as an identity.

Accepted iff, with every named scalar replaced by its definition, nothing is left over, and every multiplier is not
negative: by its form, or because the engine decides so from the conditions of the statement (it is then a requirement
of the premise). What the atoms and the rules of the normal form charge must be among the statement's assumptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from sympy import Add, Eq, Expr, Float, Ge, Gt, Integer, Le, Max, Mul, Pow, Rational, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean, true

from fedaudit.errors import UserError

from ..language.assumptions import DRAWN, EVEN, INDEPENDENT, SIGN, SUM, UNBIASED
from ..language.derivation import Known, Requirement
from ..language.method import Method
from ..language.rule_expressions import inner, norm2
from ..language.rule_parts import Number, Vector
from .atom import Atom
from .frame import HETEROGENEITY, Frame, formula_of
from .kept_vectors import require_kept
from .method_vectors import Reader
from .vectors import FRESH, Charge, Expanded, Ring, Scalar, Term, added

By = tuple[tuple[Expr, Atom], ...]
MEANS = frozenset({UNBIASED, INDEPENDENT, DRAWN, FRESH})  # rules that hold in expectation, and on no single path


@dataclass(frozen=True, slots=True)
class Shown:
    """A claim and what shows it.

    `times`: the claim is about constants alone, and the identity is about the claim times |times|^2 for a free point,
    of which one is not zero. `schwarz`: the claim is X^2 <= A B with X = E<x, y>, A = E|x|^2 and B = E|y|^2, which is
    |c x - y|^2 >= 0 for all real c. `pathwise`: the claim is that a measure which is the largest of something is at
    most a constant, and the identity is about that something, of any client in any round, without expectations.
    """

    claim: Any
    frame: Frame
    by: By = ()
    at: tuple[Any, Any] | None = None
    times: Vector | None = None
    schwarz: tuple[Vector, Vector] | None = None
    pathwise: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """What a formula of the method says that a quantity is."""

    method: Method

    def says(self, claim: Any) -> bool:
        return isinstance(claim, Eq) and claim.rhs == formula_of(self.method, claim.lhs)


def defined(quantity: Any, method: Method) -> Known:
    """The quantity equals its formula of measures."""
    formula = formula_of(method, quantity)
    if formula is None:
        raise UserError(f"got {quantity}, expected a quantity that {method.id} has a formula for")
    return Known(Eq(quantity, formula, evaluate=False), f"what {quantity} is", "fact", rule=Definition(method))


@dataclass(frozen=True, slots=True)
class Average:
    """The expectation in a round that is picked uniformly is the mean over the rounds of what `frame` calls by name."""

    frame: Frame

    @property
    def method(self) -> Method:
        return self.frame.method

    def says(self, claim: Any) -> bool:
        picked = self.method.measures.get(getattr(claim, "lhs", None))
        if picked is None or picked.law != "picked" or self.method.counts_from or self.method.clock != "rounds":
            return False
        t, rounds = self.frame.letters[0], claim.lhs.args[0]
        same = [q for q, number in self.frame.names.items() if number == Number(picked.terms, "expect")]
        return claim in [Eq(claim.lhs, Sum(q, (t, 0, rounds - 1)) / rounds) for q in same if q.args == (t,)]


def averaged(quantity: Expr, each: Expr, frame: Frame) -> Known:
    """The picked quantity is the mean of `each`, a name at round t, over the rounds."""
    t, (rounds,) = frame.letters[0], quantity.args
    claim = Eq(quantity, Sum(each, (t, 0, rounds - 1)) / rounds, evaluate=False)
    return Known(claim, f"what {quantity} is", "fact", rule=Average(frame))


@dataclass(frozen=True, slots=True)
class Identity:
    """One identity that a shown premise rests on: `left` minus the multiplied atoms is zero."""

    left: Scalar
    terms: tuple[tuple[Any, Scalar], ...]
    left_over: tuple[str, ...]  # each with its coefficient; nothing where it is shown


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of it: the identities, how the sign of each multiplier is known, what it charges and requires."""

    identities: tuple[Identity, ...]
    signs: tuple[str, ...]
    charges: frozenset[Charge]
    requires: tuple[Boolean, ...]
    parameters: tuple[tuple[Expr, str], ...]

    @property
    def left_over(self) -> tuple[str, ...]:
        return next((i.left_over for i in self.identities if i.left_over), ())

    @property
    def rest(self) -> str:
        """What is left over, as text; empty where nothing is."""
        return "; ".join(self.left_over)


def shown(claim: Any, because: str, frame: Frame, *by: tuple[Any, Atom], **how: Any) -> Known:
    """The premise, with what it requires and assumes; how: `at`, `times`, `schwarz`."""
    pairs: tuple[tuple[Any, Any], ...] = by  # a user's file may hold anything
    for _, atom in pairs:
        if not isinstance(atom, Atom):
            raise UserError(f"got the atom {atom!r} for {because!r}, expected one of fedaudit.bounds.proofs.atoms")
    return known(Shown(claim, frame, tuple((_sympy(m, because), atom) for m, atom in by), **how), because)


def known(premise: Shown, because: str) -> Known:
    checked = check(premise)
    names = tuple(sorted({name for name, _ in checked.charges}))
    needed = tuple(Requirement(condition) for condition in checked.requires)
    return Known(premise.claim, because, "shown", needed, names, rule=premise)


def stands(premise: Known) -> bool:
    """Whether it is a shown premise as `known` makes it, and nothing is left over."""
    rule = premise.rule
    return isinstance(rule, Shown) and not check(rule).rest and premise == known(rule, premise.because)


def mend(premise: Known) -> None:
    """Refuse a premise that calls itself shown and is not, with what is left over first."""
    rest = check(premise.rule).left_over if isinstance(premise.rule, Shown) else ("nothing that it was shown by",)
    if not stands(premise):
        first, *more = rest or ("another claim than the one that was shown",)
        others = f" and {len(more)} more" if more else ""
        raise UserError(
            f"{premise.because!r}: got {first}{others} left over of {premise.claim}, expected nothing; "
            "do: mend its multipliers or atoms"
        )


def multipliers(premise: Known) -> Iterator[str]:
    """For each multiplier: itself, its atom, and how its sign is known."""
    rule: Shown = premise.rule
    if rule.schwarz:
        yield "Cauchy-Schwarz"
    for (multiplier, atom), sign in zip(rule.by, check(rule).signs, strict=True):
        over = {"one": "", "mean": " under the mean", "squares": " under sum p_i^2"}[atom.over]
        yield f"{multiplier} * {type(atom).__name__.lower()}{over} ({sign})"


@lru_cache(maxsize=2048)
def check(premise: Shown) -> Checked:
    """Expand both sides and the atoms, and compare."""
    require_kept(premise.frame)
    reader = reader_of(premise)
    charges: set[Charge | None] = set()
    identities = tuple(_identity(reader, left, terms, charges) for left, terms in _sides(premise, reader))
    for _, atom in premise.by:
        charges.update((*atom.charges, *(premise.frame.charges[rule] for rule in atom.rules)))
    if premise.frame.even:
        charges.add(premise.frame.charges[EVEN])
    if premise.frame.alone:
        charges.add(premise.frame.charges[SUM])
    if premise.frame.groups is not None:
        charges.update(premise.frame.groups.charges)
    signs = tuple("by form" if by_form(m) else "decided" for m, _ in premise.by)
    required = [Ge(m, 0) for (m, _), sign in zip(premise.by, signs, strict=True) if sign == "decided"]
    positive = [part for _, atom in premise.by for part in atom.positive]
    required += [Gt(d, 0) for d in (*_denominators(premise), *positive) if not by_form(d, strict=True)]
    required += [condition for _, atom in premise.by for condition in atom.ranges(premise.frame)]
    required += [Eq(premise.frame.sizes[1], 1)] if premise.frame.alone else []
    required += [Eq(premise.frame.sizes[0], 1)] if premise.frame.single else []
    required += [condition for _, atom in premise.by for condition in atom.requires()]
    kept = tuple(dict.fromkeys(c for c in required if c is not true))
    charged = frozenset(charge for charge in charges if charge is not None)
    return Checked(identities, signs, charged, kept, tuple(reader.letters.items()))


def _sides(premise: Shown, reader: Reader) -> Iterator[tuple[Scalar, tuple[tuple[Expr, Scalar], ...]]]:
    claim = premise.claim
    if premise.schwarz:
        x, y = premise.schwarz
        if not isinstance(claim, Le) or premise.by or premise.times:
            raise UserError(f"got {claim}, expected X^2 <= A B")
        root = claim.lhs.base if isinstance(claim.lhs, Pow) and claim.lhs.exp == 2 else None
        sides = claim.rhs.args if isinstance(claim.rhs, Mul) else ()
        if root is None or len(sides) != 2:
            raise UserError(f"got {claim}, expected X^2 <= A B")
        fits = [(a, b) for a, b in (sides, sides[::-1]) if is_number(reader, a, norm2(x))] or [sides]
        for side, number in zip((root, *fits[0]), (inner(x, y), norm2(x), norm2(y)), strict=True):
            yield _minus(reader.formula(side), _fixed(reader, number), reader), ()
        return
    if isinstance(claim, Eq) and premise.by:
        raise UserError(f"got atoms for {claim}, expected none: they show inequalities")
    left = _largest(premise, reader) if premise.pathwise else difference(claim, reader)
    if premise.times is not None:
        if any(term != Term("one") for _, term in left) or premise.times.op != "point":
            raise UserError(f"got {claim} times a square, expected constants and a free point")
        u = reader.vector(premise.times)
        left = tuple((c, Term("inner", vectors=(u, u))) for c, _ in left)
    yield left, tuple((m, atom.read(reader)) for m, atom in premise.by)


def _largest(premise: Shown, reader: Reader) -> Scalar:
    """A constant minus what a measure is the largest of; nothing here may hold in expectation alone."""
    claim, (t, k, i, j) = premise.claim, premise.frame.letters
    number = premise.frame.method.measures.get(getattr(claim, "lhs", None))
    if not isinstance(claim, Le) or number is None or number.law != "most" or premise.at or premise.times:
        raise UserError(f"got {claim} on every path, expected the largest of something <= a constant")
    if claim.rhs.free_symbols & {t, k, i, j} or claim.rhs.atoms(AppliedUndef):
        raise UserError(f"got {claim.rhs} on every path, expected what is the same in all rounds and of all clients")
    left = _minus(reader.formula(claim.rhs), _fixed(reader, Number(number.terms)), reader)
    rules = [reader.expand(scalar).charges for scalar in (left, *(atom.read(reader) for _, atom in premise.by))]
    if any(not atom.on_every_path for _, atom in premise.by) or any(MEANS & charged for charged in rules):
        raise UserError(f"got what holds in expectation for {claim}, expected what holds on every path")
    return left


def difference(claim: Any, reader: Reader) -> Scalar:
    """The larger side minus the smaller one."""
    if not isinstance(claim, Eq | Le | Ge):
        raise UserError(f"got {claim}, expected one of =, <=, >=")
    small, large = (claim.lhs, claim.rhs) if isinstance(claim, Eq | Le) else (claim.rhs, claim.lhs)
    return _minus(reader.formula(large), reader.formula(small), reader)


def is_number(reader: Reader, side: Expr, number: Number) -> bool:
    """Whether a formula is this number for the fixed clients i and j, by the method's rules."""
    return not reader.expand(_minus(reader.formula(side), _fixed(reader, number), reader)).terms


def _fixed(reader: Reader, number: Number) -> Scalar:
    """The number for the fixed clients i and j, before the local step."""
    _, _, i, j = reader.frame.letters
    return reader.number(number, "base", str(i), str(j))


def _minus(left: Scalar, right: Scalar, reader: Reader) -> Scalar:
    return (*left, *((reader.ring.number(-1) * c, term) for c, term in right))


def _identity(
    reader: Reader, left: Scalar, terms: tuple[tuple[Any, Scalar], ...], charges: set[Charge | None]
) -> Identity:
    parts: list[Expanded] = [reader.expand(left)]
    for multiplier, scalar in terms:
        factor = -reader.coefficient(multiplier)
        parts.append(reader.expand(tuple((factor * c, term) for c, term in scalar)))
    for part in parts:
        charges.update(reader.frame.charges[rule] for rule in part.charges)
    rest = added(part.terms for part in parts)
    names = {name: str(leaf) for leaf, name in reader.letters.items()}
    return Identity(left, terms, tuple(f"{_spelled(str(c), names)} * {_key(key)}" for key, c in rest.items()))


def _spelled(text: str, names: dict[str, str]) -> str:
    # Longest first, because x1 is a part of x12.
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, names[name])
    return text


def _key(key: tuple[Any, ...]) -> str:
    def spelled(part: Any) -> str:
        name, tag = cast("tuple[Any, str]", part) if isinstance(part, tuple) else (part, "")
        return f"{getattr(name, 'label', name)}{f'[{tag}]' if tag else ''}"

    return " ".join(map(spelled, key))


def reader_of(premise: Shown) -> Reader:
    frame, numbers = premise.frame, list[Any]()
    for multiplier, atom in premise.by:
        numbers += [multiplier, *atom.scalars()]
        numbers += [frame.sum_of_squares] if atom.over == "squares" and not frame.even else []
    for vector in (*(premise.schwarz or ()), *((premise.times,) if premise.times else ())):
        numbers += vector.scalars()
    t, k, _, _ = frame.letters
    at = premise.at or (t, k)
    numbers += at[1:] if isinstance(at[1], Expr) else ()
    leaves = dict.fromkeys((*_leaves_of(frame), *(leaf for e in (premise.claim, *numbers) for leaf in frame.leaves(e))))
    letters = {leaf: f"x{n}" for n, leaf in enumerate(leaves)}
    return Reader(frame, Ring(tuple(letters.values())), letters, at)


@lru_cache(maxsize=512)
def _leaves_of(frame: Frame) -> tuple[Expr, ...]:
    """What the scalar factors of its rules and definitions are made of: every premise of the frame asks for it."""
    return tuple(dict.fromkeys(leaf for e in frame.scalars() for leaf in frame.leaves(e)))


def _denominators(premise: Shown) -> Iterator[Expr]:
    """Every formula that the premise, its atoms or its frame divides by."""
    vectors = (*(premise.schwarz or ()),)
    numbers = [number for _, atom in premise.by for number in atom.denominators()]
    scalars = [premise.claim, *(m for m, _ in premise.by), *numbers, *(s for v in vectors for s in v.scalars())]
    yield from _divisors(scalars)
    yield from _divisors_of(premise.frame)


def _divisors(scalars: Iterable[Expr]) -> Iterator[Expr]:
    return (power.base for expr in scalars for power in expr.atoms(Pow) if power.exp.is_negative)


@lru_cache(maxsize=512)
def _divisors_of(frame: Frame) -> tuple[Expr, ...]:
    """What its rules and definitions divide by: every premise of the frame asks for that."""
    return tuple(dict.fromkeys(_divisors(frame.scalars())))


def by_form(expr: Any, *, strict: bool = False) -> bool:
    """Whether a formula is not negative (`strict`: positive) as sums and quotients of what is declared so."""
    if isinstance(expr, Rational):
        return bool(expr > 0 or (expr == 0 and not strict))
    if isinstance(expr, Symbol | AppliedUndef):
        return bool(expr.is_positive or (expr.is_nonnegative and not strict))
    if isinstance(expr, Sum):
        return not strict  # the sum of squared weights: nothing else can be read as a constant
    if isinstance(expr, Max):
        return any(by_form(arg, strict=strict) for arg in expr.args)
    if isinstance(expr, Add):
        signs = [by_form(arg, strict=True) for arg in expr.args]
        return all(by_form(arg) for arg in expr.args) and (any(signs) or not strict)
    if isinstance(expr, Mul):
        return all(by_form(arg, strict=strict) for arg in expr.args)
    if isinstance(expr, Pow) and isinstance(expr.exp, Integer):
        if expr.exp < 0:
            return by_form(expr.base, strict=True)
        return (expr.exp % 2 == 0 and not strict) or by_form(expr.base, strict=strict)
    return False


def _sympy(value: Any, because: str) -> Any:
    if isinstance(value, int | Fraction):
        return Rational(value)
    if not isinstance(value, Expr) or value.has(Float):
        raise UserError(f"got the multiplier {value!r} for {because!r}, expected an exact number or a formula")
    return value


def _formula_sign(formula: Any, method: Method) -> frozenset[str] | None:
    """The rules that make a formula of measures not negative: as a sum or product of what is not; None if it is not."""
    if isinstance(formula, AppliedUndef):
        meant = formula_of(method, formula)
        measures = {q.func: number for q, number in method.measures.items() if isinstance(q, AppliedUndef)}
        meant = measures.get(formula.func) if meant is None else meant
        return None if meant is None else not_negative(meant, method)
    if isinstance(formula, Sum):
        return _formula_sign(formula.function, method)
    if isinstance(formula, Pow) and formula.exp == Rational(1, 2):
        return frozenset()
    if isinstance(formula, Add | Mul):
        parts = [_formula_sign(arg, method) for arg in formula.args]
        return None if None in parts else frozenset[str]().union(*(part for part in parts if part))
    return frozenset() if by_form(formula) else None


def not_negative(number: Any, method: Method) -> frozenset[str] | None:
    """The rules that a definition takes to be not negative by its form (squares, means, the gap); None if it is not."""
    rules: set[str] = set()
    if not isinstance(number, Number):
        return _formula_sign(number, method)
    gap = [("-1", "f_star"), ("1", "F" if method.composite else "f")]  # f at a shared point is at least f*
    values = [(c, atom) for c, atom in number.terms if atom[0] in ("f", "F", "f_star")]
    if sorted((str(c), atom[0]) for c, atom in values) == gap:
        number = Number(tuple(term for term in number.terms if term not in values))
    if number == HETEROGENEITY and not method.composite:
        return frozenset({SIGN})  # f_i(w*) is at least f_i*
    for coefficient, atom in number.terms:
        while atom[0] == "mean":
            rules.add(SIGN)
            atom = atom[1]
        if atom[0] not in ("norm2", "one") or not by_form(coefficient):
            return None
    return frozenset(rules)
