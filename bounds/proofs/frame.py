"""A method and what the names of a proof mean in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sympy import Add, Expr, Indexed, IndexedBase, Max, Mul, Pow, Rational, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fedaudit.errors import UserError

from ..language.assumptions import USUAL
from ..language.method import Method
from ..language.rule_expressions import f_i_star, f_star, mean
from ..language.rule_parts import Number, Vector, scalars_of
from .settings.two_groups import Groups
from .vectors import FENCHEL, FRESH, SAME, Charge

HETEROGENEITY = Number(f_star.terms) - mean(f_i_star)  # f* - sum_i p_i f_i*, which every run calls Gamma


CHARGES: dict[str, Charge] = {  # the assumption that a proof takes a rule from, where a statement does not say
    **{rule: (name, ()) for rule, name in USUAL.items()},
    FRESH: ("fresh_minibatches", ()),
    FENCHEL: ("convex_regulariser", ()),
    SAME: ("identical", ()),
}


def others(clients: Any) -> Any:
    """How many clients there are besides one; 1 where there is none, so that it may be divided by."""
    return Max(clients - 1, 1)


def formula_of(method: Method, quantity: Any) -> Any:
    """What the method's formulas say that a quantity is, at its indices; None if they do not."""
    key = _formulas(method).get(head_of(quantity))
    if key is None or key == quantity:
        return None if key is None else method.formulas[key]
    return method.formulas[key].subs(dict(zip(key.args, quantity.args, strict=True)), simultaneous=True)


def head_of(quantity: Expr) -> Any:
    """What a quantity is at all its indices."""
    return quantity.func if isinstance(quantity, AppliedUndef) else quantity


def _by_head(*quantities: Expr) -> dict[Any, Expr]:
    """Head -> the first quantity that has it."""
    return {head_of(q): q for q in reversed(quantities)}


@lru_cache(maxsize=512)
def _formulas(method: Method) -> dict[Expr, Expr]:
    return _by_head(*method.formulas)


@lru_cache(maxsize=512)
def factors_read(method: Method) -> frozenset[Expr]:
    """The heads of what its rules read."""
    return frozenset(q.func for q in method.steps())


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A method and what the names of a proof mean in it: quantities at their indices, as measures are written.

    `letters` are the round, the local step, the client, another client; `sizes` the local steps and the clients.
    `ghosts` are vectors of the clients that only the proof has: what they are when a round begins, and their local
    rule. `kept` are vectors that equal a formula of others at every local step k: `require_kept` asks the rules.
    """

    method: Method
    names: Mapping[Any, Number]
    letters: tuple[Any, Any, Any, Any]
    sizes: tuple[Any, Any]
    weights: Any
    # rule -> the assumption that it takes here instead of the usual one; None where it is what the setting is
    charges: Mapping[str, Charge | None] = field(default_factory=dict[str, "Charge | None"])
    one: bool = False  # a single function, of the client that is not named; w* minimises it
    alone: bool = False  # there is one client, and means over the clients are its own
    same: bool = False  # all clients have the same function
    even: bool = False  # all clients have the same weight
    sample: Any = None  # how many clients are drawn
    ghosts: Mapping[Vector, tuple[Vector, Vector]] = field(default_factory=dict[Vector, tuple[Vector, Vector]])
    kept: Mapping[Vector, Callable[[Any], Vector]] = field(default_factory=dict[Vector, Callable[[Any], Vector]])
    shares: Any = None  # q(i, j), what neighbour j is to client i, as the proof writes it
    groups: Groups | None = None  # what all losses are
    sent: Mapping[Vector, Vector] = field(default_factory=dict[Vector, Vector])  # a client's vector -> the server's
    single: bool = False  # a round has one local step: what a round ends with is what that step makes of its begin
    chosen: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])  # step sizes that the statement chooses

    def __post_init__(self) -> None:
        object.__setattr__(self, "charges", {**CHARGES, **self.charges})
        printed_names = self.method.glossary
        if self.method.clock != "rounds":
            raise UserError(f"got {self.method.id}, whose clock counts steps, expected one that counts rounds")
        for key, number in self.names.items():
            printed = key.func in printed_names if isinstance(key, AppliedUndef) else key in printed_names
            if printed and not (str(key) == "Gamma" and number == HETEROGENEITY):
                raise UserError(f"got a definition of {key}, expected a name of the proof alone; do: rename it")
        if {*self.ghosts} & {*self.method.server, *self.method.client}:
            raise UserError("got a ghost with the name of a vector of the method; do: rename it")

    @property
    def begin(self) -> Mapping[Vector, Any]:
        return {**self.method.begin, **{x: rule for x, (rule, _) in self.ghosts.items()}}

    @property
    def local(self) -> Mapping[Vector, Any]:
        return {**self.method.local, **{x: rule for x, (_, rule) in self.ghosts.items()}}

    def formula(self, quantity: Any) -> Any:
        """What the method's formulas say that it is; a factor of its rules is a letter, unless its value is chosen."""
        for own, value in self.chosen.items():
            if head_of(own) == head_of(quantity):
                at = dict(zip(getattr(own, "args", ()), getattr(quantity, "args", ()), strict=True))
                return value.subs(at, simultaneous=True)
        return None if head_of(quantity) in factors_read(self.method) else formula_of(self.method, quantity)

    @property
    def client(self) -> str | None:
        """The client whose function is f, where there is one function."""
        return str(self.letters[2]) if self.one or self.alone else None

    @property
    def sum_of_squares(self) -> Expr:
        _, _, i, _ = self.letters
        return Sum(self.weight(i) ** 2, (i, 1, self.sizes[1]))

    def weight(self, client: Any) -> Any:
        return self.weights[client] if isinstance(self.weights, IndexedBase) else self.weights(client)

    def is_weight(self, expr: Expr) -> bool:
        if isinstance(self.weights, IndexedBase):
            return isinstance(expr, Indexed) and expr.base == self.weights
        return getattr(expr, "func", None) == self.weights

    def settled(self, x: Vector) -> Vector | None:
        """The server's vector that is the mean of x over the clients from round to round, by the method's rules.

        x starts there and is left alone until the round ends; then it is the mean of y over the client's neighbours,
        and the server's vector the mean of y over all clients.
        """
        method = self.method
        s, rule = method.client.get(x), method.end.get(x)
        if s is None or s not in method.server or rule is None or rule.op != "neighbours":
            return None
        (y,) = rule.args
        changed = x in method.begin or x in method.local or y in method.end
        same = y in method.client and method.update.get(s) == mean(y)
        return s if same and not changed else None

    def meaning(self, quantity: Any) -> tuple[Any, Number] | None:
        """Its definition, and the indices at which that is written."""
        key = _meanings(self).get(head_of(quantity))
        if key is None:
            return None
        number = self.names[key] if key in self.names else self.method.measures[key]
        if number.law == "most" and isinstance(key, Symbol):
            return None  # the largest of a whole run is a number
        if number.law not in ("", "expect"):
            raise UserError(f"got {quantity}, expected an expectation; do: leave this premise by hand")
        return key, number

    def leaves(self, expr: Any) -> Iterator[Any]:
        """What a coefficient is made of: symbols, step sizes, the sum of squared weights."""
        written = self.formula(expr)
        if written is not None:
            yield from self.leaves(written)
        elif isinstance(expr, Sum):
            squares = (self.sizes[1],) if self.even else (self.sum_of_squares,)
            yield from squares if self.is_sum_of_squares(expr) else self.leaves(expr.function)
        elif isinstance(expr, Add | Mul | Pow | Relational):
            for arg in expr.args:
                yield from self.leaves(arg)
        elif self.sample is not None and expr == others(self.sizes[1]):
            yield expr
        elif self.is_share(expr) or self.is_weight(expr):
            return
        elif not isinstance(expr, Rational | Indexed) and self.meaning(expr) is None:
            read = head_of(expr) in factors_read(self.method) or head_of(expr) in {q.func for q in self.method.before}
            if not isinstance(expr, Symbol) and not read:
                raise UserError(f"got {expr}, expected a quantity of the method or a name with a definition")
            yield expr

    def is_share(self, expr: Any) -> bool:
        return self.shares is not None and getattr(expr, "func", None) == self.shares

    def is_sum_of_squares(self, total: Sum) -> bool:
        (index, low, high), *more = total.limits
        return not more and total.function == self.weight(index) ** 2 and (low, high) == (1, self.sizes[1])

    def scalars(self) -> Iterator[Any]:
        """Every scalar factor in the rules and definitions."""
        yield from self.method.scalars([str(getattr(q, "func", q)) for q in self.method.measures])
        for number in self.names.values():
            yield from scalars_of(number)
        for rules in self.ghosts.values():
            for rule in rules:
                yield from rule.scalars()
        for form in self.kept.values():
            yield from form(self.letters[1]).scalars()
        if self.groups is not None:
            yield from (*self.groups.scalars(), self.sizes[1])
        yield from self.sizes if self.even or self.kept else ()
        yield from () if self.sample is None else (self.sample, others(self.sizes[1]))


@lru_cache(maxsize=512)
def _meanings(frame: Frame) -> dict[Expr, Expr]:
    return _by_head(*frame.names, *frame.method.measures)
