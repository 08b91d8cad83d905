"""FedLin, whose local steps follow the gradient of f at the round's start, and two rates of it, one of them false."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps")
t = GLOSSARY.index("t", "round")
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
mu = GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "f(x_t) - f*", r"f(x_{{{0}}}) - f^*", nonnegative=True)

x, y = fa.vector("x"), fa.vector("y", "y_i")
FEDLIN = fa.Method(
    id="fedlin",
    title="FedLin without compression",
    cite="Mitra et al. 2021, algorithm 1",
    glossary=GLOSSARY,
    server={x: fa.start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * (fa.grad(y) - fa.grad(x) + fa.full_grad(x))},
    update={x: fa.mean(y)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star},
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
    fa.Assumption("weights_sum_to_one", (), "sum p_i = 1"),
    fa.Assumption("nonnegative_weights", (), "p_i >= 0"),
)

RATE = fa.Statement(
    id="fedlin/rate", kind="inequality", title="Linear convergence, however different the clients are",
    cite="in the manner of Mitra et al. 2021, theorem 1", method=FEDLIN, glossary=GLOSSARY, let=LET,
    choose={gamma(t): 1 / (6 * L * E)}, then=fa.Le(gap(t + 1), (1 - mu / (6 * L)) * gap(t)),
    for_all={t: (0, T - 1)},
)  # fmt: skip

TWICE = fa.Statement(
    id="fedlin/twice", kind="inequality", title="Twice as fast (false: gradient descent itself is slower)",
    cite="made up", method=FEDLIN, glossary=GLOSSARY, let=LET,
    choose={gamma(t): 1 / (6 * L * E)}, then=fa.Le(gap(t + 1), (1 - mu / (3 * L)) * gap(t)),
    for_all={t: (0, T - 1)},
)  # fmt: skip
