"""Affine rounds: one round as a map, then mean and covariance of the state, or, of one outcome, all rounds at once.

The steps of one round are taken for all rounds at once: outcome 0 is the round's affine map at zero, the next ones are
its columns, the last ones the response to the noise of a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..arrays.array_checks import FEW, Array, Namespace, first_last, matvec, spread_to, summed
from . import local_maps as forward
from .compiled_method import FORMS, Atom, Measure
from .recorder import SCRATCH, Values, lists, note, over_rounds
from .rule_values import Scope
from .setup import ENDS, ROUNDS, Measured, Place, State
from .walk import initial

Past = dict[tuple[Atom, int], Array]  # by atom and by the last index of its measure


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
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
        between, blocks = Place(before, ENDS, 0), self.blocks(steps, z, lagged)
        places = [self.together(block) for block in blocks]
        past: Past = {}
        for name, measure in rules.measures.items():
            if "k" not in measure.at:
                measured[name] = xp.moveaxis(self.mean(measure, between, law, {}), 0, 1)
                continue
            each: list[Array] = []  # (steps, T, n, ..)
            for block, place in zip(blocks, places, strict=True):
                values = self.mean(measure, place, earlier, past if lagged else {})
                each.append(spread_to(xp, values, (len(block), *values.shape[1:])))  # what no step moves is there once
            joined = each[0] if len(each) == 1 else xp.concat(each, axis=0)
            measured[name] = xp.permute_dims(joined, (2, 1, 0, *range(3, joined.ndim)))
        return measured

    def blocks(self, steps: Sequence[Place], z: Array, lagged: bool) -> list[Sequence[Place]]:
        """Steps that are measured together: they have the same coefficients, and what is at hand stays in cache."""
        setup = self.scope.setup
        wide = setup.T * z.shape[0] * setup.problem.C * setup.problem.d * (1 if setup.v is None else z.shape[-1])
        most = max(1, SCRATCH // wide) if lagged else 1
        return [steps[first : first + most] for first in range(0, len(steps), most)]

    def together(self, steps: Sequence[Place]) -> Place:
        """Several steps at once: vectors (S, steps, T or 1, n, c, d)."""
        xp, state = self.scope.xp, dict[str, Array]()
        for name, x in steps[0].state.items():
            each = [place.state[name] for place in steps]
            if all(one is x for one in each):
                state[name] = x[:, None, ...]
            else:
                shape = tuple(max(sizes) for sizes in zip(*(one.shape for one in each), strict=True))
                state[name] = xp.stack([spread_to(xp, one, shape) for one in each], axis=1)
        return Place(state, ROUNDS, steps[0].k)

    def flat(self, vectors: Sequence[Array]) -> Array:
        """Vectors (.., c, d) one after the other: (.., D)."""
        n = self.scope.setup.start.shape[0]
        lead = tuple(max(sizes) for sizes in zip(*(x.shape[:-3] for x in vectors), strict=True))  # rounds: T or 1
        wide = [spread_to(self.scope.xp, x, (*lead, n, *x.shape[-2:])) for x in vectors]
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
            # Lagged: the noise of the first step stands for all, for what noise does m steps later is always the same.
            if kicks is not None and (not lagged or k == 0):
                first = 1 + size + (0 if lagged else k * kicks.shape[0])
                kick = scope.column(kicks, first)
            state = scope.carried(place.moved(kick=kick), "local")
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
                ahead = slice(min(mean.shape[0], T + 1 - mean.shape[0]))  # no more rounds than are missing
                mean = xp.concat([mean, matvec(xp, slope[0, ...], mean[ahead, ...]) + offset], axis=0)
                if noisy:
                    turned = xp.matrix_transpose(slope)
                    later = xp.matmul(xp.matmul(slope, spread[ahead, ...]), turned) + noise
                    spread = xp.concat([spread, later], axis=0)
                    noise = xp.matmul(xp.matmul(slope, noise), turned) + noise
                offset, slope = matvec(xp, slope, offset) + offset, xp.matmul(slope, slope)
            return mean, spread if noisy else None
        means, spreads = [z], [spread[0, ...]]
        for t in range(T):
            at = min(t, M.shape[0] - 1)
            means.append(matvec(xp, M[at, ...], means[-1]) + offset[at, ...])
            if noisy:
                moved = xp.matmul(M[at, ...], spreads[-1])
                spreads.append(xp.matmul(moved, xp.matrix_transpose(M[at, ...])) + noise[at, ...])
        return xp.stack(means), xp.stack(spreads) if noisy else None

    def mean(self, measure: Measure, place: Place, law: tuple[Array, Array], past: Past) -> Array:
        """A measure (T + 1, n) or, of several steps, (steps, T, n), or (.., n, C).

        `past` sums what noise of earlier steps has added to its atoms.
        """
        xp, (means, spreads) = self.scope.xp, law
        size = means.shape[-1]
        first = next(iter(place.state.values()))
        columns, axes = first.shape[0], first.ndim - 4
        scope = replace(self.scope, columns=columns, axes=axes)

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
                key = atom, place.last
                if axes > 1:
                    extra = past[key] = so_far(xp, extra, past.get(key))
                value = value + extra
            if self.scope.setup.v is not None and atom.noisy:
                kick = scope.kicks()[(slice(None), *[None] * axes, ...)]
                fresh = [scope.response(arg, place, kick) if arg.noisy else None for arg in atom.args]
                if all(x is not None for x in fresh):
                    value = value + xp.sum(self.form(atom.op, fresh), axis=0)
            return value

        return scope.measure(measure, place, expected)

    def form(self, op: str, vectors: Sequence[Array]) -> Array:
        """The quadratic part of an atom, bilinear in its vectors (.., n, c, d)."""
        return summed(self.scope.xp, vectors[0] * self.bent(op, vectors[-1]))

    def bent(self, op: str, x: Array) -> Array:
        problem = self.scope.setup.problem
        if op in FORMS:
            return x
        A = problem.mean()[0][:, None, ...] if op in ("f", "F", "value") else problem.A
        curved = matvec(self.scope.xp, A, x)
        return 0.5 * (curved if op != "F" else curved + self.scope.regulariser.ridge[:, None, None] * x)

    def spread(self, op: str, vectors: Sequence[Array], covariance: Array) -> Array:
        """sum_jl V_jl form(x_j, y_l) for columns (D, .., T or 1, n, c, d) and V (T, n, D, D)."""
        xp = self.scope.xp
        x, y = vectors[0], self.bent(op, vectors[-1])
        if x.shape[0] == 1:
            return covariance[..., 0] * summed(xp, x[0, ...] * y[0, ...])
        if x.shape[0] >= FEW and x.shape == y.shape:  # the covariance first: the products of all columns would be long
            size = *x.shape[:-2], x.shape[-2] * x.shape[-1]
            order = *range(1, len(size) - 1), 0, len(size) - 1
            x, y = (xp.permute_dims(xp.reshape(columns, size), order) for columns in (x, y))
            forms = xp.sum(xp.matmul(xp.matrix_transpose(covariance), x) * y, axis=-2)
            return summed(xp, xp.reshape(forms, (*forms.shape[:-1], *vectors[0].shape[-2:])))
        x, y = first_last(xp, x), first_last(xp, y)
        gram = xp.matmul(xp.matrix_transpose(x), y)
        flat = xp.reshape(gram, (*gram.shape[:-2], -1))
        return matvec(xp, flat, xp.reshape(covariance, (*covariance.shape[:-2], -1)))


@dataclass(frozen=True, slots=True, eq=False)
class Forwarded:
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
        measured: Values = lists(rules.measures)
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


def so_far(xp: Namespace, x: Array, before: Array | None) -> Array:
    """Sums along the first axis up to every entry, added to the last one `before` them."""
    sums = [x[0, ...] if before is None else before[-1, ...] + x[0, ...]]
    for k in range(1, x.shape[0]):
        sums.append(sums[-1] + x[k, ...])
    return xp.stack(sums, axis=0)
