"""What an audit leaves on disk, each file whole or absent, and what the next run may take over from it.

A folder holds `rows/` (one finished statement a file, the next run's head start), `certificates/`, `figures/`,
`audit.json` and `index.html`. Files are written beside their place and moved there (`os.replace`), a statement's row
after its certificate and figure: whatever the moment of a crash, a row that can be read is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from .errors import UserError

__all__ = ["AUDIT", "Folder", "Row", "key_of", "slug", "source_digest", "write"]

Row = dict[str, Any]
AUDIT = "audit.json"
FORMAT = "fedaudit-row/1"
PACKAGES = ("bounds", "problems", "verify", "figures")


def slug(identifier: str) -> str:
    """`paper/label` as a file name; ids that differ get names that differ."""
    if re.fullmatch(r"\w+/[\w.~+-]+", identifier, flags=re.ASCII):
        return identifier.replace("/", "-")
    return f"{_plain(identifier)}-{_digest(identifier)[:12]}"


def write(path: Path, content: str | bytes) -> None:
    """The whole file or none of it. Raises `UserError` where the place cannot be written."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise unwritable(path, error) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def dumps(value: object) -> str:
    """JSON for people and programs; a number that JSON does not have (NaN) is an error of ours, not a file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def source_digest() -> str:
    """A digest of every source file of the package: rows of another version are never taken over."""
    root = Path(__file__).parent.parent
    made = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            made.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def key_of(identifier: str, content: str, **settings: object) -> str:
    """The digest under which a row may be used again: same sources, same statement, same settings."""
    return _digest(json.dumps([source_digest(), identifier, content, settings], sort_keys=True, default=str))


@dataclass(frozen=True, slots=True)
class Folder:
    """One audit's folder."""

    path: Path
    ignored: list[str] = field(default_factory=list[str])  # files met below rows/ that are not finished rows

    @classmethod
    def open(cls, path: Path) -> Folder:
        """The folder, made if need be; raises `UserError` unless files can be written there."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError as error:
            raise unwritable(path, error) from error
        return cls(path)

    def row(self, identifier: str, key: str) -> Row | None:
        """The finished row of a statement, if the last run left one under the same key."""
        path = self._row(identifier)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            return self._ignore(path)
        try:
            read: object = json.loads(text)
        except ValueError:
            return self._ignore(path)
        if not isinstance(read, dict):
            return self._ignore(path)
        kept = cast("dict[str, object]", read)
        row = kept.get("row")
        if kept.get("format") != FORMAT or not isinstance(row, dict):
            return self._ignore(path)
        found = cast(Row, row)
        if kept.get("key") != key or found.get("id") != identifier:
            return None
        named = [found.get("certificate"), found.get("figure")]
        return found if all((self.path / str(name)).is_file() for name in named if name) else None

    def keep(self, key: str, row: Row, figure: str | None) -> Row:
        """Write a finished statement: certificates, figure, then the row that names them. Returns that row."""
        identifier = str(row["id"])
        self._row(identifier).unlink(missing_ok=True)
        kept = self.certified(row)
        kept["figure"] = self._beside("figures", slug(identifier), ".svg", figure)
        write(self._row(identifier), dumps({"format": FORMAT, "key": key, "row": kept}))
        return kept

    def certified(self, row: Row) -> Row:
        """Write the certificates that a row holds; the row then names their files."""
        name = slug(str(row["id"]))
        held = row.get("certificate")
        kept: Row = {**row, "certificate": self._beside("certificates", name, ".json", _as_text(held))}
        inner = [(move, row[move]) for move in ("verify", "hunt") if isinstance(row.get(move), dict)]
        for move, part in inner:
            kept[move] = self._inner(part, f"{name}.{move}", held, kept["certificate"])
        if isinstance(row.get("implicit"), list):
            dropped: list[Row] = row["implicit"]
            kept["implicit"] = [self._inner(p, f"{name}.without-{_plain(str(p['name']))}", held, None) for p in dropped]
        return kept

    def rows(self, move: str, rows: list[Row]) -> None:
        """Write the rows of one move as `<move>.json`."""
        write(self.path / f"{move}.json", dumps(rows))

    def finish(self, document: Mapping[str, object]) -> Path:
        """Write audit.json, the last file of an audit."""
        path = self.path / AUDIT
        write(path, dumps(document))
        return path

    def _row(self, identifier: str) -> Path:
        return self.path / "rows" / f"{slug(identifier)}.json"

    def _inner(self, part: Row, name: str, held: object, file: str | None) -> Row:
        """A part of a row with its certificate in a file: the row's own file if it is the same certificate."""
        mine = part.get("certificate")
        shared = file if mine == held else None
        own = self._beside("certificates", name, ".json", None if shared else _as_text(mine))
        return {**part, "certificate": shared or own}

    def _beside(self, kind: str, stem: str, suffix: str, content: str | None) -> str | None:
        name = f"{kind}/{stem}{suffix}"
        if content is None:
            (self.path / name).unlink(missing_ok=True)
            return None
        write(self.path / name, content)
        return name

    def _ignore(self, path: Path) -> None:
        self.ignored.append(str(path))


def unwritable(path: Path, error: OSError) -> UserError:
    """The one line for a place that cannot be written."""
    return UserError(
        f"{path} ({error.strerror or error})", "a place that can be written", "choose another one with --out"
    )


def _as_text(certificate: object) -> str | None:
    return None if certificate is None else dumps(certificate)


def _plain(name: str) -> str:
    return re.sub(r"[^\w~+-]+", "-", name, flags=re.ASCII)[:80].strip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
