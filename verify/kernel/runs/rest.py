"""Runs that come to rest: a law that a round leaves as it was is the law before every later round."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.expression import free
from ..core.method import Method
from ..core.problem import Problem
from ..core.randomness import Noise
from ..core.replay import Replay, keyed
from ..core.walk import N, V


def steady(method: Method) -> bool:
    """Whether no scalar of a method changes with the round or the step."""
    names = {name for tree in method.scalars for name in free(tree)}
    return not any(name in ("t", "k") or arity >= 0 for name, arity in names)


def settled(method: Method, problem: Problem, noise: Noise) -> int | None:
    """The round from which on every round is like the one before, whose law stays as it is once it does not change."""
    if not steady(method) or problem.rows is not None or noise.steps is not None:
        return None
    return 0 if problem.data is None else problem.data.settled


def rounds(replay: Replay[V, N]) -> Iterator[tuple[int, int]]:
    """Rounds from the first on, and how many of the run are like it: 1, or all that are left of a law at rest."""
    for t in range(replay.T):
        replay.law(t, -1)  # which is paid for: a run may have more rounds than can be counted to
        rests = replay.settled is not None and t >= replay.settled and unchanged(replay, t)
        yield t, replay.T - t if rests else 1
        if rests:
            return


def unchanged(replay: Replay[V, N], t: int) -> bool:
    """Whether round t leaves the law as it was."""
    laws = [replay.law(s, -1) for s in (t, t + 1)]
    before, after = ({(draw, keyed(x, replay.algebra.label)): q for x, draw, q in law} for law in laws)
    return before == after
