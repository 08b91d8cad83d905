"""The pytest plugin, found by its entry point: three options and two fixtures. It loads nothing that is slow.

`fedaudit_check` (the fixture, and `fedaudit.fedaudit_check`), `fedaudit.theorem` and `fedaudit.instances` do the work:
see `fedaudit.api.testing`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .api.testing_options import BUDGET, MEMORY, OUT, Options, begin, end

MOST_BUDGET = 1e6
BEGUN = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fedaudit", "theorems (fedaudit)")
    said = f"nominal seconds for each theorem, whatever the test asks for (default {BUDGET:g})"
    group.addoption("--fedaudit-budget", metavar="SECONDS", help=said)
    room = "what a theorem's arrays may take, like 500MB (default 2GB); sizes that need more are not tried"
    group.addoption("--fedaudit-memory", metavar="SIZE", default=MEMORY, help=room)
    group.addoption("--fedaudit-out", metavar="DIR", default=OUT, help=f"folder for certificates (default {OUT})")


def pytest_configure(config: pytest.Config) -> None:
    budget, out = _budget(config.getoption("fedaudit_budget")), config.getoption("fedaudit_out") or OUT
    begin(Options(budget, out, config.getoption("fedaudit_memory") or MEMORY))
    config.stash[BEGUN] = True


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(BEGUN, False):  # not after a bad option
        end()


@pytest.fixture
def fedaudit_check() -> Callable[..., object]:
    """`fedaudit_check(statement, budget=…, seed=…)` tries to break a statement; see `fedaudit.api.testing`."""
    from .api.testing import fedaudit_check as check

    return check


@pytest.fixture
def fedaudit_conform() -> Callable[..., object]:
    """`fedaudit_conform(method, run, …)` fails where a run is not the stated algorithm, and says what it is."""
    from .api.testing import fedaudit_conform as check

    return check


def _budget(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_BUDGET:
        raise pytest.UsageError(f"got --fedaudit-budget {text}, expected seconds above 0; do: write it like 60")
    return seconds
