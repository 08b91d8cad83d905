"""The frame of a statement: what its method, glossary, assumptions and conditions say of letters, sizes and weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sympy import Eq, Expr, IndexedBase, Pow, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction

from fedaudit.bounds.catalogue.discovery import modules_of, papers
from fedaudit.bounds.decide.sample_points import conjuncts
from fedaudit.bounds.language.assumptions import ASSUMPTIONS, EVEN, FLAT, STEEPER, STILL, USUAL
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.method_interface import size
from fedaudit.bounds.language.rule_parts import Number
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.frame import CHARGES, HETEROGENEITY, Frame
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.bounds.proofs.vectors import FENCHEL, SAME, Charge
from fedaudit.errors import UserError


def frame_of(statement: Statement, names: Mapping[Any, Number] | None = None) -> Frame | None:
    """The frame in which the statement's own quantities have their meaning; None for a claim about no method's runs."""
    method = statement.method
    if not isinstance(method, Method) or method.clock != "rounds":
        return None
    assumed = {a.name for a in (*statement.let, *statement.implicit)}
    granted = [(rule, name) for name, record in ASSUMPTIONS.items() if name in assumed for rule in record.gives]
    charges: dict[str, Charge | None] = {rule: (name, ()) for rule, name in granted if USUAL[rule] not in assumed}
    if not {FLAT, STEEPER} & dict(granted).keys():
        charges[FLAT] = None
    charges |= {FENCHEL: None, STILL: None}
    sizes = (size(method, statement.glossary, "E"), size(method, statement.glossary, "C"))
    alone, single = (_is_one(statement, n) for n in sizes[::-1])
    even = EVEN in dict(granted)
    drawn = size(method, statement.glossary, "m") if method.uses("sampled") and even else None
    meant = dict(names or {})
    gamma = next((s for s in statement.glossary if isinstance(s, Symbol) and s.name == "Gamma"), None)
    if gamma is not None and gamma not in method.measures:
        meant[gamma] = HETEROGENEITY
    return Frame(
        method,
        meant,
        letters(method, statement),
        sizes,
        _weights(statement),
        charges,
        alone=alone,
        same=CHARGES[SAME][0] in assumed,
        even=even,
        sample=drawn,
        single=single,
        chosen=_chosen(statement),
    )


def frames_of(statement: Statement) -> list[Frame]:
    """Its own frame; of a setting that has no rules, what the papers say that its names mean."""
    if isinstance(statement.method, Method):
        own = frame_of(statement)
        return [] if own is None else [own]
    return [frame for frame in _frames_of_papers() if frame.method.id == statement.method]


@cache
def _frames_of_papers() -> tuple[Frame, ...]:
    """Every frame at the top level of a paper's module, each once."""
    values = (value for paper in papers() for module in modules_of(paper) for value in vars(module).values())
    return tuple({id(value): value for value in values if isinstance(value, Frame)}.values())


def meaning(frame: Frame, quantity: object) -> tuple[object, Number] | None:
    """What a quantity is in the frame; None of a number, and of what is no expectation at a place."""
    try:
        return frame.meaning(quantity)
    except UserError:
        return None


def letters(method: Method, statement: Statement) -> tuple[object, Any, Any, Any]:
    """The paper's own letters for the round, the local step, the client and another client."""
    own = {common: letter for letter, common in method.names.items()}
    integers = {s.name: s for s in statement.glossary if isinstance(s, Symbol) and s.is_integer}

    def letter(name: str) -> Any:
        return own.get(name) or integers.get(name) or Symbol(name, integer=True, nonnegative=True)

    t, k, i, j = map(letter, "tkij")
    return t, k, i, Symbol("j_", integer=True, nonnegative=True) if j in (t, k, i) else j


def _is_one(statement: Statement, count: Expr) -> bool:
    return any(isinstance(c, Eq) and set(c.args) == {count, 1} for c in conjuncts(*view(statement).requires))


def _weights(statement: Statement) -> Expr:
    own = [s for s in statement.glossary if isinstance(s, UndefinedFunction | IndexedBase) and str(s) == "p"]
    return own[0] if own else IndexedBase("p")


def _chosen(statement: Statement) -> dict[Expr, Expr]:
    """The step sizes that are chosen, where they are rational formulas."""
    values = {q: statement.defined(value) for q, value in statement.choose.items() if isinstance(q, AppliedUndef)}
    rational = (
        q
        for q, value in values.items()
        if all(power.exp.is_Integer for power in value.atoms(Pow)) and not value.atoms(AppliedUndef)
    )
    return {q: values[q] for q in rational}
