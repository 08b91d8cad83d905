"""The thesis's proofs about the perturbed-gradient method, line by line (section 4.3.2, appendix C.2).

As in `derivations`: constants come from the statements, never from here, except where the text introduces one.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false

from sympy import Eq, Function, Ge, Integer, Le, Max, Sum, Symbol, cancel, exp
from sympy.logic.boolalg import Boolean

from ...derivation import Argument, Induction, Known, Step, View
from ...facts import bernoulli, exp_recip, one_minus_power, power_le_base, power_monotone, power_sign, termwise
from .derivations import at_infinity, base_of
from .frames import PERTURBED_BASICS
from .symbols import C, E, G, Gamma, L, T, dist2, gamma, gap, i, k, mu, p, sigma, sum_p2, t
from .symbols_perturbed import beta, centre, j, mean, mismatch, n, perturbation, previous, spread

l = Symbol("l", integer=True, positive=True)  # noqa: E741  the thesis's third client
m = Symbol("m", integer=True, nonnegative=True)  # a local step
nonnegative = {"nonnegative": True}
smooth_gap, strong_distance = PERTURBED_BASICS.smooth_gap, PERTURBED_BASICS.strong_distance
mu_at_most_L = PERTURBED_BASICS.mu_at_most_L


def known(claim: Boolean, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


weight_sign = known(Ge(p[j], 0), "similarities are not negative", "similarity_weights")
weight_sum = known(Eq(Sum(p[j], (j, 1, C)), 1), "similarities sum to one", "similarity_weights")
g2 = Function("g2", **nonnegative)  # E|g_i(w~^i_{t,m})|² at (i, m)


def bounded(client: Symbol, step: Symbol = m) -> Known:
    return known(Le(g2(client, step), G**2), "assumption 4.3 at the perturbed points", "perturbed_gradients")


# --- section 4.3.2 ---------------------------------------------------------------------------------------------------


def lemma_4_3(goal: View) -> Argument:
    """Σ_i p_i u^i = Σ_j (Σ_i p_ij) w^j_{t−1,E} = Σ_j p_j w^j_{t−1,E}: the columns of p_ij sum to what its rows do."""
    average_u, column, end = (
        Symbol("average_u", real=True),
        Function("column", **nonnegative),
        Function("end", real=True),
    )
    exchanged = known(Eq(average_u, Sum(column(j) * end(j), (j, 1, C))), "definition (4.6), sums exchanged")
    start = known(
        Eq(mean(t, 0, n), Sum(p[j] * end(j), (j, 1, C))), "the round starts at the average of where clients ended"
    )
    symmetric = known(Eq(column(j), p[j]), "p_ij = p_ji: columns sum to p_j", "similarity_weights")
    ways = [termwise(side(column(j) * end(j), p[j] * end(j)), j, 1, C, symmetric) for side in (Le, Ge)]
    both = Step(Eq(average_u, mean(t, 0, n)), given=(exchanged, start, *ways), note="Σ p_i u^i = w_{t,0}")
    perturbed = known(Eq(centre(t, k, n), beta * mean(t, k, n) + (1 - beta) * average_u), "definition (4.6), averaged")
    off = Symbol("off", **nonnegative)  # E|Σ p_i u^i − w_{t,0}|²
    square = known(Eq(mismatch(t, k), (1 - beta) ** 2 * off), "definition (4.6), averaged; every path")
    none = known(Eq(off, 0), "columns of p_ij sum to p_j on every path", "similarity_weights")
    given = Step(goal.relations[0], given=(perturbed, both))
    return Argument((both, given, Step(goal.relations[1], given=(square, none))), given)


def lemma_4_4(goal: View) -> Argument:
    """Both u^i and u^j are averages of points that round t − 1 moved by at most γ_{t−1} E G; before round 0 none."""
    moved, apart = Function("moved", **nonnegative), Function("apart", **nonnegative)
    share, most = Function("share", **nonnegative), previous(t) ** 2 * E**2 * G**2
    recursion = known(
        Le(moved(l), previous(t) ** 2 * E * Sum(g2(l, m), (m, 0, E - 1))), "Jensen over the steps of round t − 1"
    )
    path = Step(
        Le(moved(l), most), given=(recursion, termwise(Le(g2(l, m), G**2), m, 0, E - 1, bounded(l))), where="4.12"
    )

    def near(client: Symbol) -> Step:
        jensen = known(
            Le(apart(client), Sum(share(client, l) * moved(l), (l, 1, C))),
            "Jensen over the neighbours (4.10), share = p_il/p_i",
            "similarity_weights",
        )
        whole = known(Eq(Sum(share(client, l), (l, 1, C)), 1), "p_i = Σ_l p_il", "similarity_weights")
        terms = termwise(Le(share(client, l) * moved(l), share(client, l) * most), l, 1, C, path)
        return Step(Le(apart(client), most), given=(jensen, whole, terms), where="4.10")

    ends = near(i), near(j)
    young = known(Le(spread(t, i, j), 2 * apart(i) + 2 * apart(j)), "Young (4.8), (4.9)")
    given = Step(Le(spread(t, i, j), 4 * most), given=(young, *ends))
    return Argument((path, *ends, given, Step(goal.relations[0], given=(given,))), given)


def lemma_4_5(goal: View, average: View, neighbours: View) -> Argument:
    """w̄ − w~^i by lemma 4.3 as two averages over the clients, of A and of B; each is bounded, and k ≤ E."""
    A, B = Function("A", **nonnegative), Function("B", **nonnegative)
    step, within = gamma(t), (Le(k, E),)
    split = known(
        Le(perturbation(t, k, i), 2 / beta**2 * Sum(p[j] * A(j), (j, 1, C))
            + 2 * (1 - 1 / beta) ** 2 * Sum(p[j] * B(j), (j, 1, C))),
        "Young and Jensen, (4.13) and (4.14)", "similarity_weights",
    )  # fmt: skip
    own, other = (Sum(g2(client, m), (m, 0, k - 1)) for client in (i, j))
    sums = [termwise(Le(g2(client, m), G**2), m, 0, k - 1, bounded(client)) for client in (i, j)]
    apart = known(
        Le(A(j), 4 * step**2 * beta**2 * k * (other + own) + 2 * (1 - beta) ** 2 * spread(t, i, j)),
        "(4.15) to (4.18): Young, Jensen, Young",
    )
    started = known(
        Le(B(j), 2 * step**2 * beta**2 * k * own + 2 * (1 - beta) ** 2 * spread(t, i, j)), "(4.19) to (4.21)"
    )
    most_spread = 2 * (1 - beta) ** 2 * neighbours.rhs
    most_A = 8 * step**2 * beta**2 * E**2 * G**2 + most_spread
    most_B = 2 * step**2 * beta**2 * E**2 * G**2 + most_spread
    inside = (Le(1, j), Le(j, C))
    local_A = Step(Le(A(j), most_A), given=(apart, *sums, neighbours.holds()), note="E A, k ≤ E", under=inside)
    local_B = Step(Le(B(j), most_B), given=(started, sums[0], neighbours.holds()), note="E B, k ≤ E", under=inside)
    averaged = [
        Step(
            Le(Sum(p[j] * part(j), (j, 1, C)), most),
            given=(weight_sum, termwise(Le(p[j] * part(j), p[j] * most), j, 1, C, local, weight_sign)),
            note="averaged over the clients",
        )
        for part, most, local in ((A, most_A, local_A), (B, most_B, local_B))
    ]
    given = Step(
        Le(perturbation(t, k, i), 2 / beta**2 * most_A + 2 * (1 - 1 / beta) ** 2 * most_B),
        given=(split, *averaged, average.holds(part=1)),
        under=within,
        note="the bounds on A and B together",
    )
    return Argument(
        (local_A, local_B, *averaged, given, Step(goal.relations[0], given=(given,), note="(1 − β)⁴ ≤ (1 − β)²")), given
    )


# --- appendix C.2 ----------------------------------------------------------------------------------------------------


def lemma_C_1(goal: View, average: View, perturbed: View) -> Argument:
    """E D_{t,k+1} ≤ a E D_{t,k} + b E D_{t,0} + c for every local step, then recursion over the round."""
    step = gamma(t)
    D, F, g, U = (
        Function(name, **nonnegative)(k) for name in ("D", "F", "g", "U")
    )  # |w̄ − w*|², Σ p_i (f_i(w~^i) − f_i*), f(w̄) − f*, |w̄_{t,k} − w̄_{t,0}|²
    Q = Function("Q", real=True)(k)  # the inner product of a_1
    N, Z, X, Y, W, M = (Function(name, **nonnegative)(k) for name in "NZXYWM")  # squared norms
    V = Sum(p[i] * perturbation(t, k, i), (i, 1, C))
    next_D, D_0 = D.subs(k, k + 1), dist2(t)
    within = (Le(k + 1, E),)
    rule = known(
        Eq(next_D, D - 2 * step * Q + step**2 * (N + Z)), "rule (4.7), squared; the noise has mean zero (C.1)",
        "bounded_variance",
    )  # fmt: skip
    smoothness = "|∇f_i|² ≤ 2L (f_i − f_i*) (appendix A)"
    gradients = known(Le(X, 2 * L * F), smoothness, "smooth", "similarity_weights")
    split = known(
        Le(-2 * step * Q, step**2 * X + V - 2 * step * (F - Gamma) - mu * step * W),
        "Peter-Paul and strong convexity (C.3), (C.4)", "strongly_convex", "similarity_weights",
    )  # fmt: skip
    a_1 = Step(
        Le(-2 * step * Q, 2 * L * step**2 * F + V - 2 * step * (F - Gamma) - mu * step * W),
        given=(split, gradients), where="C.5",
    )  # fmt: skip
    walked = Sum(Function("mean_g2", **nonnegative)(m), (m, 0, k - 1))  # Σ_m Σ_i p_i E|g_i|²
    drift = Step(
        Le(U, step**2 * k**2 * G**2),
        given=(
            known(Le(U, step**2 * k * walked), "rule (4.7) and Jensen, (C.9) and (C.10)", "similarity_weights"),
            termwise(
                Le(walked.function, G**2), m, 0, k - 1,
                known(Le(walked.function, G**2), "assumption 4.3 at the perturbed points, averaged",
                      "perturbed_gradients", "similarity_weights"),
            ),
        ),
        where="C.11",
    )  # fmt: skip
    a_11 = Step(
        Le(-mu * step * W, -mu * step * beta * D - mu * step * (1 - beta) * D_0
            + mu * step**3 * beta * (1 - beta) * E**2 * G**2),
        given=(
            known(Ge(W, M), "Jensen (C.6)", "similarity_weights"),
            known(Eq(M, beta * D + (1 - beta) * D_0 - beta * (1 - beta) * U), "lemma 4.3 and (C.7), (C.8)"),
            average.holds(part=1), drift,
        ),
        where="C.12", under=within,
    )  # fmt: skip
    a_2 = Step(
        Le(step**2 * (N + Z), step**2 * sigma**2 * sum_p2 + 2 * L * step**2 * F),
        given=(
            known(
                Le(Z, sigma**2 * sum_p2), "variances of independent noise add", "bounded_variance", "independent_noise"
            ),
            known(Le(N, X), "Jensen for |·|²", "similarity_weights"),
            gradients,
        ),
        where="C.13",
    )
    b_1 = 4 * L * step**2 * F - 2 * step * (F - Gamma)
    gathered = Step(
        Le(next_D, (1 - mu * step * beta) * D - mu * step * (1 - beta) * D_0
            + mu * step**3 * beta * (1 - beta) * E**2 * G**2 + step**2 * sigma**2 * sum_p2 + V + b_1),
        given=(rule, a_1, a_11, a_2), note="all terms together", under=within,
    )  # fmt: skip
    heterogeneity = Step(
        Le(b_1, 6 * L * Gamma * step**2 + V),
        given=(
            known(Ge(F - Gamma, g - step * Y / 2 - V / (2 * step)), "convexity and Peter-Paul (C.15), (C.16)",
                "strongly_convex", "similarity_weights"),
            known(Le(Y, 2 * L * (g + Gamma)), smoothness, "smooth", "similarity_weights"),
            known(Ge(V, 0), "weights are not negative", "similarity_weights"),
        ),
        where="C.14 to C.20",
    )  # fmt: skip
    sign = known(Ge(p[i], 0), "similarities are not negative", "similarity_weights")
    whole = known(Eq(Sum(p[i], (i, 1, C)), 1), "similarities sum to one", "similarity_weights")
    far = Step(
        Le(V, perturbed.rhs),
        given=(whole, termwise(Le(p[i] * perturbed.lhs, p[i] * perturbed.rhs), i, 1, C, perturbed.holds(), sign)),
        note=perturbed.id,
        under=within,
    )
    c = (
        2 * perturbed.rhs + mu * step**3 * beta * (1 - beta) * E**2 * G**2
        + step**2 * sigma**2 * sum_p2 + 6 * step**2 * L * Gamma
    )  # fmt: skip
    a = 1 - beta * mu * step
    added = Symbol("c", **nonnegative)  # c by its name: the recursion needs only its sign
    named = known(Eq(added, c), "c, as defined before (C.21)")
    local = Step(
        Le(next_D, a * D - mu * step * (1 - beta) * D_0 + added),
        given=(gathered, heterogeneity, far, named),
        under=within,
    )
    recursion = Induction(
        Le(D, (1 - 1 / beta + a**k / beta) * D_0 + added * k),
        over=k,
        base=(known(Eq(D.subs(k, 0), D_0), "the round starts at the average"),),
        step=(local, mu_at_most_L),
        under=(Le(k, E),),
        where="C.21",
        note="geometric series, with the coarser k for the sum that multiplies c",
    )
    given = Step(
        Le(dist2(t + 1), (1 - 1 / beta + a**E / beta) * D_0 + c * E),
        given=(recursion.at(E), known(Eq(dist2(t + 1), D.subs(k, E)), "the round ends with the average"), named),
    )
    printed = Step(Eq(given.claim.rhs, goal.rhs, evaluate=False), note="A = c E")
    return Argument(
        (a_1, drift, a_11, a_2, gathered, heterogeneity, far, local, recursion, given, printed,
         Step(goal.relations[0], given=(given, printed))),
        given,
    )  # fmt: skip


def lemma_C_1_kappa(goal: View) -> Argument:
    """(1 − β μ γ)^E ≤ 1 − β μ γ."""
    inside = base_of(goal.lhs, E)
    power = Step(Le(inside**E, inside), given=(power_le_base(x=inside, n=E),))
    return Argument((power, Step(goal.relations[0], given=(power,))))


def lemma_C_2(goal: View, one_round: View, contraction: View) -> Argument:
    """Recursion over the rounds as printed: (C.22) multiplies by κ, whatever its sign."""
    return _fixed(goal, one_round, contraction)


def lemma_C_2_repaired(goal: View, one_round: View, contraction: View) -> Argument:
    """The same with κ ≥ 1 − μ γ E ≥ 0, by Bernoulli, for a step size that is small against E."""
    kappa = one_round.rhs.coeff(dist2(t))
    sign = Step(Ge(kappa, 0), given=(bernoulli(x=base_of(kappa, E) - 1, n=E), mu_at_most_L), note="κ ≥ 1 − μ γ E")
    return _fixed(goal, one_round, contraction, sign)


def _fixed(goal: View, one_round: View, contraction: View, *sign: Step) -> Argument:
    kappa, A = one_round.rhs.coeff(dist2(t)), one_round.rhs.subs(dist2(t), 0)
    gamma_mu = 1 - contraction.rhs
    step = gamma_mu / mu
    same = known(Le(previous(t), step), "1_{t≥1} γ_{t−1} ≤ γ for a fixed step size")
    most = A.subs(previous(t), step)
    progress = Step(
        Le(dist2(t + 1), kappa * dist2(t) + most), given=(one_round.holds(), same), under=(Le(t + 1, T),),
        note="lemma C.1 for a fixed step size",
    )  # fmt: skip
    recursion = Induction(
        Le(dist2(t), kappa**t * (dist2(0) - most / gamma_mu) + most / gamma_mu),
        over=t,
        step=(progress, contraction.holds(), mu_at_most_L, *sign),
        where="C.22, C.23",
    )
    smoothness = Step(
        Le(gap(t), L / 2 * (kappa**t * (dist2(0) - most / gamma_mu) + most / gamma_mu)),
        given=(recursion, smooth_gap),
    )
    error = L / (2 * gamma_mu) * most
    given = Step(
        Le(gap(t), L / mu * kappa**t * (gap(0) - mu * error / L) + error),
        given=(smoothness, strong_distance, *(power_sign(x=kappa, n=t) for _ in sign), *sign),
    )
    printed = Step(Eq(given.claim.rhs, goal.rhs, evaluate=False), note="the printed S is μ A / (2 γ μ)")
    return Argument(
        (*sign, progress, recursion, smoothness, given, printed, Step(goal.relations[0], given=(given, printed))), given
    )


def lemma_C_3(goal: View, one_round: View) -> Argument:
    """κ ≤ 1 − μ E γ_t / 2 and γ_{t−1} ≤ 2 γ_t, then D_t ≤ ω/(τ + t) by induction."""
    kappa, A = one_round.rhs.coeff(dist2(t)), one_round.rhs.subs(dist2(t), 0)
    x = (1 - base_of(kappa, E)) * E  # β μ E γ_t
    exponential = Step(
        Le(kappa, 1 - 1 / beta + exp(-x) / beta), given=(one_minus_power(x=x, n=E), mu_at_most_L), where="C.25"
    )
    reciprocal = Step(Le(kappa, 1 - 1 / beta + 1 / (beta * (x + 1))), given=(exponential, exp_recip(x=x)), where="C.26")
    gamma_t = cancel(x / (beta * mu * E))
    half = Step(Le(kappa, 1 - mu * E * gamma_t / 2), given=(reciprocal,), where="C.27")

    upsilon, t_tau = gamma_t.as_numer_denom()
    tau = t_tau - t
    before = known(Le(previous(t) * (t_tau - 1), upsilon), "γ_{t−1} = υ/(τ + t − 1), and 0 for t = 0")
    twice = Step(Le(previous(t), 2 * gamma_t), given=(before, mu_at_most_L), note="1_{t≥1} γ_{t−1} ≤ 2 γ_t")
    slower = A.subs(previous(t), 2 * gamma_t)
    rest = mu * gamma_t**3 * beta * (1 - beta) * E**3 * G**2
    small = mu * gamma_t**2 * beta * (1 - beta) * E**2 * G**2 / (2 * L)
    value = cancel((slower - rest + small) / gamma_t**2)
    a = Symbol("a", **nonnegative)  # by its name: the induction needs only its sign
    named = known(Eq(a, value), "a, as defined after (C.30)")
    settle = Step(
        Le(A, gamma_t**2 * a), given=(twice, mu_at_most_L, named), note="γ_t ≤ 1/(2LE); a does not depend on t"
    )
    round_ = Step(
        Le(dist2(t + 1), kappa * dist2(t) + gamma_t**2 * a),
        given=(one_round.holds(), settle),
        under=(Le(t + 1, T),),
        note="lemma C.1",
    )
    progress = Step(
        Le(dist2(t + 1), (1 - mu * E * gamma_t / 2) * dist2(t) + gamma_t**2 * a),
        given=(round_, half),
        where="C.28",
        under=(Le(t + 1, T),),
    )
    settled = a * upsilon**2 / (upsilon * mu * E / 2 - 1)
    omega = Max(tau * dist2(0), settled)
    rate = Induction(Le(dist2(t), omega / t_tau), over=t, step=(progress, mu_at_most_L), where="C.29, C.31, C.32")
    smoothness = Step(Le(gap(t), L / 2 / t_tau * (tau * dist2(0) + settled)), given=(rate, smooth_gap), where="C.33")
    both_ends = Step(Le(gap(t), L / 2 / t_tau * (2 * tau * gap(0) / mu + settled)), given=(smoothness, strong_distance))
    given = Step(Le(gap(t), L / 2 / t_tau * (2 * tau * gap(0) / mu + settled.subs(a, value))), given=(both_ends, named))
    printed = Step(Eq(given.claim.rhs, goal.rhs, evaluate=False), note="the printed R is μ/2 times a υ²/(υ μ E/2 − 1)")
    return Argument(
        (exponential, reciprocal, half, twice, settle, round_, progress, rate, smoothness, both_ends, given, printed,
         Step(goal.relations[0], given=(given, printed))),
        given,
    )  # fmt: skip


def theorem_4_4_I(goal: View, lemma: View) -> Argument:
    """Lemma C.2 at γ = 1/(2LE): κ ≤ 1 − μ/((β + 2)L), and the negative term is dropped."""
    kappa, printed_rate = base_of(lemma.rhs, t), base_of(goal.rhs, t)
    x = (1 - base_of(kappa, E)) * E  # β μ/(2L)
    exponential = Step(
        Le(kappa, 1 - 1 / beta + exp(-x) / beta), given=(one_minus_power(x=x, n=E), mu_at_most_L), where="C.34"
    )
    reciprocal = Step(Le(kappa, 1 - mu / (beta * mu + 2 * L)), given=(exponential, exp_recip(x=x)), where="C.35")
    rate = Step(Le(kappa, printed_rate), given=(reciprocal, mu_at_most_L), note="β μ + 2L ≤ L(β + 2)")
    sign = Step(Ge(kappa, 0), given=(bernoulli(x=base_of(kappa, E) - 1, n=E), mu_at_most_L), note="κ ≥ 1 − μ γ E")
    powers = Step(Le(kappa**t, printed_rate**t), given=(rate, sign, power_monotone(x=kappa, y=printed_rate, n=t)))
    error = Step(
        Eq(at_infinity(lemma.rhs, t), goal.rhs.subs(gap(0), Integer(0)), evaluate=False), note="L S / μ with γ replaced"
    )
    cited = lemma.holds(mu_at_most_L)
    left = at_infinity(lemma.rhs, t)
    dropped = Step(
        Le(gap(t), L / mu * kappa**t * gap(0) + left),
        given=(cited, sign, power_sign(x=kappa, n=t)),
        note="the negative term is discarded",
    )
    goal_reached = Step(goal.relations[0], given=(dropped, powers, error))
    return Argument((exponential, reciprocal, rate, sign, powers, error, dropped, goal_reached), cited)


def theorem_4_4_II(goal: View, lemma: View) -> Argument:
    """Lemma C.3 at υ = 4/(μ E), τ = 8 L/μ: nothing but substitution."""
    same = Step(Eq(lemma.rhs, goal.rhs, evaluate=False), note="υ and τ replaced in lemma C.3")
    cited = lemma.holds(mu_at_most_L)
    return Argument((same, Step(goal.relations[0], given=(cited, same))), cited)
