"""Algorithms whose server takes a mean of the clients' models."""

from ..language.rule_expressions import grad, mean, noisy, start, vector
from .operations import Method, shares
from .stated import Stated, symbols

S = symbols()
x, y, gamma, t = S.x, S.y, S.gamma, S.t
FEDAVG = Stated(
    Method(
        id="fedavg",
        title="FedAvg",
        cite="McMahan et al. 2017, algorithm 1: the sampled clients' models with weights n_k / sum_S n_k",
        glossary=S.glossary,
        server={x: start},
        client={y: x},
        begin={y: x},
        local={y: y - gamma(t) * noisy(grad(y))},
        update={x: shares(y)},
    )
)

P = symbols()
mu = P.scalar("mu", "F/W^2", "weight of the proximal term")
FEDPROX = Stated(
    Method(
        id="fedprox",
        title="FedProx",
        cite="Li et al. 2020, algorithm 2 with gradient steps: clients drawn with probability p_k, their plain mean",
        glossary=P.glossary,
        server={P.x: start},
        client={P.y: P.x},
        begin={P.y: P.x},
        local={P.y: P.y - P.gamma(P.t) * (noisy(grad(P.y)) + mu * (P.y - P.x))},
        update={P.x: mean(P.y, over="sampled")},
    ),
    sampling="by weight",
)

N = symbols()
d = vector("d")  # the client's normalised change
FEDNOVA = Stated(
    Method(
        id="fednova",
        title="FedNova",
        cite="Wang et al. 2020, (9) with a_i = (1, ..., 1) and tau_eff = sum p_i tau_i",
        glossary=N.glossary,
        server={N.x: start},
        client={N.y: N.x, d: 0},
        begin={N.y: N.x},
        local={N.y: N.y - N.gamma(N.t) * noisy(grad(N.y))},
        end={d: (N.x - N.y) / (N.E * N.gamma(N.t))},
        update={N.x: N.x - N.E_mean * N.gamma(N.t) * shares(d)},
    )
)
