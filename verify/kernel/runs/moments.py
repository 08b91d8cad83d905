"""The first two moments of a run on a box where every loss is a quadratic.

Every phase of a round is an affine map x -> c + M x + N s of all vectors, with independent signs s, and maps the box
into itself, so that the run never leaves it. E (1, x)(1, x)' after a phase is then a matrix times what it was before.
While numbers are short that is followed in rationals, otherwise by repeated squaring in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from flint import arb, arb_mat, fmpq, fmpq_mat

from ..core.budget import paid, price, spend, summed
from ..core.expression import Tree, Value
from ..core.loss import ONE, ZERO, ClientLoss, Loss, Matrix, Vector, dot
from ..core.method import NOISE, PICKED, Atom, Measure, Method, Number, Rule, rules
from ..core.problem import Here, Problem
from ..core.randomness import Draw, Draws, Noise
from ..core.rational import Rejected, affordable
from ..core.replay import Indices, Replay
from ..core.run import LOSSES, Fields, noisy
from ..core.walk import Drawn, Place, State, kick
from ..losses.kinds.curves import Curves
from ..losses.kinds.sample import Sample
from ..losses.kinds.table import Mixture, Penalty, Table
from ..losses.pieces import Pieces
from ..losses.rotated import Rotated
from ..losses.spline import Spline
from .data import data_of
from .mean_covariance import unflattened
from .rest import steady

EXACT, SIZE = 40_000, 144  # bits of the last round, of entries of a vector of moments
LINEAR = ("name", "+", "*", "mean", "sampled", "zero", "start", "noisy", "again")  # affine whatever the losses are
READ, SOLVED = ("grad", "hess", "noisy_hess", "batch_grad"), ("oracle", "full_prox")  # at a point, and to find one
Array = fmpq_mat | arb_mat


@dataclass(frozen=True, slots=True)
class Affine:
    """One row per entry: its offset and its coefficients of z; and its coefficients of the signs."""

    rows: Matrix
    noise: Matrix

    def ranges(self, low: Vector, high: Vector) -> Iterator[tuple[fmpq, fmpq]]:
        """Between what every entry lies where z is in the box."""
        for (offset, *row), signs in zip(self.rows, self.noise, strict=True):
            ends = [sorted((c * a, c * b)) for c, a, b in zip(row, low, high, strict=True)]
            swing = summed(map(abs, signs))
            yield summed((end[0] for end in ends), offset - swing), summed((end[1] for end in ends), offset + swing)

    def moments(self) -> fmpq_mat:
        """What it does to E (1, z)(1, z)', written row after row."""
        width = len(self.rows[0])
        rows = ((ONE, *[ZERO] * (width - 1)), *self.rows)
        signs = ((ZERO,) * len(self.noise[0]), *self.noise)
        affordable(max(len(rows), width) ** 2, SIZE, "instance.box")
        pairs = [[paid(p * q) for p, q in product(a, b)] for a, b in product(rows, rows)]
        for pair, (u, v) in zip(pairs, product(signs, signs), strict=True):
            pair[0] += dot(u, v)
        return fmpq_mat(pairs)


@dataclass(frozen=True, slots=True)
class Boxed:
    """A method on quadratics: its phases and measures as affine maps and quadratic forms."""

    method: Method
    problem: Problem
    draws: Draws
    kicks: Sequence[tuple[Vector, ...]]  # what each independent sign of a step moves
    scalars: Mapping[Tree, fmpq]
    noise: Noise

    def state(self, x: Vector, whole: bool) -> State[Vector]:
        """The server's vectors, and if `whole` those of all clients, from their entries."""
        shapes = [(name, 1) for name in self.method.server]
        shapes += [(name, len(self.problem.p)) for name in self.method.client] if whole else []
        return unflattened(x, shapes, len(self.problem.start))

    def scalar(self, factor: Tree) -> fmpq:
        return factor if isinstance(factor, fmpq) else self.scalars[factor]

    def entries(self, whole: bool) -> int:
        clients = len(self.method.client) * len(self.problem.p) if whole else 0
        return len(self.problem.start) * (len(self.method.server) + clients)

    def affine(self, of: Callable[[Here], Vector], whole: bool, draw: Draw) -> Affine:
        """The map that `of` is, from its values at 0, at the unit vectors, and at every sign."""
        D, none = self.entries(whole), self.noise.none

        def at(x: Vector, noise: tuple[Vector, ...] = none) -> Vector:
            state = {**self.state(x, whole), **kick(noise, len(self.problem.p))}
            return of(Place(self.problem, state, draw, self.scalars))

        offset = at((ZERO,) * D)
        units = [at(tuple(fmpq(j == k) for k in range(D))) for j in range(D)]
        signs = [at((ZERO,) * D, noise) for noise in self.kicks]
        apart = [[tuple(x - y for x, y in zip(end, offset, strict=True)) for end in ends] for ends in (units, signs)]
        noise = tuple(zip(*apart[1], strict=True)) or ((),) * len(offset)
        return Affine(tuple(zip(offset, *apart[0], strict=True)), noise)

    def phases(self) -> Iterator[tuple[str, bool, Draw, fmpq, Callable[[Here], Vector]]]:
        """Every phase under every draw on which it depends: whether clients' vectors are there before it."""
        phases, first = self.method.phases, self.draws[0][0]

        def flat(state: State[Vector]) -> Vector:
            names = [*self.method.server, *self.method.client]
            return tuple(x for name in names if name in state for vector in state[name] for x in vector)

        def last(place: Here) -> Vector:
            ended = place.carried(phases["end"], False)
            after = replace(place, state=ended, means={}, state_weights={}).carried(phases["update"], True)
            return flat({name: after[name] for name in self.method.server})

        yield "begin", False, first, ONE, lambda place: flat(place.carried(phases["begin"], False))
        if phases["local"]:
            rough = rough_draws(self.noise)
            for bent in rough:
                yield (
                    "local",
                    True,
                    first,
                    fmpq(1, len(rough)),
                    lambda place, bent=bent: flat(with_rough(place, bent).carried(phases["local"], False)),
                )
        for draw, chance in self.draws:
            yield "update", True, draw, chance, last

    def points(self) -> Iterator[tuple[bool, Draw, Callable[[Here], Vector]]]:
        """Where losses are read, and what they are solved by."""
        blocks = [(phase != "begin", [*block.values()]) for phase, block in self.method.phases.items()]
        blocks += [(within(m), rules(m.terms)) for m in followable(self.method)]
        read_rules = [(whole, r) for whole, block in blocks for rule in block for r in rule.all()]
        for whole, rule in dict.fromkeys(read_rules):
            for point in (rule.args[:1] if rule.op in READ else ()) + ((rule,) if rule.op in SOLVED else ()):
                yield from self.read_at(whole, point)
        for measure in followable(self.method):
            for point in (arg for _, atom in measure.terms for arg in _valued(atom)):
                yield from self.read_at(within(measure), point)

    def read_at(self, whole: bool, point: Rule) -> Iterator[tuple[bool, Draw, Callable[[Here], Vector]]]:
        """A point that losses are read at, for every client under every draw on which it depends."""
        draws = self.draws if point.has("sampled") else self.draws[:1]
        for i, (draw, _) in product(range(len(self.problem.p)), draws):
            yield whole, draw, lambda place, i=i: place.vector(point, i)

    def region(self, low: Vector, high: Vector) -> list[tuple[fmpq, fmpq]]:
        """All points at which losses are read, between the ends of each coordinate; the run stays in the box."""
        d = len(low)

        def ends(whole: bool) -> tuple[Vector, Vector]:
            return low * (self.entries(whole) // d), high * (self.entries(whole) // d)

        for _, whole, draw, _, of in self.phases():
            for n, (least, most) in enumerate(self.affine(of, whole, draw).ranges(*ends(whole))):
                if not low[n % d] <= least <= most <= high[n % d]:
                    raise Rejected("instance.box: got a step that leaves it, expected the box to hold the run")
        if not all(a <= x <= b for a, x, b in zip(low, self.problem.start, high, strict=True)):
            raise Rejected("instance.box: got a start outside, expected the box to hold the run")
        region = list(zip(low, high, strict=True))
        for whole, draw, of in self.points():
            reached = self.affine(of, whole, draw).ranges(*ends(whole))
            region = [(min(a, x), max(b, y)) for (a, b), (x, y) in zip(region, reached, strict=True)]
        return region

    def form(self, number: Number, whole: bool) -> fmpq_mat:
        """The expectation of a number as a row that multiplies E (1, x)(1, x)'."""
        width = 1 + self.entries(whole)
        total = fmpq_mat(1, width * width)
        for draw, chance in self.draws if any(r.op == "sampled" for r in rules(number)) else [(self.draws[0][0], ONE)]:
            for factor, atom in number:
                row = self.atom(atom, 0, whole, draw)
                total += fmpq_mat([[paid(chance * self.scalar(factor) * x) for x in row]])
        return total

    def atom(self, atom: Atom, i: int, whole: bool, draw: Draw) -> Vector:
        if atom.op == "mean" and atom.inside is not None:
            each = [self.atom(atom.inside, j, whole, draw) for j in range(len(self.problem.p))]
            return tuple(dot(self.problem.p, entries) for entries in zip(*each, strict=True))
        if atom.op not in ("norm2", "inner", "f_i"):
            raise Rejected("instance.box: got another measure, expected squares, products and values of the clients")
        maps = [self.affine(lambda place, rule=rule: place.vector(rule, i), whole, draw).rows for rule in atom.args]
        if atom.op != "f_i":
            return tuple(summed(x[r] * y[s] for x, y in zip(maps[0], maps[-1], strict=True))
                         for r, s in product(range(len(maps[0][0])), repeat=2))  # fmt: skip
        loss = self.problem.losses[i]
        if not isinstance(loss, Loss):
            raise Rejected("instance.clients: got data points, expected losses with values")
        x, one = maps[0], (ONE, *[ZERO] * (len(maps[0][0]) - 1))
        bent = [[dot(row, column) for column in zip(*x, strict=True)] for row in loss.A]
        slope = [dot(loss.b, column) for column in zip(*x, strict=True)]
        entries = product(range(len(one)), repeat=2)
        return tuple(
            summed(row[r] * ax[s] / 2 for row, ax in zip(x, bent, strict=True))
            + one[r] * (loss.constant * one[s] - slope[s])
            for r, s in entries
        )


@dataclass(frozen=True, slots=True)
class Followed:
    """E (1, z)(1, z)' before the first round, and how the phases carry it."""

    boxed: Boxed
    start: fmpq_mat
    phases: Mapping[str, fmpq_mat]
    E: int
    T: int

    def measured(self, measure: Measure, t: int, k: int) -> Value:
        """Before round t; after k steps of it where the measure is about a round's inside."""
        whole = within(measure)
        form = self.boxed.form(measure.terms, whole)
        begun, local = self.phases["begin"], self.phases.get("local")
        ended, summed_ = (begun, None) if local is None else (times(x, begun) for x in powers(local, self.E))
        round_ = times(self.phases["update"], ended)
        if measure.at == ("T",):
            y, share = times(powers(round_, self.T)[1], self.start), fmpq(1, self.T)
        else:
            y, share = times(powers(round_, t)[0], self.start), ONE
        if whole and measure.law == "picked_step":
            y, share = (times(begun, y), share) if summed_ is None else (times(summed_, y), share / self.E)
        elif whole:
            y = times(begun, y) if local is None else times(powers(local, k)[0], times(begun, y))
        return times(form, y)[0, 0] * share


def followed(boxed: Boxed, low: Vector, high: Vector, first: State[Vector], E: int, T: int) -> Followed:
    """Rejected unless the run stays in the box, all rules are affine there, and losses quadratic where it reads."""
    method, problem = boxed.method, boxed.problem
    blocks = [rule for block in method.phases.values() for top in block.values() for rule in top.all()]
    measured_rules = [r for measure in followable(method) for r in rules(measure.terms)]
    drawn = [r for phase in ("begin", "local") for rule in method.phases[phase].values() for r in rule.all()]
    affine = all(r.op in (*LINEAR, *READ, *SOLVED) for r in (*blocks, *measured_rules))
    if not affine or any(r.op == "sampled" for r in drawn) or any(r.op in NOISE for r in measured_rules):
        raise Rejected("instance.box: got a method with other rules, expected affine ones that do not see who is drawn")
    if [*method.server] != method.kept or not steady(method):
        raise Rejected("instance.box: got a method with memory or with a clock, expected the server's vectors alone")
    data = data_of(problem)
    if data is not None and (data.oracle.step or any(len(risks) != 1 for risks in data.batches)):
        raise Rejected("instance.box: got minibatches or an oracle that errs, expected neither")
    if any(point.has("noisy_hess") for r in (*blocks, *measured_rules) if r.op in READ for point in r.args[:1]):
        raise Rejected("instance.box: got losses that are read where a Hessian's noise leads, expected other points")
    inside = replace(boxed, problem=on_box(problem, list(zip(low, high, strict=True))))
    wide = on_box(problem, inside.region(low, high))
    if _written(wide) != _written(inside.problem):
        raise Rejected("instance.box: got a loss that changes where the run reads it, expected one quadratic")
    z = (ONE, *(x for name in method.server for x in first[name][0]))
    sums: dict[str, fmpq_mat] = {}
    for phase, whole, draw, chance, of in inside.phases():
        one = chance * inside.affine(of, whole, draw).moments()
        sums[phase] = sums[phase] + one if phase in sums else one
    start = fmpq_mat([[x * y] for x, y in product(z, repeat=2)])
    return Followed(inside, start, sums, E, T)


def _valued(atom: Atom) -> tuple[Rule, ...]:
    """Where a measure reads the value of a loss."""
    return _valued(atom.inside) if atom.inside is not None else atom.args if atom.op == "f_i" else ()


def followable(method: Method) -> list[Measure]:
    """Measures of the run; what is measured before it has no index."""
    return [measure for measure in method.measures.values() if measure.at]


def within(measure: Measure) -> bool:
    """Whether it is about the inside of a round, where clients have vectors."""
    return "k" in measure.at or measure.law == "picked_step"


def on_box(problem: Problem, region: Sequence[tuple[fmpq, fmpq]]) -> Problem:
    """The problem with the quadratics that its losses are there."""
    data = data_of(problem)
    if data is None:
        return replace(problem, losses=tuple(smooth(loss, region) for loss in problem.losses))
    ((low, high),) = region
    whole: dict[str, Rotated | Mixture] = {name: quadratic(f, low, high) for name, f in data.whole.items()}
    risks = [quadratic(own[0], low, high) for own in data.batches]
    losses = tuple(Sample((f,), (ONE,), (ONE,)) for f in risks)
    return replace(problem, losses=losses, data=replace(data, whole=whole, batches=tuple((f,) for f in risks)))


def _written(problem: Problem) -> list[object]:
    """What two problems of quadratics have in common if they are one."""
    plain = [(f.A, f.b, f.constant) for f in problem.losses if isinstance(f, Loss)]
    data = data_of(problem)
    return [*plain, *([] if data is None else [*data.batches, *data.whole.values()])]


def smooth(loss: ClientLoss, region: Sequence[tuple[fmpq, fmpq]]) -> Loss:
    """The quadratic that a loss is where every coordinate is between the ends."""
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, Curves):
        raise Rejected("instance.box: got kinks or data points, expected losses with a Hessian")
    if any(loss.turn):
        raise Rejected("instance.box: got losses that are turned, expected sums over coordinates")
    each = [_parabola(part, *ends) for part, ends in zip(loss.parts, region, strict=True)]
    A = tuple(tuple(a if r == s else ZERO for s in range(len(each))) for r, (a, _, _) in enumerate(each))
    return Loss(A, tuple(-slope for _, slope, _ in each), summed(constant for _, _, constant in each))


def _parabola(f: Spline, low: fmpq, high: fmpq) -> tuple[fmpq, fmpq, fmpq]:
    """Curvature, slope at 0 and value at 0 of the quadratic that f is on [low, high]."""
    if any(low < x < high and s for x, s in f.knots) or summed(s for x, s in f.knots if x <= low):
        raise Rejected("instance.box: got a curvature that changes there, expected quadratics")
    a = f.bend(low)
    slope = f.slope(low) - a * low
    return a, slope, f.value(low) - slope * low - a * low * low / 2


def quadratic(function: object, low: fmpq, high: fmpq) -> Rotated:
    """The quadratic that a function of one variable is on [low, high]."""
    if not isinstance(function, Rotated) or len(function.parts) != 1 or function.basis:
        raise Rejected("instance.box: got several variables or a basis, expected one variable")
    f = function.parts[0]
    inside = [s for s in f.segments() if (s[0] is None or s[0] < high) and (s[1] is None or s[1] > low)]
    if len({curvature for _, _, curvature in inside}) != 1 or inside[0][2] < 0:
        raise Rejected("instance.box: got a risk that is no convex quadratic there, expected one curvature")
    if any(f.slopes(x)[0] != f.slopes(x)[1] for x, _, _ in f.knots if low <= x <= high):
        raise Rejected("instance.box: got a kink, expected quadratics")
    a = inside[0][2]
    slope = f.slopes(low)[1] - a * low
    return Rotated((Pieces((), a, slope, f.value(low) - slope * low - a * low * low / 2),))


def powers(matrix: Array, n: int) -> tuple[Array, Array]:
    """matrix^n, and 1 + ... + matrix^(n - 1); exact where that is short."""
    size = matrix.nrows()
    if isinstance(matrix, fmpq_mat) and n * max(x.height_bits() for x in matrix.entries()) > EXACT:
        matrix = _balls(matrix)
    one, none = ([[fmpq(int(r == s) * k) for s in range(size)] for r in range(size)] for k in (1, 0))
    kind = fmpq_mat if isinstance(matrix, fmpq_mat) else arb_mat
    power, sums = kind(one), kind(none)
    for bit in bin(n)[2:]:
        sums, power = sums + times(power, sums), times(power, power)
        if bit == "1":
            sums, power = sums + power, times(power, matrix)
    return power, sums


def times(x: Array, y: Array) -> Array:
    """Their product: in balls, unless both are rational."""
    spend(2 * x.nrows() * x.ncols() * y.ncols())
    if isinstance(x, fmpq_mat) and isinstance(y, fmpq_mat):
        product_ = x * y
        spend(sum(price(entry.height_bits()) for entry in product_.entries()) * x.ncols())
        return product_
    return _balls(x) * _balls(y)


def _balls(x: Array) -> arb_mat:
    return x if isinstance(x, arb_mat) else arb_mat([[arb(entry) for entry in row] for row in x.tolist()])


def with_rough(place: Here, bent: tuple[Vector, ...]) -> Here:
    """The place with this noise of the Hessians, where they have some."""
    state = {**place.state, Drawn("noisy_hess"): bent}
    return replace(place, state=state, means={}, state_weights={}) if bent else place


def rough_draws(noise: Noise) -> list[tuple[Vector, ...]]:
    """All that the signs of the Hessians may do in one step, each as probable as the others."""
    signs = [(h, tuple(-x for x in h)) if any(h) else (h,) for h in noise.h]
    return list(product(*signs))


@dataclass(frozen=True, slots=True)
class Box:
    """The measures of a run that no outcome takes out of a box on which every loss is a quadratic."""

    replay: Replay[Vector, fmpq]  # its measures without an index are known before the run
    problem: Problem
    noise: Noise
    low: Vector
    high: Vector
    values: dict[tuple[str, Indices], fmpq] = field(default_factory=dict[tuple[str, Indices], fmpq])
    run: list[Followed] = field(default_factory=list[Followed])  # one at most

    def value(self, name: str, indices: Indices) -> Value:
        replay = self.replay
        measure = replay.method.measures[name]
        if not measure.at:
            return replay.value(name, indices)
        if (name, indices) in self.values:
            return self.values[name, indices]
        where = dict(zip(measure.at, indices, strict=True))
        if measure.law not in ("", *PICKED) or measure.extreme or {*measure.at} & {*"ijn"}:
            raise Rejected("instance.box: got another measure, expected the expectation of what all clients do")
        value = self.followed(measure).measured(
            measure, where.get("t", 0) - replay.method.counts_from, where.get("k", 0)
        )
        if isinstance(value, fmpq):  # a ball has the precision of the moment
            self.values[name, indices] = value
        return value

    def followed(self, measure: Measure) -> Followed:
        if not self.run:
            replay, method = self.replay, self.replay.method
            if method.reads(*SOLVED):  # rejects what is not strongly convex
                replay.law(0, 0)
                replay.expected(measure.terms, 0, replay.law(0, -1), 0, 0)
            noise, none = self.noise, tuple(ZERO for _ in self.noise.v[0])
            kicks = replace(noise, h=(none,) * len(noise.h)).kicks()
            scalars = replay.scalars(method.scalars, 0, 0)
            boxed = Boxed(method, self.problem, replay.draws, kicks, scalars, noise)
            self.run.append(followed(boxed, self.low, self.high, replay.initial(), replay.E, replay.T))
        return self.run[0]


def boxed(fields: Fields, replay: Replay[Vector, fmpq], problem: Problem, noise: Noise) -> Box:
    """The measures in the box that an instance gives."""
    method, d = replay.method, len(problem.start)
    if any(isinstance(loss, Table) for loss in problem.losses) or isinstance(problem.g, Penalty):
        raise Rejected("instance.box: got losses known at a few points, expected losses that are quadratic there")
    ends = fields["box"].fields("low high")
    low, high = ends["low"].vector(d), ends["high"].vector(d)
    data = any(n.kind(LOSSES) == "sample" for n in fields["clients"].items())
    few = "steps" in fields["noise"].mapping()
    if "oracle" in fields or method.steps or (data and noisy(fields)) or few:
        raise fields["box"].malformed(
            "none, unless there are exact answers, no noise of data points or of a few steps, and rounds"
        )
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise Rejected("instance.box: got an empty one, expected low < high")
    return Box(replay, problem, noise, low, high)
