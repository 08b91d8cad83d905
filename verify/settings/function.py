"""Statements about functions and vectors: f at two points, at a mean of points, sums of functions, and no f at all.

Functions are quadratics (in the plane also turned ones) and quadratics with a bend in each coordinate. Curvatures fill
the range that the statement's assumptions leave: [mu, L], [0, L] for a convex f, [-L, L] where nothing makes it convex
(with humps only, where it has to have a minimum).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from fedaudit.problems.losses.functions import Bent, smoothness

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Quantity, Table
from .base import ExactValues, Genes, Json, Reading, Reductions, Setting, Shape, as_batch, one_less, text

_PER_COORDINATE = ("curve", "tail", "lo", "hi", "centre", "v", "w", "point")  # genes whose last axis is d
_PER_ITEM = ("curve", "tail", "lo", "hi", "centre", "size")  # genes whose first axis is N


class Functions(Setting):
    name = "function"
    precision = np.longdouble  # gaps are differences of nearly equal numbers

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        kind = _kind(reading)
        if kind == "vectors":
            return [Shape.of(d=d, T=1) for d in (1, 2, 3, 5)]
        losses = [{"loss": loss} for loss in ("quadratic", "piecewise")]
        if kind == "points":
            return [Shape.of(loss, d=d, T=1) for d, loss in product((1, 2, 3), losses)]
        count = {"mean": "n", "combination": "N"}[kind]
        sizes = product((1, 2, 3, 5), (1, 2), losses)
        return [Shape.of(loss, **{count: size, "d": d, "T": 1}) for size, d, loss in sizes]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        kind, d = _kind(reading), shape["d"]
        if kind == "vectors":
            return [Gene("v", "real", (d,)), Gene("w", "real", (d,))]
        if kind == "combination":
            N = shape["N"]
            return [*_weights(reading, N), Gene("size", "positive", (N,)), *_function(shape, (N, d))]
        strong = "strongly_convex" in _let(reading)
        genes = [Gene("mu", "positive"), Gene("ratio", "nonnegative")] if strong else [Gene("L", "positive")]
        genes += _function(shape, (d,))
        if d == 2 and shape.flag("loss") == "quadratic":
            genes.append(Gene("turn", "real"))
        if kind == "mean":
            return [*_weights(reading, shape["n"]), *genes, Gene("point", "real", (shape["n"], d))]
        return [*genes, Gene("v", "real", (d,)), Gene("w", "real", (d,))]

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        if _kind(reading) != "points":
            return {}
        low, high = _curvatures(reading, genome)
        names = {"smooth": ("L", high), "strongly_convex": ("mu", low)}
        return dict(names[name] for name in names if name in _let(reading))

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        measure = {"vectors": _vectors, "points": _points, "mean": _mean, "combination": _combination}
        scalars, quantities, scale = measure[_kind(reading)](reading, shape, genome)
        return known.measured(scalars, quantities, scale)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        kind = _kind(reading)
        instance: Json = {"kind": kind, "d": shape["d"]}
        if kind == "vectors":
            return {**instance, "v": text(genome["v"]), "w": text(genome["w"])}
        batch = as_batch(genome)
        parts = {k: v[0] for k, v in _parts(reading, shape, batch).items()}
        if kind == "points":
            instance |= {"f": _loss(shape, parts), "v": text(genome["v"]), "w": text(genome["w"])}
            instance["constants"] = {k: text(v) for k, v in known.scalars.items()}
            return {**instance, "w_star": text(_lowest(parts))} if _about_minimum(reading) else instance
        instance["lam"] = text(_lambda(reading, batch)[0])
        if kind == "mean":
            return {**instance, "f": _loss(shape, parts), "points": text(genome["point"])}
        each = [_loss(shape, {k: v[i] for k, v in parts.items()}) for i in range(shape["N"])]
        return {**instance, "functions": each, "L_i": text(genome["size"])}

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        sizes = dict(shape.counts)
        for count, names in (("N", _PER_ITEM), ("n", ("point",))):
            for out, (less, rest) in enumerate(one_less(shape, genome, count, names) if count in sizes else ()):
                weight = genome["weight"]  # of weights that sum to one the last is not a gene
                yield less, {**rest, "weight": np.delete(weight, min(out, len(weight) - 1), axis=0)}
        if shape["d"] > 1:
            for keep in range(shape["d"]):
                one = {k: v[..., keep : keep + 1] if k in _PER_COORDINATE else v for k, v in genome.items()}
                yield shape.but(d=1), {k: v for k, v in one.items() if k != "turn"}
        if ("loss", "piecewise") in shape.flags and shape["d"] == 1:
            plain = Shape(shape.counts, (("loss", "quadratic"),))
            yield plain, {k: v for k, v in genome.items() if k not in ("tail", "lo", "hi")}


def _let(reading: Reading) -> set[str]:
    """What is assumed, also where the text does not say it: here nothing can be dropped."""
    return {name for name, *_ in (*reading.claim["let"], *reading.claim["implicit"])}


def _kind(reading: Reading) -> str:
    """What the instances of a claim are made of, by the quantities it speaks of."""
    kinds = {"smoothness": "combination", "f_mean": "mean", "v": "vectors"}
    return next((kind for name, kind in kinds.items() if reading.uses(name)), "points")


def _about_minimum(reading: Reading) -> bool:
    return reading.uses("gap") or reading.uses("dist2")


def _weights(reading: Reading, n: int) -> list[Gene]:
    """Weights on the simplex where the statement asks for it, otherwise any reals that sum to one."""
    if "nonnegative_weights" in _let(reading):
        return [Gene("weight", "positive", (n,))]
    return [Gene("weight", "real", (n - 1,))]


def _lambda(reading: Reading, genome: Genes) -> Array:
    weight = genome["weight"]
    total = weight.sum(axis=1, keepdims=True)
    if "nonnegative_weights" in _let(reading):
        return weight / total
    return np.concatenate([weight, 1 - total], axis=1)


def _function(shape: Shape, size: tuple[int, ...]) -> list[Gene]:
    genes = [Gene("curve", "fraction", size), Gene("centre", "real", size)]
    if shape.flag("loss") == "piecewise":
        genes += [Gene("tail", "fraction", size), Gene("lo", "nonnegative", size), Gene("hi", "nonnegative", size)]
    return genes


def _curvatures(reading: Reading, genome: Genes) -> tuple[Array, Array]:
    """The least and the largest curvature that the assumptions allow."""
    if "size" in genome:
        return -genome["size"], genome["size"]
    if "mu" in genome:
        return genome["mu"], genome["mu"] * (1 + genome["ratio"])
    return (0 * genome["L"] if "convex" in _let(reading) else -genome["L"]), genome["L"]


def _parts(reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
    """Genes -> A outside the bends, curvature a inside and m outside, lo, hi, c. Floats and rationals alike."""
    low, high = (x[..., None] for x in _curvatures(reading, genome))
    parts = {"a": low + (high - low) * genome["curve"], "c": genome["centre"]}
    bent = shape.flag("loss") == "piecewise"
    parts["m"] = low + (high - low) * genome["tail"] if bent else parts["a"]
    if "has_minimum" in _let(reading) and "convex" not in _let(reading):  # a hump is inside, tails go up
        # From L/10 to L: with tails of curvature 0, f would fall for ever beyond a hump.
        parts["m"] = high * (1 + 9 * genome["tail"]) / 10 if bent else high * genome["curve"]
        parts["a"] = parts["a"] if bent else parts["m"]
    parts |= {k: genome[k] if bent else 0 * parts["a"] for k in ("lo", "hi")}
    diagonal = parts["m"][..., None] * np.eye(shape["d"], dtype=int)
    if "turn" not in genome:
        return {**parts, "A": diagonal}
    turn = genome["turn"]
    cos, sin = (1 - turn**2) / (1 + turn**2), 2 * turn / (1 + turn**2)
    rotation = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    return {**parts, "A": rotation @ diagonal @ np.swapaxes(rotation, -1, -2)}


def _lowest(parts: Mapping[str, Array]) -> Array:
    """A global minimiser: c, or beyond the wider side of a hump."""
    a, m, lo, hi, c = (parts[k] for k in ("a", "m", "lo", "hi", "c"))
    side = np.where(hi >= lo, hi, -lo)
    return c + np.where(a < 0, side * (m - a) / np.where(a < 0, m, 1 + 0 * m), 0 * c)


def _bent(parts: Mapping[str, Array]) -> Bent:
    return Bent(parts["A"], parts["a"] - parts["m"], parts["lo"], parts["hi"], parts["c"])


def _loss(shape: Shape, parts: Mapping[str, Array]) -> Json:
    """One function in the kernel's format."""
    if shape.flag("loss") == "quadratic":
        return {"kind": "quadratic", "A": text(parts["A"]), "b": text((parts["A"] * parts["c"]).sum(axis=-1))}
    return {"kind": "piecewise", **{k: text(parts[k]) for k in ("a", "m", "lo", "hi", "c")}}


# what is measured: scalars, indexed quantities, and the natural size of F and W
Measured = tuple[dict[str, Array], dict[str, Quantity], tuple[Array, Array]]


def _vectors(reading: Reading, shape: Shape, genome: Genome) -> Measured:
    v, w = genome["v"], genome["w"]
    W = np.maximum(np.abs(v), np.abs(w)).max(axis=1)
    return {}, {"v": Quantity(v, (1,)), "w": Quantity(w, (1,))}, (W, W)


def _points(reading: Reading, shape: Shape, genome: Genome) -> Measured:
    parts = _parts(reading, shape, genome)
    f, v, w = _bent(parts), genome["v"], genome["w"]
    least = _lowest(parts)
    slope, apart, away, grad = f.grad(w) - f.grad(v), w - v, w - least, f.grad(w)
    scalars = {
        "grad_diff2": (slope**2).sum(axis=1),
        "grad_inner": (slope * apart).sum(axis=1),
        "diff2": (apart**2).sum(axis=1),
        "grad2": (grad**2).sum(axis=1),
        "gap": f.value(w) - f.value(least),
        "dist2": (away**2).sum(axis=1),
    }
    W = np.maximum(np.maximum(np.abs(v), np.abs(w)), np.abs(parts["c"])).max(axis=1)
    return scalars, {}, (_curvatures(reading, genome)[1] * W**2, W)


def _mean(reading: Reading, shape: Shape, genome: Genome) -> Measured:
    parts, lam, where = _parts(reading, shape, genome), _lambda(reading, genome), genome["point"]
    single, many = _bent(parts), _bent({k: v[:, None] for k, v in parts.items()})
    middle = (lam[..., None] * where).sum(axis=1)
    at, f_mean = many.value(where), single.value(middle)
    if shape.flag("loss") == "quadratic":  # the kernel's quadratics vanish at 0, not at c
        origin = single.value(np.zeros_like(middle))
        at, f_mean = at - origin[:, None], f_mean - origin
    W = np.maximum(np.abs(where).max(axis=(1, 2)), np.abs(parts["c"]).max(axis=1))
    scale = _curvatures(reading, genome)[1] * W**2, W
    return {"f_mean": f_mean}, {"lam": Quantity(lam, (1,)), "f_at": Quantity(at, (1,))}, scale


def _combination(reading: Reading, shape: Shape, genome: Genome) -> Measured:
    parts, lam = _parts(reading, shape, genome), _lambda(reading, genome)
    bend = parts["a"] - parts["m"]
    least = smoothness(parts["m"], bend, parts["lo"], parts["hi"], parts["c"], lam)
    W = np.abs(parts["c"]).max(axis=(1, 2))
    scale = genome["size"].max(axis=1) * np.ones_like(W), np.ones_like(W)
    return {"smoothness": least}, {"lam": Quantity(lam, (1,)), "L_i": Quantity(genome["size"], (1,))}, scale


SETTING = Functions()
