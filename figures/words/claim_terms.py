"""Terms of a claim as LaTeX: a tree becomes an expression that nobody evaluates, and the one printer writes it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

from sympy import Abs, Add, Basic, Integer, Max, Min, Mul, Pow, Rational, Sum, Symbol, exp, log

from fedaudit.bounds.formulas.formula import form_of
from fedaudit.bounds.formulas.printer import latex_form
from fedaudit.bounds.language.dimension import Dimension
from fedaudit.bounds.language.statement import Entry, Glossary

from .letters import Letters, coefficient

__all__ = ["in_order", "term_latex"]

Tree = Any  # str | int | list[Tree]
HEADS: dict[str, Any] = {
    "+": Add, "*": Mul, "^": Pow, "abs": Abs, "exp": exp, "log": log, "max": Max, "min": Min,
}  # fmt: skip
HALF = "1/2"


def term_latex(tree: Tree, letters: Letters) -> str:
    """A tree of a claim in the letters of its statement."""
    return _Writer(letters).latex(tree)


def in_order(trees: Sequence[Tree]) -> list[int]:
    """The places of terms as people write a sum: what is subtracted last, numbers behind letters."""

    def rank(place: int) -> tuple[bool, bool]:
        parts = cast("list[Tree]", trees[place]) if isinstance(trees[place], list) else []
        first = str(parts[1] if parts and parts[0] == "*" else trees[place])
        return first.startswith("-"), not parts and not _is_name(first)

    return sorted(range(len(trees)), key=rank)


def _is_name(text: str) -> bool:
    return text[:1].isalpha() or text[:1] == "_"


class _Writer:
    """Names and quantities are symbols that the glossary spells as the statement does."""

    def __init__(self, letters: Letters) -> None:
        self.letters, self.glossary = letters, Glossary()
        self.symbols: dict[str, Symbol] = {}  # by their LaTeX

    def latex(self, tree: Tree) -> str:
        return latex_form(form_of(self._expression(tree)), self.glossary)

    def _symbol(self, latex: str) -> Symbol:
        if latex not in self.symbols:  # sympy sorts factors by name: a number in front keeps them as the claim has them
            symbol = self.symbols[latex] = Symbol(f"{len(self.symbols):04} {latex}")
            self.glossary[symbol] = Entry("", Dimension(), latex)
        return self.symbols[latex]

    def _expression(self, tree: Tree) -> Any:
        if not isinstance(tree, list):
            return self._leaf(str(tree))
        head, *args = cast("list[Tree]", tree)
        if head == "at":
            return self._symbol(self.letters.quantity(args[0], [self.latex(index) for index in args[1:]]))
        if head == "sum":
            name, low, high, body = args
            return Sum(self._expression(body), (self._leaf(name), self._expression(low), self._expression(high)))
        if head == "^" and args[1] == HALF and (length := self.letters.length_of(str(args[0]))):
            return self._symbol(length)
        if head not in HEADS:
            return self._symbol(rf"\{head}\left({', '.join(map(self.latex, args))}\right)")
        return HEADS[head](*map(self._expression, args), evaluate=False)

    def _leaf(self, text: str) -> Basic:
        if _is_name(text):
            return self._symbol(self.letters.symbol(text))
        number = Fraction(text)
        short = coefficient(number)
        if "cdot" in short or "." in short:  # its first digits
            return self._symbol(short)
        return Rational(number.numerator, number.denominator) if number.denominator != 1 else Integer(number.numerator)
