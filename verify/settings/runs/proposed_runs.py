"""The runs that are worth trying for a statement: small ones, some large, and long ones with little noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from fedaudit.problems.families import losses
from fedaudit.problems.families.family import Family
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.families.regularisers import FAMILIES

from ..base import Reading, Shape
from . import requirements
from .proposed_sizes import SMALL, meets_counts, rational, sizes_along
from .run_shapes import outcomes, run_shape, sampling_of, with_noise

LARGE = ((10, 1, 8, 10), (4, 3, 5, 20), (2, 1, 20, 40), (5, 2, 4, 6), (4, 1, 4, 25), (2, 1, 16, 9))  # C, d, E, T
CROWDS = ((15, 1, 1, 1), (16, 1, 1, 1), (18, 1, 1, 1), (24, 1, 1, 1))  # C, d, E, T of many equal clients
MANY_DRAWN = ((5, 1, 1, 1), (6, 1, 2, 1))  # C, d, E, T of many clients of which one or two are drawn
MOST_PATHS = 256
SPARSE = (  # C, E and T of long runs, and their noise: at how many steps, from which on, how far apart, of whom
    ((1, 1, 12), Noise(count=6)),
    ((2, 1, 10), Noise(count=3, first=7)),
    ((2, 2, 10), Noise(count=3, apart=7)),
    ((4, 1, 16), Noise(count=5, apart=3, loud=1)),
)
GROUPS = ((2, 1), (2, 2), (3, 1), (3, 2), (4, 2))  # C and m of a run whose moments are followed
LENGTHS = {  # its E and T: where all steps are looked at, where one round is, where all rounds are
    "k": ((1, 1), (1_200, 1), (40, 1)),
    "t": ((1, 1), (10_000, 1), (100, 1), (10**6, 1)),
    "T": ((1, 10**9), (10**6, 10**12), (1, 1), (10**4, 10**9), (100, 10**4)),
}


def proposed_runs(reading: Reading, first_round: bool) -> list[Shape]:
    """Shapes of runs that are worth trying; `first_round`: whether the claim reads that one alone."""
    small, large, drawn = _small_sizes(reading, first_round), _sizes_of(LARGE), _sizes_of(MANY_DRAWN)
    if reading.dropped:  # elsewhere floats may see a run whose step sizes are irrational, and the kernel does not
        large = [counts for counts in large if rational(reading, counts)]
    drawn = [counts for counts in drawn if rational(reading, counts)]
    proposed: list[Shape] = []
    for counts, family, noise, sampling, layout in product(
        small + large + drawn,
        requirements.families(reading),
        *requirements.choices(reading),
        requirements.layouts(reading),
    ):
        few = {**counts, "E": min(counts["E"], family.updates)}
        if (counts in drawn and (not sampling or noise != "none")) or (sampling and counts not in small + drawn):
            continue
        if layout.get("start") and (counts["C"] == 1 or counts not in small or noise != "none"):
            continue
        groups = taking_part(counts["C"]) if counts not in drawn else (1, 2)
        for m, g in product(groups if sampling else (0,), requirements.regularisers(reading)):
            flags = {**layout, **({"regulariser": g} if g else {})}
            loud = int(noise == "rough" and counts["d"] > 1)  # of all clients there would be too many outcomes
            own = Noise(noise, loud=loud)
            shape = run_shape(few, family, own, sampling, m, flags)
            if fits(reading, shape, family, counts in small) and shape not in proposed:
                proposed.append(shape)
    if "none" in requirements.regularisers(reading) and "independent" in requirements.choices(reading)[0]:
        proposed = _crowds(reading) + proposed
    proposed = long_shapes(reading) + proposed + sparse_shapes(reading)
    if reading.claim["kind"] == "identity":  # with one client there is often nothing to compare
        proposed.sort(key=lambda shape: shape["C"] == 1)
    return proposed


def _small_sizes(reading: Reading, first_round: bool) -> list[dict[str, int]]:
    """All small sizes that hang together, those with several variables for the fewest clients alone."""
    along = {axis: sizes_along(reading, axis) for axis in SMALL}
    if requirements.one_round(reading.claim):
        along["T"] = [1]
    least = 2 if reading.dropped else requirements.least_clients(reading)  # a literal reading is about several clients
    along["C"] = [C for C in along["C"] if least <= C] or [least]
    small = [dict(zip(SMALL, values, strict=True)) for values in product(*along.values())]
    if requirements.counts_steps(reading):
        once = [one for one in small if one["T"] == 1]
        small = [one | {"T": one["E"] * R} for one in once for R in ((1, 2, 9) if one["E"] == 1 else (1, 2))]
    if requirements.uses(reading, "weighted") or requirements.uses(reading, "sampled"):
        # of one client there is nothing to weigh or draw
        small = sorted(small, key=lambda one: (one["C"] == 1, first_round and one["E"] == 1))
    small = [one for one in small if one["d"] == 1 or one["C"] == max(2, min(along["C"]))]
    return [one for one in small if rational(reading, one)]


def _sizes_of(rows: Sequence[tuple[int, ...]]) -> list[dict[str, int]]:
    return [dict(zip(SMALL, values, strict=True)) for values in rows]


def _crowds(reading: Reading) -> list[Shape]:
    """Many equal clients, whose noise averages out."""
    quadratic, flags = losses()["quadratic"], {"regulariser": "none", "clients": "alike"}
    shapes = [run_shape(counts, quadratic, Noise("independent"), "", 0, flags) for counts in _sizes_of(CROWDS)]
    return [shape for shape in shapes if fits(reading, shape, quadratic, small=False)]


def long_shapes(reading: Reading) -> list[Shape]:
    """Users in a basin, whose moments say all of a run: where a claim reads values of F, or a step that is picked."""
    measures = reading.claim["method"]["measures"].values()
    long = any(measure.get("over", [""])[0] == "picked_step" for measure in measures) or requirements.reads(
        reading, "f_i"
    )
    if not long or not requirements.has(reading, "lipschitz_hessian") or reading.dropped:
        return []
    index = next((index for index in ("k", "T") if any(index in measure["at"] for measure in measures)), "t")
    noises, (sampling,) = requirements.choices(reading)
    flags = {"draws": "twice", "rounds": "alike", "steps": "alike"}
    proposed: list[Shape] = []
    for (E, T), (C, m), noise in product(LENGTHS[index], GROUPS, noises):
        counts = {"C": C, "d": 1, "E": E, "T": T}
        starts = [dict[str, str](), *([{"start": "between"}] if noise == "none" else [])][::-1]
        large = index == "k" and LENGTHS["k"][-1][0] < E  # where every step is looked at
        if meets_counts(reading, counts) and (noise == "none" or C < 4) and (not large or (C, noise) == (2, "none")):
            proposed += [
                run_shape(counts, losses()["basin"], Noise(noise), sampling, m, flags | start) for start in starts
            ]
    return proposed


def sparse_shapes(reading: Reading) -> list[Shape]:
    """Many rounds with noise at a few steps, where all its outcomes are walked."""
    noisy = not requirements.noise_bounds(reading, "steps", exact=True) and not requirements.one_round(reading.claim)
    kinds = [kind for kind in requirements.choices(reading)[0] if noisy and kind != "none"]
    least = 2 if reading.dropped or requirements.uses(reading, "neighbours") else 1
    proposed: list[Shape] = []
    for ((C, E, T), few), kind, family, g, layout in product(
        SPARSE, kinds, requirements.families(reading), requirements.regularisers(reading), requirements.layouts(reading)
    ):
        counts = {"C": C, "d": 1, "E": E, "T": T}
        if least > C or family.updates < E * T or "start" in layout or requirements.uses(reading, "sampled"):
            continue
        flags = {**layout, **({"regulariser": g} if g else {})}
        one = run_shape(counts, family, replace(few, kind=kind), "", 0, flags)
        walked = outcomes(with_noise(one, Noise(kind)), family, requirements.counts_steps(reading)) > 1
        if walked and rational(reading, counts) and fits(reading, one, family, small=False):
            proposed.append(one)
    return proposed


def taking_part(C: int) -> Sequence[int]:
    """How many of C clients are drawn: of a crowd there are too many ways to draw, but for one, all, or all but one."""
    return range(1, C + 1) if C * (C - 1) // 2 <= MOST_PATHS else (1, C - 1, C)


def fits(reading: Reading, shape: Shape, family: Family, small: bool) -> bool:
    sizes = dict(shape.counts)
    if sizes["d"] > family.dimensions or not meets_counts(reading, sizes):
        return False
    if sizes["d"] > 1 and requirements.reads(reading, "norm"):  # lengths are rational along a line
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
    steps = requirements.counts_steps(reading)
    affine = family.affine and g.affine and not steps and not requirements.reads(reading, "g", "conjugate")
    certain = sampling_of(shape) is None and "coin" not in dict(shape.flags)
    if certain and (affine or shape.flag("noise") == "none"):
        return small or family.affine or sizes["d"] == 1
    return outcomes(shape, family, steps) <= MOST_PATHS
