"""Every outcome of noise and sampling: a run branches where they come, so that outcomes with one past share it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..arrays.array_checks import Array, Namespace, fail, spread_to
from .compiled_method import FORMS, Atom, Measure
from .setup import Place, State, draws
from .walk import Law, initial

MOST_OUTCOMES = 1 << 14


def paths_needed(T: int, C: int, signs: int, sampling: tuple[str, int] | None, coin: bool = False) -> int:
    """How many outcomes the law of paths has, with so many signs of noise in all, and a coin in every round or none."""
    each = (_many_draws(C, *sampling) if sampling else 1) * (1 + coin)
    # 2^60 is far beyond `MOST_OUTCOMES`: a run of 10^9 rounds need not be counted with all its digits.
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


@dataclass(frozen=True, slots=True, eq=False)
class AllPaths(Law):
    """Every outcome of the law of a run, with its chance; or, of noise whose signs are sampled, every sample."""

    def start(self) -> Place:
        """One outcome, which is certain; or one for each sample."""
        xp, setup, state = self.scope.xp, self.scope.setup, initial(self.scope)
        if setup.signs is not None:
            state = {name: tiled(xp, x, setup.signs.shape[0]) for name, x in state.items()}
        return Place(state, 0, 0, chance=xp.ones((1,), dtype=xp.float64))

    def check(self) -> None:
        setup, total = self.scope.setup, self.scope.setup.T * (1 if self.scope.rules.steps else self.scope.setup.E)
        noisy = 0 if setup.v is None or setup.signs is not None else total
        noisy = noisy if setup.noisy_steps is None else min(noisy, len(setup.noisy_steps))
        signs = noisy * (1 if setup.shared else len(self.sources()))
        outcomes = paths_needed(setup.T, setup.problem.C, signs, setup.sampling, self.scope.rules.coin >= 0)
        if setup.minibatch is not None:
            outcomes *= len(setup.problem.minibatches(*setup.minibatch)[0]) ** min(setup.T, 60)
        if outcomes > MOST_OUTCOMES:
            what = f"{outcomes} outcomes of noise and sampling"
            raise fail(what, f"at most {MOST_OUTCOMES}", "take fewer rounds or clients")

    def drawn(self, place: Place) -> Place:
        """Every outcome once for every draw of clients and minibatches, and for every side of the coin."""
        if place.t == self.scope.setup.T:
            return place
        place = self.picked(place)
        return place if self.scope.rules.coin < 0 else self.tossed(place)

    def tossed(self, place: Place) -> Place:
        """Every outcome with heads, then with tails; chances are (S,), or (S, n) where instances differ in theirs."""
        xp, size, chance = self.scope.xp, place.chance.shape[0], place.chance
        q = self.scope.here(self.scope.rules.coin, place)
        if not isinstance(q, float):
            q, chance = xp.reshape(q, (1, -1)), chance if chance.ndim == 2 else chance[:, None]
        # The order of `tiled`: all outcomes so far with heads, and then all of them with tails.
        heads = xp.concat([xp.ones((size, 1), dtype=xp.float64), xp.zeros((size, 1), dtype=xp.float64)])
        state = {name: tiled(xp, x, 2) for name, x in place.state.items()}
        counts = None if place.counts is None else tiled(xp, place.counts, 2)
        batch = None if place.batch is None else np.concatenate([place.batch, place.batch])
        chance = xp.concat([q * chance, (1.0 - q) * chance])
        return place.moved(state=state, chance=chance, counts=counts, batch=batch, heads=heads, values={})

    def picked(self, place: Place) -> Place:
        """Every outcome once for every draw of clients and minibatches; counts (S, 1, C), minibatches (S, C).

        Chances are (S,), or (S, n) where probabilities of data points differ.
        """
        xp, setup, chance = self.scope.xp, self.scope.setup, place.chance
        if setup.sampling is None and setup.minibatch is None:
            return place
        C, size, n = setup.problem.C, chance.shape[0], setup.start.shape[0]
        picks = draws(C, *(setup.sampling or ("without_replacement", C)))
        counts = self.scope.on_device("counts", lambda: [[c] for c, _ in picks])
        likely = self.scope.on_device("likely", lambda: [q for _, q in picks])
        fold, batch = len(picks), None
        if setup.minibatch is None:
            chance = xp.reshape(likely[:, None] * chance, (-1,))
        else:
            rows, own = setup.problem.minibatches(*setup.minibatch)  # (Q, C), (Q, n)
            counts, fold = repeated(xp, counts, len(rows)), fold * len(rows)
            chance = chance if chance.ndim == 2 else xp.broadcast_to(chance[:, None], (size, n))
            each = xp.reshape(likely[:, None, None] * own, (-1, n))
            chance = xp.reshape(each[:, None, :] * chance, (-1, n))
            # The order of all that branches: draws of clients, then minibatches, and innermost the outcomes so far.
            batch = np.repeat(np.tile(rows, (len(picks), 1)), size, axis=0)
        state = {name: tiled(xp, x, fold) for name, x in place.state.items()}
        counts = repeated(xp, counts, size)
        return place.moved(state=state, chance=chance, counts=counts, batch=batch, values={})

    def stepped(self, place: Place) -> Place:
        """One local step of every outcome; it branches into the signs of the noise."""
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        rules = scope.rules.phases["local"]
        noisy = [name for name, rule in rules.items() if rule.noisy]
        if not noisy or scope.quiet(place):
            return self.carried(place, "local", steps=1)
        if setup.signs is not None:
            signs = setup.signs[:, :, place.t, place.k, ...]
            kick = (signs if setup.signs.ndim == 6 else signs[..., None]) * setup.v
            return self.carried(place.moved(kick=kick), "local", steps=1).moved(kick=None)
        signs = self.signs()
        fold, size = signs.shape[0], place.chance.shape[0]
        counts, heads = (None if x is None else tiled(xp, x, fold) for x in (place.counts, place.heads))
        chance = tiled(xp, place.chance, fold) / fold

        def wider(x: Array) -> Array:
            """Every outcome once for every sign; what is the same in all of them stays one."""
            return tiled(xp, x, fold) if x.shape[0] == size else x

        wide = {name: wider(x) for name, x in place.state.items() if name not in rules}
        own = {name: wider(x) for name, x in place.own.items()}
        after = place.moved(k=place.k + 1, own=own, chance=chance, counts=counts, heads=heads, values={})
        if any(rule.curved for rule in rules.values()):
            return after.moved(state=wide | self.curved(place, size))
        kick = signs[:, None, :, None] * scope.v
        for name, rule in rules.items():
            x = scope.wide(scope.linear(rule, place))
            if name in noisy:
                added = scope.response(rule, place, kick)
                x = xp.reshape(x[None, ...] + added[:, None, ...], (-1, *x.shape[1:]))
                wide[name] = x if x.shape[0] == fold * size else tiled(xp, x, size)
            else:
                wide[name] = wider(x)
        return after.moved(state=wide)

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
        after = scope.carried(place.moved(kick=tuple(kicks), rough=rough, values={}), "local")
        lead = (*(signs.shape[0] for _ in range(axes)), size)
        changed = {
            name: spread_to(xp, after[name], (*lead, *after[name].shape[-3:])) for name in scope.rules.phases["local"]
        }
        return {name: xp.reshape(x, (-1, *x.shape[-3:])) for name, x in changed.items()}

    def mean(self, measure: Measure, place: Place) -> Array:
        """A measure (n,) or (n, C) as the mean over the outcomes; of sampled noise (n, S) or (n, C, S)."""
        xp, samples = self.scope.xp, self.scope.setup.signs is not None

        def expected(atom: Atom, place: Place, own: bool) -> Array:
            values = self.outcomes(atom, place, own)  # (S, n, c)
            return values if samples else expectation(xp, place.chance, values)

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
        # Signs are independent and of mean 0: the expectation of a bilinear form has no mixed terms.
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
            x = value(place.moved(kick=kick, values={})) / signs.shape[0]
            total = x if total is None else total + x
        return total

    def signs(self) -> Array:
        """Every outcome of the signs of one step, (S, C), (S, 2 C) or (S, 1)."""
        return self.chosen("signs", self.sources(), self.scope.v.shape[-2])

    def signs_of_draw(self) -> Array:
        """Every outcome of the signs of one draw, where a step draws more than once, (S, C) or (S, 1)."""
        C = self.scope.setup.problem.C
        return self.chosen("signs of a draw", [i for i in self.sources() if i < C], C)

    def chosen(self, name: str, sources: Sequence[int], size: int) -> Array:
        """All signs of the sources, 0 elsewhere."""

        def rows() -> list[list[float]]:
            if self.scope.setup.shared:
                return [[1.0], [-1.0]]
            chosen = (dict(zip(sources, signs, strict=True)) for signs in product((1.0, -1.0), repeat=len(sources)))
            return [[row.get(i, 0.0) for i in range(size)] for row in chosen]

        return self.scope.on_device(name, rows)

    def sources(self) -> list[int]:
        """Draws of a step that have noise, of C or, where it draws more than once, 2 C or 3 C."""
        C, loud = self.scope.setup.problem.C, self.scope.setup.loud
        draws = C * (1 + ("again" in self.scope.rules.ops) + (self.scope.setup.h is not None))
        return [i for i in range(draws) if loud is None or i % C < loud]


def tiled(xp: Namespace, x: Array, fold: int) -> Array:
    """All outcomes again and again: (S, ...) -> (fold S, ...)."""
    return xp.reshape(xp.broadcast_to(x[None, ...], (fold, *x.shape)), (-1, *x.shape[1:]))


def repeated(xp: Namespace, x: Array, size: int) -> Array:
    """Every outcome `size` times: (R, ...) -> (R size, ...)."""
    return xp.reshape(xp.broadcast_to(x[:, None, ...], (x.shape[0], size, *x.shape[1:])), (-1, *x.shape[1:]))


def expectation(xp: Namespace, chance: Array, values: Array) -> Array:
    """The mean over the outcomes (S, n, ..) with the chances (S,) or (S, n)."""
    if values.shape[0] == 1:
        return values[0, ...]
    if chance.ndim == 1:
        return xp.tensordot(chance, values, axes=1)
    return xp.sum(xp.reshape(chance, (*chance.shape, *(1,) * (values.ndim - 2))) * values, axis=0)
