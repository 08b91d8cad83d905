"""A verdict from what a search saw: exact replays of the most dangerous candidates, and the sturdiest counterexample.

Only the kernel makes it `Refuted`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from fedaudit.progress import told

from ..kernel.core.budget import SEARCH, metered
from ..results.row import Horizon
from ..results.verdicts import NOTHING_MET, Counterexample, Judged, Refuted, Search, Survived, Undecided
from ..search.attack import REPLAYS, worth
from ..search.climb import VIOLATION, Found, Searched
from ..search.effort import OPEN, Effort
from ..search.endure import Endurance, breaks, endurance, tougher
from ..search.rationalise import Replayed, certificate, certify, refusal
from ..search.score import BEYOND_ROUNDING
from ..search.shrink import reduced, shrink, simplicity
from ..settings.base import Json, Reading, Setting, Shape

__all__ = ["Claims", "Replay", "judge"]

PATIENT = 20 * SEARCH  # operations, a few seconds, of one replay that decides a verdict
CHEAP, DEAR = 100, 2000  # sizes of instances (clients × dimension × steps) that are replayed to say how tight they are

Claims = Mapping[str, Json]
Replay = Callable[[Found], Replayed | None]


def judge(
    reading: Reading,
    world: Setting,
    seen: Searched,
    siblings: Claims | None = None,
    effort: Effort = OPEN,
    replay: Replay | None = None,
) -> Judged:
    """A verdict from what a search saw; the effort says how many candidates that hold are replayed.

    `replay` says what the kernel does of a candidate, where another judgement may have asked about it already.
    """
    replay = replay or partial(certify, reading, world)
    identifier, left_out = reading.lowered.id, world.untried(reading)
    none = world.nothing_met or (NOTHING_MET if seen.sizes or not left_out else left_out[0])
    sizes = tuple(size for size in seen.sizes if size.counts)
    search = Search(seen.instances, sizes=sizes, covered=seen.covered, untried=left_out, none="" if seen.best else none)
    if not seen.best:
        return Undecided(identifier, none, search=search)
    replays, fallen, unseen = list[Replayed](), list[Replayed](), list[Found]()
    violations = sorted((f for f in seen.best if f.margin > VIOLATION), key=worth)
    suspects = violations[:REPLAYS]
    others = [f for f in seen.best if f not in suspects]
    small = [f for f in others if f.scores.shape.cost <= CHEAP]
    holding = [f for f in small if f.margin <= VIOLATION][: effort.steady]
    cheap = [f for f in small if f.margin > VIOLATION][:REPLAYS] + holding
    dear = [f for f in others[: effort.steady_dear] if CHEAP < f.scores.shape.cost <= DEAR]
    asked = suspects + sorted(cheap + dear, key=_promise)
    for n, found in enumerate(asked):
        told("exact replays", n, len(asked))
        beaten = any(found.ratio <= replayed.ratio for replayed in replays)
        if beaten and found.margin < -BEYOND_ROUNDING and not world.fitted:
            continue  # it says nothing about the claim, and less about how tight it is
        replayed = replay(found)
        if replayed is None and found.margin > BEYOND_ROUNDING and world.ordinary(reading, [found.scores.shape]):
            replayed = certify(reading, world, reduced(reading, world, found))
            replayed = None if replayed is None or replayed.holds else replayed
        if replayed is None:
            unseen += [found] if found.margin > BEYOND_ROUNDING else []
        elif replayed.holds:
            replays.append(replayed)
            is_equation = reading.claim["then"][replayed.at["relation"]][0] == "="
            if replayed.equal and n >= len(suspects) and not is_equation and not world.fitted:
                break  # nothing that holds is tighter
        else:
            fallen.append(replayed)
            break
    if fallen:
        told("a sturdy counterexample", 0, 1)
        if effort.sturdy:
            against = _counterexample(reading, world, fallen[0], violations, siblings or {}, replay)
        else:
            against = _first(reading, world, fallen[0], siblings or {})
        return Refuted(identifier, against, search)
    if 0 < len(unseen) <= REPLAYS:
        told("large exact replays", 0, len(unseen))
        unseen = [found for found in unseen if not _holds_after_all(reading, world, found)]
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


def _holds_after_all(reading: Reading, world: Setting, found: Found) -> bool:
    """Whether the claim holds on a candidate whose replay takes more work than a certificate may.

    Floats may see a violation that is their own rounding, where values are differences of far larger numbers. That it
    holds needs no certificate, so that one replay more decides the verdict; a violation would need one, and none that
    takes so much is accepted.
    """
    # Of nested meters the outer one counts, so that the smaller one of each replay does not end it.
    with metered(PATIENT):
        replayed = certify(reading, world, found)
    return replayed is not None and replayed.holds


def _promise(found: Found) -> float:
    """The tightest first; last where a ratio says nothing."""
    return -found.ratio if math.isfinite(found.ratio) else math.inf


def _counterexample(
    reading: Reading,
    world: Setting,
    first: Replayed,
    violations: Sequence[Found],
    siblings: Claims,
    replay: Replay,
) -> Counterexample:
    """The sturdiest counterexample, shrunk: it lasts at longer horizons, then it breaks the most siblings.

    How long each candidate lasts is seen at a glance. Only if the kernel does not say the same of the one that is
    shown, it is asked about all of them.
    """
    others = cache(partial(_others, reading, world, tuple(violations), replay))
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


def _first(reading: Reading, world: Setting, first: Replayed, siblings: Claims) -> Counterexample:
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
    reading: Reading, world: Setting, violations: Sequence[Found], replay: Replay, fragile: bool, spares: bool
) -> list[Replayed]:
    """Other counterexamples, where the first one does not last or spares a sibling: of as many shapes as there are.

    Violations of one shape are often copies of one another, which spare the same siblings.
    """
    met = Counter[Shape]()
    turns = list[tuple[int, int]]()  # how many of its shape come before a violation, and its own place
    for place, one in enumerate(violations if fragile or spares else ()):
        turns.append((met[one.scores.shape], place))
        met[one.scores.shape] += 1
    again = [replay(violations[place]) for _, place in sorted(turns)[:REPLAYS]]
    tough = tougher(reading, world, violations) if fragile else None
    return [one for one in (tough, *again) if one is not None and not one.holds]


def finite(x: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return x if math.isfinite(x) else None
