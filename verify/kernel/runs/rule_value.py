"""The value of rules and numbers in one place of a run: one state, the noise of one step, and who takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isqrt
from typing import Any, TypeVar

from flint import fmpq

from ..core.budget import label, paid, spend, summed
from ..core.expression import power
from ..core.method import NOISE, Atom, Number, Rule, Weights, inside
from ..core.rational import Malformed, Rejected, shown
from ..losses.loss import ZERO, Loss, Vector, combine, dot, minus, norm2, plus, scaled
from ..losses.rotated import Rotated
from ..losses.table import Table
from .balls import enclosed, irrational
from .noise import Kick
from .problem import Problem

COMMON = frozenset({"+", "*", "grad", "noisy"})  # what most of a rule consists of
SOLVED = {"prox", "full_prox", "training_prox"}  # points that depend on one point alone
ALONE = COMMON | {"name", "start", "zero", "w_star", "point", "hess", "again", "noisy_hess", "batch_grad"} | SOLVED
ATOMS = frozenset({"norm2", "norm", "inner", "f", "f_i", "F", "g", "conjugate", "f_star", "ratio", "smaller"})
Given = TypeVar("Given")
Names = tuple[str, ...] | None  # of vectors, or none where more than one client is read
State = dict[str, tuple[Vector, ...]]  # of the server's vectors one each, of the clients' vectors one per client


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What clients compute at one moment of a run, in all its outcomes, by the identity of all that they read there.

    `names`: the vectors that a rule or an atom reads, by its identity.
    """

    names: dict[int, Names]
    values: dict[tuple[int, ...], Any] = field(default_factory=dict[tuple[int, ...], Any])

    def reads(self, part: Rule | Atom) -> Names:
        if id(part) not in self.names:
            self.names[id(part)] = names_of(part)
        return self.names[id(part)]


def names_of(*parts: Rule | Atom) -> Names:
    """The vectors that they read, of the server and of one client; None where they read other clients too."""
    every = list(inside(*parts))
    if not all(part.op in (ALONE if isinstance(part, Rule) else ATOMS) for part in every):
        return None
    return tuple(sorted({part.name for part in every if isinstance(part, Rule) and part.op == "name"}))


def seen(vectors: Sequence[Sequence[Vector]], kick: Kick, batch: Sequence[int], i: int, n: int) -> tuple[int, ...]:
    """What client i of n has before it: these vectors, its noise and its minibatch, by their identity."""
    own = [id(x[i] if len(x) > 1 else x[0]) for x in vectors]
    return (*own, *[id(x) for x in kick[i::n]], *batch[i : i + 1])


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a rule is evaluated: a state, the noise of this step per client, who takes part, and the scalars."""

    problem: Problem
    state: State
    kick: Kick
    counts: Sequence[int]  # how often each client was sampled in this round
    scalar: Mapping[int, fmpq]  # by the identity of their trees
    row: int = 0  # of the weights that the instance chooses
    turn: bool = True  # whether E divides the step
    last: int = 0  # of a measure: the other client, or the coordinate
    batch: Sequence[int] = ()  # which minibatch each client drew in this round
    means: dict[int, Vector] = field(default_factory=dict[int, Vector])  # of rules and weights, for all clients
    twins: list[int] = field(default_factory=list[int])
    known: Known | None = None  # all that keys of it name is alive as long as it is

    def each(self, of: Callable[[int], Any]) -> list[Any]:
        """`of` every client; clients alike in the same place have the same value, which is computed once."""
        if not self.twins:
            clients = range(len(self.problem.p))
            own = [vectors for vectors in self.state.values() if len(vectors) > 1]
            first: dict[object, int] = {}
            drawn = [self.counts, *([self.batch] if self.batch else [])]
            alike = self.problem.alike if not self.problem.oracle.step else ()
            keys = [
                (
                    a,
                    *(label(kick) for kick in self.kick[i :: len(self.problem.p)]),
                    *(x[i] for x in drawn),
                    *(label(x[i]) for x in own),
                )
                for i, a in enumerate(alike)
            ]
            self.twins.extend([first.setdefault(key, i) for i, key in enumerate(keys)] or clients)
        values: dict[int, Any] = {}
        for i in self.twins:
            if i not in values:
                values[i] = of(i)
        return [values[i] for i in self.twins]

    def over(self, part: Rule | Atom, of: Callable[[Any, int], Any]) -> list[Any]:
        """`of` a rule or an atom at every client; from the same vectors, with the same noise, it is computed once."""
        names = None if self.known is None else self.known.reads(part)
        if self.known is None or names is None:
            return self.each(partial(of, part))
        values, found = self.known.values, list[Any]()
        n, entries = len(self.problem.p), [self.state[name] for name in names]
        spend(n)
        for i, a in enumerate(self.problem.alike or range(n)):
            key = (id(part), a, *seen(entries, self.kick, self.batch, i, n))
            if key not in values:
                values[key] = of(part, i)
            found.append(values[key])
        return found

    def weights(self, weights: Weights) -> Vector:
        """One weight per client."""
        rows, p = self.problem.rows, self.problem.p
        if weights.op == "own" or (weights.op == "in_turn" and not self.turn):
            return p
        if weights.inside is not None:
            return self.weights(weights.inside)
        if weights.op == "chosen" and rows is not None:
            return rows[min(self.row, len(rows) - 1)]
        if weights.op == "softmax":
            raise Rejected(
                "method: got softmax weights, which are irrational; expected weights that are replayed exactly"
            )
        if id(weights) not in self.means:  # the same for all clients
            self.means[id(weights)] = self.largest(weights, [self.total(weights.by, i) for i in range(len(p))])
        return self.means[id(weights)]

    def largest(self, weights: Weights, by: list[fmpq]) -> Vector:
        """Equal weights for the clients of the largest value, or for the first k of them."""
        p = self.problem.p
        spend(len(p))
        if weights.factor is None:
            best = max(by)
            count = by.count(best)
            return tuple(fmpq(x == best, count) for x in by)
        k = self.scalar[id(weights.factor)]
        if k.q != 1 or not 1 <= k <= len(p):
            raise Rejected(f"method: got the first {k} clients, expected a whole number from 1 to {len(p)}")
        first = sorted(range(len(p)), key=lambda i: (-by[i], i))[: int(k.p)]
        return tuple(fmpq(i in first, k.p) for i in range(len(p)))

    def total(self, number: Number, i: int) -> fmpq:
        """The value of a number at client i."""
        return summed(self.scalar[id(factor)] * self.number(atom, i) for factor, atom in number)

    def vector(self, rule: Rule, i: int) -> Vector:
        """The value of a rule for client i (any i where only the server is read)."""
        if rule.op == "name":
            entries = self.state[rule.name]
            return entries[i if len(entries) > 1 else 0]
        if rule.op in COMMON:
            return self.applied(rule, i, *[self.vector(arg, i) for arg in rule.args])
        problem, d = self.problem, len(self.problem.start)
        match rule.op:
            case "start":
                return problem.start
            case "zero":
                return (ZERO,) * d
            case "axis":
                return tuple(fmpq(r == self.last) for r in range(d))
            case "w_star":
                return _given(problem.w_star, "w_star")
            case "w_i_star":
                return _given(problem.minimisers, "minimisers")[i]
            case "point":
                return _given(problem.points.get(rule.name), f"points.{rule.name}")
            case "mean" | "sampled" | "weighted":
                return self.mean(rule)
            case "neighbours":
                return combine(problem.graph[i], [self.vector(rule.args[0], j) for j in range(len(problem.p))])
            case "other":
                return self.vector(rule.args[0], self.last)
            case _:
                return self.applied(rule, i, *[self.vector(arg, i) for arg in rule.args])

    def mean(self, rule: Rule) -> Vector:
        """Over all clients with their weights, over those that take part, or with weights of its own."""
        if id(rule) not in self.means:
            drawn = [fmpq(count, sum(self.counts)) for count in self.counts]
            shares = self.problem.p if rule.op == "mean" else drawn
            shares = shares if rule.weights is None else self.weights(rule.weights)
            self.means[id(rule)] = combine(shares, self.over(rule.args[0], self.vector))
        return self.means[id(rule)]

    def applied(self, rule: Rule, i: int, x: Vector, *more: Vector) -> Vector:
        """An operation on vectors, for client i."""
        problem, scale = self.problem, ZERO if rule.factor is None else self.scalar[id(rule.factor)]
        match rule.op:
            case "+":
                return plus(x, *more)
            case "*":
                return scaled(scale, x)
            case "grad":
                return problem.losses[i].gradient(x)
            case "hess" | "noisy_hess":
                loss, (v,) = problem.losses[i], more
                if not isinstance(loss, Loss):
                    raise Rejected("instance.clients: got data points or a table, expected losses with a Hessian")
                bent = loss.bend(x, v)
                if rule.op == "hess":
                    return bent
                return tuple(paid(a + b * c) for a, b, c in zip(bent, self.drawn(rule.op, i), v, strict=True))
            case "noisy" | "again":
                return plus(x, self.drawn(rule.op, i))
            case "batch_grad":
                return self.minibatch(i).gradient(x)
            case "oracle":
                return self.solved(i, x, scale)
            case "full_prox" | "training_prox":
                if rule.op not in problem.whole or scale <= 0:
                    raise Rejected("instance.clients: got no data points, or rho = 0, expected a proximal point of f")
                return problem.whole[rule.op].prox(x, scale)
            case _:
                if scale < 0:
                    raise Rejected(f"method: got prox with the step {shown(scale)}, expected none below 0")
                return problem.g.prox(x, scale)

    def drawn(self, op: str, i: int) -> Vector:
        """Of the noise of this step, what one draw of client i is."""
        return self.kick[i + len(self.problem.p) * NOISE.index(op)]

    def minibatch(self, i: int) -> Rotated | Table:
        """The risk of what client i drew."""
        if not self.batch:
            raise Rejected("instance.clients: got no data points, expected some to draw from")
        return self.problem.batches[i][self.batch[i]]

    def solved(self, i: int, x: Vector, eta: fmpq) -> Vector:
        """What the oracle of client i returns for its minibatch's risk + |. - x|^2/(2 eta)."""
        risk = self.minibatch(i)
        if eta <= 0:
            raise Rejected(f"method: got the step {shown(eta)} of a local problem, expected a positive one")
        best = risk.prox(x, eta)
        answer = self.problem.oracle.answer(x, best, self.row, i, self.batch[i])
        farther = (norm2(minus(answer, x)) - norm2(minus(best, x))) / (2 * eta)
        self.problem.gaps.append(paid(risk.value(answer) - risk.value(best) + farther))
        return answer

    def carried(self, rules: Mapping[str, Rule], server: bool) -> State:
        """The state after one phase, at the server or at every client."""
        if server:
            return self.state | {name: (self.vector(rule, 0),) for name, rule in rules.items()}
        return self.state | {name: tuple(self.over(rule, self.vector)) for name, rule in rules.items()}

    def number(self, atom: Atom, i: int) -> fmpq:
        problem, within, x = self.problem, atom.inside, [self.vector(arg, i) for arg in atom.args]
        match atom.op:
            case "norm2":
                return norm2(x[0])
            case "norm":
                return length(x[0])
            case "inner":
                return dot(*x)
            case "f":
                return problem.value(x[0])
            case "f_i":
                return problem.losses[i].value(x[0])
            case "F" | "g":
                return problem.g.value(x[0]) + (problem.value(x[0]) if atom.op == "F" else 0)
            case "conjugate":
                value = problem.g.conjugate(x[0])
                if value is None:
                    raise Rejected("claim: got a conjugate of g that is infinite, expected finite values")
                return value
            case "f_i_star":
                return problem.losses[i].value(_given(problem.minimisers, "minimisers")[i])
            case "weight" if atom.weights is not None:
                return self.weights(atom.weights)[i]
            case "mean" | "weighted" if within is not None:
                weights = problem.p if atom.weights is None else self.weights(atom.weights)
                return dot(weights, self.over(within, self.number))
            case "ratio" | "smaller":
                over, under = (self.total(number, i) for number in atom.numbers)
                if atom.op == "ratio" and not under:
                    raise Rejected("method: got a ratio over 0, expected another value below")
                return min(over, under) if atom.op == "smaller" else over / under
            case _:
                if problem.f_star is None:
                    raise Rejected("instance: got no minimiser, expected one, for the claim reads f_star")
                return problem.f_star


def length(x: Vector) -> fmpq:
    """|x|, where that is rational, or a ball."""
    square = norm2(x)
    if irrational(square):
        return enclosed(abs(x[0]) if len(x) == 1 else power(square, fmpq(1, 2)))
    p, q = isqrt(int(square.p)), isqrt(int(square.q))
    if (p * p, q * q) != (square.p, square.q):
        raise Rejected("claim: got a vector of irrational length, expected rational lengths")
    return fmpq(p, q)


def _given(found: Given | None, name: str) -> Given:
    """What the method reads of the instance."""
    if found is None:
        raise Malformed(f"instance: got no {name}, expected it, for the method reads it")
    return found
