"""index.html: an audit for a browser, in one file that fetches nothing and runs nothing but its own script.

audit.json, certificates and figures may come from a stranger. Text is escaped, formulas are written from a list of
MathML, the policy admits one script and one style sheet by their digests, and a verdict that was read from a file is
shown with what stands behind it.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from fedaudit.verify.document import Document, Step, Unreadable, inside
from fedaudit.verify.names import slug

from . import numbers
from .formulas import mathml

if TYPE_CHECKING:
    from fedaudit.verify.recheck import Checked

__all__ = ["page"]

MEANING = {
    "refuted": "an admissible counterexample that the exact kernel accepts",
    "unverified": "the file says refuted, and no certificate of it holds here",
    "proved": "decided for all parameters",
    "survived": "attacked and not broken; it proves nothing",
    "undecided": "none of these, and the row says why",
    "reproduced": "the observed claim was seen again",
    "reproduced-if": "the observed claim was seen again only under readings that were settled after looking",
    "not-reproduced": "the observed claim was not seen again",
}
FIGURE, FIGURES = 8_000_000, 300_000_000  # bytes of a picture, and of all of them
DRAWABLE = 1e100  # a tightness beyond it stands at the edge of the overview, and in full in the table
FORMULAS = 2_000_000_000  # of all formulas, characters squared: what typesetting them costs


def page(document: Document, root: Path, own: Collection[str] = ()) -> str:
    """The page as text; certificates and figures are read below `root`, rows whose ids are in `own` are believed."""
    from fedaudit.verify.recheck import recheck

    from . import svg, tightness

    checked = recheck(document, root, own)
    album = Album(root)
    known = {row.id for row in document.statements}
    rows = [_shown(row, album, known) for row in checked]
    counted = Counter(str(row["verdict"]) for row in rows)
    filed = {row.verdict for row in checked if row.standing.kind == "filed"}
    loader = PackageLoader("fedaudit.figures")
    environment = Environment(
        loader=loader,
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(math=Typesetter().math, short=short, anchor=anchor)
    script, style = (loader.get_source(environment, name)[0] for name in ("page.js", "page.css"))
    return environment.get_template("index.html").render(
        document=document,
        rows=rows,
        banner=banner(checked),
        doubtful=any(_doubtful(row) for row in checked),
        counted=[(verdict, counted[verdict], verdict in filed) for verdict in MEANING if counted[verdict]],
        meaning=MEANING,
        papers=sorted({str(row["paper"]) for row in rows}),
        overview=data_uri(svg(tightness.plot([_dot(row) for row in checked])).encode()),
        script=Markup(script),
        style=Markup(style),
        policy=f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
    )


def short(value: object) -> str:
    """A number as people read it; other values as they are; nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return numbers.short(value)
    return "" if value is None else str(value)


def anchor(identifier: str) -> str:
    """An id that a link can carry."""
    return "s-" + slug(identifier)


def data_uri(picture: bytes) -> str:
    """An SVG inside the page. As an image it can neither run scripts nor clash with another figure's ids."""
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


def digest(text: str) -> str:
    """A script or style sheet as the page's policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def banner(rows: Sequence[Checked]) -> str:
    """What the verdicts on a page rest on that was not computed just now; nothing where all was."""
    filed = [row for row in rows if row.standing.kind != "own"]
    if not filed:
        return ""
    kinds = Counter(row.standing.kind for row in filed)
    source = "Read from audit.json" if len(filed) == len(rows) else f"{len(filed)} of {len(rows)} rows read from files"
    accepted = kinds["replayed"] + kinds["uncompared"]
    said = [f"{accepted} {'refutation' if accepted == 1 else 'refutations'} replayed and accepted"]
    if kinds["uncompared"]:
        said[0] += f" ({kinds['uncompared']} of claims that no catalogue holds)"
    if kinds["unverified"]:
        said.append(f"{kinds['unverified']} not verified")
    readings = Counter(tried.standing.kind for row in filed for tried in row.literals)
    if breaks := readings["replayed"] + readings["uncompared"] + readings["unverified"]:
        said.append(f"{breaks - readings['unverified']} of {breaks} broken literal readings replayed and accepted")
    end = "Other verdicts, numbers, words and figures are what the file says; they were not checked again."
    return f"{source}: {', '.join(said)}. {end}"


class Typesetter:
    """Formulas of one page, within a limit: a file full of long ones must not cost hours."""

    def __init__(self) -> None:
        self.left = FORMULAS

    def math(self, latex: str, display: str = "inline") -> Markup:
        self.left -= len(latex) ** 2
        return mathml(latex, display) if self.left > 0 else Markup("<code>{}</code>").format(latex)


class Album:
    """Figures below a folder, each of bounded size and all of them together."""

    def __init__(self, root: Path) -> None:
        self.root, self.left = root, FIGURES

    def picture(self, name: str) -> tuple[str | None, str]:
        """The figure for an image's address, or None and why."""
        try:
            data = inside(self.root, name, min(FIGURE, self.left))
        except Unreadable as error:
            return None, str(error)
        self.left -= len(data)
        return data_uri(data), ""


MARKS = {
    "own": ("", ""),
    "filed": ("not rechecked", "As the file says; this verdict was not checked again."),
    "replayed": ("replayed", "Replayed: the exact kernel accepts its certificate, and the claim is the catalogue's."),
    "uncompared": (
        "replayed, claim not compared",
        "Replayed by the exact kernel alone: the claim was not compared with any catalogue.",
    ),
    "unverified": ("", "The file says refuted. Unverified:"),
}


def _doubtful(row: Checked) -> bool:
    standings = [row.standing, *row.moves.values(), *row.counterexamples.values(), *(t.standing for t in row.literals)]
    return any(standing.kind == "unverified" for standing in standings)


def _dot(checked: Checked) -> dict[str, Any]:
    """A row for the overview, where a dollar sign would start a formula and a long id leave no room."""
    row = checked.row
    label = row.id if len(row.id) <= 50 else row.id[:49] + "…"
    value = row.tightness
    if value is not None:
        value = 0.0 if abs(value) < 1 / DRAWABLE else max(-DRAWABLE, min(DRAWABLE, value))
    return {"id": label.replace("$", r"\$"), "verdict": checked.verdict, "tightness": value}


def _shown(checked: Checked, album: Album, known: Collection[str]) -> dict[str, Any]:
    """A row as the template reads it."""
    row, standing = checked.row, checked.standing
    picture, missing = album.picture(row.figure) if row.figure else (None, "")
    mark, says = MARKS[standing.kind]
    return {
        "id": row.id,
        "paper": row.id.partition("/")[0],
        "verdict": checked.verdict,
        "filed": standing.kind == "filed",
        "mark": mark,
        "says": f"{says} {standing.reason}.".strip(" .") + "." if says else "",
        "row": row,
        "statement": row.statement,
        "other_text": checked.other_text,
        "repaired": row.repaired,
        "linked": row.repaired in known,
        "steps": _numbered(row.derive.steps if row.derive else ()),
        "moves": [_move(name, checked) for name in checked.moves],
        "literals": [
            (literal.tried, literal.standing, MARKS[literal.standing.kind][0]) for literal in checked.literals
        ],
        "breaks": _breaks(checked),
        "picture": picture,
        "missing": missing,
        "certificate": _sides(standing.certificate) if row.verdict == "refuted" else None,
    }


def _move(name: str, checked: Checked) -> dict[str, Any]:
    move, standing = getattr(checked.row, name), checked.moves[name]
    unverified = standing.kind == "unverified"
    mark = "" if standing.kind in ("own", "filed") else standing.reason if unverified else MARKS[standing.kind][0]
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


def _sides(certificate: Mapping[str, Any] | None) -> dict[str, Any] | None:
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
    seen: dict[str, str] = {}
    numbered: list[Step] = []
    for number, step in enumerate(steps, 1):
        numbered.append(replace(step, because=tuple(seen.get(reason, reason) for reason in step.because)))
        seen.setdefault(step.claim, f"step {number}")
    return numbered
