"""Modules of layers above the core, loaded when a certificate asks for them; `recorded` says which were."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType

_LOADED: ContextVar[set[str] | None] = ContextVar("loaded", default=None)


def load(module: str) -> ModuleType:
    """A module of the kernel that not every certificate needs, by its name as this package has it."""
    loaded = import_module(module, __package__)
    if (names := _LOADED.get()) is not None:
        names.add(loaded.__name__)
    return loaded


@contextmanager
def recorded() -> Generator[set[str]]:
    """The names of the modules that are asked for inside."""
    names = set[str]()
    token = _LOADED.set(names)
    try:
        yield names
    finally:
        _LOADED.reset(token)
