"""From genes to the numbers of an instance: losses, weights, start, noise, graph. Floats and rationals alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from fedaudit.problems.arrays.genes import Gene
from fedaudit.problems.families.regularisers import FAMILIES

from ...search.tree_arrays import Array
from ..base import Genes, Reading, Shape
from . import requirements
from .run_shapes import family_of, noise_of

DEEP = 10  # how far below -L a curvature may go where smoothness is said from above only


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The numbers of a batch of instances. `slope`: how steep a loss is at the farthest of its points."""

    p: Array  # (n, C) weights
    w0: Array  # (n, d)
    high: Array  # (n,) the largest curvature
    loss: Mapping[str, Array]  # what the family of losses is made of
    regulariser: Mapping[str, Array]
    slope: Array  # (n,)
    points: Mapping[str, Array]  # (n, d) each: where the method starts from besides w0
    v: Array  # (n, C, d) the noise of gradients
    h: Array | None  # (n, C, d) the noise of Hessians
    rows: Array | None  # (n, R, C) weights by round
    graph: Array | None  # (n, C, C) weights of neighbours


def curvatures(reading: Reading, genome: Genes) -> tuple[Array, Array]:
    """The least and the largest curvature (n,) that a loss may have."""
    if "ratio" in genome:
        return genome["curvature"], genome["curvature"] * (1 + genome["ratio"])
    high = genome["curvature"]
    bends = requirements.bends(reading)
    depth = DEEP if (None, 1) in bends and (-1, None) not in bends else 1
    return (-depth * high * genome["dip"] if "dip" in genome else 0 * high), high


def placed(shape: Shape, genome: Genes) -> Mapping[str, Array]:
    """The genome with its start at 0, if the shape puts the start between two clients."""
    between = dict(shape.flags).get("start") == "between"
    return {**genome, "start": 0 * genome["start"]} if between and "start" in genome else genome


def parts_of(reading: Reading, shape: Shape, genome: Genes, known: Mapping[str, Array]) -> Parts:
    """Genes -> losses, weights, start, noise, graph. Plain arithmetic: floats and rationals alike."""
    C, d = shape["C"], shape["d"]
    if dict(shape.flags).get("clients") == "alike":
        genome = _copied(reading, shape, genome)
    if dict(shape.flags).get("draws") == "shared" and "chance" in genome:
        genome = {**genome, "chance": genome["chance"][:, :1] + 0 * genome["chance"]}
    low, high = curvatures(reading, genome)
    genome = placed(shape, genome)
    links = _links(reading, C, genome, high)
    p = _weights(reading, C, genome, links, high)
    scale = genome["scale"][:, None]
    w0 = scale * genome["start"]
    if (begins := family_of(shape).start(genome, genome["scale"])) is not None:
        w0 = begins
    start = dict(shape.flags).get("start")
    genome = _laid_out(genome, start, C)
    loss = _losses(reading, shape, genome, p, low, high)
    far = reduce(np.maximum, [abs(w0).max(axis=1), *family_of(shape).lengths(loss)])
    if start:
        w0 = loss["c"][:, -1] if start == "client" else 0 * w0
    downhill = family_of(shape).downhill(loss)
    if downhill is not None and (step := requirements.stride(reading)):  # to arrive with the last local step
        w0 = w0 + ((shape["E"] - 1) * known[step])[:, None] * downhill
    noise = noise_of(shape)
    level = noise.level(genome, C) if "noise" in genome else 0 * p
    if requirements.argument(reading, "minibatch_variance"):
        level = level * (high * genome["scale"])[:, None]
    return Parts(
        p=p,
        w0=w0,
        high=high,
        loss=loss,
        regulariser=regulariser_of(shape, genome, high),
        slope=high * far,
        points={name: scale * genome[f"point_{name}"] for name in requirements.points(reading)},
        v=noise.vectors(level, C, d),
        h=noise.bends(genome, high, d) if "rough" in genome else None,
        rows=_rows_of_weights(reading, shape, genome, p),
        graph=_graph(reading, C, p, links),
    )


def _links(reading: Reading, C: int, genome: Genes, high: Array) -> Array | None:
    """How similar each two clients are (n, C, C), where the method means over neighbours."""
    apart = 1 - np.eye(C, dtype=int)
    if "link" in genome:
        return (genome["link"] + np.swapaxes(genome["link"], 1, 2)) * apart
    if requirements.uses(reading, "neighbours") and requirements.has(reading, "equal_weights"):
        return (1 + 0 * high)[:, None, None] * apart  # then all similarities are equal
    return None


def _weights(reading: Reading, C: int, genome: Genes, links: Array | None, high: Array) -> Array:
    """How much each client counts (n, C): by its links, equally, or by its gene."""
    if links is not None and requirements.has(reading, "similarity_weights"):
        return links.sum(axis=2) / links.sum(axis=(1, 2))[:, None]
    if "weight" not in genome:
        # 1 + 0 x is a one of the type of x: of rationals all weights are rationals.
        return np.broadcast_to((1 + 0 * high / C)[:, None] / C, (len(high), C))
    if "nonnegative_weights" in reading.dropped and not requirements.uses(reading, "chosen"):
        rest = genome["weight"][:, : C - 1]
        return np.concatenate([rest, 1 - rest.sum(axis=1, keepdims=True)], axis=1)
    return genome["weight"] / genome["weight"].sum(axis=1, keepdims=True)


def _rows_of_weights(reading: Reading, shape: Shape, genome: Genes, p: Array) -> Array | None:
    """The weights of every round (n, R, C), where instances choose them."""
    if "share" in genome:
        return _rows(reading, genome["share"], shape["E"])
    if dict(shape.flags).get("weights") == "own":
        return np.repeat(
            p[:, None], -(-shape["T"] // (shape["E"] if requirements.counts_steps(reading) else 1)), axis=1
        )
    return None


def _graph(reading: Reading, C: int, p: Array, links: Array | None) -> Array | None:
    """The weights of each client's neighbours (n, C, C)."""
    if requirements.has(reading, "broadcast"):
        return np.repeat(p[:, None], C, axis=1)
    return None if links is None else links / links.sum(axis=2, keepdims=True)


def _losses(reading: Reading, shape: Shape, genome: Genes, p: Array, low: Array, high: Array) -> Mapping[str, Array]:
    """Losses of curvature between low and high; mu more convex on the whole where the claim asks for it."""
    family = family_of(shape)
    if "mu_at_most_L" in reading.dropped:  # then f is constant
        parts, pull = family.parts(genome, p, low, high, genome["scale"]), (high * genome["scale"])[:, None, None]
        signs = np.array([1, -1, *[0] * shape["C"]])[: shape["C"]] * (shape["C"] > 1)
        return {**parts, "A": 0 * parts["A"], "b": pull * genome["centre"][:, :1] * signs[:, None]}
    if requirements.lifted(reading):
        mu = high * genome["mu"]
        least = low - mu if family.affine or not requirements.convex_mean(reading) else 0 * low
        return family.lifted(family.parts(genome, p, least, high - mu, genome["scale"]), mu)
    from_above = (None, 1) in requirements.bends(reading)
    if from_above and family.affine and not requirements.reads_minimum(reading):  # nothing is bounded below
        return family.lifted(family.parts(genome, p, 0 * low, high - low, genome["scale"]), low)
    return family.parts(genome, p, low, high, genome["scale"])


def _copied(reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
    """A genome of equal clients: the one gene of a client, copied for all of them."""
    copied = dict(genome)
    one = {**dict(shape.counts), "C": 1, "kinks": "kink" in genome, "own": False}
    own = (Gene("noise", "nonnegative", (1,), ("C",)), Gene("weight", "positive", (1,), ("C",)))
    for gene in (*family_of(shape).genes(one), *own):
        if "C" in gene.axes and gene.name in genome:
            copied[gene.name] = np.repeat(genome[gene.name], shape["C"], axis=1 + gene.axes.index("C"))
    return copied


def _laid_out(genome: Genes, start: str | None, C: int) -> Mapping[str, Array]:
    """Centres where they are all one, or two opposite clients (and others between them) around the start."""
    if "curve" not in genome:
        return genome
    curve = genome["curve"]
    if "centre" not in genome:
        return {**genome, "centre": 0 * curve}
    if start != "between":
        return genome
    side = np.array([1, -1] + [0] * C)[:C, None]
    return {**genome, "centre": side * genome["centre"][:, :1], "curve": curve[:, :1] + 0 * curve}


def _rows(reading: Reading, share: Array, E: int) -> Array:
    """Rows (n, R, C) that sum to one: divided positive numbers, reals and their rest, or shares of what is left.

    A round has the entries of its last step.
    """
    T, C = share.shape[1:]
    last = [min(first + E, T) - 1 for first in range(0, T, E)] if requirements.counts_steps(reading) else list(range(T))
    share = share[:, last]
    if requirements.share(reading) == "positive":
        return share / share.sum(axis=-1, keepdims=True)
    if requirements.share(reading) == "real":
        rest = share[..., : C - 1]
        return np.concatenate([rest, 1 - rest.sum(axis=-1, keepdims=True)], axis=-1)
    left, parts = 1 + 0 * share[..., 0], list[Array]()
    for i in range(C - 1):
        parts.append(left * share[..., i])
        left = left - parts[-1]
    return np.stack([*parts, left], axis=-1)


def regulariser_of(shape: Shape, genome: Genes, high: Array) -> dict[str, Array]:
    family = FAMILIES[dict(shape.flags).get("regulariser", "none")]
    return family.parts(genome, high * genome["scale"], high)


def power(x: Array, power: float) -> Array:
    whole = int(power)
    return x**whole if whole == power else x**power
