"""The first two moments of a long run on a box where every risk is a quadratic.

Every outcome of a round maps the box into itself by an affine map z -> M z + c, so that the run never leaves it, and
(1, E z, E z z') of the next round is a matrix times that of this one. While numbers are short it is followed in
rationals, otherwise by repeated squaring in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from flint import arb, fmpq

from .expression import Value
from .loss import ONE, ZERO, Matrix, Vector, dot
from .method import Method, Problem, Rule, rules
from .pieces import Pieces
from .rational import Rejected, affordable
from .rotated import Rotated
from .sample import Sample
from .work import paid, spend, summed

EXACT, SIZE = 40_000, 40  # bits of the last round, of entries of a matrix
INSIDE = ("name", "+", "*", "mean", "sampled", "zero", "start")  # linear whatever the losses are
LOSS = ("grad", "batch_grad", "oracle", "full_prox")  # read at a vector of the run


@dataclass(frozen=True, slots=True)
class Affine:
    """x(z) = offset + sum_j z_j columns_j."""

    offset: Vector
    columns: Matrix

    def inside(self, low: Vector, high: Vector) -> bool:
        """Whether it maps the box of z into the box of x."""
        for k, x in enumerate(self.offset):
            ends = [sorted((c[k] * a, c[k] * b)) for c, a, b in zip(self.columns, low, high, strict=True)]
            least, most = (summed(end[side] for end in ends) + x for side in (0, 1))
            if not low[k] <= least <= most <= high[k]:
                return False
        return True

    def moments(self) -> Matrix:
        """The rows (1, x, x x') as linear functions of (1, z, z z')."""
        D, lines = len(self.columns), list(zip(self.offset, *self.columns, strict=True))  # (offset, coefficients)
        first = [(ONE, *[ZERO] * (D + D * D)), *((*line, *[ZERO] * (D * D)) for line in lines)]
        second: list[Vector] = []
        for (a, *x), (b, *y) in product(lines, repeat=2):
            linear = [paid(a * q + b * p) for p, q in zip(x, y, strict=True)]
            second.append((paid(a * b), *linear, *(paid(p * q) for p, q in product(x, y))))
        return (*first, *second)


def affine(of: Callable[[Vector], Vector], D: int) -> Affine:
    """The map that `of` is, from its values at 0 and at the unit vectors."""
    offset = of((ZERO,) * D)
    ends = [of(tuple(fmpq(j == k) for k in range(D))) for j in range(D)]
    return Affine(offset, tuple(tuple(x - y for x, y in zip(end, offset, strict=True)) for end in ends))


def readable(method: Method) -> None:
    """Rejected unless all rules and picked measures are affine where losses are quadratics and read at the vectors."""
    blocks = [rule for block in method.phases.values() for rule in block.values()]
    read = [r for rule in blocks for r in rule.all()]
    read += [r for measure in method.measures.values() if measure.law == "picked" for r in rules(measure.terms)]
    nested = [r for rule in blocks for r in rule.all() if r.op == "oracle" and r is not rule]
    if any(r.op not in (*INSIDE, *LOSS) or (r.op in LOSS and r.args[0].op != "name") for r in read) or nested:
        raise Rejected("instance.box: got a method with other rules, expected affine ones that read losses at vectors")
    if any(method.phases[phase] for phase in ("local", "end")):
        raise Rejected("instance.box: got local steps, expected rounds that begin and update")
    if [name for name in method.kept if name not in method.server] or not method.timeless:
        raise Rejected("instance.box: got a method with memory or with a clock, expected the server's vectors alone")


def on_box(problem: Problem, low: fmpq, high: fmpq) -> Problem:
    """The problem with the quadratics that its risks are on the box."""
    if problem.oracle.step or any(len(risks) != 1 for risks in problem.batches) or not problem.batches:
        raise Rejected("instance.box: got minibatches, an oracle that errs, or no data points, expected none of them")
    whole = {name: quadratic(f, low, high) for name, f in problem.whole.items()}
    risks = [quadratic(own[0], low, high) for own in problem.batches]
    losses = tuple(Sample((f,), (ONE,), (ONE,)) for f in risks)
    return replace(problem, losses=losses, whole=whole, batches=tuple((f,) for f in risks))


def quadratic(function: Rotated, low: fmpq, high: fmpq) -> Rotated:
    """The quadratic that a function of one variable is on [low, high]."""
    if len(function.parts) != 1 or function.basis:
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


def mixed(maps: Sequence[tuple[fmpq, Affine]]) -> Matrix:
    """What one round does to (1, E z, E z z')."""
    matrices = [(chance, one.moments()) for chance, one in maps]
    rows, size = range(len(matrices[0][1])), len(matrices[0][1])
    affordable(size, SIZE, "instance.box")
    return tuple(tuple(summed(q * m[r][s] for q, m in matrices) for s in range(size)) for r in rows)


def mean(step: Matrix, start: Vector, form: Vector, T: int) -> Value:
    """The mean over t < T of form . step^t start."""
    if T * max(x.height_bits() for row in step for x in row) <= EXACT:
        total, y = ZERO, start
        for _ in range(T):
            total = paid(total + dot(form, y))
            y = tuple(dot(row, y) for row in step)
        return total / T
    size = range(len(step))
    one = [[arb(x) for x in row] for row in step]
    power, sums = ([[arb(int(r == s)) * k for s in size] for r in size] for k in (1, 0))
    for bit in bin(T)[2:]:  # sums = 1 + ... + step^(k-1), power = step^k, from k = 0 on
        spend(4 * len(step) ** 3)
        sums, power = _added(sums, _times(power, sums)), _times(power, power)
        if bit == "1":
            sums, power = _added(sums, power), _times(power, one)
    y = [sum((x * arb(c) for x, c in zip(row, start, strict=True)), arb(0)) for row in sums]
    return sum((arb(f) * x for f, x in zip(form, y, strict=True)), arb(0)) / T


def _times(x: list[list[arb]], y: list[list[arb]]) -> list[list[arb]]:
    columns = list(zip(*y, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), arb(0)) for column in columns] for row in x]


def _added(x: list[list[arb]], y: list[list[arb]]) -> list[list[arb]]:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]


def losses_read(rule: Rule) -> list[Rule]:
    """Proximal points of f inside a rule."""
    return [r for r in rule.all() if r.op == "full_prox"]
