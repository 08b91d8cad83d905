"""What a paper claims, as data: *let, choose, then, where*, in the paper's own symbols.

A `Statement` is frozen and holds sympy expressions only. Everything an auditor does with it (lint, derive,
verify, hunt, certify) lives elsewhere and reads these fields.
"""

# A file of a user holds what no type checker saw.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast

from sympy import (
    Basic,
    Dict,
    Eq,
    Expr,
    Function,
    Ge,
    Gt,
    Indexed,
    Le,
    Lt,
    Sum,
    Symbol,
    SympifyError,
    Tuple,
    sympify,
)
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanAtom, BooleanFunction

from fedaudit.errors import UserError, cut

from .dimension import Dimension, dimension

if TYPE_CHECKING:
    from ..catalogue.bound_values import Bound
    from .derivation import Derivation
    from .method import Method
    from .symbol_values import Given

Kind = Literal["inequality", "identity", "exists", "order", "experiment"]
ID = re.compile(r"[A-Za-z0-9_.+~:/-]{1,200}")  # as certificates carry it
# An expression, a relation, or the head of a quantity. It is anything to a type checker: sympy does not say what L / mu
# or Le(gap(t), L) is, and a paper's file should read as its formulas do.
Formula: TypeAlias = Any
Ends: TypeAlias = tuple[Formula, Formula]  # which a file may give as whole numbers
Pairs: TypeAlias = tuple[tuple[Expr, Expr], ...]

CONDITION: UnionType = Relational | BooleanAtom | BooleanFunction  # a symbol is a Boolean too, to sympy
RELATIONS: dict[type, str] = {Le: "<=", Lt: "<", Ge: ">=", Gt: ">", Eq: "="}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a glossary: a symbol's meaning, dimension, and LaTeX (a template for indexed quantities)."""

    meaning: str
    dim: Dimension
    latex: str = ""


class Glossary(dict[Basic, Entry]):
    """Symbol or function -> `Entry`. Filled once per paper, read by lint, show and the report.

    >>> import fedaudit as fa
    >>> glossary = fa.Glossary()
    >>> L, T = glossary.symbol("L", "F/W^2", "smoothness"), glossary.count("T", "rounds")
    >>> 1 / (2 * L * T), glossary[L].meaning
    (1/(2*L*T), 'smoothness')
    """

    def symbol(self, name: str, dim: str, meaning: str, latex: str = "", **assumptions: bool) -> Formula:
        """A scalar symbol; positive unless told otherwise (`real=True`, `nonnegative=True`, ...)."""
        symbol = Symbol(name, **(assumptions or {"positive": True}))
        self[symbol] = Entry(meaning, dimension(dim), latex)
        return symbol

    def count(self, name: str, meaning: str, latex: str = "") -> Formula:
        """A dimensionless positive integer: E, T, C, ..."""
        return self.symbol(name, "1", meaning, latex, positive=True, integer=True)

    def index(self, name: str, meaning: str, latex: str = "") -> Formula:
        """A dimensionless non-negative integer that a statement quantifies over: t, k, i."""
        return self.symbol(name, "1", meaning, latex, nonnegative=True, integer=True)

    def quantity(self, name: str, dim: str, meaning: str, latex: str = "", **assumptions: bool) -> Formula:
        """An indexed quantity such as gap(t); `latex` is a template in which {0}, {1}, ... are the indices."""
        quantity: Formula = Function(name, **(assumptions or {"real": True}))
        self[quantity] = Entry(meaning, dimension(dim), latex)
        return quantity


def several(owner: str, name: str, value: object, kind: type | UnionType) -> tuple[object, ...]:
    """The parts of a field that holds several things of one kind; `UserError` where it is something else."""
    what, sample = PARTS[kind]
    whole = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    if kind is CONDITION and any(isinstance(part, bool) for part in whole):
        got = f"{name}={value} of {owner}, which is decided as it is written"
        raise UserError(got, what, "write Eq(left, right), Le or Ge: == compares at once")
    if not isinstance(value, tuple | list):
        raise UserError(f"{name}={value} of {owner}, which is no tuple", "one", f"write {name}=({sample},)")
    parts = tuple(cast("tuple[object, ...]", value))
    for part in parts:
        if not isinstance(part, kind):
            raise UserError(f"{part} in {name} of {owner}", what, f"write {name}=({sample},)")
    return parts


@dataclass(frozen=True, slots=True)
class Assumption:
    """A hypothesis on the problem or the run, by name; `args` are the constants it introduces.

    >>> import fedaudit as fa
    >>> L = fa.Glossary().symbol("L", "F/W^2", "smoothness")
    >>> fa.Assumption("smooth", (L,), "every f_i is L-smooth").args
    (L,)
    """

    name: str
    args: tuple[Symbol, ...] = ()
    says: str = ""
    cite: str = ""
    # Of a method that is data: the relation between its measures, at every index of `for_all`.
    means: Formula = None
    for_all: tuple[tuple[Symbol, Formula, Formula], ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("args", Symbol), ("for_all", tuple)):
            object.__setattr__(self, name, several(f"assumption {self.name}", name, getattr(self, name), kind))


@dataclass(frozen=True, slots=True)
class Limit:
    """A printed limit: the statement's right-hand side tends to `value` as `variable` tends to `point`."""

    variable: Symbol
    point: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Form:
    """The left side of an order claim, tied to the run that it is a closed form of.

    `identity` says, in the run's own setting, that a measured quantity equals the form; `replays` are exact instances
    of that setting, each with the index at which the kernel compares both. At other sizes the form is derived by hand.
    """

    identity: Statement
    replays: tuple[Mapping[str, object], ...]  # {"instance": ..., "at": ...}


class Services:
    """What a statement does with modules that read statements: they are above this one, so the catalogue sets it."""

    bound: Callable[[Statement, Mapping[str, Given]], Bound]
    bound_table: Callable[[Statement, Mapping[str, Given | Iterable[Given]]], list[Bound]]
    relations_latex: Callable[[Statement], tuple[str, ...]]


# An instance, because a function that is set on a class becomes a method and is given `self`.
SERVICES = Services()


def _none() -> Dict:
    return Dict()


LONGEST_REPR = 200
FIELDS = {  # those that hold several things
    "let": Assumption, "implicit": Assumption, "when": CONDITION, "limits": Limit, "reading": str,
    "follows_from": object,
}  # fmt: skip
PARTS: dict[type | UnionType, tuple[str, str]] = {  # what one of them is, and how it is written
    Assumption: ("an assumption", "Assumption('smooth', (L,))"), CONDITION: ("a condition", "Eq(E, 1)"),
    Limit: ("a limit", "Limit(variable, point, value)"), Symbol: ("a symbol of the glossary", "L"),
    str: ("text", "'…'"), tuple: ("an index with its first and last value", "(t, 0, T)"),
    object: ("a derivation", "Derivation(proof)"),
}  # fmt: skip


class Fields(TypedDict, total=False):
    """What a variant of a statement may have otherwise: the fields of `Statement`, for type checkers."""

    id: str
    kind: Kind
    title: str
    cite: str
    method: str | Method
    glossary: Glossary
    let: tuple[Assumption, ...]
    choose: Mapping[Expr, Expr]
    when: tuple[Boolean, ...]
    then: Boolean | tuple[Boolean, ...]
    where: Mapping[Expr, Expr]
    for_all: Mapping[Symbol, Ends]
    implicit: tuple[Assumption, ...]
    limits: tuple[Limit, ...]
    order: Expr | None
    sweep: Mapping[Expr, Expr]
    follows_from: tuple[Derivation, ...]
    reading: tuple[str, ...]
    repairs: str
    form: Form | None
    by_hand: str
    quoted: str
    waits_for: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Statement:
    """One printed claim. Ids are `paper/label` as in the catalogue.

    >>> import fedaudit as fa
    >>> glossary = fa.Glossary()
    >>> a, b = (glossary.symbol(name, "1", "a number") for name in "ab")
    >>> claim = fa.Statement(id="mine/am-gm", kind="inequality", title="AM-GM", cite="made up", method="scalar",
    ...                      glossary=glossary, then=fa.Le(2 * a * b, a**2 + b**2))
    >>> claim.relation, claim.bound(a=1, b=2).value.exact
    ('<=', Fraction(5, 1))
    """

    id: str
    kind: Kind
    title: str
    cite: str
    method: str | Method  # a method, or the name of a setting without one: a key of fedaudit.verify.settings
    glossary: Glossary = field(repr=False, compare=False)
    let: tuple[Assumption, ...] = ()
    choose: Mapping[Expr, Expr] = field(default_factory=_none)
    when: tuple[Boolean, ...] = ()
    then: Boolean | tuple[Boolean, ...]  # a tuple for a printed chain, in its order
    where: Mapping[Expr, Expr] = field(default_factory=_none)
    for_all: Mapping[Symbol, Ends] = field(default_factory=_none)
    implicit: tuple[Assumption, ...] = ()  # used by the proof, not said by the text
    limits: tuple[Limit, ...] = ()
    order: Formula = None  # what the bound is of the order of, where the text says it
    sweep: Mapping[Expr, Expr] = field(default_factory=_none)  # how the auditor draws the free parameters
    follows_from: tuple[Derivation, ...] = ()
    reading: tuple[str, ...] = ()
    repairs: str = ""  # of a `~repaired` sibling: what was changed, in one line
    form: Form | None = field(default=None, repr=False)  # of an order claim: the run behind its left side
    by_hand: str = ""  # what an order claim rests on that nothing replays: a closed form of a run, derived by hand
    quoted: str = ""  # whose theorem this is, where another paper's is quoted whose assumptions are not encoded
    waits_for: str = ""  # what a proof needs and cannot have yet: a technique, in the words of docs/prove.md

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not ID.fullmatch(self.id):  # a stranger's file may hold anything
            raise UserError(f"the id {self.id!a}", "letters, digits and signs of .+~:/_-", "write it like 'mine/thm1'")
        for name, kind in FIELDS.items():
            object.__setattr__(self, name, several(self.id, name, getattr(self, name), kind))
        if isinstance(self.then, list):
            object.__setattr__(self, "then", tuple(self.then))
        for name in ("choose", "where", "sweep"):
            pairs = self._pairs(name)
            # sympy's Dict, because caches keep statements as keys, and a dictionary has no hash.
            object.__setattr__(self, name, Dict({key: self._formula(name, value) for key, value in pairs.items()}))
        ranges = self._pairs("for_all")
        for index, ends in ranges.items():
            if not isinstance(ends, tuple | list | Tuple) or len(cast("tuple[object, ...]", ends)) != 2:
                got, do = f"for_all={{{index}: {ends}}} of {self.id}", f"write for_all={{{index}: (first, last)}}"
                raise UserError(got, "a first and a last value", do)
        spans = {index: tuple(self._formula("for_all", end) for end in ends) for index, ends in ranges.items()}
        object.__setattr__(self, "for_all", Dict(spans))

    def _pairs(self, name: str) -> Mapping[Expr, Any]:
        """A field that defines symbols, or quantities at their indices."""
        pairs = cast("Mapping[Expr, Any]", getattr(self, name))
        if not isinstance(pairs, Mapping | Dict):
            raise UserError(f"{name}={pairs!r} of {self.id}", "a dictionary", f"write {name}={{…: …}}")
        for key in pairs:
            if not isinstance(key, Symbol if name == "for_all" else Symbol | AppliedUndef | Indexed):
                do = f"write {key}(t)" if isinstance(key, UndefinedFunction) else "take it from the glossary"
                expected = "an index" if name == "for_all" else "a symbol, or a quantity at its indices"
                raise UserError(f"{key} in {name} of {self.id}", expected, do)
        return pairs

    def _formula(self, name: str, value: object) -> Expr:
        """A value of such a field, which is a number or a formula, never text."""
        try:
            # Strict, because sympy would evaluate a text as Python.
            formula = sympify(value, strict=True)
        except SympifyError:
            formula = None
        if not isinstance(formula, Expr):
            expected, do = "a number or a formula", "write it with the glossary's symbols"
            raise UserError(f"{value!r} in {name} of {self.id}", expected, do)
        return formula

    def __repr__(self) -> str:
        """Its id and what it claims, in one line; `fedaudit show ID` has the whole."""
        return cut(f"<Statement {self.id}: {'; '.join(map(str, self.relations)) or self.title}", LONGEST_REPR) + ">"

    def variant(self, **fields: Unpack[Fields]) -> Statement:
        """The statement with some fields otherwise. How the old one was derived is no derivation of the new one, so
        that is left out unless it is given.

        >>> import fedaudit as fa
        >>> fa.statement("buttaci/appA-jensen").variant(id="mine/jensen", title="Jensen, mine")
        <Statement mine/jensen: f_mean <= Sum(f_at(i)*lam(i), (i, 1, n))>
        """
        return replace(self, **{"follows_from": (), **fields})

    def _repr_latex_(self) -> str:
        """Its relations as the paper prints them, for a notebook."""
        return "\n".join(f"$$ {line} $$" for line in SERVICES.relations_latex(self))

    @property
    def paper(self) -> str:
        return self.id.split("/", 1)[0]

    @property
    def setting(self) -> str:
        """The name of the setting in which it can be run."""
        return self.method if isinstance(self.method, str) else "run"

    @property
    def compares_formulas(self) -> bool:
        """Whether it is about formulas whose parameters go along paths, and about no run."""
        return self.method == "order"

    @property
    def compares_limits(self) -> bool:
        """Whether it is about limits of networks as they grow."""
        return self.method == "network_limit"

    @property
    def is_order_of_formulas(self) -> bool:
        """Whether it says how one formula grows beside another, which the kernel decides for every constant."""
        return self.kind == "order" and self.compares_formulas

    @property
    def method_id(self) -> str:
        return self.method if isinstance(self.method, str) else self.method.id

    @property
    def relations(self) -> tuple[Relational, ...]:
        """The printed chain as single relations."""
        parts = self.then if isinstance(self.then, tuple) else (self.then,)
        return tuple(p for p in parts if isinstance(p, Relational))

    @property
    def relation(self) -> str:
        return RELATIONS[type(self.relations[0])] if self.relations else ""

    @property
    def formulas(self) -> dict[str, list[Basic]]:
        """Every formula, by the field that it stands in."""
        fields: dict[str, list[Basic]] = {"then": list(self.relations), "when": list(self.when)}
        for name in ("choose", "where", "sweep"):
            pairs: Mapping[Expr, Expr] = getattr(self, name)
            fields[name] = [*pairs.keys(), *pairs.values()]
        return fields | {"for_all": [end for ends in self.for_all.values() for end in ends]}

    def defined(self, expr: Formula) -> Formula:
        """`expr` with every `where` definition written out (definitions may use one another).

        A relation may then be true or false as it stands; not so an order of growth, in which <= is O.
        """
        written = _written_out(expr, tuple(self.where.items()), decided=not self.compares_formulas)
        if written is None:
            raise UserError(f"{self.id}: got a circular `where`, expected definitions that end; do: break the cycle")
        return written

    def bound(self, **values: Given) -> Bound:
        """Its right-hand side at these values, term by term. Raises `UserError`: a symbol that is missing or unknown, a
        value outside its domain, a condition that fails.

        >>> import fedaudit as fa
        >>> fa.statement("buttaci/lem4.1").bound(E=5, G=2, gamma="1/100").value.exact
        Fraction(1, 100)
        """
        return SERVICES.bound(self, values)

    def bound_table(self, **values: Given | Iterable[Given]) -> list[Bound]:
        """Its bound at every combination of several values; `failing` says where a condition fails.

        >>> import fedaudit as fa
        >>> [str(b.value) for b in fa.statement("buttaci/lem4.1").bound_table(E=[1, 2, 4], G=2, gamma="1/100")]
        ['0.0004', '0.0016', '0.0064']
        """
        return SERVICES.bound_table(self, values)


def _written_out(expr: Basic, where: Pairs, *, decided: bool) -> Basic | None:
    """`expr` without the names on the left; None if they go in circles."""
    used = _used(expr, where)
    if not used or not _is_relation(expr):
        return _put_in(expr, used)
    sides = [_put_in(side, used) for side in expr.args]  # whether it is true as written is asked once, at the end
    return None if any(side is None for side in sides) else expr.func(*sides, evaluate=decided)


def _is_relation(expr: object) -> bool:
    return isinstance(expr, Relational)


@lru_cache(maxsize=16384)
def _used(expr: Basic, where: Pairs) -> Pairs:
    """The definitions that `expr` uses, or that these use."""
    definitions: dict[Expr, Expr] = {}
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        fresh = {name: value for name, value in where if name not in definitions and part.has(name)}
        definitions.update(fresh)
        waiting += fresh.values()
    return tuple((name, value) for name, value in where if name in definitions)


@lru_cache(maxsize=16384)
def _put_in(expr: Basic, where: Pairs) -> Basic | None:
    # Definitions that end need one pass each at most; one pass more sees that nothing changes.
    for _ in range(len(where) + 1):
        used = {name: value for name, value in where if expr.has(name)}
        step = with_values(expr, used, at_once=False) if used else expr
        if step == expr:
            return expr
        expr = step
    return None


def with_values(expr: Basic, values: Mapping[Expr, Any], *, at_once: bool = True) -> Formula:
    """`expr.subs(values, simultaneous=at_once)`, which takes sympy long. Symbols and quantities are found without it,
    if none is an index of a sum and none stands inside another.
    """
    indices = {limit[0] for total in expr.atoms(Sum) for limit in total.limits}
    plain = all(_is_name(name) and not name.free_symbols & indices for name in values)
    if plain and not any(name.has(*(other for other in values if other != name)) for name in values):
        return expr.xreplace({name: sympify(value) for name, value in values.items()})
    return expr.subs(values, simultaneous=at_once)


def _is_name(name: object) -> bool:
    return isinstance(name, Symbol | AppliedUndef)
