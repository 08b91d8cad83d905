"""What a setting is: the world in which a statement can be run, for floats in batches and for one exact instance.

A setting proposes shapes and genes, builds batches from genomes, measures them into a `Table`, and writes an exact
instance for the kernel. Everything else (search, shrinking, certifying, plotting) is the same for all settings.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from flint import arb, fmpq

from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.bounds.language.knobs import knob_range
from fedaudit.problems.arrays.array_checks import Array as DeviceArray
from fedaudit.problems.arrays.backend import namespace

from ..results.tried_sizes import Counts
from ..search.claim_trees import names
from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Evaluator, Quantity, Table

if TYPE_CHECKING:
    from ..search.score import Scores

NOISY = ("noisy", "loud")  # counts that say where there is noise, not how large a run is

Json: TypeAlias = dict[str, Any]  # an object of JSON, in the kernel's format
Genes: TypeAlias = Mapping[str, Array]  # of one instance in rationals, or of a batch
Reductions: TypeAlias = Iterator[tuple["Shape", dict[str, Array]]]
Exact: TypeAlias = fmpq | arb  # a number of the kernel: exact, or a ball
LongerRun: TypeAlias = "tuple[Shape, Genes] | str"  # a longer run of the same problem, or why there is none


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes (C, d, E, T, ...) and choices (loss, noise, ...) shared by all instances of a batch."""

    counts: tuple[tuple[str, int], ...]
    flags: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, flags: Mapping[str, str] | None = None, **counts: int) -> Shape:
        return cls(tuple(counts.items()), tuple((flags or {}).items()))

    def __getitem__(self, name: str) -> int:
        return dict(self.counts)[name]

    def flag(self, name: str) -> str:
        return dict(self.flags)[name]

    def but(self, **counts: int) -> Shape:
        """This shape with other sizes."""
        return Shape(tuple((k, counts.get(k, v)) for k, v in self.counts), self.flags)

    @property
    def brief(self) -> bool:
        """Whether not all rounds are walked: the run stands still, or only its moments are followed."""
        return dict(self.flags).get("rounds") == "alike"

    @property
    def one_for_all(self) -> bool:
        """Whether one client is walked for all: they are alike, and all take part."""
        return dict(self.flags).get("clients") == "alike" and "oracle" in dict(self.flags)

    @property
    def steps(self) -> int:
        """Gradient steps that one run takes, one after the other."""
        sizes = dict(self.counts)
        return (1 if self.follows_moments else sizes.get("E", 1)) * (1 if self.brief else sizes.get("T", 1))

    @property
    def follows_moments(self) -> bool:
        """Whether steps are not walked either."""
        return dict(self.flags).get("steps") == "alike"

    @property
    def cost(self) -> int:
        """Rough size of one instance, for planning batches."""
        free = {*(("T", "b") if self.brief else ()), *(("C", "m") if self.one_for_all else ())}
        free |= {*(("E",) if self.follows_moments else ())}
        return int(np.prod([max(v, 1) for name, v in self.counts if name not in free]))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use: bytes of its arrays, and nominal seconds for runs that are longer than ordinary ones."""

    memory: int = 2 * 10**9
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement as it is audited: its lowered form and the implicit assumptions that are dropped."""

    lowered: Lowered
    dropped: tuple[str, ...] = ()
    backend: str = "numpy"  # the array library that runs are computed with
    whole: bool = False  # whether runs are measured wherever they can be, not only where the claim reads them
    limits: Limits = Limits()

    @property
    def claim(self) -> Json:
        return self.lowered.claim

    def uses(self, name: str) -> bool:
        """Whether the claim names this symbol or quantity anywhere."""
        return name in _used(self.lowered)


@lru_cache
def _used(lowered: Lowered) -> frozenset[str]:
    claim = lowered.claim
    parts = [*claim["then"], *claim["when"], *(rule["value"] for rule in claim["choose"].values())]
    return frozenset(used for part in parts for used, _ in names(part))


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Instances along an axis, chosen to show what a statement says: the axis' label; at each x, shape and values."""

    label: str
    points: Sequence[tuple[float, Shape, Mapping[str, float]]]
    caption: str


@dataclass(frozen=True, slots=True, eq=False)
class ExactValues:
    """What is known of one instance before its run, in rationals: constants, swept parameters, chosen step sizes."""

    scalars: Mapping[str, Fraction]
    quantities: Mapping[str, Array]


class Setting(ABC):
    """One kind of world. A setting says what its instances are; whatever it does not say is as it is here.

    `name` is the kernel's world, and the statement's `method` where that is a word.
    """

    name: str
    precision: type[np.floating[Any]] = np.float64
    droppable: tuple[str, ...] = ()  # implicit assumptions whose literal reading it can build
    declared: tuple[str, ...] = ()  # constants that the run measures and the instance declares, rounded up
    drawn: tuple[str, ...] = ()  # genes that are constants of the statement, as they are drawn
    fitted: bool = False  # whether floats only fit how fast both sides grow: of an instance the kernel alone knows more
    counts_steps: bool = False  # whether T counts local steps over all rounds
    first_round: bool = False  # whether the claim reads the first round alone
    nothing_met: str = ""  # why no instance was admissible, where that is not said in the usual words

    @abstractmethod
    def shapes(self, reading: Reading) -> Sequence[Shape]:
        """Shapes worth trying, small and structured ones first."""

    @abstractmethod
    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        """What may vary at this shape (the statement's own knobs are added by the caller)."""

    def statics(self, reading: Reading, shape: Shape, genome: Genes) -> dict[str, Array]:
        """Constants known before a run; pure arithmetic, so that rationals pass through unchanged."""
        return {name: genome[name] for name in self.drawn}

    @abstractmethod
    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """Run the batch; `known` holds statics, swept parameters and chosen step sizes."""

    @abstractmethod
    def instance(self, reading: Reading, shape: Shape, genome: Genes, known: ExactValues) -> Json:
        """The exact instance in the kernel's format, from rational genes and rational parameters."""

    def reductions(self, reading: Reading, shape: Shape, genome: Genes) -> Reductions:
        """Smaller shapes with what is left of the genome, for shrinking."""
        yield from ()

    def at_rest(self, reading: Reading, shape: Shape, genome: Genome) -> Genome:
        """The batch with runs that start at a minimiser, where the setting has those; else as it is."""
        return genome

    def for_claim(self, lowered: Lowered) -> Setting:
        """This setting as one claim needs it."""
        return self

    # --- how instances are compared ---

    def scores(self, reading: Reading, shape: Shape, genome: Genome) -> Scores | None:
        """How close a batch comes, where that is not told by both sides of the claim at every index."""
        return None

    def ratio(self, small: Exact, large: Exact) -> float:
        """How tight a claim is whose two sides the kernel knows: 1 is tight; NaN where that has no sense."""
        if not large > 0:
            return math.nan
        ratio = small / large
        try:
            return float(ratio if isinstance(ratio, fmpq) else ratio.lower())
        except OverflowError:  # beyond all floats
            return math.inf if ratio > 0 else -math.inf

    def told_sizes(self, reading: Reading, shape: Shape) -> Counts:
        """The sizes that a row tells. T says nothing where nothing is run and the claim has no T."""
        rounds = "method" in reading.claim or "T" in reading.lowered.symbols
        return tuple((name, n) for name, n in shape.counts if name not in NOISY and (name != "T" or rounds))

    # --- what a search can afford ---

    def ordinary(self, reading: Reading, shapes: Sequence[Shape]) -> list[Shape]:
        """Those of the shapes that populations evolve on."""
        return list(shapes)

    def untried(self, reading: Reading) -> tuple[str, ...]:
        """What was left out because it does not fit, a line each; nothing where all was tried."""
        return ()

    def most_rows(self, reading: Reading, shape: Shape) -> int:
        """Instances of a shape that are evaluated together at most, one at least."""
        return reading.limits.memory  # sizes of our own choice: a byte and more each, and never so many

    def paths(self, shape: Shape) -> int:
        """Outcomes of noise and sampling that a run walks."""
        return 1

    # --- longer runs and pictures ---

    def longer(self, reading: Reading, shape: Shape, genome: Genes) -> Iterator[LongerRun] | None:
        """Longer runs of the same problem; None where they are those with a larger T, if it counts rounds or steps."""
        return None

    def along(self, reading: Reading) -> Sequence[Mapping[int, Shape]]:
        """Shapes by their T, for pictures of a claim that fails on long runs only."""
        return ()

    def view(self, reading: Reading) -> View | None:
        """How the setting's statements are best looked at; None where that is on random instances."""
        return None

    def observe(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """What a picture shows of a batch: as `measure`, but sampled where that has only a bracket."""
        return self.measure(reading, shape, genome, known)


def with_scalars(reading: Reading, shape: Shape, values: Mapping[str, float]) -> Table:
    """A batch of one with these values in place of genes and knobs, and what the statement fixes by them (A2, ...)."""
    knobs = set(reading.lowered.knobs)
    fixed = {k: r for k, r in reading.lowered.sweep.items() if not {name for name, _ in names(r["value"])} & knobs}
    sizes = dict(shape.counts)
    scalars = {name: np.array([value]) for name, value in values.items()}
    return resolve(replace(reading.lowered, sweep=fixed), Table(1, scalars, {}, {**sizes, "D": sizes.get("d", 1)}))


def knob_genes(lowered: Lowered) -> list[Gene]:
    """The statement's own knobs (`unit`, `free`) as genes."""
    return [Gene(k, knob_range(k) or "positive") for k in lowered.knobs]


@lru_cache
def rules(lowered: Lowered) -> list[tuple[str, Json]]:
    """The swept parameters and the chosen quantities, each after what it needs."""
    pending = [*lowered.sweep.items(), *lowered.claim["choose"].items()]
    ordered: list[tuple[str, Json]] = []
    while pending:
        waiting = {_key(name, rule) for name, rule in pending}
        ready = [(name, rule) for name, rule in pending if not names(rule["value"]) & waiting]
        if not ready:
            raise ValueError(f"got a circular sweep in {lowered.id}, expected parameters in some order")
        ordered += ready
        pending = [pair for pair in pending if pair not in ready]
    return ordered


def _key(name: str, rule: Json) -> tuple[str, bool]:
    return name, bool(rule["index"])


def resolve(lowered: Lowered, table: Table) -> Table:
    """Add the swept parameters and the chosen quantities to a table."""
    for name, rule in rules(lowered):
        table = _add(table, name, rule)
    return table


def known_table(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Table:
    """What is known before a run: constants, swept parameters, chosen step sizes."""
    n = len(next(iter(genome.values())))
    statics = {**setting.statics(reading, shape, genome), **{k: genome[k] for k in reading.lowered.knobs}}
    sizes = dict(shape.counts)
    return resolve(reading.lowered, Table(n, statics, {}, {**sizes, "D": sizes.get("d", 1)}))


def _add(table: Table, name: str, rule: Json) -> Table:
    if not rule["index"]:
        values = np.broadcast_to(Evaluator(table, {})(rule["value"]), (table.n,))
        return Table(table.n, {**table.scalars, name: values}, table.quantities, table.counts)
    sizes = [table.counts[axis] for axis in ("T", "E")[: len(rule["index"])]]  # per round, or per round and local step
    ranges = {index: ("0", str(size - 1)) for index, size in zip(rule["index"], sizes, strict=True)}
    values = np.broadcast_to(Evaluator(table, ranges)(rule["value"]), (table.n, *sizes))
    quantity = Quantity(values, (0,) * len(sizes))
    return Table(table.n, table.scalars, {**table.quantities, name: quantity}, table.counts)


def to_backend(backend: str, array: Array) -> DeviceArray:
    """An array in the library that the runs use."""
    return array if backend == "numpy" else namespace(backend).asarray(np.ascontiguousarray(array))


def to_numpy(array: DeviceArray) -> Array:
    """Back from whichever library: CuPy's arrays copy themselves to the host, others are read in place."""
    if type(array) is np.ndarray:
        return cast("Array", array)
    return array.get() if hasattr(array, "get") else np.asarray(array)


def text(value: object) -> Any:
    """Fractions as the kernel's strings, arrays and lists as nested lists of them; of dictionaries the values."""
    if isinstance(value, np.ndarray | list):
        return [text(entry) for entry in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: text(entry) for name, entry in cast("dict[str, object]", value).items()}
    return str(Fraction(cast("Fraction", value)))


def as_batch(genome: Genes) -> dict[str, Array]:
    """One instance as a batch of one."""
    return {name: values[None] for name, values in genome.items()}


def without(genome: Genes, names: Sequence[str], out: int, axis: int = 0) -> dict[str, Array]:
    """A genome without entry `out` of one axis of the genes with these names."""
    return {name: np.delete(values, out, axis) if name in names else values for name, values in genome.items()}


def one_less(
    shape: Shape, genome: Genes, count: str, names: Sequence[str], axis: int = 0, least: int = 1
) -> Reductions:
    """Shapes with one less of what `count` counts, each entry of these genes left out in turn; `least` are kept."""
    for out in range(shape[count] if shape[count] > least else 0):
        yield shape.but(**{count: shape[count] - 1}), without(genome, names, out, axis)


def resized(shape: Shape, genome: Genes, count: str, sizes: Iterable[int]) -> Reductions:
    """Shapes with those of the sizes that are smaller, where no gene has an entry for each of what `count` counts."""
    for size in sorted(set(sizes)):
        if 0 < size < shape[count]:
            yield shape.but(**{count: size}), dict(genome)
