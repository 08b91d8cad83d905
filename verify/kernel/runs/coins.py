"""A coin that all clients toss together, once in a round: `coin(q, x)` is x with probability q, otherwise zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flint import fmpq

from ..core.expression import Tree, free
from ..core.loss import ONE
from ..core.method import Method, Rule, rules
from ..core.randomness import Draws
from ..core.rational import Malformed, Rejected


def tossed(method: Method, draws: Draws, scalar: Callable[[Tree, Mapping[str, int], str], fmpq]) -> Draws:
    """What a round draws, with either side of the coin; `Malformed` where the method's coins are not one per round."""
    measured = [rule for measure in method.measures.values() for rule in rules(measure.terms)]
    if method.steps or any(rule.op == "coin" for rule in measured):
        raise Malformed("method: got a coin in a measure, or where t counts steps, expected it in a round")
    chances = {rule.factor for rule in method.rules if isinstance(rule, Rule) and rule.op == "coin"}
    ((chance, *others),) = [[tree for tree in chances if tree is not None]]
    if others or any(name in ("t", "k") or indices >= 0 for name, indices in free(chance)):
        raise Malformed("method: got several chances of a coin, expected one for the whole run")
    q = scalar(chance, {}, "method")
    if not 0 <= q <= 1:
        raise Rejected(f"method: got a coin with the chance {q}, expected one from 0 to 1")
    sides = [(heads, share) for heads, share in ((True, q), (False, ONE - q)) if share]
    return [(draw._replace(heads=heads), likely * share) for draw, likely in draws for heads, share in sides]
