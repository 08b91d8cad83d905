"""One FedProx, four ways to run it: plain loops, stepwise, fast-forward, another array library."""

import tracemalloc

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_problems_moments import two_group

from fedaudit.problems import affine, backend
from fedaudit.problems.fedprox import ALL, LOCAL, SERVER, simulate, simulate_any
from fedaudit.problems.moments import expected
from fedaudit.problems.piecewise import Piecewise
from fedaudit.problems.quadratics import Quadratics
from fedaudit.problems.run import set_up

AGREE = {"rtol": 1e-9, "atol": 1e-11}


def quadratics(rng, batch, C, d, uniform=False):
    R = rng.normal(size=(*batch, C, d, d)) / np.sqrt(d)
    A = R @ R.swapaxes(-1, -2)
    p = np.full(C, 1 / C) if uniform else rng.dirichlet(np.ones(C), size=batch)
    return Quadratics((A + A.swapaxes(-1, -2)) / 2 + 0.2 * np.eye(d), rng.normal(size=(*batch, C, d)), p)


def huber(rng, batch, C, d):
    a, m, lo, hi = (rng.uniform(0, 2, size=(*batch, C, d)) for _ in range(4))
    return Piecewise(a, m, lo, hi, rng.normal(size=(*batch, C, d)), rng.dirichlet(np.ones(C), size=batch))


def plain(problem, w0, alpha, gamma, E, noise):
    """Rule (4.3) for one instance and one noise path, a client and a step at a time."""
    C, T = problem.C, len(gamma)
    w_star, server = problem.minimiser(), w0
    f = lambda w: np.sum(problem.p * problem.value(np.tile(w, (C, 1))))  # noqa: E731
    out = {name: np.zeros((T, E + 1, C)) for name in LOCAL} | {name: np.zeros(T + 1) for name in SERVER}
    for t in range(T + 1):
        out["gap"][t] = f(server) - f(w_star)
        out["dist2"][t] = np.sum((server - w_star) ** 2)
        if t == T:
            break
        w = np.tile(server, (C, 1))
        for k in range(E + 1):
            g = problem.grad(w)
            average = sum(problem.p[i] * w[i] for i in range(C))
            for i in range(C):
                out["deviation"][t, k, i] = np.sum((w[i] - server) ** 2)
                out["divergence"][t, k, i] = np.sum((average - w[i]) ** 2)
                out["grad2"][t, k, i] = np.sum(g[i] ** 2)
            if k < E:
                for i in range(C):
                    xi = noise[t, k, i]
                    w[i] = (1 - alpha * gamma[t]) * w[i] + alpha * gamma[t] * server - gamma[t] * (g[i] + xi)
        server = average
    return out


@pytest.mark.parametrize("make", [quadratics, huber])
@pytest.mark.parametrize("record", [ALL, SERVER])
def test_simulate_is_rule_4_3(make, record):
    rng = np.random.default_rng(2)
    B, S, C, d, E, T = 2, 3, 3, 2, 3, 4
    problem = make(rng, (B,), C, d)
    w0, alpha = rng.normal(size=(B, d)), rng.uniform(size=B)
    gamma = rng.uniform(0.05, 0.3, size=(B, T))
    noise, probability = rng.normal(size=(B, S, T, E, C, d)), rng.dirichlet(np.ones(S))
    run = simulate(problem, w0, alpha, gamma, E, noise, probability, record)
    for j in range(B):
        if make is quadratics:
            one = Quadratics(problem.A[j], problem.b[j], problem.p[j])
        else:
            one = Piecewise(*(getattr(problem, x)[j] for x in ("a", "m", "lo", "hi", "c", "p")))
        paths = [plain(one, w0[j], alpha[j], gamma[j], E, noise[j, s]) for s in range(S)]
        for name in record:
            mean = sum(q * path[name] for q, path in zip(probability, paths, strict=True))
            np.testing.assert_allclose(getattr(run, name)[j], mean, rtol=1e-11, atol=1e-12, err_msg=name)
    assert all(getattr(run, name) is None for name in set(ALL) - set(record))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    batch=st.sampled_from([(), (3,), (2, 2)]),
    C=st.integers(1, 5),
    d=st.sampled_from([1, 2, 5, 13, 24]),
    E=st.integers(1, 17),
    T=st.integers(1, 140),
    constant=st.booleans(),
    uniform=st.booleans(),
)
def test_fast_forward_and_fast_steps_agree_with_plain_steps(seed, batch, C, d, E, T, constant, uniform):
    rng = np.random.default_rng(seed)
    problem = quadratics(rng, batch, C, d, uniform)
    w0, alpha = rng.normal(size=(*batch, d)), rng.uniform(0, 1, size=batch)
    gamma = rng.uniform(0.01, 0.2, size=(*batch, 1 if constant else T)) * np.ones(T)
    setup = set_up(problem, w0, alpha, gamma, E)
    steps = simulate_any(problem, setup, None, np.ones(1), ALL)
    forward = affine.simulate(problem, w0, alpha, gamma, E)
    fast = simulate(problem, w0, alpha, gamma, E, record=SERVER)
    for name in ALL:
        a, b = getattr(steps, name), getattr(forward, name)
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, **AGREE, err_msg=name)
    for name in SERVER:
        np.testing.assert_allclose(getattr(fast, name), getattr(steps, name), **AGREE, err_msg=name)


@pytest.mark.parametrize("blocks", [1, 300, 10**6])
def test_blocks_do_not_change_the_result(monkeypatch, blocks):
    from fedaudit.problems import stepwise

    rng = np.random.default_rng(3)
    problem = quadratics(rng, (3,), 7, 4)
    args = (problem, rng.normal(size=(3, 4)), 0.3, np.full(70, 0.1), 5)
    steps, forward = simulate(*args, record=SERVER), affine.simulate(*args)
    for module, name in ((stepwise, "BLOCK"), (affine, "BLOCK"), (affine, "SCRATCH")):
        monkeypatch.setattr(module, name, blocks)
    for name in SERVER:
        np.testing.assert_allclose(getattr(simulate(*args, record=SERVER), name), getattr(steps, name), rtol=1e-12)
    again = affine.simulate(*args)
    for name in ALL:
        np.testing.assert_allclose(getattr(again, name), getattr(forward, name), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("T", [1, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("constant", [True, False])
def test_blocks_of_rounds_meet(T, constant):
    rng = np.random.default_rng(8)
    problem = quadratics(rng, (2,), 3, 2)
    gamma = np.full(T, 0.1) if constant else 0.2 / (1 + np.arange(T))
    run, steps = affine.simulate(problem, np.ones(2), 0.3, gamma, 4), simulate(problem, np.ones(2), 0.3, gamma, 4)
    moments = expected(problem, np.ones(2), 0.3, gamma, 4)
    for name in ALL:
        np.testing.assert_allclose(getattr(run, name), getattr(steps, name), **AGREE)
        np.testing.assert_allclose(getattr(moments, name), getattr(steps, name), **AGREE)


def test_one_problem_many_starts_and_step_sizes():
    """Batch axes may come from the run alone."""
    rng = np.random.default_rng(4)
    problem = quadratics(rng, (), 3, 2)
    w0, gamma = rng.normal(size=(5, 2)), rng.uniform(0.05, 0.2, size=(5, 1)) * np.ones(6)
    for run in (simulate(problem, w0, 0.2, gamma, 3), affine.simulate(problem, w0, 0.2, gamma, 3)):
        for j in range(5):
            alone = simulate(problem, w0[j], 0.2, gamma[j], 3)
            for name in ALL:
                np.testing.assert_allclose(getattr(run, name)[j], getattr(alone, name), **AGREE)
    fast = simulate(problem, w0, 0.2, gamma, 3, record=SERVER)  # the step sizes differ: not starts as columns
    np.testing.assert_allclose(fast.gap, run.gap, **AGREE)
    shared = expected(problem, w0, 0.2, gamma, 3, np.ones((3, 2)), True)
    assert shared.divergence.shape == (5, 6, 4, 3)


@pytest.mark.parametrize("d", [2, 15])
def test_starts_that_share_the_clients_are_columns(d):
    rng = np.random.default_rng(9)
    problem = quadratics(rng, (), 3, d)
    w0, gamma = rng.normal(size=(2, 4, d)), 0.1 / (1 + np.arange(5))
    together = simulate(problem, w0, 0.2, gamma, 3, record=SERVER)
    assert together.gap.shape == (2, 4, 6)
    for name in SERVER:
        for j in np.ndindex(2, 4):
            alone = simulate(problem, w0[j], 0.2, gamma, 3, record=ALL)
            np.testing.assert_allclose(getattr(together, name)[j], getattr(alone, name), **AGREE)


def test_a_divergent_run_is_infinite_not_an_error():
    problem = two_group(1.0, 2.0, 1.0, 2)
    for run in (simulate, affine.simulate):
        gap = run(problem, np.ones(1), 0.0, np.full(2000, 10.0), 4).gap
        assert not np.isfinite(gap[-1])


def test_a_large_varying_step_keeps_its_digits():
    """Interpolation in gamma would lose them: some maps are huge, and the small steps come last."""
    rng = np.random.default_rng(5)
    problem = quadratics(rng, (), 3, 3)
    gamma = np.array([6.0] + [0.01] * 20)
    steps, forward = (f(problem, np.ones(3), 0.1, gamma, 8, record=SERVER) for f in (simulate, affine.simulate))
    np.testing.assert_allclose(forward.gap, steps.gap, rtol=1e-9)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("make", [quadratics, huber])
def test_array_api_strict_agrees(make, constant):
    rng = np.random.default_rng(6)
    B, S, C, d, E, T = 2, 3, 3, 4, 3, 9
    problem = make(rng, (B,), C, d)
    w0, alpha = rng.normal(size=(B, d)), rng.uniform(size=B)
    gamma = rng.uniform(0.05, 0.2, size=(B, 1 if constant else T)) * np.ones(T)
    noise, v = rng.normal(size=(B, S, T, E, C, d)), rng.normal(size=(B, C, d))
    xp = backend.namespace("array-api-strict")
    assert xp is array_api_strict
    strict = lambda x: xp.asarray(x)  # noqa: E731
    names = ("A", "b", "p") if make is quadratics else ("a", "m", "lo", "hi", "c", "p")
    twin = type(problem)(*(strict(getattr(problem, name)) for name in names))

    def same(a, b):
        assert type(b) is type(strict(np.zeros(1)))
        np.testing.assert_allclose(np.asarray(b), a, rtol=1e-11, atol=1e-12)

    for method in ("smoothness", "strong_convexity", "minimisers", "minimiser", "optimum", "heterogeneity"):
        same(getattr(problem, method)(), getattr(twin, method)())
    pairs = [
        (
            simulate(problem, w0, alpha, gamma, E, noise),
            simulate(twin, *map(strict, (w0, alpha, gamma)), E, strict(noise)),
        )
    ]
    if make is quadratics:
        others = tuple(map(strict, (w0, alpha, gamma)))
        pairs.append((affine.simulate(problem, w0, alpha, gamma, E), affine.simulate(twin, *others, E)))
        for shared in (False, True):
            ours, theirs = (
                expected(problem, w0, alpha, gamma, E, v, shared),
                expected(twin, *others, E, strict(v), shared),
            )
            pairs.append((ours, theirs))
    for ours, theirs in pairs:
        for name in ALL:
            same(getattr(ours, name), getattr(theirs, name))


def test_strict_negative_weights_and_singular_clients():
    xp = array_api_strict
    a, m = np.array([[1.0], [2.0]]), np.array([[0.5], [1.0]])
    parts = (a, m, a, m, a, np.array([-0.25, 1.25]))
    here, there = Piecewise(*parts), Piecewise(*map(xp.asarray, parts))
    np.testing.assert_allclose(np.asarray(there.minimiser()), here.minimiser(), rtol=1e-14)
    groups = two_group(0.5, 1.0, 2.0, 5)
    problem = Quadratics(*map(xp.asarray, (groups.A, groups.b, groups.p)))
    np.testing.assert_allclose(np.asarray(problem.minimisers())[:, 0], [-2, -2, 4, 4, 0])


def test_memory_does_not_grow_with_rounds():
    problem = quadratics(np.random.default_rng(7), (4,), 5, 6)

    def peak(run, T):
        gamma = np.broadcast_to(np.asarray(0.1), (T,))
        tracemalloc.start()
        try:
            found = run(problem, np.ones((4, 6)), 0.1, gamma, 3, record=SERVER)
            return tracemalloc.get_traced_memory()[1] - found.gap.nbytes - found.dist2.nbytes
        finally:
            tracemalloc.stop()

    for run in (simulate, affine.simulate):
        peak(run, 100)
        assert peak(run, 3000) <= peak(run, 300) + 20_000


def test_backends_by_name():
    assert backend.namespace("numpy") is np
    with pytest.raises(ValueError, match="got backend 'torch', expected one of numpy, cupy, array-api-strict; do:"):
        backend.namespace("torch")


def test_cupy_without_a_device_is_one_line():
    try:
        xp = backend.namespace("cupy")
    except ValueError as error:
        said = str(error)
        assert said.startswith("got backend 'cupy' without")
        assert "\n" not in said
        assert "fedaudit[gpu]" in said
    else:
        assert xp.__name__.endswith("cupy")


ONE = {"w0": np.ones(1), "alpha": 0.1, "gamma": np.full(2, 0.1), "E": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"E": 0}, "E >= 1 local steps"),
        ({"w0": np.ones(2)}, "w0 of shape"),
        ({"w0": np.full(1, np.nan)}, "NaN or infinity in w0"),
        ({"gamma": np.zeros(0)}, "T >= 1"),
        ({"gamma": np.full(2, np.inf)}, "NaN or infinity in gamma"),
        ({"w0": np.ones((3, 1)), "gamma": np.ones((2, 2))}, "broadcast"),
        ({"record": ("gap", "speed")}, "speed"),
    ],
)
@pytest.mark.parametrize("run", [simulate, affine.simulate, expected])
def test_bad_runs_in_one_line(run, change, message):
    with pytest.raises(ValueError, match=message) as error:
        run(two_group(0.5, 1.0, 1.0, 2), **(ONE | change))
    assert "\n" not in str(error.value)
    assert "do: " in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": np.zeros((4, 2, 2, 3, 1))}, "noise of shape"),
        ({"noise": np.full((4, 2, 2, 2, 1), np.nan)}, "NaN or infinity in noise"),
        ({"noise": np.zeros((4, 2, 2, 2, 1)), "probability": np.full(3, 1 / 3)}, "probability"),
        ({"noise": np.zeros((4, 2, 2, 2, 1)), "probability": np.full(4, 1 / 3)}, "probability"),
    ],
)
def test_bad_noise_in_one_line(change, message):
    with pytest.raises(ValueError, match=message):
        simulate(two_group(0.5, 1.0, 1.0, 2), **(ONE | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": np.zeros((3, 1))}, "v of shape"),
        ({"v": np.full((2, 1), np.nan)}, "NaN or infinity in v"),
        ({"v": np.zeros((2, 1)), "covariance": np.zeros((2, 1, 1))}, "one of them"),
        ({"covariance": np.zeros((2, 1))}, "covariance of shape"),
        ({"covariance": -np.ones((2, 1, 1))}, "negative eigenvalue"),
        ({"covariance": np.ones((2, 1, 1)), "shared": True}, "shared"),
    ],
)
def test_bad_moments_in_one_line(change, message):
    with pytest.raises(ValueError, match=message):
        expected(two_group(0.5, 1.0, 1.0, 2), **(ONE | change))
