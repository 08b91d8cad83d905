"""The joint law of a round's start w_{t,0} and the local iterates w^i_{t,k} under rule (4.3), exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Protocol

from flint import fmpq, fmpq_mat

from .loss import ZERO, Loss, Vector, combine, diagonal, dot
from .rational import Rejected, small

PATHS = 4_096
APART = (fmpq(1), fmpq(-1))
Covariance = dict[tuple[int, int], fmpq_mat]  # of clients i and j, where it is not zero


def norm2(x: Vector) -> fmpq:
    return dot(x, x)


def identity(d: int) -> fmpq_mat:
    return diagonal([fmpq(1)] * d)


def trace(m: fmpq_mat) -> fmpq:
    return sum((m[r, r] for r in range(m.nrows())), ZERO)


@dataclass(frozen=True)
class Problem:
    """Losses f_i, weights p_i, the proximal parameter, and noise s v_i with a fair sign s per step (and client)."""

    losses: tuple[Loss, ...]
    p: Vector
    alpha: fmpq
    noise: tuple[Vector, ...]
    shared: bool

    def value(self, w: Vector) -> fmpq:
        return dot(self.p, [loss.value(w) for loss in self.losses])

    def gradient(self, w: Vector) -> Vector:
        return combine(self.p, [loss.gradient(w) for loss in self.losses])

    @cached_property
    def active(self) -> list[int]:
        return [i for i, v in enumerate(self.noise) if any(v)]

    @cached_property
    def matrices(self) -> list[tuple[fmpq_mat, fmpq_mat]]:
        return [(fmpq_mat([list(r) for r in f.A]), fmpq_mat(len(f.b), 1, list(f.b))) for f in self.losses]

    @cached_property
    def covariance(self) -> Covariance:
        """Of the noise at one step."""
        v = [fmpq_mat(len(entries), 1, list(entries)) for entries in self.noise]
        pairs = product(self.active, repeat=2) if self.shared else ((i, i) for i in self.active)
        return {(i, j): v[i] * v[j].transpose() for i, j in pairs}

    @cached_property
    def signs(self) -> list[list[int]]:
        """The equally likely sign patterns of one step: one sign per client, 0 where there is no noise."""
        if self.shared and self.active:
            return [[1] * len(self.p), [-1] * len(self.p)]
        if 2 ** len(self.active) > PATHS:
            raise Rejected(f"instance.noise: got {len(self.active)} noisy clients, expected at most {PATHS} paths")
        return [list(s) for s in product(*((1, -1) if i in self.active else (0,) for i in range(len(self.p))))]


class Paths:
    """The law as a list: states (w_{t,0}, w^1, ..., w^C) with their probabilities, equal states merged."""

    def __init__(self, problem: Problem, states: dict[tuple[Vector, ...], fmpq]) -> None:
        self.problem, self.states = problem, states

    @classmethod
    def at(cls, problem: Problem, w: Vector) -> Paths:
        return cls(problem, {(w,) * (len(problem.p) + 1): fmpq(1)})

    def step(self, gamma: fmpq) -> Paths:
        one, signs = self.problem, self.problem.signs
        if len(self.states) * len(signs) > PATHS:
            raise Rejected(f"instance.noise: got more than {PATHS} sign paths, expected fewer steps or less noise")
        stepped: defaultdict[tuple[Vector, ...], fmpq] = defaultdict(fmpq)
        for (start, *local), probability in self.states.items():
            mean = [
                combine((1 - one.alpha * gamma, one.alpha * gamma, -gamma), (w, start, loss.gradient(w)))
                for w, loss in zip(local, one.losses, strict=True)
            ]
            for pattern in signs:
                moved = (
                    combine((fmpq(1), -gamma * s), (w, v)) for w, s, v in zip(mean, pattern, one.noise, strict=True)
                )
                stepped[(start, *moved)] += probability / len(signs)
        return Paths(one, dict(stepped))

    def average(self) -> Paths:
        states: defaultdict[tuple[Vector, ...], fmpq] = defaultdict(fmpq)
        for (_, *local), probability in self.states.items():
            w = tuple(map(small, combine(self.problem.p, local)))
            states[(w,) * (len(local) + 1)] += probability
        return Paths(self.problem, dict(states))

    def expect(self, of: Callable[[tuple[Vector, ...]], fmpq]) -> fmpq:
        return sum((probability * of(state) for state, probability in self.states.items()), ZERO)

    def square(self, weights: Vector) -> fmpq:
        return self.expect(lambda state: norm2(combine(weights, state)))

    def gradient2(self, i: int) -> fmpq:
        return self.expect(lambda state: norm2(self.problem.losses[i].gradient(state[i + 1])))

    def value(self) -> fmpq:
        return self.expect(lambda state: self.problem.value(state[0]))

    def distance2(self, w: Vector) -> fmpq:
        return self.expect(lambda state: norm2(combine(APART, (state[0], w))))


class Moments:
    """The law for quadratic losses: w^i = M_i w_{t,0} + c_i + noise of covariance N, w_{t,0} of given moments."""

    def __init__(
        self, problem: Problem, mean: fmpq_mat, cov: fmpq_mat, maps: list[tuple[fmpq_mat, fmpq_mat]], noise: Covariance
    ) -> None:
        self.problem, self.mean, self.cov, self.maps, self.noise = problem, mean, cov, maps, noise

    @classmethod
    def at(cls, problem: Problem, mean: fmpq_mat, cov: fmpq_mat | None = None) -> Moments:
        d = mean.nrows()
        maps = [(identity(d), fmpq_mat(d, 1))] * len(problem.p)
        return cls(problem, mean, cov or fmpq_mat(d, d), maps, {})

    def step(self, gamma: fmpq) -> Moments:
        one, eye = self.problem, identity(self.mean.nrows())
        keep = [(1 - one.alpha * gamma) * eye - gamma * A for A, _ in one.matrices]
        maps = [
            (K * M + one.alpha * gamma * eye, K * c + gamma * b)
            for K, (M, c), (_, b) in zip(keep, self.maps, one.matrices, strict=True)
        ]
        noise = {
            (i, j): gamma**2 * fresh + (keep[i] * self.noise[i, j] * keep[j] if self.noise else 0 * fresh)
            for (i, j), fresh in one.covariance.items()
        }
        return Moments(one, self.mean, self.cov, maps, noise)

    def affine(self, weights: Vector) -> tuple[fmpq_mat, fmpq_mat]:
        """Mean and covariance of weights[0] w_{t,0} + sum_i weights[i] w^i."""
        M, c = weights[0] * identity(self.mean.nrows()), 0 * self.mean
        for weight, (M_i, c_i) in zip(weights[1:], self.maps, strict=True):
            M, c = M + weight * M_i, c + weight * c_i
        cov = M * self.cov * M.transpose()
        for (i, j), N in self.noise.items():
            cov = cov + weights[i + 1] * weights[j + 1] * N
        return M * self.mean + c, cov

    def average(self) -> Moments:
        mean, cov = self.affine((ZERO, *self.problem.p))
        for x in (*mean, *cov):
            small(x)
        return Moments.at(self.problem, mean, cov)

    def square(self, weights: Vector) -> fmpq:
        mean, cov = self.affine(weights)
        return norm2(tuple(mean)) + trace(cov)

    def gradient2(self, i: int) -> fmpq:
        mean, cov = self.affine(tuple(fmpq(n == i + 1) for n in range(len(self.maps) + 1)))
        A = self.problem.matrices[i][0]
        return norm2(self.problem.losses[i].gradient(tuple(mean))) + trace(A * cov * A)

    def value(self) -> fmpq:
        spread = [trace(A * self.cov) / 2 for A, _ in self.problem.matrices]
        return self.problem.value(tuple(self.mean)) + dot(self.problem.p, spread)

    def distance2(self, w: Vector) -> fmpq:
        return norm2(combine(APART, (tuple(self.mean), w))) + trace(self.cov)


class Law(Protocol):
    """What both laws answer; clients are counted from 0."""

    def step(self, gamma: fmpq) -> Law: ...
    def average(self) -> Law: ...  # the next round's start, sum_i p_i w^i
    def square(self, weights: Vector) -> fmpq: ...  # E |weights[0] w_{t,0} + sum_i weights[i] w^i|^2
    def gradient2(self, i: int) -> fmpq: ...  # E |grad f_i(w^i)|^2
    def value(self) -> fmpq: ...  # E f(w_{t,0})
    def distance2(self, w: Vector) -> fmpq: ...  # E |w_{t,0} - w|^2
