"""Algorithms whose server takes a step of an optimiser along the clients' mean change."""

from ..language.rule_expressions import grad, noisy, start, vector
from .operations import Method, adaptive, ones, shares, square
from .stated import Stated, symbols

S = symbols()
x, y, gamma, t = S.x, S.y, S.gamma, S.t
beta, eta = S.scalar("beta", "1", "momentum"), S.scalar("eta", "1", "server's step size")
m = vector("m")
change = shares(y - x)
m_next = beta * m + change
FEDAVGM = Stated(
    Method(
        id="fedavgm",
        title="FedAvgM",
        cite="Hsu, Qi and Brown 2019: Nesterov's accelerated step along the mean change",
        glossary=S.glossary,
        server={x: start, m: 0},
        client={y: x},
        begin={y: x},
        local={y: y - gamma(t) * noisy(grad(y))},
        update={x: x + eta * (change + beta * m_next), m: m_next},
    )
)

A = symbols()
beta_1, beta_2 = A.scalar("beta_1", "1", "momentum"), A.scalar("beta_2", "1", "memory of the second moment")
eta_a, tau = A.scalar("eta", "W", "server's step size"), A.scalar("tau", "W", "adaptivity")
ma, v = vector("m"), vector("v")
change_a = shares(A.y - A.x)
ma_next = beta_1 * ma + (1 - beta_1) * change_a
v_next = beta_2 * v + (1 - beta_2) * square(change_a)
FEDADAM = Stated(
    Method(
        id="fedadam",
        title="FedAdam",
        cite="Reddi et al. 2021, algorithm 2, with v_-1 = tau^2",
        glossary=A.glossary,
        server={A.x: start, ma: 0, v: tau**2 * ones},
        client={A.y: A.x},
        begin={A.y: A.x},
        local={A.y: A.y - A.gamma(A.t) * noisy(grad(A.y))},
        update={A.x: A.x + eta_a * adaptive(ma_next, v_next, tau), ma: ma_next, v: v_next},
    )
)
