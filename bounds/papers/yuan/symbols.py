"""The paper's symbols, their meaning and dimension (sections 1 to 3, appendices A to C)."""

from ...statement import Assumption, Glossary

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

lipschitz = Assumption("lipschitz", (G,), "every loss is G-Lipschitz in its first argument")
smooth = Assumption("smooth", (L,), "every loss is L-smooth in its first argument")
weakly_convex = Assumption("weakly_convex", (nu,), "every loss is nu-weakly convex in its first argument")
nonnegative_loss = Assumption(
    "nonnegative_loss",
    (),
    "losses are not negative (bounded below: a constant added to a loss changes nothing)",
    "equation (1.1)",
)
inexact = Assumption(
    "inexact",
    (eps,),
    "every local solution is within eps_t of the minimum of its regularised problem",
    "definitions 2 and 3",
)
