"""The one error that a user can cause: said in one line, without a traceback. And how to say an error of ours."""

from __future__ import annotations

import traceback
from pathlib import Path

__all__ = ["UserError", "crash", "cut", "one_line"]

LONGEST = 300  # characters of what was got; names of files may have thousands
LONGEST_LINE = 1000


class UserError(ValueError):
    """Bad input. `UserError(got, expected, do)`, or the whole line as one argument. No other error is the user's.

    >>> import fedaudit as fa
    >>> print(fa.UserError("--seed x", "a whole number", "write --seed 7"))
    got --seed x, expected a whole number; do: write --seed 7
    """

    def __init__(self, got: str, expected: str = "", do: str = "") -> None:
        short = cut(got, LONGEST)
        # A pickled error, as a worker sends it, is made again from `args`: the whole line must do as the one argument.
        super().__init__(f"got {short}, expected {expected}; do: {do}" if expected else got)


def crash(error: BaseException) -> tuple[str, str]:
    """An error of ours: what it is, and the file and line where it arose. Never fails itself."""
    try:
        what = str(error)
    except Exception:
        what = ""
    name = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    path = Path(frames[-1].filename) if frames else Path()
    where = f"{'/'.join(path.parts[-2:])}:{frames[-1].lineno}" if frames else "?"
    return one_line(f"{name}: {cut(what, LONGEST)}" if what else name), where


def one_line(text: str) -> str:
    """Text that prints as one short line, whatever it holds."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return cut(" ".join(plain.split()), LONGEST_LINE)


def cut(text: str, most: int) -> str:
    """Text without its middle where it is too long."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"
