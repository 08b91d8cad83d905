"""Components: families of losses, each one file that knows its genes, its arrays, its JSON and its exact minimiser.

A module here with a top-level `LOSS` is found, and every method runs on it; nobody edits this file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from .family import Family


@cache
def losses() -> dict[str, Family]:
    """Name -> family of losses."""
    found: dict[str, Family] = {}
    for info in pkgutil.iter_modules(__path__):
        family = getattr(importlib.import_module(f"{__name__}.{info.name}"), "LOSS", None)
        if family is not None:
            found[family.name] = family
    return found
