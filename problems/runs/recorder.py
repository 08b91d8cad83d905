"""What a run with one outcome is measured by, at many rounds or steps at once: these take the place of outcomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..arrays.array_checks import Array, Namespace, spread_to
from .compiled_method import Atom, Measure
from .rule_values import ROUNDS, Measured, Place, Scope, State

Look = Callable[[Scope], Callable[[Atom, Place, bool], Array]]  # how atoms are valued there


def note(
    scope: Scope, measured: dict[str, list[Array]], first: int, state: State, steps: Sequence[State], look: Look
) -> None:
    """Measures in the rounds from `first` on: (rounds, n, ..) or (rounds, E + 1, n, ..)."""
    xp, together = scope.xp, [joined(scope.xp, steps)] if scope.even and steps else steps  # then steps are outcomes too

    def seen(state: State, k: int, times: int) -> Callable[[Measure], Array]:
        """Measures there, which share what they read."""
        size = next(iter(state.values())).shape[0]
        there, place = scope.of_rounds(first, first + size // times, times), Place(state, ROUNDS, k)

        def value(measure: Measure) -> Array:
            values = there.measure(measure, place, look(there))
            return spread_to(xp, values, (size, *values.shape[1:]))  # of constants there is one

        return value

    between = seen(state, 0, 1)
    inside = [seen(there, k, len(steps) // len(together)) for k, there in enumerate(together)]
    for name, measure in scope.rules.measures.items():
        if "k" not in measure.at:
            measured[name].append(between(measure))
        elif steps:
            values = [value(measure) for value in inside]
            each = values[0] if len(values) == 1 else xp.concat(values, axis=0)
            each = xp.reshape(each, (len(steps), -1, *each.shape[1:]))
            measured[name].append(xp.moveaxis(each, 0, 1))


def joined(xp: Namespace, states: Sequence[State]) -> State:
    """Outcomes of many states, one after the other."""
    return {name: xp.concat([state[name] for state in states], axis=0) for name in states[0]} if states else {}


def over_rounds(scope: Scope, measured: dict[str, list[Array]]) -> Measured:
    """All that was noted, the instances first."""
    xp, rules = scope.xp, scope.rules
    whole = {name: x[0] if len(x) == 1 else xp.concat(x, axis=0) for name, x in measured.items()}
    return {name: xp.moveaxis(x, 2 if "k" in rules.measures[name].at else 1, 0) for name, x in whole.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """Measures of a run in which t counts steps."""

    scope: Scope
    look: Look
    pieces: list[dict[str, Array]] = field(default_factory=list[dict[str, Any]])  # (steps, n) or (steps, n, C) each

    def add(self, first: int, states: Sequence[State]) -> None:
        """The states at the steps from `first` on."""
        there = self.scope.of_rounds(first, first + len(states))
        place = Place(joined(self.scope.xp, states), ROUNDS, 0, first=first)
        self.pieces.append({name: self.each(there, m, place, len(states)) for name, m in there.rules.measures.items()})

    def each(self, there: Scope, measure: Measure, place: Place, size: int) -> Array:
        xp, setup, own, look = there.xp, there.setup, measure.own, self.look(there)
        each = there.total(measure.terms, place, lambda atom, place: look(atom, place, own))
        stars = there.here(measure.stars, place)
        if not isinstance(stars, float) or stars != 0.0:
            each = each + stars * setup.problem.optimum()[..., None]
        width = setup.problem.C if own else each.shape[-1]
        each = xp.broadcast_to(each, (size, setup.start.shape[0], width))
        if measure.extreme and not own:
            return xp.min(each, axis=2) if measure.extreme == "least" else xp.max(each, axis=2)
        return each if own else each[..., 0]

    def values(self) -> Measured:
        """(n, T + 1), (n, T + 1, C); (n,) or (n, C) of the whole run, which ends before step T."""
        xp, rules = self.scope.xp, self.scope.rules
        whole = {name: xp.concat([piece[name] for piece in self.pieces], axis=0) for name in rules.measures}
        noted = {name: self.run_on(m, whole[name]) if m.extreme else whole[name] for name, m in rules.measures.items()}
        return {name: xp.moveaxis(x, 0, 1) if rules.measures[name].at else x[-2, ...] for name, x in noted.items()}

    def run_on(self, measure: Measure, each: Array) -> Array:
        """The least or the most of all steps so far; where rounds count, only of their first steps."""
        xp, E, best = self.scope.xp, self.scope.setup.E, [each[0, ...]]
        pick = xp.minimum if measure.extreme == "least" else xp.maximum
        for t in range(1, each.shape[0]):
            best.append(best[-1] if measure.each_round and t % E else pick(best[-1], each[t, ...]))
        return xp.stack(best, axis=0)
