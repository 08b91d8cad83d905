"""Runs that come to rest: a law that a round leaves as it was is the law before every later round."""

from __future__ import annotations

from ..core.replay import Replay, keyed
from ..core.walk import N, V


def unchanged(replay: Replay[V, N], t: int) -> bool:
    """Whether round t leaves the law as it was."""
    laws = [replay.law(s, -1) for s in (t, t + 1)]
    before, after = ({(draw, keyed(x, replay.algebra.label)): q for x, draw, q in law} for law in laws)
    return before == after
