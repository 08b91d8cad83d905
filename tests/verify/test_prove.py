"""`fedaudit prove`: what is found alone, that the kernel decides it, and that nothing is found for what is false."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from marks import only, slow
from places import ROOT
from sympy import Eq, Ge, Le, Rational, Sum, Symbol
from sympy.core.function import AppliedUndef

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import find
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.classic.symbols import E, L, dist2, h, mu
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.cli import main
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.proofs.proof import check
from fedaudit.verify.prover.finder import KINDS, Found, NotFound, search

EXAMPLES = ROOT / "examples"
QUICK = (
    "classic/gd-fall",  # one step of gradient descent
    "classic/gd-gradient-gap",  # a potential, by induction
    "classic/subgradient",  # a mean over the rounds
    "classic/halpern",  # a potential with names of its own
    "buttaci/appA-jensen",  # convexity of the mean
    "buttaci/appA-cocoercive",  # two relations
    "buttaci/lemB.1-kappa",  # numbers alone, with a fact
    "yuan/lem7",  # a proximal point
    f"{EXAMPLES}/sampled_fedavg.py::sampled-fedavg/one-step",  # FedAvg at E = 1, with clients that are drawn
)
LESS = Rational(99, 100)
SETTINGS = ("scalar", "function", "prox", "subset")


def false_variant(statement: Statement) -> Statement:
    """The larger side of every relation, 1 % smaller where that is not negative: tight bounds are false then."""

    def less(relation: Any) -> Any:
        if isinstance(relation, Le):
            return Le(relation.lhs, relation.rhs * LESS, evaluate=False)
        return Ge(relation.lhs * LESS, relation.rhs, evaluate=False) if isinstance(relation, Ge) else relation

    return replace(statement, id=f"{statement.id}~less", then=tuple(map(less, statement.relations)), follows_from=())


@cache
def proof_of(name: str) -> Found:
    """What is found from the statement alone, for all tests that read it."""
    found = search(replace(fa.statement(name), follows_from=()), 60.0)
    assert isinstance(found, Found), found.why
    return found


@pytest.mark.parametrize("name", QUICK)
def test_a_proof_is_found_from_the_statement_alone_and_the_kernel_accepts_it(name: str) -> None:
    found = proof_of(name)
    assert found.status == "proved", found.row()["lacks"]
    assert found.trusted == ()
    assert found.file is not None
    assert check(json.loads(json.dumps(found.file)), {}).claim.id == found.statement.id


ATTAINED = [name for name in QUICK if name != "buttaci/lemB.1-kappa"]
LONG = ("classic/halpern", "classic/gd-gradient-gap", QUICK[-1])


@pytest.mark.parametrize(
    "name", only(set(ATTAINED) - set(LONG), ATTAINED, "a longer search in vain, as the others are")
)
def test_nothing_is_found_for_one_percent_less(name: str) -> None:
    assert isinstance(search(false_variant(fa.statement(name)), 20.0), NotFound)


@pytest.mark.parametrize("name", ["buttaci/appA-strong-second", "yuan/lem5", "benmansour/eq20"])
def test_nothing_is_found_for_what_a_paper_prints_and_is_false(name: str) -> None:
    assert isinstance(search(fa.statement(name), 10.0), NotFound)


def test_what_is_found_for_one_claim_proves_no_other() -> None:
    """The file of a true claim with the claim of its false variant."""
    file = json.loads(json.dumps(proof_of("classic/gd-gradient-gap").file))
    file["claim"]["then"][0][2] = ["*", "99/100", file["claim"]["then"][0][2]]
    with pytest.raises((Rejected, Malformed)):
        check(file, {})


@pytest.mark.parametrize(
    ("flag", "condition", "message"),
    [("single", 0, "expected it to be shown that there is one"), ("alone", 1, "expected it to be shown that there is")],
)
def test_a_round_of_one_step_and_one_client_are_to_be_shown(flag: str, condition: int, message: str) -> None:
    """Without the condition E = 1, or C = 1, the same premise is refused."""
    file = json.loads(json.dumps(proof_of("classic/gd-fall").file))
    assert file["frame"][flag] is True
    (premise,) = [j for j in file["judgements"] if j["rule"] == "premise"]
    letter = ("E", "C")[condition]
    premise["by"] = [n for n in premise["by"] if letter not in json.dumps(file["judgements"][n]["says"])]
    with pytest.raises(Rejected, match=message):
        check(file, {})


def test_a_round_of_several_steps_is_not_read_as_one() -> None:
    """Gradient descent with any number of steps per round: nothing is found for the fall of one step."""
    one = fa.statement("classic/gd-fall")
    more = replace(one, id="own/more", when=tuple(c for c in one.when if c != Eq(E, 1)), follows_from=())
    assert len(more.when) == len(one.when) - 1
    assert isinstance(search(more, 10.0), NotFound)


def test_interpolation_is_refused_without_its_assumptions() -> None:
    step = Le(dist2(1), (1 - h * mu / L) ** 2 * dist2(0))
    whole = fa.statement("classic/gd-contraction")
    found = search(replace(whole, id="own/step", then=step, when=(*whole.when, Le(h * (L + mu), 2 * L))), 60.0)
    assert isinstance(found, Found)
    assert (found.status, found.trusted) == ("proved", ())
    text = json.dumps(found.file)
    assert "interpolated" in text
    file = json.loads(text.replace('"curve": "mu"', '"curve": "L"'))
    with pytest.raises(Rejected, match="got strong convexity"):
        check(file, {})


def test_the_command_prints_numbered_steps_and_writes_the_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fall.json"
    assert main(["prove", "classic/gd-fall", "--out", str(file)]) == 0
    out = capsys.readouterr().out
    assert "classic/gd-fall: proved: the kernel accepts" in out
    assert "(1)   h/L (1 - h/2) ‖∇ f(x_0)‖^2 ≤ f(x_0) - f(x_1)" in out
    assert "smoothness of f_i at x and x - h/L ∇ f_i(x)" in out
    assert json.loads(file.read_text())["format"] == "fedaudit-proof/2"
    assert main(["certify", str(file)]) == 0


def test_the_same_command_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    printed: list[str] = []
    for _ in range(2):
        assert main(["prove", "classic/gd-fall", "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    (row,) = json.loads(printed[0])
    assert (row["status"], row["trusted"]) == ("proved", [])


def test_a_search_ends_by_what_it_looked_at_and_not_by_the_clock() -> None:
    """The claim is found with more effort; with half a second's worth, every search ends at the same attempt."""
    short = [search(fa.statement("classic/gd-gradient"), 0.5) for _ in range(2)]
    assert all(isinstance(one, NotFound) and one.why == "the effort of 0.5 seconds was spent" for one in short)
    assert short[0].tried == short[1].tried
    assert sum(one.seconds for one in short[0].tried[:-1]) <= 0.5 < sum(one.seconds for one in short[0].tried)


def test_not_found_says_what_was_tried_and_gives_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", f"{EXAMPLES / 'gradient_descent.py'}::gd/too-good"]) == 0
    out = capsys.readouterr().out
    assert "no proof was found, which does not say that it is false" in out
    assert "atoms" in out
    assert "refuted" not in out


@pytest.mark.parametrize(
    "arguments", [["classic/nothing"], ["classic/gd-fall", "--budget", "0"], ["classic", "--out", "x.json"]]
)
def test_bad_input_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- the figure -------------------------------------------------------------------------------------------------------


def one_step_lemmas() -> list[Statement]:
    """Inequalities and identities of the papers, with a proof that cites nothing, about numbers, about one function or
    proximal point, or about one round or step of a method: measures at one place and the next, and no number of steps
    or rounds beside them.
    """
    papers = find(["benmansour", "buttaci", "fallah", "yuan", "zhang"])
    chosen = [s for s in papers if s.kind in KINDS and any(not way.cites for way in s.follows_from)]
    return [s for s in chosen if s.method in SETTINGS or (isinstance(s.method, Method) and _one_step(s, s.method))]


def _one_step(statement: Statement, method: Method) -> bool:
    relations = view(statement).relations
    measured = {q.func for q in method.measures if isinstance(q, AppliedUndef)}
    spoken = {q for r in relations for q in r.atoms(AppliedUndef) if q.func in measured}
    rest = [r.xreplace({q: Symbol(f"q{n}") for n, q in enumerate(spoken)}) for r in relations]
    counts = {s.name for r in rest for s in r.free_symbols} & {"T", "E", "t", "k", "R"}
    rounds = {q.args[0] for q in spoken if q.args}
    return bool(spoken) and not counts and not any(r.atoms(Sum) for r in rest) and len(rounds) <= 2


@slow("searches in vain, as long as they may")
@pytest.mark.parametrize("name", ["gd-contraction", "gd-contraction-gradient", "gd-gradient", "gd-nonconvex"])
def test_nothing_is_found_for_one_percent_less_of_other_theorems(name: str) -> None:
    assert isinstance(search(false_variant(fa.statement(f"classic/{name}")), 20.0), NotFound)


@slow("a search of up to twenty seconds for each of dozens of statements")
@pytest.mark.parametrize(("group", "least"), [("classic", 10), ("one-step lemmas", 25), ("examples", 3)])
def test_how_many_are_found_unaided(group: str, least: int, record_property: Callable[[str, object], None]) -> None:
    """The summary of a session has the totals. Of what is found the longest takes 13 seconds' worth of effort."""
    groups: dict[str, Callable[[], list[Statement]]] = {
        "classic": lambda: find(["classic"]),
        "one-step lemmas": one_step_lemmas,
        "examples": lambda: find([str(file) for file in sorted(EXAMPLES.glob("*.py"))]),
    }
    searched = groups[group]()
    proved = sum(search(statement, 20.0).status == "proved" for statement in searched)
    record_property("prove", f"{group}: {proved} of {len(searched)} proved unaided")
    assert proved >= least
