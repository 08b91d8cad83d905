"""Runs on clients with data points: minibatches, and an oracle that may err.

Kinds of clients. `different`: all outcomes of who takes part and of what is drawn are walked. `alike`: all the
same, all take part, one data point each, so that a run is deterministic and may be long. The oracle is `exact`; `free`:
any answer; `aimed`: errors up to the limit that the statement sets for them, which decides what is admissible; `still`:
after the first round it returns what it was given, so that T may be huge. `parabolas`: moments say all of a run, so
that T may be huge too.

With more than one variable Hessians are full. In one round every client has a basis of its own; where a statement reads
the minimum or a proximal point of f, all clients have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
from flint import fmpq

from fedaudit.problems.arrays.genes import Gene
from fedaudit.problems.losses.datapoints import count
from fedaudit.problems.runs.interpreter import paths_needed

from ...kernel.core.expression import Evaluator as ExactEvaluator
from ...kernel.core.expression import parse
from ...kernel.core.rational import Node
from ...search.claim_trees import Tree, names, quantity, subtrees, words
from ...search.genome import rational as rational_near
from ...search.tree_arrays import Array, Evaluator, Table
from ..base import Genes, LongerRun, Reading, Reductions, Shape, rules
from .requirements import RULES, bends, has, rules_sample

MINIBATCHES = {1: (1, 2, 3, 4, 10, 50, 1000), 2: (1, 2, 3, 5), 3: (1, 2)}  # data points -> sizes
ROUNDS = (1, 4, 8, 9, 16, 27, 64)
CALM = (1, 4, 9, 16, 25, 64, 100)
SIXTH_POWERS = tuple(n**6 for n in (2, 3, 5, 10, 20, 30))  # both roots that step sizes take of T are integers
TAKING_PART = (1, 4, 16)
WIDE = (
    (2, 1, 1, 2), (2, 2, 1, 2), (2, 2, 2, 2), (3, 2, 1, 3), (1, 1, 2, 2), (1, 1, 2, 3),
    (5, 5, 1, 1), (5, 1, 1, 1), (6, 2, 1, 1), (5, 5, 1, 2),
)  # fmt: skip  # C, m, K, d of rounds with several variables or many clients
WIDE_RUNS = (
    (2, 1, 1, 2), (2, 2, 1, 2), (4, 4, 1, 2), (3, 3, 1, 3), (1, 1, 2, 2), (1, 1, 2, 3), (5, 5, 1, 1), (5, 1, 1, 1),
    (9, 9, 1, 1),
)  # fmt: skip
LONGER = 3  # longer runs that a counterexample is tried on
PHASES = 2  # the oracle follows one rule in the first round and another one after it
MOST_PATHS = 72
DIGITS, ALMOST = 6, 1 - 1e-5  # of rounded shifts: what is rounded stays below the limit


def shapes(reading: Reading) -> list[Shape]:
    """The shapes that the statement allows; where no rule means over a sample, none is drawn, whatever C becomes."""
    return [shape if rules_sample(reading) else _unsampled(shape) for shape in _proposed(reading)]


def _unsampled(shape: Shape) -> Shape:
    return Shape(shape.counts, tuple((name, "all" if name == "sampling" else kind) for name, kind in shape.flags))


def _proposed(reading: Reading) -> list[Shape]:
    full, everyone = has(reading, "full_batch"), takes_everyone(reading)
    told = has(reading, "exact_oracle") or not oracle_step(reading)
    errs = "exact" if told else "aimed" if _limit(reading) is not None else "free"
    if not long(reading):
        measures = reading.claim["method"]["measures"].values()
        alone = any(measure["at"] == ["i"] for measure in measures)
        groups = [(1, 1)] if alone else [(2, 1), (1, 1), (2, 2), (3, 1), (3, 2)]
        if "sampled" not in words([measure["terms"] for measure in measures]):  # nothing asks who took part
            groups = [(1, 1)] if alone else [(1, 1), (2, 2)]
        if "independent_minibatches" in reading.dropped:
            groups, data = [(2, 2), (3, 3)], [(2, 1), (3, 1)]
        elif full:
            data = [(1, 0), (2, 0)]
        else:
            says_b = reading.uses("b")
            data = [
                (K, b) for K, sizes in MINIBATCHES.items() for b in (sizes if says_b else sizes[:2]) if K < 3 or says_b
            ]
            data = [(K, b) for K, b in data if K > 1 or b == 1 or (says_b and not alone)]
        groups = [(C, m) for C, m in groups if not everyone or m == C]
        clients = "shared" if reading.dropped else "different"
        proposed = [_shape(clients, errs, C, m, K, b, 1) for (C, m), (K, b) in product(groups, data)]
        drawn = any(m < C for C, m in groups)
        for C, m, K, d in WIDE if not reading.dropped else ():
            fits = C == 1 if groups == [(1, 1)] else m == C or drawn
            b = next((b for size, b in data if size == K), None)
            proposed += [_shape(clients, errs, C, m, K, b, 1, d, "own")] if fits and b is not None else []
        return [shape for shape in proposed if outcomes(shape) <= MOST_PATHS]
    return [shape for shape in _long_shapes(reading, full, everyone, errs) if rational(reading, shape)]


def _long_shapes(reading: Reading, full: bool, everyone: bool, errs: str) -> Iterator[Shape]:
    minibatches = [0] if full else [1, 4]
    swept = {name for rule in reading.lowered.sweep.values() for name, _ in names(rule["value"])}
    counts = TAKING_PART if swept & {*_letters(reading, "m")} or reading.uses("b") else (1,)
    sizes = minibatches if reading.uses("b") or full else [1]
    smooth = (-1, 1) in bends(reading)
    for m, b, rounds in product(counts, sizes, ROUNDS if smooth else CALM):
        yield _shape("alike", errs, m, m, 1, b, rounds)
    for rounds, d in product((8, 64) if smooth else (4, 9), (2, 3)):
        yield _shape("alike", errs, 1, 1, 1, sizes[0], rounds, d)
    if has(reading, "lgd"):
        return
    if errs != "exact" and not _every_round(reading):
        for m, b, rounds in product(counts[:2], sizes, SIXTH_POWERS):
            yield _shape("alike", "still", m, m, 1, b, rounds)
    groups = [(2, 2), (3, 3)] if everyone else [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 4)]
    data = [(1, 0)] if full else [(1, 1), (1, 4), (2, 1), (2, 2)]
    for (C, m), (K, b), rounds in product(groups, data, (1, 4, 8, 9)):
        shape = _shape("different", errs, C, m, K, b, rounds)
        if outcomes(shape.but(T=max(rounds - 1, 1))) <= MOST_PATHS and (C > 1 or K > 1):
            yield shape
    yield from _wide_runs(full, everyone, errs, data[0][1], (1, 8, 64) if smooth else (1, 4))
    plain = not (reading.claim["method"]["local"] or reading.claim["method"]["end"])  # rounds that begin and update
    if everyone or not plain or _every_round(reading):
        return
    for (size, m), rounds in product(((2, 1), (3, 1), (3, 2)), SIXTH_POWERS):
        yield _shape("parabolas", "exact", size, m, 1, 0 if full else rounds, rounds)


def _wide_runs(full: bool, everyone: bool, errs: str, b: int, lengths: tuple[int, ...]) -> Iterator[Shape]:
    """Several variables, or many clients."""
    for (C, m, K, d), rounds in product(WIDE_RUNS, lengths):
        shape = _shape("different", errs, C, m, K, b, rounds, d)
        fits = (m == C or not everyone) and (C > 1 or (K > 1 and not full))
        if fits and outcomes(shape.but(T=max(rounds - 1, 1))) <= MOST_PATHS:
            yield shape


def _shape(clients: str, oracle: str, C: int, m: int, K: int, b: int, T: int, d: int = 1, basis: str = "one") -> Shape:
    """b = 0: a batch is all data. The basis of several variables is `one` for all clients, or their `own`."""
    shared = {"draws": "shared"} if clients == "shared" else {}
    flags = {"loss": "stairs", "noise": "none", "sampling": "without_replacement", "oracle": oracle, **shared}
    flags |= {"clients": "alike"} if clients == "alike" else {}
    flags |= {"loss": "parabola"} if clients == "parabolas" else {}
    flags |= {"rounds": "alike"} if clients == "parabolas" or oracle == "still" else {}
    flags |= {"basis": basis} if d > 1 else {}
    return Shape.of(flags, C=C, d=d, E=1, T=T, K=K, m=m, **({"b": b} if b else {}))


def along(reading: Reading, shapes: Sequence[Shape]) -> list[Mapping[int, Shape]]:
    """Shapes by their T: runs that stand still, or else around a minimum, or else whatever is admissible."""
    smooth = [shape for shape in shapes if (-1, 1) in bends(reading)]
    still = {shape["T"]: shape for shape in reversed(smooth) if shape.flag("oracle") == "still"}
    moments = {shape["T"]: shape for shape in smooth if shape.flag("loss") == "parabola"}
    calm = {n * n: alike(reading, n * n) for n in (1, 2, 3, 5, 8, 12, 20)}
    return [*({T: by_T[T] for T in sorted(by_T)} for by_T in (still, moments) if by_T), calm]


def longer(reading: Reading, shapes: Sequence[Shape], shape: Shape, genome: Genes) -> Iterator[LongerRun]:
    """The next T of these shapes at the same sizes. The oracle goes on with its last rule."""
    apart = ("T", "b") if shape.flag("loss") == "parabola" else ("T",)
    own = [(name, n) for name, n in shape.counts if name not in apart]
    later = [s for s in shapes if long(reading) and s.flags == shape.flags and s["T"] > shape["T"]]
    same = [s for s in later if [(name, n) for name, n in s.counts if name not in apart] == own]
    for next_shape in sorted(same, key=lambda s: s["T"])[:LONGER]:
        yield next_shape, {name: _drawn_out(name, values, next_shape) for name, values in genome.items()}


def _drawn_out(name: str, values: Array, shape: Shape) -> Array:
    """A gene's values for a longer run. Batches have one more axis in front."""
    if name not in ("step", "shift") or shape.flag("oracle") == "still":
        return values
    axis = values.ndim - (2 if name == "step" else 4)  # of the rounds: step (rounds, C), shift (rounds, C, drawn, d)
    missing = min(shape["T"], PHASES) - values.shape[axis]
    last = np.take(values, [-1], axis=axis)
    return np.concatenate([values, *[last] * missing], axis=axis)


def alike(reading: Reading, T: int) -> Shape:
    """The shape of T rounds with one client and one data point."""
    errs = "exact" if has(reading, "exact_oracle") or not oracle_step(reading) else "aimed"
    shape = _shape("alike", errs, 1, 1, 1, 0 if has(reading, "full_batch") else 1, T)
    return shape if rules_sample(reading) else _unsampled(shape)


def outcomes(shape: Shape) -> int:
    """Who takes part and what is drawn, in all rounds; of clients that are alike one."""
    sizes = dict(shape.counts)
    if dict(shape.flags).get("clients") == "alike" or shape.flag("loss") == "parabola":
        return 1
    batches = count(sizes["K"], sizes["b"]) if "b" in sizes else 1
    if dict(shape.flags).get("draws") == "shared":
        return batches ** min(sizes["T"], 20)
    kind = shape.flag("sampling")
    drawn = paths_needed(sizes["T"], sizes["C"], 0, (kind, sizes["m"]) if kind != "all" else None)
    return drawn * batches ** (sizes["C"] * min(sizes["T"], 20))


def long(reading: Reading) -> bool:
    """Whether the statement is about a run rather than about one round."""
    return any("T" in measure["at"] or "t" in measure["at"] for measure in reading.claim["method"]["measures"].values())


def _every_round(reading: Reading) -> bool:
    """Whether the claim reads what a run is at every round t; a mean over the rounds may be over ever so many."""
    return any("t" in measure["at"] for measure in reading.claim["method"]["measures"].values())


def takes_everyone(reading: Reading) -> bool:
    """Whether all clients take part in every round: so it is said, or no rule of the method means over a sample."""
    return has(reading, "full_participation") or not rules_sample(reading)


def _letters(reading: Reading, name: str) -> list[str]:
    """What the claim calls a size."""
    return [name, *(letter for letter, own in reading.claim["method"].get("names", {}).items() if own == name)]


def rational(reading: Reading, shape: Shape) -> bool:
    """Whether the step sizes of this shape are rational (with every constant and knob 1)."""
    sizes = dict(shape.counts)
    world = _Ones({letter: fmpq(n) for name, n in sizes.items() for letter in _letters(reading, name)})
    for name, rule in rules(reading.lowered):
        value = ExactEvaluator(world, None).value(parse(Node(rule["value"], "sweep")), {})
        if not isinstance(value, fmpq):
            return False
        world.values[name] = value
    return True


@dataclass(frozen=True, slots=True)
class _Ones:
    """Scalars by name, 1 where nothing else is said."""

    values: dict[str, fmpq]

    def value(self, name: str) -> fmpq:
        return self.values.get(name, fmpq(1))

    def at(self, name: str, indices: tuple[int, ...]) -> fmpq:
        raise KeyError(name)


def genes(reading: Reading, shape: Shape) -> list[Gene]:
    """The oracle's answers: rows of rounds, clients, and in one round minibatches."""
    kind, sizes = shape.flag("oracle"), dict(shape.counts)
    C = 1 if dict(shape.flags).get("clients") == "alike" else sizes["C"]
    rows = 1 if kind == "still" else min(sizes["T"], PHASES)
    drawn = count(sizes["K"], sizes["b"]) if "b" in sizes and sizes["T"] == 1 else 1
    shift = Gene("shift", "real", (rows, C, drawn, sizes["d"]), ("", "C", "", "d"))
    step = Gene("step", "fraction", (rows, C), ("", "C"))
    return {"exact": [], "aimed": [shift], "free": [step, shift], "still": [step, shift]}[kind]


@lru_cache
def oracle_step(reading: Reading) -> str:
    """The symbol that is the oracle's step in the method's rules; nothing where there is no oracle."""
    rules_of_phases = [rule for phase in RULES for rule in reading.claim["method"][phase].values()]
    asked = [quantity(part) for part in subtrees(rules_of_phases) if part[0] == "oracle"]
    return asked[-1] if asked else ""


def _limit(reading: Reading) -> Tree | None:
    """The tree that the statement bounds the oracle's inaccuracy by; None where it sets no limit."""
    name = next((a[1] for a in reading.claim["let"] if a[0] == "inexact"), "")
    return next((right for op, left, right in reading.claim["when"] if (op, left) == ("<=", name)), None)


def oracle(reading: Reading, shape: Shape, genome: Genes, known: Table) -> tuple[Array, Array] | None:
    """step (n, J, C) and shift (n, J, C, minibatches or 1, d).

    A shift of sqrt(2 eps eta/(1 + eta L)) makes an error of at most eps, curvatures being at most L.
    """
    if "shift" not in genome:
        return None
    eta, shift, high = known.scalars[oracle_step(reading)], genome["shift"], genome["curvature"]
    wide = (slice(None), None, None, None, None)
    if shape.flag("oracle") == "aimed":
        limit = np.broadcast_to(Evaluator(known, {})(_limit(reading)), (known.n,))
        most = np.sqrt(2 * limit * eta / (1 + eta * high))
        length = np.linalg.norm(shift, axis=-1, keepdims=True)
        step, shift = 1 + 0 * shift[..., 0, 0], ALMOST * most[wide] * shift / np.maximum(length, 1.0)
    else:
        step, shift = genome["step"], shift * (eta * high * genome["scale"])[wide]
    if shape.flag("oracle") == "still":
        step, shift = (np.concatenate([x, 0 * x], axis=1)[:, : shape["T"]] for x in (step, shift))
    C = shape["C"]
    return (step, shift) if step.shape[2] == C else (np.repeat(step, C, axis=2), np.repeat(shift, C, axis=2))


def exact_oracle(
    reading: Reading, shape: Shape, genome: Genes, scalars: Mapping[str, Fraction]
) -> tuple[Array, Array] | None:
    """The oracle's step and shift in rationals, of a batch of one; what has a root in it is rounded."""
    if "shift" not in genome or shape.flag("oracle") != "aimed":
        name = oracle_step(reading)
        return oracle(reading, shape, genome, Table(1, {name: np.array([scalars.get(name, 1)], dtype=object)}, {}, {}))
    floats = {k: np.asarray(v, dtype=float) for k, v in genome.items()}
    table = Table(1, {k: np.array([float(v)]) for k, v in scalars.items()}, {}, dict(shape.counts))
    answers = oracle(reading, shape, floats, table)
    assert answers is not None
    step, shift = (np.vectorize(_near, otypes=[object])(x) for x in answers)
    return step, shift


def _near(x: float) -> Fraction:
    return rational_near(float(x), DIGITS, "real")


def reductions(reading: Reading, shape: Shape, genome: Genes, axes: Mapping[str, tuple[str, ...]]) -> Reductions:
    """Fewer clients, data points, rounds; smaller minibatches; an oracle that stands still. `axes` of every gene."""
    sizes, alike = dict(shape.counts), dict(shape.flags).get("clients") == "alike"
    smaller: list[tuple[Shape, dict[str, Array]]] = []
    for axis in () if alike else ("C", "K"):
        less = shape.but(**{axis: sizes[axis] - 1})
        along = {name: own.index(axis) for name, own in axes.items() if axis in own}
        for out in range(sizes[axis] if sizes[axis] > 1 else 0):
            cut = {k: np.delete(v, out, axis=along[k]) if k in along else v for k, v in genome.items()}
            smaller.append((less.but(m=min(sizes["m"], less["C"])), cut))
    lengths = (
        {n**6 for n in range(2, 30)} if shape.flag("oracle") == "still" else {2, 3, sizes["T"] // 2, *ROUNDS, *CALM}
    )
    for axis in ("T", "b", *(("m",) if not alike else ())):
        size = sizes.get(axis, 1)
        shorter = lengths if axis == "T" else {1, 2, 3, size // 2, size - 1}
        smaller += [(shape.but(**{axis: n}), dict(genome)) for n in shorter if 0 < n < size]
    if alike:
        smaller += [(shape.but(C=n, m=n), dict(genome)) for n in (1, 4, 9) if n < sizes["C"]]
    everyone = takes_everyone(reading)
    for less, kept in sorted(smaller, key=lambda pair: sum(n for _, n in pair[0].counts)):
        if rational(reading, less) and (not everyone or less["m"] == less["C"]):
            wanted = {gene.name: gene for gene in genes(reading, less)}
            yield less, {k: _fitted(v, wanted[k].shape) if k in wanted else v for k, v in kept.items()}
            yield from ((less, calm) for calm in still(kept))
    yield from ((shape, calm) for calm in still(genome))


def cut(genome: Genes, genes: Mapping[str, Gene], kept: Mapping[str, Gene]) -> dict[str, Array]:
    """What is left of a genome for fewer genes, or shorter ones."""
    left = {k: v for k, v in genome.items() if k in kept or k not in genes}
    return {k: _fitted(v, kept[k].shape) if k in kept else v for k, v in left.items()}


def _fitted(values: Array, shape: tuple[int, ...]) -> Array:
    """Values in this shape: cut off, or with the last entry again and again."""
    for axis, size in enumerate(shape):
        values = np.take(values, np.minimum(np.arange(size), values.shape[axis] - 1), axis=axis)
    return values


def still(genome: Genes) -> Iterator[dict[str, Array]]:
    """The genome with an oracle that never moves, or not after the first round: any answer is allowed that is near
    enough to optimal, and this one is easy to follow."""
    for first in range(len(genome["step"]) if "step" in genome else 0):
        calm = {k: genome[k].copy() for k in ("step", "shift")}
        for values in calm.values():
            values[first:] = 0 * values[first:]
        yield {**genome, **calm}
