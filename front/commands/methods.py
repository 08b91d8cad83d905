"""`fedaudit methods`: the algorithm box, and all that somebody needs who writes a statement about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedaudit.bounds.formulas.algorithm_box import algorithm, box
from fedaudit.bounds.language.method_interface import AssumptionRow, measured, symbols, understood
from fedaudit.output import JsonObject

if TYPE_CHECKING:
    from fedaudit.bounds.language.method import Method

SIZES = {
    "C": "clients",
    "d": "variables",
    "E": "local steps",
    "T": "rounds",
    "m": "clients of a sample",
    "b": "points of a minibatch",
    "K": "data points of a client",
}


def row(paper: str, method: Method) -> JsonObject:
    """What `--json` prints of a method."""
    return {
        "id": method.id,
        "paper": paper,
        "title": method.title,
        "where": method.cite,
        "algorithm": algorithm(method),
        "measures": measured(method),
    }


def full_row(paper: str, method: Method) -> JsonObject:
    """What `--json` prints of a method that was asked for by name: what its statements may use, too."""
    from fedaudit.verify.search import method_shapes as proposed

    tried = proposed.sizes(method)
    offers = {"symbols": symbols(method), "assumptions": understood(method), "sizes": tried}
    return {**row(paper, method), **offers, "kinds": proposed.kinds(method)}


def described(method: Method) -> str:
    """The box, symbols, measures with the ranges of their indices, assumptions, sizes."""
    from fedaudit.verify.search import method_shapes as proposed

    only, rows = proposed.asks_for(), understood(method)
    asked = [
        (_call(one), one["about"], one["asks"] + (f"; draws {only[n]} losses" if (n := one["name"]) in only else ""))
        for one in rows
    ]
    kept = [(one["name"], one["dimension"], f"{one['role']}: {one['meaning']}") for one in symbols(method)]
    offered = [(one["name"], one["dimension"], ", ".join(one["for"]), one["is"]) for one in measured(method)]
    tried = [(axis, SIZES.get(axis, ""), _few(those)) for axis, those in proposed.sizes(method).items()]
    kinds = [(name, "", ", ".join(those)) for name, those in proposed.kinds(method).items()]
    parts = [
        box(method).partition("\nmeasures:")[0],
        "symbols, with dimensions in F (value) and W (length):",
        *_table(kept),
        "measures, where their indices go, and what they are:",
        *_table(offered),
        "assumptions that say something here, and what each one asks of an instance:",
        *_table(asked),
        "sizes and kinds that are tried; a condition such as E >= 7 adds those near it:",
        *_table([*tried, *kinds]),
        "an assumption of your own is a relation between measures: Assumption(name, (G,), means=Le(measure, G**2), …)",
    ]
    return "\n".join(parts)


def _call(one: AssumptionRow) -> str:
    """The assumption as it is written in a file."""
    constants = {0: "", 1: ", (…,)", 2: ", (…, …)"}[one["constants"]]
    return f'Assumption("{one["name"]}"{constants})'


def _few(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:,}" if size < 10**5 else f"{size:.0e}" for size in sizes)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max((len(line[n]) for line in rows), default=0) for n in range(len(rows[0]) if rows else 0)]
    return [
        ("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip()
        for line in rows
    ]
