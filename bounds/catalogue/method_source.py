"""A method as Python that somebody can paste into a file of their own and change."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Any

from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.printing.str import StrPrinter

from fedaudit.errors import UserError

from ..formulas.printer import joined
from ..language.method import Method
from ..language.method_interface import size, symbols
from ..language.rule_expressions import Number, Vector, Weights

PHASES = ("server", "client", "begin", "local", "end", "update")
COMMENTS = {
    "server": "vectors of the server, and what they are before round 0",
    "client": "vectors of every client",
    "begin": "when the round reaches a client",
    "local": "E times",
    "end": "after the local steps",
    "update": "at the server",
}
CONSTANTS = {"start": "fa.start", "zero": "0", "w_star": "fa.w_star"}
AROUND = {
    "grad": "fa.grad({})",
    "noisy": "fa.noisy({})",
    "again": "fa.noisy({}, again=True)",
    "mean": "fa.mean({})",
    "sampled": 'fa.mean({}, over="sampled")',
    "neighbours": "fa.neighbours({})",
}
ATOMS = {"f": "fa.f({})", "f_i": "fa.f_i({})", "norm2": "fa.norm2({})", "inner": "fa.inner({}, {})"}


class Printer(StrPrinter):
    """Formulas as Python with exact numbers."""

    def _print_Rational(self, expr: Any) -> str:
        return str(expr.p) if expr.q == 1 else f"fa.Rational({expr.p}, {expr.q})"

    def _print_Symbol(self, expr: Any) -> str:
        return name_of(expr)

    def _print_Function(self, expr: Any) -> str:
        inside = ", ".join(map(self._print, expr.args))
        return f"{name_of(expr.func)}({inside})" if isinstance(expr, AppliedUndef) else f"fa.{expr.func}({inside})"


class CannotWrite(UserError):
    """A method with an operation that files of one's own do not have a name for."""


def name_of(x: Any) -> str:
    """A symbol, quantity or vector as a Python name."""
    name = "".join(c if c.isalnum() else "_" for c in (x.args[0] if isinstance(x, Vector) else str(x)))
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


def formula(expr: Any) -> str:
    """A formula of the glossary's symbols as Python."""
    return Printer().doprint(expr)


def glossary_lines(method: Method, also: Iterable[Any] = ()) -> list[str]:
    """What makes the symbols of the method, of its measures, and some more."""
    names = {row["name"] for row in symbols(method)}
    kept = [key for key in method.glossary if str(key) in names or key in also]
    steps = {q.func for q in (*method.steps(), *method.measures)}
    sizes = [size(method, method.glossary, name) for name in ("T", "E", "C")]
    return [_entry(key, method) for key in dict.fromkeys([*sizes, *kept, *sorted(steps, key=str)])]


def method_lines(method: Method) -> list[str]:
    """`METHOD = fa.Method(...)`, with the vectors before it. Raises `CannotWrite`."""
    plain = not (method.formulas or method.before or method.names)
    if not plain:
        raise _cannot(method, "formulas or letters of its own")
    vectors = (*method.server, *method.client)
    lines = [f"{name_of(v)} = fa.vector({', '.join(map(_quoted, dict.fromkeys(v.args)))})" for v in vectors]
    lines += ["METHOD = fa.Method(", f"    id={_quoted(method.id)},", f"    title={_quoted(method.title)},"]
    lines += [f"    cite={_quoted(method.cite)},", "    glossary=GLOSSARY,"]
    for phase in PHASES:
        rules: Mapping[Vector, Any] = getattr(method, phase)
        if rules:
            inside = ", ".join(f"{name_of(v)}: {_vector(method, value)}" for v, value in rules.items())
            lines.append(f"    {phase}={{{inside}}},  # {COMMENTS[phase]}")
    lines.append("    measures={")
    lines += [f"        {formula(q)}: {_number(method, number)}," for q, number in method.measures.items()]
    lines.append("    },")
    for name in ("counts_from", "clock", "first"):
        value = getattr(method, name)
        if value not in (0, "rounds"):
            lines.append(f"    {name}={_quoted(value) if isinstance(value, str) else formula(value)},")
    return [*lines, ")"]


def _entry(key: Any, method: Method) -> str:
    entry = method.glossary.get(key)
    meaning, dim, latex = (entry.meaning, str(entry.dim), entry.latex) if entry else (str(key), "1", "")
    told = f", {_quoted(latex)}" if latex else ""
    if isinstance(key, UndefinedFunction):
        said = f"{_quoted(str(key))}, {_quoted(dim)}, {_quoted(meaning)}{told}{_sign(key)}"
        return f"{name_of(key)} = GLOSSARY.quantity({said})"
    if key.is_integer:
        maker = "count" if key.is_positive else "index"
        return f"{name_of(key)} = GLOSSARY.{maker}({_quoted(str(key))}, {_quoted(meaning)}{told})"
    sign = "" if key.is_positive else _sign(key)
    return f"{name_of(key)} = GLOSSARY.symbol({_quoted(str(key))}, {_quoted(dim)}, {_quoted(meaning)}{told}{sign})"


def _sign(x: Any) -> str:
    """What is known of a symbol's or a quantity's sign."""
    return ", positive=True" if x.is_positive else ", nonnegative=True" if x.is_nonnegative else ", real=True"


def _quoted(text: str) -> str:
    """As Python writes it, raw where it has backslashes."""
    plain = '"' not in text and not text.endswith("\\")
    return f'r"{text}"' if plain and "\\" in text else f'"{text}"' if plain else repr(text)


def _vector(method: Method, x: Any) -> str:
    if not isinstance(x, Vector):
        return "0"
    match x.op:
        case "name":
            return name_of(x)
        case "+":
            return joined(_vector(method, term) for term in x.args)
        case "*":
            return _times(x.args[0], _vector(method, x.args[1]), x.args[1].op == "+")
        case "prox":
            return f"fa.prox({_vector(method, x.args[1])}, {formula(x.args[0])})"
        case op if op in CONSTANTS:
            return CONSTANTS[op]
        case op if op in AROUND:
            return AROUND[op].format(_vector(method, x.args[0]))
        case op:
            raise _cannot(method, op)


def _times(scalar: Any, body: str, several: bool) -> str:
    negative = scalar.could_extract_minus_sign() and not scalar.is_Add
    sign, size = ("-", -scalar) if negative else ("", scalar)
    inside = f"({body})" if several else body
    if size == 1:
        return sign + inside
    return f"{sign}{f'({formula(size)})' if size.is_Add or size.is_Rational else formula(size)} * {inside}"


def _number(method: Method, number: Number) -> str:
    if number.law != "expect":
        raise _cannot(method, number.law)
    inside = [_times(c, _atom(method, atom), False) for c, atom in number.terms if atom[0] != "f_star"]
    best = [_times(c, "fa.f_star", False) for c, atom in number.terms if atom[0] == "f_star"]
    return joined([f"fa.expect({joined(inside)})", *best])


def _atom(method: Method, atom: tuple[Any, ...]) -> str:
    op, *args = atom
    if op == "mean":
        return f"fa.mean({_atom(method, args[0])})"
    if op not in ATOMS or any(isinstance(arg, Weights) for arg in args):
        raise _cannot(method, op)
    return ATOMS[op].format(*(_vector(method, arg) for arg in args))


def _cannot(method: Method, what: str) -> CannotWrite:
    expected = "a method that a file of one's own can spell out"
    return CannotWrite(
        f"{method.id}, which uses {what}", expected, "begin with `--method fedavg` or `--method fedprox`"
    )
