"""What the verdicts of an audit.json are worth: refutations are replayed, everything else is what the file says.

A row that this process computed is its own. Of a row that was read from a file only a refutation can be checked again:
its certificate is replayed by the kernel and its claim compared with the catalogue's. What fails is *unverified*.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .document import Document, Literal, Move, Printed, Row, Unreadable, inside, parse_printed
from .errors import UserError

if TYPE_CHECKING:
    from fedaudit.bounds.statement import Statement

__all__ = ["Checked", "Literally", "Rechecker", "Standing", "recheck"]

SECONDS = 300.0  # for all replays of one report
BYTES = 1_000_000  # of a certificate
OWN, FILED, REPLAYED, UNCOMPARED, UNVERIFIED = "own", "filed", "replayed", "uncompared", "unverified"


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands behind a verdict, and why where nothing does."""

    kind: str  # own, filed, replayed, uncompared, unverified
    reason: str = ""
    certificate: Mapping[str, Any] | None = field(default=None, compare=False)  # only one that was accepted

    @property
    def accepted(self) -> bool:
        return self.kind in (OWN, REPLAYED, UNCOMPARED)


@dataclass(frozen=True, slots=True)
class Literally:
    """A literal reading, and what stands behind it."""

    tried: Literal
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
    rechecker = Rechecker(root)
    return [_own(row, root) if row.id in own else rechecker.row(row) for row in document.statements]


def _own(row: Row, root: Path) -> Checked:
    standing = Standing(OWN, certificate=_held(root, row.certificate))
    moves = {name: Standing(OWN) for name, _ in _moves(row)}
    examples = {name: Standing(OWN, certificate=m.counterexample) for name, m in _moves(row) if m.counterexample}
    return Checked(row, standing, moves, examples, tuple(Literally(tried, Standing(OWN)) for tried in row.implicit))


class Rechecker:
    """Replays the certificates that rows name, each file once, within one limit of time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.end = time.monotonic() + SECONDS
        self.answers: dict[str, tuple[Standing, tuple[str, ...]]] = {}

    def row(self, row: Row) -> Checked:
        """A row that was read from a file."""
        standing = self._refutation(row.id, row.certificate) if row.verdict == "refuted" else Standing(FILED)
        moves: dict[str, Standing] = {}
        examples: dict[str, Standing] = {}
        for name, move in _moves(row):
            refuted = move.verdict == "refuted"
            moves[name] = self._refutation(row.id, move.certificate) if refuted else Standing(FILED)
            if move.counterexample is not None:
                text = json.dumps(move.counterexample)
                examples[name] = self._allowed(self._replay(row.id, text, f"{name}.counterexample"), ())
        literals = tuple(Literally(tried, self._literal(row.id, tried)) for tried in row.implicit)
        text = _catalogue_text(row.id)
        other = text is not None and text != row.statement
        shown = replace(row, statement=text) if text is not None else row
        return Checked(shown, standing, moves, examples, literals, other)

    def _literal(self, identifier: str, tried: Literal) -> Standing:
        if tried.literal != "breaks":
            return Standing(FILED)
        return self._refutation(identifier, tried.certificate, (tried.name,))

    def _refutation(self, identifier: str, name: str | None, droppable: tuple[str, ...] = ()) -> Standing:
        """What the certificate in a file of the folder is worth for this statement."""
        if name is None:
            return Standing(UNVERIFIED, "the file names no certificate")
        try:
            text = inside(self.root, name, BYTES).decode()
        except Unreadable as error:
            return Standing(UNVERIFIED, f"its certificate: {error}")
        except UnicodeDecodeError:
            return Standing(UNVERIFIED, "its certificate: not UTF-8 text")
        return self._allowed(self._replay(identifier, text, name), droppable)

    def _allowed(self, answer: tuple[Standing, tuple[str, ...]], droppable: tuple[str, ...]) -> Standing:
        standing, dropped = answer
        if standing.accepted and not set(dropped) <= set(droppable):
            return Standing(UNVERIFIED, f"its certificate drops {', '.join(dropped)}")
        return standing

    def _replay(self, identifier: str, text: str, name: str) -> tuple[Standing, tuple[str, ...]]:
        key = f"{identifier}\n{text}"
        if key not in self.answers:
            self.answers[key] = self._replayed(identifier, text, name)
        return self.answers[key]

    def _replayed(self, identifier: str, text: str, name: str) -> tuple[Standing, tuple[str, ...]]:
        from .kernel import Malformed, load

        try:
            data = load(text)
        except Malformed as error:
            return Standing(UNVERIFIED, f"its certificate is none: {error}"), ()
        held = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if held.get("statement") != identifier:
            return Standing(UNVERIFIED, "its certificate is about another statement"), ()
        if time.monotonic() > self.end:
            return Standing(UNVERIFIED, "not replayed: the time for replays is spent"), ()
        compared = _catalogue_text(identifier) is not None
        try:
            answer = _ask(data, name, compared=compared)
        except UserError as error:
            return Standing(UNVERIFIED, f"its certificate is none: {error}"), ()
        if answer["accepted"] is not True:
            return Standing(UNVERIFIED, f"its certificate is rejected: {answer['reason']}"), ()
        return Standing(REPLAYED if compared else UNCOMPARED, "", held), tuple(answer.get("dropped") or ())


def _ask(data: object, name: str, *, compared: bool) -> dict[str, Any]:
    """The kernel's answer; a statement that no catalogue holds is compared with nothing."""
    from .certificates import certify
    from .kernel import Malformed, Rejected, check

    if compared:
        return certify(data, name, ())
    try:
        return {"accepted": True, "reason": None, "dropped": list(check(data).dropped)}
    except Malformed as error:
        raise UserError(str(error)) from error
    except Rejected as error:
        return {"accepted": False, "reason": str(error)}


@cache
def _catalogue_text(identifier: str) -> Printed | None:
    """A statement as the catalogue prints it; None if it holds none of this id."""
    from .runner import printed

    statement = _catalogue().get(identifier)
    return None if statement is None else parse_printed(printed(statement))


@cache
def _catalogue() -> Mapping[str, Statement]:
    from fedaudit.bounds.catalogue import catalogue

    return catalogue()


def _moves(row: Row) -> list[tuple[str, Move]]:
    return [(name, move) for name, move in (("verify", row.verify), ("hunt", row.hunt)) if move is not None]


def _held(root: Path, name: str | None) -> Mapping[str, Any] | None:
    """A certificate of our own, to be shown."""
    from .kernel import Malformed, load

    try:
        found = None if name is None else load(inside(root, name, BYTES).decode())
    except (Unreadable, UnicodeDecodeError, Malformed):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
