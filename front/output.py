"""What commands print: JSON on stdout, one line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .errors import one_line

__all__ = ["Json", "JsonObject", "complain", "print_json"]

Json: TypeAlias = Mapping[str, Any]  # a row or a certificate, as it is read
JsonObject: TypeAlias = dict[str, Any]  # one that is being written


def print_json(rows: Sequence[Json]) -> int:
    """Print rows as one JSON array; the exit status of success."""
    import json

    # To another encoding, `backslashreplace` (cli._streams) would write \xe9, which JSON does not have.
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(rows, indent=1, ensure_ascii=plain, allow_nan=False))
    return 0


def complain(line: str, status: int) -> int:
    """Say one line on stderr; returns the exit status."""
    print(f"fedaudit: {one_line(line)}", file=sys.stderr)
    return status
