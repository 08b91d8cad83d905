"""What section 4.1 compares algorithm 1 with: FedMid, FedDA in two readings, and Fast-FedDA.

FedMid and FedDA with the distance-generating function |.|^2/2, so that mirror maps are proximal operators.
"""

from dataclasses import replace
from typing import Any

from ...language.method import Method
from ...language.rule_expressions import axis as along
from ...language.rule_expressions import expect, full_grad, grad, inner, mean, noisy, norm2, prox, start, vector
from ...language.rule_parts import Vector
from .symbols import GLOSSARY, L, a, coordinate, eta, eta_g, eta_t, model, r, t, tau, vstep2

x, z = vector("x", r"\mathbf x"), vector("z", r"\mathbf z_i")
dual = vector("y", r"\mathbf y")
ahead = prox(x - eta_t * full_grad(x), eta_t)
averaged = dual + eta_g * (mean(z) - dual)
whole = eta_g * eta * tau
FCO = "Yuan, Zaheer and Reddi, Federated composite optimization (ICML 2021)"

FEDMID = Method(
    id="fedmid",
    title="Federated mirror descent: proximal gradient steps at the clients, and at the server with their mean move",
    cite=f"{FCO}, federated mirror descent",
    glossary=GLOSSARY,
    counts_from=1,
    server={x: start},
    client={z: x},
    begin={z: x},
    local={z: prox(z - eta * noisy(grad(z)), eta)},
    update={x: prox(x + eta_g * (mean(z) - x), whole)},
    measures={vstep2(r): expect(norm2(ahead - x)), model(r, coordinate): expect(inner(x, along))},
)

FEDDA = replace(
    FEDMID,
    id="fedda",
    title="Federated dual averaging: the dual state is never reset, the proximal parameter is the sum of all steps",
    cite=f"{FCO}, federated dual averaging",
    server={x: start, dual: start},
    client={z: dual},
    begin={z: dual},
    local={z: z - eta * noisy(grad(prox(z, whole * (r - 1) + eta * t)))},
    update={dual: averaged, x: prox(averaged, whole * r)},
)

FEDDA_RESTARTED = replace(
    FEDMID,
    id="fedda-restarted",
    title="FedDA as section 1.1 has it: dual averaging within a round, a proximal step at the server",
    cite="Section 1.1: algorithm 1 without its corrections",
    local={z: z - eta * noisy(grad(prox(z, eta * t)))},
)

gradients, models = vector("G", r"\overline{\mathbf g}"), vector("W", r"\overline{\mathbf w}")
g, w = vector("g", r"\mathbf g_i"), vector("w", r"\mathbf w_i")


def alpha(s: Any) -> Any:
    """The weight of step s = 0, 1, ... over all rounds."""
    return (s + a) ** 2


def solved(gradients: Vector, models: Vector, s: Any) -> Vector:
    """After s steps, the minimiser of their model of F, with mu = 6 L/a and gamma = L a^2:

    <sum alpha g, u> + mu/4 sum alpha |u - w|^2 + gamma/2 |u - x^1|^2 + (sum alpha) g(u).
    """
    total = s * a**2 + s * (s - 1) * a + s * (s - 1) * (2 * s - 1) / 6  # alpha(0) + ... + alpha(s - 1)
    curve = a**2 + 3 * total / a
    return prox((3 / a * models - gradients / L + a**2 * start) / curve, total / (L * curve))


step = tau * (r - 1) + t
g_next, w_next = g + alpha(step) * noisy(grad(z)), w + alpha(step) * z

FAST_FEDDA = replace(
    FEDMID,
    id="fast-fedda",
    title="Weighted dual averaging: clients exchange sums of gradients and of models, steps begin at 1/L and decay",
    cite="Bao, Crawshaw, Luo and Liu, Fast composite optimization and statistical recovery in federated learning "
    "(ICML 2022), Fast-FedDA with the weights (s + a)^2, a = 6 L/mu",
    server={x: start, gradients: 0, models: 0},
    client={z: x, g: 0, w: 0},
    begin={z: x, g: gradients, w: models},
    local={g: g_next, w: w_next, z: solved(g_next, w_next, step + 1)},
    update={x: solved(mean(g), mean(w), tau * r), gradients: mean(g), models: mean(w)},
)
