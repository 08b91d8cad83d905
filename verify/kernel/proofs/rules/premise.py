"""A premise: the two sides of a relation differ by a sum of multipliers times atoms, as an identity between vectors.

Nothing may be left over once both sides, the atoms, and every vector in them are written in the normal form at one
round and local step of the claim's own method. No multiplier is negative, every formula that is read is defined, and
what the atoms and the rules of the normal form take is assumed by the claim. Only relations that are not strict are
shown, and equations without atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from flint import fmpq

from ...core.expression import Op, Relation, Tree, free, parse
from ...core.method import Number, rules
from ...core.rational import Node, Rejected
from ..forms import Forms, Need, substituted
from ..judgement import Context, Judgement, among, defined, ordered, same, shows, within
from ..polynomials import text
from ..vectors import atoms
from ..vectors.combinations import DRAWN, FRESH, INDEPENDENT, SIGN, SUM, UNBIASED, Scalar, Term, inner, number, times
from ..vectors.formulas import formula, is_constant
from ..vectors.frame import LEAST, Frame
from ..vectors.reading import Reader, reader

IN_THE_MEAN = {UNBIASED, INDEPENDENT, DRAWN, FRESH}  # rules that hold in expectation, and on no single path


def check(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """`data`: {"at": [round, step], "by": [[multiplier, atom], ...], ...}, and one of

    "times": a free point u, of which one is not 0: the relation between constants is shown times |u|^2;
    "schwarz": {"x", "y", "root", "sides", ...}: the relation is root^2 <= sides[0] sides[1], and these are E<x, y>,
    E|x|^2 and E|y|^2; "pathwise": a measure is the largest of something, which at most the right side, on every path.
    """
    frame = framed(context)
    within(rests, stated.under, context.forms)
    defined(stated.says, rests, context)
    fields = data.fields("", "at by times schwarz pathwise")
    at = tuple(parse(x) for x in fields["at"].items(2)) if "at" in fields else None
    place = reader(frame, None if at is None else (at[0], at[1]))
    if at is not None:
        _placed(place)
    by = fields["by"].items() if "by" in fields else []
    pathwise = "pathwise" in fields and fields["pathwise"].flag()
    everyone = ("@" if frame.alone else "@#i") if pathwise else "@" if frame.setting.one else ""
    if "schwarz" in fields:
        sides = _schwarz(fields["schwarz"], stated.says, place)
    else:
        sides = [_difference(stated.says, place, pathwise, at is None, bool(by))]
        if "times" in fields:
            sides = [_times(sides[0], fields["times"], place)]
    for entry in by:
        multiplier, atom = entry.items(2)
        tree = parse(multiplier)
        if not not_negative(tree, context.forms):
            place.needs.append(Need("nonnegative", tree))
        sides[0] = (*sides[0], *times(-place.form(tree), atoms.read(atom, place, everyone)))
    if by and "schwarz" in fields:
        raise Rejected("got atoms for the Cauchy-Schwarz inequality, expected none")
    for side in sides:
        rest = place.normal.expanded(side)
        if rest:
            key, c = next(iter(rest.items()))
            raise Rejected(f"got {text(c)} {_told(key)} left over of {len(rest)} terms, expected nothing")
    if pathwise and IN_THE_MEAN & place.normal.charges:
        raise Rejected("got what holds in expectation alone, expected what holds on every path")
    owed(place, rests, context)


def not_negative(tree: Tree, forms: Forms) -> bool:
    """Whether it is made of what is not negative by its form: also of even powers, before they are expanded."""
    if isinstance(tree, Op) and tree.name in ("+", "*"):
        return all(not_negative(arg, forms) for arg in tree.args)
    if isinstance(tree, Op) and tree.name == "^" and isinstance(power := tree.args[1], fmpq) and power.q == 1:
        return int(power.p) % 2 == 0 or not_negative(tree.args[0], forms)
    return forms.sign(forms.form(tree)) in ("positive", "nonnegative")


def framed(context: Context) -> Frame:
    if context.vectors is None:
        raise Rejected("got a premise, expected a claim about a run by rounds, or about vectors")
    return context.vectors


def owed(place: Reader, rests: Sequence[Judgement], context: Context) -> None:
    """Reject unless all that was read is defined and has its sign, and the claim assumes what was used."""
    forms, frame = context.forms, place.frame
    for need in place.needs:
        if not (forms.shows(need) or context.own(need) or any(shows(rest.says, need, forms) for rest in rests)):
            raise Rejected(f"got {forms.text(need.formula)}, expected it {need.kind}: by its form, or shown")
    one_client: Relation = ("=", frame.size("C"), fmpq(1))
    place.normal.charges.update((SUM,) if frame.alone else ())  # the only weight is 1
    if frame.alone and not among(one_client, [rest.says for rest in rests], forms):
        raise Rejected("got means that are one client's, expected it to be shown that there is one")
    one_step: Relation = ("=", frame.size("E"), fmpq(1))
    if frame.single and not among(one_step, [rest.says for rest in rests], forms):
        raise Rejected("got a round that is one step, expected it to be shown that there is one")
    frame.owed(sorted(place.normal.charges))


def _placed(place: Reader) -> None:
    """The round is one of the run, or later; the step is one of a round, or later."""
    (t, k), forms = place.at, place.frame.forms
    for tree, low in ((t, place.frame.first), (k, fmpq(0))):
        if not forms.whole(forms.form(tree)):
            raise Rejected("got a premise at a place that may be no whole number")
        place.needs.append(Need("nonnegative", Op("+", (tree, Op("*", (fmpq(-1), low))))))


def _difference(relation: Relation, place: Reader, pathwise: bool, anywhere: bool, by: bool) -> Scalar:
    """The larger side minus the smaller one."""
    name, small, large = ordered(relation)
    if name not in ("<=", "=") or (name == "=" and by):
        raise Rejected(f"got {name!r}, expected '<=', or '=' without atoms")
    if pathwise:
        return _largest(name, small, large, place, anywhere)
    return (*formula(place, large), *times(number(-1), formula(place, small)))


def _largest(name: str, small: Tree, large: Tree, place: Reader, anywhere: bool) -> Scalar:
    """A constant minus what a measure is the largest of, of any client in any round before any step."""
    measure = place.frame.measured(small) if isinstance(small, str) else None
    if name != "<=" or measure is None or measure.extreme != "most" or measure.at or not anywhere:
        raise Rejected("got something else on every path, expected the largest of something to be at most a constant")
    if not is_constant(place, large):
        raise Rejected("got a bound that is no constant, expected one")
    client = "@" if place.frame.alone else "@#i"
    each = place.number(measure.terms, "base", client, "", place.now)
    return (*formula(place, large), *times(number(-1), each))


def _times(left: Scalar, node: Node, place: Reader) -> Scalar:
    """The constants times |u|^2 for a point u that nothing else fixes."""
    u = place.frame.vector(node)
    frame, method = place.frame, place.frame.method
    measures = (*frame.measures.values(), *method.measures.values())
    blocks = (method.server, method.client, *method.phases.values(), frame.kept)
    ghosts = (rule for both in frame.ghosts.values() for rule in both)
    every = [rule for measure in measures for rule in rules(measure.terms)]
    every += [rule for one in (*ghosts, *(one for block in blocks for one in block.values())) for rule in one.all()]
    read = {rule.name for rule in every if rule.op == "point"}
    if u.op != "point" or u.name in read or any(term != Term("one") for _, term in left):
        raise Rejected("got a relation times a square, expected constants and a free point")
    at = place.vector(u, "base")
    return tuple((c, Term("inner", vectors=(at, at))) for c, _ in left)


def _schwarz(node: Node, relation: Relation, place: Reader) -> list[Scalar]:
    fields = node.fields("x y root sides", "client other")
    root, (one, two) = parse(fields["root"]), (parse(x) for x in fields["sides"].items(2))
    if not same(relation, ("<=", Op("^", (root, fmpq(2))), Op("*", (one, two))), place.frame.forms):
        raise Rejected("got another relation, expected root^2 <= side side")
    client = place.client(fields["client"].name()) if "client" in fields else "@" if place.frame.setting.one else ""
    other = place.client(fields["other"].name()) if "other" in fields else ""
    x, y = (place.vector(place.frame.vector(fields[name]), "base", client, other) for name in "xy")
    pairs = zip((root, one, two), (inner(x, y), inner(x, x), inner(y, y)), strict=True)
    return [(*formula(place, side), *times(number(-1), value)) for side, value in pairs]


def _told(key: object) -> str:
    def spelled(part: object) -> str:
        if isinstance(part, tuple):
            return " ".join(map(spelled, cast("tuple[object, ...]", part)))
        return str(getattr(part, "label", part))

    return spelled(key)[:200]


# --- signs of measures, rounds that are picked ------------------------------------------------------------------------


def check_sign(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """A measured quantity is not negative by its form: squared norms with coefficients that are not negative, under
    means whose weights are not, and the gap f(x) - f*. It is never shown to be positive.
    """
    data.fields("")
    frame = framed(context)
    within(rests, stated.under, context.forms)
    defined(stated.says, rests, context)
    name, small, large = ordered(stated.says)
    if name != "<=" or not context.forms.form(small).top == {}:
        raise Rejected("got another relation, expected that a quantity is not negative")
    quantity, indices = (str(large.args[0]), large.args[1:]) if isinstance(large, Op) else (large, ())
    measured = frame.measured(str(quantity))
    place = reader(frame, None)
    if frame.groups is not None and large in (frame.groups.idle, frame.groups.begins):
        return
    if measured is None or len(measured.at) != len(indices) or (isinstance(large, Op) and large.name != "at"):
        raise Rejected("got something else, expected a measured quantity at its indices")
    values: dict[str, Tree] = {"t": frame.first, "k": fmpq(0), **dict(zip(measured.at, indices, strict=True))}
    moving = any(name in "tk" for c, _ in measured.terms for name, _ in free(c))
    if moving and (measured.extreme or measured.law):
        raise Rejected("got a coefficient that changes with the round or step, expected one number for all of them")
    terms = _without_gap(measured.terms, frame, place)
    for c, atom in terms:
        while atom.op == "mean" and atom.inside is not None:
            place.normal.charges.add(SIGN)
            atom = atom.inside
        if atom.op not in ("norm2", "norm", "one"):
            raise Rejected(f"got the number {atom.op!r}, whose form does not show its sign")
        place.needs.append(Need("nonnegative", substituted(c, values)))
    owed(place, rests, context)


def _without_gap(terms: Number, frame: Frame, place: Reader) -> Number:
    """Without f(x) - f*, at a point that all clients share."""
    plain = "F" if frame.composite else "f"
    gap = [(c, atom) for c, atom in terms if atom.op in (plain, "f_star")]
    pair = sorted((atom.op, str(c)) for c, atom in gap)
    if pair == sorted([(plain, "1"), ("f_star", "-1")]):
        place.normal.charges.add(LEAST)
        return tuple(term for term in terms if term not in gap)
    return terms


def check_picked(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """The expectation in a round that is picked uniformly is the mean over the rounds, of a measure with those terms.

    `data`: {"each": the measure at a round}, which the proof names, or the claim.
    """
    frame = framed(context)
    within(rests, stated.under, context.forms)
    defined(stated.says, rests, context)
    each = data.fields("each")["each"].name()
    at_round = frame.measured(each)
    T, first = frame.size("T"), frame.first
    last = Op("+", (T, first, fmpq(-1)))
    mean = Op("*", (Op("^", (T, fmpq(-1))), Op("sum", ("t", first, last, Op("at", (each, "t"))))))
    if at_round is None or at_round.at != ("t",) or at_round.law or at_round.extreme:
        raise Rejected(f"got {each!r}, expected a measure at a round")
    for name, measure in (*frame.method.measures.items(), *frame.measures.items()):
        picked = measure.law == "picked" and measure.at == ("T",) and measure.terms == at_round.terms
        if picked and same(stated.says, ("=", Op("at", (name, T)), mean), context.forms):
            return
    raise Rejected("got another equation, expected that a picked quantity is the mean over the rounds")
