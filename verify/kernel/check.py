"""The verdict on a certificate: every assumption and condition holds, and the claimed relation does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod

from flint import fmpq

from . import (
    composite,
    envelope,
    fedmspp,
    fedprox,
    fedprox_nonconvex,
    function,
    limit,
    meta,
    minibatch,
    network,
    noise_sum,
    order,
    per_fedavg,
    perturbed,
    perturbed_nonconvex,
    samples,
    scalar,
    two_group,
    two_group_perturbed,
    weighted,
)
from .claim import Claim
from .claim import read as read_claim
from .expression import Evaluator, Tree, Value, World, free
from .rational import BITS, Malformed, Node, Rejected, shown

FORMAT = "fedaudit-certificate/1"
WORLDS = {
    "composite": composite.read,
    "fedprox": fedprox.read,
    "fedprox_nonconvex": fedprox_nonconvex.read,
    "perturbed": perturbed.read,
    "perturbed_nonconvex": perturbed_nonconvex.read,
    "fedmspp": fedmspp.read,
    "two_group": two_group.read,
    "noise_sum": noise_sum.read,
    "scalar": scalar.read,
    "function": function.read,
    "network": network.read,
    "network_limit": limit.read_network,
    "graph": network.read_graph,
    "messages": network.read_messages,
    "order": order.read,
    "meta": meta.read,
    "per_fedavg": per_fedavg.read,
    "samples": samples.read,
    "two_group_perturbed": two_group_perturbed.read,
    "erm": minibatch.read_erm,
    "table": minibatch.read_table,
    "algorithm": minibatch.read_algorithm,
    "mspp_step": minibatch.read_mspp,
    "subset": minibatch.read_subset,
    "prox": envelope.read_prox,
    "devices": envelope.read_devices,
    "weighted": weighted.read,
}
POINTS = 100_000
_DECIMAL = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?(e[+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The relation fails for certain; the implicit assumptions in `dropped` were not required."""

    lhs: Value
    rhs: Value
    dropped: tuple[str, ...] = ()


def _text(raw: object) -> str:
    """`raw` as JSON text: a key for caches, out of the caller's reach."""
    try:
        return json.dumps(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"certificate: got {error}, expected plain JSON data") from None


@lru_cache(maxsize=64)
def _claim(text: str) -> Claim:
    return read_claim(Node(json.loads(text), "claim"))


@lru_cache(maxsize=8)
def _world(claim_text: str, text: str) -> World:
    claim = _claim(claim_text)
    if claim.setting not in WORLDS:
        raise Malformed(f"claim.setting: got {claim.setting!r}, expected one of {', '.join(WORLDS)}")
    made = WORLDS[claim.setting](Node(json.loads(text), "instance"), claim)
    if taken := set(claim.for_all) & set(made.values):
        raise Malformed(f"claim.for_all: got {sorted(taken)}, expected names that the instance does not give")
    for name, arity in claim.needs():
        if arity < 0:
            made.value(name)
        elif len(made.ranges.get(name, ())) != arity:
            raise Malformed(f"claim: got {name!r} with {arity} indices, expected one of {sorted(made.ranges)}")
    if claim.choose and not isinstance(made, fedprox.FedProx | weighted.Weighted):
        raise Malformed(f"claim.choose: got step sizes, expected none in the setting {claim.setting!r}")
    return made


@lru_cache(maxsize=8)
def _admit(claim_text: str, text: str, dropped: tuple[str, ...]) -> World:
    claim, made = _claim(claim_text), _world(claim_text, text)
    if not set(dropped) <= {name for name, _ in claim.implicit} or len(set(dropped)) < len(dropped):
        raise Malformed(f"dropped: got {list(dropped)}, expected implicit assumptions of the claim, each once")
    for name, kind in claim.domains.items():
        made.inhabits(name, kind)
    for n, condition in enumerate(claim.when):
        names = [name for name in claim.for_all if any((name, -1) in free(side) for side in condition[1:])]
        ranges = [_range(claim.for_all[name], made) for name in names]
        if prod(map(len, ranges)) > POINTS:
            raise Rejected(f"claim.when[{n}]: got more than {POINTS} points, expected a smaller instance")
        for point in product(*ranges):
            scope = dict(zip(names, point, strict=True))
            if not made.meets(condition, scope):
                raise Rejected(f"claim.when[{n}]: got a condition that fails at {scope}, expected it everywhere")
    for name, args in (*claim.let, *(a for a in claim.implicit if a[0] not in dropped)):
        made.assume(name, args)
    return made


def _range(ends: tuple[Tree, Tree], made: World) -> range:
    low, high = (Evaluator(made).integer(end, {}) for end in ends)
    return range(low, high + 1)


def world(claim: object, instance: object) -> World:
    """The instance as a world of the claim's setting: value(name), at(name, indices), assume(name, args)."""
    return _world(_text(claim), _text(instance))


def admit(claim: object, instance: object, dropped: Iterable[str] = ()) -> World:
    """The world, or `Rejected` naming the first assumption or condition that fails."""
    return _admit(_text(claim), _text(instance), tuple(dropped))


def admissible(claim: object, instance: object, dropped: Iterable[str] = ()) -> bool:
    try:
        admit(claim, instance, dropped)
    except Rejected:
        return False
    return True


def evaluate(claim: object, instance: object, dropped: Iterable[str], at: object) -> tuple[Value, Value, bool]:
    """Both sides of the relation at `at` on an admissible instance, and whether it holds; all certain."""
    made, parsed = admit(claim, instance, dropped), _claim(_text(claim))
    given = Node(at, "at").fields(" ".join(("relation", *parsed.for_all)))
    relation = parsed.then[given.pop("relation").integer(0, len(parsed.then) - 1)]
    scope: dict[str, int] = {}
    for name, ends in parsed.for_all.items():
        allowed = _range(ends, made)
        scope[name] = given[name].integer(allowed.start, allowed.stop - 1)
    return made.settle(relation, scope)


def claimed(x: Value) -> str:
    """A value as a certificate states it: an exact rational, or a ball "middle +/- radius"."""
    if isinstance(x, fmpq):
        return str(x)
    if 1000 * x.rad() > abs(x.mid()):  # a bracket: `str` would keep none of its digits
        return f"{x.mid().str(20, radius=False)} +/- {1.001 * float(x.rad()):.3e}"
    middle, _, radius = x.str(20).strip("[]").partition("+/-")
    return f"{middle.strip() or '0'} +/- {radius.strip() or '0'}"


def _agree(side: Node, x: Value) -> None:
    """Reject unless the certificate states the value found."""
    if isinstance(x, fmpq):
        if side.rational(digits=BITS) != x:
            raise Rejected(f"{side.where}: got {shown(side.raw)}, expected {shown(x)}")
        return
    parts = side.raw.split(" +/- ") if isinstance(side.raw, str) else []
    if len(parts) != 2 or not all(_DECIMAL.fullmatch(part) for part in parts):
        raise side.malformed('a ball such as "1.25 +/- 1e-9"')
    middle, radius = (fmpq(f.numerator, f.denominator) for f in map(Fraction, parts))
    widest = max(abs(middle) / 1000, 2 * x.rad().fmpq())  # what is known up to a bracket is wide
    if not 0 <= radius <= widest or abs(x - middle) > radius:
        raise Rejected(f"{side.where}: got {shown(side.raw)}, expected {claimed(x)} to three digits or more")


def check(certificate: object) -> Accepted:
    """Accept a counterexample, or raise `Malformed` or `Rejected` with the first thing that is wrong."""
    given = Node(json.loads(_text(certificate)), "certificate").fields(
        "format statement claim dropped instance at lhs rhs"
    )
    given["format"].one_of((FORMAT,))
    if given["statement"].identifier() != _claim(_text(given["claim"].raw)).id:
        raise given["statement"].malformed("the id of the claim")
    dropped = tuple(entry.name() for entry in given["dropped"].items())
    lhs, rhs, holds = evaluate(given["claim"].raw, given["instance"].raw, dropped, given["at"].raw)
    _agree(given["lhs"], lhs)
    _agree(given["rhs"], rhs)
    if holds:
        raise Rejected(f"claim.then: got {shown(lhs)} against {shown(rhs)}, which holds; expected it to fail")
    return Accepted(lhs, rhs, dropped)
