"""What pictures are drawn from: data classes, each of one kind of picture. Everything in them was computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from sympy import Symbol

from fedaudit.bounds.formulas.printer import latex_form
from fedaudit.bounds.formulas.statement_text import sides_latex
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from ..search.tree_arrays import Array
from .logistic_clients import LogisticRun
from .worst_marks import WorstMark

__all__ = [
    "BoundPart",
    "Cloud",
    "Crossing",
    "Curves",
    "Landscape",
    "Mark",
    "Profile",
    "ProfileLine",
    "Rate",
    "Role",
    "along",
    "letter",
    "unit",
]


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Trajectories of the left side and the bound on the same instances; the caption says how they are scaled."""

    id: str
    title: str
    x: Array  # (m,)
    xlabel: str
    lhs: Array  # (n, m)
    rhs: Array  # (n, m)
    relation: str
    tightest: int
    ylabel: str
    bound_label: str
    caption: str
    extra: Mapping[str, Array] = field(default_factory=dict[str, Array])
    form: str = ""  # LaTeX of a relation that is more than two sides and a sign
    unit: str = ""  # of both sides


class Role(Enum):
    """What a line of a profile is."""

    LEFT = "the left side that all relations share"
    OTHER_LEFT = "the left side of a relative, where it differs"
    BOUND = "the right side of the statement"
    OTHER_BOUND = "the right side of a relative"


@dataclass(frozen=True, slots=True, eq=False)
class ProfileLine:
    """One side of a relation along the axis."""

    label: str
    values: Array  # (m,)
    role: Role
    sign: str = ""  # of a bound: what the left side is to it


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A statement and its relatives (repaired, other side of the estimate) on chosen instances along one axis."""

    id: str
    title: str
    x: Array  # (m,)
    xlabel: str
    ylabel: str
    relation: str  # LaTeX
    lines: tuple[ProfileLine, ...]
    caption: str
    unit: str = ""  # of both sides


@dataclass(frozen=True, slots=True)
class Mark:
    """One instance with a label: its place on the axis (or its right side) and its ratio (or left side)."""

    x: float
    y: float
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Both sides of every relation on random instances that have no common axis; `marks`: one a relation, or none."""

    id: str
    title: str
    relations: tuple[str, ...]  # LaTeX, one a relation
    signs: tuple[str, ...]
    lhs: Array  # (relations, n)
    rhs: Array  # (relations, n)
    margin: Array  # (relations, n): above 0 is a violation
    units: tuple[str, ...]
    marks: tuple[Mark | None, ...]
    caption: str
    worst: tuple[WorstMark | None, ...] = ()  # exact worst cases, one a relation, or none


@dataclass(frozen=True, slots=True, eq=False)
class BoundPart:
    """A part of a bound along its axis: what falls (transient), stays (floor) or rises (growing)."""

    name: str
    values: Array  # (m,)


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """One representative problem along the rounds, and how close other instances come to the bound."""

    id: str
    title: str
    relation: str  # LaTeX
    sign: str
    x: Array  # (m,)
    xlabel: str
    ylabel: str  # LaTeX
    unit: str
    expectation: Array  # (m,) the left side
    bound: Array  # (m,)
    parts: tuple[BoundPart, ...]  # their sum is the bound; none where it is one term
    band: tuple[Array, Array] | None  # (k,) each, k <= m: the 10 and 90 % points of sampled runs
    exact: bool  # the left side is an expectation over noise or sampling
    tightest: Mark | None
    worst: tuple[WorstMark, ...]  # worst cases over all functions, at their rounds
    caption: str
    logistic: LogisticRun | None = None  # the same theorem on clients with logistic regression


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Both sides of a counterexample along rounds or one of its numbers; `at` is where its certificate stands."""

    id: str
    title: str
    relation: str  # LaTeX
    sign: str
    x: Array  # (m,)
    xlabel: str
    logarithmic: bool
    at: float
    ylabel: str
    unit: str
    lhs: Array  # (m,)
    rhs: Array  # (m,)
    caption: str
    conclusion: str = ""  # what the points alone do not say


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """A bound over two choices: `height` (rows along y), where the conditions hold, where it is least."""

    id: str
    title: str
    relation: str  # LaTeX
    x: Array  # (m,)
    y: Array  # (k,)
    xlabel: str
    ylabel: str
    height: Array  # (k, m)
    label: str  # of the height
    inside: Array  # (k, m)
    ridge: Array  # (m,) the best y for each x; NaN for none
    caption: str


def unit(powers: tuple[float, float]) -> str:
    """F²/W², from powers of F and W; nothing for a pure number."""
    raised = str.maketrans("0123456789./", "⁰¹²³⁴⁵⁶⁷⁸⁹·⁄")

    def factor(name: str, power: float) -> str:
        if power == 1:
            return name
        whole = (
            f"{power:g}"
            if power == int(power)
            else f"{round(2 * power)}/2"
            if power * 2 == int(power * 2)
            else f"{power:.3g}"
        )
        return f"{name}{whole.translate(raised)}"

    up = [factor(n, p) for n, p in zip("FW", powers, strict=True) if p > 0]
    down = [factor(n, -p) for n, p in zip("FW", powers, strict=True) if p < 0]
    if not up and not down:
        return ""
    return (" ".join(up) or "1") + (f"/{' '.join(down)}" if down else "")


def letter(statement: Statement, name: str) -> str:
    """Returns a parameter in the paper's symbols, between dollars; its name where the glossary has none."""
    symbol = next((s for s in statement.glossary if getattr(s, "name", "") == name), None)
    if symbol is None:
        return name
    # A step size gamma(t) is a function in the glossary, but one number here.
    return f"${latex_form(symbol if isinstance(symbol, Symbol) else Symbol(name), statement.glossary)}$"


def along(statement: Statement, x: Array, xlabel: str, lhs: Array, rhs: Array, caption: str, units: str = "") -> Curves:
    """Curves of several instances; the tightest is the one that stays closest to its bound over the later half."""
    if not len(lhs):
        raise UserError("got no run with a positive bound, expected one to divide by; do: plot what it follows from")
    small, large = (rhs, lhs) if statement.relation in (">=", ">") else (lhs, rhs)
    with np.errstate(invalid="ignore", divide="ignore"):
        closeness = np.nan_to_num(np.where(large > 0, small / large, 0.0)[:, -max(1, len(x) // 2) :].mean(axis=1))
    left, right = sides_latex(statement)
    return Curves(
        id=statement.id,
        title=statement.title,
        x=x,
        xlabel=xlabel,
        lhs=lhs,
        rhs=rhs,
        relation=statement.relation,
        tightest=int(np.argmax(closeness)),
        ylabel=left,
        bound_label=right,
        caption=caption,
        unit=units,
    )
