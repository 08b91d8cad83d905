"""How many instances of a statement `hunt` tries in a second: genes drawn, the method run, both sides compared."""

from collections.abc import Callable

import numpy as np

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.climb import POPULATION, climb, sample
from fedaudit.verify.search.effort import OPEN, covering
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.score import genes_of, score

# Instances a second of random populations of 96 before runs were measured in many rounds at once, on a machine where it
# was 26,200, 6,260, 11,600, 20,100 and 17,000 after.
STATEMENTS = {
    "buttaci/thm4.1-I": 25_800,
    "buttaci/lemC.2": 5_280,
    "buttaci/thm4.4-I": 9_610,
    "zhang/lemA.2": 17_700,
    "benmansour/thm3": 14_700,
}
SIZES = (POPULATION, 2048)
SMALL, LARGE_POPULATION = 8, 4096  # the size of an instance that is small; how many of them at once
TURNS = 3
Seconds = Callable[[Callable[[], object]], float]


def throughput(id_: str, n: int, seconds: Seconds) -> tuple[int, float]:
    """Admissible instances among `n` of every shape of the statement, and the best time for them in some turns."""
    reading, setting = read(statement(id_))
    shapes = setting.shapes(reading)

    def once() -> int:
        return sample(reading, setting, shapes, n, seed=0).instances

    # The first turn fills caches and is not timed.
    instances = once()
    return instances, min(seconds(once) for _ in range(TURNS if n == POPULATION else 1))


def climbed(id_: str, seconds: Seconds) -> tuple[int, float]:
    """Instances and best time of climbs, with the shapes and populations of a statement of which nothing is known."""
    reading, setting = read(statement(id_))
    some = covering(tuple(setting.ordinary(reading, setting.shapes(reading))), OPEN.shapes)

    def once() -> int:
        return climb(reading, setting, some, OPEN.generations, 0, OPEN.population).instances

    instances = once()
    return instances, min(seconds(once) for _ in range(TURNS))


def small(id_: str, seconds: Seconds) -> tuple[int, float]:
    """Admissible instances, and the best time, of large populations of small instances."""
    reading, setting = read(statement(id_))
    instances, time = 0, 0.0
    for shape in (shape for shape in setting.shapes(reading) if shape.cost <= SMALL):
        genome = draw(genes_of(reading, setting, shape), LARGE_POPULATION, np.random.default_rng(0))

        def once() -> int:
            return score(reading, setting, shape, genome, again=False).admissible  # noqa: B023  called at once

        instances += once()
        time += min(seconds(once) for _ in range(TURNS))
    return instances, time
