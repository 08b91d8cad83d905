"""Closed forms of `orders` and `table`, tied to runs of FEDMSPP.

Each function builds, in rationals, the run for given values of a claim's parameters; `tied` makes of it the identity
between what the run does and the closed form, with replays at several sizes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...language.algebra import Eq
from ...language.statement import Form, Statement

Values = Mapping[str, Fraction | int]
Instance = dict[str, Any]


def tied(
    theorem: Statement,
    measured: Any,
    form: Any,
    build: Callable[[Values], Instance],
    sizes: tuple[Values, ...],
    defined: Mapping[Any, Any],
) -> Form:
    """`measured` equals `form` on runs that meet the theorem's assumptions and conditions and what is `defined`."""
    identity = replace(
        theorem,
        kind="identity",
        title=f"a closed form of {measured}, under the assumptions of {theorem.id}",
        when=(*theorem.when, *(Eq(symbol, value, evaluate=False) for symbol, value in defined.items())),
        then=Eq(measured, form, evaluate=False),
        order=None,
        sweep={},
        repairs="",
        follows_from=(),
    )
    return Form(identity, tuple({"instance": build(values), "at": {"relation": 0}} for values in sizes))


def _root(x: Fraction | int, n: int) -> Fraction:
    """The n-th root of a rational that has one."""
    whole = Fraction(x)
    roots: list[int] = []
    for part in (whole.numerator, whole.denominator):
        near = round(part ** (1 / n))
        exact = [k for k in (near - 1, near, near + 1) if k >= 0 and k**n == part]
        if not exact:
            raise ValueError(f"got {x}, expected a number with a rational root of degree {n}; do: choose other sizes")
        roots.append(exact[0])
    return Fraction(roots[0], roots[1])


def _smaller(rounds: int, size: int) -> Fraction:
    """min{T^(-1/3), sqrt(size/T)}: which one it is, T against size^3 tells."""
    return 1 / _root(rounds, 3) if rounds <= size**3 else _root(Fraction(size, rounds), 2)


def _bent(low: Fraction, high: Fraction, bend: Fraction, first: Fraction) -> Instance:
    """One data point: slope `first`, then the curvature `bend` between the two points, then straight on."""
    loss = {"x": [str(low), str(high)], "jump": ["0", "0"], "bend": [str(bend), str(-bend)]}
    return {"kind": "sample", "q": ["1"], "points": [{**loss, "a": "0", "s": str(first), "c": "0"}]}


def _run(
    values: Values, sampled: bool, clients: list[Instance], chosen: int, w0: Fraction, numbers: dict[str, Fraction]
) -> Instance:
    """`sampled`: FedMSPP rather than FedProx. Numbers: constants of assumptions, and step sizes."""
    C, constants = len(clients), ("L", "G", "nu", "eps")
    drawn = {"minibatch": {"b": int(values.get("b", 1)), "shared": False}} if sampled else {}
    return {
        **{"C": C, "d": 1, "E": 1, "T": int(values["T"]), "p": [str(Fraction(1, C))] * C, "w0": [str(w0)]},
        "constants": {name: str(x) for name, x in numbers.items() if name in constants},
        "parameters": {name: str(x) for name, x in numbers.items() if name not in constants},
        "clients": clients,
        "noise": {"kind": "none"},
        "participation": {"kind": "without_replacement", "m": chosen},
        **drawn,
    }


# --- a solver that stands still ---------------------------------------------------------------------------------------


def _still(values: Values, eta: Fraction, sampled: bool) -> Instance:
    """I devices that are all alike: L w^2/2 for |w| <= G/L, then slopes +-G; w_0 = g/L is returned for ever."""
    L, G, g = (Fraction(values[name]) for name in ("L", "G", "g"))
    size = int(values["I"])
    eps = eta * g**2 / (2 * (1 + eta * L))
    clients = [_bent(-G / L, G / L, L, -G)] * size
    instance = _run(values, sampled, clients, size, g / L, {"L": L, "G": G, "eta": eta, "eps": eps, "g": g})
    return {**instance, "oracle": {"step": [["0"] * size], "shift": [[["0"]] * size]}}


def still_1(values: Values) -> Instance:
    """Theorem 1: L, G, I, g, T."""
    eta = _smaller(int(values["T"]), int(values["I"])) / (3 * Fraction(values["L"]))
    return _still(values, eta, sampled=False)


def still_2(values: Values) -> Instance:
    """Remark 2: L, G, I, g, c, T."""
    eta = Fraction(values["c"]) / (Fraction(values["L"]) * _root(int(values["T"]), 3))
    return _still(values, eta, sampled=False)


def still_3(values: Values) -> Instance:
    """Theorem 3: L, G, I, b, g, T."""
    size = int(values["b"]) * int(values["I"])
    return _still(values, _smaller(int(values["T"]), size) / (8 * Fraction(values["L"])), sampled=True)


# --- two groups of devices --------------------------------------------------------------------------------------------

PATHS = 8  # rounds of which all paths are enumerated


def _two_groups(values: Values, size: int, oracle: bool) -> Instance:
    """K devices with the minimiser 0 and K with the minimiser G, L = 1; w_0 is between them. `oracle`: eps is given."""
    K, chosen, rounds = (int(values[name]) for name in ("K", "I", "T"))
    G = Fraction(values["G"])
    one, none = Fraction(1), Fraction(0)
    numbers = {"L": one, "G": G, "eta": _smaller(rounds, size) / 8, "K": Fraction(K)} | (
        {"eps": none} if oracle else {}
    )
    clients = [_bent(none, G, one, first) for first in (*[none] * K, *[-G] * K)]
    instance = _run(values, True, clients, chosen, G / 2, numbers)
    few = rounds <= PATHS and chosen in (1, 2 * K - 1)  # two outcomes in a round: few paths
    return instance if few else {**instance, "box": {"low": ["0"], "high": [str(G)]}}


def two_groups(values: Values) -> Instance:
    """Theorem 3's step size: G, K, I, b, T."""
    return _two_groups(values, int(values["b"]) * int(values["I"]), oracle=False)


def two_groups_repaired(values: Values) -> Instance:
    """The step size with I for b I: G, K, I, T."""
    return _two_groups(values, int(values["I"]), oracle=True)


# --- two devices at rest ----------------------------------------------------------------------------------------------


def _at_rest(values: Values, sampled: bool) -> Instance:
    """w^2/(2 eta) for |w| <= G eta, and -G w/2 up to a point far to the right; from G eta their mean stays."""
    G, rho = (Fraction(values[name]) for name in ("G", "rho"))
    eta = rho / _root(int(values["T"]), 2)
    far = 10 * G * (eta + rho)
    clients = [_bent(-G * eta, G * eta, 1 / eta, -G), _bent(far, far + rho, G / rho, -G / 2)]
    return _run(values, sampled, clients, 2, G * eta, {"G": G, "nu": Fraction(0), "rho": rho, "eta": eta})


def at_rest(values: Values) -> Instance:
    """FedProx: G, rho, T."""
    return _at_rest(values, sampled=False)


def at_rest_minibatch(values: Values) -> Instance:
    """FedMSPP: the same, each minibatch being the device's only point."""
    return _at_rest(values, sampled=True)


# --- a training sample of one point -----------------------------------------------------------------------------------


def one_sample(values: Values) -> Instance:
    """G |w - a| and G |w + a|, each with probability 1/2; the training sample is the first; rho = 1: G, T."""
    G = Fraction(values["G"])
    rounds, one = int(values["T"]), Fraction(1)
    eta = 1 / _root(rounds, 2)
    far = G * (rounds * eta + 2)
    ends = {"bend": ["0"], "a": "0", "s": str(-G), "c": "0"}
    points = [{"x": [str(a)], "jump": [str(2 * G)], **ends} for a in (far, -far)]
    device = {"kind": "sample", "q": ["1/2", "1/2"], "points": points, "training": ["1", "0"]}
    numbers = {"G": G, "nu": Fraction(0), "rho": one, "eta": eta}
    return _run({**values, "b": 1}, True, [device], 1, Fraction(0), numbers)


# --- sizes ------------------------------------------------------------------------------------------------------------


def _sizes(names: str, *rows: tuple[Fraction | int, ...]) -> tuple[dict[str, Fraction | int], ...]:
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


half, third = Fraction(1, 2), Fraction(1, 3)
STILL_1 = _sizes("L G I g T", (1, 1, 1, 1, 729), (2, half, 1, half, 64), (1, 1, 4, half, 4096), (third, 1, 1, 1, 10**6))
STILL_2 = _sizes(
    "L G I g c T",
    (1, 1, 1, 1, third, 8),
    (2, half, 1, half, third, 64),
    (1, 1, 4, half, third, 4096),
    (third, 1, 1, 1, third, 10**6),
)
STILL_3 = _sizes(
    "L G I b g T",
    (1, 1, 1, 1, half, 1),
    (2, half, 1, 4, Fraction(1, 16), 64),
    (1, 1, 4, 1, half, 4096),
    (third, 1, 1, 1, half, 10**6),
)
GROUPS = _sizes(  # roots of b, I and T are rational: so the kernel compares rationals
    "G K I b T",
    (1, 1, 1, 1, 1),
    (2, 1, 1, 1, 64),
    (1, 1, 1, 4, 64),
    (half, 2, 1, 16, 64),
    (1, 3, 4, 1, 729),
    (1, 4, 4, 9, 729),
)
GROUPS_REPAIRED = _sizes("G K I T", (1, 1, 1, 1), (2, 1, 1, 64), (half, 3, 4, 64), (1, 3, 4, 729))
REST = _sizes("G rho T", (1, 1, 16), (2, half, 4), (half, 2, 10**4), (1, third, 10**6))
ONE_SAMPLE = _sizes("G T", (1, 1), (half, 4), (2, 16), (1, 64))
