"""How the tests stay fast: what is slow says why, and of what is many a fixed part is fast."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

THOROUGH = os.environ.get("FEDAUDIT_THOROUGH") == "1"  # as `make test-slow` sets it
KEPT = os.environ.get("FEDAUDIT_PROOFS")  # a folder of proofs, as an audit writes it


def slow(reason: str) -> pytest.MarkDecorator:
    """Left to `make test-slow`, for a reason that tests/conftest.py asks for."""
    return pytest.mark.slow(reason=reason)


def some(cases: Iterable[Any], every: int, reason: str) -> list[Any]:
    """The first of each `every` cases is fast, the others are slow. A tuple is one value for each parameter."""
    assert every > 1, "all of them are fast then"
    return [
        case if n % every == 0 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow(reason))
        for n, case in enumerate(cases)
    ]


def only(fast: Iterable[Any], cases: Iterable[Any], reason: str) -> list[Any]:
    """The cases in `fast` are fast, the others are slow. Of a tuple the first value decides."""
    named, cases = set(fast), list(cases)
    first = [case[0] if isinstance(case, tuple) else case for case in cases]
    assert named <= set(first), f"no cases: {named - set(first)}"
    return [
        case if key in named else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=slow(reason))
        for key, case in zip(first, cases, strict=True)
    ]


def examples(number: int) -> int:
    """How many examples Hypothesis tries: all of them in `make test-slow`, a fifth in `make test`."""
    return number if THOROUGH else max(3, number // 5)
