"""Components: families of losses, each one file that knows its genes, its arrays, its JSON and its exact minimiser.

A module here with a top-level `LOSS` is found, and every method runs on it; nobody edits this file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from .family import Family


@cache
def losses() -> dict[str, Family]:
    """Name -> family of losses."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    families = (getattr(module, "LOSS", None) for module in modules)
    return {family.name: family for family in families if family is not None}


def formulas() -> dict[str, Callable[[Mapping[str, object], Sequence[str]], str]]:
    """Kind of a loss in the kernel's format -> its formula as LaTeX, of data and of what the coordinates are called."""
    return {family.kind: family.formula for family in losses().values() if family.kind}
