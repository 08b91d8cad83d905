"""ProxSkip among clients (Mishchenko et al., ICML 2022): a coin says in which rounds they communicate, and two rates.

With q = sqrt(mu/L) a round communicates seldom, and progress is as fast as if it did always: 1 - 1/kappa.
"""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E = GLOSSARY.count("T", "rounds"), GLOSSARY.count("E", "local steps per round: 1")
t = GLOSSARY.index("t", "round")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
q = GLOSSARY.symbol("q", "1", "chance of a communication (p in the paper)")
gamma = GLOSSARY.symbol("gamma", "W^2/F", "step size", r"\gamma")
psi = GLOSSARY.quantity(
    "psi", "W^2", "mean |x_i - x*|^2 + gamma^2/q^2 |h_i - grad f_i(x*)|^2", r"\Psi_{{{0}}}", nonnegative=True
)

z, x, h = fa.vector("z", "x_0"), fa.vector("x", "x_i"), fa.vector("h", "h_i")
met = fa.coin(fa.mean(x) - x, q)  # x_i becomes the mean, or stays as it is
PROXSKIP = fa.Method(
    id="proxskip", title="ProxSkip (Scaffnew)", cite="Mishchenko et al. 2022, algorithm 2", glossary=GLOSSARY,
    server={z: fa.start}, client={x: z, h: 0},
    local={x: x - gamma * (fa.grad(x) - h)}, end={x: x + met, h: h + q / gamma * met},
    measures={
        psi(t): fa.expect(fa.mean(fa.norm2(x - fa.w_star)))
        + gamma**2 / q**2 * fa.expect(fa.mean(fa.norm2(h - fa.grad(fa.w_star)))),
    },
)  # fmt: skip
ABOUT = {
    "kind": "inequality", "method": PROXSKIP, "glossary": GLOSSARY,
    "let": (
        fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
        fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex"),
        fa.Assumption("equal_weights", (), "p_i = 1/C"),
    ),
    "when": (fa.Eq(E, 1), fa.Le(L * gamma, 1), fa.Le(q, 1)),
}  # fmt: skip

RATE = fa.Statement(
    id="proxskip/rate", title="max{1 - gamma mu, 1 - q^2} in every round", cite="theorem 3.6",
    then=fa.Le(psi(T), fa.Max((1 - gamma * mu) ** T, (1 - q**2) ** T) * psi(0)), **ABOUT,
)  # fmt: skip
TOO_FAST = fa.Statement(
    id="proxskip/too-fast", title="q for q^2 (false: the control variates learn by the square)", cite="made up",
    then=fa.Le(psi(T), fa.Max((1 - gamma * mu) ** T, (1 - q) ** T) * psi(0)), **ABOUT,
)  # fmt: skip
