"""The law of FedProx's iterates under rule (4.3), exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from flint import fmpq

from .loss import ONE, ZERO, Loss, Vector, combine, dot, ldl, minus
from .rational import Rejected
from .work import HASH, spend, summed

PATHS = 4_096
HALF = fmpq(1, 2)
State = tuple[Vector, ...]  # (w_{t,0}, w^1_{t,k}, ..., w^C_{t,k})


@dataclass(frozen=True)
class Problem:
    """Losses f_i, weights p_i, the proximal parameter, and noise s v_i with a fair sign s a step (and client)."""

    losses: tuple[Loss, ...]
    p: Vector
    alpha: fmpq
    noise: tuple[Vector, ...]
    shared: bool

    def value(self, w: Vector) -> fmpq:
        return dot(self.p, [loss.value(w) for loss in self.losses])

    @cached_property
    def kicks(self) -> list[State]:
        """What each independent sign of a step moves."""
        none, clients = tuple(ZERO for _ in self.noise[0]), range(len(self.p) + 1)
        alone = [tuple(v if i == j else none for j in clients) for i, v in enumerate(self.noise, 1) if any(v)]
        return [(none, *self.noise)] if self.shared and alone else alone


def work(problem: Problem, sizes: tuple[int, int, int], joint: int, paths: bool) -> int:
    """Operations of a whole run, before it is made: states times steps, and a covariance per round.

    `sizes` are E, T and d; the next round's start needs the law of `joint` vectors.
    """
    (E, T, d), C = sizes, len(problem.p)
    kicks = (1 if problem.shared else C) if any(map(any, problem.noise)) else 0
    states = min(PATHS, 2 ** min(kicks * E * T, 12)) if paths else 1 + 3 * kicks * E + 2 * joint * d
    dense = 0 if paths or not kicks else T * states * (joint * d) ** 2
    return E * T * C * d * d * states + dense + C * d**3


@dataclass(frozen=True)
class Law:
    """Weighted states. With `paths`, every sign path and its probability. Otherwise a signed measure with the same
    mean and covariance: where all is affine in the signs, quadratic functions have the same expectation under it.
    """

    problem: Problem
    states: list[tuple[State, fmpq]]
    paths: bool

    @classmethod
    def start(cls, problem: Problem, w0: Vector, paths: bool) -> Law:
        return cls(problem, [((w0,) * (len(problem.p) + 1), ONE)], paths)

    def expect(self, of: Callable[[State], fmpq]) -> fmpq:
        return summed(weight * of(state) for state, weight in self.states)

    def drift(self, state: State, gamma: fmpq) -> State:
        """One local step of every client without its noise, rule (4.3)."""
        rule = (1 - self.problem.alpha * gamma, self.problem.alpha * gamma, -gamma)
        local = zip(state[1:], self.problem.losses, strict=True)
        return (state[0], *(combine(rule, (w, state[0], f.gradient(w))) for w, f in local))

    def step(self, gamma: fmpq) -> Law:
        """One local step of every client."""
        moved = [(self.drift(state, gamma), weight) for state, weight in self.states]
        for kick in self.problem.kicks:
            if 2 * len(moved) > PATHS:
                raise Rejected(f"instance.noise: got more than {PATHS} sign paths, expected fewer steps or less noise")
            if self.paths:
                moved = merged((_kicked(x, kick, s), q / 2) for x, q in moved for s in (gamma, -gamma))
            else:
                x = moved[0][0]  # any state will do
                moved += [(x, -ONE), *((_kicked(x, kick, s), HALF) for s in (gamma, -gamma))]
        return replace(self, states=moved)

    def average(self) -> Law:
        """The next round's start, sum_i p_i w^i."""
        copies = len(self.problem.p) + 1
        starts = self.condensed(lambda state: combine(self.problem.p, state[1:]))
        states = [((w,) * copies, q) for w, q in starts]
        return replace(self, states=merged(states) if self.paths else states)

    def condensed(self, of: Callable[[State], Vector]) -> list[tuple[Vector, fmpq]]:
        """The law of a linear function of the state; without paths, on few points."""
        starts = [(of(state), weight) for state, weight in self.states]
        if not self.paths and len(starts) > 1:
            mean = combine([weight for _, weight in starts], [w for w, _ in starts])
            apart = [(minus(w, mean), weight) for w, weight in starts]
            cov = [[summed(q * x[r] * x[s] for x, q in apart) for s in range(len(mean))] for r in range(len(mean))]
            parts = ldl(cov)
            if parts is None:
                raise ArithmeticError(f"got the covariance {cov}, expected a semidefinite one")
            sides = [(combine((ONE, s), (mean, u)), D / 2) for D, u in parts for s in (ONE, -ONE)]
            starts = [(mean, 1 - summed(D for D, _ in parts)), *sides]
        return starts


def _kicked(state: State, kick: State, s: fmpq) -> State:
    return tuple(combine((ONE, s), pair) for pair in zip(state, kick, strict=True))


def merged(pairs: Iterable[tuple[State, fmpq]]) -> list[tuple[State, fmpq]]:
    """Equal states put together."""
    found: defaultdict[State, fmpq] = defaultdict(fmpq)
    for key, weight in pairs:
        spend(HASH * sum(map(len, key)))
        found[key] += weight
    return list(found.items())
