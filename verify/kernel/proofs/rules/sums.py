"""Finite sums and induction: what a sum is, sums of terms that compare, and what holds from a number on.

A sum has a range from `low` to `high`, both whole, low >= 0 and high >= low - 1; `defined` asks for that. Its index
takes every whole number of the range and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from ...core.expression import Op, Relation, Tree, parse, parse_relation
from ...core.rational import Node, Rejected
from ..forms import names_of, substituted
from ..judgement import Context, Judgement, among, defined, in_domain, put, require, told, within, yields
from .logic import first_of


def added(*terms: Tree | int) -> Tree:
    return Op("+", tuple(fmpq(term) if isinstance(term, int) else term for term in terms))


def sum_next(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """The sum up to high + 1 is the sum up to high and one more term."""
    index, low, high, body = _sum(data)
    within(rests, stated.under, context.forms)
    last = added(high, 1)
    whole, part = Op("sum", (index, low, last, body)), Op("sum", (index, low, high, body))
    relation: Relation = ("=", whole, added(part, substituted(body, {index: last})))
    yields(relation, stated, rests, context)


def sum_empty(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """A sum without terms is 0: its range ends one before it begins."""
    index, low, high, body = _sum(data)
    within(rests, stated.under, context.forms)
    require(("=", added(high, 1), low), rests, context)
    relation: Relation = ("=", Op("sum", (index, low, high, body)), fmpq(0))
    yields(relation, stated, rests, context)


def termwise(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """Terms that compare for every index in the range have sums that compare.

    The first judgement says so of a letter of the proof, under nothing about it but that it lies in the range; the
    range has to lie in the letter's domain.
    """
    fields = data.fields("letter low high")
    letter, low, high = fields["letter"].one_of(context.letters), parse(fields["low"]), parse(fields["high"])
    first, *others = first_of(rests)
    within(others, stated.under, context.forms)
    spoken = names_of(low, high, *(side for hypothesis in stated.under for side in hypothesis[1:]))
    if letter in spoken or letter in context.names:
        raise Rejected(f"got a sum over {letter!r}, of which its ends or hypotheses speak, expected another letter")
    within([first], [*stated.under, ("<=", low, letter), ("<=", letter, high)], context.forms)
    domain, (name, *sides) = context.letters[letter], first.says
    if domain != "real":
        require(("<=", fmpq(0 if domain in ("nonnegative", "index") else 1), low), others, context)
    if domain == "client":
        require(("<=", high, context.size("C")), others, context)
    if name not in ("<=", ">=", "="):
        raise Rejected(f"got {name!r} between the terms, expected <=, >= or =")
    left, right = (Op("sum", (letter, low, high, side)) for side in sides)
    ranges = tuple(context.forms.range_of(side) for side in (left, right))
    yields((name, left, right), stated, others, context, ranges)


def induction(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """P(s) under H(s) for all whole s >= from.

    It rests on P(from) under H(from); P(s + 1) under H(s + 1), H(s), P(s) and from <= s; and, so that H(s) holds on the
    way to s + 1, each hypothesis of H that speaks of s, under H(s + 1) and from <= s (unless it is one of those).
    The letter's own domain has to begin at `from` or before. Several relations may be induced together: `also` are the
    others, each with its own base and step, and every step may use all of them at s.
    """
    fields = data.fields("over from", "also")
    letter, start, forms = fields["over"].one_of(context.letters), parse(fields["from"]), context.forms
    if context.letters[letter] not in ("count", "index") or letter in names_of(start):
        raise Rejected(f"got {letter!r}, a {context.letters[letter]}, expected a count or an index, from a number on")
    claims = (
        [stated.says, *(parse_relation(node) for node in fields["also"].items())] if "also" in fields else [stated.says]
    )
    pairs, others = rests[: 2 * len(claims)], rests[2 * len(claims) :]
    if len(pairs) < 2 * len(claims):
        raise Rejected(f"got {len(pairs)} judgements, expected a base and a step of each relation")
    reached: Relation = ("<=", start, letter)
    in_domain(start, context.letters[letter], [rest for rest in others if not rest.under], context)
    after, at_start = {letter: added(letter, 1)}, {letter: start}
    later = [put(h, after) for h in stated.under]
    begun = [*later, reached]
    within(pairs[::2], [put(h, at_start) for h in stated.under], forms)
    within(pairs[1::2], [*later, *stated.under, *claims, reached], forms)
    if not among(reached, stated.under, forms):
        require(reached, (), context)
    plain = [rest for rest in rests if all(among(h, stated.under, forms) for h in rest.under)]
    defined(stated.says, plain, context, held=stated.under)
    for hypothesis in stated.under:
        if letter not in names_of(*hypothesis[1:]) or among(hypothesis, begun, forms):
            continue
        if not any(_holds(hypothesis, rest, begun, context) for rest in others):
            raise Rejected(f"got no judgement that {told(hypothesis)} holds on the way, expected one")
    for relation, base, step in zip(claims, pairs[::2], pairs[1::2], strict=True):
        _says(base, put(relation, at_start), context)
        _says(step, put(relation, after), context)


def _holds(hypothesis: Relation, rest: Judgement, under: Sequence[Relation], context: Context) -> bool:
    forms = context.forms
    return among(hypothesis, [rest.says], forms) and all(among(h, under, forms) for h in rest.under)


def _says(rest: Judgement, relation: Relation, context: Context) -> None:
    if not among(relation, [rest.says], context.forms):
        raise Rejected(f"got a judgement that says {told(rest.says)}, expected {told(relation)}")


def _sum(data: Node) -> tuple[str, Tree, Tree, Tree]:
    fields = data.fields("index low high body")
    low, high, body = (parse(fields[name]) for name in ("low", "high", "body"))
    index = fields["index"].name()
    if index in names_of(low, high):
        raise Rejected(f"got a sum over {index!r}, of which its ends speak, expected another index")
    return index, low, high, body
