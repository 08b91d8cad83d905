"""Writing index.html into an audit's folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from fedaudit.figures.report import page
from fedaudit.verify.document import parse, read

from .store import Folder, write

__all__ = ["write_report"]


def write_report(folder: Folder, computed: Mapping[str, Any] | None = None, own: Collection[str] | None = None) -> Path:
    """Write index.html and return its path.

    `computed` is the document of the audit that calls, whose rows are its own (all, or those with ids in `own`).
    Without it audit.json is read, and its refutations are replayed.
    """
    path = folder.path / "index.html"
    if computed is None:
        write(path, page(read(folder.path), folder.path))
    else:
        document = parse(computed)
        write(path, page(document, folder.path, [row.id for row in document.statements] if own is None else own))
    return path
