"""What the statements about functions, data and estimates speak of: quantities at one point w, norms as squares."""

from typing import Any

from .symbols import GLOSSARY

_s, _q = GLOSSARY.symbol, GLOSSARY.quantity
_SLOPE, _BEND = "F^2/W^2", "F^2/W^4"


def _square(name: str, dim: str, meaning: str, latex: str) -> Any:
    return _s(name, dim, meaning, latex, nonnegative=True)


_OFF = r"\tilde\nabla F_i(w) - \nabla F_i(w)"
dF = _q("dF", "F/W", "coordinates of grad F_i(w)", r"\nabla F_i(w)_{{{0}}}")
hess = _q("hess", "F/W^2", "diagonal of Hess f_i(w)", r"\nabla^2 f_i(w)_{{{0}{0}}}")
inner = _q("inner", "F/W", "coordinates of grad f_i(w - alpha grad f_i(w))",
    r"\nabla f_i(w - \alpha\nabla f_i(w))_{{{0}}}")  # fmt: skip
hess_inner = _q("hess_inner", "F^2/W^3", "coordinates of Hess f_i(w) grad f_i(w - alpha grad f_i(w))",
    r"(\nabla^2 f_i(w)\nabla f_i(w - \alpha\nabla f_i(w)))_{{{0}}}")  # fmt: skip
moved2 = _q("moved2", _SLOPE, "|grad F_i(w) - grad F_i(u)|^2", r"\|\nabla F_{{{0}}}(w) - \nabla F_{{{0}}}(u)\|^2",
    nonnegative=True)  # fmt: skip
mean_moved2 = _square("mean_moved2", _SLOPE, "|grad F(w) - grad F(u)|^2", r"\|\nabla F(w) - \nabla F(u)\|^2")
apart2 = _square("apart2", "W^2", "|w - u|^2", r"\|w - u\|^2")
spread_G = _square("spread_G", _SLOPE, "(1/n) sum_i |grad f_i(w) - grad f(w)|^2",
    r"\frac1n\sum_{i=1}^n\|\nabla f_i(w) - \nabla f(w)\|^2")  # fmt: skip
spread_H = _square("spread_H", _BEND, "(1/n) sum_i |Hess f_i(w) - Hess f(w)|^2",
    r"\frac1n\sum_{i=1}^n\|\nabla^2 f_i(w) - \nabla^2 f(w)\|^2")  # fmt: skip
spread_F = _square("spread_F", _SLOPE, "(1/n) sum_i |grad F_i(w) - grad F(w)|^2",
    r"\frac1n\sum_{i=1}^n\|\nabla F_i(w) - \nabla F(w)\|^2")  # fmt: skip
tv = _q("tv", "1", "total variation distance of p_i from p", r"\|p_{{{0}}} - p\|_{{TV}}", nonnegative=True)
W1 = _q("W1", "1", "1-Wasserstein distance of p_i from p", r"W_1(p_{{{0}}}, p)", nonnegative=True)
bias2 = _square("bias2", _SLOPE, "|E[estimate (8) - grad F_i(w)]|^2", rf"\|\mathbb E[{_OFF}]\|^2")
mse = _square("mse", _SLOPE, "E|estimate (8) - grad F_i(w)|^2", rf"\mathbb E\|{_OFF}\|^2")
bias2_shared = _square("bias2_shared", _SLOPE, "as bias2 of (8), with the batch D' also for the Hessian",
    rf"\|\mathbb E[{_OFF}]\|^2")  # fmt: skip
bias2_FO = _square("bias2_FO", _SLOPE, "|E[estimate (112) - grad F_i(w)]|^2", rf"\|\mathbb E[{_OFF}]\|^2")
mse_FO = _square("mse_FO", _SLOPE, "E|estimate (112) - grad F_i(w)|^2", rf"\mathbb E\|{_OFF}\|^2")
bias2_HF = _square("bias2_HF", _SLOPE, "|E[estimate (120) - grad F_i(w)]|^2", rf"\|\mathbb E[{_OFF}]\|^2")
mse_HF = _square("mse_HF", _SLOPE, "E|estimate (120) - grad F_i(w)|^2", rf"\mathbb E\|{_OFF}\|^2")
W_u2 = _square("W_u2", "1", "E W_1(p_i, p_u)^2", r"\mathbb E\, W_1(p_i, p_u)^2")
W_mean2 = _square("W_mean2", "1", "E (1/n) sum_i W_1(p_i, p)^2", r"\mathbb E\,\frac1n\sum_{i=1}^n W_1(p_i, p)^2")
error_H = _square("error_H", "1", "E|e_1|^2, e_1 = alpha (Hess f_i(w) - estimate on D'')", r"\mathbb E\|e_1\|^2")
central = _q("central", "F/W", "coordinates of grad g(w + delta v) - grad g(w - delta v)",
    r"\left(\nabla g(w + \delta v) - \nabla g(w - \delta v)\right)_{{{0}}}")  # fmt: skip
hv = _q("hv", "F^2/W^3", "coordinates of Hess g(w) v", r"(\nabla^2 g(w) v)_{{{0}}}")
v = _q("v", "F/W", "coordinates of the vector v, as long as a gradient", r"v_{{{0}}}")
