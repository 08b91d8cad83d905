"""The array libraries beside NumPy on which the array tests run. CuPy needs a device, and was never run here.

JAX takes 380 MB and is no part of the extra `test`: `make bench` has it, and runs what is marked with it.
"""

import pytest

from fedaudit.problems.arrays import backend

JAX = pytest.mark.jax
LIBRARIES = ("array-api-strict", pytest.param("jax", marks=JAX))


def library(name):
    """Its namespace."""
    return backend.namespace(name)
