"""The perturbed-gradient method on losses that need not be convex: theorem 4.6 (section 4.3.4) and appendix C.3."""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false

from dataclasses import replace

from sympy import Eq, Expr, Gt, Le, Lt, Rational, Sum, log, sqrt
from sympy.logic.boolalg import And

from ...decide.facts import termwise
from ...language.derivation import Argument, Derivation, Induction, Known, Step, View
from ...language.knobs import free, unit
from ...language.rule_expressions import mean
from ...language.statement import Assumption, Statement
from ...proofs.atoms import Lipschitz, Near, Smooth, Square, Variance
from ...proofs.premise_identity import shown
from .frames import (
    ON_PERTURBED,
    PERTURBED_BASICS,
    Z,
    away,
    behind,
    centre,
    lag2,
    moved,
    perturbed_gradient,
    pull2,
    value,
)
from .methods import PERTURBED, perturbed_point, u_i, w, w_i
from .nonconvex import (
    EXACT,
    INFIMUM,
    ROUND_MEAN,
    START,
    SUMS,
    TOTAL,
    UNIFORM,
    WEIGHTED,
    Delta_inf,
    Sigma,
    averaged,
    cubes,
    level,
    log_rate,
    lower_bounded,
    one_round,
    picked2,
    slope2,
    some_gap,
    squares,
    weighted,
)
from .perturbed_proofs import before, definition, local_path
from .symbols import (
    CHANGING,
    GLOSSARY,
    PARTITION,
    C,
    E,
    G,
    L,
    S,
    T,
    gamma,
    gamma_,
    i,
    independent_noise,
    k,
    p,
    sigma,
    sum_p2,
    t,
)
from .symbols_perturbed import (
    ANY_SIMILARITY,
    ASSUMPTIONS_OF_THE_RUN,
    AT_THE_PERTURBED_POINTS,
    BEFORE,
    VARIANCE_THERE,
    at_perturbed_points,
    beta,
    perturbation,
    perturbed_gradients,
    perturbed_variance,
    previous,
)

_s = GLOSSARY.symbol
A_C4 = _s("A_C4", "F^2/W^2", "printed A in lemmas C.4 and C.5: error of one round", "A", nonnegative=True)
A_rate = _s(
    "A_rate", "F^2/W^2", "printed A in corollary 4.1: what more local steps make smaller", "A", nonnegative=True
)
B_rate = _s("B_rate", "F^2/W^2", "printed B in corollary 4.1: what more local steps make larger", "B", nonnegative=True)
steps = _s("steps", "1", "number of local steps, as a real number", "E")
E_opt = _s("E_opt", "1", "printed minimiser of r(E) (corollary 4.1)", r"E_{\mathrm{opt}}")
share = _s("share", "1", "E / E_opt, or in cor4.1~order E / T^(1/3)", "c")
high = _s("high", "1", "a bound on E / T^(1/3)", r"\bar{c}")
low = _s("low", "1", "a positive bound below E / T^(1/3)", r"\underline{c}")

ASSUMPTIONS = (*ASSUMPTIONS_OF_THE_RUN, lower_bounded)
IMPLICIT = (perturbed_gradients, perturbed_variance, independent_noise)
READING = (AT_THE_PERTURBED_POINTS, ANY_SIMILARITY, VARIANCE_THERE, PARTITION)
SHARE = {beta: unit("beta")}  # in (0, 1]
CHANGES = {gamma(t): CHANGING / L}
FIXED = 1 / (2 * L * sqrt(T * E))
FADING = 1 / (2 * L * sqrt(E) * (t + 1))


def bracket(factor: Expr | int) -> Expr:
    """4 + (1 − β)² + `factor` (1 − 1/β)², as it is printed everywhere."""
    return 4 + (1 - beta) ** 2 + factor * (1 - 1 / beta) ** 2


def error(step: Expr, factor: Expr | int) -> Expr:
    """The printed A of lemmas C.4 and C.5."""
    return step * L * sigma**2 * sum_p2 + 4 * step**2 * L**2 * E**2 * G**2 * bracket(factor)


def error_sum(step: Expr, times: int, drift: Expr) -> Expr:
    """The printed R_t of lemma C.6: 4 times the bracket."""
    return step**2 * L * sigma**2 * sum_p2 + times * step**3 * L**2 * E**2 * G**2 * drift


# --- proofs ----------------------------------------------------------------------------------------------------------

DRIFT = Sum(p[i] * perturbation(t, k, i), (i, 1, C))


def descent(step: Expr, drift: Step) -> tuple[Step, Step, Expr]:
    """One local step and what it costs: E f(w̄_{t,k+1}) − E f(w̄_{t,k}) ≤ c − γ/2 E|∇f(w̄_{t,k})|².

    v = Σ p_i ∇f_i(w̃^i_{t,k}) and u = v − ∇f(w̄_{t,k}); `drift` bounds Σ p_i E|w̄_{t,k} − w̃^i_{t,k}|².
    """
    g2, f = slope2(t, k), value
    u2, v2, noise2 = lag2(k), pull2(k), Z(k)
    onward = mean(PERTURBED.local[w_i])
    smooth = shown(
        Le(f(k + 1) - f(k), -gamma(t) / 2 * (g2 + v2 - u2) + L * gamma(t) ** 2 / 2 * (v2 + noise2)),
        "smoothness of f along rule (4.7), noise of mean zero, 2u'v = |u|² + |v|² − |u − v|² (C.36)",
        ON_PERTURBED,
        (1, Smooth(centre, onward, L, "mean")),
    )
    apart = shown(
        Le(u2, L**2 * DRIFT),
        "Jensen and smoothness (C.38, C.39)",
        ON_PERTURBED,
        (1, Square(away - mean(away), "mean")),
        (1, Lipschitz(centre, perturbed_point, L, "mean")),
    )
    noise = shown(
        Le(noise2, sigma**2 * sum_p2),
        "variances of independent noise add",
        ON_PERTURBED,
        (1, Variance(perturbed_gradient, sigma, "squares")),
    )
    chosen = definition(Eq(gamma(t), step), "the step size that the statement chooses")
    one = Step(
        Le(f(k + 1) - f(k), -step / 2 * g2 + step / 2 * u2 + L * step**2 / 2 * noise2),
        given=(smooth,) if step == gamma(t) else (smooth, chosen),
        note="γ ≤ 1/L",
    )
    c = step * L**2 / 2 * drift.claim.rhs + L * step**2 * sigma**2 * sum_p2 / 2
    local = Step(
        Le(f(k + 1) - f(k), c - step / 2 * g2),
        given=(one, apart, drift, noise),
        note="one local step",
        under=drift.under,
    )
    return one, local, c


def lemma_C_4(goal: View, apart: View) -> Argument:
    """The thesis's way; where (C.37) to (C.39) print +γ/2 |∇f|², the line after them has the right sign."""
    step = gamma(t)
    sign, whole = PERTURBED_BASICS.weight_sign, PERTURBED_BASICS.weight_sum
    each = termwise(Le(p[i] * apart.lhs, p[i] * apart.rhs), i, 1, C, apart.holds(), sign)
    drift = Step(Le(DRIFT, apart.rhs), given=(whole, each), note=apart.id, under=(Le(k + 1, E),))
    one, local, c = descent(step, drift)
    rounds, given = one_round(step, local, c, PERTURBED_BASICS)
    return Argument((drift, one, local, rounds, given, Step(goal.relations[0], given=(given,))), given)


def equal_steps(progress: View, bound: Expr, step: Expr) -> Step:
    """Lemma C.4 where all step sizes are `step`."""
    premises = (progress.holds(), before(step))
    return Step(Le(ROUND_MEAN, bound), given=premises, note="γ_{t−1} = γ_t or 0", under=(Le(t, T - 1),))


def lemma_C_5(goal: View, progress: View) -> Argument:
    """Lemma C.4 averaged over the rounds, which gives 2 Δ; 4 Δ is printed."""
    error_ = error(gamma_, 8)
    gains = 2 / (gamma_ * E) * (level(t) - level(t + 1))
    same = equal_steps(progress, gains + error_, gamma_)
    steps = (same, *averaged(same, 2, error_, on=PERTURBED_BASICS))
    return Argument((*steps, Step(goal.relations[0], given=steps[-1:])), steps[-1])


def lemma_C_6(goal: View, progress: View) -> Argument:
    """Lemma C.4 times γ_t, added up over the rounds; γ_{t−1} ≤ 2 γ_t."""
    error_ = error_sum(gamma(t), 4, bracket(32))
    gains = 2 / E * (level(t) - level(t + 1))
    scaled = Step(Le(gamma(t) * ROUND_MEAN, gains + error_), given=(progress.holds(),), note="R_t is γ_t A")
    steps = (scaled, *weighted(scaled, 2, error_, gamma(t), PERTURBED_BASICS))
    return Argument((*steps, Step(goal.relations[0], given=steps[-1:])), steps[-1])


def theorem_4_6_I(goal: View, lemma: View) -> Argument:
    """Lemma C.5 at γ = 1/(2 L √(T E)), as printed: 8 L Δ, of which the theorem keeps 4."""
    cited = lemma.holds()
    return Argument((Step(goal.relations[0], given=(cited,)),), cited)


def theorem_4_6_I_from_C_4(goal: View, progress: View) -> Argument:
    """Past the 4 Δ of lemma C.5: lemma C.4 averaged over the rounds at γ = 1/(2 L √(T E))."""
    error_ = error(FIXED, 8)
    gains = 2 / (FIXED * E) * (level(t) - level(t + 1))
    same = equal_steps(progress, gains + error_, FIXED)
    steps = (same, *averaged(same, 2, error_, FIXED, PERTURBED_BASICS))
    return Argument((*steps, Step(goal.relations[0], given=steps[-1:])), steps[-1])


def theorem_4_6_II(goal: View, lemma: View) -> Argument:
    """Lemma C.6 at γ_t = 1/(2 L √E (t + 1)), as printed: it gives 3 E G²/2, of which the theorem keeps a quarter."""
    every_round = Known(And(Le(0, t), Le(t, T - 1)), "t is a round of the run")
    return log_rate(goal, lemma.relations[0], lemma.holds(every_round, before(FADING)), 2)


def theorem_4_6_II_sharper(goal: View) -> Argument:
    """Past lemma 4.5, which is loose: Σ p_i E|w̄_{t,k} − w̃^i_{t,k}|² ≤ (γ_t² + (1 − β) γ_{t−1}²) E² G².

    w̃^i − w̄_{t,k} = β (w^i − w̄_{t,k}) + (1 − β) (u^i − w̄_{t,k}) and Σ p_i u^i = w̄_{t,0} (lemma 4.3).
    """
    step, chosen = FADING, definition(Eq(gamma(t), FADING), "the step size that the statement chooses")

    def all_moved(at: Expr) -> Expr:
        return Sum(p[i] * moved(i, at), (i, 1, C))

    split = shown(
        Le(DRIFT, all_moved(k) + (1 - beta) * behind(t)),
        "|·|² is convex, Σ p_i u^i = w̄_{t,0} (lemma 4.3)",
        ON_PERTURBED,
        (beta * (1 - beta), Square(w_i - u_i, "mean")),
        (1 - beta, Square(w_i - centre, "mean")),
        (beta, Square(centre - w)),
    )
    in_run = (Le(t, T - 1),)
    path, sign, whole = local_path(i, *in_run), PERTURBED_BASICS.weight_sign, PERTURBED_BASICS.weight_sum
    most = gamma(t) ** 2 * E**2 * G**2

    def taken(at: Expr) -> Step:
        each = termwise(Le(p[i] * moved(i, at), p[i] * most), i, 1, C, path if at == k else path.at(at), sign)
        return Step(Le(all_moved(at), most), given=(whole, each), under=(Le(at, E), *in_run))

    within, at_end = taken(k), taken(E)
    onward = shown(
        Le(behind(t + 1), all_moved(E)),
        "Jensen over the neighbours; |w^j_{t,E} − w̄_{t+1,0}|² averages to less than from w̄_{t,0}",
        ON_PERTURBED,
        (1, Near(w_i - centre, "mean")),
        (1, Square(centre - w)),
        at=(t, E),
    )
    rounds_before = Induction(
        Le(behind(t), previous(t) ** 2 * E**2 * G**2),
        over=t,
        base=(shown(Eq(behind(0), 0), "u^i_0 = w_{0,0} for every client", ON_PERTURBED, at=(0, k)),),
        step=(onward, at_end, definition(Eq(previous(t + 1), step), "previous(t) is 1_{t≥1} γ_{t−1}"), chosen),
        under=in_run,
    )
    drift = Step(
        Le(DRIFT, (5 - 4 * beta) * step**2 * E**2 * G**2),
        given=(split, within, rounds_before, before(step), chosen),
        note="γ_{t−1} ≤ 2 γ_t",
        under=(Le(k + 1, E), *in_run),
    )
    one, local, c = descent(step, drift)
    rounds, progress = one_round(step, local, c, PERTURBED_BASICS, in_run)
    error_ = error_sum(step, 1, 5 - 4 * beta)
    scaled = Step(
        Le(step * ROUND_MEAN, 2 / E * (level(t) - level(t + 1)) + error_), given=(progress,), note="times γ_t",
        under=in_run,
    )  # fmt: skip
    summed, added, rate = weighted(scaled, 2, error_, step, PERTURBED_BASICS)
    last = log_rate(goal, rate.claim, rate, 2, exact=False)
    first = path, within, at_end, rounds_before, drift
    return Argument((*first, one, local, rounds, progress, scaled, summed, added, rate, *last.steps), last.bound)


def corollary_4_1_of_the_method(goal: View, theorem: View) -> Argument:
    """Theorem 4.6 (I) is r(E), written with E_opt."""
    cited = theorem.holds()
    same = Step(Eq(theorem.rhs, goal.rhs, evaluate=False), note="r(E) = r(E_opt) (2/√c + c)/3 with c = E/E_opt")
    return Argument((same, Step(goal.relations[0], given=(cited, same))), cited)


def corollary_4_1_with_any_share(goal: View, theorem: View) -> Argument:
    """c T^(1/3) <= E <= C T^(1/3) in both terms of theorem 4.6 (I)."""
    cited = theorem.holds()
    shrinks = Step(Le(1 / sqrt(T * E), 1 / (sqrt(low) * CUBE_ROOT**2)), note="T E >= c T^(4/3)")
    grows = Step(Le(E / T, high / CUBE_ROOT**2), note="E <= C T^(1/3)")
    A, B = 4 * L * START + sum_p2 * sigma**2 / 2, G**2 * bracket(8)
    signs = Step(Le(0, A)), Step(Le(0, B))
    noise = Step(Le(A * (1 / sqrt(T * E)), A * (1 / (sqrt(low) * CUBE_ROOT**2))), given=(shrinks, signs[0]))
    drift = Step(Le(B * (E / T), B * (high / CUBE_ROOT**2)), given=(grows, signs[1]))
    last = Step(goal.relations[0], given=(cited, noise, drift))
    return Argument((shrinks, grows, *signs, noise, drift, last), cited)


def corollary_4_1(goal: View) -> Argument:
    """Each formula on its own."""
    return Argument(tuple(Step(relation) for relation in goal.relations))


CUBE_ROOT = T ** Rational(1, 3)

# --- statements ------------------------------------------------------------------------------------------------------

LEMMA_C_4 = Statement(
    id="buttaci/lemC.4",
    kind="inequality",
    title="Perturbed method: progress of one round, nonconvex",
    cite="Lemma C.4, appendix C.3",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    when=(Le(gamma(t), 1 / L), Le(beta, 1)),
    then=Le(ROUND_MEAN, 2 / (gamma(t) * E) * (level(t) - level(t + 1)) + A_C4),
    where={A_C4: error(gamma(t), 8 * previous(t) ** 2 / gamma(t) ** 2)},
    for_all={t: (0, T - 1)},
    sweep={**CHANGES, **SHARE},
    reading=(
        *READING,
        BEFORE,
        "slips of the proof that change nothing: (C.37) to (C.39) print + for − before γ/2 |∇f|², and a_2 has f_i for "
        "∇f_i and w^i for w̃^i",
    ),
    follows_from=(Derivation(lemma_C_4, cites=("buttaci/lem4.5",)),),
)

LEMMA_C_5 = Statement(
    id="buttaci/lemC.5",
    kind="inequality",
    title="Perturbed method: fixed step size, nonconvex",
    cite="Lemma C.5, appendix C.3",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): gamma_},
    when=(Le(gamma_, 1 / L), Le(beta, 1)),
    then=Le(UNIFORM, 4 * Delta_inf / (gamma_ * T * E) + A_C4),
    where={Delta_inf: START, A_C4: error(gamma_, 8)},
    sweep={gamma_: unit("gamma") / L, **SHARE},
    reading=(
        *READING,
        INFIMUM,
        "its title says strongly convex, a slip: its assumptions and its place are the nonconvex ones",
        "the condition is printed for γ_t and the bound for γ: the step size is fixed",
        "4 Δ is printed, as in lemma B.5; lemma C.4 gives 2 Δ, and theorem 4.6 (I) uses that",
    ),
    follows_from=(Derivation(lemma_C_5, cites=("buttaci/lemC.4",)),),
)

LEMMA_C_6 = Statement(
    id="buttaci/lemC.6",
    kind="inequality",
    title="Perturbed method: diminishing step size, nonconvex",
    cite="Lemma C.6, appendix C.3",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    when=(Le(gamma(t), 1 / L), Le(previous(t), 2 * gamma(t)), Le(beta, 1)),
    then=Le(
        WEIGHTED,
        (2 * Delta_inf / E + Sum(error_sum(gamma(t), 4, bracket(32)), (t, 0, T - 1))) / Sigma,
    ),
    where={Delta_inf: START, Sigma: TOTAL},
    for_all={t: (0, T - 1)},
    sweep={gamma(t): unit("gamma") / (L * (1 + unit("fade") * t)), **SHARE},
    reading=(
        *READING,
        INFIMUM,
        BEFORE,
        "γ_t ≤ 2 γ_{t+1} is required for the rounds of the run; its title says strongly convex, a slip",
        "Σ is printed as the whole series, which diverges: read as the sum over t < T, as in theorem 4.6",
        "that Σ γ_r diverges and Σ γ_r² converges says nothing about t < T; only the limit for T → ∞ needs it",
    ),
    follows_from=(Derivation(lemma_C_6, cites=("buttaci/lemC.4",)),),
)

LEMMA_C_6_LIMIT = Statement(
    id="buttaci/lemC.6-limit",
    kind="order",
    title="Perturbed method: the bound of lemma C.6 tends to 0",
    cite="Lemma C.6, the limit for T to infinity in its display",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("grows", (Sigma,), "the sum of the step sizes diverges"),
        Assumption(
            "fixed", (L, S, sigma, G, E, beta, Delta_inf, squares, some_gap), "the problem; the squares' sum converges"
        ),
    ),
    when=(Le(cubes, squares / L), Lt(beta, 1)),
    then=Le(
        (2 * Delta_inf / E + squares * L * sigma**2 * S + 4 * cubes * L**2 * E**2 * G**2 * bracket(32)) / Sigma,
        some_gap / Sigma,
    ),
    reading=(SUMS, "Σ γ_t³ ≤ Σ γ_t² / L since γ_t ≤ 1/L"),
)

THEOREM_4_6_I = Statement(
    id="buttaci/thm4.6-I",
    kind="inequality",
    title="Perturbed method: nonconvex, fixed step size 1/(2 L sqrt(T E))",
    cite="Theorem 4.6 (I), section 4.3.4; proof in C.3",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): FIXED},
    when=(Lt(beta, 1),),
    then=Le(
        picked2,
        1 / sqrt(T) * (4 * L * Delta_inf / sqrt(E) + S * sigma**2 / (2 * sqrt(E))) + E * G**2 / T * bracket(8),
    ),
    where={picked2: UNIFORM, Delta_inf: START, S: sum_p2},
    sweep=SHARE,
    reading=(
        *READING,
        INFIMUM,
        EXACT,
        "exact replays where T and E are squares: the step size is rational there",
        "the printed proof substitutes γ in lemma C.5, which gives 8 L Δ; 4 L Δ needs lemma C.4's own 2 Δ",
    ),
    follows_from=(
        Derivation(theorem_4_6_I, cites=("buttaci/lemC.5",), substitute={gamma_: FIXED}),
        Derivation(theorem_4_6_I_from_C_4, cites=("buttaci/lemC.4",)),
    ),
)

THEOREM_4_6_II = Statement(
    id="buttaci/thm4.6-II",
    kind="inequality",
    title="Perturbed method: nonconvex, diminishing step size",
    cite="Theorem 4.6 (II), section 4.3.4; proof in C.3",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): FADING},
    when=(Lt(beta, 1),),
    then=Le(
        picked2,
        1
        / log(T + 1)
        * (
            4 * L * Delta_inf / sqrt(E)
            + S * sigma**2 / sqrt(E)
            + Rational(3, 8) * E * G**2 * bracket(32)
        ),
    ),
    where={picked2: WEIGHTED, Sigma: TOTAL, Delta_inf: START, S: sum_p2},
    sweep=SHARE,
    reading=(
        *READING,
        INFIMUM,
        EXACT,
        "exact replays where E is a square: the step size is rational there",
        "lemma C.6 with Σ γ_t³ ≤ 3/(16 L³ E^(3/2)) gives 3 E G²/2 where 3 E G²/8 is printed, in section and appendix: "
        "see thm4.6-II~repaired",
    ),
    follows_from=(
        Derivation(theorem_4_6_II, cites=("buttaci/lemC.6",)),
        Derivation(theorem_4_6_II_sharper),
    ),
)  # fmt: skip

THEOREM_4_6_II_REPAIRED = replace(
    THEOREM_4_6_II,
    id="buttaci/thm4.6-II~repaired",
    then=Le(
        picked2,
        1
        / log(T + 1)
        * (
            4 * L * Delta_inf / sqrt(E)
            + S * sigma**2 / sqrt(E)
            + Rational(3, 2) * E * G**2 * bracket(32)
        ),
    ),
    reading=(*READING, INFIMUM, EXACT, "exact replays where E is a square: the step size is rational there"),
    follows_from=(Derivation(theorem_4_6_II, cites=("buttaci/lemC.6",)),),
    repairs="3 E G²/2 for 3 E G²/8: what lemma C.6 gives (the print holds too, because lemma 4.5 is loose)",
)  # fmt: skip

LEMMA_C_4_THERE = at_perturbed_points(LEMMA_C_4, Derivation(lemma_C_4, cites=("buttaci/lem4.5~perturbed-points",)))
THEOREM_4_6_I_THERE = at_perturbed_points(
    THEOREM_4_6_I, Derivation(theorem_4_6_I_from_C_4, cites=("buttaci/lemC.4~perturbed-points",))
)


def rate(local_steps: Expr) -> Expr:
    """r(E) of corollary 4.1."""
    return A_rate / sqrt(T * local_steps) + B_rate * local_steps / T


BEST = (A_rate / (2 * B_rate)) ** Rational(2, 3) * CUBE_ROOT
AT_BEST = 3 / 2 ** Rational(2, 3) * A_rate ** Rational(2, 3) * B_rate ** Rational(1, 3) / CUBE_ROOT**2
A_PRINTED, B_PRINTED = 4 * L * Delta_inf + S * sigma**2 / 2, G**2 * bracket(8)
PRINTED = THEOREM_4_6_I.relations[0].rhs.subs(E, steps)

COROLLARY_4_1 = Statement(
    id="buttaci/cor4.1",
    kind="inequality",
    title="Perturbed method: with E of order T^(1/3) local steps the error is of order T^(-2/3)",
    cite="Corollary 4.1, section 4.3.4",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): FIXED},
    when=(Lt(beta, 1), Le(low * CUBE_ROOT, E), Le(E, high * CUBE_ROOT)),
    then=Le(picked2, (A_rate / sqrt(low) + B_rate * high) / CUBE_ROOT**2),
    where={picked2: UNIFORM, A_rate: A_PRINTED, B_rate: B_PRINTED, Delta_inf: START, S: sum_p2},
    order=CUBE_ROOT**-2,
    sweep={**SHARE, low: unit("low") * E / T, high: E * (1 + free("high"))},
    reading=(
        *READING,
        INFIMUM,
        "E = O(T^(1/3)) is read as between two positive multiples of T^(1/3), as E_opt is: at its word it allows E = "
        "1, where the bound is of order T^(-1/2); O(T^(-2/3)) with the constant that theorem 4.6 (I) gives",
        "at E_opt, with the printed r(E_opt): cor4.1~best",
    ),
    follows_from=(Derivation(corollary_4_1_with_any_share, cites=("buttaci/thm4.6-I",)),),
)

COROLLARY_4_1_BEST = Statement(
    id="buttaci/cor4.1~best",
    kind="inequality",
    title="Perturbed method: with E = E_opt local steps the error is at most r(E_opt), of order T^(-2/3)",
    cite="Corollary 4.1, section 4.3.4",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=ASSUMPTIONS,
    implicit=IMPLICIT,
    choose={gamma(t): FIXED},
    when=(Lt(beta, 1), Gt(A_rate, 0), Gt(B_rate, 0)),
    then=Le(picked2, AT_BEST * (2 / sqrt(share) + share) / 3),
    where={
        picked2: UNIFORM,
        A_rate: A_PRINTED,
        B_rate: B_PRINTED,
        Delta_inf: START,
        S: sum_p2,
        E_opt: BEST,
        share: E / E_opt,
    },
    order=AT_BEST,
    sweep=SHARE,
    reading=(
        *READING,
        INFIMUM,
        EXACT,
        "c = E / E_opt: at c = 1 the right side is the printed r(E_opt) = 3/2^(2/3) A^(2/3) B^(1/3) T^(-2/3), and for "
        "every c it is r(E): E of order T^(1/3) keeps c between constants, and the error is O(T^(-2/3))",
        "E = O(T^(1/3)) at its word lets c vanish (E = 1), where the bound is of order T^(-1/2): see cor4.1~order",
        "A, B > 0: without noise and gap, or without gradients, there is no E_opt",
    ),
    follows_from=(Derivation(corollary_4_1_of_the_method, cites=("buttaci/thm4.6-I",)),),
)

COROLLARY_4_1_ORDER = Statement(
    id="buttaci/cor4.1~order",
    kind="order",
    title="Perturbed method: E of order T^(1/3) makes the bound of order T^(-2/3)",
    cite="Corollary 4.1, section 4.3.4",
    method="order",
    glossary=GLOSSARY,
    let=(
        Assumption("fixed", (A_rate, B_rate, high), "A and B do not depend on T and E: constants of O"),
        Assumption("grows", (T,), "asymptotically in T"),
    ),
    implicit=(Assumption("fixed", (share,), "E grows as T^(1/3), as E_opt does: O(T^(1/3)) also allows E = 1"),),
    when=(Le(share, high), Le(1, share * CUBE_ROOT)),
    then=Le(rate(share * CUBE_ROOT), (A_rate + B_rate) / CUBE_ROOT**2),
    reading=(
        "r(E) of the proof, at E = c T^(1/3) with c bounded; at its word E = O(T^(1/3)) lets c vanish, and with E = 1 "
        "the bound is of order T^(-1/2)",
        "about the bound alone; of the method: cor4.1 and cor4.1~best; E_opt and r(E_opt) as formulas: cor4.1~formula",
    ),
)

COROLLARY_4_1_FORMULA = Statement(
    id="buttaci/cor4.1~formula",
    kind="inequality",
    title="Perturbed method: the number of local steps that minimises the bound, and its value there",
    cite="Corollary 4.1, its proof",
    method="scalar",
    glossary=GLOSSARY,
    when=(
        Eq(A_rate, A_PRINTED), Eq(B_rate, B_PRINTED), Eq(E_opt, BEST), Gt(A_rate, 0), Gt(B_rate, 0), Lt(beta, 1),
    ),
    then=(
        Le(rate(E_opt), rate(steps)),
        Eq(rate(E_opt), AT_BEST, evaluate=False),
        Eq(PRINTED, rate(steps), evaluate=False),
    ),
    sweep={
        beta: unit("beta") / (1 + unit("half")), G: free("G"), A_rate: A_PRINTED, B_rate: B_PRINTED, E_opt: BEST,
    },
    reading=(
        "E is any positive real number here: the printed E_opt need not be whole",
        "A, B > 0: without noise and gap, or without gradients, there is nothing to balance",
        "the last relation: the bound of theorem 4.6 (I) is r(E) with the printed A and B",
    ),
    follows_from=(Derivation(corollary_4_1),),
)  # fmt: skip
