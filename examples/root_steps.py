"""SGD with step sizes 1/(L sqrt(t + 2)): irrational, so that the kernel replays runs in intervals.

One step brings E|x - x*|^2 down by the factor 1 - gamma mu and up by gamma^2 sigma^2, of which no half can be spared.
"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "steps per round: 1"), GLOSSARY.count("C", "clients")
t = GLOSSARY.index("t", "round")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
sigma = GLOSSARY.symbol("sigma", "F/W", "noise of a client", r"\sigma", nonnegative=True)
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |x_t - x*|^2", r"\mathbb{{E}} \|x_{{{0}}} - x^*\|^2", nonnegative=True)

x, y = fa.vector("x"), fa.vector("y")
SGD = fa.Method(
    id="root-sgd", title="Parallel SGD", cite="every client takes one step per round", glossary=GLOSSARY,
    server={x: fa.start}, client={y: x}, begin={y: x},
    local={y: y - gamma(t) * fa.noisy(fa.grad(y))}, update={x: fa.mean(y)},
    measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star))},
)  # fmt: skip
ABOUT = {
    "kind": "inequality", "cite": "made up", "method": SGD, "glossary": GLOSSARY,
    "let": (
        fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
        fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
        fa.Assumption("bounded_variance", (sigma,), "gradients deviate by sigma"),
        fa.Assumption("distribution", (), "weights are positive and sum to 1"),
    ),
    "choose": {gamma(t): 1 / (L * fa.sqrt(t + 2))},
    "when": (fa.Eq(E, 1),),
    "for_all": {t: (0, T - 1)},
}  # fmt: skip

STEP = fa.Statement(
    id="roots/step", title="One step",
    then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) * dist2(t) + gamma(t) ** 2 * sigma**2), **ABOUT,
)  # fmt: skip
HALF = fa.Statement(
    id="roots/half", title="One step with half of the noise (false: one client at x* attains all of it)",
    then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) * dist2(t) + gamma(t) ** 2 * sigma**2 / 2), **ABOUT,
)  # fmt: skip
