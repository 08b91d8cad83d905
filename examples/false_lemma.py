"""A deliberately false lemma: local models drift apart like E, not like E^2. Its true sibling has the square.

The slip is an old one: squares of steps add up if the steps are independent, and the steps of one client are not.
"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps"), GLOSSARY.count("C", "clients")
t, k, i = (GLOSSARY.index(*pair) for pair in (("t", "round"), ("k", "local step"), ("i", "client")))
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
G = GLOSSARY.symbol("G", "F/W", "bound on the gradients of the run", nonnegative=True)
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
drift = GLOSSARY.quantity(
    "drift", "W^2", "|w_i - w|^2 after k steps", r"\|w^{2}_{{{0},{1}}} - w_{0}\|^2", nonnegative=True
)
grad2 = GLOSSARY.quantity("grad2", "F^2/W^2", "|grad f_i|^2", r"\|\nabla f_{2}\|^2", nonnegative=True)

w, w_i = fa.vector("w"), fa.vector("w_i")
FEDAVG = fa.Method(
    id="fedavg-drift", title="FedAvg with full gradients", cite="McMahan et al. 2017, algorithm 1", glossary=GLOSSARY,
    server={w: fa.start}, client={w_i: w}, begin={w_i: w},
    local={w_i: w_i - gamma(t) * fa.grad(w_i)}, update={w: fa.mean(w_i)},
    measures={drift(t, k, i): fa.expect(fa.norm2(w_i - w)), grad2(t, k, i): fa.expect(fa.norm2(fa.grad(w_i)))},
)  # fmt: skip
ABOUT = {
    "kind": "inequality", "cite": "made up", "method": FEDAVG, "glossary": GLOSSARY,
    "let": (
        fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
        fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
        fa.Assumption("gradients", (G,), "|grad f_i| <= G on the run", means=fa.Le(grad2(t, k, i), G**2),
                      for_all=((t, 0, T - 1), (k, 0, E - 1), (i, 1, C))),
        fa.Assumption("distribution", (), "p_i > 0, sum p_i = 1"),
    ),
    "for_all": {t: (0, T - 1), i: (1, C)},
    "sweep": {gamma(t): fa.unit("step") / L},
}  # fmt: skip

SQUARE = fa.Statement(
    id="drift/square", title="E steps of length at most gamma G", then=fa.Le(drift(t, E, i), (E * gamma(t) * G) ** 2),
    **ABOUT,
)  # fmt: skip
LINEAR = fa.Statement(
    id="drift/linear", title="As if the steps were independent (false: they point the same way)",
    then=fa.Le(drift(t, E, i), E * (gamma(t) * G) ** 2), **ABOUT,
)  # fmt: skip
