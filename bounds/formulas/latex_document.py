"""A LaTeX document around statements, and words in it.

It compiles with the packages of every installation. Words are escaped; signs that plain LaTeX has no letter for, and
symbols that words speak of, are written as formulas.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .greek import GREEK

__all__ = ["ENVIRONMENTS", "document", "escaped", "prose"]

ENVIRONMENTS = {  # what a statement is called, by the beginning of its label
    "thm": "theorem", "cor": "corollary", "prop": "proposition", "lem": "lemma", "rem": "remark", "def": "definition",
    "asm": "assumption", "fact": "fact", "eq": "display",
}  # fmt: skip
# hypertexnames=false: environments carry the paper's numbers, of which a document may have one several times.
PREAMBLE = (
    r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{amsmath,amssymb,amsthm,graphicx,longtable}
\usepackage[margin=2.5cm]{geometry}
\IfFileExists{hyperref.sty}{\usepackage[hidelinks,hypertexnames=false]{hyperref}}{}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6ex plus 0.3ex}
\setcounter{tocdepth}{2}
\allowdisplaybreaks
\sloppy
"""
    + "".join(
        rf"\newtheorem{{{name}}}{{{name.capitalize()}}}" + "\n"
        for name in (*ENVIRONMENTS.values(), "claim", "observation")
    )
    + r"""% a formula that is wider than the page, as small as it has to be
\newsavebox{\wide}
\newcommand{\fitted}[1]{\sbox{\wide}{$\displaystyle #1$}%
  \ifdim\wd\wide>0.92\linewidth\resizebox{0.92\linewidth}{!}{\usebox{\wide}}\else\usebox{\wide}\fi}
"""
)
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
NAMES = "|".join(sorted(GREEK, key=len, reverse=True))
ASCII = r"[ -#%-\[\]-z|]"  # what may stand in an index or a power: printable, and neither $, \, braces nor ~
SCRIPT = rf"(?:\{{({ASCII}*)\}}|\(((?:(?![()]){ASCII})*)\)|([A-Za-z0-9*]+))"  # {i,k}, (1/2) or k
SYMBOL = re.compile(
    rf"(?<![A-Za-z0-9_'^])({NAMES}|[A-Za-z])(?:_{SCRIPT}(?:\^{SCRIPT})?|\^{SCRIPT}(?:_{SCRIPT})?)?(?![A-Za-z0-9_^'])"
)
WORD = re.compile(rf"(?<![A-Za-z])({NAMES})(?![A-Za-z])|([A-Za-z]{{2,}})")


def escaped(words: str) -> str:
    """Words as text of LaTeX, in which no character of theirs is a command."""
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


def prose(words: str) -> str:
    """Words of the catalogue as LaTeX text: Greek letters by name and letters with an index or a power are formulas."""
    said, end = "", 0
    for found in SYMBOL.finditer(words):
        base, *scripts = found.groups()
        # an index and then a power, or a power and then an index, each in one of three spellings
        below, above, first_above, then_below = (next(filter(None, scripts[n : n + 3]), "") for n in (0, 3, 6, 9))
        below, above = below or then_below, above or first_above
        if base in GREEK or below or above:
            said += _plain(words[end : found.start()])
            said += (
                f"${_letters(base)}{f'_{{{_letters(below)}}}' * bool(below)}{f'^{{{_letters(above)}}}' * bool(above)}$"
            )
            end = found.end()
    return said + _plain(words[end:])


def _plain(words: str) -> str:
    return escaped(words.replace("<=", "≤").replace(">=", "≥"))


def _letters(text: str) -> str:
    """An index or a power: names of Greek letters and words in it."""

    def spelled(found: re.Match[str]) -> str:
        name = found[1]
        return rf"\mathrm{{{found[2]}}}" if not name else LATIN.get(name, rf"\{name}")

    return WORD.sub(spelled, "".join(ESCAPES.get(c, c) if c in '&#%_^~"' else c for c in text))


def document(title: str, sections: Iterable[str], about: str = "", authors: str = "", *, contents: bool = False) -> str:
    """A whole document, with a table of contents if it is asked for."""
    head = [
        PREAMBLE + rf"\title{{{prose(title)}}}",
        rf"\author{{{escaped(authors)}}}",
        "\\date{}\n\\begin{document}\n\\maketitle",
        prose(about),
        r"\tableofcontents" if contents else "",
    ]
    return "\n\n".join([*(part for part in head if part), *sections, r"\end{document}"]) + "\n"
