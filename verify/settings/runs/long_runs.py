"""Runs on data points whose step sizes have roots of T in them: how they grow longer, and what pictures run along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...search.tree_arrays import Array
from ..base import Reading, Shape
from . import data_points as data
from .run import RunSetting

LONGER = 3  # longer runs that a counterexample is tried on


@dataclass(frozen=True, slots=True)
class LongRuns(RunSetting):
    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]:
        """T -> shape: runs that stand still, or else around a minimum, or else whatever is admissible."""
        if not data.long(reading):
            return []
        known = [shape for shape in self.shapes(reading) if data.has(reading, "smooth")]
        still = {shape["T"]: shape for shape in reversed(known) if shape.flag("oracle") == "still"}
        moments = {shape["T"]: shape for shape in known if shape.flag("loss") == "parabola"}
        calm = {n * n: data.alike(reading, n * n) for n in (1, 2, 3, 5, 8, 12, 20)}
        return [*({T: by[T] for T in sorted(by)} for by in (still, moments) if by), calm]

    def longer(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, Mapping[str, Array]] | str]:
        """The next T that searches know at the same sizes. The oracle goes on with its last rule."""
        apart = ("T", "b") if shape.flag("loss") == "parabola" else ("T",)
        own = [(name, n) for name, n in shape.counts if name not in apart]
        alike = [
            s for s in self.shapes(reading) if data.long(reading) and s.flags == shape.flags and s["T"] > shape["T"]
        ]
        same = [s for s in alike if [(name, n) for name, n in s.counts if name not in apart] == own]
        for longer in sorted(same, key=lambda s: s["T"])[:LONGER]:
            yield longer, {k: _drawn_out(k, v, longer) for k, v in genome.items()}


def _drawn_out(name: str, values: Array, shape: Shape) -> Array:
    """A gene's values for a longer run. Batches have one more axis in front."""
    if name not in ("step", "shift") or shape.flag("oracle") == "still":
        return values
    axis = values.ndim - (2 if name == "step" else 4)  # of the rounds: step (rounds, C), shift (rounds, C, drawn, d)
    missing = min(shape["T"], data.PHASES) - values.shape[axis]
    last = np.take(values, [-1], axis=axis)
    return np.concatenate([values, *[last] * missing], axis=axis)
