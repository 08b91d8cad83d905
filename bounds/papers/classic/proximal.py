"""The proximal point method, and proximal gradient descent on a smooth function and a regulariser."""

from typing import Any

from ...language.algebra import Le
from ...language.statement import Statement
from .descent import LONG, ONE, SHORT, SMOOTH_CONVEX, STRONG, factor
from .methods import PROXIMAL_GRADIENT, PROXIMAL_POINT
from .symbols import GLOSSARY, L, T, dist2, gamma, gap, h, one_weight, over, step, t

SHORTER: dict[str, Any] = SHORT | {"method": PROXIMAL_GRADIENT}
LONGER: dict[str, Any] = LONG | {"method": PROXIMAL_GRADIENT}

POINT = Statement(
    id="classic/proximal-point", kind="inequality", title="Proximal point method on convex functions",
    let=(one_weight,),
    cite="Taylor, Hendrickx and Glineur 2017 (SIAM J. Optim. 27), theorem 4.1: R^2/(4 gamma N), attained by |x|",
    method=PROXIMAL_POINT, glossary=GLOSSARY, choose={gamma(t): step}, when=ONE,
    then=Le(over(T), dist2(0) / (4 * step * T)),
    reading=(
        "the convex function is the regulariser g, whose proximal points a run has; f does not enter the method",
        "x* minimises f + g, so that it may be any point; f = 0 is the classical case, and attains the bound",
    ),
)  # fmt: skip
COMPOSITE = Statement(
    id="classic/proximal-gradient", title="Proximal gradient method on convex functions", let=SMOOTH_CONVEX,
    cite="Taylor, Hendrickx and Glineur 2017 (SIAM J. Optim. 27), section 4.2: L R^2/(4 N h) for h in (0, 1]",
    then=Le(gap(T), L * dist2(0) / (4 * T * h)), **SHORTER,
)  # fmt: skip
CONTRACTION = Statement(
    id="classic/proximal-gradient-contraction", title="Contraction of the proximal gradient method", let=STRONG,
    cite="Taylor, Hendrickx and Glineur 2018, theorem 3.1: max((1 - gamma mu)^2, (1 - gamma L)^2)^N",
    then=Le(dist2(T), factor * dist2(0)), **LONGER,
)  # fmt: skip
CONTRACTION_VALUE = Statement(
    id="classic/proximal-gradient-contraction-gap", title="The same in value", let=STRONG,
    cite="Taylor, Hendrickx and Glineur 2018, theorem 3.3",
    then=Le(gap(T), factor * gap(0)), **LONGER,
)  # fmt: skip
