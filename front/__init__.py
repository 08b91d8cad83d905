"""Audits the convergence theory of federated optimisation: proved, refuted with an exact counterexample, or survived.

    import fedaudit as fa

    claim = fa.statement("buttaci/lem4.1")  # or fa.statements("yuan/thm*"), or fa.load("my_paper.py")
    fa.lint(claim), fa.derive(claim)
    fa.plot(claim)

To write a claim: `Statement`, `Assumption`, `Glossary`, and the names of the algebra (`Le`, `Sum`, `Min`, `sqrt`, …).
What you got wrong is a `UserError`. Names are loaded when they are asked for: `import fedaudit` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedaudit.bounds.algebra import Abs, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Product, Rational, Sum, exp, log, sqrt
    from fedaudit.bounds.statement import Assumption, Glossary, Statement

    from .api import certify, derive, lint, load, plot, statement, statements
    from .errors import UserError

    __version__: str

__all__ = [
    "Abs",
    "Assumption",
    "Eq",
    "Ge",
    "Glossary",
    "Gt",
    "Le",
    "Lt",
    "Max",
    "Min",
    "Ne",
    "Product",
    "Rational",
    "Statement",
    "Sum",
    "UserError",
    "__version__",
    "certify",
    "derive",
    "exp",
    "lint",
    "load",
    "log",
    "plot",
    "sqrt",
    "statement",
    "statements",
]

_ALGEBRA = ("Abs", "Eq", "Ge", "Gt", "Le", "Lt", "Max", "Min", "Ne", "Product", "Rational", "Sum", "exp", "log", "sqrt")
_HOME = {
    **dict.fromkeys(_ALGEBRA, ".bounds.algebra"),
    **dict.fromkeys(("Assumption", "Glossary", "Statement"), ".bounds.statement"),
    **dict.fromkeys(("certify", "derive", "lint", "load", "plot", "statement", "statements"), ".api"),
    "UserError": ".errors",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedaudit")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
