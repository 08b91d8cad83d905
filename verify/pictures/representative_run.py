"""A representative problem for a rate: ten clients, ten dimensions, several local steps, every condition met.

Which constants let the theorem be seen (a bound of E^2 G^2 hides all else where E is large) is tried out on a line; the
problem that moves most is then run in more dimensions and for longer. Its expectation is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fedaudit.errors import UserError
from fedaudit.problems.arrays.genes import Gene
from fedaudit.problems.runs.compiled_method import programme

from ..search.claim_index import at_largest, round_of, summands
from ..search.claim_trees import Tree, moves, parts_at
from ..search.genome import Genome, draw
from ..search.score import genes_of, tabulate
from ..search.seeds import seed_for
from ..search.tree_arrays import Array, Table
from ..settings.base import Reading, Shape, known_table
from ..settings.runs import requirements
from ..settings.runs.proposed_sizes import meets_counts
from ..settings.runs.run import RunSetting
from ..settings.runs.run_shapes import draws, family_of
from .at_constants import genes_at, shape_at
from .kinds import BoundPart

__all__ = ["Portrait", "portrait", "portrait_at"]

CLIENTS, DIMENSIONS, STEPS = (10, 4, 2, 1), (10, 4, 2, 1), (5, 2, 1)
ENTRIES = 24  # numbers that the server and the clients keep between rounds: moments cost their cube
STEADY, LONGEST = 4096, 1024  # rounds where all are alike, and of other pictures
SHORTER = 8  # times, of runs that are tried and walked step by step
LENGTHS = (1, 2, 3, 4, 6, 9, 12, 16, 25, 36, 49, 64, 100, 144, 196, 256, 400, 529, 784, 1024)
WALKED, MOST_PATHS = 1024, 8  # local steps of a run that is walked one by one, and its outcomes
TRIED = 16
FEWEST = 60  # rounds at constants of one's own
PRESETS = {
    "kappa": (2.0, 10.0),
    "sigma": (0.02, 0.2),
    "spread": (0.02, 0.2),
    "far": (10.0,),
    "free": (0.1, 1.0, 10.0, 100.0),
    "unit": (1.0, 0.5, 0.1),
}
ROUNDING = 1e-13  # of what a run begins with
UNSEEN = 1e-8  # of the bound
SEEN = 4.0  # decades: more movement is not seen better
FEW_KEPT = 2  # vectors between rounds, whose map costs little
BAND, LOW, HIGH = 64, 0.1, 0.9  # sampled runs, and between which of them the band lies
STILL = 0.03  # of its size: a term that moves less is a floor

Preset = Mapping[str, float]
Values = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """One problem along rounds: both sides, where sampled runs lie if there is noise, its sizes and constants."""

    shape: Shape
    x: Array
    lhs: Array
    rhs: Array
    parts: tuple[BoundPart, ...]
    band: tuple[Array, Array] | None  # 10 and 90 % of the left side over sampled runs, in its first rounds
    constants: Mapping[str, float]
    smaller: str = ""  # why it has fewer clients or dimensions than ten


def portrait(reading: Reading, world: RunSetting, seed: int) -> Portrait | None:
    """The problem whose run and bound move most; None where no shape has runs that are long enough to be looked at."""
    best: tuple[float, Shape, Preset] | None = None
    for E in STEPS:
        shape = _shape(reading, world, E)
        if shape is None or (best is not None and E == 1):  # several local steps, unless the claim is about one
            continue
        line = _on_a_line(reading, world, shape)
        value, preset = _most_telling(reading, world, line, _presets(reading, world, line, seed), seed, {})
        if preset is not None and (best is None or value > best[0] + 0.5):
            best = value, shape, preset
    if best is None:
        return None
    _, shape, preset = best
    for smaller in _ladder(reading, shape):
        try:
            portrait = _portrait_of(reading, world, smaller, preset, seed, {})
        except UserError:  # regularised problems are solved in one or two dimensions
            continue
        if portrait is not None:
            return portrait
    return None


def portrait_at(reading: Reading, world: RunSetting, values: Values, seed: int) -> Portrait:
    """A run to be drawn at a person's own constants: what was given is held, the rest chosen to be seen.

    Raises `UserError` where no such problem is admissible.
    """
    shape = _shape_at(reading, world, values)
    short = shape if "T" in values else _on_a_line(reading, world, shape).but(d=shape["d"])
    _, preset = _most_telling(reading, world, short, _presets(reading, world, short, seed), seed, values)
    portrait = None if preset is None else _portrait_of(reading, world, shape, preset, seed, values)
    if portrait is None:
        said = ", ".join(f"{name} = {x}" for name, x in values.items())
        raise UserError(
            f"{reading.lowered.id} at {said}", "values that its conditions allow", "change or leave out one"
        )
    return portrait


def _shape_at(reading: Reading, world: RunSetting, values: Values) -> Shape:
    """The shape with these sizes, in as many rounds as can be afforded where T was not given."""
    rounds = _longest(reading)
    while True:
        whole = int(values.get("E", 2)) if world.counts_steps else 1
        shape = shape_at(reading, world, values, rounds * whole)
        if "T" in values or rounds <= FEWEST or _affordable(world, shape, bool(round_of(reading))):
            return shape
        rounds //= 4


def _portrait_of(
    reading: Reading, world: RunSetting, shape: Shape, preset: Preset, seed: int, values: Values
) -> Portrait | None:
    """The run of one problem; None where it is too short, or not finite."""
    x, sides, table = _along(reading, world, shape, [preset], seed, values)
    lhs, rhs, *terms = (side[0] for side in sides)
    if not len(x) or len(x) < (1 if values else 4) or not (np.isfinite(lhs).all() and np.isfinite(rhs).all()):
        return None
    resolved = _resolved(lhs, rhs)
    parts = _parts([term[:resolved] for term in terms])
    band = _band(reading, world, shape, preset, seed, values)
    why = "" if values else _smaller(reading, shape)
    return Portrait(shape, x[:resolved], lhs[:resolved], rhs[:resolved], parts, band, _constants(reading, table), why)


def _constants(reading: Reading, table: Table) -> dict[str, float]:
    """All that the bound reads and that does not move: what was chosen, and what the run measures (G, gap(0))."""
    constants = {k: float(np.ravel(v)[0]) for k, v in table.scalars.items() if k not in reading.lowered.knobs}
    for _, name, *indices in parts_at(reading.claim["then"][0][2]):
        quantity = table.quantities.get(str(name))
        if quantity is not None and len(indices) == 1 and str(indices[0]).isdigit():
            at = int(str(indices[0]))
            constants[f"{name}({at})"] = float(np.ravel(quantity.values[0])[at - quantity.start[0]])
    return constants


def _parts(terms: Sequence[Array]) -> tuple[BoundPart, ...]:
    """The terms of a bound, added up by whether they fall, stay or rise; none where all do the same."""
    totals: dict[str, Array] = {}
    for term in terms:
        change = float(term[-1] - term[0]) / (float(np.abs(term).max()) or 1.0)
        name = "floor" if abs(change) < STILL else "transient" if change < 0 else "growing part"
        totals[name] = totals[name] + term if name in totals else term
    usable = len(totals) > 1 and all((total >= 0).all() for total in totals.values())
    return tuple(BoundPart(name, total) for name, total in totals.items()) if usable else ()


def _smaller(reading: Reading, shape: Shape) -> str:
    """Says why a claim about several clients is not shown with ten clients and ten dimensions."""
    C, d, reasons = shape["C"], shape["d"], list[str]()
    if 1 < C < CLIENTS[0]:
        reasons.append(f"not C = {CLIENTS[0]}: its conditions do not allow that many")
    if d < DIMENSIONS[0]:
        kept = _kept(reading, shape)
        if not meets_counts(reading, {"d": DIMENSIONS[0]}) or family_of(shape).dimensions < DIMENSIONS[0]:
            reasons.append(f"not d = {DIMENSIONS[0]}: such losses are run in {d} at most")
        elif shape.flag("noise") != "none" and kept * DIMENSIONS[0] > ENTRIES:
            reasons.append(
                f"not d = {DIMENSIONS[0]}: exact moments of {kept} noisy vectors are followed in few dimensions"
            )
        else:
            reasons.append(f"not d = {DIMENSIONS[0]}: regularised problems are solved in {d} at most")
    return "; ".join(reasons)


def _kept(reading: Reading, shape: Shape) -> int:
    """Counts the vectors that the server and the clients keep between rounds."""
    rules = programme(reading.claim["method"])
    return sum(1 if name in rules.server else shape["C"] for name in rules.kept)


def _resolved(lhs: Array, rhs: Array) -> int:
    """Counts the first points that are more than rounding, beside where they begin."""
    low = [side < ROUNDING * np.abs(side[: max(2, len(side) // 50)]).max() for side in (lhs, rhs)]
    drowned = np.flatnonzero(low[0] | low[1])
    return max(4, int(drowned[0])) if drowned.size else len(lhs)


def _presets(reading: Reading, world: RunSetting, shape: Shape, seed: int) -> list[Preset]:
    """Returns some combinations of the numbers that the claim's genes read."""
    genes = genes_of(reading, world, shape)
    unread = {
        *(() if any(g.kind == "unit" and g.name != "mu" for g in genes) else ("unit",)),
        *(() if any(g.name in reading.claim["domains"] for g in genes) else ("free",)),
        *(() if any(g.name == "noise" for g in genes) else ("sigma",)),
    }
    values = {name: options[:1] if name in unread else options for name, options in PRESETS.items()}
    every = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "portrait"))
    return [every[n] for n in rng.permutation(len(every))[:TRIED]]


def _shape(reading: Reading, world: RunSetting, E: int) -> Shape | None:
    """The most telling shape with so many local steps; with fewer rounds where a run would have too many outcomes."""
    shapes = world.shapes(reading)
    if not any(shape["E"] == E or meets_counts(reading, {"E": E}) for shape in shapes):
        return None
    C = next((n for n in CLIENTS if meets_counts(reading, {"C": n})), shapes[0]["C"])
    whole = E if world.counts_steps else 1
    rounds = _longest(reading)
    while rounds > 3:
        sizes = {"C": C, "E": E, "T": rounds * whole}
        fitting = [s.but(**sizes) for s in shapes if not s.brief and not s.follows_moments]
        fitting = [s for s in dict.fromkeys(fitting) if meets_counts(reading, dict(s.counts))]
        fitting = [
            s for s in fitting if world.paths(s) <= MOST_PATHS and _affordable(world, s, bool(round_of(reading)))
        ]
        if fitting:
            return min(fitting, key=_telling)
        rounds //= 4
    return None


def _longest(reading: Reading) -> int:
    """Rounds of the picture: fewer where every T is a run of its own, or a sum over all rounds stands at each."""
    if not round_of(reading):
        return LONGEST if _steady(reading) else LONGEST // 4
    _, left, right = reading.claim["then"][0]
    summed = any(_sums(side, round_of(reading)) for side in (left, right))
    return STEADY if _steady(reading) and not summed else LONGEST


def _sums(tree: Tree, index: str) -> bool:
    """Says whether a side sums up to the index."""
    if not isinstance(tree, list):
        return False
    op, *parts = tree
    return (op == "sum" and moves(parts[2], index)) or any(_sums(part, index) for part in parts)


def _steady(reading: Reading) -> bool:
    """Says whether the step sizes are the same in all rounds."""
    rules = [*reading.lowered.sweep.values(), *reading.claim["choose"].values()]
    return not any(moves(rule["value"], index) for rule in rules for index in rule["index"])


def _affordable(world: RunSetting, shape: Shape, indexed: bool) -> bool:
    """Says whether a run is affordable: one that no map takes round by round is walked, outcome by outcome."""
    if family_of(shape).affine and world.paths(shape) == 1 and not world.counts_steps:
        return True
    return draws(shape, world.counts_steps) <= (WALKED if indexed else WALKED // 2)


def _telling(shape: Shape) -> tuple[bool, ...]:
    flags = dict(shape.flags)
    return (
        flags.get("clients") == "alike",
        flags.get("loss", "quadratic") != "quadratic",
        "start" in flags,
        flags.get("noise") == "none",
        flags.get("regulariser", "none") != "none",
        flags.get("weights", "own") not in ("own", "rows"),
    )


def _on_a_line(reading: Reading, world: RunSetting, shape: Shape) -> Shape:
    whole = shape["E"] if world.counts_steps else 1
    if not round_of(reading):
        return shape.but(d=1, T=min(shape["T"], LONGEST // 4))
    mapped = family_of(shape).affine and world.paths(shape) == 1 and not world.counts_steps  # a map takes each round
    shorter = 1 if mapped and _kept(reading, shape) <= FEW_KEPT else SHORTER
    return shape.but(d=1, T=max(whole, shape["T"] // whole // shorter * whole))


def _ladder(reading: Reading, shape: Shape) -> Sequence[Shape]:
    """The shape in as many dimensions as its moments can be followed, then on a line."""
    kept = _kept(reading, shape)
    noisy = shape.flag("noise") != "none"
    most = family_of(shape).dimensions
    fits = [
        d for d in DIMENSIONS if d <= most and (not noisy or kept * d <= ENTRIES) and meets_counts(reading, {"d": d})
    ]
    return [shape.but(d=d) for d in dict.fromkeys([*fits[:1], *(d for d in (2, 1) if d in fits), 1])]


def _most_telling(
    reading: Reading, world: RunSetting, shape: Shape, presets: Sequence[Preset], seed: int, values: Values
) -> tuple[float, Preset | None]:
    x, (lhs, rhs, *_), _ = _along(reading, world, shape, presets, seed, values)
    if len(x) < (1 if values else 3):
        return -np.inf, None
    if values:  # that is what was asked for, seen well or not
        fits = np.isfinite(lhs).all(axis=1) & np.isfinite(rhs).all(axis=1)
        rise = np.where(fits, np.nan_to_num(rhs[:, 0] / np.maximum(rhs[:, -1], 1e-300)), -np.inf)
        return (0.0, presets[int(np.argmax(rise))]) if fits.any() else (-np.inf, None)
    usable = (np.isfinite(lhs) & np.isfinite(rhs) & (lhs > 0) & (rhs > 0)).all(axis=1)
    usable &= (lhs[:, 1] > UNSEEN * rhs[:, 1]) & (lhs[:, 0] > 0)
    if not usable.any():
        return -np.inf, None
    first = 1 if round_of(reading) == "t" else 0
    with np.errstate(all="ignore"):
        left, right = np.log10(lhs), np.log10(rhs)
        moved = np.clip(left[:, first] - left[:, -1], -1, SEEN) + 2 * np.clip(right[:, first] - right[:, -1], -1, SEEN)
        slack = np.clip(np.median(np.abs(right - left), axis=1), 0, 2 * SEEN)
    value = np.where(usable, moved - slack / 2, -np.inf)
    best = int(np.argmax(value))
    return float(value[best]), presets[best]


def _along(
    reading: Reading, world: RunSetting, shape: Shape, presets: Sequence[Preset], seed: int, values: Values
) -> tuple[Array, list[Array], Table]:
    """Returns x (m,), along the claim's index or along T; both sides and the terms of the right one (n, m); and
    what the longest run is and measures.
    """
    index = round_of(reading)
    _, left, right = reading.claim["then"][0]
    trees = [left, right, *summands(right)]
    if index:
        genome = _genome(reading, world, shape, presets, seed, values)
        table = tabulate(reading, world, shape, genome)
        sides = at_largest(reading, table, trees)
        first = 0 if index == "t" else 1
        return np.arange(first, first + int(sides[0].shape[1])), sides, table
    whole = shape["E"] if world.counts_steps else 1
    columns: list[tuple[int, list[Array]]] = []
    # Every T is a run of its own, so that presets are compared at a few lengths alone.
    lengths = [n * whole for n in (LENGTHS if len(presets) == 1 else LENGTHS[3::4]) if n * whole <= shape["T"]]
    lengths = sorted({*lengths, shape["T"]}) if values else lengths
    table = Table(len(presets), {}, {}, {})
    for T in [T for T in lengths if meets_counts(reading, dict(shape.but(T=T).counts))]:
        genome = _genome(reading, world, shape.but(T=T), presets, seed, values)
        table = tabulate(reading, world, shape.but(T=T), genome)
        columns.append((T, [side[:, 0] for side in at_largest(reading, table, trees)]))
    admitted = [c for c in columns if all(np.isfinite(side).any() for side in c[1][:2])]
    if not admitted:
        return np.zeros(0), [np.zeros((len(presets), 0)) for _ in trees], table
    x = np.array([T for T, _ in admitted])
    return x, [np.stack([sides[k] for _, sides in admitted], axis=1) for k in range(len(trees))], table


def _genome(
    reading: Reading, world: RunSetting, shape: Shape, presets: Sequence[Preset], seed: int, values: Values
) -> Genome:
    """Returns genes of ordinary problems: curvatures spread evenly over decades, clients around a centre, a start far
    off; with the constants that were given.
    """
    genes = genes_of(reading, world, shape)
    strong = any(g.name == "ratio" for g in genes)
    steps = {f"step_{name}" for name in requirements.free_steps(reading)}

    def rng(gene: Gene) -> np.random.Generator:
        # Seeded by the gene, so that runs of all lengths are of one problem.
        return np.random.default_rng(seed_for(seed, reading.lowered.id, "portrait", gene.name))

    genome: Genome = {
        g.name: np.stack(
            [
                np.full(g.shape, preset["unit"] / 10) if g.name in steps else _gene(g, preset, rng(g), strong)
                for preset in presets
            ]
        )
        for g in genes
    }
    return genes_at(reading, world, shape, genome, values) if values else genome


def _gene(gene: Gene, preset: Preset, rng: np.random.Generator, strong: bool) -> Array:
    """Returns one gene. Where nothing is strongly convex, curvatures fall to a thousandth of L at least, and runs slow
    down.
    """
    d = gene.shape[-1] if gene.axes and gene.axes[-1] == "d" else 1
    decades = np.linspace(0, 1, d) if d > 1 else np.zeros(1)
    kappa = preset["kappa"] if strong else 100 * preset["kappa"]
    curved = (kappa**decades - 1) / (kappa - 1) if strong else kappa ** (decades - 1)
    match gene.name:
        case "scale" | "curvature" | "weight" | "link" | "share":
            return np.ones(gene.shape)
        case "ratio":
            return np.full(gene.shape, preset["kappa"] - 1)
        case "mu":
            return np.full(gene.shape, 1 / preset["kappa"])
        case "dip":
            return np.full(gene.shape, 0.1)
        case "curve":
            return np.broadcast_to(curved, gene.shape).copy()
        case "start":
            return np.broadcast_to(preset["far"] * kappa ** -(1.5 * decades), gene.shape).copy()
        case "centre":
            return preset["spread"] * rng.standard_normal(gene.shape)
        case "turn":
            return 0.1 * rng.standard_normal(gene.shape)
        case "noise":
            return np.full(gene.shape, preset["sigma"])
        case _ if gene.kind == "unit":
            return np.full(gene.shape, preset["unit"])
        case _ if gene.kind in ("positive", "nonnegative") and not gene.shape:
            return np.full(gene.shape, preset["free"])
        case _:
            return draw([gene], 1, rng)[gene.name][0]


def _band(
    reading: Reading, world: RunSetting, shape: Shape, preset: Preset, seed: int, values: Values
) -> tuple[Array, Array] | None:
    """Where runs with drawn signs of their noise lie in the first rounds, if the left side is one measure along t."""
    left: Tree = reading.claim["then"][0][1]
    plain = isinstance(left, list) and left[0] == "at" and left[2:] == ["t"] and round_of(reading) == "t"
    if not plain or shape.flag("noise") != "independent" or shape.flag("sampling") != "all" or reading.uses("T"):
        return None
    short = shape.but(T=min(shape["T"], WALKED // shape["E"]))
    genome = _genome(reading, world, short, [preset], seed, values)
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "path"))
    runs = world.followed(reading, short, genome, known_table(reading, world, short, genome), BAND, rng)
    low, high = np.quantile(runs[0], (LOW, HIGH), axis=-1)  # (rounds, runs)
    return low, high
