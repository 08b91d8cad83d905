"""The lower-bound construction of appendix B.4, built here from its parameters: H = mu and h = mu/2."""

from __future__ import annotations

from flint import fmpq

from .claim import Claim
from .fedprox import COUNT, FedProx
from .law import Problem
from .loss import ZERO, Loss
from .rational import Node

INPUTS: dict[str, str] = dict.fromkeys(("mu", "alpha", "sigma", "G_lin"), "nonnegative")


def read(node: Node, claim: Claim) -> FedProx:
    """f_i = Hw^2/2 + Gw, then hw^2/2 - Gw (signs flipped if w0 < 0); odd C: a last f_i = 0; p_i = 1/C."""
    given = node.fields("C E T mu alpha sigma G_lin w0 parameters")
    C, E, T = (given[name].integer(1, COUNT) for name in ("C", "E", "T"))
    mu, alpha, sigma, G_lin = (claim.number(name, given[name], least=0) for name in INPUTS)
    w0 = given["w0"].rational()
    G = -G_lin if w0 < 0 else G_lin
    first, second, zero = (Loss(((a,),), (b,)) for a, b in ((mu, -G), (mu / 2, G), (ZERO, ZERO)))
    losses = (first,) * (C // 2) + (second,) * (C // 2) + (zero,) * (C % 2)
    run = FedProx(Problem(losses, (fmpq(1, C),) * C, alpha, ((sigma,),) * C, shared=False), (w0,), E, T)
    run.minimised((ZERO,), None)
    run.values |= {"mu": mu, "sigma": sigma, "G_lin": G_lin}
    run.values |= claim.parameters(given["parameters"], set(run.values))
    run.gamma = claim.steps(None, run, T)
    return run
