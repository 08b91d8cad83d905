"""Small pieces of every page: numbers, first letters, where a tightness lies on its scale, pictures and digests."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re

from ..words import numbers

__all__ = ["begun", "data_uri", "described", "digest", "scale", "short"]

BEGINNING = 4_000  # bytes of an SVG in which its title and description stand
LOW, HIGH, WIDTH = 1e-3, 1e1, 80  # the scale of tightness beside each number, and its width


def scale(tightness: float | None) -> float | None:
    """Returns where a tightness lies on its scale, from the left; None where a logarithmic scale has no place for
    it.
    """
    if tightness is None or tightness <= 0:
        return None
    share = math.log(min(max(tightness, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return round(4 + share * (WIDTH - 8), 1)


def begun(text: str) -> str:
    """Makes the first letter a capital, as a line begins; names inside it keep their letters."""
    return text[:1].upper() + text[1:]


def short(value: object) -> str:
    """Returns a number as people read it, other values as they are, and nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return numbers.short(value)
    return "" if value is None else str(value)


def data_uri(picture: bytes) -> str:
    """Returns the address of an SVG inside the page. As an image it can neither run scripts nor clash with another
    figure's ids.
    """
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


def described(picture: bytes) -> str:
    """Returns the title and the description that stand at the beginning of an SVG, for those who do not see it."""
    head = picture[:BEGINNING].decode("utf-8", errors="replace")
    labels = (re.search(rf"<{name}>([^<]*)</{name}>", head) for name in ("title", "desc"))
    return " ".join(html.unescape(one[1]).strip().rstrip(".") + "." for one in labels if one and one[1].strip())


def digest(text: str) -> str:
    """Returns the digest by which the page's policy names a script or a style sheet."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
