"""One notation for all of these theorems; T is the number N of steps that they speak of."""

from ...language.algebra import Eq, Le
from ...language.statement import Assumption, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

T = _n("T", "steps", "N")
E = _n("E", "steps per round")
C = _n("C", "clients")
t = GLOSSARY.index("t", "step")
s = GLOSSARY.index("s", "an earlier step")

L = _s("L", "F/W^2", "smoothness")
mu = _s("mu", "F/W^2", "strong convexity", r"\mu")
M = _s("M", "F/W", "bound on the subgradients that are met")
eps = _s("eps", "1", "how large an error is, against the gradient", r"\varepsilon")
h = _s("h", "1", "length of a step, times L")
step = _s("step_size", "W^2/F", "the step size of every step", r"\gamma")
q = _s("q", "1", "at most sqrt(mu/L)")
last = _s("last", "1", "weight of the last point", r"\theta_N")
young = _s("theta", "1", "any positive number: how Young's inequality is weighted", r"\theta")

gamma = _q("gamma", "W^2/F", "step size", r"\gamma_{{{0}}}", positive=True)
pull = _q("pull", "1", "weight of the gradient of step t", "a_{{{0}}}", positive=True)

gap = _q("gap", "F", "f(x_t) - f*", r"f(x_{{{0}}}) - f^*", nonnegative=True)
best = _s("best", "F", "the least f(x_s) - f* of x_0, ..., x_N", r"\min_s f(x_s) - f^*", nonnegative=True)
level = _q("level", "F", "f(x_t)", r"f(x_{{{0}}})")
dist2 = _q("dist2", "W^2", "|x_t - x*|^2", r"\|x_{{{0}}} - x^*\|^2", nonnegative=True)
grad2 = _q("grad2", "F^2/W^2", "|grad f(x_t)|^2", r"\|\nabla f(x_{{{0}}})\|^2", nonnegative=True)
across = _q(
    "across", "F", "<grad f(x_t), x_(t-1) - x_t>: 0 where f is least along the step",
    r"\langle\nabla f(x_{{{0}}}), x_{{{0} - 1}} - x_{{{0}}}\rangle",
)  # fmt: skip
over = _q("over", "F", "g(x_t) - g(x*)", r"g(x_{{{0}}}) - g(x^*)")
error2 = _q("error2", "F^2/W^2", "|error of the gradient of step t|^2", r"\|e_{{{0}}}\|^2", nonnegative=True)
star2 = _q(
    "star2", "F^2/W^2", "mean of |grad f_i(x*)|^2 over the clients: heterogeneity",
    r"\textstyle\sum_i p_i\|\nabla f_i(x^*)\|^2", nonnegative=True,
)  # fmt: skip

smooth = Assumption("smooth", (L,), "f is L-smooth")
convex = Assumption("convex", (), "f is convex")
strongly_convex = Assumption("strongly_convex", (mu,), "f is mu-strongly convex")
subgradients = Assumption("subgradients", (), "the method is given any subgradient, where f has no gradient")
one_weight = Assumption("weights_sum_to_one", (), "the one client has weight 1")
relative_errors = Assumption(
    "relative_errors", (), "the error of a gradient is at most eps times that gradient",
    means=Le(error2(t), eps**2 * grad2(t)), for_all=((t, 0, T - 1),),
)  # fmt: skip
exact_line_search = Assumption(
    "exact_line_search", (), "every step ends where f is least on its line", means=Eq(across(t), 0),
    for_all=((t, 1, T),),
)  # fmt: skip
bounded_subgradients = Assumption(
    "subgradients_met", (M,), "every subgradient that the method meets has norm at most M", means=Le(grad2(t), M**2),
    for_all=((t, 0, T),),
)  # fmt: skip
