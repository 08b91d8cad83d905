"""Lemma B.8: the second moment of a weighted sum of independent vectors, one step at a time."""

from sympy import E as e
from sympy import Eq, Expr, Function, Ge, Sum, Symbol

from ...decide.facts import inverse_e, power_decreasing, power_monotone, power_sign, sum_next, termwise
from ...language.assumptions import INDEPENDENT, UNBIASED
from ...language.derivation import Argument, Induction, Step, View
from ...language.method import Method
from ...language.rule_expressions import expect, inner, mean, noisy, norm2, start, vector
from ...language.rule_parts import zero
from ...proofs.atoms import Variance
from ...proofs.frame import Frame
from ...proofs.premise_identity import defined, shown
from .symbols import GLOSSARY, E, i, k, p, sigma
from .symbols_perturbed import j

_s = GLOSSARY.symbol
lam = _s("lambda", "1", "smaller contraction in one step (lemmas B.7, B.8)", r"\lambda")
M = GLOSSARY.count("M", "number of random vectors a step (lemma B.8)")
noise_sum2 = _s("noise_sum2", "F^2/W^2", "E |sum_k (1-lambda)^k sum_i p_i zeta^i_k|^2",
    r"\mathbb E\|\sum_{k=0}^{E-1}(1-\lambda)^k\sum_{i=1}^M p_i\boldsymbol\zeta_k^i\|^2", nonnegative=True)  # fmt: skip
mean2 = _s("mean2", "F^2/W^2", "|sum_i p_i Z_i|^2", r"\|\sum_{i=1}^M p_i\mathbf Z_i\|^2", nonnegative=True)
factor = Function("factor", real=True)  # (1 - lambda)^k
moment, along = Function("moment", nonnegative=True), Function("along", real=True)
_sum, _Z = vector("s"), vector("Z", r"\mathbf Z_i")


ON_SUMS = Frame(  # the sums of every i; their mean with the weights p_i, which are any reals, is the sum of the lemma
    Method(
        id="noise_sum",
        title="Weighted sums of independent vectors",
        cite="lemma B.8",
        glossary=GLOSSARY,
        server={},
        client={_Z: start, _sum: zero},
        begin={_sum: zero},
        local={_sum: _sum + factor(k) * noisy(_Z)},
        measures={
            moment(k): expect(norm2(mean(_sum))),
            along(k): expect(inner(mean(_sum), mean(_Z))),
            mean2: expect(norm2(mean(_Z))),
        },
        formulas={noise_sum2: moment(E), factor(k): (1 - lam) ** k},
    ),
    {},
    (Symbol("t", integer=True, nonnegative=True), k, i, j),
    (E, M),
    p,
    {UNBIASED: ("independent", ()), INDEPENDENT: ("independent", ())},
)


def lemma_B_8(goal: View) -> Argument:
    """The second moment (B.34, B.35); each weight (1 − λ)^k is at least (1 − λ)^(E−1) ≥ 1/e."""
    (weights,) = goal.rhs.atoms(Sum)
    n = Symbol("n", integer=True, nonnegative=True)

    def plain(count: Expr) -> Expr:
        return Sum((1 - lam) ** n, (n, 0, count - 1))

    def squares(count: Expr) -> Expr:
        return Sum((1 - lam) ** (2 * n), (n, 0, count - 1))

    power = defined(factor(k), ON_SUMS.method)
    means = Induction(
        Eq(along(k), mean2 * plain(k), evaluate=False),
        over=k,
        base=(shown(Eq(along(0), 0), "an empty sum", ON_SUMS),),
        step=(
            shown(Eq(along(k + 1), along(k) + factor(k) * mean2), "one more term, whose noise has mean zero", ON_SUMS),
            power,
            sum_next((1 - lam) ** n, n, 0, k - 1),
        ),
        note="E|x|² = V x + |E x|²",
        where="B.34",
    )
    further = shown(
        Ge(moment(k + 1), moment(k) + 2 * factor(k) * along(k) + factor(k) ** 2 * (mean2 + sigma**2 * weights)),
        "variances of independent terms add",
        ON_SUMS,
        (factor(k) ** 2, Variance(_Z, sigma, "squares", least="independent")),
    )
    terms = (sum_next((1 - lam) ** n, n, 0, k - 1), sum_next((1 - lam) ** (2 * n), n, 0, k - 1))
    added = Induction(
        Ge(moment(k), sigma**2 * weights * squares(k) + plain(k) ** 2 * mean2),
        over=k,
        base=(shown(Eq(moment(0), 0), "an empty sum", ON_SUMS),),
        step=(further, means, power, *terms),
        note="variances of independent terms add",
        where="B.35",
    )
    whole = Step(
        Ge(goal.lhs, sigma**2 * weights * squares(E) + plain(E) ** 2 * mean2),
        given=(added.at(E), defined(goal.lhs, ON_SUMS.method)),
        where="B.34, B.35",
    )
    smallest = (1 - lam) ** (E - 1)
    shrinking = power_decreasing(x=1 - lam, n=n, m=E - 1 - n)
    variance = Step(
        Ge(squares(E), E * smallest**2),
        given=(termwise(Ge((1 - lam) ** (2 * n), smallest**2), n, 0, E - 1, shrinking),),
    )
    drift = Step(Ge(plain(E), E * smallest), given=(termwise(Ge((1 - lam) ** n, smallest), n, 0, E - 1, shrinking),))
    at_least = Step(Ge(smallest, 1 / e), given=(power_monotone(x=1 - 1 / E, y=1 - lam, n=E - 1), inverse_e(n=E)))
    together = Step(
        Ge(goal.lhs, E * sigma**2 * weights * smallest**2 + E**2 * smallest**2 * mean2),
        given=(whole, variance, drift, power_sign(x=1 - lam, n=E - 1)),
    )
    last = Step(goal.relations[0], given=(together, at_least))
    return Argument((means, added, whole, variance, drift, at_least, together, last), whole)
