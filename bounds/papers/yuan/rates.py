"""Rates and communication complexities: section 1.2, table 1, remarks 1, 6 and 7.

Claims about formulas, decided as orders of growth. `order` of a row of table 1 is the printed row. Rows that the table
quotes from other papers are not audited against their sources; what this paper says about them is.
"""

from dataclasses import replace
from typing import Any

from ...algebra import Eq, Ge, Le, Lt, Max, Min, Rational, sqrt
from ...statement import Assumption, Statement
from .symbols import GLOSSARY, Delta, Delta_rho, G, I, L, M, T, b, eta, rho
from .theorems import BOUND_2, STEP_1, THEOREM_1, THIRD, bound_3, step_3

epsilon = GLOSSARY.symbol("epsilon", "1", "accuracy in units of L Delta + G^2 (of Delta_rho/rho + G^2)", r"\epsilon")
K = GLOSSARY.count("K", "half of the devices")
step = GLOSSARY.symbol("step", "1", "eta L", r"\eta L")
shrinks = GLOSSARY.symbol("shrinks", "1", "factor by which a local step comes closer to its minimiser", "r")


def _claim(label: str, title: str, cite: str, then: Any, **rest: Any) -> Statement:
    return Statement(
        id=f"yuan/{label}", kind="order", title=title, cite=cite, method="order", glossary=GLOSSARY, then=then, **rest
    )


# --- rates: (1.4), (1.5), (1.6) ---------------------------------------------------------------------------------------


def smooth_rate(size: Any) -> Any:
    """(1.4) with size = I, (1.6) with size = b I."""
    return Max(T ** (-2 * THIRD), 1 / sqrt(T * size))


SMOOTH_1, SMOOTH_3, ROUGH = smooth_rate(I), smooth_rate(b * I), 1 / sqrt(T)
UNIT, UNIT_RHO = L * Delta + G**2, (Delta_rho + rho * G**2) / rho
BOUND_1 = THEOREM_1.relations[0].rhs
AT_1, AT_3 = {eta: STEP_1}, {eta: step_3(b * I)}

FORMULAS = "a claim about formulas: the left side is the inequality that ends the theorem's proof, at its step size"
EVERYTHING = "no constant is hidden in O but numbers: L, G, Delta, rho, I and b may grow or vanish, and Delta may be 0"
ENVELOPE_MEANT = (
    "printed with the gradient of the risk on the left; the theorem is about that of its Moreau envelope, which is"
    " meant: a risk without smoothness need not have a gradient, nor need a gradient be small close to a minimum"
)

EQUATION_1_4 = _claim(
    "eq1.4",
    "FedProx, smooth: the inequality of theorem 1 gives its printed order",
    "equation (1.4), theorem 1",
    Le(BOUND_1, UNIT * SMOOTH_1),
    where=AT_1,
    order=SMOOTH_1,
    reading=(FORMULAS, EVERYTHING),
)
EQUATION_1_5 = _claim(
    "eq1.5",
    "FedProx, non-smooth: the inequality of theorem 2 gives its printed order",
    "equation (1.5), theorem 2",
    Le(BOUND_2, UNIT_RHO * ROUGH),
    order=ROUGH,
    reading=(FORMULAS, EVERYTHING, ENVELOPE_MEANT),
)
EQUATION_1_6 = _claim(
    "eq1.6",
    "FedMSPP, smooth: the inequality of theorem 3 gives its printed order",
    "equation (1.6), theorem 3",
    Le(bound_3(b * I), UNIT * SMOOTH_3),
    where=AT_3,
    order=SMOOTH_3,
    reading=(FORMULAS, EVERYTHING),
)
NON_SMOOTH = replace(
    EQUATION_1_5,
    id="yuan/eq1.6-nonsmooth",
    title="FedMSPP, non-smooth: the inequality of theorem 4 gives its printed order",
    cite="section 1.2, display below (1.6); theorem 4",
)

# --- where the rates cross, and the rounds that they ask for ----------------------------------------------------------

NOT_YET = (
    "about formulas: T is any number of rounds after which the theorem's bound is still epsilon or more, and the claim"
    " bounds the largest of them"
)
RELATIVE = "epsilon is measured in units of the factor that the rate leaves out, L Delta + G^2"


def _crossed(label: str, cite: str, size: Any, few: bool) -> Statement:
    """Which term of the rate is the larger one, and the rounds until it is epsilon."""
    rate = smooth_rate(size)
    term, rounds = (
        (T ** (-2 * THIRD), epsilon ** Rational(-3, 2)) if few else (1 / sqrt(T * size), 1 / (size * epsilon**2))
    )
    return _claim(
        label,
        f"The rate for {'few' if few else 'many'} rounds, and its communication complexity",
        cite,
        (Eq(rate, term), Le(T, rounds)),
        when=(Lt(T, size**3) if few else Ge(T, size**3), Le(epsilon, rate)),
        order=rounds,
        reading=(f"{NOT_YET} (second relation)", RELATIVE),
    )


FEW_1 = _crossed("eq1.4-few-rounds", "section 1.2, below (1.4): T < I^3", I, True)
MANY_1 = _crossed("eq1.4-many-rounds", "section 1.2, below (1.4): T >= I^3", I, False)
FEW_3 = _crossed("eq1.6-few-rounds", "section 1.2, below (1.6): T < (b I)^3", b * I, True)
REMARK_7 = replace(
    _crossed("rem7", "remark 7, section 3.1", b * I, False),
    title="FedMSPP for T >= (b I)^3: the bound of theorem 3 is O(1/sqrt(T b I)), and its communication complexity",
    then=(Le(bound_3(b * I), UNIT / sqrt(T * b * I)), Le(T, 1 / (b * I * epsilon**2))),
    when=(Ge(T, (b * I) ** 3), Le(epsilon * UNIT, bound_3(b * I))),
    where=AT_3,
    reading=(
        f"{NOT_YET} (second relation)",
        RELATIVE,
        "what this shows about the method, linear speedup in b and in I, is yuan/rem7-speedup",
    ),
)

# --- the method on two groups of devices ------------------------------------------------------------------------------


def two_groups(size: Any) -> tuple[Any, dict[Any, Any]]:
    """E|grad R(w_t*)|^2 of the exact method, I of 2 K devices in a round, theorem 3's step with `size` for b I."""
    settled = G**2 / 4 * step / (2 + step) * (M - I) / (I * (M - 1))
    decay = (1 - shrinks ** (2 * T)) / ((1 - shrinks**2) * T)
    return settled * (1 - decay), {step: Min(T**-THIRD, sqrt(size / T)) / 8, shrinks: 1 / (1 + step), M: 2 * K}


PRINTED, AT_PRINTED = two_groups(b * I)
TWO_GROUPS = (
    "K devices with the risk L (w - a)^2/2 and K with L (w + a)^2/2 between -a and a, continued with slopes +-G, "
    "G = 2 L a; w_0 = 0, so that Delta = 0; every local problem solved exactly. Data without randomness: b has no "
    "effect but on the step size",
    "the left side is what the method does there, in closed form (the kernel's world `fedmspp` computes the same, and"
    " the tests compare both): E w_t^2 = r^2 E w_{t-1}^2 + (1 - r)^2 a^2 (M - I)/(I (M - 1)), averaged over t < T",
    "a consequence of the printed order on some problems, so that every constant in it falls with it",
)
SPEEDUP = _claim(
    "rem7-speedup",
    "Linear speedup of FedMSPP in b for T >= (b I)^3, on two groups of devices",
    "remark 7, last sentence; abstract, 3)",
    Le(PRINTED, G**2 / sqrt(T * b * I)),
    when=(Lt(I, M), Ge(T, (b * I) ** 3)),
    where=AT_PRINTED,
    reading=TWO_GROUPS,
)
REPAIRED, AT_REPAIRED = two_groups(I)
SPEEDUP_REPAIRED = replace(
    SPEEDUP,
    id="yuan/rem7-speedup~repaired",
    title="Linear speedup of FedMSPP in I for T >= I^3, on two groups of devices",
    then=Le(REPAIRED, G**2 / sqrt(T * I)),
    when=(Lt(I, M), Ge(T, I**3)),
    where=AT_REPAIRED,
    repairs="I for b I, in the step size too: minibatches do not average out which devices were drawn",
)
METHOD_1_6 = replace(
    SPEEDUP,
    id="yuan/eq1.6-two-groups",
    title="The rate (1.6) of FedMSPP on two groups of devices",
    cite="equation (1.6), theorem 3",
    then=Le(PRINTED, G**2 * SMOOTH_3),
    when=(Lt(I, M),),
)
METHOD_1_6_REPAIRED = replace(
    METHOD_1_6,
    id="yuan/eq1.6-two-groups~repaired",
    then=Le(REPAIRED, G**2 * SMOOTH_1),
    where=AT_REPAIRED,
    repairs=SPEEDUP_REPAIRED.repairs,
)

# --- (1.5) as printed, on two devices ---------------------------------------------------------------------------------

AT_REST = {eta: rho / sqrt(T), Delta_rho: G**2 * eta**2 / (8 * (2 * eta + rho))}
GRADIENT = _claim(
    "eq1.5-gradient",
    "The rate (1.5) as printed, with the gradient of the risk itself, on two devices",
    "equation (1.5)",
    Le(G**2 / 16, UNIT_RHO * ROUGH),
    where=AT_REST,
    reading=(
        "two devices, both in every round, exact local solutions: one has the risk w^2/(2 eta) for |w| <= G eta, "
        "continued with slopes +-G, the other one -G w/2 plus a constant, up to a point far to the right. Both are "
        "convex and G-Lipschitz. From w_0 = G eta the first one moves to G eta/2, the second one to 3 G eta/2: their "
        "mean stays, and the gradient of the risk is (G - G/2)/2 there in every round",
        "the left side is what the method does there (the kernel's world `fedmspp` computes the same, and the tests "
        "compare both); with a kink |w| in place of the parabola it is one problem for all T, with a gradient at every "
        "iterate",
        "a consequence of the printed order on some problems, so that every constant in it falls with it",
    ),
)
GRADIENT_REPAIRED = replace(
    GRADIENT,
    id="yuan/eq1.5-gradient~repaired",
    title="The rate (1.5) with the gradient of the Moreau envelope, on two devices",
    then=Le((G * eta / (2 * (2 * eta + rho))) ** 2, UNIT_RHO * ROUGH),
    repairs="the gradient of the Moreau envelope, which theorem 2 is about, for that of the risk",
)

# --- comparisons of rates ---------------------------------------------------------------------------------------------

many_rounds = Assumption("grows", (T,), "rates are compared for large T")
all_grow = Assumption("grows", (T, I), "large T, and I = O(M) in large networks: I grows with M")


def constant(*symbols: Any) -> Assumption:
    return Assumption("fixed", symbols, f"{' = O(1) and '.join(map(str, symbols))} = O(1)")


SLOWER = "slower: the other one is o(it), not only O(it)"
REMARK_1 = _claim(
    "rem1",
    "The rate of theorem 1 is slower than 1/T",
    "remark 1, section 2.1",
    Lt(1 / T, SMOOTH_1),
    let=(many_rounds,),
    reading=(SLOWER, "1/T is what the remark quotes from Li et al. (2020b); that it holds there is not audited"),
)
COMPARABLE_1 = _claim(
    "rem6-comparable",
    "For I = O(1), (1.4) and (1.5) are comparable",
    "section 1.2, below (1.5); remark 6, second sentence",
    Eq(SMOOTH_1, ROUGH),
    let=(constant(I),),
    reading=("comparable: each is O of the other",),
)
SLOWER_1 = _claim(
    "rem6-slower",
    "For I = O(M) in large networks, (1.5) is slower than (1.4)",
    "section 1.2, below (1.5); remark 6, third sentence",
    Lt(SMOOTH_1, ROUGH),
    let=(all_grow,),
    reading=(SLOWER, "I = O(M) is read as I of the order of M, which grows; O alone would allow I = 1"),
)
SLOWER_ALL = _claim(
    "rem6-all",
    "With all devices, T^(-1/2) is inferior to T^(-2/3)",
    "remark 6, last sentence",
    Lt(T ** (-2 * THIRD), ROUGH),
    let=(many_rounds,),
    reading=(SLOWER, "the rate T^(-2/3) is that of remark 2"),
)
COMPARABLE_3 = _claim(
    "eq1.6-comparable",
    "For b = O(1) and I = O(1), (1.6) and the non-smooth rate are comparable",
    "section 1.2, last sentence before table 1",
    Eq(SMOOTH_3, ROUGH),
    let=(constant(b, I),),
    reading=("comparable: each is O of the other",),
)

# --- table 1: this paper's rows ---------------------------------------------------------------------------------------


def smooth_row(size: Any) -> Any:
    return 1 / (size * epsilon**2) + epsilon ** Rational(-3, 2)


ROW_1, ROW_2, ROW_3, ROW_4 = smooth_row(I), epsilon**-2, smooth_row(b * I), epsilon**-2


def _row(label: str, title: str, row: Any, then: Any, **rest: Any) -> Statement:
    return _claim(f"table1-{label}", title, "table 1", then, order=row, **rest)


def _own(
    label: str, method: str, number: int, row: Any, bound: Any, unit: Any, where: dict[Any, Any], *reading: str
) -> Statement:
    return _row(
        label,
        f"{method}, theorem {number}: rounds of communication to an epsilon-stationary point",
        row,
        Le(T, row),
        when=(Le(epsilon * unit, bound),),
        where=where,
        reading=(NOT_YET, *reading, EVERYTHING),
    )


RELATIVE_RHO = "epsilon is measured in units of the factor that the rate leaves out, Delta_rho/rho + G^2"
STATIONARY_RHO = "stationary: of the Moreau envelope, as in the theorem"
TABLE_THEOREM_1 = _own("thm1", "FedProx", 1, ROW_1, BOUND_1, UNIT, AT_1, RELATIVE)
TABLE_THEOREM_2 = _own("thm2", "FedProx", 2, ROW_2, BOUND_2, UNIT_RHO, {}, RELATIVE_RHO, STATIONARY_RHO)
TABLE_THEOREM_3 = _own(
    "thm3",
    "FedMSPP",
    3,
    ROW_3,
    bound_3(b * I),
    UNIT,
    AT_3,
    RELATIVE,
    "from the theorem's bound; that the method does not meet it is yuan/thm3 and yuan/eq1.6-two-groups",
)
TABLE_THEOREM_3_REPAIRED = replace(
    _own("thm3~repaired", "FedMSPP", 3, ROW_1, bound_3(I), UNIT, {eta: step_3(I)}, RELATIVE),
    repairs="from yuan/thm3~repaired: 1/(I epsilon^2) unless all devices take part, whatever b is",
)
TABLE_THEOREM_4 = _own("thm4", "FedMSPP", 4, ROW_4, BOUND_2, UNIT_RHO, {}, RELATIVE_RHO, STATIONARY_RHO)

# --- table 1: rows of other papers ------------------------------------------------------------------------------------

small = Assumption("vanishes", (epsilon,), "complexities are compared for small epsilon")
QUOTED = (
    "the row is quoted from another paper, and whether it holds there is not audited; checked is what this paper says"
    " about it. The marks in the other columns are not checked"
)
AS_CONSTANTS = "b, I and M are constants when complexities are called comparable; only epsilon tends to 0"
numbers = Assumption("fixed", (M, I, b), AS_CONSTANTS)


def _quoted(label: str, title: str, row: Any, then: Any, *reading: str, **rest: Any) -> Statement:
    return _row(label, title, row, then, let=(small,), reading=(QUOTED, *reading), **rest)


INVERSE, THREE_HALVES = 1 / epsilon, epsilon ** Rational(-3, 2)
TABLE_FEDPROX = _quoted(
    "fedprox-li",
    "FedProx, Li et al. (2020b): 1/epsilon, and theorem 1 is slower",
    INVERSE,
    Lt(INVERSE, ROW_1),
    "section 1.2, below (1.4): 'our rate in (1.4) is slower'",
    SLOWER,
)
KARIMIREDDY = 1 / (b * I * epsilon**2) + THREE_HALVES + INVERSE
TABLE_FEDAVG = _quoted(
    "fedavg-karimireddy",
    "FedAvg, Karimireddy et al. (2020): theorem 3 is comparable",
    KARIMIREDDY,
    Eq(ROW_3, KARIMIREDDY),
    "'comparable to the best known results under partial participation as achieved by FedAvg': each is O of the other, "
    "for all b and I; the row's last term is never the largest one",
    "a hint, not a result: as we remember the source, sampled devices leave a term in 1/(I epsilon^2) there that b "
    "does not reduce, as they do in yuan/thm3~repaired",
)
YU = 1 / (b * M * epsilon**2) + M * b / epsilon
TABLE_YU = _quoted(
    "fedavg-yu",
    "FedAvg, Yu et al. (2019), all devices: no faster than theorem 3 with I = M",
    YU,
    (Le(ROW_3.subs(I, M), YU), Le(THREE_HALVES, YU)),
    "nothing is said about this row alone; 'comparable to the best-known rates' is read as: with all devices theorem 3 "
    "is no slower, for all b and M; and the row is never better than the next one, with which it agrees at b M = "
    "epsilon^(-1/2)",
)
TABLE_KHANDURI = _quoted(
    "fedavg-khanduri",
    "FedAvg, Khanduri et al. (2021): faster than 1/epsilon^2, no slower than theorem 3, slower than 1/epsilon",
    THREE_HALVES,
    (Lt(THREE_HALVES, ROW_2), Le(THREE_HALVES, ROW_3), Lt(INVERSE, THREE_HALVES)),
    "'1/epsilon^(3/2) bounds can be achieved by FedAvg', between our 1/epsilon^2 bounds and the 1/epsilon of STEM "
    "and FedPD",
)
SCAFFOLD = 1 / (b * I * epsilon**2) + (M / I) ** (2 * THIRD) / epsilon
COMPARABLE = "comparable: each is O of the other"
ALL_BOUNDS = "'all of our 1/epsilon^2 bounds ... comparable to those of SCAFFOLD and FCO': the rows of theorems 1 to 4"
TABLE_SCAFFOLD = _quoted(
    "scaffold",
    "SCAFFOLD, Karimireddy et al. (2020): theorems 1 to 4 are comparable",
    SCAFFOLD,
    tuple(Eq(row, SCAFFOLD) for row in (ROW_1, ROW_2, ROW_3)),
    ALL_BOUNDS,
    COMPARABLE,
    "the rows of theorems 2 and 4 are the same formula",
    implicit=(numbers,),
    when=(Le(I, M),),
)
FCO = 1 / (b * M * epsilon**2) + INVERSE
TABLE_FCO = _quoted(
    "fco",
    "FCO, Yuan et al. (2021), all devices: theorems 1 to 4 with I = M are comparable",
    FCO,
    tuple(Eq(row.subs(I, M), FCO) for row in (ROW_1, ROW_2, ROW_3)),
    ALL_BOUNDS,
    COMPARABLE,
    "FCO is for convex composite problems and all devices, so that I = M",
    "the rows of theorems 2 and 4 are the same formula",
    implicit=(Assumption("fixed", (M, b), AS_CONSTANTS),),
)


def _fast(label: str, title: str) -> Statement:
    return _quoted(
        label,
        title,
        INVERSE,
        (Lt(INVERSE, ROW_3), Lt(INVERSE, ROW_1), Lt(INVERSE, ROW_2)),
        "'substantially faster 1/epsilon bounds are possible': o of the rows of theorems 1 to 4, for all b and I",
    )


TABLE_FEDPD = _fast("fedpd", "FedPD, Zhang et al. (2020): substantially faster than theorems 1 to 4")
TABLE_STEM = _fast("stem", "STEM, Khanduri et al. (2021): substantially faster than theorems 1 to 4")
