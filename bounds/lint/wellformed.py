"""Is a statement written so that it can be computed with? Ids, kinds, names, indices, ranges, assumptions, numbers.

`faults` is asked by `lint` and before every move, so that a slip in somebody's own file is one line that says what
stands there, what was expected and what to do, and not an error from deep inside.
"""

# A file of a user holds what no type checker saw.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from sympy import Basic, Dummy, Expr, Float, Indexed, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fedaudit.errors import UserError

from ..catalogue.discovery import file_of, find, place
from ..formulas.lowering import name_of
from ..language.assumptions import ASSUMPTIONS, DATA
from ..language.derivation import Derivation
from ..language.method import Method, quantity_name
from ..language.rule_parts import vectors_of
from ..language.statement import RELATIONS, Assumption, Form, Glossary, Kind, Statement
from .claim_language import domain_faults, long_number, operation_faults
from .fault import Fault
from .homonyms import homonym_faults
from .index_ranges import index_faults
from .method_check import NAME, method_faults
from .order_faults import contradictions, order_faults
from .symbol_roles import role_faults, taken_faults

MEANS = "say it of the run: Assumption(…, means=Le(measure, bound), for_all=…)"
SETTINGS = (  # names of verify/settings that stand for no method; a test compares the lists
    "algorithm", "devices", "erm", "function", "graph", "messages", "meta", "network", "network_limit", "noise_sum",
    "order", "prox", "samples", "scalar", "subset", "table",
)  # fmt: skip
WORDS = ("id", "kind", "title", "cite", "repairs", "by_hand", "quoted", "waits_for")  # fields that are text


def check(statement: Statement) -> None:
    """`UserError` for the first fault."""
    for fault in faults(statement):
        raise UserError(f"{statement.id}: {fault}")


def well_formed(selectors: Sequence[str]) -> list[Statement]:
    """The statements that the selectors name; a slip in one of a user's file is said with its line."""
    for selector in selectors:
        if path := file_of(selector):
            for made in find([selector]):
                for fault in faults(made):
                    raise UserError(f"{place(made, path)}: {made.id}: {fault}")
    return find(selectors)


def faults(statement: Statement) -> Iterator[Fault]:
    """All that keeps the statement from being computed with, and letters that mean nothing on its runs."""
    if wrong := list(misfits(statement)):  # of which nothing more can be read
        yield from wrong
    elif not isinstance(statement.method, Method) or statement.kind == "experiment":
        yield from form_faults(statement)
    elif taken := list(taken_faults(statement, statement.method)):
        yield from taken
    else:
        yield from form_faults(statement)
        yield from role_faults(statement, statement.method)


def form_faults(statement: Statement) -> Iterator[Fault]:
    """All that keeps it from being computed with; a premise of a proof, which speaks of part of its statement, is asked
    no more than this.
    """
    if "/" not in statement.id.strip("/"):
        yield Fault(f"the id {statement.id!r}", "paper/label", f"write id='mine/{statement.id}'")
    if (long := long_number(statement)) is not None:  # nothing else of it can be printed
        yield long
        return
    if statement.kind not in get_args(Kind):
        yield Fault(f"kind={statement.kind!r}", f"one of {', '.join(get_args(Kind))}", "a lemma is an inequality")
    yield from _relations(statement)
    yield from _numbers(statement)
    yield from _spelling(statement)
    if circle := list(_circle(statement)):
        yield from circle
        return
    if unread := list(operation_faults(statement)) if statement.kind != "experiment" else []:
        yield from unread
        return
    yield from homonym_faults(statement)
    yield from domain_faults(formula for formulas in statement.formulas.values() for formula in formulas)
    if statement.compares_formulas and not statement.quoted:  # those are not decided
        yield from order_faults(statement)
    elif statement.kind == "order":
        yield from contradictions(statement)
    if isinstance(statement.method, str) and statement.kind != "experiment":
        yield from _without_runs(statement, statement.method)
    if isinstance(statement.method, Method) and statement.kind != "experiment":  # those read what they like
        yield from method_faults(statement.method)
        yield from _conditions(statement)
        yield from _together((*statement.let, *statement.implicit))
        yield from _assumptions(statement, statement.method)
        yield from _names(statement, statement.method)
        yield from _choices(statement, statement.method)
        yield from index_faults(statement, statement.method)


def misfits(statement: Statement) -> Iterator[Fault]:
    """Things in a field that holds others."""
    for name in WORDS:
        if not isinstance(getattr(statement, name), str):
            yield Fault(f"{name}={getattr(statement, name)!r}", "text", f"write {name}='…'")
    if not isinstance(statement.glossary, Glossary):
        yield Fault(
            f"glossary={statement.glossary!r}", "a Glossary", "write G = fa.Glossary(), and its symbols with it"
        )
    if not isinstance(statement.method, Method | str):
        yield Fault(f"method={statement.method!r}", "a Method, or the name of a setting", "write method=FEDAVG")
    if not isinstance(statement.form, Form | None):
        yield Fault(f"form={statement.form!r}", "a Form", "leave it out")
    for way in statement.follows_from:
        if not isinstance(way, Derivation):
            yield Fault(f"{way!r} in `follows_from`", "derivations", "write follows_from=(Derivation(proof),)")
    for assumption in (*statement.let, *statement.implicit):
        yield from _meaning(assumption)


def _meaning(assumption: Assumption) -> Iterator[Fault]:
    """What an assumption says of the run: a relation, with the ranges of its indices."""
    if not isinstance(assumption.name, str):
        yield Fault(f"an assumption named {assumption.name!r}", "text", "write Assumption('smooth', (L,))")
    if not isinstance(assumption.means, Relational | None):
        got = f"means={assumption.means!r} in the assumption {assumption.name!r}"
        yield Fault(got, "a relation between measures", "write means=Le(measure(t), B)")
    for span in assumption.for_all:
        numbers = isinstance(span, tuple) and all(isinstance(end, int | Expr) for end in span[1:])
        if not (numbers and len(span) == 3 and isinstance(span[0], Symbol)):
            got = f"for_all={span!r} in the assumption {assumption.name!r}"
            yield Fault(got, "an index with its first and last value", "write for_all=((t, 0, T),)")


def _spelling(statement: Statement) -> Iterator[Fault]:
    """Names as the kernel reads them; and p, which every run has for the clients' weights."""
    formulas = [x for several in statement.formulas.values() for x in several]
    method = statement.method
    if isinstance(method, Method):
        formulas += [*method.measures, *method.scalars([quantity_name(q) for q in method.measures])]
    symbols = {x for formula in formulas for x in formula.atoms(Symbol)} | {*statement.for_all}
    symbols |= {x for one in (*statement.let, *statement.implicit) for x in one.args}
    for name in sorted({x.name for x in symbols} | {x.func.__name__ for x in _quantities(formulas)}):
        if not NAME.fullmatch(name):
            yield Fault(
                f"the name {name!r}", "letters, digits and _", f"write {_ascii(name)!r}; `latex` prints as you like"
            )
    weights = {x.base.label for formula in formulas for x in formula.atoms(Indexed)}
    if isinstance(method, Method) and any(x.name == "p" and x not in weights for x in symbols):
        yield Fault("a symbol named p", "another name: p(i) are the clients' weights", "rename it")


def _without_runs(statement: Statement, setting: str) -> Iterator[Fault]:
    """A claim about no method's runs has no step sizes; one about numbers alone no quantities either."""
    if setting not in SETTINGS:
        expected = f"a Method, or a setting ({', '.join(SETTINGS)})"
        yield Fault(f"method={setting!r}", expected, "write method=FEDAVG, the method itself, without quotes")
    if statement.choose and not statement.compares_formulas:  # of which order_faults says so
        yield Fault(f"`choose` in the setting {setting!r}", "none: it has no runs", "define it in `where`")
    swept = {name_of(x) for x in statement.sweep}
    formulas = (statement.defined(x) for x in (*statement.relations, *statement.when))
    loose = [x for x in _quantities(formulas) if name_of(x) not in swept]
    if setting == "scalar" and loose and not statement.quoted:
        yield Fault(f"{loose[0]} in the setting {setting!r}", "symbols alone", "name a Method, or write a symbol")


def _circle(statement: Statement) -> Iterator[Fault]:
    try:
        for formula in (*statement.relations, *statement.when, *statement.where):
            statement.defined(formula)
    except UserError:
        yield Fault("`where` in a circle", "definitions that end", "break the circle")


def _ascii(name: str) -> str:
    """The name of every letter in place of the letter: mu for μ."""
    words = (unicodedata.name(c, "x").lower().split()[-1] if not c.isascii() else c for c in name)
    return re.sub(r"^(?=[0-9])|[^A-Za-z0-9_]", "_", "".join(words))[:100] or "x"


def _relations(statement: Statement) -> Iterator[Fault]:
    parts: tuple[Boolean, ...] = statement.then if isinstance(statement.then, tuple) else (statement.then,)
    if not parts and statement.kind != "experiment":
        yield Fault("`then` with nothing in it", "a claim", "write then=Le(left, right)")
    for part in parts:
        if type(part) not in RELATIONS and statement.kind != "experiment":
            yield Fault(f"`then` with {part} in place of a relation", "a claim", "write Eq(left, right), Le or Ge")


def _together(assumptions: Iterable[Assumption]) -> Iterator[Fault]:
    """Every assumption once, and none that another one denies."""
    named: dict[str, Assumption] = {}
    for one in assumptions:
        if one.name in named:
            do = "leave one out; one with `means` takes a name of its own"
            yield Fault(f"the assumption {one.name!r} twice", "every assumption once", do)
        named[one.name] = one
    firm = {name for name, one in named.items() if one.means is None and all(arg.is_positive for arg in one.args)}
    for name in named:
        for other in ASSUMPTIONS[name].against if name in firm & {*ASSUMPTIONS} else ():
            if other in firm:
                got = f"the assumptions {name!r} and {other!r}, which contradict each other"
                yield Fault(got, "one of them", "leave out the one that is not meant")


def _conditions(statement: Statement) -> Iterator[Fault]:
    """Conditions are about the instance, not about one index of it."""
    for condition in statement.when:
        bare = condition.replace(lambda x: isinstance(x, AppliedUndef), lambda _: Dummy())
        for index in sorted(set(statement.for_all) & bare.free_symbols, key=str):
            expected = f"the range of the index {index} in `for_all`"
            yield Fault(f"{condition} in `when`", expected, f"write for_all={{{index}: (first, last)}}")


def _numbers(statement: Statement) -> Iterator[Fault]:
    for name, formulas in statement.formulas.items():
        for number in sorted({float(x) for formula in formulas for x in formula.atoms(Float)}):
            p, q = number.as_integer_ratio()
            exact = f"Rational({p}, {q})" if q <= 1024 else f"Rational('{number}')"
            yield Fault(f"the float {number} in `{name}`", "exact numbers", f"write {exact}")


def _minimum(statement: Statement, method: Method) -> str:
    """A measure of the claim that reads where f is least, or how small it is; nothing if none does."""
    claimed = {x.func.__name__ for x in _quantities((*statement.relations, *statement.when))}
    for quantity, number in method.measures.items():
        parts = {part.op for part in vectors_of(number)} | {atom[0] for _, atom in number.terms}
        if quantity_name(quantity) in claimed and parts & {"w_star", "w_i_star", "f_star", "f_i_star"}:
            return str(quantity)
    return ""


def _assumptions(statement: Statement, method: Method) -> Iterator[Fault]:
    assumptions = (*statement.let, *statement.implicit)
    names = {one.name for one in assumptions}
    for one in assumptions:
        if one.means is not None:
            continue
        record = ASSUMPTIONS.get(one.name)
        if record is None:
            do = f"{_near(one.name, ASSUMPTIONS)} `fedaudit assumptions` lists them"
            yield Fault(f"the assumption {one.name!r}", "one that runs understand", do)
        elif len(one.args) != record.constants:
            got = f"the assumption {one.name!r} with the constants ({', '.join(map(str, one.args))})"
            yield Fault(got, f"{record.constants} of them", f"write Assumption({one.name!r}, (…,)): {record.asks}")
        elif record.reads_points and not any(map(method.uses, DATA)):
            expected = f"it for a method with {' or '.join(DATA)}: it is about data points"
            yield Fault(f"the assumption {one.name!r}, where {method.id} has none", expected, MEANS)
        elif record.no_minimum and (read := _minimum(statement, method)):
            expected = "gradients alone: the losses that are known to meet it have no minimum"
            yield Fault(f"the assumption {one.name!r} beside {read}", expected, MEANS)
        elif record.beside and record.beside not in names:
            expected = f"{record.beside!r} beside it, which brings losses of which it can be checked"
            yield Fault(
                f"the assumption {one.name!r} alone", expected, f"add Assumption({record.beside!r}, (rho,)), or {MEANS}"
            )


def _names(statement: Statement, method: Method) -> Iterator[Fault]:
    offered = [*method.measures, *method.formulas, *method.steps(), *method.before, *method.before.values()]
    offered += [*statement.choose, *statement.where]
    offers = {x.func.__name__: len(x.args) for x in offered if isinstance(x, AppliedUndef)} | {"p": 1}
    means = [a.means for a in (*statement.let, *statement.implicit) if a.means is not None]
    formulas = (*statement.relations, *statement.when, *statement.choose.values(), *statement.where.values())
    unknown = set[str]()
    for x in _quantities((*formulas, *means)):
        name = x.func.__name__
        if name in unknown:  # once is enough, wherever it stands
            continue
        if name not in offers:
            unknown.add(name)
            expected = f"what {method.id} offers ({', '.join(sorted(offers))})"
            yield Fault(repr(name), expected, _near(name, offers))
        elif len(x.args) != offers[name]:
            do = f"`fedaudit methods {method.id}` shows its measures"
            yield Fault(f"{x} with {len(x.args)} indices", str(offers[name]), do)


def _choices(statement: Statement, method: Method) -> Iterator[Fault]:
    """What is chosen at an index is a step size of the rules, and the auditor does not draw it."""
    swept = {_head(x) for x in statement.sweep}
    for x in statement.choose:
        if _head(x) in swept:
            do = "leave it out of `sweep`, or draw what its choice is made of"
            yield Fault(f"{x} both in `choose` and in `sweep`", "one of them", do)
    steps = {x.func.__name__ for x in method.steps()}
    plain = {x.func.__name__: x for x in method.steps() if _letters(method, x) in (["t"], ["t", "k"])}
    for name, heads in (("choose", statement.choose), ("sweep", statement.sweep)):
        for x in heads:
            own = plain.get(x.func.__name__) if isinstance(x, AppliedUndef) else None
            if own is not None and _letters(method, x) != _letters(method, own):
                yield Fault(f"{x} in `{name}`", f"{own}, as the rules read it", f"write {name}={{{own}: …}}")
    read = {s for rule in method.scalars(()) for s in rule.free_symbols}
    drawn = [x for x in statement.sweep if isinstance(x, AppliedUndef)]
    chosen = [x for x in statement.choose if not x.is_integer]  # a size of the run is a fault of its own
    for name, heads in (("choose", chosen), ("sweep", drawn)):
        for x in heads:
            if x not in read and (not isinstance(x, AppliedUndef) or x.func.__name__ not in steps):
                expected = f"a step size of {method.id} ({', '.join(map(str, plain.values())) or 'it has none'})"
                own = plain.get(name_of(x))
                do = f"write {name}={{{own}: …}}" if own else f"{_near(name_of(x), steps)} Or define it in `where`"
                yield Fault(f"`{name}` of {name_of(x)!r}", expected, do)
    measured = {quantity_name(quantity) for quantity in method.measures}
    for x, value in statement.choose.items():
        inside = {name_of(q) for q in statement.defined(value).atoms(AppliedUndef)}
        if name_of(x) in inside:
            yield Fault(f"`choose` of {x} by itself", "a formula without it", "mend it")
        elif late := sorted(inside & measured):
            expected = "a formula of what is known before the run"
            yield Fault(f"`choose` of {x} by the measure {late[0]}", expected, "mend it")


def _letters(method: Method, quantity: Expr) -> list[str]:
    """What runs call the indices of a quantity."""
    return [method.names.get(index, str(index)) for index in quantity.args]


def _head(x: Expr) -> UndefinedFunction | Expr:
    """gamma of gamma(t); a symbol of the same name is another parameter."""
    return x.func if isinstance(x, AppliedUndef) else x


def _quantities(formulas: Iterable[Basic]) -> list[AppliedUndef]:
    return sorted({x for formula in formulas for x in formula.atoms(AppliedUndef)}, key=str)


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f"did you mean {close[0]!r}?" if close else "use one of them."
