"""What stands in the claim: its conditions, the ranges of its indices, what its assumptions mean, its step sizes.

An instance counts only if every condition of `when` holds at every value of the `for_all` indices in their ranges, and
every assumption with a meaning at every value of its own; both are decided there, so that they are defined. Not
claimed: anything at values that are not shown to lie in the range.
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
    return put(relation, _places(fields.get("at"), claim.for_all, rests, context, whole=False))


def _range(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """An end of the range of an index."""
    fields, ranges = data.fields("of index end"), context.claim.for_all
    index = fields["index"].one_of(ranges)
    low, high = ranges[index]
    return ("<=", low, index) if fields["end"].one_of(("low", "high")) == "low" else ("<=", index, high)


def _means(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """What an assumption of the claim says of measures, at values in its ranges."""
    fields, claim = data.fields("of name", "at"), context.claim
    name = fields["name"].one_of([name for name, _ in claim.assumptions if name in claim.means])
    relation, ranges = claim.means[name]
    return put(relation, _places(fields.get("at"), ranges, rests, context, whole=True))


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


def _step(data: Node, rests: Sequence[Judgement], context: Context) -> Relation:
    """A step size that the claim chooses is positive in every round, and before every local step of it."""
    fields, claim = data.fields("of name at"), context.claim
    name = fields["name"].one_of([name for name, (letters, _) in claim.choose.items() if letters])
    places = [parse(node) for node in fields["at"].items(len(claim.choose[name][0]))]
    start = fmpq(claim.algorithm.counts_from) if claim.method is not None else ZERO
    ends = ((start, Op("+", (context.size("T"), start, fmpq(-1)))), (ZERO, Op("+", (context.size("E"), fmpq(-1)))))
    for place, (low, high) in zip(places, ends, strict=False):
        _inside(place, low, high, rests, context)
    return "<", ZERO, Op("at", (name, *places))


def _places(
    node: Node | None, ranges: Ranges, rests: Sequence[Judgement], context: Context, *, whole: bool
) -> dict[str, Tree]:
    """The values of indices, each in its range; with `whole`, of all of them, otherwise the claim's own may be left."""
    values = {name: parse(value) for name, value in node.mapping().items()} if node is not None else {}
    if set(values) - set(ranges) or (whole and set(ranges) - set(values)):
        raise Rejected(f"got values for {sorted(values)}, expected them for {sorted(ranges)}")
    for name, value in values.items():
        if value != name or whole:
            _inside(value, *ranges[name], rests, context)
    return values


def _inside(value: Tree, low: Tree, high: Tree, rests: Sequence[Judgement], context: Context) -> None:
    in_domain(value, "integer", rests, context)
    require(("<=", low, value), rests, context)
    require(("<=", value, high), rests, context)


SOURCES: Mapping[str, Callable[[Node, Sequence[Judgement], Context], Relation]] = {
    "when": _when, "range": _range, "means": _means, "before": _before, "step": _step,
}  # fmt: skip
