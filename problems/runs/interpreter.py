"""The array interpreter: any method that is data, on batches of problems, with exact expectations.

`walked` takes every step of every outcome; where all rules are affine, a round is one map (`mapped`, `forwarded`), and
where only moments are asked for, their powers (`moments`).
"""

from collections.abc import Mapping
from typing import Any

from ..arrays.array_checks import fail, quiet
from ..losses.quadratics import Quadratics
from . import local_maps as forward
from .affine_rounds import Mapped
from .all_paths import Walked, paths_needed, walk
from .compiled_method import (
    Programme,
)
from .moments import Moments
from .repeated_rounds import Forwarded
from .rule_values import Measured, Setup, State, initial, scope_of

__all__ = ["Measured", "Setup", "State", "paths_needed", "resumed", "run", "walked"]


def run(method: Mapping[str, Any], setup: Setup) -> Measured:
    """The method's measures: (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C); (n,) of a whole run.

    One more axis, C or d, where a measure looks at another client or at a coordinate.
    """
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        if setup.moments and setup.noisy_steps is not None:
            raise fail("noise at some steps", "noise at every step where only moments are followed", "walk the run")
        if setup.moments:
            return Moments(scope).measures()
        if scope.rules.steps or not _affine(scope.rules, setup):
            return walk(scope)
        if setup.v is None and (_entries(scope.rules, setup) >= setup.T * setup.E or setup.T == 1):
            return walk(scope)
        whole = forward.server_round(scope.rules) if setup.v is None and scope.steady else None
        return Mapped(scope).measures() if whole is None else Forwarded(scope, whole).measures()


def walked(method: Mapping[str, Any], setup: Setup) -> Measured:
    """The same, every step of every round taken."""
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        return walk(scope)


def resumed(method: Mapping[str, Any], setup: Setup, state: State | None) -> tuple[Measured, State]:
    """The measures of a run with one outcome that goes on from the state where another one ended, and its own end."""
    scope = scope_of(method, setup)
    if not (found := Walked(scope)).alone():
        raise fail("a run with several outcomes", "one outcome", "take noise and sampling out of it")
    with quiet(scope.xp):
        return found.single(initial(scope) if state is None else state)


def _affine(rules: Programme, setup: Setup) -> bool:
    smooth = setup.regulariser is not None and setup.regulariser.affine
    quadratic = isinstance(setup.problem, Quadratics) and rules.linear(smooth)
    every = all("t" in measure.at and not measure.law for measure in rules.measures.values())
    return quadratic and every and all(x is None for x in (setup.sampling, setup.signs, setup.noisy_steps))


def _entries(rules: Programme, setup: Setup) -> int:
    """The size of the state between rounds."""
    return setup.problem.d * sum(1 if name in rules.server else setup.problem.C for name in rules.kept)
