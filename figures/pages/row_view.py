"""What pages show of a row: in the index, and on the page of its statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fedaudit.verify.pictures.worst_marks import NOTHING
from fedaudit.verify.results.audit_json import Ends, Move, Step, Unreadable, inside
from fedaudit.verify.results.file_names import lines_trusted
from fedaudit.verify.results.tried_sizes import Size

from ..words.findings import Teller
from ..words.letters import Letters
from ..words.ordinary_points import brief, lead
from ..words.sizes import letters, line
from .page_text import data_uri, described
from .papers import paper_of
from .verdict_words import MARKS

if TYPE_CHECKING:
    from fedaudit.verify.certify.standing import Checked

__all__ = ["Album", "change_needed", "listed", "shown"]

FIGURE, FIGURES = 8_000_000, 300_000_000  # bytes of a picture, and of all of them
SIZES = 12  # of a table of sizes that is open


class Album:
    """Figures below a folder, each of bounded size and all of them together."""

    def __init__(self, root: Path) -> None:
        self.root, self.left = root, FIGURES

    def picture(self, name: str) -> tuple[str | None, str]:
        """The figure for an image's address with what it says of itself, or None and why."""
        try:
            data = inside(self.root, name, min(FIGURE, self.left))
        except Unreadable as error:
            return None, str(error)
        self.left -= len(data)
        return data_uri(data), described(data)


def listed(checked: Checked) -> dict[str, object]:
    """A row as the index shows it."""
    row, standing = checked.row, checked.standing
    return {
        "id": row.id,
        "paper": paper_of(row.id),
        "verdict": checked.verdict,
        "filed": standing.kind == "filed",
        "from_file": standing.kind != "own",
        "mark": MARKS[standing.kind][0],
        "trusting": lines_trusted(row.trusted) if checked.verdict == "proved" else "",
        "row": row,
        "statement": row.statement,
        "nothing_met": row.reason if _nothing_met(checked) else "",
        "ordinary": _ordinary(checked),
        "breaks": _breaks(checked),
        "repair": change_needed(checked),
    }


def change_needed(checked: Checked) -> str:
    """What a repair changes; of a reading without one of its own nothing: what repairs the print may repair it too."""
    row = checked.row
    if checked.verdict != "refuted" or row.repair not in ("", "none known"):
        return row.repair if checked.verdict == "refuted" else ""
    return "" if "~" in row.id else "none known"


def _ordinary(checked: Checked) -> str:
    """How much the statement promises at an ordinary point; of a file that is not ours, as the file says."""
    said = brief(checked.row.hunt.worst, _broken(checked)) if checked.row.hunt else ""
    return said if not said or checked.standing.kind == "own" else f"{said} (not rechecked)"


def shown(checked: Checked, album: Album, teller: Teller) -> dict[str, object]:
    """A row as the page of its statement shows it."""
    row, standing = checked.row, checked.standing
    picture, said = album.picture(row.figure) if row.figure else (None, "")
    says = MARKS[standing.kind][1].format(row.verdict)
    return {
        **listed(checked),
        "says": f"{says} {standing.reason}.".strip(" .") + "." if says else "",
        "other_text": checked.other_text,
        "steps": _numbered(row.derive.steps if row.derive else ()),
        "moves": [_move(name, checked) for name in checked.moves],
        "worst": _profile(row.hunt, _broken(checked)) if row.hunt else None,
        "sizes": _sizes(row.sizes),
        "literals": [
            (literal.tried, literal.standing, MARKS[literal.standing.kind][0]) for literal in checked.literals
        ],
        "picture": picture,
        "pictured": said,  # what it says of itself, or why there is none
        "certificate": _sides(standing.certificate) if row.verdict == "refuted" else None,
        "story": teller.story(standing.certificate, Letters(row.statement.letters))
        if row.verdict == "refuted"
        else None,
    }


def _move(name: str, checked: Checked) -> dict[str, object]:
    move, standing = getattr(checked.row, name), checked.moves[name]
    unverified = standing.kind == "unverified"
    mark = standing.reason if unverified else MARKS[standing.kind][0]
    example = checked.counterexamples.get(name)
    return {
        "name": name,
        "move": move,
        "verdict": "unverified" if unverified else move.verdict,
        "mark": mark,
        "example": example,
        "sides": _sides(example.certificate) if example else None,
        "example_mark": example and (MARKS[example.kind][0] or example.reason),
    }


def _broken(checked: Checked) -> bool:
    """Whether the statement, or the reading or witness that stands for it, fails somewhere."""
    moves = (checked.row.verify, checked.row.hunt)
    return checked.row.verdict == "refuted" or any(move and move.counterexample for move in moves)


def _nothing_met(checked: Checked) -> bool:
    """Whether moves looked for instances and met none that is admissible."""
    moves = [move for move in (checked.row.verify, checked.row.hunt) if move]
    return bool(moves) and all(move.instances == 0 for move in moves)


def _profile(hunt: Move, broken: bool) -> dict[str, object]:
    """What the page shows of worst cases: the one to lead with, all of them, and what is missing."""
    exact, met = (
        [_ends(one, broken) for one in hunt.worst if (one.by == "search") == searched] for searched in (False, True)
    )
    said = lead(hunt.worst, broken)
    return {"lead": said, "exact": exact, "met": met, "left_out": hunt.left_out, "why": hunt.out_of_reach}


def _ends(one: Ends, broken: bool) -> dict[str, object]:
    """A point in words, both ends, and how many times more than can happen the bound allows at least.

    That is left out where nothing happens, and of a statement that fails: it promises something false.
    """
    point = ", ".join(f"{name} = {value}" for name, value in one.point)
    return {
        "name": one.name + (f" (relation {one.relation})" if one.relation > 1 else ""),
        "point": point,
        "lower": one.lower,
        "upper": one.upper,
        "times": 1 / one.upper if one.upper and one.upper > NOTHING and not broken else None,
    }


def _sizes(sizes: Sequence[Size]) -> dict[str, object] | None:
    """What the page shows of the sizes that were tried; nothing where there are none."""
    if not sizes:
        return None
    names = letters(sizes)
    rows = [([dict(size.counts).get(name) for name in names], size) for size in sizes]
    return {"line": line(sizes), "letters": names, "rows": rows, "open": len(sizes) <= SIZES}


def _sides(certificate: Mapping[str, Any] | None) -> dict[str, object] | None:
    """What the page shows of a certificate."""
    if certificate is None:
        return None
    at, dropped = certificate.get("at"), certificate.get("dropped")
    return {
        "at": cast("dict[str, object]", at) if isinstance(at, dict) else {},
        "dropped": cast("list[object]", dropped) if isinstance(dropped, list) else [],
        **{name: certificate.get(name) for name in ("instance", "lhs", "rhs")},
    }


def _breaks(checked: Checked) -> list[str]:
    """The implicit assumptions without which the statement falls, as far as somebody looked."""
    tried = [(t.tried.name, t.standing.kind) for t in checked.literals if t.tried.literal == "breaks"]
    return [name if kind != "unverified" else f"{name} (unverified)" for name, kind in tried]


def _numbered(steps: Iterable[Step]) -> list[Step]:
    """Steps that name earlier ones by number instead of repeating them."""
    numbers_of: dict[str, str] = {}
    numbered: list[Step] = []
    for number, step in enumerate(steps, 1):
        numbered.append(replace(step, because=tuple(numbers_of.get(reason, reason) for reason in step.because)))
        numbers_of.setdefault(step.claim, f"step {number}")
    return numbered
