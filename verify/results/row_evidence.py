"""What an audit.json says about certificates: which counterexamples it names, where, and as what.

audit.json may come from a stranger: any JSON is read, and what is not as an audit writes it is `Malformed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..kernel import Malformed
from ..kernel.core.rational import shown

__all__ = ["Reference", "Row", "references", "verdicts"]

Row = dict[str, Any]
_FILE = re.compile(r"certificates/[^/\\.\x00][^/\\\x00]*\.json")


@dataclass(frozen=True, slots=True)
class Reference:
    """One counterexample that a row of audit.json has, or should have."""

    id: str
    place: str  # in the row
    role: Literal["refutation", "literal", "reading"]
    verdict: str  # of the whole row
    file: str | None = None  # below the folder
    held: object = None  # the certificate itself
    without: str = ""  # of a literal reading: what it drops
    claimed: bool = True  # the place says that the claim falls

    def missing(self) -> str:
        where = f"audit.json names a counterexample to {self.id} ({self.place})"
        if self.file is None:
            return f"{where}: got no certificate, expected its file in certificates/"
        return f"{where}: got {shown(self.file)}, expected a file in certificates/ that exists"

    def compared(self, row: Row) -> Row:
        """The row of the certificate, with `agrees`: it is what audit.json says it is."""
        wrong = None if row["malformed"] else self._wrong(row)
        if wrong is None:
            return {**row, "agrees": not row["malformed"] and row["what"] not in (None, "contradiction")}
        return {**row, "accepted": False, "agrees": False, "reason": f"audit.json ({self.place}): {wrong}"}

    def _wrong(self, row: Row) -> str | None:
        if row["what"] in (None, "contradiction"):
            return None  # the row has its own reason
        if row["id"] != self.id:
            return f"got a certificate of {row['id']}, expected one of {self.id}"
        if row["lhs"] is None:  # of a counterexample the kernel says both sides
            return f"got a {row['what']}, expected a counterexample"
        if row["dropped"] != ([self.without] if self.without else []):
            dropped = ", ".join(row["dropped"]) or "nothing"
            return f"got a reading without {dropped}, expected without {self.without or 'nothing'}"
        if not self.claimed:
            return "got a counterexample that the kernel accepts, expected a row that says so"
        if self.role == "refutation" and row["what"] != "refutation":
            return f"got refuted, expected undecided: {row['reason']}"
        if self.role == "refutation" and self.verdict != "refuted":
            return f"got the verdict {shown(self.verdict)}, expected refuted: the kernel accepts a counterexample"
        return None


def verdicts(document: object) -> dict[str, str]:
    """Id -> verdict, of a document whose `references` could be read."""
    return {str(row["id"]): str(row["verdict"]) for row in cast("dict[str, list[Row]]", document)["statements"]}


def references(document: object) -> list[Reference]:
    """Everything that audit.json says about counterexamples."""
    rows = cast(Row, document).get("statements") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise Malformed(f"statements: got {shown(rows)}, expected a list of rows")
    found: list[Reference] = []
    seen: set[str] = set()
    for n, row in enumerate(cast("list[object]", rows)):
        identifier = cast(Row, row).get("id") if isinstance(row, dict) else None
        if not isinstance(identifier, str) or identifier in seen:
            raise Malformed(f"statements[{n}].id: got {shown(identifier)}, expected an id, each once")
        seen.add(identifier)
        found += _of_row(cast(Row, row), identifier, f"statements[{n}]")
    return found


def _of_row(row: Row, identifier: str, where: str) -> Iterator[Reference]:
    verdict = row.get("verdict")
    if not isinstance(verdict, str):
        raise Malformed(f"{where}.verdict: got {shown(verdict)}, expected a verdict")
    yield from _named(row, "certificate", identifier, "refutation", verdict, where, verdict == "refuted")
    for move in ("verify", "hunt"):
        part = row.get(move)
        if part is None:
            continue
        if not isinstance(part, dict):
            raise Malformed(f"{where}.{move}: got {shown(part)}, expected an object")
        held = cast(Row, part)
        place = f"{where}.{move}"
        yield from _named(
            held, "certificate", identifier, "refutation", verdict, place, held.get("verdict") == "refuted"
        )
        yield from _named(held, "counterexample", identifier, "reading", verdict, place, False)
    implicit = row.get("implicit")
    if implicit is not None and not isinstance(implicit, list):
        raise Malformed(f"{where}.implicit: got {shown(implicit)}, expected a list")
    for n, part in enumerate(cast("list[object]", implicit or [])):
        name = cast(Row, part).get("name") if isinstance(part, dict) else None
        if not isinstance(name, str):
            raise Malformed(f"{where}.implicit[{n}].name: got {shown(name)}, expected the name of an assumption")
        breaks = cast(Row, part).get("literal") == "breaks"
        place = f"{where}.implicit[{n}]"
        yield from _named(cast(Row, part), "certificate", identifier, "literal", verdict, place, breaks, name)


def _named(
    part: Row,
    key: Literal["certificate", "counterexample"],
    identifier: str,
    role: Literal["refutation", "literal", "reading"],
    verdict: str,
    where: str,
    claimed: bool,
    without: str = "",
) -> Iterator[Reference]:
    """The reference under `key`, if there is one or if there has to be one."""
    held, place = part.get(key), f"{where}.{key}"
    claimed = claimed or role == "reading"
    if held is None:
        if claimed and role != "reading":
            yield Reference(identifier, place, role, verdict, without=without)
    elif isinstance(held, str):
        file = held if _FILE.fullmatch(held) else f"certificates/{shown(held)}"
        yield Reference(identifier, place, role, verdict, file, None, without, claimed)
    elif isinstance(held, dict) and key == "counterexample":
        yield Reference(identifier, place, role, verdict, None, cast(Row, held), without, claimed)
    else:
        raise Malformed(f"{place}: got {shown(cast(object, held))}, expected the path of a certificate")
