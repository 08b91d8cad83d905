"""What `fedaudit plot` and `fa.plot` draw: statements, at constants of their own or at given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fedaudit.bounds.language.statement import Statement
    from fedaudit.figures.drawing import Drawable, Style

__all__ = ["MOST", "Request"]

MOST = 5  # statements or runs in one picture

Values = Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Request:
    """Statements, each at every point of values, and the style; one alone without values shows what suits it best."""

    statements: Sequence[Statement]
    points: Sequence[Values]
    seed: int
    style: Style = "page"

    def figure(self) -> tuple[Figure, list[str]]:
        """The figure, and what was drawn in words: one line a run, every constant of it named."""
        from fedaudit.figures.drawing import draw, draw_rates

        pictures = self._pictures()
        captions = [str(getattr(picture, "caption", "")) for picture in pictures]
        if len(pictures) == 1 and self.style == "page":
            return draw(pictures[0]), captions
        return draw_rates(pictures, self._names(), self.style), captions

    def on(self, axes: Axes) -> Axes:
        """Draws on axes of the caller's own."""
        from fedaudit.figures.drawing import draw_on

        return draw_on(axes, self._pictures(), self._names())

    def _pictures(self) -> list[Drawable]:
        from fedaudit.verify.pictures.curves import picture, rate_at

        wanted = len(self.statements) * len(self.points)
        if wanted > MOST:
            raise UserError(f"{wanted} runs in one picture", f"at most {MOST}", "leave some out")
        return [
            rate_at(statement, values, self.seed) if values else picture(statement, self.seed)
            for statement in self.statements
            for values in self.points
        ]

    def _names(self) -> list[str]:
        """What tells the runs of one picture apart: their statements, or the values that differ."""
        varied = [name for name in self.points[0] if len({values[name] for values in self.points}) > 1]
        several = len(self.statements) > 1
        return [
            ", ".join([*([statement.id] if several else []), *(f"{name} = {values[name]}" for name in varied)])
            for statement in self.statements
            for values in self.points
        ]
