"""The array interpreter: any method that is data, on batches of problems, with exact expectations.

A vector of the run is an array (n, S, c, d): n instances, S outcomes of the law, c = 1 at the server and C at the
clients. Two laws: `paths` lists every outcome of noise and sampling with its probability; `columns` holds the mean in
outcome 0 and the covariance as columns in the others, which is exact where all rules are affine. Without noise both
have one outcome. Nothing is written in place, so any array library will do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from .arrays import Array, Namespace, fail, matvec, namespace, norm2, quiet
from .quadratics import Quadratics, half_square

MOST_OUTCOMES = 1 << 14
State = dict[str, Array]
Scalar = Callable[[Any, int, int], Array]  # (tree, t, k) -> (n,)


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """What a run needs besides the method. Arrays of the problem have batch axes (n, 1)."""

    problem: Any  # Quadratics, Piecewise, Wells, ...: value, grad, p, C, d
    start: Array  # (n, d)
    scalar: Scalar
    E: int
    T: int
    v: Array = None  # (n, C, d): noise s v_i with a fair sign s per step
    shared: bool = False  # one sign for all clients of a step
    sampling: tuple[str, int] | None = None  # ("without_replacement" | "with_replacement", m)
    graph: Array = None  # (n, C, C)
    w_star: Array = None  # (n, d)
    prox: Callable[[Array, Array], Array] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """The outcomes: probability (S,) and, per path, signs (S, T, E, C) and draws (S, T, C); or columns."""

    columns: bool
    probability: Array
    signs: Array = None
    counts: Array = None


def paths_needed(T: int, E: int, C: int, noisy: bool, shared: bool, sampling: tuple[str, int] | None) -> int:
    """How many outcomes the law of paths has."""
    draws = len(_draws(C, sampling)) if sampling else 1
    return 2 ** min(60, T * E * (1 if shared else C) if noisy else 0) * draws ** min(T, 60)


def _draws(C: int, sampling: tuple[str, int]) -> list[tuple[tuple[int, ...], float]]:
    kind, m = sampling
    if kind == "without_replacement":
        chosen = list(combinations(range(C), m))
        return [(tuple(int(i in s) for i in range(C)), 1 / len(chosen)) for s in chosen]
    counts: dict[tuple[int, ...], float] = {}
    for s in product(range(C), repeat=m):
        key = tuple(s.count(i) for i in range(C))
        counts[key] = counts.get(key, 0.0) + 1 / C**m
    return list(counts.items())


def law_of(xp: Namespace, setup: Setup) -> Law:
    """Columns for affine problems without sampling; otherwise all paths."""
    C, T, E = setup.problem.C, setup.T, setup.E
    noisy = setup.v is not None
    if setup.sampling is None and (not noisy or (isinstance(setup.problem, Quadratics) and setup.prox is None)):
        return Law(columns=noisy, probability=xp.ones((1,), dtype=xp.float64))
    outcomes = paths_needed(T, E, C, noisy, setup.shared, setup.sampling)
    if outcomes > MOST_OUTCOMES:
        raise fail(
            f"{outcomes} outcomes of noise and sampling", f"at most {MOST_OUTCOMES}", "take fewer rounds or clients"
        )
    width = 1 if setup.shared else C
    signs = list(product((1.0, -1.0), repeat=T * E * width)) if noisy else [()]
    draws = list(product(_draws(C, setup.sampling), repeat=T)) if setup.sampling else [()]
    pairs = list(product(signs, draws))
    chance = [_product(q for _, q in drawn) / len(signs) for _, drawn in pairs]
    law = Law(columns=False, probability=xp.asarray(chance, dtype=xp.float64))
    if noisy:
        flat = xp.asarray([s for s, _ in pairs], dtype=xp.float64)
        law = replace(law, signs=xp.broadcast_to(xp.reshape(flat, (len(pairs), T, E, width)), (len(pairs), T, E, C)))
    if setup.sampling:
        law = replace(law, counts=xp.asarray([[c for c, _ in drawn] for _, drawn in pairs], dtype=xp.float64))
    return law


def _product(factors: Any) -> float:
    total = 1.0
    for factor in factors:
        total *= factor
    return total


def run(method: Mapping[str, Any], setup: Setup) -> dict[str, Array]:
    """The method's measures: arrays (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C)."""
    xp = namespace(setup.start)
    with quiet(xp):
        return _Interpreter(xp, method, setup, law_of(xp, setup)).measures()


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where a rule is evaluated: the state, the noise of this step, who was drawn, and the indices."""

    state: State
    kick: Array
    counts: Array  # (S, C) or None
    t: int
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class _Interpreter:
    xp: Namespace
    method: Mapping[str, Any]
    setup: Setup
    law: Law

    def measures(self) -> dict[str, Array]:
        xp, setup, rules = self.xp, self.setup, self.method
        measured: dict[str, list[Any]] = {name: [] for name in rules["measures"]}
        slow = {name: m for name, m in rules["measures"].items() if "k" not in m["at"]}
        fast = {name: m for name, m in rules["measures"].items() if "k" in m["at"]}
        state = self.initial()
        for t in range(setup.T + 1):
            counts = None if self.law.counts is None else self.law.counts[:, min(t, setup.T - 1), ...]
            for name, measure in slow.items():
                measured[name].append(self.measure(measure, _Place(state, None, counts, t, 0)))
            if t == setup.T:
                break
            before = {name: state[name] for name in self.kept if name in rules["client"]}
            state = self.carried(state, "begin", counts, t, 0)
            local: dict[str, list[Array]] = {name: [] for name in fast}
            for k in range(setup.E + 1):
                for name, measure in fast.items():
                    local[name].append(self.measure(measure, _Place(state, None, counts, t, k)))
                if k < setup.E:
                    state = self.carried(state, "local", counts, t, k)
            for name, values in local.items():
                measured[name].append(xp.stack(values, axis=1))
            state = self.carried(state, "end", counts, t, setup.E)
            if counts is not None:
                there = counts[None, :, :, None] > 0
                state = state | {name: xp.where(there, state[name], old) for name, old in before.items()}
            state = self.carried(state, "update", counts, t, setup.E)
            state = self.condensed({name: state[name] for name in self.kept})
        return {name: xp.stack(values, axis=1) for name, values in measured.items()}

    @property
    def kept(self) -> list[str]:
        rules = self.method
        return [*rules["server"], *(name for name in rules["client"] if name not in rules["begin"])]

    def initial(self) -> State:
        state: State = {}
        for whose in ("server", "client"):
            place = _Place(dict(state), None, None, 0, 0)
            width = 1 if whose == "server" else self.setup.problem.C
            state |= {name: self.wide(self.vector(rule, place), width) for name, rule in self.method[whose].items()}
        return state

    def wide(self, x: Array, clients: int) -> Array:
        n, d = self.setup.start.shape
        return self.xp.broadcast_to(x, (n, x.shape[1], clients, d)) if x.shape[2] != clients else x

    def carried(self, state: State, phase: str, counts: Array, t: int, k: int) -> State:
        """The state after one phase."""
        rules = self.method[phase]
        if not rules:
            return state
        kick = None
        if self.setup.v is not None and any(_has(rule, "noisy") for rule in rules.values()):
            if self.law.columns:
                state = self.condensed(state, spare=2)
                kick = self.columns(max(x.shape[1] for x in state.values()))
                state = self.padded(state, kick.shape[1])
            else:
                kick = self.law.signs[None, :, t, k, :, None] * self.setup.v[:, None, ...]
        place = _Place(state, kick, counts, t, k)
        width = 1 if phase == "update" else self.setup.problem.C
        return state | {name: self.wide(self.vector(rule, place), width) for name, rule in rules.items()}

    def columns(self, used: int) -> Array:
        """The noise of one step as columns behind the `used` ones: (n, used + K, C, d)."""
        xp, v = self.xp, self.setup.v
        n, C, d = v.shape
        own = v[:, None, ...] if self.setup.shared else xp.eye(C, dtype=xp.float64)[None, :, :, None] * v[:, None, ...]
        return xp.concat([xp.zeros((n, used, C, d), dtype=xp.float64), own], axis=1)

    def padded(self, state: State, size: int) -> State:
        xp = self.xp

        def longer(x: Array) -> Array:
            n, used, c, d = x.shape
            return xp.concat([x, xp.zeros((n, size - used, c, d), dtype=xp.float64)], axis=1) if used < size else x

        return {name: longer(x) for name, x in state.items()}

    def condensed(self, state: State, spare: int = 1) -> State:
        """As few columns as these vectors have entries, with the same covariance; from `spare` times as many on."""
        xp = self.xp
        n, used = self.setup.start.shape[0], max(x.shape[1] for x in state.values())
        if not self.law.columns or used <= spare * (1 + sum(x.shape[2] * x.shape[3] for x in state.values())):
            return state
        state = self.padded(state, used)
        flat = xp.concat([xp.reshape(x, (n, used, -1)) for x in state.values()], axis=2)
        size = flat.shape[2]
        spread = flat[:, 1:, ...]
        covariance = xp.matmul(xp.matrix_transpose(spread), spread)
        usable = xp.all(xp.isfinite(covariance), axis=(1, 2), keepdims=True)  # not so once a run has diverged
        eigenvalues, U = xp.linalg.eigh(xp.where(usable, covariance, xp.zeros_like(covariance)))
        roots = xp.sqrt(xp.maximum(eigenvalues, xp.zeros_like(eigenvalues)))
        short = xp.concat([flat[:, :1, ...], xp.matrix_transpose(U * roots[:, None, :])], axis=1)
        short = xp.where(usable, short, xp.full_like(short, float("nan")))
        restored: State = {}
        place = 0
        for name, x in state.items():
            width = x.shape[2] * x.shape[3]
            restored[name] = xp.reshape(short[:, :, place : place + width], (n, size + 1, *x.shape[2:]))
            place += width
        return restored

    def constant(self, x: Array) -> Array:
        """A vector that is not random: (n, c, d) -> (n, 1, c, d)."""
        return x[:, None, ...]

    def mean_only(self, x: Array, size: int) -> Array:
        """What is not random, beside `size` outcomes: under columns it touches the mean alone."""
        if not self.law.columns or size == 1:
            return x
        none = self.xp.zeros((x.shape[0], size - 1, *x.shape[2:]), dtype=self.xp.float64)
        return self.xp.concat([x, none], axis=1)

    def vector(self, rule: Any, place: _Place) -> Array:
        xp, setup = self.xp, self.setup
        if isinstance(rule, str):
            return place.state[rule]
        op, *args = rule
        match op:
            case "start":
                return setup.start[:, None, None, :]
            case "zero":
                return xp.zeros_like(setup.start)[:, None, None, :]
            case "w_star":
                return setup.w_star[:, None, None, :]
            case "+":
                return self.added([self.vector(arg, place) for arg in args])
            case "*":
                return setup.scalar(args[0], place.t, place.k)[:, None, None, None] * self.vector(args[1], place)
            case "grad":
                return self.gradient(self.vector(args[0], place))
            case "noisy":
                inside = self.vector(args[0], place)
                return inside if place.kick is None else self.added([inside, place.kick])
            case "mean":
                return self.averaged(setup.problem.p[..., None], self.vector(args[0], place))
            case "sampled":
                if place.counts is None:
                    return self.averaged(
                        xp.full((1, 1, setup.problem.C, 1), 1 / setup.problem.C), self.vector(args[0], place)
                    )
                drawn = place.counts / xp.sum(place.counts, axis=-1, keepdims=True)
                return self.averaged(drawn[None, :, :, None], self.vector(args[0], place))
            case "neighbours":
                return xp.matmul(setup.graph[:, None, ...], self.wide(self.vector(args[0], place), setup.problem.C))
            case "prox":
                if setup.prox is None:
                    raise fail("a method with a prox", "a problem with a regulariser", "give one")
                return setup.prox(
                    self.vector(args[1], place), setup.scalar(args[0], place.t, place.k)[:, None, None, None]
                )
            case _:
                raise fail(f"the operation {op!r}", "one of a method's operations", "see bounds/method.py")

    def added(self, parts: Sequence[Array]) -> Array:
        """A sum; what has one outcome only is not random."""
        size = max(x.shape[1] for x in parts)
        total = None
        for x in parts:
            y = self.mean_only(x, size) if x.shape[1] < size else x
            total = y if total is None else total + y
        return total

    def averaged(self, weights: Array, x: Array) -> Array:
        """(.., C, 1) weights, (n, S, C, d) -> (n, S, 1, d)."""
        return self.xp.sum(weights * self.wide(x, self.setup.problem.C), axis=2, keepdims=True)

    def gradient(self, x: Array) -> Array:
        problem = self.setup.problem
        x = self.wide(x, problem.C)
        if not self.law.columns or x.shape[1] == 1:
            return problem.grad(x)
        return self.added([matvec(self.xp, problem.A, x), -(problem.b + 0 * x[:, :1, ...])])

    # measures

    def measure(self, measure: Mapping[str, Any], place: _Place) -> Array:
        """(n,) or, at every client, (n, C)."""
        own = "i" in measure["at"]
        total, stars = 0.0, 0.0
        for factor, atom in measure["terms"]:
            coefficient = self.setup.scalar(factor, place.t, place.k)
            value, star = self.expected(atom, place, own)
            total = total + (coefficient[:, None] if value.ndim > 1 else coefficient) * value
            stars = stars + coefficient * star
        if bool(self.xp.any(stars != 0)):  # values of f count from f_star, so that they do not cancel near it
            offset = stars * self.setup.problem.optimum()[:, 0]
            total = total + (offset[:, None] if own else offset)
        n, C = self.setup.start.shape[0], self.setup.problem.C
        return self.xp.broadcast_to(total, (n, C) if own else (n,))

    def expected(self, atom: Any, place: _Place, own: bool) -> tuple[Array, float]:
        """The expectation and how many times f_star has to be added to it."""
        op, *args = atom
        xp = self.xp
        if op == "f_star":
            return xp.zeros_like(self.setup.start[:, 0]), 1.0
        if op == "mean":
            inside, star = self.expected(args[0], place, own=True)
            return xp.sum(self.setup.problem.p[:, 0, ...] * inside, axis=-1), star
        if self.setup.v is not None and any(_has(arg, "noisy") for arg in args):
            return self.over_noise(atom, place, own)
        return self.over_law(op, [self.vector(arg, place) for arg in args], own)

    def over_noise(self, atom: Any, place: _Place, own: bool) -> tuple[Array, float]:
        """An expectation over the noise of one more step as well."""
        xp, (op, *args) = self.xp, atom
        if self.law.columns:
            kick = self.columns(max(x.shape[1] for x in place.state.values()))
            noisy = replace(place, state=self.padded(place.state, kick.shape[1]), kick=kick)
            return self.over_law(op, [self.vector(arg, noisy) for arg in args], own)
        C = self.setup.problem.C
        outcomes = list(product((1.0, -1.0), repeat=1 if self.setup.shared else C))
        total, star = 0.0, 0.0
        for signs in outcomes:
            each = xp.asarray(signs * C if self.setup.shared else signs, dtype=xp.float64)
            noisy = replace(place, kick=each[None, None, :, None] * self.setup.v[:, None, ...])
            value, star = self.over_law(op, [self.vector(arg, noisy) for arg in args], own)
            total = total + value / len(outcomes)
        return total, star

    def over_law(self, op: str, vectors: list[Array], own: bool) -> tuple[Array, float]:
        xp, problem = self.xp, self.setup.problem
        vectors = [self.wide(x, problem.C if own else 1) for x in vectors]
        size = max(x.shape[1] for x in vectors)
        x, *rest = [self.mean_only(x, size) if x.shape[1] < size else x for x in vectors]
        match op:
            case "norm2":
                values, star = norm2(xp, x), 0.0
            case "inner":
                values, star = xp.sum(x * rest[0], axis=-1), 0.0
            case "f":
                values, star = self.excess(x), 1.0
            case _:
                values, star = self.client_value(x), 0.0
        if self.law.columns:
            mean = xp.sum(values, axis=1)
        else:
            chance = self.law.probability if values.shape[1] > 1 else xp.ones((1,), dtype=xp.float64)
            mean = xp.sum(chance[None, :, None] * values, axis=1)
        return (mean if own else mean[:, 0]), star

    def excess(self, x: Array) -> Array:
        """f(x) - f_star for x (n, S, c, d), without cancellation; of columns their share of its expectation."""
        problem, w_star = self.setup.problem, self.setup.w_star
        if isinstance(problem, Quadratics):
            A, _ = problem.mean()
            return half_square(A[:, :, None, ...], self.added([x, -w_star[:, None, None, :]]))
        if x.shape[2] == 1:
            return problem.gap_from(w_star[:, None, ...])(x[:, :, 0, ...])[..., None]
        each = [problem.gap_from(w_star[:, None, ...])(x[:, :, i, ...]) for i in range(x.shape[2])]
        return self.xp.stack(each, axis=-1)

    def client_value(self, x: Array) -> Array:
        problem = self.setup.problem
        if not self.law.columns or x.shape[1] == 1:
            return problem.value(x)
        linear = self.xp.sum(x * self.added([0 * x, -(problem.b + 0 * x[:, :1, ...])]), axis=-1)
        return half_square(problem.A, x) + linear


def _has(rule: Any, op: str) -> bool:
    return not isinstance(rule, str) and (
        rule[0] == op or any(_has(arg, op) for arg in rule[1:] if isinstance(arg, list | str))
    )
