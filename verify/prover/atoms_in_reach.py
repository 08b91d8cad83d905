"""Multipliers for a premise that has none: an exact linear programme over the atoms in reach.

In reach are squares of the vectors that the claim speaks of and of combinations of two of them, and what the
assumptions of the statement give at the points where it reads functions and gradients. That
nothing is found says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

from sympy import Add, Expr, Ge, Indexed, Integer, Le, Mul, Sum, Symbol, cancel, fraction, together
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.decide.sample_points import conjuncts
from fedaudit.bounds.language.assumptions import COMMON, loss_class, record_of
from fedaudit.bounds.language.derivation import Known
from fedaudit.bounds.language.dimension import Dimension, dimension, dimension_of
from fedaudit.bounds.language.rule_expressions import grad, mean, other, w_star
from fedaudit.bounds.language.rule_parts import Number, Vector, vectors_of
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.atom import Atom
from fedaudit.bounds.proofs.atoms import Bound, Convex, Lower, Minimum, Smooth, Square, Variance, Weight
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.premise_identity import Shown, by_form, check, shown, stands
from fedaudit.bounds.proofs.vectors import Over
from fedaudit.errors import UserError

from .multipliers import Question, find

DEGREES = (1, 2, 3)
MOST = 14  # vectors whose pairs are combined
LENGTH, SLOPE, CURVATURE = dimension("W"), dimension("F/W"), dimension("F/W^2")
Parts = Mapping[Vector, Expr]  # a client's vectors and their coefficients


def multipliers_of(premise: Known, statement: Statement, conditions: Sequence[Boolean]) -> Known | None:
    """The premise with multipliers and atoms that show it; None if none were found.

    What it assumes may be more than the statement does: that is for the author to see.
    """
    rule: Shown = premise.rule
    if not isinstance(rule.claim, Le | Ge) or rule.schwarz or rule.times:
        return None
    atoms = tuple(atom for atom in dict.fromkeys(in_reach(rule, statement)) if _readable(atom, rule))
    generators = tuple(dict.fromkeys(_generators(rule, statement, conditions)))
    for degree in DEGREES:
        multipliers = find(Question(rule.claim, rule.frame, atoms, generators, degree, rule.at))
        if multipliers is not None:
            again = shown(rule.claim, premise.because, rule.frame, *multipliers, at=rule.at)
            signs = all(decide(r.claim, conditions).proved for r in again.requires)
            if stands(again) and signs:
                return again
    return None


def _readable(atom: Atom, rule: Shown) -> bool:
    """Whether the layer can expand it beside this claim."""
    try:
        check(Shown(rule.claim, rule.frame, ((Integer(1), atom),), rule.at))
    except (UserError, ValueError):
        return False
    return True


def in_reach(rule: Shown, statement: Statement) -> Iterator[Atom]:
    """Atoms that the claim and the assumptions suggest."""
    frame = rule.frame
    numbers = list(_numbers(rule.claim, frame))
    shared = {*frame.method.server, w_star}
    _, _, client, second = frame.letters
    sums = [q for total in rule.claim.atoms(Sum) for q in total.atoms(AppliedUndef)]
    fixed = {
        letter for q in _quantities(rule.claim) if q not in sums for letter in q.args if letter in (client, second)
    }
    over: str = "one" if fixed else "mean"
    vectors = list(dict.fromkeys(v for number in numbers for v in measured_vectors(number)))
    if second in fixed:
        vectors += [other(v) for v in vectors if deviation(v, shared) and not v.uses("other")]
    for each in dict.fromkeys((over, "mean")):
        yield from _squares(vectors[:MOST], frame, shared, each)
    for letter in (client, second):
        if any(indexed.indices == (letter,) for indexed in rule.claim.atoms(Indexed)):
            yield Weight(letter)
    points = [v.args[0] for number in numbers for v in vectors_of(number) if v.op == "grad"]
    points += [part for number in numbers for part in _valued(number)]
    yield from _functions(list(dict.fromkeys((*points, w_star))), statement, shared, over)
    for assumption in (*statement.let, *statement.implicit):
        if assumption.means is not None:
            yield Bound(assumption)
            if second in fixed:
                yield Bound(assumption, ((client, second),))
        record = record_of(assumption)
        if record is not None and "variance" in record.atoms:
            noisy = (v.args[0] for number in numbers for v in vectors_of(number) if v.op == "noisy")
            for x in dict.fromkeys(noisy):
                yield from (Variance(x, assumption.args[0], each) for each in ("squares", "one"))


def _squares(vectors: Sequence[Vector], frame: Frame, shared: Collection[Vector], over: Over) -> Iterator[Atom]:
    def square(x: Vector) -> Iterator[Square]:
        if not deviation(x, shared):
            yield Square(x)
            return
        yield Square(x, over)
        if over == "mean":
            yield Square(x - mean(x), "mean")

    steps = list(frame.method.steps())
    for x in vectors:
        yield from square(x)
    for x, y in combinations(vectors, 2):
        units = unit(x, frame), unit(y, frame)
        same = units[0] == units[1]
        pairs = [(x, y)] if same else [(x, step * y) for step in steps] if units[0] == LENGTH else []
        pairs += [(y, step * x) for step in steps] if units[1] == LENGTH and not same else []
        for a, b in pairs:
            yield from square(a - b)
            yield from square(a + b)


def _functions(
    points: Sequence[Vector], statement: Statement, shared: Collection[Vector], over: Over
) -> Iterator[Atom]:
    curved = loss_class((*statement.let, *statement.implicit))
    L = curved.both.args[0] if curved.both is not None else None
    for x, y in permutations(points, 2):
        if L is not None:
            yield Smooth(x, y, L, over)
        if curved.strong is not None:
            yield Convex(x, y, curved.strong.args[0], over)
        elif curved.convex:
            yield Convex(x, y, 0, over)
    for x in points:
        if L is not None:
            end = x - grad(x) / L
            yield Smooth(x, end, L, over)
            yield Lower(end, over)
        yield Lower(x, over)
        if not deviation(x, shared):
            yield Minimum(x)


def deviation(x: Vector, shared: Collection[Vector]) -> Parts:
    """The client's own vectors in x; what all clients share is no part of a deviation."""
    match x:
        case Vector(op="+"):
            parts = [deviation(arg, shared) for arg in x.args]
        case Vector(op="*", args=(factor, inside)):
            parts = [{name: factor * c for name, c in deviation(inside, shared).items()}]
        case Vector(op="mean" | "sampled" | "w_star" | "start" | "point" | "axis" | "zero"):
            parts = []
        case _:
            parts = [] if x in shared else [{x: Integer(1)}]
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: Add(*(part.get(name, Integer(0)) for part in parts)) for name in names}


def unit(x: Vector, frame: Frame) -> Dimension | None:
    """The dimension of a vector: a length in the space of parameters, or a slope; None where it cannot be told."""
    match x:
        case Vector(op="+"):
            return unit(x.args[0], frame)
        case Vector(op="*", args=(factor, inside)):
            inner, own = unit(inside, frame), dimension_of(factor, frame.method.glossary)
            return inner if own is None or inner is None else inner * own
        case Vector(op="grad" | "noisy"):
            return SLOPE
        case Vector(op="mean" | "other", args=(inside, *_)):
            return unit(inside, frame)
        case _:
            return LENGTH


def _quantities(claim: Any) -> list[Any]:
    return sorted(claim.atoms(AppliedUndef, Symbol), key=str)


def _numbers(claim: Any, frame: Frame) -> Iterator[Number]:
    """What the quantities of the claim are."""
    for quantity in _quantities(claim):
        meant = frame.meaning(quantity)
        if meant is not None:
            yield meant[1]


def measured_vectors(number: Number) -> Iterator[Vector]:
    """The vectors of its squares and products."""
    for _, (op, *parts) in number.terms:
        inside = parts[0] if op == "mean" and parts else (op, *parts)
        if inside[0] in ("norm2", "inner"):
            yield from (part for part in inside[1:] if isinstance(part, Vector))


def _valued(number: Number) -> Iterator[Vector]:
    """The points at which it reads functions."""
    for _, (op, *parts) in number.terms:
        inside = parts[0] if op == "mean" and parts else (op, *parts)
        if inside[0] in ("f", "f_i"):
            yield from (part for part in inside[1:] if isinstance(part, Vector))


def _generators(rule: Shown, statement: Statement, conditions: Sequence[Boolean]) -> Iterator[Expr]:
    """Constants of the claim and of the assumptions, their inverses, what the conditions keep from being negative."""
    frame, known = rule.frame, rule.frame.method.glossary
    spoken_of, steps = set(frame.leaves(rule.claim)), {q.func for q in frame.method.steps()}
    leaves = dict.fromkeys((*spoken_of, *(arg for a in (*statement.let, *statement.implicit) for arg in a.args)))
    numbers = [
        x
        for x in sorted(leaves, key=str)
        if isinstance(x, Symbol | AppliedUndef)
        and by_form(x, strict=True)
        and (x in spoken_of or x.func in steps or dimension_of(x, known) == CURVATURE)
    ]
    yield from numbers
    yield from (1 / x for x in numbers)
    spoken = {s for leaf in numbers for s in leaf.free_symbols}
    yield from _margins(conditions, spoken)


def _margins(conditions: Sequence[Boolean], spoken: Collection[Symbol]) -> Iterator[Expr]:
    """What conditions on these symbols alone keep from being negative, where its form does not show it already."""
    for condition in conjuncts(*conditions):
        if isinstance(condition, Le | Ge) and condition.free_symbols <= set(spoken):
            top, below = fraction(cancel(together(condition.gts - condition.lts)))
            if by_form(below, strict=True) and not by_form(top):
                yield top


def written(premise: Known) -> str:
    """Its multipliers and atoms as arguments of `shown`, to be pasted."""
    return ",\n".join(f"({m}, {_atom(atom)})" for m, atom in premise.rule.by)


def _atom(atom: Any) -> str:
    over = [] if atom.over == "one" else [f'"{atom.over}"']
    match atom:
        case Square(x=x) | Lower(x=x):
            parts = [spelled(x), *over]
        case Minimum(x=x):
            parts = [spelled(x)]
        case Smooth(x=x, y=y, L=constant) | Convex(x=x, y=y, mu=constant):
            parts = [spelled(x), spelled(y), str(constant), *over]
            parts += [f'named="{atom.named}"'] if atom.named not in COMMON.values() else []
        case Variance(x=x, sigma=sigma):
            parts = [spelled(x), str(sigma), *over]
        case Weight(client=letter):
            parts = [str(letter)]
        case _:
            at = ", ".join(f"({letter}, {value})," for letter, value in atom.at)
            parts = [str(atom.assumption.name), *([f"({at})"] if at else [])]
    return f"{type(atom).__name__}({', '.join(parts)})"


def spelled(x: Vector) -> str:
    """A vector as one writes it."""
    match x:
        case Vector(op="name"):
            return str(x.args[0])
        case Vector(op="+"):
            first, *more = (spelled(arg) for arg in x.args)
            return first + "".join(f" - {part[1:]}" if part[0] == "-" else f" + {part}" for part in more)
        case Vector(op="*", args=(factor, inside)):
            within = f"({spelled(inside)})" if inside.op == "+" else spelled(inside)
            if factor == -1:
                return f"-{within}"
            bare = isinstance(factor, Symbol | AppliedUndef | Mul) or getattr(factor, "is_Integer", False)
            return f"{factor if bare else f'({factor})'}*{within}"
        case Vector(op="w_star"):
            return "w_star"
        case _:
            return f"{x.op}({', '.join(spelled(a) if isinstance(a, Vector) else str(a) for a in x.args)})"
