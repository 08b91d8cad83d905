"""What a run costs as clients, instances and rounds grow, as a picture: twice as many should cost twice as much."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

TIMES = (1, 2, 4, 8, 16, 32, 64)
Cost = Callable[[int], float]  # seconds of a run that is so many times as large


def measured(costs: Mapping[str, Mapping[str, Cost]]) -> dict[str, dict[str, list[float]]]:
    """Along clients, instances and rounds, and then by run: seconds at every one of `TIMES`."""
    return {along: {name: [cost(n) for n in TIMES] for name, cost in runs.items()} for along, runs in costs.items()}


def slope(seconds: Sequence[float]) -> float:
    """The exponent that fits the larger half: 1 where cost is linear; less where a fixed part still shows.

    More where the data outgrow the cache.
    """
    half = len(TIMES) // 2
    return float(np.polyfit(np.log(TIMES[half:]), np.log(seconds[half:]), 1)[0])


def draw(times: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, (along, runs) in zip(np.ravel(figure.subplots(1, len(times), sharey=True)), times.items(), strict=True):
        for name, seconds in runs.items():
            (line,) = axes.loglog(TIMES, seconds, "o-", label=f"{name}: exponent {slope(seconds):.2f}")
            linear = seconds[-1] * np.array(TIMES) / TIMES[-1]
            axes.loglog(TIMES, linear, ":", color=line.get_color())
        axes.set_xticks(TIMES, [str(n) for n in TIMES])
        axes.minorticks_off()
        axes.set_xlabel(f"{along}, times as many")
        axes.legend(fontsize=8, loc="lower right")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("seconds of one run")
    figure.suptitle("Cost of a run; dotted: linear, through the last point")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)
