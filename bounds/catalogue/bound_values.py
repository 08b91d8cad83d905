"""The right-hand side of a statement in numbers, term by term, with its conditions checked.

What the statement chooses and defines (step sizes, kappa, ...) is computed, not asked for. What it measures on a run
(gap(0), or Delta that stands for it) is given like a constant. Values are rationals; `numbers` computes with them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from flint import fmpq
from sympy import Add, Basic, Expr, Indexed, Le, Mul, Pow, Sum, Symbol, true
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from fedaudit.errors import UserError, cut

from ..formulas import printer as printing
from ..formulas.evaluator import Undefined
from ..formulas.exact_numbers import Missing, Rule, Scope, Truth, Value, computed, formula, total, value_of
from ..formulas.formula import ordered_terms
from ..formulas.lowering import domain_of, name_of, tree, truth
from ..formulas.trees import Formula, Tree
from ..language.assumptions import ASSUMPTIONS
from ..language.row_list import Recorded, html_table
from ..language.rule_parts import Number
from ..language.statement import RELATIONS, Entry, Statement
from ..language.symbol_values import Given, points, told

__all__ = ["Bound", "Condition", "Needed", "Plan", "Side", "Term", "bound", "plan", "table"]

LONGEST_MEANING = 72
DOMAINS = {
    "count": "a whole number from 1 on",
    "index": "a whole number from 0 on",
    "positive": "a number above 0",
    "nonnegative": "a number from 0 on",
    "real": "a number",
}


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a right-hand side."""

    term: str
    value: Value


@dataclass(frozen=True, slots=True)
class Side:
    """The right-hand side of one relation: what it bounds, how, and its terms, whose sum is `value`."""

    left: str
    relation: str
    value: Value
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition at these values: it holds, fails, or cannot be told (`needs` says what was not given)."""

    condition: str
    holds: Truth
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound(Recorded):
    """A statement's bound at one choice of its constants.

    >>> import fedaudit as fa
    >>> made = fa.statement("buttaci/lem4.1").bound(gamma="1/100", alpha=1, E=5, G=2, t=0)
    >>> made.value.exact
    Fraction(1, 100)
    """

    id: str
    values: Mapping[str, Fraction]
    sides: tuple[Side, ...]
    conditions: tuple[Condition, ...]
    computed: Mapping[str, Value]  # what the statement chooses and defines

    @property
    def value(self) -> Value:
        """The value of the first relation's right-hand side."""
        return self.sides[0].value

    @property
    def terms(self) -> tuple[Term, ...]:
        return self.sides[0].terms

    @property
    def failing(self) -> tuple[str, ...]:
        """The statement's conditions that fail at these values, as text."""
        return tuple(c.condition for c in self.conditions if c.holds is False)

    def to_records(self) -> list[dict[str, object]]:
        """One row per term of each relation: the values that were given, and the term's."""
        constants = {name: float(x) for name, x in self.values.items()}
        return [
            {**constants, "left": side.left, "relation": side.relation, "term": t.term, "value": t.value.approx}
            for side in self.sides
            for t in side.terms
        ]

    def _repr_html_(self) -> str:
        rows = [{"term": t.term, "value": str(t.value)} for side in self.sides for t in side.terms]
        rows += [{"term": f"{side.left} {side.relation}", "value": str(side.value)} for side in self.sides]
        return html_table([*rows, *({"term": f"fails: {one}", "value": ""} for one in self.failing)])

    def must_hold(self) -> None:
        """Raises `UserError` where a condition fails."""
        if self.failing:
            where = ", ".join(f"{name} = {x}" for name, x in self.values.items())
            raise UserError(f"{self.id} at {where}", f"its condition {'; '.join(self.failing)}", "change one value")

    def row(self) -> dict[str, object]:
        """As `--json` prints it: floats, and rationals as text where there are any."""
        return {
            "id": self.id,
            "values": {name: str(x) for name, x in self.values.items()},
            "bound": self.value.approx,
            "exact": _exactly(self.value),
            "relations": [
                {
                    "left": side.left,
                    "relation": side.relation,
                    "bound": side.value.approx,
                    "exact": _exactly(side.value),
                    "terms": [
                        {"term": t.term, "value": t.value.approx, "exact": _exactly(t.value)} for t in side.terms
                    ],
                }
                for side in self.sides
            ],
            "computed": {name: value.approx for name, value in self.computed.items()},
            "conditions": [
                {"condition": c.condition, "holds": c.holds, "needs": list(c.needs)} for c in self.conditions
            ],
            "failing": list(self.failing),
        }


def _exactly(value: Value) -> str | None:
    text = "" if value.exact is None else str(value.exact)
    return text if 0 < len(text) <= 200 else None


@dataclass(frozen=True, slots=True)
class Needed:
    """A symbol without a value: what it means, its dimension, and what it stands for where it is measured."""

    name: str
    meaning: str
    dimension: str
    domain: str

    def __str__(self) -> str:
        """In one line; a long meaning loses its middle."""
        return f"{self.name} ({cut(self.meaning, LONGEST_MEANING)}, {self.dimension})"


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    left: str
    relation: str
    terms: tuple[tuple[str, Formula[Number]], ...]
    tree: Tree


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A statement, ready to be computed with at many values."""

    statement: Statement
    sides: tuple[_Side, ...]
    conditions: tuple[tuple[str, Formula[Truth], Tree, str], ...]  # of a range of `for_all`, its index besides
    rules: Mapping[str, Rule]
    trees: Mapping[str, tuple[tuple[str, ...], Tree]]  # of the rules: indices and value
    shown: Mapping[str, str]  # what the rules say, as text
    domains: Mapping[str, str]
    entries: Mapping[str, Entry]
    measured: frozenset[str] = field(default_factory=frozenset[str])  # defined by what a run measures: may be given

    def check(self, values: Mapping[str, Fraction]) -> None:
        """Names and domains; raises `UserError`."""
        for name, value in values.items():
            self.known(name)
            kind = self.domains[name.partition("(")[0]]
            fits = kind == "real" or (value >= 0 if kind in ("nonnegative", "index") else value > 0)
            if not fits or (kind in ("count", "index") and value.denominator != 1):
                raise UserError(f"{name} = {value}", f"{DOMAINS[kind]} ({self.meaning(name)})", "give another value")

    def known(self, name: str) -> None:
        """Whether a value may be given to this name; raises `UserError`."""
        head = name.partition("(")[0]
        if head not in self.domains:
            near = difflib.get_close_matches(name, list(self.domains), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"`fedaudit show {self.statement.id}` explains them"
            raise UserError(f"{name}, which {self.statement.id} does not know", f"one of {self.names()}", hint)
        if head in self.rules and head not in self.measured and not self._free(head):
            raise UserError(
                f"{name}, which the statement fixes ({self.shown[head]})", "its other symbols", "leave it out"
            )

    def _free(self, name: str) -> bool:
        """Whether a symbol of this name is free although a quantity of this name is chosen (gamma(t) = gamma)."""
        return bool(self.rules[name].index) and any(
            isinstance(s, Symbol) and s.name == name
            for _, value in (*self.statement.choose.items(), *self.statement.where.items())
            for s in value.free_symbols
        )

    def names(self) -> str:
        """The symbols that a value can be given to, for people."""
        free = [n for n in self.domains if n not in self.rules or n in self.measured or self._free(n)]
        return ", ".join(sorted(free, key=lambda n: (n.lower(), n)))

    def meaning(self, name: str) -> str:
        entry = self.entries.get(name.partition("(")[0])
        return entry.meaning if entry else "no entry in the glossary"

    def missing(self, given: Mapping[str, Fraction]) -> list[Needed]:
        """What the right-hand sides still need, in their order."""
        names: dict[str, None] = {}
        for side in self.sides:
            names |= dict.fromkeys(self._needs(side.tree, given, frozenset()))
        return [self._needed(name) for name in names]

    def _needed(self, name: str) -> Needed:
        entry = self.entries.get(name)
        stands = f"; {self.shown[name]}" if name in self.measured else ""
        dim = str(entry.dim) if entry else "?"
        return Needed(name, self.meaning(name) + stands, dim, self.domains.get(name, "real"))

    def _needs(self, part: Tree, given: Mapping[str, Fraction], bound: frozenset[str]) -> Iterator[str]:
        if isinstance(part, str):
            if not (part[0].isdigit() or part[0] == "-" or part in bound or part in given):
                yield from self._rule(part, given, indexed=False)
            return
        if not isinstance(part, list):
            return
        op, *args = cast("list[Tree]", part)
        if op == "at":
            name, *indices = args
            rule = bool(self.trees.get(name, ((), None))[0])
            if not rule and name in given:
                return  # one value for all indices
            each = any(one.startswith(f"{name}(") for one in given)
            for index in indices if rule or each else ():
                yield from self._needs(index, given, bound)
            if rule or not each:
                yield from self._rule(name, given, indexed=True)
            return
        if op == "sum":
            variable, low, high, body = args
            for end in (low, high):
                yield from self._needs(end, given, bound)
            yield from self._needs(body, given, bound | {variable})
            return
        for arg in args:
            yield from self._needs(arg, given, bound)

    def _rule(self, name: str, given: Mapping[str, Fraction], *, indexed: bool) -> Iterator[str]:
        index, value = self.trees.get(name, ((), None))
        if value is None or bool(index) != indexed:
            yield name
            return
        needs = list(self._needs(value, given, frozenset(index)))
        yield from [name] if needs and name in self.measured and _opaque(value) else needs

    def at(self, values: Mapping[str, Fraction]) -> Bound:
        """The bound at these values. A condition that fails is said, not raised; what is missing is raised."""
        self.check(values)
        if missing := self.missing(values):
            names = " ".join(f"{n.name}=…" for n in missing)
            raise UserError(f"{self.statement.id} without {', '.join(n.name for n in missing)}",
                            f"values of {', '.join(map(str, missing))}", f"add {names}")  # fmt: skip
        scope = self.scope(values)
        try:
            sides = tuple(_side(side, scope) for side in self.sides)
        except Missing as error:
            raise UserError(
                f"{self.statement.id} without {error.name}", "a value at every index", f"add '{error.name}=…'"
            ) from error
        except Undefined as error:
            where = ", ".join(f"{name} = {x}" for name, x in values.items())
            raise UserError(f"no bound at {where} ({error})", "values at which it is a number", "change one") from error
        conditions = tuple(
            self._condition(text, made, part, values, scope)
            for text, made, part, index in self.conditions
            if not index or index in values
        )
        return Bound(self.statement.id, dict(values), sides, conditions, dict(self._computed(scope)))

    def near(self, values: Mapping[str, Fraction]) -> Any:
        """The first right-hand side as a number of 60 digits, whatever the domains; raises `UserError`."""
        scope = self.scope(values)
        try:
            return total([computed(made, scope) for _, made in self.sides[0].terms])
        except (Missing, Undefined) as error:
            raise UserError(f"no bound ({error})", "values at which it is a number", "change one") from error

    def scope(self, values: Mapping[str, Fraction]) -> Scope:
        numbers = {name: fmpq(x.numerator, x.denominator) for name, x in values.items()}
        # A value goes before a definition of its name, but gamma and the rule of gamma(t) stand side by side.
        return Scope(numbers, {name: rule for name, rule in self.rules.items() if name not in numbers or rule.index})

    def _condition(
        self, text: str, made: Formula[Truth], part: Tree, values: Mapping[str, Fraction], scope: Scope
    ) -> Condition:
        try:
            return Condition(text, computed(made, scope))
        except Missing as error:
            needs = dict.fromkeys(self._needs(part, values, frozenset()))
            return Condition(text, None, tuple(needs) or (error.name,))
        except Undefined:
            return Condition(text, None)

    def _computed(self, scope: Scope) -> Iterator[tuple[str, Value]]:
        for name, rule in self.rules.items():
            if name in scope.given and not rule.index:
                continue
            label = f"{name}({', '.join(rule.index)})" if rule.index else name
            try:
                yield label, value_of(computed(rule.value, scope))
            except (Missing, Undefined):
                continue


def bound(statement: Statement, values: Mapping[str, Given]) -> Bound:
    """The bound at one choice of values; raises `UserError`, also where a condition fails."""
    bounds = table(statement, values)
    if len(bounds) != 1:
        raise UserError(f"{len(bounds)} combinations of values", "one", "ask for `bound_table`")
    bounds[0].must_hold()
    return bounds[0]


def table(statement: Statement, values: Mapping[str, Given | Iterable[Given]]) -> list[Bound]:
    """The bound at every combination of values; `failing` says where a condition fails."""
    ready = plan(statement)
    return [ready.at(point) for point in points(told(values))]


def _opaque(value: Tree) -> bool:
    """A quantity or a sum: nothing that is worth asking for its parts."""
    return isinstance(value, list) and cast("list[Tree]", value)[0] in ("at", "sum")


def _side(side: _Side, scope: Scope) -> Side:
    terms = [(text, computed(made, scope)) for text, made in side.terms]
    whole = value_of(total([x for _, x in terms]))
    return Side(side.left, side.relation, whole, tuple(Term(text, value_of(x)) for text, x in terms))


def plan(statement: Statement) -> Plan:
    """The statement as formulas; raises `UserError` where it has no right-hand side to compute."""
    if not statement.relations:
        raise UserError(f"{statement.id}, which is {statement.kind}", "a statement with a right-hand side", "pick one")
    fixed = _fixed(statement)
    trees = {name: (index, tree(value)) for name, (index, value, _) in fixed.items()}
    shown = {name: text for name, (*_, text) in fixed.items()}
    exprs = [e for r in (*statement.relations, *statement.when) for e in r.args]
    exprs += [value for _, value, _ in fixed.values()]
    ranges = [(v, *both) for v, both in statement.for_all.items()]
    exprs += [e for line in ranges for e in line]
    symbols = {s for e in exprs for s in e.free_symbols if isinstance(s, Symbol)}
    symbols |= {s for a in (*statement.let, *statement.implicit) for s in a.args}
    inside = {v for e in exprs for s in e.atoms(Sum) for v in s.variables}
    outside = {s for e in exprs for s in e.free_symbols}
    # Nobody gives a value to the index of a sum, unless the same symbol stands outside too.
    domains = {s.name: domain_of(s) for s in symbols if s not in inside or s in outside}
    domains |= {name_of(k): domain_of(k) for k in (*statement.where, *statement.choose)}
    for quantity in (q for e in exprs for q in e.atoms(AppliedUndef, Indexed)):
        domains.setdefault(name_of(quantity), domain_of(quantity))
    entries = {(s.name if isinstance(s, Symbol) else str(s)): e for s, e in statement.glossary.items()}
    conditions = [(said(condition), truth(condition), "") for condition in (*statement.when, *_ordered(statement))]
    for index, (low, high) in statement.for_all.items():
        name, ends = index.name, (tree(low), tree(high))
        between = ["and", ["<=", ends[0], name], ["<=", name, ends[1]]]
        conditions.append((f"{said(low)} <= {name} <= {said(high)}", between, name))
    sides = tuple(
        _Side(
            said(r.args[0]),
            RELATIONS.get(type(r), "="),
            tuple((said(term), formula(tree(term))) for term in terms_of(statement, r.args[1])),
            tree(r.args[1]),
        )
        for r in statement.relations
    )
    chosen = {name_of(k) for k in statement.choose}
    measured = frozenset(
        name for name, (_, value, _) in fixed.items() if name not in chosen and _measures(value, chosen)
    )
    return Plan(
        statement=statement,
        sides=sides,
        conditions=tuple((text, formula(part), part, index) for text, part, index in conditions),
        rules={name: Rule(index, formula(part)) for name, (index, part) in trees.items()},
        trees=trees,
        shown=shown,
        domains=domains,
        entries=entries,
        measured=measured,
    )


def _ordered(statement: Statement) -> list[Boolean]:
    """What the assumptions together say of their constants: where mu > L there is no problem that a bound is about."""
    constant = {one.name: one.args[0] for one in statement.let if one.args and one.means is None}
    return [
        condition
        for name, small in constant.items()
        for other in (ASSUMPTIONS[name].at_most if name in ASSUMPTIONS else ())
        if other in constant and (condition := Le(small, constant[other])) not in (true, *statement.when)
    ]


def _fixed(statement: Statement) -> dict[str, tuple[tuple[str, ...], Expr, str]]:
    """What the statement and its method fix: the indices, the value, and both as text."""
    formulas = {} if isinstance(statement.method, str) else dict(statement.method.formulas)
    return {
        name_of(left): (tuple(str(a) for a in _indices(left)), right, f"{said(left)} = {said(right)}")
        for left, right in (*formulas.items(), *statement.where.items(), *statement.choose.items())
    }


def _indices(left: Basic) -> tuple[Basic, ...]:
    return left.args if isinstance(left, AppliedUndef) else ()


def _measures(value: Expr, chosen: set[str]) -> bool:
    """Whether a definition reads what is not chosen but measured, or drawn by an instance (weights)."""
    return any(name_of(q) not in chosen for q in value.atoms(AppliedUndef, Indexed))


def said(expr: Basic) -> str:
    """The formula in the names that values are given to."""
    return printing.text(expr, printing.PYTHON)


def terms_of(statement: Statement, side: Expr) -> list[Expr]:
    """The terms of a right-hand side, in the order that is printed."""
    terms = split(statement, side)
    return ordered_terms(cast("Add", Add(*terms, evaluate=False))) if len(terms) > 1 else terms


def split(statement: Statement, expr: Expr) -> list[Expr]:
    """The terms of a right-hand side. Products are multiplied out over sums of terms that are not negative, also over
    names that stand for such sums; what may cancel stays together.
    """
    if isinstance(expr, Add):
        return [term for part in expr.args for term in split(statement, part)]
    factors = Mul.make_args(expr)
    for n, factor in enumerate(factors):
        whole = statement.where.get(factor, factor) if isinstance(factor, Symbol) else factor
        if isinstance(whole, Add) and not any(part.is_number or not _never_negative(part) for part in whole.args):
            rest = Mul(*factors[:n], *factors[n + 1 :])
            return [term for part in whole.args for term in split(statement, rest * part)]
    return [expr]


def _never_negative(expr: Expr) -> bool:
    if expr.is_nonnegative:
        return True
    if isinstance(expr, Sum):
        return _never_negative(expr.function)
    if isinstance(expr, Mul | Add):
        return all(_never_negative(part) for part in expr.args)
    return isinstance(expr, Pow) and bool(expr.exp.is_even)
