"""What `make bench` times still runs: its sparse logistic regression, for two rounds and without JAX."""

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
