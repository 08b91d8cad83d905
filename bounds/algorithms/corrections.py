"""Algorithms whose clients keep a correction of their gradients between rounds."""

from ..language.rule_expressions import grad, mean, noisy, start, vector
from .operations import Method
from .stated import Stated, symbols

S = symbols()
x, y, gamma, t, E, C, m = S.x, S.y, S.gamma, S.t, S.E, S.C, S.m
eta_g = S.scalar("eta_g", "1", "server's step size")
c, c_i, c_old = vector("c"), vector("c_i"), vector("c_old")
SCAFFOLD = Stated(
    Method(
        id="scaffold",
        title="SCAFFOLD",
        cite="Karimireddy et al. 2020, algorithm 1, option II",
        glossary=S.glossary,
        server={x: start, c: 0},
        client={y: x, c_i: 0, c_old: 0},
        begin={y: x},
        local={y: y - gamma(t) * (noisy(grad(y)) - c_i + c)},
        # Both rules read the values before this phase, so that c_old becomes the c_i of the round before.
        end={c_i: c_i - c + (x - y) / (E * gamma(t)), c_old: c_i},
        update={
            x: x + eta_g * mean(y - x, over="sampled"),
            c: c + (m / C) * mean(c_i - c_old, over="sampled"),
        },
    ),
    sampling="uniform",
)

D = symbols()
alpha = D.scalar("alpha", "F/W^2", "weight of the regulariser")
g_i, h = vector("g_i"), vector("h")
h_next = h - alpha * ((D.m / D.C) * mean(D.y - D.x, over="sampled"))
FEDDYN = Stated(
    Method(
        id="feddyn",
        title="FedDyn",
        cite="Acar et al. 2021, algorithm 1, local problems by gradient steps",
        glossary=D.glossary,
        server={D.x: start, h: 0},
        client={D.y: D.x, g_i: 0},
        begin={D.y: D.x},
        local={D.y: D.y - D.gamma(D.t) * (noisy(grad(D.y)) - g_i + alpha * (D.y - D.x))},
        end={g_i: g_i - alpha * (D.y - D.x)},
        # Rules read the values before their phase, so that the new h, which the model takes, is written out again.
        update={h: h_next, D.x: mean(D.y, over="sampled") - (1 / alpha) * h_next},
    ),
    sampling="uniform",
)
