r"""Sentences of a proof: words, formulas between dollar signs, and \eqref{5} for its line 5."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fedaudit.bounds.formulas.latex_document import prose
from fedaudit.bounds.formulas.latex_sections import LONGEST

from .letters import Inline, pretty
from .plain_text import plain

__all__ = ["Reference", "latex_sentence", "pieces", "plain_formula", "plain_sentence"]

PIECE = re.compile(r"\$([^$]*)\$|\\eqref\{([0-9]{1,4})\}")
ROWS = re.compile(r"\\begin\{aligned\}|\\end\{aligned\}|\\quad")


@dataclass(frozen=True, slots=True)
class Reference:
    """A line of the same proof."""

    number: int


def pieces(sentence: str) -> list[str | Inline | Reference]:
    """The parts of a sentence, in their order."""
    parts: list[str | Inline | Reference] = []
    end = 0
    for match in PIECE.finditer(sentence):
        parts += [sentence[end : match.start()]] if match.start() > end else []
        parts.append(Inline(match[1]) if match[1] is not None else Reference(int(match[2])))
        end = match.end()
    return [*parts, sentence[end:]] if end < len(sentence) else parts


def plain_sentence(sentence: str) -> str:
    """A sentence as a terminal shows it."""
    return "".join(
        f"({part.number})"
        if isinstance(part, Reference)
        else pretty(part)
        if isinstance(part, str)
        else f"{plain_formula(part.latex)}"
        for part in pieces(sentence)
    )


def plain_formula(latex: str) -> str:
    """A formula in one line of plain characters, also one that is set over several rows."""
    return plain([Inline(ROWS.sub("", latex).replace(r"\\", " ").replace("&", ""))])


def latex_sentence(sentence: str, prefix: str) -> str:
    """A sentence for a LaTeX document, whose lines have labels that begin with `prefix`."""
    return "".join(
        rf"\eqref{{{prefix}{part.number}}}"
        if isinstance(part, Reference)
        else prose(part)
        if isinstance(part, str)
        else f"${part.latex}$"
        if len(part.latex) <= LONGEST
        else f"\\[\n\\fitted{{{part.latex}}}\n\\]"  # a line of text cannot be broken inside brackets
        for part in pieces(sentence)
    )
