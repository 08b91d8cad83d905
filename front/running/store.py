"""What an audit leaves on disk, each file whole or absent, and what the next run may take over from it.

A folder holds `rows/` (one finished statement per file, the next run's head start), `certificates/`, `proofs/` (of
every statement that is proved, and of what it cites), `worst/` (both ends of every worst case that a row quotes),
`figures/`, `pages/`, `audit.json`, `marks.json` and `index.html`. Files are written beside their place and moved there
(`os.replace`), a statement's row after its certificate and figure: whatever the moment of a crash, a row that can be
read is complete.

A stored row carries a digest of its own content and of every file that it names. Digests find accidents and edits:
truncated files, a verdict changed by hand, a certificate of another run. They do not find a forger who computes them
again, for nothing in them is secret. So a row carries a mark besides (`own`), which only the user who wrote it can
compute: of its id, its key, its content and the names and digests of its files. A row without it is decided again,
whatever it says. The rows of audit.json, which were read together, have their marks in `marks.json`, so that whoever
reads audit.json later knows which of them this user's own audit came to.

One process at a time writes to a folder: it holds a lock that the system takes back when the process ends, however
it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
import stat
import tempfile
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from fedaudit.verify.results.file_names import AUDIT, PROOFS, WORST, plain, slug

from ..errors import UserError
from .own_marks import is_own, mark

__all__ = ["Damaged", "Folder", "Foreign", "Row", "contents", "key_of", "own_rows", "source_digest", "write"]

Row = dict[str, Any]
FORMAT = "fedaudit-row/4"
LOCK = ".lock"
MARKS = "marks.json"  # beside audit.json: id -> mark of its row
PARTS = ("rows", "certificates", PROOFS, WORST, "figures", "pages", "papers")
MOST_BYTES = 64_000_000  # of one file that is read again; the largest row of the catalogue has one hundredth of it
LEFT_BEHIND = re.compile(r"\..+\.(json|svg|html)\.[a-z0-9_]{8}\.part")  # what a killed `write` leaves here


class Damaged(Exception):
    """A stored row that must not be taken over; says why, as the end of a sentence."""


class Foreign(Exception):
    """A stored row that is whole and does not carry this user's mark: whoever wrote it, it is decided again."""


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


def compact(value: object) -> str:
    """The same on one line, for what is read by programs alone: several times as fast to write."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@cache
def source_digest(*, papers: bool = True) -> str:
    """A digest of every source file of the package, or of all but the papers: what others made is not taken over."""
    root = Path(__file__).parent.parent
    made = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if papers or not name.startswith("bounds/papers/"):
            made.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def key_of(identifier: str, content: str, **settings: object) -> str:
    """The digest under which a row may be used again: same sources, same statement, same settings."""
    return _digest(json.dumps([identifier, content, settings], sort_keys=True, default=str))


@dataclass(frozen=True, slots=True)
class Folder:
    """One audit's folder."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> Folder:
        """The folder, made if need be; raises `UserError` unless files can be written there."""
        try:
            for place in (path, *(path / part for part in PARTS)):
                _usable(place, link=place == path)
            path.mkdir(parents=True, exist_ok=True)
            for place in (path, *(path / part for part in PARTS)):
                if place.is_dir():
                    with tempfile.TemporaryFile(dir=place):
                        pass
        except OSError as error:
            raise unwritable(path, error) from error
        return cls(path)

    @contextmanager
    def held(self) -> Generator[Folder]:
        """The folder for this process alone. Raises `UserError` that names the process which has it."""
        handle = self._locked()
        try:
            for part in self._left_behind():
                part.unlink(missing_ok=True)
            yield self
        finally:
            os.close(handle)

    def verdict(self, identifier: str) -> str:
        """The verdict that an earlier run came to, under whatever key; nothing without one."""
        try:
            row = _parsed(contents(self._row(identifier))).get("row")
        except (OSError, ValueError, RecursionError):
            return ""
        return str(cast(Row, row).get("verdict")) if isinstance(row, dict) else ""

    def row(self, identifier: str, key: str) -> Row | None:
        """The finished row of a statement, if this user's last run left one under the same key.

        Raises `Damaged` for one that was changed, `Foreign` for one that somebody else wrote.
        """
        place = f"rows/{slug(identifier)}.json"
        strange = f"{place} is not a row that an audit finished"
        try:
            kept = _parsed(contents(self.path / place))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise Damaged(strange) from error
        row, said = kept.get("row"), kept.get("format")
        if isinstance(said, str) and said != FORMAT and said.startswith("fedaudit-row/"):
            return None  # of another version
        if said != FORMAT or not isinstance(row, dict):
            raise Damaged(strange)
        found = cast(Row, row)
        if kept.get("key") != key or found.get("id") != identifier:
            return None
        files = kept.get("files")
        try:
            whole = kept.get("digest") == _row_digest(key, found, files)
        except (ValueError, RecursionError) as error:
            raise Damaged(strange) from error
        if not whole:
            raise Damaged("its row was changed")
        named = dict(_named(found))
        if not isinstance(files, dict) or set(cast("dict[str, object]", files)) != set(named):
            raise Damaged("its row was changed")
        for name, what in named.items():
            if files[name] != self._file_digest(name, identifier, what):
                raise Damaged(f"its {what} was changed")
        if not is_own("row", str(kept["digest"]), kept.get("mark")):
            raise Foreign(identifier)
        return found

    def keep(self, key: str, row: Row, figure: str | None, *, drawn: bool = True) -> Row:
        """Write a finished statement: certificates, figure, then the row that names them. Returns that row.

        `figure` is None where nothing can be drawn; not `drawn` is a row whose figure nobody asked for yet.
        """
        if row.get("verdict") == "proved" and not row.get("proof"):
            raise ValueError(f"{row['id']}: proved, without a proof that the kernel accepted")
        self._remove(self._row(str(row["id"])))
        return self.illustrate(key, self.certified(row), figure, drawn=drawn)

    def illustrate(self, key: str, row: Row, figure: str | None, *, drawn: bool = True) -> Row:
        """Write the figure of a row whose certificates are in their files, and the row."""
        identifier = str(row["id"])
        name = self._beside("figures", slug(identifier), ".svg", figure)
        kept = {**row, "figure": name} if drawn else row
        files = {name: self._file_digest(name, identifier, what) for name, what in _named(kept)}
        digest = _row_digest(key, kept, files)
        stored = {"format": FORMAT, "key": key, "digest": digest, "mark": mark("row", digest)}
        stored |= {"files": files, "row": kept}
        write(self._row(identifier), compact(stored) + "\n")
        return kept

    def certificate(self, name: str) -> object:
        """A certificate that a row names, as data; raises `Damaged`."""
        try:
            return _parsed(contents(self.path / name))
        except (OSError, ValueError, RecursionError) as error:
            raise Damaged("its certificate was changed") from error

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
            kept["implicit"] = [self._inner(p, f"{name}.without-{plain(str(p['name']))}", held, None) for p in dropped]
        if "proof" in row:
            kept["proof"] = self.prove(str(row["id"]), row["proof"])
        if "hunt" in row or "worst" in row:
            kept |= {"hunt": self._ends(name, kept["hunt"])} if kept.get("hunt") else self._ends(name, kept)
        return kept

    def prove(self, identifier: str, proof: object) -> str | None:
        """Write the proof of a statement, a judgement a line, or remove what is there; the name of its file."""
        return self._beside(PROOFS, slug(identifier), ".json", None if proof is None else as_lines(cast(Row, proof)))

    def has_proof(self, identifier: str) -> bool:
        """Whether a file of its name is there."""
        return (self.path / PROOFS / f"{slug(identifier)}.json").is_file()

    def forget_proofs(self, kept: Collection[str]) -> None:
        """Remove the proofs of all statements but these and what they cite: they are of another run, and may differ."""
        names, waiting, place = set[str](), list(kept), self.path / PROOFS
        while waiting:
            name = f"{slug(waiting.pop())}.json"
            if name not in names and (place / name).is_file():
                names.add(name)
                waiting += self._cites(place / name)
        for file in list(place.iterdir()) if place.is_dir() else ():
            if file.suffix == ".json" and file.name not in names:
                self._remove(file)

    def _cites(self, path: Path) -> list[str]:
        """What a proof says that it cites; nothing where the file is none."""
        try:
            cites = _parsed(contents(path)).get("cites")
        except (OSError, ValueError, RecursionError):
            return []
        return [
            name for name in cast("list[object]", cites if isinstance(cites, list) else []) if isinstance(name, str)
        ]

    def _ends(self, name: str, part: Row) -> Row:
        """A row of `hunt` with both ends of its worst cases in files; those of an earlier run go."""
        place, ours = self.path / WORST, re.compile(rf"{re.escape(name)}\.[0-9]+\.(lower|upper)\.json")
        for file in list(place.iterdir()) if place.is_dir() else ():
            if ours.fullmatch(file.name):
                self._remove(file)
        quoted = cast("list[Row]", part.get("worst") or [])
        if not quoted:
            return part
        kept = [
            {
                **one,
                **{
                    key: self._beside(WORST, f"{name}.{n}.{end}", ".json", _as_text(one.get(key)))
                    for key, end in (("certificate", "lower"), ("proof", "upper"))
                },
            }
            for n, one in enumerate(quoted)
        ]
        return {**part, "worst": kept}

    def rows(self, move: str, rows: list[Row]) -> None:
        """Write the rows of one move as `<move>.json`."""
        write(self.path / f"{move}.json", dumps(rows))

    def finish(self, document: Mapping[str, object]) -> Path:
        """Write audit.json, a line for each statement, and the marks of its rows."""
        path = self.path / AUDIT
        rows = cast("list[Row]", document.get("statements", []))
        fields = {name: compact(value) for name, value in document.items() if name != "statements"}
        fields["statements"] = "\n".join(("[", ",\n".join(map(compact, rows)), "]"))
        write(path, "{" + ",\n".join(f'"{name}": {text}' for name, text in fields.items()) + "}\n")
        write(self.path / MARKS, dumps({str(row["id"]): mark("verdict", _said(document, row)) for row in rows}))
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
            self._remove(self.path / name)
            return None
        write(self.path / name, content)
        return name

    def _remove(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error

    def _file_digest(self, name: str, identifier: str, what: str) -> str:
        """The digest of a file that a row names: one of the statement's own, never a path that leads elsewhere."""
        own = re.escape(slug(identifier))
        places = rf"certificates/{own}(\.[\w.~+-]+)?\.json|figures/{own}\.svg|{PROOFS}/{own}\.json"
        ends = rf"{WORST}/{own}\.[0-9]+\.(lower|upper)\.json"
        if not re.fullmatch(rf"{places}|{ends}", name, flags=re.ASCII):
            raise Damaged(f"its {what} is none of its own files")
        try:
            return hashlib.sha256(contents(self.path / name)).hexdigest()
        except FileNotFoundError as error:
            raise Damaged(f"its {what} is missing") from error
        except (OSError, ValueError) as error:
            raise Damaged(f"its {what} cannot be read") from error

    def _locked(self) -> int:
        path = self.path / LOCK
        strange = UserError(f"{path}, which no audit made", "a lock of our own or none", "remove it")
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise (strange if path.is_symlink() or path.is_dir() else unwritable(path, error)) from error
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise strange
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        except BlockingIOError as error:
            pid = os.read(handle, 20).decode("ascii", "replace").strip()
            os.close(handle)
            who = f"process {pid}" if pid.isdigit() else "another process"
            do = "wait until it ends, or choose another folder with --out"
            raise UserError(f"{self.path}, where {who} is writing", "a folder for one process alone", do) from error
        except OSError as error:
            os.close(handle)
            raise unwritable(path, error) from error
        except UserError:
            os.close(handle)
            raise
        return handle

    def _left_behind(self) -> Iterator[Path]:
        """What a killed process had not finished writing. Only under the lock: otherwise others may be at work."""
        for place in (self.path, *(self.path / part for part in PARTS)):
            if place.is_dir():
                yield from (p for p in place.iterdir() if LEFT_BEHIND.fullmatch(p.name) and not p.is_dir())


def own_rows(path: Path) -> frozenset[str]:
    """The ids whose rows in this audit.json are as this user's own audit wrote them; none where nothing says so."""
    try:
        document, marks = (_parsed(contents(file)) for file in (path, path.with_name(MARKS)))
        rows = [(str(row["id"]), row) for row in cast("list[Row]", document["statements"])]
        others = {name for name, row in rows if not is_own("verdict", _said(document, row), marks.get(name))}
        return frozenset(name for name, _ in rows) - others  # of two rows with one id either may be read
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return frozenset()


def _said(document: Mapping[str, object], row: Row) -> str:
    """All that a row of audit.json says, with what the file says of all rows."""
    about = {name: value for name, value in document.items() if name != "statements"}
    return json.dumps(json.loads(compact([about, row])), sort_keys=True)


def unwritable(path: Path, error: OSError) -> UserError:
    """The one line for a place that cannot be written."""
    return UserError(
        f"{path} ({error.strerror or error})", "a place that can be written", "choose another one with --out"
    )


def _usable(place: Path, *, link: bool) -> None:
    """Raises `UserError` where something stands in the way of a folder and of the files in it."""
    try:
        mode = (place.stat() if link else place.lstat()).st_mode
    except FileNotFoundError:
        if place.is_symlink():
            raise UserError(f"{place}, a link to nothing", "a folder", "remove it") from None
        return
    if not stat.S_ISDIR(mode):
        raise UserError(f"{place}, which is no folder", "a folder or nothing", "choose another one with --out")
    for name in os.listdir(place):
        if name.endswith((".json", ".svg", ".html")) and stat.S_ISDIR((place / name).lstat().st_mode):
            raise UserError(f"{place / name}, which is a folder", "a file or nothing", "remove it")


def _named(row: Row) -> Iterator[tuple[str, str]]:
    """Every file that a row names, and what it is."""
    implicit: object = row.get("implicit")
    inner = [
        row.get("verify"),
        row.get("hunt"),
        *(cast("list[object]", implicit) if isinstance(implicit, list) else []),
    ]
    hunt = cast(Row, row.get("hunt") if isinstance(row.get("hunt"), dict) else row)
    ends: object = hunt.get("worst")
    inner += cast("list[object]", ends) if isinstance(ends, list) else []
    for part in (row, *(cast(Row, part) for part in inner if isinstance(part, dict))):
        for what in ("certificate", "counterexample", "proof", "figure"):
            if isinstance(name := part.get(what), str):
                yield name, what


def contents(path: Path) -> bytes:
    """The bytes of a regular file: never through a link, never from a pipe or a device, never without end."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise ValueError("not a regular file of a reasonable size")
        return file.read(MOST_BYTES)


def _parsed(data: bytes) -> dict[str, object]:
    """A JSON object; `ValueError` for anything else, NaN and numbers beyond all floats included."""

    def finite(text: str) -> float:
        if not math.isfinite(value := float(text)):
            raise ValueError(text)
        return value

    read: object = json.loads(data.decode(), parse_constant=finite, parse_float=finite)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    return cast("dict[str, object]", read)


def _row_digest(key: str, row: Row, files: object) -> str:
    return _digest(json.dumps([FORMAT, key, row, files], sort_keys=True, ensure_ascii=False))


def as_lines(proof: Row) -> str:
    """A proof as JSON, with a line for each judgement."""
    fields = {name: compact(value) for name, value in proof.items() if name != "judgements"}
    fields["judgements"] = "\n".join(("[", ",\n".join(map(compact, cast("list[object]", proof["judgements"]))), "]"))
    return "{" + ",\n".join(f'"{name}": {text}' for name, text in fields.items()) + "}\n"


def _as_text(certificate: object) -> str | None:
    return None if certificate is None else dumps(certificate)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
