"""Claims along their index: which one counts rounds, how a claim depends on it, and both sides at all of its values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..settings.base import Reading
from .claim_trees import Node, Tree, explicit, moves, names, parts_at, quantity
from .score import conditions
from .tree_arrays import Array, Evaluator, Table

__all__ = ["ROUND", "at_largest", "factor_of", "is_rate", "resolved_sides", "round_of", "sides_of", "summands"]

RESOLVED = 1e-5  # what two precisions may differ by

ROUND = ("t", "R", "r")  # what papers call a round


def round_of(reading: Reading) -> str:
    """The index that counts rounds, if the claim has one (it is then the first)."""
    first = next(iter(reading.claim["for_all"]), "")
    return first if first in ROUND else ""


def is_rate(reading: Reading) -> bool:
    """Whether the claim bounds a run by its rounds: not by what the run itself measures in the same round."""
    index = round_of(reading) or "T"
    (_, left, right), *_ = reading.claim["then"]
    measures = reading.claim.get("method", {}).get("measures", {})
    if not measures or any(_reads(right, name, index) for name in measures):
        return False
    return explicit(right, index) or (explicit(left, index) and moves(left, index))


def _reads(tree: Tree, measure: str, index: str) -> bool:
    """Whether a side reads this measure at the index."""
    return any(quantity(part) == measure and any(moves(i, index) for i in part[2:]) for part in parts_at(tree))


def factor_of(left: Tree, index: str, x: Array) -> Array | None:
    """The factor of a product that is a formula of the index alone, t + 1 of (t + 1) gap(t + 1), at every x."""
    if not isinstance(left, list) or left[0] != "*":
        return None
    own = [part for part in left[1:] if explicit(part, index) and not any(parts_at(part))]
    if not own or any({name for name, _ in names(part)} - {index} - _numbers(part) for part in own):
        return None
    evaluator = Evaluator(Table(len(x), {index: x.astype(float)}, {}, {}), {})
    return np.prod([np.asarray(evaluator(part), dtype=float) for part in own], axis=0)


def _numbers(tree: Tree) -> set[str]:
    return {name for name, _ in names(tree) if name.lstrip("-").replace("/", "").isdigit()}


def sides_of(reading: Reading, table: Table) -> tuple[Array, Array]:
    """The first relation's sides, (n, rounds): over the other indices, the one where the left side is largest."""
    lhs, rhs = at_largest(reading, table, reading.claim["then"][0][1:])
    return lhs, rhs


def at_largest(reading: Reading, table: Table, sides: Sequence[Tree]) -> list[Array]:
    """Trees (n, rounds) where the conditions hold: over the other indices, where the first tree is largest."""
    ranges = {v: (lo, hi) for v, (lo, hi) in reading.claim["for_all"].items()}
    evaluator = Evaluator(table, ranges)
    values = [np.broadcast_to(evaluator(side), evaluator.shape) for side in sides]
    usable = conditions(evaluator, reading.claim["when"]).reshape((-1,) + (1,) * (values[0].ndim - 1))
    rounds = values[0].shape[1] if round_of(reading) else 1
    values = [np.where(usable, side, np.nan).reshape(table.n, rounds, -1) for side in values]
    place = np.nanargmax(np.nan_to_num(values[0], nan=-np.inf), axis=2)[..., None]
    return [np.take_along_axis(side, place, 2)[..., 0] for side in values]


def summands(tree: Tree) -> list[Tree]:
    """The terms of a sum that is written out; of anything else, itself."""
    return (
        [term for part in tree[1:] for term in summands(part)] if isinstance(tree, list) and tree[0] == "+" else [tree]
    )


def resolved_sides(relation: Node, table: Table) -> tuple[Array, Array]:
    """Both sides (n,) of a relation between formulas, NaN where two precisions differ: there rounding is all."""
    _, left, right = relation
    with np.errstate(all="ignore"):
        plain, long = (
            [np.broadcast_to(Evaluator(one, {})(side), (table.n,)) for side in (left, right)]
            for one in (table, _lengthened(table))
        )
        same = [np.abs(a - b) <= RESOLVED * np.abs(b) for a, b in zip(plain, long, strict=True)]
        lhs, rhs = (np.where(same[0] & same[1], np.asarray(side, dtype=float), np.nan) for side in long)
    return lhs, rhs


def _lengthened(table: Table) -> Table:
    scalars = {name: np.asarray(x).astype(np.longdouble) for name, x in table.scalars.items()}
    return Table(table.n, scalars, table.quantities, table.counts, table.scale)
