"""What a setting is: the world in which a statement can be run, for floats in batches and for one exact instance.

A setting proposes shapes and genes, builds batches from genomes, measures them into a `Table`, and writes an exact
instance for the kernel. Everything else (search, shrinking, certifying, plotting) is the same for all settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.bounds.language.knobs import knob_range
from fedaudit.problems.arrays.backend import namespace
from fedaudit.problems.arrays.recording import Taped

from ..search.genome import Gene, Genome
from ..search.tree_arrays import Array, Evaluator, Quantity, Table

NOISY = ("noisy", "loud")  # counts that say where there is noise, not how large a run is


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
        """The same shape with other sizes."""
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
    def claim(self) -> dict[str, Any]:
        return self.lowered.claim

    def uses(self, name: str) -> bool:
        """Whether the claim names this symbol or quantity anywhere."""
        return name in _used(self.lowered)


@lru_cache
def _used(lowered: Lowered) -> frozenset[str]:
    claim = lowered.claim
    parts = [*claim["then"], *claim["when"], *(rule["value"] for rule in claim["choose"].values())]
    return frozenset(used for part in parts for used, _ in names(part))


class Setting(Protocol):
    """One kind of world. `name` is the statement's `method` and the kernel's world."""

    name: str
    precision: type[np.floating[Any]]
    droppable: tuple[str, ...]  # implicit assumptions whose literal reading it can build
    declared: tuple[str, ...]  # constants that the run measures and the instance declares, rounded up

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        """Shapes worth trying, small and structured ones first."""
        ...

    def genes(self, reading: Reading, shape: Shape) -> Sequence[Gene]:
        """What may vary at this shape (the statement's own knobs are added by the caller)."""
        ...

    def statics(self, reading: Reading, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
        """Constants known before a run; pure arithmetic, so that rationals pass through unchanged."""
        ...

    def measure(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """Run the batch; `known` holds statics, swept parameters and chosen step sizes."""
        ...

    def instance(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The exact instance in the kernel's format, from rational genes and rational parameters."""
        ...

    def reductions(
        self, reading: Reading, shape: Shape, genome: Mapping[str, Array]
    ) -> Iterator[tuple[Shape, dict[str, Array]]]:
        """Smaller shapes with what is left of the genome, for shrinking."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Instances along an axis, chosen to show what a statement says: the axis' label; at each x, shape and values."""

    label: str
    points: Sequence[tuple[float, Shape, Mapping[str, float]]]
    caption: str


@runtime_checkable
class Viewed(Protocol):
    """A setting that knows how its statements are best looked at; others are shown on random instances."""

    def view(self, reading: Reading) -> View: ...

    def observe(self, reading: Reading, shape: Shape, genome: Genome, known: Table) -> Table:
        """As `measure`, for looking: sampled where `measure` has only a bracket."""
        ...


def with_scalars(reading: Reading, shape: Shape, values: Mapping[str, float]) -> Table:
    """A batch of one with these values in place of genes and knobs, and what the statement fixes by them (A2, ...)."""
    knobs = set(reading.lowered.knobs)
    fixed = {k: r for k, r in reading.lowered.sweep.items() if not {name for name, _ in names(r["value"])} & knobs}
    sizes = dict(shape.counts)
    given = {k: np.array([v]) for k, v in values.items()}
    return resolve(replace(reading.lowered, sweep=fixed), Table(1, given, {}, {**sizes, "D": sizes.get("d", 1)}))


def knob_genes(lowered: Lowered) -> list[Gene]:
    """The statement's own knobs (`unit`, `free`) as genes."""
    return [Gene(k, knob_range(k) or "positive") for k in lowered.knobs]


@lru_cache
def rules(lowered: Lowered) -> list[tuple[str, dict[str, Any]]]:
    """The swept parameters and the chosen quantities, each after what it needs."""
    pending = [*lowered.sweep.items(), *lowered.claim["choose"].items()]
    ordered: list[tuple[str, dict[str, Any]]] = []
    while pending:
        waiting = {_key(name, rule) for name, rule in pending}
        ready = [(name, rule) for name, rule in pending if not names(rule["value"]) & waiting]
        if not ready:
            raise ValueError(f"got a circular sweep in {lowered.id}, expected parameters in some order")
        ordered += ready
        pending = [pair for pair in pending if pair not in ready]
    return ordered


def _key(name: str, rule: dict[str, Any]) -> tuple[str, bool]:
    return name, bool(rule["index"])


def names(tree: Any) -> set[tuple[str, bool]]:
    """(name, indexed?) of everything a tree uses."""
    if isinstance(tree, str):
        return {(tree, False)}
    if not isinstance(tree, list):
        return set()
    op, *parts = cast("list[Any]", tree)
    if op == "at":
        return {(parts[0], True)}.union(*(names(part) for part in parts[1:]))
    return set[tuple[str, bool]]().union(*(names(part) for part in parts))


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


def _add(table: Table, name: str, rule: dict[str, Any]) -> Table:
    if not rule["index"]:
        values = np.broadcast_to(Evaluator(table, {})(rule["value"]), (table.n,))
        return Table(table.n, {**table.scalars, name: values}, table.quantities, table.counts)
    sizes = [table.counts[axis] for axis in ("T", "E")[: len(rule["index"])]]  # per round, or per round and local step
    ranges = {index: ("0", str(size - 1)) for index, size in zip(rule["index"], sizes, strict=True)}
    values = np.broadcast_to(Evaluator(table, ranges)(rule["value"]), (table.n, *sizes))
    quantity = Quantity(values, (0,) * len(sizes))
    return Table(table.n, table.scalars, {**table.quantities, name: quantity}, table.counts)


def to_backend(backend: str, array: Array) -> Any:
    """An array in the library that the runs use."""
    return array if backend == "numpy" else namespace(backend).asarray(np.ascontiguousarray(array))


def to_numpy(array: Any) -> Array:
    """Back from whichever library: CuPy's arrays copy themselves to the host, others are read in place."""
    if type(array) is np.ndarray or type(array) is Taped:
        return cast("Array", array)
    return array.get() if hasattr(array, "get") else np.asarray(array)


def text(value: Any) -> Any:
    """Fractions as the kernel's strings, arrays and lists as nested lists of them; of dictionaries the values."""
    if isinstance(value, np.ndarray | list):
        return [text(v) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {k: text(v) for k, v in cast("dict[str, Any]", value).items()}
    return str(Fraction(value))
