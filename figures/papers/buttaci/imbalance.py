"""Networks from data: misalignments, Laplacian spectra and homogeneity by imbalance (thesis, figures 3.3 to 3.5)."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...style.look import caption, heading, look, new

if TYPE_CHECKING:
    from fedaudit.problems.data.network_data import Observed
    from fedaudit.verify.experiments.papers.buttaci.networks import Networks

__all__ = ["plot"]

COLOURS = ("#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9")  # Okabe and Ito
LINES = ("-", "--", ":", "-.")
HEIGHTS = {1: 4.2, 2: 5.4, 3: 6.6}


def plot(picture: Networks) -> Figure:
    """Draws each network in the colour of its class imbalance and the line style of its data imbalance."""
    networks = picture.networks
    with look():
        figure = new(height=HEIGHTS[len(picture.panels)])
        every = np.atleast_1d(figure.subplots(len(picture.panels), 1))
        for axes, panel in zip(every, picture.panels, strict=True):
            if panel == "homogeneity":
                _homogeneity(axes, networks)
            else:
                _distributions(axes, networks, panel)
        first = every[0]
        if picture.panels[0] == "homogeneity":
            first.legend()
        else:
            first.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize="x-small", borderaxespad=0.1)
        if len(picture.panels) > 1 and picture.panels[-1] == "homogeneity":
            every[-1].legend()
        heading(figure, picture.title)
        clients, seeds = networks[0].eigenvalues.shape[-1] + 1, len(networks[0].homogeneity)
        caption(figure, f"{clients} clients, {seeds} partitions at each level; message: first principal component")
    return figure


def _distributions(axes: Axes, networks: Sequence[Observed], panel: str) -> None:
    classes = sorted({n.class_imbalance for n in networks})
    data = sorted({n.data_imbalance for n in networks})
    for network in networks:
        values = network.misalignments if panel == "misalignment" else network.eigenvalues
        colour = COLOURS[classes.index(network.class_imbalance) % len(COLOURS)]
        line = LINES[data.index(network.data_imbalance) % len(LINES)]
        label = f"1/κ = {network.class_imbalance:g}, φ² = {network.data_imbalance:g}"
        rank = np.linspace(0, 1, 400)
        axes.plot(np.quantile(values, rank), rank, color=colour, ls=line, lw=1.3, label=label)
    if panel == "misalignment":
        axes.set_xscale("log")
    axes.set_xlabel("client misalignment (3.1)" if panel == "misalignment" else "Laplacian eigenvalue")
    axes.set_ylabel("share below")


def _homogeneity(axes: Axes, networks: Sequence[Observed]) -> None:
    classes = sorted({n.class_imbalance for n in networks})
    data = sorted({n.data_imbalance for n in networks})
    for amount in data:
        mine = sorted((n for n in networks if n.data_imbalance == amount), key=lambda n: n.class_imbalance)
        means = [float(n.homogeneity.mean()) for n in mine]
        line = LINES[data.index(amount) % len(LINES)]
        axes.plot(range(len(mine)), means, color=COLOURS[0], ls=line, marker="o", label=f"φ² = {amount:g}")
    axes.set_xlabel("class imbalance 1/κ")
    axes.set_xticks(range(len(classes)), [f"{c:g}" for c in classes])
    axes.set_ylabel("homogeneity")
