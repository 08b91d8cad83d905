"""Shrink a counterexample that a worst case gave: fewer rounds, local steps and clients, then dimensions and digits.

The descent is that of search/shrink.py: the kernel decides every step, and nothing is kept that it does not refute.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from fedaudit.errors import UserError

from .. import kernel
from ..kernel import Malformed, Rejected
from ..search.shrink import descend
from ..settings.base import Json, Reading
from .blocks import blocks
from .cone import smallest
from .faces import face
from .lower import attainable, coarser, runs
from .parameters import Point, RunClaim, points_of
from .worst import Worst, instance_of, reached, worst_at, written

__all__ = ["shrunk"]

MOST = 40  # leaves of a run that is made smaller
SIZES = ("T", "E", "C")  # in the order in which they are made smaller


def shrunk(reading: Reading, point: Point, refuting: Worst) -> Json:
    """The certificate of a simpler instance that refutes the claim too; the one at hand, if there is none."""

    def smaller_cases(case: tuple[Point, Worst]) -> Iterator[tuple[int, tuple[Point, Worst] | None]]:
        for smaller in _smaller(reading, case[0]):
            try:
                worst = worst_at(reading, smaller, MOST)
            except UserError:
                continue
            yield 0, (smaller, worst) if worst.refuted and worst.certificate is not None else None

    point, refuting = descend((point, refuting), smaller_cases)
    own: Json = dict(refuting.certificate or {})
    return min((own, *_shorter(reading, point)), key=_length)


def _smaller(reading: Reading, point: Point) -> Iterator[Point]:
    """Points with the same constants and one size at 1, or halved; indices at the end of their range."""
    run_claim = RunClaim.of(reading)
    steps = {name: {x for row in rows for x in ([row] if isinstance(row, str) else row)}
             for name, rows in point.data.get("steps", {}).items()}  # fmt: skip
    if any(len(each) > 1 for each in steps.values()):
        return  # they may not suit a shorter run
    constants = {**point.data["constants"], **point.data.get("parameters", {})}
    constants |= {name: x for name, each in steps.items() for x in each}
    values = {name: Fraction(x) for name, x in constants.items() if name in run_claim.names}
    for size in SIZES:
        n = point.data[size]
        for less in sorted({1, n // 2} - {n, 0}):
            sizes = {run_claim.sizes[s]: Fraction(less if s == size else point.data[s]) for s in SIZES}
            if run_claim.sampling:
                drawn = point.data["participation"]["m"]
                sizes[run_claim.drawn] = Fraction(min(drawn, int(sizes[run_claim.sizes["C"]])))
            try:
                (points, *_) = points_of(reading, values | sizes)
            except (UserError, Malformed, Rejected, ValueError):
                continue
            yield from (one for one in points if one.at["relation"] == point.at["relation"])


def _shorter(reading: Reading, point: Point) -> Iterator[Json]:
    """The first simpler run that still refutes."""
    _, asked = reached(reading, point, MOST)
    programme = attainable(asked)
    shape = blocks(programme)
    best = smallest(shape.cone)
    if best is None:
        return
    for run in runs(programme, shape, best, face(shape, best)):
        if _refutes(reading, point, instance_of(programme, point, run)) is None:
            continue
        simpler = (_refutes(reading, point, instance_of(programme, point, one)) for one in coarser(programme, run))
        yield from islice((certificate for certificate in simpler if certificate is not None), 1)
        return


def _refutes(reading: Reading, point: Point, instance: Json) -> Json | None:
    """Its certificate, if the kernel refutes the claim with it."""
    try:
        lhs, rhs, holds = kernel.evaluate(reading.claim, instance, (), dict(point.at))
    except (Malformed, Rejected):
        return None
    return None if holds else written(reading.claim, point, instance, lhs, rhs)


def _length(certificate: Json) -> tuple[int, int]:
    """Fewer dimensions first, then shorter numbers."""
    instance = certificate["instance"]
    return int(instance["d"]), len(str(instance["clients"])) + len(str(instance["w0"]))
