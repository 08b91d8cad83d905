"""`fedaudit check` and `fedaudit conform`: recorded runs against a bound, and against an algorithm."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .errors import UserError

if TYPE_CHECKING:
    from fedaudit.verify.conform.diagnosis import Conformity
    from fedaudit.verify.conform.tasks import Task
    from fedaudit.verify.recorded.answer import Checked

    from .api.conformance import Run

__all__ = ["CHECK", "CONFORM", "check_arguments", "checked_run", "conform_arguments", "conforming_run", "drawn"]

CHECK = """\
A recorded run against a statement's bound, term by term, at every index that was recorded: whether it holds, from
where on it does not, and what that is due to. `condition`: the run is outside of what the statement speaks of.
`assumption`: a constant does not cover what was recorded. `chance`: the bound is about an expectation and these runs do
not settle it. `violation`: none of these; floats decide nothing, `fedaudit hunt` looks for an exact counterexample.
RUN is a .csv with a column for each quantity (gap, dist2, ... from t = 0 on) and a column `seed` where there are
several runs; or a .npz or .json file with (rounds,) or (seeds, rounds) for each quantity, and beside them, as `conform`
has them, y and grad (T, K, C, d), which give limits of L, mu and G, and full_grad without noise, which gives sigma's.
examples:
  fedaudit check buttaci/thm4.1-I run.csv L=3 mu=1 alpha=1 E=2 G=5 sigma=0 S=1/2 Gamma=0
  fedaudit check buttaci/thm4.1-I run.csv L=3 mu=1 alpha=1 E=2 G=5 sigma=0 S=1/2 Gamma=0 --out run.png
  fedaudit check my_paper.py::li/thm1 runs.npz L=10 mu=1 E=5 --json
Beside each constant: how generous it is, so that the run would still meet the bound with a better one. Of several runs
the mean is compared, and limits of the expectation that hold in all rounds at once (chance of error 1/1000, whatever
their law): one from below, and with --at-most one from above. What a bound needs is said, with its meaning, where it is
missing. Exit status 1 where it exceeds.
From Python, `fa.check(..., data=fa.ClientData(...))` estimates L, mu, Gamma, G and sigma from the clients' arrays.
"""


def check_arguments(sub: argparse.ArgumentParser) -> None:
    """The command's options, but for the values."""
    sub.usage = "fedaudit check ID RUN NAME=VALUE… [--at-most X] [--out FILE] [--json]"
    sub.add_argument("id", metavar="ID", help="one statement, also `my.py::id`")
    sub.add_argument("run", metavar="RUN", help="run.csv, run.npz or run.json")
    sub.add_argument("--at-most", metavar="X", help="no run's left side can be above X (an accuracy, a clipped loss)")
    sub.add_argument("--out", metavar="FILE", help="the run over its bound, as a .png, .svg or .pdf file")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def checked_run(identifier: str, run: str, texts: Sequence[str], at_most: str | None) -> Checked:
    """The answer for `NAME=VALUE` texts."""
    from fedaudit.bounds.language.symbol_values import axes_of, number

    from .api.recorded import checked

    values = {name: ",".join(map(str, axis)) for name, axis in axes_of(texts).items()}
    largest = None if at_most is None else float(number(at_most, "--at-most"))
    return checked(identifier, Path(run), values, at_most=largest)


def drawn(answer: Checked, path: Path) -> None:
    """Writes the picture of a recorded run against its bound."""
    from fedaudit.figures.drawing import draw, image

    from .running.files import write

    if path.suffix not in (".png", ".svg", ".pdf"):
        raise UserError(f"--out {path}", "a name that ends in .png, .svg or .pdf", "rename it")
    if path.is_dir() or not path.parent.is_dir():
        raise UserError(f"--out {path}", "a file in a folder that exists", "make the folder first")
    write(path, image(draw(answer.curves()), path.suffix[1:]))


CONFORM = """\
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
LOOP = '''\
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


def conform_arguments(sub: argparse.ArgumentParser) -> None:
    """The command's options, but for the values."""
    sub.usage = "fedaudit conform METHOD [RUN] [NAME=VALUE…] [--json]"
    sub.add_argument("method", metavar="METHOD", help="the id of an algorithm")
    sub.add_argument("run", nargs="?", metavar="RUN", help="run.npz, run.json, or my_loop.py::train")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def conforming_run(method: str, run: str | None, texts: Sequence[str]) -> Conformity | str:
    """The answer, or a file to begin with where no run was given."""
    from fedaudit.bounds.catalogue.discovery import file_of
    from fedaudit.bounds.language.symbol_values import axes_of

    from .api.conformance import algorithm, conformity_of

    if run is None:
        algorithm(method)  # an unknown one is refused before anybody writes a loop for it
        return LOOP.format(method=method)
    values: dict[str, Any] = {name: [float(x) for x in axis] for name, axis in axes_of(texts).items()}
    symbols = {name: axis[0] if len(axis) == 1 else axis for name, axis in values.items()}
    return conformity_of(method, _function(run) if file_of(run) else Path(run), symbols)


def _function(name: str) -> Callable[[Task], Run]:
    from fedaudit.bounds.catalogue.discovery import own_file

    path, colons, wanted = name.partition("::")
    module = own_file(path)
    chosen = getattr(module, wanted or "train", None)
    if not callable(chosen):
        functions = [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]
        expected = f"a function of a task ({', '.join(functions) or 'it defines none'})"
        raise UserError(f"{name}{'' if colons else ', which has no `train`'}", expected, f"write {path}::NAME")
    return cast("Callable[[Task], Run]", chosen)
