"""SCAFFOLD with option II, and two statements about it, one of them false. Try: fedaudit hunt examples/scaffold.py"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps")
t = GLOSSARY.index("t", "round")
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
mu = GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
eta_g = GLOSSARY.symbol("eta_g", "1", "global step size", r"\eta_g")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "local step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E f(x_t) - f*", r"\mathbb{{E}} f(x_{{{0}}}) - f^*", nonnegative=True)

x, c, y, c_i = fa.vector("x"), fa.vector("c"), fa.vector("y", "y_i"), fa.vector("c_i")
SCAFFOLD = fa.Method(
    id="scaffold",
    title="SCAFFOLD",
    cite="Karimireddy et al. 2020, algorithm 1, option II",
    glossary=GLOSSARY,
    server={x: fa.start, c: 0},
    client={y: x, c_i: 0},
    begin={y: x},
    local={y: y - gamma(t) * (fa.noisy(fa.grad(y)) - c_i + c)},
    end={c_i: c_i - c + (x - y) / (E * gamma(t))},
    update={x: x + eta_g * fa.mean(y - x), c: fa.mean(c_i)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star},
)
LET = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
    fa.Assumption("weights_sum_to_one", (), "sum p_i = 1"),
    fa.Assumption("nonnegative_weights", (), "p_i >= 0"),
)

ONE_STEP = fa.Statement(
    id="scaffold/one-step", kind="inequality", title="With one local step it is gradient descent",
    cite="made up", method=SCAFFOLD, glossary=GLOSSARY, let=LET, when=(fa.Eq(E, 1),),
    then=fa.Le(gap(t + 1), (1 - gamma(t) * mu * eta_g) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / L, eta_g: fa.unit("server")},
)  # fmt: skip

DESCENT = fa.Statement(
    id="scaffold/descent", kind="inequality", title="So it does with several (false: the memory starts at zero)",
    cite="made up", method=SCAFFOLD, glossary=GLOSSARY, let=LET,
    then=fa.Le(gap(t + 1), (1 - gamma(t) * mu * eta_g) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / (L * E), eta_g: fa.unit("server")},
)  # fmt: skip
