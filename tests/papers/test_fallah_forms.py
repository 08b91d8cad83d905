"""Closed forms of runs, on which order claims of Fallah, Mokhtari and Ozdaglar are decided: they are the runs."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from places import TESTS

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.language.algebra import Rational
from fedaudit.bounds.papers.fallah import forms
from fedaudit.verify import kernel
from fedaudit.verify.certify.command import certify
from fedaudit.verify.search.lowered_claim import lower

GOLDEN = TESTS / "certificates"
LABELS = ("thm4.5", "cor4.6", "remG.1")
BATCHES = ("D0", "D1", "D2")
REPAIRED = ("cor4.6~repaired", "remG.1~repaired")
TIED = {label: lower(statement(f"fallah/{label}")) for label in (*LABELS, *REPAIRED)}
REPLAYS = [(label, replay) for label, lowered in TIED.items() for replay in lowered.replays]


@pytest.mark.parametrize(("label", "replay"), REPLAYS)
def test_the_formula_is_what_the_kernel_replays(label: str, replay: dict[str, Any]) -> None:
    """In rationals, on a run that meets every assumption of theorem 4.5; and no other formula is."""
    form = TIED[label].claim["form"]
    name, measured, formula = form["then"][0]
    assert name == "="
    assert formula in [left for _, left, _ in TIED[label].claim["then"]]
    lhs, rhs, holds = kernel.evaluate(form, replay["instance"], (), replay["at"])
    assert holds
    assert lhs == rhs
    other = {**form, "then": [["=", measured, ["*", "1001/1000", formula]]]}
    assert not kernel.evaluate(other, replay["instance"], (), replay["at"])[2]


@pytest.mark.parametrize("label", LABELS)
def test_certify_takes_the_golden_certificate_and_asks_for_its_replays(label: str) -> None:
    golden = json.loads((GOLDEN / f"fallah-{label}.json").read_text())
    assert certify(golden, "a test")["accepted"]
    replays = golden["replays"]
    assert not certify({**golden, "replays": replays[:2]}, "a test")["accepted"]
    assert not certify({k: v for k, v in golden.items() if k != "replays"}, "a test")["accepted"]
    moved = {**replays[0], "instance": {**replays[0]["instance"], "w0": ["1/2"]}}  # another run than the formula's
    assert not certify({**golden, "replays": [moved, *replays[1:]]}, "a test")["accepted"]


def test_there_are_enough_sizes() -> None:
    assert all(len(lowered.replays) >= 4 for lowered in TIED.values())


@pytest.mark.parametrize("values", forms.THEOREM_SIZES)
def test_it_is_a_run_that_theorem_45_allows(values: dict[str, Any]) -> None:
    """Its steps are short enough, and F(w_0) = F^*."""
    instance = forms.run(values)
    parameters = {name: instance["parameters"][name] for name in ("alpha", "beta")} | dict.fromkeys(BATCHES, "1")
    claim = lower(statement("fallah/thm4.5~explicit")).claim
    constants = {**instance["constants"], "Delta": "0"}
    assert kernel.admissible(claim, {**instance, "constants": constants, "parameters": parameters})


def simulated(L: Fraction, alpha: Fraction, c: Fraction, betas: list[Fraction], tau: int) -> list[Fraction]:
    """E|grad F(wbar_{k,t})|^2, round by round, t = 0, ..., tau - 1: by definition, from the second moment of w_k.

    The user is drawn anew in every round; every update is grad F_i(w) = (1 - alpha L) f_i'(w - alpha f_i'(w)).
    """

    def update(w: Fraction, centre: Fraction, beta: Fraction) -> Fraction:
        inner = w - alpha * L * (w - centre)
        return w - beta * (1 - alpha * L) * L * (inner - centre)

    found: list[Fraction] = []
    models = {Fraction(0): Fraction(1)}  # the law of w_k
    for beta in betas:
        after: dict[Fraction, Fraction] = {}
        for w, mass in models.items():
            for centre in (c, -c):
                x = w
                for t in range(tau):
                    slope = sum((1 - alpha * L) * L * (x - alpha * L * (x - z) - z) for z in (c, -c)) / 2
                    found += [Fraction(0)] * (len(found) <= t)
                    found[t] += mass / 2 * slope**2
                    x = update(x, centre, beta)
                after[x] = after.get(x, Fraction(0)) + mass / 2
        models = after
    return found


@pytest.mark.parametrize(("tau", "K"), [(1, 1), (2, 2), (3, 4), (4, 6)])
def test_the_formula_is_the_run_by_definition(tau: int, K: int) -> None:
    """Every sequence of users, every update, in fractions: no code of the package runs."""
    L, alpha, c, beta = Fraction(1, 2), Fraction(1, 3), Fraction(3), Fraction(1, 40)
    mean = sum(simulated(L, alpha, c, [beta] * K, tau)) / (tau * K)
    claim = statement("fallah/thm4.5")
    values = {"L": L, "alpha": alpha, "c": c, "beta": beta, "E": Fraction(tau), "T": Fraction(K)}
    left: Any = claim.defined(claim.relations[0].lhs)
    formula = left.subs({s: Rational(*values[str(s)].as_integer_ratio()) for s in left.free_symbols})
    assert formula == Rational(mean.numerator, mean.denominator)


def mean_of(betas: list[float], tau: int, h: float, by_step: bool) -> float:
    """The mean of E|grad F|^2 over a run, from the recursion of E|w_k|^2, each round counted once or by its step."""
    v, total, weight = 0.0, 0.0, 0.0
    for beta in betas:
        q = 1 - beta * h
        ones, squares = (1 - q**tau) / (1 - q), (1 - q ** (2 * tau)) / (1 - q * q)  # sums of q^t and q^(2 t)
        each = (squares * v + tau - 2 * ones + squares) / tau
        total, weight = total + each * (beta if by_step else 1), weight + (beta if by_step else 1)
        v = q ** (2 * tau) * v + (1 - q**tau) ** 2
    return h**2 * total / weight


@pytest.mark.parametrize("by_step", [False, True])
def test_a_step_that_diminishes_in_every_round_does_no_better(by_step: bool) -> None:
    """Remark G.1 with beta_k = 1/sqrt(tau k), cut at 1/(10 tau L_F), and not only held over blocks: E|grad F|^2 falls
    with sqrt(epsilon), not with epsilon, from a run without the package's code; the floor of the claim is below it."""
    L, alpha = 1 / 8, 1 / 16
    h, L_F = L * (1 - alpha * L) ** 2, 4 * L + 5 / 3 * alpha * L**2
    found: list[float] = []
    for N in (16, 32, 64):  # epsilon = 1/N^2
        tau, K = N, N**3
        betas = [min(1 / (10 * tau * L_F), (tau * k) ** -0.5) for k in range(1, K + 1)]
        found.append(mean_of(betas, tau, h, by_step))
        held = [
            min(1 / (10 * tau * L_F), 1 / (tau * 4 ** ((k - 1).bit_length() + 1 >> 1)) ** 0.5) for k in range(1, K + 1)
        ]
        if N != 32:  # N^3 is a power of 4
            u = held[-1] * h
            P = (1 - u) ** tau
            rest = (1 - P ** (3 * K // 2)) / (3 * K / 4 * (1 + P))
            floor = h**2 * (1 - (1 - P) / (tau * u * (2 - u)) * (2 * (1 - u) + rest)) / 2
            assert floor <= mean_of(held, tau, h, by_step)
    assert 0.4 < found[1] / found[0] < 0.75  # 1/2 for sqrt(epsilon), 1/4 for epsilon
    assert 0.4 < found[2] / found[1] < 0.75


@pytest.mark.parametrize("m", [1, 2, 8, 27, 100])
def test_no_m_points_are_close_to_a_cube(m: int) -> None:
    """What section 4.1 is refuted with: all mass has to reach a sample, so W_1 is at least the mean distance."""
    rng = np.random.default_rng(m)
    side = (np.arange(24) + 0.5) / 24
    cube = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)
    k = round(m ** (1 / 3))
    centres = (np.stack(np.meshgrid(*[np.arange(k)] * 3), axis=-1).reshape(-1, 3) + 0.5) / k
    for points in (rng.random((m, 3)), centres[:m]):  # drawn, and as even as can be
        next_one = np.abs(cube[:, None] - points).max(axis=-1).min(axis=-1)
        assert next_one.mean() - 0.5 / 24 > (2 * m) ** (-1 / 3) / 4


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 2), (3, 2)])
def test_a_user_is_nearly_as_far_from_the_average_as_from_the_law(n: int, m: int) -> None:
    """E W_1(p_1, p) >= (1 - 1/n) E W_1(p_1, p_u), on a fair coin by enumeration."""
    near = far = Fraction(0)
    for draws in product((0, 1), repeat=n * m):
        ones = [Fraction(sum(draws[i * m : (i + 1) * m]), m) for i in range(n)]
        near += abs(ones[0] - sum(ones) / n)
        far += abs(ones[0] - Fraction(1, 2))
    assert near >= (1 - Fraction(1, n)) * far
