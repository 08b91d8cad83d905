"""The sizes that are worth trying for a statement: small ones, some large, and those near what its conditions name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isqrt

import numpy as np

from fedaudit.problems.families import losses
from fedaudit.problems.families.family import Family
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.families.regularisers import FAMILIES
from fedaudit.problems.runs.interpreter import paths_needed

from ...search.tree_arrays import Evaluator, Table
from ..base import Reading, Shape, names
from . import data_points as data
from . import requirements as asked

MOST_PATHS = 256
SMALL = {"C": (1, 2, 3), "d": (1, 2), "E": (1, 2, 4), "T": (1, 4)}
SQUARES = (1, 4, 9, 16, 25)
SPARSE = (  # C, E and T of long runs, and their noise: at how many steps, from which on, how far apart, of whom
    ((1, 1, 12), Noise(count=6)),
    ((2, 1, 10), Noise(count=3, first=7)),
    ((2, 2, 10), Noise(count=3, apart=7)),
    ((4, 1, 16), Noise(count=5, apart=3, loud=1)),
)
NO_LAYOUT: Mapping[str, str] = {}
GROUPS = ((2, 1), (2, 2), (3, 1), (3, 2), (4, 2))  # C and m of a run whose moments are followed
LENGTHS = {  # its E and T: where all steps are looked at, where one round is, where all rounds are
    "k": ((1, 1), (1_200, 1), (40, 1)),
    "t": ((1, 1), (10_000, 1), (100, 1), (10**6, 1)),
    "T": ((1, 10**9), (10**6, 10**12), (1, 1), (10**4, 10**9), (100, 10**4)),
}


def long_shapes(reading: Reading) -> list[Shape]:
    """Users in a basin, whose moments say all of a run: where a claim reads values of F, or a step that is picked."""
    measures = reading.claim["method"]["measures"].values()
    long = any(measure.get("over", [""])[0] == "picked_step" for measure in measures) or asked.reads(reading, "f_i")
    if not long or not asked.has(reading, "lipschitz_hessian") or reading.dropped:
        return []
    index = next((index for index in ("k", "T") if any(index in measure["at"] for measure in measures)), "t")
    noises, (sampling,) = asked.choices(reading)
    flags = {"draws": "twice", "rounds": "alike", "steps": "alike"}
    proposed: list[Shape] = []
    for (E, T), (C, m), noise in product(LENGTHS[index], GROUPS, noises):
        counts = {"C": C, "d": 1, "E": E, "T": T}
        starts = [dict[str, str](), *([{"start": "between"}] if noise == "none" else [])][::-1]
        large = index == "k" and LENGTHS["k"][-1][0] < E  # where every step is looked at
        if meets_counts(reading, counts) and (noise == "none" or C < 4) and (not large or (C, noise) == (2, "none")):
            proposed += [shape(counts, losses()["basin"], Noise(noise), sampling, m, flags | start) for start in starts]
    return proposed


def sparse_shapes(reading: Reading) -> list[Shape]:
    """Many rounds with noise at a few steps, where all its outcomes are walked."""
    noisy = not asked.argument(reading, "exact_variance") and not asked.one_round(reading.claim)
    kinds = [kind for kind in asked.choices(reading)[0] if noisy and kind != "none"]
    least = 2 if reading.dropped or asked.uses(reading, "neighbours") else 1
    proposed: list[Shape] = []
    for ((C, E, T), few), kind, family, g, layout in product(
        SPARSE, kinds, asked.families(reading), asked.regularisers(reading), asked.layouts(reading)
    ):
        counts = {"C": C, "d": 1, "E": E, "T": T}
        if least > C or family.updates < E * T or "start" in layout or asked.uses(reading, "sampled"):
            continue
        flags = {**layout, **({"regulariser": g} if g else {})}
        one = shape(counts, family, replace(few, kind=kind), "", 0, flags)
        walked = outcomes(with_noise(one, Noise(kind)), family, asked.counts_steps(reading)) > 1
        if walked and rational(reading, counts) and fits(reading, one, family, small=False):
            proposed.append(one)
    return proposed


def family(shape: Shape) -> Family:
    return losses()[shape.flag("loss")]


def sampling(shape: Shape) -> tuple[str, int] | None:
    kind = shape.flag("sampling")
    return (kind, shape["m"]) if kind != "all" else None


def shape(
    counts: Mapping[str, int],
    family: Family,
    noise: Noise,
    sampling: str,
    m: int,
    layout: Mapping[str, str] = NO_LAYOUT,
) -> Shape:
    flags = {"loss": family.name, **noise.flags, "sampling": sampling or "all", **layout}
    batch = {"b": 4 if not noise.law.silent and counts["E"] > 1 else 1} if "regulariser" in layout else {}
    return Shape.of(flags, **counts, **batch, **noise.sizes, **({"m": m} if sampling else {}))


def noise(shape: Shape) -> Noise:
    return Noise.of(dict(shape.flags), dict(shape.counts))


def with_noise(shape: Shape, other: Noise) -> Shape:
    """The same shape with other noise."""
    own = noise(shape)
    if other == own:
        return shape
    flags = {name: value for name, value in shape.flags if name not in own.flags}
    counts = {name: size for name, size in shape.counts if name not in own.sizes}
    return Shape.of(flags | other.flags, **counts, **other.sizes)


def taking_part(C: int) -> Sequence[int]:
    """How many of C clients are drawn: of a crowd there are too many ways to draw, but for one, all, or all but one."""
    return range(1, C + 1) if C * (C - 1) // 2 <= MOST_PATHS else (1, C - 1, C)


def draws(shape: Shape, counts_steps: bool) -> int:
    """Local steps of a run, over all rounds."""
    return shape["T"] * (1 if counts_steps else shape["E"])


def fits(reading: Reading, shape: Shape, family: Family, small: bool) -> bool:
    sizes = dict(shape.counts)
    if sizes["d"] > family.dimensions or not meets_counts(reading, sizes):
        return False
    if sizes["d"] > 1 and asked.reads(reading, "norm"):  # lengths are rational along a line
        return False
    if "draws" in dict(shape.flags) and shape.flag("noise") != "none" and sizes["C"] > 2:  # 64 signs a step, and more
        return False
    g = FAMILIES[dict(shape.flags).get("regulariser", "none")]
    regularised = "regulariser" in dict(shape.flags)
    if regularised and sizes["d"] > (2 if not g.affine else 1_000 if family.affine else 1):
        return False
    if not g.affine and not family.affine and sizes["d"] > 1:
        return False
    if "mu_at_most_L" in reading.dropped and (not family.affine or g.name != "none" or sizes["C"] != 2):
        return False
    plain = shape.flag("noise") == "none" and sizes["E"] < 4 and sizes["C"] < 3
    if g.name in ("pinball", "ridge") and not (small and plain):  # variants of the l1 norm and of none
        return False
    steps = asked.counts_steps(reading)
    affine = family.affine and g.affine and not steps and not asked.reads(reading, "g", "conjugate")
    if sampling(shape) is None and (affine or shape.flag("noise") == "none"):
        return small or family.affine or sizes["d"] == 1
    return outcomes(shape, family, steps) <= MOST_PATHS


def outcomes(shape: Shape, family: Family, counts_steps: bool) -> int:
    """Paths of noise and of who takes part; of affine rules with noise alone the moments are known."""
    if "oracle" in dict(shape.flags):
        return data.outcomes(shape)
    own, drawn, total = noise(shape), sampling(shape), draws(shape, counts_steps)
    g = FAMILIES[dict(shape.flags).get("regulariser", "none")]
    moments = family.affine and g.affine and not counts_steps and own.steps(total) is None
    if drawn is None and (moments or own.law.silent):
        return 1
    twice = dict(shape.flags).get("draws") == "twice"
    return paths_needed(shape["T"], shape["C"], own.signs(total, shape["C"], twice), drawn)


def sizes(reading: Reading, axis: str) -> list[int]:
    """Sizes worth trying along an axis: small ones, and those near a number that a condition compares it with."""
    near: set[int] = set()
    for op, left, right in reading.claim["when"]:
        for one, other in ((left, right), (right, left)):
            if one == axis and isinstance(other, str) and other.isdigit():
                near |= {int(other), int(other) + 1} if op != "=" else {int(other)}
    near |= {4, 9} if axis in asked.roots(reading) else set()
    if axis in asked.below_roots(reading):
        near |= set(SQUARES[:2])
    fitting = [n for n in sorted({*SMALL[axis], *near}) if n > 0 and alone(reading, axis, n)]
    return fitting or [max(SMALL[axis])]


def rational(reading: Reading, sizes: Mapping[str, int]) -> bool:
    """Whether E and T are squares where a chosen step size has their root. Where t is below it, balls will do."""
    below = asked.below_roots(reading)
    return "t" in below or all(sizes[name] in SQUARES for name in ("E", "T") if name in below)


def alone(reading: Reading, axis: str, size: int) -> bool:
    return meets_counts(reading, {axis: size})


def meets_counts(reading: Reading, sizes: Mapping[str, int]) -> bool:
    """Whether the conditions that speak of these counts alone hold, and no range of theirs is empty."""
    table = Table(1, {}, {}, {**sizes, "D": sizes.get("d", 1)})
    ranges = [["<=", low, high] for low, high in reading.claim["for_all"].values()]
    for relation in [*reading.claim["when"], *ranges]:
        used = set[tuple[str, bool]]().union(*(names(side) for side in relation[1:]))
        inside = {name for name, _ in used if not name[:1].isdigit() and name[:1] != "-"}
        counted = inside <= {*sizes, *(("D",) if "d" in sizes else ())} and not any(indexed for _, indexed in used)
        if inside and counted and not bool(np.all(Evaluator(table, {}).holds(relation))):
            return False
    return all(isqrt(size) ** 2 == size for axis, size in sizes.items() if axis in asked.roots(reading))
