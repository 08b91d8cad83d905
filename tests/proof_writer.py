"""Proofs for tests, written like mathematics: relations as text, a line by the shapes of its products.

`Writer` holds a file `fedaudit-proof/2` in the making. Of a line it is told which products of judgements and which
multiples of equations add up; it solves for their numbers, and the kernel checks the sum.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from fedaudit.verify.kernel.core.claim import read
from fedaudit.verify.kernel.core.expression import Op, Tree, parse
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.proofs.polynomials import Polynomial, times
from fedaudit.verify.kernel.proofs.rules import facts
from fedaudit.verify.kernel.proofs.rules.line import constraint, negations

Json = Any
Shape = Sequence[int | str]  # of a product: places of judgements, "goal", a formula, or "square: formula"


def data(tree: Tree) -> Json:
    """A tree as a file holds it."""
    return [tree.name, *map(data, tree.args)] if isinstance(tree, Op) else str(tree)


def formula(text: str) -> Json:
    return data(facts._tree(ast.parse(text, mode="eval").body))  # pyright: ignore[reportPrivateUsage]


def relation(text: str) -> Json:
    name, left, right = facts.relation(text)
    return [name, data(left), data(right)]


def claim_of(
    then: Sequence[str], when: Sequence[str] = (), domains: Mapping[str, str] | None = None, **parts: Json
) -> Json:
    """A claim about numbers alone."""
    return {
        "id": "own/claim", "kind": "inequality", "setting": "scalar", "let": [], "implicit": [], "choose": {},
        "when": [relation(c) for c in when], "for_all": {}, "then": [relation(r) for r in then],
        "domains": dict(domains or {}), **parts,
    }  # fmt: skip


class Writer:
    """Judgements in the order in which they are written; every method gives the place of the one that it adds."""

    def __init__(self, claim: Json, letters: Mapping[str, str] | None = None, **parts: Json) -> None:
        self.file: dict[str, Any] = {
            "format": proof.FORMAT, "statement": claim["id"], "claim": claim, "letters": dict(letters or {}),
            "judgements": [], **parts,
        }  # fmt: skip
        nodes = {name: Node(part, name) for name, part in self.file.items()}
        self.context = proof.context_of(nodes, read(nodes["claim"]), {})

    def add(self, rule: str, says: str, by: Sequence[int] = (), under: Sequence[str] = (), given: Json = None) -> int:
        entry: dict[str, Any] = {
            "rule": rule,
            "says": relation(says),
            "by": [*by],
            "under": [relation(h) for h in under],
        }
        self.file["judgements"].append(entry if given is None else {**entry, "with": given})
        return len(self.file["judgements"]) - 1

    def condition(self, n: int) -> int:
        self.file["judgements"].append(
            {"rule": "condition", "says": self.file["claim"]["when"][n], "with": {"of": "when", "n": n}}
        )
        return len(self.file["judgements"]) - 1

    def hypothesis(self, says: str) -> int:
        return self.add("hypothesis", says, under=[says])

    def fact(self, name: str, at: Sequence[str], says: str, by: Sequence[int] = (), under: Sequence[str] = ()) -> int:
        return self.add("fact", says, by, under, {"name": name, "at": [formula(x) for x in at]})

    def line(
        self,
        says: str,
        by: Sequence[int] = (),
        products: Sequence[Shape] = (),
        equations: Sequence[tuple[str, int]] = (),
        under: Sequence[str] = (),
    ) -> int:
        """`products` and `equations` (a multiplier and the place of an equation) whose sum is what is said."""
        places = {place: n for n, place in enumerate(by)}
        whole = facts.relation(says)
        forms, given = self.context.forms, [self._relation(place) for place in by]
        premises = [constraint(r, forms)[1] for r in given]
        certificates: list[Json] = []
        for _, goal in negations(whole, forms):
            shapes: list[Shape] = [["goal"], [], *products]
            sums = [self._product(shape, goal, premises, places) for shape in shapes]
            sums += [times(self._polynomial(x), premises[places[n]]) for x, n in equations]
            numbers = solved(sums, len(shapes))
            kept = [(c, shape) for c, shape in zip(numbers, shapes, strict=False) if c != 0]
            certificates.append(
                {
                    "products": [[str(c), [self._factor(f, places) for f in shape]] for c, shape in kept],
                    "equations": [
                        [["*", str(c), formula(x)], places[n]]
                        for c, (x, n) in zip(numbers[len(shapes) :], equations, strict=True)
                    ],
                }
            )
        return self.add("line", says, by, under, certificates)

    def induction(self, says: str, base: int, step: int, letter: str = "s", start: str = "0", **more: Any) -> int:
        by = [base, step, *more.pop("by", ())]
        return self.add("induction", says, by, given={"over": letter, "from": start}, **more)

    def instance(self, says: str, of: int, by: Sequence[int] = (), under: Sequence[str] = (), **values: str) -> int:
        return self.add("instance", says, [of, *by], under, {"values": {n: formula(x) for n, x in values.items()}})

    def check(self) -> proof.Accepted:
        return proof.check(self.file, {})

    def _relation(self, place: int) -> Any:
        name, left, right = self.file["judgements"][place]["says"]
        return name, parse(Node(left, "")), parse(Node(right, ""))

    def _polynomial(self, text: str) -> Polynomial:
        return self.context.forms.form(parse(Node(formula(text), ""))).top

    def _factor(self, factor: int | str, places: Mapping[int, int]) -> Json:
        if isinstance(factor, int):
            return places[factor]
        if factor.startswith("square: "):
            return ["square", formula(factor.removeprefix("square: "))]
        return factor if factor == "goal" else formula(factor)

    def _product(
        self, shape: Shape, goal: Polynomial, premises: Sequence[Polynomial], places: Mapping[int, int]
    ) -> Polynomial:
        total: Polynomial = {(): fmpq(1)}
        for factor in shape:
            if factor == "goal" or isinstance(factor, int):
                part = goal if isinstance(factor, str) else premises[places[factor]]
            else:
                part = self._polynomial(factor.removeprefix("square: "))
                part = times(part, part) if factor.startswith("square: ") else part
            total = times(total, part)
        return total


def solved(sums: Sequence[Polynomial], products: int) -> list[fmpq]:
    """Numbers with which these polynomials add up to 0; of the products among them, which come first, one is 1."""
    monomials = sorted({m for part in sums for m in part})
    for first in range(products):
        columns = [n for n in range(len(sums)) if n != first]
        rows = [[*(sums[n].get(m, fmpq(0)) for n in columns), -sums[first].get(m, fmpq(0))] for m in monomials]
        reduced, rank = fmpq_mat(rows or [[fmpq(0)] * len(sums)]).rref()
        numbers = {first: fmpq(1)}
        for row in range(rank):
            lead = next(n for n in range(len(sums)) if reduced[row, n] != 0)
            numbers[columns[lead] if lead < len(columns) else -1] = reduced[row, len(columns)]
        if -1 not in numbers and all(c >= 0 for n, c in numbers.items() if n < products):
            return [numbers.get(n, fmpq(0)) for n in range(len(sums))]
    raise AssertionError("no numbers make these shapes add up")
