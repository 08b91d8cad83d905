"""Independent signs along one line that is parallel to no axis, the same line for all clients.

Coordinates of such noise go together, so that it is felt where steps bend with several coordinates at once, as those of
a rotated Hessian do; and all clients push along one line, so that their noise adds up as far as independent noise can.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .law import Array, NoiseLaw


@dataclass(frozen=True, slots=True)
class SlantedLaw(NoiseLaw):
    """The vectors u_i = e_1 - 2 v / |v|^2 for v = (1, 2, ..., 2): e_1 in a mirror, so that the length is 1."""

    name: str = "slanted"
    simpler: str = "independent"

    def directions(self, C: int, d: int) -> Array:
        mirror = [1] + [2] * (d - 1)
        share = Fraction(2, sum(x * x for x in mirror))
        return np.array([[int(j == 0) - share * x for j, x in enumerate(mirror)]] * C, dtype=object)


SLANTED = SlantedLaw()
