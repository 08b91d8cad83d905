"""The variance of sampling without replacement (93)."""

from ...algebra import Eq, Ge, Symbol
from ...derivation import Argument, Derivation, Known, Step, View
from ...statement import Statement
from .symbols import GLOSSARY, r

_s, _n = GLOSSARY.symbol, GLOSSARY.count
M = _n("M", "how many numbers there are", "n")
I = _n("I", "how many of them are taken", "rn")  # noqa: E741 (as in the setting)
deviation = _s("deviation", "1", "E|mean of the subset - mean|^2",
    r"\mathbb{E}\bigl|\frac{\sum_{i\in A} a_i}{rn} - \mu\bigr|^2", nonnegative=True)  # fmt: skip
among = _s("among", "1", "variance of all numbers", r"\sigma^2", nonnegative=True)


def _without_replacement(goal: View) -> Argument:
    """Each pair of different places has the same covariance."""
    together = Symbol(
        "together", real=True
    )  # the mean over pairs of different places of the product of their deviations
    subset = Known(
        Eq(deviation, (I * among + I * (I - 1) * together) / I**2), "I variances, I (I - 1) covariances", "premise"
    )
    whole = Known(Eq(M * among + M * (M - 1) * together, 0), "all n deviations add up to 0", "premise")
    first = Step(goal.relations[0], given=(subset, whole), where="(93), first equality")
    second = Step(goal.relations[1], given=(subset, whole), where="(93), second equality")
    return Argument((first, second), (first, second))


EQUATION_93 = Statement(
    id="fallah/eq93",
    kind="identity",
    title="The variance of sampling without replacement",
    cite="appendix G, (93)",
    method="subset",
    glossary=GLOSSARY,
    when=(Ge(M, 2),),
    then=(
        Eq(deviation, among / I * (1 - (I - 1) / (M - 1))),
        Eq(deviation, among * (1 - r) / (r * (M - 1))),
    ),
    where={r: I / M},
    reading=(
        "the subset is uniform among those of its size; n >= 2, since for n = 1 the formula is 0/0",
        "printed for numbers; the paper uses it for vectors, on which it is tried too",
    ),
    follows_from=(Derivation(_without_replacement),),
)
