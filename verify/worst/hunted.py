"""What `hunt` says of worst cases: a refutation where one is above the bound, otherwise intervals at a few points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fedaudit.bounds.statement import Statement
from fedaudit.errors import UserError

from .. import kernel
from ..settings.base import Reading
from ..verdict import Counterexample, Judged, Refuted, searched
from .points import proposed
from .worst import Worst, worst_at

__all__ = ["examined", "worst_cases"]

LARGEST = 12  # leaves: milliseconds for the solver


def worst_cases(statement: Statement, reading: Reading) -> Iterator[Worst]:
    """At a few ordinary points in reach; none where the statement is out of reach."""
    if statement.kind != "inequality" or statement.setting != "run" or reading.dropped:
        return
    for point in proposed(reading):
        try:
            yield worst_at(reading, point, LARGEST)
        except UserError:
            continue


def examined(statement: Statement, reading: Reading, verdict: Judged) -> Judged:
    """The verdict with worst cases, or a refutation by one of them that the kernel accepts."""
    if isinstance(verdict, Refuted):
        return verdict
    found = list[Worst]()
    for one in worst_cases(statement, reading):
        if one.refuted and one.certificate is not None and one.lower is not None and _accepted(one.certificate):
            return Refuted(statement.id, Counterexample(one.certificate, float(one.lower)), verdict.search)
        found.append(one)
    return searched(
        verdict, worst=tuple(one.brief() for one in found if one.lower is not None or one.upper is not None)
    )


def _accepted(certificate: Mapping[str, Any]) -> bool:
    try:
        kernel.check(certificate)
    except kernel.Rejected:
        return False
    return True
