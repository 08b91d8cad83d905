"""The paper's symbols, their meaning and dimension.

The batch sizes D, D', D'' are named D0, D1, D2: D is the dimension of the parameter everywhere else.
"""

from ...language.statement import Assumption, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

n = _n("C", "number of users", "n")
m = _n("b", "data points of each user", "m")
rn = _n("m", "users that take part in a round", "rn")
D = _n("D", "dimension of the parameter", "d")
D0 = _n("D0", "size of the batch of the inner gradient", "D")
D1 = _n("D1", "size of the batch of the outer gradient", "D'")
D2 = _n("D2", "size of the batch of the Hessian", "D''")
tau = _n("E", "local updates a round", r"\tau")
K = _n("T", "number of rounds", "K")
i = GLOSSARY.index("i", "user, counted from 1")
j = GLOSSARY.index("j", "coordinate, counted from 1")
k = GLOSSARY.index("t", "round", "k")
t = GLOSSARY.index("k", "local update", "t")

B = _s("B", "F/W", "bound on the gradients of all f_i (assumption 2)", nonnegative=True)
L = _s("L", "F/W^2", "smoothness of all f_i (assumption 2)")
rho = _s("rho", "F/W^3", "Lipschitz constant of all Hessians (assumption 3)", r"\rho", nonnegative=True)
sigma_G = _s("sigma_G", "F/W", "deviation of a gradient at one data point (11)", r"\sigma_G", nonnegative=True)
sigma_H = _s("sigma_H", "F/W^2", "deviation of a Hessian at one data point (12)", r"\sigma_H", nonnegative=True)
gamma_G = _s("gamma_G", "F/W", "dissimilarity of the users' gradients (13)", r"\gamma_G", nonnegative=True)
gamma_H = _s("gamma_H", "F/W^2", "dissimilarity of the users' Hessians (13)", r"\gamma_H", nonnegative=True)
alpha = _s("alpha", "W^2/F", "step of the user's own update (3)", r"\alpha", nonnegative=True)
beta = _s("beta", "W^2/F", "step of the local updates (7)", r"\beta")
delta = _s("delta", "W^2/F", "length of the difference of gradients (119)", r"\delta")
r = _s("r", "1", "fraction of users that take part in a round")
L_F = _s("L_F", "F/W^2", "4L + alpha rho B: smoothness of the meta-functions (lemma 4.2)")
sigma_F = _s("sigma_F", "F/W", "deviation of the estimate (8) (lemma 4.3)", r"\sigma_F", nonnegative=True)
gamma_F = _s("gamma_F", "F/W", "dissimilarity of the meta-gradients (lemma 4.4)", r"\gamma_F", nonnegative=True)
L_Z = _s("L_Z", "F/W", "Lipschitz constant of grad l(z; w) in z (15)", r"L_{\mathcal Z}", nonnegative=True)
rho_Z = _s("rho_Z", "F/W^2", "Lipschitz constant of the Hessian of l(z; w) in z (15)", r"\rho_{\mathcal Z}",
    nonnegative=True)  # fmt: skip

R = _s("R", "1", "diameter of the set of data points")

bounded_gradients = Assumption("bounded_gradients", (B,), "|grad f_i| <= B for every i, everywhere", "assumption 2")
smooth = Assumption("smooth", (L,), "every f_i is twice continuously differentiable and L-smooth", "assumption 2")
lipschitz_hessian = Assumption("lipschitz_hessian", (rho,), "the Hessian of every f_i is rho-Lipschitz", "assumption 3")
gradient_variance = Assumption(
    "gradient_variance", (sigma_G,), "E|grad l_i(z; w) - grad f_i(w)|^2 <= sigma_G^2 for every w and i", "(11)"
)
hessian_variance = Assumption(
    "hessian_variance", (sigma_H,), "E|Hess l_i(z; w) - Hess f_i(w)|^2 <= sigma_H^2 for every w and i", "(12)"
)
similar_gradients = Assumption(
    "similar_gradients", (gamma_G,), "(1/n) sum_i |grad f_i - grad f|^2 <= gamma_G^2 everywhere", "assumption 5"
)
similar_hessians = Assumption(
    "similar_hessians", (gamma_H,), "(1/n) sum_i |Hess f_i - Hess f|^2 <= gamma_H^2 everywhere", "assumption 5"
)
