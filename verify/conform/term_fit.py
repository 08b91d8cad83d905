"""What least squares makes of a rule that no known deviation explains: a coefficient for each of its terms, or a weight
for each client in its mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .evaluation import Unknown, vector
from .recording import Array, Recording
from .replay import Data, Difference
from .replay import places as places_of
from .rule_trees import MEANS, Tree, children, is_negative, is_sum, nodes, op_of, said, swapped

__all__ = ["Fit", "fitted"]


@dataclass(frozen=True, slots=True)
class Fit:
    """Numbers that make the rule agree: of its terms, or of the clients in its mean; `residual` is what is left."""

    what: str  # "terms" or "weights"
    values: tuple[tuple[str, float], ...]
    residual: float  # relative to the vector's size
    exact: bool

    def row(self) -> dict[str, object]:
        return {"what": self.what, "values": dict(self.values), "residual": self.residual, "exact": self.exact}

    def lines(self) -> Iterator[str]:
        how = "exactly" if self.exact else f"up to {self.residual:.2g} of its size"
        each = "each term times" if self.what == "terms" else "the mean with the weights"
        yield f"the rule agrees {how} with {each}: " + ", ".join(f"{name}: {value:.6g}" for name, value in self.values)


def fitted(data: Data, run: Recording, at: Difference) -> Fit | None:
    """The best fit of the rule that differs first; None where it has no terms, or they cannot be computed."""
    if at.vector not in data.get(at.phase, {}):  # no rule: a first value, an idle client, the number of steps
        return None
    tree = data[at.phase][at.vector]
    fits = [fit for fit in (_terms(data, run, at, tree), _weights(data, run, at, tree)) if fit is not None]
    return min(fits, key=lambda fit: fit.residual, default=None)


def _terms(data: Data, run: Recording, at: Difference, tree: Tree) -> Fit | None:
    parts = list(_expanded(tree))
    columns: list[Array] = []
    targets: list[Array] = []
    try:
        for place, recorded, rows in places_of(data, run, (at.phase, at.vector)):
            values = [np.broadcast_to(vector(part, place), recorded.shape)[rows] for part in parts]
            finite = np.isfinite(recorded[rows])
            columns.append(np.stack([value[finite] for value in values], axis=-1))
            targets.append(recorded[rows][finite])
    except Unknown:
        return None
    return _solved("terms", [said(part) for part in parts], columns, targets, run, at)


def _expanded(tree: Tree) -> Iterator[Tree]:
    """The terms of a rule, those of a sum within a product each on its own."""
    if is_sum(tree):
        yield from (part for child in children(tree)[1:] for part in _expanded(child))
    elif op_of(tree) == "*":
        for part in _expanded(tree[2]):
            if not is_negative(part):
                yield ["*", tree[1], part]
            else:  # the sign goes in front, so that none stands within
                yield part[2] if tree[1] == "-1" else ["*", "-1", ["*", tree[1], part[2]]]
    else:
        yield tree


def _weights(data: Data, run: Recording, at: Difference, tree: Tree) -> Fit | None:
    mean = next((node for _, node in nodes(tree) if op_of(node) in MEANS), None)
    if mean is None or at.phase != "update":
        return None
    columns: list[Array] = []
    targets: list[Array] = []
    try:
        for place, recorded, _ in places_of(data, run, (at.phase, at.vector)):
            if (place.drawn != run.drawn[at.t]).any():
                continue  # weights are those of one sample
            rest = vector(swapped(tree, mean, ["zero"]), place)
            # A rule is affine in its mean: one client in its place, less the rest, is the column of that weight.
            each = [vector(swapped(tree, mean, ["client", str(i), mean[-1]]), place) - rest for i in range(run.clients)]
            columns.append(np.stack(each, axis=-1))
            targets.append(recorded - rest)
    except Unknown:
        return None
    taking = run.drawn[at.t] > 0
    columns = [column[:, taking] for column in columns]
    names = [f"client {i}" for i in np.flatnonzero(taking)]
    return _solved("weights", names, columns, targets, run, at)


def _solved(
    what: str, names: list[str], columns: list[Array], targets: list[Array], run: Recording, at: Difference
) -> Fit | None:
    if not targets:
        return None
    matrix, target = np.concatenate(columns), np.concatenate(targets)
    if not np.isfinite(matrix).all() or len(target) < len(names) or np.linalg.matrix_rank(matrix) < len(names):
        return None
    values = np.linalg.lstsq(matrix, target, rcond=None)[0]
    left = float(np.abs(matrix @ values - target).max() / at.scale)
    return Fit(what, tuple(zip(names, map(float, values), strict=True)), left, left <= 100 * run.tolerance)
