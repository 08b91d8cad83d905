"""The one error that a user can cause: said in one line, without a traceback."""

from __future__ import annotations

__all__ = ["UserError", "said"]


class UserError(ValueError):
    """Bad input. `UserError(got, expected, do)`, or the whole line as one argument."""

    def __init__(self, got: str, expected: str = "", do: str = "") -> None:
        super().__init__(f"got {got}, expected {expected}; do: {do}" if expected else got)


def said(error: ValueError) -> str | None:
    """The line of an error that is meant for the user ("got …, expected …; do: …"), None for any other."""
    line = " ".join(str(error).split())
    return line if isinstance(error, UserError) or ("expected" in line and "; do: " in line) else None
