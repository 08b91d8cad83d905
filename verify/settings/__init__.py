"""The settings, by name. A module here with a top-level `SETTING` is found; nobody edits this file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.errors import UserError

from .base import Setting


@cache
def settings() -> dict[str, Setting]:
    """Name -> setting."""
    modules = (importlib.import_module(info.name) for info in pkgutil.walk_packages(__path__, f"{__name__}."))
    return {own.name: own for module in modules if (own := getattr(module, "SETTING", None)) is not None}


def setting_of(lowered: Lowered) -> Setting:
    """The setting of a claim, as that one needs it."""
    return setting(lowered.claim["setting"]).for_claim(lowered)


def setting(name: str) -> Setting:
    """The setting of this name."""
    if name not in settings():
        names = ", ".join(settings())
        raise UserError(f"got setting {name!r}, expected one of {names}; do: add verify/settings/{name}.py")
    return settings()[name]
