"""What released federated code is, by `fedaudit conform`: the table of `make conform`.

The server's strategies of Flower, the recipe in the docstring of its FedProx, servers and clients of FedLab, and FedJAX
are run on the tasks of `conform`, as they are installed. What is not installed is said, and the others go on.
"""

from __future__ import annotations

import copy
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np

import fedaudit as fa
from fedaudit.api.flower_grid import flower_strategy
from fedaudit.api.torch_loop import model_of, task_module, torch_clients, watched_steps

Train = Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Case:
    package: str
    what: str
    method: str
    train: Callable[[], Train]
    tolerance: float | None = None  # of code that computes its weights in single precision


def everyone(task: Any) -> dict[str, Any]:
    return {"fraction_evaluate": 0.0, "min_available_nodes": task.clients, "min_train_nodes": task.clients}


def flower_fedavg() -> Train:
    from flwr.serverapp.strategy import FedAvg

    return flower_strategy(lambda task: FedAvg(**everyone(task)))


def flower_fedadam() -> Train:
    from flwr.serverapp.strategy import FedAdam

    names = ("eta", "beta_1", "beta_2", "tau")
    return flower_strategy(lambda task: FedAdam(**everyone(task), **{name: task.symbols[name] for name in names}))


def flower_fedavgm() -> Train:
    from flwr.serverapp.strategy import FedAvgM

    def make(task: Any) -> Any:
        rates = {"server_learning_rate": task.symbols["eta"], "server_momentum": task.symbols["beta"]}
        return FedAvgM(**everyone(task), **rates)

    return flower_strategy(make)


def fedprox_recipe(*, kept: bool) -> Train:
    """The loop in the docstring of Flower's FedProx; `kept`: with the global parameters in a list."""
    import torch

    def local(net: Any, batches: list[int], task: Any, t: int) -> None:
        mu = task.symbols["mu"]
        # `parameters()` is a generator, which the first batch empties: from then on the recipe has no proximal term.
        global_params: Any = copy.deepcopy(net).parameters()
        if kept:
            global_params = list(global_params)
        optimizer = torch.optim.SGD(net.parameters(), lr=task.gamma(t))
        for batch in batches:
            optimizer.zero_grad()
            proximal_term = 0.0
            for local_weights, global_weights in zip(net.parameters(), global_params):  # noqa: B905
                # A norm without a square, as the docstring has it.
                proximal_term += (local_weights - global_weights).norm(2)
            loss = net(batch) + (mu / 2) * proximal_term
            loss.backward()
            optimizer.step()

    return torch_clients(local)


@dataclass
class Batches:
    """A data set as FedLab's trainers ask for it: of client i, `batches[i]` batches, each of which is its number."""

    task: Any
    current: int = -1
    order: list[int] = field(default_factory=list)

    def get_dataloader(self, i: int, batch_size: int) -> list[tuple[int, int]]:
        del batch_size
        self.current = i
        return [(i, 0)] * self.task.batches[i]


def without_torchvision() -> None:
    """Puts an empty module in the place of a torchvision that cannot be imported, or was built for another torch.

    FedLab imports it with its algorithms, for data sets that it would download; no algorithm calls it.
    """
    try:
        importlib.import_module("torchvision")
    except (ImportError, RuntimeError):
        empty = ModuleType("torchvision")
        empty.__dict__["transforms"] = empty
        sys.modules["torchvision"] = empty


def fedlab(name: str, server_rates: tuple[str, ...], client_rates: tuple[str, ...], sends: str = "x") -> Train:
    """A server and a trainer of FedLab; `sends`: what the server keeps besides the model."""
    without_torchvision()
    module = importlib.import_module(f"fedlab.contrib.algorithm.{name}")
    handler = next(v for k, v in vars(module).items() if k.lower() == f"{name}serverhandler")
    trainer_type = next(v for k, v in vars(module).items() if k.lower() == f"{name}serialclienttrainer")

    def train(task: Any) -> Mapping[str, Any]:
        log, data = task.log(), Batches(task)
        net = task_module(task, task.start)
        server = handler(net, task.rounds, len(task.sample(0)) / task.clients)
        server.num_clients = task.clients
        with suppress(NotImplementedError):  # of servers that have nothing to set up
            server.setup_optim(*(task.symbols[rate] for rate in server_rates))
        trainer = trainer_type(net, task.clients)
        trainer.num_clients = task.clients
        trainer.setup_dataset(data)
        trainer.setup_optim(task.epochs, 1, task.gamma(0), *(task.symbols[rate] for rate in client_rates))
        trainer.criterion = lambda output, target: output
        for t in range(task.rounds):
            x = server.model_parameters.clone()
            kept = {"c": server.global_c.numpy()} if sends == "c" else {}
            log.server(t, x=x.numpy(), **kept)
            log.drawn(t, task.sample(t))
            trainer.lr = task.gamma(t)
            for group in trainer.optimizer.param_groups:
                group["lr"] = task.gamma(t)
            buffer: list[Any] = []
            for i in task.sample(t):
                log.client(t, i, 0, y=x.numpy())

                def seen(k: int, i: int = i, t: int = t) -> None:
                    log.client(t, i, k, y=model_of(trainer.model))

                payload = [x.clone(), server.global_c.clone()] if sends == "c" else [x.clone()]
                with watched_steps(seen):
                    trainer.local_process(payload, [i])
                buffer += trainer.uplink_package
                if sends == "c":
                    log.ended(t, i, c_i=trainer.cs[i].numpy())
            server.global_update(buffer)
        log.server(task.rounds, x=server.model_parameters.numpy())
        if sends == "c":
            log.server(task.rounds, c=server.global_c.numpy())
        return log.arrays()

    return train


def fedjax(algorithm: str) -> Train:
    """FedAvg or FedProx of FedJAX: the server's models alone are recorded, the local steps follow from them."""
    import fedjax as library
    import jax
    import jax.numpy as jnp
    from fedjax.algorithms import fed_avg, fed_prox

    jax.config.update("jax_enable_x64", True)
    library.set_for_each_client_backend("debug")

    def train(task: Any) -> Mapping[str, Any]:
        gamma, batches = task.gamma(0), library.ShuffleRepeatBatchHParams(batch_size=10, num_epochs=1)

        def slope(i: Any, w: Any) -> Any:
            return jax.pure_callback(
                lambda i, w: np.asarray(task.grad(int(i), np.asarray(w))), jax.ShapeDtypeStruct(w.shape, w.dtype), i, w
            )

        def loss(params: Any, batch: Any, rng: Any) -> Any:
            w, i = params["w"], batch["i"]
            # A loss by its gradient: g(w)'w with g held fixed has the gradient g(w).
            held = jax.lax.stop_gradient(slope(i[0], jax.lax.stop_gradient(w)))
            return jnp.full(i.shape, 1.0) * jnp.dot(held, w)

        def grad(params: Any, batch: Any, rng: Any) -> Any:
            return {"w": slope(batch["i"][0], params["w"])}

        local, server = library.optimizers.sgd(gamma), library.optimizers.sgd(1.0)
        if algorithm == "fedprox":
            made = fed_prox.fed_prox(loss, local, server, batches, task.symbols["mu"])
        else:
            made = fed_avg.federated_averaging(grad, local, server, batches)
        data = [library.ClientDataset({"i": np.full(n, i)}) for i, n in enumerate(task.counts)]
        state, x = made.init({"w": jnp.asarray(task.start)}), [np.asarray(task.start)]
        for t in range(task.rounds):
            clients = [(b"%d" % i, data[i], jax.random.PRNGKey(0)) for i in task.sample(t)]
            state, _ = made.apply(state, clients)
            x.append(np.asarray(state.params["w"]))
        steps = [len(list(each.shuffle_repeat_batch(batches))) for each in data]
        return {"x": np.stack(x), "steps": steps, "gamma": gamma}

    return train


SINGLE = 1e-6  # FedLab's weights are float32
CASES = (
    Case("flwr", "FedAvg, the strategy", "fedavg", flower_fedavg),
    Case("flwr", "FedAdam, the strategy", "fedadam", flower_fedadam),
    Case("flwr", "FedAvgM, the strategy", "fedavgm", flower_fedavgm),
    Case("flwr", "FedProx, the recipe in its docstring", "fedprox", lambda: fedprox_recipe(kept=False)),
    Case("flwr", "the same, global parameters in a list", "fedprox", lambda: fedprox_recipe(kept=True)),
    Case("fedlab", "FedProx", "fedprox", lambda: fedlab("fedprox", (), ("mu",)), SINGLE),
    Case("fedlab", "SCAFFOLD", "scaffold", lambda: fedlab("scaffold", ("eta_g",), (), sends="c"), SINGLE),
    Case("fedlab", "FedDyn", "feddyn", lambda: fedlab("feddyn", ("alpha",), ("alpha",)), SINGLE),
    Case("fedjax", "FedAvg", "fedavg", lambda: fedjax("fedavg")),
    Case("fedjax", "FedProx", "fedprox", lambda: fedjax("fedprox")),
    Case("fedlab", "FedNova", "fednova", lambda: fedlab("fednova", (), ()), SINGLE),
)


def rows() -> Iterator[str]:
    for case in CASES:
        try:
            installed = version(case.package)
            answer = fa.conform(case.method, case.train(), tolerance=case.tolerance)
        except Exception as error:  # of another package: whatever it fails with is said, and the others go on
            yield f"{case.package:7} {'':8} {case.what}: not run ({type(error).__name__}: {str(error).splitlines()[0]})"
            continue
        yield f"{case.package:7} {installed:8} {case.what}: {'conforms' if answer.conforms else 'DIFFERS'}"
        if not answer.conforms:
            yield from (f"    {line}" for line in list(answer.lines())[1:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # those of other packages, at import
    np.seterr(all="ignore")
    for line in rows():
        print(line)
        sys.stdout.flush()
