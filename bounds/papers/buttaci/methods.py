"""The methods of the thesis: algorithm boxes of chapter 4, and what section 2.2 and assumption 4.4 are about."""

from dataclasses import replace

from ...language.method import Method
from ...language.rule_expressions import (
    axis,
    expect,
    f,
    f_star,
    full_grad,
    grad,
    inner,
    mean,
    neighbours,
    noisy,
    norm2,
    other,
    point,
    start,
    vector,
    w_star,
)
from .symbols import (
    GLOSSARY,
    alpha,
    apart2,
    descent2,
    deviation,
    dist2,
    divergence,
    excess,
    gamma,
    gap,
    grad2,
    i,
    k,
    level,
    slope2,
    slopes_apart2,
    t,
)
from .symbols_perturbed import beta, centre, j, mismatch, n, perturbation, perturbed2, previous, rule_slope2, spread
from .symbols_perturbed import mean as mean_entry

w, w_i = vector("w", r"\overline{\mathbf w}"), vector("w_i", r"\mathbf w^i")

FEDPROX = Method(
    id="fedprox",
    title="FedProx (FedAvg for alpha = 0)",
    cite="update rule (4.3), section 4.2",
    glossary=GLOSSARY,
    server={w: start},
    client={w_i: w},
    begin={w_i: w},
    local={w_i: w_i - gamma(t) * (noisy(grad(w_i)) + alpha * (w_i - w))},
    update={w: mean(w_i)},
    measures={
        gap(t): expect(f(w)) - f_star,
        dist2(t): expect(norm2(w - w_star)),
        level(t): expect(f(w)),
        excess(t): expect(f(w)) - f_star,
        slope2(t, k): expect(norm2(full_grad(mean(w_i)))),
        deviation(t, k, i): expect(norm2(w_i - w)),
        divergence(t, k, i): expect(norm2(mean(w_i) - w_i)),
        grad2(t, k, i): expect(norm2(noisy(grad(w_i)))),
    },
)

u_i = vector("u_i", r"\mathbf u^i")
perturbed_point = beta * w_i + (1 - beta) * u_i

PERTURBED = Method(
    id="perturbed",
    title="Perturbed gradients, with similarity weights",
    cite="algorithm 2, rules (4.5) to (4.7), section 4.3",
    glossary=GLOSSARY,
    server={w: start},
    client={w_i: w, u_i: w},
    begin={w_i: w},
    local={w_i: w_i - gamma(t) * noisy(grad(perturbed_point))},
    end={u_i: neighbours(w_i)},
    update={w: mean(w_i)},
    measures={
        gap(t): expect(f(w)) - f_star,
        dist2(t): expect(norm2(w - w_star)),
        level(t): expect(f(w)),
        excess(t): expect(f(w)) - f_star,
        slope2(t, k): expect(norm2(full_grad(mean(w_i)))),
        divergence(t, k, i): expect(norm2(mean(w_i) - w_i)),
        perturbation(t, k, i): expect(norm2(mean(w_i) - perturbed_point)),
        spread(t, i, j): expect(norm2(u_i - other(u_i))),
        mean_entry(t, k, n): expect(inner(mean(w_i), axis)),
        centre(t, k, n): expect(inner(mean(perturbed_point), axis)),
        mismatch(t, k): expect(norm2(mean(perturbed_point) - beta * mean(w_i) - (1 - beta) * w)),
        grad2(t, k, i): expect(norm2(noisy(grad(w_i)))),
        perturbed2(t, k, i): expect(norm2(noisy(grad(perturbed_point)))),
    },
    before={previous(t): gamma(t)},
)

last_i = vector("last_i", r"\mathbf w^i_{-}")  # w^i at the end of the round before
FROM_NEIGHBOURS = replace(
    PERTURBED,
    id="perturbed-rule",
    title="Perturbed gradients, with the neighbours' last iterates",
    client={**PERTURBED.client, last_i: w},
    end={**PERTURBED.end, last_i: w_i},
    measures={
        rule_slope2(t, k, i): expect(
            norm2(beta * (perturbed_point - w_i) + (1 - beta) * (perturbed_point - neighbours(last_i)))
        ),
    },
    before={},
)

DESCENT = Method(
    id="gradient-descent",
    title="Gradient descent",
    cite="section 2.2",
    glossary=GLOSSARY,
    server={w: start},
    client={},
    update={w: w - gamma(t) * full_grad(w)},
    measures={level(t): expect(f(w)), descent2(t): expect(norm2(full_grad(w)))},
)

v = vector("v", r"\mathbf v")
TWO_POINTS = Method(
    id="two-points",
    title="Two points w and v",
    cite="assumption 4.4",
    glossary=GLOSSARY,
    server={w: start, v: point("other")},
    client={},
    measures={
        apart2(t): expect(norm2(w - v)),
        slopes_apart2(t): expect(norm2(full_grad(w) - full_grad(v))),
    },
)
