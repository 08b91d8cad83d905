"""Values that a person gives to symbols: `L=10`, `gamma=1/3`, `t=0:100:10`, `E=1,2,4`. Parsed, never evaluated.

Numbers are exact: "0.1" is 1/10. A range or a list stands for several values; of several names, every
combination counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from numbers import Rational, Real

from fedaudit.errors import UserError

__all__ = ["MOST_ROWS", "Axes", "Given", "axes_of", "number", "points", "told"]

Axes = dict[str, tuple[Fraction, ...]]  # name -> the values that were given to it
Given = Real | str

MOST_ROWS = 100_000
# Every part has a greatest length: an exact 1e999999999 would take all memory.
_NUMBER = re.compile(r"([+-]?)(\d{1,60})?(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?(?:/(\d{1,60}))?", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w*(?:\(\d{1,9}(?:,\d{1,9})*\))?")
LIKE = "10, 1/3, 0.1, 1e-3, a range 0:100 or 0:100:10, or a list 1,2,4"


def number(text: str, name: str = "") -> Fraction:
    """The rational that is written: "10", "1/3", "0.1", "1e-3"; raises `UserError`."""
    said = f"{name}={text}" if name else repr(text)
    match = _NUMBER.fullmatch(text.strip())
    if match is None or (match[2] is None and match[3] is None):
        raise UserError(said, "a number", f"write it like {LIKE}")
    sign, whole, part, exponent, below = match.groups()
    digits = Fraction(int((whole or "") + (part or "")), 10 ** len(part or ""))
    if below is not None and int(below) == 0:
        raise UserError(said, "a denominator that is not 0", "mend it")
    value = digits * Fraction(10) ** int(exponent or 0) / int(below or 1)
    return -value if sign == "-" else value


def axes_of(texts: Sequence[str]) -> Axes:
    """What `NAME=VALUE` arguments give, each name once."""
    axes: Axes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.replace(" ", "")
        if not equals or not _NAME.fullmatch(name):
            raise UserError(repr(text), "NAME=VALUE", "write it like L=10; `fedaudit show ID` prints the symbols")
        if name in axes:
            raise UserError(f"{name} twice", "every symbol once", f"write a list, like {name}=1,2,4")
        axes[name] = _values(name, value)
    return axes


def told(values: Mapping[str, Given | Iterable[Given]]) -> Axes:
    """Values from Python by name: numbers, text as on the command line, or sequences of these."""

    def one(name: str, value: Given) -> tuple[Fraction, ...]:
        match value:
            case str():
                return _values(name, value)
            case Rational():  # of NumPy too
                return (Fraction(int(value.numerator), int(value.denominator)),)
            case _ if not math.isfinite(value):
                raise UserError(f"{name}={value}", "a finite number", f"write it like {LIKE}")
            case _:
                # What was typed, not the binary fraction next to it: 0.1 is 1/10.
                return (number(repr(float(value)), name),)

    axes: Axes = {}
    for name, value in values.items():
        several = [value] if isinstance(value, str | Real) else list(value)
        axes[name] = tuple(x for each in several for x in one(name, each))
        if not axes[name]:
            raise UserError(f"{name} without a value", "at least one", f"write it like {LIKE}")
    return axes


def points(axes: Mapping[str, Sequence[Fraction]]) -> list[dict[str, Fraction]]:
    """Every combination; the last name runs fastest."""
    rows = math.prod(len(values) for values in axes.values())
    if rows > MOST_ROWS:
        raise UserError(f"{rows:,} combinations", f"at most {MOST_ROWS:,}", "widen the steps: NAME=FIRST:LAST:STEP")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _values(name: str, text: str) -> tuple[Fraction, ...]:
    if ":" not in text:
        numbers = [number(part, name) for part in text.split(",")]
        return tuple(dict.fromkeys(numbers))
    ends = [number(part, name) for part in text.split(":")]
    if len(ends) > 3:
        raise UserError(f"{name}={text}", "FIRST:LAST or FIRST:LAST:STEP", f"write it like {name}=0:100:10")
    first, last, step = ends if len(ends) == 3 else (*ends, Fraction(1))
    if step <= 0 or last < first:
        raise UserError(f"{name}={text}", "a range that goes up", f"write it like {name}=0:100:10")
    count = int((last - first) / step) + 1
    if count > MOST_ROWS:
        raise UserError(f"{name}={text} with {count:,} values", f"at most {MOST_ROWS:,}", "widen the steps")
    return tuple(first + step * n for n in range(count))
