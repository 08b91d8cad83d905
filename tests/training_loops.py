"""Training loops as somebody might write them, by hand and in plain loops: right ones, and ones with a known slip.

None of them knows anything of fedaudit but the task that it is given. A slip is a word; `tests/verify/test_conform.py`
says where it was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = Any
Train = Callable[[Any], Mapping[str, Any]]


def rounds(task: Any, one: Callable[[Any, int, Array], Array], x: Array | None = None) -> Mapping[str, Any]:
    """`one(log, t, x)` is a round; returns the recorded run."""
    log = task.log()
    x = task.start if x is None else x
    for t in range(task.rounds):
        log.server(t, x=x)
        x = one(log, t, x)
    log.server(task.rounds, x=x)
    return log.arrays()


def descent(
    task: Any, log: Any, t: int, i: int, x: Array, slope: Callable[[Array, Array], Array], steps: int = 0
) -> Array:
    """Local steps with `slope(y, y one step earlier)`."""
    y = previous = x
    log.client(t, i, 0, y=y)
    for k in range(steps or task.steps[i]):
        y, previous = y - task.gamma(t) * slope(y, previous), y
        log.client(t, i, k + 1, y=y)
    return y


def mean(
    task: Any, t: int, ends: Mapping[int, Array], how: str = "shares", idle: Mapping[int, Array] | None = None
) -> Array:
    who = task.sample(t)
    if how == "equal":
        return sum(ends[i] for i in who) / len(who)
    if how == "first twice":
        total = ends[who[0]]
        for i in who:
            total = total + ends[i]
        return total / len(who)
    if how == "all":
        assert idle is not None
        return sum({**idle, **ends}.values()) / task.clients
    if how == "not normalised":
        return sum(task.weights[i] * ends[i] for i in who)
    return sum(task.counts[i] * ends[i] for i in who) / sum(task.counts[i] for i in who)


def fedavg(slip: str = "") -> Train:
    how = slip if slip in ("equal", "first twice", "all", "not normalised") else "shares"

    def train(task: Any) -> Mapping[str, Any]:
        last: dict[int, Array] = dict.fromkeys(range(task.clients), task.start)

        def one(log: Any, t: int, x: Array) -> Array:
            ends: dict[int, Array] = {}
            for i in task.sample(t):
                start = last[i] if slip == "own start" else x
                steps = task.steps[i] * task.batches[i] if slip == "epochs for steps" else 0
                ends[i] = descent(task, log, t, i, start, lambda y, _, i=i: task.grad(i, y), steps)
            new = mean(task, t, ends, how, last)
            last.update(ends)
            if slip == "buffers":
                new = np.concatenate([new[:2], x[2:]])
            if slip == "buffers of the first":
                new = np.concatenate([new[:2], ends[task.sample(t)[0]][2:]])
            return new

        return rounds(task, one)

    return train


def fedprox(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        mu = task.symbols["mu"]

        def slope(i: int, x: Array, y: Array, previous: Array) -> Array:
            g, away = task.grad(i, y), y - x
            size = np.linalg.norm(away[:2]), np.linalg.norm(away[2:])
            units = np.concatenate(
                [part / s if s else part for part, s in zip((away[:2], away[2:]), size, strict=True)]
            )
            return {
                "": g + mu * away,
                "two": g + mu * away,
                "norm": g + mu / 2 * units,
                "lost": g,
                "twice": g + 2 * mu * away,
                "no factor mu": g + away,
                "sign": g - mu * away,
                "previous": g + mu * (y - previous),
                "mean": g + mu * away,
                "norm and mean": g + mu / 2 * units,
                "sign and first twice": g - mu * away,
            }[slip]

        def one(log: Any, t: int, x: Array) -> Array:
            ends = {i: descent(task, log, t, i, x, lambda y, p, i=i: slope(i, x, y, p)) for i in task.sample(t)}
            how = {"mean": "shares", "norm and mean": "shares", "sign and first twice": "first twice"}.get(
                slip, "equal"
            )
            return mean(task, t, ends, how)

        return rounds(task, one)

    return train


def scaffold(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        eta_g, C = task.symbols["eta_g"], task.clients
        rng = np.random.default_rng(5)
        c = rng.normal(size=task.dim) if slip == "random c" else np.zeros(task.dim)
        own: dict[int, Array] = {i: np.zeros(task.dim) for i in range(C)}
        log, x = task.log(), task.start
        for t in range(task.rounds):
            log.server(t, x=x, c=c)
            who, gamma = task.sample(t), task.gamma(t)
            ends: dict[int, Array] = {}
            changes: list[Array] = []
            for i in who:
                sign = {"sign": -1, "sign and sends c_i": -1, "three": -1, "sends c_i, own local steps": 0.37}.get(
                    slip, 1
                )
                y = ends[i] = descent(
                    task, log, t, i, x, lambda y, _, i=i, s=sign, c=c: task.grad(i, y) + s * (c - own[i])
                )
                factor = {
                    "one epoch": 1 / (task.batches[i] * gamma),
                    "1/epochs": 1 / task.epochs,
                    "no step size": 1 / task.steps[i],
                    "three": 1 / task.steps[i],
                }.get(slip, 1 / (task.steps[i] * gamma))
                new = own[i] - c + factor * (x - y)
                changes.append(new if "sends c_i" in slip or slip == "three" else new - own[i])
                own[i] = new
                log.ended(t, i, c_i=new)
            x = x + eta_g * sum(ends[i] - x for i in who) / len(who)
            c = c + sum(changes) / (len(who) if slip == "|S| for N" else C)
        log.server(task.rounds, x=x, c=c)
        return log.arrays()

    return train


def fednova(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        def one(log: Any, t: int, x: Array) -> Array:
            who, gamma = task.sample(t), task.gamma(t)
            n = sum(task.counts[i] for i in who)
            d: dict[int, Array] = {}
            for i in who:
                y = descent(task, log, t, i, x, lambda y, _, i=i: task.grad(i, y))
                d[i] = (x - y) / (gamma if slip == "not normalised" else gamma * task.steps[i])
            tau = sum(task.counts[i] * task.steps[i] for i in who) / n
            if slip in ("plain mean of tau", "as in fedlab"):
                tau = sum(task.steps[i] for i in who) / len(who)
            if slip == "scaled again":
                return x - tau * gamma * sum(task.counts[i] * d[i] for i in who) / n * task.clients / len(who)
            if slip == "as in fedlab":
                return x - tau * gamma * sum(d[i] / len(who) for i in who) * task.clients / len(who)
            return x - tau * gamma * sum(task.counts[i] * d[i] for i in who) / n

        return rounds(task, one)

    return train


def changes(task: Any, log: Any, t: int, x: Array) -> Array:
    """The mean change of FedAvg's clients."""
    ends = {i: descent(task, log, t, i, x, lambda y, _, i=i: task.grad(i, y)) for i in task.sample(t)}
    return mean(task, t, ends) - x


def fedadam(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        b1, b2, eta, tau = (task.symbols[name] for name in ("beta_1", "beta_2", "eta", "tau"))
        m = np.zeros(task.dim)
        v = np.full(task.dim, 0.0 if slip in ("v starts at 0", "corrected, v starts at 0") else tau**2)

        def one(log: Any, t: int, x: Array) -> Array:
            nonlocal m, v
            delta = changes(task, log, t, x)
            m = b1 * m + (1 - b1) * delta
            v = b2 * v + (1 - b2) * delta**2
            step = eta
            if slip in ("corrected", "corrected, v starts at 0"):
                step = eta * np.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1))
            if slip == "corrected late":
                step = eta * np.sqrt(1 - b2 ** (t + 2)) / (1 - b1 ** (t + 2))
            return x + step * (delta if slip == "change for m" else m) / (np.sqrt(v) + tau)

        return rounds(task, one)

    return train


def fedavgm(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        beta, eta = task.symbols["beta"], task.symbols["eta"]
        m = np.zeros(task.dim)

        def one(log: Any, t: int, x: Array) -> Array:
            nonlocal m
            delta = changes(task, log, t, x)
            m = beta * m + ((1 - beta) * delta if slip == "damped" else delta)
            if slip == "plain":
                return x + eta * m
            return x + eta * (delta + beta * m)

        return rounds(task, one)

    return train


def feddyn(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        alpha, C = task.symbols["alpha"], task.clients
        own: dict[int, Array] = {i: np.zeros(task.dim) for i in range(C)}
        h = np.zeros(task.dim)

        def one(log: Any, t: int, x: Array) -> Array:
            nonlocal h
            who = task.sample(t)
            ends: dict[int, Array] = {}
            for i in who:
                pull = {"quadratic lost": lambda y: -alpha * x, "penalty lost": lambda y: 0 * y}.get(
                    slip, lambda y: alpha * (y - x)
                )
                y = ends[i] = descent(task, log, t, i, x, lambda y, _, i=i, p=pull: task.grad(i, y) - own[i] + p(y))
                own[i] = own[i] - alpha * (y - x)
            if slip == "sum minus one":
                h = h - alpha / C * (sum(ends.values()) - x)
            else:
                h = h - alpha / (len(who) if slip == "|S| for N" else C) * sum(y - x for y in ends.values())
            return mean(task, t, ends, "equal") - h / alpha

        return rounds(task, one)

    return train


def per_fedavg(slip: str = "", hessian: bool = True) -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        alpha, beta = task.symbols["alpha"], task.symbols["beta"]

        def one(log: Any, t: int, x: Array) -> Array:
            ends: dict[int, Array] = {}
            for i in task.sample(t):
                y = x
                log.client(t, i, 0, y=y)
                for k in range(task.steps[i]):
                    moved = y - alpha * task.grad(i, y)
                    there = task.grad(i, moved)
                    if hessian and slip != "first order":
                        there = there - alpha * task.hess(i, y, there)
                    y = (moved if slip == "moved" else y) - beta * there
                    log.client(t, i, k + 1, y=y)
                ends[i] = y
            return mean(task, t, ends, "equal")

        return rounds(task, one)

    return train


def pfedme(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        lam, eta, beta = (task.symbols[name] for name in ("lambda", "eta", "beta"))
        theta: dict[int, Array] = dict.fromkeys(range(task.clients), task.start)

        def one(log: Any, t: int, x: Array) -> Array:
            ends: dict[int, Array] = {}
            for i in range(task.clients):
                if slip != "only the sampled" or i in task.sample(t):
                    y = x
                    for _ in range(task.steps[i]):
                        theta[i] = task.prox(i, y, 1 / lam)
                        y = y - eta * lam * (y - theta[i])
                    ends[i] = y
                log.ended(t, i, theta=theta[i])
            return (1 - beta) * x + beta * mean(task, t, ends, "equal")

        return rounds(task, one)

    return train


def feddr(slip: str = "") -> Train:
    def train(task: Any) -> Mapping[str, Any]:
        eta, alpha, kappa = (task.symbols[name] for name in ("eta", "alpha", "kappa"))
        u: dict[int, Array] = dict.fromkeys(range(task.clients), task.start)
        z: dict[int, Array] = dict.fromkeys(range(task.clients), task.start)
        sent: dict[int, Array] = dict.fromkeys(range(task.clients), task.start)

        def one(log: Any, t: int, x: Array) -> Array:
            for i in task.sample(t):
                u[i] = u[i] + alpha * (x - z[i])
                z[i] = task.prox(i, u[i], eta)
                sent[i] = 2 * z[i] - u[i]
                log.ended(t, i, y=sent[i])
            whole = sum(task.weights[i] * sent[i] for i in range(task.clients))
            if slip == "prox of the norm":
                return whole * max(0.0, 1 - eta * kappa / np.linalg.norm(whole))
            return whole / (1 + eta * kappa)

        return rounds(task, one)

    return train
