"""Numbers as people read them."""

from __future__ import annotations

from fedaudit.verify.pictures.certified_number import number

__all__ = ["LONG", "rounded", "short", "tightness"]

LONG = 40  # characters of an exact number that is read at a glance


def short(value: float | str) -> str:
    """Four digits, but never a 1 that is not one: whether a bound is attained or broken must be seen."""
    if isinstance(value, str):  # "unbounded"
        return value
    said = f"{value:.4g}"
    if said != "1" or value == 1:
        return said
    return "0.9999" if value < 1 else "1.0001"


def tightness(value: float | None, kind: str) -> str:
    """How much of a bound is used at most; nothing for none.

    Below 0 it is no share: of an order of growth it is the power of n by which the ratio of both sides falls.
    """
    if value is None:
        return ""
    if value < 0:
        return f"ratio ~ n^({value:.2g})".replace("-", "−") if kind == "order" else "signs differ"
    return short(value)


def rounded(text: str) -> str:
    """Six digits of an exact number; its beginning where it is none."""
    try:
        return f"{number(text):.6g}"
    except (ValueError, ArithmeticError, IndexError):
        return f"{text[:LONG]}…"
