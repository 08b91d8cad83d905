"""Lines that take cases: part by part of a minimum or maximum, or by a product of two that bounds a square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flint import fmpq

from ...kernel.core.expression import Op, Relation, Tree
from ...kernel.proofs.judgement import ordered
from ...kernel.proofs.polynomials import Form, atoms_of
from ...kernel.proofs.rules.line import constraint
from ..atom_trees import atom, atom_tree, operation, polynomial_tree, tree_json, tree_of
from .line_certificates import certificates

if TYPE_CHECKING:
    from ..notebook import Hypotheses, Notebook, Places

ZERO, ONE = fmpq(0), fmpq(1)


def by_parts(book: Notebook, says: Relation, rests: Places, under: Hypotheses) -> int | None:
    """x <= c min(...) and c max(...) <= x part by part, for a positive c."""
    name, left, right = ordered(says)
    if name != "<=":
        return None
    forms = book.context.forms
    difference = forms.difference(left, right)
    for key in atoms_of(difference.top):
        if operation(key) not in ("min", "max"):
            continue
        tree, low = atom(key), operation(key) == "min"
        with_it = {m: c for m, c in difference.top.items() if (key, 1) in m}
        without = {m: c for m, c in difference.top.items() if key not in dict(m)}
        if len(with_it) + len(without) < len(difference.top):
            continue
        factor = {tuple(part for part in m if part[0] != key): (c if low else -c) for m, c in with_it.items()}
        if forms.sign(Form(factor)) != "positive" or not isinstance(tree, Op):
            continue
        top = {m: (-c if low else c) for m, c in without.items()}
        other = tree_of(["*", polynomial_tree(top), ["^", polynomial_tree(factor), "-1"]])
        pairs: list[Relation] = [("<=", other, p) if low else ("<=", p, other) for p in tree.args]
        places = [book.line(pair, rests, under) for pair in pairs]
        if None in places:
            continue
        data = {"name": "below_min" if low else "above_max", "at": [tree_json(other), *map(tree_json, tree.args)]}
        reached: Relation = ("<=", other, tree) if low else ("<=", tree, other)
        by = [n for n in places if n is not None]
        needs = book.needs(reached, (*rests, *by), under) or []
        place = book.attempt("fact", reached, under, [*by, *needs], data)
        if place is not None:
            needs = book.needs(says, (*rests, place), under)
            if needs is None:
                continue
            proofs = certificates(says, [reached], forms)
            if proofs is not None:
                return book.attempt("line", says, under, [place, *needs], proofs)
    return None


def by_extremes(book: Notebook, says: Relation, rests: Places, under: Hypotheses) -> int | None:
    """Where a rest bounds something by max(x, y) or by -min(x, y), in two cases: y <= x, and x <= y."""
    forms = book.context.forms
    goal = atoms_of(constraint(says, forms)[1])
    bounds = {
        key: None
        for name, polynomial in (constraint(book.judgements[n].says, forms) for n in rests)
        for monomial, c in polynomial.items()
        for key, _ in monomial
        if operation(key) == ("max" if c > 0 else "min") and key not in goal and name != "!="
    }
    for tree in map(atom, bounds):
        if not isinstance(tree, Op) or len(tree.args) != 2:
            continue
        low = tree.name == "min"
        both, needs = list[int](), list[int]()
        for part, other in (tree.args, tree.args[::-1]):
            hypothesis: Relation = ("<=", part, other) if low else ("<=", other, part)
            if book.among(hypothesis, under):
                return None
            needs += [n for n in book.needs(hypothesis, rests, under) or () if n not in needs]
            scope = (*under, hypothesis)
            assumed = book.attempt("hypothesis", hypothesis, scope, (), {})
            # The fact asks how `part` compares with every part of the extreme, itself among them.
            same_ = book.attempt("line", ("<=", part, part), scope, needs, certificates(("<=", part, part), [], forms))
            if assumed is None or same_ is None:
                return None
            reached: Relation = ("<=", part, tree) if low else ("<=", tree, part)
            data = {"name": "below_min" if low else "above_max", "at": [tree_json(x) for x in (part, *tree.args)]}
            by = [assumed, same_, *(book.needs(reached, (*rests, assumed), scope) or ())]
            bound = book.attempt("fact", reached, scope, by, data)
            if bound is None:
                return None
            parts = [_without(book, n, tree, part, (assumed, bound, *rests), scope) for n in rests]
            offered = (*(n for n in parts if n is not None), *rests, assumed, bound, *needs)
            place = book.line(says, offered, scope)
            if place is None:
                return None
            both.append(place)
        return book.attempt("case", says, under, [*both, *needs], {})
    return None


def _without(book: Notebook, n: int, extreme: Op, part: Tree, rests: Places, under: Hypotheses) -> int | None:
    """The judgement with a part in the place of a minimum or maximum."""
    forms = book.context.forms

    def put_in(tree: Tree) -> Tree:
        if not isinstance(tree, Op):
            return tree
        if tree.name == extreme.name and not forms.difference(tree, extreme).top:
            return part
        return Op(tree.name, tuple(map(put_in, tree.args)))

    name, left, right = book.judgements[n].says
    says: Relation = (name, put_in(left), put_in(right))
    return None if says == book.judgements[n].says else book.line(says, (n, *rests), under, quick=True)


def by_squares(book: Notebook, says: Relation, rests: Places, under: Hypotheses) -> int | None:
    """A line from X^2 <= A B, used as 2 s X <= A + s^2 B for some s; where s may be 0, in two cases."""
    forms = book.context.forms
    letters = [n for n in atoms_of(constraint(says, forms)[1]) if forms.domain(n) == "index"]
    pairs = [(n, pair) for n in rests if (pair := _product_of(book, n)) is not None]
    # Under a hypothesis of its own it would split the same cases again, without end.
    if not pairs or not letters or any(h in (("<=", n, ZERO), ("<=", ONE, n)) for h in under for n in letters):
        return None
    both: list[int] = []
    letter = letters[0]
    for hypothesis in (("<=", letter, ZERO), ("<=", ONE, letter)):
        scope = (*under, hypothesis)
        offered = [*rests, book.assumed(hypothesis)]
        if hypothesis[2] == ZERO:
            first = book.line(("=", letter, ZERO), (offered[-1],), scope, quick=True)
            offered += [] if first is None else [first]
        for place, (x, a, b) in pairs:
            signs = [book.signs(tree) for tree in (a, b)]
            if signs[0] is None or signs[1] is None:
                continue
            if hypothesis[2] == ZERO:
                for side in (a, b):
                    none = book.line(("<=", side, ZERO), tuple(offered), scope, quick=True)
                    offered += [] if none is None else [none]
                zero = book.line(("=", x, ZERO), (*offered, signs[0], signs[1]), scope)
                offered += [] if zero is None else [zero]
            else:
                offered += _youngs(book, place, (x, a, b), (signs[0], signs[1]), letter, says)
        place = book.line(says, tuple(offered), scope)
        if place is None:
            return None
        both.append(place)
    return book.attempt("case", says, under, both, {})


def _product_of(book: Notebook, n: int) -> tuple[Tree, Tree, Tree] | None:
    """X, A and B if the judgement says that X^2 <= A B."""
    name, polynomial = constraint(book.judgements[n].says, book.context.forms)
    minus = [m for m, c in polynomial.items() if c == -1 and len(m) == 1 and m[0][1] == 2]
    plus = [m for m, c in polynomial.items() if c == 1 and len(m) == 2 and {p for _, p in m} == {1}]
    if name != "<=" or len(polynomial) != 2 or not minus or not plus:
        return None
    x, a, b = map(atom, (minus[0][0][0], plus[0][0][0], plus[0][1][0]))
    return x, a, b


def _youngs(
    book: Notebook, place: int, parts: tuple[Tree, Tree, Tree], signs: tuple[int, int], letter: str, goal: Relation
) -> Iterator[int]:
    """2 s X <= A + s^2 B, for s of either sign: it holds because (A + s^2 B)^2 - (A - s^2 B)^2 = 4 s^2 A B."""
    forms = book.context.forms
    x, a, b = parts
    under = book.judgements[place].under
    steps = [n for n in atoms_of(constraint(goal, forms)[1]) if operation(n) == "at" and forms.signs[n] == "positive"]
    factors = [tree_json(letter), *(["*", letter, atom_tree(step)] for step in steps[:2])]
    for s in factors:
        for one, two, places in ((a, b, signs), (b, a, signs[::-1])):
            for sign in ("2", "-2"):
                right = ["+", tree_json(one), ["*", ["^", s, "2"], tree_json(two)]]
                says = ("<=", tree_of(["*", sign, s, tree_json(x)]), tree_of(right))
                apart = ["+", tree_json(one), ["*", "-1", ["^", s, "2"], tree_json(two)]]
                products = [
                    ["1", ["goal", "goal"]], ["2", ["goal", 1]], ["2", ["goal", 2, ["square", s]]],
                    ["4", [0, ["square", s]]], ["1", [["square", apart]]],
                ]  # fmt: skip
                line = book.attempt("line", says, under, (place, *places), [{"products": products}])
                if line is not None:
                    yield line
