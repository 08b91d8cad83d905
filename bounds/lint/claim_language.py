"""What a claim may be written with: numbers and operations that the kernel reads, domains that it checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sympy import Basic, Float, Indexed, Rational, Symbol
from sympy.logic.boolalg import And, BooleanFalse, BooleanTrue

from ..formulas.lowering import NO_NUMBERS, domain_of, unreadable
from ..formulas.number_length import MOST_DIGITS, digits
from ..language.method import Method
from ..language.statement import Statement
from .fault import Fault

OPERATIONS = "rational numbers, e, +, *, powers, Min, Max, exp, log, Abs, erf, sums and relations"
DOMAINS: Mapping[str, Mapping[str, bool]] = {
    "count": {"positive": True, "integer": True},
    "index": {"nonnegative": True, "integer": True},
    "positive": {"positive": True},
    "nonnegative": {"nonnegative": True},
    "real": {"real": True},
}


def long_number(statement: Statement) -> Fault | None:
    """A number that is too long to be printed or computed with: whoever shows a statement asks for it first."""
    for name, formulas in statement.formulas.items():
        longest = max((digits(x.p, x.q) for formula in formulas for x in formula.atoms(Rational)), default=0)
        if longest > MOST_DIGITS:
            return Fault(f"a number of {longest} digits in `{name}`", f"at most {MOST_DIGITS}", "write a shorter one")
    return None


def operation_faults(statement: Statement) -> Iterator[Fault]:
    """Parts of the claim, with its definitions and the formulas of its method written out, that have no tree."""
    method = statement.method
    fields = {"then": statement.relations, "when": statement.when, "choose": statement.choose.values()}
    for name, formulas in fields.items():
        defined = [statement.defined(formula) for formula in formulas]
        written = [method.written(formula) if isinstance(method, Method) else formula for formula in defined]
        parts = {part for formula in written for part in unreadable(formula)}
        for part in sorted((part for part in parts if not isinstance(part, Float)), key=str):
            yield _fault(part, name)


def _fault(part: Basic, field: str) -> Fault:
    if part in NO_NUMBERS:
        return Fault(f"{part} in `{field}`", "real numbers", "look for a division by 0 or the root of a negative")
    if isinstance(part, And):
        return Fault(f"{part} in `{field}`", "single relations", "write them one by one, as a tuple")
    if isinstance(part, BooleanTrue | BooleanFalse):
        return Fault(f"{part} in `{field}`, written out", "a relation", "leave it out: it is decided as written")
    return Fault(f"{part} in `{field}`", OPERATIONS, "write it with those, or give it a letter of its own")


def domain_faults(formulas: Iterable[Basic]) -> Iterator[Fault]:
    """Symbols that say more of themselves than the kernel checks of an instance: of a negative one it would try 0."""
    parts = list(formulas)
    labels = {part.base.label for formula in parts for part in formula.atoms(Indexed)}
    symbols = {s for formula in parts for s in formula.free_symbols if isinstance(s, Symbol)} - labels
    for symbol in sorted(symbols, key=str):
        if symbol.assumptions0 != Symbol(symbol.name, **DOMAINS[domain_of(symbol)]).assumptions0:
            expected = "positive, nonnegative, real, a count or an index"
            do = "declare one of these; of a negative number write the size, with a minus in the formulas"
            yield Fault(f"another domain of the symbol {symbol}", expected, do)
