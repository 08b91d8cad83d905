"""The thesis's symbols, their meaning and dimension (sections 4.1 and 4.2, appendix B)."""

from ...language.algebra import IndexedBase, Le, Sum
from ...language.dimension import ONE
from ...language.knobs import unit
from ...language.statement import Assumption, Entry, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

C = _n("C", "number of clients")
E = _n("E", "local steps per round")
T = _n("T", "number of rounds")
D = _n("D", "dimension of the parameter")
t = GLOSSARY.index("t", "round")
k = GLOSSARY.index("k", "local step")
i = GLOSSARY.index("i", "client, counted from 1")

L = _s("L", "F/W^2", "smoothness of every f_i (assumption 4.4)")
mu = _s("mu", "F/W^2", "strong convexity of every f_i (assumption 4.5)", r"\mu")
alpha = _s("alpha", "F/W^2", "proximal parameter of FedProx (4.3)", r"\alpha")
sigma = _s(
    "sigma",
    "F/W",
    "bound on the noise of a stochastic gradient (assumption 4.2)",
    r"\sigma",
    nonnegative=True,
)
G = _s("G", "F/W", "bound on the stochastic gradients of the run (assumption 4.3)", nonnegative=True)
Gamma = _s("Gamma", "F", "f* - sum_i p_i f_i(w*^i): statistical heterogeneity (4.2)", r"\Gamma", nonnegative=True)
L_alpha = _s("L_alpha", "F/W^2", "alpha + L (theorem 4.1)", r"L_\alpha")
Delta = _s("Delta", "F", "f(w_{0,0}) - f*: initial gap", r"\Delta", nonnegative=True)
S = _s("S", "1", "sum_i p_i^2", nonnegative=True)

gamma = _q("gamma", "W^2/F", "step size of round t", r"\gamma_{{{0}}}", positive=True)
gamma_ = _s("gamma", "W^2/F", "fixed step size", r"\gamma")
gap = _q(
    "gap",
    "F",
    "E f(w_{t,0}) - f*",
    r"\mathbb{{E}} f(\overline{{\mathbf w}}_{{{0},0}}) - f_\star",
    nonnegative=True,
)
dist2 = _q(
    "dist2",
    "W^2",
    "E |w_{t,0} - w*|^2",
    r"\mathbb{{E}} \|\overline{{\mathbf w}}_{{{0},0}} - \mathbf w_\star\|^2",
    nonnegative=True,
)
deviation = _q(
    "deviation",
    "W^2",
    "E |w^i_{t,k} - w_{t,0}|^2",
    r"\mathbb{{E}} \|\mathbf w^{{{2}}}_{{{0},{1}}} - \overline{{\mathbf w}}_{{{0},0}}\|^2",
    nonnegative=True,
)
divergence = _q(
    "divergence",
    "W^2",
    "E |w_{t,k} - w^i_{t,k}|^2",
    r"\mathbb{{E}} \|\overline{{\mathbf w}}_{{{0},{1}}} - \mathbf w^{{{2}}}_{{{0},{1}}}\|^2",
    nonnegative=True,
)

grad2 = _q(
    "grad2",
    "F^2/W^2",
    "E |g_i(w^i_{t,k})|^2",
    r"\mathbb{{E}} \|\mathbf g_{{{2}}}(\mathbf w^{{{2}}}_{{{0},{1}}})\|^2",
    nonnegative=True,
)

level = _q("level", "F", "E f(w_{t,0})", r"\mathbb{{E}} f(\overline{{\mathbf w}}_{{{0},0}})", real=True)
excess = _q(
    "excess",
    "F",
    "E f(w_{t,0}) - f_inf, f_inf being a lower bound of f (assumption 4.6)",
    r"\mathbb{{E}} f(\overline{{\mathbf w}}_{{{0},0}}) - f_{{\inf}}",
    nonnegative=True,
)
slope2 = _q(
    "slope2",
    "F^2/W^2",
    "E |grad f(w_{t,k})|^2",
    r"\mathbb{{E}} \|\nabla f(\overline{{\mathbf w}}_{{{0},{1}}})\|^2",
    nonnegative=True,
)

descent2 = _q("descent2", "F^2/W^2", "|grad f(w_t)|^2", r"\|\nabla f(\mathbf w_{{{0}}})\|^2", nonnegative=True)
apart2 = _q("apart2", "W^2", "|w - v|^2", r"\|\mathbf w - \mathbf v\|^2", nonnegative=True)
slopes_apart2 = _q(
    "slopes_apart2",
    "F^2/W^2",
    "|grad f(w) - grad f(v)|^2",
    r"\|\nabla f(\mathbf w) - \nabla f(\mathbf v)\|^2",
    nonnegative=True,
)
first_slope = _s("g", "F/W", "size of the gradient at w_{0,0}", "g")

p = IndexedBase("p", real=True)
GLOSSARY[p.label] = Entry("client weights, sum to 1", ONE, "p")
sum_p2 = Sum(p[i] ** 2, (i, 1, C))

CHANGING = ((T - t) * unit("first") + t * unit("last")) / T  # in (0, 1], falling or growing along a line

full_participation = Assumption("full_participation", (), "every client takes part in every round", "assumption 4.1")
bounded_variance = Assumption(
    "bounded_variance",
    (sigma,),
    "g_i is unbiased with E|g_i - grad f_i|^2 <= sigma^2 (sigma = 0 as the limit of every sigma > 0)",
    "assumption 4.2",
)
bounded_gradients = Assumption(
    "bounded_gradients",
    (G,),
    "E|g_i(w^i_{t,k})|^2 <= G^2 for every client, t < T and k <= E of the run",
    "assumption 4.3",
    means=Le(grad2(t, k, i), G**2),
    for_all=((t, 0, T - 1), (k, 0, E), (i, 1, C)),
)
smooth = Assumption("smooth", (L,), "every f_i is L-smooth", "assumption 4.4")
strongly_convex = Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex", "assumption 4.5")
weights_sum_to_one = Assumption("weights_sum_to_one", (), "sum_i p_i = 1", "section 4.1")
nonnegative_weights = Assumption(
    "nonnegative_weights", (), "p_i >= 0: clients are drawn with these probabilities", "section 2.3.1"
)
independent_noise = Assumption(
    "independent_noise",
    (),
    "the noise of different clients and steps is independent: the dot products of a_41 vanish",
)
PARTITION = (
    "algorithms 1 and 2 partition D_i into E minibatches, drawn without replacement: given the first steps of a round, "
    "its last gradient is not unbiased. The proofs take every step's noise as independent of those before, as is done "
    "here"
)
