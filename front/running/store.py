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
import os
import re
import stat
import tempfile
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import cast

from fedaudit.verify.results.evidence import Piece, filed, pieces
from fedaudit.verify.results.file_names import AUDIT, CERTIFICATES, PROOFS, WORST, proof_file, slug
from fedaudit.verify.results.json_fields import Json
from fedaudit.verify.results.json_node import Node
from fedaudit.verify.results.regular_file import NotThere, Unreadable
from fedaudit.verify.results.row import Held, Row, read_row

from ..errors import UserError
from .files import compact, contents, dumps, parsed, proof_text, unwritable, write
from .own_marks import is_own, mark

__all__ = ["Damaged", "Folder", "Foreign", "key_of", "own_rows", "source_digest"]

FORMAT = "fedaudit-row/5"
LOCK = ".lock"
MARKS = "marks.json"  # beside audit.json: id -> mark of its row
PARTS = ("rows", CERTIFICATES, PROOFS, WORST, "figures", "pages", "papers")
LEFT_BEHIND = re.compile(r"\..+\.(json|svg|html)\.[a-z0-9_]{8}\.part")  # what a killed `write` leaves here


class Damaged(Exception):
    """A stored row that must not be taken over; says why, as the end of a sentence."""


class Foreign(Exception):
    """A stored row that is whole and does not carry this user's mark: whoever wrote it, it is decided again."""


@cache
def source_digest(*, papers: bool = True) -> str:
    """A digest of every source file of the package, or of all but the papers: what others made is not taken over."""
    # Where fedaudit is installed, `front/` is the package itself and has all other rooms below it.
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if papers or not name.startswith("bounds/papers/"):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def key_of(identifier: str, content: str, **settings: object) -> str:
    """The digest under which a row may be used again: same sources, same statement, same settings."""
    return _digest(json.dumps([identifier, content, settings], sort_keys=True, default=str))


@dataclass(frozen=True, slots=True)
class Folder:
    """One audit's folder: its rows, certificates, proofs and figures, each written whole or not at all."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> Folder:
        """The folder, made if need be; raises `UserError` unless files can be written there."""
        try:
            for place in (path, *(path / part for part in PARTS)):
                # The folder that the user names may be a link; one below it could lead our files anywhere.
                _must_be_usable(place, link=place == path)
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
            row = parsed(contents(self._row(identifier))).get("row")
        except (Unreadable, ValueError, RecursionError):
            return ""
        return str(cast(Json, row).get("verdict")) if isinstance(row, dict) else ""

    def row(self, identifier: str, key: str) -> Row | None:
        """The finished row of a statement, if this user's last run left one under the same key.

        Raises `Damaged` for one that was changed, `Foreign` for one that somebody else wrote.
        """
        name = f"rows/{slug(identifier)}.json"
        strange = Damaged(f"{name} is not a row that an audit finished")
        try:
            stored = parsed(contents(self.path / name))
        except NotThere:
            return None
        except (Unreadable, ValueError, RecursionError) as error:
            raise strange from error
        raw, version, files = stored.get("row"), stored.get("format"), stored.get("files")
        if isinstance(version, str) and version != FORMAT and version.startswith("fedaudit-row/"):
            return None
        if version != FORMAT or not isinstance(raw, dict):
            raise strange
        if stored.get("key") != key or cast(Json, raw).get("id") != identifier:
            return None
        try:
            digest = _row_digest(key, cast(Json, raw), files)
        except (ValueError, RecursionError) as error:
            raise strange from error
        if stored.get("digest") != digest:
            raise Damaged("its row was changed")
        try:
            row = read_row(Node(cast(object, raw), name, ""))
        except UserError as error:
            raise Foreign(identifier) from error  # no version of ours writes such a row under our key
        named = _files(row)
        if not isinstance(files, dict) or set(cast("dict[str, object]", files)) != set(named):
            raise Damaged("its row was changed")
        for file, what in named.items():
            if files[file] != self._digest(file, what):
                raise Damaged(f"its {what} was changed")
        # Last, so that what an accident changed is called damaged: its mark would be no longer ours either.
        if not is_own("row", digest, stored.get("mark")):
            raise Foreign(identifier)
        return row

    def keep(self, key: str, row: Row, figure: str | None, *, drawn: bool = True) -> Row:
        """Write a finished statement: evidence, figure, then the row that names them. Returns that row.

        `figure` is None where nothing can be drawn; not `drawn` is a row whose figure nobody asked for yet.
        """
        if row.verdict == "proved" and not row.proof:
            raise ValueError(f"{row.id}: proved, without a proof that the kernel accepted")
        # Without the old row a crash from here on leaves none, and not one whose evidence has changed.
        self._remove(self._row(row.id))
        return self.illustrate(key, self.certified(row), figure, drawn=drawn)

    def illustrate(self, key: str, row: Row, figure: str | None, *, drawn: bool = True) -> Row:
        """Write the figure of a row whose evidence is in its files, and the row."""
        row = replace(row, figure=self._beside(_figure_file(row), figure), is_drawn=row.is_drawn or drawn)
        written, files = row.to_json(), {file: self._digest(file, what) for file, what in _files(row).items()}
        digest = _row_digest(key, written, files)
        stored = {"format": FORMAT, "key": key, "digest": digest, "mark": mark("row", digest)}
        write(self._row(row.id), compact({**stored, "files": files, "row": written}) + "\n")
        return row

    def certificate(self, name: str) -> Json:
        """A certificate that a row names, as data; raises `Damaged`."""
        try:
            return parsed(contents(self.path / name))
        except (Unreadable, ValueError, RecursionError) as error:
            raise Damaged("its certificate was changed") from error

    def certified(self, row: Row) -> Row:
        """Write the evidence that a row holds; the row then names its files, and what an earlier run left there goes.

        A move that ended in the certificate of the whole row names that one.
        """
        if row.hunt is not None:
            self._forget_ends(row.id)
        own = row.certificate

        def change(piece: Piece) -> Held:
            if isinstance(piece.held, str) or not piece.file:
                return piece.held
            is_shared = piece.role == "refutation" and piece.held is not None and piece.held == own
            if is_shared and piece.place != "certificate":
                self._remove(self.path / piece.file)
                return f"{CERTIFICATES}/{slug(row.id)}.json"
            text = proof_text if piece.role == "proof" else dumps
            return self._beside(piece.file, None if piece.held is None else text(piece.held))

        return filed(row, change)

    def _forget_ends(self, identifier: str) -> None:
        """Remove the ends of worst cases that an earlier run left: there may have been more of them."""
        place, ours = self.path / WORST, re.compile(rf"{re.escape(slug(identifier))}\.[0-9]+\.(lower|upper)\.json")
        for file in list(place.iterdir()) if place.is_dir() else ():
            if ours.fullmatch(file.name):
                self._remove(file)

    def prove(self, identifier: str, proof: Held) -> str | None:
        """Write the proof of a statement, or remove what is there; the name of its file."""
        if isinstance(proof, str):
            return proof
        return self._beside(proof_file(identifier), None if proof is None else proof_text(proof))

    def has_proof(self, identifier: str) -> bool:
        """Whether a file of its name is there."""
        return (self.path / proof_file(identifier)).is_file()

    def forget_proofs(self, kept: Collection[str]) -> None:
        """Remove the proofs of all statements but these and what they cite: they are of another run, and may differ."""
        files, waiting, place = set[Path](), list(kept), self.path / PROOFS
        while waiting:
            file = self.path / proof_file(waiting.pop())
            if file not in files and file.is_file():
                files.add(file)
                waiting += self._cites(file)
        for file in list(place.iterdir()) if place.is_dir() else ():
            if file.suffix == ".json" and file not in files:
                self._remove(file)

    def _cites(self, path: Path) -> list[str]:
        """What a proof says that it cites; nothing where the file is none."""
        try:
            cites = parsed(contents(path)).get("cites")
        except (Unreadable, ValueError, RecursionError):
            return []
        names = cast("list[object]", cites if isinstance(cites, list) else [])
        return [name for name in names if isinstance(name, str)]

    def rows(self, move: str, rows: Sequence[Row]) -> None:
        """Write the rows of one move as `<move>.json`."""
        write(self.path / f"{move}.json", dumps([row.to_json() for row in rows]))

    def finish(self, document: Json) -> Path:
        """Write audit.json, a line for each statement, and the marks of its rows."""
        path = self.path / AUDIT
        rows = cast("list[Json]", document.get("statements", []))
        fields = {name: compact(value) for name, value in document.items() if name != "statements"}
        fields["statements"] = "\n".join(("[", ",\n".join(map(compact, rows)), "]"))
        write(path, "{" + ",\n".join(f'"{name}": {text}' for name, text in fields.items()) + "}\n")
        write(self.path / MARKS, dumps({str(row["id"]): mark("verdict", _said(document, row)) for row in rows}))
        return path

    def _row(self, identifier: str) -> Path:
        return self.path / "rows" / f"{slug(identifier)}.json"

    def _beside(self, name: str, content: str | None) -> str | None:
        """Write a file of the folder, or remove it where there is no content; its name where it is there."""
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

    def _digest(self, name: str, what: str) -> str:
        """The digest of a file that a row names."""
        try:
            return hashlib.sha256(contents(self.path / name)).hexdigest()
        except NotThere as error:
            raise Damaged(f"its {what} is missing") from error
        except Unreadable as error:
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
            # A second link would make it somebody else's file too, and it is about to be emptied.
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
        document, marks = (parsed(contents(file)) for file in (path, path.with_name(MARKS)))
        rows = [(str(row["id"]), row) for row in cast("list[Json]", document["statements"])]
        others = {name for name, row in rows if not is_own("verdict", _said(document, row), marks.get(name))}
        return frozenset(name for name, _ in rows) - others  # of two rows with one id either may be read
    except (Unreadable, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return frozenset()


def _said(document: Json, row: Json) -> str:
    """All that a row of audit.json says, with what the file says of all rows."""
    about = {name: value for name, value in document.items() if name != "statements"}
    return json.dumps(json.loads(compact([about, row])), sort_keys=True)


def _must_be_usable(place: Path, *, link: bool) -> None:
    """Raise `UserError` where something stands in the way of a folder and of the files in it."""
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


def _figure_file(row: Row) -> str:
    return f"figures/{slug(row.id)}.svg"


def _files(row: Row) -> dict[str, str]:
    """Every file that a row names, and what it is; raises `Damaged` for a name that is none of its own."""
    own = f"{CERTIFICATES}/{slug(row.id)}.json"
    named = [(piece.held, piece.what, (piece.file, own)) for piece in pieces(row) if isinstance(piece.held, str)]
    named += [] if row.figure is None else [(row.figure, "figure", (_figure_file(row),))]
    for name, what, allowed in named:
        if name not in allowed:
            raise Damaged(f"its {what} is none of its own files")
    return {name: what for name, what, _ in named}


def _row_digest(key: str, row: Json, files: object) -> str:
    return _digest(json.dumps([FORMAT, key, row, files], sort_keys=True, ensure_ascii=False))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
