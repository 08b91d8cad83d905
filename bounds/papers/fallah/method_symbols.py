"""What appendices F and G measure on a run of Per-FedAvg, after t local updates of one round.

Every user runs from w_k; A is the set of r n users that take part. wbar_t is the average over A, w_t that over all.
Expectations are over A and the batches of the round (of all rounds, where the claim is about K).
"""

from typing import Any

from ...language.statement import Assumption
from .symbols import GLOSSARY, K, alpha, t

_s = GLOSSARY.symbol

phi = _s("phi", "1", "any positive number (57b)", r"\phi")
sigma_T2 = _s("sigma_T2", "F^2/W^2", "error of one local update (108)", r"\sigma_T^2", nonnegative=True)
# of the first round, w_0 being any point; Q[name](k, t) is the quantity after t updates of round k
Q: dict[str, Any] = {}


def _after(name: str, dim: str, meaning: str, latex: str, **domain: bool) -> Any:
    """The quantity after t updates of the first round; `latex` speaks of round k, update t."""
    template = latex.replace("{", "{{").replace("}", "}}").replace("k,t", "{0},{1}").replace("_k", "_{0}")
    Q[name] = GLOSSARY.quantity(name, dim, meaning, template, **(domain or {"nonnegative": True}))
    return Q[name](0, t)


_WBAR, _SET = r"\bar w_{k,t}", r"\tfrac1{rn}\sum_{i\in A_k} \nabla F_i"
drift = _after("drift", "W", "E (1/n) sum_i |w_t^i - w_t|", r"\mathbb{E}\frac1n\sum_i \|w_{k,t}^i - w_{k,t}\|")
drift2 = _after("drift2", "W^2", "E (1/n) sum_i |w_t^i - w_t|^2", r"\mathbb{E}\frac1n\sum_i \|w_{k,t}^i - w_{k,t}\|^2")
averaged2 = _after("averaged2", "W^2", "E |wbar_t - w_t|^2", rf"\mathbb{{E}}\|{_WBAR} - w_{{k,t}}\|^2")
Z2 = _after("Z2", "F^2/W^2", "E |Z|^2, Z of (87)", r"\mathbb{E}\|Z_{k,t}\|^2")
YZ2 = _after("YZ2", "F^2/W^2", "E |Y + Z|^2, Y of (86) and Z of (87)", r"\mathbb{E}\|Y_{k,t} + Z_{k,t}\|^2")
product = _after("product", "F^2/W^2", "E of grad F(wbar_t)' times A's mean of grad F_i(wbar_t)",
    rf"\mathbb{{E}}\bigl[\nabla F({_WBAR})^\top {_SET}({_WBAR})\bigr]", real=True)  # fmt: skip
slope2 = _after("slope2", "F^2/W^2", "E |grad F(wbar_t)|^2", rf"\mathbb{{E}}\|\nabla F({_WBAR})\|^2")
sampled2 = _after("sampled2", "F^2/W^2", "E |A's mean of grad F_i(wbar_t)|^2", rf"\mathbb{{E}}\|{_SET}({_WBAR})\|^2")
product_all = _after("product_all", "F^2/W^2", "`product` at w_t, which does not depend on A",
    rf"\mathbb{{E}}\bigl[\nabla F(w_{{k,t}})^\top {_SET}(w_{{k,t}})\bigr]", real=True)  # fmt: skip
slope2_all = _after("slope2_all", "F^2/W^2", "E |grad F(w_t)|^2", r"\mathbb{E}\|\nabla F(w_{k,t})\|^2")
sampled2_all = _after("sampled2_all", "F^2/W^2", "E |A's mean of grad F_i(w_t)|^2",
    rf"\mathbb{{E}}\|{_SET}(w_{{k,t}})\|^2")  # fmt: skip
level = _after("level", "F", "E F(wbar_t) - F(w_0)", r"\mathbb{E} F(\bar w_{k,t})", real=True)
level_next = Q["level"](0, t + 1)

Q["fall"] = GLOSSARY.quantity("fall", "F", "E F(w_k) - F(w_0)", r"\mathbb{{E}} F(w_{{{0}}}) - F(w_0)", real=True)
Q["round2"] = GLOSSARY.quantity("round2", "F^2/W^2", "the mean of E|grad F(wbar_t)|^2 over the updates of round k",
    r"\frac1\tau\sum_{{t<\tau}}\mathbb{{E}}\|\nabla F(\bar w_{{{0},t}})\|^2", nonnegative=True)  # fmt: skip
Q["mean2"] = GLOSSARY.quantity("mean2", "F^2/W^2", "the mean of E|grad F(wbar_t)|^2 over the updates of K rounds",
    r"\frac{{1}}{{\tau {0}}}\sum_{{k<{0}}}\sum_{{t<\tau}}\mathbb{{E}}\|\nabla F(\bar w_{{k,t}})\|^2",
    nonnegative=True)  # fmt: skip
level_end, round2, mean2 = Q["fall"](1), Q["round2"](0), Q["mean2"](K)
Delta = _s("Delta", "F", "F(w_0) - F^*, or more", r"(F(w_0) - F^*)", nonnegative=True)

# order claims, and the two users on which they are decided
eps = _s("eps", "F^2/W^2", "accuracy: E|grad F|^2 <= epsilon", r"\epsilon")
a1 = _s("a1", "F/W", "constant of tau = O(epsilon^(-1/2))", "a_1", positive=True, integer=True)
a2 = _s("a2", "F^3/W^3", "constant of K = O(epsilon^(-3/2))", "a_2", positive=True, integer=True)
a3 = _s("a3", "W^2/F", "constant of beta_k = O((tau k)^(-1/2))", "a_3")
a4 = _s("a4", "W^3/F^2", "constant of alpha = O(epsilon^(1/2))", "a_4")
first_order = _s("m_FO", "F/W", "bias m_F of the first-order estimate (lemma H.1)", "m_F^{FO}", nonnegative=True)
c = _s("c", "W", "distance of both users' minimisers from that of F")
h = _s("h", "F/W^2", "curvature of F near the run")

average = Assumption("equal_weights", (), "f is the average of the f_i", "(1)")
sampled = Assumption("without_replacement", (), "A_k is uniform among the sets of r n users", "algorithm 1")
bounded_below = Assumption("bounded_below", (), "every f_i is bounded below", "assumption 1")
meta_gap = Assumption("meta_gap", (Delta, alpha), "F(w_0) - F(w) <= Delta for every w", "assumption 1")
