"""Proof files with one thing changed: what the kernel still accepts must still be true.

Every number, sign, index, name, citation, multiplier, product, hypothesis, domain, rule and place of a file is changed,
one at a time, in turn through the kinds of changes; then several at once, at random. A file whose claim is untouched
proves the same claim, and the judgement that was changed has to agree with exact runs; a file with another claim has
to agree with runs of that claim, and may not say more in the end than its judgements do.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import chain, islice, tee
from random import Random
from typing import Any, cast

from fuzz import DOMAINS, RELATIONS, Place, by_id, entries, is_number, put, text_of, without

from fedaudit.verify.kernel.core.budget import metered
from fedaudit.verify.kernel.core.claim import KINDS
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Malformed, Node, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.proofs.judgement import Judgement, same
from fedaudit.verify.kernel.proofs.rules.facts import FACTS
from fedaudit.verify.kernel.worlds.registry import SETTINGS
from fedaudit.verify.proposals import measured_runs as measured
from fedaudit.verify.proposals.edges import instances_of
from fedaudit.verify.proposals.measured_runs import Disagreement, Effort, measure_on
from fedaudit.verify.search.lowered_claim import lower

MOST = 40_000_000  # operations of one mutant: what takes more is refused
EFFORT = Effort(runs=16, evaluations=10**9, places=6)  # for what was changed
OTHERS = Effort(runs=16, evaluations=256, places=2)  # for all judgements of a file of which not one alone was changed
OFTEN = 40  # changes inside judgements to one of the claim, which takes the check of the whole file
BESIDES = ("cites", "letters", "names", "frame", "quantities")  # what a file says beside its claim and judgements
SEVERAL = 20  # one mutant in so many has several changes at once
GROUPS = (
    RELATIONS, tuple(proof.RULES), (*DOMAINS[:5], "client"), ("+", "*", "min", "max"), ("exp", "log", "abs", "erf"),
    KINDS, tuple(SETTINGS), tuple(FACTS), ("when", "range", "means", "before", "step"), ("low", "high"),
)  # fmt: skip

# --- changes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """What is put at one place of a file; `kind` names the field and what is done there."""

    place: Place
    kind: str
    value: Any = None

    def __call__(self, file: Any) -> Any:
        if self.kind.endswith("dropped"):
            return without(file, self.place)
        return put(file, self.place, self.value)

    def __str__(self) -> str:
        return f"{self.kind}: {text_of(self.place)} = {str(self.value)[:80]}"


def changes(file: Mapping[str, Any]) -> Iterator[Change]:
    """Every change of one thing."""
    names = _names(file)
    for place, here in entries(file):
        if place == ("format",) or place[0] == "statement" or place[:2] == ("claim", "id"):
            continue
        part = _part(place)
        if len(place) > 1:
            yield Change(place, f"{part}, dropped")
        if is_number(here):
            yield from (Change(place, f"{part}, number", x) for x in _numbers(here))
        elif isinstance(here, str):
            yield from (Change(place, f"{part}, word", x) for x in _words(here, place, names))
        listed = cast("list[Any]", here) if isinstance(here, list) else []
        if len(listed) > 2:
            yield Change(place, f"{part}, order", [*listed[:-2], listed[-1], listed[-2]])
        if listed and part.startswith("judgement"):
            yield Change(place, f"{part}, twice", [*listed, listed[-1]])


def _part(place: Place) -> str:
    """Where a place is: a field of a judgement, of the claim, or of the file."""
    first, *inside = map(str, place)
    if first == "judgements":
        return f"judgement, {inside[1]}" if len(inside) > 1 else "judgement"
    return f"claim, {inside[0]}" if first == "claim" and inside else first


def _numbers(here: Any) -> Iterator[Any]:
    x = Fraction(here)
    near = [x + 1, x - 1, -x, 2 * x, x / 2, Fraction(0), x * Fraction(101, 100)]
    if type(here) is int:
        near = [y for y in near if y.denominator == 1]
    yield from dict.fromkeys(int(y) if type(here) is int else str(y) for y in near if y != x)


def _words(here: str, place: Place, names: Sequence[str]) -> Iterator[str]:
    for group in GROUPS:
        if here in group:
            yield from (word for word in group if word != here)
            return
    if here in names or place[0] == "cites" or place[-1] == "of":
        yield from (name for name in names if name != here)
    yield "goal"


def _names(file: Mapping[str, Any]) -> list[str]:
    claim = file["claim"]
    method = claim.get("method", {})
    groups = [claim["domains"], claim["for_all"], file.get("letters", {}), method.get("measures", {})]
    groups += [method.get("server", {}), method.get("client", {}), file.get("frame", {}).get("measures", {})]
    return [*dict.fromkeys([name for group in groups for name in group] + list(file.get("cites", ())))]


def chosen(file: Mapping[str, Any], count: int) -> Iterator[tuple[Change, ...]]:
    """`count` mutants: one change at a time, in turn of every kind, all of them if there are no more; then several."""
    rng = Random(str(file["statement"]))
    kinds: dict[str, list[Change]] = defaultdict(list)
    for change in changes(file):
        kinds[change.kind].append(change)
    for group in kinds.values():
        rng.shuffle(group)
    everything = [change for group in kinds.values() for change in group]
    left, several = {kind: iter(group) for kind, group in kinds.items()}, 0
    single = count - count // SEVERAL
    while left and single > 0:
        for kind in list(left):
            for _ in range(OFTEN if kind.startswith("judgement,") else 1):
                change = next(left[kind], None)
                if change is None:
                    del left[kind]
                    break
                if single > 0:
                    single -= 1
                    yield (change,)
    while several < count // SEVERAL + single:
        several += 1
        yield tuple(rng.sample(everything, min(len(everything), rng.choice((2, 3)))))


# --- the kernel's answer ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Original:
    """A file that was accepted, read once: a mutant of one judgement is checked with those that rest on it."""

    file: dict[str, Any]
    accepted: Mapping[str, proof.Accepted]
    context: Any
    judgements: Sequence[Judgement]
    above: Mapping[int, Sequence[int]]  # judgement -> those that rest on it
    _runs: list[Runs] = field(default_factory=list["Runs"])  # once they were asked for

    @classmethod
    def of(cls, file: dict[str, Any], accepted: Mapping[str, proof.Accepted]) -> Original:
        claim = proof.check(file, accepted).claim
        nodes = Node(file, "proof").mapping()
        context = proof.context_of(nodes, claim, accepted)
        stated = [
            Judgement(_relation(j["says"]), tuple(_relation(h) for h in j.get("under", ()))) for j in file["judgements"]
        ]
        above: dict[int, list[int]] = defaultdict(list)
        for n, raw in enumerate(file["judgements"]):
            for rest in dict.fromkeys(raw.get("by", ())):
                above[rest].append(n)
        return cls(file, accepted, context, stated, above)

    def accepts(self, change: Sequence[Change], *, whole: bool = False) -> bool:
        """Whether the kernel accepts the file after all; `whole`: asked for the whole file, which takes longer."""
        try:
            self.check(change, whole=whole)
        except (Malformed, Rejected):
            return False
        return True

    def check(self, change: Sequence[Change], *, whole: bool = False) -> None:
        """Raises what the kernel raises of the changed file, which reads only what the change can matter to."""
        mutant = _changed(self.file, change)
        if not whole and all(one.place[0] in BESIDES for one in change):
            with metered(MOST):  # the claim is as it was; where the context is too, so may be what rests on it
                proof.context_of(Node(mutant, "proof").mapping(), self.context.claim, self.accepted)
        within = all(one.place[0] == "judgements" and len(one.place) > 1 for one in change)
        if whole or not within or self.context.claim.setting == "order":
            proof.check(mutant, self.accepted, MOST)
        else:
            self._judge(change, mutant)

    def runs(self) -> Runs:
        """Exact runs of its claim, drawn when a mutant is first accepted."""
        if not self._runs:
            self._runs.append(Runs.of(self.file))
        return self._runs[0]

    def _judge(self, change: Sequence[Change], mutant: Mapping[str, Any]) -> None:
        """Only the judgement that was changed, what rests on it, and the end; or all from the first change on."""
        raw, number = mutant["judgements"], _judgement(change)
        first = min(one.place[1] for one in change)
        said = list(self.judgements if number is not None else self.judgements[:first])
        asked = range(first, len(raw)) if number is None else (number, *self.above.get(number, ()))
        with metered(MOST):
            for n in asked:
                node = Node(raw[n], f"proof.judgements[{n}]")
                said[n : n + 1] = [proof._judged(node, said[:n], {}, self.context)[1]]  # pyright: ignore[reportPrivateUsage]
            for relation in self.context.claim.then:
                proof._ends_with(relation, said, self.context)  # pyright: ignore[reportPrivateUsage]


def _relation(raw: Any) -> Any:
    return parse_relation(Node(raw, "relation"))


def _changed(file: Any, change: Sequence[Change]) -> Any:
    for one in sorted(change, key=lambda c: str(c.place), reverse=True):
        try:
            file = one(file)
        except (KeyError, IndexError, TypeError) as error:  # an earlier change took the place away
            raise Malformed(f"mutant: {error}") from None
    return file


def _judgement(change: Sequence[Change]) -> int | None:
    """The judgement inside which the only change is."""
    first, *inside = change[0].place
    return inside[0] if len(change) == 1 and first == "judgements" and len(inside) > 1 else None


# --- whether what was accepted is true -------------------------------------------------------------------------------


@dataclass(slots=True)
class Log:
    """What became of mutants, and those that nothing excuses."""

    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def total(self) -> int:
        return self.counts.total()


def judged(original: Original, count: int) -> Log:
    """`count` mutants of a proof."""
    log, began = Log(), time.perf_counter()
    for change in chosen(original.file, count):
        told = "; ".join(map(str, change))
        try:
            if not original.accepts(change):
                log.counts["refused"] += 1
                continue
        except Exception as error:  # whatever a stranger writes is accepted or refused
            log.wrong.append(f"{told}: crashed with {type(error).__name__}: {error}")
            continue
        mutant = _changed(original.file, change)
        try:
            log.counts[f"accepted, {excused(original, change, mutant)}"] += 1
        except (Disagreement, AssertionError) as error:
            if original.accepts(change, whole=True):
                log.wrong.append(f"{told}: {error}")
            else:
                log.counts["refused"] += 1
    log.seconds = time.perf_counter() - began
    return log


def excused(original: Original, change: Sequence[Change], mutant: Any) -> str:
    """Why it is no harm that a mutant is accepted; an error where it is."""
    if mutant == original.file:
        return "nothing changed"
    number = _judgement(change)
    if number is not None:
        return _still_true(original, number, mutant)
    if mutant["claim"] == original.file["claim"]:
        figures = measure_on(mutant, iter(drawn(original.file["claim"])), OTHERS)
        return "agrees with runs" if figures.evaluations else "no runs"
    return _another_claim(original, mutant)


def _still_true(original: Original, number: int, mutant: Any) -> str:
    here = mutant["judgements"][number]
    stated = Judgement(_relation(here["says"]), tuple(_relation(h) for h in here.get("under", ())))
    before, forms = original.judgements[number], original.context.forms
    alike = len(stated.under) == len(before.under) and all(
        same(a, b, forms) for a, b in zip((stated.says, *stated.under), (before.says, *before.under), strict=True)
    )
    if alike:
        return "says the same"
    if here["rule"] == "trusted":  # the kernel says so, and nobody asked z3 about the mutant
        return "on a solver's word"
    return "agrees with runs" if original.runs().evaluations_of(number, here) else "no runs"


def _another_claim(original: Original, mutant: Any) -> str:
    """The judgements are what they were, so that they say what the claim says now; runs of that claim agree."""
    free = [_relation(j["says"]) for j in mutant["judgements"] if not j.get("under")]
    for relation in mutant["claim"]["then"]:
        assert any(same(_relation(relation), one, original.context.forms) for one in free), "says more than its proof"
    own = drawn(original.file["claim"])  # most of them are instances of the other claim too: the kernel says which
    first, again = tee(chain(own, instances_for(mutant["claim"])))
    claimed = [{"rule": "claim", "says": relation} for relation in mutant["claim"]["then"]]
    figures = measure_on({**mutant, "judgements": claimed}, first, EFFORT)
    measure_on(mutant, again, OTHERS)
    return "another claim, agrees with runs" if figures.evaluations else "another claim, no runs"


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Exact runs of the claim of an unchanged file, admitted once: one judgement of a mutant is measured on them."""

    reading: measured.ProofReading
    names: Mapping[str, Any]
    instances: Sequence[measured.AdmittedRun]

    @classmethod
    def of(cls, file: Mapping[str, Any]) -> Runs:
        reading = measured.read({**file, "judgements": []})
        admitted = (measured._admitted(reading, raw) for raw in drawn(file["claim"]))
        return cls(reading, measured.names_of(file), list(islice((one for one in admitted if one), EFFORT.runs)))

    def evaluations_of(self, number: int, judgement: Mapping[str, Any]) -> int:
        """How often it was evaluated; `Disagreement` where it fails."""
        told = measured._told(number, judgement, self.names, self.reading.letters)
        tally = measured._Tally(replace(self.reading, judgements=[told]), EFFORT, Random(str(number)))
        for n, instance in enumerate(self.instances):
            tally.add(instance, n)
        return tally.counts.total()


# --- exact instances -------------------------------------------------------------------------------------------------

CANDIDATES = 4 * EFFORT.runs
VALUES = {
    "real": ("0", "-1", "1", "-2/3", "3"),
    "nonnegative": ("0", "1", "1/2", "5/2"),
    "positive": ("1", "1/2", "1/100", "7/3"),
    "count": ("1", "2", "3", "5"),
    "index": ("0", "1", "2", "4"),
}


def instances_for(claim: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Of a claim of the catalogue, or with one change, as its statement's setting draws them; otherwise numbers."""
    statement = by_id().get(claim["id"])
    if statement is not None and claim["setting"] != "order":
        try:
            yield from instances_of(replace(lower(statement), claim=dict(claim)), CANDIDATES)
        except Exception:  # the setting reads what a mutant no longer has
            return
    rng = Random(str(claim["id"]))
    for _ in range(CANDIDATES if claim["setting"] == "scalar" else 0):
        yield {"values": {name: rng.choice(VALUES[kind]) for name, kind in claim["domains"].items()}, "quantities": {}}


@cache
def _drawn(identifier: str) -> list[dict[str, Any]]:
    return list(instances_for(_CLAIMS[identifier]))


_CLAIMS: dict[str, Any] = {}


def drawn(claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Instances of the claim of an unchanged file, drawn once."""
    _CLAIMS.setdefault(claim["id"], claim)
    return _drawn(claim["id"])
