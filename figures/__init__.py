"""Pictures of results: data in, `matplotlib.figure.Figure` out. Nothing here simulates, and nothing needs a display."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedaudit.verify.experiments import Picture
    from fedaudit.verify.pictures.kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate

__all__ = ["draw", "drawn", "image", "svg"]

Shown = Union["Curves", "Profile", "Cloud", "Rate", "Crossing", "Landscape", "Picture"]


def draw(curves: Shown) -> Figure:
    """The figure of a statement, by the kind of its data; an experiment names the module here that plots it."""
    from fedaudit.verify.pictures.kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate

    from .kinds import cloud, convergence, crossing, landscape, rate, relatives, two_group

    with _uncollected():
        match curves:
            case Profile():
                return relatives.plot(curves)
            case Cloud():
                return cloud.plot(curves)
            case Rate():
                return rate.plot(curves)
            case Crossing():
                return crossing.plot(curves)
            case Landscape():
                return landscape.plot(curves)
            case Curves():
                return two_group.plot(curves) if two_group.fits(curves) else convergence.plot(curves)
            case _:
                return import_module(f"{__name__}.{curves.figure}").plot(curves)


def drawn(curves: Shown) -> str:
    """The figure of a statement as SVG text; what it was made of is garbage before any is searched for."""
    with _uncollected():
        return svg(draw(curves))


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same on every run."""
    return image(figure, "svg").decode()


def image(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg or pdf file, the same on every run."""
    from .style.look import save

    with _uncollected():
        return save(figure, kind)


@contextmanager
def _uncollected() -> Generator[None]:
    """Without searches for garbage: one figure is a hundred thousand objects that are all in use until it is saved."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
