"""Finding statements: every module-level `Statement` below `bounds/papers`, or in a user's own file.

Nobody registers anything; a block in a paper's module is enough.
"""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import importlib.util
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from fedaudit.errors import UserError, crash

from .. import papers as _papers
from ..formulas.number_length import MOST_DIGITS, long_in_code
from ..language.method import Method
from ..lint.claim_language import long_number
from .statement_services import Statement

LONGEST_ID = 200


@cache
def papers() -> tuple[str, ...]:
    """The papers that are encoded, in alphabetical order. Imports none of them."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(_papers.__path__)))


@cache
def statements_of(paper: str) -> tuple[Statement, ...]:
    """All statements of one paper, in the order of their modules and of their text."""
    if paper not in papers():
        raise UserError(_unknown(paper, papers()))
    by_id: dict[str, Statement] = {}
    for module in modules_of(paper):
        for made in statements_in(module):
            if by_id.setdefault(made.id, made) is not made:
                raise UserError(f"got two statements with the id {made.id}, expected one; do: rename one of them")
    return tuple(by_id.values())


def statements_in(module: ModuleType) -> Iterator[Statement]:
    """The statements that a module's top level holds, in its order."""
    yield from (v for v in vars(module).values() if isinstance(v, Statement))


def alone(identifier: str) -> Statement | None:
    """The statement with this id, if it has one; of its paper no module is loaded that need not be."""
    paper, _, label = identifier.partition("/")
    if paper not in papers() or not label:
        return None
    root = importlib.import_module(f"{_papers.__name__}.{paper}")
    files = [path for folder in root.__path__ for path in sorted(Path(folder).glob("*.py"))]
    texts = {path.stem: path.read_text("utf-8") for path in files}
    likely = [name for said in (identifier, label) for name, text in texts.items() if f'"{said}"' in text]
    for name in dict.fromkeys((*likely, *texts)):  # an id may be put together
        module = root if name == "__init__" else importlib.import_module(f"{root.__name__}.{name}")
        wanted = next((s for s in statements_in(module) if s.id == identifier), None)
        if wanted is not None:
            return wanted
    return None


def statements(selectors: Sequence[str] = ()) -> list[Statement]:
    """What the selectors name, in catalogue order: papers, ids, globs, paths of Python files; none means all."""
    if not selectors:
        return [s for paper in papers() for s in statements_of(paper)]
    chosen: dict[str, Statement] = {}
    for selector in selectors:
        for made in _select(selector):
            chosen.setdefault(made.id, made)
    return list(chosen.values())


@cache
def methods_of(paper: str) -> tuple[Method, ...]:
    """All methods of one paper."""
    return tuple({id(m): m for module in modules_of(paper) for m in methods_in(module)}.values())


def methods_in(module: ModuleType) -> Iterator[Method]:
    """The methods that a module's top level holds, in its order."""
    yield from (v for v in vars(module).values() if isinstance(v, Method))


def methods(selectors: Sequence[str] = ()) -> list[tuple[str, Method]]:
    """Methods, each with its paper or file: of papers and Python files, or by id, also `paper/id` and `my.py::id`."""
    pool = [(paper, m) for paper in papers() for m in methods_of(paper)]
    if not selectors:
        return pool
    chosen: dict[int, tuple[str, Method]] = {}
    for selector in selectors:
        path, inside, wanted = selector.partition("::")
        if path.endswith(".py"):
            own = [(path, m) for m in methods_in(_loaded(path))]
            chosen_here = [(p, m) for p, m in own if not inside or fnmatch.fnmatchcase(m.id, wanted)]
            names = [m.id for _, m in own]
        else:
            chosen_here = [(p, m) for p, m in pool if selector in (p, m.id, f"{p}/{m.id}")]
            names = sorted({name for p, m in pool for name in (p, m.id)})
        if not chosen_here:
            expected = f"a method ({', '.join(names) or 'it defines none'})"
            raise UserError(selector, expected, "`fedaudit methods` lists them")
        chosen |= {id(m): (p, m) for p, m in chosen_here}
    return list(chosen.values())


def find(selectors: Sequence[str]) -> list[Statement]:
    """The statements that the selectors name; a user's file that ends the process is bad input like any other."""
    own = [path for selector in selectors if (path := file_of(selector))]
    with _users_own(own, "statements"):
        chosen = statements(selectors)
    for made in chosen if own else ():
        _named(made.id, own)
    return chosen


def place(statement: Statement, path: str) -> str:
    """The file and the line at which a statement stands."""
    return f"{path}:{_line_of(statement, path)}"


def _line_of(statement: Statement, path: str) -> int:
    """Where its id stands in the file; the first line if it is put together there."""
    said = re.compile(rf"""(['"]){re.escape(statement.id)}\1""")
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next((n for n, line in enumerate(lines, 1) if said.search(line)), 1)


def find_methods(selectors: Sequence[str]) -> list[tuple[str, Method]]:
    """The methods that the selectors name, each with its paper or file."""
    own = [path for selector in selectors if (path := file_of(selector))]
    with _users_own(own, "methods"):
        chosen = methods(selectors)
    for _, made in chosen if own else ():
        _named(made.id, own)
    return chosen


def own_file(path: str) -> ModuleType:
    """A user's own Python file, as a module; one that ends the process is bad input like any other."""
    with _users_own([path], "a function"):
        return _loaded(path)


@contextmanager
def _users_own(own: Sequence[str], what: str) -> Generator[None]:
    for path in own:
        if not os.path.isfile(path):  # also for names that are no names, and for devices
            raise UserError(path, "a Python file that exists", "check the path")
    try:
        yield
    except KeyboardInterrupt:
        raise
    except SystemExit as error:
        raise UserError(f"{', '.join(own)}, which exits", f"files that define {what}", "remove the exit") from error
    except BaseException as error:
        if not own or isinstance(error, UserError):
            raise
        why = type(error).__name__
        raise UserError(f"{', '.join(own)}, which fails ({why})", what, "run it alone") from error


def _named(name: object, own: Sequence[str]) -> None:
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name.strip()) <= LONGEST_ID:
        expected = f"an id of at most {LONGEST_ID} printable characters"
        raise UserError(f"{', '.join(own)} with the id {name!a}", expected, "write it like 'mine/thm1'")


def file_of(selector: str) -> str:
    """The path in `my.py` or `my.py::id`; nothing for a selector of the catalogue."""
    path = selector.partition("::")[0]
    return path if path.endswith(".py") else ""


def statement(identifier: str) -> Statement:
    """The one statement with this id."""
    matches = statements([identifier])
    if len(matches) != 1:
        raise UserError(f"got {identifier!r}, which names {len(matches)} statements, expected one id; do: pick one")
    return matches[0]


def given(claim: Statement | str) -> Statement:
    """A statement, or the one with this id."""
    if isinstance(claim, Statement):
        return claim
    matches = find([claim])
    if len(matches) != 1:
        raise UserError(f"{claim!r}, which names {len(matches)} statements", "one id", "pick one of them")
    return matches[0]


def catalogue(extra: Iterable[Statement] = ()) -> dict[str, Statement]:
    """Id -> statement, over all papers and `extra`."""
    return {s.id: s for s in (*statements(), *extra)}


def modules_of(paper: str) -> Iterator[ModuleType]:
    """The modules of one paper, in their order."""
    root = importlib.import_module(f"{_papers.__name__}.{paper}")
    yield root
    for info in pkgutil.iter_modules(getattr(root, "__path__", ())):
        yield importlib.import_module(f"{root.__name__}.{info.name}")


def _select(selector: str) -> list[Statement]:
    if path := file_of(selector):
        return _from_file(path, selector.partition("::")[2] or "*")
    if selector in papers():
        return list(statements_of(selector))
    paper, slash, _ = selector.partition("/")
    pool = statements_of(paper) if slash and paper in papers() else statements()
    matches = [s for s in pool if s.id == selector] or [s for s in pool if fnmatch.fnmatchcase(s.id, selector)]
    if not matches:
        raise UserError(_unknown(selector, [s.id for s in statements()] + list(papers())))
    return matches


def _from_file(path: str, wanted: str) -> list[Statement]:
    own = list(statements_in(_loaded(path)))
    if not own:
        raise UserError(f"{path}:1: got no Statement, expected at least one; do: define it at top level")
    for made in own:
        if (fault := long_number(made)) is not None:
            raise UserError(f"{place(made, path)}: {made.id}: {fault}")
    matches = [s for s in own if s.id == wanted] or [s for s in own if fnmatch.fnmatchcase(s.id, wanted)]
    if not matches:
        raise UserError(f"{path}::{wanted}", f"one of {', '.join(s.id for s in own)}", "pick one of them")
    return matches


class _Fresh(SourceFileLoader):
    """Reads a file as it is now: Python's cache of compiled files tells versions apart by second and size alone."""

    def path_stats(self, path: str) -> Mapping[str, Any]:
        # The loader takes this error as a sign that there is no compiled file, and reads the source.
        raise OSError("no cache")


def _loaded(name: str) -> ModuleType:
    path = Path(name)
    if not path.is_file():
        raise UserError(f"got {path}, expected a Python file that exists; do: check the path")
    module_name = f"fedaudit_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path, loader=_Fresh(module_name, str(path)))
    if spec is None or spec.loader is None:
        raise UserError(f"got {path}, expected a Python file that can be imported; do: check its name")
    module = importlib.util.module_from_spec(spec)
    _short_numbers(path)
    other = sys.modules.get(module_name)
    sys.modules[module_name] = module  # a dataclass looks its module up while it is made
    try:
        with _beside(path):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own code: any failure is theirs to see, in one line
        raise UserError(_failure(error, path)) from error
    finally:  # another file may have the same name
        del sys.modules[module_name]
        if other is not None:
            sys.modules[module_name] = other
    return module


def _short_numbers(path: Path) -> None:
    """`UserError` for a number that Python would compute for hours."""
    try:
        long = long_in_code(importlib.util.decode_source(path.read_bytes()))
    except (OSError, SyntaxError, UnicodeDecodeError):  # the loader says it
        return
    if long is not None:
        got, expected = f"{long.code}, a number of more than {MOST_DIGITS} digits", f"at most {MOST_DIGITS}"
        raise UserError(f"{path}:{long.line}: got {got}, expected {expected}; do: mend this line")


def _failure(error: BaseException, path: Path) -> str:
    """What a file failed with, and the line of it at which it did."""
    if isinstance(error, SyntaxError):
        return f"{path}:{error.lineno or 1}: got {error.msg}, expected Python; do: mend this line"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f"{path}:{frames[-1].lineno if frames else 1}"
    if isinstance(error, UserError):
        return f"{where}: {error}"
    if isinstance(error, SystemExit):
        return f"{where}: got an exit, expected statements; do: remove it"
    return f"{where}: got {crash(error)[0]}, expected statements; do: mend this line"


@contextmanager
def _beside(path: Path) -> Generator[None]:
    """Modules beside the file can be imported, as if it were run."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _unknown(given: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(given, known, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "`fedaudit list` prints all ids"
    return f"got {given!r}, expected an id, a glob, a paper ({', '.join(papers())}) or a .py file; do: {hint}"
