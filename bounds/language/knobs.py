"""Knobs: free numbers through which a statement's `sweep` draws its parameters.

A knob is a sympy symbol whose name says its range, because names travel: into claims, genes and pictures. This module
alone knows how.
"""

from __future__ import annotations

from typing import Any, Literal

from sympy import Symbol

__all__ = ["Range", "free", "knob_range", "unit"]

Range = Literal["unit", "positive"]
PREFIXES: dict[str, Range] = {"unit_": "unit", "free_": "positive"}


def unit(name: str) -> Any:
    """A knob in (0, 1] for `sweep`.

    >>> import fedaudit as fa
    >>> fa.unit("gamma")
    unit_gamma
    """
    return Symbol(f"unit_{name}", positive=True)


def free(name: str) -> Any:
    """A knob in (0, ∞) for `sweep`.

    >>> import fedaudit as fa
    >>> fa.free("gamma")
    free_gamma
    """
    return Symbol(f"free_{name}", positive=True)


def knob_range(name: str) -> Range | None:
    """The range of the knob of this name; None if it is the name of something else."""
    return next((span for prefix, span in PREFIXES.items() if name.startswith(prefix)), None)
