"""Growth paths: random and mutated ones are answered or refused, and what the kernel says of large n is so.

The kernel compares leading terms. Here both sides are computed in balls at three n, so large that lower terms are gone,
from the tree alone: a relation that fails along a path must be seen to fail, one that holds must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from fuzz import Log, by_id, claim_of, mutants, pool
from marks import slow

from fedaudit.verify import kernel

Record = Callable[[str, object], None]
ORDERS = [s.id for s in by_id().values() if s.method == "order"]
SIZES = (3000, 6000, 12_000)  # n = 2^size
BITS = 40_000  # 1 - n^-3 is told from 1
SETTLED = 0.05  # by how much log(lhs/rhs) may still rise between the last two n where it is bounded


def drawn(claim: dict[str, Any], rng: Random) -> dict[str, Any]:
    """A path for every symbol, mostly inside its domain, some tending to 1."""

    def path(name: str, domain: str) -> list[list[str]]:
        fixed = any(name in args for kind, *args in (*claim["let"], *claim["implicit"]) if kind == "fixed")
        falls = any(name in args for kind, *args in (*claim["let"], *claim["implicit"]) if kind == "vanishes")
        whole = domain in ("count", "index")
        a = Fraction(0) if fixed else Fraction(rng.randint(0 if whole else -6, 6), rng.choice([1, 2, 3]))
        a = -abs(a) if falls else a
        c = Fraction(rng.choice([1, 1, 2, 3])) if whole else Fraction(rng.choice([1, 1, 2, 3]), rng.choice([1, 2, 4]))
        terms = {a: c}
        if not whole and not fixed and rng.random() < 0.2:
            terms = {Fraction(0): Fraction(1), -abs(a) - Fraction(1, 2): -c}
        elif not fixed and rng.random() < 0.2:
            terms.setdefault(a - Fraction(1, 2) if not whole or a > 1 else Fraction(0), Fraction(rng.choice([1, 2])))
        return [[str(c), str(a)] for a, c in terms.items()]

    return {"paths": {name: path(name, domain) for name, domain in claim["domains"].items()}}


def instances(claim: dict[str, Any], count: int, seed: str) -> Iterator[tuple[str, Any]]:
    """Random paths, and as many mutants of random paths."""
    rng = Random(seed)
    for number in range(count // 2):
        fresh = drawn(claim, rng)
        yield f"path {number}", fresh
        yield from mutants(fresh, 1, f"{seed} {number}", pool())


def at(tree: Any, values: dict[str, arb]) -> arb:
    """The tree's value in balls."""
    if not isinstance(tree, list):
        named = isinstance(tree, str) and (tree[0].isalpha() or tree[0] == "_")
        return values[tree] if named else arb(fmpq(*map(int, str(tree).split("/"))))
    name, *args = tree[0], *(at(arg, values) for arg in tree[1:])
    total = args[0]
    match name:
        case "+" | "*" | "min" | "max":
            for x in args[1:]:
                total = {"+": total + x, "*": total * x, "min": total.min(x), "max": total.max(x)}[name]
            return total
        case "^":
            return args[0] ** args[1]
        case "abs":
            return abs(args[0])
        case "exp":
            return args[0].exp()
        case _:
            return args[0].log()


def apart(relation: Any, paths: dict[str, Any], size: int) -> float | None:
    """log(lhs / rhs) at n = 2^size; None where a side is not certainly positive."""
    n = arb(2) ** size

    def power(a: str) -> arb:
        top, bottom = (int(x) for x in (a if "/" in a else f"{a}/1").split("/"))
        return n.root(bottom) ** top if bottom < 100 else (n.log() * fmpq(top, bottom)).exp()

    values = {
        s: sum((fmpq(*map(int, c.split("/"))) * power(a) for c, a in terms), arb(0)) for s, terms in paths.items()
    }
    left, right = (at(side, values) for side in relation[1:])
    if not (left > 0 and right > 0 and left.is_finite() and right.is_finite()):
        return None
    ratio = (left / right).log()
    return float(ratio) if ratio.is_finite() and ratio.rad() < SETTLED / 10 else None


def contradicts(relation: Any, paths: dict[str, Any], holds: bool) -> bool:
    """Whether three large n say otherwise."""
    with ctx.workprec(BITS):
        found = [apart(relation, paths, size) for size in SIZES]
    if None in found:
        return False
    first, second, third = (x for x in found if x is not None)
    rises, falls = third > second > first, third < second < first
    op = relation[0]
    if op == ">=":
        rises, falls, third, second = falls, rises, -third, -second
    if op in ("<=", ">="):
        return third - second > SETTLED if holds else not rises
    if op == "=":
        return abs(third - second) > SETTLED if holds else not (rises or falls)
    return False  # o and omega


def fuzz_paths(identifier: str, seed: str, count: int) -> tuple[Log, int]:
    """How often three large n had something to say, besides."""
    log, compared, claim = Log(), 0, claim_of(identifier)
    for what, instance in instances(claim, count, seed):
        for number, relation in enumerate(claim["then"]):
            place = {"relation": number}
            said = log.ask(what, lambda i=instance, place=place: kernel.evaluate(claim, i, [], place))
            log.count -= number > 0  # the same path
            if said is not None and small(instance):
                compared += 1
                told = {k: [[str(c), str(a)] for c, a in v] for k, v in instance["paths"].items()}
                if contradicts(relation, told, said[2]):
                    log.crashes.append(f"{what}: the kernel says {said}, large n the contrary: {instance}")
    return log, compared


def small(instance: Any) -> bool:
    """Powers that three n can tell apart, and short numbers."""
    pairs = [pair for path in instance["paths"].values() for pair in path]
    fine = (len(str(x)) < 12 for pair in pairs for x in pair)
    return all(fine) and all(abs(Fraction(a)) <= 4 and Fraction(a).denominator <= 12 for _, a in pairs)


FEW = ORDERS[::8]


@cache
def few_paths(identifier: str) -> tuple[Log, int]:
    return fuzz_paths(identifier, f"fast {identifier}", 40)


@pytest.mark.parametrize("identifier", FEW)
def test_growth_paths(identifier: str, record_property: Record) -> None:
    few_paths(identifier)[0].judge(record_property)


@slow("many paths of every order claim")
@pytest.mark.parametrize("identifier", ORDERS)
def test_many_growth_paths(identifier: str, record_property: Record) -> None:
    fuzz_paths(identifier, f"slow {identifier}", 360)[0].judge(record_property)


def test_large_n_have_the_say() -> None:
    """The comparison would notice: a kernel that said the contrary is contradicted."""
    steep, flat = ["<=", ["^", "x", "2"], "x"], ["<=", "x", ["+", "x", "1"]]
    paths = {"x": [["1", "1"]]}
    assert contradicts(steep, paths, holds=True)
    assert not contradicts(steep, paths, holds=False)
    assert contradicts(flat, paths, holds=False)
    assert not contradicts(flat, paths, holds=True)
    assert contradicts(["<=", ["log", "x"], "1"], paths, holds=True)


def test_paths_are_compared_and_not_only_refused() -> None:
    compared = sum(few_paths(identifier)[1] for identifier in FEW)
    assert compared >= 20
