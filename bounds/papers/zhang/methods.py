"""Algorithm 1 of the paper, as its box has it, its compact form, algorithm 2, and one proximal step (fact 1)."""

from dataclasses import replace

from ...language.algebra import Sum
from ...language.method import Method
from ...language.rule_expressions import (
    F,
    axis,
    conjugate,
    expect,
    f_star,
    full_grad,
    g,
    grad,
    inner,
    mean,
    noisy,
    norm2,
    point,
    prox,
    start,
    vector,
    w_star,
)
from .symbols import (
    G2,
    GLOSSARY,
    VSTEP2,
    XX,
    ZZ,
    F_plus,
    F_z,
    Omega,
    Omega_sc,
    R,
    S,
    cc,
    cc_apart,
    coordinate,
    direction2,
    dist2,
    drift,
    eta_g,
    eta_t,
    gap,
    grad_inner,
    i,
    l,
    lam2,
    lam2_i,
    level,
    mean_G2,
    mean_off2,
    model,
    moved2,
    n,
    off2,
    plus2,
    post2,
    post_server,
    post_star,
    r,
    server2,
    star2,
    step2,
    step_inner,
    still_conj,
    still_g,
    still_inner,
    sub_conj,
    sub_g,
    sub_inner,
    t,
    tau,
    vdev,
    vlevel,
    vstep2,
    xX,
    xx,
    z2,
    zZ,
    zz,
)  # fmt: skip

x, x_before = vector("x", r"\overline{\mathbf x}"), vector("P_before", r"P(\overline{\mathbf x}^{-})")
zhat, z, c = vector("zhat", r"\hat{\mathbf z}_i"), vector("z", r"\mathbf z_i"), vector("c", r"\mathbf c_i")
s, s_before = vector("s", r"\mathbf s_i"), vector("s_before", r"\mathbf s_i^{-}")  # sums of stochastic gradients
eta = eta_t / (eta_g * tau)
P = prox(x, eta_t)
onward = P + eta_g * (mean(zhat) - P)  # the next x, line 13
virtual = prox(P - eta_t * full_grad(P), eta_t)  # (4)
Lambda = eta * tau * grad(P) + eta * (mean(s_before) - s_before)  # (10)
apart = norm2(Lambda - mean(Lambda))
subgradient = (P - eta_t * full_grad(P) - virtual) / eta_t  # G(P) - grad f(P), (12)
along = prox(x_before - eta_t * mean(s_before) / tau, eta_t)  # the right side of (3), one round later

FORMULAS = {
    mean_G2(R): Sum(G2(r), (r, 1, R)) / R,
    G2(r): vstep2(r) / eta_t**2,
    Omega(r): gap(r) + lam2(r) / (n * eta_t),
    Omega_sc(r): dist2(r) + lam2(r) / n,
    drift(r): n * Sum(mean_off2(r, t), (t, 0, tau - 1)),
    S(r, t, i): Sum(off2(r, l, i), (l, 0, t)),
    step2(r): moved2(r + 1),
    vdev(r): direction2(r + 1),
}

PROPOSED = Method(
    id="composite",
    title="Algorithm 1: proximal steps, decoupled from communication, with corrections of the drift",
    cite="Algorithm 1, section 2.1",
    glossary=GLOSSARY,
    counts_from=1,
    server={x: start, x_before: start},
    client={zhat: x, z: x, c: 0, s: 0, s_before: 0},
    begin={zhat: P, z: P, s: 0},
    local={
        zhat: zhat - eta * (noisy(grad(z)) + c),
        z: prox(zhat - eta * (noisy(grad(z)) + c), (t + 1) * eta),
        s: s + noisy(grad(z)),
    },
    end={c: (P - onward) / (eta_g * eta * tau) - s / tau, s_before: s},
    update={x: onward, x_before: P},
    measures={
        gap(r): expect(F(P)) - f_star,
        level(r): expect(F(P)),
        vlevel(r): expect(F(virtual)),
        vstep2(r): expect(norm2(virtual - P)),
        dist2(r): expect(norm2(P - w_star)),
        lam2(r): n * expect(mean(apart)),
        lam2_i(r, i): expect(apart),
        moved2(r): expect(norm2(P - x_before)),
        direction2(r): expect(norm2(mean(s_before) / tau - full_grad(x_before))),
        off2(r, t, i): expect(norm2(z - P)),
        mean_off2(r, t): expect(mean(norm2(z - P))),
        sub_inner(r): expect(inner(subgradient, virtual)),
        sub_g(r): expect(g(virtual)),
        sub_conj(r): expect(conjugate(subgradient)),
        cc(r): expect(mean(norm2(c))),
        cc_apart(r): expect(mean(norm2(c - mean(c)))),
        post2(r): expect(norm2(P)),
        model(r, coordinate): expect(inner(P, axis)),
        server2(r): expect(norm2(along)),
        post_server(r): expect(inner(P, along)),
    },
    formulas=FORMULAS,
)

X, Zhat, Z = vector("X", r"\overline{\mathbf X}"), vector("Zhat", r"\hat{\mathbf Z}_i"), vector("Z", r"\mathbf Z_i")
s_c, s_c_before = vector("s_c", r"\mathbf S_i"), vector("s_c_before", r"\mathbf S_i^{-}")
PX = prox(X, eta_t)
compact_direction = noisy(grad(Z)) + (mean(s_c_before) - s_c_before) / tau

COMPACT = replace(
    PROPOSED,
    id="composite-compact",
    title="Algorithm 1 and beside it its compact form, on the same minibatches",
    cite="Algorithm 1 and equation (2), section 2.2",
    server={**PROPOSED.server, X: start},
    client={**PROPOSED.client, Zhat: x, Z: x, s_c: 0, s_c_before: 0},
    begin={**PROPOSED.begin, Zhat: PX, Z: PX, s_c: 0},
    local={
        **PROPOSED.local,
        Zhat: Zhat - eta * compact_direction,
        Z: prox(Zhat - eta * compact_direction, (t + 1) * eta),
        s_c: s_c + noisy(grad(Z)),
    },
    end={**PROPOSED.end, s_c_before: s_c},
    update={**PROPOSED.update, X: PX - eta_g * eta * mean(s_c)},
    measures={
        vstep2(r): PROPOSED.measures[vstep2(r)],
        VSTEP2(r): expect(norm2(prox(PX - eta_t * full_grad(PX), eta_t) - PX)),
        xx(r): expect(norm2(x)),
        XX(r): expect(norm2(X)),
        xX(r): expect(inner(x, X)),
        zz(r, t): expect(mean(norm2(zhat))),
        ZZ(r, t): expect(mean(norm2(Zhat))),
        zZ(r, t): expect(mean(inner(zhat, Zhat))),
    },
    formulas={},
)

FROM_STATIONARY = replace(
    PROPOSED,
    id="composite-stationary",
    title="Algorithm 1 with full gradients, from a stationary point",
    cite="Algorithm 2, appendix A.2",
    server={x: w_star - eta_t * full_grad(w_star)},
    client={zhat: x, z: x, c: 0, s: 0},
    local={zhat: zhat - eta * (grad(z) + c), z: prox(zhat - eta * (grad(z) + c), (t + 1) * eta), s: s + grad(z)},
    end={c: PROPOSED.end[c]},
    update={x: onward},
    measures={
        post2(r): expect(norm2(P)),
        star2(r): expect(norm2(w_star)),
        post_star(r): expect(inner(P, w_star)),
    },
    formulas={},
)

AT_STATIONARY = replace(
    FROM_STATIONARY,
    id="composite-at-stationary",
    title="What the optimality measure reads at a stationary point",
    cite="Below (12), section 3",
    measures={
        vstep2(r): expect(norm2(virtual - P)),
        still_inner(r): expect(inner(subgradient, P)),
        still_g(r): expect(g(P)),
        still_conj(r): expect(conjugate(subgradient)),
    },
)

y, v, w = vector("y", r"\mathbf x"), vector("v"), vector("w", r"\mathbf z")
plus = prox(y - eta_t * v, eta_t)

PROXIMAL_STEP = Method(
    id="proximal-step",
    title="One proximal step from x along v, compared with z",
    cite="Fact 1, appendix A.5",
    glossary=GLOSSARY,
    counts_from=1,
    server={y: start, v: point("along") / eta_t, w: point("other")},
    client={},
    measures={
        F_plus(r): expect(F(plus)),
        F_z(r): expect(F(w)),
        grad_inner(r): expect(inner(full_grad(y) - v, plus - w)),
        step_inner(r): expect(inner(plus - y, plus - w)),
        plus2(r): expect(norm2(plus - y)),
        z2(r): expect(norm2(w - y)),
    },
)
