"""`fedaudit conform`: is this code the stated algorithm?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import UserError

if TYPE_CHECKING:
    from fedaudit.verify.conform.diagnosis import Conformity

__all__ = ["ABOUT", "arguments", "asked"]

ABOUT = """\
Compares a recorded run with the rules of an algorithm, one rule after the other, each from what was recorded before it.
The answer is the first rule, round, local step and client that differ, by how much, and what the run is instead: one of
the deviations that public code is known for, or two of them, or what least squares makes of the rule.
shipped: fedavg fedprox scaffold fednova fedavgm fedadam feddyn per-fedavg per-fedavg-fo pfedme feddr; besides, any
method of `fedaudit methods` and `my.py::id` that is made of gradients and means.
RUN is one of
  run.npz, run.json     arrays by the names of the method's vectors. Of fedavg, whose server has x and whose clients y:
      x (T + 1, d) before every round and after the last one; y (T, C, d) at the round's end, or (T, K + 1, C, d) with
      all local steps; what clients keep, such as c_i, (T + 1, C, d); nan where a client was idle
      counts or weights (C,); sampled (T, C); steps (C,); scalars such as gamma: a number, or one per round
      gradients: grad (T, K, C, d) at the local steps; or A (C, d, d) and b (C, d) of losses w'Aw/2 - b'w
  my_loop.py::train     a function of a task that trains on it and returns such arrays; it is run on three small
      problems with unequal clients, some of which are idle. `fedaudit conform fedavg` prints a file to begin with
examples:
  fedaudit conform fedprox run.npz mu=1/10 gamma=0.05
  fedaudit conform scaffold my_loop.py::train --json
What was not recorded is computed from the rules (a server's momentum); what cannot be is named as not compared.
Float64 runs are compared to 1e-10 of each vector's size, float32 ones to 1e-4. Exit status 1 where the run differs.
"""
TEMPLATE = '''\
"""A training loop for `fedaudit conform {method} my_loop.py::train`: put your own code where plain FedAvg stands."""


def train(task):
    log, x = task.log(), task.start
    for t in range(task.rounds):
        log.server(t, x=x)  # before the round
        ends = {{}}
        for i in task.sample(t):  # who takes part
            y = x
            log.client(t, i, 0, y=y)
            for k in range(task.steps[i]):
                y = y - task.gamma(t) * task.grad(i, y)
                log.client(t, i, k + 1, y=y)  # after k + 1 local steps
            ends[i] = y
        x = sum(task.counts[i] * ends[i] for i in ends) / sum(task.counts[i] for i in ends)
    log.server(task.rounds, x=x)
    return log.arrays()
'''


def arguments(sub: argparse.ArgumentParser) -> None:
    """The command's options, but for the values."""
    sub.usage = "fedaudit conform METHOD [RUN] [NAME=VALUE…] [--json]"
    sub.add_argument("method", metavar="METHOD", help="the id of an algorithm")
    sub.add_argument("run", nargs="?", metavar="RUN", help="run.npz, run.json, or my_loop.py::train")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def asked(method: str, run: str | None, texts: Sequence[str]) -> Conformity | str:
    """The answer, or a file to begin with where no run was given."""
    from fedaudit.bounds.language.symbol_values import axes_of

    from ..api.conformance import conform

    if run is None:
        return TEMPLATE.format(method=method)
    values: dict[str, Any] = {name: [float(x) for x in axis] for name, axis in axes_of(texts).items()}
    symbols = {name: axis[0] if len(axis) == 1 else axis for name, axis in values.items()}
    if ".py" in run:
        return conform(method, _function(run), **symbols)
    return conform(method, Path(run), **symbols)


def _function(name: str) -> Callable[[Any], Mapping[str, Any]]:
    from fedaudit.bounds.catalogue.discovery import own_file

    path, colons, wanted = name.partition("::")
    module = own_file(path)
    chosen = getattr(module, wanted or "train", None)
    if not callable(chosen):
        functions = [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]
        expected = f"a function of a task ({', '.join(functions) or 'it defines none'})"
        raise UserError(f"{name}{'' if colons else ', which has no `train`'}", expected, f"write {path}::NAME")
    return cast("Callable[[Any], Mapping[str, Any]]", chosen)
