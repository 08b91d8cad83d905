"""`fedaudit tighten ID`: smaller coefficients for which the lines of a proof still go through."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedaudit.errors import UserError

Row = dict[str, Any]


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("selectors", nargs=1, metavar="ID", help="one proved statement, also `my.py::id`")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")
    sub.add_argument("--out", metavar="DIR", help="folder for a certificate of every tightened line")


def asked(selector: str) -> list[Row]:
    """One row for each line of the proof that was tightened."""
    from fedaudit.bounds.catalogue import catalogue, find
    from fedaudit.verify.tighten import tighten

    chosen = find([selector])
    if len(chosen) != 1:
        raise UserError(
            f"got {len(chosen)} statements for {selector!r}, expected one; do: name it as `fedaudit list` does"
        )
    (statement,) = chosen
    return [{"id": statement.id, **found.row()} for found in tighten(statement, catalogue(chosen))]


def kept(rows: Sequence[Row], folder: Path) -> None:
    """Write the certificates, and say in each row where its own is."""
    from fedaudit.verify.names import slug

    from .store import dumps, write

    for n, row in enumerate(rows):
        name = f"{slug(row['id'])}.tightened.{n}.identity.json"
        write(folder / name, dumps(row["certificate"]))
        row["certificate"] = name


def as_text(selector: str, rows: Sequence[Row], folder: Path | None) -> str:
    if not rows:
        return f"{selector}: no line of its proof that rests on identities alone was tightened; that says nothing more"
    said = [
        f"{row['id']}, {row['where']}: {row['quantity']} with {row['least']} for {row['printed']}\n    {row['claim']}"
        for row in rows
    ]
    if folder is not None:
        said.append(
            f"{len(rows)} certificates are in {folder}; `python -m fedaudit.verify.kernel FILE` checks them alone"
        )
    return "\n".join(said)
