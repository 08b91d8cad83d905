"""All local steps of a round in one, where nothing is measured between them: on quadratics, and on wide bent losses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from ..arrays.array_checks import Array, matvec, spread_to
from ..losses.piecewise import Piecewise
from ..losses.quadratics import Quadratics
from . import local_maps as forward
from .phase_list import flat
from .rule_values import Scope
from .setup import Place, State
from .walk import Shortcut


def shortcut_of(scope: Scope) -> Shortcut | None:
    """The shortcut of a method on its losses, where there is one and nothing is measured inside of rounds."""
    setup, problem = scope.setup, scope.setup.problem
    inside = any("k" in measure.at for measure in scope.rules.measures.values())
    if setup.v is not None or inside or not scope.even or setup.E == 1:
        return None
    if isinstance(problem, Quadratics):
        step = forward.local(scope.rules)
        return None if step is None else AffineSteps(scope, step)
    shape = (*setup.start.shape[:1], problem.C, problem.d)
    if not (isinstance(problem, Piecewise) and problem.even and problem.c.shape == shape):
        return None
    on_host = type(problem.c) is np.ndarray and setup.batches is None
    return BentSteps.of(scope) if on_host and prod(shape) > forward.WIDE else None


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """What rounds share while step sizes stay: coefficients, the steps, and the part of r_i that reads no vector."""

    number: forward.Evaluated
    steps: forward.Stepper
    constant: Array


@dataclass(slots=True, eq=False)
class AffineSteps:
    """The local steps y <- B_i y + r_i of one round after the other; what stays the same is kept."""

    scope: Scope
    local: forward.Local
    begun: Begun | None = None

    def advance(self, place: Place, before: Place) -> State:
        """The state after all local steps of the round that began at `before`."""
        scope, setup, name = self.scope, self.scope.setup, self.local.name
        varying = any(x.shape[0] > 1 for x in scope.factors)
        if self.begun is None or varying:
            number = scope.number_at(place.t)
            slope = [number(coefficient) for coefficient in self.local.slope]
            steps = forward.Stepper.of(setup.problem, slope, setup.start.shape[0], setup.E, 1 if varying else setup.T)
            shape = (*setup.start.shape[:1], *setup.problem.b.shape[-2:])
            constant = spread_to(scope.xp, self.rest(place, number, lambda vector: vector == ""), shape)
            self.begun = Begun(number, steps, steps.laid(constant))
        moving = self.rest(place, self.begun.number, lambda vector: vector != "")
        begin = scope.rules.phases["begin"]
        y = scope.linear(begin[name], before) if name in begin else place.state[name]  # one point for all, perhaps
        y = self.begun.steps.advance(y[0, ...], self.begun.constant, moving, setup.E)
        return place.state | {name: y[None, ...]}

    def rest(self, place: Place, number: forward.Evaluated, wanted: Callable[[str], bool]) -> Array:
        """r_i (n, C, d), or a part of it."""
        xp, problem = self.scope.xp, self.scope.setup.problem
        total = xp.zeros((1, 1, 1), dtype=xp.float64)
        for (vector, power, _), coefficient in self.local.rest.items():
            if wanted(vector):
                x = place.state[vector][0, ...] if vector else problem.b
                for _ in range(power):
                    x = matvec(xp, problem.A, x)
                factor = number(coefficient)
                total = total + (factor if isinstance(factor, float) else factor[:, None, None]) * x
        return total


@dataclass(slots=True, eq=False)
class BentSteps:
    """The local steps y <- keep y + slope grad f_i(y) + r_i of one round after the other, on bent losses."""

    scope: Scope
    name: str
    terms: Mapping[str, tuple[tuple[int, str], ...]]  # of y, of its gradient, and of what stays: coefficient and vector
    steps: Callable[[Array, Array, int], Array] | None = None

    @staticmethod
    def of(scope: Scope) -> "BentSteps | None":
        """The shortcut of this method; None where its local step is of another kind."""
        listed = flat(scope.rules, "local", drawn=False)
        if len(listed.targets) != 1 or listed.targets[0][0] not in listed.names:
            return None
        ((name, target),) = listed.targets
        own, kinds = listed.names.index(name), ["y" if one == name else "rest" for one in listed.names]
        *operations, last = listed.steps
        for step in operations:
            op = "" if step.operation is None else step.operation.op
            if not ((op == "grad" and step.places == (own,)) or (op == "noisy" and kinds[step.places[0]] == "grad")):
                return None
            kinds.append("grad")
        if last.operation is not None or target != len(kinds):
            return None
        names = [*listed.names, *(name for _ in operations)]
        each = [(kinds[at], (index, names[at])) for index, at in last.terms]
        return BentSteps(scope, name, {kind: tuple(x for k, x in each if k == kind) for kind in ("y", "grad", "rest")})

    def advance(self, place: Place, before: Place) -> State:
        """The state after all steps."""
        steps = self.steps
        if steps is None or any(x.shape[0] > 1 for x in self.scope.factors):
            keep, slope = (self.total(place, kind, lambda _: 1.0) for kind in ("y", "grad"))
            self.steps = steps = self.scope.setup.problem.stepper(keep, slope)
        rest = self.total(place, "rest", lambda name: place.state[name][0, ...])
        y = steps(place.state[self.name][0, ...], rest, self.scope.setup.E)
        return place.state | {self.name: y[None, ...]}

    def total(self, place: Place, kind: str, vector: Callable[[str], Array]) -> Array:
        """Coefficients of one kind, times vectors (n, c, d)."""
        terms = (place.at(self.scope.coefficients[index]) * vector(name) for index, name in self.terms[kind])
        return sum(terms, 0.0)
