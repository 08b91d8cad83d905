"""How far noise can carry a run: bounds on its measures that hold on every path, by the triangle inequality.

Every vector is a ball around its value without noise. Gradients are H (x - y) apart with H between the least and the
largest curvature, so that a x - g grad(x) widens a ball by max |a - g h| over these h.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..arrays.array_checks import Array, fail, matvec, norm2
from .compiled_method import Linear, Measure, Operation, Programme
from .recorder import RoundByRound
from .rule_values import scope_of
from .setup import Place, Setup, State
from .walk import Ends, Law, by_rounds, initial

BOUNDED = frozenset(("name", "start", "zero", "w_star", "grad", "noisy", "mean", "neighbours"))


def bounded(rules: Programme, name: str) -> bool:
    """Whether a bound on this measure is known: |x|^2, or f(x) - f_star."""
    measure = rules.measures[name]
    simple = len(measure.terms) == 1 and not rules.coefficients[measure.stars]
    return rules.ops <= BOUNDED and simple and measure.terms[0][1].op in ("norm2", "f")


def reach(method: Mapping[str, object], setup: Setup, low: Array, high: Array) -> dict[str, Array]:
    """Bounds on the measures (shapes as of `run`) for curvatures between low and high (n,), where they are known."""
    scope = scope_of(method, replace(setup, v=None))
    law = Balls(scope, v=setup.v, low=low[:, None], high=high[:, None])
    measures = {name: m for name, m in scope.rules.measures.items() if bounded(scope.rules, name)}
    ends = Ends.never(setup, measures)
    recorder = RoundByRound(measures, law.bound, ends, scope.xp)
    by_rounds(law, recorder, ends)
    return recorder.measured()


@dataclass(frozen=True, eq=False)
class Ball(Place):
    """A place without noise, and how far every vector can be from it with noise: (n, 1 or C) each."""

    radius: State = field(default_factory=dict[str, Array])


@dataclass(frozen=True, slots=True, eq=False)
class Balls(Law):
    """A law that knows no outcomes but how far they can be apart."""

    v: Array = field(kw_only=True)  # the noise of a step, as of `Setup`
    low: Array = field(kw_only=True)  # (n, 1)
    high: Array = field(kw_only=True)

    def start(self) -> Ball:
        state = initial(self.scope)
        return Ball(state, 0, 0, radius={name: self.scope.xp.zeros_like(x[0, ..., 0]) for name, x in state.items()})

    def carried(self, place: Place, phase: str, steps: int = 0) -> Place:
        """The centres after a phase, and the radii, which only grow by what the rules of the phase do to them."""
        assert isinstance(place, Ball)
        width = 1 if phase == "update" else self.scope.setup.problem.C
        rules = self.scope.rules.phases[phase].items()
        wider = {name: self.wide(self.radius(rule, place, place.radius), width) for name, rule in rules}
        state = self.scope.carried(place, phase)
        return place.moved(state=state, k=place.k + steps, values={}, radius=place.radius | wider)

    def wide(self, x: Array, clients: int) -> Array:
        return self.scope.xp.broadcast_to(x, (self.scope.setup.start.shape[0], clients))

    def radius(self, rule: Linear, place: Place, radius: State) -> Array:
        """How far from its centre the rule's value can be: (n, 1 or C)."""
        xp = self.scope.xp
        parts = list(self.parts(rule, place, 1.0))
        slopes = {op.args[0].terms[0][1].name: (c, op) for c, op in parts if op is not None and self.plain(op)}
        total = xp.zeros_like(self.low)
        for coefficient, operation in parts:
            if operation is None:
                total = total + abs(coefficient) * xp.sqrt(norm2(xp, self.v))
            elif operation.op == "name" and operation.name in slopes:
                continue  # together with its gradient
            elif self.plain(operation):
                name = operation.args[0].terms[0][1].name
                own = [c for c, op in parts if op is not None and op.op == "name" and op.name == name]
                a = own[0] if own else 0.0
                # |a + coefficient h| is convex in h: it is largest at an end.
                stretch = xp.maximum(xp.abs(a + coefficient * self.low), xp.abs(a + coefficient * self.high))
                total = total + stretch * radius[name]
            else:
                total = total + abs(coefficient) * self.inside(operation, place, radius)
        return total

    def plain(self, operation: Operation) -> bool:
        """A gradient at a vector of the run."""
        if operation.op != "grad" or len(operation.args[0].terms) != 1:
            return False
        coefficient, inside = operation.args[0].terms[0]
        return inside.op == "name" and self.scope.coefficients[coefficient] == 1.0

    def parts(self, rule: Linear, place: Place, factor: Array) -> Iterator[tuple[Array, Operation | None]]:
        """The terms with their coefficients (n, 1), what stands below `noisy` among them; None is the noise itself."""
        for index, operation in rule.terms:
            here = place.at(self.scope.coefficients[index])
            coefficient = factor * (here if isinstance(here, float) else here[..., 0])
            if operation.op == "noisy":
                if self.v is not None:
                    yield coefficient, None
                yield from self.parts(operation.args[0], place, coefficient)
            else:
                yield coefficient, operation

    def inside(self, operation: Operation, place: Place, radius: State) -> Array:
        xp, problem = self.scope.xp, self.scope.setup.problem
        match operation.op:
            case "name":
                return radius[operation.name]
            case "start" | "zero" | "w_star":
                return xp.zeros_like(self.low)
            case "grad":
                steepest = xp.maximum(xp.abs(self.low), xp.abs(self.high))
                return steepest * self.radius(operation.args[0], place, radius)
            case "mean":
                each = self.wide(self.radius(operation.args[0], place, radius), problem.C)
                return xp.sum(xp.abs(problem.p) * each, axis=-1, keepdims=True)
            case "neighbours":
                each = self.wide(self.radius(operation.args[0], place, radius), problem.C)
                return matvec(xp, xp.abs(self.scope.setup.graph), each)
            case op:
                raise fail(f"the operation {op!r}", "one whose reach is known", "enumerate its outcomes")

    def bound(self, measure: Measure, place: Place) -> Array:
        """What the measure is at most, (n,) or (n, C)."""
        assert isinstance(place, Ball)
        xp, (index, atom) = self.scope.xp, measure.terms[0]
        rule = atom.args[0]
        x = self.scope.linear(rule, place)[0, ...]
        if atom.op == "f":
            x = x - self.scope.setup.w_star[:, None, :]
        far = (xp.sqrt(norm2(xp, x)) + self.radius(rule, place, place.radius)) ** 2
        here = place.at(self.scope.coefficients[index])
        steep = self.high / 2 if atom.op == "f" else 1.0
        value = abs(here if isinstance(here, float) else here[..., 0]) * steep * far
        value = self.wide(value, self.scope.setup.problem.C if measure.own else 1)
        return value if measure.own else value[..., 0]
