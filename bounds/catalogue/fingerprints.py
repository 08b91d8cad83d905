"""Which sources a statement of the catalogue depends on, as a digest.

Of a paper's modules, each top-level `NAME = ...` whose value is a statement, its derivations, an assumption, a formula
or a text is a block of its own, and so is each function: a statement depends on its block, on the blocks that it names,
and on all other lines of the paper and of the papers that it imports (symbols, glossaries, methods, imports). Of other
statements it depends on those that it cites, on what these cite, and on its siblings; an experiment on its whole paper.
Where the way of a name through the sources is not plain, the block counts as one of the other lines. So does a formula
that more than sympy and quantities make: what a paper's own functions do to a glossary is nobody's to see.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

from sympy import Expr, FunctionClass, Symbol
from sympy.logic.boolalg import Boolean

from ..language.derivation import Derivation
from ..language.statement import Assumption, Statement
from .discovery import modules_of, papers, statements

__all__ = ["fingerprints"]

OBSCURE = frozenset({"globals", "vars", "locals", "getattr", "setattr", "exec", "eval", "import_module", "__import__"})


@dataclass(slots=True)
class Sources:
    """The top level of one paper's modules."""

    blocks: dict[str, list[tuple[str, frozenset[str]]]] = field(default_factory=dict[str, Any])  # name -> text, names
    others: list[tuple[str, frozenset[str]]] = field(default_factory=list[Any])
    imports: set[str] = field(default_factory=set[str])  # other papers


def fingerprints() -> dict[str, str]:
    """Id -> digest, for every statement of the catalogue."""
    read = {paper: _read(modules_of(paper)) for paper in papers()}
    reach = {paper: _reach(paper, read) for paper in read}
    shared = {paper: _shared(reach[paper]) for paper in read}
    known = {s.id: s for s in statements()}
    places = {id(v): name for p in read for m in modules_of(p) for name, v in vars(m).items() if type(v) is Statement}
    own = {s.id: _digest(shared[s.paper], *_blocks(places.get(id(s), ""), reach[s.paper])) for s in known.values()}
    whole = {paper: _digest(shared[paper], *_all(sources)) for paper, sources in read.items()}
    ranges = _digest(*(f"{s.method_id} {s.for_all!r}" for s in known.values()))  # premises look for spans of indices
    return {
        s.id: _digest(
            ranges,
            own[s.id],
            *(f"{name} {own[name]}" for name in sorted({*_cited(s, known), *_siblings(s, known)})),
            whole[s.paper] if s.kind == "experiment" else "",
        )
        for s in known.values()
    }


def _read(modules: Iterable[ModuleType]) -> Sources:
    found = Sources()
    for module in modules:
        tree = ast.parse(inspect.getsource(module))
        names = [_assigned(node) for node in tree.body]
        for node, name in zip(tree.body, names, strict=True):
            piece = (f"{module.__name__} {ast.dump(node)}", frozenset(_names(node)))
            if name and names.count(name) == 1 and _tracked(node, vars(module).get(name), module):
                found.blocks.setdefault(name, []).append(piece)
            else:
                found.others.append(piece)
            found.imports |= {part for path in _imported(node) for part in path.split(".")} & set(papers())
    return found


def _imported(node: ast.stmt) -> Iterator[str]:
    """What a piece of source imports, in functions too."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in inner.names)
        if isinstance(inner, ast.ImportFrom):
            yield inner.module or ""


def _assigned(node: ast.stmt) -> str:
    """The one name that a line gives a value; nothing for any other line."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _tracked(node: ast.stmt, value: object, module: ModuleType) -> bool:
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list
    several = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    if several and all(isinstance(one, Statement | Derivation) for one in several):
        return True
    return bool(several) and all(map(_fixed, several)) and _plain(node, module)


def _fixed(value: object) -> bool:
    """Whether it is a value that nothing changes later, and no name that a glossary gives a meaning to."""
    return isinstance(value, str | int | Assumption | Expr | Boolean) and not isinstance(value, Symbol)


def _plain(node: ast.stmt, module: ModuleType) -> bool:
    """Whether a line calls nothing but functions that only make a value: sympy's, and those of the quantities."""
    calls = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    called = [vars(module).get(func.id) if isinstance(func, ast.Name) else None for func in calls]
    return all(
        made is Assumption or isinstance(made, FunctionClass) or _origin(made).startswith("sympy.") for made in called
    )


def _origin(value: object) -> str:
    return str(getattr(value, "__module__", ""))


def _names(node: ast.AST) -> Iterator[str]:
    """Every name that a piece of source mentions."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.alias) and inner.asname:  # under another name from here on
            yield inner.name


def _reach(paper: str, read: Mapping[str, Sources]) -> list[Sources]:
    """A paper, the papers that it imports, and so on: no name of it means a line of any other paper."""
    seen: set[str] = set()
    waiting = [paper]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += read[name].imports
    return [read[name] for name in sorted(seen)]


def _shared(reach: Iterable[Sources]) -> str:
    """A digest of what all statements of a paper depend on."""
    pieces = [piece for sources in reach for piece in sources.others]
    if any(OBSCURE & names for _, names in pieces):
        pieces += [piece for sources in reach for block in sources.blocks.values() for piece in block]
    named = {name for _, names in pieces for name in names}
    return _digest(*(text for text, _ in pieces), *(text for name in sorted(named) for text in _blocks(name, reach)))


def _blocks(name: str, reach: Iterable[Sources]) -> list[str]:
    """The block of a name, and the blocks that it names, and so on; of all these, where several have the name."""
    seen: set[str] = set()
    waiting, texts = [name], list[str]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for text, names in (piece for sources in reach for piece in sources.blocks.get(one, ())):
            texts.append(text)
            waiting += names
    return sorted(texts)


def _all(sources: Sources) -> list[str]:
    return sorted(text for pieces in sources.blocks.values() for text, _ in pieces)


def _cited(statement: Statement, known: Mapping[str, Statement]) -> set[str]:
    found: set[str] = set()
    waiting = [statement]
    while waiting:
        cites = {c for way in waiting.pop().follows_from for c in way.cites} - found
        found |= cites
        waiting += [known[c] for c in cites if c in known]
    return {name for name in found if name in known}


def _siblings(statement: Statement, known: Mapping[str, Statement]) -> set[str]:
    stem = statement.id.partition("~")[0]
    return {name for name in known if name.partition("~")[0] == stem}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
