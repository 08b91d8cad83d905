"""Every proof of the catalogue with one thing changed at a time: what is false is not proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from proof_mutants import judged, mutants, proved

from fedaudit.bounds.catalogue import catalogue
from fedaudit.bounds.derive import derive

KNOWN = catalogue()
Record = Callable[[str, object], None]


@pytest.mark.parametrize("name", ["buttaci/lem4.1", "buttaci/appA-young"])
def test_what_is_false_of_a_lemma_is_not_proved(name: str) -> None:
    assert proved(KNOWN[name], KNOWN)
    counts, false = judged(KNOWN[name], KNOWN)
    assert not false
    assert counts["constant: not proved"] + counts["relation: not proved"] > 0
    assert counts.total() >= len(list(mutants(KNOWN[name])))


@pytest.mark.proofs
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_what_is_false_is_not_proved(name: str, record_property: Record) -> None:
    statement = KNOWN[name]
    counts, false = judged(statement, KNOWN) if derive(statement, KNOWN, slack=False).proved else (Counter[str](), [])
    for what, count in sorted(counts.items()):
        record_property(what, count)
    assert not false
