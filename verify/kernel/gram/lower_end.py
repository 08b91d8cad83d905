"""The lower end of a worst case: both sides of a claim on an admissible instance, which refutes nothing."""

from __future__ import annotations

from typing import cast

from ..core.budget import MOST, metered
from ..core.check import Accepted, stated

INSTANCE = "fedaudit-instance/1"  # the fields of a counterexample, and no more is said than what both sides are there


def attains(certificate: object, most: int = MOST) -> Accepted:
    """Accept both sides of a claim on an admissible instance, or raise as `check` does.

    Whether the relation holds there is not asked.
    """
    with metered(most):
        return stated(certificate, INSTANCE)[0]


def is_instance(file: object) -> bool:
    """Whether it says of itself that it is an instance, and no counterexample."""
    return isinstance(file, dict) and cast("dict[str, object]", file).get("format") == INSTANCE
