"""How much a bound promises at ordinary points, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from fedaudit.verify.pictures.worst_marks import NOTHING
from fedaudit.verify.results.audit_json import Ends

from .numbers import short

__all__ = ["brief", "lead"]

USUAL = 10  # the condition number that is told first
ATTAINED, ALIKE = 0.995, 1.02  # lhs/rhs, and how far both ends may be apart to be told as one number


def lead(points: Sequence[Ends], broken: bool = False) -> str:
    """E.g. at kappa 10, C 2, E 4, t 1 it promises 74.26 times what can happen.

    `broken`: the statement fails somewhere. What it promises elsewhere is worth nothing: only where it fails is told.
    """
    one = _telling(points, broken)
    return "" if one is None else f"at {_named(one)} {_promises(one)}"


def brief(points: Sequence[Ends], broken: bool = False) -> str:
    """Tells it shortly, for a column of a table."""
    one = _telling(points, broken)
    if one is None:
        return ""
    if one.lower is not None and one.lower > 1:
        return f"fails at {_named(one)}"
    if one.upper is None:
        return f"≥ {short(one.lower or 0.0)} at {_named(one)}"
    if one.lower is not None and one.lower >= 1:
        return f"attained at {_named(one)}"
    if one.lower is not None and one.lower >= ATTAINED:
        return f"{short(one.lower)} of it met at {_named(one)}"
    return f"{short(1 / one.upper)} × at {_named(one)}"


def _named(one: Ends) -> str:
    return one.name + (f" (relation {one.relation})" if one.relation > 1 else "")


def _telling(points: Sequence[Ends], broken: bool) -> Ends | None:
    """The point to lead with: with both ends if there is one, of the usual condition number, the longest run."""
    usable = [one for one in points if one.name and ((one.upper or 0.0) > NOTHING or (one.lower or 0.0) > NOTHING)]
    if broken:
        usable = [one for one in usable if one.lower is not None and one.lower > 1]
    return max(usable, key=_rank, default=None)


def _rank(one: Ends) -> tuple[bool, bool, int, int, float]:
    sizes = dict(one.ordinary)
    run = sizes.get("E", 1) * sizes.get("t", 1)
    return one.upper is not None, sizes.get("kappa") == USUAL, run, -sizes.get("C", 1), one.lower or 0.0


def _promises(one: Ends) -> str:
    low, high = one.lower, one.upper
    if low is not None and low > 1:
        return f"it fails: {short(low)} times what it promises can happen"
    if high is None:
        return f"a search met {short(low or 0.0)} of what it promises; more may happen"
    if low is not None and low >= 1:
        return "it promises no more than what can happen"
    if low is not None and low >= ATTAINED:
        return f"{short(low)} of what it promises can happen"
    least = 1 / high
    if low is not None and low > 0 and high <= ALIKE * low:
        return f"it promises {short(least)} times what can happen"
    most = f", and at most {short(1 / low)} times" if low is not None and low > 0 else ""
    return f"it promises at least {short(least)} times what can happen{most}"
