"""The inequalities of a proof in words, each with its points: "strong convexity of f_i at (w, w*), times 2".

Formulas stand between dollar signs, as LaTeX, so that a page, a terminal and a LaTeX document print one sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fedaudit.bounds.formulas.algorithm_box import CONSTANTS, Printer
from fedaudit.bounds.language.rule_parts import Vector
from fedaudit.bounds.proofs.atom import Atom

__all__ = ["ProofPrinter", "in_words", "vector_words"]

# The index i, alone or in braces, and not the first letter of a longer name.
CLIENT = re.compile(r"(?<=[_^])i(?![A-Za-z])|(?<=[_^]\{)i(?=\})")
OVER = {"one": "", "mean": ", averaged over the clients", "squares": ", summed with the weights $p_i^2$"}


@dataclass(frozen=True, slots=True)
class ProofPrinter(Printer):
    """Vectors of a proof, where a mean often stands inside what is said of a client: its index is another letter."""

    def vector(self, value: object) -> str:
        if not isinstance(value, Vector) or value.op != "mean":
            return Printer.vector(self, value)
        inside = self.factor(value.args[0])
        letter = r"\ell" if re.search(r"[_^{]j", inside) else "j"
        return rf"\sum_{letter} p_{letter} \, " + CLIENT.sub(lambda _: letter, inside)

    def atom(self, atom: tuple[Any, ...], expected: bool) -> str:
        """The expectation of a constant is the constant."""
        return Printer.atom(self, atom, expected and not _is_constant(atom))


def _is_constant(atom: tuple[Any, ...]) -> bool:
    op, *args = atom
    if op == "mean":
        return _is_constant(args[0])
    vectors = [arg for arg in args if isinstance(arg, Vector)]
    return op in CONSTANTS or (bool(args) and len(vectors) == len(args) and all(x.op in CONSTANTS for x in vectors))


def vector_words(x: object, printer: Printer) -> str:
    """A vector between dollar signs."""
    return f"${printer.vector(x)}$"


def in_words(multiplier: object, atom: Atom, printer: Printer) -> str:
    """One inequality that a line rests on: which, where, over which mean, and times what."""
    times = "" if multiplier == 1 else f", times ${printer.scalar(multiplier)}$"
    return f"{atom.said(lambda part: _latex(part, printer))}{OVER.get(atom.over, '')}{times}"


def _latex(part: object, printer: Printer) -> str:
    return printer.vector(part) if isinstance(part, Vector) else printer.scalar(part)
