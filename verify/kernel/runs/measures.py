"""The measures of a method on a run: expectations, extremes and means, at the indices that a claim asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from flint import fmpq

from ..core.budget import summed
from ..core.expression import FOLD, Value
from ..core.method import PICKED, Measure, factors
from ..core.rational import Rejected
from ..losses.loss import ONE, ZERO, Vector, combine, dot, minus, norm2
from . import moments
from .balls import enclosed
from .distribution import Law
from .replay import Replay

Running = defaultdict[tuple[str, int], list[fmpq]]


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """Values found so far are kept: rationals for ever, of an extreme at one client those of all steps so far."""

    replay: Replay
    box: tuple[Vector, Vector] | None  # that holds the run, if only its moments are followed
    known: dict[tuple[str, tuple[int, ...]], Value] = field(default_factory=dict[tuple[str, tuple[int, ...]], Value])
    extremes: Running = field(default_factory=lambda: Running(list))
    followed: list[moments.Followed] = field(default_factory=list[moments.Followed])  # one at most

    def value(self, name: str, indices: tuple[int, ...]) -> Value:
        if (name, indices) in self.known:
            return self.known[name, indices]
        value = self.measured(name, indices)
        if isinstance(value, fmpq) or self.replay.balls:  # another ball has the precision of the moment
            self.known[name, indices] = value
        return value

    def measured(self, name: str, indices: tuple[int, ...]) -> Value:
        replay, measure = self.replay, self.replay.method.measures[name]
        where, first = dict(zip(measure.at, indices, strict=True)), replay.method.counts_from
        if self.box is not None and measure.at:  # without an index: of the first round when it has begun
            return self.in_box(measure, where.get("t", 0) - first, where.get("k", 0), *self.box)
        if measure.at == ("T",):  # a round before the last, each with the same probability
            return summed(n * self.picked(measure, t) for t, n in replay.rounds()) / replay.T
        if measure.law == "picked_step":
            return self.picked(measure, where["t"] - first)
        if measure.extreme and not replay.method.steps:
            return self.extreme_of_rounds(measure)
        if measure.extreme:
            clients = [where["i"] - 1] if "i" in where else list(range(len(replay.problem.p)))
            return self.extreme_of_steps(name, where.get("t", replay.T - 1), clients)
        return self.expected(name, where)

    def expected(self, name: str, where: Mapping[str, int]) -> fmpq:
        """At one place of the run."""
        replay, measure = self.replay, self.replay.method.measures[name]
        first = replay.method.counts_from
        t, k, i = where.get("t", first) - first, where.get("k", -1 if "t" in where else 0), where.get("i", 1) - 1
        last = where.get("j", where.get("n", 1)) - 1
        law, total = replay.law(*replay.round(t)) if replay.method.steps else replay.law(t, k), ZERO
        if measure.law:
            return self.about_mean(law, measure, i, t, max(k, 0))
        for factor, atom in measure.terms:
            coefficient = replay.scalar(factor, where, f"method.measures.{name}")
            total += coefficient * replay.expected(law, ((ONE, atom),), i, t, max(k, 0), last)
        return total

    def picked(self, measure: Measure, t: int) -> fmpq:
        """The expectation when round t begins, or before any of its steps."""
        replay = self.replay
        if measure.law == "picked":
            return replay.expected(replay.law(t, -1), measure.terms, 0, t, 0)
        each = (replay.expected(replay.law(t, k), measure.terms, 0, t, k) for k in range(replay.E))
        return summed(each) / replay.E

    def about_mean(self, law: Law, measure: Measure, i: int, t: int, k: int) -> fmpq:
        """|E x|^2, or E|x - E x|^2, times its factor."""
        ((factor, atom),) = measure.terms
        replay, weights = self.replay, [q for _, _, q in law.states]
        scalar, none = replay.scalars(factors(measure.terms), t, k), replay.noise.none
        points = [replay.place(t, x, draw, none, scalar).vector(atom.args[0], i) for x, draw, _ in law.states]
        mean = combine(weights, points)
        around = dot(weights, [norm2(minus(x, mean)) for x in points])
        return scalar[id(factor)] * (norm2(mean) if measure.law == "of_mean" else around)

    def extreme_of_rounds(self, measure: Measure) -> fmpq:
        """The least or largest value over all outcomes, clients and steps of the run."""
        replay = self.replay
        ends = replay.E + 1 if replay.method.phases["local"] else 1
        places = [(t, k) for t, _ in replay.rounds() for k in range(ends)]
        each = [
            replay.expected(law, measure.terms, i, t, k)
            for t, k in places
            for law in outcomes(replay.law(t, k))
            for i in range(len(replay.problem.p))
        ]
        return reduce(extreme(measure), each)

    def extreme_of_steps(self, name: str, t: int, clients: list[int]) -> fmpq:
        """The least or largest value over all outcomes, these clients, and the steps up to t (that E divides)."""
        replay, measure = self.replay, self.replay.method.measures[name]
        chosen, apart = extreme(measure), replay.E if measure.each_round else 1
        for i in clients:
            running = self.extremes[name, i]
            for s in range(apart * len(running), t + 1, apart):
                laws = outcomes(replay.law(*replay.round(s)))
                each = [*running[-1:], *(replay.expected(x, measure.terms, i, s, 0) for x in laws)]
                running.append(reduce(chosen, each))
        return reduce(chosen, [self.extremes[name, i][t // apart] for i in clients])

    def in_box(self, measure: Measure, t: int, k: int, low: Vector, high: Vector) -> Value:
        """From moments: of a box that no outcome leaves, on which every loss is a quadratic."""
        replay = self.replay
        if measure.law not in ("", *PICKED) or measure.extreme or {*measure.at} & {*"ijn"}:
            raise Rejected("instance.box: got another measure, expected the expectation of what all clients do")
        if not self.followed:
            if replay.method.reads(*moments.SOLVED):  # rejects what is not strongly convex
                replay.law(0, 0)
                replay.expected(replay.law(0, -1), measure.terms, 0, 0, 0)
            kicks, scalar = replay.noise.of_gradients().kicks(), replay.scalars(replay.method.scalars, 0, 0)
            boxed = moments.Boxed(replay.method, replay.problem, replay.draws, kicks, scalar, replay.noise)
            self.followed.append(moments.followed(boxed, low, high, replay.initial(), replay.E, replay.T))
        return self.followed[0].measured(measure, t, k)

    def inaccuracy(self) -> fmpq:
        """How far from optimal the oracle's answers were, at most, in all rounds."""
        if not self.replay.method.rules_use("oracle") or self.box is not None:  # without answers they are exact
            return ZERO
        for _ in self.replay.rounds():
            pass
        return max(self.replay.problem.gaps)


def extreme(measure: Measure) -> Callable[[fmpq, fmpq], fmpq]:
    """The smaller or the larger of two numbers."""
    chosen = FOLD["min" if measure.extreme == "least" else "max"]
    return lambda x, y: enclosed(chosen(x, y))


def outcomes(law: Law) -> list[Law]:
    """Every state of a law, as if it were certain."""
    return [Law([(x, draw, ONE)], True) for x, draw, _ in law.states]
