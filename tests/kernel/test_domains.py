"""Domains are part of a claim: an instance in which one symbol or quantity leaves its domain counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fuzz import Place, Start, by_id, claim_of, get, places, put, runs, start
from marks import slow
from sympy import Basic, Symbol

from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.claim import read
from fedaudit.verify.kernel.core.rational import Node

CATALOGUE = [s.id for s in by_id().values() if runs(s)]
SOME = CATALOGUE[::6]  # the fast tests; the slow ones take all
OUTSIDE: dict[str, tuple[Any, ...]] = {
    "positive": ("0", "-1"),
    "nonnegative": ("-1",),
    "count": ("1/2", "0", "-1", 0, -1),
    "index": ("1/2", "-1", -1),
    "real": (),
}
PATHS: dict[str, tuple[Any, ...]] = {  # of growth, as [coefficient, power of n]
    "positive": ([], [["-1", "0"]], [["-1", "1"], ["1", "0"]]),
    "nonnegative": ([["-1", "0"]], [["-1", "1"], ["1", "0"]]),
    "count": ([], [["-1", "1"]], [["1/2", "0"]], [["1", "-1"]]),
    "index": ([["-1", "1"]], [["1/2", "0"]], [["1", "-1"]]),
    "real": (),
}
SECTIONS = ("constants", "parameters", "values", "quantities", "sizes", "steps", "paths")


def needed(claim: dict[str, Any]) -> dict[str, int]:
    """Names that the claim reads from an instance, and their number of indices (-1: a symbol)."""
    return dict(read(Node(claim, "claim")).needs)


def domain_of(identifier: str, name: str) -> str | None:
    """As the paper's glossary says it, read afresh and not from the claim; None where it says nothing."""
    glossary = by_id()[identifier].glossary
    entries: list[Any] = [head for head in glossary if _name(head) == name]
    if not entries:
        return None
    head = entries[0] if isinstance(entries[0], Symbol) else entries[0](Symbol("n"))
    if head.is_integer:
        return "count" if head.is_positive else "index"
    return "positive" if head.is_positive else "nonnegative" if head.is_nonnegative else "real"


def _name(head: Basic) -> str:
    return head.name if isinstance(head, Symbol) else getattr(head, "__name__", str(head))


def given(instance: dict[str, Any], name: str) -> Iterator[Place]:
    """Where an instance states the value of a name: a field of its own or one in a section; of a list, its entries."""
    for holder in ((), *((section,) for section in SECTIONS if isinstance(instance.get(section), dict))):
        if name not in get(instance, holder):
            continue
        place: Place = (*holder, name)
        inside = [(*place, *inner) for inner in places(get(instance, place))] if holder != ("paths",) else []
        leaves = [p for p in inside if not isinstance(get(instance, p), list | dict)]
        yield from (leaves[0], leaves[-1]) if len(leaves) > 1 else leaves or (place,)


def violations(identifier: str, begin: Start) -> Iterator[tuple[str, Any]]:
    """The instance with one name outside its domain, for every name that the claim reads and the instance gives."""
    for name in sorted({*needed(begin.claim), *begin.claim["domains"]}):
        domain = domain_of(identifier, name)
        for place in given(begin.instance, name):
            for value in (PATHS if place[0] == "paths" else OUTSIDE)[domain or "real"]:
                yield f"{name} ({domain}) = {value} at {place}", put(begin.instance, place, value)


def answered(begin: Start, instance: Any) -> bool:
    """Whether the kernel tells anything about the claim on this instance."""
    try:
        kernel.evaluate(begin.claim, instance, [], begin.at)
    except (kernel.Malformed, kernel.Rejected):
        return False
    return True


def check_violations(identifier: str) -> None:
    begin = started(identifier)
    assert answered(begin, begin.instance)
    wrong = [what for what, instance in violations(identifier, begin) if answered(begin, instance)]
    assert not wrong


def check_derived(identifier: str) -> None:
    """A stranger cannot state what follows from the run."""
    begin = started(identifier)
    wrong: list[str] = []
    for name in needed(begin.claim):
        if not list(given(begin.instance, name)):
            for section in SECTIONS:
                held = begin.instance.get(section)
                if isinstance(held, dict) and answered(begin, {**begin.instance, section: {**held, name: "-1"}}):
                    wrong.append(f"{section}.{name}")
    assert not wrong


def check_entries(identifier: str) -> None:
    """Without the domain of a name that it reads, a claim is none."""
    begin = started(identifier)
    domains = begin.claim["domains"]
    assert set(needed(begin.claim)) <= set(domains)
    for name in needed(begin.claim):
        fewer = {**begin.claim, "domains": {k: v for k, v in domains.items() if k != name}}
        with pytest.raises(kernel.Malformed):
            kernel.evaluate(fewer, begin.instance, [], begin.at)


def started(identifier: str) -> Start:
    begin = start(identifier)
    if begin is None:
        pytest.skip(f"no exact instance of {identifier} was drawn")
    return begin


CHECKS = [check_violations, check_derived, check_entries]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("identifier", SOME)
def test_outside_a_domain_nothing_counts(identifier: str, check: Any) -> None:
    check(identifier)


@slow("the rest of the catalogue")
@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("identifier", [name for name in CATALOGUE if name not in SOME])
def test_outside_a_domain_nothing_counts_anywhere(identifier: str, check: Any) -> None:
    check(identifier)


@pytest.mark.parametrize("identifier", CATALOGUE[::3])
def test_the_claim_carries_the_domains_of_the_glossary(identifier: str) -> None:
    claim = claim_of(identifier)
    said = {name: claim["domains"].get(name) for name in needed(claim)}
    assert said == {name: domain_of(identifier, name) or said[name] for name in said}


@pytest.mark.parametrize("identifier", ["buttaci/lemB.1-kappa", "buttaci/lemC.1-kappa"])
def test_a_negative_step_size_refutes_no_proved_lemma(identifier: str) -> None:
    """All symbols 1, E = 2 and gamma = [-1] say 5 <= 2."""
    values = {name: "1" for name, arity in needed(claim_of(identifier)).items() if arity < 0} | {"E": "2"}
    at = dict.fromkeys(["relation", *claim_of(identifier)["for_all"]], 0)
    good, bad = ({"values": values, "quantities": {"gamma": [gamma]}} for gamma in ("1/4", "-1"))
    assert kernel.evaluate(claim_of(identifier), good, [], at)[2]
    with pytest.raises((kernel.Malformed, kernel.Rejected)):
        kernel.evaluate(claim_of(identifier), bad, [], at)
