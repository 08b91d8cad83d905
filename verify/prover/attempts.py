"""What a way to a proof yields: an argument, or how much was looked at in vain. What was looked at is counted, because
a search that ends by the clock finds more on a fast machine than on a busy one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

from fedaudit.bounds.language.derivation import Argument

NOMINAL = 1000  # products of atoms and generators that a second of a budget pays for


class Spent(Exception):
    """As much was looked at as the budget pays for."""


@dataclass(frozen=True, slots=True)
class Tried:
    """How much was looked at."""

    atoms: int = 0
    generators: int = 0
    degree: int = 0
    columns: int = 0

    @property
    def seconds(self) -> float:
        """What it took of a budget, whatever the machine: the products of its linear programme, found or not."""
        # C(g + d, d) is the number of products of at most d out of g generators, with repetition.
        return self.atoms * comb(self.generators + self.degree, self.degree) / NOMINAL

    def row(self) -> dict[str, int]:
        return {"atoms": self.atoms, "generators": self.generators, "degree": self.degree, "columns": self.columns}


@dataclass(frozen=True, slots=True)
class FoundArgument:
    """The argument that was found, with what was looked at."""

    argument: Argument
    tried: Tried


Attempts = Iterator[FoundArgument | Tried]
