"""Operations on vectors that few methods use: Hessians, proximal points, lengths, values of a regulariser."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from flint import arb, fmpq

from ..core.budget import paid
from ..core.expression import Value, power
from ..core.loss import ZERO, Vector, norm2
from ..core.method import Atom, Rule
from ..core.problem import Here, Problem, ball_or_rational
from ..core.rational import Malformed, Rejected, shown
from ..core.walk import Drawn


def applied(problem: Problem, rule: Rule, place: Here, i: int, x: Sequence[Vector]) -> Vector:
    """The value of a rule for client i, from those of its arguments."""
    match rule.op:
        case "hess":
            return problem.losses[i].bend(*x)
        case "noisy_hess":
            bent, drawn = problem.losses[i].bend(*x), place.state[Drawn(rule.op)][i]
            return tuple(paid(a + b * c) for a, b, c in zip(bent, drawn, x[1], strict=True))
        case "prox":
            scale = place.scalar(rule.factor)
            if scale < 0:
                raise Rejected(f"method: got prox with the step {shown(scale)}, expected none below 0")
            return x[0] if problem.g is None else problem.g.prox(x[0], scale)
        case _:
            if problem.data is None:
                raise Rejected("instance.clients: got no data points, expected some to draw from")
            return problem.data.applied(rule, place, i, x[0])


def measured(problem: Problem, atom: Atom, x: Vector) -> fmpq:
    """The value of an atom, from that of its argument."""
    match atom.op:
        case "norm":
            return length(x)
        case "F":
            return problem.penalty(x) + problem.value(x)
        case "g":
            return problem.penalty(x)
        case "conjugate":
            value = problem.g.conjugate(x) if problem.g is not None else None if any(x) else ZERO
            if value is None:
                raise Rejected("claim: got a conjugate of g that is infinite, expected finite values")
            return value
        case _:
            raise Malformed(f"method: got the number {atom.op!r}, expected one of an atom")


def length(x: Vector) -> fmpq:
    """|x|, where that is rational, or a ball."""
    square: Value = norm2(x)
    if isinstance(square, arb):
        return ball_or_rational(abs(x[0]) if len(x) == 1 else power(square, fmpq(1, 2)))
    p, q = isqrt(int(square.p)), isqrt(int(square.q))
    if (p * p, q * q) != (square.p, square.q):
        raise Rejected("claim: got a vector of irrational length, expected rational lengths")
    return fmpq(p, q)
