"""What the rows of an audit.json say about counterexamples: which they name, where, and as what.

audit.json may come from a stranger. Its rows were read as types; whether they are true is what is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..kernel.core.rational import shown
from ..results.evidence import Piece, pieces
from ..results.json_fields import Json
from ..results.row import Row

__all__ = ["Reference", "references"]

_FILE = re.compile(r"certificates/[^/\\.\x00][^/\\\x00]*\.json")


@dataclass(frozen=True, slots=True)
class Reference:
    """One counterexample that a row of audit.json has, or should have."""

    row: Row
    place: str  # in audit.json
    piece: Piece

    @property
    def data(self) -> Json | None:
        """The counterexample, where the row itself holds it."""
        return None if isinstance(self.piece.held, str) else self.piece.held

    @property
    def file(self) -> str | None:
        """Its file below the folder; of a name that no certificate has, one that is not there."""
        name = self.piece.held
        if not isinstance(name, str):
            return None
        return name if _FILE.fullmatch(name) else f"certificates/{shown(name)}"

    def missing(self) -> str:
        """That its file is not there."""
        where = f"audit.json names a counterexample to {self.row.id} ({self.place})"
        if self.file is None:
            return f"{where}: got no certificate, expected its file in certificates/"
        return f"{where}: got {shown(self.file)}, expected a file in certificates/ that exists"

    def compared(self, judged: dict[str, object]) -> dict[str, object]:
        """The row of the certificate, with `agrees`: it is what audit.json says it is."""
        wrong = None if judged["malformed"] else self._wrong(judged)
        if wrong is None:
            return {**judged, "agrees": not judged["malformed"] and judged["what"] not in (None, "contradiction")}
        return {**judged, "accepted": False, "agrees": False, "reason": f"audit.json ({self.place}): {wrong}"}

    def _wrong(self, judged: Json) -> str | None:
        role, without = self.piece.role, self.piece.without
        if judged["what"] in (None, "contradiction"):
            return None  # the row has its own reason
        if judged["id"] != self.row.id:
            return f"got a certificate of {judged['id']}, expected one of {self.row.id}"
        if judged["lhs"] is None:  # of a counterexample the kernel says both sides
            return f"got a {judged['what']}, expected a counterexample"
        if judged["dropped"] != ([without] if without else []):
            dropped = ", ".join(judged["dropped"]) or "nothing"
            return f"got a reading without {dropped}, expected without {without or 'nothing'}"
        if not self.piece.is_claimed and role != "reading":
            return "got a counterexample that the kernel accepts, expected a row that says so"
        if role == "refutation" and judged["what"] != "refutation":
            return f"got refuted, expected undecided: {judged['reason']}"
        if role == "refutation" and self.row.verdict != "refuted":
            return f"got the verdict {shown(self.row.verdict)}, expected refuted: the kernel accepts a counterexample"
        return None


def references(rows: Sequence[Row]) -> list[Reference]:
    """Everything that the rows say about counterexamples."""
    return [
        Reference(row, f"statements[{n}].{piece.place}", piece)
        for n, row in enumerate(rows)
        for piece in pieces(row)
        if piece.role in ("refutation", "literal", "reading") and (piece.held is not None or piece.is_claimed)
    ]
