"""Li, Huang, Yang, Wang, Zhang: FedAvg on non-IID data, theorem 1, as a user would write it; and a false one."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = (
    GLOSSARY.count("T", "local steps"),
    GLOSSARY.count("E", "local steps per round"),
    GLOSSARY.count("C", "devices"),
)
t, k, i = (GLOSSARY.index(n, m) for n, m in (("t", "step"), ("k", "local step"), ("i", "device")))
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
sigma = GLOSSARY.symbol("sigma", "F/W", "noise of a stochastic gradient", r"\sigma", nonnegative=True)
G = GLOSSARY.symbol("G", "F/W", "bound on the stochastic gradients of the run", nonnegative=True)
Gamma = GLOSSARY.symbol("Gamma", "F", "f* - sum_i p_i f_i*: heterogeneity", r"\Gamma", nonnegative=True)
kappa = GLOSSARY.symbol("kappa", "1", "L / mu", r"\kappa")
gamma = GLOSSARY.symbol("gamma", "1", "offset of the step size", r"\gamma")
B = GLOSSARY.symbol("B", "F^2/W^2", "noise, heterogeneity and drift", nonnegative=True)
D = GLOSSARY.symbol("D", "W^2", "squared distance of the start from the optimum", nonnegative=True)
eta = GLOSSARY.quantity("eta", "W^2/F", "step size", r"\eta_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E f(w_t) - f*", r"\mathbb{{E}} f(w_{{{0}}}) - f^*", nonnegative=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^*\|^2", nonnegative=True)
grad2 = GLOSSARY.quantity("grad2", "F^2/W^2", "|g_i|^2", r"\|g_{1}(w^{1}_{0})\|^2", nonnegative=True)

w, w_i = fa.vector("w"), fa.vector("w_i")
FEDAVG = fa.Method(
    id="fedavg-li",
    title="FedAvg with full participation",
    cite="Li et al. 2020, section 3.2",
    glossary=GLOSSARY,
    server={w: fa.start},
    client={w_i: w},
    begin={w_i: w},
    local={w_i: w_i - eta(t) * fa.noisy(fa.grad(w_i))},
    update={w: fa.mean(w_i)},
    measures={
        gap(t): fa.expect(fa.f(fa.mean(w_i))) - fa.f_star,
        dist2(t): fa.expect(fa.norm2(fa.mean(w_i) - fa.w_star)),
        grad2(t, i): fa.expect(fa.norm2(fa.noisy(fa.grad(w_i)))),
    },
    clock="steps",
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
    fa.Assumption("bounded_variance", (sigma,), "the noise is at most sigma"),
    fa.Assumption("bounded_gradients", (G,), "E |g_i|^2 <= G^2", means=fa.Le(grad2(t, i), G**2),
                  for_all=((t, 0, T - 1), (i, 1, C))),
    fa.Assumption("weights_sum_to_one", (), "sum p_i = 1"),
    fa.Assumption("nonnegative_weights", (), "p_i >= 0"),
    fa.Assumption("independent_noise", (), "devices draw on their own"),
)  # fmt: skip
WHERE = {
    kappa: L / mu,
    gamma: fa.Max(8 * L / mu, E),
    B: sigma**2 + 6 * L * Gamma + 8 * (E - 1) ** 2 * G**2,
    D: dist2(0),
}

THEOREM_1 = fa.Statement(
    id="li/thm1", kind="inequality", title="FedAvg: full participation", cite="theorem 1, t from 0, sum p_i^2 <= 1",
    method=FEDAVG, glossary=GLOSSARY, let=LET, choose={eta(t): 2 / (mu * (gamma + t))},
    then=fa.Le(gap(t), kappa / (gamma + t) * (2 * B / mu + mu * (gamma + 1) / 2 * D)), where=WHERE, for_all={t: (0, T)},
)  # fmt: skip
FASTER = fa.Statement(
    id="li/faster", kind="inequality", title="FedAvg: a square too good (false)", cite="made up",
    method=FEDAVG, glossary=GLOSSARY, let=LET, choose={eta(t): 2 / (mu * (gamma + t))},
    then=fa.Le(gap(t), kappa / (gamma + t) ** 2 * (mu / 2 * D)), where=WHERE, for_all={t: (0, T)},
)  # fmt: skip
