"""Any method that is data, on any family of losses: the product of components.

Sizes follow the statement: its conditions on counts choose which are tried. Genes declare their axes, so one reduction
serves all. Constants that an assumption bounds the run by (G) are measured and rounded up; the others are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from math import isqrt, prod
from typing import Any

import numpy as np

from fedaudit.problems.arrays.genes import Gene, along
from fedaudit.problems.families import losses
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.families.regularisers import FAMILIES, longest, minimiser
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.losses.regularised import minimiser as least
from fedaudit.problems.runs.all_paths import MOST_OUTCOMES
from fedaudit.problems.runs.compiled_method import programme
from fedaudit.problems.runs.interpreter import Setup, run
from fedaudit.problems.runs.path_bounds import bounded, reach

from ...search.genome import Genome
from ...search.tree_arrays import Array, Evaluator, Quantity, Table
from ..base import Reading, Shape, text, to_backend, to_numpy
from . import data_points as data
from . import proposed_sizes as sized
from . import requirements as asked
from .limits import Affordable, Need, affordable, need_of

LARGE = (
    (10, 1, 8, 10),
    (4, 3, 5, 20),
    (2, 1, 20, 40),
    (5, 2, 4, 6),
    (4, 1, 4, 25),
    (2, 1, 16, 9),
)  # C, d, E, T
MANY = {"C": 4, "d": 1, "E": 4, "T": 10}  # a run whose noise is sampled
CROWDS = (
    (15, 1, 1, 1),
    (16, 1, 1, 1),
    (18, 1, 1, 1),
    (24, 1, 1, 1),
)  # C, d, E, T of many equal clients, whose noise averages out
MANY_DRAWN = ((5, 1, 1, 1), (6, 1, 2, 1))  # C, d, E, T of many clients of which one or two are drawn
DEEP = 10  # how far below -L a curvature may go where smoothness is said from above only
FAR_SIZE = 30  # of long runs: not shortened one by one
FAR = 1e100  # a run that has left the floats says nothing
LENGTH = 1e12  # how much coarser lengths are rounded than their squares
BARELY = 10**6  # how many times less than the problem's slopes
ROUNDING = 1e-13  # of an instance's values: below this a heterogeneity is 0


@dataclass(frozen=True, slots=True)
class RunSetting:
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
    declared: tuple[str, ...] = ()  # constants that bound the run
    counts_steps: bool = False  # whether T counts local steps over all rounds
    first_round: bool = False  # whether the claim reads the first round alone

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return self.affordable(reading).shapes

    def affordable(self, reading: Reading) -> Affordable:
        """The proposed shapes that the reading's limits allow."""
        return _affordable(self, reading)

    def need(self, reading: Reading, shape: Shape) -> Need:
        """What one instance of a shape takes."""
        return _need(self, reading, shape)

    def proposed(self, reading: Reading) -> Sequence[Shape]:
        """Shapes worth trying."""
        if data.reads_data(reading):
            return data.shapes(reading)
        sizes = {axis: sized.sizes(reading, axis) for axis in sized.SMALL} | (
            {"T": [1]} if asked.one_round(reading.claim) else {}
        )
        least = 2 if reading.dropped else _least(reading)  # a literal reading differs only with several clients
        sizes["C"] = [C for C in sizes["C"] if least <= C] or [least]
        small = [dict(zip(sized.SMALL, values, strict=True)) for values in product(*sizes.values())]
        if asked.counts_steps(reading):
            once = [one for one in small if one["T"] == 1]
            small = [one | {"T": one["E"] * R} for one in once for R in ((1, 2, 9) if one["E"] == 1 else (1, 2))]
        if asked.uses(reading, "weighted") or asked.uses(
            reading, "sampled"
        ):  # of one client there is nothing to weigh or draw
            small = sorted(small, key=lambda one: (one["C"] == 1, self.first_round and one["E"] == 1))
        small = [one for one in small if one["d"] == 1 or one["C"] == max(2, min(sizes["C"]))]
        small = [one for one in small if sized.rational(reading, one)]
        large = [dict(zip(sized.SMALL, values, strict=True)) for values in LARGE]
        if reading.dropped:  # elsewhere floats may see a run whose step sizes are irrational, and the kernel does not
            large = [one for one in large if sized.rational(reading, one)]
        drawn = [dict(zip(sized.SMALL, values, strict=True)) for values in MANY_DRAWN]
        drawn = [one for one in drawn if sized.rational(reading, one)]
        proposed: list[Shape] = []
        for counts, family, noise, sampling, layout in product(
            small + large + drawn, asked.families(reading), *asked.choices(reading), asked.layouts(reading)
        ):
            few = {**counts, "E": min(counts["E"], family.updates)}
            if (counts in drawn and (not sampling or noise != "none")) or (sampling and counts not in small + drawn):
                continue
            if layout.get("start") and (counts["C"] == 1 or counts not in small or noise != "none"):
                continue
            taking_part = sized.taking_part(counts["C"]) if counts not in drawn else (1, 2)
            for m, g in product(taking_part if sampling else (0,), asked.regularisers(reading)):
                flags = {**layout, **({"regulariser": g} if g else {})}
                loud = int(noise == "rough" and counts["d"] > 1)  # of all clients there would be too many outcomes
                own = Noise(noise, loud=loud)
                shape = sized.shape(few, family, own, sampling, m, flags)
                if sized.fits(reading, shape, family, counts in small) and shape not in proposed:
                    proposed.append(shape)
        if "none" in asked.regularisers(reading) and "independent" in asked.choices(reading)[0]:
            crowds = [dict(zip(sized.SMALL, values, strict=True)) for values in CROWDS]
            alike = [
                sized.shape(
                    counts,
                    losses()["quadratic"],
                    Noise("independent"),
                    "",
                    0,
                    {"regulariser": "none", "clients": "alike"},
                )
                for counts in crowds
            ]
            proposed = [s for s in alike if sized.fits(reading, s, losses()["quadratic"], small=False)] + proposed
        proposed = sized.long_shapes(reading) + proposed + sized.sparse_shapes(reading)
        if reading.claim["kind"] == "identity":  # with one client there is often nothing to compare
            proposed.sort(key=lambda shape: shape["C"] == 1)
        return proposed

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        sizes = dict(shape.counts)
        if dict(shape.flags).get("clients") == "alike":
            sizes = {**sizes, "C": 1}
        sizes |= {"kinks": not asked.has(reading, "smooth"), "own": dict(shape.flags).get("basis") == "own"}
        genes = [Gene("scale", "positive"), along("start", "real", sizes, "d"), *sized.family(shape).genes(sizes)]
        genes.append(Gene("curvature", "positive"))
        if "regulariser" in dict(shape.flags):
            genes += FAMILIES[shape.flag("regulariser")].genes()
        genes += [along(f"point_{name}", "real", sizes, "d") for name in asked.points(reading)]
        if asked.lifted(reading):
            genes.append(Gene("mu", "positive" if "mu_at_most_L" in reading.dropped else "unit"))
        if asked.argument(reading, "strongly_convex"):
            genes.append(Gene("ratio", "nonnegative"))
        elif not (asked.has(reading, "convex") or asked.minimises_each(reading) or sized.family(shape).assumption):
            genes.append(Gene("dip", "fraction"))
        if asked.has(reading, "similarity_weights"):
            pass  # the links say how much a client counts
        elif dict(shape.flags).get("clients") == "alike":
            pass  # and equal clients count the same
        elif not asked.has(reading, "equal_weights") or "equal_weights" in reading.dropped:
            any_sign = "nonnegative_weights" in reading.dropped and not asked.uses(reading, "chosen")
            genes.append(along("weight", "real" if any_sign else "positive", sizes, "C"))
        genes += sized.noise(shape).genes(sizes, equal=bool(asked.argument(reading, "exact_variance")))
        if dict(shape.flags).get("weights") == "rows":
            genes.append(along("share", asked.share(reading), sizes, "T", "C"))
        if asked.has(reading, "homogeneous"):
            genes = [gene for gene in genes if gene.name != "centre"]
        if (
            asked.uses(reading, "neighbours")
            and not asked.has(reading, "broadcast")
            and not asked.has(reading, "equal_weights")
        ):
            genes.append(Gene("link", "positive", (sizes["C"], sizes["C"]), ("C", "C")))
        genes += data.genes(reading, shape) if data.reads_data(reading) else []
        genes += [Gene(name, reading.claim["domains"][name]) for name in asked.free_symbols(reading)]
        steps = asked.free_steps(reading).items()
        genes += [along(f"step_{name}", "positive", sizes, *("T", "E")[:arity]) for name, arity in steps]
        return [
            replace(g, axes=tuple("" if a == "C" else a for a in g.axes)) if sizes["C"] != shape["C"] else g
            for g in genes
        ]

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        low, high = _curvatures(reading, genome)
        genome = _placed(shape, genome)
        values = {"smooth": high, "strongly_convex": low, "descent": high}
        noise = sized.noise(shape)
        values["bounded_variance"] = noise.level(genome, shape["C"]).max(axis=-1) if "noise" in genome else 0 * high
        values["exact_variance"] = values["gradient_variance"] = values["bounded_variance"]
        if "rough" in genome:  # where Hessians differ, gradients do, however little
            values["hessian_variance"] = noise.bends(genome, high, 1).max(axis=(1, 2))
            values["gradient_variance"] = values["bounded_variance"] + high * genome["scale"] / BARELY
        values["minibatch_variance"] = (
            isqrt(dict(shape.counts).get("b", 1)) * high * genome["scale"] * values["bounded_variance"]
        )
        values["prox_pl"] = values["mean_strongly_convex"] = high * genome.get("mu", 0)
        values["bounded_subgradients"] = longest(_regulariser(shape, genome, high), shape["d"])
        values |= {
            "weakly_convex": high,
            "lgd": 1 + 0 * high,
            **sized.family(shape).bounds(genome, high, genome["scale"]),
        }
        if asked.argument(reading, "lipschitz"):
            values["lipschitz"] = sized.family(shape).steepest(genome, high, genome["scale"])
        known = {name: values.get(a, 0 * high) for name, a in asked.constants(reading).items()}
        known |= dict.fromkeys(asked.ones(reading), 1 + 0 * high)
        known |= {name: size + 0 * high for name, size in _named_sizes(reading, shape).items()}
        named = asked.arguments(reading, sized.family(shape).assumption)
        if not set(named) <= set(known):
            known |= dict(zip(named, sized.family(shape).constants(genome, high, genome["scale"]), strict=True))
        F, W = high * genome["scale"] ** 2, genome["scale"]
        for name in asked.free_symbols(reading):
            f, w = reading.lowered.scales.get(name, (0.0, 0.0))
            known[name] = genome[name] * _power(F, f) * _power(W, w)
        return known

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        known = self.with_steps(reading, shape, genome, known)
        clients = shape["C"]
        shape = shape.but(C=1, m=1) if shape.one_for_all else shape
        parts = _parts(reading, shape, genome, known.scalars)
        if data.reads_data(reading):
            parts["oracle"] = data.oracle(reading, shape, genome, known)
        setup = replace(_setup(reading, shape, parts, known), until=asked.until(reading, dict(shape.counts)))
        measured = {name: to_numpy(values) for name, values in run(reading.claim["method"], setup).items()}
        quantities, scalars = {**known.quantities, "p": Quantity(parts["p"], (1,))}, dict(known.scalars)
        bounded = np.ones(known.n, dtype=bool)
        if asked.has(reading, "lower_bounded"):
            bounded = np.isfinite(to_numpy(setup.w_star)).all(axis=1)
        for name, values in measured.items():
            at = reading.claim["method"]["measures"][name]["at"]
            if shape.one_for_all and "i" in at:
                values = np.repeat(values, clients, axis=1 + at.index("i"))
            start = _starts(reading, name, shape["T"])
            inside = (np.abs(values) < FAR) & bounded.reshape((-1,) + (1,) * (values.ndim - 1))
            usable = np.where(inside, values, np.nan)
            if start:
                quantities[name] = Quantity(usable, start)
            else:
                scalars[name] = _inside(usable, reading.claim["domains"][name])
        if reading.uses("Gamma"):
            scalars["Gamma"] = to_numpy(setup.problem.heterogeneity())
        if inexact := asked.argument(reading, "inexact"):
            scalars[inexact] = reduce(np.maximum, (to_numpy(gap) for gap in setup.gaps), 0 * parts["high"])
        if gap := asked.arguments(reading, "meta_gap"):
            alpha = to_backend(reading.backend, known.scalars[gap[1]])
            scalars[gap[0]] = to_numpy(setup.problem.meta_gap(setup.start, alpha))
        far = np.maximum(np.abs(parts["w0"]).max(axis=1), np.abs(parts["loss"]["c"]).max(axis=(1, 2)))
        W = np.where(far > 0, far, 1.0)
        steep = sum(scalars[name] for name, a in asked.constants(reading).items() if a == "bounded_gradients")
        scale = _curvatures(reading, genome)[1] * W**2 + steep * W, W * (LENGTH if asked.reads(reading, "norm") else 1)
        return _with_bounds(reading, Table(known.n, scalars, quantities, known.counts, scale))

    def sampled_shape(self, reading: Reading) -> Shape | None:
        """Noise on more paths than can be listed, for claims about a measure at t whose range is known."""
        rules = programme(reading.claim["method"])
        relations = reading.claim["then"]
        about = [
            part for _, left, _ in relations for part in asked.parts_at(left) if part is left and part[2:] == ["t"]
        ]
        known = all(bounded(rules, name) for name in rules.measures) and len(about) == len(relations) == 1
        later = {part[1] for _, _, right in relations for part in asked.parts_at(right) if part[2:] != ["0"]}
        shape = sized.shape(MANY, losses()["bent"], Noise("independent"), "", 0)
        noisy = (
            "independent" in asked.choices(reading)[0] and not reading.dropped and not asked.uses(reading, "sampled")
        )
        noisy = noisy and losses()["bent"] in asked.families(reading)
        fits = known and noisy and not later & set(rules.measures) and sized.meets_counts(reading, MANY)
        return shape if fits else None

    def sampled(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> tuple[Array, Array, Table]:
        """Sampled values of the left side, and bounds on what constants are measured from that hold on every path."""
        known = self.with_steps(reading, shape, genome, known)
        parts, setup = _sampling(reading, shape, genome, known, runs, rng)
        method = reading.claim["method"]
        low, high = (to_backend(reading.backend, x) for x in _curvatures(reading, genome))
        farthest = {name: to_numpy(x) for name, x in reach(method, setup, low, high).items()}
        only = {**method, "measures": {k: m for k, m in method["measures"].items() if "k" not in m["at"]}}
        values = {name: to_numpy(x) for name, x in run(only, setup).items()}
        quantities = {**known.quantities, "p": Quantity(parts["p"], (1,))}
        for name, bound in farthest.items():  # before the first round nothing is random
            start = _starts(reading, name, shape["T"])
            first = np.broadcast_to(values[name][:, :1, ..., 0], bound.shape) if name in values else bound
            quantities[name] = Quantity(first, start)
        scalars = dict(known.scalars)
        if reading.uses("Gamma"):
            scalars["Gamma"] = to_numpy(setup.problem.heterogeneity())
        table = Table(known.n, scalars, quantities, known.counts)
        table = _with_bounds(reading, table)
        left = reading.claim["then"][0][1][1]
        return values[left], farthest[left], table

    def followed(
        self, reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
    ) -> Array:
        """Sampled values of the left side alone."""
        known = self.with_steps(reading, shape, genome, known)
        _, setup = _sampling(reading, shape, genome, known, runs, rng)
        method, left = reading.claim["method"], reading.claim["then"][0][1][1]
        return to_numpy(run({**method, "measures": {left: method["measures"][left]}}, setup)[left])

    def with_steps(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """Step sizes that neither the statement nor its sweep gives, and those of the round before."""
        free, before = asked.free_steps(reading), reading.claim["method"].get("before", {})
        if not free and not before:
            return known
        F, W = _curvatures(reading, genome)[1] * genome["scale"] ** 2, genome["scale"]
        quantities = dict(known.quantities)
        for name, arity in free.items():
            f, w = reading.lowered.scales.get(name, (0.0, 0.0))
            unit = (_power(F, f) * _power(W, w)).reshape((-1,) + (1,) * arity)
            quantities[name] = Quantity(genome[f"step_{name}"] * unit, (0,) * arity)
        for name, now in before.items():
            steps = quantities[now].values
            quantities[name] = Quantity(np.concatenate([0 * steps[:, :1], steps[:, :-1]], axis=1), (0,))
        return Table(known.n, known.scalars, quantities, known.counts)

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        batch = {k: v[None] for k, v in genome.items()}
        given = {name: np.array([value], dtype=object) for name, value in known["scalars"].items()}
        parts = _parts(reading, shape, batch, given)
        loss = {k: v[0] for k, v in parts["loss"].items()}
        p, sizes = parts["p"][0], dict(shape.counts)
        scalars = dict(known["scalars"])
        constants = {name: text(scalars.pop(name)) for name in asked.constants(reading) if name in scalars}
        instance: dict[str, Any] = {
            **{name: sizes[name] for name in ("C", "d", "E", "T")},
            "p": text(p),
            "w0": text(parts["w0"][0]),
            "constants": constants,
            "parameters": {k: text(v) for k, v in scalars.items() if k not in _named_sizes(reading, shape)}
            | ({"b": str(sizes["b"])} if "b" in sizes and "oracle" not in dict(shape.flags) else {}),
            "clients": [
                {k: v if isinstance(v, str) else text(v) for k, v in client.items()}
                for client in sized.family(shape).clients(loss)
            ],
            "noise": sized.noise(shape).written(
                text(parts["v"][0]),
                text(parts["h"][0]) if "h" in parts else None,
                sized.draws(shape, asked.counts_steps(reading)),
            ),
        }
        g = {k: v[0] for k, v in parts["regulariser"].items()}
        if "regulariser" in dict(shape.flags):
            instance["regulariser"] = {
                k: v if k == "kind" else text(v) for k, v in FAMILIES[shape.flag("regulariser")].written(g).items()
            }
        if asked.points(reading):
            instance["points"] = {name: text(x[0]) for name, x in parts["points"].items()}
        w_star = None
        if asked.reads_minimum(reading) and not any(g.values()):
            w_star = sized.family(shape).minimiser(loss, p)
        elif asked.reads_minimum(reading) and "A" in loss and shape["d"] > 1:
            A, b = (p[:, None, None] * loss["A"]).sum(axis=0), (p[:, None] * loss["b"]).sum(axis=0)
            w_star = minimiser(A, b, g)
        if w_star is not None:
            instance["w_star"] = text(w_star)
        if asked.minimises_each(reading):
            instance["minimisers"] = text(loss["c"])
        if asked.uses(reading, "chosen"):
            rows = {"kind": "rows", "rows": text(parts["rows"][0])} if "rows" in parts else {"kind": "largest"}
            instance["weights"] = rows
        if sampling := sized.sampling(shape):
            instance["participation"] = {"kind": sampling[0], "m": sampling[1]}
        if (box := sized.family(shape).box(loss)) is not None:
            instance["box"] = {"low": text(box[0][0]), "high": text(box[1][0])}
        if "graph" in parts:
            instance["graph"] = text(parts["graph"][0])
        if "oracle" in dict(shape.flags):
            if "b" in sizes:
                instance["minibatch"] = {"b": sizes["b"], "shared": dict(shape.flags).get("draws") == "shared"}
            answers = data.exact_oracle(reading, shape, batch, known["scalars"])
            if answers is not None:
                step, shift = answers[0][0], answers[1][0]
                instance["oracle"] = {"step": text(step), "shift": text(shift if sizes["d"] > 1 else shift[..., 0])}
        needed = set(asked.steps(reading)) - set(reading.claim["choose"])
        if needed:
            instance["steps"] = {name: self.exact_steps(reading, shape, batch, known, name) for name in sorted(needed)}
        return instance

    def exact_steps(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any], name: str
    ) -> Any:
        if name in known["quantities"]:
            return [text(x) for x in known["quantities"][name]]
        f, w = reading.lowered.scales.get(name, (0.0, 0.0))
        high, scale = _curvatures(reading, genome)[1][0], genome["scale"][0]
        unit = _power(high * scale**2, f) * _power(scale, w)
        return text(genome[f"step_{name}"][0] * unit)

    def paths(self, shape: Shape) -> int:
        """Outcomes that a run walks."""
        return sized.outcomes(shape, sized.family(shape), self.counts_steps)

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        """One entry less along an axis, shorter runs, no noise: whatever the genes are."""
        genes = {gene.name: gene for gene in self.genes(reading, shape)}
        sizes = dict(shape.counts)
        if data.reads_data(reading):
            if sizes["d"] > 1:
                less = shape.but(d=sizes["d"] - 1)
                yield less, data.cut(genome, genes, {gene.name: gene for gene in self.genes(reading, less)})
            yield from data.reductions(reading, shape, genome, {name: gene.axes for name, gene in genes.items()})
            return
        smaller: list[tuple[Shape, dict[str, Array]]] = []
        if dict(shape.flags).get("clients") == "alike":
            smaller += [(shape.but(C=n), dict(genome)) for n in sorted({1, sizes["C"] // 2, sizes["C"] - 1}) if n > 0]
        for axis in ("C", "d"):
            if axis == "C" and dict(shape.flags).get("clients") == "alike":
                continue
            if sizes[axis] > (_least(reading) if axis == "C" else 1) and (
                axis == "d" or sizes.get("m", 0) < sizes["C"]
            ):
                less = shape.but(**{axis: sizes[axis] - 1})
                smaller += [(less, _without(genes, genome, axis, out)) for out in range(sizes[axis])]
        for axis in ("T", "E", "m"):
            size = sizes.get(axis, 1)
            less = {size // 10, size * 3 // 4} if shape.follows_moments and size > FAR_SIZE else {size - 1}
            shorter = [n for n in sorted({1, 2, size // 2, *less}) if 0 < n < size]
            for n in shorter:
                short = shape.but(**{axis: n})
                noise = sized.noise(short).within(sized.draws(short, asked.counts_steps(reading)))
                smaller.append((sized.with_noise(short, noise), _first(genes, genome, axis, n)))
        smaller += [(sized.with_noise(shape, noise), dict(genome)) for noise in sized.noise(shape).fewer()]
        if (simpler := sized.family(shape).straight) and sizes["d"] == 1:
            straight = Shape(shape.counts, tuple((k, simpler if k == "loss" else v) for k, v in shape.flags))
            smaller.append((straight, dict(genome)))
        if "none" in asked.regularisers(reading) and dict(shape.flags).get("regulariser") not in (None, "none"):
            plain = Shape(shape.counts, tuple((k, "none" if k == "regulariser" else v) for k, v in shape.flags))
            smaller.append((plain, dict(genome)))
        for proposal, kept in smaller:
            if sized.meets_counts(reading, dict(proposal.counts)) and sized.rational(reading, dict(proposal.counts)):
                wanted = {gene.name for gene in self.genes(reading, proposal)}
                yield proposal, {k: v for k, v in kept.items() if k in wanted or k not in genes}


def _placed(shape: Shape, genome: Mapping[str, Array]) -> Mapping[str, Array]:
    """The start where the shape puts it."""
    between = dict(shape.flags).get("start") == "between"
    return {**genome, "start": 0 * genome["start"]} if between and "start" in genome else genome


@lru_cache(maxsize=64)
def _affordable(setting: RunSetting, reading: Reading) -> Affordable:
    """Every move on a statement asks for them."""
    return affordable(reading, setting.proposed(reading), lambda shape: setting.need(reading, shape))


@lru_cache(maxsize=1024)
def _need(setting: RunSetting, reading: Reading, shape: Shape) -> Need:
    paths = 1 if shape.brief else min(setting.paths(shape), MOST_OUTCOMES)
    genes = sum(prod(gene.shape) for gene in setting.genes(reading, shape))
    affine, itemsize = sized.family(shape).affine, np.dtype(setting.precision).itemsize
    return need_of(reading, shape, paths, genes, itemsize, affine, setting.counts_steps)


def _sampling(
    reading: Reading, shape: Shape, genome: Genome, known: Table, runs: int, rng: np.random.Generator
) -> tuple[dict[str, Any], Setup]:
    """The parts of a batch, and how it is run with drawn signs of its noise."""
    parts = _parts(reading, shape, genome, known.scalars)
    signs = rng.choice([-1.0, 1.0], (runs, known.n, shape["T"], shape["E"], shape["C"]))
    return parts, _setup(reading, shape, parts, known, signs)


def _setup(reading: Reading, shape: Shape, parts: Mapping[str, Any], known: Table, signs: Any = None) -> Setup:
    sizes, backend, noise = dict(shape.counts), reading.backend, sized.noise(shape)

    def on(x: Array) -> Any:
        return to_backend(backend, x)

    box = sized.family(shape).box(parts["loss"])
    problem = sized.family(shape).problem({k: on(v) for k, v in parts["loss"].items()}, on(parts["p"]))
    g, w_star = None, problem.minimiser() if asked.reads_minimum(reading) else None
    if "regulariser" in dict(shape.flags):
        up, down, ridge = (on(parts["regulariser"][name]) for name in ("up", "down", "ridge"))
        g = Regulariser(up, down, ridge, FAMILIES[shape.flag("regulariser")].affine, on(parts["slope"]))
        w_star = least(problem, g) if asked.reads_minimum(reading) else on(parts["w0"])
    return Setup(
        problem,
        on(parts["w0"]),
        _scalars(known, shape, backend, reading.claim["method"].get("counts_from", 0)),
        sizes["E"],
        sizes["T"],
        v=None if noise.law.silent else on(parts["v"]),
        h=on(parts["h"]) if "h" in parts else None,
        shared=noise.law.one_sign,
        noisy_steps=noise.steps(sized.draws(shape, asked.counts_steps(reading))),
        loud=noise.clients(sizes["C"]),
        sampling=sized.sampling(shape),
        graph=on(parts["graph"]) if "graph" in parts else None,
        w_star=w_star,
        regulariser=g,
        points={name: on(x) for name, x in parts["points"].items()},
        rows=on(parts["rows"]) if "rows" in parts else None,
        floor=on(ROUNDING * parts["high"] * np.abs(parts["loss"]["c"]).max(axis=(1, 2)) ** 2),
        signs=None if signs is None else on(signs),
        minibatch=_minibatch(shape) if box is None else None,
        moments=box is not None,
        box=(on(box[0][:, 0]), on(box[1][:, 0])) if box is not None and shape.follows_moments else None,
        oracle=None if parts.get("oracle") is None else tuple(map(on, parts["oracle"])),
    )


def on_problem(reading: Reading, shape: Shape, problem: Any, start: Array, known: Table) -> Table:
    """One run without noise on a problem of any kind, in NumPy: what it measures, and the constants that it needs."""
    method = reading.claim["method"]
    scalar = _scalars(known, shape, "numpy", method.get("counts_from", 0))
    setup = Setup(problem, start, scalar, shape["E"], shape["T"], w_star=problem.minimiser())
    quantities, scalars = {**known.quantities, "p": Quantity(problem.p, (1,))}, dict(known.scalars)
    for name, values in run(method, setup).items():
        place = _starts(reading, name, shape["T"])
        if place:
            quantities[name] = Quantity(values, place)
        else:
            scalars[name] = values
    if reading.uses("Gamma"):
        scalars["Gamma"] = problem.heterogeneity()
    return _with_bounds(reading, Table(known.n, scalars, quantities, known.counts))


def _scalars(table: Table, shape: Shape, backend: str, first: int) -> Callable[[Any], Any]:
    """Scalar factors of the rules, in all rounds and local steps."""
    sizes, brief = dict(shape.counts), shape.brief
    last = first + (0 if brief else sizes["T"] - 1)
    steps = 1 if shape.follows_moments else sizes["E"]
    evaluator = Evaluator(table, {"t": (str(first), str(last)), "k": ("0", str(steps - 1))})
    return lambda tree: to_backend(backend, evaluator(tree))


def _minibatch(shape: Shape) -> tuple[int, bool] | None:
    sizes, flags = dict(shape.counts), dict(shape.flags)
    return (sizes["b"], flags.get("draws") == "shared") if "oracle" in flags and "b" in sizes else None


def _named_sizes(reading: Reading, shape: Shape) -> dict[str, int]:
    """Sizes by the letters that the claim has for them."""
    sizes, letters = dict(shape.counts), reading.claim["method"].get("names", {})
    own = {"m": sizes["m"]} if "m" in sizes and "m" not in letters.values() else {}
    return own | {letter: sizes[name] for letter, name in letters.items() if name in sizes}


def _starts(reading: Reading, measure: str, T: int) -> tuple[int, ...]:
    """The first value of each of its indices."""
    method = reading.claim["method"]
    first = {"i": 1, "j": 1, "n": 1, "t": method.get("counts_from", 0), "k": 0, "T": T}
    return tuple(first[index] for index in method["measures"][measure]["at"])


def _with_bounds(reading: Reading, table: Table) -> Table:
    for name in reading.claim["means"]:
        if name not in reading.dropped:
            table = _bounded(reading, table, name)
    return table


def _least(reading: Reading) -> int:
    """The least number of clients: one alone has no neighbour."""
    return 2 if asked.uses(reading, "neighbours") else 1


def _bounded(reading: Reading, table: Table, name: str) -> Table:
    """The table with the constant that this run needs; no measures where an assumption of another form fails."""
    meaning = reading.claim["means"][name]
    op, left, right = meaning["relation"]
    evaluator = Evaluator(table, {index: tuple(ends) for index, ends in meaning["for_all"].items()})
    constant = asked.root_name(right) if op == "<=" else ""
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


def _power(x: Any, power: float) -> Any:
    whole = int(power)
    return x**whole if whole == power else x**power


def _regulariser(shape: Shape, genome: Mapping[str, Array], high: Array) -> dict[str, Array]:
    family = FAMILIES[dict(shape.flags).get("regulariser", "none")]
    return family.parts(genome, high * genome["scale"], high)


def _rows(reading: Reading, share: Array, E: int) -> Array:
    """Rows (n, R, C) that sum to one: divided positive numbers, reals and their rest, or shares of what is left.

    A round has the entries of its last step.
    """
    T, C = share.shape[1:]
    last = [min(first + E, T) - 1 for first in range(0, T, E)] if asked.counts_steps(reading) else list(range(T))
    share = share[:, last]
    if asked.share(reading) == "positive":
        return share / share.sum(axis=-1, keepdims=True)
    if asked.share(reading) == "real":
        rest = share[..., : C - 1]
        return np.concatenate([rest, 1 - rest.sum(axis=-1, keepdims=True)], axis=-1)
    left, parts = 1 + 0 * share[..., 0], list[Array]()
    for i in range(C - 1):
        parts.append(left * share[..., i])
        left = left - parts[-1]
    return np.stack([*parts, left], axis=-1)


def _inside(values: Array, domain: str) -> Array:
    """Not a number where the kernel would refuse it."""
    out = values <= 0 if domain == "positive" else values < 0 if domain == "nonnegative" else np.isnan(values)
    return np.where(out, np.nan, values)


def _curvatures(reading: Reading, genome: Mapping[str, Array]) -> tuple[Array, Array]:
    """The least and the largest curvature (n,) that a loss may have."""
    if "ratio" in genome:
        return genome["curvature"], genome["curvature"] * (1 + genome["ratio"])
    high = genome["curvature"]
    depth = DEEP if "two_sided" in reading.dropped else 1
    return (-depth * high * genome["dip"] if "dip" in genome else 0 * high), high


def _parts(reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Array]) -> dict[str, Any]:
    """Genes -> losses, weights, start, noise, graph. Plain arithmetic: floats and rationals alike."""
    C, d = shape["C"], shape["d"]
    if dict(shape.flags).get("clients") == "alike":
        genome = _copied(reading, shape, genome)
    if dict(shape.flags).get("draws") == "shared" and "chance" in genome:
        genome = {**genome, "chance": genome["chance"][:, :1] + 0 * genome["chance"]}
    low, high = _curvatures(reading, genome)
    genome = _placed(shape, genome)
    links = None
    if asked.uses(reading, "neighbours") and asked.has(reading, "equal_weights"):  # then all similarities are equal
        links = (1 + 0 * high)[:, None, None] * (1 - np.eye(C, dtype=int))
    if "link" in genome:
        links = (genome["link"] + np.swapaxes(genome["link"], 1, 2)) * (1 - np.eye(C, dtype=int))
    if links is not None and asked.has(reading, "similarity_weights"):
        p = links.sum(axis=2) / links.sum(axis=(1, 2))[:, None]
    elif "weight" not in genome:
        p = np.broadcast_to((1 + 0 * high / C)[:, None] / C, (len(high), C))
    elif "nonnegative_weights" in reading.dropped and not asked.uses(reading, "chosen"):
        rest = genome["weight"][:, : C - 1]
        p = np.concatenate([rest, 1 - rest.sum(axis=1, keepdims=True)], axis=1)
    else:
        p = genome["weight"] / genome["weight"].sum(axis=1, keepdims=True)
    parts: dict[str, Any] = {"p": p, "w0": genome["scale"][:, None] * genome["start"], "high": high}
    if (begins := sized.family(shape).start(genome, genome["scale"])) is not None:
        parts["w0"] = begins
    start = dict(shape.flags).get("start")
    genome = _laid_out(genome, start, C)
    parts["loss"] = _losses(reading, shape, genome, p, low, high)
    parts["regulariser"] = _regulariser(shape, genome, high)
    far = reduce(np.maximum, [abs(parts["w0"]).max(axis=1), *sized.family(shape).lengths(parts["loss"])])
    parts["unit"], parts["slope"] = high * genome["scale"], high * far
    parts["points"] = {name: genome["scale"][:, None] * genome[f"point_{name}"] for name in asked.points(reading)}
    noise = sized.noise(shape)
    level = noise.level(genome, C) if "noise" in genome else 0 * p
    if asked.argument(reading, "minibatch_variance"):
        level = level * parts["unit"][:, None]
    parts["v"] = noise.vectors(level, C, d)
    if "rough" in genome:
        parts["h"] = noise.bends(genome, high, d)
    if start:
        parts["w0"] = parts["loss"]["c"][:, -1] if start == "client" else 0 * parts["w0"]
    downhill = sized.family(shape).downhill(parts["loss"])
    if downhill is not None and (step := asked.stride(reading)):  # to arrive with the last local step
        parts["w0"] = parts["w0"] + ((shape["E"] - 1) * known[step])[:, None] * downhill
    if dict(shape.flags).get("weights") == "own":
        parts["rows"] = np.repeat(
            p[:, None], -(-shape["T"] // (shape["E"] if asked.counts_steps(reading) else 1)), axis=1
        )
    if "share" in genome:
        parts["rows"] = _rows(reading, genome["share"], shape["E"])
    if asked.has(reading, "broadcast"):
        parts["graph"] = np.repeat(p[:, None], C, axis=1)
    elif links is not None:
        parts["graph"] = links / links.sum(axis=2, keepdims=True)
    return parts


def _losses(
    reading: Reading, shape: Shape, genome: Mapping[str, Array], p: Array, low: Array, high: Array
) -> Mapping[str, Array]:
    """Of curvature between low and high; mu more convex on the whole where the claim asks for it."""
    family = sized.family(shape)
    if "mu_at_most_L" in reading.dropped:  # then f is constant
        parts, pull = family.parts(genome, p, low, high, genome["scale"]), (high * genome["scale"])[:, None, None]
        signs = np.array([1, -1, *[0] * shape["C"]])[: shape["C"]] * (shape["C"] > 1)
        return {**parts, "A": 0 * parts["A"], "b": pull * genome["centre"][:, :1] * signs[:, None]}
    if asked.lifted(reading):
        mu = high * genome["mu"]
        least = low - mu if family.affine or not asked.convex_mean(reading) else 0 * low
        return family.lifted(family.parts(genome, p, least, high - mu, genome["scale"]), mu)
    if asked.has(reading, "descent") and family.affine and not asked.reads_minimum(reading):  # nothing is bounded below
        return family.lifted(family.parts(genome, p, 0 * low, high - low, genome["scale"]), low)
    return family.parts(genome, p, low, high, genome["scale"])


def _copied(reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
    """Equal clients: every gene of a client for all of them."""
    copied = dict(genome)
    one = {**dict(shape.counts), "C": 1, "kinks": "kink" in genome, "own": False}
    own = (Gene("noise", "nonnegative", (1,), ("C",)), Gene("weight", "positive", (1,), ("C",)))
    for gene in (*sized.family(shape).genes(one), *own):
        if "C" in gene.axes and gene.name in genome:
            copied[gene.name] = np.repeat(genome[gene.name], shape["C"], axis=1 + gene.axes.index("C"))
    return copied


def _laid_out(genome: Mapping[str, Array], start: str | None, C: int) -> Mapping[str, Array]:
    """Centres where they are all one, or two opposite clients (and others between them) around the start."""
    if "curve" not in genome:
        return genome
    curve = genome["curve"]
    if "centre" not in genome:
        return {**genome, "centre": 0 * curve}
    if start != "between":
        return genome
    side = np.array([1, -1] + [0] * C)[:C, None]
    return {**genome, "centre": side * genome["centre"][:, :1], "curve": curve[:, :1] + 0 * curve}


def _without(genes: Mapping[str, Gene], genome: Mapping[str, Array], axis: str, out: int) -> dict[str, Array]:
    kept = dict(genome)
    for name, gene in genes.items():
        for place, own in enumerate(gene.axes):
            if own == axis:
                kept[name] = np.delete(kept[name], out, axis=place)
    return kept


def _first(genes: Mapping[str, Gene], genome: Mapping[str, Array], axis: str, size: int) -> dict[str, Array]:
    kept = dict(genome)
    for name, gene in genes.items():
        for place, own in enumerate(gene.axes):
            if own == axis:
                kept[name] = np.take(kept[name], range(size), axis=place)
    return kept


SETTING = RunSetting()
