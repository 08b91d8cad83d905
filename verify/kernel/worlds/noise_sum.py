"""Lemma B.8: the accumulated noise sum_k (1-lambda)^k sum_i p_i zeta^i_k with zeta^i_k = Z_i + s v_i, s a fair sign."""

from __future__ import annotations

from flint import fmpq

from ..core.budget import summed
from ..core.claim import Claim
from ..core.loss import combine, norm2
from ..core.rational import BITS, Malformed, Node, affordable
from ..core.world import Reader, World, tabled
from ..losses.draws import powered

COUNT = 1_000
INPUTS = {"lambda": "real", "sigma": "nonnegative"}


def read(node: Node, claim: Claim) -> World:
    """Symbols noise_sum2 = E|...|^2 and mean2 = |sum_i p_i Z_i|^2; the quantity p(i)."""
    fields = node.fields("M E d p Z v sigma parameters")
    M, E, d = (fields[name].integer(1, COUNT) for name in ("M", "E", "d"))
    Z, v = ([entry.vector(d) for entry in fields[name].items(M)] for name in ("Z", "v"))
    free = claim.parameters(fields["parameters"], {"M", "E", "D", "sigma", "noise_sum2", "mean2"})
    if "lambda" not in free:
        raise Malformed("instance.parameters: got no 'lambda', expected one")
    affordable(E * free["lambda"].height_bits(), BITS, "instance.E")
    p, sigma = fields["p"].vector(M), claim.number("sigma", fields["sigma"], least=0)
    mean2, spread = norm2(combine(p, Z)), summed(q**2 * norm2(x) for q, x in zip(p, v, strict=True))
    powers = [powered(1 - free["lambda"], k) for k in range(E)]
    total = mean2 * summed(powers) ** 2 + spread * summed(x**2 for x in powers)
    values = {"M": fmpq(M), "E": fmpq(E), "D": fmpq(d), "sigma": sigma, "noise_sum2": total, "mean2": mean2, **free}
    return tabled(values, {"p": p}, {"independent": all(norm2(x) == sigma**2 for x in v)}, listed=["p"])


WORLDS = {"noise_sum": Reader(read, INPUTS)}
