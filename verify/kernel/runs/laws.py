"""Measures with a law of their own: in a round or a step that is picked at random, of a mean, or around one."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from ..core.loss import ONE
from ..core.method import Atom, Measure, factors
from ..core.replay import Replay
from ..core.walk import N, V
from .rest import rounds


def measured(replay: Replay[V, N], measure: Measure, where: Mapping[str, int], i: int) -> N:
    """The value of such a measure at these indices, for client i."""
    if measure.at == ("T",):  # a round before the last, each with the same probability
        alike = [(n, picked(replay, measure, s)) for s, n in rounds(replay)]
        return replay.algebra.total([fmpq(n, replay.T) for n, _ in alike], [value for _, value in alike])
    if measure.law == "picked_step":
        return picked(replay, measure, where["t"] - replay.method.counts_from)
    return about_mean(replay, measure, i, *replay.place(where))


def picked(replay: Replay[V, N], measure: Measure, t: int) -> N:
    """The expectation when round t begins, or before any of its steps."""
    if measure.law != "picked_step":
        return replay.expected(measure.terms, 0, replay.law(t, -1), t, 0)
    each = [replay.expected(measure.terms, 0, replay.law(t, k), t, k) for k in range(replay.E)]
    return replay.algebra.total([fmpq(1, replay.E)] * replay.E, each)


def about_mean(replay: Replay[V, N], measure: Measure, i: int, r: int, done: int, t: int, k: int) -> N:
    """|E x|^2, or E|x - E x|^2, times its factor; before local step k, after as many as are `done` in round r."""
    ((factor, atom),) = measure.terms
    algebra = replay.algebra
    places = replay.places(replay.law(r, done), t, k, factors(measure.terms))
    weights, points = [q for _, q in places], [place.vector(atom.args[0], i) for place, _ in places]
    mean, scalar = algebra.combined(weights, points), places[0][0].scalar(factor)
    square = Atom("norm2")
    if measure.law == "of_mean":
        return algebra.total([scalar], [algebra.measured(square, i, [mean])])
    around = [algebra.measured(square, i, [algebra.combined((ONE, -ONE), (x, mean))]) for x in points]
    return algebra.total([scalar * q for q in weights], around)
