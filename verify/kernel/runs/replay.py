"""The replay of a run: its law before every round and after every local step, phase by phase."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flint import fmpq

from ..core.budget import spend, summed
from ..core.expression import Evaluator, Tree
from ..core.method import BENT, NOISE, Method, Number, factors, rules, scalars
from ..core.rational import Rejected, affordable
from ..core.world import tabled
from ..losses.draws import STATES, Draw, Draws
from ..losses.loss import ONE, Loss
from .balls import enclosed
from .distribution import Law, Weighted, condensed, keyed, law
from .noise import Kick, Noise
from .problem import Problem
from .rule_value import Known, Names, Place, State, names_of, seen

Parts = tuple[list[Tree], bool, Names]  # of a number: its scalar factors, whether it reads noise, and its vectors
Outcomes = list[tuple[State, Draw, Kick, fmpq]]
Moment = tuple[Law, int, int, bool, Outcomes, Known]  # the outcomes of a law at t, k, with noise or without
FIRST = 1_000  # steps of a first round
BEFORE = " before the round"  # of a client's vector: what it goes back to if the client was not drawn


@dataclass(frozen=True, eq=False)
class Replay:
    method: Method
    problem: Problem
    noise: Noise
    draws: Draws
    E: int
    T: int
    evaluator: Evaluator  # of the scalars that rules and measures read
    balls: bool = False  # whether step sizes are irrational: then a replay is of one precision
    laws: dict[tuple[int, int], Law] = field(default_factory=dict[tuple[int, int], Law])  # known, in their order
    numbers: dict[tuple[int, ...], tuple[Number, Parts]] = field(
        default_factory=dict[tuple[int, ...], tuple[Number, Parts]]  # by their identity
    )
    names: dict[int, Names] = field(default_factory=dict[int, Names])
    recent: list[Moment] = field(default_factory=list["Moment"])  # one at most

    @cached_property
    def paths(self) -> bool:
        """Whether every outcome is followed, and not only mean and covariance: then all is affine in the signs."""
        losses, method = self.problem.losses, self.method
        bent = any(loss.bends or (isinstance(loss, Loss) and loss.curves) for loss in losses)
        extremes = any(measure.extreme for measure in method.measures.values())
        straight = self.problem.g.affine and not method.reads(*BENT) and not method.weighs("chosen", "largest")
        return bool(bent) or extremes or not straight

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

    def noise_at(self, t: int, k: int) -> Noise:
        """The noise of the step at these indices."""
        return self.noise.at(t if self.method.steps else t * self.E + k)

    # one place

    def scalars(self, trees: Iterable[Tree], t: int, k: int) -> dict[int, fmpq]:
        """The value of every scalar factor at this place, by the tree's identity: to look it up by what it says takes
        longer than to use it. Exact, or a ball where step sizes are balls.
        """
        at = {"t": self.method.counts_from + t, "k": k}
        return {id(tree): self.scalar(tree, at, "method") for tree in trees}

    def parts(self, number: Number) -> Parts:
        """What a number consists of, found once for each."""
        key = tuple(id(part) for pair in number for part in pair)
        if key not in self.numbers:
            noisy, names = any(rule.op in NOISE for rule in rules(number)), names_of(*(atom for _, atom in number))
            self.numbers[key] = number, (factors(number), noisy, names)
        return self.numbers[key][1]

    @cached_property
    def blocks(self) -> dict[str, tuple[list[Tree], bool]]:
        """The same of the rules of every phase."""
        return {
            phase: (scalars(*block.values()), any(rule.has(*NOISE) for rule in block.values()))
            for phase, block in self.method.phases.items()
        }

    def scalar(self, tree: Tree, at: Mapping[str, int], where: str) -> fmpq:
        return enclosed(self.evaluator.value(tree, at)) if self.balls else self.evaluator.rational(tree, at, where)

    def place(
        self,
        t: int,
        state: State,
        draw: Draw,
        kick: Kick,
        scalar: Mapping[int, fmpq],
        last: int = 0,
        known: Known | None = None,
    ) -> Place:
        row, turn = (t // self.E, t % self.E == 0) if self.method.steps else (t, True)
        return Place(self.problem, state, kick, draw.counts, scalar, row, turn, last, draw.batch, known=known)

    def moment(self, states: Law, t: int, k: int, noisy: bool) -> tuple[Outcomes, Known]:
        """The outcomes at t, k, and what is known in them; kept for the next number that is asked there."""
        if not self.recent or self.recent[0][0] is not states or self.recent[0][1:4] != (t, k, noisy):
            outcomes = states.outcomes(self.noise_at(t, k), noisy)
            self.recent[:] = [(states, t, k, noisy, outcomes, Known(self.names))]
        return self.recent[0][4:]

    def expected(self, states: Law, number: Number, i: int, t: int, k: int, last: int = 0) -> fmpq:
        """The expectation of a number over the law, and over the noise of a step where the number has some."""
        trees, noisy, names = self.parts(number)
        scalar = self.scalars(trees, t, k)
        outcomes, known = self.moment(states, t, k, noisy)
        if names is not None and len(outcomes) > 1:
            outcomes = alike(outcomes, names, i, len(self.problem.p))
        places = ((self.place(t, x, draw, kick, scalar, last, known), q) for x, draw, kick, q in outcomes)
        return summed(q * place.total(number, i) for place, q in places)

    # rounds

    def law(self, t: int, k: int) -> Law:
        """Before round t (k = -1), or in round t after k local steps."""
        if (t, k) in self.laws:
            return self.laws[t, k]
        if not self.laws:
            self.laws[0, -1] = Law([(self.initial(), self.everyone, ONE)], self.paths)
        known = next(reversed(self.laws))  # all before it are known too
        while known != (t, k):
            (s, done), now = known, self.laws[known]
            if done == -1:
                known, now = (s, 0), self.begun(now, s)
            elif done < self.length(s):
                known, now = (s, done + 1), self.carried(now, "local", s, done)
            else:
                known, now = (s + 1, -1), self.ended(now, s)
            self.laws[known] = now
        return self.laws[t, k]

    def rounds(self) -> Iterator[tuple[int, int]]:
        """Rounds from the first on, and how many of the run are like it: 1, or all that are left of a law at rest."""
        alike = self.method.brief and self.method.steady and self.problem.rows is None and self.noise.steps is None
        settled = max(len(self.problem.oracle.step) - 1, 0) if alike else self.T
        for t in range(self.T):
            before, after = ({keyed(x, draw): q for x, draw, q in self.law(s, -1).states} for s in (t, t + 1))
            rests = t >= settled and before == after
            yield t, self.T - t if rests else 1
            if rests:
                return

    @property
    def everyone(self) -> Draw:
        return Draw((1,) * len(self.problem.p))

    def initial(self) -> State:
        method, counts = self.method, self.everyone.counts
        scalar = self.scalars(scalars(*method.server.values(), *method.client.values()), 0, 0)
        first = Place(self.problem, {}, self.noise.none, counts, scalar)
        state: State = {name: (first.vector(rule, 0),) for name, rule in method.server.items()}
        second = Place(self.problem, state, self.noise.none, counts, scalar)
        kept = {name: rule for name, rule in method.client.items() if name in method.kept}
        return state | {name: (second.vector(rule, 0),) * len(counts) for name, rule in kept.items()}

    def begun(self, now: Law, t: int) -> Law:
        """After the draw of round t and `begin`. All clients compute: who is not drawn keeps what it had."""
        affordable(len(now.states) * len(self.draws), STATES, "instance.participation")
        kept = [name for name in self.method.kept if name in self.method.client]
        back = kept if any(not all(draw.counts) for draw, _ in self.draws) else []
        states = [(x | {name + BEFORE: x[name] for name in back}, q) for x, _, q in now.states]
        drawn = [(x, draw, q * chance) for x, q in states for draw, chance in self.draws]
        return self.carried(Law(drawn, self.paths), "begin", t, 0)

    def ended(self, now: Law, t: int) -> Law:
        """After `end` and `update`, before the next round, which reads what is kept."""
        finished = self.carried(now, "end", t, self.E)
        finished = Law([(undone(x, draw.counts), draw, q) for x, draw, q in finished.states], self.paths)
        states, kept = self.carried(finished, "update", t, self.E).states, self.method.kept
        entries = sum(len(states[0][0][name]) for name in kept) * len(self.problem.start)
        if not self.paths and not self.balls and len(states) > 2 * entries + 1:  # fewer points, the same moments
            states = condensed(states, kept)
        forgotten: list[Weighted] = [({name: x[name] for name in kept}, self.everyone, q) for x, _, q in states]
        return law(forgotten, self.paths)

    def carried(self, now: Law, phase: str, t: int, k: int) -> Law:
        """The law after one phase of round t."""
        block = self.method.phases[phase]
        if not block:
            return now
        t, k = self.time(t, k)
        trees, noisy = self.blocks[phase]
        scalar = self.scalars(trees, t, k)
        outcomes, known = now.outcomes(self.noise_at(t, k), noisy), Known(self.names)
        places = [(self.place(t, x, draw, kick, scalar, 0, known), draw, q) for x, draw, kick, q in outcomes]
        return law([(place.carried(block, phase == "update"), draw, q) for place, draw, q in places], self.paths)


def alike(outcomes: Outcomes, names: Sequence[str], i: int, n: int) -> Outcomes:
    """Outcomes that client i of n cannot tell apart by these vectors, together."""
    weights: defaultdict[tuple[int, ...], fmpq] = defaultdict(fmpq)
    first = dict[tuple[int, ...], tuple[State, Draw, Kick]]()
    spend(len(outcomes))
    for x, draw, kick, q in outcomes:
        key = seen([x[name] for name in names], kick, draw.batch, i, n)
        weights[key] += q
        first.setdefault(key, (x, draw, kick))
    return [(*one, weights[key]) for key, one in first.items()]


def undone(state: State, counts: tuple[int, ...]) -> State:
    """Of clients that were not drawn: what they had before the round."""
    back = {name.removesuffix(BEFORE): vectors for name, vectors in state.items() if name.endswith(BEFORE)}
    kept = {
        name: tuple(x if count else y for x, y, count in zip(state[name], old, counts, strict=True))
        for name, old in back.items()
    }
    return {name: x for name, x in state.items() if not name.endswith(BEFORE)} | kept


def first_round(method: Method, E: int) -> int:
    """Local steps of the first round, or 0: as many as in every round."""
    steps = Evaluator(tabled({"E": fmpq(E)}, {}), None).integer(method.first, {})
    if not 0 <= steps <= FIRST:
        raise Rejected(f"method.clock.first: got {steps} steps, expected 0 to {FIRST}")
    return steps
