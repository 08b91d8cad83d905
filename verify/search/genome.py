"""What the adversary varies: named genes with a kind, as arrays over a batch or as exact rationals.

A genome is a dict of arrays (n, *gene.shape). Floats are proposed and mutated; `exactly` turns one row into rationals,
from which the same setting builds the exact instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedaudit.problems.arrays.genes import Gene, Kind

Array = np.ndarray[Any, Any]
Genome = dict[str, Array]


def draw(genes: Sequence[Gene], n: int, rng: np.random.Generator) -> Genome:
    """Random genomes that favour the extremes where bounds are tight."""
    return {g.name: _shaped(g.kind, *_drawn(g.kind, (n, *g.shape), rng)) for g in genes}


def _drawn(kind: Kind, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Array, ...]:
    """The random numbers of a gene, not yet in its domain."""
    pick = rng.random(shape)
    if kind in ("positive", "nonnegative"):
        wide = rng.uniform(-3, 3, shape)
        return pick, wide, rng.uniform(-1, 1, shape)
    if kind == "unit":
        wide = rng.uniform(-3, 0, shape)
        return pick, wide, rng.random(shape)
    if kind == "fraction":
        near = rng.uniform(-3, 0, shape)
        return pick, near, rng.random(shape)
    special = rng.integers(0, 3, shape)
    normal = rng.standard_normal(shape)
    wide = rng.uniform(-1, 1, shape)
    return pick, special, normal, wide, rng.standard_normal(shape)


def _shaped(kind: Kind, pick: Array, *numbers: Array) -> Array:
    """Values in the domain of the kind, from its random numbers."""
    if kind in ("positive", "nonnegative"):
        wide, near = numbers
        values = np.where(pick < 0.2, 1.0, 10.0 ** np.where(pick < 0.6, near, wide))
        return np.where(pick > 0.85, 0.0, values) if kind == "nonnegative" else values
    if kind == "unit":
        wide, inner = numbers
        return np.where(pick < 0.35, 1.0, np.where(pick < 0.7, 1 - inner, 10.0**wide))
    if kind == "fraction":
        edge = np.where(pick < 0.25, 0.0, 1.0)
        near, inner = 10.0 ** numbers[0], numbers[1]
        inner = np.where(pick < 0.75, inner, np.where(pick < 0.87, near, 1 - near))
        return np.where(pick < 0.5, edge, inner)
    special, normal, wide, plain = numbers
    return np.where(pick < 0.3, special - 1.0, np.where(pick < 0.8, plain, normal * 10.0**wide))


def mutate(genes: Sequence[Gene], parents: Genome, rng: np.random.Generator) -> Genome:
    """One child a row: every gene moves a little, some jump, some snap to an extreme."""
    n = len(next(iter(parents.values())))
    pace = 10.0 ** rng.uniform(-3, 0.3, n)  # a step size a child: from polishing to exploring
    children: Genome = {}
    for gene in genes:
        old = parents[gene.name]
        shape: tuple[int, ...] = old.shape
        step = pace.reshape((n,) + (1,) * len(gene.shape)) * rng.standard_normal(shape)
        step = step * (rng.random(shape) < 0.5)
        if gene.kind == "positive":
            new = np.minimum(np.maximum(old * np.exp(step), 1e-9), 1e9)
        elif gene.kind == "nonnegative":
            new = np.where(old == 0, np.maximum(step, 0.0), np.minimum(np.maximum(old * np.exp(step), 0.0), 1e9))
        elif gene.kind == "unit":
            moved = old * np.exp(np.minimum(step, 0.0)) + np.maximum(step, 0.0) * (1 - old)
            new = np.minimum(np.maximum(moved, 1e-9), 1.0)
        elif gene.kind == "fraction":
            moved = old + step * np.maximum(0.05, np.minimum(old, 1 - old))
            new = np.minimum(np.maximum(moved, 0.0), 1.0)
        else:
            new = old + step * np.maximum(0.1, np.abs(old))
        numbers = _drawn(gene.kind, shape, rng)
        jumps = np.nonzero(rng.random(shape) < 0.04)  # few: only they are worth a power
        if jumps[0].size:
            new[jumps] = _shaped(gene.kind, *(x[jumps] for x in numbers))
        children[gene.name] = new
    return children


def jitter(genes: Sequence[Gene], genome: Genome, size: float) -> Genome:
    """Every gene moved by about `size`, relative to itself (zeros: absolutely), inside its domain. Deterministic."""
    rng = np.random.default_rng(0)
    moved: Genome = {}
    for gene in genes:
        old = genome[gene.name]
        shape: tuple[int, ...] = old.shape
        # No gene moves by less than half of `size`: one that stays would keep the coincidence that is to be broken.
        step = size * rng.uniform(0.5, 1.0, shape) * (2.0 * rng.integers(0, 2, shape) - 1.0)
        new = np.where(old == 0, step, old * (1 + step))
        low = -np.inf if gene.kind == "real" else 0.0
        high = 1.0 if gene.kind in ("unit", "fraction") else np.inf
        moved[gene.name] = np.minimum(np.maximum(new, low), high)
    return moved


def rows(genome: Genome, index: Array | slice) -> Genome:
    """Some rows of a genome."""
    return {name: values[index] for name, values in genome.items()}


def join(parts: Sequence[Genome]) -> Genome:
    """Genomes of one shape below one another."""
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}


def exactly(genes: Sequence[Gene], genome: Mapping[str, Array], row: int, digits: int) -> dict[str, Array]:
    """Row `row` with every value rounded to a rational with about `digits` digits, inside its gene's domain.

    Of genes of a shorter run, what there is one of per round is cut.
    """
    cut = {g.name: tuple(slice(0, size) for size in g.shape) for g in genes}
    return {g.name: _exactly(g, genome[g.name][(row, *cut[g.name], ...)], digits) for g in genes}


def _exactly(gene: Gene, values: Array, digits: int) -> Array:
    def one(x: float) -> Fraction:
        return rational(float(x), digits, gene.kind)

    return np.vectorize(one, otypes=[object])(values) if values.size else np.empty(gene.shape, dtype=object)


def rational(x: float, digits: int, kind: Kind) -> Fraction:
    """A simple rational near x: relative precision 10^-digits, never leaving the domain of the kind."""
    if x == 0:
        return Fraction(0)
    exponent = int(np.floor(np.log10(abs(x))))
    scale = Fraction(10) ** exponent
    near = Fraction(x / float(scale)).limit_denominator(10**digits) * scale
    if kind in ("unit", "fraction"):
        near = min(near, Fraction(1))
    return near


def simpler(value: Fraction, kind: Kind) -> Iterator[Fraction]:
    """Values that are easier to read than `value`, simplest first, all in the kind's domain."""
    tries = [Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(2), Fraction(-2), Fraction(round(value))]
    tries += [value.limit_denominator(q) for q in (1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 1000)]
    if value:
        power = int(np.floor(np.log10(abs(float(value)))))
        tries += [Fraction(10) ** power, Fraction(10) ** (power + 1)]
        tries += [(value / Fraction(10) ** power).limit_denominator(q) * Fraction(10) ** power for q in (1, 2, 4, 10)]
    tried: set[Fraction] = set()
    for candidate in tries:
        inside = {
            "positive": candidate > 0,
            "nonnegative": candidate >= 0,
            "unit": 0 < candidate <= 1,
            "fraction": 0 <= candidate <= 1,
            "real": True,
        }[kind]
        if inside and candidate not in tried and size(candidate) < size(value):
            tried.add(candidate)
            yield candidate


def size(value: Fraction) -> int:
    """How long a rational is to read: bits of numerator and denominator, a sign counts one."""
    return abs(value.numerator).bit_length() + value.denominator.bit_length() + (value < 0)
