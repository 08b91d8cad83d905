"""FedProx and FedMSPP of Yuan and Li: losses of one variable, sampled devices and minibatches, an oracle that may err.

Four kinds of instance. `alike`: devices that are all the same, so that a run is deterministic and may be long; `still`:
the same, and after the first round the oracle returns what it was given, so that T may be huge. `devices`: different
ones; who takes part and which minibatch is drawn is enumerated. `moments`: quadratics of one curvature with different
minimisers, exact oracle, whose moments are known in closed form, so that T may be huge.

The oracle's answers are genes, and eps is the worst of their sub-optimalities; where a statement limits eps, errors are
drawn up to that limit, and it decides which are admissible. Sizes are such that step sizes with roots of T, I and b in
them are rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
from flint import fmpq

from fedaudit.problems.fedmspp import Devices, settled2, walk

from ..evaluate import Array, Quantity, Table
from ..evaluate import Evaluator as TreeEvaluator
from ..genome import Gene, Genome
from ..genome import rational as rational_near
from ..kernel.expression import Evaluator, World, parse
from ..kernel.rational import Node
from .base import Reading, Shape, rules, text
from .stairs import stair_genes, stairs, written

PHASES = 2  # the oracle follows one rule in the first round and another one after it
STAIRS = 2  # changes of slope of a loss
ROUNDS = (1, 4, 8, 9, 16, 27, 64)
SIXTH_ROOTS = (2, 3, 5, 10, 20, 30)  # T is a sixth power: its square and its cube root are integers
MOST_PATHS = 64
LONGER = 3  # longer runs that a counterexample is tried on
DIGITS, ALMOST = 6, 1 - 1e-5  # of rounded shifts: what is rounded stays below the limit
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class FedMSPP:
    name: str = "fedmspp"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()
    declared: tuple[str, ...] = ("eps",)

    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]:
        """T -> shape, for pictures: runs that stand still, or else around a minimum, or else whatever is admissible."""
        if not _rounds(reading):
            return []
        made = [
            {_T(s): s for s in self.shapes(reading) if dict(s.flags) == {"law": law}} for law in ("still", "moments")
        ]
        return [
            *(m for m in made if m and _smooth(reading)),
            {n * n: _alike(1, 1, n * n) for n in (1, 2, 3, 5, 8, 12, 20)},
        ]

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return [shape for shape in _shapes(reading) if rational(reading, shape)]

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        if _moments(shape):
            curve = Gene("curve", "unit" if _smooth(reading) else "positive")
            sizes = [Gene("limit", "positive"), curve, Gene("unit", "positive"), Gene("start", "fraction")]
            return [*sizes, Gene("centre", "real", (shape["M"],))]
        D, K = _count(shape), shape["K"]
        genes = [Gene("limit", "positive"), Gene("G", "positive"), Gene("w0", "real")]
        genes += stair_genes((D, K), STAIRS, not _smooth(reading))
        genes += [Gene("weight", "positive", (D, K))] if K > 1 else []
        if "exact_oracle" not in _let(reading):
            rows = (1 if shape.flag("law") == "still" else min(_T(shape), PHASES), D)
            genes += [Gene("shift", "real", rows)] + (
                [] if _aimed(reading, shape) else [Gene("step", "fraction", rows)]
            )
        return genes

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        limit = genome["limit"]
        made = {"L" if _smooth(reading) else "nu": limit}
        made["T"] = limit**0 * _T(shape)
        if "lgd" in _let(reading):
            made["B"] = limit**0  # devices that are all alike
        if _moments(shape):
            low, high = _hull(genome)
            return {**made, "G": limit * genome["curve"] * (high - low), "b": made["T"]}
        return {**made, "G": genome["G"], "M": limit**0 * _members(shape)}

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        measured = _settle if _moments(shape) else _walk
        scalars, quantities, W = measured(reading, shape, genome, known)
        indexed = {name: Quantity(values[:, None], (_T(shape),)) for name, values in quantities.items()}
        made = {**known.scalars, **scalars}
        scale = made["G"] * W, W
        return Table(known.n, made, {**known.quantities, **indexed}, known.counts, scale)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        scalars = known["scalars"]
        constants = {k: text(v) for k, v in scalars.items() if k in ("L", "nu", "G", "B", "eta", "rho")}
        full = "full_batch" in _let(reading)
        made: dict[str, Any] = {"I": shape["I"], "batch": "full" if full else "sampled", "constants": constants}
        one = {k: v[None] for k, v in genome.items()}
        if _moments(shape):
            low, high = (x[0] for x in _hull(one))
            a, start = genome["limit"] * genome["curve"], low + genome["start"] * (high - low)
            risks = [_parabola(a, low, high, c) for c in _centres(one)[0]]
            T = _T(shape)
            made |= {"law": "moments", "M": shape["M"], "T": T, "b": 1 if full else T, "w0": text(start)}
            return {**made, "devices": risks, "low": text(low), "high": text(high)}
        unit = genome["G"] / genome["limit"]
        losses, q = stairs(one, one["G"], one["limit"]), _probabilities(shape, one)
        each = [
            {"q": text(q[0, m]), "losses": [written(losses, (0, m, k)) for k in range(shape["K"])]}
            for m in range(_count(shape))
        ]
        step, shift = (x[0] for x in _told(reading, shape, one, scalars))
        made |= {"law": "paths", "M": _members(shape), "T": _T(shape), "b": shape["b"], "w0": text(unit * genome["w0"])}
        return {**made, "devices": each, "oracle": {"step": text(step), "shift": text(shift)}}

    def longer(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, Mapping[str, Array]] | str]:
        """The next T that searches know at the same sizes: step sizes have roots of T in them."""
        sizes = dict(shape.counts)
        alike = [s for s in self.shapes(reading) if _rounds(reading) and s.flags == shape.flags and _T(s) > _T(shape)]
        same = {_T(s): s for s in alike if all(n == sizes[k] for k, n in s.counts if k not in ("T", "q"))}
        for T in sorted(same)[:LONGER]:
            yield same[T], {k: _drawn_out(k, v, same[T]) for k, v in genome.items()}

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        pool = dict.fromkeys(s for s in (*_neighbours(shape), *_shapes(reading)) if s.flags == shape.flags)
        sizes = dict(shape.counts)
        smaller = [s for s in pool if s != shape and all(n <= sizes[k] for k, n in s.counts) and rational(reading, s)]
        for made in sorted(smaller, key=lambda s: sum(n for _, n in s.counts)):
            cut = {k: _cut(k, v, made) for k, v in genome.items()}
            yield made, cut
            yield from ((made, still) for still in _still(cut))
        yield from ((shape, still) for still in _still(genome))


def _shapes(reading: Reading) -> list[Shape]:
    let, full, smooth = _let(reading), "full_batch" in _let(reading), _smooth(reading)
    batches = [(1, 1)] if full else [(1, 1), (1, 4), (2, 1), (2, 2)]  # data points of a device, minibatch size
    if not _rounds(reading):
        sizes = [(M, K, b) for M in (1, 2) for K, b in (*batches, *([(2, 1)] if full else []))]
        return [_devices(M, M, K, b, 1) for M, K, b in sizes]
    many, takes = sorted({b for K, b in batches if K == 1}), (1, 4, 16)
    if not smooth:  # no step size and no bound there knows I or b, and devices that are alike do not either
        many, takes = [1], (1,)
    made = [_alike(chosen, b, T) for chosen, b, T in product(takes, many, ROUNDS)]
    made += [] if smooth else [_alike(1, 1, 25), _alike(1, 1, 100)]
    if "lgd" in let:
        return made
    if "exact_oracle" not in let:
        sizes = product((1, 4), many, SIXTH_ROOTS)
        made += [Shape.of({"law": "still"}, I=chosen, b=b, q=q, K=1) for chosen, b, q in sizes]
    groups = [(2, 2), (3, 3)] if "full_participation" in let else [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 4)]
    for (M, chosen), (K, b), T in product(groups, batches, (1, 4, 8, 9)):
        ways = comb(M, chosen) * (1 if full or K == 1 else comb(b + K - 1, b)) ** chosen
        if ways ** (T - 1) <= MOST_PATHS and (M > 1 or K > 1):
            made.append(_devices(M, chosen, K, b, T))
    if "full_participation" not in let:
        sizes = product(((2, 1), (3, 1), (3, 2)), SIXTH_ROOTS)
        made += [Shape.of({"law": "moments"}, M=M, I=chosen, q=q) for (M, chosen), q in sizes]
    return made


def _alike(chosen: int, b: int, T: int) -> Shape:
    return Shape.of({"law": "alike"}, I=chosen, b=b, T=T, K=1)


def _devices(M: int, chosen: int, K: int, b: int, T: int) -> Shape:
    return Shape.of({"law": "devices"}, M=M, I=chosen, b=b, T=T, K=K)


def _neighbours(shape: Shape) -> Iterator[Shape]:
    """Shapes a little smaller than this one, beyond those that a search starts from."""
    if "q" in dict(shape.counts):
        yield from (shape.but(q=q) for q in range(2, shape["q"]))
        return
    rounds = range(1, shape["T"])
    yield from (shape.but(T=T) for T in rounds)
    if shape.flag("law") == "alike":
        yield from (shape.but(I=chosen, T=T) for chosen in (1, 4, 9) for T in rounds if T < 100)


def rational(reading: Reading, shape: Shape) -> bool:
    """Whether the step sizes of this shape are rational (with every constant and knob 1)."""
    world = _Ones()
    sizes = {"b": _T(shape), **dict(shape.counts), "T": _T(shape)}
    world.values = {k: fmpq(n) for k, n in sizes.items()}
    for name, rule in rules(reading.lowered):
        made = Evaluator(world, None).value(parse(Node(rule["value"], "sweep")), {})
        if not isinstance(made, fmpq):
            return False
        world.values[name] = made
    return True


class _Ones(World):
    def value(self, name: str) -> fmpq:
        return self.values.get(name, fmpq(1))


def _let(reading: Reading) -> set[str]:
    return {name for name, *_ in reading.claim["let"]}


def _smooth(reading: Reading) -> bool:
    return "smooth" in _let(reading)


def _rounds(reading: Reading) -> bool:
    """Whether the statement is about a run rather than about one round."""
    return reading.uses("picked2") or reading.uses("picked_env2")


def _moments(shape: Shape) -> bool:
    return shape.flag("law") == "moments"


def _T(shape: Shape) -> int:
    sizes = dict(shape.counts)
    return sizes["T"] if "T" in sizes else sizes["q"] ** 6


def _count(shape: Shape) -> int:
    """Devices that an instance lists."""
    return dict(shape.counts).get("M", 1)


def _members(shape: Shape) -> int:
    """All devices; where one stands for all of them, all take part."""
    return dict(shape.counts).get("M", shape["I"])


def _cut(name: str, values: Array, shape: Shape) -> Array:
    """A gene's values for a smaller shape."""
    if _moments(shape):
        return values[: shape["M"]] if name == "centre" else values
    if name in ("step", "shift"):
        return values[: min(_T(shape), PHASES), : _count(shape)]
    return values if values.ndim < 2 else values[: _count(shape), : shape["K"]]


def _drawn_out(name: str, values: Array, shape: Shape) -> Array:
    """A gene's values for a longer run: the oracle goes on with its last rule. Batches have one more axis in front."""
    if name not in ("step", "shift") or shape.flag("law") == "still":
        return values
    missing = min(_T(shape), PHASES) - values.shape[-2]
    return np.concatenate([values, *[values[..., -1:, :]] * missing], axis=-2)


def _still(genome: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """The same with an oracle that never moves, or not after the first round: any answer is allowed that is near
    enough to optimal, and this one is easy to follow."""
    for first in range(len(genome.get("step", ()))):
        still = {k: genome[k].copy() for k in ("step", "shift")}
        for values in still.values():
            values[first:] = 0 * values[first:]
        yield {**genome, **still}


def _probabilities(shape: Shape, genome: Mapping[str, Array]) -> Array:
    """(n, D, K)."""
    if "weight" not in genome:
        return genome["start"] * 0 + 1
    return genome["weight"] / genome["weight"].sum(axis=-1, keepdims=True)


def _aimed(reading: Reading, shape: Shape) -> bool:
    """Whether the oracle's errors are measured by the limit that the statement sets for them."""
    return _rounds(reading) and shape.flag("law") != "still"


def _limit(reading: Reading, known: Table) -> Array:
    """The statement's limit on eps (n,)."""
    found = [right for op, left, right in reading.claim["when"] if (op, left) == ("<=", "eps")]
    return np.broadcast_to(TreeEvaluator(known, {})(found[0]), (known.n,)) if found else known.scalars["eta"] * 0 + 1


def _oracle(reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Table) -> tuple[Array, Array]:
    """step and shift (n, phases, D). A shift of sqrt(2 eps eta/(1 + eta L)) makes an error of at most eps."""
    if "shift" not in genome:
        none = 0 * genome["start"][:, None, :, 0]
        return none + 1, none
    eta, shift = known.scalars["eta"], genome["shift"]
    if _aimed(reading, shape):
        most = np.sqrt(2 * _limit(reading, known) * eta / (1 + eta * genome["limit"]))
        return 0 * shift + 1, ALMOST * most[:, None, None] * np.clip(shift, -1.0, 1.0)
    step, shift = genome["step"], shift * (eta * genome["G"])[:, None, None]
    if shape.flag("law") == "still":
        step, shift = (np.concatenate([x, 0 * x], axis=1) for x in (step, shift))
    return step, shift


def _told(reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]) -> tuple[Array, Array]:
    """The same as rationals; what has a root in it is rounded."""
    if not ("shift" in genome and _aimed(reading, shape)):
        table = Table(1, {"eta": known["eta"]}, {}, {})
        return _oracle(reading, shape, genome, table)
    floats = {k: np.asarray(v, dtype=float) for k, v in genome.items()}
    table = Table(1, {k: np.array([float(v)]) for k, v in known.items()}, {}, dict(shape.counts))
    step, shift = _oracle(reading, shape, floats, table)
    return _nearby(step), _nearby(shift)


def _nearby(values: Array) -> Array:
    def one(x: Any) -> Fraction:
        return rational_near(float(x), DIGITS, "real")

    return np.vectorize(one, otypes=[object])(values)


Measured = tuple[dict[str, Array], dict[str, Array], Array]


def _walk(reading: Reading, shape: Shape, genome: Genome, known: Table) -> Measured:
    eta, rho = known.scalars["eta"], known.scalars.get("rho")
    unit = genome["G"] / genome["limit"]
    b = None if "full_batch" in _let(reading) else shape["b"]
    devices = Devices.of(stairs(genome, genome["G"], genome["limit"]), _probabilities(shape, genome), b)
    average, w0 = devices.average, unit * genome["w0"]
    run = walk(devices, w0, eta, rho, *_oracle(reading, shape, genome, known), _T(shape), shape["I"])
    least, W = average.value(average.least()), unit + np.abs(w0)
    residual = np.where(run.residual > ROUNDING * W, run.residual, 0.0)  # of an exact step it is nothing else
    scalars = {"eps": run.eps, "move": run.move, "residual": residual, "drift2": run.drift2}
    scalars["Delta"] = np.maximum(average.value(w0) - least, 0.0)
    quantities = {"picked2": run.picked2}
    if rho is not None:
        near = average.prox(w0, rho)
        scalars["Delta_rho"] = np.maximum(average.value(near) + (near - w0) ** 2 / (2 * rho) - least, 0.0)
        quantities["picked_env2"] = run.picked_env2
    return scalars, quantities, W


def _settle(reading: Reading, shape: Shape, genome: Genome, known: Table) -> Measured:
    low, high = _hull(genome)
    a, w0, centres = genome["limit"] * genome["curve"], low + genome["start"] * (high - low), _centres(genome)
    off2 = (w0 - centres.mean(axis=1)) ** 2
    T, eta = known.scalars["T"], known.scalars["eta"]
    picked2 = settled2(a, eta, centres.var(axis=1), off2, T, shape["M"], shape["I"])
    usable = high > low
    scalars = {"eps": 0 * a, "Delta": np.where(usable, a * off2 / 2, np.nan)}
    quantities = {"picked2": np.where(usable, picked2, np.nan)}
    rho = known.scalars.get("rho")
    if rho is not None:
        scalars["Delta_rho"] = scalars["Delta"] / (1 + rho * a)
        quantities["picked_env2"] = quantities["picked2"] / (1 + rho * a) ** 2
    return scalars, quantities, np.where(usable, high - low, 1.0)


def _centres(genome: Mapping[str, Array]) -> Array:
    return genome["unit"][:, None] * genome["centre"]


def _hull(genome: Mapping[str, Array]) -> tuple[Array, Array]:
    centres = _centres({"unit": np.atleast_1d(genome["unit"]), "centre": np.atleast_2d(genome["centre"])})
    return centres.min(axis=1), centres.max(axis=1)


def _parabola(a: Any, low: Any, high: Any, c: Any) -> dict[str, Any]:
    """a (w - c)^2 / 2 between low and high and straight beyond."""
    ends = {"x": [text(low), text(high)], "jump": ["0", "0"], "bend": [text(a), text(-a)]}
    return {"q": ["1"], "losses": [{**ends, "a": "0", "s": text(a * (low - c)), "c": "0"}]}


SETTING = FedMSPP()
