"""Sturdy counterexamples: of those found, the one that goes on refuting when the run goes on, then the simplest.

A counterexample at T = 1 that holds again at T = 2 convinces nobody. Where a claim speaks of the horizon T itself, the
same problem is replayed at longer horizons; what counts is how many of them it refutes as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import kernel
from .certify import Replayed, needed_names, replay
from .check import genes_of
from .evaluate import Array
from .settings.base import Reading, Setting, Shape

LONGER = (2, 4)  # times the horizon of the counterexample
MOST_STEPS = 48  # of a longer run: exact numbers grow with every step


def horizons(reading: Reading, setting: Setting, replayed: Replayed) -> tuple[int, ...]:
    """The longer horizons at which the same problem refutes the claim too; none where they are not tried."""
    if not wanted(reading, replayed):
        return ()
    T = replayed.shape["T"]
    return tuple(T * times for times in LONGER if _refutes_at(reading, setting, replayed, T * times))


def sturdiest(
    reading: Reading, setting: Setting, replays: Sequence[Replayed], siblings: Mapping[str, Mapping[str, Any]]
) -> Replayed:
    """The first of those that refute at the most horizons and, among them, break the most siblings."""
    if len(replays) == 1:
        return replays[0]
    return max(replays, key=lambda one: (len(horizons(reading, setting, one)), len(breaks(siblings, one))))


def wanted(reading: Reading, replayed: Replayed) -> int:
    """How many longer horizons a sturdy counterexample refutes at; none where they are not tried."""
    tried = "T" in dict(replayed.shape.counts) and reading.uses("T") and replayed.shape.steps * LONGER[-1] <= MOST_STEPS
    return len(LONGER) if tried else 0


def breaks(claims: Mapping[str, Mapping[str, Any]], replayed: Replayed) -> list[str]:
    """The ids of those claims (siblings in the same setting) that the very same instance refutes, at some index."""
    return [name for name, claim in claims.items() if _broken(claim, replayed)]


def _broken(claim: Mapping[str, Any], replayed: Replayed) -> bool:
    instance = needed_names(claim, replayed.instance)
    places = [{**replayed.at, "relation": number} for number in range(len(claim["then"]))]
    for place in places:
        at = {k: v for k, v in place.items() if k == "relation" or k in claim["for_all"]}
        try:
            if not kernel.evaluate(claim, instance, (), at)[2]:
                return True
        except (kernel.Malformed, kernel.Rejected):
            continue
    return False


def _refutes_at(reading: Reading, setting: Setting, replayed: Replayed, T: int) -> bool:
    shape = replayed.shape.but(T=T)
    again = replay(reading, setting, shape, _lengthened(reading, setting, shape, replayed.genome))
    return again is not None and not again.holds


def _lengthened(reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
    """The genome at a longer horizon: what there is one of per round goes on with its last value."""
    longer: dict[str, Array] = {}
    for gene in genes_of(reading, setting, shape):
        values = genome[gene.name]
        more = [(0, max(after - before, 0)) for before, after in zip(values.shape, gene.shape, strict=True)]
        longer[gene.name] = np.pad(values, more, mode="edge") if values.ndim and any(n for _, n in more) else values
    return longer
