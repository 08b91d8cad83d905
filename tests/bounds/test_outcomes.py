"""Outcomes are types: no code of the product decides anything by what a message says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from places import ROOT

from fedaudit.bounds.proofs import findings

ROOMS = ("bounds", "problems", "verify", "figures", "front")
ASKS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "fullmatch", "match"}
MESSAGES = {  # how what is said to people is called here
    "detail", "error", "finding", "findings", "line", "lines", "message", "messages", "other", "reason", "reasons",
    "rest", "said", "says", "status", "text", "texts", "told", "verdict", "why",
}  # fmt: skip
SUBJECTS = {  # modules whose subject is text, and what text it is
    "bounds/catalogue/method_source.py": "the source of a method, written as Python",
    "bounds/formulas": "formulas and numbers as text and as LaTeX",
    "bounds/language/symbol_values.py": "NAME=VALUE, as a person types it",
    "bounds/papers/buttaci/lower_perturbed.py": "a reading that is copied but for its first lines",
    "problems/runs/compiled_method.py": "a method's JSON, searched for an atom that it may read",
    "verify/kernel/core/rational.py": "fractions as certificates write them",
    "verify/kernel/proofs/rules/facts.py": "facts as their list writes them",
    "verify/certify/sandbox.py": "SECONDS,GB, as a person types it",
    "verify/certify/kept_evidence.py": "a number with its radius, as a certificate writes it",
    "verify/pictures/certified_number.py": "a number with its radius, as a certificate writes it",
    "verify/coq": "theorems and proofs as Coq reads them, and what coqc prints",
    "verify/proposals/atom_trees.py": "a formula in the notation of proof files: it is a parser",
    "verify/worst/solvers.py": "what solvers say, whose types optional packages keep to themselves",
    "figures/pages/paper_cards.py": "the first paragraph of a paper's docstring",
    "figures/style/look.py": "titles and captions, which it breaks into lines",
    "figures/words/letters.py": "formulas for people, put together",
    "front/cli.py": "what a person typed",
    "front/option_values.py": "what a person typed",
    "front/running/store.py": "the format that a stored file names in its first field",
}


def named(node: ast.expr) -> str:
    """What a value is called: the last word of `row.derive.reason`, `row["reason"]`, `reasons[0]`, `str(error)`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(value=value) | ast.Call(args=[value]) | ast.Call(func=ast.Attribute(value=value)):
            return named(value)
        case _:
            return ""


def decisions(source: str) -> Iterator[tuple[int, str]]:
    """Where something is asked of a message: how it begins or ends, what stands in it, which of two sentences it is."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=asked)) if asked in ASKS and named(value) in MESSAGES:
                yield node.lineno, ast.unparse(node)
            case ast.Call(func=ast.Attribute(value=value, attr="split"), args=[_, *_]) if named(value) in MESSAGES:
                yield node.lineno, ast.unparse(node)  # at a separator: at spaces, lines are only put together again
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[whole]) if (
                isinstance(left, ast.Constant) and isinstance(left.value, str) and named(whole) in MESSAGES
            ):
                yield node.lineno, ast.unparse(node)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str(words))]) if (
                " " in words and named(left) in MESSAGES
            ):
                yield node.lineno, ast.unparse(node)
            case _:
                pass


def is_subject(path: str) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in SUBJECTS)


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_decided_by_what_a_message_says(room: str) -> None:
    wrong = [
        f"{name}:{line}: {code}"
        for path in sorted((ROOT / room).rglob("*.py"))
        if not is_subject(name := path.relative_to(ROOT).as_posix())
        for line, code in decisions(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_every_exception_is_still_there() -> None:
    assert [one for one in SUBJECTS if not (ROOT / one).exists()] == []


@pytest.mark.parametrize(
    "code",
    [
        "any(f.startswith('refused:') for f in findings) or finding.startswith('assumption:')",
        "if 'claims more' in row['reason']: pass",
        "proved = 'step' not in str(error)",
        "done = made.reason == 'nothing was met'",
        "name, _, rest = line.removeprefix('step ').partition(': false, ')",
        "first, *more = rest.split('; ')",
        "return Fault(got, expected, other.removeprefix('or '))",
    ],
)
def test_a_decision_on_text_is_seen(code: str) -> None:
    assert list(decisions(code))


def test_the_texts_of_findings_are_those_of_the_rows() -> None:
    """Scripts read them."""
    step = findings.OpenStep(2, "(A.9)", "", "false", "fails at b = 2")
    texts = [
        findings.NoDerivation("no derivation is encoded").text,
        findings.Refused("cites itself, a/1 -> a/1").text,
        findings.NotAssumed("a/1 assumes smooth, which a/2 does not").text,
        findings.Uncited("a/1 is cited, and no step on the way to the claim uses it").text,
        step.text,
        findings.OpenStep(2, "(A.9)", "a/1 needs x <= 1", "unknown", "z3 gives up").text,
        findings.ClaimsMore("by a factor 1.5").text,
        findings.ClaimsLess("fails at b = 2").text,
        findings.Vacuous("x").text,
        findings.WaitsFor("norms without squares").text,
        findings.AnotherWay(("a/1", "a/2"), "follows", "proof").text,
        findings.AnotherWay((), "not-derived", "numerical").text,
    ]
    assert texts == [
        "no derivation is encoded",
        "refused: cites itself, a/1 -> a/1",
        "assumption: a/1 assumes smooth, which a/2 does not",
        "citation: a/1 is cited, and no step on the way to the claim uses it",
        "step (A.9): false, fails at b = 2",
        "step (A.9) (a/1 needs x <= 1): unknown, z3 gives up",
        "claims more than the proof gives: by a factor 1.5",
        "claims less than the proof gives: fails at b = 2",
        "vacuous: the minimum is not needed, x alone is a lower bound (proved)",
        "a proof waits for norms without squares",
        "another way, from a/1, a/2: follows (proof)",
        "another way, from the assumptions: not-derived (numerical)",
    ]
    gaps = [findings.NotAssumed("x"), step, findings.ClaimsMore("x")]
    assert all(findings.is_gap(finding) for finding in gaps)
    assert not findings.is_gap(findings.ClaimsLess("x"))
