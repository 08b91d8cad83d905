"""The premises of the catalogue as the kernel reads them, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from single_premises import Single, singles

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.argument import argued, knowns_of
from fedaudit.bounds.proofs.premise_identity import Average, Shown


@cache
def catalogue() -> Mapping[str, Statement]:
    return {s.id: s for s in find([])}


def cases_of(statement: Statement) -> Iterator[Single]:
    """The premises of all ways to prove it."""
    for way in statement.follows_from:
        if all(c in catalogue() for c in way.cites):
            _, argument = argued(replace(statement, follows_from=(way,)), dict(catalogue()))
            knowns = dict.fromkeys(knowns_of(argument))
            shown = [k for k in knowns if isinstance(k.rule, Shown | Average)]
            yield from singles(statement, shown) if shown else ()


def case_of(name: str, because: str) -> Single:
    """The first premise of a statement of the catalogue with these words."""
    return next(case for case in cases_of(catalogue()[name]) if because in case.because)
