"""A theorem about the quantities of the claim's setting, with the constants of the claim's own assumptions.

The theorems stand in `theorems/`, one line each with the reason why it holds. An instance of one asks that the claim is
about that setting, makes its assumptions (and none that it excludes) and meets its conditions, and that all it speaks
of is what the world gives under these names: a symbol of the claim that is no letter, index or chosen step size, or a
quantity that the proof declares (`quantities`) and the claim has not. That such a theorem is true is nothing that the
kernel computes: the tests try each on instances, and every use of one is a line that the proof takes on trust, counted
and listed like a solver's; it may not be what is claimed. Not claimed: anything about another setting, even if its
quantities have the same names, or about clients and coordinates that are not shown to be in range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from ...core.claim import Claim
from ...core.expression import Tree, free, parse
from ...core.rational import Node, Rejected
from ..judgement import Context, Judgement, among, in_domain, put, require, told, within, yields
from ..theorems import datasets, networks, users
from ..theorems.theorem import Theorem, Theory
from ..vectors.frame import made

THEORIES: Mapping[str, Theory] = {
    "erm": datasets.ERM, "table": datasets.TABLE, "algorithm": datasets.ALGORITHM,
    "graph": networks.GRAPH, "network": networks.NETWORK, "meta": users.META,
}  # fmt: skip
RANGES = {"i": "C", "j": "D"}  # from 1 to the number of clients, of coordinates


def quantities(node: Node | None, claim: Claim) -> dict[str, str]:
    """The quantities of the setting that the proof declares, with their domains."""
    theory = THEORIES.get(claim.setting)
    if node is None:
        return {}
    if theory is None:
        raise Rejected(f"proof.quantities: got the setting {claim.setting!r}, expected one with theorems")
    names = [entry.one_of(theory.quantities) for entry in node.items()]
    return {name: theory.quantities[name] for name in names}


def check(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """`data`: {"name": of the theorem, "at": the values of its indices}."""
    fields, claim = data.fields("name", "at"), context.claim
    theory = THEORIES.get(claim.setting)
    if theory is None or claim.method is not None:
        raise Rejected(f"got a theorem about {claim.setting!r}, expected a setting that has some")
    theorem = theory.theorems[fields["name"].one_of(theory.theorems)]
    within(rests, stated.under, context.forms)
    values = {name: parse(value) for name, value in fields["at"].mapping().items()} if "at" in fields else {}
    open_ = _names(theorem) & set(RANGES)
    if set(values) != open_:
        raise Rejected(f"got values for {sorted(values)}, expected them for {sorted(open_)}")
    constants = constants_of(theorem, claim)
    for name in _names(theorem) - open_ - set(constants):
        given = name in claim.domains and name not in claim.for_all and name not in claim.choose
        if not (given or name in context.quantities):
            raise Rejected(f"got {name!r}, expected what the claim's setting or the proof's quantities have")
    for name, value in values.items():
        in_domain(value, "integer", rests, context)
        require(("<=", fmpq(1), value), rests, context)
        require(("<=", value, RANGES[name]), rests, context)
    for condition in theorem.when:
        require(put(condition, {**values, **constants}), rests, context)
    yields(put(theorem.then, {**values, **constants}), stated, rests, context)
    if any(among(relation, [stated.says], context.forms) for relation in context.claim.then):
        raise Rejected("got a theorem that is the claim itself, expected a step of its proof")
    context.trusted.append(f"{told(stated.says)} ({fields['name'].raw}: {theorem.why})")


def _names(theorem: Theorem) -> set[str]:
    """Symbols and quantities of which it speaks."""
    return {name for relation in (*theorem.when, theorem.then) for side in relation[1:] for name, _ in free(side)}


def constants_of(theorem: Theorem, claim: Claim) -> dict[str, Tree]:
    """The claim's names for the constants of the theorem's assumptions."""
    assumed = dict(made(claim))
    if wrong := [name for name in theorem.excludes if name in {own for own, _ in claim.assumptions}]:
        raise Rejected(f"got {wrong} among the claim's assumptions, expected a claim without it")
    constants: dict[str, Tree] = {}
    for name, letters in theorem.assumes:
        if name not in assumed or len(assumed[name]) != len(letters):
            raise Rejected(f"got a theorem that needs {name}({', '.join(letters)}), expected a claim that assumes it")
        constants |= dict(zip(letters, assumed[name], strict=True))
    return constants
