"""The only inequalities that a premise may use: what squares and the assumptions give at named points.

An atom is a number that is not negative in expectation: for one client, under the mean over the clients, or under
sum_i p_i^2 (.). Each is built here from its points, and owes the assumption that gives it, with its constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import fmpq

from ...core.assumptions import CURVATURE, OF_MEAN
from ...core.expression import Op, Tree, free, parse
from ...core.method import Atom, Rule, factors
from ...core.rational import Node, Rejected
from ..forms import Need, substituted
from ..polynomials import Form
from .combinations import ALL, ANY, MEAN, NEAR, SIGN, SUM, Scalar, Term, Vec, constant, inner, number, times
from .formulas import formula
from .reading import Reader

OVER = ("one", "mean", "squares")
HALF = number(fmpq(1, 2))
WEAK = "weakly_convex"  # of what a setting takes a proximal point of, which is not f everywhere


@dataclass(frozen=True, slots=True)
class Place:
    """One atom of a file: whose vectors it reads, and its fields."""

    reader: Reader
    fields: Mapping[str, Node]
    over: str
    client: str
    other: str

    def vector(self, name: str) -> Vec:
        return self.read(self.rule(name))

    def rule(self, name: str) -> Rule:
        return self.reader.frame.vector(self.field(name))

    def read(self, rule: Rule) -> Vec:
        return self.reader.vector(rule, "base", self.client, self.other)

    def field(self, name: str) -> Node:
        if name not in self.fields:
            raise Rejected(f"got an atom without {name!r}")
        return self.fields[name]

    def tree(self, name: str) -> Tree:
        return parse(self.field(name))

    def positive(self, name: str) -> Form:
        return self.reader.positive(self.tree(name))

    def flag(self, name: str) -> bool:
        return name in self.fields and self.fields[name].flag()

    def constant(self, *assumptions: str, more: str = "") -> Form:
        """The constant of one of these assumptions, which the claim has to make with it."""
        names = [self.field("constant").name(), *([self.field(more).name()] if more else [])]
        if not any(self.reader.frame.assumes(one, *names) for one in assumptions):
            raise Rejected(f"got {' or '.join(assumptions)} with {names}, expected an assumption of the claim")
        return self.reader.form(names[0])

    def curvature(self, side: int, end: int, *points: Vec) -> Form:
        """The constant of an assumption that bounds curvatures so from this side: of f_i, or of f at shared points."""
        name, tables = self.field("constant").name(), (CURVATURE, OF_MEAN)
        each, mean = ([one for one, ends in table.items() if ends[side] == end and one != WEAK] for table in tables)
        each_says, mean_says = (any(self.reader.frame.assumes(one, name) for one in those) for those in (each, mean))
        if mean_says and not each_says:
            self.shared(*points)
            if self.over != "mean":
                raise Rejected("got an assumption about f for one client, expected it under the mean")
            return self.constant(*mean)
        return self.constant(*each)

    def gradient(self, x: Rule) -> Vec:
        return self.read(Rule("grad", (x,)))

    def value(self, at: Vec, op: str = "value") -> Scalar:
        if not self.client:
            raise Rejected("got a client's loss, expected an atom with its client")
        return self.reader.value_of(at, self.client, op)

    def shared(self, *points: Vec) -> None:
        if any(x.tags & {ANY} for x in points):
            raise Rejected("got a client's own point, expected a point that all clients share")


def minus(scalar: Scalar) -> Scalar:
    return times(number(-1), scalar)


def square(x: Vec) -> Scalar:
    return inner(x, x)


def _square(at: Place) -> Scalar:
    """|x|^2 >= 0: Jensen, Young, Peter-Paul and Cauchy-Schwarz with a given constant are such squares."""
    return square(at.vector("x"))


def _smooth(at: Place) -> Scalar:
    """f_i(y) <= f_i(x) + <grad f_i(x), y - x> + L/2 |y - x|^2; with `below`, the parabola on the other side."""
    below, x, y = at.flag("below"), at.vector("x"), at.vector("y")
    constant_ = at.curvature(0, -1, x, y) if below else at.curvature(1, 1, x, y)
    apart = (*at.value(x), *inner(at.gradient(at.rule("x")), y - x), *minus(at.value(y)))
    return (*(minus(apart) if below else apart), *times(HALF * constant_, square(y - x)))


def _lipschitz(at: Place) -> Scalar:
    """|grad f_i(x) - grad f_i(y)|^2 <= L^2 |x - y|^2."""
    L = at.constant("smooth")
    turn = at.gradient(at.rule("x")) - at.gradient(at.rule("y"))
    return (*times(L * L, square(at.vector("x") - at.vector("y"))), *minus(square(turn)))


def _convex(at: Place) -> Scalar:
    """f_i(y) >= f_i(x) + <grad f_i(x), y - x> + mu/2 |y - x|^2, without a constant for a convex f_i.

    Like smoothness, where it is assumed of f alone it holds for the mean, at points that clients share.
    """
    x, y, frame = at.vector("x"), at.vector("y"), at.reader.frame
    if "constant" not in at.fields:
        if not frame.assumes("convex"):
            raise Rejected("got convexity, expected a claim that assumes it")
        curve = number(0)
    else:
        curve = at.curvature(0, 1, x, y)
    apart = (*at.value(y), *minus(at.value(x)), *minus(inner(at.gradient(at.rule("x")), y - x)))
    return (*apart, *times(number(-1) * HALF * curve, square(y - x)))


def _interpolated(at: Place) -> Scalar:
    """(L - mu) D >= |grad f_i(x) - grad f_i(y) - mu (x - y)|^2/2 of an L-smooth and mu-strongly convex f_i, where
    D = f_i(x) - f_i(y) - <grad f_i(y), x - y> - mu/2 |x - y|^2.

    For every M > L, h = f_i - mu/2 |.|^2 is convex and (M - mu)-smooth: h(z) is at least its tangent at y, and at most
    its parabola at x, at z = x - (grad h(x) - grad h(y))/(M - mu). That is the inequality with M for L; let M go to L.
    """
    L, mu = at.constant("smooth"), at.reader.form(at.field("curve").name())
    if not at.reader.frame.assumes("strongly_convex", at.field("curve").name()):
        raise Rejected("got strong convexity, expected a claim that assumes it with this constant")
    x, y = at.vector("x"), at.vector("y")
    apart, slope = x - y, at.gradient(at.rule("y"))
    turn = at.gradient(at.rule("x")) - slope - apart.scaled(mu)
    above = (*at.value(x), *minus(at.value(y)), *minus(inner(slope, apart)), *minus(times(HALF * mu, square(apart))))
    return (*times(L + -mu, above), *minus(times(HALF, square(turn))))


def _cocoercive(at: Place) -> Scalar:
    """L <d, x - y> >= |d|^2 for d = grad f_i(x) - grad f_i(y) of a convex and L-smooth f_i.

    h = f_i - <grad f_i(y), .> is convex, so that it is least at y, and L-smooth: a step of grad h(x)/L from x shows
    h(x) - h(y) >= |d|^2/(2 L). So does the same with x and y exchanged, and the two add up to <d, x - y> >= |d|^2/L.
    """
    L = at.constant("smooth")
    if not at.reader.frame.assumes("convex"):
        raise Rejected("got convexity, expected a claim that assumes it")
    turn = at.gradient(at.rule("x")) - at.gradient(at.rule("y"))
    return (*times(L, inner(turn, at.vector("x") - at.vector("y"))), *minus(square(turn)))


def _bregman(at: Place) -> Scalar:
    """2 L D >= |d|^2 for D = f_i(x) - f_i(y) - <grad f_i(y), x - y>, d = grad f_i(x) - grad f_i(y), of a convex and
    L-smooth f_i.

    h = f_i - <grad f_i(y), .> is convex, so that it is least at y, and L-smooth, so that it is at most
    h(x) - |grad h(x)|^2/(2 L) after a step of grad h(x)/L from x; and h(x) - h(y) is D, grad h(x) is d.
    """
    L, x, y = at.constant("smooth"), at.vector("x"), at.vector("y")
    if not at.reader.frame.assumes("convex"):
        raise Rejected("got convexity, expected a claim that assumes it")
    slope = at.gradient(at.rule("y"))
    above = (*at.value(x), *minus(at.value(y)), *minus(inner(slope, x - y)))
    return (*times(L + L, above), *minus(square(at.gradient(at.rule("x")) - slope)))


def _lower(at: Place) -> Scalar:
    """f_i(x) >= f_i*: the least value of the client's own loss."""
    return (*at.value(at.vector("x")), *minus(at.reader.atom(Atom("f_i_star"), "base", at.client, "", None)))


def _minimum(at: Place) -> Scalar:
    """f(x) >= f*, or F(x) >= F* where there is a regulariser, at a point that all clients share."""
    x = at.vector("x")
    at.shared(x)
    g = at.reader.regulariser(x, "") if at.reader.frame.composite else ()
    return (*at.reader.value(x), *g, *minus(at.reader.least()))


def _variance(at: Place) -> Scalar:
    """E|noise|^2 <= sigma^2 for the noise of a gradient x, at any point; of a minibatch sigma^2/batch.

    `least`: of vectors whose variance is sigma^2, and so no less.
    """
    x = at.rule("x")
    least = at.flag("least")
    if x.op != "grad" and not least:
        raise Rejected("got the variance of something else than a gradient")
    sigma = at.reader.form(at.field("constant").name()) if least else number(0)
    exact = at.reader.frame.assumes("independent") and "batch" not in at.fields
    if least and not (exact and at.field("constant").name() == "sigma"):
        raise Rejected("got a variance from below, expected a claim that says what it is")
    if not least and "batch" in at.fields:
        sigma = at.constant("minibatch_variance", more="batch")
    elif not least:
        sigma = at.constant("bounded_variance", "exact_variance")
    most = sigma * sigma * (at.positive("batch").inverse() if "batch" in at.fields else number(1))
    if not at.client:
        raise Rejected("got noise, expected an atom with its client")
    noise = square(at.reader.noise(at.read(x), "base", at.client))
    return (*constant(most), *minus(noise)) if not least else (*noise, *minus(constant(most)))


def _short(at: Place) -> Scalar:
    """|x|^2 <= G^2 for a gradient x of a G-Lipschitz loss."""
    G, x = at.constant("lipschitz"), at.rule("x")
    if x.op != "grad":
        raise Rejected("got the length of something else than a gradient")
    return (*constant(G * G), *minus(square(at.read(x))))


def _near(at: Place) -> Scalar:
    """sum_j q_ij |x_j|^2 >= |sum_j q_ij x_j|^2 over the neighbours j of a client.

    Under the mean over the clients the left side is sum_j p_j |x_j|^2, for the weights p_ij are symmetric.
    """
    at.reader.normal.charges.add(NEAR)
    if at.over == "squares":
        raise Rejected("got a mean over neighbours under sum_i p_i^2")
    x = at.reader.vector(at.rule("x"), "base", ANY)
    middle = at.reader.vector(Rule("neighbours", (at.rule("x"),)), "base", at.client)
    over = "mean" if at.over == "mean" else "near"
    client = "" if over == "mean" else at.client
    return ((number(1), Term("inner", over, (x, x), client=client)), *minus(square(middle)))


def _subgradient(at: Place) -> Scalar:
    """g(y) >= g(p) + <(x - p)/step, y - p> for the regulariser g, which is convex, and p = prox(x, step).

    Of a function in its place that is nu-weakly convex, nu/2 |y - p|^2 less; then nu step < 1, or p need not exist.
    """
    step, y = at.positive("step"), at.vector("y")
    p, weak = at.read(Rule("prox", (at.rule("x"),), at.tree("step"))), at.reader.frame.setting.composite
    tangent = (*at.reader.regulariser(y, at.client), *minus(at.reader.regulariser(p, at.client)))
    less = times(HALF * _weak(at), square(y - p)) if weak else ()
    return (*tangent, *minus(times(step.inverse(), inner(at.vector("x") - p, y - p))), *less)


def _weak(at: Place) -> Form:
    nu, step = at.constant("weakly_convex"), at.tree("step")
    room = Op("+", (fmpq(1), Op("*", (fmpq(-1), at.field("constant").name(), step))))
    at.reader.needs.append(Need("positive", room))
    return nu


def _slope(at: Place) -> Scalar:
    """|(x - p)/step| <= B for p = prox(x, step): the subgradients of the regulariser are bounded by B."""
    B, step = at.constant("bounded_subgradients"), at.positive("step")
    p = at.read(Rule("prox", (at.rule("x"),), at.tree("step")))
    return (*constant(step * step * B * B), *minus(square(at.vector("x") - p)))


def _proximal_pl(at: Place) -> Scalar:
    """F(x) - F* <= -min_y {<grad f(x), y - x> + mu/2 |y - x|^2 + g(y) - g(x)}, least at p = prox(x - grad f(x)/mu)."""
    mu, x = at.constant("prox_pl"), at.vector("x")
    inverse = Op("^", (at.field("constant").name(), fmpq(-1)))
    slope = Rule("mean", (Rule("grad", (at.rule("x"),)),))
    down = Rule("+", (at.rule("x"), Rule("*", (slope,), Op("*", (fmpq(-1), inverse)))))
    p = at.read(Rule("prox", (down,), inverse))
    if x.tags - {ALL, MEAN}:
        raise Rejected("got the proximal PL inequality at a client's own point, expected a shared one")
    model = (*inner(at.read(slope), p - x), *times(HALF * mu, square(p - x)), *at.reader.regulariser(p, ""))
    return (*at.reader.least(), *minus(at.reader.value(x)), *minus(model))


def _optimal(at: Place) -> Scalar:
    """h(y) >= h(p) + <(x - p)/step, y - p> - nu/2 |y - p|^2 for the minimiser p of h + |. - x|^2/(2 step).

    h is the loss that the client draws, or with `full` f itself: means of nu-weakly convex losses. nu step < 1.
    """
    full, y, step, nu = at.flag("full"), at.vector("y"), at.positive("step"), _weak(at)
    p = at.read(Rule("full_prox" if full else "oracle", (at.rule("x"),), at.tree("step")))
    if full:
        at.shared(y)
        at.reader.normal.charges.update((SIGN, SUM))
    values = (at.reader.value(y), at.reader.value(p)) if full else (at.value(y, "drawn"), at.value(p, "drawn"))
    tangent = (*values[0], *minus(values[1]), *minus(times(step.inverse(), inner(at.vector("x") - p, y - p))))
    return (*tangent, *times(HALF * nu, square(y - p)))


def _moved(at: Place) -> Scalar:
    """|x - p| <= step G for the minimiser p of h + |. - x|^2/(2 step), h the client's: a mean of G-Lipschitz losses.

    For small s, h(p + s (x - p)) - h(p) is at least (s - s^2/2) |x - p|^2/step, and at most s G |x - p|.
    """
    G, step = at.constant("lipschitz"), at.positive("step")
    p = at.read(Rule("oracle", (at.rule("x"),), at.tree("step")))
    return (*constant(step * step * G * G), *minus(square(at.vector("x") - p)))


def _steep(at: Place) -> Scalar:
    """h(x) - h(y) <= G |x - y| <= c G^2/2 + |x - y|^2/(2 c) for G-Lipschitz losses: f_i, or what the client draws."""
    G, c, op = at.constant("lipschitz"), at.positive("c"), "drawn" if at.flag("draws") else "value"
    x, y = at.vector("x"), at.vector("y")
    room = (*constant(HALF * c * G * G), *times(HALF * c.inverse(), square(x - y)))
    return (*at.value(y, op), *minus(at.value(x, op)), *room)


def _largest(at: Place) -> Scalar:
    """What a measure is the largest of, over clients, steps, rounds before the last and outcomes, is at most that."""
    name, frame = at.field("measure").name(), at.reader.frame
    measure = frame.measured(name)
    if measure is None or measure.extreme != "most" or measure.at or at.over == "squares":
        raise Rejected(f"got {name!r}, expected a measure that is the largest of something")
    t, k = at.reader.at
    last = Op("+", (frame.first, frame.size("T"), fmpq(-1), Op("*", (fmpq(-1), t))))
    at.reader.needs.append(Need("nonnegative", last))
    stepwise = bool(frame.method.phases["local"])
    if stepwise or any(name == "k" for c in factors(measure.terms) for name, _ in free(c)):  # else all steps are alike
        end = frame.size("E") if stepwise else fmpq(0)
        at.reader.needs.append(Need("nonnegative", Op("+", (end, Op("*", (fmpq(-1), k))))))
    each = at.reader.number(measure.terms, "base", at.client, "", at.reader.now)
    return (*constant(at.reader.form(name)), *minus(each))


def _weight(at: Place) -> Scalar:
    """p_i >= 0 of a client, or the share q_ij >= 0 that it has among the neighbours of another."""
    frame, who = at.reader.frame, at.field("client").name()
    if "among" in at.fields:
        at.reader.normal.charges.add(NEAR)
        return formula(at.reader, Op("at", (frame.shares, at.field("among").name(), who)))
    at.reader.normal.charges.add(SIGN)
    return formula(at.reader, Op("at", (frame.setting.weights, who)))


def _subset(at: Place) -> Scalar:
    """No more clients are drawn than there are."""
    frame = at.reader.frame
    if at.reader.normal.share is None:
        raise Rejected("got a subset of the clients, expected a claim that draws one")
    return constant(at.reader.form(Op("+", (frame.size("C"), Op("*", (fmpq(-1), frame.size("m")))))))


def _idle(at: Place) -> Scalar:
    """At most one client is idle, and its weight is 1/C."""
    groups = at.reader.frame.groups
    if groups is None:
        raise Rejected("got an idle client, expected two groups of parabolas")
    most = Op("*", (fmpq(-1), at.reader.frame.size("C"), groups.idle))
    return constant(at.reader.form(Op("+", (fmpq(1), most))))


def _bound(at: Place) -> Scalar:
    """What an assumption says of the method's own measures, at indices in its ranges; under a mean, of every client."""
    name, frame = at.field("name").name(), at.reader.frame
    if name not in frame.claim.means or name not in {assumption for assumption, _ in frame.claim.assumptions}:
        raise Rejected(f"got {name!r}, expected an assumption that says something of the run's measures")
    (relation, left, right), ranges = frame.claim.means[name]
    values = {index: parse(x) for index, x in at.fields["at"].mapping().items()} if "at" in at.fields else {}
    missing = set(ranges) - set(values)
    if any((index, -1) in free(value) for index in missing for value in values.values()):
        raise Rejected("got a value that speaks of the client over which the mean runs; do: rename it")
    if set(values) - set(ranges) or len(missing) != (at.over != "one"):
        expected = f"expected one for each of {sorted(ranges)} but a mean's client"
        raise Rejected(f"got values for {sorted(values)}, {expected}")
    for index, (low, high) in ranges.items():
        everyone = at.reader.same(low, fmpq(1)) and at.reader.same(high, frame.size("C"))
        if index in missing and not everyone:
            raise Rejected(f"got a mean over {index!r}, expected one over the clients")
        if index in values and not (everyone and at.reader.client(values[index])):
            at.reader.needs.append(Need("nonnegative", Op("+", (values[index], Op("*", (fmpq(-1), low))))))
            at.reader.needs.append(Need("nonnegative", Op("+", (high, Op("*", (fmpq(-1), values[index]))))))
            if not frame.forms.whole(frame.forms.form(values[index])):
                raise Rejected(f"got {index!r} at what may be no whole number")
    sides = [substituted(side, values) for side in (left, right)]
    small, large = sides if relation in ("<=", "<", "=") else reversed(sides)
    if relation == "!=":
        raise Rejected("got an assumption that something differs, expected an inequality")
    difference = Op("+", (large, Op("*", (fmpq(-1), small))))
    return formula(at.reader, difference, next(iter(missing), ""))


Maker = Callable[[Place], Scalar]
POINTS: Mapping[str, tuple[Maker, str]] = {  # with the fields of each
    "square": (_square, "x"),
    "smooth": (_smooth, "x y constant below"),
    "lipschitz": (_lipschitz, "x y constant"),
    "convex": (_convex, "x y constant"),
    "interpolated": (_interpolated, "x y constant curve"),
    "cocoercive": (_cocoercive, "x y constant"),
    "bregman": (_bregman, "x y constant"),
    "lower": (_lower, "x"),
    "minimum": (_minimum, "x"),
    "variance": (_variance, "x constant batch least"),
    "short": (_short, "x constant"),
    "near": (_near, "x"),
    "subgradient": (_subgradient, "x y step constant"),
    "slope": (_slope, "x step constant"),
    "proximal_pl": (_proximal_pl, "x constant"),
    "optimal": (_optimal, "x y step constant full"),
    "moved": (_moved, "x step constant"),
    "steep": (_steep, "x y constant c draws"),
    "largest": (_largest, "measure"),
    "weight": (_weight, "among"),
    "subset": (_subset, ""),
    "idle": (_idle, ""),
    "bound": (_bound, "name at"),
}
SHARED = ("minimum", "proximal_pl", "weight", "subset", "idle", "subgradient", "slope")  # that are under no mean
ON_EVERY_PATH = ("variance", "bound")  # that do not hold there


def read(node: Node, reader: Reader, everyone: str) -> Scalar:
    """The atom of a file as a number that is not negative; `everyone`: the client where it names none."""
    kind = node.mapping().get("atom", node).one_of(POINTS)
    maker, more = POINTS[kind]
    fields = node.fields("atom", f"over client other {more}")
    over = fields["over"].one_of(OVER) if "over" in fields else "one"
    if over != "one" and (reader.normal.squares is None or reader.frame.alone):
        raise Rejected(f"{node.where}: got a mean over the clients, expected none where there is one, or none")
    if over != "one" and (kind in SHARED or "client" in fields or "other" in fields):
        raise Rejected(f"{node.where}: got {kind!r} under {over!r}, expected it of one client or of none")
    client = ANY if over != "one" else reader.client(fields["client"].name()) if "client" in fields else everyone
    other = reader.client(fields["other"].name()) if "other" in fields else ""
    if everyone and kind in ON_EVERY_PATH:
        raise Rejected(f"{node.where}: got {kind!r}, which holds in expectation, expected what holds on every path")
    scalar = maker(Place(reader, fields, over, client, other))
    if over == "mean" and kind != "near":
        reader.normal.charges.add(SIGN)
    return scalar if over == "one" else under(reader, scalar, over)


def under(reader: Reader, scalar: Scalar, over: str) -> Scalar:
    return reader.normal.under_mean(scalar, over)
