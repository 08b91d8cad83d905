"""What an audit's folder keeps beside counterexamples: the proof of every proved row, both ends of every worst case.

Each file is judged by the kernel and compared with what audit.json says of it; a file that nothing names or cites, and
a row whose file is missing, are told as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ..kernel.core.rational import shown
from ..results.evidence import Piece, pieces
from ..results.file_names import PROOFS, WORST, proof_file, slug
from ..results.json_fields import Json, JsonObject
from ..results.row import Ends, Row
from .proof_files import Judged, Shelf
from .sandbox import Checker

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["End", "Judgement", "Kept", "told"]

Judgement: TypeAlias = JsonObject  # a row of `certify`
NEAR = Fraction(1, 10**9)  # how far a float may be from the number that it stands for, relative to that
SIZES = ("C", "E", "T", "m")


@dataclass(frozen=True, slots=True)
class End:
    """One end of a worst case that a row quotes."""

    id: str
    place: str  # in audit.json
    which: Literal["lower", "upper"]
    ends: Ends

    @property
    def file(self) -> str | None:
        """Its file below the folder, as the row names it."""
        held = self.ends.certificate if self.which == "lower" else self.ends.proof
        return held if isinstance(held, str) else None

    @property
    def values(self) -> list[tuple[Fraction | None, bool]]:
        """What the row says that it is: exactly, and as a float tells it."""
        ends = self.ends
        exact, value = (ends.lower_exact, ends.lower) if self.which == "lower" else (ends.upper_exact, ends.upper)
        return [(_number(said), precise) for said, precise in ((exact, True), (value, False)) if said is not None]

    @property
    def relation(self) -> int | None:
        """The number of the relation whose end it is, among several; None where a search met it."""
        return None if self.ends.by == "search" else self.ends.relation

    @property
    def name(self) -> dict[str, str]:
        """The numbers in the name of an ordinary point, by their letters."""
        pairs = (part.rpartition(" ") for part in self.ends.name.split(", "))
        return {letter: number for letter, _, number in pairs}

    def differs(self, data: Json, lhs: object, rhs: object) -> str:
        """Why a file that the kernel accepted is not this end; empty where it is."""
        if data.get("statement") != self.id:
            return f"got a file of {shown(data.get('statement'))}, expected one of {self.id}"
        if ("factor" in data) != (self.which == "upper"):
            return f"got the other end, expected the {self.which} one"
        where = cast("Json", data["instance"] if self.which == "lower" else data["point"])
        place = cast("dict[str, int]", data["at"])
        if self.relation not in (None, place["relation"] + 1):
            return f"got relation {place['relation'] + 1}, expected the one that audit.json tells"
        if other := _elsewhere(dict(self.ends.point), data, where) or _elsewhere(self.name, data, where):
            return f"got {other}, expected the point that audit.json tells"
        try:
            low, high = _attained(data, lhs, rhs) if self.which == "lower" else (Fraction(data["factor"]),) * 2
        except ValueError:  # Python reads no whole number of more than 4,300 digits; the kernel does
            return "got a number of over 4,300 digits, expected one that can be compared with audit.json"
        for value, exact in self.values or ((None, False),):
            if value is None or not _within(value, low, high, exact):
                got = Decimal(low.numerator) / low.denominator
                return f"got {got:.9g}, expected the {self.which} end {shown(str(value))}"
        return ""


def _within(value: Fraction, low: Fraction, high: Fraction, exact: bool) -> bool:
    room = 0 if exact else NEAR * max(abs(low), abs(high))
    return low - room <= value <= high + room


def _elsewhere(point: Mapping[str, str], data: Json, where: Json) -> str:
    """A size, constant, step size, weight or index of a file that is not the one which audit.json tells."""
    letters = cast("dict[str, str]", data["claim"].get("method", {}).get("names", {}))
    sizes = {**where, **cast("JsonObject", where.get("participation", {}))}
    told = {name: [sizes[name]] for name in SIZES if name in sizes}
    told |= {letter: told[size] for letter, size in letters.items() if size in told}
    told |= {"p": where["p"]} if "p" in where else {}
    for part in ("constants", "parameters", "steps"):
        told |= {name: list(_leaves(x)) for name, x in cast("JsonObject", where.get(part, {})).items()}
    told |= {name: [n] for name, n in cast("JsonObject", data["at"]).items() if name != "relation"}
    for name, said in point.items():
        values, own = [_number(one) for one in said.split()], [_number(x) for x in told.get(name, ())]
        if name in told and None not in values and own not in (values, values * len(own)):
            return f"{name} = {shown(told[name])}"
    noise, asked = cast("dict[str, str]", where.get("noise", {})).get("kind", "none"), point.get("noise")
    other = asked == "none" != noise or (asked == "signs" != noise and "factor" in data)  # a run may do without
    return f"noise {shown(noise)}" if other else ""


def _leaves(entry: object) -> Iterator[object]:
    """The numbers in lists of lists."""
    for one in cast("list[object]", entry) if isinstance(entry, list) else ():
        yield from _leaves(one)
    if not isinstance(entry, list):
        yield entry


def _number(text: object) -> Fraction | None:
    try:
        return Fraction(str(text)) if len(str(text)) < 1000 else None
    except (ValueError, ZeroDivisionError):
        return None


def _attained(data: Json, lhs: object, rhs: object) -> tuple[Fraction, Fraction]:
    """Between which numbers the smaller side over the larger one lies, as the relation orders them."""
    relation = data["claim"]["then"][data["at"]["relation"]][0]
    small, large = (rhs, lhs) if relation in (">=", ">") else (lhs, rhs)
    (a, b), (c, d) = _ball(str(small)), _ball(str(large))
    if c <= 0:
        return Fraction(0), Fraction(0)
    # The denominator is positive, so that the sign of the numerator says which end of it gives the extreme.
    return (a / (d if a >= 0 else c), b / (c if b >= 0 else d))


def _ball(text: str) -> tuple[Fraction, Fraction]:
    middle, _, radius = text.partition(" +/- ")
    return Fraction(middle) - Fraction(radius or 0), Fraction(middle) + Fraction(radius or 0)


def ends_of(rows: Sequence[Row]) -> list[End]:
    """Both ends of every worst case that the rows quote."""
    quoted = ((n, row, piece) for n, row in enumerate(rows) for piece in pieces(row) if piece.ends is not None)
    return [
        End(row.id, f"statements[{n}].{piece.place.rpartition('.')[0]}", piece.role, piece.ends)
        for n, row, piece in quoted
        if piece.ends is not None and piece.role in ("lower", "upper") and (piece.is_claimed or _is_told(piece))
    ]


def _is_told(piece: Piece) -> bool:
    """Whether the row says something of this end beside its number as a float."""
    exact = piece.ends and (piece.ends.lower_exact if piece.role == "lower" else piece.ends.upper_exact)
    return bool(exact or piece.held)


@dataclass(frozen=True, slots=True)
class Kept:
    """Judges the files of one folder. `judge` and `row` are those of certificates: an end in a file, and a bare row."""

    path: Path
    known: Mapping[str, Statement]
    checker: Checker
    judge: Callable[[str], tuple[Judgement, Json]]
    row: Callable[..., Judgement]

    def rows(self, rows: Sequence[Row]) -> list[Judgement]:
        """One judgement per proof and per end, in the order of audit.json; what nothing names comes last."""
        return [*self._proofs(rows), *self._ends(rows)]

    def _ends(self, rows: Sequence[Row]) -> Iterator[Judgement]:
        named = set[str]()
        for end in ends_of(rows):
            kind, file = f"{end.which} end", f"{WORST}/{Path(end.file).name}" if end.file else None
            if file is None or file != end.file or file in named or not (self.path / file).is_file():
                got = "a file that another end has" if file in named else shown(end.file) if end.file else "no file"
                why = f"audit.json ({end.place}): got {got}, expected the {end.which} end in {WORST}/"
                yield self.row(f"{self.path}/{file or WORST}", end.id, reason=why, kind=kind)
                continue
            named.add(file)
            judged, data = self.judge(str(self.path / file))
            judged = {**judged, "kind": kind}
            if not judged["malformed"] and judged["accepted"] and judged["dropped"]:
                judged |= {"accepted": False, "reason": "got a reading without an assumption, expected the whole claim"}
            if judged["accepted"] and (why := end.differs(data, judged["lhs"], judged["rhs"])):
                judged |= {"accepted": False, "reason": f"audit.json ({end.place}): {why}"}
            yield judged
        for file in _listed(self.path / WORST):
            if f"{WORST}/{file.name}" not in named:
                yield self.row(str(file), "", reason=ORPHANED, kind="end")

    def _proofs(self, rows: Sequence[Row]) -> Iterator[Judgement]:
        shelf, needed = Shelf(self.path / PROOFS, self.known, self.checker), set[str]()
        proved = {row.id: row for row in rows if row.verdict == "proved" or row.proof}
        for identifier, said in proved.items():
            own, file = proof_file(identifier), said.proof
            if file != own:
                got = shown(file) if file else "no proof"
                why = f"audit.json: got {got}, expected its proof in {own}"
                if not file and identifier not in self.known:
                    why = "proved is what audit.json says, not checked; do: name the .py file that defines it as well"
                row = self.row(f"{self.path}/{own}", identifier, reason=why, kind="proof")
                yield {**row, "unchecked": True} if not file and identifier not in self.known else row
                continue
            judged = shelf.of(identifier)
            needed |= {identifier, *judged.cites}
            yield self._proof(shelf, judged, identifier, said.trusted)
        cited = [name for name in sorted(needed) if name not in proved]
        yield from (self._proof(shelf, shelf.of(name), name, None) for name in cited)
        files = {f"{slug(name)}.json" for name in needed}
        for file in _listed(self.path / PROOFS):
            if file.name not in files:
                yield self.row(str(file), "", reason=ORPHANED, kind="proof")

    def _proof(self, shelf: Shelf, found: Judged, identifier: str, said: int | None) -> Judgement:
        """`said`: how many lines its row says that it trusts; None where no row speaks of it."""
        row = self.row(f"{self.path}/{PROOFS}/{slug(identifier)}.json", identifier, kind="proof")
        if not found.accepted:
            return {**row, "reason": found.answer.reason, "malformed": found.answer.outcome == "malformed"}
        more = told(shelf, found)
        if said is not None and said != more["trusted"]:
            why = f"audit.json: got {shown(said)} lines on trust, expected {more['trusted']}"
            return {**row, **more, "reason": why}
        return {**row, **more, "accepted": True}


ORPHANED = "orphaned: got no row of audit.json that names it, expected one"


def told(shelf: Shelf, found: Judged) -> Judgement:
    """What a row says of an accepted proof."""
    used = {"rules": dict(found.answer.rules), "cites": list(found.cites), "trusted": shelf.trusted(found)}
    return {"what": shelf.told(found), **used}


def _listed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix == ".json" and not file.name.startswith("."))
