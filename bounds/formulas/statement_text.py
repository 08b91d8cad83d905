"""A statement as text, as LaTeX or as data: its parts in the order in which the paper prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from sympy import Basic, Expr, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from ..language.method import quantity_name
from ..language.statement import Assumption, Entry, Statement
from .algorithm_box import algorithm, measures
from .formula import Form, form_of
from .greek import in_greek
from .printer import PEOPLE, PYTHON, latex_form, text

__all__ = ["formulas", "letters", "parts", "printed", "relations_latex", "show", "shown_row", "used_symbols"]

Print = Callable[[Form | Basic], str]  # a form, or an expression
GROWTH = {  # of orders: text and LaTeX
    "<=": ("O", r"\mathcal{O}"),
    "<": ("o", "o"),
    ">=": ("Ω", r"\Omega"),
    ">": ("ω", r"\omega"),
    "=": ("Θ", r"\Theta"),
}


def relation(statement: Statement, whole: Relational, said: Print, *, as_latex: bool) -> str:
    """A relation; of orders of growth as they are printed, left = O(right)."""
    form = form_of(whole)
    if statement.compares_limits and form.op in GROWTH:
        to = r"\lim_{C \to \infty} " if as_latex else "lim "
        left, right = (to + said(side) for side in form.args)
        signs = {"<=": (r"\leq", "≤"), ">=": (r"\geq", "≥")}
        sign = signs[form.op][not as_latex] if form.op in signs else form.op
        return f"{left} {sign} {right}"
    if not statement.compares_formulas or form.op not in GROWTH:
        return said(form)
    left, right = map(said, form.args)
    name = GROWTH[form.op][as_latex]
    return f"{left} = {name}\\left({right}\\right)" if as_latex else f"{left} = {name}({right})"


def formulas(statement: Statement, *, as_latex: bool = False) -> list[tuple[str, list[str]]]:
    """The statement's formulas in the paper's order: choose, when, then, for all, where, limit, order."""
    said: Print = partial(latex_form, glossary=statement.glossary) if as_latex else text
    return _lines(statement, said, as_latex=as_latex)


def _lines(statement: Statement, said: Print, *, as_latex: bool) -> list[tuple[str, list[str]]]:
    def equal(pairs: Mapping[Expr, Expr]) -> list[str]:
        return [f"{said(name)} = {said(value)}" for name, value in pairs.items()]

    def span(index: Symbol, low: Expr, high: Expr) -> str:
        a, b, c = said(index), said(low), said(high)
        return f"{a} \\in \\{{{b}, \\ldots, {c}\\}}" if as_latex else f"{a} = {b}, …, {c}"

    to = r"\to" if as_latex else "→"
    when = r"\text{ as }" if as_latex else "as"
    return [
        ("choose", equal(statement.choose)),
        ("when", [said(condition) for condition in statement.when]),
        ("then", [relation(statement, r, said, as_latex=as_latex) for r in statement.relations]),
        ("for all", [span(index, low, high) for index, (low, high) in statement.for_all.items()]),
        ("where", equal(statement.where)),
        ("limit", [f"{to} {said(m.value)} {when} {said(m.variable)} {to} {said(m.point)}" for m in statement.limits]),
        ("printed order", [] if statement.order is None else [said(statement.order)]),
    ]


def parts(statement: Statement) -> list[tuple[str, list[str]]]:
    """The statement in the paper's order, as LaTeX lines; the algorithm last."""
    lines = formulas(statement, as_latex=True)
    return [*(pair for pair in lines if pair[0] not in ("limit", "printed order")), *_method(statement, as_latex=True)]


def relations_latex(statement: Statement) -> tuple[str, ...]:
    """The printed chain as LaTeX."""
    return tuple(dict(formulas(statement, as_latex=True))["then"])


def sides_latex(statement: Statement) -> tuple[str, str]:
    """Both sides of the first relation as LaTeX."""
    left, right = statement.relations[0].args
    return latex_form(left, statement.glossary), latex_form(right, statement.glossary)


def _method(statement: Statement, *, as_latex: bool) -> list[tuple[str, list[str]]]:
    """The algorithm, and the measures of it that the statement reads."""
    if isinstance(statement.method, str):
        return []
    meant = [a.means for a in (*statement.let, *statement.implicit) if a.means is not None]
    exprs: list[Basic] = [statement.defined(e) for e in (*statement.relations, *statement.when, *meant)]
    used = {quantity_name(f) for e in exprs for f in e.atoms(AppliedUndef, Symbol)}
    blocks = [
        ("algorithm", algorithm(statement.method, as_latex=as_latex)),
        ("measures", measures(statement.method, used, as_latex=as_latex)),
    ]
    return blocks if as_latex else [(name, [in_greek(line) for line in lines]) for name, lines in blocks]


def show(statement: Statement) -> str:
    """The whole statement for a terminal."""

    def said(assumption: Assumption) -> str:
        return f"{assumption.name}: {assumption.says}" + (f"  [{assumption.cite}]" if assumption.cite else "")

    lines = [f"{statement.id}  ({statement.kind})", statement.title, f"printed: {statement.cite}"]
    lines += _block("let", [said(a) for a in statement.let])
    lines += _block("implicit", [said(a) for a in statement.implicit])
    lines_of = dict(formulas(statement))
    for name in ("choose", "when", "then", "for all", "where"):
        lines += _block(name, lines_of[name])
    for name, rows in _method(statement, as_latex=False):
        lines += _block(name, rows)
    for name in ("limit", "printed order"):
        lines += _block(name, lines_of[name])
    lines += _block("follows from", [", ".join(d.cites) for d in statement.follows_from])
    lines += _block("reading", list(statement.reading))
    lines += _block("repairs", [statement.repairs] if statement.repairs else [])
    lines += _block("quoted", [statement.quoted] if statement.quoted else [])
    lines += _block("waits for", [statement.waits_for] if statement.waits_for else [])
    lines += _block("symbols", [_symbol(s, e) for s, e in used_symbols(statement)])
    return "\n".join(lines)


def _symbol(symbol: Basic, entry: Entry) -> str:
    """A line of the glossary; a letter with the name that `fedaudit bound` takes."""
    name, letter = str(symbol), in_greek(str(symbol))
    return f"{letter}{f' ({name})' if letter != name else ''}: {entry.meaning}  [{entry.dim}]"


def _block(name: str, rows: list[str]) -> list[str]:
    return [f"{name}:", *(f"  {row}" for row in rows)] if rows else []


def used_symbols(statement: Statement) -> list[tuple[Basic, Entry]]:
    """The lines of the glossary that the statement speaks of."""
    pairs: list[tuple[Expr, Expr]] = [*statement.where.items(), *statement.choose.items()]
    exprs: list[Basic] = [*statement.relations, *statement.when]
    exprs += [e for pair in pairs for e in pair]
    if not isinstance(statement.method, str):
        exprs += statement.method.scalars(())
    heads = {atom for e in exprs for atom in e.free_symbols} | {f.func for e in exprs for f in e.atoms(AppliedUndef)}
    return [(s, entry) for s, entry in statement.glossary.items() if s in heads]


def letters(statement: Statement) -> dict[str, str]:
    """Name -> LaTeX of what a counterexample may speak of: symbols, and quantities (templates of their indices)."""
    used = {s for s, _ in used_symbols(statement)}
    if not isinstance(statement.method, str):
        used |= {q.func for q in (*statement.method.measures, *statement.method.formulas) if hasattr(q, "func")}
    names = {str(s): e.latex for s, e in statement.glossary.items() if e.latex and (isinstance(s, Symbol) or s in used)}
    if not isinstance(statement.method, str):
        claimed = {str(s) for s in statement.for_all}
        for symbol, name in statement.method.names.items():
            entry = statement.glossary.get(symbol)
            if name not in claimed:  # what the claim counts by keeps its own letter: the device m, not the size I
                names[name] = (entry.latex if entry else "") or str(symbol)
    return names


def _words(assumptions: Iterable[Assumption]) -> list[dict[str, str]]:
    return [{"name": a.name, "says": a.says, "cite": a.cite} for a in assumptions]


def as_printed(statement: Statement) -> list[str]:
    """What stands in the paper where the claim is only what that implies on some problem, as LaTeX; nothing otherwise.

    The left side of an order claim may be a closed form of one run: its form says which quantity it is. An inequality
    with 0 on the right and a printed order is what the order implies of a run at rest.
    """
    whole = statement.relations[0]
    left, right = whole.args
    if statement.kind == "order" and statement.form is not None:
        measured = statement.form.identity.relations[0].args[0]
        name = latex_form(measured, statement.form.identity.glossary)
        said: Print = partial(latex_form, glossary=statement.glossary)
        told = relation(statement, whole, said, as_latex=True)
        return [name + told.removeprefix(said(form_of(whole).args[0]))]
    if statement.kind == "inequality" and statement.order is not None and right == 0:
        name, order = (latex_form(side, statement.glossary) for side in (left, statement.order))
        return [rf"{name} = \mathcal{{O}}\left({order}\right)"]
    return []


def printed(statement: Statement) -> dict[str, object]:
    """The statement as the report prints it: words, and formulas as LaTeX."""
    return {
        "title": statement.title,
        "kind": statement.kind,
        "where": statement.cite,
        "method": statement.method_id,
        "let": _words(statement.let),
        "implicit": _words(statement.implicit),
        "parts": [[name, lines] for name, lines in parts(statement) if lines],
        "reading": list(statement.reading),
        "repairs": statement.repairs,
        "letters": letters(statement),
        "as_printed": as_printed(statement),
    }


def shown_row(statement: Statement) -> dict[str, object]:
    """The statement as data: each formula as text, in Python's signs and names, and as LaTeX."""
    forms: dict[str, Print] = {
        "text": partial(text, style=PEOPLE),
        "python": partial(text, style=PYTHON),
        "latex": partial(latex_form, glossary=statement.glossary),
    }
    said = {kind: dict(_lines(statement, form, as_latex=kind == "latex")) for kind, form in forms.items()}
    names = [name for name, lines in said["text"].items() if lines]
    return {
        "id": statement.id,
        "paper": statement.paper,
        **{name: value for name, value in printed(statement).items() if name not in ("parts", "letters", "as_printed")},
        "formulas": {
            name: [{kind: said[kind][name][n] for kind in forms} for n in range(len(said["text"][name]))]
            for name in names
        },
        "algorithm": dict(_method(statement, as_latex=False)).get("algorithm", []),
        "symbols": [
            {
                "name": str(s),
                "latex": entry.latex or str(s),
                "meaning": entry.meaning,
                "dimension": str(entry.dim),
            }
            for s, entry in used_symbols(statement)
        ],
    }
