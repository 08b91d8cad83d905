"""Runs whose step sizes are irrational: balls stand where other runs have rationals.

Sums, products, gradients of quadratics and of bent losses, and what measures make of them take both: the result
encloses the true value. Whatever would compare or branch on a ball is refused here, before the run begins.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import ctx

from ..core.loss import Loss
from ..core.method import Method
from ..core.problem import Problem
from ..core.rational import Rejected
from ..core.walk import Given
from ..losses.kinds.bent import Bent

RULES = ("name", "start", "zero", "axis", "w_star", "w_i_star", "point", "+", "*", "grad", "noisy", "again")
MEANS = ("mean", "sampled", "weighted", "neighbours", "other")
ATOMS = ("norm2", "norm", "inner", "f", "f_i", "f_star", "f_i_star", "weight")
WEIGHTS = ("own", "in_turn")
ENCLOSED = {*RULES, *MEANS, *ATOMS, *WEIGHTS}


def by_precision(make: Callable[[], Given]) -> Callable[[], Given]:
    """What depends on step sizes, made anew at every precision."""
    of_bits: dict[int, Given] = {}

    def at_this_precision() -> Given:
        if ctx.prec not in of_bits:
            of_bits[ctx.prec] = make()
        return of_bits[ctx.prec]

    return at_this_precision


def refuse(method: Method, problem: Problem, boxed: bool) -> None:
    """Raise `Rejected` unless balls pass through every operation of this run."""
    others = sorted({part.op for part in method.parts} - ENCLOSED)
    smooth = all(isinstance(loss, Loss | Bent) for loss in problem.losses)
    if others or not smooth or boxed:
        got = f"the operations {', '.join(others)}" if others else "other losses, or a run that its moments say all of"
        raise Rejected(
            f"claim.choose: got an irrational step size with {got}, expected quadratic or bent losses and the "
            f"operations {', '.join((*RULES, *MEANS, *ATOMS))}"
        )
