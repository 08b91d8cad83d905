"""The verdict on a certificate: every assumption and condition holds, and the claimed relation does not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from flint import arb, fmpq

from .budget import MOST, metered
from .claim import Claim
from .claim import read as read_claim
from .expression import Domains, Evaluator, Relation, Tree, Value, free
from .layers import load
from .rational import BITS, Malformed, Node, Rejected, affordable, shown
from .world import Answers, reader

FORMAT = "fedaudit-certificate/1"
POINTS = 100_000
LARGEST, SMALLEST = arb(2) ** 100_000, arb(2) ** -100_000
_DECIMAL = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?(e[+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class Accepted:
    """Both sides, for certain; what is in `dropped` was not required."""

    lhs: Value
    rhs: Value
    dropped: tuple[str, ...] = ()
    replays: int = 0  # of an order claim: runs that its left side, a closed form, was compared with


def plain(raw: object, what: str) -> object:
    """A copy as JSON has it, out of the caller's reach."""
    try:
        return json.loads(json.dumps(raw))
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"{what}: got {error}, expected plain JSON data, nested a few levels") from None


def world_of(claim: Claim, instance: Node) -> Answers:
    """The instance as a world of the claim's setting: it gives what the claim reads, and nothing that it does not."""
    how = reader(claim.setting)
    if missing := set(how.inputs) - set(claim.domains):
        raise Malformed(f"claim.domains: got none for {sorted(missing)}, expected one for all that the world reads")
    if claim.choose and not how.steps:
        raise Malformed(f"claim.choose: got step sizes, expected none in the setting {claim.setting!r}")
    world = how.read(instance, claim)
    if taken := set(claim.for_all) & set(world.values):
        raise Malformed(f"claim.for_all: got {sorted(taken)}, expected names that the instance does not give")
    for name, arity in claim.needs:
        if arity < 0:
            world.value(name)
        elif len(world.ranges.get(name, ())) != arity:
            raise Malformed(f"claim: got {name!r} with {arity} indices, expected one of {sorted(world.ranges)}")
    if unknown := set(claim.domains) - {*world.values, *world.ranges, *how.inputs}:
        raise Malformed(f"claim.domains: got {sorted(unknown)}, expected symbols and quantities of the claim")
    return world


def admit(claim: Claim, world: Answers, dropped: tuple[str, ...]) -> None:
    """Raise `Rejected` with the first assumption or condition that fails."""
    if not set(dropped) <= {name for name, _ in claim.implicit} or len(set(dropped)) < len(dropped):
        raise Malformed(f"dropped: got {list(dropped)}, expected implicit assumptions of the claim, each once")
    for name, kind in claim.domains.items():
        world.inhabit(name, kind)
    for n, condition in enumerate(claim.when):
        named = {name for side in condition[1:] for name, arity in free(side) if arity < 0}
        for_all = {name: ends for name, ends in claim.for_all.items() if name in named}
        if (scope := _failure(condition, for_all, world, claim.domains, f"claim.when[{n}]")) is not None:
            raise Rejected(f"claim.when[{n}]: got a condition that fails at {scope}, expected it everywhere")
    for name, args in (*claim.let, *(a for a in claim.implicit if a[0] not in dropped)):
        assume(claim, world, name, args)


def assume(claim: Claim, world: Answers, name: str, args: tuple[str, ...]) -> None:
    """Raise `Rejected` unless an assumption holds for certain: a relation of the claim, or one that its world knows."""
    if name not in claim.means:
        world.assume(name, args)
        return
    if (scope := _failure(*claim.means[name], world, claim.domains, f"assumption {name}")) is not None:
        raise Rejected(f"assumption {name}: got a failure at {scope}, expected an instance that meets it")


def _failure(
    relation: Relation, for_all: Mapping[str, tuple[Tree, Tree]], world: Answers, domains: Domains, where: str
) -> dict[str, int] | None:
    """The first point of all at which the relation does not hold."""
    ranges = [_range(ends, world, domains) for ends in for_all.values()]
    affordable(prod(map(len, ranges)), POINTS, where)
    scopes = (dict(zip(for_all, point, strict=True)) for point in product(*ranges))
    return next((scope for scope in scopes if not world.meets(relation, scope, domains)), None)


def _range(ends: tuple[Tree, Tree], world: Answers, domains: Domains) -> range:
    low, high = (Evaluator(world, domains).integer(end, {}) for end in ends)
    return range(low, high + 1)


def settle(claim: Claim, world: Answers, at: Node) -> tuple[Value, Value, bool]:
    """Both sides of the relation at `at`, and whether it holds; all certain."""
    place = at.fields(" ".join(("relation", *claim.for_all)))
    relation = claim.then[place.pop("relation").integer(0, len(claim.then) - 1)]
    scope: dict[str, int] = {}
    for name, ends in claim.for_all.items():
        allowed = _range(ends, world, claim.domains)
        scope[name] = place[name].integer(allowed.start, allowed.stop - 1)
    lhs, rhs, holds = world.settle(relation, scope, claim.domains)
    if any(isinstance(x, arb) and not (x == 0 or SMALLEST < abs(x) < LARGEST or x.contains(0)) for x in (lhs, rhs)):
        raise Rejected("claim.then: got a side beyond 2^100000 or below 2^-100000, expected numbers that can be stated")
    return lhs, rhs, holds


def evaluated(claim: Claim, instance: Node, dropped: tuple[str, ...], at: Node) -> tuple[Value, Value, bool]:
    """Both sides of the relation at `at` on an admissible instance, and whether it holds."""
    world = world_of(claim, instance)
    admit(claim, world, dropped)
    return settle(claim, world, at)


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
    narrow = 0 <= radius <= abs(middle) / 1000 or 0 <= radius <= 2 * x.rad()  # a bracket is as wide as it is
    if not narrow or abs(x - middle) > radius:
        raise Rejected(f"{side.where}: got {shown(side.raw)}, expected {claimed(x)} to three digits or more")


def check(certificate: object, most: int = MOST) -> Accepted:
    """Accept a counterexample, or raise `Malformed` or `Rejected` with the first thing that is wrong.

    Within `most` operations; no answer depends on what was asked before.
    """
    with metered(most):
        accepted, holds = stated(certificate, FORMAT)
    if holds:
        got = f"{shown(accepted.lhs)} against {shown(accepted.rhs)}"
        raise Rejected(f"claim.then: got {got}, which holds; expected it to fail")
    return accepted


def stated(certificate: object, form: str) -> tuple[Accepted, bool]:
    """Both sides of a claim, which are what a certificate of this format states, and whether the relation holds."""
    fields = Node(plain(certificate, "certificate"), "certificate").fields(
        "format statement claim dropped instance at lhs rhs", "replays"
    )
    fields["format"].one_of((form,))
    claim = read_claim(Node(fields["claim"].raw, "claim"))
    if fields["statement"].identifier() != claim.id:
        raise fields["statement"].malformed("the id of the claim")
    if claim.kind == "experiment":
        raise Rejected("claim.kind: got an experiment, expected a claim about all instances")
    dropped = tuple(entry.name() for entry in fields["dropped"].items())
    instance, at = (Node(fields[name].raw, name) for name in ("instance", "at"))
    lhs, rhs, holds = evaluated(claim, instance, dropped, at)
    replays = fields["replays"].items() if "replays" in fields else []
    if claim.form is not None or replays:
        load("..worlds.closed_form").replayed(claim, replays)
    _agree(fields["lhs"], lhs)
    _agree(fields["rhs"], rhs)
    return Accepted(lhs, rhs, dropped, len(replays)), holds
