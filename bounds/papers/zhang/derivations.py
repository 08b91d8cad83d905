"""The paper's proofs, line by line (appendix A), and two that replace them where a line fails.

Constants come from the statements. What the assumptions say about losses and runs enters as a premise and is named; all
arithmetic that the paper calls straightforward, the constants 0.3, 6, 2.8·20, 187, 18, 168 and 1.15, is decided here.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportOptionalOperand=false

from sympy import Eq, Expr, Function, Ge, Gt, Integer, Le, Min, Rational, Sum, Symbol
from sympy.logic.boolalg import And, Boolean, Or

from ...decide.facts import sum_empty, sum_next
from ...language.derivation import Argument, Induction, Known, Step, View, named
from ...language.rule_expressions import mean as mean_over
from ...proofs.atoms import Smooth, Square
from ...proofs.frame import Frame
from ...proofs.premise_identity import defined, shown
from ...proofs.proximal_atoms import Subgradient
from .drift import (
    bias_of_clients,
    gradients_of_clients,
    mean_noise,
    only,
)
from .frames import (
    CONVEX,
    ENDED,
    LOCAL,
    ON_A_STEP,
    ON_COMPACT,
    ON_PROPOSED,
    ON_STATIONARY,
    SHRINK,
    WEIGHT,
    WEIGHTS_PL,
    V,
    V_k,
    Y,
    ahead,
    bias2,
    contraction,
    flat_gap,
    kept_apart,
    lean,
    map_,
    mean_noise2,
    moved,
    mu_L,
    mu_sc_L,
    no_lean,
    no_lower,
    on_run,
    peter_paul,
    pl_step,
    pl_step_of_any_size,
    pull,
    pulled,
    pushed2,
    shift2,
    split,
    theta,
    virtual_step,
)
from .frames import NOISE as N
from .methods import PROPOSED, Lambda, plus, v, y
from .methods import w as beside
from .symbols import (
    G2,
    B_g,
    F_plus,
    F_z,
    L,
    Omega,
    Omega_sc,
    R,
    dist2,
    drift,
    eta_g,
    eta_t,
    gap,
    grad_inner,
    l,
    lam2,
    level,
    mean_G2,
    mu,
    n,
    plus2,
    r,
    sigma,
    step2,
    step_inner,
    t,
    tau,
    vdev,
    vlevel,
    vstep2,
    z2,
)

REAL, SIGNED = {"nonnegative": True}, {"real": True}


def known(claim: Boolean, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


def symbols(names: str, **assumptions: bool) -> list[Symbol]:
    return [Symbol(name, **assumptions) for name in names.split()]


# --- A.1 -------------------------------------------------------------------------------------------------------------


def zero_mean(goal: View) -> Argument:
    """W C^(r+1) = W C^r = 0 (A.4): what the frame's rules keep makes the corrections of the next round average to 0."""
    return _identity(goal, ON_PROPOSED, "|c_i|² = |c_i − c_bar|² on average over i, for c_bar = 0 (A.4)")


def server_update(goal: View) -> Argument:
    """(3): with corrections that average to zero the server receives P − η̃ v."""
    return _identity(goal, ON_PROPOSED, "lines 9, 10 and 14; the corrections average to zero (A.4)")


def compact_form(goal: View) -> Argument:
    """(2): the two forms have the same vectors at every step, which the frame's rules keep."""
    rounds = shown(goal.relations[0], "line 14 and (2), whose sums are those of algorithm 1", ON_COMPACT, at=ENDED)
    local = shown(goal.relations[1], "lines 9 and 10 and (2), whose corrections are those of algorithm 1", ON_COMPACT)
    steps = tuple(Step(relation, given=(x,)) for relation, x in zip(goal.relations, (rounds, local), strict=True))
    return Argument(steps, steps)


def _identity(goal: View, frame: Frame, because: str) -> Argument:
    return only(Step(goal.relations[0], given=(shown(goal.relations[0], because, frame, at=ENDED),)))


def fixed_point(goal: View) -> Argument:
    """Algorithm 2: x* = P_β(x* − β∇f(x*)) for every β, so that every local model stays at x*, as the frame checks."""
    same = shown(goal.relations[0], "P(x^(r+1)) = x*: the rules keep all vectors where they are", ON_STATIONARY,
                 at=(r + 1, t))  # fmt: skip
    return only(Step(goal.relations[0], given=(same,)))


def virtual_subgradient(goal: View) -> Argument:
    """(A.7), (A.8): the virtual iterate is a proximal point, so that (P − η̃∇f(P) − x̃)/η̃ is a subgradient of g there."""
    fenchel = shown(goal.relations[0], "g(x) + g*(s) = <s, x> where s is a subgradient of g at x", ON_PROPOSED)
    return only(Step(goal.relations[0], given=(fenchel,)))


# --- one proximal step -----------------------------------------------------------------------------------------------


def fact_1(goal: View) -> Argument:
    """Smoothness from above at x+, from below at z, and the subgradient of g at x+ that the proximal step gives."""
    at_once = shown(
        goal.relations[0],
        "assumption 3.2 at x⁺, L-smoothness from below at z, and (x − ηv − x⁺)/η is a subgradient of g at x⁺",
        ON_A_STEP,
        (1, Smooth(y, plus, L, "mean", named="descent")),
        (1, Smooth(y, beside, L, "mean", below=True, named="two_sided")),
        (1, Subgradient(y - eta_t * v, beside, eta_t, CONVEX)),
    )
    return only(Step(goal.relations[0], given=(at_once,)))


def virtual_decrease(goal: View, step: View) -> Argument:
    """Fact 1 with x⁺ = x̃, x = z = P and v = ∇f(P): the inner products become 0 and |x̃ − P|²."""
    values = {
        F_plus(r): vlevel(r), F_z(r): level(r), grad_inner(r): 0, step_inner(r): vstep2(r), plus2(r): vstep2(r),
        z2(r): 0,
    }  # fmt: skip
    return only(Step(goal.relations[0], given=(step.at(values).holds(),)))


def virtual_decrease_anew(goal: View) -> Argument:
    """The decrease of a virtual step again, at the run's own points: fact 1 is about a step of its own."""
    return only(Step(goal.relations[0], given=(virtual_step(),)))


def pl_decrease(goal: View) -> Argument:
    """[10, (34)]: the proximal step minimises a model of F whose minimum is −η̃/2 D_g(P, 1/η̃), and D_g grows.

    μ > L leaves nothing to gain: where D_g(P, μ) is attained F would be below F*, unless that is P itself.
    """
    positive = Step(Gt(Min(1, mu * eta_t), 0))
    share = named(theta, Min(1, mu * eta_t), "min(1, μ η̃)")
    step = Step(Le(vlevel(r), level(r) - theta * gap(r)), given=(pl_step_of_any_size(), share))
    steep = Step(Or(Le(mu, L), Le(shift2(r), 0)), given=(no_lower(),))
    still = Step(Or(Le(mu, L), Eq(pull(r), 0)), given=(steep, pulled()))
    rest = Step(Or(Le(mu, L), Le(gap(r), 0)), given=(steep, still, flat_gap()))
    whole = Step(goal.relations[0], given=(step, share, rest))
    return only(whole, positive, step, steep, still, rest)


# --- one round: (A.25) to (A.38) -------------------------------------------------------------------------------------

x = L * eta_t
QUOTIENT = {"B": L**2 * eta_t**3 * B_g**2 / eta_g**2, "N": eta_t * N / tau}  # what the constants multiply
lam = lam2(r) / (n * eta_t)  # the second term of Omega


def server_step(pl: bool) -> tuple[list[Step], Step]:
    """(A.30) or (A.37): F(P(x^(r+1))) − F* from the direction's error."""
    virtual = Step(
        Le(vlevel(r) - level(r), (L / 2 - 1 / eta_t) * eta_t**2 * G2(r)),
        given=(virtual_step(), defined(G2(r), PROPOSED)),
        where="A.25",
    )
    if not pl:
        progress = Step(
            Le(gap(r + 1), gap(r) + (x - Rational(1, 2)) * eta_t * G2(r) + (L / 2 - 1 / (2 * eta_t)) * step2(r)
                + eta_t / 2 * vdev(r)),
            given=(ahead(), virtual, peter_paul()),
            where="A.27, A.28",
        )  # fmt: skip
        return [virtual, progress], progress
    decrease = Step(Le(vlevel(r) - level(r), -mu * eta_t * gap(r)), given=(pl_step(), mu_L()), where="A.34")
    mixed = Step(
        Le(vlevel(r) - level(r), -mu * eta_t / 3 * gap(r) + (L / 3 - 2 / (3 * eta_t)) * eta_t**2 * G2(r)),
        given=(virtual, decrease),
        where="A.35",
    )
    progress = Step(
        Le(gap(r + 1), (1 - mu * eta_t / 3) * gap(r) + (5 * x / 6 - Rational(1, 6)) * eta_t * G2(r)
            + (L / 2 - 1 / (2 * eta_t)) * step2(r) + eta_t / 2 * vdev(r)),
        given=(ahead(), mixed, peter_paul()),
        where="A.36",
    )  # fmt: skip
    return [virtual, decrease, mixed, progress], progress


def gathered(
    pl: bool, w: Expr, local: View, direction: View, mismatch: View
) -> tuple[list[Step], Step, dict[str, Expr]]:
    """E[F − F* + w |Λ − mean|²/(n η̃)] of the next round, every coefficient as a function of the step sizes."""
    steps, server = server_step(pl)
    bracket = 20 * B_g**2 + 5 * G2(r) + 10 * N / tau  # lemma A.1 over n τ (η τ)², without its |Λ − mean|²
    error = Step(
        Le(
            eta_t / 2 * vdev(r),
            eta_t * L**2 * LOCAL**2 * bracket + 5 * eta_t * L**2 * lam2(r) / n + eta_t * N / (n * tau),
        ),
        given=(direction.holds(), local.holds()),
        where="A.29 with lemma A.1",
    )
    next_lambda = Step(
        Le(lam2(r + 1) / (n * eta_t), 2 * LOCAL**2 * L**2 / eta_t * step2(r) + 4 * LOCAL**4 * L**2 / eta_t * bracket
            + 20 * LOCAL**2 * L**2 * lam + 4 * LOCAL**2 / (eta_t * tau) * N),
        given=(mismatch.holds(),),
        where="lemma A.2",
    )  # fmt: skip
    q = 1 - mu * eta_t / 3 if pl else Integer(1)
    first = (5 * x / 6 - Rational(1, 6)) if pl else (x - Rational(1, 2))
    g2 = 1 / eta_g**2
    of = {
        "q": q,
        "G": first + 5 * x**2 * g2 + w * 20 * x**2 * g2**2,
        "S": x / 2 - Rational(1, 2) + w * 2 * x**2 * g2,
        "Lambda": 5 * x**2 + w * 20 * x**2 * g2,
        "B": 20 + w * 80 * g2,
        "N": 1 / n + 10 * x**2 * g2 + w * 40 * x**2 * g2**2 + w * 4 * g2,
    }
    weighted = gap(r + 1) + w * lam2(r + 1) / (n * eta_t)
    progress = Step(
        Le(weighted, q * gap(r) + of["Lambda"] * lam + of["G"] * eta_t * G2(r) + of["S"] / eta_t * step2(r)
            + of["B"] * QUOTIENT["B"] + of["N"] * QUOTIENT["N"]),
        given=(server, error, next_lambda),
        where="all terms together",
    )  # fmt: skip
    return [*steps, error, next_lambda, progress], progress, of


def shortened(line: Step, of: dict[str, Expr], most: dict[str, Expr]) -> tuple[list[Step], Step]:
    """A line with coefficients replaced by simpler bounds, one after the other, each decided from the conditions."""
    terms = {"Lambda": lam, "G": eta_t * G2(r), "S": step2(r) / eta_t, "B": QUOTIENT["B"], "N": QUOTIENT["N"]}
    now, steps = dict(of), list[Step]()
    for name, bound in most.items():
        shown = Step(Le(of[name], bound), note=f"coefficient of {name}")
        product = Step(Le(of[name] * terms[name], bound * terms[name]), given=(shown,), note=f"{name}, times its term")
        now[name] = bound
        kept = sum((now[k] * term for k, term in terms.items()), of["q"] * gap(r))
        line = Step(Le(line.claim.lhs, kept), given=(line, product), note=f"with {bound} for {name}")
        steps += [shown, product, line]
    return steps, line


def parts_of_omega(at: Expr) -> Known:
    return defined(Omega(at), PROPOSED)


def coefficient(expr: Expr, of: Expr) -> Expr:
    """The coefficient of `of` in a printed right-hand side."""
    return expr.expand().coeff(of)


def one_round(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    """(A.33) by (A.32): 0.3 and 2.8·20 follow from (13); 6 does not, but 317/9, of which 32 is lemma A.2's noise."""
    return _one_round(goal, Rational(317, 9), local, direction, mismatch)


def one_round_repaired(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    return _one_round(goal, Integer(6), local, direction, mismatch)


def _one_round(goal: View, noise: Expr, *lemmas: View) -> Argument:
    steps, made, of = gathered(False, Integer(1), *lemmas)
    more, short = shortened(made, of, {"Lambda": Integer(1), "G": Rational(-3, 10), "S": Integer(0), "B": Integer(56)})
    kept = Step(
        Le(Omega(r + 1), Omega(r) + of["N"] * QUOTIENT["N"] + 56 * QUOTIENT["B"] - Rational(3, 10) * eta_t * G2(r)),
        given=(short, parts_of_omega(r), parts_of_omega(r + 1)),
        where="A.32",
    )
    return _noise(goal, noise, of, kept, *steps, *more)


def one_round_pl(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    """(A.38): the same with the contraction; −1/12 + ... < 0 takes the place of −0.3."""
    return _one_round_pl(goal, Rational(317, 9), local, direction, mismatch)


def one_round_pl_repaired(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    return _one_round_pl(goal, Integer(6), local, direction, mismatch)


def _one_round_pl(goal: View, noise: Expr, *lemmas: View) -> Argument:
    steps, made, of = gathered(True, Integer(1), *lemmas)
    most = Rational(29, 30)
    more, short = shortened(made, of, {"Lambda": most, "G": Integer(0), "S": Integer(0), "B": Integer(56)})
    rate = Step(Le(most * lam, of["q"] * lam), given=(mu_L(),), note="29/30 ≤ 1 − μη̃/3")
    unscaled = Step(
        Le(Omega(r + 1), of["q"] * Omega(r) + of["N"] * QUOTIENT["N"] + 56 * QUOTIENT["B"]),
        given=(short, rate, parts_of_omega(r), parts_of_omega(r + 1)),
    )
    kept = Step(
        Le(eta_t * Omega(r + 1), eta_t * of["q"] * Omega(r) + eta_t * (of["N"] * QUOTIENT["N"] + 56 * QUOTIENT["B"])),
        given=(unscaled,),
        where="A.38",
    )
    return _noise(goal, noise, of, kept, *steps, *more, rate, unscaled)


def _noise(goal: View, most: Expr, of: dict[str, Expr], kept: Step, *before: Step) -> Argument:
    """The noise's coefficient: at most `most`/n under the step-size condition; the printed 6 only if that gives it."""
    term = QUOTIENT["N"] * (eta_t if kept.where == "A.38" else 1)
    shown = Step(Le(of["N"], most / n), note=f"{most} from the step-size condition")
    times = Step(Le(of["N"] * term, most / n * term), given=(shown,), note=f"{most}, times its term")
    bound = Step(Le(kept.claim.lhs, kept.claim.rhs.subs(sigma, 0) + most / n * term), given=(kept, times))
    printed = Step(goal.relations[0], given=(bound,), note="6 from the step-size condition")
    return Argument((*before, kept, shown, times, bound, printed), bound)


# --- the theorems ----------------------------------------------------------------------------------------------------


def before(end: Expr) -> Expr:
    """The sum over the rounds before this one."""
    return Sum(G2(l), (l, 1, end - 1))


def weighted(V: Function, w: Expr) -> tuple[Known, Known]:
    """V is F − F* + w |Λ − mean|²/(n η̃), in this round and the next."""
    because = "V is F − F* and a part of |Λ − mean|²/(n η̃)"
    return (
        on_run(Eq(V(r), gap(r) + w * lam), because),
        on_run(Eq(V(r + 1), gap(r + 1) + w * lam2(r + 1) / (n * eta_t)), f"{because}, in the next round", at=ENDED),
    )


def at_first(V: Function, w: Expr) -> Known:
    less = () if w == 1 else (((1 - w) / eta_t, Square(Lambda - mean_over(Lambda), "mean")),)
    return on_run(Le(V(1), Omega(1)), "V ≤ Ω: a smaller weight", *less, at=(1, t))


def theorem_3_5(goal: View, one_round: View) -> Argument:
    """The paper's way: (A.33) telescoped, 6/0.3 = 20 and 56/0.3 ≤ 187."""
    error = one_round.rhs - Omega(r) + Rational(3, 10) * eta_t * G2(r)
    telescoped = Induction(
        Le(Omega(r) + Rational(3, 10) * eta_t * before(r), Omega(1) + (r - 1) * error),
        over=r,
        start=1,
        base=(sum_empty(G2(l), l, 1),),
        step=(one_round.holds(), sum_next(G2(l), l, 1, r - 1)),
        note="telescoped",
    )
    mean = defined(mean_G2(R), PROPOSED)
    bound = Step(
        Le(mean_G2(R), Omega(1) / (Rational(3, 10) * eta_t * R) + error / (Rational(3, 10) * eta_t)),
        given=(telescoped.at(R + 1), mean),
    )
    return Argument((telescoped, bound, Step(goal.relations[0], given=(bound,))), bound)


def theorem_3_6(goal: View, one_round: View) -> Argument:
    """The paper's way: (A.38) over η̃, telescoped; a geometric sum divides by μη̃/3."""
    q = 1 - mu * eta_t / 3
    error = one_round.rhs.subs(Omega(r), 0) / eta_t
    divided = Step(Le(Omega(r + 1), q * Omega(r) + error), given=(one_round.holds(),), where="after A.38")
    rate = Step(And(Le(0, q), Le(q, 1)), given=(mu_L(),), note="0 ≤ 1 − μη̃/3 ≤ 1")
    claim = Le(Omega(r), q ** (r - 1) * Omega(1) + 3 * error / (mu * eta_t))
    many = Induction(claim, over=r, start=1, step=(divided, rate), note="telescoped")
    bound = Step(Le(Omega(R + 1), q**R * Omega(1) + 3 * error / (mu * eta_t)), given=(many.at(R + 1),))
    return Argument((divided, rate, many, bound, Step(goal.relations[0], given=(bound,))), bound)


def theorem_3_5_anew(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    """Not through (A.33), which is false: |Λ − mean|² with the weight 1/10 instead of 1 makes 6 true again.

    V^r = F − F* + |Λ − mean|²/(10 n η̃) ≤ Ω^r falls by 0.3 η̃|𝒢|² up to 6 and 56; telescoped, 6/0.3 = 20, 56/0.3 ≤ 187.
    """
    w = WEIGHT
    steps, made, of = gathered(False, w, local, direction, mismatch)
    most = {"Lambda": w, "G": Rational(-3, 10), "S": Integer(0), "B": Integer(56), "N": 6 / n}
    more, short = shortened(made, of, most)
    error = 6 / n * QUOTIENT["N"] + 56 * QUOTIENT["B"]
    value, onward = weighted(V, w)
    round_ = Step(Le(V(r + 1), V(r) - Rational(3, 10) * eta_t * G2(r) + error), given=(short, value, onward))
    telescoped = Induction(
        Le(V(r) + Rational(3, 10) * eta_t * before(r), V(1) + (r - 1) * error),
        over=r,
        start=1,
        base=(sum_empty(G2(l), l, 1),),
        step=(round_, sum_next(G2(l), l, 1, r - 1)),
        note="telescoped",
    )
    first = at_first(V, w)
    mean = defined(mean_G2(R), PROPOSED)
    bound = Step(
        Le(mean_G2(R), Omega(1) / (Rational(3, 10) * eta_t * R) + error / (Rational(3, 10) * eta_t)),
        given=(telescoped.at(R + 1), first, mean),
    )
    return Argument((*steps, *more, round_, telescoped, bound, Step(goal.relations[0], given=(bound,))), bound)


def theorem_3_6_anew(goal: View, local: View, direction: View, mismatch: View) -> Argument:
    """Not through (A.38), which is false: |Λ − mean|² with a small weight until the last two rounds.

    With weight w the noise adds at most (9/5 + 34 w)/n. A weight w' is enough for the next round's w if
    5 x² + 20 w x²/η_g² ≤ 29/30 w', so that 1 needs 3/20 a round before, that 7/100, and that itself.
    """
    weights, V = WEIGHTS_PL, V_k
    before = (weights[0], weights[0], weights[1])
    q, steps, rounds = 1 - mu * eta_t / 3, list[Step](), list[Step]()
    errors: list[Expr] = []
    for k, (w, earlier) in enumerate(zip(weights, before, strict=True)):
        own, made, of = gathered(True, w, local, direction, mismatch)
        noise, extra = (Rational(9, 5) + 34 * w) / n, 20 + 36 * w
        most = {"Lambda": Rational(29, 30) * earlier, "G": Integer(0), "S": Integer(0), "B": extra, "N": noise}
        more, short = shortened(made, of, most)
        rate = Step(Le(most["Lambda"] * lam, q * earlier * lam), given=(mu_L(),), note="29/30 ≤ 1 − μη̃/3")
        errors.append(noise * QUOTIENT["N"] + extra * QUOTIENT["B"])
        source = V[max(k - 1, 0)]
        value, onward = weighted(source, earlier)[0], weighted(V[k], w)[1]
        rounds.append(Step(Le(V[k](r + 1), q * source(r) + errors[k]), given=(short, rate, value, onward)))
        steps += [s for s in (*own, *more, rate, rounds[-1]) if s not in steps]
    floor = 3 * errors[0] / (mu * eta_t)
    limits = (floor, floor + errors[1], floor + errors[1] + errors[2])
    power = q ** (r - 1)
    claims = [Le(v(r), power * Omega(1) + limit) for v, limit in zip(V, limits, strict=True)]
    positive = Step(Ge(q, 0), given=(mu_L(),), note="1 − μη̃/3 > 0")
    below = Step(Le(q, 1), note="1 − μη̃/3 < 1")
    inductions: list[Induction] = []
    for k in range(3):
        source = [inductions[k - 1]] if k else []
        inductions.append(
            Induction(
                claims[k],
                over=r,
                start=1,
                base=(at_first(V[k], weights[k]),),
                step=(rounds[k], positive, below, *source),
                note=f"V_{k}",
            )
        )
    last = on_run(Eq(Omega(R + 1), V[2](R + 1)), "the last weight is 1: V_2 is Ω", at=(R + 1, t))
    bound = Step(Le(Omega(R + 1), q**R * Omega(1) + limits[2]), given=(inductions[2].at(R + 1), last))
    return Argument(
        (*steps, positive, below, *inductions, bound, Step(goal.relations[0], given=(bound, mu_L()))), bound
    )


def theorem_3_8(goal: View, local: View, mismatch: View) -> Argument:
    """The paper takes it from [33]; here from lemmas A.1 and A.2. D is E|P(x^r) − x*|².

    The proximal step is nonexpansive and keeps x*, a gradient step contracts by 1 − m, m = μη̃, and the noise of a round
    is uncorrelated with where the round starts. Everything else is small: u = η̃ L²/μ ≤ 1/150.
    """
    m, h, B2 = SHRINK, eta_t**2 / n, B_g**2
    D = dist2
    lam_r, lam_next = lam2(r) / n, lam2(r + 1) / n
    at_most_L = mu_sc_L()
    lemma_A_1 = Step(Le(20 * L**2 * eta_t**2, n), given=(at_most_L,), note="lemma A.1's condition")
    bounded = 60 * h * B2 + 10 * h * L**2 * D(r) + 5 * lam_r + 10 * h * N / tau
    of_Y = on_run(Eq(Y(r), bounded), "Y is what lemma A.1 gives for the drift over nτ")
    drifted = Step(Le(drift(r) / (n * tau), Y(r)), given=(local.holds(lemma_A_1), map_(), of_Y), note="lemma A.1")
    gradients, bounded_bias = gradients_of_clients()
    smooth = Step(Le(bias2(r, tau), L**2 * drift(r) / (n * tau)), given=(bias_of_clients(), bounded_bias), note="bias")
    noise = Step(
        Le(mean_noise2(r, tau) / tau**2, N / (n * tau)), given=(mean_noise().at(tau),), note="noise of the mean"
    )
    leaning = Induction(Eq(kept_apart(r, l), 0), over=l, base=(no_lean(),), step=(lean(l),), note="uncorrelated")
    less = Step(Le(m, Rational(1, 150)), given=(at_most_L,), note="m ≤ 1/150")
    shrinks = Step(
        Le((1 + m) * pushed2(r), (1 - m) * D(r)), given=(contraction(), at_most_L, less), note="(1 + m)(1 − m)² ≤ 1 − m"
    )
    biased = Step(
        Le((2 + 1 / m) * eta_t**2 * bias2(r, tau), (2 + 1 / m) * eta_t**2 * L**2 * Y(r)), given=(smooth, drifted)
    )
    onward = Step(
        Le(D(r + 1), (1 - m) * D(r) + (2 + 1 / m) * eta_t**2 * L**2 * Y(r) + 2 * eta_t**2 * N / (n * tau)),
        given=(split(), shrinks, biased, noise, leaning.at(tau)),
        note="the distance after a round",
    )
    c = 4 * h * L**2
    lambda_ = Step(
        Le(lam_next, c * (D(r + 1) + D(r)) + c * Y(r) + 4 * h * N / tau),
        given=(mismatch.holds(lemma_A_1), moved(), map_(), of_Y),
        note="lemma A.2",
    )
    kappa = (1 + c) * (2 + 1 / m) * eta_t**2 * L**2 + c
    error = (1 + c) * 2 * eta_t**2 * N / (n * tau) + 4 * h * N / tau
    scaled = Step(Le((1 + c) * D(r + 1), (1 + c) * onward.claim.rhs), given=(onward,))
    together = Step(
        Le(D(r + 1) + lam_next, ((1 + c) * (1 - m) + c) * D(r) + kappa * Y(r) + error),
        given=(scaled, lambda_),
        note="both parts",
    )
    small = Step(Le(c, 4 * m / 150), given=(at_most_L,), note="4 η̃² L²/n ≤ 4m/150")
    tiny = Step(Le(kappa, Rational(1, 100)), given=(at_most_L, less, small), note="what the drift is multiplied by")
    times = Step(Le(kappa * Y(r), Y(r) / 100), given=(tiny,), note="times the drift")
    q = 1 - m / 3
    of_D = Step(Le((1 + c) * (1 - m) + c + h * L**2 / 10, q), given=(small, less), note="coefficient of D")
    of_lambda = Step(Le(Rational(1, 20), q), given=(less,), note="coefficient of |Λ − mean|²/n")
    both = [
        Step(Le(step.claim.lhs * term, step.claim.rhs * term), given=(step,))
        for step, term in ((of_D, D(r)), (of_lambda, lam_r))
    ]
    total = 7 * eta_t**2 * N / (n * tau) + h * B2
    slack = Step(Le(error + h * N / (10 * tau), 7 * eta_t**2 * N / (n * tau)), given=(small, less), note="noise: 7")
    value = [defined(Omega_sc(at), PROPOSED) for at in (r, r + 1)]
    after, steady = D(r + 1) + lam_next, ((1 + c) * (1 - m) + c) * D(r)
    drift_in = Step(Le(after, steady + Y(r) / 100 + error), given=(together, times))
    opened = Step(
        Le(after, steady + h * L**2 / 10 * D(r) + lam_r / 20 + h * N / (10 * tau) + error + h * B2),
        given=(drift_in, of_Y),
    )
    quieter = Step(Le(after, steady + h * L**2 / 10 * D(r) + lam_r / 20 + total), given=(opened, slack))
    contracting = Step(Le(after, q * D(r) + q * lam_r + total), given=(quieter, *both))
    round_ = Step(Le(Omega_sc(r + 1), q * Omega_sc(r) + total), given=(contracting, *value), note="one round")
    rate = Step(And(Le(0, q), Le(q, 1)), given=(less,), note="0 ≤ 1 − m/3 ≤ 1")
    many = Induction(
        Le(Omega_sc(r), q ** (r - 1) * Omega_sc(1) + 3 * total / m),
        over=r,
        start=1,
        step=(round_, rate),
        note="all rounds",
    )
    bound = Step(Le(Omega_sc(R + 1), q**R * Omega_sc(1) + 3 * total / m), given=(many.at(R + 1),))
    parts = (lemma_A_1, drifted, *gradients, mean_noise(), smooth, noise, leaning)
    first = (*parts, less, shrinks, biased, onward, lambda_, scaled, together, small, tiny, times)
    then = (of_D, of_lambda, *both, slack, drift_in, opened, quieter, contracting, round_, rate, many)
    return Argument((*first, *then, bound, Step(goal.relations[0], given=(bound,))), bound)
