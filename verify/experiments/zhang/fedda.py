"""zhang/sec4.1-fedda-equal: with tau = 1, are FedDA and algorithm 1 equally fast, or even the same?

Once both have the support and the signs of the minimiser, both take the step x - eta~ (grad f(x) + theta sign(x)) on
it, so that the factors a round agree in the end. Before that, FedDA's dual state remembers what soft thresholding cut
off and algorithm 1 forgets it, so that the models differ from the moment when a coordinate that was 0 moves again; from
the start 0, where coordinates mostly only leave, they are the same up to rounding. With a dual state that restarts from
the model in every round (section 1.1's words) both are one method for tau = 1: corrections sum to 0 (eq2-zero-mean).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedaudit.problems.logistic import Reading

from ...evaluate import Array
from .. import Experiment, Outcome
from .exact import Race, representative
from .logistic import (
    DEFAULT,
    LIMIT,
    METHODS,
    PRECISION,
    READINGS,
    RESTARTED,
    Method,
    drawn,
    models,
    optimality,
    reached,
    size,
    task,
)  # fmt: skip
from .logistic import (
    run as simulate,
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


def apart(seed: int, number: int, how: Reading, method: Method) -> float:
    """The largest distance of algorithm 1's models from this method's, relative to the largest model."""
    made = task(seed, number, how)
    ours, theirs = (np.concatenate(list(models(m, made, 1, COMPARED))) for m in (METHODS["algorithm 1"], method))
    size = np.abs(ours).max()
    return float(np.abs(ours - theirs).max() / size) if size else 0.0


def row(name: str, how: Reading, seed: int, draws: int, short: int = 1) -> dict[str, Any]:
    """One reading."""
    rates: list[tuple[float, float | None]] = []
    rounds, distance, idle = list[float](), list[float](), 0
    for k in range(draws):
        ours = simulate(seed, k, how, 1, LIMIT[1] // short)
        idle += bool(ours[0] == 0)
        mine = rate(ours)
        if mine is None or reached(ours, PRECISION) is None:
            continue
        theirs = optimality(METHODS["FedDA"], task(seed, k, how), 1, LIMIT[1] // short)
        rates.append((mine, rate(theirs)))
        distance.append(apart(seed, k, how, METHODS["FedDA"]))
        if (a := reached(theirs, PRECISION)) and (b := reached(ours, PRECISION)):
            rounds.append(a / b)
    off = [abs(np.log(a) / np.log(b) - 1) if b else np.inf for a, b in rates]
    there = [x for x in off if np.isfinite(x)]
    made: dict[str, Any] = {"reading": name, "data sets": draws, "optimal at the start": idle}
    made |= {"algorithm 1 gets there": len(rates)}
    made |= {"FedDA too": len(there), "equal rate": int(sum(x <= EQUAL for x in off))}
    made |= {"same iterates": sum(x <= SAME for x in distance)}
    if distance:
        made |= {"iterates apart": float(f"{max(distance):.2g}")}
    if there:
        made |= {"largest difference of log rates": float(f"{max(there):.2g}")}
    if rounds:
        made |= {"FedDA's rounds over ours": [float(f"{x:.3g}") for x in (min(rounds), max(rounds))]}
    return made


def shown(seen: dict[str, Any]) -> bool:
    """On every data set where algorithm 1 reaches machine precision, of which there must be one."""
    return 0 < seen["algorithm 1 gets there"] == seen["equal rate"]


def run(seed: int, effort: float) -> Outcome:
    """What is printed, the settled reading on more data sets, the others on a few."""
    draws = drawn(effort)
    rows = tuple(row(name, how, seed, *size(how, draws)) for name, how in READINGS)
    printed, settled, *_ = rows
    again = max(apart(seed, k, DEFAULT, RESTARTED) for k in range(draws))
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


def _counted(seen: dict[str, Any]) -> str:
    count, idle = seen["algorithm 1 gets there"], seen["optimal at the start"]
    return (
        f"{seen['reading']}: rates to machine precision agree to 1 percent on {seen['equal rate']} of the {count} data "
        f"sets where algorithm 1 gets there, of {seen['data sets'] - idle}; {idle} more start at the minimiser and "
        "count neither way"
    )


def picture(seed: int) -> Race:
    """Both methods with tau = 1 on two data sets: the first that reaches machine precision, and the next."""
    first = representative(seed)
    found = [first]
    for k in range(first + 1, first + 12):
        if rate(simulate(seed, k, DEFAULT, 1, LIMIT[1])) is not None:
            found.append(k)
            break
    names = ("algorithm 1", "FedDA")
    curves = tuple(
        {name: optimality(METHODS[name], task(seed, k, DEFAULT), 1, 900, stop=PRECISION) for name in names}
        for k in found
    )
    return Race(
        title=f"{ID}: one local update, full gradients",
        caption="optimality of algorithm 1 and of FedDA with the same step sizes; parallel lines are equal rates",
        names=tuple(f"data set {k}" for k in found),
        curves=curves,
        level=PRECISION,
    )


EXPERIMENT = Experiment(ID, run, picture)
