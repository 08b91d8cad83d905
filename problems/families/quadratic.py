"""Quadratics with full Hessians in any dimension: A_i = H_i diag(a_i) H_i, H_i a reflection, which is rational."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..arrays.genes import Gene, along
from ..losses.quadratics import Quadratics
from .family import Array, ClientData, Family, Parts


@dataclass(frozen=True, slots=True)
class QuadraticLoss(Family):
    name: str = "quadratic"
    affine: bool = True
    dimensions: int = 1_000

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        genes = [along("curve", "fraction", sizes, "C", "d"), along("centre", "real", sizes, "C", "d")]
        return genes + ([along("turn", "real", sizes, "C", "d")] if sizes["d"] > 1 else [])

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        low, high = low[:, None, None], high[:, None, None]
        least: Array = np.where(low < 0, 0 * low, low)
        a: Array = least + (high - least) * genes["curve"]
        if p.shape[1] > 1:  # the first client may be concave as far as the others make up for it
            others: Array = (p[:, 1:] * a[:, 1:].min(axis=-1)).sum(axis=-1)
            share: Array = np.where(p[:, 0] > 0, p[:, 0], 1 + 0 * p[:, 0])
            enough = np.maximum(0 * others, 31 * others / (32 * share))  # all of it would leave f flat
            lowest: Array = np.where(low[:, 0, 0] < 0, np.maximum(low[:, 0, 0], -enough), low[:, 0, 0])[:, None]
            first: Array = lowest + (high[:, 0] - lowest) * genes["curve"][:, 0]
            a = np.concatenate([first[:, None], a[:, 1:]], axis=1)
        c = scale[:, None, None] * genes["centre"]
        A = _turned(a, genes.get("turn"))
        return {"A": A, "b": (A * c[:, :, None, :]).sum(axis=-1), "c": c}

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        A = parts["A"] + mu[:, None, None, None] * np.eye(parts["A"].shape[-1], dtype=int)
        return {**parts, "A": A, "b": parts["b"] + mu[:, None, None] * parts["c"]}

    def problem(self, parts: Parts, p: Array) -> Quadratics:
        return Quadratics(parts["A"], parts["b"], p)

    def clients(self, parts: Parts) -> list[ClientData]:
        return [{"kind": "quadratic", "A": A, "b": b} for A, b in zip(parts["A"], parts["b"], strict=True)]

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        A, b = (p[:, None, None] * parts["A"]).sum(axis=0), (p[:, None] * parts["b"]).sum(axis=0)
        return solved(A, b)


def _turned(a: Array, turn: Array | None) -> Array:
    """Symmetric matrices (n, C, d, d) with these eigenvalues."""
    d = a.shape[-1]
    # An identity of whole numbers: one of floats would make floats of rationals.
    diagonal = a[..., None] * np.eye(d, dtype=int)
    if turn is None:
        return diagonal
    square = (turn * turn).sum(axis=-1)[..., None, None]
    outer = turn[..., :, None] * turn[..., None, :]
    reflection: Array = np.eye(d, dtype=int) - np.where(
        square == 0, 0 * outer, 2 * outer / np.where(square == 0, 1, square)
    )
    turned: Array = reflection @ diagonal @ reflection
    return (turned + np.swapaxes(turned, -1, -2)) / 2  # of floats: symmetric to the last bit


def solved(A: Array, b: Array) -> Array | None:
    """The solution of A w = b in rationals by elimination; None if A is singular."""
    rows = [[Fraction(x) for x in (*row, y)] for row, y in zip(A, b, strict=True)]
    size = len(rows)
    for j in range(size):
        pivot = next((r for r in range(j, size) if rows[r][j] != 0), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [x / rows[j][j] for x in rows[j]]
        for r in range(size):
            if r != j and rows[r][j] != 0:
                rows[r] = [x - rows[r][j] * y for x, y in zip(rows[r], rows[j], strict=True)]
    return np.array([row[-1] for row in rows], dtype=object)


LOSS = QuadraticLoss()
