"""What the text says beside the theorems: the optimality measure, sparse logistic regression, (A.32), the line before
(A.38), and the corollary that is quoted after theorem 3.8."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Le, Rational
from ...language.derivation import Argument, Derivation, Step, View
from ...language.statement import Assumption, Statement
from .methods import AT_STATIONARY
from .statements import B_TERM, EQ_A_33, EQ_A_33_REPAIRED, NOISE, ON_PATHS, THEOREM_3_8
from .symbols import (
    G2,
    GLOSSARY,
    L,
    Omega_sc,
    R,
    T,
    average,
    b,
    bounded_variance,
    descent,
    eta_t,
    far,
    gap,
    lam2,
    mu,
    mu_sc,
    n,
    r,
    sigma,
    slope_length,
    still_conj,
    still_g,
    still_inner,
    strongly_convex,
    tau,
    theta,
    vstep2,
)

STATIONARY = Statement(
    id="zhang/def-stationary",
    waits_for="equality in the inequality of Fenchel and Young, at a proximal point",
    kind="identity",
    title="The optimality measure is zero exactly at stationary points",
    cite="Below (12), section 3",
    method=AT_STATIONARY,
    glossary=GLOSSARY,
    let=(average,),
    when=(Eq(n, 1), Eq(tau, 1)),
    then=(
        Eq(vstep2(r) / eta_t**2, 0 * vstep2(r)),
        Eq(still_inner(r), still_g(r) + still_conj(r)),
    ),
    for_all={r: (1, T)},
    reading=(
        "both ways at once, on points P that are kept by the step (4): G(P) = 0, so that s = G(P) - grad f(P) is "
        "-grad f(P), and s is a subgradient of g at P: exactly then <s, P> = g(P) + g*(s) (Fenchel and Young)",
        "of stationary points only minimisers are run; at other points the measure is positive (eqA.25 bounds it)",
        ON_PATHS,
    ),
)

SPARSE_LOGISTIC = Statement(
    id="zhang/sec4-prox-pl",
    kind="order",
    title="Sparse logistic regression satisfies the proximal PL inequality",
    cite="Section 4, first paragraph; assumption 3.3 (2)",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (mu, theta, slope_length), "the problem and the constant mu"),
        Assumption("grows", (far,), "the inequality is asked for at every x"),
    ),
    then=Le(mu * (theta * far - slope_length), theta**2 / 2),
    reading=(
        "mu (F(x) - F*) <= D_g(x, mu)/2 for all x, with some mu > 0; one data point in one dimension, a = b = 1, and "
        "theta >= 1/2, so that x* = 0 and F* = ln 2 =: F_0. At x > 0 F(x) - F* is at least theta x - F_0, and for x >= "
        "theta/mu the minimum in D_g is at y = x - (theta + f'(x))/mu >= 0, where -1 < f' < 0: D_g <= theta^2",
        "every constant falls: the left side grows with x, the right one does not. On bounded sets such an inequality "
        "holds; the source that is cited, [11], has l1-regularised least squares",
    ),
    by_hand="the two closed forms on one data point: F(x) - F* >= theta x - ln 2 and D_g(x, mu) <= theta^2",
)

NO_B_G = Statement(
    id="zhang/cor-no-bg",
    waits_for="an indicator function among the regularisers, and the text of [33]",
    kind="inequality",
    title="Strongly convex, g the indicator of a convex set: no term in B_g",
    cite="After theorem 3.8, section 3, from its [33, corollary 3.6]",
    method=THEOREM_3_8.method,
    glossary=GLOSSARY,
    let=(average, descent, bounded_variance, strongly_convex),
    when=THEOREM_3_8.when,
    then=Le(
        Omega_sc(R + 1),
        (1 - mu_sc * eta_t / 3) ** R * Omega_sc(1) + 30 * eta_t * sigma**2 / (mu_sc * n * tau * b),
    ),
    for_all={R: (1, T)},
    reading=(
        "theorem 3.8 without its last term, where g is the indicator of a convex set and grad f(x*) = 0",
        "no indicator is among the regularisers that are run (g = theta |.|_1, up max(x, 0) + down max(-x, 0), or 0)",
    ),
    quoted="corollary 3.6 of the authors' conference paper [33]; an indicator as g is not in the language",
)

_A_32: dict[str, Any] = {"title": "One round of the descent of eta~ Omega", "cite": "Equation (A.32), appendix A.5"}
ROUND = Le(
    eta_t * gap(r + 1) + lam2(r + 1) / n,
    eta_t * gap(r)
    + lam2(r) / n
    + 6 * eta_t**2 / (n * tau) * NOISE
    + eta_t * B_TERM * eta_t**3
    - Rational(3, 10) * eta_t**2 * G2(r),
)


def scaled(goal: View, round_: View) -> Argument:
    """(A.33) times eta~."""
    last = Step(goal.relations[0], given=(round_.holds(),), where="(A.32)")
    return Argument((last,), last)


EQ_A_32 = replace(
    EQ_A_33,
    id="zhang/eqA.32",
    then=ROUND,
    follows_from=(Derivation(scaled, cites=("zhang/eqA.33",)),),
    **_A_32,
)
EQ_A_32_REPAIRED = replace(
    EQ_A_33_REPAIRED,
    id="zhang/eqA.32~repaired",
    then=ROUND,
    follows_from=(Derivation(scaled, cites=("zhang/eqA.33~repaired",)),),
    **_A_32,
)


def coefficients(goal: View) -> Argument:
    """5 L/6 ≤ 1/(12 η̃) where η̃ ≤ 1/(10 L)."""
    last = Step(goal.relations[0], note="eta~ L <= 1/10")
    return Argument((last,), last)


_COEFFICIENTS: dict[str, Any] = {
    "kind": "inequality",
    "title": "The coefficient of (A.36) in (A.37)",
    "cite": "The line before (A.38), appendix A.6",
    "method": "scalar",
    "glossary": GLOSSARY,
    "when": (Le(eta_t, 1 / (10 * L)),),
    "follows_from": (Derivation(coefficients),),
}
LEFT = 5 * L / 6 - 1 / (6 * eta_t)
EQ_A_38_LINE = Statement(
    id="zhang/eqA.38-line",
    then=Le(LEFT, 1 / (12 * eta_t)),
    reading=(
        "under (13); printed with 1/(12 eta~) on the right, where (A.37), which it explains, has -1/(12 eta~): the "
        "likely meaning is zhang/eqA.38-line~likely",
    ),
    **_COEFFICIENTS,
)
EQ_A_38_LINE_LIKELY = Statement(
    id="zhang/eqA.38-line~likely",
    then=Le(LEFT, -1 / (12 * eta_t)),
    reading=("the likely meaning of zhang/eqA.38-line, which is audited as the text has it: the sign of (A.37)",),
    **_COEFFICIENTS,
)
