"""The thesis's proofs about the perturbed-gradient method, line by line (section 4.3.2, appendix C.2).

As in `derivations`: constants come from the statements, never from here, except where the text introduces one.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false

from sympy import Add, Eq, Expr, Ge, Integer, Le, Max, Sum, Symbol, cancel, exp
from sympy.logic.boolalg import And, Boolean, Or

from ...decide.facts import (
    bernoulli,
    exp_recip,
    one_minus_power,
    power_le_base,
    power_monotone,
    power_sign,
    sum_sign,
    termwise,
)
from ...language.derivation import Argument, Induction, Known, Step, View, named
from ...language.rule_expressions import grad, mean, neighbours, other, w_star
from ...language.rule_parts import Vector
from ...proofs.atom import Atom
from ...proofs.atoms import Bound, Convex, Lower, Minimum, Near, Smooth, Square, Variance, Weight
from ...proofs.premise_identity import shown
from .derivations import at_infinity, base_of
from .frames import (
    ON_PERTURBED,
    PERTURBED_BASICS,
    A,
    B,
    D,
    F,
    N,
    Q,
    W,
    X,
    Y,
    Z,
    apart,
    average_u,
    centre,
    g,
    middle,
    moved,
    perturbed_gradient,
    perturbed_stochastic,
    product,
    share,
    walked,
)
from .methods import perturbed_point, u_i, w, w_i
from .symbols import C, E, G, Gamma, L, T, dist2, gamma, gap, i, k, mu, p, sigma, sum_p2, t
from .symbols_perturbed import beta, j, mismatch, n, perturbation, perturbed2, perturbed_gradients, previous, spread
from .symbols_perturbed import centre as centre_entry
from .symbols_perturbed import mean as mean_entry

nonnegative = {"nonnegative": True}
smooth_gap, strong_distance = PERTURBED_BASICS.smooth_gap, PERTURBED_BASICS.strong_distance
mu_at_most_L = PERTURBED_BASICS.mu_at_most_L


def known(claim: Boolean, because: str, *by: tuple[Expr | int, Atom], at: tuple[Expr, Expr] | None = None) -> Known:
    return shown(claim, because, ON_PERTURBED, *by, at=at)


def definition(claim: Boolean, because: str) -> Known:
    """What the statement's own words say; the engine compares it with them."""
    return Known(claim, because, "premise")


def before(step: Expr) -> Known:
    """1_{t≥1} γ_{t−1}, written out: what `previous` means."""
    first, later = And(Eq(t, 0), Eq(previous(t), 0)), And(Ge(t, 1), Eq(previous(t), step.subs(t, t - 1)))
    return definition(Or(first, later), "previous(t) is 1_{t≥1} γ_{t−1}")


def local_path(client: Symbol, *under: Boolean) -> Induction:
    """E|w^i_{t,k} − w̄_{t,0}|² ≤ γ_t² k² G²: k steps of length γ_t |g_i(w̃^i)|."""
    own = (w_i - w, perturbed_stochastic)
    vectors = own if client == i else tuple(other(x) for x in own)
    distance, force, along = moved(client, k), perturbed2(t, k, client), product(client, k)
    rule = Eq(moved(client, k + 1), distance - 2 * gamma(t) * along + gamma(t) ** 2 * force)
    at = Bound(perturbed_gradients, ((i, client),))
    return Induction(
        Le(distance, gamma(t) ** 2 * k**2 * G**2),
        over=k,
        base=(known(Eq(moved(client, 0), 0), "w^i_{t,0} is the average"),),
        step=(
            known(rule, "rule (4.7), squared"),
            shown(Le(along**2, distance * force), "Cauchy-Schwarz (appendix A)", ON_PERTURBED, schwarz=vectors),
            known(Le(force, G**2), "assumption 4.3 at the perturbed points", (1, at)),
        ),
        under=(Le(k, E), *under),
        note="recursion over the local steps, Jensen over them",
    )


weight_sign = known(Ge(p[j], 0), "similarities are not negative", (1, Weight(j)))
weight_sum = known(Eq(Sum(p[j], (j, 1, C)), 1), "similarities sum to one")


# --- section 4.3.2 ---------------------------------------------------------------------------------------------------


def lemma_4_3(goal: View) -> Argument:
    """Σ_i p_i u^i = Σ_j (Σ_i p_ij) w^j_{t−1,E} = Σ_j p_j w^j_{t−1,E}: the columns of p_ij sum to what its rows do."""
    whole = known(Eq(average_u(n), mean_entry(t, 0, n)), "p_ij = p_ji: Σ p_i u^i = w_{t,0}")
    perturbed = known(
        Eq(centre_entry(t, k, n), beta * mean_entry(t, k, n) + (1 - beta) * average_u(n)), "definition (4.6), averaged"
    )
    none = known(Eq(mismatch(t, k), 0), "definition (4.6), averaged; columns of p_ij sum to p_j on every path")
    reached = Step(goal.relations[0], given=(perturbed, whole))
    return Argument((reached, Step(goal.relations[1], given=(none,))), reached)


def lemma_4_4(goal: View) -> Argument:
    """Both u^i and u^j are averages of points that round t − 1 moved by at most γ_{t−1} E G; before round 0 none."""
    most = gamma(t) ** 2 * E**2 * G**2
    paths = {client: local_path(client) for client in (i, j)}

    def near(client: Symbol, neighbour: Symbol) -> Step:
        part = share(client, neighbour)
        jensen = known(
            Le(apart(client, E), Sum(part * moved(neighbour, E), (neighbour, 1, C))),
            "Jensen over the neighbours, share = p_il/p_i",
            (1, Near(w_i - w, client=client)),
            at=(t, E),
        )
        whole = known(Eq(Sum(part, (neighbour, 1, C)), 1), "p_i = Σ_l p_il")
        sign = known(Ge(part, 0), "similarities are not negative", (1, Weight(neighbour, client)))
        terms = termwise(Le(part * moved(neighbour, E), part * most), neighbour, 1, C, paths[neighbour].at(E), sign)
        return Step(Le(apart(client, E), most), given=(jensen, whole, terms), where="4.10 to 4.12")

    ends = near(i, j), near(j, i)
    young = known(
        Le(spread(t + 1, i, j), 2 * apart(i, E) + 2 * apart(j, E)),
        "Young (4.8), definition (4.6) (4.9)",
        (1, Square(neighbours(w_i) - w + other(neighbours(w_i) - w))),
        at=(t, E),
    )
    onward = Step(Le(spread(t + 1, i, j), 4 * most), given=(young, *ends), note="one round on")
    rounds = Induction(
        Le(spread(t, i, j), 4 * previous(t) ** 2 * E**2 * G**2),
        over=t,
        base=(known(Eq(spread(0, i, j), 0), "u^i_0 = w_{0,0} for every client", at=(0, k)),),
        step=(onward, definition(Eq(previous(t + 1), gamma(t)), "previous(t) is 1_{t≥1} γ_{t−1}")),
    )
    return Argument((*paths.values(), *ends, onward, rounds, Step(goal.relations[0], given=(rounds,))), rounds)


def lemma_4_5(goal: View, average: View, between_neighbours: View) -> Argument:
    """w̄ − w~^i by lemma 4.3 as two averages over the clients, of A and of B; each is bounded, and k ≤ E."""
    step, within = gamma(t), (Le(k, E),)
    ahead, back = mean(perturbed_point) - perturbed_point, w - perturbed_point
    split = known(
        Le(perturbation(t, k, i), 2 / beta**2 * Sum(p[j] * A(i, j, k), (j, 1, C))
            + 2 * (1 - 1 / beta) ** 2 * Sum(p[j] * B(i, j, k), (j, 1, C))),
        "Young and Jensen, (4.13) and (4.14)",
        (1, Square(ahead / beta - (1 - 1 / beta) * back)),
        (2 / beta**2, Square(perturbed_point - mean(perturbed_point), "mean")),
        (2 * (1 - 1 / beta) ** 2 * (1 - beta) ** 2, Square(u_i - w, "mean")),
    )  # fmt: skip
    paths = {client: local_path(client) for client in (i, j)}
    own, others = w_i - w, other(w_i) - w
    between = (1 - beta) * (other(u_i) - u_i)
    drawn = known(
        Le(A(i, j, k), 4 * beta**2 * (moved(j, k) + moved(i, k)) + 2 * (1 - beta) ** 2 * spread(t, i, j)),
        "(4.15) to (4.18): Young, twice",
        (1, Square(beta * (others - own) - between)),
        (2 * beta**2, Square(others + own)),
    )
    started = known(
        Le(B(i, j, k), 2 * beta**2 * moved(i, k) + 2 * (1 - beta) ** 2 * spread(t, i, j)),
        "(4.19) to (4.21): Young",
        (1, Square(beta * own + between)),
    )
    most_spread = 2 * (1 - beta) ** 2 * between_neighbours.rhs
    most_A = 8 * step**2 * beta**2 * E**2 * G**2 + most_spread
    most_B = 2 * step**2 * beta**2 * E**2 * G**2 + most_spread
    inside = (Le(1, j), Le(j, C))
    local_A = Step(
        Le(A(i, j, k), most_A),
        given=(drawn, *paths.values(), between_neighbours.holds()),
        note="E A, k ≤ E",
        under=inside,
    )
    local_B = Step(
        Le(B(i, j, k), most_B), given=(started, paths[i], between_neighbours.holds()), note="E B, k ≤ E", under=inside
    )
    averaged = [
        Step(
            Le(Sum(p[j] * part, (j, 1, C)), most),
            given=(weight_sum, termwise(Le(p[j] * part, p[j] * most), j, 1, C, local, weight_sign)),
            note="averaged over the clients",
        )
        for part, most, local in ((A(i, j, k), most_A, local_A), (B(i, j, k), most_B, local_B))
    ]
    reached = Step(
        Le(perturbation(t, k, i), 2 / beta**2 * most_A + 2 * (1 - 1 / beta) ** 2 * most_B),
        given=(split, *averaged, average.holds(part=1)),
        under=within,
        note="the bounds on A and B together",
    )
    return Argument(
        (*paths.values(), local_A, local_B, *averaged, reached,
         Step(goal.relations[0], given=(reached,), note="(1 − β)⁴ ≤ (1 − β)²")),
        reached,
    )  # fmt: skip


# --- appendix C.2 ----------------------------------------------------------------------------------------------------


def lemma_C_1(goal: View, average: View, perturbed: View) -> Argument:
    """E D_{t,k+1} ≤ a E D_{t,k} + b E D_{t,0} + c for every local step, then recursion over the round."""
    step = gamma(t)
    V = Sum(p[i] * perturbation(t, k, i), (i, 1, C))
    next_D, D_0 = D(k + 1), dist2(t)
    within = (Le(k + 1, E),)

    def below(point: Vector) -> tuple[tuple[Expr, Atom], ...]:
        """Smoothness from a point to the end of a gradient step of length 1/L, where f_i is at least f_i*."""
        end = point - grad(point) / L
        return (2 * L, Smooth(point, end, L, "mean")), (2 * L, Lower(end, "mean"))

    rule = known(
        Eq(next_D, D(k) - 2 * step * Q(k) + step**2 * (N(k) + Z(k))),
        "rule (4.7), squared; the noise has mean zero (C.1)",
    )
    smoothness = "|∇f_i|² ≤ 2L (f_i − f_i*) (appendix A)"
    gradients = known(Le(X(k), 2 * L * F(k)), smoothness, *below(perturbed_point))
    split = known(
        Le(-2 * step * Q(k), step**2 * X(k) + V - 2 * step * (F(k) - Gamma) - mu * step * W(k)),
        "Peter-Paul and strong convexity (C.3), (C.4)",
        (2 * step, Convex(perturbed_point, w_star, mu, "mean")),
        (1, Square(centre - perturbed_point + step * perturbed_gradient, "mean")),
    )
    a_1 = Step(
        Le(-2 * step * Q(k), 2 * L * step**2 * F(k) + V - 2 * step * (F(k) - Gamma) - mu * step * W(k)),
        given=(split, gradients), where="C.5",
    )  # fmt: skip
    path, sign, whole = local_path(i), PERTURBED_BASICS.weight_sign, PERTURBED_BASICS.weight_sum
    far_i, most = moved(i, k), gamma(t) ** 2 * k**2 * G**2
    drift = Step(
        Le(walked(k), most),
        given=(
            known(
                Le(walked(k), Sum(p[i] * far_i, (i, 1, C))),
                "Jensen over the clients, (C.9) and (C.10)",
                (1, Square(w_i - centre, "mean")),
            ),
            whole,
            termwise(Le(p[i] * far_i, p[i] * most), i, 1, C, path, sign),
        ),
        where="C.11",
        under=(Le(k, E),),
    )
    a_11 = Step(
        Le(-mu * step * W(k), -mu * step * beta * D(k) - mu * step * (1 - beta) * D_0
            + mu * step**3 * beta * (1 - beta) * E**2 * G**2),
        given=(
            known(Ge(W(k), middle(k)), "Jensen (C.6)", (1, Square(perturbed_point - mean(perturbed_point), "mean"))),
            known(
                Eq(middle(k), beta * D(k) + (1 - beta) * D_0 - beta * (1 - beta) * walked(k)),
                "lemma 4.3 and (C.7), (C.8)",
            ),
            average.holds(part=1), drift,
        ),
        where="C.12", under=within,
    )  # fmt: skip
    a_2 = Step(
        Le(step**2 * (N(k) + Z(k)), step**2 * sigma**2 * sum_p2 + 2 * L * step**2 * F(k)),
        given=(
            known(
                Le(Z(k), sigma**2 * sum_p2),
                "variances of independent noise add",
                (1, Variance(perturbed_gradient, sigma, "squares")),
            ),
            known(
                Le(N(k), X(k)), "Jensen for |·|²", (1, Square(perturbed_gradient - mean(perturbed_gradient), "mean"))
            ),
            gradients,
        ),
        where="C.13",
    )
    b_1 = 4 * L * step**2 * F(k) - 2 * step * (F(k) - Gamma)
    gathered = Step(
        Le(next_D, (1 - mu * step * beta) * D(k) - mu * step * (1 - beta) * D_0
            + mu * step**3 * beta * (1 - beta) * E**2 * G**2 + step**2 * sigma**2 * sum_p2 + V + b_1),
        given=(rule, a_1, a_11, a_2), note="all terms together", under=within,
    )  # fmt: skip
    heterogeneity = Step(
        Le(b_1, 6 * L * Gamma * step**2 + V),
        given=(
            known(
                Ge(F(k) - Gamma, g(k) - step * Y(k) / 2 - V / (2 * step)),
                "convexity and Peter-Paul (C.15), (C.16)",
                (1, Convex(centre, perturbed_point, mu, "mean")),
                (mu / 2, Square(perturbed_point - centre, "mean")),
                (1 / (2 * step), Square(perturbed_point - centre + step * grad(centre), "mean")),
            ),
            known(Le(Y(k), 2 * L * (g(k) + Gamma)), smoothness, *below(centre)),
            known(Ge(g(k), 0), "w* is a minimiser", (1, Minimum(centre))),
            known(Ge(V, 0), "weights are not negative", (1, Square(centre - perturbed_point, "mean"))),
        ),
        where="C.14 to C.20",
    )
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
    local = Step(
        Le(next_D, a * D(k) - mu * step * (1 - beta) * D_0 + c),
        given=(gathered, heterogeneity, far),
        under=within,
    )
    recursion = Induction(
        Le(D(k), (1 - 1 / beta + a**k / beta) * D_0 + c * k),
        over=k,
        base=(known(Eq(D(0), D_0), "the round starts at the average"),),
        step=(local, mu_at_most_L),
        under=(Le(k, E),),
        where="C.21",
        note="geometric series, with the coarser k for the sum that multiplies c",
    )
    last = known(Eq(dist2(t + 1), D(E)), "the round ends with the average", at=(t, E))
    reached = Step(Le(dist2(t + 1), (1 - 1 / beta + a**E / beta) * D_0 + c * E), given=(recursion.at(E), last))
    printed = Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="A = c E")
    return Argument(
        (path, a_1, drift, a_11, a_2, gathered, heterogeneity, far, local, recursion, reached, printed,
         Step(goal.relations[0], given=(reached, printed))),
        reached,
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
    """Recursion over the rounds with κ ≥ 1 − μ γ E ≥ 0, by Bernoulli, for a step size that is small against E."""
    kappa = one_round.rhs.coeff(dist2(t))
    sign = Step(Ge(kappa, 0), given=(bernoulli(x=base_of(kappa, E) - 1, n=E), mu_at_most_L), note="κ ≥ 1 − μ γ E")
    return _fixed(goal, one_round, contraction, sign)


def _fixed(goal: View, one_round: View, contraction: View, *sign: Step) -> Argument:
    kappa, A = one_round.rhs.coeff(dist2(t)), one_round.rhs.subs(dist2(t), 0)
    gamma_mu = 1 - contraction.rhs
    step = gamma_mu / mu
    same = Step(Le(previous(t), step), given=(before(step),), note="1_{t≥1} γ_{t−1} ≤ γ for a fixed step size")
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
    reached = Step(
        Le(gap(t), L / mu * kappa**t * (gap(0) - mu * error / L) + error),
        given=(smoothness, strong_distance, *(power_sign(x=kappa, n=t) for _ in sign), *sign),
    )
    printed = Step(Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="the printed S is μ A / (2 γ μ)")
    return Argument(
        (
            *sign,
            same,
            progress,
            recursion,
            smoothness,
            reached,
            printed,
            Step(goal.relations[0], given=(reached, printed)),
        ),
        reached,
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
    twice = Step(Le(previous(t), 2 * gamma_t), given=(before(gamma_t), mu_at_most_L), note="1_{t≥1} γ_{t−1} ≤ 2 γ_t")
    slower = A.subs(previous(t), 2 * gamma_t)
    rest = mu * gamma_t**3 * beta * (1 - beta) * E**3 * G**2
    small = mu * gamma_t**2 * beta * (1 - beta) * E**2 * G**2 / (2 * L)
    noise = Add(*(term / gamma_t**2 for term in Add.make_args(slower - rest)))
    size = noise + small / gamma_t**2
    sign = Step(Ge(size, 0), given=(sum_sign(x=noise, y=small / gamma_t**2),))
    a = Symbol("a", nonnegative=True)  # by its name: the induction needs only its sign
    name = named(a, size, "a, as defined after (C.30)")
    settle = Step(
        Le(A, gamma_t**2 * a), given=(twice, mu_at_most_L, name), note="γ_t ≤ 1/(2LE); a does not depend on t"
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
    reached = Step(Le(gap(t), L / 2 / t_tau * (2 * tau * gap(0) / mu + settled.subs(a, size))), given=(both_ends, name))
    printed = Step(
        Eq(reached.claim.rhs, goal.rhs, evaluate=False), note="the printed R is μ/2 times a υ²/(υ μ E/2 − 1)"
    )
    return Argument(
        (exponential, reciprocal, half, twice, settle, round_, progress, rate, sign, smoothness, both_ends, reached,
         printed, Step(goal.relations[0], given=(reached, printed))),
        reached,
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
