"""Measures that are the least or the largest of something: over all outcomes, clients and steps of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.loss import ONE
from ..core.method import Measure
from ..core.replay import Replay
from ..core.walk import N, V
from .rest import rounds


def extreme(replay: Replay[V, N], name: str, where: Mapping[str, int]) -> N:
    """The extreme of the whole run, or of the steps up to one (that E divides), from those before it."""
    measure, everyone = replay.method.measures[name], tuple(range(len(replay.algebra.p)))
    if not replay.method.steps:
        ends = replay.E + 1 if replay.method.phases["local"] else 1
        steps = [(t, k) for t, _ in rounds(replay) for k in range(ends)]
        replay.law(*steps[-1])  # all of the run before what is measured of it: leaves of gram/ are named in this order
        each = [value for t, k in steps for value in outcomes(replay, measure, everyone, t, k, t, k)]
        return replay.algebra.extreme(measure.extreme, each)
    clients = (where["i"] - 1,) if "i" in where else everyone
    t, apart = where.get("t", replay.T - 1), replay.E if measure.each_round else 1
    so_far = replay.running.setdefault((name, clients), [])
    replay.law(*replay.round(t - t % apart))
    for s in range(apart * len(so_far), t + 1, apart):
        each = [*so_far[-1:], *outcomes(replay, measure, clients, *replay.round(s), s, 0)]
        so_far.append(replay.algebra.extreme(measure.extreme, each))
    return so_far[t // apart]


def outcomes(
    replay: Replay[V, N], measure: Measure, clients: Sequence[int], r: int, done: int, t: int, k: int
) -> list[N]:
    """The number of a measure in every state of a law, as if that were certain, for each of these clients."""
    certain = [[(x, draw, ONE)] for x, draw, _ in replay.law(r, done)]
    return [replay.expected(measure.terms, i, law, t, k) for law in certain for i in clients]
