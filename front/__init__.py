"""Audits the convergence theory of federated optimisation: proved, refuted with an exact counterexample, or survived.

    import fedaudit as fa

    claim = fa.statement("buttaci/lem4.1")  # or fa.statements("yuan/thm*"), or fa.load("my_paper.py")
    fa.lint(claim), fa.derive(claim), fa.plot(claim)
    match fa.hunt(claim, budget=10):  # also fa.verify, fa.audit; each verdict has a `row()`
        case fa.Refuted(certificate=found): ...
        case fa.Survived(tightness=ratio): ...

To write a claim: `Statement`, `Assumption`, `Glossary`, and the names of the algebra (`Le`, `Sum`, `Min`, `sqrt`, …).
What you got wrong is a `UserError`. Names are loaded when they are asked for: `import fedaudit` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedaudit.bounds.algebra import Abs, Eq, Ge, Gt, Le, Lt, Max, Min, Ne, Product, Rational, Sum, exp, log, sqrt
    from fedaudit.bounds.statement import Assumption, Glossary, Statement
    from fedaudit.verify.audited import Audited
    from fedaudit.verify.verdict import NotReproduced, Proved, Refuted, Reproduced, ReproducedIf, Survived, Undecided

    from . import verify
    from .api import audit, certify, derive, hunt, lint, load, plot, statement, statements
    from .errors import UserError

    __version__: str

__all__ = [
    "Abs",
    "Assumption",
    "Audited",
    "Eq",
    "Ge",
    "Glossary",
    "Gt",
    "Le",
    "Lt",
    "Max",
    "Min",
    "Ne",
    "NotReproduced",
    "Product",
    "Proved",
    "Rational",
    "Refuted",
    "Reproduced",
    "ReproducedIf",
    "Statement",
    "Sum",
    "Survived",
    "Undecided",
    "UserError",
    "__version__",
    "audit",
    "certify",
    "derive",
    "exp",
    "hunt",
    "lint",
    "load",
    "log",
    "plot",
    "sqrt",
    "statement",
    "statements",
    "verify",
]

_ALGEBRA = ("Abs", "Eq", "Ge", "Gt", "Le", "Lt", "Max", "Min", "Ne", "Product", "Rational", "Sum", "exp", "log", "sqrt")
_API = ("audit", "certify", "derive", "hunt", "lint", "load", "plot", "statement", "statements")
_VERDICTS = ("NotReproduced", "Proved", "Refuted", "Reproduced", "ReproducedIf", "Survived", "Undecided")
_HOME = {
    **dict.fromkeys(_ALGEBRA, ".bounds.algebra"),
    **dict.fromkeys(("Assumption", "Glossary", "Statement"), ".bounds.statement"),
    **dict.fromkeys(_API, ".api"),
    **dict.fromkeys(_VERDICTS, ".verify.verdict"),
    "Audited": ".verify.audited",
    "UserError": ".errors",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedaudit")
    if name == "verify":  # a room and a move: the module can be called
        return import_module(".verify", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
