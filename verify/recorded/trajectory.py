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

from fedaudit.errors import UserError

__all__ = ["Array", "arrays_of", "read_trajectories"]

Array = np.ndarray[Any, Any]
MOST = 200_000_000  # bytes of a file
RUN = ("seed", "run")  # columns that tell runs apart
COUNTED = ("t", "round", "step", "k")  # columns that number the rows


def read_trajectories(path: Path) -> dict[str, Any]:
    """What a .csv, .npz or .json file holds, by name; raises `UserError`. Nothing in it is evaluated."""
    if not path.is_file():
        raise UserError(str(path), "a recorded run that exists (.csv, .npz or .json)", "check the path")
    if path.stat().st_size > MOST:
        raise UserError(f"{path} of {path.stat().st_size:,} bytes", f"at most {MOST:,}", "record fewer rounds")
    try:
        if path.suffix == ".csv":
            return _csv(path)
        if path.suffix == ".npz":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        if path.suffix == ".json":
            raw: object = json.loads(path.read_text("utf-8"))
            if isinstance(raw, dict):
                return {str(name): value for name, value in cast("dict[Any, Any]", raw).items()}
            raise ValueError("no object")
    except (OSError, ValueError, TypeError, AttributeError, BadZipFile, EOFError, RecursionError, csv.Error) as error:
        expected = "columns of numbers under a line of names (.csv), or arrays by name (.npz, .json)"
        raise UserError(f"{path}, which cannot be read", expected, "write it again") from error
    raise UserError(str(path), "a recorded run, .csv, .npz or .json", "write it with numpy.savez or as a table")


def _csv(path: Path) -> dict[str, Array]:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = [row for row in csv.reader(file) if row]
    names = [name.strip() for name in names]
    if len(set(names)) < len(names):
        raise ValueError("a name twice")
    table = np.array([[float(cell) for cell in row] for row in rows])
    if table.ndim != 2 or table.shape[1] != len(names):
        raise ValueError("rows of different lengths")
    columns = dict(zip(names, table.T, strict=True))
    run = next((name for name in RUN if name in columns), None)
    values = {name: column for name, column in columns.items() if name not in (*RUN, *COUNTED)}
    if run is None:
        return values
    labels = columns[run]
    each = [np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist())]
    if len({len(rows) for rows in each}) > 1:
        raise ValueError("runs of different lengths")
    return {name: np.stack([column[rows] for rows in each]) for name, column in values.items()}


def arrays_of(raw: Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Trajectories as (seeds, rounds), and what else was given: numbers and texts."""
    runs: dict[str, Array] = {}
    rest: dict[str, Any] = {}
    for name, value in raw.items():
        if isinstance(value, str) or np.ndim(value) == 0:
            rest[name] = value.item() if isinstance(value, np.generic | np.ndarray) else value
            continue
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise UserError(
                f"{name}, which is no array of numbers", "(rounds,) or (seeds, rounds)", "mend it"
            ) from error
        if array.ndim > 2 or array.shape[-1] < 1 or not np.isfinite(array).all():
            got = f"{name} of shape {array.shape}" if array.ndim > 2 else f"{name} with what is no number"
            raise UserError(got, "(rounds,) or (seeds, rounds) of finite numbers", "mend it")
        runs[name] = np.atleast_2d(array)
    shapes = {array.shape[0] for array in runs.values()}
    if len(shapes) > 1:
        raise UserError(
            f"trajectories of {sorted(shapes)} runs", "the same number of runs for each", "record them together"
        )
    return runs, rest
