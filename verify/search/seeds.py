"""Seeds come from names, so that no result depends on the order of the work or on the number of workers."""

from __future__ import annotations

import hashlib


def seed_for(seed: int, *names: object) -> int:
    """A 63-bit seed for this use."""
    return int.from_bytes(hashlib.sha256(repr((seed, *map(str, names))).encode()).digest()[:8], "big") >> 1
