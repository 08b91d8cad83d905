"""What `make bench` times still runs: sparse logistic regression, two rounds without JAX; an audit, stage by stage."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest


def test_the_sparse_regression_that_is_timed_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks import sparse
    from fedaudit.problems.interpret import run

    losses = sparse.problem(3, 2)
    assert losses.ba.shape == (2, 3, sparse.SAMPLES, sparse.DIMENSION)
    steps = run(sparse.METHOD, sparse.setup(losses, 2))["vstep2"]
    assert steps.shape == (2, 3)
    assert np.isfinite(steps).all()
    assert (steps > 0).all()


def test_every_stage_of_an_audit_is_timed_and_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks import stages
    from fedaudit.verify import audit

    plain = audit.linted
    seconds = stages.measured(["yuan/eq1.5"], effort=0.01)  # refuted, and repaired: it goes through all of them
    assert set(seconds) == set(stages.BEFORE)
    assert all(spent > 0 for spent in seconds.values())
    assert audit.linted is plain
    assert set(stages.STATEMENTS) <= {chosen.id for chosen in stages.runner.choose([])}
