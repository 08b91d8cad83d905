"""Methods that somebody's own file may begin with, beside those of the papers."""

from __future__ import annotations

from sympy import Expr

from .method import Method
from .rule_expressions import expect, f, f_star, full_grad, grad, mean, noisy, norm2, start, vector, w_star
from .rule_parts import Number
from .statement import Glossary

STARTERS = {
    "fedavg": "FedAvg: E stochastic gradient steps at every client, then the mean",
    "gd": "gradient descent: one client, one step per round, no noise",
}


def starter(name: str) -> Method:
    """The method of this name, a key of `STARTERS`, with a glossary of its own."""
    G = Glossary()
    G.count("T", "rounds")
    G.count("E", "local steps per round")
    G.count("C", "clients")
    t, k, i = (G.index(*pair) for pair in (("t", "round"), ("k", "local step"), ("i", "client")))
    size = G.quantity("gamma", "W^2/F", "step size of round t", r"\gamma_{{{0}}}", positive=True)
    gap = G.quantity("gap", "F", "E f(w_t) - f*", r"\mathbb{{E}} f(w_{{{0}}}) - f^*", nonnegative=True)
    dist2 = G.quantity("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^*\|^2", nonnegative=True)
    slope2 = G.quantity(
        "slope2", "F^2/W^2", "E |grad f(w_t)|^2", r"\mathbb{{E}} \|\nabla f(w_{{{0}}})\|^2", nonnegative=True
    )
    grad2 = G.quantity(
        "grad2", "F^2/W^2", "E |g_i|^2 before local step k", r"\mathbb{{E}} \|g_{2}(w^{2}_{{{0},{1}}})\|^2",
        nonnegative=True,
    )  # fmt: skip
    w, w_i = vector("w"), vector("w_i")
    slope = noisy(grad(w_i)) if name == "fedavg" else grad(w_i)
    measures: dict[Expr, Number] = {
        gap(t): expect(f(w)) - f_star,
        dist2(t): expect(norm2(w - w_star)),
        slope2(t): expect(norm2(full_grad(w))),
        grad2(t, k, i): expect(norm2(slope)),
    }
    return Method(
        id=name,
        title={"fedavg": "FedAvg", "gd": "Gradient descent"}[name],
        cite={"fedavg": "McMahan et al. 2017, algorithm 1", "gd": "Cauchy 1847"}[name],
        glossary=G,
        server={w: start},
        client={w_i: w},
        begin={w_i: w},
        local={w_i: w_i - size(t) * slope},
        update={w: mean(w_i)},
        measures=measures,
    )
