"""Who was drawn, against the law that a method states: uniformly, or each client with its share of the data."""

# scipy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from .recording import Array, Recording

__all__ = ["SampleTest", "sample_test"]

LEVEL = 1e-9  # how rare the draws are under the stated law before it is said not to be theirs
FEWEST = 50  # draws, below which nothing is said
SIMULATED = 20_000  # rounds of sequential draws, from which chances of being drawn are taken
MARGIN = 5.0  # standard deviations by which these chances may be wrong


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

    def row(self) -> dict[str, object]:
        return {"stated": self.stated, "draws": self.draws, "chance": self.chance, "looks": self.looks}

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.draws} draws agree with '{self.stated}' (chance of such draws {self.chance:.2g})"
        looks = f"; they look like '{self.looks}'" if self.looks else ""
        return f"{self.draws} draws do not agree with '{self.stated}' (chance of such draws {self.chance:.2g}){looks}"


def sample_test(run: Recording, stated: str) -> SampleTest | None:
    """How often each client was drawn, with its binomial law; nothing where all take part once or draws are few.

    The chance is that of the rarest client, times the number of clients: an upper bound for any dependence among them.
    Draws with and without replacement are both tried, and the kinder one counts.
    """
    draws = int(run.drawn.sum())
    if stated == "any" or not run.sampling_recorded or draws < FEWEST or (run.drawn == 1).all():
        return None
    laws = {"uniform": np.full(run.clients, 1 / run.clients), "by weight": run.weights}
    chances = {name: _chance(run.drawn, law) for name, law in laws.items()}
    other = next(name for name in laws if name != stated)
    looks = other if chances[stated] < LEVEL <= chances[other] else ""
    return SampleTest(stated, draws, chances[stated], looks)


def _chance(drawn: Array, law: Array) -> float:
    counts, total = drawn.sum(axis=0), int(drawn.sum())
    repeated = _rarest(counts, total, law, law)
    if drawn.max() > 1:
        return repeated
    sizes = drawn.sum(axis=1)
    m = int(sizes.max())
    if (sizes != m).any():
        return repeated
    low, high = _inclusion(law, m)
    return max(repeated, _rarest(counts, len(drawn), low, high))


def _rarest(counts: Array, trials: int, low: Array, high: Array) -> float:
    """The two-sided chance of the rarest count, where each has a success chance between `low` and `high`."""
    above, below = binom.sf(counts - 1, trials, high), binom.cdf(counts, trials, low)
    return float(min(1.0, 2 * len(counts) * np.minimum(above, below).min()))


def _inclusion(law: Array, m: int) -> tuple[Array, Array]:
    """How likely each client is among m that are drawn one after the other without replacement, with its margin."""
    rng = np.random.default_rng(0)
    with np.errstate(divide="ignore"):
        keys = np.log(law) + rng.gumbel(size=(SIMULATED, len(law)))  # the m largest are such a draw
    among = (np.argsort(-keys, axis=1)[:, :m, None] == np.arange(len(law))).any(axis=1).mean(axis=0)
    margin = MARGIN * np.sqrt(among * (1 - among) / SIMULATED) + MARGIN / SIMULATED
    return np.clip(among - margin, 0, 1), np.clip(among + margin, 0, 1)
