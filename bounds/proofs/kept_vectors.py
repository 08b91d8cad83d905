"""Vectors that a frame calls formulas of others: whether the method's rules keep it so in every step of every round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sympy import Integer

from fedaudit.errors import UserError

from ..language.rule_parts import Vector
from .frame import Frame
from .method_vectors import Reader, When
from .vectors import (
    Ring,
)  # fmt: skip


@lru_cache(maxsize=512)
def require_kept(frame: Frame) -> None:
    """Refuse a frame that calls a vector a formula of others which the method's rules do not keep."""
    for x, form in frame.kept.items():
        broken = _not_kept(frame, x, form)
        if broken:
            raise UserError(f"got {x.name!r} as a formula, which {frame.method.id} does not keep: {broken}")


def _not_kept(frame: Frame, x: Vector, form: Callable[[Any], Vector]) -> str:
    """Where a vector does not equal a formula of others; empty if it does, before every local step of every round."""
    t, k, i, _ = frame.letters
    end, within = frame.sizes[0], {*frame.begin, *frame.local}
    leaves = dict.fromkeys(leaf for e in frame.scalars() for leaf in frame.leaves(e))
    letters = {leaf: f"x{n}" for n, leaf in enumerate(dict.fromkeys((*leaves, k)))}
    reader = Reader(frame, Ring(tuple(letters.values())), letters, (t, k))

    def same(reader: Reader, when: When, step: object) -> bool:
        left, right = (reader.vector(y, when, str(i)) for y in (x, form(step)))
        return not (left - right).terms

    if _speaks_of(form(k), x):
        return "it speaks of itself"
    if x in within:
        if x not in frame.begin or (x not in frame.local and form(k) != form(k + 1)):
            return "it is not set when a round begins"
        if not same(reader, "begun", Integer(0)):
            return "not when a round begins"
        if x not in frame.local:
            moved = any(_speaks_of(form(k), y) for y in (*within, *frame.method.end))
            return "it stays, and the formula does not" if moved else ""
        return "" if same(reader, "local", k + 1) else "not after a local step"
    if any(_speaks_of(form(k), y) for y in within) or form(k) != form(k + 1):
        return "it is the same in a round, and the formula is not"
    if not same(reader, "start", k):
        return "not when the run begins"
    return "" if same(replace(reader, at=(t, end)), "updated", end) else "not after a round"


def _speaks_of(formula: object, x: Vector) -> bool:
    return formula == x or any(_speaks_of(arg, x) for arg in getattr(formula, "args", ()) if isinstance(arg, Vector))
