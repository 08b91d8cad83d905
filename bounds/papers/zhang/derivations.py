"""Stub."""

from ...derivation import Argument


def zero_mean(goal):
    return Argument(())


fact_1 = lemma_A_1 = drift_sum = lemma_A_2 = virtual_decrease = direction_error = one_round = pl_decrease = (
    one_round_pl
) = theorem_3_5 = theorem_3_6 = zero_mean
