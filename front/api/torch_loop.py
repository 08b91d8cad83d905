"""PyTorch training loops, watched: `torch_clients` (extra `torch`).

Every step of every `torch.optim` optimiser is seen through PyTorch's own hooks, so that the loop is run as it is.
"""

# torch is an extra, so that a type checker need not find it.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import UserError

if TYPE_CHECKING:
    from fedaudit.verify.conform.recording import Array
    from fedaudit.verify.conform.tasks import Task

    from .conformance import Run

__all__ = ["model_of", "task_module", "torch_clients", "watched_steps"]

Torch: TypeAlias = Any  # something of the package torch: a module, a tensor


def torch_clients(local: Callable[..., object], *, weighted: bool = False) -> Callable[[Task], Run]:
    """A training loop for `conform` whose clients train as `local(net, batches, task, t)` does, with PyTorch.

    `net` is a `torch.nn.Module` that holds the server's model, one parameter for each array of the task; `net(batch)`
    is the client's loss there, and `batches` has `task.steps[i]` items. The optimiser is one of `torch.optim`. The
    server takes the plain mean of those that take part, or that with their share of the data.
    """
    _torch()

    def train(task: Task) -> Run:
        log, x = task.log(), task.start
        for t in range(task.rounds):
            log.server(t, x=x)
            ends: dict[int, Array] = {}
            for i in task.sample(t):
                net = task_module(task, x)
                log.client(t, i, 0, y=x)

                def seen(k: int, net: Torch = net, i: int = i, t: int = t) -> None:
                    log.client(t, i, k, y=model_of(net))

                with watched_steps(seen):
                    local(net, [i] * task.steps[i], task, t)
                ends[i] = model_of(net)
            share = {i: task.counts[i] if weighted else 1 for i in ends}
            x = sum((share[i] * end for i, end in ends.items()), np.zeros(task.dim)) / sum(share.values())
        log.server(task.rounds, x=x)
        return log.arrays()

    return train


@contextmanager
def watched_steps(seen: Callable[[int], None]) -> Generator[None]:
    """Calls `seen(k)` after the k-th step of any optimiser, k = 1, 2, ..."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    taken = 0

    def step(*_: object) -> None:
        nonlocal taken
        taken += 1
        seen(taken)

    hook = register_optimizer_step_post_hook(step)
    try:
        yield
    finally:
        hook.remove()


def task_module(task: Task, x: Array) -> Torch:
    """A module with the task's arrays as parameters, in double precision; `net(i)` is the loss of client i there.

    The loss is given by its gradient: g(w)'w with g held fixed has the gradient g(w).
    """
    torch = _torch()

    class Loss(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            ends = [int(end) for end in np.cumsum([0, *task.arrays.values()])]
            parts = [torch.tensor(x[a:b], dtype=torch.float64) for a, b in pairwise(ends)]
            self.parts = torch.nn.ParameterList([torch.nn.Parameter(part) for part in parts])

        def forward(self, client: Torch) -> Torch:
            w = torch.cat([part.reshape(-1) for part in self.parts])
            return torch.dot(torch.tensor(task.grad(int(client), w.detach().numpy()), dtype=torch.float64), w)

    return Loss()


def model_of(net: Torch) -> Array:
    """The parameters of a module as one vector."""
    parts: Iterable[Torch] = net.parameters()
    return np.concatenate([part.detach().numpy().astype(float).ravel() for part in parts])


def _torch() -> Torch:
    try:
        import torch
    except ImportError as error:
        raise UserError("no PyTorch", "torch to be installed", "run `pip install 'fedaudit[torch]'`") from error
    return torch
