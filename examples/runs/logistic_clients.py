"""Logistic regression on ten clients: a run of FedProx by hand, checked against a bound and against the algorithm.

    python examples/runs/logistic_clients.py

The bound is theorem 4.1 (I) of buttaci. Its constants come from the data, and its step size from them.
"""

from __future__ import annotations

import numpy as np

import fedaudit as fa

CLIENTS, POINTS, DIM, ROUNDS, E, ALPHA = 10, 40, 5, 60, 3, 0.5


def clients(seed: int = 0) -> fa.ClientData:
    """Ten clients, each with its own centre."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=DIM)
    features = [rng.normal(size=(POINTS, DIM)) + rng.normal(size=DIM) / 2 for _ in range(CLIENTS)]
    labels = [np.sign(X @ true + rng.normal(size=POINTS)) for X in features]
    return fa.ClientData(features, labels, loss="logistic", l2=0.1)


def fedprox(data: fa.ClientData, gamma: float) -> dict[str, np.ndarray]:
    """The run as `conform` reads it: the server's models, and the clients' models after every local step."""
    log, x = fa.RunLog(clients=CLIENTS), np.zeros(DIM)
    for t in range(ROUNDS):
        log.server(t, x=x)
        ends = []
        for i in range(CLIENTS):
            y = x
            log.client(t, i, 0, y=y)
            for k in range(E):
                y = y - gamma * (data.grad(i, y) + ALPHA * (y - x))
                log.client(t, i, k + 1, y=y)
            ends.append(y)
        x = sum(ends) / CLIENTS
    log.server(ROUNDS, x=x)
    return log.arrays()


def main() -> tuple[fa.Conformity, fa.Checked]:
    data = clients()
    gamma = 1 / (2 * E * (data.constants()["L"].value + ALPHA))
    run = fedprox(data, gamma)
    same = fa.conform("fedprox", run, grad=data.grad, gamma=gamma, mu=ALPHA)
    below = fa.check("buttaci/thm4.1-I", x=run["x"], data=data, alpha=ALPHA, E=E, sigma=0, S=1 / CLIENTS)
    return same, below


if __name__ == "__main__":
    for answer in main():
        print(answer, end="\n\n")
