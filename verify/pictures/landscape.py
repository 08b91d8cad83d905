"""Bounds with choices, over two of their parameters: how high they are, where they are least, where they apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fedaudit.bounds.formulas.statement_text import relations_latex
from fedaudit.bounds.language.statement import Statement

from ..search.claim_index import resolved_sides
from ..search.claim_trees import moves, names
from ..search.score import conditions
from ..search.seeds import seed_for
from ..search.tree_arrays import Array, Evaluator, Table
from ..settings.base import Reading, knob_genes, resolve
from .growth import ASKED
from .kinds import Landscape, letter, unit

__all__ = ["landscape"]

CHOICES = ("steps", "local", "E", "I", "b", "tau", "gamma", "eta", "beta_any", "beta", "alpha_any", "alpha")
ALONG = ("T", "t", "epsilon", "eps", "accuracy", "G", "sigma", "mu", "L", "M", "N")
POINTS = 60  # of an axis
LEAST = 0.1  # the grid is coarse: so far from the left side a least value may be
DRAWN, ROOM = 200, 0.25  # values of all other parameters that are tried; a share of the plane that is enough


def landscape(statement: Statement, reading: Reading, seed: int) -> Landscape | None:
    """Returns the landscape of a claim about formulas with two parameters or more; None where there are fewer, or no
    plane has room.
    """
    symbols, fixed = reading.lowered.symbols, _named(reading, "fixed")
    swept = {name for name, rule in reading.lowered.sweep.items() if not rule["index"]}
    if len(swept) != len(reading.lowered.sweep) or reading.claim["for_all"]:
        return None
    op, left, right = reading.claim["then"][0]
    inside = {name for name, _ in names(left) | names(right)}
    free = [s for s in symbols if s not in swept and s in inside]
    moving = [s for s in free if s not in fixed] if reading.claim["setting"] == "order" else free
    ranked = [s for s in (*CHOICES, *ALONG) if s in moving] + [s for s in moving if s not in (*CHOICES, *ALONG)]
    if len(ranked) < 2 or (reading.claim["setting"] == "scalar" and ranked[0] not in CHOICES):
        return None
    y = ranked[0]
    x = next((s for s in (*ALONG, *ranked) if s in ranked and s != y), "")
    across, up = _axis(reading, x), _axis(reading, y)
    grid = {x: np.tile(across, len(up)), y: np.repeat(up, len(across))}
    others = [s for s in (*symbols, *reading.lowered.knobs) if s not in (x, y) and s not in swept]
    roomiest = _roomiest(reading, grid, others, seed)
    if roomiest is None:
        return None
    table, usable, values = roomiest
    shape = (len(up), len(across))
    lhs, rhs = resolved_sides(reading.claim["then"][0], table)
    with np.errstate(all="ignore"):
        chosen = op in ("<=", "<") and moves(right, y) and not moves(left, y) and reading.claim["setting"] == "scalar"
        apart = _apart(lhs, rhs, usable, shape)
        optimum = chosen and apart <= LEAST  # the left side is what the best choice gives
        height = np.log10(rhs) if optimum else np.log10(lhs / rhs)
    height = np.where(np.isfinite(height), height, np.nan).reshape(shape)
    if not (np.isfinite(height) & usable.reshape(shape)).any():
        return None
    return Landscape(
        id=statement.id,
        title=statement.title,
        relation=relations_latex(statement)[0],
        x=across,
        y=up,
        xlabel=_label(statement, reading, x),
        ylabel=_label(statement, reading, y),
        height=height,
        label="log₁₀ of the right side" + _in(reading.lowered.units[0])
        if optimum
        else "log₁₀ (left side / right side)",
        inside=usable.reshape(shape),
        ridge=_least(height, usable.reshape(shape), up) if optimum else np.full(len(across), np.nan),
        caption=_said(reading, values, op, apart if optimum else None),
    )


def _named(reading: Reading, assumption: str) -> set[str]:
    assumptions = [*reading.claim["let"], *(a for a in reading.claim["implicit"] if a[0] not in reading.dropped)]
    return {s for name, *args in assumptions if name == assumption for s in args}


def _axis(reading: Reading, name: str) -> Array:
    """Returns the decades that the parameter may run through."""
    domain = reading.lowered.symbols[name]
    if name in _named(reading, "grows"):
        return np.logspace(0, 8, POINTS)
    if name in _named(reading, "vanishes"):
        return np.logspace(-8, 0, POINTS)
    bounded = any(op in ("<", "<=") and a == name and b == "1" for op, a, b in reading.claim["when"])
    if bounded:
        return np.linspace(0, 1, POINTS + 1)[1:]
    if domain in ("count", "index"):
        return np.logspace(0, 4, POINTS)
    return np.logspace(-3, 3, POINTS)


def _roomiest(
    reading: Reading, grid: Mapping[str, Array], others: Sequence[str], seed: int
) -> tuple[Table, Array, dict[str, float]] | None:
    """Finds values of all other parameters at which the claim applies to much of the plane: 1 each, if that will do."""
    rng = np.random.default_rng(seed_for(seed, reading.lowered.id, "landscape"))
    n = len(next(iter(grid.values())))
    best: tuple[float, Table, Array, dict[str, float]] | None = None
    for trial in range(DRAWN if others else 1):
        values = {s: _value(reading, s, trial, rng) for s in others}
        table = Table(n, {**{s: np.full(n, v) for s, v in values.items()}, **grid}, {}, {})
        with np.errstate(all="ignore"):
            table = resolve(reading.lowered, table)
            usable = conditions(Evaluator(table, {}), reading.claim["when"])
        room = float(usable.mean())
        if room > 0.02 and (best is None or room > 1.2 * best[0]):
            best = room, table, usable, values
        if room >= ROOM:
            break
    return None if best is None else best[1:]


def _value(reading: Reading, name: str, trial: int, rng: np.random.Generator) -> float:
    below = any(op in ("<", "<=") and a == name and b == "1" for op, a, b in reading.claim["when"])
    if below or name in {gene.name for gene in knob_genes(reading.lowered) if gene.kind == "unit"}:
        return 0.5
    if trial == 0:
        return 1.0
    power = float(rng.integers(-3, 4))
    if name in _named(reading, "grows") or reading.lowered.symbols.get(name) in ("count", "index"):
        power = abs(power)
    return 10.0 ** (-abs(power) if name in _named(reading, "vanishes") else power)


def _least(height: Array, usable: Array, up: Array) -> Array:
    """Returns the y at which each column is lowest."""
    shown = np.where(usable & np.isfinite(height), height, np.inf)
    return np.where(np.isfinite(shown.min(axis=0)), up[np.argmin(shown, axis=0)], np.nan)


def _apart(lhs: Array, rhs: Array, usable: Array, shape: tuple[int, int]) -> float:
    """Returns how far the least right side of a column is from its left side, at the worst x, as a share."""
    shown = (usable & np.isfinite(lhs) & np.isfinite(rhs)).reshape(shape)
    least = np.where(shown, rhs.reshape(shape), np.inf).min(axis=0)
    printed = np.where(shown, lhs.reshape(shape), np.inf).min(axis=0)
    apart = np.abs(least / printed - 1)[shown.any(axis=0)]
    return float(apart.max()) if apart.size and np.isfinite(apart).all() else np.inf


def _label(statement: Statement, reading: Reading, name: str) -> str:
    return letter(statement, name) + _in(reading.lowered.scales.get(name, (0.0, 0.0)))


def _in(powers: tuple[float, float]) -> str:
    said = unit(powers)
    return f"  [{said}]" if said else ""


def _said(reading: Reading, values: Mapping[str, float], op: str, apart: float | None) -> str:
    others = ", ".join(f"{k} = {v:g}" for k, v in values.items() if k not in reading.lowered.knobs)
    grey = "; grey: a condition fails" if reading.claim["when"] else ""
    at = f" at {others}" if others else ""
    if apart is not None:
        close = f"the left side is within {100 * apart:.2g} % of that on this grid"
        return f"the right side{at}; line: where it is least, by search; {close}{grey}"
    if reading.claim["setting"] == "order":
        return f"both printed orders{at}; claimed: their ratio {ASKED[op]} far out, at whatever height{grey}"
    return f"both sides{at}; the claim holds where the ratio is at most 1, below 0 here{grey}"
