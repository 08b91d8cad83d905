"""`fedaudit reproduce`: the papers' figures and tables, rebuilt; on one page what they are said to show, and what came
out."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedaudit.output import JsonObject

from ..errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from fedaudit.figures.pages.reproduced import RebuiltDisplay
    from fedaudit.verify.experiments.displays import Display

__all__ = ["ABOUT", "FOLDER", "arguments", "reproduce", "table"]

FOLDER, PICTURES, INDEX = "reproduce", "pictures", "index.html"
ABOUT = """\
examples:
  fedaudit reproduce                            all papers, about two minutes; then open reproduce/index.html
  fedaudit reproduce yuan                       one paper
  fedaudit reproduce zhang buttaci --seed 7     two of them, with other data
  fedaudit reproduce --json > rows.json         one row per sentence: claim, outcome, verdict, reason, picture
What is rebuilt: zhang, figures 2 and 3; buttaci, figures 3.3 to 3.5 (on handwritten digits, extra `data`) and the
comparisons of section 4.4; benmansour, figures 6 and 7 on synthetic clients; yuan, table 1. What needs data or trained
networks that are not here is listed with the reason (verdict undecided).
verdicts: reproduced (as printed), reproduced-if (only under what the row lists, settled after looking), not-reproduced.
A verdict is computed from the runs, by a rule that the reason states. Same seed, same page and pictures, byte for byte.
"""

Row = JsonObject


def arguments(sub: argparse.ArgumentParser) -> None:
    """Adds the options of `fedaudit reproduce` to its parser."""
    sub.add_argument("papers", nargs="*", metavar="PAPER", help="zhang, buttaci, …; nothing means all")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")
    sub.add_argument("--out", metavar="DIR", help=f"folder for {INDEX} and {PICTURES}/ (default {FOLDER})")
    sub.add_argument("--seed", default="0", metavar="N", help="same seed, same page (default 0)")


def reproduce(papers: Sequence[str], seed: int, out: Path) -> list[Row]:
    """Rebuild all displays of these papers, then write the page and its pictures: all of them, or none."""
    from importlib.metadata import version

    from fedaudit.figures.pages.reproduced import page
    from fedaudit.verify.results.file_names import slug

    from ..progress import progress
    from ..running.files import write

    chosen = _chosen(papers)
    _usable(out)
    shown: list[RebuiltDisplay] = []
    rows: list[Row] = []
    with progress("reproduce", [display.id for display in chosen], 1) as step:
        for number, display in enumerate(chosen, 1):
            began = time.perf_counter()
            shown.append(_rebuilt(display, seed))
            rows += _rows(shown[-1], seed, time.perf_counter() - began)
            step(display.id, number, len(chosen))
    text = page(shown, seed, version("fedaudit"))
    for one in shown:
        if one.picture:
            write(out / PICTURES / f"{slug(one.display.id)}.svg", one.picture)
    write(out / INDEX, text)
    return rows


def _chosen(papers: Sequence[str]) -> list[Display]:
    from fedaudit.verify.experiments.displays import displays
    from fedaudit.verify.experiments.displays import papers as known

    for name in papers:
        if name not in known():
            raise UserError(f"the paper {name!r}", f"one of {', '.join(known())}", "leave it out to rebuild all")
    return [display for display in displays() if not papers or display.paper in papers]


def _usable(out: Path) -> None:
    """Whether the folder can be written, before anything is computed."""
    from ..running.store import Folder

    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}, which is a file", "a folder", "name another one")
    Folder.open(out)


def _rebuilt(display: Display, seed: int) -> RebuiltDisplay:
    """A display with its picture, or why there is none; data that an extra brings may be missing."""
    from fedaudit.figures.drawing import draw, image
    from fedaudit.figures.pages.reproduced import RebuiltDisplay

    if display.rebuild is None:
        return RebuiltDisplay(display, reason=display.missing)
    try:
        rebuilt = display.rebuild(seed)
    except UserError as error:
        return RebuiltDisplay(display, reason=str(error))
    return RebuiltDisplay(display, rebuilt, image(draw(rebuilt.picture), "svg"))


def _rows(one: RebuiltDisplay, seed: int, seconds: float) -> list[Row]:
    """One row per sentence; a display that is not rebuilt has one. Answers of a display share its time."""
    from fedaudit.verify.results.file_names import slug

    display = one.display
    common: Row = {"paper": display.paper, "figure": display.name}
    if one.rebuilt is None:
        row: Row = {"id": display.id, **common, "claim": display.shows, "outcome": [], "verdict": "undecided"}
        return [row | {"under": [], "reason": one.reason, "picture": None, "seconds": 0.0, "seed": seed}]
    picture, each = f"{PICTURES}/{slug(display.id)}.svg", round(seconds / len(one.rebuilt.answers), 3)
    return [
        {
            "id": answer.claim.id,
            **common,
            "claim": answer.claim.says,
            "outcome": list(answer.outcome.rows),
            "verdict": answer.verdict,
            "under": list(answer.under),
            "reason": answer.outcome.reason,
            "picture": picture,
            "seconds": each,
            "seed": seed,
        }
        for answer in one.rebuilt.answers
    ]


def table(rows: Sequence[Row], index: Path) -> None:
    """For people: one line per sentence, and where the page is."""
    from rich.markup import escape
    from rich.table import Table

    from .tables import console, said

    out = console()
    shown = Table("id", "verdict", "what the paper says", box=None, pad_edge=False, header_style="bold")
    shown.columns[0].no_wrap = True
    shown.columns[1].no_wrap = True
    for row in rows:
        shown.add_row(escape(row["id"]), said(row["verdict"]), escape(row["claim"]))
    out.print(shown)
    out.print()
    out.print(escape(str(index)))
