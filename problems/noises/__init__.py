"""Laws of noise: what a step of a run adds to gradients (and to Hessians), as signs times vectors.

Every `NoiseLaw` at the top of a module here is found by its name; nobody edits this file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from .law import NoiseLaw


@cache
def laws() -> dict[str, NoiseLaw]:
    """Name -> law."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    laws = [law for module in modules for law in vars(module).values() if isinstance(law, NoiseLaw)]
    return {law.name: law for law in laws}
