"""Two symbols of one name. Claims are computed by name: the two would be taken for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sympy import Dummy, Expr, Symbol
from sympy.core.function import AppliedUndef

from ..language.method import Method, quantity_name
from ..language.statement import Statement
from .fault import Fault


def homonym_faults(statement: Statement) -> Iterator[Fault]:
    """Symbols that differ in what is assumed of them alone, quantities that do, and names of two dimensions."""
    formulas = list(_formulas(statement))
    symbols = {s for formula in formulas for s in formula.atoms(Symbol) if not isinstance(s, Dummy)}
    names = {s.name for s in symbols}
    by_name: dict[str, set[Expr]] = {}
    for symbol in (*symbols, *(s for s in statement.glossary if isinstance(s, Symbol) and s.name in names)):
        by_name.setdefault(symbol.name, set()).add(symbol)
    for name, several in sorted(by_name.items()):
        if len(several) > 1:
            kinds = " and ".join(sorted(_kind(s) for s in several))
            yield Fault(f"two symbols named {name} ({kinds})", "one", "take the glossary's symbol everywhere")
    quantities = [q.__name__ for q in {q.func for formula in formulas for q in formula.atoms(AppliedUndef)}]
    for name in sorted({name for name in quantities if quantities.count(name) > 1}):
        yield Fault(f"two quantities named {name}", "one", "take the glossary's quantity everywhere")
    heads = {str(head): entry for head, entry in statement.glossary.items() if not isinstance(head, Symbol)}
    for symbol in sorted(symbols & {*statement.glossary}, key=str):
        other, own = heads.get(symbol.name), statement.glossary[symbol]
        if other is not None and other.dim != own.dim:
            got = f"{symbol} ({own.dim}) and {symbol}(…) ({other.dim}) under one name"
            yield Fault(got, "one dimension where a name is shared", "rename one of them")


def _formulas(statement: Statement) -> Iterator[Any]:
    """All that the statement and its method speak of."""
    yield from (*statement.relations, *statement.when)
    for pairs in (statement.choose, statement.where, statement.sweep, statement.for_all):
        for head, value in pairs.items():
            yield from (head, value)
    for assumption in (*statement.let, *statement.implicit):
        yield from assumption.args
        yield from () if assumption.means is None else (assumption.means,)
    if isinstance(statement.method, Method):
        method = statement.method
        yield from (*method.names, *method.measures)
        yield from method.scalars([quantity_name(q) for q in method.measures])


def _kind(symbol: Expr) -> str:
    said: Mapping[str, bool] = symbol.assumptions0
    kind = next((kind for kind in ("positive", "nonnegative", "real") if said.get(kind)), "nothing said")
    return f"{kind} integer" if said.get("integer") else kind
