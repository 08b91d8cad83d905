"""buttaci/sec4.4-speed: the perturbed method against FedAvg on the same problems, bounds and exact gaps side by side.

Two families of strongly convex quadratics in one dimension. `any`: clients as different as they like. `alike`: an
ill-conditioned problem with nearly equal clients, for nowhere else is theorem 4.4's bound below theorem 4.1's: its
error is larger by at least 6 E^2 G^2/mu, and G^2 >= 2 mu Delta, so that condition numbers and rounds in the hundreds
are needed. A coordinate of curvature L in which nothing moves makes L the smoothness constant there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_method

from ....search.lowered_claim import lower
from ....search.seeds import seed_for
from ....search.tree_arrays import Array, Evaluator, Quantity, Table
from ... import Experiment, Outcome, TableRow

ID = "buttaci/sec4.4-speed"
OURS, FEDAVG = "buttaci/thm4.4-I", "buttaci/thm4.1-I"
EQUAL = 1e-9  # relative difference of two gaps that counts as none
LEAST, MOST = 1.0, 10.0  # factors on the number of instances for little and much effort


@dataclass(frozen=True, slots=True)
class Family:
    """Sizes and ranges; the ranges are powers of ten."""

    name: str
    instances: int
    C: int
    E: int
    T: int
    condition: tuple[float, float]  # L / mu
    curved: tuple[float, float]  # how much curvatures differ, relative to mu
    apart: tuple[float, float]  # how far minimisers lie apart, relative to the distance of the start
    noise: tuple[float, float] | None = None  # relative to a typical gradient


FAMILIES = (
    Family("any", 1000, 3, 4, 60, (0.1, 2.0), (-2.0, 2.0), (-2.0, 1.0), (-3.0, 0.0)),
    Family("any", 1000, 2, 1, 60, (0.1, 2.0), (-2.0, 2.0), (-2.0, 1.0), (-3.0, 0.0)),
    Family("alike", 1000, 2, 1, 900, (3.0, 6.0), (-3.0, 0.0), (-6.0, -1.0)),
    Family("alike", 500, 3, 2, 2400, (4.0, 6.0), (-3.0, -1.0), (-6.0, -1.5)),
)


@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """Both methods on the instances of one family, (n, T+1) each."""

    family: Family
    gap: Array
    gap_avg: Array
    bound: Array
    bound_avg: Array

    @property
    def promised(self) -> Array:
        """1 - bound / FedAvg's bound, at most over the rounds (n,)."""
        return (1 - self.bound / self.bound_avg).max(axis=1)

    @property
    def realised(self) -> Array:
        """1 - gap / FedAvg's gap at the round where most is promised (n,)."""
        at = (1 - self.bound / self.bound_avg).argmax(axis=1)[:, None]
        ours, theirs = (np.take_along_axis(x, at, 1)[:, 0] for x in (self.gap, self.gap_avg))
        return 1 - ours / theirs


@dataclass(frozen=True, slots=True, eq=False)
class Speed:
    """What the figure shows: one instance of `alike`, and promised against realised gains of all of them."""

    title: str
    caption: str
    bounds: Array  # (2, T+1): ours, FedAvg's
    gaps: Array  # (2, T+1)
    promised: Array  # (m,)
    realised: Array  # (m,)
    figure: str = "buttaci.speed"


def race(family: Family, n: int, rng: np.random.Generator) -> Race:
    """Draw n instances and run both methods with step size 1/(2 L E); FedAvg is beta = 1."""

    def power(span: tuple[float, float], *shape: int) -> Array:
        return 10 ** rng.uniform(*span, (n, *shape))

    C, E, T = family.C, family.E, family.T
    pairs = np.zeros((n, C, C))
    pairs[(slice(None), *np.triu_indices(C, 1))] = rng.uniform(0.1, 1.0, (n, C * (C - 1) // 2))
    pairs = (pairs + np.swapaxes(pairs, 1, 2)) / (2 * pairs.sum(axis=(1, 2), keepdims=True))
    p = pairs.sum(axis=-1)
    curvature = np.minimum(1 + power(family.curved, 1) * rng.uniform(0, 1, (n, C)), power(family.condition, 1))
    inert = power(family.condition) if family.name == "alike" else np.ones(n)  # what a coordinate of its own makes of L
    mu, L = curvature.min(axis=1), inert * curvature.max(axis=1)
    centre = power(family.apart, 1) * rng.standard_normal((n, C))
    start = rng.choice([-1.0, 1.0], (n, 1)) + (p * centre).sum(axis=1, keepdims=True)
    beta = rng.uniform(0.5, 0.95, n)
    v = power(family.noise, C, 1) * mu[:, None, None] if family.noise else np.zeros((n, C, 1))
    problem = Quadratics(curvature[:, :, None, None], (curvature * centre)[:, :, None], p)
    gamma = np.repeat((1 / (2 * L * E))[:, None], T, axis=1)
    method, graph = lower(statement(OURS)).claim["method"], pairs / p[..., None]
    runs: list[dict[str, Array]] = []
    for share in (beta, np.ones(n)):
        table = Table(n, {"beta": share}, {"gamma": Quantity(gamma, (0,))}, {"E": E, "T": T})
        scalar = Evaluator(table, {"t": ("0", str(T - 1)), "k": ("0", str(E - 1))})
        noise = v if family.noise else None
        setup = Setup(problem, start, scalar, E, T, v=noise, graph=graph, w_star=problem.minimiser())
        runs.append(run_method(method, setup))
    gap, gap_avg = (run["gap"] for run in runs)
    largest = np.maximum(*(run["perturbed2"].max(axis=(1, 2, 3)) for run in runs))  # a G for both runs
    scalars = {
        "mu": mu, "L": L, "beta": beta, "alpha": 0 * mu, "sigma": np.sqrt((v**2).sum(axis=-1).max(axis=1)),
        "G": np.sqrt(largest), "Gamma": problem.heterogeneity(),
    }  # fmt: skip
    table = Table(
        n,
        scalars,
        {"gap": Quantity(gap, (0,)), "p": Quantity(p, (1,)), "gamma": Quantity(gamma, (0,))},
        {"C": C, "E": E, "T": T},
    )
    return Race(family, gap, gap_avg, _bound(OURS, table), _bound(FEDAVG, table))


def _bound(identifier: str, table: Table) -> Array:
    """The printed right-hand side for t = 0, ..., T: (n, T+1)."""
    claim = lower(statement(identifier)).claim
    evaluator = Evaluator(table, {v: (low, high) for v, (low, high) in claim["for_all"].items()})
    return np.broadcast_to(evaluator(claim["then"][0][2]), evaluator.shape)


def table_row(race: Race) -> TableRow:
    """One family: how often the bound is smaller, what the gap does there, after a tenth of the run and at its end."""
    says, gains = race.promised > 0, 1 - race.gap / race.gap_avg
    early, last = gains[:, race.family.T // 10], gains[:, -1]
    gain = race.realised[says]
    row: TableRow = {
        "family": race.family.name, "C": race.family.C, "E": race.family.E, "rounds": race.family.T,
        "instances": len(says), "smaller bound": int(says.sum()), "then smaller gap": int((gain > EQUAL).sum()),
        "then equal gap": int((abs(gain) <= EQUAL).sum()), "then larger gap": int((gain < -EQUAL).sum()),
        "smaller gap early": int((early > EQUAL).sum()), "larger gap early": int((early < -EQUAL).sum()),
        "smaller gap at the end": int((last > EQUAL).sum()), "larger gap at the end": int((last < -EQUAL).sum()),
    }  # fmt: skip
    if says.any():
        row |= {"median gain promised": _short(race.promised[says]), "median gain realised": _short(gain)}
    return row


def _short(x: Array) -> float:
    return float(f"{np.median(x):.3g}")


def run(seed: int, effort: float) -> Outcome:
    """The whole comparison; more effort means more instances."""
    factor = min(MOST, max(LEAST, effort / 10))
    races = [race(f, round(factor * f.instances), _rng(seed, number)) for number, f in enumerate(FAMILIES)]
    rows = tuple(table_row(race) for race in races)
    total = {name: sum(row[name] for row in rows) for name in rows[0] if name not in ("family", "C", "E", "rounds")}
    promised = np.concatenate([race.promised for race in races])
    realised = np.concatenate([race.realised for race in races])
    says = promised > 0
    others = [row for row in rows if row["family"] == "any"]
    reason = (
        f"theorem 4.4's bound falls below theorem 4.1's (alpha = 0) in {total['smaller bound']} of "
        f"{total['instances']} instances, ill-conditioned with alike clients; there the perturbed gap is smaller in "
        f"{total['then smaller gap']}, equal to nine digits in {total['then equal gap']} and larger in "
        f"{total['then larger gap']}, and where the bound promises {_short(promised[says]):g} (median) the runs gain "
        f"{_short(realised[says]):g}; on clients that differ its bound is smaller in "
        f"{sum(row['smaller bound'] for row in others)} of {sum(row['instances'] for row in others)}, its gap in "
        f"{sum(row['smaller gap early'] for row in others)} early in the run (larger in "
        f"{sum(row['larger gap early'] for row in others)}) and {sum(row['smaller gap at the end'] for row in others)} "
        f"at its end (larger in {sum(row['larger gap at the end'] for row in others)})"
    )
    return Outcome(bool(says.any()) and bool((realised[says] > EQUAL).all()), reason, total["instances"], rows)


def picture(seed: int) -> Speed:
    """The families `alike` with fewer instances, and the run of the last one for which most is promised."""
    races = [race(f, f.instances // 3, _rng(seed, number)) for number, f in enumerate(FAMILIES) if f.name == "alike"]
    promised, realised = (np.concatenate([getattr(m, name) for m in races]) for name in ("promised", "realised"))
    best, last = int(races[-1].promised.argmax()), races[-1]
    family = last.family
    return Speed(
        title=f"{ID}: a smaller bound than FedAvg's, and a smaller gap?",
        caption=f"above: one instance with E = {family.E}, 1 - ours / FedAvg's for bounds and gaps; below: "
        f"{int((promised > 0).sum())} of {len(promised)} instances, those whose bound is below FedAvg's, at the round "
        "where the bounds promise most",
        bounds=np.stack([last.bound[best], last.bound_avg[best]]),
        gaps=np.stack([last.gap[best], last.gap_avg[best]]),
        promised=promised[promised > 0],
        realised=realised[promised > 0],
    )


def _rng(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng(seed_for(seed, ID, str(number)))


EXPERIMENT = Experiment(ID, run, picture)
