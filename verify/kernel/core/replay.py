"""The walk of a run: its law before every round and after every local step, phase by phase.

A law is a list of weighted states; all expectations are sums over it. How a law goes on from step to step is for
`Following` to say: with every outcome of the noise (below), or as one of the layers above has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Generic, Protocol

from flint import fmpq

from .budget import HASH, label, spend
from .expression import Evaluator, Tree
from .loss import ONE, Vector, plus, scaled
from .method import NOISE, Method, Number, factors, rules, scalars
from .randomness import STATES, Draw, Draws, Noise
from .rational import Rejected, affordable
from .walk import Algebra, Given, Kept, Key, Marked, Memory, N, Numbering, Place, V, Vectors, reads
from .world import load, tabled

Weighted = tuple[Marked[V], Draw, fmpq]  # a state, what was drawn in this round, its weight
Unmarked = tuple[Vectors[V], Draw, fmpq]
Law = list[Weighted[V]]
FIRST = 1_000  # steps of a first round


class Following(Protocol[V]):
    """How a law is followed."""

    def outcomes(self, law: Law[V], step: int, noisy: bool) -> Law[V]: ...  # beside the noise; steps count over rounds
    def joined(self, states: list[Unmarked[V]]) -> Law[V]: ...  # after a phase
    def shortened(self, law: Law[V], names: list[str]) -> Law[V]: ...  # after a round, of which these are kept


@dataclass(frozen=True, slots=True)
class EveryOutcome:
    """Every outcome of the noise with its probability; equal states are put together."""

    noise: Noise

    def outcomes(self, law: Law[Vector], step: int, noisy: bool) -> Law[Vector]:
        if not noisy:
            return law
        noise, clients = self.noise.at(step), len(law[0][1].counts)
        independent = noise.kicks()
        mark: Numbering[Vector] = Numbering(label)
        affordable(len(law) * 2 ** len(independent), STATES, "instance.noise")
        kicks: list[Marked[Vector]] = []
        for signs in product((ONE, -ONE), repeat=len(independent)):
            total = noise.none
            for sign, kick in zip(signs, independent, strict=True):
                total = tuple(plus(x, scaled(sign, v)) for x, v in zip(total, kick, strict=True))
            kicks.append(mark.kick(total, clients))
        return [(x.beside(kick), draw, q / len(kicks)) for x, draw, q in law for kick in kicks]

    def joined(self, states: list[Unmarked[Vector]]) -> Law[Vector]:
        mark: Numbering[Vector] = Numbering(label)
        weights = defaultdict[tuple[object, ...], fmpq](fmpq)
        kept: dict[tuple[object, ...], tuple[Marked[Vector], Draw]] = {}
        spend(HASH * len(states) * sum(len(vectors) * len(vectors[0]) for vectors in states[0][0].values()))
        for vectors, draw, weight in states:
            state = mark.state(vectors)
            key = (draw, *state.marks.items())
            weights[key] += weight
            kept.setdefault(key, (state, draw))
        return [(*kept[key], weight) for key, weight in weights.items()]

    def shortened(self, law: Law[Vector], names: list[str]) -> Law[Vector]:
        return law


@dataclass(frozen=True, slots=True, eq=False)
class Moment(Generic[V]):
    """The outcomes of a law at the step t, k, and what clients compute in them."""

    outcomes: Law[V]
    t: int
    k: int
    memory: Memory = field(default_factory=Memory)


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
    laws: dict[tuple[int, int], Law[V]] = field(default_factory=dict[tuple[int, int], "Law[V]"])  # in their order
    moments: dict[tuple[int, int, int, bool], Moment[V]] = field(
        default_factory=dict[tuple[int, int, int, bool], "Moment[V]"]
    )  # the last one that was asked for

    # time

    def length(self, r: int) -> int:
        """Local steps of round r."""
        return self.first if r == 0 and self.first else self.E

    @cached_property
    def first(self) -> int:
        return first_round(self.method, self.E)

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

    def outcomes(self, law: Law[V], t: int, k: int, noisy: bool) -> Moment[V]:
        step = t if self.method.steps else t * self.E + k
        return Moment(self.following.outcomes(law, step, noisy), t, k)

    def places(
        self, moment: Moment[V], trees: Iterable[Tree], last: int = 0, outcomes: Law[V] | None = None
    ) -> list[tuple[Place[V, N], fmpq]]:
        """The places of a moment, or of some of its outcomes, with their weights."""
        scalar, t = self.scalars(trees, moment.t, moment.k), moment.t
        row, turn = (t // self.E, t % self.E == 0) if self.method.steps else (t, True)
        return [
            (Place(self.algebra, x, draw, scalar, row, turn, last, moment.memory), q)
            for x, draw, q in (moment.outcomes if outcomes is None else outcomes)
        ]

    def moment(self, r: int, done: int, t: int, k: int, noisy: bool) -> Moment[V]:
        """The outcomes of round r after so many steps, kept for the next number that is asked there."""
        if (r, done, k, noisy) not in self.moments:
            moment = self.outcomes(self.law(r, done), t, k, noisy)
            self.moments.clear()
            self.moments[r, done, k, noisy] = moment
        return self.moments[r, done, k, noisy]

    def expected(self, number: Number, i: int, r: int, done: int, t: int, k: int, last: int = 0) -> N:
        """The expectation of a number for client i under the law of round r after so many steps, at the step t, k."""
        noisy = reads_noise(number)
        return self.mean(self.moment(r, done, t, k, noisy), number, i, last)

    def mean(self, moment: Moment[V], number: Number, i: int, last: int = 0) -> N:
        """The expectation of a number over the outcomes of a moment."""
        names, outcomes = reads(*(atom for _, atom in number)), moment.outcomes
        if names is not None and len(outcomes) > 1:
            outcomes = indistinct(outcomes, names, i)
        places = self.places(moment, factors(number), last, outcomes)
        return self.algebra.total([q for _, q in places], [place.total(number, i) for place, _ in places])

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

    def rounds(self) -> Iterator[tuple[int, int]]:
        """Rounds from the first on, and how many of the run are like it: 1, or all that are left of a law at rest."""
        for t in range(self.T):
            self.law(t, -1)  # which is paid for: a run may have more rounds than can be counted to
            rests = self.settled is not None and t >= self.settled and load("..runs.rest").unchanged(self, t)
            yield t, self.T - t if rests else 1
            if rests:
                return

    @property
    def everyone(self) -> Draw:
        return Draw((1,) * len(self.algebra.p))

    def initial(self) -> Vectors[V]:
        method, clients = self.method, len(self.algebra.p)
        trees = scalars(*method.server.values(), *method.client.values())
        nothing: Law[V] = [(Marked({}, {}), self.everyone, ONE)]
        ((nobody, _),) = self.places(Moment(nothing, 0, 0), trees)
        vectors: dict[Key, tuple[V, ...]] = {name: (nobody.vector(rule, 0),) for name, rule in method.server.items()}
        alone: Law[V] = [(Numbering(self.algebra.label).state(vectors), self.everyone, ONE)]
        ((server, _),) = self.places(Moment(alone, 0, 0), trees)
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
        return self.following.joined(
            [({name: x.vectors[name] for name in names}, self.everyone, q) for x, _, q in states]
        )

    @cached_property
    def blocks(self) -> Mapping[str, tuple[Sequence[Tree], bool]]:
        """For every phase, the scalar factors of its rules, and whether they read noise."""
        phases = self.method.phases.items()
        return {
            phase: (scalars(*block.values()), any(rule.has(*NOISE) for rule in block.values()))
            for phase, block in phases
        }

    def carried(self, now: Law[V], phase: str, t: int, k: int) -> Law[V]:
        """The law after one phase of round t."""
        block = self.method.phases[phase]
        if not block:
            return now
        trees, noisy = self.blocks[phase]
        moment = self.outcomes(now, *self.time(t, k), noisy)
        places = self.places(moment, trees)
        return self.following.joined([(place.carried(block, phase == "update"), place.draw, q) for place, q in places])


def reads_noise(number: Number) -> bool:
    return any(rule.op in NOISE for rule in rules(number))


def with_kept(state: Marked[V], names: Iterable[str]) -> Marked[V]:
    """The state with what clients go back to if they are not drawn."""
    vectors = {**state.vectors, **{Kept(name): state.vectors[name] for name in names}}
    return Marked(vectors, {**state.marks, **{Kept(name): state.marks[name] for name in names}})


def restored_state(state: Marked[V], counts: tuple[int, ...]) -> Marked[V]:
    """The state in which clients that were not drawn have what they had before the round."""

    def restored(rows: Mapping[Key, tuple[Given, ...]]) -> dict[Key, tuple[Given, ...]]:
        back = {key.name: row for key, row in rows.items() if isinstance(key, Kept)}
        plain = {key: row for key, row in rows.items() if not isinstance(key, Kept)}
        each = {name: zip(plain[name], old, counts, strict=True) for name, old in back.items()}
        return {**plain, **{name: tuple(x if n else y for x, y, n in triples) for name, triples in each.items()}}

    return Marked(restored(state.vectors), restored(state.marks))


def indistinct(outcomes: Law[V], names: Sequence[Key], i: int) -> Law[V]:
    """Outcomes that client i cannot tell apart by these vectors, together."""
    weights, first = defaultdict[tuple[int, ...], fmpq](fmpq), dict[tuple[int, ...], "Weighted[V]"]()
    spend(len(outcomes))
    for outcome in outcomes:
        state, draw, weight = outcome
        rows = [state.marks[name] for name in names if name in state.marks]
        key = (*[row[i if len(row) > 1 else 0] for row in rows], *draw.batch[i : i + 1])
        weights[key] += weight
        first.setdefault(key, outcome)
    return [(state, draw, weights[key]) for key, (state, draw, _) in first.items()]


def first_round(method: Method, E: int) -> int:
    """Local steps of the first round, or 0: as many as in every round."""
    steps = Evaluator(tabled({"E": fmpq(E)}, {}), None).integer(method.first, {})
    if not 0 <= steps <= FIRST:
        raise Rejected(f"method.clock.first: got {steps} steps, expected 0 to {FIRST}")
    return steps
