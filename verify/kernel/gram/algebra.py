"""Vectors as combinations of leaves: the algebra (core/walk.py) of all losses of a class at once, in every dimension.

Rules that are not linear, or that read more of a loss than gradients, values and proximal points, are out of reach.
Minibatches are all of the data; an oracle may answer whatever its accuracy allows, anew for every point that it is
asked. Noise, where there is some, is a fair sign per step, and per client unless it is shared, times a vector of the
client (core/randomness.py): every outcome is followed, with its own gradients.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from ..core.loss import ONE, Vector
from ..core.method import Atom, Rule, Weights
from ..core.walk import Place
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
class SignedVectors:
    """Noise s v_i with fair signs s, which every client draws so often in a step."""

    v: tuple[Vec, ...]  # one per client; or none
    shared: bool  # whether all clients have one sign in a step
    steps: tuple[int, ...] | None  # that have noise, counted from 0 over all rounds; None: all
    draws: int

    @property
    def none(self) -> tuple[Vec, ...]:
        return (NOTHING,) * len(self.v) * self.draws

    def kicks(self, step: int | None = None) -> list[tuple[Vec, ...]]:
        """What each independent sign moves, per draw and client, at a step."""
        rows, silent = self.v * self.draws, self.steps is not None and step not in self.steps
        if silent or not rows:
            return []
        each = [tuple(v if i == j else NOTHING for j in range(len(rows))) for i, v in enumerate(rows)]
        return [rows] if self.shared else each


SILENCE = SignedVectors((), False, None, 0)
