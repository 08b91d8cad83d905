"""A field that is missing, or that holds another type than it should, is refused in words by the kernel's readers.

Every field, and the first entry of every kind, of a proof file and of a certificate is removed, and replaced by values
of each type that JSON has: by a few of them in the fast suite, by four of them in each proof of the catalogue. Where
the kernel still accepts the file, the place was optional, or what stands there now is of its type too. Whether what is
accepted is true is what test_proof_mutants.py asks; here nothing may end in an exception of Python, which says nothing
to the person who sent the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz import GOLDEN, Place, entries
from marks import THOROUGH, only
from mutant_proofs import Change
from test_fact_proofs import PROOFS
from test_proof_mutants import fact, filed

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.verify import kernel
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.proofs import proof

OF_EACH_TYPE: tuple[Any, ...] = (None, True, 1.5, "x", [], {})
if THOROUGH:
    OF_EACH_TYPE = (*OF_EACH_TYPE, -1, "", "1/2", [[]], ["+"], {"a": 1})
OF_NAMES = {
    "domains", "measures", "letters", "names", "for_all", "choose", "paths", "values", "quantities", "means",
    "client", "server", "kept", "before", "begin", "local", "end", "update",
}  # fmt: skip
OF_A_PROOF = 4  # values for each of its places
MOST = 4_000_000  # operations: what takes more is refused
LINE = 2_000  # characters of a refusal, at most


def shape(place: Place) -> tuple[str, ...]:
    """A place without its numbers in lists and without names of the file's own: those of one shape are read alike."""
    inside = zip(("", *place), place, strict=False)
    return tuple("*" if isinstance(key, int) or holder in OF_NAMES else key for holder, key in inside)


def wrong(file: Any, of_each_place: int = len(OF_EACH_TYPE)) -> Iterator[Change]:
    """The first place of each shape removed, and replaced by so many values; in judgements, the first of each rule."""
    seen, rng = set[tuple[str, ...]](), Random(str(file["statement"]))
    for place, here in entries(file):
        judged = place[0] == "judgements" and len(place) > 1
        kind = (file["judgements"][place[1]]["rule"] if judged else "", *shape(place))
        if kind in seen:
            continue
        seen.add(kind)
        yield Change(place, "dropped")
        for value in rng.sample(OF_EACH_TYPE, of_each_place):
            if value != here or type(value) is not type(here):
                yield Change(place, "put", value)


def answered(file: Any, check: Callable[[Change], object], of_each_place: int = len(OF_EACH_TYPE)) -> int:
    """How many changed files are refused; an error where the answer is neither a refusal in one line nor yes."""
    refused, crashes = 0, list[str]()
    for change in wrong(file, of_each_place):
        try:
            check(change)
        except (Malformed, Rejected) as refusal:
            refused += 1
            if not 0 < len(text := str(refusal)) <= LINE or "\n" in text:
                crashes.append(f"{change}: a refusal of {len(text)} characters")
        except Exception as error:
            crashes.append(f"{change}: {type(error).__name__}: {error}")
    assert not crashes, f"{len(crashes)}: " + "; ".join(crashes[:10])
    return refused


@pytest.mark.parametrize("name", only(["quarter"], PROOFS, "what is read of every fact is read of one"))
def test_a_proof_of_numbers_with_a_wrong_field_is_refused_in_words(name: str) -> None:
    original = fact(name)
    assert answered(original.file, lambda change: original.check([change])) > 100


def test_a_rule_that_cannot_read_a_field_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    original = fact("quarter")
    monkeypatch.setattr(proof, "RULES", {**proof.RULES, "line": lambda *_: {}["products"]})
    with pytest.raises(AssertionError, match="KeyError: 'products'"):
        answered(original.file, lambda change: original.check([change]))


@pytest.mark.parametrize(
    "name", only(["yuan/rem3-lgd"], sorted(catalogue()), "to find a proof and to change all of it takes seconds")
)
def test_a_proof_about_runs_with_a_wrong_field_is_refused_in_words(name: str, kept: Path) -> None:
    """Other values in every file: more than a hundred proofs share most of their places."""
    original = filed(name, kept)
    if original is not None:
        assert answered(original.file, lambda change: original.check([change]), OF_A_PROOF) > 100


@pytest.mark.parametrize("name", only(["yuan-lem5"], GOLDEN, "one certificate has the fields of most"))
def test_a_certificate_with_a_wrong_field_is_refused_in_words(name: str) -> None:
    assert answered(GOLDEN[name], lambda change: kernel.check(change(GOLDEN[name]), MOST)) > 100


def test_a_method_without_measures_is_refused_where_its_claim_is_read() -> None:
    claim = GOLDEN["yuan-lem5"]["claim"]
    method = {name: part for name, part in claim["method"].items() if name != "measures"}
    file = {"format": proof.FORMAT, "statement": claim["id"], "claim": {**claim, "method": method}, "judgements": []}
    with pytest.raises(Malformed, match=r"claim\.method: got missing or unknown fields .*measures"):
        proof.check(file, {})
