"""The setting `subset` as a proof sees it: directions of all clients, and of some that are drawn uniformly."""

from __future__ import annotations

from typing import Any

from sympy import Expr, IndexedBase, Symbol

from ...language.assumptions import DRAWN, EVEN, SIGN, SUM
from ...language.method import Method
from ...language.rule_expressions import grad, start, vector
from ...language.rule_parts import Number
from ...language.statement import Glossary
from ..frame import Frame

__all__ = ["LETTERS", "direction", "on_a_subset", "sizes"]

LETTERS = (Symbol("t"), Symbol("k"), Symbol("i"), Symbol("l"))
direction = grad(vector("w_m", "w^{(m)}"))  # of a client, at its own point


def sizes(clients: object) -> tuple[Any, Any]:
    """Local steps, of which nothing speaks, and clients."""
    return Symbol("E"), clients


def on_a_subset(cite: str, glossary: Glossary, measures: dict[Expr, Number], drawn: Expr, of: Expr) -> Frame:
    """Directions of all clients, and those of a uniform subset: that is what the setting is, and nothing assumed."""
    return Frame(
        Method(
            id="subset",
            title="Some of the clients' directions, drawn uniformly without replacement",
            cite=cite,
            glossary=glossary,
            server={},
            client={direction.args[0]: start},
            measures=measures,
        ),
        {},
        LETTERS,
        sizes(of),
        IndexedBase("p"),
        dict.fromkeys((SUM, SIGN, EVEN, DRAWN)),
        even=True,
        sample=drawn,
    )
