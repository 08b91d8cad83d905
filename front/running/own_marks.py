"""What this user's own fedaudit wrote, known again by a key that nobody else has.

Digests show that a file was not changed by accident; whoever changes it on purpose computes them again. A mark cannot
be computed without the key, which lies in the user's own folder for such things (`$XDG_STATE_HOME/fedaudit/key`, by
default below `~/.local/state`), is made at the first need and is readable for its owner alone. A key that others can
read, write or replace by a link is none, and where none can be kept there are no marks: everything is decided again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from functools import cache
from pathlib import Path

__all__ = ["is_own", "mark", "no_key", "place"]

LENGTH = 32  # bytes of the key


def place(variable: str, default: str) -> Path | None:
    """The user's folder for our files of one kind, after the XDG convention; None without a home."""
    try:
        base = os.environ.get(variable, "")
        return (Path(base) if os.path.isabs(base) else Path.home() / default) / "fedaudit"
    except RuntimeError:
        return None


def mark(kind: str, text: str) -> str:
    """The mark of a text as one of its kind: no mark of a page is one of a row. Nothing where there is no key."""
    key = _key()
    return hmac.new(key, f"{kind}\0{text}".encode(), hashlib.sha256).hexdigest() if key else ""


def is_own(kind: str, text: str, said: object) -> bool:
    """Whether a mark is this user's mark of the text."""
    return isinstance(said, str) and said.isascii() and said != "" and hmac.compare_digest(mark(kind, text), said)


def no_key() -> str:
    """Why there are no marks, as the end of a sentence; empty where there are."""
    folder = place("XDG_STATE_HOME", ".local/state")
    if _key():
        return ""
    where = folder / "key" if folder else "no home directory"
    return f"no key of this user's alone can be kept ({where}), so that no row is known again"


@cache
def _key() -> bytes | None:
    folder = place("XDG_STATE_HOME", ".local/state")
    try:
        return _kept(folder / "key") if folder else None
    except OSError:
        return None


def _kept(path: Path) -> bytes | None:
    """The key in a file that is the user's alone, made if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f"key.{secrets.token_hex(8)}.part")
    if not path.exists():
        # Private before the key is in it, and linked into place when it is whole.
        part.touch(mode=0o600)
        try:
            part.write_bytes(secrets.token_bytes(LENGTH))
            os.link(part, path)  # the first of several processes makes it
        except FileExistsError:
            pass
        finally:
            part.unlink()
    # Neither through a link nor, if a pipe has the key's name, waiting for whoever writes to it.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status, key = os.fstat(handle), file.read(LENGTH + 1)
    private = status.st_uid == os.getuid() and not status.st_mode & 0o077
    return key if private and len(key) == LENGTH else None
