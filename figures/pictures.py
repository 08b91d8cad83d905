"""Pictures that belong to no single statement, by name: `fedaudit plot NAME`. A function here and a line in `PICTURES`
of the command line, which teaches the names without importing this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedaudit.problems import network_data

from . import network

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["digits"]


def digits(seed: int) -> Figure:
    """Networks of 100 clients that hold handwritten digits, as in table 3.1 of the thesis; three partitions a level."""
    return network.plot(network_data.observe(*network_data.digits(), seeds=(seed, seed + 1, seed + 2)))
