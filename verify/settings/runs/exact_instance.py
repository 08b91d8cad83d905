"""One run as an exact instance in the kernel's format."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedaudit.problems.families.regularisers import FAMILIES, minimiser

from ...search.tree_arrays import Array
from ..base import ExactValues, Genes, Json, Reading, Shape, as_batch, text
from . import data_points, requirements
from .batch_runs import named_sizes
from .instance_parts import curvatures, parts_of, power
from .run_shapes import draws, family_of, noise_of, sampling_of


def exact_instance(reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
    """A run in the kernel's format, with all that the claim reads of it."""
    batch = as_batch(genome)
    scalars = {name: np.array([value], dtype=object) for name, value in known.scalars.items()}
    parts = parts_of(reading, shape, batch, scalars)
    loss = {k: v[0] for k, v in parts.loss.items()}
    p, counts, scalars = parts.p[0], dict(shape.counts), dict(known.scalars)
    constants = {name: text(scalars.pop(name)) for name in requirements.constants(reading) if name in scalars}
    instance: Json = {
        **{name: counts[name] for name in ("C", "d", "E", "T")},
        "p": text(p),
        "w0": text(parts.w0[0]),
        "constants": constants,
        "parameters": {k: text(v) for k, v in scalars.items() if k not in named_sizes(reading, shape)}
        | ({"b": str(counts["b"])} if "b" in counts and "oracle" not in dict(shape.flags) else {}),
        "clients": [
            {k: v if isinstance(v, str) else text(v) for k, v in client.items()}
            for client in family_of(shape).clients(loss)
        ],
        "noise": noise_of(shape).written(
            text(parts.v[0]),
            text(parts.h[0]) if parts.h is not None else None,
            draws(shape, requirements.counts_steps(reading)),
        ),
    }
    g = {k: v[0] for k, v in parts.regulariser.items()}
    if "regulariser" in dict(shape.flags):
        instance["regulariser"] = {
            k: v if k == "kind" else text(v) for k, v in FAMILIES[shape.flag("regulariser")].written(g).items()
        }
    if requirements.points(reading):
        instance["points"] = {name: text(x[0]) for name, x in parts.points.items()}
    w_star = _minimiser(reading, shape, loss, p, g)
    if w_star is not None:
        instance["w_star"] = text(w_star)
    if requirements.minimises_each(reading):
        instance["minimisers"] = text(loss["c"])
    if requirements.uses(reading, "chosen"):
        rows = {"kind": "rows", "rows": text(parts.rows[0])} if parts.rows is not None else {"kind": "largest"}
        instance["weights"] = rows
    if sampling := sampling_of(shape):
        instance["participation"] = {"kind": sampling[0], "m": sampling[1]}
    if (box := family_of(shape).box(loss)) is not None:
        instance["box"] = {"low": text(box[0][0]), "high": text(box[1][0])}
    if parts.graph is not None:
        instance["graph"] = text(parts.graph[0])
    if "oracle" in dict(shape.flags):
        if "b" in counts:
            instance["minibatch"] = {"b": counts["b"], "shared": dict(shape.flags).get("draws") == "shared"}
        answers = data_points.exact_oracle(reading, shape, batch, known.scalars)
        if answers is not None:
            step, shift = answers[0][0], answers[1][0]
            instance["oracle"] = {"step": text(step), "shift": text(shift if counts["d"] > 1 else shift[..., 0])}
    # The kernel refuses step sizes that the claim chooses: it computes those for itself.
    needed = set(requirements.steps(reading)) - set(reading.claim["choose"])
    if needed:
        instance["steps"] = {name: _exact_steps(reading, batch, known, name) for name in sorted(needed)}
    return instance


def _minimiser(
    reading: Reading, shape: Shape, loss: Mapping[str, Array], p: Array, regulariser: Mapping[str, Array]
) -> Array | None:
    """The minimiser that the claim reads; None where it reads none, or the kernel finds it itself."""
    if not requirements.reads_minimum(reading):
        return None
    if not any(regulariser.values()):
        return family_of(shape).minimiser(loss, p)
    if "A" not in loss or shape["d"] == 1:
        return None
    A, b = (p[:, None, None] * loss["A"]).sum(axis=0), (p[:, None] * loss["b"]).sum(axis=0)
    return minimiser(A, b, regulariser)


def _exact_steps(reading: Reading, genome: Genes, known: ExactValues, name: str) -> list[str]:
    """A step size of every round, or of every step of every round."""
    if name in known.quantities:
        return [text(x) for x in known.quantities[name]]
    f, w = reading.lowered.scales.get(name, (0.0, 0.0))
    high, scale = curvatures(reading, genome)[1][0], genome["scale"][0]
    unit = power(high * scale**2, f) * power(scale, w)
    return text(genome[f"step_{name}"][0] * unit)
