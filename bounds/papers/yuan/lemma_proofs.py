"""How definition 1's special case and lemmas 1 to 4, 7, 10, 11 follow: the paper's steps, and where they fail, others.

What the assumptions say about losses and samples enters as premises; all that is done with it is decided.
"""

from typing import Any

from ...language.algebra import Eq, Le, Max, Rational, Symbol, sqrt
from ...language.derivation import Argument, Known, Step, View
from ...language.rule_expressions import mean
from ...proofs.atoms import Short, Square, Subset
from ...proofs.premise_identity import shown
from ...proofs.proximal_atoms import Subgradient
from .frames import ON_A_PROX, ON_A_SUBSET, ON_DEVICES, around, beside, direction
from .run import residual
from .symbols import (
    G,
    I,
    L,
    M,
    N,
    about_empirical,
    among,
    apart,
    averaged2,
    away,
    b,
    beta,
    bias,
    bias_m,
    deviation,
    envelope_slope,
    eps,
    eta,
    fresh2,
    gamma,
    lam,
    m,
    nu,
    rho,
    sampled2,
    spread2,
    variance,
    variance_m,
)


def _real(name: str) -> Any:
    return Symbol(name, nonnegative=True)


def _premise(claim: Any, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


def _at_once(step: Step) -> Argument:
    return Argument((step,), step)


_STABLE = ("smooth", "stable")
subset = _premise(Le(I, M), "I_t is a subset of the M devices")


def homogeneous(goal: View) -> Argument:
    """Every gradient is the mean gradient."""
    same = shown(goal.relations[0], "R^(m) = R, and so are the gradients", ON_DEVICES)
    return _at_once(Step(goal.relations[0], given=(same,), where="definition 1"))


def lemma_1(goal: View) -> Argument:
    """Appendix D.1: each estimator is close to its minimiser, and the minimisers are close to one another."""
    return _close(
        goal, 4, Rational(1, 2), "strong convexity of R_S^r at its minimiser; two losses that are G-Lipschitz"
    )


def lemma_1_sharper(goal: View) -> Argument:
    """The paper uses the strong convexity of one of both risks and gets 4 G/(lam N); with both it is 2 G/(lam N)."""
    both = "strong convexity of R_S^r and of R_S'^r at their minimisers, added; two losses that are G-Lipschitz"
    return _close(goal, 2, Rational(1), both)


def _close(goal: View, factor: int, convexity: Any, because: str) -> Argument:
    first, second, between = _real("first"), _real("second"), _real("between")
    parts = [
        _premise(Le(lam / 2 * x**2, eps), f"strong convexity at the minimiser of {which}", "strongly_convex", "inexact")
        for x, which in ((first, "R_S^r"), (second, "R_S'^r"))
    ]
    stable = _premise(Le(convexity * lam * between**2, 2 * G / N * between), because, "strongly_convex", "lipschitz")
    triangle = _premise(Le(apart, first + between + second), "triangle inequality")
    roots = [Step(Le(x, sqrt(2 * eps / lam)), given=(known,)) for x, known in zip((first, second), parts, strict=True)]
    minimisers = Step(Le(between, factor * G / (lam * N)), given=(stable,))
    whole = Step(
        Le(apart, factor * G / (lam * N) + 2 * sqrt(2 * eps / lam)),
        given=(triangle, *roots, minimisers),
        where="appendix D.1",
    )
    last = () if whole.claim == goal.relations[0] else (Step(goal.relations[0], given=(whole,)),)
    return Argument((*roots, minimisers, whole, *last), whole)


def lemma_2(goal: View) -> Argument:
    """With the factor 1/2 of Efron and Stein the bound is half of what is printed."""
    total = _real("total")
    stein = _premise(Le(spread2, total / 2), "Efron-Stein: half the sum over i of E|h(S) - h(S^(i))|^2")
    small = _premise(Le(total, N * beta**2), "N differences of at most beta", "bounded_differences")
    whole = Step(Le(spread2, beta**2 * N / 2), given=(stein, small))
    return Argument((whole, Step(goal.relations[0], given=(whole,))), whole)


def lemma_3_bias(goal: View) -> Argument:
    """Appendix D.2: Z_i is fresh to A(S^(i)), so that both gradients are at neighbouring models."""
    moved = _real("moved")
    fresh = _premise(Le(bias, L * moved), "(D.1), Jensen, and L-smooth losses at A(S^(i)) and A(S)", "smooth")
    stable = _premise(Le(moved, gamma), "|A(S^(i)) - A(S)| <= gamma", "stable")
    return _at_once(Step(goal.relations[0], given=(fresh, stable), where="appendix D.2"))


def lemma_3_variance(goal: View, efron_stein: View) -> Argument:
    """Lemma 2 with h = grad R(A(.)) and beta = L gamma."""
    change = _real("change")
    short = _premise(Le(change, L * gamma), "a change of one point moves grad R(A(.)) by at most L gamma", *_STABLE)
    cited = efron_stein.holds(instead={"bounded_differences": short})
    return Argument((Step(goal.relations[0], given=(cited,), where="lemma 2"),), cited)


def lemma_3_last(goal: View, generalisation: View) -> Argument:
    """Not lemma 2: Efron and Stein's half of it leaves room for the squared bias, from N = 2 on; N = 1 is Jensen's."""
    square = (L * gamma) ** 2
    parts = _premise(Eq(about_empirical, variance + bias**2), "variance and squared bias")
    half = _premise(
        Le(variance, N * square / 2), "Efron-Stein for grad R(A(.)), whose differences are at most L gamma", *_STABLE
    )
    apart_ = _premise(
        Le(about_empirical, N**2 * square),
        "Jensen over a fresh S', at whose point Z' both gradients are taken: A(S) and A(S') are N changes apart",
        *_STABLE,
    )
    whole_number = _premise(Le(0, (N - 1) * (N - 2)), "no whole number lies between 1 and 2")
    squared = Step(Le(bias**2, square), given=(generalisation.holds(),), where="lemma 3, first bound")
    several = Step(Le(about_empirical, (N / 2 + 1) * square), given=(parts, half, squared))
    last = Step(goal.relations[0], given=(several, apart_, whole_number), where="appendix D.2")
    return Argument((squared, several, last), last)


def lemma_4_mean(goal: View) -> Argument:
    """Each device is in I_t with probability I/M."""
    drawn = shown(goal.relations[0], "each device is in I_t with probability I/M", ON_A_SUBSET)
    return _at_once(Step(goal.relations[0], given=(drawn,), where="appendix B.1"))


_among = shown(
    Le(among, G**2),
    "E|X - E X|^2 <= E|X|^2, and gradients are at most G",
    ON_A_SUBSET,
    (1, Square(mean(direction))),
    (1, Short(direction, G, "mean")),
)
_SHARE = (M - I) / (I * Max(M - 1, 1))
_varies = shown(Eq(deviation, _SHARE * among), "variance without replacement", ON_A_SUBSET)
_subset = shown(Le(I, M), "I_t is a subset of the M devices", ON_A_SUBSET, (1, Subset()))


def lemma_4_printed(goal: View, added: View) -> Argument:
    """Appendix B.1, with 'the independence among the indices in I_t', which sampling without replacement has not."""
    whole = Step(goal.relations[0], given=(added.holds(), _among), where="appendix B.1")
    return Argument((whole,), whole)


def lemma_4_step(goal: View) -> Argument:
    """The variance of the mean of I devices, without replacement."""
    return _at_once(Step(goal.relations[0], given=(_varies,), where="appendix B.1"))


def lemma_4_variance(goal: View) -> Argument:
    """Not by independence, which sampling without replacement does not have: its variance is (M - I)/(M - 1) V/I."""
    whole = Step(Le(deviation, _SHARE * G**2), given=(_varies, _among, _subset))
    return Argument((whole, Step(goal.relations[0], given=(whole, _subset), where="appendix B.1")), whole)


def lemma_7(goal: View) -> Argument:
    """Weak convexity at w^+, whose subgradient (w - w^+)/eta is optimal."""
    convex = shown(
        goal.relations[0],
        "weak convexity at w^+ with the subgradient (w - w^+)/eta, and |u - w|^2 written out around w^+",
        ON_A_PROX,
        (1, Subgradient(around, beside, eta, (("weakly_convex", (nu,)),), nu)),
    )
    return _at_once(Step(goal.relations[0], given=(convex,), where="appendix B.2"))


def remark_5(goal: View) -> Argument:
    """The envelope e has a tangent with slope s at w, and lies below the parabola that u = prox(w) gives, with slope g.

    e(w) + s'h - c |h|^2 <= e(w + h) <= e(w) + g'h + |h|^2/(2 rho) for g = (w - prox)/rho; at h = (s - g)/(2 K) with
    K = c + 1/(2 rho) that is |s - g|^2/(2 K) <= |s - g|^2/(4 K).
    """
    gap2, K = _real("gap2"), Symbol("K", positive=True)
    tangents = _premise(
        Le(gap2 / (2 * K), gap2 / (4 * K)), "both bounds on the envelope at h = (s - g)/(2 K)", "weakly_convex"
    )
    sizes = _premise(Le((envelope_slope - away / rho) ** 2, gap2), "||s| - |g|| <= |s - g|, and |g| = away/rho")
    same = Step(Le(gap2, 0), given=(tangents,))
    last = Step(goal.relations[0], given=(same, sizes), where="remark 5")
    return Argument((same, last), last)


def lemma_10_bias(goal: View, stability: View, generalisation: View) -> Argument:
    """Lemma 1 with lambda = 1/eta - L makes the minimiser stable; then lemma 3."""
    least = _real("least")
    convex = _premise(Le(1 / eta - L, least), "the least curvature of L-smooth losses plus |.|^2/(2 eta)", "smooth")
    stable = Step(
        Le(apart, 5 * G / ((1 / eta - L) * b)),
        given=(stability.holds(instead={"strongly_convex": convex}),),
        where="lemma 1, and the condition on eps_t",
    )
    cited = generalisation.holds(instead={"stable": stable})
    return Argument((stable, Step(goal.relations[0], given=(cited,), where="lemma 3")), cited)


def lemma_10_variance(goal: View, stability: View, generalisation: View) -> Argument:
    return lemma_10_bias(goal, stability, generalisation)


def _moved() -> tuple[Any, tuple[Step, ...]]:
    """(C.1), |w_t - w_{t-1}| <= 2 G eta, not by lemma 9: from |grad Q|^2 <= 2 (L + 1/eta) (Q - min Q)."""
    error, moved = _real("error"), _real("moved")
    optimal = _premise(
        Le(error**2, 2 * (L + 1 / eta) * eps),
        "grad Q at an eps-minimum of an (L + 1/eta)-smooth Q",
        "smooth",
        "inexact",
    )
    rule = _premise(Le(moved, eta * (G + error)), "w_t - w_{t-1} = eta (grad Q - d_t), |d_t| <= G", "lipschitz")
    curved = Step(Le((L + 1 / eta) * eps, G**2 / 4), note="L + 1/eta <= 2/eta, and b >= 1")
    small = Step(Le(error, G), given=(optimal, curved))
    return moved, (curved, small, Step(Le(moved, 2 * G * eta), given=(rule, small), where="(C.1)"))


def lemma_11_first(goal: View) -> Argument:
    """With the variance of the devices, which the paper's step zeta_1 divides by b as if it were that of the data."""
    moved, steps = _moved()
    sampling, drift, among, within = (_real(name) for name in ("sampling", "drift", "among", "within"))
    share = (M - I) / (I * Max(M - 1, 1))
    split = _premise(Le(sampled2, 2 * sampling + 2 * drift), "|x + y|^2 <= 2 |x|^2 + 2 |y|^2")
    smooth = _premise(Le(drift, L**2 * moved**2), "L-smooth losses at w_{t-1} and w_t", "smooth")
    law = _premise(
        Eq(sampling, share * among + within / (b * I)),
        "total variance: among the sampled devices, and within them over b I independent points",
        "independent_minibatches",
    )
    total = _premise(Le(among + within, G**2), "both are parts of E|grad l|^2", "lipschitz")
    drifted = Step(Le(drift, 4 * L**2 * G**2 * eta**2), given=(smooth, steps[-1]))
    apart_ = [Step(Le(x, G**2), given=(total,)) for x in (among, within)]
    sampled = Step(Le(sampling, share * G**2 + G**2 / (b * I)), given=(law, *apart_, subset))
    whole = Step(
        Le(sampled2, 8 * L**2 * G**2 * eta**2 + 2 * G**2 / (b * I) + 2 * G**2 * share), given=(split, drifted, sampled)
    )
    return Argument((*steps, drifted, *apart_, sampled, whole, Step(goal.relations[0], given=(whole,))), whole)


def lemma_11_printed(goal: View, inexact: View, added: View) -> Argument:
    """Appendix C.1, first display: (C.1) by lemma 9, and zeta_1 to the end."""
    moved, drift = _real("moved"), _real("drift")
    rule = _premise(Le(moved, G * eta + residual), "w_t - w_{t-1} = -eta d_t + residual, |d_t| <= G", "lipschitz")
    near = _premise(Le(drift, L**2 * moved**2), "L-smooth losses at w_{t-1} and w_t", "smooth")
    split = _premise(Le(sampled2, 2 * fresh2 + 2 * drift), "|x + y|^2 <= 2 |x|^2 + 2 |y|^2")
    short = Step(Le(moved, 2 * G * eta), given=(rule, inexact.holds()), where="(C.1)")
    drifted = Step(Le(drift, 4 * L**2 * G**2 * eta**2), given=(near, short), where="zeta_2")
    whole = Step(goal.relations[0], given=(split, drifted, added.holds()), where="appendix C.1, first display")
    return Argument((short, drifted, whole), whole)


def lemma_11_second_printed(goal: View, inexact: View, bias_bound: View, variance_bound: View) -> Argument:
    """Appendix C.1, second display: A', B' and C', each for every device and so for their mean."""
    moved, drift = _real("moved"), _real("drift")
    rule = _premise(Le(moved, G * eta + residual), "w_t - w_{t-1} = -eta d_t + residual, |d_t| <= G", "lipschitz")
    near = _premise(Le(drift, L**2 * moved**2), "L-smooth losses at w_{t-1} and w_t", "smooth")
    split = _premise(
        Le(averaged2, 3 * drift + 3 * bias_m(m) ** 2 + 3 * variance_m(m)),
        "|x + y + z|^2 <= 3 (...), Jensen over the devices; m is the one with the largest sum",
    )
    device = _premise(Le(1, m), "devices are counted from 1"), _premise(Le(m, M), "m is one of M devices")
    short = Step(Le(moved, 2 * G * eta), given=(rule, inexact.holds()), where="(C.1)")
    A = Step(Le(drift, 4 * L**2 * G**2 * eta**2), given=(near, short), where="A'")
    B = Step(Le(bias_m(m) ** 2, bias_bound.rhs**2), given=(bias_bound.holds(*device),), where="B'")
    whole = Step(
        Le(averaged2, 12 * L**2 * G**2 * eta**2 + 3 * bias_bound.rhs**2 + 3 * variance_bound.rhs),
        given=(split, A, B, variance_bound.holds(*device)),
        where="appendix C.1, second display",
    )
    last = () if whole.claim == goal.relations[0] else (Step(goal.relations[0], given=(whole,)),)
    return Argument((short, A, B, whole, *last), whole)


def lemma_11_second(goal: View) -> Argument:
    """Without lemma 10: grad R(w_{t-1}) is E of the minibatch's gradient there, so that only the drift is left."""
    moved, steps = _moved()
    drift = _premise(
        Le(averaged2, L**2 * moved**2), "Jensen and L-smooth losses: E[grad R_B(w_{t-1}) - grad R_B(w_t)]", "smooth"
    )
    whole = Step(Le(averaged2, 4 * L**2 * G**2 * eta**2), given=(drift, steps[-1]))
    return Argument((*steps, whole, Step(goal.relations[0], given=(whole,))), whole)
