"""What selectors name: statements, each with all that its row depends on besides the settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from ..commands.listing import chains, file_of, listed
from ..errors import UserError
from .store import source_digest

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["Chosen", "choose", "of_catalogue"]

# Objects without a `repr` of their own show their address, which differs from process to process.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """One statement that was asked for: its id, where a worker finds it again, and what it says."""

    id: str
    origin: str  # the id itself, or the path of the user's file
    content: str  # all that its row depends on besides the settings
    chain: str  # the same for all that cite one another, whose derivations share what they decide


def choose(selectors: Sequence[str], *, well_formed: bool = True) -> list[Chosen]:
    """What the selectors name, each statement once, in order; raises `UserError` that says what is unknown.

    Statements of a user's own file are looked through for slips first, unless that is what is asked for.
    """
    chosen: dict[str, Chosen] = {}
    for selector in selectors or [""]:
        for one in _own(selector, well_formed) if file_of(selector) else of_catalogue([selector] if selectors else []):
            first = chosen.setdefault(one.id, one)
            if first.origin != one.origin:
                raise UserError(f"{one.id} from {first.origin} and from {one.origin}", "one of them", "rename the id")
    return list(chosen.values())


def of_catalogue(selectors: Sequence[str]) -> Iterator[Chosen]:
    """Statements of the catalogue, which depend on what it says of them and on our code."""
    for entry in listed(selectors):
        yield Chosen(
            entry["id"], entry["id"], source_digest(papers=False) + entry["fingerprint"], chains()[entry["id"]]
        )


def _own(selector: str, checked: bool) -> Iterator[Chosen]:
    """Statements of a user's file, which may read anything of ours."""
    from fedaudit.bounds.catalogue.discovery import find
    from fedaudit.bounds.lint.wellformed import well_formed

    path = file_of(selector)
    source = _source_of(path)
    for statement in well_formed([selector]) if checked else find([selector]):
        content = source_digest() + source + content_of(statement)
        yield Chosen(statement.id, path, content, os.path.basename(path))


def content_of(statement: Statement) -> str:
    """What a statement says, as text that is the same in every process."""
    said = [f"{f.name}={getattr(statement, f.name)!r}" for f in fields(statement) if f.repr]
    return ADDRESS.sub("", "\n".join(said))


def _source_of(path: str) -> str:
    """The text of a user's own file: the rows of its statements depend on all of it."""
    if not path or not os.path.isfile(path):
        return ""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path} ({error.strerror})", "a Python file that can be read", "check the path") from error
