"""What a repair had to change: a hypothesis, a constant, or the rate. Decided by comparing orders of growth.

The printed bound and the repaired one are compared as an order claim with every parameter free, under the printed
conditions. If the repaired bound is O(the printed one), a constant was wrong; of a print that is itself an O(·), which
has no constants, a hypothesis. If a growth path of the parameters, what is measured being constant, shows that it is
not, for every constant, the rate was wrong; so it was if both bounds differ in dimension, for rescaling the problem is
such a path. A condition that defines a symbol is part of the bound, and so is the number of rounds from which it holds.
If both are the same formula, it was a hypothesis: what is assumed, or what a symbol of the formula stands for; so it
was where the repaired bound has the printed O(·), of which the claim is a consequence.
"""

# sympy is annotated only in part (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportReturnType=false, reportAssignmentType=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Literal

import numpy as np
from sympy import Add, Basic, Eq, Expr, Ge, Gt, Le, Lt, Max, Mul, Pow, Rational, Sum, Symbol, sign, simplify
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fedaudit.bounds.decide.dominance import dominance
from fedaudit.bounds.decide.sample_points import Sampler, conjuncts, differ
from fedaudit.bounds.decide.violation import violation
from fedaudit.bounds.formulas.evaluator import quantities
from fedaudit.bounds.language.derivation import put_in
from fedaudit.bounds.language.dimension import Dimension, DimensionError, dimension_of
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.bounds.proofs.statement_view import view

from ..kernel import Malformed
from ..search.climb import VIOLATION, climb
from ..search.lowered_claim import lower
from ..search.rationalise import Replayed, certify, replay
from ..settings import setting_of
from ..settings.base import Reading
from ..settings.order import SETTING as ORDER

Change = Literal["hypothesis", "constant", "rate", "none known", "undecided"]
SHAPES, GENERATIONS, REPLAYS, SIGNS = 8, 6, 5, 150
MOST_NAMES = 3  # quantities that are read as others
SAME = "the same bound"
SHORT = 60  # characters of words that stand for a quantity
LETTER = re.compile(r"\\?([A-Za-z]+('+|_\w|_\{\w+\})?)")  # LaTeX that reads as text
ROUND = (1, 2, 3, 4)  # denominators of the powers of a path


@dataclass(frozen=True, slots=True)
class Answer:
    """What a repair changes, and what decided it; of an undecided one, what stood in the way."""

    change: Change
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as it is compared: what it bounds (None: a formula), by what, under which conditions."""

    bounded: tuple[Expr | None, ...]
    relations: tuple[Relational, ...]
    conditions: tuple[Boolean, ...]

    def definitions(self) -> dict[Basic, Relational]:
        return {c.lhs: c for c in self.conditions if isinstance(c, Eq) and isinstance(c.lhs, Symbol)}

    def rounds(self, horizon: Basic) -> Expr | None:
        """From how many rounds on it holds, if it says so."""
        least = [c.rhs for c in self.conditions if isinstance(c, Ge | Gt) and c.lhs == horizon]
        least += [c.lhs for c in self.conditions if isinstance(c, Le | Lt) and c.rhs == horizon]
        return Max(*least) if least else None


@dataclass(frozen=True, slots=True)
class Pair:
    """A printed statement and its repaired sibling."""

    printed: Statement
    repaired: Statement
    old: Claim
    new: Claim
    numbers: frozenset[Basic]  # of the problem or the method; everything else is measured
    seed: int

    def measured(self, *formulas: Basic) -> set[Basic]:
        """Quantities that runs have, by name."""
        heads = {q.func for part in formulas for q in part.atoms(AppliedUndef)}
        bare = [part.subs(dict.fromkeys(part.atoms(AppliedUndef), 1)) for part in formulas]
        return heads | {s for part in bare for s in part.free_symbols if s not in self.numbers}

    def renamed(self, old: Sequence[Expr], new: Sequence[Expr]) -> str | None:
        """How the new formulas are the old ones with other quantities of the same dimensions, if they are."""
        gone, come = (sorted(self.measured(*a) - self.measured(*b), key=str) for a, b in ((old, new), (new, old)))
        if len(gone) != len(come) or len(gone) > MOST_NAMES:
            return None
        for order in permutations(gone):
            pairs = list(zip(come, order, strict=True))
            if all(self.alike(*names) for names in pairs) and all(
                _equal(put_in(b, pairs), a) for a, b in zip(old, new, strict=True)
            ):
                return ", ".join(f"{self.words(after)} for {self.words(before)}" for after, before in pairs)
        return None

    def words(self, name: Basic) -> str:
        """A symbol or quantity as text: the paper's letter, else what it means if that is short, else its name."""
        entry = {**self.printed.glossary, **self.repaired.glossary}.get(name)
        if entry is None or not entry.latex:
            return str(name)
        letter = LETTER.fullmatch(entry.latex)
        if letter:
            return letter[1].replace("varepsilon", "epsilon").replace("{", "").replace("}", "")
        meaning = entry.meaning.partition(", ")[0]
        whole = meaning.count("(") == meaning.count(")") and not set(meaning) & set(":`")
        return meaning if whole and len(meaning) <= SHORT else str(name)

    def told(self, expr: Basic) -> str:
        """A formula in these words."""
        names = {s: Symbol(self.words(s)) for s in expr.free_symbols}
        return str(expr.xreplace(names))

    def alike(self, one: Basic, other: Basic) -> bool:
        glossary = {**self.printed.glossary, **self.repaired.glossary}
        same = isinstance(one, Symbol) == isinstance(other, Symbol)
        return same and one in glossary and other in glossary and glossary[one].dim == glossary[other].dim

    def dimension(self, expr: Expr) -> Dimension | None:
        try:
            return dimension_of(expr, Glossary({**self.printed.glossary, **self.repaired.glossary}))
        except DimensionError:
            return None


def repair(printed: Statement, catalogue: Mapping[str, Statement], seed: int = 0) -> Answer:
    """What the repaired sibling of a refuted statement changes; "undecided" where the orders cannot be compared."""
    repaired = catalogue.get(f"{printed.id}~repaired")
    if repaired is None:
        return Answer("none known", "no repaired sibling")
    if (printed.kind == "exists") != (repaired.kind == "exists"):
        return Answer(
            "undecided", f"the printed statement is of kind {printed.kind}, the sibling of kind {repaired.kind}"
        )
    closed = _closed(printed) | _closed(repaired)
    numbers = frozenset(s for one in (printed, repaired) for s in _numbers(one))
    pair = Pair(printed, repaired, _claim(printed, closed), _claim(repaired, closed), numbers, seed)
    answers = [_bound(pair, n) for n in range(len(pair.new.relations))]
    definitions = pair.old.definitions()
    answers += [
        _order(pair, definitions[name], new) for name, new in pair.new.definitions().items() if name in definitions
    ]
    answers += _rounds(pair)
    # One wrong rate is enough, whatever else is open; that only a constant was wrong takes every relation to say so.
    for change in ("none known", "rate", "undecided", "constant"):
        if change == "constant" and printed.is_order_of_formulas:
            break
        for answer in answers:
            if answer.change == change:
                return answer
    reasons = dict.fromkeys(answer.why for answer in answers)
    if list(reasons) == [SAME] and _assumed(printed) == _assumed(repaired):
        return Answer("undecided", "both say the same under the same conditions")
    return Answer("hypothesis", "; ".join(reasons))


def _assumed(statement: Statement) -> tuple[object, ...]:
    """All that a statement rests on, to be compared with what another one does."""
    premises = view(statement)
    return set(premises.assumes), set(premises.requires), statement.choose, statement.for_all


def _numbers(statement: Statement) -> set[Symbol]:
    """Symbols that are chosen, by the problem or the method, and not measured."""
    if statement.compares_formulas or statement.compares_limits:
        return {s for s in statement.glossary if isinstance(s, Symbol)}
    named = {arg for a in (*statement.let, *statement.implicit) for arg in a.args}
    whole = {s for s in statement.glossary if getattr(s, "is_integer", False)}
    chosen = {*named, *whole, *statement.sweep, *statement.choose, *statement.for_all}
    reading = Reading(lower(statement))
    world = setting_of(reading.lowered)
    genes = {gene.name for shape in world.shapes(reading)[:1] for gene in world.genes(reading, shape)}
    drawn = {s for s in statement.glossary if isinstance(s, Symbol) and s.name in genes}
    return {s for s in chosen if isinstance(s, Symbol)} | drawn


# --- two statements, made comparable ---------------------------------------------------------------------------------


def _closed(statement: Statement) -> set[Basic]:
    """The letters in which an order claim about a run writes its rate; the run's own values are not put in for them."""
    return {s for r in statement.relations for s in r.rhs.free_symbols} if statement.form else set()


def _claim(statement: Statement, closed: set[Basic]) -> Claim:
    kept = {name: value for name, value in statement.where.items() if name not in closed}
    premises = view(replace(statement, where=kept))
    if statement.form:
        run = statement.form.identity.relations[0].lhs
        return Claim(tuple(run for _ in premises.relations), premises.relations, premises.requires)
    if statement.is_order_of_formulas:
        return Claim(tuple(None for _ in premises.relations), premises.relations, premises.requires)
    return Claim(tuple(r.lhs for r in premises.relations), premises.relations, premises.requires)


def _bound(pair: Pair, n: int) -> Answer:
    """One relation of the sibling against the printed one that bounds the same thing."""
    new, about = pair.new.relations[n], pair.new.bounded[n]
    definitions = {s: c.rhs for s, c in pair.new.definitions().items() if s not in pair.old.definitions()}
    gives = new.rhs.subs(definitions)
    partners = [
        (old, subject)
        for old, subject in zip(pair.old.relations, pair.old.bounded, strict=True)
        if old.func is new.func
    ]
    for old, subject in partners:
        if subject == about and (subject is not None or old.lhs == new.lhs):
            return _order(pair, old, old.func(old.lhs, gives, evaluate=False))
    for old, subject in partners:
        times = None if subject is None or about is None else simplify(about / subject)
        if times is not None and times.is_positive and not pair.measured(times):
            return _order(pair, old, old.func(old.lhs, gives / times, evaluate=False))
    if partners and (about is None or partners[0][1] is None):  # a rate of a formula, and one of the run
        return _order(pair, partners[0][0], new.func(new.lhs, gives, evaluate=False))
    for old, subject in partners:
        read = pair.renamed((subject, old.rhs), (about, gives))
        if read is not None:
            return Answer("hypothesis", f"the same formula, with {read}")
        if _without_numbers(subject) == _without_numbers(about) and _equal(old.rhs, gives):
            return Answer("constant", "the same bound, other numbers on the left")
    what = "a formula" if about is None else pair.told(about)
    return Answer("undecided", f"the sibling bounds {what}, of which the printed statement says nothing")


def _without_numbers(expr: Expr) -> Expr:
    """A formula with every positive factor and summand that is a number read as 1."""
    if isinstance(expr, Rational):
        return sign(expr)
    if isinstance(expr, Pow):
        return Pow(_without_numbers(expr.base), expr.exp)
    return expr.func(*map(_without_numbers, expr.args)) if isinstance(expr, Add | Mul | Sum) else expr


def _rounds(pair: Pair) -> list[Answer]:
    """The numbers of rounds from which on the bounds hold, compared like bounds."""
    heads = [q for about in pair.new.bounded if about is not None for q in about.atoms(AppliedUndef)]
    answers: list[Answer] = []
    for horizon in dict.fromkeys(arg for q in heads for arg in q.args if isinstance(arg, Symbol)):
        old, new = pair.old.rounds(horizon), pair.new.rounds(horizon)
        if old is not None and new is not None:
            old, new = (Le(horizon, side, evaluate=False) for side in (old, new))
            answers.append(_order(pair, old, new))
    return answers


# --- two bounds of the same thing ------------------------------------------------------------------------------------


def _order(pair: Pair, old: Relational, new: Relational) -> Answer:
    if _equal(old.rhs, new.rhs):
        return Answer("hypothesis", SAME)
    read = pair.renamed((old.rhs,), (new.rhs,))
    if read is not None:
        return Answer("hypothesis", f"the same formula, with {read}")
    gone, come = (pair.measured(a.rhs) - pair.measured(b.rhs) for a, b in ((old, new), (new, old)))
    if len(gone) == len(come) == 1 and pair.alike(*gone, *come):
        read = f", with {pair.words(next(iter(come)))} read as {pair.words(next(iter(gone)))}"
        new, come = new.func(new.lhs, put_in(new.rhs, [*zip(come, gone, strict=True)]), evaluate=False), set[Basic]()
    if old.rhs == 0 and pair.printed.order is not None and _in_order(pair, new):
        return Answer("hypothesis", "the printed order, times constants")
    dimensions = pair.dimension(old.rhs), pair.dimension(new.rhs)
    if None not in dimensions and dimensions[0] != dimensions[1]:
        units = " and ".join(map(str, dimensions))
        return Answer("rate", f"the bounds have the dimensions {units}: rescaling the problem tells them apart")
    claim = order_claim(pair, old, new)
    decisions = dominance(claim)
    if decisions and all(decision.proved for decision in decisions):
        return Answer("constant", f"of the same order{read or ''}")
    if come and old.rhs != 0:
        names = ", ".join(sorted(map(pair.words, come)))
        return Answer("undecided", f"the repaired bound names {names}; its size is open")
    path = _sign(pair, old, new) if old.rhs == 0 else _path(pair, old, new) or _sign(pair, old, new)
    if path:
        return Answer("rate", f"{path}{read or ''}")
    return Answer("undecided", f"neither shown to be of the same order ({decisions[0].detail}) nor of another")


def _in_order(pair: Pair, new: Relational) -> bool:
    """Whether the repaired bound is the printed order times what that does not name."""
    printed = pair.printed.order
    assert printed is not None
    ratio = simplify(new.rhs / printed)
    return not ({s for q in quantities(ratio) for s in q.free_symbols} & printed.free_symbols)


def _equal(a: Expr, b: Expr) -> bool:
    # Numbers are tried first, because simplifying a difference that is not 0 takes long.
    return a == b or (not differ(a, b) and simplify(a - b) == 0)


def _path(pair: Pair, old: Relational, new: Relational) -> str:
    """A growth path along which no multiple of the printed bound reaches the repaired one, in words; or nothing."""
    fixed = [q for q in quantities(new.rhs, old.rhs) if q not in pair.numbers]
    claim = order_claim(pair, old, new, fixed)
    try:
        reading = Reading(lower(claim))
        best = climb(reading, ORDER, ORDER.shapes(reading)[:SHAPES], GENERATIONS, pair.seed).best
        replayed = [certify(reading, ORDER, candidate) for candidate in best[:REPLAYS] if candidate.margin > VIOLATION]
    except (Malformed, ValueError, KeyError):  # a formula that growth paths do not speak of
        return ""
    for one in replayed:
        if one is not None and not one.holds:
            paths = _simplest(reading, one).instance["paths"]
            return f"the orders differ along {_told(paths, _letters(pair, claim))}"
    return ""


def _simplest(reading: Reading, path: Replayed) -> Replayed:
    """The path with round numbers, and with as few parameters moving as it takes."""
    for shape, genome in ORDER.reductions(reading, path.shape, path.genome):
        rounded = replay(reading, ORDER, shape, genome)
        if rounded is not None and not rounded.holds:
            path = rounded
            break
    moving = {gene.name for gene in ORDER.powers(reading)}
    powers = [name for name in path.genome if name in moving]
    for name, simpler in (
        *((power, _still) for power in powers),
        *((name, _one) for name in path.genome if name not in powers),
        *((power, _round) for power in powers),
    ):
        for value in simpler(Fraction(path.genome[name][()])):
            kept = replay(reading, ORDER, path.shape, {**path.genome, name: np.array(value, dtype=object)})
            if kept is not None and not kept.holds:
                path = kept
                break
    return path


def _still(power: Fraction) -> list[Fraction]:
    return [Fraction(0)] if power else []


def _one(coefficient: Fraction) -> list[Fraction]:
    """1, or else a number of one digit; 0 stays."""
    near = coefficient.limit_denominator(10)
    return [] if coefficient in (0, 1) else [x for x in (Fraction(1), near) if x not in (0, coefficient)]


def _round(power: Fraction) -> list[Fraction]:
    return [power.limit_denominator(q) for q in ROUND if q < power.denominator]


def _letters(pair: Pair, claim: Statement) -> dict[str, str]:
    """The words for the names of an order claim; quantities have new names there, in the order of the formulas."""
    return {str(symbol): entry.meaning or pair.words(symbol) for symbol, entry in claim.glossary.items()}


def _told(paths: Mapping[str, Sequence[tuple[str, str]]], letters: Mapping[str, str]) -> str:
    """What moves, and what is 0; the rest is constant."""
    n = next(letter for letter in ("n", "s", "z", "q") if letter not in letters.values())
    return ", ".join(
        f"{letters[name]} = 0" if not terms else f"{letters[name]} ~ {' + '.join(_power(c, a, n) for c, a in terms)}"
        for name, terms in sorted(paths.items())
        if not terms or any(a != "0" for _, a in terms)
    )


def _power(c: str, a: str, n: str) -> str:
    if a == "0":
        return c
    shown = a if "/" not in a else f"({a})"
    return f"{'' if c == '1' else '-' if c == '-1' else c + ' '}{n}{'' if a == '1' else '^' + shown}"


def _sign(pair: Pair, old: Relational, new: Relational) -> str:
    """Whether the printed upper bound may be 0 or less where the repaired one is positive: no multiple will do."""
    if isinstance(old, Ge | Gt | Eq):
        return ""
    conditions = conjuncts(*pair.old.conditions, *pair.new.conditions)
    both = set(quantities(old.rhs, new.rhs))
    about = [c for c in conditions if isinstance(c, Relational) and set(quantities(c)) <= both]
    sampler = Sampler([old.rhs, new.rhs], tuple(about))
    if old.rhs == 0:
        point = violation(Le(new.rhs, 0), about, sampler, SIGNS)
    else:
        point = violation(Gt(old.rhs, 0), [*about, Gt(new.rhs, 0)], sampler, SIGNS)
    return (
        ""
        if point is None
        else f"the printed bound {'is 0' if old.rhs == 0 else 'may be 0 or less'}, the repaired one positive"
    )


def order_claim(pair: Pair, old: Relational, new: Relational, fixed: Sequence[Basic] = ()) -> Statement:
    """ "The repaired bound is O(the printed one)" (of a lower bound: the other way round), all but `fixed` are free."""
    conditions_of_both = conjuncts(*pair.old.conditions, *pair.new.conditions)
    conditions = [c for c in dict.fromkeys(conditions_of_both) if isinstance(c, Relational)]
    both = quantities(old.rhs, new.rhs)
    about = [c for c in conditions if set(quantities(c)) <= set(both)]
    names: dict[Basic, Symbol] = {q: q for q in both if isinstance(q, Symbol)}
    taken = {s.name for s in names.values()}
    for n, q in enumerate(q for q in both if q not in names):
        names[q] = Symbol(f"q_{n}" if f"q_{n}" not in taken else f"quantity_{n}", nonnegative=True)
    meant = {name: pair.words(q.func) if isinstance(q, AppliedUndef) else "" for q, name in names.items()}
    low, high = (old.rhs, new.rhs) if isinstance(old, Ge | Gt) else (new.rhs, old.rhs)
    then = (Eq if isinstance(old, Eq) else Le)(low.xreplace(names), high.xreplace(names), evaluate=False)
    glossary = Glossary()
    for name in names.values():
        domain = {k: True for k in ("positive", "nonnegative", "integer") if getattr(name, f"is_{k}")}
        glossary.symbol(name.name, "1", meant[name], **(domain or {"real": True}))
    return Statement(
        id=f"{pair.printed.id}~order",
        kind="order",
        title="",
        cite=pair.printed.cite,
        method="order",
        glossary=glossary,
        let=(Assumption("fixed", tuple(names[q] for q in fixed), "measured"),) if fixed else (),
        when=tuple(c.xreplace(names) for c in about),
        then=then,
    )
