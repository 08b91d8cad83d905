"""From a float candidate to a certificate: rational genes, an exact instance, and the kernel's word on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import cast

import numpy as np
from flint import fmpq

from fedaudit.bounds.formulas.lowering import Lowered

from .. import kernel
from ..kernel.core.expression import Evaluator, Tree, parse
from ..kernel.core.rational import DIGITS as READ
from ..kernel.core.rational import Node
from ..kernel.core.run import COUNT as MOST_OF_A_RUN
from ..settings.base import Exact, ExactValues, Json, Reading, Setting, Shape, rules
from .claim_trees import Data
from .climb import VIOLATION, Found
from .genome import Genome, exactly
from .score import BEYOND_ROUNDING, Scores, genes_of, score, tabulate
from .tree_arrays import Array

FORMAT = "fedaudit-certificate/1"
DIGITS = (2, 4, 8)  # precision of the rationals that are tried, coarse ones first
NEAR, BELOW = 1e-9, 2e-15  # of a measured constant: a short rational is near it by no chance, a long one always is,
# and is refused where it lies below by more than rounding
MOST_DIGITS = 400  # steps times digits: exact numbers grow with both


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """One exact instance and what the kernel found at one index of it."""

    shape: Shape
    genome: Mapping[str, Array]  # object arrays of Fractions
    instance: Json
    at: dict[str, int]
    lhs: str
    rhs: str
    holds: bool
    ratio: float

    @property
    def equal(self) -> bool:
        """Whether both sides are one rational above 0."""
        # A ball, a +/- b, says that a number is near another one, never that it is equal.
        return self.ratio == 1 and self.lhs == self.rhs and "+/-" not in self.lhs


def replay(
    reading: Reading,
    setting: Setting,
    shape: Shape,
    genome: Mapping[str, Array],
    among: Reading | None = None,
    at: dict[str, int] | None = None,
) -> Replayed | None:
    """Build the exact instance of rational genes, find its worst index in floats, decide that index in the kernel.

    The worst index is one of `among`, the same claim over fewer indices, if that is given. Where floats know none it is
    `at`: both sides are 0 or rounding there, and the kernel sees which. None when the kernel does not admit the
    instance (a condition fails exactly, or sizes exceed its limits).
    """
    return decided(reading, setting, scored(among or reading, setting, shape, genome, at), 0, genome)


def scored(
    reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array], at: dict[str, int] | None = None
) -> Scores:
    """The scores of rational genes, by floats; where these know no worst index, it is `at`."""
    scores = score(reading, setting, shape, in_floats([genome]), again=False)
    if at is not None and not np.isfinite(scores.margin[0]):
        return replace(scores, margin=0 * np.nan_to_num(scores.margin), at=[at])
    return scores


def in_floats(genomes: Sequence[Mapping[str, Array]]) -> Genome:
    """Rational genes of one shape as a batch of floats."""
    return {name: np.stack([np.asarray(one[name], dtype=float) for one in genomes]) for name in genomes[0]}


def decided(
    reading: Reading, setting: Setting, scores: Scores, row: int, genome: Mapping[str, Array]
) -> Replayed | None:
    """The kernel's word on the rational genes of one row, at the index where floats see it worst, if it has one."""
    try:
        return _decided(reading, setting, scores, row, genome)
    except kernel.TooLarge:
        return None


def _decided(
    reading: Reading, setting: Setting, scores: Scores, row: int, genome: Mapping[str, Array]
) -> Replayed | None:
    """What `decided` says, or `TooLarge`: other constants or longer rationals would not make it smaller."""
    if not np.isfinite(scores.margin[row]):
        return None
    shape, at = scores.shape, scores.at[row]
    for instance in _instances(reading, setting, shape, genome, _measured(setting, scores, row)):
        # The kernel reads no longer number; with other constants declared, the instance may be short enough.
        if _longest(instance) > READ:
            continue
        try:
            lhs, rhs, holds = kernel.evaluate(reading.claim, instance, reading.dropped, at)
        except kernel.TooLarge:
            raise
        except kernel.Rejected:
            continue
        sides = kernel.claimed(lhs), kernel.claimed(rhs)
        return Replayed(shape, genome, instance, at, *sides, holds, _ratio(reading, setting, at, lhs, rhs))
    return None


def _measured(setting: Setting, scores: Scores, row: int) -> dict[str, float]:
    """The constants that an instance declares, as the run measured them."""
    if not setting.declared:
        return {}
    scalars = scores.table.scalars
    return {k: float(np.broadcast_to(scalars[k], scores.margin.shape)[row]) for k in setting.declared}


def _longest(data: Data) -> int:
    """How many characters the longest of the numbers in JSON data has."""
    if isinstance(data, dict | list):
        parts = data.values() if isinstance(data, dict) else data
        return max((_longest(part) for part in parts), default=0)
    return len(data) if isinstance(data, str) else 0


def _ratio(reading: Reading, setting: Setting, at: Mapping[str, int], lhs: Exact, rhs: Exact) -> float:
    """Smaller side over larger side as the relation orders them."""
    small, large = (rhs, lhs) if reading.claim["then"][at["relation"]][0] in (">=", ">") else (lhs, rhs)
    return setting.ratio(small, large)


def certify(reading: Reading, setting: Setting, candidate: Found) -> Replayed | None:
    """The candidate in rationals of growing precision: the first that the kernel finds to violate the claim.

    If none does, the most precise replay that was admitted (which then `holds`), or None. Where floats see it hold
    beyond rounding, only that one is wanted, and the most precise rationals come first. An equation has no near misses:
    where floats see it hold, one exact instance says as much as three.
    """
    last: Replayed | None = None
    shape, at = _needed(reading, setting, candidate), candidate.scores.at[candidate.row]
    if beyond_kernel(shape):
        return None
    genes = genes_of(reading, setting, shape)
    plain, equal = candidate.margin < -BEYOND_ROUNDING, _equation(reading, candidate) and candidate.margin <= VIOLATION
    if not plain and not equal and candidate.margin <= VIOLATION and not setting.fitted:
        return _close(reading, setting, candidate, shape)
    affordable = [digits for digits in DIGITS if shape.steps * digits <= MOST_DIGITS]
    waiting = [*reversed(affordable), *(d for d in DIGITS if d not in affordable)] if plain else [*DIGITS]
    too_large = False
    while waiting:
        one_will_do = plain or equal or waiting[0] not in affordable
        if last is not None and one_will_do and not too_large:
            break
        digits = waiting.pop(0)
        exact = exactly(genes, candidate.scores.genome, candidate.row, digits)
        try:
            scores = scored(reading, setting, shape, exact, at if candidate.margin > BEYOND_ROUNDING else None)
            replayed = _decided(reading, setting, scores, 0, exact)
        except kernel.TooLarge:  # so are longer rationals, and all of them where the shortest are
            replayed, waiting, too_large = None, [d for d in DIGITS if d < digits and d in waiting], True
        if replayed is not None and not replayed.holds:
            return replayed
        last = replayed or last
    return last


def _close(reading: Reading, setting: Setting, candidate: Found, shape: Shape) -> Replayed | None:
    """What `certify` says of a candidate that floats cannot tell from a tight one: its rationals are scored together.

    Those at which floats see it hold beyond rounding are replayed only if no others are admitted. Sides that are equal
    say as much as an equation.
    """
    genes = genes_of(reading, setting, shape)
    genomes = [exactly(genes, candidate.scores.genome, candidate.row, digits) for digits in DIGITS]
    scores, last = score(reading, setting, shape, in_floats(genomes), again=False), None
    affordable = [row for row, digits in enumerate(DIGITS) if shape.steps * digits <= MOST_DIGITS]
    plain = [row for row in affordable if scores.margin[row] < -BEYOND_ROUNDING]
    for row in affordable:
        try:
            replayed = _decided(reading, setting, scores, row, genomes[row]) if row not in plain else None
        except kernel.TooLarge:  # so are longer rationals
            break
        if replayed is not None and (not replayed.holds or replayed.equal):
            return replayed
        last = replayed or last
    rest = (*reversed(plain), *range(len(affordable), len(DIGITS))) if last is None else ()
    return last or next(filter(None, (decided(reading, setting, scores, row, genomes[row]) for row in rest)), None)


def refusal(reading: Reading, setting: Setting, candidate: Found) -> str:
    """What the kernel says of a candidate in short rationals that it does not replay; nothing where it does."""
    shape = _needed(reading, setting, candidate)
    if beyond_kernel(shape):
        return f"a run of more than {MOST_OF_A_RUN} rounds, steps, clients or variables is not replayed"
    exact = exactly(genes_of(reading, setting, shape), candidate.scores.genome, candidate.row, DIGITS[0])
    try:
        for instance in _instances(reading, setting, shape, exact, _measured(setting, candidate.scores, candidate.row)):
            kernel.evaluate(reading.claim, instance, reading.dropped, candidate.scores.at[candidate.row])
    except kernel.Rejected as error:
        return str(error)
    return ""


def beyond_kernel(shape: Shape) -> bool:
    """Whether a run has more rounds, steps, clients or variables than the kernel admits: it is not even written out."""
    walked = [n for name, n in shape.counts if name in ("C", "d", "E", "T")]
    return not shape.brief and any(n > MOST_OF_A_RUN for n in walked)


def _equation(reading: Reading, candidate: Found) -> bool:
    """Whether what the candidate is closest to breaking is one."""
    return bool(reading.claim["then"][candidate.scores.at[candidate.row]["relation"]][0] == "=")


def _needed(reading: Reading, setting: Setting, candidate: Found) -> Shape:
    """The candidate's shape with only the rounds that its worst index needs, unless the claim itself speaks of T."""
    shape, at = candidate.scores.shape, candidate.scores.at[candidate.row]
    if "t" not in at or reading.uses("T"):
        return shape
    whole = shape["E"] if setting.counts_steps else 1  # T counts steps, and rounds are whole
    needed = -(-(at["t"] + 1) // whole) * whole
    return shape.but(T=needed) if needed < dict(shape.counts).get("T", 1) else shape


def certificate(reading: Reading, replayed: Replayed) -> Json:
    """The certificate as JSON data; of an instance on which the claim holds it refutes nothing, and says so."""
    return {
        "format": kernel.INSTANCE if replayed.holds else FORMAT,
        "statement": reading.lowered.id,
        "claim": reading.claim,
        "dropped": list(reading.dropped),
        "instance": replayed.instance,
        "at": replayed.at,
        "lhs": replayed.lhs,
        "rhs": replayed.rhs,
        **({"replays": [dict(one) for one in reading.lowered.replays]} if reading.lowered.replays else {}),
    }


def _flint(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Exact scalars and quantities by name, for sweeps and chosen step sizes."""

    scalars: Mapping[str, Fraction]
    quantities: Mapping[str, Array]

    def value(self, name: str) -> fmpq:
        return _flint(self.scalars[name])

    def at(self, name: str, indices: tuple[int, ...]) -> fmpq:
        return _flint(self.quantities[name][indices])


@lru_cache
def _parsed(lowered: Lowered) -> list[tuple[str, Json, Tree]]:
    """The swept parameters and the chosen quantities as the kernel's trees."""
    return [(name, rule, parse(Node(rule["value"], "sweep"))) for name, rule in rules(lowered)]


def _instances(
    reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array], measured: Mapping[str, float]
) -> Iterator[Json]:
    """The kernel's instances of rational genes, with constants that the run measured declared at or just above."""
    statics = setting.statics(reading, shape, {k: v[None] for k, v in genome.items()})
    scalars = {k: Fraction(np.asarray(v)[0]) for k, v in statics.items()}
    scalars |= {k: Fraction(v) for k, v in shape.counts}
    scalars |= {k: Fraction(cast("Fraction", genome[k][()])) for k in reading.lowered.knobs}
    quantities: dict[str, Array] = {}
    for name, rule, tree in _parsed(reading.lowered):
        world = _Numbers(scalars, quantities)
        sizes = [shape[axis] for axis in ("T", "E")[: len(rule["index"])]]
        places = list(np.ndindex(*sizes))
        evaluator = Evaluator(world, None)
        values = [evaluator.value(tree, dict(zip(rule["index"], place, strict=True))) for place in places]
        rationals = [value for value in values if isinstance(value, fmpq)]
        if len(rationals) < len(values):
            if name in reading.claim["choose"]:
                continue  # the kernel computes it itself, as a ball
            return  # what the sweep proposes is written into the instance, which has rationals alone
        exact = np.array([_fraction(value) for value in rationals], dtype=object).reshape(sizes)
        if rule["index"]:
            quantities[name] = exact
        else:
            scalars[name] = _fraction(rationals[0])
    free = {k: v for k, v in scalars.items() if k not in reading.lowered.knobs and k not in dict(shape.counts)}
    instance = setting.instance(reading, shape, genome, ExactValues(free, quantities))
    if not setting.declared:
        yield needed_names(reading.claim, instance)
        return
    for rounded in _declarations(setting.declared, measured):
        yield needed_names(reading.claim, {**instance, "constants": {**instance["constants"], **rounded}})


def needed_names(claim: Json, instance: Json) -> Json:
    """The instance without constants and parameters that nobody reads, neither the claim nor its world.

    The kernel refuses those.
    """
    domains = claim["domains"]
    parts = {k: instance[k] for k in ("constants", "parameters") if k in instance}
    return instance | {k: {name: x for name, x in part.items() if name in domains} for k, part in parts.items()}


def _declarations(names: tuple[str, ...], measured: Mapping[str, float]) -> Iterator[dict[str, str]]:
    """Rationals at or just above constants that the run measured (G), short ones first; the kernel decides."""
    for size, below in ((1000, NEAR), (10**6, BELOW)):
        near = {k: Fraction(measured[k]).limit_denominator(size) for k in names}
        if all(-below * abs(measured[k]) <= float(near[k]) - measured[k] <= NEAR * abs(measured[k]) for k in names):
            yield {k: str(v) for k, v in near.items()}
    # Six digits leave more room above the measured constant, where floats were off by more than ten digits show.
    for digits in (10, 6):
        yield {k: str(_above(measured[k], digits)) for k in names}


def _above(x: float, digits: int) -> Fraction:
    if x <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (int(np.floor(np.log10(x))) - digits)
    return (Fraction(x) // unit + 1) * unit


def exact_instances(reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array]) -> Iterator[Json]:
    """The kernel's instances of rational genes: several where the run measures constants, short rationals first."""
    measured = dict[str, float]()
    if setting.declared:
        scalars = tabulate(reading, setting, shape, in_floats([genome])).scalars
        measured = {name: float(np.broadcast_to(scalars[name], (1,))[0]) for name in setting.declared}
        if not all(map(math.isfinite, measured.values())):
            return
    yield from _instances(reading, setting, shape, genome, measured)
