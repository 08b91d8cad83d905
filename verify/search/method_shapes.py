"""Sizes, losses and noise that are tried for a method, before a statement's own conditions add to them."""

from __future__ import annotations

from sympy import Le, Symbol

from fedaudit.bounds.language.assumptions import COMMON
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.method_interface import ranges, understood
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.problems.families import losses

from ..settings import setting_of
from ..settings.base import Reading, Shape
from .lowered_claim import unchecked

PROBE = {COMMON[letter]: letter for letter in ("L", "sigma")}  # what most statements assume, with its constant


def sizes(method: Method) -> dict[str, list[int]]:
    """Axis (C, d, E, T, ...) -> the sizes that are tried along it."""
    by_axis: dict[str, set[int]] = {}
    for shape in _shapes(method):
        for axis, size in shape.counts:
            by_axis.setdefault(axis, set()).add(size)
    return {axis: sorted(those) for axis, those in by_axis.items()}


def kinds(method: Method) -> dict[str, list[str]]:
    """Choice (loss, noise, sampling, ...) -> what is tried."""
    by_choice: dict[str, set[str]] = {}
    for shape in _shapes(method):
        for name, kind in shape.flags:
            by_choice.setdefault(name, set()).add(kind)
    return {name: sorted(those) for name, those in by_choice.items()}


def asks_for() -> dict[str, str]:
    """Assumption -> the losses that are drawn where it is made, and no others."""
    by_assumption: dict[str, list[str]] = {}
    for name, family in losses().items():
        by_assumption.setdefault(family.assumption, []).append(name)
    return {assumption: " or ".join(names) for assumption, names in by_assumption.items() if assumption}


def _shapes(method: Method) -> list[Shape]:
    """Shapes for a statement that says little: some measure is at most a constant, on smooth losses with noise."""
    quantity = next(q for q, number in method.measures.items() if number.law != "picked_step")
    bound = Symbol("bound", positive=True)
    understood_names = {row["name"] for row in understood(method)}
    at = {r.index: (r.first, r.last) for r in ranges(method, method.glossary, quantity.args) if r is not None}
    relation = Le(quantity, bound)
    probe = Statement(
        id=f"{method.id}/probe", kind="inequality", title="", cite="", method=method, glossary=method.glossary,
        let=tuple(Assumption(n, (Symbol(c, positive=True),)) for n, c in PROBE.items() if n in understood_names),
        then=relation, for_all=at,
    )  # fmt: skip
    lowered = unchecked(probe)
    return list(setting_of(lowered).shapes(Reading(lowered)))
