"""What the names of lemmas 4 and 7 mean: one proximal step, and a direction of sampled devices."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from sympy import IndexedBase, Symbol

from ...frame import Frame
from ...method import Method, expect, g, norm2, prox, start, vector
from .symbols import GLOSSARY, eta, f_plus, f_u, m, moved2, plus_u2, u_w2

around, beside = vector("w"), vector("u")
_plus = prox(around, eta)
_LETTERS, _SIZES = (Symbol("t"), Symbol("k"), m, Symbol("j")), (Symbol("E"), Symbol("C"))

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
