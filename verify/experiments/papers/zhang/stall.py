"""zhang/sec4.1-stall: with ten local updates, does FedDA stop at a distance from the stationary points?"""

from __future__ import annotations

from ... import Experiment, Outcome
from .drift_figures import FAR, READINGS, drift
from .exact import Race
from .logistic import LIMIT, PRECISION, SETTLED_AFTER, races

ID = "zhang/sec4.1-stall"
TAU = max(LIMIT)
SHOWN = 2  # data sets of the picture


def run(seed: int, effort: float) -> Outcome:
    """Under what is printed and under the scale that was settled after looking."""
    return drift({name: races(seed, how, TAU) for name, how in READINGS.items()})


def picture(seed: int) -> Race:
    """The first data sets on which algorithm 1 reaches machine precision, with the scale that was settled on."""
    curves = tuple(races(seed, list(READINGS.values())[-1], TAU)[:SHOWN])
    return Race(
        title=f"{ID}: ten local updates, full gradients",
        caption=f"optimality of all methods; FedDA stalls where it stays above {FAR:g}",
        names=tuple(f"data set {k + 1}" for k in range(len(curves))),
        curves=curves,
        level=PRECISION,
    )


EXPERIMENT = Experiment(ID, run, picture, SETTLED_AFTER)
