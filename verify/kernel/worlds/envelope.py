"""One function of one variable, its proximal point and its Moreau envelope; several devices that share it."""

from __future__ import annotations

from flint import fmpq

from ..core.claim import Claim
from ..core.loss import ZERO
from ..core.rational import Node, Rejected
from ..core.world import Reader, World, tabled
from ..losses.pieces import Pieces, mix
from ..losses.pieces import read as read_pieces
from .minibatch import shared

INPUTS = {"nu": "nonnegative", "eta": "positive", "rho": "positive", "G": "nonnegative"}


def envelope(f: Pieces, w: fmpq, rho: fmpq) -> fmpq:
    """min_u f(u) + (u - w)^2 / (2 rho)."""
    return f.plus(1 / rho, w).value(f.prox(w, rho))


def envelope_gradient(f: Pieces, w: fmpq, rho: fmpq) -> fmpq:
    """The derivative of the envelope, from its values alone.

    The proximal point runs along one piece of f while w stays between two of x + rho (a slope of f at x): there the
    envelope is a quadratic, and three of its values give its derivative. From both sides, which must agree.
    """
    turns = [x + rho * slope for x, _, _ in f.knots for slope in f.slopes(x)]
    slopes: list[fmpq] = []
    for side in (1, -1):
        h = side * min((abs(v - w) for v in turns if side * (v - w) > 0), default=fmpq(1)) / 4
        e0, e1, e2, e3 = (envelope(f, w + k * h, rho) for k in range(4))
        if e3 - 3 * e2 + 3 * e1 - e0 != 0:
            raise ArithmeticError(f"got an envelope that is not quadratic between {w} and {w + 3 * h}")
        slopes.append((4 * e1 - 3 * e0 - e2) / (2 * h))
    if slopes[0] != slopes[1]:
        raise Rejected(f"instance: got an envelope with a kink at {w}, expected a differentiable one")
    return slopes[0]


def read_prox(node: Node, claim: Claim) -> World:
    """Lemma 7 (w, u, eta) and remark 5 (w, rho): both sides of the inequality, and of the identity."""
    fields = node.fields("f w constants", "u")
    f, w = read_pieces(fields["f"]), fields["w"].rational()
    values = claim.numbers(fields["constants"], "nu", "eta rho G")
    if "u" in fields:
        u, step = fields["u"].rational(), values.get("eta", ZERO)
        if step <= 0:
            raise fields["constants"].malformed("a positive eta")
        plus = f.prox(w, step)
        values |= {"f_plus": f.value(plus), "f_u": f.value(u), "moved2": (plus - w) ** 2}
        values |= {"u_w2": (u - w) ** 2, "plus_u2": (plus - u) ** 2}
    elif "rho" in values and values["rho"] > 0:
        rho = values["rho"]
        values |= {"away": abs(w - f.prox(w, rho)), "envelope_slope": abs(envelope_gradient(f, w, rho))}
    else:
        raise fields["constants"].malformed("a positive rho, or u and a positive eta")
    return tabled(values, {}, *shared([f]))


def read_devices(node: Node, claim: Claim) -> World:
    """Definition 1 at one w: squared gradients of every device and of their mean."""
    fields = node.fields("M w devices")
    M, w = fields["M"].integer(1, 100), fields["w"].rational()
    devices = [read_pieces(entry) for entry in fields["devices"].items(M)]
    whole = mix([fmpq(1, M)] * M, devices)
    facts, bounds = shared(devices)
    facts["identical"] = all(f == devices[0] for f in devices)
    values = {"M": fmpq(M), "global2": whole.gradient(w) ** 2}
    return tabled(values, {"local2": [f.gradient(w) ** 2 for f in devices]}, facts, bounds)


WORLDS = {"prox": Reader(read_prox, INPUTS), "devices": Reader(read_devices)}
