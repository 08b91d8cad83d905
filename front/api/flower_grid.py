"""Flower strategies, run in this process and written down: `flower_strategy` (extra `flower`).

A strategy of Flower talks to its clients through a grid. The one here answers with clients of a task, one after the
other, and keeps what the server sent and got. No network, no subprocess; the strategy is the installed one.
"""

# flwr is an extra, so that a type checker need not find it.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import UserError

if TYPE_CHECKING:
    from collections.abc import Generator

    from fedaudit.verify.conform.recording import Array
    from fedaudit.verify.conform.run_log import RunLog
    from fedaudit.verify.conform.tasks import Task

    from .conformance import Run

__all__ = ["flower_strategy"]

Flower: TypeAlias = Any  # something of the package flwr
Config: TypeAlias = dict[str, object]  # what the strategy sends beside the model
Local: TypeAlias = "Callable[[Task, int, int, Array, Config], Array]"  # task, client, round, the server's model


def flower_strategy(
    make: Callable[[Task], Flower], local: Local | None = None, app: Callable[[Task], Flower] | None = None
) -> Callable[[Task], Run]:
    """A training loop for `conform` whose server is a strategy of Flower, `make(task)`.

    The clients take plain gradient steps, or train as `local(task, i, t, x, config)` says, which returns the model that
    client i sends back in round t; or they are the `ClientApp` of Flower that `app(task)` makes, whose context has the
    client's number as `node_config["partition-id"]`. All clients take part in every round.
    """

    def train(task: Task) -> Run:
        return _run(make(task), task, local, None if app is None else app(task))

    return train


def _run(strategy: Flower, task: Task, local: Local | None, app: Flower) -> Run:
    try:
        from flwr.app import ArrayRecord
    except ImportError as error:
        raise UserError("no Flower", "flwr to be installed", "run `pip install 'fedaudit[flower]'`") from error
    log = task.log()
    grid = _Grid(task, log, local, app)
    models = [task.start.copy()]
    aggregate = strategy.aggregate_train

    def watched(server_round: int, replies: Iterable[Flower]) -> Flower:
        arrays, metrics = aggregate(server_round, replies)
        models.append(_flat(arrays.to_numpy_ndarrays()))
        return arrays, metrics

    strategy.aggregate_train = watched
    first = {name: task.start[block].copy() for name, block in _blocks(task).items()}
    with _silent(), _identity():
        strategy.start(grid=grid, initial_arrays=ArrayRecord(_arrays(first)), num_rounds=task.rounds)
    if len(models) != task.rounds + 1:
        got = f"a strategy that aggregated {len(models) - 1} times"
        raise UserError(got, f"{task.rounds} rounds", "let all nodes take part: min_available_nodes, fraction_train")
    for t, x in enumerate(models):
        log.server(t, x=x)
    return log.arrays()


class _Grid:
    """A grid in this process: its nodes are the clients of a task, every message is answered at once."""

    def __init__(self, task: Task, log: RunLog, local: Local | None, app: Flower) -> None:
        self.task, self.log, self.local, self.app = task, log, local, app
        self.t = 0
        self.run = None

    def set_run(self, run: Flower) -> None:
        self.run = run

    def get_node_ids(self) -> list[int]:
        return list(range(1, self.task.clients + 1))

    def send_and_receive(self, messages: Iterable[Flower], *, timeout: float | None = None) -> list[Flower]:
        from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict

        del timeout
        replies: list[Flower] = []
        drawn: list[int] = []
        for message in messages:
            i = message.metadata.dst_node_id - 1
            if not message.metadata.message_type.startswith("train"):
                # Strategies evaluate too: nothing of that is compared, but their means divide by these counts.
                replies.append(Message(RecordDict({"metrics": MetricRecord({"num-examples": 1})}), reply_to=message))
                continue
            if self.app is not None:
                reply = self.app(message, _context(i))
                self.log.ended(self.t, i, y=_flat(reply.content["arrays"].to_numpy_ndarrays()))
                drawn.append(i)
                replies.append(reply)
                continue
            sent = message.content["arrays"]
            x = _flat(sent.to_numpy_ndarrays())
            config = dict(message.content.get("config", {}))
            y = self.steps(i, x) if self.local is None else self.local(self.task, i, self.t, x, config)
            if self.local is not None:
                self.log.ended(self.t, i, y=y)
            drawn.append(i)
            parts = {name: np.asarray(y)[block] for name, block in _blocks(self.task).items()}
            metrics = MetricRecord({"num-examples": int(self.task.counts[i])})
            content = RecordDict({"arrays": ArrayRecord(_arrays(parts)), "metrics": metrics})
            replies.append(Message(content, reply_to=message))
        # A strategy sends messages twice a round, to train and to evaluate; only training makes a round.
        if drawn:
            self.log.drawn(self.t, drawn)
            self.t += 1
        return replies

    def steps(self, i: int, x: Array) -> Array:
        y = x
        self.log.client(self.t, i, 0, y=y)
        for k in range(self.task.steps[i]):
            y = y - self.task.gamma(self.t) * self.task.grad(i, y)
            self.log.client(self.t, i, k + 1, y=y)
        return y


def _context(i: int) -> Flower:
    from flwr.app import Context, RecordDict

    return Context(run_id=1, node_id=i + 1, node_config={"partition-id": i}, state=RecordDict(), run_config={})


def _blocks(task: Task) -> dict[str, slice]:
    ends = np.cumsum([0, *task.arrays.values()])
    return {name: slice(int(a), int(b)) for name, a, b in zip(task.arrays, ends, ends[1:], strict=False)}


def _arrays(parts: Mapping[str, Array]) -> Flower:
    from flwr.app import Array as FlowerArray

    return {name: FlowerArray(np.ascontiguousarray(part)) for name, part in parts.items()}


def _flat(parts: Iterable[Flower]) -> Array:
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


@contextmanager
def _silent() -> Generator[None]:
    """Keeps Flower's own log of the run silent."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _identity() -> Generator[None]:
    """Messages of Flower carry who made them; a process of its own has no such name, and gets one here."""
    try:
        from flwr.supercore.task_identity import TaskIdentity
    except ImportError:  # older versions do not ask
        yield
        return
    unset: list[str] = []
    for name in ("task_id", "run_id", "node_id"):
        try:
            getattr(TaskIdentity, name)
        except RuntimeError:  # as Flower says that it has none
            unset.append(name)
            setattr(TaskIdentity, name, 1)
    try:
        yield
    finally:
        for name in unset:
            setattr(TaskIdentity, name, None)
