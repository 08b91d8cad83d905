"""Runs whose step sizes are irrational: balls stand where other runs have rationals.

Sums, products, gradients of quadratics and of bent losses, and what measures make of them take both: the result
encloses the true value. Whatever would compare or branch on a ball is refused here, before the run begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from flint import arb, ctx, fmpq

from ..core.expression import Value
from ..core.method import Method
from ..core.rational import Rejected
from ..losses.loss import Loss
from .problem import Problem

RULES = ("name", "start", "zero", "axis", "w_star", "w_i_star", "point", "+", "*", "grad", "noisy", "again")
MEANS = ("mean", "sampled", "weighted", "neighbours", "other")
ATOMS = ("norm2", "norm", "inner", "f", "f_i", "f_star", "f_i_star", "weight")
WEIGHTS = ("own", "in_turn")
ENCLOSED = {*RULES, *MEANS, *ATOMS, *WEIGHTS}

Made = TypeVar("Made")


def precise(make: Callable[[], Made], balls: bool) -> Callable[[], Made]:
    """What depends on step sizes: made once where they are rational, anew at every precision where they are balls."""
    made: dict[int, Made] = {}

    def now() -> Made:
        bits = ctx.prec if balls else 0
        if bits not in made:
            made[bits] = make()
        return made[bits]

    return now


def enclosed(x: Value) -> fmpq:
    """A number of the run, which may be a ball: `refuse` has looked at all that it will meet."""
    return cast("fmpq", x)


def irrational(x: fmpq) -> bool:
    return isinstance(cast("Value", x), arb)


def refuse(method: Method, problem: Problem, boxed: bool) -> None:
    """Raise `Rejected` unless balls pass through every operation of this run."""
    others = sorted({part.op for part in method.parts} - ENCLOSED)
    smooth = all(isinstance(loss, Loss) and loss.curves is None for loss in problem.losses)
    if others or not smooth or boxed:
        got = f"the operations {', '.join(others)}" if others else "other losses, or a run that its moments say all of"
        raise Rejected(
            f"claim.choose: got an irrational step size with {got}, expected quadratic or bent losses and the "
            f"operations {', '.join((*RULES, *MEANS, *ATOMS))}"
        )
