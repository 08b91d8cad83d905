"""The form of an order claim, an identity between its left side and a run, compared with several runs."""

from __future__ import annotations

import json

from ..core.check import evaluated
from ..core.claim import Claim, read
from ..core.rational import Node, Rejected, shown

LEAST_REPLAYS = 3


def form_of(claim: Claim, node: Node) -> object:
    """The form of an order claim: an identity between a run and a left side of the claim."""
    identity = read(node)
    sides = [side for _, side, _ in claim.then] if claim.setting == "order" else []
    if identity.form is not None or len(identity.then) != 1 or identity.then[0][0] != "=":
        raise node.malformed("one identity, without a form of its own")
    if identity.then[0][2] not in sides:
        raise node.malformed("an identity whose right side is a left side of this order claim")
    return node.raw


def replayed(claim: Claim, replays: list[Node]) -> None:
    """Reject unless the form of an order claim equals its run on all of several replays."""
    if claim.form is None and not replays:
        return
    if claim.form is None or len({json.dumps(entry.raw) for entry in replays}) < LEAST_REPLAYS:
        raise Rejected(
            f"replays: got {len(replays)}, expected at least {LEAST_REPLAYS} different ones of a claim's form"
        )
    identity = read(Node(claim.form, "claim"))
    for entry in replays:
        run = entry.fields("instance at")
        instance, at = (Node(run[name].raw, name) for name in ("instance", "at"))
        form, measured, holds = evaluated(identity, instance, (), at)
        if not holds:
            raise Rejected(
                f"{entry.where}: got the form {shown(measured)} for {shown(form)}, expected them to be equal"
            )
