"""What becomes of derivations other than a statement's first: lines among its findings, written and read here."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["line", "read"]

LINE = re.compile(r"another way, from (.+): ([a-z-]+) \(([a-z]*)\)")


def line(cites: Sequence[str], status: str, evidence: str) -> str:
    """The finding about one way."""
    return f"another way, from {', '.join(cites) or 'the assumptions'}: {status} ({evidence})"


def read(findings: Sequence[str]) -> dict[str, tuple[str, str]]:
    """From where -> status and evidence, of every other way; a second one from the same place is numbered."""
    ways: dict[str, tuple[str, str]] = {}
    for finding in findings:
        if match := LINE.fullmatch(finding):
            start, status, evidence = match.groups()
            same = sum(name == start or name.startswith(f"{start} (") for name in ways)
            ways[f"{start} ({same + 1})" if same else start] = (status, evidence)
    return ways
