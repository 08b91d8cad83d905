"""Symbols, trees and numbers of a certificate as LaTeX, in the letters of the statement that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

from fedaudit.bounds.formulas.greek import in_greek

__all__ = [
    "APPROX",
    "DIGITS",
    "Inline",
    "Letters",
    "Said",
    "apart",
    "coefficient",
    "enough",
    "number",
    "polynomial",
    "pretty",
    "vector",
]

EXACT = 22  # characters of a fraction that people still read
DIGITS, MORE = 4, 13  # digits of other numbers, and of terms that nearly cancel
GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|eta|theta|kappa|mu|nu|rho|sigma|tau|phi|psi|omega|Gamma|Delta|Lambda|Phi|Omega"
)
PLACE = re.compile(r"\{\{|\}\}|\{([0-9])\}")


@dataclass(frozen=True, slots=True)
class Inline:
    """LaTeX inside a sentence."""

    latex: str


Said = list["str | Inline"]  # a sentence, or a part of one


@dataclass(frozen=True, slots=True)
class Letters:
    """Name -> LaTeX; what it does not know is written from the name."""

    latex: Mapping[str, str] = field(default_factory=dict[str, str])
    exact: bool = False  # a long constant is written out: a terminal has room for it

    def symbol(self, name: str) -> str:
        length = self.length_of(name)
        return rf"{length}^2" if length else self.latex.get(name) or _spelled(name)

    def length_of(self, name: str) -> str:
        """What `name` is the square of, where only that has a letter: residual2 of residual."""
        return "" if name in self.latex or not name.endswith("2") else self.latex.get(name[:-1], "")

    def quantity(self, name: str, indices: Sequence[str]) -> str:
        """A quantity by its template, whose {0}, {1}, ... are its indices."""
        template = self.latex.get(name, "")
        if not template:
            return f"{_spelled(name)}({', '.join(indices)})"

        def put(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            return indices[int(match[1])] if int(match[1]) < len(indices) else ""

        return PLACE.sub(put, template)

    def equal(self, name: str, value: str) -> Inline:
        """`name = value`, or about that."""
        said = value if self.exact else number(value)
        return Inline(f"{self.symbol(name)} {said if said.startswith(APPROX) else f'= {said}'}")


def pretty(text: str) -> str:
    """Words of the catalogue as people write them: Greek letters, indices, powers, and signs for their names."""
    said = in_greek(text)
    for plain, sign in SIGNS.items():
        said = said.replace(plain, sign)
    for pattern, typeset in TYPESET:
        said = pattern.sub(typeset, said)
    return said


def _lowered(match: re.Match[str]) -> str:
    return match[1] + match[2].translate(INDICES)


def _raised(match: re.Match[str]) -> str:
    return match[1].translate(POWERS)


SIGNS = {"<=": "≤", ">=": "≥", "->": "→", "grad ": "∇", "sqrt(": "√(", " - ": " − "}
INDICES = str.maketrans("0123456789ijklmnprstuvx", "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₚᵣₛₜᵤᵥₓ")
POWERS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
TYPESET = (  # in this order: a norm is told from an absolute value by its square
    (re.compile(r"\|([^|<>]{1,60})\|\^2(?!\d|/\d)"), r"‖\1‖²"),
    (re.compile(r"<([^<>=|]{1,60}, [^<>=|]{1,60})>"), r"⟨\1⟩"),
    (re.compile(r"(?<![^\W_])([^\W\d_])_([ijklmnprstuvx]|\d{1,2})(?![\w{])"), _lowered),
    (re.compile(r"\^(-?\d{1,2})(?![\d.]|/\d)"), _raised),
)


APPROX = r"\approx "


def number(value: str, beside: str = "", digits: int = DIGITS) -> str:
    """A number of a certificate as LaTeX: exact where it is short, otherwise its first digits.

    Beside a sum that it is part of, as many digits as the sum shows.
    """
    middle, _, _ = value.partition(" +/- ")
    if middle == value and len(value) <= EXACT:
        return value
    more = _size(middle) - _size(beside.partition(" +/- ")[0]) if beside else 0
    return APPROX + _scientific(middle, digits + min(max(more, 0), MORE))


def enough(left: str, right: str) -> int:
    """How many digits tell two numbers apart."""
    x, y = (value.partition(" +/- ")[0] for value in (left, right))
    return next((n for n in range(DIGITS, 18) if _scientific(x, n) != _scientific(y, n)), DIGITS)


def apart(left: str, right: str) -> tuple[str, str]:
    """Two numbers with enough digits to tell them apart."""
    digits = enough(left, right)
    return number(left, digits=digits), number(right, digits=digits)


def vector(entries: Sequence[str]) -> str:
    """A vector as LaTeX; one with a single entry is a number."""
    return number(entries[0]) if len(entries) == 1 else f"({', '.join(map(number, entries))})"


def polynomial(terms: Sequence[tuple[Fraction, str]]) -> str:
    """A sum of coefficients times powers; "" stands for the power 0."""
    said = ""
    for x, power in terms:
        if not x:
            continue
        size = "" if abs(x) == 1 and power else coefficient(abs(x))
        one = f"{size} {power}".strip()
        said += f" {'-' if x < 0 else '+'} {one}" if said else f"{'-' if x < 0 else ''}{one}"
    return said or "0"


def coefficient(x: Fraction) -> str:
    """A rational as LaTeX: exact where it is short, otherwise its first digits."""
    if len(str(x)) > EXACT:
        return _scientific(str(x), DIGITS)
    sign = "-" if x < 0 else ""
    return str(x) if x.denominator == 1 else rf"{sign}\frac{{{abs(x.numerator)}}}{{{x.denominator}}}"


def _size(text: str) -> int:
    """The power of ten of a number; of 0 a small one."""
    x = Fraction(text)
    return int(f"{Decimal(x.numerator) / Decimal(x.denominator):e}".partition("e")[2]) if x else -MORE


def _scientific(text: str, digits: int) -> str:
    top, _, bottom = text.partition("/")
    x = Context(prec=digits).divide(Decimal(top), Decimal(bottom or "1"))
    mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
    if -4 <= int(exponent) < 6:
        return f"{x:f}"
    return rf"{mantissa.rstrip('0').rstrip('.')} \cdot 10^{{{int(exponent)}}}"


def _spelled(name: str) -> str:
    """A name of a program as LaTeX."""
    head, _, below = name.partition("_")
    said = rf"\{head}" if GREEK.fullmatch(head) else head if len(head) == 1 else rf"\mathrm{{{head}}}"
    return f"{said}_{{{_spelled(below) if GREEK.fullmatch(below) else below}}}" if below else said
