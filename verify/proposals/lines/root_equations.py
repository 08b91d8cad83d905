"""Equations between roots: those of one base as powers of one root, and the root of a product as the product of roots.

The kernel's fact says of a root no more than y^q = x. What roots have to do with each other follows: of y and w above
0, y^q = w^q gives y = w, because y^q - w^q is y - w times a sum of products of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import TYPE_CHECKING, cast

from flint import fmpq, fmpz

from ...kernel.core.expression import Op, Relation, Tree
from ...kernel.proofs.forms import Forms
from ...kernel.proofs.judgement import ordered
from ...kernel.proofs.polynomials import ONE, Form, Polynomial, atoms_of, power, scaled, text, times
from ...kernel.proofs.rules.facts import ROOTS
from ...kernel.proofs.rules.line import constraint, negations
from ..atom_trees import Json, atom, atom_tree, is_root, polynomial_tree, raised

if TYPE_CHECKING:
    from ..notebook import Hypotheses, Notebook, Places

RootFact = Callable[[Tree, int], int | None]  # the place where it is said that a root, to its degree, is its base
LARGEST = 10**6  # a number that is taken apart into primes


@dataclass(slots=True)
class Powers:
    """A product of powers of bases, which are kept by their normal forms."""

    forms: Forms
    bases: dict[str, Tree] = field(default_factory=dict[str, Tree])
    exponents: defaultdict[str, fmpq] = field(default_factory=lambda: defaultdict(fmpq))

    def multiply(self, base: Tree, exponent: fmpq) -> None:
        key = text(self.forms.form(base))
        self.bases.setdefault(key, base)
        self.exponents[key] += exponent

    def root(self, degree: int) -> list[tuple[Tree, fmpq]]:
        return [(self.bases[key], exponent / degree) for key, exponent in self.exponents.items() if exponent != 0]


def root_equations(book: Notebook, atoms: Sequence[str], rests: Places, under: Hypotheses, fact: RootFact) -> list[int]:
    """Equations that bring the roots among the atoms to one root for every base."""
    return _RootSearch(book, rests, under, fact).equations([_power_of(key) for key in atoms if is_root(atom(key))])


@dataclass(slots=True)
class _RootSearch:
    book: Notebook
    rests: Places
    under: Hypotheses
    fact: RootFact

    def equations(self, roots: Sequence[tuple[Tree, fmpq]]) -> list[int]:
        """Roots of products come first, because their factors may be roots of bases that occur already."""
        forms = self.book.context.forms
        products: list[tuple[Tree, int, list[tuple[Tree, fmpq]]]] = []
        for base, exponent in roots:
            for n in self.rests:
                definition = self._as_product(self.book.judgements[n].says, base)
                if definition is not None:
                    products.append((base, int(exponent.q), definition.root(int(exponent.q))))
        degrees: dict[str, tuple[Tree, set[int]]] = {}
        for base, exponent in (*roots, *(part for *_, parts in products for part in parts)):
            if exponent.q > 1:
                degrees.setdefault(text(forms.form(base)), (base, set()))[1].add(int(exponent.q))
        equations: list[int] = []
        for base, several in degrees.values():
            common = lcm(*several)
            if len(several) > 1 and common <= ROOTS and (place := self.fact(base, common)) is not None:
                for degree in sorted(several - {common}):
                    value = Op("^", (Op("^", (base, fmpq(1, common))), fmpq(common // degree)))
                    equations += self._equal(base, degree, value, [place])
        for base, degree, parts in products:
            facts = (self.fact(part, int(exponent.q)) for part, exponent in parts if exponent.q > 1)
            value = Op("*", tuple(Op("^", part) for part in parts))
            equations += self._equal(base, degree, value, [*equations, *(n for n in facts if n is not None)])
        return equations

    def _as_product(self, says: Relation, base: Tree) -> Powers | None:
        """The product that an equation of two terms says that a letter is, if all of its factors are positive."""
        name, polynomial = constraint(says, self.book.context.forms)
        sides = sorted(polynomial.items(), key=lambda term: base in dict(term[0]))
        if name != "=" or len(sides) != 2 or sides[0][1] * sides[1][1] > 0:
            return None
        (others, c), (own, d) = sides
        if base in dict(others) or dict(own).get(str(base)) != 1 or max(abs(c / d).p, abs(c / d).q) > LARGEST:
            return None
        if any(self._sign(key) is None for key, _ in (*others, *own)):
            return None
        value = Powers(self.book.context.forms)
        for number, sign in ((abs(c / d).p, 1), (abs(c / d).q, -1)):
            for prime, n in fmpz(number).factor():
                value.multiply(fmpq(prime), fmpq(sign * n))
        for monomial, sign in ((others, 1), (own, -1)):
            for key, n in monomial:
                if key != base:
                    part, exponent = _power_of(key)
                    value.multiply(part, sign * n * exponent)
        return value

    def _sign(self, key: str) -> Json | None:
        """What shows in a certificate that an atom is positive: its formula, or the place where that is said."""
        if self.book.context.forms.signs[key] == "positive":
            return atom_tree(key)
        base, exponent = _power_of(key)
        is_positive: Relation = ("<", fmpq(0), base)
        place = self.book.line(is_positive, self.rests, self.under, quick=True)
        if exponent == 1 or place is None:
            return place
        degree = int(exponent.q)
        if (fact := self.fact(base, degree)) is None:
            return None
        # If the root y were not above 0, 0 < x - y y^(q-1) = 0.
        certificate = {
            "products": [["1", [0]], ["1", ["goal", raised(atom_tree(key), degree - 1)]]],
            "equations": [["-1", 1]],
        }
        return self.book.attempt("line", ("<", fmpq(0), atom(key)), self.under, (place, fact), [certificate])

    def _equal(self, base: Tree, degree: int, value: Tree, rests: Sequence[int]) -> Iterator[int]:
        """That a root y of x is w = N/D, both monomials of positive atoms, from y^q = x and x = w^q.

        With g the number before y D in the goal, goal * sum of (y D)^(q-1-i) N^i is g ((y D)^q - N^q), which is
        g D^q (y^q - x) + g (x D^q - N^q).
        """
        book, forms = self.book, self.book.context.forms
        root: Tree = Op("^", (base, fmpq(1, degree)))
        says: Relation = ("=", root, value)
        power_says: Relation = ("=", base, Op("^", (value, fmpq(degree))))
        is_root_place = self.fact(base, degree)
        is_power_place = book.line(power_says, (*self.rests, *rests), self.under, quick=True)
        if is_root_place is None or is_power_place is None:
            return
        form, y = forms.form(value), forms.form(root).top
        multiple = times(y, form.below)
        signs = {key: self._sign(key) for key in atoms_of(multiple, form.top)}
        if None in signs.values():
            return
        places = [is_root_place, is_power_place, *(n for n in signs.values() if type(n) is int)]
        at = {key: places.index(sign) if type(sign) is int else sign for key, sign in signs.items()}
        first, second = (constraint(book.judgements[n].says, forms)[1] for n in places[:2])
        over_goal, over_power = _multiplied_by(says, forms), _multiplied_by(power_says, forms)
        above, below = power(form.top, degree), power(form.below, degree)
        certificates: list[Json] = []
        for _, goal in negations(says, forms):
            scale = _ratio(goal, times(multiple, over_goal))
            products: list[Json] = []
            for n in range(degree):
                factor = times(times(power(multiple, degree - 1 - n), power(form.top, n)), over_power)
                [(monomial, c)] = factor.items()
                products.append([str(c), ["goal", *(at[key] for key, count in monomial for _ in range(count))]])
            of_root = scaled(times(times(below, over_goal), over_power), -scale / _ratio(first, power(y, degree)))
            of_power = scaled(over_goal, scale / _ratio(second, times(above, over_power)))
            equations = [[polynomial_tree(of_root), 0], [polynomial_tree(of_power), 1]]
            certificates.append({"products": products, "equations": equations})
        needs = book.needs(says, (*self.rests, *places), self.under)
        place = book.attempt("line", says, self.under, [*places, *(needs or ())], certificates)
        if place is not None:
            yield place


def _power_of(key: str) -> tuple[Tree, fmpq]:
    """The base and the exponent that an atom is."""
    tree = atom(key)
    return cast("tuple[Tree, fmpq]", tree.args) if isinstance(tree, Op) and is_root(tree) else (tree, fmpq(1))


def _multiplied_by(says: Relation, forms: Forms) -> Polynomial:
    """By what the kernel multiplies an equation of fractions: a denominator whose form does not show its sign."""
    below = forms.difference(*ordered(says)[1:]).below
    return ONE if forms.sign(Form(below)) == "positive" else below


def _ratio(polynomial: Polynomial, term: Polynomial) -> fmpq:
    """How often the first one has the second one's first term."""
    monomial, c = next(iter(term.items()))
    return polynomial.get(monomial, fmpq(0)) / c
