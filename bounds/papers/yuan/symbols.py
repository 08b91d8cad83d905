"""The paper's symbols, their meaning and dimension (sections 1 to 3, appendices A to C)."""

from ...language.statement import Assumption, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

M = _n("M", "number of devices")
I = _n("I", "number of devices that take part in a round, |I_t|")  # noqa: E741 (the paper's letter)
N = _n("N", "number of data points of a data set")
b = _n("b", "size of a minibatch")
T = _n("T", "number of rounds")
D = _n("D", "dimension of the parameter (the paper's p)", "p")
t = GLOSSARY.index("t", "round")
m = GLOSSARY.index("m", "device, counted from 1")

G = _s("G", "F/W", "Lipschitz constant of the losses")
L = _s("L", "F/W^2", "smoothness of the losses")
nu = _s("nu", "F/W^2", "weak convexity of the losses", r"\nu", nonnegative=True)
lam = _s("lam", "F/W^2", "strong convexity of the regularised empirical risk (lemma 1)", r"\lambda")
eta = _s("eta", "W^2/F", "learning rate eta_t", r"\eta_t")
rho = _s("rho", "W^2/F", "parameter of the Moreau envelope", r"\rho")
eps = _s("eps", "F", "sub-optimality of the local oracle (definitions 2 and 3)", r"\varepsilon_t", nonnegative=True)
gamma = _s("gamma", "W", "uniform argument stability of an algorithm (definition 4)", r"\gamma", nonnegative=True)
B = _s("B", "1", "factor of the local gradient dissimilarity (definition 1)", nonnegative=True)
H = _s("H", "F/W", "offset of the local gradient dissimilarity (definition 1)", nonnegative=True)
Delta = _s("Delta", "F", "R(w_0) - min R: initial gap", r"\bar\Delta", nonnegative=True)
Delta_rho = _s("Delta_rho", "F", "initial gap of the Moreau envelope", r"\bar\Delta_\rho", nonnegative=True)

# what lemmas 1 to 4, 7, 10, 11, definition 1 and remark 5 measure
j = GLOSSARY.index("j", "coordinate, counted from 1")
beta = _s("beta", "1", "bound on the differences of h", r"\beta", nonnegative=True)
spread2 = _s("spread2", "1", "E|h(S) - E h(S)|^2", r"\mathbb{E}\|h(S) - \mathbb{E} h(S)\|^2", nonnegative=True)
apart = _s("apart", "W", "|w_S - w_S'| for neighbours S and S'", r"\|w_S - w_{S'}\|", nonnegative=True)
bias = _s(
    "bias",
    "F/W",
    "|E[grad R(A(S)) - grad R_S(A(S))]|",
    r"\|\mathbb{E}[\nabla R(A(S)) - \nabla R_S(A(S))]\|",
    nonnegative=True,
)
variance = _s(
    "variance",
    "F^2/W^2",
    "E|grad R(A(S)) - E grad R(A(S))|^2",
    r"\mathbb{E}\|\nabla R(A(S)) - \mathbb{E}\nabla R(A(S))\|^2",
    nonnegative=True,
)
about_empirical = _s(
    "about_empirical",
    "F^2/W^2",
    "E|grad R(A(S)) - E grad R_S(A(S))|^2",
    r"\mathbb{E}\|\nabla R(A(S)) - \mathbb{E}\nabla R_S(A(S))\|^2",
    nonnegative=True,
)
sampled_d = _q("sampled", "F/W", "a component of E d_t", r"(\mathbb{{E}} d_t)_{{{0}}}")
mean_d = _q("mean", "F/W", "a component of dbar_t", r"(\bar d_t)_{{{0}}}")
deviation = _s("deviation", "F^2/W^2", "E|d_t - dbar_t|^2", r"\mathbb{E}\|d_t - \bar d_t\|^2", nonnegative=True)
among = _s(
    "among",
    "F^2/W^2",
    "E|d_t^(xi) - dbar_t|^2 of one sampled device: the mean over all",
    r"\mathbb{E}\|d_t^{(\xi)} - \bar d_t\|^2",
    nonnegative=True,
)
f_plus = _s("f_plus", "F", "f(w^+)", "f(w^+)", real=True)
f_u = _s("f_u", "F", "f(u)", "f(u)", real=True)
moved2 = _s("moved2", "W^2", "|w^+ - w|^2", r"\|w^+ - w\|^2", nonnegative=True)
u_w2 = _s("u_w2", "W^2", "|u - w|^2", r"\|u - w\|^2", nonnegative=True)
plus_u2 = _s("plus_u2", "W^2", "|w^+ - u|^2", r"\|w^+ - u\|^2", nonnegative=True)
away = _s("away", "W", "|w - prox(w)|", r"\|w - \mathrm{prox}_{\rho \bar R}(w)\|", nonnegative=True)
envelope_slope = _s(
    "envelope_slope", "F/W", "size of the gradient of the envelope", r"\|\nabla \bar R_\rho(w)\|", nonnegative=True
)
local2 = _q("local2", "F^2/W^2", "|grad R^(m)(w)|^2", r"\|\nabla R^{{({0})}}(w)\|^2", nonnegative=True)
global2 = _s("global2", "F^2/W^2", "|grad R(w)|^2", r"\|\nabla \bar R(w)\|^2", nonnegative=True)
bias_m = _q(
    "bias",
    "F/W",
    "|E[grad R^(m)(w_t^(m)) - d_t^(m)]|, given the past",
    r"\|\mathbb{{E}}[\nabla R^{{({0})}}(w_t^{{({0})}}) - d_t^{{({0})}}]\|",
    nonnegative=True,
)
variance_m = _q(
    "variance",
    "F^2/W^2",
    "variance of grad R^(m)(w_t^(m)), given the past",
    r"\mathrm{{Var}}\, \nabla R^{{({0})}}(w_t^{{({0})}})",
    nonnegative=True,
)
sampled2 = _s(
    "sampled2",
    "F^2/W^2",
    "E|grad R(w_{t-1}) - d_t|^2, given the past",
    r"\mathbb{E}\|\nabla \bar R(w_{t-1}) - d_t\|^2",
    nonnegative=True,
)
fresh2 = _s(
    "fresh2",
    "F^2/W^2",
    "E|grad R(w_{t-1}) - mean over I_t of the minibatch gradients at w_{t-1}|^2, given the past",
    r"\mathbb{E}\|\nabla \bar R(w_{t-1}) - \frac{1}{|I_t|}\sum_{\xi \in I_t} \nabla R_{B_t^{(\xi)}}(w_{t-1})\|^2",
    nonnegative=True,
)
averaged2 = _s(
    "averaged2",
    "F^2/W^2",
    "|grad R(w_{t-1}) - E dbar_t|^2, given the past",
    r"\|\nabla \bar R(w_{t-1}) - \mathbb{E}\bar d_t\|^2",
    nonnegative=True,
)

uniform = Assumption("equal_weights", (), "every device counts the same in the risk", "equation (1.1)")
devices_drawn = Assumption(
    "without_replacement", (), "the devices of a round are drawn uniformly, without replacement", "algorithm 1"
)
DEVICES = (uniform, devices_drawn)
lipschitz = Assumption("lipschitz", (G,), "every loss is G-Lipschitz in its first argument")
smooth = Assumption("smooth", (L,), "every loss is L-smooth in its first argument")
weakly_convex = Assumption("weakly_convex", (nu,), "every loss is nu-weakly convex in its first argument")
nonnegative_loss = Assumption(
    "nonnegative_loss",
    (),
    "losses are not negative (bounded below: a constant added to a loss changes nothing)",
    "equation (1.1)",
)
independent_minibatches = Assumption(
    "independent_minibatches",
    (),
    "the minibatches of different devices are independent of one another",
    "algorithm 1 draws each device's own points i.i.d.; proof of lemma 11: 'the independent sampling of data'",
)
inexact = Assumption(
    "inexact",
    (eps,),
    "every local solution is within eps_t of the minimum of its regularised problem",
    "definitions 2 and 3",
)
