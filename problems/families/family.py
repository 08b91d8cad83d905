"""What a family of losses answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ..arrays.genes import Gene

Array = np.ndarray[Any, Any]  # floats, or rationals as objects
Parts = Mapping[str, Array]


class Family(Protocol):
    """Losses of all clients. Arrays have a leading axis n; `parts` is plain arithmetic, so that rationals pass."""

    name: str
    affine: bool  # whether gradients are affine, so that mean and covariance say all
    dimensions: int  # the largest useful dimension; separable families gain nothing from more
    updates: int  # exact numbers are too long after more local steps than these
    assumption: str  # of the statements that ask for these losses and no others; most families serve all statements

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]: ...

    def constants(self, genes: Mapping[str, Array], high: Array, scale: Array) -> tuple[Array, ...]:
        """What its assumption names, (n,) each."""
        ...

    def bounds(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Mapping[str, Array]:
        """Constants (n,) by the assumptions that name them, where the drawn curvatures do not say them."""
        ...

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """Curvatures between low (n,) and high (n,) > 0, minimisers of size about scale (n,); "c" are the centres.

        With low < 0 clients may be concave, and f = sum_i p_i f_i is bounded below as far as that is easy to see to.
        """
        ...

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        """With mu (n,) added to all curvatures, of whatever sign, and the same centres."""
        ...

    def problem(self, parts: Parts, p: Array) -> Any:
        """The losses as an objective; batch axes as `parts` has them."""
        ...

    def clients(self, parts: Parts) -> list[dict[str, Any]]:
        """One instance (no axis n) in the kernel's format."""
        ...

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        """Of one instance in rationals: the minimiser of f where f is convex; None where the kernel finds it itself."""
        ...
