"""Runs that come to rest: a law that a round leaves as it was is the law before every later round."""

from __future__ import annotations

from ..core.budget import HASH, spend
from ..core.randomness import Draw
from ..core.replay import Replay
from ..core.walk import Algebra, Marked, N, V


def unchanged(replay: Replay[V, N], t: int) -> bool:
    """Whether round t leaves the law as it was."""
    before, after = ({keyed(replay.algebra, x, draw): q for x, draw, q in replay.law(s, -1)} for s in (t, t + 1))
    return before == after


def keyed(algebra: Algebra[V, N], state: Marked[V], draw: Draw) -> tuple[object, ...]:
    """What equal states have in common, to look them up by."""
    spend(HASH * sum(len(vectors) for vectors in state.vectors.values()))
    return (draw, *((name, *map(algebra.label, vectors)) for name, vectors in state.vectors.items()))
