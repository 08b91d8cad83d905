"""The law of a run on few points: a signed measure with the mean and the covariance of all outcomes.

Where every rule is affine in the signs of the noise and every measure is a quadratic function, expectations are the
same under it. Its weights are no probabilities: some of them may be negative.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from ..core.budget import summed
from ..core.loss import ONE, Vector, combine, ldl, minus, scaled
from ..core.randomness import STATES, Draw, Noise
from ..core.rational import affordable
from ..core.replay import Law, Weighted
from ..core.walk import Key, State, kick

COVARIANCE = 1_000_000  # products of entries


@dataclass(frozen=True, slots=True)
class MeanAndCovariance:
    """How such a law is followed. `shortens`: whether numbers are rational, so that fewer points can be found."""

    noise: Noise
    shortens: bool

    def outcomes(self, law: Law[Vector], step: int, noisy: bool) -> Law[Vector]:
        """Every state without noise, and of every draw one state with each sign of each part of the noise.

        Given a draw of probability c and n independent signed vectors k, the states have the weights they had; one of
        them (any will do) loses n c and has c/2 with k and c/2 with -k: the mean stays, and each k adds its covariance.
        """
        if not noisy:
            return law
        clients = len(law[0][1].counts)
        kicks, none = self.noise.kicks(step), kick(self.noise.none, clients)
        outcomes: Law[Vector] = [({**x, **none}, draw, q) for x, draw, q in law]
        draws = by_draw(law) if kicks else []
        affordable(len(outcomes) + 3 * len(kicks) * len(draws), STATES, "instance.noise")
        turned = [tuple(scaled(sign, v) for v in moved) for moved in kicks for sign in (ONE, -ONE)]
        signed = [kick(moved, clients) for moved in turned]
        for x, draw, chance in draws:
            outcomes.append(({**x, **none}, draw, -len(kicks) * chance))
            outcomes += [({**x, **moved}, draw, chance / 2) for moved in signed]
        return outcomes

    def joined(self, law: Law[Vector]) -> Law[Vector]:
        return law

    def shortened(self, law: Law[Vector], names: list[str]) -> Law[Vector]:
        """Fewer points where there are many: only these vectors are read again, by what they are after a round."""
        vectors = law[0][0]
        entries = sum(len(vectors[name]) * len(vectors[name][0]) for name in names)
        if not self.shortens or len(law) <= 2 * entries + 1:
            return law
        return condensed(law, names)


def by_draw(law: Law[Vector]) -> list[Weighted[Vector]]:
    """For each draw, one state (any will do) and the probability of the draw."""
    first: dict[Draw, State[Vector]] = {}
    chances: defaultdict[Draw, fmpq] = defaultdict(fmpq)
    for state, draw, weight in law:
        first.setdefault(draw, state)
        chances[draw] += weight
    return [(state, draw, chances[draw]) for draw, state in first.items()]


def condensed(states: Law[Vector], names: list[str]) -> Law[Vector]:
    """The law of these vectors on few points with the same mean and covariance; the other vectors are forgotten."""
    shapes = [(name, len(states[0][0][name])) for name in names]
    d = len(states[0][0][names[0]][0])
    flat = [(tuple(x for name, _ in shapes for vector in s[name] for x in vector), q) for s, _, q in states]
    affordable(len(flat) * len(flat[0][0]) ** 2, COVARIANCE)
    mean = combine([q for _, q in flat], [x for x, _ in flat])
    apart = [(y := minus(x, mean), [q * entry for entry in y]) for x, q in flat]
    rows = range(len(mean))
    parts = ldl([[summed(weighted[r] * y[s] for y, weighted in apart) for s in rows] for r in rows])
    if parts is None:
        raise ArithmeticError("got an indefinite covariance, expected a semidefinite one")
    points = [(combine((ONE, s), (mean, u)), D / 2) for D, u in parts for s in (ONE, -ONE)]
    points.append((mean, 1 - summed(D for D, _ in parts)))
    return [(unflattened(point, shapes, d), states[0][1], weight) for point, weight in points]


def unflattened(entries: Vector, shapes: Sequence[tuple[str, int]], d: int) -> dict[Key, tuple[Vector, ...]]:
    """Vectors of d entries, so many of each name."""
    vectors, state = [entries[n : n + d] for n in range(0, len(entries), d)], dict[Key, tuple[Vector, ...]]()
    for name, size in shapes:
        state[name], vectors = tuple(vectors[:size]), vectors[size:]
    return state
