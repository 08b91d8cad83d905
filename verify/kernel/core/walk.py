"""Rules and numbers of a method in one place of a run: one state, the noise of one step, and who takes part.

There is one walk over a method's rules, and what a vector is is for an `Algebra` to say: a rational point of explicit
losses (problem.py), or a combination of leaves that nobody has chosen yet (gram/algebra.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from flint import fmpq

from .budget import spend
from .expression import Tree
from .loss import ONE, Vector
from .method import NOISE, Atom, Number, Rule, Weights
from .randomness import Draw
from .rational import Rejected

V = TypeVar("V")  # a vector
N = TypeVar("N")  # a number
Given = TypeVar("Given")
W = TypeVar("W")


class Kept(NamedTuple):
    """The key, within a round, of what a client's vector goes back to if the client was not drawn."""

    name: str


class Drawn(NamedTuple):
    """The key of the noise that a step draws by this operation, per client."""

    op: str


Key = str | Kept | Drawn
State = Mapping[Key, tuple[V, ...]]  # of the server's vectors one each, of the clients' vectors one per client


def kick(noise: Sequence[V], clients: int) -> dict[Key, tuple[V, ...]]:
    """The noise of a step, which stands per draw and client, as entries of a state."""
    rows = {Drawn(op): tuple(noise[n * clients : (n + 1) * clients]) for n, op in enumerate(NOISE)}
    return {key: row for key, row in rows.items() if row}


class Algebra(Protocol[V, N]):
    """What vectors and numbers are."""

    @property
    def p(self) -> Vector: ...  # the weights of the clients
    @property
    def graph(self) -> tuple[Vector, ...]: ...  # of their similarity
    @property
    def rows(self) -> tuple[Vector, ...] | None: ...  # weights that the instance chooses, one row per round
    def label(self, x: V) -> Hashable: ...
    def plus(self, vectors: Sequence[V]) -> V: ...
    def scaled(self, factor: fmpq, x: V) -> V: ...
    def combined(self, weights: Sequence[fmpq], vectors: Sequence[V]) -> V: ...
    def applied(self, rule: Rule, place: Place[V, N], i: int, x: Sequence[V]) -> V: ...  # all other operations
    def measured(self, atom: Atom, i: int, x: Sequence[V]) -> N: ...
    def total(self, weights: Sequence[fmpq], numbers: Sequence[N]) -> N: ...
    def constant(self, x: fmpq) -> N: ...
    def known(self, x: N, op: str) -> fmpq: ...  # for this operation; refused where it is not known yet
    def extreme(self, kind: str, numbers: Sequence[N]) -> N: ...
    def weighed(self, weights: Weights, place: Place[V, N]) -> Vector: ...  # weights that depend on the state


@dataclass(frozen=True, slots=True, eq=False)
class Place(Generic[V, N]):
    """Where a rule is evaluated: a state beside the noise of this step, what was drawn, and the values of scalars."""

    algebra: Algebra[V, N]
    state: State[V]
    draw: Draw
    scalars: Mapping[Tree, fmpq]
    row: int = 0  # of the weights that the instance chooses
    turn: bool = True  # whether E divides the step
    last: int = 0  # of a measure: the other client, or the coordinate
    means: dict[Rule, V] = field(default_factory=dict[Rule, V])  # which every client reads, computed once
    state_weights: dict[Weights, Vector] = field(default_factory=dict[Weights, Vector])  # that depend on the state

    def scalar(self, tree: Tree | None) -> fmpq:
        return ONE if tree is None else tree if isinstance(tree, fmpq) else self.scalars[tree]

    def over(self, part: Given, of: Callable[[Given, int], W]) -> list[W]:
        """`of` a rule or an atom at every client."""
        clients = len(self.algebra.p)
        spend(clients)
        return [of(part, i) for i in range(clients)]

    def weights(self, weights: Weights) -> Vector:
        """One weight per client."""
        rows, p = self.algebra.rows, self.algebra.p
        if weights.op == "own" or (weights.op == "in_turn" and not self.turn):
            return p
        if weights.inside is not None:
            return self.weights(weights.inside)
        if weights.op == "chosen" and rows is not None:
            return rows[min(self.row, len(rows) - 1)]
        if weights not in self.state_weights:
            self.state_weights[weights] = self.algebra.weighed(weights, self)
        return self.state_weights[weights]

    def vector(self, rule: Rule, i: int) -> V:
        """The value of a rule for client i (any i where only the server is read)."""
        if rule.op == "name":
            entries = self.state[rule.name]
            return entries[i if len(entries) > 1 else 0]
        match rule.op:
            case "mean" | "sampled" | "weighted":
                if rule not in self.means:
                    self.means[rule] = self.algebra.combined(self.shares(rule), self.over(rule.args[0], self.vector))
                return self.means[rule]
            case "neighbours":
                return self.algebra.combined(self.algebra.graph[i], self.over(rule.args[0], self.vector))
            case "other":
                return self.vector(rule.args[0], self.last)
            case _:
                x = [self.vector(arg, i) for arg in rule.args]
        if rule.op == "+":
            return self.algebra.plus(x)
        if rule.op in ("*", "coin"):  # a coin multiplies by 1 or by 0, its factor is the chance of 1
            return self.algebra.scaled(self.scalar(rule.factor) if rule.op == "*" else fmpq(self.draw.heads), x[0])
        if rule.op in ("noisy", "again"):
            noise = self.state.get(Drawn(rule.op))
            return x[0] if noise is None else self.algebra.plus((x[0], noise[i]))
        return self.algebra.applied(rule, self, i, x)

    def shares(self, rule: Rule) -> Vector:
        """The weights of a mean: those of all clients, those of the clients that take part, or weights of its own."""
        if rule.weights is not None:
            return self.weights(rule.weights)
        counts = self.draw.counts
        return self.algebra.p if rule.op == "mean" else tuple(fmpq(count, sum(counts)) for count in counts)

    def number(self, atom: Atom, i: int) -> N:
        """The value of an atom for client i."""
        algebra, inside = self.algebra, atom.inside
        if atom.op == "weight" and atom.weights is not None:
            return algebra.constant(self.weights(atom.weights)[i])
        if atom.op in ("mean", "weighted") and inside is not None:
            weights = algebra.p if atom.weights is None else self.weights(atom.weights)
            return algebra.total(weights, self.over(inside, self.number))
        if atom.op in ("ratio", "smaller"):
            over, under = (algebra.known(self.total(number, i), atom.op) for number in atom.numbers)
            if atom.op == "ratio" and not under:
                raise Rejected("method: got a ratio over 0, expected another value below")
            return algebra.constant(min(over, under) if atom.op == "smaller" else over / under)
        return algebra.measured(atom, i, [self.vector(arg, i) for arg in atom.args])

    def total(self, number: Number, i: int) -> N:
        """The value of a number for client i."""
        weights = [self.scalar(factor) for factor, _ in number]
        return self.algebra.total(weights, [self.number(atom, i) for _, atom in number])

    def carried(self, rules: Mapping[str, Rule], server: bool) -> State[V]:
        """The vectors after one phase, at the server or at every client."""
        kept = {key: each for key, each in self.state.items() if not isinstance(key, Drawn)}
        if server:
            return {**kept, **{name: (self.vector(rule, 0),) for name, rule in rules.items()}}
        return {**kept, **{name: tuple(self.over(rule, self.vector)) for name, rule in rules.items()}}
