"""A LaTeX document around sections, and words in it.

It compiles with the packages of every installation. Words are escaped; signs that plain LaTeX has no letter for are
written as formulas.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from .greek import GREEK

__all__ = ["document", "escaped"]

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=2.5cm]{geometry}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
"""
ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
}  # fmt: skip
SIGNS = {
    "²": "^2", "³": "^3", "⁴": "^4", "⁺": "^+", "·": r"\cdot", "←": r"\leftarrow", "→": r"\to", "∂": r"\partial",
    "∇": r"\nabla", "−": "-", "√": r"\surd", "∞": r"\infty", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "±": r"\pm",
    "×": r"\times", "𝒢": r"\mathcal{G}", "∈": r"\in", "…": r"\ldots", "‖": r"\|", "Σ": r"\Sigma", "Π": r"\Pi",
}  # fmt: skip
LETTERS = {letter: name for name, letter in GREEK.items()}
LATIN = {"Alpha": "A", "Beta": "B", "Epsilon": "E", "Zeta": "Z", "Eta": "H", "Iota": "I", "Kappa": "K", "Mu": "M",
         "Nu": "N", "Omicron": "O", "Rho": "P", "Tau": "T", "Chi": "X", "omicron": "o"}  # fmt: skip


def escaped(words: str) -> str:
    """Words as LaTeX text."""
    return "".join(_sign(c) for c in unicodedata.normalize("NFC", words))


def _sign(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isascii():
        return character if character.isprintable() else " "
    if character in SIGNS:
        return f"${SIGNS[character]}$"
    if name := LETTERS.get(character):
        return f"${LATIN[name]}$" if name in LATIN else f"$\\{name}$"
    if unicodedata.combining(character):
        return ""
    return character if ord(character) < 0x180 else f"[U+{ord(character):04X}]"  # those that inputenc knows


def document(title: str, sections: Iterable[str], about: str = "") -> str:
    """A whole document."""
    head = [PREAMBLE + r"\begin{document}", rf"\section*{{{escaped(title)}}}", escaped(about)]
    return "\n\n".join([*(part for part in head if part), *sections, r"\end{document}"]) + "\n"
