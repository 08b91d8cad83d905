"""An audit for a browser: index.html, and a page for each statement in `pages/`. They fetch nothing, and run nothing
but the index's own script.

audit.json, certificates and figures may come from a stranger. Text is escaped, formulas are written from a list of
MathML, the policy admits one script and one style sheet by their digests, and a verdict that was read from a file is
shown with what stands behind it.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from fedaudit.verify.pictures.worst_marks import NOTHING
from fedaudit.verify.results.audit_json import Document, Ends, Move, Row, Step, Unreadable, inside
from fedaudit.verify.results.file_names import lines_trusted, slug
from fedaudit.verify.results.tried_sizes import Size

from ..kinds.proof_tree import Node, nodes_of, proof_tree
from ..kinds.proof_tree import below as rests_on
from ..words import numbers
from ..words.findings import CHANGES, Teller
from ..words.letters import Letters, pretty
from ..words.ordinary_points import brief, lead
from ..words.sizes import letters, line
from ..words.typesetter import Typesetter
from .papers import paper, paper_of, stem

if TYPE_CHECKING:
    from fedaudit.verify.certify.standing import Checked

__all__ = ["INDEX", "Site", "cited_by", "file_of", "file_of_paper", "pages"]

INDEX = "index.html"

MEANING = {
    "refuted": "an admissible counterexample that the exact kernel accepts",
    "unverified": "the file says refuted or proved, and no certificate of it holds here",
    "proved": "the exact kernel accepts a proof, for all parameters",
    "survived": "attacked and not broken; it proves nothing",
    "undecided": "none of these, and the row says why",
    "reproduced": "the observed claim was seen again",
    "reproduced-if": "the observed claim was seen again only under readings that were settled after looking",
    "not-reproduced": "the observed claim was not seen again",
}
SIGNS = {  # of verdicts, for eyes that tell colours badly
    "refuted": "✗",
    "unverified": "!",
    "proved": "✓",
    "survived": "○",
    "undecided": "?",
    "reproduced": "✓",
    "reproduced-if": "≈",
    "not-reproduced": "✗",
}
FIGURE, FIGURES = 8_000_000, 300_000_000  # bytes of a picture, and of all of them
LOW, HIGH, WIDTH = 1e-3, 1e1, 80  # the scale of tightness beside each number, and its width
SIZES = 12  # of a table of sizes that is open


def file_of(identifier: str) -> str:
    """The page of a statement, below the folder of the audit."""
    return f"pages/{slug(identifier)}.html"


def file_of_paper(name: str) -> str:
    """The page of a paper."""
    return f"papers/{slug(f'paper/{name}')}.html"


def cited_by(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """Id -> the rows whose derivations cite it, in their order."""
    citing: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for name in row.derive.cites if row.derive else ():
            citing[name] = (*citing.get(name, ()), row.id)
    return citing


def pages(document: Document, root: Path, own: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """All pages by their names, the index last.

    Certificates and figures are read below `root`, rows whose ids are in `own` are believed.
    """
    from fedaudit.verify.certify.standing import recheck

    checked = recheck(document, root, own)
    site = Site(root, [row.id for row in document.statements])
    citing = cited_by(document.statements)
    site.nodes = nodes_of((row.row, row.verdict) for row in checked)
    for row in checked:
        yield file_of(row.row.id), site.statement(row, citing.get(row.row.id, ()))
    for name in site.papers:
        yield file_of_paper(name), site.paper([row for row in checked if paper_of(row.row.id) == name])
    yield INDEX, site.index(document, checked, finished=True)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A row of the index: what it shows, and its markup."""

    checked: Checked
    row: Mapping[str, Any]
    markup: Markup


class Site:
    """The pages of one audit, of the statements `known`."""

    def __init__(self, root: Path, known: Sequence[str]) -> None:
        self.known, self.album = {name: number for number, name in enumerate(known)}, Album(root)
        self.order = tuple(known)
        self.papers = tuple(dict.fromkeys(map(paper_of, known)))
        self.siblings: dict[str, list[str]] = {}  # by what their ids have in common
        for name in known:
            self.siblings.setdefault(stem(name), []).append(name)
        self.teller, self.typesetter = Teller(), Typesetter()
        self.nodes: Mapping[str, Node] = {}  # of all statements, once all rows are known: what rests on what
        self.lines: dict[str, Line] = {}  # of the index, by id
        loader = PackageLoader("fedaudit.figures")
        self.environment = Environment(
            loader=loader,
            autoescape=select_autoescape(),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters: dict[str, Any] = {"math": self.typesetter.math, "short": short, "scale": scale, "page": _quoted_page}
        filters |= {
            "paper_page": _quoted_paper,
            "pretty": pretty,
            "begun": begun,
            "sign": SIGNS.__getitem__,
            "anchor": slug,
        }
        self.environment.filters.update(filters)
        self._set_line: Callable[[Mapping[str, Any]], Markup] = vars(
            self.environment.get_template("parts.html").module
        )["line"]
        self.script, self.style = (loader.get_source(self.environment, name)[0] for name in ("page.js", "page.css"))
        templates = [
            loader.get_source(self.environment, name)[0] for name in ("statement.html", "paper.html", "parts.html")
        ]
        self.look = hashlib.sha256("".join([self.style, *templates]).encode()).hexdigest()  # of a page below the index
        common = f"default-src 'none'; style-src {digest(self.style)}; base-uri 'none'; form-action 'none'"
        self.policy = {"index": f"{common}; script-src {digest(self.script)}", "statement": f"{common}; img-src data:"}

    def index(self, document: Document, checked: Sequence[Checked], *, finished: bool = False) -> str:
        """The table of verdicts; of an audit that is under way, of what is finished. Papers have pages at the end."""
        lines = [self._line(row) for row in checked]
        rows = [line.row for line in lines]
        counted = Counter(str(row["verdict"]) for row in rows)
        filed = {row.verdict for row in checked if row.standing.kind == "filed"}
        return self.environment.get_template("index.html").render(
            document=document,
            rows=rows,
            lines=Markup("").join(line.markup for line in lines),
            expected=len(self.known),
            banner=banner(checked),
            doubtful=any(_doubtful(row) for row in checked),
            counted=[(verdict, counted[verdict], verdict in filed) for verdict in MEANING if counted[verdict]],
            meaning={**MEANING, "proved": MEANING["proved"] + _trusting(rows)},
            papers=_papers(rows),
            written=finished,
            repairs=[change for change in CHANGES if any(row["repair"] == change for row in rows)],
            by_paper=_by_paper(rows),
            script=Markup(self.script),
            style=Markup(self.style),
            policy=self.policy["index"],
        )

    def _line(self, checked: Checked) -> Line:
        """A row of the index, set once: an index of what is finished is written again and again."""
        line = self.lines.get(checked.row.id)
        if line is None or line.checked is not checked:
            row = _listed(checked)
            line = Line(checked, row, self._set_line(row))
            self.lines[checked.row.id] = line
        return line

    def statement(self, checked: Checked, citing: Sequence[str] = ()) -> str:
        """One statement: what it says, what became of it, and the way to the statements that it has to do with."""
        return self.environment.get_template("statement.html").render(
            row=_shown(checked, self.album, self.teller),
            around=self.around(checked.row, citing),
            tree=proof_tree(checked.row.id, self.nodes),
            known=self.known,
            style=Markup(self.style),
            policy=self.policy["statement"],
        )

    def paper(self, rows: Sequence[Checked]) -> str:
        """One paper: what stands, what fell and what its repair has to change, what its proofs need."""
        return self.environment.get_template("paper.html").render(
            name=paper_of(rows[0].row.id),
            papers=self.papers,
            rows={row.row.id: _listed(row) for row in rows},
            **paper(rows, self.teller, self.typesetter),
            all_counted=Counter(row.verdict for row in rows),
            filed={row.verdict for row in rows if row.standing.kind == "filed"},
            banner=banner(rows),
            doubtful=any(_doubtful(row) for row in rows),
            meaning=MEANING,
            known=self.known,
            style=Markup(self.style),
            policy=self.policy["statement"],
        )

    def around(self, row: Row, citing: Sequence[str]) -> dict[str, Any]:
        """The statements that a page leads to: neighbours, siblings, what it cites and what cites it."""
        at = self.known.get(row.id, 0)
        tree = rests_on(row.id, self.nodes)  # itself first
        return {
            "before": self.order[at - 1] if at > 0 else None,
            "after": self.order[at + 1] if at + 1 < len(self.order) else None,
            "siblings": [name for name in self.siblings.get(stem(row.id), ()) if name != row.id],
            "cites": list(row.derive.cites if row.derive else ()),
            "cited by": list(citing),
            "rests on": [astuple(self.nodes[name]) for name in tree] if len(tree) > 1 else [],
        }


def scale(tightness: float | None) -> float | None:
    """Where a tightness lies on its scale, from the left; None where a logarithmic scale has no place for it."""
    if tightness is None or tightness <= 0:
        return None
    share = math.log(min(max(tightness, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return round(4 + share * (WIDTH - 8), 1)


def _quoted_page(identifier: str) -> str:
    """The page of a statement as a link from the index carries it."""
    return quote(file_of(identifier))


def begun(text: str) -> str:
    """As the first words of a line: names inside it keep their letters."""
    return text[:1].upper() + text[1:]


def _quoted_paper(name: str) -> str:
    return quote(file_of_paper(name))


def short(value: object) -> str:
    """A number as people read it; other values as they are; nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return numbers.short(value)
    return "" if value is None else str(value)


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
    proofs = sum(row.row.verdict == "proved" and row.standing.kind == "replayed" for row in filed)
    accepted = kinds["replayed"] + kinds["uncompared"] - proofs
    said = [f"{accepted} {'refutation' if accepted == 1 else 'refutations'} replayed and accepted"]
    if kinds["uncompared"]:
        said[0] += f" ({kinds['uncompared']} of claims that no catalogue holds)"
    if proofs:
        said.append(f"{proofs} {'proof' if proofs == 1 else 'proofs'} checked and accepted")
    if kinds["unverified"]:
        said.append(f"{kinds['unverified']} not verified")
    readings = Counter(tried.standing.kind for row in filed for tried in row.literals)
    if breaks := readings["replayed"] + readings["uncompared"] + readings["unverified"]:
        said.append(f"{breaks - readings['unverified']} of {breaks} broken literal readings replayed and accepted")
    end = "Other verdicts, numbers, words and figures are what the file says; they were not checked again."
    return f"{source}: {', '.join(said)}. {end}"


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
    "replayed": (
        "replayed",
        "Replayed: the exact kernel accepts its certificate, and the claim is the catalogue's.",
    ),
    "uncompared": (
        "replayed, claim not compared",
        "Replayed by the exact kernel alone: the claim was not compared with any catalogue.",
    ),
    "unverified": ("", "The file says {}. Unverified:"),
}


def _doubtful(row: Checked) -> bool:
    standings = [row.standing, *row.moves.values(), *row.counterexamples.values(), *(t.standing for t in row.literals)]
    return any(standing.kind == "unverified" for standing in standings)


def _listed(checked: Checked) -> dict[str, Any]:
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
        "repair": _repair(checked),
    }


def _trusting(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many of the proved rows take lines on z3's word."""
    count = sum(bool(row["trusting"]) for row in rows)
    return f"; {count} of them trusting z3 for some lines" if count else ""


def _repair(checked: Checked) -> str:
    """What a repair changes; of a reading without one of its own nothing: what repairs the print may repair it too."""
    row = checked.row
    if checked.verdict != "refuted" or row.repair not in ("", "none known"):
        return row.repair if checked.verdict == "refuted" else ""
    return "" if "~" in row.id else "none known"


def _ordinary(checked: Checked) -> str:
    """How much the statement promises at an ordinary point; of a file that is not ours, as the file says."""
    said = brief(checked.row.hunt.worst, _broken(checked)) if checked.row.hunt else ""
    return said if not said or checked.standing.kind == "own" else f"{said} (not rechecked)"


def _by_paper(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[tuple[str, int]]]]:
    """How many statements of each paper have each verdict."""
    counted = {name: Counter(row["verdict"] for row in rows if row["paper"] == name) for name in _papers(rows)}
    return [(name, [(verdict, by[verdict]) for verdict in MEANING if by[verdict]]) for name, by in counted.items()]


def _papers(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({str(row["paper"]) for row in rows})


def _shown(checked: Checked, album: Album, teller: Teller) -> dict[str, Any]:
    """A row as the page of its statement shows it."""
    row, standing = checked.row, checked.standing
    picture, missing = album.picture(row.figure) if row.figure else (None, "")
    says = MARKS[standing.kind][1].format(row.verdict)
    return {
        **_listed(checked),
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
        "missing": missing,
        "certificate": _sides(standing.certificate) if row.verdict == "refuted" else None,
        "story": teller.story(standing.certificate, Letters(row.statement.letters))
        if row.verdict == "refuted"
        else None,
    }


def _move(name: str, checked: Checked) -> dict[str, Any]:
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


def _profile(hunt: Move, broken: bool) -> dict[str, Any]:
    """What the page shows of worst cases: the one to lead with, all of them, and what is missing."""
    exact, met = (
        [_ends(one, broken) for one in hunt.worst if (one.by == "search") == searched] for searched in (False, True)
    )
    said = lead(hunt.worst, broken)
    return {"lead": said, "exact": exact, "met": met, "left_out": hunt.left_out, "why": hunt.out_of_reach}


def _ends(one: Ends, broken: bool) -> dict[str, Any]:
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


def _sizes(sizes: Sequence[Size]) -> dict[str, Any] | None:
    """What the page shows of the sizes that were tried; nothing where there are none."""
    if not sizes:
        return None
    names = letters(sizes)
    rows = [([dict(size.counts).get(name) for name in names], size) for size in sizes]
    return {"line": line(sizes), "letters": names, "rows": rows, "open": len(sizes) <= SIZES}


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
    numbers_of: dict[str, str] = {}
    numbered: list[Step] = []
    for number, step in enumerate(steps, 1):
        numbered.append(replace(step, because=tuple(numbers_of.get(reason, reason) for reason in step.because)))
        numbers_of.setdefault(step.claim, f"step {number}")
    return numbered
