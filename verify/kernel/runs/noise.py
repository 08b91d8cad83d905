"""Noise: s v_i with a fair sign s per step, and per client unless it is shared; at every step, or at a few of them.

Hessians at a data point may have noise too: s diag(h_i), with signs of their own. Data points with such gradients and
Hessians exist: a loss gains, with one sign, a straight line and, with another, a function that is flat at the finitely
many points where gradients are read, is bent by h_i where Hessians are, and whose slope is as small as one likes
between them. Its slope counts among the noise of gradients, whose bound is then strict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product

from flint import fmpq

from ..core.method import Method
from ..core.rational import Malformed, Node
from ..losses.loss import ONE, ZERO, Vector, norm2

Kick = tuple[Vector, ...]  # what the noise of a step is, per client and draw


@dataclass(frozen=True, slots=True)
class Noise:
    v: tuple[Vector, ...]  # one per client, or per client and draw
    shared: bool
    steps: tuple[int, ...] | None = None  # that have noise, counted from 0 over all rounds; None: all
    h: tuple[Vector, ...] = ()  # of the Hessians, one per client; or none

    @property
    def none(self) -> Kick:
        """A step without noise."""
        return (tuple(ZERO for _ in self.v[0]),) * len(self.v + self.h)

    def at(self, step: int) -> Noise:
        """The noise of one step."""
        if self.steps is None or step in self.steps:
            return self
        return replace(self, v=self.none[: len(self.v)], h=self.none[len(self.v) :])

    def kicks(self) -> list[Kick]:
        """What each independent sign of a step moves, per client and draw."""
        rows, none = self.v + self.h, tuple(ZERO for _ in self.v[0])
        alone = [tuple(v if i == j else none for j in range(len(rows))) for i, v in enumerate(rows) if any(v)]
        return [rows] if self.shared and alone else alone

    def of_gradients(self) -> Noise:
        return replace(self, h=self.none[len(self.v) :])

    def rough(self) -> list[Kick]:
        """All that the Hessians' signs may do in one step, each as probable as the others."""
        signs = [(h, tuple(-x for x in h)) if any(h) else (h,) for h in self.h]
        return list(product(*signs))

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


def read(node: Node, method: Method, C: int, d: int, steps: int) -> Noise:
    """Of a run with so many steps over all rounds: what every draw of the method adds."""
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
    given = node.fields("kind shared v", "steps h")
    noisy = tuple(n.integer(0, steps - 1) for n in given["steps"].items()) if "steps" in given else None
    if noisy is not None and (not noisy or any(a >= b for a, b in pairwise(noisy))):
        raise given["steps"].malformed("steps with noise, each once, in their order")
    h = tuple(row.vector(d) for row in given["h"].items(C)) if "h" in given else ()
    return Noise(tuple(v.vector(d) for v in given["v"].items(C)), given["shared"].flag(), noisy, h)
