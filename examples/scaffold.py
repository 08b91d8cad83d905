"""SCAFFOLD with option II, and two statements about it, one of them false. Try: fedaudit audit examples/scaffold.py"""

from fedaudit.bounds.algebra import Eq, Le
from fedaudit.bounds.method import Method, expect, f, f_star, grad, mean, noisy, start, vector
from fedaudit.bounds.statement import Assumption, Glossary, Statement, unit

GLOSSARY = Glossary()
T, E, C = (GLOSSARY.count(n, m) for n, m in (("T", "rounds"), ("E", "local steps"), ("C", "clients")))
t, k, i = (GLOSSARY.index(n, m) for n, m in (("t", "round"), ("k", "local step"), ("i", "client")))
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
mu = GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
eta_g = GLOSSARY.symbol("eta_g", "1", "global step size", r"\eta_g")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "local step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "E f(x_t) - f*", r"\mathbb{{E}} f(x_{{{0}}}) - f^*", nonnegative=True)

x, c, y, c_i = vector("x"), vector("c"), vector("y", "y_i"), vector("c_i")
SCAFFOLD = Method(
    id="scaffold",
    title="SCAFFOLD",
    cite="Karimireddy et al. 2020, algorithm 1, option II",
    glossary=GLOSSARY,
    server={x: start, c: 0},
    client={y: x, c_i: 0},
    begin={y: x},
    local={y: y - gamma(t) * (noisy(grad(y)) - c_i + c)},
    end={c_i: c_i - c + (x - y) / (E * gamma(t))},
    update={x: x + eta_g * mean(y - x), c: mean(c_i)},
    measures={gap(t): expect(f(x)) - f_star},
)
SMOOTH = Assumption("smooth", (L,), "every f_i is L-smooth")
CONVEX = Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex")
WEIGHTS = (Assumption("weights_sum_to_one", (), "sum p_i = 1"), Assumption("nonnegative_weights", (), "p_i >= 0"))

ONE_STEP = Statement(
    id="scaffold/one-step", kind="inequality", title="With one local step it is gradient descent",
    cite="made up", method=SCAFFOLD, glossary=GLOSSARY, let=(SMOOTH, CONVEX, *WEIGHTS), when=(Eq(E, 1),),
    then=Le(gap(t + 1), (1 - gamma(t) * mu * eta_g) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): unit("step") / L, eta_g: unit("server")},
)  # fmt: skip

DESCENT = Statement(
    id="scaffold/descent", kind="inequality", title="So it does with several (false: the memory starts at zero)",
    cite="made up", method=SCAFFOLD, glossary=GLOSSARY, let=(SMOOTH, CONVEX, *WEIGHTS),
    then=Le(gap(t + 1), (1 - gamma(t) * mu * eta_g) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): unit("step") / (L * E), eta_g: unit("server")},
)  # fmt: skip
