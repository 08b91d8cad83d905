"""Remarks 3, 5 and 8, what section 1.1 says of (B, 0)-LGD, the inexact theorem 2, and the marks of table 1."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Integer, Le, sqrt
from ...language.derivation import Derivation
from ...language.statement import Statement
from . import proofs
from .lemmas import INEXACT
from .orders import THEOREM_3, UNIT_RHO
from .run import FEDMSPP, ONE_BASIS, OWN_BASES, global_at2, local_at2, mean_at2, picked_env2
from .symbols import (
    DEVICES,
    GLOSSARY,
    B,
    G,
    H,
    M,
    T,
    eps,
    inexact,
    lipschitz,
    m,
    nonnegative_loss,
    rho,
    t,
    weakly_convex,
)
from .table import TABLE_THEOREM_1, TABLE_THEOREM_2, TABLE_THEOREM_4
from .theorems import SMALL_STEP, THEOREM_2, THEOREM_2_ORDER, exact_oracle, full_batch, similar, smooth

_STEPS: dict[Any, Any] = {"method": FEDMSPP, "glossary": GLOSSARY, "kind": "inequality", "sweep": SMALL_STEP}

REMARK_3 = Statement(
    id="yuan/rem3-lgd",
    title="Lipschitz losses have (0, H)-local gradient dissimilarity",
    cite="remark 3, section 2.1",
    let=(*DEVICES, full_batch, nonnegative_loss, lipschitz, smooth, exact_oracle),
    then=Le(mean_at2(t), B**2 * global_at2(t) + H**2),
    where={B: Integer(0), H: G},
    for_all={t: (0, T)},
    reading=(
        OWN_BASES,
        "'shares a close spirit to the (0, H)-LGD condition' is read as: it implies that condition, with H = G, at "
        "every point; points that a run visits are looked at, the start being any",
    ),
    follows_from=(Derivation(proofs.remark_3),),
    **_STEPS,
)

SECTION_1_1 = Statement(
    id="yuan/sec1.1-shared",
    waits_for="an atom for one client's square against the mean over all",
    title="(B, 0)-LGD: a stationary point of the risk is one of every device",
    cite="section 1.1, local dissimilarity",
    let=(*DEVICES, full_batch, nonnegative_loss, lipschitz, smooth, similar, exact_oracle),
    then=Le(local_at2(t, m), M * B**2 * global_at2(t)),
    for_all={t: (0, T), m: (1, M)},
    reading=(
        OWN_BASES,
        "that grad R(w) = 0 implies grad R^(m)(w) = 0 for every m, with what gives it: one gradient of M is at most M "
        "times the mean square, and (B, 0)-LGD bounds that",
    ),
    **_STEPS,
)

REMARK_5_RATE = replace(
    THEOREM_2_ORDER,
    id="yuan/rem5-rate",
    title="The proximal points tend to a stationary point and w_t* to them, both at the rate 1/sqrt(T)",
    cite="remark 5, last sentence, section 2.2",
    then=(
        Le(picked_env2(T), 4 * THEOREM_2_ORDER.order),
        Le(rho**2 * picked_env2(T), 4 * rho**2 * THEOREM_2_ORDER.order),
    ),
    reading=(
        ONE_BASIS,
        *(line for line in THEOREM_2.reading if line != ONE_BASIS),
        "both: |grad R_rho(w_t*)| bounds the least subgradient of R at prox(w_t*), and times rho it is |w_t* - "
        "prox(w_t*)| (rem5-identity); in mean square, as theorem 2 measures: the distances themselves go with the root",
    ),
    repairs="",
    follows_from=(Derivation(proofs.remark_5_rate, cites=("yuan/thm2~order",)),),
)

REMARK_8 = replace(
    THEOREM_3,
    id="yuan/rem8-empirical",
    title="FedMSPP on smooth losses, minibatches drawn from the local data sets: the bound of theorem 3",
    cite="remark 8, section 3.1",
    reading=(
        "the empirical form (1.2), data drawn from the empirical distribution of each device: here that of one data "
        "point, which is its own population, so that what falls with theorem 3 falls here",
        *THEOREM_3.reading,
    ),
)

THEOREM_2_INEXACT = replace(
    THEOREM_2,
    id="yuan/thm2-inexact",
    waits_for=INEXACT,
    title="FedProx on weakly convex losses with inexact local updates",
    cite="before theorem 2, section 2.2: extension to the inexact case",
    let=(*DEVICES, full_batch, nonnegative_loss, lipschitz, weakly_convex, inexact),
    when=(*THEOREM_2.when, Le(eps, rho * G**2 / (16 * T**2))),
    then=Le(picked_env2(T), 16 * UNIT_RHO / sqrt(T)),
    reading=(
        *THEOREM_2.reading[:-1],
        "no accuracy and no bound is printed: read as theorem 2's printed order for some accuracy that does not depend "
        "on the problem but for rho and G; here eps_t <= rho G^2/(16 T^2) and the constant 16",
    ),
    follows_from=(),
)

_MARKS = (
    "the marks say under which assumptions a row stands: no local dissimilarity is assumed (LD), smoothness only "
    "where NS is not ticked, and any number of devices takes part in a round (PP)"
)
TABLE_COLUMNS = replace(
    TABLE_THEOREM_2,
    id="yuan/table1-columns",
    title="Table 1: independent of local dissimilarity, non-smooth, partial participation (theorem 2)",
    cite="table 1, columns LD, NS and PP of this paper's rows",
    reading=(
        *TABLE_THEOREM_2.reading,
        _MARKS,
        "all three are ticked for theorem 2; the rows of theorem 4 and 1 are table1-columns~thm4 and ~thm1, that of "
        "theorem 3 falls by its number of rounds (table1-thm3)",
    ),
    follows_from=(Derivation(proofs.row_2, cites=("yuan/thm2~order",)),),
)
TABLE_COLUMNS_4 = replace(
    TABLE_THEOREM_4,
    id="yuan/table1-columns~thm4",
    title="Table 1: independent of local dissimilarity, non-smooth, partial participation (theorem 4)",
    cite=TABLE_COLUMNS.cite,
    reading=(*TABLE_THEOREM_4.reading, _MARKS),
    follows_from=(Derivation(proofs.row_2, cites=("yuan/thm4~repaired~order",)),),
)
TABLE_COLUMNS_1 = replace(
    TABLE_THEOREM_1,
    id="yuan/table1-columns~thm1",
    title="Table 1: independent of local dissimilarity, partial participation (theorem 1)",
    cite=TABLE_COLUMNS.cite,
    repairs="",
    reading=(*TABLE_THEOREM_1.reading, _MARKS, "NS is not ticked: losses are smooth"),
    follows_from=(Derivation(proofs.row_1, cites=("yuan/thm1~repaired",)),),
)
