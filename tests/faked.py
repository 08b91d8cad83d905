"""Quick rows instead of real moves, and two proofs by hand, for tests of what surrounds them."""

import json
import types
from pathlib import Path

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.search.lowered_claim import lower

REFUTED = "buttaci/lemC.2"
YOUNG, PAUL = "buttaci/appA-young", "buttaci/appA-peterpaul"
CERTIFICATE = json.loads((Path(__file__).parent / "certificates" / "run" / "buttaci-lemC.2.json").read_text())


def tried(statement, seed, effort, backend="numpy", memory=0, verdict="survived"):
    return {
        "id": statement.id,
        "verdict": verdict,
        "evidence": "exact",
        "instances": 7,
        "tightness": 0.5,
        "certificate": CERTIFICATE if verdict == "refuted" else None,
        "seconds": 0.25,
        "seed": seed,
        "effort": effort,
    }


def fake_moves():
    """Stands for fedaudit.verify.moves.audit: quick rows of the contract, lemma C.2 refuted, a list of calls."""
    calls = []

    def verdict_of(statement):
        return "refuted" if statement.id == REFUTED else "survived"

    def audit_row(statement, seed, effort, backend, memory, proofs=None):
        calls.append(statement.id)
        row = tried(statement, seed, effort, verdict=verdict_of(statement))
        inner = {
            "lint": {"findings": []},
            "derive": {"status": "follows", "factor": 1.0},
            "verify": tried(statement, seed, effort),
            "hunt": row,
            "implicit": [],
            "repaired": None,
        }
        return {k: row[k] for k in ("id", "verdict", "evidence", "tightness", "certificate")} | inner

    made = types.ModuleType("fedaudit.verify.moves.audit")
    made.calls = calls
    made.lint_row = lambda s: {"id": s.id, "findings": [{"rule": "dimension", "message": "[F] is not [W]"}]}
    made.derive_row = lambda s: {"id": s.id, "status": "follows", "factor": 1.0}
    made.verify_row = tried
    made.hunt_row = lambda s, seed, effort, *_: tried(s, seed, effort, verdict=verdict_of(s))
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
