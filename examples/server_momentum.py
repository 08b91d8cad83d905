"""FedAvg with server momentum (FedAvgM), and two statements about it, one of them false."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps")
t = GLOSSARY.index("t", "round")
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
mu = GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
beta = GLOSSARY.symbol("beta", "1", "momentum", r"\beta")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "local step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E f(x_t) - f*", r"\mathbb{{E}} f(x_{{{0}}}) - f^*", nonnegative=True)
speed = GLOSSARY.quantity("speed", "W^2", "E |m_t|^2", r"\mathbb{{E}} \|m_{{{0}}}\|^2", nonnegative=True)

x, m, y = fa.vector("x"), fa.vector("m"), fa.vector("y", "y_i")
FEDAVGM = fa.Method(
    id="fedavgm",
    title="FedAvg with server momentum",
    cite="Hsu, Qi and Brown 2019, section 3.2",
    glossary=GLOSSARY,
    server={x: fa.start, m: 0},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * fa.noisy(fa.grad(y))},
    update={x: x - beta * m + fa.mean(y - x), m: beta * m - fa.mean(y - x)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star, speed(t): fa.expect(fa.norm2(m))},
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
    fa.Assumption("weights_sum_to_one", (), "sum p_i = 1"),
    fa.Assumption("nonnegative_weights", (), "p_i >= 0"),
)

FIRST = fa.Statement(
    id="fedavgm/first", kind="inequality", title="The first round knows no momentum: a step of gradient descent",
    cite="made up", method=FEDAVGM, glossary=GLOSSARY, let=LET, when=(fa.Eq(E, 1),),
    then=(fa.Le(gap(1), (1 - gamma(0) * mu) * gap(0)), fa.Le(speed(1), 2 * gamma(0) ** 2 * L * gap(0))),
    sweep={gamma(t): fa.unit("step") / L, beta: fa.unit("momentum")},
)  # fmt: skip

DESCENT = fa.Statement(
    id="fedavgm/descent", kind="inequality", title="And so on in every round (false: momentum overshoots)",
    cite="made up", method=FEDAVGM, glossary=GLOSSARY, let=LET, when=(fa.Eq(E, 1),),
    then=fa.Le(gap(t + 1), gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / L, beta: fa.unit("momentum")},
)  # fmt: skip
