"""Formulas of the catalogue on arrays, for pictures and tables that compare them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedaudit.bounds.formulas.lowering import tree

from ..search.tree_arrays import Array, Evaluator, Table


def values(expr: Any, **scalars: Array | float) -> Array:
    """A formula without runs and sums on arrays (m,) of its symbols."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in scalars.values()))
    batch = Table(arrays[0].size, dict(zip(scalars, map(np.ravel, arrays), strict=True)), {}, {})
    flat = np.broadcast_to(Evaluator(batch, {})(tree(expr)), (arrays[0].size,))
    return flat.reshape(arrays[0].shape)
