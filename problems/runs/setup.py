"""What a run needs besides its method, and the places that it comes to.

A vector of the run is an array (S, n, c, d): S outcomes of the law, n instances, c = 1 at the server and C at the
clients.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Self

from ..arrays.array_checks import Array, Namespace, is_numpy, namespace
from ..losses.regularised import Regulariser
from .compiled_method import Coefficient, Operation, Programme, Tree, Weights

ROUNDS, ENDS = -1, -2  # in place of a round: all of them; all and the end of the last
State = dict[str, Array]
Measured = dict[str, Array]
Computed = dict[Operation | Weights | str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """What a run needs besides the method. Arrays of the problem have the batch axis n."""

    problem: Any  # Quadratics, Piecewise, Wells, ...: value, grad, gap_from, optimum, p, C, d
    start: Array  # (n, d)
    scalar: Callable[[Tree], Array]  # a tree -> an array that broadcasts to (n, T, E)
    E: int
    T: int
    v: Array = None  # (n, C, d): noise s v_i with a fair sign s per step
    h: Array = None  # (n, C, d): Hessians at a data point are Hess f_i + s diag(h_i), s another fair sign
    shared: bool = False  # one sign for all clients of a step
    noisy_steps: tuple[int, ...] | None = None  # with noise, counted over all rounds; None: all of them
    loud: int | None = None  # v_i = 0 beyond the first so many clients, so that they need no signs
    sampling: tuple[str, int] | None = None  # ("without_replacement" | "with_replacement", m)
    graph: Array = None  # (n, C, C)
    w_star: Array = None  # (n, d)
    regulariser: Regulariser | None = None  # then w_star is a minimiser of F = f + g, or any point if none is read
    points: Mapping[str, Array] = field(default_factory=dict[str, Array])  # (n, d)
    rows: Array = None  # (n, R, C): weights that are chosen, one row per round; otherwise the largest, as FedMax
    floor: Array = None  # (n,): values below it are rounding
    minibatch: tuple[int, bool] | None = None  # points that a client draws per round, whether all draw the same; or all
    oracle: tuple[Array, Array] | None = None  # step (n, J, C), shift (n, J, C, minibatches or 1, d); exact without
    batches: Callable[[int, int], Any] | None = None  # the losses of what clients draw for step k of round t
    moments: bool = False  # of quadratics that all clients solve exactly: only mean and covariance are followed
    box: tuple[Array, Array] | None = None  # (n, d) each: the losses are these quadratics there; with moments alone
    gaps: list[Array] = field(default_factory=list[Array])  # how far from optimal its answers were (n,), after a run
    signs: Array = None  # (S, n, T, E, C) or (.., C, d): sampled noise, not all of it; then measures have a last axis S
    until: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    # the last round, or round and step, in which a measure is read: later it need not be taken; of others, every one

    def blocks(self) -> Sequence[slice]:
        """Instances that are run together: all, unless the losses are data that would leave the cache at every step."""
        n = self.start.shape[0]
        size = n if self.batches is not None else min(n, getattr(self.problem, "together", n))
        return [slice(first, first + size) for first in range(0, n, size)]

    def some(self, rows: slice) -> "Setup":
        """A run without noise and sampling, restricted to some of its instances."""
        g = self.regulariser

        def scalar(tree: Tree) -> Array:
            x = self.scalar(tree)
            return x if x.shape[0] == 1 else x[rows, ...]

        return replace(
            self,
            problem=self.problem.some(rows),
            start=self.start[rows, ...],
            scalar=scalar,
            w_star=None if self.w_star is None else self.w_star[rows, ...],
            regulariser=None if g is None else g.some(rows),
            points={name: x[rows, ...] for name, x in self.points.items()},
            graph=None if self.graph is None else self.graph[rows, ...],
        )


@lru_cache
def draws(C: int, kind: str, m: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """How often each client is drawn, and how probable that is."""
    if kind == "without_replacement":
        chosen = list(combinations(range(C), m))
        return tuple((tuple(int(i in s) for i in range(C)), 1 / len(chosen)) for s in chosen)
    counts: dict[tuple[int, ...], float] = {}
    for s in product(range(C), repeat=m):
        key = tuple(s.count(i) for i in range(C))
        counts[key] = counts.get(key, 0.0) + 1 / C**m
    return tuple(counts.items())


@dataclass(frozen=True, eq=False)
class Place:
    """Where rules are evaluated: the state, the noise of this step, who was drawn, the indices.

    A run comes to a new place in every phase of every step, so that `moved` has to cost less than an
    operation on small arrays: it copies the attributes' dictionary, which is why there are no slots.
    """

    state: State
    t: int  # or ROUNDS, ENDS
    k: int
    kick: Array = None  # (.., draws of the step times C, d), or one such array per draw
    rough: Array = None  # (.., C, d): what is on the diagonal of the Hessians' noise
    counts: Array = None  # (S, n or 1, C)
    heads: Array = None  # (S, n or 1): 1 or 0 by the side of this round's coin
    batch: Array = None  # (S, C): which minibatch each client drew, on the host
    values: Computed = field(
        default_factory=dict[Operation | Weights | str, Array]
    )  # of operations and weights, once computed
    last: int = 0  # the other client, or the coordinate, that a measure looks at
    first: int = 0  # where outcomes are steps from this one on, one after the other
    chance: Array = None  # (S,) or (S, n): how probable every outcome is, where there are several
    own: State = field(default_factory=dict[str, Array])  # what clients had before the round, and keep if not drawn

    def moved(self, **changes: object) -> Self:
        """This place with some attributes changed."""
        place = object.__new__(type(self))
        place.__dict__.update(self.__dict__, **changes)
        return place

    def at(self, coefficient: Array) -> Array:
        """A coefficient here: a number, (n, 1, 1), or of all rounds (T or 1, n, 1, 1)."""
        if isinstance(coefficient, float):
            return coefficient
        # A constant axis has length 1; after the last round or step a coefficient stays as it was there.
        k = min(self.k, coefficient.shape[1] - 1)
        if self.t >= 0:
            return coefficient[min(self.t, coefficient.shape[0] - 1), k, ...]
        rounds = coefficient[:, k, ...]
        if self.t == ROUNDS or rounds.shape[0] == 1:
            return rounds
        return namespace(rounds).concat([rounds, rounds[-1:, ...]], axis=0)


def factors(xp: Namespace, rules: Programme, setup: Setup) -> list[Array]:
    """Every factor of the coefficients as (T or 1, E or 1, n or 1, 1, 1); axes along which it is constant are 1."""
    return [_short(xp, xp.permute_dims(setup.scalar(tree), (1, 2, 0))[..., None, None]) for tree in rules.factors]


def evaluated(values: Sequence[Array], coefficient: Coefficient) -> Array:
    """A coefficient from its factors: a number, or an array like them."""
    total: Array = 0.0
    for rational, inside in coefficient:
        term: Array = float(rational)
        for factor in inside:
            term = term * values[factor]
        total = total + term
    return total


def alike(coefficient: Array) -> bool:
    """Whether a coefficient is the same in all local steps of a round."""
    return isinstance(coefficient, float) or coefficient.shape[1] == 1


def single(xp: Namespace, x: Array) -> Array:
    """One number for all is held as a number, which costs half; on a device it stays there."""
    return float(x[0, 0, 0, 0, 0]) if is_numpy(xp) and not isinstance(x, float) and x.size == 1 else x


def _short(xp: Namespace, x: Array) -> Array:
    for axis in (0, 1):
        first = x[:1, ...] if axis == 0 else x[:, :1, ...]
        if x.shape[axis] > 1 and bool(xp.all(x == first)):
            x = first
    return x
