"""Every step of every outcome: a run branches where noise or sampling does, so that outcomes with one past share it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..arrays.array_checks import Array, Namespace, fail, matvec, norm2, spread_to
from ..losses.piecewise import Piecewise
from ..losses.quadratics import Quadratics
from . import local_maps as forward
from .compiled_method import FORMS, LINEAR, Atom, Measure
from .phase_list import flat
from .recorder import Noted, joined, note, over_rounds
from .rule_values import Measured, Place, Scope, State, draws, expectation, initial

MOST_OUTCOMES = 1 << 14
SCRATCH = 1 << 16  # numbers in the local iterates that are taken together, unless one round has more
TIMELESS = frozenset((*LINEAR, "grad", "prox", "sampled", "w_i_star"))  # do not look at the round but by coefficients


def paths_needed(T: int, C: int, signs: int, sampling: tuple[str, int] | None) -> int:
    """How many outcomes the law of paths has, with so many signs of noise in all."""
    each = _many_draws(C, *sampling) if sampling else 1
    return 2 ** min(60, signs) * each ** min(T, 60)


def _many_draws(C: int, kind: str, m: int) -> int:
    """How many there are in `draws`, which need not be listed; of very many, a number that is large enough."""
    all_, count = (C if kind == "without_replacement" else C + m - 1), 1
    few = min(m, all_ - m)
    for chosen in range(1, few + 1):
        count = count * (all_ - few + chosen) // chosen
        if count > MOST_OUTCOMES:
            break
    return count if few >= 0 else 0


def walk(scope: Scope) -> Measured:
    return Walked(scope).stepwise() if scope.rules.steps else Walked(scope).measures()


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """Every step of every outcome."""

    scope: Scope

    def measures(self) -> Measured:
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        if self.alone():
            return self.single(initial(scope))[0]
        self.check()
        steps = {name: m for name, m in rules.measures.items() if m.law == "picked_step"}
        others = {name: m for name, m in rules.measures.items() if name not in steps}
        slow = {name: m for name, m in others.items() if "t" in m.at and "k" not in m.at}
        fast = {name: m for name, m in others.items() if "k" in m.at} | steps
        whole = _Whole(self, {name: m for name, m in others.items() if "t" not in m.at})
        measured: dict[str, list[Array]] = {name: [] for name in (*slow, *fast)}
        state, chance, counts, batch = initial(scope), xp.ones((1,), dtype=xp.float64), None, None
        if setup.signs is not None:
            state = {name: tiled(xp, x, setup.signs.shape[0]) for name, x in state.items()}
        ends = _Ends.of(scope)
        for t in range(ends.rounds + 1):
            kept = state
            if (setup.sampling is not None or setup.minibatch is not None) and t < setup.T:
                state, chance, counts, batch = self.drawn(state, chance)
            place = Place(state, t, 0, counts=counts, batch=batch)
            for name, measure in slow.items():
                if t <= ends.last[name][0]:
                    measured[name].append(self.mean(measure, place, chance))
            if t == ends.rounds:
                break
            whole.between(place, chance)
            before = {name: state[name] for name in rules.kept if name in rules.client}
            place = replace(place, state=scope.carried(place, "begin"), known={})
            local: dict[str, list[Array]] = {name: [] for name in fast if t <= ends.last[name][0]}
            E = setup.E if ends.inside is None or t < ends.rounds - 1 else ends.inside
            for k in range(E + 1):
                place = replace(place, k=k, known={})
                for name, values in local.items():
                    if k <= ends.last[name][1]:
                        values.append(self.mean(fast[name], place, chance))
                if k == 0 or rules.phases["local"]:
                    whole.inside(place, chance)
                if k < E:
                    place, chance, fold = self.stepped(place, chance)
                    if fold > 1:
                        before = {name: tiled(xp, x, fold) for name, x in before.items()}
            for name, values in local.items():
                each = xp.stack(values, axis=1)
                measured[name].append(xp.mean(each, axis=1) if name in steps else each)
            if ends.inside is not None and t == ends.rounds - 1:
                break
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
        rounds = {name: xp.stack(values, axis=1) for name, values in measured.items()}
        picked = {name: xp.mean(rounds[name], axis=1, keepdims=True) for name, m in steps.items() if m.at == ("T",)}
        return rounds | picked | whole.values()

    def alone(self) -> bool:
        """Whether there is one outcome, and all that is measured is measured in every round, by coefficients alone."""
        setup, rules = self.scope.setup, self.scope.rules
        random = (setup.v, setup.signs, setup.sampling, setup.minibatch, setup.oracle)
        every = all("t" in measure.at and not measure.law for measure in rules.measures.values())
        return every and rules.ops <= TIMELESS and all(x is None for x in random)

    def single(self, state: State) -> tuple[Measured, State]:
        """The same where there is one outcome, and the state at the end: what is measured is measured in many rounds
        at once.
        """
        scope, setup, rules = self.scope, self.scope.setup, self.scope.rules
        inside, fast = any("k" in measure.at for measure in rules.measures.values()), self.steps()
        n, d = setup.start.shape
        most = max(1, SCRATCH // (n * setup.problem.C * d * (setup.E + 1 if inside else 1)))
        measured: dict[str, list[Array]] = {name: [] for name in rules.measures}
        servers: list[State] = []
        steps: list[list[State]] = [[] for _ in range(setup.E + 1)] if inside else []
        rounds = _Ends.of(scope).rounds
        for t in range(rounds + 1):
            servers.append({name: state[name] for name in rules.kept})
            if t < rounds:
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
            if len(servers) == most or t == rounds:
                local = [joined(scope.xp, each) for each in steps if each]
                note(scope, measured, t + 1 - len(servers), joined(scope.xp, servers), local, look)
                servers, steps = [], [[] for _ in steps]
        return over_rounds(scope, measured), state

    def rests(self, before: State, after: State, t: int) -> bool:
        """Whether every round from now on is like this one."""
        scope, oracle = self.scope, self.scope.setup.oracle
        timeless = all(isinstance(c, float) or c.shape[0] == 1 for c in scope.coefficients)
        varied = any(x is not None for x in (scope.setup.rows, scope.setup.v))
        if not timeless or varied or (oracle is not None and t + 1 < oracle[0].shape[1]):
            return False
        return all(x.shape == before[name].shape and bool(scope.xp.all(x == before[name])) for name, x in after.items())

    def steps(self) -> "_Steps | _Descent | None":
        """The local steps of a round, taken together, where nothing is measured between them."""
        scope, setup = self.scope, self.scope.setup
        alike = scope.even
        inside = any("k" in measure.at for measure in scope.rules.measures.values())
        if setup.v is not None or inside or not alike or setup.E == 1:
            return None
        if isinstance(setup.problem, Quadratics):
            step = forward.local(scope.rules)
            return None if step is None else _Steps(scope, step)
        shape = (*setup.start.shape[:1], setup.problem.C, setup.problem.d)
        wide = isinstance(setup.problem, Piecewise) and setup.problem.even and setup.problem.c.shape == shape
        if (
            not wide
            or type(setup.problem.c) is not np.ndarray
            or prod(shape) <= forward.WIDE
            or setup.batches is not None
        ):
            return None
        return _Descent.of(scope)

    def stepwise(self) -> Measured:
        """The same where t counts steps; extremes run on from step to step."""
        scope, xp, setup, rules = self.scope, self.scope.xp, self.scope.setup, self.scope.rules
        self.check()
        if all(x is None for x in (setup.v, setup.oracle, setup.batches, setup.minibatch, setup.sampling)):
            return self.noted()
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

    def noted(self) -> Measured:
        """The same where there is one outcome: what is measured is measured at many steps at once."""
        scope, setup, rules = self.scope, self.scope.setup, self.scope.rules
        n, d = setup.start.shape
        noted, most = Noted(scope, look), max(1, SCRATCH // (n * setup.problem.C * d))
        state, states = initial(scope), list[State]()
        for t in range(setup.T + 1):
            if rules.begins(t, setup.E):
                state = scope.carried(Place(state, t, 0), "begin")
            states.append(state)
            if len(states) == most or t == setup.T:
                noted.add(t + 1 - len(states), states)
                states = []
            if t < setup.T:
                state = scope.carried(Place(state, t, 0), "local")
                if rules.begins(t + 1, setup.E):
                    state = scope.carried(Place(state, t, 0), "end")
                    state = scope.carried(Place(state, t, 0), "update")
                    state = {name: state[name] for name in rules.kept}
        return noted.values()

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
        setup, total = self.scope.setup, self.scope.setup.T * (1 if self.scope.rules.steps else self.scope.setup.E)
        noisy = 0 if setup.v is None or setup.signs is not None else total
        noisy = noisy if setup.noisy_steps is None else min(noisy, len(setup.noisy_steps))
        signs = noisy * (1 if setup.shared else len(self.sources()))
        outcomes = paths_needed(setup.T, setup.problem.C, signs, setup.sampling)
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
        picks = draws(C, *(setup.sampling or ("without_replacement", C)))
        counts = self.scope.known("counts", lambda: [c for c, _ in picks])
        likely = self.scope.known("likely", lambda: [q for _, q in picks])
        fold, batch = len(picks), None
        if setup.minibatch is None:
            chance = xp.reshape(likely[:, None] * chance, (-1,))
        else:
            rows, own = setup.problem.minibatches(*setup.minibatch)  # (Q, C), (Q, n)
            counts, fold = repeated(xp, counts, len(rows)), fold * len(rows)
            chance = chance if chance.ndim == 2 else xp.broadcast_to(chance[:, None], (size, n))
            each = xp.reshape(likely[:, None, None] * own, (-1, n))
            chance = xp.reshape(each[:, None, :] * chance, (-1, n))
            batch = np.repeat(np.tile(rows, (len(picks), 1)), size, axis=0)
        state = {name: tiled(xp, x, fold) for name, x in state.items()}
        return state, chance, repeated(xp, counts, size), batch

    def stepped(self, place: Place, chance: Array) -> tuple[Place, Array, int]:
        """One local step of every outcome; it branches into the signs of the noise."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        rules = scope.rules.phases["local"]
        noisy = [name for name, rule in rules.items() if rule.noisy]
        if not noisy or scope.quiet(place):
            return replace(place, state=scope.carried(place, "local")), chance, 1
        if setup.signs is not None:
            signs = setup.signs[:, :, place.t, place.k, ...]
            kick = (signs if setup.signs.ndim == 6 else signs[..., None]) * setup.v
            return replace(place, state=scope.carried(replace(place, kick=kick), "local")), chance, 1
        signs = self.signs()
        fold, size = signs.shape[0], chance.shape[0]
        counts = None if place.counts is None else tiled(xp, place.counts, fold)
        chance = tiled(xp, chance, fold) / fold

        def wider(x: Array) -> Array:
            """Every outcome once for every sign; what is the same in all of them stays one."""
            return tiled(xp, x, fold) if x.shape[0] == size else x

        wide = {name: wider(x) for name, x in place.state.items() if name not in rules}
        if any(rule.curved for rule in rules.values()):
            wide |= self.curved(place, size)
            return replace(place, state=wide, counts=counts, known={}), chance, fold
        kick = signs[:, None, :, None] * scope.v
        for name, rule in rules.items():
            x = scope.wide(scope.linear(rule, place))
            if name in noisy:
                added = scope.response(rule, place, kick)
                x = xp.reshape(x[None, ...] + added[:, None, ...], (-1, *x.shape[1:]))
                wide[name] = x if x.shape[0] == fold * size else tiled(xp, x, size)
            else:
                wide[name] = wider(x)
        return replace(place, state=wide, counts=counts, known={}), chance, fold

    def curved(self, place: Place, size: int) -> State:
        """What a step changes where its noise is inside of operations that need not be linear, of all its outcomes.

        Every draw has an axis of its own, before that of the outcomes so far: what it does not reach is computed once.
        """
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        C, v, signs = setup.problem.C, scope.v, self.signs_of_draw()
        axes = 1 if setup.shared else v.shape[-2] // C
        kicks: list[Array] = []
        for draw in range(v.shape[-2] // C):
            kick = signs[:, None, :, None] * v[..., draw * C : (draw + 1) * C, :]
            lead = [signs.shape[0] if axis == draw or setup.shared else 1 for axis in range(axes)]
            kicks.append(xp.reshape(kick, (*lead, 1, *kick.shape[1:])))
        rough = None if setup.h is None else kicks[-1]
        after = scope.carried(replace(place, kick=tuple(kicks), rough=rough, known={}), "local")
        lead = (*(signs.shape[0] for _ in range(axes)), size)
        changed = {
            name: spread_to(xp, after[name], (*lead, *after[name].shape[-3:])) for name in scope.rules.phases["local"]
        }
        return {name: xp.reshape(x, (-1, *x.shape[-3:])) for name, x in changed.items()}

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
        scope = self.scope

        def vectors(place: Place, atom: Atom = atom) -> list[Array]:
            xs = [scope.linear(arg, place) for arg in atom.args]
            return [scope.wide(x) for x in xs] if own else xs

        def value(place: Place) -> Array:
            return scope.valued(atom, place, lambda part, there: scope.number(part.op, vectors(there, part)))

        if not atom.noisy or scope.quiet(place):
            return value(place)
        if atom.op in FORMS and not any(arg.curved for arg in atom.args):
            kick = scope.kicks()
            responses = [scope.response(arg, place, kick) if arg.noisy else None for arg in atom.args]
            fixed = scope.number(atom.op, vectors(place))
            if any(x is None for x in responses):
                return fixed
            spread = scope.number(atom.op, responses)
            return fixed + scope.xp.sum(spread, axis=0, keepdims=True)
        signs, total = self.signs(), None
        for row in range(signs.shape[0]):
            kick = signs[row, None, None, :, None] * scope.v
            x = value(replace(place, kick=kick, known={})) / signs.shape[0]
            total = x if total is None else total + x
        return total

    def signs(self) -> Array:
        """Every outcome of the signs of one step, (S, C), (S, 2 C) or (S, 1)."""
        return self.chosen("signs", self.sources(), self.scope.v.shape[-2])

    def signs_of_draw(self) -> Array:
        """The same of one draw, where a step draws more than once, (S, C) or (S, 1)."""
        C = self.scope.setup.problem.C
        return self.chosen("signs of a draw", [i for i in self.sources() if i < C], C)

    def chosen(self, name: str, sources: Sequence[int], size: int) -> Array:
        """All signs of the sources, 0 elsewhere."""

        def rows() -> list[list[float]]:
            if self.scope.setup.shared:
                return [[1.0], [-1.0]]
            chosen = (dict(zip(sources, signs, strict=True)) for signs in product((1.0, -1.0), repeat=len(sources)))
            return [[row.get(i, 0.0) for i in range(size)] for row in chosen]

        return self.scope.known(name, rows)

    def sources(self) -> list[int]:
        """Draws of a step that have noise, of C or, where it draws more than once, 2 C or 3 C."""
        C, loud = self.scope.setup.problem.C, self.scope.setup.loud
        draws = C * (1 + ("again" in self.scope.rules.ops) + (self.scope.setup.h is not None))
        return [i for i in range(draws) if loud is None or i % C < loud]


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Where a run ends: what it does later is not read."""

    last: Mapping[str, tuple[int, int]]  # round and step in which a measure is taken for the last time
    rounds: int
    inside: int | None  # steps of the last round, where its end is not read

    @staticmethod
    def of(scope: Scope) -> "_Ends":
        setup, measures = scope.setup, scope.rules.measures
        local = {name for name, m in measures.items() if "k" in m.at or m.law == "picked_step"}
        last: dict[str, tuple[int, int]] = {}
        for name, m in measures.items():
            t, k = setup.T - (name in local), setup.E - (m.law == "picked_step")
            until = setup.until.get(name, ())
            last[name] = min((t, *until[:1])), min((k, *until[1:]))
        between = max((last[name][0] for name in measures if name not in local), default=0)
        within = max((last[name][0] + 1 for name in local), default=0)
        whole = any("t" not in m.at for name, m in measures.items() if name not in local)
        if whole or setup.oracle is not None or within <= between:  # an oracle is measured wherever it is asked
            return _Ends(last, setup.T if whole or setup.oracle is not None else between, None)
        return _Ends(last, within, max(last[name][1] for name in local if last[name][0] + 1 == within))


def look(scope: Scope) -> Callable[[Atom, Place, bool], Array]:
    """How atoms are valued, outcome by outcome."""
    return Walked(scope).outcomes


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """The local steps y <- B_i y + r_i of one round after the other; what stays the same is kept."""

    scope: Scope
    local: forward.Local
    known: dict[str, Any] = field(default_factory=dict[str, Any])

    def advance(self, place: Place, before: Place) -> State:
        """The state after all steps; `before` the round began."""
        scope, setup, name = self.scope, self.scope.setup, self.local.name
        varying = any(x.shape[0] > 1 for x in scope.factors)
        if not self.known or varying:
            number = self.known["number"] = scope.number_at(place.t)
            slope = [number(coefficient) for coefficient in self.local.slope]
            steps = forward.Stepper.of(setup.problem, slope, setup.start.shape[0], setup.E, 1 if varying else setup.T)
            self.known["steps"] = steps
            shape = (*setup.start.shape[:1], *setup.problem.b.shape[-2:])
            constant = spread_to(scope.xp, self.rest(place, lambda vector: vector == ""), shape)
            self.known["constant"] = steps.laid(constant)
        moving = self.rest(place, lambda vector: vector != "")
        begin = scope.rules.phases["begin"]
        y = scope.linear(begin[name], before) if name in begin else place.state[name]  # one point for all, perhaps
        y = self.known["steps"].advance(y[0, ...], self.known["constant"], moving, setup.E)
        return place.state | {name: y[None, ...]}

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


@dataclass(frozen=True, slots=True, eq=False)
class _Descent:
    """The local steps y <- keep y + slope grad f_i(y) + r_i of one round after the other, on bent losses."""

    scope: Scope
    name: str
    terms: Mapping[str, tuple[tuple[int, str], ...]]  # of y, of its gradient, and of what stays: coefficient and vector
    known: dict[str, Any] = field(default_factory=dict[str, Any])

    @staticmethod
    def of(scope: Scope) -> "_Descent | None":
        """None where a step is of another kind."""
        listed = flat(scope.rules, "local", drawn=False)
        if len(listed.targets) != 1 or listed.targets[0][0] not in listed.names:
            return None
        ((name, target),) = listed.targets
        own, kinds = listed.names.index(name), ["y" if one == name else "rest" for one in listed.names]
        *operations, last = listed.steps
        for step in operations:
            op = "" if step.operation is None else step.operation.op
            if not ((op == "grad" and step.places == (own,)) or (op == "noisy" and kinds[step.places[0]] == "grad")):
                return None
            kinds.append("grad")
        if last.operation is not None or target != len(kinds):
            return None
        names = [*listed.names, *(name for _ in operations)]
        each = [(kinds[at], (index, names[at])) for index, at in last.terms]
        return _Descent(scope, name, {kind: tuple(x for k, x in each if k == kind) for kind in ("y", "grad", "rest")})

    def advance(self, place: Place, before: Place) -> State:
        """The state after all steps."""
        if not self.known or any(x.shape[0] > 1 for x in self.scope.factors):
            keep, slope = (self.total(place, kind, lambda _: 1.0) for kind in ("y", "grad"))
            self.known["steps"] = self.scope.setup.problem.stepper(keep, slope)
        rest = self.total(place, "rest", lambda name: place.state[name][0, ...])
        y = self.known["steps"](place.state[self.name][0, ...], rest, self.scope.setup.E)
        return place.state | {self.name: y[None, ...]}

    def total(self, place: Place, kind: str, vector: Callable[[str], Any]) -> Any:
        """Coefficients of one kind, times vectors (n, c, d)."""
        terms = (place.at(self.scope.coefficients[index]) * vector(name) for index, name in self.terms[kind])
        return sum(terms, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """Measures of the whole run, or of its first round, when it has begun."""

    walk: Walked
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
        for name, measure in self.measures.items():
            if measure.extreme:
                values: list[Array] = [self.found[name]] if name in self.found else []
                self.walk.add(values, measure, place, chance)
                self.found[name] = values[-1]
            elif (place.t, place.k) == (0, 0) and measure.law != "picked":
                about = measure.law in ("of_mean", "around_mean")
                value = self.about_mean(measure, place, chance) if about else self.walk.mean(measure, place, chance)
                self.found[name] = value

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


def tiled(xp: Namespace, x: Array, fold: int) -> Array:
    """All outcomes again and again: (S, ...) -> (fold S, ...)."""
    return xp.reshape(xp.broadcast_to(x[None, ...], (fold, *x.shape)), (-1, *x.shape[1:]))


def repeated(xp: Namespace, x: Array, size: int) -> Array:
    """Every outcome `size` times: (R, ...) -> (R size, ...)."""
    return xp.reshape(xp.broadcast_to(x[:, None, ...], (x.shape[0], size, *x.shape[1:])), (-1, *x.shape[1:]))
