"""Certificates that cost too much, for tests: each carries the catalogue's own claim, so that it reaches the kernel.

`EXPENSIVE` is name -> builder. Whatever comes out of the kernel (most are not counterexamples at all), it has to come
within the limits, as one row.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.search.lowered_claim import lower

FOLDER = Path(__file__).parent / "certificates"
FORMAT = "fedaudit-certificate/1"
Certificate = dict[str, Any]

OWN = """
from fedaudit.bounds.language.algebra import Le, Sum, log
from fedaudit.bounds.language.statement import Glossary, Statement

g = Glossary()
x = g.symbol("x", "1", "a number", nonnegative=True)
T = g.count("T", "a size")
t, k, i = (g.index(name, "an index") for name in ("t", "k", "i"))
SLOW = Statement(
    id="mine/slow", kind="inequality", title="a condition at many points", cite="here", method="scalar", glossary=g,
    when=(Le(0, Sum(log(t + k + i), (i, 1, 50))),),
    for_all={t: (1, T), k: (1, T)},
    then=Le(x, 0),
)
"""


def golden(name: str) -> Certificate:
    """A certificate of tests/certificates, with today's claim; those of runs have a folder of their own."""
    path = next(folder / f"{name}.json" for folder in (FOLDER, FOLDER / "run") if (folder / f"{name}.json").exists())
    found: Certificate = json.loads(path.read_text(encoding="utf-8"))
    return {**found, "claim": claim_of(found["statement"])}


def claim_of(identifier: str) -> dict[str, Any]:
    return json.loads(json.dumps(lower(statement(identifier)).claim))


def of(identifier: str, instance: dict[str, Any], at: dict[str, int] | None = None) -> Certificate:
    """A certificate of a statement with both sides made up."""
    where = {"relation": 0} if at is None else at
    made = {"format": FORMAT, "statement": identifier, "claim": claim_of(identifier), "dropped": []}
    return {**made, "instance": instance, "at": where, "lhs": "2", "rhs": "1"}


def changed(certificate: Certificate, **instance: Any) -> Certificate:
    made = copy.deepcopy(certificate)
    made["instance"] |= instance
    return made


def many_draws() -> Certificate:
    """20 points and m = 200: 10^27 data sets."""
    points = {"x": [str(n) for n in range(20)], "q": ["1/20"] * 20, "C": 2, "b": 200}
    return of("fallah/sec4.1-sample-rate~on-a-line", {**points, "constants": {"L_Z": "1", "rho_Z": "1"}})


def many_noisy_steps() -> Certificate:
    """15 clients that bend: 2^15 signs in every of 40 rounds."""
    return changed(golden("zhang-eqA.33"), T=40, regulariser={"kind": "l1", "theta": "1"})


def large_batch() -> Certificate:
    """D2 = 200 out of 20 points."""
    made = golden("fallah-eq30b")
    rows = {"p": [["1/20"] * 20], "a": [["0", "0"]] * 20, "b": [["1", str(n)] for n in range(20)]}
    return changed(made, **rows, sizes={"D0": 1, "D1": 1, "D2": 200})


def many_rounds() -> Certificate:
    """K = 10^9 and m = n: one set of users, so that the number of paths never grows."""
    everyone = {"kind": "without_replacement", "m": 2}
    begin = golden("fallah-thm4.5~explicit")
    far = {**begin["instance"]["constants"], "Delta": "1"}
    made = changed(begin, T=10**9, participation=everyone, E=1, w0=["1/2"], constants=far)
    del made["instance"]["box"]
    return {**made, "lhs": "1", "rhs": "0"}


def long_left_side() -> Certificate:
    return {**golden("yuan-thm1"), "lhs": "1/" + "1" * 100_000 + "x"}


def graph(clients: int, digits: int, seed: int = 0) -> Certificate:
    """A characteristic polynomial of long rationals."""
    draw = random.Random(seed)
    low, high = 10 ** (digits - 1), 10**digits

    def weight() -> str:
        return f"{draw.randrange(low, high)}/{draw.randrange(low, high)}"

    return of("buttaci/prop3.1", {"C": clients, "weights": [weight() for _ in range(clients * (clients - 1) // 2)]})


def dense(size: int, digits: int, seed: int = 0) -> list[list[int]]:
    """A positive definite matrix without any structure: diagonally dominant."""
    draw = random.Random(seed)
    half = [[draw.randrange(10 ** (digits - 1), 10**digits) for _ in range(size)] for _ in range(size)]
    rows = [[half[min(r, s)][max(r, s)] for s in range(size)] for r in range(size)]
    for r in range(size):
        rows[r][r] = size * 10**digits
    return rows


def dense_run(size: int, digits: int, noisy: bool) -> Certificate:
    """FedProx on a dense quadratic: semidefinite? and, with noise, covariances and their LDL', round after round."""
    loss = {"kind": "quadratic", "A": dense(size, digits), "b": [0] * size}
    T, top, kick = (
        (4, 10 * size * 10**digits, [n + 1 for n in range(size)]) if noisy else (1, 10 * size * 10**digits, [])
    )
    instance = {"C": 1, "d": size, "E": 2, "T": T, "p": ["1"], "w0": [1] * size, "parameters": {"alpha": "1/2"}}
    instance |= {"constants": {"L": top, "mu": "1/2", "sigma": top, "G": 10**20}, "clients": [loss]}
    instance |= {"steps": {"gamma": [f"1/{top}"] * T}}
    instance |= {"noise": {"kind": "signs", "shared": False, "v": [kick]} if noisy else {"kind": "none"}}
    return of("buttaci/lem4.2", instance, {"relation": 0, "t": T - 1, "k": 2, "i": 1})


def dense_functions(size: int = 100, digits: int = 60) -> Certificate:
    """A dense Hessian of long numbers."""
    zero = [0] * size
    f = {"kind": "quadratic", "A": dense(size, digits), "b": zero}
    return changed(golden("appA-strong-second"), d=size, f=f, v=zero, w=[1] * size, w_star=zero)


def many_conditions(size: int = 316) -> Certificate:
    """Nearly 10^5 points of a condition with 50 logarithms at each; a statement of one's own, in `OWN`."""
    space: dict[str, Any] = {}
    exec(OWN, space)  # our own text, from above
    claim = json.loads(json.dumps(lower(space["SLOW"]).claim))
    at = {"relation": 0, "t": 1, "k": 1}
    made = {"format": FORMAT, "statement": "mine/slow", "claim": claim, "dropped": [], "at": at, "lhs": "1", "rhs": "0"}
    return {**made, "instance": {"values": {"x": "1", "T": str(size)}}}


EXPENSIVE: dict[str, Callable[[], Certificate]] = {
    "20 points, m = 200 in samples": many_draws,
    "40 noisy rounds with a regulariser": many_noisy_steps,
    "D2 = 200 in meta": large_batch,
    "K = 10^9 with m = n in Per-FedAvg": many_rounds,
    "a left side of 100,000 digits and an x": long_left_side,
    "a graph of 30 clients": lambda: graph(30, 450),
    "a graph of 40 clients": lambda: graph(40, 300),
    "dense moments of 60 dimensions": lambda: dense_run(60, 3, noisy=True),
    "dense moments of 200 dimensions": lambda: dense_run(200, 1, noisy=True),
    "LDL of 60 rows": lambda: dense_run(60, 60, noisy=False),
    "LDL of 100 rows of 60 digits": dense_functions,
    "LDL of 400 rows": lambda: dense_run(400, 1, noisy=False),
    "a condition at 10^5 points": many_conditions,
}
