"""What stands in the claim: its conditions, the ranges of its indices, the step size of the round before.

An instance counts only if every condition of `when` holds at every value of the `for_all` indices in their ranges; it
is decided there, so that it is defined. Not claimed: anything at values that are not shown to lie in the range; what an
assumption means (an atom of premises says that), or that a step size is positive (its value says it, or does not).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flint import fmpq

from ...core.expression import Op, Relation, Tree, parse
from ...core.rational import Node, Rejected
from ..judgement import ZERO, Context, Judgement, defined, in_domain, put, require, within, yields
from .citation import declared

Ranges = Mapping[str, tuple[Tree, Tree]]


def condition(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """One relation of the claim; `of` says which, `at` at which values of its indices."""
    within(rests, stated.under, context.forms)
    source = data.mapping().get("of", data).one_of(SOURCES)
    relation = SOURCES[source](data, rests, context)
    yields(relation, stated, rests, context, None)


def _when(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """A condition of the claim, at its own indices or at other values in their ranges."""
    fields, claim = data.fields("of n", "at"), context.claim
    relation = claim.when[fields["n"].integer(0, len(claim.when) - 1)]
    return put(relation, _places(fields.get("at"), claim.for_all, rests, context))


def _range(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """An end of the range of an index."""
    fields, ranges = data.fields("of index end"), context.claim.for_all
    index = fields["index"].one_of(ranges)
    low, high = ranges[index]
    return ("<=", low, index) if fields["end"].one_of(("low", "high")) == "low" else ("<=", index, high)


def _before(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """The step size of the round before: 0 in round 0, and in round t that of round t - 1."""
    fields, earlier = data.fields("of name at"), declared(context, "before")
    name, place = fields["name"].one_of(earlier), parse(fields["at"])
    step = Op("at", (name, place))
    defined(("=", place, place), rests, context)
    if context.forms.form(place) == context.forms.form(ZERO):
        return "=", step, ZERO
    in_domain(place, "count", rests, context)
    now = str(earlier[name])
    if now in context.claim.choose:  # after the last round its value is nobody's step size
        require(("<=", place, context.size("T")), rests, context)
    return "=", step, Op("at", (now, Op("+", (place, fmpq(-1)))))


def _places(node: Node | None, ranges: Ranges, rests: Sequence[Judgement], context: Context) -> dict[str, Tree]:
    """The values of indices, each in its range; what has none stands for itself."""
    values = {name: parse(value) for name, value in node.mapping().items()} if node is not None else {}
    if set(values) - set(ranges):
        raise Rejected(f"got values for {sorted(values)}, expected them for {sorted(ranges)}")
    for name, value in values.items():
        if value != name:
            _inside(value, *ranges[name], rests, context)
    return values


def _inside(value: Tree, low: Tree, high: Tree, rests: Sequence[Judgement], context: Context) -> None:
    in_domain(value, "integer", rests, context)
    require(("<=", low, value), rests, context)
    require(("<=", value, high), rests, context)


SOURCES: Mapping[str, Callable[[Node, Sequence[Judgement], Context], Relation]] = {
    "when": _when, "range": _range, "before": _before,
}  # fmt: skip
