"""A method as data: rules on vectors, weights, numbers and measures, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .expression import Tree, free

NOISE = ("noisy", "again", "noisy_hess")  # draws of one step, independent
HESSIANS = ("hess", "noisy_hess")  # at a point, times a vector
BENT = (*HESSIANS, "norm", "ratio", "smaller")  # no quadratic functions of the state, whatever the losses are
COMPOSITE = ("prox", "F", "g", "conjugate")  # that read the regulariser
INDICES = frozenset("tkijn")
PICKED = {"picked": (("T",),), "picked_step": (("T",), ("t",))}  # laws of a measure, and where it stands


@dataclass(frozen=True, slots=True)
class Rule:
    """An operation on vectors; `factor` is the scalar of "*" and of proximal points. "name" and "point" have a name."""

    op: str
    args: tuple[Rule, ...] = ()
    factor: Tree | None = None
    name: str = ""
    weights: Weights | None = None  # of the operation "weighted"

    def parts(self) -> list[Part]:
        return [*self.args, *_some(self.weights)]

    def trees(self) -> list[Tree]:
        return [] if self.factor is None else [self.factor]

    def all(self) -> list[Rule]:
        """Itself and every rule inside."""
        return [part for part in inside(self) if isinstance(part, Rule)]

    def has(self, *ops: str) -> bool:
        return any(rule.op in ops for rule in self.all())


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the clients in a mean: what they look at, at every client, and their scalar (k, or a temperature)."""

    op: str
    by: Number = ()
    factor: Tree | None = None
    inside: Weights | None = None

    def parts(self) -> list[Part]:
        return [*(atom for _, atom in self.by), *_some(self.inside)]

    def trees(self) -> list[Tree]:
        return [*([] if self.factor is None else [self.factor]), *(tree for tree, _ in self.by)]


@dataclass(frozen=True, slots=True)
class Atom:
    """norm2, inner, f, f_i, F, g, conjugate of vectors, f_star, f_i_star, a client's weight; the mean over clients of
    one of these; the ratio of two numbers or the smaller one.
    """

    op: str
    args: tuple[Rule, ...] = ()
    inside: Atom | None = None
    weights: Weights | None = None
    numbers: tuple[Number, ...] = ()

    def parts(self) -> list[Part]:
        atoms = [atom for number in self.numbers for _, atom in number]
        return [*self.args, *_some(self.inside), *_some(self.weights), *atoms]

    def trees(self) -> list[Tree]:
        return [tree for number in self.numbers for tree, _ in number]


Part = Rule | Weights | Atom
Number = tuple[tuple[Tree, Atom], ...]  # a sum of coefficients times atoms


def _some(part: Part | None) -> list[Part]:
    return [] if part is None else [part]


def inside(*parts: Part) -> Iterator[Part]:
    """They and all that they are made of."""
    for part in parts:
        yield part
        yield from inside(*part.parts())


def rules(number: Number) -> list[Rule]:
    return [part for part in inside(*(atom for _, atom in number)) if isinstance(part, Rule)]


def scalars(*parts: Part) -> list[Tree]:
    """Every scalar factor in them."""
    return [tree for part in inside(*parts) for tree in part.trees()]


def factors(number: Number) -> list[Tree]:
    """Every scalar factor of a number."""
    return [*(tree for tree, _ in number), *scalars(*(atom for _, atom in number))]


@dataclass(frozen=True, slots=True)
class Measure:
    at: tuple[str, ...]  # t or t, k; then i, or i and another client j, or a coordinate n; nothing or T: the whole run
    terms: Number
    extreme: str = ""  # "least" or "most" over all outcomes, clients and steps so far; otherwise the expectation
    law: str = ""  # "picked": before the last round; "picked_step"; "of_mean": |E x|^2; "around_mean": E|x - E x|^2
    each_round: bool = False  # of an extreme: over the steps that E divides


@dataclass(frozen=True, eq=False)
class Method:
    """One for all instances of a claim: what it consists of is looked up once."""

    id: str
    server: dict[str, Rule]
    client: dict[str, Rule]
    phases: dict[str, dict[str, Rule]]
    measures: dict[str, Measure]
    steps: bool  # whether t counts local steps over all rounds
    first: Tree  # local steps of the first round, from E; 0: as many as in every round
    counts_from: int  # the number of the first round
    before: dict[str, str]  # quantity of t -> the one that it was in the round before
    names: dict[str, str]  # letter of the claim -> what every run calls it

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All that its phases and measures are made of."""
        atoms = (atom for measure in self.measures.values() for _, atom in measure.terms)
        return (*self.rules, *inside(*atoms))

    @cached_property
    def rules(self) -> tuple[Part, ...]:
        """All that its phases are made of."""
        return tuple(inside(*(rule for block in self.phases.values() for rule in block.values())))

    @cached_property
    def scalars(self) -> tuple[Tree, ...]:
        starts = scalars(*self.server.values(), *self.client.values())
        coefficients = [tree for measure in self.measures.values() for tree, _ in measure.terms]
        return (*starts, *coefficients, *(tree for part in self.parts for tree in part.trees()))

    @cached_property
    def composite(self) -> bool:
        """Whether it is about F = f + g: a rule or a measure reads the regulariser g."""
        starts = inside(*self.server.values(), *self.client.values())
        return self.reads(*COMPOSITE) or any(part.op in COMPOSITE for part in starts)

    def weighs(self, *ops: str) -> bool:
        """Whether a rule or a measure uses weights of one of these kinds."""
        return any(part.op in ops for part in self.parts if isinstance(part, Weights))

    def reads(self, *ops: str) -> bool:
        """Whether a rule or a measure contains one of these operations."""
        return any(part.op in ops for part in self.parts if not isinstance(part, Weights))

    def rules_use(self, *ops: str) -> bool:
        """Whether a rule of a phase contains one of these operations."""
        return any(part.op in ops for part in self.rules if isinstance(part, Rule))

    @cached_property
    def needs(self) -> frozenset[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that its rules read."""
        return frozenset(name for tree in self.scalars for name in free(tree, INDICES))

    @cached_property
    def brief(self) -> bool:
        """Whether nothing of it is asked for round by round: then a run at rest may be long."""
        return not self.steps and all(measure.at in ((), ("T",)) for measure in self.measures.values())

    @cached_property
    def kept(self) -> list[str]:
        """Vectors that the next round still reads: the server's, and of the clients' what `begin` does not replace."""
        return [*self.server, *(name for name in self.client if name not in self.phases["begin"])]
