"""The printed statement beside the repaired one, the change marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from markupsafe import Markup

from .letters import pretty

if TYPE_CHECKING:
    from fedaudit.verify.results.audit_json import Printed

    from .typesetter import Typesetter

__all__ = ["Changed", "changes"]

HIDDEN = ("algorithm", "measures")  # shown only where they differ


@dataclass(frozen=True, slots=True)
class Changed:
    """One part of both statements: its lines, and whether they differ."""

    name: str
    old: tuple[Markup, ...]
    new: tuple[Markup, ...]
    differs: bool


def changes(old: Printed, new: Printed, typesetter: Typesetter) -> list[Changed]:
    """Assumptions and formulas, part by part, in the order of the page.

    An order and an inequality are written in different ways: nothing is marked between them.
    """
    if old.kind != new.kind:
        return [_apart(name, old, new, typesetter) for name in ("when", "then")]
    before, after = dict(old.parts), dict(new.parts)
    said = [[a.says or a.name for a in one.let] for one in (old, new)]
    more = [[a.says or a.name for a in one.implicit] for one in (old, new)]
    parts = [_words("let", *said), _words("implicit", *more)]
    for name in dict.fromkeys((*before, *after)):
        lines = before.get(name, ()), after.get(name, ())
        if name not in HIDDEN or lines[0] != lines[1]:
            parts.append(_formulas(name, *lines, typesetter))
    return [part for part in parts if part.differs or part.name not in ("let", "implicit")]


def _apart(name: str, old: Printed, new: Printed, typesetter: Typesetter) -> Changed:
    lines = [dict(one.parts).get(name, ()) for one in (old, new)]
    left, right = (tuple(typesetter.math(line, "block") for line in one) for one in lines)
    return Changed(name, left, right, differs=left != right)


def _words(name: str, old: Sequence[str], new: Sequence[str]) -> Changed:
    """Only what differs: assumptions that both have are on the statement's own page."""
    gone = tuple(Markup("<del>{}</del>").format(pretty(line)) for line in old if line not in new)
    come = tuple(Markup("<ins>{}</ins>").format(pretty(line)) for line in new if line not in old)
    return Changed(name, gone, come, bool(gone or come))


def _formulas(name: str, old: Sequence[str], new: Sequence[str], typesetter: Typesetter) -> Changed:
    left: list[Markup] = []
    right: list[Markup] = []
    for op, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        both = min(b - a, d - c) if op == "replace" else 0
        for n in range(both):
            one, other = typesetter.marked(old[a + n], new[c + n])
            left.append(one)
            right.append(other)
        if op == "equal":
            left += [typesetter.math(line, "block") for line in old[a:b]]
            right += [typesetter.math(line, "block") for line in new[c:d]]
        else:
            left += [Markup("<del>{}</del>").format(typesetter.math(line, "block")) for line in old[a + both : b]]
            right += [Markup("<ins>{}</ins>").format(typesetter.math(line, "block")) for line in new[c + both : d]]
    return Changed(name, tuple(left), tuple(right), list(old) != list(new))
