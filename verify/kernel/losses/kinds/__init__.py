"""Further losses of clients: one module for each kind, named by it; its `LOSSES` says how data are read."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from ...core.rational import Node


@cache
def kinds() -> tuple[str, ...]:
    """The names of the modules here: nothing else that a stranger writes is looked for."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def read(node: Node, d: int) -> Any:
    """A loss of one of these kinds; its module is loaded when the first instance asks for it."""
    kind = node.kind(kinds())
    return importlib.import_module(f"{__name__}.{kind}").LOSSES[kind](node, d)
