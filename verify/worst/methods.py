"""A question about a method without a statement: how large can a measure be against another one?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedaudit.bounds.language.algebra import Le, Rational
from fedaudit.bounds.language.assumptions import COMMON
from fedaudit.bounds.language.method import Method, quantity_name
from fedaudit.bounds.language.method_interface import size
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.errors import UserError

from .parameters import ONE
from .solvers import OWN
from .worst import Worst, worst

__all__ = ["asked_of", "question"]

_MEASURE = re.compile(r"(\w+)(?:\(([\w, ]*)\))?")


def question(method: Method, measure: str, scale: str, values: Mapping[str, Fraction]) -> Statement:
    """The statement measure <= scale: its worst case is the largest measure per scale.

    The class follows from the values: L is smoothness, mu strong convexity, mu = 0 convexity; without mu a loss need
    not be convex.
    """
    glossary = Glossary(method.glossary)
    let: list[Assumption] = [Assumption("weights_sum_to_one", (), "weights sum to 1")]
    if "L" in values:
        let.append(Assumption(COMMON["L"], (_symbol(glossary, "L", "smoothness"),), "every f_i is L-smooth"))
    if values.get("mu"):
        let.append(Assumption(COMMON["mu"], (_symbol(glossary, "mu", "strong convexity"),), "every f_i is"))
    elif "mu" in values:
        let.append(Assumption("convex", (), "every f_i is convex"))
    sides = [_measured(method, glossary, text) for text in (measure, scale)]
    return Statement(
        id=f"{method.id}/{_plain(measure)}-per-{_plain(scale)}",
        kind="inequality",
        title=f"{measure} per {scale}",
        cite=method.cite,
        method=method,
        glossary=glossary,
        let=tuple(let),
        then=Le(*sides),
    )


def asked_of(statement: Statement, values: Mapping[str, Fraction], solver: str = OWN) -> list[Worst]:
    """The worst case of such a question; its point also says the class of losses that the values stand for."""
    convex = {} if values.get("mu") else {"mu": "0"} if "mu" in values else {"mu": "none (losses need not be convex)"}
    losses = convex | ({} if "L" in values else {"L": "none (losses need not be smooth)"})
    answers = worst(statement, {name: x for name, x in values.items() if name not in losses}, ONE, solver)
    chosen = tuple(name for name in losses if name not in values)
    return [replace(one, point={**one.point, **losses}, chosen=(*one.chosen, *chosen)) for one in answers]


def _plain(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-")


def _symbol(glossary: Glossary, name: str, meaning: str) -> Any:
    symbols = {str(head): head for head in glossary}
    return symbols.get(name) or glossary.symbol(name, "F/W^2", meaning)


def _measured(method: Method, glossary: Glossary, text: str) -> Any:
    """E.g. gap(T), dist2(0)."""
    measures = {quantity_name(quantity): quantity for quantity in method.measures}
    match = _MEASURE.fullmatch(text.strip())
    quantity: Any = measures.get(match[1]) if match else None
    indices = [part.strip() for part in match[2].split(",")] if match and match[2] else []
    if quantity is None or len(indices) != len(quantity.args):
        raise UserError(
            text, f"one of {', '.join(map(str, measures.values()))}", "write it like 'gap(T)' or 'dist2(0)'"
        )
    at: list[object] = []
    for index in indices:
        if not index.isdigit() and index != "T":
            raise UserError(text, "numbers or T as indices", "write it like 'gap(T)' or 'dist2(0)'")
        at.append(Rational(int(index)) if index.isdigit() else size(method, glossary, "T"))
    return quantity.func(*at) if at else quantity
