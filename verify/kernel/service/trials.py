"""Instances that a search tries, judged by the core's own functions; what was asked a moment ago is remembered.

Nothing here decides on a certificate: `check` judges that from scratch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from ..core import check
from ..core.budget import SEARCH, metered
from ..core.claim import Claim, read
from ..core.expression import Value
from ..core.rational import Malformed, Node, Rejected
from ..core.world import Answers


def _text(raw: object) -> str:
    """`raw` as JSON text: a key for what is remembered, out of the caller's reach."""
    try:
        return json.dumps(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"certificate: got {error}, expected plain JSON data") from None


def _node(text: str, where: str) -> Node:
    try:
        return Node(json.loads(text), where)
    except RecursionError:
        raise Malformed("certificate: got data nested too deeply, expected a few levels") from None


@lru_cache(maxsize=64)
def _claim(text: str) -> Claim:
    return read(_node(text, "claim"))


@lru_cache(maxsize=8)
def _world(claim: str, instance: str) -> Answers:
    return check.world_of(_claim(claim), _node(instance, "instance"))


@lru_cache(maxsize=8)
def _admitted(claim: str, instance: str, dropped: tuple[str, ...]) -> Answers:
    check.admit(_claim(claim), _world(claim, instance), dropped)
    return _world(claim, instance)


@lru_cache(maxsize=64)
def _evaluated(claim: str, instance: str, dropped: tuple[str, ...], at: str) -> tuple[Value, Value, bool]:
    return check.settle(_claim(claim), _admitted(claim, instance, dropped), _node(at, "at"))


def world(claim: object, instance: object) -> Answers:
    """The instance as a world of the claim's setting: value(name), at(name, indices), assume(name, args)."""
    with metered(SEARCH):
        return _world(_text(claim), _text(instance))


def admit(claim: object, instance: object, dropped: Iterable[str] = ()) -> Answers:
    """The world, or `Rejected` naming the first assumption or condition that fails."""
    with metered(SEARCH):
        return _admitted(_text(claim), _text(instance), tuple(dropped))


def admissible(claim: object, instance: object, dropped: Iterable[str] = ()) -> bool:
    """Whether every assumption and condition holds for certain."""
    try:
        admit(claim, instance, dropped)
    except Rejected:
        return False
    return True


def evaluate(claim: object, instance: object, dropped: Iterable[str], at: object) -> tuple[Value, Value, bool]:
    """Both sides of the relation at `at` on an admissible instance, and whether it holds; all certain."""
    written = _text(claim), _text(instance), tuple(dropped)
    with metered(SEARCH):
        _admitted(*written)
    with metered(SEARCH):
        return _evaluated(*written, _text(at))
