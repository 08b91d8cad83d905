"""Effort goes where doubt is: what a search gives a row, by what is known of it (in words: docs/verdict.md).

Work is counted in instances, never in seconds, so that a seed gives the same result on every run. Shapes are chosen as
testers choose configurations: those that together have every pair of sizes and choices that any shape has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from ..settings.base import Reading, Setting, Shape

__all__ = ["LITERAL", "OPEN", "SANITY", "THOROUGH", "Effort", "covering", "is_dear"]

WHOLE, LEAST = 0.1, 0.1  # nominal seconds; with less there is less of everything, down to this share
LEAST_SHARP = 0.25  # nominal seconds of a search that has some for sharp points
ALL = 10**9
DEAR_PATHS, DEAR_SIZE = 64, 60  # outcomes of noise, and numbers of a run, beyond which a shape costs more than others
FEWEST = 4  # shapes


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of each part of a search is done."""

    shapes: int  # that are tried, of all there are
    instances: int  # random ones, over all of them
    few: int  # of these, of each shape that is dear
    climbed: int  # shapes that populations evolve on: those that came closest
    dear: int  # of these, that are dear
    population: int
    generations: int
    steady: int  # candidates that hold and are replayed, to say how tight they are
    steady_dear: int  # of these, large ones
    fallen: int  # shapes that fall before the search ends, if the kernel confirms it for one; 0: it goes on
    worst: float  # nominal seconds for worst cases, for each of effort
    rate: int  # instances for a nominal second, where that is more; 0: there is never more
    sharp: float = 0.0  # nominal seconds for worst cases at sharp points, for each of effort
    sturdy: bool = True  # whether a counterexample that lasts is looked for

    def at(self, seconds: float) -> Effort:
        """The effort that these nominal seconds pay for."""
        share = min(1.0, max(LEAST, seconds / WHOLE)) * max(1.0, self.rate * seconds / self.instances)
        return replace(
            self,
            shapes=max(FEWEST, math.ceil(share * self.shapes)),
            instances=math.ceil(share * self.instances),
            few=math.ceil(share * self.few),
            climbed=math.ceil(share * self.climbed),
            dear=math.ceil(share * self.dear),
        )

    def draws(self, setting: Setting, shapes: Sequence[Shape]) -> list[int]:
        """Random instances of each of the shapes."""
        dear = [is_dear(setting, shape) for shape in shapes]
        cheap = len(shapes) - sum(dear)
        each = math.ceil(max(0, self.instances - self.few * sum(dear)) / max(1, cheap))
        return [max(1, self.few if one and cheap > 1 else each) for one in dear]

    def leading(self, setting: Setting, shapes: Sequence[Shape]) -> list[Shape]:
        """The first of the shapes, and not too many that are dear."""
        dear = [shape for shape in shapes if is_dear(setting, shape)][self.dear :]
        return [shape for shape in shapes if shape not in dear][: self.climbed]


SANITY = Effort(12, 1_000, 16, 4, 1, 96, 7, 6, 1, 0, 2.0, 0)  # the kernel accepts a proof
OPEN = Effort(24, 4_000, 64, 6, 2, 192, 7, 6, 1, 8, 6.0, 8_000, sharp=1.0)  # nothing is known
LITERAL = Effort(24, 24 * 96, 24, 8, 2, 192, 7, 0, 0, 1, 0.0, 1_000, sturdy=False)  # without an implicit assumption
THOROUGH = Effort(ALL, 20_000, 400, 40, 40, 192, 10, 15, 2, 0, 18.0, 8_000, sharp=3.0)  # everything, whatever is known


def seconds_at_sharp_points(effort: Effort, seconds: float) -> float:
    """Nominal seconds for worst cases at sharp points."""
    return effort.sharp * max(seconds, LEAST_SHARP)


def is_dear(setting: Setting, shape: Shape) -> bool:
    """Whether an instance costs much more than others."""
    return setting.paths(shape) > DEAR_PATHS or shape.cost > DEAR_SIZE


@lru_cache(maxsize=256)
def covering(shapes: tuple[Shape, ...], most: int) -> tuple[Shape, ...]:
    """So many of the shapes that have between them every value of a size or a choice, and then most pairs of values.

    Greedily: the one with most that is missing, the cheapest of them (Cohen, Dalal, Fredman and Patton 1997). Where all
    pairs are covered, places that are left go to shapes at even distances.
    """
    if len(shapes) <= most:
        return shapes
    # Sets of marks are bits of whole numbers: every shape is counted again at every choice, and there may be hundreds.
    bits, masks = dict[tuple[tuple[str, str], ...], int](), list[int]()
    for shape in shapes:
        values = sorted({**{name: str(n) for name, n in shape.counts}, **dict(shape.flags)}.items())
        marks = [*((value,) for value in values), *combinations(values, 2)]
        masks.append(sum(1 << bits.setdefault(mark, len(bits)) for mark in marks))
    single = sum(1 << bit for mark, bit in bits.items() if len(mark) == 1)
    left, chosen, rest = (1 << len(bits)) - 1, list[int](), list(range(len(shapes)))

    def gain(place: int) -> tuple[int, int, int]:
        new = masks[place] & left
        return (new & single).bit_count(), new.bit_count(), -shapes[place].cost

    while left and len(chosen) < most:
        best = max(rest, key=gain)
        left &= ~masks[best]
        chosen.append(best)
        rest.remove(best)
    places = most - len(chosen)
    chosen += [rest[n * len(rest) // places] for n in range(places)]
    return tuple(shapes[place] for place in sorted(chosen))


def tried_shapes(reading: Reading, setting: Setting, effort: Effort) -> tuple[list[Shape], int]:
    """The shapes that an effort tries, in their order, and of how many; all of those that are longer than ordinary."""
    shapes = setting.shapes(reading)
    ordinary = setting.ordinary(reading, shapes)
    chosen = set(covering(tuple(ordinary), effort.shapes)) | (set(shapes) - set(ordinary))
    return [shape for shape in shapes if shape in chosen], len(shapes)
