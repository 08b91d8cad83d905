"""Symbols, trees and numbers of a certificate as LaTeX, in the letters of the statement that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, cast

from fedaudit.bounds.formulas.greek import in_greek

__all__ = [
    "APPROX",
    "DIGITS",
    "Formula",
    "Letters",
    "Said",
    "apart",
    "enough",
    "number",
    "place",
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
ONE = re.compile(
    r"(\\[A-Za-z]+|[A-Za-z])(_(\{[^{}]*\}|\w))?"
)  # a letter, with an index or without: it takes a power as it is
SUM, TIMES, ATOM = 0, 1, 2  # how tightly a formula holds together


@dataclass(frozen=True, slots=True)
class Formula:
    """LaTeX inside a sentence."""

    latex: str


Said = list["str | Formula"]  # a sentence, or a part of one


@dataclass(frozen=True, slots=True)
class Letters:
    """Name -> LaTeX; what it does not know is written from the name."""

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    exact: bool = False  # a long constant is written out: a terminal has room for it

    def symbol(self, name: str) -> str:
        length = self.length_of(name)
        return rf"{length}^2" if length else self.known.get(name) or _spelled(name)

    def length_of(self, name: str) -> str:
        """What `name` is the square of, where only that has a letter: residual2 of residual."""
        return "" if name in self.known or not name.endswith("2") else self.known.get(name[:-1], "")

    def quantity(self, name: str, indices: Sequence[str]) -> str:
        """A quantity by its template, whose {0}, {1}, ... are its indices."""
        template = self.known.get(name, "")
        if not template:
            return f"{_spelled(name)}({', '.join(indices)})"

        def put(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            return indices[int(match[1])] if int(match[1]) < len(indices) else ""

        return PLACE.sub(put, template)

    def equal(self, name: str, value: str) -> Formula:
        """`name = value`, or about that."""
        said = value if self.exact else number(value)
        return Formula(f"{self.symbol(name)} {said if said.startswith(APPROX) else f'= {said}'}")

    def tree(self, tree: Any) -> str:
        """A tree of a claim."""
        return self._tree(_texts(tree))

    def _tree(self, tree: Any, least: int = SUM) -> str:
        """In brackets where it is looser than its place asks for."""
        if isinstance(tree, str):
            return self._leaf(tree, least)
        head, *rest = cast("list[Any]", tree)
        match head:
            case "at":
                said = self.quantity(rest[0], [self._tree(index) for index in rest[1:]])
                return _held(said, SUM if _falls_apart(said) else ATOM, least)
            case "+":
                return _held(self._added(rest), SUM, least)
            case "*":
                return self._product(rest, least)
            case "^":
                return self._power(rest[0], rest[1], least)
            case "sum":
                name, low, high, body = rest
                ends = f"_{{{self.symbol(name)}={self._tree(low)}}}^{{{self._tree(high)}}}"
                return _held(rf"\sum{ends} {self._tree(body, TIMES)}", TIMES, least)
            case "abs":
                return rf"|{self._tree(rest[0])}|"
            case "exp":
                return f"e^{{{self._tree(rest[0])}}}"
            case _:
                return rf"\{head}({', '.join(self._tree(arg) for arg in rest)})"

    def _leaf(self, leaf: str, least: int) -> str:
        if leaf[:1].isalpha() or leaf[:1] == "_":
            return self.symbol(leaf)
        x = Fraction(leaf)
        return _held(_coefficient(x), ATOM if x >= 0 and x.denominator == 1 else TIMES if x >= 0 else SUM, least)

    def _added(self, terms: Sequence[Any]) -> str:
        said = ""
        for term in sorted(terms, key=place):
            one = self._tree(term, TIMES) if not _negative(term) else self._tree(_turned(term), TIMES)
            sign = "-" if _negative(term) else "+" if said else ""
            said += f" {sign} {one}" if said else f"{sign}{one}"
        return said

    def _product(self, factors: Sequence[Any], least: int) -> str:
        if _negative(["*", *factors]):
            return _held(f"-{self._tree(_turned(['*', *factors]), TIMES)}", SUM, least)
        above: list[str] = []
        below: list[str] = []
        for factor in factors:
            under = _inverse(factor)
            if isinstance(factor, str) and not factor[:1].isalpha() and "/" in factor:
                top, _, bottom = factor.partition("/")
                above += [top] if top != "1" else []
                below.append(bottom)
            elif under is not None:
                below.append(self._tree(under, TIMES if len(factors) > 1 else SUM))
            elif factor != "1":
                above.append(self._tree(factor, TIMES if len(factors) > 1 else SUM))
        top = " ".join(above) or "1"
        return _held(rf"\frac{{{top}}}{{{' '.join(below)}}}" if below else top, TIMES, least)

    def _power(self, base: Any, exponent: Any, least: int) -> str:
        if exponent == "1/2" and isinstance(base, str) and (length := self.length_of(base)):
            return length
        if exponent == "1/2":
            return rf"\sqrt{{{self._tree(base)}}}"
        under = _inverse(["^", base, exponent])
        if under is not None:
            return _held(rf"\frac{{1}}{{{self._tree(under)}}}", TIMES, least)
        below = self._tree(base, ATOM)
        if (
            not isinstance(base, str)
            and base[0] == "at"
            and not ONE.fullmatch(below)
            and not below.startswith(r"\left(")
        ):
            below = rf"\left({below}\right)"
        return f"{below}^{{{self._tree(exponent)}}}"


def pretty(text: str) -> str:
    """Words of the catalogue with Greek letters and signs for their names."""
    return in_greek(text).replace("<=", "≤").replace(">=", "≥")


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
    """A vector; along a line a number."""
    return number(entries[0]) if len(entries) == 1 else f"({', '.join(map(number, entries))})"


def polynomial(terms: Sequence[tuple[Fraction, str]]) -> str:
    """A sum of coefficients times powers; "" stands for the power 0."""
    said = ""
    for x, power in terms:
        if not x:
            continue
        size = "" if abs(x) == 1 and power else _coefficient(abs(x))
        one = f"{size} {power}".strip()
        said += f" {'-' if x < 0 else '+'} {one}" if said else f"{'-' if x < 0 else ''}{one}"
    return said or "0"


def _coefficient(x: Fraction) -> str:
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


def _held(said: str, level: int, least: int) -> str:
    return said if level >= least else rf"\left({said}\right)"


def place(term: Any) -> tuple[bool, bool]:
    """Where a term stands in a sum: what is subtracted last, numbers behind letters."""
    said = _texts(term)
    return _negative(said), _plain(said)


def _texts(tree: Any) -> Any:
    """Whole numbers as texts, like all other leaves."""
    return [_texts(part) for part in cast("list[Any]", tree)] if isinstance(tree, list) else str(tree)


def _falls_apart(latex: str) -> bool:
    """Whether it has a plus or a minus outside all brackets and norms."""
    depth, before = 0, ""
    for sign in re.sub(r"\\\|.*?\\\|", "x", latex):
        depth += (sign in "({[") - (sign in ")}]")
        if depth == 0 and sign in "+-" and before not in ("", "_", "^"):
            return True
        before = sign
    return False


def _plain(tree: Any) -> bool:
    """Whether it is a number."""
    return isinstance(tree, str) and not tree[:1].isalpha()


def _negative(tree: Any) -> bool:
    if isinstance(tree, str):
        return tree.startswith("-")
    return bool(tree[0] == "*" and isinstance(tree[1], str) and tree[1].startswith("-"))


def _turned(tree: Any) -> Any:
    """A negative term without its sign."""
    if isinstance(tree, str):
        return tree[1:]
    rest = [tree[1][1:], *tree[2:]] if tree[1] != "-1" else list(tree[2:])
    return ["*", *rest] if len(rest) > 1 else rest[0]


def _inverse(tree: Any) -> Any:
    """What a factor with a negative power divides by; None for others."""
    if isinstance(tree, str) or tree[0] != "^" or not isinstance(tree[2], str) or not tree[2].startswith("-"):
        return None
    return tree[1] if tree[2] == "-1" else ["^", tree[1], tree[2][1:]]
