"""`fedaudit derive ID --tree`: what a statement rests on, down to the assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.output import JsonObject
from fedaudit.verify.moves.kernel_proof import Proof, Unproved, prove
from fedaudit.verify.results.file_names import lines_trusted

Row = JsonObject


def tree(statement: Statement, known: Mapping[str, Statement]) -> Row:
    """The statement, and below it what its proof cites (the way that proves it, if one does).

    `proof` is the file that the kernel accepts, `missing` why there is none although all steps hold.
    """
    # Which constants have room is not shown here, and takes time to find.
    derivation = derive(statement, known, slack=False)
    verdict = prove(statement, known) if derivation.proved else None
    proved = isinstance(verdict, Proof)
    cited = (
        verdict.cites
        if isinstance(verdict, Proof)
        else derivation.proved_from
        if derivation.proved
        else derivation.cites
    )
    return {
        "id": statement.id,
        "status": derivation.status,
        "proved": proved,
        "trusted": len(verdict.accepted.trusted) if isinstance(verdict, Proof) else 0,
        "missing": verdict.reason if isinstance(verdict, Unproved) else "",
        "shown": list(derivation.shown),
        "proof": dict(verdict.file) if isinstance(verdict, Proof) else None,
        "by_hand": [] if proved else list(derivation.premises),
        "assumes": [a.name for a in (*statement.let, *statement.implicit)],
        "cites": [tree(known[name], known) for name in cited if name in known],
    }


def lines(row: Row, depth: int = 0) -> Iterator[str]:
    """One line per statement, indented below what cites it."""
    how = f"proved{lines_trusted(row['trusted'])}" if row["proved"] else row["status"]
    counted = [f"{len(row[key])} {says}" for key, says in (("shown", "shown"), ("by_hand", "by hand")) if row[key]]
    counted += [f"not proved: {row['missing']}"] if row["missing"] else []
    assumes = f"; assumes {', '.join(row['assumes'])}" if row["assumes"] else ""
    yield f"{'  ' * depth}{row['id']}: {', '.join([how, *counted])}{assumes}"
    for cited in row["cites"]:
        yield from lines(cited, depth + 1)


def kept(rows: Iterable[Row], folder: Path) -> int:
    """Write the proofs of all statements in the trees, each once and beside those that it cites; how many there are."""
    from fedaudit.verify.results.file_names import slug

    from ..running.files import proof_text, write

    below, files = list(rows), JsonObject()
    while below:
        row = below.pop()
        files |= {f"{slug(row['id'])}.json": row["proof"]} if row["proof"] else {}
        below += row["cites"]
    for name, data in files.items():
        write(folder / name, proof_text(data))
    return len(files)
