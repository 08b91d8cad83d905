"""The assumption `mean_convex`: f = sum p_i f_i is convex, whatever the clients' own losses are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import fedaudit as fa
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read

G = fa.Glossary()
L, gamma = G.symbol("L", "F/W^2", "smoothness"), G.quantity("gamma", "W^2/F", "step size", positive=True)
t, E, T, C = G.index("t", "round"), G.count("E", "local steps"), G.count("T", "rounds"), G.count("C", "clients")
dist2 = G.quantity("dist2", "W^2", "|x_t - x*|^2", nonnegative=True)
x, y = fa.vector("x"), fa.vector("y")
LOCAL = fa.Method(
    id="local", title="Local gradient steps", cite="made up", glossary=G,
    server={x: fa.start}, client={y: x}, begin={y: x}, local={y: y - gamma(t) * fa.grad(y)}, update={x: fa.mean(y)},
    measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star))},
)  # fmt: skip
KNOWN = (
    fa.Assumption("smooth", (L,), "every f_i is L-smooth"),
    fa.Assumption("distribution", says="weights are positive and sum to 1"),
    fa.Assumption("lower_bounded", says="f has a minimum"),
)
CONVEX = fa.Assumption("mean_convex", says="f is convex")
CLAIM = fa.Statement(
    id="mine/closer", kind="inequality", title="A step leads no further away", cite="made up", method=LOCAL, glossary=G,
    let=(*KNOWN, CONVEX), choose={gamma(t): 1 / L}, when=(fa.Eq(E, 1),), for_all={t: (0, T - 1)},
    then=fa.Le(dist2(t + 1), dist2(t)),
)  # fmt: skip
CLAIM_DATA: Any = read(CLAIM)[0].claim


def with_clients(*curvatures: str) -> dict[str, Any]:
    """An instance of clients a_i w^2/2 that count the same."""
    clients = [{"kind": "quadratic", "A": [[a]], "b": ["0"]} for a in curvatures]
    return {
        "C": 2, "d": 1, "E": 1, "T": 1, "p": ["1/2", "1/2"], "w0": ["1"], "constants": {"L": "3"}, "parameters": {},
        "clients": clients, "noise": {"kind": "none"}, "w_star": ["0"],
    }  # fmt: skip


def test_with_one_local_step_convexity_of_the_mean_is_enough() -> None:
    assert fa.lint(CLAIM).findings == ()
    verdict = fa.verify(CLAIM, budget=1)
    assert isinstance(verdict, fa.Survived)
    assert verdict.search.instances > 100


def test_without_it_a_step_may_lead_away_and_that_is_no_counterexample_with_it() -> None:
    verdict = fa.hunt(replace(CLAIM, let=KNOWN), budget=1)
    assert isinstance(verdict, fa.Refuted)
    with pytest.raises(kernel.Rejected, match="mean_convex"):
        kernel.admit(CLAIM_DATA, verdict.certificate["instance"], ())


def test_one_client_need_not_be_convex() -> None:
    kernel.admit(CLAIM_DATA, with_clients("3", "-1"), ())
    convex = [["convex"] if one == ["mean_convex"] else one for one in CLAIM_DATA["let"]]
    with pytest.raises(kernel.Rejected, match="assumption convex"):
        kernel.admit({**CLAIM_DATA, "let": convex}, with_clients("3", "-1"), ())
    no_minimum = {name: value for name, value in with_clients("1", "-3").items() if name != "w_star"}
    with pytest.raises(kernel.Rejected, match="mean_convex"):
        kernel.admit(
            {**CLAIM_DATA, "let": [one for one in CLAIM_DATA["let"] if one != ["lower_bounded"]]}, no_minimum, ()
        )
