"""`fedaudit show`: statements as the paper prints them, as text, as a LaTeX document or as rows."""

from __future__ import annotations

import argparse

from fedaudit.output import JsonObject

__all__ = ["ABOUT", "arguments", "show"]

ABOUT = """\
Terms, factors and fractions stand in the author's order. Letters are Greek where the paper's are; the line of a symbol
names what `fedaudit bound` calls it: μ (mu).
examples:
  fedaudit show buttaci/thm4.1-I                                 one theorem
  fedaudit show 'yuan/thm*' --latex > theorems.tex               a document that compiles
  fedaudit show my_paper.py::li/thm1 --json                      formulas as text, in Python's signs, and as LaTeX
`fedaudit export PAPER --latex` writes a whole paper with its repairs and verdicts.
"""


def arguments(sub: argparse.ArgumentParser, what: str) -> None:
    """Adds the options of `fedaudit show` to its parser."""
    sub.add_argument("selectors", nargs="+", metavar="ID", help=what)
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="a LaTeX document")
    form.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def show(given: argparse.Namespace) -> list[JsonObject] | str:
    """Rows under --json, otherwise the text that is printed."""
    from .listing import shown

    if given.json:
        return shown(given.selectors, "rows")
    if not given.latex:
        return "\n\n".join(shown(given.selectors, "text"))
    from fedaudit.bounds.formulas.latex_document import document

    return document(", ".join(given.selectors), shown(given.selectors, "latex")).rstrip("\n")
