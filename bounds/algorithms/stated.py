"""What an algorithm box says beside its rules: who trains, and how clients are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sympy import Symbol
from sympy.core.function import UndefinedFunction

from ..language.method import Method
from ..language.rule_expressions import vector
from ..language.rule_parts import Vector
from ..language.statement import Formula, Glossary

__all__ = ["Sampling", "Stated", "symbols"]

Sampling = Literal["any", "uniform", "by weight"]


@dataclass(frozen=True, slots=True, eq=False)
class Stated:
    """A published algorithm: its box, whether clients that were not drawn train too, and the law of the sample."""

    method: Method
    everyone: bool = False
    sampling: Sampling = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Symbols:
    """The letters of the boxes: `x` is the server's model, `y` a client's, E its number of local steps."""

    glossary: Glossary
    t: Symbol
    gamma: UndefinedFunction  # local step size of round t
    E: Symbol
    C: Symbol
    m: Symbol
    E_mean: Symbol
    x: Vector
    y: Vector

    def scalar(self, name: str, dim: str, meaning: str) -> Formula:
        return self.glossary.symbol(name, dim, meaning)


def symbols() -> Symbols:
    """A glossary of its own for each box, with the letters that all of them share."""
    G = Glossary()
    G.count("T", "rounds")
    return Symbols(
        glossary=G,
        t=G.index("t", "round"),
        gamma=G.quantity("gamma", "W^2/F", "local step size of round t", positive=True),
        E=G.count("E", "local steps of the client"),
        C=G.count("C", "clients"),
        m=G.count("m", "sampled clients"),
        E_mean=G.symbol("E_mean", "1", "mean of the sampled clients' local steps, with their share of the data"),
        x=vector("x"),
        y=vector("y"),
    )
