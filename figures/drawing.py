"""Data of a picture in, `matplotlib.figure.Figure` out."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedaudit.errors import UserError
from fedaudit.verify.experiments import Picture
from fedaudit.verify.pictures.kinds import Cloud, Crossing, Curves, Landscape, Profile, Rate

from .kinds import cloud, convergence, crossing, landscape, rate, relatives, two_group
from .style.look import COLUMN, PAPER, caption, heading, look, new, save

__all__ = ["STYLES", "Drawable", "Style", "draw", "draw_on", "draw_rates", "image", "svg"]

Drawable: TypeAlias = Curves | Profile | Cloud | Rate | Crossing | Landscape | Picture
Style: TypeAlias = Literal["page", "paper"]
STYLES: tuple[Style, ...] = ("page", "paper")
SMALL = 6.5  # points, of names in a column


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
            return import_module(f"fedaudit.figures.papers.{picture.figure}").plot(picture)


def draw_on(axes: Axes, pictures: Sequence[Drawable], names: Sequence[str]) -> Axes:
    """Draws runs and bounds on axes of the caller's own, with the caller's settings."""
    rate.sides(axes, _rates(pictures, names), names)
    return axes


def draw_rates(pictures: Sequence[Drawable], names: Sequence[str], style: Style) -> Figure:
    """Returns runs and bounds in one picture: for a page with titles and constants, for a paper without either."""
    rates = _rates(pictures, names)
    paper = style == "paper"
    with look(**(PAPER if paper else {})):
        figure = new(*(COLUMN if paper else (6.4, 4.4)))
        rate.sides(figure.subplots(), rates, names, SMALL if paper else 8)
        if not paper:
            heading(figure, " · ".join(dict.fromkeys(f"{one.title} ({one.id})" for one in rates)))
            told = (f"{name}: {one.caption}" if name else one.caption for name, one in zip(names, rates, strict=True))
            caption(figure, "; ".join(told))
    return figure


def _rates(pictures: Sequence[Drawable], names: Sequence[str]) -> list[Rate]:
    rates = [picture for picture in pictures if isinstance(picture, Rate)]
    for picture, name in zip(pictures, names, strict=True):
        if not isinstance(picture, Rate):
            got = f"{name or 'a statement'} without runs along rounds"
            raise UserError(got, "a rate", "plot it alone, without a style")
    if len({(one.xlabel, one.unit) for one in rates}) > 1:
        said = ", ".join(
            f"{name} over {one.xlabel.replace('$', '')} in {one.unit or '1'}"
            for name, one in zip(names, rates, strict=True)
        )
        raise UserError(said, "rates over one axis, in one unit", "plot them one by one")
    return rates


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same on every run."""
    return image(figure, "svg").decode()


def image(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a png, svg, pdf or pgf file, the same on every run."""
    return save(figure, kind)
