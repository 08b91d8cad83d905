"""Proofs as a mathematician reads them: the way that decides first, numbers that cite numbers, every name defined."""

import re
from functools import cache

import pytest
from marks import some
from tex import ENGINE, compiled

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.formulas.latex_document import document
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.figures.words.proof_latex import proofs_latex
from fedaudit.figures.words.proof_sentences import Reference, pieces, plain_sentence
from fedaudit.verify.results.proof_text import written_ways

PROVED = [
    name for name, s in catalogue().items() if s.follows_from and all(c in catalogue() for c in s.follows_from[0].cites)
]
NAME = re.compile(r"([A-Za-z]+|\\text\{[^{}]*\})(?:_\{[^{}]*\})?\\left\(")  # what is applied to indices

COMMANDS = {"min", "max", "log", "erf", "left", "right", "cdot", "leq", "geq", "prod", "sum"}


@cache
def ways_of(name, *proved_from):
    statement = catalogue()[name]
    return written_ways(statement, catalogue(), (), proved_from or None)


def test_the_way_that_decides_comes_first_and_the_printed_one_says_where_it_breaks():
    statement, known = catalogue()["buttaci/thm4.6-I"], catalogue()
    decided = derive(statement, known, slack=False)
    proof, printed = written_ways(statement, known, decided.steps, decided.proved_from)
    assert (proof.role, proof.cites) == ("decides", ("buttaci/lemC.4",))
    assert not any(line.status for line in proof.lines)
    assert (printed.role, printed.cites) == ("printed", ("buttaci/lemC.5",))
    assert [line.status for line in printed.lines if line.status] == ["false"]
    assert next(line for line in printed.lines if line.status).why.startswith("fails at")


def test_one_way_that_decides_and_is_the_printed_one_is_told_once():
    (proof,) = ways_of("buttaci/lemB.1", "buttaci/lem4.1", "buttaci/lem4.2")
    assert proof.role == "decides"
    assert proof.lines[-1].by == r"from \eqref{32} and \eqref{33}; which is the claim"


def test_a_line_says_which_inequality_where_and_times_what():
    (proof,) = ways_of("buttaci/lemB.1", "buttaci/lem4.1", "buttaci/lem4.2")
    by = plain_sentence(next(line.by for line in proof.lines if line.by.startswith("Peter-Paul and strong")))
    assert "strong convexity of f_i at w^i and w^*, averaged over the clients, times 2" in by
    assert "averaged over the clients, times 1/γ_t" in by


@pytest.mark.parametrize("name", some(PROVED, 6, "the same for every proof of the catalogue"))
def test_lines_cite_earlier_lines_and_formulas_are_no_source_code(name):
    for way in ways_of(name):
        assert [line.number for line in way.lines] == list(range(1, len(way.lines) + 1))
        for line in way.lines:
            cited = [part.number for part in pieces(line.by) if isinstance(part, Reference)]
            assert all(number < line.number for number in cited), line.by
            assert line.by.count("$") % 2 == 0
            assert "Eq(" not in line.latex + line.by
            assert "**" not in line.latex + line.by


@pytest.mark.parametrize("name", some(PROVED, 6, "the same for every proof of the catalogue"))
def test_every_name_of_a_proof_that_reads_a_run_is_defined(name):
    glossary = catalogue()[name].glossary
    own = {str(symbol) for symbol in glossary}
    printed = "".join(entry.latex for entry in glossary.values())  # P in "P(hom~ < hom)"
    for way in ways_of(name):
        if any("taken by hand" in line.by for line in way.lines):
            continue  # of such a name nothing but a sentence is known
        defined = printed + "".join(one.latex for one in way.names)
        for used in {used for line in way.lines for used in NAME.findall(line.latex)}:
            word = used.removeprefix(r"\text{").rstrip("}").replace(" ", "_")
            assert used in COMMANDS or used in defined or word in own, used


def test_a_proof_in_latex_has_a_label_for_every_line_and_refers_to_no_other():
    text = proofs_latex("buttaci/lemB.1", ways_of("buttaci/lemB.1", "buttaci/lem4.1", "buttaci/lem4.2"))
    labels = set(re.findall(r"\\label\{([^}]*)\}", text))
    assert len(labels) == 34
    assert set(re.findall(r"\\eqref\{([^}]*)\}", text)) <= labels


def test_a_proof_compiles_and_finds_its_lines(tmp_path):
    if not ENGINE:
        pytest.skip("no TeX engine")
    identifier = "buttaci/lemC.2~repaired"  # ~ is a space to TeX
    text = proofs_latex(identifier, ways_of(identifier, "buttaci/lemC.1", "buttaci/lemC.1-kappa"))
    assert "undefined references" not in compiled(ENGINE, document("a", [text]), tmp_path)
