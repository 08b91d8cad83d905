"""What a method offers to somebody who writes a statement about it: symbols, measures with ranges, assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypedDict

from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from ..formulas.algorithm_box import Printer
from .assumptions import ASSUMPTIONS, RunAssumption
from .dimension import ONE
from .method import Method
from .statement import Entry, Formula, Glossary

ENDS = {"t": "T", "k": "E", "i": "C", "j": "C", "n": "D"}  # the largest value of an index


MeasureRow = TypedDict(
    "MeasureRow", {"name": str, "is": str, "dimension": str, "meaning": str, "for": list[str]}
)  # called, because "is" and "for" are no names of Python


class AssumptionRow(TypedDict):
    """An assumption as `fedaudit methods` and `assumptions` print it; `constants`: how many it introduces."""

    name: str
    about: str
    constants: int
    asks: str


@dataclass(frozen=True, slots=True)
class Range:
    """An index of a measure: its name in the paper, the letter that runs use, and where it goes from and to."""

    index: Symbol
    letter: str
    first: Expr | int
    last: Expr

    def __str__(self) -> str:
        return f"{self.index} = {self.first}, ..., {self.last}"


def ranges(method: Method, glossary: Glossary, at: Iterable[Formula]) -> Iterator[Range | None]:
    """Where each index of a measure goes; None for one that is not an index of a run (T of a step that is picked)."""
    indices = list(at)
    letters = [method.names.get(index, str(index)) for index in indices]
    for index, letter in zip(indices, letters, strict=True):
        if letter not in ENDS:
            yield None
            continue
        first = method.counts_from if letter == "t" else int(letter in "ijn")
        last = size(method, glossary, ENDS[letter])
        # A measure at t alone may look after the last round, at t = T; one at (t, k) is inside a round.
        last = last + first - int("k" in letters) if letter == "t" else last
        yield Range(index, letter, first, last)


def size(method: Method, glossary: Glossary, name: str) -> Formula:
    """The paper's own symbol for a size."""
    own = [symbol for symbol, common in method.names.items() if common == name]
    named = own or [s for s in glossary if isinstance(s, Symbol) and s.name == name]
    return named[0] if named else Symbol(name, positive=True, integer=True)


def measured(method: Method) -> list[MeasureRow]:
    """Every measure: its name at its indices, its dimension, what it is, where its indices go."""
    printer = Printer(method, as_latex=False)
    said = {q: printer.number(number) for q, number in method.measures.items()}
    said |= {q: str(formula) for q, formula in method.formulas.items()}
    return [
        {
            "name": str(q),
            "is": what,
            "dimension": str(_entry(method, q).dim),
            "meaning": _entry(method, q).meaning,
            "for": [str(r) for r in ranges(method, method.glossary, _at(q)) if r is not None],
        }
        for q, what in said.items()
    ]


def symbols(method: Method) -> list[dict[str, str]]:
    """Step sizes and parameters of the rules, then sizes and indices, each with its dimension and meaning."""
    rules = list(method.scalars(()))
    steps = sorted(method.steps(), key=str)
    inside = {x for step in steps for x in step.args}
    plain = sorted({s for e in rules for s in e.free_symbols if s not in inside}, key=str)
    counted = [size(method, method.glossary, name) for name in ("T", "E", "C")]
    indices = {x for q in method.measures for x in _at(q)} | {x for x in inside if isinstance(x, Symbol)}
    rows = [(step, "step size" if step not in method.before else "as it was before") for step in steps]
    rows += [(s, "parameter") for s in plain if s not in counted and s not in indices]
    rows += [(s, "size") for s in counted if s in method.glossary]
    rows += [(s, "index") for s in sorted(indices - set(counted), key=str)]
    return [
        {
            "name": str(s),
            "role": role,
            "dimension": str(_entry(method, s).dim),
            "meaning": _entry(method, s).meaning,
        }
        for s, role in rows
    ]


def understood(method: Method) -> list[AssumptionRow]:
    """The assumptions that say something about runs of this method, and what each one asks of an instance."""
    return [
        {"name": name, "about": one.about, "constants": one.constants, "asks": one.asks + _beside(one)}
        for name, one in ASSUMPTIONS.items()
        if all(any(map(method.uses, group)) for group in one.operations)
    ]


def _beside(assumption: RunAssumption) -> str:
    return f" (beside {assumption.beside})" if assumption.beside else ""


def _at(quantity: Expr) -> tuple[Expr, ...]:
    return quantity.args if isinstance(quantity, AppliedUndef) else ()


def _entry(method: Method, x: Expr) -> Entry:
    key: Formula = x.func if isinstance(x, AppliedUndef) else x
    return method.glossary.get(key) or Entry("", ONE)
