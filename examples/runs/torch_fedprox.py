"""PyTorch and Flower, as they are: is a local loop FedProx, and is a strategy FedAvg?

    pip install 'fedaudit[torch,flower]'
    python examples/runs/torch_fedprox.py

`right` is FedProx. `recipe` adds the norm of what its square is meant to be, as a recipe in wide use does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import fedaudit as fa


def right(net: Any, batches: list[int], task: Any, t: int) -> None:
    """A local loop of FedProx: `net(batch)` is the loss, `net` begins at the server's model."""
    import torch

    start = [parameter.detach().clone() for parameter in net.parameters()]
    optimizer = torch.optim.SGD(net.parameters(), lr=task.gamma(t))
    for batch in batches:
        optimizer.zero_grad()
        away = sum(((p - p0) ** 2).sum() for p, p0 in zip(net.parameters(), start, strict=True))
        (net(batch) + task.symbols["mu"] / 2 * away).backward()
        optimizer.step()


def recipe(net: Any, batches: list[int], task: Any, t: int) -> None:
    """The same with norms where squares belong."""
    import torch

    start = [parameter.detach().clone() for parameter in net.parameters()]
    optimizer = torch.optim.SGD(net.parameters(), lr=task.gamma(t))
    for batch in batches:
        optimizer.zero_grad()
        away = sum((p - p0).norm(2) for p, p0 in zip(net.parameters(), start, strict=True))
        (net(batch) + task.symbols["mu"] / 2 * away).backward()
        optimizer.step()


def strategy(task: Any) -> Any:
    """Flower's FedAvg, with all clients in every round."""
    from flwr.serverapp.strategy import FedAvg

    return FedAvg(fraction_evaluate=0.0, min_available_nodes=task.clients, min_train_nodes=task.clients)


def client_app(task: Any) -> Any:
    """A `ClientApp` of Flower that takes plain gradient steps."""
    from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp

    app = ClientApp()
    rounds = dict.fromkeys(range(task.clients), 0)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        i = int(context.node_config["partition-id"])
        sent = message.content["arrays"]
        y = np.concatenate([part.numpy().ravel() for part in sent.values()])
        for _ in range(task.steps[i]):
            y = y - task.gamma(rounds[i]) * task.grad(i, y)
        rounds[i] += 1
        ends = np.cumsum([part.numpy().size for part in sent.values()])[:-1]
        parts = {name: Array(part) for name, part in zip(sent, np.split(y, ends), strict=True)}
        metrics = MetricRecord({"num-examples": task.counts[i]})
        return Message(RecordDict({"arrays": ArrayRecord(parts), "metrics": metrics}), reply_to=message)

    return app


if __name__ == "__main__":
    from fedaudit.api.flower_grid import flower_strategy
    from fedaudit.api.torch_loop import torch_clients

    for loop in (right, recipe):
        print(fa.conform("fedprox", torch_clients(loop)), end="\n\n")
    print(fa.conform("fedavg", flower_strategy(strategy)), end="\n\n")
    print(fa.conform("fedavg", flower_strategy(strategy, app=client_app)))
