"""The algorithm boxes. With one client and one step per round they are the classical methods."""

from typing import Any

from ...language.algebra import Sum
from ...language.method import Method
from ...language.rule_expressions import (
    F,
    expect,
    f,
    f_star,
    full_grad,
    g,
    grad,
    inner,
    least,
    mean,
    norm2,
    point,
    prox,
    start,
    vector,
    w_star,
)
from ...language.rule_parts import zero
from .symbols import (
    GLOSSARY,
    L,
    T,
    across,
    best,
    dist2,
    error2,
    gamma,
    gap,
    grad2,
    last,
    level,
    over,
    pull,
    q,
    s,
    star2,
    t,
)

e, after = vector("e"), vector("after", "e^+")  # errors over L: points, as seen from the start
x, y, a, v, z = vector("x"), vector("y"), vector("a", "x_0"), vector("v"), vector("z")

DESCENT = Method(
    id="descent",
    title="Gradient descent; with several clients and steps per round FedAvg",
    cite="Cauchy 1847; McMahan et al. 2017",
    glossary=GLOSSARY,
    server={x: start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * grad(y)},
    update={x: mean(y)},
    measures={
        gap(t): expect(f(x)) - f_star,
        level(t): expect(f(x)),
        dist2(t): expect(norm2(x - w_star)),
        grad2(t): expect(norm2(full_grad(x))),
        star2(t): expect(mean(norm2(grad(w_star)))),
        best: least(f(y) - f(w_star)),
    },
)


def momentum(id: str, title: str, cite: str, ahead: Any) -> Method:
    """Gradient steps from points that run ahead by `ahead` times the last step."""
    return Method(
        id=id,
        title=title,
        cite=cite,
        glossary=GLOSSARY,
        server={x: start, v: start},
        client={y: v},
        begin={y: v},
        local={y: y - gamma(t) * grad(y)},
        update={x: mean(y), v: mean(y) + ahead * (mean(y) - x)},
        measures={gap(t): expect(f(x)) - f_star, dist2(t): expect(norm2(x - w_star))},
    )


GROWING = momentum("accelerated", "Accelerated gradient with momentum t/(t + 3)", "Nesterov 1983", t / (t + 3))
CONSTANT = momentum(
    "constant-momentum", "Accelerated gradient with constant momentum", "Nesterov 2004, (2.2.11)", (1 - q) / (1 + q)
)

share = pull(t) / Sum(pull(s), (s, 0, t))
ahead = (1 - share) * x + share * z
final = last / (Sum(pull(s), (s, 0, T - 1)) + last)
OPTIMIZED = Method(
    id="optimized-gradient",
    title="Optimized gradient method with weights a_t of the gradients",
    cite="Kim and Fessler 2016, 2018",
    glossary=GLOSSARY,
    server={x: start, z: start},
    client={y: x},
    begin={y: ahead},
    local={y: y - gamma(t) * grad(y)},
    update={x: mean(y), z: z - pull(t) * (ahead - mean(y))},
    measures={gap(t): expect(f((1 - final) * x + final * z)) - f_star, dist2(t): expect(norm2(x - w_star))},
)

INEXACT = Method(
    id="inexact-descent",
    title="Two steps of gradient descent, each with any error in its gradient",
    cite="de Klerk, Glineur and Taylor 2020, algorithm 1",
    glossary=GLOSSARY,
    server={x: start, e: point("first") - start, after: point("second") - start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * (grad(y) + L * e)},
    update={x: mean(y), e: after},
    measures={
        gap(t): expect(f(x)) - f_star,
        grad2(t): expect(norm2(full_grad(x))),
        error2(t): expect(norm2(L * e)),
    },
)

LINE_SEARCH = Method(
    id="line-search",
    title="Gradient descent that remembers its last step",
    cite="Cauchy 1847",
    glossary=GLOSSARY,
    server={x: start, v: zero},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * grad(y)},
    update={x: mean(y), v: x - mean(y)},
    measures={gap(t): expect(f(x)) - f_star, across(t): expect(inner(full_grad(x), v))},
)

HALPERN = Method(
    id="halpern",
    title="Halpern's iteration, anchored at the start, with gradient steps",
    cite="Halpern 1967",
    glossary=GLOSSARY,
    server={x: start, a: start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * grad(y)},
    update={x: a / (t + 2) + (t + 1) / (t + 2) * mean(y)},
    measures={
        dist2(t): expect(norm2(x - w_star)),
        grad2(t): expect(norm2(full_grad(x))),
    },
)

PROXIMAL_GRADIENT = Method(
    id="proximal-gradient",
    title="Proximal gradient method",
    cite="Lions and Mercier 1979",
    glossary=GLOSSARY,
    server={x: start},
    client={y: x},
    begin={y: x},
    local={y: prox(y - gamma(t) * grad(y), gamma(t))},
    update={x: mean(y)},
    measures={gap(t): expect(F(x)) - f_star, dist2(t): expect(norm2(x - w_star))},
)

PROXIMAL_POINT = Method(
    id="proximal-point",
    title="Proximal point method",
    cite="Martinet 1970",
    glossary=GLOSSARY,
    server={x: start},
    client={y: x},
    begin={y: x},
    local={y: prox(y, gamma(t))},
    update={x: mean(y)},
    measures={over(t): expect(g(x) - g(w_star)), dist2(t): expect(norm2(x - w_star))},
)
