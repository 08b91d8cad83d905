"""One slip in a statement or a method."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What stands there, what was expected, what to do."""

    got: str
    expected: str
    do: str

    def __str__(self) -> str:
        return f"got {self.got}, expected {self.expected}; do: {self.do}"
