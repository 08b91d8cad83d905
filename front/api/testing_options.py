"""What the pytest plugin's command line says to `testing`. A leaf: the plugin loads nothing else."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUDGET", "MEMORY", "OUT", "Options", "begin", "end", "options"]

BUDGET = 5.0  # nominal seconds for each theorem
OUT = ".fedaudit"
MEMORY = "2GB"


@dataclass(frozen=True, slots=True)
class Options:
    """Seconds for each theorem (None: as the test asks), where certificates go, and what arrays may take."""

    budget: float | None = None
    out: str = OUT
    memory: str = MEMORY


_SESSIONS: list[Options] = []  # of this process, the innermost last


def begin(said: Options) -> None:
    _SESSIONS.append(said)


def end() -> None:
    _SESSIONS.pop()


def options() -> Options:
    """Those of the session that is running; outside of pytest, the defaults."""
    return _SESSIONS[-1] if _SESSIONS else Options()
