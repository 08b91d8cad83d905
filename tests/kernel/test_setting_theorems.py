"""Theorems about settings: each is tried on instances whose quantities are counted out here, and attacked by name.

The instances are nobody's world: losses have full Hessians, expectations are sums over all batches and data sets, and
networks are matrices with their eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from math import erf, exp, pi, prod, sqrt
from typing import Any

import numpy as np
import pytest
from proof_writer import Writer, claim_of, data

from fedaudit.verify.kernel.core.expression import Op, Relation, Tree
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.proofs.rules.setting import THEORIES
from fedaudit.verify.kernel.proofs.theorems.theorem import theory

Values = dict[str, Any]  # a number, or a list from 1 on, of every name that theorems read
Array = np.ndarray[Any, Any]
CLOSE = 1e-9
RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": lambda x, y: x <= y + CLOSE * (1 + abs(y)),
    "<": lambda x, y: x < y,
    "=": lambda x, y: abs(x - y) <= CLOSE * (1 + abs(y)),
}


def value(tree: Tree, at: Values) -> float:
    """The tree in floats."""
    if isinstance(tree, str):
        return float(at[tree])
    if not isinstance(tree, Op):
        return float(tree.p) / float(tree.q)
    if tree.name == "sum":
        low, high = (int(value(end, at)) for end in tree.args[1:3])
        return sum(value(tree.args[3], {**at, str(tree.args[0]): k}) for k in range(low, high + 1))
    if tree.name == "at":
        entry = at[str(tree.args[0])]
        return float(entry[int(value(tree.args[1], at)) - 1]) if isinstance(entry, list) else float(entry)
    parts = [value(arg, at) for arg in tree.args]
    return {"+": sum, "*": prod, "^": lambda x: x[0] ** x[1]}[tree.name](parts)


def holds(relation: Relation, at: Values) -> bool:
    name, left, right = relation
    return RELATIONS[name](value(left, at), value(right, at))


# --- data sets --------------------------------------------------------------------------------------------------------


def erm(rng: Any) -> Values:
    """Losses s log cosh(w - z) and r = lam w^2/2, minimised by bisection; estimators that err."""
    N, lam = int(rng.integers(1, 5)), float(rng.uniform(0.2, 2))
    scale, centre = rng.uniform(0, 3, N + 1), rng.normal(size=N + 1) * 3
    parts = [np.arange(N), np.arange(1, N + 1)]

    def slope(w: float, part: Array) -> float:
        return float(np.mean(scale[part] * np.tanh(w - centre[part])) + lam * w)

    def risk(w: float, part: Array) -> float:
        return float(np.mean(scale[part] * np.log(np.cosh(w - centre[part]))) + lam / 2 * w * w)

    least: list[float] = []
    for part in parts:
        low, high = -50.0, 50.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle, part) < 0 else (low, middle)
        least.append(low)
    found = [x + float(rng.normal()) for x in least]
    eps = max(risk(w, part) - risk(x, part) for w, x, part in zip(found, least, parts, strict=True))
    return {
        "N": N, "lam": lam, "G": scale.max(), "eps": eps, "apart": abs(found[0] - found[1]),
        "first": abs(found[0] - least[0]), "second": abs(found[1] - least[1]), "between": abs(least[0] - least[1]),
    }  # fmt: skip


def _changes(N: int, q: Array) -> Iterator[tuple[tuple[int, ...], int, int, float]]:
    """A data set, a place, a new point there, and the probability of both."""
    for S in product(range(len(q)), repeat=N):
        for i, z in product(range(N), range(len(q))):
            yield S, i, z, float(prod(q[x] for x in S) * q[z])


def _moved(S: tuple[int, ...], i: int, z: int) -> tuple[int, ...]:
    return (*S[:i], z, *S[i + 1 :])


def table(rng: Any) -> Values:
    N, m = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    q = rng.dirichlet(np.ones(m))
    h = {S: rng.normal(size=2) * 10 ** rng.uniform(-2, 1) for S in product(range(m), repeat=N)}
    mean = sum(prod(q[x] for x in S) * h[S] for S in h)
    return {
        "N": N,
        "spread2": sum(prod(q[x] for x in S) * ((h[S] - mean) ** 2).sum() for S in h),
        "total": sum(P * ((h[S] - h[_moved(S, i, z)]) ** 2).sum() for S, i, z, P in _changes(N, q)),
        "beta": max(np.linalg.norm(h[S] - h[_moved(S, i, z)]) for S, i, z, _ in _changes(N, q)),
    }


def algorithm(rng: Any) -> Values:
    """Losses s_z (log cosh of each coordinate of w - c_z), a table of models."""
    N, m = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    q, scale, centre = rng.dirichlet(np.ones(m)), rng.uniform(0, 2, m), rng.normal(size=(m, 2))
    A = {S: rng.normal(size=2) * 10 ** rng.uniform(-2, 0.5) for S in product(range(m), repeat=N)}
    weight = {S: prod(q[x] for x in S) for S in A}

    def slope(w: Array, z: int) -> Array:
        return scale[z] * np.tanh(w - centre[z])

    R = {S: sum(q[z] * slope(A[S], z) for z in range(m)) for S in A}
    centred = sum(weight[S] * R[S] for S in A)
    empirical = sum(weight[S] * sum(slope(A[S], z) for z in S) / N for S in A)
    moved = max(np.linalg.norm(A[S] - A[_moved(S, i, z)]) for S, i, z, _ in _changes(N, q))
    return {
        "N": N, "L": scale.max(), "gamma": moved, "moved": moved,
        "bias": np.linalg.norm(centred - empirical),
        "variance": sum(weight[S] * ((R[S] - centred) ** 2).sum() for S in A),
        "about_empirical": sum(weight[S] * ((R[S] - empirical) ** 2).sum() for S in A),
        "total": sum(P * ((R[S] - R[_moved(S, i, z)]) ** 2).sum() for S, i, z, P in _changes(N, q)),
    }  # fmt: skip


# --- networks ---------------------------------------------------------------------------------------------------------


def laplacian(C: int, weights: Mapping[tuple[int, int], float]) -> Array:
    A = np.zeros((C, C))
    for (i, j), w in weights.items():
        A[i, j] = A[j, i] = w
    return np.diag(A.sum(axis=1)) - A


def graph(rng: Any) -> Values:
    C = int(rng.integers(2, 6))
    pairs = {pair: float(rng.uniform(0, 2)) for pair in combinations(range(C), 2)}
    L, v = laplacian(C, pairs), rng.normal(size=C)
    eigenvalues, vectors = np.linalg.eigh(L)
    x = vectors[:, -1] * 3
    return {
        "C": C, "trace": np.trace(L), "spectrum": eigenvalues[1:].sum(), "form": v @ L @ v,
        "hom": 2 * sum(pairs.values()) / (2 * C * (C - 1)),
        "variability": sum(w * (v[i] - v[j]) ** 2 for (i, j), w in pairs.items()),
        "eigenform": x @ L @ x, "lam": eigenvalues[-1], "length2": x @ x,
    }  # fmt: skip


def _ordered(L: Array) -> Array:
    """The eigenvalues orthogonal to the constant vector, in order."""
    C = len(L)
    basis = np.linalg.svd(np.ones((1, C)))[2][1:]
    return np.linalg.eigvalsh(basis @ L @ basis.T)


def any_law(rng: Any) -> Values:
    """Five pairs of networks, each as likely: what holds for every law of the weights."""
    C = int(rng.integers(2, 6))
    draws = [
        [laplacian(C, {pair: float(rng.normal()) for pair in combinations(range(C), 2)}) for _ in range(2)]
        for _ in range(5)
    ]
    apart = [_ordered(b) - _ordered(a) for a, b in draws]
    trace = np.array([np.trace(b - a) for a, b in draws])
    return {
        "C": C, "msd": np.mean([x**2 for x in apart]), "sad": np.mean(np.abs(apart)), "dtr2": (trace**2).mean(),
        "trM2": np.mean([((b - a) ** 2).sum() for a, b in draws]), "wide": np.abs(trace).mean() / (C - 1),
    }  # fmt: skip


def below(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def gaussian(rng: Any, share: float = 2.0, still: bool = False) -> Values:
    """Laws of linear forms in independent Gaussian weights; A with one weight a pair, or of the trace at half of that.

    `still`: the mean is not altered.
    """
    C, theta, phi = int(rng.integers(2, 6)), float(rng.uniform(0, 2)), float(rng.uniform(0.1, 3))
    epsilon, delta = float(rng.uniform(-1, 1)), float(rng.uniform(-1, 3))
    epsilon = 0.0 if still else abs(epsilon) if share == 2 else epsilon
    pairs = list(combinations(range(C), 2))
    step, noise = -epsilon * theta, (2 + delta) * phi**2
    unit = [laplacian(C, {pair: 1.0}) for pair in pairs]
    traces = np.array([np.trace(u) for u in unit])
    mean, variance = step * traces.sum(), noise * (traces**2).sum()
    entries = np.array(unit).reshape(len(pairs), -1)
    m, s = mean / (C - 1), sqrt(variance) / (C - 1)
    A = epsilon * theta / phi * sqrt(C * (C - 1) / (share * (2 + delta)))
    homogeneity = traces / (2 * C * (C - 1))
    return {
        "C": C, "theta": theta, "phi": phi, "epsilon": epsilon, "delta": delta,
        "A2": A * A, "Phi": below(A), "density": exp(-A * A / 2) / sqrt(2 * pi),
        "hom_mean": theta * homogeneity.sum(), "hom_variance": phi**2 * (homogeneity**2).sum(),
        "probability": below(-mean / sqrt(variance)), "dtr2": mean**2 + variance,
        "trM2": ((step * entries.sum(axis=0)) ** 2 + noise * (entries**2).sum(axis=0)).sum(),
        "wide": s * sqrt(2 / pi) * exp(-m * m / (2 * s * s)) + m * erf(m / (s * sqrt(2))),
    }  # fmt: skip


# --- users ------------------------------------------------------------------------------------------------------------


class Losses:
    """l_z(w) = s_z log cosh(<u_z, w> + t_z) + <a_z, w>: full Hessians, gradients, Hessians and their change bounded."""

    def __init__(self, rng: Any, m: int, d: int) -> None:
        self.s, self.t = rng.normal(size=m), rng.normal(size=m)
        self.u, self.a = rng.normal(size=(m, d)), rng.normal(size=(m, d))

    def value(self, q: Array, w: Array) -> Any:
        return (q * self.s * np.log(np.cosh(self.u @ w + self.t))).sum() + q @ self.a @ w

    def slope(self, q: Array, w: Array) -> Array:
        return (q * self.s * np.tanh(self.u @ w + self.t)) @ self.u + q @ self.a

    def bend(self, q: Array, w: Array) -> Array:
        curve = q * self.s / np.cosh(self.u @ w + self.t) ** 2
        return (self.u * curve[:, None]).T @ self.u


def norm(x: Array) -> float:
    return float(np.linalg.norm(x, 2))


def _batches(q: Array, size: int) -> list[tuple[float, Array]]:
    draws = product(range(len(q)), repeat=size)
    return [(float(prod(q[z] for z in S)), np.bincount(S, minlength=len(q)) / size) for S in draws]


def users(rng: Any) -> Values:
    """Constants are the least that hold where the theorem looks; smoothness is that of all losses everywhere."""
    n, m, d = (int(rng.integers(1, k)) for k in (4, 4, 3))
    f, p = Losses(rng, m, d), rng.dirichlet(np.ones(m), size=n)
    w, u, v = (rng.normal(size=d) for _ in range(3))
    length = np.linalg.norm(f.u, axis=1)
    L = max(float((q * np.abs(f.s) * length**2).sum()) for q in [*p, *np.eye(m)])
    rho = max(float((q * np.abs(f.s) * length**3).sum()) for q in [*p, *np.eye(m)])  # 2 sech^2 tanh <= 0.77
    B = max(float((q * (np.abs(f.s) * length + np.linalg.norm(f.a, axis=1))).sum()) for q in [*p, *np.eye(m)])
    alpha, delta = float(rng.uniform(0, 1 / L)), float(rng.uniform(0.05, 1 / L + 0.05))
    mean, even = p.mean(axis=0), np.ones(n) / n

    def inner(q: Array, x: Array) -> Array:
        return f.slope(q, x - alpha * f.slope(q, x))

    def full(q: Array, x: Array) -> Array:
        return (np.eye(d) - alpha * f.bend(q, x)) @ inner(q, x)

    G, H = [f.slope(q, w) for q in p], [f.bend(q, w) for q in p]
    g_mean, H_mean = f.slope(mean, w), f.bend(mean, w)
    off_G, off_H = [norm(x - g_mean) for x in G], [norm(x - H_mean) for x in H]
    F = np.array([full(q, w) for q in p])
    moved = np.array([full(q, w) - full(q, u) for q in p])
    base = inner(mean, w)
    metric = np.array([[float(abs(x - y)) for y in range(m)] for x in range(m)])  # points on a line
    W1 = [float(np.abs(np.cumsum(q - mean)[:-1]).sum()) for q in p]
    pairs = [(x, y) for x in range(m) for y in range(x)]
    unit = np.eye(m)
    at: Values = {
        "C": n, "D": d, "alpha": alpha, "delta": delta, "L": L, "rho": rho, "B": B,
        "spread_G": float(even @ np.square(off_G)), "mean2": float(even @ [x @ x for x in G]),
        "spread_H": float(even @ np.square(off_H)), "farthest": max(off_H), "off_G": off_G, "off_H": off_H,
        "tv": [float(np.abs(q - mean).sum()) / 2 for q in p], "W1": W1,
        "L_Z": max((norm(f.slope(unit[x], w) - f.slope(unit[y], w)) / metric[x, y] for x, y in pairs), default=0),
        "rho_Z": max((norm(f.bend(unit[x], w) - f.bend(unit[y], w)) / metric[x, y] for x, y in pairs), default=0),
        "moved2": [float(x @ x) for x in moved], "mean_moved2": float(norm(moved.mean(axis=0)) ** 2),
        "apart2": float((w - u) @ (w - u)), "one": max(norm(inner(q, w) - inner(q, u)) for q in p),
        "two": max(norm(f.bend(q, w) - f.bend(q, u)) for q in p),
        "spread_F": float(((F - F.mean(axis=0)) ** 2).sum(axis=1).mean()),
        "r2": float(np.mean([norm(inner(q, w) - base) ** 2 for q in p])), "E2": float(even @ np.square(off_H)),
        "gamma_H": sqrt(float(even @ np.square(off_H))),
    }  # fmt: skip
    tilt = 1e-30j * np.eye(d)  # derivatives from complex steps, which cancel nothing
    F_1 = [f.value(p[0], x - alpha * f.slope(p[0], x)).imag / 1e-30 for x in w + tilt]
    at |= {"dF": F_1, "inner": list(inner(p[0], w)), "hess_inner": list(H[0] @ inner(p[0], w))}
    points = [w, w - alpha * g_mean]
    similar = [np.mean([norm(f.slope(q, x) - f.slope(mean, x)) ** 2 for q in p]) for x in points]
    return {**at, "gamma_G": sqrt(max(similar)), **_estimates(rng, f, p[0], w, v, at)}


def _estimates(rng: Any, f: Losses, q: Array, w: Array, v: Array, at: Values) -> Values:
    """Every batch of the first user."""
    m, d, alpha, delta = len(q), len(w), at["alpha"], at["delta"]
    sizes = {name: int(rng.integers(1, 3)) for name in ("D0", "D1", "D2")}
    unit, seen = np.eye(m), list[Array]()

    def noise(x: Array, of: Callable[[Array, Array], Array]) -> float:
        return sum(q[z] * norm(of(unit[z], x) - of(q, x)) ** 2 for z in range(m))

    g, H = f.slope(q, w - alpha * f.slope(q, w)), f.bend(q, w)
    target = (np.eye(d) - alpha * H) @ g

    def central(part: Array, x: Array) -> Array:
        return f.slope(part, w + delta * x) - f.slope(part, w - delta * x)

    outcomes: list[tuple[float, Array, Array]] = []
    for (P0, b0), (P1, b1), (P2, b2) in product(*(_batches(q, size) for size in sizes.values())):
        at_ = w - alpha * f.slope(b0, w)
        ghat = f.slope(b1, at_)
        seen += [at_, w + delta * ghat, w - delta * ghat]
        outcomes.append((P0 * P1 * P2, ghat, b2))
    sigma = sqrt(max(noise(x, f.slope) for x in (w, *seen)))

    def E(of: Callable[[Array, Array], Any]) -> Any:
        return sum(P * of(x, b) for P, x, b in outcomes)

    e_mean = E(lambda x, b: x - g)
    estimates = {
        "": lambda x, b: (np.eye(d) - alpha * f.bend(b, w)) @ x,
        "_FO": lambda x, b: x,
        "_HF": lambda x, b: x - alpha / (2 * delta) * central(b, x),
    }
    c = central(q, g)
    signs = (1, -1)
    points = [
        E(lambda x, b, s=s: norm(f.slope(b, w + s * delta * x) - f.slope(q, w + s * delta * g)) ** 2) for s in signs
    ]
    halves = [norm(f.slope(q, w + s * delta * v) - f.slope(q, w) - s * delta * H @ v) for s in signs]
    return {
        **sizes, "sigma_G": sigma, "sigma_H": sqrt(noise(w, f.bend)),
        "off": sum(P * norm(f.slope(b, w) - f.slope(q, w)) for P, b in _batches(q, sizes["D0"])),
        "mean_e": norm(e_mean), "e1": E(lambda x, b: norm(x - g)), "e2": E(lambda x, b: norm(x - g) ** 2),
        "second": E(lambda x, b: norm(x) ** 2), "tail": norm(alpha * H @ g),
        "bent": E(lambda x, b: norm(alpha * (f.bend(b, w) - H) @ x) ** 2),
        **{f"bias2{k}": norm(E(of) - target) ** 2 for k, of in estimates.items()},
        **{f"mse{k}": E(lambda x, b, of=of: norm(of(x, b) - target) ** 2) for k, of in estimates.items()},
        "difference": norm(c / (2 * delta) - H @ g), "points": max(points), "ahead": halves[0], "behind": halves[1],
        "near": E(lambda x, b: norm(x - g - alpha / (2 * delta) * (central(b, x) - c)) ** 2),
        "central": list(central(q, v)), "hv": list(H @ v), "v": list(v),
    }  # fmt: skip


DRAWS: Mapping[str, tuple[Callable[[Any], Values], ...]] = {
    "erm": (erm,), "table": (table,), "algorithm": (algorithm,), "graph": (graph,), "meta": (users,),
    "network": (any_law, gaussian, lambda rng: gaussian(rng, 1.0), lambda rng: gaussian(rng, still=True)),
}  # fmt: skip
EVERY = [(setting, name) for setting, theory in THEORIES.items() for name in theory.theorems]


@pytest.mark.parametrize(("setting", "name"), EVERY)
def test_a_theorem_holds_wherever_its_conditions_do(setting: str, name: str) -> None:
    theorem = THEORIES[setting].theorems[name]
    tried = 0
    for make, seed in product(DRAWS[setting], range(12)):
        at = make(np.random.default_rng(seed))
        for i in range(1, at.get("C", 1) + 1):
            place = {**at, "i": i, "j": min(i, at.get("D", 1))}
            try:
                if all(holds(condition, place) for condition in theorem.when):
                    tried += 1
                    assert holds(theorem.then, place), (make, seed, i, at)
            except KeyError:
                break  # this instance does not have what the theorem speaks of
    assert tried >= 12


def test_every_theorem_has_a_reason() -> None:
    assert all(len(theorem.why) > 3 for theory in THEORIES.values() for theorem in theory.theorems.values())


# --- attacks ----------------------------------------------------------------------------------------------------------

CONSTANTS = ("alpha", "L", "M", "B", "sigma_G", "lam", "eps", "G", "beta", "gamma", "theta", "nu", "rho")
COUNTS = ("C", "D", "D0", "D1", "D2", "N")
READ = (
    "mse", "bias2", "bias2_shared", "spread_G", "spread2", "bias", "tv", "about_empirical", "probability", "apart2",
)  # fmt: skip
ASSUMED = {
    "meta": [["smooth", "L"], ["bounded_gradients", "B"], ["gradient_variance", "sigma_G"]],
    "erm": [["strongly_convex", "lam"], ["lipschitz", "G"], ["inexact", "eps"]],
    "table": [["bounded_differences", "beta"]],
    "algorithm": [["smooth", "L"], ["stable", "gamma"]],
    "graph": [["nonnegative_weights"]], "network": [["independent_networks"]],
}  # fmt: skip


def written(setting: str, name: str, says: str, **parts: Any) -> Writer:
    """A proof by one theorem of a claim of the setting, which says what the theorem is said to give."""
    quantities = parts.pop("quantities", ())
    at = parts.pop("at", None)
    letters = parts.pop("letters", {})
    domains = dict.fromkeys((*CONSTANTS, *READ), "nonnegative") | dict.fromkeys(COUNTS, "count")
    domains |= dict.fromkeys(("form", "variability", "delta", "epsilon"), "real") | {"phi": "positive"}
    domains |= parts.pop("domains", {})
    for absent in parts.pop("absent", ()):
        del domains[absent]
    claim = claim_of(
        [parts.pop("claims", "0 <= 1")], (), domains, **{"let": ASSUMED[setting], "setting": setting, **parts}
    )
    w = Writer(claim, letters, **({"quantities": [*quantities]} if quantities else {}))
    relation_, left, right = theory("", ("stated", f"|- {says}", "")).theorems["stated"].then
    given = {"name": name} | ({"at": at} if at is not None else {})
    w.file["judgements"].append({"rule": "setting", "says": [relation_, data(left), data(right)], "with": given})
    w.line("0 <= 1")
    return w


HONEST: Mapping[str, tuple[str, str, str, dict[str, Any]]] = {
    "batch": ("meta", "batch", "off <= sigma_G/D0**(1/2)", {"quantities": ["off"]}),
    "second moment": ("meta", "second_moment", "e2 <= sigma_G**2*(1/D1 + (alpha*L)**2/D0)", {"quantities": ["e2"]}),
    "bias": ("meta", "independent", "bias2**(1/2) <= (1 + alpha*L)*mean_e", {"quantities": ["mean_e"]}),
    "variance": ("meta", "variance", "spread_G <= mean2", {"quantities": ["mean2"]}),
    "short": ("meta", "short", "mean2 <= B**2", {"quantities": ["mean2"]}),
    "Efron-Stein": ("table", "efron_stein", "spread2 <= total/2", {"quantities": ["total"]}),
    "differences": ("table", "differences", "total <= N*beta**2", {"quantities": ["total"]}),
    "fresh point": ("algorithm", "fresh_point", "bias <= L*moved", {"quantities": ["moved"]}),
}


@pytest.mark.parametrize("honest", HONEST)
def test_an_instance_of_a_theorem_is_accepted(honest: str) -> None:
    setting, name, says, parts = HONEST[honest]
    assert written(setting, name, says, **parts).check().rules == {"setting": 1, "line": 1}


ATTACKS: Mapping[str, tuple[str, str, str, dict[str, Any], str]] = {
    "half of Efron and Stein's half": (
        "table", "efron_stein", "spread2 <= total/4", {"quantities": ["total"]}, "another relation"),
    "one root too few": ("meta", "batch", "off <= sigma_G/D0", {"quantities": ["off"]}, "another relation"),
    "the batch of the other gradient": (
        "meta", "batch", "off <= sigma_G/D1**(1/2)", {"quantities": ["off"]}, "another relation"),
    "another constant": ("meta", "short", "mean2 <= M**2", {"quantities": ["mean2"]}, "another relation"),
    "the other way round": ("meta", "short", "B**2 <= mean2", {"quantities": ["mean2"]}, "another relation"),
    "strictly": ("table", "differences", "total < N*beta**2", {"quantities": ["total"]}, "another relation"),
    "an equation": ("algorithm", "fresh_point", "bias == L*moved", {"quantities": ["moved"]}, "another relation"),
    "without smooth losses": (
        "algorithm", "fresh_point", "bias <= L*moved", {"quantities": ["moved"], "let": [["stable", "gamma"]]},
        "needs smooth"),
    "an assumption without its constant": (
        "table", "differences", "total <= N*beta**2", {"quantities": ["total"], "let": [["bounded_differences"]]},
        "needs bounded_differences"),
    "dependent networks": (
        "network", "trace_square", "dtr2 == 2*C*(C - 1)*(2 + delta)*phi**2 + (C*(C - 1)*epsilon*theta)**2",
        {"quantities": ["dtr2"], "let": []}, "needs independent_networks"),
    "a theorem that is the claim": (
        "algorithm", "split", "about_empirical == variance + bias**2",
        {"domains": {"variance": "nonnegative"}, "claims": "about_empirical == bias**2 + variance"},
        "the claim itself"),
    "f is the sum of the f_i": (
        "meta", "variance", "spread_G <= mean2", {"quantities": ["mean2"], "let": [["total"]]}, "without it"),
    "the same batch twice": (
        "meta", "independent", "bias2_shared**(1/2) <= (1 + alpha*L)*mean_e", {"quantities": ["mean_e"]},
        "another relation"),
    "a table's theorem about an algorithm": (
        "algorithm", "differences", "total <= N*beta**2", {"quantities": ["total", "moved"]}, "another relation"),
    "a theorem of another setting": ("table", "fresh_point", "spread2 <= beta", {}, "fresh_point"),
    "curvature that may be 0": (
        "erm", "near_first", "lam/2*first**2 <= eps", {"quantities": ["first"]}, "no judgement that says 0 < lam"),
    "a length of a step of any sign": (
        "meta", "inner", "one <= L*(1 + alpha*L)*apart2**(1/2)",
        {"quantities": ["one"], "domains": {"alpha": "real"}}, "no judgement"),
    "a batch that the claim does not speak of": (
        "meta", "batch", "off <= sigma_G/D0**(1/2)",
        {"quantities": ["off"], "absent": ["D0"], "letters": {"D0": "count"}}, "got 'D0', expected what the claim"),
    "a quantity that is a letter": (
        "meta", "short", "mean2 <= B**2", {"letters": {"mean2": "real"}}, "got 'mean2', expected what the claim"),
    "a quantity and a letter": (
        "meta", "short", "mean2 <= B**2", {"quantities": ["mean2"], "letters": {"mean2": "real"}}, "twice"),
    "a quantity that the claim has": (
        "algorithm", "fresh_point", "bias <= L*moved", {"quantities": ["moved", "bias"]}, "twice"),
    "a client that is no client": (
        "meta", "variation_G", "off_G(C + 1) <= 2*B*tv(C + 1)",
        {"quantities": ["off_G"], "let": [["point_gradients", "B"]], "at": {"i": ["+", "C", "1"]}}, "no judgement"),
    "client 0": (
        "meta", "variation_G", "off_G(0) <= 2*B*tv(0)",
        {"quantities": ["off_G"], "let": [["point_gradients", "B"]], "at": {"i": "0"}}, "no judgement"),
    "a client between two": (
        "meta", "variation_G", "off_G(C/2) <= 2*B*tv(C/2)",
        {"quantities": ["off_G"], "let": [["point_gradients", "B"]], "at": {"i": ["*", "1/2", "C"]}}, "whole number"),
    "clients at two places": (
        "meta", "variation_G", "off_G(1) <= 2*B*tv(C)",
        {"quantities": ["off_G"], "let": [["point_gradients", "B"]], "at": {"i": "1"}}, "another relation"),
    "no client": (
        "meta", "variation_G", "off_G(1) <= 2*B*tv(1)",
        {"quantities": ["off_G"], "let": [["point_gradients", "B"]]}, "got values for"),
    "a value for nothing": (
        "table", "efron_stein", "spread2 <= total/2", {"quantities": ["total"], "at": {"total": "0"}}, "values for"),
    "a chosen step size": (
        "meta", "independent", "bias2**(1/2) <= (1 + alpha*L)*mean_e",
        {"quantities": ["mean_e"], "choose": {"alpha": {"index": [], "value": "0"}}}, "got 'alpha'"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_no_theorem_says_is_refused(attack: str) -> None:
    setting, name, says, parts, why = ATTACKS[attack]
    with pytest.raises((Rejected, Malformed), match=why):
        written(setting, name, says, **parts).check()


def test_a_theorem_is_about_no_run() -> None:
    """The names of a setting's world say nothing about a method's measures, and numbers alone have no world."""
    claim = claim_of(["total <= 1"], (), {"total": "nonnegative"})
    w = Writer(claim)
    w.add("setting", "total <= 1", given={"name": "efron_stein"})
    with pytest.raises(Rejected, match="expected a setting that has some"):
        w.check()
    with pytest.raises(Rejected, match="expected one with theorems"):
        Writer(claim, quantities=["total"])
