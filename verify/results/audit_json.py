"""audit.json as typed data. The file may come from a stranger: it is parsed, each field is checked, none is trusted.

A wrong type, a missing field, a number that JSON does not have, absurd sizes and depths: one `UserError` that names the
place. Fields that no report shows are checked for size and depth only, so that newer versions may add some.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from fedaudit.errors import UserError

from .file_names import AUDIT
from .tried_sizes import TOLD, Size

__all__ = [
    "VERDICTS",
    "Derived",
    "Document",
    "Finding",
    "Literal",
    "Move",
    "Printed",
    "Row",
    "Step",
    "Unreadable",
    "Words",
    "inside",
    "parse",
    "parse_printed",
    "read",
    "read_file",
]

VERDICTS = ("refuted", "proved", "survived", "undecided", "reproduced", "reproduced-if", "not-reproduced")
LITERALS = ("breaks", "survives", "undecided", "not-tried")
BYTES = 64_000_000  # of audit.json: fifteen times what the whole catalogue needs
DEPTH = 40  # of lists and objects inside each other
ROWS = 5_000
LENGTH = 100_000  # characters of one text, digits of one number, entries of one list
NAME = 200  # characters of an id or of a file's name
LETTERS = 50  # of the sizes of an instance, and characters of each
ORDINARY = ("kappa", "C", "E", "t")  # what an ordinary point is made of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Words:
    """An assumption as the page prints it."""

    name: str
    says: str = ""
    cite: str = ""


@dataclass(frozen=True, slots=True)
class Printed:
    """A statement as the page prints it: words, and formulas as LaTeX."""

    title: str = ""
    kind: str = ""
    where: str = ""
    method: str = ""
    let: tuple[Words, ...] = ()
    implicit: tuple[Words, ...] = ()
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    reading: tuple[str, ...] = ()
    repairs: str = ""
    letters: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)  # name -> LaTeX


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of lint."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation."""

    claim: str = ""
    latex: str = ""
    where: str = ""
    note: str = ""
    status: str = ""
    how: str = ""
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """What becomes of a derivation other than a statement's first."""

    cites: tuple[str, ...]
    status: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap of a printed proof, in words; of a step that is false itself, also its place and where it fails."""

    text: str
    step: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """What `derive` says."""

    status: str
    factor: float | str | None = None
    terms: tuple[str, ...] = ()
    evidence: str = ""
    findings: tuple[str, ...] = ()
    ways: tuple[Way, ...] | None = None  # None where an older fedaudit did not write them down
    gaps: tuple[Gap, ...] = ()
    cites: tuple[str, ...] = ()
    proved_from: tuple[str, ...] = ()  # of these, what the way that proves it cites
    premises: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()  # lines that a proof takes on z3's word
    shown: tuple[str, ...] = ()  # premises that follow from the assumptions, with their multipliers
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Ends:
    """The worst lhs/rhs at one point, between two numbers: over all functions of the class and all dimensions.

    By a search, the largest that it met: a lower end alone.
    """

    point: tuple[tuple[str, str], ...]  # name, value
    lower: float | None
    upper: float | None
    name: str = ""  # of an ordinary point
    by: str = ""  # "search", or how both ends were proved
    ordinary: tuple[tuple[str, int], ...] = ()  # kappa, C, E and t of that point
    relation: int = 1  # of several, which one

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Ends:
        """The ends that a row of ours tells."""
        told = (row.get("name", ""), row.get("by", ""), tuple(row.get("ordinary", {}).items()), row.get("relation", 1))
        return cls(tuple(row["point"].items()), row["lower"], row["upper"], *told)


@dataclass(frozen=True, slots=True)
class Move:
    """What `verify` or `hunt` says; `more` is shown as it is."""

    verdict: str
    evidence: str = ""
    instances: int | None = None
    tightness: float | None = None
    seconds: float | None = None
    sizes: tuple[Size, ...] = ()
    untried: tuple[str, ...] = ()  # sizes that did not fit in memory or in the budget
    worst: tuple[Ends, ...] = ()
    left_out: tuple[str, ...] = ()  # ordinary points that are too large
    out_of_reach: str = ""  # why there is no exact worst case
    certificate: str | None = None
    counterexample: Mapping[str, Any] | None = None
    more: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """What becomes of a statement without one of its implicit assumptions."""

    name: str
    literal: str = ""
    reason: str = ""
    tightness: float | None = None
    sizes: tuple[Size, ...] = ()
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of an audit."""

    id: str
    verdict: str
    evidence: str = ""
    reason: str = ""
    tightness: float | None = None
    sizes: tuple[Size, ...] = ()  # of verify and hunt
    certificate: str | None = None
    proof: str | None = None
    trusted: int = 0  # lines of the proof, and of what it rests on, that were taken on z3's word
    figure: str | None = None
    repaired: str | None = None
    persists: tuple[str, ...] = ()  # longer runs on which the counterexample refutes too
    persists_until: str = ""
    breaks_too: tuple[str, ...] = ()
    repair: str = ""
    repair_why: str = ""
    rests_on: str = ""  # what the kernel takes from us: a form derived by hand
    statement: Printed = Printed()
    lint: tuple[Finding, ...] = ()
    derive: Derived | None = None
    verify: Move | None = None
    hunt: Move | None = None
    implicit: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole audit.json."""

    version: str
    seed: int
    budget: float
    statements: tuple[Row, ...]


class Unreadable(Exception):
    """A file that a row names and that cannot be shown; says why in a few words."""


def read(folder: Path) -> Document:
    """The audit.json of a folder. Raises `UserError` unless it is one that an audit could have written."""
    do = f"run `fedaudit audit --out {_clipped(folder)}` first"
    try:
        return _document(folder / AUDIT, do)
    except Unreadable as error:
        raise UserError(f"{_clipped(folder)} ({AUDIT}: {error})", f"a folder that holds {AUDIT}", do) from error


def read_file(path: Path) -> Document:
    """An audit.json by its own path, or that of a folder."""
    if path.is_dir():
        return read(path)
    try:
        return _document(path, "name the file of a finished audit")
    except Unreadable as error:
        do = "name the file of a finished audit"
        raise UserError(f"{_clipped(path)} ({error})", f"the {AUDIT} of an audit", do) from error


def _document(path: Path, do: str) -> Document:
    data = _regular(path, BYTES)
    place = _clipped(path)
    try:
        raw = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise UserError(f"{place} (not UTF-8 text)", "the JSON that an audit writes", do) from error
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UserError(f"{place} ({' '.join(why.split())[:200]})", "the JSON that an audit writes", do) from error
    return parse(raw, place)


def parse(raw: object, place: str = AUDIT) -> Document:
    """JSON data as a document."""
    _bounded(raw, place)
    top = Node(raw, place, "").mapping()
    rows = top.need("statements").items(_row, ROWS)
    ids: set[str] = set()
    for number, row in enumerate(rows):
        if row.id in ids:
            Node(row.id, place, f"statements[{number}].id").refuse("every id once")
        ids.add(row.id)
    return Document(top.need("version").text(), top.need("seed").whole(), top.need("budget").number(), rows)


def parse_printed(raw: object) -> Printed:
    """The words and formulas of one statement."""
    return _printed(Node(raw, "statement", ""))


def inside(root: Path, name: str, limit: int) -> bytes:
    """A file below `root`, at most `limit` bytes; never one outside it, whatever the name says or links to."""
    try:
        path = (root / name).resolve()
        below = path.is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise Unreadable("a name that is no path") from error
    if not below:
        raise Unreadable("outside the folder")
    return _regular(path, limit)


def shown(raw: object) -> str:
    """One short line, whatever it is."""
    return " ".join(reprlib.repr(raw).split())


def _clipped(path: Path) -> str:
    text = str(path)
    return text if len(text) <= NAME else f"{text[:40]}…{text[-40:]}"


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
        found = self.get(name)
        if found is None:
            Node(dict(self.raw), self.file, self.where).refuse(f"a field {name!r}")
        return found

    def text(self, name: str) -> str:
        return "" if (found := self.get(name)) is None else found.text()

    def texts(self, name: str) -> tuple[str, ...]:
        return self.list(name, Node.text)

    def list(self, name: str, entry: Callable[[Node], T]) -> tuple[T, ...]:
        return () if (found := self.get(name)) is None else found.items(entry)

    def number(self, name: str) -> float | None:
        return None if (found := self.get(name)) is None else found.number()

    def path(self, name: str) -> str | None:
        return None if (found := self.get(name)) is None else found.path()


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of the file and its place there."""

    raw: object
    file: str
    where: str

    def refuse(self, expected: str) -> NoReturn:
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

    def one_of(self, known: Collection[str]) -> str:
        if not isinstance(self.raw, str) or self.raw not in known:
            self.refuse("one of " + ", ".join(known))
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


def _row(node: Node) -> Row:
    at = node.mapping()
    lint = at.get("lint")
    return Row(
        id=at.need("id").identifier(),
        verdict=at.need("verdict").one_of(VERDICTS),
        evidence=at.text("evidence"),
        reason=at.text("reason"),
        tightness=at.number("tightness"),
        sizes=at.list("sizes", _size),
        certificate=at.path("certificate"),
        proof=at.path("proof"),
        trusted=0 if (trusted := at.get("trusted")) is None else trusted.count(),
        figure=at.path("figure"),
        repaired=None if (repaired := at.get("repaired")) is None else repaired.identifier(),
        persists=at.list("persists", _longer),
        persists_until=at.text("persists_until"),
        breaks_too=at.list("breaks_too", Node.identifier),
        repair=at.text("repair"),
        repair_why=at.text("repair_why"),
        rests_on=at.text("rests_on"),
        statement=Printed() if (text := at.get("statement")) is None else _printed(text),
        lint=() if lint is None else lint.mapping().list("findings", _finding),
        derive=None if (derived := at.get("derive")) is None else _derived(derived),
        verify=None if (move := at.get("verify")) is None else _move(move),
        hunt=None if (move := at.get("hunt")) is None else _move(move),
        implicit=at.list("implicit", _literal),
    )


def _longer(node: Node) -> str:
    """E.g. T = 4, t = 3."""
    at = node.mapping()
    return ", ".join(f"{name} = {at.need(name).whole()}" for name in at.raw)


def _size(node: Node) -> Size:
    at = node.mapping()
    counts = tuple((name, at.need(name).count()) for name in at.raw if name not in TOLD)
    if len(counts) > LETTERS or not all(name.isprintable() and 0 < len(name) <= LETTERS for name, _ in counts):
        node.refuse(f"at most {LETTERS} sizes with short names")
    return Size(counts, at.need("instances").count(), at.number("tightness"))


def _ends(node: Node) -> Ends:
    at = node.mapping()
    point = at.need("point").mapping()
    named = tuple((name, point.text(name)) for name in point.raw)
    if len(named) > LETTERS or not all(name.isprintable() and 0 < len(name) <= LETTERS for name, _ in named):
        node.refuse(f"a point of at most {LETTERS} constants with short names")
    ordinary = at.get("ordinary")
    sizes = None if ordinary is None else ordinary.mapping()
    whole = () if sizes is None else tuple((name, sizes.need(name).count()) for name in sizes.raw)
    if not {name for name, _ in whole} <= set(ORDINARY):
        node.refuse(f"an ordinary point of {', '.join(ORDINARY)} alone")
    relation = at.get("relation")
    told = (at.text("name"), at.text("by"), whole, 1 if relation is None else relation.count())
    return Ends(named, at.number("lower"), at.number("upper"), *told)


def _printed(node: Node) -> Printed:
    at = node.mapping()
    return Printed(
        title=at.text("title"),
        kind=at.text("kind"),
        where=at.text("where"),
        method=at.text("method"),
        let=at.list("let", _words),
        implicit=at.list("implicit", _words),
        parts=at.list("parts", _part),
        reading=at.texts("reading"),
        repairs=at.text("repairs"),
        letters={} if (letters := at.get("letters")) is None else _letters(letters),
    )


def _letters(node: Node) -> dict[str, str]:
    at = node.mapping()
    return {name: at.text(name) for name in at.raw if len(name) <= NAME}


def _words(node: Node) -> Words:
    at = node.mapping()
    return Words(at.need("name").text(), at.text("says"), at.text("cite"))


def _part(node: Node) -> tuple[str, tuple[str, ...]]:
    pair = node.items(lambda entry: entry)
    if len(pair) != 2:
        node.refuse("a name and a list of formulas")
    return pair[0].text(), pair[1].items(Node.text)


def _finding(node: Node) -> Finding:
    at = node.mapping()
    return Finding(at.need("rule").text(), at.need("message").text())


def _derived(node: Node) -> Derived:
    at = node.mapping()
    factor = at.get("factor")
    return Derived(
        status=at.need("status").text(),
        factor=None if factor is None else factor.raw if isinstance(factor.raw, str) else factor.number(),
        terms=at.list("terms", lambda term: term.mapping().text("says")),
        evidence=at.text("evidence"),
        findings=at.texts("findings"),
        ways=at.list("ways", _way) if "ways" in at.raw else None,
        gaps=at.list("gaps", _gap),
        cites=at.list("cites", Node.identifier),
        proved_from=at.list("proved_from", Node.identifier),
        premises=at.texts("premises"),
        trusted=at.texts("trusted"),
        shown=at.texts("shown"),
        steps=at.list("steps", _step),
    )


def _way(node: Node) -> Way:
    at = node.mapping()
    return Way(at.list("cites", Node.identifier), at.text("status"), at.text("evidence"))


def _gap(node: Node) -> Gap:
    at = node.mapping()
    step = at.get("step")
    return Gap(at.text("text"), None if step is None else step.count(), at.text("detail"))


def _step(node: Node) -> Step:
    at = node.mapping()
    names = ("claim", "latex", "where", "note", "status", "how")
    return Step(**{name: at.text(name) for name in names}, because=at.texts("because"))


def _move(node: Node) -> Move:
    at = node.mapping()
    known = {"id", "seed", "verdict", "evidence", "instances", "tightness", "seconds", "sizes"}
    known |= {"certificate", "counterexample", "worst", "left_out", "out_of_reach", "untried"}
    instances, counterexample = at.get("instances"), at.get("counterexample")
    return Move(
        verdict=at.need("verdict").one_of(VERDICTS),
        evidence=at.text("evidence"),
        instances=None if instances is None else instances.whole(),
        tightness=at.number("tightness"),
        seconds=at.number("seconds"),
        sizes=at.list("sizes", _size),
        untried=at.texts("untried"),
        worst=at.list("worst", _ends),
        left_out=at.texts("left_out"),
        out_of_reach=at.text("out_of_reach"),
        certificate=at.path("certificate"),
        counterexample=None if counterexample is None else counterexample.mapping().raw,
        more={name: value for name, value in at.raw.items() if name not in known and value not in (None, "")},
    )


def _literal(node: Node) -> Literal:
    at = node.mapping()
    literal = at.get("literal")
    return Literal(
        name=at.need("name").text(),
        literal="" if literal is None else literal.one_of(LITERALS),
        reason=at.text("reason"),
        tightness=at.number("tightness"),
        sizes=at.list("sizes", _size),
        certificate=at.path("certificate"),
    )


def _bounded(raw: object, file: str) -> None:
    """Every piece, also of fields that nobody reads: texts that can be written, nothing too deep or too long."""
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


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"a name twice among {shown([name for name, _ in pairs])}")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"the number {name}")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"the number {shown(text)}")
    return value


def _regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; a FIFO or a device is never waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError as error:
        raise Unreadable("not there") from error
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from error
    except ValueError as error:
        raise Unreadable("a name that is no path") from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file")
        if status.st_size > limit:
            raise Unreadable(f"more than {limit:,} bytes")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise Unreadable(f"more than {limit:,} bytes")
    return data
