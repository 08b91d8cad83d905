"""What `import fedaudit` offers, beside the names to write a statement with. A statement may be given by its id."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from fedaudit.bounds import catalogue
from fedaudit.bounds.statement import Statement

from .errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedaudit.bounds.derive import Derived
    from fedaudit.bounds.lint import Finding
    from fedaudit.bounds.parameters import Given
    from fedaudit.verify.audited import Audited
    from fedaudit.verify.verdict import Verdict

__all__ = ["audit", "certify", "derive", "hunt", "lint", "load", "plot", "statement", "statements"]


def statement(identifier: str) -> Statement:
    """The one statement with this id."""
    return catalogue.given(identifier)


def statements(*selectors: str) -> list[Statement]:
    """What the selectors name: papers, ids, globs, paths of Python files; none means all."""
    return catalogue.find(selectors)


def load(path: str | PathLike[str]) -> list[Statement]:
    """The statements of a Python file; `my.py::id` is one of them."""
    name = fspath(path)
    if not catalogue.file_of(name):
        raise UserError(name, "a file that ends in .py", "rename it")
    return catalogue.find([name])


def lint(claim: Statement | str) -> list[Finding]:
    """Does it make sense? What is wrong, by rule."""
    from fedaudit.bounds.lint import lint as look

    found = catalogue.given(claim)
    return list(look(found, catalogue.catalogue([found])))


def derive(claim: Statement | str) -> Derived:
    """Does it follow from what it cites? Step by step."""
    from fedaudit.bounds.derive import derive as decide

    found = catalogue.given(claim)
    return decide(found, catalogue.catalogue([found]))


def hunt(claim: Statement | str, *, seed: int = 0, budget: float = 10.0, backend: str = "numpy") -> Verdict:
    """Can it be broken? `budget` is nominal seconds; the same seed gives the same verdict."""
    from fedaudit.verify.audit import hunt as search

    return search(catalogue.given(claim), seed, budget, backend)


def audit(claim: Statement | str, *, seed: int = 0, budget: float = 120.0, backend: str = "numpy") -> Audited:
    """All moves on one statement. (`fedaudit audit` reads the rows of many together: a proof stands on proved ones.)"""
    from fedaudit.verify.audit import audit as all_moves

    return all_moves(catalogue.given(claim), seed, budget, backend)


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


def plot(claim: Statement | str, *, seed: int = 0, **values: Given) -> Axes:
    """Its runs against its bound, on matplotlib axes; at constants of your own where any are given.

    `fa.plot("my_paper.py::li/thm1", L=10, mu=1, E=5, T=200).figure.savefig("thm1.png")`
    """
    from fedaudit.bounds.parameters import points, told
    from fedaudit.figures import draw
    from fedaudit.verify.curves import curves_at, picture

    found = catalogue.given(claim)
    chosen = points(told(values))
    if len(chosen) != 1:
        raise UserError(f"{len(chosen)} combinations of values", "one value for each symbol", "make several pictures")
    return draw(curves_at(found, chosen[0], seed) if values else picture(found, seed)).axes[0]
