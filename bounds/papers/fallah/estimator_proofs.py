"""How the statements about functions, data and estimates follow: the paper's steps, and where they fail, others.

What the assumptions say about losses and data enters as premises; all that is done with it is decided.
"""

from typing import Any

from ...decide.facts import termwise
from ...language.algebra import Eq, Function, Le, Rational, Sum, Symbol, sqrt
from ...language.derivation import Argument, Known, Step, View, theorem
from .measured import (
    W1,
    W_mean2,
    W_u2,
    apart2,
    bias2,
    bias2_FO,
    bias2_HF,
    dF,
    error_H,
    hess_inner,
    inner,
    mean_moved2,
    moved2,
    mse,
    mse_FO,
    mse_HF,
    spread_F,
    spread_G,
    spread_H,
    tv,
    v,
)
from .symbols import (
    D0,
    D1,
    D2,
    L_Z,
    B,
    D,
    L,
    R,
    alpha,
    delta,
    gamma_G,
    gamma_H,
    i,
    j,
    m,
    n,
    rho,
    rho_Z,
    sigma_G,
    sigma_H,
)


def _real(name: str) -> Any:
    return Symbol(name, nonnegative=True)


def _premise(claim: Any, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


def _ends(goal: View, *steps: Step) -> Argument:
    """The last step's bound, and the claim from it."""
    return Argument((*steps, Step(goal.relations[0], given=(steps[-1],))), steps[-1])


e2 = _real("e2")  # E|e_2|^2
SQUARE = sigma_G**2 * (1 / D1 + (alpha * L) ** 2 / D0)
outer = theorem("second_moment", Le(e2, SQUARE), "(36): the variance of an average, and f_i is L-smooth", "smooth",
    "gradient_variance", speaks=(e2,))  # fmt: skip


def eq_5(goal: View) -> Argument:
    turned = Symbol("turned", real=True)  # the j-th coordinate of H' g, g the inner gradient
    chain = _premise(Eq(dF(j), inner(j) - alpha * turned), "the chain rule, with the Jacobian I - alpha H")
    symmetric = _premise(Eq(turned, hess_inner(j)), "Hessians are symmetric", "smooth")
    last = Step(goal.relations[0], given=(chain, symmetric), where="5")
    return Argument((last,), last)


def assumption_5(goal: View) -> Argument:
    """The paper gives no proof. A variance is at most a mean square, which is a quarter of what is claimed."""
    mean, off = _real("mean2"), _real("farthest")
    variance = theorem("variance", Le(spread_G, mean), "a variance is at most the mean square", speaks=(mean,))
    short = theorem("short", Le(mean, B**2), "gradients of norm at most B", "bounded_gradients", speaks=(mean,))
    # the spectral norm has no mean square: the triangle inequality
    far = theorem("far_hessians", Le(off, 2 * L), "two Hessians of norm at most L", "smooth", speaks=(off,))
    most = theorem("largest", Le(spread_H, off**2), "a mean is at most the largest", speaks=(off,))
    steps = Step(Le(spread_G, B**2), given=(variance, short)), Step(Le(spread_H, 4 * L**2), given=(far, most))
    last = [Step(r, given=(s,)) for r, s in zip(goal.relations, steps, strict=True)]
    return Argument((*steps, *(s for s in last if s.claim not in [t.claim for t in steps])), steps)


def _similarity(goal: View, constant: Any, distance: Any, name: str, why: str, *assumed: str) -> Argument:
    """Each user's bound, squared and averaged."""
    kind = "G" if goal.lhs == spread_G else "H"
    off = Function(f"off_{kind}", nonnegative=True)
    mean = theorem(f"average_{kind}", Eq(goal.lhs, Sum(off(i) ** 2, (i, 1, n)) / n),
        "off(i) is user i's distance from the average", speaks=(off,))  # fmt: skip
    each = theorem(f"{name}_{kind}", Le(off(i), constant * distance), why, *assumed, at={"i": i}, speaks=(off,))
    squared = termwise(Le(off(i) ** 2, constant**2 * distance**2), i, 1, n, each)
    spread = Step(Le(goal.lhs, Sum(constant**2 * distance**2, (i, 1, n)) / n), given=(mean, squared))
    return Argument((spread, Step(goal.relations[0], given=(spread,))), spread)


def total_variation(goal: View) -> Argument:
    """Appendix B.1."""
    constant, assumed = (B, "point_gradients") if goal.lhs == spread_G else (L, "point_hessians")
    return _similarity(goal, 2 * constant, tv(i), "variation", "(18): sum_z |p_i(z) - p(z)| = 2 |p_i - p|_TV", assumed)


def wasserstein(goal: View) -> Argument:
    """Appendix B.2, with the cheapest coupling in place of the dual (19): of vectors there is no dual form."""
    gradients = goal.lhs == spread_G
    constant, assumed = (L_Z, "lipschitz_in_z") if gradients else (rho_Z, "hessian_lipschitz_in_z")
    return _similarity(goal, constant, W1(i), "coupling", "the mean over the cheapest coupling", "metric", assumed)


def lemma_4_2(goal: View) -> Argument:
    """Appendix C; `one` and `two` are the largest of any user, so that the average is bounded as each of them is."""
    one, two, far = _real("one"), _real("two"), sqrt(apart2)
    both = "smooth", "bounded_gradients"
    bound = (1 + alpha * L) * one + alpha * B * two
    split = theorem("product", Le(sqrt(moved2(i)), bound), "(25), (17a) and |grad f_i| <= B", *both,
        at={"i": i}, speaks=(one, two))  # fmt: skip
    mean = theorem("mean_product", Le(sqrt(mean_moved2), bound), "a mean is no longer than the longest", *both,
        speaks=(one, two))  # fmt: skip
    first = theorem("inner", Le(one, L * (1 + alpha * L) * far), "f_i is L-smooth, twice", "smooth", speaks=(one,))
    second = theorem("hessians", Le(two, rho * far), "the Hessian is rho-Lipschitz", "lipschitz_hessian", speaks=(two,))
    factor = (1 + alpha * L) * (L * (1 + alpha * L)) + alpha * B * rho
    whole = factor * far
    parts = (
        Step(Le((1 + alpha * L) * one, (1 + alpha * L) * (L * (1 + alpha * L) * far)), given=(first,)),
        Step(Le(alpha * B * two, alpha * B * (rho * far)), given=(second,)),
    )
    small = Step(Le((1 + alpha * L) ** 2, 4), where="26")
    scaled = Step(Le(factor * far, (4 * L + alpha * rho * B) * far), given=(small,))
    each = Step(Le(sqrt(moved2(i)), whole), given=(split, *parts), where="26, 27")
    all_ = Step(Le(sqrt(mean_moved2), whole), given=(mean, *parts))
    last = [Step(r, given=(s, scaled)) for r, s in zip(goal.relations, (each, all_), strict=True)]
    return Argument((*parts, small, scaled, each, all_, *last), (each, all_))


off, mean_e = _real("off"), _real("mean_e")
_batch = theorem("batch", Le(off, sigma_G / sqrt(D0)), "(34): the variance of an average", "gradient_variance",
    speaks=(off,))  # fmt: skip
_unbiased = theorem("unbiased", Le(mean_e, alpha * L * off), "(32): f_i is L-smooth, and D' is fresh", "smooth",
    speaks=(mean_e, off))  # fmt: skip
_inside = Step(Le(mean_e, alpha * L * sigma_G / sqrt(D0)), given=(_unbiased, _batch), where="33")


def lemma_4_3_bias(goal: View) -> Argument:
    """(30a) to (38)."""
    independent = theorem("independent", Le(sqrt(bias2), (1 + alpha * L) * mean_e),
        "(37): e_1 has mean 0 and is independent of e_2", "smooth", speaks=(mean_e,))  # fmt: skip
    scaled = Step(Le((1 + alpha * L) * mean_e, (1 + alpha * L) * (alpha * L * sigma_G / sqrt(D0))), given=(_inside,))
    whole = Step(Le(sqrt(bias2), (1 + alpha * L) * alpha * L * sigma_G / sqrt(D0)), given=(independent, scaled))
    factor = Step(Le((1 + alpha * L) * (alpha * L * sigma_G / sqrt(D0)), 2 * (alpha * L * sigma_G / sqrt(D0))))
    last = Step(goal.relations[0], given=(whole, factor))
    return Argument((_inside, scaled, whole, factor, last), whole)


def lemma_4_3_variance(goal: View, hessian: View) -> Argument:
    """(39) to (41), with (30b) as printed."""
    both = _real("both")  # E|e_1|^2 |e_2|^2
    split = _premise(Le(mse, 3 * (4 * e2 + B**2 * error_H + both)), "(39), (40), 1 + alpha L <= 2, |grad f_i| <= B",
        "smooth", "bounded_gradients")  # fmt: skip
    independent = _premise(Eq(both, error_H * e2), "(41): e_1 and e_2 are independent")
    noise = alpha**2 * sigma_H**2 / D2
    product = Step(Le(error_H * e2, noise * SQUARE), given=(hessian.holds(), outer), where="30b, 36")
    whole = Step(Le(mse, 3 * (4 * SQUARE + noise * (B**2 + SQUARE))),
        given=(split, independent, product, outer, hessian.holds()), where="41")  # fmt: skip
    return _ends(goal, product, whole)


_HESSIAN = "e_1 times a vector that it is independent of: 1/D'' of the variance, unlike (30b)"


def lemma_4_3_products(goal: View) -> Argument:
    """(39) to (41), but for (30b), which is false: |e_1 x|^2 takes its place, not |e_1|^2 |x|^2."""
    first, third = _real("first"), _real("third")
    split = _premise(Le(mse, 3 * (4 * e2 + first + third)), "(39), (40) and 1 + alpha L <= 2", "smooth")
    noise = alpha**2 * sigma_H**2 / D2
    one = _premise(Le(first, noise * B**2), _HESSIAN, "hessian_variance", "bounded_gradients")
    both = _premise(Le(third, noise * e2), _HESSIAN, "hessian_variance")
    step = Step(Le(third, noise * SQUARE), given=(both, outer))
    whole = Step(Le(mse, 3 * (4 * SQUARE + noise * (B**2 + SQUARE))), given=(split, one, outer, step), where="41")
    return _ends(goal, step, whole)


def lemma_4_3_sharp(goal: View) -> Argument:
    """No factor 3: e_1 has mean 0 and is independent of e_2, so that the cross terms vanish."""
    second, bent = _real("second"), _real("bent")  # E|outer gradient|^2, and of that times e_1
    noise = alpha**2 * sigma_H**2 / D2
    split = theorem("orthogonal", Le(mse, (1 + alpha * L) ** 2 * e2 + bent), "no cross terms", "smooth",
        speaks=(e2, bent))  # fmt: skip
    hessian = theorem("hessian_noise", Le(bent, noise * second), _HESSIAN, "hessian_variance", speaks=(bent, second))
    short = theorem("whole", Le(second, B**2 + sigma_G**2 / D1), "grad f_i is at most B, and the batch D' is fresh",
        "bounded_gradients", "gradient_variance", speaks=(second,))  # fmt: skip
    small = Step(Le((1 + alpha * L) ** 2, 4))
    parts = Step(Le((1 + alpha * L) ** 2 * e2, 4 * SQUARE), given=(small, outer))
    product = Step(Le(noise * second, noise * (B**2 + sigma_G**2 / D1)), given=(short,))
    whole = Step(Le(mse, 4 * SQUARE + noise * (B**2 + sigma_G**2 / D1)), given=(split, hessian, parts, product))
    return _ends(goal, small, parts, product, whole)


def frobenius(goal: View) -> Argument:
    one = _real("one")  # E|Hess l - Hess f_i|_F^2
    norms = _premise(Le(error_H, alpha**2 * one / D2), "|.| <= |.|_F, which has the variance of an average")
    back = _premise(Le(one, D * sigma_H**2), "|.|_F^2 <= d |.|^2", "hessian_variance")
    return _ends(goal, Step(Le(error_H, D * alpha**2 * sigma_H**2 / D2), given=(norms, back)))


def _like(goal: View, of_r: Any, where: str) -> Argument:
    """(50) to (54) with E of |r_i|^2 at most `of_r`."""
    r2, E2, both = _real("r2"), _real("E2"), _real("both")
    inside = _premise(Le(r2, of_r), "(47) and assumption 5 at w and at w - alpha grad f(w)",
        "smooth", "similar_gradients")  # fmt: skip
    bend = _premise(Le(E2, alpha**2 * gamma_H**2), "(46), where the print has =", "similar_hessians")
    cross = _premise(Le(both, (2 * alpha * L) ** 2 * r2), "(52), (55)", "smooth")
    split = _premise(Le(spread_F, 3 * (B**2 * E2 + (1 + alpha * L) ** 2 * r2 + both)), "(50), (51)",
        "bounded_gradients", "smooth")  # fmt: skip
    factors = Step(Le((1 + alpha * L) ** 2, 4)), Step(Le((2 * alpha * L) ** 2, 4))
    flat = Step(Le(of_r, of_r.subs(alpha, 1 / L)), where=where)
    level = of_r.subs(alpha, 1 / L)
    parts = (
        Step(Le((1 + alpha * L) ** 2 * r2, 4 * level), given=(factors[0], inside, flat)),
        Step(Le(both, 4 * level), given=(cross, factors[1], inside, flat)),
    )
    whole = Step(Le(spread_F, 3 * B**2 * alpha**2 * gamma_H**2 + 24 * level), given=(split, bend, *parts))
    return _ends(goal, *factors, flat, *parts, whole)


def lemma_4_4(goal: View) -> Argument:
    """Appendix E."""
    return _like(goal, 4 * (1 + (alpha * L) ** 2) * gamma_G**2, "48, 49")


def lemma_4_4_sharper(goal: View) -> Argument:
    """(48) counts gamma_G^2 twice: 2 ((alpha L)^2 gamma_G^2 + gamma_G^2) is what the line before gives."""
    return _like(goal, 2 * (1 + (alpha * L) ** 2) * gamma_G**2, "48 as its line before gives it")


def lemma_4_4_at_once(goal: View) -> Argument:
    """Not the sum of three squares: (I - alpha Hess f) grad f(.) in place of the average, which is closer to all."""
    r2, E2 = _real("r2"), _real("E2")
    split = theorem("similar_products", Le(spread_F, 2 * (1 + alpha * L) ** 2 * r2 + 2 * (alpha * B) ** 2 * E2),
        "no point is closer to all than their average", "bounded_gradients", "smooth", speaks=(r2, E2))  # fmt: skip
    inside = theorem("similar_inner", Le(r2, 2 * ((alpha * L) ** 2 + 1) * gamma_G**2),
        "(47) and assumption 5 at w and at w - alpha grad f(w)", "smooth", "similar_gradients",
        speaks=(r2,))  # fmt: skip
    bend = theorem("similar", Le(E2, gamma_H**2), "(46), where the print has =", "similar_hessians", speaks=(E2,))
    level = 4 * gamma_G**2
    small, flat = Step(Le((1 + alpha * L) ** 2, 4)), Step(Le(2 * ((alpha * L) ** 2 + 1) * gamma_G**2, level))
    first = Step(Le(2 * (1 + alpha * L) ** 2 * r2, 8 * level), given=(small, inside, flat))
    second = Step(Le(2 * (alpha * B) ** 2 * E2, 2 * (alpha * B) ** 2 * gamma_H**2), given=(bend,))
    whole = Step(Le(spread_F, 8 * level + 2 * (alpha * B) ** 2 * gamma_H**2), given=(split, first, second))
    return _ends(goal, small, flat, first, second, whole)


tail = _real("tail")
_tail = theorem("tail", Le(tail, alpha * L * B), "(116)", "smooth", "bounded_gradients", speaks=(tail,))


def lemma_H_1_bias(goal: View) -> Argument:
    split = theorem("first_bias", Le(sqrt(bias2_FO), mean_e + tail), "(114)", speaks=(mean_e, tail))
    whole = Step(Le(sqrt(bias2_FO), alpha * L * (sigma_G / sqrt(D0) + B)), given=(split, _inside, _tail))
    return _ends(goal, _inside, whole)


def lemma_H_1_variance(goal: View) -> Argument:
    split = theorem("first_square", Le(mse_FO, 2 * e2 + 2 * tail**2), "(117)", speaks=(e2, tail))
    square = Step(Le(tail**2, (alpha * L * B) ** 2), given=(_tail,))
    whole = Step(Le(mse_FO, 2 * SQUARE + 2 * (alpha * L * B) ** 2), given=(split, outer, square))
    return _ends(goal, square, whole)


difference = _real("difference")
_error = theorem("gradient_difference", Le(difference, rho * delta * B**2 / 2), "(119) at a gradient",
    "lipschitz_hessian", "bounded_gradients", speaks=(difference,))  # fmt: skip
_apart = Step(Le(difference, rho * delta * B**2), given=(_error,), where="129")


def lemma_H_2_bias(goal: View) -> Argument:
    """The paper: as for the second moment."""
    e1 = _real("e1")
    split = theorem("free_bias", Le(sqrt(bias2_HF), mean_e + alpha * (L * e1 + difference)),
        "estimate, its exact form, (122); D'' is fresh", "smooth", speaks=(mean_e, e1, difference))  # fmt: skip
    size = sigma_G / sqrt(D1) + alpha * L * sigma_G / sqrt(D0)
    third = theorem("first_moment", Le(e1, size), "E|e_2| <= (36)'s root", "smooth", "gradient_variance",
        speaks=(e1,))  # fmt: skip
    between = Step(Le(L * e1, L * size), given=(third,))
    parts = Step(Le(alpha * (L * e1 + difference), alpha * (L * size + rho * delta * B**2)), given=(between, _apart))
    whole = Step(Le(sqrt(bias2_HF), alpha * L * sigma_G / sqrt(D0) + alpha * (L * size + rho * delta * B**2)),
        given=(split, _inside, parts))  # fmt: skip
    shrinks = Step(Le(alpha * (alpha * L) * (L * sigma_G / sqrt(D0)), alpha * (L * sigma_G / sqrt(D0))))
    claim = Step(goal.relations[0], given=(whole, shrinks))
    return Argument((_inside, _apart, between, parts, whole, shrinks, claim), whole)


def lemma_H_2_variance(goal: View) -> Argument:
    """(124) to (129)."""
    near, points = _real("near"), _real("points")
    split = theorem("free_split", Le(mse_HF, 2 * near + 2 * (alpha * difference) ** 2), "(124)",
        speaks=(near, difference))  # fmt: skip
    three = theorem("free_parts", Le(near, 3 * e2 + 3 * alpha**2 / (4 * delta**2) * 2 * points), "(126)",
        speaks=(near, e2, points))  # fmt: skip
    fresh = theorem("free_points", Le(points, sigma_G**2 / D2 + delta**2 * L**2 * e2),
        "(127): D'' is fresh, f_i is L-smooth", "smooth", "gradient_variance", speaks=(points, e2))  # fmt: skip
    noise = sigma_G**2 / D2
    scaled = Step(Le(3 * alpha**2 / (2 * delta**2) * points,
        3 * alpha**2 / (2 * delta**2) * noise + 3 * (alpha * L) ** 2 / 2 * e2), given=(fresh,))  # fmt: skip
    shrinks = Step(Le((alpha * L) ** 2 * e2, e2))
    first = Step(Le(near, Rational(9, 2) * SQUARE + 3 * alpha**2 / (2 * delta**2) * noise),
        given=(three, scaled, shrinks, outer), where="128")  # fmt: skip
    square = Step(Le(difference**2, (rho * delta * B**2) ** 2), given=(_apart,))
    times = Step(Le(alpha**2 * difference**2, alpha**2 * (rho * delta * B**2) ** 2), given=(square,))
    whole = Step(
        Le(mse_HF, 9 * SQUARE + 3 * alpha**2 / delta**2 * noise + 2 * alpha**2 * (rho * delta * B**2) ** 2),
        given=(split, first, times),
    )
    return _ends(goal, _apart, scaled, shrinks, first, square, times, whole)


def central_difference(goal: View) -> Argument:
    """One step forward and one back, each off by rho delta^2 |v|^2/2 at most."""
    ahead, behind = _real("ahead"), _real("behind")  # |grad g(w +- delta v) - grad g(w) -+ delta Hess g(w) v|
    triangle = theorem("triangle", Le(goal.lhs, (ahead + behind) / (2 * delta)),
        "the difference, less 2 delta Hess g(w) v", speaks=(ahead, behind))  # fmt: skip
    length2 = Sum(v(j) ** 2, (j, 1, D))
    halves = [
        theorem(str(x), Le(x, rho * delta**2 / 2 * length2), why, "lipschitz_hessian", speaks=(x,))
        for x, why in (
            (ahead, "a gradient is linear up to its Hessian's change"),
            (behind, "a gradient is linear up to its Hessian's change, backwards"),
        )
    ]
    return _ends(goal, Step(Le(goal.lhs, rho * delta * length2 / 2), given=(triangle, *halves)))


def restated(goal: View, display: View) -> Argument:
    """The same display at another place."""
    last = Step(goal.relations[0], given=(display.holds(),))
    return Argument((last,), last)


def sample_rate(goal: View) -> Argument:
    """On a line W_1 is the integral of |F_i - F|, and m (F_i - F) is binomial."""
    average = Function("F", real=True)
    length, off, between = Function("length", nonnegative=True), Function("off", nonnegative=True), _real("between")
    N = Symbol("N", integer=True, positive=True)
    inside = _premise(Le(off(i) ** 2, average(i) * (1 - average(i)) / m), "the variance of m independent draws",
        "homogeneous")  # fmt: skip
    each = Step(Le(off(i), 1 / (2 * sqrt(m))), given=(inside,), note="F (1 - F) <= 1/4")
    whole = termwise(Le(length(i) * off(i), length(i) / (2 * sqrt(m))), i, 1, N, each)
    pulled = Known(Eq(Sum(length(i) / (2 * sqrt(m)), (i, 1, N)), R / (2 * sqrt(m))), "R sums all gaps", "premise",
        assumes=("on_a_line",))  # fmt: skip
    minkowski = _premise(Le(sqrt(W_u2), Sum(length(i) * off(i), (i, 1, N))), "Minkowski's inequality", "on_a_line")
    first = Step(goal.relations[0], given=(minkowski, whole, pulled))
    closer = _premise(Le(sqrt(W_mean2), between), "Minkowski again: F_i less the average has 1 - 1/n of the variance",
        "on_a_line", "homogeneous")  # fmt: skip
    again = _premise(Le(between, R / (2 * sqrt(m))), "and the same bound", "on_a_line")
    second = Step(Le(sqrt(W_mean2), R / (2 * sqrt(m))), given=(closer, again))
    rest = [Step(r, given=(second,)) for r in goal.relations[1:]]
    return Argument((each, first, second, *rest), (first, *rest))
