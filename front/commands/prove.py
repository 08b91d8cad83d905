"""`fedaudit prove ID|FILE`: look for a proof that nobody wrote, and let the kernel decide it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedaudit.output import Json, JsonObject

if TYPE_CHECKING:
    from fedaudit.bounds.language.derivation import Known
    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.results.row import WrittenProof

Row = JsonObject
SECONDS = 30.0
ABOUT = """\
From the statement alone, without the proof that it may bring: the method's own rules give the points of a round, the
assumptions give inequalities at these points (atoms), the conditions give numbers that are not negative (generators).
A linear programme looks for multipliers, and where the claim is about a last round also for a potential that no round
raises; rationals decide. Then the kernel checks the whole proof, and only what it accepts is called proved; `follows`
is what the engine alone accepts, and the row says what is missing.
Not found is not false: then the row says what was tried, and the statement stays as it is (`hunt` looks for a
counterexample). If the derivation of a statement has premises without multipliers, these are looked for as well.
examples:
  fedaudit prove classic/halpern                    finds Lieder's potential
  fedaudit prove my_paper.py                        every statement of a file of your own
  fedaudit prove classic/gd-fall --out fall.json    the proof as a file, for `fedaudit certify fall.json`
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("selectors", nargs="+", metavar="ID|FILE", help="a statement, a paper, your .py or `my.py::id`")
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")
    sub.add_argument("--seed", default="0", metavar="N", help="accepted as by other commands; nothing here is random")
    sub.add_argument(
        "--budget",
        metavar="SECONDS",
        help=f"effort for each statement, in seconds of a usual machine (default {SECONDS:g})",
    )
    sub.add_argument("--out", metavar="FILE", help="file for the proof, of one statement that is proved")


def sought(
    statement: Statement, known: Mapping[str, Statement], budget: float
) -> tuple[Row, Sequence[WrittenProof], Json | None]:
    """The row of one statement, its proof line by line, and the proof file that the kernel accepted."""
    from fedaudit.verify.prover.finder import Found, search

    outcome = search(statement, budget)
    row = outcome.row() | {"premises": list(_premises(statement, known))}
    return (row, outcome.written(), outcome.file) if isinstance(outcome, Found) else (row, (), None)


def kept(row: Row, file: Json, out: Path) -> None:
    """Write the proof, and say in the row where it is."""
    from ..running.files import dumps, write

    write(out, dumps(dict(file)))
    row["certificate"] = str(out)


# --- premises without multipliers, of a derivation that somebody wrote ------------------------------------------------


def _premises(statement: Statement, known: Mapping[str, Statement]) -> Iterator[Row]:
    """A row for each premise of the statement's derivations that was given without multipliers, and needs some."""
    from dataclasses import replace

    from fedaudit.bounds.proofs.argument import argued
    from fedaudit.bounds.proofs.hand_premises import shown
    from fedaudit.bounds.proofs.statement_view import view

    ways = [way for way in statement.follows_from if all(name in known for name in way.cites)]
    for way in ways:
        argued(replace(statement, follows_from=(way,)), known)  # bad input is told here
    conditions = view(statement).requires
    for premise in shown(statement, known):
        if _open(premise):
            yield _completed(statement, premise, conditions)


def _open(premise: Known) -> bool:
    from fedaudit.bounds.proofs.premise_identity import check

    return not premise.rule.by and bool(check(premise.rule).rest)


def _completed(statement: Statement, premise: Known, conditions: Any) -> Row:
    from fedaudit.bounds.proofs.premise_identity import check
    from fedaudit.verify.prover.atoms_in_reach import multipliers_of, written

    multipliers = multipliers_of(premise, statement, conditions)
    assumed = {a.name for a in (*statement.let, *statement.implicit)}
    return {
        "because": premise.because,
        "claim": str(premise.claim),
        "found": multipliers is not None,
        "by": None if multipliers is None else written(multipliers),
        "assumes": [] if multipliers is None else list(multipliers.assumes),
        "lacks": [] if multipliers is None else [name for name in multipliers.assumes if name not in assumed],
        "left_over": check(premise.rule).rest if multipliers is None else "",
    }


# --- as text ----------------------------------------------------------------------------------------------------------


def show(row: Row, ways: Sequence[WrittenProof]) -> None:
    """What was found for one statement, for people."""
    from .tables import proofs

    if row["status"] == "not-found":
        print(f"{row['id']}: no proof was found, which does not say that it is false: {row['why']}")
        print(f"  {_tried(row['tried'])}")
    else:
        print(f"{row['id']}: {_verdict(row)}")
        proofs(ways)
    for line in _below(row):
        print(line)


def _below(row: Row) -> Iterator[str]:
    """Premises that had no multipliers, and where the proof is."""
    for premise in row["premises"]:
        yield from _open_lines(row["id"], premise)
    if row["certificate"] is not None:
        yield f"  proof: {row['certificate']}; `fedaudit certify {row['certificate']}` checks it"


def _verdict(row: Row) -> str:
    if row["status"] == "follows":
        return f"follows, by the engine alone; {row['lacks']}"
    judged = sum(row["rules"].values())
    trusted = f", trusting z3 for {len(row['trusted'])} lines" if row["trusted"] else ""
    return f"proved: the kernel accepts {judged} judgements{trusted}"


def _tried(tried: list[Row]) -> str:
    if not tried:
        return "nothing of what is claimed is of a form that is searched for"
    atoms, gens, degree = (max(one[name] for one in tried) for name in ("atoms", "generators", "degree"))
    return f"tried {len(tried)} times, with up to {atoms} atoms, {gens} generators and products of degree {degree}"


def _open_lines(name: str, premise: Row) -> Iterator[str]:
    yield f"  {premise['because']!r}, a premise without multipliers: {premise['claim']}"
    if premise["found"]:
        yield from (f"    {line}" for line in premise["by"].splitlines())
        yield f"    assumes {', '.join(premise['assumes']) or 'nothing'}; paste it behind the frame in `shown(...)`"
        if premise["lacks"]:
            yield f"    {name} does not assume {', '.join(premise['lacks'])}"
    else:
        yield f"    not found, which does not say that it is false; to be shown: {premise['left_over'][:300]}"
