"""Expression trees as Python functions, for formulas that are computed at thousands of points.

The same operations in the same order as in `trees.read`, so the same numbers to the last bit; equal parts are computed
once. What is written has names of its own and numbers only: no text of a tree goes into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .trees import Formula, Tree

__all__ = ["Numbers", "program"]

_INFIX = {"+": "+", "*": "*", "<=": "<=", "<": "<", ">=": ">=", ">": ">", "=": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class Numbers:
    """How one kind of number is computed with; `whole`: a power whose exponent is a given integer other than 0."""

    number: Callable[[int, int], Any]
    power: Callable[[Any, Any], Any]
    total: Callable[[Callable[[Any], Any], Any, Any], Any]
    unary: Mapping[str, Callable[[Any], Any]]
    whole: Callable[[Any, int], Any] | None = None


def program(tree: Tree, numbers: Numbers) -> Formula[Any] | None:
    """The tree, whose names are places (`#0`, `#1`, ...), as a function of a list; None for and, or, not."""
    if not isinstance(tree, tuple) or tree[0] in ("and", "or", "not"):
        return None
    writer = _Writer(numbers)
    block = _Block(writer, "    ")
    value = block.value(tree)
    places = [f"    v{n} = values[{n}]" for n in sorted(writer.places)]
    source = "\n".join(["def run(values):", *places, *block.lines, f"    return {value}"])
    exec(source, writer.scope)
    return writer.scope["run"]


class _Writer:
    """What all blocks of a function share: the numbers that it names, and the places that it reads."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.places: set[int] = set()
        self.scope: dict[str, Any] = {"power": numbers.power, "whole": numbers.whole, "total": numbers.total}
        self.scope |= {f"do_{op}": function for op, function in numbers.unary.items()}
        self.names = 0

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def constant(self, p: int, q: int) -> str:
        try:
            value = self.numbers.number(p, q)
        except OverflowError:  # no float is so large: said where it is used
            self.scope["number"] = self.numbers.number
            return f"number({p}, {q})"
        name = self.fresh("c")
        self.scope[name] = value
        return name


class _Block:
    """The lines of one function: of the formula itself, or of the terms of a sum in it."""

    def __init__(self, writer: _Writer, indent: str, bound: frozenset[int] = frozenset()) -> None:
        self.writer, self.indent, self.bound = writer, indent, bound
        self.lines: list[str] = []
        self.known: dict[Tree, str] = {}

    def value(self, tree: Tree) -> str:
        """The name of its value, once the lines so far have run."""
        if tree not in self.known:
            self.known[tree] = self._atom(tree) if isinstance(tree, str) else self._node(tree)
        return self.known[tree]

    def _atom(self, text: str) -> str:
        if text[0] == "#":
            place = int(text[1:])
            if place not in self.bound:
                self.writer.places.add(place)
            return f"v{place}"
        return self.writer.constant(*_fraction(text))

    def _node(self, tree: Tree) -> str:
        op, *args = tree
        if op == "sum":
            line = self._sum(*args)
        elif op == "^" and self.writer.numbers.whole is not None and _integer(args[1]):
            line = f"whole({self.value(args[0])}, {_integer(args[1])})"
        else:
            parts = [self.value(arg) for arg in args]
            if op in ("+", "*", "min", "max") and len(parts) == 1:
                return parts[0]
            listed = ", ".join(parts)
            if op in _INFIX:
                line = f" {_INFIX[op]} ".join(parts)
            elif op == "^":
                line = f"power({listed})"
            elif op in ("min", "max"):
                line = f"{op}({listed})"
            elif op in self.writer.numbers.unary:
                line = f"do_{op}({listed})"
            else:
                raise ValueError(f"got the operation {op!r}, expected one that numbers have")
        name = self.writer.fresh("t")
        self.lines.append(f"{self.indent}{name} = {line}")
        return name

    def _sum(self, variable: str, low: Tree, high: Tree, body: Tree) -> str:
        first, last, place = self.value(low), self.value(high), int(variable[1:])
        term = self.writer.fresh("f")
        inside = _Block(self.writer, f"{self.indent}    ", self.bound | {place})
        value = inside.value(body)
        self.lines += [f"{self.indent}def {term}(v{place}):", *inside.lines, f"{inside.indent}return {value}"]
        return f"total({term}, {first}, {last})"


def _fraction(text: str) -> tuple[int, int]:
    top, _, bottom = text.partition("/")
    return int(top), int(bottom or 1)


def _integer(tree: Tree) -> int | None:
    """Its value, if it is an integer."""
    if not isinstance(tree, str) or tree[0] == "#":
        return None
    top, bottom = _fraction(tree)
    return top if bottom == 1 else None
