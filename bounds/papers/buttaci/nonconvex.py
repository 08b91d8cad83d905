"""FedProx on losses that need not be convex: theorem 4.3 (section 4.2.3) and appendix B.3."""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false

from dataclasses import replace
from typing import Any

from sympy import Add, Expr, Function, Rational, Sum, Symbol, expand, fraction, log, sqrt
from sympy.logic.boolalg import And, Boolean

from ...decide.facts import log_growth, log_positive, quotient, sum_next, sum_splits, termwise
from ...language.algebra import Eq, Ge, Gt, Le, Min
from ...language.derivation import Argument, Derivation, Induction, Known, Step, View
from ...language.knobs import free, unit
from ...language.rule_expressions import grad, mean
from ...language.statement import Assumption, Statement
from ...proofs.atom import Atom
from ...proofs.atoms import Lipschitz, Smooth, Square, Variance
from ...proofs.premise_identity import shown
from .fedprox import ASSUMPTIONS_1_TO_4, ON_THE_RUN
from .frames import FEDPROX_BASICS, ON_FEDPROX, Basics, Z, along, centre, gradient, lag, lag2, onward, slope, value
from .methods import FEDPROX, w, w_i
from .symbols import (
    CHANGING,
    GLOSSARY,
    C,
    E,
    G,
    L,
    L_alpha,
    S,
    T,
    alpha,
    deviation,
    divergence,
    excess,
    gamma,
    gamma_,
    i,
    independent_noise,
    k,
    level,
    p,
    sigma,
    slope2,
    sum_p2,
    t,
)  # fmt: skip

_s = GLOSSARY.symbol
Delta_inf = _s("Delta_inf", "F", "printed Δ in B.3: f(w_{0,0}) - f_inf", r"\Delta", nonnegative=True)
Sigma = _s("Sigma", "W^2/F", "sum of the step sizes of the rounds before T", r"\Sigma")
A_B4 = _s("A_B4", "F^2/W^2", "printed A in lemmas B.4 and B.5: error of one round", "A", nonnegative=True)
squares = _s("squares", "W^4/F^2", "sum of the squared step sizes of the rounds before T", r"\sum_t \gamma_t^2")
cubes = _s("cubes", "W^6/F^3", "sum of the cubed step sizes", r"\sum_t \gamma_t^3")
fourths = _s("fourths", "W^8/F^4", "sum of the fourth powers of the step sizes", r"\sum_t \gamma_t^4")
some_gap = _s("some_gap", "F", "any fixed positive number, of the dimension of f", "K")
SUMS = (
    "the sums over t < T are written as symbols: Σ grows without bound, the sum of the squares is bounded; the bound "
    "is O(1/Σ), which gives the printed limit 0"
)
picked2 = _s(
    "picked2",
    "F^2/W^2",
    "E |grad f(w^_T)|^2 at the iterate that theorem 4.3 samples",
    r"\mathbb{E} \|\nabla f(\widehat{\mathbf w}_T)\|^2",
    nonnegative=True,
)
lower_bounded = Assumption("lower_bounded", (), "f(w) >= f_inf for every w", "assumption 4.6")

ASSUMPTIONS = (*ASSUMPTIONS_1_TO_4, lower_bounded)
IMPLICIT = (independent_noise,)
STEP_LIMIT = Min(1 / L, 1 / (2 * alpha))
ROUND_MEAN = Sum(slope2(t, k), (k, 0, E - 1)) / E
UNIFORM = Sum(ROUND_MEAN, (t, 0, T - 1)) / T
WEIGHTED = Sum(gamma(t) * ROUND_MEAN, (t, 0, T - 1)) / Sigma
TOTAL = Sum(gamma(t), (t, 0, T - 1))
START = excess(0)


def error(step: Expr) -> Expr:
    """The printed A of lemmas B.4 and B.5 with this step size; R_t of lemma B.6 is γ_t times it."""
    return (
        2 * step * L * sigma**2 * sum_p2
        + 2 * step * alpha * E**2 * G**2
        + 8 * step**2 * L**2 * E**2 * G**2
        + step**3 * alpha**2 * L * E**2 * G**2 / 2
    )


def error_sum(step: Expr) -> Expr:
    """The printed R_t of lemma B.6."""
    return (
        2 * step**2 * L * sigma**2 * sum_p2
        + 2 * step**2 * alpha * E**2 * G**2
        + 8 * step**3 * L**2 * E**2 * G**2
        + step**4 * alpha**2 * L * E**2 * G**2 / 2
    )


# --- proofs ----------------------------------------------------------------------------------------------------------


def telescope() -> Induction:
    """What the rounds gain, added up."""
    n = Symbol("n", integer=True, nonnegative=True)
    gain = level(t) - level(t + 1)
    return Induction(
        Eq(Sum(gain, (t, 0, n - 1)), level(0) - level(n), evaluate=False), over=n, step=(sum_next(gain, t, 0, n - 1),)
    )


def one_round(
    step: Expr, local: Step, c: Expr, on: Basics = FEDPROX_BASICS, under: tuple[Boolean, ...] = ()
) -> tuple[Induction, Step]:
    """E f(w̄_{t,k+1}) − E f(w̄_{t,k}) ≤ c − γ/2 E|∇f(w̄_{t,k})|² (`local`), added up over the round; γ is `step`."""
    j = Symbol("j", integer=True, nonnegative=True)
    rounds = Induction(
        Le(value(k) - value(0), k * c - step / 2 * Sum(slope2(t, j), (j, 0, k - 1))),
        over=k,
        step=(local, sum_next(slope2(t, j), j, 0, k - 1)),
        under=(Le(k, E), *under),
        note="over the local steps",
    )
    divided = Step(
        Le(ROUND_MEAN, 2 / (step * E) * (level(t) - level(t + 1)) + 2 * c / step),
        given=(rounds.at(E), on.round_starts, on.round_ends),
        note="divided by γ E / 2",
        under=under,
    )
    return rounds, divided


def descent() -> dict[str, Known]:
    """What the assumptions give for one local step. u = α (w̄_{t,0} − w̄_{t,k}) + ∇f(w̄_{t,k}) − Σ p_i ∇f_i(w^i_{t,k})."""
    step, g2, f = gamma(t), slope2(t, k), value
    U = Sum(p[i] * deviation(t, k, i), (i, 1, C))
    V = Sum(p[i] * divergence(t, k, i), (i, 1, C))
    apart = grad(centre) - gradient

    def known(claim: Any, because: str, *by: tuple[Any, Atom]) -> Known:
        return shown(claim, because, ON_FEDPROX, *by)

    return {
        "smooth": known(
            Le(
                f(k + 1) - f(k),
                -step * (1 - L * step / 2) * g2 + step * (1 - L * step) * along(k) + L * step**2 / 2 * (lag2(k) + Z(k)),
            ),
            "smoothness of f along rule (4.4), whose step is −γ (∇f − u) and noise of mean zero",
            (1, Smooth(centre, onward, L, "mean")),
        ),
        "product": known(Le(2 * along(k), g2 + lag2(k)), "2u'v ≤ |u|² + |v|²", (1, Square(slope - lag))),
        "drift": known(
            Le(lag2(k), 2 * alpha**2 * U + 2 * L**2 * V),
            "Young, Jensen and smoothness",
            (1, Square(alpha * (w - centre) - slope + mean(gradient))),
            (2 * alpha**2, Square(w_i - centre, "mean")),
            (2, Square(apart - mean(apart), "mean")),
            (2, Lipschitz(centre, w_i, L, "mean")),
        ),
        "spread": known(
            Le(V, U), "Σ p_i |w^i − w̄|² = Σ p_i |w^i − w̄_{t,0}|² − |w̄ − w̄_{t,0}|²", (1, Square(centre - w))
        ),
        "noise": known(
            Le(Z(k), sigma**2 * sum_p2), "variances of independent noise add", (1, Variance(gradient, sigma, "squares"))
        ),
        "sign": FEDPROX_BASICS.weight_sign,
        "whole": FEDPROX_BASICS.weight_sum,
    }


def lemma_B_4(goal: View, local_deviation: View) -> Argument:
    """E f(w̄_{t,k+1}) − E f(w̄_{t,k}) ≤ −γ/4 E|∇f(w̄_{t,k})|² + c, added up over the round.

    Not the thesis's way: it bounds a_3 by γ²L/2 |Σ p_i g_i|² + γ²α²L/8 |w̄_{t,0} − w̄_{t,k}|², which fails already where
    the first term is zero. With both drifts in one vector u nothing is lost: −γ/2 |∇f|² + γ/2 |u|².
    """
    step, g2, f = gamma(t), slope2(t, k), value
    premises = descent()
    u2, noise2 = lag2(k), Z(k)
    U = Sum(p[i] * deviation(t, k, i), (i, 1, C))
    within = (Le(k + 1, E),)
    one = Step(
        Le(f(k + 1) - f(k), -step / 2 * g2 + step / 2 * u2 + L * step**2 / 2 * noise2),
        given=(premises["smooth"], premises["product"]),
        note="γ ≤ 1/L",
    )
    average = Step(
        Le(U, local_deviation.rhs),
        given=(
            premises["whole"],
            termwise(
                Le(p[i] * local_deviation.lhs, p[i] * local_deviation.rhs), i, 1, C,
                local_deviation.holds(), premises["sign"],
            ),
        ),
        note=local_deviation.id,
        under=within,
    )  # fmt: skip
    drift = Step(
        Le(u2, 2 * (alpha**2 + L**2) * local_deviation.rhs),
        given=(premises["drift"], premises["spread"], average),
        under=within,
    )
    c = step * (alpha**2 + L**2) * local_deviation.rhs + L * step**2 * sigma**2 * sum_p2 / 2
    local = Step(
        Le(f(k + 1) - f(k), c - step / 2 * g2),
        given=(one, drift, premises["noise"]),
        note="one local step",
        under=within,
    )
    rounds, half = one_round(step, local, c)  # half of what is printed
    reached = Step(
        Le(ROUND_MEAN, 4 / (step * E) * (level(t) - level(t + 1)) + 4 * c / step), given=(half,), note="doubled"
    )
    last = Step(goal.relations[0], given=(reached,), note="2 α γ ≤ 1")
    return Argument((one, average, drift, local, rounds, half, reached, last), last)


def lemma_B_4_printed(goal: View, local_deviation: View, local_divergence: View) -> Argument:
    """The thesis's way, line by line: its bound on a_3 fails where the mean gradient is zero.

    (B.29) to (B.31) print + before γ/2 |∇f|², and the line after them has the right sign.
    """
    step, g2, f, k_ = gamma(t), slope2(t, k), value, Symbol("j", integer=True, nonnegative=True)
    a_1, a_2, a_3, product, mixed = (Function(n, real=True)(k) for n in ("a_1", "a_2", "a_3", "product", "mixed"))
    u2, m2, y2, x2, noise2 = (Function(n, nonnegative=True)(k) for n in ("u2", "m2", "y2", "x2", "noise2"))
    U, V = (Sum(p[i] * lemma.lhs, (i, 1, C)) for lemma in (local_deviation, local_divergence))
    weights, within, own = ("nonnegative_weights", "weights_sum_to_one"), (Le(k + 1, E),), descent()

    def known(claim: Expr, because: str, *assumes: str) -> Known:
        return Known(claim, because, "premise", assumes=assumes)

    smooth = known(
        Le(f(k + 1) - f(k), a_1 + a_2 + a_3), "smoothness of f along rule (4.4), noise of mean zero",
        "smooth", "bounded_variance",
    )  # fmt: skip
    first = Step(
        Le(a_1, alpha * step**2 / 2 * g2 + alpha / 2 * x2),
        given=(
            known(Eq(a_1, alpha * step * product), "a_1 = α γ ∇f(w̄)'(w̄_{t,0} − w̄)"),
            known(Le(product, step / 2 * g2 + x2 / (2 * step)), "Peter-Paul"),
        ),
        where="a_1",
    )
    second = Step(
        Le(a_2, step / 2 * (L**2 * V - m2 - g2)),
        given=(
            known(Eq(a_2, step / 2 * (u2 - m2 - g2)), "2u'v = |u|² + |v|² − |u − v|²"),
            known(Le(u2, L**2 * V), "Jensen and smoothness", "smooth", *weights),
        ),
        where="B.29 to B.31",
    )
    third = Step(
        Le(a_3, step**2 * L / 2 * y2 + step**2 * alpha**2 * L / 8 * x2),
        given=(
            known(
                Eq(a_3, L / 2 * (alpha**2 * step**2 * x2 - 2 * alpha * step**2 * mixed + step**2 * y2)),
                "a_3 is L/2 times the squared step, multiplied out",
            ),
            known(Le(mixed**2, x2 * y2), "Cauchy-Schwarz"),
        ),
        where="a_3",
        note="Peter-Paul",
    )
    averages = [
        Step(
            Le(total, lemma.rhs),
            given=(
                own["whole"],
                termwise(Le(p[i] * lemma.lhs, p[i] * lemma.rhs), i, 1, C, lemma.holds(), own["sign"]),
            ),
            note=lemma.id,
            under=within,
        )
        for total, lemma in ((U, local_deviation), (V, local_divergence))
    ]
    c = (
        alpha / 2 * (1 + alpha * L * step**2 / 4) * local_deviation.rhs
        + step * L**2 / 2 * local_divergence.rhs
        + step**2 * L * sigma**2 * sum_p2 / 2
    )
    local = Step(
        Le(f(k + 1) - f(k), c - step / 4 * g2),
        given=(
            smooth, first, second, third, *averages, known(Le(x2, U), "Jensen", *weights),
            known(Eq(y2, m2 + noise2), "noise of mean zero", "bounded_variance"),
            known(Le(noise2, sigma**2 * sum_p2), "variances of independent noise add", "bounded_variance",
                  "independent_noise"),
        ),
        under=within,
    )  # fmt: skip
    rounds = Induction(
        Le(f(k) - f(0), k * c - step / 4 * Sum(slope2(t, k_), (k_, 0, k - 1))),
        over=k,
        step=(local, sum_next(slope2(t, k_), k_, 0, k - 1)),
        under=(Le(k, E),),
    )
    reached = Step(
        Le(ROUND_MEAN, 4 / (step * E) * (level(t) - level(t + 1)) + 4 * c / step),
        given=(rounds.at(E), FEDPROX_BASICS.round_starts, FEDPROX_BASICS.round_ends),
    )
    return Argument(
        (first, second, third, *averages, local, rounds, reached, Step(goal.relations[0], given=(reached,))), reached
    )


def averaged(
    one: Known | Step, factor: int, error_: Expr, step: Expr = gamma_, on: Basics = FEDPROX_BASICS
) -> tuple[Induction, Step, Step]:
    """ROUND_MEAN ≤ `factor`/(γE) (E f(w̄_{t,0}) − E f(w̄_{t+1,0})) + `error_` (`one`), averaged over the rounds."""
    gains, summed = factor / (step * E) * (level(t) - level(t + 1)), telescope()
    added = Step(
        Le(T * UNIFORM, factor / (step * E) * (level(0) - level(T)) + T * error_),
        given=(
            termwise(Le(ROUND_MEAN, gains + error_), t, 0, T - 1, one),
            sum_splits(t, 0, T - 1, gains, error_),
            summed.at(T),
        ),
        note="for every round",
    )
    reached = Step(Le(UNIFORM, factor / (step * T * E) * START + error_), given=(added, *on.bounded_below))
    return summed, added, reached


def lemma_B_5(goal: View, progress: View) -> Argument:
    """Lemma B.4 averaged over the rounds."""
    steps = averaged(progress.holds(), 4, progress.rhs.subs({level(t): 0, level(t + 1): 0}))
    return Argument((*steps, Step(goal.relations[0], given=steps[-1:])), steps[-1])


def weighted(
    scaled: Step, factor: int, error_: Expr, step: Expr, on: Basics = FEDPROX_BASICS
) -> tuple[Induction, Step, Step]:
    """γ_t ROUND_MEAN ≤ `factor`/E (E f(w̄_{t,0}) − E f(w̄_{t+1,0})) + `error_` (`scaled`), added up; γ_t is `step`."""
    gains, summed = factor / E * (level(t) - level(t + 1)), telescope()
    mean_, total = Sum(step * ROUND_MEAN, (t, 0, T - 1)), Sum(step, (t, 0, T - 1))
    added = Step(
        Le(mean_, factor / E * (level(0) - level(T)) + Sum(error_, (t, 0, T - 1))),
        given=(
            termwise(Le(step * ROUND_MEAN, gains + error_), t, 0, T - 1, scaled),
            sum_splits(t, 0, T - 1, gains, error_),
            summed.at(T),
        ),
        note="for every round",
    )
    reached = Step(
        Le(mean_ / total, (factor / E * START + Sum(error_, (t, 0, T - 1))) / total), given=(added, *on.bounded_below)
    )
    return summed, added, reached


def lemma_B_6(goal: View, progress: View) -> Argument:
    """Lemma B.4 times γ_t, added up over the rounds."""
    gains = 4 / E * (level(t) - level(t + 1))
    error_ = expand(gamma(t) * progress.rhs.subs({level(t): 0, level(t + 1): 0}))
    scaled = Step(Le(gamma(t) * ROUND_MEAN, gains + error_), given=(progress.holds(),), note="R_t is γ_t A")
    steps = (scaled, *weighted(scaled, 4, error_, gamma(t)))
    return Argument((*steps, Step(goal.relations[0], given=steps[-1:])), steps[-1])


def theorem_4_3_I(goal: View, lemma: View) -> Argument:
    """Lemma B.5 at γ = 1/(2 L_α √(T E)): nothing but substitution."""
    same = Step(Eq(lemma.rhs, goal.rhs, evaluate=False), note="γ replaced in lemma B.5")
    cited = lemma.holds()
    return Argument((same, Step(goal.relations[0], given=(cited, same))), cited)


def harmonic(power: int) -> Induction:
    """Σ_{t<n} (t+1)^(−a) ≤ a/(a−1) − 1/((a−1) n^(a−1)) for n ≥ 1: B.32 by induction."""
    n = Symbol("n", integer=True, positive=True)
    term = 1 / (t + 1) ** power
    return Induction(
        Le(Sum(term, (t, 0, n - 1)), Rational(power, power - 1) - 1 / ((power - 1) * n ** (power - 1))),
        over=n,
        start=1,
        step=(sum_next(term, t, 0, n - 1),),
        where=f"B.32 for a = {power}",
    )


def theorem_4_3_II(goal: View, lemma: View) -> Argument:
    """Lemma B.6 at γ_t = 1/(2 L_α √E (t + 1)): Σ is at least ln(T + 1)/(2 L_α √E), the other sums are bounded."""
    every_round = Known(And(Le(0, t), Le(t, T - 1)), "t is a round of the run")
    return log_rate(goal, lemma.relations[0], lemma.holds(every_round), 4)


def log_rate(goal: View, bound: Any, holds: Known | Step, factor: int, exact: bool = True) -> Argument:
    """From Σ γ_t ROUND_MEAN/Σ ≤ (`factor` Δ/E + Σ R_t)/Σ (`bound`, which `holds`) with γ_t = γ_0/(t + 1).

    `exact`: what comes out is compared with the print as an identity.
    """
    n = Symbol("n", integer=True, nonnegative=True)
    (errors,) = (s for s in bound.rhs.atoms(Sum) if s.has(G))  # Σ R_t
    total = fraction(bound.lhs)[1]
    inverse = Induction(
        Ge(Sum(1 / (t + 1), (t, 0, n - 1)), log(n + 1)),
        over=n,
        step=(sum_next(1 / (t + 1), t, 0, n - 1), log_growth(x=n + 1)),
        where="B.33",
    )
    first = total.function.subs(t, 0)  # γ_0
    long_run = Step(Ge(total, first * log(T + 1)), given=(inverse.at(T),), note="Σ is at least γ_0 ln(T + 1)")
    terms = Add.make_args(errors.function)
    powers = {a: harmonic(a) for a in sorted({int(-term.as_independent(t, as_Add=False)[1].exp) for term in terms})}
    bounded: list[Step] = []
    for term in terms:
        part, falling = term.as_independent(t, as_Add=False)
        a = int(-falling.exp)
        bounded.append(
            Step(Le(Sum(term, (t, 0, T - 1)), part * Rational(a, a - 1)), given=(powers[a].at(T),), note=f"Σ γ_t^{a}")
        )
    most = Add(*(step.claim.rhs for step in bounded))
    signs = [Step(Ge(step.claim.rhs, 0), note="not negative") for step in bounded]
    error_ = Step(Le(errors, most), given=(sum_splits(t, 0, T - 1, *terms), *bounded), note="Σ R_t")
    positive = Step(Gt(log(T + 1), 0), given=(log_positive(x=T + 1),))
    gained, least = factor / E * START, first * log(T + 1)
    sign = Step(Ge(gained, 0), note="Δ is not negative")
    reached = Step(
        Le(goal.lhs, (gained + most) / least),
        given=(
            holds,
            quotient(x=gained + errors, y=gained + most, z=least, w=total),
            long_run, error_, positive, *signs, sign,
        ),
    )  # fmt: skip
    printed = (Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="the printed constants"),) if exact else ()
    return Argument(
        (inverse, long_run, *powers.values(), *bounded, *signs, error_, positive, sign, reached, *printed,
         Step(goal.relations[0], given=(reached, *printed))),
        reached,
    )  # fmt: skip


# --- statements ------------------------------------------------------------------------------------------------------

INFIMUM = "f_inf is audited as the infimum of f: any other lower bound only makes Δ larger"
EXACT = "the iterate is sampled, its expectation is not: E|∇f(ŵ_T)|² is the printed average, computed exactly"

LEMMA_B_4 = Statement(
    id="buttaci/lemB.4",
    kind="inequality",
    title="FedProx: progress of one round, nonconvex",
    cite="Lemma B.4, appendix B.3",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    when=(Le(gamma(t), STEP_LIMIT),),
    then=Le(ROUND_MEAN, 4 / (gamma(t) * E) * (level(t) - level(t + 1)) + A_B4),
    where={A_B4: error(gamma(t))},
    for_all={t: (0, T - 1)},
    sweep={gamma(t): CHANGING * STEP_LIMIT},
    reading=(
        ON_THE_RUN,
        "the printed bound on a_3 is false (no gradients, only drift); the encoded proof reaches the same A without it",
    ),
    follows_from=(
        Derivation(lemma_B_4_printed, cites=("buttaci/lem4.1", "buttaci/lem4.2")),
        Derivation(lemma_B_4, cites=("buttaci/lem4.1",)),
    ),
)

LEMMA_B_5 = Statement(
    id="buttaci/lemB.5",
    kind="inequality",
    title="FedProx: fixed step size, nonconvex",
    cite="Lemma B.5, appendix B.3",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): gamma_},
    when=(Le(gamma_, STEP_LIMIT),),
    then=Le(UNIFORM, 4 * Delta_inf / (gamma_ * T * E) + A_B4),
    where={Delta_inf: START, A_B4: error(gamma_)},
    sweep={gamma_: unit("gamma") * STEP_LIMIT},
    reading=(ON_THE_RUN, INFIMUM, "the condition is printed for γ_t and the bound for γ: the step size is fixed"),
    follows_from=(Derivation(lemma_B_5, cites=("buttaci/lemB.4",)),),
)

LEMMA_B_6 = Statement(
    id="buttaci/lemB.6",
    kind="inequality",
    title="FedProx: diminishing step size, nonconvex",
    cite="Lemma B.6, appendix B.3",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    when=(Le(gamma(t), STEP_LIMIT),),
    then=Le(WEIGHTED, (4 * Delta_inf / E + Sum(error_sum(gamma(t)), (t, 0, T - 1))) / Sigma),
    where={Delta_inf: START, Sigma: TOTAL},
    for_all={t: (0, T - 1)},
    sweep={gamma(t): unit("gamma") * STEP_LIMIT / (1 + free("decay") * t)},
    reading=(
        ON_THE_RUN,
        INFIMUM,
        "Σ is printed as the whole series, which diverges: read as the sum over t < T, as in theorem 4.3",
        "that Σ γ_r diverges and Σ γ_r² converges says nothing about t < T; only the limit for T → ∞ needs it",
    ),
    follows_from=(Derivation(lemma_B_6, cites=("buttaci/lemB.4",)),),
)

LEMMA_B_6_LIMIT = Statement(
    id="buttaci/lemB.6-limit",
    kind="order",
    title="FedProx: the bound of lemma B.6 tends to 0",
    cite="Lemma B.6, the limit for T to infinity in its display",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("grows", (Sigma,), "the sum of the step sizes diverges"),
        Assumption(
            "fixed", (L, S, alpha, sigma, G, E, Delta_inf, squares, some_gap), "the problem; the squares' sum converges"
        ),
    ),
    when=(Le(cubes, squares / L), Le(fourths, squares / L**2)),
    then=Le(
        (
            4 * Delta_inf / E
            + 2 * squares * L * sigma**2 * S
            + 2 * squares * alpha * E**2 * G**2
            + 8 * cubes * L**2 * E**2 * G**2
            + fourths * alpha**2 * L * E**2 * G**2 / 2
        )
        / Sigma,
        some_gap / Sigma,
    ),
    reading=(SUMS, "Σ γ_t³ ≤ Σ γ_t² / L and Σ γ_t⁴ ≤ Σ γ_t² / L² since γ_t ≤ 1/L"),
)

THEOREM_4_3_I = Statement(
    id="buttaci/thm4.3-I",
    kind="inequality",
    title="FedProx: nonconvex, fixed step size 1/(2 L_alpha sqrt(T E))",
    cite="Theorem 4.3 (I), section 4.2.3; proof in B.3",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): 1 / (2 * L_alpha * sqrt(T * E))},
    then=Le(
        picked2,
        1 / sqrt(T)
        * (
            8 * L_alpha * Delta_inf / sqrt(E)
            + L * S * sigma**2 / (L_alpha * sqrt(E))
            + alpha * E ** Rational(3, 2) * G**2 / L_alpha
        )
        + 2 * L**2 * E * G**2 / (L_alpha**2 * T)
        + alpha**2 * L * sqrt(E) * G**2 / (16 * L_alpha**3 * T ** Rational(3, 2)),
    ),
    where={picked2: UNIFORM, Delta_inf: START, S: sum_p2, L_alpha: alpha + L},
    reading=(ON_THE_RUN, INFIMUM, EXACT, "exact replays where T and E are squares: the step size is rational there"),
    follows_from=(
        Derivation(theorem_4_3_I, cites=("buttaci/lemB.5",), substitute={gamma_: 1 / (2 * L_alpha * sqrt(T * E))}),
    ),
)  # fmt: skip

THEOREM_4_3_II = Statement(
    id="buttaci/thm4.3-II",
    kind="inequality",
    title="FedProx: nonconvex, diminishing step size",
    cite="Theorem 4.3 (II), section 4.2.3; proof in B.3",
    method=FEDPROX,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): 1 / (2 * L_alpha * sqrt(E) * (t + 1))},
    then=Le(
        picked2,
        1 / log(T + 1)
        * (
            8 * L_alpha * Delta_inf / sqrt(E)
            + 2 * L * S * sigma**2 / (L_alpha * sqrt(E))
            + G**2
            * (
                2 * alpha * E ** Rational(3, 2) / L_alpha
                + 3 * L**2 * E / L_alpha**2
                + alpha**2 * L * sqrt(E) / (12 * L_alpha**3)
            )
        ),
    ),
    where={picked2: WEIGHTED, Sigma: TOTAL, Delta_inf: START, S: sum_p2, L_alpha: alpha + L},
    reading=(
        ON_THE_RUN,
        INFIMUM,
        EXACT,
        "γ_t = 1/(2 L_α √E (t + 1)) as in appendix B.3, its proof and the prose (linear decay); section 4.2.3 has the "
        "root over E (t + 1): see thm4.3-II-body",
        "exact replays where E is a square: the step size is rational there",
    ),
    follows_from=(Derivation(theorem_4_3_II, cites=("buttaci/lemB.6",)),),
)  # fmt: skip

THEOREM_4_3_II_BODY = replace(
    THEOREM_4_3_II,
    id="buttaci/thm4.3-II-body",
    waits_for="a proof for step sizes whose squares have no convergent sum, unlike those of lemma B.6",
    title="FedProx: nonconvex, diminishing step size with the root over E (t + 1)",
    cite="Theorem 4.3 (II) as section 4.2.3 prints its step size",
    choose={gamma(t): 1 / (2 * L_alpha * sqrt(E * (t + 1)))},
    reading=(
        ON_THE_RUN,
        INFIMUM,
        EXACT,
        "the squares of these step sizes have no convergent sum, as lemma B.6 asks; the printed proof is for (t + 1)",
        "exact replays for T = 1 with E a square; longer runs have irrational step sizes and are seen by floats alone",
    ),
    follows_from=(),
)
