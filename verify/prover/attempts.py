"""What a way to a proof yields: an argument, or how much was looked at in vain; and the clock that ends a search."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from fedaudit.bounds.language.derivation import Argument


class Spent(Exception):
    """The time is up."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When the time is up."""

    until: float

    def check(self) -> None:
        if time.monotonic() > self.until:
            raise Spent


@dataclass(frozen=True, slots=True)
class Tried:
    """How much was looked at."""

    atoms: int = 0
    generators: int = 0
    degree: int = 0
    columns: int = 0

    def row(self) -> dict[str, int]:
        return {"atoms": self.atoms, "generators": self.generators, "degree": self.degree, "columns": self.columns}


@dataclass(frozen=True, slots=True)
class FoundArgument:
    """The argument that was found, with what was looked at."""

    argument: Argument
    tried: Tried


Attempts = Iterator[FoundArgument | Tried]
