"""Small problems to be trained on, chosen so that deviations show: clients with unequal weights and unequal numbers of
steps, drawn in shuffled order, step sizes that change from round to round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .recording import Array, Losses, quadratic_losses
from .run_log import RunLog

__all__ = ["SYMBOLS", "Task", "tasks"]

ROUNDS, DIM, NEWTON = 4, 3, 60
SETTLED = 1e-15  # of the size of a point: slopes that are rounding
SYMBOLS: Mapping[str, Any] = {  # values of the methods' parameters; none is 0, 1 or the inverse of another
    "gamma": [0.11, 0.1, 0.09, 0.08],
    "mu": 0.7,
    "alpha": 0.45,
    "beta": 0.35,
    "beta_1": 0.8,
    "beta_2": 0.94,
    "eta": 0.3,
    "eta_g": 0.85,
    "tau": 0.05,
    "lambda": 1.7,
    "kappa": 0.6,
}


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A problem for a training loop: `grad(i, w)`, `start`, `sample(t)`, `steps[i]`, `symbols`, and who has what data.

    `weights[i]` is counts[i] / sum(counts), `steps[i]` = epochs * batches[i]. A model has the named `arrays`, by size.
    """

    name: str
    losses: Losses = field(repr=False)
    counts: tuple[int, ...]
    drawn: tuple[tuple[int, ...], ...]
    batches: tuple[int, ...]
    start: Array
    epochs: int = 2
    rounds: int = ROUNDS
    symbols: Mapping[str, Any] = field(default_factory=lambda: SYMBOLS)
    arrays: Mapping[str, int] = field(default_factory=lambda: {"weight": 2, "buffer": 1})

    @property
    def clients(self) -> int:
        return len(self.counts)

    @property
    def dim(self) -> int:
        return len(self.start)

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(n / sum(self.counts) for n in self.counts)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(self.epochs * b for b in self.batches)

    def sample(self, t: int) -> tuple[int, ...]:
        """Who takes part in round t, in the order in which the server meets them."""
        return self.drawn[t]

    def gamma(self, t: int) -> float:
        """The local step size of round t."""
        return float(self.symbols["gamma"][t])

    def grad(self, i: int, w: ArrayLike) -> Array:
        """The gradient of client i's loss at w."""
        return self.losses.grad(np.broadcast_to(np.asarray(w, dtype=float), (self.clients, self.dim)))[i]

    def hess(self, i: int, w: ArrayLike, v: ArrayLike) -> Array:
        """The Hessian of client i's loss at w, times v."""
        assert self.losses.hess is not None
        shape = (self.clients, self.dim)
        return self.losses.hess(np.broadcast_to(w, shape), np.broadcast_to(v, shape))[i]

    def prox(self, i: int, w: ArrayLike, step: float) -> Array:
        """The minimiser of client i's loss + |. - w|^2/(2 step)."""
        assert self.losses.prox is not None
        return self.losses.prox(np.broadcast_to(np.asarray(w, dtype=float), (self.clients, self.dim)), step)[i]

    def log(self) -> RunLog:
        """Something to write the run down in."""
        return RunLog(clients=self.clients)

    def told(self) -> dict[str, object]:
        """What the task itself says about a run on it."""
        told: dict[str, object] = {"counts": self.counts, "steps": self.steps, "arrays": self.arrays, **self.symbols}
        sampled = np.zeros((self.rounds, self.clients))
        for t, clients in enumerate(self.drawn):
            np.add.at(sampled[t], list(clients), 1)
        first = [clients[0] for clients in self.drawn]
        return {**told, "epochs": self.epochs, "batches": self.batches, "sampled": sampled, "first": first}


def tasks() -> tuple[Task, ...]:
    """The problems that a training loop is tried on; the same ones every time."""
    rng = np.random.default_rng(20)
    A, b = _matrices(rng, 4, 0.3, 1.5), rng.normal(size=(4, DIM)) * 2
    everyone = Task(
        "quadratics",
        quadratic_losses(A, b),
        (10, 30, 20, 50),
        ((2, 0, 3, 1),) * ROUNDS,
        (2, 3, 1, 2),
        rng.normal(size=DIM) * 3,
    )
    drawn = ((3, 0, 4), (1, 3, 2), (4, 1, 0), (2, 0, 3))
    H, c = _matrices(rng, 5, 0.5, 1.6), rng.normal(size=(5, DIM)) * 2
    some = Task("huber", _huber(H, c), (40, 10, 20, 35, 15), drawn, (1, 2, 1, 2, 1), rng.normal(size=DIM) * 2, 3)
    data = rng.normal(size=(5, 12, DIM)) * 1.5
    labels = np.sign(np.einsum("cnd,d->cn", data, rng.normal(size=DIM)) + rng.normal(size=(5, 12)))
    again = ((1, 4), (0, 3), (4, 2), (3, 1))
    logistic = Task(
        "logistic", _logistic(data, labels), (12, 25, 18, 30, 45), again, (2, 1, 2, 3, 1), rng.normal(size=DIM)
    )
    return everyone, some, logistic


def _matrices(rng: np.random.Generator, C: int, low: float, high: float) -> Array:
    turns = np.linalg.qr(rng.normal(size=(C, DIM, DIM)))[0]
    return np.einsum("cij,cj,ckj->cik", turns, rng.uniform(low, high, size=(C, DIM)), turns)


def _huber(H: Array, c: Array) -> Losses:
    """The sum over coordinates of a Huber function of H_i (w - c_i): a parabola up to 1, then straight."""

    def grad(w: Array) -> Array:
        return np.einsum("cji,cj->ci", H, np.clip(np.einsum("cij,cj->ci", H, w - c), -1, 1))

    def hess(w: Array, v: Array) -> Array:
        bent = np.abs(np.einsum("cij,cj->ci", H, w - c)) < 1
        return np.einsum("cji,cj->ci", H, bent * np.einsum("cij,cj->ci", H, v))

    return Losses(grad, hess, _proximal(grad, hess))


def _logistic(data: Array, labels: Array) -> Losses:
    """The mean of log(1 + exp(-label <data, w>)) and |w|^2/20."""

    def grad(w: Array) -> Array:
        margins = labels * np.einsum("cnd,cd->cn", data, w)
        return np.einsum("cn,cnd->cd", -labels / (1 + np.exp(margins)), data) / data.shape[1] + w / 10

    def hess(w: Array, v: Array) -> Array:
        shares = 1 / (1 + np.exp(np.einsum("cnd,cd->cn", data, w)))
        bent = shares * (1 - shares) * np.einsum("cnd,cd->cn", data, v)
        return np.einsum("cn,cnd->cd", bent, data) / data.shape[1] + v / 10

    return Losses(grad, hess, _proximal(grad, hess))


def _proximal(grad: Callable[[Array], Array], hess: Callable[[Array, Array], Array]) -> Callable[[Array, float], Array]:
    """Proximal points by Newton's method; steps are halved while the residual does not fall."""

    def prox(w: Array, step: float) -> Array:
        eye = np.eye(w.shape[-1])
        z = np.array(w, dtype=float)
        for _ in range(NEWTON):
            slope = grad(z) + (z - w) / step
            if np.abs(slope).max() <= SETTLED * (1 + np.abs(w).max()):
                break
            columns = [hess(z, np.broadcast_to(e, z.shape)) + e / step for e in eye]
            move = np.linalg.solve(np.stack(columns, axis=-1), slope[..., None])[..., 0]
            length = np.ones((len(z), 1))
            for _ in range(30):
                there = z - length * move
                worse = np.linalg.norm(grad(there) + (there - w) / step, axis=-1) > np.linalg.norm(slope, axis=-1)
                if not worse.any():
                    break
                length = np.where(worse[:, None], length / 2, length)
            z = z - length * move
        return z

    return prox
