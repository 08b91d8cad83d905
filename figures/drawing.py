"""Data of a picture in, `matplotlib.figure.Figure` out."""

from __future__ import annotations

from importlib import import_module
from typing import TypeAlias

from matplotlib.figure import Figure

from fedaudit.verify.experiments import Picture
from fedaudit.verify.pictures.kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate

from .kinds import cloud, convergence, crossing, landscape, rate, relatives, two_group
from .style.look import save

__all__ = ["Drawable", "draw", "image", "svg"]

Drawable: TypeAlias = Curves | Profile | Cloud | Rate | Crossing | Landscape | Picture


def draw(picture: Drawable) -> Figure:
    """Returns the figure of a statement by the kind of its data; an experiment names the module here that plots it."""
    match picture:
        case Profile():
            return relatives.plot(picture)
        case Cloud():
            return cloud.plot(picture)
        case Rate():
            return rate.plot(picture)
        case Crossing():
            return crossing.plot(picture)
        case Landscape():
            return landscape.plot(picture)
        case Curves():
            return two_group.plot(picture) if two_group.fits(picture) else convergence.plot(picture)
        case _:
            return import_module(f"fedaudit.figures.{picture.figure}").plot(picture)


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same on every run."""
    return image(figure, "svg").decode()


def image(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg or pdf file, the same on every run."""
    return save(figure, kind)
