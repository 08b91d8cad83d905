"""One FedProx, many ways to run it: plain loops, every step, rounds as one map, moments, another array library."""

import tracemalloc
from dataclasses import replace
from itertools import product

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import LIBRARIES, library
from marks import examples

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.buttaci.methods import FEDPROX
from fedaudit.problems.arrays import backend
from fedaudit.problems.arrays.array_checks import LARGE
from fedaudit.problems.losses.piecewise import Piecewise
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs import affine_rounds as mapped
from fedaudit.problems.runs import local_maps as forward
from fedaudit.problems.runs.all_paths import AllPaths
from fedaudit.problems.runs.compiled_method import programme
from fedaudit.problems.runs.interpreter import Setup, run, walked
from fedaudit.problems.runs.rule_values import scope_of
from fedaudit.verify.search.lowered_claim import lower

AGREE = {"rtol": 1e-9, "atol": 1e-11}
SERVER, LOCAL = ("gap", "dist2"), ("deviation", "divergence", "grad2")
ALL = (*SERVER, *LOCAL)


def fedprox(names=ALL):
    return FEDPROX.data(tree, set(names))


def setting(problem, w0, alpha, gamma, E, **more):
    """alpha (n,), gamma (n, T) or one of each for all."""
    values = {"alpha": np.reshape(alpha, (-1, 1, 1)), "gamma": np.atleast_2d(gamma)[..., None]}
    scalar = lambda name: values[name if isinstance(name, str) else name[1]]  # noqa: E731
    return Setup(problem, w0, scalar, E, values["gamma"].shape[1], w_star=problem.minimiser(), **more)


def quadratics(rng, n, C, d, uniform=False, signed=False):
    R = rng.normal(size=(n, C, d, d)) / np.sqrt(d)
    A = R @ R.swapaxes(-1, -2)
    p = np.full(C, 1 / C) if uniform else rng.dirichlet(np.ones(C), size=n)
    p = p * 1.5 - 0.5 / C if signed else p
    return Quadratics((A + A.swapaxes(-1, -2)) / 2 + 0.2 * np.eye(d), rng.normal(size=(n, C, d)), p)


def huber(rng, n, C, d):
    a, m, lo, hi = (rng.uniform(0, 2, size=(n, C, d)) for _ in range(4))
    return Piecewise(a, m, lo, hi, rng.normal(size=(n, C, d)), rng.dirichlet(np.ones(C), size=n))


def two_group(h, H, G, C):
    """Appendix B.4: f_i = H w^2/2 + G w, then h w^2/2 - G w; odd C: a last f_i = 0."""
    half, rest = C // 2, C % 2
    a, b = np.array([H] * half + [h] * half + [0.0] * rest), np.array([-G] * half + [G] * half + [0.0] * rest)
    return Quadratics(a[None, :, None, None], b[None, :, None], np.full(C, 1 / C))


def plain(problem, w0, alpha, gamma, E, noise):
    """Rule (4.3) for one instance and one noise path (T, E, C, d), a client and a step at a time."""
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


def one_of(problem, j):
    names = ("A", "b", "p") if isinstance(problem, Quadratics) else ("a", "m", "lo", "hi", "c", "p")
    return type(problem)(*(getattr(problem, name)[j] for name in names))


@pytest.mark.parametrize("make", [quadratics, huber])
@pytest.mark.parametrize("names", [ALL, SERVER])
def test_sampled_paths_are_rule_4_3(make, names):
    rng = np.random.default_rng(2)
    n, S, C, d, E, T = 2, 3, 3, 2, 3, 4
    problem = make(rng, n, C, d)
    w0, alpha, gamma = rng.normal(size=(n, d)), rng.uniform(size=n), rng.uniform(0.05, 0.3, size=(n, T))
    v, signs = rng.normal(size=(n, C, d)), rng.choice([-1.0, 1.0], size=(S, n, T, E, C))
    measured = run(fedprox(names), setting(problem, w0, alpha, gamma, E, v=v, signs=signs))
    assert set(measured) == set(names)
    for j, s in product(range(n), range(S)):
        path = plain(one_of(problem, j), w0[j], alpha[j], gamma[j], E, signs[s, j, ..., None] * v[j])
        path["grad2"] += np.sum(v[j] ** 2, axis=-1)  # the expectation over the noise of the gradient itself
        for name in names:
            np.testing.assert_allclose(measured[name][j, ..., s], path[name], rtol=1e-11, atol=1e-12, err_msg=name)


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 3]),
    C=st.integers(1, 15),
    d=st.sampled_from([1, 2, 5, 13, 24]),
    E=st.integers(1, 17),
    T=st.integers(1, 140),
    constant=st.booleans(),
    uniform=st.booleans(),
)
def test_fast_forward_and_fast_steps_agree_with_plain_steps(seed, n, C, d, E, T, constant, uniform):
    rng = np.random.default_rng(seed)
    problem = quadratics(rng, n, C, d, uniform)
    w0, alpha = rng.normal(size=(n, d)), rng.uniform(0, 1, size=n)
    gamma = rng.uniform(0.01, 0.2, size=(n, 1 if constant else T)) * np.ones(T)
    setup = setting(problem, w0, alpha, gamma, E)
    steps, ways = walked(fedprox(), setup), [run(fedprox(), setup)]  # nothing is skipped where steps are measured
    ways += [walked(fedprox(SERVER), setup), run(fedprox(SERVER), setup)]
    for measured in ways:
        for name, values in measured.items():
            assert values.shape == steps[name].shape
            np.testing.assert_allclose(values, steps[name], **AGREE, err_msg=name)
    if T * E * C < 100 and not uniform:
        path = plain(one_of(problem, 0), w0[0], alpha[0], gamma[0], E, np.zeros((T, E, C, d)))
        for name in ALL:
            np.testing.assert_allclose(steps[name][0], path[name], **AGREE, err_msg=name)


@pytest.mark.parametrize("T", [1, 15, 16, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("v", [None, np.zeros((2, 3, 2))])
def test_blocks_of_rounds_meet(monkeypatch, T, v):
    rng = np.random.default_rng(8)
    setup = setting(quadratics(rng, 2, 3, 2), np.ones((2, 2)), 0.3, np.full(T, 0.1), 4)
    steps = walked(fedprox(), setup)
    for blocks in (1 << 18, 300):
        monkeypatch.setattr(forward, "POWERED", blocks)
        for module in ("runs.recorder", "runs.affine_rounds"):
            monkeypatch.setattr(f"fedaudit.problems.{module}.SCRATCH", blocks)
        measured = run(fedprox(), replace(setup, v=v))
        for name in ALL:
            np.testing.assert_allclose(measured[name], steps[name], **AGREE, err_msg=name)


def test_rounds_are_one_map_where_the_rules_say_so():
    """Only the server's vectors are kept, one vector moves locally, clients meet in means."""
    whole = {
        "buttaci/thm4.1-I": True,  # FedProx
        "buttaci/thm4.4-I": False,  # neighbours, and a vector that clients keep
        "benmansour/thm3": False,  # weights that depend on the state
        "zhang/lemA.2": False,  # proximal points
    }
    for id_, expected in whole.items():
        rules = programme(lower(statement(id_)).claim["method"])
        assert (forward.server_round(rules) is not None) == expected, id_
    assert forward.local(programme(lower(statement("buttaci/thm4.4-I")).claim["method"])) is not None


def test_the_map_of_a_method_that_is_not_fedprox():
    """A server step, two gradients in one local step, and a second vector of the server."""
    rng = np.random.default_rng(11)
    n, C, d, E, T = 2, 4, 3, 3, 20
    problem, w0 = quadratics(rng, n, C, d), rng.normal(size=(n, d))
    grad = lambda x: ["grad", x]  # noqa: E731
    ahead = ["+", "w_i", ["*", "-1/20", grad("w_i")], ["*", "1/5", "m"]]
    method = {
        **fedprox(SERVER),
        "server": {"w": ["start"], "m": ["zero"]},
        "local": {"w_i": ["+", "w_i", ["*", "-1/10", grad(ahead)]]},
        "end": {},
        "update": {"w": ["+", "w", ["*", "7/10", ["mean", ["+", "w_i", ["*", "-1", "w"]]]], ["*", "1/9", "m"]],
                   "m": ["+", ["*", "1/3", "m"], ["mean", grad("w_i")]]},
    }  # fmt: skip
    assert forward.server_round(programme(method)) is not None
    setup = setting(problem, w0, 0.0, np.full(T, 0.1), E)
    measured, steps = run(method, setup), walked(method, setup)
    x, m = w0, np.zeros((n, d))
    for t in range(T + 1):
        gap = 0.5 * np.einsum("ni,nij,nj->n", x - setup.w_star, problem.mean()[0], x - setup.w_star)
        for one in (measured, steps):
            np.testing.assert_allclose(one["gap"][:, t], gap, **AGREE)
        y = np.repeat(x[:, None], C, axis=1)
        for _ in range(E):
            y = y - 0.1 * problem.grad(y - 0.05 * problem.grad(y) + 0.2 * m[:, None])
        x, m = x + 0.7 * (problem.average(y) - x) + m / 9, m / 3 + problem.average(problem.grad(y))


def test_a_divergent_run_is_infinite_not_an_error():
    setup = setting(two_group(1.0, 2.0, 1.0, 2), np.ones((1, 1)), 0.0, np.full(2000, 10.0), 4)
    for way in (run, walked):
        assert not np.isfinite(way(fedprox(SERVER), setup)["gap"][0, -1])


def test_a_large_varying_step_keeps_its_digits():
    rng = np.random.default_rng(5)
    setup = setting(quadratics(rng, 1, 3, 3), np.ones((1, 3)), 0.1, np.array([6.0] + [0.01] * 20), 8)
    np.testing.assert_allclose(run(fedprox(), setup)["gap"], walked(fedprox(), setup)["gap"], rtol=1e-9)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("C", "d", "T", "E"), [(2, 2, 2, 2), (1, 3, 3, 3), (3, 1, 1, 3), (2, 1, 4, 1), (3, 2, 3, 1)])
def test_moments_agree_with_every_sign_path(shared, constant, C, d, T, E):
    rng = np.random.default_rng(1)
    problem = quadratics(rng, 3, C, d, signed=True)
    w0, alpha, v = rng.normal(size=(3, d)), rng.uniform(size=3), rng.normal(size=(3, C, d))
    gamma = rng.uniform(0.01, 0.2, size=(3, 1 if constant else T)) * np.ones(T)
    setup = setting(problem, w0, alpha, gamma, E, v=v, shared=shared)
    moments, paths = run(fedprox(), setup), walked(fedprox(), setup)
    for name in ALL:
        assert moments[name].shape == paths[name].shape
        np.testing.assert_allclose(moments[name], paths[name], rtol=1e-11, atol=1e-12, err_msg=name)
    signs = np.array(list(product((-1.0, 1.0), repeat=T * E * (1 if shared else C)))).reshape(
        -1, T, E, 1 if shared else C, 1
    )
    each = [
        plain(one_of(problem, 0), w0[0], alpha[0], gamma[0], E, s * v[0]) for s in signs[:: max(1, len(signs) // 512)]
    ]
    if len(each) == len(signs):
        for name in ("gap", "dist2", "deviation", "divergence"):
            mean = sum(path[name] for path in each) / len(each)
            np.testing.assert_allclose(moments[name][0], mean, rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("C", [2, 5])
def test_two_group_recursion_of_appendix_b4(C):
    """a, b, c, d of the proof of theorem 4.2 (with 1/C weights), and its second moment (B.36) before it is bounded."""
    h, H, G, alpha, gamma, sigma, E, T, w0 = 0.5, 1.0, 2.0, 0.3, 0.2, 0.7, 3, 90, 1.5
    share = (C // 2) / C
    k_h, k_H = 1 - gamma * (alpha + h), 1 - gamma * (alpha + H)
    k_0 = 1 - gamma * alpha  # the client with f_i = 0 of odd C
    power = lambda kappa: kappa**E + alpha * gamma * sum(kappa**k for k in range(E))  # noqa: E731
    noise = lambda kappa: gamma**2 * sigma**2 * sum(kappa ** (2 * k) for k in range(E)) / C**2  # noqa: E731
    rest = C - 2 * (C // 2)
    a = share * (power(k_h) + power(k_H)) + rest / C * power(k_0)
    b = share * gamma * G * sum(k_h**k - k_H**k for k in range(E))
    added = (C // 2) * (noise(k_h) + noise(k_H)) + rest * noise(k_0)
    mean, variance, gaps = w0, 0.0, []
    for _ in range(T + 1):
        gaps.append(share * (h + H) / 2 * (mean**2 + variance))
        mean, variance = a * mean + b, a * a * variance + added
    setup = setting(two_group(h, H, G, C), np.array([[w0]]), alpha, np.full(T, gamma), E, v=np.full((1, C, 1), sigma))
    np.testing.assert_allclose(run(fedprox(SERVER), setup)["gap"][0], gaps, rtol=1e-12)


def elsewhere(xp, setup):
    """The same run in another array library."""
    problem = setup.problem
    names = ("A", "b", "p") if isinstance(problem, Quadratics) else ("a", "m", "lo", "hi", "c", "p")
    twin = type(problem)(*(xp.asarray(getattr(problem, name)) for name in names))
    return replace(
        setup, problem=twin, start=xp.asarray(setup.start), w_star=twin.minimiser(),
        scalar=lambda name: xp.asarray(setup.scalar(name)), v=None if setup.v is None else xp.asarray(setup.v),
    )  # fmt: skip


def both_agree(xp, setup, names=ALL):
    for way in (run, walked):
        for name, values in way(fedprox(names), elsewhere(xp, setup)).items():
            assert type(values) is type(xp.zeros(1))
            expected = way(fedprox(names), setup)[name]
            np.testing.assert_allclose(np.asarray(values), expected, rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("noisy", [True, False])
@pytest.mark.parametrize("make", [quadratics, huber])
@pytest.mark.parametrize("other", LIBRARIES)
def test_another_library_agrees(other, make, constant, noisy):
    rng = np.random.default_rng(6)
    n, C, d, E, T = 2, 3, 4, 2, 2 if noisy else 20
    problem = make(rng, n, C, d)
    gamma = rng.uniform(0.05, 0.2, size=(n, 1 if constant else T)) * np.ones(T)
    v = rng.normal(size=(n, C, d)) if noisy else None
    setup = setting(problem, rng.normal(size=(n, d)), rng.uniform(size=n), gamma, E, v=v)
    xp = library(other)
    for method in ("minimisers", "minimiser", "optimum", "heterogeneity"):
        ours, theirs = (getattr(one.problem, method)() for one in (setup, elsewhere(xp, setup)))
        np.testing.assert_allclose(np.asarray(theirs), ours, rtol=1e-11, atol=1e-12)
    both_agree(xp, setup)
    both_agree(xp, setup, SERVER)


@pytest.mark.parametrize("other", LIBRARIES)
def test_negative_weights_and_singular_clients_on_another_library(other):
    xp = library(other)
    a, m = np.array([[1.0], [2.0]]), np.array([[0.5], [1.0]])
    parts = (a, m, a, m, a, np.array([-0.25, 1.25]))
    here, there = Piecewise(*parts), Piecewise(*map(xp.asarray, parts))
    np.testing.assert_allclose(np.asarray(there.minimiser()), here.minimiser(), rtol=1e-14)
    groups = two_group(0.5, 1.0, 2.0, 5)
    problem = Quadratics(*map(xp.asarray, (groups.A, groups.b, groups.p)))
    np.testing.assert_allclose(np.asarray(problem.minimisers())[0, :, 0], [-2, -2, 4, 4, 0])


@pytest.fixture
def transfers(monkeypatch):
    """How often the device is given something of the host (a list, a number, an array), and how often it is asked."""
    device, counts = type(array_api_strict.zeros(1)), {"to": 0, "from": 0}

    def counted(owner, name, way, outward):
        usual = getattr(owner, name)

        def call(x, *more, **options):
            counts[way] += outward or not isinstance(x, device)
            return usual(x, *more, **options)

        monkeypatch.setattr(owner, name, call)

    counted(array_api_strict, "asarray", "to", False)
    for name in ("__array__", "__buffer__", "__bool__", "__float__", "__int__"):
        if hasattr(device, name):
            counted(device, name, "from", True)

    def count(work):
        counts.update({"to": 0, "from": 0})
        work()
        return dict(counts)

    return count


@pytest.mark.parametrize("make", [quadratics, huber])
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("way", [run, walked])
def test_a_device_is_given_and_asked_as_often_whatever_the_rounds_and_instances(transfers, way, make, noisy):
    rng = np.random.default_rng(9)

    def count(n, E, T):
        C, d = 2, 2
        v = rng.normal(size=(n, C, d)) if noisy else None
        here = setting(make(rng, n, C, d), np.ones((n, d)), 0.1, rng.uniform(0.05, 0.1, size=(n, T)), E, v=v)
        there = elsewhere(array_api_strict, here)
        return transfers(lambda: [np.asarray(x) for x in way(fedprox(), there).values()])

    sizes = [(2, 2, 2), (2, 3, 2), (2, 2, 3), (50, 2, 2)] if noisy else [(2, 2, 8), (2, 8, 8), (2, 2, 80), (50, 2, 8)]
    first, *others = (count(*size) for size in sizes)
    assert others == [first] * 3
    assert first["from"] >= len(ALL), "every measure is read"


@pytest.mark.parametrize("way", [run, walked])
def test_memory_grows_with_the_recorded_scalars_alone(way):
    problem, method = quadratics(np.random.default_rng(7), 40, 5, 6), fedprox(SERVER)

    def peak(T):
        """Beside the measures, and their size."""
        setup = setting(problem, np.ones((40, 6)), 0.1, np.full(T, 0.1), 3)
        tracemalloc.start()
        try:
            size = sum(values.nbytes for values in way(method, setup).values())
            return tracemalloc.get_traced_memory()[1] - size, size
        finally:
            tracemalloc.stop()

    peak(100)
    (less, few), (more, many) = peak(500), peak(1000)
    assert more - less <= 1.5 * (many - few)  # they are gathered and then joined


def test_backends_by_name():
    assert backend.namespace("numpy") is np
    assert backend.namespace("array-api-strict") is array_api_strict
    with pytest.raises(
        ValueError, match="got backend 'torch', expected one of numpy, cupy, array-api-strict, jax; do:"
    ):
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


@pytest.mark.parametrize("varying", [False, True])
def test_large_batches_are_what_their_instances_are_alone(varying):
    """Beyond `LARGE` numbers, terms that stay the same in a round are written out once, and gaps need fewer passes."""
    rng = np.random.default_rng(11)
    n, C, d, E, T = 90, 15, 7, 3, 4
    problem = huber(rng, n, C, d)
    assert n * C * d > LARGE
    w0, alpha = rng.normal(size=(n, d)), rng.uniform(size=n)
    gamma = rng.uniform(0.05, 0.3, size=(n, T)) if varying else np.full(T, 0.2)
    together = run(fedprox(SERVER), setting(problem, w0, alpha, gamma, E))
    for j in (0, 41, 89):
        one = Piecewise(*(getattr(problem, name)[j : j + 1] for name in ("a", "m", "lo", "hi", "c", "p")))
        rates = gamma[j] if varying else gamma
        alone = run(fedprox(SERVER), setting(one, w0[j : j + 1], alpha[j : j + 1], rates, E))
        path = plain(one_of(problem, j), w0[j], alpha[j], rates, E, np.zeros((T, E, C, d)))
        for name in SERVER:
            np.testing.assert_allclose(together[name][j], alone[name][0], rtol=1e-12, atol=1e-14, err_msg=name)
            np.testing.assert_allclose(together[name][j], path[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("varying", [False, True], ids=["steady", "varying"])
def test_wide_steps_on_bent_losses_are_the_steps_of_the_rules(varying, monkeypatch):
    rng = np.random.default_rng(11)
    n, C, d = 3, 40, 80
    assert n * C * d > forward.WIDE
    gamma = rng.uniform(0.05, 0.4, size=(n, 4)) if varying else np.full((1, 4), 0.3)
    setup = setting(huber(rng, n, C, d), rng.normal(size=(n, d)), rng.uniform(0, 1, size=n), gamma, 5)
    taken = list[int]()
    monkeypatch.setattr(Piecewise, "stepper", lambda *args, own=Piecewise.stepper: (taken.append(1), own(*args))[1])
    fast = run(fedprox(SERVER), setup)
    assert len(taken) == (4 if varying else 1)
    monkeypatch.setattr(forward, "WIDE", n * C * d)
    slow = run(fedprox(SERVER), setup)
    assert len(taken) == (4 if varying else 1)
    for name in SERVER:
        np.testing.assert_allclose(fast[name], slow[name], rtol=1e-12, atol=1e-13)


def test_wide_steps_are_left_to_the_rules_where_something_is_measured_between_them(monkeypatch):
    rng = np.random.default_rng(12)
    setup = setting(huber(rng, 3, 40, 80), rng.normal(size=(3, 80)), 0.5, np.full((1, 2), 0.3), 4)
    monkeypatch.setattr(Piecewise, "stepper", None)
    assert run(fedprox(), setup)["deviation"].shape[:3] == (3, 2, 5)


def test_many_steps_along_eigenvectors_are_the_steps_of_the_rules(monkeypatch):
    rng = np.random.default_rng(13)
    n, C, d, E, T = 40, 30, 7, 9, 100
    assert n * C * d > forward.WIDE
    problem = quadratics(rng, n, C, d)
    setup = setting(problem, rng.normal(size=(n, d)), rng.uniform(0, 1, size=n), np.full((1, T), 0.1), E)
    turned, found = list[bool](), forward.Stepper.of
    monkeypatch.setattr(
        forward.Stepper, "of", lambda *args: (turned.append((x := found(*args)).values is not None), x)[1]
    )
    fast = walked(fedprox(SERVER), setup)
    monkeypatch.setattr(forward, "LONG", T * E)
    slow = walked(fedprox(SERVER), setup)
    assert turned == [True, False]
    for name in SERVER:
        np.testing.assert_allclose(fast[name], slow[name], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("make", [quadratics, huber])
@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("sampling", [None, ("without_replacement", 1)])
def test_a_run_that_ends_where_it_is_read_for_the_last_time_is_the_beginning_of_the_whole_run(make, noisy, sampling):
    rng = np.random.default_rng(5)
    problem, gamma = make(rng, 3, 2, 1), 0.1 / (1 + np.arange(2))
    v = rng.normal(size=(3, 2, 1)) if noisy else None
    whole = setting(problem, rng.normal(size=(3, 1)), 0.3, gamma, 2, v=v, sampling=sampling)
    values = walked(fedprox(), whole)
    for until in ({"deviation": (0, 1), "gap": (0,)}, {"deviation": (1, 2), "gap": (2,)}, {"deviation": (0, 0)}):
        read = walked(fedprox(tuple(until)), replace(whole, until=until))
        for name, ends in until.items():
            cut = (slice(None), *(slice(0, end + 1) for end in ends))
            size = (*cut[:1], *(slice(0, read[name].shape[1 + j]) for j in range(len(ends))))
            assert all(read[name].shape[1 + j] > end for j, end in enumerate(ends))
            np.testing.assert_array_equal(read[name], values[name][size])
            np.testing.assert_array_equal(read[name][cut], values[name][cut])


def test_steps_that_nothing_reads_are_not_taken(monkeypatch):
    rng, taken = np.random.default_rng(5), []
    stepped = AllPaths.stepped
    monkeypatch.setattr(AllPaths, "stepped", lambda self, place: taken.append(place.k) or stepped(self, place))
    whole = setting(huber(rng, 3, 2, 1), rng.normal(size=(3, 1)), 0.3, np.full(3, 0.1), 2, v=rng.normal(size=(3, 2, 1)))
    walked(fedprox(("deviation",)), replace(whole, until={"deviation": (1, 1)}))
    assert taken == [0, 1, 0]
    walked(fedprox(("deviation", "gap")), replace(whole, until={"deviation": (1, 1), "gap": (0,)}))
    assert taken == [0, 1, 0] * 2
    walked(fedprox(("deviation", "gap")), replace(whole, until={"deviation": (1, 1)}))
    assert taken == [0, 1, 0] * 2 + [0, 1] * 3


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("noisy", [True, False])
def test_steps_that_are_measured_together_are_the_steps_one_by_one(monkeypatch, constant, noisy):
    rng = np.random.default_rng(6)
    gamma = np.full(2, 0.1) if constant else 0.1 / (1 + np.arange(2))
    v = rng.normal(size=(3, 2, 1)) if noisy else None
    setup = setting(quadratics(rng, 3, 2, 1), rng.normal(size=(3, 1)), 0.3, gamma, 3, v=v)
    together = mapped.Mapped(scope_of(fedprox(), setup)).measures()
    monkeypatch.setattr(mapped, "SCRATCH", 0)
    for name, values in mapped.Mapped(scope_of(fedprox(), setup)).measures().items():
        np.testing.assert_array_equal(values, together[name])
        np.testing.assert_allclose(values, walked(fedprox(), setup)[name], **AGREE)


@pytest.mark.parametrize("name", ["numpy", *LIBRARIES])
@pytest.mark.parametrize("d", [4, forward.SMALL])
def test_a_geometric_sum_is_the_sum_of_its_powers(name, d):
    xp = np if name == "numpy" else library(name)
    R = np.random.default_rng(14).normal(size=(2, 3, d, d)) / (4 * d)
    N = R + R.swapaxes(-1, -2)
    total, power = np.zeros_like(N), np.broadcast_to(np.eye(d), N.shape)
    for E in range(1, 40):
        total, power = total + power, power @ (np.eye(d) + N)
        there = xp.asarray(N)
        np.testing.assert_allclose(np.asarray(forward.geometric(there, E)), total, rtol=1e-12, atol=1e-12)
        assert (np.asarray(there) == N).all()  # nothing is written on what the caller holds


@pytest.mark.parametrize("name", ["numpy", *LIBRARIES])
@pytest.mark.parametrize("many", [1, 2])
def test_a_polynomial_of_a_matrix_is_the_sum_of_its_terms(name, many):
    xp, rng = np if name == "numpy" else library(name), np.random.default_rng(15)
    A, slope = rng.normal(size=(many, 3, 4, 4)), rng.normal(size=(3, many))
    terms = (slope[k][:, None, None, None] * np.linalg.matrix_power(A, k) for k in range(3))
    there = xp.asarray(A)
    made = forward.polynomial(xp, there, [xp.asarray(each) for each in slope])
    np.testing.assert_allclose(np.asarray(made), sum(terms), rtol=1e-12, atol=1e-12)
    assert (np.asarray(there) == A).all()
