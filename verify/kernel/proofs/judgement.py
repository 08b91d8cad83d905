"""What a proof is made of: "under these hypotheses, this relation holds", and what every rule asks of it.

A judgement is about everything that the claim is about: all values of its symbols in their domains under which its
conditions hold, one value of each index of its `for_all`, all instances that meet its assumptions. The letters that a
proof declares for itself stand for all values of their domains. What a judgement says is also defined: no denominator
is 0 there, every sum has a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from ..core.claim import Claim
from ..core.expression import Relation, Tree
from ..core.rational import Node, Rejected
from .forms import WHOLE, Forms, Need, Ranges, substituted
from .formula_text import told as formula
from .polynomials import Form, text
from .vectors.frame import Frame, letter

FLIPPED = {">=": "<=", ">": "<"}
LINE = 400  # characters of a formula in a message
STRONGER = {"<=": ("<=", "<", "="), "<": ("<",), "=": ("=",), "!=": ("!=", "<")}
KINDS = {"<=": "nonnegative", "<": "positive", "!=": "nonzero"}  # what a relation says of its right side less its left
ZERO, UNIT = fmpq(0), fmpq(1)


@dataclass(frozen=True, slots=True)
class Judgement:
    """`says` holds wherever the claim's conditions and `under` do."""

    says: Relation
    under: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What the rules may read besides the judgements that they rest on."""

    claim: Claim
    forms: Forms
    letters: Mapping[str, str]  # of the proof alone, with their domains
    names: Mapping[str, Tree]  # letters that stand for a formula
    cited: Mapping[str, Claim]  # statements whose proofs were accepted before
    frame: Node | None = None  # measures and vectors of the proof alone
    vectors: Frame | None = None  # the same beside the claim's own method, which only premises read
    trusted: list[str] = field(default_factory=list[str])  # what was taken on a solver's word

    def own(self, need: Need) -> bool:
        """Whether the claim needs it itself: where its own sides are no numbers nothing is claimed.

        Its conditions are decided, and so defined, wherever something is claimed; of several relations each is claimed
        where its own sides are numbers, so that only what all of them need may be used for all of them.
        """
        conditions, relations = (
            [offers_of(r, self.forms) for r in part] for part in (self.claim.when, self.claim.then)
        )
        return any(_covered([need], owed, self.forms) for owed in conditions) or (
            bool(relations) and all(_covered([need], owed, self.forms) for owed in relations)
        )

    def size(self, name: str) -> Tree:
        """The claim's letter for the number of clients "C", rounds "T" or local steps "E"."""
        return letter(self.claim.algorithm.names if self.claim.method is not None else {}, name)


def ordered(relation: Relation) -> Relation:
    """The relation with its smaller side on the left."""
    name, left, right = relation
    return (FLIPPED[name], right, left) if name in FLIPPED else relation


def same(one: Relation, other: Relation, forms: Forms) -> bool:
    """Whether two relations say the same of the same difference of sides, wherever both are defined."""
    return ordered(one)[0] == ordered(other)[0] and _compared(one, other, forms)


def _compared(weak: Relation, strong: Relation, forms: Forms) -> bool:
    """Whether the second relation is as strong as the first, wherever both are defined."""
    (name, *sides), (again, *others) = ordered(weak), ordered(strong)
    if again not in STRONGER[name]:
        return False
    a, b = forms.difference(sides[0], sides[1]), forms.difference(others[0], others[1])
    return a == b or (a == -b and ("=" in (name, again) or name == "!="))


def among(one: Relation, others: Iterable[Relation], forms: Forms) -> bool:
    """Whether one of these relations, which hold and so are defined, says as much; then this one is defined, too."""
    return any(
        one == other
        or (_compared(one, other, forms) and _covered(needs_of(one, forms), offers_of(other, forms), forms))
        for other in others
    )


def _covered(needs: Iterable[Need], others: Sequence[Need], forms: Forms) -> bool:
    return all(any(same_need(need, other, forms) for other in others) for need in needs)


def within(rests: Iterable[Judgement], under: Sequence[Relation], forms: Forms) -> None:
    """Reject unless everything that is rested on holds under these hypotheses."""
    for rest in rests:
        for hypothesis in rest.under:
            if not among(hypothesis, under, forms):
                raise Rejected(f"got a judgement under {told(hypothesis)}, expected one under the same hypotheses")


def yields(
    relation: Relation,
    stated: Judgement,
    rests: Sequence[Judgement],
    context: Context,
    spared: Ranges | None = (),
) -> None:
    """Reject unless this relation, which holds where it is defined, is defined, and what is stated is it, or less.

    `spared`: see `defined`; None where the relation is known to be defined.
    """
    # Two normal forms may agree where only one of the formulas is a number: x/x and 1. So what holds wherever it is
    # defined is worth nothing until its needs are met, and what is stated has needs of its own.
    if spared is not None:
        defined(relation, rests, context, spared)
    if not _compared(stated.says, relation, context.forms):
        raise Rejected(f"got another relation, expected {told(relation)}")
    defined(stated.says, rests, context, held=[relation])


def require(relation: Relation, rests: Sequence[Judgement], context: Context) -> None:
    """Reject unless the relation holds by its form or because it is rested on."""
    forms = context.forms
    if among(relation, [rest.says for rest in rests], forms):
        return
    defined(relation, rests, context)
    name, left, right = ordered(relation)
    difference = forms.difference(left, right)
    # An equation holds by its form when the difference is the fraction 0.
    by_form = forms.shows(Need(KINDS[name], difference)) if name in KINDS else not difference.top
    if not by_form and not any(_compared(relation, rest.says, forms) for rest in rests):
        raise Rejected(f"got no judgement that says {told(relation)}, expected one")


def in_domain(value: Tree, domain: str, rests: Sequence[Judgement], context: Context) -> None:
    """Reject unless a value is a number of the domain: whole by its form, its range by its form or by the rests."""
    defined(("=", value, value), rests, context)
    if domain in WHOLE and not context.forms.whole(context.forms.form(value)):
        raise Rejected(f"got {written(value)}, expected a whole number by its form")
    least: dict[str, Relation] = {
        "nonnegative": ("<=", ZERO, value), "index": ("<=", ZERO, value), "positive": ("<", ZERO, value),
        "count": ("<=", UNIT, value), "client": ("<=", UNIT, value),
    }  # fmt: skip
    if domain in least:
        require(least[domain], rests, context)
    if domain == "client":
        require(("<=", value, context.size("C")), rests, context)


def put(relation: Relation, values: Mapping[str, Tree]) -> Relation:
    """The relation at these values of its letters."""
    name, left, right = relation
    return name, substituted(left, values), substituted(right, values)


def needs_of(relation: Relation, forms: Forms) -> list[Need]:
    """What has to hold for both sides to be numbers."""
    return [need for side in relation[1:] for need in forms.needs(side)]


def offers_of(relation: Relation, forms: Forms) -> list[Need]:
    """What holds because both sides are numbers."""
    return [need for side in relation[1:] for need in forms.needs(side, offered=True)]


def same_need(one: Need, other: Need, forms: Forms) -> bool:
    """Whether the second is at least as much as the first: each of its alternatives gives one of the first's."""
    return all(any(_gives(a, b, forms) for a in one.branches()) for b in other.branches())


def _gives(one: Need, other: Need, forms: Forms) -> bool:
    a, b = forms.form(one.formula), forms.form(other.formula)
    if one.ranges != other.ranges:
        return False
    if a == b:
        return one.kind == other.kind or (other.kind == "positive" and one.kind in ("nonzero", "nonnegative"))
    return one.kind == other.kind == "nonzero" and a == -b


def shows(rest: Relation, need: Need, forms: Forms) -> bool:
    """Whether a relation says what a formula needs."""
    name, left, right = ordered(rest)
    difference, formula = forms.difference(left, right), forms.form(need.formula)
    enough = {"nonnegative": ("<=", "<", "="), "positive": ("<",), "nonzero": ("<", "!=")}.get(need.kind, ())
    equal = difference == formula or (need.kind == "nonzero" and -difference == formula)
    if name in enough and equal and not need.ranges:
        return True
    return need.instead is not None and shows(rest, need.instead, forms)


def defined(
    relation: Relation,
    rests: Sequence[Judgement],
    context: Context,
    spared: Ranges = (),
    held: Sequence[Relation] = (),
) -> None:
    """Reject unless both sides are numbers, of which the normal form says so: by their form, by the claim's own sides,
    by what is rested on, and by relations that hold (`held`).

    What is rested on meets all that its normal form needs; a relation that merely holds is only a number itself: at
    x = 0 and n = 1, x^(2n - 1) is one, and (x^n)^2/x is none. `spared`: sums whose terms are numbers by other means.
    """
    forms, says = context.forms, [*(rest.says for rest in rests), *held]
    for need in needs_of(relation, forms):
        if need.ranges[:1] and need.ranges[0] in spared:
            continue
        if any(shows(other, need, forms) for other in says) or context.own(need):
            continue
        offers = [*(offers_of(other, forms) for other in says), *(needs_of(rest.says, forms) for rest in rests)]
        if not any(_covered([need], others, forms) for others in offers):
            raise Rejected(
                f"got a formula that needs {written(need.formula)} to be {need.kind}, expected that to be shown"
            )


def told(relation: Relation) -> str:
    name, left, right = relation
    return f"{written(left)} {name} {written(right)}"


def written(tree: Tree | Form) -> str:
    """A tree in one line, for messages."""
    line = text(tree) if isinstance(tree, Form) else formula(tree)
    return line if len(line) <= LINE else f"{line[:LINE]}…"
