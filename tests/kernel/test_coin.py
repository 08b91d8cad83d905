"""A coin in every round: by definition, in the kernel, in arrays and in worst cases; and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from runs import EXAMPLES

import fedaudit as fa
from fedaudit.bounds.formulas.algorithm_box import box
from fedaudit.bounds.lint.method_check import method_faults
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.moves.audit import hunt, read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.lowered_claim import unchecked
from fedaudit.verify.search.rationalise import replay, scored
from fedaudit.verify.search.score import genes_of

PROXSKIP = {one.id: one for one in fa.load(EXAMPLES / "proxskip.py")}
RATE = PROXSKIP["proxskip/rate"]
METHOD: Any = RATE.method
HALF = Fraction(1, 2)


def by_definition(a: list[Fraction], c: list[Fraction], x0: Fraction, gamma: Fraction, q: Fraction, T: int) -> Fraction:
    """E psi(T) of ProxSkip on f_i = a_i (x - c_i)^2/2: every outcome of T coins, one after the other."""
    C = len(a)
    star = sum(ai * ci for ai, ci in zip(a, c, strict=True)) / sum(a)
    slopes = [ai * (star - ci) for ai, ci in zip(a, c, strict=True)]
    total = Fraction(0)
    for coins in product((True, False), repeat=T):
        x, h, chance = [x0] * C, [Fraction(0)] * C, Fraction(1)
        for heads in coins:
            chance *= q if heads else 1 - q
            x = [xi - gamma * (ai * (xi - ci) - hi) for xi, hi, ai, ci in zip(x, h, a, c, strict=True)]
            if heads:
                mean = sum(x) / C
                h = [hi + q / gamma * (mean - xi) for xi, hi in zip(x, h, strict=True)]
                x = [mean] * C
        far = sum((xi - star) ** 2 for xi in x) / C
        learnt = sum((hi - si) ** 2 for hi, si in zip(h, slopes, strict=True)) / C
        total += chance * (far + gamma**2 / q**2 * learnt)
    return total


def instance(a: list[Fraction], c: list[Fraction], x0: Fraction, gamma: Fraction, q: Fraction, T: int) -> Any:
    """The same run in the kernel's format."""
    star = sum(ai * ci for ai, ci in zip(a, c, strict=True)) / sum(a)
    return {
        "C": len(a), "d": 1, "E": 1, "T": T, "p": [str(Fraction(1, len(a)))] * len(a), "w0": [str(x0)],
        "constants": {"L": str(max(a)), "mu": str(min(a))}, "parameters": {"gamma": str(gamma), "q": str(q)},
        "clients": [{"kind": "quadratic", "A": [[str(ai)]], "b": [str(ai * ci)]} for ai, ci in zip(a, c, strict=True)],
        "noise": {"kind": "none"}, "w_star": [str(star)],
    }  # fmt: skip


RUN: Any = ([Fraction(1), Fraction(2)], [Fraction(1), Fraction(-3)], Fraction(2), Fraction(1, 3))


@pytest.mark.parametrize(("q", "T"), [(HALF, 1), (HALF, 3), (Fraction(1, 5), 2), (Fraction(1), 2)])
def test_the_kernel_says_what_the_definition_says(q: Fraction, T: int) -> None:
    reading, _ = read(RATE)
    lhs, rhs, holds = kernel.evaluate(reading.claim, instance(*RUN, q, T), (), {"relation": 0})
    assert str(lhs) == str(by_definition(*RUN, q, T))
    assert holds
    least = max(1 - RUN[3], 1 - q**2)
    assert str(rhs) == str(least**T * by_definition(*RUN, q, 0))


def skipped(**changed: Any) -> fa.Statement:
    """Local SGD whose clients meet when a coin says so, and a claim about it; `changed`: fields of the method."""
    glossary = fa.Glossary()
    T, E, t = glossary.count("T", "rounds"), glossary.count("E", "local steps"), glossary.index("t", "round")
    L, q = glossary.symbol("L", "F/W^2", "smoothness"), glossary.symbol("q", "1", "chance")
    sigma = glossary.symbol("sigma", "F/W", "noise", nonnegative=True)
    gamma = glossary.symbol("gamma", "W^2/F", "step size")
    far = glossary.quantity("far", "W^2", "mean |x_i - x*|^2", nonnegative=True)
    z, x = fa.vector("z"), fa.vector("x")
    fields: dict[str, Any] = {
        "id": "skipped-sgd", "title": "Local SGD that skips", "cite": "made up", "glossary": glossary,
        "server": {z: fa.start}, "client": {x: z}, "local": {x: x - gamma * fa.noisy(fa.grad(x))},
        "end": {x: x + fa.coin(fa.mean(x) - x, q)},
        "measures": {far(t): fa.expect(fa.mean(fa.norm2(x - fa.w_star)))},
    }  # fmt: skip
    made = {name: change(z, x, q, t, far) for name, change in changed.items()}
    let = (
        fa.Assumption("smooth", (L,)),
        fa.Assumption("convex"),
        fa.Assumption("bounded_variance", (sigma,)),
        fa.Assumption("independent_noise"),
        fa.Assumption("equal_weights"),
    )
    return fa.Statement(
        id="skipped/far", kind="inequality", title="No claim of ours", cite="made up", let=let,
        method=fa.Method(**fields | made), glossary=glossary, then=fa.Le(far(T), far(0)),
        when=(fa.Le(E, 2), fa.Le(L * gamma, 1), fa.Le(q, 1)),
    )  # fmt: skip


@pytest.mark.parametrize("statement", [RATE, skipped()], ids=lambda one: one.id)
def test_arrays_say_what_the_kernel_says(statement: fa.Statement) -> None:
    reading, world = read(statement)
    rng, kinds = np.random.default_rng(3), set[tuple[str, str]]()
    for shape in world.shapes(reading):
        genes = genes_of(reading, world, shape)
        exact = exactly(genes, draw(genes, 1, rng), 0, 2)
        found = replay(reading, world, shape, exact) if shape["T"] <= 4 else None
        if found is not None:
            floats = scored(reading, world, shape, exact)
            assert float(floats.lhs[0]) == pytest.approx(float(Fraction(found.lhs)), rel=1e-9, abs=1e-12)
            kinds.add((shape.flag("loss"), shape.flag("noise")))
    noises = {"none", "independent"} if statement is not RATE else {"none"}
    assert kinds == set(product({"quadratic", "bent"}, noises))


MISUSED: dict[str, Any] = {
    "measures": lambda z, x, q, t, far: {far(t): fa.expect(fa.mean(fa.norm2(fa.coin(x, q) - fa.w_star)))},
    "client": lambda z, x, q, t, far: {x: fa.coin(z, q)},
    "end": lambda z, x, q, t, far: {x: fa.coin(fa.mean(x), q) + fa.coin(x, 1 - q)},
    "clock": lambda z, x, q, t, far: "steps",
}


@pytest.mark.parametrize("name", MISUSED)
def test_a_coin_that_no_run_can_toss_is_said_by_lint_and_refused_by_the_kernel(name: str) -> None:
    statement = skipped(**{name: MISUSED[name]})
    method: Any = statement.method
    assert any("coin" in fault.got for fault in method_faults(method))
    claim = unchecked(statement).claim
    sizes = instance(*RUN, HALF, 2)
    with pytest.raises(Malformed, match="coin"):
        kernel.evaluate(claim, {**sizes, "constants": {"L": "2", "sigma": "0"}}, (), {"relation": 0})


@pytest.mark.parametrize("q", [Fraction(3, 2), Fraction(-1, 2)])
def test_a_chance_is_between_0_and_1(q: Fraction) -> None:
    claim = {**read(RATE)[0].claim, "when": []}
    with pytest.raises(Rejected):
        kernel.evaluate(claim, instance(*RUN, q, 1), (), {"relation": 0})


def test_the_false_rate_falls_and_its_worst_case_is_attained() -> None:
    verdict = hunt(PROXSKIP["proxskip/too-fast"], 0, 0.5)
    assert isinstance(verdict, fa.Refuted)
    kernel.check(verdict.certificate)
    values: dict[str, Any] = {"L": 2, "mu": 1, "gamma": "1/2", "q": "1/2", "C": 2, "T": 2}
    fast, true = (fa.worst(PROXSKIP[name], **values) for name in ("proxskip/too-fast", "proxskip/rate"))
    assert fast.refuted
    assert true.holds


def test_a_simulated_run_tosses_the_coin() -> None:
    problem = fa.Problem.quadratic([[2.0], [1.0]], [[1.0], [-1.0]])
    drawn = fa.simulate(METHOD, problem, rounds=200, gamma=0.25, q=0.5, repeats=3)["psi"]
    assert drawn.shape == (3, 201)
    assert len(np.unique(drawn[:, 12])) == 3  # each run has coins of its own
    assert (drawn[:, -1] < 1e-9 * drawn[:, 0]).all()


def test_a_coin_prints_and_is_written_again() -> None:
    assert "coin_(q)((mean_i x) - x)" in box(METHOD)
