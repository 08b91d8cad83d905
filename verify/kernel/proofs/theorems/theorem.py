"""A theorem about a setting: what its assumptions say of the quantities that its world reads, and of some more.

A line is `assumption(constant); not other(); condition |- relation`. Its constants stand for those with which the claim
makes the assumption; i is any client and j any coordinate. All other names are what the setting's world calls them, or
quantities that only proofs speak of: numbers that an instance has, whatever it is, with the domain that is given there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq

from ...core.expression import ARITY, Op, Relation, Tree
from ..rules.facts import relation

HALF = fmpq(1, 2)


@dataclass(frozen=True, slots=True)
class Theorem:
    """`assumes` and `excludes` are assumptions of the claim, with the names of their constants; `why` is the proof."""

    assumes: tuple[tuple[str, tuple[str, ...]], ...]
    excludes: tuple[str, ...]
    when: tuple[Relation, ...]
    then: Relation
    why: str


@dataclass(frozen=True, slots=True)
class Theory:
    """`quantities`: what proofs may speak of although the claim does not, and its domain."""

    quantities: Mapping[str, str]
    theorems: Mapping[str, Theorem]


def theory(quantities: str, *lines: tuple[str, str, str], real: str = "") -> Theory:
    """From the names of quantities that are not negative, and of others, and (name, line, reason) of each theorem."""
    return Theory(
        dict.fromkeys(quantities.split(), "nonnegative") | dict.fromkeys(real.split(), "real"),
        {name: _theorem(line, why) for name, line, why in lines},
    )


def _theorem(line: str, why: str) -> Theorem:
    left, right = line.split("|-")
    parts = [part.strip() for part in left.split(";") if part.strip()]
    calls = [part for part in parts if part.endswith(")") and not any(sign in part for sign in "<=")]
    assumed = [part for part in calls if not part.startswith("not ")]
    conditions = [part for part in parts if part not in calls]
    return Theorem(
        tuple(map(_assumption, assumed)),
        tuple(_assumption(part.removeprefix("not "))[0] for part in calls if part not in assumed),
        tuple(map(_relation, conditions)),
        _relation(right),
        why,
    )


def _assumption(part: str) -> tuple[str, tuple[str, ...]]:
    name, _, args = part.removesuffix(")").partition("(")
    return name, tuple(arg.strip() for arg in args.split(",") if arg.strip())


def _relation(line: str) -> Relation:
    name, *sides = relation(line)
    left, right = map(_read, sides)
    return name, left, right


def _read(tree: Tree) -> Tree:
    """With roots as powers, and everything that is no operation as a quantity at its indices."""
    if not isinstance(tree, Op):
        return tree
    args = tuple(map(_read, tree.args))
    if tree.name == "sqrt":
        return Op("^", (*args, HALF))
    return Op(tree.name, args) if tree.name in ARITY else Op("at", (tree.name, *args))
