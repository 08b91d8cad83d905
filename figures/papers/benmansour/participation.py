"""Which clients have the ten largest weights, round by round."""

# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ...style.look import TIGHTEST, caption, heading, look, new

if TYPE_CHECKING:
    from fedaudit.verify.experiments.papers.benmansour.weight_figures import Participation

__all__ = ["plot"]


def plot(participation: Participation) -> Figure:
    """Draws clients to the right and rounds upwards, as in the paper; clients that are more often among the ten come
    first.
    """
    colours = ListedColormap(["#8a8a8a30", TIGHTEST])
    with look():
        figure = new(width=7.2, height=6.2)
        panels = np.ravel(figure.subplots(2, 2, sharex=True, sharey=True))
        for axes, (name, top) in zip(panels, participation.panels.items(), strict=True):
            order = np.argsort(-top.sum(axis=0), kind="stable")
            rounds, clients = top.shape
            axes.pcolormesh(np.arange(clients + 1), np.arange(rounds + 1), top[:, order], cmap=colours, rasterized=True)
            axes.grid(False)
            title = name.replace("^t", "ᵗ").replace("^-4", "⁻⁴").replace(" (table 2)", "")
            axes.set_title(f"{title}: {int(top.any(axis=0).sum())} clients", loc="left", fontsize=9)
        for axes in panels[2:]:
            axes.set_xlabel("client, by how often")
        for axes in panels[::2]:
            axes.set_ylabel("round")
        heading(figure, participation.title)
        caption(figure, participation.caption)
    return figure
