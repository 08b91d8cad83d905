"""zhang/sec4.1-rounds: how many rounds do tau = 10 local updates save?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...search.tree_arrays import Array
from .. import Experiment, Outcome
from .logistic import PRECISION, SETTLED_AFTER, Seen, looks, observed, reached, settled

ID = "zhang/sec4.1-rounds"
TAU = 10
ROUGHLY = 2.0  # a factor
LEVELS = (1e-2, 1e-4, 1e-6, 1e-8, PRECISION)


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """What the figure shows: rounds for tau = 1 over rounds for tau = 10, by level, a line a data set."""

    title: str
    caption: str
    levels: Array
    ratios: Array  # (data sets, levels), NaN where a run does not get there
    tau: int
    roughly: float
    figure: str = "zhang.saved"


def ratios(seen: Seen) -> Array:
    """Rounds for tau = 1 over rounds for tau = 10 at every level, (data sets, levels); 0: optimal at the start."""
    made = np.full((seen.look.draws, len(LEVELS)), np.nan)
    for k, (one, ten) in enumerate(zip(seen.curves[1], seen.curves[TAU], strict=True)):
        if one[0] == 0:
            made[k] = 0
            continue
        for j, level in enumerate(LEVELS):
            a, b = reached(one, level), reached(ten, level)
            if a and b:
                made[k, j] = a / b
    return made


def row(name: str, found: Array) -> dict[str, Any]:
    """One reading."""
    last = found[:, -1][found[:, -1] > 0]
    idle = int((found[:, -1] == 0).sum())
    made: dict[str, Any] = {"reading": name, "data sets": len(found), "optimal at the start": idle}
    made |= {"both reach machine precision": len(last)}
    if len(last):
        made |= {f"{part} ratio": float(f"{x:.3g}") for part, x in _parts(last)}
        made |= {"within a factor of 2 of tau": int(((last >= TAU / ROUGHLY) & (last <= TAU * ROUGHLY)).sum())}
    return made


def _parts(x: Array) -> tuple[tuple[str, float], ...]:
    return (("smallest", float(x.min())), ("median", float(np.median(x))), ("largest", float(x.max())))


def shown(seen: dict[str, Any]) -> bool:
    """For the median over the data sets on which both tau reach machine precision."""
    return TAU / ROUGHLY <= seen.get("median ratio", 0.0) <= TAU * ROUGHLY


def run(seed: int, effort: float) -> Outcome:
    """What is printed, the settled reading on more data sets, the others on a few."""
    rows = tuple(row(seen.look.name, ratios(seen)) for seen in observed(seed, looks(effort)))
    printed, settled, *_ = rows
    reason = (
        f"rounds to {PRECISION:g} with tau = 1 over rounds with tau = 10; as printed ({_counted(printed)}); settled "
        f"after looking ({_counted(settled)})"
    )
    under = tuple(r["reading"] for r in rows[1:] if shown(r))
    return Outcome(shown(printed), reason, sum(r["data sets"] for r in rows), rows, under)


def _counted(seen: dict[str, Any]) -> str:
    count, idle = seen["both reach machine precision"], seen["optimal at the start"]
    rest = f"{seen['data sets'] - idle} data sets; {idle} more start at the minimiser and count neither way"
    if not count:
        return f"{seen['reading']}: both get there on none of {rest}"
    return (
        f"{seen['reading']}: {seen['smallest ratio']:g} to {seen['largest ratio']:g}, median {seen['median ratio']:g}, "
        f"{seen['within a factor of 2 of tau']} in [{TAU / ROUGHLY:g}, {TAU * ROUGHLY:g}], where both get there, on "
        f"{count} of {rest}"
    )


def picture(seed: int) -> Saved:
    """All levels, for the data sets of the default reading."""
    found = ratios(settled(seed))
    there = found[:, -1] > 0
    return Saved(
        title=f"{ID}: rounds that ten local updates save",
        caption=f"rounds of tau = 1 over rounds of tau = 10 until the optimality has fallen to a level; the "
        f"{int(there.sum())} of {len(found)} data sets where both reach {PRECISION:g}; band: a factor of 2 around tau",
        levels=np.array(LEVELS),
        ratios=found[there],
        tau=TAU,
        roughly=ROUGHLY,
    )


EXPERIMENT = Experiment(ID, run, picture, SETTLED_AFTER)
