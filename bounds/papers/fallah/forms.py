"""Runs that order claims speak of in closed form, as exact instances: what is replayed is what the formula says.

Two users, one of whom takes part in a round. f_i' = L w -+ L c for |w| <= 6 c, straight beyond 12 c, so that
grad F_i = h (w -+ c) on the whole run, h = L (1 - alpha L)^2. It starts at the minimiser 0 of F; gradients are exact.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from ...language.algebra import Integer, Rational
from .method_symbols import Delta, c, h
from .symbols import B, L, alpha, beta, gamma_G, gamma_H, n, r, rho, sigma_F, tau

Values = Mapping[str, Fraction | int]

FAMILY = {
    n: Integer(2),
    r: Rational(1, 2),
    B: 10 * L * c,
    rho: L / (6 * c),
    gamma_G: L * c,
    gamma_H: Integer(0),
    sigma_F: Integer(0),
    Delta: Integer(0),
    h: L * (1 - alpha * L) ** 2,
}


def mean_square(rounds: Any, slope: Any = h) -> Any:
    """The mean of E|grad F(wbar_t)|^2 over all updates of all rounds, exactly.

    After t updates from w_k the model is q^t w_k +- (1 - q^t) c with q = 1 - beta h. So v_k = E|w_k|^2 follows
    v_{k+1} = P^2 v_k + (1 - P)^2 c^2 with P = q^tau, v_0 = 0: v_k = c^2 (1 - P)/(1 + P) (1 - P^(2 k)). Its mean over k
    and the means over t of q^t and q^(2 t) are geometric sums. `slope` is that of the updates, h unless they are not
    along grad F_i.
    """
    u = beta * slope
    P = (1 - u) ** tau
    rest = (1 - (1 - u) ** (2 * tau * rounds)) / (rounds * (1 + P))
    return (h * c) ** 2 * (1 - (1 - P) / (tau * u * (2 - u)) * (2 * (1 - u) + rest))


def run(values: Values) -> dict[str, Any]:
    """The instance for L, alpha, c, beta, tau and K."""
    L_, c_ = Fraction(values["L"]), Fraction(values["c"])
    bend = L_ / (6 * c_)
    knots = [-12 * c_, -6 * c_, 6 * c_, 12 * c_]
    base = {"x": knots, "s": [bend, -bend, -bend, bend], "a": 0, "g": -9 * L_ * c_}
    none: dict[str, Any] = {"x": [], "s": [], "a": 0, "g": 0}
    names = ("alpha", "beta", "c", "eps", "a1", "a2", "a3", "a4")
    return {
        "C": 2,
        "d": 1,
        "E": int(values["tau"]),
        "T": int(values["K"]),
        "p": ["1/2", "1/2"],
        "w0": ["0"],
        "clients": [
            {"kind": "curves", "base": [_text(base)], "eta": [_text(none)], "a": [str(a)], "b": ["0"], "turn": ["0"]}
            for a in (-L_ * c_, L_ * c_)
        ],
        "noise": {"kind": "none"},
        "participation": {"kind": "without_replacement", "m": 1},
        "box": {"low": [str(-2 * c_)], "high": [str(2 * c_)]},
        "constants": {
            "L": str(L_),
            "rho": str(bend),
            "B": str(10 * L_ * c_),
            "sigma_G": str(values.get("sigma_G", 0)),
            "sigma_H": "0",
            "gamma_G": str(L_ * c_),
            "gamma_H": "0",
        },
        "parameters": {name: str(values[name]) for name in names if name in values},
    }


def _text(spline: Mapping[str, Any]) -> dict[str, Any]:
    return {k: [str(x) for x in spline[k]] if k in ("x", "s") else str(spline[k]) for k in spline}


def _root(x: Fraction) -> Fraction:
    """The root of a number that is the square of a rational; `ValueError` for another."""
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if root * root != x:
        raise ValueError(f"got {x}, expected the square of a rational; do: choose another size")
    return root


def corollary(values: Values) -> dict[str, Any]:
    """`run` for epsilon = 1/N^2 and tau = a_1/sqrt(epsilon), K = a_2/epsilon^(3/2), beta = epsilon."""
    eps = Fraction(values["eps"])
    N = 1 / _root(eps)
    return run({**values, "tau": int(values["a1"] * N), "K": int(values["a2"] * N**3), "beta": eps})


def small_alpha(values: Values) -> dict[str, Any]:
    """`corollary` with alpha = a_4 sqrt(epsilon)."""
    return corollary({**values, "alpha": Fraction(values["a4"]) * _root(Fraction(values["eps"]))})


def remark(values: Values) -> dict[str, Any]:
    """The last three quarters of K = 4^J = a_2/epsilon^(3/2) rounds, with the step a_3/sqrt(tau K)."""
    N = 1 / _root(Fraction(values["eps"]))
    steps, rounds = int(values["a1"] * N), int(values["a2"] * N**3)
    step = Fraction(values["a3"]) / _root(Fraction(steps * rounds))
    return run({**values, "tau": steps, "K": 3 * rounds // 4, "beta": step})


# sizes at which the formulas are compared with replays
THEOREM_SIZES: tuple[dict[str, Fraction | int], ...] = tuple(
    {"L": 1, "alpha": Fraction(1, 16), "c": 1, "beta": Fraction(1, 50 * steps * j), "tau": steps, "K": rounds}
    for steps, rounds, j in ((1, 2, 1), (2, 1, 1), (1, 3, 2), (3, 2, 1), (2, 5, 3), (5, 4, 2), (6, 8, 9))
)
COROLLARY_SIZES: tuple[dict[str, Fraction | int], ...] = tuple(
    {"L": Fraction(1, 8), "alpha": 1, "c": 2, "a1": a1, "a2": a2, "eps": Fraction(1, N**2), "sigma_G": 0, "D0": 1}
    for N, a1, a2 in ((1, 1, 2), (2, 1, 1), (2, 2, 1), (3, 1, 2), (1, 3, 5), (4, 1, 1))
)
SMALL_ALPHA_SIZES: tuple[dict[str, Fraction | int], ...] = tuple(
    {"L": Fraction(1, 8), "c": 2, "a1": a1, "a2": a2, "a4": a4, "eps": Fraction(1, N**2), "sigma_G": 0}
    for N, a1, a2, a4 in ((1, 1, 2, 1), (2, 1, 1, 1), (2, 2, 1, 2), (3, 1, 2, 1), (1, 3, 5, Fraction(1, 2)))
)
REMARK_SIZES: tuple[dict[str, Fraction | int], ...] = tuple(
    {
        "L": Fraction(1, 64),
        "alpha": 1,
        "c": 2,
        "a1": a1,
        "a2": a2,
        "a3": a3,
        "eps": Fraction(1, N**2),
        "sigma_G": 0,
        "D0": 1,
    }
    for N, a1, a2, a3 in (
        (1, 1, 4, 1),
        (1, 4, 16, Fraction(1, 2)),
        (1, 9, 4, Fraction(1, 5)),
        (1, 4, 4, Fraction(1, 3)),
        (4, 1, 1, 1),
    )
)
