"""How the statements about functions, data and estimates follow: the paper's steps, and where they fail, others.

What the assumptions say about losses and data enters as premises; all that is done with it is decided.
"""

from typing import Any

from ...decide.facts import termwise
from ...language.algebra import Eq, Function, Le, Rational, Sum, Symbol, sqrt
from ...language.derivation import Argument, Known, Step, View
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


e2 = _real("e2")  # |E e_2|, or E|e_2|^2 in a line about second moments
SQUARE = sigma_G**2 * (1 / D1 + (alpha * L) ** 2 / D0)
outer = _premise(Le(e2, SQUARE), "(36): the variance of an average, and f_i is L-smooth", "smooth", "gradient_variance")


def eq_5(goal: View) -> Argument:
    turned = Symbol("turned", real=True)  # the j-th coordinate of H' g, g the inner gradient
    chain = _premise(Eq(dF(j), inner(j) - alpha * turned), "the chain rule, with the Jacobian I - alpha H")
    symmetric = _premise(Eq(turned, hess_inner(j)), "Hessians are symmetric", "smooth")
    last = Step(goal.relations[0], given=(chain, symmetric), where="5")
    return Argument((last,), last)


def assumption_5(goal: View) -> Argument:
    """The paper gives no proof. A variance is at most a mean square, which is a quarter of what is claimed."""
    steps: list[Step] = []
    for spread, bound, name in ((spread_G, B, "bounded_gradients"), (spread_H, L, "smooth")):
        if spread is spread_H:  # the spectral norm has no mean square: the triangle inequality
            off = _real("off")
            far = _premise(Le(off, 2 * bound), "two Hessians of norm at most L", name)
            all_of_them = _premise(Le(spread, off**2), "a mean is at most the largest", "average")
            steps.append(Step(Le(spread, 4 * bound**2), given=(far, all_of_them)))
        else:
            mean = _real("mean")
            variance = _premise(Le(spread, mean), "a variance is at most the mean square", "average")
            short = _premise(Le(mean, bound**2), "gradients of norm at most B", name)
            steps.append(Step(Le(spread, bound**2), given=(variance, short)))
    last = [Step(r, given=(s,)) for r, s in zip(goal.relations, steps, strict=True)]
    return Argument((*steps, *(s for s in last if s.claim not in [t.claim for t in steps])), tuple(steps))


def _similarity(goal: View, constant: Any, distance: Any, why: str, assumed: str) -> Argument:
    """Each user's bound, squared and averaged."""
    off = Function("off", nonnegative=True)
    mean = _premise(Eq(goal.lhs, Sum(off(i) ** 2, (i, 1, n)) / n), "off(i) is user i's distance from the average")
    each = _premise(Le(off(i), constant * distance), why, assumed)
    squared = termwise(Le(off(i) ** 2, constant**2 * distance**2), i, 1, n, each)
    spread = Step(Le(goal.lhs, Sum(constant**2 * distance**2, (i, 1, n)) / n), given=(mean, squared))
    return Argument((spread, Step(goal.relations[0], given=(spread,))), spread)


def total_variation(goal: View) -> Argument:
    """Appendix B.1."""
    gradients = goal.lhs == spread_G
    constant, assumed = (B, "point_gradients") if gradients else (L, "point_hessians")
    return _similarity(goal, 2 * constant, tv(i), "(18): sum_z |p_i(z) - p(z)| = 2 |p_i - p|_TV", assumed)


def wasserstein(goal: View) -> Argument:
    """Appendix B.2."""
    gradients = goal.lhs == spread_G
    constant, assumed = (L_Z, "lipschitz_in_z") if gradients else (rho_Z, "hessian_lipschitz_in_z")
    return _similarity(goal, constant, W1(i), "(19): Kantorovich-Rubinstein duality", assumed)


def lemma_4_2(goal: View) -> Argument:
    """Appendix C."""
    one, two, most, far = _real("one"), _real("two"), _real("most"), sqrt(apart2)
    split = _premise(Le(sqrt(moved2(i)), (1 + alpha * L) * one + alpha * two * B), "(25), (17a) and |grad f_i| <= B",
        "smooth", "bounded_gradients")  # fmt: skip
    first = _premise(Le(one, L * (1 + alpha * L) * far), "f_i is L-smooth, twice", "smooth")
    second = _premise(Le(two, rho * far), "the Hessian is rho-Lipschitz", "lipschitz_hessian")
    whole = (L * (1 + alpha * L) ** 2 + alpha * rho * B) * far
    each = Step(Le(sqrt(moved2(i)), whole), given=(split, first, second), where="26, 27")
    small = Step(Le((1 + alpha * L) ** 2, 4), where="26")
    claim = Step(goal.relations[0], given=(each, small))
    largest = _premise(Le(sqrt(mean_moved2), most), "the norm of a mean is at most the largest norm")
    attained = _premise(Le(most, whole), "which is one of those before", "smooth", "lipschitz_hessian")
    mean = Step(Le(sqrt(mean_moved2), whole), given=(largest, attained))
    return Argument((each, small, claim, mean, Step(goal.relations[1], given=(mean, small))), (each, mean))


def lemma_4_3_bias(goal: View) -> Argument:
    """(30a) to (38)."""
    off = _real("off")  # E|estimate of grad f_i(w) - grad f_i(w)|
    outer_mean = _premise(Le(e2, alpha * L * off), "(32): f_i is L-smooth", "smooth")
    spread = _premise(Le(off, sigma_G / sqrt(D0)), "(34): the variance of an average", "gradient_variance")
    independent = _premise(Le(sqrt(bias2), (1 + alpha * L) * e2), "(37): e_1 has mean 0 and is independent of e_2",
        "smooth")  # fmt: skip
    inside = Step(Le(e2, alpha * L * sigma_G / sqrt(D0)), given=(outer_mean, spread), where="33")
    whole = Step(Le(sqrt(bias2), (1 + alpha * L) * alpha * L * sigma_G / sqrt(D0)), given=(independent, inside))
    return _ends(goal, inside, whole)


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
    second = _real("second")  # E|outer gradient|^2
    noise = alpha**2 * sigma_H**2 / D2
    split = _premise(Le(mse, (1 + alpha * L) ** 2 * e2 + noise * second), f"no cross terms; {_HESSIAN}",
        "smooth", "hessian_variance")  # fmt: skip
    short = _premise(Le(second, B**2 + sigma_G**2 / D1), "grad f_i is at most B, and the batch D' is fresh",
        "bounded_gradients", "gradient_variance")  # fmt: skip
    small = Step(Le((1 + alpha * L) ** 2, 4))
    parts = Step(Le((1 + alpha * L) ** 2 * e2, 4 * SQUARE), given=(small, outer))
    product = Step(Le(noise * second, noise * (B**2 + sigma_G**2 / D1)), given=(short,))
    whole = Step(Le(mse, 4 * SQUARE + noise * (B**2 + sigma_G**2 / D1)), given=(split, parts, product))
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


def lemma_H_1_bias(goal: View) -> Argument:
    tail = _real("tail")
    split = _premise(Le(sqrt(bias2_FO), e2 + tail), "(114)")
    first = _premise(Le(e2, alpha * L * sigma_G / sqrt(D0)), "(33)", "smooth", "gradient_variance")
    last = _premise(Le(tail, alpha * L * B), "(116)", "smooth", "bounded_gradients")
    return _ends(goal, Step(Le(sqrt(bias2_FO), alpha * L * (sigma_G / sqrt(D0) + B)), given=(split, first, last)))


def lemma_H_1_variance(goal: View) -> Argument:
    tail = _real("tail")
    split = _premise(Le(mse_FO, 2 * e2 + 2 * tail**2), "(117)")
    last = _premise(Le(tail, alpha * L * B), "(116)", "smooth", "bounded_gradients")
    square = Step(Le(tail**2, (alpha * L * B) ** 2), given=(last,))
    whole = Step(Le(mse_FO, 2 * SQUARE + 2 * (alpha * L * B) ** 2), given=(split, outer, square))
    return _ends(goal, square, whole)


LENGTH2 = Sum(v(j) ** 2, (j, 1, D))
INNER2 = Sum(inner(j) ** 2, (j, 1, D))


def _difference(central: View) -> tuple[Any, Step]:
    """(119) at v = grad f_i(w - alpha grad f_i(w)): its left side, and the bound (129)."""
    short = _premise(Le(INNER2, B**2), "v is a gradient", "bounded_gradients")
    here = central.at({v: inner})  # (119) is about every v
    return here.lhs, Step(Le(here.lhs, rho * delta * B**2), given=(here.holds(), short), where="129")


def lemma_H_2_bias(goal: View, central: View) -> Argument:
    """The paper: as for the second moment."""
    inside, moved = _real("inside"), _real("moved")
    off, error = _difference(central)
    split = _premise(Le(sqrt(bias2_HF), e2 + alpha * (inside + off)), "estimate, its exact form, (122)")
    first = _premise(Le(e2, alpha * L * sigma_G / sqrt(D0)), "(33)", "smooth", "gradient_variance")
    second = _premise(Le(inside, L * moved), "a difference of gradients is L-Lipschitz in v; D'' is fresh", "smooth")
    third = _premise(Le(moved, sigma_G / sqrt(D1) + alpha * L * sigma_G / sqrt(D0)), "E|e_2| <= (36)'s root",
        "smooth", "gradient_variance")  # fmt: skip
    noise = L * (sigma_G / sqrt(D1) + alpha * L * sigma_G / sqrt(D0))
    between = Step(Le(inside, noise), given=(second, third))
    parts = Step(Le(alpha * (inside + off), alpha * (noise + rho * delta * B**2)), given=(between, error))
    whole = Step(Le(sqrt(bias2_HF), alpha * L * sigma_G / sqrt(D0) + alpha * (noise + rho * delta * B**2)),
        given=(split, first, parts))  # fmt: skip
    shrinks = Step(Le(alpha * (alpha * L) * (L * sigma_G / sqrt(D0)), alpha * (L * sigma_G / sqrt(D0))))
    claim = Step(goal.relations[0], given=(whole, shrinks))
    return Argument((error, between, parts, whole, shrinks, claim), whole)


def lemma_H_2_variance(goal: View, central: View) -> Argument:
    """(124) to (129)."""
    near, apart = _real("near"), _real("apart")
    off, error = _difference(central)
    split = _premise(Le(mse_HF, 2 * near + 2 * alpha**2 * off**2), "(124)")
    three = _premise(Le(near, 3 * e2 + 3 * alpha**2 / (4 * delta**2) * 2 * apart), "(126)")
    points = _premise(Le(apart, sigma_G**2 / D2 + delta**2 * L**2 * e2), "(127): D'' is fresh, f_i is L-smooth",
        "smooth", "gradient_variance")  # fmt: skip
    noise = sigma_G**2 / D2
    scaled = Step(Le(3 * alpha**2 / (2 * delta**2) * apart,
        3 * alpha**2 / (2 * delta**2) * noise + 3 * (alpha * L) ** 2 / 2 * e2), given=(points,))  # fmt: skip
    shrinks = Step(Le((alpha * L) ** 2 * e2, e2))
    first = Step(Le(near, Rational(9, 2) * SQUARE + 3 * alpha**2 / (2 * delta**2) * noise),
        given=(three, scaled, shrinks, outer), where="128")  # fmt: skip
    square = Step(Le(off**2, (rho * delta * B**2) ** 2), given=(error,))
    times = Step(Le(alpha**2 * off**2, alpha**2 * (rho * delta * B**2) ** 2), given=(square,))
    whole = Step(
        Le(mse_HF, 9 * SQUARE + 3 * alpha**2 / delta**2 * noise + 2 * alpha**2 * (rho * delta * B**2) ** 2),
        given=(split, first, times),
    )
    return _ends(goal, error, scaled, shrinks, first, square, times, whole)


def central_difference(goal: View) -> Argument:
    """One step forward and one back, each off by rho delta^2 |v|^2/2 at most."""
    ahead, behind = _real("ahead"), _real("behind")  # |grad g(w +- delta v) - grad g(w) -+ delta Hess g(w) v|
    triangle = _premise(Le(goal.lhs, (ahead + behind) / (2 * delta)), "the difference, less 2 delta Hess g(w) v")
    off = rho * delta**2 * LENGTH2 / 2
    one = _premise(Le(ahead, off), "a gradient is linear up to its Hessian's change", "lipschitz_hessian")
    other = _premise(Le(behind, off), "a gradient is linear up to its Hessian's change, backwards", "lipschitz_hessian")
    return _ends(goal, Step(Le(goal.lhs, rho * delta * LENGTH2 / 2), given=(triangle, one, other)))


def restated(goal: View, display: View) -> Argument:
    """The display once more, where another place of the paper prints it."""
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
