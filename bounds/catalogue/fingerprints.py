"""Which sources a statement of the catalogue depends on, as a digest.

A row is made again when any line changes of its statement's paper, of a paper that this one names (imports, cites,
mentions), of a paper that such a paper names, and so on. That is often more than what was needed and never less. Two
things cross papers without a name: what a statement cites, and which indices statements run over, which premises look
for in the whole catalogue.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping

from .discovery import modules_of, papers, statements, statements_of

__all__ = ["fingerprints", "named_papers"]


def fingerprints() -> dict[str, str]:
    """Id -> digest, for every statement of the catalogue."""
    sources = {paper: "\0".join(map(inspect.getsource, modules_of(paper))) for paper in papers()}
    needs = {paper: named_papers(text) | _cited_papers(paper) for paper, text in sources.items()}
    ranges = repr([(s.method_id, s.for_all) for s in statements()])
    digests = {paper: _digest(ranges, *(sources[name] for name in _reached(paper, needs))) for paper in sources}
    return {s.id: digests[s.paper] for s in statements()}


def named_papers(text: str) -> set[str]:
    """The papers whose name stands anywhere in a text."""
    return {paper for paper in papers() if paper in text}


def _cited_papers(paper: str) -> set[str]:
    cited = {name for s in statements_of(paper) for way in s.follows_from for name in way.cites}
    return {name.partition("/")[0] for name in cited} & set(papers())


def _reached(paper: str, needs: Mapping[str, set[str]]) -> list[str]:
    """A paper and all that it needs, directly or not."""
    reached: set[str] = set()
    waiting = {paper}
    while waiting:
        reached |= waiting
        waiting = set[str]().union(*(needs[name] for name in waiting)) - reached
    return sorted(reached)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
