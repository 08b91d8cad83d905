"""Points, slopes and atoms in reach of a round of one local step: what the rules make of the server's vectors.

With one local step per round the server's next vectors are formulas of its present ones: the rules are put into each
other. At these points, and at the minimiser, the assumptions of the statement speak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

from sympy import Expr, Ge, Integer, Le, Symbol
from sympy.core.function import AppliedUndef

from fedaudit.bounds.language.assumptions import LossClass, loss_class, record_of
from fedaudit.bounds.language.dimension import ONE, Dimension, dimension, dimension_of
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.rule_expressions import grad, mean, w_star
from fedaudit.bounds.language.rule_parts import Vector, vectors_of
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.bounds.proofs.atoms import Bound, Convex, Interpolated, Minimum, Smooth, Square, Variance
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.proximal_atoms import ProximalPL, Subgradient

from .atoms_in_reach import LENGTH, SLOPE, measured_vectors, unit
from .framing import meaning
from .shared_programme import Bundle

HAS_MINIMUM = "has_minimum"  # an assumption of settings, where nothing else says that there is a least value

VALUE, LENGTH2, SLOPE2 = dimension("F"), dimension("W^2"), dimension("F^2/W^2")
CURVATURE = dimension("F/W^2")
MOST_VECTORS = 7  # whose sums and differences are squared
Sized = tuple[Bundle, Dimension]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a statement about rounds of one step offers: its points, constants and the scale of curvature."""

    frame: Frame
    statement: Statement
    now: Mapping[Vector, Vector]  # the server's vectors at the round
    later: Mapping[Vector, Vector]  # what the round makes of them
    scale: Any  # a curvature: L, mu, or one over the step size
    spoken: tuple[Vector, ...] = ()  # points of the claim's own measures
    measured: tuple[Vector, ...] = ()  # vectors of their squares and products

    def lengths(self) -> Iterator[Vector]:
        """The vectors of the claim's own squares and products, each as a length."""
        for v in self.measured:
            size = unit(v, self.frame)
            if size in (LENGTH, SLOPE):
                yield v if size == LENGTH else v / self.scale

    @property
    def assumed(self) -> dict[str, Assumption]:
        return {a.name: a for a in (*self.statement.let, *self.statement.implicit)}

    @property
    def curved(self) -> LossClass:
        """What is assumed of every f_i."""
        return loss_class(self.assumed.values())

    def giving(self, atom: str) -> list[Assumption]:
        """The assumptions of the statement that give atoms of this kind."""
        recorded = ((one, record_of(one)) for one in self.assumed.values())
        return [one for one, record in recorded if record is not None and atom in record.atoms]


def reach_here(frame: Frame, statement: Statement, relation: Any) -> Reach:
    """What a claim about one moment offers: the points of its own measures."""
    found, squared = list[Vector](), list[Vector]()
    for quantity in sorted(relation.atoms(AppliedUndef, Symbol), key=str):
        meant = meaning(frame, quantity)
        if meant is None:
            continue
        squared += measured_vectors(meant[1])
        found += [v for _, atom in meant[1].terms for v in _valued(atom)]
        found += [v.args[0] for v in vectors_of(meant[1]) if v.op == "grad"]
        found += [v for v in vectors_of(meant[1]) if v.op == "prox"]
    spoken = tuple(dict.fromkeys(v for v in found if v != w_star))
    now, scale = {x: x for x in frame.method.server}, _scale(frame, statement)
    return Reach(frame, statement, now, {}, scale, spoken, tuple(dict.fromkeys(squared)))


def _valued(atom: tuple[Any, ...]) -> list[Vector]:
    op, *parts = atom[1] if atom[0] == "mean" else atom
    return [part for part in parts if isinstance(part, Vector)] if op in ("f", "F", "f_i", "g") else []


def reach_of(frame: Frame, statement: Statement) -> Reach | None:
    """None where the rules are none that can be put into each other."""
    method = frame.method
    if not frame.single or method.uses("sampled") or method.uses("noisy") or method.uses("neighbours"):
        return None
    now = {x: x for x in method.server}

    def put(x: Any, values: Mapping[Vector, Vector]) -> Vector:
        if isinstance(x, int):
            return Vector("zero")
        if x.op == "name":
            return values.get(x, x)
        if x.op == "mean" and frame.alone:
            return put(x.args[0], values)
        args = (put(a, values) if isinstance(a, Vector) else _written(a, frame) for a in x.args)
        return Vector(x.op, tuple(args))

    begun = {y: put(rule, now) for y, rule in method.begin.items()}
    begun = {**{y: y for y in method.client}, **begun}
    stepped = {**begun, **{y: put(rule, {**now, **begun}) for y, rule in method.local.items()}}
    ended = {**stepped, **{y: put(rule, {**now, **stepped}) for y, rule in method.end.items()}}
    later = {x: put(method.update.get(x, x), {**now, **ended}) for x in method.server}
    return Reach(frame, statement, now, later, _scale(frame, statement))


def _written(value: Any, frame: Frame) -> Expr:
    for own, chosen in frame.chosen.items():
        value = value.subs(own, chosen) if hasattr(value, "subs") else value
    return value


def _scale(frame: Frame, statement: Statement) -> Expr:
    curved = loss_class((*statement.let, *statement.implicit))
    for one in (curved.both, curved.above, curved.strong):
        if one is not None and one.args:
            return one.args[0]
    steps = [_written(q, frame) for q in sorted(frame.method.steps(), key=str)]
    glossary = frame.method.glossary
    sized = [s for s in steps if isinstance(s, Symbol | AppliedUndef) and dimension_of(s, glossary) is not None]
    return 1 / sized[0] if sized else Integer(1)


def bundles(reach: Reach, when: Any, *, next_round: bool) -> list[Sized]:
    """Atoms at the points of this round, and of the next one if it is asked for."""
    shared = [*reach.now.values(), *(reach.later.values() if next_round else ()), *reach.spoken]
    read = [v.args[0] for x in shared for v in vectors_of(x) if v.op == "grad"]
    more = shared if _measures_slopes(reach.frame) or reach.spoken else []
    more = [x for x in more if x.op != "prox"] if reach.frame.method.composite and reach.spoken else more
    steep = list(dict.fromkeys((*read, *more)))
    points = list(dict.fromkeys((*shared, *read)))
    sized: list[Sized] = []
    listed = set[Any]()
    for bundle, size in (*_functions(reach, points, steep), *_regulariser(reach, points), *_assumed(reach, when)):
        if bundle not in listed:
            listed.add(bundle)
            sized.append((bundle, size))
    return [*sized, *_squares(reach, points, steep, when)]


def _one(atom: Any) -> Bundle:
    return ((Integer(1), atom),)


def _measures_slopes(frame: Frame) -> bool:
    numbers = (*frame.method.measures.values(), *frame.names.values())
    return any(v.op == "grad" for number in numbers for v in vectors_of(number))


def _functions(reach: Reach, points: Sequence[Vector], steep: Sequence[Vector]) -> Iterator[Sized]:
    curved, composite = reach.curved, reach.frame.method.composite
    over = "one" if reach.frame.client is not None else "mean"
    L = curved.both.args[0] if curved.both is not None else None
    yield from _sides(reach, points, steep)
    mu = curved.strong.args[0] if curved.strong is not None else None
    if not (curved.bounded or reach.giving("minimum") or HAS_MINIMUM in reach.assumed):
        return
    for x, y in permutations((*points, w_star), 2):
        if x not in (*steep, w_star):
            continue
        # The branches of this condition read gradients at both points; the atoms after it read one at x alone.
        if y not in (*steep, w_star):
            pass
        elif L is not None and mu is not None:
            yield _one(Interpolated(x, y, L, mu, over)), SLOPE2
        elif L is not None and curved.convex:
            # There the parabola above f at x meets the tangent below f at y, which gives the interpolation condition
            # f(x) >= f(y) + <grad f(y), x - y> + |grad f(x) - grad f(y)|^2/(2 L).
            end = x - (grad(x) - grad(y)) / L
            yield (*_one(Smooth(x, end, L, over)), *_one(Convex(y, end, 0, over))), VALUE
        elif L is not None and mu is None:
            # The same with a parabola below f at y: the interpolation condition where f need not be convex.
            end = (x + y) / 2 - (grad(x) - grad(y)) / (2 * L)
            yield (*_one(Smooth(x, end, L, over)), *_one(Smooth(y, end, L, over, below=True))), VALUE
        if L is not None:
            yield _one(Smooth(x, y, L, over)), VALUE
        if mu is not None:
            yield _one(Convex(x, y, mu, over)), VALUE
        elif L is None and curved.convex:
            yield _one(Convex(x, y, 0, over)), VALUE
    for x in points:
        yield _one(Minimum(x)), VALUE
        if not composite and L is not None and not curved.convex and x in steep:
            # f* <= f(x - grad f(x)/L) <= f(x) - |grad f(x)|^2/(2 L).
            slope = _slope(reach)(x)
            end = x - slope / L
            yield (*_one(Smooth(x, end, L, over)), *_one(Minimum(end))), VALUE


def _sides(reach: Reach, points: Sequence[Vector], steep: Sequence[Vector]) -> Iterator[Sized]:
    """Parabolas above and below alone, and the proximal PL inequality."""
    over, curved = "one" if reach.frame.client is not None else "mean", reach.curved
    for one, below in ((curved.above, False), (curved.below, True)):
        if one is not None and curved.both is None:
            for x, y in permutations((*points, w_star), 2):
                if x in steep:
                    yield _one(Smooth(x, y, one.args[0], over, below=below, named=one.name)), VALUE
    for one in reach.giving("proximal_pl"):
        for x in steep:
            yield _one(ProximalPL(x, one.args[0])), VALUE


def _regulariser(reach: Reach, points: Sequence[Vector]) -> Iterator[Sized]:
    """Subgradients of the regulariser at its proximal points, which a run's regulariser has."""
    proximal = [p for p in points if p.op == "prox"]
    weak = next(iter(reach.giving("subgradient")), None)
    if weak is None and not isinstance(reach.statement.method, Method):
        return  # of a setting nobody says that g is convex; that of a run is
    charges, nu = ((), 0) if weak is None else (((weak.name, weak.args),), weak.args[0])
    for p in proximal:
        step, x = p.args
        for y in (*points, w_star):
            if y != p:
                yield _one(Subgradient(x, y, step, charges, nu)), VALUE
        for y in points if x.uses("grad") and nu == 0 else ():
            yield _one(Subgradient(w_star - step * _slope(reach)(w_star), y, step, ())), VALUE


def _assumed(reach: Reach, when: Any) -> Iterator[Sized]:
    t = reach.frame.letters[0]
    for assumption in reach.assumed.values():
        if isinstance(assumption.means, Le | Ge):
            size = dimension_of(assumption.means.lhs, reach.frame.method.glossary)
            if size is not None:
                yield _one(Bound(assumption, () if when == t else ((t, when),))), size
        if assumption in reach.giving("variance"):
            for x in reach.now:
                yield _one(Variance(grad(x), assumption.args[0], "squares")), SLOPE2


def _squares(reach: Reach, points: Sequence[Vector], steep: Sequence[Vector], when: Any) -> Iterator[Sized]:
    """Squares of lengths: of the points from the minimiser, of slopes over the scale, and of pairs of them."""

    def slope(x: Vector) -> Vector:
        own = _slope(reach)
        return own(x) - own(w_star) if reach.frame.method.composite else own(x)  # that at w* is 0 without g

    lengths = [x - w_star for x in points]
    slopes = [slope(x) / reach.scale for x in steep] if reach.curved.bounded else []
    steps = [
        x.args[1] - x + (x.args[0] * _slope(reach)(w_star) if x.args[1].uses("grad") else Vector("zero"))
        for x in points
        if x.op == "prox"
    ]
    vectors = list(dict.fromkeys((*reach.lengths(), *lengths, *slopes, *steps)))[:MOST_VECTORS]
    for x in vectors:
        yield _one(Square(x)), LENGTH2
    for x, y in combinations(vectors, 2):
        yield _one(Square(x - y)), LENGTH2
        yield _one(Square(x + y)), LENGTH2
    for (x, y), q in product(permutations(reach.now, 2), _pure(reach)):
        yield _one(Square(x - y + q * (x - w_star))), LENGTH2
    for x, g in ((x, g) for x in lengths for g in slopes if not isinstance(when, Integer)):
        for far in dict.fromkeys(m * when + n for m in (1, *_pure(reach)) for n in (0, 1)):
            yield _one(Square(x - far * g)), LENGTH2
            yield _one(Square(x + far * g)), LENGTH2
    if (strong := reach.curved.strong) is not None:
        ratio = strong.args[0] / reach.scale
        if ratio != 1:
            # There are no slopes where no assumption bounds them.
            for x, g in zip(steep, slopes, strict=False):
                yield _one(Square(g - ratio * (x - w_star))), LENGTH2
    if reach.frame.client is None:
        for x in reach.now:
            yield _one(Square(grad(x) / reach.scale, "mean")), LENGTH2
            yield _one(Square((grad(x) - mean(grad(x))) / reach.scale, "mean")), LENGTH2


def _pure(reach: Reach) -> list[Expr]:
    """Numbers without dimension in the method's rules and in the steps that are chosen."""
    glossary = reach.frame.method.glossary
    scalars = (*reach.frame.method.scalars(()), *reach.frame.chosen.values())
    symbols = {s for e in scalars for s in e.free_symbols if isinstance(s, Symbol)}
    return [
        s for s in sorted(symbols, key=str) if not s.is_integer and s in glossary and dimension_of(s, glossary) == ONE
    ]


def _slope(reach: Reach) -> Callable[[Vector], Vector]:
    return grad if reach.frame.client is not None else (lambda x: mean(grad(x)))


def power_of(scale: Expr, size: Dimension, wanted: Dimension | None) -> Expr | None:
    """The power of the scale that brings one dimension to the other; None if none does."""
    for n in range(-4, 5):
        if size * CURVATURE**n == wanted:
            return scale**n
    return None
