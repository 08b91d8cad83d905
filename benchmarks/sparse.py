"""Sparse logistic regression by composite federated learning (algorithm 1 of zhang), as the interpreter runs it."""

from functools import reduce
from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.zhang.methods import PROPOSED
from fedaudit.problems.losses.logistic import Logistic, Reading, draw
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.runs.interpreter import Setup

CLIENTS, SAMPLES, DIMENSION, E, T = 30, 100, 20, 10, 500
ETA, ETA_G, THETA = 0.5, 2.0, 1e-3  # whole step, server step, weight of |.|_1
METHOD = PROPOSED.data(tree, {"vstep2"})  # how far a proximal gradient step would go


def problem(clients: int = CLIENTS, instances: int = 1) -> Logistic:
    rng = np.random.default_rng(3)
    each = [draw(rng, clients, SAMPLES, DIMENSION, 1.0, 1.0, Reading()).ba for _ in range(instances)]
    return Logistic(np.concatenate(each))


def setup(losses: Logistic, rounds: int = T) -> Setup:
    n = losses.ba.shape[0]
    values = {"eta_t": ETA, "eta_g": ETA_G, "E": float(E), "k": np.arange(E, dtype=float)}

    def value(read: Any) -> Any:
        if isinstance(read, str):
            return values[read] if read in values else float(read)
        op, *rest = read
        return reduce({"*": np.multiply, "+": np.add, "^": np.power}[op], map(value, rest))

    def scalar(read: Any) -> Any:
        return np.reshape(value(read), (1, 1, -1))

    weight, none, start = np.full(n, THETA), np.zeros(n), np.zeros((n, DIMENSION))
    g = Regulariser(weight, weight, none, False, np.ones(n))
    return Setup(losses, start, scalar, E, rounds, w_star=start, regulariser=g)
