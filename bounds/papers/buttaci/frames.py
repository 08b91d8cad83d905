"""What the names of the thesis's proofs mean on a run of its methods, and what the assumptions give at once."""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportIndexIssue=false

from dataclasses import dataclass

from sympy import Eq, Function, Ge, Le, Sum

from ...atoms import Convex, Smooth, Weight
from ...derivation import Known
from ...frame import CHARGES, HETEROGENEITY, Frame
from ...method import f, f_i, f_i_star, grad, inner, mean, noisy, norm2, other, point, w_star
from ...shown import shown
from ...vectors import SIGN, SUM
from .methods import FEDPROX, PERTURBED, w, w_i
from .symbols import C, E, Gamma, L, dist2, gap, i, k, mu, p, t
from .symbols_perturbed import j

LETTERS, SIZES = (t, k, i, j), (E, C)
centre, gradient = mean(w_i), grad(w_i)
stochastic = noisy(gradient)
noise = stochastic - gradient
least = f(w_star)

_not_negative, _real = {"nonnegative": True}, {"real": True}
D, X, Y, W, N, Z = (Function(name, **_not_negative) for name in "DXYWNZ")  # squared norms, averaged over the clients
F, g = (Function(name, **_real) for name in "Fg")  # Σ p_i (f_i(w^i) − f_i*), f(w̄) − f*
P, Q, R = (Function(name, **_real) for name in "PQR")  # the inner products of a_1, a_2, a_3
g2, pair, diff2 = (Function(name, **_not_negative) for name in ("g2", "pair", "diff2"))
product, pair_product = (Function(name, **_real) for name in ("product", "pair_product"))

ON_FEDPROX = Frame(
    FEDPROX,
    {
        D(k): norm2(centre - w_star),
        F(k): mean(f_i(w_i) - f_i_star),
        g(k): f(centre) - least,
        P(k): inner(centre - w_star, w - w_star),
        Q(k): inner(centre - w_star, mean(gradient)),
        R(k): inner(w - w_star, mean(gradient)),
        N(k): norm2(mean(gradient)),
        Z(k): norm2(mean(noise)),
        X(k): mean(norm2(gradient)),
        Y(k): mean(norm2(grad(centre))),
        W(k): mean(norm2(w_i - w_star)),
        g2(i, k): norm2(stochastic),
        product(i, k): inner(w_i - w, stochastic),
        pair(i, j, k): norm2(w_i - other(w_i)),
        diff2(i, j, k): norm2(stochastic - other(stochastic)),
        pair_product(i, j, k): inner(w_i - other(w_i), stochastic - other(stochastic)),
        Gamma: HETEROGENEITY,
    },
    LETTERS,
    SIZES,
    p,
)

ON_PERTURBED = Frame(
    PERTURBED,
    {Gamma: HETEROGENEITY},
    LETTERS,
    SIZES,
    p,
    {**CHARGES, SUM: ("similarity_weights", ()), SIGN: ("similarity_weights", ())},
)


@dataclass(frozen=True, slots=True)
class Basics:
    """What smoothness, strong convexity and the weights give on one method (appendix A)."""

    smooth_gap: Known
    strong_distance: Known
    mu_at_most_L: Known
    weight_sign: Known
    weight_sum: Known


def basics(frame: Frame) -> Basics:
    away = w + point("u")
    return Basics(
        shown(
            Le(gap(t), L / 2 * dist2(t)),
            "f - f* ≤ L/2 |w - w*|² (appendix A)",
            frame,
            (1, Smooth(w_star, w, L, "mean")),
        ),
        shown(
            Le(dist2(0), 2 * gap(0) / mu),
            "|w - w*|² ≤ 2/μ (f - f*) (appendix A)",
            frame,
            (2 / mu, Convex(w_star, w, mu, "mean")),
            at=(0, k),
        ),
        shown(
            Le(mu, L), "μ ≤ L (appendix A)", frame, (2, Smooth(w, away, L)), (2, Convex(w, away, mu)), times=point("u")
        ),
        shown(Ge(p[i], 0), "weights are not negative", frame, (1, Weight(i))),
        shown(Eq(Sum(p[i], (i, 1, C)), 1), "weights sum to one", frame),
    )


FEDPROX_BASICS, PERTURBED_BASICS = basics(ON_FEDPROX), basics(ON_PERTURBED)
