"""Pictures that belong to no single statement, by name: `fedaudit plot NAME`. A function here and a line in `PICTURES`
of the command line, which teaches the names without importing this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedaudit.problems import network_data

from . import network, race

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["digits", "zhang_fig3"]


def digits(seed: int) -> Figure:
    """Networks of 100 clients that hold handwritten digits, as in table 3.1 of the thesis; three partitions a level."""
    return network.plot(network_data.observe(*network_data.digits(), seeds=(seed, seed + 1, seed + 2)))


def zhang_fig3(seed: int) -> Figure:
    """Sparse logistic regression with minibatches of 1 and of 20 samples, three methods."""
    from fedaudit.verify.experiments.zhang_exact import stochastic

    return race.plot(stochastic(seed))
