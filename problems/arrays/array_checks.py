"""What all array code needs from an array library, and the checks on its input.

Functions take their namespace from their arguments, so one source runs on NumPy, CuPy, array-api-strict and JAX:
no array is written into once another name may hold it.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

from fedaudit.errors import UserError

Array: TypeAlias = Any  # an array of any array-API library: the standard has no static type yet
Namespace: TypeAlias = Any  # the module that makes such arrays

EPS = 2.0**-52
LARGE = 4096  # numbers of an array: beyond, loops of two or three numbers cost more than more of longer loops
MANY = 12  # clients: fewer are added one by one, which is faster
FEW = 8  # entries of an axis: fewer are added one by one
WEIGHT_TOLERANCE = 1e-10  # rounding that weights given as floats may leave in their sum


def fail(got: str, expected: str, do: str) -> UserError:
    """The error for bad input, in one line."""
    return UserError(got, expected, do)


def namespace(*arrays: Array) -> Namespace:
    """The array library that made `arrays`; Python numbers are skipped, and alone they mean NumPy.

    NumPy meets the standard by itself and is used bare: wrappers cost more than operations on the smallest arrays.
    """
    if all(type(x) is np.ndarray for x in arrays):  # nearly always; the rest costs as much as a small sum
        return np
    own = [x for x in arrays if hasattr(x, "shape")]
    if all(isinstance(x, np.ndarray | np.generic) for x in own):
        return np
    return array_api_compat.array_namespace(*own)


def is_numpy(xp: Namespace) -> bool:
    return xp is np


def all_true(xp: Namespace, condition: Array) -> bool:
    return bool(xp.all(condition))


def check_finite(xp: Namespace, **arrays: Array) -> None:
    """Refuse NaN and infinity: a comparison with either would pass or fail in silence."""
    for name, x in arrays.items():
        if not all_true(xp, xp.isfinite(x)):
            raise fail(f"NaN or infinity in {name}", "finite numbers", f"drop the instances with such a {name}")


def check_weights(xp: Namespace, p: Array) -> None:
    """Weights may be negative (some statements forbid it, and say so), but they sum to 1."""
    off = xp.max(xp.abs(xp.sum(p, axis=-1) - 1.0))
    if bool(off > WEIGHT_TOLERANCE):
        raise fail(f"weights p with |sum - 1| = {float(off):.3g}", "weights that sum to 1", "divide p by its sum")


def check_local_steps(E: int) -> None:
    if E < 1:
        raise fail(f"E = {E}", "E >= 1 local steps", "use E = 1 for plain distributed gradient descent")


def broadcast_shape(what: str, *shapes: Sequence[int]) -> tuple[int, ...]:
    """The common shape of batch axes."""
    try:
        return tuple(np.broadcast_shapes(*(tuple(s) for s in shapes)))
    except ValueError:
        listed = ", ".join(str(tuple(s)) for s in shapes)
        raise fail(f"{what} {listed}", "shapes that broadcast", "give every array the same leading axes") from None


def matvec(xp: Namespace, A: Array, x: Array) -> Array:
    """A (..., m, n), x (..., n) -> (..., m). Axes that only x has are columns of one product for each matrix.

    Tiny n are added column by column, which beats a product for each matrix; of many columns, row by row as well.
    """
    if x.shape[-1] > 3:
        more = x.ndim + 1 - A.ndim
        if more < 1 or x.shape[:more] == (1,) * more:
            return xp.matmul(A, x[..., None])[..., 0]
        columns = xp.reshape(x, (-1, *x.shape[more:])) if more > 1 else x
        y = xp.matmul(A, first_last(xp, columns))
        rows = xp.permute_dims(y, (y.ndim - 1, *range(y.ndim - 1)))
        return xp.reshape(rows, (*x.shape[:more], *y.shape[:-1])) if more > 1 else rows
    if x.shape[-1] > 1 and x.ndim >= A.ndim and prod(x.shape) > LARGE:
        return xp.stack([dot(A[..., i, :], x) for i in range(A.shape[-2])], axis=-1)
    y = A[..., 0] * x[..., :1]
    for j in range(1, x.shape[-1]):
        y = y + A[..., j] * x[..., j : j + 1]
    return y


def dot(a: Array, x: Array) -> Array:
    """(..., n), (..., n) -> (...), term by term."""
    y = a[..., 0] * x[..., 0]
    for j in range(1, x.shape[-1]):
        y = y + a[..., j] * x[..., j]
    return y


def first_last(xp: Namespace, x: Array) -> Array:
    """(a, ..., z) -> (..., z, a)."""
    return xp.permute_dims(x, (*range(1, x.ndim), 0))


def spread_to(xp: Namespace, x: Array, shape: tuple[int, ...]) -> Array:
    """x in this shape. Where it has it already nothing is called: broadcasting costs more than small sums."""
    return x if x.shape == shape else xp.broadcast_to(x, shape)


def summed(xp: Namespace, x: Array, axis: int = -1) -> Array:
    """The sum along the last axis, or (-2) the one before it. Few entries are added one by one: the same sum, since
    NumPy adds fewer than eight in their order, and up to thirty times as fast.
    """
    size = x.shape[axis]
    if not 0 < size < FEW:
        return xp.sum(x, axis=axis)
    rest = (slice(None),) * (-1 - axis)
    y = x[(..., 0, *rest)]
    for j in range(1, size):
        y = y + x[(..., j, *rest)]
    return y


def norm2(xp: Namespace, x: Array) -> Array:
    """|x|^2: (..., d) -> (...)."""
    return np.einsum("...d,...d->...", x, x) if x.shape[-1] > 2 and is_numpy(xp) else summed(xp, x * x)


def add_identity(xp: Namespace, x: Array, times: Array) -> Array:
    """x + times I; x (..., d, d), times (...) or a number."""
    wide = times if isinstance(times, float) else times[..., None, None]
    return x + wide * xp.eye(x.shape[-1], dtype=xp.float64)


def averaged(xp: Namespace, weights: Array, x: Array) -> Array:
    """The weighted sum over clients: weights (.., C, 1), x (S, n, C, d) -> (S, n, 1, d)."""
    if x.shape[-2] == 1:
        return x * xp.sum(weights, axis=-2, keepdims=True)
    if x.shape[-2] > MANY and is_numpy(xp) and x.strides[-2] == x.itemsize:  # clients are side by side
        return xp.matrix_transpose(xp.matmul(xp.matrix_transpose(x), weights))
    if x.shape[-2] > MANY:
        return xp.matmul(xp.matrix_transpose(weights), x)
    if 1 < x.shape[-1] < FEW and prod(x.shape) > LARGE:
        share = weights[..., 0]
        return xp.stack([dot(share, x[..., j]) for j in range(x.shape[-1])], axis=-1)[..., None, :]
    total = weights[..., :1, :] * x[..., :1, :]
    for i in range(1, x.shape[-2]):
        total = total + weights[..., i : i + 1, :] * x[..., i : i + 1, :]
    return total


@contextmanager
def quiet(xp: Namespace) -> Generator[None]:
    """A run that diverges ends in inf or NaN, which no statement accepts; that needs no warning."""
    if not is_numpy(xp):
        yield
        return
    with np.errstate(over="ignore", invalid="ignore"):
        yield
