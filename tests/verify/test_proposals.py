"""Proofs that are proposed from what `derive` found, and what the kernel says of them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from marks import only, slow
from proof_writer import Writer, claim_of

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.bounds.language.statement import Statement
from fedaudit.verify.kernel.core.budget import metered
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Node, Rejected
from fedaudit.verify.kernel.proofs.forms import Forms
from fedaudit.verify.kernel.proofs.proof import Accepted, check
from fedaudit.verify.kernel.proofs.rules.line import constraint, negations
from fedaudit.verify.kernel.proofs.rules.line import contradiction as shown
from fedaudit.verify.moves import kernel_proof
from fedaudit.verify.moves.audit import derived
from fedaudit.verify.proposals.lines import line_certificates
from fedaudit.verify.proposals.lines.contradiction_programme import contradiction
from fedaudit.verify.proposals.lines.line_certificates import certificates
from fedaudit.verify.proposals.lines.product_columns import Column
from fedaudit.verify.proposals.notebook import Notebook
from fedaudit.verify.proposals.proposal import Proposal, propose
from fedaudit.verify.proposals.z3_lines import needed_for_contradiction

SMALL = (
    "buttaci/appA-young", "buttaci/appA-peterpaul", "buttaci/lemB.1-kappa", "buttaci/def3.2-identity",
    "buttaci/sec4.4-contraction-order", "buttaci/lem4.1", "yuan/lem8", "buttaci/sec4.4-lower-order", "fallah/eq93",
    "buttaci/lemB.7",  # an induction over a symbol of the claim
    "buttaci/lemB.8",  # powers with smaller exponents
    "buttaci/appA-cauchy", "buttaci/sec4.4-optimal-E", "buttaci/lemC.5", "buttaci/thm4.6-I",  # squares of differences
    "zhang/eqA.21~eighth",  # a line without facts
    "buttaci/cor4.1~formula",  # roots of one base, the root of a product, and the least value of a/x + b x^2
    "yuan/thm2~order",  # the own sign of a count that an equation takes out
)  # fmt: skip
LONG = ("buttaci/lemC.5", "buttaci/thm4.6-I", "zhang/eqA.21~eighth")
ACCEPTED = 104  # statements with a derivation whose proofs the kernel accepts, with all that they cite
DOMAINS = {"x": "positive", "y": "positive", "z": "real", "w": "real", "n": "count", "k": "index"}
X2, SQUARE = ["^", "x", "2"], ["^", ["+", "z", ["*", "-1", "w"]], "2"]
X2Y = ["*", X2, "y"]
BELOW = ["^", ["+", "x", "-1"], "-1"]  # 1/(x - 1): its form does not show its sign
LINES: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (["<=", "0", ["+", "x", "n", "-1"]], ()),  # by its form: a count is at least 1
    (["<=", "x", "y"], (["<=", X2, ["^", "y", "2"]],)),  # a product with the negated goal
    (["<=", ["^", "x", "1/2"], "y"], (["=", ["^", ["^", "x", "1/2"], "2"], "x"], ["<=", "x", ["^", "y", "2"]])),
    (["=", ["*", "x", "z"], "w"], (["=", "z", ["*", "w", ["^", "x", "-1"]]],)),  # an equation that defines an atom
    (["<", "0", ["*", "x", ["+", "y", "k"]]], ()),
    (["<=", "0", ["+", ["*", "x", "z"], "y"]], (["<=", "0", ["*", "4", "z"]],)),  # the sign of a multiple of an atom
    (["!=", ["*", "x", "y"], "0"], ()),
    (["<=", ["*", "2", "z", "w"], ["+", ["^", "z", "2"], ["^", "w", "2"]]], (["<=", "0", SQUARE],)),
    (["<=", "z", ["*", "y", BELOW]], (["<", "1", "x"], ["<=", "z", "w"], ["<=", "w", ["*", "y", BELOW]])),
    (["<=", ["*", "z", BELOW, BELOW], ["*", "w", BELOW]], (["<", "1", "x"], ["<=", ["*", "z", BELOW], "w"])),
    (["<=", ["*", "2", "x", "y", "z"], ["+", ["*", X2, ["^", "y", "2"]], ["^", "z", "2"]]], ()),  # (x y - z)^2
    (  # the goal's square: Cauchy and Schwarz for one more term
        ["<=", ["*", "2", "z", "w", "k"], ["+", ["*", "x", ["^", "w", "2"]], ["*", "y", ["^", "k", "2"]]]],
        (["<=", ["^", "z", "2"], ["*", "x", "y"]],),
    ),
    (  # small numbers in a chain of four products, which a solver's tolerance hides
        [
            "<=",
            ["+", X2Y, ["*", "6", X2Y, "y", "n"], ["*", "4", X2Y, X2Y, "y"], ["*", "8", X2Y, X2Y, "y", "y", "n"]],
            ["*", "1/100", "n"],
        ],
        (["<=", X2Y, ["*", "1/150", "n"]], ["<=", ["*", "y", "n"], "1/150"]),
    ),
)
FALSE: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (["<=", "x", "y"], ()),
    (["<", "0", "k"], ()),
    (["<=", "z", "w"], (["<=", ["^", "z", "2"], ["^", "w", "2"]],)),
    (["=", "x", "y"], (["<=", "x", "y"],)),
    (["<=", ["*", "z", BELOW], ["*", "w", BELOW]], (["<=", "z", "w"],)),
)


@pytest.fixture(scope="module")
def catalogue() -> Mapping[str, Statement]:
    return {s.id: s for s in find([])}


class InSilence(AssertionError):
    """The kernel refused a judgement of ours, and another way was found."""


def proved(name: str, catalogue: Mapping[str, Statement], kept: dict[str, Accepted]) -> tuple[Any, Accepted]:
    """The proposed file and what the kernel says of it, after those that it cites."""
    proposal = propose(catalogue[name], catalogue)
    if proposal.refused:
        raise InSilence(dict(proposal.refused))
    file = proposal.file
    assert file is not None
    for cited in file.get("cites", ()):
        if cited not in kept:
            proved(cited, catalogue, kept)
    kept[name] = check(json.loads(json.dumps(file)), kept)
    return file, kept[name]


@pytest.mark.parametrize(("says", "rests"), LINES)
def test_a_line_gets_a_certificate_that_the_kernel_accepts(says: Any, rests: tuple[Any, ...]) -> None:
    forms = Forms(DOMAINS)
    goal, *others = (parse_relation(Node(r, "line")) for r in (says, *rests))
    found = certificates(goal, others, forms)
    assert found is not None
    premises = [constraint(rest, forms) for rest in others]
    with metered(10**8):
        for one, negation in zip(found, negations(goal, forms), strict=True):
            shown(Node(one, "certificate"), negation, premises, forms)


@pytest.mark.parametrize(("says", "rests"), FALSE)
def test_what_does_not_follow_gets_none(says: Any, rests: tuple[Any, ...]) -> None:
    goal, *others = (parse_relation(Node(r, "line")) for r in (says, *rests))
    assert certificates(goal, others, Forms(DOMAINS)) is None


def test_what_was_found_against_a_line_answers_until_a_rest_excludes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[int] = []

    def counted(goal: Any, premises: Any, signs: Any) -> Any:
        questions.append(len(premises))
        return needed_for_contradiction(goal, premises, signs)

    monkeypatch.setattr(line_certificates, "needed_for_contradiction", counted)
    forms, x, y = Forms(DOMAINS), "x", ["+", "y", "1789"]  # a number that no other line has
    below, other, above = (["<=", "z", "w"], ["<=", "0", "k"], ["<=", x, "y"])
    goal, *rests = (parse_relation(Node(r, "line")) for r in (["<=", x, y], below, other, above))
    assert certificates(goal, rests[:1], forms) is None
    assert questions == [1]
    assert certificates(goal, rests[:2], forms) is None  # the values of x, y, z and w meet the other rest with k = 1
    assert questions == [1]
    assert certificates(goal, rests, forms) is not None


def test_columns_with_a_monomial_that_nothing_cancels_take_no_part() -> None:
    def column(strict: bool, *terms: tuple[int, int]) -> Column:
        keys, numbers = zip(*terms, strict=True)
        exact = [fmpq(n) for n in numbers]
        return Column((), (), strict, np.array(keys), np.array(numbers, dtype=float), exact)

    pair = column(False, (1, 1), (2, -1)), column(True, (1, -1), (2, 1))
    chain = column(True, (3, 1), (4, -1)), column(False, (4, 1), (5, 1))  # 5 has one sign; without it, 4 has
    assert contradiction([*pair, *chain], None) == [(0, 1), (1, 1)]
    assert contradiction([*chain, *pair], None) == [(2, 1), (3, 1)]
    assert contradiction(chain, None) is None


@pytest.mark.parametrize("name", only(set(SMALL) - set(LONG), SMALL, "larger than the others, and of their kinds"))
def test_the_kernel_accepts_small_proofs(name: str, catalogue: Mapping[str, Statement]) -> None:
    _, accepted = proved(name, catalogue, {})
    assert accepted.claim.id == name
    assert not accepted.trusted


def test_a_proof_without_its_last_lines_is_refused(catalogue: Mapping[str, Statement]) -> None:
    file, _ = proved("buttaci/lem4.1", catalogue, {})
    shorter = deepcopy(dict(file))
    shorter["judgements"] = shorter["judgements"][:-1]
    with pytest.raises(Rejected):
        check(shorter, {})


def test_without_a_derivation_there_is_a_reason(catalogue: Mapping[str, Statement]) -> None:
    open_ = next(s for s in catalogue.values() if not s.follows_from and s.setting != "order")
    proposal = propose(open_, catalogue)
    assert proposal.file is None
    assert [reason.kind for reason in proposal.reasons] == ["not derived"]


@slow("all proofs of the catalogue: about two minutes")
def test_the_proofs_of_the_catalogue(catalogue: Mapping[str, Statement]) -> None:
    rules: Counter[str] = Counter()
    kept: dict[str, Accepted] = {}
    size, trusted, refused, faults, started = 0, dict[str, int](), list[str](), list[str](), time.process_time()
    asked = [s.id for s in catalogue.values() if s.follows_from and not s.quoted]
    for name in asked:
        try:
            file, accepted = proved(name, catalogue, kept)
        except (AssertionError, Rejected) as error:
            (faults if isinstance(error, InSilence) else refused).append(f"{name}: {error}"[:200])
            continue
        rules.update(accepted.rules)
        size += len(json.dumps(file))
        trusted |= {name: len(accepted.trusted)} if accepted.trusted else {}
    print(f"{len(kept)} of {len(asked)} accepted, {size / 1e6:.1f} MB, {time.process_time() - started:.0f} s")
    print(dict(rules), trusted, refused, sep="\n")
    assert len(kept) >= ACCEPTED
    assert not trusted
    assert not faults


@pytest.mark.parametrize(
    "name",
    [
        "yuan/rem3-lgd", "buttaci/lem4.1", "yuan/lem7", "buttaci/lemB.1-kappa", "zhang/eqA.25",
        "buttaci/lem4.5~perturbed-points",
    ],
)  # fmt: skip
def test_the_kernel_takes_every_judgement_that_was_worked_out(name: str, catalogue: Mapping[str, Statement]) -> None:
    """A refusal is passed over and another way is tried, so that a fault of ours would hide; it is counted."""
    assert propose(catalogue[name], catalogue).refused == {}


def test_what_the_kernel_refuses_is_counted_with_its_words() -> None:
    book = Notebook(Writer(claim_of(["x <= x + 1"], domains={"x": "real"})).context)
    says = parse_relation(Node(["<=", "x", ["+", "x", "1"]], "line"))
    assert book.attempt("line", says, (), (), [{"products": []}]) is None
    ((words, times),) = book.refused.items()
    assert (times, words.startswith("line: ")) == (1, True)
    assert book.line(says, (), ()) is not None
    assert book.refused.total() == 1


def test_derive_says_what_the_kernel_refused_on_the_way(
    catalogue: Mapping[str, Statement], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_proof, "_KEPT", {})
    made = propose(catalogue["yuan/lem7"], catalogue)
    faulty = replace(made, refused={"line: got 1 left over": 2})

    def proposing(one: Statement, known: Mapping[str, Statement]) -> Proposal:
        return faulty

    monkeypatch.setattr("fedaudit.verify.proposals.proposal.propose", proposing)
    told = derived(catalogue["yuan/lem7"]).part()
    assert told.proved
    assert told.findings[-1] == "a fault of fedaudit: the kernel refuses what was worked out, line: got 1 left over"
    monkeypatch.setattr(kernel_proof, "_KEPT", {})
    assert derived(catalogue["yuan/lem7"], tmp_path).part().findings == ()  # where others may have proposed before
