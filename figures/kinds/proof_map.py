"""The proof map: statements in columns by how deep their citations go, citations as curves from left to right.

Columns are ordered by the mean place of their neighbours, and an edge that passes a column has a place of its own in
it, so that no curve runs through a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

__all__ = ["Box", "Edge", "Map", "proof_map"]

ROW, THIN, GAP, MARGIN = 34.0, 12.0, 46.0, 12.0  # heights of a statement and of a passing edge; between columns
LETTER, PADDING = 7.4, 36.0  # width of a letter, and of what is beside a label
SWEEPS = 8
MOST = 20_000  # columns that all edges cross, statements: beyond that nobody reads a map


@dataclass(frozen=True, slots=True)
class Box:
    """A statement on the map: the middle of its left side, and its width."""

    id: str
    label: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Edge:
    """`citing` rests on `cited`; `path` is the curve of an SVG."""

    cited: str
    citing: str
    path: str
    fallen: bool  # what is cited is refuted


@dataclass(frozen=True, slots=True)
class Map:
    """A drawing of a given size; `alone` neither cite nor are cited."""

    width: float = 0.0
    height: float = 0.0
    places: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()
    alone: tuple[str, ...] = ()


@dataclass(slots=True)
class Spot:
    """A statement, or one column that an edge passes."""

    layer: int
    height: float
    before: list[Spot] = field(default_factory=list["Spot"])
    after: list[Spot] = field(default_factory=list["Spot"])
    y: float = 0.0


def proof_map(names: Sequence[str], cites: Mapping[str, Iterable[str]], fallen: Iterable[str]) -> Map:
    """Returns the map of the statements `names`, of which `fallen` are refuted."""
    every_name, refuted = set(names), set(fallen)
    wanted = [(cited, name) for name in names for cited in dict.fromkeys(cites.get(name, ())) if cited in every_name]
    layer = _layers(names, wanted)
    edges = [(cited, name) for cited, name in wanted if layer[cited] < layer[name]]  # none of a circle
    drawn = {name for edge in edges for name in edge}
    order = [name for name in names if name in drawn]
    crossed = len(order) + sum(layer[citing] - layer[cited] for cited, citing in edges)
    if not order or crossed > MOST:
        return Map(alone=tuple(names))
    spots = {name: Spot(layer[name], ROW) for name in order}
    lines = {edge: _line(spots[edge[0]], spots[edge[1]]) for edge in edges}
    every = [*spots.values(), *(spot for line in lines.values() for spot in line[1:-1])]
    columns = _columns(every)
    below = 0.0
    for part in _parts(every):
        below = _settle(_columns(part), below)
    widths = [max((_width(n) for n in order if layer[n] == depth), default=0.0) for depth in range(len(columns))]
    left = [MARGIN + sum(widths[:depth]) + GAP * depth for depth in range(len(columns))]
    places = tuple(Box(n, _label(n), left[layer[n]], spots[n].y, _width(n)) for n in order)
    at = {place.id: place for place in places}
    curves = tuple(
        Edge(cited, citing, _path(at[cited], at[citing], lines[cited, citing], left, widths), cited in refuted)
        for cited, citing in edges
    )
    alone = tuple(name for name in names if name not in drawn)
    return Map(left[-1] + widths[-1] + MARGIN, below + MARGIN, places, curves, alone)


def _label(name: str) -> str:
    return name.partition("/")[2] or name


def _width(name: str) -> float:
    return round(LETTER * len(_label(name)) + PADDING, 1)


def _layers(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Counts the citations behind each name, in at most as many passes as there are names, for circles have no end."""
    layer = dict.fromkeys(names, 0)
    for _ in names:
        moved = False
        for cited, citing in edges:
            if cited != citing and layer[citing] <= layer[cited] < len(names):
                layer[citing], moved = layer[cited] + 1, True
        if not moved:
            return layer
    # Going round a circle, depths have no end: then whatever cites something stands in the second column.
    return {name: min(depth, 1) for name, depth in layer.items()}


def _line(cited: Spot, citing: Spot) -> list[Spot]:
    """Returns the places of an edge from column to column, and joins them."""
    line = [cited, *(Spot(depth, THIN) for depth in range(cited.layer + 1, citing.layer)), citing]
    for one, other in pairwise(line):
        one.after.append(other)
        other.before.append(one)
    return line


def _columns(spots: Sequence[Spot]) -> list[list[Spot]]:
    return [[spot for spot in spots if spot.layer == n] for n in range(1 + max(spot.layer for spot in spots))]


def _parts(spots: Sequence[Spot]) -> list[list[Spot]]:
    """Returns the parts that no edge joins, the largest first."""
    # By identity: a dataclass with equality and changing fields has no hash.
    left = {id(spot): spot for spot in spots}
    parts: list[list[Spot]] = []
    for spot in spots:
        waiting = [spot] if left.pop(id(spot), None) is not None else []
        part: list[Spot] = []
        while waiting:
            one = waiting.pop()
            part.append(one)
            near = [other for other in (*one.before, *one.after) if left.pop(id(other), None) is not None]
            waiting += near
        parts += [part] if part else []
    return sorted(parts, key=len, reverse=True)


def _settle(columns: list[list[Spot]], above: float) -> float:
    """Sets heights from `above` on by sweeps to and fro: each column near the means of its neighbours and free of
    overlaps.

    Returns where the lowest one ends.
    """
    for column in columns:
        _spread(column)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            for spot in column:
                near = spot.before if sweep % 2 == 0 else spot.after
                spot.y = fmean(other.y for other in near) if near else spot.y
            column.sort(key=lambda spot: spot.y)
            _spread(column, keep=True)
    every = [spot for column in columns for spot in column]
    top = min(spot.y - spot.height / 2 for spot in every)
    for spot in every:
        spot.y = round(spot.y - top + above + MARGIN, 1)
    return max(spot.y + spot.height / 2 for spot in every)


def _spread(column: list[Spot], *, keep: bool = False) -> None:
    """Pushes overlapping places down in order, then moves all of them back by what that moved them on average."""
    if not column:
        return
    wished = [spot.y if keep else 0.0 for spot in column]
    bottom = float("-inf")
    for spot, y in zip(column, wished, strict=True):
        spot.y = max(y, bottom + spot.height / 2)
        bottom = spot.y + spot.height / 2
    moved = fmean(spot.y - y for spot, y in zip(column, wished, strict=True)) if keep else 0.0
    for spot in column:
        spot.y -= moved


def _path(cited: Box, citing: Box, line: Sequence[Spot], left: Sequence[float], widths: Sequence[float]) -> str:
    """Returns a curve from the right side of what is cited to the left side of what cites it, level through the
    columns between.
    """
    x, y = cited.x + cited.width, cited.y
    said = f"M{x:g} {y:g}"
    if x < left[line[0].layer] + widths[line[0].layer]:
        x = left[line[0].layer] + widths[line[0].layer]
        said += f"H{x:g}"
    for spot in line[1:-1]:
        start, end = left[spot.layer], left[spot.layer] + widths[spot.layer]
        said += f"{_curve(x, y, start, spot.y)}H{end:g}"
        x, y = end, spot.y
    return said + _curve(x, y, citing.x, citing.y)


def _curve(x: float, y: float, to: float, down: float) -> str:
    middle = (x + to) / 2
    return f"C{middle:g} {y:g} {middle:g} {down:g} {to:g} {down:g}"
