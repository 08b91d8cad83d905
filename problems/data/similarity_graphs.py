"""Federated networks as similarity graphs (thesis, chapter 3): messages, misalignment, adjacency, Laplacian, spectrum.

Weights are symmetric: mis(i, j) = mis(j, i) is one number for a pair of clients, so a network of C clients has
C (C - 1) / 2 of them. Leading axes are batch axes.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import special as _untyped  # pyright: ignore[reportMissingTypeStubs]

from ..arrays.array_checks import Array, fail, namespace

_special = cast("Any", _untyped)


def misalignment(messages: Array) -> Array:
    """(..., C, D) unit messages -> mis(i, j) = (1 - m_i'm_j) / 2, (..., C, C); definition 3.2."""
    xp = namespace(messages)
    return (1.0 - xp.matmul(messages, xp.matrix_transpose(messages))) / 2.0


def adjacency(mis: Array) -> Array:
    """-ln mis(i, j) off the diagonal, 0 on it; definition 3.4."""
    xp = namespace(mis)
    eye = xp.eye(mis.shape[-1], dtype=mis.dtype)
    return -xp.log(mis * (1.0 - eye) + eye)


def from_pairs(weights: Array, C: int) -> Array:
    """(..., C (C - 1) / 2) weights of the pairs (0, 1), (0, 2), ... -> symmetric adjacency (..., C, C)."""
    if weights.shape[-1] != C * (C - 1) // 2:
        raise fail(f"{weights.shape[-1]} weights for {C} clients", "one for a pair", "give C (C - 1) / 2 of them")
    xp = namespace(weights)
    place = np.zeros((C, C), dtype=np.int64)
    upper = np.triu_indices(C, 1)
    place[upper] = np.arange(1, weights.shape[-1] + 1)
    padded = xp.concat([xp.zeros_like(weights[..., :1]), weights], axis=-1)
    index = xp.asarray((place + place.T).ravel())
    return xp.reshape(xp.take(padded, index, axis=-1), (*weights.shape[:-1], C, C))


def laplacian(A: Array) -> Array:
    """D - A with the degrees D = diag(A 1)."""
    xp = namespace(A)
    return xp.sum(A, axis=-1)[..., None] * xp.eye(A.shape[-1], dtype=A.dtype) - A


def homogeneity(A: Array) -> Array:
    """1 / (2 C (C - 1)) sum_i sum_{j != i} a_ij; definition 3.3."""
    C = A.shape[-1]
    return namespace(A).sum(A, axis=(-2, -1)) / (2 * C * (C - 1))


def quadratic_form(A: Array, v: Array) -> Array:
    """(..., C) vectors -> v'Lv, (...,)."""
    xp = namespace(A, v)
    return xp.sum(v * xp.matmul(laplacian(A), v[..., None])[..., 0], axis=-1)


def variability(A: Array, v: Array) -> Array:
    """Half the sum over ordered pairs of a_ij (v_i - v_j)^2; definition 3.1."""
    return namespace(A, v).sum(A * (v[..., :, None] - v[..., None, :]) ** 2, axis=(-2, -1)) / 2


def spectrum(A: Array) -> Array:
    """lambda_2 <= ... <= lambda_C, (..., C - 1): the Laplacian's eigenvalues orthogonal to the constant vector.

    For weights of one sign these are all but the eigenvalue 0 of the constant vector; a Gaussian weight may be
    negative, and then 0 need not be the smallest.
    """
    xp = namespace(A)
    H = xp.asarray(helmert(A.shape[-1]))
    return xp.linalg.eigvalsh(xp.matmul(xp.matmul(xp.matrix_transpose(H), laplacian(A)), H))


def helmert(C: int) -> Array:
    """An orthonormal basis (C, C - 1) of the complement of the constant vector."""
    H = np.zeros((C, C - 1))
    for k in range(1, C):
        H[:k, k - 1], H[k, k - 1] = 1.0, -float(k)
        H[:, k - 1] /= math.sqrt(k * (k + 1))
    return H


@dataclass(frozen=True, slots=True, eq=False)
class Alteration:
    """A (theta, phi)-heterogeneous network and its (theta (1 - epsilon), phi sqrt(1 + delta))-heterogeneous alteration.

    Closed forms (n,) of what propositions 3.2 to 3.4 speak of. `covariance` is that of the two weights on one pair, 0
    for networks drawn independently.
    """

    C: int
    theta: Array
    phi: Array
    epsilon: Array
    delta: Array
    covariance: Array

    @property
    def step(self) -> tuple[Array, Array]:
        """Mean and variance of w~_ij - w_ij."""
        return -self.epsilon * self.theta, (2 + self.delta) * self.phi**2 - 2 * self.covariance

    @property
    def homogeneity(self) -> tuple[Array, Array]:
        """Mean and variance of hom(C): the average over C (C - 1) / 2 independent pairs, halved."""
        return self.theta / 2, self.phi**2 / (2 * self.C * (self.C - 1))

    @property
    def homogeneity_step(self) -> tuple[Array, Array]:
        """Mean and variance of hom(C~) - hom(C): the average over C (C - 1) / 2 independent pairs, halved."""
        mean, variance = self.step
        return mean / 2, variance / (2 * self.C * (self.C - 1))

    def less_homogeneous(self) -> Array:
        """P(hom(C~) < hom(C))."""
        mean, variance = self.homogeneity_step
        with np.errstate(divide="ignore", invalid="ignore"):  # coupled networks may differ by a constant
            below = normal_cdf(-mean / np.sqrt(variance))
        return namespace(mean).where(variance > 0, below, 1.0 * (mean < 0))

    def squared(self) -> tuple[Array, Array]:
        """Bounds on the mean squared deviation of the spectra, equal for C = 2 (and, independent networks, C = 3).

        Below: Jensen over the C - 1 eigenvalues, and for what deviates from their average the triangle inequality in
        L^2, whose norms are phi^2 and phi^2 (1 + delta) times 2C (C - 2) / (C - 1). Above: Hoffman-Wielandt, E tr (L~ -
        L)^2 / (C - 1).
        """
        C, (mean, variance) = self.C, self.step
        if C == 3 and not np.any(self.covariance):
            # Eigenvalues tr/2 -+ R, where R is sqrt(3/2) times the length of a Gaussian vector in the plane:
            # E R = phi sqrt(3 pi)/2, the R of both networks are independent, and `cross` is the product of their means.
            cross = 3 * math.pi / 4 * np.sqrt(1 + self.delta) * self.phi**2
            exact = 9 * mean**2 + 6 * variance - 2 * cross
            return exact, exact
        spread = 2 * C * (C - 2) / (C - 1) * self.phi**2 * (np.sqrt(1 + self.delta) - 1) ** 2
        return C**2 * mean**2 + 2 * C / (C - 1) * variance + spread, C**2 * mean**2 + 2 * C * variance

    def absolute(self) -> tuple[Array, Array]:
        """Bounds on the mean absolute deviation of the spectra, equal for C = 2: E|average| and sqrt(E square)."""
        C, (mean, variance) = self.C, self.step
        low = folded(C * mean, 2 * C / (C - 1) * variance)
        return (low, low) if C == 2 else (low, np.sqrt(self.squared()[1]))

    def draw(self, runs: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Sampled adjacency matrices (n, runs, C, C) of the network and of the altered one (independent networks)."""
        shape = (len(self.theta), runs, self.C * (self.C - 1) // 2)

        def network(mean: Array, spread: Array) -> Array:
            mis = rng.lognormal(-mean[:, None, None], spread[:, None, None], shape)
            return from_pairs(-np.log(mis), self.C)

        return network(self.theta, self.phi), network(
            self.theta * (1 - self.epsilon), self.phi * np.sqrt(1 + self.delta)
        )


def normal_cdf(x: Array) -> Array:
    """P(N(0, 1) < x), accurate in both tails."""
    return _special.ndtr(x.astype(np.float64))


def folded(mean: Array, variance: Array) -> Array:
    """E|N(mean, variance)|."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(variance)
        z = (mean / spread).astype(np.float64)
        size: Array = spread * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + mean * _special.erf(z / math.sqrt(2))
    return namespace(size).where(variance > 0, size, np.abs(mean))
