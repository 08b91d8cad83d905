"""What a citation takes for granted: how the cited statement differs from what the citing one may use.

A statement is about its own method, for its own sizes, with its own assumptions. Where a citation reads it otherwise
and nothing shows that this is allowed, it is a premise written by hand, and what rests on it is not proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sympy import Expr, Symbol, sympify
from sympy.core.function import AppliedUndef

from ..formulas.evaluator import quantities
from ..language.derivation import put_in
from ..language.method import Method
from ..language.method_interface import ENDS, size
from ..language.statement import Assumption, Statement

FOR_ALL = ("inequality", "identity")  # kinds of statements that say something of every instance
NUMBERS = "scalar"  # the setting without a run: what holds there holds of any numbers
HORIZON = "T"  # a run is the beginning of a longer one, so that a statement may be read at another horizon

Pairs = Sequence[tuple[Expr, Expr]]


def granted(citing: Statement, cited: Statement, values: Sequence[Pairs]) -> Iterator[str]:
    """Everything that is taken for granted by citing a statement with these `values`, put in one after the other."""
    if cited.kind not in FOR_ALL and not (cited.kind == citing.kind and cited.method is citing.method):
        yield f"{cited.id}, which is of the kind {cited.kind}, for all instances"
    if cited.method != NUMBERS and cited.method is not citing.method and cited.method != citing.method:
        yield f"{cited.id}, which is about {cited.method_id}"
    pairs = [pair for several in values for pair in several]
    yield from dict.fromkeys((*_quantities(cited, pairs), *_sizes(cited, pairs), *_rules(citing, cited, pairs)))
    own = [_said(one, citing, ()) for one in (*citing.let, *citing.implicit)]
    for one in (*cited.let, *cited.implicit):
        if one.name in {name for name, *_ in own} and _said(one, citing, values) not in own:
            yield f"{cited.id}'s {one.name}, with other constants or at other indices than here"


def _said(one: Assumption, citing: Statement, values: Sequence[Pairs]) -> tuple[object, ...]:
    """What an assumption says where it is cited: its name, constants, relation and ranges, with the values put in."""

    def written(expr: object) -> Any:
        for pairs in values:
            expr = put_in(sympify(expr), pairs)
        return citing.defined(sympify(expr))

    ranges = frozenset((index, written(low), written(high)) for index, low, high in one.for_all)
    return one.name, tuple(map(written, one.args)), None if one.means is None else written(one.means), ranges


def _quantities(cited: Statement, pairs: Pairs) -> Iterator[str]:
    """Quantities of a run that are read as others."""
    measured = {s for r in cited.relations for s in quantities(cited.defined(r))} - parameters(cited)
    heads = {q.func for q in measured if isinstance(q, AppliedUndef)}
    for old, new in pairs:
        if old in measured or old in heads:
            yield f"{cited.id}'s {old} is {new}"


def _sizes(cited: Statement, pairs: Pairs) -> Iterator[str]:
    """Sizes of a run that are read as others: a lemma at E = 1 is one about other runs."""
    if not isinstance(cited.method, Method):
        return
    names = {size(cited.method, cited.glossary, name) for name in {*ENDS.values(), "m", "b"} - {HORIZON}}
    for old, new in pairs:
        if old in names and old != new:
            yield f"{cited.id}'s {old} is {new}"


def _rules(citing: Statement, cited: Statement, pairs: Pairs) -> Iterator[str]:
    """What the method's rules read: at another value it is another run, unless the citing statement chooses it so."""
    if not isinstance(cited.method, Method):
        return
    heads = {q.func for q in cited.method.steps()}
    plain = {s for e in cited.method.scalars(()) for s in e.free_symbols}
    for old, new in pairs:
        read = old in plain if isinstance(old, Symbol) else getattr(old, "func", old) in heads
        if read and str(old) not in (HORIZON, str(new)) and citing.choose.get(old) != new:
            yield f"{cited.id}'s {old} is {new}"


def parameters(statement: Statement) -> set[Expr]:
    """Symbols that are numbers of the problem or the method, and not measured."""
    named = {arg for a in (*statement.let, *statement.implicit) for arg in a.args}
    drawn = {*statement.sweep, *statement.choose, *statement.for_all}
    measured = getattr(statement.method, "measures", {})
    drawn |= {s for v in statement.choose.values() for s in v.free_symbols if s not in (*statement.where, *measured)}
    bounded = {s for c in statement.when for s in c.free_symbols}
    whole = {s for s in statement.glossary if getattr(s, "is_integer", False)}
    return {s for s in (*named, *drawn, *bounded, *whole) if isinstance(s, Symbol)}
