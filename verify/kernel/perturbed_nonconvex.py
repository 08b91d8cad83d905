"""The perturbed-gradient method on losses that need not be convex: appendix C.3 of Buttaci's thesis."""

from __future__ import annotations

from .claim import Claim
from .fedprox import COUNT
from .fedprox_nonconvex import KINDS, Nonconvex, least, lowest
from .perturbed import Perturbed, graph
from .rational import Node


class PerturbedNonconvex(Nonconvex, Perturbed):
    """Quantities: those of `Perturbed`, with level, excess and slope2 of `Nonconvex` for gap and dist2."""


def read(node: Node, claim: Claim) -> PerturbedNonconvex:
    given = node.fields("C d E T pairs w0 beta constants clients noise", "parameters steps w_star")
    E, T, d = (given[name].integer(1, COUNT) for name in ("E", "T", "d"))
    problem = graph(given, KINDS, claim)
    run = PerturbedNonconvex(problem, given["w0"].vector(d), E, T)
    run.bounded(least(problem, given["w_star"].vector(d)) if "w_star" in given else lowest(problem, d))
    run.values |= claim.numbers(given["constants"], "", "L sigma G")
    taken = {*run.values, "L", "sigma", "G"}
    run.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    run.gamma = claim.steps(given.get("steps"), run, T)
    return run
