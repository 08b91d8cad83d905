"""The thesis's proofs of the FedProx chain, line by line (appendices B.2 and B.4).

Each function takes the statement and what it cites, with all values put in, and returns the lines of the proof. What a
line may use is written next to it. Constants come from the statements, never from here, except where the text itself
introduces one.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false

from typing import Any

from sympy import Eq, Expr, Ge, Integer, Le, Max, Mul, Pow, Rational, Sum, Symbol, cancel, exp
from sympy.logic.boolalg import And, Boolean

from ...decide.facts import (
    bernoulli,
    exp_recip,
    geometric,
    inverse_e,
    one_minus_power,
    power_difference,
    power_le_base,
    power_le_one,
    power_monotone,
    power_positive,
    power_product,
    power_sign,
    quarter,
    sum_next,
    termwise,
)  # fmt: skip
from ...language.derivation import Argument, Induction, Known, Step, View
from ...language.rule_expressions import grad, mean, other, w_star
from ...language.rule_parts import Vector
from ...proofs.atom import Atom
from ...proofs.atoms import Bound, Convex, Lower, Minimum, Smooth, Square, Variance, Weight
from ...proofs.premise_identity import shown
from .frames import (
    FEDPROX_BASICS,
    ON_FEDPROX,
    D,
    F,
    N,
    P,
    Q,
    R,
    W,
    X,
    Y,
    Z,
    centre,
    diff2,
    g,
    g2,
    gradient,
    pair,
    pair_product,
    product,
    stochastic,
)  # fmt: skip
from .methods import w, w_i
from .symbols import (
    C,
    E,
    G,
    Gamma,
    L,
    T,
    alpha,
    bounded_gradients,
    deviation,
    dist2,
    divergence,
    gamma,
    gap,
    i,
    k,
    mu,
    p,
    sigma,
    sum_p2,
    t,
)
from .symbols_perturbed import j
from .two_groups import flat, position, proximal, rest, steep

smooth_gap, strong_distance = FEDPROX_BASICS.smooth_gap, FEDPROX_BASICS.strong_distance
mu_at_most_L = FEDPROX_BASICS.mu_at_most_L


def base_of(expr: Expr, exponent: Symbol) -> Expr:
    """What `expr` raises to the power `exponent` (sympy writes (a/b)^t as a^t b^(-t))."""
    powers = {p for p in expr.atoms(Pow) if exponent in p.exp.free_symbols}
    return Mul(*(p.base ** (p.exp / exponent) for p in powers))


def at_infinity(expr: Expr, exponent: Symbol) -> Expr:
    """`expr` without its powers in `exponent`: what is left when they have died out."""
    return expr.xreplace({p: Integer(0) for p in expr.atoms(Pow) if exponent in p.exp.free_symbols})


def named(view: View, name: str) -> Symbol:
    """The statement's own symbol of that name."""
    symbols = {s for r in (*view.relations, *view.requires) for s in r.atoms(Symbol) if s.name == name}
    return symbols.pop()


# --- appendix B.1 ----------------------------------------------------------------------------------------------------


def spread(distance: Expr, onward: Expr, force: Expr, product: Expr, *vectors: Vector) -> tuple[Known, Known]:
    """One local step of rule (4.3) for a difference d of two points: d ← (1 − α γ) d − γ g, squared and averaged."""
    kept = 1 - alpha * gamma(t)
    rule = Eq(onward, kept**2 * distance - 2 * kept * gamma(t) * product + gamma(t) ** 2 * force)
    return (
        shown(rule, "rule (4.3), squared", ON_FEDPROX),
        shown(Le(product**2, distance * force), "Cauchy-Schwarz (appendix A)", ON_FEDPROX, schwarz=vectors),
    )


def bounded(client: Symbol) -> Known:
    """The stochastic gradients that the run takes."""
    at = Bound(bounded_gradients, ((i, client),))
    return shown(Le(g2(client, k), G**2), "assumption 4.3", ON_FEDPROX, (1, at))


def lemma_4_1(goal: View) -> Argument:
    """|d_k| ≤ γ k G by induction over the local steps: (1 − α γ) ≤ 1 shrinks what is there, a step adds γ G."""
    start = shown(Eq(deviation(t, 0, i), 0), "w^i_{t,0} is the average", ON_FEDPROX)
    onward = spread(deviation(t, k, i), deviation(t, k + 1, i), g2(i, k), product(i, k), w_i - w, stochastic)
    steps = Induction(
        Le(deviation(t, k, i), gamma(t) ** 2 * k**2 * G**2),
        over=k,
        base=(start,),
        step=(*onward, bounded(i)),
        where="B.1, B.2",
    )
    return Argument((steps, Step(goal.relations[0], given=(steps,), note="k ≤ E")), steps)


def lemma_4_2(goal: View) -> Argument:
    """Lemma 4.1's recursion for two clients, whose gradients differ by at most 2 G; then Jensen over the clients."""
    apart, force = w_i - other(w_i), stochastic - other(stochastic)
    start = shown(Eq(pair(i, j, 0), 0), "all clients start at the average", ON_FEDPROX)
    young_ = shown(
        Le(diff2(i, j, k), 2 * g2(i, k) + 2 * g2(j, k)),
        "Young (appendix A)",
        ON_FEDPROX,
        (1, Square(stochastic + other(stochastic))),
    )
    most = 4 * gamma(t) ** 2 * k**2 * G**2
    onward = spread(pair(i, j, k), pair(i, j, k + 1), diff2(i, j, k), pair_product(i, j, k), apart, force)
    pairs = Induction(
        Le(pair(i, j, k), most),
        over=k,
        base=(start,),
        step=(*onward, young_, bounded(i), bounded(j)),
        where="B.3, B.4",
    )
    jensen = shown(
        Le(divergence(t, k, i), Sum(p[j] * pair(i, j, k), (j, 1, C))),
        "Jensen over the clients (appendix A)",
        ON_FEDPROX,
        (1, Square(w_i - centre, "mean")),
    )
    sign = shown(Ge(p[j], 0), "weights are not negative", ON_FEDPROX, (1, Weight(j)))
    whole = shown(Eq(Sum(p[j], (j, 1, C)), 1), "weights sum to one", ON_FEDPROX)
    reached = Step(
        Le(divergence(t, k, i), most),
        given=(jensen, whole, termwise(Le(p[j] * pair(i, j, k), p[j] * most), j, 1, C, pairs, sign)),
    )
    return Argument((pairs, reached, Step(goal.relations[0], given=(reached,), note="k ≤ E")), reached)


# --- appendix B.2 ----------------------------------------------------------------------------------------------------


def lemma_B_1(goal: View, local_deviation: View, local_divergence: View) -> Argument:
    """E D_{t,k+1} ≤ a E D_{t,k} + b E D_{t,0} + c for every local step, then recursion over the round."""
    step, free = gamma(t), 1 - alpha * gamma(t)
    V = Sum(p[i] * divergence(t, k, i), (i, 1, C))
    U = Sum(p[i] * deviation(t, k, i), (i, 1, C))
    next_D, D_0 = D(k + 1), dist2(t)
    within = (Le(k + 1, E),)

    def known(claim: Boolean, because: str, *by: tuple[Expr | int, Atom]) -> Known:
        return shown(claim, because, ON_FEDPROX, *by)

    def below(point: Vector) -> tuple[tuple[Expr, Atom], ...]:
        """Smoothness from a point to the end of a gradient step of length 1/L, where f_i is at least f_i*."""
        end = point - grad(point) / L
        return (2 * L, Smooth(point, end, L, "mean")), (2 * L, Lower(end, "mean"))

    rule = known(
        Eq(next_D, free**2 * D(k) + (alpha * step) ** 2 * D_0 + 2 * alpha * step * free * P(k)
            - 2 * step * free * Q(k) - 2 * alpha * step**2 * R(k) + step**2 * N(k) + step**2 * Z(k)),
        "rule (4.4), squared; the noise has mean zero",
    )  # fmt: skip
    convex = known(Le(D(k), W(k)), "Jensen: |w̄ − w*|² ≤ Σ p_i |w^i − w*|²", (1, Square(w_i - centre, "mean")))
    smoothness = "|∇f_i|² ≤ 2L (f_i − f_i*) (appendix A)"
    gradients = known(Le(X(k), 2 * L * F(k)), smoothness, *below(w_i))
    a_1 = Step(
        Le(2 * alpha * step * free * P(k), alpha * step * free * (D(k) + D_0)),
        given=(known(Le(2 * P(k), D(k) + D_0), "2u'v ≤ |u|² + |v|²", (1, Square(centre - w))),),
        where="a_1",
    )

    def towards(product: Expr, start: Vector, apart: Expr, weight: Expr, where: str) -> Step:
        """−2 (start − w*)'Σ p_i ∇f_i(w^i): Peter-Paul on start − w^i (its square is `apart`), strong convexity."""
        at_least = -2 * (F(k) - Gamma)
        split = known(
            Le(-2 * product, apart / step + step * X(k) + at_least - mu * W(k)),
            "Peter-Paul and strong convexity",
            (2, Convex(w_i, w_star, mu, "mean")),
            (1 / step, Square(start - w_i + step * gradient, "mean")),
        )
        return Step(
            Le(-2 * weight * product, weight * (apart / step + 2 * L * step * F(k) + at_least - mu * D(k))),
            given=(split, convex, gradients),
            where=where,
        )

    a_2 = towards(Q(k), centre, V, step * free, "a_2")
    a_3 = towards(R(k), w, U, alpha * step**2, "a_3")
    a_4 = Step(
        Le(step**2 * (N(k) + Z(k)), step**2 * sigma**2 * sum_p2 + 2 * L * step**2 * F(k)),
        given=(
            known(
                Le(Z(k), sigma**2 * sum_p2),
                "variances of independent noise add",
                (1, Variance(gradient, sigma, "squares")),
            ),
            known(Le(N(k), X(k)), "Jensen for |·|²", (1, Square(gradient - mean(gradient), "mean"))),
            gradients,
        ),
        where="a_4",
    )
    b_1 = 4 * L * step**2 * F(k) - 2 * step * (F(k) - Gamma)
    gathered = Step(
        Le(next_D, (1 - step * (alpha + mu)) * D(k) + alpha * step * D_0 + step**2 * sigma**2 * sum_p2 + free * V
            + alpha * step * U + b_1),
        given=(rule, a_1, a_2, a_3, a_4),
        note="all terms together",
    )  # fmt: skip
    heterogeneity = Step(
        Le(b_1, 6 * L * Gamma * step**2 + V),
        given=(
            known(
                Ge(F(k) - Gamma, g(k) - step * Y(k) / 2 - V / (2 * step)),
                "convexity and Peter-Paul",
                (1, Convex(centre, w_i, mu, "mean")),
                (mu / 2, Square(w_i - centre, "mean")),
                (1 / (2 * step), Square(w_i - centre + step * grad(centre), "mean")),
            ),
            known(Le(Y(k), 2 * L * (g(k) + Gamma)), smoothness, *below(centre)),
            known(Ge(g(k), 0), "w* is a minimiser", (1, Minimum(centre))),
            known(Ge(V, 0), "weights are not negative", (1, Square(centre - w_i, "mean"))),
        ),
        where="B.5 to B.11",
    )
    sign, whole = FEDPROX_BASICS.weight_sign, FEDPROX_BASICS.weight_sum
    averages = [
        Step(
            Le(total, lemma.rhs),
            given=(whole, termwise(Le(p[i] * lemma.lhs, p[i] * lemma.rhs), i, 1, C, lemma.holds(), sign)),
            note=lemma.id,
            under=within,
        )
        for total, lemma in ((U, local_deviation), (V, local_divergence))
    ]
    c = step**2 * sigma**2 * sum_p2 + 6 * L * Gamma * step**2 + 2 * local_divergence.rhs
    local = Step(
        Le(next_D, (1 - step * (alpha + mu)) * D(k) + alpha * step * D_0 + c),
        given=(gathered, heterogeneity, *averages),
        note="8 − 3 α γ ≤ 8",
        under=within,
    )
    a = 1 - step * (alpha + mu)
    recursion = Induction(
        Le(D(k), (alpha + mu * a**k) / (alpha + mu) * D_0 + c * k),
        over=k,
        base=(known(Eq(D(0), D_0), "the round starts at the average"),),
        step=(local,),
        under=(Le(k, E),),
        note="geometric series, with the coarser k for the sum that multiplies c",
    )
    last = shown(Eq(dist2(t + 1), D(E)), "the round ends with the average", ON_FEDPROX, at=(t, E))
    reached = Step(
        Le(dist2(t + 1), (alpha + mu * a**E) / (alpha + mu) * D_0 + c * E),
        given=(recursion.at(E), last),
    )
    printed = Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="A = c E")
    return Argument(
        (a_1, a_2, a_3, a_4, gathered, heterogeneity, *averages, local, recursion, reached, printed,
         Step(goal.relations[0], given=(reached, printed))),
        reached,
    )  # fmt: skip


def lemma_B_1_kappa(goal: View) -> Argument:
    """κ ≤ 1 − γ μ: Bernoulli's other side, (1 − γ(α + μ))^E ≤ 1 − γ(α + μ)."""
    inside = base_of(goal.lhs, E)
    power = Step(Le(inside**E, inside), given=(power_le_base(x=inside, n=E),))
    return Argument((power, Step(goal.relations[0], given=(power,))))


def lemma_B_2(goal: View, one_round: View, contraction: View) -> Argument:
    """Recursion over the rounds, then smoothness and strong convexity at the two ends."""
    kappa, A = one_round.rhs.coeff(dist2(t)), one_round.rhs.subs(dist2(t), 0)
    gamma_mu = 1 - contraction.rhs
    recursion = Induction(
        Le(dist2(t), kappa**t * (dist2(0) - A / gamma_mu) + A / gamma_mu),
        over=t,
        step=(one_round.holds(), contraction.holds(), mu_at_most_L),
        where="B.12, B.13",
    )
    smoothness = Step(
        Le(gap(t), L / 2 * (kappa**t * (dist2(0) - A / gamma_mu) + A / gamma_mu)),
        given=(recursion, smooth_gap),
    )
    error = L / (2 * gamma_mu) * A
    reached = Step(
        Le(gap(t), L / mu * kappa**t * (gap(0) - mu * error / L) + error),
        given=(smoothness, strong_distance),
    )
    printed = Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="the printed S is μ A / (2 γ μ)")
    return Argument(
        (recursion, smoothness, reached, printed, Step(goal.relations[0], given=(reached, printed))), reached
    )


def lemma_B_3(goal: View, one_round: View) -> Argument:
    """κ ≤ 1 − μ E γ_t / 2, then D_t ≤ ω/(τ + t) by induction."""
    kappa, A = one_round.rhs.coeff(dist2(t)), one_round.rhs.subs(dist2(t), 0)
    x = (1 - base_of(kappa, E)) * E  # (α + μ) E γ_t
    exponential = Step(
        Le(kappa, (alpha + mu * exp(-x)) / (alpha + mu)), given=(one_minus_power(x=x, n=E),), where="B.15"
    )
    reciprocal = Step(
        Le(kappa, (alpha + mu / (x + 1)) / (alpha + mu)), given=(exponential, exp_recip(x=x)), where="B.16"
    )
    gamma_t = x / ((alpha + mu) * E)
    half = Step(Le(kappa, 1 - mu * E * gamma_t / 2), given=(reciprocal,), where="B.17")

    upsilon, t_tau = gamma_t.as_numer_denom()
    tau, a = t_tau - t, cancel(A / gamma_t**2)
    constant = Step(Eq(A, gamma_t**2 * a, evaluate=False), where="B.18", note="a does not depend on t")
    progress = Step(
        Le(dist2(t + 1), (1 - mu * E * gamma_t / 2) * dist2(t) + gamma_t**2 * a),
        given=(one_round.holds(), half, constant),
        where="B.21",
        under=(Le(t + 1, T),),
    )
    settled = a * upsilon**2 / (upsilon * mu * E / 2 - 1)
    omega = Max(tau * dist2(0), settled)
    rate = Induction(Le(dist2(t), omega / t_tau), over=t, step=(progress,), where="B.19, B.22 to B.24")
    smoothness = Step(Le(gap(t), L / 2 / t_tau * (tau * dist2(0) + settled)), given=(rate, smooth_gap), where="B.25")
    reached = Step(Le(gap(t), L / 2 / t_tau * (2 * tau * gap(0) / mu + settled)), given=(smoothness, strong_distance))
    printed = Step(
        Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="the printed R is μ/2 times a υ²/(υ μ E/2 − 1)"
    )
    return Argument(
        (exponential, reciprocal, half, constant, progress, rate, smoothness, reached, printed,
         Step(goal.relations[0], given=(reached, printed))),
        reached,
    )  # fmt: skip


def theorem_4_1_I(goal: View, lemma: View) -> Argument:
    """Lemma B.2 at γ = 1/(2 L_α E): κ ≤ 1 − μ/(3(α + L)), and the negative term is dropped."""
    kappa, printed_rate = base_of(lemma.rhs, t), base_of(goal.rhs, t)
    x = (1 - base_of(kappa, E)) * E  # (α + μ)/(2(α + L))
    exponential = Step(
        Le(kappa, (alpha + mu * exp(-x)) / (alpha + mu)),
        given=(one_minus_power(x=x, n=E), mu_at_most_L),
        where="B.26",
    )
    reciprocal = Step(Le(kappa, 1 - mu / (alpha + mu) * x / (1 + x)), given=(exponential, exp_recip(x=x)), where="B.27")
    rate = Step(Le(kappa, printed_rate), given=(reciprocal, mu_at_most_L), note="3α + 2L + μ ≤ 3(α + L)")
    powers = Step(
        Le(kappa**t, printed_rate**t), given=(rate, mu_at_most_L, power_monotone(x=kappa, y=printed_rate, n=t))
    )
    error = Step(
        Eq(at_infinity(lemma.rhs, t), goal.rhs.subs(gap(0), 0), evaluate=False), note="L S / μ with γ replaced"
    )
    cited = lemma.holds(mu_at_most_L)
    return Argument(
        (exponential, reciprocal, rate, powers, error,
         Step(goal.relations[0], given=(cited, powers, error, mu_at_most_L), note="the negative term is discarded")),
        cited,
    )  # fmt: skip


def theorem_4_1_II(goal: View, lemma: View) -> Argument:
    """Lemma B.3 at υ = 4/(μ E), τ = 8 L_α/μ: nothing but substitution."""
    same = Step(Eq(lemma.rhs, goal.rhs, evaluate=False), note="υ and τ replaced in lemma B.3")
    cited = lemma.holds(mu_at_most_L)
    return Argument((same, Step(goal.relations[0], given=(cited, same))), cited)


# --- appendix B.4 ----------------------------------------------------------------------------------------------------


def lemma_B_7(goal: View) -> Argument:
    """Σ a_k: one more term adds a_E ≥ E (ν − λ)(1 − ν)^(E−1) ≥ (ν − λ)(1 − ν)^(E−1), which is what the bound gains."""
    total, nu, lam = goal.lhs, named(goal, "nu"), named(goal, "lambda")
    growth = Induction(
        goal.relations[0],
        over=E,
        start=2,
        step=(
            sum_next(total.function, k, 0, E - 1),
            power_difference(x=1 - lam, y=1 - nu, n=E),
            power_positive(x=1 - nu, n=E - 1),
        ),
        note="the decomposition of a_k and the geometric series, as an induction over E",
    )
    positive = Step(goal.relations[1], given=(power_le_base(x=1 - nu, n=E - 1),), note="ν > 0")
    smallest = Step(
        Ge((1 - nu) ** (E - 1), (1 - 1 / E) ** (E - 1)), given=(power_monotone(x=1 - 1 / E, y=1 - nu, n=E - 1),)
    )
    below = Step(goal.relations[2], given=(smallest, inverse_e(n=E)), note="ν ≤ 1/E")
    return Argument((growth, positive, smallest, below))


def halved(x: Expr, where: str) -> Induction:
    """(1 - x/n)^n >= (1 - x/2)^2 for n >= 2 and 0 < x <= 1."""
    n = Symbol("n_halved", integer=True, positive=True)
    return Induction(
        Ge((1 - x / n) ** n, (1 - x / 2) ** 2),
        over=n,
        start=2,
        step=(
            bernoulli(x=x / ((n + 1) * (n - x)), n=n),
            power_product(x=1 - x / n, y=1 + x / ((n + 1) * (n - x)), n=n),
            power_sign(x=1 - x / n, n=n),
        ),
        where=where,
        note="(1 - x/n)^n grows with n, by Bernoulli",
        under=(Ge(n, 2),),
    )


def small_steps(
    still: Expr, moving: Expr, curve: Expr, step: Expr, one_round: str, all_rounds: str
) -> tuple[Step | Induction, ...]:
    """The second case of both lower bounds, `step` <= 1/(t + 2); a round multiplies by `still` + `moving` (.)^E.

    That the power t + 1 of round t's factor is at least round 0's factor is what `all_rounds` says, of any t >= 0. The
    print calls the case redundant, and it is: no line after it rests on it.
    """
    x = curve / (t + 2)
    grows = halved(x, one_round)

    def kept(s: Expr) -> Expr:
        return still + moving * (1 - curve / (2 * (s + 2))) ** 2

    least = still + moving * (1 - curve * step / E) ** E
    slow = Step(
        Ge(least, kept(t)),
        given=(grows.at(E), power_monotone(x=1 - x / E, y=1 - curve * step / E, n=E)),
        under=(Le(step * (t + 2), 1),),
        where=one_round,
    )
    return grows, slow, Step(Ge(kept(t) ** (2 * (t + 1)), kept(Integer(0)) ** 2), where=all_rounds)


def theorem_4_2(goal: View, sum_of_powers: View) -> Argument:
    """The mean of the two-group run contracts by a ≥ q a round and never loses sign; its square bounds the gap.

    H = μ and h = μ/2; noise has mean zero and only adds a variance. For an odd number of clients, the one with f_i = 0
    keeps its share of the mean where it is: `rest` is that share, 0 or 1/C.
    """
    gamma_, slope = named(goal, "gamma"), named(goal, "G_lin")
    made, rule_of = proximal(slope)
    j = Symbol("j", integer=True, nonnegative=True)
    small, large = 1 - gamma_ * (alpha + mu), 1 - gamma_ * (alpha + mu / 2)  # κ_H, κ_h
    share, start, least = made.shares, made.start, made.gap
    chosen = Known(Eq(gamma(t), gamma_), "the step size", "premise")

    def powers(kappa: Expr, count: Expr) -> Expr:
        return Sum(kappa**j, (j, 0, count - 1))

    def contraction(kappa: Expr, count: Expr = E) -> Expr:
        return kappa**count + alpha * gamma_ * powers(kappa, count)

    def group(w: Any, kappa: Expr, force: Expr, curvature: Expr) -> Induction:
        """The mean of a group's iterates after k local steps, by rule (4.3) with ∇f_i(w) = curvature w + force."""
        return Induction(
            Eq(w(k), contraction(kappa, k) * position(t) - gamma_ * force * powers(kappa, k), evaluate=False),
            over=k,
            base=(made.begin(w),),
            step=(
                rule_of(w, curvature, force),
                chosen,
                sum_next(kappa**j, j, 0, k - 1),
                geometric(x=kappa, n=k),
            ),
            note=f"local steps of {w}",
        )

    local_H, local_h, stays = group(steep, small, slope, mu), group(flat, large, -slope, mu / 2), made.stays(rule_of)
    a = rest + (1 - rest) * (contraction(small) + contraction(large)) / 2
    b = (1 - rest) * gamma_ * slope / 2 * (powers(large, E) - powers(small, E))
    rule = Step(
        Eq(position(t + 1), a * position(t) + b, evaluate=False),
        given=(made.average, local_H.at(E), local_h.at(E), stays.at(E)),
        note="one round of the mean, B.4",
    )

    closed = {
        kappa: Step(
            Eq(
                contraction(kappa),
                (alpha + (1 - kappa - alpha * gamma_) / gamma_ * kappa**E) * gamma_ / (1 - kappa),
                evaluate=False,
            ),
            given=(geometric(x=kappa, n=E),),
            where="B.38",
        )
        for kappa in (small, large)
    }
    larger = termwise(Ge(large**j, small**j), j, 0, E - 1, power_monotone(x=small, y=large, n=j))
    slower = Step(
        And(Ge(closed[large].claim.rhs, closed[small].claim.rhs), Le(closed[large].claim.rhs, 1)),
        given=(
            *closed.values(),
            power_monotone(x=small, y=large, n=E),
            power_le_one(x=large, n=E),
            larger,
        ),
        where="B.37",
    )
    exact = (closed[small].claim.rhs + closed[large].claim.rhs) / 2
    rounds = Step(
        Ge(a, exact), given=(*closed.values(), share, slower), note="an idle client only slows the contraction"
    )
    drift_sign = Step(Ge(b, 0), given=(larger, share))
    onward = Step(
        Ge(position(t + 1), exact * position(t)),
        given=(rule, rounds, drift_sign),
        under=(Ge(position(t), 0),),
        where="B.36",
    )
    signed = Step(Ge(position(0), 0), given=start, note="w_{0,0} ≥ 0 without loss")
    means = Induction(
        And(Ge(position(t), 0), Ge(position(t), exact**t * position(0))), over=t, base=(signed,), step=(onward, signed)
    )
    reached = Step(Ge(gap(t), exact ** (2 * t) * gap(0)), given=(means, least, *start, share), where="B.42")
    worst = Step(
        Ge(small**E, Rational(1, 4)),
        given=(power_monotone(x=1 - 1 / E, y=small, n=E), quarter(n=E)),
        where="B.40, B.41",
    )
    rate = Step(Ge(exact, closed[small].claim.rhs), given=(slower,), where="B.37")
    return Argument(
        (share, least, local_H, local_h, stays, rule, *closed.values(), slower, rounds, drift_sign, onward, signed,
         means, reached, worst, rate,
         Step(goal.relations[0], given=(reached, worst, rate)),
         *(Step(goal.relations[n], given=(sum_of_powers.holds(part=n),)) for n in (1, 2))),
        reached,
    )  # fmt: skip


def theorem_4_2_in_two_cases(goal: View, sum_of_powers: View) -> Argument:
    """As printed: the same, and the second case, γ E (α + μ) ≤ 1/(t + 2)."""
    whole, gamma_ = theorem_4_2(goal, sum_of_powers), named(goal, "gamma")
    idle, working = alpha / (alpha + mu), mu / (alpha + mu)
    cases = small_steps(idle, working, Integer(1), gamma_ * E * (alpha + mu), "B.43", "B.44")
    return Argument((*cases, *whole.steps), whole.bound)
