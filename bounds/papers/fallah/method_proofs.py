"""How appendices F and G go: proposition F.1 by induction, corollary F.2, the moments, the descent, theorem 4.5.

L_F, sigma_F and gamma_F stay closed: only what lemmas 4.2 to 4.4 say of them is used, as premises.
"""

from typing import Any

from ...decide.facts import bernoulli, exp_lower, power_monotone
from ...language.algebra import Eq, Function, Integer, Le, Rational, Sum, Symbol, e, exp
from ...language.derivation import Argument, Induction, Known, Step, View
from .method_symbols import (
    YZ2,
    Z2,
    Delta,
    averaged2,
    drift,
    drift2,
    level,
    level_end,
    level_next,
    mean2,
    product,
    product_all,
    round2,
    sampled2,
    sampled2_all,
    slope2,
    slope2_all,
)
from .symbols import D0, L_F, K, L, alpha, beta, gamma_F, i, n, r, sigma_F, sigma_G, t, tau

CLOSED = (L_F, sigma_F, gamma_F, r)
LEMMAS = ("bounded_gradients", "smooth", "lipschitz_hessian")
SIMILAR = (*LEMMAS, "similar_gradients", "similar_hessians")
NOISY = (*LEMMAS, "gradient_variance", "hessian_variance")
EVERYTHING = (*NOISY, "similar_gradients", "similar_hessians")
SHARE = (1 - r) / (r * (n - 1))
BOTH = 2 * sigma_F**2 + gamma_F**2


def _real(name: str) -> Any:
    return Symbol(name, real=True)


def _size(name: str) -> Any:
    return Symbol(name, nonnegative=True)


def _premise(claim: Any, because: str, *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


def _growing(measured: Any, factor: Any, gain: Any, because: str) -> tuple[Induction, tuple[Known, ...]]:
    """x(j + 1) <= factor x(j) + gain from x(0) = 0, factor >= 1: x(j) <= j factor^(j - 1) gain; `measured` is x(t)."""
    j, x = Symbol("j", integer=True, nonnegative=True), Function("x", nonnegative=True)
    start = _premise(Eq(x(0), 0), "all users start from w_k")
    onward = _premise(Le(x(j + 1), factor * x(j) + gain), because, *EVERYTHING)
    grown = Induction(
        Le(x(j), j * factor ** (j - 1) * gain),
        over=j,
        base=(start,),
        step=(onward, bernoulli(x=factor - 1, n=j)),
        where="(66)" if measured == drift else "(79)",
    )
    return grown, (_premise(Eq(measured, x(t)), "what is measured after t updates"),)


def proposition_a(goal: View) -> Argument:
    """(65), and so on (66). The paper's (61) has beta twice in 2 beta sigma_F, which the next line does not use."""
    grown, here = _growing(drift, 1 + 2 * beta * L_F, 2 * beta * (sigma_F + gamma_F), "(65)")
    last = Step(goal.relations[0], given=(grown.at(t), *here), where="(57a)")
    return Argument((grown, last), last)


def proposition_b(goal: View) -> Argument:
    """(78), and so on (79)."""
    phi = Symbol("phi", positive=True)
    factor = 1 + phi + 16 * (1 + 1 / phi) * beta**2 * L_F**2
    grown, here = _growing(drift2, factor, 4 * (1 + 1 / phi) * beta**2 * BOTH, "(78)")
    last = Step(goal.relations[0], given=(grown.at(t), *here), where="(57b)")
    return Argument((grown, last), last)


def corollary_a(goal: View, cited: View) -> Argument:
    """(1 + 1/(5 tau))^(t-1) <= e^(1/5) <= 2."""
    x = 1 + 2 * beta * L_F
    short = Step(Le(x, 1 + 1 / (5 * tau)), where="beta <= 1/(10 tau L_F)")
    tangent = Step(Le(1 + 1 / (5 * tau), exp(1 / (5 * tau))), given=(exp_lower(x=1 / (5 * tau)),), where="(80)")
    both = Step(Le(x, exp(1 / (5 * tau))), given=(short, tangent))
    raised = Step(
        Le(x**tau, exp(Rational(1, 5))), given=(both, power_monotone(x=x, y=exp(1 / (5 * tau)), n=tau)), where="(80)"
    )
    two = Known(Le(exp(Rational(1, 5)), 2), "e^(1/5) <= 2: a number", "premise")
    more = _exponents(x)
    last = Step(goal.relations[0], given=(cited.holds(), more, raised, two), where="(58a)")
    return Argument((short, tangent, both, raised, last), cited.holds())


def _exponents(x: Any) -> Known:
    return _premise(Le(t * x ** (t - 1), t * x**tau), "x >= 1 and t - 1 <= tau; for t = 0 both are 0")


def corollary_b(goal: View, cited: View) -> Argument:
    """phi = 1/(2 tau): (81), then 4 (1 + 2 tau) e <= 35 tau."""
    x = 1 + 1 / (2 * tau) + 16 * (1 + 2 * tau) * beta**2 * L_F**2
    squared = Step(Le((10 * tau * beta * L_F) ** 2, 1), where="beta <= 1/(10 tau L_F)")
    short = Step(Le(x, 1 + 1 / tau), given=(squared,), where="(81)")
    tangent = Step(Le(1 + 1 / tau, exp(1 / tau)), given=(exp_lower(x=1 / tau),), where="(80)")
    both = Step(Le(x, exp(1 / tau)), given=(short, tangent))
    raised = Step(Le(x**tau, e), given=(both, power_monotone(x=x, y=exp(1 / tau), n=tau)), where="(80)")
    number = Known(Le(12 * e, 35), "12 e <= 35: a number", "premise")
    more = _exponents(x)
    last = Step(goal.relations[0], given=(cited.holds(), more, raised, number), where="(58b)")
    return Argument((squared, short, tangent, both, raised, last), cited.holds())


def equation_95(goal: View, spread: View) -> Argument:
    """(94) is (93) for the users' points; t <= tau - 1."""
    sampled = _premise(Eq(averaged2, SHARE * drift2), "(93) for the users' points, on which A_k does not depend")
    whole = _premise(Le(r, 1), "A_k is a set of users")
    longest = Step(Le(drift2, 35 * beta**2 * tau * (tau - 1) * BOTH), given=(spread.holds(),), where="(58b)")
    last = Step(goal.relations[0], given=(sampled, longest, whole), where="(95)")
    return Argument((longest, last), last)


def equation_97(goal: View, sampled: View) -> Argument:
    smooth = _premise(Le(Z2, L_F**2 * averaged2), "(96), by lemma 4.2", *LEMMAS)
    last = Step(goal.relations[0], given=(smooth, sampled.holds()), where="(97)")
    return Argument((last,), last)


def equation_101(goal: View, spread: View, last_moment: View) -> Argument:
    """(92) and (97); at least one user takes part."""
    Y2, split = _size("Y2"), _size("YZ2_split")
    longest = Step(Le(drift2, 35 * beta**2 * tau * (tau - 1) * BOTH), given=(spread.holds(),), where="(58b)")
    smooth = _premise(Le(Y2, L_F**2 * drift2), "(91), by lemma 4.2, and a uniform A_k", *LEMMAS)
    young = _premise(Le(YZ2, split), "|Y + Z|^2 <= 2 |Y|^2 + 2 |Z|^2")
    named = _premise(Eq(split, 2 * Y2 + 2 * Z2), "a name")
    taken = _premise(Le(SHARE, 1), "at least one user takes part: (1 - r)/(r (n - 1)) <= 1")
    first = Step(goal.relations[0], given=(longest, smooth, young, named, last_moment.holds()), where="(92), (97)")
    second = Step(goal.relations[1], given=(taken,), where="(101)")
    return Argument((longest, first, second), (first, second))


def equation_99(goal: View) -> Argument:
    """w_t does not depend on A_k, so that the chance to be in it is the same for every user, whatever w_t is."""
    along, chance = Function("along", real=True), _size("chance")
    drawn = _premise(
        Eq(product_all, Sum(along(i), (i, 1, n)) * chance / (r * n)),
        "along(i) = E grad F(w_t)'grad F_i(w_t), times the chance that i is in A_k, which w_t does not depend on",
    )
    fair = _premise(Eq(chance, r), "A_k is uniform among the sets of r n users")
    whole = _premise(Eq(slope2_all, Sum(along(i), (i, 1, n)) / n), "grad F is the average of the grad F_i")
    last = Step(goal.relations[0], given=(drawn, fair, whole), where="(99)")
    return Argument((last,), last)


def equation_105_printed(goal: View, identity: View) -> Argument:
    """As printed: the gradients at wbar_t as if A_k were drawn after it, from (99) and (93)."""
    apart, among = _size("apart"), _size("among_users")
    split = _premise(
        Eq(sampled2, slope2 + 2 * (product - slope2) + apart),
        "apart = E|A's mean of grad F_i - grad F|^2 at wbar_t",
    )
    sampled = _premise(Eq(apart, SHARE * among), "(93) for the gradients at wbar_t, which depends on A_k")
    lemma = _premise(Le(among, gamma_F**2), "lemma 4.4", *SIMILAR)
    whole = _premise(Le(r, 1), "A_k is a set of users")
    last = Step(goal.relations[0], given=(split, identity.holds(), sampled, lemma, whole), where="(105)")
    return Argument((last,), last)


def equation_105(goal: View) -> Argument:
    among = _size("among_users")
    sampled = _premise(Eq(sampled2_all, slope2_all + SHARE * among), "(93) for the gradients at w_t")
    lemma = _premise(Le(among, gamma_F**2), "lemma 4.4", *SIMILAR)
    whole = _premise(Le(r, 1), "A_k is a set of users")
    last = Step(goal.relations[0], given=(sampled, lemma, whole), where="(105)")
    return Argument((last,), last)


def _descent(goal: View, inner: Any, sampled: Any, facts: tuple[Known | Step, ...], cross: Any) -> Argument:
    """(83) to (108). E grad F(wbar)'(A's mean of grad F_i) is `inner`, its part of second moment `sampled`."""
    X2, Y2, YZ2, bias2, whole2, M = (_size(name) for name in ("X2", "Y2", "YZ2", "mean_X2", "whole2", "M"))
    along, biased = _real("along"), _size("biased")
    named = [
        _premise(Eq(M, (beta * L_F) ** 2 * tau * (tau - 1) * BOTH), "a name for what stands in (92)"),
        _premise(Eq(biased, 4 * alpha**2 * L**2 * sigma_G**2 / D0), "a name for what stands in (100)"),
    ]
    smooth = _premise(
        Le(level_next - level, -beta * along + L_F / 2 * beta**2 * whole2), "(83): F is L_F-smooth", *LEMMAS
    )
    share = _size("share")
    y = _premise(Le(Y2, 35 * M), "(92), from corollary F.2", *EVERYTHING)
    z = _premise(Le(Z2, 35 * share * M), "(97)", *EVERYTHING)
    rest = _premise(Le(YZ2, 2 * Y2 + 2 * Z2), "(101): |Y + Z|^2 <= 2 |Y|^2 + 2 |Z|^2")
    taken = _premise(Le(share, 1), "at least one user takes part: (1 - r)/(r (n - 1)) <= 1")
    both = Step(Le(YZ2, 140 * M), given=(y, z, rest, taken), where="(101)")
    young = _premise(
        Le(inner - slope2 / 4 - bias2 - slope2 / 4 - YZ2, along), "(98), (100): Young, once for Y + Z, once for X"
    )
    bias = _premise(Le(bias2, biased), "lemma 4.3", *NOISY)
    lower = Step(Le(slope2 / 2 - cross - 140 * M - biased, along), given=(young, bias, both, *facts[:1]), where="(102)")
    split = _premise(Le(whole2, 4 * X2 + 4 * YZ2 + 2 * sampled), "(103), and |X + Y + Z|^2 <= 2 |X|^2 + 2 |Y + Z|^2")
    noise = _premise(Le(X2, sigma_F**2), "(90), by lemma 4.3", *NOISY)
    second = slope2 + 2 * cross + SHARE * gamma_F**2
    upper = Step(
        Le(whole2, 2 * second + 4 * sigma_F**2 + 560 * M), given=(split, noise, both, *facts[1:2]), where="(106)"
    )
    u = Step(Le(beta * L_F, Rational(1, 10)), where="beta <= 1/(10 tau L_F)")
    tail = _size("tail")
    error = 280 * M + biased + 2 * beta * L_F * sigma_F**2 + beta * L_F * tail + (1 + 2 * beta * L_F) * cross
    put = _premise(Eq(tail, SHARE * gamma_F**2), "a name for the sampling error")
    first = Step(
        Le(
            level_next - level,
            -beta * (slope2 / 2 - cross - 140 * M - biased)
            + beta * (beta * L_F) * (slope2 + 2 * cross + tail + 2 * sigma_F**2 + 280 * M),
        ),
        given=(smooth, lower, upper, put),
        where="(107), first line",
    )
    descent = Step(Le(level_next - level + beta / 4 * slope2, beta * error), given=(first, u), where="(107)")
    last = Step(goal.relations[0], given=(descent, *named, put, *facts[2:]), where="(107), (108)")
    return Argument((*_steps(facts), both, lower, upper, u, first, descent, last), last)


def _steps(facts: tuple[Known | Step, ...]) -> tuple[Step, ...]:
    return tuple(fact for fact in facts if isinstance(fact, Step))


def equation_107(goal: View, identity: View, moment: View) -> Argument:
    """As printed, from (99) and (105)."""
    return _descent(goal, product, moment.lhs, (identity.holds(), moment.holds()), Integer(0))


def equation_107_repaired(goal: View, sampled: View) -> Argument:
    """With u = grad F(w_t), u' = grad F(wbar_t) and xi = A's mean of grad F_i(w_t), less u: E u xi = 0, E u' xi is not.

    E u' (u' + xi) >= E|u'|^2 - cross and E|u' + xi|^2 <= E|u'|^2 + 2 cross + E|xi|^2, where cross = |E (u' - u) xi|.
    """
    inner, moment, cross = _real("inner"), _size("moment"), _size("cross")
    share, G2, b2 = _size("s"), _size("G2"), _size("b2")
    low = _premise(Le(slope2 - cross, inner), "E u'(u' + xi) = E|u'|^2 + E (u' - u) xi")
    high = _premise(Le(moment, slope2 + 2 * cross + SHARE * gamma_F**2), "(93), lemma 4.4: E|xi|^2", *SIMILAR)
    schwarz = _premise(
        Le(cross**2, L_F**2 * averaged2 * SHARE * gamma_F**2), "Cauchy-Schwarz, lemma 4.2, (93) and lemma 4.4", *SIMILAR
    )
    whole = _premise(Le(0, (tau - 1) * (tau - 2)), "no whole number lies between 1 and 2")
    fits = _premise(Le(0, SHARE), "r <= 1: A_k is a set of users")
    named = [
        _premise(Eq(share, SHARE * beta * L_F), "a name"),
        _premise(Eq(G2, gamma_F**2), "a name"),
        _premise(Eq(b2, BOTH), "a name"),
    ]
    plain = Step(
        Le(cross**2, 35 * share**2 * tau * (tau - 1) * b2 * G2), given=(schwarz, sampled.holds(), fits, *named)
    )
    less = Step(Le(G2, b2), given=tuple(named))
    square = Step(Le(cross**2, (9 * share * (tau - 1) * b2) ** 2), given=(plain, less, whole))
    root = Step(Le(cross, 9 * share * (tau - 1) * b2), given=(square,))
    short = Step(Le(beta * L_F, Rational(1, 10)), where="beta <= 1/(10 tau L_F)")
    more = Step(Le((1 + 2 * beta * L_F) * cross, 11 * share * (tau - 1) * b2), given=(root, short))
    argument = _descent(goal, inner, moment, (low, high, more, *named), cross)
    return Argument((plain, less, square, root, short, *argument.steps), argument.bound)


s = Symbol("s", integer=True, nonnegative=True)  # updates of a round, or rounds, so far
f, g = Function("f", real=True), Function("g", nonnegative=True)  # E F and E|grad F|^2 there
UPDATE = {level_next: f(s + 1), level: f(s), slope2: g(s), t: s}  # (107) at every update, in the mean
ROUND = {level_end: f(s + 1) - f(s), round2: g(s)}  # (109) in every round, in the mean over what came before


def _added(descent: View, slope: Any, count: Any, where: str) -> tuple[Any, Induction]:
    """f(s + 1) - f(s) + slope g(s) <= rate, added up over `count`: total(s) is what g adds up to before s."""
    total = Function("total", nonnegative=True)
    none = _premise(Eq(total(0), 0), "a sum of nothing")
    more = _premise(Eq(total(s + 1), total(s) + g(s)), "what a sum is")
    added = Induction(
        Le(f(s) - f(0) + slope * total(s), s * descent.rhs),
        over=s,
        base=(none,),
        step=(descent.holds(), more),
        where=where,
        under=(Le(s, count),),
    )
    return total(count), added


def equation_109(goal: View, descent: View) -> Argument:
    """(107) at every update of a round, added up."""
    total, added = _added(descent, beta / 4, tau, "(109), summed")
    ends = _premise(Eq(f(tau) - f(0), level_end), "wbar_tau = w_{k+1}")
    means = _premise(Eq(total, tau * round2), "the mean over the round's updates")
    last = Step(goal.relations[0], given=(added.at(tau), ends, means), where="(109)")
    return Argument((added, last), last)


def theorem(goal: View, descent: View) -> Argument:
    """(110) and (111)."""
    total, added = _added(descent, beta * tau / 4, K, "(110)")
    ends = _premise(Le(f(0) - f(K), Delta), "F >= F^*", "meta_gap")
    means = _premise(Eq(total, K * mean2), "the mean over all rounds")
    last = Step(goal.relations[0], given=(added.at(K), ends, means), where="(111)")
    return Argument((added, last), last)
