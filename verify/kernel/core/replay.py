"""The walk of a run: its law before every round and after every local step, phase by phase, and what is measured there.

A law is a list of weighted states; all expectations are sums over it. How a law goes on from step to step is for
`Following` to say: with every outcome of the noise (below), or as one of the layers above has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Generic, Protocol

from flint import fmpq

from .budget import HASH, spend
from .expression import Evaluator, Tree
from .layers import load
from .loss import ONE
from .method import NOISE, Method, Number, factors, rules, scalars
from .randomness import STATES, Draw, Draws
from .rational import Rejected, affordable
from .walk import Algebra, Kept, Key, N, Place, State, V, kick
from .world import tabled

Weighted = tuple[State[V], Draw, fmpq]  # a state, what was drawn in this round, its weight
Law = list[Weighted[V]]
Indices = tuple[int, ...]
FIRST = 1_000  # steps of a first round


class Following(Protocol[V]):
    """How a law is followed."""

    def outcomes(self, law: Law[V], step: int, noisy: bool) -> Law[V]: ...  # beside the noise; steps count over rounds
    def joined(self, law: Law[V]) -> Law[V]: ...  # after a phase
    def shortened(self, law: Law[V], names: list[str]) -> Law[V]: ...  # after a round, of which these are kept


@dataclass(frozen=True, slots=True)
class EveryOutcome(Generic[V, N]):
    """Every outcome of noise that is made of independent fair signs, with its probability; equal states are one.

    `kicks`: what each sign of a step moves, per draw and client; `none`: a step without noise.
    """

    kicks: Callable[[int], list[tuple[V, ...]]]
    none: tuple[V, ...]
    algebra: Algebra[V, N]
    most: int = STATES
    where: str = "instance.noise"

    def outcomes(self, law: Law[V], step: int, noisy: bool) -> Law[V]:
        if not noisy:
            return law
        independent, clients, algebra = self.kicks(step), len(law[0][1].counts), self.algebra
        affordable(len(law) * 2 ** len(independent), self.most, self.where)
        kicks: list[State[V]] = []
        for signs in product((ONE, -ONE), repeat=len(independent)):
            total = self.none
            for sign, moved in zip(signs, independent, strict=True):
                total = [algebra.plus((x, algebra.scaled(sign, v))) for x, v in zip(total, moved, strict=True)]
            kicks.append(kick(total, clients))
        return [({**x, **moved}, draw, q / len(kicks)) for x, draw, q in law for moved in kicks]

    def joined(self, law: Law[V]) -> Law[V]:
        affordable(len(law), self.most, self.where)
        weights = defaultdict[Hashable, fmpq](fmpq)
        first: dict[Hashable, tuple[State[V], Draw]] = {}
        for state, draw, weight in law:
            key = draw, keyed(state, self.algebra.label)
            weights[key] += weight
            first.setdefault(key, (state, draw))
        return [(*first[key], weight) for key, weight in weights.items()]

    def shortened(self, law: Law[V], names: list[str]) -> Law[V]:
        return law


@dataclass(frozen=True, eq=False)
class Replay(Generic[V, N]):
    method: Method
    algebra: Algebra[V, N]
    following: Following[V]
    draws: Draws
    E: int
    T: int
    scalar: Callable[[Tree, Mapping[str, int], str], fmpq]  # the value of a scalar that rules and measures read
    settled: int | None = None  # a round from which on a law that does not change stays as it is
    where: str = "instance"
    values: dict[tuple[str, Indices], N] = field(default_factory=dict[tuple[str, Indices], N])  # of measures
    running: dict[tuple[str, Indices], list[N]] = field(default_factory=dict[tuple[str, Indices], "list[N]"])
    laws: dict[tuple[int, int], Law[V]] = field(default_factory=dict[tuple[int, int], "Law[V]"])  # in their order

    # time

    def length(self, r: int) -> int:
        """Local steps of round r."""
        return self.first if r == 0 and self.first else self.E

    @cached_property
    def first(self) -> int:
        """Local steps of the first round, or 0: as many as in every round."""
        steps = Evaluator(tabled({"E": fmpq(self.E)}, {}), None).integer(self.method.first, {})
        if not 0 <= steps <= FIRST:
            raise Rejected(f"method.clock.first: got {steps} steps, expected 0 to {FIRST}")
        return steps

    def round(self, t: int) -> tuple[int, int]:
        """Where t counts steps: its round, and how many steps of that come before it."""
        if t < self.length(0):
            return 0, t
        r, k = divmod(t - self.length(0), self.E)
        return r + 1, k

    def time(self, r: int, k: int) -> tuple[int, int]:
        """The indices t, k of the step of round r before which k are taken, or of its last one."""
        if not self.method.steps:
            return r, k
        before = 0 if r == 0 else self.length(0) + (r - 1) * self.E
        return before + min(max(k, 0), self.length(r) - 1), 0

    # one place

    def scalars(self, trees: Iterable[Tree], t: int, k: int) -> dict[Tree, fmpq]:
        """The value of every scalar factor at this step."""
        at = {"t": self.method.counts_from + t, "k": k}
        return {tree: self.scalar(tree, at, "method") for tree in trees if not isinstance(tree, fmpq)}

    def places(
        self, law: Law[V], t: int, k: int, trees: Iterable[Tree], noisy: bool = False, last: int = 0
    ) -> list[tuple[Place[V, N], fmpq]]:
        """The places of a law at the step t, k, beside every outcome of its noise, with their weights."""
        step = t if self.method.steps else t * self.E + k
        scalars = self.scalars(trees, t, k)
        row, turn = (t // self.E, t % self.E == 0) if self.method.steps else (t, True)
        outcomes = self.following.outcomes(law, step, noisy)
        return [(Place(self.algebra, x, draw, scalars, row, turn, last), q) for x, draw, q in outcomes]

    def expected(self, number: Number, i: int, law: Law[V], t: int, k: int, last: int = 0) -> N:
        """The expectation of a number for client i under a law at the step t, k."""
        noisy = any(rule.op in NOISE for rule in rules(number))
        places = self.places(law, t, k, factors(number), noisy, last)
        return self.algebra.total([q for _, q in places], [place.total(number, i) for place, _ in places])

    # measures

    def value(self, name: str, indices: Indices) -> N:
        """A measure at these indices."""
        if (name, indices) not in self.values:
            self.values[name, indices] = self.measured(name, indices)
        return self.values[name, indices]

    def measured(self, name: str, indices: Indices) -> N:
        measure = self.method.measures[name]
        where = dict(zip(measure.at, indices, strict=True))
        i, last = where.get("i", 1) - 1, where.get("j", where.get("n", 1)) - 1
        if measure.extreme:
            return load("..runs.extremes").extreme(self, name, where)
        if measure.law:
            return load("..runs.laws").measured(self, measure, where, i)
        r, done, t, k = self.place(where)
        weights = [self.scalar(factor, where, f"method.measures.{name}") for factor, _ in measure.terms]
        each = [self.expected(((ONE, atom),), i, self.law(r, done), t, k, last) for _, atom in measure.terms]
        return self.algebra.total(weights, each)

    def place(self, where: Mapping[str, int]) -> tuple[int, int, int, int]:
        """Where a measure looks: a round, how many of its local steps are taken (-1: none has begun), and t and k."""
        first = self.method.counts_from
        t, k = where.get("t", first) - first, where.get("k", -1 if "t" in where else 0)
        r, done = self.round(t) if self.method.steps else (t, k)
        return r, done, t, max(k, 0)

    # rounds

    def law(self, t: int, k: int) -> Law[V]:
        """Before round t (k = -1), or in round t after k local steps."""
        if (t, k) in self.laws:
            return self.laws[t, k]
        if not self.laws:
            self.laws[0, -1] = self.following.joined([(self.initial(), self.everyone, ONE)])
        last = next(reversed(self.laws))  # all before it are known too
        while last != (t, k):
            (s, done), now = last, self.laws[last]
            if done == -1:
                last, now = (s, 0), self.begun(now, s)
            elif done < self.length(s):
                last, now = (s, done + 1), self.carried(now, "local", s, done)
            else:
                last, now = (s + 1, -1), self.ended(now, s)
            self.laws[last] = now
        return self.laws[t, k]

    @property
    def everyone(self) -> Draw:
        return Draw((1,) * len(self.algebra.p))

    def initial(self) -> State[V]:
        method, clients = self.method, len(self.algebra.p)
        trees = scalars(*method.server.values(), *method.client.values())
        ((nobody, _),) = self.places([({}, self.everyone, ONE)], 0, 0, trees)
        vectors: dict[Key, tuple[V, ...]] = {name: (nobody.vector(rule, 0),) for name, rule in method.server.items()}
        ((server, _),) = self.places([(vectors, self.everyone, ONE)], 0, 0, trees)
        kept = {name: rule for name, rule in method.client.items() if name in method.kept}
        return {**vectors, **{name: (server.vector(rule, 0),) * clients for name, rule in kept.items()}}

    def begun(self, now: Law[V], t: int) -> Law[V]:
        """After the draw of round t and `begin`. All clients compute: who is not drawn keeps what it had."""
        affordable(len(now) * len(self.draws), STATES, f"{self.where}.participation")
        names = [name for name in self.method.kept if name in self.method.client]
        back = names if any(not all(draw.counts) for draw, _ in self.draws) else []
        before = [(with_kept(x, back), q) for x, _, q in now]
        drawn = [(x, draw, q * chance) for x, q in before for draw, chance in self.draws]
        return self.carried(drawn, "begin", t, 0)

    def ended(self, now: Law[V], t: int) -> Law[V]:
        """After `end` and `update`, before the next round, which reads what is kept."""
        finished = self.carried(now, "end", t, self.E)
        restored: Law[V] = [(restored_state(x, draw.counts), draw, q) for x, draw, q in finished]
        names = self.method.kept
        states = self.following.shortened(self.carried(restored, "update", t, self.E), names)
        return self.following.joined([({name: x[name] for name in names}, self.everyone, q) for x, _, q in states])

    def carried(self, now: Law[V], phase: str, t: int, k: int) -> Law[V]:
        """The law after one phase of round t."""
        block = self.method.phases[phase]
        if not block:
            return now
        noisy = any(rule.has(*NOISE) for rule in block.values())
        places = self.places(now, *self.time(t, k), scalars(*block.values()), noisy)
        return self.following.joined([(place.carried(block, phase == "update"), place.draw, q) for place, q in places])


def with_kept(state: State[V], names: Iterable[str]) -> State[V]:
    """The state with what clients go back to if they are not drawn."""
    return {**state, **{Kept(name): state[name] for name in names}}


def restored_state(state: State[V], counts: tuple[int, ...]) -> State[V]:
    """The state in which clients that were not drawn have what they had before the round."""
    now: dict[Key, tuple[V, ...]] = {key: row for key, row in state.items() if not isinstance(key, Kept)}
    for key, before in state.items():
        if isinstance(key, Kept):
            each = zip(now[key.name], before, counts, strict=True)
            now[key.name] = tuple(new if count else old for new, old, count in each)
    return now


def keyed(state: State[V], label: Callable[[V], Hashable]) -> Hashable:
    """What equal states have in common, to look them up by."""
    spend(HASH * sum(len(vectors) for vectors in state.values()))
    return tuple((name, *map(label, vectors)) for name, vectors in state.items())
