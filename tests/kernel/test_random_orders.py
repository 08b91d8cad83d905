"""Random orders of growth: no path that meets the conditions refutes what the kernel accepts a proof of."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from marks import only

from fedaudit.verify.kernel.core.claim import Claim, read
from fedaudit.verify.kernel.core.rational import Malformed, Node, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.worlds import order
from fedaudit.verify.proposals.orders import NoProof, order_proof

Json = Any
NAMES = ("x", "y", "n", "f")
POWERS = ("2", "3", "1/2", "-1", "-1/2", "-2")
CLAIMS, PATHS = 20, 60


def formula(random: Random, depth: int) -> Json:
    def part() -> Json:
        return formula(random, depth - 1)

    kind = random.random() if depth else 0.0
    if kind < 0.25:
        return random.choice(NAMES) if random.random() < 0.8 else random.choice(("1", "2", "1/2", "3"))
    if kind < 0.5:
        return ["*", part(), part()]
    if kind < 0.68:
        return ["+", part(), part()]
    if kind < 0.76:
        return ["+", part(), ["*", "-1", part()]]
    if kind < 0.88:
        return ["^", part(), random.choice(POWERS)]
    return [random.choice(("min", "max")), part(), part()]


def claim(random: Random) -> Json:
    domains = {
        "x": random.choice(("positive", "nonnegative", "real")), "y": random.choice(("positive", "nonnegative")),
        "n": random.choice(("count", "count", "index")), "f": random.choice(("positive", "nonnegative")),
    }  # fmt: skip
    chosen = {
        "n": random.choice(("grows", "fixed", "")),
        "f": random.choice(("fixed", "")),
        "y": random.choice(("vanishes", "")),
    }
    roles = [[role, *(name for name in chosen if chosen[name] == role)] for role in ("grows", "fixed", "vanishes")]
    when = [
        [random.choice(("<=", "<", ">=")), formula(random, 1), formula(random, 1)]
        for _ in range(random.choice((0, 0, 1, 2)))
    ]
    then = [random.choice(("<=", "<=", "<=", "<", "=", ">=")), formula(random, 2), formula(random, 2)]
    return {"id": "growth", "kind": "order", "setting": "order", "let": [role for role in roles if len(role) > 1],
            "implicit": [], "choose": {}, "when": when, "for_all": {}, "then": [then], "domains": domains}  # fmt: skip


def path(random: Random, kind: str) -> Json:
    """c n^a, or 0 where that is allowed."""
    whole = kind in ("count", "index")
    if kind in ("nonnegative", "index", "real") and random.random() < 0.25:
        return []
    power = random.choice((0, 0, 1, 2, 3) if whole else (0, 0, 1, 2, 3, -1, -2, -3))
    sign = random.choice(("", "", "-")) if kind == "real" else ""
    return [[sign + random.choice(("1", "2", "3") if whole else ("1", "2", "1/2", "3")), str(power)]]


def fails(random: Random, parsed: Claim) -> bool:
    """Whether a random path meets everything, and the relation fails along it."""
    paths = {name: path(random, kind) for name, kind in parsed.domains.items()}
    try:
        world = order.read(Node({"paths": paths}, "instance"), parsed)
        for name, kind in parsed.domains.items():
            world.inhabit(name, kind)
        for role, args in parsed.let:
            world.assume(role, args)
        met = all(world.meets(condition, {}, parsed.domains) for condition in parsed.when)
        return met and not world.settle(parsed.then[0], {}, parsed.domains)[2]
    except (Rejected, Malformed):
        return False


@pytest.mark.parametrize("seed", only((1,), range(1, 41), "random claims, forty times as many"))
def test_no_path_refutes_what_is_accepted(seed: int) -> None:
    random, accepted = Random(seed), 0
    for _ in range(CLAIMS):
        raw = claim(random)
        try:
            proof.check(order_proof(raw), {})
        except (NoProof, Rejected, Malformed):
            continue
        accepted += 1
        parsed = read(Node(raw, "claim"))
        assert not any(fails(random, parsed) for _ in range(PATHS)), raw
    assert accepted or seed > 1  # so that something was looked at
