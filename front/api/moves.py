"""What `import fedaudit` offers, beside the names to write a statement with. A statement may be given by its id.

The moves answer with types that have `row()`, `to_records()` and, in a notebook, a table. There and on a terminal,
`verify`, `hunt`, `audit` and `simulate` say how far they are; `progress=True` says it anywhere, `progress=False`
nowhere, and `progress=f` calls f(what, done, total) instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from fedaudit.bounds.catalogue import discovery as catalogue
from fedaudit.bounds.language.statement import Statement
from fedaudit.output import Json

from ..errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fedaudit.bounds.language.symbol_values import Given
    from fedaudit.figures.drawing import Style
    from fedaudit.verify.certify.command import Certified
    from fedaudit.verify.prover.finder import Found, NotFound
    from fedaudit.verify.results.audit_result import Audited, Derivation, Linted
    from fedaudit.verify.results.verdicts import Verdict
    from fedaudit.verify.worst.worst import Worst

    from ..progress import Wanted

__all__ = ["audit", "certify", "derive", "hunt", "lint", "load", "plot", "prove", "statement", "statements", "worst"]


def statement(identifier: str) -> Statement:
    """The one statement with this id; also `my_paper.py::id`.

    >>> import fedaudit as fa
    >>> fa.statement("buttaci/lem4.1").title
    'FedProx: local deviation in one round'
    """
    return catalogue.given(identifier)


def statements(*selectors: str) -> list[Statement]:
    """What the selectors name: papers, ids, globs, paths of Python files; none means all.

    >>> import fedaudit as fa
    >>> [claim.id for claim in fa.statements("buttaci/lem4.[12]")]
    ['buttaci/lem4.1', 'buttaci/lem4.2']
    """
    return catalogue.find(selectors)


def load(path: str | PathLike[str]) -> list[Statement]:
    """The statements of a Python file; `my.py::id` is one of them.

    >>> import pathlib, tempfile, fedaudit as fa
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.py"
    >>> _ = path.write_text("import fedaudit as fa\\nMINE = fa.statement('buttaci/lem4.1')")
    >>> [claim.id for claim in fa.load(path)]
    ['buttaci/lem4.1']
    """
    name = fspath(path)
    if not catalogue.file_of(name):
        raise UserError(name, "a file that ends in .py", "rename it")
    return catalogue.find([name])


def lint(claim: Statement | str) -> Linted:
    """Does it make sense? What is wrong, by rule.

    >>> import fedaudit as fa
    >>> [finding.rule for finding in fa.lint("yuan/lem5")]
    ['dimension']
    """
    from fedaudit.bounds.lint.checks import lint as look
    from fedaudit.verify.results.audit_result import Linted

    statement = catalogue.given(claim)
    return Linted(statement.id, look(statement, catalogue.catalogue([statement])))


def derive(claim: Statement | str) -> Derivation:
    """Does it follow from what it cites? Step by step.

    >>> import fedaudit as fa
    >>> fa.derive("buttaci/lemB.1-kappa").status
    'follows'
    """
    from fedaudit.bounds.lint.wellformed import check
    from fedaudit.bounds.proofs.derivation_check import derive as decide
    from fedaudit.verify.moves.kernel_proof import prove
    from fedaudit.verify.results.audit_result import Derivation

    statement = catalogue.given(claim)
    check(statement)
    statements = catalogue.catalogue([statement])
    derivation = decide(statement, statements)
    proof = prove(statement, statements) if derivation.proved else None
    return Derivation(statement, derivation, proof=proof, known=statements)


def prove(claim: Statement | str, *, budget: float = 30.0) -> Found | NotFound:
    """Look for a proof that nobody wrote; what it says of itself is not looked at. Only the kernel calls it proved.

    >>> import fedaudit as fa
    >>> fa.prove("classic/gd-fall").status
    'proved'
    """
    from fedaudit.bounds.lint.wellformed import check
    from fedaudit.verify.prover.finder import search

    statement = catalogue.given(claim)
    check(statement)
    return search(statement, budget)


def hunt(
    claim: Statement | str,
    *,
    seed: int = 0,
    budget: float = 10.0,
    backend: str = "numpy",
    memory: str = "2GB",
    thorough: bool = False,
    progress: Wanted = None,
) -> Verdict:
    """Can it be broken? `budget` is nominal seconds; the same seed gives the same verdict.

    `memory`: what its arrays may take; sizes that need more are not tried, and the verdict's search says so.
    `thorough`: every kind of run, and a long search, also of what has fallen already.
    `progress`: False for silence, True for a line now and then, or a function of (what, done, total).

    >>> import fedaudit as fa
    >>> match fa.hunt("buttaci/appA-strong-second", budget=0.1):
    ...     case fa.Refuted(certificate=counterexample):
    ...         print(counterexample["statement"])
    buttaci/appA-strong-second
    """
    from fedaudit.verify.moves.audit import hunt as search
    from fedaudit.verify.settings.runs.limits import memory as in_bytes

    from ..progress import watched

    statement = catalogue.given(claim)
    with watched(f"hunt {statement.id}", progress):
        return search(statement, seed, budget, backend, in_bytes(memory), thorough)


def verify(
    claim: Statement | str, *, seed: int, budget: float, backend: str, memory: str, thorough: bool, progress: Wanted
) -> Verdict:
    """Does it hold on real trajectories? This is `fedaudit.verify`, which says what is asked."""
    from fedaudit.verify.moves.audit import verify as search
    from fedaudit.verify.settings.runs.limits import memory as in_bytes

    from ..progress import watched

    statement = catalogue.given(claim)
    with watched(f"verify {statement.id}", progress):
        return search(statement, seed, budget, backend, in_bytes(memory), thorough)


def audit(
    claim: Statement | str,
    *,
    seed: int = 0,
    budget: float = 120.0,
    backend: str = "numpy",
    memory: str = "2GB",
    thorough: bool = False,
    progress: Wanted = None,
) -> Audited:
    """All moves on one statement. (`fedaudit audit` reads the rows of many together: a proof stands on proved ones.)

    >>> import fedaudit as fa
    >>> fa.audit("buttaci/appA-strong-second", budget=0.2).repaired
    'buttaci/appA-strong-second~repaired'
    """
    from fedaudit.verify.moves.audit import audit as all_moves
    from fedaudit.verify.settings.runs.limits import memory as in_bytes

    from ..progress import watched

    statement = catalogue.given(claim)
    with watched(f"audit {statement.id}", progress):
        return all_moves(statement, seed, budget, backend, in_bytes(memory), thorough)


def certify(certificate: str | PathLike[str] | Json, *sources: str | PathLike[str]) -> Certified:
    """Is that really a counterexample? A file or its data; `sources` are Python files with statements of your own.

    >>> import fedaudit as fa
    >>> fa.certify({"format": "none"}).accepted
    False
    """
    from fedaudit.verify.certify.command import Certified, certify_files
    from fedaudit.verify.certify.command import certify as judge

    from ..running.store import own_rows

    names = [fspath(source) for source in sources]
    if isinstance(certificate, Mapping):
        return Certified.of(judge(dict(certificate), "certificate", names))
    rows = certify_files([fspath(certificate), *names], owned=own_rows)
    if len(rows) != 1:
        raise UserError(f"{fspath(certificate)} with {len(rows)} to judge", "one certificate", "name one file")
    return Certified.of(rows[0])


def plot(
    claim: Statement | str,
    *,
    compare: Sequence[Statement | str] = (),
    axes: Axes | None = None,
    style: Style = "page",
    seed: int = 0,
    **values: Given | Iterable[Given],
) -> Axes:
    """Its runs against its bound, on matplotlib axes; at constants of your own where any are given.

    Several values of a constant, or other statements to `compare`, stand in one picture. `axes`: yours, where they
    are to be drawn with your settings; `style="paper"`: one column wide, without titles.
    `fa.plot("my_paper.py::li/thm1", L=10, mu=1, E=[1, 5], T=200, style="paper").figure.savefig("thm1.pdf")`

    >>> import fedaudit as fa
    >>> axes = fa.plot("buttaci/lem4.1")
    >>> len(axes.lines) > 0
    True
    """
    from fedaudit.bounds.language.symbol_values import points, told

    from ..picture_files import Request

    statements = [catalogue.given(one) for one in (claim, *compare)]
    request = Request(statements, points(told(values)), seed, style)
    return request.on(axes) if axes is not None else request.figure()[0].axes[0]


def worst(
    claim: Statement | str,
    *,
    measure: str | None = None,
    scale: str | None = None,
    solver: str | None = None,
    **values: Given,
) -> Worst:
    """The worst case at these values, over all functions of the class and all dimensions, from both sides.

    Of several relations, the one that is worst. With `measure` and `scale`, of a method that `claim` names:
    `fa.worst("my.py::gd", measure="gap(T)", scale="dist2(0)", L=3, mu=0, gamma="1/3", T=4)`.
    `solver`: who proposes in floats, by the name that cvxpy has for it; clarabel if none is named.

    >>> import fedaudit as fa
    >>> made = fa.worst("buttaci/thm4.1-I", L=2, mu=1, alpha=1, C=1, E=1, T=1)
    >>> 0.156 < float(made.lower) <= float(made.upper) < 0.157
    True
    """
    from fedaudit.bounds.language.symbol_values import points, told

    from ..commands.worst import answered

    chosen = points(told(values))
    if len(chosen) != 1:
        raise UserError(f"{len(chosen)} combinations of values", "one value for each symbol", "ask for each of them")
    _, found = answered(claim, chosen[0], measure, scale, solver)
    return max(found, key=lambda one: one.estimate or 0.0)
