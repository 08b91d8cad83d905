"""FedAvg that samples m clients per round, without replacement, and two statements about it, one of them false."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps")
t = GLOSSARY.index("t", "round")
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
mu = GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^*\|^2", nonnegative=True)
slope2 = GLOSSARY.quantity("slope2", "F^2/W^2", "E mean_i |grad f_i(w_t)|^2", r"G^2_{{{0}}}", nonnegative=True)

w, w_i = fa.vector("w"), fa.vector("w_i")
SAMPLED_FEDAVG = fa.Method(
    id="sampled-fedavg",
    title="FedAvg with partial participation",
    cite="McMahan et al. 2017, algorithm 1, with full local batches",
    glossary=GLOSSARY,
    server={w: fa.start},
    client={w_i: w},
    begin={w_i: w},
    local={w_i: w_i - gamma(t) * fa.grad(w_i)},
    update={w: fa.mean(w_i, over="sampled")},
    measures={
        dist2(t): fa.expect(fa.norm2(w - fa.w_star)),
        slope2(t): fa.expect(fa.mean(fa.norm2(fa.grad(w)))),
    },
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
    fa.Assumption("equal_weights", (), "p_i = 1/C"),
    fa.Assumption("without_replacement", (), "m different clients per round, each set as likely as any other"),
)

ONE_STEP = fa.Statement(
    id="sampled-fedavg/one-step", kind="inequality", title="A mean of sampled gradients, squared, and no more",
    cite="made up", method=SAMPLED_FEDAVG, glossary=GLOSSARY, let=LET, when=(fa.Eq(E, 1),),
    then=fa.Le(dist2(t + 1), (1 - 2 * gamma(t) * mu) * dist2(t) + gamma(t) ** 2 * slope2(t)),
    for_all={t: (0, T - 1)}, sweep={gamma(t): fa.unit("step") / L},
)  # fmt: skip

CONTRACTION = fa.Statement(
    id="sampled-fedavg/contraction", kind="inequality", title="It contracts (false: w* is no fixed point of a sample)",
    cite="made up", method=SAMPLED_FEDAVG, glossary=GLOSSARY, let=LET, when=(fa.Eq(E, 1),),
    then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) ** 2 * dist2(t)),
    for_all={t: (0, T - 1)}, sweep={gamma(t): fa.unit("step") / L},
)  # fmt: skip
