"""Every proof of the catalogue with one thing changed at a time: what is false is not proved.

Of statements what they print is changed, and a derivation is looked for; of proof files everything, and the kernel is
asked. In the slow suite hundreds of mutants of every file of the catalogue and of the kernel's facts, together more
than 100,000; the summary of a session counts them. To find the proofs takes longer than to change them, so those of an
audit's folder are taken where it is named, FEDAUDIT_PROOFS=audit/proofs: the kernel decides about them as about others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from marks import KEPT, slow
from mutant_proofs import Log, Original, changes, chosen
from mutant_proofs import judged as judged_files
from proof_mutants import judged, mutants, proved
from test_fact_proofs import PROOFS, writer

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.running import files
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.moves.kernel_proof import Proof, prove
from fedaudit.verify.results.file_names import slug

KNOWN = catalogue()
Record = Callable[[str, object], None]
FEW, MANY = 12, 660  # mutants of one file: more than 100,000 of all, in minutes
RUNS = ("buttaci/lem4.1", "buttaci/lemB.1-kappa")  # proof files of these in the fast tests


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


# --- files -----------------------------------------------------------------------------------------------------------


def fact(name: str) -> Original:
    """The proof of a fact of the kernel's list."""
    written = writer(name)
    PROOFS[name](written)
    return Original.of(written.file, {})


@cache
def filed(name: str, kept: Path) -> Original | None:
    """The proof of a statement of the catalogue, if there is one: in the folder that was given, or at all."""
    if KEPT and not (kept / f"{slug(name)}.json").is_file():
        return None
    found = prove(KNOWN[name], KNOWN, kept)
    if not isinstance(found, Proof):
        return None
    if not KEPT:
        for one, proved_ in {**found.cited, name: found}.items():
            files.write(kept / f"{slug(one)}.json", json.dumps(proved_.file))
    return Original.of(dict(found.file), {cited: one.accepted for cited, one in found.cited.items()})


def told(log: Log, record: Record) -> None:
    record("proofs", dict(log.counts))
    assert not log.wrong, f"{len(log.wrong)} of {log.total}: " + "; ".join(log.wrong[:5])


@pytest.mark.parametrize("name", PROOFS)
def test_what_the_kernel_accepts_of_changed_facts_is_true(name: str, record_property: Record) -> None:
    told(judged_files(fact(name), FEW), record_property)


@pytest.mark.parametrize("name", RUNS)
def test_what_the_kernel_accepts_of_changed_proofs_is_true(name: str, kept: Path, record_property: Record) -> None:
    original = filed(name, kept)
    assert original is not None, f"no proof of {name} is proposed"
    told(judged_files(original, 10 * FEW), record_property)


@slow("hundreds of mutants of a file take seconds")
@pytest.mark.parametrize("name", PROOFS)
def test_many_changes_of_every_fact(name: str, record_property: Record) -> None:
    told(judged_files(fact(name), MANY), record_property)


@slow("hundreds of mutants of a file take seconds")
@pytest.mark.parametrize("name", sorted(KNOWN))
def test_many_changes_of_every_proof(name: str, kept: Path, record_property: Record) -> None:
    original = filed(name, kept)
    if original is not None:
        log = judged_files(original, MANY)
        told(log, record_property)
        assert log.total == MANY


def test_every_kind_of_place_is_changed_and_mutants_are_always_the_same() -> None:
    file = fact("quarter").file
    kinds = {change.kind for change in changes(file)}
    fields = ("rule", "says", "under", "by", "with")
    assert {f"judgement, {part}" for part in fields} <= {kind.rpartition(",")[0] for kind in kinds}
    assert {"claim, then, number", "claim, when, dropped", "claim, domains, word", "letters, word"} <= kinds
    assert {kind.rpartition(", ")[2] for kind in kinds} == {"dropped", "number", "word", "order", "twice"}
    assert list(map(str, chosen(file, 200))) == list(map(str, chosen(file, 200)))
    assert len(list(chosen(file, 5_000))) == 5_000


def test_an_unsound_rule_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lines are believed, changed files are accepted that runs disagree with: the test above can fail."""

    def believed(*_: object) -> None:
        return None

    original = fact("quarter")
    monkeypatch.setattr(proof, "RULES", {**proof.RULES, "line": believed})
    assert len(judged_files(original, 250).wrong) >= 3


@pytest.mark.parametrize("name", ["quarter", "power_monotone"])
def test_what_is_checked_in_part_is_answered_as_the_whole_file_is(name: str) -> None:
    """A change inside one judgement is checked with what rests on it alone, which is faster and must say the same."""
    original = fact(name)
    for change in chosen(original.file, 150):
        assert original.accepts(change) == original.accepts(change, whole=True), str(change[0])
