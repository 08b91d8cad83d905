"""Whether a recorded run follows a method, where it leaves it first, and what it follows instead.

Explanations are tried in the order of simplicity: one deviation, then two. Each is a method again, and it explains the
run only if *every* recorded number agrees with it. Several that agree are all reported: this run cannot tell them apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fedaudit.bounds.language.row_list import Recorded

from .deviations import Changed, changes
from .recording import Recording
from .replay import STEPS, Comparison, Data, Difference, Rule, compare
from .sampling_law import SampleTest, sample_test
from .term_fit import Fit, fitted

__all__ = ["Conformity", "Explanation", "conformity"]

MOST_PAIRS = 20_000  # comparisons, a few seconds
MOST_EQUAL = 12  # explanations that are listed


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the run is instead: the deviations, each in words, all of which it takes."""

    deviations: tuple[str, ...]
    rules: tuple[Rule, ...]
    says: tuple[str, ...]

    def __str__(self) -> str:
        return "; and ".join(self.says)


@dataclass(frozen=True, slots=True)
class Conformity(Recorded):
    """The answer of `conform`: whether a run is the stated algorithm, and what it is instead.

    `explanations` all agree with every recorded number; the first is the simplest. `fit` is what least squares makes of
    the first rule that differs, where no explanation was found. `unchecked` says which rules could not be compared.
    """

    method: str
    conforms: bool
    first: Difference | None
    explanations: tuple[Explanation, ...]
    fit: Fit | None
    sampling: SampleTest | None
    checked: tuple[Rule, ...]
    unchecked: dict[str, str] = field(default_factory=dict[str, str])
    task: str = ""
    tolerance: float = 1e-10

    @property
    def deviations(self) -> tuple[str, ...]:
        """The names of the simplest explanation's deviations."""
        return self.explanations[0].deviations if self.explanations else ()

    def row(self) -> dict[str, Any]:
        """As `--json` prints it."""
        at = self.first
        return {
            "id": self.method,
            "task": self.task,
            "conforms": self.conforms,
            "first": None
            if at is None
            else {
                "phase": at.phase,
                "vector": at.vector,
                "round": at.t,
                "step": at.k,
                "client": at.client,
                "residual": at.residual,
                "scale": at.scale,
            },
            "instead": [
                {"deviations": list(e.deviations), "rules": [list(r) for r in e.rules], "says": list(e.says)}
                for e in self.explanations
            ],
            "fit": None if self.fit is None else self.fit.row(),
            "sampling": None if self.sampling is None else self.sampling.row(),
            "checked": [list(rule) for rule in self.checked],
            "unchecked": dict(self.unchecked),
            "tolerance": self.tolerance,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """For people."""
        on = f" on {self.task}" if self.task else ""
        rules = ", ".join(f"{phase} {name}" for phase, name in self.checked)
        if self.conforms:
            yield f"{self.method}{on}: conforms, to {self.tolerance:g} of each vector's size"
            yield f"  compared: {rules}"
        else:
            yield f"{self.method}{on}: DIFFERS"
        if self.first is not None:
            yield f"  first: {_place(self.first)}"
        for n, one in enumerate(self.explanations[:MOST_EQUAL]):
            yield f"  {'instead' if n == 0 else 'or'}: {one} [{', '.join(one.deviations)}]"
        if len(self.explanations) > MOST_EQUAL:
            yield f"  and {len(self.explanations) - MOST_EQUAL} more that this run cannot tell apart"
        if not self.conforms and self.first is not None and not self.explanations:
            yield "  none of the known deviations, and no two of them, give this run"
            yield from (f"  {line}" for line in (self.fit.lines() if self.fit is not None else ()))
        if self.sampling is not None:
            yield f"  sampling: {self.sampling}"
        yield from (f"  not compared: {rule}, it reads {what}" for rule, what in self.unchecked.items())


def _place(at: Difference) -> str:
    where = [f"round {at.t}"]
    where += [f"local step {at.k}"] if at.k is not None else []
    where += [f"client {at.client}"] if at.client is not None else []
    if (at.phase, at.vector) == STEPS:
        return f"the number of local steps, {', '.join(where)}: {at.residual:g} more or fewer than {at.scale:g}"
    what = {"start": "first value of", "idle": "idle client's"}.get(at.phase, f"rule {at.phase} of")
    return f"{what} {at.vector}, {', '.join(where)}: off by {at.residual:.3g} (size of {at.vector}: {at.scale:.3g})"


def conformity(data: Data, run: Recording, *, sampling: str = "any", task: str = "") -> Conformity:
    """The run against the method's rules, and what it is instead."""
    stated = compare(data, run)
    drawn = sample_test(run, sampling)
    explained: tuple[Explanation, ...] = ()
    fit = None
    if stated.first is not None:
        explained = tuple(_explanations(data, run, stated))
        fit = None if explained else fitted(data, run, stated.first)
    return Conformity(
        method=str(data["id"]),
        conforms=stated.first is None and (drawn is None or drawn.agrees),
        first=stated.first,
        explanations=explained,
        fit=fit,
        sampling=drawn,
        checked=tuple(stated.residuals),
        unchecked={" ".join(rule): what for rule, what in stated.unknown.items()},
        task=task,
        tolerance=run.tolerance,
    )


def _explanations(data: Data, run: Recording, stated: Comparison) -> list[Explanation]:
    """One deviation that gives the run, or two."""
    arrays = tuple(run.arrays)
    single = [c for c in changes(data, arrays) if _touches(c, stated, run)]
    fits = _unique(c for c in single if _gives(c.data, run))
    if fits:
        return [Explanation((c.deviation,), (c.rule,), (c.says,)) for c in fits]
    return list(_pairs(single, run, stated, arrays))


def _touches(change: Changed, stated: Comparison, run: Recording) -> bool:
    """Whether a change can matter to a rule that fails: it is that rule, or what it computes was not recorded."""
    return change.rule in stated.failing or change.rule[0] == "idle" or change.rule[1] not in run.vectors


def _gives(data: Data, run: Recording) -> bool:
    outcome = compare(data, run, stop=True)
    return outcome.first is None and not any(np.isinf(size) for size in outcome.residuals.values())


def _unique(found: Iterator[Changed]) -> list[Changed]:
    """Changes that give different rules."""
    kept: dict[str, Changed] = {}
    for change in found:
        kept.setdefault(json.dumps(change.data, sort_keys=True, default=str), change)
    return list(kept.values())


def _pairs(single: Sequence[Changed], run: Recording, stated: Comparison, arrays: tuple[str, ...]) -> Iterator[Explanation]:
    """Two deviations: first those each of which mends a rule, then any two, within a number of comparisons."""
    mends = {id(c): compare(c.data, run).failing for c in single}
    helpful = [c for c in single if mends[id(c)] < stated.failing]
    left = MOST_PAIRS
    for firsts in (helpful, [c for c in single if c not in helpful]):
        names: set[tuple[str, ...]] = set()
        answers: list[Explanation] = []
        for one in firsts:
            failing = mends[id(one)] or stated.failing
            for two in changes(one.data, arrays):
                if two.rule not in failing and two.rule[0] != "idle" and two.rule[1] in run.vectors:
                    continue
                left -= 1
                if left < 0:
                    return
                key = tuple(sorted((one.says, two.says)))
                if key not in names and _gives(two.data, run):
                    names.add(key)
                    answers.append(Explanation((one.deviation, two.deviation), (one.rule, two.rule), (one.says, two.says)))
        if answers:
            yield from answers
            return
