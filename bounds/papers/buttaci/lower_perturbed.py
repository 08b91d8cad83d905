"""Perturbed method, lower bound on the two-group quadratic: theorem 4.5, appendix C.4."""

from dataclasses import replace
from typing import Any

from sympy import Eq, Expr, Min, Sum, Symbol
from sympy import Ge as GreaterEqual
from sympy.logic.boolalg import And

from ...decide.facts import geometric, power_le_one, power_monotone, sum_next, termwise
from ...language.algebra import Ge, Gt, Le, Lt, e
from ...language.derivation import Argument, Derivation, Induction, Known, Step, View
from ...language.knobs import unit
from ...language.statement import Assumption, Statement
from .derivations import halved, small_steps
from .lower import A_B7, TWO_GROUPS, G_lin, lam, nu, strongly_convex_witness
from .methods import PERTURBED
from .symbols import GLOSSARY, C, Delta, E, S, T, gamma, gamma_, gap, k, mu, sigma, sum_p2, t
from .symbols_perturbed import beta, similarity_weights
from .two_groups import flat, perturbed, position, rest, steep, u_flat, u_steep

broadcast = Assumption(
    "broadcast",
    (),
    "u^i_t = w_{t,0}, as the paragraph above the theorem and appendix C.4 set it, and not rule (4.6)",
    "section 4.3.3",
)


def contraction_of_the_mean(sent: bool) -> tuple[tuple[Step | Induction, ...], Step, Step]:
    """The mean of the run contracts by 1 - 1/beta + kappa^E/beta >= beta/4 a round and never loses its sign.

    H = mu and h = mu/2; noise has mean zero and only adds a variance. For an odd number of clients, the one with
    f_i = 0 keeps its share of the mean where it is: `rest` is that share, 0 or 1/C. The second entry of the minimum is
    not needed. `sent`: u^i = w_{t,0}; otherwise beta = 1, and u^i does not matter.
    """
    made, rule_of = perturbed(G_lin, sent)
    j = Symbol("j", integer=True, nonnegative=True)
    small, large = 1 - gamma_ * beta * mu, 1 - gamma_ * beta * mu / 2  # kappa_H, kappa_h
    share, start, least = made.shares, made.start, made.gap
    chosen = Known(Eq(gamma(t), gamma_), "the step size", "premise")

    def powers(kappa: Expr, count: Expr) -> Expr:
        return Sum(kappa**j, (j, 0, count - 1))

    def contraction(kappa: Expr, curvature: Expr, count: Expr = E) -> Expr:
        return kappa**count - gamma_ * (1 - beta) * curvature * powers(kappa, count)

    def group(w: Any, near: Any, kappa: Expr, force: Expr, curvature: Expr) -> Induction:
        """The mean of a group's iterates after k local steps, with gradients curvature w~ + force."""
        sent_ = (made.says(Eq(near(k), position(t)), "u^i = w_{t,0}"),) if sent else ()
        return Induction(
            Eq(
                w(k), contraction(kappa, curvature, k) * position(t) - gamma_ * force * powers(kappa, k), evaluate=False
            ),
            over=k,
            base=(made.begin(w),),
            step=(
                rule_of(w, curvature, force),
                chosen,
                *sent_,
                sum_next(kappa**j, j, 0, k - 1),
                geometric(x=kappa, n=k),
            ),
            note=f"local steps of {w}",
        )

    local_H = group(steep, u_steep, small, G_lin, mu)
    local_h = group(flat, u_flat, large, -G_lin, mu / 2)
    stays = made.stays(rule_of)
    a = rest + (1 - rest) * (contraction(small, mu) + contraction(large, mu / 2)) / 2
    b = (1 - rest) * gamma_ * G_lin / 2 * (powers(large, E) - powers(small, E))
    rule = Step(
        Eq(position(t + 1), a * position(t) + b, evaluate=False),
        given=(made.average, local_H.at(E), local_h.at(E), stays.at(E)),
        note="one round of the mean, C.4",
    )
    closed = {
        kappa: Step(
            Eq(contraction(kappa, curvature), 1 - 1 / beta + kappa**E / beta, evaluate=False),
            given=(geometric(x=kappa, n=E),),
            note="the geometric series",
        )
        for kappa, curvature in ((small, mu), (large, mu / 2))
    }
    kept = {kappa: step.claim.rhs for kappa, step in closed.items()}
    larger = termwise(GreaterEqual(large**j, small**j), j, 0, E - 1, power_monotone(x=small, y=large, n=j))
    slower = Step(
        And(Ge(kept[large], kept[small]), Le(kept[large], 1)),
        given=(power_monotone(x=small, y=large, n=E), power_le_one(x=large, n=E)),
        where="C.40",
    )
    exact = (kept[small] + kept[large]) / 2
    rounds = Step(
        Ge(a, exact), given=(*closed.values(), share, slower), note="an idle client only slows the contraction"
    )
    grows = halved(beta, "C.43")
    worst = Step(
        Ge(small**E, (1 - beta / 2) ** 2),
        given=(power_monotone(x=1 - beta / E, y=small, n=E), grows.at(E)),
        where="C.42",
    )
    rate = Step(Ge(exact, beta / 4), given=(slower, worst), where="C.43")
    drift_sign = Step(Ge(b, 0), given=(larger, share), note="kappa_h > kappa_H")
    onward = Step(
        Ge(position(t + 1), exact * position(t)),
        given=(rule, rounds, drift_sign),
        under=(Ge(position(t), 0),),
        where="C.41",
    )
    signed = Step(Ge(position(0), 0), given=start, note="w_{0,0} >= 0 without loss")
    means = Induction(
        And(Ge(position(t), 0), Ge(position(t), exact**t * position(0))),
        over=t,
        base=(signed,),
        step=(onward, signed, rate),
    )
    reached = Step(Ge(gap(t), exact ** (2 * t) * gap(0)), given=(means, least, *start, share, rate), where="C.43")
    steps = (
        share,
        least,
        stays,
        local_H,
        local_h,
        rule,
        *closed.values(),
        slower,
        rounds,
        grows,
        worst,
        rate,
        drift_sign,
        onward,
        signed,
        means,
        reached,
    )
    return steps, reached, rate


def theorem_4_5(goal: View, sum_of_powers: View) -> Argument:
    """The contraction of the mean, and lemma B.7 for A."""
    steps, given, rate = contraction_of_the_mean(sent=True)
    printed = Step(goal.relations[0], given=(given, rate))
    return Argument(
        (*steps, printed, *(Step(goal.relations[m], given=(sum_of_powers.holds(part=m),)) for m in (1, 2))), given
    )


def theorem_4_5_in_two_cases(goal: View, sum_of_powers: View) -> Argument:
    """As printed: the same, and the second case, gamma E mu <= 1/(t + 2)."""
    whole = theorem_4_5(goal, sum_of_powers)
    cases = small_steps(1 - 1 / beta, 1 / beta, beta, gamma_ * E * mu, "C.44", "C.45")
    return Argument((*cases, *whole.steps), whole.bound)


def contracts_by_a_quarter(goal: View) -> Argument:
    """The mean contracts by 1/4 with beta = 1, where the broadcast does not matter: no second term is needed."""
    steps, given, rate = contraction_of_the_mean(sent=False)
    return Argument((*steps, Step(goal.relations[0], given=(given, rate))), given)


THEOREM_4_5 = Statement(
    id="buttaci/thm4.5",
    kind="exists",
    title="Perturbed method: lower bound on the two-group quadratic",
    cite="Theorem 4.5, section 4.3.3; construction in C.4",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=(*TWO_GROUPS, broadcast),
    choose={gamma(t): gamma_},
    when=(Le(gamma_, 1 / (E * mu)), Lt(beta, 1), Gt(sigma, 0), Ge(E, 2), Ge(C, 2)),
    then=(
        Ge(
            gap(t),
            Min(
                Delta * (beta / 4) ** (2 * t),
                1
                / (t + 1) ** 2
                * (3 * A_B7**2 * G_lin**2 / (128 * E**2 * mu) + 3 * S * sigma**2 / (64 * E * mu)),
            ),
        ),
        Gt(A_B7, 0),
        Le(A_B7, 1 - 1 / e),
    ),
    where={Delta: gap(0), S: sum_p2, A_B7: 1 - (1 - gamma_ * beta * mu) ** (E - 1)},
    for_all={t: (0, T)},
    sweep={gamma_: unit("gamma") / (E * mu), beta: unit("beta")},
    reading=(
        "the witness is the construction of B.4 with H = mu, h = mu/2, uniform weights within each group",
        "A is lemma B.7's at nu = gamma beta mu",
        "odd C: one further client has f_i = 0; all weights are then 1/C",
        "u^i = w_{t,0} is set in the paragraph above the theorem; with rule (4.6) instead: thm4.5~rule4.6",
        "for w_{0,0} < 0 the signs of the linear terms are flipped, as in B.4",
    ),
    follows_from=tuple(
        Derivation(
            proof,
            cites=("buttaci/lemB.7",),
            substitute={nu: gamma_ * beta * mu, lam: gamma_ * beta * mu / 2},
        )
        for proof in (theorem_4_5_in_two_cases, theorem_4_5)
    ),
)  # fmt: skip

THEOREM_4_5_BY_RULE = replace(
    THEOREM_4_5,
    id="buttaci/thm4.5~rule4.6",
    title="Perturbed method: the same lower bound with the algorithm's own neighbour averages",
    let=(*TWO_GROUPS, similarity_weights),
    reading=(
        *(line for line in THEOREM_4_5.reading if not line.startswith("u^i")),
        "u^i by rule (4.6) with equal similarities, which for C = 2 are the only ones: not what the theorem sets",
    ),
    follows_from=(),
)
STRONGLY_CONVEX_4_5 = strongly_convex_witness(THEOREM_4_5)
