"""Mutated certificates and instances: accepted or refused in time, never another exception, never a proof refuted."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from fuzz import GOLDEN, Log, Start, by_id, evaluated, mutants, pool, runs, start

from fedaudit.bounds.catalogue import catalogue
from fedaudit.bounds.derive import derive
from fedaudit.verify import kernel

Record = Callable[[str, object], None]
CATALOGUE = [s.id for s in by_id().values() if runs(s)]
FIRST = list({by_id()[name].method: name for name in reversed(CATALOGUE)}.values())  # one statement per setting
REFUTABLE = {raw["statement"] for raw in GOLDEN.values()}
PLACES = 3  # other indices at which a mutated instance is looked at


def fuzz_certificate(raw: Any, seed: str, count: int) -> Log:
    log = Log()
    for what, changed in mutants(raw, count, seed, pool()):
        log.ask(what, lambda changed=changed: kernel.check(changed))
    return log


def fuzz_instance(identifier: str, begin: Start, seed: str, count: int) -> Log:
    """Under the catalogue's own claim; a counterexample must pass as a certificate, and none may break a proof."""
    log, rng = Log(), Random(f"at {seed}")
    for what, changed in mutants(begin.instance, count, seed, pool()):
        indices = [name for name in begin.at if name != "relation"]
        elsewhere = [{"relation": 0, **{name: rng.randrange(5) for name in indices}} for _ in range(PLACES)]
        if log.ask(what, lambda changed=changed: evaluated(begin.claim, changed, begin.at)) is None:
            continue
        for at in (begin.at, *elsewhere):
            said = log.ask(f"{what} at {at}", lambda at=at, changed=changed: evaluated(begin.claim, changed, at))
            log.count -= 1  # the same mutant
            if said is not None and not said[2] and not begin.refutes(at):
                found = Start(begin.claim, changed, at, *said)
                assert log.ask(what, lambda found=found: kernel.check(found.certificate())), "evaluate, but not check"
                log.refutations.append(f"{identifier}: {what} at {at}")
    if log.refutations:
        made = derive(by_id()[identifier], catalogue())
        proved = made.proved and not made.premises
        assert not proved, f"derive proves {identifier}, and the kernel accepts {log.refutations[:5]}"
    if identifier in REFUTABLE:
        log.refutations.clear()  # nothing to look at: it falls anyway
    return log


def begun(identifier: str) -> Start:
    begin = start(identifier)
    assert begin is not None, f"no admissible instance of {identifier} was drawn"
    return begin


@pytest.mark.parametrize("name", list(GOLDEN))
def test_golden_certificates_mutated(name: str, record_property: Record) -> None:
    fuzz_certificate(GOLDEN[name], f"fast {name}", 10).judge(record_property)


@pytest.mark.parametrize("identifier", FIRST)
def test_instances_mutated(identifier: str, record_property: Record) -> None:
    fuzz_instance(identifier, begun(identifier), f"fast {identifier}", 20).judge(record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GOLDEN))
def test_golden_certificates_mutated_often(name: str, record_property: Record) -> None:
    fuzz_certificate(GOLDEN[name], f"slow {name}", 700).judge(record_property)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", CATALOGUE)
def test_certificates_mutated_often(identifier: str, record_property: Record) -> None:
    """Of an instance on which the claim may hold: then the certificate lies, and so do its mutants."""
    fuzz_certificate(begun(identifier).certificate(), f"slow {identifier}", 300).judge(record_property)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", CATALOGUE)
def test_instances_mutated_often(identifier: str, record_property: Record) -> None:
    fuzz_instance(identifier, begun(identifier), f"slow {identifier}", 560).judge(record_property)


def test_mutants_are_the_same_on_every_run() -> None:
    raw = GOLDEN["lemB.2-terms-lost"]
    first, second = ([repr(m) for _, m in mutants(raw, 50, "again", pool())] for _ in range(2))
    assert first == second
    assert len(set(first)) > 45
