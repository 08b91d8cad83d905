"""Rules about hypotheses and letters: what holds under an assumption, in every case, at a value, by a new name.

A judgement holds for all values of the proof's letters in their domains at which its hypotheses hold (and are numbers).
A letter of `names` is no such letter: it is one number, its formula, wherever that is defined. Not claimed by any of
these rules: anything about letters of the claim, which are never given a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.expression import Relation, parse
from ...core.rational import Node, Rejected
from ..forms import substituted
from ..judgement import Context, Judgement, among, defined, in_domain, ordered, put, told, within, yields
from ..polynomials import ONE, Form

COVERS = (("<=", "<"), ("<", "<="), ("<=", "<="), ("=", "!="), ("!=", "="))


def hypothesis(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """H holds under H."""
    data.fields("")
    if not among(stated.says, stated.under, context.forms):
        raise Rejected("got something else, expected one of its own hypotheses")
    defined(stated.says, (), context, held=stated.under)


def discharge(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """The first judgement, without the hypotheses that the others say."""
    data.fields("")
    first, *others = first_of(rests)
    within(others, stated.under, context.forms)
    within([first], [*stated.under, *(rest.says for rest in others)], context.forms)
    yields(first.says, stated, rests, context, None)


def case(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """Two judgements say it, each under one hypothesis more, and one of the two hypotheses holds wherever both are
    numbers, which the other judgements show. x <= y and x >= y cover; so do x = y and x != y, and of whole numbers
    x <= y and x >= y + 1.
    """
    data.fields("")
    cases: list[Relation] = []
    others = rests[2:]
    within(others, stated.under, context.forms)
    for rest in rests[:2]:
        more = [h for h in rest.under if not among(h, stated.under, context.forms)]
        if len(more) != 1:
            raise Rejected(f"got a judgement under {len(more)} more hypotheses, expected one case")
        defined(more[0], others, context)
        yields(rest.says, stated, [rest], context, None)
        cases += more
    if len(cases) != 2 or not _cover(cases[0], cases[1], context):
        raise Rejected(f"got the cases {', '.join(map(told, cases))}, expected two that leave nothing out")


def instance(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """The first judgement at values of the proof's letters; the others show that the values lie in their domains."""
    values = {name: parse(node) for name, node in data.fields("values")["values"].mapping().items()}
    first, *others = first_of(rests)
    within(others, stated.under, context.forms)
    for name, value in values.items():
        if name not in context.letters or name in context.names:
            raise Rejected(f"got a value for {name!r}, expected letters of the proof that stand for no formula")
        in_domain(value, context.letters[name], others, context)
    within([Judgement(first.says, tuple(put(h, values) for h in first.under))], stated.under, context.forms)
    yields(put(first.says, values), stated, others, context, None)


def definition(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """A letter is the formula that it stands for, where that is defined."""
    name = data.fields("letter")["letter"].one_of(context.names)
    within(rests, stated.under, context.forms)
    relation: Relation = ("=", name, context.names[name])
    yields(relation, stated, rests, context)


def congruence(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """a = b gives f(a) = f(b) where both are defined: `formula` is f, with `letter` in the place of its argument."""
    fields = data.fields("letter formula")
    letter, formula = fields["letter"].name(), parse(fields["formula"])
    within(rests, stated.under, context.forms)
    name, a, b = first_of(rests)[0].says
    if name != "=":
        raise Rejected(f"got {name!r}, expected an equation")
    relation: Relation = ("=", substituted(formula, {letter: a}), substituted(formula, {letter: b}))
    yields(relation, stated, rests, context)


def trusted(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """A line on a solver's word: the proof is accepted relative to it, and says so."""
    data.fields("solver")["solver"].one_of(("z3",))
    within(rests, stated.under, context.forms)
    defined(stated.says, rests, context)
    context.trusted.append(told(stated.says))


def first_of(rests: Sequence[Judgement]) -> Sequence[Judgement]:
    if not rests:
        raise Rejected("got nothing that it rests on, expected a judgement")
    return rests


def _cover(one: Relation, other: Relation, context: Context) -> bool:
    """Whether one of them holds wherever both are numbers."""
    (name, x, y), (again, u, v) = ordered(one), ordered(other)
    a, b = context.forms.difference(x, y), context.forms.difference(u, v)
    if (name, again) not in COVERS:
        return False
    if -a == b or (name in ("=", "!=") and a == b):
        return True
    # Of whole numbers: where 0 <= a fails, a <= -1.
    return name == again == "<=" and context.forms.whole(a) and -a - Form(ONE) == b
