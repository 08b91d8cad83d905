"""Whether a recorded run follows a method, where it leaves it first, and what it follows instead.

Explanations are tried in the order of simplicity: one deviation, then two, then one of each rule. Each is a method
again, and it explains the run only if *every* recorded number agrees with it. Several that agree are all reported: this
run does not tell them apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fedaudit.bounds.language.row_list import Recorded

from .deviations import DEVIATIONS, Changed, changes
from .recording import Recording
from .replay import STEPS, Comparison, Data, Difference, Rule, compare, whole_phases
from .sampling_law import SampleTest, sample_test
from .term_fit import Fit, fitted

__all__ = ["Conformity", "Explanation", "conformity"]

MOST_PAIRS = 12_000  # comparisons, a few seconds
UNUSUAL = ("wrong-point", "wrong-factor", "lost-factor")  # many candidates each: as one of two they are tried last
MOST_RULES = 6  # that are mended together, one deviation each
MOST_EQUAL = 12  # explanations that are listed


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the run is instead: the deviations, each in words, all of which it takes."""

    deviations: tuple[str, ...]
    rules: tuple[Rule, ...]
    says: tuple[str, ...]

    def row(self) -> dict[str, object]:
        return {"deviations": list(self.deviations), "rules": [list(r) for r in self.rules], "says": list(self.says)}

    def __str__(self) -> str:
        return "; and ".join(self.says)


@dataclass(frozen=True, slots=True)
class Conformity(Recorded):
    """The answer of `conform`: whether a run is the stated algorithm, and what it is instead.

    `explanations` all agree with every recorded number; the first is the simplest. Where there is none, `partly` has
    what explains each rule that can be explained alone, `unexplained` are the other rules that differ, and `fit` is
    what least squares makes of the first of these. `unchecked` says which rules could not be compared.

    >>> import fedaudit as fa
    >>> run = {"x": [[1.0], [0.4]], "y": [[[0.5], [0.3]]], "counts": [1, 3], "gamma": 0.1}
    >>> answer = fa.conform("fedavg", run)
    >>> answer.conforms, answer.deviations, answer.first.vector
    (False, ('weights',), 'x')
    """

    method: str
    conforms: bool
    first: Difference | None
    explanations: tuple[Explanation, ...]
    partly: Explanation | None
    unexplained: tuple[Rule, ...]
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

    def row(self) -> dict[str, object]:
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
            "instead": [explanation.row() for explanation in self.explanations],
            "partly": None if self.partly is None else self.partly.row(),
            "unexplained": [list(rule) for rule in self.unexplained],
            "fit": None if self.fit is None else self.fit.row(),
            "sampling": None if self.sampling is None else self.sampling.row(),
            "checked": [list(rule) for rule in self.checked],
            "unchecked": dict(self.unchecked),
            "tolerance": self.tolerance,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The answer in lines, for people."""
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
        if self.partly is not None:
            for name, (phase, vector), says in zip(
                self.partly.deviations, self.partly.rules, self.partly.says, strict=True
            ):
                yield f"  rule {phase} of {vector}: {says} [{name}]"
        if self.unexplained:
            rest = " and ".join(f"{phase} of {vector}" for phase, vector in self.unexplained)
            yield f"  rule {rest}: none of the known deviations, and no two of them"
            yield from (f"    {line}" for line in (self.fit.lines() if self.fit is not None else ()))
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


def conformity(data: Data, runs: Mapping[str, Recording], *, sampling: str = "any") -> Conformity:
    """The runs (by the names of what they were trained on) against the method's rules, and what they are instead."""
    stated = {name: compare(data, run) for name, run in runs.items()}
    drawn = [test for run in runs.values() if (test := sample_test(run, sampling)) is not None]
    unlike = next((test for test in drawn if not test.agrees), None)
    wrong = [name for name, outcome in stated.items() if outcome.first is not None]
    shown = wrong[0] if wrong else next(iter(runs))
    explained: tuple[Explanation, ...] = ()
    partly, left, fit = None, tuple[Rule, ...](), None
    if wrong:
        search = _Search(data, tuple((runs[name], stated[name]) for name in (*wrong, *(runs.keys() - set(wrong)))))
        explained = tuple(search.explanations())
        mends = [] if explained else search.each_rule_alone()
        # Every change is of the method with those before it, so the last one has all of them.
        if mends and search.gives(mends[-1].data):
            explained = (_together(mends),)
        if not explained:
            partly = _together(mends) if mends else None
            rest = compare(mends[-1].data if mends else data, runs[shown])
            left = tuple(rule for rule in stated[shown].residuals if rule in rest.failing)
            fit = None if rest.first is None else fitted(data, runs[shown], rest.first)
    rules = {rule: None for outcome in stated.values() for rule in outcome.residuals}
    unknown = {" ".join(rule): what for outcome in stated.values() for rule, what in outcome.unknown.items()}
    return Conformity(
        method=str(data["id"]),
        conforms=not wrong and unlike is None,
        first=stated[shown].first,
        explanations=explained,
        partly=partly,
        unexplained=left,
        fit=fit,
        sampling=unlike or (drawn[0] if drawn else None),
        checked=tuple(rules),
        unchecked={rule: what for rule, what in unknown.items() if tuple(rule.split(" ", 1)) not in rules},
        task=", ".join(name for name in (wrong or runs) if name),
        tolerance=max(run.tolerance for run in runs.values()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Deviations that give all runs, the first of which leaves the rules."""

    data: Data
    runs: tuple[tuple[Recording, Comparison], ...]

    @property
    def leading(self) -> tuple[Recording, Comparison]:
        return self.runs[0]

    def explanations(self) -> list[Explanation]:
        """One deviation that gives the runs, or two."""
        arrays = tuple(self.leading[0].arrays)
        single = [change for change in changes(self.data, arrays) if self.touches(change)]
        fits = _unique(change for change in single if self.gives(change.data))
        if fits:
            return [Explanation((c.deviation,), (c.rule,), (c.says,)) for c in fits]
        return list(self.pairs(single, arrays))

    def touches(self, change: Changed) -> bool:
        """Whether a change can matter to a rule that fails: it is that rule, or what it computes was not recorded."""
        failing = {rule for _, stated in self.runs for rule in stated.failing}
        return change.rule in failing or change.rule[0] == "idle" or change.rule[1] not in self.leading[0].vectors

    def gives(self, data: Data) -> bool:
        """Whether these rules give every recorded number; what the stated rules could compute, they have to as well."""
        for run, stated in self.runs:
            outcome = compare(data, run, stop=True, sure=self.sure(data, run, stated))
            if outcome.first is not None or not outcome.unknown.keys() <= stated.unknown.keys():
                return False
        return True

    def sure(self, data: Data, run: Recording, stated: Comparison) -> frozenset[str]:
        """Phases that need not be compared again: recorded whole, in agreement, and the same rules."""
        wrong = {phase for phase, _ in stated.failing}
        same = "loop" not in data and data.get("everyone") == self.data.get("everyone")
        return frozenset(p for p in whole_phases(self.data, run) if same and p not in wrong and data[p] == self.data[p])

    def each_rule_alone(self) -> list[Changed]:
        """For every rule that fails, one deviation or two of it that mend it; a rule that none mends is passed over.

        Every rule is compared from what was recorded before it, so that the slip of one does not hide that of another.
        Each of the changes is of the method with those before it.
        """
        mends = list[Changed]()
        for rule in self.leading[1].residuals:
            data = mends[-1].data if mends else self.data
            before = [compare(data, run).failing for run, _ in self.runs]
            if len(mends) < MOST_RULES and rule in before[0]:
                mends += next(self.mending(rule, data, before), ())
        return mends

    def mending(self, rule: Rule, data: Data, before: Sequence[frozenset[Rule]]) -> Iterator[tuple[Changed, ...]]:
        """Deviations, then pairs of them, that take a rule off those that fail, on every run, and add none."""

        def candidates(data: Data) -> list[Changed]:
            every = changes(data, tuple(self.leading[0].arrays))
            return [c for c in every if c.rule == rule or c.rule[1] not in self.leading[0].vectors]

        def mends(change: Changed) -> bool:
            after = (compare(change.data, run).failing for run, _ in self.runs)
            return all(now <= then - {rule} for now, then in zip(after, before, strict=True))

        single = candidates(data)
        yield from ((change,) for change in single if mends(change))
        pairs = ((one, two) for one in single for two in candidates(one.data))
        yield from ((one, two) for one, two in islice(pairs, MOST_PAIRS // 4) if mends(two))

    def pairs(self, single: Sequence[Changed], arrays: tuple[str, ...]) -> Iterator[Explanation]:
        """Two deviations: first those each of which mends a rule, then any two, within a number of comparisons."""
        run, stated = self.leading
        failing = [compare(change.data, run).failing for change in single]
        mending = [n for n, left in enumerate(failing) if left < stated.failing]
        others = [n for n in range(len(single)) if n not in mending]
        usual = [n for n in others if single[n].deviation not in UNUSUAL]
        budget = MOST_PAIRS
        for chosen, unusual in ((mending, True), (usual, False), (others, True)):
            answers: dict[tuple[str, ...], Explanation] = {}
            for n in chosen:
                if answers and chosen is not mending:  # one answer of a long search is enough
                    break
                one = single[n]
                for two in changes(one.data, arrays):
                    relevant = two.rule in failing[n] or two.rule[0] == "idle" or two.rule[1] not in run.vectors
                    key = tuple(sorted((one.says, two.says)))
                    if not relevant or key in answers or (two.deviation in UNUSUAL and not unusual):
                        continue
                    if chosen is not mending and _rank(two.deviation) < _rank(one.deviation):
                        continue  # the two were tried the other way round
                    budget -= 1
                    if budget < 0:
                        return
                    if self.gives(two.data):
                        names, rules = (one.deviation, two.deviation), (one.rule, two.rule)
                        answers[key] = Explanation(names, rules, (one.says, two.says))
            if answers:
                yield from sorted(answers.values(), key=_simplicity)
                return


def _together(several: Sequence[Changed]) -> Explanation:
    return Explanation(*(tuple(part) for part in zip(*((c.deviation, c.rule, c.says) for c in several), strict=True)))


ORDER = tuple(deviation.name for deviation in DEVIATIONS)


def _simplicity(explanation: Explanation) -> tuple[bool, int]:
    """Two slips of two rules are likelier than two of one; then the order of the library."""
    return explanation.rules[0] == explanation.rules[1], sum(map(_rank, explanation.deviations))


def _rank(deviation: str) -> int:
    return ORDER.index(deviation) if deviation in ORDER else len(ORDER)


def _unique(found: Iterator[Changed]) -> list[Changed]:
    """Changes that give different rules."""
    kept: dict[str, Changed] = {}
    for change in found:
        kept.setdefault(json.dumps(change.data, sort_keys=True, default=str), change)
    return list(kept.values())
