"""Who was drawn, against the law that a method states: uniformly, or each client with its share of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from .recording import Array, Recording

__all__ = ["SampleTest", "sample_test"]

LEVEL = 1e-9  # how rare the draws are under the stated law before it is said not to be theirs
FEWEST = 5.0  # expected draws of each client, below which nothing is said


@dataclass(frozen=True, slots=True)
class SampleTest:
    """How rare the recorded draws are under the stated law, and whether they look like the other one."""

    stated: str
    draws: int
    chance: float
    looks: str  # the law that they look like: "" where they agree, or look like neither

    @property
    def agrees(self) -> bool:
        return self.chance >= LEVEL

    def row(self) -> dict[str, Any]:
        return {"stated": self.stated, "draws": self.draws, "chance": self.chance, "looks": self.looks}

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.draws} draws agree with '{self.stated}' (chance of such draws {self.chance:.2g})"
        looks = f"; they look like '{self.looks}'" if self.looks else ""
        return f"{self.draws} draws do not agree with '{self.stated}' (chance of such draws {self.chance:.2g}){looks}"


def sample_test(run: Recording, stated: str) -> SampleTest | None:
    """Pearson's test of the draws; nothing where all take part, or where there are too few draws to say anything.

    Without replacement the counts vary less than the test assumes, so that it errs towards agreement.
    """
    if stated == "any" or not run.sampling_recorded or (run.drawn == run.drawn[:1]).all():
        return None
    counts = run.drawn.sum(axis=0)
    laws = {"uniform": np.full(run.clients, 1 / run.clients), "by weight": run.weights}
    if (laws[stated] * counts.sum()).min() < FEWEST:
        return None
    chances = {name: _chance(counts, law) for name, law in laws.items()}
    other = next(name for name in laws if name != stated)
    looks = other if chances[stated] < LEVEL <= chances[other] else ""
    return SampleTest(stated, int(counts.sum()), chances[stated], looks)


def _chance(counts: Array, law: Array) -> float:
    expected = law * counts.sum()
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1))
