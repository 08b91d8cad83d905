"""Table 1: the paper's own rows, of the method and of the theorems' bounds, and rows that it quotes.

A row T = O(row(epsilon)) says: a run of T rounds whose mean of E|grad|^2 is still e, in units of the factor that the
rate leaves out, has T <= C row(e). Where that stands, it is written out with the constant that the theorem gives; where
it falls, as an order on a family of problems. Rows of other papers are quoted; what this paper says about them is a
sibling (`~compared`).
"""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Ge, Le, Lt, Rational, sqrt
from ...language.derivation import Derivation
from ...language.statement import Assumption, Statement
from . import proofs
from .lemmas import INEXACT
from .orders import (
    AT_PRINTED,
    AT_REPAIRED,
    GROUPS,
    GROUPS_REPAIRED,
    IN_B,
    PRINTED,
    REPAIRED,
    ROUNDS,
    STANDING,
    STILL,
    STILL_1,
    TWO_GROUPS,
    UNIT_RHO,
    claim,
    epsilon,
    g,
    many_rounds,
)
from .rates import AT_1, AT_3, BOUND_1, EVERYTHING, NOT_YET, RELATIVE, SLOWER
from .run import FEDMSPP, picked2, picked_env2
from .symbols import DEVICES, GLOSSARY, G, I, L, M, T, b, eps, eta, lipschitz, nonnegative_loss, nu, rho, weakly_convex
from .theorems import (
    ACCURACY_1,
    BOUND_2,
    BRIDGE,
    CONVEX_TOO,
    ENVELOPE,
    LENGTHS,
    ONE_BASIS,
    PICKED,
    STEP_1,
    THEOREM_1_REPAIRED,
    THIRD,
    UNIT,
    WHOLE_SPACE,
    bound_3,
    exact_oracle,
    full_batch,
    step_3,
)

# --- this paper's rows ------------------------------------------------------------------------------------------------


def smooth_row(size: Any) -> Any:
    return 1 / (size * epsilon**2) + epsilon ** Rational(-3, 2)


ROW_1, ROW_2, ROW_3, ROW_4 = smooth_row(I), epsilon**-2, smooth_row(b * I), epsilon**-2
STATIONARY_RHO = "stationary: of the Moreau envelope, as in the theorem"
RELATIVE_RHO = "epsilon is measured in units of the factor that the rate leaves out, Delta_rho/rho + G^2"
EXACTLY = "the table says nothing of accuracies: exact local solutions are the kindest reading"
X, ENV = picked2(T), picked_env2(T)
TABLE_THEOREM_1 = Statement(
    id="yuan/table1-thm1~repaired",
    waits_for=INEXACT,
    kind="inequality",
    title="FedProx, theorem 1: O(1/(I epsilon^2) + 1/epsilon^(3/2)) rounds to an epsilon-stationary point",
    cite="table 1, second row",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=THEOREM_1_REPAIRED.let,
    when=THEOREM_1_REPAIRED.when,
    then=Le(T * I * X**2, 36 * UNIT**2 + 36 * I * UNIT ** Rational(3, 2) * sqrt(X)),
    sweep={eta: STEP_1},
    order=ROW_1,
    reading=(
        ONE_BASIS,
        PICKED,
        "T <= 36 (1/(I e^2) + e^(-3/2)) for e = E|grad R(w_t*)|^2/(L Delta + G^2), multiplied by I e^2, so that e may"
        " be 0: a run that is not yet epsilon-stationary has e > epsilon. 36 is what theorem 1's inequality gives",
        "the table says nothing of accuracies: local solutions are exact, or as good as yuan/thm1~repaired asks, which"
        " is kinder than the row, which names theorem 1 with its own accuracy: yuan/table1-thm1",
    ),
    repairs="local solutions that are exact, or as accurate as yuan/thm1~repaired asks",
    follows_from=(Derivation(proofs.row_1, cites=("yuan/thm1~repaired",)),),
)
TABLE_THEOREM_1_INEXACT = claim(
    "table1-thm1",
    "FedProx, theorem 1: O(1/(I epsilon^2) + 1/epsilon^(3/2)) rounds to an epsilon-stationary point",
    "table 1, second row; theorem 1, section 2.1",
    Le(g**2, epsilon * UNIT),
    let=(Assumption("fixed", (L, G, I, g), "constants of the order"), many_rounds),
    when=(Ge(T, ROW_1), Le(eps, ACCURACY_1), Le(g, G)),
    where={**STANDING, eta: STEP_1},
    order=ROW_1,
    reading=(*STILL, ROUNDS, LENGTHS),
    form=STILL_1,
)
TABLE_THEOREM_2 = Statement(
    id="yuan/table1-thm2",
    kind="inequality",
    title="FedProx, theorem 2: O(1/epsilon^2) rounds to an epsilon-stationary point",
    cite="table 1, third row",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=(*DEVICES, full_batch, nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(2 * rho * nu, 1), Eq(eta, rho / sqrt(T))),
    then=Le(T * ENV**2, 16 * UNIT_RHO**2),
    sweep=ENVELOPE,
    order=ROW_2,
    reading=(
        ONE_BASIS,
        PICKED,
        CONVEX_TOO,
        BRIDGE,
        "T <= 16/e^2 for e = E|grad R_rho(w_t*)|^2/(Delta_rho/rho + G^2), multiplied by e^2; theorem 2 gives 16",
        STATIONARY_RHO,
    ),
    follows_from=(Derivation(proofs.row_2, cites=("yuan/thm2~order",)),),
)
TABLE_THEOREM_3 = claim(
    "table1-thm3",
    "FedMSPP, theorem 3: O(1/(b I epsilon^2) + 1/epsilon^(3/2)) rounds to an epsilon-stationary point",
    "table 1, fourth row",
    Le(PRINTED, epsilon * G**2),
    when=(Lt(I, M), Ge(T, ROW_3)),
    where=AT_PRINTED,
    order=ROW_3,
    reading=(*TWO_GROUPS, ROUNDS, EXACTLY),
    form=GROUPS,
)
TABLE_THEOREM_3_REPAIRED = replace(
    TABLE_THEOREM_3,
    id="yuan/table1-thm3~repaired",
    title="FedMSPP: O(1/(I epsilon^2) + 1/epsilon^(3/2)) rounds to an epsilon-stationary point, on two groups",
    then=Le(REPAIRED, epsilon * G**2),
    when=(Lt(I, M), Ge(T, ROW_1)),
    where=AT_REPAIRED,
    order=ROW_1,
    repairs=IN_B,
    form=GROUPS_REPAIRED,
)
TABLE_THEOREM_4 = Statement(
    id="yuan/table1-thm4",
    kind="inequality",
    title="FedMSPP, theorem 4: O(1/epsilon^2) rounds to an epsilon-stationary point",
    cite="table 1, fifth row",
    method=FEDMSPP,
    glossary=GLOSSARY,
    let=(*DEVICES, nonnegative_loss, lipschitz, weakly_convex, exact_oracle),
    when=(Lt(2 * rho * nu, 1), Eq(eta, rho / sqrt(T))),
    then=Le(T * ENV**2, 16 * UNIT_RHO**2),
    sweep=ENVELOPE,
    order=ROW_4,
    reading=(
        ONE_BASIS,
        PICKED,
        CONVEX_TOO,
        BRIDGE,
        WHOLE_SPACE,
        "T <= 16/e^2 for e = E|grad R_rho(w_t*)|^2/(Delta_rho/rho + G^2), multiplied by e^2; theorem 4 gives 16",
        STATIONARY_RHO,
    ),
    follows_from=(Derivation(proofs.row_2, cites=("yuan/thm4~repaired~order",)),),
)


def _formula(number: int, row: Any, bound: Any, unit: Any, where: dict[Any, Any], *reading: str) -> Statement:
    return claim(
        f"table1-thm{number}~formula",
        f"Theorem {number}: the rounds until its bound is epsilon",
        f"table 1; the inequality that ends the proof of theorem {number}",
        Le(T, row),
        when=(Le(epsilon * unit, bound),),
        where=where,
        order=row,
        reading=(NOT_YET, *reading, EVERYTHING),
    )


FORMULA_1 = _formula(1, ROW_1, BOUND_1, UNIT, AT_1, RELATIVE)
FORMULA_2 = _formula(2, ROW_2, BOUND_2, UNIT_RHO, {}, RELATIVE_RHO, STATIONARY_RHO)
FORMULA_3 = _formula(3, ROW_3, bound_3(b * I), UNIT, AT_3, RELATIVE, "what the method does is yuan/table1-thm3")
FORMULA_3_REPAIRED = replace(
    _formula(3, ROW_1, bound_3(I), UNIT, {eta: step_3(I)}, RELATIVE),
    id="yuan/table1-thm3~formula-repaired",
    repairs="from yuan/thm3~repaired: 1/(I epsilon^2) unless all devices take part, whatever b is",
)
FORMULA_4 = _formula(4, ROW_4, BOUND_2, UNIT_RHO, {}, RELATIVE_RHO, STATIONARY_RHO)

# --- rows of other papers ---------------------------------------------------------------------------------------------

rounds = GLOSSARY.quantity(
    "rounds",
    "1",
    "rounds of a quoted method to an epsilon-stationary point",
    r"\mathrm{{rounds}}({0})",
    nonnegative=True,
)
small = Assumption("vanishes", (epsilon,), "complexities are compared for small epsilon")
INVERSE, THREE_HALVES = 1 / epsilon, epsilon ** Rational(-3, 2)
COLUMNS = "the marks in the other columns of the table are not checked"


def _quoted(label: str, method: str, source: str, row: Any) -> Statement:
    return claim(
        f"table1-{label}",
        f"{method}, {source}: rounds to an epsilon-stationary point",
        "table 1",
        Le(rounds(epsilon), row),
        order=row,
        reading=(COLUMNS,),
        quoted=source,
    )


def _compared(row: Statement, said: str, cite: str, then: Any, *reading: str, **rest: Any) -> Statement:
    fields: dict[str, Any] = {"let": (small,), **rest}
    return claim(
        f"{row.id.removeprefix('yuan/')}~compared", said, cite, then, order=row.order, reading=reading, **fields
    )


COMPARISON = "section 1.2, comparison with prior results"
COMPARABLE = "comparable: each is O of the other"
TABLE_FEDPROX = _quoted("fedprox-li", "FedProx", "Li et al. (2020b)", INVERSE)
COMPARED_FEDPROX = _compared(
    TABLE_FEDPROX,
    "Theorem 1's complexity is slower than the 1/epsilon of Li et al. (2020b)",
    "section 1.2, below (1.4): 'our rate in (1.4) is slower'",
    Lt(INVERSE, ROW_1),
    SLOWER,
)
KARIMIREDDY = 1 / (b * I * epsilon**2) + THREE_HALVES + INVERSE
TABLE_FEDAVG = _quoted("fedavg-karimireddy", "FedAvg", "Karimireddy et al. (2020)", KARIMIREDDY)
COMPARED_FEDAVG = _compared(
    TABLE_FEDAVG,
    "Theorem 3's complexity is comparable to that of FedAvg",
    f"{COMPARISON}, third",
    Eq(ROW_3, KARIMIREDDY),
    "'comparable to the best known results under partial participation as achieved by FedAvg': each is O of the other, "
    "for all b and I; the row's last term is never the largest one",
    "a hint, not a result: as we remember the source, sampled devices leave a term in 1/(I epsilon^2) there that b "
    "does not reduce, as they do in yuan/thm3~repaired",
)
YU = 1 / (b * M * epsilon**2) + M * b / epsilon
TABLE_YU = _quoted("fedavg-yu", "FedAvg", "Yu et al. (2019)", YU)
COMPARED_YU = _compared(
    TABLE_YU,
    "With all devices, theorem 3's complexity is no worse than that of Yu et al. (2019)",
    f"{COMPARISON}, last sentence",
    (Le(ROW_3.subs(I, M), YU), Le(THREE_HALVES, YU)),
    "nothing is said about this row alone; 'comparable to the best-known rates' is read as: with all devices theorem 3 "
    "is no slower, for all b and M; and the row is never better than the next one, with which it agrees at b M = "
    "epsilon^(-1/2)",
)
TABLE_KHANDURI = _quoted("fedavg-khanduri", "FedAvg", "Khanduri et al. (2021)", THREE_HALVES)
COMPARED_KHANDURI = _compared(
    TABLE_KHANDURI,
    "1/epsilon^(3/2) is faster than 1/epsilon^2, no slower than theorem 3, slower than 1/epsilon",
    f"{COMPARISON}, third",
    (Lt(THREE_HALVES, ROW_2), Le(THREE_HALVES, ROW_3), Lt(INVERSE, THREE_HALVES)),
    "'1/epsilon^(3/2) bounds can be achieved by FedAvg', between our 1/epsilon^2 bounds and the 1/epsilon of STEM "
    "and FedPD",
)
SCAFFOLD = 1 / (b * I * epsilon**2) + (M / I) ** (2 * THIRD) / epsilon
TABLE_SCAFFOLD = _quoted("scaffold", "SCAFFOLD", "Karimireddy et al. (2020)", SCAFFOLD)
ALL_BOUNDS = (
    "'all of our 1/epsilon^2 bounds ... comparable to those of SCAFFOLD and FCO': the rows of theorems 1 to 4, of which"
    " those of theorems 2 and 4 are the same formula"
)
IN_EPSILON = (
    "the sentence writes all these bounds as O(1/epsilon^2): orders in epsilon alone, with b, I and M as constants."
    " For all b, I and M at once they would not be comparable"
)


def in_epsilon(*symbols: Any) -> Assumption:
    return Assumption(
        "fixed", symbols, "constants of the order: bounds are written O(1/epsilon^2)", f"{COMPARISON}, first"
    )


COMPARED_SCAFFOLD = _compared(
    TABLE_SCAFFOLD,
    "The complexities of theorems 1 to 4 are comparable to that of SCAFFOLD",
    f"{COMPARISON}, first",
    tuple(Eq(row, SCAFFOLD) for row in (ROW_1, ROW_2, ROW_3)),
    ALL_BOUNDS,
    COMPARABLE,
    IN_EPSILON,
    let=(small, in_epsilon(M, I, b)),
    when=(Le(I, M),),
)
FCO = 1 / (b * M * epsilon**2) + INVERSE
TABLE_FCO = _quoted("fco", "FCO", "Yuan et al. (2021)", FCO)
COMPARED_FCO = _compared(
    TABLE_FCO,
    "The complexities of theorems 1 to 4 with all devices are comparable to that of FCO",
    f"{COMPARISON}, first",
    tuple(Eq(row.subs(I, M), FCO) for row in (ROW_1, ROW_2, ROW_3)),
    ALL_BOUNDS,
    COMPARABLE,
    "FCO is for convex composite problems and all devices, so that I = M",
    IN_EPSILON,
    let=(small, in_epsilon(M, b)),
)


def _faster(row: Statement) -> Statement:
    return _compared(
        row,
        "1/epsilon is substantially faster than theorems 1 to 4",
        f"{COMPARISON}, third",
        (Lt(INVERSE, ROW_3), Lt(INVERSE, ROW_1), Lt(INVERSE, ROW_2)),
        "'substantially faster 1/epsilon bounds are possible': o of the rows of theorems 1 to 4, for all b and I",
    )


TABLE_FEDPD = _quoted("fedpd", "FedPD", "Zhang et al. (2020)", INVERSE)
COMPARED_FEDPD = _faster(TABLE_FEDPD)
TABLE_STEM = _quoted("stem", "STEM", "Khanduri et al. (2021)", INVERSE)
COMPARED_STEM = _faster(TABLE_STEM)
