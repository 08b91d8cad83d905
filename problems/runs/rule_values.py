"""A method's rules as arrays: what operations, weights and numbers are at a place of the run.

Nothing is written in place, so any array library will do.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ..arrays.array_checks import (
    LARGE,
    Array,
    Namespace,
    averaged,
    fail,
    is_numpy,
    matvec,
    namespace,
    norm2,
    spread_to,
    summed,
)
from ..losses import regularised
from ..losses.quadratics import Quadratics, half_square
from ..losses.regularised import Regulariser, Thresholds
from . import local_maps as forward
from .compiled_method import Atom, Linear, Measure, Number, Operation, Programme, Weights, programme
from .oracle import answer, proximal_point
from .phase_list import Terms, flat
from .setup import ROUNDS, Place, Setup, State, alike, evaluated, factors, single

AT_THE_MINIMUM = 1e-8  # of `floor`: below it a vector of the run is at the minimum, but for squares of rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A method's rules as arrays. With `columns`, outcomes are columns of a map: a constant has the first alone.

    Between columns and instances are `axes`: rounds, or local steps and rounds.
    """

    xp: Namespace
    rules: Programme
    setup: Setup
    factors: list[Array]
    coefficients: list[Array]
    columns: int = 0
    axes: int = 1
    constants: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])

    @property
    def steady(self) -> bool:
        """Whether all rounds and all local steps have the same coefficients."""
        return all(x.shape[:2] == (1, 1) for x in self.factors)

    @property
    def even(self) -> bool:
        """Whether all local steps of a round have the same coefficients."""
        return all(x.shape[1] == 1 for x in self.factors)

    def of_rounds(self, first: int, stop: int, times: int = 1) -> "Scope":
        """The scope with the coefficients of some rounds, `times` over; after the last round they are as in it."""

        def cut(x: Array) -> Array:
            if isinstance(x, float) or x.shape[0] == 1:
                return x
            T = x.shape[0]
            inside = x[min(first, T - 1) : min(stop, T), ...]
            each = inside if inside.shape[0] == stop - first else self.xp.concat([inside, x[-1:, ...]], axis=0)
            return each if times == 1 else self.xp.concat([each] * times, axis=0)

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
        # A place may get another kick and keep its values (`AllPaths.stepped`): what reads the kick is not among them.
        if operation.noisy and self.setup.v is not None:
            return self.operation(operation, place)
        if operation not in place.values:
            place.values[operation] = self.operation(operation, place)
        return place.values[operation]

    def operation(self, operation: Operation, place: Place) -> Array:
        setup = self.setup
        if operation.op == "noisy" and setup.batches is not None:
            drawn = replace(setup, problem=setup.batches(place.t, place.k), batches=None)
            return replace(self, setup=drawn).linear(operation.args[0], place.moved(values={}))
        return self.applied(operation, [self.linear(arg, place) for arg in operation.args], place)

    def applied(self, operation: Operation, args: Sequence[Array], place: Place) -> Array:
        """An operation on its vectors."""
        xp, setup = self.xp, self.setup
        match operation.op:
            case "grad":
                return self.gradient(args[0])
            case "noisy" | "again":
                return args[0] if place.kick is None else args[0] + self.fresh(operation.op, place.kick)
            case "prox":
                return self.regulariser.shrunk(args[0], self.thresholds(operation.scalars[0], place))
            case "coin":
                return place.heads[..., None, None] * args[0]
            case "start":
                return self.constant("start", setup.start[:, None, :])
            case "zero":
                return self.constant("zero", xp.zeros_like(setup.start)[:, None, :])
            case "w_star":
                return self.constant("w_star", setup.w_star[:, None, :])
            case "axis":
                along = xp.eye(setup.problem.d, dtype=xp.float64)[place.last, :]
                return self.constant(f"axis {place.last}", xp.broadcast_to(along, setup.start.shape)[:, None, :])
            case "hess":
                return setup.problem.hess(*args)
            case "noisy_hess":
                x = setup.problem.hess(*args)
                return x if place.rough is None else x + place.rough * args[1]
            case "mean" | "sampled" | "neighbours" | "other":
                return self.mixed(operation.op, args[0], place)
            case "point":
                return self.constant(f"point {operation.name}", setup.points[operation.name][:, None, :])
            case "weighted":
                return self.averaged(self.weights(operation.weights, place)[..., None], args[0])
            case "w_i_star":
                return self.constant("w_i_star", setup.problem.minimisers())
            case "batch_grad":
                return setup.problem.slope(self.drawn(place), args[0])
            case "oracle" | "full_prox" if isinstance(setup.problem, Quadratics):
                curved, b = setup.problem.A, self.constant("b", setup.problem.b)
                if operation.op == "full_prox":
                    curved, b = setup.problem.mean()[0][:, None, ...], self.averaged(setup.problem.p[..., None], b)
                return proximal_point(xp, curved, b, args[0], place.at(self.coefficients[operation.scalars[0]]))
            case "oracle":
                step = place.at(self.coefficients[operation.scalars[0]])
                return answer(xp, setup, self.drawn(place), args[0], step, place)
            case "full_prox":
                return setup.problem.full_prox(args[0], place.at(self.coefficients[operation.scalars[0]]))
            case op:
                raise fail(f"the operation {op!r}", "one of a method's operations", "see bounds/language/method.py")

    def drawn(self, place: Place) -> Any:
        """The risks of what the clients drew."""
        b = 1 if self.setup.minibatch is None else self.setup.minibatch[0]
        if "drawn" not in place.values:
            place.values["drawn"] = self.setup.problem.drawn(place.batch, b)
        return place.values["drawn"]

    def thresholds(self, index: int, place: Place) -> Thresholds:
        """The thresholds of proximal points here; kept where all rounds have the same."""
        coefficient = self.coefficients[index]
        if place.t < 0 or (not isinstance(coefficient, float) and coefficient.shape[0] > 1):
            return self.regulariser.thresholds(place.at(coefficient))
        key = "thresholds", index, place.k
        if key not in self.constants:
            self.constants[key] = self.regulariser.thresholds(place.at(coefficient))
        return self.constants[key]

    @property
    def regulariser(self) -> Regulariser:
        if self.setup.regulariser is None:
            raise fail("a method with a regulariser", "a problem that has one", "give one")
        return self.setup.regulariser

    @property
    def v(self) -> Array:
        """The noise of one step (n, C, d); of every draw where it draws more than once, that of Hessians last."""
        v, h = self.setup.v, self.setup.h
        rows = [v, *([v] if "again" in self.rules.ops else []), *([] if h is None else [h])]
        return v if len(rows) == 1 else self.xp.concat(rows, axis=-2)

    def quiet(self, place: Place) -> bool:
        """Whether the step here has no noise."""
        steps = self.setup.noisy_steps
        number = place.t if self.rules.steps else place.t * self.setup.E + place.k
        return self.setup.v is None or (steps is not None and number not in steps)

    def fresh(self, op: str, kick: Array) -> Array:
        """The first or the second draw of a step's noise."""
        if isinstance(kick, tuple):
            return cast("tuple[Array, ...]", kick)[op == "again"]
        C = self.setup.problem.C
        return kick[..., :C, :] if op == "noisy" else kick[..., C : 2 * C, :]

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
        return self.averaged(drawn[..., None], x)

    def weights(self, weights: Weights | None, place: Place) -> Array:
        """One weight per client, (S or 1, n, C)."""
        assert weights is not None
        if weights not in place.values:
            place.values[weights] = self.weighed(weights, place)
        return place.values[weights]

    def weighed(self, weights: Weights, place: Place) -> Array:
        p, rows = self.setup.problem.p, self.setup.rows
        if self.rules.steps and place.t == ROUNDS and weights.op in ("in_turn", "chosen"):
            return self.weighed_by_step(weights, place)
        row, turn = (place.t // self.setup.E, place.t % self.setup.E == 0) if self.rules.steps else (place.t, True)
        if weights.op == "own" or (weights.op == "in_turn" and not turn):
            return p[None, ...]
        if weights.inside is not None:
            return self.weights(weights.inside, place)
        if weights.op == "chosen" and rows is not None:
            return rows[None, :, min(row, rows.shape[1] - 1), :]
        return self.weighed_by(weights, place)

    def weighed_by_step(self, weights: Weights, place: Place) -> Array:
        """One weight per client (S, n, C), where outcomes are steps."""
        xp, E, p, rows = self.xp, self.setup.E, self.setup.problem.p, self.setup.rows
        steps = range(place.first, place.first + next(iter(place.state.values())).shape[0])
        if weights.op == "in_turn":
            turn = xp.asarray([t % E == 0 for t in steps])
            return xp.where(turn[:, None, None], self.weights(weights.inside, place), p)
        if rows is None:
            return self.weighed_by(weights, place)
        taken = xp.asarray([min(t // E, rows.shape[1] - 1) for t in steps])
        return xp.moveaxis(xp.take(rows, taken, axis=1), 1, 0)

    def weighed_by(self, weights: Weights, place: Place) -> Array:
        xp, p = self.xp, self.setup.problem.p
        by = self.total(weights.by, place, self.plain)
        top = xp.max(by, axis=-1, keepdims=True)
        if weights.op == "softmax":
            weight = p * xp.exp((by - top) / self.here(weights.scalar, place))
        elif weights.scalar < 0:
            weight = xp.astype(by == top, xp.float64)
        else:
            # The argsort of an argsort is the rank; stable, since ties go by the number of the client.
            rank = xp.argsort(xp.argsort(-by, axis=-1, stable=True), axis=-1, stable=True)
            weight = xp.astype(xp.astype(rank, xp.float64) < self.here(weights.scalar, place), xp.float64)
        return weight / xp.sum(weight, axis=-1, keepdims=True)

    def plain(self, atom: Atom, place: Place) -> Array:
        """An atom without noise per outcome, (S, n, 1 or C)."""
        return self.number(atom.op, [self.linear(arg, place) for arg in atom.args])

    def here(self, index: int, place: Place) -> Array:
        """A coefficient as it multiplies numbers (.., n, c)."""
        coefficient = place.at(self.coefficients[index])
        return coefficient if isinstance(coefficient, float) else coefficient[..., 0]

    def total(self, number: Number, place: Place, leaf: Callable[[Atom, Place], Array]) -> Array:
        """A number per outcome, (S, n, 1 or C); `leaf` values the atoms that are no means or ratios."""
        total: Array = None
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
        floor = 0.0 if setup.floor is None else setup.floor[:, None] * (1.0 if atom.settled else AT_THE_MINIMUM)
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
        return self.xp.concat([none[0], x, none[1]], axis=0)[(slice(None), *[None] * self.axes, ...)]

    def constant(self, name: str, x: Array) -> Array:
        """A vector (n, c, d) that is not random."""
        key = f"{name} {self.columns} {self.axes}"
        if key not in self.constants:
            self.constants[key] = self.column(x[None, ...], 0) if self.columns else x[None, ...]
        return self.constants[key]

    def on_device(self, name: str, rows: Callable[[], object]) -> Array:
        """Numbers of the host, brought to the device once."""
        if name not in self.constants:
            self.constants[name] = self.xp.asarray(rows(), dtype=self.xp.float64)
        return self.constants[name]

    def wide(self, x: Array) -> Array:
        C = self.setup.problem.C
        return x if x.shape[-2] == C else self.xp.broadcast_to(x, (*x.shape[:-2], C, x.shape[-1]))

    def averaged(self, weights: Array, x: Array) -> Array:
        """(.., C, 1) weights, (S, n, C, d) -> (S, n, 1, d)."""
        return averaged(self.xp, weights, x)

    def gradient(self, x: Array) -> Array:
        problem = self.setup.problem
        if not self.columns:
            return problem.grad(x)
        return matvec(self.xp, problem.A, x) - self.constant("b", problem.b)

    def carried(self, place: Place, phase: str) -> State:
        """The state after one phase."""
        listed = self.constants.get(phase)
        if listed is None:
            listed = self.constants[phase] = flat(self.rules, phase, self.setup.batches is not None)
        state = place.state
        vectors = [state[name] for name in listed.names]
        stays = listed.stays if phase == "local" and is_numpy(self.xp) else frozenset[int]()
        for step in listed.steps:
            if step.operation is None:
                vectors.append(self.sum(step.terms, vectors, place, stays))
            else:
                vectors.append(self.after(step.operation, step.places, vectors, place))
        if phase == "update":
            return state | {name: vectors[at] for name, at in listed.targets}
        return state | {name: self.wide(vectors[at]) for name, at in listed.targets}

    def after(self, operation: Operation, places: Sequence[int], vectors: Sequence[Array], place: Place) -> Array:
        """An operation, unless a measure has asked for it here before."""
        if operation in place.values and not (operation.noisy and self.setup.v is not None):
            return place.values[operation]
        if operation.args and not places:
            return self.operation(operation, place)
        return self.applied(operation, [vectors[i] for i in places], place)

    def spread_term(self, index: int, at: int, x: Array, place: Place, shape: tuple[int, ...]) -> Array:
        """A term that is the same in all steps of a round, written out for every client once: long loops are cheap."""
        raw = self.coefficients[index]
        t = 0 if isinstance(raw, float) or raw.shape[0] == 1 else place.t
        kept = self.constants.get((index, at))
        if kept is None or kept[0] is not x or kept[1] is not raw or kept[2] != (t, shape):
            term = place.at(raw) * x
            if term.ndim == len(shape) and all(a in (1, b) for a, b in zip(term.shape, shape, strict=True)):
                term = np.broadcast_to(term, shape).copy()
            kept = self.constants[index, at] = x, raw, (t, shape), term
        return kept[3]

    def sum(self, terms: Terms, vectors: Sequence[Array], place: Place, stays: frozenset[int]) -> Array:
        """Coefficients times vectors, added in their order; those at `stays` are the same in all steps of a round."""
        total: Array = None
        fresh = False  # whether nothing else holds the total
        for index, at in terms:
            x, coefficient = vectors[at], self.coefficients[index]
            if type(coefficient) is not float:
                coefficient = place.at(coefficient)
            one = type(coefficient) is float and coefficient == 1.0
            if fresh and at in stays and total.size > LARGE and alike(self.coefficients[index]):
                x = self.spread_term(index, at, x, place, total.shape)
            elif not one:
                x = coefficient * x
            if total is None:
                total, fresh = x, not one
            elif fresh and total.shape == x.shape:
                total += x
            else:
                total, fresh = total + x, True
        return total

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
        each = [summed(self.xp, problem.p * problem.value(x[..., i : i + 1, :])) for i in range(x.shape[-2])]
        return self.xp.stack(each, axis=-1)

    def number(self, op: str, vectors: Sequence[Array]) -> Array:
        """(.., n, c) of vectors (.., n, c, d)."""
        match op:
            case "norm2":
                return norm2(self.xp, vectors[0])
            case "norm":
                return self.xp.sqrt(norm2(self.xp, vectors[0]))
            case "inner":
                return summed(self.xp, vectors[0] * vectors[1])
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
        if atom.inside is None or atom.composed:
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
            each = [self.measure(rest, place.moved(values={}, last=last), expected) for last in range(size)]
            return self.xp.stack(each, axis=-1)

        total: Array = None
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


def scope_of(method: Mapping[str, object] | Programme, setup: Setup) -> Scope:
    """A method's rules, from its JSON or read already, on the problem of a run."""
    xp, rules = namespace(setup.start), method if isinstance(method, Programme) else programme(method)
    values = factors(xp, rules, setup)
    coefficients = [evaluated(values, coefficient) for coefficient in rules.coefficients]
    return Scope(xp, rules, setup, values, [single(xp, x) for x in coefficients])
