"""The law of a run at one moment: weighted states, and the noise that the next step adds to them (noise.py).

All expectations are sums over weighted states.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from flint import fmpq, fmpz

from ..core.budget import HASH, label, spend, summed
from ..core.rational import affordable
from ..losses.draws import STATES, Draw
from ..losses.loss import ONE, Vector, combine, ldl_of_upper, minus, plus, scaled
from .noise import Kick, Noise
from .rule_value import State

Weighted = tuple[State, Draw, fmpq]  # a state, what was drawn in this round, its weight
COVARIANCE = 1_000_000  # products of entries


@dataclass(frozen=True, slots=True)
class Law:
    """Weighted states. With `paths`, every outcome and its probability. Otherwise a signed measure with the same mean
    and covariance: where all is affine in the signs, quadratic functions have the same expectation under it.
    """

    states: list[Weighted]
    paths: bool

    def outcomes(self, noise: Noise, noisy: bool) -> list[tuple[State, Draw, Kick, fmpq]]:
        """Every state beside the noise of the next step, where that is read."""
        none = noise.none
        still = [(x, draw, none, q) for x, draw, q in self.states]
        if not noisy:
            return still
        kicks, draws = noise.kicks(), [] if self.paths else self.by_draw()
        size = len(still) * 2 ** len(kicks) if self.paths else len(still) + 3 * len(kicks) * len(draws)
        affordable(size, STATES, "instance.noise")
        if self.paths:
            signs = [[_signed(kick, sign) for sign in (ONE, -ONE)] for kick in kicks]
            sums = _shared([_added(none, chosen) for chosen in product(*signs)])
            return [(x, draw, kick, q / len(sums)) for x, draw, q in self.states for kick in sums]
        none, *signed = _shared([none, *(_signed(kick, sign) for kick in kicks for sign in (ONE, -ONE))])
        still = [(x, draw, none, q) for x, draw, q in self.states]
        for x, draw, chance in draws if kicks else ():
            still.append((x, draw, none, -len(kicks) * chance))
            still += [(x, draw, kick, chance / 2) for kick in signed]
        return still

    def by_draw(self) -> list[Weighted]:
        """Of each draw one state (any will do) and the probability of the draw."""
        first: dict[Draw, State] = {}
        chances: defaultdict[Draw, fmpq] = defaultdict(fmpq)
        for state, draw, weight in self.states:
            first.setdefault(draw, state)
            chances[draw] += weight
        return [(state, draw, chances[draw]) for draw, state in first.items()]


def law(states: list[Weighted], paths: bool) -> Law:
    """With `paths` equal states are put together."""
    if not paths:
        return Law(states, False)
    weights: defaultdict[tuple[object, ...], fmpq] = defaultdict(fmpq)
    kept: dict[tuple[object, ...], tuple[State, Draw]] = {}
    same = Same()
    spend(HASH * len(states) * sum(len(vectors) * len(vectors[0]) for vectors in states[0][0].values()))
    for state, draw, weight in states:
        one = {name: tuple([same.vector(x) for x in vectors]) for name, vectors in state.items()}
        key = (draw, *[id(x) for vectors in one.values() for x in vectors])
        weights[key] += weight
        kept.setdefault(key, (one, draw))
    return Law([(*kept[key], weight) for key, weight in weights.items()], True)


@dataclass(frozen=True, slots=True)
class Same:
    """Equal vectors as one object: what is computed from it is looked up by its identity."""

    first: dict[tuple[fmpz, ...], Vector] = field(default_factory=dict[tuple[fmpz, ...], Vector])
    of: dict[int, tuple[Vector, Vector]] = field(default_factory=dict[int, tuple[Vector, Vector]])

    def vector(self, x: Vector) -> Vector:
        if id(x) not in self.of:
            self.of[id(x)] = x, self.first.setdefault(label(x), x)
        return self.of[id(x)][1]


def keyed(state: State, draw: Draw) -> tuple[object, ...]:
    """What equal states have in common, to look them up by."""
    spend(HASH * sum(len(vectors) * len(vectors[0]) for vectors in state.values()))
    return (draw, *((name, *map(label, vectors)) for name, vectors in state.items()))


def condensed(states: list[Weighted], names: list[str]) -> list[Weighted]:
    """The law of these vectors on few points with the same mean and covariance; the other vectors are forgotten."""
    shapes = [(name, len(states[0][0][name])) for name in names]
    d = len(states[0][0][names[0]][0])
    flat = [(tuple(x for name, _ in shapes for vector in s[name] for x in vector), q) for s, _, q in states]
    affordable(len(flat) * len(flat[0][0]) ** 2, COVARIANCE)
    mean = combine([q for _, q in flat], [x for x, _ in flat])
    apart = [(y := minus(x, mean), [q * entry for entry in y]) for x, q in flat]
    rows = range(len(mean))
    parts = ldl_of_upper([[summed(weighted[r] * y[s] for y, weighted in apart) for s in rows[r:]] for r in rows])
    if parts is None:
        raise ArithmeticError("got an indefinite covariance, expected a semidefinite one")
    points = [(combine((ONE, s), (mean, u)), D / 2) for D, u in parts for s in (ONE, -ONE)]
    points.append((mean, 1 - summed(D for D, _ in parts)))
    return [(unflattened(point, shapes, d), states[0][1], weight) for point, weight in points]


def unflattened(entries: Vector, shapes: Sequence[tuple[str, int]], d: int) -> State:
    """Vectors of d entries, so many of each name."""
    vectors, state = [entries[n : n + d] for n in range(0, len(entries), d)], State()
    for name, size in shapes:
        state[name], vectors = tuple(vectors[:size]), vectors[size:]
    return state


def _signed(kick: Kick, sign: fmpq) -> Kick:
    return tuple(scaled(sign, v) for v in kick)


def _shared(kicks: Sequence[Kick]) -> list[Kick]:
    same = Same()
    return [tuple(same.vector(v) for v in kick) for kick in kicks]


def _added(total: Kick, kicks: Sequence[Kick]) -> Kick:
    for kick in kicks:
        total = tuple(plus(*pair) for pair in zip(total, kick, strict=True))
    return total
