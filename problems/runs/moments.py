"""Sampled clients on quadratics: the first two moments of the state follow one matrix, for 10^9 rounds too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt

from ..arrays.array_checks import Array, Namespace, matvec, summed
from ..losses.quadratics import Quadratics
from .affine_rounds import Mapped
from .all_paths import AllPaths
from .compiled_method import ONE, Atom, Linear, Measure
from .recorder import Expectations
from .rule_values import Scope
from .setup import ROUNDS, Measured, Place, State, draws
from .walk import by_rounds, initial

ROUNDING = 1e-13  # of the terms of a sum


@dataclass(frozen=True, slots=True, eq=False)
class RoundMap:
    """A round in three factors: how it begins, its steps (I minus `fall` each, I minus `lack` together), how it ends.

    All of them multiply E (1, z)(1, z)', written row after row, or the same of all vectors inside the round.
    """

    begin: Array
    fall: Array
    lack: Array
    sums: Array  # 1 + step + ... + step^(E - 1), where a step is picked
    update: Array


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Affine phases of a round, one map z -> c + M z + noise each; the last one for every draw of clients."""

    scope: Scope

    def measures(self) -> Measured:
        scope, setup, measures = self.scope, self.scope.setup, self.scope.rules.measures
        start = {name: m for name, m in measures.items() if not m.at}
        first = replace(scope, rules=replace(scope.rules, measures=start), setup=replace(setup, T=1, sampling=None))
        measured = _begun(first) if start else {}
        here = Moments(self.centred())
        law, inside = here.law()
        return measured | {name: here.value(m, law, inside) for name, m in measures.items() if m.at}

    def centred(self) -> Scope:
        """The scope in coordinates from the start, where clients that nearly agree do not cancel; then from x*."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        # A method that reads 0 is another one where coordinates count from another point.
        if "zero" in scope.rules.ops:
            return scope
        problem, away = setup.problem, matvec(xp, setup.problem.A, setup.start[:, None, :])
        near = Quadratics(problem.A, problem.b - away, problem.p)
        centre = near.minimiser()
        centre = xp.where(xp.isfinite(centre), centre, 0 * centre)
        near = Quadratics(problem.A, near.b - matvec(xp, problem.A, centre[:, None, :]), problem.p)
        box = None if setup.box is None else tuple(end - setup.start - centre for end in setup.box)
        moved = replace(setup, problem=near, start=-centre, w_star=None, box=box)
        return replace(scope, setup=moved, constants={})

    def law(self) -> tuple[RoundMap, Array]:
        """What a round does to the moments, and in which instances (n,) a local step stays in the box."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        before, within = self.columns(whole=False), self.columns(whole=True)
        begin = self.rows(before, self.carried(before, "begin"), whole=True)
        noisy = setup.v is not None and any(rule.noisy for rule in scope.rules.phases["local"].values())
        kicks = replace(scope, setup=replace(setup, h=None)).kicks() if noisy else None
        local = self.columns(whole=True, noise=0 if kicks is None else kicks.shape[0])
        width = self.width(within)
        kick = None if kicks is None else replace(scope, columns=self.width(local)).column(kicks, width)
        rows = self.rows(local, self.changed(local, kick), whole=True)
        change, signs = (self.under(0, rows[..., part]) for part in (slice(width), slice(width, None)))
        rough = [self.under(0, self.rows(local, self.changed(local, kick, h), whole=True) - rows) for h in self.rough()]
        one = xp.eye(width, dtype=xp.float64) + 0 * change
        held = self.held((one + change)[:, 1:, :], signs[:, 1:, :], [x[:, 1:, :] for x in rough])
        fall = -pairs(xp, one, change) - pairs(xp, change, one) - pairs(xp, change, change)
        spread = xp.matmul(signs, xp.matrix_transpose(signs))
        for x in rough:  # one more sign each, which multiplies the vectors and the other signs
            fall = fall - pairs(xp, x[..., :width], x[..., :width])
            spread = spread + xp.matmul(x[..., width:], xp.matrix_transpose(x[..., width:]))
        noise = xp.reshape(spread, (-1, width * width, 1))
        fall = xp.concat([fall[..., :1] - noise, fall[..., 1:]], axis=-1)
        one = pairs(xp, one, one)
        picked = any(measure.law == "picked_step" for measure in scope.rules.measures.values())
        if not scope.rules.phases["local"]:
            lack, sums = 0 * fall, setup.E * one
        else:
            lack, sums = self.powers(fall, setup.E) if picked else (self.lack(fall, setup.E), None)
        update: Array = 0.0
        for counts, chance in draws(setup.problem.C, *(setup.sampling or ("without_replacement", setup.problem.C))):
            drawn = xp.asarray([[counts]], dtype=xp.float64)
            state = self.carried(self.carried(within, "end", counts=drawn), "update", counts=drawn)
            update = update + chance * self.lifted(self.rows(within, state, whole=False))
        return RoundMap(self.lifted(begin), fall, lack, sums, update), held

    def names(self, whole: bool) -> Sequence[str]:
        rules = self.scope.rules
        return (*rules.kept, *(name for name in rules.client if whole and name not in rules.kept))

    def columns(self, whole: bool, noise: int = 0) -> State:
        """All vectors as functions of themselves: one column per entry, after the one at zero."""
        start = initial(self.scope)
        rules = replace(self.scope.rules, kept=tuple(self.names(whole)))
        size = sum(start[name].shape[-2] * start[name].shape[-1] for name in rules.kept)
        return Mapped(replace(self.scope, rules=rules)).identity(start, size, noise)

    def width(self, state: State) -> int:
        return next(iter(state.values())).shape[0]

    def carried(self, state: State, phase: str, kick: Array = None, counts: Array = None) -> State:
        wide = replace(self.scope, columns=self.width(state), constants={})
        return wide.carried(Place(state, ROUNDS, 0, kick=kick, counts=counts), phase)

    def rows(self, before: State, after: State, whole: bool) -> Array:
        """All vectors after a phase as functions of those before it, (n, entries, columns)."""
        flat = Mapped(self.scope).flat([after[name] for name in self.names(whole)])
        wide = self.scope.xp.broadcast_to(flat, (self.width(before), *flat.shape[1:]))
        return self.scope.xp.permute_dims(wide[:, 0, ...], (1, 2, 0))

    def rough(self) -> list[Array]:
        """The noise of one client's Hessian after the other, (n, C, d)."""
        xp, h, C = self.scope.xp, self.scope.setup.h, self.scope.setup.problem.C
        only = xp.eye(C, dtype=xp.float64)
        return [] if h is None else [only[i, :, None] * h for i in range(C)]

    def held(self, rows: Array, noise: Array, rough: Sequence[Array]) -> Array:
        """Whether a step maps the box into itself (n,)."""
        xp, box = self.scope.xp, self.scope.setup.box
        if box is None:
            return xp.ones(rows.shape[:1], dtype=xp.bool)
        low, high = (xp.concat([end] * (rows.shape[1] // end.shape[-1]), axis=-1) for end in box)
        middle, half = (low + high) / 2, (high - low) / 2
        centre = rows[..., 0] + matvec(xp, rows[..., 1:], middle)
        swing = matvec(xp, xp.abs(rows[..., 1:]), half) + summed(xp, xp.abs(noise))
        for x in rough:
            swing = swing + xp.abs(x[..., 0] + matvec(xp, x[..., 1 : rows.shape[-1]], middle))
            swing = swing + matvec(xp, xp.abs(x[..., 1 : rows.shape[-1]]), half)
            swing = swing + summed(xp, xp.abs(x[..., rows.shape[-1] :]))
        return xp.all(xp.abs(centre - middle) + swing <= (1 + ROUNDING) * half, axis=-1)

    def changed(self, state: State, kick: Array, rough: Array = None) -> State:
        """What a local step adds to all vectors. Beside 1, short steps would be rounded away."""
        rules, wide = self.scope.rules, replace(self.scope, columns=self.width(state), constants={})
        place = Place(state, ROUNDS, 0, kick=kick, rough=rough)
        changes = {name: 0 * x for name, x in state.items()}
        for name, rule in rules.phases["local"].items():
            added = [term for term in rule.terms if term[1].name != name or rules.coefficients[term[0]] != ONE]
            x = wide.wide(wide.linear(Linear(tuple(added)), place)) if added else changes[name]
            changes[name] = x if len(added) < len(rule.terms) else x - state[name]
        return changes

    def under(self, first: int, rows: Array) -> Array:
        """The rows of a map, below a new one that gives `first` times the constant entry 1."""
        xp = self.scope.xp
        top = first * xp.concat([xp.ones_like(rows[:, :1, :1]), xp.zeros_like(rows[:, :1, 1:])], axis=-1)
        return xp.concat([top[..., : rows.shape[-1]], rows], axis=1)

    def lifted(self, rows: Array) -> Array:
        """What a map (n, D', 1 + D) does to E (1, z)(1, z)'."""
        full = self.under(1, rows)
        return pairs(self.scope.xp, full, full)

    def value(self, measure: Measure, law: RoundMap, held: Array) -> Array:
        """(n, 1), (n, T + 1) or (n, T, E + 1); not a number where the run leaves the box."""
        xp, setup = self.scope.xp, self.scope.setup
        start = initial(self.scope)
        z = Mapped(self.scope).flat([start[name][0, ...] for name in self.scope.rules.kept])
        y = self.lifted(z[..., None])[..., 0]
        one = xp.eye(y.shape[-1], dtype=xp.float64)
        fall, terms = (one - xp.matmul(law.update, law.begin), one + xp.matmul(xp.abs(law.update), xp.abs(law.begin)))
        fall = xp.where(xp.abs(fall) <= ROUNDING * terms, 0 * fall, fall)
        fall = fall + xp.matmul(law.update, xp.matmul(law.lack, law.begin))
        inside = "k" in measure.at or measure.law == "picked_step"
        form = self.form(measure, inside)
        moved = [0 * y]  # what becomes of y, less y: values of F count from the start, and must not cancel
        if measure.at == ("T",):
            moved = [matvec(xp, self.powers(fall, setup.T)[1], y) / setup.T - y]
        for _ in range(setup.T if measure.at != ("T",) else 0):
            moved.append(moved[-1] - matvec(xp, fall, y + moved[-1]))
        values: list[Array] = []
        for far in moved[: setup.T if inside else None]:
            if "k" in measure.at:
                values.append(self.steps(form, law.fall, matvec(xp, law.begin, y + far)))
            elif inside:
                values.append(summed(xp, form * matvec(xp, law.sums, matvec(xp, law.begin, y + far))) / setup.E)
            else:
                values.append(cancelled(xp, form * y) + summed(xp, form * far))
        curve = xp.stack(values, axis=1)
        return xp.where(xp.reshape(held, (-1,) + (1,) * (curve.ndim - 1)), curve, xp.full_like(curve, float("nan")))

    def form(self, measure: Measure, whole: bool) -> Array:
        """A measure as a row (n, (1 + D)^2) that multiplies the moments: the mean over all draws."""
        xp, setup = self.scope.xp, self.scope.setup
        state = self.columns(whole)
        wide = replace(self.scope, columns=self.width(state), constants={})
        terms: list[Array] = []
        for counts, chance in draws(setup.problem.C, *(setup.sampling or ("without_replacement", setup.problem.C))):
            place = Place(state, ROUNDS, 0, counts=xp.asarray([[counts]], dtype=xp.float64))
            for index, atom in measure.terms:
                factor = self.scope.here(index, Place({}, 0, 0))
                square = self.squared(atom, wide, place)
                terms.append(chance * (factor if isinstance(factor, float) else factor[..., None]) * square)
        total = cancelled(xp, xp.stack(terms, axis=-1))
        return xp.reshape(total, (total.shape[0], -1))

    def squared(self, atom: Atom, wide: Scope, place: Place) -> Array:
        """An atom as a matrix (n, 1 + D, 1 + D) between (1, x) and (1, x)."""
        xp, problem = self.scope.xp, self.scope.setup.problem
        innermost = atom if atom.inside is None else atom.inside
        vectors = [wide.linear(arg, place) for arg in innermost.args]
        xs = [xp.permute_dims((wide.wide(x) if atom.inside else x)[:, 0, ...], (1, 2, 3, 0)) for x in vectors]
        x, turned = xs[0], xp.matrix_transpose(xs[0])  # (n, c, d, 1 + D)
        if innermost.op == "f_i":
            slope = matvec(xp, turned, problem.b)[..., None, :]
            first = xp.concat([slope, xp.zeros((*slope.shape[:-2], x.shape[-1] - 1, x.shape[-1]))], axis=-2)
            each = xp.matmul(turned, xp.matmul(problem.A, x)) / 2 - first
        else:
            each = xp.matmul(turned, xs[-1])
        return xp.sum(problem.p[..., None, None] * each, axis=1) if atom.inside else each[:, 0, ...]

    def steps(self, form: Array, fall: Array, y: Array) -> Array:
        """form . step^k y for k = 0, ..., E, (n, E + 1): few steps of the form, times long strides of y."""
        xp, E = self.scope.xp, self.scope.setup.E
        stride = isqrt(E) + 1
        rows, columns = [0 * form], [0 * y]  # less the form, and less y, beside which short steps are small
        for _ in range(stride - 1):
            rows.append(rows[-1] - xp.matmul((form + rows[-1])[:, None, :], fall)[:, 0, :])
        lack = self.lack(fall, stride)
        for _ in range(E // stride):
            columns.append(columns[-1] - matvec(xp, lack, y + columns[-1]))
        row, column = xp.stack(rows, axis=1), xp.stack(columns, axis=1)
        changes = matvec(xp, column, form)[..., None] + matvec(xp, row, y)[:, None, :]
        changes = changes + xp.matmul(column, xp.matrix_transpose(row))
        return cancelled(xp, form * y)[:, None] + xp.reshape(changes, (changes.shape[0], -1))[:, : E + 1]

    def lack(self, fall: Array, n: int) -> Array:
        """I - step^n, from `fall` = I - step."""
        xp, lack = self.scope.xp, fall
        # The leading bit is the step itself; every further one doubles the power, and adds a step if it is 1.
        for bit in bin(n)[3:]:
            lack = 2 * lack - xp.matmul(lack, lack)
            if bit == "1":
                lack = lack + fall - xp.matmul(lack, fall)
        return lack

    def powers(self, fall: Array, n: int) -> tuple[Array, Array]:
        """I - step^n, and I + step + ... + step^(n - 1), from `fall` = I - step.

        Near I, rounding of the powers themselves would grow with n.
        """
        xp = self.scope.xp
        one = xp.eye(fall.shape[-1], dtype=xp.float64) + 0 * fall
        lack, sums = fall, one
        for bit in bin(n)[3:]:
            sums, lack = 2 * sums - xp.matmul(lack, sums), 2 * lack - xp.matmul(lack, lack)
            if bit == "1":
                sums, lack = sums + one - lack, lack + fall - xp.matmul(lack, fall)
        return lack, sums


def _begun(scope: Scope) -> Measured:
    """Measures of a first round."""
    law = AllPaths(scope)
    expectations = Expectations(law)
    by_rounds(law, expectations, expectations.ends)
    return expectations.measured()


def cancelled(xp: Namespace, terms: Array) -> Array:
    """Their sum along the last axis; 0 where no more than rounding is left of them."""
    total = summed(xp, terms)
    return xp.where(xp.abs(total) <= ROUNDING * summed(xp, xp.abs(terms)), 0 * total, total)


def pairs(xp: Namespace, x: Array, y: Array) -> Array:
    """Products of entries of x (n, p, q) and y (n, r, s): (n, p r, q s)."""
    both = x[:, :, None, :, None] * y[:, None, :, None, :]
    return xp.reshape(both, (both.shape[0], x.shape[1] * y.shape[1], x.shape[2] * y.shape[2]))
