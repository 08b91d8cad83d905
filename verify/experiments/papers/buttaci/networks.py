"""Figures 3.3 to 3.5 of the thesis on the handwritten digits that scikit-learn ships: 100 clients, table 3.1's grid.

CIFAR10, CIFAR100 and FEMNIST are not here. What the text reads off the figures is asked of the digits instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from fedaudit.problems.data.network_data import Observed, digits, observe
from fedaudit.problems.data.similarity_graphs import normal_cdf

from ....search.seeds import seed_for
from ....search.tree_arrays import Array
from ... import Outcome, TableRow
from ...displays import Answer, Claim, Display, Rebuilt, table

Panel = Literal["misalignment", "spectrum", "homogeneity"]
PARTITIONS = 3  # table 3.1 has three seeds
NEGLIGIBLE = 0.1  # of the whole drop
SAME = 0.1  # relative difference of homogeneities that counts as none
CLIENTS = (25, 50, 100)
WHERE = "section 3.4.3"


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """What a figure shows: networks at every level of imbalance, and which of the three panels."""

    networks: tuple[Observed, ...]
    panels: tuple[Panel, ...] = ("misalignment", "spectrum", "homogeneity")
    title: str = "Networks from data: misalignments, spectra, homogeneity"
    figure: str = "buttaci.imbalance"


@cache
def grid(seed: int, clients: int = 100) -> tuple[Observed, ...]:
    """The networks of one seed; three partitions at each level."""
    seeds = [seed_for(seed, "buttaci/table3.1", str(number)) for number in range(PARTITIONS)]
    return tuple(observe(*digits(), C=clients, seeds=seeds))


def levels(networks: Sequence[Observed], data: float) -> list[Observed]:
    """Those of one data imbalance, by class imbalance."""
    return sorted((n for n in networks if n.data_imbalance == data), key=lambda n: n.class_imbalance)


def from_normal(x: Array) -> float:
    """The largest difference of the distribution functions of a sample and of the normal law with its moments."""
    z = np.sort((np.ravel(x) - x.mean()) / x.std())
    rank = np.arange(1, z.size + 1) / z.size
    return float(np.abs(normal_cdf(z) - rank).max())


def row(n: Observed) -> TableRow:
    """One level in numbers."""
    mis = n.misalignments
    return {
        "1/kappa": n.class_imbalance,
        "phi^2": n.data_imbalance,
        "mean misalignment": mis.mean(),
        "median": np.median(mis),
        "95 % quantile": np.quantile(mis, 0.95),
        "log-normal, distance": from_normal(np.log(mis)),
        "normal, distance": from_normal(mis),
        "median eigenvalue": np.median(n.eigenvalues),
        "homogeneity": n.homogeneity.mean(),
    }


def rising(networks: Sequence[Observed]) -> Outcome:
    """The mean misalignment by class imbalance."""
    means = {data: [float(n.misalignments.mean()) for n in levels(networks, data)] for data in (0.0, 1.0)}
    shown = all(a < b for mean in means.values() for a, b in pairwise(mean))
    told = "; ".join(f"phi^2 = {data:g}: {_list(mean)}" for data, mean in means.items())
    return _said(networks, shown, f"mean misalignment for 1/kappa = 0, 1, 10, 100; {told}", "mean misalignment")


def tails(networks: Sequence[Observed]) -> Outcome:
    """Median and upper end of the misalignments, with equal and with unequal amounts of data."""
    holds: dict[float, bool] = {}
    for pair in zip(levels(networks, 0.0), levels(networks, 1.0), strict=True):
        (middle, end), (middle_1, end_1) = (np.quantile(n.misalignments, (0.5, 0.95)) for n in pair)
        holds[pair[0].class_imbalance] = bool(middle < middle_1 and end < end_1)
    reason = f"median and 95 % quantile rise with unequal amounts of data for 1/kappa = {_where(holds)}"
    return _said(networks, all(holds.values()), reason, "median", "95 % quantile", under=_upto(holds))


def lognormal(networks: Sequence[Observed]) -> Outcome:
    """Log-normal or normal, whichever is nearer."""
    near = [(n.class_imbalance, from_normal(np.log(n.misalignments)), from_normal(n.misalignments)) for n in networks]
    holds = {level: all(a < b for other, a, b in near if other == level) for level, _, _ in near}
    reason = (
        f"the fitted log-normal law is nearer than the fitted normal law for 1/kappa = {_where(holds)}; its largest "
        f"distance of distribution functions is {max(a for _, a, _ in near):.2g}, the normal law's "
        f"{max(b for *_, b in near):.2g}"
    )
    columns = ("log-normal, distance", "normal, distance")
    return _said(networks, all(holds.values()), reason, *columns, under=_upto(holds))


def lower(networks: Sequence[Observed]) -> Outcome:
    """The median eigenvalue by class imbalance."""
    medians = {data: [float(np.median(n.eigenvalues)) for n in levels(networks, data)] for data in (0.0, 1.0)}
    shown = all(a > b for median in medians.values() for a, b in pairwise(median))
    told = "; ".join(f"phi^2 = {data:g}: {_list(median)}" for data, median in medians.items())
    return _said(networks, shown, f"median eigenvalue for 1/kappa = 0, 1, 10, 100; {told}", "median eigenvalue")


def altered(networks: Sequence[Observed]) -> Outcome:
    """How far unequal amounts of data move the spectrum: least and most class imbalance."""
    moved = [
        float(np.abs(np.median(b.eigenvalues) - np.median(a.eigenvalues)))
        for a, b in zip(levels(networks, 0.0), levels(networks, 1.0), strict=True)
    ]
    reason = f"the median eigenvalue moves by {_list(moved)} for 1/kappa = 0, 1, 10, 100 when phi^2 goes from 0 to 1"
    return _said(networks, moved[0] > moved[-1], reason, "median eigenvalue")


def decay(networks: Sequence[Observed]) -> Outcome:
    """Homogeneity by class imbalance, and what is left of its drop beyond 10."""
    by_data = {data: [float(n.homogeneity.mean()) for n in levels(networks, data)] for data in (0.0, 1.0)}
    falls = all(a > b for h in by_data.values() for a, b in pairwise(h))
    rest = {data: (h[2] - h[3]) / (h[0] - h[3]) for data, h in by_data.items()}
    told = "; ".join(
        f"phi^2 = {data:g}: {_list(h)}, of the whole drop {100 * rest[data]:.2g} % beyond 10"
        for data, h in by_data.items()
    )
    shown = falls and max(rest.values()) < NEGLIGIBLE
    slopes = [(h[2] - h[3]) / 90 / ((h[0] - h[2]) / 10) for h in by_data.values()]
    steep = f"{100 * max(slopes):.2g} % of the slope from 0 to 10"
    under = (f"per unit of 1/kappa ({steep}; the whole drop was asked first)",)
    read = under if falls and max(slopes) < NEGLIGIBLE else ()
    return _said(networks, shown, f"homogeneity for 1/kappa = 0, 1, 10, 100; {told}", "homogeneity", under=read)


def invariant(seed: int) -> Outcome:
    """Homogeneity by the number of clients: of the same data, and of the first clients of one network."""
    rows: list[TableRow] = []
    for several in zip(*(levels(grid(seed, C), 0.0) for C in CLIENTS), strict=True):
        divided = [float(n.homogeneity.mean()) for n in several]
        fewer = [among(several[-1], C) for C in CLIENTS]
        level: TableRow = {"1/kappa": several[0].class_imbalance}
        level |= {f"C = {C}": h for C, h in zip(CLIENTS, divided, strict=True)}
        level |= {f"first {C} of {CLIENTS[-1]}": h for C, h in zip(CLIENTS[:-1], fewer, strict=False)}
        rows.append(level | {"change": max(divided) / min(divided) - 1, "left out": max(fewer) / min(fewer) - 1})
    same, kept = ([100 * level[name] for level in rows] for name in ("change", "left out"))
    reason = (
        f"{', '.join(map(str, CLIENTS))} clients who share the same digits: homogeneity changes by {_percent(same)} "
        f"for "
        f"1/kappa = 0, 1, 10, 100, for with fewer samples each their messages are noisier; the first clients of one "
        f"network "
        f"instead: {_percent(kept)}; {100 * SAME:g} % counts as invariant"
    )
    left_out = "clients are left out of one network (networks of fewer clients were asked first)"
    under = (left_out,) if max(kept) <= 100 * SAME else ()
    return Outcome(max(same) <= 100 * SAME, reason, len(rows), table(rows), under)


def among(network: Observed, clients: int) -> float:
    """The homogeneity of the first clients: half of the mean of -ln mis over their pairs."""
    total = network.eigenvalues.shape[-1] + 1
    first, second = np.triu_indices(total, 1)
    kept = network.misalignments[:, (first < clients) & (second < clients)]
    return float(-np.log(kept).mean() / 2)


def _said(
    networks: Sequence[Observed], shown: bool, reason: str, *columns: str, under: tuple[str, ...] = ()
) -> Outcome:
    kept = ("1/kappa", "phi^2", *columns)
    rows = [{name: x for name, x in row(n).items() if name in kept} for n in networks]
    return Outcome(shown, reason, len(networks) * PARTITIONS, table(rows), () if shown else under)


def _where(holds: Mapping[float, bool]) -> str:
    yes, no = ([f"{level:g}" for level, seen in holds.items() if seen is answer] for answer in (True, False))
    return f"{', '.join(yes) or 'none'}" + (f", and not for {', '.join(no)}" if no else "")


def _upto(holds: Mapping[float, bool]) -> tuple[str, ...]:
    """The part of the grid on which a claim holds, if that is all but the largest class imbalance."""
    *first, last = sorted(holds)
    part = f"class imbalance at most {first[-1]:g} (all levels were asked first)"
    return (part,) if all(holds[x] for x in first) and not holds[last] else ()


def _list(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)


def _percent(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:.2g} %" for x in numbers)


def figure_3_3(seed: int) -> Rebuilt:
    networks = grid(seed)
    claims = (
        ("rising", "The more the classes are imbalanced, the larger the mean misalignment.", rising(networks)),
        (
            "tails",
            "At the same class imbalance, unequal amounts of data shift the peak and lengthen the tail.",
            tails(networks),
        ),
        ("lognormal", "Misalignments look log-normal, as assumption 3.3 has it.", lognormal(networks)),
    )
    picture = Networks(networks, ("misalignment",), "buttaci, figure 3.3: client misalignment")
    return Rebuilt(picture, _answers("fig3.3", claims))


def figure_3_4(seed: int) -> Rebuilt:
    networks = grid(seed)
    claims = (
        ("lower", "The more the classes are imbalanced, the lower the eigenvalues of the Laplacian.", lower(networks)),
        (
            "altered",
            "Unequal amounts of data alter the spectrum of homogeneous networks more than that of heterogeneous ones.",
            altered(networks),
        ),
    )
    picture = Networks(networks, ("spectrum",), "buttaci, figure 3.4: eigenvalues of the Laplacian")
    return Rebuilt(picture, _answers("fig3.4", claims))


def figure_3_5(seed: int) -> Rebuilt:
    networks = grid(seed)
    claims = (
        (
            "decay",
            "Homogeneity decays as the class imbalance grows, mostly from 0 to 10; beyond that the change is almost "
            "negligible (read: less than a tenth of the whole drop).",
            decay(networks),
        ),
        ("clients", "Homogeneity does not depend on the number of participants.", invariant(seed)),
    )
    picture = Networks(networks, ("homogeneity",), "buttaci, figure 3.5: network homogeneity")
    return Rebuilt(picture, _answers("fig3.5", claims))


def _answers(display: str, claims: Sequence[tuple[str, str, Outcome]]) -> tuple[Answer, ...]:
    return tuple(Answer(Claim(f"buttaci/{display}-{label}", says, WHERE), outcome) for label, says, outcome in claims)


GRID = "100 clients, class imbalance 1/kappa = 0, 1, 10, 100, data imbalance phi^2 = 0, 1, three partitions each"
DIFFERS = (
    "Handwritten digits of scikit-learn (1797 images of 8 x 8 pixels) stand in for CIFAR10, CIFAR100 and FEMNIST. "
    "Sizes "
    "of clients are log-normal with median N/C: the printed ln N(N/C, phi^2) has the median e^(N/C)."
)


def _display(label: str, name: str, shows: str, rebuild: Callable[[int], Rebuilt]) -> Display:
    return Display(f"buttaci/{label}", name, WHERE, f"{shows}; {GRID}.", DIFFERS, rebuild)


DISPLAYS = (
    _display("fig3.3", "figure 3.3", "Distributions of the misalignment of two clients (3.1)", figure_3_3),
    _display("fig3.4", "figure 3.4", "Distributions of the eigenvalues of the Laplacian", figure_3_4),
    _display("fig3.5", "figure 3.5", "Homogeneity over the class imbalance", figure_3_5),
)
