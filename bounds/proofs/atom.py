"""What an atom is: a number that is not negative, what it charges and asks for, and how a proof file says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr
from sympy.logic.boolalg import Boolean

from ..language.assumptions import SIGN
from ..language.rule_parts import Number, Vector, scalars_of
from .frame import Frame
from .method_vectors import Reader
from .vectors import ANY, Charge, Over, Scalar, under_mean


@dataclass(frozen=True, slots=True)
class Client:
    """The letter of a client, where a field of an atom names one."""

    letter: object


Latex = Callable[[Any], str]  # how a vector or a formula is printed
Field = Vector | Client | Mapping[str, Any] | str | bool | Any  # of an atom in a file; everything else is a formula


class Atom:
    """A number that is not negative in expectation, and what has to be so for that.

    `kind` is the kernel's word for it, `parts` the fields that it has in a proof file (`constant=L`: its attribute L),
    `words` what it says, where the formulas of its points stand for their names in braces.
    `own`: it is about a client's own loss, so that it names the client also where all its points are shared.
    """

    __slots__ = ()
    kind: ClassVar[str]
    parts: ClassVar[str] = ""
    words: ClassVar[str] = ""
    own: ClassVar[bool] = True
    on_every_path: ClassVar[bool] = True  # also without expectations
    over: Over

    @property
    def number(self) -> Number:
        """The number itself. An atom that is no number of the method's language reads itself: see `read`."""
        raise NotImplementedError

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The assumptions that give it, each with its constants."""
        return ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules of the normal form that it takes: the mean of what is not negative is not, for weights that are."""
        return (SIGN,) if self.over == "mean" else ()

    @property
    def positive(self) -> tuple[Expr, ...]:
        """What has to be positive besides the denominators of its number."""
        return ()

    def said(self, latex: Latex) -> str:
        """What it says, in words, with formulas between dollar signs."""
        points = {name: latex(getattr(self, name)) for name in ("x", "y") if hasattr(self, name)}
        return self.words.format(**points)

    def fields(self, frame: Frame) -> dict[str, Field]:
        """What a proof file says of it besides its kind and what it is under; what is absent or 0 is left out."""
        named = (part.partition("=") for part in self.parts.split())
        values = {name: getattr(self, attribute or name) for name, _, attribute in named}
        present = {name: value for name, value in values.items() if value not in (None, False, "", 0)}
        return {name: True if isinstance(value, str) else value for name, value in present.items()}

    def of_client(self) -> bool:
        """Whether it is about a client's own loss."""
        return self.own

    def scalars(self) -> Iterator[object]:
        """Every formula that it speaks of."""
        return scalars_of(self.number)

    def denominators(self) -> Iterator[Expr]:
        """The formulas in which something may be divided by."""
        return scalars_of(self.number)

    def ranges(self, frame: Frame) -> Iterator[Boolean]:
        """The conditions on the indices at which it is used."""
        yield from ()

    def requires(self) -> Iterator[Boolean]:
        """Further conditions on its constants."""
        yield from ()

    def read(self, reader: Reader) -> Scalar:
        """The number as the proof's vectors give it, under its mean."""
        _, _, i, j = reader.frame.letters
        if self.over == "one":
            return reader.number(self.number, "base", str(i), str(j))
        return under_mean(reader.number(self.number, "base", ANY), self.over)


class Owed(Atom):
    """An atom that needs no assumption of its own; `owed` are those that a proof takes it from all the same."""

    __slots__ = ()
    owed: tuple[Charge, ...]

    @property
    def charges(self) -> tuple[Charge, ...]:
        return self.owed


class Plain(Atom):
    """An atom about weights and counts alone: it is no number of the method's language, and under no mean."""

    __slots__ = ()
    own = False

    def scalars(self) -> Iterator[object]:
        yield from ()

    def denominators(self) -> Iterator[Expr]:
        yield from ()
