"""Data from strangers: exact rationals, names, lists and fields, each read with its place in the file."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from flint import fmpq

BYTES, DIGITS, LENGTH, BITS, SHOWN = 1_000_000, 1_000, 10_000, 1 << 17, 120
_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_ID = re.compile(r"[A-Za-z0-9_.+~:/-]{1,200}")


class Malformed(Exception):
    """The file is not a certificate: wrong type, missing field, absurd size, a number that is not rational."""


class Rejected(Exception):
    """The file is a certificate, and it does not certify what it says."""


def load(text: str, most: int = BYTES) -> object:
    """JSON of bounded size in which no name is given twice."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(f"a name twice among {shown([name for name, _ in pairs])}")
        return dict(pairs)

    try:
        if len(text) > most:
            raise ValueError(f"{len(text)} characters")
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"file: got {error}, expected JSON of at most {most} characters") from None


def shown(raw: object) -> str:
    """One short line."""
    line = " ".join(reprlib.repr(raw).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def affordable(work: int, most: int, where: str = "instance") -> None:
    """Asked before anything is built: `work` operations or entries, at most `most`."""
    if work > most:
        size = str(work) if work < 10**12 else "over 10^12"
        raise Rejected(f"{where}: got {size} operations or outcomes, expected at most {most}: a smaller instance")


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a file and its place there."""

    raw: object
    where: str

    def malformed(self, expected: str) -> Malformed:
        return Malformed(f"{self.where}: got {shown(self.raw)}, expected {expected}")

    def mapping(self) -> dict[str, Node]:
        raw = cast("dict[str, object]", self.raw)
        if not isinstance(self.raw, dict):
            raise self.malformed("an object with named fields")
        return {name: Node(raw[name], f"{self.where}.{Node(name, self.where).name()}") for name in raw}

    def fields(self, required: str, optional: str = "") -> dict[str, Node]:
        """Named fields: all of `required`, nothing beyond `optional`."""
        fields_by_name, needed = self.mapping(), set(required.split())
        if wrong := (needed - set(fields_by_name)) | (set(fields_by_name) - needed - set(optional.split())):
            raise Malformed(f"{self.where}: got missing or unknown fields {sorted(wrong)}, expected {required}")
        return fields_by_name

    def items(self, count: int | None = None) -> list[Node]:
        raw = cast("list[object]", self.raw)
        if not isinstance(self.raw, list) or len(raw) > LENGTH or count not in (None, len(raw)):
            raise self.malformed(f"a list of {f'at most {LENGTH}' if count is None else count} entries")
        return [Node(value, f"{self.where}[{n}]") for n, value in enumerate(raw)]

    def rational(self, least: int | None = None, digits: int = DIGITS) -> fmpq:
        """An exact rational: a JSON integer or a string such as "-3/2"; never a float, never a bool."""
        raw = self.raw
        text = str(raw) if type(raw) is int and raw.bit_length() < 3 * digits else raw
        fits = isinstance(text, str) and len(text) <= digits and _RATIONAL.fullmatch(text)
        if not isinstance(text, str) or not fits or set(text.partition("/")[2]) == {"0"}:
            raise self.malformed(f'an exact rational such as "3/2" of at most {digits} digits')
        if least is not None and fmpq(text) < least:
            raise self.malformed(f"at least {least}")
        return fmpq(text)

    def vector(self, count: int, least: int | None = None) -> tuple[fmpq, ...]:
        return tuple(entry.rational(least) for entry in self.items(count))

    def integer(self, low: int, high: int) -> int:
        if type(self.raw) is not int or not low <= self.raw <= high:
            raise self.malformed(f"an integer from {low} to {high}")
        return self.raw

    def one_of(self, known: Collection[str]) -> str:
        if not isinstance(self.raw, str) or self.raw not in known:
            raise self.malformed("one of " + ", ".join(known))
        return self.raw

    def kind(self, known: Collection[str]) -> str:
        return self.mapping().get("kind", self).one_of(known)

    def flag(self) -> bool:
        if not isinstance(self.raw, bool):
            raise self.malformed("true or false")
        return self.raw

    def name(self, pattern: re.Pattern[str] = _NAME) -> str:
        if not isinstance(self.raw, str) or not pattern.fullmatch(self.raw):
            raise self.malformed("a name")
        return self.raw

    def identifier(self) -> str:
        return self.name(_ID)
