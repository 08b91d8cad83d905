"""The algorithm boxes of the paper: rules (2) and (4) with weights alpha_t, in three readings, and what it proposes.

t counts local steps. Between two averages w_t is a mean of the clients' points, and with which weights is what the
readings differ in: `averaging(...)` writes one box from the rule and from the weights of the average.
"""

from collections.abc import Callable
from typing import Any, Literal

from ...language.method import Method
from ...language.rule_expressions import (
    chosen,
    expect,
    f,
    f_i,
    f_i_star,
    f_star,
    grad,
    in_turn,
    largest,
    least,
    mean,
    most,
    noisy,
    norm2,
    own,
    ratio,
    smaller,
    softmax,
    start,
    vector,
    w_i_star,
    w_star,
    weight,
)
from ...language.rule_parts import Number, Vector, Weights
from .symbols import (
    GLOSSARY,
    K,
    alpha,
    alpha_max,
    alpha_min,
    dist2,
    eta,
    gap,
    grad2,
    grad2_max,
    i,
    kappa_max,
    kappa_min,
    local_excess,
    local_fall,
    moved2,
    off_mean,
    p_min,
    rho_bar,
    rho_floor,
    rho_least,
    rho_run,
    rho_run_max,
    rho_tilde,
    spread,
    spread_star,
    start_excess,
    t,
    temperature,
)

Rule = Literal["printed", "rounds", "kept"]
Policy = Callable[[Number], Weights]
x, y, z = vector("w"), vector("w_i", "w^i"), vector("w_i_before", r"\widehat w^i")  # z: before the last local step
u, v, before = vector("u"), vector("u_i", "u^i"), vector("u_i_before", r"\widehat u^i")  # a second run beside the first


def excess(w: Vector) -> Number:
    """F_i(w) - F_i*."""
    return f_i(w) - f_i_star


def skew(alpha: Weights, w: Vector) -> Number:
    """rho (8)."""
    return ratio(mean(excess(w), weights=alpha), mean(excess(w)))


def averaging(id: str, title: str, cite: str, rule: Rule, policy: Policy) -> Method:
    """Federated SGD. printed: (2) averages in the step from t when E | t, and p moves w_t elsewhere (4). rounds:
    algorithm 1 averages when E | t + 1, and p moves w_t before that. kept: the same with the round's weights in (4).
    """
    late = rule == "printed"
    at_average = policy(excess(mean(z) if late else x))
    w = mean(y, weights=at_average) if rule == "kept" else mean(y)
    weights = at_average if rule == "kept" else in_turn(policy(excess(w)))
    return Method(
        id=id,
        title=title,
        cite=cite,
        glossary=GLOSSARY,
        server={x: start},
        client={y: x, z: x} if late else {y: x},
        begin={y: x, z: x} if late else {y: x},
        local={y: y - eta(t) * noisy(grad(y))} | ({z: y} if late else {}),
        update={x: mean(y, weights=at_average)},
        measures=measures(w, weights),
        clock="steps",
        first=1 if late else 0,
    )


def measures(w: Vector, weights: Weights) -> dict[Any, Number]:
    """What the statements speak of: w_t is `w`, its weights are `weights`."""
    skew_of_max, kappa = skew(largest(excess(w)), w), ratio(weight(weights), weight(own))
    return {
        alpha(t, i): expect(weight(weights)),
        gap(t): expect(f(w)) - f_star,
        dist2(t): expect(norm2(w - w_star)),
        spread(t): expect(mean(norm2(w - y), weights=weights)),
        spread_star(t): expect(mean(norm2(w - w_i_star), weights=weights)),
        local_excess(t): expect(mean(excess(y), weights=weights)),
        local_fall(t): expect(mean(f_i(y) - f_i(w_star), weights=weights)),
        grad2(t, i): most(norm2(noisy(grad(y)))),
        off_mean(t): expect(norm2(w - mean(y, weights=weights))),
        moved2(t): expect(norm2(w - start)),
        start_excess(t, i): expect(excess(w)),
        rho_run(t): least(skew(weights, w), each_round=True),
        rho_run_max(t): least(skew_of_max, each_round=True),
        rho_bar: least(skew(weights, w), each_round=True),
        rho_tilde: most(skew(weights, w_star), each_round=True),
        rho_least: least(skew(weights, w)),
        rho_floor: least(smaller(skew(weights, w), skew(weights, w_star))),
        kappa_min: least(kappa, each_round=True),
        kappa_max: most(kappa, each_round=True),
        alpha_min: least(weight(weights), each_round=True),
        alpha_max: most(weight(weights), each_round=True),
        p_min: least(weight(own)),
    }


PRINTED = averaging("weighted-printed", "Federated SGD with weights alpha_t, as printed", "(2), (4)", "printed", chosen)
ROUNDS = averaging("weighted-rounds", "Federated SGD with weights alpha_t", "algorithm 1, (4)", "rounds", chosen)
KEPT = averaging("weighted-kept", "Federated SGD with the round's weights in (4)", "algorithm 1, (4)", "kept", chosen)
FEDMAX = averaging("fedmax", "FedMax", "(15), (21)", "printed", largest)
FEDMAX_K = averaging("fedmax-k", "FedMax(k)", "section 2.4", "printed", lambda by: largest(by, K))
FEDSOFTMAX = averaging("fedsoftmax", "FedSoftMax", "section 2.4", "printed", lambda by: softmax(by, temperature))
SIDE_BY_SIDE = Method(
    id="weighted-beside-fedmax",
    title="Chosen weights and FedMax's, each on a run of its own from the same start",
    cite="(2), (4), (15)",
    glossary=GLOSSARY,
    server={x: start, u: start},
    client={y: x, z: x, v: u, before: u},
    begin={y: x, z: x, v: u, before: u},
    local={y: y - eta(t) * grad(y), z: y, v: v - eta(t) * grad(v), before: v},
    update={
        x: mean(y, weights=chosen(excess(mean(z)))),
        u: mean(v, weights=largest(excess(mean(before)))),
    },
    measures={
        dist2(t): expect(norm2(mean(y) - w_star)),
        grad2(t, i): most(norm2(grad(y))),
        grad2_max(t, i): most(norm2(grad(v))),
        rho_run(t): least(skew(chosen(excess(mean(y))), mean(y)), each_round=True),
        rho_run_max(t): least(skew(largest(excess(mean(v))), mean(v)), each_round=True),
    },
    clock="steps",
    first=1,
)
