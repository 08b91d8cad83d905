"""Any method that is data, on any family of losses: the product of components.

Sizes follow the statement: its conditions on counts choose which are tried. Genes declare their axes, so one reduction
serves all. Constants that an assumption bounds the run by (G) are measured and rounded up; the others are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt, prod
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.bounds.language.assumptions import ASSUMPTIONS
from fedaudit.problems.arrays.genes import Gene, along
from fedaudit.problems.families import losses
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.families.regularisers import FAMILIES, longest
from fedaudit.problems.runs.all_paths import MOST_OUTCOMES
from fedaudit.problems.runs.compiled_method import programme
from fedaudit.problems.runs.path_bounds import bounded

from ...search.claim_trees import parts_at, quantity
from ...search.genome import Genome
from ...search.tree_arrays import Array, Table
from ..base import ExactValues, Genes, Json, LongerRun, Reading, Reductions, Shape
from . import data_points, requirements
from .batch_runs import at_rest, followed, measured, named_sizes, sampled_values
from .exact_instance import exact_instance
from .instance_parts import curvatures, placed, power, regulariser_of
from .limits import Limited, Need, need_of
from .proposed_runs import proposed_runs
from .proposed_sizes import meets_counts
from .run_shapes import family_of, noise_of, outcomes, run_shape
from .smaller_runs import smaller_runs

MANY = {"C": 4, "d": 1, "E": 4, "T": 10}  # a run whose noise is sampled
MU = "mu"  # how papers call a curvature from below
BARELY = 10**6  # how many times less than the problem's slopes


@dataclass(frozen=True)
class RunSetting(Limited):
    """Runs of the statement's method; `for_claim` says which constants bound them, and how T counts."""

    name: str = "run"
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = (
        "nonnegative_weights",
        "independent_noise",
        "equal_weights",
        "two_sided",
        "mu_at_most_L",
        "independent_minibatches",
    )
    declared: tuple[str, ...] = ()
    counts_steps: bool = False
    first_round: bool = False

    def for_claim(self, lowered: Lowered) -> RunSetting:
        reading, claim = Reading(lowered), lowered.claim
        own = replace(self, declared=requirements.declared(claim), droppable=(*self.droppable, *claim["means"]))
        if requirements.reads_data(reading):
            return own
        return replace(
            own,
            counts_steps=requirements.counts_steps(reading),
            first_round=requirements.one_round(claim),
            precision=np.longdouble if requirements.differs(reading) else self.precision,
        )

    def need(self, reading: Reading, shape: Shape) -> Need:
        return _need(self, reading, shape)

    def proposed(self, reading: Reading) -> Sequence[Shape]:
        if requirements.reads_data(reading):
            return data_points.shapes(reading)
        return proposed_runs(reading, self.first_round)

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        return genes_of_run(reading, shape)

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        low, high = curvatures(reading, genome)
        genome = placed(shape, genome)
        noise = noise_of(shape)
        level = noise.level(genome, shape["C"]).max(axis=-1) if "noise" in genome else 0 * high
        rough = "rough" in genome  # where Hessians differ, gradients do, however little
        levels = {
            "steps": level,
            # Where there is noise b is 1 or 4 (`run_shape`), so that its root is rational.
            "minibatches": isqrt(dict(shape.counts).get("b", 1)) * high * genome["scale"] * level,
            "gradients": level + high * genome["scale"] / BARELY if rough else level,
            "Hessians": noise.bends(genome, high, 1).max(axis=(1, 2)) if rough else 0 * high,
        }
        least = {False: low, True: high * genome.get("mu", 0)}  # curvatures of the clients' losses, and of f
        values = {name: levels[record.noise] for name, record in ASSUMPTIONS.items() if record.noise}
        values |= {name: high for name, record in ASSUMPTIONS.items() if record.curvature}
        values |= {name: least[record.of_mean] for name, record in ASSUMPTIONS.items() if record.letter == MU}
        values["bounded_subgradients"] = longest(regulariser_of(shape, genome, high), shape["d"])
        values |= {"lgd": 1 + 0 * high, **family_of(shape).bounds(genome, high, genome["scale"])}
        if requirements.argument(reading, "lipschitz"):
            values["lipschitz"] = family_of(shape).steepest(genome, high, genome["scale"])
        constants = {name: values.get(a, 0 * high) for name, a in requirements.constants(reading).items()}
        constants |= dict.fromkeys(requirements.ones(reading), 1 + 0 * high)
        constants |= {name: size + 0 * high for name, size in named_sizes(reading, shape).items()}
        named = requirements.arguments(reading, family_of(shape).assumption)
        if not set(named) <= set(constants):
            constants |= dict(zip(named, family_of(shape).constants(genome, high, genome["scale"]), strict=True))
        F, W = high * genome["scale"] ** 2, genome["scale"]
        for name in requirements.free_symbols(reading):
            f, w = reading.lowered.scales.get(name, (0.0, 0.0))
            constants[name] = genome[name] * power(F, f) * power(W, w)
        return constants

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        return measured(reading, shape, genome, known)

    def at_rest(self, reading: Reading, shape: Shape, genome: Genome) -> Genome:
        return at_rest(reading, shape, genome)

    def sampled_shape(self, reading: Reading) -> Shape | None:
        """Noise on more paths than can be listed, for claims about a measure at t whose range is known."""
        rules = programme(reading.claim["method"])
        relations = reading.claim["then"]
        about = [part for _, left, _ in relations for part in parts_at(left) if part is left and part[2:] == ["t"]]
        # Where t counts steps, measures at t may read clients, of which nothing is bounded between rounds.
        bounded_measures = not rules.steps and all(bounded(rules, name) for name in rules.measures)
        bounded_measures = bounded_measures and len(about) == len(relations) == 1
        later = {quantity(part) for _, _, right in relations for part in parts_at(right) if part[2:] != ["0"]}
        shape = run_shape(MANY, losses()["bent"], Noise("independent"), "", 0)
        noisy = (
            "independent" in requirements.choices(reading)[0]
            and not reading.dropped
            and not requirements.uses(reading, "sampled")
            and not requirements.uses(reading, "coin")
        )
        noisy = noisy and losses()["bent"] in requirements.families(reading)
        fits = bounded_measures and noisy and not later & set(rules.measures) and meets_counts(reading, MANY)
        return shape if fits else None

    def sampled(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Table]:
        """Sampled values of the left side, and bounds on what constants are measured from that hold on every path."""
        return sampled_values(reading, shape, genome, known, runs, rng)

    def followed(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> Array:
        """Sampled values of the left side alone."""
        return followed(reading, shape, genome, known, runs, rng)

    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        return exact_instance(reading, shape, genome, known)

    def paths(self, shape: Shape) -> int:
        return outcomes(shape, family_of(shape), self.counts_steps)

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        return smaller_runs(self, reading, shape, genome)

    def longer(self, reading: Reading, shape: Shape, genome: Genes) -> Iterator[LongerRun] | None:
        if not requirements.reads_data(reading):
            return None
        return data_points.longer(reading, self.shapes(reading), shape, genome)

    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]:
        if not requirements.reads_data(reading) or not data_points.long(reading):
            return ()
        return data_points.along(reading, self.shapes(reading))


def genes_of_run(reading: Reading, shape: Shape) -> Sequence[Gene]:
    sizes = dict(shape.counts)
    if dict(shape.flags).get("clients") == "alike":
        sizes = {**sizes, "C": 1}
    sizes |= {"kinks": (-1, 1) not in requirements.bends(reading), "own": dict(shape.flags).get("basis") == "own"}
    genes = [Gene("scale", "positive"), along("start", "real", sizes, "d"), *family_of(shape).genes(sizes)]
    genes.append(Gene("curvature", "positive"))
    if "regulariser" in dict(shape.flags):
        genes += FAMILIES[shape.flag("regulariser")].genes()
    genes += [along(f"point_{name}", "real", sizes, "d") for name in requirements.points(reading)]
    if requirements.lifted(reading):
        genes.append(Gene("mu", "positive" if "mu_at_most_L" in reading.dropped else "unit"))
    if (1, None) in requirements.bends(reading):
        genes.append(Gene("ratio", "nonnegative"))
    elif not (
        (0, None) in requirements.bends(reading) or requirements.minimises_each(reading) or family_of(shape).assumption
    ):
        genes.append(Gene("dip", "fraction"))
    if requirements.has(reading, "similarity_weights"):
        pass  # the links say how much a client counts
    elif dict(shape.flags).get("clients") == "alike":
        pass  # and equal clients count the same
    elif not requirements.has(reading, "equal_weights") or "equal_weights" in reading.dropped:
        any_sign = "nonnegative_weights" in reading.dropped and not requirements.uses(reading, "chosen")
        genes.append(along("weight", "real" if any_sign else "positive", sizes, "C"))
    genes += noise_of(shape).genes(sizes, equal=bool(requirements.noise_bounds(reading, "steps", exact=True)))
    if dict(shape.flags).get("weights") == "rows":
        genes.append(along("share", requirements.share(reading), sizes, "T", "C"))
    if requirements.has(reading, "homogeneous"):
        genes = [gene for gene in genes if gene.name != "centre"]
    if (
        requirements.uses(reading, "neighbours")
        and not requirements.has(reading, "broadcast")
        and not requirements.has(reading, "equal_weights")
    ):
        genes.append(Gene("link", "positive", (sizes["C"], sizes["C"]), ("C", "C")))
    genes += data_points.genes(reading, shape) if requirements.reads_data(reading) else []
    genes += [Gene(name, reading.claim["domains"][name]) for name in requirements.free_symbols(reading)]
    steps = requirements.free_steps(reading).items()
    genes += [along(f"step_{name}", "positive", sizes, *("T", "E")[:arity]) for name, arity in steps]
    return [
        replace(g, axes=tuple("" if a == "C" else a for a in g.axes)) if sizes["C"] != shape["C"] else g for g in genes
    ]


@lru_cache(maxsize=1024)
def _need(setting: RunSetting, reading: Reading, shape: Shape) -> Need:
    paths = 1 if shape.brief else min(setting.paths(shape), MOST_OUTCOMES)
    genes = sum(prod(gene.shape) for gene in setting.genes(reading, shape))
    affine, itemsize = family_of(shape).affine, np.dtype(setting.precision).itemsize
    return need_of(reading, shape, paths, genes, itemsize, affine, setting.counts_steps)


SETTING = RunSetting()
