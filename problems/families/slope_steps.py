"""Data points whose losses are bounded below and Lipschitz: along every direction of a basis the course of a slope.

The slope goes from one level to the next by a ramp, by a kink where kinks are allowed, or stays for a while. With more
than one variable a loss is sum_j phi_j(<u_j, w>) with orthonormal, rational u_j: Hessians are full, proximal points are
exact. The basis is one for all clients, or every client has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..arrays.array_checks import namespace
from ..arrays.genes import Gene
from ..losses.datapoints import DataPoints
from ..losses.pieces import Pieces, staircase
from .family import Array, ClientData, Family, Parts

STEPS = 2  # changes of slope of a loss
KNOTS = ("x", "jump", "bend")
AXES = ("C", "K", "d", "")


@dataclass(frozen=True, slots=True)
class StairsLoss(Family):
    name: str = "stairs"
    dimensions: int = 3
    assumption: str = "nonnegative_loss"

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        """K data points per client; with `kinks` the slope may jump up; `own`: every client has its basis."""
        C, K, d = (sizes[name] for name in ("C", "K", "d"))
        genes = [
            replace(gene, name="onset" if gene.name == "start" else gene.name, axes=AXES[: len(gene.shape)])
            for gene in stair_genes((C, K, d), STEPS, bool(sizes["kinks"]))
        ]
        genes += [Gene("chance", "positive", (C, K), ("C", "K"))] if K > 1 else []
        if d > 1:
            genes.append(Gene("tilt", "fraction", (C, K, d - 1), ("C", "K", "")))
            planes = d * (d - 1) // 2
            own = bool(sizes["own"])
            genes.append(Gene("turn", "real", (C if own else 1, planes), ("C" if own else "", "")))
        return genes

    def steepest(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Array:
        """The Lipschitz constant (n,) that all losses have."""
        return high * scale

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """Slopes within high scale, curvatures within high; lengths in units of scale."""
        share = directions(genes["tilt"]) if "tilt" in genes else None
        f = stairs({**genes, "start": genes["onset"]}, high * scale, high, share)
        q: Array = 1 + 0 * f.s[..., 0]
        if "chance" in genes:
            q = genes["chance"] / genes["chance"].sum(axis=-1, keepdims=True)
        first = f.x[..., 0].reshape(*q.shape[:2], -1)
        basis = {"U": rotation(genes["turn"], f.s.shape[-1])} if "turn" in genes else {}
        return {"x": f.x, "jump": f.jump, "bend": f.bend, "s": f.s, "q": q, "c": first, **basis}

    def problem(self, parts: Parts, p: Array) -> DataPoints:
        xp = namespace(p)
        x, jump, bend, s = (xp.moveaxis(parts[name], 3, 1) for name in (*KNOTS, "s"))
        return DataPoints(Pieces(x, jump, bend, 0 * s, s, 0 * s), parts["q"], p, parts.get("U"))

    def clients(self, parts: Parts) -> list[ClientData]:
        (C, K, d), U = parts["s"].shape, parts.get("U")
        clients: list[ClientData] = []
        for i in range(C):
            along = [[written(parts, (i, z, j)) for j in range(d)] for z in range(K)]
            client: ClientData = {
                "kind": "sample",
                "q": parts["q"][i],
                "points": along if d > 1 else [f for (f,) in along],
            }
            clients.append(client if U is None else {**client, "basis": U[min(i, len(U) - 1)]})
        return clients


def written(parts: Parts, place: tuple[int, ...]) -> ClientData:
    """One function in the kernel's format, without knots where nothing changes."""
    x, jump, bend = (parts[name][place] for name in KNOTS)
    kept = [k for k in range(len(x)) if jump[k] != 0 or bend[k] != 0]
    knots = {name: values[kept] for name, values in zip(KNOTS, (x, jump, bend), strict=True)}
    return {**knots, "a": 0, "s": parts["s"][place], "c": 0}


def stair_genes(lead: tuple[int, ...], J: int, kinks: bool) -> list[Gene]:
    """For losses (*lead): J changes of slope each. `first` and the last `level` are how steep the ends are."""
    genes = [Gene("start", "real", lead), Gene("first", "fraction", lead)]
    genes += [Gene("level", "fraction", (*lead, J)), *(Gene(k, "nonnegative", (*lead, J)) for k in ("stretch", "flat"))]
    return [*genes, Gene("kink", "fraction", (*lead, J))] if kinks else genes


def stairs(genome: Mapping[str, Array], G: Array, limit: Array, share: Array | None = None) -> Pieces:
    """Losses (n, *lead) that are G-Lipschitz and bounded below, with curvatures in [-limit, limit] and, if the genome
    has them, convex kinks; G and limit (n,). Lengths are in units of G/limit. Floats and rationals alike.

    With a share (n, *lead) they are (share G)-Lipschitz.
    """
    rank = genome["start"].ndim - 1
    steepest, limit = (x[(..., *(None,) * rank)] for x in (G, limit))
    unit = steepest / limit
    steepest = steepest if share is None else steepest * share
    level = genome["level"]
    tops = 2 * level - 1
    tops = steepest[..., None] * np.concatenate([tops[..., :-1], level[..., -1:]], axis=-1)
    first = -steepest * genome["first"]
    before = np.concatenate([first[..., None], tops[..., :-1]], axis=-1)
    jump = genome["kink"] * (steepest[..., None] - before) if "kink" in genome else 0 * before
    flat = genome["flat"] * unit[..., None]
    return staircase(unit * genome["start"], first, jump, tops - before - jump, limit, genome["stretch"], flat)


def directions(tilt: Array) -> Array:
    """Unit vectors (.., d) without negative entries from d - 1 tangents of half angles in [0, 1]; rational ones."""
    entries: list[Array] = []
    rest = 1 + 0 * tilt[..., 0]
    for t in np.moveaxis(tilt, -1, 0):
        entries.append(rest * (1 - t * t) / (1 + t * t))
        rest = rest * 2 * t / (1 + t * t)
    return np.stack([*entries, rest], axis=-1)


def rotation(turn: Array, d: int) -> Array:
    """Orthonormal bases (.., d, d) as rows, from the tangents of half angles by which every two axes are turned."""
    zero = 0 * turn[..., :1]
    rows = [zero + np.array([int(r == s) for s in range(d)]) for r in range(d)]
    for n, (r, s) in enumerate(combinations(range(d), 2)):
        t = turn[..., n, None]
        c, h = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        rows[r], rows[s] = c * rows[r] - h * rows[s], h * rows[r] + c * rows[s]
    return np.stack(rows, axis=-2)


LOSS = StairsLoss()
