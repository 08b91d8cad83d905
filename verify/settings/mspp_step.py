"""One step of FedMSPP with an oracle that errs as far as it may (lemmas 10 and 11 of Yuan and Li).

Every minibatch and every subset of devices is visited. A sample space of one point allows minibatches of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.problems.minibatch import mspp_step, multisets

from ..evaluate import Array, Quantity, Table
from ..genome import Gene, Genome
from .base import Reading, Shape, text
from .stairs import STAIRS, drop, fewer_steps, stair_genes, stairs, written
from .table import shares

SPACES = ((1, (1, 2, 3, 4, 10, 50)), (2, (1, 2, 3, 5)), (3, (1, 2)))  # points, sizes of minibatches
GROUPS = ((2, 1), (1, 1), (2, 2), (3, 1), (3, 2))  # devices, how many of them take part
SHIFT = 6, 17  # 6/17 < 8^(-1/2): with curvature below 2/eta, a shift of 6/17 G eta/b costs at most G^2 eta/(8 b^2)


@dataclass(frozen=True, slots=True)
class MsppStep:
    name: str = "mspp_step"
    precision: type[np.floating[Any]] = np.longdouble
    droppable: tuple[str, ...] = ("independent_minibatches",)
    declared: tuple[str, ...] = ("eps",)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        if reading.dropped:
            flags, groups, sizes = {"draws": "shared"}, ((2, 2), (3, 3)), [(2, 1), (3, 1)]
        else:
            alone = reading.uses("bias") or reading.uses("variance")  # what is said of every single device
            flags, groups = {"draws": "independent"}, GROUPS[1:2] if alone else GROUPS
            sizes = [(n, b) for n, sizes in SPACES for b in sizes if n > 1 or not alone or b == 1]
        return [
            Shape.of(flags, M=M, I=chosen, n=n, b=b, J=J, T=1) for M, chosen in groups for n, b in sizes for J in (1, 2)
        ]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        lead = shape["M"], shape["n"]
        genes = [Gene("G", "positive"), Gene("L", "positive"), Gene("w", "real"), Gene("weight", "positive", lead)]
        return [*genes, Gene("shift", "real", (shape["M"], _batches(shape))), *stair_genes(lead, shape["J"], False)]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        return {"G": genome["G"], "L": genome["L"]}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        G, L, eta = genome["G"], genome["L"], known.scalars["eta"]
        losses, q, unit = stairs(genome, G, L), _probabilities(shape, genome["weight"]), G / L
        shift = _shift(genome["shift"], (G * eta)[:, None, None], shape["b"])
        made = mspp_step(losses, q, unit * genome["w"], eta, shift, shape["b"], shape["I"], _shared(shape))
        scalars = {**known.scalars, "eps": made.eps, "sampled2": made.sampled2, "averaged2": made.averaged2}
        scalars["fresh2"] = made.fresh2
        quantities = {"bias": Quantity(made.bias, (1,)), "variance": Quantity(made.variance, (1,))}
        return Table(known.n, scalars, quantities, known.counts, (G * unit, unit))

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        one = {k: v[None] for k, v in genome.items()}
        losses, q = stairs(one, one["G"], one["L"]), _probabilities(shape, one["weight"])[0]
        shift = _shift(genome["shift"], genome["G"] * known["scalars"]["eta"], shape["b"])
        devices = [
            {
                "q": text(q[m]),
                "losses": [written(losses, (0, m, z)) for z in range(shape["n"])],
                "shift": text(shift[m]),
            }
            for m in range(shape["M"])
        ]
        return {
            **({"shared": True} if _shared(shape) else {}),
            **{k: shape[k] for k in ("M", "I", "b")},
            "w": text(genome["G"] / genome["L"] * genome["w"]),
            "devices": devices,
            "constants": {k: text(known["scalars"][k]) for k in ("G", "L", "eta")},
        }

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        M, n, b = shape["M"], shape["n"], shape["b"]
        for m in range(M if M > 1 else 0):
            fewer = shape.but(M=M - 1, I=min(shape["I"], M - 1))
            yield fewer, drop(genome, (*STAIRS, "weight", "shift"), 0, m)
        if shape["I"] > 1:
            yield shape.but(I=shape["I"] - 1), dict(genome)
        smaller = [shape.but(b=k) for k in sorted({1, 2, 3, b // 2, b - 1}) if 0 < k < b]
        yield from ((s, {**genome, "shift": genome["shift"][:, : _batches(s)]}) for s in smaller)
        for z in range(n if n > 1 else 0):
            cut, fewer = drop(genome, (*STAIRS, "weight"), 1, z), shape.but(n=n - 1)
            yield fewer, {**cut, "shift": cut["shift"][:, : _batches(fewer)]}
        yield from fewer_steps(shape, genome)


def _shared(shape: Shape) -> bool:
    return shape.flag("draws") == "shared"


def _probabilities(shape: Shape, weight: Array) -> Array:
    """(n, M, points); those of the first device for all, where minibatches are shared."""
    return shares(weight[:, :1] + 0 * weight if _shared(shape) else weight)


def _batches(shape: Shape) -> int:
    return len(multisets(shape["n"], shape["b"])[1])


def _shift(share: Array, reach: Any, b: int) -> Array:
    """Within [-1, 1] times 6/17 G eta/b. Floats and rationals alike."""
    return np.minimum(np.maximum(share, -1), 1) * reach * SHIFT[0] / (SHIFT[1] * b)


SETTING = MsppStep()
