"""How far local steps go: |u|^2 where every local step makes a u + v of u, from 0 when a round begins.

|a u + v|^2 = a^2 |u|^2 + 2 a <u, v> + |v|^2 and <u, v>^2 <= |u|^2 |v|^2 show, by induction over the steps, that k steps
of length at most c go at most k c far if 0 <= a <= 1 (a < 1 where a proximal term pulls back), and for a = 1 that |u|^2
is at most k times the sum of the squared steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sympy import Eq, Expr, Function, Integer, Le, Sum, cancel
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fedaudit.bounds.decide.facts import sum_empty, sum_next
from fedaudit.bounds.language.derivation import Argument, Given, Induction, Known, Step, View
from fedaudit.bounds.language.rule_expressions import expect, inner, norm2
from fedaudit.bounds.language.rule_parts import Number, Vector
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.atoms import Bound
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.errors import UserError

from .attempts import Attempts, FoundArgument, Tried
from .framing import frame_of, meaning


@dataclass(frozen=True, slots=True)
class Growth:
    """A measure |u|^2 of a client, what a step makes of u, and the names that the proof gives to <u, v> and |v|^2."""

    frame: Frame
    measure: Any  # head
    u: Vector
    v: Vector
    share: Any  # a, of u after a step

    def size(self, k: Any) -> Any:
        t, _, i, _ = self.frame.letters
        return self.measure(t, k, i)

    def along(self, k: Expr) -> Expr:
        t, _, i, _ = self.frame.letters
        return ALONG(t, k, i)

    def length(self, k: Expr) -> Expr:
        t, _, i, _ = self.frame.letters
        return LENGTH(t, k, i)

    def moved(self, k: Any) -> tuple[Known, Known]:
        """One more step from step k, and the Cauchy-Schwarz inequality there."""
        t = self.frame.letters[0]
        after = self.share**2 * self.size(k) + 2 * self.share * self.along(k) + self.length(k)
        one = Eq(self.size(k + 1), after, evaluate=False)
        schwarz = Le(self.along(k) ** 2, self.size(k) * self.length(k))
        return (
            shown(one, "one more step, squared", self.frame, at=(t, k)),
            shown(schwarz, "Cauchy-Schwarz", self.frame, at=(t, k), schwarz=(self.u, self.v)),
        )


ALONG, LENGTH = Function("along_step", real=True), Function("step2", nonnegative=True)


def by_growth(statement: Statement, goal: View, relation: Relational) -> Attempts:
    """The claim that |u|^2 after E steps is at most (E c)^2, or E times the sum of the squared steps."""
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
    places = [(t, n, i) for n in (k, plain.sizes[0])]
    if meant is None or getattr(meant[0], "args", ()) != (t, k, i) or relation.lhs.args not in places:
        return None
    if len(meant[1].terms) != 1 or meant[1].terms[0][0] != 1 or meant[1].terms[0][1][0] != "norm2":
        return None
    u = meant[1].terms[0][1][1]
    moved = _moved(u, plain)
    if moved is None:
        return None
    share, v = moved
    names: dict[Expr, Number] = {ALONG(t, k, i): expect(inner(u, v)), LENGTH(t, k, i): expect(norm2(v))}
    frame = frame_of(statement, names)
    return None if frame is None else Growth(frame, relation.lhs.func, u, v, share)


def _moved(u: Vector, frame: Frame) -> tuple[Any, Vector] | None:
    """The number a and the vector v with which a local step makes a u + v of u; v is a multiple of one vector."""
    parts = _parts(u)
    own = [x for x in parts if x in frame.local]
    if len(own) != 1 or parts[own[0]] != 1:
        return None
    after = _parts(frame.local[own[0]])
    share = after.get(own[0], Integer(0))
    for x, factor in parts.items():  # the step's own part of what is not moved is u's share of it
        after[x] = cancel(after.get(x, Integer(0)) - share * factor + (0 if x in own else factor))
    rest = [(x, factor) for x, factor in after.items() if factor != 0]
    return (share, rest[0][1] * rest[0][0]) if len(rest) == 1 else None


def _parts(v: Vector) -> dict[Vector, Expr]:
    """A vector as a sum of numbers times vectors that are no sums."""
    if v.op == "*":
        return {x: v.args[0] * factor for x, factor in _parts(v.args[1]).items()}
    if v.op != "+":
        return {v: Integer(1)}
    total: dict[Vector, Expr] = {}
    for part in v.args:
        for x, factor in _parts(part).items():
            total[x] = total.get(x, Integer(0)) + factor
    return total


def _lengths(growth: Growth, k: Any) -> Iterator[tuple[Any, Known]]:
    """What |v|^2 is in the method's own measures."""
    frame, (t, k_, i, _) = growth.frame, growth.frame.letters
    (factor,) = _parts(growth.v).values()
    for quantity in frame.method.measures:
        if getattr(quantity, "args", ()) == (t, k_, i):
            value = (factor**2 * quantity).subs(k_, k)
            premise = shown(Eq(growth.length(k), value, evaluate=False), "how long a step is", frame, at=(t, k))
            if stands(premise):
                yield value, premise


def _start(growth: Growth) -> Known:
    return shown(Eq(growth.size(Integer(0)), 0, evaluate=False), "when a round begins", growth.frame)


def _by_sum(growth: Growth, relation: Relational) -> Iterator[FoundArgument]:
    """At most k times the sum of the squared steps."""
    k, end = growth.frame.letters[1], growth.frame.sizes[0]
    sums = list(relation.rhs.atoms(Sum))
    if growth.share != 1 or relation.lhs != growth.size(end):
        return
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
        yield FoundArgument(Argument((sign, young, steps, final), final), Tried(4))


def _by_bound(growth: Growth, statement: Statement, relation: Relational) -> Iterator[FoundArgument]:
    """At most (k c)^2, which is at most (E c)^2, where an assumption bounds the steps."""
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
            reached_at = steps if relation.lhs == growth.size(k) else steps.at(end)
            final = Step(relation, (reached_at,), note="what is claimed")
            yield FoundArgument(Argument((short, turned, steps, final), final), Tried(4))
