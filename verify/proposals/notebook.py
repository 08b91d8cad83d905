"""The judgements of a proof that is being proposed: each is checked by the kernel's own rule as it is written down.

A line is proved from what is offered to it: the certificate is looked for (`lines`), what its sides need to be numbers
is proved first, and facts about its powers, roots, minima and sums are added when it does not go without them.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from ..kernel.core.expression import Op, Relation, Tree, parse
from ..kernel.core.rational import Node, Rejected
from ..kernel.proofs.forms import Need, names_of, substituted
from ..kernel.proofs.judgement import (
    Context,
    Judgement,
    among,
    needs_of,
    offers_of,
    ordered,
    same,
    same_need,
    shows,
)
from ..kernel.proofs.polynomials import Form, atoms_of, text
from ..kernel.proofs.proof import RULES
from ..kernel.proofs.rules.line import constraint
from .atom_trees import Json, atom_tree, polynomial_tree, written_out
from .lines.line_certificates import certificates
from .z3_lines import follows

Places = tuple[int, ...]
Hypotheses = tuple[Relation, ...]
ZERO = fmpq(0)


def json_of(tree: Tree) -> Json:
    if isinstance(tree, Op):
        return [tree.name, *map(json_of, tree.args)]
    return str(tree)


def relation_json(relation: Relation) -> Json:
    return [relation[0], *map(json_of, relation[1:])]


def tree_of(raw: Json) -> Tree:
    return parse(Node(raw, "proposal"))


@dataclass(slots=True)
class Notebook:
    """Judgements so far, as the file holds them and as the kernel reads them."""

    context: Context
    entries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    judgements: list[Judgement] = field(default_factory=list[Judgement])
    places: dict[tuple[Relation, Hypotheses], int] = field(default_factory=dict[Any, int])
    failed: set[Any] = field(default_factory=set[Any])
    asked: set[Any] = field(default_factory=set[Any])  # lines that are being looked for
    facts: dict[Any, int | None] = field(default_factory=dict[Any, Any])
    signs: Any = None  # (atom's tree, notebook) -> place: how a measure is known not to be negative

    def say(
        self, rule: str, says: Relation, under: Hypotheses = (), by: Iterable[int] = (), data: Json | None = None
    ) -> int:
        """The place of the judgement; `Rejected` if the kernel's rule does not give it."""
        key = (says, under)
        if key in self.places:
            return self.places[key]
        rests = list(dict.fromkeys(by))
        stated = Judgement(says, under)
        RULES[rule](
            stated, Node(data if data is not None else {}, rule), [self.judgements[n] for n in rests], self.context
        )
        entry: dict[str, Any] = {"rule": rule, "says": relation_json(says)}
        if under:
            entry["under"] = [relation_json(h) for h in under]
        if rests:
            entry["by"] = rests
        if data is not None:
            entry["with"] = data
        self.entries.append(entry)
        self.judgements.append(stated)
        self.places[key] = len(self.entries) - 1
        return self.places[key]

    def assumed(self, hypothesis: Relation) -> int:
        return self.say("hypothesis", hypothesis, (hypothesis,))

    # --- lines -------------------------------------------------------------------------------------------------------

    def line(
        self, says: Relation, rests: Sequence[int], under: Hypotheses, *, trust: bool = False, quick: bool = False
    ) -> int | None:
        """The place of the line, proved from these judgements (or from fewer); None if it is not."""
        key = (says, under)
        if key in self.places:
            return self.places[key]
        offered = tuple(dict.fromkeys(rests))
        mark = (says, under, offered, quick)
        if mark in self.failed and not trust:
            return None
        if key in self.asked:
            return None  # it would rest on itself
        self.asked.add(key)
        found = self._line(says, offered, under, quick)
        self.asked.discard(key)
        if found is None:
            self.failed.add(mark)
            if trust:
                found = self._trusted(says, offered, under)
        return found

    def _line(self, says: Relation, rests: Places, under: Hypotheses, quick: bool) -> int | None:
        forms = self.context.forms
        for n in rests:
            rest = self.judgements[n]
            if rest.says == says and rest.under == under:
                return n
        parts = self._extreme(says, rests, under)
        if parts is not None:
            return parts
        needs = self.needs(says, rests, under)
        if needs is None:
            return None
        for offered, brief in self._offers(says, rests, under, quick):
            try:
                made = certificates(says, [self.judgements[n].says for n in offered], forms, quick=brief)
            except Rejected:
                return None
            if made is not None:
                used = sorted({place for one in made for place in _places(one)})
                moved = [_moved(one, {old: new for new, old in enumerate(used)}) for one in made]
                by = [*(offered[n] for n in used), *needs]
                return self._said("line", says, under, by, moved)
        if quick:
            return None
        split = self._by_extremes(says, rests, under)
        return self._by_squares(says, rests, under) if split is None else split

    def _offers(self, says: Relation, rests: Places, under: Hypotheses, quick: bool) -> Iterator[tuple[Places, bool]]:
        """What a line may rest on, and whether the search is to be short: facts are proved only where it takes them."""
        yield rests, True
        with_facts = (*rests, *self._facts(says, rests, under))
        if with_facts != rests or not quick:
            yield with_facts, quick

    def _by_extremes(self, says: Relation, rests: Places, under: Hypotheses) -> int | None:
        """Where a rest bounds something by max(x, y) or by -min(x, y), in two cases: y <= x, and x <= y."""
        forms = self.context.forms
        goal = atoms_of(constraint(says, forms)[1])
        bounds = {
            atom: None
            for name, polynomial in (constraint(self.judgements[n].says, forms) for n in rests)
            for monomial, c in polynomial.items()
            for atom, _ in monomial
            if atom.startswith("max(" if c > 0 else "min(") and atom not in goal and name != "!="
        }
        for tree in (tree_of(atom_tree(atom)) for atom in bounds):
            if not isinstance(tree, Op) or len(tree.args) != 2:
                continue
            low = tree.name == "min"
            both, needs = list[int](), list[int]()
            for part, other in (tree.args, tree.args[::-1]):
                hypothesis: Relation = ("<=", part, other) if low else ("<=", other, part)
                if self.among(hypothesis, under):
                    return None
                needs += [n for n in self.needs(hypothesis, rests, under) or () if n not in needs]
                scope = (*under, hypothesis)
                known = self._said("hypothesis", hypothesis, scope, (), {})
                same_ = self._said(
                    "line", ("<=", part, part), scope, needs, certificates(("<=", part, part), [], forms)
                )
                if known is None or same_ is None:
                    return None
                reached: Relation = ("<=", part, tree) if low else ("<=", tree, part)
                data = {"name": "below_min" if low else "above_max", "at": [json_of(x) for x in (part, *tree.args)]}
                by = [known, same_, *(self.needs(reached, (*rests, known), scope) or ())]
                bound = self._said("fact", reached, scope, by, data)
                if bound is None:
                    return None
                parts = [self._without(n, tree, part, (known, bound, *rests), scope) for n in rests]
                offered = (*(n for n in parts if n is not None), *rests, known, bound, *needs)
                place = self.line(says, offered, scope)
                if place is None:
                    return None
                both.append(place)
            return self._said("case", says, under, [*both, *needs], {})
        return None

    def _without(self, n: int, extreme: Op, part: Tree, rests: Places, under: Hypotheses) -> int | None:
        """The judgement with a part in the place of a minimum or maximum."""
        forms = self.context.forms

        def put_in(tree: Tree) -> Tree:
            if not isinstance(tree, Op):
                return tree
            if tree.name == extreme.name and not forms.difference(tree, extreme).top:
                return part
            return Op(tree.name, tuple(map(put_in, tree.args)))

        name, left, right = self.judgements[n].says
        says: Relation = (name, put_in(left), put_in(right))
        return None if says == self.judgements[n].says else self.line(says, (n, *rests), under, quick=True)

    def _by_squares(self, says: Relation, rests: Places, under: Hypotheses) -> int | None:
        """With X^2 <= A B as 2 s X <= A + s^2 B for some s; and where s may be 0, in two cases."""
        forms = self.context.forms
        letters = [n for n in atoms_of(constraint(says, forms)[1]) if forms.domain(n) == "index"]
        pairs = [(n, pair) for n in rests if (pair := self._product_of(n)) is not None]
        if not pairs or not letters or any(h in (("<=", n, ZERO), ("<=", fmpq(1), n)) for h in under for n in letters):
            return None
        both: list[int] = []
        letter = letters[0]
        for hypothesis in (("<=", letter, ZERO), ("<=", fmpq(1), letter)):
            scope = (*under, hypothesis)
            offered = [*rests, self.assumed(hypothesis)]
            if hypothesis[2] == ZERO:
                first = self.line(("=", letter, ZERO), (offered[-1],), scope, quick=True)
                offered += [] if first is None else [first]
            for place, (x, a, b) in pairs:
                signs = [self.signs(tree) if self.signs is not None else None for tree in (a, b)]
                if signs[0] is None or signs[1] is None:
                    continue
                if hypothesis[2] == ZERO:
                    for side in (a, b):
                        none = self.line(("<=", side, ZERO), tuple(offered), scope, quick=True)
                        offered += [] if none is None else [none]
                    zero = self.line(("=", x, ZERO), (*offered, signs[0], signs[1]), scope)
                    offered += [] if zero is None else [zero]
                else:
                    offered += self._youngs(place, (x, a, b), (signs[0], signs[1]), letter, says)
            place = self.line(says, tuple(offered), scope)
            if place is None:
                return None
            both.append(place)
        return self._said("case", says, under, both, {})

    def _product_of(self, n: int) -> tuple[Tree, Tree, Tree] | None:
        """X, A and B if the judgement says that X^2 <= A B."""
        name, polynomial = constraint(self.judgements[n].says, self.context.forms)
        minus = [m for m, c in polynomial.items() if c == -1 and len(m) == 1 and m[0][1] == 2]
        plus = [m for m, c in polynomial.items() if c == 1 and len(m) == 2 and {p for _, p in m} == {1}]
        if name != "<=" or len(polynomial) != 2 or not minus or not plus:
            return None
        x, a, b = (tree_of(atom_tree(atom)) for atom in (minus[0][0][0], plus[0][0][0], plus[0][1][0]))
        return x, a, b

    def _youngs(
        self, place: int, parts: tuple[Tree, Tree, Tree], signs: tuple[int, int], letter: str, goal: Relation
    ) -> Iterator[int]:
        """2 s X <= A + s^2 B, for s of either sign: it holds because (A + s^2 B)^2 - (A - s^2 B)^2 = 4 s^2 A B."""
        forms = self.context.forms
        x, a, b = parts
        steps = [n for n in atoms_of(constraint(goal, forms)[1]) if n.endswith("]") and forms.signs[n] == "positive"]
        factors = [json_of(letter), *(["*", letter, atom_tree(step)] for step in steps[:2])]
        for s in factors:
            for one, two, places in ((a, b, signs), (b, a, signs[::-1])):
                for sign in ("2", "-2"):
                    right = ["+", json_of(one), ["*", ["^", s, "2"], json_of(two)]]
                    says = ("<=", tree_of(["*", sign, s, json_of(x)]), tree_of(right))
                    apart = ["+", json_of(one), ["*", "-1", ["^", s, "2"], json_of(two)]]
                    products = [
                        ["1", ["goal", "goal"]], ["2", ["goal", 1]], ["2", ["goal", 2, ["square", s]]],
                        ["4", [0, ["square", s]]], ["1", [["square", apart]]],
                    ]  # fmt: skip
                    found = self._said("line", says, (), (place, *places), [{"products": products}])
                    if found is None:
                        under = self.judgements[place].under
                        found = self._said("line", says, under, (place, *places), [{"products": products}])
                    if found is not None:
                        yield found

    def _said(self, rule: str, says: Relation, under: Hypotheses, by: Sequence[int], data: Json) -> int | None:
        try:
            return self.say(rule, says, under, by, data)
        except Rejected:
            return None

    def _trusted(self, says: Relation, rests: Places, under: Hypotheses) -> int | None:
        """On z3's word, if z3 gives it: from these judgements, for all values of the letters."""
        needs = self.needs(says, rests, under)
        for offered in (rests, (*rests, *self._facts(says, rests, under))):
            if follows(says, [self.judgements[n].says for n in offered], self.context.forms):
                return self._said("trusted", says, under, (*offered, *(needs or ())), {"solver": "z3"})
        return None

    def needs(self, says: Relation, rests: Places, under: Hypotheses) -> list[int] | None:
        """Judgements that show that both sides are numbers; None if that is not shown."""
        forms, found = self.context.forms, list[int]()
        for need in needs_of(says, forms):
            if self.context.own(need):
                continue
            place = next((n for n in (*found, *rests) if self._covers(n, need)), None)
            if place is None:
                place = self._shown(need, rests, under)
            if place is None:
                return None
            found.append(place)
        return found

    def _covers(self, n: int, need: Need) -> bool:
        says, forms = self.judgements[n].says, self.context.forms
        return shows(says, need, forms) or any(same_need(need, other, forms) for other in offers_of(says, forms))

    def _shown(self, need: Need, rests: Places, under: Hypotheses) -> int | None:
        wanted: list[Relation] = []
        for branch in need.branches():
            if branch.ranges:
                continue
            formula = written_out(branch.formula)
            if branch.kind == "nonnegative":
                wanted.append(("<=", ZERO, formula))
            elif branch.kind == "positive":
                wanted.append(("<", ZERO, formula))
            elif branch.kind == "nonzero":
                wanted += [("<", ZERO, formula), ("<", formula, ZERO), ("!=", formula, ZERO)]
        for relation in wanted:
            place = self.line(relation, rests, under)
            if place is not None:
                return place
        return None

    def _extreme(self, says: Relation, rests: Places, under: Hypotheses) -> int | None:
        """x <= c min(...) and c max(...) <= x part by part, for a positive c."""
        name, left, right = ordered(says)
        if name != "<=":
            return None
        forms = self.context.forms
        difference = forms.difference(left, right)
        for atom in atoms_of(difference.top):
            if not atom.startswith(("min(", "max(")):
                continue
            low = atom.startswith("min(")
            tree = tree_of(atom_tree(atom))
            with_it = {m: c for m, c in difference.top.items() if (atom, 1) in m}
            without = {m: c for m, c in difference.top.items() if atom not in dict(m)}
            if len(with_it) + len(without) < len(difference.top):
                continue
            factor = {tuple(part for part in m if part[0] != atom): (c if low else -c) for m, c in with_it.items()}
            if forms.sign(Form(factor)) != "positive" or not isinstance(tree, Op):
                continue
            top = {m: (-c if low else c) for m, c in without.items()}
            other = tree_of(["*", polynomial_tree(top), ["^", polynomial_tree(factor), "-1"]])
            pairs: list[Relation] = [("<=", other, p) if low else ("<=", p, other) for p in tree.args]
            places = [self.line(pair, rests, under) for pair in pairs]
            if None in places:
                continue
            data = {"name": "below_min" if low else "above_max", "at": [json_of(other), *map(json_of, tree.args)]}
            reached: Relation = ("<=", other, tree) if low else ("<=", tree, other)
            by = [n for n in places if n is not None]
            needs = self.needs(reached, (*rests, *by), under) or []
            place = self._said("fact", reached, under, [*by, *needs], data)
            if place is not None:
                needs = self.needs(says, (*rests, place), under)
                if needs is None:
                    continue
                made = certificates(says, [reached], forms)
                if made is not None:
                    return self._said("line", says, under, [place, *needs], made)
        return None

    # --- facts about the atoms of a line -----------------------------------------------------------------------------

    def _facts(self, says: Relation, rests: Places, under: Hypotheses) -> list[int]:
        """What is known about the powers, roots, minima, sums and measures of the line."""
        forms = self.context.forms
        atoms = atoms_of(*(constraint(r, forms)[1] for r in (says, *(self.judgements[n].says for n in rests))))
        found: list[int] = []
        powers: list[tuple[str, Tree, Tree]] = []
        seen: set[str] = set()
        waiting = list(atoms)
        while waiting and len(seen) < 200:
            atom = waiting.pop()
            if atom in seen:
                continue
            seen.add(atom)
            tree = tree_of(atom_tree(atom))
            if isinstance(tree, Op) and tree.name == "^":
                power = forms.form(tree.args[1])
                if atom.startswith("power(") and forms.whole(power):
                    powers.append((text(power), tree.args[0], tree.args[1]))
            before = len(found)
            found += [n for n in self._of_atom(atom, tree, rests, under) if n is not None]
            for n in found[before:]:
                waiting += atoms_of(constraint(self.judgements[n].says, forms)[1])
        found += self._squares(says, rests, under)
        for k, (unit, x, n) in enumerate(powers):
            for other, y, _ in powers[k + 1 :]:
                if unit == other:
                    for low, high in ((x, y), (y, x)):
                        place = self._fact("power_monotone", [low, high, n], rests, under)
                        found += [] if place is None else [place]
        return found

    def _squares(self, says: Relation, rests: Places, under: Hypotheses) -> Iterator[int]:
        """x^2 <= y^2 of rests x <= y, for an x that occurs as a square."""
        forms = self.context.forms
        polynomials = [constraint(r, forms)[1] for r in (says, *(self.judgements[n].says for n in rests))]
        squared = {atom for polynomial in polynomials for m in polynomial for atom, power in m if power > 1}
        for n in rests:
            name, left, right = ordered(self.judgements[n].says)
            if (
                name == "<="
                and isinstance(left, Op)
                and left.name == "at"
                and squared & set(atoms_of(forms.form(left).top))
            ):
                square: Relation = ("<=", Op("^", (left, fmpq(2))), Op("^", (right, fmpq(2))))
                place = self.line(square, rests, under, quick=True)
                if place is not None:
                    yield place

    def _of_atom(self, atom: str, tree: Tree, rests: Places, under: Hypotheses) -> Iterator[int | None]:
        forms = self.context.forms
        measured = isinstance(tree, str) or tree.name == "at" if isinstance(tree, str | Op) else False
        if self.signs is not None and measured and forms.signs.get(atom) == "real":
            yield self.signs(tree)
        if not isinstance(tree, Op):
            return
        if tree.name == "^" and atom.startswith("root"):
            (base, degree) = tree.args
            root = self._fact("root", [base, 1 / degree], rests, under)  # type: ignore[operator]
            yield root
            if root is not None and forms.sign(forms.form(base) - Form({(): fmpq(1)})) in ("positive", "nonnegative"):
                yield self.line(("<=", fmpq(1), tree), (root,), under, quick=True)
        elif tree.name == "^" and atom.startswith("power("):
            base, power = tree.args
            if forms.signs[atom] == "real":
                place = self._fact("power_positive", [base, power], rests, under)
                yield place if place is not None else self._fact("power_sign", [base, power], rests, under)
            if isinstance(base, Op) and base.name == "exp":
                yield self._fact("exp_power", [base.args[0], power], rests, under)
            if isinstance(base, fmpq) and base > 1:
                yield self._fact("power_product", [1 / base, base, power], rests, under)
            form = forms.form(power)
            if form.top.get((), fmpq(0)) < 0:
                yield self._fact("power_step", [base, Op("+", (power, fmpq(1)))], rests, under)
        elif tree.name in ("min", "max"):
            name, least = ("min_below", "below_min") if tree.name == "min" else ("max_above", "above_max")
            for part in tree.args:
                others = [other for other in tree.args if other is not part]
                beyond = self._fact(name, [part, *others], rests, under)
                yield beyond
                reached = self._fact(least, [part, *tree.args], rests, under)  # if it is the one
                if beyond is not None and reached is not None:
                    yield self.line(("=", tree, part), (beyond, reached), under, quick=True)
        elif tree.name == "log":
            one = tree.args[0] == 1
            yield self._fact("log_exp" if one else "log_positive", [ZERO if one else tree.args[0]], rests, under)
        elif tree.name == "abs":
            for name in ("abs_above", "abs_below"):
                yield self._fact(name, [tree.args[0]], rests, under)
        elif tree.name == "exp" and tree.args[0] == 1:
            for relation in (("<=", fmpq(271828182, 10**8), tree), ("<=", tree, fmpq(271828183, 10**8))):
                yield self._said("fact", relation, (), (), {"name": "numbers", "at": []})
        elif tree.name == "sum":
            yield from self._of_sum(tree)
            if forms.signs[atom] == "real":
                yield self._sum_sign(tree, rests, under)

    def _sum_sign(self, tree: Op, rests: Places, under: Hypotheses) -> int | None:
        """A sum of measures that are not negative is none."""
        index, low, high, body = tree.args
        letter = f"each_{str(index).removeprefix('index_')}"
        for part in (self.context.letters, self.context.forms.domains):
            part[letter] = "index"  # type: ignore[index]
        inside = substituted(body, {str(index): letter})
        ranges: Hypotheses = (("<=", low, letter), ("<=", letter, high))
        each = self.line(("<=", ZERO, inside), tuple(self.assumed(h) for h in ranges), ranges)
        if each is None:
            return None
        says: Relation = ("<=", Op("sum", (letter, low, high, ZERO)), Op("sum", (letter, low, high, inside)))
        least: Relation = ("<=", ZERO, low)
        known = self.line(least, rests, under)
        needs = self.needs(says, rests, under)
        by = [each, *(needs or ()), *(() if known is None else (known,))]
        data = {"letter": letter, "low": json_of(low), "high": json_of(high)}
        return self._said("termwise", ("<=", ZERO, tree), under, by, data)

    def _of_sum(self, tree: Op) -> Iterator[int | None]:
        """A sum of none or one term, by what it is."""
        index, low, high, body = tree.args
        length = self.context.forms.difference(low, Op("+", (high, fmpq(1))))
        if set(length.top) - {()}:
            return
        terms = length.top.get((), fmpq(0))
        if terms == 0:
            data = {"index": index, "low": json_of(low), "high": json_of(high), "body": json_of(body)}
            yield self._said("sum_empty", ("=", tree, ZERO), (), (), data)
        elif terms in (1, 2, 3):
            less = Op("+", (high, fmpq(-1)))
            part = Op("sum", (index, low, less, body))
            data = {"index": index, "low": json_of(low), "high": json_of(less), "body": json_of(body)}
            says: Relation = ("=", tree, Op("+", (part, substituted(body, {str(index): high}))))
            yield self._said("sum_next", says, (), (), data)
            yield from self._of_sum(part)

    def _fact(self, name: str, at: list[Tree], rests: Places, under: Hypotheses) -> int | None:
        """An instance of a fact, if what it requires is proved from what is offered."""
        key = (name, tuple(at), rests, under)
        if key not in self.facts:
            self.facts[key] = None  # while its requirements are proved
            self.facts[key] = self.fact(name, at, rests, under, quick=True)
        return self.facts[key]

    def fact(
        self,
        name: str,
        at: Sequence[Tree],
        rests: Sequence[int],
        under: Hypotheses,
        says: Relation | None = None,
        *,
        quick: bool = False,
    ) -> int | None:
        from ..kernel.proofs.judgement import put
        from ..kernel.proofs.rules.facts import FACTS, OTHERS

        by: list[int] = []
        if name in FACTS:
            schema = FACTS[name]
            values = dict(zip(schema.variables, at, strict=True))
            relation, required = put(schema.then, values), [put(c, values) for c in schema.when]
            required += [("<=", ZERO, value) for v, value in values.items() if schema.variables[v] == "index"]
        else:
            relation, required = OTHERS[name](Judgement(says or ("=", ZERO, ZERO)), list(at))
        for requirement in required:
            place = self.line(requirement, rests, under, quick=quick)
            if place is None:
                return None
            by.append(place)
        needs = self.needs(relation, (*rests, *by), under)
        return self._said(
            "fact", says or relation, under, [*by, *(needs or ())], {"name": name, "at": [json_of(x) for x in at]}
        )

    def said(self, relation: Relation) -> bool:
        """Whether a judgement without hypotheses says it."""
        return any(same(relation, j.says, self.context.forms) for j in self.judgements if not j.under)

    def among(self, relation: Relation, others: Iterable[Relation]) -> bool:
        return among(relation, others, self.context.forms)

    def rules(self) -> Counter[str]:
        return Counter(entry["rule"] for entry in self.entries)


def speaks_of(relation: Relation, name: str) -> bool:
    return name in names_of(*relation[1:])


def _places(certificate: Json) -> Iterator[int]:
    for _, factors in certificate["products"]:
        yield from (factor for factor in factors if type(factor) is int)
    for _, place in certificate.get("equations", ()):
        if type(place) is int:
            yield place


def _moved(certificate: Json, places: dict[int, int]) -> Json:
    made: dict[str, Json] = {
        "products": [
            [c, [places[f] if type(f) is int else f for f in factors]] for c, factors in certificate["products"]
        ]
    }
    if "equations" in certificate:
        made["equations"] = [[tree, places[p] if type(p) is int else p] for tree, p in certificate["equations"]]
    return made
