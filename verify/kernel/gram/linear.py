"""Trees of a claim as forms: linear in Gram matrix, values and squares of the constants that the point leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from flint import fmpq

from ..core.expression import Evaluator, Op, Relation, Tree, decide, free, power
from ..core.loss import ONE
from ..core.rational import Rejected
from ..core.world import World
from .algebra import Extreme
from .form import Form, OutOfReach, number, total, unknown


@dataclass(frozen=True, slots=True)
class Root:
    """A multiple of an open constant, of which only the square is linear."""

    name: str
    factor: fmpq = ONE


Amount = Form | Root | Extreme


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Values of trees. Numbers are in `world`; measures, Gamma and open constants are not."""

    world: World
    domains: Mapping[str, str]
    measured: Callable[[str, tuple[int, ...]], Form | Extreme]
    measures: Mapping[str, int]  # name -> how many indices
    Gamma: Callable[[], Form]
    open: dict[str, str] = field(default_factory=dict[str, str])  # constant -> the unknown that is its square

    def known(self, tree: Tree, scope: Mapping[str, int]) -> bool:
        """Whether it is a number."""
        names = free(tree, frozenset(scope))
        return all(name in (self.world.values if arity < 0 else self.world.ranges) for name, arity in names)

    def integer(self, tree: Tree, scope: Mapping[str, int]) -> int:
        if not self.known(tree, scope):
            raise OutOfReach("out of reach: an index that is not known before the run")
        return Evaluator(self.world, self.domains).integer(tree, scope)

    def value(self, tree: Tree, scope: Mapping[str, int]) -> Amount:
        if self.known(tree, scope):
            x = Evaluator(self.world, self.domains).value(tree, scope)
            if not isinstance(x, fmpq):
                raise OutOfReach("out of reach: an irrational factor; other sizes may have a rational one")
            return number(x)
        if isinstance(tree, str):
            return self.symbol(tree)
        return self.combined(tree, scope) if isinstance(tree, Op) else number(tree)

    def symbol(self, name: str) -> Amount:
        if self.measures.get(name) == 0:
            return self.measured(name, ())
        if name == "Gamma":
            return self.Gamma()
        if self.domains.get(name) not in ("nonnegative", "positive"):
            raise OutOfReach(f"out of reach: {name}, which the point does not give and which may be negative")
        self.open.setdefault(name, f"{name}_squared")
        return Root(name)

    def combined(self, tree: Op, scope: Mapping[str, int]) -> Amount:
        name, args = tree.name, tree.args
        if name == "at":
            indices = tuple(self.integer(arg, scope) for arg in args[1:])
            self.in_range(str(args[0]), indices)
            return self.measured(str(args[0]), indices)
        if name == "sum":
            low, high = self.integer(args[1], scope), self.integer(args[2], scope)
            if high < low - 1:
                raise Rejected(f"claim: got a sum from {low} to {high}, expected a range")
            each = [self.form(args[3], {**scope, str(args[0]): n}) for n in range(low, high + 1)]
            return total([ONE] * len(each), each)
        if name == "+":
            return total([ONE] * len(args), [self.form(arg, scope) for arg in args])
        if name == "*":
            return reduce(product, (self.value(arg, scope) for arg in args))
        if name == "^":
            return self.raised(self.value(args[0], scope), self.form(args[1], scope))
        raise OutOfReach(f"out of reach: {name!r} of what is not known before the run")

    def raised(self, base: Amount, exponent: Form) -> Amount:
        if not exponent.known:
            raise OutOfReach("out of reach: an exponent that is not known before the run")
        n = exponent.constant
        if isinstance(base, Root) and n == 2:
            return total([base.factor**2], [unknown(self.open[base.name])])
        if n == 1:
            return base
        if isinstance(base, Form) and base.known and isinstance(x := power(base.constant, n), fmpq):
            return number(x)
        raise OutOfReach(f"out of reach: a power {n} of what is not known before the run")

    def form_of_square(self, name: str) -> Form:
        """The square of a constant, given or open."""
        x = self.raised(self.value(name, {}), number(fmpq(2)))
        if not isinstance(x, Form):
            raise OutOfReach(f"out of reach: {name} is no constant")
        return x

    def in_range(self, name: str, indices: tuple[int, ...]) -> None:
        if self.measures.get(name) != len(indices):
            raise OutOfReach(f"out of reach: {name} with {len(indices)} indices")

    def form(self, tree: Tree, scope: Mapping[str, int]) -> Form:
        x = self.value(tree, scope)
        if not isinstance(x, Form):
            raise OutOfReach("out of reach: a constant that is not squared, or an extreme inside a sum")
        return x

    def rooms(self, relation: Relation, scope: Mapping[str, int]) -> list[Form]:
        """Forms that are all >= 0 exactly where the relation holds (< is read as <=); none where it always does."""
        op, left, right = relation
        if self.known(left, scope) and self.known(right, scope):
            if not decide(relation, scope, self.world, self.domains)[2]:
                where = f" at {dict(scope)}" if scope else ""
                raise Rejected(f"point: got a condition or an assumption that fails{where}, expected all met")
            return []
        if op == "!=":
            raise OutOfReach("out of reach: a condition that two numbers differ")
        if op == "=":
            room = total((ONE, -ONE), (self.form(right, scope), self.form(left, scope)))
            return [room, total([-ONE], [room])]
        small, large = (left, right) if op in ("<=", "<") else (right, left)
        lows, highs = spread(self.value(small, scope), "most"), spread(self.value(large, scope), "least")
        return [total((ONE, -ONE), (high, low)) for low in lows for high in highs]


def spread(x: Amount, kind: str) -> tuple[Form, ...]:
    """One number, or all those of an extreme that has to be on this side."""
    if isinstance(x, Form):
        return (x,)
    if isinstance(x, Extreme) and x.kind == kind:
        return x.forms
    raise OutOfReach("out of reach: a constant that is not squared, or an extreme on the wrong side")


def product(x: Amount, y: Amount) -> Amount:
    for a, b in ((x, y), (y, x)):
        if isinstance(a, Form) and a.known:
            if isinstance(b, Form):
                return total([a.constant], [b])
            if isinstance(b, Root):
                return Root(b.name, a.constant * b.factor)
    raise OutOfReach("out of reach: a product of two things that are not known before the run")
