"""Facts about the powers, roots, minima, sums and measures that a line speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from flint import fmpq

from ...kernel.core.expression import Op, Relation, Tree
from ...kernel.proofs.forms import substituted
from ...kernel.proofs.judgement import Judgement, ordered, put
from ...kernel.proofs.polynomials import Form, atoms_of, text
from ...kernel.proofs.rules.facts import FACTS, OTHERS
from ...kernel.proofs.rules.line import constraint
from ..atom_trees import atom, is_root, tree_json
from .root_equations import root_equations

if TYPE_CHECKING:
    from ..notebook import Hypotheses, Notebook, Places

ZERO, ONE = fmpq(0), fmpq(1)
ATOMS = 200  # that are looked at for one line, with those that facts about them bring in
EULER = (fmpq(271828182, 10**8), fmpq(271828183, 10**8))  # numbers below and above exp(1)


def facts(book: Notebook, says: Relation, rests: Places, under: Hypotheses) -> list[int]:
    """What is known about the powers, roots, minima, sums and measures of the line."""
    forms = book.context.forms
    atoms = atoms_of(*(constraint(r, forms)[1] for r in (says, *(book.judgements[n].says for n in rests))))
    places: list[int] = []
    powers: list[tuple[str, Tree, Tree]] = []
    visited: set[str] = set()
    waiting = list(atoms)
    while waiting and len(visited) < ATOMS:
        key = waiting.pop()
        if key in visited:
            continue
        visited.add(key)
        tree = atom(key)
        if isinstance(tree, Op) and tree.name == "^" and not is_root(tree):
            power = forms.form(tree.args[1])
            if forms.whole(power):
                powers.append((text(power), tree.args[0], tree.args[1]))
        about = [n for n in _of_atom(book, key, tree, rests, under) if n is not None]
        places += about
        for n in about:
            waiting += atoms_of(constraint(book.judgements[n].says, forms)[1])
    places += root_equations(
        book,
        sorted(visited),
        rests,
        under,
        lambda base, degree: _fact(book, "root", [base, fmpq(degree)], rests, under),
    )
    places += _squares(book, says, rests, under)
    for k, (unit, x, n) in enumerate(powers):
        for other, y, _ in powers[k + 1 :]:
            if unit == other:
                for low, high in ((x, y), (y, x)):
                    place = _fact(book, "power_monotone", [low, high, n], rests, under)
                    places += [] if place is None else [place]
    return places


def _squares(book: Notebook, says: Relation, rests: Places, under: Hypotheses) -> Iterator[int]:
    """x^2 <= y^2 of rests x <= y, for an x that occurs as a square."""
    forms = book.context.forms
    polynomials = [constraint(r, forms)[1] for r in (says, *(book.judgements[n].says for n in rests))]
    squared = {atom for polynomial in polynomials for m in polynomial for atom, power in m if power > 1}
    for n in rests:
        name, left, right = ordered(book.judgements[n].says)
        if (
            name == "<="
            and isinstance(left, Op)
            and left.name == "at"
            and squared & set(atoms_of(forms.form(left).top))
        ):
            square: Relation = ("<=", Op("^", (left, fmpq(2))), Op("^", (right, fmpq(2))))
            place = book.line(square, rests, under, quick=True)
            if place is not None:
                yield place


def _of_atom(book: Notebook, key: str, tree: Tree, rests: Places, under: Hypotheses) -> Iterator[int | None]:
    """Facts about one atom: its sign, and what the operation that it is comes to."""
    forms = book.context.forms
    measured = isinstance(tree, str) or (isinstance(tree, Op) and tree.name == "at")
    if measured and forms.signs.get(key) == "real":
        yield book.signs(tree)
    if not isinstance(tree, Op):
        return
    if is_root(tree):
        base, exponent = tree.args
        root = _fact(book, "root", [base, 1 / cast("fmpq", exponent)], rests, under)
        yield root
        if root is not None and forms.sign(forms.form(base) - Form({(): ONE})) in ("positive", "nonnegative"):
            yield book.line(("<=", ONE, tree), (root,), under, quick=True)
    elif tree.name == "^":
        base, power = tree.args
        if forms.signs[key] == "real":
            place = _fact(book, "power_positive", [base, power], rests, under)
            yield place if place is not None else _fact(book, "power_sign", [base, power], rests, under)
        if isinstance(base, Op) and base.name == "exp":
            yield _fact(book, "exp_power", [base.args[0], power], rests, under)
        if isinstance(base, fmpq) and base > 1:
            # (1/2)^n 2^n = 1^n: otherwise powers of 2 and of 1/2 are two atoms that have nothing to do with each other.
            yield _fact(book, "power_product", [1 / base, base, power], rests, under)
        form = forms.form(power)
        # x^(n - 1) is an atom of its own; this equation ties it to x^n.
        if form.top.get((), fmpq(0)) < 0:
            yield _fact(book, "power_step", [base, Op("+", (power, ONE))], rests, under)
    elif tree.name in ("min", "max"):
        name, least = ("min_below", "below_min") if tree.name == "min" else ("max_above", "above_max")
        for part in tree.args:
            others = [other for other in tree.args if other is not part]
            beyond = _fact(book, name, [part, *others], rests, under)
            yield beyond
            reached = _fact(book, least, [part, *tree.args], rests, under)  # if it is the one
            if beyond is not None and reached is not None:
                yield book.line(("=", tree, part), (beyond, reached), under, quick=True)
    elif tree.name == "log":
        one = tree.args[0] == 1
        yield _fact(book, "log_exp" if one else "log_positive", [ZERO if one else tree.args[0]], rests, under)
    elif tree.name == "abs":
        for name in ("abs_above", "abs_below"):
            yield _fact(book, name, [tree.args[0]], rests, under)
    elif tree.name == "exp" and tree.args[0] == 1:
        for relation in (("<=", EULER[0], tree), ("<=", tree, EULER[1])):
            yield book.attempt("fact", relation, (), (), {"name": "numbers", "at": []})
    elif tree.name == "sum":
        yield from _of_sum(book, tree)
        if forms.signs[key] == "real":
            yield _sum_sign(book, tree, rests, under)


def _sum_sign(book: Notebook, tree: Op, rests: Places, under: Hypotheses) -> int | None:
    """That a sum of measures that are not negative is not negative either."""
    index, low, high, body = tree.args
    letter = f"each_{str(index).removeprefix('index_')}"
    for domains in (book.context.letters, book.context.forms.domains):
        cast("dict[str, str]", domains)[letter] = "index"
    inside = substituted(body, {str(index): letter})
    ranges: Hypotheses = (("<=", low, letter), ("<=", letter, high))
    each = book.line(("<=", ZERO, inside), tuple(book.assumed(h) for h in ranges), ranges)
    if each is None:
        return None
    says: Relation = ("<=", Op("sum", (letter, low, high, ZERO)), Op("sum", (letter, low, high, inside)))
    least: Relation = ("<=", ZERO, low)
    at_least_0 = book.line(least, rests, under)
    needs = book.needs(says, rests, under)
    by = [each, *(needs or ()), *(() if at_least_0 is None else (at_least_0,))]
    data = {"letter": letter, "low": tree_json(low), "high": tree_json(high)}
    return book.attempt("termwise", ("<=", ZERO, tree), under, by, data)


def _of_sum(book: Notebook, tree: Op) -> Iterator[int | None]:
    """A sum of at most three terms, written out."""
    index, low, high, body = tree.args
    length = book.context.forms.difference(low, Op("+", (high, ONE)))
    if set(length.top) - {()}:
        return
    terms = length.top.get((), fmpq(0))
    if terms == 0:
        data = {"index": index, "low": tree_json(low), "high": tree_json(high), "body": tree_json(body)}
        yield book.attempt("sum_empty", ("=", tree, ZERO), (), (), data)
    elif terms in (1, 2, 3):
        less = Op("+", (high, fmpq(-1)))
        part = Op("sum", (index, low, less, body))
        data = {"index": index, "low": tree_json(low), "high": tree_json(less), "body": tree_json(body)}
        says: Relation = ("=", tree, Op("+", (part, substituted(body, {str(index): high}))))
        yield book.attempt("sum_next", says, (), (), data)
        yield from _of_sum(book, part)


def _fact(book: Notebook, name: str, at: list[Tree], rests: Places, under: Hypotheses) -> int | None:
    """An instance of a fact, if what it requires is proved from what is offered."""
    key = (name, tuple(at), rests, under)
    if key not in book.facts:
        book.facts[key] = None  # while its requirements are proved
        book.facts[key] = fact(book, name, at, rests, under, quick=True)
    return book.facts[key]


def fact(
    book: Notebook,
    name: str,
    at: Sequence[Tree],
    rests: Sequence[int],
    under: Hypotheses,
    says: Relation | None = None,
    *,
    quick: bool = False,
) -> int | None:
    by: list[int] = []
    if name in FACTS:
        schema = FACTS[name]
        values = dict(zip(schema.variables, at, strict=True))
        relation, required = put(schema.then, values), [put(c, values) for c in schema.when]
        required += [("<=", ZERO, value) for v, value in values.items() if schema.variables[v] == "index"]
    else:
        relation, required = OTHERS[name](Judgement(says or ("=", ZERO, ZERO)), list(at))
    for requirement in required:
        place = book.line(requirement, rests, under, quick=quick)
        if place is None:
            return None
        by.append(place)
    needs = book.needs(relation, (*rests, *by), under)
    return book.attempt(
        "fact", says or relation, under, [*by, *(needs or ())], {"name": name, "at": [tree_json(x) for x in at]}
    )
