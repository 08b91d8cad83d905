"""Greek letters by their names."""

from __future__ import annotations

import re

__all__ = ["GREEK", "in_greek"]

SMALL = "αβγδεζηθικλμνξοπρστυφχψω"
NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi
chi psi omega"""
LOWER = dict(zip(NAMES.split(), SMALL, strict=True))
GREEK = {**LOWER, **{name.capitalize(): letter.upper() for name, letter in LOWER.items()}}
WORD = re.compile(rf"(?<![A-Za-z])({'|'.join(sorted((*GREEK, 'eps'), key=len, reverse=True))})(?![A-Za-z])")


def in_greek(said: str) -> str:
    """Names of Greek letters as letters: `gamma(t)` as `γ(t)`, `L_alpha` as `L_α`."""
    return WORD.sub(lambda found: GREEK.get(found[1], "ε"), said)
