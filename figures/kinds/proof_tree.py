"""What one statement rests on, as a picture: all that its proof cites, and what that cites, down to steps by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .proof_map import Map, proof_map

if TYPE_CHECKING:
    from fedaudit.verify.results.audit_json import Row

__all__ = ["Cited", "Tree", "nodes_of", "proof_tree"]

MOST = 60  # statements: beyond that nobody reads a tree


@dataclass(frozen=True, slots=True)
class Cited:
    """A statement in a tree: what became of it, the premises that its derivation takes by hand, what it cites."""

    id: str
    verdict: str
    title: str
    by_hand: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A drawing; `statements` are those of its places that are statements, `by_hand` the others, with their lines."""

    map: Map
    statements: Mapping[str, Cited]
    by_hand: Mapping[str, tuple[str, ...]]


def nodes_of(rows: Iterable[tuple[Row, str]]) -> dict[str, Cited]:
    """Turns rows and their verdicts into nodes. A proved statement rests on what proves it, any other on all that it
    cites.
    """
    nodes: dict[str, Cited] = {}
    for row, verdict in rows:
        derived = row.derive
        cites = (derived.proved_from or derived.cites) if derived else ()
        hand = derived.premises if derived and verdict != "proved" else ()
        nodes[row.id] = Cited(row.id, verdict, row.statement.title, hand, cites)
    return nodes


def below(name: str, nodes: Mapping[str, Cited]) -> list[str]:
    """Returns the statement and all that it rests on, itself first."""
    reached, waiting = dict[str, None](), [name]
    while waiting:
        one = waiting.pop(0)
        if one in nodes and one not in reached:
            reached[one] = None
            waiting += nodes[one].cites
    return list(reached)


def proof_tree(name: str, nodes: Mapping[str, Cited]) -> Tree | None:
    """Returns the tree below a statement; None where nothing is cited or too much is."""
    names = below(name, nodes)
    if not 2 <= len(names) <= MOST:
        return None
    hand = {_hand(one, nodes[one].by_hand): nodes[one].by_hand for one in names if nodes[one].by_hand}
    cites: dict[str, Sequence[str]] = {one: nodes[one].cites for one in names}
    for one in names:
        if nodes[one].by_hand:
            cites[one] = (*nodes[one].cites, _hand(one, nodes[one].by_hand))
    drawing = proof_map([*names, *hand], cites, [one for one in names if nodes[one].verdict == "refuted"])
    if not drawing.places:
        return None
    return Tree(drawing, {one: nodes[one] for one in names}, hand)


def _hand(name: str, premises: Sequence[str]) -> str:
    """Names the steps by hand of a statement; its label is what follows the slash."""
    return f"{name.replace('/', ':')}/{len(premises)} by hand"
