"""Sparse logistic regression on clients' data, and the synthetic (alpha, beta) data of Li et al.

Tian Li et al., Federated optimization in heterogeneous networks (MLSys 2020), section 5.1: client k has the model
W_k ~ N(u_k, 1), b_k ~ N(u_k, 1) with u_k ~ N(0, alpha), and features x ~ N(v_k, Sigma), Sigma_jj = j^-1.2, with
v_k ~ N(B_k, 1) and B_k ~ N(0, beta); a label is the likeliest class of softmax(W_k x + b_k). What a binary experiment
(section 4.1 of zhang) leaves open is a `Reading`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays.array_checks import Array, fail, matvec, namespace

Spread = Literal["variance", "deviation"]
Labels = Literal["sign", "argmax", "sampled"]
Scale = Literal["none", "unit", "largest", "client columns", "columns"]
Start = Literal["zero", "normal"]


CACHE = 1 << 23  # bytes of data


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
    """f_i(x) = 1/m sum_l ln(1 + exp(-b_il a_il'x)), and f their mean."""

    ba: Array  # (n, C, m, d)  b_il a_il, all that the losses depend on

    @property
    def C(self) -> int:
        return self.ba.shape[-3]

    @property
    def d(self) -> int:
        return self.ba.shape[-1]

    @property
    def together(self) -> int:
        """How many instances to run together: their data stay in the cache, from where every step reads them again."""
        return max(1, CACHE * self.ba.shape[0] // (8 * self.ba.size))

    def some(self, rows: slice) -> "Logistic":
        """The losses of some instances."""
        return Logistic(self.ba[rows, ...])

    @property
    def p(self) -> Array:
        xp = namespace(self.ba)
        return xp.full(self.ba.shape[:-2], 1 / self.C, dtype=xp.float64)

    def grad(self, x: Array) -> Array:
        """(.., n, C or 1, d) -> (.., n, C, d)."""
        xp = namespace(x)
        odds = xp.exp(matvec(xp, self.ba, x))
        odds += 1
        return matvec(xp, xp.matrix_transpose(self.ba), (-1 / self.ba.shape[-2]) / odds)

    def smoothness(self) -> Array:
        """f's constant L (n,): the largest eigenvalue of its Hessian at 0."""
        xp = namespace(self.ba)
        squares = xp.mean(xp.matmul(xp.matrix_transpose(self.ba), self.ba), axis=-3) / (4 * self.ba.shape[-2])
        return xp.linalg.eigvalsh(squares)[..., -1]


def draw(rng: np.random.Generator, n: int, m: int, d: int, alpha: float, beta: float, how: Reading) -> Logistic:
    """One data set of n clients with m samples each; batches of them are joined along the first axis."""
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
    return Logistic(how.factor * scaled(a, how.scale) * np.where(margin >= 0, 1.0, -1.0)[None, ..., None])


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
