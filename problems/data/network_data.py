"""Federated networks from data (thesis, section 3.4.1): imbalanced partitions, and a principal component as message.

The partition is drawn as the thesis says: for each class the shares of the clients are Dirichlet with concentration
kappa, and the sizes of the clients are log-normal. Printed is ln N(floor(N/C), phi^2), whose median e^(N/C) exceeds any
dataset; here the median is N/C. Data are (samples, features) with integer labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..arrays.array_checks import Array, fail
from .similarity_graphs import adjacency, homogeneity, misalignment, spectrum


def digits() -> tuple[Array, Array]:
    """The handwritten digits that scikit-learn ships: 1797 images of 8 x 8 pixels, and their labels."""
    try:
        from sklearn import datasets  # pyright: ignore
    except ImportError as error:
        raise fail("no scikit-learn", "the extra `data`", "pip install 'fedaudit[data]'") from error
    images = cast("Any", datasets).load_digits()
    return np.asarray(images.data, dtype=np.float64), np.asarray(images.target)


def partition(
    labels: Array, C: int, class_imbalance: float, data_imbalance: float, rng: np.random.Generator
) -> list[Array]:
    """Sample indices of C clients: disjoint, all samples, none empty. `class_imbalance` is 1/kappa, the other phi^2."""
    if not 1 <= C <= len(labels) or class_imbalance < 0 or data_imbalance < 0:
        got = f"C = {C} for {len(labels)} samples, imbalances {class_imbalance}, {data_imbalance}"
        raise fail(got, "1 <= C <= samples and imbalances >= 0", "use fewer clients")
    sizes = rng.lognormal(0.0, np.sqrt(data_imbalance), C)
    parts: list[list[int]] = [[] for _ in range(C)]
    for label in np.unique(labels):
        mine = rng.permutation(np.flatnonzero(labels == label))
        share = sizes * (rng.dirichlet(np.full(C, 1 / class_imbalance)) if class_imbalance else np.ones(C))
        # Rounded down after a uniform shift, so that on average every client gets its exact share.
        ends = np.floor(np.cumsum(share) / share.sum() * len(mine) + rng.random()).astype(int)
        for part, chunk in zip(parts, np.split(mine, np.clip(ends[:-1], 0, len(mine))), strict=True):
            part.extend(chunk.tolist())
    for part in parts:
        if not part:  # what is left over goes where something is missing
            part.append(max(parts, key=len).pop())
    return [np.array(sorted(part)) for part in parts]


def messages(X: Array, parts: Sequence[Array]) -> Array:
    """The first principal component of each client's data, uncentred and unscaled, (C, features).

    A component has no sign: it is the one along which the client's data have a non-negative mean.
    """
    grams = np.stack([X[part].T @ X[part] for part in parts])
    first = np.linalg.eigh(grams)[1][..., -1]
    means = np.stack([X[part].mean(axis=0) for part in parts])
    return first * np.where((first * means).sum(axis=-1) < 0, -1.0, 1.0)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Networks at one level of imbalance, one for each seed."""

    class_imbalance: float
    data_imbalance: float
    misalignments: Array  # (seeds, C (C - 1) / 2)
    eigenvalues: Array  # (seeds, C - 1)
    homogeneity: Array  # (seeds,)


def observe(
    X: Array,
    labels: Array,
    C: int = 100,
    class_imbalances: Sequence[float] = (0.0, 1.0, 10.0, 100.0),
    data_imbalances: Sequence[float] = (0.0, 1.0),
    seeds: Sequence[int] = (0, 1, 41),
) -> list[Observed]:
    """The grid of table 3.1 on one dataset: what figures 3.3 to 3.5 show."""
    upper = np.triu_indices(C, 1)
    levels: list[Observed] = []
    for data in data_imbalances:
        for classes in class_imbalances:
            drawn = [partition(labels, C, classes, data, np.random.default_rng(seed)) for seed in seeds]
            mis = misalignment(np.stack([messages(X, parts) for parts in drawn]))
            A = adjacency(mis)
            levels.append(Observed(classes, data, mis[:, *upper], spectrum(A), homogeneity(A)))
    return levels
