"""`fa.conform`: is this code the stated algorithm?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import UserError, cut

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fedaudit.bounds.algorithms.stated import Stated
    from fedaudit.bounds.language.method import Method
    from fedaudit.verify.conform.diagnosis import Conformity
    from fedaudit.verify.conform.recording import Array, Losses
    from fedaudit.verify.conform.tasks import Task

__all__ = ["conform", "stated_algorithms", "tasks"]

Run: TypeAlias = Mapping[str, object]  # arrays and scalars by name, as a stranger's file has them
Gradient: TypeAlias = "Callable[[int, Array], ArrayLike]"  # of client i's loss at w
COUNTED = ("E", "C", "m", "T", "E_mean", "t", "k", "i")  # what every run has, so that nobody gives it


@cache
def stated_algorithms() -> dict[str, Stated]:
    """The algorithms that code can be compared with, by id."""
    import importlib
    import pkgutil

    from fedaudit.bounds import algorithms
    from fedaudit.bounds.algorithms.stated import Stated

    boxes: dict[str, Stated] = {}
    for info in pkgutil.iter_modules(algorithms.__path__):
        module = importlib.import_module(f"{algorithms.__name__}.{info.name}")
        boxes |= {box.method.id: box for box in vars(module).values() if isinstance(box, Stated)}
    return boxes


def tasks() -> tuple[Task, ...]:
    """The small problems that `conform` hands to a training loop.

    >>> import fedaudit as fa
    >>> [task.name for task in fa.tasks()]
    ['quadratics', 'huber', 'logistic']
    """
    from fedaudit.verify.conform.tasks import tasks as shipped

    return shipped()


def conform(
    method: Method | str,
    run: Run | str | os.PathLike[str] | Callable[[Task], Run],
    *,
    grad: Gradient | None = None,
    tolerance: float | None = None,
    **symbols: object,
) -> Conformity:
    """Is this run, or this training loop, the stated algorithm? Where not: the first rule that differs, and what it is.

    `method`: the id of a shipped algorithm ("fedavg", "fedprox", "scaffold", ...), of one in the catalogue, or a
    `Method`. `run`: arrays by the names of the method's vectors, a .npz or .json file of them, or a function of a task
    that trains on it and returns such arrays. `grad(i, w)`: gradients of the clients' losses, where the run does not
    hold them. `symbols`: step sizes and parameters, where the run does not hold them. `tolerance`: differences up to
    this part of a vector's size are rounding: 1e-10 for arrays of float64 and 1e-4 for float32, unless it is given
    (code that computes in single precision and returns float64 needs about 1e-6).

    >>> import fedaudit as fa
    >>> def train(task):
    ...     log, x = task.log(), task.start
    ...     for t in range(task.rounds):
    ...         log.server(t, x=x)
    ...         ends = {}
    ...         for i in task.sample(t):
    ...             y = x
    ...             for _ in range(task.steps[i]):
    ...                 y = y - task.gamma(t) * task.grad(i, y)
    ...             ends[i] = y
    ...             log.ended(t, i, y=y)
    ...         x = sum(ends.values()) / len(ends)  # every client the same
    ...     log.server(task.rounds, x=x)
    ...     return log.arrays()
    >>> found = fa.conform("fedavg", train)
    >>> found.conforms, found.deviations
    (False, ('weights',))
    >>> print(found.explanations[0])
    the mean of y is over the sampled clients, each the same
    """
    return conformity_of(method, run, symbols, grad, tolerance)


def conformity_of(
    method: Method | str,
    run: Run | str | os.PathLike[str] | Callable[[Task], Run],
    symbols: Mapping[str, object],
    grad: Gradient | None = None,
    tolerance: float | None = None,
) -> Conformity:
    """The answer of `conform`, with symbols as a mapping: their names may be those of its arguments."""
    from fedaudit.verify.recorded.trajectory import read_arrays

    box = algorithm(method)
    _known(box.method, symbols)
    if callable(run):
        return _trained(box, run, symbols, tolerance)
    if isinstance(run, str | os.PathLike):
        path = Path(run)
        return _compared(box, {path.name: ({**read_arrays(path), **symbols}, _losses(grad))}, tolerance)
    return _compared(box, {"": ({**run, **symbols}, _losses(grad))}, tolerance)


def algorithm(given: Method | str) -> Stated:
    """The stated algorithm of this name, or the method itself."""
    from fedaudit.bounds.algorithms.stated import Stated
    from fedaudit.bounds.catalogue.discovery import file_of, find_methods
    from fedaudit.bounds.language.method import Method

    if isinstance(given, Method):
        return Stated(given)
    boxes = stated_algorithms()
    if given in boxes:
        return boxes[given]
    try:
        methods = find_methods([given])
    except UserError as error:
        if file_of(given):
            raise
        raise UserError(
            repr(given), f"one of {', '.join(boxes)}, or a method of `fedaudit methods`", "name one"
        ) from error
    if len(methods) != 1:
        raise UserError(f"{given}, which names {len(methods)} methods", "one id", "`fedaudit methods` lists them")
    return Stated(methods[0][1])


def _losses(grad: Gradient | None) -> Losses | None:
    import numpy as np

    from fedaudit.verify.conform.recording import Losses

    if grad is None:
        return None
    return Losses(lambda w: np.stack([np.asarray(grad(i, w[i]), dtype=float) for i in range(len(w))]))


def _compared(box: Stated, runs: Mapping[str, tuple[Run, Losses | None]], tolerance: float | None) -> Conformity:
    from fedaudit.bounds.formulas.lowering import tree
    from fedaudit.verify.conform.diagnosis import conformity
    from fedaudit.verify.conform.recording import recording_of

    method = box.method
    if method.clock != "rounds":
        raise UserError(f"{method.id}, whose t counts local steps", "a method round by round", "take another method")
    names = {v.name: True for v in method.server} | {v.name: False for v in method.client}
    for raw, _ in runs.values():
        _named(method, names, raw)
    data = {**method.data(tree, ()), "everyone": box.everyone}
    recordings = {name: recording_of(raw, names, losses) for name, (raw, losses) in runs.items()}
    if tolerance is not None:
        if not 0 < tolerance < 1:
            raise UserError(f"tolerance={tolerance}", "a part of a vector's size, such as 1e-6", "give another one")
        recordings = {name: replace(run, tolerance=tolerance) for name, run in recordings.items()}
    answer = conformity(data, recordings, sampling=box.sampling)
    if not answer.checked:
        lacking = "; ".join(f"{rule} reads {what}" for rule, what in answer.unchecked.items()) or "no entry is a number"
        raise UserError(f"a run of which no rule can be compared ({lacking})", "numbers to compare", "record more")
    return answer


def _needed(method: Method) -> list[str]:
    """The scalars of a method's rules, by name."""
    from sympy import Symbol
    from sympy.core.function import AppliedUndef

    needed: dict[str, None] = {}
    for expr in method.scalars(()):
        inside = {s for q in expr.atoms(AppliedUndef) for s in q.free_symbols}
        needed |= dict.fromkeys(sorted(str(q.func) for q in expr.atoms(AppliedUndef)))
        needed |= dict.fromkeys(sorted(str(s) for s in expr.atoms(Symbol) if s not in inside))
    return list(needed)


def _known(method: Method, symbols: Mapping[str, object]) -> None:
    """Raises `UserError` for a name that neither the rules nor a recorded run have."""
    from fedaudit.verify.conform.recording import OWN

    vectors = [v.name for v in (*method.server, *method.client)]
    names = [name for name in _needed(method) if name not in COUNTED]
    for name in symbols:
        if name not in (*names, *vectors, *OWN, "epochs", "batches"):
            raise UserError(f"{name}, which {method.id} does not know", f"one of {', '.join(names)}", "leave it out")


def _named(method: Method, names: Mapping[str, bool], raw: Run) -> None:
    """Raises `UserError` where the run lacks a scalar that the rules read."""
    letters = {str(letter): name for letter, name in method.names.items()}
    recorded = {*COUNTED, *raw, *letters}
    missing = [name for name in _needed(method) if name not in recorded]
    if missing:
        meanings = {str(symbol): entry.meaning for symbol, entry in method.glossary.items()}
        said = ", ".join(f"{name} ({meanings.get(name, 'a scalar of its rules')})" for name in missing)
        vectors = ", ".join(names)
        raise UserError(
            f"a run of {method.id} without {', '.join(missing)}", f"{said}, beside {vectors}", f"add {missing[0]}=…"
        )


def _trained(
    box: Stated, train: Callable[[Task], Run], symbols: Mapping[str, object], tolerance: float | None
) -> Conformity:
    """The runs of all tasks: what explains one of them has to explain them all."""
    runs: dict[str, tuple[Run, Losses | None]] = {}
    for task in tasks():
        own = replace(task, symbols={**task.symbols, **symbols})
        try:
            arrays: Any = train(own)
        except UserError:
            raise
        except Exception as error:  # of somebody's loop: it is theirs to mend, and the traceback is kept behind it
            got = f"a training loop that raised {type(error).__name__} ({cut(str(error), 80)}) on {own.name}"
            raise UserError(got, "one that trains on every task", "mend it") from error
        if not isinstance(arrays, Mapping):
            expected = "arrays by name, as `task.log().arrays()` gives them"
            raise UserError(f"a training loop that returns {type(arrays).__name__}", expected, "return them")
        runs[own.name] = {**own.told(), **cast("Run", arrays)}, own.losses
    return _compared(box, runs, tolerance)
