"""Data sets of N independent points: stability of minimisers, the inequality of Efron and Stein, fresh points.

S is a data set, S' one with another point in one place, S^(i) one with an independent copy of its i-th point.

Not claimed: anything about points that depend on one another, or data sets that differ in more than is said.
"""

from __future__ import annotations

from .theorem import theory

MEANINGS = {  # what proofs speak of although the claim does not
    "first": "how far the estimator of S is from its minimiser", "second": "the same of S'",
    "between": "how far both minimisers are apart", "total": "the sum over i of E|h(S) - h(S^(i))|^2",
    "moved": "the largest |A(S) - A(S')| over neighbours", "bias": "|E (grad R - grad R_S)(A(S))|",
    "variance": "E|grad R(A(S)) - E grad R(A(S))|^2",
}  # fmt: skip

# first, second: how far the estimators of S and S' are from their minimisers; between: how far these are apart.
ERM = theory(
    "first second between",
    (
        "near_first",
        "strongly_convex(lam); inexact(eps); 0 < lam |- lam/2 * first**2 <= eps",
        "a lam-strongly convex function grows by lam/2 |x|^2 at least around its minimiser, which it has",
    ),
    (
        "near_second",
        "strongly_convex(lam); inexact(eps); 0 < lam |- lam/2 * second**2 <= eps",
        "the same for S'",
    ),
    (
        "exchanged_once",
        "strongly_convex(lam); lipschitz(G); 0 < lam |- lam/2 * between**2 <= 2*G/N * between",
        "the risk of S at the minimiser v of S' exceeds its least value by at most what R_S - R_S' differs between "
        "both minimisers, for v is no worse for S'; and R_S - R_S' is the difference of two G-Lipschitz losses over N",
    ),
    (
        "exchanged",
        "strongly_convex(lam); lipschitz(G); 0 < lam |- lam * between**2 <= 2*G/N * between",
        "the strong convexity of both risks, each at its minimiser, added: what is left is R_S - R_S' at both points",
    ),
    (
        "triangle",
        "strongly_convex(lam); 0 < lam |- apart <= first + between + second",
        "the triangle inequality through both minimisers",
    ),
)

# total: the sum over i of E|h(S) - h(S^(i))|^2.
TABLE = theory(
    "total",
    (
        "efron_stein",
        "|- spread2 <= total/2",
        "Efron and Stein (1981), Steele (1986): the variance of a function of independent points is at most half the "
        "sum of its mean squared changes; coordinate by coordinate for vectors",
    ),
    ("differences", "bounded_differences(beta) |- total <= N * beta**2", "each of N changes is at most beta"),
)

# moved: the largest |A(S) - A(S')| over neighbours; total: as above, of h(S) = grad R(A(S)), R the population risk.
ALGORITHM = theory(
    "moved total bias variance",
    ("stable", "stable(gamma) |- moved <= gamma", "what uniform stability says"),
    (
        "fresh_point",
        "smooth(L) |- bias <= L * moved",
        "the i-th point is fresh to S^(i), so that E grad R(A(S)) is the mean over i of E grad l(A(S^(i)); Z_i), and "
        "E grad R_S(A(S)) that of E grad l(A(S); Z_i); Jensen",
    ),
    ("efron_stein", "|- variance <= total/2", "the inequality of Efron and Stein for h"),
    (
        "differences",
        "smooth(L) |- total <= N * (L * moved)**2",
        "R is L-smooth, as a mean of L-smooth losses, so that each of N changes of h is at most L times that of A",
    ),
    (
        "split",
        "|- about_empirical == variance + bias**2",
        "a second moment around a point is variance and squared bias",
    ),
    (
        "all_changed",
        "smooth(L) |- about_empirical <= (N * L * moved)**2",
        "R is the mean over a fresh S' of its risk, so that what is squared is a mean of grad l at A(S) less at A(S'), "
        "and the two are N changes apart",
    ),
)
