"""What an audit's row says that pictures mark: the counterexample, the tightest instance, worst cases.

Rows are read here and nowhere else in this folder.
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from ..results.json_fields import Json
from .certified_number import number
from .kinds import Mark
from .worst_marks import WorstMark

__all__ = ["Row", "counterexample_of", "has_worst_cases", "largest_exact", "tightest_at", "tightest_of", "worst_of"]

Row = Json


def counterexample_of(row: Row) -> object:
    """The certificate against the statement or against a reading of it; its path where the row has only that."""
    return row.get("certificate") or row.get("counterexample")


def tightest_of(row: Row | None, relation: int) -> Mark | None:
    """Right and left side of the counterexample, or of the tightest instance that was replayed exactly."""
    certificates = [(_part(row, "certificate"), "counterexample")]
    certificates += [(_part(_part(row, move), "tightest"), "tightest found") for move in ("hunt", "verify")]
    for certificate, said in certificates:
        if certificate.get("lhs") is not None and _part(certificate, "at").get("relation", 0) == relation:
            lhs, rhs = number(str(certificate["lhs"])), number(str(certificate["rhs"]))
            if lhs > 0 and rhs > 0:
                return Mark(rhs, lhs, f"{said}: {lhs / rhs:.3g}")
    return None


def tightest_at(row: Row | None, index: str) -> Mark | None:
    """The share of its bound that the tightest instance uses, at its round; `index` is the letter of that, or none."""
    sides = tightest_of(row, 0)
    if sides is None:
        return None
    certificate = _part(_part(row, "hunt"), "tightest") or _part(_part(row, "verify"), "tightest")
    if "instance" not in certificate:  # of a refuted row, whose instance is that of its certificate
        return None
    instance = certificate["instance"]
    at = certificate["at"].get(index, instance.get("T", 1)) if index else instance.get("T", 1)
    sizes = ", ".join(f"{k} = {instance[k]}" for k in ("C", "d", "E") if k in instance)
    sizes += f", {index or 'T'} = {at}"
    share = min(sides.y / sides.x, sides.x / sides.y)
    return Mark(float(at), share, f"tightest instance found: {share:.3g} ({sizes})")


def worst_of(row: Row | None, index: str, relation: int = 1) -> tuple[WorstMark, ...]:
    """Returns all worst cases of one relation, by rounds; `index` is the letter of the round, or none."""
    cases: list[WorstMark] = []
    for case in cast("list[Row]", _part(row, "hunt").get("worst") or []):
        at = case["point"]
        place = at.get(index) or at.get("T")
        if not case["lower"] or place is None or case.get("relation", 1) != relation:
            continue
        sizes = ", ".join(f"{k} {at[k]}" for k in ("C", "E") if k in at)
        cases.append(WorstMark(float(Fraction(place)), case["lower"], case["upper"], case.get("name") or sizes))
    return tuple(sorted(cases, key=lambda case: (case.x, case.lower)))


def largest_exact(row: Row | None, relation: int) -> WorstMark | None:
    """Returns the largest of the exact worst cases along t."""
    return max((case for case in worst_of(row, "t", relation) if case.exact), key=lambda case: case.lower, default=None)


def has_worst_cases(row: Row) -> bool:
    """Whether worst cases were looked for with success."""
    return bool(_part(row, "hunt").get("worst"))


def _part(row: Row | None, name: str) -> Row:
    """Returns a part of a row that is data; nothing where there is none."""
    value = (row or {}).get(name)
    return cast("Row", value) if isinstance(value, dict) else {}
