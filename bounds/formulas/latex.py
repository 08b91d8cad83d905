"""Formulas as LaTeX in the paper's symbols."""

# sympy ships no type stubs, and few of its methods are annotated (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

from sympy import Basic
from sympy.printing.latex import LatexPrinter

from ..language.statement import Glossary


class PaperLatex(LatexPrinter):
    """LaTeX in the paper's symbols: names and index templates come from the glossary."""

    def __init__(self, glossary: Glossary) -> None:
        super().__init__({"mul_symbol": None, "fold_short_frac": False})
        self._glossary = glossary

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        entry = self._glossary.get(expr)
        return entry.latex if entry and entry.latex else super()._print_Symbol(expr, style)

    def _print_Function(self, expr: Any, exp: Any = None) -> str:
        entry = self._glossary.get(expr.func)
        if entry is None or not entry.latex:
            return super()._print_Function(expr, exp)
        try:
            body = entry.latex.format(*(self._print(a) for a in expr.args))
        except IndexError:  # a proof's own function that shares a quantity's name
            return super()._print_Function(expr, exp)
        if exp is None:
            return body
        return f"{body}^{{{exp}}}" if "^" not in body and " " not in body else f"\\left({body}\\right)^{{{exp}}}"

    def _print_Indexed(self, expr: Any) -> str:
        return f"{expr.base.label}_{{{','.join(self._print(j) for j in expr.indices)}}}"


def latex(expr: Basic, glossary: Glossary) -> str:
    """LaTeX of an expression in the paper's symbols."""
    return PaperLatex(glossary).doprint(expr)
