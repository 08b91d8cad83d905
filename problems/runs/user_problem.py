"""Problems that a user gives: arrays of quadratics, or gradients as functions. One instance, any number of clients.

The array interpreter asks a problem for `grad`, `value`, `gap_from`, `optimum`, `p`, `C` and `d`. Vectors of the
clients are (.., C, d), those of the server (.., 1, d).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import ArrayLike

from ..arrays.array_checks import Array, fail
from ..arrays.genes import Gene, along
from ..families import losses as families
from ..losses.quadratics import Quadratics

__all__ = ["Problem"]

Numbers = Sequence[str | float | Fraction]  # as texts of rationals, too

NEAR = 1e-7  # of the size of a table's points: what is one of them
LARGE = 20_000_000  # entries of matrices whose minimiser is computed unasked


class Point(TypedDict):
    """One point of a table: where it is, and gradient and value there."""

    x: Numbers
    g: Numbers
    f: str | float | Fraction


Points = Sequence[Point]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Losses f_1, ..., f_C on R^d and their weights, for `simulate`.

    `grad(i, w)` is the gradient of client i = 0, ..., C - 1 at w (d,); with `batched=True` it is `grad(W)`, all clients
    at once, (C, d) to (C, d). `value` likewise, (d,) to a number or (C, d) to (C,). What a method measures with values
    or with the minimiser is left out where these are not given.

    >>> import fedaudit as fa
    >>> problem = fa.Problem(grad=lambda i, w: w - i, clients=3, dim=1, w_star=[1.0])
    >>> fa.simulate("fedprox", problem, rounds=2, gamma=0.5, alpha=0)["w"].tolist()
    [[0.0], [0.5], [0.75]]
    """

    grad: Callable[..., ArrayLike]
    clients: int
    dim: int
    value: Callable[..., ArrayLike] | None = None
    w_star: ArrayLike | None = None  # a minimiser of the weighted mean
    weights: ArrayLike | None = None  # sum to 1; equal ones otherwise
    batched: bool = False
    objective: Any = None  # the same losses as the interpreter's own, which need no loop over clients

    def __post_init__(self) -> None:
        for name, size in (("clients", self.clients), ("dim", self.dim)):
            if isinstance(size, bool) or size < 1:
                raise fail(f"{name} = {size!r}", "a whole number from 1 on", "give another one")
        if self.p.shape != (1, self.clients) or not np.isclose(self.p.sum(), 1):
            raise fail(f"weights {self.p[0].tolist()}", f"{self.clients} numbers that sum to 1", "divide by their sum")
        if self.minimiser is not None and self.minimiser.shape != (1, self.dim):
            raise fail(f"w_star of shape {self.minimiser.shape[1:]}", f"({self.dim},)", "give one number per dimension")

    @staticmethod
    def quadratic(A: ArrayLike, b: ArrayLike, weights: ArrayLike | None = None) -> Problem:
        """Losses w'A_i w/2 - b_i'w: A (C, d, d), or its diagonals (C, d); b (C, d).

        >>> import fedaudit as fa
        >>> problem = fa.Problem.quadratic(A=[[1.0, 2.0], [3.0, 2.0]], b=[[0.0, 4.0], [4.0, 4.0]])
        >>> problem.w_star
        array([1., 2.])
        """
        matrices, pull = np.asarray(A, dtype=float), np.asarray(b, dtype=float)
        if pull.ndim != 2 or matrices.shape not in (pull.shape, (*pull.shape, pull.shape[-1])):
            got = f"A of shape {matrices.shape} and b of shape {pull.shape}"
            raise fail(got, "A (C, d, d) or (C, d), b (C, d)", "make them agree")
        C, d = pull.shape
        if not C:
            raise fail("no clients", "one row of b for each of them", "add one")
        p = np.full(C, 1 / C) if weights is None else np.asarray(weights, dtype=float)
        if p.shape != (C,):
            raise fail(f"weights of shape {p.shape}", f"({C},)", "give one per client")
        if matrices.ndim == 2:
            slope, at = (p[:, None] * matrices).sum(0), (p[:, None] * pull).sum(0)
            best = at / slope if (slope > 0).all() else None

            def grad(W: Array) -> Array:
                return matrices * W - pull

            def value(W: Array) -> Array:
                return (W * (matrices / 2 * W - pull)).sum(-1)

            return Problem(grad, C, d, value, w_star=best, weights=p, batched=True)
        return _of_objective(Quadratics(matrices[None], pull[None], p[None]), minimised=matrices.size <= LARGE)

    @staticmethod
    def drawn(family: str, clients: int, dim: int = 1, curvature: float = 1.0, seed: int = 0) -> Problem:
        """Losses that the adversary would draw, with equal weights: of a family by its name ("quadratic", "bent", ...).

        Curvatures lie between 0 and `curvature`, minimisers are of size about 1. The same seed gives the same losses.

        >>> import fedaudit as fa
        >>> problem = fa.Problem.drawn("bent", clients=3, dim=2, seed=1)
        >>> slopes = problem.grad(problem.w_star + np.zeros((3, 2)))
        >>> bool(abs(slopes.mean(axis=0)).max() < 1e-9)
        True
        """
        if family not in families():
            raise fail(f"the family {family!r}", f"one of {', '.join(sorted(families()))}", "give one of them")
        chosen, rng = families()[family], np.random.default_rng(seed)
        if not isinstance(cast("object", clients), int) or clients < 1:
            raise fail(f"clients = {clients}", "a whole number from 1 on", "give another number")
        if not 0 < curvature < np.inf:
            raise fail(f"curvature = {curvature}", "a number above 0", "give another number")
        if not isinstance(cast("object", dim), int) or not 1 <= dim <= chosen.dimensions:
            raise fail(f"dim = {dim}", f"1 to {chosen.dimensions} dimensions of {family}", "give another number")
        sizes = {"C": clients, "d": dim, "K": 1, "kinks": 0, "own": 0}
        genes = {gene.name: _some(gene, rng) for gene in (along("start", "real", sizes, "d"), *chosen.genes(sizes))}
        p, one = np.full((1, clients), 1 / clients), np.ones(1)
        return _of_objective(chosen.problem(chosen.parts(genes, p, 0 * one, curvature * one, one), p))

    @staticmethod
    def table(
        clients: Sequence[Points | Mapping[str, Points]], weights: Numbers | None = None, w_star: Numbers | None = None
    ) -> Problem:
        """Losses known at finitely many points, as certificates of worst cases have them: a list per client of points
        {"x": (d,), "g": (d,), "f": number}, or {"points": that list}. Numbers may be texts, "1/3".

        A run is answered where it meets these points, up to rounding, and nowhere else.

        >>> import fedaudit as fa
        >>> points = [{"x": ["0"], "g": ["0"], "f": "0"}, {"x": ["1"], "g": ["1/2"], "f": "3/8"}]
        >>> problem = fa.Problem.table([{"points": points}], w_star=["0"])
        >>> float(problem.grad(0, [1.0])[0])
        0.5
        """
        listed = [_listed(client) for client in clients]
        if not all(listed) or not listed:
            raise fail("a table without points", "one point or more for every client", "add one")
        x = [np.array([_floats(point["x"]) for point in points]) for points in listed]
        g = [np.array([_floats(point["g"]) for point in points]) for points in listed]
        f = [np.array(_floats([point["f"] for point in points])) for points in listed]
        best = None if w_star is None else _floats(w_star)

        def place(i: int, w: Array) -> int:
            apart = np.abs(x[i] - np.asarray(w, dtype=float)).max(axis=-1)
            nearest = int(np.argmin(apart))
            if apart[nearest] > NEAR * max(1.0, float(np.abs(x[i]).max())):
                raise fail(f"client {i + 1} at {np.asarray(w).tolist()}", "a point of its table", "run what it is of")
            return nearest

        def grad(i: int, w: Array) -> Array:
            return g[i][place(i, w)]

        def value(i: int, w: Array) -> Array:
            return f[i][place(i, w)]

        return Problem(
            grad, len(listed), x[0].shape[-1], value, w_star=best, weights=None if weights is None else _floats(weights)
        )

    @property
    def p(self) -> Array:
        """(1, C)."""
        weights = np.full(self.clients, 1 / self.clients) if self.weights is None else self.weights
        return np.asarray(weights, dtype=float)[None]

    @property
    def minimiser(self) -> Array:
        """(1, d), or None."""
        return None if self.w_star is None else np.asarray(self.w_star, dtype=float)[None]

    def losses(self) -> Any:
        """The losses as the interpreter asks for them."""
        return self.objective if self.objective is not None else UserLosses(self)


@dataclass(frozen=True, slots=True, eq=False)
class UserLosses:
    """A user's functions as a problem of the interpreter."""

    problem: Problem

    @property
    def C(self) -> int:
        return self.problem.clients

    @property
    def d(self) -> int:
        return self.problem.dim

    @property
    def p(self) -> Array:
        return self.problem.p

    def grad(self, w: Array) -> Array:
        return self._each(self.problem.grad, w, (self.C, self.d))

    def value(self, w: Array) -> Array:
        assert self.problem.value is not None
        return self._each(self.problem.value, w, (self.C,))

    def gap_from(self, w_star: Array) -> Callable[[Array], Array]:
        least = self.mean_value(w_star)
        return lambda w: self.mean_value(w) - least

    def optimum(self) -> Array:
        """f_* (1,)."""
        return self.mean_value(self.problem.minimiser)

    def mean_value(self, w: Array) -> Array:
        """f at (.., d)."""
        return (self.p[0] * self.value(w[..., None, :])).sum(-1)

    def _each(self, function: Callable[..., ArrayLike], w: Array, shape: tuple[int, ...]) -> Array:
        """A function of the user at (.., C or 1, d): (.., *shape)."""
        lead = w.shape[:-2]
        rows = np.broadcast_to(w, (*lead, self.C, self.d))
        values = np.empty((*lead, *shape))
        for at in np.ndindex(*lead):
            whole = function(rows[at]) if self.problem.batched else [function(i, rows[at][i]) for i in range(self.C)]
            result = np.asarray(whole, dtype=float)
            if result.shape != shape:
                raise fail(f"a function that returns {result.shape}", f"{shape}", "check `batched` and the shapes")
            values[at] = result
        return values


def _of_objective(objective: Any, minimised: bool = True) -> Problem:
    """One instance (n = 1) of the interpreter's losses, with its minimiser where it knows how to find it."""
    best = objective.minimiser()[0] if minimised and hasattr(objective, "minimiser") else None
    best = None if best is None or not np.isfinite(best).all() else best

    def grad(w: Array) -> Array:
        return objective.grad(w[None])[0]

    def value(w: Array) -> Array:
        return objective.value(w[None])[0]

    return Problem(
        grad,
        objective.C,
        objective.d,
        value,
        w_star=best,
        weights=objective.p[0],
        batched=True,
        objective=objective,
    )


def _some(gene: Gene, rng: np.random.Generator) -> Array:
    """Any value of a gene, (1, *shape)."""
    shape = (1, *gene.shape)
    match gene.kind:
        case "positive":
            return np.exp(rng.normal(size=shape))
        case "nonnegative":
            return np.abs(rng.normal(size=shape))
        case "unit" | "fraction":
            return 1 - rng.uniform(size=shape)
        case "real":
            return rng.normal(size=shape)


def _floats(numbers: Numbers) -> list[float]:
    """Numbers, or texts of rationals."""
    return [float(Fraction(x)) for x in numbers]


def _listed(client: Points | Mapping[str, Points]) -> list[Point]:
    """Points of a client."""
    return list(client["points"] if isinstance(client, Mapping) else client)
