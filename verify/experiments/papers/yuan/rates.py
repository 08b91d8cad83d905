"""Formulas of the catalogue on arrays, for pictures that compare them: rates that cross, rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.formulas.printer import latex_form

from ....search.tree_arrays import Array
from ...bound_arrays import values


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """A rate max{T^(-2/3), 1/sqrt(T s)} for several sizes s, where its terms cross, and what the method does."""

    title: str
    T: Array  # (m,)
    few: Array  # (m,): T^(-2/3)
    rates: Mapping[str, Array]  # by size, (m,)
    crossings: tuple[tuple[float, float], ...]  # T and rate, one a size
    method: Mapping[str, Array]
    caption: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A row of a table of complexities along 1/epsilon, or several that are the same formula."""

    names: tuple[str, ...]
    latex: str
    x: Array  # (m,)
    rounds: Array  # (m,)
    own: bool


def crossings() -> tuple[Crossing, Crossing]:
    """(1.4) for several I; (1.6) for several b and I = 1, beside the method on two devices."""
    T = np.logspace(0, 12, 121)
    fedprox, fedmspp, method = (statement(f"yuan/{label}") for label in ("thm1~formula", "thm3~formula", "rem7"))
    left = method.defined(method.relations[0].args[0])

    def panel(title: str, sizes: tuple[int, ...], rate: Any, name: str, said: str = "") -> Crossing:
        rates, runs, marks = dict[str, Array](), dict[str, Array](), list[tuple[float, float]]()
        for size in sizes:
            label, scalars, crossed = f"{name} = {size}", {"b": 1.0, "I": 1.0, name: float(size)}, float(size) ** 3
            rates[label] = values(rate, T=T, **scalars)
            marks.append((crossed, float(values(rate, T=np.array([crossed]), **scalars)[0])))
            if said:
                runs[label] = np.where(T > 2, values(left, T=T, K=1.0, G=1.0, **scalars), np.nan)
        return Crossing(title, T, T ** (-2 / 3), rates, tuple(marks), runs, said)

    said = (
        "dots: T = I^3 and T = (b I)^3, to the right of which 1/sqrt(T I) and 1/sqrt(T b I) are the larger terms. "
        "dashed: E|grad R(w_t*)|^2 / G^2 of FedMSPP with the step size of theorem 3 on two devices, one a round: "
        "with b it rises, where (1.6) falls (yuan/rem7)"
    )
    return (
        panel("(1.4), FedProx", (1, 10, 100, 1000), fedprox.order, "I"),
        panel("(1.6), FedMSPP with I = 1", (1, 30, 1000), fedmspp.order, "b", said),
    )


def table_1(b: int = 10, I: int = 10, M: int = 1000) -> tuple[Row, ...]:  # noqa: E741 (the paper's letters)
    """The twelve printed rows, those with the same formula together, the paper's own first."""
    x = np.logspace(0, 8, 81)
    names_by_order: dict[Any, list[str]] = {}
    named = (k for k in catalogue() if k.startswith("yuan/table1-") and "~" not in k and not k.endswith("-columns"))
    rows = {k: catalogue()[k] for k in named}
    for key, row in sorted(rows.items(), key=lambda item: "table1-thm" not in item[0]):
        names_by_order.setdefault(row.order, []).append(key.removeprefix("yuan/table1-"))
    glossary = next(iter(rows.values())).glossary
    return tuple(
        Row(
            tuple(names),
            latex_form(row, glossary),
            x,
            values(row, epsilon=1 / x, b=b, I=I, M=M),
            names[0].startswith("thm"),
        )
        for row, names in names_by_order.items()
    )
