"""Numbers as people read them."""

from __future__ import annotations

__all__ = ["short"]


def short(value: float | str) -> str:
    """Four digits, but never a 1 that is not one: whether a bound is attained or broken must be seen."""
    if isinstance(value, str):  # "unbounded"
        return value
    said = f"{value:.4g}"
    if said != "1" or value == 1:
        return said
    return "0.9999" if value < 1 else "1.0001"
