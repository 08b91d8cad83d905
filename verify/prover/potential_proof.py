"""A proof by a potential: the programme for its coefficients, and the lines that end in the claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sympy import Add, Expr, Integer, Le, Max, Pow, Sum, Symbol, expand, true
from sympy.core.relational import Relational

from fedaudit.bounds.decide.facts import power_sign, sum_empty, sum_next
from fedaudit.bounds.language.derivation import Argument, Given, Induction, Step, View, named
from fedaudit.bounds.language.dimension import DimensionError, dimension_of
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.atoms import Bound
from fedaudit.bounds.proofs.premise_identity import shown

from .attempts import Attempts, FoundArgument, Tried
from .points import bundles, power_of
from .potentials import (
    START,
    LastRoundClaim,
    Potential,
    generators,
    last_round_claim,
    potential_of,
)
from .shared_programme import Equation, Solution, products_of, solve

LEVELS = (  # powers of t, degree in the constants, degree of multipliers, names of the proof's own
    (0, 0, 2, False),
    (0, 1, 3, False),
    (1, 1, 3, False),
    (2, 2, 4, False),
    (0, 1, 3, True),
    (0, 2, 3, True),
    (1, 1, 4, True),
    (2, 2, 4, True),
)
RATE = Symbol("rate_", real=True)


def by_potential(statement: Statement, goal: View, relation: Relational) -> Attempts:
    """Arguments for one relation, simplest potentials first; between them, what was tried in vain."""
    potentials = {more: potential_of(statement, more=more) for more in (False, True)}
    for (powers, degree, most, more), apart, times in _attempts(potentials[False], relation):
        potential = potentials[more]
        shape = None if potential is None else last_round_claim(relation, potential.frame)
        if potential is None or shape is None:
            return
        yield from _attempt(potential, shape, goal, relation, (powers, degree, most, apart, times))


def _attempts(potential: Potential | None, relation: Relational) -> list[tuple[tuple[int, int, int, bool], int, Any]]:
    """Sizes of the programme, whether strong convexity may be all of the smoothness, and a number to multiply with."""
    shape = None if potential is None else last_round_claim(relation, potential.frame)
    if potential is None or shape is None:
        return []
    letters, _ = generators(potential.reach, (), relation)
    plain = [g for g in letters if isinstance(g, Symbol)] if _bases(shape) else []
    attempts: list[tuple[int, tuple[int, int, int, bool], int, Any]] = []
    levels = [level for level in LEVELS if shape.rate is None or not level[0]]
    for n, level in enumerate(levels):
        for apart in (0, 1) if _room(potential.reach) is not None else (0,):
            for m, times in enumerate((Integer(1), *plain, *(g**2 for g in plain))):
                attempts.append((4 * n + (2 - 2 * apart if plain else apart) + m, level, apart, times))
    return [(level, apart, times) for _, level, apart, times in sorted(attempts, key=lambda one: one[0])]


def _attempt(
    potential: Potential, shape: LastRoundClaim, goal: View, relation: Relational, level: tuple[int, int, int, int, Any]
) -> Attempts:
    powers, degree, most, apart, times = level
    t, frame, reach = potential.frame.letters[0], potential.frame, potential.reach
    glossary, scale = frame.method.glossary, reach.scale
    try:
        wanted = dimension_of(shape.first, glossary)
    except DimensionError:
        return
    if wanted is None:
        return
    letters, bounds = generators(reach, goal.requires, relation)
    bases = _bases(shape)
    rate = None if shape.rate is None else shape.rate if not bases else RATE
    if bases:
        rate = RATE ** _exponent(shape)
        bounds = [*bounds, *(RATE - b for b in bases)]
    units: list[tuple[Any, Any]] = []
    for head, size in potential.quantities:
        power = power_of(scale, size, wanted)
        if power is not None:
            units += [(head, power * m) for m in products_of(letters, degree)]
    columns = [(head, unit, a) for head, unit in units for a in range(powers + 1)]

    def at(when: Any, of: int) -> Any:
        head, unit, a = columns[of]
        return unit * (expand(when**a) if a else Integer(1)) * head(when)

    def equation(when: Any, fixed: Any, shared: Mapping[int, Any], extra: Sequence[Any], deg: int) -> Equation:
        sized = bundles(reach, when, next_round=when == t)
        gens = [*letters, *bounds, *extra]
        factors = products_of(gens, deg)
        kept = [(b, power_of(scale, size, wanted)) for b, size in sized]
        kept = [(b, power) for b, power in kept if power is not None]
        return Equation(
            frame,
            (when, Integer(0)),
            fixed,
            shared,
            tuple(b for b, _ in kept),
            tuple(tuple(power * p for p in factors) for _, power in kept),
            times if when == t else Integer(1),
        )

    each = shape.each.subs(shape.index, t) if shape.index is not None else START
    after = {n: (at(t, n) * (rate if rate is not None else 1)) - at(t + 1, n) for n in range(len(columns))}
    gained = shape.per_round if rate is None else expand((1 - rate) * shape.rest)
    moving = [t] if powers else []
    last = shape.last + (shape.each.subs(shape.index, shape.end) if shape.inclusive else 0)
    ends = [shape.end] if powers else []
    room = _room(reach) if apart else None
    lost = _lost(potential, room, wanted, letters) if room is not None else []
    count, whole = len(columns), tuple[Equation, ...]()
    first_round = equation(t, gained - each, after, moving, most)
    if room is not None:
        slack = {count + n: room * q for n, q in enumerate(lost)}
        scaled = {n: room**apart * e for n, e in after.items()}
        whole = (equation(t, room**apart * (gained - each), scaled, moving, most + 1),)
        first_round = replace(first_round, shared={**first_round.shared, **slack})
    left = shape.rest if rate is None else START
    equations = (
        first_round,
        equation(START, shape.first, {n: -at(START, n) for n in range(len(columns)) if columns[n][2] == 0}, [], 2),
        equation(shape.end, left - last, {n: at(shape.end, n) for n in range(len(columns))}, ends, 3),
        *whole,
    )  # fmt: skip
    tried = Tried(len(equations[0].bundles), len(letters) + len(bounds), most)
    solution = solve(equations, {count + n: True for n in range(len(lost))})
    if solution is None:
        yield tried
        return

    def potential_at(when: Any) -> Any:
        return Add(*(value * at(when, n) for n, value in solution.shared.items() if value != 0 and n < count))

    loss = Add(*(solution.shared[count + n] * q for n, q in enumerate(lost)))
    argument = _argument(shape, relation, equations, solution, potential_at, rate, (room, apart, loss))
    yield FoundArgument(argument, replace(tried, columns=solution.columns))


def _room(reach: Any) -> Any:
    """1 - mu/L, where a function is L-smooth and mu-strongly convex: it is a parabola where this is 0."""
    curved = reach.curved
    return None if curved.both is None or curved.strong is None else 1 - curved.strong.args[0] / curved.both.args[0]


def _lost(potential: Potential, room: Any, wanted: Any, letters: Sequence[Any]) -> list[Any]:
    """Measures that are not negative: a round may lose `room` times a combination of them."""
    t = potential.frame.letters[0]
    kept = [(head(t), power_of(potential.reach.scale, size, wanted)) for head, size in potential.quantities]
    units = [(q, power) for q, power in kept if power is not None and q.is_nonnegative]
    return [q * power * m for q, power in units for m in products_of(letters, 2)]


def _bases(shape: LastRoundClaim) -> list[Expr]:
    """The parts of a largest number that a rate is a power of."""
    base = shape.rate.base if isinstance(shape.rate, Pow) else shape.rate
    return list(base.args) if isinstance(base, Max) else []


def _exponent(shape: LastRoundClaim) -> Any:
    return shape.rate.exp if isinstance(shape.rate, Pow) else Integer(1)


def _argument(
    shape: LastRoundClaim,
    relation: Relational,
    equations: Sequence[Equation],
    solution: Solution,
    V: Callable[[Any], Any],
    rate: Any,
    near: tuple[Any, int, Any],
) -> Argument:
    frame = equations[0].frame
    t = frame.letters[0]
    at = [e.at for e in equations]
    steps: list[Step | Induction] = []
    side: list[Given] = []
    largest = Max(*_bases(shape)) if _bases(shape) else START
    name = named(RATE, largest, "the rate")
    parts = tuple(Step(Le(b, RATE), (name,), note="a part of the largest") for b in _bases(shape))
    lower = Step(Le(0, RATE), parts[:1], note="the rate is not negative")
    sign = Step(Le(0, largest, evaluate=False), (lower, name), note="the rate is not negative")
    if parts:
        steps += [*parts, lower, sign]
        side = [*parts]
    each = shape.each.subs(shape.index, t) if shape.index is not None else START
    gained = shape.per_round if rate is None else expand((1 - rate) * shape.rest)
    V0, Vt, Vnext = V(START), V(t), V(t + 1)
    right = (rate * Vt if rate is not None else Vt) + gained
    room_, apart, loss = near
    under = (Le(t + 1, shape.end),) if any(isinstance(a, Bound) for by in solution.by for _, a in by) else ()
    small, large = expand(Vnext + each), expand(right)
    one = shown(
        Le(small, large + (0 if room_ is None else expand(room_ * loss))), "one round", frame, *solution.by[0], at=at[0]
    )
    given_: tuple[Given, ...] = (one, *side)
    if room_ is not None:
        scaled = Le(expand(room_**apart * small), expand(room_**apart * large))
        both = shown(scaled, "one round, times a number that may be 0", frame, *solution.by[3], at=at[3])
        given_ = (one, both, *side)
    round_ = Step(Le(small, large), given_, note="one round", under=under)
    steps.append(round_)
    if _bases(shape):  # from here on without the name, so that no power has it
        rate = shape.rate
        left = expand(small - large.subs(RATE, 0))
        round_ = Step(Le(left, large.coeff(RATE, _exponent(shape)) * rate), (round_, name), note="one round")
        steps.append(round_)
        side = [sign]
    if rate is None:
        done = Sum(shape.each, (shape.index, 0, t - 1)) if shape.index is not None else START
        claim = Le(done + Vt, V0 + shape.per_round * t)
        base: tuple[Given, ...] = (sum_empty(shape.each, shape.index, 0),) if shape.index is not None else ()
        onward: tuple[Given, ...] = (round_,)
        if shape.index is not None:
            onward = (round_, sum_next(shape.each, shape.index, 0, t - 1))
    else:
        claim = Le(Vt, rate**t * (V0 - shape.rest) + shape.rest)
        base, onward = (), (round_, power_sign(x=rate, n=t), *side)
    if claim is true:
        claim = Le(Vt, V0, evaluate=False)
    inside = (Le(t, shape.end),) if under and shape.end != t else ()
    rounds = Induction(claim, t, 0, base, onward, note="all rounds", under=inside)
    steps.append(rounds)
    reached: Given = rounds if shape.end == t else rounds.at(shape.end)
    at_the_end: list[Given] = [reached]
    if expand(V0 - shape.first) != 0:
        at_the_end.append(shown(Le(V0, shape.first), "at the start", frame, *solution.by[1], at=at[1]))
    last = shape.last + (shape.each.subs(shape.index, shape.end) if shape.inclusive else 0)
    room = shape.rest if rate is None else START
    if expand(V(shape.end) + room - last) != 0:
        at_the_end.append(shown(Le(last, V(shape.end) + room), "at the end", frame, *solution.by[2], at=at[2]))
    if shape.inclusive and shape.index is not None:
        at_the_end.append(sum_next(shape.each, shape.index, 0, shape.end - 1))
    if rate is not None:
        at_the_end.append(power_sign(x=rate, n=shape.end))
    final = Step(relation, tuple(at_the_end), note="what is claimed")
    return Argument((*steps, final), final)
