"""Formulas of an argument as relations of the kernel, with letters of the proof for the symbols that no claim has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from flint import fmpq
from sympy import Basic, Eq, Expr, Indexed, Sum, Symbol
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, true

from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from ..kernel.core.claim import Claim, read
from ..kernel.core.expression import Relation, Tree, parse_relation
from ..kernel.core.rational import Malformed, Node
from ..kernel.proofs.rules.citation import OWN
from ..search.lowered_claim import lower
from .atom_trees import Json
from .notebook import Hypotheses, Notebook, speaks_of
from .premises import Spelling

ONE = fmpq(1)


def claim_of(statement: Statement) -> Claim:
    """The statement's claim as the kernel reads it."""
    return read(Node(lower(statement).claim, "claim"))


class NotProposed(Exception):
    """What keeps an argument from being written as judgements: a kind of the closed list, and where."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class Enlarged(Exception):
    """The frame needs more than it has: the proof is written again with that in it."""

    def __init__(self, more: dict[str, dict[str, Json]]) -> None:
        super().__init__(str(more))
        self.more = more


@dataclass(frozen=True, slots=True)
class IndexValues:
    """What stands for indices, and the hypotheses about it."""

    values: tuple[tuple[Symbol, str], ...] = ()
    under: Hypotheses = ()

    def put(self, symbol: Symbol, value: str, under: Hypotheses) -> IndexValues:
        kept = tuple((s, v) for s, v in self.values if s != symbol)
        return IndexValues((*kept, (symbol, value)), under)


@dataclass(slots=True, kw_only=True)
class Formulas:
    """What formulas of one argument are written with: the claim's names, the frame's, and letters that are added."""

    statement: Statement
    claim: Mapping[str, Json]
    book: Notebook
    spelling: Spelling
    frame: dict[str, Json] = field(default_factory=dict[str, Json])
    anyone: dict[Symbol, str] = field(default_factory=dict[Symbol, str])  # letters for any round, step or client

    def relation(self, formula: Relational, place: IndexValues) -> Relation:
        """A relation at what stands for its indices; `NotProposed` where it has no tree."""
        expr = formula.func(*(self.spelling.written(side) for side in formula.args), evaluate=False)
        names = cast("dict[Basic, str]", dict(place.values))
        self._declare(expr, names)
        try:
            raw = trees.tree(expr, names)
            return parse_relation(Node(self.spelling.renamed(raw, {s.name: v for s, v in place.values}), "step"))
        except (UserError, Malformed) as error:  # what has no tree
            raise NotProposed("formula", f"{formula}: {error}") from None

    def tree(self, formula: Expr, place: IndexValues) -> Tree:
        """A formula at what stands for its indices."""
        return self.relation(cast("Relational", Eq(formula, 0, evaluate=False)), place)[1]

    def _declare(self, expr: Basic, names: Mapping[Basic, str]) -> None:
        """Symbols that the claim does not have are letters of the proof."""
        domains = self.book.context.forms.domains
        bound = {v for total in expr.atoms(Sum) for v in total.variables}
        for symbol in expr.free_symbols:
            if isinstance(symbol, Indexed):  # sympy counts p[j] among them, beside p and j
                continue
            if symbol not in names and symbol.name not in domains and symbol not in bound:
                self.letter(symbol.name, trees.domain_of(symbol))
        for quantity in expr.atoms(AppliedUndef):
            name = trees.name_of(quantity)
            if name not in domains:
                cast("dict[str, str]", domains)[name] = "real"

    def letter(self, name: str, domain: str) -> str:
        """A new letter of the proof, with a number behind its name where that is taken."""
        context = self.book.context
        taken = {*context.claim.domains, *context.claim.for_all, *OWN, *context.forms.domains}
        if name in taken:
            n = 1
            while f"{name}_{n}" in taken:
                n += 1
            name = f"{name}_{n}"
        # The context is read-only to the kernel's rules; who writes the proof adds to it with every letter.
        cast("dict[str, str]", context.letters)[name] = domain
        cast("dict[str, str]", context.forms.domains)[name] = domain
        return name

    def any(self, symbol: Symbol, domain: str) -> str:
        """A letter for any round, step or client."""
        if symbol not in self.anyone:
            self.anyone[symbol] = self.letter(f"{symbol.name}_any", domain)
        return self.anyone[symbol]

    def own_letter(self, symbol: Symbol, place: IndexValues, domain: str = "") -> str:
        """A letter for all values of an index: its own name, if nothing else speaks of that."""
        context = self.book.context
        spoken = any(speaks_of(h, symbol.name) for h in place.under)
        domain = domain or trees.domain_of(symbol)
        if context.letters.get(symbol.name) in (domain, "count" if domain == "index" else domain) and not spoken:
            return symbol.name
        return self.letter(symbol.name, domain)

    def implied(self, quantity: AppliedUndef) -> list[str]:
        """The letters that a measure of the proof has beside those that the formula writes."""
        _, places = self.spelling.indices.get(trees.name_of(quantity), ("", ()))
        return [place for place in places if isinstance(place, str)]

    def inside(self, term: Expr, index: Symbol, place: IndexValues) -> Tree:
        """The tree of a summand, in which the index of the sum is a name."""
        domains = cast("dict[str, str]", self.book.context.forms.domains)
        # It is declared for this formula alone: a letter of the proof would be written into the file.
        strange = index.name not in domains
        if strange:
            domains[index.name] = "index"
        body = self.tree(term, place)
        if strange:
            del domains[index.name]
        return body


def relations_of(claims: Sequence[Boolean]) -> list[Relational]:
    """The relations of conjunctions; what is true as written is none."""
    return [p for claim in claims for p in And.make_args(claim) if p is not true and p != true]
