"""Who solves a conic programme: Clarabel through its own interface, or by name any solver that cvxpy knows here.

All of them propose in floats; what a worst case is, the kernel decides.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import clarabel  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from fedaudit.errors import UserError

from ..search.tree_arrays import Array

__all__ = ["OWN", "Conic", "solved", "triangle", "usable"]

OWN = "CLARABEL"  # through its own interface
SEMIDEFINITE = ("SCS", "MOSEK", "SDPA", "CVXOPT", "COPT")  # solvers of such programmes that cvxpy may find installed
TOLERANCE = 1e-10
FIRST_ORDER = {"SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 50_000}}  # their own tolerances are for pictures
STDERR = 2
PANIC = "PanicException"  # of the solver, which is no `Exception`
_solver: Any = clarabel
_sparse: Any = sparse


@dataclass(frozen=True, slots=True, eq=False)
class Conic:
    """min cost x subject to right - matrix x in a product of cones, in the order of the rows.

    A cone is its kind and size: zero, nonnegative, or semidefinite of matrices with so many rows, of which the upper
    triangle stands by columns, with what is off the diagonal times the root of 2.
    """

    cost: Array
    matrix: Array
    right: Array
    cones: tuple[tuple[str, int], ...]


def usable(name: str) -> str:
    """The solver's own spelling; `UserError` where it is not installed, or cannot solve such programmes."""
    wanted = name.upper()
    if wanted == OWN:
        return OWN
    installed = set(_cvxpy(name).installed_solvers())
    able = [OWN, *(one for one in SEMIDEFINITE if one in installed)]
    if wanted not in able:
        raise UserError(f"--solver {name}", f"one of {', '.join(able)} here", "name one, or install it for cvxpy")
    return wanted


def solved(problem: Conic, solver: str) -> tuple[Array, Array] | None:
    """x and the dual vector of the rows, as floats; None where the solver has none."""
    answer = _by_clarabel(problem) if solver == OWN else _by_cvxpy(problem, solver)
    return answer if answer is not None and all(np.isfinite(part).all() for part in answer) else None


def triangle(size: int) -> tuple[Array, Array]:
    """Rows and columns of the upper triangle, by columns."""
    columns, rows = np.tril_indices(size)
    return rows, columns


def _by_clarabel(problem: Conic) -> tuple[Array, Array] | None:
    kinds = {
        "zero": _solver.ZeroConeT,
        "nonnegative": _solver.NonnegativeConeT,
        "semidefinite": _solver.PSDTriangleConeT,
    }
    cones = [kinds[kind](size) for kind, size in problem.cones]
    count = len(problem.cost)
    quadratic, matrix = _sparse.csc_matrix((count, count)), _sparse.csc_matrix(problem.matrix)
    own = _solver.DefaultSolver(quadratic, problem.cost, matrix, problem.right, cones, _settings())
    try:
        with _unheard():
            answer = own.solve()
    # A panic of Rust has a class that no module exports, so its name has to tell it.
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        return None  # its numbers got out of hand
    # Every other status is a proposal, also one of an inaccurate solution: the kernel is asked anyway.
    return None if "Infeasible" in str(answer.status) else (np.array(answer.x), np.array(answer.z))


def _by_cvxpy(problem: Conic, solver: str) -> tuple[Array, Array] | None:
    """A solution of the programme by a solver that cvxpy knows; a status that is inaccurate is a proposal too."""
    cvxpy = _cvxpy(solver)
    x: Any = cvxpy.Variable(len(problem.cost))
    constraints, at = list[Any](), 0
    for kind, size in problem.cones:
        length = size * (size + 1) // 2 if kind == "semidefinite" else size
        rows, at = slice(at, at + length), at + length
        # A cone without rows says nothing; None keeps its place among the others.
        if not length:
            constraints.append(None)
            continue
        room = problem.right[rows] - problem.matrix[rows] @ x
        if kind == "semidefinite":
            constraints.append(cvxpy.reshape(_spread(size) @ room, (size, size), order="F") >> 0)
        else:
            constraints.append(room == 0 if kind == "zero" else room >= 0)
    asked = cvxpy.Problem(cvxpy.Minimize(problem.cost @ x), [one for one in constraints if one is not None])
    try:
        with warnings.catch_warnings(), _unheard():
            warnings.simplefilter("ignore")  # of inaccuracy: the kernel is asked anyway
            asked.solve(solver=solver, **FIRST_ORDER.get(solver, {}))
    except cvxpy.SolverError as error:
        if "license" in str(error).lower():
            raise UserError(f"--solver {solver} ({error})", "a solver that runs here", "name another one") from error
        return None
    if x.value is None or any(one is not None and one.dual_value is None for one in constraints):
        return None
    pairs = zip(problem.cones, constraints, strict=True)
    duals = [_dual(kind, size, one) for (kind, size), one in pairs if one is not None]
    return np.array(x.value), np.concatenate([np.zeros(0), *duals])


def _dual(kind: str, size: int, constraint: Any) -> Array:
    """The dual of a constraint as Clarabel has it: of room = right - matrix x = 0 the sign is the other one."""
    value: Array = np.asarray(constraint.dual_value, dtype=float)
    if kind != "semidefinite":
        return -value.reshape(-1) if kind == "zero" else value.reshape(-1)
    rows, columns = triangle(size)
    matrix = value.reshape(size, size)
    return (matrix + matrix.T)[rows, columns] / 2 * np.where(rows == columns, 1.0, np.sqrt(2))


def _spread(size: int) -> Array:
    """The linear map from a packed triangle to all entries of the symmetric matrix, by columns."""
    rows, columns = triangle(size)
    spread = np.zeros((size * size, len(rows)))
    for n, (row, column) in enumerate(zip(rows, columns, strict=True)):
        spread[[row + size * column, column + size * row], n] = 1.0 if row == column else np.sqrt(0.5)
    return spread


def _cvxpy(solver: str) -> Any:
    """The module cvxpy, which only solvers other than Clarabel need."""
    try:
        return import_module("cvxpy")
    except ImportError as error:
        remedy = "pip install 'fedaudit[solvers]'"
        raise UserError(f"--solver {solver} without cvxpy", f"cvxpy, or {OWN}", remedy) from error


@contextmanager
def _unheard() -> Generator[None]:
    """Silences standard error: a solver whose numbers get out of hand writes to it past Python."""
    try:
        kept = os.dup(STDERR)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)


def _settings() -> Any:
    settings = _solver.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    return settings
