"""What the verdicts of an audit.json are worth: refutations and proofs are checked, the rest is what the file says.

A row that this process computed is its own. Of a row that was read from a file only what has a certificate can be
checked again: the kernel replays a counterexample or checks a proof with all that it cites, and its claim is compared
with the catalogue's. What fails is *unverified*.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import cast

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.formulas.statement_text import printed
from fedaudit.bounds.language.statement import Statement

from ..kernel import Malformed, load
from ..results.audit_json import Document
from ..results.file_names import PROOFS, proof_file
from ..results.json_fields import Json, JsonObject
from ..results.regular_file import Unreadable, inside
from ..results.row import Held, LiteralReading, Printed, Row, read_printed
from .command import certify
from .proof_files import Shelf
from .sandbox import Checker

__all__ = ["Checked", "Literally", "Rechecker", "Standing", "own_row", "recheck"]

SECONDS = 300.0  # for all replays of one report
BYTES = 1_000_000  # of a certificate
NO_COUNTEREXAMPLE = "its certificate is no counterexample: the kernel accepts it as a proof"  # it has no two sides
OWN, FILED, REPLAYED, UNCOMPARED, UNVERIFIED = "own", "filed", "replayed", "uncompared", "unverified"


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands behind a verdict, and why where nothing does."""

    kind: str  # own, filed, replayed, uncompared, unverified
    reason: str = ""
    certificate: Json | None = field(default=None, compare=False)  # only one that was accepted

    @property
    def accepted(self) -> bool:
        return self.kind in (OWN, REPLAYED, UNCOMPARED)


@dataclass(frozen=True, slots=True)
class Literally:
    """A literal reading, and what stands behind it."""

    tried: LiteralReading
    standing: Standing


@dataclass(frozen=True, slots=True)
class Checked:
    """A row with what stands behind its verdict, its moves' verdicts and its literal readings."""

    row: Row
    standing: Standing
    moves: Mapping[str, Standing]
    counterexamples: Mapping[str, Standing]
    literals: tuple[Literally, ...]
    other_text: bool = False  # the file prints another statement than the catalogue's; the catalogue's is in `row`

    @property
    def verdict(self) -> str:
        """The verdict that may be shown."""
        return UNVERIFIED if self.standing.kind == UNVERIFIED else self.row.verdict


def recheck(document: Document, root: Path, own: Collection[str] = ()) -> list[Checked]:
    """Every row with its standing; rows whose ids are in `own` were computed by this process."""
    with Checker() as checker:
        rechecker = Rechecker(root, checker)
        return [own_row(row, root) if row.id in own else rechecker.row(row) for row in document.statements]


def own_row(row: Row, root: Path) -> Checked:
    """A row that this process computed, or took over from its own store."""
    standing = Standing(OWN, certificate=_held(root, row.certificate))
    moves = {name: Standing(OWN) for name, _ in row.moves}
    examples = {name: Standing(OWN, certificate=m.counterexample) for name, m in row.moves if m.counterexample}
    return Checked(row, standing, moves, examples, tuple(Literally(tried, Standing(OWN)) for tried in row.implicit))


@dataclass(frozen=True, slots=True)
class Answer:
    """The kernel's word on a certificate."""

    replayed: bool  # the formula of the claim fails on the instance
    refutes: bool  # and so does what is printed
    reason: str = ""
    dropped: tuple[str, ...] = ()
    compared: bool = True  # with the catalogue's claim
    certificate: Json | None = None

    def standing(self, droppable: tuple[str, ...], *, finding: bool) -> Standing:
        """What it is worth for a verdict; a finding about the text is less than a refutation of it."""
        if not self.replayed or not (self.refutes or finding):
            return Standing(UNVERIFIED, self.reason)
        if not set(self.dropped) <= set(droppable):
            return Standing(UNVERIFIED, f"its certificate drops {', '.join(self.dropped)}")
        return Standing(REPLAYED if self.compared else UNCOMPARED, "", self.certificate)


class Rechecker:
    """Replays the certificates that rows name, each of them once, within one limit of time."""

    def __init__(self, root: Path, checker: Checker) -> None:
        self.root = root
        self.checker = checker
        self.end = time.monotonic() + SECONDS
        self.answers: dict[tuple[str, str], Answer] = {}
        self.shelf = Shelf(root / PROOFS, _catalogue(), checker)

    def row(self, row: Row) -> Checked:
        """A row that was read from a file."""
        moves = {name: self._verdict(row.id, move.verdict, move.certificate) for name, move in row.moves}
        examples = {
            name: self._replay(row.id, json.dumps(dict(move.counterexample))).standing((), finding=True)
            for name, move in row.moves
            if move.counterexample is not None
        }
        text = _catalogue_text(row.id)
        return Checked(
            row if text is None else replace(row, statement=text, repaired=_catalogue_repair(row.id)),
            self._proved(row) if row.verdict == "proved" else self._verdict(row.id, row.verdict, row.certificate),
            moves,
            examples,
            tuple(Literally(tried, self._literal(row.id, tried)) for tried in row.implicit),
            other_text=text not in (None, row.statement),
        )

    def _verdict(self, identifier: str, verdict: str, name: Held) -> Standing:
        if verdict != "refuted":
            return Standing(FILED)
        return self._file(identifier, name).standing((), finding=False)

    def _proved(self, row: Row) -> Standing:
        """What stands behind a verdict that only a proof gives; of a statement of one's own nothing is compared."""
        if row.id not in self.shelf.known:
            return Standing(FILED)
        if row.proof != proof_file(row.id):
            return Standing(UNVERIFIED, "the file names no proof")
        if time.monotonic() > self.end:
            return Standing(UNVERIFIED, "its proof was not checked: the time for replays is spent")
        judged = self.shelf.of(row.id)
        if not judged.accepted:
            return Standing(UNVERIFIED, f"its proof is rejected: {judged.answer.reason}")
        trusted = self.shelf.trusted(judged)
        return (
            Standing(REPLAYED) if trusted == row.trusted else Standing(UNVERIFIED, f"its proof trusts {trusted} lines")
        )

    def _literal(self, identifier: str, tried: LiteralReading) -> Standing:
        if tried.literal != "breaks":
            return Standing(FILED)
        return self._file(identifier, tried.certificate).standing((tried.name,), finding=True)

    def _file(self, identifier: str, name: Held) -> Answer:
        """The answer on the certificate in a file of the folder."""
        if not isinstance(name, str):
            return _no("the file names no certificate")
        try:
            return self._replay(identifier, inside(self.root, name, BYTES).decode())
        except Unreadable as error:
            return _no(f"its certificate: {error}")
        except UnicodeDecodeError:
            return _no("its certificate: not UTF-8 text")

    def _replay(self, identifier: str, text: str) -> Answer:
        if (identifier, text) not in self.answers:
            self.answers[identifier, text] = self._asked(identifier, text)
        return self.answers[identifier, text]

    def _asked(self, identifier: str, text: str) -> Answer:
        try:
            data = load(text)
        except Malformed as error:
            return _no(f"its certificate is none: {error}")
        held = cast("JsonObject", data) if isinstance(data, dict) else {}
        if held.get("statement") != identifier:
            return _no("its certificate is about another statement")
        if time.monotonic() > self.end:
            return _no("not replayed: the time for replays is spent")
        return _ask(held, self.checker, compared=identifier in _catalogue())


def _no(reason: str) -> Answer:
    return Answer(replayed=False, refutes=False, reason=reason)


def _ask(data: Json, checker: Checker, *, compared: bool) -> Answer:
    """The kernel's answer, within its limits; a statement that no catalogue holds is compared with nothing."""
    if not compared:
        answer = checker.ask(data)
        if answer.outcome != "accepted":
            return _no(f"its certificate is {'none' if answer.outcome == 'malformed' else 'rejected'}: {answer.reason}")
        if answer.lhs is None:
            return _no(NO_COUNTEREXAMPLE)
        return Answer(replayed=True, refutes=True, dropped=answer.dropped, compared=False, certificate=data)
    row = certify(data, "certificate", (), checker)
    reason = f"its certificate is {'none' if row['malformed'] else 'rejected'}: {row['reason']}"
    if row["what"] in (None, "contradiction"):
        return _no(reason)
    if row["lhs"] is None:
        return _no(NO_COUNTEREXAMPLE)
    return Answer(True, row["accepted"] is True, reason, tuple(row["dropped"]), certificate=data)


@cache
def _catalogue_text(identifier: str) -> Printed | None:
    """A statement as the catalogue prints it; None if it holds none of this id."""
    statement = _catalogue().get(identifier)
    return None if statement is None else read_printed(printed(statement))


def _catalogue_repair(identifier: str) -> str | None:
    """The repaired sibling that the catalogue holds, whatever a file links to."""
    sibling = f"{identifier}~repaired"
    return sibling if sibling in _catalogue() else None


@cache
def _catalogue() -> Mapping[str, Statement]:
    return catalogue()


def _held(root: Path, name: Held) -> Json | None:
    """A certificate of our own, to be shown."""
    try:
        data = load(inside(root, name, BYTES).decode()) if isinstance(name, str) else name
    except (Unreadable, UnicodeDecodeError, Malformed):
        return None
    return cast("JsonObject", data) if isinstance(data, dict) else None
