"""zhang/sec4.1-rounds: how many rounds do tau = 10 local updates save, and do other methods need more of them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....search.tree_arrays import Array
from ... import Experiment, Outcome, TableRow
from .logistic import PRECISION, SETTLED_AFTER, Observation, Reading, looks, observed, races, reached, settled

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


def ratios(observation: Observation) -> Array:
    """Rounds for tau = 1 over rounds for tau = 10 at every level, (data sets, levels); 0: optimal at the start."""
    rounds_saved = np.full((observation.look.draws, len(LEVELS)), np.nan)
    for k, (one, ten) in enumerate(zip(observation.curves[1], observation.curves[TAU], strict=True)):
        if one[0] == 0:
            rounds_saved[k] = 0
            continue
        for j, level in enumerate(LEVELS):
            a, b = reached(one, level), reached(ten, level)
            if a and b:
                rounds_saved[k, j] = a / b
    return rounds_saved


def row(name: str, saved: Array) -> TableRow:
    """One reading."""
    last = saved[:, -1][saved[:, -1] > 0]
    idle = int((saved[:, -1] == 0).sum())
    summary: TableRow = {"reading": name, "data sets": len(saved), "optimal at the start": idle}
    summary |= {"both reach machine precision": len(last)}
    if len(last):
        summary |= {f"{part} ratio": float(f"{x:.3g}") for part, x in _parts(last)}
        summary |= {"within a factor of 2 of tau": int(((last >= TAU / ROUGHLY) & (last <= TAU * ROUGHLY)).sum())}
    return summary


def _parts(x: Array) -> tuple[tuple[str, float], ...]:
    return (("smallest", float(x.min())), ("median", float(np.median(x))), ("largest", float(x.max())))


def shown(summary: TableRow) -> bool:
    """For the median over the data sets on which both tau reach machine precision."""
    return TAU / ROUGHLY <= summary.get("median ratio", 0.0) <= TAU * ROUGHLY


def ahead(seed: int, how: Reading) -> tuple[int, int]:
    """On how many data sets all other methods need more rounds with tau = 10, and of how many."""
    races_run = races(seed, how, TAU)
    when = [{name: reached(curve, PRECISION) for name, curve in race.items()} for race in races_run]
    first = [all(round_ is None or round_ > (one["algorithm 1"] or 0) for round_ in _others(one)) for one in when]
    return sum(first), len(first)


def _others(when: Mapping[str, int | None]) -> list[int | None]:
    return [round_ for name, round_ in when.items() if name != "algorithm 1"]


def _compared(summary: TableRow, seed: int, how: Reading) -> TableRow:
    """The row with the other methods beside it, where there is something to compare."""
    if not shown(summary):
        return summary
    fewer, sets = ahead(seed, how)
    return summary | {"raced": sets, "others need more rounds": fewer}


def claimed(summary: TableRow) -> bool:
    """Roughly tau times fewer rounds, and fewer than every other method on all data sets."""
    return shown(summary) and 0 < summary["raced"] == summary["others need more rounds"]


def run(seed: int, effort: float) -> Outcome:
    """What is printed, the settled reading on more data sets, the others on a few."""
    rows = tuple(
        _compared(row(observation.look.name, ratios(observation)), seed, observation.look.how)
        for observation in observed(seed, looks(effort))
    )
    printed, settled, *_ = rows
    reason = (
        f"rounds to {PRECISION:g} with tau = 1 over rounds with tau = 10; as printed ({_counted(printed)}); settled "
        f"after looking ({_counted(settled)})"
    )
    under = tuple(r["reading"] for r in rows[1:] if claimed(r))
    return Outcome(claimed(printed), reason, sum(r["data sets"] for r in rows), rows, under)


def _counted(row: TableRow) -> str:
    count, idle = row["both reach machine precision"], row["optimal at the start"]
    rest = f"{row['data sets'] - idle} data sets; {idle} more start at the minimiser and count neither way"
    if not count:
        return f"{row['reading']}: both get there on none of {rest}"
    return (
        f"{row['reading']}: {row['smallest ratio']:g} to {row['largest ratio']:g}, median {row['median ratio']:g}, "
        f"{row['within a factor of 2 of tau']} in [{TAU / ROUGHLY:g}, {TAU * ROUGHLY:g}], where both get there, on "
        f"{count} of {rest}{_raced(row)}"
    )


def _raced(row: TableRow) -> str:
    if "raced" not in row:
        return ""
    return f"; FedDA, Fast-FedDA and FedMid need more rounds on {row['others need more rounds']} of {row['raced']}"


def picture(seed: int) -> Saved:
    """All levels, for the data sets of the default reading."""
    saved = ratios(settled(seed))
    there = saved[:, -1] > 0
    return Saved(
        title=f"{ID}: rounds that ten local updates save",
        caption=f"rounds of tau = 1 over rounds of tau = 10 until the optimality has fallen to a level; the "
        f"{int(there.sum())} of {len(saved)} data sets where both reach {PRECISION:g}; band: a factor of 2 around tau",
        levels=np.array(LEVELS),
        ratios=saved[there],
        tau=TAU,
        roughly=ROUGHLY,
    )


EXPERIMENT = Experiment(ID, run, picture, SETTLED_AFTER)
