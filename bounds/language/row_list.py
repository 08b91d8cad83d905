"""Results as rows, for tables and notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["Recorded", "html_table"]

LONGEST = 120  # characters of a cell
MOST = 60  # rows that a notebook shows


class Recorded(ABC):
    """What has a row: `pandas.DataFrame(result.to_records())` is a table, and a notebook shows one."""

    __slots__ = ()

    @abstractmethod
    def row(self) -> dict[str, object]:
        """The result as `--json` prints it."""

    def to_records(self) -> list[dict[str, object]]:
        """A list of rows; here of one."""
        return [self.row()]

    def _repr_html_(self) -> str:
        (row,) = self.to_records()
        return html_table(
            [{"": name, "value": value} for name, value in row.items() if value not in (None, "", [], {})]
        )


def html_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a table; everything is escaped, long cells lose their end, and of many rows the first are shown."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row.get(name, '')))}</td>" for name in columns) + "</tr>"
        for row in rows[:MOST]
    )
    more = f"<p>and {len(rows) - MOST} rows more</p>" if len(rows) > MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    said = f"{value:.6g}" if isinstance(value, float) else str(value)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
