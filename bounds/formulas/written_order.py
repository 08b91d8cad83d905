"""The formulas of a statement as its file writes them, which is as the paper prints them.

sympy orders terms as it likes. The order of the paper is in the source: `then=Le(gap(t), (1 - mu / (3 * L)) ** t)`. So
the block of a statement is read again: names are followed to the lines that define them, also in other modules of the
paper, functions of the paper are followed into what they return, and each operation is carried out on values while its
form is noted. Where a line is not plain (a loop, a comprehension, a method call) its value is taken as it is, in a
usual order. A form counts only if its value is the statement's own; otherwise `form_of` that one.
"""

# sympy is annotated only in part (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import ast
import dataclasses
import inspect
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, cast

import sympy
from sympy import Basic, Expr, Rational, Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction

from .. import papers
from ..language import algebra
from ..language.method import Method
from ..language.statement import Glossary, Limit, Statement
from .formula import RELATIONS, Form, form_of, leaf

__all__ = ["Forms", "Written", "forms_of", "in_order", "known_forms", "written"]

Forms = Mapping[Any, Form]  # value -> as it is written

DEEPEST = 60  # calls and names inside each other
MOST_BLOCKS = 400  # that one block names
BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("^", operator.pow),
}
HEADS: dict[Any, str] = {
    algebra.Le: "<=", algebra.Lt: "<", algebra.Ge: ">=", algebra.Gt: ">", algebra.Eq: "=", algebra.Ne: "!=",
    algebra.Min: "min", algebra.Max: "max", algebra.Abs: "abs", algebra.And: "and", algebra.Not: "not",
    algebra.exp: "exp", algebra.log: "log", algebra.sqrt: "sqrt", algebra.Sum: "sum", algebra.Product: "product",
    sympy.Le: "<=", sympy.Lt: "<", sympy.Ge: ">=", sympy.Gt: ">", sympy.Eq: "=", sympy.Ne: "!=",
    sympy.Min: "min", sympy.Max: "max",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    """The formulas of a statement; in each place what is written, or the value in a usual order."""

    then: tuple[Form, ...]
    when: tuple[Form, ...]
    choose: tuple[tuple[Form, Form], ...]
    where: tuple[tuple[Form, Form], ...]
    for_all: tuple[tuple[Form, Form, Form], ...]
    limits: tuple[tuple[Form, Form, Form], ...]  # value, variable, point
    order: Form | None

    def forms(self) -> Iterator[Form]:
        """All of them."""
        yield from (*self.then, *self.when)
        for several in (*self.choose, *self.where, *self.for_all, *self.limits):
            yield from several
        if self.order is not None:
            yield self.order


@dataclass(frozen=True, slots=True)
class _Record:
    """What a call of `Statement`, `replace` or `Limit` was given, and what it made, where that has a name."""

    fields: Mapping[str, Any]
    value: Any = None


class _Obscure(Exception):
    """A line that this module does not follow."""


class _Unknown:
    """The value of such a line; only what needs it is not followed either."""


def written(statement: Statement) -> Written:
    """The statement's formulas, as its source writes them where that can be read."""
    return _written(_Same(statement))


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A statement as a key by what it is: its values need not be hashed."""

    statement: Statement

    def __hash__(self) -> int:
        return id(self.statement)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.statement is self.statement


@lru_cache(maxsize=512)
def _written(key: _Same) -> Written:
    try:
        return _in_order(key.statement, _fields(key.statement))
    except Exception:  # a user's file may hold anything; what it writes is never needed
        return _in_order(key.statement, {})


def _in_order(made: Statement, fields: Mapping[str, Any]) -> Written:
    chain = made.then if isinstance(made.then, tuple) else (made.then,)
    then = fields.get("then")
    parts = _sequence(then) if isinstance(made.then, tuple) else [then]
    relations = [found for found, whole in zip(_matched(parts, chain), chain, strict=True) if whole in made.relations]
    nothing: Mapping[str, Any] = {}
    read = [m.fields if isinstance(m, _Record) else nothing for m in _sequence(fields.get("limits"))]
    limits = read if len(read) == len(made.limits) else [nothing for _ in made.limits]
    return Written(
        then=tuple(relations),
        when=tuple(_matched(_sequence(fields.get("when")), made.when)),
        choose=tuple(_pairs(fields.get("choose"), made.choose)),
        where=tuple(_pairs(fields.get("where"), made.where)),
        for_all=tuple(_ranges(fields.get("for_all"), made.for_all)),
        limits=tuple(
            (_same(n.get("value"), m.value), _same(n.get("variable"), m.variable), _same(n.get("point"), m.point))
            for n, m in zip(limits, made.limits, strict=True)
        ),
        order=None if made.order is None else _same(fields.get("order"), made.order),
    )


def _same(found: Any, value: Any) -> Form:
    """What was read, if it is this value."""
    made: Any = leaf(value).value
    if isinstance(found, Form) and type(found.value) is type(made) and found.value == made:
        return found
    return form_of(made)


def _matched(found: Sequence[Any], values: Sequence[Any]) -> list[Form]:
    parts = found if len(found) == len(values) else [None] * len(values)
    return [_same(part, value) for part, value in zip(parts, values, strict=True)]


def _sequence(found: Any) -> list[Any]:
    return list(cast("Sequence[Any]", found)) if isinstance(found, tuple | list) else []


def _pairs(found: Any, values: Mapping[Any, Any]) -> Iterator[tuple[Form, Form]]:
    """In the order that is written."""
    entries = cast("dict[Any, Any]", found) if isinstance(found, dict) else {}
    read = {value_of(key): (key, value) for key, value in entries.items()}
    for key in sorted(values, key=list(read).index) if set(read) == set(values) else values:
        left, right = read.get(key, (None, None))
        yield _same(left, key), _same(right, values[key])


def _ranges(found: Any, values: Mapping[Any, Any]) -> Iterator[tuple[Form, Form, Form]]:
    entries = cast("dict[Any, Any]", found) if isinstance(found, dict) else {}
    read = {value_of(key): _sequence(both) for key, both in entries.items()}
    for key in sorted(values, key=list(read).index) if set(read) == set(values) else values:
        low, high = values[key]
        ends = read.get(key) or [None, None]
        yield leaf(key), _same(ends[0], low), _same(ends[-1], high)


# --- other formulas, in the same words --------------------------------------------------------------------------------


def known_forms(statements: Sequence[Statement]) -> Forms:
    """What these statements and their derivations write, and all parts of it: value -> the first form that it has."""
    found: dict[Any, Form] = {}
    for statement in statements:
        pending = list(written(statement).forms())
        for form in pending:
            if form.op in RELATIONS or _short(form):
                found.setdefault(form.value, form)
            pending += form.args
    for statement in statements:
        for module in _modules(statement):
            for name in [name for name, value in list(vars(module).items()) if value is statement]:
                found = {**_forms_in(module, name), **found}
    return found


def in_order(expr: Any, known: Forms) -> Form:
    """An expression as it is known to be written, or so for the parts of relations and sums; else in a usual order."""
    if expr in known:
        return known[expr]
    made = form_of(expr)
    if made.op in (*RELATIONS, "+", "-", "and", "or", "not"):
        return Form(made.op, tuple(in_order(part.value, known) for part in made.args), made.value)
    return made


@lru_cache(maxsize=64)
def forms_of(method: Method) -> Forms:
    """The scalars that a method's block writes."""
    found: dict[Any, Form] = {}
    for module, name in _places(method):
        found = {**_forms_in(module, name), **found}
    return found


@lru_cache(maxsize=1024)
def _forms_in(module: ModuleType, name: str) -> Forms:
    """All formulas of a block, and of the blocks that it names."""
    reader, found = _Reader(), dict[Any, Form]()
    pending, seen = [(module, name)], {(module.__name__, name)}
    while pending and len(seen) < MOST_BLOCKS:
        home, key = pending.pop()
        node = _lines(home).get(key)
        if isinstance(node, ast.ImportFrom):
            source = _imported(home, node)
            given = next(a.name for a in node.names if (a.asname or a.name) == key)
            pending += [(source, given)] if source else []
            continue
        for part in ast.walk(node) if isinstance(node, ast.Assign | ast.AnnAssign) else ():
            if isinstance(part, ast.BinOp | ast.UnaryOp | ast.Call):
                made = reader.tried(part, home, {})
                if isinstance(made, Form) and _short(made):
                    found.setdefault(made.value, made)
            elif isinstance(part, ast.Name) and _made_of_parts(home, part.id) and (home.__name__, part.id) not in seen:
                seen.add((home.__name__, part.id))
                pending.append((home, part.id))
    return found


def _made_of_parts(module: ModuleType, name: str) -> bool:
    """Whether a name may stand for formulas: not for a symbol, a function or a module."""
    value = vars(module).get(name)
    plain = value is None or isinstance(value, Symbol | UndefinedFunction | FunctionType | ModuleType | type | Glossary)
    return not plain and name in _lines(module)


def _short(form: Form) -> bool:
    """Whether nothing in it cancels: E eta/E is written by nobody for eta."""
    return form.op != "leaf" and _leaves(form) <= _leaves(form_of(form.value))


def _leaves(form: Form) -> int:
    return sum(map(_leaves, form.args)) if form.args else 1


def _places(method: Method) -> Iterator[tuple[ModuleType, str]]:
    """The modules and names under which a method stands."""
    from ..catalogue.discovery import users_modules

    ours = [m for name, m in list(sys.modules.items()) if name.startswith(f"{papers.__name__}.")]
    for module in (*ours, *users_modules()):
        yield from ((module, name) for name, value in list(vars(module).items()) if value is method)


# --- where a statement stands -----------------------------------------------------------------------------------------


def _fields(statement: Statement) -> Mapping[str, Any]:
    for module in _modules(statement):
        for name, value in list(vars(module).items()):
            if isinstance(value, Statement) and (value is statement or _equal(value, statement)):
                try:
                    found = _Reader().top(module, name)
                except _Obscure:
                    continue
                if isinstance(found, _Record):
                    return found.fields
    return {}


def _equal(one: Statement, other: Statement) -> bool:
    """Of another process: the same statement, made again."""
    return one.id == other.id and one == other


def _modules(statement: Statement) -> Iterator[ModuleType]:
    """The modules that may define it: its paper's, then all that are loaded, then users' files."""
    from ..catalogue.discovery import users_modules

    prefix = f"{papers.__name__}.{statement.paper}"
    loaded = list(sys.modules.items())
    yield from (m for name, m in loaded if name == prefix or name.startswith(f"{prefix}."))
    yield from users_modules()
    yield from (m for name, m in loaded if type(m) is ModuleType and not name.startswith(("fedaudit.", "sympy")))


@lru_cache(maxsize=256)
def _lines(module: ModuleType) -> Mapping[str, ast.stmt]:
    """Top-level name -> the last line that gives it a value."""
    try:
        body = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                found |= {inner.id: node for inner in ast.walk(target) if isinstance(inner, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found[node.target.id] = node
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: node for alias in node.names}
        elif not isinstance(node, ast.Import | ast.Expr):  # a loop, a condition: whatever it names is not followed
            found |= {inner.id: node for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """Carries out lines on values and notes forms. Never does what has an effect: it calls functions of the paper that
    return formulas, and sympy's.
    """

    depth: int = 0
    known: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])

    def top(self, module: ModuleType, name: str) -> Any:
        """The value of a top-level name, followed to the line that defines it."""
        key = (module.__name__, name)
        if key not in self.known:
            self.known[key] = self._top(module, name)
        return self.known[key]

    def _top(self, module: ModuleType, name: str) -> Any:
        value = vars(module)[name]
        if not isinstance(value, Expr | Basic | Statement | tuple | dict | Limit) or isinstance(value, Symbol):
            return _plain(value)
        node = _lines(module).get(name)
        try:
            self._enter()
            if isinstance(node, ast.ImportFrom):
                home = _imported(module, node)
                given = next(a.name for a in node.names if (a.asname or a.name) == name)
                return self.top(home, given) if home and given in vars(home) else _plain(value)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                found = self._taken(target, self.of(node.value, module, {}), name)
                if isinstance(found, _Record):
                    return _Record(found.fields, value)
                return found if not isinstance(found, Form) or found.value == value else _plain(value)
        except _Obscure:
            pass
        finally:
            self.depth -= 1
        return _plain(value)

    def _taken(self, target: ast.expr, found: Any, name: str) -> Any:
        """What a name gets of a line's value."""
        if isinstance(target, ast.Name):
            return found
        if isinstance(target, ast.Tuple) and isinstance(found, tuple | list):
            parts = cast("Sequence[Any]", found)
            for inner, part in zip(target.elts, parts, strict=False):
                if isinstance(inner, ast.Name) and inner.id == name and len(parts) == len(target.elts):
                    return part
        raise _Obscure

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _Obscure

    def tried(self, node: ast.expr, module: ModuleType, local: Mapping[str, Any]) -> Any:
        """The same for a part of something: it may be unknown."""
        try:
            return self.of(node, module, local)
        except _Obscure:
            return _Unknown()

    def of(self, node: ast.expr, module: ModuleType, local: Mapping[str, Any]) -> Any:
        """An expression: a form, a container of them, a record, or a plain value."""
        match node:
            case ast.Constant(value=value):
                return _plain(value)
            case ast.Name(id=name):
                return self.name(name, module, local)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                return _binary(type(op), self.of(left, module, local), self.of(right, module, local))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.of(operand, module, local)
                if not isinstance(found, Form) or isinstance(found.value, Rational):
                    return _plain(-value_of(found))
                return Form("neg", (found,), -found.value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return tuple(self.several(elts, module, local))
            case ast.Dict(keys=keys, values=values):
                return self.mapping(keys, values, module, local)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = body if value_of(self.of(test, module, local)) else orelse
                return self.of(chosen, module, local)
            case ast.Attribute(value=whole, attr=attr):
                found = self.of(whole, module, local)
                if isinstance(found, _Record) and attr in found.fields:
                    return found.fields[attr]
                if (
                    isinstance(found, _Record)
                    and attr == "relations"
                    and isinstance(then := found.fields.get("then"), Form)
                ):
                    return (then,)
                if isinstance(found, Form) and attr == "args" and found.op in RELATIONS:
                    return found.args
                if isinstance(found, ModuleType) and attr in vars(found):
                    return self.top(found, attr) if _ours(found) else _plain(vars(found)[attr])
                return _plain(_called(getattr, [value_of(found), attr], {}))
            case ast.Subscript(value=whole, slice=index):
                found, n = self.of(whole, module, local), value_of(self.of(index, module, local))
                return _plain(_called(operator.getitem, [found if type(found) is tuple else value_of(found), n], {}))
            case ast.Call():
                return self.call(node, module, local)
            case _:
                raise _Obscure

    def name(self, name: str, module: ModuleType, local: Mapping[str, Any]) -> Any:
        if name in local:
            return local[name]
        if name in vars(module):
            return self.top(module, name)
        return _plain(_builtin(name))

    def several(self, nodes: Sequence[ast.expr], module: ModuleType, local: Mapping[str, Any]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                found = self.of(node.value, module, local)
                yield from cast("Sequence[Any]", found) if isinstance(found, tuple | list) else _parts(value_of(found))
            else:
                yield self.tried(node, module, local)

    def mapping(
        self,
        keys: Sequence[ast.expr | None],
        values: Sequence[ast.expr],
        module: ModuleType,
        local: Mapping[str, Any],
    ) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            found = self.tried(value, module, local)
            if key is not None:
                made[self.of(key, module, local)] = found
            elif isinstance(found, dict):
                made |= cast("dict[Any, Any]", found)
            else:
                made |= {_plain(k): _plain(v) for k, v in dict(value_of(found)).items()}
        return made

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, module: ModuleType, local: Mapping[str, Any]) -> Any:
        head = value_of(self.of(node.func, module, local))
        args = list(self.several(node.args, module, local))
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            found = self.tried(keyword.value, module, local)
            if keyword.arg is not None:
                named[keyword.arg] = found
            elif isinstance(found, dict):
                named |= {value_of(k): v for k, v in cast("dict[Any, Any]", found).items()}
            else:
                raise _Obscure
        return self.applied(head, args, named)

    def applied(self, head: Any, args: list[Any], named: dict[str, Any]) -> Any:
        if head is Statement:
            return _Record(named)
        if head is Limit:
            names = [f.name for f in dataclasses.fields(Limit)]
            return _Record({**dict(zip(names, args, strict=False)), **named})
        if head is dataclasses.replace:
            return _Record({**self.record(args[0]), **named})
        if head is dict and not args:
            return {_plain(k): v for k, v in named.items()}
        if isinstance(head, FunctionType) and (home := _home(head)):
            try:
                return self.followed(head, home, args, named)
            except _Obscure:
                pass
        if not _may_call(head):
            raise _Obscure
        value = _called(cast("Any", head), [value_of(a) for a in args], {k: value_of(v) for k, v in named.items()})
        if isinstance(head, UndefinedFunction) and isinstance(value, AppliedUndef):
            return Form("at", tuple(map(_form, args)), value)
        name = HEADS.get(head) if isinstance(head, FunctionType | type) else None
        if name is None or not isinstance(value, Basic) or named:
            return _plain(value)
        forms = [_form(arg) for arg in args[: 1 if name in ("sum", "product") else None]]
        if name in ("sum", "product"):
            ends = _sequence(args[1]) if len(args) == 2 else []
            return Form(name, (forms[0], *map(_form, ends)), value) if len(ends) == 3 else _plain(value)
        return Form(name, tuple(forms), value)

    def record(self, found: Any) -> Mapping[str, Any]:
        """The fields of a statement that is followed, or of a value."""
        if isinstance(found, _Record):
            return found.fields
        if not isinstance(made := value_of(found), Statement):
            raise _Obscure
        return _fields(made)

    def followed(self, function: FunctionType, module: ModuleType, args: list[Any], named: dict[str, Any]) -> Any:
        """A function of the paper: lines that give names values, conditions, and what it returns."""
        node = _lines(module).get(function.__name__)
        if not isinstance(node, ast.FunctionDef) or node.decorator_list or function.__closure__:
            raise _Obscure
        try:
            taken = inspect.signature(function).bind(*args, **named)
        except TypeError as error:
            raise _Obscure from error
        local: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                given = taken.arguments.get(parameter.name, {})
                local[parameter.name] = {_plain(k): v for k, v in given.items()}
            elif parameter.name in taken.arguments:
                local[parameter.name] = taken.arguments[parameter.name]
            elif parameter.kind is parameter.VAR_POSITIONAL:
                local[parameter.name] = ()
            else:
                local[parameter.name] = _plain(parameter.default)
        self._enter()
        try:
            return self.body(node.body, module, local)
        finally:
            self.depth -= 1

    def body(self, lines: Sequence[ast.stmt], module: ModuleType, local: dict[str, Any]) -> Any:
        for line in lines:
            match line:
                case ast.Expr(value=ast.Constant()):
                    continue
                case ast.Return(value=ast.expr() as value):
                    return self.of(value, module, local)
                case (
                    ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
                ):
                    found = self.of(value, module, local)
                    for inner in ast.walk(target):
                        if isinstance(inner, ast.Name):
                            local[inner.id] = self._taken(target, found, inner.id)
                case ast.If(test=test, body=body, orelse=orelse):
                    chosen = body if value_of(self.of(test, module, local)) else orelse
                    if (found := self.body(chosen, module, local)) is not None:
                        return found
                case _:
                    raise _Obscure
        return None


def _binary(op: type[ast.operator], left: Any, right: Any) -> Any:
    sign, carry_out = BINARY[op]
    a, b = value_of(left), value_of(right)
    value = _called(carry_out, [a, b], {})
    if not isinstance(value, Basic) or isinstance(value, Rational):
        return _plain(value)
    return Form(sign, (_form(left), _form(right)), value)


def _called(head: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    try:
        return head(*args, **named)
    except Exception as error:
        raise _Obscure from error


def _may_call(head: Any) -> bool:
    """Whether a call has no effect: sympy, the algebra, a paper's own functions, and what builds plain values."""
    if isinstance(head, UndefinedFunction) or head in (dict, tuple, list, sum, range, zip, len, str, int):
        return True
    if isinstance(head, FunctionType) and _home(head):
        return True
    return str(getattr(head, "__module__", "") or "").startswith(("sympy", algebra.__name__))


def _home(function: FunctionType) -> ModuleType | None:
    """The module of statements in which a function stands."""
    from ..catalogue.discovery import users_modules

    loaded = sys.modules.get(function.__module__)
    candidates = (loaded, *users_modules()) if loaded else users_modules()
    found = next((m for m in candidates if vars(m) is function.__globals__), None)
    return found if _ours(found) else None


def _ours(module: ModuleType | None) -> bool:
    """A module of statements: a paper's, or a user's."""
    if module is None:
        return False
    name = module.__name__
    return name.startswith(papers.__name__) or name.partition(".")[0] not in (
        "fedaudit",
        "sympy",
        *sys.stdlib_module_names,
    )


def _imported(module: ModuleType, node: ast.ImportFrom) -> ModuleType | None:
    parts = module.__name__.split(".")
    package = parts if hasattr(module, "__path__") else parts[:-1]
    base = package[: len(package) - node.level + 1] if node.level else []
    found = sys.modules.get(".".join([*base, *([node.module] if node.module else [])]))
    return found if _ours(found) else None


def _builtin(name: str) -> Any:
    import builtins

    try:
        return getattr(builtins, name)
    except AttributeError as error:
        raise _Obscure from error


def _plain(value: Any) -> Any:
    """A value as it is; expressions in a usual order, containers opened."""
    if isinstance(value, Basic) and not isinstance(value, sympy.Dict | sympy.Tuple):
        return form_of(value)
    return value


def _parts(value: Any) -> list[Any]:
    try:
        return [_plain(part) for part in value]
    except TypeError as error:
        raise _Obscure from error


def value_of(found: Any) -> Any:
    """The value of what was read."""
    if isinstance(found, Form):
        return found.value
    if isinstance(found, _Record) and found.value is not None:
        return found.value
    if isinstance(found, _Record | _Unknown):
        raise _Obscure
    if type(found) in (tuple, list):
        return tuple(value_of(part) for part in found)
    if type(found) is dict:
        return {value_of(k): value_of(v) for k, v in cast("dict[Any, Any]", found).items()}
    return found


def _form(found: Any) -> Form:
    return found if isinstance(found, Form) else form_of(sympy.sympify(value_of(found), strict=True))
