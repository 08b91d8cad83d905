"""The variance of sampling without replacement (93)."""

from ...language.algebra import Eq, Ge, Max
from ...language.derivation import Argument, Derivation, Step, View
from ...language.rule_expressions import expect, mean, norm2
from ...language.statement import Statement
from ...proofs.premise_identity import shown
from ...proofs.settings.uniform_subset import direction, on_a_subset
from .symbols import GLOSSARY, r

_s, _n = GLOSSARY.symbol, GLOSSARY.count
M = _n("M", "how many numbers there are", "n")
I = _n("I", "how many of them are taken", "rn")  # noqa: E741 (as in the setting)
deviation = _s("deviation", "1", "E|mean of the subset - mean|^2",
    r"\mathbb{E}\bigl|\frac{\sum_{i\in A} a_i}{rn} - \mu\bigr|^2", nonnegative=True)  # fmt: skip
among = _s("among", "1", "variance of all numbers", r"\sigma^2", nonnegative=True)

_drawn, _all = mean(direction, over="sampled"), mean(direction)
ON_NUMBERS = on_a_subset(
    "appendix G, (93)",
    GLOSSARY,
    {deviation: expect(norm2(_drawn - _all)), among: expect(mean(norm2(direction - _all)))},
    I,
    M,
)


def _without_replacement(goal: View) -> Argument:
    """Each pair of different places has the same covariance, which is what the mean of a subset has for its law."""
    whole = shown(
        Eq(deviation, (M - I) / (I * Max(M - 1, 1)) * among), "I variances, I (I - 1) covariances", ON_NUMBERS
    )
    first = Step(goal.relations[0], given=(whole,), where="(93), first equality")
    second = Step(goal.relations[1], given=(whole,), where="(93), second equality")
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
