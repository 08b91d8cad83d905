"""What there is in the catalogue, without building it: kept in the user's cache, by a digest of the sources.

Importing sympy and building three hundred statements takes more than a second; `list`, `show ID` and an audit that has
nothing left to do need the names alone. The listing's name is a digest of every source file and of the libraries that
read them, so that one of other sources is never found, and it carries this user's mark. So do texts that were shown.
"""

from __future__ import annotations

import fnmatch
import gc
import hashlib
import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedaudit.output import JsonObject
from fedaudit.verify.results.regular_file import Unreadable

from ..errors import UserError
from ..running.files import contents, write
from ..running.own_marks import is_own, mark, place
from ..running.store import source_digest

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["LISTED", "chains", "file_of", "find", "listed", "quiet", "row_of", "shown"]

LISTED = ("id", "paper", "kind", "title", "where", "relation", "method", "follows_from")  # what `list` prints
MOST = 8  # files of one kind that are kept, of as many versions of the sources
Entry = JsonObject  # what is listed, and `module` and `fingerprint`


def listed(selectors: Sequence[str]) -> list[Entry]:
    """The entries that selectors of the catalogue name, in its order; raises `UserError` for what is unknown."""
    entries = _entries()
    if not selectors:
        return list(entries)
    chosen: dict[str, Entry] = {}
    for selector in selectors:
        matching = [e for e in entries if selector in (e["paper"], e["id"])]
        matching = matching or [e for e in entries if fnmatch.fnmatchcase(e["id"], selector)]
        if not matching:
            from fedaudit.bounds.catalogue.discovery import find as search

            search([selector])  # says what is near
        chosen |= {e["id"]: e for e in matching if e["id"] not in chosen}
    return list(chosen.values())


@cache
def chains() -> dict[str, str]:
    """Every statement of the catalogue with one that stands for its chain: citations, and readings of one print."""
    entries = {entry["id"]: entry for entry in _entries()}
    root = {name: name for name in entries}

    def top(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    for name, entry in entries.items():
        for other in (*entry["follows_from"], name.partition("~")[0]):
            if other in entries:
                root[top(other)] = top(name)
    return {name: top(name) for name in entries}


def find(selectors: Sequence[str]) -> list[Statement]:
    """The statements that the selectors name; of single ids nothing but their modules is loaded."""
    from importlib import import_module

    entries = {e["id"]: e for e in _entries()}
    with quiet():
        if selectors and all(selector in entries for selector in selectors):
            modules = [import_module(entries[name]["module"]) for name in dict.fromkeys(selectors)]
            from fedaudit.bounds.catalogue.discovery import statements_in

            own = [{s.id: s for s in statements_in(module)} for module in modules]
            return [held[name] for held, name in zip(own, dict.fromkeys(selectors), strict=True)]
        from fedaudit.bounds.catalogue.discovery import find as search

        return search(selectors)


def file_of(selector: str) -> str:
    """The path in `my.py` or `my.py::id`; nothing for a selector of the catalogue."""
    path = selector.partition("::")[0]
    return path if path.endswith(".py") else ""


def row_of(statement: Statement) -> Entry:
    """A statement as `list` prints it."""
    return {
        "id": statement.id,
        "paper": statement.paper,
        "kind": statement.kind,
        "title": statement.title,
        "where": statement.cite,
        "relation": statement.relation,
        "method": statement.method_id,
        "follows_from": sorted({cited for d in statement.follows_from for cited in d.cites}),
    }


@contextmanager
def quiet() -> Generator[None]:
    """Collects no garbage meanwhile: importing sympy and the papers makes many objects, all of which stay."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def shown(selectors: Sequence[str], form: str) -> list[Any]:
    """The statements that the selectors name, as `text`, as `latex` or as `rows`; what was asked for before is kept."""
    if any(file_of(selector) for selector in selectors):
        return _printed(selectors, form)
    kept: JsonObject = _kept(form) or {}
    if all(selector in kept for selector in selectors):
        return [kept[name] for name in dict.fromkeys(selectors)]
    with quiet():
        single = _single(selectors) if _kept("list") is None else None
        names = [entry["id"] for entry in listed(selectors)] if single is None else [s.id for s in single]
        if missing := [name for name in names if name not in kept]:
            said = _said(form)
            kept |= {s.id: said(s) for s in (find(missing) if single is None else single)}
            _keep(form, kept)
    return [kept[name] for name in names]


def _single(selectors: Sequence[str]) -> list[Statement] | None:
    """What single ids name, where these sources have not been listed yet; None if something else is among them."""
    from fedaudit.bounds.catalogue.discovery import alone

    entries = [alone(name) for name in dict.fromkeys(selectors)]
    named = [s for s in entries if s is not None]
    return named if len(named) == len(entries) else None


def _printed(selectors: Sequence[str], form: str) -> list[Any]:
    with quiet():
        return [_said(form)(s) for s in find(selectors)]


def _said(form: str) -> Callable[[Statement], Any]:
    if form == "latex":
        from fedaudit.bounds.formulas.latex_sections import section

        return section
    from fedaudit.bounds.formulas.statement_text import show, shown_row

    return show if form == "text" else shown_row


@cache
def _entries() -> tuple[Entry, ...]:
    kept = _kept("list")
    if kept is None:
        with quiet():
            kept = _made()
        _keep("list", kept)
    return tuple(kept)


@cache
def _key() -> str:
    from importlib.util import find_spec

    spec = find_spec("sympy")  # whose version stands in a file: the package's metadata take longer to read
    release = Path(spec.origin).with_name("release.py").read_text("utf-8") if spec and spec.origin else ""
    said = [source_digest(), sys.version, release]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _made() -> list[Entry]:
    import inspect

    from fedaudit.bounds.catalogue.discovery import modules_of, papers, statements, statements_in
    from fedaudit.bounds.catalogue.fingerprints import fingerprints
    from fedaudit.bounds.language.statement import Statement

    prints = fingerprints()
    modules = [(m, inspect.getsource(m)) for p in papers() for m in modules_of(p)]
    homes = {v.id: m.__name__ for m, _ in modules for v in statements_in(m)}
    homes |= {
        v.id: m.__name__
        for m, source in modules
        for name, v in vars(m).items()
        if isinstance(v, Statement) and f"\n{name} = " in source  # where it stands, not where it is imported
    }
    return [{**row_of(s), "module": homes[s.id], "fingerprint": prints[s.id]} for s in statements()]


def _kept(kind: str) -> Any:
    """What is kept of one kind, in a file of our own; None if nothing is."""
    folder = place("XDG_CACHE_HOME", ".cache")
    try:
        said, _, text = contents(folder / f"{kind}-{_key()}.json").decode().partition("\n") if folder else ("", "", "")
    except (Unreadable, ValueError):
        return None
    return json.loads(text) if is_own("listing", kind + _key() + text, said) else None


def _keep(kind: str, value: object) -> None:
    """Keep it if there is a place for it; otherwise it is made again next time."""
    folder, text = place("XDG_CACHE_HOME", ".cache"), json.dumps(value)
    said = mark("listing", kind + _key() + text)
    if not folder or not said:
        return
    with suppress(UserError, OSError):
        write(folder / f"{kind}-{_key()}.json", f"{said}\n{text}")
        kept = sorted(folder.glob(f"{kind}-*.json"), key=lambda p: p.stat().st_mtime_ns)
        for old in kept[:-MOST]:
            old.unlink(missing_ok=True)
