"""Algorithm 1, as appendix G runs it: every user from w_k, the average over the set A_k of those that take part."""

from dataclasses import replace
from typing import Any

from ...language.method import Method
from ...language.rule_expressions import (
    expect,
    f_i,
    grad,
    hess,
    inner,
    mean,
    noisy,
    noisy_hess,
    norm,
    norm2,
    picked_step,
    start,
    vector,
)
from .method_symbols import Q
from .symbols import GLOSSARY, K, alpha, beta, k, t

w, w_i = vector("w"), vector("w_i", "w^i")


def meta_grad(x: Any) -> Any:
    """grad F_i(x) = (I - alpha Hess f_i(x)) grad f_i(x - alpha grad f_i(x)), (5)."""
    there = grad(x - alpha * grad(x))
    return there - alpha * hess(x, there)


def level(x: Any) -> Any:
    """E F(x) - F(w_0), where F_i(x) = f_i(x - alpha grad f_i(x)), (4)."""
    return expect(mean(f_i(x - alpha * grad(x))) - mean(f_i(start - alpha * grad(start))))


OUTER = noisy(grad(w_i - alpha * noisy(grad(w_i))), again=True)
CENTRE, WBAR = mean(w_i), mean(w_i, over="sampled")
SLOPE, SAMPLED = mean(meta_grad(WBAR)), mean(meta_grad(WBAR), over="sampled")
SLOPE_ALL, SAMPLED_ALL = mean(meta_grad(CENTRE)), mean(meta_grad(CENTRE), over="sampled")

PER_FEDAVG = Method(
    id="per-fedavg",
    title="Per-FedAvg",
    cite="algorithm 1, (8) with batches of one point",
    glossary=GLOSSARY,
    server={w: start},
    client={w_i: w},
    begin={w_i: w},
    local={w_i: w_i - beta * (OUTER - alpha * noisy_hess(w_i, OUTER))},
    update={w: WBAR},
    measures={
        Q["drift"](k, t): expect(mean(norm(w_i - CENTRE))),
        Q["drift2"](k, t): expect(mean(norm2(w_i - CENTRE))),
        Q["averaged2"](k, t): expect(norm2(WBAR - CENTRE)),
        Q["Z2"](k, t): expect(norm2(SAMPLED_ALL - SAMPLED)),
        Q["YZ2"](k, t): expect(norm2(mean(meta_grad(w_i), over="sampled") - SAMPLED)),
        Q["product"](k, t): expect(inner(SLOPE, SAMPLED)),
        Q["slope2"](k, t): expect(norm2(SLOPE)),
        Q["sampled2"](k, t): expect(norm2(SAMPLED)),
        Q["product_all"](k, t): expect(inner(SLOPE_ALL, SAMPLED_ALL)),
        Q["slope2_all"](k, t): expect(norm2(SLOPE_ALL)),
        Q["sampled2_all"](k, t): expect(norm2(SAMPLED_ALL)),
        Q["level"](k, t): level(WBAR),
        Q["fall"](k): level(w),
        Q["round2"](k): picked_step(norm2(SLOPE)),
        Q["mean2"](K): picked_step(norm2(SLOPE)),
    },
)

FIRST_ORDER = replace(
    PER_FEDAVG,
    id="per-fedavg-fo",
    title="Per-FedAvg (FO): the second-order term is left out",
    cite="algorithm 1 with (112) for (8), appendix H",
    local={w_i: w_i - beta * OUTER},
)
