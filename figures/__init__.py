"""Pictures of results: data in, `matplotlib.figure.Figure` out. Nothing here simulates, and nothing needs a display."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedaudit.verify.curves import Curves
    from fedaudit.verify.experiments import Picture

__all__ = ["draw", "image", "svg"]


def draw(curves: Curves | Picture) -> Figure:
    """The figure of a statement: upper bound, exact value and lower bound together where all three are given.

    What an experiment shows names the module here that plots it.
    """
    from fedaudit.verify.curves import Curves

    from . import convergence, two_group

    if not isinstance(curves, Curves):
        return import_module(f"{__name__}.{curves.figure}").plot(curves)
    return two_group.plot(curves) if two_group.fits(curves) else convergence.plot(curves)


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same on every run."""
    return image(figure, "svg").decode()


def image(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg or pdf file, the same on every run."""
    from .style import save

    return save(figure, kind)
