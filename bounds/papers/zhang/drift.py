"""The paper's proofs of lemmas A.1 and A.2 and of (A.29), line by line (appendix A.4, A.5)."""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false
# pyright: reportOptionalOperand=false

from functools import cache

from sympy import Eq, Expr, Ge, Integer, Le, Rational, Sum, Symbol, exp
from sympy.logic.boolalg import Boolean

from ...decide.facts import (
    exp_lower,
    exp_number,
    geometric,
    power_monotone,
    power_positive,
    power_sign,
    power_sum,
    sum_empty,
    sum_next,
    sum_splits,
    termwise,
)
from ...language.derivation import Argument, Induction, Known, Step, View
from ...proofs.premise_identity import defined
from .frames import (
    LOCAL,
    apart2,
    begins,
    bias2,
    bias_of_clients,
    clients_apart,
    clients_lambda,
    clients_off,
    direction,
    exact2,
    local_model,
    m,
    mapped,
    mean_apart2,
    mean_noise2,
    mean_of_noise,
    mismatch,
    no_gradient,
    no_mean_noise,
    no_noise,
    noise2,
    one_more_gradient,
    summed_noise,
)
from .frames import NOISE as N
from .methods import PROPOSED
from .symbols import G2, B_g, L, S, drift, i, l, lam2, lam2_i, mean_off2, n, off2, r, step2, t, tau


def only(step: Step, *before: Step | Induction) -> Argument:
    """A proof whose last step is the claim itself."""
    return Argument((*before, step), step)


def _one_term(term: Expr) -> tuple[Known, Known]:
    return sum_next(term, l, 0, Integer(-1)), sum_empty(term, l, 0)


def off_until(end: Expr) -> Expr:
    return Sum(off2(r, l, i), (l, 0, end))


@cache
def noise() -> Induction:
    return Induction(
        Le(noise2(r, m, i), m * N),
        over=m,
        base=(no_noise(),),
        step=(summed_noise(m),),
        where="A.17",
        note="noise of a client",
    )


@cache
def gradients() -> Induction:
    return Induction(
        Le(apart2(r, m, i), m * L**2 * off_until(m - 1)),
        over=m,
        base=(no_gradient(),),
        step=(*one_more_gradient(m), sum_next(off2(r, l, i), l, 0, m - 1)),
        note="Jensen and L-smoothness",
    )


@cache
def mean_noise() -> Induction:
    return Induction(
        Le(mean_noise2(r, m), m * N / n),
        over=m,
        base=(no_mean_noise(),),
        step=(mean_of_noise(m),),
        note="noise of the mean",
    )


def one_local_step(A: Expr, t: Symbol) -> tuple[list[Step | Induction], Step]:
    """(A.19) for client i: E|z_{t+1} − P|² ≤ 8 (t+1) η² L² S_t + A."""
    eta = LOCAL / tau
    more = S(r, t + 1, i) - S(r, t, i)
    within = (Le(t + 1, tau - 1),)
    moved = Step(
        Eq(more, off2(r, t + 1, i)),
        given=(defined(S(r, t, i), PROPOSED), defined(S(r, t + 1, i), PROPOSED), sum_next(off2(r, l, i), l, 0, t)),
    )
    pgd = Step(
        Le(2 * exact2(r, t + 1), 16 * LOCAL**2 * B_g**2 + 4 * LOCAL**2 * G2(r)),
        given=(mapped(t),),
        where="A.13",
        under=within,
    )
    parts = Step(
        Le(
            8 * eta**2 * (noise2(r, t + 1, i) + apart2(r, t + 1, i)),
            8 * (t + 1) * eta**2 * N + 8 * (t + 1) * eta**2 * L**2 * S(r, t, i),
        ),
        given=(noise().at(t + 1), gradients().at(t + 1), defined(S(r, t, i), PROPOSED)),
        where="A.18",
    )
    share = Step(Le((t + 1) ** 2 / tau**2 * lam2_i(r, i), lam2_i(r, i)), under=within, note="t + 1 ≤ τ")
    local = Step(
        Le(more, 8 * (t + 1) * eta**2 * L**2 * S(r, t, i) + A),
        given=(moved, local_model(t), pgd, parts, share),
        where="A.19",
        under=within,
    )
    return [noise(), gradients(), moved, pgd, parts, share, local], local


def recursion(A: Expr, growth: Expr, t: Symbol) -> tuple[list[Step | Induction], Step]:
    """S_{t+1} ≤ growth S_t + A, where 8 (t+1) η² L² ≤ growth − 1."""
    steps, local = one_local_step(A, t)
    rate = Step(
        Le(8 * (t + 1) * LOCAL**2 / tau**2 * L**2, growth - 1), note="rate of the drift", under=(Le(t + 1, tau),)
    )
    first = Step(
        Le(S(r, t + 1, i), growth * S(r, t, i) + A), given=(local, rate), where="A.20", under=(Le(t + 1, tau - 1),)
    )
    return [*steps, rate, first], first


@cache
def at_start() -> Step:
    return Step(
        Eq(S(r, 0, i), 0),
        given=(
            defined(S(r, 0, i), PROPOSED),
            *_one_term(off2(r, l, i)),
            begins(),
        ),
        note="z_{i,0} = P",
    )


def drift_recursion(goal: View) -> Argument:
    growth = goal.rhs.coeff(S(r, t, i))
    steps, first = recursion(goal.rhs.subs(S(r, t, i), 0), growth, t)
    return only(Step(goal.relations[0], given=(first,)), *steps)


def drift_sum(goal: View, one_step: View) -> Argument:
    """(A.20) repeated; every term of the geometric sum is at most e^(1/8) ≤ 1.15."""
    summed, printed = goal.relations
    growth = one_step.rhs.coeff(S(r, t, i))
    A = one_step.rhs.subs(S(r, t, i), 0)
    powers = Induction(
        Le(S(r, t, i), A * (growth**t - 1) / (growth - 1)),
        over=t,
        base=(at_start(),),
        step=(one_step.holds(),),
        under=(Le(t, tau - 1),),
        where="A.21",
    )
    second = Step(summed, given=(powers.at(tau - 1), geometric(x=growth, n=tau - 1)), where="A.21")
    return Argument((at_start(), powers, second, *_geometric_sum(growth, printed)), second)


def _geometric_sum(growth: Expr, printed: Boolean) -> tuple[Step, ...]:
    """Every term of the geometric sum is at most e^(1/8) ≤ 1.15."""
    top = exp(Rational(1, 8))
    raised = Step(
        Le(growth**tau, top), given=(exp_lower(x=growth - 1), power_monotone(x=growth, y=exp(growth - 1), n=tau))
    )
    rest = power_monotone(x=1, y=growth, n=tau - l)
    small = Step(
        Le(growth**l, growth**tau),
        given=(rest, power_positive(x=growth, n=l), power_sum(x=growth, n=l, m=tau - l)),
        under=(Le(l, tau),),
    )
    term = Step(
        Le(growth**l, Rational(115, 100)),
        given=(small, raised, exp_number(Rational(1, 8), Rational(115, 100))),
        under=(Le(l, tau),),
    )
    all_terms = termwise(Le(growth**l, Rational(115, 100)), l, 0, tau - 2, term)
    count = Step(Le(Sum(growth**l, (l, 0, tau - 2)), Rational(115, 100) * tau), given=(all_terms,))
    return raised, small, term, count, Step(printed, given=(count,), where="A.21")


def drift_sum_with_short_steps(goal: View) -> Argument:
    """Under lemma A.1's own condition: the first steps are short, so that S_t is at most 5/8 t (t + 1)/τ A, below t A.

    After t + 1 steps the noise is (t + 1)/τ of that in A, all else ((t + 1)/τ)² of it, where (A.20) has 1; and
    8 (t+1) η² L² ≤ 2 (t + 1)/(5 τ²).
    """
    summed, printed = goal.relations
    (total,) = (part for part in summed.rhs.atoms(Sum) if part.function.has(l))
    growth, A = total.function.base, summed.rhs / total
    share, within = (t + 1) / tau, (Le(t + 1, tau - 1),)
    (_, _, moved, _, parts, *_), _ = one_local_step(A, t)
    exact = Step(
        Le(2 * exact2(r, t + 1), share**2 * (16 * LOCAL**2 * B_g**2 + 4 * LOCAL**2 * G2(r))),
        given=(mapped(t),),
        where="A.13",
    )
    short = Step(
        Le(share**2 * (16 * LOCAL**2 * B_g**2 + 4 * LOCAL**2 * G2(r) + 4 * lam2_i(r, i)),
           share * (16 * LOCAL**2 * B_g**2 + 4 * LOCAL**2 * G2(r) + 4 * lam2_i(r, i))),
        under=within,
        note="t + 1 ≤ τ",
    )  # fmt: skip
    shorter = Step(
        Le(S(r, t + 1, i) - S(r, t, i), 8 * share * LOCAL**2 / tau * L**2 * S(r, t, i) + share * A),
        given=(moved, local_model(t), exact, parts, short),
        under=within,
        note="A.19 with short steps",
    )
    rate = Step(Le(8 * LOCAL**2 * L**2, Rational(2, 5)), note="η̃ ≤ η_g/(√20 L)")
    positive = Step(Ge(A, 0))
    slow = Step(
        Le(S(r, t + 1, i), (1 + Rational(2, 5) * share / tau) * S(r, t, i) + share * A),
        given=(shorter, rate),
        under=within,
    )
    bound = Rational(5, 8) * t * (t + 1) / tau * A
    early = Induction(
        Le(S(r, t, i), bound), over=t, base=(at_start(),), step=(slow, positive), under=(Le(t, tau - 1),),
        where="in place of A.20",
    )  # fmt: skip
    ones = termwise(Ge(growth**l, 1), l, 0, tau - 2, power_monotone(x=1, y=growth, n=l))
    many = Step(Ge(total, tau - 1), given=(ones,), note="every term of the geometric sum is at least 1")
    second = Step(summed, given=(early.at(tau - 1), many, positive), where="A.21")
    counted = _geometric_sum(growth, printed)
    used = (
        noise(),
        gradients(),
        moved,
        parts,
        exact,
        short,
        shorter,
        rate,
        positive,
        slow,
        at_start(),
        early,
        many,
        second,
    )
    return Argument((*used, *counted), second)


def _same_terms(one: Expr, two: Expr, *given: Known | Step) -> tuple[Known, Known]:
    return termwise(Le(one, two), i, 1, n, *given), termwise(Ge(one, two), i, 1, n, *given)


@cache
def summed_drift() -> tuple[Step, Step, Induction, Step]:
    """The drift is the sum over the clients of S: from step to step, and at the end of the round."""
    more = S(r, m, i) + off2(r, m + 1, i)
    first = Step(Eq(S(r, 0, i), off2(r, 0, i)), given=(defined(S(r, 0, i), PROPOSED), *_one_term(off2(r, l, i))))
    onward = Step(
        Eq(S(r, m + 1, i), more),
        given=(defined(S(r, m, i), PROPOSED), defined(S(r, m + 1, i), PROPOSED), sum_next(off2(r, l, i), l, 0, m)),
    )
    swapped = Induction(
        Eq(n * Sum(mean_off2(r, l), (l, 0, m)), Sum(S(r, m, i), (i, 1, n))),
        over=m,
        base=(clients_off(Integer(0)), *_one_term(mean_off2(r, l)), *_same_terms(S(r, 0, i), off2(r, 0, i), first)),
        step=(
            clients_off(m + 1),
            sum_next(mean_off2(r, l), l, 0, m),
            sum_splits(i, 1, n, S(r, m, i), off2(r, m + 1, i)),
            *_same_terms(S(r, m + 1, i), more, onward),
        ),
        note="over clients and steps",
    )
    whole = Step(
        Eq(drift(r), Sum(S(r, tau - 1, i), (i, 1, n))),
        given=(defined(drift(r), PROPOSED), swapped.at(tau - 1)),
        note="the drift is the sum over the clients",
    )
    return first, onward, swapped, whole


def over_clients(goal: View, client: Step, most: Expr, *before: Step | Induction) -> Argument:
    """The drift is the sum over the clients of what each has at most; then what is printed."""
    shared, per_client = most.subs(lam2_i(r, i), 0), most.expand().coeff(lam2_i(r, i))
    linear = sum_splits(i, 1, n, shared, per_client * lam2_i(r, i))
    clients = termwise(Le(S(r, tau - 1, i), shared + per_client * lam2_i(r, i)), i, 1, n, client)
    reached = Step(
        Le(drift(r), n * shared + per_client * lam2(r)),
        given=(summed_drift()[-1], linear, clients, clients_lambda()),
        note="over clients",
    )
    return Argument(
        (*before, client, *summed_drift(), reached, Step(goal.relations[0], given=(reached,), where="A.8")), reached
    )


def lemma_A_1_printed(goal: View, summed: View) -> Argument:
    """As printed: (A.21), summed over the clients."""
    most = summed.relations[1].rhs
    parts = (summed.holds(part=0), summed.holds(part=1))
    client = Step(Le(S(r, tau - 1, i), most), given=parts, where="A.21", under=(Le(1, i), Le(i, n)))
    return over_clients(goal, client, most)


def lemma_A_1(goal: View) -> Argument:
    """As printed, with the recursion that η̃ ≤ η_g/(√20 L) gives: (A.20) asks for η̃ ≤ η_g/(8L), which is more.

    8 (t+1) η² L² ≤ 2/(5τ), and (1 + 2/(5τ))^(τ−1) ≤ e^(2/5) ≤ 3/2 makes the sum 5τ/4 · A: 5, 20 and 10 are 5/4 of 4,
    16 and 8.
    """
    rho = Rational(2, 5) / tau
    A = 16 * LOCAL**2 * B_g**2 + 4 * LOCAL**2 * G2(r) + 4 * lam2_i(r, i) + 8 * LOCAL**2 / tau * N
    steps, first = recursion(A, 1 + rho, t)
    powers = Induction(
        Le(S(r, t, i), A * ((1 + rho) ** t - 1) / rho),
        over=t,
        base=(at_start(),),
        step=(first,),
        under=(Le(t, tau - 1),),
        where="in place of A.21",
    )
    raised = Step(
        Le((1 + rho) ** tau, exp(Rational(2, 5))),
        given=(exp_lower(x=rho), power_monotone(x=1 + rho, y=exp(rho), n=tau)),
    )
    last = power_sign(x=1 + rho, n=tau - 1)
    fewer = Step(
        Le((1 + rho) ** (tau - 1), Rational(3, 2)),
        given=(raised, exp_number(Rational(2, 5), Rational(3, 2)), last, power_sum(x=1 + rho, n=tau - 1, m=Integer(1))),
    )
    most = Rational(5, 4) * tau * A
    client = Step(Le(S(r, tau - 1, i), most), given=(powers.at(tau - 1), fewer))
    return over_clients(goal, client, most, *steps, at_start(), powers, raised, fewer)


def gradients_of_clients() -> tuple[list[Step | Induction], Step]:
    """mean over the clients of |Σ (∇f_i(z) − ∇f_i(P))|² ≤ τ L²/n times the drift."""
    each = Step(
        Le(apart2(r, tau, i), tau * L**2 * S(r, tau - 1, i)),
        given=(gradients().at(tau), defined(S(r, tau - 1, i), PROPOSED)),
    )
    clients = termwise(Le(apart2(r, tau, i), tau * L**2 * S(r, tau - 1, i)), i, 1, n, each)
    averaged = Step(
        Le(mean_apart2(r, tau), tau * L**2 / n * drift(r)),
        given=(clients_apart(), clients, summed_drift()[-1]),
        note="Jensen and L-smoothness, over the clients",
    )
    return [gradients(), *summed_drift(), each, averaged], averaged


def lemma_A_2(goal: View, local: View) -> Argument:
    """(A.22) to (A.24), then lemma A.1."""
    steps, drifted = gradients_of_clients()
    each = Step(Le(noise2(r, tau, i), tau * N), given=(noise().at(tau),))
    quiet = termwise(Le(noise2(r, tau, i), tau * N), i, 1, n, each)
    gathered = Step(
        Le(lam2(r + 1), LOCAL**2 * (2 * L**2 * n * step2(r) + 4 * L**2 / tau * drift(r) + 4 * n / tau * N)),
        given=(mismatch(), drifted, quiet),
        where="A.24",
    )
    return only(Step(goal.relations[0], given=(gathered, local.holds())), noise(), *steps, each, gathered)


def direction_error(goal: View) -> Argument:
    """(A.29): the noise of all steps and clients, and what smoothness says of the gradients' bias."""
    steps, drifted = gradients_of_clients()
    variance = Step(Le(mean_noise2(r, tau) / tau**2, N / (n * tau)), given=(mean_noise().at(tau),), note="noise")
    smooth = Step(Le(bias2(r, tau), L**2 * drift(r) / (n * tau)), given=(bias_of_clients(), drifted), note="bias")
    return only(Step(goal.relations[0], given=(direction(), variance, smooth)), mean_noise(), *steps, variance, smooth)
