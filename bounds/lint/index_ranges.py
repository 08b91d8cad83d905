"""Does every index stay within the runs? Ranges of `for_all`, and the places at which a claim reads measures.

What can be said for all sizes is said by sympy. Otherwise small sizes that `when` allows are tried: one at which a
claim reads what no run of that size has is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from sympy import Basic, Expr, Indexed, Integer, Sum, Symbol, sympify
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import true

from ..formulas.lowering import name_of
from ..language.method import SIZES, Method
from ..language.method_interface import Range, ranges, size
from ..language.statement import Statement
from .fault import Fault

SMALL = (1, 2, 3, 4)  # sizes that are tried whatever the formulas say
LARGEST = 64  # of a size that is tried
POINTS = 600  # of sizes together
PLACES = 300  # of indices at one size

Span = tuple[Expr, Expr, Expr]  # an index, its first and its last value
Spans = tuple[Span, ...]


def index_faults(statement: Statement, method: Method) -> Iterator[Fault]:
    """Ranges that are empty whatever the sizes are, and places that some run does not have."""
    spans = tuple((index, *ends) for index, ends in statement.for_all.items())
    empty = [fault for span in spans if (fault := _range_fault(statement, method, span))]
    yield from empty
    yield from _sum_faults(statement)
    if not empty:
        places = {
            place: None for formula, over in _formulas(statement, method, spans) for place in _reads(formula, over)
        }
        for quantity, over in sorted(places, key=str):
            yield from _outside(statement, method, quantity, over)


def _formulas(statement: Statement, method: Method, spans: Spans) -> Iterator[tuple[Basic, Spans]]:
    """Relations, conditions and assumptions in measures and step sizes alone, with the ranges of their indices."""
    for relation in (*statement.relations, *statement.when):
        yield method.written(statement.defined(relation)), spans
    for assumption in (*statement.let, *statement.implicit):
        if assumption.means is not None:
            yield assumption.means, tuple((v, sympify(low), sympify(high)) for v, low, high in assumption.for_all)


def _reads(expr: Basic, spans: Spans) -> Iterator[tuple[Expr, Spans]]:
    """Every quantity at its indices, with the ranges of those that are in scope there."""
    if isinstance(expr, AppliedUndef | Indexed):
        yield expr, spans
    if isinstance(expr, Sum):
        limits = reversed(expr.limits)
        spans = (*(span for span in spans if span[0] not in expr.variables), *limits)
    for arg in expr.args:
        yield from _reads(arg, spans)


def _sum_faults(statement: Statement) -> Iterator[Fault]:
    totals = {total for x in (*statement.relations, *statement.when) for total in x.atoms(Sum)}
    for total in sorted(totals, key=str):
        for index, *ends in total.limits:
            if len(ends) != 2 or any(end.is_integer is not True for end in ends):
                do = "write Sum(x, (k, 0, T - 1))"
                yield Fault(f"a sum over {index} from {ends}", "whole numbers as its ends", do)


def _range_fault(statement: Statement, method: Method, span: Span) -> Fault | None:
    index, first, last = span
    said = f"for_all={{{index}: ({first}, {last})}}"
    if index.is_integer is not True:
        return Fault(f"{index} in `for_all`", "an index, which is a whole number", "write G.index('t', 'round')")
    if others := (first.free_symbols | last.free_symbols) & set(statement.for_all):
        return Fault(said, "ends without indices", f"write sizes in place of {', '.join(sorted(map(str, others)))}")
    if first.is_integer is not True or last.is_integer is not True:
        return Fault(said, "whole numbers", "mend `for_all`")
    if (first - last).is_positive:
        return Fault(said, "a range that is not empty", "mend `for_all`")
    if (last - first).is_nonnegative:
        return None
    points = list(_points(statement, method, (first, last)))
    values = [(first.subs(point), last.subs(point)) for point in points]
    if points and not any((high - low).is_nonnegative for low, high in values):
        return Fault(
            said, "a range that some size of the run reaches", "mend it, or say in `when` how large the sizes are"
        )
    return None


def _outside(statement: Statement, method: Method, quantity: Expr, spans: Spans) -> Iterator[Fault]:
    """Indices of one quantity that leave its range at some size."""
    values = quantity.indices if isinstance(quantity, Indexed) else quantity.args
    for one, value in zip(_allowed(statement, method, name_of(quantity)), values, strict=False):
        if one is None:  # another number of them is a fault of its own
            continue
        corners = list(_corners(spans, value))
        # The first corner has all first places, the last one all last places.
        low, high = corners[0], corners[-1]
        if (high - one.last).is_positive or (one.first - low).is_positive:
            got = f"{quantity}, whose index {one.letter} goes from {low} to {high}"
            yield Fault(got, f"{one.first} to {one.last}", "mend `for_all`")
        elif not all(_within(corner, one) for corner in corners) and (
            at := _example(statement, method, spans, value, one)
        ):
            got = f"{quantity}, whose index {one.letter} is {value.subs(at)} at {_said(at)}"
            do = "mend it, or say in `when` which sizes are meant"
            yield Fault(got, f"whole numbers from {one.first} to {one.last}", do)
        elif value.is_integer is not True:
            yield Fault(f"{quantity}", "whole numbers as indices", "write it with an index of the glossary")


def _allowed(statement: Statement, method: Method, name: str) -> list[Range | None]:
    """Where the indices of a measure, a step size or a weight go; there are no steps after the last round."""
    steps = {x.func.__name__: x.args for x in method.steps()}
    at = steps | {name_of(q): q.args for q in method.measures if isinstance(q, AppliedUndef)}
    own = [s for s, letter in method.names.items() if letter == "i"]
    indices = ({"p": tuple(own or [Symbol("i")])} | at).get(name, ())
    spans = list(ranges(method, statement.glossary, indices))
    if name in steps and len(spans) in (1, 2) and (end := spans[-1]) is not None:
        spans[-1] = Range(end.index, end.letter, end.first, end.last - 1)
    rounds = size(method, statement.glossary, "T")
    # A measure at a picked round has T itself as its index.
    picked = [method.names.get(index, str(index)) == "T" for index in indices]
    return [Range(rounds, "T", rounds, rounds) if T else one for T, one in zip(picked, spans, strict=True)]


def _corners(spans: Spans, value: Expr) -> Iterator[Expr]:
    """The value at the first and last places of its indices; ranges may depend on one another."""
    for sides in product((1, 2), repeat=len(spans)):
        end = value
        for _ in spans:
            end = end.subs({span[0]: span[side] for span, side in zip(spans, sides, strict=True)})
        yield sympify(end)


def _within(value: Expr, one: Range) -> bool:
    return bool(value.is_integer and (value - one.first).is_nonnegative and (one.last - value).is_nonnegative)


def _example(statement: Statement, method: Method, spans: Spans, value: Expr, one: Range) -> dict[Expr, Expr] | None:
    """A size that `when` allows, and indices, at which the value is no place of the run."""
    for point in _points(
        statement, method, (value, one.first, one.last, *(end for _, *ends in spans for end in ends)), spans
    ):
        for at in islice(_indices(spans, point), PLACES):
            place, last = value.subs(at), sympify(one.last).subs(at)
            if (
                place.is_number
                and last.is_number
                and not (place.is_integer and sympify(one.first).subs(at) <= place <= last)
            ):
                return at
    return None


def _indices(spans: Sequence[Span], at: dict[Expr, Expr]) -> Iterator[dict[Expr, Expr]]:
    """All values of the indices at one size, the outer ones first."""
    ready = [n for n, (_, first, last) in enumerate(spans) if first.subs(at).is_Integer and last.subs(at).is_Integer]
    if not spans:
        yield at
    elif ready:
        index, first, last = spans[ready[0]]
        others = [span for n, span in enumerate(spans) if n != ready[0]]
        for place in range(int(first.subs(at)), int(last.subs(at)) + 1):
            yield from _indices(others, {**at, index: Integer(place)})


def _points(
    statement: Statement, method: Method, formulas: Iterable[Basic | int], spans: Spans = ()
) -> Iterator[dict[Expr, Expr]]:
    """Small sizes of the run that `when` allows; none where the formulas, or conditions on them, read anything else."""
    indices = {index for index, *_ in spans} | set(statement.for_all)
    letters = {s for formula in formulas for s in sympify(formula).free_symbols} - indices
    conditions = [statement.defined(c) for c in statement.when]
    about = list[Basic]()
    # A condition may bring in another size, of which further conditions speak.
    for _ in conditions:
        about = [c for c in conditions if c.free_symbols & letters]
        letters |= {s for c in about for s in c.free_symbols}
    sizes = sorted(letters, key=str)
    strange = any(method.names.get(s, s.name) not in SIZES for s in sizes) or any(c.has(AppliedUndef) for c in about)
    if strange or not sizes:
        return
    spoken = {int(n) for e in (*about, *formulas) for n in sympify(e).atoms(Integer)}
    near = sorted({*SMALL, *(n + step for n in spoken for step in (-1, 0, 1) if 1 <= n + step <= LARGEST)})
    for values in islice(product(near, repeat=len(sizes)), POINTS):
        point: dict[Expr, Expr] = dict(zip(sizes, map(Integer, values), strict=True))
        if all(c.subs(point) == true for c in about):
            yield point


def _said(at: Mapping[Expr, Expr]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in at.items()) or "every size"
