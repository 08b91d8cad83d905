"""zhang/sec4.1-fedda-equal: with tau = 1, are FedDA and algorithm 1 equally fast, or even the same?

Once both have the support and the signs of the minimiser, both take the step x - eta~ (grad f(x) + theta sign(x)) on
it, so that the factors a round agree in the end. Before that, FedDA's dual state remembers what soft thresholding cut
off and algorithm 1 forgets it, so that the models differ from the moment when a coordinate that was 0 moves again; from
the start 0, where coordinates mostly only leave, they are the same up to rounding. With a dual state that restarts from
the model in every round (section 1.1's words) both are one method for tau = 1: corrections sum to 0 (eq2-zero-mean).
"""

from __future__ import annotations

import numpy as np

from fedaudit.bounds.language.method import Method
from fedaudit.bounds.papers.zhang.baselines import FEDDA, FEDDA_RESTARTED
from fedaudit.bounds.papers.zhang.methods import PROPOSED

from ....search.tree_arrays import Array
from ... import Experiment, Outcome, TableRow
from .exact import Race, representative
from .logistic import (
    METHODS,
    PRECISION,
    SETTLED_AFTER,
    Observation,
    Task,
    looks,
    models,
    observed,
    optimality,
    reached,
    settled,
)

ID = "zhang/sec4.1-fedda-equal"
UPPER, LOWER = 1e-4, 1e-8  # the rate is measured between these optimalities: rounding is 1e-11
EQUAL = 0.01  # relative difference of log rates that counts as none
COMPARED = 400  # rounds in which iterates are compared
SAME = 1e-8  # relative distance that rounding explains


def rate(curve: Array) -> float | None:
    """The factor a round between the optimalities UPPER and LOWER; None if the run does not get there."""
    a, b = reached(curve, UPPER), reached(curve, LOWER)
    if a is None or b is None or b <= a:
        return None
    return float((curve[b] / curve[a]) ** (1 / (b - a)))


def apart(sets: Task, method: Method) -> Array:
    """The largest distance of algorithm 1's models from this method's, relative to the largest model, by data sets."""
    ours, theirs = (models(m, sets, 1, COMPARED) for m in (PROPOSED, method))
    size = np.abs(ours).max(axis=(1, 2))
    return np.abs(ours - theirs).max(axis=(1, 2)) / np.where(size > 0, size, 1.0)


def row(seed: int, observation: Observation) -> TableRow:
    """One reading."""
    look, runs = observation.look, observation.curves[1]
    there = [k for k, c in enumerate(runs) if rate(c) is not None and reached(c, PRECISION) is not None]
    summary: TableRow = {"reading": look.name, "data sets": look.draws}
    summary |= {"optimal at the start": look.draws - len(observation.moving), "algorithm 1 gets there": len(there)}
    if not there:
        return summary | {"FedDA too": 0, "equal rate": 0, "same iterates": 0}
    sets, ours = look.task(seed).only(there), [runs[k] for k in there]
    theirs, distance = optimality(FEDDA, sets, 1, look.limit(1)), apart(sets, FEDDA)
    rates = [(rate(a), rate(b)) for a, b in zip(ours, theirs, strict=True)]
    off = [abs(np.log(a) / np.log(b) - 1) for a, b in rates if a and b]
    summary |= {"FedDA too": len(off), "equal rate": int(sum(x <= EQUAL for x in off))}
    summary |= {"same iterates": int((distance <= SAME).sum()), "iterates apart": float(f"{distance.max():.2g}")}
    if off:
        summary |= {"largest difference of log rates": float(f"{max(off):.2g}")}
    ends = [(reached(b, PRECISION), reached(a, PRECISION)) for a, b in zip(ours, theirs, strict=True)]
    if rounds := [a / b for a, b in ends if a and b]:
        summary |= {"FedDA's rounds over ours": [float(f"{x:.3g}") for x in (min(rounds), max(rounds))]}
    return summary


def shown(summary: TableRow) -> bool:
    """On every data set where algorithm 1 reaches machine precision, of which there must be one."""
    return 0 < summary["algorithm 1 gets there"] == summary["equal rate"]


def run(seed: int, effort: float) -> Outcome:
    """What is printed, the settled reading on more data sets, the others on a few."""
    every = observed(seed, looks(effort))
    rows = tuple(row(seed, observation) for observation in every)
    printed, settled, *_ = rows
    again = apart(every[1].look.task(seed), FEDDA_RESTARTED).max()
    low, high = settled.get("FedDA's rounds over ours", [np.nan, np.nan])
    reason = (
        f"as printed ({_counted(printed)}); settled after looking ({_counted(settled)}; FedDA gets there on "
        f"{settled['FedDA too']}, in {low:g} to {high:g} times the rounds); "
        f"the iterates are the same up to rounding on {settled['same iterates']} of them and up to "
        f"{max(r.get('iterates apart', 0.0) for r in rows):.2g} of the largest model apart under the other readings, "
        f"for FedDA's dual state keeps what soft thresholding cuts off; if it restarts from the model in every round, "
        f"they are always the same ({again:.1g} apart)"
    )
    under = tuple(r["reading"] for r in rows[1:] if shown(r))
    return Outcome(shown(printed), reason, sum(r["data sets"] for r in rows), rows, under)


def _counted(row: TableRow) -> str:
    count, idle = row["algorithm 1 gets there"], row["optimal at the start"]
    return (
        f"{row['reading']}: rates to machine precision agree to 1 percent on {row['equal rate']} of the {count} data "
        f"sets where algorithm 1 gets there, of {row['data sets'] - idle}; {idle} more start at the minimiser and "
        "count neither way"
    )


def picture(seed: int) -> Race:
    """Both methods with tau = 1 on two data sets: the first that reaches machine precision, and the next."""
    observation = settled(seed)
    first = representative(observation)
    chosen = [first, *[k for k, c in enumerate(observation.curves[1]) if k > first and rate(c) is not None][:1]]
    sets, names = observation.look.task(seed).only(chosen), ("algorithm 1", "FedDA")
    both = [optimality(METHODS[name], sets, 1, 900) for name in names]
    curves = tuple(dict(zip(names, each, strict=True)) for each in zip(*both, strict=True))
    return Race(
        title=f"{ID}: one local update, full gradients",
        caption="optimality of algorithm 1 and of FedDA with the same step sizes; parallel lines are equal rates",
        names=tuple(f"data set {k}" for k in chosen),
        curves=curves,
        level=PRECISION,
    )


EXPERIMENT = Experiment(
    ID,
    run,
    picture,
    (
        *SETTLED_AFTER,
        f"that the factor per round is measured between the optimalities {UPPER:g} and {LOWER:g}, after 1e-6 and "
        f"{PRECISION:g}",
    ),
)
