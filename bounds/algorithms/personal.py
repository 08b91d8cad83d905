"""Algorithms with models of the clients' own, or with proximal points in their rules."""

from ..language.rule_expressions import grad, hess, mean, noisy, oracle, start, vector
from .operations import Method, shrunk
from .stated import Stated, symbols

S = symbols()
x, y = S.x, S.y
alpha, beta = S.scalar("alpha", "W^2/F", "step to the client's own model"), S.scalar("beta", "W^2/F", "local step size")
there = noisy(grad(y - alpha * noisy(grad(y))))
PER_FEDAVG = Stated(
    Method(
        id="per-fedavg",
        title="Per-FedAvg",
        cite="Fallah et al. 2020, algorithm 1: both steps from the same point, with the Hessian",
        glossary=S.glossary,
        server={x: start},
        client={y: x},
        begin={y: x},
        local={y: y - beta * (there - alpha * hess(y, there))},
        update={x: mean(y, over="sampled")},
    ),
    sampling="uniform",
)
PER_FEDAVG_FO = Stated(
    Method(
        id="per-fedavg-fo",
        title="Per-FedAvg (FO)",
        cite="Fallah et al. 2020, section 5: the Hessian's term is left out",
        glossary=S.glossary,
        server={x: start},
        client={y: x},
        begin={y: x},
        local={y: y - beta * there},
        update={x: mean(y, over="sampled")},
    ),
    sampling="uniform",
)

P = symbols()
lam, eta = P.scalar("lambda", "F/W^2", "weight of the penalty"), P.scalar("eta", "W^2/F", "local step size")
beta_p = P.scalar("beta", "1", "server's mixing")
theta = vector("theta")
PFEDME = Stated(
    Method(
        id="pfedme",
        title="pFedMe",
        cite="T. Dinh et al. 2020, algorithm 1: all clients train, the drawn ones are averaged",
        glossary=P.glossary,
        server={P.x: start},
        client={P.y: P.x, theta: P.x},
        begin={P.y: P.x},
        local={P.y: P.y - eta * lam * (P.y - oracle(P.y, 1 / lam)), theta: oracle(P.y, 1 / lam)},
        update={P.x: (1 - beta_p) * P.x + beta_p * mean(P.y, over="sampled")},
    ),
    everyone=True,
    sampling="uniform",
)

D = symbols()
eta_d, relax = D.scalar("eta", "W^2/F", "proximal step"), D.scalar("alpha", "1", "relaxation")
kappa = D.scalar("kappa", "F/W^2", "the regulariser is kappa |x|^2/2")
u, z = vector("u"), vector("z")  # y_i and the proximal point x_i of the paper; y is what it sends, 2 x_i - y_i
u_next = u + relax * (D.x - z)
FEDDR = Stated(
    Method(
        id="feddr",
        title="FedDR",
        cite="Tran-Dinh et al. 2021, algorithm 1, with exact proximal points and g = kappa |x|^2/2",
        glossary=D.glossary,
        server={D.x: start},
        client={D.y: D.x, u: D.x, z: D.x},
        end={u: u_next, z: oracle(u_next, eta_d), D.y: 2 * oracle(u_next, eta_d) - u_next},
        # Over all clients: one that was not drawn counts with what it sent last.
        update={D.x: shrunk(mean(D.y, over="all"), eta_d * kappa)},
    ),
    sampling="uniform",
)
