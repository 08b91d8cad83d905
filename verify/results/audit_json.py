"""audit.json as typed data. The file may come from a stranger: it is parsed, each field is checked, none is trusted.

A wrong type, a missing field, a number that JSON does not have, absurd sizes and depths: one `UserError` that names the
place. Fields that no report shows are checked for size and depth only, so that newer versions may add some.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fedaudit.errors import UserError

from .file_names import AUDIT
from .json_node import NAME, Node, must_be_bounded, shown
from .regular_file import Unreadable, inside, regular_bytes
from .row import VERDICTS, Ends, Move, Printed, Row, Words, read_row
from .row import DerivedGap as Gap
from .row import DerivedPart as Derived
from .row import DerivedStep as Step
from .row import DerivedWay as Way
from .row import LintLine as Finding
from .row import LiteralReading as Literal
from .row import read_printed as parse_printed

__all__ = [
    "VERDICTS",
    "Derived",
    "Document",
    "Ends",
    "Finding",
    "Gap",
    "Literal",
    "Move",
    "Printed",
    "Row",
    "Step",
    "Unreadable",
    "Way",
    "Words",
    "inside",
    "parse",
    "parse_printed",
    "read",
    "read_file",
    "read_rows",
]

BYTES = 64_000_000  # of audit.json: fifteen times what the whole catalogue needs
ROWS = 5_000


@dataclass(frozen=True, slots=True)
class Document:
    """A whole audit.json."""

    version: str
    seed: int
    budget: float
    statements: tuple[Row, ...]
    thorough: bool = False


def read(folder: Path) -> Document:
    """The audit.json of a folder. Raises `UserError` unless it is one that an audit could have written."""
    do = f"run `fedaudit audit --out {_clipped(folder)}` first"
    try:
        return _document(folder / AUDIT, do)
    except Unreadable as error:
        raise UserError(f"{_clipped(folder)} ({AUDIT}: {error})", f"a folder that holds {AUDIT}", do) from error


def read_file(path: Path) -> Document:
    """An audit.json by its own path, or that of a folder."""
    if path.is_dir():
        return read(path)
    try:
        return _document(path, "name the file of a finished audit")
    except Unreadable as error:
        do = "name the file of a finished audit"
        raise UserError(f"{_clipped(path)} ({error})", f"the {AUDIT} of an audit", do) from error


def read_rows(path: Path) -> tuple[Row, ...]:
    """The rows of an audit.json, whatever it says beside them; raises `UserError`."""
    do = "write it again with `fedaudit audit`"
    try:
        return parse_rows(_raw(path, do), _clipped(path))
    except Unreadable as error:
        raise UserError(f"{_clipped(path)} ({error})", f"the {AUDIT} of an audit", do) from error


def _document(path: Path, do: str) -> Document:
    return parse(_raw(path, do), _clipped(path))


def _raw(path: Path, do: str) -> object:
    data = regular_bytes(path, BYTES)
    place = _clipped(path)
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise UserError(f"{place} (not UTF-8 text)", "the JSON that an audit writes", do) from error
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UserError(f"{place} ({' '.join(why.split())[:200]})", "the JSON that an audit writes", do) from error


def parse(raw: object, place: str = AUDIT) -> Document:
    """JSON data as a document."""
    rows = parse_rows(raw, place)
    top = Node(raw, place, "").mapping()
    thorough = top.get("thorough")
    return Document(
        version=top.need("version").text(),
        seed=top.need("seed").whole(),
        budget=top.need("budget").number(),
        statements=rows,
        thorough=thorough is not None and thorough.truth(),
    )


def parse_rows(raw: object, place: str = AUDIT) -> tuple[Row, ...]:
    """The rows of JSON data, whatever it says beside them."""
    must_be_bounded(raw, place)
    rows = Node(raw, place, "").mapping().need("statements").items(read_row, ROWS)
    ids: set[str] = set()
    for number, row in enumerate(rows):
        if row.id in ids:
            Node(row.id, place, f"statements[{number}].id").refuse("every id once")
        ids.add(row.id)
    return rows


def _clipped(path: Path) -> str:
    text = str(path)
    return text if len(text) <= NAME else f"{text[:40]}…{text[-40:]}"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Of two entries of one name readers of JSON keep either, so that two programs would see two verdicts.
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"a name twice among {shown([name for name, _ in pairs])}")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"the number {name}")


def _finite(text: str) -> float:
    # JSON can write 1e999, which Python reads as infinity.
    if not math.isfinite(value := float(text)):
        raise ValueError(f"the number {shown(text)}")
    return value
