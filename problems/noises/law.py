"""What a law of noise says of itself: generic code asks it, and knows no law by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]  # floats, or rationals as objects


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """The noise of client i in a step is s level_i u_i, with a fair sign s and a unit vector u_i."""

    name: str
    one_sign: bool = False  # whether all clients of a step share one sign; otherwise signs are independent
    of_hessians: bool = False  # whether Hessians have noise too, s' diag(h_i) with signs of their own
    simpler: str = ""  # the law that shrinking tries in its place, before none at all
    silent: bool = False  # whether there is no noise

    def directions(self, C: int, d: int) -> Array:
        """The vectors u_i (C, d), rational: every client along a coordinate of its own, as far as there are so many."""
        return np.array([[1 if j == i % d else 0 for j in range(d)] for i in range(C)])
