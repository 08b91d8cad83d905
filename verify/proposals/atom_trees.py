"""Atoms of the kernel's normal forms as trees again: a certificate names its multipliers as formulas.

The name of an atom is made of the normal forms of its parts, so that it can be read back: 2*power(1*y^1, 1*n^1)^1
is 2 y^n. The kernel reads the tree that is made here, and never this text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flint import fmpq

from ..kernel.core.expression import Op, Relation, Tree, parse
from ..kernel.core.rational import Node
from ..kernel.proofs.forms import BOUND
from ..kernel.proofs.polynomials import Form, Polynomial

Json = Any  # a tree as a file holds it: a string, or a list that starts with an operation
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
_NAME = re.compile(r"#?[A-Za-z0-9_]+")
_INDEX = "index_"  # how the index of a sum is called: the kernel calls it #1


@lru_cache(maxsize=65536)
def atom_tree(key: str) -> Json:
    """The formula that an atom stands for."""
    return _Reader(key).whole()


@lru_cache(maxsize=65536)
def atom(key: str) -> Tree:
    """The formula that an atom stands for, as the kernel parses it."""
    return tree_of(atom_tree(key))


def operation(key: str) -> str:
    """The operation that an atom is: "at" of a measure, "max", "^", ...; "" of a letter."""
    formula = atom(key)
    return formula.name if isinstance(formula, Op) else ""


def is_root(formula: Tree) -> bool:
    """Whether it is a power whose exponent is a number: of atoms a root, for whole powers are multiplied out."""
    return isinstance(formula, Op) and formula.name == "^" and isinstance(formula.args[1], fmpq)


def tree_of(raw: Json) -> Tree:
    """A tree of a file as the kernel parses it."""
    return parse(Node(raw, "proposal"))


def tree_json(tree: Tree) -> Json:
    """A tree as a file holds it; the kernel's own names for indices of sums are spelled out."""
    if isinstance(tree, Op):
        return [tree.name, *map(tree_json, tree.args)]
    return str(tree) if isinstance(tree, fmpq) else tree.replace(BOUND, "bound_")


def relation_json(relation: Relation) -> Json:
    """A relation as a file holds it."""
    return [relation[0], *map(tree_json, relation[1:])]


def product(parts: list[Json]) -> Json:
    return "1" if not parts else parts[0] if len(parts) == 1 else ["*", *parts]


def total(parts: list[Json]) -> Json:
    return "0" if not parts else parts[0] if len(parts) == 1 else ["+", *parts]


def raised(base: Json, n: int) -> Json:
    return base if n == 1 else ["^", base, str(n)]


def written_out(formula: Tree | Form) -> Tree:
    """A formula that the kernel has as a polynomial, as a tree."""
    if not isinstance(formula, Form):
        return formula
    return tree_of(polynomial_tree(formula.top))


def polynomial_tree(polynomial: Polynomial) -> Json:
    """A polynomial over atoms as a tree."""
    return total([product([str(c), *(raised(atom_tree(name), n) for name, n in m)]) for m, c in polynomial.items()])


@dataclass(slots=True)
class _Reader:
    text: str
    place: int = 0

    def whole(self) -> Json:
        formula = self._atom()
        if self.place != len(self.text):
            raise ValueError(f"got {self.text[self.place :]!r} left over, expected one atom")
        return formula

    def _is(self, piece: str) -> bool:
        if self.text.startswith(piece, self.place):
            self.place += len(piece)
            return True
        return False

    def _read(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.place)
        if match is None:
            raise ValueError(f"got {self.text[self.place :]!r}, expected a number or a name")
        self.place = match.end()
        return match.group()

    def _form(self) -> Json:
        if not self._is("("):
            return self._polynomial()
        top = self._polynomial()
        self._is(")/(")
        below = self._polynomial()
        self._is(")")
        return ["*", top, ["^", below, "-1"]]

    def _polynomial(self) -> Json:
        terms = [self._term()]
        while self._is(" + "):
            terms.append(self._term())
        return total(terms)

    def _term(self) -> Json:
        number = self._read(_NUMBER)
        factors: list[Json] = []
        while self._is("*"):
            base = self._atom()
            self._is("^")
            factors.append(raised(base, int(self._read(_NUMBER))))
        return product(factors if number == "1" and factors else [number, *factors])

    def _list(self, end: str) -> list[Json]:
        parts = [self._form()]
        while self._is(", "):
            parts.append(self._form())
        self._is(end)
        return parts

    def _atom(self) -> Json:
        name = self._read(_NAME)
        if self._is("["):
            return ["at", name, *self._list("]")]
        if not self._is("("):
            return f"{_INDEX}{name[1:]}" if name.startswith("#") else name
        if name == "sum":
            return self._sum()
        parts = self._list(")")
        if name == "power":
            return ["^", *parts]
        if name.startswith("root"):
            return ["^", parts[0], f"1/{name[4:]}"]
        return [name, *parts]

    def _sum(self) -> Json:
        """Its index is the lowest of the names that its body leaves open: those of sums around it are higher."""
        low = self._form()
        self._is(", ")
        high = self._form()
        self._is(", ")
        body = self._form()
        self._is(")")
        # Behind the number of an index the kernel writes p if it is at least 1, and z if it has any sign. There is
        # always one: the kernel takes out of a sum what does not speak of its index.
        return ["sum", min(_open(body), key=lambda name: int(name.removeprefix(_INDEX).rstrip("pz"))), low, high, body]


def _open(tree: Json) -> set[str]:
    """The indices of sums that a formula speaks of and does not bind."""
    if isinstance(tree, str):
        return {tree} if tree.startswith(_INDEX) else set()
    if tree[0] == "sum":
        return _open(tree[2]) | _open(tree[3]) | (_open(tree[4]) - {tree[1]})
    return {name for part in tree[1:] for name in _open(part)}
