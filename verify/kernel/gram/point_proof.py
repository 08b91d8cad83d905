"""A proof of a bound at one point, for all losses of the class and all dimensions: multipliers of the programme's
constraints.

It is accepted where factor * rhs - lhs - sum_c multiplier_c c is a semidefinite form plus a constant that is not
negative: then factor * rhs >= lhs wherever every c >= 0 (weak duality). Nothing is asked of where multipliers are from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from flint import fmpq

from ..core.budget import metered
from ..core.loss import ONE, ldl
from ..core.rational import Malformed, Node, Rejected, affordable, shown
from .form import Form, total
from .programme import Programme, programme

FORMAT = "fedaudit-proof/1"
PROOF, SIZE = 40_000_000, 120  # operations for a proof, and leaves
NOISE = {"": "", "none": ", without noise", "signs": ", noise only of the form s v, v of a client and s a fair sign"}


@dataclass(frozen=True, slots=True)
class Proved:
    """lhs <= factor * rhs at the point, whatever the losses, the start and the dimension are."""

    statement: str
    factor: fmpq
    noise: str = ""  # that the point asks for, where the claim allows some: "none" or "signs"

    @property
    def what(self) -> str:
        return f"proof at a point, times {shown(self.factor)}{NOISE[self.noise]}"


def is_proof(file: object) -> bool:
    """Whether it says of itself that it is a proof, and no counterexample."""
    return isinstance(file, dict) and cast("dict[str, object]", file).get("format") == FORMAT


def prove(certificate: object, most: int = PROOF) -> Proved:
    """Accept a proof, or raise `Malformed` or `Rejected` with the first thing that is wrong."""
    try:
        node = Node(json.loads(json.dumps(certificate)), "proof")
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"proof: got {error}, expected plain JSON data") from None
    with metered(most):
        return _proved(node)


def _proved(node: Node) -> Proved:
    fields = node.fields("format statement claim point at factor multipliers")
    fields["format"].one_of((FORMAT,))
    claim = fields["claim"].mapping()
    statement = fields["statement"].identifier()
    if "id" not in claim or claim["id"].raw != statement:
        raise fields["statement"].malformed("the id of the claim")
    if "kind" not in claim or claim["kind"].raw != "inequality":
        raise Rejected("claim.kind: got no inequality, expected a claim about all instances")
    worst = programme(fields["claim"].raw, fields["point"].raw, fields["at"].raw)
    factor = fields["factor"].rational(least=0)
    entries = fields["multipliers"].mapping()
    if unknown := sorted(set(entries) - set(worst.constraints)):
        raise Rejected(f"proof.multipliers: got {shown(unknown)}, expected constraints of the programme")
    multipliers = {name: entry.rational(least=0) for name, entry in entries.items()}
    semidefinite(rest(worst, factor, multipliers))
    noise = fields["point"].mapping().get("noise")
    return Proved(statement, factor, "" if noise is None else noise.kind(("none", "signs")))


def rest(worst: Programme, factor: fmpq, multipliers: dict[str, fmpq]) -> Form:
    """factor * rhs - lhs - sum_c multiplier_c c."""
    weights = [factor, -ONE, *(-x for x in multipliers.values())]
    return total(weights, [worst.rhs, worst.lhs, *(worst.constraints[name] for name in multipliers)])


def semidefinite(form: Form) -> None:
    """Raise `Rejected` unless the form is never negative."""
    if form.linear:
        name, x = min(form.linear.items())
        raise Rejected(f"proof: got {shown(x)} times {name} that is left, expected values and squares to cancel")
    if form.constant < 0:
        raise Rejected(f"proof: got the constant {shown(form.constant)} that is left, expected none below 0")
    leaves = sorted({leaf for pair in form.gram for leaf in pair})
    affordable(len(leaves), SIZE, "proof")
    place = {leaf: n for n, leaf in enumerate(leaves)}
    matrix = [[fmpq(0)] * len(leaves) for _ in leaves]
    for (a, b), x in form.gram.items():
        matrix[place[a]][place[b]] += x / 2
        matrix[place[b]][place[a]] += x / 2
    if ldl(matrix) is None:
        raise Rejected("proof: got an indefinite form, expected a semidefinite one")
