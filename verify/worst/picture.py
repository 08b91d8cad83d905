"""Data for a picture of a worst case: both sides along its run, exact at every place that the tables know."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedaudit.bounds.language.statement import Statement

from .. import kernel
from ..kernel import Malformed, Rejected
from ..pictures.kinds import Curves, along
from ..search.claim_index import ROUND
from ..settings.base import Json

__all__ = ["along_run"]


def along_run(statement: Statement, certificate: Json) -> Curves | None:
    """Along the index of rounds, or along T by the first rounds of the run; None where only one place is known."""
    claim, at = certificate["claim"], dict(certificate["at"])
    index = next((name for name in ROUND if name in at), "")
    places = list(_along_index(certificate, index) if index else _along_length(certificate))
    if len(places) < 2 or not all(rhs > 0 for _, _, rhs in places):
        return None
    x, lhs, rhs = (np.array(column, dtype=float) for column in zip(*places, strict=True))
    sizes = {name: certificate["instance"][name] for name in ("C", "d", "E", "T")}
    told = ", ".join(f"{name} = {n}" for name, n in sizes.items())
    caption = f"the worst run over all functions of the class and all dimensions at the last place, {told}; exact"
    steps = claim["method"].get("clock") == "steps"
    label = f"{'step' if steps else 'round'} ${index}$" if index else f"{'steps' if steps else 'rounds'} $T$"
    return along(statement, x, label, lhs[None], rhs[None], caption)


def _along_index(certificate: Json, index: str) -> Iterator[tuple[int, float, float]]:
    last = certificate["at"][index]
    for n in range(last + 1):
        sides = _sides(certificate, certificate["instance"], {**certificate["at"], index: n})
        if sides is not None:
            yield n, *sides


def _along_length(certificate: Json) -> Iterator[tuple[int, float, float]]:
    """Both sides on the problem with fewer rounds; places that another run would reach are not in the tables."""
    instance = certificate["instance"]
    for T in range(1, instance["T"] + 1):
        cut = {**instance, "T": T}
        if "steps" in instance:
            cut["steps"] = {name: rows[:T] for name, rows in instance["steps"].items()}
        if instance.get("weights", {}).get("kind") == "rows":
            cut["weights"] = {**instance["weights"], "rows": instance["weights"]["rows"][:T]}
        sides = _sides(certificate, cut, certificate["at"])
        if sides is not None:
            yield T, *sides


def _sides(certificate: Json, instance: Json, at: Json) -> tuple[float, float] | None:
    try:
        lhs, rhs, _ = kernel.evaluate(certificate["claim"], dict(instance), (), dict(at))
    except (Malformed, Rejected):
        return None
    return float(lhs), float(rhs)
