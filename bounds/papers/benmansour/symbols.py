"""The paper's symbols, their meaning and dimension (section 2). Time t counts local steps, as in (2), (4) and (9)."""

from ...language.algebra import Eq, Le, Max, Rational
from ...language.statement import Assumption, Glossary

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

N = _n("C", "number of clients", "N")
E = _n("E", "local steps from one average to the next")
T = _n("T", "number of local steps of the run")
K = _n("K", "number of clients that FedMax(k) takes", "k")
t = GLOSSARY.index("t", "local step")
s = GLOSSARY.index("s", "how many steps ago")
i = GLOSSARY.index("i", "client")

L = _s("L", "F/W^2", "smoothness of every F_i (assumption 1)")
mu = _s("mu", "F/W^2", "strong convexity of every F_i (assumption 2)", r"\mu")
sigma = _s("sigma", "F/W", "bound on the noise of a stochastic gradient (assumption 3)", r"\sigma", nonnegative=True)
G = _s("G", "F/W", "bound on the stochastic gradients of the run (assumption 4)", nonnegative=True)
Gamma = _s("Gamma", "F", "F* - sum_i p_i F_i*: heterogeneity (5)", r"\Gamma", nonnegative=True)
gamma = _s("gamma", "1", "offset of the step size: 4 L / mu (corollary 4)", r"\gamma")
tau = _s("tau", "1", "printed in corollary 4 and never defined: E of theorem 3", r"\tau")
D_0 = _s("D_0", "W^2", "|w_0 - w*|^2", r"\|w^0 - w^\star\|^2", nonnegative=True)

rho_bar = _s(
    "rho_bar",
    "1",
    "least weighting skew rho(t, w_t) (8) over t = 0 mod E; 0 is possible",
    r"\bar\rho",
    nonnegative=True,
)
rho_tilde = _s("rho_tilde", "1", "largest rho(t, w*) over t = 0 mod E", r"\tilde\rho", nonnegative=True)
rho_floor = _s(
    "rho_floor",
    "1",
    "least rho(t, w_t) and rho(t, w*) over all t < T: rho_bar as Cho et al. have it",
    r"\underline\rho",
    nonnegative=True,
)
rho_least = _s(
    "rho_least",
    "1",
    "least rho(t, w_t) over all t < T: rho_floor where Gamma = 0, and rho(t, w*) is not defined",
    r"\underline\rho",
    nonnegative=True,
)
level = _s("level", "1", "any number above 1: how large rho_bar is asked to be", "M")
kappa_min = _s("kappa_min", "1", "pi: the least kappa_t^i = alpha_t^i / p_i (16), positive (after (16))", r"\pi")
kappa_max = _s("kappa_max", "1", "Pi: the largest kappa_t^i (16)", r"\Pi")
alpha_min = _s("alpha_min", "1", "the least kappa_t^i p_i", r"\min \kappa_t^i p_i", nonnegative=True)
alpha_max = _s("alpha_max", "1", "the largest kappa_t^i p_i", r"\max \kappa_t^i p_i")
alpha = _q("alpha", "1", "E alpha_t^i: the weight of client i", r"\mathbb{{E}} \alpha_{{{0}}}^{{{1}}}")
p = _q("p", "1", "weight of client i", "p_{{{0}}}", positive=True)
p_min = _s("p_min", "1", "the least p_i", r"\min p_i")

beta = _s("beta", "W^2/F", "numerator of the step size in the proof of corollary 4", r"\beta")
psi = _s("psi", "W^2", "what the induction of corollary 4's proof bounds (t + gamma) dist2(t) by", r"\psi", real=True)
A_5 = _s("A_5", "W^2", "the last two lines of the one-step proof (appendix A)", real=True)
speed = _s("V", "F", "speed of convergence (corollary 4)", r"\mathcal{V}", real=True)
least_speed = _s("V_min", "F", "minimal value of the speed (12)", r"\mathcal{V}_{\min}", nonnegative=True)
error = _s("Err", "F", "learning error (corollary 4)", r"\mathcal{E}", real=True)
C = _s("C_17", "F", "constant of (17): what the speed keeps when pi grows", "C", nonnegative=True)
lambda_1 = _s("lambda_1", "F", "constant of (17)", r"\lambda_1", nonnegative=True)
lambda_2 = _s("lambda_2", "F", "constant of (17)", r"\lambda_2", nonnegative=True)

eta = _q("eta", "W^2/F", "step size of step t", r"\eta_{{{0}}}", positive=True)
gap = _q("gap", "F", "E F(w_t) - F*", r"\mathbb{{E}} F(w_{{{0}}}) - F^\star", nonnegative=True)
dist2 = _q("dist2", "W^2", "E |w_t - w*|^2", r"\mathbb{{E}} \|w_{{{0}}} - w^\star\|^2", nonnegative=True)
spread = _q(
    "spread",
    "W^2",
    "E sum_i alpha_t^i |w_t - w_t^i|^2",
    r"\mathbb{{E}} \textstyle\sum_i \alpha^i_{{{0}}} \|w_{{{0}}} - w^i_{{{0}}}\|^2",
    nonnegative=True,
)
spread_star = _q(
    "spread_star",
    "W^2",
    "E sum_i alpha_t^i |w_t - w_i*|^2",
    r"\mathbb{{E}} \textstyle\sum_i \alpha^i_{{{0}}} \|w_{{{0}}} - w_i^\star\|^2",
    nonnegative=True,
)

grad2 = _q(
    "grad2",
    "F^2/W^2",
    "E|g_i|^2 at w_t^i, on any path",
    r"\mathbb{{E}} \|g_{{{1}}}(w^{{{1}}}_{{{0}}})\|^2",
    nonnegative=True,
)
off_mean = _q(
    "off_mean",
    "W^2",
    "E |w_t - sum_i alpha_t^i w_t^i|^2",
    r"\mathbb{{E}} \|w_{{{0}}} - \textstyle\sum_i \alpha^i_{{{0}}} w^i_{{{0}}}\|^2",
    nonnegative=True,
)
moved2 = _q("moved2", "W^2", "E |w_t - w_0|^2", r"\mathbb{{E}} \|w_{{{0}}} - w_0\|^2", nonnegative=True)
start_excess = _q("excess", "F", "E F_i(w_t) - F_i*", r"\mathbb{{E}} F_{{{1}}}(w_{{{0}}}) - F_{{{1}}}^\star")
temperature = _s("temperature", "F", "FedSoftMax's temperature (section 2.4)", r"\mathcal{T}")

local_excess = _q("local_excess", "F", "E sum_i alpha_t^i (F_i(w_t^i) - F_i*)")
local_fall = _q("local_fall", "F", "E sum_i alpha_t^i (F_i(w_t^i) - F_i(w*))")
grad2_max = _q("grad2_max", "F^2/W^2", "E|g_i|^2 at w_t^i of FedMax's run, on any path", nonnegative=True)
rho_run = _q("rho_run", "1", "rho_bar of the first t + 1 steps", r"\bar\rho_{{{0}}}")
rho_run_max = _q("rho_run_max", "1", "rho_run with FedMax's weights (15)", r"\bar\rho^{{\mathrm{{FedMax}}}}_{{{0}}}")
distance = _s("distance", "1", "largest |alpha_t^i - p_i|", r"\max_i |\alpha_t^i - p_i|", nonnegative=True)
C_alpha = _s("C_alpha", "1", "any constant", r"C_\alpha")

smooth = Assumption("smooth", (L,), "every F_i is L-smooth", "assumption 1")
strongly_convex = Assumption("strongly_convex", (mu,), "every F_i is mu-strongly convex", "assumption 2")
bounded_variance = Assumption(
    "bounded_variance", (sigma,), "g_i is unbiased (1) with E|g_i - grad F_i|^2 <= sigma^2", "assumption 3"
)
bounded_gradients = Assumption(
    "bounded_gradients",
    (G,),
    "E|g_i|^2 <= G^2 at every point w_t^i that the run visits",
    "assumption 4",
    means=Le(grad2(t, i), G**2),
    for_all=((t, 0, T), (i, 1, N)),
)
bounded_gradients_of_fedmax = Assumption(
    "bounded_gradients_of_fedmax",
    (G,),
    "the same along FedMax's run",
    "assumption 4",
    means=Le(grad2_max(t, i), G**2),
    for_all=((t, 0, T), (i, 1, N)),
)
recursion_holds = Assumption(
    "recursion_holds",
    (),
    "the inequality of the main theorem, with which the proof of corollary 4 starts",
    "appendix A",
    means=Le(
        dist2(t + 1),
        (1 - eta(t) * mu * (1 + Rational(3, 8) * rho_bar)) * dist2(t)
        + eta(t) ** 2 * (32 * E**2 * G**2 + 6 * rho_bar * L * Gamma + sigma**2)
        + 2 * eta(t) * Gamma * (rho_tilde - rho_bar),
    ),
    for_all=((t, 0, T - 1),),
)
distribution = Assumption("distribution", (), "p_i > 0 and sum_i p_i = 1", "section 2.1")
weights_sum_to_one = Assumption("weights_sum_to_one", (), "sum_j alpha_t^j = 1 for each t", "(3)")
homogeneous = Assumption("homogeneous", (), "Gamma = 0: one minimiser for all clients", "error-free framework")
positive_weights = Assumption("positive_weights", (), "pi_t > 0 for all t", "after (16)")
fedavg_weights = Assumption("fedavg_weights", (), "alpha_t^i = p_i: generalised FedAvg", "section 2.3")
rule_kept = Assumption(
    "rule_kept",
    (),
    "w_t is the mean of the w_t^i with the weights of the round: (4) has these weights too",
    "(4)",
    means=Eq(off_mean(t), 0),
    for_all=((t, 0, T - 1),),
)
at_rest = Assumption(
    "at_rest",
    (),
    "w_t = w_0 for t <= T; where E = 1 and weights look at w_t alone, that is so for every T",
    means=Eq(moved2(t), 0),
    for_all=((t, 0, T),),
)
decaying_steps = Assumption(
    "decaying_steps",
    (),
    "eta_t does not grow: learning rate decay",
    "table 1",
    means=Le(eta(t), eta(Max(t - 1, 0))),
    for_all=((t, 0, T - 1),),
)
slow_decay = Assumption(
    "slow_decay",
    (),
    "eta_s <= 2 eta_t for t - E <= s <= t",
    means=Le(eta(Max(t - s, 0)), 2 * eta(t)),
    for_all=((t, 0, T - 1), (s, 0, E)),
)
nonnegative_weights = Assumption(
    "nonnegative_weights", (), "alpha_t^i >= 0: Jensen's inequality over the clients needs it"
)
skew_witness = Assumption(
    "skew_witness",
    (),
    "one round of FedMax with two clients from the second one's minimiser",
    means=Eq(start_excess(0, 1) + start_excess(0, 2), start_excess(0, 1)),
)
