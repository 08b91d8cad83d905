"""The assumption `mean_smooth`: f = sum p_i f_i is L-smooth, whatever the clients' own losses are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import fedaudit as fa
from fedaudit.bounds.language.derivation import Argument, Derivation, Step, View
from fedaudit.bounds.proofs.atoms import Smooth
from fedaudit.bounds.proofs.premise_identity import shown
from fedaudit.errors import UserError
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.prover.framing import frame_of

G = fa.Glossary()
L, gamma = G.symbol("L", "F/W^2", "smoothness"), G.quantity("gamma", "W^2/F", "step size", positive=True)
t, T, C = G.index("t", "round"), G.count("T", "rounds"), G.count("C", "clients")
value, slope2 = G.quantity("value", "F", "f(x_t)"), G.quantity("slope2", "F^2/W^2", "|grad f(x_t)|^2", nonnegative=True)
x = fa.vector("x")
SLOPE = fa.mean(fa.grad(x))
DESCENT = fa.Method(
    id="descent", title="Gradient descent on the mean", cite="made up", glossary=G,
    server={x: fa.start}, client={}, update={x: x - gamma(t) * SLOPE},
    measures={value(t): fa.expect(fa.f(x)), slope2(t): fa.expect(fa.norm2(SLOPE))},
)  # fmt: skip
WEIGHTS = fa.Assumption("distribution", says="weights are positive and sum to 1")
CLAIM = fa.Statement(
    id="mine/descent-lemma", kind="inequality", title="The descent lemma", cite="made up", method=DESCENT, glossary=G,
    let=(fa.Assumption("mean_smooth", (L,), "f is L-smooth"), WEIGHTS), for_all={t: (0, T - 1)},
    then=fa.Le(value(t + 1), value(t) - gamma(t) * (1 - L * gamma(t) / 2) * slope2(t)),
)  # fmt: skip
CLAIM_DATA: Any = read(CLAIM)[0].claim


def with_clients(L: str, *curvatures: str) -> dict[str, Any]:
    """An instance of clients a_i w^2/2 that count the same."""
    clients = [{"kind": "quadratic", "A": [[a]], "b": ["0"]} for a in curvatures]
    return {
        "C": 2, "d": 1, "E": 1, "T": 1, "p": ["1/2", "1/2"], "w0": ["1"], "constants": {"L": L}, "parameters": {},
        "clients": clients, "noise": {"kind": "none"}, "steps": {"gamma": ["1"]},
    }  # fmt: skip


def by(over: Any, name: str = "mean_smooth") -> Any:
    """The step that a proof of the claim takes from its assumption."""
    frame = frame_of(CLAIM)
    assert frame is not None
    atom = Smooth(x, x - gamma(t) * SLOPE, L, over, named=name)
    return shown(CLAIM.relations[0], "the parabola of f at x_t", frame, (1, atom), at=(t, frame.sizes[0]))


@pytest.mark.parametrize("curvatures", [("3", "-1"), ("-5", "3"), ("1", "1")])
def test_the_kernel_admits_clients_that_bend_more_than_f(curvatures: tuple[str, str]) -> None:
    kernel.admit(CLAIM_DATA, with_clients("1", *curvatures), ())


@pytest.mark.parametrize("curvatures", [("3", "0"), ("-3", "0"), ("1", "101/100")])
def test_the_kernel_refuses_an_f_that_bends_more_in_either_direction(curvatures: tuple[str, str]) -> None:
    with pytest.raises(kernel.Rejected, match="mean_smooth"):
        kernel.admit(CLAIM_DATA, with_clients("1", *curvatures), ())


def test_it_is_less_than_smoothness_of_every_client() -> None:
    each = {**CLAIM_DATA, "let": [["smooth", "L"] if one[0] == "mean_smooth" else one for one in CLAIM_DATA["let"]]}
    with pytest.raises(kernel.Rejected, match="assumption smooth"):
        kernel.admit(each, with_clients("1", "3", "-1"), ())
    kernel.admit(each, with_clients("3", "3", "-1"), ())


def test_the_descent_lemma_survives_and_half_of_its_curvature_falls() -> None:
    assert fa.lint(CLAIM).findings == ()
    survived = fa.verify(CLAIM, budget=1)
    assert isinstance(survived, fa.Survived)
    assert survived.search.instances > 100
    wrong = fa.Le(value(t + 1), value(t) - gamma(t) * (1 - L * gamma(t) / 4) * slope2(t))
    assert isinstance(fa.hunt(replace(CLAIM, id="mine/half", then=wrong), budget=1), fa.Refuted)


def test_the_kernel_accepts_its_proof_from_the_mean_alone() -> None:
    def argument(goal: View) -> Argument:
        last = Step(goal.relations[0], given=(by("mean"),))
        return Argument((last,), last)

    audited = fa.audit(replace(CLAIM, follows_from=(Derivation(argument),)), budget=0.3)
    assert isinstance(audited.verdict, fa.Proved)


def test_no_proof_takes_it_of_one_client() -> None:
    with pytest.raises(UserError, match="mean_smooth at a client's own point, expected a mean at shared points"):
        by("one")
    with pytest.raises(UserError, match="does not say that a function is smooth"):
        by("mean", "mean_convex")
