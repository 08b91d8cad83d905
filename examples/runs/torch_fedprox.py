"""PyTorch and Flower, as they are: is a local loop FedProx, and is a strategy FedAvg?

    pip install 'fedaudit[torch,flower]'
    python examples/runs/torch_fedprox.py

`right` is FedProx. `recipe` adds the norm of what its square is meant to be, as a recipe in wide use does.
"""

from __future__ import annotations

from typing import Any

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


if __name__ == "__main__":
    from fedaudit.api.flower_grid import flower_strategy
    from fedaudit.api.torch_loop import torch_clients

    for loop in (right, recipe):
        print(fa.conform("fedprox", torch_clients(loop)), end="\n\n")
    print(fa.conform("fedavg", flower_strategy(strategy)))
