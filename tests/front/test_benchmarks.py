"""What `make bench` times still runs: sparse logistic regression, two rounds without JAX; an audit, stage by stage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from libraries import JAX
from places import ROOT

BENCHMARKS = ROOT / "benchmarks"
POOL = "import one_thread, os, jax; jax.numpy.ones(3).block_until_ready(); tasks = os.listdir('/proc/self/task')"
NAMES = "print(*(open(f'/proc/self/task/{task}/comm').read().strip() for task in tasks))"


@JAX
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads there")
def test_jax_computes_on_one_thread_where_it_is_timed() -> None:
    ended = subprocess.run([sys.executable, "-c", f"{POOL}; {NAMES}"], cwd=BENCHMARKS, capture_output=True, check=True)
    assert ended.stdout.split().count(b"tf_XLAEigen") == 1


def test_the_sparse_regression_that_is_timed_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks import sparse
    from fedaudit.problems.runs.interpreter import run

    losses = sparse.problem(3, 2)
    assert losses.ba.shape == (2, 3, sparse.SAMPLES, sparse.DIMENSION)
    steps = run(sparse.METHOD, sparse.setup(losses, 2))["vstep2"]
    assert steps.shape == (2, 3)
    assert np.isfinite(steps).all()
    assert (steps > 0).all()


def test_every_stage_of_an_audit_is_timed_and_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks import stages
    from fedaudit.verify.moves import audit

    plain = audit.linted
    seconds = stages.measured(["yuan/eq1.5"], effort=0.01)  # refuted, and repaired: it goes through all of them
    assert set(seconds) == set(stages.BEFORE)
    assert all(spent > 0 for spent in seconds.values())
    assert audit.linted is plain
    assert set(stages.STATEMENTS) <= {chosen.id for chosen in stages.selection.choose([])}
