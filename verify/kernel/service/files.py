"""A file from a stranger as text: a regular file of bounded size, whatever its name points to."""

from __future__ import annotations

import os
import stat

from ..core.rational import BYTES, Malformed

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read_text(path: str, most: int = BYTES) -> str:
    """The text of a regular file of at most `most` bytes; `Malformed` for anything else. Never waits, never opens
    what is not a file, and reads one byte more than is allowed at most."""
    try:
        _regular(os.stat(path))
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            _regular(os.fstat(handle))  # again: the name may stand for something else by now
            raw = file.read(most + 1)
    except OSError as error:
        raise Malformed(f"file: got {error.strerror or 'an error'}, expected one that can be read") from None
    except ValueError:  # a NUL in the name
        raise Malformed("file: got a name that no file can have, expected a path") from None
    if len(raw) > most:
        raise Malformed(f"file: got more than {most} bytes, expected at most that")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("file: got bytes that are not UTF-8, expected text") from None


def _regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise Malformed(f"file: got {kind}, expected a regular file")
