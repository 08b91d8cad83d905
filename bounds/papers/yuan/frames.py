"""What the names of lemmas 4 and 7 mean: one proximal step, and a direction of sampled devices."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from sympy import IndexedBase

from ...frame import Frame
from ...method import Method, expect, g, inner, mean, norm2, point, prox, start, vector
from ...subset import LETTERS, direction, on_a_subset, sizes
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
    LETTERS,
    sizes(M),
    IndexedBase("p"),
)

_drawn, _all = mean(direction, over="sampled"), mean(direction)
_unit = point("unit")  # along coordinate j

ON_A_SUBSET = on_a_subset(
    "lemma 4, appendix B.1",
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
