"""Contestant (a): FedProx as one would first write it, one client and one step at a time."""

import numpy as np


def run(A, b, p, w0, alpha, gamma, A_mean, w_star, E, T):
    """Gap after each round, (B, T+1)."""
    gaps = []
    for instance in range(len(A)):
        server = w0[instance]
        gap = []
        for t in range(T + 1):
            x = server - w_star[instance]
            gap.append(0.5 * x @ A_mean[instance] @ x)
            if t == T:
                break
            total = np.zeros_like(server)
            for i in range(len(p)):
                w = server.copy()
                for _ in range(E):
                    gradient = A[instance, i] @ w - b[instance, i]
                    w = w - gamma * (gradient + alpha * (w - server))
                total += p[i] * w
            server = total
        gaps.append(gap)
    return np.array(gaps)
