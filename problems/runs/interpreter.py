"""The array interpreter: any method that is data, on batches of problems, with exact expectations.

`walked` takes every step of every outcome. Where all rules are affine, a round is one map (`affine_rounds`), and where
only moments are asked for, their powers (`moments`).
"""

from collections.abc import Mapping

from ..arrays.array_checks import fail, quiet
from ..losses.quadratics import Quadratics
from . import local_maps as forward
from .affine_rounds import Forwarded, Mapped
from .all_paths import AllPaths, paths_needed
from .compiled_method import LINEAR, Programme
from .moments import Moments
from .recorder import Expectations, RoundsTogether, StepByStep, StepsTogether, joined
from .rule_values import Scope, scope_of
from .setup import Measured, Setup, State
from .shortcuts import shortcut_of
from .walk import Ends, Law, by_rounds, by_steps

__all__ = ["Measured", "Setup", "State", "paths_needed", "resumed", "run", "walked"]
TIMELESS = frozenset((*LINEAR, "grad", "prox", "sampled", "w_i_star"))  # do not look at the round but by coefficients


def run(method: Mapping[str, object], setup: Setup) -> Measured:
    """The method's measures: (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C); (n,) of a whole run.

    One more axis, C or d, where a measure looks at another client or at a coordinate.
    """
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        if setup.moments and setup.noisy_steps is not None:
            raise fail("noise at some steps", "noise at every step where only moments are followed", "walk the run")
        if setup.moments:
            return Moments(scope).measures()
        # Maps are of rounds: where t counts steps, or a rule is no affine map, every step is taken.
        if scope.rules.steps or not _affine(scope.rules, setup):
            return walk(scope)
        # A map has a column per entry of the state, and finding it costs about as much as running them: with as many
        # columns as the run has steps, the steps are taken.
        if setup.v is None and (_entries(scope.rules, setup) >= setup.T * setup.E or setup.T == 1):
            return walk(scope)
        whole = forward.server_round(scope.rules) if setup.v is None and scope.steady else None
        return Mapped(scope).measures() if whole is None else Forwarded(scope, whole).measures()


def walked(method: Mapping[str, object], setup: Setup) -> Measured:
    """The method's measures, as of `run`, with every step of every round taken."""
    scope = scope_of(method, setup)
    with quiet(scope.xp):
        return walk(scope)


def resumed(method: Mapping[str, object], setup: Setup, state: State | None) -> tuple[Measured, State]:
    """The measures of a run with one outcome that goes on from the state where another one ended, and its own end."""
    scope = scope_of(method, setup)
    if scope.rules.steps or not _alone(scope):
        raise fail("a run with several outcomes", "one outcome", "take noise and sampling out of it")
    with quiet(scope.xp):
        return _one_outcome(scope, state)


def walk(scope: Scope) -> Measured:
    """Every step taken, by the clock of the method, with the law and the recorder that its randomness asks for."""
    setup, rules = scope.setup, scope.rules
    if not rules.steps and _alone(scope):
        return _one_outcome(scope, None)[0]
    every = AllPaths(scope)
    every.check()
    if not rules.steps:
        expectations = Expectations(every)
        by_rounds(every, expectations, expectations.ends)
        return expectations.measured()
    random = (setup.v, setup.oracle, setup.batches, setup.minibatch, setup.sampling)
    alone = all(x is None for x in random)
    law, steps = (Law(scope), StepsTogether(scope)) if alone else (every, StepByStep(every))
    by_steps(law, steps)
    return steps.measured()


def _one_outcome(scope: Scope, state: State | None) -> tuple[Measured, State]:
    """Measures of a run with one outcome, from a state on, in many rounds at once; and the state at its end."""
    blocks = scope.setup.blocks()
    if len(blocks) > 1:
        runs: list[tuple[Measured, State]] = []
        for rows in blocks:
            begun = None if state is None else {name: x[:, rows, ...] for name, x in state.items()}
            runs.append(_one_outcome(scope_of(scope.rules, scope.setup.some(rows)), begun))
        measures, states = ([run[i] for run in runs] for i in (0, 1))
        return joined(scope.xp, measures), joined(scope.xp, states, axis=1)
    rounds, ends = RoundsTogether(scope), Ends.of(scope.setup, scope.rules.measures)
    end = by_rounds(Law(scope, state), rounds, Ends(ends.last, ends.rounds), shortcut_of(scope))
    return rounds.measured(), end


def _alone(scope: Scope) -> bool:
    """Whether there is one outcome, and all that is measured is measured in every round, by coefficients alone."""
    setup, rules = scope.setup, scope.rules
    random = (setup.v, setup.signs, setup.sampling, setup.minibatch, setup.oracle)
    every = all("t" in measure.at and not measure.law for measure in rules.measures.values())
    return every and rules.ops <= TIMELESS and all(x is None for x in random)


def _affine(rules: Programme, setup: Setup) -> bool:
    smooth = setup.regulariser is not None and setup.regulariser.affine
    quadratic = isinstance(setup.problem, Quadratics) and rules.linear(smooth)
    every = all("t" in measure.at and not measure.law for measure in rules.measures.values())
    return quadratic and every and all(x is None for x in (setup.sampling, setup.signs, setup.noisy_steps))


def _entries(rules: Programme, setup: Setup) -> int:
    """The size of the state between rounds."""
    return setup.problem.d * sum(1 if name in rules.server else setup.problem.C for name in rules.kept)
