"""What the shape of a run says: its losses, its noise, who takes part, and how many outcomes that has."""

from __future__ import annotations

from collections.abc import Mapping

from fedaudit.problems.families import losses
from fedaudit.problems.families.family import Family
from fedaudit.problems.families.noise import Noise
from fedaudit.problems.families.regularisers import FAMILIES
from fedaudit.problems.runs.interpreter import paths_needed

from ..base import Shape
from . import data_points

NO_LAYOUT: Mapping[str, str] = {}


def family_of(shape: Shape) -> Family:
    """Its family of losses."""
    return losses()[shape.flag("loss")]


def sampling_of(shape: Shape) -> tuple[str, int] | None:
    """How clients are drawn, and how many; None where all take part."""
    kind = shape.flag("sampling")
    return (kind, shape["m"]) if kind != "all" else None


def run_shape(
    counts: Mapping[str, int],
    family: Family,
    noise: Noise,
    sampling: str,
    m: int,
    layout: Mapping[str, str] = NO_LAYOUT,
) -> Shape:
    """The shape of runs of these sizes."""
    flags = {"loss": family.name, **noise.flags, "sampling": sampling or "all", **layout}
    batch = {"b": 4 if not noise.law.silent and counts["E"] > 1 else 1} if "regulariser" in layout else {}
    return Shape.of(flags, **counts, **batch, **noise.sizes, **({"m": m} if sampling else {}))


def noise_of(shape: Shape) -> Noise:
    """Its noise, and at which steps there is some."""
    return Noise.of(dict(shape.flags), dict(shape.counts))


def with_noise(shape: Shape, other: Noise) -> Shape:
    """This shape with other noise."""
    own = noise_of(shape)
    if other == own:
        return shape
    flags = {name: value for name, value in shape.flags if name not in own.flags}
    counts = {name: size for name, size in shape.counts if name not in own.sizes}
    return Shape.of(flags | other.flags, **counts, **other.sizes)


def draws(shape: Shape, counts_steps: bool) -> int:
    """Local steps of a run, over all rounds."""
    return shape["T"] * (1 if counts_steps else shape["E"])


def outcomes(shape: Shape, family: Family, counts_steps: bool) -> int:
    """Paths of noise and of who takes part; of affine rules with noise alone the moments are known."""
    if "oracle" in dict(shape.flags):
        return data_points.outcomes(shape)
    own, drawn, total = noise_of(shape), sampling_of(shape), draws(shape, counts_steps)
    g = FAMILIES[dict(shape.flags).get("regulariser", "none")]
    moments = family.affine and g.affine and not counts_steps and own.steps(total) is None
    coin = "coin" in dict(shape.flags)
    if drawn is None and not coin and (moments or own.law.silent):
        return 1
    twice = dict(shape.flags).get("draws") == "twice"
    return paths_needed(shape["T"], shape["C"], own.signs(total, shape["C"], twice), drawn, coin)
