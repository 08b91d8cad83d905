"""What a repair had to change: a hypothesis, a constant, or the rate. Decided by comparing orders of growth.

The printed bound and the repaired one are compared as an order claim with every parameter free, under the printed
conditions. If the repaired bound is O(the printed one), a constant was wrong; if a growth path of the parameters, what
is measured being constant, shows that it is not, for every constant, the rate was. A condition that defines a symbol is
part of the bound. If both bounds are the same, it was a hypothesis.
"""

# sympy is annotated only in part (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sympy import Basic, Eq, Ge, Gt, Le, Symbol, simplify
from sympy.core.relational import Relational

from fedaudit.bounds.derivation import View
from fedaudit.bounds.derive import parameters, view
from fedaudit.bounds.dominance import dominance
from fedaudit.bounds.evaluate import quantities
from fedaudit.bounds.sampling import conjuncts
from fedaudit.bounds.statement import Assumption, Glossary, Statement

from .certify import certify
from .claims import lower
from .hunt import VIOLATION, climb
from .kernel import Malformed
from .settings import setting
from .settings.base import Reading

Change = Literal["hypothesis", "constant", "rate", "none known", "undecided"]
SHAPES, GENERATIONS, REPLAYS = 8, 6, 5


def repair(printed: Statement, catalogue: Mapping[str, Statement], seed: int = 0) -> Change:
    """What the repaired sibling of a refuted statement changes; "undecided" where the orders cannot be compared."""
    repaired = catalogue.get(f"{printed.id}~repaired")
    if repaired is None:
        return "none known"
    pairs = _paired(view(printed), view(repaired))
    if pairs is None:
        return "undecided"
    changed = [(old, new) for old, new in pairs if old.rhs != new.rhs and simplify(old.rhs - new.rhs) != 0]
    if not changed:
        return "hypothesis"
    decided = [_order(printed, old, new, seed) for old, new in changed]
    for change in ("rate", "undecided", "constant"):
        if change in decided:
            return change
    return "undecided"


def _paired(printed: View, repaired: View) -> list[tuple[Relational, Relational]] | None:
    """The relations that bound the same thing in the same direction; None if one of the repaired has no partner."""
    pairs: list[tuple[Relational, Relational]] = []
    for new in repaired.relations:
        partner = next((old for old in printed.relations if (old.func, old.lhs) == (new.func, new.lhs)), None)
        if partner is None:
            return None
        pairs.append((partner, new))
    defined = {c.lhs: c for c in printed.requires if isinstance(c, Eq) and isinstance(c.lhs, Symbol)}
    return [*pairs, *((defined[c.lhs], c) for c in repaired.requires if isinstance(c, Eq) and c.lhs in defined)]


def _order(printed: Statement, old: Relational, new: Relational, seed: int) -> Change:
    if all(decision.proved for decision in dominance(order_claim(printed, old, new))):
        return "constant"
    numbers = parameters(printed)
    if any(q not in numbers for q in set(quantities(new.rhs)) - set(quantities(old.rhs))):
        return "undecided"  # it measures something else, and how much that may be is not known here
    claim = order_claim(printed, old, new, fixed=[q for q in quantities(new.rhs, old.rhs) if q not in numbers])
    try:
        reading, world = Reading(lower(claim)), setting("order")
        found = climb(reading, world, world.shapes(reading)[:SHAPES], GENERATIONS, seed).best
        replayed = [certify(reading, world, f) for f in found[:REPLAYS] if f.margin > VIOLATION]
    except (Malformed, ValueError, KeyError):  # a formula that growth paths do not speak of
        return "undecided"
    return "rate" if any(r is not None and not r.holds for r in replayed) else "undecided"


def order_claim(printed: Statement, old: Relational, new: Relational, fixed: Sequence[Basic] = ()) -> Statement:
    """ "The repaired bound is O(the printed one)" (of a lower bound: the other way round), all but `fixed` are free."""
    conditions = [c for c in conjuncts(*view(printed).requires) if isinstance(c, Relational)]
    both = quantities(old.rhs, new.rhs)
    about = [c for c in conditions if set(quantities(c)) <= set(both)]
    names: dict[Basic, Any] = {q: q for q in both if isinstance(q, Symbol)}
    taken = {s.name for s in names.values()}
    for n, q in enumerate(q for q in both if q not in names):
        names[q] = Symbol(f"q_{n}" if f"q_{n}" not in taken else f"quantity_{n}", nonnegative=True)
    low, high = (old.rhs, new.rhs) if isinstance(old, Ge | Gt) else (new.rhs, old.rhs)
    then = (Eq if isinstance(old, Eq) else Le)(low, high, evaluate=False).xreplace(names)
    glossary = Glossary()
    for name in names.values():
        domain = {k: True for k in ("positive", "nonnegative", "integer") if getattr(name, f"is_{k}")}
        glossary.symbol(name.name, "1", "", **(domain or {"real": True}))
    return Statement(
        id=f"{printed.id}~order",
        kind="order",
        title="",
        cite=printed.cite,
        method="order",
        glossary=glossary,
        let=(Assumption("fixed", tuple(names[q] for q in fixed), "measured"),) if fixed else (),
        when=tuple(c.xreplace(names) for c in about),
        then=then,
    )
