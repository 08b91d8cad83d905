"""Statements as LaTeX: each in an environment of its kind with the paper's number, and one table of symbols.

Formulas are as `show` has them, words from the catalogue. A long relation is broken before the terms of its right-hand
side, and pages may be broken there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sympy import Basic, Symbol

from ..language.statement import Assumption, Statement
from .latex_document import ENVIRONMENTS, escaped, prose
from .printer import latex_form
from .statement_text import formulas, used_symbols

__all__ = ["CHAPTERS", "LONGEST", "aligned", "broken", "chapter", "section", "symbol_table"]

LONGEST = 110  # characters of LaTeX in one line of a display
BREAKS = (" + ", " - ", " = ", r" \leq ", r" \geq ", " < ", " > ")
TOKEN = re.compile(r"(\\left(?![a-z])|\\right(?![a-z])|\\[{}]|[{}]| [+\-=<>] | \\[lg]eq )")
HEADINGS = {
    "choose": "Choose",
    "when": "When",
    "then": "Then",
    "for all": "For all",
    "where": "where",
    "limit": "Limit",
    "printed order": "Order, as printed",
}
# A label's kind and its number: `thm4.1-II` is theorem 4.1-II, `thm4.5-sgd` a claim about theorem 4.5.
LABEL = re.compile(r"([a-z]+)([A-Z]?\.?\d+(?:\.\d+)*[a-z]?)(-(?:I+|[a-z]|lower|upper))?")
CHAPTERS = {
    "Theorems, corollaries and propositions": ("theorem", "corollary", "proposition"),
    "Lemmas": ("lemma",),
    "Displays, remarks and other claims": (),
    "Observations": ("observation",),
}


def section(statement: Statement, verdict: Sequence[str] = (), *, symbols: bool = True, found: str = "") -> str:
    """One statement: what is assumed, chosen, claimed and defined, how it was read, and what was found.

    `symbols`: with a table of its own symbols; `found`: a word for the table of contents.
    """
    kind, number = _called(statement)
    listed = f"{prose(statement.title)}{f' ({escaped(found)})' if found else ''}"
    lines = [
        rf"\subsection[{listed}]{{{prose(statement.title)}}}",
        rf"\texttt{{{escaped(statement.id)}}} ({escaped(statement.kind)}; printed: {prose(statement.cite)})",
        # the number is the paper's
        rf"\renewcommand{{\the{kind}}}{{{escaped(number)}}}",
        rf"\begin{{{kind}}}[{prose(statement.title)}]",
    ]
    lines += _items("Let", map(_said, statement.let))
    shown = dict(formulas(statement, as_latex=True))
    for name, heading in HEADINGS.items():
        if shown[name]:
            lines += [heading, *map(_display, shown[name])]
    lines.append(rf"\end{{{kind}}}")
    lines += _items("Used by the proof, not said", map(_said, statement.implicit))
    lines += _items("Follows from", (rf"\texttt{{{escaped(c)}}}" for c in _cited(statement)))
    lines += _items("Reading", map(prose, statement.reading))
    lines += _items("What the repair changes", map(prose, filter(None, [statement.repairs])))
    lines += _items("Quoted", map(prose, filter(None, [statement.quoted])))
    lines += _items("Verdict", map(prose, verdict))
    lines += [symbol_table([statement])] if symbols else []
    return "\n\n".join(line for line in lines if line)


def chapter(statement: Statement) -> str:
    """The heading under which a document of many statements has this one."""
    kind, _ = _called(statement)
    return next((name for name, kinds in CHAPTERS.items() if kind in kinds), list(CHAPTERS)[2])


def _called(statement: Statement) -> tuple[str, str]:
    """The environment of a statement and its number in the paper, if its label has one."""
    if statement.kind == "experiment":
        return "observation", ""
    label = LABEL.fullmatch(statement.id.partition("/")[2].partition("~")[0])
    if label is None or label[1] not in ENVIRONMENTS:
        return "claim", ""
    return ENVIRONMENTS[label[1]], label[2] + (label[3] or "")


def symbol_table(statements: Iterable[Statement]) -> str:
    """Every symbol that these statements use, once, in the order of the glossaries."""
    meant: dict[tuple[str, str], None] = {}
    for statement in statements:
        used = [(s, e) for s, e in used_symbols(statement) if e.meaning]
        meant |= {(_named(s, statement), entry.meaning): None for s, entry in used}
    rows = [rf"${symbol}$ & {prose(meaning)} \\" for symbol, meaning in meant]
    if not rows:
        return ""
    table = ["\\subsection*{Symbols}", r"\begin{longtable}{@{}lp{0.6\textwidth}@{}}", *rows, r"\end{longtable}"]
    return "\n".join(table)


def _named(symbol: Basic, statement: Statement) -> str:
    """A symbol as LaTeX; a quantity as its template, with dots for the indices."""
    template = statement.glossary[symbol].latex
    if "{0}" in template:
        # No template has more indices than nine, and `format` ignores the dots that are left.
        return template.format(*(r"\cdot" for _ in range(9)))
    return template or latex_form(Symbol(str(symbol)), statement.glossary)


def _said(assumption: Assumption) -> str:
    cite = f" [{prose(assumption.cite)}]" if assumption.cite else ""
    return f"{prose(assumption.says)}{cite}"


def _cited(statement: Statement) -> Mapping[str, None]:
    return dict.fromkeys(cited for way in statement.follows_from for cited in way.cites)


def _items(heading: str, items: Iterable[str]) -> list[str]:
    rows = [rf"\item {item}" for item in items]
    return [rf"\textbf{{{heading}}}", "\n".join([r"\begin{itemize}", *rows, r"\end{itemize}"])] if rows else []


def _display(formula: str) -> str:
    """A formula on lines of its own, between which a page may end."""
    return (
        f"\\[\n{formula}\n\\]" if len(formula) <= LONGEST else f"\\begin{{align*}}\n{_rows(formula)}\n\\end{{align*}}"
    )


def aligned(formula: str) -> str:
    """A long formula over several lines, as a part of a display."""
    return f"\\begin{{aligned}}\n{_rows(formula)}\n\\end{{aligned}}"


def _rows(formula: str) -> str:
    first, *rest = broken(formula)
    return " \\\\\n".join([f"&{first}", *(f"&\\quad {row}" for row in rest)])


def broken(formula: str) -> list[str]:
    """LaTeX of a formula as rows that are not much longer than `LONGEST`, each but the first beginning with a sign.

    It is broken at relations and between terms, also of a sum in brackets, whose height is then fixed: between \\left
    and \\right nothing can be broken.
    """
    tokens = TOKEN.split(formula)
    braces, opened, spanned = 0, list[int](), set[int]()
    rows, row = list[list[int]](), list[int]()
    for n, token in enumerate(tokens):
        if token in BREAKS and braces == 0 and len(opened) <= 1 and _length(tokens, row) + _ahead(tokens, n) > LONGEST:
            rows, row = [*rows, row], []
            spanned.update(opened)
        row.append(n)
        braces += {"{": 1, "}": -1}.get(token, 0)
        if token == r"\left":
            opened.append(n)
        elif token == r"\right":
            begun = opened.pop()
            spanned |= {n} if begun in spanned else set()
    for n in spanned:
        tokens[n] = r"\Bigl" if tokens[n] == r"\left" else r"\Bigr"
    return ["".join(tokens[n] for n in each).strip() for each in (*rows, row)]


def _length(tokens: Sequence[str], places: Sequence[int]) -> int:
    return sum(len(tokens[n]) for n in places)


def _ahead(tokens: Sequence[str], n: int) -> int:
    """How long the term after this sign is, up to the next sign or bracket."""
    length = 0
    for token in tokens[n + 1 :]:
        if token in BREAKS or token in (r"\left", r"\right"):
            break
        length += len(token)
    return length
