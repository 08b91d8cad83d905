"""What a proof says of runs, measured on exact runs: a judgement and a run that disagree are a fault of ours.

A judgement is about all instances of its claim. So it is evaluated in the kernel's own worlds, on instances that the
kernel admits, at values of the claim's indices in their ranges and of the proof's letters in their domains; where one
of its hypotheses fails it says nothing. What only the proof measures is measured as the method's own measures are. A
judgement also says that its sides are numbers, wherever those of the claim are.

Nothing is concluded from agreement, and no verdict from disagreement: then a rule, the reading of a method or an exact
run is wrong, and that is said aloud.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, Any, cast

from flint import arb, ctx, fmpq

from .. import kernel
from ..kernel.core.budget import TooLarge, metered
from ..kernel.core.claim import Claim
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import (
    Evaluator,
    Op,
    Relation,
    Tree,
    Unsure,
    Value,
    free,
    inhabits,
    outcome,
    parse,
    parse_relation,
)
from ..kernel.core.rational import Malformed, Node, Rejected, shown
from ..kernel.core.read_method import read as read_method
from ..kernel.core.world import World
from ..kernel.proofs.forms import substituted
from ..kernel.proofs.judgement import Judgement, told
from .edges import instances

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["THOROUGH", "USUAL", "Disagreement", "Effort", "Measured", "Unmeasured", "measure", "measure_on"]

PRECISIONS = (64, 256)  # bits: equal numbers that are irrational stay undecided at any
NUMBERS = {
    "real": ("0", "-1", "1", "-2/3", "3"),
    "nonnegative": ("0", "1", "1/2", "5/2"),
    "positive": ("1", "1/2", "1/100", "7/3"),
}
REPLAY = 150_000  # operations of one replay: fifty short runs say more than one with a thousand samples
MOST = 6  # of a letter that stands for a whole number
WHOLE = {"index": 0, "count": 1, "client": 1}  # domains of whole numbers, and the least of each


class Unmeasured(Enum):
    """Why a judgement was evaluated nowhere."""

    FORMULAS = "a claim about formulas has no runs"
    NO_INSTANCE = "no exact instance of the claim was drawn"
    UNKNOWN = "it speaks of what no run measures"
    HYPOTHESES = "its hypotheses hold nowhere that was tried"
    BEYOND = "beyond the runs that were tried"
    UNDECIDED = "its sides are too close, or too long, to be told apart"


class Disagreement(RuntimeError):
    """A judgement that the kernel accepted fails on an exact run that the kernel admits."""

    def __init__(self, identifier: str, number: int, rule: str, relation: str, sides: str, where: str) -> None:
        self.id, self.number, self.rule = identifier, number, rule
        super().__init__(
            f"the proof of {identifier} and an exact run disagree: judgement {number} ({rule}), {relation}: {sides}, "
            f"at {where}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.args[0], self.id, self.number, self.rule)


def _again(message: str, identifier: str, number: int, rule: str) -> Disagreement:
    """The error as another process raised it, made from its parts."""
    error = Disagreement(identifier, number, rule, "", "", "")
    error.args = (message,)
    return error


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried: admitted instances, evaluations over all judgements, places of one judgement per instance."""

    runs: int = 50
    evaluations: int = 1_600
    places: int = 2


USUAL = Effort()
THOROUGH = Effort(runs=200, evaluations=10**9, places=8)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one proof: instances, judgements, evaluations, and the judgements that were not, by why."""

    runs: int
    judgements: int
    evaluations: int
    unmeasured: Mapping[Unmeasured, int]

    def row(self) -> dict[str, Any]:
        told = {reason.value: count for reason, count in self.unmeasured.items()}
        return {"runs": self.runs, "judgements": self.judgements, "evaluations": self.evaluations, "unmeasured": told}


# --- what a proof says -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """One judgement with its names written out, and what it speaks of."""

    number: int
    rule: str
    judgement: Judgement
    letters: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProofReading:
    """A proof file as it is measured: its claim with what only the proof measures, its letters and judgements."""

    raw: dict[str, Any]
    claim: Claim
    letters: Mapping[str, str]
    judgements: Sequence[Told]
    clients: str  # the claim's letter for their number


def read(file: Mapping[str, Any]) -> ProofReading:
    """The reading of a file that the kernel has accepted."""
    letters, names = cast("dict[str, str]", file.get("letters", {})), names_of(file)
    judgements = [_told(n, raw, names, letters) for n, raw in enumerate(file["judgements"])]
    raw = _extended(file["claim"], file.get("frame", {}))
    names_of_sizes: dict[str, str] = raw.get("method", {}).get("names", {})
    clients = next((letter for letter, size in names_of_sizes.items() if size == "C"), "C")
    return ProofReading(raw, read_claim(Node(raw, "claim")), letters, judgements, clients)


def names_of(file: Mapping[str, Any]) -> dict[str, Tree]:
    """The letters that stand for formulas, each with its formula in symbols of the claim."""
    names: dict[str, Tree] = {}
    for name, formula in file.get("names", {}).items():
        names[name] = substituted(parse(Node(formula, "names")), names)
    return names


def _told(number: int, raw: Mapping[str, Any], names: Mapping[str, Tree], letters: Mapping[str, str]) -> Told:
    relations = [parse_relation(Node(one, "judgement")) for one in (raw["says"], *raw.get("under", ()))]
    says, *under = (_put(relation, names) for relation in relations)
    spoken = {name for _, *sides in (says, *under) for side in sides for name, _ in free(side)}
    return Told(number, raw["rule"], Judgement(says, tuple(under)), tuple(sorted(spoken & set(letters) - set(names))))


def _put(relation: Relation, values: Mapping[str, Tree]) -> Relation:
    name, left, right = relation
    return (name, substituted(left, values), substituted(right, values)) if values else relation


def _needs(method: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    """What the rules of a method, as data, read of the claim."""
    return read_method(Node(method, "method")).needs


def _extended(claim: Mapping[str, Any], frame: Mapping[str, Any]) -> dict[str, Any]:
    """The claim whose method measures besides what only the proof does; measures have no sign but their value's.

    A quantity of vectors that no run has (ghosts) is left out: what speaks of it is not measured.
    """
    if "method" not in claim:
        return dict(claim)
    method: dict[str, Any] = dict(claim["method"])
    needs = _needs(method)
    for part in ("measures", "before"):
        for name, entry in frame.get(part, {}).items():
            wider = {**method, part: {**method.get(part, {}), name: entry}}
            try:
                wanted = _needs(wider)
            except (Malformed, Rejected):
                continue
            if {symbol for symbol, _ in wanted - needs} <= set(claim["domains"]):  # other numbers no instance gives
                method, needs = wider, wanted
    measured = [*method["measures"], *method.get("before", {})]
    domains = {**claim["domains"], **dict.fromkeys(measured, "real")}
    return {**claim, "method": method, "domains": domains}


# --- one instance ----------------------------------------------------------------------------------------------------


class _Beyond(Rejected):
    """What a world does not have: an index out of its range, a measure that does not exist there."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A world that says of what it does not have that it does not have it."""

    world: World

    def value(self, name: str) -> fmpq:
        return self.world.value(name)

    def at(self, name: str, indices: tuple[int, ...]) -> Value:
        try:
            return self.world.at(name, indices)
        except TooLarge:
            raise
        except Rejected as error:
            raise _Beyond(str(error)) from None


@dataclass(frozen=True, slots=True, eq=False)
class LetterValues:
    """Values of the claim's indices and of the proof's letters."""

    whole: Mapping[str, int]
    numbers: Mapping[str, Tree]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {x}" for name, x in (*self.whole.items(), *self.numbers.items()))


@dataclass(frozen=True, slots=True, eq=False)
class AdmittedRun:
    """One admitted instance of the claim, in which relations are decided."""

    reading: ProofReading
    run: _Run
    raw: Mapping[str, Any]
    ranges: Mapping[str, range]  # of the claim's own indices

    @classmethod
    def of(cls, reading: ProofReading, world: World, raw: Mapping[str, Any]) -> AdmittedRun:
        evaluator = Evaluator(_Run(world), reading.claim.domains)
        ends = {index: [evaluator.integer(end, {}) for end in both] for index, both in reading.claim.for_all.items()}
        return cls(reading, _Run(world), raw, {index: range(low, high + 1) for index, (low, high) in ends.items()})

    def decided(self, relation: Relation, place: LetterValues) -> bool | Unmeasured:
        """Whether a relation holds there, for certain; False also where a side is certainly no number."""
        name, *sides = _put(relation, place.numbers)
        evaluator = Evaluator(self.run, self.reading.claim.domains)
        try:
            for bits in PRECISIONS:
                with ctx.workprec(bits):
                    left, right = (evaluator.value(side, place.whole) for side in sides)
                    holds = outcome(name, left, right)
                if holds is not None:
                    return holds
        except Malformed:
            return Unmeasured.UNKNOWN
        except _Beyond:
            return Unmeasured.BEYOND
        except (Unsure, TooLarge):
            return Unmeasured.UNDECIDED
        except Rejected:
            return False if any(_undefined(side, place.whole, evaluator) for side in sides) else Unmeasured.UNDECIDED
        return Unmeasured.UNDECIDED

    def sides(self, relation: Relation, place: LetterValues) -> str:
        """Both sides of a relation that fails, for a message."""
        evaluator, shown_sides = Evaluator(self.run, self.reading.claim.domains), list[str]()
        for side in _put(relation, place.numbers)[1:]:
            try:
                shown_sides.append(kernel.claimed(evaluator.value(side, place.whole)))
            except Rejected:
                shown_sides.append("no number")
        return f"left {shown(shown_sides[0])}, right {shown(shown_sides[1])}"

    def places(self, letters: Sequence[str], count: int, rng: Random) -> Iterator[LetterValues]:
        """Values of all indices and letters: in turn at ends of their ranges, the least more often, and anywhere."""
        domains = self.reading.letters
        if not all(self.ranges.values()):
            return
        choices: dict[str, Sequence[int]] = {**self.ranges}
        choices |= {name: self._numbers(domains[name]) for name in letters if domains[name] in WHOLE}
        numbers = {name: self._values(domains[name]) for name in letters if domains[name] not in WHOLE}
        for n in range(count):
            ends_alone = n % 2 == 0
            chosen = {name: rng.choice((x[0], x[0], x[-1]) if ends_alone else x) for name, x in choices.items()}
            yield LetterValues(chosen, {name: rng.choice(x) for name, x in numbers.items()})

    def _numbers(self, domain: str) -> range:
        """Whole numbers for a letter: as many as the run has clients, rounds or steps."""
        values = self.run.world.values
        sizes = [int(x.p) for x in values.values() if x.q == 1 and 0 < x <= MOST]
        own = [int(x.p) for name, x in values.items() if domain == "client" and name == self.reading.clients]
        return range(WHOLE[domain], max(own or (*sizes, 2)) + 1)

    def _values(self, domain: str) -> list[fmpq]:
        """Numbers for a letter: some of its domain, and those that the instance itself has."""
        own: list[fmpq] = []
        for name, x in self.run.world.values.items():
            try:
                own.append(inhabits(name, x, domain))
            except Rejected:
                continue
        return [*map(fmpq, NUMBERS[domain]), *own]


def _undefined(tree: Tree, scope: Mapping[str, int], evaluator: Evaluator) -> bool:
    """Whether a side is certainly no number: 0 to a negative power, a root or logarithm of a negative number, a sum
    whose end lies before its beginning.
    """
    if not isinstance(tree, Op) or tree.name == "at":
        return False
    try:
        if tree.name == "sum":
            low, high = (evaluator.integer(end, scope) for end in tree.args[1:3])
            inside = [{**scope, str(tree.args[0]): n} for n in range(low, high + 1)]
            return high < low - 1 or any(_undefined(tree.args[3], more, evaluator) for more in inside)
        if any(_undefined(part, scope, evaluator) for part in tree.args):
            return True
        values = [evaluator.value(part, scope) for part in tree.args]
    except (Malformed, Rejected):
        return False
    if tree.name == "log":
        return values[0] <= 0
    if tree.name != "^" or isinstance(values[1], arb):
        return False
    return bool((values[0] == 0 and values[1] < 0) or (values[0] < 0 and values[1].q != 1))


# --- a whole proof ---------------------------------------------------------------------------------------------------


def measure(statement: Statement, file: Mapping[str, Any], effort: Effort = USUAL) -> Measured:
    """Measure every judgement of an accepted proof; raise `Disagreement` where one fails on an exact run."""
    if file["claim"]["setting"] == "order":
        return Measured(0, 0, 0, {Unmeasured.FORMULAS: len(file["judgements"])})
    return measure_on(file, instances(statement, effort.runs), effort)


def measure_on(file: Mapping[str, Any], candidates: Iterator[Mapping[str, Any]], effort: Effort) -> Measured:
    """Measure every judgement of an accepted proof on the first of these instances that the kernel admits."""
    reading = read(file)
    tally = _Tally(reading, effort, Random(str(file["statement"])))
    runs = 0
    for raw in candidates:
        if runs == effort.runs:
            break
        instance = _admitted(reading, raw)
        if instance is not None:
            tally.add(instance, runs)
            runs += 1
    return tally.measured(runs)


def _admitted(reading: ProofReading, raw: Mapping[str, Any]) -> AdmittedRun | None:
    try:
        with metered(REPLAY):
            world = kernel.admit(reading.raw, raw)
    except (Malformed, Rejected):
        return None
    return AdmittedRun.of(reading, world, raw) if isinstance(world, World) else None


@dataclass(slots=True)
class _Tally:
    """What was evaluated so far."""

    reading: ProofReading
    effort: Effort
    rng: Random
    counts: Counter[int] = field(default_factory=Counter[int])  # judgement -> evaluations
    reasons: dict[int, Unmeasured] = field(default_factory=dict[int, Unmeasured])

    def add(self, instance: AdmittedRun, run: int) -> None:
        """Some judgements on one instance: in turn, so that all of them meet about as many instances."""
        judgements, effort = self.reading.judgements, self.effort
        share = max(1, min(len(judgements), effort.evaluations // (effort.runs * effort.places)))
        for n in range(share):
            told_ = judgements[(run * share + n) % len(judgements)]
            for place in instance.places(told_.letters, effort.places, self.rng):
                self._evaluate(told_, instance, place)

    def _evaluate(self, one: Told, instance: AdmittedRun, place: LetterValues) -> None:
        for hypothesis in one.judgement.under:
            holds = instance.decided(hypothesis, place)
            if holds is not True:
                self.reasons.setdefault(one.number, holds or Unmeasured.HYPOTHESES)
                return
        self._settle(one, instance, place)

    def _settle(self, one: Told, instance: AdmittedRun, place: LetterValues) -> None:
        holds = instance.decided(one.judgement.says, place)
        if isinstance(holds, Unmeasured):
            self.reasons.setdefault(one.number, holds)
        elif holds or not self._claimed(instance, place):
            self.counts[one.number] += 1
        else:
            relation, where = one.judgement.says, f"{place} of the instance {dict(instance.raw)}"
            sides = instance.sides(relation, place)
            raise Disagreement(self.reading.claim.id, one.number, one.rule, told(relation), sides, where)

    def _claimed(self, instance: AdmittedRun, place: LetterValues) -> bool:
        """Whether anything is claimed there: not where a side of the claim itself is no number."""
        evaluator = Evaluator(instance.run, self.reading.claim.domains)
        sides = [side for relation in self.reading.claim.then for side in relation[1:]]
        return not any(_undefined(side, place.whole, evaluator) for side in sides)

    def measured(self, runs: int) -> Measured:
        everywhere = {one.number for one in self.reading.judgements}
        missing = everywhere - set(self.counts)
        reasons = Counter(self.reasons.get(n, Unmeasured.NO_INSTANCE) for n in sorted(missing))
        return Measured(runs, len(self.counts), self.counts.total(), dict(reasons))
