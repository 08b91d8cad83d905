"""Proofs."""

from ...derivation import Argument, View


def _stub(goal: View, *_: View) -> Argument:
    raise NotImplementedError


eq_5 = assumption_5 = total_variation = wasserstein = lemma_4_2 = lemma_4_3_bias = lemma_4_3_variance = frobenius = (
    _stub
)
lemma_4_4 = lemma_H_1_bias = lemma_H_1_variance = lemma_H_2_bias = lemma_H_2_variance = central_difference = _stub
