"""Symbols and assumptions of the perturbed-gradient method (section 4.3, appendix C), besides those of `symbols`."""

from dataclasses import replace

from ...language.algebra import Le
from ...language.derivation import Derivation
from ...language.statement import Assumption, Statement
from .symbols import (
    GLOSSARY,
    C,
    E,
    G,
    T,
    bounded_gradients,
    bounded_variance,
    full_participation,
    i,
    k,
    sigma,
    smooth,
    strongly_convex,
    t,
)

_s, _q = GLOSSARY.symbol, GLOSSARY.quantity

beta = _s("beta", "1", "share of the own iterate in the perturbed one (4.6)", r"\beta")
j = GLOSSARY.index("j", "another client, counted from 1")
n = GLOSSARY.index("n", "coordinate, counted from 1")

previous = _q(
    "previous",
    "W^2/F",
    "1_{t>=1} gamma_{t-1}: step size of the round before",
    r"\mathbb{{1}}_{{{0}\geq 1}} \gamma_{{{0}-1}}",
    nonnegative=True,
)
spread = _q(
    "spread",
    "W^2",
    "E |u^i_t - u^j_t|^2",
    r"\mathbb{{E}} \|\mathbf u^{{{1}}}_{{{0}}} - \mathbf u^{{{2}}}_{{{0}}}\|^2",
    nonnegative=True,
)
perturbation = _q(
    "perturbation",
    "W^2",
    "E |w_{t,k} - w~^i_{t,k}|^2",
    r"\mathbb{{E}} \|\overline{{\mathbf w}}_{{{0},{1}}} - \widetilde{{\mathbf w}}^{{{2}}}_{{{0},{1}}}\|^2",
    nonnegative=True,
)
perturbed2 = _q(
    "perturbed2",
    "F^2/W^2",
    "E |g_i(w~^i_{t,k})|^2",
    r"\mathbb{{E}} \|\mathbf g_{{{2}}}(\widetilde{{\mathbf w}}^{{{2}}}_{{{0},{1}}})\|^2",
    nonnegative=True,
)
mean = _q("mean", "W", "coordinate n of E w_{t,k}", r"\mathbb{{E}} [\overline{{\mathbf w}}_{{{0},{1}}}]_{{{2}}}")
centre = _q(
    "centre",
    "W",
    "coordinate n of E sum_i p_i w~^i_{t,k}",
    r"\mathbb{{E}} [\textstyle\sum_i p_i \widetilde{{\mathbf w}}^i_{{{0},{1}}}]_{{{2}}}",
)
rule_slope2 = _q(
    "rule_slope2",
    "W^2",
    "E of the squared gradient of problem (4.5) at w~^i_{t,k}",
    r"\mathbb{{E}} \|\nabla_{{(4.5)}}(\widetilde{{\mathbf w}}^{{{2}}}_{{{0},{1}}})\|^2",
    nonnegative=True,
)
mismatch = _q(
    "mismatch",
    "W^2",
    "E |sum_i p_i w~^i_{t,k} - beta w_{t,k} - (1 - beta) w_{t,0}|^2",
    r"\mathbb{{E}} \|\textstyle\sum_i p_i \widetilde{{\mathbf w}}^i_{{{0},{1}}}"
    r" - \beta\overline{{\mathbf w}}_{{{0},{1}}} - (1-\beta)\overline{{\mathbf w}}_{{{0},0}}\|^2",
    nonnegative=True,
)

similarity_weights = Assumption(
    "similarity_weights",
    (),
    "p_ij = p_ji >= 0, p_ii = 0, sum of all 1, p_i = sum_j p_ij > 0; so C >= 2",
    "algorithm 2, section 4.3.2",
)
perturbed_gradients = Assumption(
    "perturbed_gradients",
    (G,),
    "E|g_i(w~^i_{t,k})|^2 <= G^2: assumption 4.3 where this method takes its gradients",
    means=Le(perturbed2(t, k, i), G**2),
    for_all=((t, 0, T - 1), (k, 0, E), (i, 1, C)),
)
perturbed_variance = Assumption(
    bounded_variance.name,
    (sigma,),
    "g_i is unbiased with E|g_i - grad f_i|^2 <= sigma^2 at w~^i_{t,k}: assumption 4.2 where this method takes its "
    "gradients",
)
ASSUMPTIONS_1_TO_4 = (full_participation, similarity_weights, bounded_variance, bounded_gradients, smooth)
ASSUMPTIONS_OF_THE_RUN = (full_participation, similarity_weights, bounded_gradients, smooth)  # 4.2 is at other points
ASSUMPTIONS_1_TO_5 = (*ASSUMPTIONS_OF_THE_RUN, strongly_convex)

AT_THE_PERTURBED_POINTS = (
    "assumption 4.3 bounds g_i(w^i_{t,k}); the proofs use it for g_i(w~^i_{t,k}), the gradients that this method "
    "takes: G bounds both, on the run (t < T, 0 <= k <= E)"
)
VARIANCE_THERE = (
    "assumption 4.2 is about g_i(w^i_{t,k}), which this method never draws; the proofs use it for g_i(w~^i_{t,k}). "
    "What it says at w^i alone is not tried: noise has one law at all points here"
)
ANY_SIMILARITY = (
    "p_ij is any symmetric non-negative matrix with zero diagonal, sum 1 and p_i > 0 (pairs that are not neighbours "
    "get 0); what -ln mis of some messages gives is among them, and for C = 2 it is all"
)
BEFORE = "1_{t>=1} gamma_{t-1} is written previous(t)"
ONLY_THERE = "assumption 4.3 bounds the gradients that this method takes, g_i(w~^i_{t,k}), and no others"


def at_perturbed_points(printed: Statement, *ways: Derivation) -> Statement:
    """The statement with assumption 4.3 at w~ alone; `ways` cite what is read so too."""
    return replace(
        printed,
        id=f"{printed.id}~perturbed-points",
        title=f"{printed.title}, G at the perturbed points alone",
        let=(*(a for a in printed.let if a != bounded_gradients), perturbed_gradients),
        implicit=tuple(a for a in printed.implicit if a != perturbed_gradients),
        reading=(ONLY_THERE, *(line for line in printed.reading if line != AT_THE_PERTURBED_POINTS)),
        follows_from=ways,
    )
