"""The array interpreter: any method that is data, on batches of problems, with exact expectations.

A vector of the run is an array (S, n, c, d): S outcomes of the law, n instances, c = 1 at the server and C at the
clients. `walked` takes every step and branches where noise or sampling does, so that outcomes with one past share it.
Where all rules are affine, `mapped` takes the steps of one round only, for all rounds at once: outcome 0 is the round's
affine map at zero, the next ones are its columns, the last ones the response to the noise of a step; mean and
covariance of the state then follow from round to round. Nothing is written in place, so any array library will do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from . import forward, regularised
from .arrays import Array, Namespace, fail, first_last, matvec, namespace, norm2, quiet, spread_to
from .programme import (
    FORMS,
    LINEAR,
    Atom,
    Coefficient,
    Linear,
    Measure,
    Number,
    Operation,
    Programme,
    Weights,
    programme,
)
from .quadratics import Quadratics, half_square
from .regularised import Regulariser

MOST_OUTCOMES = 1 << 14
MANY = 12  # clients: fewer are added one by one, which is faster
SCRATCH = 1 << 16  # numbers in the local iterates that are taken together, unless one round has more
ROUNDS, ENDS = -1, -2  # in place of a round: all of them; all and the end of the last
TIMELESS = frozenset((*LINEAR, "grad", "prox", "sampled", "w_i_star"))  # do not look at the round but by coefficients
State = dict[str, Array]
Measured = dict[str, Array]
Past = dict[tuple[Atom, int], Array]  # by atom and by the last index of its measure


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """What a run needs besides the method. Arrays of the problem have the batch axis n."""

    problem: Any  # Quadratics, Piecewise, Wells, ...: value, grad, gap_from, optimum, p, C, d
    start: Array  # (n, d)
    scalar: Callable[[Any], Array]  # a tree -> an array that broadcasts to (n, T, E)
    E: int
    T: int
    v: Array = None  # (n, C, d): noise s v_i with a fair sign s per step
    shared: bool = False  # one sign for all clients of a step
    sampling: tuple[str, int] | None = None  # ("without_replacement" | "with_replacement", m)
    graph: Array = None  # (n, C, C)
    w_star: Array = None  # (n, d)
    regulariser: Regulariser | None = None  # then w_star is a minimiser of F = f + g, or any point if none is read
    points: Mapping[str, Array] = field(default_factory=dict[str, Array])  # (n, d)
    rows: Array = None  # (n, R, C): weights that are chosen, one row per round; otherwise the largest, as FedMax
    floor: Array = None  # (n,): values below it are rounding
    minibatch: tuple[int, bool] | None = None  # points that a client draws per round, whether all draw the same; or all
    oracle: tuple[Array, Array] | None = None  # step (n, J, C) and shift (n, J, C, minibatches or 1); exact without
    moments: bool = False  # of quadratics that all clients solve exactly: only mean and covariance are followed
    gaps: list[Array] = field(default_factory=list[Any])  # how far from optimal its answers were (n,), after a run
    signs: Array = None  # (S, n, T, E, C) or (.., C, d): sampled noise, not all of it; then measures have a last axis S


def paths_needed(
    T: int, E: int, C: int, noisy: bool, shared: bool, sampling: tuple[str, int] | None, twice: bool = False
) -> int:
    """How many outcomes the law of paths has; `twice`: a step draws its noise twice."""
    draws = len(_draws(C, *sampling)) if sampling else 1
    return 2 ** min(60, T * E * (1 if shared else C) * (1 + twice) if noisy else 0) * draws ** min(T, 60)


@lru_cache
def _draws(C: int, kind: str, m: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """How often each client is drawn, and how probable that is."""
    if kind == "without_replacement":
        chosen = list(combinations(range(C), m))
        return tuple((tuple(int(i in s) for i in range(C)), 1 / len(chosen)) for s in chosen)
    counts: dict[tuple[int, ...], float] = {}
    for s in product(range(C), repeat=m):
        key = tuple(s.count(i) for i in range(C))
        counts[key] = counts.get(key, 0.0) + 1 / C**m
    return tuple(counts.items())


def run(method: Mapping[str, Any], setup: Setup) -> Measured:
    """The method's measures: (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C); (n,) of a whole run.

    One more axis, C or d, where a measure looks at another client or at a coordinate.
    """
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        if setup.moments:
            return _Moments(scope).measures()
        if scope.rules.steps or not _affine(scope.rules, setup):
            return _walked(scope)
        if setup.v is None and (_entries(scope.rules, setup) >= setup.T * setup.E or setup.T == 1):
            return _walked(scope)
        whole = forward.server_round(scope.rules) if setup.v is None and scope.steady else None
        return _Mapped(scope).measures() if whole is None else _Forward(scope, whole).measures()


def walked(method: Mapping[str, Any], setup: Setup) -> Measured:
    """The same, every step of every round taken."""
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        return _walked(scope)


def scope_of(method: Mapping[str, Any], setup: Setup) -> "Scope":
    xp, rules = namespace(setup.start), programme(method)
    values = factors(xp, rules, setup)
    return Scope(xp, rules, setup, values, [evaluated(values, coefficient) for coefficient in rules.coefficients])


def _affine(rules: Programme, setup: Setup) -> bool:
    smooth = setup.regulariser is not None and setup.regulariser.affine
    quadratic = isinstance(setup.problem, Quadratics) and rules.linear(smooth)
    every = all("t" in measure.at for measure in rules.measures.values())
    return quadratic and every and setup.sampling is None and setup.signs is None


def _entries(rules: Programme, setup: Setup) -> int:
    """The size of the state between rounds."""
    return setup.problem.d * sum(1 if name in rules.server else setup.problem.C for name in rules.kept)


def factors(xp: Namespace, rules: Programme, setup: Setup) -> list[Any]:
    """Every factor of the coefficients as (T or 1, E or 1, n or 1, 1, 1); axes along which it is constant are 1."""
    return [_short(xp, xp.permute_dims(setup.scalar(tree), (1, 2, 0))[..., None, None]) for tree in rules.factors]


def evaluated(values: Sequence[Any], coefficient: Coefficient) -> Any:
    """A coefficient from its factors: a number, or an array like them."""
    total: Any = 0.0
    for rational, inside in coefficient:
        term: Any = float(rational)
        for factor in inside:
            term = term * values[factor]
        total = total + term
    return total


def _short(xp: Namespace, x: Array) -> Array:
    for axis in (0, 1):
        first = x[:1, ...] if axis == 0 else x[:, :1, ...]
        if x.shape[axis] > 1 and bool(xp.all(x == first)):
            x = first
    return x


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where rules are evaluated: the state, the noise of this step, who was drawn, the indices; what is known here."""

    state: State
    t: int  # or ROUNDS, ENDS
    k: int
    kick: Array = None
    counts: Array = None  # (S, C)
    batch: Any = None  # (S, C): which minibatch each client drew, on the host
    known: dict[Any, Array] = field(default_factory=dict[Any, Array])  # operations and weights
    last: int = 0  # the other client, or the coordinate, that a measure looks at

    def at(self, coefficient: Any) -> Any:
        """A coefficient here: a number, (n, 1, 1), or of all rounds (T or 1, n, 1, 1)."""
        if isinstance(coefficient, float):
            return coefficient
        k = min(self.k, coefficient.shape[1] - 1)
        if self.t >= 0:
            return coefficient[min(self.t, coefficient.shape[0] - 1), k, ...]
        rounds = coefficient[:, k, ...]
        if self.t == ROUNDS or rounds.shape[0] == 1:
            return rounds
        return namespace(rounds).concat([rounds, rounds[-1:, ...]], axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Rules as arrays. `columns`: outcomes are columns of a map, so that what is not random has only the first."""

    xp: Namespace
    rules: Programme
    setup: Setup
    factors: list[Any]
    coefficients: list[Any]
    columns: int = 0
    constants: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def steady(self) -> bool:
        """Whether all rounds and all local steps have the same coefficients."""
        return all(x.shape[:2] == (1, 1) for x in self.factors)

    def of_rounds(self, first: int, stop: int) -> "Scope":
        """With the coefficients of some rounds; after the last one they are as in it."""

        def cut(x: Any) -> Any:
            if isinstance(x, float) or x.shape[0] == 1:
                return x
            T = x.shape[0]
            inside = x[min(first, T - 1) : min(stop, T), ...]
            return inside if inside.shape[0] == stop - first else self.xp.concat([inside, x[-1:, ...]], axis=0)

        return self if self.steady else replace(self, coefficients=[cut(x) for x in self.coefficients])

    def number_at(self, t: int) -> forward.Evaluated:
        """Coefficients in a round whose local steps are alike: numbers, or (n or 1,)."""
        values = [x[min(t, x.shape[0] - 1), 0, :, 0, 0] for x in self.factors]
        return lambda coefficient: evaluated(values, coefficient)

    def linear(self, rule: Linear, place: Place) -> Array:
        total = None
        for index, operation in rule.terms:
            x = self.value(operation, place)
            coefficient = place.at(self.coefficients[index])
            if not (isinstance(coefficient, float) and coefficient == 1.0):
                x = coefficient * x
            total = x if total is None else total + x
        return total

    def value(self, operation: Operation, place: Place) -> Array:
        if operation.op == "name":
            return place.state[operation.name]
        if operation.noisy:
            return self.operation(operation, place)
        if operation not in place.known:
            place.known[operation] = self.operation(operation, place)
        return place.known[operation]

    def operation(self, operation: Operation, place: Place) -> Array:
        xp, setup = self.xp, self.setup
        args = [self.linear(arg, place) for arg in operation.args]
        match operation.op:
            case "start":
                return self.constant("start", setup.start[:, None, :])
            case "zero":
                return self.constant("zero", xp.zeros_like(setup.start)[:, None, :])
            case "w_star":
                return self.constant("w_star", setup.w_star[:, None, :])
            case "axis":
                along = xp.eye(setup.problem.d, dtype=xp.float64)[place.last, :]
                return self.constant(f"axis {place.last}", xp.broadcast_to(along, setup.start.shape)[:, None, :])
            case "grad":
                return self.gradient(args[0])
            case "hess":
                return setup.problem.hess(*args)
            case "noisy" | "again":
                return args[0] if place.kick is None else args[0] + self.fresh(operation.op, place.kick)
            case "mean" | "sampled" | "neighbours" | "other":
                return self.mixed(operation.op, args[0], place)
            case "point":
                return self.constant(f"point {operation.name}", setup.points[operation.name][:, None, :])
            case "weighted":
                return self.averaged(self.weights(operation.weights, place)[..., None], args[0])
            case "w_i_star":
                return self.constant("w_i_star", setup.problem.minimisers())
            case "batch_grad":
                return self.drawn(place).grad(args[0][..., 0])[..., None]
            case "oracle" | "full_prox" if isinstance(setup.problem, Quadratics):
                step = place.at(self.coefficients[operation.scalars[0]])
                return self.proximal(args[0], step, whole=operation.op == "full_prox")
            case "oracle":
                return self.answer(args[0], place.at(self.coefficients[operation.scalars[0]]), place)
            case "full_prox":
                return setup.problem.full_prox(args[0], place.at(self.coefficients[operation.scalars[0]]))
            case "prox":
                return self.regulariser.prox(args[0], place.at(self.coefficients[operation.scalars[0]]))
            case op:
                raise fail(f"the operation {op!r}", "one of a method's operations", "see bounds/method.py")

    def drawn(self, place: Place) -> Any:
        """The risks of what the clients drew."""
        b = 1 if self.setup.minibatch is None else self.setup.minibatch[0]
        if "drawn" not in place.known:
            place.known["drawn"] = self.setup.problem.drawn(place.batch, b)
        return place.known["drawn"]

    def proximal(self, x: Array, step: Any, whole: bool) -> Array:
        """The minimiser of every client's quadratic, or of their mean, + |. - x|^2/(2 step)."""
        xp, problem = self.xp, self.setup.problem
        curved, b = problem.A, self.constant("b", problem.b)
        if whole:
            curved, b = problem.mean()[0][:, None, ...], self.averaged(problem.p[..., None], b)
        eta = step if isinstance(step, float) else step[..., None]
        inverse = xp.linalg.inv(xp.eye(problem.d, dtype=xp.float64) + eta * curved)
        return matvec(xp, inverse, x + step * b)

    def answer(self, x: Array, step: Array, place: Place) -> Array:
        """What the oracle of every client returns."""
        xp, setup = self.xp, self.setup
        best, gap = setup.problem.solved(self.drawn(place), x, step)
        if setup.oracle is None:
            return best
        steps, shifts = setup.oracle
        row = min(place.t, steps.shape[1] - 1)
        taken, shift = steps[:, row, :], shifts[:, row, ...]
        if shift.shape[-1] > 1:
            each = [xp.take(shift[:, i, :], xp.asarray(place.batch[:, i]), axis=1) for i in range(setup.problem.C)]
            moved = xp.permute_dims(xp.stack(each, axis=-1), (1, 0, 2))
        else:
            moved = shift[..., 0]
        answer = xp.where(taken[..., None] == 1, best, x + taken[..., None] * (best - x)) + moved[..., None]
        off = gap(answer)
        setup.gaps.append(xp.max(xp.maximum(off, 0 * off), axis=(0, 2)))
        return answer

    @property
    def regulariser(self) -> Regulariser:
        if self.setup.regulariser is None:
            raise fail("a method with a regulariser", "a problem that has one", "give one")
        return self.setup.regulariser

    @property
    def v(self) -> Array:
        """The noise of one step (n, C, d); (n, 2 C, d) where a step draws twice."""
        return self.xp.concat([self.setup.v] * 2, axis=-2) if "again" in self.rules.ops else self.setup.v

    def fresh(self, op: str, kick: Array) -> Array:
        """Of the noise of a step, its first or its second draw."""
        C = self.setup.problem.C
        return kick[..., :C, :] if op == "noisy" else kick[..., C:, :]

    def mixed(self, op: str, x: Array, place: Place) -> Array:
        """Vectors of all clients combined."""
        xp, setup = self.xp, self.setup
        if op == "neighbours":
            return xp.matmul(setup.graph, self.wide(x))
        if op == "mean":
            return self.averaged(setup.problem.p[..., None], x)
        if op == "other":
            return self.wide(x)[..., place.last : place.last + 1, :]
        if place.counts is None:
            return xp.sum(self.wide(x), axis=-2, keepdims=True) / setup.problem.C
        drawn = place.counts / xp.sum(place.counts, axis=-1, keepdims=True)
        return self.averaged(drawn[:, None, :, None], x)

    def weights(self, weights: Weights | None, place: Place) -> Array:
        """One weight per client, (S or 1, n, C)."""
        assert weights is not None
        if weights not in place.known:
            place.known[weights] = self.weighed(weights, place)
        return place.known[weights]

    def weighed(self, weights: Weights, place: Place) -> Array:
        xp, p, rows = self.xp, self.setup.problem.p, self.setup.rows
        row, turn = (place.t // self.setup.E, place.t % self.setup.E == 0) if self.rules.steps else (place.t, True)
        if weights.op == "own" or (weights.op == "in_turn" and not turn):
            return p[None, ...]
        if weights.inside is not None:
            return self.weights(weights.inside, place)
        if weights.op == "chosen" and rows is not None:
            return rows[None, :, min(row, rows.shape[1] - 1), :]
        by = self.total(weights.by, place, self.plain)
        top = xp.max(by, axis=-1, keepdims=True)
        if weights.op == "softmax":
            weight = p * xp.exp((by - top) / self.here(weights.scalar, place))
        elif weights.scalar < 0:
            weight = xp.astype(by == top, xp.float64)
        else:
            rank = xp.argsort(xp.argsort(-by, axis=-1, stable=True), axis=-1, stable=True)
            weight = xp.astype(xp.astype(rank, xp.float64) < self.here(weights.scalar, place), xp.float64)
        return weight / xp.sum(weight, axis=-1, keepdims=True)

    def plain(self, atom: Atom, place: Place) -> Array:
        """An atom without noise per outcome, (S, n, 1 or C)."""
        return self.number(atom.op, [self.linear(arg, place) for arg in atom.args])

    def here(self, index: int, place: Place) -> Any:
        """A coefficient as it multiplies numbers (.., n, c)."""
        coefficient = place.at(self.coefficients[index])
        return coefficient if isinstance(coefficient, float) else coefficient[..., 0]

    def total(self, number: Number, place: Place, leaf: Callable[[Atom, Place], Array]) -> Array:
        """A number per outcome, (S, n, 1 or C); `leaf` values the atoms that are no means or ratios."""
        total: Any = None
        for index, atom in number:
            x = self.here(index, place) * self.valued(atom, place, leaf)
            total = x if total is None else total + x
        return total

    def valued(self, atom: Atom, place: Place, leaf: Callable[[Atom, Place], Array]) -> Array:
        xp, setup = self.xp, self.setup
        if atom.op == "weight":
            return self.weights(atom.weights, place)
        if atom.inside is not None:
            weights = setup.problem.p if atom.weights is None else self.weights(atom.weights, place)
            return self.averaged(weights[..., None], self.valued(atom.inside, place, leaf)[..., None])[..., 0]
        if not atom.parts:
            return leaf(atom, place)
        x, y = (self.total(part, place, leaf) for part in atom.parts)
        if atom.op == "smaller":
            return xp.minimum(x, y)
        floor = setup.floor[:, None] if atom.settled and setup.floor is not None else 0.0
        return x / xp.where(xp.abs(y) > floor, y, xp.full_like(y, float("nan")))

    def response(self, rule: Linear, place: Place, kick: Array) -> Array:
        """What the noise `kick` (K, .., C, d) adds to a rule that is linear in it."""
        total = None
        for index, operation in rule.terms:
            if not operation.noisy:
                continue
            inside = operation.args[0]
            x = self.response(inside, place, kick) if inside.noisy else None
            match operation.op:
                case "noisy" | "again":
                    x = self.fresh(operation.op, kick) if x is None else self.fresh(operation.op, kick) + x
                case "grad":
                    x = matvec(self.xp, self.setup.problem.A, x)
                case op:
                    x = self.mixed(op, x, place)
            x = place.at(self.coefficients[index]) * x
            total = x if total is None else total + x
        return total

    def column(self, x: Array, first: int) -> Array:
        """Vectors (K, n, c, d) as the columns from `first` on."""
        rest = self.columns - first - x.shape[0]
        none = [self.xp.zeros((size, *x.shape[1:]), dtype=self.xp.float64) for size in (first, rest)]
        return self.xp.concat([none[0], x, none[1]], axis=0)[:, None, ...]

    def constant(self, name: str, x: Array) -> Array:
        """A vector (n, c, d) that is not random."""
        key = f"{name} {self.columns}"
        if key not in self.constants:
            self.constants[key] = self.column(x[None, ...], 0) if self.columns else x[None, ...]
        return self.constants[key]

    def wide(self, x: Array) -> Array:
        C = self.setup.problem.C
        return x if x.shape[-2] == C else self.xp.broadcast_to(x, (*x.shape[:-2], C, x.shape[-1]))

    def averaged(self, weights: Array, x: Array) -> Array:
        """(.., C, 1) weights, (S, n, C, d) -> (S, n, 1, d)."""
        if x.shape[-2] == 1:
            return x * self.xp.sum(weights, axis=-2, keepdims=True)
        if x.shape[-2] > MANY:
            return self.xp.matmul(self.xp.matrix_transpose(weights), x)
        total = weights[..., :1, :] * x[..., :1, :]
        for i in range(1, x.shape[-2]):
            total = total + weights[..., i : i + 1, :] * x[..., i : i + 1, :]
        return total

    def gradient(self, x: Array) -> Array:
        problem = self.setup.problem
        if not self.columns:
            return problem.grad(x)
        return matvec(self.xp, problem.A, x) - self.constant("b", problem.b)

    def carried(self, place: Place, phase: str) -> State:
        """The state after one phase."""
        values = {name: self.linear(rule, place) for name, rule in self.rules.phases[phase].items()}
        return place.state | (values if phase == "update" else {name: self.wide(x) for name, x in values.items()})

    def excess(self, x: Array) -> Array:
        """f(x) - f_star for x (.., n, c, d), without cancellation."""
        if "gap" not in self.constants:
            self.constants["gap"] = self.setup.problem.gap_from(self.setup.w_star)
        gap = self.constants["gap"]
        if x.shape[-2] == 1:
            return gap(x[..., 0, :])[..., None]
        return self.xp.stack([gap(x[..., i, :]) for i in range(x.shape[-2])], axis=-1)

    def full_value(self, x: Array) -> Array:
        """f(x) for x (.., n, c, d)."""
        problem = self.setup.problem
        each = [self.xp.sum(problem.p * problem.value(x[..., i : i + 1, :]), axis=-1) for i in range(x.shape[-2])]
        return self.xp.stack(each, axis=-1)

    def number(self, op: str, vectors: Sequence[Array]) -> Array:
        """(.., n, c) of vectors (.., n, c, d)."""
        match op:
            case "norm2":
                return norm2(self.xp, vectors[0])
            case "norm":
                return self.xp.sqrt(norm2(self.xp, vectors[0]))
            case "inner":
                return self.xp.sum(vectors[0] * vectors[1], axis=-1)
            case "f":
                return self.excess(vectors[0])
            case "F":
                return regularised.excess(self.setup.problem, self.regulariser, self.setup.w_star)(vectors[0])
            case "g":
                return self.regulariser.value(vectors[0])
            case "conjugate":
                return self.regulariser.conjugate(vectors[0])
            case "excess":
                return self.own_excess(vectors[0])
            case "value":
                return self.full_value(vectors[0])
            case _:
                return self.setup.problem.value(vectors[0])

    def own_excess(self, x: Array) -> Array:
        """f_i(x_i) - f_i_star, without cancellation."""
        problem = self.setup.problem
        if isinstance(problem, Quadratics):
            return half_square(problem.A, x - self.constant("w_i_star", problem.minimisers()))
        return problem.value(x)

    def mean_over(self, atom: Atom, place: Place, own: bool, expected: Callable[[Atom, Place, bool], Array]) -> Array:
        """An atom (.., n, 1 or C), or its mean over the clients."""
        if atom.inside is None:
            return expected(atom, place, own)
        inside = self.mean_over(atom.inside, place, own=True, expected=expected)
        return self.averaged(self.setup.problem.p[..., None], inside[..., None])[..., 0]

    def measure(self, measure: Measure, place: Place, expected: Callable[[Atom, Place, bool], Array]) -> Array:
        """(.., n) or, at every client, (.., n, C), from the expectation of its atoms (.., n, 1 or C).

        One more axis where it has one more index.
        """
        setup = self.setup
        if measure.last:
            size = setup.problem.C if measure.last == "j" else setup.problem.d
            rest = replace(measure, at=measure.at[:-1])
            each = [self.measure(rest, replace(place, known={}, last=last), expected) for last in range(size)]
            return self.xp.stack(each, axis=-1)

        total: Any = None
        for index, atom in measure.terms:
            x = self.here(index, place) * self.mean_over(atom, place, measure.own, expected)
            total = x if total is None else total + x
        stars = self.here(measure.stars, place)
        if not isinstance(stars, float) or stars != 0.0:
            offset = stars * self.optimum()[..., None]
            total = offset if total is None else total + offset
        shape = (*total.shape[:-2], setup.start.shape[0], setup.problem.C if measure.own else 1)
        total = spread_to(self.xp, total, shape)
        return total if measure.own else total[..., 0]

    def optimum(self) -> Array:
        """f_star (n,), or the value of F from which values count."""
        problem, g = self.setup.problem, self.setup.regulariser
        return problem.optimum() if g is None else regularised.least_value(problem, g, self.setup.w_star)

    def kicks(self) -> Array:
        """The noise of one step, one independent source after the other: (K, n, C, d)."""
        xp, v = self.xp, self.v
        return v[None, ...] if self.setup.shared else xp.eye(v.shape[-2], dtype=xp.float64)[:, None, :, None] * v


@dataclass(frozen=True, slots=True, eq=False)
class _Forward:
    """Rounds of one affine map: first the server's vectors in all rounds, then the local steps of many rounds at once.

    Rounds are outcomes here, in blocks, so that memory does not grow with T.
    """

    scope: Scope
    whole: forward.Round

    def measures(self) -> Measured:
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        n, d = setup.start.shape
        start = initial(scope)
        z = xp.concat([start[name][0, :, 0, :] for name in rules.kept], axis=-1)
        M, c = forward.server_map(setup.problem, self.whole, rules.kept, scope.number_at(0), n, setup.E)
        inside = any("k" in measure.at for measure in rules.measures.values())
        ahead = max(8, min(forward.AHEAD, SCRATCH // (n * setup.problem.C * d))) if inside else forward.AHEAD
        measured: dict[str, list[Array]] = {name: [] for name in rules.measures}
        for first, block in forward.states(M, c, z, setup.T, ahead):
            state = {name: block[:, :, None, j * d : (j + 1) * d] for j, name in enumerate(rules.kept)}
            rounds = min(block.shape[0], setup.T - first)  # that have local steps
            local = {name: x[:rounds, ...] for name, x in state.items()} if inside and rounds else None
            steps = None if local is None else self.steps(local)
            note(scope, measured, first, state, steps or [])
        return over_rounds(scope, measured)

    def steps(self, state: State) -> list[State]:
        """Before each local step of some rounds, and after the last one."""
        scope = self.scope
        states = [scope.carried(Place(state, ROUNDS, 0), "begin")]
        for k in range(scope.setup.E):
            states.append(scope.carried(Place(states[-1], ROUNDS, k), "local"))
        return states


def note(scope: Scope, measured: dict[str, list[Array]], first: int, state: State, steps: Sequence[State]) -> None:
    """Measures in the rounds from `first` on, which are outcomes here: (rounds, n, ..) or (rounds, E + 1, n, ..)."""
    xp, together = scope.xp, [joined(scope.xp, steps)] if scope.steady else steps  # then steps are outcomes too

    def seen(measure: Measure, state: State, k: int) -> Array:
        size = next(iter(state.values())).shape[0]
        there = scope.of_rounds(first, first + size)
        values = there.measure(measure, Place(state, ROUNDS, k), _Walked(there).outcomes)
        return spread_to(xp, values, (size, *values.shape[1:]))  # of constants there is one

    for name, measure in scope.rules.measures.items():
        if "k" not in measure.at:
            measured[name].append(seen(measure, state, 0))
        elif steps:
            values = [seen(measure, there, k) for k, there in enumerate(together)]
            each = values[0] if len(values) == 1 else xp.concat(values, axis=0)
            each = xp.reshape(each, (len(steps), -1, *each.shape[1:]))
            measured[name].append(xp.moveaxis(each, 0, 1))


def joined(xp: Namespace, states: Sequence[State]) -> State:
    """Outcomes of many states, one after the other."""
    return {name: xp.concat([state[name] for state in states], axis=0) for name in states[0]} if states else {}


def over_rounds(scope: Scope, measured: dict[str, list[Array]]) -> Measured:
    """All that was noted, the instances first."""
    xp, rules = scope.xp, scope.rules
    whole = {name: x[0] if len(x) == 1 else xp.concat(x, axis=0) for name, x in measured.items()}
    return {name: xp.moveaxis(x, 2 if "k" in rules.measures[name].at else 1, 0) for name, x in whole.items()}


@dataclass(frozen=True, slots=True, eq=False)
class _Walked:
    """Every step of every outcome."""

    scope: Scope

    def measures(self) -> Measured:
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        if self.alone():
            return self.single()
        self.check()
        slow = {name: m for name, m in rules.measures.items() if "t" in m.at and "k" not in m.at}
        fast = {name: m for name, m in rules.measures.items() if "k" in m.at}
        whole = _Whole(self, {name: m for name, m in rules.measures.items() if "t" not in m.at})
        measured: dict[str, list[Array]] = {name: [] for name in (*slow, *fast)}
        state, chance, counts, batch = initial(scope), xp.ones((1,), dtype=xp.float64), None, None
        if setup.signs is not None:
            state = {name: tiled(xp, x, setup.signs.shape[0]) for name, x in state.items()}
        for t in range(setup.T + 1):
            kept = state
            if (setup.sampling is not None or setup.minibatch is not None) and t < setup.T:
                state, chance, counts, batch = self.drawn(state, chance)
            place = Place(state, t, 0, counts=counts, batch=batch)
            for name, measure in slow.items():
                measured[name].append(self.mean(measure, place, chance))
            if t == setup.T:
                break
            whole.between(place, chance)
            before = {name: state[name] for name in rules.kept if name in rules.client}
            place = replace(place, state=scope.carried(place, "begin"), known={})
            local: dict[str, list[Array]] = {name: [] for name in fast}
            for k in range(setup.E + 1):
                place = replace(place, k=k, known={})
                for name, measure in fast.items():
                    local[name].append(self.mean(measure, place, chance))
                if k == 0 or rules.phases["local"]:
                    whole.inside(place, chance)
                if k < setup.E:
                    place, chance, fold = self.stepped(place, chance)
                    if fold > 1:
                        before = {name: tiled(xp, x, fold) for name, x in before.items()}
            for name, values in local.items():
                measured[name].append(xp.stack(values, axis=1))
            state = scope.carried(replace(place, k=setup.E, known={}), "end")
            if place.counts is not None:
                there = place.counts[:, None, :, None] > 0
                state = state | {name: xp.where(there, state[name], old) for name, old in before.items()}
            state = scope.carried(replace(place, state=state, k=setup.E, known={}), "update")
            state, counts = {name: state[name] for name in rules.kept}, place.counts
            rests = not measured and self.rests(kept, state, t)
            whole.count(setup.T - t if rests else 1)
            if rests:
                break
        return {name: xp.stack(values, axis=1) for name, values in measured.items()} | whole.values()

    def alone(self) -> bool:
        """Whether there is one outcome, and all that is measured is measured in every round, by coefficients alone."""
        setup, rules = self.scope.setup, self.scope.rules
        random = (setup.v, setup.signs, setup.sampling, setup.minibatch, setup.oracle)
        every = all("t" in measure.at for measure in rules.measures.values())
        return every and rules.ops <= TIMELESS and all(x is None for x in random)

    def single(self) -> Measured:
        """The same where there is one outcome: what is measured is measured in many rounds at once."""
        scope, setup, rules = self.scope, self.scope.setup, self.scope.rules
        inside, fast = any("k" in measure.at for measure in rules.measures.values()), self.steps()
        n, d = setup.start.shape
        most = max(1, SCRATCH // (n * setup.problem.C * d * (setup.E + 1 if inside else 1)))
        measured: dict[str, list[Array]] = {name: [] for name in rules.measures}
        servers: list[State] = []
        steps: list[list[State]] = [[] for _ in range(setup.E + 1)] if inside else []
        state = initial(scope)
        for t in range(setup.T + 1):
            servers.append({name: state[name] for name in rules.kept})
            if t < setup.T:
                before = Place(state, t, 0)
                place = Place(scope.carried(before, "begin"), t, 0)
                for k in range(setup.E if fast is None else 0):
                    if inside:
                        steps[k].append(place.state)
                    place = Place(scope.carried(place, "local"), t, k + 1)
                if fast is not None:
                    place = Place(fast.advance(place, before), t, setup.E)
                elif inside:
                    steps[-1].append(place.state)
                state = scope.carried(place, "end")
                state = scope.carried(Place(state, t, setup.E), "update")
            if len(servers) == most or t == setup.T:
                local = [joined(scope.xp, each) for each in steps if each]
                note(scope, measured, t + 1 - len(servers), joined(scope.xp, servers), local)
                servers, steps = [], [[] for _ in steps]
        return over_rounds(scope, measured)

    def rests(self, before: State, after: State, t: int) -> bool:
        """Whether every round from now on is like this one."""
        scope, oracle = self.scope, self.scope.setup.oracle
        timeless = all(isinstance(c, float) or c.shape[0] == 1 for c in scope.coefficients)
        varied = any(x is not None for x in (scope.setup.rows, scope.setup.v))
        if not timeless or varied or (oracle is not None and t + 1 < oracle[0].shape[1]):
            return False
        return all(x.shape == before[name].shape and bool(scope.xp.all(x == before[name])) for name, x in after.items())

    def steps(self) -> "_Steps | None":
        """The local steps as one affine map, taken E times, where nothing is measured between them."""
        scope, setup = self.scope, self.scope.setup
        alike = all(x.shape[1] == 1 for x in scope.factors)
        inside = any("k" in measure.at for measure in scope.rules.measures.values())
        if setup.v is not None or inside or not alike or setup.E == 1 or not isinstance(setup.problem, Quadratics):
            return None
        step = forward.local(scope.rules)
        return None if step is None else _Steps(scope, step)

    def stepwise(self) -> Measured:
        """The same where t counts steps; extremes run on from step to step."""
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        self.check()
        measured: dict[str, list[Array]] = {name: [] for name in rules.measures}
        state, chance = initial(scope), xp.ones((1,), dtype=xp.float64)
        if setup.signs is not None:
            state = {name: tiled(xp, x, setup.signs.shape[0]) for name, x in state.items()}
        for t in range(setup.T + 1):
            if rules.begins(t, setup.E):
                state = scope.carried(Place(state, t, 0), "begin")
            place = Place(state, t, 0)
            for name, measure in rules.measures.items():
                self.add(measured[name], measure, place, chance)
            if t == setup.T:
                break
            place, chance, _ = self.stepped(place, chance)
            state = place.state
            if rules.begins(t + 1, setup.E):
                state = scope.carried(Place(state, t, 0), "end")
                state = scope.carried(Place(state, t, 0), "update")
                state = {name: state[name] for name in rules.kept}
        return {
            name: xp.stack(values, axis=1) if rules.measures[name].at else values[-1]
            for name, values in measured.items()
        }

    def add(self, values: list[Array], measure: Measure, place: Place, chance: Array) -> None:
        """A measure at this step: (n,) or (n, C)."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        if measure.extreme and values and measure.each_round and place.t % setup.E:
            values.append(values[-1])
        elif measure.at or place.t < setup.T:
            own = measure.own
            each = scope.total(measure.terms, place, lambda atom, there: self.outcomes(atom, there, own))
            stars = scope.here(measure.stars, place)
            if not isinstance(stars, float) or stars != 0.0:
                each = each + stars * setup.problem.optimum()[..., None]
            width = setup.problem.C if own else each.shape[-1]
            outcomes = each.shape[0] if setup.signs is None else setup.signs.shape[0]
            each = xp.broadcast_to(each, (outcomes, setup.start.shape[0], width))
            if not measure.extreme and setup.signs is not None:
                values.append(xp.moveaxis(each if own else each[..., 0], 0, -1))
                return
            if not measure.extreme:
                value = each[0, ...] if each.shape[0] == 1 else xp.tensordot(chance, each, axes=1)
                values.append(value if own else value[..., 0])
                return
            over, best = (xp.min, xp.minimum) if measure.extreme == "least" else (xp.max, xp.maximum)
            value = over(each, axis=0) if own else over(each, axis=(0, 2))
            values.append(best(values[-1], value) if values else value)

    def check(self) -> None:
        setup, C = self.scope.setup, self.scope.setup.problem.C
        noisy = setup.v is not None and setup.signs is None
        E = 1 if self.scope.rules.steps else setup.E
        twice = "again" in self.scope.rules.ops
        outcomes = paths_needed(setup.T, E, C, noisy, setup.shared, setup.sampling, twice)
        if setup.minibatch is not None:
            outcomes *= len(setup.problem.minibatches(*setup.minibatch)[0]) ** min(setup.T, 60)
        if outcomes > MOST_OUTCOMES:
            what = f"{outcomes} outcomes of noise and sampling"
            raise fail(what, f"at most {MOST_OUTCOMES}", "take fewer rounds or clients")

    def drawn(self, state: State, chance: Array) -> tuple[State, Array, Array, Any]:
        """Every outcome once for every draw of clients and minibatches; counts and minibatches (S, C).

        Chances are (S,), or (S, n) where probabilities of data points differ.
        """
        xp, setup = self.scope.xp, self.scope.setup
        C, size, n = setup.problem.C, chance.shape[0], setup.start.shape[0]
        draws = _draws(C, *(setup.sampling or ("without_replacement", C)))
        counts = xp.asarray([c for c, _ in draws], dtype=xp.float64)
        likely = xp.asarray([q for _, q in draws], dtype=xp.float64)
        fold, batch = len(draws), None
        if setup.minibatch is None:
            chance = xp.reshape(likely[:, None] * chance, (-1,))
        else:
            rows, own = setup.problem.minibatches(*setup.minibatch)  # (Q, C), (Q, n)
            counts, fold = repeated(xp, counts, len(rows)), fold * len(rows)
            chance = chance if chance.ndim == 2 else xp.broadcast_to(chance[:, None], (size, n))
            each = xp.reshape(likely[:, None, None] * own, (-1, n))
            chance = xp.reshape(each[:, None, :] * chance, (-1, n))
            batch = np.repeat(np.tile(rows, (len(draws), 1)), size, axis=0)
        state = {name: tiled(xp, x, fold) for name, x in state.items()}
        return state, chance, repeated(xp, counts, size), batch

    def stepped(self, place: Place, chance: Array) -> tuple[Place, Array, int]:
        """One local step of every outcome; it branches into the signs of the noise."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        rules = scope.rules.phases["local"]
        noisy = [name for name, rule in rules.items() if rule.noisy]
        if setup.v is None or not noisy:
            return replace(place, state=scope.carried(place, "local")), chance, 1
        if setup.signs is not None:
            signs = setup.signs[:, :, place.t, place.k, ...]
            kick = (signs if setup.signs.ndim == 6 else signs[..., None]) * setup.v
            return replace(place, state=scope.carried(replace(place, kick=kick), "local")), chance, 1
        signs = list(product((1.0, -1.0), repeat=1 if setup.shared else scope.v.shape[-2]))
        kick = xp.asarray(signs, dtype=xp.float64)[:, None, :, None] * scope.v
        fold, size = len(signs), chance.shape[0]
        counts = None if place.counts is None else tiled(xp, place.counts, fold)
        chance = tiled(xp, chance, fold) / fold

        def wider(x: Array) -> Array:
            """Every outcome once for every sign; what is the same in all of them stays one."""
            return tiled(xp, x, fold) if x.shape[0] == size else x

        wide = {name: wider(x) for name, x in place.state.items() if name not in rules}
        if any(rule.curved for rule in rules.values()):
            wide |= {name: wider(place.state[name]) for name in rules}
            there = replace(place, state=wide, kick=repeated(xp, kick, size), counts=counts, known={})
            return replace(there, state=scope.carried(there, "local"), kick=None), chance, fold
        for name, rule in rules.items():
            x = scope.wide(scope.linear(rule, place))
            if name in noisy:
                added = scope.response(rule, place, kick)
                x = xp.reshape(x[None, ...] + added[:, None, ...], (-1, *x.shape[1:]))
                wide[name] = x if x.shape[0] == fold * size else tiled(xp, x, size)
            else:
                wide[name] = wider(x)
        return replace(place, state=wide, counts=counts, known={}), chance, fold

    def mean(self, measure: Measure, place: Place, chance: Array) -> Array:
        """A measure (n,) or (n, C) as the mean over the outcomes; of sampled noise (n, S) or (n, C, S)."""
        xp, samples = self.scope.xp, self.scope.setup.signs is not None

        def expected(atom: Atom, place: Place, own: bool) -> Array:
            values = self.outcomes(atom, place, own)  # (S, n, c)
            if samples:
                return values
            return expectation(xp, chance, values)

        value = self.scope.measure(measure, place, expected)
        return xp.moveaxis(value, 0, -1) if samples else value

    def outcomes(self, atom: Atom, place: Place, own: bool) -> Array:
        """An atom per outcome, averaged over the noise that it reads itself."""
        scope, setup = self.scope, self.scope.setup

        def vectors(place: Place) -> list[Array]:
            xs = [scope.linear(arg, place) for arg in atom.args]
            return [scope.wide(x) for x in xs] if own else xs

        if setup.v is None or not atom.noisy:
            return scope.number(atom.op, vectors(place))
        if atom.op in FORMS and not any(arg.curved for arg in atom.args):
            kick = scope.kicks()
            responses = [scope.response(arg, place, kick) if arg.noisy else None for arg in atom.args]
            fixed = scope.number(atom.op, vectors(place))
            if any(x is None for x in responses):
                return fixed
            spread = scope.number(atom.op, responses)
            return fixed + scope.xp.sum(spread, axis=0, keepdims=True)
        signs = list(product((1.0, -1.0), repeat=1 if setup.shared else scope.v.shape[-2]))
        total = None
        for row in signs:
            kick = scope.xp.asarray(row, dtype=scope.xp.float64)[None, None, :, None] * scope.v
            x = scope.number(atom.op, vectors(replace(place, kick=kick, known={}))) / len(signs)
            total = x if total is None else total + x
        return total


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The local steps y <- B_i y + r_i of one round after the other; what stays the same is kept."""

    scope: Scope
    local: forward.Local
    known: dict[str, Any] = field(default_factory=dict[str, Any])

    def advance(self, place: Place, before: Place) -> State:
        """The state after all steps; `before` the round began."""
        scope, setup, name = self.scope, self.scope.setup, self.local.name
        if not self.known or any(x.shape[0] > 1 for x in scope.factors):
            number = self.known["number"] = scope.number_at(place.t)
            slope = [number(coefficient) for coefficient in self.local.slope]
            steps = self.known["steps"] = forward.Stepper.of(setup.problem, slope, setup.start.shape[0])
            self.known["constant"] = steps.laid(scope.wide(self.rest(place, lambda vector: vector == "")))
        rest = self.known["constant"] + self.rest(place, lambda vector: vector != "")
        rest = spread_to(scope.xp, rest, (*setup.start.shape[:1], *setup.problem.b.shape[-2:]))
        begin = scope.rules.phases["begin"]
        y = scope.linear(begin[name], before) if name in begin else place.state[name]  # one point for all, perhaps
        return place.state | {name: self.known["steps"].advance(y[0, ...], rest, setup.E)[None, ...]}

    def rest(self, place: Place, wanted: Callable[[str], bool]) -> Array:
        """r_i (n, C, d), or a part of it."""
        xp, problem = self.scope.xp, self.scope.setup.problem
        total = xp.zeros((1, 1, 1), dtype=xp.float64)
        for (vector, power, _), coefficient in self.local.rest.items():
            if wanted(vector):
                x = place.state[vector][0, ...] if vector else problem.b
                for _ in range(power):
                    x = matvec(xp, problem.A, x)
                factor = self.known["number"](coefficient)
                total = total + (factor if isinstance(factor, float) else factor[:, None, None]) * x
        return total


def _walked(scope: Scope) -> Measured:
    return _Walked(scope).stepwise() if scope.rules.steps else _Walked(scope).measures()


def expectation(xp: Namespace, chance: Array, values: Array) -> Array:
    """The mean over the outcomes (S, n, ..) with the chances (S,) or (S, n)."""
    if values.shape[0] == 1:
        return values[0, ...]
    if chance.ndim == 1:
        return xp.tensordot(chance, values, axes=1)
    return xp.sum(xp.reshape(chance, (*chance.shape, *(1,) * (values.ndim - 2))) * values, axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """Measures of the whole run, or of its first round, when it has begun."""

    walk: _Walked
    measures: Mapping[str, Measure]
    found: dict[str, Array] = field(default_factory=dict[str, Any])
    here: dict[str, Array] = field(default_factory=dict[str, Any])  # of a round that may be picked, in this round

    def between(self, place: Place, chance: Array) -> None:
        for name, measure in self.measures.items():
            if measure.law == "picked":
                self.here[name] = self.walk.mean(replace(measure, at=()), place, chance)

    def count(self, rounds: int) -> None:
        """The round that was looked at stands for so many."""
        T = self.walk.scope.setup.T
        for name, value in self.here.items():
            self.found[name] = self.found.get(name, 0 * value) + rounds / T * value

    def inside(self, place: Place, chance: Array) -> None:
        xp = self.walk.scope.xp
        for name, measure in self.measures.items():
            if measure.extreme:
                values: list[Array] = [self.found[name]] if name in self.found else []
                self.walk.add(values, measure, place, chance)
                self.found[name] = values[-1]
            elif (place.t, place.k) == (0, 0) and measure.law != "picked":
                about = measure.law in ("of_mean", "around_mean")
                value = self.about_mean(measure, place, chance) if about else self.walk.mean(measure, place, chance)
                self.found[name] = xp.asarray(value)

    def about_mean(self, measure: Measure, place: Place, chance: Array) -> Array:
        scope, xp = self.walk.scope, self.walk.scope.xp
        ((index, atom),) = measure.terms
        x = scope.linear(atom.args[0], place)
        x = scope.wide(x) if measure.own else x
        mean = expectation(xp, chance, x)
        value = norm2(xp, mean) if measure.law == "of_mean" else expectation(xp, chance, norm2(xp, x - mean))
        value = scope.here(index, place) * value
        return value if measure.own else value[..., 0]

    def values(self) -> Measured:
        """(n,), (n, C), or (n, 1) of a round that is picked."""
        return {name: x[:, None] if self.measures[name].law == "picked" else x for name, x in self.found.items()}


def initial(scope: Scope) -> State:
    state: State = {}
    for whose, rules in (("server", scope.rules.server), ("client", scope.rules.client)):
        place = Place(dict(state), 0, 0)
        values = {name: scope.linear(rule, place) for name, rule in rules.items()}
        state |= values if whose == "server" else {name: scope.wide(x) for name, x in values.items()}
    n = scope.setup.start.shape[0]
    return {name: spread_to(scope.xp, x, (1, n, *x.shape[-2:])) for name, x in state.items()}


def tiled(xp: Namespace, x: Array, fold: int) -> Array:
    """All outcomes again and again: (S, ...) -> (fold S, ...)."""
    return xp.reshape(xp.broadcast_to(x[None, ...], (fold, *x.shape)), (-1, *x.shape[1:]))


def repeated(xp: Namespace, x: Array, size: int) -> Array:
    """Every outcome `size` times: (R, ...) -> (R size, ...)."""
    return xp.reshape(xp.broadcast_to(x[:, None, ...], (x.shape[0], size, *x.shape[1:])), (-1, *x.shape[1:]))


@dataclass(frozen=True, slots=True, eq=False)
class _Mapped:
    """One round as an affine map of the kept state z: z' = M z + c + noise, and what is measured in between.

    Step sizes that are the same in every local step let one source of noise stand for all: what it does m steps later
    does not depend on when it came. Then noise has one block of columns, and sums over the past are cumulative.
    """

    scope: Scope

    def measures(self) -> Measured:
        scope, xp, rules, E = self.scope, self.scope.xp, self.scope.rules, self.scope.setup.E
        start = initial(scope)
        z = self.flat([start[name][0, ...] for name in rules.kept])
        noisy = scope.setup.v is not None and any(rule.noisy for rule in rules.phases["local"].values())
        kicks = scope.kicks() if noisy else None
        lagged = all(isinstance(c, float) or c.shape[1] == 1 for c in scope.coefficients)
        before = self.identity(start, z.shape[-1], 0 if kicks is None else kicks.shape[0] * (1 if lagged else E))
        steps, after = self.round(before, z.shape[-1], kicks, lagged)
        law = self.rounds(z, after)
        earlier = law[0][:-1, ...], None if law[1] is None else law[1][:-1, ...]
        measured: Measured = {}
        past: Past = {}
        for name, measure in rules.measures.items():
            if "k" not in measure.at:
                value = self.mean(measure, Place(before, ENDS, 0), law, {}, lagged=False)
                measured[name] = xp.moveaxis(value, 0, 1)
                continue
            values = [self.mean(measure, place, earlier, past, lagged) for place in steps]
            measured[name] = xp.moveaxis(xp.stack(values, axis=1), 2, 0)
        return measured

    def flat(self, vectors: Sequence[Array]) -> Array:
        """Vectors (.., c, d) one after the other: (.., D)."""
        n = self.scope.setup.start.shape[0]
        wide = [spread_to(self.scope.xp, x, (*x.shape[:-3], n, *x.shape[-2:])) for x in vectors]
        return self.scope.xp.concat([self.scope.xp.reshape(x, (*x.shape[:-2], -1)) for x in wide], axis=-1)

    def identity(self, start: State, size: int, noise: int) -> State:
        """The kept state as a function of itself: one column per entry, none from the noise."""
        xp = self.scope.xp
        eye = xp.concat([xp.zeros((1, size)), xp.eye(size), xp.zeros((noise, size))], axis=0)
        state: State = {}
        place = 0
        for name in self.scope.rules.kept:
            c, d = start[name].shape[-2:]
            state[name] = xp.reshape(eye[:, place : place + c * d], (-1, 1, 1, c, d))
            place += c * d
        return state

    def round(self, before: State, size: int, kicks: Array, lagged: bool) -> tuple[list[Place], Array]:
        """Places before each local step and after the last one; the kept state at the end, (S, T or 1, n, D)."""
        xp, E = self.scope.xp, self.scope.setup.E
        columns = next(iter(before.values())).shape[0]
        scope = replace(self.scope, columns=columns, constants={})
        state = scope.carried(Place(before, ROUNDS, 0), "begin")
        steps: list[Place] = []
        lags: list[State] = []
        for k in range(E + 1):
            place = Place(state, ROUNDS, k)
            steps.append(place)
            if k == E:
                break
            kick = None
            if kicks is not None and (not lagged or k == 0):
                first = 1 + size + (0 if lagged else k * kicks.shape[0])
                kick = scope.column(kicks, first)
            state = scope.carried(replace(place, kick=kick), "local")
            if kicks is not None and lagged:
                lags.append({name: x[1 + size :, ...] for name, x in state.items()})
        if lags:  # what the noise of every step does to the round's end
            shape = {name: x.shape[1:] for name, x in state.items()}
            whole = {name: [x[: 1 + size, ...], *(lag[name] for lag in lags)] for name, x in state.items()}
            state = {
                name: xp.concat([spread_to(xp, x, (x.shape[0], *shape[name])) for x in parts], axis=0)
                for name, parts in whole.items()
            }
            scope = replace(self.scope, columns=next(iter(state.values())).shape[0], constants={})
        state = scope.carried(Place(state, ROUNDS, E), "end")
        state = scope.carried(Place(state, ROUNDS, E), "update")
        return steps, self.flat([state[name] for name in scope.rules.kept])

    def rounds(self, z: Array, after: Array) -> tuple[Array, Array]:
        """Mean (T + 1, n, D) and covariance (T + 1, n, D, D) of the kept state; no covariance without noise."""
        xp, size = self.scope.xp, z.shape[-1]
        offset, M = after[0, ...], xp.permute_dims(after[1 : 1 + size, ...], (1, 2, 3, 0))
        columns = xp.permute_dims(after[1 + size :, ...], (1, 2, 3, 0))
        noise = xp.matmul(columns, xp.matrix_transpose(columns))
        T, noisy = self.scope.setup.T, after.shape[0] > 1 + size
        mean, spread = z[None, ...], xp.zeros_like(noise[:1, ...])
        if M.shape[0] == 1 and T >= forward.FEW:  # doubling: rounds that are known, and the map over them, give as many
            slope = M
            while mean.shape[0] <= T:
                mean = xp.concat([mean, matvec(xp, slope[0, ...], mean) + offset], axis=0)
                if noisy:
                    turned = xp.matrix_transpose(slope)
                    spread = xp.concat([spread, xp.matmul(xp.matmul(slope, spread), turned) + noise], axis=0)
                    noise = xp.matmul(xp.matmul(slope, noise), turned) + noise
                offset, slope = matvec(xp, slope, offset) + offset, xp.matmul(slope, slope)
            return mean[: T + 1, ...], spread[: T + 1, ...] if noisy else None
        means, spreads = [z], [spread[0, ...]]
        for t in range(T):
            at = min(t, M.shape[0] - 1)
            means.append(matvec(xp, M[at, ...], means[-1]) + offset[at, ...])
            if noisy:
                moved = xp.matmul(M[at, ...], spreads[-1])
                spreads.append(xp.matmul(moved, xp.matrix_transpose(M[at, ...])) + noise[at, ...])
        return xp.stack(means), xp.stack(spreads) if noisy else None

    def mean(self, measure: Measure, place: Place, law: tuple[Array, Array], past: Past, lagged: bool) -> Array:
        """A measure (T or T + 1, n) or (.., n, C); `past` sums what noise of earlier steps has added to its atoms."""
        xp, (means, spreads) = self.scope.xp, law
        size = means.shape[-1]
        columns = next(iter(place.state.values())).shape[0]
        scope = replace(self.scope, columns=columns)

        def expected(atom: Atom, place: Place, own: bool) -> Array:
            vectors = [scope.linear(arg, place) for arg in atom.args]
            if own:
                vectors = [scope.wide(x) for x in vectors]
            moved = [x[0, ...] + matvec(xp, first_last(xp, x[1 : 1 + size, ...]), means[..., None, :]) for x in vectors]
            value = self.scope.number(atom.op, moved)
            if spreads is not None:
                value = value + self.spread(atom.op, [x[1 : 1 + size, ...] for x in vectors], spreads)
            if columns > 1 + size:
                extra = xp.sum(self.form(atom.op, [x[1 + size :, ...] for x in vectors]), axis=0)
                if lagged:
                    key = atom, place.last
                    extra = past[key] = past[key] + extra if key in past else extra
                value = value + extra
            if self.scope.setup.v is not None and atom.noisy:
                kick = scope.kicks()[:, None, ...]
                fresh = [scope.response(arg, place, kick) if arg.noisy else None for arg in atom.args]
                if all(x is not None for x in fresh):
                    value = value + xp.sum(self.form(atom.op, fresh), axis=0)
            return value

        return scope.measure(measure, place, expected)

    def form(self, op: str, vectors: Sequence[Array]) -> Array:
        """The quadratic part of an atom, bilinear in its vectors (.., n, c, d)."""
        return self.scope.xp.sum(vectors[0] * self.bent(op, vectors[-1]), axis=-1)

    def bent(self, op: str, x: Array) -> Array:
        problem = self.scope.setup.problem
        if op in FORMS:
            return x
        A = problem.mean()[0][:, None, ...] if op in ("f", "F", "value") else problem.A
        curved = matvec(self.scope.xp, A, x)
        return 0.5 * (curved if op != "F" else curved + self.scope.regulariser.ridge[:, None, None] * x)

    def spread(self, op: str, vectors: Sequence[Array], covariance: Array) -> Array:
        """sum_jl V_jl form(x_j, y_l) for columns (D, T or 1, n, c, d) and V (T, n, D, D)."""
        xp = self.scope.xp
        x, y = vectors[0], self.bent(op, vectors[-1])
        if x.shape[0] == 1:
            return covariance[..., 0] * xp.sum(x[0, ...] * y[0, ...], axis=-1)
        x, y = first_last(xp, x), first_last(xp, y)
        gram = xp.matmul(xp.matrix_transpose(x), y)
        flat = xp.reshape(gram, (*gram.shape[:-2], -1))
        return matvec(xp, flat, xp.reshape(covariance, (*covariance.shape[:-2], -1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Affine rounds, one map z' = M z + c for every draw of clients: y = (1, E z, E z z') follows a matrix.

    What is picked is a linear function of the mean of y over all rounds, a sum of powers by repeated squaring.
    """

    scope: Scope

    def measures(self) -> Measured:
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        picked = {name: m for name, m in scope.rules.measures.items() if m.law == "picked"}
        others = {name: m for name, m in scope.rules.measures.items() if m.law != "picked"}
        first = replace(scope, rules=replace(scope.rules, measures=others), setup=replace(setup, T=1, sampling=None))
        measured = _Walked(first).measures() if others else {}
        if (
            "zero" not in scope.rules.ops
        ):  # seen from the start, where clients that nearly agree do not cancel, and then
            problem, away = setup.problem, matvec(xp, setup.problem.A, setup.start[:, None, :])
            near = Quadratics(problem.A, problem.b - away, problem.p)
            centre = near.minimiser()  # and then from where the mean comes to rest, beside which variances are small
            centre = xp.where(xp.isfinite(centre), centre, 0 * centre)
            near = Quadratics(problem.A, near.b - matvec(xp, problem.A, centre[:, None, :]), problem.p)
            scope = replace(scope, setup=replace(setup, problem=near, start=-centre, w_star=None), constants={})
        mapped, start = _Mapped(scope), initial(scope)
        z = mapped.flat([start[name][0, ...] for name in scope.rules.kept])
        before = mapped.identity(start, z.shape[-1], 0)
        wide = replace(scope, columns=1 + z.shape[-1], constants={})
        C = setup.problem.C
        step: Any = 0.0
        for counts, chance in _draws(C, *(setup.sampling or ("without_replacement", C))):
            place = Place(before, ROUNDS, 0, counts=xp.asarray([counts], dtype=xp.float64))
            place = replace(place, state=wide.carried(place, "begin"), known={})
            after = wide.carried(place, "update")
            flat = mapped.flat([after[name] for name in scope.rules.kept])[:, 0, ...]  # (1 + D, n, D)
            step = step + chance * self.lifted(xp.permute_dims(flat, (1, 2, 0)))
        y = self.lifted(z[..., None])[..., 0]
        y = matvec(xp, self.powers(step), y) / setup.T
        for name, measure in picked.items():
            total: Any = 0.0
            for index, atom in measure.terms:
                x = wide.linear(atom.args[0], Place(before, ROUNDS, 0))[:, 0, :, 0, :]  # (1 + D, n, d)
                rows = self.lifted(xp.permute_dims(x, (1, 2, 0)))
                d = x.shape[-1]
                form = xp.sum(xp.stack([rows[:, 1 + d + k * d + k, :] for k in range(d)]), axis=0)
                factor = scope.here(index, Place({}, 0, 0))
                total = total + (factor if isinstance(factor, float) else factor[..., 0]) * xp.sum(form * y, axis=-1)
            measured[name] = total[:, None]
        return measured

    def lifted(self, x: Array) -> Array:
        """The rows (1, x, x x') as functions of (1, z, z z'), for x (n, d, 1 + D) or constants (n, d, 1)."""
        xp = self.scope.xp
        n, d, width = x.shape
        D = width - 1
        one = xp.concat([xp.ones((n, 1, 1)), xp.zeros((n, 1, D + D * D))], axis=-1)
        linear = xp.concat([x, xp.zeros((n, d, D * D))], axis=-1)
        pairs = x[:, :, None, :, None] * x[:, None, :, None, :]  # (n, d, d, 1 + D, 1 + D)
        pairs = xp.reshape(pairs, (n, d * d, width, width))
        cross = pairs[..., :1, 1:][..., 0, :] + pairs[..., 1:, :1][..., 0]
        square = xp.reshape(pairs[..., 1:, 1:], (n, d * d, D * D))
        return xp.concat([one, linear, xp.concat([pairs[..., 0, :1], cross, square], axis=-1)], axis=1)

    def powers(self, step: Array) -> Array:
        """1 + step + ... + step^(T - 1).

        What a power lacks to the identity is followed, not the power: near 1, rounding would grow with T.
        """
        xp = self.scope.xp
        one = xp.eye(step.shape[-1], dtype=xp.float64) + 0 * step
        fall, lack, sums = one - step, 0 * step, 0 * step
        for bit in bin(self.scope.setup.T)[2:]:
            sums, lack = 2 * sums - xp.matmul(lack, sums), 2 * lack - xp.matmul(lack, lack)
            if bit == "1":
                sums, lack = sums + one - lack, lack + fall - xp.matmul(lack, fall)
        return sums
