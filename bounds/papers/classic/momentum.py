"""Accelerated gradient methods."""

from ...language.algebra import Le, Lt, Sum
from ...language.knobs import unit
from ...language.statement import Assumption, Statement
from .descent import ONE, SMOOTH_CONVEX, STRONG
from .methods import CONSTANT, GROWING, OPTIMIZED
from .symbols import GLOSSARY, L, T, dist2, gamma, gap, last, mu, pull, q, s, t

slow = Assumption(
    "slow_weights", (), "a_t^2 <= 2 (a_0 + ... + a_t)", means=Le(pull(t) ** 2, 2 * Sum(pull(s), (s, 0, t))),
    for_all=((t, 0, T - 1),),
)  # fmt: skip
slow_last = Assumption(
    "slow_last_weight", (), "theta_N^2 <= a_0 + ... + a_(N-1) + theta_N",
    means=Le(last**2, Sum(pull(s), (s, 0, T - 1)) + last),
)  # fmt: skip

NESTEROV = Statement(
    id="classic/accelerated", kind="inequality", title="Accelerated gradient on smooth convex functions",
    cite="Nesterov 1983 with momentum t/(t + 3); Taylor, Hendrickx and Glineur 2017, section 4.2: the exact worst case"
    " 2 L R^2/(N^2 + 5 N + 6) at every N that was computed",
    method=GROWING, glossary=GLOSSARY, let=SMOOTH_CONVEX, choose={gamma(t): 1 / L}, when=ONE,
    then=Le(gap(T), 2 * L * dist2(0) / ((T + 2) * (T + 3))),
)  # fmt: skip
STRONGLY = Statement(
    id="classic/accelerated-strong", kind="inequality", title="Accelerated gradient with constant momentum",
    cite="Nesterov 2004, theorem 2.2.3",
    method=CONSTANT, glossary=GLOSSARY, let=STRONG, choose={gamma(t): 1 / L},
    when=(*ONE, Lt(q, 1), Le(q**2 * L, mu)),
    then=Le(gap(T), (1 - q) ** T * (gap(0) + q**2 * L * dist2(0) / 2)),
    reading=(
        "q is at most sqrt(mu/L), so that it may be rational and runs are exact",
        "an upper bound: its exact worst case is not known",
    ),
)  # fmt: skip
OPTIMAL = Statement(
    id="classic/optimized-gradient", kind="inequality", title="Optimized gradient method",
    cite="Kim and Fessler 2016, theorem 2: L R^2/(2 theta_N^2), attained, where a_t^2 = 2 (a_0 + ... + a_t) and"
    " theta_N^2 = a_0 + ... + a_(N-1) + theta_N; Kim and Fessler 2018 for smaller weights",
    method=OPTIMIZED, glossary=GLOSSARY, let=(*SMOOTH_CONVEX, slow, slow_last), when=ONE,
    choose={gamma(t): 1 / L},
    sweep={pull(t): unit("pull") * (t + 2), last: unit("last") * (T + 2) / 2},
    then=Le(gap(T), L * dist2(0) / (2 * (Sum(pull(s), (s, 0, T - 1)) + last))),
    reading=("a_t = 2 theta_t in the usual notation; rational weights below the best ones make runs exact",),
)  # fmt: skip
