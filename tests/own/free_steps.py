"""Step sizes that are free below an end, as in Khaled, Mishchenko and Richtarik 2020, and false variants."""

from typing import Any

import fedaudit as fa

GLOSSARY = fa.Glossary()
T, E, C = (
    GLOSSARY.count("T", "local steps"),
    GLOSSARY.count("E", "local steps per round"),
    GLOSSARY.count("C", "clients"),
)
t = GLOSSARY.index("t", "step")
L, mu = GLOSSARY.symbol("L", "F/W^2", "smoothness"), GLOSSARY.symbol("mu", "F/W^2", "strong convexity", r"\mu")
sigma = GLOSSARY.symbol("sigma", "F/W", "noise of a gradient", r"\sigma", nonnegative=True)
gamma = GLOSSARY.symbol("gamma", "W^2/F", "step size", r"\gamma")
dist2 = GLOSSARY.quantity("dist2", "W^2", "E |x_t - x*|^2", r"\mathbb{{E}} \|x_{{{0}}} - x^*\|^2", nonnegative=True)
average = GLOSSARY.quantity(
    "average", "F", "E f(first t iterates over T) - f*", r"\mathbb{{E}} f(\bar x_{{{0}}}) - f^*", nonnegative=True
)
rest2 = GLOSSARY.quantity("rest2", "F^2/W^2", "mean |grad f_i(x*)|^2", r"\varsigma^2", nonnegative=True)

x, y, past = fa.vector("x"), fa.vector("y", "y_i"), fa.vector("past", "s_i")
SGD = fa.Method(
    id="parallel-sgd", title="Parallel SGD", cite="one step per round", glossary=GLOSSARY,
    server={x: fa.start}, client={y: x}, begin={y: x},
    local={y: y - gamma * fa.noisy(fa.grad(y))}, update={x: fa.mean(y)},
    measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star))},
)  # fmt: skip
LOCAL = fa.Method(
    id="local-sgd", title="Local SGD", cite="Khaled et al. 2020, algorithm 1", glossary=GLOSSARY, clock="steps",
    server={x: fa.start}, client={y: x}, begin={y: x},
    local={y: y - gamma * fa.noisy(fa.grad(y))}, update={x: fa.mean(y)},
    measures={
        dist2(t): fa.expect(fa.norm2(fa.mean(y) - fa.w_star)),
    },
)  # fmt: skip
AVERAGED = fa.Method(
    id="averaged-local-sgd", title="Local SGD and the mean of its iterates", cite="Khaled et al. 2020, theorem 5",
    glossary=GLOSSARY, clock="steps", server={x: fa.start}, client={y: x, past: 0}, begin={y: x},
    local={y: y - gamma * fa.noisy(fa.grad(y)), past: past + y}, update={x: fa.mean(y)},
    measures={
        average(t): fa.expect(fa.f(fa.mean(past) / T)) - fa.f_star,
        dist2(t): fa.expect(fa.norm2(x - fa.w_star)),
        rest2(t): fa.expect(fa.mean(fa.norm2(fa.grad(fa.w_star)))),
    },
)  # fmt: skip
NOISE = (
    fa.Assumption("bounded_variance", (sigma,), "a gradient has noise of variance sigma^2 at most"),
    fa.Assumption("independent_noise", (), "clients draw on their own"),
    fa.Assumption("equal_weights", (), "p_i = 1/C"),
)
CURVED = (
    fa.Assumption("smooth", (L,), "L-smooth"),
    fa.Assumption("strongly_convex", (mu,), "mu-strongly convex"),
    *NOISE,
)
CONVEX = (fa.Assumption("smooth", (L,), "L-smooth"), fa.Assumption("convex", (), "convex"), *NOISE)
ABOUT: dict[str, Any] = {"kind": "inequality", "glossary": GLOSSARY}
START = (1 - gamma * mu) ** T * dist2(0)
DRIFT = 2 * L * gamma**2 * (E - 1) * sigma**2 / mu
SHORT = (fa.Le(gamma, 1 / (4 * L)),)
BOTH = (fa.Le(gamma, 1 / (4 * L)), fa.Le(8 * gamma * L * (E - 1), 1))
REST = rest2(0) + sigma**2

FLOOR = fa.Statement(
    id="khaled/floor", title="Parallel SGD: noise of C clients averages out", cite="folklore", method=SGD, let=CURVED,
    then=fa.Le(dist2(T), START + gamma * sigma**2 / (mu * C)), when=(*SHORT, fa.Eq(E, 1)), **ABOUT,
)  # fmt: skip
FLOOR_SQUARE = fa.Statement(
    id="khaled/floor-square", title="C^2 for C (false)", cite="made up", method=SGD, let=CURVED,
    then=fa.Le(dist2(T), START + gamma * sigma**2 / (mu * C**2)), when=(*SHORT, fa.Eq(E, 1)), **ABOUT,
)  # fmt: skip
IDENTICAL = fa.Statement(
    id="khaled/identical", title="Local SGD where all clients have one loss", cite="theorem 1", method=LOCAL,
    let=(*CURVED, fa.Assumption("homogeneous", (), "f_i = f")),
    then=fa.Le(dist2(T), START + gamma * sigma**2 / (mu * C) + DRIFT), when=SHORT, **ABOUT,
)  # fmt: skip
IDENTICAL_SQUARE = fa.Statement(
    id="khaled/identical-square", title="C^2 for C (false)", cite="made up", method=LOCAL,
    let=(*CURVED, fa.Assumption("homogeneous", (), "f_i = f")),
    then=fa.Le(dist2(T), START + gamma * sigma**2 / (mu * C**2)), when=SHORT, **ABOUT,
)  # fmt: skip
HETEROGENEOUS = fa.Statement(
    id="khaled/heterogeneous", title="Clients that differ, noise at x*, the mean iterate", cite="theorem 5",
    method=AVERAGED, let=CONVEX, when=BOTH,
    then=fa.Le(
        average(T), 4 * dist2(0) / (gamma * T) + 20 * gamma * REST / C + 16 * gamma**2 * L * (E - 1) ** 2 * REST
    ),
    **ABOUT,
)  # fmt: skip
WITHOUT_NOISE = fa.Statement(
    id="khaled/without-drift", title="Nothing for noise or drift (false)", cite="made up",
    method=AVERAGED, let=CONVEX, when=BOTH,
    then=fa.Le(average(T), dist2(0) / (2 * gamma * T) + gamma * REST / (50 * C)), **ABOUT,
)  # fmt: skip
