"""A method as data: the algorithm box in the paper's symbols.

A `Method` names the server's and the clients' vectors, says what they are before round 0, and gives the rules of a
round: `begin` when the round reaches a client, `local` E times, `end` after them, `update` at the server. The rules of
one phase are carried out at once, from the values before it. Interpreters elsewhere read it (arrays, rationals, LaTeX);
none of them is mentioned here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from sympy import Basic, Expr, Lambda, Pow, Symbol
from sympy.core.function import AppliedUndef

from fedaudit.errors import UserError, cut

from ..formulas.trees import Tree
from .rule_parts import Number, Vector, as_scalar, as_vector, parts_of, scalars_of, vector_tree
from .statement import LONGEST_REPR, Formula, Glossary

PHASES = ("begin", "local", "end", "update")
SIZES = {"E": "local steps", "C": "clients", "T": "rounds", "m": "sampled clients", "D": "the dimension"}
INDICES = ("t", "k", "i", "j", "n")  # what every run calls round, local step, client, another client, coordinate
LAST = {"other": "j", "axis": "n"}  # the index that it needs, which only a measure has
Clock = Literal["rounds", "steps"]
Rule: TypeAlias = Any  # a vector, or 0, which is the zero vector
Rules: TypeAlias = Mapping[Vector, Rule]  # a vector -> what it becomes
Quantity: TypeAlias = Formula  # gap(t), or a constant of the run such as rho


# Compared by identity: methods are keys of caches, and the dictionaries in them have no hash.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Method:
    """An algorithm box. Step sizes are quantities of the round t, or of the round and the local step k.

    Where the clock counts steps, t and T count local steps over all rounds: measures look before the step t, and what
    the server does after it comes before step t + 1. A measure without an index is about the whole run if it is an
    extreme, otherwise about the first round when it has begun. `measures` and `formulas` say what a quantity at its
    indices is; `before`, of which quantity another is the value a round earlier (0 at first); `names`, what every run
    calls a size or an index, for which papers have letters of their own.

    >>> import fedaudit as fa
    >>> glossary = fa.Glossary()
    >>> gamma = glossary.quantity("gamma", "W^2/F", "step size", positive=True)
    >>> gap, t = glossary.quantity("gap", "F", "f(x_t) - f*"), glossary.index("t", "round")
    >>> x, y = fa.vector("x"), fa.vector("y")
    >>> descent = fa.Method(
    ...     id="descent", title="Gradient descent", cite="Cauchy 1847", glossary=glossary,
    ...     server={x: fa.start}, client={y: x}, begin={y: x},
    ...     local={y: y - gamma(t) * fa.grad(y)}, update={x: fa.mean(y)},
    ...     measures={gap(t): fa.expect(fa.f(x)) - fa.f_star},
    ... )
    >>> fa.simulate(descent, fa.Problem.quadratic([[2.0]], [[2.0]]), rounds=2, gamma=0.25)["gap"].tolist()
    [1.0, 0.25, 0.0625]
    """

    id: str
    title: str
    cite: str
    glossary: Glossary = field(repr=False)
    server: Rules  # vectors, and what they are before round 0
    client: Rules
    begin: Rules = field(default_factory=dict[Vector, Rule])
    local: Rules = field(default_factory=dict[Vector, Rule])
    end: Rules = field(default_factory=dict[Vector, Rule])
    update: Rules = field(default_factory=dict[Vector, Rule])
    measures: Mapping[Quantity, Number] = field(default_factory=dict[Quantity, Number])
    formulas: Mapping[Quantity, Expr] = field(default_factory=dict[Quantity, Expr])  # of measures
    counts_from: int = 0  # the number of the first round
    clock: Clock = "rounds"
    first: Expr | int = 0  # local steps of the first round: a number, or a formula of E such as E - 1; 0: E
    before: Mapping[Quantity, Quantity] = field(default_factory=dict[Quantity, Quantity])
    names: Mapping[Formula, str] = field(default_factory=dict[Formula, str])

    def __post_init__(self) -> None:
        self._check_words()
        names = [v.name for v in (*self.server, *self.client)]
        if len(set(names)) < len(names):
            raise UserError(f"{self.id}: got {names}, expected every vector once; do: rename one of them")
        for phase in PHASES:
            owners = self.server if phase == "update" else self.client
            for target in getattr(self, phase):
                if target not in owners:
                    whose = "server" if phase == "update" else "clients"
                    raise UserError(f"{self.id}: got {target.name!r} in {phase}, expected a vector of the {whose}")
        first = as_scalar(self.first)
        if {self.names.get(s, str(s)) for s in first.free_symbols} - {"E"} or not first.is_integer or first.has(Pow):
            expected = "a whole number, or a sum or product with E alone, such as E - 1"
            raise UserError(f"{self.id}: got first={self.first}, expected {expected}; do: mend `first`")
        for quantity, number in self.measures.items():
            if not number.law:
                raise UserError(f"{self.id}: got {quantity} without an expectation; do: write expect(...)")
            indices = {str(index) for index in quantity.args}
            for op, index in LAST.items():
                if index not in indices and any(
                    isinstance(part, Vector) and part.op == op for part in parts_of(number)
                ):
                    raise UserError(f"{self.id}: got {op!r} in {quantity}, expected a measure at {index}; do: add it")
        if any(self.uses(op) for op in LAST):
            raise UserError(f"{self.id}: got 'other' or 'axis' in a rule, expected them in measures alone")

    def _check_words(self) -> None:
        """Fields that are one of a few words."""
        if self.clock not in get_args(Clock):
            expected = " or ".join(map(repr, get_args(Clock)))
            raise UserError(f"{self.id}: got clock={self.clock!r}, expected {expected}; do: write clock='steps'")
        if self.counts_from not in (0, 1):
            said = f"{self.id}: got counts_from={self.counts_from!r}"
            raise UserError(f"{said}, expected 0 or 1; do: write counts_from=1")
        for letter, name in self.names.items():
            said = f"{self.id}: got names={{{letter}: {name!r}}}"
            if not isinstance(letter, Symbol):
                raise UserError(f"{said}, expected a symbol of the glossary; do: write it without quotes")
            if name not in (*SIZES, *INDICES):
                letters = ", ".join((*SIZES, *INDICES))
                raise UserError(f"{said}, expected one of {letters}; do: 'E' is local steps, 'C' clients, 'T' rounds")
        several = sorted({name for name in self.names.values() if list(self.names.values()).count(name) > 1})
        for name in several:
            letters = ", ".join(sorted(str(letter) for letter, size in self.names.items() if size == name))
            raise UserError(f"{self.id}: got {letters} in `names`, all for {name!r}, expected one letter; do: keep one")

    def __repr__(self) -> str:
        """Its id and title; `fedaudit methods ID` prints the algorithm."""
        return cut(f"<Method {self.id}: {self.title}", LONGEST_REPR) + ">"

    @property
    def phases(self) -> dict[str, Rules]:
        return {phase: getattr(self, phase) for phase in PHASES}

    def steps(self) -> frozenset[AppliedUndef]:
        """Step sizes and other quantities that its rules read, as they stand there."""
        return _steps(self)

    def scalars(self, measures: Collection[str]) -> Iterator[Expr]:
        """Every scalar factor in its rules and in the measures of these names."""
        rules = [as_vector(v) for block in (self.server, self.client, *self.phases.values()) for v in block.values()]
        for rule in rules:
            yield from rule.scalars()
        for quantity, number in self.measures.items():
            if quantity_name(quantity) in measures:
                yield from scalars_of(number)

    def written(self, expr: Basic) -> Formula:
        """`expr` in measures alone: the method's formulas are written out, in their order."""
        for quantity, formula in self.formulas.items():
            indexed = isinstance(quantity, AppliedUndef)
            written: Formula = Lambda(quantity.args, formula) if indexed else formula
            expr = expr.replace(quantity.func if indexed else quantity, written)
        return expr

    def uses(self, op: str) -> bool:
        """Whether a rule contains this operation."""
        return any(as_vector(v).uses(op) for block in self.phases.values() for v in block.values())

    @property
    def composite(self) -> bool:
        """Whether a regulariser takes part: then w* minimises F = f + g, and f* is the least value of F."""
        measured = (part for number in self.measures.values() for part in parts_of(number))
        spoken = any(part in ("F", "g", "conjugate") or getattr(part, "op", "") == "prox" for part in measured)
        return spoken or self.uses("prox")

    def data(self, tree: Callable[[Expr], Tree], measures: Collection[str]) -> dict[str, Tree]:
        """The method with these measures as JSON data; `tree` lowers scalars.

        Names of vectors are strings, operations are lists.
        """

        run_letters = {s: Symbol(name, integer=True) for s, name in self.names.items() if name in INDICES}

        def scalar(x: Any) -> Tree:
            """The tree of a scalar of the rules, whose indices have the letters of every run."""
            return tree(x.xreplace(run_letters) if run_letters and isinstance(x, Expr) else x)

        def rules(block: Rules) -> dict[str, Tree]:
            return {target.name: vector_tree(as_vector(value), scalar) for target, value in block.items()}

        def measured(quantity: Expr, number: Number) -> dict[str, Tree]:
            over = {} if number.law == "expect" else {"over": [number.law, "rounds" if number.each_round else "steps"]}
            at = [self.names.get(index, tree(index)) for index in quantity.args]
            return {"at": at, "terms": vector_tree(number, scalar), **over}

        kept = {quantity_name(q): measured(q, number) for q, number in self.measures.items()}
        blocks = {"server": self.server, "client": self.client, **self.phases}
        before = {new.func.__name__: old.func.__name__ for new, old in self.before.items()}
        read = {name: old for name, old in before.items() if name in measures}
        return {
            "id": self.id,
            **{name: rules(block) for name, block in blocks.items()},
            "measures": {name: measure for name, measure in kept.items() if name in measures},
            **({"clock": {"first": self._first(tree)}} if self.clock == "steps" else {}),
            **({"before": read} if read else {}),
            **({"counts_from": self.counts_from} if self.counts_from else {}),
            **({"names": {tree(letter): name for letter, name in self.names.items()}} if self.names else {}),
        }

    def _first(self, tree: Callable[[Expr], Tree]) -> Tree:
        """The length of the first round: a number as it is, a formula under the name that every run has for E."""
        first = as_scalar(self.first)
        formula = first.subs(dict.fromkeys(first.free_symbols, Symbol("E", integer=True)))
        return int(formula) if formula.is_number else tree(formula)


def quantity_name(quantity: Quantity) -> str:
    """The name of gap(t), or of a constant of the run such as rho."""
    return quantity.func.__name__ if isinstance(quantity, AppliedUndef) else quantity.name


@lru_cache(maxsize=512)
def _steps(method: Method) -> frozenset[AppliedUndef]:
    return frozenset(q for e in method.scalars(()) for q in e.atoms(AppliedUndef))
