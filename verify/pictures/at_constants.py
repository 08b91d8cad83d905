"""Runs at constants of one's own: sizes go into the shape, constants into the genes, and what came out is checked.

What a run measures (G, Gamma, gap(0)) cannot be held: it is what it is on each run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fedaudit.bounds.language.assumptions import COMMON
from fedaudit.errors import UserError

from ..search.genome import Genome
from ..search.tree_arrays import Array
from ..settings.base import Reading, Setting, Shape, known_table

__all__ = ["genes_at", "reading_at", "shape_at"]

MOST_SIZE, MOST_PATHS, SAME = 10**7, 4096, 1e-9
SHORTEST = 8  # small sizes of a statement's own


def reading_at(reading: Reading, values: Mapping[str, Fraction]) -> Reading:
    """The statement with parameters that would be swept at the values that were given; itself where there are none."""
    if not {*values} & {*reading.lowered.sweep}:
        return reading
    sweep = {
        name: {**rule, "value": str(values[name])} if name in values else rule
        for name, rule in reading.lowered.sweep.items()
    }
    return replace(reading, lowered=replace(reading.lowered, sweep=sweep))


def shape_at(
    reading: Reading,
    world: Setting,
    values: Mapping[str, Fraction],
    rounds: int,
    shapes: Sequence[Shape] | None = None,
) -> Shape:
    """The most telling shape with these sizes: noise where its outcomes can be followed, parabolas where d is large.

    `shapes`: those of the statement, where they are at hand.
    """
    shapes = world.shapes(reading) if shapes is None else shapes
    counted = {name for shape in shapes for name, _ in shape.counts}
    sizes = {name: int(x) for name, x in values.items() if name in counted}
    for name, x in values.items():
        if name in counted and (x.denominator != 1 or not 1 <= x <= MOST_SIZE):
            raise UserError(f"{name}={x}", "a whole number from 1 on", f"write it like {name}=10")
    wanted = {"T": rounds, **sizes} if "T" in counted else sizes
    E = wanted.get("E", 2)
    if world.counts_steps and wanted.get("T", E) % E:
        raise UserError(f"T={wanted['T']}, E={E}", "steps T that are whole rounds of E", f"write T={E * 40}")
    fitting = [shape.but(**wanted) for shape in shapes if "E" in sizes or dict(shape.counts).get("E", 2) <= SHORTEST]
    fitting = [s for s in fitting if dict(s.counts).get("m", 0) <= dict(s.counts).get("C", MOST_SIZE)]  # drawn of these
    few = [s for s in fitting if world.paths(s) <= MOST_PATHS]
    if not few:
        raise UserError(f"sizes {sizes}", "a run whose outcomes can be followed", "take smaller ones")
    return min(few, key=_telling)


def _telling(shape: Shape) -> tuple[bool, bool, bool, int]:
    """Ranks shapes: parabolas first (their runs are followed whole at any size), several clients, noise, local
    steps.
    """
    sizes, flags = dict(shape.counts), dict(shape.flags)
    return (
        flags.get("loss", "quadratic") != "quadratic",
        sizes.get("C", 2) < 2,
        flags.get("noise") == "none",
        abs(sizes.get("E", 2) - 2) + abs(sizes.get("C", 2) - 2) + abs(sizes.get("d", 2) - 2),
    )


def genes_at(reading: Reading, world: Setting, shape: Shape, genome: Genome, values: Mapping[str, Fraction]) -> Genome:
    """The genome whose constants are those that were given; raises `UserError` for one that a run decides itself."""
    wanted = {name: float(x) for name, x in values.items() if name not in dict(shape.counts)}
    held = dict(genome)
    roles = {name: role for role, *names in _assumed(reading) for name in names}
    by_role = {roles[name]: x for name, x in wanted.items() if name in roles}
    if "curvature" in held:
        held |= _curved(held, by_role)
    if "noise" in held and COMMON["sigma"] in by_role:
        most = held["noise"].max(axis=-1, keepdims=True)
        held["noise"] = np.where(most > 0, held["noise"] / np.where(most > 0, most, 1), 1) * by_role[COMMON["sigma"]]
    free = [name for name in wanted if name in held and name not in roles]
    if free:
        now = known_table(reading, world, shape, held).scalars
        # What a gene comes to is proportional to it; `_same` looks whether it came out.
        held |= {name: held[name] * wanted[name] / now[name] for name in free if name in now}
    _same(reading, world, shape, held, wanted)
    return held


def _assumed(reading: Reading) -> list[list[str]]:
    return [*reading.claim["let"], *reading.claim["implicit"]]


def _curved(genome: Genome, by_role: Mapping[str, float]) -> dict[str, Array]:
    """Returns curvatures between mu and L; where mu is not given, its ratio to L stays as it was drawn."""
    L, mu, old = by_role.get(COMMON["L"]), by_role.get(COMMON["mu"]), genome["curvature"]
    if "ratio" not in genome:
        return {"curvature": old * 0 + L} if L is not None else {}
    if L is not None and mu is not None:
        if mu > L:
            raise UserError(f"mu = {mu:g} and L = {L:g}", "mu at most L", "change one of them")
        return {"curvature": old * 0 + mu, "ratio": old * 0 + (L / mu - 1)}
    if L is not None:
        return {"curvature": L / (1 + genome["ratio"])}
    return {"curvature": old * 0 + mu} if mu is not None else {}


def _same(reading: Reading, world: Setting, shape: Shape, genome: Genome, wanted: Mapping[str, float]) -> None:
    scalars = known_table(reading, world, shape, genome).scalars
    swept = {name for name, rule in reading.lowered.sweep.items() if rule["index"]}
    for name, x in wanted.items():
        if name in swept:
            continue
        if name not in scalars or name in world.declared:
            held = [k for k in scalars if k not in reading.lowered.knobs]
            sizes = ", ".join([*(k for k, _ in shape.counts), *held])
            raise UserError(
                f"{name} = {x:g}, which a run measures itself or does not have", f"one of {sizes}", "leave it out"
            )
        if not np.allclose(np.asarray(scalars[name], dtype=float), x, rtol=SAME, atol=0):
            raise UserError(f"{name} = {x:g}", f"a value that these runs can have ({name} is drawn)", "leave it out")
