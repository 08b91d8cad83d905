"""`fedaudit tighten ID`: the smallest constants for which the proof of a bound goes through."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from fedaudit.errors import UserError
from fedaudit.output import JsonObject
from fedaudit.verify.results.file_names import lines_trusted

Row = JsonObject
ABOUT = """\
Every term of a proved bound is scaled down, in hundredths, as far as the same proof still goes through: first in what
the statement cites, then line by line, with premises whose identities leave something over. What comes out is a
statement of its own, ID~tightened, which is proved like any other. "refused" is the next smaller factor, and
where it stops. That a smaller constant is not found does not say that it is false.
examples:
  fedaudit tighten buttaci/lemB.1                            8 E^3 G^2 gamma^2 can be 6 E^3 G^2 gamma^2
  fedaudit tighten buttaci/lemB.1 --out proofs/lemB.1.json   its proof, and beside it those of what it cites
  fedaudit certify proofs/lemB.1.json                        the kernel checks them
The comparison is with `fedaudit worst`, without noise, at ordinary points: the largest left side that is known, both
right sides on that run, and between which ends the largest lhs/rhs lies.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("selectors", nargs=1, metavar="ID", help="one proved statement, also `my.py::id`")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")
    sub.add_argument("--out", metavar="FILE", help="file for the proof, for `fedaudit certify`; with it, what it cites")
    sub.add_argument("--no-worst", action="store_true", help="leave out the comparison with exact worst cases")


def asked(selector: str, worst: bool = True) -> Row:
    """The row of the tightened statement; `proof` is its certificate, None where nothing is smaller."""
    from fedaudit.bounds.catalogue.discovery import catalogue
    from fedaudit.bounds.formulas.statement_text import formulas
    from fedaudit.bounds.lint.wellformed import well_formed
    from fedaudit.verify.moves.kernel_proof import Proof, Unproved, prove
    from fedaudit.verify.tighten.comparison import compared
    from fedaudit.verify.tighten.tighten import tighten

    chosen = well_formed([selector])
    if len(chosen) != 1:
        raise UserError(
            f"got {len(chosen)} statements for {selector!r}, expected one; do: name it as `fedaudit list` does"
        )
    (statement,) = chosen
    search = tighten(statement, catalogue(chosen))
    sibling = search.statement
    proof = prove(sibling, search.known) if search.smaller else None
    return {
        "id": sibling.id,
        "of": statement.id,
        "smaller": search.smaller,
        "statement": {name: lines for name, lines in formulas(sibling) if lines},
        "cites": list(sibling.follows_from[0].cites),
        "terms": [term.row() for term in search.terms],
        "lines": [{**line.row(), "used": line.premise in search.used} for line in search.lines],
        "worst": compared(statement, sibling) if search.smaller and worst else [],
        "certificate": dict(proof.file) if isinstance(proof, Proof) else None,
        "cited": {name: dict(one.file) for name, one in proof.cited.items()} if isinstance(proof, Proof) else {},
        "trusted": len(proof.trusted) if isinstance(proof, Proof) else 0,
        "missing": proof.reason if isinstance(proof, Unproved) else "",
    }


def kept(row: Row, file: Path) -> None:
    """Write the proof, and those of what it cites beside it; the row then says where it is."""
    from fedaudit.verify.results.file_names import slug

    from ..running.files import proof_text, write

    if row["certificate"] is None:
        why = f"of which nothing smaller was found{' that is proved' if row['smaller'] else ''}"
        raise UserError(f"got {row['of']}, {why}, expected a bound with room; do: leave out --out")
    for name, proof in row["cited"].items():
        write(file.with_name(f"{slug(name)}.json"), proof_text(proof))
    write(file, proof_text(row["certificate"]))
    row["certificate"] = str(file)


def as_text(row: Row, file: Path | None) -> str:
    return "\n".join(_lines(row, file))


def _lines(row: Row, file: Path | None) -> Iterator[str]:
    if row["smaller"]:
        proved = f"proved{lines_trusted(row['trusted'])}" if row["certificate"] else f"not proved: {row['missing']}"
        yield f"{row['id']}, {proved}"
        for name, formulas in row["statement"].items():
            yield from (f"  {name:<8} {formula}" for formula in formulas)
    else:
        yield f"{row['of']}: no term was found that can be 1 % smaller with this proof; that says nothing more"
    for term in row["terms"]:
        told = f"{term['term']} -> {term['tightened']}" if term["factor"] != "1" else f"{term['term']} stays"
        stopped = f"; {term['refused']} of it is refused: {term['stopped_by']}" if term["refused"] else ""
        yield f"  {told}{stopped}"
    for line in row["lines"]:
        where = f"{line['where']}{' (used)' if line['used'] else ''}"
        yield f"  line {where}: {line['quantity']} with {line['least']} for {line['printed']}"
    for at in row["worst"]:
        yield f"  at {at['name']}: {_ends('printed', at)}; {_ends('tightened', at)}"
        if at["lhs"] is not None:
            numbers = f"{at['lhs']:.6g}, printed bound {at['printed']:.6g}, tightened bound {at['tightened']:.6g}"
            yield f"    on the worst run that is known: left side {numbers}"
    if file is not None:
        yield f"proof: {file}; `fedaudit certify {file}` checks it"


def _ends(what: str, at: Row) -> str:
    ends = at[f"worst_of_{what}"]
    low, high = ("?" if ends[end] is None else f"{ends[end]:.6g}" for end in ("lower", "upper"))
    return f"worst lhs/rhs {what} [{low}, {high}]"
