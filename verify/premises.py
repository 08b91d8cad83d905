"""Hand-written premises of a derivation, tried on the simulated runs of the statement that they serve.

A premise is what a proof says about losses and runs without deciding it. Where it relates quantities that the setting
measures, it must hold on every admissible run; the kernel has the last word on one that does not. A premise about
anything else (an auxiliary sequence of the proof, say) is not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sympy.core.relational import Relational  # pyright: ignore[reportMissingTypeStubs]

from fedaudit.bounds.derivation import Known
from fedaudit.bounds.derive import premises
from fedaudit.bounds.statement import Statement

from .certify import certify
from .check import genes_of, score
from .evaluate import UnknownName
from .genome import draw
from .hunt import VIOLATION, Found
from .kernel import Malformed
from .lower import lower, tree
from .seeds import seed_for
from .settings import setting
from .settings.base import Reading, Setting

INSTANCES, SHAPES, SIZE = 48, 12, 60  # draws of a shape, shapes, and their largest size

Status = Literal["holds", "fails", "suspect", "not-measured"]


@dataclass(frozen=True, slots=True)
class Tried:
    """`fails`: the kernel confirms it on `instance`; `suspect`: only floats see it."""

    because: str
    claim: str
    status: Status
    instances: int = 0
    instance: Mapping[str, Any] | None = None

    def finding(self) -> str | None:
        if self.status == "fails":
            return f"premise: {self.because}: {self.claim} fails on an admissible run, {dict(self.instance or {})}"
        return f"premise: {self.because}: floats see {self.claim} fail" if self.status == "suspect" else None


def tried(statement: Statement, catalogue: Mapping[str, Statement], seed: int = 0) -> tuple[Tried, ...]:
    """Every premise of the statement's own derivation on random admissible instances of its setting."""
    known = dict.fromkeys(premises(statement, catalogue))
    if not known:
        return ()
    world, lowered = setting(statement.method), lower(statement)
    return tuple(_try(statement, Reading(lowered), world, premise, seed) for premise in known)


def _try(statement: Statement, reading: Reading, world: Setting, premise: Known, seed: int) -> Tried:
    row = Tried(premise.because, str(premise.claim), "not-measured")
    needed = [r.claim for r in premise.requires]
    if not all(isinstance(c, Relational) for c in (premise.claim, *needed)):
        return row
    count, suspect = 0, False
    try:
        then, *extra = (tree(c) for c in (premise.claim, *needed))
        claim = {**reading.claim, "then": [then], "when": [*reading.claim["when"], *extra]}
        about = replace(reading, lowered=replace(reading.lowered, claim=claim, units=((0.0, 0.0),)))
        for shape in [s for s in world.shapes(reading) if s.cost <= SIZE][:SHAPES]:
            rng = np.random.default_rng(seed_for(seed, statement.id, "premise", premise.because, shape))
            scores = score(about, world, shape, draw(genes_of(about, world, shape), INSTANCES, rng))
            count += scores.admissible
            for found in (Found(scores, int(r)) for r in np.flatnonzero(scores.margin > 1e3 * VIOLATION)[:2]):
                suspect = True
                made = certify(about, world, found)
                if made is not None and not made.holds:
                    return replace(row, status="fails", instances=count, instance=made.instance)
    except (UnknownName, KeyError, IndexError):  # it speaks of what is not measured or drawn, or beyond the run
        return row
    except Malformed:  # the kernel's world has no such quantity: floats alone have seen it
        pass
    return replace(row, status="suspect" if suspect else "holds" if count else "not-measured", instances=count)
