"""Is a statement written so that it can be computed with? Ids, kinds, names, indices, ranges, assumptions, numbers.

`faults` is asked by `lint` and before every move, so that a slip in somebody's own file is one line that says what
stands there, what was expected and what to do, and not an error from deep inside.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from sympy import Dummy, Float
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from fedaudit.errors import UserError

from .assumptions import ASSUMPTIONS
from .method import Method
from .method_check import slips
from .offers import ranges
from .statement import Assumption, Kind, Statement


@dataclass(frozen=True, slots=True)
class Fault:
    """One slip: what stands there, what was expected, what to do."""

    got: str
    expected: str
    do: str

    def __str__(self) -> str:
        return f"got {self.got}, expected {self.expected}; do: {self.do}"


def check(statement: Statement) -> None:
    """`UserError` for the first fault."""
    for fault in faults(statement):
        raise UserError(f"{statement.id}: {fault}")


def faults(statement: Statement) -> Iterator[Fault]:
    """All that keeps the statement from being computed with."""
    if "/" not in statement.id.strip("/"):
        yield Fault(f"the id {statement.id!r}", "paper/label", f"write id='mine/{statement.id}'")
    if statement.kind not in get_args(Kind):
        yield Fault(f"kind={statement.kind!r}", f"one of {', '.join(get_args(Kind))}", "a lemma is an inequality")
    yield from _relations(statement)
    yield from _numbers(statement)
    if isinstance(statement.method, Method) and statement.kind != "experiment":  # those read what they like
        yield from (Fault(*slip) for slip in slips(statement.method))
        yield from _conditions(statement)
        yield from _assumptions((*statement.let, *statement.implicit))
        yield from _names(statement, statement.method)
        yield from _choices(statement, statement.method)
        yield from _indices(statement, statement.method)


def _relations(statement: Statement) -> Iterator[Fault]:
    parts: tuple[Any, ...] = statement.then if isinstance(statement.then, tuple) else (statement.then,)
    for part in parts:
        if isinstance(part, bool | BooleanTrue | BooleanFalse):
            yield Fault(f"`then` with {part} in place of a relation", "a claim", "write Eq(left, right), Le or Ge")


def _conditions(statement: Statement) -> Iterator[Fault]:
    """Conditions are about the instance, not about one index of it."""
    for condition in statement.when:
        bare = condition.replace(lambda x: isinstance(x, AppliedUndef), lambda _: Dummy())
        for index in sorted(set(statement.for_all) & bare.free_symbols, key=str):
            expected = f"the range of the index {index} in `for_all`"
            yield Fault(f"{condition} in `when`", expected, f"write for_all={{{index}: (first, last)}}")


def _numbers(statement: Statement) -> Iterator[Fault]:
    for name, formulas in _formulas(statement).items():
        for number in sorted({float(x) for formula in formulas for x in formula.atoms(Float)}):
            p, q = number.as_integer_ratio()
            exact = f"Rational({p}, {q})" if q <= 1024 else f"Rational('{number}')"
            yield Fault(f"the float {number} in `{name}`", "exact numbers", f"write {exact}")


def _formulas(statement: Statement) -> dict[str, list[Any]]:
    """Every formula, by the field that it stands in."""
    fields: dict[str, list[Any]] = {"then": list(statement.relations), "when": list(statement.when)}
    for name in ("choose", "where", "sweep"):
        pairs: Mapping[Any, Any] = getattr(statement, name)
        fields[name] = [*pairs.keys(), *pairs.values()]
    return fields | {"for_all": [end for ends in statement.for_all.values() for end in ends]}


def _assumptions(assumptions: Iterable[Assumption]) -> Iterator[Fault]:
    for one in assumptions:
        if one.means is not None:
            continue
        known = ASSUMPTIONS.get(one.name)
        if known is None:
            do = f"{_near(one.name, ASSUMPTIONS)} `fedaudit assumptions` lists them"
            yield Fault(f"the assumption {one.name!r}", "one that runs understand", do)
        elif len(one.args) != known.constants:
            got = f"the assumption {one.name!r} with the constants ({', '.join(map(str, one.args))})"
            yield Fault(got, f"{known.constants} of them", f"write Assumption({one.name!r}, (…,)): {known.asks}")


def _names(statement: Statement, method: Method) -> Iterator[Fault]:
    known = [*method.measures, *method.formulas, *method.steps(), *method.before, *method.before.values()]
    known += [*statement.choose, *statement.where]
    offers = {x.func.__name__: len(x.args) for x in known if isinstance(x, AppliedUndef)} | {"p": 1}
    means = [a.means for a in (*statement.let, *statement.implicit) if a.means is not None]
    formulas = (*statement.relations, *statement.when, *statement.choose.values(), *statement.where.values())
    unknown = set[str]()
    for x in _quantities((*formulas, *means)):
        name = x.func.__name__
        if name in unknown:  # once is enough, wherever it stands
            continue
        if name not in offers:
            unknown.add(name)
            expected = f"what {method.id} offers ({', '.join(sorted(offers))})"
            yield Fault(repr(name), expected, _near(name, offers))
        elif len(x.args) != offers[name]:
            do = f"`fedaudit methods {method.id}` shows its measures"
            yield Fault(f"{x} with {len(x.args)} indices", str(offers[name]), do)


def _choices(statement: Statement, method: Method) -> Iterator[Fault]:
    """What is chosen at an index is a step size of the rules."""
    steps = {x.func.__name__ for x in method.steps()}
    for x in statement.choose:
        if isinstance(x, AppliedUndef) and x.func.__name__ not in steps:
            expected = f"a step size of {method.id} ({', '.join(sorted(steps)) or 'it has none'})"
            do = f"{_near(x.func.__name__, steps)} Or define it in `where`"
            yield Fault(f"`choose` of {x.func.__name__!r}", expected, do)


def _indices(statement: Statement, method: Method) -> Iterator[Fault]:
    """Every index of a measure or of a step size stays in its range, where that can be said for all sizes."""
    steps = {x.func.__name__: (x.args, 1) for x in method.steps()}  # none after the last round
    known = steps | {x.func.__name__: (x.args, 0) for x in method.measures if isinstance(x, AppliedUndef)}
    for x in _quantities((*statement.relations, *statement.when)):
        at, less = known.get(x.func.__name__, ((), 0))
        letters = [method.names.get(index, str(index)) for index in at]
        allowed = ranges(method, statement.glossary, at)
        for one, value in zip(allowed, x.args, strict=False):  # another number of them is a fault of its own
            if one is None or not value.free_symbols & set(statement.for_all):
                continue
            last = one.last - less * (one.letter == "k" or "k" not in letters)
            low, high = (_at_end(statement, value, side) for side in (0, 1))
            if (high - last).is_positive or (one.first - low).is_positive:
                got = f"{x}, whose index {one.letter} goes from {low} to {high}"
                yield Fault(got, f"{one.first} to {last}", "mend `for_all`")


def _quantities(formulas: Iterable[Any]) -> list[AppliedUndef]:
    return sorted({x for formula in formulas for x in formula.atoms(AppliedUndef)}, key=str)


def _at_end(statement: Statement, value: Any, side: int) -> Any:
    """The index at the first or the last place; ranges may depend on one another."""
    for _ in statement.for_all:
        value = value.subs({index: ends[side] for index, ends in statement.for_all.items()})
    return value


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f"did you mean {close[0]!r}?" if close else "use one of them."
