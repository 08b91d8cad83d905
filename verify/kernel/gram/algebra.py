"""Vectors as combinations of leaves: the algebra (core/walk.py) of all losses of a class at once, in every dimension.

Rules that are not linear, or that read more of a loss than gradients, values and proximal points, are out of reach.
Minibatches are all of the data; an oracle may answer whatever its accuracy allows, anew for every point that it is
asked. Noise, where there is some, is a fair sign per step, and per client unless it is shared, times a vector of the
client (core/randomness.py): every outcome is followed, with its own gradients.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import product

from flint import fmpq

from ..core.loss import ONE, Vector
from ..core.method import Atom, Rule, Weights
from ..core.randomness import STATES
from ..core.rational import affordable
from ..core.replay import Law
from ..core.walk import Place, State, kick
from .form import NOTHING, Form, OutOfReach, Vec, inner, leaf, mixed, number, square, total
from .variables import OF_ALL, Leaves

START = leaf("start", ONE)
SCENARIOS = 64  # outcomes of all signs


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest of several numbers ("most"), or the smallest."""

    kind: str
    forms: tuple[Form, ...]


Number = Form | Extreme


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    leaves: Leaves
    graph: tuple[Vector, ...]
    rows: tuple[Vector, ...] | None  # chosen weights, one row per round
    errors: dict[tuple[int, int], Vec] = field(default_factory=dict[tuple[int, int], Vec])  # by round and client

    @property
    def p(self) -> Vector:
        return self.leaves.p

    def label(self, x: Vec) -> Hashable:
        return (x.weight.p, x.weight.q, *((name, c.p, c.q) for name, c in sorted(x.terms.items())))

    def plus(self, vectors: Sequence[Vec]) -> Vec:
        return mixed([ONE] * len(vectors), vectors)

    def scaled(self, factor: fmpq, x: Vec) -> Vec:
        return mixed([factor], [x])

    def combined(self, weights: Sequence[fmpq], vectors: Sequence[Vec]) -> Vec:
        return mixed(weights, vectors)

    def applied(self, rule: Rule, place: Place[Vec, Number], i: int, x: Sequence[Vec]) -> Vec:
        leaves = self.leaves
        match rule.op:
            case "start":
                return START
            case "zero":
                return NOTHING
            case "w_star":
                return leaves.minimised()
            case "w_i_star":
                return leaves.own_minimiser(i)
            case "point":
                return leaf(f"point_{rule.name}", ONE)
            case "grad" | "batch_grad":  # a minibatch is all data
                return leaves.gradient(i, x[0])
            case "prox":
                return leaves.prox(x[0], place.scalar(rule.factor))
            case "oracle":
                asked = i, x[0], place.scalar(rule.factor)
                error = self.errors[place.row, i] = leaves.error(*asked)
                return mixed((ONE, ONE), (leaves.own_prox(*asked), error))
            case "full_prox":
                return leaves.own_prox(OF_ALL, x[0], place.scalar(rule.factor))
            case _:
                raise OutOfReach(f"out of reach: the operation {rule.op!r}")

    def weighed(self, weights: Weights, place: Place[Vec, Number]) -> Vector:
        raise OutOfReach(f"out of reach: weights that depend on the state ({weights.op})")

    def measured(self, atom: Atom, i: int, x: Sequence[Vec]) -> Number:
        leaves = self.leaves
        match atom.op:
            case "norm2":
                return square(x[0])
            case "inner":
                return inner(*x)
            case "f":
                return leaves.mean_value(x[0])
            case "f_i":
                return leaves.value(i, x[0])
            case "F":
                return leaves.total_value(x[0])
            case "g":
                return leaves.penalty_value(x[0])
            case "f_star":
                return leaves.total_value(leaves.minimised())
            case "f_i_star":
                return leaves.value(i, leaves.own_minimiser(i))
            case _:
                raise OutOfReach(f"out of reach: the number {atom.op!r}")

    def total(self, weights: Sequence[fmpq], numbers: Sequence[Number]) -> Number:
        return total(weights, [_form(x) for x in numbers])

    def constant(self, x: fmpq) -> Number:
        return number(x)

    def known(self, x: Number, op: str) -> fmpq:
        if not (form := _form(x)).known:
            raise OutOfReach(f"out of reach: the number {op!r}")
        return form.constant

    def extreme(self, kind: str, numbers: Sequence[Number]) -> Number:
        return Extreme(kind, tuple(form for x in numbers for form in (x.forms if isinstance(x, Extreme) else (x,))))


def _form(x: Number) -> Form:
    if isinstance(x, Extreme):
        raise OutOfReach("out of reach: an extreme inside a sum")
    return x


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """Noise s v_i with fair signs s, of which every outcome is followed."""

    v: tuple[Vec, ...]  # one per client
    shared: bool  # whether all clients have one sign in a step
    steps: tuple[int, ...] | None  # that have noise, counted from 0 over all rounds; None: all

    def kicks(self, draws: int) -> list[State[Vec]]:
        """What the noise of a step may be where every client draws so often; each is as probable as the others."""
        rows = self.v * draws
        if not self.shared:
            affordable(2 ** len(rows), SCENARIOS, "point")
        every = [(sign,) * len(rows) for sign in (ONE, -ONE)] if self.shared else product((ONE, -ONE), repeat=len(rows))
        turned = [tuple(mixed([sign], [v]) for sign, v in zip(signs, rows, strict=True)) for signs in every]
        return [kick(moved, len(self.v)) for moved in turned]


@dataclass(frozen=True, slots=True, eq=False)
class Scenarios:
    """Every outcome of such noise, if there is any; equal states stay apart."""

    noise: Signs | None
    draws: int  # of noise, per client and step

    def outcomes(self, law: Law[Vec], step: int, noisy: bool) -> Law[Vec]:
        noise = self.noise
        if not noisy or noise is None or (noise.steps is not None and step not in noise.steps):
            return law
        kicks = noise.kicks(self.draws)
        return [({**x, **moved}, draw, q / len(kicks)) for x, draw, q in law for moved in kicks]

    def joined(self, law: Law[Vec]) -> Law[Vec]:
        affordable(len(law), STATES if self.noise is None else SCENARIOS, "point")
        return law

    def shortened(self, law: Law[Vec], names: list[str]) -> Law[Vec]:
        return law
