"""Theorems in a test suite of your own: `@theorem`, `fedaudit_check`, and Hypothesis' `instances`.

    import fedaudit as fa
    from hypothesis import given

    @fa.theorem("my_paper.py::li/thm1")  # or a Statement of this file
    def test_theorem_1(verdict):  # `verdict` may be left out
        assert verdict.tightness > 0.5

    def test_lemma_3():
        fa.fedaudit_check(LEMMA_3, budget=20)

    @given(fa.instances(LEMMA_3))
    def test_lemma_3_on_any_instance(instance):
        instance.check()

A refutation fails the test, prints the counterexample and writes its certificate into `--fedaudit-out`. A claim that
could not be attacked fails too: it has not survived anything.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedaudit.output import Json

from ..errors import UserError
from .testing_options import BUDGET, options

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fedaudit.bounds.language.method import Method
    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.conform.diagnosis import Conformity
    from fedaudit.verify.results.verdicts import Verdict

__all__ = [
    "Instance",
    "NotAttacked",
    "NotConforming",
    "Refutation",
    "fedaudit_check",
    "fedaudit_conform",
    "instances",
    "theorem",
]

SMALL, FEW = 16, 16  # size (clients × dimension × steps) of an instance that Hypothesis draws, and its outcomes


class Refutation(AssertionError):
    """A counterexample that the exact kernel accepts; `certificate` is its data, `path` where it was written."""

    def __init__(self, text: str, certificate: Json, path: Path) -> None:
        super().__init__(text)
        self.certificate, self.path = certificate, path


class NotAttacked(AssertionError):
    """Neither refuted nor survived, and why."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An admissible exact instance: its data, the index where it comes closest, both sides there, and whether it
    holds. Decided in rational arithmetic.
    """

    statement: Statement
    certificate: Json = field(repr=False)
    holds: bool

    def check(self) -> None:
        """Raises `Refutation` where the statement fails, and writes the certificate."""
        __tracebackhide__ = True
        if not self.holds:
            raise _refutation(self.statement, self.certificate, None)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In words, also where Hypothesis prints it."""
        del cycle
        printer.text(repr(self))

    def __repr__(self) -> str:
        from fedaudit.figures.words.plain_text import counterexample

        lines = counterexample(self.certificate, self.statement, self.holds)
        where = f"where it {'holds' if self.holds else 'FAILS'}:"
        return "\n  ".join([f"an instance of {self.statement.id}, {where}", *lines])


def theorem(
    claim: Statement | str, *, budget: float | None = None, seed: int = 0
) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """A test that attacks a statement, then runs the function, which may take the `verdict`.

    >>> import fedaudit as fa
    >>> @fa.theorem("buttaci/appA-strong-second~repaired", budget=0.1)
    ... def test_it(verdict):
    ...     print(verdict.verdict)
    >>> test_it()
    survived
    """

    def decorate(function: Callable[..., object]) -> Callable[..., None]:
        parameters = inspect.signature(function).parameters
        wants = "verdict" in parameters
        folder = Path(inspect.getfile(function)).parent

        @functools.wraps(function)
        def attacked(*args: object, **kwargs: object) -> None:
            __tracebackhide__ = True
            verdict = fedaudit_check(_beside(folder, claim), budget=budget, seed=seed)
            function(*args, **kwargs, **({"verdict": verdict} if wants else {}))

        rest = [parameter for name, parameter in parameters.items() if name != "verdict"]
        attacked.__dict__["__signature__"] = inspect.Signature(rest)  # what is left is for pytest's fixtures
        return attacked

    return decorate


def fedaudit_check(
    claim: Statement | str, *, budget: float | None = None, seed: int = 0, out: str | os.PathLike[str] | None = None
) -> Verdict:
    """Try to break a statement for `budget` nominal seconds (default 5; `--fedaudit-budget` wins).

    Raises `Refutation` with the shrunken counterexample, and `NotAttacked` where nothing could be tried.

    >>> import fedaudit as fa
    >>> fa.fedaudit_check("buttaci/appA-strong-second~repaired", budget=0.1).verdict
    'survived'
    """
    __tracebackhide__ = True
    from fedaudit.bounds.catalogue.discovery import given
    from fedaudit.verify.moves.audit import hunt
    from fedaudit.verify.results.verdicts import Refuted, Survived
    from fedaudit.verify.settings.runs.limits import memory

    from ..running.runner import one_thread

    one_thread()
    statement = given(claim)
    verdict = hunt(statement, seed, options().budget or budget or BUDGET, memory=memory(options().memory))
    match verdict:
        case Refuted():
            raise _refutation(statement, verdict.certificate, out, claim)
        case Survived():
            return verdict
        case _:
            raise NotAttacked(f"{statement.id} is {verdict.verdict}: {verdict.reason or 'no reason known'}")


class NotConforming(AssertionError):
    """A run is not the stated algorithm; `answer` says where it leaves it and what it is instead."""

    def __init__(self, answer: Conformity) -> None:
        super().__init__(str(answer))
        self.answer = answer


def fedaudit_conform(method: Method | str, run: Any, **options: Any) -> Conformity:
    """`fa.conform`, as an assertion: raises `NotConforming` where the run is not the stated algorithm.

    >>> import fedaudit as fa
    >>> from fedaudit.api.testing import fedaudit_conform
    >>> run = {"x": [[1.0], [0.5]], "y": [[[0.5], [0.5]]], "gamma": 0.1}
    >>> fedaudit_conform("fedavg", run).conforms
    True
    """
    __tracebackhide__ = True
    from .conformance import conform

    answer = conform(method, run, **options)
    if not answer.conforms:
        raise NotConforming(answer)
    return answer


def instances(claim: Statement | str) -> SearchStrategy[Instance]:
    """Hypothesis' strategy of admissible exact instances, small ones; they shrink to one client and short numbers.

    >>> import fedaudit as fa
    >>> from hypothesis import strategies as st
    >>> isinstance(fa.instances("buttaci/lem4.1"), st.SearchStrategy)
    True
    """
    try:
        from hypothesis import assume
        from hypothesis import strategies as st
    except ImportError:
        raise UserError("no hypothesis", "it to be installed", "run `pip install hypothesis`") from None
    from fedaudit.bounds.catalogue.discovery import given
    from fedaudit.verify.moves.audit import read
    from fedaudit.verify.search.rationalise import certificate, replay
    from fedaudit.verify.search.score import genes_of

    from .strategies import values

    statement = given(claim)
    if statement.kind not in ("inequality", "identity") or statement.quoted:
        expected = "an inequality or an identity about all instances"
        raise UserError(f"{statement.id}, {statement.kind}", expected, "use `fedaudit_check`")
    reading, world = read(statement)
    all_shapes = list(world.shapes(reading))
    small = [s for s in all_shapes if s.cost <= SMALL and world.paths(s) <= FEW]
    shapes = sorted(small, key=lambda s: s.cost) or all_shapes[:1]
    if not shapes:
        raise UserError(f"{statement.id}, whose sizes no short run has", "some", "use `fedaudit_check`")

    @st.composite
    def made(draw: Callable[[SearchStrategy[Any]], Any]) -> Instance:
        shape = draw(st.sampled_from(shapes))
        genome = {gene.name: draw(values(gene)) for gene in genes_of(reading, world, shape)}
        replayed = replay(reading, world, shape, genome)
        assume(replayed is not None)
        assert replayed is not None
        return Instance(statement, certificate(reading, replayed), replayed.holds)

    return made()


def _refutation(
    statement: Statement,
    certificate: Json,
    out: str | os.PathLike[str] | None,
    claim: Statement | str | None = None,
) -> Refutation:
    """The failure: the counterexample in words, and its certificate on disk."""
    from fedaudit.bounds.catalogue.discovery import file_of
    from fedaudit.figures.words.plain_text import counterexample
    from fedaudit.verify.results.file_names import slug

    from ..running.files import write

    path = Path(options().out if out is None else out) / f"{slug(statement.id)}.json"
    write(path, json.dumps(certificate, indent=1))
    source = claim.partition("::")[0] if isinstance(claim, str) and file_of(claim) else _source(statement)
    again = f"check it again: fedaudit certify {f'{source} ' if source else ''}{path}"
    lines = [*counterexample(certificate, statement), f"certificate: {path}", again]
    return Refutation("\n  ".join([f"{statement.id} is refuted, in exact arithmetic", *lines]), certificate, path)


def _source(statement: Statement) -> str:
    """The file whose top level holds the statement; nothing for one of the catalogue or of a function."""
    for module in list(sys.modules.values()):
        file = str(getattr(module, "__file__", None) or "")
        if file and any(value is statement for value in list(vars(module).values())):
            inside = module.__name__.startswith("fedaudit.bounds.")
            return "" if inside else os.path.relpath(file)
    return ""


def _beside(folder: Path, claim: Statement | str) -> Statement | str:
    """A path of a `.py` file is read from the folder of the test, where it is not found from here."""
    if not isinstance(claim, str) or not claim.partition("::")[0].endswith(".py"):
        return claim
    path, colons, name = claim.partition("::")
    near = folder / path
    return f"{near}{colons}{name}" if not Path(path).is_file() and near.is_file() else claim
