"""Writing the pages of an audit into its folder: all at once, or as rows arrive."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from fedaudit.figures.kinds.proof_tree import nodes_of
from fedaudit.figures.pages.papers import paper_of
from fedaudit.figures.pages.report import INDEX, Site, cited_by, file_of, file_of_paper, pages
from fedaudit.output import Json
from fedaudit.verify.certify.standing import Checked, own_row
from fedaudit.verify.results.audit_json import Document, read
from fedaudit.verify.results.regular_file import Unreadable
from fedaudit.verify.results.row import Row

from ..running.files import contents, write
from ..running.own_marks import is_own, mark
from ..running.store import Folder, source_digest

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

    def __init__(self, folder: Folder, header: Json, known: Sequence[str]) -> None:
        self.folder, self.header, self.site = folder, header, Site(folder.path, known)
        self.rows: dict[str, Checked] = {}
        self.inputs: dict[str, str] = {}  # id -> digest of what its page shows
        self.order = {name: number for number, name in enumerate(known)}
        self.next = 0.0
        self.index()

    def add(self, row: Row, *, fresh: bool = True) -> None:
        """A finished row: its page, and now and then the index. A row that an earlier run finished has its page."""
        checked = self._read(row)
        if fresh or not (self.folder.path / file_of(checked.row.id)).is_file():
            self._page(checked, ())
        if time.monotonic() >= self.next:
            self.index()

    def finish(self, rows: Sequence[Row]) -> Path:
        """All rows, as they are once they were read together."""
        checked = [self._read(row) for row in rows]
        self.rows = {one.row.id: one for one in checked}
        citing = cited_by(one.row for one in checked)
        self.site.nodes = nodes_of((one.row, one.verdict) for one in checked)
        for one in checked:
            self._page(one, citing.get(one.row.id, ()))
        for name in self.site.papers:
            self._paper(name, [one for one in checked if paper_of(one.row.id) == name])
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
        """The row with what stands behind it: looked at once, and again if another row took its place."""
        checked = self.rows.get(row.id)
        if checked is None or checked.row is not row:
            checked = self.rows[row.id] = own_row(row, self.folder.path)
        return checked

    def _page(self, checked: Checked, citing: Sequence[str]) -> None:
        name, shown = checked.row.id, self._digest(checked.row, citing)
        if self.inputs.get(name) == shown:
            return
        self.inputs[name] = shown
        path = self.folder.path / file_of(name)
        if not _is_current(path, shown):
            _write_marked(path, shown, self.site.statement(checked, citing))

    def _paper(self, name: str, rows: Sequence[Checked]) -> None:
        """The page of a paper, from all its rows."""
        said = [self._digest(checked.row, ()) for checked in rows]
        shown = hashlib.sha256(json.dumps([self.site.papers, *said]).encode()).hexdigest()
        path = self.folder.path / file_of_paper(name)
        if rows and not _is_current(path, shown):
            _write_marked(path, shown, self.site.paper(rows))

    def _digest(self, row: Row, citing: Sequence[str]) -> str:
        """A digest of all that a page shows: the row, its files, its place among the others, our own sources."""
        files = [self._file(name) for name in (row.certificate, row.figure) if isinstance(name, str)]
        # Templates and styles are no Python sources, which alone `source_digest` reads: `look` is their digest.
        shown = [source_digest(), self.site.look, self.site.order, row.to_json(), files, self.site.around(row, citing)]
        return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()

    def _file(self, name: str) -> str:
        try:
            return hashlib.sha256(contents(self.folder.path / name)).hexdigest()
        except (Unreadable, ValueError):
            return ""


def _write_marked(path: Path, shown: str, text: str) -> None:
    """A page with a mark that says what it shows, and that it is ours."""
    line = f'<meta name="fedaudit" content="{shown} {mark("page", shown + text)}">\n'
    write(path, text.replace(HEAD, HEAD + line, 1))


def _is_current(path: Path, shown: str) -> bool:
    """Whether a page of ours shows this already."""
    try:
        text = contents(path).decode()
    except (Unreadable, ValueError):
        return False
    mark = MARK.search(text[:10_000])
    if mark is None or mark[1] != shown:
        return False
    return is_own("page", shown + text.replace(mark[0], "", 1), mark[2])
