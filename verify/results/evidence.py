"""The evidence of a row: every certificate and proof that it has or should have, in one walk.

While a row is made, evidence is data; in an audit's folder each piece has a file of its own, and the row holds its
path. `filed` replaces one by the other, `pieces` lists them; nothing else has to know where in a row evidence stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from .file_names import CERTIFICATES, WORST, plain, proof_file, slug
from .row import Ends, Held, LiteralReading, Move, Row

__all__ = ["Piece", "Role", "filed", "pieces"]

Role: TypeAlias = Literal["refutation", "literal", "reading", "proof", "lower", "upper"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of evidence and its place in the row."""

    role: Role
    place: str  # as in hunt.worst[0].certificate
    held: Held
    file: str  # below the folder; empty for counterexamples to a reading or a witness, which stay in the row
    is_claimed: bool = False  # the row says what only such evidence shows
    without: str = ""  # of a literal reading: the assumption that it drops
    ends: Ends | None = None  # of an end of a worst case: what the row says of it

    @property
    def what(self) -> str:
        """In one word, for whoever misses it."""
        return "proof" if self.role in ("proof", "upper") else "certificate"


Change: TypeAlias = Callable[[Piece], Held]


def filed(row: Row, change: Change) -> Row:
    """The row with each piece of its evidence replaced by what `change` gives for it; its own certificate first."""
    stem = slug(row.id)
    own = f"{CERTIFICATES}/{stem}.json"
    if row.verdict:
        falls = Piece("refutation", "certificate", row.certificate, own, row.verdict == "refuted")
        row = replace(row, certificate=change(falls))
        proof = Piece("proof", "proof", row.proof, proof_file(row.id), row.verdict == "proved")
        row = replace(row, proof=change(proof))
    for name, move in row.moves:
        file = f"{CERTIFICATES}/{stem}.{name}.json" if row.verdict else own  # a move alone has the row's own name
        changed = _of_move(move, name, file, f"{WORST}/{stem}", change)
        row = replace(row, verify=changed) if name == "verify" else replace(row, hunt=changed)
    readings = (_of_reading(one, n, f"{CERTIFICATES}/{stem}", change) for n, one in enumerate(row.implicit))
    return replace(row, implicit=tuple(readings))


def _of_move(move: Move, name: str, file: str, worst: str, change: Change) -> Move:
    falls = Piece("refutation", f"{name}.certificate", move.certificate, file, move.verdict == "refuted")
    move = replace(move, certificate=change(falls))
    if move.counterexample is not None:
        # This one stays in the row as data: it is shown to `change`, and its answer is not kept.
        change(Piece("reading", f"{name}.counterexample", move.counterexample, ""))
    ends = (_of_ends(one, f"{name}.worst[{n}]", f"{worst}.{n}", change) for n, one in enumerate(move.worst))
    return replace(move, worst=tuple(ends))


def _of_ends(ends: Ends, place: str, stem: str, change: Change) -> Ends:
    lower = Piece("lower", f"{place}.lower", ends.certificate, f"{stem}.lower.json", ends.lower is not None, "", ends)
    upper = Piece("upper", f"{place}.upper", ends.proof, f"{stem}.upper.json", ends.upper is not None, "", ends)
    return replace(ends, certificate=change(lower), proof=change(upper))


def _of_reading(reading: LiteralReading, n: int, stem: str, change: Change) -> LiteralReading:
    file = f"{stem}.without-{plain(reading.name)}.json"
    breaks = reading.literal == "breaks"
    piece = Piece("literal", f"implicit[{n}].certificate", reading.certificate, file, breaks, reading.name)
    return replace(reading, certificate=change(piece))


def pieces(row: Row) -> list[Piece]:
    """Every piece of evidence that the row has or could have, in the order of the row."""
    every: list[Piece] = []

    def note(piece: Piece) -> Held:
        every.append(piece)
        return piece.held

    filed(row, note)
    return every
