"""The five moves on one statement, as rows of the command line's contract.

`effort` is nominal seconds: work is counted in instances at a fixed nominal rate, never by the clock, so that a seed
gives the same rows on every run and for every number of workers (`seconds` excepted, which is measured).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fedaudit.bounds.catalogue import catalogue
from fedaudit.bounds.derive import derive
from fedaudit.bounds.lint import lint
from fedaudit.bounds.show import latex
from fedaudit.bounds.statement import Assumption, Statement

from .certify import Replayed, certificate, certify
from .claims import lower
from .experiments import experiment
from .hunt import POPULATION, VIOLATION, Found, Searched, climb, order, sample
from .premises import tried
from .repair import repair
from .settings import setting_of
from .settings.base import Reading, Setting, Shape
from .shrink import shrink, simplicity
from .statistical import statistics
from .sturdy import breaks, endurance, tougher

RATE = 8000  # instances a nominal second
LEAST_SAMPLE = 10_000  # admissible instances that `verify` tries at least
MOST_TURNS = 5
LEAST_SHAPES, LEAST_GENERATIONS = 16, 6  # of a hunt, however small its effort
REPLAYS = 5  # most dangerous candidates that the kernel replays
CHEAP = 100  # size of an instance (clients × dimension × steps) that is replayed only to report how tight it is
CLEAR = 1e-3  # a float violation this large ends the search: the kernel has the word
LEAD = 6  # shapes that `hunt` goes on with after the first round
LITERAL_SHARE = 0.25  # of the hunting effort, for each implicit assumption
STRENGTH = ("undecided", "survived", "proved", "refuted", "not-reproduced", "reproduced-if", "reproduced")
STURDY = ("persists", "persists_until", "breaks_too")  # what a row says of a counterexample besides its certificate

Row = dict[str, Any]
Claims = Mapping[str, Mapping[str, Any]]
NOTHING_TO_HUNT: Row = {
    "verdict": "undecided", "evidence": "numerical", "instances": 0, "tightness": None, "certificate": None,
    "reason": "an observation, not a claim about all instances: `verify` observes it again",
}  # fmt: skip
RATE_FAILS = "the explicit rate of the reading fails (see `counterexample`); what is printed names no rate"
WITNESS_FAILS = "the witness fails (see `counterexample`); another one may do"


def quoted_row(statement: Statement, seed: int) -> Row:
    """Another paper's theorem: without its assumptions there is nothing that could hold or fail."""
    reason = f"quoted, source not encoded: {statement.quoted}"
    row: Row = {"id": statement.id, "verdict": "undecided", "evidence": "numerical", "instances": 0, "tightness": None}
    return {**row, "certificate": None, "reason": reason, "seconds": 0.0, "seed": seed}


def lint_row(statement: Statement) -> Row:
    found = lint(statement, catalogue([statement]))
    return {"id": statement.id, "findings": [{"rule": f.rule, "message": f.message} for f in found]}


def derive_row(statement: Statement) -> Row:
    made = derive(statement, catalogue([statement]))
    measured = tried(statement, catalogue([statement]))
    steps = [
        {
            "claim": str(s.claim),
            "latex": latex(s.claim, statement.glossary),
            "where": s.where,
            "note": s.note,
            "status": s.decision.status,
            "how": s.decision.how,
            "because": list(s.because),
        }
        for s in made.steps
    ]
    return {
        "id": statement.id,
        "status": made.status,
        "factor": made.factor,
        "terms": [{**t.row(), "says": str(t)} for t in made.terms],
        "evidence": made.evidence,
        "proved": made.proved,
        "cites": list(made.cites),
        "proved_from": list(made.proved_from),
        "findings": [*made.findings, *filter(None, (t.finding() for t in measured))],
        "premises": list(made.premises),
        "measured": [t.row() for t in measured],
        "steps": steps,
    }


def verify_row(statement: Statement, seed: int, effort: float, backend: str = "numpy") -> Row:
    """Property testing on random admissible instances; an observed claim is observed again."""
    if statement.quoted:
        return quoted_row(statement, seed)
    if statement.kind == "experiment":
        return observe_row(statement, seed, effort)
    reading, world = read(statement, backend=backend)
    began = time.perf_counter()
    judged = judge(reading, world, _sampled(reading, world, seed, effort), _siblings(statement))
    row = {"id": statement.id, **_by_kind(statement, judged)}
    sampled = statistics(reading, world, seed)
    if sampled is not None:
        row["statistical"] = sampled.row()
        if sampled.suspects and row["verdict"] == "survived":
            row |= {"verdict": "undecided", "evidence": "statistical"}
            row["reason"] = f"{sampled.suspects} sampled instances exceed the bound at confidence 1 - {sampled.delta}"
    return {**row, "seconds": _since(began), "seed": seed}


def hunt_row(statement: Statement, seed: int, effort: float, backend: str = "numpy") -> Row:
    """Search for a counterexample, shrink it, certify it."""
    if statement.quoted:
        return quoted_row(statement, seed)
    if statement.kind == "experiment":
        return {"id": statement.id, **NOTHING_TO_HUNT, "seconds": 0.0, "seed": seed}
    reading, world = read(statement, backend=backend)
    began = time.perf_counter()
    judged = _by_kind(statement, judge(reading, world, _hunted(reading, world, seed, effort), _siblings(statement)))
    return {"id": statement.id, **judged, "seconds": _since(began), "seed": seed}


def observe_row(statement: Statement, seed: int, effort: float) -> Row:
    """An experiment, run again."""
    began = time.perf_counter()
    seen = experiment(statement.id).run(seed, effort)
    row: Row = {"id": statement.id, "verdict": seen.verdict}
    row |= {"evidence": "numerical", "instances": seen.instances, "tightness": None, "certificate": None}
    row |= {"reason": seen.reason, "under": list(seen.under), "seen": list(seen.rows)}
    return {**row, "seconds": _since(began), "seed": seed}


def audit_row(statement: Statement, seed: int, effort: float, backend: str = "numpy") -> Row:
    """All moves; the verdict is the strongest that any of them reached."""
    linted, derived = lint_row(statement), derive_row(statement)
    verified = verify_row(statement, seed, effort / 3, backend)
    hunted = hunt_row(statement, seed, effort / 3, backend)
    moves: list[Row] = [verified, hunted]
    if derived["proved"] and not rests_on(statement):
        moves.append({"verdict": "proved", "evidence": "proof", "tightness": None, "certificate": None})
    best = max(moves, key=lambda row: (STRENGTH.index(row["verdict"]), len(row.get("persists", ()))))
    against = next((row for row in (verified, hunted) if row.get("counterexample")), None)
    best = against if against and best["verdict"] in ("survived", "undecided") else best
    verdict, reason = best["verdict"], best.get("reason", "")
    if derived["proved"] and (verdict == "refuted" or against):
        verdict, reason = "undecided", "derive proves it and the kernel refutes it: one of them is wrong; report this"
    stands = verdict != "refuted" and against is None
    literal = () if statement.kind == "experiment" else statement.implicit
    share = effort / 3
    implicit = [literal_row(statement, a, seed, share, backend) if stands else falls_anyway(a) for a in literal]
    tightest = [row["tightness"] for row in (verified, hunted) if row["tightness"] is not None]
    change = repair(statement, catalogue([statement]), seed) if verdict == "refuted" else None
    return {
        "id": statement.id,
        "title": statement.title,
        "kind": statement.kind,
        "verdict": verdict,
        "evidence": best["evidence"],
        "reason": reason,
        **({"how": "dominance" if verdict == "proved" else hunted["how"]} if "how" in hunted else {}),
        "tightness": max(tightest, default=None),
        "certificate": best["certificate"] if verdict == "refuted" else None,
        **({k: best[k] for k in STURDY if k in best} if verdict == "refuted" else {}),
        "rests_on": rests_on(statement),
        **({"counterexample": against["counterexample"]} if against else {}),
        "lint": {"findings": linted["findings"]},
        "derive": {k: v for k, v in derived.items() if k != "id"},
        "verify": {k: v for k, v in verified.items() if k != "id"},
        "hunt": {k: v for k, v in hunted.items() if k != "id"},
        "implicit": implicit,
        "repaired": _repaired(statement),
        "repair": None if change is None else change.change,
        "repair_why": "" if change is None else change.why,
    }


def rests_on(statement: Statement) -> str | None:
    """What an order claim rests on that the kernel does not decide: a closed form of a run, derived by hand."""
    parts = [f"a form derived by hand: {statement.by_hand}"] if statement.by_hand else []
    if statement.form is not None:
        parts.append(f"a form derived by hand, equal to its run on {len(statement.form.replays)} exact replays")
    return "; ".join(parts) or None


def literal_row(statement: Statement, assumption: Assumption, seed: int, effort: float, backend: str = "numpy") -> Row:
    """What becomes of the statement when an assumption that the text does not make is dropped."""
    row: Row = {"name": assumption.name, "says": assumption.says}
    reading, world = read(statement, (assumption.name,), backend)
    if assumption.name not in world.droppable:
        return {**row, "literal": "not-tried", "reason": "the statement has no meaning without it", "certificate": None}
    judged = _by_kind(statement, judge(reading, world, _hunted(reading, world, seed, LITERAL_SHARE * effort)))
    literal = {"refuted": "breaks", "survived": "survives"}.get(judged["verdict"], "undecided")
    return {**row, "literal": literal, "tightness": judged["tightness"], "certificate": judged["certificate"]}


def falls_anyway(assumption: Assumption) -> Row:
    """Without an assumption nothing more is known about a statement that falls with it."""
    reason = "the statement falls with it"
    return {"name": assumption.name, "says": assumption.says, "literal": "not-tried", "reason": reason,
            "certificate": None}  # fmt: skip


def read(statement: Statement, dropped: tuple[str, ...] = (), backend: str = "numpy") -> tuple[Reading, Setting]:
    """The statement as it is computed with, and the world it is about."""
    lowered = lower(statement)
    return Reading(lowered, dropped, backend), setting_of(lowered)


def judge(reading: Reading, world: Setting, searched: Searched, siblings: Claims | None = None) -> Row:
    """A verdict from what a search saw. Only the kernel makes it `refuted`."""
    row: Row = {"verdict": "undecided", "evidence": "numerical", "instances": searched.instances, "tightness": None}
    row |= {"certificate": None, "reason": ""}
    if not searched.best:
        return {**row, "reason": "no admissible instance was found"}
    replays, fallen, unseen = list[Replayed](), list[Replayed](), 0
    violations = sorted((f for f in searched.best if f.margin > VIOLATION), key=_worth)
    suspects = violations[:REPLAYS]
    cheap = [f for f in searched.best if f.scores.shape.cost <= CHEAP and f not in suspects][:REPLAYS]
    for found in suspects + cheap:
        made = certify(reading, world, found)
        if made is None:
            unseen += found.margin > 1e-6
        elif made.holds:
            replays.append(made)
        else:
            fallen.append(made)
            break
    if fallen:
        return {**row, **_refuted(reading, world, fallen[0], violations, siblings or {})}
    if unseen:
        return {**row, "reason": f"floats see {unseen} violations that the kernel could not replay"}
    tightest = max(replays, key=lambda r: -math.inf if math.isnan(r.ratio) else r.ratio, default=None)
    if tightest is None:
        most = min(searched.best[0].ratio, 1.0)  # above 1: rounding
        return {**row, "verdict": "survived", "tightness": finite(most)}
    shown = {"instance": tightest.instance, "at": tightest.at, "lhs": tightest.lhs, "rhs": tightest.rhs}
    exact = {"verdict": "survived", "evidence": "exact", "tightness": finite(tightest.ratio), "tightest": shown}
    return {**row, **exact}


def _by_kind(statement: Statement, row: Row) -> Row:
    """What a counterexample says about a claim that is not about all instances.

    A printed limit or "≈" names no rate, so that no single instance refutes it: only our explicit reading falls. That
    something exists is not refuted by one construction that fails.
    """
    if statement.kind == "order" and statement.method == "order":  # the kernel decides growth, for every constant
        return {**row, "how": "growth path" if row["evidence"] == "exact" else "fitted slope"}
    if statement.method == "network_limit":  # and limits, along a path
        return {**row, "how": "limits along a path" if row["evidence"] == "exact" else "one huge n"}
    if statement.kind not in ("order", "exists") or row["verdict"] != "refuted":
        return row
    reason = WITNESS_FAILS if statement.kind == "exists" else RATE_FAILS
    return {**row, "verdict": "undecided", "reason": reason, "counterexample": row["certificate"], "certificate": None}


def _worth(found: Found) -> tuple[bool, int]:
    """Clear violations before those that may be rounding; among them, small instances first."""
    return found.margin <= 1e-6, found.scores.shape.cost


def _refuted(reading: Reading, world: Setting, first: Replayed, violations: Sequence[Found], siblings: Claims) -> Row:
    """The sturdiest counterexample, shrunk: it lasts at longer horizons, then it breaks the most siblings."""
    chosen, lasting, broken = first, endurance(reading, world, first), breaks(siblings, first)
    for other in _others(reading, world, violations, lasting.fragile, len(broken) < len(siblings)):
        lasts, breaks_too = endurance(reading, world, other), breaks(siblings, other)
        mine, best = (lasts.worth(), len(breaks_too)), (lasting.worth(), len(broken))
        if mine > best or (mine == best and simplicity(other) < simplicity(chosen)):
            chosen, lasting, broken = other, lasts, breaks_too

    def keeps(one: Replayed) -> bool:
        return set(broken) <= set(breaks(siblings, one)) and endurance(reading, world, one).keeps(lasting)

    shrunk = shrink(reading, world, chosen, keeps, len(lasting.refutes))
    return {
        "verdict": "refuted",
        "evidence": "exact",
        "tightness": finite(chosen.ratio),
        "certificate": certificate(reading, shrunk),
        **endurance(reading, world, shrunk).row(),
        "breaks_too": breaks(siblings, shrunk),
    }


def _others(
    reading: Reading, world: Setting, violations: Sequence[Found], fragile: bool, spares: bool
) -> Iterator[Replayed]:
    """Other counterexamples, where the first one does not last or spares a sibling."""
    again = (certify(reading, world, f) for f in violations[:REPLAYS] if fragile or spares)
    tough = tougher(reading, world, violations) if fragile else None
    yield from (one for one in (tough, *again) if one is not None and not one.holds)


def _siblings(statement: Statement) -> Claims:
    """What other readings of the same print claim in the same setting (`id~…`), by id; not what repairs it."""
    root = statement.id.partition("~")[0]
    others = (s for s in catalogue([statement]).values() if s.id != statement.id and s.id.partition("~")[0] == root)
    alike = (s for s in others if s.method == statement.method and s.kind == statement.kind)
    return {s.id: lower(s).claim for s in alike if not s.repairs}


def _sampled(reading: Reading, world: Setting, seed: int, effort: float) -> Searched:
    shapes = world.shapes(reading)
    weights = [shape.cost**-0.5 for shape in shapes]
    total, found = max(LEAST_SAMPLE, effort * RATE), Searched(0, ())
    for turn in range(MOST_TURNS):  # again where the conditions turn many proposals away
        counts = [math.ceil(total * w / sum(weights)) for w in weights]
        parts = [sample(reading, world, [s], n, seed + turn) for s, n in zip(shapes, counts, strict=True)]
        found = _merge([found, *parts])
        if found.instances >= LEAST_SAMPLE:
            break
    return found


def _hunted(reading: Reading, world: Setting, seed: int, effort: float) -> Searched:
    """A short climb on every shape, then a longer one on the most dangerous shapes."""
    shapes = world.shapes(reading)
    populations = effort * RATE / 2 / POPULATION
    stride = max(1, math.ceil(len(shapes) / max(LEAST_SHAPES, populations / LEAST_GENERATIONS)))
    # a small effort takes one shape of every block, each time another place: a fixed one would drop a whole inner loop
    shapes = [shapes[min(n + n // stride % stride, len(shapes) - 1)] for n in range(0, len(shapes), stride)]
    generations = max(LEAST_GENERATIONS, round(populations / len(shapes)))
    first = climb(reading, world, shapes, generations, seed)
    lead: list[Shape] = list(dict.fromkeys(f.scores.shape for f in first.best))[:LEAD]
    if not lead or first.best[0].margin > CLEAR:
        return first
    longer = max(LEAST_GENERATIONS, round(populations / len(lead)))
    return _merge([first, climb(reading, world, lead, longer, seed + 1)])


def _merge(parts: Sequence[Searched]) -> Searched:
    return Searched(sum(p.instances for p in parts), order([f for p in parts for f in p.best]))


def _repaired(statement: Statement) -> str | None:
    known: Mapping[str, Statement] = catalogue([statement])
    sibling = f"{statement.id}~repaired"
    return sibling if sibling in known else None


def finite(x: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return x if math.isfinite(x) else None


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 3)
