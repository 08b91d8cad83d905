"""Sizes, losses and noise that are tried for a method, before a statement's own conditions add to them."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from sympy import Le, Symbol

from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.method_interface import ranges, understood
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.problems.families import losses

from ..settings import setting_of
from ..settings.base import Reading, Shape
from .lowered_claim import unchecked

PROBE = {"smooth": "L", "bounded_variance": "sigma"}  # assumptions that most statements make, with their constants


def sizes(method: Method) -> dict[str, list[int]]:
    """Axis (C, d, E, T, ...) -> the sizes that are tried along it."""
    found: dict[str, set[int]] = {}
    for shape in _shapes(method):
        for axis, size in shape.counts:
            found.setdefault(axis, set()).add(size)
    return {axis: sorted(those) for axis, those in found.items()}


def kinds(method: Method) -> dict[str, list[str]]:
    """Choice (loss, noise, sampling, ...) -> what is tried."""
    found: dict[str, set[str]] = {}
    for shape in _shapes(method):
        for name, kind in shape.flags:
            found.setdefault(name, set()).add(kind)
    return {name: sorted(those) for name, those in found.items()}


def asks_for() -> dict[str, str]:
    """Assumption -> the losses that are drawn where it is made, and no others."""
    found: dict[str, list[str]] = {}
    for name, family in losses().items():
        found.setdefault(family.assumption, []).append(name)
    return {assumption: " or ".join(names) for assumption, names in found.items() if assumption}


def _shapes(method: Method) -> list[Shape]:
    """Shapes for a statement that says little: some measure is at most a constant, on smooth losses with noise."""
    quantity = next(q for q, number in method.measures.items() if number.law != "picked_step")
    bound = Symbol("bound", positive=True)
    known = {row["name"] for row in understood(method)}
    at = {r.index: (r.first, r.last) for r in ranges(method, method.glossary, quantity.args) if r is not None}
    relation: Any = Le(quantity, bound)
    probe = Statement(
        id=f"{method.id}/probe", kind="inequality", title="", cite="", method=method, glossary=method.glossary,
        let=tuple(Assumption(n, (Symbol(c, positive=True),)) for n, c in PROBE.items() if n in known),
        then=relation, for_all=at,
    )  # fmt: skip
    lowered = unchecked(probe)
    return list(setting_of(lowered).shapes(Reading(lowered)))
