"""What the files of an audit are called."""

from __future__ import annotations

import hashlib
import re

__all__ = ["AUDIT", "plain", "slug"]

AUDIT = "audit.json"


def slug(identifier: str) -> str:
    """`paper/label` as a file name; ids that differ get names that differ."""
    if re.fullmatch(r"\w+/[\w.~+-]+", identifier, flags=re.ASCII):
        return identifier.replace("/", "-")
    return f"{plain(identifier)}-{hashlib.sha256(identifier.encode()).hexdigest()[:12]}"


def plain(name: str) -> str:
    """A name of letters, digits and a few signs; names that differ may become the same."""
    return re.sub(r"[^\w~+-]+", "-", name, flags=re.ASCII)[:80].strip("-")
