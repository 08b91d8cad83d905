"""How tight every statement of an audit is, at a glance."""

# pyright: reportUnknownMemberType=false
# matplotlib's stubs leave the keyword arguments of its methods untyped.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from .style import look, new

__all__ = ["MARKS", "plot"]

MARKS = {  # colour and shape both tell the verdict
    "proved": ("#009e73", "s"),
    "survived": ("#0072b2", "o"),
    "refuted": ("#d55e00", "X"),
    "unverified": ("#a3105e", "P"),
    "undecided": ("#8a8a8a", "D"),
    "reproduced": ("#009e73", "^"),
    "reproduced-if": ("#8a8a8a", "^"),
    "not-reproduced": ("#d55e00", "v"),
}


def plot(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """A dot for each statement at the largest lhs/rhs that was met; 1 is attained, beyond 1 is broken."""
    measured = [row for row in rows if isinstance(row.get("tightness"), int | float)]
    with look():
        figure = new(height=1.3 + 0.24 * max(len(measured), 1))
        axes = figure.subplots()
        places = range(len(measured))[::-1]
        values = [float(row["tightness"]) for row in measured]
        positive = [v for v in values if v > 0]
        if positive and max(positive) > 20 * min(positive):
            axes.set_xscale("log")
            edge = min(positive) / 10
            for place, value in zip(places, values, strict=True):
                if value <= 0:
                    axes.annotate(f"← {value:g}", (edge, place), (6, 0), textcoords="offset points", va="center")
            values = [v if v > 0 else edge for v in values]
        for verdict, (colour, marker) in MARKS.items():
            mine = [n for n, row in enumerate(measured) if row.get("verdict") == verdict]
            if mine:
                xs, ys = [values[n] for n in mine], [places[n] for n in mine]
                axes.plot(xs, ys, color=colour, marker=marker, ls="", ms=6, label=verdict)
        axes.axvline(1, color="#d55e00", lw=1.2, ls="--")
        axes.set_yticks(list(places), [str(row["id"]) for row in measured])
        axes.set_ylim(-0.6, max(len(measured), 1) - 0.4)
        axes.set_xlabel("tightness: largest lhs / rhs met")
        axes.margins(x=0.06)
        if measured:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.1)
        else:
            axes.text(0.5, 0.5, "no statement has a tightness", transform=axes.transAxes, ha="center", va="center")
    return figure
