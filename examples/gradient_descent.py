"""Gradient descent: the tight rate L |x_0 - x*|^2 / (4N + 2) of Drori and Teboulle, and one that is too good."""

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = (
    GLOSSARY.count("T", "steps", "N"),
    GLOSSARY.count("E", "steps per round: 1"),
    GLOSSARY.count("C", "clients: 1"),
)
t = GLOSSARY.index("t", "step")
L = GLOSSARY.symbol("L", "F/W^2", "smoothness")
gamma = GLOSSARY.quantity("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
gap = GLOSSARY.quantity("gap", "F", "f(x_t) - f*", r"f(x_{{{0}}}) - f^*", nonnegative=True)
dist2 = GLOSSARY.quantity("dist2", "W^2", "|x_t - x*|^2", r"\|x_{{{0}}} - x^*\|^2", nonnegative=True)

x, y = fa.vector("x"), fa.vector("y")
GD = fa.Method(
    id="gd",
    title="Gradient descent",
    cite="one client that takes one step per round",
    glossary=GLOSSARY,
    server={x: fa.start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * fa.grad(y)},
    update={x: fa.mean(y)},
    measures={gap(t): fa.expect(fa.f(x)) - fa.f_star, dist2(t): fa.expect(fa.norm2(x - fa.w_star))},
)
ABOUT = {
    "kind": "inequality",
    "cite": "Drori and Teboulle 2014, theorem 3.1, with h = 1",
    "method": GD,
    "glossary": GLOSSARY,
    "let": (
        fa.Assumption("smooth", (L,), "f is L-smooth"),
        fa.Assumption("convex", (), "f is convex"),
        fa.Assumption("weights_sum_to_one", (), "the one client has weight 1"),
    ),
    "choose": {gamma(t): 1 / L},
    "when": (fa.Eq(E, 1), fa.Eq(C, 1)),
}

# Attained by a function that is a parabola near x* and a straight line further out: tightness is 1.
RATE = fa.Statement(
    id="gd/rate", title="The tight rate", then=fa.Le(gap(T), L * dist2(0) / (4 * T + 2)), **ABOUT
)  # fmt: skip
TOO_GOOD = fa.Statement(
    id="gd/too-good", title="4N + 3 (false: the rate above is attained)",
    then=fa.Le(gap(T), L * dist2(0) / (4 * T + 3)), **ABOUT,
)  # fmt: skip
