"""The five moves on one statement, as typed verdicts; `row()` of each is its row in the command line's contract.

`effort` is nominal seconds: work is counted in instances at a fixed nominal rate, never by the clock, so that a seed
gives the same rows on every run and for every number of workers (`seconds` excepted, which is measured).
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

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
from ..results.verdicts import (
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
from ..search.attack import climbed_on, scattered
from ..search.climb import Searched, joined
from ..search.effort import LITERAL, OPEN, SANITY, THOROUGH, Effort, seconds_at_sharp_points
from ..search.lowered_claim import lower
from ..search.rationalise import certify
from ..settings import setting_of
from ..settings.base import Limits, Reading, Setting
from ..worst.profile import examined
from .judge import Claims, Replay, judge
from .kernel_proof import Proof, prove, stands_without
from .monte_carlo import statistics
from .repair import repair

LITERAL_SHARE = 0.25  # of the hunting effort, for each implicit assumption
MEMORY = Limits().memory
NO_EFFORT = Limits()  # of who only looks at a statement
STRENGTH = ("undecided", "survived", "proved", "refuted", "not-reproduced", "reproduced-if", "reproduced")

NOTHING_TO_HUNT = "an observation, not a claim about all instances: `verify` observes it again"
RATE_FAILS = "the explicit rate of the reading fails (see `counterexample`); what is printed names no rate"
WITNESS_FAILS = "the witness fails (see `counterexample`); another one may do"
NOT_NEEDED = "the kernel accepts its proof without this assumption"
BOTH = "the kernel accepts a proof and a counterexample: one of them is wrong; report this"


def linted(statement: Statement) -> Linted:
    """Does it make sense?"""
    return Linted(statement.id, tuple(lint(statement, catalogue([statement]))))


def derived(statement: Statement, proofs: Path | None = None, *, slack: bool = True) -> Derivation:
    """Does it follow, and is it proved? `proofs`: where some proofs lie.

    Constants that have room are looked for if `slack` says so: no verdict depends on them, and it takes long.
    """
    statements = catalogue([statement])
    for premise in shown(statement, statements):
        # Despite its name `mend` changes nothing: it raises where a premise written by hand does not stand.
        mend(premise)
    outcome = derive(statement, statements, slack=slack, terms=True)
    asked = outcome.proved or (statement.method == "order" and not statement.quoted)  # the kernel has its own way there
    proof = prove(statement, statements, proofs) if asked else None
    return Derivation(statement, outcome, proof, statements)


def verify(
    statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY, thorough: bool = False
) -> Verdict:
    """Property testing on random admissible instances; an observed claim is observed again."""
    if statement.quoted:
        return quoted(statement, seed)
    if statement.kind == "experiment":
        return observe(statement, seed, effort)
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began, plan = time.perf_counter(), (THOROUGH if thorough else OPEN).at(effort)
    scattering = scattered(reading, world, plan, seed)
    return searched(_verified(statement, reading, world, scattering, plan, seed), seconds=_since(began))


def hunt(
    statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY, thorough: bool = False
) -> Verdict:
    """Search for a counterexample, shrink it, certify it."""
    if statement.quoted:
        return quoted(statement, seed)
    if statement.kind == "experiment":
        return Undecided(statement.id, NOTHING_TO_HUNT, search=Search(seed=seed))
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began, plan = time.perf_counter(), (THOROUGH if thorough else OPEN).at(effort)
    scattering = scattered(reading, world, plan, seed)
    beyond = climbed_on(reading, world, scattering, plan, seed)
    hunted = _hunted(statement, reading, world, joined([scattering, beyond]), plan, seed, effort)
    return searched(hunted, seconds=_since(began))


def _verified(
    statement: Statement,
    reading: Reading,
    world: Setting,
    scattering: Searched,
    plan: Effort,
    seed: int,
    replay: Replay | None = None,
) -> Judged:
    """What random instances say, and sampled runs where expectations cannot be listed."""
    verdict = _by_kind(statement, judge(reading, world, scattering, _siblings(statement), plan, replay))
    sampled = statistics(reading, world, seed)
    if sampled is not None:
        if sampled.suspects and isinstance(verdict, Survived):
            reason = f"{sampled.suspects} sampled instances exceed the bound at confidence 1 - {sampled.delta}"
            so_far = (verdict.tightness, verdict.tightest, None, verdict.search)
            verdict = Undecided(verdict.id, reason, "statistical", *so_far)
        verdict = searched(verdict, statistical=sampled.row())
    return searched(verdict, seed=seed)


def _hunted(
    statement: Statement,
    reading: Reading,
    world: Setting,
    met: Searched,
    plan: Effort,
    seed: int,
    effort: float,
    replay: Replay | None = None,
) -> Judged:
    """What a climb says, and worst cases at ordinary points."""
    judged = judge(reading, world, met, _siblings(statement), plan, replay)
    sharp = seconds_at_sharp_points(plan, effort)
    judged = examined(statement, reading, world, judged, seed, effort, plan.worst, sharp)
    return searched(_by_kind(statement, judged), seed=seed)


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
    thorough: bool = False,
    proofs: Path | None = None,
) -> Audited:
    """All moves; the verdict is the strongest that any of them reached. `proofs`: where some lie already."""
    told("lint and derive", 0, 1)
    sense, derivation = linted(statement), derived(statement, proofs, slack=thorough)
    proof = derivation.proof if isinstance(derivation.proof, Proof) else None
    # A third is for `verify`, a third for `hunt`, and a third for each literal reading.
    share = effort / 3
    plan = _plan(statement, proof is not None, thorough).at(share)
    verified, hunted = _both(statement, seed, share, backend, memory, plan)
    # Of equal verdicts `max` takes the first one, and what `hunt` found has been climbed for.
    moves: list[Verdict] = [hunted, verified]
    if proof is not None:
        met = any(isinstance(move, Proved) or not move.search.nothing_met for move in moves)
        moves.append(Proved(statement.id, proof, reason="" if met else hunted.reason))
    best = max(moves, key=lambda verdict: (STRENGTH.index(verdict.verdict), _lasts(verdict)))
    against = next((verdict for verdict in (verified, hunted) if counterexample(verdict)), None)
    best = against if against and isinstance(best, Survived | Undecided) else best
    if proof is not None and (against or isinstance(best, Refuted)):
        best = Undecided(statement.id, BOTH, best.evidence, best.tightness)
    stands = against is None and not isinstance(best, Refuted)
    implicit: list[Literally] = []
    for assumption in () if statement.kind == "experiment" else statement.implicit:
        if not stands:
            implicit.append(falls_anyway(assumption))
        elif proof is not None and not thorough and stands_without(proof, assumption.name):
            implicit.append(Literally(assumption.name, assumption.says, "survives", NOT_NEEDED))
        else:
            implicit.append(literally(statement, assumption, seed, share, backend, memory, thorough))
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


def _plan(statement: Statement, proved: bool, thorough: bool) -> Effort:
    """What a row gets by what is known of it; an identity that is proved has no direction to climb in."""
    if thorough:
        return THOROUGH
    if not proved:
        return OPEN
    return replace(SANITY, climbed=0) if statement.kind == "identity" else SANITY


def _both(
    statement: Statement, seed: int, effort: float, backend: str, memory: int, plan: Effort
) -> tuple[Verdict, Verdict]:
    """`verify` and `hunt`, sharing work: random instances choose the shapes that `hunt` climbs on, and where they fell
    already both show one counterexample. Instances are counted once, where they were drawn.
    """
    if statement.quoted or statement.kind == "experiment":
        return verify(statement, seed, effort, backend, memory), hunt(statement, seed, effort, backend, memory)
    reading, world = read(statement, (), backend, Limits(memory, effort))
    began = time.perf_counter()
    scattering = scattered(reading, world, plan, seed)
    spent, began = _since(began), time.perf_counter()
    beyond = climbed_on(reading, world, scattering, plan, seed)
    met, replay = joined([replace(scattering, instances=0, sizes=()), beyond]), cache(partial(certify, reading, world))
    hunted = searched(_hunted(statement, reading, world, met, plan, seed, effort, replay), seconds=_since(began))
    if scattering.fell and (_against(hunted) is not None):
        search = Search(
            scattering.instances, seed, spent, hunted.search.how, sizes=scattering.sizes, covered=scattering.covered
        )
        return replace(hunted, search=search), hunted
    # A sturdy counterexample is looked for once: where `hunt` has one, `verify` shows the first that it met.
    began, plan = time.perf_counter(), replace(plan, sturdy=_against(hunted) is None)
    verified = _verified(statement, reading, world, scattering, plan, seed, replay)
    return searched(verified, seconds=round(_since(began) + spent, 3)), hunted


def literally(
    statement: Statement,
    assumption: Assumption,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
    thorough: bool = False,
) -> Literally:
    """What becomes of the statement when an assumption that the text does not make is dropped."""
    name, says = assumption.name, assumption.says
    reading, world = read(statement, (name,), backend, Limits(memory, LITERAL_SHARE * effort))
    if name not in world.droppable:
        return Literally(name, says, "not-tried", "the statement has no meaning without it")
    plan = (THOROUGH if thorough else OPEN if world.fitted else LITERAL).at(effort)
    scattering = scattered(reading, world, plan, seed)
    met = joined([scattering, climbed_on(reading, world, scattering, plan, seed)])
    judged = _by_kind(statement, judge(reading, world, met, effort=plan))
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


def _by_kind(statement: Statement, verdict: Judged) -> Judged:
    """What a counterexample says about a claim that is not about all instances.

    A printed limit or "≈" names no rate, so that no single instance refutes it: only our explicit reading falls. That
    something exists is not refuted by one construction that fails.
    """
    exact = verdict.evidence == "exact"
    if statement.is_order_of_formulas:  # the kernel decides growth, for every constant
        return searched(verdict, how="growth path" if exact else "fitted slope")
    if statement.compares_limits:  # and limits, along a path
        return searched(verdict, how="limits along a path" if exact else "one huge n")
    if statement.kind not in ("order", "exists") or not isinstance(verdict, Refuted):
        return verdict
    reason = WITNESS_FAILS if statement.kind == "exists" else RATE_FAILS
    so_far = (verdict.tightness, None, verdict.counterexample, verdict.search)
    return Undecided(verdict.id, reason, verdict.evidence, *so_far)


def _siblings(statement: Statement) -> Claims:
    """What other readings of the same print claim in the same setting (`id~…`), by id; not what repairs it."""
    root = statement.id.partition("~")[0]
    others = (s for s in catalogue([statement]).values() if s.id != statement.id and s.id.partition("~")[0] == root)
    alike = (s for s in others if s.method == statement.method and s.kind == statement.kind)
    return {s.id: lower(s).claim for s in alike if not s.repairs}


def _lasts(verdict: Verdict) -> int:
    """At how many longer horizons a counterexample goes on refuting."""
    against = _against(verdict)
    return len(against.persists) if against else 0


def _against(verdict: Verdict) -> Counterexample | None:
    return verdict.counterexample if isinstance(verdict, Refuted | Undecided) else None


def _repaired(statement: Statement) -> str | None:
    sibling = f"{statement.id}~repaired"
    return sibling if sibling in catalogue([statement]) else None


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 3)
