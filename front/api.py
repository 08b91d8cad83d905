"""What `import fedaudit` offers, beside the names to write a statement with. A statement may be given by its id."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from fedaudit.bounds import catalogue
from fedaudit.bounds.statement import Statement

from .errors import UserError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedaudit.bounds.derive import Derived
    from fedaudit.bounds.lint import Finding

__all__ = ["certify", "derive", "lint", "load", "plot", "statement", "statements"]


def statement(identifier: str) -> Statement:
    """The one statement with this id."""
    found = catalogue.find([identifier])
    if len(found) != 1:
        raise UserError(f"{identifier!r}, which names {len(found)} statements", "one id", "pick one of them")
    return found[0]


def statements(*selectors: str) -> list[Statement]:
    """What the selectors name: papers, ids, globs, paths of Python files; none means all."""
    return catalogue.find(selectors)


def load(path: str | PathLike[str]) -> list[Statement]:
    """The statements of a Python file."""
    name = fspath(path)
    if not name.endswith(".py"):
        raise UserError(name, "a file that ends in .py", "rename it")
    return catalogue.find([name])


def lint(claim: Statement | str) -> list[Finding]:
    """Does it make sense? What is wrong, by rule."""
    from fedaudit.bounds.lint import lint as look

    found = _statement(claim)
    return list(look(found, catalogue.catalogue([found])))


def derive(claim: Statement | str) -> Derived:
    """Does it follow from what it cites? Step by step."""
    from fedaudit.bounds.derive import derive as decide

    found = _statement(claim)
    return decide(found, catalogue.catalogue([found]))


def certify(certificate: str | PathLike[str] | Mapping[str, Any], *sources: str | PathLike[str]) -> dict[str, Any]:
    """Is that really a counterexample? A file or its data; `sources` are Python files with statements of your own."""
    from fedaudit.verify.certificates import certify as judge
    from fedaudit.verify.certificates import certify_files

    names = [fspath(source) for source in sources]
    if isinstance(certificate, Mapping):
        return judge(dict(certificate), "certificate", names)
    rows = certify_files([fspath(certificate), *names])
    if len(rows) != 1:
        raise UserError(f"{fspath(certificate)} with {len(rows)} certificates", "one certificate", "name one file")
    return rows[0]


def plot(claim: Statement | str, seed: int = 0) -> Figure:
    """Its runs against its bound."""
    from fedaudit.figures import draw
    from fedaudit.verify.curves import picture

    return draw(picture(_statement(claim), seed))


def _statement(claim: Statement | str) -> Statement:
    return statement(claim) if isinstance(claim, str) else claim
