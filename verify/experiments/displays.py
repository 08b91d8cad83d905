"""Figures and tables of the papers, rebuilt: what is drawn, what the text says that it shows, what is seen here.

A module below papers/ with a top-level `DISPLAYS` is found; nobody edits this. What cannot be rebuilt is in
missing.py, with the reason.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from . import Outcome, Picture, TableRow, judged
from . import __path__ as _here

Verdict = Literal["reproduced", "reproduced-if", "not-reproduced", "undecided"]


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says about a display, in our words, and where it says so.

    `settled_after`: what of the rule that decides it was settled after looking, one sentence each.
    """

    id: str  # paper/label
    says: str
    where: str
    settled_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim beside what was seen."""

    claim: Claim
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        return verdict(judged(self.outcome, self.claim.settled_after))

    @property
    def under(self) -> tuple[str, ...]:
        """All that a `reproduced-if` rests on: readings, and what of the rule was settled after looking."""
        return judged(self.outcome, self.claim.settled_after).under


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """A display as it comes out here."""

    picture: Picture
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Display:
    """A figure, a table or a comparison in the text. `rebuild` is pure: the same seed gives the same answers."""

    id: str  # paper/label
    name: str  # "figure 2"
    where: str
    shows: str  # what the paper draws
    differs: str = ""  # what is not the paper's here
    rebuild: Callable[[int], Rebuilt] | None = None
    missing: str = ""  # why it cannot be rebuilt

    @property
    def paper(self) -> str:
        return self.id.partition("/")[0]


def verdict(outcome: Outcome) -> Verdict:
    """The verdict on an outcome, in the words that experiments use."""
    if outcome.reproduced:
        return "reproduced"
    return "reproduced-if" if outcome.under else "not-reproduced"


@cache
def displays() -> tuple[Display, ...]:
    """All of them, by paper, in the order in which the papers print them."""
    every: list[Display] = []
    for info in pkgutil.walk_packages(_here, f"{__package__}."):
        every += getattr(importlib.import_module(info.name), "DISPLAYS", ())
    return tuple(sorted(every, key=lambda display: _order(display.id)))


def papers() -> tuple[str, ...]:
    """The papers that have displays."""
    return tuple(dict.fromkeys(display.paper for display in displays()))


def _order(identifier: str) -> tuple[str, tuple[tuple[int, int, str], ...]]:
    """Orders by paper, then by numbers as numbers, then figures before sections before tables."""
    paper, _, label = identifier.partition("/")
    # This takes the end of "tab" too; the first letters are enough to order fig, sec and t.
    kind = label.rstrip("0123456789.-ab")
    numbers = "".join(c if c.isdigit() else " " for c in label).split()
    return paper, (*((0, int(n), "") for n in numbers), (1, 0, kind))


def table(rows: Sequence[TableRow]) -> tuple[TableRow, ...]:
    """Numbers of three digits, so that a last bit that differs between machines is not shown."""
    return tuple({name: _short(x) for name, x in row.items()} for row in rows)


def _short(x: float | str | None) -> float | str | None:
    if isinstance(x, bool | int | str) or x is None:
        return x
    return float(f"{float(x):.3g}")
