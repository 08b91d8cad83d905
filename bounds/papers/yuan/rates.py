"""Rates as formulas: section 1.2, remarks 1, 6 and 7. Claims about formulas, decided as orders of growth.

What the theorems' bounds give (`~formula`): algebra on the right-hand side of the inequality that ends a proof. What
the method does is in `theorems`, `orders` and `table`.
"""

from typing import Any

from ...language.algebra import Eq, Ge, Le, Lt, Rational, sqrt
from ...language.statement import Assumption, Statement
from .orders import RATE_3, ROUGH, UNIT_RHO, claim, epsilon, many_rounds
from .symbols import I, T, b, eta
from .theorems import BOUND_2, RATE_1, STEP_1, THEOREM_1_INEQUALITY, THIRD, UNIT, bound_3, step_3

BOUND_1 = THEOREM_1_INEQUALITY.relations[0].rhs
AT_1, AT_3 = {eta: STEP_1}, {eta: step_3(b * I)}

# --- the theorems' inequalities and their printed orders --------------------------------------------------------------

FORMULAS = "a claim about formulas: the left side is the inequality that ends the theorem's proof, at its step size"
EVERYTHING = "no constant is hidden in O but numbers: L, G, Delta, rho, I and b may grow or vanish, and Delta may be 0"
ENVELOPE_MEANT = "the theorem is about the gradient of the Moreau envelope; (1.5) prints that of the risk: yuan/eq1.5"

FORMULA_1 = claim(
    "thm1~formula",
    "FedProx, smooth: the inequality of theorem 1 gives its printed order, (1.4)",
    "theorem 1, last two displays of its proof, appendix B.1; equation (1.4)",
    Le(BOUND_1, UNIT * RATE_1),
    where=AT_1,
    order=RATE_1,
    reading=(FORMULAS, EVERYTHING),
)
FORMULA_2 = claim(
    "thm2~formula",
    "FedProx, non-smooth: the inequality of theorem 2 gives its printed order",
    "theorem 2, end of its proof, appendix B.2; equation (1.5)",
    Le(BOUND_2, UNIT_RHO * ROUGH),
    order=ROUGH,
    reading=(FORMULAS, EVERYTHING, ENVELOPE_MEANT),
)
FORMULA_3 = claim(
    "thm3~formula",
    "FedMSPP, smooth: the inequality of theorem 3 gives its printed order, (1.6)",
    "theorem 3, last two displays of its proof, appendix C.1; equation (1.6)",
    Le(bound_3(b * I), UNIT * RATE_3),
    where=AT_3,
    order=RATE_3,
    reading=(FORMULAS, EVERYTHING),
)
FORMULA_4 = claim(
    "thm4~formula",
    "FedMSPP, non-smooth: the inequality of theorem 4 gives its printed order",
    "theorem 4, end of its proof, appendix C.2; section 1.2, display below (1.6)",
    Le(BOUND_2, UNIT_RHO * ROUGH),
    order=ROUGH,
    reading=(FORMULAS, EVERYTHING, ENVELOPE_MEANT),
)

# --- where the rates cross, and the rounds that they ask for ----------------------------------------------------------

NOT_YET = (
    "about formulas: T is any number of rounds after which the theorem's bound is still epsilon or more, and the claim"
    " bounds the largest of them"
)
RELATIVE = "epsilon is measured in units of the factor that the rate leaves out, L Delta + G^2"


def _crossed(label: str, cite: str, size: Any, rate: Any, few: bool) -> Statement:
    """Which term of the rate is the larger one, and the rounds until it is epsilon."""
    term, rounds = (
        (T ** (-2 * THIRD), epsilon ** Rational(-3, 2)) if few else (1 / sqrt(T * size), 1 / (size * epsilon**2))
    )
    return claim(
        label,
        f"The rate for {'few' if few else 'many'} rounds, and its communication complexity",
        cite,
        (Eq(rate, term), Le(T, rounds)),
        when=(Lt(T, size**3) if few else Ge(T, size**3), Le(epsilon, rate)),
        order=rounds,
        reading=(f"{NOT_YET} (second relation)", RELATIVE),
    )


FEW_1 = _crossed("eq1.4-few-rounds", "section 1.2, below (1.4): T < I^3", I, RATE_1, True)
MANY_1 = _crossed("eq1.4-many-rounds", "section 1.2, below (1.4): T >= I^3", I, RATE_1, False)
FEW_3 = _crossed("eq1.6-few-rounds", "section 1.2, below (1.6): T < (b I)^3", b * I, RATE_3, True)
REMARK_7_FORMULA = claim(
    "rem7~formula",
    "Theorem 3's bound for T >= (b I)^3 is O(1/sqrt(T b I)), and the rounds until it is epsilon",
    "remark 7, section 3.1, first sentence",
    (Le(bound_3(b * I), UNIT / sqrt(T * b * I)), Le(T, 1 / (b * I * epsilon**2))),
    when=(Ge(T, (b * I) ** 3), Le(epsilon * UNIT, bound_3(b * I))),
    where=AT_3,
    order=1 / (b * I * epsilon**2),
    reading=(f"{NOT_YET} (second relation)", RELATIVE, "what the method does is yuan/rem7"),
)

# --- comparisons of rates ---------------------------------------------------------------------------------------------

all_grow = Assumption("grows", (T, I), "large T, and I = O(M) in large networks: I grows with M")


def constant(*symbols: Any) -> Assumption:
    return Assumption("fixed", symbols, f"{' = O(1) and '.join(map(str, symbols))} = O(1)")


SLOWER = "slower: the other one is o(it), not only O(it)"
REMARK_1 = claim(
    "rem1",
    "The rate of theorem 1 is slower than 1/T",
    "remark 1, section 2.1",
    Lt(1 / T, RATE_1),
    let=(many_rounds,),
    reading=(SLOWER, "1/T is what the remark quotes from Li et al. (2020b); that it holds there is not audited"),
)
COMPARABLE_1 = claim(
    "rem6-comparable",
    "For I = O(1), (1.4) and (1.5) are comparable",
    "section 1.2, below (1.5); remark 6, second sentence",
    Eq(RATE_1, ROUGH),
    let=(constant(I),),
    reading=("comparable: each is O of the other",),
)
SLOWER_1 = claim(
    "rem6-slower",
    "For I = O(M) in large networks, (1.5) is slower than (1.4)",
    "section 1.2, below (1.5); remark 6, third sentence",
    Lt(RATE_1, ROUGH),
    let=(all_grow,),
    reading=(SLOWER, "I = O(M) is read as I of the order of M, which grows; O alone would allow I = 1"),
)
SLOWER_ALL = claim(
    "rem6-all",
    "With all devices, T^(-1/2) is inferior to T^(-2/3)",
    "remark 6, last sentence",
    Lt(T ** (-2 * THIRD), ROUGH),
    let=(many_rounds,),
    reading=(SLOWER, "the rate T^(-2/3) is that of remark 2"),
)
COMPARABLE_3 = claim(
    "eq1.6-comparable",
    "For b = O(1) and I = O(1), (1.6) and the non-smooth rate are comparable",
    "section 1.2, last sentence before table 1",
    Eq(RATE_3, ROUGH),
    let=(constant(b, I),),
    reading=("comparable: each is O of the other",),
)
