"""Sparse logistic regression on clients' data, and the synthetic (alpha, beta) data of Li et al.

Tian Li et al., Federated optimization in heterogeneous networks (MLSys 2020), section 5.1: client k has the model
W_k ~ N(u_k, 1), b_k ~ N(u_k, 1) with u_k ~ N(0, alpha), and features x ~ N(v_k, Sigma), Sigma_jj = j^-1.2, with
v_k ~ N(B_k, 1) and B_k ~ N(0, beta); a label is the likeliest class of softmax(W_k x + b_k). What a binary experiment
(section 4.1 of zhang) leaves open is a `Reading`. Axes: features (..., n, m, d), labels (..., n, m), models
(..., n, d).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .arrays import Array, fail, namespace
from .proximal import Prox

Spread = Literal["variance", "deviation"]
Labels = Literal["sign", "argmax", "sampled"]
Scale = Literal["none", "unit", "largest", "client columns", "columns"]
Start = Literal["zero", "normal"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the experiment's text is read."""

    scale: Scale = "largest"  # features as generated, of norm 1, divided by the largest norm, or columns of norm 1
    spread: Spread = "variance"  # what alpha and beta are in N(0, alpha) and N(0, beta); Li et al.'s code: deviations
    labels: Labels = (
        "argmax"  # the likelier of two classes, as Li et al.; the sign of one linear model; sampled from it
    )
    start: Start = "zero"  # the first model: 0 or N(0, I)
    factor: float = 0.5  # on the scaled features


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """f_i(x) = 1/m sum_l ln(1 + exp(-b_il a_il'x)) and f their mean."""

    ba: Array  # (..., n, m, d)  b_il a_il, all that the loss depends on

    @property
    def n(self) -> int:
        return self.ba.shape[-3]

    @property
    def d(self) -> int:
        return self.ba.shape[-1]

    def grad(self, x: Array) -> Array:
        """Gradients of all clients: (..., n, d) -> (..., n, d)."""
        return _grad(self.ba, x)

    def minibatch(self, rows: Array, x: Array) -> Array:
        """The same on the samples `rows` (..., n, b) of each client."""
        return _grad(namespace(x).take_along_axis(self.ba, rows[..., None], axis=-2), x)

    def slopes(self, x: Array) -> Array:
        """The gradient of f at k points of the server: (..., k, d) -> (..., k, d)."""
        xp = namespace(x)
        pooled = xp.reshape(self.ba, (*self.ba.shape[:-3], self.n * self.ba.shape[-2], self.d))
        weight = _weight(xp, xp.matmul(x, xp.matrix_transpose(pooled)))
        return xp.matmul(weight, pooled) / pooled.shape[-2]

    def curvature(self) -> tuple[Array, Array]:
        """The smallest and the largest eigenvalue of f's Hessian at 0, (...); the largest is f's constant L."""
        xp = namespace(self.ba)
        pooled = xp.reshape(self.ba, (*self.ba.shape[:-3], self.n * self.ba.shape[-2], self.d))
        values = xp.linalg.eigvalsh(xp.matmul(xp.matrix_transpose(pooled), pooled) / (4 * pooled.shape[-2]))
        return values[..., 0], values[..., -1]


def prox_gradient(problem: Logistic, prox: Prox, x: Array, step: Array) -> Array:
    """|G(x)|, G(x) = (x - P_s(x - s grad f(x))) / s with s = step: (..., k, d) -> (..., k)."""
    xp = namespace(x)
    s = xp.asarray(step)[..., None]
    moved = prox(x - s[..., None] * problem.slopes(x), s)
    return xp.sqrt(xp.sum((x - moved) ** 2, axis=-1)) / s


def _weight(xp: Array, margin: Array) -> Array:
    """-1 / (1 + exp(margin)), without overflow."""
    return -0.5 * (1 - xp.tanh(margin / 2))


def _grad(ba: Array, x: Array) -> Array:
    xp = namespace(x)
    weight = _weight(xp, xp.matmul(ba, x[..., None])[..., 0])
    return xp.matmul(weight[..., None, :], ba)[..., 0, :] / ba.shape[-2]


def draw(rng: np.random.Generator, n: int, m: int, d: int, alpha: float, beta: float, how: Reading) -> Logistic:
    """One data set of n clients with m samples each."""
    scale = {"variance": np.sqrt, "deviation": float}[how.spread]
    u, B = rng.normal(0, scale(alpha), n), rng.normal(0, scale(beta), n)
    v = rng.normal(B[:, None], 1, (n, d))
    classes = 2 if how.labels == "argmax" else 1
    W, b = rng.normal(u[:, None, None], 1, (n, d, classes)), rng.normal(u[:, None, None], 1, (n, 1, classes))
    a = v[:, None, :] + np.sqrt(np.arange(1.0, d + 1) ** -1.2) * rng.standard_normal((n, m, d))
    score = a @ W + b
    margin = score[..., 0] - (score[..., 1] if classes == 2 else 0)
    if how.labels == "sampled":
        margin = 0.5 * (1 + np.tanh(margin / 2)) - rng.uniform(size=margin.shape)
    return Logistic(how.factor * scaled(a, how.scale) * np.where(margin >= 0, 1.0, -1.0)[..., None])


def scaled(a: Array, how: Scale) -> Array:
    """Features (n, m, d) as they are used."""
    match how:
        case "none":
            return a
        case "unit":
            return a / np.linalg.norm(a, axis=-1, keepdims=True)
        case "largest":
            return a / np.linalg.norm(a, axis=-1).max()
        case "client columns":
            return a / np.linalg.norm(a, axis=-2, keepdims=True)
        case "columns":
            return a / np.sqrt((a**2).sum(axis=(0, 1)))
    raise fail(f"the scaling {how!r}", "none, unit, largest, client columns or columns", "use one of them")
