"""Hand-written premises of a derivation, tried on the simulated runs of the statement that they serve.

A premise is what a proof says about losses and runs without deciding it. Where it relates quantities that the setting
measures, it must hold on every admissible run; the kernel has the last word on one that does not. A quantity of the
proof alone that a premise sets equal to a formula is read as that formula: the premise is then its definition, and the
others are tried with it. A premise about anything else is not measured, and the row says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, cast

import numpy as np
from sympy import Eq, Indexed, Lambda, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, true

from fedaudit.bounds.formulas.lowering import written
from fedaudit.bounds.language.derivation import Known, put_in
from fedaudit.bounds.language.method import quantity_name
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.lint.wellformed import form_faults
from fedaudit.bounds.proofs.hand_premises import premises
from fedaudit.errors import UserError

from ..kernel import Malformed
from ..search.climb import VIOLATION, Found
from ..search.genome import Genome, draw
from ..search.lowered_claim import lower, unchecked
from ..search.rationalise import certify
from ..search.score import genes_of, score, tabulate
from ..search.seeds import seed_for
from ..search.tree_arrays import Table, UnknownName
from ..settings import setting_of
from ..settings.base import Reading, Setting, Shape
from ..settings.runs import requirements as asked

INSTANCES, SHAPES, SIZE = 48, 12, 60  # draws of a shape, shapes, and their largest size
ENDS = ((0, 0), (0, -1), (1, 0), (1, -1))  # how much of an index's range is left out, where a premise looks further

Status = Literal["holds", "fails", "suspect", "not-measured"]
Span = Mapping[Any, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Tried:
    """`fails`: the kernel confirms it on `instance`; `suspect`: only floats do. `reason`: why not measured."""

    because: str
    claim: str
    status: Status
    instances: int = 0
    instance: Mapping[str, Any] | None = None
    reason: str = ""

    def finding(self) -> str | None:
        if self.status == "fails":
            with_ = f", with {self.reason}" if self.reason else ""
            return (
                f"premise: {self.because}: {self.claim} fails on an admissible run{with_}, {dict(self.instance or {})}"
            )
        return f"premise: {self.because}: floats see {self.claim} fail" if self.status == "suspect" else None

    def row(self) -> dict[str, Any]:
        told = {"premise": self.because, "claim": self.claim, "status": self.status, "instances": self.instances}
        return {**told, "reason": self.reason, "instance": dict(self.instance) if self.instance else None}


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Runs of one shape, measured once for all premises."""

    shape: Shape
    genome: Genome
    table: Table


def tried(statement: Statement, catalogue: Mapping[str, Statement], seed: int = 0) -> tuple[Tried, ...]:
    """Every premise of the statement's own derivation on random admissible instances of its setting."""
    all_premises = tuple(dict.fromkeys(premises(statement, catalogue)))
    if not all_premises:
        return ()
    if statement.compares_formulas:
        return tuple(_unmeasured(p, "a claim about formulas has no runs") for p in all_premises)
    world = setting_of(lower(statement))
    meant = _meant(statement)
    named = definitions(meant, all_premises)
    read = {p: _written(p, named) for p in all_premises}
    told = {p: _hindrance(statement, meant, read[p].premise) for p in all_premises}
    open_ = [read[p].premise for p in all_premises if not told[p] and _parts(statement, read[p].premise)]
    batches = list(_batches(statement, world, open_, seed)) if open_ else []
    return tuple(
        _unmeasured(p, told[p])
        if told[p]
        else _as_printed(p, read[p], _try(statement, catalogue, world, read[p].premise, batches))
        for p in all_premises
    )


def _unmeasured(premise: Known, reason: str) -> Tried:
    return Tried(premise.because, str(premise.claim), "not-measured", reason=reason)


# --- quantities of the proof alone -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Definition:
    """A premise that sets a quantity of the proof equal to a formula."""

    head: Any
    formula: Any  # for a function, a Lambda of its indices
    premise: Known


@dataclass(frozen=True, slots=True)
class Written:
    """A premise with the definitions that it needs written out."""

    premise: Known
    by: tuple[Definition, ...]


def definitions(meant: Set[Any], premises_: Sequence[Known]) -> tuple[Definition, ...]:
    """The first equation of each quantity that only the proof speaks of, in whose formula it does not stand itself."""
    by_head: dict[Any, Definition] = {}
    for premise in premises_:
        claim: Any = premise.claim
        for part in claim.args if isinstance(claim, And) else (claim,):
            if not isinstance(part, Eq) or not _names_it(part.lhs):
                continue
            name, formula = cast("Any", part.lhs), cast("Any", part.rhs)
            if _head(name) not in by_head and _head(name) not in meant and _head(name) not in _heads(formula):
                spelled = Lambda(name.args, formula) if isinstance(name, AppliedUndef) else formula
                by_head[_head(name)] = Definition(_head(name), spelled, premise)
    return tuple(by_head.values())


def _names_it(name: Any) -> bool:
    """A symbol, or a function of different indices (a size is one number: an equation about it defines nothing)."""
    if isinstance(name, AppliedUndef):
        free = all(isinstance(a, Symbol) and not a.is_positive for a in name.args)
        return free and len(set(name.args)) == len(name.args)
    return isinstance(name, Symbol)


def _heads(formula: Any) -> set[Any]:
    return {_head(q) for q in _names(formula)}


def _written(premise: Known, named: Sequence[Definition]) -> Written:
    claim: Any = premise.claim
    needed: list[Any] = [r.claim for r in premise.requires]
    used: dict[Any, Definition] = {}
    for _ in named:
        here = [d for d in named if any(d.head in _heads(part) for part in (claim, *needed))]
        if not here or any(d.head in used for d in here):  # done, or they define one another in a circle
            break
        used |= {d.head: d for d in here}
        pairs = [(d.head, d.formula) for d in here]
        claim, *needed = (put_in(part, pairs) for part in (claim, *needed))
    requires = tuple(replace(r, claim=c) for r, c in zip(premise.requires, needed, strict=True))
    return Written(replace(premise, claim=claim, requires=requires), tuple(used.values()))


def _as_printed(premise: Known, written: Written, row: Tried) -> Tried:
    """The row of what was tried, in the words of the proof; what a definition says is not tried by it."""
    row = replace(row, claim=str(premise.claim))
    own = [str(d.head) for d in written.by if d.premise == premise]
    if own:
        return replace(row, status="not-measured", instances=0, reason=f"read as the definition of {', '.join(own)}")
    others = [f"{d.head} as in {d.premise.because!r}" for d in written.by]
    return replace(row, reason="; ".join(filter(None, (row.reason, *others))))


# --- premises on runs ------------------------------------------------------------------------------------------------


def _parts(statement: Statement, premise: Known) -> tuple[Any, ...]:
    """The relations of a premise, definitions written out; those that are true as written say nothing."""
    claim = statement.defined(premise.claim)
    parts = claim.args if isinstance(claim, And) else (claim,)
    return tuple(c for c in parts if written(statement, c) is not true)


def _meant(statement: Statement) -> set[Any]:
    """The symbols and quantities that mean something here: what the statement or its method speaks of, or any run has.

    A symbol of another statement would be drawn like a constant that nothing determines, and it is a letter of the
    proof here. A world without a method says itself what it measures, but for numbers alone, which are all drawn.
    """
    glossary, lowered, method = cast("Mapping[Any, Any]", statement.glossary), lower(statement), statement.method
    spoken = {*lowered.claim["domains"], *lowered.symbols, *lowered.claim["choose"], *lowered.claim["for_all"]}
    if not isinstance(method, str):
        spoken |= asked.taken(Reading(lowered))
        measures = {quantity_name(q) for q in method.measures}
        read = [*method.scalars(measures), *method.formulas, *method.formulas.values(), *method.before]
        spoken |= {*measures, *(_said(head) for e in read for head in _heads(e))}
    elif method != "scalar":
        return set(glossary)
    return {head for head in glossary if _said(head) in spoken}


def _hindrance(statement: Statement, meant: Set[Any], premise: Known) -> str:
    """Why a premise cannot be put to a run; empty if it may be."""
    parts = (*_parts(statement, premise), *(statement.defined(r.claim) for r in premise.requires))
    if not all(isinstance(c, Relational) or c is true for c in parts):
        return "not a relation between two quantities"
    named = {q for c in parts for q in _names(c)}
    weights = any(c.atoms(Indexed) for c in parts)
    if named and not weights and all(isinstance(q, Symbol) and q.is_integer for q in named):
        return "about indices and sizes alone"
    unknown = {str(q) for q in named if _head(q) not in meant}
    return f"only the proof speaks of {', '.join(sorted(unknown))}" if unknown else ""


def _names(claim: Any) -> set[Any]:
    """Symbols and quantities, without those that a sum binds."""
    bound = {limit[0] for total in claim.atoms(Sum) for limit in total.limits}
    labels = {part for q in claim.atoms(Indexed) for part in (q.base, q.base.label)}
    free = {s for s in claim.free_symbols if isinstance(s, Symbol) and s not in labels}
    return (free - bound) | claim.atoms(AppliedUndef)


def _head(quantity: Any) -> Any:
    return quantity.func if isinstance(quantity, AppliedUndef) else quantity


def _said(head: Any) -> str:
    return head.name if isinstance(head, Symbol) else str(head)


def _batches(statement: Statement, world: Setting, known: Sequence[Known], seed: int) -> Iterator[Batch]:
    """Runs that measure whatever the premises name."""
    parts = [part for premise in known for part in _parts(statement, premise)]
    spoken = replace(statement, kind="inequality", then=(*statement.relations, *parts))  # whose indices have no ranges
    reading = Reading(unchecked(spoken), whole=True)
    for shape in [s for s in world.shapes(reading) if s.cost <= SIZE][:SHAPES]:
        rng = np.random.default_rng(seed_for(seed, statement.id, "premises", shape))
        genome = draw(genes_of(reading, world, shape), INSTANCES, rng)
        yield Batch(shape, genome, tabulate(reading, world, shape, genome))


def _try(
    statement: Statement, catalogue: Mapping[str, Statement], world: Setting, premise: Known, batches: Sequence[Batch]
) -> Tried:
    row = Tried(premise.because, str(premise.claim), "holds")
    parts = _parts(statement, premise)
    if not parts:
        return replace(row, reason="true as written")
    needed = tuple(c for c in (statement.defined(r.claim) for r in premise.requires) if c is not true)
    reason = "no admissible run was drawn"
    for span in _spans(statement, catalogue, parts):
        about = replace(statement, kind="inequality", then=parts, when=(*statement.when, *needed), for_all=span)
        try:
            for fault in form_faults(about):
                raise UserError(f"{about.id}: {fault}")
            return _attempt(row, Reading(unchecked(about)), world, batches)
        except UnknownName as error:
            reason = f"{error.args[0]} is not measured"
        except (IndexError, ValueError, KeyError) as error:  # beyond the run, where less of it may do, or not drawn
            reason = f"cannot be evaluated: {error}"
    return replace(row, status="not-measured", reason=reason)


def _attempt(row: Tried, about: Reading, world: Setting, batches: Sequence[Batch]) -> Tried:
    count, suspect, beyond = 0, False, None
    for batch in batches:
        try:
            scores = score(about, world, batch.shape, batch.genome, table=batch.table)
        except (IndexError, ValueError) as error:  # these runs are too short
            beyond = error
            continue
        count += scores.admissible
        for candidate in (Found(scores, int(r)) for r in np.flatnonzero(scores.margin > 1e3 * VIOLATION)[:2]):
            try:
                replayed = certify(about, world, candidate)
            except Malformed:  # the kernel's world has no such quantity: floats alone have seen it
                replayed = None
            if replayed is not None and not replayed.holds:
                return replace(row, status="fails", instances=count, instance=replayed.instance)
            suspect = suspect or replayed is None  # where the kernel sees it hold, floats have rounded
    if not count and beyond is not None:
        raise beyond
    if not count:
        return replace(row, status="not-measured", reason="no admissible run was drawn")
    return replace(row, status="suspect" if suspect else "holds", instances=count)


def _spans(statement: Statement, catalogue: Mapping[str, Statement], parts: Sequence[Any]) -> Iterator[Span]:
    """Ranges for the indices of a premise: the statement's own, another statement's, and a little less of them."""
    span: dict[Any, tuple[Any, Any]] = {v: (low, high) for v, (low, high) in statement.for_all.items()}
    inside = {s for part in parts for s in part.free_symbols if s.is_integer and s.is_nonnegative}
    for index in sorted(inside - set(span), key=str):
        if index.is_positive and index not in _ranged(catalogue):
            continue  # a size
        ranges = (s.for_all[index] for s in catalogue.values() if s.method == statement.method and index in s.for_all)
        first = next(ranges, None)
        if first is not None:
            span[index] = (first[0], first[1])
    for cuts in product(ENDS, repeat=len(span)):
        yield {v: (low + a, high + b) for (v, (low, high)), (a, b) in zip(span.items(), cuts, strict=True)}


def _ranged(catalogue: Mapping[str, Statement]) -> set[Any]:
    return {index for s in catalogue.values() for index in s.for_all}
