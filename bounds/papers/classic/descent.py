"""Gradient descent with a fixed step on smooth functions, and the subgradient method."""

from typing import Any

from ...language.algebra import Eq, Le, Lt, Max, Sum
from ...language.knobs import unit
from ...language.statement import Statement
from .methods import DESCENT, HALPERN, INEXACT, LINE_SEARCH
from .symbols import (
    GLOSSARY,
    C,
    E,
    L,
    M,
    T,
    best,
    bounded_subgradients,
    convex,
    dist2,
    eps,
    exact_line_search,
    gamma,
    gap,
    grad2,
    h,
    level,
    mu,
    one_weight,
    relative_errors,
    s,
    smooth,
    step,
    strongly_convex,
    subgradients,
    t,
)  # fmt: skip

ONE: tuple[Any, ...] = (Eq(E, 1), Eq(C, 1))
SHORT: dict[str, Any] = {
    "kind": "inequality", "method": DESCENT, "glossary": GLOSSARY, "choose": {gamma(t): h / L}, "sweep": {h: unit("h")},
    "when": (*ONE, Le(h, 1)),
}  # fmt: skip
LONG: dict[str, Any] = SHORT | {"sweep": {h: 2 * unit("h")}, "when": (*ONE, Lt(h, 2), Le(mu, L))}
ANY: dict[str, Any] = SHORT | {"sweep": {h: 2 * unit("h")}, "when": (*ONE, Lt(h, 2))}
SMOOTH_CONVEX = (smooth, convex, one_weight)
STRONG = (smooth, strongly_convex, one_weight)
factor = Max((1 - h * mu / L) ** 2, (1 - h) ** 2) ** T
FIXED = "the step h/L is the same in every step"

RATE = Statement(
    id="classic/gd-rate", title="Gradient descent on smooth convex functions", let=SMOOTH_CONVEX,
    cite="Drori and Teboulle 2014, theorem 3.1: L R^2/(4 N h + 2), attained for every h in (0, 1]",
    then=Le(gap(T), L * dist2(0) / (4 * T * h + 2)), reading=(FIXED,), **SHORT,
)  # fmt: skip
GRADIENT_BY_DISTANCE = Statement(
    id="classic/gd-gradient", title="The last gradient, by the distance at the start", let=SMOOTH_CONVEX,
    cite="Taylor, Hendrickx and Glineur 2017, section 4.1: |grad f(x_N)| <= L R/(N h + 1), attained by a Huber loss",
    then=Le(grad2(T), L**2 * dist2(0) / (T * h + 1) ** 2), reading=(FIXED,), **SHORT,
)  # fmt: skip
GRADIENT_BY_GAP = Statement(
    id="classic/gd-gradient-gap", title="The last gradient, by the gap at the start", let=SMOOTH_CONVEX,
    cite="Rotaru, Glineur and Patrinos 2022, convex case: |grad f(x_N)|^2 <= 2 L (f(x_0) - f*)/(2 N h + 1)",
    then=Le(grad2(T), 2 * L * gap(0) / (2 * T * h + 1)), reading=(FIXED,), **SHORT,
)  # fmt: skip

DISTANCE = Statement(
    id="classic/gd-contraction", title="Contraction in distance", let=STRONG,
    cite="Polyak 1963; Taylor, Hendrickx and Glineur 2018, theorem 3.1 with no regulariser: max((1 - gamma mu)^2,"
    " (1 - gamma L)^2)^N, attained by quadratics",
    then=Le(dist2(T), factor * dist2(0)), reading=(FIXED,), **LONG,
)  # fmt: skip
GAP = Statement(
    id="classic/gd-contraction-gap", title="Contraction in value", let=STRONG,
    cite="Taylor, Hendrickx and Glineur 2018, theorem 3.3 with no regulariser",
    then=Le(gap(T), factor * gap(0)), reading=(FIXED,), **LONG,
)  # fmt: skip
GRADIENT = Statement(
    id="classic/gd-contraction-gradient", title="Contraction of the gradient", let=STRONG,
    cite="Taylor, Hendrickx and Glineur 2018, theorem 3.2 with no regulariser",
    then=Le(grad2(T), factor * grad2(0)), reading=(FIXED,), **LONG,
)  # fmt: skip

FALLS = Statement(
    id="classic/gd-fall", title="One step on a smooth function", let=(smooth, one_weight),
    cite="Nesterov 2004, (1.2.13): f(x+) <= f(x) - gamma (1 - gamma L/2) |grad f(x)|^2",
    then=Le(h * (1 - h / 2) * grad2(0) / L, level(0) - level(1)), reading=(FIXED,),
    **ANY,
)  # fmt: skip
NONCONVEX = Statement(
    id="classic/gd-nonconvex", title="Gradients of smooth functions that need not be convex, on average",
    let=(smooth, one_weight),
    cite="Abbaszadehpeivasti, de Klerk and Zamani 2022, theorem 2 and its proof: 4 L (f(x_0) - f(x_N))/(N h (4 - h))",
    then=Le(
        Sum((3 - h) * grad2(s) + grad2(s + 1), (s, 0, T - 1)) / ((4 - h) * T),
        4 * L * (level(0) - level(T)) / (T * h * (4 - h)),
    ),
    reading=(FIXED, "the mean that the proof bounds, of which the least gradient is a part; both have one worst case"),
    **SHORT,
)  # fmt: skip
EXACT_STEPS = Statement(
    id="classic/exact-line-search", kind="inequality", title="Gradient descent with exact line search",
    cite="de Klerk, Glineur and Taylor 2017, theorem 1.2: ((L - mu)/(L + mu))^(2 N), attained by quadratics",
    method=LINE_SEARCH, glossary=GLOSSARY, let=(*STRONG, exact_line_search), when=(*ONE, Le(mu, L)),
    sweep={gamma(t): 1 / (mu + (L - mu) * unit("where"))},
    then=Le(gap(T), ((L - mu) / (L + mu)) ** (2 * T) * gap(0)),
    reading=("the step sizes are any for which every step ends where f is least on its line",),
)  # fmt: skip
worse, flatter = (1 + eps) * L, (1 - eps) * mu
INEXACT_STEPS = Statement(
    id="classic/inexact-gradient", kind="inequality", title="Gradient descent with errors in its gradients",
    cite="de Klerk, Glineur and Taylor 2020, theorem 5.3: ((L_eps - mu_eps)/(L_eps + mu_eps))^(2 N) at gamma ="
    " 2/(L_eps + mu_eps), L_eps = (1 + eps) L, mu_eps = (1 - eps) mu",
    method=INEXACT, glossary=GLOSSARY, let=(*STRONG, relative_errors),
    choose={gamma(t): 2 / (worse + flatter)}, when=(*ONE, Lt(eps, 1), Le(mu, L), Le(T, 2)),
    then=Le(gap(T), ((worse - flatter) / (worse + flatter)) ** (2 * T) * gap(0)), sweep={eps: unit("eps")},
    reading=("of two steps at most: every error is a point that an instance gives",),
)  # fmt: skip

SUBGRADIENT = Statement(
    id="classic/subgradient", kind="inequality", title="Subgradient method, mean of the gaps", method=DESCENT,
    cite="Nesterov 2004, theorem 3.2.2; M R/sqrt(N + 1) at gamma = R/(M sqrt(N + 1)) is attained (Drori and Teboulle"
    " 2016, section 1)",
    glossary=GLOSSARY, let=(convex, subgradients, one_weight, bounded_subgradients), choose={gamma(t): step}, when=ONE,
    then=Le(Sum(gap(s), (s, 0, T)) / (T + 1), (dist2(0) + (T + 1) * step**2 * M**2) / (2 * (T + 1) * step)),
    reading=("the mean over x_0, ..., x_N, of which the best of them is a part; both have one worst case",),
)  # fmt: skip
BEST = Statement(
    id="classic/subgradient-best", kind="inequality", title="Subgradient method, the best point", method=DESCENT,
    cite="Nesterov 2004, theorem 3.2.2; M R/sqrt(N + 1) at gamma = R/(M sqrt(N + 1)) is attained (Drori and Teboulle"
    " 2016, section 1)",
    glossary=GLOSSARY, let=(convex, subgradients, one_weight, bounded_subgradients), choose={gamma(t): step}, when=ONE,
    then=Le(best, (dist2(0) + (T + 1) * step**2 * M**2) / (2 * (T + 1) * step)),
)  # fmt: skip

ANCHORED = Statement(
    id="classic/halpern", kind="inequality", title="Halpern's iteration with the operator x - (2/L) grad f(x)",
    cite="Lieder 2021, theorem 2.1: |x_N - Tx_N|^2 <= 4 R^2/(N + 1)^2 for nonexpansive T, attained by a Huber loss",
    method=HALPERN, glossary=GLOSSARY, let=SMOOTH_CONVEX, choose={gamma(t): 2 / L}, when=ONE,
    then=Le(4 * grad2(T) / L**2, 4 * dist2(0) / (T + 1) ** 2),
    reading=("T is x - (2/L) grad f(x), which is nonexpansive for convex and L-smooth f: x - Tx is (2/L) grad f(x)",),
)  # fmt: skip
