"""`fa.check`: a recorded run against a bound."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.recorded.answer import Checked
    from fedaudit.verify.recorded.client_data import ClientData, Estimate

__all__ = ["check", "checked"]

KINDS = (".csv", ".npz", ".json")


def check(
    claim: Statement | str,
    run: str | os.PathLike[str] | None = None,
    *,
    data: ClientData | None = None,
    at_most: float | None = None,
    **recorded: object,
) -> Checked:
    """A recorded run against a statement's bound: does it hold, from where on does it not, and what could be smaller?

    `run`: a .csv, .npz or .json file. `recorded`: arrays are trajectories of the quantities that the statement reads,
    (rounds,) or (seeds, rounds), beginning before the first round; numbers are constants and sizes. `data`: the
    clients' data, from which constants are estimated and compared; with it `x`, the server's models (rounds, d), gives
    the gap. `y` and `grad`, the local models and their gradients as `conform` reads them, give limits of L, mu and G;
    with `full_grad`, those without noise, also of sigma. `at_most`: what the left side of no run can be above; with
    several runs of a bound on an expectation, it gives the expectation a limit from above.

    >>> import numpy as np, fedaudit as fa
    >>> problem = fa.Problem.quadratic(A=[[1.0], [3.0]], b=[[1.0], [3.0]])
    >>> made = fa.simulate("fedprox", problem, rounds=30, steps=2, gamma=1 / 16, alpha=1)
    >>> answer = fa.check(
    ...     "buttaci/thm4.1-I", gap=made["gap"], L=3, mu=1, alpha=1, E=2, G=5, sigma=0, S=0.5, Gamma=0
    ... )
    >>> answer.holds, answer.sides[0].x[-1]
    (True, np.int64(30))
    """
    return checked(claim, None if run is None else Path(run), recorded, data, at_most)


def checked(
    claim: Statement | str,
    run: Path | None,
    recorded: Mapping[str, object],
    data: ClientData | None = None,
    at_most: float | None = None,
) -> Checked:
    """The answer of `check`, with what was recorded as a mapping: its names may be those of arguments of `check`."""
    from fedaudit.bounds.catalogue.discovery import given
    from fedaudit.verify.recorded.bound_check import check_bound, has_noise
    from fedaudit.verify.recorded.client_data import stronger
    from fedaudit.verify.recorded.run_constants import run_constants, taken_apart
    from fedaudit.verify.recorded.trajectory import arrays_of, read_arrays

    statement = given(claim)
    raw: dict[str, object] = {**({} if run is None else read_arrays(run, KINDS)), **recorded}
    raw, steps = taken_apart(raw)
    estimates: dict[str, Estimate] = {}
    if data is not None:
        raw, estimates = _measured(raw, data)
    runs, rest = arrays_of(raw)
    values = _values(rest)
    for name, estimate in run_constants(steps, noisy=has_noise(statement, values)).items():
        estimates[name] = stronger(estimates.get(name), estimate)
    used = {name: runs[name] for name in runs if run is None or name in recorded or _reads(statement, name)}
    return check_bound(
        statement, used or runs, values, estimates, at_most
    )  # with none of its own, it says which it has


def _measured(raw: Mapping[str, object], data: ClientData) -> tuple[dict[str, object], dict[str, Estimate]]:
    """What the clients' data say of a trajectory of models, and of the constants."""
    import numpy as np

    rest = {name: value for name, value in raw.items() if name != "x"}
    if "x" not in raw:
        return rest, data.constants()
    x = np.asarray(raw["x"], dtype=float)
    if x.ndim not in (2, 3) or x.shape[-1] != np.asarray(data.features[0]).shape[1]:
        raise UserError(f"x of shape {x.shape}", "(rounds, d) or (seeds, rounds, d), as the data has d", "mend it")
    return {"gap": data.gap(x), **rest}, data.constants(x)


def _reads(statement: Statement, name: str) -> bool:
    """Whether a statement has a quantity of this name; a file may hold more than that."""
    return any(str(getattr(head, "name", head)) == name for head in statement.glossary)


def _values(rest: Mapping[str, Any]) -> dict[str, Fraction]:
    from fedaudit.bounds.language.symbol_values import points, told

    several = points(told(rest))
    if len(several) != 1:
        raise UserError(f"{len(several)} combinations of values", "one value for each symbol", "check each of them")
    return several[0]
