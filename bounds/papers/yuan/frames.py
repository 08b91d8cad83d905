"""What the names of lemmas 4, 7 and of theorem 2 mean: a proximal step, directions of sampled devices, a round."""

from sympy import Function, IndexedBase, Symbol

from ...language.assumptions import EVEN, SIGN, SUM
from ...language.method import Method
from ...language.rule_expressions import (
    expect,
    f,
    f_star,
    full_grad,
    g,
    grad,
    inner,
    mean,
    norm2,
    oracle,
    point,
    prox,
    start,
    vector,
)
from ...proofs.frame import CHARGES, Frame
from ...proofs.settings.uniform_subset import LETTERS, direction, on_a_subset, sizes
from ...proofs.vectors import FRESH
from .run import FEDMSPP, near, w, w_m
from .symbols import (
    GLOSSARY,
    I,
    M,
    among,
    deviation,
    eta,
    f_plus,
    f_u,
    global2,
    j,
    local2,
    m,
    mean_d,
    moved2,
    plus_u2,
    rho,
    sampled_d,
    u_w2,
)

around, beside = vector("w"), vector("u")
_plus = prox(around, eta)

ON_A_PROX = Frame(
    Method(
        id="prox",
        title="A proximal step from w on one function f, compared with u",
        cite="lemma 7, appendix B.2",
        glossary=GLOSSARY,
        server={around: start, beside: start},
        client={},
        measures={  # f stands where other methods have a regulariser
            f_plus: expect(g(_plus)),
            f_u: expect(g(beside)),
            moved2: expect(norm2(_plus - around)),
            u_w2: expect(norm2(beside - around)),
            plus_u2: expect(norm2(_plus - beside)),
        },
    ),
    {},
    LETTERS,
    sizes(M),
    IndexedBase("p"),
)

_drawn, _all = mean(direction, over="sampled"), mean(direction)
_unit = point("unit")  # along coordinate j

ON_A_SUBSET = on_a_subset(
    "lemma 4, appendix B.1",
    GLOSSARY,
    {
        sampled_d(j): expect(inner(_drawn, _unit)),
        mean_d(j): expect(inner(_all, _unit)),
        deviation: expect(norm2(_drawn - _all)),
        among: expect(mean(norm2(direction - _all))),
    },
    I,
    M,
)

ON_DEVICES = Frame(
    Method(
        id="devices",
        title="Devices at one point w",
        cite="definition 1",
        glossary=GLOSSARY,
        server={around: start},
        client={},
        measures={local2(m): expect(norm2(grad(around))), global2: expect(norm2(full_grad(around)))},
    ),
    {},
    (LETTERS[0], LETTERS[1], m, LETTERS[3]),
    sizes(M),
    IndexedBase("p"),
    dict.fromkeys((SUM, SIGN, EVEN)),  # the mean over the devices is a plain one
    even=True,
    same=True,
)

# --- a round of FedMSPP with exact local solutions --------------------------------------------------------------------

t = Symbol("t", integer=True, nonnegative=True)
_k, _steps = Symbol("k", integer=True, nonnegative=True), Symbol("E", integer=True, positive=True)
END = (t, _steps)  # where a round ends
after = mean(w_m, over="sampled")  # w_t where w is w_{t-1}

risk, risk_near, envelope = (Function(name, real=True) for name in ("risk", "risk_near", "envelope"))
far2, close2, step2, spread2, slope2 = (
    Function(name, nonnegative=True) for name in ("far2", "close2", "step2", "spread2", "slope2")
)
floor = Symbol("floor", real=True)

ON_FEDMSPP = Frame(
    FEDMSPP,
    {
        risk(t): expect(f(w)),
        risk_near(t): expect(f(near)),
        envelope(t): expect(f(near)) + expect(norm2(w - near)) / (2 * rho),  # R_rho
        far2(t): expect(norm2(w - near)),
        close2(t): expect(norm2(near - after)),
        step2(t): expect(norm2(after - w)),
        spread2(t): expect(mean(norm2(w_m - w))),
        slope2(t): expect(norm2(w - near) / rho**2),  # |grad R_rho|^2, as it is measured
        floor: f_star,
    },
    (t, _k, Symbol("i"), Symbol("j")),
    (_steps, M),
    IndexedBase("p"),
    {SUM: CHARGES[EVEN], SIGN: CHARGES[EVEN], FRESH: None},  # minibatches are the algorithm's
    even=True,
    sample=I,
    kept={w_m: lambda k: oracle(w, eta)},
)
