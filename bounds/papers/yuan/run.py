"""FedProx (1.3) and FedMSPP (algorithm 1) as one method, and what is measured along its runs."""

from ...language.algebra import sqrt
from ...language.method import Method
from ...language.rule_expressions import (
    batch_grad,
    expect,
    f,
    f_star,
    full_grad,
    full_prox,
    grad,
    mean,
    mean_norm2,
    most,
    norm2,
    oracle,
    picked,
    start,
    training_prox,
    variance,
    vector,
)
from .symbols import (
    GLOSSARY,
    Delta,
    Delta_rho,
    I,
    M,
    T,
    averaged2,
    bias_m,
    eta,
    fresh2,
    m,
    rho,
    sampled2,
    t,
    variance_m,
)

_s, _q = GLOSSARY.symbol, GLOSSARY.quantity

OWN_BASES = (
    "tried with 1 to 3 coordinates: a loss is a sum of functions of one variable along an orthonormal basis, and every"
    " device has a basis of its own"
)
ONE_BASIS = (
    "tried with 1 to 3 coordinates: a loss is a sum of functions of one variable along an orthonormal basis, the same"
    " for all devices, since the risk's minimum and proximal points are read off along it; huge T with one coordinate"
)

residual = _s(
    "residual",
    "W",
    "the largest |w_t^(m) - w_{t-1} + eta_t d_t^(m)| over rounds, devices and paths",
    r"\|w_t^{(m)} - w_{t-1} + \eta_t d_t^{(m)}\|",
    nonnegative=True,
)
move = _s(
    "move",
    "W",
    "the largest |w_t^(m) - w_{t-1}| over rounds, devices and paths",
    r"\|w_t^{(m)} - w_{t-1}\|",
    nonnegative=True,
)
drift2 = _s(
    "drift2",
    "F^2/W^2",
    "the largest |grad R(w_{t-1}) - mean of the d_t^(m)|^2 over rounds and paths",
    r"\|\nabla\bar R(w_{t-1}) - \bar d_t\|^2",
    nonnegative=True,
)
picked2 = _q(
    "picked2",
    "F^2/W^2",
    "E|grad R(w_t*)|^2, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R(w_{{t^*}})\|^2",
    nonnegative=True,
)
picked_env2 = _q(
    "picked_env2",
    "F^2/W^2",
    "E|grad R_rho(w_t*)|^2 of the Moreau envelope, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R_\rho(w_{{t^*}})\|^2",
    nonnegative=True,
)
picked_erm_env2 = _q(
    "picked_erm_env2",
    "F^2/W^2",
    "E|grad R_erm,rho(w_t*)|^2 of the Moreau envelope of the empirical risk, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R_{{\mathrm{{erm}},\rho}}(w_{{t^*}})\|^2",
    nonnegative=True,
)
local_at2 = _q(
    "local_at2",
    "F^2/W^2",
    "E|grad R^(m)(w_t)|^2",
    r"\mathbb{{E}} \|\nabla R^{{({1})}}(w_{{{0}}})\|^2",
    nonnegative=True,
)
mean_at2 = _q(
    "mean_at2",
    "F^2/W^2",
    "the mean over the devices of E|grad R^(m)(w_t)|^2",
    r"\frac1M\sum_m\mathbb{{E}} \|\nabla R^{{(m)}}(w_{{{0}}})\|^2",
    nonnegative=True,
)
global_at2 = _q(
    "global_at2", "F^2/W^2", "E|grad R(w_t)|^2", r"\mathbb{{E}} \|\nabla\bar R(w_{{{0}}})\|^2", nonnegative=True
)
residual2, move2 = (_s(f"{length}2", "W^2", f"{length}^2", nonnegative=True) for length in ("residual", "move"))
bias2 = _q("bias2", "F^2/W^2", "the square of a device's bias", nonnegative=True)

w, w_m = vector("w"), vector("w_m", "w^{(m)}")
d_m = batch_grad(w_m)
near, near_start, near_training = full_prox(w, rho), full_prox(start, rho), training_prox(w, rho)

FEDMSPP = Method(
    id="fedmspp",
    title="FedMSPP: inexact proximal steps on minibatches of the sampled devices; FedProx where a batch is all data",
    cite="algorithm 1, section 3.1; equation (1.3)",
    glossary=GLOSSARY,
    server={w: start},
    client={w_m: w},
    begin={w_m: oracle(w, eta)},
    update={w: mean(w_m, over="sampled")},
    measures={
        local_at2(t, m): expect(norm2(grad(w))),
        mean_at2(t): expect(mean(norm2(grad(w)))),
        global_at2(t): expect(norm2(full_grad(w))),
        move2: most(norm2(w_m - w)),
        residual2: most(norm2(w_m - w + eta * d_m)),
        drift2: most(norm2(full_grad(w) - mean(d_m))),
        bias2(m): mean_norm2(grad(w_m) - d_m),
        variance_m(m): variance(grad(w_m)),
        averaged2: mean_norm2(full_grad(w) - mean(d_m)),
        sampled2: expect(norm2(full_grad(w) - mean(d_m, over="sampled"))),
        fresh2: expect(norm2(full_grad(w) - mean(batch_grad(w), over="sampled"))),
        picked2(T): picked(norm2(full_grad(w))),
        picked_env2(T): picked(norm2(w - near) / rho**2),
        picked_erm_env2(T): picked(norm2(w - near_training) / rho**2),
        Delta: expect(f(start)) - f_star,
        Delta_rho: expect(f(near_start)) + expect(norm2(start - near_start)) / (2 * rho) - f_star,
    },
    formulas={residual: sqrt(residual2), move: sqrt(move2), bias_m(m): sqrt(bias2(m))},
    names={M: "C", I: "m", m: "i"},
)
