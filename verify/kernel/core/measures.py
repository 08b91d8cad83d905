"""The measures of a method on a run: expectations, extremes and means, at the indices that a claim asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from flint import fmpq

from .loss import ONE
from .method import Measure, factors
from .replay import Replay
from .walk import N, V
from .world import load

Indices = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Measures(Generic[V, N]):
    """Values that were asked for are kept; `running`: extremes of some clients up to every step."""

    replay: Replay[V, N]
    values: dict[tuple[str, Indices], N] = field(default_factory=dict[tuple[str, Indices], N])
    running: dict[tuple[str, Indices], list[N]] = field(default_factory=dict[tuple[str, Indices], "list[N]"])

    def value(self, name: str, indices: Indices) -> N:
        if (name, indices) not in self.values:
            self.values[name, indices] = self._measured(name, indices)
        return self.values[name, indices]

    def _measured(self, name: str, indices: Indices) -> N:
        replay, measure = self.replay, self.replay.method.measures[name]
        where, first = dict(zip(measure.at, indices, strict=True)), replay.method.counts_from
        if measure.at == ("T",):  # a round before the last, each with the same probability
            picked = [(n, self._picked(measure, t)) for t, n in replay.rounds()]
            return replay.algebra.total([fmpq(n, replay.T) for n, _ in picked], [value for _, value in picked])
        if measure.law == "picked_step":
            return self._picked(measure, where["t"] - first)
        if measure.extreme:
            return load("..runs.extremes").extreme(replay, self.running, name, where)
        return self._at_place(measure, where, f"method.measures.{name}")

    def _at_place(self, measure: Measure, where: Mapping[str, int], said: str) -> N:
        """At one place of the run."""
        replay = self.replay
        first = replay.method.counts_from
        t, k, i = where.get("t", first) - first, where.get("k", -1 if "t" in where else 0), where.get("i", 1) - 1
        last = where.get("j", where.get("n", 1)) - 1
        r, done = replay.round(t) if replay.method.steps else (t, k)
        if measure.law:
            return self._about_mean(measure, i, r, done, t, max(k, 0))
        weights = [replay.scalar(factor, where, said) for factor, _ in measure.terms]
        law, k = replay.law(r, done), max(k, 0)
        each = [replay.expected(((ONE, atom),), i, law, t, k, last) for _, atom in measure.terms]
        return replay.algebra.total(weights, each)

    def _picked(self, measure: Measure, t: int) -> N:
        """The expectation when round t begins, or before any of its steps."""
        replay = self.replay
        if measure.law == "picked":
            return replay.expected(measure.terms, 0, replay.law(t, -1), t, 0)
        each = [replay.expected(measure.terms, 0, replay.law(t, k), t, k) for k in range(replay.E)]
        return replay.algebra.total([fmpq(1, replay.E)] * replay.E, each)

    def _about_mean(self, measure: Measure, i: int, r: int, done: int, t: int, k: int) -> N:
        """|E x|^2, or E|x - E x|^2, times its factor."""
        ((factor, atom),) = measure.terms
        replay, algebra = self.replay, self.replay.algebra
        places = replay.places(replay.law(r, done), t, k, factors(measure.terms))
        weights, points = [q for _, q in places], [place.vector(atom.args[0], i) for place, _ in places]
        mean, scalar = algebra.combined(weights, points), places[0][0].scalar(factor)
        if measure.law == "of_mean":
            return algebra.total([scalar], [algebra.square(mean)])
        around = [algebra.square(algebra.combined((ONE, -ONE), (x, mean))) for x in points]
        return algebra.total([scalar * q for q in weights], around)
