"""Smaller runs, for shrinking: fewer clients, dimensions, rounds and steps, less noise, plainer losses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fedaudit.problems.arrays.genes import Gene

from ...search.tree_arrays import Array
from ..base import Genes, Reading, Reductions, Setting, Shape
from . import data_points, requirements
from .proposed_sizes import meets_counts, rational
from .run_shapes import draws, family_of, noise_of, with_noise

FAR_SIZE = 30  # of long runs: not shortened one by one


def smaller_runs(setting: Setting, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
    """One entry less along an axis, shorter runs, no noise: whatever the genes are."""
    genes = {gene.name: gene for gene in setting.genes(reading, shape)}
    counts, flags = dict(shape.counts), dict(shape.flags)
    alike = flags.get("clients") == "alike"
    if requirements.reads_data(reading):
        if counts["d"] > 1:
            less = shape.but(d=counts["d"] - 1)
            yield less, data_points.cut(genome, genes, {gene.name: gene for gene in setting.genes(reading, less)})
        yield from data_points.reductions(reading, shape, genome, {name: gene.axes for name, gene in genes.items()})
        return
    smaller: list[tuple[Shape, dict[str, Array]]] = []
    if alike:
        smaller += [(shape.but(C=n), dict(genome)) for n in sorted({1, counts["C"] // 2, counts["C"] - 1}) if n > 0]
    for axis in ("C", "d"):
        if axis == "C" and alike:
            continue
        # A client can go only where fewer are drawn than there are.
        if counts[axis] > (requirements.least_clients(reading) if axis == "C" else 1) and (
            axis == "d" or counts.get("m", 0) < counts["C"]
        ):
            less = shape.but(**{axis: counts[axis] - 1})
            smaller += [(less, _without(genes, genome, axis, out)) for out in range(counts[axis])]
    for axis in ("T", "E", "m"):
        size = counts.get(axis, 1)
        less = {size // 10, size * 3 // 4} if shape.follows_moments and size > FAR_SIZE else {size - 1}
        shorter = [n for n in sorted({1, 2, size // 2, *less}) if 0 < n < size]
        for n in shorter:
            short = shape.but(**{axis: n})
            noise = noise_of(short).within(draws(short, requirements.counts_steps(reading)))
            smaller.append((with_noise(short, noise), _first(genes, genome, axis, n)))
    smaller += [(with_noise(shape, noise), dict(genome)) for noise in noise_of(shape).fewer()]
    if (simpler := family_of(shape).straight) and counts["d"] == 1:
        straight = Shape(shape.counts, tuple((k, simpler if k == "loss" else v) for k, v in shape.flags))
        smaller.append((straight, dict(genome)))
    if "none" in requirements.regularisers(reading) and flags.get("regulariser") not in (None, "none"):
        plain = Shape(shape.counts, tuple((k, "none" if k == "regulariser" else v) for k, v in shape.flags))
        smaller.append((plain, dict(genome)))
    for proposal, kept in smaller:
        if meets_counts(reading, dict(proposal.counts)) and rational(reading, dict(proposal.counts)):
            wanted = {gene.name for gene in setting.genes(reading, proposal)}
            yield proposal, {k: v for k, v in kept.items() if k in wanted or k not in genes}


def _without(genes: Mapping[str, Gene], genome: Genes, axis: str, out: int) -> dict[str, Array]:
    kept = dict(genome)
    for name, gene in genes.items():
        for place, own in enumerate(gene.axes):
            if own == axis:
                kept[name] = np.delete(kept[name], out, axis=place)
    return kept


def _first(genes: Mapping[str, Gene], genome: Genes, axis: str, size: int) -> dict[str, Array]:
    kept = dict(genome)
    for name, gene in genes.items():
        for place, own in enumerate(gene.axes):
            if own == axis:
                kept[name] = np.take(kept[name], range(size), axis=place)
    return kept
