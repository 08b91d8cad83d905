"""How lemmas 5, 6, 8, 9, 12, theorems 1 to 4 and remark 2 follow: the paper's steps, with what is cited put in.

Of a run, symbols are means over the rounds t = 1, ..., T of expectations: every premise is linear in them, so that what
holds in each round holds of the means. What the assumptions say about losses, samples and the run enters as premises.
"""

from typing import Any

from ...decide.facts import Fact, sum_next
from ...language.algebra import And, Eq, Ge, Integer, Le, Max, Rational, Sum, Symbol, sqrt
from ...language.derivation import Argument, Induction, Known, Step, View
from ...language.rule_expressions import full_prox, grad, mean
from ...proofs.atoms import Minimum, Short, Square
from ...proofs.premise_identity import averaged, defined, shown
from ...proofs.proximal_atoms import Largest, Moved, Optimal, Steep
from .frames import (
    END,
    ON_FEDMSPP,
    after,
    close2,
    envelope,
    far2,
    floor,
    risk,
    risk_near,
    slope2,
    spread2,
    step2,
    t,
)
from .run import FEDMSPP, drift2, move, move2, near, picked2, picked_env2, residual, w, w_m
from .symbols import B, Delta, Delta_rho, G, I, L, M, T, averaged2, b, deviation, eps, eta, nu, rho, sampled2

S = picked2(T)


def _unless(reached: Step, goal: View) -> tuple[Step, ...]:
    """The step from what was reached to what is claimed, unless they are the same."""
    return () if reached.claim == goal.relations[0] else (Step(goal.relations[0], given=(reached,)),)


def _size(name: str) -> Any:
    return Symbol(name, nonnegative=True)


def _premise(claim: Any, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


gain, cross = (Symbol(name, real=True) for name in ("gain", "cross"))
direction2, error1, error2 = (_size(name) for name in ("direction2", "error1", "error2"))


def _from_one(x: Any) -> tuple[Any, ...]:
    return (Le(1, x),)


def _small_root(x: Any) -> Any:
    return Le(x ** Rational(-1, 3), 1)


root_small = Fact(
    "root_small",
    "x^(-1/3) is at most 1 for x >= 1: powers with a negative exponent fall, and 1^(-1/3) = 1",
    (Symbol("x", real=True),),
    when=_from_one,
    then=_small_root,
)
telescope = _premise(Le(T * gain, Delta), "gains E R(w_{t-1}) - E R(w_t) add up to R(w_0) - E R(w_T), at most Delta")
errors = (
    _premise(Le(error1, residual / eta), "delta_t^(m) is the residual divided by eta, and the mean is no longer"),
    _premise(
        Le(error2, (residual / eta) ** 2), "delta_t^(m) is the residual divided by eta, and the mean is no longer"
    ),
)
turned = _premise(
    Le(S + direction2 - drift2, 2 * cross),
    "2 u'v = |u|^2 + |v|^2 - |u - v|^2 with grad R(w_{t-1}) and the mean direction",
)


# --- one round --------------------------------------------------------------------------------------------------------


def inexact_step(goal: View) -> Argument:
    """|grad Q|^2 <= 2 (L + 1/eta) (Q - min Q); the paper has |grad Q| <= 2 L (Q - min Q)."""
    slope = _size("slope")
    optimal = _premise(
        Le(slope**2, 2 * (L + 1 / eta) * eps),
        "grad Q at an eps-minimum of an (L + 1/eta)-smooth Q",
        "smooth",
        "inexact",
    )
    rule = _premise(Eq(residual, eta * slope), "eta grad Q = w_t^(m) - w_{t-1} + eta d_t^(m)")
    squared = Step(Le(residual**2, 2 * eps * eta * (1 + eta * L)), given=(optimal, rule))
    whole = Step(Le(residual, sqrt(2 * eps * eta * (1 + eta * L))), given=(squared,))
    return Argument((squared, whole, *_unless(whole, goal)), whole)


def mean_direction(goal: View, lemma: View) -> Argument:
    """(B.2), then smoothness and Jensen."""
    moved = _premise(Le(move, G * eta + residual), "w_t^(m) - w_{t-1} = -eta d_t^(m) + residual", "lipschitz")
    jensen = _premise(Le(drift2, L**2 * move**2), "smoothness and Jensen over the devices", "smooth")
    short = Step(Le(move, G * eta + lemma.rhs), given=(moved, lemma.holds()), where="(B.2)")
    whole = Step(Le(drift2, L**2 * (G * eta + lemma.rhs) ** 2), given=(jensen, short))
    return Argument((short, whole, *_unless(whole, goal)), whole)


_square = defined(move, FEDMSPP)


def exact_step(goal: View) -> Argument:
    """(w_{t-1} - w_t^(m))/eta is a subgradient at w_t^(m) of a loss that is G-Lipschitz; on every path."""
    short = shown(
        Le(move2, (eta * G) ** 2),
        "(w_{t-1} - w_t^(m))/eta is a subgradient at w_t^(m), and subgradients are at most G",
        ON_FEDMSPP,
        (1, Moved(w, eta, G)),
        pathwise=True,
    )
    whole = Step(goal.relations[0], given=(_square, short))
    return Argument((whole,), whole)


# --- FedProx, smooth --------------------------------------------------------------------------------------------------


def _small_step(share: int) -> Step:
    return Step(Le(share * L * eta, 1), given=(root_small(x=T),), where=f"eta_t <= 1/({share} L)")


def _prox_descent(variance: Any) -> Known:
    """Appendix B.1 up to zeta_1."""
    return _premise(
        Le(
            -gain,
            -eta * cross + eta * G * error1 + 3 * L * eta**2 / 2 * (direction2 + variance + error2),
        ),
        "smoothness along w_t = w_{t-1} - eta (d_t - delta_t), E d_t the mean direction, |x + y + z|^2 <= 3 (...)",
        "smooth",
        "lipschitz",
    )


def theorem_1(goal: View, sampling: View, step: View, drift: View) -> Argument:
    """Appendix B.1. The last line of its display prints 5 L G^2 eta^2 / (2 I) where the sum is 5 L G^2 eta^2 / I."""
    small = _small_step(3)
    tight = Step(Le(residual, 2 * L * G * eta**2 / I), given=(step.holds(small), small), note="lemma 5 and eps_t")
    first = Step(Le(error1, 2 * L * G * eta / I), given=(errors[0], tight))
    half = Step(Le(residual / eta, G / sqrt(I)), given=(step.holds(small), small), note="lemma 5 and eps_t")
    second = Step(Le(error2, G**2 / I), given=(errors[1], half))
    within = Step(Le(step.rhs, G * eta), given=(small,), note="lemma 5 and eps_t")
    near = Step(Le(drift2, 4 * L**2 * G**2 * eta**2), given=(drift.holds(small), within), note="lemma 6 and eps_t")
    descent = Step(
        Le(eta * S / 2, gain + eta * drift2 / 2 + eta * G * error1 + 3 * L * eta**2 / 2 * (deviation + error2)),
        given=(_prox_descent(deviation), turned, small),
        where="appendix B.1, zeta_3",
    )
    summed = Step(
        Le(eta * S / 2, gain + 2 * L**2 * G**2 * eta**3 + 5 * L * G**2 * eta**2 / I),
        given=(descent, near, first, second, sampling.holds()),
        where="appendix B.1, last line of the display",
    )
    mean = Step(
        Le(S, 2 * Delta / (eta * T) + 4 * L**2 * G**2 * eta**2 + 10 * L * G**2 * eta / I),
        given=(summed, telescope),
        where="appendix B.1, averaged",
    )
    steps = (small, tight, first, half, second, within, near, descent, summed, mean)
    return Argument((*steps, *_unless(mean, goal)), mean)


def _all_devices(drift: View, small: Step) -> Step:
    return Step(
        Le(S, 2 * gain / eta + drift2 + 2 * G * error1 + 3 * L * eta * error2),
        given=(_prox_descent(0), turned, small),
        where="appendix B.1, zeta_3, with d_t the mean direction",
    )


def remark_2(goal: View, step: View, drift: View) -> Argument:
    """The sampling of devices is only 3/10 of theorem 1's term in 1/I; the rest is the oracle's, and does not go."""
    small = _small_step(3)
    tight = Step(Le(residual, 2 * L * G * eta**2 / I), given=(step.holds(small), small), note="lemma 5 and eps_t")
    first = Step(Le(error1, 2 * L * G * eta / I), given=(errors[0], tight))
    half = Step(Le(residual / eta, G / sqrt(I)), given=(step.holds(small), small), note="lemma 5 and eps_t")
    second = Step(Le(error2, G**2 / I), given=(errors[1], half))
    within = Step(Le(step.rhs, G * eta), given=(small,), note="lemma 5 and eps_t")
    near = Step(Le(drift2, 4 * L**2 * G**2 * eta**2), given=(drift.holds(small), within), note="lemma 6 and eps_t")
    descent = _all_devices(drift, small)
    mean = Step(
        Le(S, 2 * Delta / (eta * T) + 4 * L**2 * G**2 * eta**2 + 7 * L * G**2 * eta / I),
        given=(descent, near, first, second, telescope),
    )
    return Argument((small, tight, first, half, second, within, near, descent, mean, *_unless(mean, goal)), mean)


def remark_2_repaired(goal: View, step: View, drift: View) -> Argument:
    """An accuracy of eta^5 leaves only eta^2."""
    small = _small_step(3)
    tight = Step(Le(residual, L**2 * G * eta**3), given=(step.holds(small), small), note="lemma 5 and eps_t")
    first = Step(Le(error1, L**2 * G * eta**2), given=(errors[0], tight))
    second = Step(Le(3 * L * eta * error2, L**2 * G**2 * eta**2 / 9), given=(errors[1], tight, small))
    near = Step(Le(drift2, Rational(100, 81) * L**2 * G**2 * eta**2), given=(drift.holds(small), small))
    descent = _all_devices(drift, small)
    mean = Step(
        Le(S, 2 * Delta / (eta * T) + Rational(271, 81) * L**2 * G**2 * eta**2),
        given=(descent, near, first, second, telescope),
    )
    return Argument((small, tight, first, second, near, descent, mean, *_unless(mean, goal)), mean)


def remark_2_lgd(goal: View) -> Argument:
    """Appendix B.1 with G replaced by what (B, 0)-LGD gives: then the drift is a part of |grad R|^2."""
    length2, local2 = _size("length2"), _size("local2")
    small = Step(Le(4 * L * eta, 1), note="eta_t <= 1/(4 L)")
    drift = _premise(
        Le(drift2, L**2 * eta**2 * length2), "smoothness and Jensen, exact steps: |w_t^(m) - w_{t-1}| = eta |d_t^(m)|",
        "smooth", "exact_oracle",
    )  # fmt: skip
    longer = _premise(
        Le((1 - eta * L) ** 2 * length2, local2), "|d_t^(m)| <= |grad R^(m)(w_{t-1})| + L eta |d_t^(m)|", "smooth"
    )
    alike = _premise(Le(local2, B**2 * S), "(B, 0)-LGD at w_{t-1}", "lgd")
    descent = _premise(
        Le(-gain, -eta * cross + L * eta**2 / 2 * direction2), "smoothness along the mean direction, all devices",
        "smooth", "full_participation",
    )  # fmt: skip
    near = Step(Le(drift2, S / 9), given=(drift, longer, alike, small))
    fall = Step(Le(4 * eta * S / 9, gain), given=(descent, turned, near, small))
    mean = Step(Le(S, 9 * Delta / (4 * eta * T)), given=(fall, telescope))
    return Argument((small, near, fall, mean, *_unless(mean, goal)), mean)


# --- FedMSPP, smooth --------------------------------------------------------------------------------------------------


along = _premise(
    Le(-gain, -eta * cross + eta * G * error1 + L * eta**2 * (direction2 + error2)),
    "smoothness along w_t = w_{t-1} - eta (d_t - delta_t), |x + y|^2 <= 2 |x|^2 + 2 |y|^2",
    "smooth",
    "lipschitz",
)
aside = _premise(Le(S - averaged2, 2 * cross), "2 u'v >= |u|^2 - |u - v|^2 with grad R(w_{t-1}) and E dbar_t")
split = _premise(Le(direction2, 2 * sampled2 + 2 * S), "|d_t|^2 <= 2 |d_t - grad R|^2 + 2 |grad R|^2")


def _mspp_descent(small: Step) -> Step:
    return Step(
        Le(S / 4, gain / eta + averaged2 / 2 + G * error1 + 2 * L * eta * sampled2 + L * eta * error2),
        given=(along, aside, split, small),
        where="appendix C.1, zeta_2",
    )


def _parts(draws: Known | Step, first: Step, second: Step, small: Step, size: Any) -> tuple[Step, ...]:
    """What sampling and the oracle add to S/4."""
    return (
        Step(Le(2 * L * eta * sampled2, 4 * L * G**2 * eta / size + 2 * L**2 * G**2 * eta**2), given=(draws, small)),
        Step(Le(G * error1, 3 * L * G**2 * eta / (2 * size)), given=(first,)),
        Step(Le(L * eta * error2, L * G**2 * eta / (4 * size)), given=(second, small)),
    )


def theorem_3(goal: View, step: View, first_bound: View, second_bound: View) -> Argument:
    """Appendix C.1. Its step zeta_4 takes 38/(1 - eta L)^2 for 43, which is 38/(1 - eta L): 43 should be 50."""
    small = _small_step(8)
    size = b * I
    tight = Step(Le(residual, L * G * eta**2 / size), given=(step.holds(small),), note="lemma 9 and eps_t")
    first = Step(Le(error1, L * G * eta / size), given=(errors[0], tight))
    half = Step(Le(residual / eta, G), given=(step.holds(small),), note="lemma 9 and eps_t")
    second = Step(Le(error2, L * G**2 * eta / size), given=(errors[1], tight, half))
    inverse = Step(Le(1 / (1 - eta * L) ** 2, Rational(64, 49)), given=(small,), where="zeta_4")
    means = Step(
        Le(averaged2, (12 + 150 * Rational(64, 49)) * L**2 * G**2 * eta**2),
        given=(second_bound.holds(small), inverse),
        where="lemma 11, second bound",
    )
    descent = _mspp_descent(small)
    parts = _parts(first_bound.holds(small), first, second, small, size)
    summed = Step(
        Le(S / 4, gain / eta + 106 * L**2 * G**2 * eta**2 + 6 * L * G**2 * eta / size), given=(descent, means, *parts)
    )
    mean = Step(
        Le(S, 4 * Delta / (eta * T) + 424 * L**2 * G**2 * eta**2 + 24 * L * G**2 * eta / size),
        given=(summed, telescope),
    )
    steps = (small, tight, first, half, second, inverse, means, descent, *parts, summed, mean)
    return Argument((*steps, *_unless(mean, goal)), mean)


def theorem_3_repaired(goal: View, step: View) -> Argument:
    return _without_stability(goal, step, I, "I devices without replacement, each with a minibatch: at most G^2/I")


def theorem_3_full(goal: View, step: View) -> Argument:
    said = "all devices, so that only data vary: b I independent points"
    return _without_stability(goal, step, b * I, said, "full_participation")


def _without_stability(goal: View, step: View, size: Any, said: str, *assumes: str) -> Argument:
    """Appendix C.1 without lemma 10: E of a minibatch's gradient at w_{t-1} is grad R, so that only drift is left."""
    small = _small_step(8)
    tight = Step(
        Le(residual, 3 * L * G * eta**2 / (2 * size)), given=(step.holds(small), small), note="lemma 9 and eps_t"
    )
    moved = _premise(Le(move, G * eta + residual), "w_t^(m) - w_{t-1} = -eta d_t^(m) + residual", "lipschitz")
    short = Step(Le(move, 2 * G * eta), given=(moved, tight, small), where="(C.1)")
    near = _premise(Le(averaged2, L**2 * move**2), "smoothness of every minibatch's risk", "smooth")
    drawn = _premise(
        Le(sampled2, 2 * G**2 / size + 2 * L**2 * move**2),
        f"variance of the gradients at w_{{t-1}}, {said}; then smoothness",
        "smooth",
        "lipschitz",
        "independent_minibatches",
        *assumes,
    )
    means = Step(Le(averaged2, 4 * L**2 * G**2 * eta**2), given=(near, short))
    draws = Step(Le(sampled2, 2 * G**2 / size + 8 * L**2 * G**2 * eta**2), given=(drawn, short))
    first = Step(Le(error1, 3 * L * G * eta / (2 * size)), given=(errors[0], tight))
    second = Step(Le(error2, 9 * L**2 * G**2 * eta**2 / (4 * size**2)), given=(errors[1], tight))
    descent = _mspp_descent(small)
    parts = _parts(draws, first, second, small, size)
    summed = Step(
        Le(S / 4, gain / eta + 4 * L**2 * G**2 * eta**2 + 6 * L * G**2 * eta / size), given=(descent, means, *parts)
    )
    mean = Step(
        Le(S, 4 * Delta / (eta * T) + 16 * L**2 * G**2 * eta**2 + 24 * L * G**2 * eta / size), given=(summed, telescope)
    )
    steps = (small, tight, short, means, draws, first, second, descent, *parts, summed, mean)
    return Argument((*steps, *_unless(mean, goal)), mean)


# --- non-smooth -------------------------------------------------------------------------------------------------------


_JENSEN = 1 - (M - I) / (I * Max(M - 1, 1))  # of the variance among devices, this share is lost by averaging


def theorem_2(goal: View, lemma: View) -> Argument:
    """Appendices B.2 and C.2: Davis and Drusvyatskiy's argument."""
    apart = Square(w_m - mean(w_m), "mean")
    local = shown(
        Le(
            risk(t) + step2(t) / (2 * eta),
            risk_near(t) + far2(t) / (2 * eta) - (1 / eta - nu) / 2 * close2(t) + (G**2 * eta + spread2(t) / eta) / 2,
        ),
        "lemma 7 at wbar_{t-1} for each device, Lipschitz losses, Jensen over the sampled devices, unbiased sampling",
        ON_FEDMSPP,
        (1, Optimal(w, near, eta, nu, "mean")),
        (1, Steep(w, w_m, G, eta, "mean", draws=True)),
        (_JENSEN / (2 * eta), apart),
        (_JENSEN * (1 / eta - nu) / 2, apart),
    )
    change = shown(
        Le(risk(t + 1), risk(t) + (G**2 * eta + step2(t) / eta) / 2),
        "Lipschitz risk",
        ON_FEDMSPP,
        (1, Steep(after, w, G, eta, "mean")),
        at=END,
    )
    jensen = shown(
        Le(step2(t), spread2(t)), "the mean of local steps is no longer than they are", ON_FEDMSPP, (_JENSEN, apart)
    )
    largest = shown(Le(spread2(t), move2), "a mean is at most the largest", ON_FEDMSPP, (1, Largest(move2, "mean")))
    prox = shown(
        Le(risk_near(t) + far2(t) / (2 * rho), risk(t + 1) + step2(t) / (2 * rho) - (1 / rho - nu) / 2 * close2(t)),
        "(B.7): lemma 7 for wbar_{t-1}, the proximal point of R",
        ON_FEDMSPP,
        (1, Optimal(w, after, rho, nu, full=True)),
        at=END,
    )
    best = shown(
        Le(envelope(t + 1), risk_near(t) + close2(t) / (2 * rho)),
        "wbar_{t-1} is a candidate in R_rho(w_t)",
        ON_FEDMSPP,
        (1, Optimal(after, near, rho, nu, full=True)),
        ((1 / rho - nu) / 2, Square(near - full_prox(after, rho))),
        at=END,
    )
    apart_ = shown(
        Eq(envelope(t), risk_near(t) + far2(t) / (2 * rho)), "wbar_{t-1} is best in R_rho(w_{t-1})", ON_FEDMSPP
    )
    measured = shown(Eq(far2(t), rho**2 * slope2(t)), "|w - wbar| = rho |grad R_rho(w)| (remark 5)", ON_FEDMSPP)
    begins = shown(Eq(Delta_rho, envelope(0) - floor), "R_rho at the start", ON_FEDMSPP, at=(Integer(0), END[1]))
    ends = shown(
        Ge(envelope(T), floor),
        "R_rho is nowhere below the least value of R",
        ON_FEDMSPP,
        (1, Minimum(near)),
        (1 / (2 * rho), Square(w - near)),
        at=(T, END[1]),
    )
    slow = Step(Le(eta, rho), note="eta_t <= rho")
    calm = Step(Le(2 * rho * nu, 1), note="rho < 1/(2 nu)")
    rate = 1 / eta + 1 / rho - 2 * nu
    short = Step(Le(move2, (eta * G) ** 2), given=(lemma.holds(calm, slow), _square), where="lemma 8")
    moved = Step(And(Le(step2(t), spread2(t)), Le(spread2(t), (eta * G) ** 2)), given=(jensen, largest, short))
    B6 = Step(
        Le(
            risk(t + 1) + step2(t) / (2 * eta),
            risk_near(t) + far2(t) / (2 * eta) - (1 / eta - nu) / 2 * close2(t) + 2 * G**2 * eta,
        ),
        given=(local, change, moved, calm, slow),
        where="(B.6)",
    )
    summed = Step(
        Le(
            (1 / eta - 1 / rho) / 2 * step2(t),
            (1 / eta - 1 / rho) / 2 * far2(t) - rate / 2 * close2(t) + 2 * G**2 * eta,
        ),
        given=(B6, prox, calm, slow),
        where="(B.6) + (B.7)",
    )
    faster = Step(Le(0, (1 / eta - 1 / rho) * step2(t)), given=(slow,))
    closer = Step(Le(rate * close2(t), (1 / eta - 1 / rho) * far2(t) + 4 * G**2 * eta), given=(summed, faster))
    fall = Step(
        Le(envelope(t + 1) - envelope(t), (close2(t) - far2(t)) / (2 * rho)),
        given=(best, apart_, calm),
        note="wbar_{t-1} is a candidate in R_rho(w_t), best in R_rho(w_{t-1})",
    )
    one = Step(
        Le((1 - rho * nu) * slope2(t), rate * (envelope(t) - envelope(t + 1)) + 2 * G**2 * eta / rho),
        given=(closer, fall, measured, slow, calm),
    )
    s = Symbol("s", integer=True, nonnegative=True)
    total = Induction(
        Le(
            (1 - rho * nu) * Sum(slope2(s), (s, 0, t - 1)),
            rate * (envelope(0) - envelope(t)) + t * 2 * G**2 * eta / rho,
        ),
        over=t,
        step=(one, sum_next(slope2(s), s, 0, t - 1), calm, slow),
        note="gains of the envelope add up",
    )
    E2 = picked_env2(T)
    mean_ = Step(
        Le((1 - rho * nu) * E2, rate * Delta_rho / T + 2 * G**2 * eta / rho),
        given=(total.at(T), averaged(E2, slope2(t), ON_FEDMSPP), begins, ends, slow, calm),
    )
    halves = Step(Le(E2, Delta_rho / (T * rho) + 2 * Delta_rho / (eta * T) + 4 * G**2 * eta / rho), given=(mean_, calm))
    steps = (slow, calm, short, moved, B6, summed, faster, closer, fall, one, total, mean_, halves)
    return Argument((*steps, Step(goal.relations[0], given=(halves,))), halves)


def order_2(goal: View, theorem: View) -> Argument:
    """1/T <= 1/sqrt(T); then the larger of both factors."""
    slow = Step(Le(Delta_rho / (T * rho), Delta_rho / (rho * sqrt(T))), note="T >= 1")
    merged = Step(Le(theorem.lhs, (3 * Delta_rho + 4 * G**2 * rho) / (rho * sqrt(T))), given=(theorem.holds(), slow))
    return Argument((slow, merged, *_unless(merged, goal)), merged)


def remark_3(goal: View) -> Argument:
    """Every gradient of a G-Lipschitz loss is at most G long."""
    short = shown(goal.relations[0], "gradients of G-Lipschitz losses", ON_FEDMSPP, (1, Short(grad(w), G, over="mean")))
    return Argument((Step(goal.relations[0], given=(short,)),))


def remark_5_rate(goal: View, theorem: View) -> Argument:
    """Theorem 2, and theorem 2 times rho^2."""
    cited = theorem.holds()
    steps = tuple(Step(relation, given=(cited,)) for relation in goal.relations)
    return Argument(steps, steps)


# --- table 1 ----------------------------------------------------------------------------------------------------------


def row_1(goal: View, theorem: View) -> Argument:
    """The bound is at most 6 (L Delta + G^2) max{T^(-2/3), 1/sqrt(T I)}; then one case per term of the row."""
    unit, x = L * Delta + G**2, S
    few, many = T ** Rational(-2, 3), 1 / sqrt(T * I)
    rate = Step(Le(x, 6 * unit * Max(few, many)), given=(theorem.holds(),), where="theorem 1, printed order")
    whole = Step(goal.relations[0], given=(rate,), where="table 1")
    return Argument((rate, whole), whole)


def row_2(goal: View, theorem: View) -> Argument:
    """The printed order, squared."""
    order = Step(Le(sqrt(T) * theorem.lhs, 4 * (Delta_rho + rho * G**2) / rho), given=(theorem.holds(),))
    whole = Step(goal.relations[0], given=(order,), where="table 1")
    return Argument((order, whole), whole)
