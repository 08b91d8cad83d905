"""A proof in words: numbered steps, what each rests on, and the inequalities that its premises add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Symbol, factor
from sympy.core.function import AppliedUndef

from fedaudit.bounds.formulas.algorithm_box import Printer
from fedaudit.bounds.language.derivation import Argument, Given, Induction, Known, Step
from fedaudit.bounds.proofs.atoms import Bound, Convex, Interpolated, Lower, Minimum, Smooth, Square, Variance
from fedaudit.bounds.proofs.proximal_atoms import Subgradient

from .atoms_in_reach import spelled

Row = dict[str, Any]


def told(argument: Argument) -> list[Row]:
    """One row per step: what it says, why, and the premises that are used there for the first time."""
    numbers: dict[Any, int] = {}
    rows: list[Row] = []
    premises_told: set[Any] = set()
    for n, step in enumerate(argument.steps, 1):
        numbers[step] = n
        rests = _given(step)
        premises = [k for k in rests if isinstance(k, Known) and k.kind == "shown"]
        rows.append(
            {
                "step": n,
                "says": str(step.claim),
                "because": _because(step, rests, numbers),
                "premises": [_premise(k) for k in premises if k not in premises_told],
            }
        )
        premises_told.update(premises)
    return rows


def names_of(argument: Argument) -> list[str]:
    """What the quantities are that only the proof names, of those that it uses."""
    meanings: dict[str, str] = {}
    knowns = [k for step in argument.steps for k in _given(step) if isinstance(k, Known) and k.kind == "shown"]
    for known in knowns:
        frame = known.rule.frame
        printer = Printer(frame.method, as_latex=False)
        for quantity, number in frame.names.items():
            head = getattr(quantity, "func", quantity)
            if any(head in (getattr(q, "func", None), q) for q in known.claim.atoms(AppliedUndef, Symbol)):
                meanings[str(quantity)] = printer.number(number)
    return [f"{name} is {what}" for name, what in meanings.items()]


def _given(step: Step | Induction) -> tuple[Given, ...]:
    return (*step.base, *step.step) if isinstance(step, Induction) else step.given


def _because(step: Step | Induction, given: Sequence[Given], numbers: dict[Any, int]) -> str:
    parts: list[str] = []
    for item in given:
        if isinstance(item, Known) and item.of is not None:
            parts.append(f"step {numbers.get(item.of, '?')} at {item.rule}")
        elif isinstance(item, Known):
            parts.append("the premise" if item.kind == "shown" else item.because)
        else:
            parts.append(f"step {numbers.get(item, '?')}")
    by = "induction over " + str(step.over) if isinstance(step, Induction) else ""
    used = ", ".join(dict.fromkeys(parts))
    return " from ".join(part for part in (by, used) if part) or "the conditions"


def _premise(known: Known) -> Row:
    return {
        "says": str(known.claim),
        "because": known.because,
        "by": [{"multiplier": str(factor(m)), "atom": sentence(atom)} for m, atom in known.rule.by],
        "assumes": list(known.assumes),
        "identity": not known.rule.by and not known.rule.schwarz,
    }


def sentence(atom: Any) -> str:
    """The inequality that an atom is, at its points."""
    mean = {"one": "", "mean": ", in the mean over the clients", "squares": ", summed with p_i^2"}[atom.over]
    match atom:
        case Square(x=x):
            said = f"|{spelled(x)}|^2 >= 0"
        case Smooth(x=x, y=y, below=below):
            sides = "the parabola below f at x" if below else "f lies below its parabola at x"
            said = f"{sides}, x = {spelled(x)}, at {spelled(y)} (smooth)"
        case Convex(x=x, y=y, mu=mu):
            kind = "convex" if mu == 0 else "strongly convex"
            said = f"f lies above its tangent at {spelled(x)}, at {spelled(y)} ({kind})"
        case Interpolated(x=x, y=y):
            said = f"values and slopes at {spelled(x)} and {spelled(y)} are of one smooth and strongly convex function"
        case Lower(x=x) | Minimum(x=x):
            said = f"f({spelled(x)}) is at least the least value"
        case Subgradient(x=x, y=y):
            said = f"g lies above its tangent at the proximal point of {spelled(x)}, at {spelled(y)}"
        case Variance(x=x):
            said = f"the variance of the noise of {spelled(x)}"
        case Bound():
            said = f"{atom.relation} ({atom.assumption.name})"
        case _:
            said = type(atom).__name__.lower()
    return said + mean
