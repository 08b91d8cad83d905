"""A phase as a list: what its rules share is computed once, and no vector is written into."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.zhang.methods import PROPOSED
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.runs.compiled_method import programme
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.phase_list import flat
from fedaudit.problems.runs.rule_values import Scope, scope_of
from fedaudit.problems.runs.setup import Place
from fedaudit.problems.runs.walk import initial

METHOD = PROPOSED.data(tree, {"vstep2"})


def test_a_sum_and_its_proximal_point_share_the_sum_and_one_gradient() -> None:
    listed = flat(programme(METHOD), "local", drawn=False)
    ops = [step.operation.op if step.operation else "sum" for step in listed.steps]
    assert sorted(ops) == ["grad", "noisy", "prox", "sum", "sum"]
    assert [name for name, _ in listed.targets] == ["zhat", "z", "s"]
    assert {listed.names[place] for place in listed.stays} == {"c"}
    for number, step in enumerate(listed.steps):
        read = (*step.places, *(place for _, place in step.terms))
        assert all(place < len(listed.names) + number for place in read), "a step comes after what it reads"


def test_what_is_inside_drawn_noise_is_not_read_off_all_data() -> None:
    ops = [step.operation.op for step in flat(programme(METHOD), "local", drawn=True).steps if step.operation]
    assert sorted(ops) == ["noisy", "prox"]


def scope(problem: Any) -> Scope:
    n, d = 3, 5
    theta = np.full(n, 0.01)

    def scalar(_: Any) -> Any:
        return np.full((n, 1, 1), 0.25)

    g = Regulariser(theta, theta, 0 * theta, affine=False, unit=np.ones(n))
    return scope_of(METHOD, Setup(problem, np.ones((n, d)), scalar, E=2, T=2, w_star=np.zeros((n, d)), regulariser=g))


def test_rules_are_those_of_the_trees_and_nothing_that_they_read_is_changed() -> None:
    rng = np.random.default_rng(0)
    A = rng.uniform(0.5, 1, size=(3, 4, 5))
    made = scope(SimpleNamespace(C=4, d=5, p=np.full((3, 4), 0.25), grad=lambda w: A * w))
    state = {name: x + rng.normal(size=x.shape) for name, x in initial(made).items()}
    before = {name: x.copy() for name, x in state.items()}
    for phase in ("begin", "local", "end", "update"):
        place = Place(state, 1, 1)
        after, rules = made.carried(place, phase), made.rules.phases[phase]
        for name, rule in rules.items():
            np.testing.assert_array_equal(after[name], np.broadcast_to(made.linear(rule, place), after[name].shape))
        for name in state:
            np.testing.assert_array_equal(state[name], before[name])
