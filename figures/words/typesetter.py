"""Formulas of one page, within a limit: a file full of long ones must not cost hours."""

from __future__ import annotations

from markupsafe import Markup

from .mathml import marked, mathml

__all__ = ["Typesetter"]

FORMULAS = 2_000_000_000  # of all formulas, characters squared: what typesetting them costs


class Typesetter:
    def __init__(self) -> None:
        self.left = FORMULAS

    def math(self, latex: str, display: str = "inline") -> Markup:
        self.left -= len(latex) ** 2
        return mathml(latex, display) if self.left > 0 else Markup("<code>{}</code>").format(latex)

    def marked(self, old: str, new: str) -> tuple[Markup, Markup]:
        """Two formulas, what only one of them has marked."""
        self.left -= (len(old) + len(new)) ** 2
        return marked(old, new) if self.left > 0 else (self.math(old), self.math(new))
