"""index.html: an audit for a browser, in one file that asks for nothing from anywhere."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from .formulas import mathml

if TYPE_CHECKING:
    from fedaudit.verify.store import Folder

__all__ = ["page", "write_report"]

MEANING = {
    "refuted": "an admissible counterexample that the exact kernel accepts",
    "proved": "decided for all parameters",
    "survived": "attacked and not broken; it proves nothing",
    "undecided": "none of these, and the row says why",
    "reproduced": "the observed claim was seen again",
    "not-reproduced": "the observed claim was not seen again",
}
INSIDE = ("verify", "hunt")  # moves whose numbers stand side by side


def write_report(folder: Folder) -> Path:
    """Write index.html from audit.json and the files that it names; returns its path."""
    from fedaudit.verify.store import write

    path = folder.path / "index.html"
    write(path, page(folder.read(), folder.path))
    return path


def page(document: Mapping[str, Any], root: Path) -> str:
    """The page as text; certificates and figures are read below `root`."""
    from . import svg, tightness

    rows = [_prepared(row, root) for row in document["statements"]]
    counted = Counter(str(row.get("verdict")) for row in rows)
    environment = Environment(
        loader=PackageLoader("fedaudit.figures"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(math=mathml, short=short, anchor=anchor)
    return environment.get_template("index.html").render(
        document=document,
        rows=rows,
        counted=[(verdict, counted[verdict]) for verdict in MEANING if counted[verdict]],
        meaning=MEANING,
        papers=sorted({str(row["id"]).partition("/")[0] for row in rows}),
        overview=data_uri(svg(tightness.plot(rows))),
        moves=INSIDE,
    )


def short(value: object) -> str:
    """A number as people read it; other values as they are; nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        from fedaudit.verify.tables import short as digits

        return digits(value)
    return "" if value is None else str(value)


def anchor(identifier: str) -> str:
    """An id that a link can carry."""
    from fedaudit.verify.store import slug

    return "s-" + slug(identifier)


def data_uri(picture: str) -> str:
    """An SVG inside the page. As an image it can neither run scripts nor clash with another figure's ids."""
    return "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()


def _prepared(row: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """A row with every part that the template shows, and the files that it names."""
    from fedaudit.verify.tables import broken_without

    figure = _file(root, row.get("figure"))
    certificate = _file(root, row.get("certificate"))
    blank: dict[str, Any] = {
        "title": "",
        "kind": "",
        "where": "",
        "let": [],
        "implicit": [],
        "parts": [],
        "reading": [],
    }
    return {
        "verdict": "",
        "evidence": "",
        "tightness": None,
        "reason": "",
        "repaired": None,
        "implicit": [],
        "lint": None,
        **row,
        "statement": {**blank, "repairs": "", **(row.get("statement") or {})},
        "derive": _numbered(row.get("derive")),
        "literal": broken_without(dict(row)),
        "picture": data_uri(figure) if figure else None,
        "certificate_file": row.get("certificate") if certificate else None,
        "held": _certificate(certificate),
    }


def _numbered(derived: dict[str, Any] | None) -> dict[str, Any] | None:
    """A derivation whose steps name earlier ones by number instead of repeating them."""
    if not derived:
        return None
    seen: dict[str, str] = {}
    steps: list[dict[str, Any]] = []
    for number, step in enumerate(cast("list[dict[str, Any]]", derived.get("steps") or []), 1):
        because = cast("list[object]", step.get("because") or [])
        reasons = [seen.get(str(reason), str(reason)) for reason in because]
        steps.append({**step, "because": reasons})
        seen.setdefault(str(step.get("claim")), f"step {number}")
    return {**derived, "steps": steps}


def _file(root: Path, name: object) -> str | None:
    """The text of a file below the audit's folder; never one outside it, whatever audit.json says."""
    if not isinstance(name, str):
        return None
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()) or not path.is_file():
        return None
    return path.read_text(encoding="utf-8", errors="replace")


def _certificate(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        read: object = json.loads(text)
    except ValueError:
        return None
    blank: dict[str, Any] = {"at": {}, "instance": {}, "dropped": [], "lhs": "", "rhs": ""}
    return {**blank, **cast("dict[str, Any]", read)} if isinstance(read, dict) else None
