"""Constants of least squares and logistic regression from the clients' arrays, and what a run's models measure.

f_i(w) = |X_i w - y_i|^2/(2 n_i) + l2 |w|^2/2, or the mean of log(1 + exp(-y <x, w>)) + l2 |w|^2/2 with labels +-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fedaudit.errors import UserError

from .trajectory import Array

__all__ = ["ClientData", "Estimate", "stronger"]

Loss = Literal["least squares", "logistic"]
NEWTON, SETTLED = 200, 1e-13


@dataclass(frozen=True, slots=True)
class Estimate:
    """A constant, how it was found, and whether it is the constant itself or only a limit of it."""

    value: float
    how: str
    kind: Literal["exact", "at least", "at most"] = "exact"
    sure: float | None = None  # what a given constant may not be beyond, where `value` has noise itself

    @property
    def limit(self) -> float:
        """What counts against a constant that was given."""
        return self.value if self.sure is None else self.sure


def stronger(one: Estimate | None, other: Estimate) -> Estimate:
    """Of two estimates of a constant the one that says more: what is exact or a safe limit, else the further limit."""
    if one is None or one.kind != other.kind:
        return other if one is None else one
    return one if (one.value >= other.value) == (one.kind == "at least") else other


@dataclass(frozen=True, slots=True, eq=False)
class ClientData:
    """The clients' data: `features[i]` is (n_i, d), `labels[i]` is (n_i,). Weights are n_i / n unless they are given.

    >>> import fedaudit as fa
    >>> data = fa.ClientData(features=[[[1.0], [1.0]], [[2.0], [2.0]]], labels=[[0.0, 0.0], [4.0, 4.0]])
    >>> data.w_star.round(6).tolist(), data.constants()["L"].value, data.constants()["mu"].value
    ([1.6], 4.0, 1.0)
    """

    features: Sequence[Any]
    labels: Sequence[Any]
    loss: Loss = "least squares"
    l2: float = 0.0
    weights: ArrayLike | None = None
    batch: int | None = None  # data points of a stochastic gradient; None: full gradients

    def __post_init__(self) -> None:
        if self.loss not in ("least squares", "logistic"):
            raise UserError(f"loss={self.loss!r}", "'least squares' or 'logistic'", "give one of them")
        X = [np.asarray(x, dtype=float) for x in self.features]
        y = [np.asarray(v, dtype=float) for v in self.labels]
        if not X or len(X) != len(y) or any(x.ndim != 2 or len(x) != len(v) for x, v in zip(X, y, strict=False)):
            raise UserError(
                f"features of {[x.shape for x in X]} and labels of {[v.shape for v in y]}",
                "(n_i, d) and (n_i,) for every client", "make them agree",
            )  # fmt: skip
        if self.loss == "logistic":
            if any(not np.isin(v, (-1, 0, 1)).all() for v in y):
                raise UserError("labels of logistic regression", "-1 and 1, or 0 and 1", "recode them")
            y = [np.where(v > 0, 1.0, -1.0) for v in y]
        object.__setattr__(self, "features", X)
        object.__setattr__(self, "labels", y)

    @property
    def p(self) -> Array:
        raw = [len(x) for x in self.features] if self.weights is None else self.weights
        p = np.asarray(raw, dtype=float)
        return p / p.sum()

    @property
    def w_star(self) -> Array:
        """The minimiser of f."""
        return self._minimiser(self.p)

    def value(self, w: ArrayLike) -> Array:
        """f at w (d,), or at each row of (rounds, d)."""
        rows = np.atleast_2d(np.asarray(w, dtype=float))
        each = np.array([sum(p * self._value(i, row) for i, p in enumerate(self.p)) for row in rows])
        return each if np.ndim(w) > 1 else each[0]

    def grad(self, i: int, w: ArrayLike) -> Array:
        """The gradient of f_i at w."""
        return self._rows(i, np.asarray(w, dtype=float)).mean(axis=0) + self.l2 * np.asarray(w, dtype=float)

    def gap(self, x: ArrayLike) -> Array:
        """f(x_t) - f*, for a trajectory of models (rounds, d), or several (seeds, rounds, d)."""
        models, least = np.asarray(x, dtype=float), self.value(self.w_star)
        return np.maximum(0.0, self.value(models.reshape(-1, models.shape[-1])) - least).reshape(models.shape[:-1])

    def dist2(self, x: ArrayLike) -> Array:
        """|x_t - x*|^2."""
        return ((np.asarray(x, dtype=float) - self.w_star) ** 2).sum(axis=-1)

    def constants(self, x: ArrayLike | None = None) -> dict[str, Estimate]:
        """L, mu and Gamma; with the models `x` of a run also G and sigma, which are limits from below."""
        curvature = 1.0 if self.loss == "least squares" else 0.25
        eigen = [np.linalg.eigvalsh(X.T @ X / len(X)) for X in self.features]
        top, low = curvature * max(e[-1] for e in eigen) + self.l2, min(e[0] for e in eigen) + self.l2
        where = "largest eigenvalue of a client's X'X/n"
        estimates: dict[str, Estimate] = {}
        if self.loss == "least squares":
            estimates["L"] = Estimate(float(top), where)
            estimates["mu"] = Estimate(max(0.0, float(low)), "smallest eigenvalue of a client's X'X/n")
        else:
            estimates["L"] = Estimate(float(top), f"a quarter of the {where}, and l2: no point is steeper", "at most")
            estimates["mu"] = Estimate(self.l2, "l2: no point is flatter", "at least")
        own = [self._minimiser(np.eye(len(self.features))[i]) for i in range(len(self.features))]
        gamma = self.value(self.w_star) - sum(p * self._value(i, own[i]) for i, p in enumerate(self.p))
        estimates["Gamma"] = Estimate(max(0.0, float(gamma)), "f* - sum p_i f_i*, from the minimisers")
        if x is not None:
            rows = np.asarray(x, dtype=float).reshape(-1, self.features[0].shape[1])
            slopes, noises = zip(*(self._slopes(i, w) for w in rows for i in range(len(self.features))), strict=True)
            size = "a full gradient" if self.batch is None else f"a batch of {self.batch}"
            estimates["G"] = Estimate(
                float(max(slopes)), "root of the largest mean square of a gradient, at the server's models", "at least"
            )
            estimates["sigma"] = Estimate(
                float(max(noises)), f"largest deviation of {size}, at the server's models", "at least"
            )
        return estimates

    def _slopes(self, i: int, w: Array) -> tuple[float, float]:
        rows = self._rows(i, w) + self.l2 * w
        mean = rows.mean(axis=0)
        noise = 0.0 if self.batch is None else ((rows - mean) ** 2).sum(axis=1).mean() / self.batch
        return float(np.sqrt(mean @ mean + noise)), float(np.sqrt(noise))

    def _rows(self, i: int, w: Array) -> Array:
        """The gradient of each data point's loss, without the penalty."""
        X, y = self.features[i], self.labels[i]
        if self.loss == "least squares":
            return (X @ w - y)[:, None] * X
        # The exponential of 710 is beyond floats.
        return (-y / (1 + np.exp(np.clip(y * (X @ w), -700, 700))))[:, None] * X

    def _value(self, i: int, w: Array) -> float:
        X, y = self.features[i], self.labels[i]
        part = ((X @ w - y) ** 2).mean() / 2 if self.loss == "least squares" else np.logaddexp(0, -y * (X @ w)).mean()
        return float(part + self.l2 / 2 * (w @ w))

    def _minimiser(self, p: Array) -> Array:
        """The minimiser of sum p_i f_i: from its normal equations, or by Newton's method with halved steps."""
        d = self.features[0].shape[1]
        shares = [q / len(X) for q, X in zip(p, self.features, strict=True)]
        if self.loss == "least squares":
            bend = sum((q * X.T @ X for q, X in zip(shares, self.features, strict=True)), self.l2 * np.eye(d))
            b = sum((q * X.T @ y for q, X, y in zip(shares, self.features, self.labels, strict=True)), np.zeros(d))
            return np.linalg.lstsq(bend, b, rcond=None)[0]
        w = np.zeros(d)

        def level(w: Array) -> float:
            return sum(q * self._value(i, w) for i, q in enumerate(p) if q)

        for _ in range(NEWTON):
            slope = sum((q * self.grad(i, w) for i, q in enumerate(p) if q), np.zeros(d))
            if np.abs(slope).max() < SETTLED:
                break
            bend = self.l2 * np.eye(d)
            for q, X, y in zip(shares, self.features, self.labels, strict=True):
                s = 1 / (1 + np.exp(np.clip(y * (X @ w), -700, 700)))
                bend = bend + q * (X.T * (s * (1 - s))) @ X
            # Least squares, because without a penalty the matrix may be singular.
            move = np.linalg.lstsq(bend, slope, rcond=None)[0]
            step = 1.0
            while step > 1e-10 and level(w - step * move) > level(w):
                step /= 2
            w = w - step * move
        return w
