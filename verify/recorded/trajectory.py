"""Recorded trajectories of measured quantities, from arrays and from files.

A quantity such as gap(t) is (rounds,) for one run or (seeds, rounds) for several. A .csv file has a column for each
quantity, and one named `seed` (or `run`) where it holds several runs, which all have the same rounds.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike

from fedaudit.errors import UserError, cut

__all__ = ["Array", "arrays_of", "read_arrays"]

Array = np.ndarray[Any, Any]
MOST = 200_000_000  # bytes of a file
RUN = ("seed", "run")  # columns that tell runs apart
COUNTED = ("t", "round", "step", "k")  # columns that number the rows


def read_arrays(path: Path, kinds: tuple[str, ...] = (".npz", ".json")) -> dict[str, object]:
    """What a file of one of these kinds holds, by name; raises `UserError`. Nothing in it is evaluated."""
    if not path.is_file():
        raise UserError(str(path), f"a recorded run that exists ({' or '.join(kinds)})", "check the path")
    if path.stat().st_size > MOST:
        raise UserError(f"{path} of {path.stat().st_size:,} bytes", f"at most {MOST:,}", "record fewer rounds")
    if path.suffix not in kinds:
        raise UserError(str(path), f"a recorded run, {' or '.join(kinds)}", "write it with numpy.savez")
    expected = {
        ".csv": "columns of numbers under a line of names",
        ".npz": "plain arrays as numpy.savez writes them",
        ".json": "an object of numbers and lists by name",
    }[path.suffix]
    try:
        if path.suffix == ".csv":
            return {**_csv(path)}
        if path.suffix == ".npz":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        raw: object = json.loads(path.read_text("utf-8"))
        if isinstance(raw, dict):
            return {str(name): value for name, value in cast("dict[object, object]", raw).items()}
        raise ValueError("no object")
    except (OSError, ValueError, TypeError, AttributeError, BadZipFile, EOFError, RecursionError, csv.Error) as error:
        why = cut(" ".join(str(error).split()), 80)
        raise UserError(f"{path}, which cannot be read ({why})", expected, "write it again") from error


def _csv(path: Path) -> dict[str, Array]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = [row for row in csv.reader(file) if row]
    if len(lines) < 2:
        raise ValueError("no line of numbers")
    names, rows = [name.strip() for name in lines[0]], lines[1:]
    if len(set(names)) < len(names):
        raise ValueError("a name twice")
    if any(len(row) != len(names) for row in rows):
        raise ValueError("lines of different lengths")
    columns = dict(zip(names, np.array([[float(cell) for cell in row] for row in rows]).T, strict=True))
    run = next((name for name in RUN if name in columns), None)
    values = {name: column for name, column in columns.items() if name not in (*RUN, *COUNTED)}
    if run is None:
        return values
    labels = columns[run]
    each = [np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist())]
    if len({len(rows) for rows in each}) > 1:
        raise ValueError(f"runs of {' and '.join(map(str, sorted({len(rows) for rows in each})))} lines")
    return {name: np.stack([column[rows] for rows in each]) for name, column in values.items()}


def arrays_of(raw: Mapping[str, object]) -> tuple[dict[str, Array], dict[str, object]]:
    """Trajectories as (seeds, rounds), and what else was given: numbers and texts."""
    runs: dict[str, Array] = {}
    rest: dict[str, object] = {}
    shape = "(rounds,) or (seeds, rounds) of finite numbers"
    for name, value in raw.items():
        try:
            if isinstance(value, str) or np.ndim(cast("ArrayLike", value)) == 0:
                rest[name] = value.item() if isinstance(value, np.generic | np.ndarray) else value
                continue
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise UserError(f"{name}, which is no array of numbers", shape, "mend it") from error
        if array.ndim > 2 or array.shape[-1] < 1:
            raise UserError(f"{name} of shape {array.shape}", shape, "mend it")
        runs[name] = np.atleast_2d(array)
        if not np.isfinite(runs[name]).all():
            run, entry = np.argwhere(~np.isfinite(runs[name]))[0]
            raise UserError(f"{name} with {runs[name][run, entry]} as entry {entry} of run {run}", shape, "mend it")
    shapes = {array.shape[0] for array in runs.values()}
    if len(shapes) > 1:
        raise UserError(
            f"trajectories of {sorted(shapes)} runs", "the same number of runs for each", "record them together"
        )
    return runs, rest
