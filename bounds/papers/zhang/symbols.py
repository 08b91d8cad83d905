"""The paper's symbols, their meaning and dimension (sections 2 and 3, appendix A)."""

from ...language.algebra import Ge
from ...language.statement import Assumption, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

# sizes and indices of a run go by the names that every method's run has (C, E, t, k, i) and are printed as here
n = _n("C", "number of clients", "n")
tau = _n("E", "local updates per round", r"\tau")
b = _n("b", "size of a minibatch")
T = _n("T", "rounds that are run: the paper's R is any number up to it")
D = _n("D", "dimension of the parameter", "d")
R = _n("R", "number of rounds")
r = _n("t", "round, counted from 1", "r")
t = _s("k", "1", "local update, counted from 0", "t", nonnegative=True, integer=True)
i = _n("i", "client, counted from 1")
coordinate = GLOSSARY.index("n", "coordinate, counted from 1", "j")
l = GLOSSARY.index("l", "exponent in (A.21)")  # noqa: E741

L = _s("L", "F/W^2", "smoothness of every f_i (assumption 3.2)")
mu = _s("mu", "F/W^2", "constant of the proximal PL inequality (assumption 3.3 (2))", r"\mu")
mu_sc = _s("mu_sc", "F/W^2", "strong convexity of f (remark 3.7)", r"\mu_{sc}")
B_g = _s("B_g", "F/W", "bound on the subgradients of g (assumption 3.1)", "B_g", nonnegative=True)
sigma = _s("sigma", "F/W", "noise of a stochastic gradient (assumption 3.4)", r"\sigma", nonnegative=True)
eta_t = _s("eta_t", "W^2/F", "step size of the server, eta eta_g tau (13)", r"\tilde\eta")
eta_g = _s("eta_g", "1", "scaling of the server's step", r"\eta_g")
eta = _s("eta", "W^2/F", "step size of the clients", r"\eta")
a = _s("a", "1", "offset of Fast-FedDA's weights: 6 L over the strong convexity that it is told")
A_r = _s("A_r", "W^2", "the last four terms of (A.19)", "A^r", nonnegative=True)

_E = r"\mathbb{{E}}"
_P = r"P_{{\tilde\eta}}(\overline{{\mathbf x}}^{{{0}}})"
_next = r"P_{{\tilde\eta}}(\overline{{\mathbf x}}^{{{0}+1}})"
_virtual = r"\tilde{{\mathbf x}}^{{{0}+1}}"
_Lambda = r"\mathbf\Lambda^{{{0}}}-\overline{{\mathbf\Lambda}}^{{{0}}}"

Omega = _q("Omega", "F", "E Omega^r (10)", _E + r"[\Omega^{{{0}}}]", nonnegative=True)
Omega_sc = _q("Omega_sc", "W^2", "E Omega_sc^r (remark 3.7)", _E + r"[\Omega_{{sc}}^{{{0}}}]", nonnegative=True)
gap = _q("gap", "F", "E F(P(x^r)) - F*", _E + f"[F({_P})]-F^\\star", nonnegative=True)
level = _q("level", "F", "E F(P(x^r))", _E + f"[F({_P})]")
vlevel = _q("vlevel", "F", "E F of the virtual iterate (4) of round r + 1", _E + f"[F({_virtual})]")
G2 = _q(
    "G2", "F^2/W^2", "E|G(P(x^r))|^2, the prox-gradient map (11)",
    _E + r"\|\mathcal G(" + _P + r")\|^2", nonnegative=True,
)  # fmt: skip
mean_G2 = _q(
    "mean_G2", "F^2/W^2", "the mean of E|G(P(x^r))|^2 over rounds 1 to R",
    r"\frac{{1}}{{{0}}}\sum_{{r=1}}^{{{0}}}\mathbb{{E}}\|\mathcal G(P_{{\tilde\eta}}(\overline{{\mathbf x}}^r))\|^2",
    nonnegative=True,
)  # fmt: skip
lam2 = _q("lam2", "W^2", "E|Lambda^r - mean|^2 over all clients (10)", _E + rf"\|{_Lambda}\|^2", nonnegative=True)
lam2_i = _q(
    "lam2_i", "W^2", "E|Lambda_i^r - mean|^2 of client i",
    _E + r"\|\Lambda_{{{1}}}^{{{0}}}-\overline\Lambda^{{{0}}}\|^2", nonnegative=True,
)  # fmt: skip
drift = _q(
    "drift", "W^2", "E sum over clients and steps of |z - P(x^r)|^2",
    _E + r"\sum_{{t<\tau}}\sum_i\|\mathbf z_{{i,t}}^{{{0}}}-" + _P + r"\|^2", nonnegative=True,
)  # fmt: skip
S = _q("S", "W^2", "E sum of |z - P(x^r)|^2 of client i over steps 0..t", r"S_{{{2},{1}}}^{{{0}}}", nonnegative=True)
vdev = _q(
    "vdev", "F^2/W^2", "E|v^r - grad f(P(x^r))|^2", _E + rf"\|\boldsymbol v^{{{{{{0}}}}}}-\nabla f({_P})\|^2",
    nonnegative=True,
)  # fmt: skip
step2 = _q("step2", "W^2", "E|P(x^(r+1)) - P(x^r)|^2", _E + rf"\|{_next}-{_P}\|^2", nonnegative=True)
vstep2 = _q("vstep2", "W^2", "E|virtual iterate - P(x^r)|^2", _E + rf"\|{_virtual}-{_P}\|^2", nonnegative=True)

dist2 = _q("dist2", "W^2", "E|P(x^r) - x*|^2", _E + rf"\|{_P}-\mathbf x^\star\|^2", nonnegative=True)
moved2 = _q("moved2", "W^2", "E|P(x^r) - P(x^(r-1))|^2", nonnegative=True)
direction2 = _q("direction2", "F^2/W^2", "E|v^(r-1) - grad f(P(x^(r-1)))|^2", nonnegative=True)
off2 = _q("off2", "W^2", "E|z_{i,t} - P(x^r)|^2 of client i", nonnegative=True)
mean_off2 = _q("mean_off2", "W^2", "the mean of E|z_{i,t} - P(x^r)|^2 over the clients", nonnegative=True)

# Two random vectors a and b are equal on every path exactly if E|a|^2 + E|b|^2 = 2 E<a, b>.
xx = _q("xx", "W^2", "E|x^r|^2 of the pre-proximal global model", nonnegative=True)
VSTEP2 = _q("VSTEP2", "W^2", "vstep2 under the compact form (2)", nonnegative=True)
XX = _q("XX", "W^2", "the same under the compact form (2)", nonnegative=True)
xX = _q("xX", "W^2", "their inner product")
zz = _q("zz", "W^2", "E|z|^2 of the pre-proximal local models, over the clients", nonnegative=True)
ZZ = _q("ZZ", "W^2", "the same under the compact form (2)", nonnegative=True)
zZ = _q("zZ", "W^2", "their inner product")
cc = _q("cc", "F^2/W^2", "E|c_i|^2 of the corrections, over the clients", nonnegative=True)
cc_apart = _q("cc_apart", "F^2/W^2", "E|c_i - mean c|^2, over the clients", nonnegative=True)
post2 = _q("post2", "W^2", "E|P(x^r)|^2 of the post-proximal global model", nonnegative=True)
server2 = _q("server2", "W^2", "E|P(P(x^(r-1)) - eta~ v^(r-1))|^2, the right side of (3)", nonnegative=True)
post_server = _q("post_server", "W^2", "their inner product")
model = _q("model", "W", "a coordinate of the post-proximal global model")
star2 = _q("star2", "W^2", "|x*|^2 of a stationary point", nonnegative=True)
post_star = _q("post_star", "W^2", "E<P(x^r), x*>")
sub_inner = _q(
    "sub_inner",
    "F",
    "E s'x for s = G(P) - grad f(P) at the virtual iterate x",
    _E + r"\langle s^{{{0}}},\tilde{{\mathbf x}}\rangle",
)
sub_g = _q("sub_g", "F", "E g at the virtual iterate", _E + r"[g(\tilde{{\mathbf x}}^{{{0}+1}})]")
sub_conj = _q("sub_conj", "F", "E of the conjugate of g at s", _E + r"[g^*(s^{{{0}}})]")

still_inner = _q("still_inner", "F", "E<s, P> at P = P(x^r), s = G(P) - grad f(P)", _E + rf"\langle s,{_P}\rangle")
still_g = _q("still_g", "F", "E g(P(x^r))", _E + rf"[g({_P})]")
still_conj = _q("still_conj", "F", "E of the conjugate of g at s", _E + "[g^*(s)]")
far = _s("x", "W", "a point far from the minimiser, in one dimension", r"x")
theta = _s("theta", "F/W", "weight of the l1 norm (section 4.1)", r"\vartheta")
slope_length = _s("F_0", "F", "loss of the minimiser, ln 2 at the start of logistic regression", "F_0")

F_plus = _q("F_plus", "F", "F(x+), x+ = P_eta(x - eta v)", r"F(\mathbf x^+)")
F_z = _q("F_z", "F", "F(z)", r"F(\mathbf z)")
grad_inner = _q(
    "grad_inner", "F", "<grad f(x) - v, x+ - z>", r"\langle\nabla f(\mathbf x)-v,\mathbf x^+-\mathbf z\rangle"
)
step_inner = _q("step_inner", "W^2", "<x+ - x, x+ - z>", r"\langle\mathbf x^+-\mathbf x,\mathbf x^+-\mathbf z\rangle")
plus2 = _q("plus2", "W^2", "|x+ - x|^2", r"\|\mathbf x^+-\mathbf x\|^2", nonnegative=True)
z2 = _q("z2", "W^2", "|z - x|^2", r"\|\mathbf z-\mathbf x\|^2", nonnegative=True)

average = Assumption("equal_weights", (), "f is the average of the f_i", "problem (1)")
bounded_subgradients = Assumption(
    "bounded_subgradients", (B_g,),
    "g is convex and all its subgradients have norm <= B_g (B_g = 0 as the limit of every B_g > 0)", "assumption 3.1",
)  # fmt: skip
descent = Assumption(
    "descent", (L,), "f_i(y) <= f_i(x) + <grad f_i(x), y - x> + L/2 |x - y|^2 for every client", "assumption 3.2"
)
two_sided = Assumption(
    "two_sided", (L,),
    "and f_i(y) >= ... - L/2 |x - y|^2: gradients are L-Lipschitz, as the words say and the formula of 3.2 does not",
)  # fmt: skip
prox_pl = Assumption("prox_pl", (mu,), "mu (F(x) - F*) <= D_g(x, mu) / 2 for all x", "assumption 3.3 (2)")
mu_at_most_L = Assumption(
    "mu_at_most_L", (), "mu <= L: so it is unless F is constant, where every mu serves", means=Ge(L, mu)
)
strongly_convex = Assumption("mean_strongly_convex", (mu_sc,), "f is mu_sc-strongly convex", "theorem 3.8")
bounded_variance = Assumption(
    "minibatch_variance", (sigma, b),
    "stochastic gradients are unbiased with variance <= sigma^2/b (sigma = 0: full gradients)", "assumption 3.4",
)  # fmt: skip
independent_noise = Assumption(
    "independent_noise", (), "the noise of different clients is uncorrelated: (A.29) divides the variance by n"
)
