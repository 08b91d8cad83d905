"""Runs that an order claim of the thesis speaks of in closed form, as exact instances."""

from fractions import Fraction
from math import isqrt
from typing import Any

from ...language.algebra import Eq
from ...language.statement import Form, Statement
from .methods import FEDPROX
from .symbols import GLOSSARY, T, first_slope, full_participation, slope2, smooth

SIZES = tuple((Fraction(L), Fraction(a), Fraction(g), T) for L, a, g, T in ((1, 1, 1, 1), (2, 1, 3, 4), (1, 5, 2, 16)))


def parabola(L: Fraction, prox: Fraction, g: Fraction, rounds: int) -> dict[str, Any]:
    """One client with f = L w^2/2, from g/L, with the step of theorem 4.3 (I); the number of rounds is a square."""
    return {
        **{"C": 1, "d": 1, "E": 1, "T": rounds, "p": ["1"], "w0": [str(g / L)]},
        "constants": {"L": str(L)},
        "parameters": {"alpha": str(prox), "g": str(g)},
        "clients": [{"kind": "quadratic", "A": [[str(L)]], "b": ["0"]}],
        "noise": {"kind": "none"},
        "steps": {"gamma": [str(1 / (2 * (L + prox) * isqrt(rounds)))] * rounds},
    }


def first_term() -> Form:
    """|grad f(w_{0,0})|^2 = g^2 on that run."""
    identity = Statement(
        id="buttaci/sec4.2-each-term~run",
        kind="identity",
        title="The first squared gradient of a run",
        cite="buttaci/sec4.2-each-term",
        method=FEDPROX,
        glossary=GLOSSARY,
        let=(full_participation, smooth),
        then=Eq(T * slope2(0, 0), T * first_slope**2),
    )
    return Form(identity, tuple({"instance": parabola(*size), "at": {"relation": 0}} for size in SIZES))
