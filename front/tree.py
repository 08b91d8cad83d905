"""`fedaudit derive ID --tree`: what a statement rests on, down to the assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fedaudit.bounds.derive import derive, shown
from fedaudit.bounds.identity_data import identity_data
from fedaudit.bounds.statement import Statement

Row = dict[str, Any]


def tree(statement: Statement, known: Mapping[str, Statement]) -> Row:
    """The statement, and below it what its proof cites (the way that proves it, if one does).

    `certificates` are its shown premises, each for `fedaudit certify`.
    """
    made = derive(statement, known, slack=False)
    cited = made.proved_from if made.proved else made.cites
    return {
        "id": statement.id,
        "status": made.status,
        "proved": made.proved,
        "shown": list(made.shown),
        "certificates": [identity_data(premise, statement.id) for premise in shown(statement, known)],
        "by_hand": [] if made.proved else list(made.premises),
        "assumes": [a.name for a in (*statement.let, *statement.implicit)],
        "cites": [tree(known[name], known) for name in cited if name in known],
    }


def lines(row: Row, depth: int = 0) -> Iterator[str]:
    """One line per statement, indented below what cites it."""
    how = "proved" if row["proved"] else row["status"]
    counted = [f"{len(row[key])} {says}" for key, says in (("shown", "shown"), ("by_hand", "by hand")) if row[key]]
    assumes = f"; assumes {', '.join(row['assumes'])}" if row["assumes"] else ""
    yield f"{'  ' * depth}{row['id']}: {', '.join([how, *counted])}{assumes}"
    for cited in row["cites"]:
        yield from lines(cited, depth + 1)


def kept(rows: Iterable[Row], folder: Path) -> int:
    """Write the certificates of the shown premises of all statements in the trees, each once; how many there are."""
    from fedaudit.verify.names import slug

    from .store import dumps, write

    below, files = list(rows), dict[str, Any]()
    while below:
        row = below.pop()
        files |= {f"{slug(row['id'])}.{n}.identity.json": data for n, data in enumerate(row["certificates"])}
        below += row["cites"]
    for name, data in files.items():
        write(folder / name, dumps(data))
    return len(files)
