"""Pictures that belong to no single statement, by name: `fedaudit plot NAME`. A function here and a line in `PICTURES`
of the command line, which teaches the names without importing this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedaudit.verify.experiments.papers.buttaci.networks import Networks, grid
from fedaudit.verify.experiments.papers.yuan import rates as formulas
from fedaudit.verify.experiments.papers.zhang.exact import stochastic

from ..papers.buttaci import imbalance
from ..papers.yuan import rates
from ..papers.zhang import race

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["crossover", "digits", "table1", "zhang_fig3"]


def digits(seed: int) -> Figure:
    """Draws networks of 100 clients that hold handwritten digits, as in table 3.1 of the thesis, with three partitions
    a level.
    """
    return imbalance.plot(Networks(grid(seed)))


def crossover(seed: int) -> Figure:
    """Draws the rates (1.4) and (1.6) of Yuan and Li, which change at T = I^3 and T = (b I)^3; nothing is random."""
    del seed
    return rates.crossover(formulas.crossings())


def table1(seed: int) -> Figure:
    """Draws the rows of table 1 of Yuan and Li side by side; nothing is random."""
    del seed
    b, I, M = 10, 10, 1000  # noqa: E741 (the paper's letters)
    said = f"the printed rows at b = {b}, I = {I}, M = {M}; solid: this paper's theorems, dashed: quoted from others"
    return rates.table(formulas.table_1(b, I, M), said)


def zhang_fig3(seed: int) -> Figure:
    """Draws three methods on sparse logistic regression with minibatches of 1 and of 20 samples."""
    return race.plot(stochastic(seed))
