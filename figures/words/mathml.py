"""LaTeX as MathML: the page needs no script and no font to show it.

LaTeX may come from a stranger's audit.json, and the converter copies parts of it. What it makes is therefore parsed,
and only elements, attributes and values of the lists below are written again, everything escaped. A formula with
anything else is shown as its LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Set
from difflib import SequenceMatcher
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup

__all__ = ["braced", "marked", "mathml"]

BARE = re.compile(r"\\(mathbf|boldsymbol|mathbb|mathcal|mathrm)\s*(\\[A-Za-z]+|[A-Za-z])")
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
LONGEST, DEEPEST = 5_000, 60  # characters of LaTeX; elements inside each other
TOKENS = ("mi", "mn", "mo", "ms", "mtext", "mspace")
LAYOUT = ("mrow", "mstyle", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "mover", "munder", "munderover")
FIXED = ("mfrac", "mroot", "msub", "msup", "msubsup", "mover", "munder", "munderover")  # each child has its meaning
ELEMENTS = frozenset((*TOKENS, *LAYOUT, "mtable", "mtr", "mtd"))  # below one <math>
FLAG, LENGTH, PLACE = r"true|false", r"[0-9](\.[0-9]{1,3})?em", r"left|center|right"
ATTRIBUTES = {
    name: re.compile(values)
    for name, values in {
        "accent": FLAG,
        "accentunder": FLAG,
        "columnalign": rf"({PLACE})( ({PLACE})){{0,20}}",
        "columnspacing": rf"{LENGTH}( {LENGTH}){{0,20}}",
        "displaystyle": FLAG,
        "fence": FLAG,
        "form": r"prefix|infix|postfix",
        "linethickness": r"0|0px",
        "mathvariant": r"[a-z]{1,12}(-[a-z]{1,12}){0,3}",
        "maxsize": LENGTH,
        "minsize": LENGTH,
        "movablelimits": FLAG,
        "rowspacing": r"[0-9]pt",
        "scriptlevel": r"[0-2]",
        "separator": FLAG,
        "stretchy": FLAG,
        "width": rf"-?{LENGTH}|(negative)?(very)?(thin|medium|thick)mathspace",
    }.items()
}


class Foreign(Exception):
    """The converter made something that is no plain formula."""


def braced(latex: str) -> str:
    r"""`\mathbf w` as `\mathbf{w}`, which is what mathtext and MathML converters read."""
    return BARE.sub(r"\\\1{\2}", latex)


@lru_cache(maxsize=10_000)
def mathml(latex: str, display: str = "inline") -> Markup:
    """A formula, its LaTeX kept for copying and screen readers; what cannot be converted is shown as LaTeX."""
    try:
        return _written(_converted(latex, display), latex, display, frozenset())
    except Exception:  # the converter raises errors of many types; the formula must be seen all the same
        return Markup("<code>{}</code>").format(latex)


@lru_cache(maxsize=1_000)
def marked(old: str, new: str) -> tuple[Markup, Markup]:
    """Two formulas as blocks; what only one of them has is of the class `changed`."""
    try:
        one, other = _converted(old, "block"), _converted(new, "block")
        changed: set[int] = set()
        _compare(one, other, changed)
        return _written(one, old, "block", changed), _written(other, new, "block", changed)
    except Exception:  # as above
        return mathml(old, "block"), mathml(new, "block")


def _converted(latex: str, display: str) -> ElementTree.Element:
    if len(latex) > LONGEST:
        raise Foreign
    rows = braced(latex).replace("{aligned}", "{align*}")  # the converter knows this one, which means the same here
    root = ElementTree.fromstring(convert(rows, display=display))
    if root.tag != f"{{{NAMESPACE}}}math":
        raise Foreign
    return root


def _written(root: ElementTree.Element, latex: str, display: str, changed: Set[int]) -> Markup:
    inner = escape(root.text or "") + "".join([_emitted(child, 1, changed) for child in root])
    said = f'<math xmlns="{NAMESPACE}" display="{escape(display)}" aria-label="{escape(latex)}">'
    return Markup(f"{said}{inner}</math>")


def _compare(one: ElementTree.Element, other: ElementTree.Element, changed: set[int]) -> None:
    """Add the ids of the smallest elements that differ."""
    if _said(one) == _said(other):
        return
    if one.tag != other.tag or not len(one) or not len(other):
        changed |= {id(one), id(other)}
        return
    olds, news = list(one), list(other)
    if len(olds) == len(news) and one.tag.rpartition("}")[2] in FIXED:
        for a, b in zip(olds, news, strict=True):
            _compare(a, b, changed)
        return
    matcher = SequenceMatcher(None, [_said(x) for x in olds], [_said(x) for x in news], autojunk=False)
    for op, a, b, c, d in matcher.get_opcodes():
        if op == "replace" and b - a == d - c:
            for x, y in zip(olds[a:b], news[c:d], strict=True):
                _compare(x, y, changed)
        elif op != "equal":
            changed |= {id(x) for x in (*olds[a:b], *news[c:d])}


def _said(element: ElementTree.Element) -> str:
    return ElementTree.tostring(element, encoding="unicode")


def _emitted(element: ElementTree.Element, depth: int, changed: Set[int]) -> str:
    """One element as markup, what it holds and the text behind it; raises `Foreign` outside the lists."""
    space, _, name = element.tag.rpartition("}")
    if depth > DEEPEST or space != f"{{{NAMESPACE}" or name not in ELEMENTS:
        raise Foreign
    for attribute, value in element.attrib.items():
        if attribute not in ATTRIBUTES or not ATTRIBUTES[attribute].fullmatch(value):
            raise Foreign
    said = "".join([f' {attribute}="{escape(value)}"' for attribute, value in element.attrib.items()])
    said += ' class="changed"' if id(element) in changed else ""
    inner = _escaped(element.text) + "".join([_emitted(child, depth + 1, changed) for child in element])
    return f"<{name}{said}>{inner}</{name}>{_escaped(element.tail)}"


def _escaped(text: str | None) -> str:
    """Text, escaped; nothing for None, for most elements have no text of their own."""
    return escape(text) if text else ""
