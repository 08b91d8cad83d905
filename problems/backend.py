"""The array library to compute with, chosen by name."""

from importlib import import_module
from typing import Literal

from .arrays import Namespace, fail

BACKENDS = ("numpy", "cupy", "array-api-strict")
Backend = Literal["numpy", "cupy", "array-api-strict"]


def namespace(backend: str) -> Namespace:
    """The array-API namespace of `backend`; `UserError` if it, or its device, is missing."""
    match backend:
        case "numpy":
            return import_module("numpy")
        case "array-api-strict":
            return _load("array_api_strict", backend, "install fedaudit[test]")
        case "cupy":
            return _cupy()
        case _:
            raise fail(f"backend {backend!r}", f"one of {', '.join(BACKENDS)}", "choose one of these")


def _load(module: str, backend: str, do: str) -> Namespace:
    try:
        return import_module(module)
    except ImportError:
        raise fail(f"backend {backend!r} without {module}", f"an installed {module}", do) from None


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
