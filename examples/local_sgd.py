"""Local SGD with step sizes that change inside a round, and two statements about its drift, one of them false."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps"), GLOSSARY.count("C", "clients")
t, k, i, j = (GLOSSARY.index(n, m) for n, m in (("t", "round"), ("k", "step"), ("i", "client"), ("j", "step")))
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0},{1}}}", positive=True)
drift = GLOSSARY.quantity(
    "drift", "W^2", "E |w_i - w|^2 after k steps", r"\mathbb{{E}} \|w^{2}_{{{0},{1}}} - w_{0}\|^2", nonnegative=True
)
slope2 = GLOSSARY.quantity(
    "slope2",
    "F^2/W^2",
    "E |g_i(w_i)|^2 after k steps",
    r"\mathbb{{E}} \|g_{2}(w^{2}_{{{0},{1}}})\|^2",
    nonnegative=True,
)

w, w_i = fa.vector("w"), fa.vector("w_i")
LOCAL_SGD = fa.Method(
    id="local-sgd",
    title="Local SGD with a step size per local step",
    cite="Stich 2019, algorithm 1, with step sizes of the round and the local step",
    glossary=GLOSSARY,
    server={w: fa.start},
    client={w_i: w},
    begin={w_i: w},
    local={w_i: w_i - gamma(t, k) * fa.noisy(fa.grad(w_i))},
    update={w: fa.mean(w_i)},
    measures={
        drift(t, k, i): fa.expect(fa.norm2(w_i - w)),
        slope2(t, k, i): fa.expect(fa.norm2(fa.noisy(fa.grad(w_i)))),
    },
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("convex", (), "every f_i is convex"),
    fa.Assumption("weights_sum_to_one", (), "sum p_i = 1"),
    fa.Assumption("nonnegative_weights", (), "p_i >= 0"),
)
STEPS = fa.Sum(gamma(t, j) ** 2 * slope2(t, j, i), (j, 0, E - 1))
EVERYWHERE = {t: (0, T - 1), i: (1, C)}
FALLING = {gamma(t, k): fa.unit("step") / (L * (k + 1))}  # what is tried; without `bounded_variance` in LET, no noise

DRIFT = fa.Statement(
    id="local-sgd/drift", kind="inequality", title="E steps drift no further than E times their squares",
    cite="made up", method=LOCAL_SGD, glossary=GLOSSARY, let=LET, then=fa.Le(drift(t, E, i), E * STEPS),
    for_all=EVERYWHERE, sweep=FALLING,
)  # fmt: skip

INDEPENDENT = fa.Statement(
    id="local-sgd/independent", kind="inequality", title="Squares add up (false: only the noise is independent)",
    cite="made up", method=LOCAL_SGD, glossary=GLOSSARY, let=LET, then=fa.Le(drift(t, E, i), STEPS),
    for_all=EVERYWHERE, sweep=FALLING,
)  # fmt: skip
