"""The array library to compute with, chosen by name."""

from importlib import import_module

from .array_checks import Namespace, fail

BACKENDS = ("numpy", "cupy", "array-api-strict", "jax")


def namespace(backend: str) -> Namespace:
    """The array-API namespace of `backend`; `UserError` if it, or its device, is missing."""
    match backend:
        case "numpy":
            return import_module("numpy")
        case "array-api-strict":
            return _load("array_api_strict", backend, "install fedaudit[test]")
        case "cupy":
            return _cupy()
        case "jax":
            return _jax()
        case _:
            raise fail(f"backend {backend!r}", f"one of {', '.join(BACKENDS)}", "choose one of these")


def _load(module: str, backend: str, do: str) -> Namespace:
    try:
        return import_module(module)
    except ImportError:
        raise fail(f"backend {backend!r} without {module}", f"an installed {module}", do) from None


def _jax() -> Namespace:
    """With floats of 64 bits, which JAX gives to who asks before the first array."""
    _load("jax", "jax", "install fedaudit[bench]").config.update("jax_enable_x64", True)
    return _load("jax.numpy", "jax", "install fedaudit[bench]")


def _cupy() -> Namespace:
    do = "install fedaudit[gpu] on a machine with a CUDA device, or use --backend numpy"
    cupy = _load("cupy", "cupy", do)
    try:
        devices = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        devices = 0
    if devices < 1:
        raise fail("backend 'cupy' without a CUDA device", "at least one device", do)
    return _load("array_api_compat.cupy", "cupy", do)
