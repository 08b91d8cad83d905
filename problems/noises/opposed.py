"""One sign for all clients of a step, with every second client pushed the other way along the first coordinate.

Clients of equal weight and number on both sides cancel in the mean, so that noise is felt only by what clients do on
their own: drift, deviation, and what is read of single clients. It is no independent noise.
"""

from dataclasses import dataclass

import numpy as np

from .law import Array, NoiseLaw


@dataclass(frozen=True, slots=True)
class OpposedLaw(NoiseLaw):
    """The vectors u_i = (-1)^i e_1."""

    name: str = "opposed"
    one_sign: bool = True
    simpler: str = "shared"

    def directions(self, C: int, d: int) -> Array:
        return np.array([[(-1) ** i if j == 0 else 0 for j in range(d)] for i in range(C)])


OPPOSED = OpposedLaw()
