"""LaTeX from the catalogue as MathML: the page needs no script and no font to show it."""

from __future__ import annotations

from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup, escape

from .style import braced

__all__ = ["mathml"]


@cache
def mathml(latex: str, display: str = "inline") -> Markup:
    """A formula, its LaTeX kept for copying and screen readers; what cannot be converted is shown as LaTeX."""
    try:
        made = convert(braced(latex), display=display)
    except Exception:  # the converter raises errors of many types; the formula must be seen all the same
        return Markup("<code>{}</code>").format(latex)
    return Markup(made.replace("<math ", f'<math aria-label="{escape(latex)}" ', 1))
