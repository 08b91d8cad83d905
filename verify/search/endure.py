"""Sturdy counterexamples: of those found, the one that goes on refuting when the run goes on, then the simplest.

A counterexample at T = 1 that holds again at T = 2 convinces nobody. The same problem is run for longer and the claim
is tested again: at the longer horizon and, where it speaks of every round, at a round of the later half. What there is
one of per round (weights, say) goes on with its last value. A counterexample that does not last is not the last word: a
climb looks for one that refutes at longer horizons too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np

from .. import kernel
from ..results.tried_sizes import Counts
from ..settings.base import Json, LongerRun, Reading, Setting, Shape
from .claim_trees import Tree, names
from .climb import VIOLATION, Found
from .genome import Genome, draw, exactly, join, mutate, rows
from .rationalise import DIGITS, Replayed, decided, needed_names, replay, scored
from .score import BEYOND_ROUNDING, conditions, genes_of, tabulate
from .seeds import seed_for
from .tree_arrays import Array, Evaluator

ROUNDS = (2, 4, 8, 16)  # the longer horizons that are tried; beyond them, twice the rounds
MOST_STEPS = 48  # of a longer run: exact numbers grow with every step
MOST_PATHS = 256  # of a longer run with noise
LONG = ("T", "E", "k")  # the sizes of an instance that say how long its run is, and where one looks
SHAPES, DRAWN, POPULATION, ELITE = 4, 2000, 384, 48  # of the climb for a counterexample that lasts: a broad one
AT_ONCE = 96  # instances whose longer run is taken together
GENERATIONS, POLISH, PATIENCE = 20, 4, 5  # of these; after the first that lasts; without coming closer to one
LIMITS = TOO_LONG, TOO_MANY = "exact numbers too long", "too many paths of noise"
NO_RUN = "no run"


@dataclass(frozen=True, slots=True)
class Endurance:
    """At which longer runs (sizes and index) the same problem refutes too, and what ended the list.

    `lasts`: longer runs were tried and all of them refute. `reach`: how long the longest of them is, before the first
    that does not.
    """

    refutes: tuple[dict[str, int], ...]
    until: str
    lasts: bool
    reach: int

    @property
    def fragile(self) -> bool:
        """Whether it is worth looking for one that lasts; what refutes as far as exact numbers go is not fragile."""
        return not self.lasts and self.until != NO_RUN and not (self.refutes and self.until in LIMITS)

    def worth(self) -> tuple[bool, int]:
        """What lasts is worth more than what ends, however late; of that, what ends later."""
        # What lasts refutes at every horizon that was tried; how long those are is due to its shape alone.
        return self.lasts, 0 if self.lasts else self.reach

    def keeps(self, other: Endurance) -> bool:
        """Whether nothing is lost from `other` to this."""
        return not other.refutes or self.worth() >= other.worth()

    def row(self) -> Json:
        return {"persists": [dict(one) for one in self.refutes], "persists_until": self.until}


def endurance(reading: Reading, setting: Setting, replayed: Replayed, glance: bool = False) -> Endurance:
    """How the problem of a counterexample does at longer horizons, up to the first at which it does not refute.

    The kernel decides.

    At a `glance` floats decide where they are sure: what is shown to nobody needs no kernel.
    """
    refutes, last, own = list[dict[str, int]](), _sizes(replayed), _sizes(replayed)

    def ended(until: str) -> Endurance:
        return Endurance(tuple(refutes), until, not until, _length(last))

    grown_itself = setting.longer(reading, replayed.shape, replayed.genome) is not None
    if not grown_itself and not _runs(replayed):
        return ended(NO_RUN)
    for longer in _longer(reading, setting, replayed.shape, replayed.genome):
        if isinstance(longer, str):
            return ended(longer)
        again = _again(reading, setting, *longer, own if glance and not grown_itself else None)
        if again is None:
            return ended(f"no admissible run after {_said(last)}")
        grown = {k: v for k, v in again.sizes.items() if v != own.get(k)}
        if again.holds:
            return ended(f"holds again at {_said(grown)}")
        refutes.append({**grown, **{k: v for k, v in again.at.items() if k != "relation"}})
        last = again.sizes
    return ended("" if refutes else NO_RUN)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A longer run: how long it is, where it was looked at, and whether the claim holds there."""

    sizes: dict[str, int]
    at: dict[str, int]
    holds: bool


def _again(
    reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array], own: Mapping[str, int] | None
) -> _Seen | None:
    """What a longer run shows late in it; None if it is not admissible. With sizes of its `own` run, at a glance."""
    scores = scored(_late(reading, shape), setting, shape, genome)
    margin = float(scores.margin[0])
    if own is not None and abs(margin) > BEYOND_ROUNDING:
        grown = {name: size for name, size in shape.counts if name in own}
        return _Seen({**own, **grown}, scores.at[0], margin < 0)
    replayed = decided(reading, setting, scores, 0, genome)
    return None if replayed is None else _Seen(_sizes(replayed), replayed.at, replayed.holds)


def breaks(claims: Mapping[str, Json], replayed: Replayed) -> list[str]:
    """The ids of those claims (siblings in the same setting) that the very same instance refutes, at the same index."""
    return [name for name, claim in claims.items() if _broken(claim, replayed)]


def tougher(reading: Reading, setting: Setting, violations: Sequence[Found]) -> Replayed | None:
    """A counterexample that lasts, from a climb on the shapes that fell: the first that the kernel confirms."""
    fallen = {violation.scores.shape for violation in violations}
    shapes = setting.ordinary(reading, setting.shapes(reading))
    for shape in _varied([shape for shape in shapes if shape in fallen])[:SHAPES]:
        best = _climb(reading, setting, shape)
        for digits in DIGITS if best is not None else ():
            again = replay(reading, setting, shape, exactly(genes_of(reading, setting, shape), best or {}, 0, digits))
            if again is not None and not again.holds and _lasts(reading, setting, again):
                return again
    return None


def _lasts(reading: Reading, setting: Setting, replayed: Replayed) -> bool:
    """Whether it lasts for certain: the kernel is asked if it does at a glance."""
    return all(endurance(reading, setting, replayed, glance).lasts for glance in (True, False))


def _varied(shapes: Sequence[Shape]) -> list[Shape]:
    """Cheap shapes first, then in their order; but one of every size before a second one of the same size."""
    groups: dict[Counts, dict[tuple[tuple[str, str], ...], Shape]] = {}
    for shape in sorted(shapes, key=lambda s: s.cost):
        groups.setdefault(shape.but(T=1).counts, {}).setdefault(shape.flags, shape)
    turns = [list(group.values()) for group in groups.values()]
    return [turn[n] for n in range(max(map(len, turns), default=0)) for turn in turns if n < len(turn)]


def _climb(reading: Reading, setting: Setting, shape: Shape) -> Genome | None:
    """Evolve a population by how it leans at its own horizon and at the longest one; None if none falls at both."""
    genes = genes_of(reading, setting, shape)
    rng = np.random.default_rng(seed_for(0, reading.lowered.id, "sturdy", shape, *reading.dropped))
    population, more, closest = draw(genes, DRAWN, rng), POLISH, list[float]()
    for _ in range(GENERATIONS):
        worst = _leans(reading, setting, shape, population)
        best = np.argsort(-worst, kind="stable")[:ELITE]
        closest.append(float(worst[best[0]]))
        elite, more = rows(population, best), more - int(closest[-1] > VIOLATION)
        if not more:
            return elite
        if not np.isfinite(closest[-1]):
            return None
        if more == POLISH and closest[-PATIENCE - 1 :][0] == closest[-1] and len(closest) > PATIENCE:
            return None
        population = join([elite, mutate(genes, rows(elite, rng.integers(0, ELITE, POPULATION)), rng)])
    return None


def _leans(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Array:
    """The smaller of `_lean` at the shape's own horizon and at the longest one, (n,); -inf where either has none.

    The longer run costs most. It is taken by the instances that lean most at their own horizon, some at a time, until
    no other can be among the elite; those are -inf too.
    """
    worst = np.full(len(next(iter(genome.values()))), -np.inf)
    longer = [one for one in _longer(reading, setting, shape, genome) if not isinstance(one, str)]
    if not longer:
        return worst
    last, lengthened = longer[-1]
    late, here = _late(reading, last), np.nan_to_num(_lean(reading, setting, shape, genome), nan=-np.inf)
    ranked = np.argsort(-here, kind="stable")
    ranked = ranked[here[ranked] > -np.inf]
    for some in (ranked[first : first + AT_ONCE] for first in range(0, len(ranked), AT_ONCE)):
        if np.sort(worst)[-ELITE:][0] > here[some[0]]:
            break
        there = _lean(late, setting, last, rows(dict(lengthened), some))
        worst[some] = np.nan_to_num(np.minimum(here[some], there), nan=-np.inf)
    return worst


def _lean(reading: Reading, setting: Setting, shape: Shape, genome: Genome) -> Array:
    """How far the claim leans towards failing, (n,): lhs - rhs over the sizes of all their terms, at the worst index.

    Above 0 it fails. Unlike lhs/rhs it sees that terms of the right side begin to cancel long before they do.
    """
    table = tabulate(reading, setting, shape, genome)
    evaluator = Evaluator(table, {v: (low, high) for v, (low, high) in reading.claim["for_all"].items()})
    usable, worst = conditions(evaluator, reading.claim["when"]), np.full(table.n, np.nan)
    for op, left, right in reading.claim["then"]:
        gap = evaluator(left) - evaluator(right)
        gap = np.abs(gap) if op == "=" else -gap if op in (">=", ">") else gap
        size = sum(np.abs(evaluator(term)) for term in (*_terms(left), *_terms(right)))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            leaning = np.broadcast_to(gap / size, evaluator.shape).reshape(table.n, -1)
        worst = np.fmax(worst, np.fmax.reduce(leaning, axis=1))
    return np.where(usable, worst, np.nan)


def _terms(tree: Tree) -> list[Tree]:
    return tree[1:] if isinstance(tree, list) and tree[0] == "+" else [tree]


def _longer(reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array]) -> Iterator[LongerRun]:
    """Longer runs of the same problem (or of a batch of them), each longer than the one before."""
    of_its_own = setting.longer(reading, shape, genome)
    if of_its_own is not None:
        yield from of_its_own
        return
    sizes = dict(shape.counts)
    local = sizes.get("E", 1)
    whole = local if setting.counts_steps else 1  # T counts steps, and rounds are whole
    axis, each = ("E", 1) if setting.first_round else ("T", local)
    rounds = shape[axis] // whole
    if shape.follows_moments:
        yield from ((shape.but(**{axis: n * rounds}), genome) for n in ROUNDS[:3])
        return
    for many in [n for n in ROUNDS if n > rounds] or [2 * rounds]:
        longer = shape.but(**{axis: many * whole})
        if many * each > MOST_STEPS:
            yield TOO_LONG
            return
        if setting.paths(longer) > MOST_PATHS:
            yield TOO_MANY
            return
        yield longer, _lengthened(reading, setting, longer, genome)


def _lengthened(reading: Reading, setting: Setting, shape: Shape, genome: Mapping[str, Array]) -> dict[str, Array]:
    """The genome at a longer horizon: what there is one of per round goes on with its last value."""
    longer: dict[str, Array] = {}
    for gene in genes_of(reading, setting, shape):
        values = genome[gene.name]
        batch = values.ndim - len(gene.shape)  # axes of a batch come first
        own = zip(values.shape[batch:], gene.shape, strict=True)
        more = [(0, 0)] * batch + [(0, max(after - before, 0)) for before, after in own]
        longer[gene.name] = np.pad(values, more, mode="edge") if any(n for _, n in more) else values
    return longer


def _late(reading: Reading, shape: Shape) -> Reading:
    """The claim over the later half of the rounds, where it speaks of every round."""
    return _from(reading, dict(shape.counts).get("T", 0) // 2)


@lru_cache
def _from(reading: Reading, first: int) -> Reading:
    """One reading for each first round, because settings keep what they read off a claim by the claim itself."""
    for_all = dict(reading.claim["for_all"])
    for index, (low, high) in for_all.items():
        if ("T", False) in names(high) and isinstance(low, str) and low.isdigit():
            for_all[index] = [str(max(int(low), first)), high]
    return replace(reading, lowered=replace(reading.lowered, claim={**reading.claim, "for_all": for_all}))


def _runs(replayed: Replayed) -> bool:
    """Whether the instance is a run over T rounds or steps."""
    return "T" in replayed.instance and "T" in dict(replayed.shape.counts)


def _sizes(replayed: Replayed) -> dict[str, int]:
    return {name: replayed.instance[name] for name in LONG if name in replayed.instance}


def _length(sizes: Mapping[str, int]) -> int:
    return prod(size for name, size in sizes.items() if name != "k")


def _said(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _broken(claim: Json, replayed: Replayed) -> bool:
    instance = needed_names(claim, replayed.instance)
    at = {k: v for k, v in replayed.at.items() if k in claim["for_all"]}
    for number in range(len(claim["then"])):
        try:
            if not kernel.evaluate(claim, instance, (), {**at, "relation": number})[2]:
                return True
        except (kernel.Malformed, kernel.Rejected):
            continue
    return False
