"""The construction of appendix C.4, built here from its parameters: the losses of B.4 under the perturbed method."""

from __future__ import annotations

from flint import fmpq

from .claim import Claim
from .fedprox import COUNT
from .loss import ZERO, Loss
from .perturbed import PAIRS, Graph, Perturbed
from .rational import Node, affordable

INPUTS: dict[str, str] = dict.fromkeys(("mu", "beta", "sigma", "G_lin"), "nonnegative")


def read(node: Node, claim: Claim) -> Perturbed:
    """As in `two_group`; u^i is the average ("broadcast", as p_ij = p_i p_j gives it), or (4.6) with equal p_ij."""
    given = node.fields("C E T mu beta sigma G_lin w0 averages parameters")
    C, E, T = (given[name].integer(least, COUNT) for name, least in (("C", 2), ("E", 1), ("T", 1)))
    affordable(C * C, PAIRS)
    mu, beta, sigma, G_lin = (claim.number(name, given[name], least=0) for name in INPUTS)
    w0, broadcast = given["w0"].rational(), given["averages"].one_of(("broadcast", "equal")) == "broadcast"
    G = -G_lin if w0 < 0 else G_lin
    first, second, zero = (Loss(((a,),), (b,)) for a, b in ((mu, -G), (mu / 2, G), (ZERO, ZERO)))
    losses = (first,) * (C // 2) + (second,) * (C // 2) + (zero,) * (C % 2)
    between = fmpq(1, C * C) if broadcast else fmpq(1, C * (C - 1))
    pairs = tuple(tuple(between if i != j or broadcast else ZERO for j in range(C)) for i in range(C))
    run = Perturbed(Graph(losses, (fmpq(1, C),) * C, ZERO, ((sigma,),) * C, False, pairs, beta), (w0,), E, T)
    run.minimised((ZERO,), None)
    run.facts["broadcast"] = broadcast
    run.values |= {"mu": mu, "sigma": sigma, "G_lin": G_lin}
    run.values |= claim.parameters(given["parameters"], set(run.values))
    run.gamma = claim.steps(None, run, T)
    return run
