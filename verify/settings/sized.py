"""The sizes that are worth trying for a statement: small ones, some large, and those near what its conditions name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import isqrt

import numpy as np

from fedaudit.problems.components import losses
from fedaudit.problems.components.family import Family
from fedaudit.problems.components.regularisers import FAMILIES
from fedaudit.problems.interpret import paths_needed

from ..evaluate import Evaluator, Table
from . import asked, data
from .base import Reading, Shape, names

MOST_PATHS = 256
SMALL = {"C": (1, 2, 3), "d": (1, 2), "E": (1, 2, 4), "T": (1, 4)}
SQUARES = (1, 4, 9, 16, 25)
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
            proposed += [shape(counts, losses()["basin"], noise, sampling, m, flags | start) for start in starts]
    return proposed


def family(shape: Shape) -> Family:
    return losses()[shape.flag("loss")]


def sampling(shape: Shape) -> tuple[str, int] | None:
    kind = shape.flag("sampling")
    return (kind, shape["m"]) if kind != "all" else None


def shape(
    counts: Mapping[str, int], family: Family, noise: str, sampling: str, m: int, layout: Mapping[str, str] = NO_LAYOUT
) -> Shape:
    flags = {"loss": family.name, "noise": noise, "sampling": sampling or "all", **layout}
    batch = {"b": 4 if noise != "none" and counts["E"] > 1 else 1} if "regulariser" in layout else {}
    return Shape.of(flags, **counts, **batch, **({"m": m} if sampling else {}))


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
    noisy, shared = shape.flag("noise") != "none", shape.flag("noise") == "shared"
    drawn, g = sampling(shape), FAMILIES[dict(shape.flags).get("regulariser", "none")]
    if drawn is None and ((family.affine and g.affine and not counts_steps) or not noisy):
        return 1
    steps, twice = 1 if counts_steps else shape["E"], dict(shape.flags).get("draws") == "twice"
    return paths_needed(shape["T"], steps, shape["C"], noisy, shared, drawn, twice)


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
    """Whether the chosen step sizes are rational at these sizes: what stands below a root is a square."""
    below = asked.below_roots(reading)
    squares = all(sizes[name] in SQUARES for name in ("E", "T") if name in below)
    return squares and ("t" not in below or sizes["T"] == 1)


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
