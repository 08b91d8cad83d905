"""What `check` answers: both sides along the recorded indices, the constants, and what an excess is due to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fedaudit.bounds.language.dimension import DimensionError, dimension_of
from fedaudit.bounds.language.row_list import Recorded
from fedaudit.bounds.language.statement import Statement

from ..pictures.kinds import Curves, along, unit
from .client_data import Estimate
from .trajectory import Array

__all__ = ["LEAST", "LEVEL", "ROUNDING", "Checked", "Constant", "SideCheck"]

ROUNDING = 1e-9  # of the right side: what measuring a run in floats may add
LEVEL = 1e-3  # the chance that the limits of the expectation miss it in any round
LEAST = 2.0**-40  # how far constants are shrunk

Why = Literal["", "condition", "assumption", "chance", "violation"]
Settled = Literal["holds", "exceeds", ""]
BEYOND = {"at least": "it may be larger elsewhere", "at most": "it may be smaller elsewhere", "exact": ""}


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the bound: its value, where that is from, what the data has, and how much smaller it could be."""

    name: str
    value: float
    source: Literal["given", "estimated"]
    estimate: Estimate | None
    covers: bool | None  # whether it is as large (as small) as what the data has; None: not known, so assumed
    slack: (
        float | None
    )  # the factor that brings the bound down to the run; None: the step size rests on it, or no bound
    upper: bool = True  # whether the assumption asks it to be large enough (L, G, ...) or small enough (mu)

    @property
    def certain(self) -> bool:
        """Whether what was recorded shows it to be a constant of the problem, and not only fails to contradict it."""
        safe = "at most" if self.upper else "at least"
        return self.covers is True and self.estimate is not None and self.estimate.kind in ("exact", safe)

    @property
    def asked(self) -> float | None:
        """The part of its value that what was recorded asks for: how far it can move without contradicting the run."""
        known = self.estimate is not None and self.source == "given" and self.value != 0
        return self.estimate.limit / self.value if known and self.estimate is not None else None

    def row(self) -> dict[str, object]:
        estimate = self.estimate
        return {
            "name": self.name,
            "value": self.value,
            "source": self.source if self.covers is not None or self.source == "estimated" else "assumed",
            "estimate": None if estimate is None else estimate.value,
            "how": "" if estimate is None else estimate.how,
            "kind": "" if estimate is None else estimate.kind,
            "covers": self.covers,
            "certain": self.certain,
            "asked": self.asked,
            "slack": self.slack,
        }

    def __str__(self) -> str:
        text = f"{self.name} = {self.value:.6g}"
        estimate = self.estimate
        if estimate is None:
            text += ", given (assumed: nothing recorded tells it)"
        elif self.source == "estimated":
            text += f", estimated: {estimate.how} ({'; '.join(filter(None, (estimate.kind, BEYOND[estimate.kind])))})"
        else:
            told = f"what was recorded has {estimate.value:.6g} ({estimate.kind}; {estimate.how})"
            text += f", given; {told}{': NOT COVERED' if self.covers is False else ''}"
            if self.covers and self.asked is not None and abs(self.asked - 1) > 0.01:
                text += f"; one {self.asked:.3g} times as large would still cover that"
        if self.slack is None or 0.99 < self.slack < 1.01:
            return text
        if self.slack <= LEAST or self.slack >= 1 / LEAST:
            how = "without it" if self.slack < 1 else "however large it were"
        else:
            how = f"with one {self.slack:.3g} times as large"
        return f"{text}; generous: what was recorded would meet the bound {how}"


@dataclass(frozen=True, slots=True, eq=False)
class SideCheck:
    """One relation along the recorded indices: both sides, the right one by terms."""

    left: str
    relation: str
    index: str
    x: Array  # (m,)
    lhs: Array  # (seeds, m)
    lower: Array | None  # (m,) below the expectation in all rounds
    upper: Array | None  # (m,) above it in all rounds
    rhs: Array  # (m,)
    terms: Mapping[str, Array]

    @property
    def mean(self) -> Array:
        return self.lhs.mean(axis=0)

    def above(self, values: Array) -> Array:
        """Where values are on the wrong side of the bound."""
        room = ROUNDING * np.abs(self.rhs)
        if self.relation in (">=", ">"):
            return values < self.rhs - room
        if self.relation == "=":
            return np.abs(values - self.rhs) > room
        return values > self.rhs + room

    @property
    def first(self) -> int | None:
        """The place of the first index at which it is exceeded."""
        wrong = np.flatnonzero(self.above(self.mean))
        return int(wrong[0]) if len(wrong) else None

    @property
    def settled(self) -> Settled:
        """What the limits say of the expectation: it holds at all indices, is exceeded at one, or they do not tell."""
        if self.lower is None:
            return ""
        upper = np.full_like(self.lower, np.inf) if self.upper is None else self.upper
        low, high = self.above(self.lower), self.above(upper)
        # Both limits of an equation may be off on different sides, and then it may still hold between them.
        if (low & high & ((self.lower > self.rhs) == (upper > self.rhs))).any():
            return "exceeds"
        return "" if (low | high).any() else "holds"

    @property
    def ratio(self) -> Array:
        """Left over right side, or right over left of a lower bound; 0 where both are 0."""
        small, large = (self.rhs, self.mean) if self.relation in (">=", ">") else (self.mean, self.rhs)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(small / large, nan=0.0)

    def row(self) -> dict[str, object]:
        worst = int(np.argmax(self.ratio))
        return {
            "left": self.left,
            "relation": self.relation,
            "index": self.index,
            "from": int(self.x[0]),
            "to": int(self.x[-1]),
            "holds": self.first is None,
            "first": None if self.first is None else int(self.x[self.first]),
            "largest": float(self.ratio[worst]),
            "largest_at": int(self.x[worst]),
            "expectation": self.settled or "not settled",
            "lower": None if self.lower is None else float(self.lower[worst]),
            "upper": None if self.upper is None else float(self.upper[worst]),
            "terms": [{"term": text, "at_largest": float(values[worst])} for text, values in self.terms.items()],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Recorded):
    """What a recorded run says of a bound.

    `holds`: at all recorded indices. Where it does not, `why` says what is to blame: a `condition` of the statement
    fails, an `assumption` does not cover what the data has, it may be `chance` (the bound is about an expectation and
    these runs do not settle it), or nothing of this is known: a `violation`.

    >>> import fedaudit as fa
    >>> constants = {"L": 3, "mu": 1, "alpha": 1, "E": 2, "G": 0, "sigma": 0, "S": 0.5, "Gamma": 0}
    >>> answer = fa.check("buttaci/thm4.1-I", gap=[1.0, 0.9, 3.0], **constants)
    >>> answer.holds, answer.why, int(answer.sides[0].x[answer.sides[0].first])
    (False, 'violation', 2)
    """

    statement: Statement
    sides: tuple[SideCheck, ...]
    constants: tuple[Constant, ...]
    failing: tuple[str, ...]  # conditions
    random: bool  # the bound is about an expectation, and this run has noise or sampling
    seeds: int
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return all(side.first is None for side in self.sides)

    @property
    def why(self) -> Why:
        if self.holds:
            return ""
        if self.failing:
            return "condition"
        if any(constant.covers is False for constant in self.constants):
            return "assumption"
        sure = any(side.settled == "exceeds" for side in self.sides)
        return "chance" if self.random and not sure else "violation"

    def row(self) -> dict[str, object]:
        return {
            "id": self.statement.id,
            "holds": self.holds,
            "why": self.why,
            "seeds": self.seeds,
            "random": self.random,
            "relations": [side.row() for side in self.sides],
            "constants": [constant.row() for constant in self.constants],
            "failing": list(self.failing),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The answer in lines, for people."""
        runs = "one run" if self.seeds == 1 else f"the mean of {self.seeds} runs"
        yield f"{self.statement.id}: {self.statement.title}"
        for side in self.sides:
            worst = int(np.argmax(side.ratio))
            share = f"{side.ratio[worst]:.3g} of its bound at most, at {side.index} = {side.x[worst]}"
            span = f"{side.index} = {side.x[0]}, ..., {side.x[-1]}"
            if side.first is None:
                yield f"{side.left} {side.relation} bound: HOLDS for {runs}, {span}; {share}"
            else:
                since = f"from {side.index} = {side.x[side.first]}"
                yield f"{side.left} {side.relation} bound: EXCEEDS for {runs}, {since}; {share}"
            for text, values in side.terms.items():
                part = f"{100 * values[worst] / side.rhs[worst]:.3g} %" if side.rhs[worst] > 0 else ""
                yield f"  {values[worst]:.6g}  {part}  {text}"
            if self.random:
                yield f"  {_of_expectation(side)}"
        if self.why:
            yield f"  {_blame(self)}"
        yield "constants:"
        yield from (f"  {constant}" for constant in self.constants)
        yield from (f"  condition FAILS: {text}" for text in self.failing)
        yield from (f"note: {note}" for note in self.notes)

    def curves(self) -> Curves:
        """The picture's data: the runs in true units, over the bound and its terms."""
        side = self.sides[0]
        rhs = np.broadcast_to(side.rhs, side.lhs.shape)
        limits = {"lower limit": side.lower, "upper limit": side.upper}
        extra = {name: values for name, values in limits.items() if values is not None}
        runs = "one recorded run" if self.seeds == 1 else f"{self.seeds} recorded runs"
        values = ", ".join(f"{c.name} = {c.value:.4g}" for c in self.constants)
        caption = f"{runs} in true units; {values}"
        if side.lower is not None:
            ends = "dashed: below" if side.upper is None else "dashed and dotted: below and above"
            caption += f"; {ends} the expectation in all rounds, but with chance {LEVEL:g}"
        picture = along(
            self.statement, side.x, f"${side.index}$", side.lhs, rhs, caption, unit(_powers(self.statement))
        )
        return replace(picture, extra=extra)


def _of_expectation(side: SideCheck) -> str:
    """What these runs say of the expectation that the bound is about; never more than its limits do."""
    chance = f"(chance of an error: {LEVEL:g})"
    if len(side.lhs) == 1:
        return "the expectation: one run is one draw of it, and does not settle it"
    if side.lower is None:
        return "the expectation: not settled; limits need a left side that is never negative and a bound without draws"
    if side.settled == "exceeds":
        return f"the expectation: EXCEEDS the bound somewhere {chance}"
    if side.settled == "holds":
        return f"the expectation: HOLDS at every index that was recorded {chance}"
    towards, word = (side.lower, "below") if side.relation in (">=", ">") else (side.upper, "above")
    if towards is None:
        return (
            f"the expectation: not settled; it has a limit from below alone, because nothing bounds {side.left} of one "
            "run from above, and a rare run may carry it (`at_most` says what no run is above)"
        )
    k = int(np.argmax(side.above(towards)))
    limit = f"{towards[k]:.4g} at {side.index} = {side.x[k]}, where the bound is {side.rhs[k]:.4g}"
    return f"the expectation: not settled; its limit from {word} is {limit}, and more runs bring it closer {chance}"


def _blame(answer: Checked) -> str:
    match answer.why:
        case "condition":
            return "the run is outside of what the statement speaks of: a condition fails"
        case "assumption":
            names = ", ".join(c.name for c in answer.constants if c.covers is False)
            return f"the run breaks an assumption: {names} does not cover what the data has"
        case "chance":
            several = "one run" if answer.seeds == 1 else f"{answer.seeds} runs"
            return f"the bound is about an expectation, and {several} do not settle it: it may be chance"
        case _:
            assumed = [c.name for c in answer.constants if not c.certain]
            such = f", if {', '.join(assumed)} are constants of this problem" if assumed else ""
            exact = f"`fedaudit hunt {answer.statement.id}` looks for an exact one"
            return f"a violation{such}; floats decide nothing: {exact}"


def _powers(statement: Statement) -> tuple[float, float]:
    try:
        dim = dimension_of(statement.defined(statement.relations[0].args[0]), statement.glossary)
    except DimensionError:
        return 0.0, 0.0
    return (float(dim.f), float(dim.w)) if dim else (0.0, 0.0)
