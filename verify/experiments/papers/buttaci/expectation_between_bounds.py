"""Theorems 4.2 and 4.5 in a picture each: lower bound, exact expectation and, for the same step size, upper bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.language.statement import Statement

from ....moves.audit import read
from ....pictures.kinds import Curves, along
from ....search.claim_index import sides_of
from ....search.score import tabulate
from ....search.tree_arrays import Array
from ....settings.base import Shape

FLAGS = {"loss": "two_groups", "noise": "independent", "sampling": "all"}
GENES = {"alpha": "alpha", "beta": "unit_beta", "sigma": "noise", "G": "pull", "w": "start"}  # where mu = 1
STEP = {"unit_gamma": 0.5}  # the upper bounds' step sizes are half of what the lower ones allow


def _both(identifier: str, shape: Shape, numbers: Mapping[str, float], **curvature: float) -> tuple[Array, Array]:
    """Both sides (1, T + 1) of a statement on one problem."""
    reading, world = read(statement(identifier))
    scalars = {GENES[name]: x for name, x in numbers.items()} | STEP | {"scale": 1.0} | curvature
    genome = {name: np.full((1, 1) if name in ("noise", "start") else (1,), x) for name, x in scalars.items()}
    genome["link"] = np.ones((1, shape["C"], shape["C"]))
    return sides_of(reading, tabulate(reading, world, shape, genome))


def _picture(
    shown: Statement,
    bounds: tuple[str, str],
    shape: Shape,
    numbers: Mapping[str, float],
    step: str,
    others: tuple[str, ...] = (),
) -> Curves:
    """`bounds` are the lower and the upper one; `others` have runs of their own on the same problem."""
    exact, lower = _both(bounds[0], shape, numbers, curvature=1.0)
    _, upper = _both(bounds[1], shape, numbers, curvature=0.5, ratio=1.0)  # every f_i is mu/2-strongly convex
    lhs = np.concatenate([exact, *(_both(name, shape, numbers, curvature=1.0)[0] for name in others)])
    sizes = ", ".join(f"{name} = {x:g}" for name, x in numbers.items())
    caption = f"two-group quadratic of B.4 with mu = 1, {sizes}, C = {shape['C']}, E = {shape['E']}, step size {step}"
    curves = along(shown, np.arange(shape["T"] + 1), "round $t$", lhs, np.repeat(lower, len(lhs), axis=0), caption, "F")
    extra = {"upper bound": upper[0], "exact expectation": exact[0], "lower bound": lower[0]}
    return replace(curves, tightest=0, extra=extra)


def fedprox(shown: Statement) -> Curves:
    numbers = {"alpha": 50.0, "sigma": 0.5, "G": 1.0, "w": 2.0}
    shape = Shape.of(FLAGS, C=10, d=1, E=5, T=400)
    step = "1/(2 L_alpha E); expectation exact, no sampling"
    return _picture(shown, ("buttaci/thm4.2", "buttaci/thm4.1-I"), shape, numbers, step)


def perturbed(shown: Statement) -> Curves:
    """The broadcast of the proof and, thin, rule (4.6)."""
    numbers = {"beta": 0.3, "sigma": 0.02, "G": 30.64, "w": 2.0}
    shape = Shape.of(FLAGS, C=2, d=1, E=5, T=8)
    step, by_rule = "1/(2 L E); thin: rule (4.6) instead of u = w", ("buttaci/thm4.5~rule4.6",)
    return _picture(shown, ("buttaci/thm4.5", "buttaci/thm4.4-I"), shape, numbers, step, by_rule)


PICTURES = {"buttaci/thm4.2": fedprox, "buttaci/thm4.5": perturbed, "buttaci/thm4.5~rule4.6": perturbed}
