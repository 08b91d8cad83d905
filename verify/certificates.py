"""`fedaudit certify`: is that really a counterexample, and to what the catalogue says?

A certificate is data from strangers. Its claim is compared with the statement of the catalogue (or of a user's own .py
file); then the kernel replays the instance, in a process of its own with limits. What the kernel accepts is a
counterexample to the formula of the claim; whether that refutes what is printed depends on the statement's kind:

    what                                  accepted
    "refutation"                          yes
    "literal reading without X"           yes: a finding about the text, not a refutation; `dropped` names X
    "explicit rate of a reading"          no: what is printed names no rate
    "witness fails"                       no: what is printed says that a witness exists
    "contradiction"                       no: `derive` proves the statement
    "proof at a point, times F"           yes: no counterexample but a proof, for all functions and dimensions, that at
                                          its point the left side is at most F times the right one
    "identity, ..."                       yes: a premise of the statement's derivation, expanded again; what is trusted
    "proof from the assumptions ..."      yes: of the statement, or of one with smaller constants (`id~tightened`);
                                          what is trusted
    "proved, decided again"               yes: of a row of audit.json, which `derive` decided again

An audit's folder may come from a stranger too. Of the verdicts that its audit.json has and that this user's own audit
did not come to, refutations are replayed and proofs decided again; of any other nothing can be checked, and its row
says so (`unchecked`): it is neither accepted nor rejected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fedaudit.bounds.records import Recorded
from fedaudit.errors import UserError

from .child import LIMIT, Checker, Limit
from .kernel import Malformed, Rejected, chain, identity, load
from .kernel.files import read_text
from .kernel.proof import is_proof
from .names import AUDIT
from .proved_again import TIGHTENED, claim_of, not_proved, restates, same, unproved
from .references import Reference, Row, references, verdicts

if TYPE_CHECKING:
    from fedaudit.bounds.statement import Statement

__all__ = ["Certified", "certify", "certify_files", "line", "status"]

FIELDS = {"format", "statement", "claim", "dropped", "instance", "at", "lhs", "rhs"}
OF_PROOFS = {"format", "statement", "claim", "point", "at", "factor", "multipliers"}
DOCUMENT = 16_000_000  # bytes of audit.json that are read
NO_RATE = "rejected as a refutation: the explicit rate of the reading falls, what is printed names no rate"
WITNESS = "rejected as a refutation: the witness fails, what is printed says that one exists"
BOTH = "the kernel accepts a counterexample to a statement that derive proves: one of them is wrong; report this"
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
    rest: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)  # of its row

    @classmethod
    def of(cls, row: Row) -> Certified:
        names = ("id", "accepted", "malformed", "what", "reason", "lhs", "rhs")
        rest = {name: value for name, value in row.items() if name not in (*names, "dropped")}
        return cls(**{name: row[name] for name in names}, dropped=tuple(row["dropped"]), rest=rest)

    def row(self) -> Row:
        row = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("rest", "dropped")}
        return {**row, "dropped": list(self.dropped), **self.rest}


def certify(data: object, name: str, sources: Sequence[str] = (), checker: Checker | None = None) -> Row:
    """One row about one certificate, whatever it is. Many of them: hand the same `checker` to all.

    Raises `UserError` only for `sources` that define no statements.
    """
    with nullcontext(checker) if checker else Checker() as asked:
        return _judge(data, name, _known(sources), asked)


Owned = Callable[[Path], Collection[str]]


def nobodys(_: Path) -> Collection[str]:
    """No row of this audit.json is known to be one's own."""
    return ()


def certify_files(
    names: Sequence[str], limit: Limit = LIMIT, *, explained: bool = False, owned: Owned = nobodys
) -> list[Row]:
    """One row per certificate. A folder stands for the certificates in it, a .py file for statements of one's own.

    `owned`: the ids whose rows in an audit.json are as this user's own audit wrote them. All others that no certificate
    refutes have a row too.
    `explained`: rows whose certificate the kernel accepts say what it must trust (`explain`).
    """
    from fedaudit.bounds.catalogue import file_of

    sources = [path for name in names if (path := file_of(name))]
    inputs = [name for name in names if not file_of(name)]
    if not inputs:
        given = line(", ".join(names))
        raise UserError(f"{given} without certificates", "certificate files", "name a .json file as well")
    known = _known(sources)
    with Checker(limit) as checker:
        rows = [row for name in inputs for row in _rows(name, known, checker, owned)]
    return [_explained(row, known) for row in rows] if explained else rows


def _explained(row: Row, known: Mapping[str, Statement]) -> Row:
    from .explain import explain

    if row["lhs"] is None or not row["file"].endswith(".json") or Path(row["file"]).name == AUDIT:
        return row  # the kernel says both sides of a counterexample, and of nothing else
    try:
        data = cast("dict[str, Any]", load(read_text(row["file"])))
        return {**row, "explain": explain(data, known[row["id"]])}
    except (Malformed, Rejected) as error:
        return {**row, "explain": {"kernel": [f"cannot be explained in parts: {line(str(error))}"]}}


def status(rows: Sequence[Row]) -> int:
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


def _row(name: str, identifier: str = "", **more: object) -> Row:
    row: Row = {"id": identifier, "file": line(name, 1000), "accepted": False, "malformed": False, "what": None}
    return {**row, "reason": None, "lhs": None, "rhs": None, "dropped": [], **more}


def _malformed(name: str, why: str, identifier: str = "", expected: str = "a certificate", do: str = AGAIN) -> Row:
    said = str(UserError(f"{line(name)}, {line(why)}", expected, do))
    return _row(name, identifier, malformed=True, reason=said)


def _judge(data: object, name: str, known: Mapping[str, Statement], checker: Checker) -> Row:
    fields = cast("dict[str, object]", data) if isinstance(data, dict) else {}
    identifier = fields.get("statement")
    if not isinstance(identifier, str):
        return _malformed(name, "certificate.statement: got nothing, expected an id")
    shown = line(identifier, 200)
    if chain.is_one(fields):
        return _chain(fields, name, shown, known, checker)
    if shown not in known:
        return _unknown(name, shown, known)
    if identity.is_one(fields):
        return _premise(fields, name, known[shown], known, checker)
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
        return _row(name, shown, accepted=True, what=line(answer.what))
    row = _row(name, shown, lhs=answer.lhs, rhs=answer.rhs, dropped=list(answer.dropped))
    return {**row, **_meaning(statement, answer.dropped, known)}


def _premise(
    fields: dict[str, object], name: str, statement: Statement, known: Mapping[str, Statement], checker: Checker
) -> Row:
    """A row about an identity: the statement's derivations must show it, and the kernel expands it again."""
    from fedaudit.bounds.derive import shown
    from fedaudit.bounds.identity_data import identity_data

    if not any(same(fields, identity_data(premise, statement.id)) for premise in shown(statement, known)):
        other = f"identity: got one that no derivation of {statement.id} shows, expected the catalogue's"
        return _row(name, statement.id, reason=other)
    answer = checker.ask(fields)
    if answer.outcome == "malformed":
        return _malformed(name, answer.reason, statement.id)
    if answer.outcome == "rejected":
        return _row(name, statement.id, reason=line(answer.reason, 500))
    return _row(name, statement.id, accepted=True, what=line(answer.what or ""))


def _chain(
    fields: dict[str, object], name: str, identifier: str, known: Mapping[str, Statement], checker: Checker
) -> Row:
    """A row about a proof: the kernel expands its identities; that its lines follow is decided again.

    The kernel trusts z3 for the lines, and a stranger may write any. So the claims must be those that the catalogue
    makes and `derive` proves, or that `tighten` finds: what it takes to trust a proof is the kernel and derive.
    """
    base = identifier.removesuffix(TIGHTENED)
    if base not in known:
        return _unknown(name, base, known)
    answer = checker.ask(fields)
    if answer.outcome == "malformed":
        return _malformed(name, answer.reason, identifier)
    if answer.outcome == "rejected":
        return _row(name, identifier, reason=line(answer.reason, 500))
    claims = {line(p["statement"], 200): p["claim"] for p in cast("list[dict[str, Any]]", fields["proofs"])}
    for said, claim in claims.items():  # as the kernel has read them
        own = known.get(said.removesuffix(TIGHTENED))
        if own is None or not restates(claim, claim_of(own), said != own.id):
            return _row(
                name, identifier, reason=f"claim: got another claim than {said} makes, expected the catalogue's"
            )
    refused = not_proved(claims, known[base], identifier != base, known)
    if refused:
        return _row(name, identifier, reason=refused)
    return _row(name, identifier, accepted=True, what=line(f"{answer.what}; decided again", 500))


def _meaning(statement: Statement, dropped: tuple[str, ...], known: Mapping[str, Statement]) -> Row:
    """What a counterexample to the formula says about the statement."""
    without = f" without {', '.join(dropped)}" if dropped else ""
    if statement.kind == "exists":
        return {"what": f"witness fails{without}", "reason": WITNESS}
    if statement.kind == "order" and statement.method not in ("order", "network_limit"):  # the kernel decides those
        return {"what": f"explicit rate of a reading{without}", "reason": NO_RATE}
    if dropped:
        return {"accepted": True, "what": f"literal reading{without}"}
    if _proves(statement, known):
        return {"what": "contradiction", "reason": BOTH}
    return {"accepted": True, "what": "refutation"}


def _proves(statement: Statement, known: Mapping[str, Statement]) -> bool:
    """Whether `derive` proves it outright. That takes seconds: asked only where no premise stands in the way."""
    if not _may_prove(statement, known):
        return False
    import z3  # pyright: ignore[reportMissingTypeStubs]

    from fedaudit.bounds.derive import derive

    cast(Any, z3).set_param("ctrl_c", False)  # Ctrl-C ends us, not z3's answer to one question
    made = derive(statement, known, slack=False)
    return made.proved and not made.premises


def _may_prove(statement: Statement, known: Mapping[str, Statement]) -> bool:
    from fedaudit.bounds.derive import premises

    if not statement.follows_from:
        return statement.kind == "order" and statement.method == "order"
    ways = (replace(statement, follows_from=(way,)) for way in statement.follows_from)
    return any(
        all(name in known for name in way.follows_from[0].cites)
        and not premises(way, known)
        and all(_may_prove(known[name], known) for name in way.follows_from[0].cites)
        for way in ways
    )


def _known(sources: Sequence[str]) -> dict[str, Statement]:
    from fedaudit.bounds.catalogue import find

    try:
        own = [s for source in sources for s in find([source])]
    except OSError as error:
        why = f"{line(', '.join(sources))} ({error.strerror})"
        raise UserError(why, "Python files that define statements", "check the path") from error
    return {s.id: s for s in (*find([]), *own)}


def _unknown(name: str, identifier: str, known: Mapping[str, Statement]) -> Row:
    import difflib

    near = difflib.get_close_matches(identifier, list(known), n=3)
    do = f"did you mean {', '.join(near)}?" if near else "name the .py file that defines it as well"
    return _malformed(name, f"the statement {identifier!r}", identifier, "one that the catalogue holds", do)


# --- files and folders -----------------------------------------------------------------------------------------------


def _rows(name: str, known: Mapping[str, Statement], checker: Checker, owned: Owned) -> list[Row]:
    try:
        path = Path(name)
        if not name or not path.is_dir():
            return [_certified(name, known, checker)]
        if (path / AUDIT).is_symlink() or (path / AUDIT).exists():
            return _audited(path, known, checker, owned(path / AUDIT))
        found = _listed(path / "certificates") or _listed(path)
    except OSError as error:
        return [_malformed(name, error.strerror or "an error", do="check the path")]
    if not found:
        expected = "a folder that holds certificates or an audit.json"
        return [_malformed(name, "a folder without certificates", "", expected, "nothing: there is nothing to check")]
    return [_certified(str(file), known, checker) for file in found]


def _listed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.suffix == ".json" and not file.name.startswith("."))


def _certified(name: str, known: Mapping[str, Statement], checker: Checker) -> Row:
    try:
        text = read_text(name)
    except Malformed as error:
        return _malformed(name or "''", str(error), do="check the path")
    try:
        data = load(text)
    except Malformed as error:
        return _malformed(name, str(error))
    return _judge(data, name, known, checker)


def _audited(path: Path, known: Mapping[str, Statement], checker: Checker, own: Collection[str]) -> list[Row]:
    """Every certificate of an audit's folder, and whether audit.json says of it what it is; other verdicts after it."""
    document = str(path / AUDIT)
    files = _listed(path / "certificates")
    judged = {f"certificates/{file.name}": _certified(str(file), known, checker) for file in files}
    try:
        read = _document(document)
        said = references(read)
    except Malformed as error:
        do = f"run `fedaudit audit --out {line(str(path))}` again"
        return [_malformed(document, str(error), "", "the JSON that an audit writes", do), *judged.values()]
    rows: list[Row] = []
    for reference in said:
        if reference.held is not None:
            rows.append(reference.compared(_judge(reference.held, document, known, checker)))
        elif reference.file not in judged:
            rows.append(_row(f"{path}/{reference.file or 'certificates'}", reference.id, reason=reference.missing()))
    for file, row in judged.items():
        named = [reference for reference in said if reference.file == file]
        rows.append(_compared(row, named))
    others = {name: verdict for name, verdict in verdicts(read).items() if verdict != "refuted" and name not in own}
    return [*rows, *(_again(name, verdict, document, known) for name, verdict in others.items())]


def _again(identifier: str, verdict: str, document: str, known: Mapping[str, Statement]) -> Row:
    """A verdict that no certificate stands behind, of a row that is not this user's own."""
    shown, said = line(identifier, 200), line(verdict, 50)
    if verdict == "proved" and identifier in known:
        why = unproved(known[identifier], known)
        if not why:
            return _row(document, shown, accepted=True, what="proved, decided again")
        return _row(document, shown, reason=f"audit.json: got the verdict proved, expected another: {why}")
    do = "do: decide it again with `fedaudit audit --out DIR`"
    if verdict == "proved":
        do = "do: name the .py file that defines it as well"
    return _row(document, shown, unchecked=True, reason=f"{said} is what audit.json says, not checked; {do}")


def _compared(row: Row, named: Sequence[Reference]) -> Row:
    """The row of a file, as the references to it see it: the first that disagrees has the word."""
    if row["malformed"]:
        return row
    if not named:
        return {**row, "accepted": False, "reason": "orphaned: got no row of audit.json that names it, expected one"}
    seen = [reference.compared(row) for reference in named]
    return next((one for one in seen if not one["agrees"]), seen[0])


def _document(path: str) -> object:
    text = read_text(path, DOCUMENT)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"file: got {type(error).__name__}, expected JSON") from None
