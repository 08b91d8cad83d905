"""A statement as text or LaTeX, generated from the one formula that the catalogue holds."""

# sympy ships no type stubs, and few of its methods are annotated (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Basic, Eq, Expr, Ge, Gt, Le, Lt, Symbol
from sympy.core.function import AppliedUndef

from .algorithm import algorithm, measures
from .latex import latex
from .method import quantity_name
from .statement import RELATIONS, Assumption, Statement

GROWTH: dict[type, tuple[str, str]] = {
    Le: ("O", r"\mathcal{O}"),
    Lt: ("o", "o"),
    Ge: ("Omega", r"\Omega"),
    Gt: ("omega", r"\omega"),
    Eq: ("Theta", r"\Theta"),
}


def _relation(statement: Statement, relation: Any, form: Callable[[Basic], str], as_latex: bool) -> str:
    """A relation; of orders of growth as they are printed, left = O(right)."""
    if statement.method == "network_limit" and type(relation) in RELATIONS:
        sign, to = RELATIONS[type(relation)], r"\lim_{C \to \infty} " if as_latex else "lim "
        sign = {"<=": r"\leq", ">=": r"\geq"}.get(sign, sign) if as_latex else sign
        return f" {sign} ".join(to + form(side) for side in relation.args)
    if statement.method != "order" or type(relation) not in GROWTH:
        return form(relation)
    left, right = (form(side) for side in relation.args)
    name = GROWTH[type(relation)][as_latex]
    return f"{left} = {name}\\left({right}\\right)" if as_latex else f"{left} = {name}({right})"


def relation_latex(statement: Statement, relation: Any) -> str:
    """A relation as it is printed."""
    return _relation(statement, relation, lambda expr: latex(expr, statement.glossary), True)


def parts(statement: Statement) -> list[tuple[str, list[str]]]:
    """The statement in the paper's order, as LaTeX lines: let, choose, when, then, where."""

    def tex(expr: Basic) -> str:
        return latex(expr, statement.glossary)

    def equal(pairs: Any) -> list[str]:
        return [f"{tex(a)} = {tex(b)}" for a, b in pairs]

    ranges = [f"{tex(v)} \\in \\{{{tex(r[0])}, \\ldots, {tex(r[1])}\\}}" for v, r in statement.for_all.items()]
    return [
        ("choose", equal(statement.choose.items())),
        ("when", [tex(c) for c in statement.when]),
        ("then", [relation_latex(statement, r) for r in statement.relations]),
        ("for all", ranges),
        ("where", equal(statement.where.items())),
        *_method(statement, as_latex=True),
    ]


def _method(statement: Statement, *, as_latex: bool) -> list[tuple[str, list[str]]]:
    """The algorithm, and the measures of it that the statement reads."""
    if isinstance(statement.method, str):
        return []
    meant = [a.means for a in (*statement.let, *statement.implicit) if a.means is not None]
    exprs: list[Any] = [statement.defined(e) for e in (*statement.relations, *statement.when, *meant)]
    used = {quantity_name(f) for e in exprs for f in e.atoms(AppliedUndef, Symbol)}
    return [
        ("algorithm", algorithm(statement.method, as_latex=as_latex)),
        ("measures", measures(statement.method, used, as_latex=as_latex)),
    ]


def show(statement: Statement, *, as_latex: bool = False) -> str:
    """The whole statement for a terminal, formulas as text or LaTeX."""

    def form(expr: Basic) -> str:
        return latex(expr, statement.glossary) if as_latex else str(expr)

    def said(assumption: Assumption) -> str:
        return f"{assumption.name}: {assumption.says}" + (f"  [{assumption.cite}]" if assumption.cite else "")

    lines = [f"{statement.id}  ({statement.kind})", statement.title, f"printed: {statement.cite}"]
    lines += _block("let", [said(a) for a in statement.let])
    lines += _block("implicit", [said(a) for a in statement.implicit])
    lines += _block("choose", [f"{form(a)} = {form(b)}" for a, b in statement.choose.items()])
    lines += _block("when", [form(c) for c in statement.when])
    lines += _block("then", [_relation(statement, r, form, as_latex) for r in statement.relations])
    lines += _block("for all", [f"{form(v)} = {form(r[0])} .. {form(r[1])}" for v, r in statement.for_all.items()])
    lines += _block("where", [f"{form(a)} = {form(b)}" for a, b in statement.where.items()])
    for name, rows in _method(statement, as_latex=as_latex):
        lines += _block(name, rows)
    lines += _block("limit", [f"-> {form(m.value)} as {form(m.variable)} -> {form(m.point)}" for m in statement.limits])
    lines += _block("printed order", [form(statement.order)] if statement.order is not None else [])
    lines += _block("follows from", [", ".join(d.cites) for d in statement.follows_from])
    lines += _block("reading", list(statement.reading))
    lines += _block("repairs", [statement.repairs] if statement.repairs else [])
    lines += _block("quoted", [statement.quoted] if statement.quoted else [])
    lines += _block("symbols", [f"{form(s)}: {e.meaning}  [{e.dim}]" for s, e in _used(statement)])
    return "\n".join(lines)


def _block(name: str, rows: list[str]) -> list[str]:
    return [f"{name}:", *(f"  {row}" for row in rows)] if rows else []


def _used(statement: Statement) -> list[tuple[Any, Any]]:
    pairs: list[tuple[Any, Any]] = [*statement.where.items(), *statement.choose.items()]
    exprs: list[Any] = [*statement.relations, *statement.when]
    exprs += [e for pair in pairs for e in pair if isinstance(e, Expr)]
    if not isinstance(statement.method, str):
        exprs += statement.method.scalars(())
    heads = {atom for e in exprs for atom in e.free_symbols} | {f.func for e in exprs for f in e.atoms(AppliedUndef)}
    return [(s, entry) for s, entry in statement.glossary.items() if s in heads]


def printed(statement: Statement) -> dict[str, Any]:
    """The statement as the report prints it: words, and formulas as LaTeX."""

    def words(assumptions: Any) -> list[dict[str, str]]:
        return [{"name": a.name, "says": a.says, "cite": a.cite} for a in assumptions]

    return {
        "title": statement.title,
        "kind": statement.kind,
        "where": statement.cite,
        "method": statement.method_id,
        "let": words(statement.let),
        "implicit": words(statement.implicit),
        "parts": [[name, lines] for name, lines in parts(statement) if lines],
        "reading": list(statement.reading),
        "repairs": statement.repairs,
    }
