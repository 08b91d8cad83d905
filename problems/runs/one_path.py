"""One outcome of a method, round by round: noise and participation are drawn by the caller, vectors are kept.

`walked` takes every outcome and keeps measures alone; here there is one outcome per instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..arrays.array_checks import Array, quiet
from .compiled_method import Measure
from .interpreter import Setup
from .rule_values import Place, Scope, initial, scope_of

__all__ = ["Followed", "follow"]


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Measures (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C), and the server's vectors (n, T + 1, d)."""

    measures: Mapping[str, Array]
    vectors: Mapping[str, Array]


def follow(
    method: Mapping[str, Any],
    setup: Setup,
    noise: Callable[[int, int], Array],
    drawn: Callable[[int], Array],
    tell: Callable[[int], None],
) -> Followed:
    """`noise(t, k)` is (1, n, C, d) or None, `drawn(t)` how often each client takes part (1, C) or None."""
    scope = scope_of(method, setup)
    xp, rules = scope.xp, scope.rules
    slow = {name: m for name, m in rules.measures.items() if "k" not in m.at}
    fast = {name: m for name, m in rules.measures.items() if "k" in m.at}
    measured: dict[str, list[Array]] = {name: [] for name in rules.measures}
    vectors: dict[str, list[Array]] = {name: [] for name in rules.server}
    with quiet(xp):
        state = initial(scope)
        for t in range(setup.T + 1):
            counts = drawn(t) if t < setup.T else None
            place = Place(state, t, 0, counts=counts)
            for name in rules.server:
                vectors[name].append(xp.broadcast_to(state[name][0, :, 0, :], setup.start.shape))
            for name, measure in slow.items():
                measured[name].append(_valued(scope, measure, place))
            if t == setup.T:
                break
            kept = {name: state[name] for name in rules.kept if name in rules.client}
            place = replace(place, state=scope.carried(place, "begin"), known={})
            inside: dict[str, list[Array]] = {name: [] for name in fast}
            for k in range(setup.E + 1):
                place = replace(place, k=k, known={}, kick=noise(t, k))
                for name, measure in fast.items():
                    inside[name].append(_valued(scope, measure, place))
                if k < setup.E:
                    place = replace(place, state=scope.carried(place, "local"), known={})
            for name, values in inside.items():
                measured[name].append(xp.stack(values, axis=1))
            state = scope.carried(replace(place, known={}), "end")
            if counts is not None:
                there = counts[:, None, :, None] > 0
                state = state | {name: xp.where(there, state[name], old) for name, old in kept.items()}
            state = scope.carried(replace(place, state=state, known={}), "update")
            state = {name: state[name] for name in rules.kept}
            tell(t + 1)
        made = {name: xp.stack(values, axis=1) for name, values in measured.items()}
        return Followed(made, {name: xp.stack(values, axis=1) for name, values in vectors.items()})


def _valued(scope: Scope, measure: Measure, place: Place) -> Array:
    """A measure on this outcome, (n,) or (n, C)."""
    xp, setup = scope.xp, scope.setup
    total: Any = scope.total(measure.terms, place, scope.plain) if measure.terms else 0.0
    stars = scope.here(measure.stars, place)
    if not isinstance(stars, float) or stars != 0.0:
        total = total + stars * scope.optimum()[..., None]
    shape = (setup.start.shape[0], setup.problem.C if measure.own else 1)
    each = xp.broadcast_to(total[0, ...], shape)
    return each if measure.own else each[:, 0]
