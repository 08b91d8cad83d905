"""Values of options, from their text: read, or refused in one line."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from .running.runner import Engine

__all__ = ["budget_of", "engine_of", "existing_path", "nearest", "output_path", "seed_of"]

MOST_SEED = 2**63 - 1
MOST_BUDGET = 1e6  # seconds: eleven days
MOST_JOBS = 1024


def existing_path(text: str) -> Path:
    """The path of an audit that is read; raises `UserError` where nothing is there."""
    from pathlib import Path

    try:
        if text.strip():
            os.lstat(text)
            return Path(text)
    except OSError:
        pass
    raise UserError(f"{text!r}, which is not there", "the audit.json of an audit", "check the path")


def output_path(text: str) -> Path:
    """The path after --out; raises `UserError` for a name that no file system takes."""
    from pathlib import Path

    try:
        if text.strip():
            os.lstat(text)
            return Path(text)
        why = "nothing"
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return Path(text)  # whether it can be made is found out when it is
    except OSError as error:
        why = error.strerror or "no name"
    raise UserError(f"--out {text!r} ({why})", "a name", "write it like --out audit")


def seed_of(text: str) -> int:
    return _whole("--seed", text, 0, MOST_SEED, "7")


def budget_of(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        # float() would also read 1_000 and the digits of other scripts.
        seconds = float(text) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_BUDGET:
        expected = f"a number of seconds above 0, at most {MOST_BUDGET:,.0f}"
        raise UserError(f"--budget {text}", expected, "write it like --budget 60")
    return seconds


def _jobs(text: str | None) -> int:
    if text is None:
        from .running.runner import cores

        return cores()
    return _whole("--jobs", text, 1, MOST_JOBS, "2")


def engine_of(arguments: argparse.Namespace) -> Engine:
    """Who carries out the tasks."""
    from .running.local import Local

    return Local(_jobs(arguments.jobs))


def _whole(option: str, text: str, least: int, most: int, like: str) -> int:
    # int() refuses thousands of digits with an error of its own, which says nothing of the option.
    if not text.isascii() or not text.isdigit() or len(text) > 30 or not least <= int(text) <= most:
        expected = f"a whole number from {least} to {most}"
        raise UserError(f"{option} {text}", expected, f"write it like {option} {like}")
    return int(text)


def nearest(given: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(given, known, n=1)
    return f"did you mean {shlex.quote(near[0])}?" if near else "`fedaudit --help` explains them"
