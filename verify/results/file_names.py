"""What the files of an audit are called, and the words for what a proof takes on trust."""

from __future__ import annotations

import hashlib
import re

__all__ = [
    "AUDIT",
    "CERTIFICATES",
    "PROOFS",
    "WORST",
    "is_calibration",
    "is_printed",
    "lines_trusted",
    "plain",
    "proof_file",
    "slug",
]

AUDIT = "audit.json"
CERTIFICATES, PROOFS, WORST = "certificates", "proofs", "worst"  # folders beside it; the last has both ends


def slug(identifier: str) -> str:
    """`paper/label` as a file name; ids that differ get names that differ."""
    if re.fullmatch(r"\w+/[\w.~+-]+", identifier, flags=re.ASCII):
        return identifier.replace("/", "-")
    return f"{plain(identifier)}-{hashlib.sha256(identifier.encode()).hexdigest()[:12]}"


def plain(name: str) -> str:
    """A name of letters, digits and a few signs; names that differ may become the same."""
    return re.sub(r"[^\w~+-]+", "-", name, flags=re.ASCII)[:80].strip("-")


def is_printed(identifier: str) -> bool:
    """Whether it is a statement as it is printed, and no other reading, explicit form or repair of one."""
    return "~" not in identifier


def is_calibration(paper: str) -> bool:
    """Whether a paper is one of textbook theorems on which the tool is tried."""
    return paper == "classic"


def proof_file(identifier: str) -> str:
    """Where an audit's folder keeps the proof of a statement."""
    return f"{PROOFS}/{slug(identifier)}.json"


def lines_trusted(count: int) -> str:
    """What is added to "proved" where so many lines of a proof were taken on z3's word."""
    return f", trusting z3 for {count} line{'s' if count > 1 else ''}" if count else ""
