"""The settings, by name. A module here with a top-level `SETTING` is found; nobody edits this file."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from typing import cast

import numpy as np

from fedaudit.bounds.formulas.lowering import Lowered
from fedaudit.errors import UserError

from .base import Reading, Setting
from .runs import data_points as data
from .runs import requirements as asked
from .runs import run
from .runs.long_runs import LongRuns


@cache
def settings() -> dict[str, Setting]:
    """Name -> setting."""
    found: dict[str, Setting] = {}
    for info in pkgutil.walk_packages(__path__, f"{__name__}."):
        made = getattr(importlib.import_module(info.name), "SETTING", None)
        if made is not None:
            found[made.name] = made
    return found


def setting_of(lowered: Lowered) -> Setting:
    """The setting of a claim; of a method's run, with the constants that bound it and its clock."""
    found, claim = setting(lowered.claim["setting"]), lowered.claim
    if not isinstance(found, run.RunSetting):
        return found
    droppable, declared = (*found.droppable, *claim["means"]), asked.declared(claim)
    if data.reads_data(Reading(lowered)):
        return cast("Setting", LongRuns(declared=declared, droppable=droppable))
    return replace(
        found,
        declared=declared,
        droppable=droppable,
        counts_steps="clock" in claim["method"],
        first_round=asked.one_round(claim),
        precision=np.longdouble if asked.differs(Reading(lowered)) else found.precision,
    )


def setting(name: str) -> Setting:
    """The setting of this name."""
    if name not in settings():
        known = ", ".join(settings())
        raise UserError(f"got setting {name!r}, expected one of {known}; do: add verify/settings/{name}.py")
    return settings()[name]
