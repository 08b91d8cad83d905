"""The problem that a run is about, and what rules and numbers are there: losses, weights, a regulariser, a minimum.

`Problem` is the algebra (walk.py) of explicit losses: vectors are rational points, numbers are rationals.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from flint import fmpq

from .budget import label, summed
from .expression import FOLD, Value
from .layers import load
from .loss import ZERO, ClientLoss, Loss, Matrix, Vector, combine, dot, norm2, plus, scaled, semidefinite
from .method import Atom, Rule, Weights
from .rational import Malformed, Rejected, shown
from .walk import Given, Place


class Regulariser(Protocol):
    """A convex g with exact proximal points (losses/regulariser.py, and tables)."""

    @property
    def affine(self) -> bool: ...  # whether its proximal point is an affine function
    def value(self, x: Vector) -> fmpq: ...
    def prox(self, w: Vector, s: fmpq) -> Vector: ...
    def conjugate(self, s: Vector) -> fmpq | None: ...
    def subgradient(self, x: Vector, s: Vector) -> bool: ...
    def bounded(self, B: fmpq, d: int) -> bool: ...


class Data(Protocol):
    """What clients with data points do beyond their gradients (runs/data.py)."""

    @property
    def settled(self) -> int: ...  # the round from which on all is as before
    def applied(self, rule: Rule, place: Here, i: int, x: Vector) -> Vector: ...


Here = Place[Vector, fmpq]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Losses f_i, weights p_i, the graph's rows, the start, a minimiser of F = f + g if known, g, other points."""

    losses: tuple[ClientLoss, ...]
    p: Vector
    graph: tuple[Vector, ...]
    start: Vector
    w_star: Vector | None
    g: Regulariser | None = None
    points: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    minimisers: tuple[Vector, ...] | None = None  # of every f_i
    f_star: fmpq | None = None  # the least value of F, if known
    rows: tuple[Vector, ...] | None = None  # chosen weights, one row per round; None: the largest, as FedMax has it
    data: Data | None = None  # where clients draw data points, or somebody solves problems with them

    def value(self, w: Vector) -> fmpq:
        """f."""
        return dot(self.p, [loss.value(w) for loss in self.losses])

    def penalty(self, w: Vector) -> fmpq:
        """g."""
        return ZERO if self.g is None else self.g.value(w)

    def Gamma(self) -> fmpq | None:
        """f_star - sum_i p_i min f_i, where these are known."""
        if self.minimisers is None or self.f_star is None:
            return None
        return self.f_star - dot(self.p, [f.value(x) for f, x in zip(self.losses, self.minimisers, strict=True)])

    # vectors

    def label(self, x: Vector) -> Hashable:
        return label(x)

    def plus(self, vectors: Sequence[Vector]) -> Vector:
        return plus(*vectors)

    def scaled(self, factor: fmpq, x: Vector) -> Vector:
        return scaled(factor, x)

    def combined(self, weights: Sequence[fmpq], vectors: Sequence[Vector]) -> Vector:
        return combine(weights, vectors)

    def applied(self, rule: Rule, place: Here, i: int, x: Sequence[Vector]) -> Vector:
        """The value of a rule for client i, from those of its arguments."""
        match rule.op:
            case "grad":
                return self.losses[i].gradient(x[0])
            case "start":
                return self.start
            case "zero":
                return (ZERO,) * len(self.start)
            case "axis":
                return tuple(fmpq(r == place.last) for r in range(len(self.start)))
            case "w_star":
                return _given(self.w_star, "w_star")
            case "w_i_star":
                return _given(self.minimisers, "minimisers")[i]
            case "point":
                return _given(self.points.get(rule.name), f"points.{rule.name}")
            case _:
                return load("..runs.operations").applied(self, rule, place, i, x)

    def weighed(self, weights: Weights, place: Here) -> Vector:
        return load("..runs.largest_values").weights_of(weights, place)

    # numbers

    def measured(self, atom: Atom, i: int, x: Sequence[Vector]) -> fmpq:
        """The value of an atom for client i, from those of its arguments."""
        match atom.op:
            case "norm2":
                return norm2(x[0])
            case "inner":
                return dot(*x)
            case "f":
                return self.value(x[0])
            case "f_i":
                return self.losses[i].value(x[0])
            case "f_i_star":
                return self.losses[i].value(_given(self.minimisers, "minimisers")[i])
            case "f_star" if self.f_star is not None:
                return self.f_star
            case "f_star":
                raise Rejected("instance: got no minimiser, expected one, for the claim reads f_star")
            case _:
                return load("..runs.operations").measured(self, atom, x[0])

    def total(self, weights: Sequence[fmpq], numbers: Sequence[fmpq]) -> fmpq:
        return summed([q * x for q, x in zip(weights, numbers, strict=True)])

    def constant(self, x: fmpq) -> fmpq:
        return x

    def known(self, x: fmpq, op: str) -> fmpq:
        return x

    def extreme(self, kind: str, numbers: Sequence[fmpq]) -> fmpq:
        most, chosen = numbers[0], FOLD["min" if kind == "least" else "max"]
        for x in numbers[1:]:
            most = ball_or_rational(chosen(most, x))
        return most


def ball_or_rational(x: Value) -> fmpq:
    """A number of a run, said to be rational: where step sizes are irrational a ball stands for it everywhere.

    Before such a run begins, runs/irrational_steps.py refuses all that could compare or branch on a ball.
    """
    return x  # type: ignore[return-value]


def _given(value: Given | None, name: str) -> Given:
    """What the method reads of the instance."""
    if value is None:
        raise Malformed(f"instance: got no {name}, expected it, for the method reads it")
    return value


def extreme_hessian(problem: Problem, most: bool = False) -> Matrix:
    """No Hessian of f = sum_i p_i f_i is smaller; with `most`, none is larger."""
    H = [loss.hessian(most=(weight < 0) != most) for loss, weight in zip(problem.losses, problem.p, strict=True)]
    return tuple(combine(problem.p, [h[r] for h in H]) for r in range(len(H[0])))


def minimised(problem: Problem) -> Problem:
    """With f_star, the least value of F = f + g, where that is known, and with a point where F has it.

    A minimiser that the instance gives is one where f is convex and minus its slope there is a subgradient of g;
    losses/minimum.py knows more. Given minimisers of the f_i are checked.
    """
    w, losses = problem.w_star, problem.losses
    if w is not None and all(isinstance(f, Loss) for f in losses) and stationary(problem, w):
        least = problem.value(w) + problem.penalty(w) if semidefinite(extreme_hessian(problem)) else None
        problem = replace(problem, f_star=least)
    if problem.f_star is None:
        problem = load("..losses.minimum").with_minimum(problem)
    for i, x in enumerate(problem.minimisers or ()):
        if any(losses[i].gradient(x)) or not losses[i].above(ZERO):
            raise Rejected(f"instance.minimisers[{i}]: got {shown(x)}, expected a minimiser of a convex f_{i + 1}")
    return problem


def stationary(problem: Problem, w: Vector) -> bool:
    """Whether 0 is a subgradient of F at w, if f is convex."""
    slope = combine([-x for x in problem.p], [loss.gradient(w) for loss in problem.losses])
    return not any(slope) if problem.g is None else problem.g.subgradient(w, slope)
