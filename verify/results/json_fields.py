"""Dataclasses whose fields say how they are read from JSON and written to it, each in one place.

    @dataclass(frozen=True, slots=True)
    class Finding:
        rule: str = needed(TEXT)
        message: str = needed(TEXT)

    read(Finding, node)  # refuses what is no finding, with its place in the file
    write(finding)       # {"rule": …, "message": …}

A field that is absent or null in the file has its default. `when` says of which records a field is written even where
it is the default; fields without it are always written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar, cast

from .json_node import Node

__all__ = [
    "COUNT",
    "DATA",
    "FLAG",
    "HELD",
    "IDENTIFIER",
    "NUMBER",
    "PATH",
    "TEXT",
    "WHOLE",
    "Codec",
    "Json",
    "JsonObject",
    "listed",
    "needed",
    "never",
    "optional",
    "read",
    "record",
    "word",
    "write",
]

T = TypeVar("T")
Json: TypeAlias = Mapping[str, Any]  # an object whose fields this program does not look into
JsonObject: TypeAlias = dict[str, Any]  # one that is being written


def _itself(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How one kind of value is read from JSON, where it is there and not null, and how it is written."""

    read: Callable[[Node], T]
    write: Callable[[T], object] = _itself


TEXT = Codec(Node.text)
WORD = Codec(Node.text, lambda text: text or None)  # null where there is none
IDENTIFIER, PATH = Codec(Node.identifier), Codec(Node.path)
NUMBER, WHOLE, COUNT, FLAG = Codec(Node.number), Codec(Node.whole), Codec(Node.count), Codec(Node.truth)
DATA: Codec[Json] = Codec(lambda node: node.mapping().raw, dict)
HELD: Codec[str | Json] = Codec(Node.path, lambda held: held if isinstance(held, str) else dict(held))


def word(*words: str) -> Codec[str]:
    """One of a closed set of words."""
    return Codec(lambda node: node.one_of(words))


def listed(codec: Codec[T]) -> Codec[tuple[T, ...]]:
    """A list, as a tuple."""
    return Codec(lambda node: node.items(codec.read), lambda values: [codec.write(value) for value in values])


def record(cls: type[T]) -> Codec[T]:
    """An object that is one of our dataclasses."""
    return Codec(lambda node: read(cls, node), write)


def never(_: object) -> bool:
    """The field is written only where it is not the default."""
    return False


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Form:
    codec: Codec[Any]
    key: str
    when: Callable[[Any], bool]


def needed(codec: Codec[T], key: str = "") -> T:
    """A field that has to be there."""
    return cast(T, field(metadata={"json": _Form(codec, key, _always)}))


def optional(
    codec: Codec[Any], default: T, *, when: Callable[[Any], bool] = _always, key: str = "", compare: bool = True
) -> T:
    """A field with a default. Its name in JSON is `key`, or that of the field."""
    form = {"json": _Form(codec, key, when)}
    if isinstance(default, Mapping):  # a dataclass takes no default that has no hash
        return field(default_factory=lambda: cast(T, dict(cast(Json, default))), metadata=form, compare=compare)
    return field(default=default, metadata=form, compare=compare)


@dataclass(frozen=True, slots=True)
class _Place:
    """A field that has a place in JSON."""

    name: str
    key: str
    form: _Form
    default: object

    @property
    def is_needed(self) -> bool:
        return self.default is MISSING


@cache
def _places(cls: type) -> tuple[_Place, ...]:
    forms = [(f, cast("_Form | None", f.metadata.get("json"))) for f in fields(cls)]
    defaults = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f, _ in forms}
    return tuple(_Place(f.name, form.key or f.name, form, defaults[f.name]) for f, form in forms if form is not None)


def read(cls: type[T], node: Node) -> T:
    """The record that an object of the file says; raises `UserError` with the place of the first piece that is none."""
    at = node.mapping()
    values: dict[str, object] = {}
    for place in _places(cls):
        piece = at.need(place.key) if place.is_needed else at.get(place.key)
        if piece is not None:
            values[place.name] = place.form.codec.read(piece)
    return cls(**values)


def write(value: object) -> JsonObject:
    """The record as an object of JSON."""
    written: JsonObject = {}
    for place in _places(type(value)):
        content = getattr(value, place.name)
        if place.form.when(value) or content != place.default:
            written[place.key] = None if content is None else place.form.codec.write(content)
    return written
