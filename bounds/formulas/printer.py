"""Formulas in three styles: for people (γ(t)^2 E, 1 − x), in Python's own signs (gamma(t)**2*E), and as LaTeX.

How a formula is told is the same in all of them: `_Printer` knows terms, factors, fractions and brackets, a style how
each of these is spelled.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sympy import Basic, E, Rational, Symbol, latex, oo
from sympy.core.function import AppliedUndef, UndefinedFunction

from ..language.statement import Glossary
from .formula import RELATIONS, Form, addends, form_of, leaf
from .greek import in_greek

__all__ = ["PEOPLE", "PYTHON", "TEX_SIGNS", "Style", "joined", "latex_form", "signed_sum", "spelled", "text"]

SUM, NEG, TIMES, POWER, ATOM = range(1, 6)  # how strongly a form holds together
LEVEL = {"+": SUM, "-": SUM, "neg": NEG, "*": TIMES, "/": TIMES, "^": POWER, "sum": NEG, "product": NEG}
TEX_SIGNS = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq"}
SUMS = ("sum", "product")
JOINED = ("and", "or")


def signed_sum(terms: Iterable[tuple[bool, str]], minus: str = "-") -> str:
    """Terms, each with whether it is added: `a - b + c`."""
    told = ""
    for plus, term in terms:
        sign = "+" if plus else minus
        told += (f" {sign} " if told else "" if plus else sign) + term
    return told


def joined(terms: Iterable[str]) -> str:
    """Terms that begin with a minus where they are subtracted: `a - b + c`."""
    return signed_sum((not term.startswith("-"), term.removeprefix("-")) for term in terms)


@dataclass(frozen=True, slots=True)
class Style:
    """The signs of formulas in one line."""

    greek: bool
    minus: str
    times: str  # between factors
    dot: str  # between factors where nothing would be misread
    power: str
    signs: Mapping[str, str]
    heads: Mapping[str, str] = field(default_factory=dict[str, str])  # how functions are called
    name: Callable[[str], str] = str  # how a symbol is called
    ratio: str = "{}/{}"  # a rational number


PEOPLE = Style(True, "−", " ", " · ", "^", {"<=": "≤", ">=": "≥", "!=": "≠"}, name=in_greek)
PYTHON = Style(False, "-", "*", "*", "**", {"=": "=="}, {"min": "Min", "max": "Max", "abs": "Abs"})


def text(formula: Form | Basic, style: Style = PEOPLE) -> str:
    """A formula as one line."""
    return _Text(style).of(_form(formula))


def latex_form(formula: Form | Basic, glossary: Glossary) -> str:
    """A formula as LaTeX in the paper's symbols: names and templates of indexed quantities come from the glossary."""
    return _Latex(glossary).of(_form(formula))


def _form(formula: Form | Basic) -> Form:
    if isinstance(formula, UndefinedFunction):  # a quantity without its indices, by its name
        return leaf(Symbol(str(formula)))
    return formula if isinstance(formula, Form) else form_of(formula)


def level(form: Form) -> int:
    """How strongly a form holds together; 0 for what always needs brackets."""
    if form.op in RELATIONS or form.op in JOINED or form.op == "not":
        return 0
    if form.op == "leaf":
        value = form.value
        if isinstance(value, Rational):
            return NEG if value < 0 else ATOM if value.q == 1 else TIMES
        return ATOM if isinstance(value, Symbol | AppliedUndef) or value.is_Atom else SUM
    return LEVEL.get(form.op, ATOM)


def fractions_of(form: Form) -> list[tuple[list[Form], list[Form]]]:
    """A product of fractions: above and below the line of each, as a chain a * b / c * d is read."""
    if form.op not in ("*", "/"):
        return [([form], list[Form]())]
    left, right = form.args
    fractions = fractions_of(left)
    if form.op == "/":
        above, below = fractions[-1]
        return [*fractions[:-1], (above, [*below, right])]
    for above, below in fractions_of(right):
        last_above, last_below = fractions[-1]
        if last_below or below:
            fractions = [*fractions, (above, below)]
        else:
            fractions = [*fractions[:-1], ([*last_above, *above], list[Form]())]
    return fractions


class _Printer(ABC):
    """What the three styles have in common."""

    __slots__ = ()

    def of(self, form: Form) -> str:
        match form.op:
            case "leaf":
                return self.leaf(form.value)
            case "+" | "-":
                return self.sum(form)
            case "neg":
                return self.minus + self.held(form.args[0], TIMES)
            case "*" | "/":
                return self.product([(above, below) for above, below in fractions_of(form)])
            case "^":
                return self.power(*form.args)
            case "at":
                return self.quantity(form)
            case "sum" | "product":
                return self.over(form.op, *form.args)
            case op if op in RELATIONS:
                left, right = map(self.of, form.args)
                return f"{left} {self.signs.get(op, op)} {right}"
            case op:
                return self.call(op, form.args)

    def sum(self, form: Form) -> str:
        terms: list[tuple[bool, str]] = []
        for plus, term in addends(form):
            if term.op == "neg" and terms:
                plus, term = not plus, term.args[0]
            terms.append((plus, self.held(term, TIMES if terms else NEG)))
        return signed_sum(terms, self.minus)

    @property
    @abstractmethod
    def minus(self) -> str: ...

    @property
    @abstractmethod
    def signs(self) -> Mapping[str, str]: ...

    @abstractmethod
    def leaf(self, value: Basic) -> str:
        """A symbol, a number, or what this module has no rule for."""

    @abstractmethod
    def held(self, form: Form, least: int) -> str:
        """A form, in brackets where it would fall apart."""

    @abstractmethod
    def product(self, fractions: Sequence[tuple[list[Form], list[Form]]]) -> str: ...

    @abstractmethod
    def power(self, base: Form, power: Form) -> str: ...

    @abstractmethod
    def quantity(self, form: Form) -> str:
        """A quantity at its indices."""

    @abstractmethod
    def over(self, op: str, body: Form, variable: Form, low: Form, high: Form) -> str:
        """A sum or a product over an index."""

    @abstractmethod
    def call(self, op: str, args: Sequence[Form]) -> str: ...


@dataclass(frozen=True, slots=True)
class _Text(_Printer):
    style: Style

    @property
    def minus(self) -> str:
        return self.style.minus

    @property
    def signs(self) -> Mapping[str, str]:
        return self.style.signs

    def leaf(self, value: Basic) -> str:
        if value is E:  # a paper's E is the number of local steps
            return "e" if self.style.greek else self.style.heads.get("exp", "exp") + "(1)"
        if isinstance(value, Rational) and value.q != 1:
            return self.style.ratio.format(value.p, value.q)
        if self.style.greek and value is oo:
            return "∞"
        return self.style.name(str(value)) if self.style.greek or isinstance(value, Symbol) else str(value)

    def held(self, form: Form, least: int) -> str:
        call = form.op in SUMS and not self.style.greek  # Python's sums are calls
        return self.of(form) if call or level(form) >= least else f"({self.of(form)})"

    def power(self, base: Form, power: Form) -> str:
        return f"{self.held(base, ATOM)}{self.style.power}{self.held(power, ATOM)}"

    def product(self, fractions: Sequence[tuple[list[Form], list[Form]]]) -> str:
        told, divided = "", False
        for above, below in fractions:
            factors = self.factors(above)
            if len(below) > 1:
                factors += f"/({self.factors(below)})"
            elif below:
                factors += f"/{self.held(below[0], POWER)}"
            between = self.style.dot if divided or factors[0].isdigit() else self.style.times
            told += between + factors if told else factors
            divided = bool(below)
        return told

    def factors(self, forms: Sequence[Form]) -> str:
        told = ""
        for form in forms:
            factor = self.held(form, POWER if _is_fraction(form) else TIMES)
            if not told:
                told = factor
            elif self.style.greek and factor[0] == "(" and told.isdigit():
                told += factor
            else:
                told += (self.style.dot if factor[0].isdigit() else self.style.times) + factor
        return told

    def quantity(self, form: Form) -> str:
        indices = ", ".join(map(self.of, form.args))
        if isinstance(form.value, AppliedUndef):
            return f"{self.style.name(str(form.value.func))}({indices})"
        return f"{self.style.name(str(form.value.base))}[{indices}]"

    def over(self, op: str, body: Form, variable: Form, low: Form, high: Form) -> str:
        if not self.style.greek:
            return f"{op.capitalize()}({self.of(body)}, ({', '.join(map(self.of, (variable, low, high)))}))"
        sign = {"sum": "Σ", "product": "Π"}[op]
        return f"{sign}_({self.of(variable)}={self.of(low)}..{self.of(high)}) {self.held(body, TIMES)}"

    def call(self, op: str, args: Sequence[Form]) -> str:
        if op in JOINED:
            return f" {op} ".join(f"({self.of(arg)})" for arg in args)
        if op == "not":
            return f"not ({self.of(args[0])})"
        if op == "abs" and self.style.greek:
            return f"|{self.of(args[0])}|"
        return f"{self.style.heads.get(op, op)}({', '.join(map(self.of, args))})"


@dataclass(frozen=True, slots=True)
class _Latex(_Printer):
    glossary: Glossary

    @property
    def minus(self) -> str:
        return "-"

    @property
    def signs(self) -> Mapping[str, str]:
        return TEX_SIGNS

    def leaf(self, value: Basic) -> str:
        entry = self.glossary.get(value)
        if entry and entry.latex:
            return entry.latex
        return spelled(value.name) if isinstance(value, Symbol) else latex(value)

    def bracketed(self, form: Form) -> str:
        return rf"\left({self.of(form)}\right)"

    def held(self, form: Form, least: int) -> str:
        told = self.of(form)
        whole = level(form) >= least or (_is_fraction(form) and least <= TIMES)
        apart = form.op in ("leaf", "at") and least > NEG and _falls_apart(told)  # f(w_t) - f^*
        return told if whole and not apart else self.bracketed(form)

    def power(self, base: Form, power: Form) -> str:
        told = self.of(base)
        loose = level(base) < ATOM or base.op in ("exp", "log", "min", "max", "sqrt")
        loose = loose or (base.op in ("leaf", "at") and ("^" in told or " " in told.strip()))
        up = f"{power.value.p}/{power.value.q}" if isinstance(power.value, Rational) else self.of(power)
        return f"{self.bracketed(base) if loose else told}^{{{up.removesuffix('/1')}}}"

    def product(self, fractions: Sequence[tuple[list[Form], list[Form]]]) -> str:
        return _times(
            rf"\frac{{{self.factors(above)}}}{{{self.factors(below)}}}" if below else self.factors(above, alone=False)
            for above, below in fractions
        )

    def factors(self, forms: Sequence[Form], *, alone: bool = True) -> str:
        if alone and len(forms) == 1:
            return self.of(forms[0])
        # A sum sign takes all that follows: only the last factor may go without brackets.
        last = forms[-1]
        return _times(self.of(form) if form is last and form.op in SUMS else self.held(form, TIMES) for form in forms)

    def quantity(self, form: Form) -> str:
        indices = list(map(self.of, form.args))
        if not isinstance(form.value, AppliedUndef):
            return f"{form.value.base.label}_{{{','.join(indices)}}}"
        entry = self.glossary.get(form.value.func)
        if entry and entry.latex:
            try:
                return entry.latex.format(*indices)
            except IndexError:  # a proof's own function that shares a quantity's name
                pass
        return rf"{self.leaf(Symbol(str(form.value.func)))}\left({', '.join(indices)}\right)"

    def over(self, op: str, body: Form, variable: Form, low: Form, high: Form) -> str:
        sign = {"sum": r"\sum", "product": r"\prod"}[op]
        return f"{sign}_{{{self.of(variable)}={self.of(low)}}}^{{{self.of(high)}}} {self.held(body, TIMES)}"

    def call(self, op: str, args: Sequence[Form]) -> str:
        match op:
            case "sqrt":
                return rf"\sqrt{{{self.of(args[0])}}}"
            case "exp":
                return f"e^{{{self.of(args[0])}}}"
            case "abs":
                return rf"\left|{self.of(args[0])}\right|"
            case "not":
                return rf"\neg {self.bracketed(args[0])}"
            case "and" | "or":
                return {"and": r" \wedge ", "or": r" \vee "}[op].join(map(self.bracketed, args))
            case _:
                head = r"\operatorname{erf}" if op == "erf" else rf"\{op}"
                return rf"{head}\left({', '.join(map(self.of, args))}\right)"


def spelled(name: str) -> str:
    """A name without a letter of its own as LaTeX: words upright, a number at the end as an index."""
    words = [word for word in re.split(r"_|(?=\d+$)", name) if word]
    if all(len(word) == 1 or word.isdigit() or in_greek(word) != word for word in words) or not name.isidentifier():
        return latex(Symbol(name))
    if len(words[0]) == 1 or in_greek(words[0]) != words[0]:  # f_inf
        return rf"{latex(Symbol(words[0]))}_{{\text{{{' '.join(words[1:])}}}}}"
    number = rf"_{{{words.pop()}}}" if words[-1].isdigit() else ""
    return rf"\text{{{' '.join(words)}}}{number}"


def _falls_apart(told: str) -> bool:
    """Whether a symbol's LaTeX is a sum outside of all brackets."""
    depth = 0
    for n, character in enumerate(told):
        depth += (character in "{([") - (character in "})]")
        if depth == 0 and n > 0 and character in "+-":
            return True
    return False


def _is_fraction(form: Form) -> bool:
    return form.op == "leaf" and isinstance(form.value, Rational) and form.value.q != 1 and form.value > 0


def _times(factors: Iterable[str]) -> str:
    told = ""
    for factor in factors:
        told += (r" \cdot " if factor[0].isdigit() else " ") if told else ""
        told += factor
    return told
