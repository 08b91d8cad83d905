"""The largest lhs/rhs that a small search meets at ordinary points: where no exact worst case is in reach.

Floats propose, and the kernel replays the best instance of every point. It is a lower end and nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np

from fedaudit.errors import UserError

from ..pictures.at_constants import genes_at, reading_at, shape_at
from ..search.genome import draw, exactly, join, mutate, rows
from ..search.rationalise import Replayed, certificate, replay
from ..search.score import Scores, genes_of, score
from ..search.seeds import seed_for
from ..search.tree_arrays import Array
from ..settings.base import Json, Reading, Setting, Shape
from .ordinary import CURVED, ORDINARY, PLAIN, ROUNDS, SMOOTH, Ordinary

__all__ = ["found_at"]

DRAWN, ELITE, CHILDREN, GENERATIONS = 96, 8, 48, 4
POINTS, MORE = 3, 0.5  # ordinary points that are looked at, and more per second of effort
DIGITS = (2, 4)  # of the rationals that are replayed


def found_at(reading: Reading, world: Setting, seed: int, effort: float) -> Iterator[tuple[Json, Replayed]]:
    """At the first few ordinary points where runs can have these constants: a row, and the instance that it is of."""
    if world.fitted:
        return
    shapes, names, met = world.shapes(reading), set[str](), 0
    for at in ORDINARY:
        values, name = _values(reading, world, shapes, at)
        if met >= POINTS + int(MORE * effort) or not name:
            return
        if name in names:
            continue
        names.add(name)
        best = _best(reading, world, shapes, values, seed)
        if best is not None:
            met += 1
            point = {k: str(x) for k, x in values.items()}
            ends = {"lower": best.ratio, "upper": None, "lower_exact": None, "upper_exact": None}
            kept = {"certificate": certificate(reading, best), "proof": None}
            yield {"name": name, "ordinary": asdict(at), "point": point, **ends, **kept, "by": "search"}, best


def _values(reading: Reading, world: Setting, shapes: Sequence[Shape], at: Ordinary) -> tuple[dict[str, Fraction], str]:
    """Those sizes and curvatures of the point that runs of this statement have, and the name that tells them."""
    assumed = [*reading.claim["let"], *reading.claim["implicit"]]
    named = {role: [args[0] for name, *args in assumed if name in role] for role in (SMOOTH, CURVED)}
    values = dict.fromkeys(named[CURVED], Fraction(1))
    values |= dict.fromkeys(named[SMOOTH], Fraction(at.kappa if named[CURVED] else PLAIN))
    sizes = {name for shape in shapes for name, _ in shape.counts}
    unit = at.E if world.counts_steps else 1
    here = {name: n for name, n in (("C", at.C), ("E", at.E), ("T", unit * at.t)) if name in sizes}
    letters = {size: letter for letter, size in reading.claim.get("method", {}).get("names", {}).items()}
    told = {"kappa": at.kappa} if named[CURVED] and named[SMOOTH] else {}
    told |= {letters.get(name, name): n for name, n in here.items()}
    values |= {name: Fraction(n) for name, n in here.items()}
    return values, ", ".join(f"{name} {n}" for name, n in told.items())


def _best(
    reading: Reading, world: Setting, shapes: Sequence[Shape], values: dict[str, Fraction], seed: int
) -> Replayed | None:
    """The tightest instance with these constants, at the end of the range of rounds, if the kernel replays it."""
    held = reading_at(reading, values)
    last, shapes = _at_the_end(held), shapes if held is reading else world.shapes(held)
    try:
        shape = shape_at(held, world, values, int(values.get("T", 1)), shapes)
        if reading.claim["setting"] != "run" and shape not in shapes:
            return None  # sizes that hang together were torn apart
        rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "ordinary", shape))
        genes = genes_of(held, world, shape)
        scores = score(last, world, shape, genes_at(held, world, shape, draw(genes, DRAWN, rng), values))
        for _ in range(GENERATIONS):
            elite = rows(scores.genome, _tightest(scores))
            picks = rng.integers(0, len(next(iter(elite.values()))), CHILDREN)
            young = genes_at(held, world, shape, mutate(genes, rows(elite, picks), rng), values)
            scores = score(last, world, shape, join([elite, young]))
    except UserError:  # no run of this statement has these constants
        return None
    for digits in DIGITS:
        exact = exactly(genes, scores.genome, int(_tightest(scores)[0]), digits)
        replayed = replay(held, world, shape, exact, among=last)
        if replayed is not None and not math.isnan(replayed.ratio):
            return replayed
    return None


def _at_the_end(reading: Reading) -> Reading:
    """The claim at the last round that it speaks of: at t = 0 many say nothing."""
    claim = reading.claim
    ends = {name: [high, high] if name in ROUNDS else [low, high] for name, (low, high) in claim["for_all"].items()}
    return replace(reading, lowered=replace(reading.lowered, claim={**claim, "for_all": ends}))


def _tightest(scores: Scores) -> Array:
    """The rows that come closest, the closest first."""
    ratio = np.where(np.isfinite(scores.margin), np.nan_to_num(scores.ratio, nan=-np.inf), -np.inf)
    return np.argsort(-ratio, kind="stable")[:ELITE]
