"""Li, Huang, Yang, Wang, Zhang (ICLR 2020, arXiv 1907.02189): FedAvg on non-IID data, theorem 1 and lemma 3.

The paper counts steps from 1 and averages where E divides t, so that its first round has E - 1 steps; here t counts
from 0. sigma_k^2 is the variance of device k, as it is on the run.
"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "local steps"), GLOSSARY.count("E", "local steps per round")
C = GLOSSARY.count("C", "devices", "N")
t, i = GLOSSARY.index("t", "step"), GLOSSARY.index("i", "device", "k")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
sigma = GLOSSARY.symbol("sigma", "F/W", "the largest of the sigma_k", r"\sigma", nonnegative=True)
G = GLOSSARY.symbol("G", "F/W", "bound on the stochastic gradients of the run", nonnegative=True)
Gamma = GLOSSARY.symbol("Gamma", "F", "F* - sum_k p_k F_k*: heterogeneity", r"\Gamma", nonnegative=True)
kappa, gamma = GLOSSARY.symbol("kappa", "1", "L / mu", r"\kappa"), GLOSSARY.symbol("gamma", "1", "offset", r"\gamma")
B = GLOSSARY.symbol("B", "F^2/W^2", "noise, heterogeneity and drift", nonnegative=True)
p = GLOSSARY.quantity("p", "1", "weight of a device", "p_{0}", nonnegative=True)
eta = GLOSSARY.quantity("eta", "W^2/F", "step size", r"\eta_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E F(w_t) - F*", r"\mathbb{{E}} F(w_{{{0}}}) - F^*", nonnegative=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^*\|^2", nonnegative=True)
drift = GLOSSARY.quantity("drift", "W^2", "E sum_k p_k |w_t - w_t^k|^2", r"D_{{{0}}}", nonnegative=True)
grad2 = GLOSSARY.quantity("grad2", "F^2/W^2", "E |g_k|^2", r"\mathbb{{E}} \|g_{1}\|^2", nonnegative=True)
noise2 = GLOSSARY.quantity("noise2", "F^2/W^2", "sigma_k^2", r"\sigma_{{{1}}}^2", nonnegative=True)

w, w_i = fa.vector("w"), fa.vector("w_i", "w^k")
FEDAVG = fa.Method(
    id="fedavg-li", title="FedAvg with full participation", cite="section 3.1", glossary=GLOSSARY,
    clock="steps", first=E - 1,  # steps of the first round
    server={w: fa.start}, client={w_i: w}, begin={w_i: w},
    local={w_i: w_i - eta(t) * fa.noisy(fa.grad(w_i))}, update={w: fa.mean(w_i)},
    measures={
        gap(t): fa.expect(fa.f(fa.mean(w_i))) - fa.f_star,
        dist2(t): fa.expect(fa.norm2(fa.mean(w_i) - fa.w_star)),
        drift(t): fa.expect(fa.mean(fa.norm2(fa.mean(w_i) - w_i))),
        grad2(t, i): fa.expect(fa.norm2(fa.noisy(fa.grad(w_i)))),
        noise2(t, i): fa.expect(fa.norm2(fa.noisy(fa.grad(w_i)) - fa.grad(w_i))),
    },
)  # fmt: skip
EVERYWHERE = ((t, 0, T - 1), (i, 1, C))
ABOUT = {
    "kind": "inequality", "method": FEDAVG, "glossary": GLOSSARY,
    "choose": {eta(t): 2 / (mu * (gamma + t + 1))},
    "let": (
        fa.Assumption("smooth", (L,), "assumption 1"),
        fa.Assumption("strongly_convex", (mu,), "assumption 2"),
        fa.Assumption("bounded_variance", (sigma,), "assumption 3, for the largest sigma_k"),
        fa.Assumption("variances", (), "assumption 3", means=fa.Le(noise2(t, i), noise2(0, i)), for_all=EVERYWHERE),
        fa.Assumption("gradients", (G,), "assumption 4", means=fa.Le(grad2(t, i), G**2), for_all=EVERYWHERE),
        fa.Assumption("distribution", (), "p_k > 0, sum p_k = 1"),
        fa.Assumption("independent_noise", (), "devices draw on their own"),
    ),
    "where": {
        kappa: L / mu, gamma: fa.Max(8 * L / mu, E),
        B: fa.Sum(p(i) ** 2 * noise2(0, i), (i, 1, C)) + 6 * L * Gamma + 8 * (E - 1) ** 2 * G**2,
    },
}  # fmt: skip

THEOREM_1 = fa.Statement(
    id="li/thm1", title="FedAvg converges like 1/T", cite="theorem 1, with T = t + 1",
    then=fa.Le(gap(t), kappa / (gamma + t) * (2 * B / mu + mu * gamma / 2 * dist2(0))), for_all={t: (0, T)}, **ABOUT,
)  # fmt: skip
LEMMA_3 = fa.Statement(
    id="li/lem3", title="Devices drift apart by no more than this", cite="lemma 3",
    then=fa.Le(drift(t), 4 * eta(t) ** 2 * (E - 1) ** 2 * G**2), for_all={t: (0, T - 1)}, **ABOUT,
)  # fmt: skip
FASTER = fa.Statement(
    id="li/faster", title="1/T^2 (false: made up)", cite="made up",
    then=fa.Le(gap(t), kappa / (gamma + t) ** 2 * mu / 2 * dist2(0)), for_all={t: (0, T)}, **ABOUT,
)  # fmt: skip
