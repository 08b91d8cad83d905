"""Forms as text: for people (γ(t)^2 E, 1 − x), in Python's own signs (gamma(t)**2*E), or as LaTeX."""

# sympy is annotated only in part (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sympy import E, Rational, Symbol, oo
from sympy.core.function import AppliedUndef

from ..language.statement import Glossary
from .formula import Form, addends, form_of
from .greek import in_greek
from .latex import latex

__all__ = ["PEOPLE", "PYTHON", "TEX_SIGNS", "Style", "latex_form", "text"]

SUM, NEG, TIMES, POWER, ATOM = range(1, 6)  # how strongly a form holds together
LEVEL = {"+": SUM, "-": SUM, "neg": NEG, "*": TIMES, "/": TIMES, "^": POWER, "sum": NEG, "product": NEG}
SIGNS = ("<=", "<", ">=", ">", "=", "!=")
TEX_SIGNS = {"<=": r"\leq", ">=": r"\geq", "!=": r"\neq"}
SUMS = ("sum", "product")
JOINED = {"and": "and", "or": "or"}


@dataclass(frozen=True, slots=True)
class Style:
    """The signs of a text."""

    greek: bool
    minus: str
    times: str  # between factors
    dot: str  # between factors where nothing would be misread
    power: str
    signs: Mapping[str, str]


PEOPLE = Style(True, "−", " ", " · ", "^", {"<=": "≤", ">=": "≥", "!=": "≠"})
PYTHON = Style(False, "-", "*", "*", "**", {"=": "=="})


def text(form: Form | Any, style: Style = PEOPLE) -> str:
    """A form, or an expression in a usual order, as one line."""
    made = form if isinstance(form, Form) else form_of(form)
    return _Text(style).of(made)


def latex_form(form: Form | Any, glossary: Glossary) -> str:
    """The same as LaTeX in the paper's symbols."""
    made = form if isinstance(form, Form) else form_of(form)
    return _Latex(glossary).of(made)


def level(form: Form) -> int:
    if form.op in SIGNS or form.op in JOINED or form.op == "not":
        return 0
    if form.op == "leaf":
        value = form.value
        if isinstance(value, Rational):
            return NEG if value < 0 else ATOM if value.q == 1 else TIMES
        return ATOM if isinstance(value, Symbol | AppliedUndef) or value.is_Atom else SUM
    return LEVEL.get(form.op, ATOM)


def groups(form: Form) -> list[tuple[list[Form], list[Form]]]:
    """A product of fractions: above and below the line of each, as a chain a * b / c * d is read."""
    if form.op not in ("*", "/"):
        return [([form], [])]
    left, right = form.args
    found = groups(left)
    if form.op == "/":
        above, below = found[-1]
        return [*found[:-1], (above, [*below, right])]
    for above, below in groups(right):
        last = found[-1]
        found = [*found, (above, below)] if last[1] or below else [*found[:-1], ([*last[0], *above], [])]
    return found


@dataclass(frozen=True, slots=True)
class _Text:
    style: Style

    def of(self, form: Form) -> str:
        s = self.style
        match form.op:
            case "leaf":
                return self.leaf(form.value)
            case "+" | "-":
                return self.sum(form)
            case "neg":
                return s.minus + self.held(form.args[0], TIMES)
            case "*" | "/":
                return self.product(form)
            case "^":
                base, power = form.args
                return f"{self.held(base, ATOM)}{s.power}{self.held(power, ATOM)}"
            case "at":
                name = str(form.value.func) if isinstance(form.value, AppliedUndef) else str(form.value.base)
                ends = "()" if isinstance(form.value, AppliedUndef) else "[]"
                return self.name(name) + ends[0] + ", ".join(map(self.of, form.args)) + ends[1]
            case "sum" | "product":
                return self.over(form)
            case "not":
                return f"not ({self.of(form.args[0])})"
            case op if op in SIGNS:
                left, right = map(self.of, form.args)
                return f"{left} {s.signs.get(op, op)} {right}"
            case op if op in JOINED:
                return f" {op} ".join(f"({self.of(arg)})" for arg in form.args)
            case "abs" if s.greek:
                return f"|{self.of(form.args[0])}|"
            case op:
                named = op if s.greek else {"min": "Min", "max": "Max", "abs": "Abs"}.get(op, op)
                return f"{named}({', '.join(map(self.of, form.args))})"

    def leaf(self, value: Any) -> str:
        if value is E:  # a paper's E is the number of local steps
            return "e" if self.style.greek else "exp(1)"
        if self.style.greek:
            return "∞" if value is oo else self.name(str(value))
        return str(value)

    def name(self, said: str) -> str:
        return in_greek(said) if self.style.greek else said

    def held(self, form: Form, least: int) -> str:
        """In brackets where it would fall apart; Python's sums are calls."""
        call = form.op in SUMS and not self.style.greek
        return self.of(form) if call or level(form) >= least else f"({self.of(form)})"

    def sum(self, form: Form) -> str:
        said = ""
        for plus, term in addends(form):
            if term.op == "neg" and said:
                plus, term = not plus, term.args[0]
            sign = "+" if plus else self.style.minus
            said += (f" {sign} " if said else "" if plus else sign) + self.held(term, NEG if not said else TIMES)
        return said

    def product(self, form: Form) -> str:
        said, divided = "", False
        for above, below in groups(form):
            top = self.factors(above)
            if below:
                many = len(below) > 1
                bottom = self.factors(below) if many else self.held(below[0], POWER)
                top += f"/({bottom})" if many else f"/{bottom}"
            between = self.style.dot if divided or top[0].isdigit() else self.style.times
            said += between + top if said else top
            divided = bool(below)
        return said

    def factors(self, factors: Sequence[Form]) -> str:
        said = ""
        for factor in factors:
            one = self.held(factor, POWER if _fraction(factor) else TIMES)
            if not said:
                said = one
            elif self.style.greek and one[0] == "(" and said.isdigit():
                said += one
            else:
                said += (self.style.dot if one[0].isdigit() else self.style.times) + one
        return said

    def over(self, form: Form) -> str:
        body, variable, low, high = form.args
        if not self.style.greek:
            head = form.op.capitalize()
            return f"{head}({self.of(body)}, ({', '.join(map(self.of, (variable, low, high)))}))"
        sign = {"sum": "Σ", "product": "Π"}[form.op]
        return f"{sign}_({self.of(variable)}={self.of(low)}..{self.of(high)}) {self.held(body, TIMES)}"


@dataclass(frozen=True, slots=True)
class _Latex:
    glossary: Glossary

    def of(self, form: Form) -> str:
        match form.op:
            case "leaf":
                return latex(form.value, self.glossary)
            case "+" | "-":
                return self.sum(form)
            case "neg":
                return f"- {self.held(form.args[0], TIMES)}"
            case "*" | "/":
                return self.product(form)
            case "^":
                return self.power(*form.args)
            case "at":
                return self.at(form)
            case "sum" | "product":
                body, variable, low, high = form.args
                sign = {"sum": r"\sum", "product": r"\prod"}[form.op]
                ends = f"_{{{self.of(variable)}={self.of(low)}}}^{{{self.of(high)}}}"
                return f"{sign}{ends} {self.held(body, TIMES)}"
            case "sqrt":
                return rf"\sqrt{{{self.of(form.args[0])}}}"
            case "exp":
                return f"e^{{{self.of(form.args[0])}}}"
            case "abs":
                return rf"\left|{self.of(form.args[0])}\right|"
            case "not":
                return rf"\neg {self.bracketed(form.args[0])}"
            case op if op in SIGNS:
                left, right = map(self.of, form.args)
                return f"{left} {TEX_SIGNS.get(op, op)} {right}"
            case op if op in JOINED:
                return {"and": r" \wedge ", "or": r" \vee "}[op].join(map(self.bracketed, form.args))
            case op:  # min, max, log
                return rf"\{op}\left({', '.join(map(self.of, form.args))}\right)"

    def at(self, form: Form) -> str:
        """A quantity by its template, with its indices as they are written."""
        if not isinstance(form.value, AppliedUndef):
            return latex(form.value, self.glossary)
        entry = self.glossary.get(cast("Any", form.value).func)
        try:
            return entry.latex.format(*map(self.of, form.args)) if entry and entry.latex else self._plain(form)
        except IndexError:  # a proof's own function that shares a quantity's name
            return self._plain(form)

    def _plain(self, form: Form) -> str:
        name = latex(Symbol(str(form.value.func)), self.glossary)
        return rf"{name}\left({', '.join(map(self.of, form.args))}\right)"

    def bracketed(self, form: Form) -> str:
        return rf"\left({self.of(form)}\right)"

    def held(self, form: Form, least: int) -> str:
        said = self.of(form)
        whole = level(form) >= least or (_fraction(form) and least <= TIMES)
        apart = form.op in ("leaf", "at") and least > NEG and _falls_apart(said)  # f(w_t) - f^*
        return said if whole and not apart else self.bracketed(form)

    def power(self, base: Form, power: Form) -> str:
        said = self.of(base)
        loose = level(base) < ATOM or base.op in ("exp", "log", "min", "max", "sqrt")
        loose = loose or (base.op in ("leaf", "at") and ("^" in said or " " in said.strip()))
        up = f"{power.value.p}/{power.value.q}" if isinstance(power.value, Rational) else self.of(power)
        up = up.removesuffix("/1")
        return f"{self.bracketed(base) if loose else said}^{{{up}}}"

    def sum(self, form: Form) -> str:
        said = ""
        for plus, term in addends(form):
            if term.op == "neg" and said:
                plus, term = not plus, term.args[0]
            sign = "+" if plus else "-"
            said += (f" {sign} " if said else "" if plus else "- ") + self.held(term, NEG if not said else TIMES)
        return said

    def product(self, form: Form) -> str:
        said: list[str] = []
        for above, below in groups(form):
            if below:
                said.append(rf"\frac{{{self.factors(above)}}}{{{self.factors(below)}}}")
            else:
                said.append(self.factors(above, alone=False))
        return _times(said)

    def factors(self, factors: Sequence[Form], *, alone: bool = True) -> str:
        if alone and len(factors) == 1:
            return self.of(factors[0])
        # A sum sign takes all that follows: only the last factor may go without brackets.
        last = factors[-1]
        return _times([self.of(f) if f is last and f.op in SUMS else self.held(f, TIMES) for f in factors])


def _falls_apart(said: str) -> bool:
    """Whether a symbol's LaTeX is a sum outside of all brackets."""
    depth = 0
    for n, character in enumerate(said):
        depth += (character in "{([") - (character in "})]")
        if depth == 0 and said[n : n + 3] in (" - ", " + "):
            return True
    return False


def _fraction(form: Form) -> bool:
    return form.op == "leaf" and isinstance(form.value, Rational) and form.value.q != 1 and form.value > 0


def _times(factors: Sequence[str]) -> str:
    said = ""
    for one in factors:
        said += (r" \cdot " if one[0].isdigit() else " ") if said else ""
        said += one
    return said
