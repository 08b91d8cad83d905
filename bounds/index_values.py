"""Are the indices of a claim whole numbers that the runs have?

What can be said for all sizes is said in wellformed.py; an index such as t^2 is looked at for a few small sizes that
meet the conditions.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, cast

from sympy import Expr, Sum, Symbol, sympify
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import true

from .fault import Fault
from .method import Method
from .offers import ENDS, ranges, size
from .statement import Statement

SMALL = {"T": (1, 2, 3, 6), "E": (1, 2, 3), "C": (1, 2, 3), "D": (1, 2)}
Sizes = dict[Any, int]
Spans = dict[Any, tuple[Any, Any]]  # an index -> its first and last value


def index_faults(statement: Statement, method: Method) -> Iterator[Fault]:
    """Ranges and indices that are no whole numbers, and indices that leave the run."""
    ends = [end for both in statement.for_all.values() for end in both]
    sums = [limit for x in (*statement.relations, *statement.when) for total in x.atoms(Sum) for limit in total.limits]
    for index, *both in sums:
        if len(both) != 2 or any(end.is_integer is not True for end in both):
            yield Fault(f"a sum over {index} from {both}", "whole numbers as its ends", "write Sum(x, (k, 0, T - 1))")
    for index, both in statement.for_all.items():
        if any(end.free_symbols & set(statement.for_all) for end in both):
            yield Fault(f"for_all={{{index}: {tuple(both)}}}", "ends without indices", "write sizes")
        if index.is_integer is not True:
            yield Fault(f"{index} in `for_all`", "an index, which is a whole number", "write G.index('t', 'round')")
        for end in both:
            if end.is_integer is not True:
                yield Fault(f"the end {end} of {index} in `for_all`", "a whole number", "take a size, or floor by hand")
    if any(end.is_integer is not True or end.free_symbols & set(statement.for_all) for end in ends):
        return
    known = {x.func.__name__: x.args for x in (*method.measures, *method.steps()) if isinstance(x, AppliedUndef)}
    claimed = ((*statement.relations, *statement.when, *statement.choose.values()), dict(statement.for_all.items()))
    assumed = [
        ((one.means,), {index: (sympify(low), sympify(high)) for index, low, high in one.for_all})
        for one in (*statement.let, *statement.implicit)
        if one.means is not None
    ]
    for formulas, spans in (claimed, *assumed):
        for x in sorted({x for formula in formulas for x in formula.atoms(AppliedUndef)}, key=str):
            at = known.get(x.func.__name__, ())
            if any(value.is_integer is not True for value in x.args):
                yield Fault(f"{x}", "whole numbers as indices", "write gap(t), with an index of the glossary")
            elif len(at) == len(x.args):
                summed = {limit[0] for f in formulas for total in f.atoms(Sum) for limit in total.limits}
                yield from _outside(statement, method, x, at, {s: ends for s, ends in spans.items() if s not in summed})


def _outside(
    statement: Statement, method: Method, x: AppliedUndef, at: tuple[Any, ...], spans: Spans
) -> Iterator[Fault]:
    """An index that leaves its range at some small size, where that does not follow for all sizes."""
    for one, value in zip(ranges(method, statement.glossary, at), cast("Any", x.args), strict=True):
        loose = any(s.name in ENDS and s not in spans for s in value.free_symbols)  # of a sum, or of no range
        if one is None or loose or _within(value, one.first, one.last, spans):
            continue
        for sizes in _sizes(statement, method):
            for spot in _spots(spans, sizes):
                place, last = value.subs(spot).subs(sizes), one.last.subs(sizes)
                if place.is_Integer and last.is_Integer and not one.first <= place <= last:
                    there = ", ".join(f"{name} = {n}" for name, n in {**sizes, **spot}.items())
                    got = f"{x}, whose index {one.letter} is {place} at {there}"
                    yield Fault(got, f"{one.first} to {last}", "mend it, or its range")
                    return


def _within(value: Expr, first: int, last: Any, spans: Spans) -> bool:
    """Whether the index is in its range at both ends of all ranges, for all sizes; an affine one is so in between."""
    index = [s for s in value.free_symbols if s in spans]
    if any(value.diff(s).free_symbols for s in index):
        return False
    spots = product(*(spans[s] for s in index))
    places = [value.subs(dict(zip(index, spot, strict=True))) for spot in spots]
    return all((last - place).is_nonnegative and (place - first).is_nonnegative for place in places)


def _sizes(statement: Statement, method: Method) -> Iterator[Sizes]:
    """Small sizes that meet the conditions which speak of sizes alone."""
    symbols = [size(method, statement.glossary, name) for name in SMALL]
    for numbers in product(*SMALL.values()):
        sizes = dict(zip(symbols, numbers, strict=True))
        conditions = [c.subs(sizes) for c in statement.when if c.free_symbols <= set(symbols)]
        if all(condition is true or condition is True for condition in conditions):
            yield sizes


def _spots(spans: Spans, sizes: Sizes) -> Iterator[dict[Any, int]]:
    """Every value of the indices at these sizes."""
    ends = [[end.subs(sizes) for end in both] for both in spans.values()]
    if all(end.is_Integer for both in ends for end in both):
        for values in product(*(range(int(first), int(last) + 1) for first, last in ends)):
            yield dict(zip(spans, values, strict=True))


def is_size(method: Method, symbol: Any) -> bool:
    """Whether runs give this letter its value: a size, or an index."""
    return isinstance(symbol, Symbol) and method.names.get(symbol, symbol.name) in (*ENDS, *ENDS.values(), "m")
