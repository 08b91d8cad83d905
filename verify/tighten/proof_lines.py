"""Smaller coefficients for the lines of a proof that rest on identities alone.

Such a line says small <= large, for all vectors. Its atoms are those of the premises that it rests on; a linear
programme looks for multipliers that leave most of one quantity of the larger side over, at an ordinary point; then the
squares that it took are gathered anew. What is left over is taken off the line, and the identity and the signs are
checked like those of any shown premise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Add, Le, Mul, Pow, Rational, Sum, Symbol, expand
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.language.derivation import Argument, Known, Step
from fedaudit.bounds.language.rule_expressions import w_star
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.argument import resting_on
from fedaudit.bounds.proofs.atom import Atom
from fedaudit.bounds.proofs.atoms import Lower, Square
from fedaudit.bounds.proofs.frame import HETEROGENEITY, Frame
from fedaudit.bounds.proofs.premise_identity import by_form, not_negative, shown, stands

from ..proposals.single_premises import singles
from ..prover.atoms_in_reach import deviation, margins
from ..prover.multipliers import Multipliers, Question, find
from .ldl_regroup import regrouped

DEGREES = (3, 5)
AND = " + "  # between the names of lines that are added up
SMALLER = Rational(1, 3)  # by which a step size is made smaller until the conditions hold


@dataclass(frozen=True, slots=True)
class PremiseLine:
    """A line of a proof, and the shown premises that it rests on."""

    claim: Any
    where: str
    premises: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class Tighter:
    """A line with a smaller coefficient of `quantity`, and the identity that shows it."""

    where: str
    claim: Boolean
    quantity: Any
    printed: Any
    least: Any
    premise: Known

    def row(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "quantity": str(self.quantity),
            "printed": str(self.printed),
            "least": str(self.least),
            "claim": str(self.claim),
        }


def lines(argument: Argument) -> Iterator[PremiseLine]:
    """Lines that rest on shown premises alone; of any other, those of its givens that do, added up."""
    for step in argument.steps:
        if not isinstance(step, Step):
            continue
        own = _line(step)
        if own is not None:
            yield own
            continue
        parts = [line for line in (_line(g) for g in step.given if isinstance(g, Step)) if line is not None]
        if len(parts) > 1:
            small, large = (expand(Add(*(getattr(p.claim, side) for p in parts))) for side in ("lhs", "rhs"))
            both = tuple(dict.fromkeys(premise for p in parts for premise in p.premises))
            common = Add(*(term for term in Add.make_args(small) if term in Add.make_args(large)))
            claim = Le(small - common, large - common)
            yield PremiseLine(claim, AND.join(p.where for p in parts), both)


def _line(step: Step) -> PremiseLine | None:
    below = list(resting_on(step))
    premises = tuple(dict.fromkeys(item for item in below if isinstance(item, Known)))
    alone = all(p.kind == "shown" and stands(p) and not p.rule.schwarz and not p.rule.times for p in premises)
    steps = all(isinstance(item, Known | Step) for item in below)
    if not premises or not alone or not steps or not isinstance(step.claim, Le):
        return None
    frames = {id(p.rule.frame) for p in premises}
    times = {p.rule.at for p in premises}
    return PremiseLine(step.claim, step.where or step.note, premises) if len(frames) == len(times) == 1 else None


def tightened(line: PremiseLine, conditions: Sequence[Boolean], statement: Statement) -> Iterator[Tighter]:
    """The line with less of each quantity on its larger side, where less was found to do."""
    frame, at = line.premises[0].rule.frame, line.premises[0].rule.at
    atoms = tuple(dict.fromkeys(atom for premise in line.premises for _, atom in premise.rule.by))
    if not atoms:
        return
    atoms = tuple(dict.fromkeys((*atoms, *_signs(line, frame))))
    generators = tuple(_generators(line, frame, conditions))
    point = _point(generators)
    larger = expand(line.claim.rhs)
    for quantity in _quantities(larger, frame):
        printed = larger.coeff(quantity)
        for degree in DEGREES:
            question = Question(line.claim, frame, atoms, generators, degree, at, quantity, point)
            multipliers = find(question)
            if multipliers is None or multipliers.spare == 0:
                continue
            ways = (_regrouped(multipliers, quantity, frame), multipliers)
            better = [_tighter(line, quantity, printed, way) for way in ways if way is not None]
            accepted = next((one for one in better if _stands(one.premise, conditions, statement)), None)
            if accepted is not None:
                yield accepted
                break


def _tighter(line: PremiseLine, quantity: Any, printed: Any, found: Multipliers) -> Tighter:
    frame, at = line.premises[0].rule.frame, line.premises[0].rule.at
    claim = Le(line.claim.lhs, line.claim.rhs - found.spare * quantity)
    premise = shown(claim, f"{line.where}, tightened", frame, *found.by, at=at)
    return Tighter(line.where, claim, quantity, printed, expand(printed - found.spare), premise)


def _stands(premise: Known, conditions: Sequence[Boolean], statement: Statement) -> bool:
    """Whether the kernel accepts it as a premise of the statement, and what it requires follows from the conditions."""
    if not stands(premise) or not all(decide(r.claim, conditions).proved for r in premise.requires):
        return False
    (single,) = singles(statement, [premise])
    return not single.refusal()


def _regrouped(found: Multipliers, quantity: Any, frame: Frame) -> Multipliers | None:
    """With what LDL^T leaves over as well, where the quantity is the mean square of a client's deviation."""
    inside = quantity.function / frame.weight(quantity.limits[0][0]) if isinstance(quantity, Sum) else quantity
    meant = frame.meaning(inside)
    terms = () if meant is None else meant[1].terms
    if len(terms) != 1 or terms[0][0] != 1:
        return None
    op, *parts = terms[0][1]
    op, *parts = parts[0] if op == "mean" else (op, *parts) if isinstance(quantity, Sum) else ("",)
    if op != "norm2":
        return None
    shared = frame.method.server
    own = deviation(parts[0], shared)
    if len(own) != 1 or next(iter(own.values())) ** 2 != 1:
        return None
    again = regrouped(found.by, next(iter(own)), shared)
    return None if again is None or again.spare == 0 else Multipliers(again.by, found.spare + again.spare)


def _signs(line: PremiseLine, frame: Frame) -> Iterator[Atom]:
    """What the definitions of the quantities that a line speaks of show to be not negative."""
    claims = [line.claim, *(premise.claim for premise in line.premises)]
    for quantity in dict.fromkeys(q for claim in claims for q in claim.atoms(AppliedUndef, Symbol)):
        meant = frame.meaning(quantity)
        if meant is None or getattr(meant[0], "args", ()) != quantity.args:
            continue  # at the next step
        if meant[1] == HETEROGENEITY:
            yield Lower(w_star, "mean")
        for _, (op, *inside) in meant[1].terms if len(meant[1].terms) == 1 else ():
            if op == "norm2":
                yield Square(inside[0])
            elif op == "mean" and inside[0][0] == "norm2":
                yield Square(inside[0][1], "mean")


def _quantities(larger: Any, frame: Frame) -> Iterator[Any]:
    """Quantities of a side that are not negative by their definition, with a coefficient that is positive by form."""
    parts = dict.fromkeys(part for term in Add.make_args(larger) for part in Mul.make_args(term))
    for part in parts:
        inside = part.function / frame.weight(part.limits[0][0]) if isinstance(part, Sum) else part
        meant = frame.meaning(inside) if isinstance(inside, AppliedUndef | Symbol) else None
        if meant is not None and not_negative(meant[1], frame.method) is not None:
            yield part


def _generators(line: PremiseLine, frame: Frame, conditions: Sequence[Boolean]) -> Iterator[Any]:
    """Step sizes, constants of the atoms, and what the conditions keep from being negative."""
    leaves = dict.fromkeys(
        leaf
        for premise in line.premises
        for expr in (premise.claim, *(m for m, _ in premise.rule.by))
        for leaf in frame.leaves(expr)
    )
    steps = {q.func for q in frame.method.steps()}
    numbers = [leaf for leaf in leaves if isinstance(leaf, Symbol | AppliedUndef) and by_form(leaf, strict=True)]
    yield from numbers
    yield from (1 / leaf for leaf in numbers if getattr(leaf, "func", None) in steps)
    spoken = {s for leaf in leaves for s in leaf.free_symbols}
    yield from margins(conditions, spoken)


def _point(generators: Sequence[Any]) -> dict[Any, Any]:
    """An ordinary point: every constant 1, the step size small enough for all generators to be positive."""
    names = [g for g in generators if isinstance(g, Symbol | AppliedUndef)]
    size: Any = Rational(1)
    while True:
        at: dict[Any, Any] = {g: (size if isinstance(g, AppliedUndef) else Rational(1)) for g in names}
        if all(not isinstance(g, Add) or g.subs(at) > 0 for g in generators) or size < Rational(1, 1000):
            return {**at, **{g: 1 / at[g.base] for g in generators if isinstance(g, Pow) and g.base in at}}
        size = size * SMALLER
