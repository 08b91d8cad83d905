"""Runs of a method on a batch of instances: how they are set up, what is measured, the constants that this needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from fedaudit.problems.arrays.array_checks import Array as DeviceArray
from fedaudit.problems.families.regularisers import FAMILIES
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.losses.regularised import minimiser as least
from fedaudit.problems.runs.interpreter import Setup, run
from fedaudit.problems.runs.path_bounds import reach

from ...search.claim_trees import Tree
from ...search.genome import Genome
from ...search.tree_arrays import Array, Evaluator, Quantity, Table
from ..base import Reading, Shape, to_backend, to_numpy
from . import data_points, requirements
from .instance_parts import Parts, curvatures, parts_of, power
from .run_shapes import draws, family_of, noise_of, sampling_of

FAR = 1e100  # a run that has left the floats says nothing
LENGTH = 1e12  # how much coarser lengths are rounded than their squares
SNAPPED = 1e-9  # of the scale of an instance: a minimiser nearer to the origin than this is the origin
ROUNDING = 1e-13  # of an instance's values: below this a heterogeneity is 0

Answers = tuple[Array, Array]  # of an oracle that may err: how far it goes, and by how much it misses


def measured(reading: Reading, shape: Shape, genome: Genome, constants: Table) -> Table:
    """Every measure of the runs of a batch, and the constants that these need."""
    constants = with_steps(reading, shape, genome, constants)
    clients = shape["C"]
    shape = shape.but(C=1, m=1) if shape.one_for_all else shape
    parts = parts_of(reading, shape, genome, constants.scalars)
    answers = data_points.oracle(reading, shape, genome, constants) if requirements.reads_data(reading) else None
    setup = setup_of(reading, shape, parts, constants, oracle=answers)
    setup = replace(setup, until=requirements.until(reading, dict(shape.counts)))
    measures = {name: to_numpy(values) for name, values in run(reading.claim["method"], setup).items()}
    quantities, scalars = {**constants.quantities, "p": Quantity(parts.p, (1,))}, dict(constants.scalars)
    bounded = np.ones(constants.n, dtype=bool)
    if requirements.has(reading, "lower_bounded"):
        bounded = np.isfinite(to_numpy(setup.w_star)).all(axis=1)
    for name, values in measures.items():
        at = reading.claim["method"]["measures"][name]["at"]
        if shape.one_for_all and "i" in at:
            values = np.repeat(values, clients, axis=1 + at.index("i"))
        start = starts(reading, name, shape["T"])
        finite = (np.abs(values) < FAR) & bounded.reshape((-1,) + (1,) * (values.ndim - 1))
        usable = np.where(finite, values, np.nan)
        if start:
            quantities[name] = Quantity(usable, start)
        else:
            scalars[name] = inside(usable, reading.claim["domains"][name])
    if reading.uses("Gamma"):
        scalars["Gamma"] = to_numpy(setup.problem.heterogeneity())
    if inexact := requirements.argument(reading, "inexact"):
        scalars[inexact] = reduce(np.maximum, (to_numpy(gap) for gap in setup.gaps), 0 * parts.high)
    if gap := requirements.arguments(reading, "meta_gap"):
        alpha = to_backend(reading.backend, constants.scalars[gap[1]])
        scalars[gap[0]] = to_numpy(setup.problem.meta_gap(setup.start, alpha))
    far = np.maximum(np.abs(parts.w0).max(axis=1), np.abs(parts.loss["c"]).max(axis=(1, 2)))
    W = np.where(far > 0, far, 1.0)
    steep = sum(scalars[name] for name, a in requirements.constants(reading).items() if a == "bounded_gradients")
    scale = (
        curvatures(reading, genome)[1] * W**2 + steep * W,
        W * (LENGTH if requirements.reads(reading, "norm") else 1),
    )
    return with_bounds(reading, Table(constants.n, scalars, quantities, constants.counts, scale))


def at_rest(reading: Reading, shape: Shape, genome: Genome) -> Genome:
    """The batch with runs that start at a minimiser, as floats know it, where the start is free and f has one.

    There the start's own term is 0, and what the others say is seen.
    """
    free = "start" in genome and "start" not in dict(shape.flags) and "regulariser" not in dict(shape.flags)
    if not free or not requirements.reads_minimum(reading) or requirements.reads_data(reading):
        return genome
    family = family_of(shape)
    high, scale = curvatures(reading, genome)[1], genome["scale"]
    if family.start(genome, scale) is not None:
        return genome
    with np.errstate(all="ignore"):
        parts = parts_of(reading, shape, genome, defaultdict(lambda: 0 * high))
        rest = to_numpy(family.problem(dict(parts.loss), parts.p).minimiser()) / scale[:, None]
    rest = np.where(np.abs(rest) < SNAPPED, 0.0, rest)
    return {**genome, "start": np.where(np.isfinite(rest), rest, genome["start"])}


def with_steps(reading: Reading, shape: Shape, genome: Genome, constants: Table) -> Table:
    """Step sizes that neither the statement nor its sweep gives, and those of the round before."""
    free, before = requirements.free_steps(reading), reading.claim["method"].get("before", {})
    if not free and not before:
        return constants
    F, W = curvatures(reading, genome)[1] * genome["scale"] ** 2, genome["scale"]
    quantities = dict(constants.quantities)
    for name, arity in free.items():
        f, w = reading.lowered.scales.get(name, (0.0, 0.0))
        unit = (power(F, f) * power(W, w)).reshape((-1,) + (1,) * arity)
        quantities[name] = Quantity(genome[f"step_{name}"] * unit, (0,) * arity)
    for name, now in before.items():
        steps = quantities[now].values
        quantities[name] = Quantity(np.concatenate([0 * steps[:, :1], steps[:, :-1]], axis=1), (0,))
    return Table(constants.n, constants.scalars, quantities, constants.counts)


def setup_of(
    reading: Reading,
    shape: Shape,
    parts: Parts,
    constants: Table,
    signs: Array | None = None,
    oracle: Answers | None = None,
) -> Setup:
    """How a batch is run: with listed outcomes, or with these signs of its noise (runs, n, T, E, C)."""
    backend, noise = reading.backend, noise_of(shape)

    def on(x: Array) -> DeviceArray:
        return to_backend(backend, x)

    box = family_of(shape).box(parts.loss)
    problem = family_of(shape).problem({k: on(v) for k, v in parts.loss.items()}, on(parts.p))
    g, w_star = None, problem.minimiser() if requirements.reads_minimum(reading) else None
    if "regulariser" in dict(shape.flags):
        up, down, ridge = (on(parts.regulariser[name]) for name in ("up", "down", "ridge"))
        g = Regulariser(up, down, ridge, FAMILIES[shape.flag("regulariser")].affine, on(parts.slope))
        w_star = least(problem, g) if requirements.reads_minimum(reading) else on(parts.w0)
    return Setup(
        problem,
        on(parts.w0),
        _scalars(constants, shape, backend, reading.claim["method"].get("counts_from", 0)),
        shape["E"],
        shape["T"],
        v=None if noise.law.silent else on(parts.v),
        h=on(parts.h) if parts.h is not None else None,
        shared=noise.law.one_sign,
        noisy_steps=noise.steps(draws(shape, requirements.counts_steps(reading))),
        loud=noise.clients(shape["C"]),
        sampling=sampling_of(shape),
        graph=on(parts.graph) if parts.graph is not None else None,
        w_star=w_star,
        regulariser=g,
        points={name: on(x) for name, x in parts.points.items()},
        rows=on(parts.rows) if parts.rows is not None else None,
        floor=on(ROUNDING * parts.high * np.abs(parts.loss["c"]).max(axis=(1, 2)) ** 2),
        signs=None if signs is None else on(signs),
        minibatch=_minibatch(shape) if box is None else None,
        moments=box is not None,
        box=(on(box[0][:, 0]), on(box[1][:, 0])) if box is not None and shape.follows_moments else None,
        oracle=None if oracle is None else (on(oracle[0]), on(oracle[1])),
    )


def on_problem(reading: Reading, shape: Shape, problem: Any, start: Array, constants: Table) -> Table:
    """One run without noise on a problem of any kind, in NumPy: what it measures, and the constants that it needs."""
    method = reading.claim["method"]
    scalar = _scalars(constants, shape, "numpy", method.get("counts_from", 0))
    setup = Setup(problem, start, scalar, shape["E"], shape["T"], w_star=problem.minimiser())
    quantities, scalars = {**constants.quantities, "p": Quantity(problem.p, (1,))}, dict(constants.scalars)
    for name, values in run(method, setup).items():
        place = starts(reading, name, shape["T"])
        if place:
            quantities[name] = Quantity(values, place)
        else:
            scalars[name] = values
    if reading.uses("Gamma"):
        scalars["Gamma"] = problem.heterogeneity()
    return with_bounds(reading, Table(constants.n, scalars, quantities, constants.counts))


def _scalars(table: Table, shape: Shape, backend: str, first: int) -> Callable[[Tree], DeviceArray]:
    """Scalar factors of the rules, in all rounds and local steps."""
    last = first + (0 if shape.brief else shape["T"] - 1)
    steps = 1 if shape.follows_moments else shape["E"]
    evaluator = Evaluator(table, {"t": (str(first), str(last)), "k": ("0", str(steps - 1))})
    return lambda tree: to_backend(backend, evaluator(tree))


def _minibatch(shape: Shape) -> tuple[int, bool] | None:
    counts, flags = dict(shape.counts), dict(shape.flags)
    return (counts["b"], flags.get("draws") == "shared") if "oracle" in flags and "b" in counts else None


def named_sizes(reading: Reading, shape: Shape) -> dict[str, int]:
    """Sizes by the letters that the claim has for them."""
    counts, letters = dict(shape.counts), reading.claim["method"].get("names", {})
    own = {"m": counts["m"]} if "m" in counts and "m" not in letters.values() else {}
    return own | {letter: counts[name] for letter, name in letters.items() if name in counts}


def starts(reading: Reading, measure: str, T: int) -> tuple[int, ...]:
    """The first value of each index of a measure."""
    method = reading.claim["method"]
    first = {"i": 1, "j": 1, "n": 1, "t": method.get("counts_from", 0), "k": 0, "T": T}
    return tuple(first[index] for index in method["measures"][measure]["at"])


def with_bounds(reading: Reading, table: Table) -> Table:
    for name in reading.claim["means"]:
        if name not in reading.dropped:
            table = _bounded(reading, table, name)
    return table


def _bounded(reading: Reading, table: Table, name: str) -> Table:
    """The table with the constant that this run needs; no measures where an assumption of another form fails."""
    meaning = reading.claim["means"][name]
    op, left, right = meaning["relation"]
    evaluator = Evaluator(table, {index: tuple(ends) for index, ends in meaning["for_all"].items()})
    constant = requirements.root_name(right) if op == "<=" else ""
    if constant:
        most = np.broadcast_to(evaluator(left), evaluator.shape).reshape(table.n, -1).max(axis=1)
        value = np.sqrt(most) if isinstance(right, list) else most
        value = np.maximum(value, table.scalars.get(constant, value))  # another assumption may bound by it too
        return Table(table.n, {**table.scalars, constant: value}, table.quantities, table.counts, table.scale)
    holds = np.broadcast_to(evaluator.holds(meaning["relation"]), evaluator.shape).reshape(table.n, -1).all(axis=1)
    measures = reading.claim["method"]["measures"]
    hidden = {
        k: Quantity(np.where(holds.reshape((-1,) + (1,) * (q.values.ndim - 1)), q.values, np.nan), q.start)
        if k in measures
        else q
        for k, q in table.quantities.items()
    }
    scalars = {k: np.where(holds, x, np.nan) if k in measures else x for k, x in table.scalars.items()}
    return Table(table.n, scalars, hidden, table.counts, table.scale)


def inside(values: Array, domain: str) -> Array:
    """Not a number where the kernel would refuse it."""
    out = values <= 0 if domain == "positive" else values < 0 if domain == "nonnegative" else np.isnan(values)
    return np.where(out, np.nan, values)


def sampled_setup(
    reading: Reading, shape: Shape, genome: Genome, constants: Table, runs: int, rng: np.random.Generator
) -> tuple[Parts, Setup]:
    """The parts of a batch, and how it is run with drawn signs of its noise."""
    parts = parts_of(reading, shape, genome, constants.scalars)
    signs = rng.choice([-1.0, 1.0], (runs, constants.n, shape["T"], shape["E"], shape["C"]))
    return parts, setup_of(reading, shape, parts, constants, signs)


def sampled_values(
    reading: Reading, shape: Shape, genome: Genome, constants: Table, runs: int, rng: np.random.Generator
) -> tuple[Array, Array, Table]:
    """Sampled values of the left side, and bounds on what constants are measured from that hold on every path."""
    constants = with_steps(reading, shape, genome, constants)
    parts, setup = sampled_setup(reading, shape, genome, constants, runs, rng)
    method = reading.claim["method"]
    low, high = (to_backend(reading.backend, x) for x in curvatures(reading, genome))
    farthest = {name: to_numpy(x) for name, x in reach(method, setup, low, high).items()}
    only = {**method, "measures": {k: m for k, m in method["measures"].items() if "k" not in m["at"]}}
    values = {name: to_numpy(x) for name, x in run(only, setup).items()}
    quantities = {**constants.quantities, "p": Quantity(parts.p, (1,))}
    for name, bound in farthest.items():  # before the first round nothing is random
        start = starts(reading, name, shape["T"])
        first = np.broadcast_to(values[name][:, :1, ..., 0], bound.shape) if name in values else bound
        quantities[name] = Quantity(first, start)
    scalars = dict(constants.scalars)
    if reading.uses("Gamma"):
        scalars["Gamma"] = to_numpy(setup.problem.heterogeneity())
    table = Table(constants.n, scalars, quantities, constants.counts)
    table = with_bounds(reading, table)
    left = reading.claim["then"][0][1][1]
    return values[left], farthest[left], table


def followed(
    reading: Reading, shape: Shape, genome: Genome, constants: Table, runs: int, rng: np.random.Generator
) -> Array:
    """Sampled values of the left side alone."""
    constants = with_steps(reading, shape, genome, constants)
    _, setup = sampled_setup(reading, shape, genome, constants, runs, rng)
    method, left = reading.claim["method"], reading.claim["then"][0][1][1]
    return to_numpy(run({**method, "measures": {left: method["measures"][left]}}, setup)[left])
