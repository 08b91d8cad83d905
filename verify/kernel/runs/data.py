"""Runs of clients with data points: minibatches, local problems that an oracle solves, proximal points of f.

An oracle may return any point that its accuracy allows; an instance says which. A table (losses/kinds/table.py) is one
data point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from flint import fmpq

from ..core.budget import paid
from ..core.claim import Claim
from ..core.loss import ONE, Vector, minus, norm2
from ..core.method import Method, Rule
from ..core.problem import Here, Problem
from ..core.randomness import Draws
from ..core.rational import Malformed, Node, Rejected, shown
from ..core.run import LARGE, Fields
from ..losses.draws import drawn
from ..losses.kinds.sample import samples
from ..losses.kinds.table import Mixture, Table
from ..losses.rotated import Rotated, mix

SUBGRADIENTS = ("subgradients", ())
WHOLE = ("full_prox", "training_prox")  # proximal points of f


@dataclass(frozen=True, slots=True)
class Oracle:
    """It returns x + step (best - x) + shift; a row per round, the last one for all later rounds; none: exact.

    A row has a step per client, and a shift per client, or per client and minibatch.
    """

    step: tuple[Vector, ...] = ()
    shift: tuple[tuple[tuple[Vector, ...], ...], ...] = ()

    def answer(self, x: Vector, best: Vector, t: int, i: int, batch: int) -> Vector:
        if not self.step:
            return best
        row = min(t, len(self.step) - 1)
        step, shifts = self.step[row][i], self.shift[row][i]
        moved = shifts[min(batch, len(shifts) - 1)]
        return tuple(paid(a + step * (b - a) + c) for a, b, c in zip(x, best, moved, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class DataPoints:
    """What clients with data points do beyond their gradients."""

    batches: tuple[tuple[Rotated | Table, ...], ...]  # risks of the minibatches that each client may draw
    whole: Mapping[str, Rotated | Mixture]  # f, of all data or of those for training
    oracle: Oracle
    shared: bool  # whether all clients draw the same minibatch
    gaps: list[fmpq] = field(default_factory=list[fmpq])  # how far from optimal the oracle's answers were

    @property
    def settled(self) -> int:
        """The round from which on the oracle answers as before."""
        return max(len(self.oracle.step) - 1, 0)

    def applied(self, rule: Rule, place: Here, i: int, x: Vector) -> Vector:
        if rule.op == "batch_grad":
            return self.minibatch(place, i).gradient(x)
        scale = place.scalar(rule.factor)
        if rule.op == "oracle":
            return self.solved(place, i, x, scale)
        if rule.op not in self.whole or scale <= 0:
            raise Rejected("instance.clients: got no data points, or rho = 0, expected a proximal point of f")
        return self.whole[rule.op].prox(x, scale)

    def minibatch(self, place: Here, i: int) -> Rotated | Table:
        """The risk of what client i drew."""
        return self.batches[i][place.draw.batch[i]]

    def solved(self, place: Here, i: int, x: Vector, eta: fmpq) -> Vector:
        """What the oracle of client i returns for its minibatch's risk + |. - x|^2/(2 eta)."""
        risk = self.minibatch(place, i)
        if eta <= 0:
            raise Rejected(f"method: got the step {shown(eta)} of a local problem, expected a positive one")
        best = risk.prox(x, eta)
        answer = self.oracle.answer(x, best, place.row, i, place.draw.batch[i])
        farther = (norm2(minus(answer, x)) - norm2(minus(best, x))) / (2 * eta)
        self.gaps.append(paid(risk.value(answer) - risk.value(best) + farther))
        return answer


def drawing(
    fields: Fields, method: Method, claim: Claim, problem: Problem, clients: list[tuple[tuple[int, ...], fmpq]], T: int
) -> tuple[Problem, Draws]:
    """What a round draws, and the problem with the risks of minibatches."""
    C, d = len(problem.p), len(problem.start)
    tables = [loss for loss in problem.losses if isinstance(loss, Table)]
    said = SUBGRADIENTS in claim.let and SUBGRADIENTS[0] not in claim.means
    if any(table.L is None for table in tables) and not said:  # slopes are gradients unless the claim says otherwise
        raise Rejected("instance.clients: got a table without L, expected a claim about subgradients")
    chances, shared = list[list[fmpq]](), False
    if points := samples(problem.losses):
        minibatch = fields["minibatch"].fields("b shared") if "minibatch" in fields else {}
        b = minibatch["b"].integer(1, LARGE) if minibatch else 0
        shared = bool(minibatch) and minibatch["shared"].flag()
        risks = [client.minibatches(b) if b else [(ONE, client.risk)] for client in points]
        chances = [[chance for chance, _ in own] for own in risks]
        each = {"full_prox": [c.risk for c in points], "training_prox": [c.empirical for c in points]}
        whole: dict[str, Rotated | Mixture] = {op: mix(problem.p, one) for op, one in each.items() if method.reads(op)}
        batches = tuple(tuple(risk for _, risk in own) for own in risks)
        data = DataPoints(batches, whole, oracle_of(fields.get("oracle"), method, C, d, T), shared)
        problem = replace(problem, data=data)
    elif tables and method.reads("oracle", "batch_grad", *WHOLE):
        if len(tables) < C:
            raise Rejected("instance.clients: got tables and others, expected tables alone")
        chances = [[ONE]] * C
        mixed: dict[str, Rotated | Mixture] = {
            op: Mixture(tuple(tables), problem.p) for op in WHOLE if method.reads(op)
        }
        oracle = oracle_of(fields.get("oracle"), method, C, d, T)
        data = DataPoints(tuple((table,) for table in tables), mixed, oracle, shared)
        problem = replace(problem, data=data)
    elif "minibatch" in fields or "oracle" in fields:
        raise Malformed("instance: got minibatches or an oracle, expected them of clients with data points alone")
    return problem, drawn(clients, chances, shared, "instance.minibatch")


def oracle_of(node: Node | None, method: Method, C: int, d: int, T: int) -> Oracle:
    """The instance's answers; exact ones where it gives none. A shift is a number along a line, otherwise a vector."""
    if node is None:
        return Oracle()
    if not method.rules_use("oracle"):
        raise node.malformed("none, for the method asks no oracle")
    fields = node.fields("step shift")
    step = tuple(row.vector(C) for row in fields["step"].items())
    shift = tuple(
        tuple(tuple(x.vector(d) if d > 1 else (x.rational(),) for x in cell.items()) for cell in row.items(C))
        for row in fields["shift"].items(len(step))
    )
    if not 0 < len(step) <= T or not all(cell for row in shift for cell in row):
        raise node.malformed("a row or more of steps and shifts, at most one per round")
    return Oracle(step, shift)


def data_of(problem: Problem) -> DataPoints | None:
    return problem.data if isinstance(problem.data, DataPoints) else None
