"""Writing the pages of an audit into its folder: all at once, or as rows arrive."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedaudit.figures.kinds.proof_tree import nodes_of
from fedaudit.figures.pages.papers import paper_of
from fedaudit.figures.pages.report import INDEX, Site, cited_by, file_of, file_of_paper, pages
from fedaudit.verify.certify.standing import Checked, own_row
from fedaudit.verify.results.audit_json import Document, parse, read
from fedaudit.verify.results.audit_json import Row as Typed

from ..running.own_marks import is_own, mark
from ..running.store import Folder, Row, contents, source_digest, write

__all__ = ["Pages", "write_report"]

EVERY = 3.0  # seconds between two indexes of a running audit
SHARE = 20  # and so many times what the last one cost
MARK = re.compile(r'<meta name="fedaudit" content="([0-9a-f]*) ([0-9a-f]*)">\n')
HEAD = "<head>\n"


def write_report(folder: Folder) -> Path:
    """Write all pages from audit.json, whose refutations are replayed. Returns the path of the index."""
    for name, text in pages(read(folder.path), folder.path):
        write(folder.path / name, text)
    return folder.path / INDEX


class Pages:
    """The pages of an audit by this process. Each is written again only if something that it shows has changed."""

    def __init__(self, folder: Folder, header: Mapping[str, Any], known: Sequence[str]) -> None:
        self.folder, self.header, self.site = folder, header, Site(folder.path, known)
        self.rows: dict[str, Checked] = {}
        self.said: dict[str, Row] = {}  # id -> the row that was read
        self.inputs: dict[str, str] = {}  # id -> digest of what its page shows
        self.order = {name: number for number, name in enumerate(known)}
        self.next = 0.0
        self.index()

    def add(self, row: Row, *, fresh: bool = True) -> None:
        """A finished row: its page, and now and then the index. A row that an earlier run finished has its page."""
        checked = self._read(row)
        if fresh or not (self.folder.path / file_of(checked.row.id)).is_file():
            self._page(row, checked, ())
        if time.monotonic() >= self.next:
            self.index()

    def finish(self, rows: Sequence[Row]) -> Path:
        """All rows, as they are once they were read together."""
        checked = [self._read(row) for row in rows]
        self.rows = {one.row.id: one for one in checked}
        citing = cited_by(one.row for one in checked)
        self.site.nodes = nodes_of((one.row, one.verdict) for one in checked)
        for row, one in zip(rows, checked, strict=True):
            self._page(row, one, citing.get(one.row.id, ()))
        for name in self.site.papers:
            self._paper(name, [both for both in zip(rows, checked, strict=True) if paper_of(both[1].row.id) == name])
        return self.index(finished=True)

    def index(self, *, finished: bool = False) -> Path:
        """The index of what is finished."""
        began = time.monotonic()
        checked = sorted(self.rows.values(), key=lambda one: self.order.get(one.row.id, 0))
        rows = tuple(one.row for one in checked)
        document = Document(self.header["version"], self.header["seed"], self.header["budget"], rows)
        path = self.folder.path / INDEX
        write(path, self.site.index(document, checked, finished=finished))
        ended = time.monotonic()
        self.next = ended + max(EVERY, SHARE * (ended - began))
        return path

    def _read(self, row: Row) -> Checked:
        """The row as types, with its certificate: read once, and again if another row took its place."""
        name = str(row.get("id"))
        if self.said.get(name) is not row:
            typed = parse({**self.header, "statements": [row]}).statements[0]
            self.rows[typed.id], self.said[typed.id] = own_row(typed, self.folder.path), row
        return self.rows[name]

    def _page(self, row: Row, checked: Checked, citing: Sequence[str]) -> None:
        name, shown = checked.row.id, self._digest(row, checked.row, citing)
        if self.inputs.get(name) == shown:
            return
        self.inputs[name] = shown
        path = self.folder.path / file_of(name)
        if not _is_current(path, shown):
            _write_marked(path, shown, self.site.statement(checked, citing))

    def _paper(self, name: str, rows: Sequence[tuple[Row, Checked]]) -> None:
        """The page of a paper, from all its rows."""
        said = [self._digest(row, checked.row, ()) for row, checked in rows]
        shown = hashlib.sha256(json.dumps([self.site.papers, *said]).encode()).hexdigest()
        path = self.folder.path / file_of_paper(name)
        if rows and not _is_current(path, shown):
            _write_marked(path, shown, self.site.paper([checked for _, checked in rows]))

    def _digest(self, row: Row, typed: Typed, citing: Sequence[str]) -> str:
        """A digest of all that a page shows: the row, its files, its place among the others, our own sources."""
        files = [self._file(name) for name in (typed.certificate, typed.figure) if name]
        around = self.site.around(typed, citing)
        said = json.dumps([source_digest(), self.site.look, self.site.order, row, files, around], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def _file(self, name: str) -> str:
        try:
            return hashlib.sha256(contents(self.folder.path / name)).hexdigest()
        except (OSError, ValueError):
            return ""


def _write_marked(path: Path, shown: str, text: str) -> None:
    """A page with a mark that says what it shows, and that it is ours."""
    line = f'<meta name="fedaudit" content="{shown} {mark("page", shown + text)}">\n'
    write(path, text.replace(HEAD, HEAD + line, 1))


def _is_current(path: Path, shown: str) -> bool:
    """Whether a page of ours shows this already."""
    try:
        text = contents(path).decode()
    except (OSError, ValueError):
        return False
    found = MARK.search(text[:10_000])
    if found is None or found[1] != shown:
        return False
    return is_own("page", shown + text.replace(found[0], "", 1), found[2])
