"""Operations that algorithm boxes of public code need beside those of a method's language, and their one meaning.

They are data like all others (a name and what it is applied to). `verify/conform` computes with them; the kernel and
the searches do not know them, so that lint refuses a statement about such a method.
"""

from __future__ import annotations

from ..language.method import Method
from ..language.rule_parts import Scalar, Vector, as_scalar, as_vector

__all__ = ["Method", "adaptive", "ones", "shares", "shrunk", "square"]

ones = Vector("ones")  # 1 in every coordinate


def shares(x: Vector) -> Vector:
    """The mean over the sampled clients with their share of the data, sum_S p_i x_i / sum_S p_i."""
    return Vector("shares", (as_vector(x),))


def square(x: Vector) -> Vector:
    """The square of every coordinate."""
    return Vector("square", (as_vector(x),))


def adaptive(first: Vector, second: Vector, tau: Scalar) -> Vector:
    """Coordinate by coordinate: first / (sqrt(second) + tau)."""
    return Vector("adaptive", (as_scalar(tau), as_vector(first), as_vector(second)))


def shrunk(x: Vector, step: Scalar) -> Vector:
    """The proximal point of |.|^2/2 with this step, x/(1 + step)."""
    return Vector("shrunk", (as_scalar(step), as_vector(x)))
