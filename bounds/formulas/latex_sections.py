"""Statements as sections of a LaTeX document: formulas as `show` has them, words from the catalogue.

A long relation is broken before the terms of its right-hand side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sympy import Symbol

from ..language.statement import Assumption, Glossary, Statement
from .formula import Form, addends, form_of
from .latex_document import escaped
from .printer import TEX_SIGNS, latex_form
from .statement_text import formulas, used_symbols

__all__ = ["aligned", "section"]

LONGEST = 110  # characters of LaTeX in one line of a display
HEADINGS = {
    "choose": "Choose",
    "when": "When",
    "then": "Then",
    "for all": "For all",
    "where": "Where",
    "limit": "Limit",
    "printed order": "Order, as printed",
}


def section(statement: Statement, verdict: Sequence[str] = ()) -> str:
    """One statement: what is assumed, chosen, claimed and defined, how it was read, and what was found."""
    lines = [
        rf"\subsection*{{{escaped(statement.title)}}}",
        rf"\texttt{{{escaped(statement.id)}}} ({escaped(statement.kind)}; printed: {escaped(statement.cite)})",
    ]
    lines += _items("Let", map(_said, statement.let))
    lines += _items("Used by the proof, not said", map(_said, statement.implicit))
    shown = dict(formulas(statement, as_latex=True))
    for name, heading in HEADINGS.items():
        if shown[name]:
            rows = _broken(statement, shown[name]) if name == "then" else shown[name]
            lines += [rf"\textbf{{{heading}}}", *map(_display, rows)]
    lines += _items("Follows from", (rf"\texttt{{{escaped(c)}}}" for c in _cited(statement)))
    lines += _items("Reading", map(escaped, statement.reading))
    lines += _items("What the repair changes", map(escaped, filter(None, [statement.repairs])))
    lines += _items("Quoted", map(escaped, filter(None, [statement.quoted])))
    lines += _items("Verdict", map(escaped, verdict))
    symbols = {s: e for s, e in used_symbols(statement) if e.meaning}
    lines += _items("Symbols", (f"${_named(s, statement)}$: {escaped(e.meaning)}" for s, e in symbols.items()))
    return "\n\n".join(lines)


def _named(symbol: Any, statement: Statement) -> str:
    """A symbol; of a quantity its template without indices."""
    template = statement.glossary[symbol].latex
    if "{0}" in template:
        return template.format(*(r"\cdot" for _ in range(9)))
    return template or latex_form(Symbol(str(symbol)), statement.glossary)


def _said(assumption: Assumption) -> str:
    cite = f" [{escaped(assumption.cite)}]" if assumption.cite else ""
    return f"{escaped(assumption.name)}: {escaped(assumption.says)}{cite}"


def _cited(statement: Statement) -> Mapping[str, None]:
    return dict.fromkeys(cited for way in statement.follows_from for cited in way.cites)


def _items(heading: str, items: Iterable[str]) -> list[str]:
    rows = [rf"\item {item}" for item in items]
    return [rf"\textbf{{{heading}}}", "\n".join([r"\begin{itemize}", *rows, r"\end{itemize}"])] if rows else []


def _display(formula: str) -> str:
    return f"\\[\n{formula}\n\\]"


def _broken(statement: Statement, lines: Sequence[str]) -> list[str]:
    """Relations, long ones over several lines."""
    forms = map(form_of, statement.relations)
    plain = statement.method not in ("order", "network_limit")
    return [
        aligned(form, statement.glossary) if plain and len(line) > LONGEST else line
        for form, line in zip(forms, lines, strict=True)
    ]


def aligned(form: Form, glossary: Glossary) -> str:
    """A relation over several lines, broken before terms of its right-hand side."""
    left, right = form.args
    first, *rest = _terms(right, glossary)
    rows = [f"{latex_form(left, glossary)} &{TEX_SIGNS.get(form.op, form.op)} {first}", *rest]
    return (
        "\\begin{aligned}\n" + " \\\\\n".join([rows[0], *(f"&\\quad {row}" for row in rows[1:])]) + "\n\\end{aligned}"
    )


def _terms(form: Form, glossary: Glossary) -> list[str]:
    """The terms of a sum, each with its sign, several to a line while they are short."""
    said: list[str] = []
    for plus, term in addends(form):
        one = latex_form(term, glossary)
        one = one if term.op != "neg" or not said else rf"\left({one}\right)"
        sign = ("" if plus else "- ") if not said else "+ " if plus else "- "
        if said and len(said[-1]) + len(one) < LONGEST:
            said[-1] += f" {sign}{one}"
        else:
            said.append(sign + one)
    return said
