"""The five moves on one statement: typed verdicts, and (`*_row`) the same as rows of the command line's contract.

`effort` is nominal seconds: work is counted in instances at a fixed nominal rate, never by the clock, so that a seed
gives the same rows on every run and for every number of workers (`seconds` excepted, which is measured).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.language.statement import Assumption, Statement
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.hand_premises import shown
from fedaudit.bounds.proofs.premise_identity import mend
from fedaudit.progress import told

from ..certify.proof_files import rests_on
from ..experiments import experiment
from ..results.audit_result import Audited, Derivation, Linted, Literally, counterexample
from ..results.row import Horizon
from ..results.verdicts import (
    NOTHING_MET,
    Counterexample,
    Judged,
    NotReproduced,
    Proved,
    Refuted,
    Reproduced,
    ReproducedIf,
    Search,
    Survived,
    Undecided,
    Verdict,
    searched,
)
from ..search.climb import POPULATION, VIOLATION, Found, Searched, climb, joined, sample, sampled
from ..search.endure import Endurance, breaks, endurance, tougher
from ..search.lowered_claim import lower
from ..search.rationalise import Replayed, certificate, certify, refusal
from ..search.score import BEYOND_ROUNDING
from ..search.shrink import reduced, shrink, simplicity
from ..settings import setting_of
from ..settings.base import Limits, Reading, Setting, Shape
from ..worst.profile import examined
from .kernel_proof import Proof, prove
from .monte_carlo import statistics
from .premise_trials import tried
from .repair import repair

RATE = 8000  # instances a nominal second
LEAST_SAMPLE = 10_000  # admissible instances that `verify` tries at least
MOST_TURNS = 5
SCOUTS = 0.1  # of a sample: shows how much of it is admissible
LEAST_SHAPES, LEAST_GENERATIONS = 16, 6  # of a hunt, however small its effort
RACE = 24  # random instances of every shape, where there are more shapes than a hunt can climb on
SPARED = 4, 1  # shapes and generations more, where another search ran the race
REPLAYS = 5  # most dangerous candidates that the kernel replays
STEADY = 15  # most of those that hold, to say how tight they are: where floats are right about the first, it is enough
CHEAP, DEAR = 100, 2000  # sizes of instances (clients × dimension × steps) that are replayed to say how tight they are
DEAR_REPLAYS = 2
CLEAR = 1e-3  # a float violation this large ends the search if the kernel confirms it
LEAD = 6  # shapes that `hunt` goes on with after the first round
LITERAL_SHARE = 0.25  # of the hunting effort, for each implicit assumption
MEMORY = Limits().memory
NO_EFFORT = Limits()  # of who only looks at a statement
STRENGTH = ("undecided", "survived", "proved", "refuted", "not-reproduced", "reproduced-if", "reproduced")

Row = dict[str, Any]
Claims = Mapping[str, Mapping[str, Any]]
NOTHING_TO_HUNT = "an observation, not a claim about all instances: `verify` observes it again"
RATE_FAILS = "the explicit rate of the reading fails (see `counterexample`); what is printed names no rate"
WITNESS_FAILS = "the witness fails (see `counterexample`); another one may do"
BOTH = "the kernel accepts a proof and a counterexample: one of them is wrong; report this"


def lint_row(statement: Statement) -> Row:
    return linted(statement).row()


def derive_row(statement: Statement) -> Row:
    return derived(statement).row()


def verify_row(statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY) -> Row:
    return verify(statement, seed, effort, backend, memory).row()


def hunt_row(statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY) -> Row:
    return hunt(statement, seed, effort, backend, memory).row()


def audit_row(statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY) -> Row:
    return audit(statement, seed, effort, backend, memory).row()


def linted(statement: Statement) -> Linted:
    """Does it make sense?"""
    return Linted(statement.id, tuple(lint(statement, catalogue([statement]))))


def derived(statement: Statement, proofs: Path | None = None) -> Derivation:
    """Does it follow, is it proved, and what do its hand-written premises say of runs? `proofs`: where some lie."""
    known = catalogue([statement])
    for premise in shown(statement, known):
        mend(premise)
    found = derive(statement, known)
    return Derivation(
        statement, found, tried(statement, known), prove(statement, known, proofs) if found.proved else None
    )


def verify(
    statement: Statement,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
    *,
    seen: Searched | None = None,
    spent: float = 0.0,
    sturdy: bool = True,
) -> Verdict:
    """Property testing on random admissible instances; an observed claim is observed again.

    `seen`: what was sampled already, for `spent` seconds. Without `sturdy` the first counterexample is only shrunk.
    """
    if statement.quoted:
        return quoted(statement, seed)
    if statement.kind == "experiment":
        return observe(statement, seed, effort)
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began = time.perf_counter()
    seen = _sampled(reading, world, seed, effort) if seen is None else seen
    verdict = _by_kind(statement, judge(reading, world, seen, _siblings(statement), sturdy))
    sampled = statistics(reading, world, seed)
    if sampled is not None:
        if sampled.suspects and isinstance(verdict, Survived):
            reason = f"{sampled.suspects} sampled instances exceed the bound at confidence 1 - {sampled.delta}"
            so_far = (verdict.tightness, verdict.tightest, None, verdict.search)
            verdict = Undecided(verdict.id, reason, "statistical", *so_far)
        verdict = searched(verdict, statistical=sampled.row())
    return searched(verdict, seconds=round(_since(began) + spent, 3), seed=seed)


def hunt(
    statement: Statement,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
    *,
    race: Searched | None = None,
) -> Verdict:
    """Search for a counterexample, shrink it, certify it; `race`: random instances that were counted elsewhere."""
    if statement.quoted:
        return quoted(statement, seed)
    if statement.kind == "experiment":
        return Undecided(statement.id, NOTHING_TO_HUNT, search=Search(seed=seed))
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began = time.perf_counter()
    judged = judge(reading, world, _hunted(reading, world, seed, effort, race), _siblings(statement))
    judged = examined(statement, reading, world, judged, seed, effort)
    return searched(_by_kind(statement, judged), seconds=_since(began), seed=seed)


def quoted(statement: Statement, seed: int) -> Undecided:
    """Another paper's theorem: without its assumptions there is nothing that could hold or fail."""
    return Undecided(statement.id, f"quoted, source not encoded: {statement.quoted}", search=Search(seed=seed))


def observe(statement: Statement, seed: int, effort: float) -> Verdict:
    """An experiment, run again."""
    began = time.perf_counter()
    outcome = experiment(statement.id).observe(seed, effort)
    kind = Reproduced if outcome.reproduced else ReproducedIf if outcome.under else NotReproduced
    search = Search(outcome.instances, seed, _since(began))
    return kind(statement.id, outcome.reason, outcome.under, outcome.rows, search)


def audit(
    statement: Statement,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
    proofs: Path | None = None,
) -> Audited:
    """All moves; the verdict is the strongest that any of them reached. `proofs`: where some lie already."""
    told("lint and derive", 0, 1)
    sense, derivation = linted(statement), derived(statement, proofs)
    verified, hunted = _both(statement, seed, effort / 3, backend, memory)
    moves: list[Verdict] = [hunted, verified]
    proof = derivation.proof
    if isinstance(proof, Proof):
        met = any(isinstance(move, Proved) or not move.search.nothing_met for move in moves)
        moves.append(Proved(statement.id, proof, reason="" if met else hunted.reason))
    best = max(moves, key=lambda verdict: (STRENGTH.index(verdict.verdict), _lasts(verdict)))
    against = next((verdict for verdict in (verified, hunted) if counterexample(verdict)), None)
    best = against if against and isinstance(best, Survived | Undecided) else best
    if isinstance(proof, Proof) and (against or isinstance(best, Refuted)):
        best = Undecided(statement.id, BOTH, best.evidence, best.tightness)
    stands = against is None and not isinstance(best, Refuted)
    literal = () if statement.kind == "experiment" else statement.implicit
    share = effort / 3
    implicit = [literally(statement, a, seed, share, backend, memory) if stands else falls_anyway(a) for a in literal]
    return Audited(
        statement,
        best,
        sense,
        derivation,
        verified,
        hunted,
        tuple(implicit),
        rests_on(statement),
        _repaired(statement),
        repair(statement, catalogue([statement]), seed) if isinstance(best, Refuted) else None,
    )


def _both(statement: Statement, seed: int, effort: float, backend: str, memory: int) -> tuple[Verdict, Verdict]:
    """`verify` and `hunt`, sharing work: the sample chooses the shapes that `hunt` climbs on, and where `hunt` has
    looked for the sturdiest counterexample, `verify` shows its first one.
    """
    if statement.quoted or statement.kind == "experiment":
        return verify(statement, seed, effort, backend, memory), hunt(statement, seed, effort, backend, memory)
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began = time.perf_counter()
    seen = _sampled(reading, world, seed, effort)
    spent = _since(began)
    hunted = hunt(statement, seed, effort, backend, memory, race=seen)
    sturdy = _against(hunted) is None
    verified = verify(statement, seed, effort, backend, memory, seen=seen, spent=spent, sturdy=sturdy)
    return verified, hunted


def literal_row(
    statement: Statement,
    assumption: Assumption,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
) -> Row:
    return literally(statement, assumption, seed, effort, backend, memory).row()


def literally(
    statement: Statement,
    assumption: Assumption,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
) -> Literally:
    """What becomes of the statement when an assumption that the text does not make is dropped."""
    name, says = assumption.name, assumption.says
    reading, world = read(statement, (name,), backend, Limits(memory, LITERAL_SHARE * effort))
    if name not in world.droppable:
        return Literally(name, says, "not-tried", "the statement has no meaning without it")
    judged = _by_kind(statement, judge(reading, world, _hunted(reading, world, seed, LITERAL_SHARE * effort)))
    tightness, sizes = judged.tightness, judged.search.sizes
    match judged:
        case Refuted():
            certificate = judged.certificate
            return Literally(name, says, "breaks", tightness=tightness, certificate=certificate, sizes=sizes)
        case Survived():
            return Literally(name, says, "survives", tightness=tightness, sizes=sizes)
        case _:
            return Literally(name, says, "undecided", judged.reason, tightness=tightness, sizes=sizes)


def falls_anyway(assumption: Assumption) -> Literally:
    """Without an assumption nothing more is known about a statement that falls with it."""
    return Literally(assumption.name, assumption.says, "not-tried", "the statement falls with it")


def read(
    statement: Statement, dropped: tuple[str, ...] = (), backend: str = "numpy", limits: Limits = NO_EFFORT
) -> tuple[Reading, Setting]:
    """The statement as it is computed with, and the world it is about."""
    lowered = lower(statement)
    return Reading(lowered, dropped, backend, limits=limits), setting_of(lowered)


def judge(
    reading: Reading, world: Setting, seen: Searched, siblings: Claims | None = None, sturdy: bool = True
) -> Judged:
    """A verdict from what a search saw. Only the kernel makes it `Refuted`."""
    identifier, left_out = reading.lowered.id, world.untried(reading)
    none = world.nothing_met or (NOTHING_MET if seen.sizes or not left_out else left_out[0])
    search = Search(seen.instances, sizes=tuple(s for s in seen.sizes if s.counts), untried=left_out, none=none)
    if not seen.best:
        return Undecided(identifier, none, search=search)
    replays, fallen, unseen = list[Replayed](), list[Replayed](), list[Found]()
    violations = sorted((f for f in seen.best if f.margin > VIOLATION), key=_worth)
    suspects = violations[:REPLAYS]
    others = [f for f in seen.best if f not in suspects]
    small = [f for f in others if f.scores.shape.cost <= CHEAP]
    cheap = [f for f in small if f.margin > VIOLATION][:REPLAYS] + [f for f in small if f.margin <= VIOLATION][:STEADY]
    dear = [f for f in others[:DEAR_REPLAYS] if CHEAP < f.scores.shape.cost <= DEAR]
    asked = suspects + sorted(cheap + dear, key=_promise)
    for n, found in enumerate(asked):
        told("exact replays", n, len(asked))
        beaten = any(found.ratio <= made.ratio for made in replays)
        if beaten and found.margin < -BEYOND_ROUNDING and not world.fitted:
            continue  # it says nothing about the claim, and less about how tight it is
        made = certify(reading, world, found)
        if made is None and found.margin > BEYOND_ROUNDING and world.ordinary(reading, [found.scores.shape]):
            made = certify(reading, world, reduced(reading, world, found))
            made = None if made is None or made.holds else made
        if made is None:
            unseen += [found] if found.margin > BEYOND_ROUNDING else []
        elif made.holds:
            replays.append(made)
        else:
            fallen.append(made)
            break
    if fallen:
        told("a sturdy counterexample", 0, 1)
        look = _counterexample if sturdy else _first
        against = look(reading, world, fallen[0], violations, siblings or {})
        return Refuted(identifier, against, search)
    if unseen:
        why = refusal(reading, world, unseen[0])
        reason = f"floats see {len(unseen)} violations that the kernel could not replay"
        return Undecided(identifier, f"{reason}: {why}" if why else reason, search=search)
    search = replace(search, sizes=tuple(size.held() for size in search.sizes))
    tightest = max(replays, key=lambda r: -math.inf if math.isnan(r.ratio) else r.ratio, default=None)
    if tightest is None:
        most = min(seen.best[0].ratio, 1.0)  # above 1: rounding
        return Survived(identifier, finite(most), search=search)
    shown = {"instance": tightest.instance, "at": tightest.at, "lhs": tightest.lhs, "rhs": tightest.rhs}
    return Survived(identifier, finite(tightest.ratio), shown, "exact", search)


def _by_kind(statement: Statement, verdict: Judged) -> Judged:
    """What a counterexample says about a claim that is not about all instances.

    A printed limit or "≈" names no rate, so that no single instance refutes it: only our explicit reading falls. That
    something exists is not refuted by one construction that fails.
    """
    exact = verdict.evidence == "exact"
    if statement.kind == "order" and statement.method == "order":  # the kernel decides growth, for every constant
        return searched(verdict, how="growth path" if exact else "fitted slope")
    if statement.method == "network_limit":  # and limits, along a path
        return searched(verdict, how="limits along a path" if exact else "one huge n")
    if statement.kind not in ("order", "exists") or not isinstance(verdict, Refuted):
        return verdict
    reason = WITNESS_FAILS if statement.kind == "exists" else RATE_FAILS
    seen = (verdict.tightness, None, verdict.counterexample, verdict.search)
    return Undecided(verdict.id, reason, verdict.evidence, *seen)


def _promise(found: Found) -> float:
    """The tightest first; last where a ratio says nothing."""
    return -found.ratio if math.isfinite(found.ratio) else math.inf


def _worth(found: Found) -> tuple[bool, int]:
    """Clear violations before those that may be rounding; among them, small instances first."""
    return found.margin <= BEYOND_ROUNDING, found.scores.shape.cost


def _counterexample(
    reading: Reading, world: Setting, first: Replayed, violations: Sequence[Found], siblings: Claims
) -> Counterexample:
    """The sturdiest counterexample, shrunk: it lasts at longer horizons, then it breaks the most siblings.

    How long each candidate lasts is seen at a glance. Only if the kernel does not say the same of the one that is
    shown, it is asked about all of them.
    """
    others = cache(partial(_others, reading, world, tuple(violations)))
    lasts_for, breaks_of = cache(partial(endurance, reading, world)), cache(partial(breaks, siblings))
    glances = cache(partial(endurance, reading, world, glance=True))

    def sturdiest(seen: Callable[[Replayed], Endurance]) -> tuple[Replayed, Replayed, Endurance]:
        """The one that is chosen, that one shrunk, and how long it has to last."""
        chosen, lasting, broken = first, seen(first), breaks_of(first)
        for other in others(lasting.fragile, len(broken) < len(siblings)):
            lasts, breaks_too = seen(other), breaks_of(other)
            mine, best = (lasts.worth(), len(breaks_too)), (lasting.worth(), len(broken))
            if mine > best or (mine == best and simplicity(other) < simplicity(chosen)):
                chosen, lasting, broken = other, lasts, breaks_too

        def keeps(one: Replayed) -> bool:
            spares = set(broken) - set(breaks_of(one))
            return not spares and (not lasting.refutes or seen(one).keeps(lasting))

        return chosen, shrink(reading, world, chosen, keeps, len(lasting.refutes)), lasting

    chosen, shrunk, lasting = sturdiest(glances)
    if not lasts_for(shrunk).keeps(lasting):
        chosen, shrunk, _ = sturdiest(lasts_for)
    lasts, too = lasts_for(shrunk), tuple(breaks_of(shrunk))
    return _sturdy(reading, shrunk, chosen.ratio, lasts, too)


def _first(reading: Reading, world: Setting, first: Replayed, _: Sequence[Found], siblings: Claims) -> Counterexample:
    """The first counterexample, shrunk, and how long it lasts."""
    shrunk = shrink(reading, world, first)
    lasts, too = endurance(reading, world, shrunk), tuple(breaks(siblings, shrunk))
    return _sturdy(reading, shrunk, first.ratio, lasts, too)


def _sturdy(
    reading: Reading, shrunk: Replayed, ratio: float, lasts: Endurance, breaks_too: tuple[str, ...]
) -> Counterexample:
    """The counterexample with what is said of how long it lasts; `ratio` is its lhs/rhs before it was shrunk."""
    horizons = tuple(Horizon(tuple(places.items())) for places in lasts.refutes)
    return Counterexample(certificate(reading, shrunk), finite(ratio), horizons, lasts.until, breaks_too)


def _others(
    reading: Reading, world: Setting, violations: Sequence[Found], fragile: bool, spares: bool
) -> list[Replayed]:
    """Other counterexamples, where the first one does not last or spares a sibling."""
    again = [certify(reading, world, f) for f in violations[:REPLAYS] if fragile or spares]
    tough = tougher(reading, world, violations) if fragile else None
    return [one for one in (tough, *again) if one is not None and not one.holds]


def _siblings(statement: Statement) -> Claims:
    """What other readings of the same print claim in the same setting (`id~…`), by id; not what repairs it."""
    root = statement.id.partition("~")[0]
    others = (s for s in catalogue([statement]).values() if s.id != statement.id and s.id.partition("~")[0] == root)
    alike = (s for s in others if s.method == statement.method and s.kind == statement.kind)
    return {s.id: lower(s).claim for s in alike if not s.repairs}


def _sampled(reading: Reading, world: Setting, seed: int, effort: float) -> Searched:
    """Random instances of every shape; where too few are admissible, a second turn with as many more as that needs.

    Whether it will be needed shows after some shapes: both turns of the others are evaluated together, which costs
    little more than one. Where that was foreseen wrongly it is done as it should have been, so that the instances are
    the same as without foresight.
    """
    shapes = world.shapes(reading)
    weights = [shape.cost**-0.5 for shape in shapes]
    total = max(LEAST_SAMPLE, effort * RATE)
    counts = [math.ceil(total * w / sum(weights)) for w in weights]
    climbed = _climbed(world.ordinary(reading, shapes), _places(effort, SPARED[0]))
    first, second, had = list[Searched](), list[list[Searched]](), list[int]()
    for shape, n in zip(shapes, counts, strict=True):
        told("random instances, shape", len(first), len(shapes))
        done = sum(counts[: len(first)])
        likely = sum(part.instances for part in first) * sum(counts) / done if done else 0.0
        had.append(_turns_more(likely) if done > SCOUTS * sum(counts) else 0)
        draws = [(n, seed), (had[-1] * n, seed + 1)]
        one, *more = sampled(reading, world, shape, draws[: 1 + (had[-1] > 0)], often=shape in climbed)
        first.append(one)
        second.append(more)
    times = _turns_more(sum(part.instances for part in first))
    for place, (shape, n) in enumerate(zip(shapes, counts, strict=True)):
        told("random instances again, shape", place, len(shapes))
        if times != had[place]:
            second[place] = sampled(reading, world, shape, [(times * n, seed + 1)]) if times else []
    return joined([joined(first), joined([part for more in second for part in more])])


def _turns_more(admissible: float) -> int:
    """How many times as many instances have to be proposed again: the conditions turn many away."""
    if admissible >= LEAST_SAMPLE:
        return 0
    return min(math.ceil(LEAST_SAMPLE / max(admissible, 1)) - 1, MOST_TURNS - 1)


def _hunted(reading: Reading, world: Setting, seed: int, effort: float, race: Searched | None = None) -> Searched:
    """A short climb on every shape, then a longer one on the most dangerous shapes.

    Where a `race` was run and counted already, there are more and longer climbs instead.
    """
    proposed, counted = world.shapes(reading), Searched(0, ())
    shapes = world.ordinary(reading, proposed)
    long = [shape for shape in proposed if shape not in shapes] if race is None else []
    if long or not shapes:
        counted = sample(reading, world, long, RACE, seed)
    if not shapes:
        return counted if race is None else Searched(0, race.best)
    more = (0, 0) if race is None else SPARED
    least = LEAST_GENERATIONS + more[1]
    populations, places = _populations(effort), _places(effort, more[0])
    if len(shapes) > places:
        if race is None:
            race = sample(reading, world, shapes, RACE, seed, _climbed(shapes, places))
            counted = joined([counted, race])
        shapes = _entrants(shapes, race, places)
    generations = max(least, round(populations / len(shapes)))
    first = joined([counted, climb(reading, world, shapes, generations, seed)])
    lead: list[Shape] = list(dict.fromkeys(f.scores.shape for f in first.best))[:LEAD]
    if not lead or _fallen(reading, world, first):
        return first
    longer = max(least, round(populations / len(lead)))
    return joined([first, climb(reading, world, lead, longer, seed + 1)])


def _fallen(reading: Reading, world: Setting, seen: Searched) -> bool:
    """Whether the kernel confirms a clear violation, so that nothing is left to search for."""
    clear = sorted((f for f in seen.best if f.margin > CLEAR), key=_worth)[:REPLAYS]
    replays = (certify(reading, world, found) for found in clear)
    return any(one is not None and not one.holds for one in replays)


def _entrants(shapes: Sequence[Shape], race: Searched, places: int) -> list[Shape]:
    """What a small effort climbs on: shapes where a few random instances came closest, and one of every block.

    Each time another place of the block: a fixed one would drop a whole inner loop.
    """
    closest = {f.scores.shape for f in race.best[: places // 2]}
    return [shape for shape in shapes if shape in closest | _climbed(shapes, places)]


def _climbed(shapes: Sequence[Shape], places: int) -> set[Shape]:
    """What is climbed on whatever comes closest: one shape of every block, or all where there are few."""
    stride = max(1, math.ceil(len(shapes) / places))
    return {shapes[min(n + n // stride % stride, len(shapes) - 1)] for n in range(0, len(shapes), stride)}


def _populations(effort: float) -> float:
    return effort * RATE / 2 / POPULATION


def _places(effort: float, more: int) -> int:
    """How many shapes an effort climbs on."""
    return max(LEAST_SHAPES + more, round(_populations(effort) / LEAST_GENERATIONS))


def _lasts(verdict: Verdict) -> int:
    """At how many longer horizons a counterexample goes on refuting."""
    against = _against(verdict)
    return len(against.persists) if against else 0


def _against(verdict: Verdict) -> Counterexample | None:
    return verdict.counterexample if isinstance(verdict, Refuted | Undecided) else None


def _repaired(statement: Statement) -> str | None:
    known: Mapping[str, Statement] = catalogue([statement])
    sibling = f"{statement.id}~repaired"
    return sibling if sibling in known else None


def finite(x: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return x if math.isfinite(x) else None


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 3)
