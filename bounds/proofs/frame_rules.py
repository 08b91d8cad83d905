"""What a frame says of its method that the method does not say: each is a premise of the proofs that use it.

A frame is written by hand. Its letters and sizes have to be those of the method, and a rule of the normal form may be
charged to another assumption than usual only if that one gives it too. A setting has no rules to compare a frame with:
what a frame says of one is believed where it stands in this package, where it was reviewed, and nowhere else.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..language.method_interface import size
from ..language.statement import Statement
from .method_vectors import CHARGES, Frame
from .vectors import DRAWN, FENCHEL, FLAT, FRESH, GROUPS, SIGN, STILL, SUM, UNBIASED

GIVEN_BY: dict[str, tuple[str, ...]] = {  # rule -> assumptions that give it, besides the usual one
    SUM: ("distribution", "equal_weights", "similarity_weights"),
    SIGN: ("positive_weights", "distribution", "equal_weights", "similarity_weights"),
    UNBIASED: ("exact_variance", "minibatch_variance"),
    FLAT: ("descent",),
    DRAWN: (),
}
CONVEX_REGULARISER = (FENCHEL, STILL)  # that of a run is convex
LETTERS = ("t", "k", "i")


def invented(frame: Frame, statement: Statement) -> Iterator[str]:
    """What is taken for granted by using the frame for a statement about its method, or about a setting."""
    method, glossary = frame.method, statement.glossary
    if statement.method is not method:
        if not _is_ours(frame):
            yield f"what the names of {method.id} mean"
        return
    letters = tuple(method.names.get(letter, str(letter)) for letter in frame.letters[:3])
    if letters != LETTERS or len(set(frame.letters)) < len(frame.letters):
        yield f"{frame.letters} are the round, the local step and the clients of {method.id}"
    for name, own in zip(("E", "C"), frame.sizes, strict=True):
        if own != size(method, glossary, name):
            yield f"{own} is the {name} of {method.id}"
    if frame.sample is not None and frame.sample != size(method, glossary, "m"):
        yield f"{frame.sample} is the number of clients that {method.id} draws"
    if frame.one:
        yield f"{method.id} has one function"
    for quantity, value in frame.chosen.items():
        if statement.choose.get(quantity) is None or statement.defined(statement.choose[quantity]) != value:
            yield f"{quantity} is {value}"
    for rule, charge in frame.charges.items():
        if charge != CHARGES.get(rule) and not _gives(charge, rule, frame, statement):
            yield f"{charge[0] if charge else 'nothing'} gives: {rule}"


def _is_ours(frame: Frame) -> bool:
    modules = [module for name, module in sys.modules.items() if name.startswith("fedaudit.bounds.")]
    return any(value is frame for module in modules for value in list(vars(module).values()))


def _gives(charge: Any, rule: str, frame: Frame, statement: Statement) -> bool:
    if charge is not None:
        name, constants = charge
        return not constants and name in GIVEN_BY.get(rule, ())
    if rule == FLAT:
        return all(one.name != "subgradients" for one in (*statement.let, *statement.implicit))
    if rule == FRESH:  # an oracle's minibatch is drawn in its round
        return frame.method.uses("oracle")
    return rule in CONVEX_REGULARISER or (rule == GROUPS and frame.groups is not None)
