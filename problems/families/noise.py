"""Additive noise of a run: a law of noise (`problems/noises`), at every step of every client or at a few of them.

An assumption on the variance bounds it from above, so that draws may be without noise. Where outcomes are listed one by
one, a long run has noise at so few steps, and of so few clients, that the list stays short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..arrays.genes import Gene, along
from ..noises import laws
from ..noises.law import NoiseLaw
from .family import Array


@dataclass(frozen=True, slots=True)
class Noise:
    """`count` steps have noise, from step `first` on, `apart` from one another; 0: every step has.

    Steps are counted from 0 over all rounds. Of the clients the first `loud` have noise; 0: all of them.
    """

    kind: str = "none"  # the name of its law
    count: int = 0
    first: int = 0
    apart: int = 1
    loud: int = 0

    @property
    def law(self) -> NoiseLaw:
        return laws()[self.kind]

    @classmethod
    def of(cls, flags: Mapping[str, str], sizes: Mapping[str, int]) -> Noise:
        first, apart = int(flags.get("first", "0")), int(flags.get("apart", "1"))
        return cls(flags["noise"], sizes.get("noisy", 0), first, apart, sizes.get("loud", 0))

    @property
    def flags(self) -> dict[str, str]:
        rest = {"first": str(self.first), "apart": str(self.apart)} if self.count else {}
        return {"noise": self.kind, **rest}

    @property
    def sizes(self) -> dict[str, int]:
        counted = {"noisy": self.count, "loud": self.loud}
        return {name: size for name, size in counted.items() if size}

    def steps(self, total: int) -> tuple[int, ...] | None:
        """The numbers of the steps that have noise, of `total` steps; None where all of them have."""
        if self.law.silent or not self.count:
            return None
        chosen = tuple(self.first + self.apart * n for n in range(self.count))
        kept = tuple(step for step in chosen if step < total)
        return None if len(kept) == total else kept

    def clients(self, C: int) -> int:
        """How many of C clients have noise."""
        return min(self.loud or C, C)

    def signs(self, total: int, C: int, twice: bool) -> int:
        """Independent signs of a run; `twice`: a step draws its noise twice."""
        if self.law.silent:
            return 0
        steps = self.steps(total)
        each = 1 if self.law.one_sign else self.clients(C) * (1 + twice + self.law.of_hessians)
        return each * (total if steps is None else len(steps))

    def genes(self, sizes: Mapping[str, int], equal: bool) -> list[Gene]:
        """A level per client, or one for all."""
        if self.law.silent:
            return []
        level = Gene("noise", "nonnegative", (1,), ("",)) if equal else along("noise", "nonnegative", sizes, "C")
        return [level, *([along("rough", "nonnegative", sizes, "C")] if self.law.of_hessians else [])]

    def level(self, genes: Mapping[str, Array], C: int) -> Array:
        """(n, C), or (n, 1) where all have the same."""
        return genes["noise"] * self._whose(C) if genes["noise"].shape[1] > 1 else genes["noise"]

    def _whose(self, C: int) -> Array:
        """1 for the clients that have noise, 0 for the others."""
        return np.array([int(i < self.clients(C)) for i in range(C)])

    def vectors(self, level: Array, C: int, d: int) -> Array:
        """v (n, C, d) of the law, at the level of every client."""
        return level[:, :, None] * self.law.directions(C, d).astype(level.dtype)

    def bends(self, genes: Mapping[str, Array], high: Array, d: int) -> Array:
        """h (n, C, d), from units of curvature."""
        own = high[:, None] * genes["rough"] * self._whose(genes["rough"].shape[1])
        return own[..., None] * np.array([1] * d)

    def written(self, v: object, h: object, total: int) -> dict[str, object]:
        """One instance in the kernel's format; v and h as it has them."""
        steps = self.steps(total)
        if self.law.silent or steps == ():
            return {"kind": "none"}
        signs: dict[str, object] = {"kind": "signs", "shared": self.law.one_sign, "v": v}
        signs |= {"h": h} if self.law.of_hessians else {}
        return signs if steps is None else {**signs, "steps": list(steps)}

    def fewer(self) -> Iterator[Noise]:
        """Simpler ones: none; at fewer steps; of fewer clients."""
        if not self.law.silent:
            yield Noise()
        if self.law.simpler:
            yield replace(self, kind=self.law.simpler)
        for count in sorted({1, 2, self.count // 2, self.count - 1}):
            if 0 < count < self.count:
                yield replace(self, count=count)
                yield replace(self, count=count, first=self.first + self.apart * (self.count - count))
        if self.loud > 1:
            yield replace(self, loud=self.loud - 1)

    def within(self, total: int) -> Noise:
        """Moved so that a run of so many steps still has its last noise."""
        last = self.first + self.apart * (self.count - 1)
        return replace(self, first=max(0, self.first - max(0, last - total + 1))) if self.count else self
