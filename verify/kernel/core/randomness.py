"""What is random in a run: who takes part in a round, the side of a coin, and the noise of a step.

Noise is s v_i with a fair sign s per step, and per client unless it is shared, at every step or at a few of them.

Hessians at a data point may have noise too: s diag(h_i), with signs of their own. Data points with such gradients and
Hessians exist: a loss gains, with one sign, a straight line and, with another, a function that is flat at the finitely
many points where gradients are read, is bent by h_i where Hessians are, and whose slope is as small as one likes
between them. Its slope counts among the noise of gradients, whose bound is then strict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import comb
from typing import NamedTuple

from flint import fmpq

from .loss import ONE, ZERO, Vector, norm2
from .method import Method
from .rational import Malformed, Node, affordable

SAMPLINGS = ("without_replacement", "with_replacement")
STATES = 4_096  # weighted states of a law, and outcomes of a draw


class Draw(NamedTuple):
    """What a round draws: how often each client takes part, with which minibatch, if it draws any, and a coin."""

    counts: tuple[int, ...]
    batch: tuple[int, ...] = ()
    heads: bool = True


Draws = Sequence[tuple[Draw, fmpq]]  # with their probabilities


def participation(node: Node | None, C: int) -> list[tuple[tuple[int, ...], fmpq]]:
    """How often each client takes part, with the probability of each outcome."""
    if node is None:
        return [((1,) * C, ONE)]
    fields = node.fields("kind m")
    kind, m = fields["kind"].one_of(SAMPLINGS), fields["m"].integer(1, C)
    if kind == "without_replacement":
        affordable(comb(C, m), STATES, node.where)
        return [(tuple(int(i in s) for i in range(C)), fmpq(1, comb(C, m))) for s in combinations(range(C), m)]
    affordable(C**m, STATES, node.where)
    chances: defaultdict[tuple[int, ...], fmpq] = defaultdict(fmpq)
    for s in product(range(C), repeat=m):
        chances[tuple(s.count(i) for i in range(C))] += fmpq(1, C**m)
    return list(chances.items())


@dataclass(frozen=True, slots=True)
class Noise:
    v: tuple[Vector, ...]  # one per client, or per client and draw
    shared: bool
    steps: tuple[int, ...] | None = None  # that have noise, counted from 0 over all rounds; None: all
    h: tuple[Vector, ...] = ()  # of the Hessians, one per client; or none

    @property
    def none(self) -> tuple[Vector, ...]:
        """A step without noise."""
        return (tuple(ZERO for _ in self.v[0]),) * len(self.v + self.h)

    def kicks(self, step: int | None = None) -> list[tuple[Vector, ...]]:
        """What each independent sign moves, per client and draw, at a step, or at every step that has noise."""
        if self.steps is not None and step is not None and step not in self.steps:
            return []
        rows, none = self.v + self.h, self.none[0]
        alone = [tuple(v if i == j else none for j in range(len(rows))) for i, v in enumerate(rows) if any(v)]
        return [rows] if self.shared and alone else alone

    @property
    def bent(self) -> bool:
        """Whether Hessians have noise."""
        return any(any(h) for h in self.h)

    def bounded(self, sigma: fmpq, b: fmpq = ONE) -> bool:
        """Whether no gradient's deviation, of one point in b, exceeds sigma."""
        most = b * max(norm2(v) for v in self.v)
        return most < sigma**2 if self.bent else most <= sigma**2

    def exactly(self, sigma: fmpq) -> bool:
        """Whether the deviation of every gradient is sigma, at every step."""
        return self.steps is None and not self.bent and all(norm2(v) == sigma**2 for v in self.v)

    def bent_at_most(self, sigma: fmpq) -> bool:
        """Whether no Hessian's deviation exceeds sigma."""
        return sigma >= 0 and all(abs(x) <= sigma for h in self.h for x in h)


def read_noise(node: Node, method: Method, C: int, d: int, steps: int) -> Noise:
    """The noise that an instance gives to a run of so many steps over all rounds, for every draw of the method."""
    noise, none = _written(node, C, d, steps), ((ZERO,) * d,) * C
    if noise.h and not method.rules_use("noisy_hess"):
        raise node.malformed("no noise of Hessians, for the method draws none")
    if method.rules_use("again", "noisy_hess") and noise.shared:
        raise Malformed("instance.noise: got one sign for all, expected independent ones, for a step draws twice")
    if method.rules_use("again"):
        noise = replace(noise, v=noise.v * 2)
    elif method.rules_use("noisy_hess"):
        noise = replace(noise, v=noise.v + none)
    return replace(noise, h=noise.h or none) if method.rules_use("noisy_hess") else noise


def _written(node: Node, C: int, d: int, steps: int) -> Noise:
    if node.kind(("none", "signs")) == "none":
        node.fields("kind")
        return Noise(((ZERO,) * d,) * C, False)
    fields = node.fields("kind shared v", "steps h")
    noisy = tuple(n.integer(0, steps - 1) for n in fields["steps"].items()) if "steps" in fields else None
    if noisy is not None and (not noisy or any(a >= b for a, b in pairwise(noisy))):
        raise fields["steps"].malformed("steps with noise, each once, in their order")
    h = tuple(row.vector(d) for row in fields["h"].items(C)) if "h" in fields else ()
    return Noise(tuple(v.vector(d) for v in fields["v"].items(C)), fields["shared"].flag(), noisy, h)
