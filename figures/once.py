"""What matplotlib finds again and again while one figure is saved, found once.

A layout asks each axis for its ticks a dozen times. They change only with the axis's limits and with the number of
labels that its length has room for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from matplotlib.artist import Artist
from matplotlib.axis import Axis
from matplotlib.spines import Spine

__all__ = ["ticks_once"]

Asked = Callable[..., Any]


@dataclass(slots=True)
class Known:
    """The ticks of one axis, and where they are drawn."""

    place: tuple[float, ...] = ()
    room: tuple[float, ...] = ()
    ticks: list[Any] = field(default_factory=list[Any])
    boxes: tuple[object, object, Any] | None = None  # ticks and renderer that they are of, and they


@contextmanager
def ticks_once() -> Generator[None]:
    """Ticks, the boxes of their labels and those of spines: found again only where an axis has moved or changed."""
    axes, spines = dict[Any, Known](), dict[Any, tuple[object, object, Any]]()
    replaced = {"_update_ticks": _ticks, "_get_ticklabel_bboxes": _boxes, "_copy_tick_props": _clipped}
    with ExitStack() as ending:
        for name, ours in replaced.items():
            ending.enter_context(_replaced(Axis, name, ours, axes))
        ending.enter_context(_replaced(Spine, "get_window_extent", _extent, spines))
        yield


@contextmanager
def _replaced(kind: type, name: str, ours: Asked, known: object) -> Generator[None]:
    """A method for a while; a version of matplotlib that has none of this name does without."""
    theirs = cast("Asked | None", getattr(kind, name, None))
    if theirs is None:
        yield
        return

    def method(*args: Any, **kwargs: Any) -> Any:
        return ours(known, theirs, *args, **kwargs)

    setattr(kind, name, method)
    try:
        yield
    finally:
        setattr(kind, name, theirs)


def _ticks(known: dict[Any, Known], theirs: Asked, axis: Any) -> list[Any]:
    place, one = _place(axis), known.setdefault(axis, Known())
    if one.place == place:
        return one.ticks
    one.boxes = None
    counting = getattr(axis.get_major_locator(), "axis", None) or axis  # of shared axes, the first
    room = *axis.get_view_interval(), counting.get_tick_space()
    if one.room != room:
        one.ticks, one.room = theirs(axis), room
    one.place = place
    return one.ticks


def _place(axis: Any) -> tuple[float, ...]:
    """Limits of an axis and where it is drawn."""
    return *axis.get_view_interval(), *axis.axes.bbox.extents, axis.figure.dpi


def _boxes(known: dict[Any, Known], theirs: Asked, axis: Any, ticks: list[Any], renderer: object) -> Any:
    one = known.get(axis)
    if one is None or ticks is not one.ticks or one.place != _place(axis):
        return theirs(axis, ticks, renderer)
    if one.boxes is None or one.boxes[1] is not renderer:
        one.boxes = ticks, renderer, theirs(axis, ticks, renderer)
    return one.boxes[2]


def _clipped(known: object, theirs: Asked, axis: object, first: Any, tick: Any) -> None:
    """What a new tick has not from its axis's settings: how it is clipped. Lines would copy their markers, too."""
    del known, theirs, axis
    for name in ("gridline", "tick1line", "tick2line", "label1", "label2"):
        Artist.update_from(getattr(tick, name), getattr(first, name))
    Artist.update_from(tick, first)


def _extent(known: dict[Any, tuple[object, object, Any]], theirs: Asked, spine: Any, renderer: Any = None) -> Any:
    if spine.axis is None or not spine.axis.get_visible():
        return theirs(spine, renderer)
    ticks, place = spine.axis._update_ticks(), _place(spine.axis)
    one = known.get(spine)
    if one is None or one[0] is not ticks or one[1] != place:
        one = known[spine] = ticks, place, theirs(spine, renderer)
    return one[2]
