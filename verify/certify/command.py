"""`fedaudit certify`: is that really a counterexample, and to what the catalogue says?

A certificate is data from strangers. Its claim is compared with the statement of the catalogue (or of a user's own .py
file); then the kernel replays the instance, in a process of its own with limits. What the kernel accepts is a
counterexample to the formula of the claim; whether that refutes what is printed depends on the statement's kind:

    what                                  accepted
    "refutation"                          yes
    "literal reading without X"           yes: a finding about the text, not a refutation; `dropped` names X
    "explicit rate of a reading"          no: what is printed names no rate
    "witness fails"                       no: what is printed says that a witness exists
    "contradiction"                       no: the kernel accepts a proof of the statement
    "proof at a point, times F"           yes: no counterexample but a proof, for all functions and dimensions, that at
                                          its point the left side is at most F times the right one
    "lower end ..."                       yes: an exact instance that attains it; it refutes nothing
    "proof of the statement ..."          yes: by the rules of kernel/proofs, with the proofs of what it cites beside
                                          it; `trusted` counts lines that were taken on a solver's word

An audit's folder keeps its evidence: counterexamples, proofs, both ends of the worst cases that its rows quote. All of
it is checked again and compared with audit.json, and `kind` says which it is. The folder may come from a stranger too:
of verdicts that rest on no certificate and that this user's own audit did not come to, nothing can be checked, and the
row says so (`unchecked`): it is neither accepted nor rejected.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

import z3  # pyright: ignore[reportMissingTypeStubs]

from fedaudit.bounds.catalogue.discovery import file_of, find
from fedaudit.bounds.language.row_list import Recorded
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.hand_premises import premises
from fedaudit.errors import UserError

from ..kernel import Malformed, Rejected, load
from ..kernel.core.rational import BYTES as SIZE
from ..kernel.gram.lower_end import is_instance
from ..kernel.gram.point_proof import is_proof
from ..kernel.proofs.proof import FORMAT as PROOF
from ..kernel.proofs.proof import is_one
from ..kernel.service.files import read_text
from ..moves.kernel_proof import Proof, prove
from ..results.audit_json import read_rows
from ..results.file_names import AUDIT, PROOFS, WORST, slug
from ..results.json_fields import Json, JsonObject
from ..search.claim_identity import claim_of, same
from .explanation import explain, explain_proof
from .kept_evidence import Judgement, Kept, told
from .proof_files import BYTES, Judged, Shelf
from .references import Reference, references
from .sandbox import LIMIT, Checker, Limit

__all__ = ["Certified", "certify", "certify_files", "line", "status"]


FIELDS = {"format", "statement", "claim", "dropped", "instance", "at", "lhs", "rhs"}
OF_PROOFS = {"format", "statement", "claim", "point", "at", "factor", "multipliers"}
CERTIFIED = ("refuted", "proved")  # verdicts that are nothing without a certificate
NO_RATE = "rejected as a refutation: the explicit rate of the reading falls, what is printed names no rate"
WITNESS = "rejected as a refutation: the witness fails, what is printed says that one exists"
BOTH = "the kernel accepts a counterexample and a proof of one statement: one of them is wrong; report this"
LOWER = "lower end: an exact instance, which refutes nothing"
FALLS = "lower end: an exact instance, on which the claim fails"
AGAIN = "write it again with `fedaudit hunt --out`"


@dataclass(frozen=True, slots=True)
class Certified(Recorded):
    """What the kernel and the catalogue say of one certificate; see `what` above.

    >>> import fedaudit as fa
    >>> found = fa.hunt("buttaci/appA-strong-second", budget=0.1)
    >>> judged = fa.certify(found.certificate)
    >>> judged.accepted, judged.what
    (True, 'refutation')
    """

    id: str
    accepted: bool
    malformed: bool
    what: str | None
    reason: str | None
    lhs: str | None
    rhs: str | None
    dropped: tuple[str, ...]
    rest: Json = field(default_factory=JsonObject, repr=False)  # of its row

    @classmethod
    def of(cls, row: Judgement) -> Certified:
        names = ("id", "accepted", "malformed", "what", "reason", "lhs", "rhs")
        rest = {name: value for name, value in row.items() if name not in (*names, "dropped")}
        return cls(**{name: row[name] for name in names}, dropped=tuple(row["dropped"]), rest=rest)

    def row(self) -> Judgement:
        row = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("rest", "dropped")}
        return {**row, "dropped": list(self.dropped), **self.rest}


def certify(data: object, name: str, sources: Sequence[str] = (), checker: Checker | None = None) -> Judgement:
    """One row about one certificate, whatever it is. Many of them: hand the same `checker` to all.

    Raises `UserError` only for `sources` that define no statements.
    """
    with nullcontext(checker) if checker else Checker() as asked:
        return _judge(data, name, _known(sources), asked)


Owned = Callable[[Path], Collection[str]]
Telling = Callable[[Json], Sequence[str]]


def nobodys(_: Path) -> Collection[str]:
    """No row of this audit.json is known to be one's own."""
    return ()


def certify_files(
    names: Sequence[str], limit: Limit = LIMIT, *, telling: Telling | None = None, owned: Owned = nobodys
) -> list[Judgement]:
    """One row per certificate. A folder stands for the certificates in it, a .py file for statements of one's own.

    `owned`: the ids whose rows in an audit.json are as this user's own audit wrote them. All others that no certificate
    refutes have a row too.
    `telling`: tells an instance in words. With it, rows whose certificate the kernel accepts say what it is and what it
    must trust (`explain`).
    """
    sources = [path for name in names if (path := file_of(name))]
    inputs = [name for name in names if not file_of(name)]
    if not inputs:
        inputs_named = line(", ".join(names))
        raise UserError(f"{inputs_named} without certificates", "certificate files", "name a .json file as well")
    by_id = _known(sources)
    with Checker(limit) as checker:
        rows = [row for name in inputs for row in _rows(name, by_id, checker, owned)]
    return [_explained(row, by_id, telling) for row in rows] if telling else rows


def _explained(row: Judgement, known: Mapping[str, Statement], telling: Telling) -> Judgement:
    if row["kind"] == "proof" and row["accepted"]:
        return {**row, "explain": explain_proof(row, known[row["id"]])}
    if row["lhs"] is None or not row["file"].endswith(".json") or Path(row["file"]).name == AUDIT:
        return row  # the kernel says both sides of a counterexample, and of nothing else
    try:
        data = cast("JsonObject", load(read_text(row["file"])))
        instance = [line(said, 1000) for said in telling(data)]
        return {**row, "explain": {"counterexample": instance, **explain(data, known[row["id"]])}}
    except (Malformed, Rejected) as error:
        return {**row, "explain": {"kernel": [f"cannot be explained in parts: {line(str(error))}"]}}


def status(rows: Sequence[Judgement]) -> int:
    """2 for bad input, 1 for what is not accepted (or, in an audit's folder, not what audit.json says), else 0.

    What is not checked was not found to be wrong, and its row says no more than that.
    """
    if any(row["malformed"] for row in rows):
        return 2
    return 0 if all(row["accepted"] or row.get("agrees") or row.get("unchecked") for row in rows) else 1


def line(text: str, most: int = 300) -> str:
    """Words of strangers as one line that a terminal can show."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in " ".join(text.split()))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


# --- one certificate -------------------------------------------------------------------------------------------------


def _row(name: str, identifier: str = "", **more: object) -> Judgement:
    row: Judgement = {"id": identifier, "file": line(name, 1000), "accepted": False, "malformed": False, "what": None}
    return {**row, "reason": None, "lhs": None, "rhs": None, "dropped": [], "kind": None, **more}


def _malformed(
    name: str, why: str, identifier: str = "", expected: str = "a certificate", do: str = AGAIN
) -> Judgement:
    said = str(UserError(f"{line(name)}, {line(why)}", expected, do))
    return _row(name, identifier, malformed=True, reason=said)


def _judge(
    data: object,
    name: str,
    known: Mapping[str, Statement],
    checker: Checker,
    shelf: Shelf | None = None,
    *,
    end: bool = False,
) -> Judgement:
    """`shelf`: the proofs of the folder, for what a proof cites. `end`: it is asked for as the end of a worst case."""
    fields = cast("dict[str, object]", data) if isinstance(data, dict) else {}
    identifier = fields.get("statement")
    if not isinstance(identifier, str):
        return _malformed(name, "certificate.statement: got nothing, expected an id")
    shown = line(identifier, 200)
    if is_one(fields):
        return _proof(fields, name, shown, shelf or Shelf(None, known, checker))
    if shown not in known:
        return _unknown(name, shown, known)
    expected = OF_PROOFS if is_proof(fields) else FIELDS
    if wrong := expected ^ (set(fields) - {"replays"}):  # only of order claims with a form; the kernel checks them
        return _malformed(name, f"certificate: got missing or unknown fields {sorted(wrong)}", shown)
    claim = fields["claim"]
    if not isinstance(claim, dict) or cast("dict[str, object]", claim).get("id") != identifier:
        return _malformed(name, "certificate.claim: got a claim with another id than its statement's", shown)
    statement = known[shown]
    if statement.kind == "experiment":
        observed = "claim: got a counterexample to an experiment, expected one to a claim about all instances"
        return _row(name, shown, reason=observed)
    if not same(cast(object, claim), claim_of(statement)):
        other = f"claim: got another claim than {shown} makes, expected the catalogue's"
        return _row(name, shown, reason=other)
    answer = checker.ask(fields)
    if answer.outcome == "malformed":
        return _malformed(name, answer.reason, shown)
    if answer.outcome == "rejected":
        return _row(name, shown, reason=line(answer.reason, 500))
    if answer.what is not None:
        return _row(name, shown, accepted=True, what=line(answer.what), kind="upper end")
    if is_instance(fields) or end:
        sides = {"lhs": answer.lhs, "rhs": answer.rhs, "dropped": list(answer.dropped)}
        what = LOWER if is_instance(fields) else FALLS
        return _row(name, shown, accepted=True, what=what, kind="lower end", **sides)
    row = _row(name, shown, lhs=answer.lhs, rhs=answer.rhs, dropped=list(answer.dropped))
    return {**row, **_meaning(statement, answer.dropped, known)}


def _proof(fields: dict[str, object], name: str, identifier: str, shelf: Shelf) -> Judgement:
    """A row about a proof of a statement; what it cites lies in the same folder."""
    if identifier not in shelf.known:
        return _unknown(name, identifier, shelf.known)
    own = shelf.folder is not None and Path(name) == shelf.folder / f"{slug(identifier)}.json"
    judged: Judged = shelf.of(identifier) if own else shelf.judge(fields)
    if judged.answer.outcome == "malformed":
        return _malformed(
            name, judged.answer.reason, identifier, "a proof", "write it again with `fedaudit audit --out`"
        )
    if not judged.accepted:
        return _row(name, identifier, reason=line(judged.answer.reason, 500), kind="proof")
    return _row(name, identifier, accepted=True, kind="proof", **told(shelf, judged))


def _meaning(statement: Statement, dropped: tuple[str, ...], known: Mapping[str, Statement]) -> Judgement:
    """What a counterexample to the formula says about the statement."""
    without = f" without {', '.join(dropped)}" if dropped else ""
    if statement.kind == "exists":
        return {"what": f"witness fails{without}", "reason": WITNESS}
    if statement.kind == "order" and statement.method not in ("order", "network_limit"):  # the kernel decides those
        return {"what": f"explicit rate of a reading{without}", "reason": NO_RATE}
    if dropped:
        return {"accepted": True, "what": f"literal reading{without}", "kind": "literal reading"}
    if _proves(statement, known):
        return {"what": "contradiction", "reason": BOTH}
    return {"accepted": True, "what": "refutation", "kind": "refutation"}


def _proves(statement: Statement, known: Mapping[str, Statement]) -> bool:
    """Whether the kernel accepts a proof of it. That takes seconds: asked only where no premise stands in the way."""
    if not _may_prove(statement, known):
        return False
    cast(Any, z3).set_param("ctrl_c", False)  # Ctrl-C ends us, not z3's answer to one question
    return isinstance(prove(statement, known), Proof)


def _may_prove(statement: Statement, known: Mapping[str, Statement], above: frozenset[str] = frozenset()) -> bool:
    """Whether its proof has premises for the kernel, as has all that it cites; `above`: what cites it, for a circle."""
    if statement.id in above:
        return False
    above |= {statement.id}
    if not statement.follows_from:
        return statement.kind == "order" and statement.method == "order"
    ways = (replace(statement, follows_from=(way,)) for way in statement.follows_from)
    return any(
        all(name in known for name in way.follows_from[0].cites)
        and not premises(way, known)
        and all(_may_prove(known[name], known, above) for name in way.follows_from[0].cites)
        for way in ways
    )


def _known(sources: Sequence[str]) -> dict[str, Statement]:
    try:
        own = [s for source in sources for s in find([source])]
    except OSError as error:
        why = f"{line(', '.join(sources))} ({error.strerror})"
        raise UserError(why, "Python files that define statements", "check the path") from error
    return {s.id: s for s in (*find([]), *own)}


def _unknown(name: str, identifier: str, known: Mapping[str, Statement]) -> Judgement:
    near = difflib.get_close_matches(identifier, list(known), n=3)
    do = f"did you mean {', '.join(near)}?" if near else "name the .py file that defines it as well"
    return _malformed(name, f"the statement {identifier!r}", identifier, "one that the catalogue holds", do)


# --- files and folders -----------------------------------------------------------------------------------------------


def _rows(name: str, known: Mapping[str, Statement], checker: Checker, owned: Owned) -> list[Judgement]:
    try:
        path = Path(name)
        if not name or not path.is_dir():
            return [_certified(name, known, checker)]
        # A link that leads nowhere does not exist, and is no reason to take the folder for one without audit.json.
        if (path / AUDIT).is_symlink() or (path / AUDIT).exists():
            return _audited(path, known, checker, owned(path / AUDIT))
        ends = _listed(path / WORST)
        files = [*_listed(path / "certificates"), *_listed(path / PROOFS)]
        files = files or ([] if ends else _listed(path))
    except OSError as error:
        return [_malformed(name, error.strerror or "an error", do="check the path")]
    if not files and not ends:
        expected = "a folder that holds certificates or an audit.json"
        return [_malformed(name, "a folder without certificates", "", expected, "nothing: there is nothing to check")]
    shelves = {file.parent: Shelf(file.parent, known, checker) for file in files}
    rows = [_loaded(str(file), known, checker, shelves[file.parent])[0] for file in files]
    return [*rows, *(_loaded(str(file), known, checker, end=True)[0] for file in ends)]


def _listed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix == ".json" and not file.name.startswith("."))


def _certified(name: str, known: Mapping[str, Statement], checker: Checker) -> Judgement:
    return _loaded(name, known, checker)[0]


def _loaded(
    name: str, known: Mapping[str, Statement], checker: Checker, shelf: Shelf | None = None, *, end: bool = False
) -> tuple[Judgement, Json]:
    """The row of a file, and what is in it; nothing where it could not be read."""
    try:
        text = read_text(name, BYTES)
    except Malformed as error:
        return _malformed(name or "''", str(error), do="check the path"), {}
    try:
        # Only proofs may be so long; which kind it is has to be told before parsing, and our files begin with it.
        data = load(text, BYTES if PROOF in text[:100] else SIZE)
    except Malformed as error:
        return _malformed(name, str(error)), {}
    row = _judge(data, name, known, checker, shelf or Shelf(Path(name).parent, known, checker), end=end)
    return row, cast("JsonObject", data) if isinstance(data, dict) else {}


def _audited(path: Path, known: Mapping[str, Statement], checker: Checker, own: Collection[str]) -> list[Judgement]:
    """Every certificate of an audit's folder, and whether audit.json says of it what it is; other verdicts after it."""
    document = path / AUDIT
    files = _listed(path / "certificates")
    judged = {f"certificates/{file.name}": _certified(str(file), known, checker) for file in files}
    try:
        said = read_rows(document)
    except UserError as error:
        return [_row(str(document), malformed=True, reason=line(str(error), 500)), *judged.values()]
    named = references(said)
    rows: list[Judgement] = []
    for reference in named:
        if reference.data is not None:
            rows.append(reference.compared(_judge(dict(reference.data), str(document), known, checker)))
        elif reference.file not in judged:
            missing = f"{path}/{reference.file or 'certificates'}"
            rows.append(_row(missing, reference.row.id, reason=reference.missing()))
    for file, row in judged.items():
        rows.append(_compared(row, [reference for reference in named if reference.file == file]))
    kept = Kept(path, known, checker, lambda name: _loaded(name, known, checker, end=True), _row).rows(said)
    fallen = {row["id"] for row in rows if row["what"] == "refutation" and row["accepted"]}
    rows += [_standing(row, fallen) for row in kept]
    others = (row for row in said if row.verdict not in CERTIFIED and row.id not in own)
    return [*rows, *(_unchecked(row.id, row.verdict, str(document)) for row in others)]


def _standing(row: Judgement, fallen: Collection[str]) -> Judgement:
    """The row of a proof, as far as a refutation speaks against it."""
    if row["kind"] != "proof" or not row["accepted"] or row["id"] not in fallen:
        return row
    return {**row, "accepted": False, "what": "contradiction", "reason": BOTH}


def _unchecked(identifier: str, verdict: str, document: str) -> Judgement:
    """A verdict that no certificate stands behind, of a row that is not this user's own."""
    said = f"{line(verdict, 50)} is what audit.json says, not checked"
    reason = f"{said}; do: decide it again with `fedaudit audit --out DIR`"
    return _row(document, line(identifier, 200), unchecked=True, reason=reason)


def _compared(row: Judgement, named: Sequence[Reference]) -> Judgement:
    """The row of a file, as the references to it see it: the first that disagrees has the word."""
    if row["malformed"]:
        return row
    if not named:
        return {**row, "accepted": False, "reason": "orphaned: got no row of audit.json that names it, expected one"}
    rows = [reference.compared(row) for reference in named]
    return next((one for one in rows if not one["agrees"]), rows[0])
