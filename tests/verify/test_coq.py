"""Upper ends and statements as theorems for Coq: accepted as they are, refused with anything changed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from marks import only, slow

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.verify.coq.development import (
    LIBRARY,
    STANDARD,
    Answer,
    Theorem,
    axioms,
    compiled,
    compiler,
    development,
    theorem,
)
from fedaudit.verify.coq.short_squares import squares
from fedaudit.verify.coq.terms import comment, identifier
from fedaudit.verify.kernel.gram.point_proof import prove
from fedaudit.verify.moves.kernel_proof import Proof
from fedaudit.verify.moves.kernel_proof import prove as proof_of
from fedaudit.verify.search.claim_identity import claim_of

Json = dict[str, Any]

ONE_STEP = {"C": 1, "E": 1, "T": 1, "p": ["1"], "parameters": {"h": "1"}}
STRONG = {**ONE_STEP, "constants": {"L": "2", "mu": "1"}}
ENDS: Mapping[str, tuple[Json, dict[str, str]]] = {  # a statement: its point and multipliers
    "classic/gd-fall": ({**ONE_STEP, "constants": {"L": "2"}}, {"f1_0_1": "1"}),
    "classic/gd-contraction": (STRONG, {"f1_0_1": "1/2", "f1_1_0": "1/2"}),
    "classic/proximal-gradient-contraction": (
        STRONG,
        {"f1_0_1": "1/2", "f1_1_0": "1/2", "g_0_1": "1", "g_1_0": "1"},
    ),
}
ATTACKS = {  # what is changed in a theorem's text: from, to
    "another multiplier": (r"\(\(1 # 1\), \(0, 0, 1\)", "((2 # 1), (0, 0, 1)"),
    "without convexity": (r"  strongly_convex \(Q2R \(1 # 1\)\) f0 ->\n", ""),
    "a smaller factor": (r"factor : Q := \(1 # 1\)", "factor : Q := (999 # 1000)"),
    "a negative multiplier": (r"\(\(1 # 1\), \(0, 1, 0\)", "((-1 # 1), (0, 1, 0)"),
    "a point that is not read": (r"\(0, 0, 1\)%nat", "(0, 0, 7)%nat"),
    "nothing by which both sides are multiplied": (r"scale_by := \(\d+ # \d+\)", "scale_by := (0 # 1)"),
    "an axiom": (r"vm_compute; reflexivity", "admit_all"),
}


PROVED = (  # statements whose proofs are theorems, end to end
    "buttaci/appA-strong-gap",
    *("benmansour/lem1", "buttaci/appA-cocoercive", "buttaci/appA-peterpaul", "buttaci/appA-smooth-gap"),
    *("buttaci/appA-strong-second~repaired", "buttaci/appA-young", "buttaci/sec4.4-contraction-order"),
    *("buttaci/sec4.4-fedavg-lower~formula", "buttaci/sec4.4-lower-order", "buttaci/sec4.4-optimal-E", "yuan/lem7"),
    *("buttaci/lemB.1-kappa", "buttaci/lemC.1-kappa"),
)
OF_STATEMENTS = {  # of buttaci/appA-strong-gap
    "without convexity": (r"  strongly_convex mu f ->\n", ""),
    "without a minimiser": (r"  minimiser f ws ->\n", ""),
    "another constant": (r"\(\(1 / 2\) \* ‖", "((2 / 3) * ‖"),
}


@pytest.fixture(scope="module")
def coq() -> list[str]:
    found = compiler()
    if found is None:
        pytest.skip("coqc is not installed: Debian's package coq")
    return found[0]


@pytest.fixture(scope="module")
def folder(coq: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the library is compiled."""
    place = tmp_path_factory.mktemp("coq")
    (place / LIBRARY).write_text(development([])[LIBRARY], encoding="utf-8")
    answer = compiled(coq, place, LIBRARY, [], 500)
    assert answer.complaint is None
    return place


def certificate(name: str) -> Json:
    (statement,) = find([name])
    point, multipliers = ENDS[name]
    head = {"format": "fedaudit-proof/1", "statement": name, "claim": claim_of(statement)}
    data = {**head, "point": point, "at": {"relation": 0}, "factor": "1", "multipliers": multipliers}
    prove(data)
    return data


def asked(coq: list[str], folder: Path, name: str, old: str = "", new: str = "") -> Answer:
    """What Coq says of a certificate's theorem, with one thing in its text changed."""
    one = theorem(certificate(name), "part_0")
    assert one is not None
    text = development([one])[one.file]
    if old:
        assert re.search(old, text)
        text = re.sub(old, new, text, count=1)
        text = text.replace("admit_all", "apply all").replace(
            "\n\n\n", "\nAxiom all : forall P : Prop, P.\n", "all" in new
        )
    (folder / one.file).write_text(text, encoding="utf-8")
    return compiled(coq, folder, one.file, [one], 300)


@pytest.mark.parametrize("name", ENDS)
def test_coq_accepts_an_upper_end(name: str, coq: list[str], folder: Path) -> None:
    answer = asked(coq, folder, name)
    assert answer.complaint is None
    (used,) = answer.axioms.values()
    assert used
    assert set(used) <= STANDARD


@pytest.mark.parametrize(
    "attack", [a if n < 3 else pytest.param(a, marks=slow("a process of Coq each")) for n, a in enumerate(ATTACKS)]
)
def test_coq_refuses_what_was_changed(attack: str, coq: list[str], folder: Path) -> None:
    name = "classic/gd-contraction"
    assert asked(coq, folder, name, *ATTACKS[attack]).complaint is not None


def proved(name: str) -> Theorem:
    """The theorem of the proof that the kernel accepts of a statement of the catalogue."""
    known = {statement.id: statement for statement in find([])}
    proof = proof_of(known[name], known)
    assert isinstance(proof, Proof)
    one = theorem(proof.file, "part_0")
    assert one is not None
    return one


@pytest.mark.parametrize("name", only(PROVED[:1], PROVED, "a process of Coq each"))
def test_coq_accepts_a_statement_and_its_proof(name: str, coq: list[str], folder: Path) -> None:
    one = proved(name)
    (folder / one.file).write_text(development([one])[one.file], encoding="utf-8")
    answer = compiled(coq, folder, one.file, [one], 300)
    assert answer.complaint is None
    assert set(answer.axioms[one.name]) <= STANDARD


@pytest.mark.parametrize("attack", only(["another constant"], OF_STATEMENTS, "a process of Coq each"))
def test_coq_refuses_another_statement(attack: str, coq: list[str], folder: Path) -> None:
    one, (old, new) = proved(PROVED[0]), OF_STATEMENTS[attack]
    text = development([one])[one.file]
    assert re.search(old, text)
    (folder / one.file).write_text(re.sub(old, new, text), encoding="utf-8")
    assert compiled(coq, folder, one.file, [one], 300).complaint is not None


def test_coq_accepts_a_counterexample(coq: list[str], folder: Path) -> None:
    name = "buttaci/appA-strong-second"
    (statement,) = find([name])
    parabola = {"kind": "quadratic", "A": [["2"]], "b": ["0"]}
    points = {"kind": "points", "d": 1, "f": parabola, "v": ["0"], "w": ["1"], "w_star": ["0"]}
    instance = {**points, "constants": {"mu": "1"}}
    data: Json = {"format": "fedaudit-certificate/1", "statement": name, "claim": claim_of(statement), "dropped": []}
    one = theorem({**data, "instance": instance, "at": {"relation": 0}}, "part_0")
    assert one is not None
    assert "~ (forall (S : space)" in one.text
    for curvature, accepted in (
        ("parabola 2 0", True),
        ("parabola (1 / 2) 0", False),
    ):  # mu = 1 is more than the second
        text = development([one])[one.file].replace("parabola 2 0", curvature)
        (folder / one.file).write_text(text, encoding="utf-8")
        answer = compiled(coq, folder, one.file, [one], 300)
        assert (answer.complaint is None) == accepted
    assert theorem({**data, "dropped": ["x"], "instance": instance}, "part_0") is None


def test_what_has_no_counterpart_is_no_theorem() -> None:
    known = {statement.id: statement for statement in find([])}
    proof = proof_of(known["yuan/rem6-all"], known)
    assert isinstance(proof, Proof)
    assert theorem(proof.file, "part_0") is None


def test_the_library_assumes_nothing() -> None:
    one = theorem(certificate("classic/gd-fall"), "part_0")
    assert one is not None
    for text in development([one]).values():
        words = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort|Hypothesis|bypass_check)\b", words)


def test_nothing_of_a_stranger_is_text() -> None:
    hostile = 'x *) Axiom no : False. (* "'
    assert comment(hostile).count("*)") == comment(hostile).count("(*") == 1
    assert '"' not in comment(hostile)
    names = ["a/b", "a-/b", "a/b.1", "a/b-o-1", "a/b~1", "a/b-1", "a/b--1", "../x", hostile, "é/b"]
    assert len({identifier(name) for name in names}) == len(names)
    assert all(re.fullmatch(r"s_[A-Za-z0-9_]+", identifier(name)) for name in names)


def test_short_squares_add_up_to_the_matrix() -> None:
    from flint import fmpq, fmpq_mat

    rows = [[fmpq(3**n, 7 + k * n) for n in range(6)] for k in range(4)]
    factor = fmpq_mat([[x + fmpq(1, 10**20 + n) for n, x in enumerate(row)] for row in rows])
    matrix = [[(factor.transpose() * factor)[a, b] for b in range(6)] for a in range(6)]  # singular, with long numbers
    total = [[fmpq(0)] * 6 for _ in range(6)]
    for weight, row in squares(matrix):
        assert weight >= 0
        for a in range(6):
            for b in range(6):
                total[a][b] += weight * row[a] * row[b]
    assert total == matrix


def test_axioms_are_read_as_coq_prints_them() -> None:
    output = (
        "Closed under the global context\nAxioms:\nA.one\n  : Prop\nCoq.Logic.Classical_Prop.classic : forall P\n  x\n"
    )
    assert axioms(output) == [(), ("A.one", "Classical_Prop.classic")]
    assert json.dumps(axioms("")) == "[]"
