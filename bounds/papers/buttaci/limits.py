"""The limits that lemmas B.2, B.3, C.2 and C.3 print beside their bounds, for t to infinity.

With a fixed step size t stands in kappa^t alone, which tends to 0 exactly where |kappa| < 1: the printed limit is that
claim. With a step size of order 1/t the bound is a constant over tau + t, and the claim is one of orders.
"""

from typing import Any

from ...decide.facts import bernoulli, power_le_base, power_sign
from ...language.algebra import Ge, Gt, Le, Lt
from ...language.derivation import Argument, Derivation, Step, View
from ...language.knobs import free, unit
from ...language.statement import Assumption, Statement
from .fedprox import LEMMA_B_2, LEMMA_B_3, R, tau
from .fedprox import STEP_LIMIT as FEDPROX_LIMIT
from .fedprox import kappa as kappa_B
from .nonconvex import some_gap
from .perturbed import LEMMA_C_2, LEMMA_C_2_REPAIRED, LEMMA_C_3, R_fading
from .perturbed import STEP_LIMIT as PERTURBED_LIMIT
from .perturbed import kappa as kappa_C
from .symbols import GLOSSARY, Delta, E, L, T, alpha, gamma_, mu
from .symbols_perturbed import beta

SLOW_B, SLOW_C = 1 - gamma_ * (alpha + mu), 1 - beta * mu * gamma_  # what one local step keeps


def fades_fedprox(goal: View) -> Argument:
    """0 <= (1 - gamma (alpha + mu))^E <= 1 - gamma (alpha + mu) < 1, and kappa is an average of 1 and that power."""
    sign = Step(Ge(SLOW_B**E, 0), given=(power_sign(x=SLOW_B, n=E),))
    power = Step(Le(SLOW_B**E, SLOW_B), given=(power_le_base(x=SLOW_B, n=E),))
    return Argument((sign, power, *(Step(relation, given=(sign, power)) for relation in goal.relations)))


def fades_perturbed(goal: View) -> Argument:
    """1 - beta mu gamma E <= (1 - beta mu gamma)^E <= 1 - beta mu gamma, divided by beta."""
    least = Step(Ge(SLOW_C**E, 1 - beta * mu * gamma_ * E), given=(bernoulli(x=-beta * mu * gamma_, n=E),))
    power = Step(Le(SLOW_C**E, SLOW_C), given=(power_le_base(x=SLOW_C, n=E),))
    return Argument((least, power, *(Step(relation, given=(least, power)) for relation in goal.relations)))


def _fixed(lemma: Statement, name: Any, factor: Any, step: Any, way: Derivation, more: Any = None) -> Statement:
    """The claim that the powers of the factor vanish, under the lemma's own conditions."""
    return Statement(
        id=f"{lemma.id}~limit",
        kind="inequality",
        title=f"{lemma.title}: the bound tends to the printed limit",
        cite=f"{lemma.cite}, the limit for t to infinity",
        method="scalar",
        glossary=GLOSSARY,
        when=(*lemma.when, Le(mu, L)),
        then=(Gt(name, -1), Lt(name, 1)),
        where={name: factor},
        sweep={L: mu * (1 + free("L")), gamma_: unit("gamma") * step} | (more or {}),
        reading=(
            "kappa^t tends to 0 exactly where |kappa| < 1, and nothing else in the bound depends on t; what is "
            "multiplied by it, Delta - S, is any number",
        ),
        follows_from=(way,),
    )


def _fading(lemma: Statement, error: Any) -> Statement:
    """The claim that the bound is O(1/t), so that it tends to 0."""
    return Statement(
        id=f"{lemma.id}~limit",
        kind="order",
        title=f"{lemma.title}: the bound tends to 0",
        cite=f"{lemma.cite}, the limit for t to infinity",
        method="order",
        glossary=GLOSSARY,
        let=(
            Assumption("grows", (T,), "t to infinity"),
            Assumption("fixed", (L, mu, tau, Delta, error, some_gap), "the problem and the step sizes"),
        ),
        then=Le(L / mu * (1 / (tau + T)) * (tau * Delta + error), some_gap / T),
        reading=("the bound at t = T is O(1/T) with the problem and the step sizes fixed, so that its limit is 0",),
    )


SHARE: dict[Any, Any] = {beta: unit("beta")}
KAPPA_B, KAPPA_C = (alpha + mu * SLOW_B**E) / (alpha + mu), 1 - 1 / beta + SLOW_C**E / beta
B_2 = _fixed(LEMMA_B_2, kappa_B, KAPPA_B, FEDPROX_LIMIT, Derivation(fades_fedprox))
C_2 = _fixed(LEMMA_C_2, kappa_C, KAPPA_C, PERTURBED_LIMIT, Derivation(fades_perturbed), SHARE)
C_2_REPAIRED = _fixed(LEMMA_C_2_REPAIRED, kappa_C, KAPPA_C, PERTURBED_LIMIT / E, Derivation(fades_perturbed), SHARE)
B_3, C_3 = _fading(LEMMA_B_3, R), _fading(LEMMA_C_3, R_fading)
