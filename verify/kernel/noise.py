"""Noise: s v_i with a fair sign s per step, and per client unless it is shared; at every step, or at a few of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from .loss import ZERO, Vector
from .rational import Node


@dataclass(frozen=True, slots=True)
class Noise:
    v: tuple[Vector, ...]
    shared: bool
    steps: tuple[int, ...] | None = None  # that have noise, counted from 0 over all rounds; None: all

    def at(self, step: int) -> Noise:
        """The noise of one step."""
        if self.steps is None or step in self.steps:
            return self
        return replace(self, v=tuple(tuple(ZERO for _ in v) for v in self.v))

    def kicks(self) -> list[tuple[Vector, ...]]:
        """What each independent sign of a step moves, per client."""
        none = tuple(ZERO for _ in self.v[0])
        alone = [tuple(v if i == j else none for j in range(len(self.v))) for i, v in enumerate(self.v) if any(v)]
        return [self.v] if self.shared and alone else alone


def read(node: Node, C: int, d: int, steps: int) -> Noise:
    """Of a run with so many steps over all rounds."""
    if node.kind(("none", "signs")) == "none":
        node.fields("kind")
        return Noise(((ZERO,) * d,) * C, False)
    given = node.fields("kind shared v", "steps")
    noisy = tuple(n.integer(0, steps - 1) for n in given["steps"].items()) if "steps" in given else None
    if noisy is not None and (not noisy or any(a >= b for a, b in pairwise(noisy))):
        raise given["steps"].malformed("steps with noise, each once, in their order")
    return Noise(tuple(v.vector(d) for v in given["v"].items(C)), given["shared"].flag(), noisy)
