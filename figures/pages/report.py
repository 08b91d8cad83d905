"""An audit for a browser: index.html, and a page for each statement in `pages/`. They fetch nothing, and run nothing
but the index's own script.

audit.json, certificates and figures may come from a stranger. Text is escaped, formulas are written from a list of
MathML, the policy admits one script and one style sheet by their digests, and a verdict that was read from a file is
shown with what stands behind it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from fedaudit.verify.certify.standing import Checked, recheck
from fedaudit.verify.results.audit_json import Document, Row
from fedaudit.verify.results.file_names import is_calibration, is_printed, slug

from ..kinds.proof_tree import Cited, nodes_of, proof_tree
from ..kinds.proof_tree import below as rests_on
from ..words.findings import CHANGES, Teller
from ..words.letters import pretty
from ..words.numbers import rounded, tightness
from ..words.proof_sentences import pieces
from ..words.typesetter import Typesetter
from .page_text import begun, digest, scale, short
from .paper_cards import cards, is_theorem, weight
from .papers import paper, paper_of, stem
from .row_view import Album, listed, shown
from .verdict_words import MEANING, SIGNS, banner, doubtful, trusting

__all__ = ["INDEX", "Site", "cited_by", "file_of", "file_of_paper", "pages"]

INDEX = "index.html"


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
class IndexLine:
    """A row of the index: what it shows, and its markup."""

    checked: Checked
    row: Mapping[str, object]
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
        self.nodes: Mapping[str, Cited] = {}  # of all statements, once all rows are known: what rests on what
        self.lines: dict[str, IndexLine] = {}  # of the index, by id
        loader = PackageLoader("fedaudit.figures")
        self.environment = Environment(
            loader=loader,
            autoescape=select_autoescape(),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        filters: dict[str, Callable[..., object]] = {
            "math": self.typesetter.math,
            "short": short,
            "scale": scale,
            "rounded": rounded,
            "tightness": tightness,
            "page": _quoted_page,
        }
        filters |= {
            "paper_page": _quoted_paper,
            "pretty": pretty,
            "begun": begun,
            "pieces": pieces,
            "sign": SIGNS.__getitem__,
            "anchor": slug,
        }
        self.environment.filters.update(filters)
        self._set_line: Callable[[Mapping[str, object]], Markup] = vars(
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
        lines = sorted(
            (self._line(row) for row in checked), key=lambda line: weight(line.checked.row.id, line.checked.verdict)
        )
        rows = [line.row for line in lines]
        own = [row for row in rows if not is_calibration(str(row["paper"]))] or rows
        printed = [row for row in own if is_printed(str(row["id"]))] or own
        counted = Counter(str(row["verdict"]) for row in printed)
        every = Counter(str(row["verdict"]) for row in rows)
        filed = {row.verdict for row in checked if row.standing.kind == "filed"}
        return self.environment.get_template("index.html").render(
            document=document,
            rows=rows,
            lines=Markup("").join(line.markup for line in lines),
            expected=len(self.known),
            banner=banner(checked),
            doubtful=any(doubtful(row) for row in checked),
            counted=[(verdict, counted[verdict], verdict in filed) for verdict in MEANING if counted[verdict]],
            verdicts=[verdict for verdict in MEANING if every[verdict]],
            meaning={**MEANING, "proved": MEANING["proved"] + trusting(printed)},
            printed=len(printed),
            siblings=len(own) - len(printed),
            calibration=len(rows) - len(own),
            fallen=[row for row in printed if row["verdict"] == "refuted" and is_theorem(str(row["id"]))],
            papers=_papers(rows),
            written=finished,
            repairs=[change for change in CHANGES if any(row["repair"] == change for row in rows)],
            cards=cards(rows, MEANING),
            script=Markup(self.script),
            style=Markup(self.style),
            policy=self.policy["index"],
        )

    def _line(self, checked: Checked) -> IndexLine:
        """A row of the index, set once: an index of what is finished is written again and again."""
        line = self.lines.get(checked.row.id)
        if line is None or line.checked is not checked:
            row = listed(checked)
            line = IndexLine(checked, row, self._set_line(row))
            self.lines[checked.row.id] = line
        return line

    def statement(self, checked: Checked, citing: Sequence[str] = ()) -> str:
        """One statement: what it says, what became of it, and the way to the statements that it has to do with."""
        return self.environment.get_template("statement.html").render(
            row=shown(checked, self.album, self.teller),
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
            rows={row.row.id: listed(row) for row in rows},
            **paper(rows, self.teller, self.typesetter),
            all_counted=Counter(row.verdict for row in rows),
            filed={row.verdict for row in rows if row.standing.kind == "filed"},
            banner=banner(rows),
            doubtful=any(doubtful(row) for row in rows),
            meaning=MEANING,
            known=self.known,
            style=Markup(self.style),
            policy=self.policy["statement"],
        )

    def around(self, row: Row, citing: Sequence[str]) -> dict[str, object]:
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


def _quoted_page(identifier: str) -> str:
    """The page of a statement as a link from the index carries it."""
    return quote(file_of(identifier))


def _quoted_paper(name: str) -> str:
    return quote(file_of_paper(name))


def _papers(rows: Sequence[Mapping[str, object]]) -> list[str]:
    return sorted({str(row["paper"]) for row in rows})
