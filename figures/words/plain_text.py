"""A counterexample as lines of a terminal: the clauses of its page, with formulas in plain characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from fedaudit.bounds.formulas.greek import in_greek

from .instances import UNTELLABLE, told
from .letters import Letters, Said
from .losses import Data
from .mathml import braced

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["counterexample", "instance_lines", "plain"]

SIGNS = {
    r"\approx": "≈", r"\cdot": "·", r"\ell": "ℓ", r"\geq": "≥", r"\langle": "⟨", r"\ldots": "…", r"\left": "",
    r"\leq": "≤", r"\nabla": "∇", r"\pm": "±", r"\quad": "", r"\rangle": "⟩", r"\right": "", r"\star": "*",
    r"\sum": "Σ", r"\to": "→", r"\top": "ᵀ", r"\|": "‖", r"\,": " ", r"\;": " ",
}  # fmt: skip
NAMED = re.compile(r"\\(?:mathrm|mathbf|mathbb|mathcal|boldsymbol|text|operatorname)\{([^{}]*)\}")
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")
ACCENT = re.compile(r"\\(overline|bar|tilde|widetilde|hat)\{([^{}]*)\}")
ACCENTS = {"overline": "\u0304", "bar": "\u0304", "tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302"}
FRACTION, ROOT = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}"), re.compile(r"\\sqrt\{([^{}]*)\}")
RAISED_OR_LOWERED = re.compile(r"([_^])\{([^{}]*)\}")


def counterexample(certificate: Data, statement: Statement, holds: bool = False) -> list[str]:
    """The claim, where it fails (or comes closest, where it `holds`), both sides there, and the instance."""
    at = {name: n for name, n in certificate["at"].items() if name != "relation"}
    claim = str(cast("Any", statement.relations)[certificate["at"]["relation"]])
    where = f" at {', '.join(f'{name} = {n}' for name, n in at.items())}" if at else ""
    outcome = f"{'comes closest' if holds else 'fails'}{where}: {certificate['lhs']} against {certificate['rhs']}"
    return [f"claimed: {claim}", outcome, *instance_lines(certificate)]


def instance_lines(certificate: Data) -> list[str]:
    """The instance of a certificate, a clause on each line."""
    try:
        return [plain(clause) for clause in told(certificate, Letters(exact=True))]
    except UNTELLABLE:
        return ["an instance that no words fit"]


def plain(said: Said) -> str:
    """A sentence whose formulas are written in plain characters, for a terminal."""
    return "".join(piece if isinstance(piece, str) else _line(piece.latex) for piece in said).strip()


def _line(latex: str) -> str:
    """The few commands of LaTeX that clauses have, innermost braces first."""
    before, line = "", braced(latex)
    # A group without braces inside is replaced, which frees the one around it, until nothing changes.
    while before != line:
        before = line
        line = NAMED.sub(r"\1", line)
        line = ACCENT.sub(lambda part: part[2] + ACCENTS[part[1]], line)
        line = FRACTION.sub(lambda part: f"{_whole(part[1])}/{_whole(part[2])}", line)
        line = ROOT.sub(r"√(\1)", line)
        line = RAISED_OR_LOWERED.sub(lambda part: part[1] + _whole(part[2]), line)
    signs = COMMAND.sub(lambda command: SIGNS.get(command[0], in_greek(command[0][1:])), line)
    return " ".join(signs.split())


def _whole(part: str) -> str:
    """The part, in brackets where it is more than a name or a number."""
    return part if re.fullmatch(r"\\?\w+|-\w+", part) else f"({part})"
