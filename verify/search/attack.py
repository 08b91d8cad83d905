"""A search as its effort says: random instances of shapes that cover, then populations on those that came closest.

Where clear violations are met the kernel is asked at once, and with its word the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from fedaudit.progress import told

from ..settings.base import Reading, Setting, Shape
from .climb import Found, Searched, climb, joined, sampled
from .effort import Effort, tried_shapes
from .rationalise import certify
from .score import BEYOND_ROUNDING

__all__ = ["climbed_on", "scattered", "worth"]

CLEAR = 1e-3  # a float violation this large ends the search if the kernel confirms it
REPLAYS = 5  # violations that the kernel is asked about
MOST_TURNS = 5  # random instances once more, where conditions turn many away


def scattered(reading: Reading, world: Setting, effort: Effort, seed: int) -> Searched:
    """Random instances; where too few are admissible, a second turn with as many more as that needs."""
    shapes, proposed = tried_shapes(reading, world, effort)
    counts = effort.draws(world, shapes)
    parts, clear, sure = list[Searched](), 0, False
    enough = min(effort.fallen, len(shapes))
    for shape, n in zip(shapes, counts, strict=True):
        told("random instances, shape", len(parts), len(shapes))
        parts.append(sampled(reading, world, shape, n, seed))
        first = parts[-1].best[:1]
        if first and first[0].margin > CLEAR:
            clear += 1
            # A replay costs more than many instances, and one fall that is confirmed is enough.
            sure = sure or (clear <= REPLAYS and _falls(reading, world, first[0]))
        if sure and 0 < enough <= clear:
            break
    else:
        admissible = sum(part.instances for part in parts)
        more = min(math.ceil(effort.instances / max(admissible, 1)), MOST_TURNS) - 1
        if more > 0:
            for place, (shape, n) in enumerate(zip(shapes, counts, strict=True)):
                told("random instances again, shape", place, len(shapes))
                # With the same seed the second turn would begin with the random numbers of the first.
                parts.append(sampled(reading, world, shape, more * n, seed + 1))
    return replace(joined(parts), covered=(len(shapes), proposed), fell=sure and 0 < enough <= clear)


def climbed_on(reading: Reading, world: Setting, scattering: Searched, effort: Effort, seed: int) -> Searched:
    """Populations on the shapes whose random instances came closest; more generations where there are few shapes.

    A margin that is 0 also after the genes were moved is an equation, true of all instances of its shape. There are
    often many such shapes: at most half of the places are theirs while others wait.
    """
    closest = dict[Shape, float]()
    for candidate in _by_turns(scattering.best):
        closest.setdefault(candidate.scores.shape, candidate.margin)
    equations = [shape for shape, margin in closest.items() if margin == 0][effort.climbed // 2 :]
    ranked = [*(shape for shape in closest if shape not in equations), *equations]
    shapes = effort.leading(world, world.ordinary(reading, ranked))
    if not shapes or scattering.fell:
        return Searched(0, ())
    longer = max(1.0, effort.climbed / len(shapes)) if effort.rate else 1.0
    return climb(reading, world, shapes, round(longer * effort.generations), seed, effort.population)


def _by_turns(best: Sequence[Found]) -> list[Found]:
    """The candidates with the best of every region by turns: a region where bounds are tight hides the others."""
    places, turns = dict[int, int](), list[int]()
    for found in best:
        turns.append(places.get(found.region, 0))
        places[found.region] = turns[-1] + 1
    return [best[n] for n in sorted(range(len(best)), key=lambda n: turns[n])]


def worth(found: Found) -> tuple[bool, int]:
    """Clear violations before those that may be rounding; among them, small instances first."""
    return found.margin <= BEYOND_ROUNDING, found.scores.shape.cost


def _falls(reading: Reading, world: Setting, found: Found) -> bool:
    replayed = certify(reading, world, found)
    return replayed is not None and not replayed.holds
