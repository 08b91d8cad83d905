"""A line follows from others: non-negative products of them, and multiples of equations, add up to a contradiction.

Suppose that the line fails. Then its negation is a relation like the others, and a sum of products of things that are
not negative, with non-negative numbers before them, plus equations times any polynomials, is at least 0, and above 0 as
soon as one product is positive. Where that sum is the polynomial 0 there is a contradiction, so the line holds. (This
is a certificate in the sense of Krivine and Stengle; without the negation inside products, of Handelman or Schmüdgen.)
The kernel multiplies out and compares; it does not ask where the products come from.

A relation between fractions N/D is read as one about N where the form of D shows that it is positive, and about N D
otherwise: D is not 0, for what a judgement says is defined. Not claimed: anything where the line itself is not defined.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.expression import Relation, parse
from ...core.rational import Node, Rejected
from ..forms import Forms
from ..judgement import Context, Judgement, defined, ordered, within
from ..polynomials import ONE, Polynomial, plus, scaled, times

GOAL = "goal"
NEGATED = {"<=": "<", "<": "<=", "!=": "="}
STRICT = {"<": True, "<=": False}

Constraint = tuple[str, Polynomial]  # "<", "<=", "=" or "!=": 0 < polynomial, ...


def check(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """`data`: a list of certificates, one for a relation, two for an equation (its right side is not less, not more).

    A certificate is {"products": [[number, [factor, ...]], ...], "equations": [[tree, n], ...]}: a factor is the place
    of a judgement among those that are rested on, "goal", a tree that is not negative by its form, or ["square", tree].
    """
    within(rests, stated.under, context.forms)
    defined(stated.says, rests, context)
    premises = [constraint(rest.says, context.forms) for rest in rests]
    goals = negations(stated.says, context.forms)
    for goal, certificate in zip(goals, data.items(len(goals)), strict=True):
        contradiction(certificate, goal, premises, context.forms)


def constraint(relation: Relation, forms: Forms) -> Constraint:
    """The relation as one between 0 and a polynomial."""
    name, left, right = ordered(relation)
    difference = forms.difference(left, right)
    positive = forms.sign(type(difference)(difference.below, ONE)) == "positive"
    return name, difference.top if positive else times(difference.top, difference.below)


def negations(relation: Relation, forms: Forms) -> list[Constraint]:
    """What holds if the relation does not; of an equation, one of two things."""
    name, polynomial = constraint(relation, forms)
    if name == "=":
        return [("<", scaled(polynomial, -1)), ("<", polynomial)]
    return [(NEGATED[name], polynomial if name == "!=" else scaled(polynomial, -1))]


def contradiction(node: Node, goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> None:
    """Reject unless the certificate's sum is the polynomial 0 and one of its products is positive."""
    fields = node.fields("products", "equations")
    total: Polynomial = {}
    contradicts = False
    for entry in fields["products"].items():
        number, factors = entry.items(2)
        product: Polynomial = {(): number.rational(least=0)}
        positive = product[()] > 0
        for factor in factors.items():
            polynomial, strict = _factor(factor, goal, premises, forms)
            product, positive = times(product, polynomial), positive and strict
        total, contradicts = plus(total, product), contradicts or positive
    for entry in fields["equations"].items() if "equations" in fields else ():
        multiplier, place = entry.items(2)
        name, polynomial = goal if place.raw == GOAL else premises[place.integer(0, len(premises) - 1)]
        if name != "=":
            raise Rejected(f"{place.where}: got an inequality, expected an equation")
        form = forms.form(parse(multiplier))
        if form.below != ONE:
            raise Rejected(f"{multiplier.where}: got a fraction, expected a polynomial")
        total = plus(total, times(form.top, polynomial))
    if total:
        monomial, c = next(iter(sorted(total.items())))
        raise Rejected(f"{node.where}: got {c} {monomial} left over of {len(total)} terms, expected nothing")
    if not contradicts:
        raise Rejected(f"{node.where}: got no product that is positive, expected a contradiction")


def _factor(node: Node, goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> tuple[Polynomial, bool]:
    """A polynomial that is not negative, and whether it is positive."""
    if node.raw == GOAL or type(node.raw) is int:
        name, polynomial = goal if node.raw == GOAL else premises[node.integer(0, len(premises) - 1)]
        if name not in STRICT:
            raise Rejected(f"{node.where}: got an equation, expected an inequality")
        return polynomial, STRICT[name]
    if isinstance(node.raw, list) and node.items() and node.items()[0].raw == "square":
        form = forms.form(parse(node.items(2)[1]))
        if form.below != ONE:
            raise Rejected(f"{node.where}: got the square of a fraction, expected that of a polynomial")
        return times(form.top, form.top), False
    form = forms.form(parse(node))
    sign = forms.sign(form)
    if form.below != ONE or sign not in ("positive", "nonnegative"):
        raise Rejected(f"{node.where}: got a factor whose form does not show its sign, expected one")
    return form.top, sign == "positive"
