"""What is kept of a run: means round by round, measures of the whole run, or, of one outcome, many rounds at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..arrays.array_checks import Array, Namespace, norm2, spread_to
from .all_paths import AllPaths, expectation
from .compiled_method import Measure
from .rule_values import Scope
from .setup import ROUNDS, Measured, Place, State
from .walk import Ends, Recorder

SCRATCH = 1 << 16  # numbers in the local iterates that are taken together, unless one round has more
Values = dict[str, list[Array]]  # of every measure, one array for each round, step or block


def lists(names: Iterable[str]) -> Values:
    return {name: [] for name in names}


@dataclass(slots=True, eq=False)
class RoundByRound(Recorder):
    """Measures of rounds and of steps inside of them; `value` says what a measure is at a place, (n,) or more axes.

    Of a step that is picked at random it is the mean over the steps of its round.
    """

    measures: Mapping[str, Measure]
    value: Callable[[Measure, Place], Array]
    ends: Ends
    xp: Namespace
    rounds: Values = field(init=False)
    steps: Values = field(default_factory=dict[str, list[Array]])  # of the round that the walk is in

    def __post_init__(self) -> None:
        self.rounds = lists(self.measures)

    def between(self, place: Place) -> None:
        for name, measure in self.measures.items():
            if not _inside(measure) and place.t <= self.ends.last[name][0]:
                self.rounds[name].append(self.value(measure, place))

    def inside(self, place: Place) -> None:
        if place.k == 0:
            local = {name: m for name, m in self.measures.items() if _inside(m) and place.t <= self.ends.last[name][0]}
            self.steps = lists(local)
        for name, values in self.steps.items():
            if place.k <= self.ends.last[name][1]:
                values.append(self.value(self.measures[name], place))

    def closed(self, place: Place) -> None:
        for name, values in self.steps.items():
            each = self.xp.stack(values, axis=1)
            picked = self.measures[name].law == "picked_step"
            self.rounds[name].append(self.xp.mean(each, axis=1) if picked else each)

    def measured(self) -> Measured:
        """Every measure with the instances first: (n, T + 1), (n, T, E + 1), and one more axis for clients."""
        rounds = {name: self.xp.stack(values, axis=1) for name, values in self.rounds.items()}
        whole = [name for name, m in self.measures.items() if m.law == "picked_step" and m.at == ("T",)]
        return rounds | {name: self.xp.mean(rounds[name], axis=1, keepdims=True) for name in whole}


def _inside(measure: Measure) -> bool:
    return "k" in measure.at or measure.law == "picked_step"


@dataclass(slots=True, eq=False)
class Expectations(Recorder):
    """Means over all outcomes: of every round and step, and of the whole run or of its first round."""

    law: AllPaths
    each: RoundByRound = field(init=False)
    whole: "Whole" = field(init=False)
    ends: Ends = field(init=False)

    def __post_init__(self) -> None:
        scope = self.law.scope
        measures = scope.rules.measures
        self.ends = Ends.of(scope.setup, measures)
        of_run = {name: m for name, m in measures.items() if "t" not in m.at and not _inside(m)}
        others = {name: m for name, m in measures.items() if name not in of_run}
        self.each = RoundByRound(others, self.law.mean, self.ends, scope.xp)
        self.whole = Whole(self.law, of_run)

    def between(self, place: Place) -> None:
        self.each.between(place)
        if place.t < self.ends.rounds:
            self.whole.between(place)

    def inside(self, place: Place) -> None:
        self.each.inside(place)
        # Without rules for local steps nothing changes between them.
        if place.k == 0 or self.law.scope.rules.phases["local"]:
            self.whole.inside(place)

    def closed(self, place: Place) -> None:
        self.each.closed(place)

    def settled(self, before: State, after: State, t: int) -> bool:
        settled = not self.each.measures and self.rests(before, after, t)
        self.whole.count(self.law.scope.setup.T - t if settled else 1)
        return settled

    def rests(self, before: State, after: State, t: int) -> bool:
        """Whether every round from now on is like this one."""
        scope, oracle = self.law.scope, self.law.scope.setup.oracle
        timeless = all(isinstance(c, float) or c.shape[0] == 1 for c in scope.coefficients)
        varied = any(x is not None for x in (scope.setup.rows, scope.setup.v))
        if not timeless or varied or (oracle is not None and t + 1 < oracle[0].shape[1]):
            return False
        return all(x.shape == before[name].shape and bool(scope.xp.all(x == before[name])) for name, x in after.items())

    def measured(self) -> Measured:
        return self.each.measured() | self.whole.values()


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Measures of the whole run, or of its first round, when it has begun."""

    law: AllPaths
    measures: Mapping[str, Measure]
    total: dict[str, Array] = field(default_factory=dict[str, Array])
    here: dict[str, Array] = field(default_factory=dict[str, Array])  # of a round that may be picked, in this round

    def between(self, place: Place) -> None:
        for name, measure in self.measures.items():
            if measure.law == "picked":
                self.here[name] = self.law.mean(replace(measure, at=()), place)

    def count(self, rounds: int) -> None:
        """The round that was looked at stands for so many."""
        T = self.law.scope.setup.T
        for name, value in self.here.items():
            # Each of the T rounds is picked with the same chance.
            self.total[name] = self.total.get(name, 0 * value) + rounds / T * value

    def inside(self, place: Place) -> None:
        for name, measure in self.measures.items():
            if measure.extreme:
                self.total[name] = extreme(self.law, measure, place, self.total.get(name))
            elif (place.t, place.k) == (0, 0) and measure.law != "picked":
                about = measure.law in ("of_mean", "around_mean")
                self.total[name] = self.about_mean(measure, place) if about else self.law.mean(measure, place)

    def about_mean(self, measure: Measure, place: Place) -> Array:
        """|E x|^2 or E|x - E x|^2."""
        scope, xp = self.law.scope, self.law.scope.xp
        ((index, atom),) = measure.terms
        x = scope.linear(atom.args[0], place)
        x = scope.wide(x) if measure.own else x
        mean = expectation(xp, place.chance, x)
        value = norm2(xp, mean) if measure.law == "of_mean" else expectation(xp, place.chance, norm2(xp, x - mean))
        value = scope.here(index, place) * value
        return value if measure.own else value[..., 0]

    def values(self) -> Measured:
        """(n,), (n, C), or (n, 1) of a round that is picked."""
        return {name: x[:, None] if self.measures[name].law == "picked" else x for name, x in self.total.items()}


def each_outcome(law: AllPaths, measure: Measure, place: Place) -> Array:
    """A measure without its law, outcome by outcome, (S, n, 1 or C)."""
    scope, setup, own = law.scope, law.scope.setup, measure.own
    each = scope.total(measure.terms, place, lambda atom, there: law.outcomes(atom, there, own))
    stars = scope.here(measure.stars, place)
    if not isinstance(stars, float) or stars != 0.0:
        each = each + stars * setup.problem.optimum()[..., None]
    return each


def extreme(law: AllPaths, measure: Measure, place: Place, before: Array | None) -> Array:
    """The least or the most over all outcomes, (n,) or (n, C), and over what was seen `before`."""
    xp, setup = law.scope.xp, law.scope.setup
    if before is not None and measure.each_round and place.t % setup.E:
        return before
    each = each_outcome(law, measure, place)
    least = measure.extreme == "least"
    shape = (each.shape[0], setup.start.shape[0], setup.problem.C if measure.own else each.shape[-1])
    value = (xp.min if least else xp.max)(xp.broadcast_to(each, shape), axis=0 if measure.own else (0, 2))
    return value if before is None else (xp.minimum if least else xp.maximum)(before, value)


@dataclass(slots=True, eq=False)
class StepByStep(Recorder):
    """Measures where t counts steps; extremes run on from step to step."""

    law: AllPaths
    steps: Values = field(init=False)

    def __post_init__(self) -> None:
        self.steps = lists(self.law.scope.rules.measures)

    def between(self, place: Place) -> None:
        for name, measure in self.law.scope.rules.measures.items():
            values = self.steps[name]
            if measure.at or place.t < self.law.scope.setup.T:
                if measure.extreme:
                    values.append(extreme(self.law, measure, place, values[-1] if values else None))
                else:
                    values.append(self.mean(measure, place))

    def mean(self, measure: Measure, place: Place) -> Array:
        """(n,) or (n, C); of sampled noise (n, S) or (n, C, S)."""
        xp, setup, own = self.law.scope.xp, self.law.scope.setup, measure.own
        each = each_outcome(self.law, measure, place)
        outcomes = each.shape[0] if setup.signs is None else setup.signs.shape[0]
        each = xp.broadcast_to(each, (outcomes, setup.start.shape[0], setup.problem.C if own else each.shape[-1]))
        if setup.signs is not None:
            return xp.moveaxis(each if own else each[..., 0], 0, -1)
        value = each[0, ...] if outcomes == 1 else xp.tensordot(place.chance, each, axes=1)
        return value if own else value[..., 0]

    def measured(self) -> Measured:
        """(n, T + 1), (n, T + 1, C); (n,) or (n, C) of the whole run, which ends before step T."""
        xp, measures = self.law.scope.xp, self.law.scope.rules.measures
        return {name: xp.stack(x, axis=1) if measures[name].at else x[-1] for name, x in self.steps.items()}


@dataclass(slots=True, eq=False)
class RoundsTogether(Recorder):
    """Measures of one outcome in many rounds at once: rounds take the place of outcomes."""

    scope: Scope
    first: int = 0  # of the rounds that wait for being measured
    servers: list[State] = field(default_factory=list[State])
    steps: list[list[State]] = field(default_factory=list[list[State]])  # none, unless something is measured there
    rounds: Values = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = lists(self.scope.rules.measures)
        if any("k" in measure.at for measure in self.scope.rules.measures.values()):
            self.steps = [[] for _ in range(self.scope.setup.E + 1)]

    def between(self, place: Place) -> None:
        self.servers.append({name: place.state[name] for name in self.scope.rules.kept})

    def inside(self, place: Place) -> None:
        if self.steps:
            self.steps[place.k].append(place.state)

    def closed(self, place: Place) -> None:
        setup = self.scope.setup
        n, d = setup.start.shape
        # Many rounds at once cost few calls of the array library, and memory in proportion.
        if len(self.servers) >= max(1, SCRATCH // (n * setup.problem.C * d * (len(self.steps) or 1))):
            self.measure()

    def measure(self) -> None:
        """Measure in all rounds that wait for it."""
        xp = self.scope.xp
        local = [joined(xp, each) for each in self.steps if each]
        note(self.scope, self.rounds, self.first, joined(xp, self.servers), local)
        self.first += len(self.servers)
        self.servers, self.steps = [], [[] for _ in self.steps]

    def measured(self) -> Measured:
        if self.servers:
            self.measure()
        return over_rounds(self.scope, self.rounds)


@dataclass(slots=True, eq=False)
class StepsTogether(Recorder):
    """Measures of one outcome at many steps at once, where t counts steps."""

    scope: Scope
    first: int = 0  # of the steps that wait for being measured
    states: list[State] = field(default_factory=list[State])
    blocks: Values = field(init=False)  # (steps, n) or (steps, n, C) each

    def __post_init__(self) -> None:
        self.blocks = lists(self.scope.rules.measures)

    def between(self, place: Place) -> None:
        setup = self.scope.setup
        n, d = setup.start.shape
        self.states.append(place.state)
        if len(self.states) >= max(1, SCRATCH // (n * setup.problem.C * d)):
            self.measure()

    def measure(self) -> None:
        """Measure at all steps that wait for it."""
        size, there = len(self.states), self.scope.of_rounds(self.first, self.first + len(self.states))
        law, place = AllPaths(there), Place(joined(there.xp, self.states), ROUNDS, 0, first=self.first)
        for name, measure in there.rules.measures.items():
            self.blocks[name].append(self.values(law, measure, place, size))
        self.first += size
        self.states = []

    def values(self, law: AllPaths, measure: Measure, place: Place, size: int) -> Array:
        xp, setup, own = law.scope.xp, law.scope.setup, measure.own
        each = each_outcome(law, measure, place)
        each = xp.broadcast_to(each, (size, setup.start.shape[0], setup.problem.C if own else each.shape[-1]))
        if measure.extreme and not own:
            return xp.min(each, axis=2) if measure.extreme == "least" else xp.max(each, axis=2)
        return each if own else each[..., 0]

    def measured(self) -> Measured:
        """(n, T + 1), (n, T + 1, C); (n,) or (n, C) of the whole run, which ends before step T."""
        if self.states:
            self.measure()
        xp, measures = self.scope.xp, self.scope.rules.measures
        whole = {name: xp.concat(blocks, axis=0) for name, blocks in self.blocks.items()}
        whole |= {name: self.run_on(m, whole[name]) for name, m in measures.items() if m.extreme}
        return {name: xp.moveaxis(x, 0, 1) if measures[name].at else x[-2, ...] for name, x in whole.items()}

    def run_on(self, measure: Measure, each: Array) -> Array:
        """The least or the most of all steps so far; where rounds count, only of their first steps."""
        xp, E, best = self.scope.xp, self.scope.setup.E, [each[0, ...]]
        pick = xp.minimum if measure.extreme == "least" else xp.maximum
        for t in range(1, each.shape[0]):
            best.append(best[-1] if measure.each_round and t % E else pick(best[-1], each[t, ...]))
        return xp.stack(best, axis=0)


def note(scope: Scope, rounds: Values, first: int, state: State, steps: Sequence[State]) -> None:
    """Append measures in the rounds from `first` on: (rounds, n, ..) or (rounds, E + 1, n, ..)."""
    xp, together = scope.xp, [joined(scope.xp, steps)] if scope.even and steps else steps  # then steps are outcomes too

    def measures_at(state: State, k: int, times: int) -> Callable[[Measure], Array]:
        """Measures there, which share what they read."""
        size = next(iter(state.values())).shape[0]
        there, place = scope.of_rounds(first, first + size // times, times), Place(state, ROUNDS, k)

        def value(measure: Measure) -> Array:
            values = there.measure(measure, place, AllPaths(there).outcomes)
            return spread_to(xp, values, (size, *values.shape[1:]))  # of constants there is one

        return value

    between = measures_at(state, 0, 1)
    inside = [measures_at(there, k, len(steps) // len(together)) for k, there in enumerate(together)]
    for name, measure in scope.rules.measures.items():
        if "k" not in measure.at:
            rounds[name].append(between(measure))
        elif steps:
            values = [value(measure) for value in inside]
            each = values[0] if len(values) == 1 else xp.concat(values, axis=0)
            each = xp.reshape(each, (len(steps), -1, *each.shape[1:]))
            rounds[name].append(xp.moveaxis(each, 0, 1))


def joined(xp: Namespace, states: Sequence[State], axis: int = 0) -> State:
    """Outcomes of many states, one after the other; along axis 1, their instances."""
    return {name: xp.concat([state[name] for state in states], axis=axis) for name in states[0]} if states else {}


def over_rounds(scope: Scope, blocks: Values) -> Measured:
    """All rounds of every measure, the instances first."""
    xp, measures = scope.xp, scope.rules.measures
    whole = {name: x[0] if len(x) == 1 else xp.concat(x, axis=0) for name, x in blocks.items()}
    return {name: xp.moveaxis(x, 2 if "k" in measures[name].at else 1, 0) for name, x in whole.items()}
