"""How a statement follows from what it cites, as data (the engine is `derive`).

A proof is a list of steps. A step claims one thing and says from what: facts, premises, cited statements, earlier
steps. It is written as a function of the statement and of what is cited, so that a changed constant anywhere changes
the proof, and the engine decides it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sympy import Basic, Dict, Eq, Expr, Ge, Gt, Le, Symbol, sympify
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, false, true

from fedaudit.errors import UserError

from .statement import Formula, several, with_values

# Symbols, and heads of quantities, each with what stands for it.
Replaced: TypeAlias = Sequence[tuple[Formula, Formula]]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold before something may be used, and what it may be shown from (besides the conditions)."""

    claim: Boolean
    given: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """How a cited statement is used: which relation, at which values, and what stands for assumptions it makes."""

    part: int = 0
    values: tuple[Replaced, ...] = ()
    instead: tuple[tuple[str, Given], ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Something a step may use: an instance of a fact, a premise about the problem, or a cited statement.

    A fact without the `rule` that it is an instance of is what somebody wrote down: a premise. A premise that is
    `shown` is a consequence of the assumptions, by the identity that is its rule.
    """

    claim: Boolean
    because: str
    kind: Literal["fact", "premise", "cited", "shown"] = "fact"
    requires: tuple[Requirement, ...] = ()
    assumes: tuple[str, ...] = ()  # names of assumptions that the statement must make
    of: Induction | None = None  # an instance of it: no condition of the statement may restrict its index
    rule: Any = None  # what makes it again: the `Instance` of a fact, the value of an induction's index, a `Shown`
    citation: Citation | None = None  # of a cited statement; the engine makes it again and compares


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a proof."""

    claim: Boolean
    given: tuple[Given, ...] = ()
    where: str = ""  # the paper's equation
    note: str = ""
    under: tuple[Boolean, ...] = ()  # holds only under these, which every use of the step must show
    bare: bool = False  # decide without the built-in facts about powers (for the proofs of those facts)


@dataclass(frozen=True, slots=True)
class Induction:
    """`claim` for every `over` ≥ `start`: the claim at `start`, and from `over` to `over` + 1."""

    claim: Boolean
    over: Symbol
    start: int = 0
    base: tuple[Given, ...] = ()
    step: tuple[Given, ...] = ()
    where: str = ""
    note: str = ""
    under: tuple[Boolean, ...] = ()  # as for a step; if the index is bounded, then to the end
    bare: bool = False

    def __post_init__(self) -> None:
        if not self.over.is_integer:
            raise UserError(f"an induction over {self.over}", "a count or an index", "declare it as one")

    def at(self, value: Expr) -> Known:
        """What the induction gives at `value`."""
        reached = Le(self.start, value) if value.is_integer else false
        needed = tuple(Requirement(c) for c in (reached, *(c.subs(self.over, value) for c in self.under)))
        instance = self.claim.subs(self.over, value)
        return Known(instance, f"{self.where or self.note} at {value}", "fact", needed, of=self, rule=value)


Given = Known | Step | Induction
NAMED = "a name"


def named(symbol: Symbol, value: Expr, because: str) -> Known:
    """A new name for a number of the proof; its sign, if it is declared to have one, is a step of the proof."""
    return Known(Eq(symbol, value), because, "premise", rule=NAMED)


@dataclass(frozen=True, slots=True)
class Argument:
    """The steps, in order; `bound` is what they give for the left-hand side, before it is compared with the claim.

    Of a printed chain, a tuple: what they give for the left-hand side of each relation.
    """

    steps: tuple[Step | Induction, ...]
    bound: Given | tuple[Given | None, ...] | None = None

    def bound_of(self, relation: int) -> Given | None:
        """What the steps give for the left-hand side of this relation, if they say so."""
        bounds = self.bound if isinstance(self.bound, tuple) else (self.bound,)
        return bounds[relation] if relation < len(bounds) else None

    @property
    def bounds(self) -> tuple[Given, ...]:
        bounds = self.bound if isinstance(self.bound, tuple) else (self.bound,)
        return tuple(g for g in bounds if g is not None)


@dataclass(frozen=True, slots=True)
class View:
    """A statement as a proof sees it: definitions written out, the step size chosen, the citing proof's values in."""

    id: str
    relations: tuple[Relational, ...]
    requires: tuple[Boolean, ...] = ()
    assumes: tuple[str, ...] = ()
    values: tuple[Replaced, ...] = ()  # put in by `at`, in this order

    @property
    def lhs(self) -> Expr:
        return self.relations[0].lhs

    @property
    def rhs(self) -> Expr:
        return self.relations[0].rhs

    def at(self, values: Mapping[Formula, Formula]) -> View:
        """The statement at other values of its symbols, or with one quantity for another."""
        pairs = tuple((old, sympify(new)) for old, new in values.items())
        relations, requires = ([put_in(part, pairs) for part in parts] for parts in (self.relations, self.requires))
        needed = (*requires, *domains(pairs))
        kept = tuple(r for r in relations if isinstance(r, Relational))
        return View(self.id, kept, tuple(r for r in needed if r is not true), self.assumes, (*self.values, pairs))

    def holds(self, *given: Given, part: int = 0, instead: Mapping[str, Given] | None = None) -> Known:
        """The claim, to be used in a step; its conditions become requirements, to be shown from `given`.

        `instead`: what provides an assumption of the cited statement that the citing one does not make by that name.
        That the one provides the other is written by hand, and the row says so.
        """
        needed = tuple(Requirement(condition, given) for condition in self.requires)
        replaced = dict(instead or {})
        assumes = tuple(name for name in self.assumes if name not in replaced)
        citation = Citation(part, self.values, tuple(replaced.items()))
        return Known(self.relations[part], self.id, "cited", needed, assumes, citation=citation)


def put_in(expr: Basic, pairs: Replaced) -> Formula:
    """`expr` with every pair's first part replaced by its second, at once; functions by name, even below sums."""
    for old, _ in pairs:
        if not isinstance(old, Symbol | AppliedUndef | UndefinedFunction):  # in place of a formula it is another claim
            raise UserError(f"a value for {old}", "a symbol or a quantity on the left", "put in values of its symbols")
    heads = {old: new for old, new in pairs if isinstance(old, UndefinedFunction)}
    written = with_values(expr, {old: new for old, new in pairs if old not in heads})
    for old, new in heads.items():
        written = written.replace(old, new)
    return written


def domains(pairs: Replaced) -> Iterator[Boolean]:
    """What the values of symbols must be: positive for a positive one, a whole number for a count, and so on."""
    for symbol, value in pairs:
        if isinstance(symbol, UndefinedFunction):
            continue  # one quantity is read as another, which is a premise
        if symbol.is_positive and not value.is_positive:
            yield Gt(value, 0)
        elif symbol.is_nonnegative and not value.is_nonnegative:
            yield Ge(value, 0)
        if symbol.is_integer and not value.is_integer:
            yield false


@dataclass(frozen=True, slots=True)
class Derivation:
    """From `cites`, with `substitute` for their free parameters, by `proof(statement, *cited)`."""

    proof: Callable[..., Argument]
    cites: tuple[str, ...] = ()
    substitute: Mapping[Formula, object] = field(default_factory=Dict)
    closed: tuple[Symbol, ...] = ()  # definitions that are not written out: the proof holds whatever they are

    def __post_init__(self) -> None:
        object.__setattr__(self, "cites", several("derivation", "cites", self.cites, str))
        object.__setattr__(self, "closed", several("derivation", "closed", self.closed, Symbol))
        object.__setattr__(self, "substitute", Dict(self.substitute))
