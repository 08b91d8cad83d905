"""The largest lhs/rhs that a small search meets at ordinary points: where no exact worst case is in reach.

Floats propose, and the kernel replays the best instance of every point. It is a lower end and nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from fedaudit.errors import UserError

from ..certify import Replayed, certify
from ..check import Scores, genes_of, score
from ..genome import draw, join, mutate, rows
from ..held import genes_at, reading_at, shape_at
from ..hunt import Found, top
from ..seeds import seed_for
from ..settings.base import Reading, Setting
from ..settings.order import Order
from .ordinary import CURVED, ORDINARY, PLAIN, SMOOTH, Ordinary

__all__ = ["found_at"]

DRAWN, ELITE, CHILDREN, GENERATIONS = 96, 8, 48, 4
POINTS, MORE = 3, 0.5  # ordinary points that are looked at, and more per second of effort
REPLAYS = 3


def found_at(reading: Reading, world: Setting, seed: int, effort: float) -> Iterator[dict[str, Any]]:
    """At the first few ordinary points where runs can have these constants."""
    if isinstance(world, Order):
        return
    names, met = set[str](), 0
    for at in ORDINARY:
        values, name = _values(reading, world, at)
        if met >= POINTS + int(MORE * effort) or not name:
            return
        if name in names:
            continue
        names.add(name)
        best = _best(reading, world, values, seed)
        if best is not None:
            met += 1
            point = {k: str(x) for k, x in values.items()}
            ends = {"lower": best.ratio, "upper": None, "lower_exact": None, "upper_exact": None}
            yield {"name": name, "ordinary": asdict(at), "point": point, **ends, "by": "search"}


def _values(reading: Reading, world: Setting, at: Ordinary) -> tuple[dict[str, Fraction], str]:
    """Sizes and curvatures of the point, and its name, of what runs of this statement have."""
    assumed = [*reading.claim["let"], *reading.claim["implicit"]]
    named = {role: [args[0] for name, *args in assumed if name in role] for role in (SMOOTH, CURVED)}
    values = dict.fromkeys(named[CURVED], Fraction(1))
    values |= dict.fromkeys(named[SMOOTH], Fraction(at.kappa if named[CURVED] else PLAIN))
    sizes = {name for shape in world.shapes(reading) for name, _ in shape.counts}
    unit = at.E if getattr(world, "counts_steps", False) else 1
    here = {name: n for name, n in (("C", at.C), ("E", at.E), ("T", unit * at.t)) if name in sizes}
    letters = {size: letter for letter, size in reading.claim.get("method", {}).get("names", {}).items()}
    told = {"kappa": at.kappa} if named[CURVED] and named[SMOOTH] else {}
    told |= {letters.get(name, name): n for name, n in here.items()}
    values |= {name: Fraction(n) for name, n in here.items()}
    return values, ", ".join(f"{name} {n}" for name, n in told.items())


def _best(reading: Reading, world: Setting, values: dict[str, Fraction], seed: int) -> Replayed | None:
    """The tightest instance with these constants that the kernel replayed."""
    held = reading_at(reading, values)
    try:
        shape = shape_at(held, world, values, int(values.get("T", 1)))
        rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "ordinary", shape))
        genes = genes_of(held, world, shape)
        scores = score(held, world, shape, genes_at(held, world, shape, draw(genes, DRAWN, rng), values))
        for _ in range(GENERATIONS):
            elite = rows(scores.genome, _tightest(scores))
            picks = rng.integers(0, len(next(iter(elite.values()))), CHILDREN)
            young = genes_at(held, world, shape, mutate(genes, rows(elite, picks), rng), values)
            scores = score(held, world, shape, join([elite, young]))
    except UserError:  # no run of this statement has these constants
        return None
    found = [Found(scores, int(row)) for row in _tightest(scores)[:REPLAYS] if np.isfinite(scores.margin[row])]
    made = [one for candidate in found or top(scores, 1) if (one := certify(held, world, candidate)) is not None]
    known = [one for one in made if not math.isnan(one.ratio)]
    return max(known, key=lambda one: one.ratio, default=None)


def _tightest(scores: Scores) -> Any:
    ratio = np.where(np.isfinite(scores.margin), np.nan_to_num(scores.ratio, nan=-np.inf), -np.inf)
    return np.argsort(-ratio, kind="stable")[:ELITE]
