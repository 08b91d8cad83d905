"""What a family of losses says of itself: generic code asks it, and knows no family by its name or its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from ..arrays.array_checks import fail
from ..arrays.genes import Gene

Array = np.ndarray[Any, Any]  # floats, or rationals as objects
Parts = Mapping[str, Array]
ClientData = dict[str, object]  # a loss in the kernel's format, its numbers not yet text
ANY = 10**9  # dimensions or local steps, of a family that has no limit


def fractions(numbers: object) -> list[Fraction]:
    """The numbers of a list in the kernel's format."""
    return [Fraction(str(x)) for x in cast("Sequence[object]", numbers)]


def one_centre(parts: Parts) -> Array | None:
    """The centre of all clients, if they have one."""
    first = parts["c"][0]
    return first if all((c == first).all() for c in parts["c"]) else None


@dataclass(frozen=True, slots=True)
class Family:
    """Losses of all clients. Arrays have a leading axis n; `parts` is plain arithmetic, so that rationals pass.

    A family overrides `genes`, `parts`, `problem` and `clients`, and of the rest what differs from most families.
    """

    name: str
    affine: bool = False  # whether gradients are affine, so that mean and covariance say all
    dimensions: int = ANY  # the largest useful dimension; separable families gain nothing from more
    updates: int = 1_000  # exact numbers are too long after more local steps than these
    assumption: str = (
        ""  # of the statements that ask for these losses and no others; most families serve all statements
    )
    kind: str = ""  # of its losses in the kernel's format, where `formula` knows them
    straight: str = ""  # a simpler family that has these genes too, in one dimension

    def genes(self, sizes: Mapping[str, int]) -> Sequence[Gene]:
        """What is drawn, for C clients in d dimensions (`sizes` by their letters)."""
        raise NotImplementedError

    def parts(self, genes: Mapping[str, Array], p: Array, low: Array, high: Array, scale: Array) -> Parts:
        """Curvatures between low (n,) and high (n,) > 0, minimisers of size about scale (n,); "c" are the centres.

        With low < 0 clients may be concave, and f = sum_i p_i f_i is bounded below as far as that is easy to see to.
        """
        raise NotImplementedError

    def problem(self, parts: Parts, p: Array) -> Any:
        """The losses as an objective; batch axes as `parts` has them."""
        raise NotImplementedError

    def clients(self, parts: Parts) -> list[ClientData]:
        """One instance (no axis n) in the kernel's format."""
        raise NotImplementedError

    def formula(self, data: Mapping[str, object], axes: Sequence[str]) -> str:
        """A loss in the kernel's format as LaTeX; `axes` are the names of the coordinates."""
        raise NotImplementedError

    def constants(self, genes: Mapping[str, Array], high: Array, scale: Array) -> tuple[Array, ...]:
        """What the family's assumption names, (n,) each."""
        return ()

    def bounds(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Mapping[str, Array]:
        """Constants (n,) by the assumptions that name them, where the drawn curvatures do not say them."""
        return {}

    def steepest(self, genes: Mapping[str, Array], high: Array, scale: Array) -> Array:
        """The Lipschitz constant (n,) that all losses have."""
        raise fail(f"losses of the family {self.name}", "Lipschitz losses", "ask for another family")

    def lifted(self, parts: Parts, mu: Array) -> Parts:
        """The losses with mu (n,) added to all curvatures, of whatever sign, and the same centres."""
        raise fail(f"losses of the family {self.name}", "losses that may be strongly convex", "ask for another family")

    def minimiser(self, parts: Parts, p: Array) -> Array | None:
        """The minimiser of one instance's f in rationals, where f is convex; None where the kernel finds it itself."""
        return None

    def start(self, genes: Mapping[str, Array], scale: Array) -> Array | None:
        """Where runs begin (n, d), if the family says so."""
        return None

    def box(self, parts: Parts) -> tuple[Array, Array] | None:
        """The ends (n, C, d) of a box in which the losses are quadratics, if runs are not to leave it."""
        return None

    def downhill(self, parts: Parts) -> Array | None:
        """The gradient (n, d) that all clients have in common along the way of a run, if they have one."""
        return None

    def lengths(self, parts: Parts) -> list[Array]:
        """How far from 0 the losses bend, (n,) each."""
        return [abs(parts["c"]).max(axis=(1, 2))]
