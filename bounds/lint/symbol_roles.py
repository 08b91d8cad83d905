"""Does every letter of a claim about a method mean something on its runs?

A letter that a run does not know would be drawn as a free number: a bound with H local steps, on runs that call them
E, says nothing about these runs. So every symbol of a claim has a role: a size or an index of the run (`names` says
which), a constant that an assumption introduces, a parameter that the rules read or that decides a step size, a
measure, a definition in `where`, or a parameter that `sweep` draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sympy import Basic, Expr, Indexed, Symbol, sympify
from sympy.core.function import AppliedUndef

from fedaudit.errors import UserError

from ..formulas.lowering import name_of
from ..language.assumptions import DATA
from ..language.dimension import dimension
from ..language.knobs import knob_range
from ..language.method import SIZES, Method, quantity_name
from ..language.method_interface import ENDS, size
from ..language.statement import Statement
from .fault import Fault

COUNTS = {**SIZES, "b": "data points of a minibatch"}
NEEDS = {"m": ("sampled",), "b": DATA}  # a size -> operations of the rules, one of which it belongs to
GAMMA = "Gamma"  # f* - sum p_i f_i*, which every run measures
OTHERS = {GAMMA: "their heterogeneity", "p": "the weights", "d": "the dimension"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula of a claim: the field that it stands in, itself with definitions written out, its own indices.

    A printed order may name what it is about besides, such as an accuracy.
    """

    field: str
    value: Basic
    indices: frozenset[Expr] = frozenset()

    @property
    def letters(self) -> set[Symbol]:
        """Symbols whose value somebody has to give; in p[i] that is i, for every run has weights."""
        weights = {x.base.label for x in self.value.atoms(Indexed) if str(x.base.label) == "p"}
        letters = {s for s in self.value.free_symbols if isinstance(s, Symbol)} - self.indices - weights
        return {s for s in letters if s.is_integer} if self.field == "order" else letters


def taken_faults(statement: Statement, method: Method) -> Iterator[Fault]:
    """Letters of the run in another role: nothing else of the claim can be read with these."""
    yield from _taken(statement, method)
    yield from _defined_again(statement, method)


def role_faults(statement: Statement, method: Method) -> Iterator[Fault]:
    """Letters of a claim that mean nothing on a run of the method, each as a fault."""
    try:
        formulas = list(_formulas(statement, method))
    except UserError as error:  # definitions that go in circles
        yield Fault("`where`", "definitions that end", str(error))
        return
    yield from _idle(statement, method, formulas)
    yield from _strangers(statement, method, formulas)


def _formulas(statement: Statement, method: Method) -> Iterator[Formula]:
    def written(field: str, value: Expr | int | Basic, indices: Iterable[Expr] = ()) -> Formula:
        return Formula(field, method.written(statement.defined(sympify(value))), frozenset(indices))

    for relation in statement.relations:
        yield written("then", relation, statement.for_all)
    for condition in statement.when:
        yield written("when", condition, statement.for_all)
    for head, value in statement.choose.items():
        yield written("choose", value, head.args)
    for head, value in statement.sweep.items():
        yield written("sweep", value, head.args)
    for ends in statement.for_all.values():
        for end in ends:
            yield written("for_all", end, statement.for_all)
    for limit in statement.limits:
        yield written("limits", limit.value, statement.for_all)
        yield written("limits", limit.variable, statement.for_all)
    if statement.order is not None:
        yield written("order", statement.order, statement.for_all)
    for assumption in (*statement.let, *statement.implicit):
        if assumption.means is not None:
            yield written("means", assumption.means, (index for index, *_ in assumption.for_all))
            for _, *ends in assumption.for_all:
                yield from (written("means", end) for end in ends)
    letters = frozenset(s for s in _letters_of(method) if _common(method, s) in (*ENDS, "T"))
    for rule in method.scalars(()):
        yield Formula("rules", rule, letters)


def _letters_of(method: Method) -> set[Any]:
    """Every symbol of its rules and measures."""
    scalars = method.scalars([quantity_name(q) for q in method.measures])
    inside = {s for e in scalars for s in e.free_symbols}
    return inside | {s for q in method.measures if isinstance(q, AppliedUndef) for s in q.args if s.is_Symbol}


def _common(method: Method, symbol: Symbol) -> str:
    """What runs call a letter: `names` says it, otherwise the letter itself; nothing for one that lost its meaning."""
    if symbol in method.names:
        return method.names[symbol]
    return "" if symbol.name in method.names.values() else symbol.name


def _strangers(statement: Statement, method: Method, formulas: list[Formula]) -> Iterator[Fault]:
    """Letters that nothing on a run gives a meaning to, each once."""
    roles, said = _roles(statement, method), set[Symbol]()
    for formula in formulas:
        for letter in sorted(formula.letters - roles - said, key=str):
            common = _common(method, letter)
            if knob_range(letter.name) and formula.field == "sweep":
                continue
            if _is_size(method, common) and letter.is_integer:
                continue
            said.add(letter)
            yield _stranger(letter, common, formula, method, formulas, statement)


def _is_size(method: Method, common: str) -> bool:
    needs = NEEDS.get(common, ())
    return common in COUNTS and (not needs or any(map(method.uses, needs)))


def _roles(statement: Statement, method: Method) -> set[Basic]:
    """Letters that mean something besides the sizes of the run. A count is no free parameter, wherever it stands."""
    constants = {arg for a in (*statement.let, *statement.implicit) for arg in a.args}
    read = {s for rule in method.scalars(()) for s in rule.free_symbols}
    read |= {s for value in statement.choose.values() for s in statement.defined(value).free_symbols}
    for a in (*statement.let, *statement.implicit):
        read |= a.means.free_symbols if a.means is not None else set()
    measures = {q for q in (*method.measures, *method.formulas) if isinstance(q, Symbol)}
    defined = {*statement.choose, *statement.where, *statement.sweep}
    of_runs = {s for s, entry in statement.glossary.items() if str(s) == GAMMA and entry.dim == dimension("F")}
    return constants | {s for s in read if not s.is_integer} | measures | defined | of_runs


def _taken(statement: Statement, method: Method) -> Iterator[Fault]:
    """A letter of the runs, or of a measure, for something else that is drawn or chosen."""
    constants = [arg for a in (*statement.let, *statement.implicit) for arg in a.args]
    parameters = [s for rule in method.scalars(()) for s in rule.free_symbols if not s.is_integer]
    sizes = [s for s in statement.where if isinstance(s, Symbol) and s.is_integer]  # others are only written out
    measures = {quantity_name(q) for q in method.measures}
    fields = {
        "let": constants,
        "rules": parameters,
        "choose": statement.choose,
        "sweep": statement.sweep,
        "where": sizes,
    }
    for field, letters in fields.items():
        for letter in sorted({s for s in letters if isinstance(s, Symbol)}, key=str):
            common = _common(method, letter)
            if _is_size(method, common) and letter.is_integer:
                got = f"{letter} in `{field}`, which is {COUNTS[common]} of the runs"
                yield Fault(got, "a condition on them", f"write when=(Eq({letter}, …),), or rename it")
            elif common in (*SIZES, *OTHERS) or _is_size(method, common) or letter.name in measures:
                what = COUNTS.get(common) or OTHERS.get(common, "a measure")
                yield Fault(
                    f"{letter} in `{field}`, where runs have {what} under this name", "another letter", "rename it"
                )


def _defined_again(statement: Statement, method: Method) -> Iterator[Fault]:
    """Definitions of what a run has anyway: written out in the claim, they would say nothing of the run."""
    steps = {quantity_name(q) for q in method.steps()}
    measures = {quantity_name(q) for q in (*method.measures, *method.formulas)}
    constants = {arg.name for a in (*statement.let, *statement.implicit) for arg in a.args}
    parameters = {str(s) for rule in method.scalars(()) for s in rule.free_symbols if not s.is_integer}
    for head in statement.where:
        name, got = name_of(head), f"{head} in `where`"
        if name in steps and isinstance(head, AppliedUndef):
            yield Fault(f"{got}, which is a step size of {method.id}", "it in `choose`", f"write choose={{{head}: …}}")
        elif head in statement.for_all:
            yield Fault(f"{got}, which is an index of `for_all`", "another name", "rename it")
        elif name in measures:
            yield Fault(f"{got}, which {method.id} measures", "a name that is not taken", "rename it")
        elif isinstance(head, Symbol) and name in constants:
            yield Fault(f"{got}, which is a constant of an assumption", "a condition", f"write when=(Eq({head}, …),)")
        elif isinstance(head, Symbol) and name in parameters:
            do = f"write when=(Eq({head}, …),) and sweep={{{head}: …}}"
            yield Fault(f"{got}, which is a parameter of the rules", "a condition", do)


def _idle(statement: Statement, method: Method, formulas: list[Formula]) -> Iterator[Fault]:
    """What `sweep` draws and nothing reads was meant for something else."""
    read = {s for formula in formulas for s in formula.value.free_symbols} | _letters_of(method)
    read |= {arg for a in (*statement.let, *statement.implicit) for arg in a.args}
    for letter in sorted((s for s in statement.sweep if isinstance(s, Symbol) and s not in read), key=str):
        yield Fault(
            f"{letter} in `sweep`, which nothing reads", "a letter of the claim", "leave it out, or mend its name"
        )


def _stranger(
    letter: Symbol, common: str, formula: Formula, method: Method, formulas: list[Formula], statement: Statement
) -> Fault:
    got = f"the letter {letter} in `{formula.field}`, which runs of {method.id} do not know"
    if common in ENDS and formula.field in ("choose", "sweep"):
        return Fault(got, "indices of what stands on the left alone", "mend one of the two sides")
    if common in ENDS:
        first = method.counts_from if common == "t" else int(common in "ijn")
        last = size(method, statement.glossary, ENDS[common])
        return Fault(
            got, "a range of this index", f"write for_all={{{letter}: (first, last)}}, within {first} and {last}"
        )
    if _is_size(method, common):
        got = f"the letter {letter} in `{formula.field}`, where runs of {method.id} have {COUNTS[common]}"
        return Fault(got, "a count", f"rename it, or make it one: count('{letter}', …)")
    if common in NEEDS:
        asks = " or ".join(NEEDS[common])
        return Fault(got, f"a rule that uses {asks}", f"mend the rules, or define {letter} in `where`")
    if letter.is_integer:
        spoken = {_common(method, s) for f in formulas for s in f.value.free_symbols if isinstance(s, Symbol)}
        free = [size for size in SIZES if size not in {*spoken, *method.names.values()} and _is_size(method, size)]
        other = f"say what it is: sweep={{{letter}: 1}}" if formula.field == "rules" else "define it in `where`"
        if not free:
            return Fault(got, "a size of the run", other)
        sizes = ", ".join(f"{name!r} {SIZES[name]}" for name in free)
        return Fault(
            got, "a size of the run", f"write names={{{letter}: {free[0]!r}}} in the method ({sizes}), or {other}"
        )
    do = f"define it in `where`, or write sweep={{{letter}: fa.free('{letter}')}} if it may be anything"
    return Fault(got, "a constant of an assumption, a parameter of the rules, or a definition", do)
