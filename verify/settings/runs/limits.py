"""What a search may use, memory and work, and what one run needs of both: told from a shape's sizes, before any array.

Sizes that conditions name (T >= 10^6) may be far beyond what a run on arrays can have. Every estimate is made here,
from whole numbers alone, and errs on the large side: what does not fit is left out, and the row says so.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log10, prod

from fedaudit.errors import UserError
from fedaudit.problems.runs.compiled_method import programme

from ...search.claim_trees import Node, Tree, names
from ...search.tree_arrays import Evaluator, Table, UnknownName
from ..base import Limits, Reading, Setting, Shape
from .requirements import free_steps

__all__ = [
    "Affordable",
    "Limited",
    "Need",
    "formulas_need",
    "memory",
    "need_of",
    "said",
]

ORDINARY_STEPS = 1_200  # steps of a run, one after the other: no shape of ours has more, unless a condition names it
ORDINARY_ROWS = 256  # instances that fit in memory together where populations may evolve
FEW = 24  # instances of a shape that is not ordinary: it is sampled, and not climbed on
WALKS = 4  # times that a sampled shape is run: at first, moved a little, and twice for the kernel
STEP, NUMBER = 1e-4, 1e-8  # seconds of a step in Python, however few instances; of a number in an array
PIECES = 12  # of the loss of a data point, and what is computed of each
DIGITS = 10_000  # bits of a number that Python writes out
COPIES = 8  # arrays of one size that are at hand together while formulas are evaluated
NO_SIZE = "no run of ours has sizes that meet its conditions"
UNITS = {"GB": 10**9, "MB": 10**6}
WRITTEN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(GB|MB)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Need:
    """What one instance of a shape needs: bytes, how many of them for sums and ranges of the claim, and steps that are
    taken one after the other.
    """

    bytes: int
    terms: int
    steps: int

    def ordinary(self, limits: Limits) -> bool:
        """Whether thousands of instances can be run again and again."""
        return self.steps <= ORDINARY_STEPS and ORDINARY_ROWS * self.bytes <= limits.memory

    def rows(self, limits: Limits) -> int:
        """Instances that fit in memory together."""
        most = limits.memory // max(self.bytes, 1)
        return most if self.ordinary(limits) else min(FEW, most)

    def seconds(self, limits: Limits) -> float:
        """Nominal seconds of all that is done with a shape that is not ordinary."""
        return WALKS * (self.steps * STEP + self.rows(limits) * self.bytes / 8 * NUMBER)


@dataclass(frozen=True, slots=True)
class Affordable:
    """Shapes that the limits allow, those of them that are ordinary, and one line for each kind that was left out."""

    shapes: tuple[Shape, ...]
    ordinary: frozenset[Shape]
    untried: tuple[str, ...] = ()


class Limited(Setting):
    """A setting whose shapes may be too large: their sizes come from a statement's conditions."""

    @abstractmethod
    def proposed(self, reading: Reading) -> Sequence[Shape]:
        """Shapes worth trying, if they can be afforded."""

    @abstractmethod
    def need(self, reading: Reading, shape: Shape) -> Need:
        """What one instance of a shape takes."""

    def affordable(self, reading: Reading) -> Affordable:
        """The proposed shapes that the reading's limits allow."""
        return _affordable(self, reading)

    def shapes(self, reading: Reading) -> Sequence[Shape]:
        return self.affordable(reading).shapes

    def ordinary(self, reading: Reading, shapes: Sequence[Shape]) -> list[Shape]:
        ordinary = self.affordable(reading).ordinary
        return [shape for shape in shapes if shape in ordinary]

    def untried(self, reading: Reading) -> tuple[str, ...]:
        return self.affordable(reading).untried

    def most_rows(self, reading: Reading, shape: Shape) -> int:
        return max(1, self.need(reading, shape).rows(reading.limits))


@lru_cache(maxsize=64)
def _affordable(setting: Limited, reading: Reading) -> Affordable:
    """All ordinary shapes; of the others what fits in memory, cheap ones first, as far as the effort goes.

    Every move on a statement asks for them.
    """
    proposed = setting.proposed(reading)
    if not proposed:
        return Affordable((), frozenset(), (NO_SIZE,))
    limits, needs = reading.limits, {shape: setting.need(reading, shape) for shape in proposed}
    ordinary = frozenset(shape for shape, one in needs.items() if one.ordinary(limits))
    fitting = [shape for shape in proposed if shape not in ordinary and needs[shape].rows(limits)]
    left, paid = limits.seconds, set[Shape]()
    for shape in sorted(fitting, key=lambda shape: needs[shape].seconds(limits)):
        left -= needs[shape].seconds(limits)
        if left < 0:
            break
        paid.add(shape)
    too_large = [shape for shape in proposed if not needs[shape].rows(limits)]
    too_long = [shape for shape in fitting if shape not in paid]
    room, effort = f"{said(limits.memory)} (--memory)", f"its share of the budget, {limits.seconds:.3g} s (--budget)"
    lines = [_line(reading, out, needs, why) for out, why in ((too_large, room), (too_long, effort)) if out]
    kept = tuple(shape for shape in proposed if shape in ordinary or shape in paid)
    return Affordable(kept, ordinary, tuple(lines))


def memory(text: str) -> int:
    """Bytes, written like 500MB or 2GB."""
    match = WRITTEN.fullmatch(text.strip())
    size = int(Fraction(match[1]) * UNITS[match[2].upper()]) if match else 0
    if not size:
        raise UserError(
            f"--memory {text}", "a size in MB or GB, above 0", "write it like --memory 500MB or --memory 4GB"
        )
    return size


def said(size: int) -> str:
    """Bytes in the largest unit of which there is one."""
    name, unit = next(((name, unit) for name, unit in UNITS.items() if size >= unit), ("bytes", 1))
    return f"{round(size / unit, 3):,g} {name}"


def _line(reading: Reading, out: Sequence[Shape], needs: Mapping[Shape, Need], limit: str) -> str:
    """One line about shapes that were left out, named by the letter of their largest size, or by long sums."""
    axis = max(("C", "d", "E", "T"), key=lambda name: min(dict(shape.counts).get(name, 1) for shape in out))
    least = min(dict(shape.counts).get(axis, 1) for shape in out)
    letters = {size: letter for letter, size in reading.claim.get("method", {}).get("names", {}).items()}
    summed = all(2 * needs[shape].terms > needs[shape].bytes for shape in out)
    where = "long sums or ranges" if summed else f"{letters.get(axis, axis)} ≥ {_short(least)}"
    if len(out) == len(needs):
        return f"{where}: no such run fits in {limit}, so none was tried"
    return f"{where}: {len(out)} of {len(needs)} kinds of runs do not fit in {limit} and were not tried"


def _short(n: int) -> str:
    """A whole number; a power of ten as such, and a long number as the one below it."""
    power = len(str(n)) - 1 if n.bit_length() < DIGITS else int(n.bit_length() * log10(2)) - 1
    return str(n) if n < 10**6 or (n < 10**12 and n != 10**power) else f"10^{power}"


def need_of(
    reading: Reading, shape: Shape, paths: int, genes: int, itemsize: int, affine: bool, counts_steps: bool
) -> Need:
    """Estimated from sizes: `paths` outcomes of noise and sampling, `genes` numbers that describe an instance."""
    claim, sizes = reading.claim, dict(shape.counts)
    method = claim["method"]
    C, d, E, T = (sizes[name] for name in ("C", "d", "E", "T"))
    looked = {index for measure in method["measures"].values() for index in measure["at"]}
    rounds = 3 if shape.brief and "t" not in looked else T
    local = 1 if counts_steps or (shape.follows_moments and "k" not in looked) else E
    spans = {"t": rounds + 1, "k": local + 1, "i": C, "j": C, "n": d, "T": 1}
    measured = sum(prod(spans[index] for index in measure["at"]) for measure in method["measures"].values())
    terms = COPIES * _terms(reading, shape)
    numbers = _state(reading, shape, paths, rounds, local, "k" in looked, affine)
    numbers += rounds * local + measured
    return Need((COPIES * numbers + terms + 3 * genes) * itemsize, terms * itemsize, rounds * local)


def formulas_need(reading: Reading, shape: Shape, itemsize: int) -> Need:
    """Where nothing is run: both sides, with their sums, and the conditions."""
    terms = COPIES * _terms(reading, shape) * itemsize
    return Need(terms, terms, 1)


def _terms(reading: Reading, shape: Shape) -> int:
    """Numbers that the chosen quantities have, and the longest relation."""
    claim, counts = reading.claim, {"D": dict(shape.counts).get("d", 1), **dict(shape.counts)}
    rules = [*claim["choose"].values(), *reading.lowered.sweep.values()]
    spans = [counts.get("T", 1), counts.get("E", 1)]
    chosen = sum(prod(spans[: len(rule["index"])]) * _sums(rule["value"], counts) for rule in rules)
    ranges = [(relation, claim["for_all"]) for relation in (*claim["then"], *claim["when"])]
    ranges += [(meaning["relation"], meaning["for_all"]) for meaning in claim.get("means", {}).values()]
    return chosen + max((_compared(relation, for_all, counts) for relation, for_all in ranges), default=1)


def _state(reading: Reading, shape: Shape, paths: int, rounds: int, local: int, inside: bool, affine: bool) -> int:
    """Numbers of the vectors that a run has at hand; `inside`: whether it is measured between local steps."""
    method, C, d = reading.claim["method"], shape["C"], shape["d"]
    entries = d * sum(1 if name in method["server"] else C for name in programme(method).kept)
    vectors = C * d * (len(method["server"]) + len(method["client"]))
    if shape.brief:
        return vectors + (1 + entries + C * d) ** 4  # what becomes of first and second moments is a matrix
    if "oracle" in dict(shape.flags):  # data points have losses of several pieces, and every answer is measured
        return paths * (vectors * d * PIECES * shape["K"] + rounds * C)
    if not affine or paths > 1:
        return paths * vectors
    by_round, by_step = _varying(reading)  # a round as a map: a column for each entry, and for the noise of steps
    columns = 1 + entries + (0 if shape.flag("noise") == "none" else C * (local if by_step else 1))
    maps = (rounds if by_round else 1) * columns * C * d * (local + 1 if inside else 1)
    return maps + rounds * (entries + C * d) * (1 if shape.flag("noise") == "none" else entries)


def _varying(reading: Reading) -> tuple[bool, bool]:
    """Whether a step size changes from round to round, and from local step to local step."""
    rules = [*reading.claim["choose"].values(), *reading.lowered.sweep.values()]
    used = [[(index, False) in names(rule["value"]) for index in rule["index"]] for rule in rules]
    used += [[True] * arity for arity in free_steps(reading).values()]
    return any(any(one[:1]) for one in used), any(any(one[1:]) for one in used)


def _compared(relation: Node, for_all: Mapping[str, Sequence[Tree]], counts: Mapping[str, int]) -> int:
    """Numbers of both sides of a relation: all its indices, and those of the sums inside."""
    sizes, span = dict(counts), 1
    for index, (low, high) in for_all.items():
        sizes[index] = _largest(high, sizes)
        span *= max(1, sizes[index] - _least(low) + 1)
    return span * max(_sums(side, sizes) for side in relation[1:])


def _sums(tree: Tree, counts: Mapping[str, int]) -> int:
    """Terms of the sums in a tree, of those inside each other the product."""
    if not isinstance(tree, list):
        return 1
    if tree[0] != "sum":
        return max((_sums(part, counts) for part in tree[1:]), default=1)
    _, variable, low, high, body = tree
    last = _largest(high, counts)
    return max(1, last - _least(low) + 1) * _sums(body, {**counts, str(variable): last})


def _least(low: Tree) -> int:
    """The first index of a range, or 0 where it is a formula."""
    return int(low) if isinstance(low, str) and low.isdigit() else 0


def _largest(high: Tree, counts: Mapping[str, int]) -> int:
    """The last index of a range; the largest size where the tree names what is not known before a run."""
    if isinstance(high, str):
        return int(high) if high.isdigit() else counts.get(high, max(counts.values()))
    if not {name for name, _ in names(high) if not name.lstrip("-").isdigit()} <= set(counts):
        return max(counts.values())
    try:
        return Evaluator(Table(1, {}, {}, counts), {}).integer(high)
    except (UnknownName, ValueError, OverflowError):
        return max(counts.values())
