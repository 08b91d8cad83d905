"""Li et al. (ICLR 2020, arXiv 1907.02189), theorem 3: FedAvg that averages m devices drawn without replacement.

Here t counts rounds from 0, every round has E steps, and the step size falls inside a round too.
"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps per round")
C, m = GLOSSARY.count("C", "devices", "N"), GLOSSARY.count("m", "devices of a sample", "K")
t, k, i = (GLOSSARY.index(*pair) for pair in (("t", "round"), ("k", "step"), ("i", "device")))
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
sigma = GLOSSARY.symbol("sigma", "F/W", "noise of a stochastic gradient", r"\sigma", nonnegative=True)
G = GLOSSARY.symbol("G", "F/W", "bound on the stochastic gradients of the run", nonnegative=True)
Gamma = GLOSSARY.symbol("Gamma", "F", "F* - sum_k p_k F_k*: heterogeneity", r"\Gamma", nonnegative=True)
gamma = GLOSSARY.symbol("gamma", "1", "offset of the step size", r"\gamma")
B = GLOSSARY.symbol("B", "F^2/W^2", "noise, heterogeneity and drift", nonnegative=True)
S = GLOSSARY.symbol("S", "F^2/W^2", "what sampling adds (C in the paper)", "C", nonnegative=True)
eta = GLOSSARY.quantity("eta", "W^2/F", "step size", r"\eta_{{{0},{1}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E F(w_t) - F*", r"\mathbb{{E}} F(w_{{{0}}}) - F^*", nonnegative=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^*\|^2", nonnegative=True)
grad2 = GLOSSARY.quantity("grad2", "F^2/W^2", "E |g_i|^2", r"\mathbb{{E}} \|g_{2}\|^2", nonnegative=True)

w, w_i = fa.vector("w"), fa.vector("w_i", "w^k")
FEDAVG = fa.Method(
    id="fedavg-li-sampled", title="FedAvg with partial participation", cite="section 3.3, scheme II", glossary=GLOSSARY,
    server={w: fa.start}, client={w_i: w}, begin={w_i: w},
    local={w_i: w_i - eta(t, k) * fa.noisy(fa.grad(w_i))}, update={w: fa.mean(w_i, over="sampled")},
    measures={
        gap(t): fa.expect(fa.f(w)) - fa.f_star,
        dist2(t): fa.expect(fa.norm2(w - fa.w_star)),
        grad2(t, k, i): fa.expect(fa.norm2(fa.noisy(fa.grad(w_i)))),
    },
)  # fmt: skip
ABOUT = {
    "kind": "inequality", "method": FEDAVG, "glossary": GLOSSARY, "when": (fa.Ge(C, 2), fa.Le(m, C)),
    "choose": {eta(t, k): 2 / (mu * (gamma + t * E + k))}, "for_all": {t: (0, T)},
    "let": (
        fa.Assumption("smooth", (L,), "assumption 1"),
        fa.Assumption("strongly_convex", (mu,), "assumption 2"),
        fa.Assumption("bounded_variance", (sigma,), "assumption 3, one sigma for all"),
        fa.Assumption("gradients", (G,), "assumption 4", means=fa.Le(grad2(t, k, i), G**2),
                      for_all=((t, 0, T - 1), (k, 0, E - 1), (i, 1, C))),
        fa.Assumption("equal_weights", (), "p_k = 1/N"),
        fa.Assumption("without_replacement", (), "assumption 6"),
        fa.Assumption("independent_noise", (), "devices draw on their own"),
    ),
    "where": {
        gamma: fa.Max(8 * L / mu, E),
        B: sigma**2 / C + 6 * L * Gamma + 8 * (E - 1) ** 2 * G**2,
        S: (C - m) / (C - 1) * 4 / m * E**2 * G**2,
    },
}  # fmt: skip

THEOREM_3 = fa.Statement(
    id="li/thm3", title="Partial participation costs a term of order E^2/K", cite="theorem 3, at the ends of rounds",
    then=fa.Le(gap(t), L / mu / (gamma + t * E) * (2 * (B + S) / mu + mu * (gamma + 1) / 2 * dist2(0))), **ABOUT,
)  # fmt: skip
FREE = fa.Statement(
    id="li/free-sampling", title="Sampling costs nothing (false: clients that differ pull apart)", cite="made up",
    then=fa.Le(gap(t), L / mu / (gamma + t * E) * (mu * (gamma + 1) / 2 * dist2(0))), **ABOUT,
)  # fmt: skip
