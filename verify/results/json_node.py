"""Pieces of a stranger's JSON, each with its place in the file, so that what is wrong is refused in one line."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar, cast

from fedaudit.errors import UserError

__all__ = ["LENGTH", "NAME", "Fields", "Node", "must_be_bounded", "shown"]

DEPTH = 40  # of lists and objects inside each other
LENGTH = 100_000  # characters of one text, digits of one number, entries of one list
NAME = 200  # characters of an id or of a file's name

T = TypeVar("T")


def shown(raw: object) -> str:
    """Whatever it is, as one short line."""
    return " ".join(reprlib.repr(raw).split())


@dataclass(frozen=True, slots=True)
class Fields:
    """The named fields of an object and its place in the file."""

    raw: Mapping[str, object]
    file: str
    where: str

    def get(self, name: str) -> Node | None:
        """A field, None where it is absent or null."""
        value = self.raw.get(name)
        return None if value is None else Node(value, self.file, f"{self.where}.{name}" if self.where else name)

    def need(self, name: str) -> Node:
        """A field that must be there."""
        value = self.get(name)
        if value is None:
            Node(dict(self.raw), self.file, self.where).refuse(f"a field {name!r}")
        return value

    def all(self, entry: Callable[[Node], T]) -> tuple[tuple[str, T], ...]:
        """Every field with its value, none of them absent or null."""
        return tuple((name, entry(self.need(name))) for name in self.raw)


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of the file and its place there."""

    raw: object
    file: str
    where: str

    def refuse(self, expected: str) -> NoReturn:
        """Raise the `UserError` that names the file, the place in it, what is there and what was expected."""
        said = f"{self.where} = {shown(self.raw)}" if self.where else shown(self.raw)
        raise UserError(f"{self.file}: {said}", expected, "write it again with `fedaudit audit`")

    def mapping(self) -> Fields:
        raw = self.raw
        if not isinstance(raw, dict):
            self.refuse("an object with named fields")
        return Fields(cast("dict[str, object]", raw), self.file, self.where)

    def items(self, entry: Callable[[Node], T], most: int = LENGTH) -> tuple[T, ...]:
        raw = cast("list[object]", self.raw)
        if not isinstance(self.raw, list) or len(raw) > most:
            self.refuse(f"a list of at most {most} entries")
        return tuple(entry(Node(value, self.file, f"{self.where}[{n}]")) for n, value in enumerate(raw))

    def text(self) -> str:
        if not isinstance(self.raw, str):
            self.refuse("text")
        return self.raw

    def identifier(self) -> str:
        """An id: printable, so that it looks like what it is."""
        if not isinstance(self.raw, str) or not self.raw.isprintable() or not 0 < len(self.raw.strip()) <= NAME:
            self.refuse(f"an id of at most {NAME} printable characters")
        return self.raw

    def path(self) -> str:
        if not isinstance(self.raw, str) or not self.raw.isprintable() or not 0 < len(self.raw) <= 2 * NAME:
            self.refuse("the name of a file in the folder")
        return self.raw

    def one_of(self, words: Collection[str]) -> str:
        if not isinstance(self.raw, str) or self.raw not in words:
            self.refuse("one of " + ", ".join(words))
        return self.raw

    def truth(self) -> bool:
        if not isinstance(self.raw, bool):
            self.refuse("true or false")
        return self.raw

    def number(self) -> float:
        if isinstance(self.raw, bool) or not isinstance(self.raw, int | float):
            self.refuse("a number")
        try:
            return float(self.raw)
        except OverflowError:
            self.refuse("a number below 1e308")

    def whole(self) -> int:
        if isinstance(self.raw, bool) or not isinstance(self.raw, int) or self.raw.bit_length() > 256:
            self.refuse("a whole number")
        return self.raw

    def count(self) -> int:
        if (number := self.whole()) < 0:
            self.refuse("a whole number that is not negative")
        return number


def must_be_bounded(raw: object, file: str) -> None:
    """Refuse a text that cannot be written and anything too deep or too long, also in fields that nobody reads."""
    if _plain(raw):  # almost always; otherwise look for the place
        return
    open_pieces: list[tuple[object, str, int]] = [(raw, "", 0)]
    while open_pieces:
        value, where, depth = open_pieces.pop()
        if depth > DEPTH:
            Node(value, file, where[:200]).refuse(f"at most {DEPTH} levels")
        if isinstance(value, str):
            _writable(value, file, where)
        elif isinstance(value, dict):
            for name, inner in cast("dict[str, object]", value).items():
                _writable(name, file, where)
                open_pieces.append((inner, f"{where}.{name[:NAME]}" if where else name[:NAME], depth + 1))
        elif isinstance(value, list):
            open_pieces += [(v, f"{where}[{n}]", depth + 1) for n, v in enumerate(cast("list[object]", value))]


def _plain(raw: object) -> bool:
    """Whether all texts are short and printable and nothing is too deep, level by level."""
    level: list[object] = [raw]
    for _ in range(DEPTH + 1):
        texts = [value for value in level if isinstance(value, str)]
        objects = [cast("dict[str, object]", value) for value in level if isinstance(value, dict)]
        lists = [cast("list[object]", value) for value in level if isinstance(value, list)]
        names = [name for inner in objects for name in inner]
        if not all(len(text) <= LENGTH and text.isprintable() for part in (texts, names) for text in part):
            return False
        level = [value for inner in objects for value in inner.values()]
        level += [value for inner in lists for value in inner]
        if not level:
            return True
    return False


def _writable(text: str, file: str, where: str) -> None:
    if len(text) > LENGTH:
        Node(text, file, where[:NAME]).refuse(f"at most {LENGTH} characters")
    if not text.isprintable() and any((c < " " and c not in "\n\t\r") or "\ud800" <= c <= "\udfff" for c in text):
        Node(ascii(text), file, where[:NAME]).refuse("text without control characters and half pairs")
