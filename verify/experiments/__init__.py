"""Observed claims, by id: a module below papers/ with a top-level `EXPERIMENT` is found; nobody edits this.

An experiment computes what a statement of kind `experiment` says was seen, and answers whether it was seen again.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any, Protocol, TypeAlias

from fedaudit.errors import UserError

from ..results.json_fields import JsonObject

TableRow: TypeAlias = JsonObject  # column -> a number, a word or a list of numbers: JSON data


class Picture(Protocol):
    """Data for a figure."""

    @property
    def figure(self) -> str:
        """The module of `fedaudit.figures` that plots it, as `paper.module`."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was seen: the answer, the reason for it in one sentence with its numbers, and the table behind it.

    `reproduced` is about what is printed; `under` names readings that were settled after looking and show the claim.
    What the rule itself owes to a look is declared with the claim (`settled_after`), and `judged` holds it to that.
    """

    reproduced: bool
    reason: str
    instances: int
    rows: tuple[TableRow, ...] = ()
    under: tuple[str, ...] = ()


def judged(outcome: Outcome, settled_after: tuple[str, ...]) -> Outcome:
    """An outcome whose rule was settled after looking, in these parts: seen under them at most, never plainly."""
    if not settled_after or not (outcome.reproduced or outcome.under):
        return outcome
    return replace(outcome, reproduced=False, under=(*outcome.under, *settled_after))


@dataclass(frozen=True, slots=True)
class Experiment:
    """`run` and `picture` are pure: the same seed (and effort, in nominal seconds) gives the same outcome.

    `settled_after` says what of the rule was settled after looking, one sentence each.
    """

    id: str  # of the statement
    run: Callable[[int, float], Outcome]
    picture: Callable[[int], Picture]
    settled_after: tuple[str, ...] = ()

    def observe(self, seed: int, effort: float) -> Outcome:
        """The outcome, held to what was settled after looking."""
        return judged(self.run(seed, effort), self.settled_after)


@cache
def experiments() -> dict[str, Experiment]:
    """Id -> experiment."""
    own = (getattr(module, "EXPERIMENT", None) for module in _modules())
    return {one.id: one for one in own if one is not None}


@cache
def pictures() -> dict[str, Callable[[Any], Any]]:
    """Id -> what draws the curves of a statement that has a picture of its own: `PICTURES` of a module here."""
    return {identifier: draw for module in _modules() for identifier, draw in getattr(module, "PICTURES", {}).items()}


def _modules() -> Iterator[ModuleType]:
    """The modules of all papers."""
    return (importlib.import_module(info.name) for info in pkgutil.walk_packages(__path__, f"{__name__}."))


def experiment(identifier: str) -> Experiment:
    """The experiment of this statement."""
    if identifier not in experiments():
        names = ", ".join(experiments())
        raise UserError(
            f"got no experiment for {identifier!r}, expected one of {names}; do: add verify/experiments/papers/"
        )
    return experiments()[identifier]
