"""What a run takes, what it measures, and the checks on both: shared by every way of running FedProx."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from .arrays import Array, Namespace, as_floats, broadcast_shape, check_finite, check_local_steps, fail, namespace

SERVER = ("gap", "dist2")
LOCAL = ("deviation", "divergence", "grad2")
ALL = (*SERVER, *LOCAL)


class Objective(Protocol):
    """What a run needs of its clients' losses."""

    @property
    def p(self) -> Array: ...
    @property
    def batch(self) -> tuple[int, ...]: ...
    @property
    def C(self) -> int: ...
    @property
    def d(self) -> int: ...
    def grad(self, w: Array) -> Array: ...
    def average(self, w: Array) -> Array: ...
    def minimiser(self) -> Array: ...
    def gap_from(self, w_star: Array) -> Callable[[Array], Array]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Expectations over the noise, measured along a run; None where not asked for."""

    gap: Array = None  # (..., T+1)        E f(wbar_{t,0}) - f_*
    dist2: Array = None  # (..., T+1)        E |wbar_{t,0} - w_*|^2
    deviation: Array = None  # (..., T, E+1, C)  E |w^i_{t,k} - wbar_{t,0}|^2
    divergence: Array = None  # (..., T, E+1, C)  E |wbar_{t,k} - w^i_{t,k}|^2
    grad2: Array = None  # (..., T, E+1, C)  E |grad f_i(w^i_{t,k})|^2, without the variance of the noise


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """The checked input of a run, with common batch axes."""

    xp: Namespace
    batch: tuple[int, ...]
    w0: Array  # (*batch, d)
    alpha: Array  # (*batch)
    gamma: Array  # (*batch, T)
    E: int

    @property
    def T(self) -> int:
        return self.gamma.shape[-1]


def set_up(problem: Objective, w0: Array, alpha: Array, gamma: Array, E: int, *batches: tuple[int, ...]) -> Setup:
    """Check and broadcast what every way of running FedProx takes."""
    check_local_steps(E)
    xp = namespace(problem.p, w0)
    w0, alpha, gamma = as_floats(xp, w0), as_floats(xp, alpha), as_floats(xp, gamma)
    if w0.ndim < 1 or w0.shape[-1] != problem.d:
        raise fail(f"w0 of shape {w0.shape}", f"(..., {problem.d})", "give one coordinate a dimension")
    if gamma.ndim < 1 or gamma.shape[-1] < 1:
        raise fail(f"gamma of shape {gamma.shape}", "(..., T) with T >= 1", "give one step size a round")
    check_finite(xp, w0=w0, alpha=alpha, gamma=gamma)
    batch = broadcast_shape(
        "batch axes of problem, w0, alpha, gamma", problem.batch, w0.shape[:-1], alpha.shape, gamma.shape[:-1], *batches
    )
    return Setup(
        xp=xp,
        batch=batch,
        w0=xp.broadcast_to(w0, (*batch, problem.d)),
        alpha=xp.broadcast_to(alpha, batch),
        gamma=xp.broadcast_to(gamma, (*batch, gamma.shape[-1])),
        E=E,
    )


def blank(problem: Objective, setup: Setup, record: Collection[str]) -> dict[str, Array]:
    """Arrays for what is recorded, to be filled round by round."""
    xp, server, local = setup.xp, (setup.T + 1,), (setup.T, setup.E + 1, problem.C)
    shapes = {name: (*setup.batch, *(server if name in SERVER else local)) for name in record}
    return {name: xp.empty(shape, dtype=xp.float64) for name, shape in shapes.items()}


def check_record(record: Collection[str]) -> None:
    unknown = set(record) - set(ALL)
    if unknown:
        raise fail(f"record {sorted(unknown)}", f"some of {', '.join(ALL)}", "ask for measured quantities only")
