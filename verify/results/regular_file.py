"""The bytes of a regular file of bounded size, whatever a name from a stranger stands for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["NotThere", "Unreadable", "inside", "regular_bytes"]


class Unreadable(Exception):
    """A file that cannot be shown; says why in a few words."""


class NotThere(Unreadable):
    """No file has this name."""


def inside(root: Path, name: str, limit: int) -> bytes:
    """A file below `root`, at most `limit` bytes; never one outside it, whatever the name says or links to."""
    try:
        path = (root / name).resolve()
        is_below = path.is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise Unreadable("a name that is no path") from error
    if not is_below:
        raise Unreadable("outside the folder")
    return regular_bytes(path, limit)


def regular_bytes(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """The bytes of a regular file, through links only where they are followed.

    It is opened without waiting, for a FIFO would wait for a writer; and one byte more than the limit is read, for a
    file may grow after its size was looked at.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    except FileNotFoundError as error:
        raise NotThere("not there") from error
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from error
    except ValueError as error:
        raise Unreadable("a name that is no path") from error
    try:
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("not a regular file")
            data = b"" if status.st_size > limit else file.read(limit + 1)
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from error
    if status.st_size > limit or len(data) > limit:
        raise Unreadable(f"more than {limit:,} bytes")
    return data
