"""Ordinary points: condition numbers 2, 10 and 100, a few clients, local steps and rounds, each with a name.

They stay away from corners where a claim says little: t = 0, L = mu, empty sums. All that a statement does not draw is
1, noise and the errors of answers are 0, of sampled clients all take part, and what bounds the run alone (G) is left
open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq

from fedaudit.bounds.language.assumptions import ASSUMPTIONS
from fedaudit.errors import UserError

from ..kernel import Malformed, Rejected
from ..kernel.core.expression import Evaluator, Op, Tree, free, parse
from ..kernel.core.rational import Node
from ..kernel.core.world import tabled
from ..settings.base import Json, Reading, rules
from .parameters import Point, RunClaim, Steps, point_at, whole

__all__ = ["ORDINARY", "Ordinary", "points_at", "proposed"]

KNOB = Fraction(1, 2)  # of what a statement draws
SHORT = 1000  # the largest denominator of a drawn number that is irrational by rights
SMOOTH = tuple(name for name, record in ASSUMPTIONS.items() if record.curvature and record.curvature[1] == 1)
CURVED = tuple(name for name, record in ASSUMPTIONS.items() if record.letter == "mu")
PLAIN = 2  # L of a statement without any mu, where only its scale would change
ROUNDS = ("t", "R", "r")  # what papers call a round


@dataclass(frozen=True, slots=True)
class Ordinary:
    """A condition number, clients, local steps, and rounds."""

    kappa: int | Fraction
    C: int
    E: int
    t: int

    def name(self, letters: Mapping[str, str], t: int) -> str:
        """E.g. kappa 10, C 2, E 4, t 2, of what the statement has a letter for; `t`: as it counts rounds or steps.

        Sampled clients are as many as there are, m = C.
        """
        numbers = {"kappa": self.kappa, "C": self.C, "m": self.C, "E": self.E, "t": t}
        return ", ".join(f"{letters[what]} {n}" for what, n in numbers.items() if what in letters)


# Cheap ones first; the later ones are for larger budgets.
ORDINARY = (
    Ordinary(2, 2, 1, 1),
    Ordinary(10, 2, 4, 1),
    Ordinary(10, 2, 1, 2),
    Ordinary(10, 5, 1, 1),
    Ordinary(100, 2, 1, 4),
    Ordinary(10, 2, 4, 2),
    Ordinary(100, 2, 4, 1),
    Ordinary(2, 2, 4, 2),
    Ordinary(10, 5, 4, 1),
    Ordinary(10, 2, 4, 4),
    Ordinary(10, 5, 4, 2),
)


def proposed(reading: Reading) -> Iterator[list[tuple[Ordinary, list[Point]]]]:
    """What every ordinary point may be for this statement: as it is, then with one client or local step.

    Each is one point per relation, all with one name.
    """
    run_claim = RunClaim.of(reading)
    for ordinary in ORDINARY:
        steps = ordinary.E if run_claim.method.phases["local"] else 1
        tried = dict.fromkeys((C, E) for C in (ordinary.C, 1) for E in (steps, 1))
        variants = [replace(ordinary, C=C, E=E) for C, E in tried]
        yield [(at, points) for at in variants if (points := points_at(run_claim, reading, at))]


def points_at(
    run_claim: RunClaim, reading: Reading, at: Ordinary, knob: Fraction = KNOB, noise: int = 0
) -> list[Point]:
    """One per relation; none where the statement has no such sizes. `noise`: what bounds it, where a run may have some.

    `knob`: what a statement draws, as a share of its range.
    """
    sizes = _sizes(run_claim, at)
    if sizes is None:
        return []
    values, steps = _values(run_claim, reading, at, sizes, knob, noise)
    if not set(run_claim.steps) <= {*steps, *values}:
        return []
    index, letters, points = _round(run_claim), _letters(run_claim, at), list[Point]()
    for number in range(len(run_claim.claim.then)):
        try:
            point = point_at(run_claim, sizes, values, number, steps)
        except UserError:  # a claim may have no index at these sizes
            continue
        points.append(replace(point, name=at.name(letters, point.at.get(index, sizes["T"]))))
    return points


def _letters(run_claim: RunClaim, at: Ordinary) -> dict[str, str]:
    """What the name of a point tells, and the letters for it."""
    claim = run_claim.claim
    letters = {"kappa": "kappa"} if _named(run_claim, SMOOTH) and _named(run_claim, CURVED) else {}
    letters |= {
        size: run_claim.sizes[size] for size in "CE" if run_claim.sizes[size] in claim.domains or getattr(at, size) > 1
    }
    letters |= {"m": run_claim.drawn} if run_claim.sampling else {}
    index, T = _round(run_claim), run_claim.sizes["T"]
    return letters | ({"t": index} if index else {"t": T} if T in claim.domains or at.t > 1 else {})


def _named(run_claim: RunClaim, assumptions: tuple[str, ...]) -> list[str]:
    """Constants of these assumptions."""
    return [args[0] for name, args in (*run_claim.claim.let, *run_claim.claim.implicit) if name in assumptions]


def _round(run_claim: RunClaim) -> str:
    """The index that runs over rounds, if there is one."""
    T = run_claim.sizes["T"]
    ends = {name: {n for n, _ in free(high)} for name, (_, high) in run_claim.claim.for_all.items()}
    return next((name for name in ROUNDS if T in ends.get(name, ())), "")


def _sizes(run_claim: RunClaim, at: Ordinary) -> dict[str, int] | None:
    """Sizes of a run in which round t is the last one that the claim speaks of; steps where t counts those.

    A claim that looks into round t, or at what follows it, may speak of the first of t rounds as round 0.
    """
    index, claim = _round(run_claim), run_claim.claim
    unit = at.E if run_claim.method.steps else 1
    earlier = int(unit > 1 or _looks_ahead(run_claim, index))
    for T in (unit * at.t, unit * (at.t + 1)):
        sizes = {"C": at.C, "E": at.E, "T": T}
        if not index:
            return sizes
        by_letter = {letter: Fraction(sizes[size]) for size, letter in run_claim.sizes.items()}
        try:
            last = whole(claim.for_all[index][1], by_letter, claim)
        except (Malformed, Rejected):
            return sizes
        if last >= unit * at.t - earlier:
            return sizes
    return None


def _looks_ahead(run_claim: RunClaim, index: str) -> bool:
    """Whether a side reads steps of round t, or the round after it."""
    measures = run_claim.method.measures
    for part in (part for _, *sides in run_claim.claim.then for side in sides for part in _quantities(side)):
        name, *indices = part.args
        if str(name) in measures and "k" in measures[str(name)].at:
            return True
        if any(isinstance(one, Op) and index in {n for n, _ in free(one)} for one in indices):
            return True
    return False


def _quantities(tree: Tree) -> Iterator[Op]:
    """Every indexed quantity in a tree."""
    if isinstance(tree, Op):
        if tree.name == "at":
            yield tree
        for arg in tree.args:
            yield from _quantities(arg)


def _values(
    run_claim: RunClaim, reading: Reading, at: Ordinary, sizes: Mapping[str, int], knob: Fraction, noise: int
) -> tuple[dict[str, Fraction], dict[str, Steps]]:
    """Constants, parameters, and the step sizes that a statement draws."""
    lowered = reading.lowered
    curved = _named(run_claim, CURVED)
    named = dict.fromkeys(_named(run_claim, SMOOTH), Fraction(at.kappa if curved else PLAIN))
    open_ = {*run_claim.measured, *run_claim.noise, *lowered.sweep}
    values = {n: named.get(n, Fraction(1)) for n in (*run_claim.constants, *run_claim.parameters) if n not in open_}
    numbers = values | {run_claim.sizes[size]: Fraction(n) for size, n in sizes.items()}
    loud = dict.fromkeys(run_claim.noise, Fraction(noise))
    numbers |= dict.fromkeys(lowered.knobs, knob) | loud
    numbers |= {run_claim.drawn: Fraction(sizes["C"])} if run_claim.drawn in run_claim.claim.domains else {}
    steps: dict[str, Steps] = {}
    for name, rule in rules(lowered):
        try:
            _draw(run_claim, name, rule, numbers, sizes, steps)
        except (Malformed, Rejected):
            break
    drawn = [
        name
        for name in (*run_claim.constants, *run_claim.parameters)
        if name in numbers and name not in run_claim.noise
    ]
    return values | (loud if noise else {}) | {name: numbers[name] for name in drawn}, steps


def _draw(
    run_claim: RunClaim,
    name: str,
    rule: Json,
    numbers: dict[str, Fraction],
    sizes: Mapping[str, int],
    steps: dict[str, Steps],
) -> None:
    """A parameter or a step size that a statement draws, at this point; one that is irrational is shortened."""
    # A step size that the statement chooses is computed by the kernel.
    if rule["index"] and name in run_claim.claim.choose:
        return
    tree, indices = parse(Node(rule["value"], "sweep")), list(rule["index"])
    values = {n: fmpq(x.numerator, x.denominator) for n, x in numbers.items()}
    evaluator = Evaluator(tabled(values, {}), dict.fromkeys(values, "real"))

    def at(*place: int) -> str:
        x = evaluator.value(tree, dict(zip(indices, place, strict=True)))
        return str(x) if isinstance(x, fmpq) else str(Fraction(float(x.mid())).limit_denominator(SHORT))

    first = run_claim.method.counts_from
    rounds = range(first, first + sizes["T"])
    if not indices:
        numbers[name] = Fraction(at())
    elif len(indices) == 1:
        steps[name] = [at(t) for t in rounds]
    else:
        steps[name] = [[at(t, k) for k in range(sizes["E"])] for t in rounds]
