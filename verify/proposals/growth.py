"""How far local steps go: |u|^2 for a vector u that every local step moves by another, from 0 when a round begins.

|u + v|^2 = |u|^2 + 2 <u, v> + |v|^2 and <u, v>^2 <= |u|^2 |v|^2 show, by induction over the steps, that k steps of
length at most c go at most k c far, and that |u|^2 is at most k times the sum of the squared steps.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sympy import Eq, Function, Integer, Le, Sum, cancel
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fedaudit.bounds.atoms import Bound
from fedaudit.bounds.derivation import Argument, Given, Induction, Known, Step, View
from fedaudit.bounds.facts import sum_empty, sum_next
from fedaudit.bounds.frame import Frame
from fedaudit.bounds.method import Number, Vector, expect, inner, norm2
from fedaudit.bounds.shown import shown, stands
from fedaudit.bounds.statement import Statement
from fedaudit.errors import UserError

from .framing import frame_of, meaning
from .potentials import Lines, Tried


@dataclass(frozen=True, slots=True)
class Growth:
    """A measure |u|^2 of a client, the step v, and the names that the proof gives to <u, v> and |v|^2."""

    frame: Frame
    measure: Any  # head
    u: Vector
    v: Vector

    def size(self, k: Any) -> Any:
        t, _, i, _ = self.frame.letters
        return self.measure(t, k, i)

    def along(self, k: Any) -> Any:
        t, _, i, _ = self.frame.letters
        return ALONG(t, k, i)

    def length(self, k: Any) -> Any:
        t, _, i, _ = self.frame.letters
        return LENGTH(t, k, i)

    def moved(self, k: Any) -> tuple[Known, Known]:
        """One more step from step k, and the Cauchy-Schwarz inequality there."""
        t = self.frame.letters[0]
        one = Eq(self.size(k + 1), self.size(k) + 2 * self.along(k) + self.length(k), evaluate=False)
        schwarz = Le(self.along(k) ** 2, self.size(k) * self.length(k))
        return (
            shown(one, "one more step, squared", self.frame, at=(t, k)),
            shown(schwarz, "Cauchy-Schwarz", self.frame, at=(t, k), schwarz=(self.u, self.v)),
        )


ALONG, LENGTH = Function("along_step", real=True), Function("step2", nonnegative=True)


def by_growth(statement: Statement, goal: View, relation: Relational, over: Any) -> Iterator[Lines | Tried]:
    """The claim that |u|^2 after E steps is at most (E c)^2, or E times the sum of the squared steps."""
    over.check()
    growth = _growth(statement, relation)
    if growth is None:
        return
    try:
        yield from _by_sum(growth, relation)
        yield from _by_bound(growth, statement, relation)
    except (UserError, ValueError):
        return


def _growth(statement: Statement, relation: Relational) -> Growth | None:
    plain = frame_of(statement)
    if plain is None or not isinstance(relation, Le) or not isinstance(relation.lhs, AppliedUndef):
        return None
    t, k, i, _ = plain.letters
    meant = meaning(plain, relation.lhs)
    if meant is None or getattr(meant[0], "args", ()) != (t, k, i) or relation.lhs.args != (t, plain.sizes[0], i):
        return None
    if len(meant[1].terms) != 1 or meant[1].terms[0][0] != 1 or meant[1].terms[0][1][0] != "norm2":
        return None
    u = meant[1].terms[0][1][1]
    v = _step(u, plain)
    if v is None:
        return None
    names: dict[Any, Number] = {ALONG(t, k, i): expect(inner(u, v)), LENGTH(t, k, i): expect(norm2(v))}
    frame = frame_of(statement, names)
    return None if frame is None else Growth(frame, relation.lhs.func, u, v)


def _step(u: Vector, frame: Frame) -> Vector | None:
    """By what a local step moves u: of a difference whose first part is the client's own vector."""
    own = u.args[0] if u.op == "+" else u
    rule = frame.local.get(own)
    moved = [x for x in getattr(u, "args", ()) if isinstance(x, Vector) and x in frame.local]
    if rule is None or rule.op != "+" or rule.args[0] != own or moved != [own]:
        return None
    _, first, *more = rule.args
    for part in more:
        first = first + part
    return first


def _factor(v: Vector) -> Any:
    """The number before a vector."""
    return v.args[0] * _factor(v.args[1]) if v.op == "*" else Integer(1)


def _lengths(growth: Growth, k: Any) -> Iterator[tuple[Any, Known]]:
    """What |v|^2 is in the method's own measures."""
    frame, (t, k_, i, _) = growth.frame, growth.frame.letters
    for quantity in frame.method.measures:
        if getattr(quantity, "args", ()) == (t, k_, i):
            value = (_factor(growth.v) ** 2 * quantity).subs(k_, k)
            premise = shown(Eq(growth.length(k), value, evaluate=False), "how long a step is", frame, at=(t, k))
            if stands(premise):
                yield value, premise


def _start(growth: Growth) -> Known:
    return shown(Eq(growth.size(Integer(0)), 0, evaluate=False), "when a round begins", growth.frame)


def _by_sum(growth: Growth, relation: Relational) -> Iterator[Lines]:
    """At most k times the sum of the squared steps."""
    k, end = growth.frame.letters[1], growth.frame.sizes[0]
    sums = list(relation.rhs.atoms(Sum))
    if len(sums) != 1 or cancel(relation.rhs / sums[0]) != end or sums[0].limits[0][1:] != (0, end - 1):
        return
    index, term = sums[0].limits[0][0], sums[0].function
    for value, length in _lengths(growth, k):
        if value.subs(k, index) != term:
            continue
        one, schwarz = growth.moved(k)
        total, longer = Sum(term, (index, 0, k - 1)), sum_next(term, index, 0, k - 1)
        empty = sum_empty(term, index, 0)
        sign = Induction(Le(0, total), k, 0, (empty,), (longer,), note="squared steps")
        young = Step(
            Le(2 * k * growth.along(k), growth.size(k) + k**2 * growth.length(k)), (schwarz,), note="Young's inequality"
        )
        onward: tuple[Given, ...] = (one, schwarz, young, length, longer, sign)
        steps = Induction(Le(growth.size(k), k * total), k, 0, (_start(growth), empty), onward, note="all steps")
        final = Step(relation, (steps.at(end),), note="what is claimed")
        yield Lines(Argument((sign, young, steps, final), final), Tried(4))


def _by_bound(growth: Growth, statement: Statement, relation: Relational) -> Iterator[Lines]:
    """At most (k c)^2, where an assumption bounds the steps."""
    frame, (t, k, _, _) = growth.frame, growth.frame.letters
    end = frame.sizes[0]
    reached = cancel(relation.rhs / end**2)
    if end in reached.free_symbols or reached.atoms(Sum):
        return
    one, schwarz = growth.moved(k)
    for value, length in _lengths(growth, k):
        for assumption in (*statement.let, *statement.implicit):
            if not isinstance(assumption.means, Le) or assumption.means.lhs not in value.atoms(AppliedUndef):
                continue
            bound = shown(assumption.means, assumption.says, frame, (Integer(1), Bound(assumption)), at=(t, k))
            if cancel(value / assumption.means.lhs * assumption.means.rhs - reached) != 0:
                continue
            inside = (Le(k + 1, end),)
            short = Step(Le(growth.length(k), reached), (length, bound), note="a step is short", under=inside)
            near = Le(growth.size(k), k**2 * reached)
            turned = Step(
                Le(growth.along(k), k * reached), (schwarz, short), note="Cauchy-Schwarz", under=(*inside, near)
            )
            steps = Induction(
                near, k, 0, (_start(growth),), (one, short, turned), note="all steps", under=(Le(k, end),)
            )
            final = Step(relation, (steps.at(end),), note="what is claimed")
            yield Lines(Argument((short, turned, steps, final), final), Tried(4))
