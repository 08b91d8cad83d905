"""The array walk: the phases of a method in their order, on all outcomes of a batch at once.

There are two clocks: rounds with local steps inside (`by_rounds`), and steps counted over all rounds (`by_steps`).
Both ask a law what a phase makes of the outcomes, and show a recorder every place that they come to. So what is random
(nothing, signs that are all listed, signs or clients that are drawn) and what is kept (means, vectors, bounds) are
chosen apart from the order of the phases, which is written down here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ..arrays.array_checks import spread_to
from .compiled_method import Measure
from .rule_values import Scope
from .setup import Place, Setup, State


def initial(scope: Scope) -> State:
    """The state before the first round, as the method's rules for the server and the clients say."""
    state: State = {}
    for whose, rules in (("server", scope.rules.server), ("client", scope.rules.client)):
        place = Place(dict(state), 0, 0)
        values = {name: scope.linear(rule, place) for name, rule in rules.items()}
        state |= values if whose == "server" else {name: scope.wide(x) for name, x in values.items()}
    n = scope.setup.start.shape[0]
    return {name: spread_to(scope.xp, x, (1, n, *x.shape[-2:])) for name, x in state.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """What is random in a run. Here nothing is: there is one outcome, from the method's start or from `begun`."""

    scope: Scope
    begun: State | None = None

    def start(self) -> Place:
        """The place before the first round."""
        return Place(initial(self.scope) if self.begun is None else self.begun, 0, 0)

    def drawn(self, place: Place) -> Place:
        """The place between two rounds, when it is settled who takes part in the next one."""
        return place

    def reached(self, place: Place) -> Place:
        """The place before a local step, or after the last one, with its noise where that is drawn beforehand."""
        return place

    def stepped(self, place: Place) -> Place:
        """The place after one local step."""
        return self.carried(place, "local", steps=1)

    def carried(self, place: Place, phase: str, steps: int = 0) -> Place:
        """The place after a phase, so many local steps later."""
        return place.moved(state=self.scope.carried(place, phase), k=place.k + steps, values={})


class Recorder:
    """What is kept of a run: nothing, unless one of these is overridden."""

    def between(self, place: Place) -> None:
        """Before each round and after the last one, or at every step where steps are counted."""

    def inside(self, place: Place) -> None:
        """Before each local step of a round, and after its last one."""

    def closed(self, place: Place) -> None:
        """After all local steps of a round."""

    def settled(self, before: State, after: State, t: int) -> bool:
        """Whether nothing new would be seen in the rounds after this one."""
        return False


class Shortcut(Protocol):
    """All local steps of a round in one."""

    def advance(self, place: Place, before: Place) -> State:
        """The state after them; `place` is where they begin, `before` where the round began."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where a run ends: what it does later is not read."""

    last: Mapping[str, tuple[int, int]]  # round and step in which a measure is taken for the last time
    rounds: int
    inside: int | None = None  # steps of the last round, where its end is not read

    @staticmethod
    def of(setup: Setup, measures: Mapping[str, Measure]) -> "Ends":
        """The earliest end that `Setup.until` allows."""
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
            return Ends(last, setup.T if whole or setup.oracle is not None else between)
        return Ends(last, within, max(last[name][1] for name in local if last[name][0] + 1 == within))

    @staticmethod
    def never(setup: Setup, measures: Mapping[str, Measure]) -> "Ends":
        """All rounds and steps."""
        return Ends(dict.fromkeys(measures, (setup.T, setup.E)), setup.T)

    def steps(self, t: int, E: int) -> int:
        """How many local steps round t takes."""
        return E if self.inside is None or t < self.rounds - 1 else self.inside


def by_rounds(law: Law, recorder: Recorder, ends: Ends, shortcut: Shortcut | None = None) -> State:
    """Walk round by round; the state at the end. A `shortcut` takes local steps that the recorder does not look at."""
    xp, setup, rules = law.scope.xp, law.scope.setup, law.scope.rules
    place = law.start()
    for t in range(ends.rounds + 1):
        before = law.drawn(place)
        recorder.between(before)
        if t == ends.rounds:
            break
        own = {name: before.state[name] for name in rules.kept if name in rules.client}
        inside = law.carried(before.moved(own=own), "begin")
        if shortcut is not None:
            inside = inside.moved(state=shortcut.advance(inside, before), k=setup.E, values={})
        else:
            for _ in range(ends.steps(t, setup.E)):
                inside = law.reached(inside)
                recorder.inside(inside)
                inside = law.stepped(inside)
            inside = law.reached(inside)
            recorder.inside(inside)
        recorder.closed(inside)
        if ends.inside is not None and t == ends.rounds - 1:
            break
        after = law.carried(inside.moved(values={}), "end")
        if after.counts is not None:  # who was not drawn keeps what it had
            there = after.counts[..., None] > 0
            kept = {name: xp.where(there, after.state[name], old) for name, old in after.own.items()}
            after = after.moved(state=after.state | kept)
        after = law.carried(after, "update")
        state = {name: after.state[name] for name in rules.kept}
        if recorder.settled(place.state, state, t):
            break
        place = after.moved(state=state, own={}, t=t + 1, k=0, kick=None)
    return place.state


def by_steps(law: Law, recorder: Recorder) -> None:
    """Walk step by step, where t counts the steps of all rounds."""
    setup, rules = law.scope.setup, law.scope.rules
    place = law.start()
    for t in range(setup.T + 1):
        place = place.moved(t=t, k=0, values={})
        if rules.begins(t, setup.E):
            place = law.carried(place, "begin")
        recorder.between(place)
        if t == setup.T:
            break
        place = law.stepped(place)
        if rules.begins(t + 1, setup.E):
            ended = law.carried(place.moved(k=0), "end")
            ended = law.carried(ended, "update")
            place = ended.moved(state={name: ended.state[name] for name in rules.kept})
