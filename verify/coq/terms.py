"""Names, numbers and comments as Coq reads them: nothing that strangers sent gets in as text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from flint import fmpq

__all__ = ["comment", "identifier", "listed", "rational", "real"]


LONG = 10**12  # numbers from here on are written in base 16, which Coq reads much faster
SIGNS = {"/": "__", "-": "_", ".": "_o_", "~": "_v_"}  # those of the catalogue's ids, for names that people read


def identifier(name: str) -> str:
    """A statement's id as a Coq name of letters, digits and underscores, different for different ids: what is no id of
    the usual form has a digest behind it.
    """
    plain = re.sub(r"[^A-Za-z0-9]", lambda c: SIGNS.get(c[0], "_"), name)[:80]
    if re.fullmatch(r"[A-Za-z0-9]+/[A-Za-z0-9]+([-.~][A-Za-z0-9]+)*", name) and not re.search(r"-[ov](-|$)", name):
        return f"s_{plain}"
    return f"s_{plain}_{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def comment(words: str) -> str:
    """Words in a comment that nothing inside can end, open, or quote."""
    return f"(* {re.sub(r'[^A-Za-z0-9 .,:;=<>/~+_-]', '?', words)} *)"


def rational(x: fmpq) -> str:
    """A number of Q."""
    top, below = (f"{n:#x}" if abs(n) >= LONG else str(n) for n in (int(x.p), int(x.q)))
    return f"({top} # {below})"


def real(x: fmpq) -> str:
    """A number of R."""
    top = f"({int(x.p)})" if x < 0 else f"{int(x.p)}"
    return top if x.q == 1 else f"({top} / {int(x.q)})"


def listed(parts: Iterable[str], apart: str = "; ") -> str:
    return f"[{apart.join(parts)}]"
