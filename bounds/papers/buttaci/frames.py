"""What the names of the thesis's proofs mean on a run of its methods, and what the assumptions give at once."""

from dataclasses import dataclass

from sympy import Eq, Function, Ge, Le, Sum, Symbol

from ...language.assumptions import SIGN, SUM
from ...language.derivation import Known
from ...language.rule_expressions import (
    axis,
    f,
    f_i,
    f_i_star,
    grad,
    inner,
    mean,
    neighbours,
    noisy,
    norm2,
    other,
    point,
    w_star,
)
from ...proofs.atoms import Convex, Minimum, Smooth, Weight
from ...proofs.frame import HETEROGENEITY, Frame
from ...proofs.premise_identity import shown
from .methods import FEDPROX, PERTURBED, perturbed_point, u_i, w, w_i
from .symbols import C, E, Gamma, L, T, alpha, dist2, excess, gap, i, k, level, mu, p, t
from .symbols_perturbed import beta, j, n

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

value = Function("f", **_real)  # E f(w̄_{t,k})
f_inf = Symbol("f_inf", real=True)  # the least value of f
along, lag2 = Function("along", **_real), Function("lag2", **_not_negative)  # E ∇f(w̄)'u and E|u|²
slope = mean(grad(centre))
lag = alpha * (w - centre) + slope - mean(gradient)  # u: by which −γ (∇f(w̄) − u) is a step without noise
onward = mean(FEDPROX.local[w_i])  # where the mean goes in a local step

EVERYWHERE = {Gamma: HETEROGENEITY, value(k): f(centre), f_inf: least}
ON_FEDPROX = Frame(
    FEDPROX,
    {
        **EVERYWHERE,
        along(k): inner(slope, lag),
        lag2(k): norm2(lag),
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
    },
    LETTERS,
    SIZES,
    p,
)

perturbed_gradient = grad(perturbed_point)
away = perturbed_gradient - grad(centre)  # of one client; its mean over the clients is u of appendix C.3
perturbed_stochastic = noisy(perturbed_gradient)
pull2 = Function("pull2", **_not_negative)  # E|Σ p_i ∇f_i(w̃^i)|²
moved, walked = (Function(name, **_not_negative) for name in ("moved", "walked"))  # E|w^i − w̄_{t,0}|², E|w̄ − w̄_{t,0}|²
apart, behind = (
    Function(name, **_not_negative) for name in ("apart", "behind")
)  # of u^i_{t+1} from w̄_{t,0}, u^i from w̄
middle = Function("middle", **_not_negative)  # E|Σ p_i w̃^i − w*|²
A, B = (Function(name, **_not_negative) for name in "AB")  # E|w̃^j_{t,k} − w̃^i_{t,k}|² and E|w̃^j_{t,0} − w̃^i_{t,k}|²
average_u = Function("average_u", real=True)  # coordinate n of E Σ p_i u^i
share = Function("share", real=True)  # p_ij / p_i

ON_PERTURBED = Frame(
    PERTURBED,
    {
        **EVERYWHERE,
        lag2(k): norm2(mean(away)),
        pull2(k): norm2(mean(perturbed_gradient)),
        Z(k): norm2(mean(perturbed_stochastic - perturbed_gradient)),
        D(k): norm2(centre - w_star),
        F(k): mean(f_i(perturbed_point) - f_i_star),
        g(k): f(centre) - least,
        Q(k): inner(centre - w_star, mean(perturbed_gradient)),
        N(k): norm2(mean(perturbed_gradient)),
        X(k): mean(norm2(perturbed_gradient)),
        Y(k): mean(norm2(grad(centre))),
        W(k): mean(norm2(perturbed_point - w_star)),
        middle(k): norm2(mean(perturbed_point) - w_star),
        walked(k): norm2(centre - w),
        moved(i, k): norm2(w_i - w),
        product(i, k): inner(w_i - w, perturbed_stochastic),
        apart(i, k): norm2(neighbours(w_i) - w),
        behind(t): mean(norm2(u_i - w)),
        A(i, j, k): norm2(other(perturbed_point) - perturbed_point),
        B(i, j, k): norm2(beta * w + (1 - beta) * other(u_i) - perturbed_point),
        average_u(n): inner(mean(u_i), axis),
    },
    LETTERS,
    SIZES,
    p,
    {SUM: ("similarity_weights", ()), SIGN: ("similarity_weights", ())},
    shares=share,
)


@dataclass(frozen=True, slots=True)
class Basics:
    """What smoothness, strong convexity and the weights give on one method (appendix A)."""

    smooth_gap: Known
    strong_distance: Known
    mu_at_most_L: Known
    weight_sign: Known
    weight_sum: Known
    round_starts: Known
    round_ends: Known
    bounded_below: tuple[Known, Known]


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
        shown(Eq(value(0), level(t)), "the round starts at the average", frame),
        shown(Eq(level(t + 1), value(E)), "the round ends with the average", frame, at=(t, E)),
        (
            shown(Eq(excess(0), level(0) - f_inf), "f_inf is the least value of f", frame, at=(0, k)),
            shown(
                Ge(level(T), f_inf),
                "assumption 4.6: E f(w_{T,0}) ≥ f_inf",
                frame,
                (1, Minimum(w, (("lower_bounded", ()),))),
                at=(T, k),
            ),
        ),
    )


FEDPROX_BASICS, PERTURBED_BASICS = basics(ON_FEDPROX), basics(ON_PERTURBED)
