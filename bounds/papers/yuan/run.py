"""What is measured along a run of FedProx or FedMSPP, beside the paper's symbols."""

from .symbols import GLOSSARY

_s, _q = GLOSSARY.symbol, GLOSSARY.quantity

residual = _s(
    "residual",
    "W",
    "the largest |w_t^(m) - w_{t-1} + eta_t d_t^(m)| over rounds, devices and paths",
    r"\|w_t^{(m)} - w_{t-1} + \eta_t d_t^{(m)}\|",
    nonnegative=True,
)
move = _s(
    "move",
    "W",
    "the largest |w_t^(m) - w_{t-1}| over rounds, devices and paths",
    r"\|w_t^{(m)} - w_{t-1}\|",
    nonnegative=True,
)
drift2 = _s(
    "drift2",
    "F^2/W^2",
    "the largest |grad R(w_{t-1}) - mean of the d_t^(m)|^2 over rounds and paths",
    r"\|\nabla\bar R(w_{t-1}) - \bar d_t\|^2",
    nonnegative=True,
)
picked2 = _q(
    "picked2",
    "F^2/W^2",
    "E|grad R(w_t*)|^2, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R(w_{{t^*}})\|^2",
    nonnegative=True,
)
picked_env2 = _q(
    "picked_env2",
    "F^2/W^2",
    "E|grad R_rho(w_t*)|^2 of the Moreau envelope, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R_\rho(w_{{t^*}})\|^2",
    nonnegative=True,
)
picked_erm_env2 = _q(
    "picked_erm_env2",
    "F^2/W^2",
    "E|grad R_erm,rho(w_t*)|^2 of the Moreau envelope of the empirical risk, t* uniform in {0, ..., T - 1}",
    r"\mathbb{{E}} \|\nabla\bar R_{{\mathrm{{erm}},\rho}}(w_{{t^*}})\|^2",
    nonnegative=True,
)
