"""What the names of lemmas 4 and 7 mean: one proximal step, and a direction of sampled devices."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import Any

from sympy import IndexedBase, Symbol

from ...frame import CHARGES, Frame
from ...method import Method, Number, expect, g, grad, inner, mean, norm2, point, prox, start, vector
from ...statement import Glossary
from ...vectors import DRAWN, EVEN, SIGN, SUM
from .symbols import (
    GLOSSARY,
    I,
    M,
    among,
    deviation,
    eta,
    f_plus,
    f_u,
    j,
    mean_d,
    moved2,
    plus_u2,
    sampled_d,
    u_w2,
)

around, beside = vector("w"), vector("u")
_plus = prox(around, eta)
_LETTERS, _SIZES = (Symbol("t"), Symbol("k"), Symbol("i"), Symbol("l")), (Symbol("E"), M)

ON_A_PROX = Frame(
    Method(
        id="prox",
        title="A proximal step from w on one function f, compared with u",
        cite="lemma 7, appendix B.2",
        glossary=GLOSSARY,
        server={around: start, beside: start},
        client={},
        measures={  # f stands where other methods have a regulariser
            f_plus: expect(g(_plus)),
            f_u: expect(g(beside)),
            moved2: expect(norm2(_plus - around)),
            u_w2: expect(norm2(beside - around)),
            plus_u2: expect(norm2(_plus - beside)),
        },
    ),
    {},
    _LETTERS,
    _SIZES,
    IndexedBase("p"),
)

direction = grad(vector("w_m", "w^{(m)}"))  # of a device, at its own point
_drawn, _all = mean(direction, over="sampled"), mean(direction)
_unit = point("unit")  # along coordinate j


def on_a_subset(glossary: Glossary, measures: dict[Any, Number], drawn: Any, of: Any) -> Frame:
    """Directions of all devices, and those of a uniform subset: that is what the setting is, and nothing assumed."""
    return Frame(
        Method(
            id="subset",
            title="Some of the devices' directions, drawn uniformly without replacement",
            cite="lemma 4, appendix B.1",
            glossary=glossary,
            server={},
            client={direction.args[0]: start},
            measures=measures,
        ),
        {},
        _LETTERS,
        (Symbol("E"), of),
        IndexedBase("p"),
        {**CHARGES, **dict.fromkeys((SUM, SIGN, EVEN, DRAWN))},
        even=True,
        sample=drawn,
    )


ON_A_SUBSET = on_a_subset(
    GLOSSARY,
    {
        sampled_d(j): expect(inner(_drawn, _unit)),
        mean_d(j): expect(inner(_all, _unit)),
        deviation: expect(norm2(_drawn - _all)),
        among: expect(mean(norm2(direction - _all))),
    },
    I,
    M,
)
