"""Audits the convergence theory of federated optimisation: proved, refuted with an exact counterexample, or survived.

    import fedaudit as fa

    claim = fa.statement("buttaci/lem4.1")  # or fa.statements("yuan/thm*"), or fa.load("my_paper.py")
    claim.bound(E=5, G=2, gamma="1/100").value  # its right-hand side in numbers
    fa.lint(claim), fa.derive(claim), fa.plot(claim)  # results have `to_records()`, and are tables in a notebook
    fa.simulate("fedprox", fa.Problem.quadratic(A, b), rounds=100, steps=5, gamma=0.1, alpha=0)  # on data of your own
    match fa.hunt(claim, budget=10):  # also fa.verify, fa.audit; each verdict has a `row()`
        case fa.Refuted(certificate=found): ...
        case fa.Survived(tightness=ratio): ...

To write a claim: `Statement`, `Assumption`, `Glossary`, and the names of the algebra (`Le`, `Sum`, `Min`, `sqrt`, …);
to write a method: `Method`, `vector`, `grad`, `noisy`, `mean`, … (see examples/scaffold.py).
What you got wrong is a `UserError`. Names are loaded when they are asked for:
`import fedaudit` itself loads no module that does anything.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import verify as _rooms

if TYPE_CHECKING:
    from fedaudit.bounds.catalogue.bound_values import Bound
    from fedaudit.bounds.language.algebra import (
        Abs,
        Eq,
        Ge,
        Gt,
        Le,
        Lt,
        Max,
        Min,
        Ne,
        Product,
        Rational,
        Sum,
        exp,
        log,
        sqrt,
    )
    from fedaudit.bounds.language.knobs import free, unit
    from fedaudit.bounds.language.method import Method
    from fedaudit.bounds.language.rule_expressions import (
        F,
        axis,
        batch_grad,
        chosen,
        coin,
        conjugate,
        expect,
        f,
        f_i,
        f_i_star,
        f_star,
        full_grad,
        full_prox,
        g,
        grad,
        hess,
        in_turn,
        inner,
        largest,
        least,
        mean,
        mean_norm2,
        most,
        neighbours,
        noisy,
        noisy_hess,
        norm,
        norm2,
        oracle,
        other,
        own,
        picked,
        picked_step,
        point,
        prox,
        ratio,
        smaller,
        softmax,
        start,
        training_prox,
        variance,
        vector,
        w_i_star,
        w_star,
        weight,
    )
    from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
    from fedaudit.problems.runs.user_problem import Problem
    from fedaudit.verify.certify.command import Certified
    from fedaudit.verify.conform.diagnosis import Conformity
    from fedaudit.verify.conform.run_log import RunLog
    from fedaudit.verify.recorded.answer import Checked
    from fedaudit.verify.recorded.client_data import ClientData
    from fedaudit.verify.results.audit_result import Audited, Derivation, Linted
    from fedaudit.verify.results.verdicts import (
        NotReproduced,
        Proved,
        Refuted,
        Reproduced,
        ReproducedIf,
        Survived,
        Undecided,
        Verdict,
    )
    from fedaudit.verify.worst.worst import Worst

    from .api.conformance import conform, tasks
    from .api.moves import audit, certify, derive, hunt, lint, load, plot, prove, statement, statements, worst
    from .api.recorded import check
    from .api.simulation import Trajectories, simulate
    from .api.testing import fedaudit_check, instances, theorem
    from .errors import UserError
    from .progress import Wanted

    __version__: str

__all__ = [
    "Abs",
    "Assumption",
    "Audited",
    "Bound",
    "Certified",
    "Checked",
    "ClientData",
    "Conformity",
    "Derivation",
    "Eq",
    "F",
    "Ge",
    "Glossary",
    "Gt",
    "Le",
    "Linted",
    "Lt",
    "Max",
    "Method",
    "Min",
    "Ne",
    "NotReproduced",
    "Problem",
    "Product",
    "Proved",
    "Rational",
    "Refuted",
    "Reproduced",
    "ReproducedIf",
    "RunLog",
    "Statement",
    "Sum",
    "Survived",
    "Trajectories",
    "Undecided",
    "UserError",
    "Worst",
    "__version__",
    "audit",
    "axis",
    "batch_grad",
    "certify",
    "check",
    "chosen",
    "coin",
    "conform",
    "conjugate",
    "derive",
    "exp",
    "expect",
    "f",
    "f_i",
    "f_i_star",
    "f_star",
    "fedaudit_check",
    "free",
    "full_grad",
    "full_prox",
    "g",
    "grad",
    "hess",
    "hunt",
    "in_turn",
    "inner",
    "instances",
    "largest",
    "least",
    "lint",
    "load",
    "log",
    "mean",
    "mean_norm2",
    "most",
    "neighbours",
    "noisy",
    "noisy_hess",
    "norm",
    "norm2",
    "oracle",
    "other",
    "own",
    "picked",
    "picked_step",
    "plot",
    "point",
    "prove",
    "prox",
    "ratio",
    "simulate",
    "smaller",
    "softmax",
    "sqrt",
    "start",
    "statement",
    "statements",
    "tasks",
    "theorem",
    "training_prox",
    "unit",
    "variance",
    "vector",
    "verify",
    "w_i_star",
    "w_star",
    "weight",
    "worst",
]

_ALGEBRA = ("Abs", "Eq", "Ge", "Gt", "Le", "Lt", "Max", "Min", "Ne", "Product", "Rational", "Sum", "exp", "log", "sqrt")
_API = ("audit", "certify", "derive", "hunt", "lint", "load", "plot", "prove", "statement", "statements", "worst")
_VERDICTS = ("NotReproduced", "Proved", "Refuted", "Reproduced", "ReproducedIf", "Survived", "Undecided")
_HOME = {
    **dict.fromkeys(__all__, ".bounds.language.rule_expressions"),  # where most names are, but for those below
    **dict.fromkeys(_ALGEBRA, ".bounds.language.algebra"),
    "Method": ".bounds.language.method",
    **dict.fromkeys(("Assumption", "Glossary", "Statement"), ".bounds.catalogue.statement_services"),
    **dict.fromkeys(("free", "unit"), ".bounds.language.knobs"),
    **dict.fromkeys(_API, ".api.moves"),
    **dict.fromkeys(("fedaudit_check", "instances", "theorem"), ".api.testing"),
    **dict.fromkeys(_VERDICTS, ".verify.results.verdicts"),
    **dict.fromkeys(("Audited", "Derivation", "Linted"), ".verify.results.audit_result"),
    "Certified": ".verify.certify.command",
    "Conformity": ".verify.conform.diagnosis",
    "RunLog": ".verify.conform.run_log",
    "Checked": ".verify.recorded.answer",
    "ClientData": ".verify.recorded.client_data",
    "check": ".api.recorded",
    **dict.fromkeys(("conform", "tasks"), ".api.conformance"),
    "Bound": ".bounds.catalogue.bound_values",
    "Problem": ".problems.runs.user_problem",
    "Trajectories": ".api.simulation",
    "simulate": ".api.simulation",
    "UserError": ".errors",
    "Worst": ".verify.worst.worst",
}


def verify(
    claim: Statement | str,
    *,
    seed: int = 0,
    budget: float = 10.0,
    backend: str = "numpy",
    memory: str = "2GB",
    thorough: bool = False,
    progress: Wanted = None,
) -> Verdict:
    """Does it hold on real trajectories? `budget` is nominal seconds; the same seed gives the same verdict.

    `memory`: what its arrays may take; sizes that need more are not tried, and the verdict's search says so.
    `progress`: False for silence, True for a line now and then, or a function of (what, done, total).

    >>> import fedaudit as fa
    >>> fa.verify("buttaci/appA-strong-second~repaired", budget=0.1).verdict
    'survived'
    """
    from .api import moves

    return moves.verify(
        claim, seed=seed, budget=budget, backend=backend, memory=memory, thorough=thorough, progress=progress
    )


# `fedaudit.verify` names a folder of the package and a function for users. The folder, which holds nothing but its
# sentence, was imported above, so that Python does not put it in the function's place later; and the function has the
# folder's names (as soon as they are imported), so that `fedaudit.verify.kernel` is what the import statement means.
verify.__dict__ = vars(_rooms)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fedaudit")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
