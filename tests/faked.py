"""Quick rows instead of real moves, and two proofs by hand, for tests of what surrounds them."""

import copy
import json
import types
from pathlib import Path

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.results.evidence import filed
from fedaudit.verify.results.json_fields import read
from fedaudit.verify.results.json_node import Node
from fedaudit.verify.results.row import DerivedPart, LintLine, Move, Row
from fedaudit.verify.search.lowered_claim import lower

REFUTED = "buttaci/lemC.2"
YOUNG, PAUL = "buttaci/appA-young", "buttaci/appA-peterpaul"
CERTIFICATE = json.loads((Path(__file__).parent / "certificates" / "run" / "buttaci-lemC.2.json").read_text())


def typed(raw):
    """A row as types, from JSON whose certificates and proofs may still be data."""
    data = {}

    def by_name(part):
        for key in ("certificate", "proof"):
            if isinstance(part.get(key), dict):
                name = f"data-{len(data)}"
                data[name], part[key] = part[key], name
        for value in part.values():
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict) and inner not in data.values():
                    by_name(inner)

    plain = copy.deepcopy(raw)
    by_name(plain)
    row = read(Row, Node(plain, "row", ""))
    return filed(row, lambda piece: data.get(piece.held, piece.held) if isinstance(piece.held, str) else piece.held)


def tried(statement, seed, effort, backend="numpy", memory=0, thorough=False, verdict="survived"):
    certificate = CERTIFICATE if verdict == "refuted" else None
    return Move(verdict, "exact", 7, 0.5, certificate, seconds=0.25, seed=seed, statistical={"effort": effort})


def fake_moves():
    """Stands for fedaudit.verify.moves.rows: quick rows of the contract, lemma C.2 refuted, a list of calls."""
    calls = []

    def verdict_of(statement):
        return "refuted" if statement.id == REFUTED else "survived"

    def audit_row(statement, seed, effort, backend, memory, thorough=False, proofs=None):
        calls.append(statement.id)
        hunted = tried(statement, seed, effort, verdict=verdict_of(statement))
        return Row(
            statement.id,
            hunted.verdict,
            evidence=hunted.evidence,
            tightness=hunted.tightness,
            certificate=hunted.certificate,
            derive=DerivedPart("follows", 1.0),
            verify=tried(statement, seed, effort),
            hunt=hunted,
        )

    made = types.ModuleType("fedaudit.verify.moves.rows")
    made.calls = calls
    made.lint_row = lambda s: Row(s.id, lint=(LintLine("dimension", "[F] is not [W]"),))
    made.derive_row = lambda s: Row(s.id, derive=DerivedPart("follows", 1.0))
    made.verify_row = lambda s, *asked: Row(s.id, verify=tried(s, *asked))
    made.hunt_row = lambda s, *asked: Row(s.id, hunt=tried(s, *asked, verdict=verdict_of(s)))
    made.audit_row = audit_row
    return made


def proof_of(identifier, square, cites=()):
    """a b <= ... because the difference of both sides is half a square."""
    claim = json.loads(json.dumps(lower(statement(identifier)).claim))
    products = [["1", ["goal"]], ["1/2", [["square", square]]]]
    judgement = {"rule": "line", "says": claim["then"][0], "with": [{"products": products}]}
    file = {"format": "fedaudit-proof/2", "statement": identifier, "claim": claim, "cites": list(cites)}
    return {**file, "judgements": [judgement]}


def proofs():
    """Two proofs; the second one names the first among what it cites, although it could do without."""
    minus = ["*", "-1", "b"]
    return {
        YOUNG: proof_of(YOUNG, ["+", "a", minus]),
        PAUL: proof_of(PAUL, ["+", "a", ["*", "zeta", minus]], [YOUNG]),
    }
