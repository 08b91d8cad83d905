"""Networks from data: misalignments, Laplacian spectra and homogeneity by imbalance (thesis, figures 3.3 to 3.5)."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from ..style import caption, look, new

if TYPE_CHECKING:
    from fedaudit.problems.network_data import Observed

__all__ = ["plot"]

COLOURS = ("#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#56b4e9")  # Okabe and Ito
LINES = ("-", "--", ":", "-.")


def plot(networks: Sequence[Observed]) -> Figure:
    """Three panels; a colour is a class imbalance, a line style a data imbalance."""
    classes = sorted({n.class_imbalance for n in networks})
    data = sorted({n.data_imbalance for n in networks})
    with look():
        figure = new(height=6.4)
        panels = figure.subplots(3, 1)
        for made in networks:
            colour = COLOURS[classes.index(made.class_imbalance) % len(COLOURS)]
            line = LINES[data.index(made.data_imbalance) % len(LINES)]
            label = f"1/κ = {made.class_imbalance:g}, φ² = {made.data_imbalance:g}"
            for axes, values in ((panels[0], made.misalignments), (panels[1], made.eigenvalues)):
                rank = np.linspace(0, 1, values.size)
                axes.plot(np.sort(values, axis=None), rank, color=colour, ls=line, lw=1.3, label=label)
        for amount in data:
            mine = sorted((n for n in networks if n.data_imbalance == amount), key=lambda n: n.class_imbalance)
            levels, means = range(len(mine)), [float(n.homogeneity.mean()) for n in mine]
            panels[2].plot(levels, means, color="#0072b2", ls=LINES[data.index(amount) % len(LINES)], marker="o",
                           label=f"φ² = {amount:g}")  # fmt: skip
        panels[0].set_xscale("log")
        panels[0].set_xlabel("client misalignment (3.1)")
        panels[1].set_xlabel("Laplacian eigenvalue")
        panels[2].set_xlabel("class imbalance 1/κ")
        panels[2].set_xticks(range(len(classes)), [f"{c:g}" for c in classes])
        for axes in panels[:2]:
            axes.set_ylabel("share below")
        panels[2].set_ylabel("homogeneity")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize="x-small", borderaxespad=0.1)
        panels[2].legend()
        figure.suptitle("Networks from data: misalignments, spectra, homogeneity", fontsize=10, x=0.02, ha="left")
        clients, seeds = networks[0].eigenvalues.shape[-1] + 1, len(networks[0].homogeneity)
        caption(figure, f"{clients} clients, {seeds} partitions at each level; message: first principal component")
    return figure
