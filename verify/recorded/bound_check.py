"""A recorded trajectory against a statement's bound, term by term, at every index that was recorded.

Floats, one run or several: what comes out is evidence about this run. A bound that it exceeds is refuted by nobody but
the kernel (`fedaudit hunt` looks for an exact counterexample); a bound that it meets is not proved by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sympy.core.function import AppliedUndef

from fedaudit.bounds.catalogue.bound_values import Bound, Plan, plan
from fedaudit.bounds.formulas.evaluator import Undefined
from fedaudit.bounds.formulas.exact_numbers import Missing, computed, formula, value_of
from fedaudit.bounds.formulas.lowering import name_of, tree
from fedaudit.bounds.formulas.trees import Formula
from fedaudit.bounds.language.assumptions import ASSUMPTIONS, COMMON
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from .answer import LEAST, LEVEL, ROUNDING, Checked, Constant, SideCheck
from .client_data import Estimate
from .mean_band import band
from .trajectory import Array

__all__ = ["check_bound", "has_noise"]

PROBED = 40  # indices at which a smaller constant is tried first
ROLES = {COMMON["L"]: "L", COMMON["mu"]: "mu", COMMON["sigma"]: "sigma", "bounded_gradients": "G", "gradients": "G"}
UPPER = ("L", "sigma", "G", "Gamma")  # constants that have to be at least what the data has; mu at most


def check_bound(
    statement: Statement,
    runs: Mapping[str, Array],
    values: Mapping[str, Fraction],
    estimates: Mapping[str, Estimate] | None = None,
    at_most: float | None = None,
) -> Checked:
    """The trajectories (seeds, rounds) by name against the statement at these values; raises `UserError`.

    `at_most`: what the left side of no run is above, which gives its expectation a limit from above.
    """
    if statement.kind not in ("inequality", "identity") or statement.quoted:
        raise UserError(
            f"{statement.id}, {statement.kind}", "an inequality or an identity about runs", "check another one"
        )
    ready = plan(statement)
    index = _index(statement, runs)
    first = 0 if isinstance(statement.method, str) else statement.method.counts_from
    runs, notes = _nonnegative(ready, runs)
    for name in runs:
        ready.known(name)
    by_hand = dict(values)
    estimated = _by_name(statement, estimates or {})
    measured = _entries({name: array.mean(axis=0) for name, array in runs.items()}, first)
    length = max(array.shape[1] for array in runs.values())
    at = {index: Fraction(1 if index == "T" else first)} if index else {}
    needed = [n.name for n in ready.missing({**measured, **by_hand, **at})]
    # Bounds are computed in fractions: that of a float's printed digits is shorter than that of its 53 bits.
    filled = {name: Fraction(repr(float(estimated[name].value))) for name in needed if name in estimated}
    held = {**by_hand, **filled}
    lacking = [n for n in ready.missing({**measured, **held, **at}) if n.name not in runs]
    if lacking:
        names = " ".join(f"{n.name}=…" for n in lacking)
        expected = f"values of {', '.join(map(str, lacking))}"
        raise UserError(f"{statement.id} without {', '.join(n.name for n in lacking)}", expected, f"add {names}")
    ready.check({**held, **measured, **at})
    each = [_entries({k: a[n] for k, a in runs.items()}, first) for n in range(_seeds(runs))]
    walk = _Walk(ready, index, measured, each, at_most)
    places = _places(statement, index, first, length)
    sides = tuple(walk.side(n, r, held, places) for n, r in enumerate(statement.relations))
    ends = [walk.bound(held, int(place)) for place in {sides[0].x[0], sides[0].x[-1]}]
    failing = tuple(dict.fromkeys(text for bound in ends for text in bound.failing))
    chosen = {name_of(step) for step in statement.choose}
    steps = {name: value for name, value in ends[0].computed.items() if name.partition("(")[0] in chosen}
    notes += [
        f"the bound is about runs with {name} = {value.text} at {index} = {sides[0].x[0]}"
        for name, value in steps.items()
    ]
    return Checked(
        statement,
        sides,
        tuple(_constants(statement, walk, held, filled, estimated, sides)),
        failing,
        _is_random(statement, held),
        _seeds(runs),
        tuple(notes),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """The sides of a statement at one index after the other."""

    plan: Plan
    index: str
    measured: Mapping[str, Fraction]
    each: Sequence[Mapping[str, Fraction]]  # the same of every run
    at_most: float | None

    @property
    def steady(self) -> dict[str, Fraction]:
        """What every run measured the same, such as the gap at a common start."""
        return {
            name: x for name, x in self.measured.items() if all(one[name] == self.each[0][name] for one in self.each)
        }

    def scope(self, held: Mapping[str, Fraction], measured: Mapping[str, Fraction], place: int) -> Any:
        return self.plan.scope({**measured, **held, **({self.index: Fraction(place)} if self.index else {})})

    def bound(self, held: Mapping[str, Fraction], place: int) -> Bound:
        return self.plan.at({**self.measured, **held, **({self.index: Fraction(place)} if self.index else {})})

    def rhs(
        self, n: int, held: Mapping[str, Fraction], place: int, measured: Mapping[str, Fraction] | None = None
    ) -> list[float]:
        """The terms of a right side; raises `Missing` and `Undefined`."""
        scope = self.scope(held, self.measured if measured is None else measured, place)
        return [value_of(computed(term, scope)).approx for _, term in self.plan.sides[n].terms]

    def side(self, n: int, relation: Any, held: Mapping[str, Fraction], places: Sequence[int]) -> SideCheck:
        left: Formula[Any] = formula(tree(relation.args[0]))
        rows: list[tuple[int, list[float], list[float]]] = []
        missing = ""
        for place in places:
            try:
                lhs = [value_of(computed(left, self.scope(held, one, place))).approx for one in self.each]
                rows.append((place, lhs, self.rhs(n, held, place)))
            except Missing as error:
                # At the last indices a recursion reads a round that was not recorded; those places are left out.
                missing = error.name
            except Undefined as error:
                where = f"{self.index} = {place}"
                raise UserError(
                    f"no bound at {where} ({error})", "values at which it is a number", "change one"
                ) from error
        ready = self.plan.sides[n]
        if not rows:
            raise UserError(
                f"a run without {missing}",
                f"what {ready.left} and its bound read",
                f"record {missing.partition('(')[0]}",
            )
        x = np.array([place for place, _, _ in rows])
        lhs = np.array([values for _, values, _ in rows]).T
        terms = np.array([values for _, _, values in rows])
        if self.at_most is not None and lhs.max() > self.at_most:
            raise UserError(
                f"{ready.left} = {lhs.max():.6g} in a run",
                f"at most {self.at_most:g}, as was given",
                "give a larger one",
            )
        limited = len(self.each) > 1 and relation.args[0].is_nonnegative and self.is_steady(n, held, x)
        lower, upper = band(lhs, LEVEL, self.at_most) if limited else (None, None)
        texts = [text for text, _ in ready.terms]
        return SideCheck(
            ready.left, ready.relation, self.index or "T", x, lhs, lower, upper, terms.sum(axis=1),
            dict(zip(texts, terms.T, strict=True)),
        )  # fmt: skip

    def is_steady(self, n: int, held: Mapping[str, Fraction], x: Array) -> bool:
        """Whether the right side reads nothing that differs from run to run: else it is an estimate itself."""
        steady = self.steady
        try:
            for place in x:
                self.rhs(n, held, int(place), steady)
        except Missing:
            return False
        return True

    def meets(self, n: int, side: SideCheck, held: Mapping[str, Fraction], which: Array) -> bool:
        """Whether the mean still meets the bound at other values."""
        for k in which:
            try:
                rhs = sum(self.rhs(n, held, int(side.x[k])))
            except (Missing, Undefined, UserError):
                return False
            other = SideCheck(
                side.left, side.relation, side.index, side.x[[k]], side.lhs[:, [k]], None, None, np.array([rhs]), {}
            )
            if other.first is not None:
                return False
        return True


def _constants(
    statement: Statement,
    walk: _Walk,
    held: Mapping[str, Fraction],
    filled: Mapping[str, Fraction],
    found: Mapping[str, Estimate],
    sides: Sequence[SideCheck],
) -> Iterator[Constant]:
    steps = {s.name for v in statement.choose.values() for s in statement.defined(v).free_symbols}
    for name, value in held.items():
        head = name.partition("(")[0]
        if walk.plan.domains.get(head) in ("count", "index") or head == walk.index:
            continue
        estimate = found.get(name)
        covers = None if estimate is None else _covers(name, float(value), estimate, statement)
        slack = None
        if head not in steps and value > 0 and all(side.first is None for side in sides):
            slack = _slack(walk, name, held, sides)
        source = "estimated" if name in filled else "given"
        yield Constant(name, float(value), source, estimate, covers, slack, _is_upper(name, statement))


def _is_upper(name: str, statement: Statement) -> bool:
    """Whether an assumption asks a constant to be large enough; of the common ones only mu has to be small enough."""
    return _roles(statement).get(name, name) in UPPER


def _covers(name: str, value: float, estimate: Estimate, statement: Statement) -> bool | None:
    """Whether a constant is one of the data: as large as what the data has (L, G, ...), or as small (mu).

    None where the estimate is a limit on the safe side alone, so that a value beyond it may be a constant too.
    """
    room = 1 + ROUNDING
    upper = _is_upper(name, statement)
    meets = value * room >= estimate.limit if upper else value <= estimate.limit * room
    safe = estimate.kind == ("at most" if upper else "at least")
    return None if safe and not meets else meets


def _slack(walk: _Walk, name: str, held: Mapping[str, Fraction], sides: Sequence[SideCheck]) -> float | None:
    """How far a constant can move in the direction that makes the bound smaller, with the run still meeting it."""
    some = [np.unique(np.linspace(0, len(side.x) - 1, PROBED).astype(int)) for side in sides]

    def moved(factor: float) -> dict[str, Fraction]:
        return {**held, name: held[name] * Fraction(factor)}

    def meets(factor: float, at: Sequence[Array]) -> bool:
        return all(walk.meets(n, side, moved(factor), at[n]) for n, side in enumerate(sides))

    try:
        less, more = (sum(walk.rhs(0, moved(factor), int(sides[0].x[-1]))) for factor in (0.99, 1 / 0.99))
    except (Missing, Undefined):
        return None
    if less == more:
        return None  # it has no part in the bound here
    way = -1 if less < more else 1
    limit = -float(np.log2(LEAST))
    good, bad = 0.0, limit  # powers of 2
    if meets(2.0 ** (way * limit), some):
        good = limit
    while bad - good > 0.02 and good < limit:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if meets(2.0 ** (way * middle), some) else (good, middle)
    # Bisection looked at some of the indices only; the answer has to hold at all of them.
    whole = [np.arange(len(side.x)) for side in sides]
    return 2.0 ** (way * good) if meets(2.0 ** (way * good), whole) else None


def _roles(statement: Statement) -> dict[str, str]:
    """What a constant of an assumption is commonly called."""
    return {a.args[0].name: ROLES[a.name] for a in (*statement.let, *statement.implicit) if a.args and a.name in ROLES}


def _by_name(statement: Statement, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    roles = {role: name for name, role in _roles(statement).items()}
    return {roles.get(name, name): estimate for name, estimate in estimates.items()}


def _index(statement: Statement, runs: Mapping[str, Array]) -> str:
    """The index along which the claim is checked: one of `for_all`, or T; nothing for a claim about one number."""
    quantities = [q for r in statement.relations for q in r.atoms(AppliedUndef) if name_of(q) in runs]
    if not quantities:
        names = sorted({name_of(q) for r in statement.relations for q in r.atoms(AppliedUndef)})
        raise UserError(
            f"{', '.join(runs) or 'none of its trajectories'} for {statement.id}",
            f"a trajectory of {', '.join(names)}",
            "record it",
        )
    inside = {s for q in quantities for a in q.args for s in a.free_symbols}
    of_all = [s for s in statement.for_all if s in inside]
    return of_all[0].name if of_all else next((s.name for s in inside), "")


def _places(statement: Statement, index: str, first: int, length: int) -> range:
    """The indices that are tried: all that were recorded; the last one alone where step sizes depend on T."""
    if not index:
        return range(first, first + 1)
    if index != "T":
        return range(first, first + length)
    # The first rounds of a run are a run of fewer rounds, unless its step sizes were chosen for all of them.
    chosen = {s.name for v in statement.choose.values() for s in statement.defined(v).free_symbols}
    return range(length - 1, length) if "T" in chosen else range(1, max(2, length))


def _entries(rows: Mapping[str, Array], first: int) -> dict[str, Fraction]:
    return {f"{name}({first + n})": Fraction(float(x)) for name, row in rows.items() for n, x in enumerate(row)}


def _nonnegative(ready: Plan, runs: Mapping[str, Array]) -> tuple[dict[str, Array], list[str]]:
    """Trajectories without the small negative numbers that rounding leaves where a quantity is none."""
    kept, notes = dict(runs), list[str]()
    for name, array in runs.items():
        if ready.domains.get(name) != "nonnegative" or array.min() >= 0:
            continue
        if array.min() < -ROUNDING * np.abs(array).max():
            run, entry = np.argwhere(array < 0)[0]
            got = f"{name} = {array[run, entry]:.6g} as entry {entry} of run {run}"
            raise UserError(got, f"a number from 0 on ({ready.meaning(name)})", "record what the statement means")
        kept[name] = np.maximum(array, 0)
        notes.append(f"{name} has values down to {array.min():.2g}, read as 0")
    return kept, notes


def _seeds(runs: Mapping[str, Array]) -> int:
    return next(iter(runs.values())).shape[0]


def _is_random(statement: Statement, held: Mapping[str, Fraction]) -> bool:
    """Whether the bound is about runs with noise or sampling."""
    several = (*statement.let, *statement.implicit)
    about = {record.about for a in several if (record := ASSUMPTIONS.get(a.name)) and a.name != "full_participation"}
    return "participation" in about or has_noise(statement, held)


def has_noise(statement: Statement, held: Mapping[str, Fraction]) -> bool:
    """Whether the bound is about stochastic gradients; they have no noise where all its bounds were given as 0."""
    several = (*statement.let, *statement.implicit)
    about = [a for a in several if (record := ASSUMPTIONS.get(a.name)) and record.about == "noise"]
    bounds = [s.name for a in about for s in a.args]
    return bool(about) and not (bounds and all(held.get(name) == 0 for name in bounds))
