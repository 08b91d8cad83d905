"""A method as Python that somebody can paste into a file of their own and change."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sympy import Basic, Dummy, Expr, Pow, Rational, Sum, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.printing.str import StrPrinter

from ..formulas.printer import joined
from ..language.method import Method, Rules, quantity_name
from ..language.method_interface import size
from ..language.rule_parts import Atom, Number, Vector, Weights, as_vector
from ..language.statement import Formula

Named: TypeAlias = Formula  # a symbol, or the head of a quantity

PHASES = ("server", "client", "begin", "local", "end", "update")
COMMENTS = {
    "server": "vectors of the server, and what they are before round 0",
    "client": "vectors of every client",
    "begin": "when the round reaches a client",
    "local": "E times",
    "end": "after the local steps",
    "update": "at the server",
}
RENAMED = {"again": "noisy", "sampled": "mean"}  # operation -> the word it is written with
OPTION = {"again": "again=True", "sampled": 'over="sampled"'}
TURNED = ("coin", "prox", "oracle", "full_prox", "training_prox")  # written with the vector first
LAWS = {"of_mean": "mean_norm2", "around_mean": "variance"}  # of |x|^2, written as words of x


class Printer(StrPrinter):
    """Formulas as Python with exact numbers."""

    def _print_Rational(self, expr: Rational) -> str:
        return str(expr.p) if expr.q == 1 else f"fa.Rational({expr.p}, {expr.q})"

    def _print_Symbol(self, expr: Symbol) -> str:
        return name_of(expr)

    def _print_Pow(self, expr: Pow, rational: bool = False) -> str:
        if abs(expr.exp) == Rational(1, 2):
            return f"{'1/' if expr.exp < 0 else ''}fa.sqrt({self._print(expr.base)})"
        return super()._print_Pow(expr, rational)

    def _print_Sum(self, expr: Sum) -> str:
        limits = ", ".join(f"({', '.join(map(self._print, limit))})" for limit in expr.limits)
        return f"fa.Sum({self._print(expr.function)}, {limits})"

    def _print_Function(self, expr: Expr) -> str:
        inside = ", ".join(map(self._print, expr.args))
        return f"{name_of(expr.func)}({inside})" if isinstance(expr, AppliedUndef) else f"fa.{expr.func}({inside})"


def name_of(x: Vector | Named) -> str:
    """A symbol, quantity or vector as a Python name."""
    name = "".join(c if c.isalnum() else "_" for c in (x.args[0] if isinstance(x, Vector) else str(x)))
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


def formula(expr: Basic | float) -> str:
    """A formula of the glossary's symbols as Python."""
    return Printer().doprint(expr)


def glossary_lines(method: Method, also: Iterable[Named] = ()) -> list[str]:
    """What makes the symbols of the method, of its measures, and some more."""
    sizes = [size(method, method.glossary, name) for name in ("T", "E", "C")]
    kept = _letters(method)
    named = [key for key in method.glossary if key in kept or key in also]
    return [_entry(key, method) for key in dict.fromkeys([*sizes, *named, *sorted(kept, key=str)])]


def method_lines(method: Method) -> list[str]:
    """`METHOD = fa.Method(...)`, with the vectors before it."""
    vectors = (*method.server, *method.client)
    lines = [f"{name_of(v)} = fa.vector({', '.join(map(_quoted, dict.fromkeys(v.args)))})" for v in vectors]
    lines += ["METHOD = fa.Method(", f"    id={_quoted(method.id)},", f"    title={_quoted(method.title)},"]
    lines += [f"    cite={_quoted(method.cite)},", "    glossary=GLOSSARY,"]
    for phase in PHASES:
        rules: Rules = getattr(method, phase)
        if rules or phase in ("server", "client"):  # which every method has
            inside = ", ".join(f"{name_of(v)}: {_part(as_vector(value))}" for v, value in rules.items())
            lines.append(f"    {phase}={{{inside}}},  # {COMMENTS[phase]}")
    lines.append("    measures={")
    lines += [f"        {formula(q)}: {_part(number)}," for q, number in method.measures.items()]
    lines.append("    },")
    for name in ("formulas", "before", "names"):
        pairs: Mapping[Expr, Expr | str] = getattr(method, name)
        if pairs:
            inside = ", ".join(f"{formula(key)}: {_part(value)}" for key, value in pairs.items())
            lines.append(f"    {name}={{{inside}}},")
    for name in ("counts_from", "clock", "first"):
        value = getattr(method, name)
        if value not in (0, "rounds"):
            lines.append(f"    {name}={_quoted(value) if isinstance(value, str) else formula(value)},")
    return [*lines, ")"]


def _letters(method: Method) -> set[Named]:
    """Every symbol and quantity that the method is written with."""
    measures = {quantity_name(q) for q in method.measures}
    pairs = [pair for each in (method.formulas, method.before, method.names) for pair in each.items()]
    formulas = [
        *method.scalars(measures),
        *method.measures,
        *(x for pair in pairs for x in pair if not isinstance(x, str)),
    ]
    symbols = {s for x in formulas for s in x.atoms(Symbol)}
    return symbols | {q.func for x in formulas for q in x.atoms(AppliedUndef)}


def _entry(key: Named, method: Method) -> str:
    entry = method.glossary.get(key)
    meaning, dim, latex = (entry.meaning, str(entry.dim), entry.latex) if entry else (str(key), "1", "")
    told = f", {_quoted(latex)}" if latex else ""
    if isinstance(key, UndefinedFunction):
        said = f"{_quoted(str(key))}, {_quoted(dim)}, {_quoted(meaning)}{told}{_sign(key(Dummy()))}"
        return f"{name_of(key)} = GLOSSARY.quantity({said})"
    if key.is_integer:
        maker = "count" if key.is_positive else "index"
        return f"{name_of(key)} = GLOSSARY.{maker}({_quoted(str(key))}, {_quoted(meaning)}{told})"
    sign = "" if key.is_positive else _sign(key)
    return f"{name_of(key)} = GLOSSARY.symbol({_quoted(str(key))}, {_quoted(dim)}, {_quoted(meaning)}{told}{sign})"


def _sign(x: Expr) -> str:
    """What is known of the sign of a symbol, or of a quantity at some index (the name alone knows none)."""
    return ", positive=True" if x.is_positive else ", nonnegative=True" if x.is_nonnegative else ", real=True"


def _quoted(text: str) -> str:
    """As Python writes it, raw where it has backslashes."""
    plain = '"' not in text and not text.endswith("\\")
    return f'r"{text}"' if plain and "\\" in text else f'"{text}"' if plain else repr(text)


def _part(x: Vector | Weights | Number | Expr | str) -> str:
    """A vector, weights, a number, or a formula among what they are applied to."""
    match x:
        case str():
            return _quoted(x)
        case Vector(op="name"):
            return name_of(x)
        case Vector(op="zero"):
            return "0"
        case Vector(op="+"):
            return joined(_part(term) for term in x.args)
        case Vector(op="*"):
            scalar, vector = x.args
            return _times(scalar, _part(vector), vector.op == "+" or (vector.op == "*" and abs(scalar) != 1))
        case Vector(op="weighted"):
            weights, vector = x.args
            return f"fa.mean({_part(vector)}, weights={_part(weights)})"
        case Vector() | Weights():
            return _call(x.op, x.args)
        case Number():
            return _number(x)
        case _:
            return formula(x)


def _call(op: str, args: Atom) -> str:
    """An operation as it is written; one without arguments is a name."""
    inside = [_part(arg) for arg in (reversed(args) if op in TURNED else args)]
    inside += [OPTION[op]] if op in OPTION else []
    return f"fa.{RENAMED.get(op, op)}({', '.join(inside)})" if args else f"fa.{op}"


def _times(scalar: Expr, body: str, several: bool) -> str:
    negative = scalar.could_extract_minus_sign() and not scalar.is_Add
    sign, size = ("-", -scalar) if negative else ("", scalar)
    inside = f"({body})" if several else body
    if size == 1:
        return sign + inside
    return f"{sign}{f'({formula(size)})' if size.is_Add or size.is_Rational else formula(size)} * {inside}"


def _number(number: Number) -> str:
    """A number with its law around it; the least value of f has no need of one."""
    if number.law in LAWS:
        return joined(_times(c, f"fa.{LAWS[number.law]}({_part(atom[1])})", False) for c, atom in number.terms)
    apart = [(c, atom) for c, atom in number.terms if number.law == "expect" and atom[0] == "f_star"]
    inside = joined(_times(c, _atom(atom), False) for c, atom in number.terms if (c, atom) not in apart)
    each = ", each_round=True" if number.each_round else ""
    around = f"fa.{number.law}({inside}{each})" if number.law and inside else inside
    return joined([*([around] if around else []), *(_times(c, _atom(atom), False) for c, atom in apart)])


def _atom(atom: Atom) -> str:
    op, *args = atom
    match op:
        case "mean":
            return f"fa.mean({_atom(args[0])})"
        case "weighted":
            return f"fa.mean({_atom(args[1])}, weights={_part(args[0])})"
        case _:
            return _call(op, tuple(args))
