"""Values of certificates as floats."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz

__all__ = ["number"]


def number(text: str) -> float:
    """Reads a value of a certificate: a rational, or the middle of a ball."""
    top, slash, below = text.split()[0].partition("/")
    if slash:  # of any length: flint reads more digits than int() does
        return float(Fraction(int(fmpz(top)), int(fmpz(below))))
    return float(Fraction(top))
