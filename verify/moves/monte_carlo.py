"""Monte-Carlo evidence where expectations cannot be enumerated: it may support or worry, it never refutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..search.genome import Genome, draw
from ..search.score import conditions, genes_of
from ..search.seeds import seed_for
from ..search.tree_arrays import Array, Evaluator, Table
from ..settings.base import Reading, Setting, Shape, known_table
from .confidence import DELTA, interval

LOOKS = (64, 256)  # runs an instance at each look


@runtime_checkable
class Sampled(Protocol):
    """A setting whose runs can be sampled where their expectation has no closed form."""

    def sampled_shape(self, reading: Reading) -> Shape | None:
        """A shape whose expectations need sampling, or None if the claim is not about such a mean."""
        ...

    def sampled(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Table]:
        """Values (n, rounds, runs) of the left side, their range (n, rounds), and constants that bound every path."""
        ...


@dataclass(frozen=True, slots=True)
class Statistics:
    """Instances whose bound holds at confidence 1 - δ, is violated at that confidence, or neither."""

    instances: int
    runs: int
    within: int
    suspects: int
    delta: float = DELTA

    def row(self) -> dict[str, int | float]:
        return {"instances": self.instances, "runs": self.runs, "within": self.within} | {
            "open": self.instances - self.within - self.suspects,
            "suspects": self.suspects,
            "delta": self.delta,
        }


def statistics(reading: Reading, setting: Setting, seed: int, instances: int = 24) -> Statistics | None:
    """Sample the claim's left side; stop at the first look at which every instance is settled."""
    shape = setting.sampled_shape(reading) if isinstance(setting, Sampled) else None
    upper = reading.claim["then"][0][0] in ("<=", "<")  # what is compared below is whether the left side is above
    if shape is None or not upper or not isinstance(setting, Sampled):
        return None
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "statistics"))
    genome = draw(genes_of(reading, setting, shape), instances, rng)
    constants = known_table(reading, setting, shape, genome)
    values: Array | None = None
    settled = above = np.zeros(instances, dtype=bool)
    runs = 0
    for look, runs in enumerate(LOOKS, start=1):
        fresh, width, table = setting.sampled(
            reading, shape, genome, constants, runs - (0 if values is None else values.shape[-1]), rng
        )
        values = fresh if values is None else np.concatenate([values, fresh], axis=-1)
        evaluator = Evaluator(table, {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()})
        usable = conditions(evaluator, reading.claim["when"])
        rhs = np.broadcast_to(evaluator(reading.claim["then"][0][2]), evaluator.shape)
        # All instances and rounds share δ, so that with probability 1 - δ none of these intervals is wrong.
        low, high = interval(values, width, look, DELTA / width.size)
        # A bound above the whole range of the values holds, whatever was sampled.
        settled = ((high <= rhs).all(axis=1) | (width <= rhs).all(axis=1)) & usable
        above = (low > rhs).any(axis=1) & usable
        if (settled | above | ~usable).all():
            break
    return Statistics(instances, runs, int(settled.sum()), int(above.sum()))
