"""A claim about numbers alone: every symbol and every indexed quantity is given."""

from __future__ import annotations

from ..core.claim import Claim
from ..core.rational import Node
from ..core.world import Reader, World, tabled


def read(node: Node, claim: Claim) -> World:
    fields = node.fields("values", "quantities")
    entries = fields["quantities"].mapping() if "quantities" in fields else {}
    lists = {name: [claim.number(name, x) for x in entry.items()] for name, entry in entries.items()}
    return tabled(claim.parameters(fields["values"], set()), lists, listed=[*lists], first=0)


WORLDS = {"scalar": Reader(read)}
