"""The paper's proofs (appendix A and the lines of section 2), step by step.

Each function takes the statement and what it cites, with all values put in, and returns the lines of the proof. The
one-step proof is that of Cho, Wang and Joshi, which appendix A abbreviates; what it needs and the text does not give
is named in `assumes`.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false

from sympy import Eq, Expr, Function, Ge, Le, Rational, Sum, Symbol
from sympy.logic.boolalg import And, Boolean

from ...decide.facts import Fact, termwise
from ...language.derivation import Argument, Induction, Known, Step, View
from ...language.rule_expressions import grad, vector
from ...proofs.atoms import Minimum, Smooth
from ...proofs.premise_identity import shown
from ..buttaci import inequalities
from .symbols import (
    E,
    G,
    Gamma,
    L,
    N,
    alpha_max,
    alpha_min,
    dist2,
    eta,
    gap,
    kappa_max,
    kappa_min,
    mu,
    p,
    p_min,
    rho_bar,
    rho_floor,
    rho_least,
    rho_run,
    rho_run_max,
    rho_tilde,
    sigma,
    spread,
    t,
)

_u, _K, _e, _b, _c, _d = (Symbol(name, real=True) for name in ("u", "K", "e_0", "b", "c_0", "d_0"))
contraction = Fact(
    "contraction",
    "x ≤ K/u + e gives (1 − b/u) x + c/u² + d/u ≤ K/(u + 1) + e if 1 ≤ b ≤ u, c ≤ (b − 1) K and d ≤ b e",
    (_u, _K, _e, _b, _c, _d),
    when=lambda u, K, e, b, c, d: (Ge(b, 1), Le(b, u), Ge(K, 0), Ge(e, 0), Le(c, (b - 1) * K), Le(d, b * e)),
    then=lambda u, K, e, b, c, d: Le((1 - b / u) * (K / u + e) + c / u**2 + d / u, K / (u + 1) + e),
    proof=lambda u, K, e, b, c, d: (
        first := Step(Le((1 - b / u) * e + d / u, e)),
        second := Step(Le((1 - b / u) * K / u + c / u**2, K / u - K / u**2)),
        third := Step(Le(K / u - K / u**2, K / (u + 1))),
        Step(
            Le((1 - b / u) * (K / u + e) + c / u**2 + d / u, K / (u + 1) + e),
            given=(first, second, third),
        ),
    ),
)


def known(claim: Boolean, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


mu_at_most_L = known(Le(mu, L), "μ ≤ L", "smooth", "strongly_convex")


def lemma_1(goal: View) -> Argument:
    """Assumption 1 at v = w − ∇f(w)/L."""
    smoothness, w = inequalities.L, vector("w")
    v = w - grad(w) / smoothness
    at_once = shown(
        goal.relations[0],
        "f(v) ≤ f(w) − |∇f(w)|²/(2L), and f(w*) ≤ f(v)",
        inequalities.ON_A_FUNCTION,
        (2 * smoothness, Smooth(w, v, smoothness)),
        (2 * smoothness, Minimum(v, (("has_minimum", ()),))),
    )
    last = Step(goal.relations[0], given=(at_once,), where="(6)")
    return Argument((last,), last)


def lemma_2(goal: View) -> Argument:
    """At most E − 1 steps since the average, none longer than 2 η_t G; a mean is the nearest point."""
    moved = Symbol("moved", nonnegative=True)  # E sum_i alpha_t^i |w_t^i - w_r|^2, r the last average
    nearest = known(
        Le(spread(t), moved), "w_t is the α-mean of the w_t^i: no point is nearer", "rule_kept", "nonnegative_weights"
    )
    length = known(
        Le(moved, ((E - 1) * 2 * eta(t) * G) ** 2),
        "at most E − 1 steps since the average, η_s ≤ 2 η_t, E|g_i|² ≤ G²",
        "slow_decay",
        "bounded_gradients",
    )
    reached = Step(Le(spread(t), 4 * (E - 1) ** 2 * eta(t) ** 2 * G**2), given=(nearest, length))
    return Argument((reached, Step(goal.relations[0], given=(reached,), note="(E − 1)² ≤ E²")), reached)


def over_clients(gradient: View, where: str) -> tuple[tuple[Step, ...], Step, Expr, Expr]:
    """Lemma 1 for every client at its point, summed with the weights: the steps, the last, and both sums."""
    i = Symbol("i", integer=True, positive=True)
    weight, slope2, excess = (Function(f"{name}_{where}", nonnegative=True) for name in ("alpha", "slope2", "excess"))
    minimum = known(Ge(excess(i), 0), "a strongly convex F_i has a minimiser", "strongly_convex")
    one = gradient.at({inequalities.grad2: slope2(i), inequalities.gap: excess(i), inequalities.L: L})
    signed = known(Ge(weight(i), 0), "weights are not negative", "nonnegative_weights")
    bound = 2 * L * weight(i) * excess(i)
    each = Step(
        Le(weight(i) * slope2(i), bound), given=(one.holds(instead={"has_minimum": minimum}), signed), note="lemma 1"
    )
    slopes, values = (Sum(weight(i) * x(i), (i, 1, N)) for x in (slope2, excess))
    linear = known(Eq(Sum(bound, (i, 1, N)), 2 * L * values), "a constant factor leaves the sum")
    summed = Step(Le(slopes, 2 * L * values), given=(termwise(each.claim, i, 1, N, each), linear), note="over clients")
    return (each, summed), summed, slopes, values


def one_step(goal: View, gradient: View, discrepancy: View, rho: Expr, Gamma: Expr) -> Argument:
    """Appendix A: A_1 to A_5. `rho` is at most every rho(t, w_t); Gamma is 0 in the error-free framework."""
    D, next_D, step = dist2(t), dist2(t + 1), eta(t)
    M, Q, X, Y, Z, F_local, F_here, g = (
        Symbol(name, nonnegative=True) for name in ("M_t", "Q_t", "X_t", "Y_t", "Z_t", "F_local", "F_here", "g_t")
    )
    locally, lemma_local, slopes, values = over_clients(gradient, "local")
    here, lemma_here, slopes_here, values_here = over_clients(gradient, "here")
    P, F_star, S = Symbol("P_t", real=True), Symbol("F_star", nonnegative=True), spread(t)
    A_1 = S + step**2 * X - 2 * step * (F_local - F_star) - step * mu * D
    rule = known(
        Le(next_D, D - 2 * step * P + step**2 * (M + Z)),
        "w_{t+1} = w_t − η_t Σ α_t^i g_i(w_t^i), squared; the noise has mean 0",
        "rule_kept",
        "bounded_variance",
    )
    split = known(
        Le(-2 * step * P, S + step**2 * X - 2 * step * (F_local - F_star) - step * mu * Q),
        "w_t − w* = (w_t − w_t^i) + (w_t^i − w*): Peter-Paul, and strong convexity",
        "strongly_convex",
        "nonnegative_weights",
    )
    jensen = known(Le(D, Q), "Jensen: w_t is the α-mean of the w_t^i", "rule_kept", "nonnegative_weights")
    first = Step(Le(-2 * step * P, A_1), given=(split, jensen), where="A_1")
    named = known(And(Eq(X, slopes), Eq(F_local, values)), "the names of two sums over the clients, at w_t^i")
    lemma_1 = Step(Le(X, 2 * L * F_local), given=(lemma_local, named), note="lemma 1 at w_t^i")
    third = Step(
        Le(step**2 * M, 2 * L * step**2 * F_local),
        given=(known(Le(M, X), "Jensen for |·|²", "nonnegative_weights", "weights_sum_to_one"), lemma_1),
        where="A_3",
    )
    fourth = Step(
        Le(step**2 * Z, step**2 * sigma**2),
        given=(known(Le(Z, sigma**2), "Jensen for |·|², assumption 3", "bounded_variance", "nonnegative_weights"),),
        where="A_4",
    )
    A_5 = 4 * L * step**2 * F_local - 2 * step * (F_local - F_star)
    gathered = Step(
        Le(next_D, (1 - step * mu) * D + S + step**2 * sigma**2 + A_5),
        given=(rule, first, third, fourth, lemma_1),
        note="A_1 to A_4 together",
    )
    tangent = known(
        Ge(F_local, F_here - step * Y / 2 - S / (2 * step)),
        "convexity at w_t and Peter-Paul",
        "strongly_convex",
        "nonnegative_weights",
    )
    named_here = known(And(Eq(Y, slopes_here), Eq(F_here, values_here)), "Y_t and F_here are these sums at w_t")
    slope = Step(Le(Y, 2 * L * F_here), given=(lemma_here, named_here), note="lemma 1 at w_t")
    lower = Step(Ge(F_local, (1 - step * L) * F_here - S / (2 * step)), given=(tangent, slope))
    scaled = Step(
        Le(A_5, -2 * step * (1 - 2 * L * step) * (1 - L * step) * F_here + S + 2 * step * F_star),
        given=(lower, known(Ge(S, 0), "weights are not negative", "nonnegative_weights")),
        note="1 − 2Lη_t ≥ 0",
    )
    product = Step(Ge((1 - 2 * L * step) * (1 - L * step), Rational(3, 8)), note="η_t ≤ 1/(4L)")
    everywhere = () if rho in (rho_floor, rho_least) else ("minimum_over_all_steps",)
    skewed = known(Ge(F_here, rho * (g + Gamma)), "ρ(t, w_t) is at least its minimum (8)", *everywhere)
    at_star = known(Le(F_star, rho_tilde * Gamma), "ρ(t, w*) is at most its maximum (8)")
    strong = known(Ge(g, mu * D / 2), "strong convexity of F", "strongly_convex")
    less = Step(
        Le(-2 * step * (1 - 2 * L * step) * (1 - L * step) * F_here,
           -2 * step * (1 - 2 * L * step) * (1 - L * step) * rho * (g + Gamma)),
        given=(product, skewed),
    )  # fmt: skip
    closer = Step(
        Le(-2 * step * (1 - 2 * L * step) * (1 - L * step) * rho * g, -Rational(3, 8) * step * mu * rho * D),
        given=(product, strong),
        note="η_t ≤ 1/(4L)",
    )
    apart = Step(
        Le(-2 * step * (1 - 2 * L * step) * (1 - L * step) * rho * Gamma,
           -2 * step * rho * Gamma + 6 * L * step**2 * rho * Gamma),
        note="(1 − 2x)(1 − x) ≥ 1 − 3x",
    )  # fmt: skip
    bound_5 = (
        S + 6 * L * step**2 * rho * Gamma - Rational(3, 8) * step * mu * rho * D + 2 * step * Gamma * (rho_tilde - rho)
    )
    fifth = Step(Le(A_5, bound_5), given=(scaled, less, closer, apart, at_star), where="A_5")
    reached = Step(
        Le(next_D, (1 - step * mu * (1 + Rational(3, 8) * rho)) * D + 2 * discrepancy.rhs + step**2 * sigma**2
           + 6 * L * step**2 * rho * Gamma + 2 * step * Gamma * (rho_tilde - rho)),
        given=(gathered, fifth, discrepancy.holds()),
    )  # fmt: skip
    return Argument(
        (first, *locally, lemma_1, third, fourth, gathered, *here, slope, lower, scaled, product, less, closer, apart,
         fifth, reached, Step(goal.relations[0], given=(reached,), where="(9)")),
        reached,
    )  # fmt: skip


def theorem_3(goal: View, gradient: View, discrepancy: View) -> Argument:
    """With the least skew over all steps, as in Cho et al."""
    return one_step(goal, gradient, discrepancy, rho_floor, Gamma)


def theorem_3_printed(goal: View, gradient: View, discrepancy: View) -> Argument:
    """Theorem 3 as printed, by the repaired one's proof; it needs (4) with the round's weights: rho_bar gives less."""
    return one_step(goal, gradient, discrepancy, rho_bar, Gamma)


def equation_13_repaired(goal: View, gradient: View, discrepancy: View) -> Argument:
    """Theorem 3's proof at Γ = 0."""
    return one_step(goal, gradient, discrepancy, rho_least, Gamma * 0)


def equation_13(goal: View, recursion: View) -> Argument:
    """(9) at Γ = 0."""
    cited = recursion.holds()
    return Argument((Step(goal.relations[0], given=(cited,)),), cited)


def _corollary(goal: View, recursion: View, rho: Expr) -> Argument:
    """Δ_t ≤ K/(t + γ) + e by induction, then smoothness."""
    u = t + 4 * L / mu
    B, C_ = 1 + Rational(3, 8) * rho, 32 * E**2 * G**2 + 6 * rho * L * Gamma + sigma**2
    D = 2 * Gamma * (rho_tilde - rho)
    K, error = 4 * L / mu * dist2(0) + 8 * C_ / (3 * rho * mu**2), 8 * D / (3 * rho * mu)
    extra = (known(Le(rho, rho_tilde), "the minimum looks at w* too"),) if rho == rho_floor else ()
    hypothesis = Le(dist2(t), K / u + error)
    small = Step(Le(1 / (mu * u), 1 / (4 * L)), note="η_t ≤ 1/(4L)")
    halved = Step(Le(1 / (mu * u), 2 / (mu * (u + E))), note="η_t ≤ 2 η_{t+E}, for lemma 2")
    positive = Step(Ge(1 - B / u, 0), note="the factor of (9) is not negative")
    progress = Step(
        Le(dist2(t + 1), (1 - B / u) * dist2(t) + C_ / mu**2 / u**2 + D / mu / u),
        given=(recursion.holds(small),),
        where="(9)",
    )
    onward = Step(
        Le(dist2(t + 1), (1 - B / u) * (K / u + error) + C_ / mu**2 / u**2 + D / mu / u),
        given=(progress, positive),
        under=(hypothesis,),
    )
    fact = contraction(u=u, K=K, e_0=error, b=B, c_0=C_ / mu**2, d_0=D / mu)
    shrinks = Step(fact.claim, given=(fact, positive, *extra), note="K (B − 1) ≥ C/μ²")
    start = Step(Ge(error, 0), given=extra, note="ρ̄ ≤ ρ̃")
    rate = Induction(hypothesis, over=t, base=(start,), step=(onward, shrinks), where="induction of appendix A")
    last = Step(Le(dist2(t + 1), K / (u + 1) + error), given=(onward, shrinks, rate))
    smooth_gap = known(Le(gap(t + 1), L / 2 * dist2(t + 1)), "F − F* ≤ L/2 |w − w*|²", "smooth")
    reached = Step(Le(gap(t + 1), L / 2 * (K / (u + 1) + error)), given=(last, smooth_gap))
    printed = Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="V and E of (10)")
    return Argument(
        (small, halved, positive, progress, onward, shrinks, start, rate, last, reached, printed,
         Step(goal.relations[0], given=(reached, printed))),
        reached,
    )  # fmt: skip


def corollary_4(goal: View, recursion: View) -> Argument:
    return _corollary(goal, recursion, rho_bar)


def corollary_4_repaired(goal: View, recursion: View) -> Argument:
    return _corollary(goal, recursion, rho_floor)


def remark_5(goal: View, corollary: View) -> Argument:
    """Corollary 4 with ρ = 1: E = 0, and T ≤ T + γ."""
    one = known(Eq(rho_floor, 1), "ρ(t, w) = 1 for α = p (8)", "fedavg_weights")
    contracts = Step(Le(1 + Rational(3, 8) * rho_floor, 4 * L / mu), given=(one, mu_at_most_L))
    bound = Step(corollary.relations[0].subs(rho_floor, 1), given=(corollary.holds(contracts), one))
    last = Step(goal.relations[0], given=(bound, one), note="T/(T + γ) ≤ 1")
    return Argument((contracts, bound, last), last)


def remark_6(goal: View) -> Argument:
    """The term with ρ̄ is not negative; at the second client's minimiser FedMax has ρ = x_1/(p_1 x_1) = level."""
    excess, whole = Symbol("x_1", positive=True), Symbol("whole", positive=True)
    alone = known(
        Eq(whole, excess * p(1)), "Σ p_i x_i = p_1 x_1: x_2 = 0 at the second client's minimiser", "skew_witness"
    )
    skew = known(Eq(rho_bar * whole, excess), "FedMax: all weight on the first client, one round (8)", "skew_witness")
    large = Step(goal.relations[1], given=(alone, skew))
    least = Step(goal.relations[0], given=(large,))
    return Argument((large, least), (least, large))


def remark_6_repaired(goal: View) -> Argument:
    """Σ α_i x_i ≤ max x_i ≤ Σ p_i x_i / min p_i for x_i = F_i(w) − F_i* ≥ 0."""
    most = known(
        Le(rho_bar * p_min, 1), "Σ α_i x_i ≤ max x_i ≤ Σ p_i x_i / min p_i", "nonnegative_weights", "weights_sum_to_one"
    )
    inverse = Step(Ge(1 / rho_bar, p_min), given=(most,))
    last = Step(goal.relations[0], given=(inverse,))
    return Argument((inverse, last), last)


def remark_8(goal: View, bounded: View, chain: View) -> Argument:
    """1/rho_bar ≤ 1/π in V, and the line after (18) for E."""
    (above, _), last = above_pi(), _in_pi(chain)
    speed = Step(goal.relations[0], given=(bounded.holds(part=1), above), note="V")
    ratio = Step(Le(rho_tilde / rho_bar - 1, 1 / (kappa_min * p_min) - N), given=(bounded.holds(part=0), last, above))
    error = Step(goal.relations[1], given=(ratio, above), note="times 8LΓ/(3μ)")
    return Argument((above, last, speed, ratio, error), (speed, error))


def fedmax_optimal(goal: View) -> Argument:
    """V falls as ρ̄ grows, and FedMax's is the largest at the same points."""
    skews = larger_skew()
    last = Step(goal.relations[0], given=(skews,))
    return Argument((skews, last), last)


def equation_14(goal: View, corollary: View) -> Argument:
    """Corollary 4 at Γ = 0."""
    same = Step(Eq(corollary.rhs, goal.rhs, evaluate=False), note="Γ = 0")
    cited = corollary.holds()
    return Argument((same, Step(goal.relations[0], given=(cited, same))), cited)


def larger_skew() -> Step:
    """Σ α_i x_i ≤ max x_i at the point where FedMax's skew is least."""
    mean, most = (Symbol(name, real=True) for name in ("mean", "most"))
    whole = Symbol("whole", positive=True)  # Σ p_i x_i there
    least = known(Le(rho_run(t) * whole, mean), "ρ̄ is at most ρ at this point (8)")
    there = known(Eq(rho_run_max(t) * whole, most), "FedMax's ρ̄ is its ρ at this point")
    bounded = known(Le(mean, most), "Σ α_i x_i ≤ max x_i", "nonnegative_weights", "weights_sum_to_one")
    return Step(Le(rho_run(t), rho_run_max(t)), given=(least, there, bounded))


def equation_15(goal: View) -> Argument:
    last = larger_skew()
    return Argument((last,), last)


def remark_7(goal: View) -> Argument:
    """ρ̃/ρ̄ ≥ 1 because the minimum looks at w* too."""
    at_star = Symbol("rho_star", real=True)  # ρ(0, w*)
    below = known(Le(rho_floor, at_star), "the minimum looks at w* too")
    above = known(Le(at_star, rho_tilde), "ρ̃ is the largest ρ(t, w*)")
    last = Step(goal.relations[0], given=(below, above))
    return Argument((last,), last)


_MEAN = "ρ(t, w) is a mean of the κ_t^i with weights p_i (F_i(w) − F_i*) (8)"


def above_pi() -> tuple[Step, ...]:
    """ρ̄ ≥ π and ρ̃ ≤ Π."""
    steps: list[Step] = []
    for rho, kappa, compare, where in ((rho_bar, kappa_min, Ge, "here"), (rho_tilde, kappa_max, Le, "star")):
        weighted = Symbol(f"weighted_{where}", real=True)  # Σ κ_i p_i x_i
        whole = Symbol(f"whole_{where}", positive=True)  # Σ p_i x_i
        mean = known(Eq(rho * whole, weighted), _MEAN, "distribution")
        each = known(
            compare(weighted, kappa * whole), "every κ_t^i lies between π and Π, p_i x_i ≥ 0 (16)", "distribution"
        )
        steps.append(Step(compare(rho, kappa), given=(mean, each)))
    return tuple(steps)


def ratios(goal: View) -> Argument:
    """π ≤ ρ(t, w) ≤ Π for every w."""
    steps = above_pi()
    printed = tuple(Step(relation, given=steps) for relation in goal.relations)
    return Argument((*steps, *printed), printed)


def equation_17(goal: View, corollary: View, bounded: View) -> Argument:
    """Corollary 4 with 1/ρ̄ ≤ 1/π and ρ̃/ρ̄ ≤ Π/π."""
    above, _ = above_pi()
    cited = corollary.holds(above)
    ratio, inverse = (bounded.holds(part=part) for part in (0, 1))
    scale = 4 * L * (32 * E**2 * G**2 + sigma**2) / (3 * mu**2) / (t + 1 + 4 * L / mu)
    speed = Step(Le(scale / rho_bar, scale / kappa_min), given=(inverse, above), note="V")
    weight = 8 * L * Gamma / (3 * mu)
    error = Step(
        Le(weight * (rho_tilde / rho_bar - 1), weight * (kappa_max - kappa_min) / kappa_min),
        given=(ratio, above),
        note="E",
    )
    last = Step(goal.relations[0], given=(cited, speed, error, above))
    return Argument((above, speed, error, last), last)


def equation_18(goal: View) -> Argument:
    """Where Π and the extreme weights are attained; the other N − 1 weights of a round are at least the least."""
    p_of_Pi, weight_of_Pi, others = (Symbol(name, real=True) for name in ("p_of_Pi", "weight_of_Pi", "others"))
    kappa, p_i = (Symbol(name, positive=True) for name in ("kappa_least", "p_least"))
    pi_times = (
        known(Eq(weight_of_Pi, kappa_max * p_of_Pi), "Π is attained by some client: α = Π p (16)", "distribution"),
        known(Ge(p_of_Pi, p_min), "every p_i is at least the least", "distribution"),
        known(Le(weight_of_Pi, alpha_max), "the largest weight"),
    )
    rest = (
        known(
            Eq(alpha_max + others, 1), "the weights of the round of the largest sum to one (3)", "weights_sum_to_one"
        ),
        known(Ge(others, (N - 1) * alpha_min), "N − 1 others, each at least the least weight"),
    )
    smallest = (
        known(Eq(alpha_min, kappa * p_i), "the least weight is some κ p (16)", "distribution"),
        known(Ge(kappa, kappa_min), "π is the least κ", "positive_weights"),
        known(Ge(p_i, p_min), "every p_i is at least the least", "distribution"),
    )
    first, second = Step(goal.relations[0], given=pi_times), Step(goal.relations[1], given=rest)
    product = Step(Ge(alpha_min, kappa_min * p_min), given=smallest)
    third = Step(goal.relations[2], given=(product,))
    fourth = Step(goal.relations[3], given=(first, second, third))
    return Argument((first, second, product, third, fourth), (first, second, third, fourth))


def _in_pi(chain: View) -> Step:
    return Step(
        Le((kappa_max - kappa_min) / kappa_min, 1 / (kappa_min * p_min) - N),
        given=(chain.holds(part=3),),
        note="(18), minus π, over π",
    )


def error_in_pi(goal: View, bounded: View, chain: View) -> Argument:
    """E = λ_2 (ρ̃/ρ̄ − 1) ≤ λ_2 (Π/π − 1)."""
    (above, _), last = above_pi(), _in_pi(chain)
    ratio = Step(Le(rho_tilde / rho_bar - 1, 1 / (kappa_min * p_min) - N), given=(bounded.holds(part=0), last, above))
    scale = 8 * L * Gamma / (3 * mu)
    reached = Step(Le(goal.lhs, scale * (1 / (kappa_min * p_min) - N)), given=(ratio, above), note="times 8LΓ/(3μ)")
    return Argument((above, last, ratio, reached, Step(goal.relations[0], given=(reached, above))), reached)


def equation_19(goal: View, in_both: View, chain: View) -> Argument:
    """(17) with Π bounded by (18)."""
    cited, last = in_both.holds(), _in_pi(chain)
    weight = 8 * L * Gamma / (3 * mu)
    error = Step(
        Le(weight * (kappa_max - kappa_min) / kappa_min, weight * (1 / (kappa_min * p_min) - N)), given=(last,)
    )
    reached = Step(goal.relations[0], given=(cited, error))
    return Argument((last, error, reached), reached)


def equation_20(goal: View) -> Argument:
    """V at ρ̄ = 1."""
    one = known(Eq(rho_bar, 1), "ρ(t, w) = 1 for α = p (8)", "fedavg_weights")
    reached = Step(Eq(goal.lhs, goal.lhs.subs(rho_bar, 1)), given=(one,), where="V of corollary 4 at ρ̄ = 1")
    return Argument((reached, Step(goal.relations[0], given=(reached, one), where="(20)")), reached)
